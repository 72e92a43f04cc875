"""Tensors as TensorFlow's Assert and Print show them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...parallel.interruption_points import PIECE, pause
from ..shared.tensor_text import element_text


def summarize_array(value: Any, limit: int) -> str:
    """Return the first `limit` elements (all of them for -1), inner dimensions in brackets, `...` where some were left out."""
    array = np.asarray(value)
    count = array.size if limit < 0 else min(limit, array.size)
    if count == 0:
        return "..." if array.size else ""
    if array.ndim == 0:
        return _element(array[()], array.dtype)
    first = array.flat[:count]
    texts = [text for start in range(0, count, PIECE) for text in _elements(first[start : start + PIECE])]
    shown = _nested(texts, array.shape)
    return f"{shown}..." if count < array.size else shown


def _elements(values: np.ndarray[Any, Any]) -> list[str]:
    pause()
    return [_element(value, values.dtype) for value in values]


def _nested(texts: list[str], shape: tuple[int, ...]) -> str:
    """Return the texts, as far as they go, with brackets around all but the outermost dimension; a row cut short ends in
    dots.
    """
    if len(shape) == 1:
        return " ".join(texts[: shape[0]])
    size = math.prod(shape[1:])
    rows = [texts[start : start + size] for start in range(0, len(texts), size)]
    cut = "..." if len(shape) == 2 else ""
    return "".join(f"[{_nested(row, shape[1:])}{cut if len(row) < size else ''}]" for row in rows)


def _element(element: Any, dtype: np.dtype[Any]) -> str:
    return element_text(element, dtype, False).decode("utf-8", "replace")
