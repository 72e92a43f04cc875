"""The table of docs/commands/index.md with the file formats of each option; a part of regenerate.py."""

from __future__ import annotations

import pathlib
import re
from collections import defaultdict
from collections.abc import Iterator

import click

from tfg.cli.main import commands, root
from tfg.cli.options import OutputFile
from tfg.core.support.file_formats import Writable

ROOT = pathlib.Path(__file__).parents[1]
PAGE = ROOT / "docs" / "commands" / "index.md"
TABLE = re.compile(r"(?<=\n)\| option \| .*?\n(?=\n)", re.DOTALL)
OF_ALL = "--log-file"


def derived() -> dict[pathlib.Path, str]:
    """The page with a fresh table."""
    lines = ["| option | extension (format) |", "| --- | --- |", *rows()]
    return {PAGE: TABLE.sub(lambda _: "\n".join(lines) + "\n", PAGE.read_text(encoding="utf-8"), count=1)}


def rows() -> Iterator[str]:
    """Yield a line for each choice of formats, with the options of this choice."""
    options: defaultdict[Writable, list[str]] = defaultdict(list)
    for name in commands():
        command = root.get_command(click.Context(root), name)
        assert command is not None
        for parameter in command.params:
            if not isinstance(parameter.type, OutputFile):
                continue
            flag = max(parameter.opts, key=len) if isinstance(parameter, click.Option) else parameter.human_readable_name
            if flag != OF_ALL:
                options[parameter.type.writable].append(f"`{name} {flag}`")
            elif name == commands()[0]:
                options[parameter.type.writable].append(f"`{flag}`")
    for writable, names in options.items():
        yield f"| {', '.join(names)} | {writable} |"
