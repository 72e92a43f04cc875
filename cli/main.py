"""The `tfg` command: finds commands by their files, imports a command when called, and maps errors to exit codes."""

from __future__ import annotations

import functools
import gc
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from ..core.support.early_exit import ended, quit_on_signals, raise_on_signals
from ..core.support.errors import FailedPreconditionError, NotFoundError, TfgError
from ..core.support.escaping import printable_line
from ..core.support.gc_control import RARELY
from ..core.support.log import DEBUG, INFO, NAME
from .helps import help_all_option
from .layout import terminal_width, wrapped
from .next_steps import in_commands

if TYPE_CHECKING:
    import logging


DONE = 0
REFUSED = 1
USAGE = 2
COMPARISON_FAILED = 3
INTERRUPTED = 130
BROKEN_PIPE = 141

_COMPLETION = "_TFG_COMPLETE"
"""The environment variable by which the script of a shell asks for completions."""
_VERBOSE = "tfg.verbose"
"""The key of the context that says whether `-v` stands beside `--version`."""
_FOLDER = os.path.join(os.path.dirname(__file__), "commands")


class LazyGroup(click.Group):
    """The group of commands: each file of `commands` begins with "`tfg NAME`: SUMMARY" and is imported when called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return commands()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        # The help of all commands, and names that are no commands, import no command.
        if summary(cmd_name) is None:
            return None
        from importlib import import_module

        from .options import with_plain_types

        # click asks for a command twice in a run, and both times it is this object: what is added below is added once.
        own = import_module(f".commands.{cmd_name}", __package__).command
        command = with_plain_types(with_log_options(with_untrusted(own)))
        if _COMPLETION in os.environ:
            from .tab_completion import offer_names

            return offer_names(command)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take options that every command has before the name of the command too: `tfg -v run`."""
        # click stops reading the options of a group at the first word that is no option, so they change places with the
        # command.
        count = _leading(args)
        return super().parse_args(ctx, [*args[count : count + 1], *args[:count], *args[count + 1 :]])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] == "help":
            args = [*args[1:2], "--help"]
        name = args[0]
        # `tfg help` without a command.
        if name in ("-h", "--help"):
            click.echo(ctx.get_help())
            ctx.exit()
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            from .guesses import resolve

            args = resolve(args, self.list_commands(ctx), ctx)
            if args[0] == "--version":
                _print_version(ctx, self.params[0], True)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary(name) or "") for name in commands()])


def _leading(args: Sequence[str]) -> int:
    """Return the number of words at the beginning that are options of all commands."""
    count = 0
    while count < len(args):
        if args[count] in ("--color", "--log-file"):
            count += 2
        elif re.fullmatch(r"-[vq]+|--verbose|--quiet|--untrusted|--(color|log-file)=.*", args[count]):
            count += 1
        else:
            break
    return count if count < len(args) else 0


def commands() -> list[str]:
    """The names of all commands, in alphabetical order."""
    return [name for name in sorted(entry.removesuffix(".py") for entry in os.listdir(_FOLDER)) if summary(name)]


def summary(name: str) -> str | None:
    """Return the text after "`tfg NAME`: " in the first line of cli/commands/NAME.py; None for an unknown command."""
    # A name with dots or slashes could lead to a file elsewhere.
    if not name.isidentifier():
        return None
    try:
        # A line of the source is read in place of an import, which would cost the list of commands some 26 modules and all
        # their options.
        with open(os.path.join(_FOLDER, f"{name}.py"), encoding="utf-8") as source:
            said, colon, summary = source.readline().strip().strip('"').partition("`: ")
    except OSError:
        return None
    return summary[0].upper() + summary[1:] if colon and said == f"`tfg {name}" else None


def _print_version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from .. import __version__

        click.echo(f"tfg {__version__}")
        if ctx.meta.get(_VERBOSE):
            _print_machine()
        ctx.exit()


def _print_machine() -> None:
    """Print what results may depend on."""
    # Here and not above: a plain --version prints before NumPy could be imported.
    import platform

    import numpy as np

    from ..core.numerics.float_mode import can_flush

    click.echo(f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.system()} {platform.machine()}")
    kept = "computed in runs: tfg cannot set the float mode here, and TensorFlow flushes them to zero"
    click.echo(f"subnormal floats: {'flushed to zero in runs, as in TensorFlow' if can_flush() else kept}")


def _note_verbose(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    ctx.meta[_VERBOSE] = value


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version; with -v, also what results depend on.",
)
@click.option("-v", "--verbose", is_flag=True, is_eager=True, expose_value=False, hidden=True, callback=_note_verbose)
def root() -> None:
    """Inspect, explain, run, train and rewrite TensorFlow graphs, without installing TensorFlow.

    GRAPH is a GraphDef, MetaGraphDef or SavedModel, binary or text, plain or gzip, a graph model of TensorFlow.js, or an
    event file of TensorBoard; - is standard input. `tfg GRAPH` explains the graph.

    Exit codes: 0 done, 1 error (the message says why), 2 wrong usage, 3 a comparison, `check` or `flops
    --strict` failed, or training diverged, 130 interrupted, 143 terminated.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit. A user's error prints a message and a hint; a bug keeps its traceback."""
    # For the whole process: nodes of a graph are not garbage, and each collection would look through all of them.
    gc.set_threshold(RARELY)
    _open_streams()
    try:
        # Between here and `quit_on_signals` a signal raises KeyboardInterrupt, so that blocks clean up; before and after,
        # nothing is left to clean up, and it ends the process.
        raise_on_signals()
        code = run(arguments)
        quit_on_signals()
    except KeyboardInterrupt:  # between two blocks of `run`
        code = ended()
    code = _flush_output(code)
    sys.stderr.flush()
    os._exit(code)  # taking a large graph apart object by object would take longer than many a command


def _open_streams() -> None:
    """Make standard streams accept any text: characters outside the encoding become escapes, and closed streams are
    replaced.
    """
    # Python has None for a stream that the parent closed.
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            # What was closed must not become a file of ours: there is nothing to read, and writing output fails.
            os.dup2(os.open(os.devnull, os.O_WRONLY if name == "stderr" else os.O_RDONLY), number)
            setattr(sys, name, open(number, "r" if name == "stdin" else "w"))  # noqa: SIM115 - as long as the process
    for stream in (sys.stdout, sys.stderr):
        # A name in Cyrillic is no reason for a traceback on a terminal in ASCII.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def _flush_output(code: int) -> int:
    """Flush standard output and return the exit code; the flush may fail."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return BROKEN_PIPE
    # A full disk behind a redirected output shows up only here.
    except OSError as error:
        return code if code == REFUSED else _report_output(error)
    return code


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        if _COMPLETION in os.environ:
            from .tab_completion import register

            register()
        # Not `standalone_mode`, in which click prints errors in words of its own and exits.
        code = root.main(arguments, prog_name="tfg", standalone_mode=False)
        # Commands without a verdict return None.
        return code if isinstance(code, int) else DONE
    except click.ClickException as error:
        return _report_usage(error, sys.argv[1:] if arguments is None else arguments)
    except (click.Abort, KeyboardInterrupt):
        return ended()
    except TfgError as error:
        return _report(error.summary, _next_step(error, sys.argv[1:] if arguments is None else arguments), error.details)
    # Functions nested too deeply exhaust Python's stack.
    except RecursionError:
        return _report("the graph is nested too deeply", None)
    except MemoryError:
        return _report("out of memory", None)
    except BrokenPipeError:
        return BROKEN_PIPE  # the reader of a pipe has gone, as in `tfg dump g.pb | head`
    except SystemExit:
        return BROKEN_PIPE  # what click makes of a BrokenPipeError
    except OSError as error:
        # Errors of files are TfgErrors by now (`file_errors`): another with a name is a bug. Without a name it is a stream.
        if error.filename is not None:
            raise
        return _report_output(error)


def _next_step(error: TfgError, words: Sequence[str]) -> str | None:
    """Return the hint of an error; for a variable without a value with the checkpoint that lies beside the graph."""
    if error.hint is None or not isinstance(error, (FailedPreconditionError, NotFoundError)):
        return error.hint
    from .guesses import state_hint

    return state_hint(error.hint, words)


def _report_output(error: OSError) -> int:
    return _report(f"cannot write to standard output: {error.strerror}", None)


def _report(message: str, hint: str | None, details: Sequence[str] = ()) -> int:
    hints = [f"hint: {in_commands(hint)}"] if hint else []
    _say(f"error: {in_commands(message)}", *(f"  {in_commands(line)}" for line in details), *hints)
    return REFUSED


def _say(*lines: str) -> None:
    """Print lines on standard error, at a terminal broken between words."""
    width = terminal_width(sys.stderr)
    for line in lines:
        print(wrapped(printable_line(line), width), file=sys.stderr)


def _report_usage(error: click.ClickException, words: Sequence[str]) -> int:
    # The message is the help, which has its own layout.
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        print(error.format_message(), file=sys.stderr)
        return error.exit_code
    first, *rest = error.format_message().split("\n")  # click lists the values of an option on lines of their own
    hint = getattr(error, "hint", None)
    if first.startswith("Got unexpected extra argument"):
        from .guesses import extra_arguments

        first, hint = extra_arguments(first, words, getattr(error, "ctx", None))
    if isinstance(error, click.NoSuchOption):
        from .guesses import option_hint

        hint = option_hint(error.option_name, words)
        if hint is not None:
            first = f"No such option '{error.option_name}'."  # without names that are only spelled alike
    _say(f"error: {first}", *(line.expandtabs(4) for line in rest), f"hint: {hint or _help_hint(error, words)}")
    return error.exit_code


def _help_hint(error: click.ClickException, words: Sequence[str]) -> str:
    """Return the command line that shows the help of the command."""
    # An error of a parameter type may come without a context; the command is then the first word that names one.
    context: Any = getattr(error, "ctx", None)
    named = next((f"tfg {word}" for word in words if summary(word)), "tfg")
    return f"{context.command_path if context else named} --help shows the usage"


# `tfg --untrusted COMMAND` and TFG_UNTRUSTED=1: one switch for a command on a stranger's file.

_REASONS: Final = {
    "allow_files": ("--allow-files", "the graph reads no files but its own"),
    "op_library": ("--op-library", "an op library is a program, which would run without limits"),
    "on": ("--on", "the network is closed"),
    "coordinator": ("--coordinator", "the network is closed"),
}
"""The options that contradict the switch, by parameter, and why."""


def with_untrusted(command: click.Command) -> click.Command:
    """Return the command with --untrusted, which limits all that the command does."""
    # The test for the parameter keeps a second call for the same command from adding the option again.
    if command.callback is not None and not any(param.name == "untrusted" for param in command.params):
        command.params.append(
            click.Option(
                ["--untrusted"],
                is_flag=True,
                envvar="TFG_UNTRUSTED",
                help="Limit time (60 s) and memory (4G), and allow no other files, network or op libraries. Default: "
                "TFG_UNTRUSTED.",
            )
        )
        command.callback = _guarded(command.callback)
    return command


def _guarded(callback: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(callback)
    def guarded(*args: Any, untrusted: bool, **values: Any) -> Any:
        return _limited(callback, *args, **values) if untrusted else callback(*args, **values)

    return guarded


def _limited(callback: Callable[..., Any], *args: Any, **values: Any) -> Any:
    from ..core.runtime.execute.limits import UNTRUSTED_MEMORY, UNTRUSTED_SECONDS
    from ..core.runtime.execute.process_limits import limited_process
    from ..core.support.untrusted import untrusted_process

    _refuse_contradictions(values)
    limits: dict[str, Any] = {"timeout": UNTRUSTED_SECONDS, "max_memory": UNTRUSTED_MEMORY}
    # Limits that the user gave stay, and a command with options for limits sets them itself, so that it can save what it
    # promised before it ends. The process gets the remaining limits.
    own = {name: limits[name] for name in limits.keys() & values.keys() if values[name] is None}
    rest = {name: None if name in values else limit for name, limit in limits.items()}
    # The limits come first: nothing of the command runs without them.
    with limited_process(rest["timeout"], rest["max_memory"]), untrusted_process():
        return callback(*args, **values | own)  # the command sets its own limits


def _refuse_contradictions(values: Mapping[str, Any]) -> None:
    for name, (option, reason) in _REASONS.items():
        if values.get(name) and not str(values[name]).startswith("local:"):  # processes of this machine
            raise click.UsageError(f"--untrusted excludes {option}: {reason}")


# The options -v and --log-file of all commands: log messages on standard error or in a file.

_WHEN = ("auto", "always", "never")
_TO_TERMINAL = "%(relativeCreated)6.0f ms  %(message)s"
_TO_FILE = "%(asctime)s.%(msecs)03d %(levelname)s %(name)s: %(message)s"


def with_log_options(command: click.Command) -> click.Command:
    """Return the command with -v, --log-file and --color, and with -q if the command has no -q."""
    from ..core.support.file_formats import LOGS
    from .options import OutputFile  # lazy: the list of commands and the version need no options

    # As for --untrusted, not a second time.
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

    # The classes stand inside functions, since `logging` is a good part of the start and most runs never log.
    logger = logging.getLogger(NAME)
    before: Any = logger.level
    handler.setFormatter(Printable(form, "%Y-%m-%d %H:%M:%S"))
    handler.setLevel(level)
    logger.addHandler(handler)
    # -v and --log-file may both be given: the logger lets through what either wants, and each handler bounds its own.
    logger.setLevel(min(level, before or level))

    def end() -> None:
        logger.removeHandler(handler)
        logger.setLevel(before)
        handler.close()

    ctx.call_on_close(end)


if __name__ == "__main__":
    main()
