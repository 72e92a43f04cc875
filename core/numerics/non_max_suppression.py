"""Non-maximum suppression: overlaps of boxes, and the boxes that remain when each suppresses later boxes or lowers their
scores.

Boxes are rows of two opposite corners, (y1, x1, y2, x2).
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import numpy as np

from ..types.arrays import Array

_LEAST_BLOCK: Final = 16
"""The least candidates that are looked at together, where few boxes are wanted."""
_BLOCK: Final = 128
"""Candidates looked at together: their overlaps with the boxes kept and with each other are found at once."""
FEW: Final = 256
"""The most boxes that are selected in all classes at once, as each candidate is compared with all of them."""
_SOFTENED: Final = 1 << 13
"""Pairs of boxes whose overlaps are computed at once where scores are lowered."""


def box_overlaps(boxes: Array) -> Callable[..., Any]:
    """Return a function of n and m numbers of boxes: intersection over union of each pair, (n, m), float32.

    0 where a box has no area. Corners may come in any order.
    """
    # TensorFlow computes overlaps in float32, whatever the dtype of the boxes; another precision would decide near the
    # threshold otherwise.
    boxes = boxes.astype(np.float32).T
    (top, left), (bottom, right) = np.minimum(boxes[:2], boxes[2:]), np.maximum(boxes[:2], boxes[2:])
    areas = (bottom - top) * (right - left)
    all_real = bool((areas > 0).all())

    def overlaps(some: Any, others: Any) -> Array:
        height = np.minimum(bottom[some, None], bottom[others]) - np.maximum(top[some, None], top[others])
        width = np.minimum(right[some, None], right[others]) - np.maximum(left[some, None], left[others])
        shared = np.maximum(height, 0) * np.maximum(width, 0)
        union = areas[some, None] + areas[others] - shared
        if all_real:
            return shared / union
        # A box without area overlaps nothing; its union may be 0, so that the divisor becomes 1 to keep the quotient quiet.
        real = (areas[some, None] > 0) & (areas[others] > 0)
        return np.where(real, shared / np.where(real, union, np.float32(1)), np.float32(0))

    return overlaps


def suppress(
    scores: Array, limit: int, threshold: Any, score_threshold: Any, overlaps_of: Callable[..., Any]
) -> tuple[Array, Array]:
    """Return the selected boxes, by falling score: none overlaps a better box by more than the threshold."""
    candidates = np.flatnonzero(scores > score_threshold)
    candidates = candidates[np.argsort(-scores[candidates], kind="stable")]
    selected: list[int] = []
    # Most candidates of a small limit are never looked at: a large block would compute overlaps that nobody needs.
    size = min(max(limit, _LEAST_BLOCK), _BLOCK)
    for start in range(0, len(candidates), size):
        if len(selected) >= limit:
            break
        block = candidates[start : start + size]
        if selected:
            block = block[~np.any(overlaps_of(block, selected).astype(scores.dtype) > threshold, 1)]
        similar = overlaps_of(block, block).astype(scores.dtype) > threshold
        selected += block[_first_of_similar(similar)].tolist()
    # The last block may select more than are wanted; a negative limit wants none.
    selected = selected[: max(limit, 0)]
    return np.array(selected, np.int32), scores[selected]


def suppress_in_classes(
    scores: Array, limit: int, total: int, threshold: Any, score_threshold: Any, overlaps_of: Callable[..., Any]
) -> Array:
    """Return the best `total` boxes of those that `suppress` selects in each class, by falling score.

    `scores` are of (classes, boxes), and a box of a class has the number of its score in the flat array, which `overlaps_of`
    takes, too. The work ends with the last box that is returned: candidates with lower scores are not compared.
    """
    values, count = scores.ravel(), scores.shape[1]
    free = np.full(len(scores), limit)
    selected = np.zeros(0, np.intp)

    def similar(some: Array, others: Array) -> Array:
        return (some[:, None] // count == others // count) & (overlaps_of(some, others) > threshold)

    for block in _by_falling_score(values, np.flatnonzero(values > score_threshold)):
        block = block[free[block // count] > 0]
        block = block[~similar(block, selected).any(1)]
        block = _within_limits(block[_first_of_similar(similar(block, block))], free, count)
        selected = np.concatenate((selected, block))
        if len(selected) >= total:
            break
    return selected[:total]


def _by_falling_score(values: Array, candidates: Array) -> Iterator[Array]:
    """Yield blocks of candidates by falling value, equal values in order; parts that grow are sorted when they are needed."""
    size = 4 * _BLOCK
    while len(candidates):
        # The candidates at the border stay together with their equals, so that equal scores keep their order over the blocks.
        least = np.partition(values[candidates], -size)[-size] if len(candidates) > size else -np.inf
        is_next = values[candidates] >= least
        part = candidates[is_next]
        part = part[np.argsort(-values[part], kind="stable")]
        yield from (part[start : start + _BLOCK] for start in range(0, len(part), _BLOCK))
        candidates, size = candidates[~is_next], 4 * size


def _within_limits(block: Array, free: Array, count: int) -> Array:
    """Return the boxes of a block that their classes have room for, and take the room."""
    has_room = []
    for of_class in (block // count).tolist():
        has_room.append(free[of_class] > 0)
        free[of_class] -= 1
    return block[np.array(has_room, bool)]


def _first_of_similar(similar: Array) -> list[int]:
    """Select boxes in order: a box is selected unless similar, by the matrix, to a box selected before."""
    # A column of the matrix is one Python integer: a single operation of bits strikes out all boxes that are similar to a
    # selected one.
    columns = np.ascontiguousarray(np.packbits(similar, axis=0, bitorder="little").T)
    data, width = columns.tobytes(), columns.shape[1]
    selected = []
    left = (1 << len(similar)) - 1
    while left:
        # The lowest bit that is set: the first box that none selected before has struck out.
        bit = left & -left
        i = bit.bit_length() - 1
        selected.append(i)
        left &= ~(bit | int.from_bytes(data[i * width : (i + 1) * width], "little"))
    return selected


def suppress_softly(
    scores: Array, limit: int, score_threshold: Array, sigma: float, overlaps_of: Callable[..., Any]
) -> tuple[Array, Array]:
    """Select boxes as `suppress`, with lowered scores: by exp(-overlap^2 / (2 sigma)) for each selected box (Bodla et al.
    2017).
    """
    heap = [(-float(s), i, 0) for i, s in enumerate(scores) if s > score_threshold]
    heapq.heapify(heap)
    selected: list[int] = []
    kept_scores: list[Any] = []
    softening = _Softening(scores, sigma, overlaps_of)
    weights: list[Array] = []
    while len(selected) < limit and heap:
        negated, box, seen = heapq.heappop(heap)
        original = score = scores.dtype.type(-negated)
        # As TensorFlow's kernel: only the boxes selected since the candidate was last looked at, the latest first, so that
        # the products round alike.
        for row in reversed(weights[seen:]):
            if (weight := row.item(box)) != 1:
                score = score * weight
                if score <= score_threshold:
                    break
        # No later box lowered the score, so that the candidate is still the best.
        if score == original:
            selected.append(box)
            kept_scores.append(score)
            weights.append(softening.weights(box, (number for _, number, _ in heap)))
        elif score > score_threshold:
            heapq.heappush(heap, (-float(score), box, len(selected)))
    return np.array(selected, np.int32), np.array(kept_scores, scores.dtype)


class _Softening:
    """Factors by which each selected box lowers the scores of all boxes."""

    def __init__(self, scores: Array, sigma: float, overlaps_of: Callable[..., Any]) -> None:
        self._dtype = scores.dtype
        self._scale = scores.dtype.type(-0.5) / scores.dtype.type(sigma)
        self._overlaps_of = overlaps_of
        self._at_once = _SOFTENED // max(len(scores), 1)
        self._weights: dict[int, Array] = {}

    def weights(self, box: int, likely: Iterable[int]) -> Array:
        """Return the factors of a box; computes the factors of the next likely boxes too."""
        if box not in self._weights:
            some = [box, *(number for number in itertools.islice(likely, self._at_once) if number not in self._weights)]
            similarity = self._overlaps_of(some, slice(None)).astype(self._dtype)
            self._weights.update(zip(some, np.exp(self._scale * similarity * similarity)))
        return self._weights.pop(box)
