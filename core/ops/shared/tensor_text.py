"""Tensors as text, as Assert, Print, StringFormat and tf.print show them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...numerics.interruption_points import PIECE, pause

_ESCAPES = {ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t", ord('"'): '\\"', ord("'"): "\\'", ord("\\"): "\\\\"}


def number_text(value: Any, dtype: np.dtype[Any]) -> str:
    """Format a number as TensorFlow prints: floats in the fewest digits of 6 or 9 (15 or 17) that read back the same."""
    if dtype.kind == "b":
        return "1" if value else "0"
    if dtype.kind in "iu" or dtype.name.startswith(("int", "uint")):
        return str(int(value))
    if dtype.kind == "c":
        return f"({number_text(value.real, value.real.dtype)},{number_text(value.imag, value.imag.dtype)})"
    number = float(value)
    if number != number or number in (float("inf"), float("-inf")):
        return str(number)
    if dtype == np.float64:
        short = f"{number:.15g}"
        return short if float(short) == number else f"{number:.17g}"
    # TensorFlow's FloatToBuffer: six digits if they read back to the same float, else nine.
    short = f"{number:.6g}"
    return short if np.float32(short) == np.float32(number) else f"{number:.9g}"


def element_text(value: Any, dtype: np.dtype[Any], quoted: bool) -> bytes:
    """Format an element; strings are quoted and escaped where asked."""
    if dtype.kind != "O":
        return number_text(value, dtype).encode()
    if not isinstance(value, bytes):
        return f"<{type(value).__name__}>".encode()
    return b'"' + b"".join(_escaped(byte) for byte in value) + b'"' if quoted else value


def _escaped(byte: int) -> bytes:
    if byte in _ESCAPES:
        return _ESCAPES[byte].encode()
    return bytes([byte]) if byte >= 0x20 and byte != 0x7F else b"\\%03o" % byte


def summarize_numpy_style(array: np.ndarray[Any, Any], limit: int) -> bytes:
    """Format as NumPy does: `limit` elements at both ends of each dimension, all elements for -1."""
    array = np.asarray(array)
    limit = array.size if limit < 0 else min(limit, array.size)
    # TensorFlow has no text for complex elements, and prints question marks.
    if array.dtype.kind == "c":
        return _unknown_style(array, limit)
    return _numpy_style(array, limit, 0, lambda value: element_text(value, array.dtype, True))


def _unknown_style(array: np.ndarray[Any, Any], limit: int) -> bytes:
    """Format complex elements as TensorFlow does: a row with a question mark for each of the first `limit`."""
    row = " ".join("?" * limit) + ("..." if limit < array.size else "")
    return (row if array.ndim == 0 else f"[{row}]").encode()


def _numpy_style(array: Any, limit: int, depth: int, text: Callable[[Any], bytes]) -> bytes:
    if array.ndim == 0:
        return text(array[()]) if limit else b"..."
    count = len(array)
    cut = count > 2 * limit
    head, tail = (range(limit), range(count - limit, count)) if cut else (range(count), range(0))
    separator = b"\n" * (array.ndim - 1) + b" " * (depth + 1) if array.ndim > 1 else b" "

    def items(indices: range) -> list[bytes]:
        return [text(array[i]) if array.ndim == 1 else _numpy_style(array[i], limit, depth + 1, text) for i in indices]

    middle = separator + b"..." if cut else b""
    return b"[" + separator.join(items(head)) + middle + b"".join(separator + item for item in items(tail)) + b"]"


def summarize_array(value: Any, limit: int) -> str:
    """Return the first `limit` elements (all of them for -1), inner dimensions in brackets, `...` where some were left out."""
    array = np.asarray(value)
    count = array.size if limit < 0 else min(limit, array.size)
    if count == 0:
        return "..." if array.size else ""
    if array.ndim == 0:
        return _element(array[()], array.dtype)
    # Never the whole array: a tensor of a gigabyte may be printed with three elements.
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
