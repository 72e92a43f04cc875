"""A writer of a book as a single HTML file that opens from a disk and needs no network."""

from __future__ import annotations

import base64
import hashlib
import html
import os
from collections.abc import Iterable
from typing import Final

from ...core.drawing.view_model import Book, Report
from ...core.support.escaping import printable_line
from .packing import PACKED_FROM, book_json

_FOLDER: Final = os.path.dirname(__file__)
_SCRIPTS: Final = (
    "vendor/dagre.min.js",
    "book.js",
    "items.js",
    "layout.js",
    "scene.js",
    "surface.js",
    "values.js",
    "panel.js",
    "finder.js",
    "trail.js",
    "minimap.js",
    "export.js",
    "address.js",
    "overlays.js",
    "twin.js",
    "viewer.js",
)
_LICENCE: Final = "vendor/dagre.LICENSE.txt"


def to_html(book: Book, packed_from: int = PACKED_FROM, report: Report = lambda done, total: None) -> str:
    """Return the page of a book; from `packed_from` nodes on, parts of the book are compressed.

    No text of a graph is markup: the book is JSON without `<`, `>` and `&`, inserted as text by the page's own code. The
    page's policy forbids running and loading everything but the scripts and the style with the listed hashes.
    """
    scripts = [_read(name) for name in _SCRIPTS]
    style = _read("page.css")
    sources = f"script-src {_hashes(scripts)}; style-src {_hashes([style])}; img-src data:"
    policy = f"default-src 'none'; {sources}; base-uri 'none'; form-action 'none'"
    parts = {
        "policy": html.escape(policy, quote=False),
        "title": html.escape(printable_line(book.title)),
        "licence": html.escape(_read(_LICENCE)),
        "style": f"<style>{style}</style>",
        "book": f'<script type="application/json" id="book">{book_json(book, packed_from, report)}</script>',
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
