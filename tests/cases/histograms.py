"""Cases of the histograms family."""

import numpy as np

from tests.opcases import case, integers, normal

NONE = np.zeros(0, np.int32)
SOME = integers(7, high=6)
ROWS = integers(3, 5, high=6)
UNIT = np.array([-1.0, 1.0], np.float32)
WEIGHTS = ("int32", "int64", "float32", "double")


def f32(*values):
    return np.array(values, np.float32)


def bincounts():
    cases = [case("Bincount", SOME, 4, integers(7, low=-5, dtype=t)) for t in WEIGHTS]
    cases += [
        case("DenseBincount", x, 4, integers(*x.shape, low=-5, dtype=t), binary_output=binary)
        for x in (SOME, ROWS)
        for t in WEIGHTS
        for binary in (False, True)
    ]
    shapes = (SOME, ROWS, integers(0, 3), integers(3, 0))
    cases += [case("DenseBincount", x, 4, np.zeros(0, t)) for x in shapes for t in WEIGHTS]
    return [
        *cases,
        case("DenseBincount", integers(3, 5, high=6, dtype="int64"), np.int64(5), NONE),
        case("DenseBincount", np.int32(2), 4, NONE),
        case("DenseBincount", SOME, 0, NONE),
        case("DenseBincount", ROWS, 4, SOME),
        case("DenseBincount", -ROWS, 4, NONE),
        case("DenseBincount", integers(1, 2, 3), 4, NONE),
        case("DenseBincount", SOME, -1, NONE),
        case("DenseBincount", SOME, np.int32([4]), NONE),
        case("Bincount", SOME, 4, NONE),
        case("Bincount", ROWS, 4, np.zeros(0)),
        case("Bincount", ROWS, 4, integers(15)),
        case("Bincount", np.int32(3), 4, NONE),
        case("Bincount", NONE, 4, NONE),
        case("Bincount", SOME, 0, NONE),
        case("Bincount", -SOME, 4, NONE),
        case("Bincount", SOME, -1, NONE),
        case("Bincount", SOME, np.int32([4]), NONE),
        case("Bincount", SOME, 4, integers(3)),
    ]


def histograms():
    return [
        case("HistogramFixedWidth", normal(20), UNIT, 5),
        case("HistogramFixedWidth", normal(4, 5, dtype="double"), UNIT.astype(np.float64), 7, dtype="int64"),
        case("HistogramFixedWidth", integers(20, low=-5, high=15), integers(2, low=0, high=1) + np.int32([0, 10]), 3),
        case("HistogramFixedWidth", integers(20, low=-5, high=15, dtype="int64"), np.int64([0, 10]), 20),
        case("HistogramFixedWidth", normal(0), UNIT, 3),
        case("HistogramFixedWidth", np.float32(0.5), UNIT, 3),
        case("HistogramFixedWidth", normal(3), UNIT, 0),
        case("HistogramFixedWidth", normal(3), UNIT, np.int32([3])),
        case("HistogramFixedWidth", normal(3), -UNIT, 3),
        case("HistogramFixedWidth", normal(3), f32(1, 1), 3),
        case("HistogramFixedWidth", normal(3), f32(1, 2, 3), 3),
        case("HistogramFixedWidth", f32(1, np.nan), UNIT, 3),
        case("HistogramFixedWidth", normal(3), f32(np.nan, 1), 3),
    ]


def buckets():
    edges = [-1.0, 0.0, 0.0, 2.5]
    return [
        *(case("Bucketize", integers(3, 4, low=-3, high=5, dtype=t), boundaries=edges) for t in WEIGHTS),
        case("Bucketize", f32(np.nan, np.inf, -np.inf, 2.5), boundaries=edges),
        case("Bucketize", normal(0), boundaries=edges),
        case("Bucketize", np.float32(1), boundaries=edges),
        case("Bucketize", normal(3), boundaries=[]),
        case("Bucketize", normal(3), boundaries=[2.0, 1.0]),
    ]


def isotonic():
    """T decides output_dtype: only these pairs have kernels."""
    pairs = (("float32", "float"), ("double", "double"), ("half", "half"), ("int32", "double"), ("int8", "float"))
    cases = [case("IsotonicRegression", (normal(2, 6) * 4).astype(t), output_dtype=out) for t, out in pairs]
    return [
        *cases,
        case("IsotonicRegression", np.float32([2, 2, 1, 1, 3])),
        case("IsotonicRegression", np.float32(3)),
        case("IsotonicRegression", normal(2, 0)),
        case("IsotonicRegression", integers(3), output_dtype="half"),
    ]


CASES = [*bincounts(), *histograms(), *buckets(), *isotonic()]
