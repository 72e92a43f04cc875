"""Elementwise ops, reductions, what sorts and counts, linear algebra."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .making import Row, definite, fixed, indices, ints, normal, one, row, unit, words


def elementwise_rows() -> Iterator[Row]:
    large, small = normal(300, 1000), normal(10)
    positive, inside = unit(300, 1000) + 0.1, unit(300, 1000) * 1.8 - 0.9
    for op in (
        "Abs", "Neg", "Exp", "Expm1", "Sin", "Cos", "Tan", "Sinh", "Cosh", "Tanh", "Asinh", "Atan", "Sigmoid",
        "Erf", "Erfc", "Sign", "Floor", "Ceil", "Rint", "Round", "Square", "Softplus", "Softsign", "Elu", "Selu",
        "Relu", "Relu6", "LeakyRelu", "IsNan", "IsFinite", "IsInf", "Reciprocal",
    ):  # fmt: skip
        yield row(op, large)
        yield row(op, small)
    for op in (
        "Log", "Log1p", "Sqrt", "Rsqrt", "Lgamma", "Digamma", "Acosh", "Dawsn", "Expint", "FresnelCos",
        "FresnelSin", "Spence", "BesselJ0", "BesselJ1", "BesselK0", "BesselK1", "BesselY0", "BesselI0", "BesselI0e",
        "BesselI1e",
    ):  # fmt: skip
        yield row(op, positive + (1 if op == "Acosh" else 0))
    for op in ("Acos", "Asin", "Atanh", "Erfinv", "Ndtri"):
        yield row(op, np.abs(inside) if op == "Ndtri" else inside)
    for op in ("Exp", "Tanh", "Erf", "Log1p", "Sigmoid"):
        yield row(op, positive.astype(np.float64), note="double")
        yield row(op, positive.astype(np.float16), note="half")
    for op in (
        "AddV2", "Mul", "RealDiv", "Maximum", "SquaredDifference", "FloorDiv", "FloorMod", "Atan2", "Less", "Equal",
        "DivNoNan", "MulNoNan", "Xlogy", "Xdivy", "Xlog1py", "NextAfter", "TruncateMod",
    ):  # fmt: skip
        yield row(op, positive, positive + 1)
        yield row(op, positive, positive[0])
        yield row(op, positive[:, :1], positive[0])
        yield row(op, small, small)
    for op in ("Pow", "Igamma", "Igammac", "Zeta", "Polygamma"):
        yield row(op, positive[:30] + 1, positive[:30] + 1)
    yield row("Polygamma", np.ceil(positive[:30] * 3), positive[:30] + 1, note="whole")
    yield row("IgammaGradA", positive[:10] + 1, positive[:10] + 1)
    yield row("RandomGammaGrad", positive[:10] + 1, positive[:10] + 1)
    yield row("Betainc", positive[:10], positive[:10], unit(10, 1000))
    for op in (
        "AddV2", "Mul", "FloorDiv", "FloorMod", "TruncateDiv", "Maximum", "BitwiseAnd", "BitwiseXor", "LeftShift",
        "RightShift", "Pow",
    ):  # fmt: skip
        yield row(op, ints(8, 300, 1000) + 1, ints(8, 300, 1000) + 1, note="int32")
    for op in ("Invert", "PopulationCount", "Neg", "Abs", "Sign"):
        yield row(op, ints(1000, 300, 1000), note="int32")
    flags = ints(2, 300, 1000).astype(bool)
    yield row("LogicalAnd", flags, flags)
    yield row("LogicalNot", flags)
    yield row("Select", flags, large, large)
    yield row("SelectV2", flags[:, :1], large, large)
    yield row("SelectV2", flags, large, one(0, np.float32))
    yield row("ClipByValue", large, one(-1, np.float32), one(1, np.float32))
    yield row("AddN", [large, large, large])
    yield row("AccumulateNV2", [large, large], shape=[300, 1000])
    for op in (
        "ReluGrad", "TanhGrad", "SigmoidGrad", "EluGrad", "SeluGrad", "SoftplusGrad", "SoftsignGrad", "Relu6Grad",
        "LeakyReluGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad",
    ):  # fmt: skip
        yield row(op, large, positive)
    for source, target in (
        ("float32", "int32"), ("int32", "float32"), ("float32", "half"), ("half", "float32"), ("float32",
        "bfloat16"), ("uint8", "float32"), ("float32", "uint8"), ("float32", "bool"), ("bool", "float32"),
        ("float32", "double"), ("int64", "int32"), ("complex64", "float32"),
    ):  # fmt: skip
        yield row(
            "Cast",
            unit(300, 1000, dtype=source.replace("half", "float16")),
            SrcT=source,
            DstT=target,
            note=f"{source} {target}",
        )
    for source, target in (("float32", "int32"), ("float32", "uint8"), ("float64", "int64")):
        yield row("Bitcast", unit(300, 1000, dtype=source), type=target, note=f"{source} {target}")
    yield row("Complex", large, large)
    waves = large + 1j * large
    for op in ("Real", "Imag", "ComplexAbs", "Angle", "Conj"):
        yield row(op, waves.astype(np.complex64), note="complex")
    for op in ("Exp", "Mul", "RealDiv", "Sqrt", "Tanh", "Log"):
        yield row(op, *[waves.astype(np.complex64)] * (2 if op in ("Mul", "RealDiv") else 1), note="complex")
    yield row("Bucketize", large, boundaries=[-1.0, 0.0, 0.5, 2.0])
    yield row("ApproximateEqual", large, large)
    yield row("CheckNumerics", large, message="")
    yield row("HistogramFixedWidth", large, fixed(-2, 2, dtype=np.float32), one(100))
    yield row("Cross", normal(50000, 3), normal(50000, 3))


def reduction_rows() -> Iterator[Row]:
    large = normal(300, 1000)
    for op in ("Sum", "Mean", "Max", "Prod", "EuclideanNorm"):
        for axis in (0, 1):
            yield row(op, large, fixed(axis), note=f"axis {axis}")
        yield row(op, large, fixed(0, 1), note="all")
        yield row(op, normal(30, 100, 100), fixed(0, 2), note="outer and inner")
        yield row(op, normal(8, 4), fixed(1))
    yield row("Sum", ints(9, 300, 1000), fixed(0), note="int32")
    yield row("Mean", ints(9, 300, 1000), fixed(1), note="int32")
    for dtype in (np.float64, np.float16):
        yield row("Sum", large.astype(dtype), fixed(1), note=np.dtype(dtype).name)
    yield row("All", large > 0, fixed(1))
    yield row("Any", large > 0, fixed(0))
    for op in ("ArgMax", "ArgMin"):
        for axis in (0, 1):
            yield row(op, large, one(axis), note=f"axis {axis}")
    for op in ("Cumsum", "Cumprod", "CumulativeLogsumexp"):
        for axis in (0, 1):
            yield row(op, large, one(axis), note=f"axis {axis}")
        yield row(op, normal(10), one(0))
    yield row("Cumsum", large, one(1), reverse=True, exclusive=True, note="reverse exclusive")
    yield row("Cumsum", ints(9, 300, 1000), one(1), note="int32")
    for op in ("Softmax", "LogSoftmax"):
        for shape in ((300, 1000), (10000, 10), (4, 10)):
            yield row(op, normal(*shape))
    yield row("SoftmaxCrossEntropyWithLogits", large, unit(300, 1000))
    yield row("SparseSoftmaxCrossEntropyWithLogits", large, ints(1000, 300))
    yield row("SparseSoftmaxCrossEntropyWithLogits", normal(10000, 10), ints(10, 10000))
    yield row("L2Loss", large)
    yield row("InTopKV2", large, ints(1000, 300), one(5))
    for k in (1, 5, 100, 900):
        yield row("TopKV2", large, one(k), note=f"k {k}")
    yield row("TopKV2", normal(100000), one(10), note="k 10")
    yield row("TopKV2", normal(100000), one(50000), note="k 50000")
    yield row("TopKV2", ints(1000, 300, 1000), one(10), note="int32")
    yield row("TopKV2", normal(10), one(3))
    yield row("ApproxTopK", normal(8, 10000), k=10, reduction_dimension=-1, recall_target=0.95, is_max_k=True)
    yield row("NthElement", large, one(10))
    for dtype in (np.int32, np.int64, np.float32):
        yield row("UniqueV2", ints(1000, 100000, dtype=dtype), fixed(0), note=np.dtype(dtype).name)
    yield row("Unique", ints(100000, 100000))
    yield row("Unique", words(10000, length=2))
    yield row("Unique", ints(10, 20))
    yield row("UniqueV2", ints(3, 10000, 4), fixed(0), note="rows")
    yield row("UniqueWithCounts", ints(1000, 100000))
    yield row("ListDiff", ints(5000, 10000), ints(5000, 3000))
    yield row("LowerBound", np.sort(unit(16, 1000), 1), unit(16, 5000))
    yield row("UpperBound", np.sort(unit(1, 1000), 1), unit(1, 100000))
    yield row("UpperBound", np.sort(unit(1000, 10), 1), unit(1000, 10), note="many rows")
    yield row("Bincount", ints(100, 100000), one(100), fixed(dtype=np.float32))
    yield row("DenseBincount", ints(100, 100000), one(100), fixed(dtype=np.float32))
    yield row("DenseBincount", ints(100, 1000, 100), one(100), fixed(dtype=np.float32))
    yield row("DenseBincount", ints(100, 1000, 100), one(100), unit(1000, 100), note="weights")
    yield row("RaggedBincount", np.arange(0, 10001, 10), ints(100, 10000), one(100), fixed(dtype=np.float32))
    yield row(
        "SparseBincount",
        indices(10000, 1000, 100),
        ints(100, 10000, dtype=np.int64),
        fixed(1000, 100, dtype=np.int64),
        one(100, np.int64),
        fixed(dtype=np.float32),
    )
    yield row("DenseCountSparseOutput", ints(50, 500, 50), fixed(dtype=np.float32), binary_output=False)
    yield row(
        "RaggedCountSparseOutput", np.arange(0, 10001, 10), ints(100, 10000), fixed(dtype=np.float32), binary_output=False
    )
    yield row("IsotonicRegression", normal(20, 100))


def algebra_rows() -> Iterator[Row]:
    for shape in ((256, 256), (1000, 4, 4), (64, 32, 32), (3, 3)):
        a, d = normal(*shape), definite(*shape)
        b = normal(*shape[:-1], 2)
        yield row("MatrixInverse", d)
        yield row("MatrixDeterminant", d / shape[-1])
        yield row("LogMatrixDeterminant", d)
        yield row("Cholesky", d)
        yield row("MatrixSolve", d, b)
        yield row("MatrixTriangularSolve", d, b)
        yield row("Lu", d)
        yield row("BatchMatMulV2" if len(shape) > 2 else "MatMul", a, d)
        if shape[-1] <= 32:
            yield row("CholeskyGrad", np.linalg.cholesky(d), a)
            yield row("MatrixSolveLs", d, b, one(0.1, np.float64))
            yield row("MatrixSquareRoot", d)
            yield row("MatrixLogarithm", d.astype(np.complex64))
        if shape != (256, 256):
            yield row("Qr", a)
            yield row("SelfAdjointEigV2", d)
            yield row("Svd", a)
            yield row("Eig", a, Tout="complex64")
    yield row("Qr", normal(200, 100))
    yield row("SelfAdjointEigV2", definite(100, 100))
    yield row("Svd", normal(100, 50))
    yield row("TridiagonalSolve", normal(50, 3, 200) + np.array([0, 9, 0], np.float32)[:, None], normal(50, 200, 2))
    yield row("TridiagonalMatMul", normal(50, 1, 200), normal(50, 1, 200), normal(50, 1, 200), normal(50, 200, 10))
    yield row("BandedTriangularSolve", normal(20, 3, 100) + 5, normal(20, 100, 2))
    for left, right in (((256, 256), (256, 256)), ((1000, 10), (10, 10)), ((1, 100), (100, 1000))):
        yield row("MatMul", normal(*left), normal(*right))
        yield row("MatMul", normal(*left, dtype=np.float64), normal(*right, dtype=np.float64), note="double")
    yield row("MatMul", normal(256, 256, dtype=np.float16), normal(256, 256, dtype=np.float16), note="half")
    yield row("MatMul", ints(9, 128, 128), ints(9, 128, 128), note="int32")
    yield row("BatchMatMulV2", normal(64, 12, 64, 32), normal(64, 12, 32, 64))
    for equation, left, right in (
        ("bij,bjk->bik", (32, 64, 32), (32, 32, 64)),
        ("ij,jk->ik", (4, 5), (5, 6)),
        ("bhqd,bkhd->bhqk", (4, 8, 64, 32), (4, 64, 8, 32)),
        ("ijk,k->ij", (30, 100, 100), (100,)),
        ("bi,bj->bij", (100, 50), (100, 50)),
    ):
        yield row("Einsum", [normal(*left), normal(*right)], equation=equation, note=equation)
    waves = (normal(64, 1024) + 1j * normal(64, 1024)).astype(np.complex64)
    square = waves.reshape(4, 128, 128)
    for op in ("FFT", "IFFT"):
        yield row(op, waves)
        yield row(op, waves[:, :1000], note="1000")
        yield row(op, waves[0, :16])
        yield row(f"{op}2D", square)
        yield row(f"{op}3D", square.reshape(4, 16, 32, 32))
    yield row("FFT", waves.astype(np.complex128), note="double")
    yield row("RFFT", normal(64, 1024), fixed(1024))
    yield row("RFFT2D", normal(4, 128, 128), fixed(128, 128))
    yield row("RFFT3D", normal(4, 16, 32, 32), fixed(16, 32, 32))
    yield row("IRFFT", waves[:, :513], fixed(1024))
    yield row("IRFFT2D", square[:, :, :65], fixed(128, 128))
