"""The releases of TensorFlow with which ops, attributes and values came; scripts/make_op_history.py makes op_history.txt.

Also the ops that other programs read of a frozen graph: OpenCV, TensorFlow Lite, TensorFlow.js and tf2onnx.
"""

from __future__ import annotations

import functools
import json
import os
import pathlib
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from ..support import dataclasses
from ..support.errors import InvalidArgumentError
from ..types.dtypes import DType

_ANY_OTHER = "*"


class Release(NamedTuple):
    """A release of TensorFlow, without its patches."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


FIRST = Release(1, 0)


@dataclasses.dataclass(frozen=True, slots=True)
class OpHistory:
    """The first release of an op, and what came later, by attribute."""

    first: Release
    attrs: Mapping[str, Release]
    """The releases of attributes that the first release of the op lacks."""
    defaults: Mapping[str, Release]
    """The releases of defaults that attributes did not always have."""
    values: Mapping[str, Mapping[str, Release]]
    """The releases of allowed values; `*` is all others."""
    below: Mapping[str, tuple[int, Release]]
    """The least values (of lists: lengths) of before, and the releases in which smaller ones came."""

    def attr_came(self, name: str) -> Release:
        """Return the release of an attribute."""
        return self.attrs.get(name, self.first)

    def default_came(self, name: str) -> Release:
        """Return the release of an attribute's default."""
        return self.defaults.get(name, self.attr_came(name))

    def value_came(self, name: str, value: Any) -> Release:
        """Return the release that allows a value, or all items of a list, as an attribute."""
        items = value if isinstance(value, list) else [value]
        # A dtype may be younger than the attribute that takes it, as the 8-bit floats are.
        came = [self.attr_came(name), *(dtype_came(item) for item in items if isinstance(item, DType))]
        if known := self.values.get(name):
            # A value without an entry is as old as the attribute.
            came += [known.get(value_name(item), known.get(_ANY_OTHER, FIRST)) for item in items]
        # A bound holds for the length of a list as for a number.
        least, lowered = self.below.get(name, (0, FIRST))
        size = len(value) if isinstance(value, list) else value
        return max([*came, lowered] if isinstance(size, int) and size < least else came)


def value_name(value: Any) -> str:
    """Return an allowed value as the file has it."""
    # As catalog.txt writes strings: the characters have the numbers of the bytes.
    return json.dumps(value.decode("latin-1")) if isinstance(value, bytes) else str(getattr(value, "name", value))


def history(op: str) -> OpHistory | None:
    """Return the history of an op of TensorFlow; None for another op."""
    line = _lines().get(op)
    return None if line is None else _parsed(line)


@functools.cache
def _parsed(line: str) -> OpHistory:
    # After the first release, each release lists what came with it: `+attr` an attribute, `attr=` its default, `attr:a,b`
    # allowed values, and `attr<n` numbers below n.
    first, *later = line.split(" | ")
    attrs, defaults, below = {}, {}, {}
    values: dict[str, dict[str, Release]] = {}
    for release, entry in _entries(later):
        name, colon, listed = entry.partition(":")
        if entry.startswith("+"):
            attrs[entry[1:]] = release
        elif entry.endswith("="):
            defaults[entry[:-1]] = release
        elif colon:
            values.setdefault(name, {}).update(dict.fromkeys(listed.split(","), release))
        else:
            name, _, least = entry.partition("<")
            below[name] = int(least), release
    return OpHistory(_release(first), attrs, defaults, values, below)


def _entries(parts: list[str]) -> Iterator[tuple[Release, str]]:
    for part in parts:
        release, *entries = part.split()
        for entry in entries:
            yield _release(release), entry


def release_named(text: str) -> Release:
    """Return the release `1.13` or `1.13.1`; InvalidArgumentError for none of TensorFlow's."""
    # `2` is 2.0, and 1.13.1 is 1.13: a patch adds no ops.
    known = {str(release): release for release in graph_versions()}.get(".".join((*text.split("."), "0")[:2]))
    if known is not None:
        return known
    last = {release.major: str(release) for release in graph_versions()}
    ranges = " and ".join(f"{major}.0 to {release}" for major, release in last.items())
    raise InvalidArgumentError(f"'{text}' is not a known release of TensorFlow", hint=f"the known releases are {ranges}")


@functools.cache
def graph_versions() -> Mapping[Release, int]:
    """Return the GraphDef version of each release, in the order of releases."""
    return {_release(name): int(version) for name, version in _pairs("releases:")}


@functools.cache
def _dtypes() -> Mapping[str, Release]:
    return {name: _release(release) for name, release in _pairs("dtypes:")}


def dtype_came(dtype: DType) -> Release:
    """Return the release of a dtype."""
    return _dtypes().get(dtype.base.name, FIRST)


def _pairs(line: str) -> Iterator[tuple[str, str]]:
    return ((name, value) for name, _, value in (pair.partition("=") for pair in _lines()[line].split()))


def _release(text: str) -> Release:
    major, minor = text.split(".")
    return Release(int(major), int(minor))


@functools.cache
def _lines() -> dict[str, str]:
    lines = pathlib.Path(__file__).with_suffix(".txt").read_text().splitlines()
    return {name: rest for name, _, rest in (line.partition(" ") for line in lines if not line.startswith("#"))}


# The ops that other programs read of a frozen graph: OpenCV, TensorFlow Lite, TensorFlow.js and tf2onnx.
# graph_readers.txt has a line for each program, and below it the ops; comments name the sources.

_LIST: Final = os.path.join(os.path.dirname(__file__), "graph_readers.txt")


@functools.cache
def ops_by_reader() -> Mapping[str, frozenset[str]]:
    """Return the ops that each program reads."""
    ops: dict[str, set[str]] = {}
    reader = ""
    with open(_LIST, encoding="utf-8") as file:
        for line in file:
            if line.startswith("  "):
                ops[reader].update(line.split())
            elif line.strip() and not line.startswith("#"):
                reader = line.strip()
                ops[reader] = set()
    return {name: frozenset(words) for name, words in ops.items()}


def unread_ops(counts: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Return the ops among some that each program does not read, with their numbers; without programs that read all."""
    unread = {reader: {op: n for op, n in counts.items() if op not in ops} for reader, ops in ops_by_reader().items()}
    return {reader: ops for reader, ops in unread.items() if ops}
