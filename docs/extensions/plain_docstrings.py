"""Docstrings as they stand in the code, plain text with code between backticks, as Sphinx reads them."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

_CODE = re.compile(r"`+([^`]+)`+")
_MARKUP = re.compile(r"([*|\\]|\w_\b)")


def _plain(_app: Sphinx, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """Turn code into literals, also inside words, and escape all other markup."""
    lines[:] = [_line(line) for line in lines]


def _line(line: str) -> str:
    parts = _CODE.split(line)
    return "".join(rf"\ ``{part}``\ " if number % 2 else _MARKUP.sub(r"\\\1", part) for number, part in enumerate(parts))


def setup(app: Sphinx) -> dict[str, Any]:
    """Have all docstrings read so."""
    app.connect("autodoc-process-docstring", _plain)
    return {"parallel_read_safe": True}
