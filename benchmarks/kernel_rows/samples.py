"""Random numbers: of a node's own stream and of a key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from .making import Fixed, Row, fixed, ints, normal, one, row

_COUNTS: Final = (1000, 200000)
_SEEDS: Final[dict[str, Any]] = {"seed": 1, "seed2": 2}
_STANDARD = [one(v, np.float32) for v in (0, 1, -1, 2)]
"""Mean, deviation and bounds of truncated normal samples."""
_TAIL = [one(v, np.float32) for v in (0, 1, 3, 9)]


def seeded_rows() -> Iterator[Row]:
    for count in _COUNTS:
        shape, note = fixed(count), str(count)
        for op in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal"):
            yield row(op, shape, dtype="float32", note=note, **_SEEDS)
            yield row(op, shape, dtype="float64", note=f"{note} double", **_SEEDS)
        yield row("RandomUniform", shape, dtype="half", note=f"{note} half", **_SEEDS)
        yield row("RandomUniformInt", shape, one(0), one(100), note=note, **_SEEDS)
        few = fixed(count // 100)
        for alpha in (0.5, 3.0):
            yield row("RandomGamma", few, Fixed(np.full(100, alpha, np.float32)), note=f"{note} {alpha}", **_SEEDS)
        for rate in (3.0, 30.0):
            yield row("RandomPoissonV2", few, Fixed(np.full(100, rate, np.float32)), note=f"{note} {rate}", **_SEEDS)
        yield row("RandomShuffle", np.arange(count), **_SEEDS)
        yield row("ParameterizedTruncatedNormal", shape, *_STANDARD, note=note, **_SEEDS)
        yield row("ParameterizedTruncatedNormal", shape, *_TAIL, note=f"{note} tail", **_SEEDS)
        yield row("Multinomial", normal(10, 100), one(count // 10), note=note, **_SEEDS)


def stateless_rows() -> Iterator[Row]:
    seed = np.array([1, 2], np.int64)
    stream = np.array([1], np.uint64), np.array([1, 2], np.uint64), one(1)
    for count in _COUNTS:
        shape, note = fixed(count), str(count)
        for kind in ("Uniform", "Normal"):
            yield row(f"StatelessRandom{kind}V2", shape, *stream, note=note)
            yield row(f"StatelessRandom{kind}", shape, seed, note=note)
        yield row("StatelessTruncatedNormalV2", shape, *stream, note=note)
        yield row("StatelessRandomUniformIntV2", shape, *stream, one(0), one(100), note=note)
        yield row("StatelessRandomUniformFullIntV2", shape, *stream, dtype="int32", note=note)
        yield row("StatelessRandomGammaV3", shape, *stream, one(2, np.float32), note=note)
        yield row("StatelessRandomBinomial", shape, seed, one(20, np.float64), one(0.4, np.float64), note=note)
        yield row("StatelessRandomPoisson", shape, seed, one(5, np.float32), dtype="float32", note=note)
        yield row("StatelessParameterizedTruncatedNormal", shape, seed, *_STANDARD, note=note)
        yield row("StatelessShuffle", np.arange(count), *stream)
        yield row("StatelessMultinomial", normal(10, 100), one(count // 10), seed, note=note)


def candidate_rows() -> Iterator[Row]:
    yield row("SobolSample", one(8), one(1000), one(0))
    drawn = {"num_true": 1, "num_sampled": 100, "unique": True, "range_max": 1000, **_SEEDS}
    for op in ("Uniform", "LogUniform"):
        yield row(f"{op}CandidateSampler", ints(1000, 10, 1, dtype=np.int64), **drawn)
