"""FLOPs formulas of elementwise ops whose programs do more than is counted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.flops.counting import counted
from tests.core.flops.held import EXAMPLES, SMALL, Cases, Node, hold, holds

HELD: Cases = {}
UNARY = {
    "Round": np.rint, "CheckNumerics": np.isfinite, "CheckNumericsV2": np.isfinite, "Where": lambda x: x != 0,
}  # fmt: skip
BINARY = {
    "Div": np.divide, "DivNoNan": np.divide, "FloorDiv": np.floor_divide, "FloorMod": np.remainder, "Mod": np.fmod,
    "MulNoNan": np.multiply, "Pow": np.power, "TruncateMod": np.fmod, "TruncateDiv": np.floor_divide,
    "InvGrad": lambda y, dy: -dy * y * y, "ReciprocalGrad": lambda y, dy: -dy * y * y, "SqrtGrad": lambda y, dy: dy * 0.5 / y,
    "RsqrtGrad": lambda y, dy: dy * -0.5 * (y * y * y),
    "Relu6Grad": lambda dy, x: np.where(x > 0, np.where(x < 6, dy, 0.0), 0.0),
    "ReluGrad": lambda dy, x: np.where(x > 0, dy, 0.0),
    "SeluGrad": lambda dy, y: np.where(y < 0, (y + 1.7) * dy, dy),
}  # fmt: skip
"""A division is one operation, however it is rounded; zeros, which some look for, are not counted.

Of the two sides of a choice the longer one is.
"""


def elementwise(op, function, number):
    @holds(HELD, op)
    def case(draw, tally):
        values = np.full((draw(SMALL), draw(SMALL)), 0.5, np.float32)
        with np.errstate(invalid="ignore"):
            function(*[counted(values, tally) for _ in range(number)])
        return Node([values] * number, {"message": ""} if op.startswith("CheckNumerics") else {})


for op in UNARY:
    elementwise(op, UNARY[op], 1)
for op in BINARY:
    elementwise(op, BINARY[op], 2)
# A bound that is NaN is looked for, and not counted.
elementwise("ClipByValue", lambda t, low, high: np.maximum(np.minimum(t, high), low), 3)


@holds(HELD, "ArgMax", "ArgMin")
def extreme_places(draw, tally):
    values, axis = np.ones((draw(SMALL), draw(SMALL)), np.float32), draw(st.integers(0, 1))
    np.maximum.reduce(counted(values, tally), axis)
    return Node([values, np.int32(axis)])


@holds(HELD, "Selu")
def selu(draw, tally):
    """Of the two sides of the choice either is one product more."""
    values = np.full((draw(SMALL), draw(SMALL)), 0.5, np.float32)
    x = counted(values, tally)
    _ = np.where(x > 0, np.asarray(x), np.expm1(x)) * 1.05
    return Node([values])


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


@pytest.mark.sampled(6)
@pytest.mark.parametrize("op", HELD)
@EXAMPLES
@given(data=st.data())
def test_formula(op, data):
    hold(op, HELD[op], data.draw)
