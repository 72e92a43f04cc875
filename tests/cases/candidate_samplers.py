"""Candidate samplers over several runs, since some learn."""

from __future__ import annotations

import numpy as np

from tests.opcases import case, graph_case

_TRUE = np.array([[1, 2], [3, 0], [2, 2]])
_RANGED = (
    "UniformCandidateSampler",
    "LogUniformCandidateSampler",
    "LearnedUnigramCandidateSampler",
    "ThreadUnsafeUnigramCandidateSampler",
)
_FIXED = {"unigrams": [1.0, 2.5, 4.0, 0.5], "range_max": 4}


def sampled(op, count, is_unique, true=_TRUE, **attrs):
    """Three runs of a sampler of `count` classes."""

    def build(g):
        g.apply(op, true, num_true=2, num_sampled=count, unique=is_unique, seed=3, seed2=4, name="op", **attrs)
        return [["op:0", "op:1", "op:2"]] * 3

    return graph_case(f"{op} {count} {is_unique} {attrs} {np.shape(true)}", op, build)


CASES = [
    *(
        sampled(op, count, is_unique, range_max=size)
        for op in _RANGED
        for count, is_unique, size in ((3, True, 5), (5, True, 5), (6, True, 5), (20, False, 64), (4, False, 3))
    ),
    *(sampled(op, 2, False, range_max=9, true=_TRUE[0]) for op in _RANGED),
    *(sampled("FixedUnigramCandidateSampler", 3, is_unique, _TRUE % 2, **_FIXED) for is_unique in (True, False)),
    sampled("FixedUnigramCandidateSampler", 3, True, _TRUE, distortion=0.5, **_FIXED),
    sampled("FixedUnigramCandidateSampler", 3, True, _TRUE, num_reserved_ids=1, **_FIXED | {"range_max": 5}),
    sampled("FixedUnigramCandidateSampler", 3, False, _TRUE % 2, num_shards=2, shard=1, **_FIXED | {"range_max": 2}),
    sampled("FixedUnigramCandidateSampler", 3, True, _TRUE, range_max=4),
    sampled("FixedUnigramCandidateSampler", 3, True, _TRUE, **_FIXED | {"range_max": 5}),
    sampled("FixedUnigramCandidateSampler", 3, True, _TRUE, **_FIXED | {"vocab_file": "/nowhere/words", "unigrams": []}),
    case("AllCandidateSampler", _TRUE, num_true=2, num_sampled=5, unique=True),
    case("AllCandidateSampler", _TRUE, num_true=2, num_sampled=2, unique=True),
    case("ComputeAccidentalHits", _TRUE, np.array([2, 7, 1, 2]), num_true=2),
    case("ComputeAccidentalHits", _TRUE, np.array([7]), num_true=2),
    case("ComputeAccidentalHits", _TRUE, np.array([[7]]), num_true=2),
    case("ComputeAccidentalHits", _TRUE, np.array([7]), num_true=3),
]
