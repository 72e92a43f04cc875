"""The syntax trees of source files, read once for all tests that look at the code."""

from __future__ import annotations

import ast
import functools
import gc
import pathlib


@functools.cache
def tree_of(path: pathlib.Path) -> ast.Module:
    """Parse a file. The collector of garbage would walk all trees so far again and again: more time than the parsing takes."""
    gc.disable()
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    finally:
        gc.freeze()
        gc.enable()


@functools.cache
def nodes_of(path: pathlib.Path) -> tuple[ast.AST, ...]:
    """Return all nodes of a file's tree."""
    return tuple(ast.walk(tree_of(path)))
