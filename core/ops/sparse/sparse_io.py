"""Sparse tensors packed into strings or variants, and kept by the session under handles."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...registry.registry import WITHOUT_GRADIENT, kernel, zero_cost
from ...runtime.state.edge_values import is_of
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.resources import Shared
from ...runtime.state.tensor_proto_bytes import parse, serialize_content
from ...support.errors import DataLossError, InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array, Result, object_array
from ...types.dtypes import DType
from ...types.shapes import Shape
from ..shared.resource_access import resource_of_node
from ..shared.sparse_tensors import index_vectors, validate


def _pack(parts: tuple[Array, ...], value_dtype: DType, out_type: DType) -> list[Array | bytes]:
    """Return the three parts of a sparse tensor as strings or as variants."""
    if out_type is dtypes.variant:
        # A variant holds the tensor as it is: nothing is copied before it leaves the process.
        return list(parts)
    return [serialize_content(np.asarray(p), d) for p, d in zip(parts, (dtypes.int64, value_dtype, dtypes.int64))]


def _unpack(items: list[Array | bytes], dtype: DType) -> list[Array]:
    """Return the three parts from strings or variants; InvalidArgumentError for damaged parts or another dtype."""
    arrays = [_tensor(item) for item in items]
    indices, values, dense_shape = arrays
    if indices.dtype != np.int64 or dense_shape.dtype != np.int64 or not is_of(values, dtype):
        raise InvalidArgumentError(f"Requested SparseTensor of type {dtype} but the serialized values are {values.dtype}")
    validate(indices, values, dense_shape, "the serialized sparse tensor")
    return arrays


def _tensor(item: Array | bytes) -> Array:
    if isinstance(item, np.ndarray):
        return item
    if not isinstance(item, bytes):
        raise InvalidArgumentError(f"a {type(item).__name__} is not a serialized tensor")
    try:
        return parse(item)[0]
    except (DataLossError, ValueError) as error:
        raise InvalidArgumentError(f"Could not parse serialized_sparse: {error}") from None


def _rows(indices: Array, values: Array, dense_shape: Array) -> Iterator[Any]:
    """Yield the sparse tensors in the rows of a sparse tensor of rank 2 at least."""
    validate(indices, values, dense_shape)
    if dense_shape.size < 2:
        raise InvalidArgumentError(f"Rank of input SparseTensor should be > 1, but saw rank: {dense_shape.size}")
    first, count = indices[:, 0], int(dense_shape[0])
    if first.size and (first.min() < 0 or first.max() >= count):
        raise InvalidArgumentError(f"a row of {first.tolist()[:10]} is not in [0, {count})")
    # Elements of a row may lie apart, and stay in turn.
    order = np.argsort(first, kind="stable")
    # np.split makes a part more than it has ends, and would give a row where there is none.
    ends: Any = np.cumsum(np.bincount(first, minlength=count))[:-1] if count else []
    for rows, row_values in zip(np.split(indices[order, 1:], ends), np.split(values[order], ends)) if count else ():
        yield rows, row_values, dense_shape[1:]


def _stacked(parts: Sequence[Sequence[Array]], leading: tuple[int, ...]) -> tuple[Array, Array, Array]:
    """Stack sparse tensors under leading dimensions; the other dimensions are the greatest among the parts."""
    ranks = {p[2].size for p in parts}
    if len(ranks) > 1:
        raise InvalidArgumentError(f"Inconsistent rank across SparseTensors: {sorted(ranks)}")
    prefixes = index_vectors(np.arange(len(parts)), leading)
    rows = [np.concatenate([np.repeat(prefix[None], len(p[0]), 0), p[0]], 1) for prefix, p in zip(prefixes, parts)]
    # The stack holds the largest part in each dimension.
    dims = np.max([p[2] for p in parts], axis=0) if parts else np.zeros(0, np.int64)
    return np.concatenate(rows), np.concatenate([p[1] for p in parts]), np.concatenate([leading, dims]).astype(np.int64)


@kernel("SerializeSparse", shape="* -> 3", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def serialize_sparse(indices: Array, values: Array, dense_shape: Array, *, T: DType, out_type: DType) -> Result:
    """Indices, values and shape packed, (3,); TensorFlow looks at their ranks only."""
    if (np.ndim(indices), np.ndim(values), np.ndim(dense_shape)) != (2, 1, 1):
        raise InvalidArgumentError("Input indices should be a matrix, values and shape should be vectors")
    return object_array(_pack((indices, values, dense_shape), T, out_type), (3,))


@kernel("SerializeManySparse", shape="* -> rows 3", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def serialize_many_sparse(indices: Array, values: Array, dense_shape: Array, *, T: DType, out_type: DType) -> Result:
    """Each row packed, (rows, 3)."""
    packed = [item for part in _rows(indices, values, dense_shape) for item in _pack(part, T, out_type)]
    return object_array(packed, (len(packed) // 3, 3))


@kernel("DeserializeSparse", shape="* -> k r, k, r", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def deserialize_sparse(serialized: Array, *, dtype: DType) -> tuple[Result, ...]:
    """Stack the sparse tensors of a packed tensor (..., 3); the leading dimensions come first."""
    if np.ndim(serialized) < 1:
        raise InvalidArgumentError("Serialized sparse should have non-zero rank ()")
    if serialized.shape[-1] != 3:
        raise InvalidArgumentError(f"Serialized sparse should have 3 as the last dimension {Shape(serialized.shape)}")
    leading = serialized.shape[:-1]
    if math.prod(leading) == 0:
        raise InvalidArgumentError(f"Serialized sparse should have at least one element {Shape(serialized.shape)}")
    parts = [_unpack(items, dtype) for items in serialized.reshape(-1, 3).tolist()]
    # A single packed tensor gets no dimension for a batch, unlike a vector of one.
    return tuple(parts[0]) if not leading else _stacked(parts, leading)


@kernel("DeserializeManySparse", shape="* -> k r, k, r", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def deserialize_many_sparse(serialized: Array, *, dtype: DType) -> tuple[Result, ...]:
    """Stack the sparse tensors of a packed matrix (rows, 3)."""
    if np.ndim(serialized) != 2 or serialized.shape[1] != 3:
        raise InvalidArgumentError(f"Serialized sparse should be a matrix of 3 columns, not {Shape(np.shape(serialized))}")
    return deserialize_sparse(serialized, dtype=dtype)


class _TensorsMap(Shared):
    """Sparse tensors by handle."""

    def __init__(self) -> None:
        self.tensors: dict[int, Any] = {}
        self.count = 0

    def add(self, part: tuple[Array, ...]) -> int:
        self.tensors[self.count] = part
        self.count += 1
        return self.count - 1

    def take(self, handle: int) -> tuple[Array, ...]:
        if handle not in self.tensors:
            raise InvalidArgumentError(f"Unable to find SparseTensor: {handle} in map")
        return self.tensors.pop(handle)


def _map(ctx: KernelContext) -> _TensorsMap:
    return resource_of_node(ctx, _TensorsMap, lambda name: _TensorsMap())


@kernel("AddSparseToTensorsMap", shape="-> ()", gradient=WITHOUT_GRADIENT, flops=zero_cost, facts=("side_effect",))
def add_sparse_to_tensors_map(ctx: KernelContext, indices: Array, values: Array, dense_shape: Array) -> Result:
    """The handle of a sparse tensor now kept by the session."""
    validate(indices, values, dense_shape)
    store = _map(ctx)
    with store:
        return np.int64(store.add((indices, values, dense_shape)))


@kernel("AddManySparseToTensorsMap", shape="-> n", gradient=WITHOUT_GRADIENT, flops=zero_cost, facts=("side_effect",))
def add_many_sparse_to_tensors_map(ctx: KernelContext, indices: Array, values: Array, dense_shape: Array) -> Result:
    """The handles of the rows of a sparse tensor now kept by the session; rows without elements get theirs last."""
    store = _map(ctx)
    # Checked as a whole before the lock: a bad row must leave no handle behind for the rows before it.
    parts = list(_rows(indices, values, dense_shape))
    handles = np.empty(len(parts), np.int64)
    with store:
        # TensorFlow walks the groups of elements first, and adds the empty rows afterwards.
        for i in sorted(range(len(parts)), key=lambda i: not len(parts[i][1])):
            handles[i] = store.add(parts[i])
    return handles


@kernel(
    "TakeManySparseFromTensorsMap", shape="* -> k r, k, r", gradient=WITHOUT_GRADIENT, flops=zero_cost, facts=("side_effect",)
)
def take_many_sparse_from_tensors_map(ctx: KernelContext, handles: Array, *, dtype: DType) -> tuple[Result, Result, Result]:
    """Return the sparse tensors under `handles` as rows of a sparse tensor; the session forgets the handles."""
    if np.ndim(handles) != 1:
        raise InvalidArgumentError(f"sparse_handles should be a vector, not of shape {Shape(np.shape(handles))}")
    if not handles.size:
        raise InvalidArgumentError("Must have at least 1 serialized SparseTensor, but input matrix has 0 rows")
    store = _map(ctx)
    with store:
        # Taken under the lock and checked outside of it: a tensor of another dtype has left the map, too.
        parts = [store.take(handle) for handle in handles.tolist()]
    for part in parts:
        if not is_of(part[1], dtype):
            raise InvalidArgumentError(f"Requested SparseTensor of type {dtype} but it holds {part[1].dtype}")
    return _stacked(parts, handles.shape)
