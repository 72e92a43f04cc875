"""Numbers and lists in sentences."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Sequence
from typing import Final

_UNITS: Final = ((1 << 10, "KiB"), (1 << 20, "MiB"), (1 << 30, "GiB"), (1 << 40, "TiB"))


_LONGEST_VALUE: Final = 300
"""The number of characters of a quoted value or a list that a message shows whole."""

_LONGEST_MESSAGE: Final = 1_000
"""The number of characters of a message or a line of details."""

# A list without lists inside: with them, a search from each of many brackets would go to the end of the text.
_LONG_VALUE: Final = re.compile(
    rf"'[^']{{{_LONGEST_VALUE},}}'|\"[^\"]{{{_LONGEST_VALUE},}}\"|\[[^\[\]]{{{_LONGEST_VALUE},}}\]"
)


def shortened(text: str) -> str:
    """Return a message with the middle of long quoted values and lists left out, and of the whole if it is long."""
    if len(text) < _LONGEST_VALUE:
        return text
    text = _LONG_VALUE.sub(lambda match: _cut(match[0], _LONGEST_VALUE), text)
    return _cut(text, _LONGEST_MESSAGE)


def _cut(text: str, length: int) -> str:
    """Return a text without the middle, and the number of characters, if the text is longer than `length`."""
    if len(text) <= length:
        return text
    note = f" ... ({len(text):,} characters) ... "
    kept = length - len(note)
    return f"{text[: kept - kept // 4]}{note}{text[-(kept // 4) :]}"


def counted(count: int, noun: str) -> str:
    """Return `1 node`, `2 nodes`, `1,000 nodes`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def size_in_bytes(count: int) -> str:
    """Return `17 bytes`, `1.5 KiB`, `98 MiB`: three digits of the largest unit that the size reaches."""
    unit, name = max((pair for pair in _UNITS if pair[0] <= count), default=(1, ""))
    return f"{count / unit:.3g} {name}" if name else counted(count, "byte")


def listed(names: Sequence[str]) -> str:
    """Return `a`, `a or b`, `a, b or c`."""
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def some(names: Collection[str]) -> str:
    """Return the first four names, and the number of the others: `a, b, c, d and 17 more`."""
    first = ", ".join(itertools.islice(names, 4))
    return f"{first} and {len(names) - 4:,} more" if len(names) > 4 else first


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table, with two spaces between its columns."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
