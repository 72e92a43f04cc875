"""What moves, gathers and scatters, and sparse and ragged tensors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .making import IMAGES, Fixed, Row, draws, fixed, indices, ints, normal, one, row, words


def moving_rows() -> Iterator[Row]:
    large, cube = normal(300, 1000), normal(30, 100, 100)
    yield row("Transpose", large, fixed(1, 0))
    yield row("Transpose", cube, fixed(2, 0, 1))
    yield row("Transpose", normal(8, 64, 64, 16), fixed(0, 3, 1, 2))
    yield row("Transpose", ints(9, 300, 1000).astype(np.uint8), fixed(1, 0), note="uint8")
    yield row("Transpose", normal(2, 3), fixed(1, 0))
    yield row("ConcatV2", [large, large], one(0))
    yield row("ConcatV2", [large, large], one(1))
    yield row("ConcatV2", [large[:2, :3], large[:2, :3]], one(1))
    yield row("Split", one(1), large, num_split=4)
    yield row("SplitV", large, fixed(100, 300, 600), one(1), num_split=3)
    yield row("Pack", [large, large], axis=1)
    yield row("Unpack", large, num=300, axis=0)
    yield row("Unpack", cube, num=100, axis=2)
    yield row("Tile", large, fixed(2, 3))
    yield row("Tile", cube, fixed(1, 1, 3))
    yield row("Pad", large, Fixed(np.array([[1, 1], [2, 2]])))
    yield row("MirrorPad", IMAGES, Fixed(np.array([[0, 0], [3, 3], [3, 3], [0, 0]])), mode="REFLECT")
    yield row("MirrorPadGrad", IMAGES, Fixed(np.array([[0, 0], [3, 3], [3, 3], [0, 0]])), mode="REFLECT")
    yield row("Slice", large, fixed(10, 10), fixed(200, 500))
    yield row("StridedSlice", large, fixed(0, 0), fixed(300, 1000), fixed(2, 3))
    yield row("StridedSliceGrad", fixed(300, 1000), fixed(0, 0), fixed(300, 1000), fixed(2, 4), normal(150, 250))
    yield row("TensorStridedSliceUpdate", large, fixed(0, 0), fixed(300, 1000), fixed(2, 4), normal(150, 250))
    yield row("ReverseV2", large, fixed(1))
    yield row("ReverseV2", IMAGES, fixed(1, 2))
    yield row("ReverseSequence", normal(50, 100, 60), ints(100, 50, dtype=np.int64), seq_dim=1, batch_dim=0)
    yield row("ReverseSequence", normal(100, 50, 60), ints(100, 50, dtype=np.int64), seq_dim=0, batch_dim=1, note="time first")
    yield row("Roll", large, fixed(10, -20), fixed(0, 1))
    yield row("BroadcastTo", large[:1], fixed(300, 1000))
    yield row("Fill", fixed(300, 1000), np.float32(1) * np.ones((), np.float32))
    yield row("OneHot", ints(100, 10000), one(100), one(1, np.float32), one(0, np.float32))
    yield row("OneHot", ints(100, 10000), one(100), one(1, np.float32), one(0, np.float32), axis=0, note="axis 0")
    yield row("OneHot", ints(10, 8), one(10), one(1, np.float32), one(0, np.float32))
    yield row("MatrixBandPart", normal(10, 200, 200), one(2, np.int64), one(3, np.int64))
    yield row("MatrixDiagV3", normal(50, 100), one(0), one(-1), one(-1), one(0, np.float32))
    yield row("MatrixDiagV3", normal(50, 3, 100), fixed(-1, 1), one(-1), one(-1), one(0, np.float32), note="bands")
    yield row("MatrixDiagPartV3", normal(50, 100, 100), one(0), one(0, np.float32))
    yield row("MatrixDiagPartV3", normal(50, 100, 100), fixed(-2, 2), one(0, np.float32), note="bands")
    yield row("MatrixSetDiagV3", normal(50, 100, 100), normal(50, 100), one(0))
    yield row("MatrixSetDiagV3", normal(50, 100, 100), normal(50, 3, 100), fixed(-1, 1), note="bands")
    yield row("Diag", normal(500))
    yield row("DiagPart", normal(500, 500))
    yield row("SpaceToBatchND", IMAGES, fixed(2, 2), Fixed(np.array([[0, 0], [0, 0]])))
    yield row("BatchToSpaceND", IMAGES, fixed(2, 2), Fixed(np.array([[0, 0], [0, 0]])))
    yield row("DepthToSpace", normal(4, 64, 64, 16), block_size=2)
    yield row("SpaceToDepth", normal(4, 64, 64, 16), block_size=2)
    yield row("GatherV2", large, ints(300, 1000), one(0))
    yield row("GatherV2", large, ints(1000, 1000), one(1), note="axis 1")
    yield row("GatherV2", normal(16, 100, 64), ints(100, 16, 50), one(1), batch_dims=1, note="batched")
    yield row("GatherV2", normal(100000), ints(100000, 100000), one(0))
    yield row("GatherV2", words(1000), ints(1000, 10000), one(0), note="string")
    yield row("GatherNd", large, ints(300, 50000, 2))
    yield row("GatherNd", normal(300, 300, 16), ints(300, 5000, 2))
    yield row("GatherNd", normal(10, 10), ints(10, 4, 2))
    yield row("ScatterNd", ints(300, 10000, 1), normal(10000, 16), fixed(300, 16))
    yield row("ScatterNd", ints(300, 50000, 2), normal(50000), fixed(300, 300))
    for how in ("Add", "Update", "Max", "Min", "Sub"):
        yield row(f"TensorScatter{how}", large, ints(300, 500, 1), normal(500, 1000))
        yield row(f"TensorScatter{how}", large, ints(300, 50000, 2), normal(50000))
    yield row("TensorScatterUpdate", normal(10), ints(10, 3, 1), normal(3))
    yield row("DynamicPartition", large, ints(4, 300), num_partitions=4)
    yield row("DynamicPartition", normal(100000), ints(4, 100000), num_partitions=4)
    yield row("DynamicStitch", [np.arange(0, 600, 2, dtype=np.int32), np.arange(1, 600, 2, dtype=np.int32)], [large, large])
    yield row("InvertPermutation", draws.permutation(100000).astype(np.int32))
    yield row("Where", large > 0)
    yield row("Where", large > 2.5, note="few")
    yield row("Where", normal(100000) > 0)
    yield row("Where", normal(10) > 0)
    yield row("UnravelIndex", ints(300000, 10000), fixed(300, 1000))
    yield row("Range", *(np.array(v, np.float32) for v in (0, 100000, 1)))
    yield row("LinSpace", np.array(0, np.float32), np.array(1, np.float32), one(100000))
    yield row("BroadcastArgs", np.array([3, 1]), np.array([4]))
    yield row("RandomIndexShuffle", ints(9, 1000), np.array([1, 2, 3], np.uint32), np.array(1000, np.int32))
    for how in ("Max", "Mean", "Min", "Prod", "Sum"):
        yield row(f"Segment{how}", normal(10000, 30), np.sort(ints(500, 10000)))
        yield row(f"Segment{how}", normal(100000), np.sort(ints(500, 100000)))
    for how in ("Max", "Min", "Prod", "Sum"):
        yield row(f"UnsortedSegment{how}", normal(10000, 30), ints(500, 10000), one(500))
        yield row(f"UnsortedSegment{how}", normal(100000), ints(500, 100000), one(500))
    yield row("UnsortedSegmentSum", normal(10), ints(3, 10), one(3))
    for how in ("Mean", "SqrtN", "Sum"):
        yield row(f"SparseSegment{how}", normal(1000, 30), ints(1000, 10000), np.sort(ints(500, 10000)))
        yield row(f"SparseSegment{how}Grad", normal(500, 30), ints(1000, 10000), np.sort(ints(500, 10000)), one(1000))


def sparse_rows() -> Iterator[Row]:
    places, values, dims = indices(20000, 1000, 500), normal(20000), fixed(1000, 500, dtype=np.int64)
    other = indices(20000, 1000, 500), normal(20000), dims
    sparse = (places, values, dims)
    dense = normal(1000, 500)
    yield row("SparseToDense", places, dims, values, one(0, np.float32))
    yield row("SparseAdd", *sparse, *other, one(0, np.float32))
    yield row(
        "SparseAdd",
        indices(10, 9, 9),
        normal(10),
        fixed(9, 9, dtype=np.int64),
        indices(10, 9, 9),
        normal(10),
        fixed(9, 9, dtype=np.int64),
        one(0, np.float32),
    )
    yield row("SparseAddGrad", normal(20000), places, places, places)
    yield row("SparseConcat", [places, other[0]], [values, other[1]], [dims, dims], concat_dim=0)
    yield row("SparseConcat", [places, other[0]], [values, other[1]], [dims, dims], concat_dim=1, note="dim 1")
    for how in ("Add", "Mul", "Div"):
        yield row(f"SparseDenseCwise{how}", *sparse, dense)
    yield row("SparseTensorDenseAdd", *sparse, dense)
    yield row("SparseTensorDenseMatMul", *sparse, normal(500, 32))
    yield row("SparseTensorDenseMatMul", *sparse, normal(1000, 32), adjoint_a=True, note="adjoint")
    for how in ("Max", "Sum"):
        yield row(f"SparseReduce{how}", *sparse, fixed(1))
        yield row(f"SparseReduce{how}Sparse", *sparse, fixed(1))
    shuffled = draws.permutation(20000)
    yield row("SparseReorder", places[shuffled], values, dims)
    yield row("SparseReshape", places, dims, fixed(500, -1, dtype=np.int64))
    yield row("SparseSlice", *sparse, fixed(100, 100, dtype=np.int64), fixed(500, 300, dtype=np.int64))
    yield row("SparseSplit", one(1, np.int64), *sparse, num_split=4)
    yield row("SparseSoftmax", *sparse)
    for how in ("Maximum", "Minimum"):
        yield row(f"SparseSparse{how}", *sparse, *other)
    yield row(
        "SparseFillEmptyRows", indices(5000, 10000, 5), normal(5000), fixed(10000, 5, dtype=np.int64), one(0, np.float32)
    )
    yield row("SparseFillEmptyRows", indices(6, 8, 5), normal(6), fixed(8, 5, dtype=np.int64), one(0, np.float32))
    yield row("SparseMatMul", dense * (dense > 1), normal(500, 100), a_is_sparse=True)
    yield row("SerializeSparse", *sparse)
    yield row("SerializeManySparse", *sparse)
    sets = ints(50, 1000, 20, dtype=np.int64), ints(50, 1000, 20, dtype=np.int64)
    for how in ("intersection", "union", "a-b"):
        yield row("DenseToDenseSetOperation", *sets, set_operation=how, note=how)
    whole = places, ints(50, 20000, dtype=np.int64), dims
    yield row(
        "SparseToSparseSetOperation", *whole, other[0], ints(50, 20000, dtype=np.int64), dims, set_operation="intersection"
    )
    yield row("DenseToSparseSetOperation", sets[0], *whole, set_operation="union")
    yield row("SetSize", *whole)
    yield row(
        "SparseCross",
        [indices(5000, 1000, 10)],
        [words(5000)],
        [fixed(1000, 10, dtype=np.int64)],
        [words(1000, 3)],
        hashed_output=True,
        num_buckets=100,
        hash_key=1,
        out_type="int64",
        internal_type="string",
        note="hashed",
    )
    yield row(
        "SparseCrossV2",
        [indices(2000, 1000, 10)],
        [words(2000)],
        [fixed(1000, 10, dtype=np.int64)],
        [words(1000, 3)],
        one(b"_X_", object),
    )
    splits, flat = np.arange(0, 20001, 20, dtype=np.int64), normal(20000)
    yield row(
        "RaggedTensorToTensor",
        fixed(-1, -1, dtype=np.int64),
        flat,
        one(0, np.float32),
        [splits],
        row_partition_types=["ROW_SPLITS"],
    )
    yield row(
        "RaggedTensorToTensor",
        fixed(-1, -1, dtype=np.int64),
        flat,
        one(0, np.float32),
        [np.array(1000, np.int64), np.sort(ints(1000, 20000, dtype=np.int64))],
        row_partition_types=["FIRST_DIM_SIZE", "VALUE_ROWIDS"],
        note="row ids",
    )
    yield row("RaggedTensorToSparse", [splits], flat)
    yield row("RaggedGather", [splits], flat, ints(1000, 2000), OUTPUT_RAGGED_RANK=1)
    yield row("RaggedRange", ints(10, 5000), ints(10, 5000) + 10, np.ones(5000, np.int32))
    yield row(
        "RaggedFillEmptyRows", np.sort(ints(1000, 5000, dtype=np.int64)), normal(5000), one(1000, np.int64), one(0, np.float32)
    )
    crossed = {
        "input_order": "RR",
        "hashed_output": True,
        "num_buckets": 100,
        "hash_key": 1,
        "out_values_type": "int64",
        "out_row_splits_type": "int64",
        "ragged_values_types": ["string", "string"],
        "ragged_splits_types": ["int64", "int64"],
        "sparse_values_types": [],
        "dense_types": [],
    }
    by_two = np.arange(0, 2001, 2)
    yield row("RaggedCross", [words(2000), words(2000)], [by_two, by_two], [], [], [], [], **crossed)
