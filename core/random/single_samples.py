"""Few samples of distributions drawn by rejection, in Python's numbers; equal to the samples of `Lanes`."""

from __future__ import annotations

import math
from typing import Final

from .philox import RESERVED_PER_OUTPUT, Philox, unit_double

_TURN: Final = 2 * math.pi
_LEAST: Final = 1e-7
"""The least uniform number that TensorFlow takes a logarithm of (1e-7)."""


class Lane:
    """A position in the stream; doubles come block by block, the last of a block first."""

    __slots__ = ("_gen", "_normals", "_uniforms")

    def __init__(self, gen: Philox) -> None:
        self._gen = gen
        self._normals: list[float] = []
        self._uniforms: list[float] = []

    def uniform(self) -> float:
        """Draw a sample uniform on [0, 1)."""
        if not self._uniforms:
            self._uniforms = list(self._pair())
        return self._uniforms.pop()

    def normal(self) -> float:
        """Draw a standard normal sample, by Box and Muller."""
        if not self._normals:
            u, v = self._pair()
            radius, angle = math.sqrt(-2.0 * math.log(max(u, _LEAST))), v * _TURN
            self._normals = [math.sin(angle) * radius, math.cos(angle) * radius]
        return self._normals.pop()

    def _pair(self) -> tuple[float, float]:
        """Return the two uniform doubles of the next block."""
        a, b, c, d = self._gen.next_block()
        return unit_double(a, b), unit_double(c, d)


def gamma(gen: Philox, alphas: list[float]) -> list[float]:
    """Draw a sample of Gamma(alpha, 1) for each alpha, all positive: Marsaglia and Tsang, ACM TOMS 26 (2000)."""
    return [_gamma(Lane(gen.skipped(i * RESERVED_PER_OUTPUT)), alpha) for i, alpha in enumerate(alphas)]


def _gamma(lane: Lane, alpha: float) -> float:
    if alpha == 1:
        return -math.log1p(-lane.uniform())
    d = alpha + (2.0 / 3 if alpha < 1 else -1.0 / 3)
    c = 1.0 / 3 / math.sqrt(d)
    while True:
        x = lane.normal()
        v = 1 + c * x
        if v <= 0:
            continue
        v, u = v * v * v, lane.uniform()
        if u < 1 - 0.0331 * (x * x) * (x * x) or not u or math.log(u) < 0.5 * x * x + d * (1 - v + math.log(v)):
            return d * v * lane.uniform() ** (1 / alpha) if alpha < 1 else d * v


def poisson(gen: Philox, rates: list[float]) -> list[float]:
    """Draw a Poisson sample for each rate, all from 0 to 10: by Knuth's product of uniforms."""
    return [_poisson(Lane(gen.skipped(i * RESERVED_PER_OUTPUT)), rate) for i, rate in enumerate(rates)]


def _poisson(lane: Lane, rate: float) -> float:
    limit, product, count = math.exp(-rate), lane.uniform(), 0.0
    while product > limit:
        product *= lane.uniform()
        count += 1
    return count


def geometric_gaps(lane: Lane, count: float, prob: float) -> float:
    """Draw a binomial sample for a prob from 0 to 1/2, not 0: the number of geometric gaps that fit into `count` trials."""
    logarithm, successes, total = math.log1p(-prob), -1.0, 0.0
    while total <= count:
        u = lane.uniform()
        total += math.ceil(math.log(u) / logarithm) if u else math.inf
        successes += 1
    return successes
