"""The families of ops: the module of each family, and the ops with the facts that it registers.

families.txt has a line for each family file of core/ops, and below it the ops by their facts:

    math.special
      BesselI0 Digamma
      Acos Acosh Asin: elementwise

scripts/regenerate.py derives the text from the registrations. So a caller that needs an op imports only the op's family, and
a caller that needs facts imports no family.
"""

from __future__ import annotations

import functools
import importlib
import os
from typing import Final

from .. import ops as ops_package

PACKAGE: Final = ops_package.__name__
FOLDER: Final = os.path.dirname(ops_package.__file__)
LIST: Final = os.path.join(os.path.dirname(__file__), "families.txt")
INDENT: Final = "  "
"""The beginning of a line with ops."""


@functools.cache
def modules() -> dict[str, str]:
    """Map each family to its module within `ops`, as "linalg.matmul"."""
    return {module.rpartition(".")[2]: module for module, _, _ in _lines()}


def names() -> list[str]:
    """List the names of all families, in order."""
    return sorted(modules())


def load(name: str) -> None:
    """Import the module of a family."""
    importlib.import_module(f".{modules()[name]}", PACKAGE)


def path_of(name: str) -> str:
    """Return the path of a family's file."""
    return f"{FOLDER}/{modules()[name].replace('.', '/')}.py"


@functools.cache
def family_of_op() -> dict[str, str]:
    """Map each op to its family."""
    return {op: module.rpartition(".")[2] for module, ops, _ in _lines() for op in ops}


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
    """Return (module, ops, facts of all these ops) for each line of ops."""
    lines, module = [], ""
    with open(LIST, encoding="ascii") as file:
        for line in file:
            if line.startswith(INDENT):
                ops, _, facts = line.partition(":")
                lines.append((module, ops.split(), facts.split()))
            else:
                module = line.strip()
    return tuple(lines)
