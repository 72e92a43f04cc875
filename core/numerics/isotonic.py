"""Isotonic regression by pooling adjacent violators.

Ayer et al., "An empirical distribution function for sampling with incomplete information", Ann. Math. Stat. 26 (1955).
"""

from __future__ import annotations

from collections.abc import Sequence


def decreasing_fit(row: Sequence[float]) -> tuple[list[float], list[int]]:
    """Return the non-increasing sequence of least squared distance, and for each element the number of its pool."""
    means: list[float] = []
    counts: list[int] = []
    for value in row:
        mean, count = value, 1
        while means and means[-1] < mean:
            before, members = means.pop(), counts.pop()
            mean = (mean * count + before * members) / (count + members)
            count += members
        means.append(mean)
        counts.append(count)
    fit = [mean for mean, count in zip(means, counts) for _ in range(count)]
    return fit, [i for i, count in enumerate(counts) for _ in range(count)]
