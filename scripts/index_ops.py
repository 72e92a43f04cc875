"""core/ops/index.txt, the family of each op, and facts.txt, its facts, by importing every family; a part of regenerate.py."""

from __future__ import annotations

import ast
import importlib
import pathlib
from collections.abc import Iterator

from tfg.core import op_facts, registry

FOLDER = pathlib.Path(registry.__file__).with_name("ops")


def derived() -> dict[pathlib.Path, str]:
    return {FOLDER / "index.txt": index(), FOLDER / "facts.txt": facts()}


def index() -> str:
    """The text that index.txt should hold: one `op family` a line."""
    lines: list[str] = []
    known: set[str] = set()
    for name in families():
        importlib.import_module(f"tfg.core.ops.{name}")
        lines += [f"{op} {name}" for op in registry.registered_ops() - known]
        known = registry.registered_ops()
    return "".join(f"{line}\n" for line in sorted(lines))


def facts() -> str:
    """The text that facts.txt should hold: an op and its facts a line."""
    registry.load_all_families()
    ops = sorted(set().union(*op_facts.STATED.values()))
    stated = {op: [name for name in op_facts.FACTS if op in op_facts.STATED[name]] for op in ops}
    return "".join(f"{op} {' '.join(names)}\n" for op, names in stated.items())


def families() -> dict[str, None]:
    """All families, each after those that it imports itself."""
    ordered: dict[str, None] = {}

    def add(name: str) -> None:
        if name not in ordered:
            for other in imported(name):
                add(other)
            ordered[name] = None

    for name in registry.family_names():
        add(name)
    return ordered


def imported(name: str) -> Iterator[str]:
    """The families that a module of the folder imports, itself or by way of private modules."""
    for node in ast.walk(ast.parse((FOLDER / f"{name}.py").read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            for other in [node.module] if node.module else [alias.name for alias in node.names]:
                yield from [other] if not other.startswith("_") else imported(other)
