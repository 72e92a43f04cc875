"""The page of a book: a single HTML file that opens from a disk and needs no network. Its JSON is packed for large graphs."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from ...core.drawing.view_model import CONTROL, Book, Entry, Overlay, Page, Panes, Report
from ...core.support import dataclasses
from ...core.support.escaping import printable_line

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
PACKED_FROM: Final = 20_000
"""The number of nodes from which a book is packed: fewer take under a second to read."""
_NODES_OF_A_PART: Final = 4096
_COLUMNS: Final = ("op", "kind", "stage", "device", "flops", "share", "references", "group", "calls")
"""The fields that the page needs of all nodes: for search, for colours, for the figures of a scope."""
_TRAIT: Final = 24
"""The length of the longest value of an attribute that a search of a packed book finds."""
_LEVEL: Final = 7
"""The level of compression: level 9 takes four times as long, and saves 3 % of a page of 200,000 nodes."""
_UNPRINTABLE: Final = re.compile(r"\\[bfnrt]|\\u(?:00(?:[0189]|7f)|061c|20(?:0[ef]|2[89a-e]|6[6-9])|d[89a-f])|::|##")
"""The signs in JSON of text that may have to be made printable; whole parts rarely have any."""


def to_html(book: Book, packed_from: int = PACKED_FROM, report: Report = lambda done, total: None) -> str:
    """Return the page of a book; from `packed_from` nodes on, parts of the book are compressed.

    No text of a graph is markup: the book is JSON without `<`, `>` and `&`, inserted as text by the page's own code. The
    page's policy forbids running and loading everything but the scripts and the style with the listed hashes.
    """
    scripts = [_read(name) for name in _SCRIPTS]
    style = _read("page.css")
    # The hashes admit exactly these scripts, so that no name in the graph can run as one.
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
    # The template is split once and joined, not formatted, so that a name in the graph such as @@style@@ stays a text.
    pieces = _read("page.html").split("@@")
    return "".join(parts[piece] if i % 2 else piece for i, piece in enumerate(pieces))


def _read(name: str) -> str:
    with open(os.path.join(_FOLDER, name), encoding="utf-8") as file:
        return file.read()


def _hashes(texts: Iterable[str]) -> str:
    digests = (hashlib.sha256(text.encode()).digest() for text in texts)
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


# The JSON of a book: whole if the graph is small, in compressed parts if the graph is large. The page unpacks a part
# when the part is first needed: the names of all nodes at the start, the tree of a page when the page opens, the details of
# nodes when their scope opens.


def book_json(book: Book, packed_from: int = PACKED_FROM, report: Report = lambda done, total: None) -> str:
    """Return a book as JSON in ASCII without any text that could end a script or begin a comment."""
    if len(book.entries) < packed_from:
        contents = _fields(book)
        contents["entries"] = [entry for part in _details(book.entries, ("name", *_COLUMNS), report) for entry in part]
    else:
        contents = _packed(book, report)
    text = _json(contents)
    # Inside of a script element a browser looks for nothing but "</script" and "<!--".
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _fields(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that are not empty."""
    fields = ((name, getattr(value, name)) for name in value.__dataclass_fields__)
    return {name: item for name, item in fields if item or not _is_empty(item)}


def _plain(value: Any) -> Any:
    """Return a value in JSON's types with all text made printable."""
    if isinstance(value, str):
        return printable_line(value)
    if isinstance(value, (tuple, list)):
        return list(map(_plain, value))
    if hasattr(value, "__dataclass_fields__"):
        value = _fields(value)
    return {name: _plain(item) for name, item in value.items()} if isinstance(value, dict) else value


def _is_empty(value: Any) -> bool:
    """Return True for a value that the page assumes if a field is left out; the number 0 of a group is a value."""
    return value is None or value is False or value == "" or value == () or (isinstance(value, float) and not value)


def _packed(book: Book, report: Report) -> dict[str, Any]:
    fields = ("title", "sheets", "notes", "kinds", "stages", "ops", "defaults", "start", "colour")
    columns = {
        "names": [entry.name for entry in book.entries],
        "columns": {column: _column(book.entries, column) for column in _COLUMNS},
        "traits": _interned([tuple(_traits(entry)) for entry in book.entries]),
        "groups": book.groups,
        "overlays": [_packed_overlay(overlay, len(book.entries)) for overlay in book.overlays],
    }
    return {
        **{field: getattr(book, field) for field in fields},
        "columns": _pack(columns),
        "size": _NODES_OF_A_PART,
        "details": [_pack(part) for part in _details(book.entries, (), report)],
        "pages": [_packed_page(page) for page in book.pages],
        **({} if book.panes is None else {"panes": _packed_panes(book.panes)}),
    }


def _packed_panes(panes: Panes) -> dict[str, Any]:
    pages = {side: [_packed_page(page) for page in getattr(panes, side)] for side in ("before", "after")}
    return {**_fields(dataclasses.replace(panes, before=(), after=())), **pages}


def _packed_overlay(overlay: Overlay, nodes: int) -> dict[str, Any]:
    values = dict(overlay.values)
    column = _interned([values.get(node) for node in range(nodes)])
    return {**_fields(dataclasses.replace(overlay, values=())), "column": column}


def _packed_page(page: Page) -> dict[str, Any]:
    fields = {field: getattr(page, field) for field in ("kind", "name", "inputs", "outputs", "callers")}
    packed = {"brief": _pack({"view": page.brief, "holders": page.holders})}
    if page.whole is not None:
        packed["whole"] = _pack({"view": page.whole})
    return {**fields, "ranges": list(_ranges(page.nodes)), "packed": packed}


def _column(entries: Sequence[Entry], name: str) -> dict[str, Any]:
    """Return the different values of a field, and for each entry the number of its value; null is an empty value."""
    return _interned([value if (value := getattr(entry, name)) not in ("", ()) else None for entry in entries])


def _traits(entry: Entry) -> Iterator[str]:
    """Yield the attributes that a search finds before the details are unpacked: the short ones, of which many are alike."""
    yield from (f"{name}={value}" for name, value in entry.attributes if len(value) <= _TRAIT)


def _interned(column: Sequence[Any]) -> dict[str, Any]:
    """Return the different values of a column, and for each row the number of its value."""
    # A column of a million nodes has tens of different values: each is written once, and a number for each node.
    numbers: dict[Any, int] = {}
    at = [numbers.setdefault(value, len(numbers)) for value in column]
    return {"values": list(numbers), "at": at}


def _details(entries: Sequence[Entry], columns: Sequence[str], report: Report) -> Iterator[list[dict[str, Any]]]:
    """Yield the fields of entries in parts: those of `columns` and those that no column has."""
    consumers = _consumers(entries)
    left_out = {"name", *_COLUMNS} - set(columns)
    for start in range(0, len(entries), _NODES_OF_A_PART):
        part = []
        stop = start + _NODES_OF_A_PART
        for entry, uses in zip(entries[start:stop], consumers[start:stop], strict=True):
            fields = _fields(entry)
            part.append(
                {name: fields[name] for name in fields if name not in left_out} | ({"consumers": uses} if uses else {})
            )
        yield part
        report(min(stop, len(entries)), len(entries))


def _consumers(entries: Sequence[Entry]) -> list[list[tuple[int, int]]]:
    """Return for each node the nodes that read an output, with the output, and the nodes that only wait."""
    consumers: list[list[tuple[int, int]]] = [[] for _ in entries]
    for node, entry in enumerate(entries):
        for source, output in dict.fromkeys(entry.inputs):
            consumers[source].append((node, output))
        for source in entry.controls:
            consumers[source].append((node, CONTROL))
    return consumers


def _ranges(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the runs of consecutive numbers as (first, count)."""
    first = count = 0
    for number in numbers:
        if count and number == first + count:
            count += 1
        else:
            if count:
                yield first, count
            first, count = number, 1
    if count:
        yield first, count


def _pack(contents: Any) -> str:
    return base64.b64encode(zlib.compress(_json(contents).encode(), _LEVEL)).decode()


def _json(contents: Any) -> str:
    """Return JSON in ASCII of values and dataclasses, with printable text; empty fields of dataclasses are left out."""
    # Escapes in the JSON show whether any text is unprintable. Most books have none, and are spared a pass over all values.
    text = _ENCODER.encode(contents)
    return _ENCODER.encode(_plain(contents)) if _UNPRINTABLE.search(text) else text


_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), default=_fields)
