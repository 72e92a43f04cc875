"""FLOPs formulas of special functions, of bits and of complex numbers: so much an element, after broadcasting."""

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
    "Lgamma": special.gammaln, "Digamma": special.psi, "Erf": special.erf, "Erfc": special.erfc, "Erfinv": special.erfinv,
    "Ndtri": special.ndtri, "Dawsn": special.dawsn, "Expint": special.expi, "FresnelCos": special.fresnel,
    "FresnelSin": special.fresnel, "Spence": special.spence, "BesselI0": special.i0, "BesselI0e": special.i0e,
    "BesselI1": special.i1, "BesselI1e": special.i1e, "BesselK0": special.k0, "BesselK0e": special.k0e,
    "BesselK1": special.k1, "BesselK1e": special.k1e, "BesselJ0": special.j0, "BesselJ1": special.j1,
    "BesselY0": special.y0, "BesselY1": special.y1,
}  # fmt: skip
BINARY = {
    "Zeta": special.zeta,
    "Igamma": special.gammainc,
    "Igammac": special.gammaincc,
    "Xlogy": lambda x, y: x * np.log(y),
    "Xlog1py": lambda x, y: x * np.log1p(y),
    "Xdivy": lambda x, y: x / y,
    "NextAfter": np.nextafter,
}
"""Zeros, which three of them have an eye on, are not counted, as in DivNoNan."""
ONE_FUNCTION = ("Polygamma", "IgammaGradA", "RandomGammaGrad")
"""By convention one transcendental function an element, as the others of their family; they have no other definition."""
UNARY_BITS = {"Invert": np.invert, "PopulationCount": np.bitwise_count}
BINARY_BITS = {
    "BitwiseAnd": np.bitwise_and,
    "BitwiseOr": np.bitwise_or,
    "BitwiseXor": np.bitwise_xor,
    "LeftShift": np.left_shift,
    "RightShift": np.right_shift,
}
COMPLEX = {
    "ComplexAbs": lambda re, im: np.sqrt(re * re + im * im),
    "Angle": lambda re, im: np.arctan2(im, re),
    "Conj": lambda re, im: (re, -im),
}


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


def of_complex(op, function):
    @holds(HELD, op)
    def case(draw, tally):
        size = shapes(draw)[0]
        function(positive(tally, *size), positive(tally, *size, seed=1))
        return Node([placeholder("complex64", size)])


for _table, _make, _number in ((UNARY, of_floats, 1), (BINARY, of_floats, 2), (UNARY_BITS, of_integers, 1),
                               (BINARY_BITS, of_integers, 2)):  # fmt: skip
    for _op, _function in _table.items():
        _make(_op, _function, _number)
for _op, _function in COMPLEX.items():
    of_complex(_op, _function)


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
