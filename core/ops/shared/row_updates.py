"""Rows that are added, multiplied or compared into the rows of their numbers: in array programs, and in ONNX."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...numerics.half_precision import is_narrow

_END = np.iinfo(np.int64).max


def reduced_onnx(g: Any, data: Any, ids: Any, count: Any, how: str, start: float) -> Any:
    """Reduce the rows of `data` by `ids` into `count` rows that begin at `start`; ids outside are dropped."""
    rank = g.rank(ids)
    rest = g.slice(g.dims(data), rank, _END)
    places = g.reshape(g.vector(g.reshape(ids, [-1])), [-1])
    rows = g.of_dims(data, g.dim(places, 0), rest)
    total = g.vector(count)
    places = g.Where(g.Less(places, 0), total, g.Min(places, total))
    target = g.Expand(g.like(start, data), g.joined(g.Add(total, 1), rest))
    return g.slice(g.ScatterND(target, g.unsqueeze(places, 1), rows, reduction=how), 0, -1)


_WORST: Final = {"max": -np.inf, "min": np.inf}


def updated(xla: Any, target: Any, places: Any, rows: Any, how: str) -> Any:
    """Return `target` with `rows` added (`how` is add), multiplied, compared or set at the row numbers `places`.

    Rows with a number outside the target are dropped; negative numbers must have been replaced before.
    """
    if target.dtype == bool:
        how = {"add": "max", "mul": "min", "multiply": "min"}.get(how, how)
        return updated(xla, target.astype(np.uint8), places, rows.astype(np.uint8), how).astype(bool)
    if how == "add" and is_narrow(target.dtype):
        sums = xla.zeros(target.shape, np.float32).at[places].add(rows.astype(np.float32), mode="drop")
        return target + sums.astype(target.dtype)
    if how == "mul" and is_narrow(target.dtype):
        products = xla.ones(target.shape, np.float32).at[places].mul(rows.astype(np.float32), mode="drop")
        return target * products.astype(target.dtype)
    return getattr(target.at[places], how)(rows, mode="drop")


def settled(xla: Any, how: str, count: int, places: Any, rows: Any, in_vectors: int = 0) -> Any:
    """Return the rows (n, ...) of which the extremes are TensorFlow's in the presence of NaN.

    The rule is stated in `numerics.group_reductions.settle_nans`.
    """
    if how not in _WORST or rows.dtype.kind not in "fV":
        return rows

    def changed(rows: Any) -> Any:
        flat = rows.reshape(rows.shape[0], -1)
        position, is_nan = xla.arange(flat.shape[0], dtype=np.int32)[:, None], xla.isnan(flat)
        none = xla.full((count, flat.shape[1]), -1, np.int32)
        last_nan = none.at[places].max(xla.where(is_nan, position, -1), mode="drop").at[places].get(mode="clip")
        last_row = none.at[places].max(position, mode="drop").at[places].get(mode="clip")
        is_lost = (position <= last_nan) & ~(is_nan & (position == last_row))
        if in_vectors:
            sizes = xla.zeros(count, np.int32).at[places].add(1, mode="drop").at[places].get(mode="clip")
            in_vector = xla.arange(flat.shape[1]) < in_vectors
            is_lost = xla.where(in_vector, is_nan & (sizes > 1)[:, None], is_lost)
        return xla.where(is_lost, np.array(_WORST[how], rows.dtype), flat).reshape(rows.shape)

    return xla.lax.cond(xla.isnan(rows).any(), changed, lambda rows: rows, rows)
