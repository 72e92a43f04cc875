"""Logarithm, sine and cosine in single precision, bit for bit as the GNU C library rounds them.

Algorithms and constants: Arm Optimized Routines (Szabolcs Nagy, Wilco Dijkstra, 2018), which glibc took over: a table and a
polynomial in double precision, rounded once. TensorFlow's normally distributed samples depend on them.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ..arrays import Array


def _hex(text: str) -> Array:
    return np.array([float.fromhex(word) for word in text.split()])


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
_LOG_2, _A0, _A1, _A2 = _hex("0x1.62e42fefa39efp-1 -0x1.00ea348b88334p-2 0x1.5575b0be00b6ap-2 -0x1.ffffef20a4123p-2")
_OFFSET: Final = 0x3F330000

_TWO_OVER_PI, _HALF_PI = _hex("0x1.45F306DC9C883p+23 0x1.921FB54442D18p0")
_C1, _C2, _C3, _C4 = _hex("-0x1.ffffffd0c621cp-2 0x1.55553e1068f19p-5 -0x1.6c087e89a359dp-10 0x1.99343027bf8c3p-16")
_S1, _S2, _S3 = _hex("-0x1.555545995a603p-3 0x1.1107605230bc4p-7 -0x1.994eb3774cf24p-13")


def log(x: Array) -> Array:
    """The natural logarithm of positive normal numbers, float32."""
    bits = x.view(np.int32)
    offset = bits - np.int32(_OFFSET)
    place = (offset >> 19) & 15
    exponent = offset >> 23
    mantissa = (bits - (exponent << 23)).view(np.float32).astype(np.float64)
    r = mantissa * _INVERSES[place] - 1.0
    square = r * r
    polynomial = _A0 * square + (_A1 * r + _A2)
    return (polynomial * square + (_LOGARITHMS[place] + exponent * _LOG_2 + r)).astype(np.float32)


def sincos(x: Array) -> tuple[Array, Array]:
    """Sine and cosine of numbers of magnitude below 120, float32."""
    angle = x.astype(np.float64)
    quadrant = ((angle * _TWO_OVER_PI).astype(np.int32) + 0x800000) >> 24
    angle -= quadrant * _HALF_PI
    square = angle * angle
    cube, fourth = angle * square, square * square
    sine = angle + cube * _S1 + cube * square * (_S2 + square * _S3)
    cosine = 1.0 + square * _C1 + fourth * _C2 + fourth * square * (_C3 + square * _C4)
    is_odd = (quadrant & 1).astype(bool)
    first, second = np.where(is_odd, cosine, sine), np.where(is_odd, sine, cosine)
    np.negative(first, out=first, where=(quadrant & 2).astype(bool))
    np.negative(second, out=second, where=((quadrant + 1) & 2).astype(bool))
    return first.astype(np.float32), second.astype(np.float32)
