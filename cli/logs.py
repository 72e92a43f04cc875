"""The options -v and --log-file of all commands: log messages on standard error or in a file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from ..core.support.escaping import printable_line
from ..core.support.file_formats import LOGS
from ..core.support.log import DEBUG, INFO, NAME
from .helps import help_all_option
from .options import OutputFile

if TYPE_CHECKING:
    import logging

_WHEN = ("auto", "always", "never")
_TO_TERMINAL = "%(relativeCreated)6.0f ms  %(message)s"
_TO_FILE = "%(asctime)s.%(msecs)03d %(levelname)s %(name)s: %(message)s"


def with_log_options(command: click.Command) -> click.Command:
    """Return the command with -v, --log-file and --color, and with -q if the command has no -q."""
    if not any(param.name == "log_file" for param in command.params):
        if not any(param.name == "quiet" for param in command.params):
            help_ = "Print no notes and no progress."
            command.params.append(
                click.Option(["-q", "--quiet"], is_flag=True, expose_value=False, callback=_hush, help=help_)
            )
        command.params += [
            click.Option(
                ["-v", "--verbose"], count=True, expose_value=False, callback=_on_terminal,
                help="Print each step and its time to standard error; -vv prints more.",
            ),
            click.Option(
                ["--log-file"], type=OutputFile(LOGS), metavar="FILE", expose_value=False, callback=_in_file,
                help="Append the messages of -vv, with dates, to this file.",
            ),
            click.Option(
                ["--color"], type=click.Choice(_WHEN), is_eager=True, expose_value=False, callback=_color,
                help="Use colours: at a terminal (auto, the default), always, or never.",
            ),
            help_all_option(),
        ]  # fmt: skip
    return command


def _hush(ctx: click.Context, _param: click.Parameter, is_quiet: bool) -> None:
    """Drop notes and progress until the command ends."""
    if is_quiet:
        from . import render

        render.SETTINGS.quiet = True
        ctx.call_on_close(render.SETTINGS.reset)


def _color(ctx: click.Context, _param: click.Parameter, when: str | None) -> None:
    """Choose between colored and plain tables until the command ends."""
    if when is not None:
        from . import render

        render.SETTINGS.color = when
        ctx.call_on_close(render.SETTINGS.reset)


def _on_terminal(ctx: click.Context, _param: click.Parameter, count: int) -> None:
    if count:
        import logging

        _listen(ctx, logging.StreamHandler(sys.stderr), _TO_TERMINAL, INFO if count == 1 else DEBUG)


def _in_file(ctx: click.Context, _param: click.Parameter, path: str | None) -> None:
    if path is not None and not ctx.resilient_parsing:  # the Tab key creates no file
        _listen(ctx, _log_file(path), _TO_FILE, DEBUG)


def _log_file(path: str) -> logging.Handler:
    """Open a log file. What cannot be written, as on a full disk, is an error of this file, which ends the command."""
    import logging

    from ..core.support.atomic import file_errors

    class LogFile(logging.FileHandler):
        """A file whose errors are tfg's."""

        def handleError(self, record: logging.LogRecord) -> None:
            with file_errors(path):
                raise

        def close(self) -> None:
            with file_errors(path):
                super().close()

    with file_errors(path):
        return LogFile(path, encoding="utf-8", errors="backslashreplace")


def _listen(ctx: click.Context, handler: logging.Handler, form: str, level: int) -> None:
    """Attach a handler to the logger until the command ends."""
    import logging

    class Printable(logging.Formatter):
        """A formatter that writes each record in a single line, whatever characters a graph's names contain."""

        def format(self, record: logging.LogRecord) -> str:
            return printable_line(super().format(record))

    logger = logging.getLogger(NAME)
    before: Any = logger.level
    handler.setFormatter(Printable(form, "%Y-%m-%d %H:%M:%S"))
    handler.setLevel(level)
    logger.addHandler(handler)
    logger.setLevel(min(level, before or level))

    def end() -> None:
        logger.removeHandler(handler)
        logger.setLevel(before)
        handler.close()

    ctx.call_on_close(end)
