"""Write the list of ops at the head of each family file (see core/registry/families.py); a part of regenerate.py."""

from __future__ import annotations

import ast
import collections
import pathlib
import textwrap
from collections.abc import Iterable, Iterator

from tfg.core.registry import families, op_facts, registry

MARK = families.MARK.decode()
WIDTH = 127


def derived() -> dict[pathlib.Path, str]:
    """The text that each family file should hold."""
    files = {pathlib.Path(families.path_of(name)): ops for name, ops in registered().items()}
    return {path: with_list(path.read_text(encoding="utf-8"), list_of(ops)) for path, ops in files.items()}


def registered() -> dict[str, set[str]]:
    """Return the ops that each family registers, without the ops of imported families."""
    by_name: dict[str, set[str]] = {}
    known = registry.registered_ops()
    for name in in_order_of_imports():
        families.load(name)
        by_name[name] = registry.registered_ops() - known
        known |= by_name[name]
    return by_name


def list_of(ops: Iterable[str]) -> str:
    """Ops by their facts, as comment lines."""
    alike = collections.defaultdict(list)
    for op in sorted(ops):
        alike[tuple(name for name in op_facts.FACTS if op in op_facts.STATED[name])].append(op)
    lines = [MARK]
    for facts in sorted(alike):
        end = f": {' '.join(facts)}\n" if facts else "\n"
        rows = textwrap.wrap(" ".join(alike[facts]), WIDTH - len(families.INDENT) - len(end))
        lines += [f"{families.INDENT}{row}{end}" for row in rows]
    return "".join(lines)


def with_list(source: str, text: str) -> str:
    """Return the source with this list behind the docstring, in place of the old list."""
    lines = source.splitlines(keepends=True)
    start = end = ast.parse(source).body[0].end_lineno or 0
    if lines[start : start + 1] == [MARK]:
        end += 1
        while lines[end].startswith(families.INDENT):
            end += 1
    changed = "".join([*lines[:start], text, *lines[end:]])
    if changed.encode().find(text.encode()) + len(text) > families.HEAD_BYTES:
        raise ValueError(f"a list reaches beyond the first {families.HEAD_BYTES} bytes of its file")
    return changed


def in_order_of_imports() -> dict[str, None]:
    """List all families, each after the imported families."""
    ordered: dict[str, None] = {}

    def add(name: str) -> None:
        if name not in ordered:
            for other in imported(pathlib.Path(families.path_of(name))):
                add(other)
            ordered[name] = None

    for name in families.names():
        add(name)
    return ordered


def imported(path: pathlib.Path) -> Iterator[str]:
    """Yield the families that a module of `ops` imports, also through modules that are no families."""
    files = {pathlib.Path(families.path_of(name)): name for name in families.names()}
    for other in imported_files(path):
        if other in files:
            yield files[other]
        elif other.is_relative_to(families.FOLDER):
            yield from imported(other)


def imported_files(path: pathlib.Path) -> Iterator[pathlib.Path]:
    """Yield the files of the modules that a module imports by relative imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            package = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for candidate in (package, *(package / alias.name for alias in node.names)):
                if candidate.with_suffix(".py").exists():
                    yield candidate.with_suffix(".py")
