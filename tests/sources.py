"""The syntax trees of source files, read once for all tests that look at the code."""

from __future__ import annotations

import ast
import functools
import pathlib


@functools.cache
def tree_of(path: pathlib.Path) -> ast.Module:
    """Parse a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def nodes_of(path: pathlib.Path) -> tuple[ast.AST, ...]:
    """Return all nodes of a file's tree."""
    return tuple(ast.walk(tree_of(path)))
