"""Non-maximum suppression: the best of boxes that overlap."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics.non_max_suppression import FEW, box_overlaps, suppress, suppress_in_classes, suppress_softly
from ...registry.registry import ZERO, Cost, flops, kernel, lower, not_differentiable, onnx, shape, without_gradient
from ...types.arrays import Array, Result
from ...types.shapes import SCALAR, Shape, TensorSpec
from ..shared.argument_checks import require, require_rank, require_shape, scalar, with_rank
from ..shared.plain_shapes import vector_shape
from . import _onnx_images as in_onnx
from . import _suppression_lowerings as in_xla
from ._onnx_combined_suppression import combined

_ALL = (
    "NonMaxSuppression",
    "NonMaxSuppressionV2",
    "NonMaxSuppressionV3",
    "NonMaxSuppressionV4",
    "NonMaxSuppressionV5",
    "NonMaxSuppressionWithOverlaps",
    "CombinedNonMaxSuppression",
)


@kernel("NonMaxSuppression")
def non_max_suppression(boxes: Array, scores: Array, max_output_size: Array, *, iou_threshold: float) -> Result:
    """The numbers of the boxes kept."""
    return non_max_suppression_v2(boxes, scores, max_output_size, np.float32(iou_threshold))


def _checked_boxes(boxes: Array, scores: Array, max_output_size: Array, iou_threshold: Array) -> tuple[Any, Any]:
    """Return the limit and the threshold as numbers."""
    limit = scalar(max_output_size, "max_output_size")
    threshold = scalar(np.asarray(iou_threshold), "iou_threshold")
    require(0 <= threshold <= 1, f"iou_threshold must be in [0, 1], not {threshold}")
    _check_boxes_and_scores(boxes, scores, limit)
    return limit, scores.dtype.type(threshold)


def _check_boxes_and_scores(boxes: Any, scores: Any, limit: Any) -> None:
    require_rank(boxes, 2, "boxes")
    require(boxes.shape[1] == 4, f"boxes must have 4 columns, not shape {boxes.shape}")
    require_shape(scores, boxes.shape[:1], "scores")
    require(limit >= 0, f"max_output_size must not be negative: {limit}")


@kernel("NonMaxSuppressionV2")
def non_max_suppression_v2(boxes: Array, scores: Array, max_output_size: Array, iou_threshold: Any) -> Result:
    """The numbers of the boxes kept."""
    limit, threshold = _checked_boxes(boxes, scores, max_output_size, iou_threshold)
    return suppress(scores, limit, threshold, np.finfo(scores.dtype).min, box_overlaps(boxes))[0]


shape("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3", "NonMaxSuppressionWithOverlaps")(vector_shape)


@kernel("NonMaxSuppressionV3")
def non_max_suppression_v3(
    boxes: Array, scores: Array, max_output_size: Array, iou_threshold: Array, score_threshold: Array
) -> Result:
    """Return the indices of the picked boxes, all with scores above the threshold."""
    return non_max_suppression_v4(
        boxes, scores, max_output_size, iou_threshold, score_threshold, pad_to_max_output_size=False
    )[0]


def _pairs(count: Any) -> Any:
    return count * (count - 1) // 2


@flops("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3")
def non_max_suppression_flops(boxes: TensorSpec, scores: TensorSpec, *rest: TensorSpec) -> Cost:
    """At most: 13 for the overlap of each pair of boxes and a comparison, 8 for each box's corners, area and score."""
    count = with_rank(boxes.shape, 2)[0]
    return Cost(13) * _pairs(count) + Cost(8) * count


@kernel("NonMaxSuppressionWithOverlaps")
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
def non_max_suppression_with_overlaps_flops(overlaps: TensorSpec, *rest: TensorSpec) -> Cost:
    """Count an upper bound: a comparison for each pair and each score."""
    count = with_rank(overlaps.shape, 2)[0]
    return Cost(1) * (_pairs(count) + count)


def _padded(values: Array, limit: int, pad: bool) -> Array:
    return np.concatenate((values, np.zeros(limit - len(values), values.dtype))) if pad else values


@kernel("NonMaxSuppressionV4")
def non_max_suppression_v4(
    boxes: Array,
    scores: Array,
    max_output_size: Array,
    iou_threshold: Array,
    score_threshold: Array,
    *,
    pad_to_max_output_size: bool,
) -> tuple[Result, Result]:
    """The numbers of the boxes kept, and how many there are before padding."""
    limit, threshold = _checked_boxes(boxes, scores, max_output_size, iou_threshold)
    lowest = scores.dtype.type(scalar(score_threshold, "score_threshold"))
    picked, _ = suppress(scores, limit, threshold, lowest, box_overlaps(boxes))
    return _padded(picked, limit, pad_to_max_output_size), np.int32(len(picked))


def _limit(spec: TensorSpec) -> int | None:
    return int(spec.value) if spec.value is not None and spec.value.ndim == 0 and spec.value >= 0 else None


@shape("NonMaxSuppressionV4")
def non_max_suppression_v4_shape(
    boxes: TensorSpec, scores: TensorSpec, max_output_size: TensorSpec, *thresholds: TensorSpec, pad_to_max_output_size: bool
) -> list[Shape]:
    return [Shape([_limit(max_output_size) if pad_to_max_output_size else None]), SCALAR]


_SELECTING = ("NonMaxSuppressionV5", "CombinedNonMaxSuppression")
not_differentiable(*(op for op in _ALL if op not in _SELECTING))
without_gradient(*_SELECTING)

flops("NonMaxSuppressionV4")(non_max_suppression_flops)


@kernel("NonMaxSuppressionV5")
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
        picked, picked_scores = suppress_softly(scores, limit, lowest, sigma, overlaps_of)
    else:
        picked, picked_scores = suppress(scores, limit, threshold, lowest, overlaps_of)
    pad = pad_to_max_output_size
    return _padded(picked, limit, pad), _padded(picked_scores, limit, pad), np.int32(len(picked))


@shape("NonMaxSuppressionV5")
def non_max_suppression_v5_shape(
    boxes: TensorSpec, scores: TensorSpec, max_output_size: TensorSpec, *thresholds: TensorSpec, pad_to_max_output_size: bool
) -> list[Shape]:
    indices = Shape([_limit(max_output_size) if pad_to_max_output_size else None])
    return [indices, indices, SCALAR]


@flops("NonMaxSuppressionV5")
def non_max_suppression_v5_flops(
    boxes: TensorSpec,
    scores: TensorSpec,
    limit: TensorSpec,
    iou_threshold: TensorSpec,
    score_threshold: TensorSpec,
    soft_nms_sigma: TensorSpec,
) -> Cost:
    """As NonMaxSuppression; unless sigma is known to be zero each overlap lowers a score: three more and an exponential."""
    count = with_rank(boxes.shape, 2)[0]
    is_hard = soft_nms_sigma.value is not None and not soft_nms_sigma.value.any()
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


@kernel("CombinedNonMaxSuppression")
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
    overlaps = [box_overlaps(boxes[:, number]) for number in range(boxes.shape[1])]
    for number in range(scores.shape[1]):
        shared = number if boxes.shape[1] > 1 else 0
        of_class = boxes[:, shared]
        picked, picked_scores = suppress(scores[:, number], limit, threshold, lowest, overlaps[shared])
        results.append((of_class[picked], picked_scores, np.full(len(picked), number, np.float32)))
    empty = [(np.zeros((0, 4), np.float32), np.zeros(0, np.float32), np.zeros(0, np.float32))]
    parts = [np.concatenate(parts) for parts in zip(*(results or empty))]
    order = np.argsort(-parts[1], kind="stable")[:size]
    return [part[order] for part in parts]


@shape("CombinedNonMaxSuppression")
def combined_non_max_suppression_shape(
    boxes: TensorSpec,
    scores: TensorSpec,
    max_output_size_per_class: TensorSpec,
    max_total_size: TensorSpec,
    *thresholds: TensorSpec,
    pad_per_class: bool,
) -> list[Shape]:
    images, _, classes = with_rank(scores.shape, 3)
    size, limit = _limit(max_total_size), _limit(max_output_size_per_class)
    if pad_per_class:
        size = None if size is None or limit is None or not isinstance(classes, int) else min(size, limit * classes)
    return [Shape((images, size, 4)), Shape((images, size)), Shape((images, size)), Shape((images,))]


@flops("CombinedNonMaxSuppression")
def combined_non_max_suppression_flops(
    boxes: TensorSpec, scores: TensorSpec, *rest: TensorSpec, clip_boxes: bool, outputs: list[TensorSpec]
) -> Cost:
    """At most NonMaxSuppression for each class of each image, and two comparisons for each edge that is clipped."""
    images, count, classes = with_rank(scores.shape, 3)
    clipped = Cost(2) * outputs[0].shape.num_elements if clip_boxes else ZERO
    return (Cost(13) * _pairs(count) + Cost(8) * count) * (images * classes) + clipped


onnx("NonMaxSuppressionV2")(lambda g, *inputs: in_onnx.suppressed(g, *inputs)[0])
onnx("NonMaxSuppressionV3")(lambda g, *inputs: in_onnx.suppressed(g, *inputs)[0])


onnx("CombinedNonMaxSuppression")(combined)


@onnx("NonMaxSuppression")
def _suppression_onnx(g: Any, boxes: Any, scores: Any, most: Any, *, iou_threshold: float) -> Any:
    return in_onnx.suppressed(g, boxes, scores, most, g.constant(np.float32(iou_threshold)))[0]


@onnx("NonMaxSuppressionV4")
def _suppression_v4_onnx(
    g: Any, boxes: Any, scores: Any, most: Any, overlap: Any, lowest: Any, *, pad_to_max_output_size: bool
) -> Any:
    return in_onnx.suppressed(g, boxes, scores, most, overlap, lowest, pad_to_max_output_size)[::2]


@onnx("NonMaxSuppressionV5")
def _suppression_v5_onnx(
    g: Any, boxes: Any, scores: Any, most: Any, overlap: Any, lowest: Any, sigma: Any, *, pad_to_max_output_size: bool
) -> Any:
    return in_onnx.suppressed(g, boxes, scores, most, overlap, lowest, pad_to_max_output_size, sigma)


def _checked_for_xla(xla: Any, boxes: Any, scores: Any, limit: Any, threshold: Any) -> int:
    """Return the limit; a computed threshold is checked at run time."""
    count = scalar(limit, "max_output_size")
    _check_boxes_and_scores(boxes, scores, count)
    xla.require((threshold >= 0) & (threshold <= 1))
    return int(count)


@lower("NonMaxSuppressionV4", static=(2,))
def _suppression_v4_lowered(
    xla: Any, boxes: Any, scores: Any, limit: Any, threshold: Any, lowest: Any, *, pad_to_max_output_size: bool
) -> Any:
    count = _checked_for_xla(xla, boxes, scores, limit, threshold)
    picks = in_xla.picked(xla, boxes, scores, count, lowest, in_xla.hard(xla, threshold))
    return picks.boxes, picks.counts


@lower("NonMaxSuppressionV5", static=(2, 5))
def _suppression_v5_lowered(
    xla: Any, boxes: Any, scores: Any, limit: Any, threshold: Any, lowest: Any, sigma: Any, *, pad_to_max_output_size: bool
) -> Any:
    count = _checked_for_xla(xla, boxes, scores, limit, threshold)
    width = scalar(sigma, "soft_nms_sigma")
    require(width >= 0, f"soft_nms_sigma must not be negative: {width}")
    suppressed = in_xla.soft(xla, width, lowest) if width > 0 else in_xla.hard(xla, threshold)
    return tuple(in_xla.picked(xla, boxes, scores, count, lowest, suppressed))


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
    picked_boxes, *rest = in_xla.best_of_classes(xla, boxes, scores, limit, size, iou_threshold, score_threshold)
    return (xla.clip(picked_boxes, 0, 1) if clip_boxes else picked_boxes, *rest)
