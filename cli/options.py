"""Shared parts of commands: parameter types, options for reading graphs, and output formats."""

from __future__ import annotations

import functools
import math
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from ..core.support.arguments import regular_expression
from ..core.support.atomic import require_folder, require_new_folder
from ..core.support.errors import InvalidArgumentError, TfgError
from ..core.support.words import listed
from ..core.types.shapes import BatchSize
from ..formats.api.graph_reading import GraphReading
from .requests import Natural, beside, needing, option, request

if TYPE_CHECKING:
    from ..core.explaining.node_listing import NodeFilter
    from ..core.graph.graph import Graph
    from ..core.support.file_formats import Writable
    from ..formats.codecs.source import Source
    from ..formats.graphdef import NodeStream
    from .render import Working

_MAX_CANDIDATES: Final = 3
"""The largest number of tensors that the error of a missing option lists."""
_Command = TypeVar("_Command", bound=Callable[..., Any])


class Parsed(click.ParamType[Any]):
    """The type of an option whose words a function reads; BadParameter from the function names the option."""

    def __init__(self, name: str, read: Callable[[str], Any]) -> None:
        self.name, self.read = name, read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        # click converts defaults too, and these are values already.
        return self.read(value) if isinstance(value, str) else value


def parsed(name: str) -> Callable[[Callable[[str], Any]], Parsed]:
    """Make a function the type of an option; `name` stands for the value in the help."""
    return functools.partial(Parsed, name)


@parsed("N|epoch")
def step_count(text: str) -> int | None:
    """Read a number of steps; None, from `epoch`, means a step for each element."""
    return None if text == "epoch" else click.IntRange(1).convert(text, None, None)  # type: ignore[arg-type]


class Number(click.FloatRange):
    """A number of a range; NaN, which no comparison excludes, is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"'{value}' is not a number", param, ctx)
        return number


class Seconds(Number):
    """A time limit."""

    def __init__(self) -> None:
        super().__init__(0, min_open=True)


def pair(left: str, right: str) -> Parsed:
    """Return the type of NAME=VALUE, cut at the first `=`."""
    return Parsed(f"{left}={right}", functools.partial(_pair, f"{left}={right}"))


def _pair(form: str, text: str) -> tuple[str, str]:
    # At the first `=`, as values such as JSON contain more of them.
    left, equals, right = text.partition("=")
    if not equals or not left:
        raise click.BadParameter(f"'{text}' is not of the form {form}")
    return left.strip(), right.strip()


@parsed("TENSOR=VALUE")
def feed_pair(text: str) -> tuple[str, str]:
    """Read a feed; a JSON document, its file `@FILE` or `-` for values of several inputs has the name `WHOLE`."""
    if text.startswith(("{", "@")) or text == "-":
        from ..formats.codecs.json_inputs import WHOLE  # lazy: most commands read no JSON

        return WHOLE, text
    return _pair("TENSOR=VALUE", text)


@parsed("TENSOR[=VALUE]")
def bare_feed_pair(text: str) -> tuple[str, str | None]:
    """Read a feed as `feed_pair`, or a tensor without a value."""
    is_bare = "=" not in text and not text.startswith(("{", "@")) and text != "-"
    return (text.strip(), None) if is_bare else feed_pair.read(text)


class FileName(click.ParamType[str]):
    """The name of a file or folder: any text but none."""

    name = "FILE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(value) or self.fail("the name of a file must not be empty", param, ctx)


class OutputFile(FileName):
    """The name of an output file or folder; names with an unsupported extension are refused before any work.

    `-` is standard output if `may_be_stdout`. The parent folder must exist unless the command `makes_folders`.
    """

    def __init__(self, writable: Writable, *, may_be_stdout: bool = False, makes_folders: bool = False) -> None:
        self.writable = writable
        self.may_be_stdout = may_be_stdout
        self.makes_folders = makes_folders

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from ..core.support.file_formats import SAVED_MODEL, TFJS, format_of, is_bare  # lazy: few commands write files

        path = super().convert(value, param, ctx)
        if path == "-":
            if not self.may_be_stdout:
                raise InvalidArgumentError(
                    f"a {self.writable.formats[0].name} cannot be written to standard output", hint="name a file"
                )
            return path
        # The format of a bare name is then said by --format, which is not known yet.
        is_unsaid = self.writable.default is None and is_bare(path)
        asked = None if is_unsaid else format_of(path, self.writable)
        if asked is SAVED_MODEL:
            require_new_folder(path)
        # TensorFlow.js has files of weights beside the model, for which tfg makes the folder.
        is_made = asked is TFJS or (self.makes_folders and asked is not None and asked.is_folder)
        # Before the work: a run of an hour must not fail at the name of its output.
        if not is_made:
            require_folder(path)
        # One spelling, which rules such as `OUT=*/` know.
        return f"{path.rstrip(os.sep + '/')}/" if asked is SAVED_MODEL and SAVED_MODEL is not self.writable.default else path


FILE_METAVARS: Final = {"FILE", "FILE_OR_MODULE", "FILE.json", "DIR", "OUT_DIR", "FOLDER", "PREFIX", "IN", "OUT"}
"""The metavars of files and folders."""


def with_plain_types(command: click.Command) -> click.Command:
    """Call numbers N in the help, and refuse files without a name, which would else be taken for files not asked for."""
    for parameter in command.params:
        if isinstance(parameter.type, (click.types.IntParamType, click.types.FloatParamType)) and not parameter.metavar:
            parameter.metavar = "N"
        # A variable that a script forgot to set arrives as "", and must not mean "print it to the terminal".
        if parameter.type is click.STRING and parameter.metavar in FILE_METAVARS:
            parameter.type = FileName()
    return command


@parsed("FIRST,SECOND")
def couple(text: str) -> tuple[str, ...]:
    """Read two words between a comma."""
    words = tuple(word.strip() for word in text.split(","))
    if len(words) != 2 or not all(words):
        raise click.BadParameter(f"'{text}' is not of the form FIRST,SECOND")
    return words


@parsed("REGEX")
def regex(text: str) -> str:
    """Read a regular expression, and check it."""
    return regular_expression(text).pattern


@parsed("TENSOR=SIZES")
def shape_pair(text: str) -> tuple[str, tuple[int | None, ...]]:
    """Read TENSOR=2,?,3: sizes between commas, `?` for an unknown size, nothing for a scalar."""
    tensor, equals, sizes = text.partition("=")
    parts = [part.strip() for part in sizes.strip().strip("[]()").split(",") if part.strip()]
    if not equals or not tensor or not all(part == "?" or is_size(part) for part in parts):
        raise click.BadParameter(f"'{text}' is not of the form x=8,224,224,3 (? for an unknown size)")
    return tensor, tuple(None if part == "?" else int(part) for part in parts)


@parsed("N|?")
def batch_size(text: str) -> BatchSize:
    """Read a batch: a number of rows, or ? for an unknown number."""
    if text != "?" and not is_size(text):
        raise click.BadParameter(f"'{text}' is not a number of rows, or ?")
    return "?" if text == "?" else int(text)


@parsed("N|?|auto")
def block_size(text: str) -> Any:
    """Read a number of rows, ? for an unknown number, or `auto`."""
    return text if text == "auto" else batch_size.read(text)


def batch_option(**rules: Any) -> Any:
    """--batch N|?."""
    text = "Change the batch: the first size of the inputs, also in nodes that state it; ? for an unknown batch."
    return option(type=batch_size, help=text, **rules)


def size_option() -> Any:
    """--size SIZE=NUMBER."""
    text = "A size that depends on values of the run; repeatable."
    return option("--size", type=pair("SIZE", "NUMBER"), excludes="--measured", help=text)


def trips_option() -> Any:
    """--trips LOOP=NUMBER."""
    return option(type=pair("LOOP", "NUMBER"), excludes="--measured", help="Number of iterations of a loop; repeatable.")


def whole_numbers(name: str, pairs: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Return the numbers of an option by their words; InvalidArgumentError for anything but whole numbers from 0 on."""
    for word, text in pairs:
        if not is_size(text):
            raise InvalidArgumentError(f"{name} {word}={text}: '{text}' is not a whole number from 0 on")
    return {word: int(text) for word, text in pairs}


def is_size(text: str) -> bool:
    """Return True for digits of a size that a dimension can have; Python refuses to read thousands of digits."""
    return text.isdecimal() and len(text) <= len(str(sys.maxsize))


@request
class GraphReader:
    """Reads graphs as the shared options ask: op libraries loaded first, op types mapped, tags chosen."""

    map_op: tuple[tuple[str, str], ...] = option(type=pair("OLD", "NEW"), help="Read ops of type OLD as NEW; repeatable.")
    op_library: tuple[str, ...] = option(metavar="FILE_OR_MODULE", help="Load this library of ops first; repeatable.")
    tags: str | None = option(metavar="TAGS", help="The tags of the SavedModel's graph, separated by commas.")
    function: str | None = option(
        metavar="NAME", help="Use this function as the graph: `__call__`, or a name that explain lists."
    )

    def load(self, path: str) -> Graph:
        """The graph at `path`, `-` for standard input; InvalidArgumentError names the first node that no op takes so."""
        from ..formats.loading import load

        # An op library declares ops, so it comes before the nodes that are checked against declarations.
        self.load_libraries()
        with self._reading(path):
            graph = self.mapped(load(path, tags=self.reading.tags))
            graph.check()
        return graph

    def load_leniently(self, source: Source) -> tuple[Graph, list[TfgError]]:
        """Load the graph at a path even with broken nodes; also return the errors met while reading."""
        from ..formats.codecs.source import describe
        from ..formats.loading import load_leniently

        self.load_libraries()
        with self._reading(source if isinstance(source, str) else describe(source)):
            graph, faults = load_leniently(source, tags=self.reading.tags)
            return self.mapped(graph), faults

    def load_part(self, path: str, inputs: Sequence[str] = ()) -> Graph:
        """Load the graph at `path` without broken nodes and the nodes that need them; at least a part must remain.

        A later access to a dropped node raises the error of `load`. Nodes of `inputs` may be missing or broken.
        """
        from ..formats.api.partial_loading import load_part

        self.load_libraries()
        with self._reading(path):
            return load_part(path, inputs=inputs, tags=self.reading.tags, prepare=self.mapped)

    def load_for_passes(self, path: str, passes: str | None, disable: Sequence[str], has_fetches: bool) -> Graph:
        """Load the graph at `path` with checks of the parts that the passes keep."""
        from ..formats.api.partial_loading import load_for_passes

        self.load_libraries()
        with self._reading(path):
            return load_for_passes(path, passes, disable, has_fetches=has_fetches, tags=self.reading.tags, prepare=self.mapped)

    @staticmethod
    def _reading(path: str) -> Working:
        from .render import Working

        return Working(f"reading {path}")

    def look(self, path: str) -> Graph:
        """Load the graph at `path` for inspection; for a graph that cannot run, print a note and mark the broken nodes."""
        return self.look_closely(path)[0]

    def look_closely(self, source: Source) -> tuple[Graph, bool]:
        """As `look`, and whether the graph is sound."""
        from ..core.explaining.broken import make_presentable

        graph, faults = self.load_leniently(source)
        faults += make_presentable(graph)
        self.note_broken(faults)
        return graph, not faults

    def note_broken(self, faults: Sequence[TfgError]) -> None:
        """Say so where something is wrong with a graph."""
        if faults:
            from .render import note

            note(f"the graph is broken: {faults[0]}; `tfg check` lists all its problems")

    def stream(self, path: str) -> NodeStream | None:
        """Return a stream over the nodes of a large file; None for a file to load whole."""
        from ..formats.loading import stream

        self.load_libraries()
        # Both options look at the whole graph.
        return None if self.map_op or self.function is not None else stream(path)

    @property
    def reading(self) -> GraphReading:
        """Return the settings for other processes."""
        tags = None if self.tags is None else tuple(tag.strip() for tag in self.tags.split(",") if tag.strip())
        return GraphReading(self.map_op, self.op_library, tags, self.function)

    def mapped(self, graph: Graph) -> Graph:
        """Apply --map-op and --function to `graph`; a note tells which ops the graph lacks."""
        if self.map_op:
            self._note_lacking(graph)
        return self.reading.mapped(graph)

    def _note_lacking(self, graph: Graph) -> None:
        from ..core.graph.callers import all_nodes
        from .render import note

        ops = {node.op for node in all_nodes(graph)}
        for old, new in self.map_op:
            if old not in ops:
                note(f"no node has the op '{old}': --map-op {old}={new} changes nothing")

    def load_libraries(self) -> None:
        """Register the ops and kernels of the op libraries that were named or are installed."""
        self.reading.load_libraries()


def format_option(*formats: str) -> Any:
    """--format with the formats given, `table` first among them by default."""
    # The first is the default, as people read what scripts ask for by name.
    choices = formats or ("table", "json", "csv")
    kind = click.Choice(choices)
    said = option("--format", type=kind, default=choices[0], help="Output format.")
    return beside(said, _table_option) if "csv" in choices else said


def _table_option(command: _Command) -> _Command:
    """Add --table NAME, the choice of a table for CSV."""

    @click.option("--table", metavar="NAME", help="The table to print as CSV, if a command has several.")
    @needing("--table", "--format=csv")
    @functools.wraps(command)
    def wrapped(*args: Any, table: str | None, **kwargs: Any) -> Any:
        from .render import SETTINGS

        # A setting of the process: the functions that print get no options of the command line.
        SETTINGS.table = table
        click.get_current_context().call_on_close(SETTINGS.reset)
        return command(*args, **kwargs)

    return wrapped  # type: ignore[return-value]


def ci_format_option() -> Any:
    """--format of commands with findings that GitHub can show in files: as workflow commands, or as SARIF."""
    return format_option("table", "json", "csv", "github", "sarif")


def refuse_terminal(data: str) -> None:
    """UsageError for binary data if standard output is a terminal."""
    if sys.stdout.isatty():
        raise click.UsageError(f"{data} is binary data, and standard output is a terminal: name a file, or redirect")


def output_option(kind: OutputFile, help_: str, metavar: str = "FILE", **rules: Any) -> Any:
    """-o, --output: the file or folder that takes what the command makes."""
    return option("-o", "--output", type=kind, metavar=metavar, help=help_, **rules)


def graph_output_option(help_: str, **rules: Any) -> Any:
    """-o, --output: the file that takes the graph."""
    from ..core.support.file_formats import GRAPHS

    return beside(output_option(OutputFile(GRAPHS, may_be_stdout=True), help_, **rules), _refuse_binary)


def text_option() -> Any:
    """--text: whether the graph is written as text, where the file's name does not say so."""
    return option(help="Write text, if FILE has no extension.", needs="--output")


def _refuse_binary(command: _Command) -> _Command:
    """Refuse a binary graph for a terminal before any work."""

    @functools.wraps(command)
    def checked(*args: Any, output: str | None, text: bool, **kwargs: Any) -> Any:
        if output is not None:
            from ..formats.saving import graph_form

            # text=False is the default of a flag, and no demand for a binary file.
            form = graph_form(output, text or None)
            if output == "-" and not form.text:
                refuse_terminal("a GraphDef without --text")
        return command(*args, output=output, text=text, **kwargs)

    return checked  # type: ignore[return-value]


def fast_math_option(**rules: Any) -> Any:
    """--fast-math."""
    return option(help="Allow rewrites that lose digits, or turn finite results into infinity or NaN and back.", **rules)


def quiet_option() -> Any:
    """-q, --quiet."""
    return option("-q", "--quiet", help="Print no notes and no progress.")


def signature_option(**rules: Any) -> Any:
    """--signature."""
    text = "Use the inputs and outputs of this signature. Default: serving_default, or the only signature."
    return option(metavar="NAME", help=text, **rules)


def map_option() -> Any:
    """Return the option --map: new names of the tensors of --state."""
    return option(
        "--map", metavar="FILE", needs="--state", help="A file with a line OLD=NEW for each tensor of --state to rename."
    )


def raw_option(**rules: Any) -> Any:
    """--raw."""
    text = "Show the file's own nodes: calls, arguments, handles, and what saves and restores."
    return option(help=text, **rules)


def fetch_option(text: str, **rules: Any) -> Any:
    """--fetch NAME, repeatable; `text` is its help in the command."""
    return option("-F", "--fetch", metavar="NAME", help=text, **rules)


def feed_option(**rules: Any) -> Any:
    """--feed TENSOR=VALUE, repeatable; parsed by `value_literals.parse_value` when the graph is known."""
    text = (
        "Feed a tensor: @x.npy, @x.npz:key, a JSON literal, zeros(2,3), ones(..), uniform(2,3,low=0,high=1,seed=1), "
        "normal(..), randint(..), or - for JSON from standard input; or all inputs: JSON or @FILE.json with values by name "
        "or a request of TensorFlow Serving; repeatable."
    )
    return option("-f", "--feed", type=feed_pair, help=text, **rules)


def missing_tensor(option: str, candidates: Sequence[str]) -> click.UsageError:
    """Return the usage error for an option without its tensor, with a few tensors that the option may name."""
    # The first output goes by the name of its node, as users write it.
    names = [name.removesuffix(":0") for name in candidates[:_MAX_CANDIDATES]]
    return click.UsageError(f"missing option '{option}'{f': name a tensor, such as {listed(names)}' if names else ''}")


TOLERANCE: Final = 1e-5
"""The default of --tolerance."""


def tolerance_option(compared: str, default: float | str = TOLERANCE, **rules: Any) -> Any:
    """--tolerance: the largest accepted difference, relative to the largest value; `default` is a text if the default
    varies.
    """
    # A default that depends on the graph is worked out where the graph is known.
    number = default if isinstance(default, float) else None
    text = f"Largest difference that {compared} accepts, relative to the largest value. Default: {default}."
    return option(type=Number(0), default=number, show_default=False, help=text, **rules)


@request
class ListingSelection:
    """The choice of nodes to show."""

    name: str = option(default="", metavar="REGEX", help="Only nodes whose name matches.")
    exclude: str = option(default="", metavar="REGEX", help="Leave out nodes whose name matches.")
    op: str = option(default="", metavar="REGEX", help="Only nodes whose whole op type matches.")
    scope: str = option(default="", metavar="SCOPE", help="Only nodes in this name scope.")
    device: str = option(default="", metavar="REGEX", help="Only nodes whose device matches.")
    to: tuple[str, ...] = option(metavar="NAME", help="Only nodes that this tensor or operation needs; repeatable.")
    around: str | None = option(metavar="NODE", help="Only nodes up to --hops edges from this node.")
    hops: Natural = option(default=2, needs="--around", help="Largest distance of --around, in edges.")

    @property
    def filter(self) -> NodeFilter:
        """The choice by names, ops, scopes and devices."""
        from ..core.explaining.node_listing import NodeFilter

        return NodeFilter(self.name, self.op, self.scope, self.exclude, self.device)

    @property
    def needs_edges(self) -> bool:
        """Return True if the choice depends on edges."""
        return bool(self.to) or self.around is not None

    @property
    def is_of_some(self) -> bool:
        """True if not all nodes are to be shown."""
        return self.needs_edges or not self.filter.is_empty

    def of(self, graph: Graph) -> NodeFilter:
        """The filter that chooses the nodes of the graph."""
        from ..core.explaining.node_listing import narrowed

        return narrowed(graph, self.filter, self.to, self.around, self.hops)
