"""What the head of a family file says of its ops, read without importing it: which they are, and what is stated of them.

    # Ops here (scripts/regenerate.py writes this list):
    #   BesselI0 Digamma
    #   Acos Acosh Asin: elementwise
    #   Ceil Floor: elementwise idempotent monotone total

It follows from what the family registers. So who needs an op imports its family only, and who asks for facts imports none.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from typing import Final

FOLDER: Final = os.path.join(os.path.dirname(__file__), "ops")
MARK: Final = b"# Ops here (scripts/regenerate.py writes this list):\n"
INDENT: Final = "#   "
HEAD_BYTES: Final = 1 << 12
"""How far into a file the list may reach."""


def names() -> list[str]:
    """The names of all family files."""
    return sorted(name[:-3] for name in os.listdir(FOLDER) if name.endswith(".py") and not name.startswith("_"))


@functools.cache
def family_of_op() -> dict[str, str]:
    """The family each op is at home in."""
    return {op: family for family, ops, _ in _lines() for op in ops}


@functools.cache
def ops_of_fact() -> dict[str, frozenset[str]]:
    """The ops that a fact is stated of, by fact."""
    found: dict[str, list[str]] = {}
    for _, ops, facts in _lines():
        for fact in facts:
            found.setdefault(fact, []).extend(ops)
    return {fact: frozenset(ops) for fact, ops in found.items()}


@functools.cache
def _lines() -> tuple[tuple[str, list[str], list[str]], ...]:
    """(family, ops, facts that hold of all of them) for each line of all lists."""
    return tuple((family, *line) for family in names() for line in _lines_of(family))


def _lines_of(family: str) -> Iterator[tuple[list[str], list[str]]]:
    for line in _list_of(family).splitlines():
        ops, _, facts = line[len(INDENT) :].partition(":")
        yield ops.split(), facts.split()


def _list_of(family: str) -> str:
    """The lines of the list, up to the empty line behind it."""
    descriptor = os.open(f"{FOLDER}/{family}.py", os.O_RDONLY)
    try:
        head = os.read(descriptor, HEAD_BYTES)
    finally:
        os.close(descriptor)
    _, _, behind = head.partition(MARK)
    return behind[: behind.find(b"\n\n")].decode()
