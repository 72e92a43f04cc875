"""The page of a book: a single HTML file that opens from a disk and needs no network. Its JSON is packed for large graphs."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ...core.drawing.view_model import Book, Entry, Overlay, Page, PageView, Panes, Report
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
_COLUMNS: Final = ("stage", "device", "flops", "share", "group", "origin")
"""The fields that the page needs of all nodes, beside names and edges: for search, for colours, for the figures of a scope."""
_DETAILS: Final = ("evidence", "role", "chain", "effect", "constants", "values", "changes")
"""The fields that the page needs of a node whose scope opens."""
_FAR: Final = 4096
"""Ends so many nodes back and further are counted from the first node: many nodes may read one of the first."""
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
    is_small = len(book.entries) < packed_from
    contents = {**_fields(book), "entries": list(map(_entry, book.entries))} if is_small else _packed(book, report)
    text = _json(contents)
    report(len(book.entries), len(book.entries))
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


def _entry(entry: Entry) -> dict[str, Any]:
    """Return all that is said of a node, the common part included."""
    fields = {**_fields(entry), **_fields(entry.common)}
    del fields["common"]
    return fields


def _packed(book: Book, report: Report) -> dict[str, Any]:
    fields = ("title", "sheets", "notes", "kinds", "stages", "ops", "defaults", "start", "colour")
    entries, columns = len(book.entries), book.entries.columns
    contents = {
        "names": columns["name"],
        "common": _shared(columns["common"]),
        "columns": {name: _column(columns[name]) for name in _COLUMNS},
        "edges": {
            "inputs": _interned(list(map(_inputs_from, range(entries), columns["inputs"]))),
            "controls": _interned(list(map(_from, range(entries), columns["controls"]))),
            "weights": _interned(list(map(_from, range(entries), columns["weights"]))),
        },
        "groups": book.groups,
        "overlays": [_packed_overlay(overlay, entries) for overlay in book.overlays],
    }
    return {
        **{field: getattr(book, field) for field in fields},
        "columns": _pack(contents),
        "size": _NODES_OF_A_PART,
        "details": list(map(_pack, _details(columns, entries, report))),
        "pages": [_packed_page(page) for page in book.pages],
        **({} if book.panes is None else {"panes": _packed_panes(book.panes)}),
    }


def _from(node: int, ends: tuple[int, ...]) -> tuple[int, ...]:
    """Return the ends of a node's edges, counted back from the node if near: layers that are alike have equal rows."""
    return tuple([node - end if node - end < _FAR else _FAR + end for end in ends]) if ends else ends


def _inputs_from(node: int, ends: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    """Return the ends of a node's inputs in a row, as `_from`, each before the number of its output."""
    row: list[int] = []
    for end, output in ends:
        row += (node - end if node - end < _FAR else _FAR + end, output)
    return tuple(row)


def _packed_panes(panes: Panes) -> dict[str, Any]:
    pages = {side: [_packed_page(page) for page in getattr(panes, side)] for side in ("before", "after")}
    return {**_fields(dataclasses.replace(panes, before=(), after=())), **pages}


def _packed_overlay(overlay: Overlay, nodes: int) -> dict[str, Any]:
    values = dict(overlay.values)
    column = _interned(list(map(values.get, range(nodes))))
    return {**_fields(dataclasses.replace(overlay, values=())), "column": column}


def _packed_page(page: Page) -> dict[str, Any]:
    fields = {field: getattr(page, field) for field in ("kind", "name", "inputs", "outputs", "callers")}
    packed = {"brief": _pack(_packed_view(page.brief, page.holders))}
    if page.whole is not None:
        packed["whole"] = _pack(page.whole)
    return {**fields, "ranges": list(_ranges(page.nodes)), "packed": packed}


def _packed_view(view: PageView, holders: Iterable[tuple[int, int]]) -> dict[str, Any]:
    """Return a view with its links in a row: targets are counted from the target before, and sources back from their targets,
    as most are near.
    """
    links: list[int] = []
    last = 0
    for source, target, output in view.links:
        links += (target - last, target - source, output)
        last = target
    return {"root": view.root, "links": links, "holders": [number for node, holder in holders for number in (node, holder)]}


def _column(values: Sequence[Any]) -> dict[str, Any]:
    """Return the different values of a field, and for each entry the number of its value; null is an empty value."""
    column = _interned(values)
    return {**column, "values": [None if value in ("", ()) else value for value in column["values"]]}


def _interned(column: Sequence[Any]) -> dict[str, Any]:
    """Return the different values of a column, and for each row the number of its value; no numbers for a single value."""
    # A column of a million nodes has tens of different values: each is written once, and a number for each node.
    numbers = {value: number for number, value in enumerate(dict.fromkeys(column))}
    return {"values": list(numbers), **({"at": list(map(numbers.__getitem__, column))} if len(numbers) > 1 else {})}


def _shared(column: Sequence[Any]) -> dict[str, Any]:
    """Return what `_interned` does, for objects that rows share: each is hashed once, and then found by its identity."""
    identities = list(map(id, column))
    by_identity = dict(zip(identities, column))
    numbers = {value: number for number, value in enumerate(dict.fromkeys(by_identity.values()))}
    places = {key: numbers[value] for key, value in by_identity.items()}
    return {"values": list(numbers), "at": list(map(places.__getitem__, identities))}


def _details(columns: Mapping[str, Sequence[Any]], entries: int, report: Report) -> Iterator[dict[str, Any]]:
    """Yield the fields of entries that are unpacked when they are needed, in parts of `_NODES_OF_A_PART` entries."""
    for start in range(0, entries, _NODES_OF_A_PART):
        end = min(start + _NODES_OF_A_PART, entries)
        parts = {name: _column(columns[name][start:end]) for name in _DETAILS}
        yield {name: column for name, column in parts.items() if column["values"] != [None]}
        report(end, entries)


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
    # A search for few letters takes a hundredth of the time of the expression.
    may_be = any(sign in text for sign in ("\\", "::", "##"))
    return _ENCODER.encode(_plain(contents)) if may_be and _UNPRINTABLE.search(text) else text


_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), default=_fields)
