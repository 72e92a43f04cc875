"""Boxes that overlap: how much, and which of them stay when each suppresses those after it, or their scores.

Boxes are rows of two opposite corners, (y1, x1, y2, x2).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..arrays import Array

_LEAST_BLOCK: Final = 16
_BLOCK: Final = 128
"""Candidates looked at together: their overlaps with the boxes kept and with each other are found at once."""
_SOFTENED: Final = 1 << 13
"""Pairs of boxes whose overlaps are found at once where scores are lowered."""


def box_overlaps(boxes: Array) -> Callable[..., Any]:
    """A function of some boxes' numbers and of others': each one's intersection over union with each, (n, m), float32.

    0 where a box has no area. Corners may come in any order.
    """
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
        real = (areas[some, None] > 0) & (areas[others] > 0)
        return np.where(real, shared / np.where(real, union, np.float32(1)), np.float32(0))

    return overlaps


def suppress(
    scores: Array, limit: int, threshold: Any, score_threshold: Any, overlaps_of: Callable[..., Any]
) -> tuple[Array, Array]:
    """The boxes kept, by falling score: none overlaps a better one by more than the threshold."""
    candidates = np.flatnonzero(scores > score_threshold)
    candidates = candidates[np.argsort(-scores[candidates], kind="stable")]
    kept: list[int] = []
    size = min(max(limit, _LEAST_BLOCK), _BLOCK)
    for start in range(0, len(candidates), size):
        if len(kept) >= limit:
            break
        block = candidates[start : start + size]
        if kept:
            block = block[~np.any(overlaps_of(block, kept).astype(scores.dtype) > threshold, 1)]
        similar = overlaps_of(block, block).astype(scores.dtype) > threshold
        kept += block[_first_of_similar(similar)].tolist()
    kept = kept[: max(limit, 0)]
    return np.array(kept, np.int32), scores[kept]


def _first_of_similar(similar: Array) -> list[int]:
    """Of some in their order those to which none before, that is one of these, says it is similar by its column."""
    columns = np.ascontiguousarray(np.packbits(similar, axis=0, bitorder="little").T)
    data, width = columns.tobytes(), columns.shape[1]
    found = []
    left = (1 << len(similar)) - 1
    while left:
        bit = left & -left
        i = bit.bit_length() - 1
        found.append(i)
        left &= ~(bit | int.from_bytes(data[i * width : (i + 1) * width], "little"))
    return found


def suppress_softly(
    scores: Array, limit: int, score_threshold: Array, sigma: float, overlaps_of: Callable[..., Any]
) -> tuple[Array, Array]:
    """As suppress, but overlap lowers scores: by exp(-overlap^2 / (2 sigma)) for each box kept (Bodla et al. 2017)."""
    dtype = scores.dtype.type
    scale = dtype(-0.5) / dtype(sigma)
    heap = [(-float(s), i, 0) for i, s in enumerate(scores) if s > score_threshold]
    heapq.heapify(heap)
    kept: list[int] = []
    kept_scores: list[Any] = []
    weights: list[Array] = []
    found: dict[int, Array] = {}

    def weights_of(box: int) -> Array:
        """What a box kept multiplies the scores of all by; found together with those of boxes that may be kept next."""
        if box not in found:
            some = [box, *(number for _, number, _ in heap[: _SOFTENED // len(scores)] if number not in found)]
            similarity = overlaps_of(some, slice(None)).astype(scores.dtype)
            found.update(zip(some, np.exp(scale * similarity * similarity)))
        return found.pop(box)

    while len(kept) < limit and heap:
        negated, box, seen = heapq.heappop(heap)
        original = score = dtype(-negated)
        for row in reversed(weights[seen:]):
            if (weight := row.item(box)) != 1:
                score = score * weight
                if score <= score_threshold:
                    break
        if score == original:
            kept.append(box)
            kept_scores.append(score)
            weights.append(weights_of(box))
        elif score > score_threshold:
            heapq.heappush(heap, (-float(score), box, len(kept)))
    return np.array(kept, np.int32), np.array(kept_scores, scores.dtype)
