"""Lists of ops and facts at the heads of family files, read without importing the families.

    # Ops here (scripts/regenerate.py writes this list):
    #   BesselI0 Digamma
    #   Acos Acosh Asin: elementwise
    #   Ceil Floor: elementwise idempotent monotone total

The list is derived from the family's registrations. So a caller that needs an op imports only the op's family, and a caller
that needs facts imports no family.
"""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Iterator
from typing import Final

from .. import ops as ops_package

PACKAGE: Final = ops_package.__name__
FOLDER: Final = os.path.dirname(ops_package.__file__)
_WITHOUT_FAMILIES: Final = ("__pycache__", "shared")
MARK: Final = b"# Ops here (scripts/regenerate.py writes this list):\n"
INDENT: Final = "#   "
HEAD_BYTES: Final = 1 << 12
"""How far into a file the list may reach."""


@functools.cache
def modules() -> dict[str, str]:
    """Map each family to its module within `ops`, as "linalg.matmul"; files that begin with `_` are no families."""
    rooms = sorted(entry.name for entry in os.scandir(FOLDER) if entry.is_dir() and entry.name not in _WITHOUT_FAMILIES)
    files = [(room, name) for room in ("", *rooms) for name in os.listdir(f"{FOLDER}/{room}") if name.endswith(".py")]
    families = {name[:-3]: f"{room}.{name[:-3]}".lstrip(".") for room, name in files if not name.startswith("_")}
    return dict(sorted(families.items()))


def names() -> list[str]:
    """List the names of all families, in order."""
    return list(modules())


def load(name: str) -> None:
    """Import the module of a family."""
    importlib.import_module(f".{modules()[name]}", PACKAGE)


def path_of(name: str) -> str:
    """Return the path of a family's file."""
    return f"{FOLDER}/{modules()[name].replace('.', '/')}.py"


@functools.cache
def family_of_op() -> dict[str, str]:
    """Map each op to its family."""
    return {op: family for family, ops, _ in _lines() for op in ops}


@functools.cache
def ops_of_fact() -> dict[str, frozenset[str]]:
    """Map each fact to the ops with the fact."""
    ops_by_fact: dict[str, list[str]] = {}
    for _, ops, facts in _lines():
        for fact in facts:
            ops_by_fact.setdefault(fact, []).extend(ops)
    return {fact: frozenset(ops) for fact, ops in ops_by_fact.items()}


@functools.cache
def _lines() -> tuple[tuple[str, list[str], list[str]], ...]:
    """Return (family, ops, facts of all these ops) for each line of all lists."""
    return tuple((family, *line) for family in names() for line in _lines_of(family))


def _lines_of(family: str) -> Iterator[tuple[list[str], list[str]]]:
    for line in _list_of(family).splitlines():
        ops, _, facts = line[len(INDENT) :].partition(":")
        yield ops.split(), facts.split()


def _list_of(family: str) -> str:
    """Return the lines of the list, up to the empty line at its end."""
    descriptor = os.open(path_of(family), os.O_RDONLY)
    try:
        head = os.read(descriptor, HEAD_BYTES)
    finally:
        os.close(descriptor)
    _, _, behind = head.partition(MARK)
    return behind[: behind.find(b"\n\n")].decode()
