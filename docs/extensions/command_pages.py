"""Usage, help, options and rules of commands for pages and man pages, taken from the commands.

`{usage} NAME` and `{options} NAME` are directives of pages, without a name for `tfg` as a whole; `{commands}` lists all.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import click
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from tfg.cli.helps import AS_IS
from tfg.cli.main import commands, root, summary
from tfg.cli.requests import OptionRule
from tfg.core.support.words import listed

_CODE = re.compile(r"`([^`]+)`")


def _command(name: str | None) -> tuple[click.Command, click.Context]:
    """Return the command and a click context of the command; without a name, of `tfg` as a whole."""
    above = click.Context(root, info_name="tfg")
    if name is None:
        return root, above
    subcommand = root.get_command(above, name)
    if subcommand is None:
        raise ValueError(f"there is no command '{name}'")
    return subcommand, click.Context(subcommand, info_name=name, parent=above)


class UsageDirective(SphinxDirective):
    """The usage line of a command, the help, and the example command lines of the help."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        command, context = _command(self.arguments[0] if self.arguments else None)
        usage = command.get_usage(context).removeprefix("Usage: ")
        help_ = inspect.cleandoc(command.help or "").split("\n\n")
        return [_literal(" ".join(usage.split()), "text"), *map(_paragraph, help_)]


def _paragraph(text: str) -> nodes.Element:
    if text.startswith(AS_IS):
        return _literal(text.removeprefix(AS_IS).strip(), "sh")
    return _said(" ".join(text.split()))


def _literal(text: str, language: str) -> nodes.literal_block:
    return nodes.literal_block(text, text, language=language)


def _said(text: str) -> nodes.paragraph:
    """Return a paragraph with text between backticks as code."""
    paragraph = nodes.paragraph()
    for number, part in enumerate(_CODE.split(text)):
        paragraph += nodes.literal(part, part) if number % 2 else nodes.Text(part)
    return paragraph


class OptionsDirective(SphinxDirective):
    """A list of the options of a command, each with the help, the required options and the ignored options."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        command, context = _command(self.arguments[0] if self.arguments else None)
        options = (option for option in command.get_params(context) if isinstance(option, click.Option) and not option.hidden)
        items = [_item(command, option, context) for option in options]
        return [nodes.definition_list("", *items, classes=["options"])]


class CommandsDirective(SphinxDirective):
    """A list of all commands, each with a summary and a link to the page."""

    def run(self) -> list[nodes.Node]:
        lines = (f"[tfg {name}]({name}.md)\n: {summary(name)}\n" for name in commands())
        return self.parse_text_to_nodes("\n".join(lines))


def _item(command: click.Command, option: click.Option, context: click.Context) -> nodes.definition_list_item:
    record = option.get_help_record(context)
    assert record is not None
    flags, help_ = record
    term = nodes.term("", "", nodes.literal(flags, flags))
    term["ids"].append(nodes.make_id(f"{command.name if context.parent else 'tfg'}-{max(option.opts, key=len)}"))
    return nodes.definition_list_item("", term, nodes.definition("", _said(" ".join([help_, *_rules(command, option)]))))


def _rules(command: click.Command, option: click.Option) -> Iterator[str]:
    rules: tuple[OptionRule, ...] = getattr(command.callback, "rules", ())
    for rule in rules:
        if not set(option.opts) & set(rule.options):
            continue
        others = listed([f"`{other}`" for other in rule.others])
        because = f": {rule.reason}" if rule.reason else ""
        yield f"Only with {others}." if rule.are_needed else f"Not with {others}{because}."


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives."""
    app.add_directive("usage", UsageDirective)
    app.add_directive("options", OptionsDirective)
    app.add_directive("commands", CommandsDirective)
    return {"parallel_read_safe": True}
