"""FLOPs formulas of sparse tensors, segments and scattered updates against naive definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.flops import definitions_sparse
from tests.core.flops.counting import Tally, counted, normal, positive
from tests.core.flops.held import EXAMPLES, SMALL, Cases, Node, agree, hold, holds
from tfg import GraphBuilder, count_flops, gradients
from tfg.core.registry import registry
from tfg.core.types.dtypes import float32, int64
from tfg.core.types.shapes import Shape, TensorSpec

HELD: Cases = {}
UFUNCS = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Min": np.minimum, "Max": np.maximum}


def ids_below(draw, count, length, is_sorted=False):
    picture = draw(st.lists(st.integers(0, count - 1), min_size=length, max_size=length))
    return np.int64(sorted(picture) if is_sorted else picture)


def sparse_matrix(draw, tally, seed=0):
    """(indices, values, dense shape) with elements in order, at least one."""
    shape = draw(SMALL), draw(SMALL)
    places = sorted(draw(st.sets(st.integers(0, math.prod(shape) - 1), min_size=1)))
    return np.int64(np.unravel_index(places, shape)).T, normal(tally, len(places), seed=seed), np.int64(shape)


# ---- segments


@holds(HELD, "SegmentMean")
def segment_mean(draw, tally):
    count, rows, width = draw(SMALL), draw(SMALL), draw(SMALL)
    ids, data = ids_below(draw, count, rows, is_sorted=True), normal(tally, rows, width)
    definitions_sparse.divided_sums(data, ids, float)
    return Node([data.shape, ids])


def averaged_segments(op, divide):
    @holds(HELD, op)
    def to_the_last(draw, tally):
        rows, width, length, count = draw(SMALL), draw(SMALL), draw(SMALL), draw(SMALL)
        indices, ids = ids_below(draw, rows, length), ids_below(draw, count, length, is_sorted=True)
        data = normal(tally, rows, width)
        definitions_sparse.divided_sums(data[indices], ids, divide)
        return Node([data.shape, indices, ids])

    @holds(HELD, f"{op}WithNumSegments")
    def to_number(draw, tally):
        return Node([*to_the_last(draw, tally).inputs, np.int32(9)])


def gradients_of_segments(op, divide):
    """Each gathered row's part is sent to the row that it was gathered from."""

    @holds(HELD, op)
    def case(draw, tally):
        rows, width, length, count = draw(SMALL), draw(SMALL), draw(SMALL), draw(SMALL)
        indices, ids = ids_below(draw, rows, length), ids_below(draw, count, length, is_sorted=True)
        grad = normal(tally, count, width)
        parts = grad[ids] if divide is None else definitions_sparse.divided_rows(grad, ids, divide)
        definitions_sparse.sent(np.add, definitions_sparse.filled(grad, rows), indices, parts)
        return Node([grad.shape, indices, ids, np.int32(rows)])


for kind, divide in (("Mean", float), ("SqrtN", math.sqrt)):
    averaged_segments(f"SparseSegment{kind}", divide)
    gradients_of_segments(f"SparseSegment{kind}GradV2", divide)
gradients_of_segments("SparseSegmentSumGradV2", None)


# ---- scattered updates


def scattered(op, kind, make):
    """`make(shape)`: the input that is updated."""

    @holds(HELD, op)
    def case(draw, tally):
        rows, width, length = draw(SMALL), draw(SMALL), draw(SMALL)
        indices, updates = ids_below(draw, rows, length), positive(tally, length, width, seed=1)
        definitions_sparse.sent(UFUNCS[kind], positive(tally, rows, width), indices, updates)
        indices = indices[:, None] if "Nd" in op or op.startswith("Tensor") else indices.astype(np.int32)
        return Node([make((rows, width)), indices, updates.shape])


def _handle(shape):
    return lambda g: g.VarHandleOp(dtype="float", shape=shape)


def _reference(shape):
    return lambda g: g.VariableV2(dtype="float", shape=shape)


for kind in ("Add", "Sub", "Mul", "Div", "Min", "Max"):
    scattered(f"Scatter{kind}", kind, _reference)
    scattered(f"ResourceScatter{kind}", kind, _handle)
for kind in ("Add", "Sub", "Min", "Max"):
    scattered(f"ScatterNd{kind}", kind, _reference)
    scattered(f"ResourceScatterNd{kind}", kind, _handle)
    scattered(f"TensorScatter{kind}", kind, tuple)
scattered("ScatterNdNonAliasingAdd", "Add", tuple)
scattered("InplaceSub", "Sub", tuple)


@holds(HELD, "ScatterNd")
def scatter_nd(draw, tally):
    rows, width, length = draw(SMALL), draw(SMALL), draw(SMALL)
    indices, updates = ids_below(draw, rows, length), normal(tally, length, width)
    definitions_sparse.sent(np.add, definitions_sparse.filled(updates, rows), indices, updates)
    return Node([indices[:, None], updates.shape, np.int64([rows, width])])


@holds(HELD, "AssignAdd", "AssignSub")
def assign_add(draw, tally):
    shape = draw(SMALL), draw(SMALL)
    _ = normal(tally, *shape) + normal(tally, *shape, seed=1)
    return Node([_reference(shape), shape])


@holds(HELD, "AssignAddVariableOp", "AssignSubVariableOp")
def assign_add_variable(draw, tally):
    shape = draw(SMALL), draw(SMALL)
    _ = normal(tally, *shape) - normal(tally, *shape, seed=1)
    return Node([_handle(shape), shape])


# ---- counts


def counts(op, before, after, attrs=()):
    """`before(n)` and `after(n)`: the inputs before n values, and between them and the weights."""

    @holds(HELD, op)
    def case(draw, tally):
        values = ids_below(draw, 4, draw(SMALL))
        definitions_sparse.sent(np.add, counted(np.zeros(4), tally), values, positive(tally, len(values)))
        return Node([*before(len(values)), values, *after(len(values)), (len(values),)], dict(attrs))


NUMBER = {"binary_output": False}
counts("DenseCountSparseOutput", lambda n: [], lambda n: [], NUMBER)
counts("SparseCountSparseOutput", lambda n: [np.arange(n)[:, None]], lambda n: [np.int64([n])], NUMBER)
counts("RaggedCountSparseOutput", lambda n: [np.int64([0, n])], lambda n: [], NUMBER)
counts("SparseBincount", lambda n: [np.arange(n)[:, None]], lambda n: [np.int64([n]), np.int64(4)])
counts("RaggedBincount", lambda n: [np.int64([0, n])], lambda n: [np.int64(4)])


# ---- sparse tensors


@holds(HELD, "SparseTensorDenseMatMul")
def sparse_tensor_dense_mat_mul(draw, tally):
    indices, values, shape = sparse_matrix(draw, tally)
    columns, adjoint_a, adjoint_b = draw(SMALL), draw(st.booleans()), draw(st.booleans())
    rows, inner = (1, 0) if adjoint_a else (0, 1)
    dense = normal(tally, shape[inner], columns, seed=1)
    definitions_sparse.product(indices[:, rows], indices[:, inner], values, shape[rows], dense)
    fed = dense.shape[::-1] if adjoint_b else dense.shape
    return Node([indices, values.shape, shape, fed], {"adjoint_a": adjoint_a, "adjoint_b": adjoint_b}, tally.products)


@holds(HELD, "SparseReduceSum", "SparseReduceSumSparse")
def sparse_reduce_sum(draw, tally):
    indices, values, shape = sparse_matrix(draw, tally)
    definitions_sparse.sent(np.add, definitions_sparse.filled(values, shape[0]), indices[:, 0], values)
    return Node([indices, values.shape, shape, np.int32([1])])


@holds(HELD, "SparseReduceMax", "SparseReduceMaxSparse")
def sparse_reduce_max(draw, tally):
    indices, values, shape = sparse_matrix(draw, tally)
    definitions_sparse.sent(np.maximum, definitions_sparse.filled(values, shape[0], -np.inf), indices[:, 0], values)
    return Node([indices, values.shape, shape, np.int32([1])])


@holds(HELD, "SparseSoftmax")
def sparse_softmax(draw, tally):
    indices, values, shape = sparse_matrix(draw, tally)
    definitions_sparse.softmax(indices[:, 0], values, shape[0])
    return Node([indices, values.shape, shape])


def sparse_with_dense(op, ufunc):
    @holds(HELD, op)
    def case(draw, tally):
        indices, values, shape = sparse_matrix(draw, tally)
        ufunc(values, positive(tally, *shape)[tuple(indices.T)])
        return Node([indices, values.shape, shape, tuple(shape.tolist())])


for op, ufunc in (("CwiseAdd", np.add), ("CwiseMul", np.multiply), ("CwiseDiv", np.divide)):
    sparse_with_dense(f"SparseDense{op}", ufunc)
sparse_with_dense("SparseTensorDenseAdd", np.add)


def _by_place(draw, tally, places, seed):
    values = normal(tally, len(places), seed=seed)
    return {place: values[i : i + 1] for i, place in enumerate(places)}


def _pair(first, second):
    return [np.int64(sorted(first))[:, None], (len(first),), np.int64([9]),
            np.int64(sorted(second))[:, None], (len(second),), np.int64([9])]  # fmt: skip


@holds(HELD, "SparseAdd")
def sparse_add(draw, tally):
    """The most that there can be to do: every place of the smaller is among those of the other."""
    size = draw(SMALL)
    a, b = _by_place(draw, tally, range(size + draw(SMALL)), 0), _by_place(draw, tally, range(size), 1)
    definitions_sparse.sparse_sum(a, b, 0.1)
    return Node([*_pair(a, b), np.float32(0.1)])


def sparse_extreme(op, ufunc):
    @holds(HELD, op)
    def case(draw, tally):
        """The most that there can be to do: no place occurs in both."""
        size = draw(SMALL)
        a, b = _by_place(draw, tally, range(size), 0), _by_place(draw, tally, range(size, size + draw(SMALL)), 1)
        definitions_sparse.sparse_extreme(ufunc, a, b)
        return Node(_pair(a, b))


sparse_extreme("SparseSparseMaximum", np.maximum)
sparse_extreme("SparseSparseMinimum", np.minimum)


@holds(HELD, "SparseFillEmptyRowsGrad", "RaggedFillEmptyRowsGrad")
def fill_empty_rows_grad(draw, tally):
    count = draw(SMALL)
    taken = sorted(draw(st.sets(st.integers(0, count - 1))))
    definitions_sparse.remaining_sum(taken, normal(tally, count))
    return Node([np.int64(taken), (count,)])


@pytest.mark.sampled(12)
@pytest.mark.parametrize("op", HELD)
@EXAMPLES
@given(data=st.data())
def test_formula(op, data):
    hold(op, HELD[op], data.draw)


ALSO_HELD = ("RaggedRange",)


@EXAMPLES
@given(st.lists(st.integers(0, 5), min_size=1, max_size=4))
def test_ragged_range(limits):
    """Only a run knows how many numbers there are."""
    tally, rows = Tally(), len(limits)
    starts, deltas = counted(np.zeros(rows), tally), counted(np.full(rows, 0.5), tally)
    result = definitions_sparse.ranges(starts, np.float64(limits), deltas)
    outputs = [TensorSpec(int64, Shape([rows + 1])), TensorSpec(float32, Shape([sum(map(len, result))]))]
    agree(registry.flops_function("RaggedRange")(outputs=outputs), tally)


def test_gradient_of_a_sparse_product_whose_indices_are_counted():
    """(6, 5) with 7 elements times (5, 3), forward and back: the number of index vectors is all that is known."""
    b = GraphBuilder()
    indices, values, size = (
        b.Placeholder(dtype=dtype, shape=shape) for dtype, shape in (("int64", [7, 2]), ("float32", [None]), ("int64", [2]))
    )
    x = b.Placeholder(dtype="float32", shape=[5, 3], name="x")
    b.Sum(b.SparseTensorDenseMatMul(indices, values, size, x), [0, 1], name="loss")
    graph, (grad,) = gradients(b.graph, "loss:0", ["x:0"])
    costs = [cost.cost.flops for cost in count_flops(graph, ["loss:0", grad]).nodes if cost.op == "SparseTensorDenseMatMul"]
    assert costs == [2 * 7 * 3] * 2
