"""Implementation of `tfg convert`.

What only some conversions need is imported where it is needed: a change of the form alone needs no NumPy.
"""

from __future__ import annotations

import collections
import functools
import itertools
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ...core.graph.graph import Graph
from ...core.registry.op_facts import ABSENT
from ...core.support import dataclasses
from ...core.support.errors import InvalidArgumentError, TfgError
from ...core.support.hints import Hint
from ...core.support.places import exists, is_file
from ...core.support.words import counted
from .. import render
from ..commands.convert import ConvertOptions
from ..main import COMPARISON_FAILED, DONE
from ..models import note_tables, note_variables, save_model
from ..options import refuse_terminal
from ..verdicts import verification_sections, verified_batch

if TYPE_CHECKING:
    from ...core.runtime.session.runner import Runner
    from ...core.transforms.inference_form import Decision
    from ...formats.api.model_export import ModelExport
    from ...formats.api.names import Names
    from ...formats.api.verification import Verification
    from ...formats.codecs.source import Source
    from ...formats.saving import GraphForm


def run(options: ConvertOptions) -> int:
    """Convert a graph as the options say; return 3 if --verify finds a difference."""
    options = _with_own_checkpoint(options.checked())
    source, target, reader, session = options.source, options.target, options.reader, options.session
    form = None if options.is_model or options.kind == "saved_model" else options.form
    if form is not None and target == "-" and not form.text:
        refuse_terminal("a graph without --text")
    names_part = session.signature is not None or reader.function is not None
    if options.verify and "-" in (source, target):
        raise InvalidArgumentError("--verify reads the file again, and a stream can be read once", hint="name a file")
    # The bytes of nodes are then copied: this needs no NumPy, and works for graphs that are broken.
    if form is not None and not names_part and options.changes_form_only:
        _change_form(options, form)
        return _verified(reader.load(source), (), (), options) if options.verify else DONE
    # Broken nodes outside the part are no obstacle.
    loaded = reader.load_part(source, options.inputs) if options.outputs or names_part else reader.load(source)
    if (options.is_model or options.freeze) and not options.outputs:
        from ...core.transforms.subgraphs import as_served

        loaded = as_served(loaded, (), session.signature)
    # A layer inside functions is no node of the graph: where one is named, the calls are dissolved.
    wanted = (*options.outputs, *options.inputs, *options.signatures.words)
    names = _names(loaded, options).exposing(wanted, render.noting(options.quiet))
    loaded = names.graph
    # By the names before any change: these are the names that `tfg explain` shows.
    cuts = [names.input(word).name for word in options.inputs]
    for name in cuts:
        # Such a node is broken, or not in the file.
        if loaded.node_of(name).op == ABSENT:
            render.note(f"'{name}' is missing or broken in the graph: a placeholder takes its place", options.quiet)
    options.placeholders.apply(loaded, names, options.quiet, cuts)
    if options.ends:
        loaded = options.ends.added(loaded, session.signature)
        names = _names(loaded, options)
    # On the whole graph: the part that --to keeps has neither initializers nor savers.
    opened = session.open(loaded, options.quiet) if options.needs_values else None
    part, inputs = options.placeholders.applied_at_cuts(loaded, names, cuts, options.quiet)
    original, part, inputs = options.placeholders.with_batch_at_cuts(
        part, inputs, lambda: _batch_fetches(loaded, names, options), options.quiet
    )
    if options.inference:
        reference, part, options = _for_inference(part, names, options)
    else:
        reference = part
    if options.is_model:
        assert opened is not None
        return _to_model(part, inputs, names, opened, options, original)
    graph = _changed(part, inputs, names, opened, options)
    if form is None:
        assert opened is not None
        # A SavedModel needs a signature; without any of these words it gets one for all outputs.
        words = options.outputs or options.signatures.words or names.outputs or _default_outputs(loaded, names, options)
        save_model(target, graph, opened.session, names, words, options.quiet, options.signatures)
    else:
        _save(graph, form, options)
        note_variables(graph, loaded, options.quiet)
        if options.freeze:
            note_tables(graph, options.quiet)
    if not options.verify:
        return DONE
    # Compared by the names of the source, which the written graph keeps.
    fetches = [names.fetch(word) for word in options.outputs] or _default_outputs(loaded, names, options)
    return _verified(reference, fetches, inputs, options, original)


def _for_inference(graph: Graph, names: Names, options: ConvertOptions) -> tuple[Graph, Graph, ConvertOptions]:
    """Return the graph to compare with, the graph for inference, and the options with its outputs; print the decisions.

    Values of placeholders change no result of a run on these values; after other decisions there is nothing to compare with
    but the graph for inference.
    """
    from ...formats.api.changes import fill_placeholders, to_inference

    chosen = list(names.outputs.values()) if names.asked is not None else []  # else all signatures stay
    outputs = [names.fetch(word) for word in options.outputs] or chosen
    result = to_inference(graph, outputs, averages=options.ema)
    if not options.quiet:
        # The table must not go into a graph on standard output.
        with render.beside(options.target):
            render.print_sections(_decisions(result.decisions))
    # Updates and losses are gone, so the outputs that remain are not those that `explain` would find in the training graph.
    if not outputs and names.signature is None:
        options = dataclasses.replace(options, outputs=result.outputs)
    if not all(one.keeps_results or one.is_left for one in result.decisions):
        words = "--verify compares with the graph after these decisions, as they change results"
        render.note(words, options.quiet or not options.verify)
        return result.graph, result.graph, options
    return fill_placeholders(graph, result.settings), result.graph, options


def _decisions(decisions: Sequence[Decision]) -> Iterator[render.Section]:
    """Yield what makes a graph an inference graph, and what is left to the user."""
    for title, is_left in (("for inference", False), ("left as it is", True)):
        rows = [(one.node, one.change, one.why) for one in decisions if one.is_left is is_left]
        if rows:
            yield render.Table(("node", "decision", "reason"), rows, title, "inference" if not is_left else "left")


def _with_own_checkpoint(options: ConvertOptions) -> ConvertOptions:
    """Return the options with the checkpoint that TensorFlow's Saver wrote together with a .meta file as --state, where the
    values of variables are needed and the options name none. The prefix of both stands for the file.
    """
    # A prefix is how TensorFlow 1 names the three files of a checkpoint together with its graph.
    if not exists(options.source) and all(is_file(options.source + end) for end in (".meta", ".index")):
        # All later messages name the file that was read.
        options = dataclasses.replace(options, source=f"{options.source}.meta")
    prefix = options.source.removesuffix(".meta")
    if not options.needs_values or prefix == options.source or options.session.changes_state:
        return options
    from ...formats.checkpoint.store import checkpoint_beside

    # The name alone is not enough: a checkpoint of another graph may lie there.
    if checkpoint_beside(options.source) != prefix:
        return options
    render.note(f"taking the values of the checkpoint '{prefix}'; --state or --init takes others", options.quiet)
    return dataclasses.replace(options, session=dataclasses.replace(options.session, state=prefix))


def _batch_fetches(graph: Graph, names: Names, options: ConvertOptions) -> Sequence[str]:
    """Return the tensors whose inputs have the batch."""
    from ...core.explaining.default_fetches import default_fetches

    return [names.fetch(word) for word in options.outputs] or list(names.outputs.values()) or default_fetches(graph)


def _verified(
    original: Graph, fetches: Sequence[str], cuts: Sequence[str], options: ConvertOptions, of_old_batch: Graph | None = None
) -> int:
    """Compare a written graph or SavedModel with the original, also with that of the old batch, and print the verdict."""
    from ...core.passes.base.accuracy import Accuracy
    from ...formats.api.verification import verify_file

    verify = functools.partial(
        verify_file, original, options.target, fetches, {}, options.session.filled,
        tolerance=Accuracy.ROUNDING if options.tolerance is None else options.tolerance,
        keeps_state=not options.freeze, cuts=cuts,
        is_whole=not (options.cuts or options.signatures.words or options.session.signature),
    )  # fmt: skip
    return _verdict(_beside(verify, of_old_batch, original, fetches, options), options.target)


def _beside(
    verify: Callable[[], Verification], before: Graph | None, after: Graph, fetches: Sequence[str], options: ConvertOptions
) -> Callable[[], Verification]:
    """Return the comparison, and that of the graphs before and after --batch, as one."""
    if before is None:
        return verify
    from ...formats.api.verification import Verification

    # Two comparisons, as another batch has other results than the file that was read.
    again = functools.partial(verified_batch, before, after, fetches, options.session.filled, options.quiet)
    return lambda: Verification.joined([verify(), *again()])


def _verdict(verify: Callable[[], Verification], target: str, runtime: str | None = None) -> int:
    """Verify the written file, and print the verdict; an error of drawn feeds tells how to compare on other feeds."""
    from ...core.runtime.session.drawn_feeds import NoFeedsError

    try:
        result = verify()
    except NoFeedsError as error:
        hint = f"compare the written file on valid values: `tfg compare IN {shlex.quote(target)} --feed NAME=VALUE`"
        # The hint of the error proposes --feed, which `convert` does not have.
        raise NoFeedsError(error.message, node=error.node, op=error.op, hint=hint) from None
    render.print_sections(verification_sections(result, runtime))
    return DONE if result.passed else COMPARISON_FAILED


def _names(graph: Graph, options: ConvertOptions) -> Names:
    """Return the names of the chosen signature; the error for an unknown signature of a SavedModel tells how to add one."""
    from ...formats.api.names import Names

    signature = options.session.signature
    try:
        return Names(graph, signature)
    except InvalidArgumentError as error:
        if signature is None or options.kind != "saved_model":
            raise
        line = f"tfg convert {shlex.quote(options.source)} {shlex.quote(options.target)} --kind saved_model"
        output = options.outputs[0] if options.outputs else "TENSOR"
        added = f"--signature {shlex.quote(signature)} --output {shlex.quote(f'result={output}')}"
        hint = Hint(error.hint or "", f"; `{line} {added}` adds a signature")
        raise InvalidArgumentError(error.message, hint=hint) from None


def _change_form(options: ConvertOptions, form: GraphForm) -> None:
    """Write the graph of a file to another file, and print its problems."""
    from ...formats.codecs.source import read_source

    if _write_as_read(options, form):
        return
    # Standard input is read once, and may be needed for both ways below.
    contents = read_source("-") if options.source == "-" else options.source
    try:
        graph, faults = options.reader.load_leniently(contents)
    except InvalidArgumentError as error:
        _write_message(contents, options, form, [error])
        return
    if faults:
        _write_message(contents, options, form, faults)
        return
    if not options.quiet:
        options.reader.note_broken(list(itertools.islice(graph.faults(), 1)))
    _save(graph, form, options)
    note_variables(graph, graph, options.quiet)


def _save(graph: Graph, form: GraphForm, options: ConvertOptions) -> None:
    """Write a graph to a file, and print a note."""
    from ...formats.saving import write_graph

    with render.Working(f"writing {options.target}", options.quiet):
        write_graph(graph, options.target, form)
    _note_written(len(graph), options)


def _write_as_read(options: ConvertOptions, form: GraphForm) -> bool:
    """Convert a large file while reading; return False, without writing, if the graph must be loaded."""
    # A MetaGraphDef has its nodes inside a message whose length comes before them.
    stream = options.reader.stream(options.source) if options.target != "-" and form.kind != "meta_graph" else None
    if stream is None:
        return False
    from ...formats.streaming import write_stream

    with render.Working(f"writing {options.target}", options.quiet):
        count = write_stream(stream, options.target, form.text, form.gzip)
    if count is not None:
        _note_written(count, options)
    return count is not None


def _write_message(source: Source, options: ConvertOptions, form: GraphForm, faults: Sequence[TfgError]) -> None:
    """Write a graph without valid node names."""
    from ...formats.forms import write_message

    if options.reader.map_op:
        raise faults[0]
    count = write_message(source, options.target, form, options.reader.reading.tags)
    if not options.quiet:
        options.reader.note_broken(faults)
    _note_written(count, options)


def _note_written(count: int, options: ConvertOptions) -> None:
    if options.target != "-":
        render.note(f"wrote {counted(count, 'node')} to {render.place(options.target)}", options.quiet)


def _to_model(
    graph: Graph, inputs: Sequence[str], names: Names, opened: Runner, options: ConvertOptions, of_old_batch: Graph | None
) -> int:
    """Write a model of another runtime, and compare its results for --verify."""
    from ...core.explaining.default_fetches import outputs_of
    from ...formats.api.changes import convert

    outputs_named = options.outputs or tuple(names.outputs) or outputs_of(names.graph)
    outputs = {word: names.output(word).name for word in outputs_named}
    if not outputs:
        raise InvalidArgumentError("nothing to convert: name at least one tensor with --to")
    written = convert(
        graph,
        options.target,
        outputs,
        inputs,
        state=opened.session,
        names=names.inputs,
        opset=options.opset,
        weight_type=options.weight_type,
    )
    assert written is not None
    _note_export(written, options.quiet)
    if not options.verify:
        return DONE
    verify = functools.partial(written.verify, tolerance=options.tolerance, open_session=options.session.filled)
    return _verdict(_beside(verify, of_old_batch, graph, list(outputs.values()), options), options.target, written.runtime)


def _changed(graph: Graph, inputs: Sequence[str], names: Names, runner: Runner | None, options: ConvertOptions) -> Graph:
    """Return the graph with all requested changes."""
    from ...core.transforms.subgraphs import clear_devices, strip_default_attrs
    from ...formats.api.changes import extract, freeze

    fetched = (*options.outputs, *options.signatures.words)
    outputs = [names.fetch(word) for word in fetched] or _default_outputs(names.graph, names, options)
    if options.inlines:
        from ...core.passes.pipeline import inline_functions

        # Before freezing, which replaces the reads of variables: a variable that is handed to a function is read inside.
        graph, count = inline_functions(graph)
        # Without --inline-functions inlining is a part of freezing, and worth a line only if something was inlined.
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
    return graph if options.for_tensorflow is None else _for_release(graph, options.for_tensorflow, options.quiet)


def _for_release(graph: Graph, release: str, quiet: bool) -> Graph:
    """Return the graph for a release of TensorFlow; print the changes."""
    from ...formats.api.changes import for_tensorflow

    result = for_tensorflow(graph, release)
    counts = collections.Counter(f"{each.before} -> {each.after}" for each in result.rewritten)
    # Counted, as a model has the same op in hundreds of nodes.
    changes = [f"{change} ({count})" for change, count in counts.items()]
    if result.dropped:
        changes.append(f"{counted(result.dropped, 'attribute')} dropped")
    render.note(f"for TensorFlow {result.release}: {', '.join(changes) or 'nothing to change'}", quiet)
    return result.graph


def _default_outputs(graph: Graph, names: Names, options: ConvertOptions) -> list[str]:
    """Return the outputs of the chosen signature; without a signature all outputs, where only a part stays."""
    from ...core.explaining.default_fetches import outputs_of

    if names.outputs:
        return list(names.outputs.values())
    return list(outputs_of(graph)) if options.freeze or options.subgraph or options.inputs else []


def _note_export(written: ModelExport, quiet: bool) -> None:
    """Print notes on the exported model."""
    render.note(f"wrote {written.summary()}", quiet)
    for name in written.states:
        render.note(
            f"variable '{name}' changes: its old value is input {name}_before, its new value is output {name}_after", quiet
        )
    if written.narrowed:
        some = ", ".join(written.narrowed[:3]) + (" ..." if len(written.narrowed) > 3 else "")
        # A note, since such a node may lose digits, or overflow.
        count_of = counted(len(written.narrowed), "node")
        render.note(f"{count_of} computed in 32 bits, as onnxruntime lacks 64-bit kernels: {some}", quiet)
