"""Random ops with seeds: TensorFlow's bits, over sizes that fill groups and blocks and over two runs of a session."""

from __future__ import annotations

import numpy as np

from tests.opcases import case, graph_case, integers, normal
from tfg.core.support.versions import Versions

_SEEDS = {"seed": 87654321, "seed2": 7}
_SIZES = ([0], [1], [3], [4], [5], [255], [257], [2, 3], [])


def drawn(op, *shape, dtype="float"):
    return case(op, np.array(shape, np.int32), key=f"{op} {dtype} {shape}", dtype=dtype, **_SEEDS)


def two_runs(op, *inputs, **attrs):
    """The stream goes on from run to run."""
    return runs(2, f"{op} twice", op, *inputs, **attrs)


def many_runs(op, *inputs, **attrs):
    """Enough runs to compute draws ahead several times."""
    given = [value.tolist() if value.size < 4 else value.shape for value in inputs]
    return runs(24, f"{op} {attrs.get('dtype', '')} {given} many times", op, *inputs, **attrs)


def runs(count, key, op, *inputs, **attrs):
    def build(g):
        g.apply(op, *inputs, name="op", **_SEEDS, **attrs)
        return [["op:0"]] * count

    return graph_case(key, op, build)


def removed(op, *inputs, **attrs):
    """An op that TensorFlow runs in old graphs only."""

    def build(g):
        g.graph.versions = Versions(producer=7)
        g.apply(op, *inputs, name="op", **_SEEDS, **attrs)
        return [["op:0"], ["op:0"]]

    return graph_case(f"{op} {[np.shape(value) for value in inputs]}", op, build)


def bounded(dtype, dims, *parameters):
    values = [np.array(p, np.dtype(dtype)) for p in parameters]
    return case("ParameterizedTruncatedNormal", np.array(dims, np.int32), *values, **_SEEDS)


_FILLS = ("RandomUniform", "RandomStandardNormal", "TruncatedNormal")

CASES = [
    *(drawn(op, *size) for op in _FILLS for size in _SIZES),
    *(drawn(op, 9, dtype=dtype) for op in _FILLS for dtype in ("double", "half", "bfloat16")),
    *(two_runs(op, np.array([5], np.int32), dtype="float") for op in _FILLS),
    *(many_runs(op, np.array(dims, np.int32), dtype="float") for op in _FILLS[:2] for dims in ([], [3], [2, 4])),
    *(many_runs(op, np.array([3], np.int32), dtype="double") for op in _FILLS[:2]),
    many_runs("RandomUniformInt", np.array([3], np.int32), np.int32(0), np.int32(9)),
    *(many_runs("Multinomial", normal(r, 5), np.int32(n)) for r, n in ((1, 1), (2, 3), (3, 20))),
    many_runs("RandomUniformInt", np.array([], np.int32), np.int64(-5), np.int64(9)),
    case("RandomUniform", np.array([2, -1], np.int32), dtype="float", **_SEEDS),
    case("RandomUniform", np.int32(3), dtype="float", key="scalar shape", **_SEEDS),
    *(
        case("RandomUniformInt", np.array(size, np.int32), np.array(-7, dtype), np.array(1000, dtype), **_SEEDS)
        for size in ([0], [5], [257])
        for dtype in ("int32", "int64")
    ),
    case("RandomUniformInt", np.array([3], np.int32), np.int64(-(2**63)), np.int64(2**63 - 1), **_SEEDS),
    case("RandomUniformInt", np.array([3], np.int32), np.int32(3), np.int32(3), **_SEEDS),
    two_runs("RandomUniformInt", np.array([5], np.int32), np.int32(0), np.int32(9)),
    *(bounded("float32", [6], 0, 1, *limits) for limits in ((-1, 1), (-2, 3), (3, np.inf), (5, 7), (-np.inf, -3), (1, 0))),
    bounded("float64", [3, 70], [0, 1, 2], 1, -1, [1, 2, 3]),
    bounded("float16", [250], 1, 2, 0, 3),
    bounded("float32", [2500], 0, 1, -1, 1),
    bounded("float32", [3], [0, 1], 1, -1, 3),
    bounded("float32", [3], 0, -1, -1, 3),
    *(
        case("RandomGamma", np.array(dims, np.int32), np.array(alpha, dtype), differentiable=False, **_SEEDS)
        for dims in ([], [7])
        for alpha in (0.3, [0.3, 1.0, 2.5])
        for dtype in ("float32", "float64", "float16")
    ),
    *(
        case("RandomPoissonV2", np.array([7], np.int32), np.array(rate, "float32"), dtype=dtype, **_SEEDS)
        for rate in (0.5, [0.3, 10.0, 250.5], [[0.01, 1e4]])
        for dtype in ("float", "int64")
    ),
    case("RandomPoissonV2", np.array([3], np.int32), np.array([3, 12], np.int32), dtype="int32", **_SEEDS),
    removed("RandomPoisson", np.array([3], np.int32), np.float32(3)),
    *(
        case("RandomUniform", np.array([0, 1 << 30, 1 << 27], dtype), dtype=of, **_SEEDS)
        for dtype in ("int32", "int64")
        for of in ("float", "double")
    ),
    case("Multinomial", normal(3, 5), np.int32(4), **_SEEDS),
    case("Multinomial", normal(3, 5, dtype="double"), np.int32(0), output_dtype="int32", **_SEEDS),
    case("Multinomial", np.array([[np.nan, 1, -np.inf]], np.float32), np.int32(6), **_SEEDS),
    case("Multinomial", normal(3, 5), np.int32(-1), **_SEEDS),
    case("Multinomial", normal(3, 0), np.int32(2), **_SEEDS),
    two_runs("Multinomial", normal(2, 4), np.int32(3)),
    case("RandomShuffle", np.arange(10), **_SEEDS),
    case("RandomShuffle", normal(6, 2), **_SEEDS),
    case("RandomShuffle", normal(1, 2), **_SEEDS),
    two_runs("RandomShuffle", np.arange(9)),
    removed("RandomCrop", normal(5, 6, 3), np.array([2, 3])),
    *(
        case("SobolSample", np.int32(dim), np.int32(count), np.int32(skip), dtype=dtype)
        for dim, count, skip in ((1, 5, 0), (5, 7, 3), (0, 1, 0), (3, 0, 0))
        for dtype in ("float", "double")
    ),
    removed("RandomCrop", integers(4, 4, 1), np.array([4, 4])),
    removed("RandomCrop", normal(4, 4, 2), np.array([5, 2])),
]
