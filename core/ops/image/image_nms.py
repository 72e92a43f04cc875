"""Non-maximum suppression: the best of boxes that overlap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from ...numerics.non_max_suppression import FEW, box_overlaps, suppress, suppress_in_classes, suppress_softly
from ...registry.registry import WITHOUT_GRADIENT, ZERO, Cost, flops, kernel, lower, not_differentiable, onnx, shape
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.shapes import SCALAR, Shape, TensorSpec, merge_dims
from ..shared.argument_checks import require, require_rank, require_shape, scalar, with_rank
from ..shared.onnx_lowerings import iota

_ALL = (
    "NonMaxSuppression",
    "NonMaxSuppressionV2",
    "NonMaxSuppressionV3",
    "NonMaxSuppressionV4",
    "NonMaxSuppressionV5",
    "NonMaxSuppressionWithOverlaps",
    "CombinedNonMaxSuppression",
)
_NO_SIGMA: Final = np.zeros((), np.float32)
"""The sigma with which boxes are removed, and their scores not lowered."""


def _checked_boxes(boxes: Array, scores: Array, max_output_size: Array, iou_threshold: Array) -> tuple[Any, Any]:
    """Return the limit and the threshold as numbers."""
    limit = scalar(max_output_size, "max_output_size")
    threshold = scalar(np.asarray(iou_threshold), "iou_threshold")
    require(0 <= threshold <= 1, f"iou_threshold must be in [0, 1], not {threshold}")
    _check_boxes_and_scores(boxes, scores, limit)
    # Overlaps are compared in the dtype of the scores.
    return limit, scores.dtype.type(threshold)


def _check_boxes_and_scores(boxes: Any, scores: Any, limit: Any) -> None:
    require_rank(boxes, 2, "boxes")
    require(boxes.shape[1] == 4, f"boxes must have 4 columns, not shape {boxes.shape}")
    require_shape(scores, boxes.shape[:1], "scores")
    require(limit >= 0, f"max_output_size must not be negative: {limit}")


def _pairs(count: Any) -> Any:
    return count * (count - 1) // 2


@flops("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3")
def non_max_suppression_flops(boxes: TensorSpec) -> Cost:
    """At most: 13 for the overlap of each pair of boxes and a comparison, 8 for each box's corners, area and score."""
    count = with_rank(boxes.shape, 2)[0]
    return Cost(13) * _pairs(count) + Cost(8) * count


@kernel("NonMaxSuppressionWithOverlaps", shape="n n, n -> picked")
def non_max_suppression_with_overlaps(
    overlaps: Array, scores: Array, max_output_size: Array, overlap_threshold: Array, score_threshold: Array
) -> Result:
    """As NonMaxSuppressionV3, with the overlap of box i and a box j kept earlier in overlaps[i, j]."""
    limit = scalar(max_output_size, "max_output_size")
    threshold = np.float32(scalar(overlap_threshold, "overlap_threshold"))
    lowest = np.float32(scalar(score_threshold, "score_threshold"))
    require_rank(overlaps, 2, "overlaps")
    require(overlaps.shape[0] == overlaps.shape[1], f"overlaps must be square, not {overlaps.shape}")
    require_shape(scores, overlaps.shape[:1], "scores")
    require(limit >= 0, f"max_output_size must not be negative: {limit}")
    return suppress(scores, limit, threshold, lowest, lambda candidates, picked: overlaps[np.ix_(candidates, picked)])[0]


@flops("NonMaxSuppressionWithOverlaps")
def non_max_suppression_with_overlaps_flops(overlaps: TensorSpec) -> Cost:
    """Count an upper bound: a comparison for each pair and each score."""
    count = with_rank(overlaps.shape, 2)[0]
    return Cost(1) * (_pairs(count) + count)


def _padded(values: Array, limit: int, pad: bool) -> Array:
    # Padding is 0, which is also the number of a box: the count of valid boxes tells them apart.
    return np.concatenate((values, np.zeros(limit - len(values), values.dtype))) if pad else values


def _limit(spec: TensorSpec) -> int | None:
    return int(spec.value) if spec.value is not None and spec.value.ndim == 0 and spec.value >= 0 else None


_SELECTING = ("NonMaxSuppressionV5", "CombinedNonMaxSuppression")
not_differentiable(*(op for op in _ALL if op not in _SELECTING))


@kernel("NonMaxSuppressionV5", gradient=WITHOUT_GRADIENT)
def non_max_suppression_v5(
    boxes: Array,
    scores: Array,
    max_output_size: Array,
    iou_threshold: Array,
    score_threshold: Array,
    soft_nms_sigma: Array,
    *,
    pad_to_max_output_size: bool,
) -> tuple[Result, Result, Result]:
    """The numbers of the boxes kept, their lowered scores, and how many there are before padding."""
    limit, threshold = _checked_boxes(boxes, scores, max_output_size, iou_threshold)
    lowest = scores.dtype.type(scalar(score_threshold, "score_threshold"))
    sigma = scalar(soft_nms_sigma, "soft_nms_sigma")
    require(sigma >= 0, f"soft_nms_sigma must not be negative: {sigma}")
    overlaps_of = box_overlaps(boxes)
    if sigma > 0:
        # The overlap threshold has no part in this: the lowered scores alone decide, as in TensorFlow.
        picked, picked_scores = suppress_softly(scores, limit, lowest, sigma, overlaps_of)
    else:
        picked, picked_scores = suppress(scores, limit, threshold, lowest, overlaps_of)
    pad = pad_to_max_output_size
    return _padded(picked, limit, pad), _padded(picked_scores, limit, pad), np.int32(len(picked))


# The older versions are parts of the fifth: without a sigma, then without padding, then without a threshold of scores.
@kernel("NonMaxSuppressionV4", flops=non_max_suppression_flops)
def non_max_suppression_v4(
    boxes: Array, scores: Array, limit: Array, threshold: Array, lowest: Array, *, pad_to_max_output_size: bool
) -> tuple[Result, ...]:
    """The numbers of the boxes kept, and how many there are before padding."""
    pad = pad_to_max_output_size
    return non_max_suppression_v5(boxes, scores, limit, threshold, lowest, _NO_SIGMA, pad_to_max_output_size=pad)[::2]


@kernel("NonMaxSuppressionV3", shape="-> n")
def non_max_suppression_v3(*inputs: Array) -> Result:
    """Return the indices of the picked boxes, all with scores above the threshold."""
    return non_max_suppression_v4(*inputs, pad_to_max_output_size=False)[0]


@kernel("NonMaxSuppressionV2", shape="-> n")
def non_max_suppression_v2(boxes: Array, scores: Array, max_output_size: Array, iou_threshold: Array) -> Result:
    """The numbers of the boxes kept."""
    # The lowest number as the threshold of scores: boxes of -inf are never picked.
    return non_max_suppression_v3(boxes, scores, max_output_size, iou_threshold, np.finfo(scores.dtype).min)


@kernel("NonMaxSuppression", shape="-> n")
def non_max_suppression(boxes: Array, scores: Array, max_output_size: Array, *, iou_threshold: float) -> Result:
    """The numbers of the boxes kept."""
    return non_max_suppression_v2(boxes, scores, max_output_size, np.asarray(iou_threshold, np.float32))


@shape("NonMaxSuppressionV5")
def non_max_suppression_v5_shape(
    boxes: TensorSpec, scores: TensorSpec, max_output_size: TensorSpec, *, pad_to_max_output_size: bool
) -> list[Shape]:
    indices = Shape([_limit(max_output_size) if pad_to_max_output_size else None])
    return [indices, indices, SCALAR]


@shape("NonMaxSuppressionV4")
def non_max_suppression_v4_shape(
    boxes: TensorSpec, scores: TensorSpec, max_output_size: TensorSpec, *, pad_to_max_output_size: bool
) -> list[Shape]:
    return non_max_suppression_v5_shape(boxes, scores, max_output_size, pad_to_max_output_size=pad_to_max_output_size)[::2]


@flops("NonMaxSuppressionV5")
def non_max_suppression_v5_flops(boxes: TensorSpec, *rest: TensorSpec) -> Cost:
    """As NonMaxSuppression; unless sigma is known to be zero each overlap lowers a score: three more and an exponential."""
    count = with_rank(boxes.shape, 2)[0]
    sigma = rest[-1].value
    is_hard = sigma is not None and not sigma.any()
    return Cost(8) * count + (Cost(13) if is_hard else Cost(16, transcendentals=1)) * _pairs(count)


def _check_combined(boxes: Array, scores: Array, limit: int, total: int, threshold: Any) -> None:
    require(limit > 0, f"max_output_size_per_class must be positive, not {limit}")
    require(total > 0, f"max_total_size must be positive, not {total}")
    require(0 <= threshold <= 1, f"iou_threshold must be in [0, 1], not {threshold}")
    require_rank(boxes, 4, "boxes")
    require_rank(scores, 3, "scores")
    require(
        boxes.shape[:2] == scores.shape[:2] and boxes.shape[3] == 4 and boxes.shape[2] in (1, scores.shape[2]),
        f"boxes {boxes.shape} and scores {scores.shape} do not fit as (N, boxes, 1 or classes, 4) and (N, boxes, classes)",
    )


@kernel("CombinedNonMaxSuppression", gradient=WITHOUT_GRADIENT)
def combined_non_max_suppression(
    boxes: Array,
    scores: Array,
    max_output_size_per_class: Array,
    max_total_size: Array,
    iou_threshold: Array,
    score_threshold: Array,
    *,
    pad_per_class: bool,
    clip_boxes: bool,
) -> tuple[Result, Result, Result, Result]:
    """Suppression within each class; then the best of all classes: boxes, scores, classes and their number for each image."""
    limit = scalar(max_output_size_per_class, "max_output_size_per_class")
    total = scalar(max_total_size, "max_total_size")
    threshold = np.float32(scalar(iou_threshold, "iou_threshold"))
    lowest = np.float32(scalar(score_threshold, "score_threshold"))
    _check_combined(boxes, scores, limit, total, threshold)
    images, count, classes = scores.shape
    size = min(total, limit * classes) if pad_per_class else total
    best_boxes = np.zeros((images, size, 4), np.float32)
    best_scores, best_classes = np.zeros((images, size), np.float32), np.zeros((images, size), np.float32)
    valid = np.zeros(images, np.int32)
    for image in range(images):
        # A few boxes are found by comparing the best of all classes step by step, without suppression within each class
        # first.
        select = _few_of_classes if size <= FEW else _best_of_classes
        best = select(boxes[image], scores[image], min(limit, count), size, threshold, lowest)
        valid[image] = n = len(best[1])
        best_boxes[image, :n], best_scores[image, :n], best_classes[image, :n] = best
    return np.clip(best_boxes, 0, 1) if clip_boxes else best_boxes, best_scores, best_classes, valid


def _few_of_classes(boxes: Array, scores: Array, limit: int, size: int, threshold: Any, lowest: Any) -> list[Array]:
    """Return what `_best_of_classes` returns, with the work that a few boxes need."""
    by_class = boxes.transpose(1, 0, 2).reshape(-1, 4)
    overlaps, count = box_overlaps(by_class), max(len(by_class), 1)
    selected = suppress_in_classes(
        scores.T, limit, size, threshold, lowest, lambda some, others: overlaps(some % count, others % count)
    )
    classes = selected // max(len(scores), 1)
    return [by_class[selected % count], scores.T.ravel()[selected], classes.astype(np.float32)]


def _best_of_classes(boxes: Array, scores: Array, limit: int, size: int, threshold: Any, lowest: Any) -> list[Array]:
    """Return the best boxes of all classes, at most `size`, by falling score, with their scores and classes."""
    results = []
    # Computed before the loop, since all classes may share the same boxes.
    overlaps = [box_overlaps(boxes[:, number]) for number in range(boxes.shape[1])]
    for number in range(scores.shape[1]):
        shared = number if boxes.shape[1] > 1 else 0
        of_class = boxes[:, shared]
        picked, picked_scores = suppress(scores[:, number], limit, threshold, lowest, overlaps[shared])
        results.append((of_class[picked], picked_scores, np.full(len(picked), number, np.float32)))
    empty = [(np.zeros((0, 4), np.float32), np.zeros(0, np.float32), np.zeros(0, np.float32))]
    parts = [np.concatenate(parts) for parts in zip(*(results or empty))]
    # Equal scores stay in the order of classes.
    order = np.argsort(-parts[1], kind="stable")[:size]
    return [part[order] for part in parts]


@shape("CombinedNonMaxSuppression")
def combined_non_max_suppression_shape(
    boxes: TensorSpec,
    scores: TensorSpec,
    max_output_size_per_class: TensorSpec,
    max_total_size: TensorSpec,
    *,
    pad_per_class: bool,
) -> list[Shape]:
    images, _, classes = with_rank(scores.shape, 3)
    images = merge_dims(images, with_rank(boxes.shape, 4)[0])
    size, limit = _limit(max_total_size), _limit(max_output_size_per_class)
    if pad_per_class:
        size = None if size is None or limit is None or not isinstance(classes, int) else min(size, limit * classes)
    return [Shape((images, size, 4)), Shape((images, size)), Shape((images, size)), Shape((images,))]


@flops("CombinedNonMaxSuppression")
def combined_non_max_suppression_flops(
    boxes: TensorSpec, scores: TensorSpec, *, clip_boxes: bool, outputs: list[TensorSpec]
) -> Cost:
    """At most NonMaxSuppression for each class of each image, and two comparisons for each edge that is clipped."""
    images, count, classes = with_rank(scores.shape, 3)
    clipped = Cost(2) * outputs[0].shape.num_elements if clip_boxes else ZERO
    return (Cost(13) * _pairs(count) + Cost(8) * count) * (images * classes) + clipped


# ONNX has an operator for suppression, with results of any number. XLA has none: a loop picks the best box that is left, for
# numbers padded to the limit.


def _suppressed_onnx(
    g: Any, boxes: Any, scores: Any, most: Any, overlap: Any, lowest: Any = None, sigma: Any = None, *, pads: bool = False
) -> tuple[Any, Any, Any]:
    """Return the numbers of the boxes kept, their scores, and how many they are; where `pads`, `most` numbers, zero behind
    them.
    """
    if sigma is not None and (sigma.array is None or sigma.array.any()):
        # ONNX's operator only removes boxes; soft suppression lowers their scores.
        g.refuse("ONNX lowers no scores")
    count = g.vector(most)
    thresholds = [g.reshape(g.cast(value, dtypes.float32), [1]) for value in (overlap, lowest) if value is not None]
    # ONNX's operator takes images with classes: here one image, and in it one class.
    selected = g.NonMaxSuppression(
        g.unsqueeze(g.cast(boxes, dtypes.float32), 0), g.unsqueeze(g.cast(scores, dtypes.float32), 0, 1), count, *thresholds
    )
    numbers = g.reshape(g.slice(selected, 2, 3, 1), [-1])
    valid = g.cast(g.Size(numbers), dtypes.int32)
    selected_scores = g.Gather(scores, numbers)
    if pads:
        missing = g.joined(0, g.Sub(count, g.vector(valid)))
        numbers, selected_scores = g.Pad(numbers, missing), g.Pad(selected_scores, missing)
    return g.cast(numbers, dtypes.int32), selected_scores, valid


onnx("NonMaxSuppressionV2")(lambda g, *inputs: _suppressed_onnx(g, *inputs)[0])
onnx("NonMaxSuppressionV3")(lambda g, *inputs: _suppressed_onnx(g, *inputs)[0])


@onnx("NonMaxSuppression")
def _suppression_onnx(g: Any, boxes: Any, scores: Any, most: Any, *, iou_threshold: float) -> Any:
    return _suppressed_onnx(g, boxes, scores, most, g.constant(np.float32(iou_threshold)))[0]


@onnx("NonMaxSuppressionV5")
def _suppression_v5_onnx(g: Any, *inputs: Any, pad_to_max_output_size: bool) -> Any:
    return _suppressed_onnx(g, *inputs, pads=pad_to_max_output_size)


@onnx("NonMaxSuppressionV4")
def _suppression_v4_onnx(g: Any, *inputs: Any, pad_to_max_output_size: bool) -> Any:
    return _suppressed_onnx(g, *inputs, pads=pad_to_max_output_size)[::2]


@onnx("CombinedNonMaxSuppression")
def _combined_onnx(
    g: Any, boxes: Any, scores: Any, most: Any, total: Any, overlap: Any, lowest: Any, *, pad_per_class: bool, clip_boxes: bool
) -> tuple[Any, Any, Any, Any]:
    limit, size = g.vector(most), g.vector(total)
    size = g.Min(size, g.Mul(limit, g.dim(scores, 2))) if pad_per_class else size

    def program(xp: Any, boxes: Any, scores: Any) -> tuple[Any, Any, Any, Any]:
        def pick(boxes: Any, scores: Any) -> _Picked:
            return _Picked(*map(xp.array_of, _picked_onnx(g, boxes.value, scores.value, limit, overlap, lowest)))

        return _best_of_picks(xp, pick, boxes, scores, xp.as_size(xp.array_of(size)), clip_boxes)

    return g.evaluate(program, (), (), (boxes, scores), {})


def _picked_onnx(g: Any, boxes: Any, scores: Any, limit: Any, overlap: Any, lowest: Any) -> tuple[Any, Any, Any]:
    """Return what `_picked` returns, by ONNX's operator, of boxes (images, classes, n, 4) and scores (images, classes, n)."""
    images, classes, count = (g.dim(scores, axis) for axis in range(3))
    rows = g.Mul(images, classes)
    by_row, thresholds = g.of_dims(scores, rows, 1, count), [g.reshape(value, [1]) for value in (overlap, lowest)]
    selected = g.op("NonMaxSuppression", g.of_dims(boxes, rows, count, 4), by_row, limit, *thresholds, dtype=dtypes.int64)
    row, box = (g.reshape(g.slice(selected, place, place + 1, 1), [-1]) for place in (0, 2))
    counts = _scattered(g, rows, row, g.Expand(g.constant(np.int64(1)), g.dims(row)), reduction="add")
    # The boxes of a row come together, by falling score: where they begin among all gives each its number in the row.
    first = g.CumSum(counts, g.constant(np.int64(0)), exclusive=1)
    numbers = g.Sub(iota(g, g.Size(row)), g.Gather(first, row))
    # A class cannot give more boxes than there are, and the table has a place for each.
    capacity = g.Min(limit, count)
    places, chosen = g.Add(g.Mul(row, capacity), numbers), g.GatherND(by_row, selected)
    tables = [_scattered(g, g.Mul(rows, capacity), places, values) for values in (box, chosen)]
    return *(g.of_dims(table, images, classes, capacity) for table in tables), g.of_dims(counts, images, classes)


def _scattered(g: Any, size: Any, places: Any, values: Any, **reduction: str) -> Any:
    return g.ScatterND(g.Expand(g.like(0, values), size), g.unsqueeze(places, 1), values, **reduction)


def _checked_for_xla(xla: Any, boxes: Any, scores: Any, limit: Any, threshold: Any) -> int:
    """Return the limit; a computed threshold is checked at run time."""
    count = scalar(limit, "max_output_size")
    _check_boxes_and_scores(boxes, scores, count)
    xla.require((threshold >= 0) & (threshold <= 1))
    return int(count)


class _Picked(NamedTuple):
    """The boxes picked by falling score: numbers and scores (..., limit), 0 behind the last, and their counts (...)."""

    boxes: Any
    scores: Any
    counts: Any


def _hard(xla: Any, threshold: Any) -> Callable[[Any, Any], Any]:
    """Return a function that removes boxes whose overlap with the picked box exceeds a threshold."""
    # A removed box has the score -inf and so stays in place: arrays of XLA cannot shrink.
    return lambda scores, overlap: xla.where(overlap.astype(scores.dtype) > threshold, -np.inf, scores)


def _soft(xla: Any, sigma: Any, lowest: Any) -> Callable[[Any, Any], Any]:
    """Return a function that lowers the scores of boxes by their overlap with the picked box (Bodla et al. 2017)."""

    def lowered(scores: Any, overlap: Any) -> Any:
        similarity = overlap.astype(scores.dtype)
        scale = scores.dtype.type(-0.5) / scores.dtype.type(sigma)
        lowered_scores = scores * xla.exp(scale * similarity * similarity)
        return xla.where(lowered_scores > lowest, lowered_scores, -np.inf)

    return lowered


def _picked(xla: Any, boxes: Any, scores: Any, limit: int, lowest: Any, suppressed: Callable[[Any, Any], Any]) -> _Picked:
    """Pick the best of boxes (..., n, 4) with scores (..., n) above `lowest`: each picked box suppresses the rest.

    `suppressed` makes new scores of scores and overlaps, -inf for removed boxes.
    """
    lead, count = scores.shape[:-1], scores.shape[-1]
    numbers, picked_scores = xla.zeros((*lead, limit), np.int32), xla.zeros((*lead, limit), scores.dtype)
    if not count:
        return _Picked(numbers, picked_scores, xla.zeros(lead, np.int32))

    def goes_on(state: Any) -> Any:
        step, left, *_ = state
        # The loop ends early when nothing is left, in all images of a batch.
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
    return _Picked(*xla.lax.while_loop(goes_on, picking, state)[2:])


def _overlaps(xla: Any, some: Any, others: Any) -> Any:
    """Intersection over union, float32, 0 where a box has no area; corners may come in any order."""
    low, high, areas = zip(*(_corners(xla, boxes.astype(np.float32)) for boxes in (some, others)))
    sides = xla.maximum(xla.minimum(*high) - xla.maximum(*low), 0)
    shared = sides[..., 0] * sides[..., 1]
    union = areas[0] + areas[1] - shared
    # A box without area overlaps nothing, and the union of two of them would be a divisor of 0.
    is_real = (areas[0] > 0) & (areas[1] > 0)
    return xla.where(is_real, shared / xla.where(is_real, union, np.float32(1)), np.float32(0))


def _corners(xla: Any, boxes: Any) -> tuple[Any, Any, Any]:
    """Return the lower corners, the upper corners and the areas."""
    low, high = xla.minimum(boxes[..., :2], boxes[..., 2:]), xla.maximum(boxes[..., :2], boxes[..., 2:])
    return low, high, (high[..., 0] - low[..., 0]) * (high[..., 1] - low[..., 1])


def _best_of_picks(
    xp: Any, pick: Callable[[Any, Any], _Picked], boxes: Any, scores: Any, size: Any, clip_boxes: bool
) -> tuple[Any, Any, Any, Any]:
    """Return for each image the `size` best boxes picked in all classes: boxes, scores, classes and their number.

    Boxes are (images, n, 1 or classes, 4), scores (images, n, classes); `pick` picks boxes within each class.
    """
    images, count, classes = scores.shape
    by_class = xp.broadcast_to(boxes.swapaxes(1, 2), (images, classes, count, 4))
    picks = pick(by_class, scores.swapaxes(1, 2))
    limit = picks.boxes.shape[-1]
    is_box = xp.arange(limit) < picks.counts[..., None]
    kinds = xp.broadcast_to(xp.arange(classes)[None, :, None], (images, classes, limit))
    chosen = xp.take_along_axis(by_class, xp.broadcast_to(picks.boxes[..., None], (images, classes, limit, 4)), -2)
    order = xp.argsort(xp.reshape(xp.where(is_box, -picks.scores, np.inf), (images, classes * limit)), -1)  # equal ones stay
    order = order[:, :size]
    valid = xp.minimum(xp.sum(picks.counts, 1), size).astype(np.int32)
    parts = []
    for values in (chosen, picks.scores[..., None], kinds[..., None]):
        width = values.shape[-1]
        values = xp.reshape(values.astype(np.float32), (images, classes * limit, width))
        best = xp.take_along_axis(values, xp.broadcast_to(order[..., None], (images, order.shape[1], width)), 1)
        best = xp.where((xp.arange(order.shape[1]) < valid[:, None])[..., None], best, 0)
        # There may be fewer candidates than results asked for.
        parts.append(xp.pad(best, [(0, 0), (0, size - order.shape[1]), (0, 0)]))
    return xp.clip(parts[0], 0, 1) if clip_boxes else parts[0], parts[1][..., 0], parts[2][..., 0], valid


@lower("NonMaxSuppressionV5", static=(2, 5))
def _suppression_v5_lowered(
    xla: Any, boxes: Any, scores: Any, limit: Any, threshold: Any, lowest: Any, sigma: Any, *, pad_to_max_output_size: bool
) -> Any:
    count = _checked_for_xla(xla, boxes, scores, limit, threshold)
    width = scalar(sigma, "soft_nms_sigma")
    require(width >= 0, f"soft_nms_sigma must not be negative: {width}")
    suppressed = _soft(xla, width, lowest) if width > 0 else _hard(xla, threshold)
    return tuple(_picked(xla, boxes, scores, count, lowest, suppressed))


@lower("NonMaxSuppressionV4", static=(2,))
def _suppression_v4_lowered(
    xla: Any, boxes: Any, scores: Any, limit: Any, threshold: Any, lowest: Any, *, pad_to_max_output_size: bool
) -> Any:
    pad = pad_to_max_output_size
    return _suppression_v5_lowered(xla, boxes, scores, limit, threshold, lowest, _NO_SIGMA, pad_to_max_output_size=pad)[::2]


@lower("CombinedNonMaxSuppression", static=(2, 3))
def _combined_lowered(
    xla: Any,
    boxes: Any,
    scores: Any,
    max_output_size_per_class: Any,
    max_total_size: Any,
    iou_threshold: Any,
    score_threshold: Any,
    *,
    pad_per_class: bool,
    clip_boxes: bool,
) -> Any:
    limit = int(scalar(max_output_size_per_class, "max_output_size_per_class"))
    total = int(scalar(max_total_size, "max_total_size"))
    _check_combined(boxes, scores, limit, total, 0)
    xla.require((iou_threshold >= 0) & (iou_threshold <= 1))
    size = min(total, limit * scores.shape[2]) if pad_per_class else total

    def pick(boxes: Any, scores: Any) -> _Picked:
        return _picked(xla, boxes, scores, min(limit, scores.shape[-1]), score_threshold, _hard(xla, iou_threshold))

    return _best_of_picks(xla, pick, boxes, scores, size, clip_boxes)
