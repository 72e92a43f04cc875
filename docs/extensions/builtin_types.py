"""Built-in types in signatures as text: a field called `bytes` is no place for a link from the type."""

from __future__ import annotations

import builtins
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx


def _unlink(_app: Sphinx, document: nodes.document) -> None:
    for reference in list(document.findall(addnodes.pending_xref)):
        if reference.get("refdomain") == "py" and hasattr(builtins, reference["reftarget"]):
            reference.replace_self(nodes.Text(reference["reftarget"]))


def setup(app: Sphinx) -> dict[str, Any]:
    """Have references to built-in types become text."""
    app.connect("doctree-read", _unlink)
    return {"parallel_read_safe": True}
