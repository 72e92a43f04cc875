r"""Replacement of the matches of RE2's patterns by a rewrite, in which \1 stands for the first group."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from .re2 import Pattern, decode, encode

_BETWEEN = b"\xff"
"""A byte that is part of no character: `decode` turns the byte into a surrogate that no expression matches."""


def replace_all(pattern: Pattern, rewrite: str, texts: Sequence[bytes]) -> list[bytes] | None:
    """Replace all matches in all joined texts at once; None where a match may see the joints, or a text holds `_BETWEEN`."""
    pieces, highest, _ = _parse_rewrite(rewrite)
    if highest > pattern.groups or pattern.asserts:
        return None
    longest = max(map(len, texts), default=0)
    replaced = pattern.substitute(_template(pieces), decode(_BETWEEN.join(texts)), True, longest)
    results = encode(replaced).split(_BETWEEN) if replaced is not None else []
    return results if len(results) == len(texts) else None


def replace(pattern: Pattern, rewrite: str, text: str, everywhere: bool) -> str:
    """Replace matches like RE2's Replace and GlobalReplace; a rewrite with a missing group replaces nothing."""
    pieces, highest, valid = _parse_rewrite(rewrite)
    if highest > pattern.groups or (not everywhere and not valid):
        return text
    replaced = pattern.substitute(_template(pieces), text, everywhere, len(text))
    if replaced is not None:
        return replaced
    result: list[str] = []
    position = 0
    for span in pattern.spans(text, everywhere, highest):
        result.append(text[position : span[0]])
        result += [piece if isinstance(piece, str) else _group(text, span, piece) for piece in pieces]
        position = span[1] or 0
    return "".join(result) + text[position:]


@functools.lru_cache(256)
def _template(pieces: tuple[str | int, ...]) -> str:
    """Return the rewrite as a template of `re`."""
    return "".join(piece.replace("\\", "\\\\") if isinstance(piece, str) else rf"\g<{piece}>" for piece in pieces)


def _group(text: str, span: Sequence[int | None], index: int) -> str:
    begin, end = span[2 * index : 2 * index + 2]
    return "" if begin is None or end is None else text[begin:end]


@functools.lru_cache(256)
def _parse_rewrite(rewrite: str) -> tuple[tuple[str | int, ...], int, bool]:
    """Return literal pieces and group numbers up to the first bad escape, the highest group, and whether all escapes are
    good.
    """
    highest = max((int(m) for m in re.findall(r"\\(?:\\|([0-9])|.)", rewrite, re.DOTALL) if m), default=0)
    pieces: list[str | int] = []
    position = 0
    while position < len(rewrite):
        char = rewrite[position]
        if char != "\\":
            pieces.append(char)
            position += 1
            continue
        escaped = rewrite[position + 1 : position + 2]
        if escaped == "\\":
            pieces.append("\\")
        elif escaped and escaped in "0123456789":
            pieces.append(int(escaped))
        else:
            return tuple(pieces), highest, False
        position += 2
    return tuple(pieces), highest, True
