"""`tfg convert`: convert a graph: text, binary, frozen, a part, ONNX, StableHLO."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import click

from ...core.graph.graph import Graph
from ...core.support.errors import InvalidArgumentError, TfgError
from ...core.support.file_formats import CONVERTED, MODELS, SAVED_MODEL, conflict, extension_of, format_of
from ...core.support.hints import command_form
from ...core.support.words import counted
from .. import render
from ..helps import GroupedCommand
from ..main import COMPARISON_FAILED, DONE
from ..options import (
    GraphReader,
    OutputFile,
    excluding,
    gathered,
    graph_options,
    needing,
    quiet_option,
    refuse_terminal,
)
from ..placeholder_options import PlaceholderOptions, placeholder_options
from ..sessions import SessionOptions, session_options_for
from ..signatures import EDITS, SignatureOptions, signature_options, with_named_signatures
from ..tolerance import tolerance_option

if TYPE_CHECKING:
    from ...core.runtime.session.runner import Runner
    from ...formats.api.verification import Verification
    from ...formats.codecs.source import Source
    from ...formats.runs.names import Names
    from ...formats.saving import GraphForm

_OF_GRAPHS = "--text --gzip --kind --subgraph --freeze --inline-functions --strip-default-attrs --clear-devices"


@dataclasses.dataclass(frozen=True, slots=True)
class ConvertOptions:
    """The options of `tfg convert`, apart from those that open a session for the values to freeze."""

    text: bool | None
    compress: bool | None
    kind: Literal["graph", "meta_graph", "saved_model"] | None
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    subgraph: bool
    freeze: bool
    keep_functions: bool
    kept_variables: tuple[str, ...]
    inline_functions: bool
    strip_default_attrs: bool
    clear_devices: bool
    placeholders: PlaceholderOptions
    signatures: SignatureOptions
    verify: bool
    tolerance: float | None
    quiet: bool

    @property
    def cuts(self) -> bool:
        """Return True if the command keeps only a part of the graph."""
        return self.subgraph or bool(self.outputs or self.inputs)

    @property
    def inlines(self) -> bool:
        """Return True to inline functions, as TensorFlow's converter does when freezing."""
        return self.inline_functions or (self.freeze and not self.keep_functions)

    @property
    def changes_form_only(self) -> bool:
        """Return True if only the form of the graph changes."""
        changes = (self.freeze, self.inline_functions, self.strip_default_attrs, self.clear_devices, self.placeholders)
        return not self.cuts and not any(changes)

    def checked(self, target: str) -> ConvertOptions:
        """Return the options with the kind of the target's name; InvalidArgumentError for a conflict."""
        if self.kind == "saved_model":
            format_of(target, MODELS)
        if not target.endswith("/"):
            return self
        if self.kind not in (None, "saved_model"):
            raise conflict(target, SAVED_MODEL, f"--kind {self.kind}")
        return dataclasses.replace(self, kind="saved_model")

    def form_of(self, target: str) -> GraphForm:
        """Return the form of a graph's file, from the options or the extension."""
        from ...formats.saving import graph_form

        return graph_form(target, self.text, self.compress, None if self.kind == "saved_model" else self.kind)


class ConvertCommand(GroupedCommand):
    """The command `tfg convert`, which takes OUT as -o OUT too, as other commands that write do."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        args = list(with_named_signatures(args))
        place = next((place for place, word in enumerate(args) if word in ("-o", "--output")), None)
        if place is not None and place + 1 < len(args):
            args = [*args[:place], *args[place + 2 :], "--", args[place + 1]] if "--" not in args else args
        return super().parse_args(ctx, [word.removeprefix("--output=") for word in args])


@click.command(cls=ConvertCommand)
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT", type=OutputFile(CONVERTED, may_be_stdout=True))
@click.option(
    "--text/--binary", "text", default=None, help="Write text or binary. Default: the extension of OUT (.pbtxt is text)."
)
@click.option("--gzip/--no-gzip", "compress", default=None, help="Compress the output. Default: only if OUT ends in .gz.")
@click.option("--kind", type=click.Choice(("graph", "meta_graph", "saved_model")), help="Write this kind of graph.")
@click.option(
    "--to",
    "outputs",
    multiple=True,
    metavar="NAME",
    help="Keep only the nodes that this tensor or operation needs; repeatable.",
)
@click.option(
    "--from", "inputs", multiple=True, metavar="TENSOR", help="Cut here: this tensor becomes a placeholder; repeatable."
)
@click.option("--subgraph", is_flag=True, help="Keep only the nodes that --to needs, cut at --from. Implied by both.")
@click.option("--freeze", is_flag=True, help="Turn variables into constants.")
@click.option("--keep-functions", is_flag=True, help="Freeze, but keep function calls.")
@click.option("--except", "kept_variables", multiple=True, metavar="VARIABLE", help="Do not freeze this variable; repeatable.")
@session_options_for("--freeze", "--kind=saved_model", "OUT=*.onnx", "OUT=*.stablehlo", "OUT=*/")
@click.option("--inline-functions", is_flag=True, help="Replace each call of a function with the body of the function.")
@click.option("--strip-default-attrs", is_flag=True, help="Drop attributes with default values.")
@click.option("--clear-devices", is_flag=True, help="Drop the devices of all nodes.")
@placeholder_options
@signature_options
@click.option(
    "--verify", is_flag=True, help="Run a copy of the written file on random feeds beside IN; exit with 3 if they differ."
)
@tolerance_option("--verify", "1e-5, more where roundings have more effect, and 1e-4 for a graph")
@quiet_option
@graph_options
@gathered(ConvertOptions)
@excluding("--text --gzip", "--kind=saved_model OUT=*/")
@needing(EDITS, "--kind=saved_model OUT=*/")
@needing("--tolerance", "--verify")
@needing("--except", "--freeze")
@excluding("--keep-functions", "--inline-functions")
@excluding(_OF_GRAPHS, "OUT=*.onnx", "an ONNX file has a single form, without variables, functions or devices")
@excluding(_OF_GRAPHS, "OUT=*.stablehlo", "a StableHLO file has a single form, without variables, functions or devices")
def command(source: str, target: str, reader: GraphReader, session: SessionOptions, options: ConvertOptions) -> int:
    """Read the graph IN and write it to OUT, or -o OUT; - is standard input or output.

    The name of OUT sets the format. .pb or no extension is binary, .pbtxt is text, .meta is a MetaGraphDef; a .gz at the end
    compresses the file. A slash at the end, or an existing folder, makes a SavedModel. An .onnx file holds the inference part
    with frozen variables: the nodes that --to or the signature needs. A .stablehlo file holds the same part as a program for
    JAX (`jax.export.deserialize`), for batches of any size.

    \b
    tfg convert graph.pb graph.pbtxt
    tfg convert saved_model_folder graph.pb --freeze
    tfg convert train.meta model_folder/ --state model.ckpt-1000 --to probabilities
    tfg convert train.pb frozen.pb --freeze --state model.ckpt-1000 --to logits --strip-default-attrs
    tfg convert saved_model_folder model.onnx --verify
    tfg convert frozen.pb model.stablehlo --to logits
    """
    from ..models import note_tables, note_variables, save_model

    options = options.checked(target)
    is_model = extension_of(target) in (".onnx", ".stablehlo")
    form = None if is_model or options.kind == "saved_model" else options.form_of(target)
    if form is not None and target == "-" and not form.text:
        refuse_terminal("a graph without --text")
    names_part = session.signature is not None or reader.function is not None
    if options.verify and "-" in (source, target):
        raise InvalidArgumentError("--verify reads the file again, and a stream can be read once", hint="name a file")
    if form is not None and not names_part and options.changes_form_only:
        _change_form(source, target, reader, form, options.quiet)
        return _verified(reader.load(source), target, (), (), session, options) if options.verify else DONE
    loaded = reader.load_part(source) if options.outputs or names_part else reader.load(source)
    line = f"tfg convert {shlex.quote(source)} {shlex.quote(target)} --kind saved_model"
    names = _names(loaded, session.signature, options, line)
    cuts = [names.input(word).name for word in options.inputs]
    options.placeholders.apply(loaded, names, cuts)
    opens = is_model or options.freeze or options.kind == "saved_model"
    opened = session.open(loaded, options.quiet) if opens else None
    part, inputs = options.placeholders.applied_at_cuts(loaded, names, cuts)
    if is_model:
        assert opened is not None
        return _to_model(target, part, inputs, names, opened, session, options)
    graph = _changed(part, inputs, names, opened, options)
    if form is None:
        assert opened is not None
        words = options.outputs or options.signatures.words or names.outputs or _default_outputs(loaded, names, options)
        save_model(target, graph, opened.session, names, words, options.quiet, options.signatures)
    else:
        _save(graph, target, form, options.quiet)
        note_variables(graph, loaded, options.quiet)
        if options.freeze:
            note_tables(graph, options.quiet)
    if not options.verify:
        return DONE
    fetches = [names.fetch(word) for word in options.outputs] or _default_outputs(loaded, names, options)
    return _verified(part, target, fetches, inputs, session, options)


def _verified(
    original: Graph, target: str, fetches: Sequence[str], cuts: Sequence[str], session: SessionOptions, options: ConvertOptions
) -> int:  # fmt: skip
    """Compare a written graph or SavedModel with the original, and print the verdict."""
    from ...core.passes.base.accuracy import Accuracy
    from ...formats.api.verification import verify_file

    verify = functools.partial(
        verify_file, original, target, fetches, {}, session.filled,
        tolerance=Accuracy.ROUNDING if options.tolerance is None else options.tolerance,
        keeps_state=not options.freeze, cuts=cuts,
        is_whole=not (options.cuts or options.signatures.words or session.signature),
    )  # fmt: skip
    return _verdict(verify, target)


def _verdict(verify: Callable[[], Verification], target: str, runtime: str | None = None) -> int:
    """Verify the written file, and print the verdict; an error of drawn feeds tells how to compare on other feeds."""
    from ...core.feeding.drawn_feeds import NoFeedsError
    from ..sections.convert_sections import verification_sections

    try:
        result = verify()
    except NoFeedsError as error:
        hint = f"compare the written file on valid values: `tfg compare IN {shlex.quote(target)} --feed NAME=VALUE`"
        raise NoFeedsError(error.message, node=error.node, op=error.op, hint=hint) from None
    render.print_sections(verification_sections(result, runtime))
    return DONE if result.passed else COMPARISON_FAILED


def _names(graph: Graph, signature: str | None, options: ConvertOptions, line: str) -> Names:
    """Return the names of the chosen signature; the error for an unknown signature of a SavedModel tells how to add one."""
    from ...formats.runs.names import Names

    try:
        return Names(graph, signature)
    except InvalidArgumentError as error:
        if signature is None or options.kind != "saved_model":
            raise
        output = options.outputs[0] if options.outputs else "TENSOR"
        added = f"--signature {shlex.quote(signature)} --output {shlex.quote(f'result={output}')}"
        hint = f"{command_form(error.hint)}; `{line} {added}` adds a signature"
        raise InvalidArgumentError(error.message, hint=hint) from None


def _change_form(source: str, target: str, reader: GraphReader, form: GraphForm, quiet: bool) -> None:
    """Write the graph of a file to another file, and print its problems."""
    from ...formats.codecs.source import read_source
    from ..models import note_variables

    if _write_as_read(source, target, reader, form, quiet):
        return
    contents = read_source(source) if source == "-" else source
    try:
        graph, faults = reader.load_leniently(contents)
    except InvalidArgumentError as error:
        _write_message(contents, target, reader, form, [error], quiet)
        return
    if faults:
        _write_message(contents, target, reader, form, faults, quiet)
        return
    if not quiet:
        reader.note_broken(list(itertools.islice(graph.faults(), 1)))
    _save(graph, target, form, quiet)
    note_variables(graph, graph, quiet)


def _save(graph: Graph, target: str, form: GraphForm, quiet: bool) -> None:
    """Write a graph to a file, and print a note."""
    from ...formats.saving import write_graph

    with render.Working(f"writing {target}", quiet):
        write_graph(graph, target, form)
    _note_written(len(graph), target, quiet)


def _write_as_read(source: str, target: str, reader: GraphReader, form: GraphForm, quiet: bool) -> bool:
    """Convert a large file while reading; return False, without writing, if the graph must be loaded."""
    stream = reader.stream(source) if target != "-" and form.kind != "meta_graph" else None
    if stream is None:
        return False
    from ...formats.streaming import write_stream

    with render.Working(f"writing {target}", quiet):
        count = write_stream(stream, target, form.text, form.gzip)
    if count is not None:
        _note_written(count, target, quiet)
    return count is not None


def _write_message(
    source: Source, target: str, reader: GraphReader, form: GraphForm, faults: Sequence[TfgError], quiet: bool
) -> None:
    """Write a graph without valid node names."""
    from ...formats.forms import write_message

    if reader.map_op:
        raise faults[0]
    count = write_message(source, target, form, reader.tags)
    if not quiet:
        reader.note_broken(faults)
    _note_written(count, target, quiet)


def _note_written(count: int, target: str, quiet: bool) -> None:
    if target != "-":
        render.note(f"wrote {counted(count, 'node')} to {render.place(target)}", quiet)


def _to_model(
    target: str, graph: Graph, inputs: Sequence[str], names: Names, opened: Runner, session: SessionOptions,
    options: ConvertOptions,
) -> int:  # fmt: skip
    """Write an ONNX or StableHLO file, and compare its results for --verify."""
    from ...formats.api.changes import convert
    from ...formats.api.outputs import outputs_of
    from ..jobs.convert_job import note_export

    outputs_named = options.outputs or tuple(names.outputs) or outputs_of(names.graph)
    outputs = {word: names.output(word).name for word in outputs_named}
    if not outputs:
        raise InvalidArgumentError("nothing to convert: name at least one tensor with --to")
    written = convert(graph, target, outputs, inputs, state=opened.session, names=names.inputs)
    assert written is not None
    note_export(written, options.quiet)
    if not options.verify:
        return DONE
    verify = functools.partial(written.verify, tolerance=options.tolerance, open_session=session.filled)
    return _verdict(verify, target, written.runtime)


def _changed(graph: Graph, inputs: Sequence[str], names: Names, runner: Runner | None, options: ConvertOptions) -> Graph:
    """Return the graph with all requested changes."""
    from ...core.transforms.subgraphs import clear_devices, strip_default_attrs
    from ...formats.api.changes import extract, freeze

    fetched = (*options.outputs, *options.signatures.words)
    outputs = [names.fetch(word) for word in fetched] or _default_outputs(names.graph, names, options)
    if options.inlines:
        from ...core.passes.pipeline import inline_functions

        graph, count = inline_functions(graph)
        render.note(f"inlined {counted(count, 'call')}", options.quiet or not (count or options.inline_functions))
    if options.freeze:
        assert runner is not None
        graph = freeze(
            graph, runner.session, outputs, inputs, keep_functions=True, keep_variables=options.kept_variables,
            keep_files=options.kind == "saved_model",
        )  # fmt: skip
    elif options.cuts or names.asked is not None:
        if not outputs:
            raise InvalidArgumentError("nothing to keep: name at least one tensor with --to")
        graph = extract(graph, outputs, inputs)
    if options.strip_default_attrs:
        render.note(f"dropped {strip_default_attrs(graph)} attributes with default values", options.quiet)
    if options.clear_devices:
        render.note(f"cleared the devices of {clear_devices(graph)} nodes", options.quiet)
    return graph


def _default_outputs(graph: Graph, names: Names, options: ConvertOptions) -> list[str]:
    """Return the outputs of the chosen signature; without a signature all outputs, where only a part stays."""
    from ...formats.api.outputs import outputs_of

    if names.outputs:
        return list(names.outputs.values())
    return list(outputs_of(graph)) if options.freeze or options.subgraph or options.inputs else []
