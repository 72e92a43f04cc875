"""Sparse matrices in compressed rows, held in variants: a matrix or a batch of matrices, through scipy.sparse."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics.interruption_points import pause
from ...registry.registry import NOT_DIFFERENTIABLE, WITHOUT_GRADIENT, flops, gradient, kernel, shape, zero_cost
from ...runtime.state.edge_values import scalar_object
from ...support import dataclasses
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import Shape, TensorSpec, unknown_dims
from ..shared.decompositions import by_ops
from ..shared.elementwise_tables import RESULT, counted
from ..shared.shape_arguments import scalar_int
from ..shared.sparse_tensors import check_bounds, validate


@dataclasses.dataclass(frozen=True)
class SparseMatrix:
    """The matrices of a batch; `is_batch` where the dense shape has three dimensions."""

    parts: tuple[Any, ...]
    is_batch: bool

    @property
    def dense_shape(self) -> tuple[int, ...]:
        """The dense shape of the whole."""
        rows = self.parts[0].shape
        return (len(self.parts), *rows) if self.is_batch else rows

    @property
    def dtype(self) -> Any:
        return self.parts[0].dtype

    def indices(self) -> Array:
        """Return the index vectors of all elements in row-major order, (n, rank)."""
        rows = []
        for batch, part in enumerate(self.parts):
            coordinates = part.tocoo()
            columns = [coordinates.row, coordinates.col]
            rows.append(np.column_stack([np.full(coordinates.nnz, batch), *columns] if self.is_batch else columns))
        return np.concatenate(rows).astype(np.int64)

    def dense(self) -> Array:
        matrices = np.stack([part.toarray() for part in self.parts])
        return matrices if self.is_batch else matrices[0]

    def map(self, function: Callable[..., Any]) -> SparseMatrix:
        return SparseMatrix(tuple(function(part) for part in self.parts), self.is_batch)


def _held(variant: Array, dtype: DType | None = None) -> SparseMatrix:
    """Return the sparse matrix in a variant; InvalidArgumentError for anything else or another dtype."""
    handle = np.asarray(variant, object)
    if handle.ndim != 0 or not isinstance(handle.item(), SparseMatrix):
        raise InvalidArgumentError("the variant holds no sparse matrix")
    matrix = handle.item()
    if dtype is not None and matrix.dtype != dtype.numpy:
        raise InvalidArgumentError(f"Asked for a CSRSparseMatrix of type {dtype} but saw {matrix.dtype}")
    return matrix


_MAX_ROWS = 1 << 31


def _built(indices: Array, values: Array, dims: list[int]) -> Array:
    """Return a sparse matrix in a variant, from index vectors in row-major order."""
    if len(dims) not in (2, 3):
        raise InvalidArgumentError(f"a sparse matrix must be of rank 2 or 3, not {len(dims)}")
    check_bounds(indices, dims)
    # TensorFlow numbers the rows of all matrices of a batch by int32.
    if math.prod(dims[:-1]) >= _MAX_ROWS:
        raise InvalidArgumentError(f"a sparse matrix of shape {dims} has more rows than 32 bits number")
    if len(dims) == 2:
        return scalar_object(SparseMatrix((_part(indices, values, dims),), False))
    parts = []
    # The matrices of a batch need not come in order.
    order = np.argsort(indices[:, 0], kind="stable")
    indices, values = indices[order], values[order]
    ends = np.searchsorted(indices[:, 0], np.arange(dims[0] + 1))
    for start, end in itertools.pairwise(ends.tolist()):
        pause()
        parts.append(_part(indices[start:end, 1:], values[start:end], dims[1:]))
    if not parts:
        raise InvalidArgumentError("a batch of sparse matrices must not be empty")
    return scalar_object(SparseMatrix(tuple(parts), True))


def _part(indices: Array, values: Array, dims: list[int]) -> csr_array:
    """Return a matrix; explicit zeros stay elements."""
    counts = np.bincount(indices[:, 0], minlength=dims[0])
    starts = np.concatenate([[0], np.cumsum(counts)])
    # Built from its parts: scipy's conversion from coordinates would add up repeated elements.
    return csr_array((values, indices[:, 1], starts), shape=tuple(dims))


@kernel("SparseTensorToCSRSparseMatrix", shape="_ _, _ -> ()", flops=zero_cost)
def sparse_tensor_to_csr(indices: Array, values: Array, dense_shape: Array) -> Result:
    """A sparse tensor, in row-major order, as a sparse matrix."""
    validate(indices, values, dense_shape)
    return _built(indices, values, dense_shape.tolist())


@gradient("SparseTensorToCSRSparseMatrix")
def sparse_tensor_to_csr_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [None, g.CSRSparseMatrixToSparseTensor(grad, type=node.attr("T"))[1], None]


@kernel("DenseToCSRSparseMatrix", shape="*, _ _ -> ()", flops=zero_cost)
def dense_to_csr(dense: Array, indices: Array) -> Result:
    """The elements of a dense tensor at `indices` as a sparse matrix."""
    if np.ndim(indices) != 2 or indices.shape[1] != np.ndim(dense):
        raise InvalidArgumentError(f"indices must be a matrix of {np.ndim(dense)} columns, not {Shape(np.shape(indices))}")
    check_bounds(indices, np.shape(dense))
    return _built(indices, dense[tuple(indices.T)], list(np.shape(dense)))


@gradient("DenseToCSRSparseMatrix")
def dense_to_csr_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [g.CSRSparseMatrixToDense(grad, type=node.attr("T")), None]


@kernel("CSRSparseMatrixToDense", shape="-> *", flops=zero_cost)
def csr_to_dense(matrix: Array, *, type: DType) -> Result:
    """The sparse matrix as a dense tensor."""
    return _held(matrix, type).dense()


@gradient("CSRSparseMatrixToDense")
def csr_to_dense_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [_pruned(g, grad, node.inputs[0])]


def _pruned(g: GradientBuilder, dense: Any, like: Any) -> Any:
    """Return the elements of a dense matrix at the elements of a sparse matrix."""
    # The gradient has the pattern of the matrix: an element that is not stored is no variable.
    indices = g.CSRSparseMatrixToSparseTensor(like, type=dense.dtype.base)[0]
    return g.DenseToCSRSparseMatrix(dense, indices)


@kernel("SparseMatrixNNZ", shape="-> *", gradient=NOT_DIFFERENTIABLE, flops=zero_cost)
def sparse_matrix_nnz(matrix: Array) -> Result:
    """Return the number of elements of each matrix."""
    held = _held(matrix)
    counts = np.array([part.nnz for part in held.parts], np.int32)
    return counts if held.is_batch else counts[0]


@kernel("CSRSparseMatrixToSparseTensor", shape="* -> k r, k, r", flops=zero_cost)
def csr_to_sparse_tensor(matrix: Array, *, type: DType) -> tuple[Result, Result, Result]:
    """The sparse matrix as indices, values and dense shape."""
    held = _held(matrix, type)
    return held.indices(), np.concatenate([part.data for part in held.parts]), np.array(held.dense_shape, np.int64)


gradient("CSRSparseMatrixToSparseTensor")(by_ops("SparseTensorToCSRSparseMatrix y dy1 y2"))


@kernel("CSRSparseMatrixComponents", shape="* -> rows, k, k", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def csr_components(matrix: Array, index: Array, *, type: DType) -> tuple[Result, Result, Result]:
    """Row pointers, columns and values of the matrix at `index` of the batch."""
    held, place = _held(matrix, type), scalar_int(index, "index")
    if not 0 <= place < len(held.parts):
        raise InvalidArgumentError(f"index ({place}) not in [0, {len(held.parts)})")
    part = held.parts[place]
    # SciPy chooses the dtype of these indices by their size; TensorFlow's are always int32.
    return part.indptr.astype(np.int32), part.indices.astype(np.int32), part.data


@kernel("SparseMatrixTranspose", shape="-> ()", gradient=by_ops("SparseMatrixTranspose dy"), flops=zero_cost)
def sparse_matrix_transpose(matrix: Array, *, conjugate: bool, type: DType) -> Result:
    """The transposed, or adjoint, matrix."""
    return scalar_object(_held(matrix, type).map(lambda part: _oriented(part, not conjugate, conjugate)))


def _oriented(part: Array | csr_array, transpose: bool, adjoint: bool) -> Array | csr_array:
    """Return a sparse or dense matrix, unchanged, transposed or adjoint."""
    if adjoint:
        part = part.conj().T
    elif transpose:
        part = part.T
    # The transpose of compressed rows has compressed columns; TensorFlow keeps rows.
    return part if isinstance(part, np.ndarray) else csr_array(part)


@kernel("SparseMatrixMatMul")
def sparse_matrix_mat_mul(
    a: Array,
    b: Array,
    *,
    T: DType,
    transpose_a: bool,
    transpose_b: bool,
    adjoint_a: bool,
    adjoint_b: bool,
    transpose_output: bool,
    conjugate_output: bool,
) -> Result:
    """The product of a sparse and a dense matrix, or of two batches of them."""
    held, b = _held(a, T), np.asarray(b)
    if (transpose_a and adjoint_a) or (transpose_b and adjoint_b):
        raise InvalidArgumentError("Only one of adjoint and transpose may be true.")
    if b.ndim != len(held.dense_shape) or (held.is_batch and b.shape[0] != len(held.parts)):
        raise InvalidArgumentError(f"the operands have the shapes {held.dense_shape} and {b.shape}")
    products = []
    for part, dense in zip(held.parts, b if held.is_batch else b[None]):
        left, right = _oriented(part, transpose_a, adjoint_a), _oriented(dense, transpose_b, adjoint_b)
        _require_fit(left, right)
        product = left @ right
        products.append(product.T if transpose_output else product)
    result = np.stack(products) if held.is_batch else products[0]
    return np.conj(result) if conjugate_output else result


def _require_fit(left: csr_array, right: Array | csr_array) -> None:
    if left.shape[1] != right.shape[0]:
        raise InvalidArgumentError(f"the inner dimensions of {left.shape} and {right.shape} do not match")


@shape("SparseMatrixMatMul")
def sparse_matrix_mat_mul_shape(a: TensorSpec, b: TensorSpec) -> Shape:
    return unknown_dims(b.rank)


@gradient("SparseMatrixMatMul")
def sparse_matrix_mat_mul_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """With C = A' B' for A' and B' as the flags turn A and B: dA' = dC (B')^H and dB' = (A')^H dC, turned back."""
    a, b = node.inputs
    flag = {name: node.attr(name) for name in ("transpose_a", "adjoint_a", "transpose_b", "adjoint_b")}
    if node.attr("conjugate_output"):
        # The output was transposed and conjugated last, so that is undone first.
        grad = g.conj(grad)
    if node.attr("transpose_output"):
        grad = _turned(g, grad, True, False)
    turned = _turned(g, b, flag["transpose_b"], flag["adjoint_b"])
    towards_a = g.BatchMatMulV2(grad, turned, adj_y=True)
    dtype = node.attr("T")
    dense = g.CSRSparseMatrixToDense(a, type=dtype)
    towards_b = g.BatchMatMulV2(_turned(g, dense, flag["transpose_a"], flag["adjoint_a"]), grad, adj_x=True)
    return [
        _pruned(g, _turned(g, towards_a, flag["transpose_a"], flag["adjoint_a"]), a),
        _turned(g, towards_b, flag["transpose_b"], flag["adjoint_b"]),
    ]


def _turned(g: GradientBuilder, x: Any, transpose: Any, adjoint: Any) -> Any:
    """Return a dense matrix, or batch of them, transposed or adjoint."""
    if not (transpose or adjoint):
        return x
    rank = g.Rank(x)
    # The rank is 2 or 3, for a batch, and the graph may not know which.
    order = g.ConcatV2([g.Range(0, g.Sub(rank, 2), 1), g.Pack([g.Sub(rank, 1), g.Sub(rank, 2)])], 0)
    return g.ConjugateTranspose(x, order) if adjoint else g.Transpose(x, order)


# The number of products is known only in a run.
flops("SparseMatrixMatMul", "SparseMatrixSparseMatMul")(
    counted(1, RESULT, "A lower bound: one operation for each element of the result.")
)


@kernel("SparseMatrixSparseMatMul", shape="-> ()")
def sparse_matrix_sparse_mat_mul(
    a: Array, b: Array, *, type: DType, transpose_a: bool, transpose_b: bool, adjoint_a: bool, adjoint_b: bool
) -> Result:
    """The product of two sparse matrices, or of two batches of them."""
    left, right = _held(a, type), _held(b, type)
    if (transpose_a and adjoint_a) or (transpose_b and adjoint_b):
        raise InvalidArgumentError("Only one of adjoint and transpose may be true.")
    if left.is_batch != right.is_batch or len(left.parts) != len(right.parts):
        raise InvalidArgumentError(f"the operands have the shapes {left.dense_shape} and {right.dense_shape}")
    products = []
    for x, y in zip(left.parts, right.parts):
        x, y = _oriented(x, transpose_a, adjoint_a), _oriented(y, transpose_b, adjoint_b)
        _require_fit(x, y)
        product = csr_array(x @ y)
        # scipy leaves the columns of a product's rows in any order.
        product.sort_indices()
        products.append(product)
    return scalar_object(SparseMatrix(tuple(products), left.is_batch))


@gradient("SparseMatrixSparseMatMul")
def sparse_matrix_sparse_mat_mul_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """As the gradient of SparseMatrixMatMul, at the stored elements only."""
    dtype = node.attr("type")
    dense = [g.CSRSparseMatrixToDense(m, type=dtype) for m in (*node.inputs, grad)]
    flags = [(node.attr(f"transpose_{x}"), node.attr(f"adjoint_{x}")) for x in "ab"]
    a, b = (_turned(g, m, *flag) for m, flag in zip(dense, flags))
    towards = (g.BatchMatMulV2(dense[2], b, adj_y=True), g.BatchMatMulV2(a, dense[2], adj_x=True))
    return [_pruned(g, _turned(g, d, *flag), m) for d, flag, m in zip(towards, flags, node.inputs)]
