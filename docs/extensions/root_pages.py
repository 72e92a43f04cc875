"""Pages from files in the root of the checkout: a page that begins with `{root} NAME.md` begins with the contents of the
file.

In the checkout, links from docs/ to root files and between root files name files; on the site the links name pages.
"""

from __future__ import annotations

import os
import pathlib
import re
from typing import Any

from sphinx.application import Sphinx

ROOT = pathlib.Path(__file__).parents[2]
PAGES = {path.name: f"docs/project/{path.stem.lower()}.md" for path in sorted(ROOT.glob("*.md")) if path.stem != "README"}
PAGES["README.md"] = "docs/index.md"
_STANDS_FOR = re.compile(r"\A```\{root\} (\S+)\n```\n?")
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!\w+:)([^)#\s]+)(#[^)]*)?\)")


def _read(app: Sphinx, name: str, source: list[str]) -> None:
    """Replace the source of a page by the file in the root, with the links of the site."""
    page = f"docs/{name}.md"
    include = _STANDS_FOR.match(source[0])
    origin = include[1] if include else page
    app.env.note_dependency(str(ROOT / origin))
    text = (ROOT / origin).read_text(encoding="utf-8") if include else source[0]
    rest = source[0][include.end() :] if include else ""
    source[0] = _LINK.sub(lambda match: _link(match, origin, page), text) + rest


def _link(match: re.Match[str], origin: str, page: str) -> str:
    """Return a link of the file `origin` for the site; a link to a file without a page becomes the name of the file."""
    mark, text, target, anchor = match[1], match[2], match[3], match[4] or ""
    place = os.path.normpath(os.path.join(os.path.dirname(origin), target))
    place = PAGES.get(place, place)
    if not place.startswith("docs/"):
        return f"`{place}`"
    return f"{mark}[{text}]({os.path.relpath(place, os.path.dirname(page))}{anchor})"


def setup(app: Sphinx) -> dict[str, Any]:
    """Have all pages read so."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True}
