"""Cases of the scans family."""

import itertools

import numpy as np

from tests.opcases import case, integers, normal
from tfg.core.types import dtypes

FLAGS = [{"exclusive": e, "reverse": r} for e, r in itertools.product((False, True), repeat=2)]
NARROW = ("half", "bfloat16")
OPS = ("Cumsum", "Cumprod", "CumulativeLogsumexp")

CASES = [
    *(
        case(op, normal(2, 3, dtype="double"), axis, differentiable=op != OPS[2] or not flags["exclusive"], **flags)
        for op in OPS
        for axis in (1, -2)
        for flags in FLAGS
    ),
    *(case(op, normal(2, 3, 4), np.int64(1), **flags) for op in OPS for flags in FLAGS),
    *(case(op, normal(2, 3, dtype=t), 1, tolerance=2e-2) for op in OPS for t in NARROW),
    # Rounded at each step: sums of ones end at 2,048 and 256.
    *(case("Cumsum", np.ones(2050, dtypes.from_name(t).numpy), 0, tolerance=1e-4, **f) for t in NARROW for f in FLAGS),
    *(case(op, normal(30, 3, dtype=t), a, tolerance=1e-4, **FLAGS[a]) for op in OPS for t in NARROW for a in (0, 1)),
    *(case(op, integers(2, 3, dtype=t), 1) for op in OPS[:2] for t in ("int8", "uint8", "int32", "int64", "complex64")),
    *(case(op, normal(2, 0), 1, exclusive=True) for op in OPS),
    *(case(op, normal(2, 0, dtype="half"), axis) for op in OPS for axis in (0, 1)),
    *(case(op, normal(2), 1) for op in OPS),
    *(case(op, np.float32(2), 0) for op in OPS),
    case("Cumsum", normal(2, 3), np.int32([0, 1])),
    case("Cumprod", np.array([1.0, 0.0, 2.0]), 0, differentiable=False),
    case("CumulativeLogsumexp", np.float32([1, np.inf, 2]), 0),
    case("CumulativeLogsumexp", np.float32([-np.inf, -np.inf, 2]), 0),
    *(
        case("CumulativeLogsumexp", np.array(x, dtypes.from_name(t).numpy), 0, differentiable=False)
        for x in ([np.nan, 1, 2], [1, np.nan, 2], [np.inf, np.inf, 1])
        for t in ("half", "float")
    ),
    case("CumulativeLogsumexp", np.float64([1000, 1000, -1000]), 0),
]
