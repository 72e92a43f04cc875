"""Feeds that --verify draws: the graph runs on them, and they take the ways that inference leaves open."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cli.running import tfg as run
from tests.functions import call_with_an_unread_input
from tfg.core.building.builder import GraphBuilder
from tfg.core.runtime.session.drawn_feeds import Feeds, NoFeedsError
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import FailedPreconditionError, InvalidArgumentError, PermissionDeniedError
from tfg.formats.saving import save


def drawn(b, fetch):
    """Return the drawn feeds on which a graph runs, each with the result."""
    session = Session(b.graph)
    return list(Feeds(b.graph, {}, [fetch.name]).each_that_runs(lambda feeds: session.run(fetch.name, feeds)))


def number(b, value):
    return b.constant(np.int32(value))


def texts(b, *values):
    array = np.empty(len(values), object)
    array[:] = values
    return b.constant(array)


def test_pictures_are_large_enough_for_windows():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float", shape=[None, None, None, 3], name="x")
    filters = b.constant(np.ones((7, 7, 3, 2), np.float32))
    seen = b.Conv2D(x, filters, strides=[1, 2, 2, 1], padding="VALID")
    y = b.MaxPool(seen, ksize=[1, 5, 5, 1], strides=[1, 1, 1, 1], padding="VALID")
    assert all(result.size for _, result in drawn(b, y))


def test_ranks_are_those_that_readers_take():
    b = GraphBuilder()
    x = b.Exp(b.Placeholder(dtype="float", shape=None, name="x"))
    y = b.MaxPool(x, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="VALID")
    assert {result.ndim for _, result in drawn(b, y)} == {4}


def test_ranks_that_differ_are_told_from_each_other():
    b = GraphBuilder()
    x, y = (b.Placeholder(dtype="float", shape=[None, None], name=name) for name in "xy")
    shapes = {
        (feeds["x:0"].shape, feeds["y:0"].shape)
        for feeds, _ in drawn(b, b.ConcatV2([b.Sum(x, number(b, 1)), b.Sum(y, number(b, 1))], number(b, 0)))
    }
    assert len({size for pair in shapes for shape in pair for size in shape}) > 3
    assert any(len({*first, *second}) > 2 for first, second in shapes)


def test_conditions_are_taken_both_ways():
    b = GraphBuilder()
    p = b.Placeholder(dtype="bool", shape=[], name="p")
    assert {bool(result) for _, result in drawn(b, b.LogicalNot(p))} == {True, False}


def test_numbers_that_drive_shapes_are_unequal_once():
    b = GraphBuilder()
    n = b.Placeholder(dtype="int32", shape=[None], name="n")
    lengths = [feeds["n:0"].tolist() for feeds, _ in drawn(b, b.Cumsum(n, number(b, 0)))]
    assert any(len(set(values)) > 1 and min(values) > 0 for values in lengths) and len(lengths) == 3


def test_what_has_one_shape_is_run_once():
    b = GraphBuilder()
    assert len(drawn(b, b.Exp(b.Placeholder(dtype="float", shape=[3], name="x")))) == 1


@pytest.mark.parametrize("read", [
    lambda b, x: b.DecodePng(x, channels=3),
    lambda b, x: b.DecodeWav(x)[0],
    lambda b, x: b.StringToNumber(b.StringStrip(x)),
])  # fmt: skip
def test_texts_can_be_read(read):
    b = GraphBuilder()
    assert all(np.size(result) for _, result in drawn(b, read(b, b.Placeholder(dtype="string", shape=[], name="x"))))


def test_examples_have_the_features_that_are_parsed():
    b = GraphBuilder()
    x = b.Placeholder(dtype="string", shape=[None], name="x")
    none, dense = b.constant(np.empty(0, object)), [b.constant(np.empty(0, np.float32)), b.constant(np.empty(0, object))]
    parsed = b.ParseExampleV2(
        x, none, texts(b, b"s"), texts(b, b"d", b"image"), none, dense, num_sparse=1, sparse_types=["int64"],
        Tdense=["float", "string"], dense_shapes=[[3], []], ragged_value_types=[], ragged_split_types=[],
    )  # fmt: skip
    outputs = parsed[0].node.outputs()
    picture = b.DecodePng(b.Squeeze(b.Slice(outputs[4], b.constant(np.int32([0])), b.constant(np.int32([1])))), channels=3)
    assert all(result.shape == (64, 64, 3) for _, result in drawn(b, picture))
    assert all(result.size for _, result in drawn(b, outputs[1]))
    assert all(result.shape[1:] == (3,) for _, result in drawn(b, outputs[3]))


def floats(b, name, *shape):
    return b.Placeholder(dtype="float", shape=list(shape) if shape != (None,) else None, name=name)


def ones(b, *shape):
    return b.constant(np.ones(shape, np.float32))


def flattened(b):
    """A picture of unknown size, flattened before a layer for 28 x 28."""
    x = floats(b, "x", None, None, None, 1)
    rows = b.Slice(b.Shape(x), b.constant(np.int32([0])), b.constant(np.int32([1])))
    return b.MatMul(b.Reshape(x, b.ConcatV2([rows, b.constant(np.int32([-1]))], number(b, 0))), ones(b, 784, 5))


FITTING = {
    "matrix": (lambda b: b.MatMul(floats(b, "x", None), ones(b, 11, 12)), (11,)),
    "bias": (lambda b: b.BiasAdd(b.Relu(floats(b, "x", None, None)), ones(b, 17)), (17,)),
    "channels": (lambda b: b.Conv2D(floats(b, "x", None, None, None, None), ones(b, 1, 1, 5, 2), strides=[1] * 4,
                                    padding="VALID"), (5,)),
    "reshape": (lambda b: b.Reshape(floats(b, "x", None), b.constant(np.int32([-1, 7, 13]))), None),
    "flattened": (flattened, (28, 28, 1)),
    "sum": (lambda b: b.AddV2(floats(b, "x", None, None), ones(b, 3, 19)), (19,)),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FITTING)
def test_sizes_are_those_that_constants_require(name):
    build, sizes = FITTING[name]
    b = GraphBuilder()
    shapes = [feeds["x:0"].shape for feeds, _ in drawn(b, build(b))]
    assert shapes and (sizes is None or {shape[-len(sizes) :] for shape in shapes} == {sizes})


@pytest.mark.parametrize("classes", [1, 3])
def test_labels_are_within_the_classes(classes):
    b = GraphBuilder()
    logits = b.MatMul(floats(b, "x", None, 4), ones(b, 4, classes))
    labels = b.Placeholder(dtype="int64", shape=[None], name="labels")
    assert drawn(b, b.SparseSoftmaxCrossEntropyWithLogits(logits, labels)[0])


def integers(b, name, *shape):
    return b.Placeholder(dtype="int64", shape=list(shape), name=name)


def sparse_parts(b):
    values = b.Placeholder(dtype="float", shape=[None], name="values")
    return integers(b, "indices", None, 2), values, integers(b, "sizes", 2)


PARTS = {
    "product": lambda b: b.SparseTensorDenseMatMul(*sparse_parts(b), ones(b, 9, 5)),
    "dense": lambda b: (lambda i, v, s: b.SparseToDense(i, s, v, b.constant(np.float32(0))))(*sparse_parts(b)),
    "sum": lambda b: b.SparseReduceSum(*sparse_parts(b), b.constant(np.int32([0]))),
    "ragged": lambda b: b.RaggedTensorToSparse([integers(b, "splits", None)], floats(b, "values", None, 2))[1],
    "nested": lambda b: b.RaggedTensorToTensor(
        b.constant(np.int64([-1, -1, -1])), b.Placeholder(dtype="float", shape=[None], name="values"),
        b.constant(np.float32(0)), [integers(b, "outer", None), integers(b, "inner", None)],
        row_partition_types=["ROW_SPLITS", "ROW_SPLITS"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_tensors_fit_together(name):
    b = GraphBuilder()
    assert any(np.size(result) for _, result in drawn(b, PARTS[name](b)))


def test_an_op_without_a_kernel_is_not_the_fault_of_feeds():
    b = GraphBuilder()
    b.graph.add_node("y", "NoSuchOp", [floats(b, "x", None, 2)])
    with pytest.raises(InvalidArgumentError, match="NoSuchOp") as refused:
        drawn(b, b.graph.node("y").output())
    assert not isinstance(refused.value, NoFeedsError)


def test_an_error_of_a_drawn_name_says_that_the_feeds_were_drawn():
    b = GraphBuilder()
    y = b.ReadFile(b.Placeholder(dtype="string", shape=[], name="x"))
    with pytest.raises(PermissionDeniedError, match=r"on drawn feeds: x .* `feeds={'x': VALUE}` sets others"):
        drawn(b, y)


def unreadable():
    b = GraphBuilder()
    b.DecodeBmp(b.Placeholder(dtype="string", shape=[], name="x"), name="y")
    return b


@pytest.mark.slow
def test_larger_sizes_that_are_too_large_do_not_hide_the_error_of_the_graph():
    b = GraphBuilder()
    b.Placeholder(dtype="float32", shape=[None] * 5, name="x")

    def fails(feeds):
        raise InvalidArgumentError("no window fits")

    with pytest.raises(NoFeedsError, match="the last error was: no window fits") as refused:
        next(Feeds(b.graph, {}, ["x:0"]).each_that_runs(fails))
    assert "`feeds={'x': VALUE}`" in refused.value.hint


def test_the_feed_that_is_missing_is_named():
    b = unreadable()
    with pytest.raises(NoFeedsError, match=r"random feeds of 1 placeholder: x \(string") as refused:
        drawn(b, b.graph.output("y"))
    assert "`feeds={'x': VALUE}`" in refused.value.hint


def test_errors_that_no_feed_mends_are_raised_as_they_are():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float", shape=[None], name="x")
    variable = b.VarHandleOp(dtype="float", shape=[2], name="v")
    with pytest.raises(FailedPreconditionError):
        drawn(b, b.Add(x, b.ReadVariableOp(variable, dtype="float")))


def test_an_error_on_feeds_that_are_given_is_the_graphs():
    b = unreadable()
    session = Session(b.graph)
    with pytest.raises(InvalidArgumentError, match="the contents are not a BMP file"):
        next(Feeds(b.graph, {"x:0": b"a"}, ["y:0"]).each_that_runs(lambda feeds: session.run("y:0", feeds)))


def test_what_could_not_be_verified_is_written_only_if_asked(tmp_path):
    save(unreadable().graph, str(tmp_path / "graph.pb"))
    command = ("optimize", tmp_path / "graph.pb", "--fetch", "y", "--verify", "-o", tmp_path / "out.pb")
    done = run(*command)
    assert done.code == 1 and "--unverified" in done.err and not (tmp_path / "out.pb").exists()
    done = run(*command, "--unverified", "--format", "json")
    assert done.code == 3 and "not verified" in done.err and (tmp_path / "out.pb").exists()
    assert "not a BMP file" in done.json["unverified"] and done.json["verification"] == []


@pytest.mark.parametrize("more", [(), ("--feed", "unread=1")])
def test_an_input_that_nothing_needs_is_no_trouble(more, tmp_path):
    save(call_with_an_unread_input([], []), tmp_path / "graph.pbtxt")
    done = run("optimize", tmp_path / "graph.pbtxt", "--fetch", "y", "--verify", "--format", "json", *more)
    assert done.code == 0, done.err
    assert [row["passed"] for row in done.json["verification"]] == [True]
    done = run("compare", tmp_path / "graph.pbtxt", "--passes", "default", "--fetch", "y", *more)
    assert done.code == 0, done.err


def test_a_node_that_only_waits_for_a_placeholder_reads_nothing():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2], name="x")
    with b.control_dependencies([x.node]):
        b.NoOp(name="done")
    y = b.Neg(x, name="y")
    assert {result.shape for _, result in drawn(b, y)} == {(2,)}


def test_an_error_that_names_a_size_is_followed_in_every_rank():
    b = GraphBuilder()
    b.Placeholder(dtype="float32", name="x")
    ranks = set()

    def fails(feeds):
        ranks.add(feeds["x:0"].ndim)
        raise InvalidArgumentError("no window of 7 fits")

    with pytest.raises(NoFeedsError, match="no window of 7 fits"):
        next(Feeds(b.graph, {}, ["x:0"]).each_that_runs(fails))
    assert ranks >= {1, 2, 3, 4}
