"""Sizes that only a run tells have names, loops count each iteration at its size, and shapes that are given must fit."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cases import control_flow as loops
from tests.cli.running import tfg
from tests.functions import define
from tfg import GraphBuilder, Session
from tfg.core.flops import count_flops
from tfg.core.flops.growth import summed
from tfg.core.flops.measured import measure
from tfg.core.flops.training_steps import with_backward
from tfg.core.support.errors import InvalidArgumentError
from tfg.core.support.versions import Versions
from tfg.core.types.dims import Dim, dim_min, substitute
from tfg.formats.saving import save

X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)


def costs(report):
    return {node.path: str(node.cost.flops) for node in report.nodes}


def reasons(report):
    return {node.path: node.reason for node in report.unknown()}


def measured(graph, fetches, feeds):
    return measure(Session(graph), fetches, feeds, runs=1).flops


def true_rows(g, x, mask, name):
    """The rows of x where the mask is true."""
    return g.GatherV2(x, g.Squeeze(g.Where(mask, name=f"{name}/Where"), squeeze_dims=[1]), 0, name=f"{name}/rows")


@pytest.fixture
def masked():
    """A product of the rows that a mask chooses, whose number only the mask's values tell."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[None, 4], name="x")
    mask = g.Placeholder(dtype="bool", shape=[None], name="mask")
    g.MatMul(true_rows(g, x, mask, "choose"), np.ones((4, 5), np.float32), name="y")
    return g


def test_a_size_is_called_after_its_node(masked):
    report = count_flops(masked.graph, ["y:0"])
    assert report.unknown() == []
    assert costs(report)["y"] == "40*n[Where]"
    assert report.symbols["n[Where]"] == (
        "dimension 0 of choose/Where:0 (the number of true elements), known only at run time; "
        "`sizes={'Where': NUMBER}` sets it"
    )
    feeds = {"x:0": X, "mask:0": np.array([True, False, True])}
    assert measured(masked.graph, ["y:0"], feeds) == report.substituted({"N": 3, "n[Where]": 2}).total().flops


def test_sizes_of_nodes_that_end_alike_have_longer_names():
    g = GraphBuilder()
    x, mask = g.Placeholder(dtype="float32", shape=[6, 4]), g.Placeholder(dtype="bool", shape=[6])
    rows = [g.Square(true_rows(g, x, mask, name), name=f"{name}/y").name for name in ("a", "b")]
    op_costs = costs(count_flops(g.graph, rows))
    assert (op_costs["a/y"], op_costs["b/y"]) == ("4*n[Where]", "4*n[b/Where]")


def test_several_sizes_of_a_node_are_told_apart_by_output_and_dimension():
    g = GraphBuilder()
    image = g.Cast(g.DecodePng(g.Placeholder(dtype="string", shape=[]), channels=3, name="read"), DstT="float32")
    report = count_flops(g.graph, [g.Square(image, name="y").name])
    assert costs(report)["y"] == "3*n[read:0,0]*n[read:0,1]"
    assert "dimension 1 of read:0 (DecodePng)" in report.symbols["n[read:0,1]"]


def test_what_no_cost_depends_on_is_not_listed():
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[6])
    g.Unique(x)
    assert count_flops(g.graph, [g.Square(x).name]).symbols == {}


def test_a_function_and_its_caller_have_one_name_for_a_size():
    g = GraphBuilder()
    define(g, "f", ["float32"], lambda b, x: [b.Square(b.Unique(x, name="u")[0], name="inside")])
    y = g.PartitionedCall([g.Placeholder(dtype="float32", shape=[6])], Tout=["float32"], f="f", name="call")[0]
    op_costs = costs(count_flops(g.graph, [g.Neg(y, name="outside").name]))
    assert op_costs["call/inside"] == op_costs["outside"] == "n[call]"


def test_branches_of_different_sizes_make_a_size_of_their_own():
    g = GraphBuilder()
    x, p = g.Placeholder(dtype="float32", shape=[6]), g.Placeholder(dtype="bool", shape=[])
    define(g, "all", ["float32"], lambda b, x: [b.Square(x)])
    define(g, "two", ["float32"], lambda b, x: [b.Slice(x, [0], [2])])
    y = g.If(p, [x], Tout=["float32"], then_branch="all", else_branch="two", name="choice")[0]
    assert costs(count_flops(g.graph, [g.Neg(y, name="y").name]))["y"] == "n[choice]"


def test_a_placeholder_without_a_shape_says_what_to_do():
    g = GraphBuilder()
    define(g, "f", ["float32"], lambda b, x: [b.Square(x)])
    x = g.Placeholder(dtype="float32", name="x")
    y = g.PartitionedCall([g.Neg(x)], Tout=["float32"], f="f", name="call")[0]
    assert set(reasons(count_flops(g.graph, [y.name])).values()) == {
        "placeholder 'x' has no shape: set it with `shapes={'x': SIZES}`"
    }
    assert count_flops(g.graph, [y.name], shapes={"x": (2, 3)}).total().flops == 12


def two_placeholders(g):
    x = g.Placeholder(dtype="float32", shape=[None, 4], name="x")
    default = g.PlaceholderWithDefault(np.ones((2, 4), np.float32), shape=[None, 4], name="default")
    return g.Mul(x, default, name="y")


@pytest.mark.parametrize("shapes, message", [
    ({"x": (3, 5)}, r"'x' \(Placeholder\): the shape \(3,5\) given for 'x:0' contradicts the shape \(\?,4\) of the graph"),
    ({"x": (3,)}, r"the shape \(3\) given"), ({"default": (2, 3)}, r"'default' \(PlaceholderWithDefault\)"),
    ({"y": (3, 7)}, r"the shape \(3,7\) given for 'y:0' contradicts the shape \(N,4\) of the graph"),
])  # fmt: skip
def test_shapes_that_contradict_the_graph_are_refused(shapes, message):
    g = GraphBuilder()
    y = two_placeholders(g)
    with pytest.raises(InvalidArgumentError, match=message):
        count_flops(g.graph, [y.name], shapes=shapes)


@pytest.mark.parametrize("shapes, flops", [
    ({"x": (3, 4), "default": (3, 4)}, "12"), ({"x": (3, None)}, "12"), ({"x": (None, 4)}, "4*N"), ({"y": (6, 4)}, "24"),
])  # fmt: skip
def test_shapes_may_be_given_in_part_and_of_any_tensor(shapes, flops):
    g = GraphBuilder()
    y = g.Neg(two_placeholders(g), name="z")
    assert costs(count_flops(g.graph, [y.name], shapes=shapes))["z"] == flops


def test_a_placeholder_of_an_old_graph_with_a_scalar_shape_may_have_any():
    g = GraphBuilder()
    y = g.Square(g.Placeholder(dtype="float32", shape=[], name="x"))
    with pytest.raises(InvalidArgumentError, match="contradicts"):
        count_flops(g.graph, [y.name], shapes={"x": (3, 4)})
    g.graph.versions = Versions(21)
    assert count_flops(g.graph, [y.name], shapes={"x": (3, 4)}).total().flops == 12


def test_placeholders_that_end_alike_have_symbols_of_their_own():
    g = GraphBuilder()
    a, b = (g.Placeholder(dtype="float32", shape=[3, None], name=f"{scope}/x") for scope in "ab")
    op_costs = costs(count_flops(g.graph, [g.Square(a, name="p").name, g.Square(b, name="q").name]))
    assert (op_costs["p"], op_costs["q"]) == ("3*x_1", "3*b/x_1")


def test_values_that_are_fed_decide_shapes_and_branches():
    g = GraphBuilder()
    x, axes = g.Placeholder(dtype="float32", shape=[6, 7]), g.Placeholder(dtype="int32", shape=[None], name="axes")
    total = g.Sum(x, axes, name="total")
    assert "`shapes={'total': SIZES}`" in reasons(count_flops(g.graph, [total.name]))["total"]
    assert costs(count_flops(g.graph, [total.name], values={"axes": np.int32([1])}))["total"] == str(6 * 6)
    p = g.Placeholder(dtype="bool", shape=[], name="p")
    define(g, "cheap", ["float32"], lambda b, x: [b.Neg(x)])
    define(g, "dear", ["float32"], lambda b, x: [b.Square(b.Square(x))])
    y = g.If(p, [x], Tout=["float32"], then_branch="cheap", else_branch="dear")[0]
    assert count_flops(g.graph, [y.name], values={"p": np.array(True)}).total().flops == 42


# ---- loops


def appending(g, limit, x):
    """A functional loop that multiplies x and appends its first row, `limit` times."""
    types = ["int32", "int32", "float32", "float32"]
    define(g, "condition", types, lambda b, i, n, x, w: [b.Less(i, n)])

    def body(b, i, n, x, w):
        row = b.Slice(x, [0, 0], [1, -1])
        return [b.AddV2(i, 1), n, b.ConcatV2([b.MatMul(x, w, name="product"), row], 0), w]

    define(g, "body", types, body)
    weights = g.constant(np.ones((4, 4), np.float32), name="w")
    return g.While([g.constant(0), limit, x, weights], cond="condition", body="body", name="loop")[2]


def appending_v1(g, limit, x):
    """The same loop of Switch and Merge."""

    def body(values, constants):
        (i, v), (_, w, begin, size, axis) = values, constants
        with g.control_dependencies([i]):
            one = g.constant(1)
        return [g.AddV2(i, one), g.ConcatV2([g.MatMul(v, w, name="loop/product"), g.Slice(v, begin, size)], axis)]

    weights = g.constant(np.ones((4, 4), np.float32), name="w")
    constants = [limit, weights, *map(g.constant, (np.int32([0, 0]), np.int32([1, -1]), np.int32(0)))]
    return loops.loop(g, "loop", [g.constant(0), x], constants, lambda v, c: g.Less(v[0], c[0]), body)[1]


LOOPS = pytest.mark.parametrize("build", [appending, appending_v1])


@pytest.mark.slow
@LOOPS
def test_a_growing_loop_and_its_gradient_count_what_a_run_does(build):
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[None, 4], name="x")
    loss = g.Sum(g.Square(build(g, g.constant(5), x), name="after"), [0, 1], name="loss")
    graph, gradients = with_backward(g.graph, loss.name)
    fetches = [loss.name, *gradients.values()]
    report = count_flops(graph, fetches)
    assert report.unknown() == []
    assert list(report.symbols) == ["N"]
    assert costs(report)["loop/product"] == f"160*N + {32 * (1 + 2 + 3 + 4)}"
    assert report.substituted({"N": 3}).total().flops == measured(graph, fetches, {"x:0": X})


@pytest.mark.slow
@pytest.mark.sampled(2)
@LOOPS
def test_the_iterations_of_a_growing_loop_may_be_a_symbol(build):
    g = GraphBuilder()
    x, limit = g.Placeholder(dtype="float32", shape=[3, 4], name="x"), g.Placeholder(dtype="int32", shape=[], name="limit")
    y = g.Square(build(g, limit, x), name="after")
    report = count_flops(g.graph, [y.name])
    assert report.unknown() == []
    assert costs(report)["after"] == "4*trips[loop] + 12"
    for rounds in (0, 1, 6):
        counted = report.substituted({"trips[loop]": rounds}).total().flops
        assert counted == measured(g.graph, [y.name], {"x:0": X, "limit:0": np.int32(rounds)})
        assert counted == count_flops(g.graph, [y.name], trips={"loop": rounds}).total().flops


def doubling(g, x):
    define(g, "condition", ["int32", "float32"], lambda b, i, x: [b.Less(i, 5)])
    define(g, "body", ["int32", "float32"], lambda b, i, x: [b.AddV2(i, 1), b.ConcatV2([x, b.Square(x, name="s")], 0)])
    return g.While([g.constant(0), x], cond="condition", body="body", name="loop")[1], "loop/s"


def doubling_v1(g, x):
    axis = g.constant(0)

    def step(values, constants):
        return [g.ConcatV2([values[0], g.Square(values[0], name="s")], constants[0])]

    return loops.counted(g, "loop", 5, [x], [axis], step)[1], "s"


def where_inside(g, x):
    """Each iteration may find another number of positive elements; the loop's variable keeps its shape."""
    define(g, "condition", ["int32", "float32"], lambda b, i, x: [b.Less(i, 5)])

    def body(b, i, x):
        node = b.Cast(b.Where(b.Greater(x, 0.0)), DstT="float32")
        return [b.AddV2(i, 1), b.AddV2(x, b.Sum(b.Square(node, name="s"), [0, 1]))]

    define(g, "body", ["int32", "float32"], body)
    return g.While([g.constant(0), x], cond="condition", body="body", name="loop")[1], "loop/s"


@pytest.mark.parametrize("build, reason, after", [
    (doubling, "changes from one iteration of 'loop' to the next", "n[loop]"),
    (doubling_v1, "changes from one iteration of 'loop' to the next", "n[Exit_1]"),
    (where_inside, "(Where) is known only at run time, and may change between iterations", "6"),
])  # fmt: skip
def test_what_changes_in_another_way_is_unknown_inside_and_has_a_name_behind(build, reason, after):
    g = GraphBuilder()
    y, inside = build(g, g.Placeholder(dtype="float32", shape=[6], name="x"))
    report = count_flops(g.graph, [g.Neg(y, name="after").name])
    assert reason in reasons(report)[inside]
    assert "after" not in reasons(report)
    assert costs(report)["after"] == after


def test_the_condition_of_a_loop_is_asked_once_more():
    g = GraphBuilder()
    (fetches,) = loops.doubling(g)
    report = count_flops(g.graph, fetches)
    assert {node.op: node.times for node in report.nodes}["Less"] == 6
    assert report.total().flops == measured(g.graph, fetches, {})


def test_the_backward_loop_has_the_iterations_of_the_forward_loop():
    g = GraphBuilder()
    x, limit = g.Placeholder(dtype="float32", shape=[3], name="x"), g.Placeholder(dtype="int32", shape=[], name="limit")
    define(g, "condition", ["int32", "int32", "float32"], lambda b, i, n, x: [b.Less(i, n)])
    define(g, "body", ["int32", "int32", "float32"], lambda b, i, n, x: [b.AddV2(i, 1), n, b.Square(x)])
    y = g.While([g.constant(0), limit, g.Mul(x, np.ones(3, np.float32))], cond="condition", body="body", name="loop")[2]
    loss = g.Sum(y, [0], name="loss")
    graph, gradients = with_backward(g.graph, loss.name)
    report = count_flops(graph, [loss.name, *gradients.values()])
    assert report.unknown() == []
    assert list(report.symbols) == ["trips[loop]"]


def test_loops_that_end_alike_have_symbols_of_their_own():
    g = GraphBuilder()
    define(g, "condition", ["float32"], lambda b, x: [b.Less(b.Sum(x, [0]), 10.0)])
    define(g, "body", ["float32"], lambda b, x: [b.Square(x, name="s")])
    x = g.Placeholder(dtype="float32", shape=[7])
    fetches = [g.While([x], cond="condition", body="body", name=f"{scope}/loop")[0].name for scope in "ab"]
    op_costs = costs(count_flops(g.graph, fetches))
    assert (op_costs["a/loop/s"], op_costs["b/loop/s"]) == ("7*trips[loop]", "7*trips[b/loop]")
    op_costs = costs(count_flops(g.graph, fetches, trips={"b/loop": 2, "loop": 3}))
    assert (op_costs["a/loop/s"], op_costs["b/loop/s"]) == ("21", "14")


def test_loops_that_do_not_run_cost_nothing():
    g = GraphBuilder()
    (y,) = loops.counted(g, "f", -3, [], [], lambda v, c: [])
    assert count_flops(g.graph, [y.name]).total().flops == measured(g.graph, [y.name], {})


def test_functions_called_by_name_in_a_loop():
    g = GraphBuilder()
    define(g, "condition", ["int32"], lambda b, i: [b.Less(i, 5)])
    define(g, "next", ["int32"], lambda b, i: [b.AddV2(i, 1)])
    define(g, "body", ["int32"], lambda b, i: [b.graph.add_node("call", "next", [i]).output()])
    (y,) = g.While([g.constant(0)], cond="condition", body="body", name="loop")
    assert costs(count_flops(g.graph, [y.name], trips={"loop": 5}))["loop/call/AddV2"] == "5"


def test_of_a_call_only_what_is_read_counts():
    g = GraphBuilder()
    define(g, "f", ["float32"], lambda b, x: [b.Square(x), b.Exp(b.Neg(x))])
    x = g.Placeholder(dtype="float32", shape=[7], name="x")
    y = g.PartitionedCall([x], Tout=["float32"] * 2, f="f", name="call")[0]
    assert costs(count_flops(g.graph, [y.name])).keys() & {"call/Square", "call/Neg"} == {"call/Square"}


def test_what_has_effects_in_a_loop_counts():
    g = GraphBuilder()
    variable = g.VarHandleOp(dtype="float32", shape=[3])
    define(g, "condition", ["int32", "resource"], lambda b, i, v: [b.Less(i, 4)])

    def body(b, i, v):
        b.AssignAddVariableOp(v, np.ones(3, np.float32), name="add")
        return [b.AddV2(i, 1), v]

    define(g, "body", ["int32", "resource"], body, stateful=True)
    y = g.While([g.constant(0), variable], cond="condition", body="body", name="loop")[0]
    assert costs(count_flops(g.graph, [y.name]))["loop/add"] == "12"


def test_the_gradient_of_a_function_counts_by_its_nodes():
    g = GraphBuilder()
    define(g, "cube", ["float32"], lambda b, x: [b.Mul(b.Square(x), x)])
    x, dy = (g.Placeholder(dtype="float32", shape=[7], name=name) for name in ("x", "dy"))
    y = g.SymbolicGradient([x, dy], Tout=["float32"], f="cube", name="grad")[0]
    report = count_flops(g.graph, [y.name])
    assert report.unknown() == []
    assert report.total().flops == measured(g.graph, [y.name], dict.fromkeys(("x:0", "dy:0"), np.ones(7, np.float32)))


@pytest.mark.parametrize("degree", range(5))
@pytest.mark.parametrize("rounds", [0, 1, 2, 9])
def test_sums_of_powers(degree, rounds):
    i, n = Dim.symbol("i"), Dim.symbol("n")
    total = summed(3 * i**degree + 2, "i", n)
    expected = sum(3 * k**degree + 2 for k in range(rounds))
    assert substitute(total, {"n": rounds}) == expected
    assert summed(3 * i**degree + 2, "i", rounds) == expected


def test_sums_without_a_formula_need_a_number_of_iterations():
    smaller = dim_min(Dim.symbol("i"), 3)
    assert summed(smaller, "i", 6) == 0 + 1 + 2 + 3 + 3 + 3
    assert summed(smaller, "i", Dim.symbol("n")) is None


# ---- the command


@pytest.fixture
def path(masked, tmp_path):
    save(masked.graph, str(tmp_path / "masked.pb"))
    return tmp_path / "masked.pb"


def test_sizes_of_the_command(path):
    done = tfg("flops", path, "--fetch", "y", "--format", "json", "--batch", 3, "--size", "Where=2")
    assert (done.json["total"]["flops"], done.json["symbols"]) == (3 + 2 * 40, {})
    assert tfg("flops", path, "--fetch", "y", "--format", "json", "--size", "n[Where]=2").json["symbols"].keys() == {"N"}
    assert "n[Where]: dimension 0 of choose/Where:0" in tfg("flops", path, "--fetch", "y").out


@pytest.mark.parametrize("options, text", [
    (["--size", "Were=2"], "does not depend on this size"), (["--size", "Where=x"], "not a whole number"),
    (["--shape", "x=3,5"], "x (3,5) does not fit 1 node:"),
    (["--feed", "x=ones(3,5)"], "cannot feed a value of shape (3,5) for tensor 'x:0' of shape (?,4)"),
])  # fmt: skip
def test_what_users_get_wrong(path, options, text):
    done = tfg("flops", path, "--fetch", "y", *options)
    assert done.code == 1
    assert text in done.err


def test_a_size_of_zero_gives_no_negative_count():
    """A sum over N rows takes N - 1 additions, and none of no rows."""
    g = GraphBuilder()
    total = g.Sum(g.Placeholder(dtype="float", shape=(None, 3), name="x"), [0])
    report = count_flops(g.graph, [total.name])
    costs = {n: [node.cost.flops for node in report.substituted({"N": n}).nodes if node.op == "Sum"] for n in (0, 1, 4)}
    assert costs == {0: [0], 1: [0], 4: [9]}
