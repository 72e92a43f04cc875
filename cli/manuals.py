"""Manual pages of `tfg` and its commands in roff, and completion scripts: files that a wheel installs below `share`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from typing import Final

import click

from .. import __version__
from .helps import AS_IS, GROUPS, group_of
from .main import commands, root, summary
from .tab_completion import completion_script

_SCRIPTS: Final = {
    "bash": "bash-completion/completions/tfg",
    "zsh": "zsh/site-functions/_tfg",
    "fish": "fish/vendor_completions.d/tfg.fish",
}
"""The place below `share` in which each shell looks for the script of a command."""


def shared_files() -> Iterator[tuple[str, str]]:
    """Yield the path below `share` and the text of each manual page and completion script."""
    yield "man/man1/tfg.1", _manual(root, "tfg", _commands())
    for name in commands():
        yield f"man/man1/tfg-{name}.1", _manual(_command(name), f"tfg {name}", _groups(_command(name)))
    for shell, path in _SCRIPTS.items():
        yield path, completion_script(shell, root)


def _command(name: str) -> click.Command:
    command = root.get_command(click.Context(root, info_name="tfg"), name)
    assert command is not None
    return command


def _manual(command: click.Command, name: str, rest: Iterable[str]) -> str:
    """Return a manual page: name, synopsis, description and command lines by the help, then the rest."""
    page = name.replace(" ", "-")
    # The line that `tfg --help` has for the command; `tfg` itself is told by the first of its own help.
    said = summary(name.removeprefix("tfg ")) or inspect.cleandoc(root.help or "").partition("\n")[0]
    usage = command.collect_usage_pieces(click.Context(command, info_name=name, **root.context_settings))
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    examples = [line for text in paragraphs if text.startswith(AS_IS) for line in text.split("\n")[1:]]
    lines = [
        f'.TH {page.upper()} 1 "" "tfg {__version__}" "tfg"',
        # No hyphenation: a reader searches for options, and copies them.
        ".nh",
        ".SH NAME", f"{_roff(page)} \\- {_roff(said[:1].lower() + said[1:].removesuffix('.'))}",
        ".SH SYNOPSIS", f".B {_roff(name)}", _roff(" ".join(usage)),
        ".SH DESCRIPTION", *_paragraphs(text for text in paragraphs if not text.startswith(AS_IS)),
        *([".SH EXAMPLES", ".nf", *map(_roff, examples), ".fi"] if examples else []),
        *rest,
        ".SH SEE ALSO", *_references(name),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _groups(command: click.Command) -> Iterator[str]:
    """Yield the options of a command by group."""
    context = click.Context(command, **root.context_settings)
    options = [option for option in command.get_params(context) if isinstance(option, click.Option)]
    yield ".SH OPTIONS"
    for group in GROUPS:
        members = [record for option in options if group_of(option) == group and (record := option.get_help_record(context))]
        if members:
            yield f".SS {group}"
        yield from _terms(members)


def _commands() -> Iterator[str]:
    """Yield the options of `tfg` as a whole and the list of commands."""
    context = click.Context(root, **root.context_settings)
    yield ".SH OPTIONS"
    yield from _terms(record for param in root.get_params(context) if (record := param.get_help_record(context)))
    yield ".SH COMMANDS"
    yield from _terms((f"tfg {name}", summary(name) or "") for name in commands())


def _terms(records: Iterable[tuple[str, str]]) -> Iterator[str]:
    for term, text in records:
        yield from (".TP", f"\\fB{_roff(term)}\\fR", _roff(text))


def _paragraphs(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from (".PP", _roff(" ".join(text.split())))


def _references(name: str) -> Iterator[str]:
    names = [f"tfg-{command}" for command in commands()] if name == "tfg" else ["tfg"]
    yield ",\n".join(f"\\fB{_roff(other)}\\fR(1)" for other in names)


def _roff(text: str) -> str:
    """Return text in which roff finds no request, no escape and no hyphen in place of a minus sign."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga")
    return re.sub(r"^([.'])", r"\\&\1", escaped, flags=re.MULTILINE)
