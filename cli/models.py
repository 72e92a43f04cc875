"""SavedModels that commands write: the option `--save-model`, the options of `tfg convert` that define, copy, rename and drop
signatures, and the notes on what a written graph lacks."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ..core.graph.graph import Graph
from ..core.graph.metagraph import USUAL_SIGNATURE, Signature
from ..core.support.file_formats import MODELS
from ..core.support.words import counted
from . import render
from .options import OutputFile, pair
from .requests import option, request

if TYPE_CHECKING:
    from ..core.flops.measured import Measurement
    from ..core.graph.graph import Output
    from ..core.runtime.session.session_like import SessionLike
    from ..formats.api.names import Names
    from ..formats.saved_model_writing import SignatureEdits
    from .sessions import SessionOptions


def save_model_option(**rules: Any) -> Any:
    """--save-model."""
    text = "At the end, write a SavedModel with these variables, which TensorFlow loads."
    return option(type=OutputFile(MODELS), metavar="OUT_DIR", help=text, **rules)


def save_model(
    folder: str, graph: Graph, session: SessionLike, names: Names, fetches: Iterable[str], quiet: bool,
    signatures: SignatureOptions | None = None, place: str | None = None,
) -> str:  # fmt: skip
    """Write a graph as a SavedModel, with the variables of a session of the same or a similar graph; print a note on the
    contents, with `place` for the folder, and return the note.

    A graph without a signature gets a signature for `fetches`. `signatures` are changes of the signatures.
    """
    from ..core.graph.callers import all_nodes, gradient_name
    from ..formats.api.model_saving import write_model
    from ..formats.api.session_setup import position_words
    from ..formats.saved_model_writing import prepare

    inputs, outputs = _arguments(graph, names, fetches)
    edits = signatures.edits(graph, names) if signatures is not None else None
    model = prepare(graph, inputs, outputs, names.asked.name if names.asked is not None else USUAL_SIGNATURE, edits)
    write_model(folder, graph, model, session)
    # TensorFlow finds functions and custom gradients through the objects, which describe the unchanged graph only.
    lost = graph.meta is not None and graph.meta.objects is not None and not model.has_objects
    written = model.signatures
    but = ", but kept its signatures" if written else ""
    more = f"; the changes removed its Python objects and functions{but}" if lost else ""
    custom = {gradient_name(node) for node in all_nodes(graph)} & set(graph.registered_gradients) if lost else ()
    if custom:
        more += f"; TensorFlow cannot differentiate it without its {counted(len(custom), 'custom gradient')}"
    described = f"signature{'s' * (len(written) > 1)} {', '.join(written)}" if written else "no signature"
    note = f"wrote a SavedModel with {described} to {place or folder}{more}{position_words(graph)}"
    render.note(note, quiet)
    return note


def _arguments(graph: Graph, names: Names, fetches: Iterable[str]) -> tuple[Mapping[str, Output], Mapping[str, Output]]:
    """Return the inputs and outputs of a signature for a graph without a signature: of `fetches`, or of its outputs."""
    from ..core.explaining.default_fetches import outputs_of
    from ..core.graph.graph import Output
    from ..formats.api.model_saving import needed_placeholders

    has_signature = graph.meta is not None and bool(graph.meta.signatures)
    # A model that has signatures keeps them, and gets no further one for its outputs.
    words = tuple(fetches) or (() if has_signature else outputs_of(graph))
    values = {word: graph.result(names.fetch(word)) for word in words}
    outputs = {word.removesuffix(":0"): value for word, value in values.items() if isinstance(value, Output)}
    return needed_placeholders(graph, names.inputs, outputs.values()), outputs


_RUNS: Final = 3
"""The number of timed runs, as `tfg flops --measured` has by default."""


def measure(
    graph: Graph, fetches: Sequence[str], feeds: Mapping[str, Any], session: SessionOptions, quiet: bool
) -> Measurement:
    """Run a graph and time its nodes; a note tells of feeds that were drawn."""
    from ..formats.api.counting import profile

    measured = profile(
        graph, fetches, feeds, runs=_RUNS, open_session=lambda graph: session.open(graph, quiet, implied=True).session
    )
    return note_drawn_feeds(measured, quiet)


def note_drawn_feeds(measurement: Measurement, quiet: bool) -> Measurement:
    """Return a measurement, with a note of the feeds that were drawn."""
    if measurement.drawn:
        render.note(f"measured on drawn feeds, {measurement.drawn}: --feed sets others", quiet)
    return measurement


def note_unread_values(graph: Graph, quiet: bool) -> None:
    """Say why the values of a model's variables are not known, where a file is missing or damaged."""
    from ..formats.state import unread_values

    reason = unread_values(graph)
    if reason is not None:
        render.note(f"the values of variables cannot be read: {reason}", quiet)


def note_variables(written: Graph, source: Graph, quiet: bool) -> None:
    """Name what a written graph needs of its SavedModel: the checkpoint of variables and tables that remain, and files."""
    if quiet or source.meta is None or source.meta.folder is None:
        return
    from ..core.graph.model_objects import asset_nodes
    from ..core.graph.table_fills import filled_tables, table_fills
    from ..core.graph.table_nodes import saved_tables
    from ..formats.api.session_setup import state_words
    from ..formats.state import unread_values

    prefix, reason = source.meta.variables_prefix, unread_values(source)
    has_values = prefix is not None or reason is not None
    # A table that the graph fills by itself lacks nothing.
    filled = {table for node in table_fills(written) for table in filled_tables(node)}
    tables = [name for name, table in saved_tables(written).items() if table.node not in filled]
    left = state_words(len(_remaining(written, source)) if has_values else 0, len(tables))
    if left and has_values:
        remedy = reason or f"run it with --state {shlex.quote(prefix or '')}, or write a SavedModel"
        render.note(f"the file lacks the values of its {left}: {remedy}")
    files = sum(node.name in written for node in asset_nodes(source))
    if files:
        render.note(f"the file lacks {counted(files, 'file')} of the model that it takes: write a SavedModel")


def note_tables(frozen: Graph, quiet: bool) -> None:
    """Name the operation that fills the tables and begins the iterators of a frozen graph, which no file runs by itself."""
    from ..core.graph.table_fills import iterator_starts, table_fills

    fills, starts = table_fills(frozen), list(iterator_starts(frozen).values())
    if fills or starts:
        # The NoOp of `freeze`, which waits for all fills, or the only fill.
        first = (fills or starts)[0]
        operation = next((user for user in first.uses if user.is_no_op), first)
        work = " and ".join(["fills the tables"] * bool(fills) + ["begins the iterators"] * bool(starts))
        render.note(f"operation '{operation.name}' {work}: `tfg run --init` runs it before a step", quiet)


def _remaining(written: Graph, source: Graph) -> set[str]:
    """Return the restored variables in use of a SavedModel that are still variables in the written graph."""
    from ..core.explaining.purposes import Purposes
    from ..core.explaining.roles import Roles
    from ..core.graph.variable_nodes import find_variables
    from ..core.runtime.session.restored_variables import restored_variables

    # By the source: the written graph may lack the optimizer or saver by which the purpose of a variable is known.
    roles = Roles(source)
    purposes = Purposes(roles)
    used = {variable.node.name for variable in roles.variables.values() if purposes.of(variable) != "unused"}
    return used & set(restored_variables(source).values()) & {v.node.name for v in find_variables(written).values()}


_MODEL: Final = "--kind=saved_model OUT=*/"
"""The options of `tfg convert` that write a SavedModel, which has signatures."""
_ARGUMENT: Final = pair("[NAME:]ARG", "TENSOR")
_ARGUMENTS: Final = {"--input": "--input", "--output": "--signature-output"}


@request
class SignatureOptions:
    """Changes of signatures, by the words of the command line; an argument is NAME:ARG, or ARG alone."""

    new_inputs: tuple[tuple[str, str], ...] = option(
        "--input", type=_ARGUMENT, needs=_MODEL, help="After --signature NAME: an input of the new signature; repeatable."
    )
    new_outputs: tuple[tuple[str, str], ...] = option(
        "--signature-output",
        type=_ARGUMENT,
        needs=_MODEL,
        help="After --signature NAME, also as --output ARG=TENSOR: an output of the new signature; repeatable.",
    )
    copied: tuple[tuple[str, str], ...] = option(
        "--copy-signature", type=pair("OLD", "NEW"), needs=_MODEL, help="Copy a signature; repeatable."
    )
    renamed: tuple[tuple[str, str], ...] = option(
        "--rename-signature", type=pair("OLD", "NEW"), needs=_MODEL, help="Rename a signature; repeatable."
    )
    dropped: tuple[str, ...] = option("--drop-signature", metavar="NAME", needs=_MODEL, help="Drop a signature; repeatable.")

    @property
    def words(self) -> tuple[str, ...]:
        """The tensors that are outputs of new signatures."""
        return tuple(word for _, word in self.new_outputs)

    def edits(self, graph: Graph, names: Names) -> SignatureEdits:
        """Return the changes for a graph; a signature without inputs has the placeholders that its outputs need."""
        from ..formats.api.model_saving import needed_placeholders
        from ..formats.saved_model_writing import SignatureEdits

        defined = {}
        for name in dict.fromkeys(_signature(argument) for argument, _ in (*self.new_inputs, *self.new_outputs)):
            inputs = _of(name, self.new_inputs, lambda word: graph.output(names.input(word).name))
            outputs = _of(name, self.new_outputs, lambda word: graph.output(names.output(word).name))
            defined[name] = inputs or needed_placeholders(graph, names.inputs, outputs.values()), outputs
        return SignatureEdits(self.copied, self.renamed, self.dropped, defined)


def _of(signature: str, pairs: Sequence[tuple[str, str]], tensor: Callable[[str], Output]) -> dict[str, Output]:
    """Return the tensors of a signature's arguments by name."""
    return {key.rpartition(":")[2]: tensor(word) for key, word in pairs if _signature(key) == signature}


def _signature(key: str) -> str:
    return key.rpartition(":")[0] or USUAL_SIGNATURE


def with_named_signatures(args: Sequence[str]) -> Iterator[str]:
    """Yield the words of a command line with `--signature NAME` before `--input ARG=TENSOR` or `--output ARG=TENSOR` merged
    into the argument: NAME:ARG. An argument that names its signature stays.
    """
    # click gives a command its options without their order, so the order is read here, before click. `--output FILE` and
    # `--output ARG=TENSOR` are told apart by the `=`.
    words = [part for word in args for part in (word.split("=", 1) if word.startswith(_SPLIT) else (word,))]
    name, position = "", 0
    while position < len(words):
        word, value = words[position], words[position + 1] if position + 1 < len(words) else ""
        if word == "--signature" and _is_argument(words, position + 2):
            name = f"{value}:"
        elif _is_argument(words, position):
            yield from (_ARGUMENTS[word], value if ":" in value.partition("=")[0] else f"{name}{value}")
        else:
            yield word
            position += 1
            continue
        position += 2


_SPLIT: Final = ("--signature=", "--input=", "--output=")


def _is_argument(words: Sequence[str], position: int) -> bool:
    """Return True if an option and ARG=TENSOR stand; `--output FILE` names the file to write."""
    return position + 1 < len(words) and words[position] in _ARGUMENTS and "=" in words[position + 1]


def signature_table(signature: Signature) -> render.Table:
    """Return a table of the inputs and outputs of a signature."""
    arguments = [("input", *item) for item in signature.inputs.items()]
    arguments += [("output", *item) for item in signature.outputs.items()]
    rows = [(kind, key, info.tensor or info.components, info.dtype, info.shape) for kind, key, info in arguments]
    return render.Table(("kind", "argument", "tensor", "dtype", "shape"), rows, f"signature {signature.name}")
