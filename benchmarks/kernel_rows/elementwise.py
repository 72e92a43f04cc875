"""Ops on each element: of floats, integers, flags and complex numbers, slopes, conversions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .making import Row, ints, normal, one, row, unit

_LARGE, _SMALL = normal(300, 1000), normal(10)
_POSITIVE, _INSIDE = unit(300, 1000) + 0.1, unit(300, 1000) * 1.8 - 0.9


def unary_rows() -> Iterator[Row]:
    for op in (
        "Abs", "Neg", "Exp", "Expm1", "Sin", "Cos", "Tan", "Sinh", "Cosh", "Tanh", "Asinh", "Atan", "Sigmoid",
        "Erf", "Erfc", "Sign", "Floor", "Ceil", "Rint", "Round", "Square", "Softplus", "Softsign", "Elu", "Selu",
        "Relu", "Relu6", "LeakyRelu", "IsNan", "IsFinite", "IsInf", "Reciprocal",
    ):  # fmt: skip
        yield row(op, _LARGE)
        yield row(op, _SMALL)
    for op in (
        "Log", "Log1p", "Sqrt", "Rsqrt", "Lgamma", "Digamma", "Acosh", "Dawsn", "Expint", "FresnelCos",
        "FresnelSin", "Spence", "BesselJ0", "BesselJ1", "BesselK0", "BesselK1", "BesselY0", "BesselI0", "BesselI0e",
        "BesselI1e",
    ):  # fmt: skip
        yield row(op, _POSITIVE + (1 if op == "Acosh" else 0))
    for op in ("Acos", "Asin", "Atanh", "Erfinv", "Ndtri"):
        yield row(op, np.abs(_INSIDE) if op == "Ndtri" else _INSIDE)
    for op in ("Exp", "Tanh", "Erf", "Log1p", "Sigmoid"):
        yield row(op, _POSITIVE.astype(np.float64), note="double")
        yield row(op, _POSITIVE.astype(np.float16), note="half")
    yield row("CheckNumerics", _LARGE, message="")


def binary_rows() -> Iterator[Row]:
    for op in (
        "AddV2", "Mul", "RealDiv", "Maximum", "SquaredDifference", "FloorDiv", "FloorMod", "Atan2", "Less", "Equal",
        "DivNoNan", "MulNoNan", "Xlogy", "Xdivy", "Xlog1py", "NextAfter", "TruncateMod",
    ):  # fmt: skip
        yield row(op, _POSITIVE, _POSITIVE + 1)
        yield row(op, _POSITIVE, _POSITIVE[0])
        yield row(op, _POSITIVE[:, :1], _POSITIVE[0])
        yield row(op, _SMALL, _SMALL)
    for op in ("Pow", "Igamma", "Igammac", "Zeta", "Polygamma"):
        yield row(op, _POSITIVE[:30] + 1, _POSITIVE[:30] + 1)
    yield row("Polygamma", np.ceil(_POSITIVE[:30] * 3), _POSITIVE[:30] + 1, note="whole")
    yield row("IgammaGradA", _POSITIVE[:10] + 1, _POSITIVE[:10] + 1)
    yield row("RandomGammaGrad", _POSITIVE[:10] + 1, _POSITIVE[:10] + 1)
    yield row("Betainc", _POSITIVE[:10], _POSITIVE[:10], unit(10, 1000))
    yield row("ApproximateEqual", _LARGE, _LARGE)
    yield row("AddN", [_LARGE, _LARGE, _LARGE])
    yield row("AccumulateNV2", [_LARGE, _LARGE], shape=[300, 1000])
    yield row("Cross", normal(50000, 3), normal(50000, 3))


def integer_rows() -> Iterator[Row]:
    for op in (
        "AddV2", "Mul", "FloorDiv", "FloorMod", "TruncateDiv", "Maximum", "BitwiseAnd", "BitwiseXor", "LeftShift",
        "RightShift", "Pow",
    ):  # fmt: skip
        yield row(op, ints(8, 300, 1000) + 1, ints(8, 300, 1000) + 1, note="int32")
    for op in ("Invert", "PopulationCount", "Neg", "Abs", "Sign"):
        yield row(op, ints(1000, 300, 1000), note="int32")


def choice_rows() -> Iterator[Row]:
    flags = ints(2, 300, 1000).astype(bool)
    yield row("LogicalAnd", flags, flags)
    yield row("LogicalNot", flags)
    yield row("Select", flags, _LARGE, _LARGE)
    yield row("SelectV2", flags[:, :1], _LARGE, _LARGE)
    yield row("SelectV2", flags, _LARGE, one(0, np.float32))
    yield row("ClipByValue", _LARGE, one(-1, np.float32), one(1, np.float32))


def slope_rows() -> Iterator[Row]:
    for op in (
        "ReluGrad", "TanhGrad", "SigmoidGrad", "EluGrad", "SeluGrad", "SoftplusGrad", "SoftsignGrad", "Relu6Grad",
        "LeakyReluGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad",
    ):  # fmt: skip
        yield row(op, _LARGE, _POSITIVE)


def conversion_rows() -> Iterator[Row]:
    for source, target in (
        ("float32", "int32"), ("int32", "float32"), ("float32", "half"), ("half", "float32"), ("float32", "bfloat16"),
        ("uint8", "float32"), ("float32", "uint8"), ("float32", "bool"), ("bool", "float32"), ("float32", "double"),
        ("int64", "int32"), ("complex64", "float32"),
    ):  # fmt: skip
        values = unit(300, 1000, dtype=source.replace("half", "float16"))
        yield row("Cast", values, SrcT=source, DstT=target, note=f"{source} {target}")
    for source, target in (("float32", "int32"), ("float32", "uint8"), ("float64", "int64")):
        yield row("Bitcast", unit(300, 1000, dtype=source), type=target, note=f"{source} {target}")


def complex_rows() -> Iterator[Row]:
    yield row("Complex", _LARGE, _LARGE)
    waves = (_LARGE + 1j * _LARGE).astype(np.complex64)
    for op in ("Real", "Imag", "ComplexAbs", "Angle", "Conj", "Exp", "Sqrt", "Tanh", "Log"):
        yield row(op, waves, note="complex")
    for op in ("Mul", "RealDiv"):
        yield row(op, waves, waves, note="complex")
