"""Random ops that are functions of a seed, or of a key and a counter."""

from __future__ import annotations

import numpy as np

from tests.opcases import case, normal

_SEED = np.array([5, -6])
_KEY, _COUNTER = np.array([2**63 + 5], np.uint64), np.array([7, 2**64 - 1], np.uint64)
_FILLS = ("StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal")


def of_seed(op, dims, *inputs, **attrs):
    return case(op, np.array(dims, np.int32), _SEED, *inputs, differentiable=False, **attrs)


def of_key(op, dims, *inputs, alg=1, **attrs):
    return case(op, np.array(dims, np.int32), _KEY, _COUNTER, np.int32(alg), *inputs, differentiable=False, **attrs)


def bounded(dtype, dims, *parameters):
    return of_seed("StatelessParameterizedTruncatedNormal", dims, *(np.array(p, dtype) for p in parameters))


CASES = [
    *(of_seed(op, dims, dtype="float") for op in _FILLS for dims in ([], [0], [5], [2, 3])),
    *(of_seed(op, [7], dtype=dtype) for op in _FILLS for dtype in ("double", "half", "bfloat16")),
    *(of_key(f"{op}V2", [5], dtype="float") for op in _FILLS),
    *(of_key("StatelessRandomUniformV2", [3], alg=alg, dtype="float") for alg in (0, 2, 3)),
    case("StatelessRandomUniform", np.array([3], np.int32), np.array([1, 2, 3]), dtype="float"),
    *(of_seed("StatelessRandomUniformFullInt", [5], dtype=dtype) for dtype in ("int32", "int64", "uint32", "uint64")),
    *(of_key("StatelessRandomUniformFullIntV2", [5], dtype=dtype) for dtype in ("int32", "uint64")),
    *(of_seed("StatelessRandomUniformInt", [5], np.array(-5, d), np.array(77, d)) for d in ("int32", "int64")),
    *(of_key("StatelessRandomUniformIntV2", [5], np.array(5, d), np.array(77, d)) for d in ("int64", "uint32", "uint64")),
    of_seed("StatelessRandomUniformInt", [2], np.int32(5), np.int32(5)),
    of_seed("StatelessRandomUniformInt", [0], np.int32(5), np.int32(5)),
    *(case(f"StatelessRandomGetKeyCounter{end}", seed) for end in ("", "Alg") for seed in (_SEED, np.array([0, 1], np.int32))),
    case("StatelessRandomGetKeyCounter", np.array([1])),
    case("StatelessRandomGetAlg"),
    case("StatelessMultinomial", normal(3, 5), np.int32(4), _SEED),
    case("StatelessMultinomial", normal(3, 5), np.int32(4), _SEED, output_dtype="int32"),
    *(of_seed("StatelessRandomGammaV2", [4, 3], np.array([0.3, 1.0, 2.5], d)) for d in ("float16", "float32", "float64")),
    of_seed("StatelessRandomGammaV2", [4], np.array([0.3, 1.0, 2.5])),
    of_key("StatelessRandomGammaV3", [4, 2], np.array([0.5, 7.0], np.float32)),
    of_seed("StatelessRandomPoisson", [4, 3], np.array([0.3, 11.0, 200.5], np.float32), dtype="int32"),
    of_seed("StatelessRandomPoisson", [4], np.float64(4), dtype="float"),
    *(
        of_seed("StatelessRandomBinomial", [4, 3], np.array(counts, "float32"), np.array(probs, "float32"), dtype=dtype)
        for counts, probs in (([3, 50, 1000], [0.3, 0.5, 0.97]), (100, [0, 1, 0.2]), (-1, 0.5))
        for dtype in ("float", "int64")
    ),
    of_seed("StatelessRandomBinomial", [4], np.float32(3), np.array([0.3, 0.2], np.float32), dtype="float"),
    *(bounded("float32", [6], 0, 1, *limits) for limits in ((-1, 1), (-2, 3), (3, np.inf), (5, 7), (-np.inf, -3), (1, 0))),
    bounded("float64", [3, 4], [0, 1, 2, 3], 1, -1, [1, 2, 3, 4]),
    bounded("float16", [8], 1, 2, 0, 3),
    bounded("float32", [8], [1, 2], [1, 2, 3], 0, 3),
    *(case("StatelessShuffle", value, _KEY, _COUNTER, np.int32(1)) for value in (np.arange(10), normal(6, 2), normal(0, 2))),
    *(
        case("RandomIndexShuffle", np.array(index, dtype), np.array([1, 2, 3]), np.array(limit, dtype), rounds=rounds)
        for index, limit, dtype in ((3, 10, "int32"), (0, 0, "uint32"), (5, 10**6, "int64"), (11, 10, "int64"))
        for rounds in (4, 6)
    ),
    case("RandomIndexShuffle", np.array([1, 2]), np.array([[1, 2, 3], [3, 4, 5]]), np.int64(20)),
    case("RandomIndexShuffle", np.array([1, 2, 3]), np.array([1, 2, 3]), np.array([20, 20])),
]
