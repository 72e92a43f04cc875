"""Numbers in texts, parsed singly or many plain texts together."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

import numpy as np

from ...types.arrays import Array
from .string_functions import bounded

_SPECIAL_FLOAT = rb"inf|infinity|nan(?:\([A-Za-z0-9_]*\))?"
_DECIMAL = re.compile(rb"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|" + _SPECIAL_FLOAT + rb")", re.IGNORECASE)
_HEXADECIMAL = re.compile(rb"[+-]?0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?\d+)?", re.IGNORECASE)


def parse_float(text: bytes) -> float | None:
    """Return a decimal or hexadecimal number, infinity or NaN between whitespace, None for anything else."""
    text = text.strip()
    if _DECIMAL.fullmatch(text):
        # Python refuses the letters behind a NaN, which C takes and ignores.
        return float(text.split(b"(")[0])
    if not _HEXADECIMAL.fullmatch(text):
        return None
    try:
        return float.fromhex(text.decode())
    except OverflowError:
        # Python raises for hexadecimal numbers out of range only; a decimal number becomes infinite by itself, as both do in
        # C.
        return float("-inf" if text.startswith(b"-") else "inf")


_INTEGER = re.compile(rb"([+-]?)0*(\d{1,20})")
"""An integer of at most 20 digits; longer integers fit no dtype, and Python refuses texts of many thousand digits."""


def parse_integer(text: bytes, dtype: np.dtype) -> int | None:
    """Return a decimal integer that fits the dtype, between whitespace, None for anything else."""
    text = text.strip()
    least, most = _bounds(dtype)
    match = _INTEGER.fullmatch(text)
    # TensorFlow takes no minus for an unsigned number, not even that of -0.
    if match is None or (text.startswith(b"-") and least == 0):
        return None
    value = int(match[1] + match[2])
    return value if least <= value <= most else None


@functools.cache
def _bounds(dtype: np.dtype) -> tuple[int, int]:
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def parse_number(text: bytes, dtype: np.dtype) -> float | int | None:
    """Parse a number of the NumPy dtype; None if the text has none."""
    return parse_float(text) if dtype.kind == "f" else parse_integer(text, dtype)


# Without "_", which Python takes between digits and TensorFlow nowhere.
_PLAIN = {"f": b"+-.0123456789eE", "i": b"+-0123456789", "u": b"+0123456789"}
"""The bytes of plain numbers, by kind of dtype; Python reads texts of only these bytes as TensorFlow does."""


def plain_numbers(texts: Sequence[bytes], dtype: np.dtype) -> Array | None:
    """Return the numbers of all texts if each is plain and fits the dtype; None if the texts must be parsed singly."""
    if b"".join(texts).translate(None, _PLAIN[dtype.kind]):
        return None
    try:
        if dtype.kind == "f":
            return np.array(list(bounded(map(float, texts))), dtype)
        numbers = np.array(list(bounded(map(int, texts))), f"{dtype.kind}8")
    except (ValueError, OverflowError):  # Some text is no number: the caller parses singly and names the text.
        return None
    narrow = numbers.astype(dtype)
    return narrow if np.array_equal(narrow, numbers) else None
