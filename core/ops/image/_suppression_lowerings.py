"""Non-maximum suppression as array programs: the best remaining box again and again, with room for all boxes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Picked(NamedTuple):
    """The boxes picked by falling score: numbers and scores (..., limit), 0 behind the last, and their counts (...)."""

    boxes: Any
    scores: Any
    counts: Any


def hard(xla: Any, threshold: Any) -> Callable[[Any, Any], Any]:
    """Return a function that removes boxes whose overlap with the picked box exceeds a threshold."""
    return lambda scores, overlap: xla.where(overlap.astype(scores.dtype) > threshold, -np.inf, scores)


def soft(xla: Any, sigma: Any, lowest: Any) -> Callable[[Any, Any], Any]:
    """Return a function that lowers the scores of boxes by their overlap with the picked box (Bodla et al. 2017)."""

    def lowered(scores: Any, overlap: Any) -> Any:
        similarity = overlap.astype(scores.dtype)
        scale = scores.dtype.type(-0.5) / scores.dtype.type(sigma)
        lowered_scores = scores * xla.exp(scale * similarity * similarity)
        return xla.where(lowered_scores > lowest, lowered_scores, -np.inf)

    return lowered


def picked(xla: Any, boxes: Any, scores: Any, limit: int, lowest: Any, suppressed: Callable[[Any, Any], Any]) -> Picked:
    """Pick the best of boxes (..., n, 4) with scores (..., n) above `lowest`: each picked box suppresses the rest.

    `suppressed` makes new scores of scores and overlaps, -inf for removed boxes.
    """
    lead, count = scores.shape[:-1], scores.shape[-1]
    numbers, picked_scores = xla.zeros((*lead, limit), np.int32), xla.zeros((*lead, limit), scores.dtype)
    if not count:
        return Picked(numbers, picked_scores, xla.zeros(lead, np.int32))

    def goes_on(state: Any) -> Any:
        step, left, *_ = state
        return (step < min(limit, count)) & (left > -np.inf).any()

    def picking(state: Any) -> Any:
        step, left, numbers, picked_scores, counts = state
        best = xla.argmax(left, -1)[..., None]
        score = xla.take_along_axis(left, best, -1)
        is_box = score > -np.inf
        overlap = _overlaps(xla, xla.take_along_axis(boxes, best[..., None], -2), boxes)
        left = xla.where(xla.arange(count) == best, -np.inf, suppressed(left, overlap))
        numbers = numbers.at[..., step].set(xla.where(is_box, best, 0)[..., 0].astype(np.int32))
        picked_scores = picked_scores.at[..., step].set(xla.where(is_box, score, 0)[..., 0].astype(picked_scores.dtype))
        return step + 1, left.astype(scores.dtype), numbers, picked_scores, counts + is_box[..., 0]

    left = xla.where(scores > lowest, scores, -np.inf).astype(scores.dtype)
    state = (np.int32(0), left, numbers, picked_scores, xla.zeros(lead, np.int32))
    return Picked(*xla.lax.while_loop(goes_on, picking, state)[2:])


def _overlaps(xla: Any, some: Any, others: Any) -> Any:
    """Intersection over union, float32, 0 where a box has no area; corners may come in any order."""
    low, high, areas = zip(*(_corners(xla, boxes.astype(np.float32)) for boxes in (some, others)))
    sides = xla.maximum(xla.minimum(*high) - xla.maximum(*low), 0)
    shared = sides[..., 0] * sides[..., 1]
    union = areas[0] + areas[1] - shared
    is_real = (areas[0] > 0) & (areas[1] > 0)
    return xla.where(is_real, shared / xla.where(is_real, union, np.float32(1)), np.float32(0))


def _corners(xla: Any, boxes: Any) -> tuple[Any, Any, Any]:
    """Return the lower corners, the upper corners and the areas."""
    low, high = xla.minimum(boxes[..., :2], boxes[..., 2:]), xla.maximum(boxes[..., :2], boxes[..., 2:])
    return low, high, (high[..., 0] - low[..., 0]) * (high[..., 1] - low[..., 1])


def best_of_classes(
    xla: Any, boxes: Any, scores: Any, limit: int, size: int, threshold: Any, lowest: Any
) -> tuple[Any, Any, Any, Any]:
    """Return for each image the `size` best boxes picked in all classes: boxes, scores, classes and their number.

    Boxes are (images, n, 1 or classes, 4), scores (images, n, classes); each class gives at most `limit` boxes.
    """
    images, count, classes = scores.shape
    limit = min(limit, count)
    by_class = xla.broadcast_to(xla.swapaxes(boxes, 1, 2), (images, classes, count, 4))
    picks = picked(xla, by_class, xla.swapaxes(scores, 1, 2), limit, lowest, hard(xla, threshold))
    is_box = (xla.arange(limit) < picks.counts[..., None]).reshape(images, classes * limit)
    places = xla.broadcast_to(picks.boxes[..., None], (images, classes, limit, 4))
    chosen = xla.take_along_axis(by_class, places, -2).reshape(images, classes * limit, 4)
    picked_scores = picks.scores.reshape(images, classes * limit)
    order = xla.argsort(xla.where(is_box, -picked_scores, np.inf), -1)[:, :size]  # equal ones stay in order
    missing = size - order.shape[1]
    valid = xla.minimum(picks.counts.sum(1), size).astype(np.int32)
    parts = []
    for values in (chosen, picked_scores[..., None], xla.arange(classes * limit)[None, :, None] // max(limit, 1)):
        values = xla.broadcast_to(values, (images, *values.shape[1:])).astype(np.float32)
        best = xla.take_along_axis(values, order[..., None], 1)
        best = xla.where((xla.arange(order.shape[1]) < valid[:, None])[..., None], best, 0)
        parts.append(xla.pad(best, ((0, 0), (0, missing), (0, 0))))
    return parts[0], parts[1][..., 0], parts[2][..., 0], valid
