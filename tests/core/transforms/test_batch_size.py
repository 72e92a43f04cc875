"""Another batch: what states the old one follows, what cannot follow is named, and the rows stay what they were.

The graph as it was, with its own batch, is the reference.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

from tests.functions import define
from tfg.core.building.builder import GraphBuilder
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import InvalidArgumentError
from tfg.core.transforms.batch_size import set_batch
from tfg.core.types.shapes import Shape
from tfg.core.types.tensors import FuncRef
from tfg.formats.loading import load
from tfg.formats.saving import save

OLD = 4
"""The batch of the graphs; a test sets it to 1, of which every number is a multiple."""


def weights(*shape):
    return np.sin(np.arange(np.prod(shape), dtype=np.float32)).reshape(shape)


def sizes(*numbers):
    return np.array(numbers, np.int32)


def reshaped(b, x):
    return b.MatMul(b.Reshape(x, sizes(OLD, 12)), weights(12, 3))


def reshaped_to_the_rest(b, x):
    return b.Reshape(x, sizes(OLD, -1))


def reshaped_with_rows_inside(b, x):
    """Rows and columns of a row become rows of their own, and come back."""
    rows = b.Tanh(b.Reshape(x, sizes(OLD * 3, 4)))
    return b.Reshape(rows, sizes(OLD, 3, 4))


def reshaped_to_packed_sizes(b, x):
    columns = b.StridedSlice(b.Shape(x), sizes(1), sizes(2), sizes(1), shrink_axis_mask=1)
    return b.Reshape(x, b.Pack([np.int32(OLD), columns, np.int32(4)]))


def reshaped_to_joined_sizes(b, x):
    return b.Reshape(x, b.ConcatV2([sizes(OLD), sizes(2, 6)], np.int32(0), name="joined"))


def reshaped_to_sizes_in_part(b, x):
    columns = b.StridedSlice(b.Shape(x), sizes(1), sizes(3), sizes(1))
    return b.Reshape(x, b.ConcatV2([sizes(OLD), columns], np.int32(0)))


def sliced(b, x):
    return b.Slice(x, sizes(0, 1, 0), sizes(OLD, 2, 4))


def sliced_to_a_row(b, x):
    return b.StridedSlice(x, sizes(0, 1), sizes(OLD, 3), sizes(1, 1))


def broadcast(b, x):
    return b.BroadcastTo(b.Reshape(x, sizes(OLD, 1, 12)), sizes(OLD, 2, 12))


def transposed_convolution(b, x):
    image = b.Reshape(x, sizes(OLD, 3, 4, 1))
    return b.Conv2DBackpropInput(sizes(OLD, 6, 8, 2), weights(2, 2, 2, 1), image, strides=[1, 2, 2, 1], padding="SAME")


def met_by_zeros(b, x):
    return b.ConcatV2([b.Reshape(x, sizes(OLD, 12)), b.Fill(sizes(OLD, 2), np.float32(7))], np.int32(1))


def met_by_equal_rows(b, x):
    return b.AddV2(x, np.tile(weights(1, 3, 4), (OLD, 1, 1)))


def met_by_a_tensor_made_of_rows(b, x):
    return b.AddV2(x, b.Exp(b.Identity(np.tile(weights(1, 3, 4), (OLD, 1, 1)))))


def with_a_random_tensor(b, x):
    return b.AddV2(x, b.Mul(b.RandomUniform(sizes(OLD, 3, 4), dtype="float32"), np.float32(0)))


def met_by_a_tile(b, x):
    return b.AddV2(x, b.Tanh(b.Tile(weights(1, 3, 4), sizes(OLD, 1, 1))))


def steps_first(b, x):
    return b.Transpose(x, sizes(1, 0, 2))


def rows_first(b, y):
    return b.Transpose(y, sizes(1, 0, 2))


def time_major(b, x):
    """Steps before rows: merged, a product with each, and apart again."""
    steps = b.Reshape(steps_first(b, x), sizes(3 * OLD, 4))
    return rows_first(b, b.Reshape(b.MatMul(steps, weights(4, 5)), sizes(3, OLD, 5)))


def time_major_to_the_rest(b, x):
    return rows_first(b, b.Reshape(steps_first(b, x), sizes(3, OLD, -1)))


def as_many_steps_as_rows(b, x):
    """The sizes alone do not tell steps from rows: what merged them does."""
    steps = b.ConcatV2([x, x], np.int32(1))
    steps = b.Transpose(b.Slice(steps, sizes(0, 0, 0), sizes(-1, 4, 4)), sizes(1, 0, 2))
    merged = b.Tanh(b.MatMul(b.Reshape(steps, sizes(4 * OLD, 4)), weights(4, 5)))
    return rows_first(b, b.Reshape(merged, sizes(4, OLD, 5)))


def as_many_rows_as_steps(b, x):
    steps = b.Slice(b.ConcatV2([x, x], np.int32(1)), sizes(0, 0, 0), sizes(-1, 4, 4))
    return b.Reshape(b.Tanh(b.MatMul(b.Reshape(steps, sizes(4 * OLD, 4)), weights(4, 5))), sizes(OLD, 4, 5))


def time_major_met_by_zeros(b, x):
    zeros, ones = b.Fill(sizes(3, OLD, 2), np.float32(0)), b.constant(np.ones((3, OLD, 1), np.float32))
    return rows_first(b, b.ConcatV2([steps_first(b, x), zeros, ones], np.int32(2)))


def time_major_met_by_a_tile(b, x):
    return rows_first(b, b.AddV2(steps_first(b, x), b.Tile(weights(3, 1, 4), sizes(1, OLD, 1))))


def time_major_broadcast(b, x):
    last = b.StridedSlice(steps_first(b, x), sizes(2), sizes(3), sizes(1))
    return rows_first(b, b.BroadcastTo(last, sizes(3, OLD, 4)))


def time_major_sliced(b, x):
    return rows_first(
        b,
        b.StridedSlice(b.Slice(steps_first(b, x), sizes(1, 0, 0), sizes(2, OLD, 4)), sizes(0, 0), sizes(1, OLD), sizes(1, 1)),
    )


def joined_then_apart(b, x):
    """The batch three times in a row, and the three apart again."""
    return b.Transpose(b.Reshape(b.ConcatV2([x, x, b.Neg(x)], np.int32(0)), sizes(3, OLD, 12)), sizes(1, 0, 2))


def columns_before_rows(b, x):
    """The rows come after the columns of all steps."""
    merged = b.Reshape(b.Transpose(x, sizes(1, 2, 0)), sizes(12, OLD))
    return b.Transpose(merged, sizes(1, 0))


def states_in_a_chain(b, x):
    """Each of the states is known to meet the batch once the one before has it."""
    for i in range(4):
        state = b.Fill(sizes(OLD, 12), np.float32(i)) if i % 2 else b.constant(np.full((OLD, 12), i, np.float32))
        x = b.Reshape(b.Tanh(b.AddV2(b.Reshape(x, sizes(OLD, 12)), state)), sizes(OLD, 3, 4))
    return x


def states_of_a_fused_cell(b, x):
    """The bias has a multiple of the rows, and no rows."""
    state, w, bias = b.Fill(sizes(OLD, 2), np.float32(0)), weights(6, 8), np.ones(8, np.float32)
    peephole = np.zeros(2, np.float32)
    cell = b.BlockLSTM(
        np.int64(3),
        steps_first(b, x),
        state,
        b.constant(np.zeros((OLD, 2), np.float32)),
        w,
        peephole,
        peephole,
        peephole,
        bias,
    )
    return rows_first(b, cell[6])


def in_a_function(b, x):
    def body(inner, a):
        state = inner.Fill(sizes(OLD, 2), np.float32(1))
        return [inner.ConcatV2([inner.Reshape(a, sizes(OLD, 12)), state], np.int32(1))]

    define(b, "body", ["float32"], body)
    return b.PartitionedCall([x], f=FuncRef("body"), Tout=["float32"])[0]


def state_of_a_loop(b, x):
    """h = tanh(x + h), three times, from zeros."""
    define(b, "goes", ["int32", "float32", "float32"], lambda inner, i, x, h: [inner.Less(i, np.int32(3))])
    define(
        b, "turn", ["int32", "float32", "float32"],
        lambda inner, i, x, h: [inner.AddV2(i, np.int32(1)), x, inner.Tanh(inner.AddV2(x, h))],
    )  # fmt: skip
    zeros = np.zeros((OLD, 3, 4), np.float32)
    return b.StatelessWhile([np.int32(0), x, zeros], cond=FuncRef("goes"), body=FuncRef("turn"))[2]


def state_of_a_v1_loop(b, x, added=None):
    """h = tanh(x + h), three times, from zeros, with Enter and Exit; `added` makes another summand in the loop."""
    zeros = np.zeros((OLD, 3, 4), np.float32)
    merged = [b.Merge([b.Enter(value, frame_name="f")] * 2) for value in (b.constant(np.int32(0)), b.constant(zeros))]
    i, h = (merge[0] for merge in merged)
    goes = b.LoopCond(b.Less(i, b.Enter(b.constant(np.int32(3)), frame_name="f", is_constant=True)))
    switches = [b.Switch(value, goes) for value in (i, h)]
    with b.control_dependencies([switches[0][1].node]):
        one = b.constant(np.int32(1))
        more = b.constant(np.float32(0)) if added is None else added(switches[0][1])
    given = b.Enter(x, frame_name="f", is_constant=True)
    turned = b.AddV2(switches[0][1], one), b.Tanh(b.AddV2(b.AddV2(given, more), switches[1][1]))
    for merge, value in zip(merged, turned):
        b.graph.set_input(merge[0].node, 1, b.NextIteration(value))
    return b.Exit(switches[1][0])


def array_of_a_v1_program(b, x):
    """The rows written to a TensorArray that states their shape, and read again."""
    array, flow = b.TensorArrayV3(np.int32(1), dtype="float32", element_shape=Shape((OLD, 3, 4)))
    written = b.TensorArrayWriteV3(array, np.int32(0), x, flow)
    return b.TensorArrayReadV3(array, np.int32(0), written, dtype="float32")


def zeros_in_a_v1_loop(b, x):
    return state_of_a_v1_loop(b, x, lambda i: b.Fill(b.constant(sizes(OLD, 3, 4)), np.float32(0.5)))


FOLLOWING = [
    reshaped, reshaped_to_the_rest, reshaped_with_rows_inside, reshaped_to_packed_sizes,
    reshaped_to_joined_sizes, reshaped_to_sizes_in_part, sliced, sliced_to_a_row, broadcast,
    transposed_convolution, met_by_zeros, met_by_equal_rows, met_by_a_tensor_made_of_rows, with_a_random_tensor,
    met_by_a_tile, time_major, time_major_to_the_rest, as_many_steps_as_rows, as_many_rows_as_steps, columns_before_rows,
    time_major_met_by_zeros, time_major_met_by_a_tile, time_major_broadcast, time_major_sliced, joined_then_apart,
    states_in_a_chain, states_of_a_fused_cell, in_a_function, state_of_a_loop, state_of_a_v1_loop, array_of_a_v1_program,
]  # fmt: skip


def made(build):
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[OLD, 3, 4], name="x")
    b.Identity(build(b, x), name="y")
    return b.graph


def run(graph, rows):
    return Session(graph).run("y:0", {"x:0": rows})


@pytest.mark.sampled(12)
@pytest.mark.parametrize("batch", [4, 1])
@pytest.mark.parametrize("rows", ["?", 3, 8])
@pytest.mark.parametrize("build", FOLLOWING, ids=lambda build: build.__name__)
def test_rows_are_those_of_the_old_batch(build, rows, batch, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "OLD", batch)
    old, graph = made(build), made(build)
    changes = set_batch(graph, ["y:0"], rows)
    graph.check()
    declared = "?" if rows == "?" else str(rows)
    assert changes[0] == f"x: ({batch},3,4) -> ({declared},3,4)" and (len(changes) > 1 or batch == 1)
    for count in (OLD, 3, 2 * OLD) if rows == "?" else (rows,):
        fed = weights(count, 3, 4)
        whole = np.concatenate([run(old, np.resize(fed[i : i + OLD], (OLD, 3, 4))) for i in range(0, count, OLD)])
        # OpenBLAS sums the products of more rows in another order, on some processors; where sums cancel, only the size of
        # their terms bounds the difference.
        np.testing.assert_allclose(run(graph, fed), whole[:count], rtol=1e-6, atol=1e-6)


def test_a_tile_repeats_several_rows_for_each_of_the_batch():
    def build(b, x):
        return b.AddV2(b.Reshape(x, sizes(3 * OLD, 4)), b.Tile(weights(3, 4), sizes(OLD, 1), name="repeated"))

    old, graph = made(build), made(build)
    assert "repeated: Tile to [4,1] -> [?,1]" in set_batch(graph, ["y:0"], "?")
    fed = weights(OLD, 3, 4)
    np.testing.assert_allclose(run(graph, fed[:2]), run(old, fed)[:6], rtol=1e-6)


def test_the_changes_are_told():
    def build(b, x):
        return b.AddV2(b.Reshape(x, sizes(OLD, 12), name="flat"), b.constant(np.ones((OLD, 12), np.float32), name="ones"))

    assert set_batch(made(build), ["y:0"], "?") == [
        "x: (4,3,4) -> (?,3,4)", "flat: Reshape to [4,12] -> [-1,12]", "ones: a constant of 4 rows (4,12) -> ? rows",
    ]  # fmt: skip


def test_sizes_that_nothing_uses_are_removed():
    """An output more would be a change of the graph."""
    graph = made(reshaped_to_joined_sizes)
    set_batch(graph, ["y:0"], "?")
    assert "joined" not in graph and [node.name for node in graph if not node.uses] == ["y"]


def test_what_does_not_follow_stays():
    """Four channels, and a Reshape of weights, are no batch."""

    def build(b, x):
        w = b.Reshape(weights(12), sizes(OLD, 3), name="w")
        return b.AddV2(b.MatMul(b.Reshape(x, sizes(-1, OLD)), w), b.constant(np.zeros(3, np.float32), name="bias"))

    graph = made(build)
    assert set_batch(graph, ["y:0"], "?") == ["x: (4,3,4) -> (?,3,4)"]
    assert graph["w/shape"].attr("value").numpy().tolist() == [OLD, 3]


def test_a_constant_that_several_nodes_share_changes_for_those_that_follow():
    def build(b, x):
        shared = b.constant(sizes(OLD, 12), name="shared")
        return b.MatMul(b.Reshape(x, shared), b.Reshape(weights(48), shared, name="w"), transpose_b=True)

    graph = made(build)
    set_batch(graph, ["y:0"], "?")
    assert graph["w"].inputs[1].node.attr("value").numpy().tolist() == [OLD, 12]
    assert run(graph, weights(2, 3, 4)).shape == (2, OLD)


def test_a_constant_in_a_loop_changes_to_a_number_alone():
    """No node of the loop has the batch of a run."""
    with pytest.raises(InvalidArgumentError, match=r"'Fill' [(]Fill[)]: a loop does not take"):
        set_batch(made(zeros_in_a_v1_loop), ["y:0"], "?")
    old, graph = made(zeros_in_a_v1_loop), made(zeros_in_a_v1_loop)
    set_batch(graph, ["y:0"], 2)
    fed = weights(OLD, 3, 4)
    np.testing.assert_allclose(run(graph, fed[:2]), run(old, fed)[:2], rtol=1e-6)
    constant = graph["Fill"].inputs[0].node
    assert constant.is_constant and constant.control_inputs


def test_a_loop_that_loses_the_batch_is_named():
    """A tensor of the old rows is added to what the iteration before gave."""

    def build(b, x):
        define(b, "goes", ["int32", "float32"], lambda inner, i, h: [inner.Less(i, np.int32(3))])
        define(
            b, "turn", ["int32", "float32"],
            lambda inner, i, h: [inner.AddV2(i, np.int32(1)), inner.AddV2(h, inner.Exp(weights(OLD, 3, 4)))],
        )  # fmt: skip
        return b.StatelessWhile([np.int32(0), x], cond=FuncRef("goes"), body=FuncRef("turn"), name="loop")[1]

    with pytest.raises(InvalidArgumentError, match="'turn/Exp/x': a constant of 4 rows"):
        set_batch(made(build), ["y:0"], "?")


def test_a_default_keeps_its_rows_where_any_batch_is_fed():
    b = GraphBuilder()
    x = b.PlaceholderWithDefault(weights(OLD, 3), shape=[OLD, 3], name="x")
    b.MatMul(x, weights(3, 2), name="y")
    assert set_batch(b.graph, ["y:0"], "?") == ["x: (4,3) -> (?,3)"]
    assert run(b.graph, weights(2, 3)).shape == (2, 2)
    with pytest.raises(InvalidArgumentError, match="does not fit 1 node"):
        set_batch(b.graph.copy(), ["y:0"], 3)


def test_a_result_that_keeps_its_rows_is_told():
    graph = made(lambda b, x: b.Sum(x, sizes(0, 1)))
    assert set_batch(graph, ["y:0"], "?")[1:] == ["y:0: (4) keeps its first size, which may be no batch"]


def different_rows(b, x):
    return b.AddV2(x, b.constant(weights(OLD, 3, 4), name="table"))


def rows_mixed(b, x):
    """The elements of a row of the result come from several rows."""
    return b.Reshape(b.Transpose(x, sizes(1, 0, 2)), sizes(OLD, 3, 4), name="mixed")


def halves(b, x):
    return b.ConcatV2(b.Split(np.int32(0), x, num_split=2, name="halves"), np.int32(1))


def as_many_parts_as_rows(b, x):
    """The sizes do not tell the rows from the parts."""
    return b.Reshape(b.ConcatV2([x] * OLD, np.int32(0)), sizes(OLD, OLD, 12), name="apart")


@pytest.mark.parametrize(
    ("build", "rows", "message"),
    [
        (as_many_parts_as_rows, "?", "'apart' (Reshape): cannot reshape (32,3,4)"),
        (different_rows, "?", "the batch of 4 is fixed by 1 node:\n  'table': a constant of 4 rows (4,3,4)"),
        (different_rows, 8, "'table': a constant of 4 rows (4,3,4)"),
        (rows_mixed, "?", "'mixed' (Reshape): cannot reshape (3,8,4)"),
        (halves, 3, "x (3,3,4) does not fit 1 node:\n  'halves': "),
    ],
)
def test_what_cannot_follow_is_named(build, rows, message):
    with pytest.raises(InvalidArgumentError) as error:
        set_batch(made(build), ["y:0"], rows)
    assert message in str(error.value)


def test_what_divided_the_old_batch_may_divide_the_new_one():
    graph = made(halves)
    set_batch(graph, ["y:0"], "?")
    assert run(graph, weights(6, 3, 4)).shape == (3, 6, 4)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ([[4, 3], [5, 3]], "the batch is ambiguous, as the inputs differ in their first size: a (4,3), b (5,3)"),
        ([[], []], "the graph has no batch: its inputs are a (), b ()"),
        ([None, []], "the graph has no batch: its inputs are a <unknown>, b ()"),
    ],
)
def test_inputs_without_a_batch_are_refused(shapes, message):
    b = GraphBuilder()
    a, c = (b.Placeholder(dtype="float32", shape=shape, name=name) for name, shape in zip("ab", shapes))
    b.Pack([b.Sum(a, sizes(0)[:0]), b.Sum(c, sizes(0)[:0])], name="y")
    with pytest.raises(InvalidArgumentError, match="batch") as error:
        set_batch(b.graph, ["y:0"], 2)
    assert str(error.value) == message


def test_only_inputs_that_are_needed_and_open_get_the_batch():
    b = GraphBuilder()
    image = b.Placeholder(dtype="float32", shape=[None, 3], name="image")
    anchors = b.Placeholder(dtype="float32", shape=[5, 3], name="anchors")
    b.Placeholder(dtype="float32", shape=[7], name="other")
    b.MatMul(image, anchors, transpose_b=True, name="y")
    assert set_batch(b.graph, ["y:0"], 2) == ["image: (?,3) -> (2,3)"]


@pytest.mark.parametrize("rows", ["?", 2])
def test_recorded_shapes_of_what_changes_are_dropped(rows):
    """Also those of a random tensor, which does not depend on the input."""
    graph = made(with_a_random_tensor)
    for node in graph:
        node.set_attr("_output_shapes", [Shape((OLD, 3, 4))])
    set_batch(graph, ["y:0"], rows)
    assert not [node.name for node in graph if not node.is_constant and "_output_shapes" in node.attrs]


def test_recorded_shapes_of_arguments_are_not_written(tmp_path):
    """TensorFlow notes them at the arguments of functions."""
    graph = made(in_a_function)
    graph.functions["body"].arg_attrs = {0: {"_output_shapes": [Shape((OLD, 3, 4))], "_user_specified_name": b"x"}}
    graph.functions["body"].attrs = {"_input_shapes": [Shape((OLD, 3, 4))]}
    save(graph, tmp_path / "g.pb")
    loaded = load(tmp_path / "g.pb")
    set_batch(loaded, ["y:0"], 2)
    save(loaded, tmp_path / "g.pb")
    function = load(tmp_path / "g.pb").functions["body"]
    assert list(function.arg_attrs[0]) == ["_user_specified_name"] and "_input_shapes" not in function.attrs


def test_a_graph_of_which_it_is_a_copy_stays():
    """Copies share functions until one of them changes."""
    graph = made(in_a_function)
    set_batch(graph.copy(), ["y:0"], 2)
    assert run(graph, weights(OLD, 3, 4)).shape == (OLD, 14)
