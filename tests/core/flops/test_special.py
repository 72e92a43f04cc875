"""FLOPs formulas of special functions and of bits: so much an element, after broadcasting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from tests.core.flops.counting import counted, positive
from tests.core.flops.held import EXAMPLES, SMALL, Cases, Node, hold, holds

HELD: Cases = {}

UNARY = {
    "Expint": special.expi, "BesselK0": special.k0, "BesselK0e": special.k0e, "BesselK1": special.k1, "BesselK1e": special.k1e,
    "BesselY0": special.y0, "BesselY1": special.y1,
}  # fmt: skip
BINARY = {
    "Zeta": special.zeta,
    "Igamma": special.gammainc,
    "Igammac": special.gammaincc,
    "Xlogy": lambda x, y: x * np.log(y),
    "Xlog1py": lambda x, y: x * np.log1p(y),
    "Xdivy": lambda x, y: x / y,
}
"""Zeros, which three of them have an eye on, are not counted, as in DivNoNan."""
ONE_FUNCTION = ("Polygamma", "IgammaGradA", "RandomGammaGrad")
"""By convention one transcendental function an element, as the others of their family; they have no other definition."""
SHIFTS = {"LeftShift": np.left_shift, "RightShift": np.right_shift}


def shapes(draw):
    """A matrix and a row that is broadcast to it."""
    rows, columns = draw(SMALL), draw(SMALL)
    return (rows, columns), (columns,)


def integers(tally, shape):
    return counted(np.arange(np.prod(shape)).reshape(shape), tally)


def placeholder(dtype, shape):
    return lambda g: g.Placeholder(dtype=dtype, shape=shape)


def of_floats(op, function, number):
    @holds(HELD, op)
    def case(draw, tally):
        sizes = shapes(draw)[:number]
        function(*[positive(tally, *sizes[0]) for _ in sizes])
        return Node(sizes, macs=0)


def of_integers(op, function, number):
    @holds(HELD, op)
    def case(draw, tally):
        sizes = shapes(draw)[:number]
        function(*[integers(tally, sizes[0]) for _ in sizes])
        return Node([placeholder("int32", size) for size in sizes])


for _table, _make, _number in ((UNARY, of_floats, 1), (BINARY, of_floats, 2), (SHIFTS, of_integers, 2)):
    for _op, _function in _table.items():
        _make(_op, _function, _number)


@holds(HELD, "Conj")
def conj(draw, tally):
    size = shapes(draw)[0]
    _ = -positive(tally, *size)
    return Node([placeholder("complex64", size)])


@holds(HELD, *ONE_FUNCTION)
def one_function(draw, tally):
    sizes = shapes(draw)
    tally.transcendentals += sizes[0][0] * sizes[0][1]
    return Node(sizes)


@holds(HELD, "Betainc")
def betainc(draw, tally):
    size = shapes(draw)[0]
    special.betainc(*[positive(tally, *size) for _ in range(3)])
    return Node([size] * 3)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("op", HELD)
@EXAMPLES
@given(data=st.data())
def test_formula(op, data):
    hold(op, HELD[op], data.draw)
