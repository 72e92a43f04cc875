"""Ops that move elements: rearrange, create, gather, scatter, and sum by segments."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .making import IMAGES, Fixed, Row, draws, fixed, ints, normal, one, row, words

_LARGE, _CUBE = normal(300, 1000), normal(30, 100, 100)


def rearranging_rows() -> Iterator[Row]:
    yield row("Transpose", _LARGE, fixed(1, 0))
    yield row("Transpose", _CUBE, fixed(2, 0, 1))
    yield row("Transpose", normal(8, 64, 64, 16), fixed(0, 3, 1, 2))
    yield row("Transpose", ints(9, 300, 1000).astype(np.uint8), fixed(1, 0), note="uint8")
    yield row("Transpose", normal(2, 3), fixed(1, 0))
    yield row("ReverseV2", _LARGE, fixed(1))
    yield row("ReverseV2", IMAGES, fixed(1, 2))
    yield row("ReverseSequence", normal(50, 100, 60), ints(100, 50, dtype=np.int64), seq_dim=1, batch_dim=0)
    yield row("ReverseSequence", normal(100, 50, 60), ints(100, 50, dtype=np.int64), seq_dim=0, batch_dim=1, note="time first")
    yield row("Roll", _LARGE, fixed(10, -20), fixed(0, 1))
    yield row("InvertPermutation", draws.permutation(100000).astype(np.int32))
    yield row("RandomIndexShuffle", ints(9, 1000), np.array([1, 2, 3], np.uint32), np.array(1000, np.int32))
    unpadded = Fixed(np.array([[0, 0], [0, 0]]))
    yield row("SpaceToBatchND", IMAGES, fixed(2, 2), unpadded)
    yield row("BatchToSpaceND", IMAGES, fixed(2, 2), unpadded)
    yield row("DepthToSpace", normal(4, 64, 64, 16), block_size=2)
    yield row("SpaceToDepth", normal(4, 64, 64, 16), block_size=2)


def joining_rows() -> Iterator[Row]:
    yield row("ConcatV2", [_LARGE, _LARGE], one(0))
    yield row("ConcatV2", [_LARGE, _LARGE], one(1))
    yield row("ConcatV2", [_LARGE[:2, :3], _LARGE[:2, :3]], one(1))
    yield row("Split", one(1), _LARGE, num_split=4)
    yield row("SplitV", _LARGE, fixed(100, 300, 600), one(1), num_split=3)
    yield row("Pack", [_LARGE, _LARGE], axis=1)
    yield row("Unpack", _LARGE, num=300, axis=0)
    yield row("Unpack", _CUBE, num=100, axis=2)
    yield row("Tile", _LARGE, fixed(2, 3))
    yield row("Tile", _CUBE, fixed(1, 1, 3))
    yield row("DynamicPartition", _LARGE, ints(4, 300), num_partitions=4)
    yield row("DynamicPartition", normal(100000), ints(4, 100000), num_partitions=4)
    every_other = [np.arange(first, 600, 2, dtype=np.int32) for first in range(2)]
    yield row("DynamicStitch", every_other, [_LARGE, _LARGE])


def slicing_rows() -> Iterator[Row]:
    yield row("Pad", _LARGE, Fixed(np.array([[1, 1], [2, 2]])))
    around = Fixed(np.array([[0, 0], [3, 3], [3, 3], [0, 0]]))
    yield row("MirrorPad", IMAGES, around, mode="REFLECT")
    yield row("MirrorPadGrad", IMAGES, around, mode="REFLECT")
    yield row("Slice", _LARGE, fixed(10, 10), fixed(200, 500))
    first, last = fixed(0, 0), fixed(300, 1000)
    yield row("StridedSlice", _LARGE, first, last, fixed(2, 3))
    yield row("StridedSliceGrad", last, first, last, fixed(2, 4), normal(150, 250))
    yield row("TensorStridedSliceUpdate", _LARGE, first, last, fixed(2, 4), normal(150, 250))


def making_rows() -> Iterator[Row]:
    yield row("BroadcastTo", _LARGE[:1], fixed(300, 1000))
    yield row("BroadcastArgs", np.array([3, 1]), np.array([4]))
    yield row("Fill", fixed(300, 1000), np.array(1, np.float32))
    values = one(1, np.float32), one(0, np.float32)
    yield row("OneHot", ints(100, 10000), one(100), *values)
    yield row("OneHot", ints(100, 10000), one(100), *values, axis=0, note="axis 0")
    yield row("OneHot", ints(10, 8), one(10), *values)
    yield row("Range", *(np.array(v, np.float32) for v in (0, 100000, 1)))
    yield row("LinSpace", np.array(0, np.float32), np.array(1, np.float32), one(100000))


def diagonal_rows() -> Iterator[Row]:
    bands, zero, unknown = fixed(-1, 1), one(0, np.float32), one(-1)
    yield row("MatrixBandPart", normal(10, 200, 200), one(2, np.int64), one(3, np.int64))
    yield row("MatrixDiagV3", normal(50, 100), one(0), unknown, unknown, zero)
    yield row("MatrixDiagV3", normal(50, 3, 100), bands, unknown, unknown, zero, note="bands")
    yield row("MatrixDiagPartV3", normal(50, 100, 100), one(0), zero)
    yield row("MatrixDiagPartV3", normal(50, 100, 100), fixed(-2, 2), zero, note="bands")
    yield row("MatrixSetDiagV3", normal(50, 100, 100), normal(50, 100), one(0))
    yield row("MatrixSetDiagV3", normal(50, 100, 100), normal(50, 3, 100), bands, note="bands")
    yield row("Diag", normal(500))
    yield row("DiagPart", normal(500, 500))


def gathering_rows() -> Iterator[Row]:
    yield row("GatherV2", _LARGE, ints(300, 1000), one(0))
    yield row("GatherV2", _LARGE, ints(1000, 1000), one(1), note="axis 1")
    yield row("GatherV2", normal(16, 100, 64), ints(100, 16, 50), one(1), batch_dims=1, note="batched")
    yield row("GatherV2", normal(100000), ints(100000, 100000), one(0))
    yield row("GatherV2", words(1000), ints(1000, 10000), one(0), note="string")
    yield row("GatherNd", _LARGE, ints(300, 50000, 2))
    yield row("GatherNd", normal(300, 300, 16), ints(300, 5000, 2))
    yield row("GatherNd", normal(10, 10), ints(10, 4, 2))
    yield row("Where", _LARGE > 0)
    yield row("Where", _LARGE > 2.5, note="few")
    yield row("Where", normal(100000) > 0)
    yield row("Where", normal(10) > 0)
    yield row("UnravelIndex", ints(300000, 10000), fixed(300, 1000))


def scattering_rows() -> Iterator[Row]:
    yield row("ScatterNd", ints(300, 10000, 1), normal(10000, 16), fixed(300, 16))
    yield row("ScatterNd", ints(300, 50000, 2), normal(50000), fixed(300, 300))
    for how in ("Add", "Update", "Max", "Min", "Sub"):
        yield row(f"TensorScatter{how}", _LARGE, ints(300, 500, 1), normal(500, 1000))
        yield row(f"TensorScatter{how}", _LARGE, ints(300, 50000, 2), normal(50000))
    yield row("TensorScatterUpdate", normal(10), ints(10, 3, 1), normal(3))


def segment_rows() -> Iterator[Row]:
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
