"""Crosses of features: every combination of a feature from each column, joined as text or hashed."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...codecs.hashes import farm_fingerprint64, fingerprint_cat64, sip_hash
from ...registry.registry import kernel, shape
from ...support import dataclasses
from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import Shape, TensorSpec

_SEPARATOR = b"_X_"
_LARGEST = 2**63 - 1


@dataclasses.dataclass(frozen=True)
class _Column:
    """The features of all rows, concatenated; row b has `counts[b]` features from `starts[b]` on."""

    values: np.ndarray
    starts: np.ndarray
    counts: np.ndarray
    is_dense: bool = False


class CrossedColumns(NamedTuple):
    """The crossed columns: sparse matrices by their parts, and dense columns."""

    indices: list[Array]
    values: list[Array]
    shapes: list[Array]
    dense: list[Array]


def _columns(inputs: CrossedColumns) -> tuple[Any, Any]:
    """Return the columns of sparse and dense inputs, and the number of rows; InvalidArgumentError where they do not fit."""
    indices, values, shapes, dense = inputs
    if not len(indices) == len(values) == len(shapes):
        raise InvalidArgumentError(f"{len(indices)} indices do not fit {len(values)} values and {len(shapes)} shapes")
    for i, (index, value, dims) in enumerate(zip(indices, values, shapes)):
        if np.ndim(index) != 2 or index.shape[1] != 2:
            raise InvalidArgumentError(f"indices should have 2 columns, not the shape {Shape(np.shape(index))} (input {i})")
        if np.shape(value) != (len(index),) or np.shape(dims) != (2,):
            raise InvalidArgumentError(f"values {np.shape(value)} and shape {np.shape(dims)} do not fit at position {i}")
    for i, matrix in enumerate(dense):
        if np.ndim(matrix) != 2:
            raise InvalidArgumentError(f"Dense inputs should be matrices, not {Shape(np.shape(matrix))} at position {i}")
    sizes = [int(dims[0]) for dims in shapes] + [len(matrix) for matrix in dense]
    rows = sizes[0] if sizes else 0
    if any(size != rows for size in sizes) or rows < 0:
        raise InvalidArgumentError(f"the inputs have different batch sizes: {sizes}")
    return [_sparse_column(i, v, rows) for i, v in zip(indices, values)] + [_dense_column(m) for m in dense], rows


def _sparse_column(indices: Array, values: Array, rows: int) -> _Column:
    first = indices[:, 0]
    if first.size and (first.min() < 0 or first.max() >= rows or np.any(first[1:] < first[:-1])):
        raise InvalidArgumentError(f"the rows {first.tolist()[:10]} of a sparse input are not in order or not below {rows}")
    # The rows are in order, so each row's features lie together.
    counts = np.bincount(first, minlength=rows)
    return _Column(values, np.cumsum(counts) - counts, counts)


def _dense_column(matrix: Array) -> _Column:
    rows, width = matrix.shape
    return _Column(matrix.ravel(), np.arange(rows) * width, np.full(rows, width), is_dense=True)


def _combinations(columns: list[_Column], rows: int) -> tuple[Any, Any, Any, Any]:
    """Return (row of each cross, number of the cross in its row, for each column the places of its features)."""
    # A row without a feature in one column has no crosses at all.
    totals = math.prod((c.counts for c in columns), start=np.ones(rows, np.int64)) if columns else np.zeros(rows, np.int64)
    batch = np.repeat(np.arange(rows), totals)
    number = np.arange(batch.size) - np.repeat(np.cumsum(totals) - totals, totals)
    places = []
    rest = number
    # The number of a cross counts through the columns, the last fastest.
    for column in reversed(columns):
        count = column.counts[batch]
        places.append(column.starts[batch] + rest % count)
        rest = rest // count
    return batch, number, totals, places[::-1]


def _joined(separator: bytes, columns: list[_Column], places: list[Array]) -> Array:
    """Return the features of each cross joined as text."""
    features = [c.values if c.values.dtype == object else [b"%d" % v for v in c.values.tolist()] for c in columns]
    parts = [[texts[i] for i in place.tolist()] for texts, place in zip(features, places)]
    result = np.empty(len(places[0]) if places else 0, object)
    result[:] = [separator.join(cross) for cross in zip(*parts)]
    return result


def _fingerprints(column: _Column) -> Array:
    """Strings by FarmHash, integers as they are."""
    if column.values.dtype == object:
        return farm_fingerprint64(column.values.tolist())
    return column.values.astype(np.int64).view(np.uint64)


def _salted_fingerprints(column: _Column, is_strong: bool, salt: tuple[int, int]) -> Array:
    """Hash as SparseCrossHashed does: sparse integers by their low four bytes, dense integers whole. A strong hash of dense
    integers is refused: TensorFlow crashes.
    """
    if column.values.dtype != object:
        if column.is_dense and is_strong:
            raise InvalidArgumentError("dense integers cannot be hashed strongly")
        if column.is_dense:
            return _fingerprints(column)
        # TensorFlow hashes only the low four bytes here, and the buckets of trained models depend on it.
        texts = [v.to_bytes(8, "little", signed=True)[:4] for v in column.values.tolist()]
    else:
        texts = column.values.tolist()
    return sip_hash(texts, salt) if is_strong else farm_fingerprint64(texts)


def _hashed(
    print_of: Callable[[_Column], Array], start: int | None, num_buckets: int, columns: list[_Column], places: list[Array]
) -> Array:
    """Return the fingerprints of each cross chained, as a bucket number."""
    count = len(places[0]) if places else 0
    result = None if start is None else np.full(count, start, np.uint64)
    for column, place in zip(columns, places):
        taken = print_of(column)[place]
        # Chained from the left: crosses of the same features in another order have other hashes.
        result = taken if result is None else fingerprint_cat64(result, taken)
    if result is None:
        return np.zeros(0, np.int64)
    # Without buckets, a hash within the positive int64.
    return (result % np.uint64(num_buckets if num_buckets > 0 else _LARGEST)).astype(np.int64)


def _sparse_result(
    inputs: CrossedColumns, values_of: Callable[[list[_Column], list[Array]], Array]
) -> tuple[Result, Result, Result]:
    """Return the crosses of sparse and dense columns as a sparse matrix of values."""
    columns, rows = _columns(inputs)
    batch, number, totals, places = _combinations(columns, rows)
    largest = int(totals.max()) if totals.size else 0
    return np.column_stack([batch, number]), values_of(columns, places), np.array([rows, largest], np.int64)


class _Output(NamedTuple):
    """The attributes for the values of crosses: text, or a hash in `num_buckets`."""

    hashed_output: bool
    num_buckets: int
    hash_key: int

    def values_of(self, dtype: DType) -> Callable[[list[_Column], list[Array]], Array]:
        """Return the function that makes values of `dtype`; InvalidArgumentError for a dtype of the other kind."""
        if (dtype is dtypes.string) == self.hashed_output:
            raise InvalidArgumentError(f"a {'hash' if self.hashed_output else 'text'} cannot be of dtype {dtype}")
        if self.hashed_output:
            return functools.partial(_hashed, _fingerprints, self.hash_key % 2**64, self.num_buckets)
        return functools.partial(_joined, _SEPARATOR)


@kernel("SparseCross", shape="* -> k 2, k, 2", arithmetic=False)
def sparse_cross(
    inputs: CrossedColumns, *, output: _Output, internal_type: DType, out_type: DType
) -> tuple[Result, Result, Result]:
    """Crosses as text or as a hash in `num_buckets`, in a sparse matrix."""
    values_of = output.values_of(out_type)
    if internal_type is dtypes.string and any(v.dtype != object for v in (*inputs.values, *inputs.dense)):
        raise InvalidArgumentError("Input values should be of internal type string but received int64")
    return _sparse_result(inputs, values_of)


@kernel("SparseCrossV2", shape="* -> k 2, k, 2", arithmetic=False)
def sparse_cross_v2(inputs: CrossedColumns, separator: Array) -> tuple[Result, Result, Result]:
    """Crosses as text joined by `separator`."""
    if np.ndim(separator) != 0:
        raise InvalidArgumentError(f"Input separator should be a scalar, not of shape {Shape(np.shape(separator))}")
    return _sparse_result(inputs, functools.partial(_joined, separator.item()))


@kernel("SparseCrossHashed", shape="* -> k 2, k, 2", arithmetic=False)
def sparse_cross_hashed(
    inputs: CrossedColumns, num_buckets: Array, strong_hash: Array, salt: Array
) -> tuple[Result, Result, Result]:
    """Crosses as hashes in `num_buckets`."""
    if np.ndim(num_buckets) != 0 or np.ndim(strong_hash) != 0 or np.shape(salt) != (2,):
        raise InvalidArgumentError(f"num_buckets and strong_hash must be scalars, salt of 2 numbers: {np.shape(salt)}")
    key = tuple(s % 2**64 for s in salt.tolist())
    print_of = functools.partial(_salted_fingerprints, is_strong=bool(strong_hash), salt=key)
    return _sparse_result(inputs, functools.partial(_hashed, print_of, None, int(num_buckets)))


@kernel("RaggedCross", arithmetic=False)
def ragged_cross(
    ragged_values: list[Array],
    ragged_splits: list[Array],
    inputs: CrossedColumns,
    *,
    input_order: str,
    output: _Output,
    out_values_type: DType,
    out_row_splits_type: DType,
) -> tuple[Result, Result]:
    """Crosses of ragged, sparse and dense columns in the order that `input_order` (R, S, D) gives, as a ragged matrix."""
    if len(input_order) != len(ragged_values) + len(inputs.values) + len(inputs.dense):
        raise InvalidArgumentError(f"Invalid length for input_order '{input_order}'")
    values_of = output.values_of(out_values_type)
    if any(splits.dtype != out_row_splits_type.numpy for splits in ragged_splits):
        raise InvalidArgumentError(f"row splits must be {out_row_splits_type}, like the row splits of the result")
    others, rows = _columns(inputs)
    # If all columns are ragged, only they know the number of rows.
    if ragged_splits and not others:
        rows = np.size(ragged_splits[0]) - 1
    columns = {
        "R": [_ragged_column(v, s, rows) for v, s in zip(ragged_values, ragged_splits)],
        "S": others[: len(inputs.values)],
        "D": others[len(inputs.values) :],
    }
    if any(input_order.count(kind) != len(values_of_kind) for kind, values_of_kind in columns.items()):
        raise InvalidArgumentError(f"input_order '{input_order}' does not match the inputs")
    waiting = {kind: iter(values_of_kind) for kind, values_of_kind in columns.items()}
    ordered = [next(waiting[kind]) for kind in input_order]
    _, _, totals, places = _combinations(ordered, rows)
    splits = np.concatenate([[0], np.cumsum(totals)]).astype(out_row_splits_type.numpy)
    return values_of(ordered, places), splits


def _ragged_column(values: Array, splits: Array, rows: int) -> _Column:
    if np.ndim(values) != 1 or np.ndim(splits) != 1:
        raise InvalidArgumentError("tf.ragged.cross only supports inputs with rank=2.")
    fits = splits.size == rows + 1 >= 1 and splits[0] == 0 and splits[-1] == values.size
    if not fits or np.any(splits[1:] < splits[:-1]):
        raise InvalidArgumentError(f"row splits {splits.tolist()[:10]} do not divide {values.size} values into {rows} rows")
    return _Column(values, splits[:-1].astype(np.int64), np.diff(splits).astype(np.int64))


@shape("RaggedCross")
def ragged_cross_shape(
    ragged_values: list[TensorSpec], ragged_splits: list[TensorSpec], *sparse_and_dense: list[TensorSpec]
) -> tuple[Shape, Shape]:
    dense = sparse_and_dense[-1]
    rows = None
    if ragged_splits and ragged_splits[0].rank == 1:
        rows = ragged_splits[0].shape[0]
    elif dense and dense[0].rank == 2:
        rows = dense[0].shape[0] + 1
    return Shape([None]), Shape([rows])
