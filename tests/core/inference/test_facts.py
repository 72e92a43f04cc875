"""Inference gives facts: what it says holds in every run, also where a size is 1 or 0, or differs from input to input."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cases.control_flow import counted
from tests.core.passes.rewriting import placeholder
from tests.functions import define
from tfg.core.building.builder import GraphBuilder
from tfg.core.flops import count_flops
from tfg.core.gradients import gradients
from tfg.core.inference import inference
from tfg.core.inference.estimates import estimate
from tfg.core.inference.inference import infer
from tfg.core.passes.pipeline import optimize
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import InternalError
from tfg.core.types.dims import Dim
from tfg.core.types.shapes import Shape, TensorSpec


def axes_of(first, second):
    """Return the axes that are summed for both shapes, None where a run decides."""
    g = GraphBuilder()
    operands = [placeholder(g, name, None) for name in "xy"]
    node = g.BroadcastGradientArgs(*map(g.Shape, operands))[0].node
    specs = infer(g.graph, {v: TensorSpec(v.dtype, Shape(dims)) for v, dims in zip(operands, (first, second))}).specs
    values = [specs[output].value for output in node.outputs()]
    return tuple(None if value is None else value.tolist() for value in values)


N, M = Dim.symbol("N"), Dim.symbol("M")


@pytest.mark.parametrize(
    ("first", "second", "axes"),
    [
        ((N, 3), (M, 3), (None, None)),
        ((N, 3), (N, 3), ([], [])),
        ((N, 3), (3,), (None, [0])),
        ((N, 3), (1, 3), (None, None)),  # N is 1: the shapes are equal
        ((N, 3), (1, 1), (None, [0, 1])),
        ((2 * N, 3), (1, 3), ([], [0])),
        ((2, 3), (1, 3), ([], [0])),
        ((1, 3), (1, 3), ([], [])),
        ((N, M), (), (None, [0, 1])),
        ((N, 1), (N + 1, 1), (None, None)),
        ((N + 2, 1), (1, 4), ([1], [0])),
    ],
)
def test_axes_of_a_gradient_are_known_where_every_run_has_them(first, second, axes):
    assert axes_of(first, second) == axes


@pytest.mark.parametrize("rows", [(1, 2), (2, 1), (2, 2), (1, 1), (0, 1)])
def test_gradients_of_a_broadcast_stay_when_optimized(rows):
    g = GraphBuilder()
    x, y = (placeholder(g, name, (None, 3)) for name in "xy")
    loss = g.Sum(g.SquaredDifference(x, y), [0, 1])
    graph, names = gradients(g.graph, [loss.name], ["x:0", "y:0"])
    optimized, _ = optimize(graph, names, ["x:0", "y:0"])
    a, b = (np.full((count, 3), value, np.float32) for count, value in zip(rows, (1, 3)))
    slope = 2 * (a - b)
    expected = [slope.sum(0, keepdims=True) if v.shape[0] == 1 else slope for v in (a, b)]
    for got, want, sign in zip(Session(optimized).run(names, {"x:0": a, "y:0": b}), expected, (1, -1)):
        np.testing.assert_array_equal(got, sign * want)


def test_an_estimate_assumes_sizes_that_match_and_are_not_one():
    """The count of a training is a formula of its sizes, though a run decides what is summed."""
    g = GraphBuilder()
    x, y = (placeholder(g, name, None) for name in "xy")
    both = g.AddV2(x, y)
    axes = g.BroadcastGradientArgs(g.Shape(x), g.Shape(y))
    known = {x: TensorSpec(x.dtype, Shape((N, 3))), y: TensorSpec(y.dtype, Shape((M, 3)))}
    assert str(infer(g.graph, known).shape(both)) == "(broadcast(N, M),3)"
    assumed = estimate(g.graph, known)
    assert assumed.shape(both) == Shape((N, 3))
    assert [assumed.spec(value).value.tolist() for value in axes] == [[], []]


def test_flops_of_a_gradient_are_a_formula():
    g = GraphBuilder()
    x, y = placeholder(g, "x", (4, None)), placeholder(g, "y", (4, None))
    loss = g.Sum(g.Square(g.Sub(x, y)), [0, 1])
    graph, names = gradients(g.graph, [loss.name], ["x:0", "y:0"])
    counted = {node.path: node for node in count_flops(graph, names).nodes}
    assert not [node for node in counted.values() if node.reason]
    # An element: difference, square and sum; two factors and a negation. The axes of the sum: 8. No gradient is summed.
    assert sum(node.cost.flops for node in counted.values()) == 6 * 4 * Dim.symbol("x_1") - 1 + 8


def rows(g, x):
    """Return the first dimension, a scalar."""
    return g.StridedSlice(g.Shape(x), [0], [1], [1], shrink_axis_mask=1)


@pytest.mark.parametrize("sizes", [lambda g, x: g.Shape(x), lambda g, x: g.Pack([rows(g, x), -1])])
def test_a_constant_is_reshaped_to_a_size_that_follows(sizes):
    """The rows are symbolic, and only 2 rows of 8 fit 16 numbers."""
    g = GraphBuilder()
    x = placeholder(g, "x", (None, 8))
    reshaped = g.Reshape(g.constant(np.arange(16, dtype=np.float32)), sizes(g, x))
    optimized, _ = optimize(g.graph, [g.Sum(reshaped, [0]).name], ["x:0"])
    (result,) = Session(optimized).run(["Sum:0"], {"x:0": np.zeros((2, 8), np.float32)})
    np.testing.assert_array_equal(result, np.arange(8, 24, 2))


@pytest.mark.parametrize("count", [0, 1, 2])
@pytest.mark.parametrize("first", [[-1], [-1, 2]])
def test_the_size_that_follows_depends_on_zeros(count, first):
    """Of no rows, -1 is the product of the sizes that are not 0: 1 or 2 here, where it is 4 for all other rows."""
    g = GraphBuilder()
    x = placeholder(g, "x", (None, 4))
    reshaped = g.Reshape(g.Reshape(x, first), g.Pack([rows(g, x), -1]))
    fetches = [reshaped.name, g.Shape(reshaped).name]
    optimized, _ = optimize(g.graph, fetches, ["x:0"])
    result, shape = Session(optimized).run(fetches, {"x:0": np.zeros((count, 4), np.float32)})
    assert result.shape == tuple(shape) == (count, 4 if count else len(first))
    kept = g.Reshape(x, g.Pack([rows(g, x), -1]))
    assert infer(g.graph).shape(kept)[1] == 4


def test_a_difference_of_equal_sizes_is_zero():
    g = GraphBuilder()
    x = placeholder(g, "x", (None, 3))
    difference = g.Sub(rows(g, x), rows(g, g.Neg(x)))
    assert infer(g.graph).spec(difference).value == np.int32(0)


def doubled(g, values, axis):
    return [g.ConcatV2([value, value], axis) for value in values]


def negated(g, values, axis):
    return [g.Neg(value) for value in values]


def v1_loop(g, values, step):
    """Apply a step three times to values."""
    return counted(g, "loop", 3, values, [np.int32(0)], lambda values, fixed: step(g, values, fixed[0]))[1:]


def functional_loop(g, values, step):
    types = ["int32", *(value.dtype.name for value in values)]
    define(g, "before_3", types, lambda inner, i, *values: [inner.Less(i, 3)])
    define(g, "body", types, lambda inner, i, *values: [inner.AddV2(i, 1), *step(inner, values, 0)])
    return g.While([np.int32(0), *values], cond="before_3", body="body", T=types)[1:]


@pytest.mark.parametrize("loop", [v1_loop, functional_loop])
@pytest.mark.parametrize(("step", "added"), [(doubled, 14), (negated, 0)])
def test_an_unknown_size_that_a_loop_changes_is_another_size(loop, step, added):
    """Two rows are doubled three times; the size of what a loop keeps is known to be the size at entry."""
    g = GraphBuilder()
    x = placeholder(g, "x", (None, 3))
    difference = g.Sub(rows(g, loop(g, [x], step)[0]), rows(g, x))
    optimized, _ = optimize(g.graph, [difference.name], ["x:0"])
    assert Session(optimized).run(difference.name, {"x:0": np.zeros((2, 3), np.float32)}) == added
    assert (infer(g.graph).spec(difference).value == 0) == (added == 0)


def grown_twice(g, values, axis):
    """The rows of a matrix double, and it gets as many columns as a vector that doubles had."""
    vector, matrix = values
    with g.control_dependencies([vector]):
        last = g.constant([1])
    column = g.Sum(g.ConcatV2([matrix, matrix], axis), last, keep_dims=True)
    return [g.ConcatV2([vector, vector], axis), g.Add(column, vector)]


@pytest.mark.parametrize("loop", [v1_loop, functional_loop])
def test_a_size_that_a_loop_changes_only_behind_another(loop):
    """The columns change where the vector has changed, when the rows have changed already."""
    g = GraphBuilder()
    looped = loop(g, [placeholder(g, "x", (2,)), placeholder(g, "y", (2, 2))], grown_twice)[1]
    names = [rows(g, looped).name, rows(g, g.Transpose(looped, [1, 0])).name]
    optimized, _ = optimize(g.graph, names, ["x:0", "y:0"])
    fed = {"x:0": np.zeros(2, np.float32), "y:0": np.zeros((2, 2), np.float32)}
    assert Session(optimized).run(names, fed) == [16, 8]


def test_elements_of_a_list_have_sizes_of_their_own():
    """Two elements of 2 and of 5 rows, the second read first."""
    g = GraphBuilder()
    x, y = (placeholder(g, name, (None, 3)) for name in "xy")
    shape = np.array([-1, 3], np.int32)
    pushed = g.EmptyTensorList(shape, np.int32(-1), element_dtype="float32", shape_type="int32")
    for value in (x, y):
        pushed = g.TensorListPushBack(pushed, value)
    left, second = g.TensorListPopBack(pushed, shape, element_dtype="float32")
    _, first = g.TensorListPopBack(left, shape, element_dtype="float32")
    difference = g.Sub(rows(g, second), rows(g, first))
    optimized, _ = optimize(g.graph, [difference.name], ["x:0", "y:0"])
    fed = {"x:0": np.zeros((2, 3), np.float32), "y:0": np.zeros((5, 3), np.float32)}
    assert Session(optimized).run(difference.name, fed) == 3


def test_a_list_has_the_length_of_what_it_is_made_of():
    """The length is that of the list in hand, though its elements have sizes of their own."""
    g = GraphBuilder()
    x = placeholder(g, "x", (None, 3))
    split = g.TensorListFromTensor(x, np.int32([3]), element_dtype="float32", shape_type="int32")
    reserved = g.TensorListReserve(np.int32([3]), rows(g, x), element_dtype="float32", shape_type="int32")
    stacks = [g.TensorListStack(value, np.int32([3]), element_dtype="float32") for value in (split, reserved)]
    inferred = infer(g.graph)
    assert {inferred.shape(stack) for stack in stacks} == {inferred.shape(x)}


def test_a_value_that_does_not_fit_is_no_fact(monkeypatch):
    """Tests raise, and otherwise nothing is folded."""
    g = GraphBuilder()
    monkeypatch.setattr(inference, "apply_kernel", lambda node, values: (np.zeros(3, np.float32),))
    doubled = g.Add([1.0, 2.0], 1.0)
    with pytest.raises(InternalError, match=r"its value is float32 \(3\), inferred is float \(2\)"):
        infer(g.graph)
    monkeypatch.setattr(inference, "MISFITS_ARE_FAULTS", False)
    assert infer(g.graph).spec(doubled).value is None


def as_sizes(g, n):
    return g.Pack([n, np.int32(2)])


def through_a_join(g, n):
    return g.ConcatV2([g.Pack([n]), np.array([2], np.int32)], 0)


def below_rows(g, n):
    """One less than the rows of a matrix of `n` rows: -1 for none."""
    return g.Pack([g.Sub(rows(g, g.Fill(g.Pack([n, np.int32(3)]), 1.0)), 1), np.int32(2)])


def list_element(g, x, sizes):
    listed = g.TensorListReserve(sizes, 1, element_dtype="float32", shape_type="int32")
    filled = g.TensorListSetItem(listed, 0, g.Reshape(x, [-1, 2]))
    return g.TensorListGetItem(filled, 0, sizes, element_dtype="float32")


@pytest.mark.parametrize("sizes", [as_sizes, through_a_join, below_rows])
@pytest.mark.parametrize(
    ("use", "count"),
    [
        (lambda g, x, sizes: g.Reshape(x, sizes), 6),
        (lambda g, x, sizes: g.Slice(x, [0, 0], sizes), 3),
        (lambda g, x, sizes: g.SplitV(x, sizes, 0, num_split=2)[0], 1),
        (list_element, 6),
    ],
)
def test_a_size_of_minus_one_is_the_rest(sizes, use, count):
    """Its number in the shape is another than the number itself; x is (3, 4)."""
    g = GraphBuilder()
    x, n = placeholder(g, "x", (None, 4)), g.Placeholder(dtype="int32", shape=(), name="n")
    wanted = sizes(g, n)
    first = g.StridedSlice(wanted, [0], [1], [1], shrink_axis_mask=1)
    difference = g.Sub(rows(g, use(g, x, wanted)), first)
    optimized, _ = optimize(g.graph, [difference.name], ["x:0", "n:0"])
    fed = {"x:0": np.zeros((3, 4), np.float32), "n:0": np.int32(0 if sizes is below_rows else -1)}
    for graph in (g.graph, optimized):
        assert Session(graph).run(difference.name, fed) == count + 1


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_sizes_in_small_integers_wrap(dtype):
    g = GraphBuilder()
    count = rows(g, placeholder(g, "x", (None, 3)))
    difference = g.Sub(g.Cast(g.Cast(count, DstT=dtype), DstT="int32"), count)
    optimized, _ = optimize(g.graph, [difference.name], ["x:0"])
    assert Session(optimized).run(difference.name, {"x:0": np.zeros((65537, 3), np.float32)}) == -65536


def pushed(g, handle, *values):
    for value in values:
        handle = g.TensorListPushBack(handle, value)
    return handle


def empty_list(g):
    return g.EmptyTensorList(np.int32(-1), np.int32(-1), element_dtype="float32", shape_type="int32")


def first_of(g, handle):
    return g.TensorListGetItem(handle, 0, np.int32(-1), element_dtype="float32")


def one_after_another(g, x, y):
    return first_of(g, pushed(g, empty_list(g), x, y))


def reserved(g, x, y):
    handle = g.TensorListReserve(np.int32(-1), 2, element_dtype="float32", shape_type="int32")
    for place, value in enumerate((x, y)):
        handle = g.TensorListSetItem(handle, place, value)
    return first_of(g, handle)


def joined_lists(g, x, y):
    lists = [pushed(g, empty_list(g), value) for value in (x, y)]
    return first_of(g, g.TensorListConcatLists(*lists, element_dtype="float32"))


def pushed_after_a_loop(g, x, y):
    """A V1 loop pushes to the list, so that the list is not as empty as at entry."""
    (_, handle) = counted(g, "loop", 1, [empty_list(g)], [x], lambda values, fixed: [pushed(g, values[0], fixed[0])])[:2]
    return first_of(g, pushed(g, handle, y))


def pushed_after_a_while(g, x, y):
    types = ["int32", "variant", "float32"]
    define(g, "is_first", types, lambda inner, i, handle, value: [inner.Less(i, 1)])
    define(g, "push", types, lambda inner, i, handle, value: [inner.AddV2(i, 1), pushed(inner, handle, value), value])
    looped = g.While([np.int32(0), empty_list(g), x], cond="is_first", body="push", T=types)
    return first_of(g, pushed(g, looped[1], y))


def pushed_in_a_branch(g, x, y):
    define(g, "push_it", ["variant", "float32"], lambda inner, handle, value: [pushed(inner, handle, value)])
    define(g, "leave_it", ["variant", "float32"], lambda inner, handle, value: [inner.Identity(handle)])
    branches = {"then_branch": "push_it", "else_branch": "leave_it"}
    handle = g.If(True, [empty_list(g), x], Tin=["variant", "float32"], Tout=["variant"], **branches)[0]
    return first_of(g, pushed(g, handle, y))


def popped_from_a_stack(g, x, y):
    handle = g.StackV2(np.int32(-1), elem_type="float32")
    with g.control_dependencies([g.StackPushV2(handle, x)]):
        second = g.StackPushV2(handle, y)
    with g.control_dependencies([second]):
        top = g.StackPopV2(handle, elem_type="float32")
    with g.control_dependencies([top]):
        return g.StackPopV2(handle, elem_type="float32")


def read_from_an_array(g, x, y):
    handle, flow = g.TensorArrayV3(2, dtype="float32")
    for place, value in enumerate((x, y)):
        flow = g.TensorArrayWriteV3(handle, place, value, flow)
    return g.TensorArrayReadV3(handle, 0, flow, dtype="float32")


def written_by_a_call(g, x, y):
    define(
        g,
        "write",
        ["resource", "float32", "float32"],
        lambda inner, handle, value, flow: [inner.TensorArrayWriteV3(handle, 0, value, flow)],
    )
    handle, flow = g.TensorArrayV3(2, dtype="float32")
    flow = g.TensorArrayWriteV3(handle, 1, y, flow)
    (flow,) = g.StatefulPartitionedCall([handle, x, flow], Tout=["float32"], f="write")
    return g.TensorArrayReadV3(handle, 0, flow, dtype="float32")


def pushed_and_doubled(g, values, axis):
    return [pushed(g, values[0], values[1]), *doubled(g, values[1:], axis)]


def pushed_and_kept(g, values, axis):
    return [pushed(g, *values), values[1]]


@pytest.mark.parametrize("count", [2, None])
@pytest.mark.parametrize("loop", [v1_loop, functional_loop])
@pytest.mark.parametrize(("step", "last"), [(pushed_and_doubled, 8), (pushed_and_kept, 2)])
def test_the_first_element_that_a_loop_pushes_has_a_size_of_its_own(loop, step, last, count):
    """Two rows are pushed to an empty list three times, and each time doubled or kept."""
    g = GraphBuilder()
    handle, _ = loop(g, [empty_list(g), placeholder(g, "x", (count, 3))], step)
    _, popped = g.TensorListPopBack(handle, np.int32(-1), element_dtype="float32")
    shape = g.Shape(popped)
    optimized, _ = optimize(g.graph, [shape.name], ["x:0"])
    assert Session(optimized).run(shape.name, {"x:0": np.zeros((2, 3), np.float32)}).tolist() == [last, 3]
    assert (infer(g.graph).shape(popped) == Shape((2, 3))) == (last == count)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "element",
    [
        one_after_another,
        reserved,
        joined_lists,
        pushed_after_a_loop,
        pushed_after_a_while,
        pushed_in_a_branch,
        popped_from_a_stack,
        read_from_an_array,
        written_by_a_call,
    ],
)
@pytest.mark.parametrize("unknown", ["first", "second"])
def test_an_element_of_unknown_rank_is_an_element(element, unknown):
    """The other element, of shape (2, 3), does not give it its shape."""
    g = GraphBuilder()
    x = placeholder(g, "x", None)
    y = g.constant(np.zeros((2, 3), np.float32))
    shape = g.Shape(element(g, x, y) if unknown == "first" else element(g, y, x))
    optimized, _ = optimize(g.graph, [shape.name], ["x:0"])
    fed = {"x:0": np.zeros(7, np.float32)}
    expected = [7] if unknown == "first" else [2, 3]
    for graph in (g.graph, optimized):
        assert Session(graph).run(shape.name, fed).tolist() == expected


@pytest.mark.parametrize(
    ("x", "sizes", "shape"), [((0, 4), (0, -1), (0, 1)), ((2, 4), (-1, 2), (4, 2)), ((2, 4), (8, 1), (8, 1))]
)
def test_fed_sizes_of_a_reshaped_vector(x, sizes, shape):
    """The -1 depends on the vector, which has no sizes but its length."""
    g = GraphBuilder()
    reshaped = g.Reshape(g.Reshape(placeholder(g, "x", (None, 4)), [-1]), g.Placeholder(dtype="int32", shape=(2,), name="w"))
    optimized, _ = optimize(g.graph, [reshaped.name], ["x:0", "w:0"])
    fed = {"x:0": np.zeros(x, np.float32), "w:0": np.array(sizes, np.int32)}
    for graph in (g.graph, optimized):
        assert Session(graph).run(reshaped.name, fed).shape == shape


@pytest.mark.parametrize("passed_on", [lambda g, v: v, lambda g, v: g.RefIdentity(v)])
def test_the_shape_of_a_variable_that_an_assign_does_not_check(passed_on):
    """Another variable of equal attributes keeps its shape."""
    g = GraphBuilder()
    x = placeholder(g, "x", (None, 3))
    changed, kept = (g.VariableV2(dtype="float32", shape=(2, 3), name=name) for name in ("changed", "kept"))
    assigned = [
        g.Assign(passed_on(g, changed), x, validate_shape=False),
        g.Assign(kept, np.zeros((2, 3), np.float32)),
    ]
    with g.control_dependencies(assigned):
        names = [rows(g, g.Identity(variable)).name for variable in (changed, kept)]
    optimized, _ = optimize(g.graph, names, ["x:0"])
    for graph in (g.graph, optimized):
        assert Session(graph).run(names, {"x:0": np.zeros((5, 3), np.float32)}) == [5, 2]
    assert [infer(g.graph).shape(variable) for variable in (changed, kept)] == [Shape(), Shape((2, 3))]
