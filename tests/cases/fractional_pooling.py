"""Cases of the fractional_pooling family."""

import numpy as np

from tests.opcases import case, i64, integers, normal

RATIO = {"pooling_ratio": [1.0, 1.5, 1.3, 1.0], "seed": 3, "seed2": 4, "deterministic": True}
ROWS, COLUMNS = i64(0, 2, 3, 5), i64(0, 1, 3, 4, 6)
X = normal(2, 5, 6, 3, dtype="double")


def maxima(overlapping):
    ends = np.minimum(ROWS[1:] + overlapping, 5), np.minimum(COLUMNS[1:] + overlapping, 6)
    return np.stack(
        [np.stack([X[:, a:b, c:d].max((1, 2)) for c, d in zip(COLUMNS, ends[1])], 1) for a, b in zip(ROWS, ends[0])],
        1,
    )


CASES = [
    *(
        case(op, x, pseudo_random=pseudo, overlapping=overlapping, **RATIO, differentiable=False)
        for op in ("FractionalAvgPool", "FractionalMaxPool")
        for pseudo in (False, True)
        for overlapping in (False, True)
        for x in (normal(2, 7, 9, 2, dtype="double"), integers(1, 6, 8, 1, low=-9))
    ),
    *(
        case(op, x, **attrs)
        for op in ("FractionalAvgPool", "FractionalMaxPool")
        for x, attrs in ((normal(4, 4, 1), RATIO), (normal(1, 4, 4, 1), {**RATIO, "deterministic": False}))
    ),
    *(
        case("FractionalAvgPoolGrad", i64(2, 5, 6, 3), normal(2, 3, 4, 3, dtype="double"), ROWS, COLUMNS, overlapping=o)
        for o in (False, True)
    ),
    *(
        case("FractionalMaxPoolGrad", X, maxima(o), normal(2, 3, 4, 3, dtype="double"), ROWS, COLUMNS, overlapping=o)
        for o in (False, True)
    ),
    case("FractionalMaxPoolGrad", X, maxima(False) + 1, normal(2, 3, 4, 3, dtype="double"), ROWS, COLUMNS),
]
