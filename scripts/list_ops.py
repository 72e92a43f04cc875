"""Write the list of families and their ops (see core/registry/op_facts.py); a part of regenerate.py."""

from __future__ import annotations

import ast
import collections
import importlib
import pathlib
import textwrap
from collections.abc import Iterable, Iterator

from tfg.core.registry import op_facts, registry

FOLDER = pathlib.Path(op_facts.FOLDER)
WIDTH = 127


def derived() -> dict[pathlib.Path, str]:
    """The text that the list should hold."""
    entries = [f"{module_of(path)}\n{list_of(ops)}" for path, ops in sorted(registered().items())]
    return {pathlib.Path(op_facts.LIST): "".join(entries)}


def family_files() -> list[pathlib.Path]:
    """List the files of families: files of `shared`, and files that begin with `_`, are no families."""
    return sorted(path for path in FOLDER.glob("*/*.py") if path.parent.name != "shared" and not path.name.startswith("_"))


def module_of(path: pathlib.Path) -> str:
    """Return the module of a family's file within `ops`."""
    return f"{path.parent.name}.{path.stem}"


def registered() -> dict[pathlib.Path, set[str]]:
    """Return the ops that each family registers, without the ops of imported families."""
    by_file: dict[pathlib.Path, set[str]] = {}
    known = registry.registered_ops()
    for path in in_order_of_imports():
        importlib.import_module(f"{op_facts.PACKAGE}.{module_of(path)}")
        by_file[path] = registry.registered_ops() - known
        known |= by_file[path]
    return by_file


def list_of(ops: Iterable[str]) -> str:
    """Ops by their facts, as lines."""
    alike = collections.defaultdict(list)
    for op in sorted(ops):
        alike[tuple(name for name in op_facts.FACTS if op in op_facts.STATED[name])].append(op)
    lines = []
    for facts in sorted(alike):
        end = f": {' '.join(facts)}\n" if facts else "\n"
        rows = textwrap.wrap(" ".join(alike[facts]), WIDTH - len(op_facts.INDENT) - len(end))
        lines += [f"{op_facts.INDENT}{row}{end}" for row in rows]
    return "".join(lines)


def in_order_of_imports() -> dict[pathlib.Path, None]:
    """List all family files, each after the imported families."""
    ordered: dict[pathlib.Path, None] = {}
    files = set(family_files())

    def add(path: pathlib.Path) -> None:
        if path not in ordered:
            for other in imported(path, files):
                add(other)
            ordered[path] = None

    for path in family_files():
        add(path)
    return ordered


def imported(path: pathlib.Path, files: set[pathlib.Path]) -> Iterator[pathlib.Path]:
    """Yield the families that a module of `ops` imports, also through modules that are no families."""
    for other in imported_files(path):
        if other in files:
            yield other
        elif other.is_relative_to(FOLDER):
            yield from imported(other, files)


def imported_files(path: pathlib.Path) -> Iterator[pathlib.Path]:
    """Yield the files of the modules that a module imports by relative imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            package = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for candidate in (package, *(package / alias.name for alias in node.names)):
                if candidate.with_suffix(".py").exists():
                    yield candidate.with_suffix(".py")
