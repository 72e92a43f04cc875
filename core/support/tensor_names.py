"""Names of tensors: a node, an output of a node, or a control input."""

from __future__ import annotations

import heapq
from collections.abc import Container
from typing import Final

from .hints import Hint, step

# The most digits of which every number fits into 64 bits. A damaged file may have thousands, which `int` refuses to read.
_MOST_DIGITS: Final = 18


def output_number(digits: str) -> int:
    """Parse the number of an output; a longer number than any node's outputs have becomes a number that no node has."""
    return int(digits) if len(digits) <= _MOST_DIGITS else 10**_MOST_DIGITS


def parse_tensor_name(text: str) -> tuple[str, int, bool]:
    """Parse `a`, `a:1` or `^a` to (node name, output index, is control); the default index is 0; TypeError for no text."""
    if not isinstance(text, str):
        raise TypeError(f"the name of a tensor or node must be a str, not {text!r}")
    if text.startswith("^"):
        return text[1:], -1, True
    # From the right: a name may hold colons itself, as the names of functions' tensors do.
    name, colon, index = text.rpartition(":")
    if colon and index.isdecimal():
        return name, output_number(index), False
    return text, 0, False


def free_name(name: str, taken: Container[str]) -> str:
    """Return `name`, or `name` with the first suffix `_1`, `_2` ... that makes an unused name."""
    return name if name not in taken else Suffixes().first_free(name, taken)


class Suffixes:
    """Suffixes in use by name, so that the first free suffix is found without a search from 1."""

    def __init__(self) -> None:
        self._next: dict[str, int] = {}
        self._freed: dict[str, list[int]] = {}

    def first_free(self, name: str, taken: Container[str]) -> str:
        """Return `name` with the first suffix `_1`, `_2` ... that makes an unused name."""
        # The result is that of a search from 1, as TensorFlow numbers names: a suffix that became free is below all others.
        freed = self._freed.get(name, [])
        while freed:
            if (candidate := f"{name}_{freed[0]}") not in taken:
                return candidate
            heapq.heappop(freed)
        # From where the last search ended: a thousand nodes of one name would take half a million steps otherwise.
        suffix = self._next.get(name, 1)
        while (candidate := f"{name}_{suffix}") in taken:
            suffix += 1
        self._next[name] = suffix
        return candidate

    def free(self, name: str) -> None:
        """Note that a name is taken no more."""
        stem, _, digits = name.rpartition("_")
        if stem in self._next and digits.isdecimal() and len(digits) <= _MOST_DIGITS and int(digits) < self._next[stem]:
            heapq.heappush(self._freed.setdefault(stem, []), int(digits))


def joined_names_hint(text: str) -> str | None:
    """Return a hint for names between commas, which no name of a graph holds; None for other texts."""
    names = [name.strip() for name in text.split(",")]
    if len(names) == 1 or not all(names):
        return None
    return Hint("names are not joined: ", step("several", names=names))
