"""A writer of a book as a single HTML file that opens from a disk and needs no network."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
from collections.abc import Iterable
from typing import Any, Final

from ...core.drawing.view_model import Book
from ...core.support.escaping import printable_line

_FOLDER: Final = os.path.dirname(__file__)
_SCRIPTS: Final = ("vendor/dagre.min.js", "book.js", "scene.js", "surface.js", "panel.js", "viewer.js")
_LICENCE: Final = "vendor/dagre.LICENSE.txt"


def to_html(book: Book) -> str:
    """Return the page of a book.

    No text of a graph is markup: the book is JSON without `<`, `>` and `&`, inserted as text by the page's own code. The
    page's policy forbids running and loading everything but the scripts and the style with the listed hashes.
    """
    scripts = [_read(name) for name in _SCRIPTS]
    style = _read("page.css")
    policy = (
        f"default-src 'none'; script-src {_hashes(scripts)}; style-src {_hashes([style])}; base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": html.escape(policy, quote=False),
        "title": html.escape(printable_line(book.title)),
        "licence": html.escape(_read(_LICENCE)),
        "style": f"<style>{style}</style>",
        "book": f'<script type="application/json" id="book">{_json(book)}</script>',
        "scripts": "\n".join(f"<script>{script}</script>" for script in scripts),
    }
    pieces = _read("page.html").split("@@")
    return "".join(parts[piece] if i % 2 else piece for i, piece in enumerate(pieces))


def _read(name: str) -> str:
    with open(os.path.join(_FOLDER, name), encoding="utf-8") as file:
        return file.read()


def _hashes(texts: Iterable[str]) -> str:
    digests = (hashlib.sha256(text.encode()).digest() for text in texts)
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


def _json(book: Book) -> str:
    """Return JSON in ASCII without any text that could end a script or begin a comment."""
    text = json.dumps(_plain(book), separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plain(value: Any) -> Any:
    """Convert a value to JSON's types. Empty fields of dataclasses are left out; text is made printable."""
    kind = type(value)
    if kind is int:
        return value
    if kind is str:
        return printable_line(value)
    if kind is tuple or kind is list:
        return [_plain(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        fields = ((name, getattr(value, name)) for name in value.__dataclass_fields__)
        return {name: _plain(item) for name, item in fields if item is not None and item not in ("", (), 0, False)}
    return value
