"""Text in many encodings as code points with byte offsets, and the script of each code point (Unicode Standard Annex 24).

`unicode_scripts.txt` holds the Unicode script property as runs: first code point in hexadecimal, number of the script in
ICU's enumeration (UScriptCode); scripts/record_unicode_scripts.py writes the file.
"""

from __future__ import annotations

import codecs
import functools
import pathlib
from typing import Any

import numpy as np

from ..types.arrays import Array

INVALID = -1
"""The code point of bytes that are no character."""
_PYTHONS_OWN = ("idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape")
"""Encodings of Python that ICU lacks; their decoders also reject more than single sequences of bytes."""
_CONTINUED = {"utf16": "utf-16-be", "utf32": "utf-32-be"}


class Decoder:
    """A decoder of bytes in an encoding; LookupError for an unknown name."""

    def __init__(self, encoding: str) -> None:
        if not encoding:
            raise LookupError("an encoding needs a name")
        # Python's look-up fails with other errors for names with NUL or surrogates.
        codec = codecs.lookup(encoding) if encoding.isprintable() else None
        if codec is None or not codec._is_text_encoding or codec.name in _PYTHONS_OWN:
            raise LookupError(f"'{encoding}' is not a text encoding")
        self.codec = codec.name
        self._plain = encoding.lower().replace("-", "").replace("_", "")

    @property
    def is_utf8(self) -> bool:
        return self.codec == "utf-8"

    def decode(self, text: bytes) -> tuple[list[int], list[int]]:
        """Decode code points and the start of each; INVALID for each malformed sequence."""
        codec, position = self._byte_order(text)
        codes: list[int] = []
        starts: list[int] = []
        while position < len(text):
            try:
                # As far as the text is well-formed at once; Python's error says where the malformed bytes lie.
                piece, end, bad = text[position:].decode(codec), len(text), len(text)
            except UnicodeDecodeError as error:
                end, bad = position + error.start, position + error.end
                piece = text[position:end].decode(codec)
            for char in piece:
                codes.append(ord(char))
                starts.append(position)
                position += _width(char, codec)
            position = end
            if bad > end:
                codes.append(self._replacement(text[end:bad]))
                starts.append(end)
                position = bad
        if starts:
            # A byte order mark belongs to the first character.
            starts[0] = 0
        return codes, starts

    def _byte_order(self, text: bytes) -> tuple[str, int]:
        """Return the codec for a text and the offset of the first character: UTF-16 and UTF-32 may start with a byte order
        mark.
        """
        if self._plain == "utf16" and text[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return ("utf-16-le" if text[:2] == codecs.BOM_UTF16_LE else "utf-16-be"), 2
        if self._plain == "utf32" and text[:4] in (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE):
            return ("utf-32-le" if text[:4] == codecs.BOM_UTF32_LE else "utf-32-be"), 4
        return _CONTINUED.get(self._plain, self.codec), 0

    def _replacement(self, bad: bytes) -> int:
        # Windows code pages pass the bytes that they do not define through.
        return bad[0] if self.codec.startswith("cp125") and len(bad) == 1 else INVALID


def utf8(text: bytes) -> str | None:
    """Decode well-formed UTF-8; None for anything else."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return None


def decode_all(texts: list[bytes]) -> tuple[Array, Array, Array] | None:
    """Return the code points of UTF-8 texts, the byte offset of each in the code point's text, and the bounds of the texts.

    None for a malformed text.
    """
    data = b"".join(texts)
    bounds = np.cumsum([0, *map(len, texts)])
    # Joined, the end of a text and the beginning of the next may make up a character that neither has.
    inner = np.frombuffer(data, np.uint8)[bounds[bounds < len(data)]]
    text = utf8(data)
    if text is None or (inner & 0xC0 == 0x80).any():  # or a character that two texts share
        return None
    codes = np.frombuffer(text.encode("utf-32-le"), "<u4").astype(np.int32)
    # From the code points: faster than looking at the bytes again.
    widths = 1 + (codes >= 0x80) + (codes >= 0x800) + (codes >= 0x10000)
    starts = np.cumsum(widths) - widths
    splits = np.searchsorted(starts, bounds)
    return codes, starts - np.repeat(bounds[:-1], np.diff(splits)), splits


def _width(char: str, codec: str) -> int:
    """Return the number of bytes of a character in a codec."""
    code = ord(char)
    if codec == "utf-8":
        return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4
    if codec.startswith("utf-16"):
        return 2 if code < 0x10000 else 4
    if codec.startswith("utf-32"):
        return 4
    return len(char.encode(codec))


def is_scalar_value(code: Any) -> Any:
    """Return, for an array of code points, whether text may hold each: in range and no surrogate."""
    return (code >= 0) & (code < 0xD800) | (code >= 0xE000) & (code <= 0x10FFFF)


@functools.cache
def _script_runs() -> tuple[Array, Array]:
    lines = pathlib.Path(__file__).with_name("unicode_scripts.txt").read_text().splitlines()
    starts, scripts = zip(*((int(start, 16), int(script)) for start, script in map(str.split, lines)))
    return np.array(starts), np.array(scripts, np.int32)


def scripts(codes: Array) -> Array:
    """Return ICU's number of the script of each code point, -1 outside Unicode."""
    starts, numbers = _script_runs()
    runs = np.searchsorted(starts, codes, side="right") - 1
    return np.where((codes >= 0) & (codes <= 0x10FFFF), numbers[np.maximum(runs, 0)], np.int32(-1))
