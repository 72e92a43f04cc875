"""The list of ops at the head of each family file, see core/families.py, by importing them all; a part of regenerate.py."""

from __future__ import annotations

import ast
import collections
import importlib
import pathlib
import textwrap
from collections.abc import Iterable, Iterator

from tfg.core import families, op_facts, registry

FOLDER = pathlib.Path(families.FOLDER)
MARK = families.MARK.decode()
WIDTH = 127


def derived() -> dict[pathlib.Path, str]:
    """The text that each family file should hold."""
    files = {FOLDER / f"{name}.py": ops for name, ops in registered().items()}
    return {path: with_list(path.read_text(encoding="utf-8"), list_of(ops)) for path, ops in files.items()}


def registered() -> dict[str, set[str]]:
    """The ops that each family registers, those that it imports apart."""
    found: dict[str, set[str]] = {}
    known = registry.registered_ops()
    for name in in_order_of_imports():
        importlib.import_module(f"tfg.core.ops.{name}")
        found[name] = registry.registered_ops() - known
        known |= found[name]
    return found


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
    """The source with this list behind its docstring, instead of the one that is there."""
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
    """All families, each after those that it imports itself."""
    ordered: dict[str, None] = {}

    def add(name: str) -> None:
        if name not in ordered:
            for other in imported(name):
                add(other)
            ordered[name] = None

    for name in families.names():
        add(name)
    return ordered


def imported(name: str) -> Iterator[str]:
    """The families that a module of the folder imports, itself or by way of private modules."""
    for node in ast.walk(ast.parse((FOLDER / f"{name}.py").read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            for other in [node.module] if node.module else [alias.name for alias in node.names]:
                yield from [other] if not other.startswith("_") else imported(other)
