"""Cases of the dilation family."""

import numpy as np

from tests.opcases import case, integers, normal

X, W = normal(2, 5, 6, 3, dtype="double"), normal(2, 3, 3, dtype="double")
VALID = {"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": "VALID"}
SAME = {"strides": [1, 2, 2, 1], "rates": [1, 2, 1, 1], "padding": "SAME"}
DY, SMALL = normal(2, 4, 4, 3, dtype="double"), normal(2, 3, 3, 3, dtype="double")

CASES = [
    case("Dilation2D", X, W, **VALID),
    case("Dilation2D", X, W, **SAME),
    case("Dilation2D", integers(1, 4, 4, 2), integers(2, 2, 2), **VALID),
    case("Dilation2D", integers(1, 4, 4, 2, high=100, dtype="uint8"), integers(2, 2, 2, dtype="uint8"), **SAME),
    case("Dilation2D", normal(1, 4, 4, 2, dtype="half"), normal(2, 2, 2, dtype="half"), **VALID),
    case("Dilation2D", np.zeros((0, 4, 4, 2), np.float32), normal(2, 2, 2), **VALID),
    case("Dilation2D", normal(1, 4, 4, 2), normal(2, 2, 3), **VALID),
    case("Dilation2D", normal(1, 4, 4, 2), normal(2, 2, 2, 1), **VALID),
    *(
        case(f"Dilation2DBackprop{name}", X, W, dy, **attrs)
        for name in ("Input", "Filter")
        for dy, attrs in ((DY, VALID), (SMALL, SAME), (SMALL, VALID))
    ),
]
