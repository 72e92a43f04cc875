"""The public names by module, from the imports for type checkers in `__init__.py`; a part of regenerate.py."""

from __future__ import annotations

import ast
import pathlib

ROOT = pathlib.Path(__file__).parents[1]


def derived() -> dict[pathlib.Path, str]:
    """The file with a line for each module: its name, and the public names that it defines."""
    lines = []
    for node in ast.walk(ast.parse((ROOT / "__init__.py").read_text(encoding="utf-8"))):
        # An import under its own name is how a package tells type checkers that a name is public.
        if isinstance(node, ast.ImportFrom) and (names := [alias.name for alias in node.names if alias.asname == alias.name]):
            lines.append(" ".join([str(node.module), *names]))
    return {ROOT / "formats" / "api" / "public_names.txt": "\n".join(sorted(lines)) + "\n"}
