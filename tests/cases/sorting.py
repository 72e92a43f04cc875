"""Cases of the sorting family."""

import numpy as np

from tests.opcases import case, i32, i64, integers, normal, removed, strings

X = normal(3, 5, dtype="double")
TIED = i32([3, 1, 3, 0, 1], [2, 2, 2, 2, 2])


def beside_nan():
    """Rows on whose NaN the loops meet in another order for each way to sort: a heap, insertion, pivots, a heap at last."""
    cases = []
    for dtype in ("half", "float", "double"):
        x = integers(3, 40, low=-9, high=9, dtype=dtype)
        x.flat[::7] = np.nan
        x[2] = np.nan
        cases += [case("TopKV2", x, k, sorted=k % 2 == 0, differentiable=False) for k in (1, 5, 12, 38, 40)]
        shorter = ((5, 1), (9, 1), (16, 1), (16, 16), (5, 4))
        cases += [case("TopKV2", x[:, :n].copy(), k, differentiable=False) for n, k in shorter]
    # Of a median of three the worst order: Musser, "Introspective sorting and selection algorithms" (1997).
    half = np.arange(1, 101, dtype=np.float32)
    worst = -np.concatenate([np.where(half % 2, half, half + 99), 2 * half])
    worst[-1] = np.nan
    return [*cases, case("TopKV2", worst, 200, differentiable=False)]


def top():
    dtypes = ("half", "bfloat16", "float", "int8", "uint8", "int64", "uint64")
    cases = [case("TopKV2", integers(2, 6, dtype=t), 3) for t in dtypes]
    cases += [case("TopKV2", X, k) for k in (0, 1, 2, 5, 6)]
    cases += [case("TopKV2", normal(4, 40), 3)]
    cases += [case("TopKV2", TIED, k, sorted=False) for k in (1, 2, 4, 5)]
    return [
        *cases,
        case("TopKV2", TIED, 3),
        case("TopKV2", np.array([0.0, -0.0, 1.0, -np.inf, np.inf] * 3, np.float32), 2),
        case("TopKV2", TIED, np.int16(2), index_type="int64"),
        case("TopKV2", np.float32(1), 1),
        case("TopKV2", X, i32(1)),
        case("TopKV2", X, -1),
        *(case("TopKV2", integers(3, n, low=-9, high=9), k, sorted=False) for n, k in ((7, 3), (40, 12), (40, 39))),
        *beside_nan(),
        removed("TopK", X, version=6, k=6),
        case("ApproxTopK", normal(2, 6), k=2),
        *(case("NthElement", X, n, reverse=r) for n in (0, 2, 4) for r in (False, True)),
        *(case("NthElement", integers(2, 6, dtype=t), 3) for t in ("half", "bfloat16", "uint8", "int64")),
        case("NthElement", X, 5),
        case("NthElement", X, -1),
        case("NthElement", np.float32(1), 0),
    ]


def distinct():
    numbers = (i32(3, 1, 3, 2), np.array([0.0, -0.0, np.nan, np.nan]), normal(0), integers(9, dtype="uint8"))
    values = (*numbers, strings(b"b", b"a", b"b"))
    ops = ("Unique", "UniqueWithCounts")
    cases = [case(op, v, out_idx=t, flops=v.size) for op in ops for v in values for t in ("int32", "int64")]
    rows = i32([1, 2], [1, 2], [2, 1])
    for op in ("UniqueV2", "UniqueWithCountsV2"):
        cases += [case(op, rows, axis, flops=6) for axis in (i64(0), i32(1), i32(-1), i32(2), i32(0, 1))]
        cases += [case(op, v, np.zeros(0, np.int32), flops=v.size) for v in (rows, rows[:, 0])]
        cases += [case(op, strings([b"a", b"b"], [b"a", b"b"]), i64(0)), case(op, np.array([[0.0, 1], [-0.0, 1]]), i64(0))]
    return [
        *cases,
        case("Unique", rows),
        case("ListDiff", i32(3, 1, 4, 1), i32(1, 9)),
        case("ListDiff", strings(b"a", b"b"), strings(b"a"), out_idx="int64"),
        case("ListDiff", normal(0), normal(2)),
        case("ListDiff", np.array([np.nan, 1.0]), np.array([np.nan])),
        case("ListDiff", rows, i32(1)),
    ]


def searched(dtype, with_nan=""):
    """Rows in order, with equal numbers among them, and values inside and outside of them."""
    rows = np.sort(np.random.default_rng(0).integers(-20, 20, (3, 30)), 1).astype(dtype)
    values = np.random.default_rng(1).integers(-25, 25, (3, 17)).astype(dtype)
    if dtype != "int32":
        rows[0, -2:], rows[1, 0], values[0, 3], values[1, 4] = np.inf, -np.inf, np.inf, -0.0
    if with_nan == "one":
        return np.full((3, 1), np.nan, dtype), values
    if with_nan:
        {"rows": rows, "values": values}[with_nan][:, 5] = np.nan
    return rows, values


def membership():
    scores = np.array([[1, 3, 2], [2, 2, 2], [1, np.inf, 0], [np.nan, 1, 2]], np.float32)
    rows = np.array([[1, 3, 3, 9], [0, 1, 2, 2]], np.float32)
    values = np.array([[3, 0, 10], [2, -1, 1]], np.float32)
    cases = [case("InTopKV2", scores, t, k) for t in (i32(0, 0, 0, 1), i32(1, 3, -1, 2)) for k in (0, 1, 2, 5)]
    bounds = ("LowerBound", "UpperBound")
    return [
        *cases,
        case("InTopKV2", scores, i64(0, 0, 0, 1), np.int64(2)),
        case("InTopK", scores, i32(0, 2, 1, 1), k=2),
        case("InTopKV2", scores, i32(0), 1),
        case("InTopKV2", scores[0], i32(0), 1),
        *(case(op, rows, values, out_type=t) for op in bounds for t in ("int32", "int64")),
        *(case(op, rows[:, ::-1].copy(), values) for op in bounds),
        *(case(op, rows[:, :0], values) for op in bounds),
        *(case(op, *searched(dtype), key=f"{op} many {dtype}") for op in bounds for dtype in ("int32", "float32", "float64")),
        *(case(op, *searched("float32", nan), key=f"{op} nan {nan}") for op in bounds for nan in ("rows", "values", "one")),
        case("LowerBound", rows, values[:1]),
        case("UpperBound", rows[0], values[0]),
    ]


CASES = [*top(), *distinct(), *membership()]
