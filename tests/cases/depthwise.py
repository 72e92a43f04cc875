"""Cases of the depthwise family."""

import numpy as np

from tests.opcases import case, i32, normal, unshaped

X, W = normal(2, 5, 6, 3, dtype="double"), normal(3, 2, 3, 2, dtype="double")
VALID, SAME = {"strides": [1, 1, 1, 1], "padding": "VALID"}, {"strides": [1, 2, 2, 1], "padding": "SAME"}
EXPLICIT = {"strides": [1, 1, 1, 1], "padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 2, 0, 1, 0, 0]}
DY, SMALL = normal(2, 3, 5, 6, dtype="double"), normal(2, 3, 3, 6, dtype="double")
OP = "DepthwiseConv2dNative"

CASES = [
    case(OP, X, W, **VALID),
    case(OP, X, W, **SAME),
    case(OP, X, W, **EXPLICIT),
    case(OP, normal(2, 5, 6, 3), normal(3, 2, 3, 1), **VALID),
    case(OP, normal(2, 4, 4, 2, dtype="half"), normal(2, 2, 2, 1, dtype="half"), **VALID),
    case(OP, np.zeros((0, 4, 4, 2)), normal(2, 2, 2, 1, dtype="double"), **VALID),
    case(OP, X, W, strides=[1, 1, 2, 1], padding="VALID"),
    case(OP, normal(2, 4, 4, 3), normal(2, 2, 2, 1), **VALID),
    case(f"{OP}BackpropInput", i32(2, 5, 6, 3), W, DY, **VALID),
    case(f"{OP}BackpropInput", i32(2, 5, 6, 3), W, SMALL, **SAME),
    case(f"{OP}BackpropInput", i32(2, 5, 6, 3), W, SMALL, **VALID),
    case(f"{OP}BackpropFilter", X, i32(3, 2, 3, 2), DY, **VALID),
    case(f"{OP}BackpropFilter", X, i32(3, 2, 3, 2), SMALL, **SAME),
    case(f"{OP}BackpropFilter", X, i32(3, 2, 3, 2), SMALL, **VALID),
    case(OP, normal(1, 4, 4, 2), normal(2, 2, 2, 1), strides=[1, 1, 1, 2], padding="SAME"),
    case(f"{OP}BackpropInput", i32(1, 4, 4, 2), normal(2, 2, 2, 1), normal(1, 4, 4, 2), strides=[1, 1, 1, 2], padding="SAME"),
    unshaped(f"{OP}BackpropInput", i32(3, 3, 0), normal(3), normal(2, 5, 5, 1), strides=[1] * 4, padding="SAME"),
]
