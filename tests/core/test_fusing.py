"""Fused runs beside runs by single kernels: the same numbers, the same errors, and hooks that see every kernel."""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfg import GraphBuilder, Session
from tfg.core.errors import InvalidArgumentError
from tfg.core.numerics import tiles
from tfg.core.runtime import fused_calls
from tfg.core.runtime.executor import _RUNS_TO_SETTLE
from tfg.core.runtime.fusing import Fused, all_steps

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def the_same_draws_in_any_order():
    global RNG
    RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def small_values_are_worth_it(monkeypatch):
    monkeypatch.setattr(fused_calls, "_WORTH_TILING", 1)
    monkeypatch.setattr(fused_calls, "_WORTH_FINISHING", 1)
    monkeypatch.setattr(tiles, "TILE_ELEMENTS", 100)


def drawn(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def program(session):
    (prepared,) = session._prepared.values()
    return prepared.program


def groups(session):
    """The ops of each group that works as one, after some runs."""
    calls = program(session)._fused_calls
    return [[inner.node.op for inner in step.body] for step, call in calls.items() if call.is_useful]


def both(graph, fetch, feeds, runs=_RUNS_TO_SETTLE + 1):
    """(value, groups) of the last of some fused runs, beside the value of the graph's kernels."""
    fused, single = Session(graph), Session(graph, fuse=False)
    for _ in range(runs):
        found = fused.run(fetch, feeds)
    want = single.run(fetch, feeds)
    assert found.dtype == want.dtype and found.shape == want.shape
    largest = np.abs(want[np.isfinite(want)]).max(initial=1).astype(np.float64)
    np.testing.assert_allclose(found, want, rtol=1e-5, atol=2e-6 * largest)
    return groups(fused)


def normalized(b, x, channels, is_training=False):
    vectors = [b.constant(v) for v in (drawn(channels), drawn(channels), drawn(channels), np.abs(drawn(channels)) + 0.5)]
    return b.FusedBatchNormV3(x, *vectors, is_training=is_training)[0]


ACTIVATIONS = ["Relu", "Relu6", "Sigmoid", "Tanh", "Elu", "LeakyRelu", "Softplus", "Identity"]


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("kind", ["conv", "pointwise", "strided", "depthwise"])
def test_a_convolution_and_what_follows_it(kind, activation):
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, 9, 9, 8], name="x")
    if kind == "depthwise":
        y, channels = b.DepthwiseConv2dNative(x, b.constant(drawn(3, 3, 8, 2)), strides=[1, 1, 1, 1], padding="SAME"), 16
    else:
        size, stride = {"conv": (3, 1), "pointwise": (1, 1), "strided": (3, 2)}[kind]
        y, channels = b.Conv2D(x, b.constant(drawn(size, size, 8, 12)), strides=[1, stride, stride, 1], padding="SAME"), 12
    y = b.BiasAdd(y, b.constant(drawn(channels)))
    y = normalized(b, y, channels)
    y = getattr(b, activation)(y, name="y")
    (group, *_) = both(b.graph, "y:0", {"x:0": drawn(3, 9, 9, 8)})
    assert group[0] in ("Conv2D", "DepthwiseConv2dNative") and "FusedBatchNormV3" in group


def test_constants_around_a_convolution_are_worked_into_it():
    """Sums and products by vectors before anything else cost nothing: the chain that is left is one operation."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 9, 9, 8], name="x")
    y = b.Conv2D(x, b.constant(drawn(3, 3, 8, 12)), strides=[1, 1, 1, 1], padding="SAME")
    y = b.Mul(b.AddV2(y, b.constant(drawn(12))), b.Rsqrt(b.constant(np.abs(drawn(12)) + 1)))
    y = b.Relu(b.AddV2(b.constant(drawn(1, 1, 1, 12)), y), name="y")
    session = Session(b.graph)
    for _ in range(4):
        session.run("y:0", {"x:0": drawn(2, 9, 9, 8)})
    ((step, call),) = program(session)._fused_calls.items()
    (layout,) = call.layouts.values()
    assert len(step.body) == 6 and layout.filters is not None and layout.summand is not None
    assert len(layout.chain.instructions) == 1
    both(b.graph, "y:0", {"x:0": drawn(2, 9, 9, 8)})


def test_a_residual_and_an_activation_that_reads_twice():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 6, 6, 8], name="x")
    y = b.Conv2D(x, b.constant(drawn(3, 3, 8, 8)), strides=[1, 1, 1, 1], padding="SAME")
    y = b.AddV2(normalized(b, y, 8), x)
    b.Mul(y, b.Sigmoid(y), name="y")
    (group,) = both(b.graph, "y:0", {"x:0": drawn(2, 6, 6, 8)})
    assert sorted(group) == ["AddV2", "Conv2D", "FusedBatchNormV3", "Mul", "Sigmoid"]


@pytest.mark.parametrize("before", ["Relu", "BiasAdd", "conv"])
def test_what_a_convolution_takes_is_added_to_its_result(before):
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 6, 6, 8], name="x")
    makers = {"Relu": b.Relu, "BiasAdd": lambda x: b.BiasAdd(x, b.constant(drawn(8))), "conv": lambda x: product(b, x, 8, 8)}
    x = makers[before](x)
    b.Relu(b.AddV2(product(b, x, 8, 8), x), name="y")
    assert ["Conv2D", "AddV2", "Relu"] in both(b.graph, "y:0", {"x:0": drawn(2, 6, 6, 8)})


@pytest.mark.parametrize("takes_turns", [False, True])
def test_of_two_convolutions_that_are_added_each_takes_its_normalization(takes_turns):
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 6, 6, 8], name="x")
    filters = [b.constant(drawn(1, 1, 8, 12)) for _ in range(2)]
    if takes_turns:
        parts = [normalized(b, b.Conv2D(x, w, strides=[1, 1, 1, 1], padding="SAME"), 12) for w in filters]
    else:
        convolved = [b.Conv2D(x, w, strides=[1, 1, 1, 1], padding="SAME") for w in filters]
        parts = [normalized(b, b.BiasAdd(y, b.constant(drawn(12))), 12) for y in convolved]
    b.AddV2(*parts, name="y")
    found = sorted(both(b.graph, "y:0", {"x:0": drawn(2, 6, 6, 8)}), key=len)
    alone = ["Conv2D", "FusedBatchNormV3"] if takes_turns else ["Conv2D", "BiasAdd", "FusedBatchNormV3"]
    assert found == [alone, [*alone, "AddV2"]]


def rectified(b, x, channels):
    return b.Relu(normalized(b, x, channels))


def scaled_up(b, x, channels):
    """x times positive factors, and a vector added."""
    factors = np.float32(10) ** RNG.uniform(-6, 6, channels).astype(np.float32)
    return b.AddV2(b.Mul(x, b.constant(factors)), b.constant(drawn(channels) * factors))


LEADS = {
    "normalized": lambda b, x: rectified(b, x, 8),
    "scaled up": lambda b, x: b.Relu(scaled_up(b, x, 8)),
    "scaled up, leaky": lambda b, x: b.LeakyRelu(scaled_up(b, x, 8), alpha=0.1),
    "scaled up only": lambda b, x: b.Relu(b.Mul(x, b.constant(np.abs(drawn(8))))),
    "scaled up, bounded": lambda b, x: b.Relu6(scaled_up(b, x, 8)),
    "scaled to nothing": lambda b, x: b.Relu(b.AddV2(b.Mul(x, b.constant(np.zeros(8, np.float32))), b.constant(drawn(8)))),
    "scaled by image": lambda b, x: b.Mul(b.Relu(x), b.Sigmoid(b.Mean(x, [1, 2], keep_dims=True))),
    "of two": lambda b, x: b.Relu(b.AddV2(x, b.Neg(x))),
    "by numbers": lambda b, x: b.Tanh(b.Mul(b.constant(np.float32(2)), x)),
}


@pytest.mark.parametrize("follows", [True, False])
@pytest.mark.parametrize("filters", [5, 200])
@pytest.mark.parametrize("kind", LEADS)
def test_a_product_takes_what_is_made_for_it_by_rows(kind, filters, follows, monkeypatch):
    monkeypatch.setattr("tfg.core.numerics.convolution.BLOCK_ELEMENTS", 400)
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, 7, 6, 8], name="x")
    y = b.Conv2D(LEADS[kind](b, x), b.constant(drawn(1, 1, 8, filters)), strides=[1, 1, 1, 1], padding="SAME")
    b.Neg(rectified(b, y, filters) if follows else y, name="y")
    session, single = Session(b.graph), Session(b.graph, fuse=False)
    for images in (3, 3, 3, 1, 1, 3):
        feeds = {"x:0": drawn(images, 7, 6, 8)}
        want = single.run("y:0", feeds)
        np.testing.assert_allclose(session.run("y:0", feeds), want, rtol=1e-5, atol=2e-6 * np.abs(want).max(initial=5))
    (call,) = [call for step, call in program(session)._fused_calls.items() if step.lead is not None]
    assert call.is_useful and len(call.lead.row_layouts) == 2
    leaves_factor = kind in ("scaled up", "scaled up, leaky", "scaled up only")
    assert [layout.factor is not None for _, layout in call.lead.row_layouts.values()] == [leaves_factor] * 2


@pytest.mark.parametrize("kind", ["groups", "columns first", "far from zero"])
def test_a_factor_that_is_left_to_the_filters(kind):
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 7, 6, 8], name="x")
    w = drawn(1, 1, 4 if kind == "groups" else 8, 12)
    b.Neg(b.Conv2D(LEADS["scaled up"](b, x), b.constant(w), strides=[1, 1, 1, 1], padding="SAME"), name="y")
    fed = drawn(2, 7, 6, 8) + np.float32(1000 if kind == "far from zero" else 0)
    both(b.graph, "y:0", {"x:0": np.asfortranarray(fed) if kind == "columns first" else fed})


@pytest.mark.parametrize("kind", ["strided", "window", "fed filters", "fetched", "read twice", "one step"])
def test_what_else_is_before_a_convolution_stands_alone(kind):
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 6, 6, 8], name="x")
    lead = b.Relu(x) if kind == "one step" else rectified(b, x, 8)
    size, stride = 3 if kind == "window" else 1, 2 if kind == "strided" else 1
    value = drawn(size, size, 8, 12)
    w = b.Placeholder(dtype="float32", shape=value.shape, name="w") if kind == "fed filters" else b.constant(value)
    y = rectified(b, b.Conv2D(lead, w, strides=[1, stride, stride, 1], padding="SAME"), 12)
    outputs = [b.Identity(y, name="y"), b.Neg(lead, name="z")] if kind == "read twice" else [b.Identity(y, name="y")]
    fetches = [out.name for out in outputs] + ([lead.name] if kind == "fetched" else [])
    feeds = {"x:0": drawn(2, 6, 6, 8)} | ({"w:0": value} if kind == "fed filters" else {})
    session, single = Session(b.graph), Session(b.graph, fuse=False)
    for _ in range(_RUNS_TO_SETTLE):
        found = session.run(fetches, feeds)
    for value, want in zip(found, single.run(fetches, feeds)):
        np.testing.assert_allclose(value, want, rtol=1e-5, atol=1e-5)
    assert all(step.lead is None for step in program(session)._fused_calls)


def padded_convolution(b, x, pads, kind="Conv2D", padding="VALID", pad="Pad"):
    attrs = {"mode": "REFLECT"} if pad == "MirrorPad" else {}
    rest = [np.float32(1)] if pad == "PadV2" else []
    padded = getattr(b, pad)(x, b.constant(np.array(pads, np.int32)), *rest, **attrs, name="padded")
    channels = 8 + sum(pads[-1])
    w = b.constant(drawn(3, 3, channels, 1 if kind == "DepthwiseConv2dNative" else 6))
    return getattr(b, kind)(padded, w, strides=[1, 2, 2, 1], padding=padding, name="convolved")


AROUND = [[0, 0], [0, 1], [2, 1], [0, 0]]


@pytest.mark.parametrize("follows", [True, False])
@pytest.mark.parametrize("kind", ["Conv2D", "DepthwiseConv2dNative"])
def test_a_convolution_pads_what_is_padded_for_it(kind, follows):
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=None, name="x")
    y = padded_convolution(b, x, AROUND, kind)
    channels = 6 if kind == "Conv2D" else 8
    b.Neg(rectified(b, y, channels), name="y") if follows else b.Identity(y, name="y")
    session, single = Session(b.graph), Session(b.graph, fuse=False)
    for images in (3, 3, 3, 1, 1, 3):
        feeds = {"x:0": drawn(images, 7, 6, 8)}
        np.testing.assert_allclose(session.run("y:0", feeds), single.run("y:0", feeds), rtol=1e-5, atol=1e-5)
    (step,) = (step for step in program(session)._fused_calls if step.lead is not None)
    assert step.padding == (0, 0, 0, 1, 2, 1, 0, 0) and next(all_steps(step)).node.op == "Pad"
    for shape, name in (((7, 6, 8), "padded"), ((3, 7, 6, 5), "convolved")):
        with pytest.raises(InvalidArgumentError, match=name):
            session.run("y:0", {"x:0": drawn(*shape)})


OTHERS = {
    "of channels": {"pads": [*AROUND[:3], [1, 0]]},
    "of the batch": {"pads": [[1, 0], *AROUND[1:]]},
    "by windows too": {"padding": "SAME"},
    "with a number": {"pad": "PadV2"},
    "by a mirror": {"pad": "MirrorPad"},
}


@pytest.mark.parametrize("kind", [*OTHERS, "read twice"])
def test_other_paddings_take_a_step(kind):
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 7, 6, 8], name="x")
    b.Neg(padded_convolution(b, x, **{"pads": AROUND} | OTHERS.get(kind, {})), name="y")
    fetches = ["y:0"] + (["padded:0"] if kind == "read twice" else [])
    session, single, feeds = Session(b.graph), Session(b.graph, fuse=False), {"x:0": drawn(2, 7, 6, 8)}
    for _ in range(_RUNS_TO_SETTLE):
        found = session.run(fetches, feeds)
    for value, want in zip(found, single.run(fetches, feeds)):
        np.testing.assert_allclose(value, want, rtol=1e-5, atol=1e-5)
    assert not any(step.padding for step in program(session)._fused_calls)


def test_a_lead_that_fails_names_its_node():
    b = GraphBuilder()
    x, z = (b.Placeholder(dtype="float32", shape=None, name=name) for name in "xz")
    lead = b.Relu(b.AddV2(x, z, name="sum"))
    b.Neg(b.Conv2D(lead, b.constant(drawn(1, 1, 8, 12)), strides=[1, 1, 1, 1], padding="SAME"), name="y")
    session = Session(b.graph)
    feeds = {"x:0": drawn(2, 6, 6, 8), "z:0": drawn(8)}
    for _ in range(4):
        session.run("y:0", feeds)
    with pytest.raises(InvalidArgumentError, match="sum"):
        session.run("y:0", feeds | {"z:0": drawn(7)})
    turned = {"x:0": feeds["z:0"], "z:0": feeds["x:0"]}
    np.testing.assert_allclose(session.run("y:0", turned), session.run("y:0", feeds), rtol=1e-5, atol=1e-5)


@pytest.fixture
def many_blocks(monkeypatch):
    modules = ("numerics.convolution", "numerics.depthwise", "numerics.feeding", "runtime.fused_calls")
    for module in modules:
        monkeypatch.setattr(f"tfg.core.{module}.BLOCK_ELEMENTS", 300)
    for module in modules[:3]:
        monkeypatch.setattr(f"tfg.core.{module}.WORTH_DIVIDING", 1)


def product(b, x, channels, filters):
    w = b.constant(drawn(1, 1, channels, filters).astype(x.dtype.numpy))
    return b.Conv2D(x, w, strides=[1, 1, 1, 1], padding="SAME")


def depthwise(b, x, channels, size=3, stride=1, dilation=1, multiplier=1, **attrs):
    w = b.constant(drawn(size, size, channels, multiplier).astype(x.dtype.numpy))
    strides, dilations = [1, stride, stride, 1], [1, dilation, dilation, 1]
    return b.DepthwiseConv2dNative(x, w, strides=strides, dilations=dilations, **({"padding": "SAME"} | attrs))


def separable(b, x, filters=12, **attrs):
    return product(b, b.Relu6(depthwise(b, x, 8, **attrs)), 8, filters)


def inverted(b, x, wide=24, **attrs):
    expanded = rectified(b, product(b, x, 8, wide), wide)
    return b.AddV2(normalized(b, product(b, rectified(b, depthwise(b, expanded, wide, **attrs), wide), wide, 8), 8), x)


CONV, DEPTHWISE = "Conv2D", "DepthwiseConv2dNative"
BY_ROWS = {
    "separable": (separable, [CONV, DEPTHWISE]),
    "with windows of five": (functools.partial(separable, size=5), [CONV, DEPTHWISE]),
    "strided": (functools.partial(separable, stride=2), [CONV, DEPTHWISE]),
    "without padding": (functools.partial(separable, padding="VALID"), [CONV, DEPTHWISE]),
    "dilated": (functools.partial(separable, dilation=2), [CONV, DEPTHWISE]),
    "padded as told": (
        functools.partial(separable, padding="EXPLICIT", explicit_paddings=[0, 0, 4, 1, 0, 2, 0, 0]),
        [CONV, DEPTHWISE],
    ),
    "inverted": (inverted, [CONV, DEPTHWISE, CONV]),
    "inverted, with windows of five": (functools.partial(inverted, size=5), [CONV, DEPTHWISE, CONV]),
    "inverted, hardly wider": (functools.partial(inverted, wide=16), [CONV, DEPTHWISE]),
    "two in a row": (lambda b, x: separable(b, separable(b, x, 8)), [CONV, DEPTHWISE]),
    "with two filters a channel": (lambda b, x: product(b, depthwise(b, x, 8, multiplier=2), 16, 5), []),
    "more filters than positions": (functools.partial(separable, filters=200), [CONV, DEPTHWISE]),
}


def lead_ops(call):
    """The ops of the producers of a group and of its leads that feed by rows."""
    ops = [call.step.body[0].node.op]
    return ops + (lead_ops(call.lead) if call.is_fed else [])


@pytest.mark.parametrize(
    "kind, dtype", [*((kind, "float32") for kind in BY_ROWS), ("separable", "float64"), ("strided", "float64")]
)
def test_convolutions_in_a_row_hand_on_rows(kind, dtype, many_blocks):
    make, ops = BY_ROWS[kind]
    b = GraphBuilder()
    x = b.Placeholder(dtype=dtype, shape=[None, 9, 7, 8], name="x")
    b.Neg(make(b, x), name="y")
    session, single = Session(b.graph), Session(b.graph, fuse=False)
    for images in (3, 3, 3, 3, 1, 1, 3, 0, 2, 2):
        feeds = {"x:0": drawn(images, 9, 7, 8).astype(dtype)}
        found, want = session.run("y:0", feeds), single.run("y:0", feeds)
        assert found.dtype == want.dtype and found.shape == want.shape
        np.testing.assert_allclose(found, want, rtol=1e-5, atol=2e-6 * np.abs(want).max(initial=1))
    chains = [lead_ops(call) for call in program(session)._fused_calls.values() if call.is_fed]
    assert max(chains, key=len, default=[]) == ops


def test_groups_that_are_not_fed_stand_apart_from_their_leads():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, 9, 7, 8], name="x")
    b.Neg(b.Relu(separable(b, x)), name="y")
    session = Session(b.graph)
    for _ in range(_RUNS_TO_SETTLE + 1):
        session.run("y:0", {"x:0": drawn(2, 9, 7, 8)})
    steps = [instruction[-1] for instruction in program(session)._instructions]
    assert [step.node.op for step in steps if isinstance(step, Fused)] == ["Relu6", "Neg"]
    assert not any(step.lead for step in steps if isinstance(step, Fused))


def test_what_fails_in_a_row_of_convolutions_names_its_node(many_blocks):
    b = GraphBuilder()
    x, z = (b.Placeholder(dtype="float32", shape=None, name=name) for name in "xz")
    b.Neg(product(b, b.AddV2(depthwise(b, x, 8), z, name="sum"), 8, 5), name="y")
    session = Session(b.graph)
    feeds = {"x:0": drawn(2, 9, 7, 8), "z:0": drawn(8)}
    for _ in range(_RUNS_TO_SETTLE + 1):
        session.run("y:0", feeds)
    with pytest.raises(InvalidArgumentError, match="sum"):
        session.run("y:0", feeds | {"z:0": drawn(7)})
    with pytest.raises(InvalidArgumentError, match="DepthwiseConv2dNative"):
        session.run("y:0", feeds | {"x:0": drawn(2, 9, 7, 6)})


def swish(b, x, beta=1.0):
    """As tf.nn.silu gives it, with the IdentityN of its own gradient."""
    y = b.Mul(x, b.Sigmoid(b.Mul(b.constant(np.float32(beta)), x)))
    return b.IdentityN([y, x], T=["float32", "float32"])[0]


@pytest.mark.parametrize("beta, operations", [(1.0, 2), (0.5, 3)])
def test_an_activation_with_a_gradient_of_its_own(beta, operations):
    """What passes each value on takes no part; neither does a factor of one."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 6, 6, 8], name="x")
    y = b.Conv2D(x, b.constant(drawn(3, 3, 8, 8)), strides=[1, 1, 1, 1], padding="SAME")
    b.Neg(swish(b, normalized(b, y, 8), beta), name="y")
    session = Session(b.graph)
    value = drawn(2, 6, 6, 8)
    value[0, 0, 0] = np.nan, np.inf, -np.inf, 0, -0.0, 1e38, -1e38, 1
    for _ in range(4):
        found = session.run("y:0", {"x:0": value})
    np.testing.assert_allclose(found, Session(b.graph, fuse=False).run("y:0", {"x:0": value}), rtol=1e-5, atol=1e-5)
    ((step, call),) = program(session)._fused_calls.items()
    assert [inner.node.op for inner in step.body] == ["Conv2D", "FusedBatchNormV3", "Mul", "Sigmoid", "Mul", "Neg"]
    (layout,) = call.layouts.values()
    assert len(layout.chain.instructions) == operations + 1


def test_what_passes_values_on_may_be_fetched_and_fed():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 6, 6, 8], name="x")
    first = b.IdentityN([b.Neg(x), b.Relu(x)], T=["float32", "float32"])
    b.IdentityN([b.Sigmoid(first[0]), first[1]], T=["float32", "float32"], name="y")
    value = drawn(2, 6, 6, 8)
    session = Session(b.graph)
    for fetches, feeds in [(["y:0", "y:1"], {}), ([first[1].name, "y:0"], {}), (["y:1", "y:0"], {first[0].name: value / 2})]:
        for _ in range(8):
            found = session.run(fetches, {"x:0": value, **feeds})
        expected = Session(b.graph, fuse=False).run(fetches, {"x:0": value, **feeds})
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_ones_that_come_from_outside_are_a_factor():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 6, 6, 8], name="x")
    factor = b.Placeholder(dtype="float32", shape=[8], name="factor")
    b.Neg(b.Sigmoid(b.Mul(x, factor)), name="y")
    session, single, value = Session(b.graph), Session(b.graph, fuse=False), drawn(2, 6, 6, 8)
    for scale in (1, 1, 1, 1, 2, 1):
        feeds = {"x:0": value, "factor:0": np.full(8, scale, np.float32)}
        np.testing.assert_allclose(session.run("y:0", feeds), single.run("y:0", feeds), rtol=1e-6)


def test_one_number_for_each_image_and_channel():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[3, 5, 5, 4], name="x")
    s = b.Placeholder(dtype="float32", shape=[3, 1, 1, 4], name="s")
    b.Relu(b.Mul(x, b.Sigmoid(s)), name="y")
    assert both(b.graph, "y:0", {"x:0": drawn(3, 5, 5, 4), "s:0": drawn(3, 1, 1, 4)})


@pytest.mark.parametrize("dtype", ["float32", "float64", "half", "bfloat16", "int32"])
def test_dtypes(dtype):
    b = GraphBuilder()
    x = b.Placeholder(dtype=dtype, shape=None, name="x")
    b.Relu(b.AddV2(b.Mul(x, x), x), name="y")
    value = Session(b.graph).run("x:0", {"x:0": 3 * RNG.standard_normal((4, 5))})
    found = both(b.graph, "y:0", {"x:0": value})
    assert bool(found) == (dtype in ("float32", "float64"))


def test_what_is_not_finite():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=None, name="x")
    b.Mul(b.Relu6(b.AddV2(x, x)), b.Sigmoid(x), name="y")
    assert both(b.graph, "y:0", {"x:0": np.float32([[np.nan, np.inf, -np.inf], [-0.0, 1e38, -1e38]])})


def test_fetched_values_end_groups():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[3, 4], name="x")
    middle = b.AddV2(x, x, name="middle")
    b.Relu(b.Neg(middle), name="y")
    session = Session(b.graph)
    for _ in range(3):
        found = session.run(["middle:0", "y:0"], {"x:0": np.full((3, 4), -1.0)})
    assert np.all(found[0] == -2) and np.all(found[1] == 2)
    assert groups(session) == [["Neg", "Relu"]]


def test_results_are_arrays_of_their_own():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[3, 4], name="x")
    b.Relu(b.Neg(x), name="y")
    session = Session(b.graph)
    first = session.run("y:0", {"x:0": np.full((3, 4), -1.0)})
    for _ in range(4):
        session.run("y:0", {"x:0": np.full((3, 4), -7.0)})
    assert np.all(first == 1)


def test_hooks_see_every_kernel():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[3, 4], name="x")
    b.Relu(b.Neg(b.Square(x)), name="y")
    session, seen = Session(b.graph), []

    def hook(node, call, inputs):
        seen.append(node.op)
        return call(*inputs)

    session.run("y:0", {"x:0": np.ones((3, 4))})
    session.run("y:0", {"x:0": np.ones((3, 4))}, hook=hook)
    assert seen == ["Square", "Neg", "Relu"]


def test_small_values_go_by_their_own_kernels(monkeypatch):
    monkeypatch.setattr(fused_calls, "_WORTH_TILING", 1000)
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=None, name="x")
    b.Relu(b.Neg(x), name="y")
    assert not both(b.graph, "y:0", {"x:0": drawn(5, 5)})
    session = Session(b.graph)
    for _ in range(_RUNS_TO_SETTLE):
        session.run("y:0", {"x:0": drawn(5, 5)})
    assert not any(isinstance(step, Fused) for *_, step in program(session)._instructions)


def test_shapes_may_change_from_run_to_run():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=None, name="x")
    c = b.Placeholder(dtype="float32", shape=None, name="c")
    b.Relu(b.AddV2(b.Neg(x), c), name="y")
    session = Session(b.graph)
    for shape, other in [
        ((3, 4), (4,)),
        ((2, 3, 4), (2, 3, 4)),
        ((3, 4), (3, 1)),
        ((4,), (3, 4)),
        ((0, 4), (4,)),
        ((), ()),
    ] * 4:
        x, c = drawn(*shape), drawn(*other)
        np.testing.assert_array_equal(session.run("y:0", {"x:0": x, "c:0": c}), np.maximum(c - x, 0))


@pytest.mark.parametrize("shape", [(5,), (3, 1, 4)])
def test_what_is_wrong_is_told_by_the_node_that_is_at_fault(shape):
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 6, 6, 8], name="x")
    c = b.Placeholder(dtype="float32", shape=None, name="c")
    y = b.Conv2D(x, b.constant(drawn(3, 3, 8, 4)), strides=[1, 1, 1, 1], padding="SAME")
    b.Relu(b.BiasAdd(y, c, name="bias"), name="y")
    session = Session(b.graph)
    for _ in range(2):
        session.run("y:0", {"x:0": drawn(2, 6, 6, 8), "c:0": drawn(4)})
    for _ in range(3):
        with pytest.raises(InvalidArgumentError) as caught:
            session.run("y:0", {"x:0": drawn(2, 6, 6, 8), "c:0": drawn(*shape)})
        assert caught.value.node == "bias"


def test_training_statistics_and_channels_first_stay_as_they_are():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 8, 6, 6], name="x")
    y = b.BiasAdd(b.Neg(x), b.constant(drawn(8)), data_format="NCHW")
    b.Relu(y, name="y")
    assert not both(b.graph, "y:0", {"x:0": drawn(2, 8, 6, 6)})
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 6, 6, 8], name="x")
    b.Relu(normalized(b, b.Neg(x), 8, is_training=True), name="y")
    assert not both(b.graph, "y:0", {"x:0": drawn(2, 6, 6, 8)})


UNARY = ["Neg", "Relu", "Relu6", "Sigmoid", "Tanh", "Square", "Softplus", "Abs"]
BINARY = ["AddV2", "Sub", "Mul", "Maximum", "SquaredDifference", "RealDiv"]


@st.composite
def graphs(draw):
    """A graph of elementwise ops on a placeholder, vectors, numbers and a convolution; what it ends in is `y`."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 5, 5, 4], name="x")
    values = [x, b.Conv2D(x, b.constant(drawn(3, 3, 4, 4)), strides=[1, 1, 1, 1], padding="SAME")]
    values += [b.constant(drawn(4)), b.constant(np.float32(0.5)), b.constant(drawn(2, 1, 1, 4)), b.constant(drawn(1, 5, 5, 4))]
    for _ in range(draw(st.integers(1, 9))):
        one = values[draw(st.integers(0, len(values) - 1))]
        if draw(st.booleans()):
            values.append(getattr(b, draw(st.sampled_from(UNARY)))(one))
        else:
            other = values[draw(st.integers(0, len(values) - 1))]
            values.append(getattr(b, draw(st.sampled_from(BINARY)))(one, other))
    b.AddV2(values[-1], x, name="y")
    return b.graph


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_any_graph_of_elementwise_ops(graph):
    value = np.random.default_rng(3).standard_normal((2, 5, 5, 4)).astype(np.float32)
    fused, single = Session(graph), Session(graph, fuse=False)
    want = single.run("y:0", {"x:0": value})
    for _ in range(_RUNS_TO_SETTLE + 1):
        found = fused.run("y:0", {"x:0": value})
        np.testing.assert_allclose(found, want, rtol=2e-4, atol=2e-5)


@st.composite
def networks(draw):
    """A graph of convolutions, normalizations and elementwise ops, most of which take what was made last."""
    b = GraphBuilder()
    values = [b.Placeholder(dtype="float32", shape=[2, 5, 5, 4], name="x")]
    makers = {
        "product": lambda x: b.Conv2D(x, b.constant(drawn(1, 1, 4, 4) / 2), strides=[1, 1, 1, 1], padding="SAME"),
        "window": lambda x: b.Conv2D(x, b.constant(drawn(3, 3, 4, 4) / 6), strides=[1, 1, 1, 1], padding="SAME"),
        "depthwise": lambda x: depthwise(b, x, 4),
        "norm": lambda x: normalized(b, x, 4),
        "bias": lambda x: b.BiasAdd(x, b.constant(drawn(4))),
        "relu": lambda x: b.Relu(x),
        "tanh": lambda x: b.Tanh(x),
        "add": lambda x: b.AddV2(x, draw(st.sampled_from(values))),
        "mul": lambda x: b.Mul(b.Sigmoid(x), draw(st.sampled_from(values))),
    }
    for kind in draw(st.lists(st.sampled_from(sorted(makers)), min_size=2, max_size=9)):
        values.append(makers[kind](draw(st.sampled_from(values[-2:]))))
    b.Relu(functools.reduce(b.AddV2, draw(st.lists(st.sampled_from(values), max_size=2)), values[-1]), name="y")
    return b.graph


@settings(max_examples=60, deadline=None)
@given(networks())
def test_any_graph_of_convolutions_and_what_stands_between(graph):
    both(graph, "y:0", {"x:0": drawn(2, 5, 5, 4)})
