"""Dropout: at a rate of 0 it goes in every optimization, and `remove_dropout` switches it off at any rate."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.cli.running import tfg as command
from tests.core.passes.rewriting import placeholder, rewritten
from tests.functions import define
from tfg.core.graph.callers import all_nodes
from tfg.core.passes.pipeline import optimize

X = np.linspace(-3, 3, 12, dtype=np.float32).reshape(3, 4)


def shape_of(b, x):
    return b.Shape(x)


def drawn(b, x):
    return b.RandomUniform(shape_of(b, x), dtype=x.base_dtype)


def drawn_between(b, x):
    """A draw between two bounds, as TensorFlow 1 and stateless dropout write it."""
    low, high = (b.constant(np.asarray(value, x.base_dtype.numpy)) for value in (0, 1))
    draw = b.StatelessRandomUniform(shape_of(b, x), b.constant([1, 2]), dtype=x.base_dtype)
    return b.AddV2(b.Mul(draw, b.Sub(high, low)), low)


def one(x):
    return np.ones((), x.base_dtype.numpy)


def floor(b, x, keep):
    """TensorFlow 1.0 to 1.12."""
    return b.Mul(b.RealDiv(x, keep), b.Floor(b.Add(keep, drawn_between(b, x))))


def floor_of_rate(b, x, keep):
    """TensorFlow 1.13."""
    keep = b.Sub(one(x), b.Sub(one(x), keep))
    return b.Mul(b.RealDiv(x, keep), b.Floor(b.Add(keep, drawn(b, x))))


def cast(b, x, keep):
    """TensorFlow 1.14 to 2.3."""
    rate = b.Sub(one(x), keep)
    scale = b.RealDiv(one(x), b.Sub(one(x), rate))
    return b.Mul(b.Mul(x, scale), b.Cast(b.GreaterEqual(drawn(b, x), rate), DstT=x.base_dtype))


def select(b, x, keep):
    """TensorFlow 2.4 and later, and with a static rate the product with a number instead of the quotient."""
    rate = b.Sub(one(x), keep)
    scaled = b.RealDiv(x, b.Sub(one(x), rate))
    return b.SelectV2(b.GreaterEqual(drawn_between(b, x), rate), scaled, b.constant(0 * one(x)))


def mask_first(b, x, keep):
    """Keras 1 and recurrent cells: the mask before the quotient."""
    return b.RealDiv(b.Mul(b.Cast(b.Less(drawn(b, x), keep), DstT=x.base_dtype), x), keep)


def scaled_mask(b, x, keep):
    """A mask that is scaled itself, once for several values."""
    return b.Mul(x, b.RealDiv(b.Floor(b.AddV2(drawn(b, x), keep)), keep))


def dropped_first(b, x, keep):
    """A choice by what is dropped."""
    dropped = b.Less(drawn(b, x), b.Sub(one(x), keep))
    return b.SelectV2(dropped, b.ZerosLike(x), b.Mul(x, b.Reciprocal(keep)))


def strictly_above(b, x, keep):
    """A comparison that a draw of 0 fails even at a rate of 0."""
    return b.Mul(b.RealDiv(x, keep), b.Cast(b.Greater(drawn(b, x), b.Sub(one(x), keep)), DstT=x.base_dtype))


FORMS = (floor, floor_of_rate, cast, select, mask_first, scaled_mask, dropped_first)


def has_draws(graph):
    return any("RandomUniform" in node.op for node in all_nodes(graph))


def graph_of(form, keep=None, dtype="float32", shape=(None, 4)):
    """Return y = dropout(relu(x)), with a keep probability from a constant, or from the placeholder keep_prob."""
    b = tfg.GraphBuilder()
    x = b.Relu(b.Placeholder(dtype=dtype, shape=shape, name="x"))
    number = (
        b.Placeholder(dtype=dtype, shape=[], name="keep_prob")
        if keep is None
        else b.constant((one(x) * keep).astype(x.base_dtype.numpy))
    )
    b.Identity(form(b, x, number), name="y")
    return b.graph


def values(graph, dtype="float32"):
    return tfg.Session(graph).run("y:0", {"x:0": X.astype(np.dtype(dtype))})


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("form", FORMS)
def test_a_keep_probability_of_1_leaves_no_draw(form, dtype):
    """A draw from [0, 1) is never less than 0, and 1 and a draw round down to 1: the numbers are the same, bit for bit."""
    original = graph_of(form, dtype=dtype)
    filled = tfg.fill_placeholders(original, {"keep_prob:0": 1})
    assert {node.op for node in filled} == {"Placeholder", "Const", "Relu", "Identity"}
    after, _ = optimize(graph_of(form, 1, dtype), ["y"])
    assert {node.op for node in after} == {"Placeholder", "Relu", "Identity"}
    expected = tfg.Session(original).run("y:0", {"x:0": X.astype(np.dtype(dtype)), "keep_prob:0": 1})
    for graph in (filled, after):
        np.testing.assert_array_equal(values(graph, dtype), expected)


def test_a_frozen_graph_draws_nothing_at_a_rate_of_0():
    """Also where the rate goes into a function, which freezing inlines."""
    b = tfg.GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, 4], name="x")
    keep = b.Placeholder(dtype="float32", shape=[], name="keep_prob")
    function = define(b, "f", ["float32", "float32"], lambda g, x, keep: [cast(g, x, keep)], stateful=True)
    b.Identity(b.StatefulPartitionedCall([x, keep], f=function, Tout=["float32"])[0], name="y")
    frozen = tfg.freeze(tfg.fill_placeholders(b.graph, {"keep_prob:0": 1}), {}, ["y:0"])
    assert not has_draws(frozen)
    np.testing.assert_array_equal(tfg.Session(frozen).run("y:0", {"x:0": X}), X)


def test_a_draw_of_0_may_be_dropped_at_a_rate_of_0():
    graph = tfg.fill_placeholders(graph_of(strictly_above), {"keep_prob:0": 1})
    assert has_draws(optimize(graph, ["y"]).graph)


def test_a_draw_that_is_read_elsewhere_goes_on_in_every_run():
    """A run that fetches y draws, so that the next run of z gets the second numbers of the stream."""
    b = tfg.GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, 4], name="x")
    draw = b.RandomUniform(b.Shape(x), dtype="float32", seed=1, seed2=2)
    b.Mul(x, b.Cast(b.GreaterEqual(draw, 0.0), DstT="float32"), name="y")
    b.Neg(draw, name="z")
    after, _ = optimize(b.graph, ["y", "z"])
    results = []
    for graph in (b.graph, after):
        session = tfg.Session(graph)
        results.append([session.run(f"{name}:0", {"x:0": X}) for name in "yzyz"])
    np.testing.assert_array_equal(*results)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("form", [*FORMS, strictly_above])
def test_dropout_is_switched_off(form, dtype, rate):
    after, report = optimize(graph_of(form, 1 - rate, dtype), ["y"], passes="remove_dropout")
    assert not has_draws(after)
    np.testing.assert_array_equal(values(after, dtype), np.maximum(X, 0).astype(dtype))
    assert [note for record in report.passes for note in record.notes] == [f"dropout is off: 1 of rate {rate:.1g}"]


def gaussian(b, x, rate, mean=1.0, deviation=None):
    """GaussianDropout of Keras 2 and 3: the deviation is the square root of rate / (1 - rate)."""
    draw = b.RandomStandardNormal(shape_of(b, x), dtype=x.base_dtype)
    deviation = deviation or (rate / (1 - rate)) ** 0.5
    return b.Mul(x, b.AddV2(b.Mul(draw, same(x, deviation)), same(x, mean)))


def alpha(b, x, rate, scale=None):
    """AlphaDropout of Keras 2 and 3."""
    other = -1.6732632423543772848 * 1.0507009873554804934
    mask = b.Cast(b.GreaterEqual(drawn(b, x), same(x, rate)), DstT=x.base_dtype)
    mixed = b.AddV2(b.Mul(x, mask), b.Mul(same(x, other), b.Sub(same(x, 1), mask)))
    a = ((1 - rate) * (1 + rate * other**2)) ** -0.5
    return b.AddV2(b.Mul(same(x, scale or a), mixed), same(x, -a * other * rate))


def spatial(b, x, rate):
    """SpatialDropout1D: a draw a column."""
    rows = b.Pack([b.StridedSlice(b.Shape(x), [0], [1], [1], shrink_axis_mask=1), b.constant(1)])
    draw = b.RandomUniform(rows, dtype=x.base_dtype)
    return b.SelectV2(b.GreaterEqual(draw, same(x, rate)), b.Mul(x, same(x, 1 / (1 - rate))), same(x, 0))


def same(x, value):
    return np.asarray(value, x.base_dtype.numpy)


def graph_of_rate(form, dtype, *args, **settings):
    b = tfg.GraphBuilder()
    x = b.Relu(b.Placeholder(dtype=dtype, shape=[None, 4], name="x"))
    b.Identity(form(b, x, *args, **settings), name="y")
    return b.graph


@pytest.mark.parametrize("rate", [0.1, 0.5])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("form", [gaussian, alpha, spatial])
def test_other_kinds_of_dropout_are_switched_off(form, dtype, rate):
    """As Keras does outside of training: `layer(x, training=False)` is x."""
    after, report = optimize(graph_of_rate(form, dtype, rate), ["y"], passes="remove_dropout")
    assert {node.op for node in after} <= {"Placeholder", "Relu", "Identity"}
    np.testing.assert_array_equal(values(after, dtype), np.maximum(X, 0).astype(dtype))
    assert [note for record in report.passes for note in record.notes] == [f"dropout is off: 1 of rate {rate:.1g}"]


@pytest.mark.parametrize(("form", "settings"), [(gaussian, {"mean": 0.5}), (alpha, {"scale": 1.0})])
def test_draws_that_change_the_mean_stay(form, settings):
    after, _ = optimize(graph_of_rate(form, "float32", 0.5, **settings), ["y"], passes="remove_dropout")
    assert {"RandomStandardNormal", "RandomUniform"} & {node.op for node in after}


@pytest.mark.parametrize("form", FORMS)
def test_a_rate_that_a_run_feeds_makes_no_difference(form):
    after, report = optimize(graph_of(form), ["y"], passes="remove_dropout,prune")
    assert [node.name for node in after if node.is_placeholder] == ["x"]
    assert report.passes[0].notes == ("dropout is off: 1 of rate by 'keep_prob'",)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("passes", ["remove_dropout", "default,remove_dropout"])
@pytest.mark.parametrize("form", FORMS)
def test_dropout_and_its_gradient_go_or_stay_together(form, passes):
    """The gradient reads the mask, behind sums over broadcast sizes that the default passes remove."""
    b = tfg.GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, 4], name="x")
    b.Sum(form(b, x, b.constant(np.float32(0.5))), [0, 1], name="loss")
    graph, [gradient] = tfg.gradients(b.graph, "loss:0", "x:0")
    after, report = optimize(graph, ["loss:0", gradient], passes=passes)
    if passes.startswith("default"):
        assert not has_draws(after)
    if has_draws(after):
        assert len(after) == len(graph)
        assert "reads its mask, too" in report.passes[0].refused[0].reason
    else:
        np.testing.assert_array_equal(tfg.Session(after).run(gradient, {"x:0": X}), np.ones_like(X))


def test_dropout_whose_mask_is_read_otherwise_stays():
    b = tfg.GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[3, 4], name="x")
    mask = b.GreaterEqual(drawn(b, x), 0.5)
    b.SelectV2(mask, b.RealDiv(x, 0.5), 0.0, name="y")
    b.LogicalNot(mask, name="dropped")
    after, report = optimize(b.graph, ["y", "dropped"], passes="remove_dropout")
    assert has_draws(after)
    assert [refusal.reason for refusal in report.passes[0].refused] == ["'dropped' reads its mask, too"]
    assert not has_draws(optimize(b.graph, ["y"], passes="prune,remove_dropout").graph)


def scaled_otherwise(b, x):
    return b.Mul(b.RealDiv(x, 0.25), b.Floor(b.AddV2(0.5, drawn(b, x))))


def not_scaled(b, x):
    return b.Mul(x, b.Floor(b.AddV2(0.5, drawn(b, x))))


def noise(b, x):
    return b.AddV2(x, b.RealDiv(b.Floor(b.AddV2(0.5, drawn(b, x))), 0.5))


def wider_draw(b, x):
    return b.Mul(b.RealDiv(x, 0.5), b.Floor(b.AddV2(0.5, b.Mul(drawn(b, x), 2.0))))


def other_values(b, x):
    return b.SelectV2(b.GreaterEqual(drawn(b, x), 0.5), b.RealDiv(x, 0.5), b.Neg(x))


@pytest.mark.parametrize("form", [scaled_otherwise, not_scaled, noise, wider_draw, other_values])
def test_what_is_no_dropout_stays(form):
    result = rewritten(lambda b: form(b, placeholder(b, "x", (3, 4))), "remove_dropout", check=False)
    assert has_draws(result.after)
    assert len(result.before) == len(result.after)
    assert form is wider_draw or "nothing divides by" in result.reasons


def test_a_scale_of_the_user_stays():
    """0.5 x before dropout of rate 0.5, and a third of the result: the scale of dropout goes, the others stay."""

    def build(b):
        return b.Mul(floor(b, b.Mul(placeholder(b, "x"), 0.5), b.constant(np.float32(0.5))), b.constant(np.float32(1 / 3)))

    assert rewritten(build, "remove_dropout", check=False).text == "Mul(Mul(x, 0.5), 0.333333)"


def test_a_mask_of_fewer_sizes_is_dropout_too():
    """The noise shape of spatial dropout and of stochastic depth."""

    def build(b):
        x = placeholder(b, "x", (3, 4))
        mask = b.Floor(b.AddV2(0.8, b.RandomUniform([3, 1], dtype="float32")))
        wider = b.Floor(b.AddV2(0.8, b.RandomUniform([2, 3, 4], dtype="float32")))
        return b.Mul(b.RealDiv(x, 0.8), mask), b.Mul(b.RealDiv(x, 0.8), wider)

    assert rewritten(build, "remove_dropout", check=False).text.startswith("x; Mul(")


def in_function(b, x):
    """A dropout in a function that a function calls."""
    inner = define(b, "inner", ["float32"], lambda g, x: [select(g, x, g.constant(np.float32(0.5)))], stateful=True)
    outer = define(
        b, "outer", ["float32"], lambda g, x: g.StatefulPartitionedCall([x], f=inner, Tout=["float32"]), stateful=True
    )
    return b.StatefulPartitionedCall([x], f=outer, Tout=["float32"])[0]


def in_branch(b, x):
    """A dropout on the branch of a V1 conditional that runs."""
    training = b.Placeholder(dtype="bool", shape=[], name="training")
    off, on = b.Switch(x, training)
    return b.Merge([off, cast(b, on, b.constant(np.float32(0.5)))])[0]


def in_loop(b, x):
    """A dropout in each of three iterations of a V1 loop, with a draw of each iteration, and one of all iterations."""
    limits = {"frame_name": "loop", "is_constant": True}
    noise, keep, rate = (b.Enter(value, **limits) for value in (drawn(b, x), *map(b.constant, np.float32([0.5, 0.5]))))
    i, value = (b.Merge([b.Enter(start, frame_name="loop")] * 2)[0] for start in (b.constant(np.int32(0)), x))
    test = b.LoopCond(b.Less(i, b.Enter(b.constant(np.int32(3)), **limits)))
    turn, (left, going) = b.Switch(i, test)[1], b.Switch(value, test)
    once = b.Mul(b.RealDiv(going, keep), b.Floor(b.AddV2(keep, noise)))
    for merge, following in (
        (i, b.AddV2(turn, b.Enter(b.constant(np.int32(1)), **limits))),
        (value, b.SelectV2(b.Less(rate, drawn(b, once)), b.RealDiv(once, keep), b.ZerosLike(once))),
    ):
        b.graph.set_inputs(merge.node, [merge.node.inputs[0], b.NextIteration(following)])
    return b.Exit(left)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("passes", ["{}", "default,{}"])
@pytest.mark.parametrize("name", ["remove_dropout", "remove_training_nodes"])
@pytest.mark.parametrize("form", [in_function, in_branch, in_loop])
def test_dropout_wherever_it_is(form, name, passes):
    b = tfg.GraphBuilder()
    b.Identity(form(b, b.Placeholder(dtype="float32", shape=[None, 4], name="x")), name="y")
    after, report = optimize(b.graph, ["y"], passes=passes.format(name))
    assert not has_draws(after)
    feeds = {"x:0": X} | ({"training:0": True} if form is in_branch else {})
    np.testing.assert_array_equal(tfg.Session(after).run("y:0", feeds), X)
    count = 2 if form is in_loop else 1
    assert [note for record in report.passes for note in record.notes] == [f"dropout is off: {count} of rate 0.5"]


def test_a_fetched_dropout_keeps_its_name():
    graph = graph_of(select, 0.5)
    name = graph["y"].inputs[0].name
    after, _ = optimize(graph, [name, "y"], passes="remove_dropout")
    np.testing.assert_array_equal(tfg.Session(after).run(name, {"x:0": X}), np.maximum(X, 0))


def test_the_command_says_what_it_switched_off_and_verifies_the_rest(tmp_path):
    b = tfg.GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, 4], name="x")
    for keep in (0.5, 0.9, 0.5):
        x = b.Tanh(floor(b, x, b.constant(np.float32(keep))))
    b.Identity(x, name="y")
    tfg.save(b.graph, tmp_path / "g.pb")
    words = ("optimize", tmp_path / "g.pb", "-o", tmp_path / "o.pb", "--fetch", "y", "--verify")
    done = command(*words, "--passes", "default,remove_training_nodes")
    assert done.code == 0, done.err
    assert "dropout is off: 2 of rate 0.5, 1 of rate 0.1" in done.err
    assert "compares with the graph after remove_dropout alone" in done.err
    assert not has_draws(tfg.load(tmp_path / "o.pb"))
