"""Helps of commands, with options in groups: --help shows the common groups, --help-all all groups."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Final

import click

from .layout import continued

AS_IS: Final = "\b"
"""The first line of a paragraph whose lines click leaves as they are: command lines."""
RUN: Final = "What to run"
OUTPUT: Final = "Output"
FURTHER: Final = ("Limits", "Reading the graph")
"""The groups that only --help-all shows."""
GROUPS: Final = (RUN, "Values", "State", "Engine", "Cluster", OUTPUT, *FURTHER)
"""The groups in the order of the help."""
_MEMBERS: Final = {
    "Values": "feed shape batch size trips assign assign-add assign-sub set sweep each steps fetch-every take",
    "State": "init init-op state seed save-state save-model checkpoint-every resume",
    "Engine": "engine precision engine-report verify-engine optimize cache-stats",
    "Cluster": "on retry mesh coordinator processes process",
    OUTPUT: "output text gzip format table view top depth out-dir overwrite shard-size keep-going trace quiet verbose color "
    "help help-all",
    "Limits": "allow-files max-memory timeout untrusted log-file",
    "Reading the graph": "map-op op-library tags",
}
GROUP_OF: Final = {f"--{name}": group for group, names in _MEMBERS.items() for name in names.split()}


def group_of(option: click.Option) -> str:
    """Return the group of an option; unlisted options belong to the group RUN."""
    # By the long name: -o is in the group of --output.
    return GROUP_OF.get(max(option.opts, key=len), RUN)


class GroupedCommand(click.Command):
    """A command whose help has its options in groups, and command lines that fit the terminal."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        room = formatter.width - formatter.current_indent - formatter.indent_increment
        paragraphs = inspect.cleandoc(self.help or "").split("\n\n")
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text("\n\n".join(_broken(paragraph, room) for paragraph in paragraphs))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        # Set by --help-all.
        is_whole = bool(ctx.meta.get(__name__))
        left_out = 0
        for group in GROUPS:
            members = [option for option in options if group_of(option) == group]
            if group in FURTHER and not is_whole:
                left_out += len(members)
            else:
                _write(group, members, ctx, formatter)
        if left_out:
            formatter.write_paragraph()
            formatter.write_text(f"--help-all shows {left_out} more options: {' and '.join(FURTHER).lower()}.")


def _broken(paragraph: str, room: int) -> str:
    """Return a paragraph for a terminal: a shell continues the broken command lines of a paragraph that begins with AS_IS."""
    first, *lines = paragraph.split("\n")
    return "\n".join([first, *(continued(line, room) for line in lines)]) if first == AS_IS else paragraph


def _write(title: str, options: Iterable[click.Option], ctx: click.Context, formatter: click.HelpFormatter) -> None:
    records = [record for option in options if (record := option.get_help_record(ctx)) is not None]
    if records:
        with formatter.section(title):
            formatter.write_dl(records)


def help_all_option() -> click.Option:
    """Return the option that shows all groups."""
    return click.Option(
        ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_show, help="Show all options and exit."
    )


def _show(ctx: click.Context, _param: click.Parameter, is_asked: bool) -> None:
    if is_asked and not ctx.resilient_parsing:
        # `meta` is how the callback of an option tells the formatter, which click calls with the context alone.
        ctx.meta[__name__] = True
        click.echo(ctx.get_help())
        ctx.exit()
