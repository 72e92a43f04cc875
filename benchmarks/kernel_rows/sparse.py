"""Sparse and ragged tensors, sets, crosses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .making import Row, draws, fixed, indices, ints, normal, one, row, sizes, words

_PLACES, _DIMS = indices(20000, 1000, 500), sizes(1000, 500)
_SPARSE = _PLACES, normal(20000), _DIMS
_OTHER = indices(20000, 1000, 500), normal(20000), _DIMS
_DENSE = normal(1000, 500)
_ZERO = one(0, np.float32)


def sparse_rows() -> Iterator[Row]:
    values = _SPARSE[1]
    yield row("SparseToDense", _PLACES, _DIMS, values, _ZERO)
    both = [[mine, other] for mine, other in zip(_SPARSE, _OTHER)]
    yield row("SparseConcat", *both, concat_dim=0)
    yield row("SparseConcat", *both, concat_dim=1, note="dim 1")
    shuffled = draws.permutation(20000)
    yield row("SparseReorder", _PLACES[shuffled], values, _DIMS)
    yield row("SparseReshape", _PLACES, _DIMS, sizes(500, -1))
    yield row("SparseSlice", *_SPARSE, sizes(100, 100), sizes(500, 300))
    yield row("SparseSplit", one(1, np.int64), *_SPARSE, num_split=4)
    yield row("SparseFillEmptyRows", indices(5000, 10000, 5), normal(5000), sizes(10000, 5), _ZERO)
    yield row("SparseFillEmptyRows", indices(6, 8, 5), normal(6), sizes(8, 5), _ZERO)
    yield row("SerializeSparse", *_SPARSE)
    yield row("SerializeManySparse", *_SPARSE)


def sparse_arithmetic_rows() -> Iterator[Row]:
    yield row("SparseAdd", *_SPARSE, *_OTHER, _ZERO)
    few = [(indices(10, 9, 9), normal(10), sizes(9, 9)) for _ in range(2)]
    yield row("SparseAdd", *few[0], *few[1], _ZERO)
    yield row("SparseAddGrad", normal(20000), _PLACES, _PLACES, _PLACES)
    for how in ("Add", "Mul", "Div"):
        yield row(f"SparseDenseCwise{how}", *_SPARSE, _DENSE)
    yield row("SparseTensorDenseAdd", *_SPARSE, _DENSE)
    yield row("SparseTensorDenseMatMul", *_SPARSE, normal(500, 32))
    yield row("SparseTensorDenseMatMul", *_SPARSE, normal(1000, 32), adjoint_a=True, note="adjoint")
    yield row("SparseMatMul", _DENSE * (_DENSE > 1), normal(500, 100), a_is_sparse=True)
    for how in ("Max", "Sum"):
        yield row(f"SparseReduce{how}", *_SPARSE, fixed(1))
        yield row(f"SparseReduce{how}Sparse", *_SPARSE, fixed(1))
    yield row("SparseSoftmax", *_SPARSE)
    for how in ("Maximum", "Minimum"):
        yield row(f"SparseSparse{how}", *_SPARSE, *_OTHER)


def set_rows() -> Iterator[Row]:
    dense, other = ints(50, 1000, 20, dtype=np.int64), ints(50, 1000, 20, dtype=np.int64)
    for how in ("intersection", "union", "a-b"):
        yield row("DenseToDenseSetOperation", dense, other, set_operation=how, note=how)
    sparse, others = ((places, ints(50, 20000, dtype=np.int64), _DIMS) for places in (_PLACES, _OTHER[0]))
    yield row("SparseToSparseSetOperation", *sparse, *others, set_operation="intersection")
    yield row("DenseToSparseSetOperation", dense, *sparse, set_operation="union")
    yield row("SetSize", *sparse)


def cross_rows() -> Iterator[Row]:
    def crossed(count: int) -> tuple[list[object], ...]:
        """A sparse and a dense column of words, in a thousand rows."""
        return [indices(count, 1000, 10)], [words(count)], [sizes(1000, 10)], [words(1000, 3)]

    hashed = {"hashed_output": True, "num_buckets": 100, "hash_key": 1}
    yield row("SparseCross", *crossed(5000), **hashed, out_type="int64", internal_type="string", note="hashed")
    yield row("SparseCrossV2", *crossed(2000), one(b"_X_", object))
    by_two = np.arange(0, 2001, 2)
    yield row(
        "RaggedCross",
        *([words(2000), words(2000)], [by_two, by_two], [], [], [], []),
        **hashed,
        input_order="RR",
        out_values_type="int64",
        out_row_splits_type="int64",
        ragged_values_types=["string", "string"],
        ragged_splits_types=["int64", "int64"],
        sparse_values_types=[],
        dense_types=[],
    )


def ragged_rows() -> Iterator[Row]:
    splits, flat = np.arange(0, 20001, 20, dtype=np.int64), normal(20000)
    row_ids = np.sort(ints(1000, 20000, dtype=np.int64))
    for note, parts in (
        ("", {"ROW_SPLITS": splits}),
        ("row ids", {"FIRST_DIM_SIZE": np.array(1000, np.int64), "VALUE_ROWIDS": row_ids}),
    ):
        given = sizes(-1, -1), flat, _ZERO, list(parts.values())
        yield row("RaggedTensorToTensor", *given, row_partition_types=list(parts), note=note)
    yield row("RaggedTensorToSparse", [splits], flat)
    yield row("RaggedGather", [splits], flat, ints(1000, 2000), OUTPUT_RAGGED_RANK=1)
    yield row("RaggedRange", ints(10, 5000), ints(10, 5000) + 10, np.ones(5000, np.int32))
    filled = np.sort(ints(1000, 5000, dtype=np.int64)), normal(5000)
    yield row("RaggedFillEmptyRows", *filled, one(1000, np.int64), _ZERO)
