"""Results of a few bytes for which there is work for hours."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.security.bombs.building import HUGE, MOST, Bomb, ints, square, view
from tfg import GraphBuilder
from tfg.core.graph.graph import Output


def _chain(op: str, length: int) -> Bomb:
    """Each node takes the one before twice."""

    def build(g: GraphBuilder) -> Output:
        x = g.constant(np.ones(4, np.float32))
        for _ in range(length):
            x = g.ConcatV2([x, x], g.constant(np.int32(0))) if op == "ConcatV2" else g.apply(op, x, x)
        return x

    return build


def _of_views(op: str, *shapes: tuple[int, ...], **attrs: Any) -> Bomb:
    """An op on tensors that take no memory."""
    return lambda g: g.apply(op, *(view(g, *shape) for shape in shapes), **attrs)


def _of_square(op: str, **attrs: Any) -> Bomb:
    return lambda g: g.apply(op, square(g, 6000), **attrs)


def _edit_distance(g: GraphBuilder) -> Output:
    """Of two sequences of 65,536 numbers."""
    count = 1 << 16
    positions = g.constant(np.stack([np.zeros(count, np.int64), np.arange(count)], 1))
    sequence = positions, view(g, count, value=np.int64(1)), g.constant(np.array([1, count]))
    return g.EditDistance(*sequence, *sequence)


WORK: dict[str, Bomb] = {
    "Sum": lambda g: g.Sum(view(g, HUGE), ints(g, 0)),
    "Prod": lambda g: g.Prod(view(g, HUGE), ints(g, 0)),
    "All": lambda g: g.All(view(g, HUGE, value=np.bool_(True)), ints(g, 0)),
    "ArgMax": lambda g: g.ArgMax(view(g, HUGE), g.constant(np.int32(0))),
    "Max of bfloat16": lambda g: g.Max(g.Cast(view(g, 1 << 31), DstT="bfloat16"), ints(g, 0)),
    "EuclideanNorm": lambda g: g.EuclideanNorm(view(g, HUGE), ints(g, 0)),
    "L2Loss": lambda g: g.L2Loss(view(g, HUGE)),
    "Cumsum": lambda g: g.Cumsum(view(g, 1 << 30), g.constant(np.int32(0))),
    "Cumprod": lambda g: g.Cumprod(view(g, 1 << 30), g.constant(np.int32(0))),
    "CumulativeLogsumexp": lambda g: g.CumulativeLogsumexp(view(g, 1 << 28), g.constant(np.int32(0))),
    "Equal": lambda g: g.All(g.Equal(view(g, 1 << 32), view(g, 1 << 32)), ints(g, 0)),
    "Softmax": lambda g: g.Softmax(view(g, 1 << 15, 1 << 15)),
    "Exp": lambda g: g.Exp(view(g, 1 << 30)),
    "Lgamma": lambda g: g.Lgamma(view(g, 1 << 28)),
    "Zeta": lambda g: g.Zeta(view(g, 1 << 26, value=np.float32(1.5)), view(g, 1 << 26)),
    "Polygamma": lambda g: g.Polygamma(view(g, 1 << 26, value=np.float32(3)), view(g, 1 << 26)),
    "Igamma": lambda g: g.Igamma(view(g, 1 << 26, value=np.float32(100)), view(g, 1 << 26, value=np.float32(99))),
    "IgammaGradA": lambda g: g.IgammaGradA(view(g, 1 << 24, value=np.float32(100)), view(g, 1 << 24, value=np.float32(99))),
    "RandomGammaGrad": lambda g: g.RandomGammaGrad(
        view(g, 1 << 24, value=np.float32(100)), view(g, 1 << 24, value=np.float32(99))
    ),
    "Betainc": lambda g: g.Betainc(*(view(g, 1 << 26, value=np.float32(v)) for v in (100, 99, 0.5))),
    "Pow of int64": lambda g: g.Pow(view(g, 1 << 30, value=np.int64(3)), view(g, 1 << 30, value=np.int64(1 << 60))),
    "FloorMod": lambda g: g.FloorMod(view(g, 1 << 30), view(g, 1 << 30)),
    "Unique": lambda g: g.Unique(view(g, 1 << 30))[0],
    "UniqueV2": lambda g: g.UniqueV2(view(g, 1 << 24, 4), ints(g, 0))[0],
    "Unique of many": lambda g: g.Unique(g.StatelessRandomUniform(ints(g, 1 << 27), ints(g, 1, 2), dtype="float32"))[0],
    "ListDiff": lambda g: g.ListDiff(view(g, 1 << 28), view(g, 1 << 28))[0],
    "TopKV2 of many": lambda g: g.TopKV2(
        g.StatelessRandomUniform(ints(g, 1 << 27), ints(g, 1, 2), dtype="float32"), g.constant(np.int32(1 << 27))
    )[0],
    "NthElement": lambda g: g.NthElement(view(g, 1 << 30), g.constant(np.int32(7))),
    "InvertPermutation": lambda g: g.InvertPermutation(g.Range(*(g.constant(np.int32(n)) for n in (0, 1 << 28, 1)))),
    "InTopK": lambda g: g.InTopKV2(view(g, 1 << 16, 1 << 16), view(g, 1 << 16, value=np.int32(0)), g.constant(np.int32(5))),
    "MatMul": _of_views("MatMul", (40000, 40000), (40000, 40000)),
    "MatMul of int32": lambda g: g.MatMul(*(view(g, 5000, 5000, value=np.int32(1)) for _ in "ab")),
    "MatMul of bfloat16": lambda g: g.MatMul(*(g.Cast(view(g, 8000, 8000), DstT="bfloat16") for _ in "ab")),
    "MatMul of half": lambda g: g.MatMul(*(view(g, 8000, 8000, value=np.float16(1)) for _ in "ab")),
    "SparseMatMul": _of_views("SparseMatMul", (20000, 20000), (20000, 20000)),
    "MatMul of int64": lambda g: g.MatMul(*(view(g, 8000, 8000, value=np.int64(1)) for _ in "ab")),
    "BatchMatMulV2": _of_views("BatchMatMulV2", (1 << 14, 512, 512), (1 << 14, 512, 512)),
    "Einsum": lambda g: g.Einsum([view(g, 1 << 12, 1 << 12)] * 3, equation="ij,jk,kl->il"),
    "Einsum of outer products": lambda g: g.Einsum([view(g, 1 << 18)] * 2, equation="i,j->ij"),
    "Conv2D": lambda g: g.Conv2D(view(g, 64, 1024, 1024, 64), view(g, 9, 9, 64, 256), strides=[1, 1, 1, 1], padding="SAME"),
    "Conv2D dilated": lambda g: g.Conv2D(
        view(g, 1, 4096, 4096, 16), view(g, 33, 33, 16, 16), strides=[1, 1, 1, 1], dilations=[1, 5, 5, 1], padding="SAME"
    ),
    "Conv2DBackpropFilter": lambda g: g.Conv2DBackpropFilter(
        view(g, 64, 512, 512, 64), ints(g, 9, 9, 64, 256), view(g, 64, 512, 512, 256), strides=[1, 1, 1, 1], padding="SAME"
    ),
    "Conv3D": lambda g: g.Conv3D(view(g, 1, 256, 256, 256, 16), view(g, 9, 9, 9, 16, 64), strides=[1] * 5, padding="SAME"),
    "DepthwiseConv2dNative": lambda g: g.DepthwiseConv2dNative(
        view(g, 8, 1024, 1024, 64), view(g, 31, 31, 64, 1), strides=[1, 1, 1, 1], padding="SAME"
    ),
    "MaxPool": lambda g: g.MaxPool(view(g, 1, 4096, 4096, 1), ksize=[1, 2000, 2000, 1], strides=[1, 1, 1, 1], padding="SAME"),
    "AvgPool": lambda g: g.AvgPool(view(g, 1, 4096, 4096, 1), ksize=[1, 2000, 2000, 1], strides=[1, 1, 1, 1], padding="SAME"),
    "MaxPool3D": lambda g: g.MaxPool3D(
        view(g, 1, 300, 300, 300, 1), ksize=[1, 100, 100, 100, 1], strides=[1] * 5, padding="SAME"
    ),
    "MaxPoolWithArgmax": lambda g: g.MaxPoolWithArgmax(
        view(g, 1, 4096, 4096, 1), ksize=[1, 500, 500, 1], strides=[1, 1, 1, 1], padding="SAME"
    )[1],
    "FractionalMaxPool": lambda g: g.FractionalMaxPool(
        view(g, 1, 8192, 8192, 4), pooling_ratio=[1.0, 1.01, 1.01, 1.0], seed=1, seed2=2, deterministic=True
    )[0],
    "Dilation2D": lambda g: g.Dilation2D(
        view(g, 1, 1024, 1024, 16), view(g, 99, 99, 16), strides=[1] * 4, rates=[1] * 4, padding="SAME"
    ),
    "LRN": lambda g: g.LRN(view(g, 8, 512, 512, 256), depth_radius=100),
    "CropAndResize of large crops": lambda g: g.CropAndResize(
        view(g, 1, 1024, 1024, 3), view(g, 4, 4), view(g, 4, value=np.int32(0)), ints(g, 4096, 4096)
    ),
    "ResizeBicubic of a picture": lambda g: g.ResizeBicubic(view(g, 1, 64, 64, 3), ints(g, 16384, 16384)),
    "ResizeArea of a picture": lambda g: g.ResizeArea(view(g, 1, 4096, 4096, 64), ints(g, 2000, 2000)),
    "NonMaxSuppression": lambda g: g.NonMaxSuppressionV3(
        g.StatelessRandomUniform(ints(g, 300000, 4), ints(g, 1, 2), dtype="float32"),
        view(g, 300000),
        *(g.constant(n) for n in (np.int32(300000), np.float32(1.0), np.float32(0))),
    ),
    "MatrixInverse": _of_square("MatrixInverse"),
    "MatrixDeterminant": _of_square("MatrixDeterminant"),
    "Cholesky": _of_square("Cholesky"),
    "Svd": lambda g: g.Svd(square(g, 6000))[0],
    "Svd without vectors": lambda g: g.Svd(square(g, 6000), compute_uv=False)[0],
    "Qr": lambda g: g.Qr(square(g, 6000))[0],
    "Lu": lambda g: g.Lu(square(g, 6000))[0],
    "SelfAdjointEigV2": lambda g: g.SelfAdjointEigV2(square(g, 6000))[0],
    "Eig": lambda g: g.Eig(square(g, 6000), Tout="complex64")[0],
    "MatrixSquareRoot": lambda g: g.MatrixSquareRoot(g.Cast(square(g, 2000), DstT="complex64")),
    "MatrixLogarithm": lambda g: g.MatrixLogarithm(g.Cast(square(g, 2000), DstT="complex64")),
    "MatrixExponential": _of_square("MatrixExponential"),
    "MatrixSolve": lambda g: g.MatrixSolve(square(g, 6000), view(g, 6000, 6000)),
    "MatrixSolveLs": lambda g: g.MatrixSolveLs(square(g, 6000), view(g, 6000, 10), g.constant(np.float64(0.1))),
    "MatrixTriangularSolve": lambda g: g.MatrixTriangularSolve(square(g, 8000), view(g, 8000, 8000)),
    "MatrixInverse of many": lambda g: g.MatrixInverse(g.AddV2(view(g, 1 << 20, 8, 8), g.MatrixDiag(view(g, 8)))),
    "TridiagonalSolve": lambda g: g.TridiagonalSolve(view(g, 3, 1 << 22, value=np.float32(1)), view(g, 1 << 22, 4)),
    "BandedTriangularSolve": lambda g: g.BandedTriangularSolve(view(g, 2000, 4000, value=np.float32(1)), view(g, 4000, 4000)),
    "FFT of a prime": lambda g: g.FFT(view(g, 33554467, value=np.complex64(1))),
    "FFT3D": lambda g: g.FFT3D(view(g, 600, 600, 600, value=np.complex64(1))),
    "SparseTensorDenseMatMul of many": lambda g: g.SparseTensorDenseMatMul(
        view(g, 1 << 22, 2, value=np.int64(0)), view(g, 1 << 22), g.constant(np.array([1, 1])), view(g, 1, 1 << 12)
    ),
    "ScatterNd of many": lambda g: g.ScatterNd(view(g, 1 << 28, 1, value=np.int32(0)), view(g, 1 << 28), ints(g, 1)),
    "UnsortedSegmentSum of many": lambda g: g.UnsortedSegmentSum(
        view(g, 1 << 28), view(g, 1 << 28, value=np.int32(0)), g.constant(np.int32(1))
    ),
    "UnsortedSegmentProd of many": lambda g: g.UnsortedSegmentProd(
        view(g, 1 << 26), view(g, 1 << 26, value=np.int32(0)), g.constant(np.int32(1))
    ),
    "Bincount of many": lambda g: g.Bincount(view(g, 1 << 30, value=np.int32(0)), g.constant(np.int32(1)), view(g, 0)),
    "Fingerprint": lambda g: g.Fingerprint(view(g, 1, 1 << 30, value=np.uint8(0)), g.constant(np.array("farmhash64", object))),
    "EditDistance": lambda g: _edit_distance(g),
    "CTCLoss": lambda g: g.CTCLoss(
        view(g, 20000, 16, 100), g.constant(np.array([[0, 0]])), ints(g, 1), view(g, 16, value=np.int32(20000))
    )[0],
    "CTCBeamSearchDecoder": lambda g: g.CTCBeamSearchDecoder(
        view(g, 20000, 1, 100), ints(g, 20000), beam_width=1000, top_paths=1
    )[3],
    "LSTMBlockCell": lambda g: g.BlockLSTM(
        g.constant(np.int64(100000)),
        view(g, 100000, 1, 64),
        view(g, 1, 256),
        view(g, 1, 256),
        view(g, 320, 1024),
        *(view(g, 256) for _ in range(3)),
        view(g, 1024),
    )[6],
    "KMC2ChainInitialization": lambda g: g.KMC2ChainInitialization(view(g, 1 << 26), g.constant(np.int64(3))),
    "NearestNeighbors": lambda g: g.NearestNeighbors(view(g, 30000, 64), view(g, 30000, 64), g.constant(np.int64(5)))[0],
    "RandomPoisson of a large rate": lambda g: g.RandomPoissonV2(ints(g, 1 << 22), view(g, 8, value=np.float32(1e9))),
    "StatelessTruncatedNormal": lambda g: g.Sum(
        g.StatelessTruncatedNormal(ints(g, 1 << 28), ints(g, 1, 2), dtype="float32"), ints(g, 0)
    ),
    "AudioSpectrogram": lambda g: g.AudioSpectrogram(view(g, 1 << 24, 1), window_size=1 << 16, stride=1),
    "AdjustHue": lambda g: g.AdjustHue(view(g, 8192, 8192, 3), g.constant(np.float32(0.1))),
    "RGBToHSV": lambda g: g.RGBToHSV(view(g, 1 << 28, 3)),
    "QuantizeV2": lambda g: g.QuantizeV2(view(g, 1 << 28), g.constant(0.0), g.constant(1.0), T="quint8")[0],
    "FakeQuantWithMinMaxArgs": lambda g: g.FakeQuantWithMinMaxArgs(view(g, 1 << 28)),
    "SampleDistortedBoundingBoxV2": lambda g: g.SampleDistortedBoundingBoxV2(
        ints(g, 100, 100, 3),
        g.constant(np.array([[[0, 0, 1e-6, 1e-6]]], np.float32)),
        g.constant(np.float32(1)),
        max_attempts=MOST,
        seed=1,
    )[0],
    "DrawBoundingBoxes": lambda g: g.DrawBoundingBoxes(view(g, 1, 2000, 2000, 3), view(g, 1, 1 << 20, 4)),
    "StatelessMultinomial": lambda g: g.StatelessMultinomial(view(g, 1, 1 << 20), g.constant(np.int32(MOST)), ints(g, 1, 2)),
    "IsotonicRegression": lambda g: g.IsotonicRegression(view(g, 1 << 14, 1 << 14))[0],
    "RandomIndexShuffle": lambda g: g.RandomIndexShuffle(
        view(g, 1 << 26, value=np.int32(1)), ints(g, 1, 2, 3), g.constant(np.int32(1 << 30)), rounds=MOST - 1
    ),
    "Bitcast": lambda g: g.Bitcast(view(g, HUGE), type="uint8"),
    "CheckNumerics": lambda g: g.CheckNumerics(view(g, HUGE), message="no"),
    "Print": lambda g: g.Print(view(g, 1 << 24), [view(g, 1 << 24)], summarize=-1),
    "chain of doublings": _chain("ConcatV2", 64),
    "chain of 20,000": _chain("AddV2", 20000),
}
