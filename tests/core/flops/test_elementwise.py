"""FLOPs formulas of elementwise ops and reductions: those that test_formulas.py has no definition of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.flops.counting import counted, positive
from tests.core.flops.held import EXAMPLES, SMALL, Cases, Node, hold, holds

HELD: Cases = {}
UNARY = {
    "Acos": np.arccos, "Acosh": np.arccosh, "Asin": np.arcsin, "Asinh": np.arcsinh, "Atan": np.arctan, "Atanh": np.arctanh,
    "Cos": np.cos, "Cosh": np.cosh, "Sin": np.sin, "Sinh": np.sinh, "Tan": np.tan, "Expm1": np.expm1, "Log1p": np.log1p,
    "Ceil": np.ceil, "Floor": np.floor, "Rint": np.rint, "Round": np.rint, "Sign": np.sign, "IsFinite": np.isfinite,
    "IsInf": np.isinf, "IsNan": np.isnan, "Inv": lambda x: 1 / x, "CheckNumerics": np.isfinite,
    "CheckNumericsV2": np.isfinite, "DebugNanCount": np.isnan, "Where": lambda x: x != 0,
}  # fmt: skip
BINARY = {
    "AddV2": np.add, "Atan2": np.arctan2, "ApproximateEqual": lambda x, y: abs(x - y) < 1e-5, "Div": np.divide,
    "DivNoNan": np.divide, "Equal": np.equal, "NotEqual": np.not_equal, "FloorDiv": np.floor_divide,
    "FloorMod": np.remainder, "GreaterEqual": np.greater_equal, "Less": np.less, "Mod": np.fmod, "MulNoNan": np.multiply,
    "TruncateMod": np.fmod, "TruncateDiv": np.floor_divide, "InvGrad": lambda y, dy: -dy * y * y,
}  # fmt: skip
"""A division is one operation, however it is rounded; zeros, which DivNoNan and MulNoNan look for, are not counted."""
TRUTHS = {"LogicalNot": np.logical_not, "LogicalAnd": np.logical_and, "LogicalOr": np.logical_or}


def elementwise(op, function, number, dtype=np.float32):
    @holds(HELD, op)
    def case(draw, tally):
        values = np.full((draw(SMALL), draw(SMALL)), 0.5).astype(dtype)
        with np.errstate(invalid="ignore"):
            function(*[counted(values, tally) for _ in range(number)])
        return Node([values] * number, {"message": ""} if op.startswith("CheckNumerics") else {})


for op in UNARY:
    elementwise(op, UNARY[op], 1)
for op in BINARY:
    elementwise(op, BINARY[op], 2)
for op in TRUTHS:
    elementwise(op, TRUTHS[op], 1 if op == "LogicalNot" else 2, bool)


def reduction(op, ufunc, dtype):
    @holds(HELD, op)
    def case(draw, tally):
        values, axis = np.ones((draw(SMALL), draw(SMALL)), dtype), draw(st.integers(0, 1))
        ufunc.reduce(counted(values, tally), axis)
        return Node([values, np.int32([axis] if dtype is bool else axis)])


reduction("All", np.logical_and, bool)
reduction("Any", np.logical_or, bool)
reduction("ArgMax", np.maximum, np.float32)
reduction("ArgMin", np.minimum, np.float32)


@holds(HELD, "AddN")
def add_n(draw, tally):
    shape, number = (draw(SMALL), draw(SMALL)), draw(SMALL)
    total = positive(tally, *shape)
    for _ in range(number - 1):
        total = total + positive(tally, *shape)
    return Node([[shape] * number])


@holds(HELD, "AccumulateNV2")
def accumulate_n(draw, tally):
    inputs = add_n(draw, tally).inputs
    return Node(inputs, {"shape": inputs[0][0]})


@holds(HELD, "ClipByValue")
def clip_by_value(draw, tally):
    shape = draw(SMALL), draw(SMALL)
    np.minimum(np.maximum(positive(tally, *shape), 0.7), 1.5)
    return Node([shape, np.float32(0.7), np.float32(1.5)])


@holds(HELD, "Range")
def range_(draw, tally):
    size = draw(SMALL)
    _ = counted(np.arange(size), tally) * 3 + 2
    return Node([np.int32(2), np.int32(2 + 3 * size), np.int32(3)])


@holds(HELD, "LinSpace")
def linspace(draw, tally):
    size = draw(SMALL)
    _ = counted(np.arange(size), tally) * 0.5 + 2
    return Node([np.float32(2), np.float32(2 + 0.5 * (size - 1)), np.int32(size)])


@holds(HELD, "BiasAdd", "BiasAddV1")
def bias_add(draw, tally):
    rows, channels = draw(SMALL), draw(SMALL)
    _ = positive(tally, rows, channels) + positive(tally, channels)
    return Node([(rows, channels), (channels,)])


@holds(HELD, "BiasAddGrad")
def bias_add_grad(draw, tally):
    rows, channels = draw(SMALL), draw(SMALL)
    np.add.reduce(positive(tally, rows, channels), 0)
    return Node([(rows, channels)])


@pytest.mark.sampled(6)
@pytest.mark.parametrize("op", HELD)
@EXAMPLES
@given(data=st.data())
def test_formula(op, data):
    hold(op, HELD[op], data.draw)
