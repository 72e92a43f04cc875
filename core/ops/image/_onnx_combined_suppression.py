"""Suppression of overlapping boxes in all classes, in ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...types import dtypes
from ..shared.onnx_lowerings import iota


def combined(
    g: Any, boxes: Any, scores: Any, most: Any, total: Any, overlap: Any, lowest: Any, *, pad_per_class: bool, clip_boxes: bool
) -> tuple[Any, Any, Any, Any]:
    """Return the best boxes of each image, their scores, classes and number.

    ONNX's suppression returns the boxes of each class by falling score. A table of all places has the scores, and the best
    of the table are taken.
    """
    count, classes = g.dim(scores, 1), g.dim(scores, 2)
    rows = g.Mul(g.dim(scores, 0), classes)
    each = g.Transpose(scores, perm=[0, 2, 1])
    by_class = g.Transpose(g.Expand(boxes, g.joined(g.dim(scores, 0), count, classes, 4)), perm=[0, 2, 1, 3])
    by_class = g.of_dims(by_class, rows, count, 4)
    thresholds = [g.reshape(value, [1]) for value in (overlap, lowest)]
    limit = g.vector(most)
    selected = g.op("NonMaxSuppression", by_class, g.of_dims(each, rows, 1, count), limit, *thresholds, dtype=dtypes.int64)
    row, box = (g.reshape(g.slice(selected, place, place + 1, 1), [-1]) for place in (0, 2))
    capacity = g.Min(limit, count)
    size = g.vector(total)
    size = g.Min(size, g.Mul(limit, classes)) if pad_per_class else size
    place = g.Add(g.Mul(row, capacity), _numbers_in_rows(g, row, rows))
    chosen = g.GatherND(g.of_dims(each, rows, count), g.Concat(g.unsqueeze(row, 1), g.unsqueeze(box, 1), axis=1))
    table = _scattered(g, g.Mul(rows, capacity), place, chosen, -np.inf)
    places = _scattered(g, g.Mul(rows, capacity), place, box, 0)
    lines = [g.of_dims(values, g.dim(scores, 0), g.Mul(classes, capacity)) for values in (table, places)]
    padded = [g.Pad(values, g.joined([0, 0, 0], size), g.like(fill, values)) for values, fill in zip(lines, (-np.inf, 0))]
    best, order = g.TopK(padded[0], size, outputs=2, axis=1)
    is_there = g.Greater(best, -np.inf)
    kinds = g.Where(is_there, g.Div(order, g.Max(capacity, 1)), 0)
    taken = g.GatherElements(padded[1], order, axis=1)
    images = g.unsqueeze(iota(g, g.dim(scores, 0)), 1)
    indices = g.Concat(
        g.unsqueeze(g.Add(g.Mul(images, classes), kinds), 2), g.unsqueeze(g.Where(is_there, taken, 0), 2), axis=2
    )
    best_boxes = g.Where(g.unsqueeze(is_there, 2), g.GatherND(by_class, indices), 0)
    valid = g.ReduceSum(g.cast(is_there, dtypes.int32), [1], keepdims=0)
    result = g.Min(g.Max(best_boxes, 0), 1) if clip_boxes else best_boxes
    return result, g.Where(is_there, best, 0), g.cast(kinds, dtypes.float32), valid


def _numbers_in_rows(g: Any, row: Any, rows: Any) -> Any:
    """Return the number of each element among the elements of the same row; equal rows are together."""
    ones = g.Expand(g.constant(np.int64(1)), g.dims(row))
    counts = g.ScatterND(g.Expand(g.constant(np.int64(0)), rows), g.unsqueeze(row, 1), ones, reduction="add")
    first = g.CumSum(counts, g.constant(np.int64(0)), exclusive=1)
    return g.Sub(iota(g, g.Size(row)), g.Gather(first, row))


def _scattered(g: Any, size: Any, places: Any, values: Any, fill: float) -> Any:
    return g.ScatterND(g.Expand(g.like(fill, values), size), g.unsqueeze(places, 1), values)
