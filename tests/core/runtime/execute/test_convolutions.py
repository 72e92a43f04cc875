"""Fused convolutions and epilogues: the same numbers and errors as single kernels."""

import numpy as np
import pytest

from tests.core.runtime.execute.beside_kernels import both, drawn, normalized, product, program
from tfg import GraphBuilder, Session
from tfg.core.runtime.execute.tiers import SETTLING_RUN
from tfg.core.support.errors import InvalidArgumentError, TfgError

pytestmark = pytest.mark.usefixtures("same_draws", "fused_from_the_first_run")

ACTIVATIONS = ["Relu", "Relu6", "Sigmoid", "Tanh", "Elu", "LeakyRelu", "Softplus", "Identity"]


@pytest.mark.sampled(6)
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


@pytest.mark.parametrize("data_format", ["NDHWC", "NCDHW"])
@pytest.mark.parametrize("is_constant", [True, False])
def test_a_convolution_in_three_dimensions(is_constant, data_format):
    """With filters and biases that are constant or fed; channels first go by single kernels."""
    b = GraphBuilder()
    sizes, value = (5, 7, 6), drawn(2, 5, 7, 6, 3)
    value[0, 1, 2, 3] = np.nan, np.inf, -0.0
    x = b.Placeholder(dtype="float32", shape=None, name="x")
    given = {"w": drawn(3, 2, 3, 3, 4), "bias": drawn(4), "side": drawn(2, *sizes, 4)}
    feeds = {"x:0": value, "side:0": given["side"]} | (
        {} if is_constant else {f"{name}:0": given[name] for name in ("w", "bias")}
    )
    w, bias = (
        b.constant(given[name]) if is_constant else b.Placeholder(dtype="float32", shape=None, name=name)
        for name in ("w", "bias")
    )
    side = b.Placeholder(dtype="float32", shape=None, name="side")
    y = b.Conv3D(x, w, strides=[1, 1, 1, 1, 1], padding="SAME", data_format=data_format)
    b.Relu(b.AddV2(b.BiasAdd(y, bias, data_format="NHWC" if data_format == "NDHWC" else "NCHW"), side), name="y")
    if data_format == "NCDHW":
        feeds |= {name: np.moveaxis(feeds[name], -1, 1) for name in ("x:0", "side:0")}
    result = both(b.graph, "y:0", feeds)
    assert (["Conv3D", "BiasAdd", "AddV2", "Relu"] in result) is (data_format == "NDHWC")


def test_constants_around_a_convolution_are_worked_into_it():
    """Sums and products with vectors at the front cost nothing: the remaining chain is a single operation."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 9, 9, 8], name="x")
    y = b.Conv2D(x, b.constant(drawn(3, 3, 8, 12)), strides=[1, 1, 1, 1], padding="SAME")
    y = b.Mul(b.AddV2(y, b.constant(drawn(12))), b.Rsqrt(b.constant(np.abs(drawn(12)) + 1)))
    y = b.Relu(b.AddV2(b.constant(drawn(1, 1, 1, 12)), y), name="y")
    session = Session(b.graph)
    for _ in range(4):
        session.run("y:0", {"x:0": drawn(2, 9, 9, 8)})
    ((step, call),) = program(session).fused_calls.items()
    (layout,) = call.layouts.values()
    assert len(step.body) == 6 and layout.filters is not None and layout.bias is not None
    assert len(layout.chain.instructions) == 1
    both(b.graph, "y:0", {"x:0": drawn(2, 9, 9, 8)})


def finished(b, x, fused_ops, vectors, op="_FusedConv2D", **attrs):
    """A convolution of 8 channels with the ops that TensorFlow's optimizer puts inside."""
    depthwise = op == "_FusedDepthwiseConv2dNative"
    w = b.constant(drawn(3, 3, 8, 1 if depthwise else 8))
    inputs, types = ([], {}) if depthwise else ([[]], {"TArgs": ["float32"] * len(vectors)})
    attrs |= {"strides": [1, 1, 1, 1], "padding": "SAME", "fused_ops": fused_ops, "num_args": len(vectors)}
    return getattr(b, op)(x, w, vectors, *inputs, **types, **attrs)


def vectors(b, count):
    return [b.constant(np.abs(drawn(8)) + 0.5) for _ in range(count)]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("has_residual", [True, False])
@pytest.mark.parametrize("activation", ["Relu", "LeakyRelu", "Elu", None])
@pytest.mark.parametrize(
    ("op", "begun", "count"),
    [("_FusedConv2D", "FusedBatchNorm", 4), ("_FusedConv2D", "BiasAdd", 1), ("_FusedDepthwiseConv2dNative", "BiasAdd", 1)],
)
def test_what_is_inside_of_a_convolution_runs_with_what_follows(op, begun, count, activation, has_residual):
    """A normalization goes into the filters and the first sums; the rest and the ops behind are a chain on blocks."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 6, 6, 8], name="x")
    y = finished(b, x, [begun, *([activation] if activation else [])], vectors(b, count), op)
    y = b.Relu(b.AddV2(y, x)) if has_residual else y
    feeds, fetch = {"x:0": drawn(2, 6, 6, 8)}, y.name
    (group,) = both(b.graph, fetch, feeds)
    assert group == [op, *(["AddV2", "Relu"] if has_residual else [])]
    session = Session(b.graph)
    for _ in range(SETTLING_RUN):
        session.run(fetch, feeds)
    ((step, call),) = program(session).fused_calls.items()
    (layout,) = call.layouts.values()
    assert (layout.filters is not None) == (begun == "FusedBatchNorm") and step.parts[0].node.op in op
    bias_apart = op == "_FusedDepthwiseConv2dNative"
    assert len(layout.chain.instructions) == bias_apart + (activation is not None) + 2 * has_residual


def test_vectors_inside_of_a_convolution_may_be_fed():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 6, 6, 8], name="x")
    fed = [b.Placeholder(dtype="float32", shape=[8], name=f"v{i}") for i in range(4)]
    b.Relu(b.AddV2(finished(b, x, ["FusedBatchNorm", "Relu"], fed, epsilon=0.1), x), name="y")
    feeds = {"x:0": drawn(2, 6, 6, 8)} | {f"v{i}:0": np.abs(drawn(8)) + 0.5 for i in range(4)}
    assert both(b.graph, "y:0", feeds) == [["_FusedConv2D", "AddV2", "Relu"]]


@pytest.mark.parametrize(
    ("fused_ops", "count", "message"),
    [
        (["FusedBatchNorm"], 2, "needs 4 more arguments"), (["BiasAdd", "Softmax"], 1, "cannot fuse"),
        (["BiasAdd", "Erf"], 1, "cannot fuse"),
        (["BiasAdd"], 1, "must have shape"),
    ],
)  # fmt: skip
def test_the_kernel_of_a_convolution_says_what_is_wrong_inside(fused_ops, count, message):
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 6, 6, 8], name="x")
    given = [b.constant(drawn(5))] if message == "must have shape" else vectors(b, count)
    fused = finished(b, x, fused_ops, given)
    b.Relu(fused, name="y")
    session = Session(b.graph)
    for _ in range(SETTLING_RUN):
        with pytest.raises(TfgError, match=message) as caught:
            session.run("y:0", {"x:0": drawn(2, 6, 6, 8)})
        assert caught.value.node == fused.node.name


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
    names = sorted(both(b.graph, "y:0", {"x:0": drawn(2, 6, 6, 8)}), key=len)
    alone = ["Conv2D", "FusedBatchNormV3"] if takes_turns else ["Conv2D", "BiasAdd", "FusedBatchNormV3"]
    assert names == [alone, [*alone, "AddV2"]]


def swish(b, x, beta=1.0):
    """Return the graph of tf.nn.silu, with the IdentityN of the custom gradient."""
    y = b.Mul(x, b.Sigmoid(b.Mul(b.constant(np.float32(beta)), x)))
    return b.IdentityN([y, x], T=["float32", "float32"])[0]


@pytest.mark.parametrize("beta, operations", [(1.0, 2), (0.5, 3)])
def test_an_activation_with_a_gradient_of_its_own(beta, operations):
    """Nodes that pass each value on, and a factor of 1, add no operation."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 6, 6, 8], name="x")
    y = b.Conv2D(x, b.constant(drawn(3, 3, 8, 8)), strides=[1, 1, 1, 1], padding="SAME")
    b.Neg(swish(b, normalized(b, y, 8), beta), name="y")
    session = Session(b.graph)
    value = drawn(2, 6, 6, 8)
    value[0, 0, 0] = np.nan, np.inf, -np.inf, 0, -0.0, 1e38, -1e38, 1
    for _ in range(4):
        result = session.run("y:0", {"x:0": value})
    np.testing.assert_allclose(result, Session(b.graph, optimize="none").run("y:0", {"x:0": value}), rtol=1e-5, atol=1e-5)
    ((step, call),) = program(session).fused_calls.items()
    assert [inner.node.op for inner in step.body] == ["Conv2D", "FusedBatchNormV3", "Mul", "Sigmoid", "Mul", "Neg"]
    (layout,) = call.layouts.values()
    assert len(layout.chain.instructions) == operations + 1


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
