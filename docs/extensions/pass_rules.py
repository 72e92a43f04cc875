"""`{rules} MODULE ...`: the rules in modules of core/passes, each with algebra and accuracy class."""

from __future__ import annotations

import importlib
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class RulesDirective(SphinxDirective):
    """A list of rules: the replaced ops, the name in reports, and the accuracy of the results."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        rules = nodes.bullet_list()
        for module in self.arguments[0].split():
            for rule in importlib.import_module(f"tfg.core.passes.{module}").RULES.rules:
                name = nodes.paragraph("", "", nodes.literal(text=rule.algebra), nodes.Text(f" ({rule.name}: {rule.classes})"))
                rules += nodes.list_item("", name)
        return [rules]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("rules", RulesDirective)
    return {"parallel_read_safe": True}
