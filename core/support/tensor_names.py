"""The names of tensors: a node, or one of its outputs, or its being done."""

from __future__ import annotations

from typing import Final

_MOST_DIGITS: Final = 18


def output_number(digits: str) -> int:
    """The number of an output; one of more digits than any number of outputs has is one that no node has."""
    return int(digits) if len(digits) <= _MOST_DIGITS else 10**_MOST_DIGITS


def parse_tensor_name(text: str) -> tuple[str, int, bool]:
    """(node name, output index, is control) of `a`, `a:1` or `^a`; index 0 where none is given, TypeError for no text."""
    if not isinstance(text, str):
        raise TypeError(f"a tensor or node is named by a str, not by {text!r}")
    if text.startswith("^"):
        return text[1:], -1, True
    name, colon, index = text.rpartition(":")
    if colon and index.isdecimal():
        return name, output_number(index), False
    return text, 0, False
