"""Logarithm, sine and cosine in single precision, with the GNU C library's rounding bit for bit.

Algorithms and constants: Arm Optimized Routines (Szabolcs Nagy, Wilco Dijkstra, 2018), adopted by glibc: a table and a
polynomial in double precision, rounded once. TensorFlow's normally distributed samples depend on them.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..types.arrays import Array


def _hex(text: str) -> Array:
    return np.array([float.fromhex(word) for word in text.split()])


def _numbers(text: str) -> tuple[Array, ...]:
    """Parse numbers to arrays of rank 0: ufuncs convert Python numbers to arrays at each call."""
    return tuple(np.array(number) for number in _hex(text))


_INVERSES: Final = _hex(
    "0x1.661ec79f8f3bep+0 0x1.571ed4aaf883dp+0 0x1.49539f0f010bp+0 0x1.3c995b0b80385p+0 "
    "0x1.30d190c8864a5p+0 0x1.25e227b0b8eap+0 0x1.1bb4a4a1a343fp+0 0x1.12358f08ae5bap+0 "
    "0x1.0953f419900a7p+0 0x1p+0 0x1.e608cfd9a47acp-1 0x1.ca4b31f026aap-1 "
    "0x1.b2036576afce6p-1 0x1.9c2d163a1aa2dp-1 0x1.886e6037841edp-1 0x1.767dcf5534862p-1"
)
_LOGARITHMS: Final = _hex(
    "-0x1.57bf7808caadep-2 -0x1.2bef0a7c06ddbp-2 -0x1.01eae7f513a67p-2 -0x1.b31d8a68224e9p-3 "
    "-0x1.6574f0ac07758p-3 -0x1.1aa2bc79c81p-3 -0x1.a4e76ce8c0e5ep-4 -0x1.1973c5a611cccp-4 "
    "-0x1.252f438e10c1ep-5 0x0p+0 0x1.aa5aa5df25984p-5 0x1.c5e53aa362eb4p-4 "
    "0x1.526e57720db08p-3 0x1.bc2860d22477p-3 0x1.1058bc8a07ee1p-2 0x1.4043057b6ee09p-2"
)
_LOG_2, *_LOG_TERMS = _numbers("0x1.62e42fefa39efp-1 -0x1.00ea348b88334p-2 0x1.5575b0be00b6ap-2 -0x1.ffffef20a4123p-2")
_OFFSET: Final = np.array(0x3F330000, np.int32)
_STEP: Final = 19
"""The lowest bit, after subtracting the offset, of the bits that hold the exponent and the index into the table."""
_PLACES: Final = np.arange(0x00800000 - 0x3F330000 >> _STEP, (0x7F7FFFFF - 0x3F330000 >> _STEP) + 1)
_FIRST_PLACE: Final = int(_PLACES[0])
_INVERSE_AT: Final = _INVERSES[_PLACES & 15]
_LOGARITHM_AT: Final = _LOGARITHMS[_PLACES & 15] + (_PLACES >> 4) * _LOG_2

_TWO_OVER_PI, _HALF_PI = _numbers("0x1.45F306DC9C883p+23 0x1.921FB54442D18p0")
_COSINE_TERMS: Final = _numbers("-0x1.ffffffd0c621cp-2 0x1.55553e1068f19p-5 -0x1.6c087e89a359dp-10 0x1.99343027bf8c3p-16")
_SINE_TERMS: Final = _numbers("-0x1.555545995a603p-3 0x1.1107605230bc4p-7 -0x1.994eb3774cf24p-13")
_ONE: Final = np.array(1.0)
_EXPONENT, _ROUNDING, _FRACTION, _ODD, _SECOND, _TO_SIGN = (
    np.array(bits, np.int32) for bits in (-1 << 23, 0x800000, 24, 1, 2, 30)
)


def log(x: Array, library: Any = np) -> Array:
    """Return the natural logarithm of positive normal numbers, float32; `library` has NumPy's functions, in 64 bits."""
    bits = x.view(np.int32)
    offset = bits - _OFFSET
    place = (offset >> _STEP) - _FIRST_PLACE
    offset &= _EXPONENT
    mantissa = (bits - offset).view(np.float32).astype(np.float64)
    r = mantissa * library.take(_INVERSE_AT, place) - _ONE
    base = library.take(_LOGARITHM_AT, place) + r
    square = r * r
    a0, a1, a2 = _LOG_TERMS
    logarithms: Array = (a0 * square + (r * a1 + a2)) * square + base
    return logarithms.astype(np.float32)


def sincos(x: Array) -> tuple[Array, Array]:
    """Return sine and cosine of numbers of magnitude below 120, float32; an array may be NumPy's, or another library's in 64
    bits.
    """
    angle = x.astype(np.float64)
    quadrant = (angle * _TWO_OVER_PI).astype(np.int32)
    quadrant += _ROUNDING
    quadrant >>= _FRACTION
    angle -= quadrant * _HALF_PI
    square = angle * angle
    sine = _sine_near_zero(angle, square, *_SINE_TERMS).astype(np.float32).view(np.int32)
    cosine = _cosine_near_zero(square, *_COSINE_TERMS).astype(np.float32).view(np.int32)
    # In odd quadrants they change places; the signs are bits.
    exchange = sine ^ cosine
    exchange &= -(quadrant & _ODD)
    sine ^= exchange
    cosine ^= exchange
    sine ^= (quadrant & _SECOND) << _TO_SIGN
    quadrant += _ODD
    cosine ^= (quadrant & _SECOND) << _TO_SIGN
    return sine.view(np.float32), cosine.view(np.float32)


def _sine_near_zero(angle: Any, square: Any, s1: Any, s2: Any, s3: Any) -> Any:
    """Return the sine between -pi / 4 and pi / 4."""
    cube = angle * square
    return (cube * s1 + angle) + (square * s3 + s2) * (cube * square)


def _cosine_near_zero(square: Any, c1: Any, c2: Any, c3: Any, c4: Any) -> Any:
    """Return the cosine between -pi / 4 and pi / 4, of the squares of angles."""
    fourth = square * square
    return ((square * c1 + 1.0) + fourth * c2) + (square * c4 + c3) * (fourth * square)
