"""Layout for a terminal: lines broken between words, and the columns of a table for which there is room."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Final, TextIO

_CODE: Final = re.compile(r"`[^`]*`")
_WORD: Final = r"(?:'[^']*'|\"[^\"]*\"|\S)+"
_PART: Final = re.compile(rf"-\S*\s+(?!-){_WORD}|{_WORD}")
"""A word of a command line, or an option with a value."""
_JOINT: Final = "\0"
"""Stands for a space at which a line may not be broken; text for a terminal holds no NUL."""
_INDENT: Final = 2
_GAP: Final = 3
"""The width of the space between two columns of a table."""
_MAX_UNBROKEN: Final = 24
"""Longer words of a table may be broken where a terminal is narrow."""
_MAX_WHOLE: Final = 16
"""Cells of a table up to this length are never broken: numbers with their units and symbols."""
_ASCII: Final = str.maketrans("│─┌┐└┘├┤┬┴┼┊╌▼…▁▂▃▄▅▆▇█", "|-+++++++++:.v~_.,-=+*#")
"""The characters of pictures and charts, and what stands for them in ASCII; solid and dashed lines still differ."""


def terminal_width(stream: TextIO) -> int | None:
    """Return the columns of the terminal behind a stream, or those that COLUMNS says; None if there is no terminal."""
    if not stream.isatty():
        return None
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    try:
        # A terminal that does not know its size says 0.
        return os.get_terminal_size(stream.fileno()).columns or None
    except (OSError, ValueError):
        return None


def drawable(text: str, stream: TextIO) -> str:
    """Return a drawing in ASCII if the encoding of a stream lacks one of its lines or blocks; else the drawing as it is."""
    # Only what the drawing itself adds: other characters are names, which the stream escapes.
    drawn = "".join(set(text) & {chr(code) for code in _ASCII})
    try:
        drawn.encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        return text.translate(_ASCII)
    return text


def wrapped(line: str, width: int | None, indent: int = _INDENT) -> str:
    """Return a line of prose broken between words; code between backticks stays on one line if it fits.

    Further lines stand `indent` columns to the right of the first. Without a width, nothing is broken.
    """
    if width is None or len(line) <= width:
        return line
    margin = line[: len(line) - len(line.lstrip(" "))]
    further = margin + " " * indent
    room = width - len(further)
    # textwrap has no spaces at which it must not break, so NUL stands for them meanwhile.
    joined = _CODE.sub(lambda match: match[0].replace(" ", _JOINT) if len(match[0]) < room else match[0], line)
    lines = textwrap.wrap(joined, width, subsequent_indent=further, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace(_JOINT, " ")


def continued(line: str, width: int) -> str:
    """Return a command line broken between words, and behind options with their values, as a POSIX shell reads it."""
    # Neither shell of Windows continues a line after a backslash.
    if len(line) <= width or os.name == "nt":
        return line
    lines = [""]
    for word in _PART.findall(line):
        if lines[-1].strip() and len(lines[-1]) + len(word) + len("  \\") > width:
            lines.append(" " * _INDENT + word)
        else:
            lines[-1] += f" {word}" if lines[-1] else word
    return " \\\n".join(lines)


def cut(lines: Iterable[str], width: int | None, stream: TextIO) -> Iterable[str]:
    """Return the lines of a long table as a terminal of a width shows them: with an ellipsis at the end of longer lines."""
    end = drawable("\u2026", stream)
    return lines if width is None else (line if len(line) <= width else f"{line[: width - 1]}{end}" for line in lines)


def fitting_columns(columns: Sequence[Sequence[str]], minor: Sequence[int], width: int) -> list[int]:
    """Return the numbers of the columns for which a terminal has room; a column is a sequence of its name and its cells.

    Empty columns are left out first, then those of `minor` in their order, then the last ones, and never the first.
    """
    # rich draws 3 columns of space for each column of the table, less one at the edge: hence the gaps, and `width + 1`.
    numbers = list(range(len(columns)))
    empty = [number for number in numbers if not any(columns[number][1:])]
    leaving = list(dict.fromkeys(number for number in [*empty, *minor, *reversed(numbers)] if number))
    while len(numbers) > 1 and sum(_least_width(columns[number]) + _GAP for number in numbers) > width + 1:
        numbers.remove(leaving.pop(0))
    return numbers


def column_widths(columns: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return a width for each column: that of its longest word, and the room left for the columns with the least to add."""
    widths = list(map(_least_width, columns))
    spare = width + 1 - sum(widths) - _GAP * len(widths)
    wants = sorted((max(map(len, texts)) - widths[number], number) for number, texts in enumerate(columns))
    # In ascending order: a column that wants less than its share leaves the rest to those that want more.
    for place, (want, number) in enumerate(wants):
        more = max(0, min(want, spare // (len(wants) - place)))
        widths[number] += more
        spare -= more
    return widths


def _least_width(texts: Sequence[str]) -> int:
    """Return the width in which a column breaks no short cell, and no word but long words."""
    name, *cells = texts
    whole = [text for text in cells if len(text) <= _MAX_WHOLE]
    words = [word for text in (name, *cells) for word in text.split()]
    return max(min(max(map(len, words), default=0), _MAX_UNBROKEN), max(map(len, whole), default=0))
