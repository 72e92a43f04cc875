"""Cases of the clustering family."""

import numpy as np

from tests.opcases import case, normal, uniform

POINTS = normal(7, 3)
TWINS = np.repeat(normal(3, 2), 2, axis=0)


def i64(value):
    return np.int64(value)


CASES = [
    *(case("KMC2ChainInitialization", uniform(20), i64(seed)) for seed in range(4)),
    case("KMC2ChainInitialization", np.zeros(3, np.float32), i64(1)),
    case("KMC2ChainInitialization", np.zeros(0, np.float32), i64(1)),
    case("KMC2ChainInitialization", normal(2, 2), i64(1)),
    *(case("KmeansPlusPlusInitialization", POINTS, i64(4), i64(seed), i64(tries)) for seed in (0, 7) for tries in (-1, 0, 3)),
    case("KmeansPlusPlusInitialization", normal(8, 1), i64(8), i64(2**40 + 3), i64(0)),
    case("KmeansPlusPlusInitialization", TWINS, i64(5), i64(3), i64(0)),
    case("KmeansPlusPlusInitialization", POINTS, i64(8), i64(0), i64(0)),
    case("KmeansPlusPlusInitialization", POINTS, i64(0), i64(0), i64(0)),
    case("KmeansPlusPlusInitialization", normal(4), i64(1), i64(0), i64(0)),
    *(case("NearestNeighbors", POINTS, normal(4, 3), i64(k)) for k in (0, 1, 3, 9)),
    case("NearestNeighbors", normal(2, 2), TWINS, i64(5)),
    case("NearestNeighbors", POINTS, normal(0, 3), i64(2)),
    case("NearestNeighbors", normal(0, 3), POINTS, i64(2)),
    case("NearestNeighbors", POINTS, normal(4, 2), i64(1)),
    case("NearestNeighbors", POINTS, POINTS, np.array([1])),
]
