"""Results, and what is held in between, of more bytes than there are."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.security.bombs.building import HUGE, MOST, Bomb, ints, texts, view
from tfg import GraphBuilder
from tfg.core.graph.graph import Output
from tfg.core.types.tensors import Tensor
from tfg.formats.codecs.tensor_proto import decode_tensor
from tfg.formats.protos.graph_pb2 import TensorProto, TensorShapeProto


def _random(op: str, **attrs: Any) -> Bomb:
    return lambda g: g.apply(op, ints(g, 1 << 40), **attrs)


def _splat(size: int, *values: float) -> Tensor:
    """A constant of which a file holds the first elements, of which the last stands for the others."""
    shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=size)])
    return decode_tensor(TensorProto(dtype=1, tensor_shape=shape, float_val=values or [1]))


def _resize(op: str, *size: int, **attrs: Any) -> Bomb:
    return lambda g: g.apply(op, view(g, 1, 2, 2, 1), ints(g, *size), **attrs)


def _tensor_array(g: GraphBuilder) -> Output:
    handle, flow = g.TensorArrayV3(g.constant(np.int32(MOST)), dtype="float32", element_shape=[1])
    return g.TensorArrayGatherV3(handle, ints(g, 0), flow, dtype="float32", element_shape=[1])


SIZES: dict[str, Bomb] = {
    "Fill": lambda g: g.Fill(ints(g, HUGE), g.constant(1.0)),
    "Fill beyond addresses": lambda g: g.Fill(ints(g, 1 << 62, 4), g.constant(1.0)),
    "Fill of strings": lambda g: texts(g, HUGE, b"a"),
    "Tile": lambda g: g.Tile(view(g, 4), ints(g, HUGE)),
    "Pad": lambda g: g.Pad(view(g, 4), g.constant(np.array([[0, HUGE]]))),
    "PadV2 of nothing": lambda g: g.PadV2(view(g, 0), g.constant(np.array([[HUGE, HUGE]])), g.constant(np.float32(1))),
    "MirrorPad": lambda g: g.MirrorPad(view(g, 1 << 34), g.constant(np.array([[1 << 33, 1 << 33]])), mode="SYMMETRIC"),
    "Range of floats": lambda g: g.Range(g.constant(0.0), g.constant(1e30), g.constant(1e-30)),
    "Range of int64": lambda g: g.Range(*(g.constant(np.int64(n)) for n in (0, 1 << 50, 1))),
    "Range of int32": lambda g: g.Range(*(g.constant(np.int32(n)) for n in (0, MOST, 1))),
    "LinSpace": lambda g: g.LinSpace(g.constant(0.0), g.constant(1.0), g.constant(np.int32(MOST))),
    "OneHot": lambda g: g.OneHot(ints(g, *range(100)), g.constant(np.int32(MOST)), g.constant(1.0), g.constant(0.0)),
    "Gather": lambda g: g.GatherV2(view(g, 4), view(g, HUGE, value=np.int32(1)), g.constant(np.int32(0))),
    "GatherNd": lambda g: g.GatherNd(view(g, 4), view(g, HUGE, 1, value=np.int32(1))),
    "ScatterNd": lambda g: g.ScatterNd(g.constant(np.array([[0]])), view(g, 1), g.constant(np.array([HUGE]))),
    "SparseToDense": lambda g: g.SparseToDense(
        ints(g, 1), g.constant(np.array([MOST], np.int32)), view(g, 1), g.constant(np.float32(0))
    ),
    "SparseFillEmptyRows": lambda g: g.SparseFillEmptyRows(
        g.constant(np.array([[0, 0]])), view(g, 1), g.constant(np.array([HUGE, 1])), g.constant(np.float32(0))
    )[1],
    "SparseTensorDenseMatMul": lambda g: g.SparseTensorDenseMatMul(
        g.constant(np.array([[0, 0]])), view(g, 1), g.constant(np.array([HUGE, 1])), view(g, 1, 1)
    ),
    "SparseReduceSum": lambda g: g.SparseReduceSum(
        g.constant(np.array([[0, 0]])), view(g, 1), g.constant(np.array([HUGE, 2])), ints(g, 1)
    ),
    "SparseSegmentSum": lambda g: g.SparseSegmentSumWithNumSegments(view(g, 1, 1), ints(g, 0), ints(g, 0), ints(g, HUGE)),
    "SparseDenseCwiseAdd": lambda g: g.SparseDenseCwiseAdd(
        g.constant(np.array([[0, 0]])), view(g, 1), g.constant(np.array([1 << 20, 1 << 20])), view(g, 1)
    ),
    "SparseBincount": lambda g: g.SparseBincount(
        g.constant(np.array([[0]])), ints(g, 1), g.constant(np.array([1])), g.constant(np.int32(MOST)), view(g, 0)
    ),
    "Bincount": lambda g: g.Bincount(ints(g, 1), g.constant(np.int32(MOST)), view(g, 0)),
    "DenseBincount": lambda g: g.DenseBincount(ints(g, 1), g.constant(np.int32(MOST)), view(g, 0)),
    "HistogramFixedWidth": lambda g: g.HistogramFixedWidth(
        view(g, 1), g.constant(np.array([0, 1], np.float32)), g.constant(np.int32(MOST))
    ),
    "UnsortedSegmentSum": lambda g: g.UnsortedSegmentSum(view(g, 1), ints(g, 0), g.constant(np.int64(HUGE))),
    "SegmentSum": lambda g: g.SegmentSum(view(g, 1), ints(g, MOST)),
    "MatrixDiag": lambda g: g.MatrixDiag(view(g, 1 << 20)),
    "MatrixDiagV3": lambda g: g.MatrixDiagV3(
        view(g, 1), *(g.constant(np.int32(n)) for n in (0, MOST, MOST)), g.constant(np.float32(0))
    ),
    "Diag": lambda g: g.Diag(view(g, 1 << 20)),
    "RaggedRange": lambda g: g.RaggedRange(g.constant(np.int64(0)), g.constant(np.int64(HUGE)), g.constant(np.int64(1)))[1],
    "RaggedRange of floats": lambda g: g.RaggedRange(g.constant(0.0), g.constant(1e30), g.constant(1e-30))[1],
    "RaggedTensorToTensor": lambda g: g.RaggedTensorToTensor(
        g.constant(np.array([1, HUGE])),
        view(g, 1),
        g.constant(np.float32(0)),
        [g.constant(np.array([0, 1]))],
        row_partition_types=[b"ROW_SPLITS"],
    ),
    "TensorListReserve": lambda g: g.TensorListStack(
        g.TensorListReserve(ints(g, 1), g.constant(np.int32(MOST)), element_dtype="float32"),
        ints(g, 1),
        element_dtype="float32",
    ),
    "TensorListResize": lambda g: g.TensorListLength(
        g.TensorListResize(
            g.EmptyTensorList(ints(g, 1), g.constant(np.int32(-1)), element_dtype="float32"), g.constant(np.int32(MOST))
        )
    ),
    "TensorListStack of large zeros": lambda g: g.TensorListStack(
        g.TensorListReserve(ints(g, 1 << 20), g.constant(np.int32(1 << 20)), element_dtype="float32"),
        ints(g, 1 << 20),
        element_dtype="float32",
    ),
    "TensorListFromTensor": lambda g: g.TensorListLength(
        g.TensorListFromTensor(view(g, HUGE), ints(g), element_dtype="float32")
    ),
    "TensorArray": lambda g: _tensor_array(g),
    "DynamicStitch": lambda g: g.DynamicStitch([ints(g, MOST - 1)], [view(g, 1)]),
    "DynamicPartition": lambda g: g.DynamicPartition(view(g, 1), ints(g, 0), num_partitions=1 << 16)[0],
    "Unpack": lambda g: g.Unpack(view(g, 1 << 16), num=1 << 16)[0],
    "Split": lambda g: g.Split(g.constant(np.int32(0)), view(g, 1 << 16), num_split=1 << 16)[0],
    "Pack of views": lambda g: g.Pack([view(g, HUGE)] * 3),
    "ConcatV2 of views": lambda g: g.ConcatV2([view(g, HUGE)] * 3, g.constant(np.int32(0))),
    "Reverse": lambda g: g.ReverseV2(view(g, HUGE), ints(g, 0)),
    "Roll": lambda g: g.Roll(view(g, HUGE), ints(g, 5), ints(g, 0)),
    "StridedSlice": lambda g: g.Identity(
        g.StridedSlice(view(g, HUGE), *(g.constant(np.array([n])) for n in (1, HUGE - 1, 2)))
    ),
    "SpaceToBatchND": lambda g: g.SpaceToBatchND(view(g, 1, 1, 1), ints(g, 1), g.constant(np.array([[0, HUGE]]))),
    "SpaceToBatch": lambda g: g.SpaceToBatch(
        view(g, 1, 2, 2, 1), g.constant(np.array([[0, 1 << 30], [0, 1 << 30]])), block_size=2
    ),
    "BatchToSpaceND": lambda g: g.BatchToSpaceND(view(g, 1 << 30, 4, 1), ints(g, 1 << 30), g.constant(np.array([[0, 0]]))),
    "Transpose": lambda g: g.Add(g.Transpose(view(g, 1 << 18, 1 << 18), ints(g, 1, 0)), view(g, 1)),
    "ConjugateTranspose": lambda g: g.ConjugateTranspose(view(g, 1 << 18, 1 << 18, value=np.complex64(1j)), ints(g, 1, 0)),
    "ResizeArea": _resize("ResizeArea", MOST, 2),
    "ResizeArea wide": _resize("ResizeArea", 2, MOST),
    "ResizeBilinear": _resize("ResizeBilinear", MOST, 2),
    "ResizeBicubic": _resize("ResizeBicubic", MOST, 2),
    "ResizeBicubic square": _resize("ResizeBicubic", 1 << 20, 1 << 20),
    "ResizeNearestNeighbor": _resize("ResizeNearestNeighbor", MOST, 2),
    "ScaleAndTranslate": lambda g: g.ScaleAndTranslate(view(g, 1, 2, 2, 1), ints(g, MOST, 2), view(g, 2), view(g, 2)),
    "ResizeArea of a huge picture": lambda g: g.ResizeArea(view(g, 1, 1 << 18, 1 << 18, 1), ints(g, 2, 2)),
    "ResizeBilinear of a huge picture": lambda g: g.ResizeBilinear(view(g, 1, 1 << 18, 1 << 18, 1), ints(g, 2, 2)),
    "CropAndResize": lambda g: g.CropAndResize(view(g, 1, 2, 2, 1), view(g, 1, 4), ints(g, 0), ints(g, MOST, 2)),
    "CropAndResize of many boxes": lambda g: g.CropAndResize(
        view(g, 1, 2, 2, 1), view(g, 1 << 28, 4), view(g, 1 << 28, value=np.int32(0)), ints(g, 2, 2)
    ),
    "ExtractGlimpse": lambda g: g.ExtractGlimpse(view(g, 1, 2, 2, 1), ints(g, MOST, 1 << 10), view(g, 1, 2)),
    "ExtractImagePatches": lambda g: g.ExtractImagePatches(
        view(g, 1, 1 << 14, 1 << 14, 1), ksizes=[1, 100, 100, 1], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="VALID"
    ),
    "Conv2DBackpropInput": lambda g: g.Conv2DBackpropInput(
        ints(g, 1, 1 << 20, 1 << 20, 1),
        view(g, 1, 1, 1, 1),
        view(g, 1, 1 << 20, 1 << 20, 1),
        strides=[1, 1, 1, 1],
        padding="SAME",
    ),
    "AvgPoolGrad": lambda g: g.AvgPoolGrad(
        ints(g, 1, 1 << 20, 1 << 20, 1),
        view(g, 1, 1 << 19, 1 << 19, 1),
        ksize=[1, 2, 2, 1],
        strides=[1, 2, 2, 1],
        padding="SAME",
    ),
    "RFFT": lambda g: g.RFFT(view(g, 4), ints(g, MOST)),
    "IRFFT2D": lambda g: g.IRFFT2D(view(g, 4, 4, value=np.complex64(1)), ints(g, 1 << 20, 1 << 20)),
    "FFT": lambda g: g.FFT(view(g, 1 << 32, value=np.complex64(1))),
    "RandomUniform": _random("RandomUniform", dtype="float32"),
    "RandomStandardNormal": _random("RandomStandardNormal", dtype="float64"),
    "TruncatedNormal": _random("TruncatedNormal", dtype="float32"),
    "StatelessRandomUniform": lambda g: g.StatelessRandomUniform(ints(g, 1 << 40), ints(g, 1, 2), dtype="float32"),
    "StatelessRandomUniformV2": lambda g: g.StatelessRandomUniformV2(
        ints(g, 1 << 40),
        g.constant(np.array([1], np.uint64)),
        g.constant(np.array([1, 2], np.uint64)),
        g.constant(np.int32(1)),
    ),
    "StatelessRandomNormal of 1 GB": lambda g: g.Sum(
        g.StatelessRandomNormal(ints(g, 1 << 28), ints(g, 1, 2), dtype="float32"), ints(g, 0)
    ),
    "Multinomial": lambda g: g.Multinomial(view(g, 1, 2), g.constant(np.int32(MOST))),
    "RandomPoisson": lambda g: g.RandomPoissonV2(ints(g, 1 << 36), view(g, 1)),
    "RandomGamma": lambda g: g.RandomGamma(ints(g, 1 << 36), view(g, 1)),
    "RandomShuffle": lambda g: g.RandomShuffle(view(g, HUGE)),
    "StatelessRandomBinomial": lambda g: g.StatelessRandomBinomial(
        ints(g, 1 << 36), ints(g, 1, 2), view(g, 1), view(g, 1), dtype="float32"
    ),
    "ParameterizedTruncatedNormal": lambda g: g.ParameterizedTruncatedNormal(
        ints(g, 1 << 26), *(g.constant(np.array([n], np.float32)) for n in (0, 1, 30, 31))
    ),
    "SobolSample": lambda g: g.SobolSample(*(g.constant(np.int32(n)) for n in (100, MOST, MOST)), dtype="float32"),
    "StatelessRandomUniformInt": lambda g: g.StatelessRandomUniformInt(
        ints(g, 1 << 38), ints(g, 1, 2), g.constant(np.int32(0)), g.constant(np.int32(5))
    ),
    "LogUniformCandidateSampler": lambda g: g.LogUniformCandidateSampler(
        g.constant(np.array([[1]])), num_true=1, num_sampled=2000000, unique=True, range_max=2000001
    )[0],
    "LearnedUnigramCandidateSampler": lambda g: g.LearnedUnigramCandidateSampler(
        g.constant(np.array([[1]])), num_true=1, num_sampled=MOST - 1, unique=True, range_max=MOST
    )[0],
    "UniformCandidateSampler": lambda g: g.UniformCandidateSampler(
        g.constant(np.array([[1]])), num_true=1, num_sampled=1 << 30, unique=False, range_max=1 << 40
    )[0],
    "AllCandidateSampler": lambda g: g.AllCandidateSampler(
        g.constant(np.array([[1]])), num_true=1, num_sampled=1 << 31, unique=True
    )[0],
    "Where": lambda g: g.Where(view(g, HUGE, value=np.bool_(True))),
    "Cast": lambda g: g.Cast(view(g, HUGE), DstT="float64"),
    "Bucketize": lambda g: g.Bucketize(view(g, HUGE), boundaries=[0.0, 1.0]),
    "ImmutableConst": lambda g: g.ImmutableConst(dtype="float32", shape=[HUGE], memory_region_name=b"x"),
    "Empty": lambda g: g.Empty(ints(g, 1 << 30, 1 << 30), dtype="float32", init=True),
    "LowerBound": lambda g: g.LowerBound(view(g, 1, 2), view(g, 1, HUGE)),
    "TopKV2": lambda g: g.TopKV2(view(g, HUGE), g.constant(np.int32(5)))[0],
    "constant of one element": lambda g: g.AddV2(g.constant(_splat(HUGE)), view(g, 1)),
    "constant of two elements": lambda g: g.Neg(g.constant(_splat(HUGE, 1, 2))),
    "function of one element": lambda g: g.BesselI0e(g.constant(_splat(1 << 28))),
    "axes of one element": lambda g: g.Sum(view(g, 4), g.Cast(g.constant(_splat(1 << 28, 0)), DstT="int32")),
    "dimensions of nothing": lambda g: g.Fill(g.Placeholder(dtype="int32", shape=[1 << 28]), g.constant(1.0)),
    "strides": lambda g: g.Conv2D(view(g, 1, 5, 6, 1), view(g, 3, 3, 1, 2), strides=[1, MOST, MOST, 1], padding="SAME"),
    "MatrixDiagPartV3": lambda g: g.MatrixDiagPartV3(
        view(g, 1 << 20, 1 << 20), ints(g, -(1 << 20) + 1, (1 << 20) - 1), g.constant(np.float32(0))
    ),
    "BroadcastGradientArgs": lambda g: g.BroadcastGradientArgs(
        view(g, 1 << 27, value=np.int32(1)), view(g, 1 << 27, value=np.int32(1))
    )[0],
    "Batch": lambda g: g.BatchMatMulV2(view(g, HUGE, 1, 1), view(g, HUGE, 1, 1)),
}
