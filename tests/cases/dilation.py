"""Cases of the dilation family."""

import numpy as np

from tests.opcases import case, integers, normal

X, W = normal(2, 5, 6, 3, dtype="double"), normal(2, 3, 3, dtype="double")
VALID = {"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": "VALID"}
SAME = {"strides": [1, 2, 2, 1], "rates": [1, 2, 1, 1], "padding": "SAME"}
FAR = {"strides": [1, 1, 1, 1], "rates": [1, 3, 3, 1], "padding": "SAME"}
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
    # Windows without a largest element: of -inf, of NaN, and outside of the image.
    *(
        case(f"Dilation2DBackprop{name}", np.where(X > 0, X, value), W[:, :2], np.abs(dy), **attrs)
        for name in ("Input", "Filter")
        for value in (-np.inf, np.nan)
        for dy, attrs in ((normal(2, 4, 5, 3, dtype="double"), VALID), (SMALL, SAME))
    ),
    *(
        case(f"Dilation2DBackprop{name}", X[:, :h, :w], W[:, :2], normal(2, h, w, 3, dtype="double"), **FAR)
        for name in ("Input", "Filter")
        for h, w in ((1, 1), (2, 1))
    ),
    *(
        case(f"Dilation2DBackprop{name}", np.full_like(X, value), W, dy, **attrs)
        for name in ("Input", "Filter")
        for value in (-np.inf, np.nan)
        for dy, attrs in ((DY, VALID), (SMALL, SAME))
    ),
]
