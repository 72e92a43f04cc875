"""Initial centers for k-means, drawn as TensorFlow draws them, and nearest centers.

Draws are in the order of TensorFlow's kernels KmeansPlusPlusInitialization (Arthur and Vassilvitskii, "k-means++: the
advantages of careful seeding", 2007) and KMC2ChainInitialization (Bachem et al., 2016).
"""

from __future__ import annotations

import math

import numpy as np

from ..parallel.interruption_points import PIECE, pause
from ..types.arrays import Array
from .philox import Philox
from .range_samplers import Words

_MOST_DRAWS = 4096
"""The number of draws of points that are already centers, picked only through rounding, after which their distances count
as zero.
"""


def kmc2_chain(distances: Array, seed: int) -> int:
    """Return the last state of a Markov chain over the points that prefers distant points (Bachem et al., 2016)."""
    words = Words(Philox.from_seeds(seed, 0))
    selected, reach = 0, distances[0]
    for i in range(1, len(distances)):
        if distances[i] > words.float32() * reach:
            selected, reach = i, distances[i]
    return selected


def kmeans_plus_plus(points: Array, count: int, seed: int, retries: int) -> Array:
    """Draw `count` different points, each in proportion to the squared distance from the nearest point before.

    Of 1 + retries candidates the candidate with the smallest sum of distances is taken; see `retries_of`.
    """
    words = Words(Philox.from_seeds(seed, 0))
    retries = retries_of(retries, count)
    half_norms = np.float32(0.5) * np.einsum("ij,ij->i", points, points)
    nearest = np.full(len(points), np.inf, np.float32)
    chosen: list[int] = []
    for _ in range(count):
        candidates = []
        for _ in range(1 + retries):
            pause()
            index = _draw(words, nearest, chosen)
            closer = np.minimum(nearest, half_norms - points @ points[index] + half_norms[index])
            candidates.append((closer.sum(dtype=np.float32), index, closer))
        _, index, nearest = min(candidates, key=lambda candidate: candidate[0])
        chosen.append(index)
    return points[chosen]


def retries_of(retries: int, count: int) -> int:
    """Return the number of retries of a center; a negative number means 2 + log(count)."""
    return 2 + int(math.log(max(count, 1))) if retries < 0 else retries


def _draw(words: Words, nearest: Array, chosen: list[int]) -> int:
    """Draw a point that is not chosen yet; the last point, even if chosen, where all distances are zero."""
    if not chosen:
        return words.below(len(nearest), 64)
    sums = np.cumsum(nearest, dtype=np.float32)
    for _ in range(_MOST_DRAWS):
        pause()
        index = _drawn(words, sums)
        if index == len(nearest):
            return index - 1
        if index not in chosen:
            return index
    others = nearest.copy()
    others[chosen] = 0
    return min(_drawn(words, np.cumsum(others, dtype=np.float32)), len(nearest) - 1)


def _drawn(words: Words, sums: Array) -> int:
    return int(np.searchsorted(sums, words.float32() * sums[-1], side="right"))


def nearest_centers(points: Array, centers: Array, k: int) -> tuple[Array, Array]:
    """Return the `k` nearest centers to each point, sorted by distance and then by index, and squared distances."""
    squares = np.einsum("ij,ij->i", centers, centers)
    order = np.empty((len(points), min(k, len(centers))), np.int64)
    distances = np.empty(order.shape, np.result_type(points, centers))
    rows = max(PIECE // max(len(centers), 1), 1)
    for start in range(0, len(points), rows):
        pause()
        part = slice(start, start + rows)
        order[part], distances[part] = _nearest(points[part], centers, squares, k)
    return order, distances


def _nearest(points: Array, centers: Array, squares: Array, k: int) -> tuple[Array, Array]:
    own = np.einsum("ij,ij->i", points, points)[:, None]
    distances = np.maximum(own - 2 * (points @ centers.T) + squares, 0)
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(distances, order, 1)
