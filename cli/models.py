"""The option `--save-model`: writes a graph and its variables as a SavedModel."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..core.support.file_formats import MODELS
from ..core.support.words import counted
from . import render
from .options import OutputFile
from .requests import option

if TYPE_CHECKING:
    from ..core.flops.measured import Measurement
    from ..core.graph.graph import Graph, Output
    from ..core.runtime.session.session import Session
    from ..core.runtime.session.session_like import SessionLike
    from ..formats.api.names import Names
    from ..formats.api.verification import Verification
    from .signatures import SignatureOptions


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
    from ..core.graph.metagraph import USUAL_SIGNATURE
    from ..formats.api.model_saving import write_model
    from ..formats.api.session_setup import position_words
    from ..formats.saved_model_writing import prepare

    inputs, outputs = _arguments(graph, names, fetches)
    edits = signatures.edits(graph, names) if signatures is not None else None
    model = prepare(graph, inputs, outputs, names.asked.name if names.asked is not None else USUAL_SIGNATURE, edits)
    write_model(folder, graph, model, session)
    lost = graph.meta is not None and graph.meta.objects is not None and not model.has_objects
    written = model.signatures
    but = ", but kept its signatures" if written else ""
    more = f"; the changes removed its Python objects and functions{but}{_lost_gradients(graph)}" if lost else ""
    described = f"signature{'s' * (len(written) > 1)} {', '.join(written)}" if written else "no signature"
    note = f"wrote a SavedModel with {described} to {place or folder}{more}{position_words(graph)}"
    render.note(note, quiet)
    return note


def _lost_gradients(graph: Graph) -> str:
    """Return a warning about the custom gradients of a graph without the objects by which TensorFlow registers them."""
    from ..core.functions.callers import all_nodes, gradient_name

    lost = {gradient_name(node) for node in all_nodes(graph)} & set(graph.registered_gradients)
    return f"; TensorFlow cannot differentiate it without its {counted(len(lost), 'custom gradient')}" if lost else ""


def _arguments(graph: Graph, names: Names, fetches: Iterable[str]) -> tuple[Mapping[str, Output], Mapping[str, Output]]:
    """Return the inputs and outputs of a signature for a graph without a signature: of `fetches`, or of its outputs."""
    from ..core.graph.graph import Output
    from ..formats.api.model_saving import needed_placeholders
    from ..formats.api.outputs import outputs_of

    has_signature = graph.meta is not None and bool(graph.meta.signatures)
    words = tuple(fetches) or (() if has_signature else outputs_of(graph))
    values = {word: graph.result(names.fetch(word)) for word in words}
    outputs = {word.removesuffix(":0"): value for word, value in values.items() if isinstance(value, Output)}
    return needed_placeholders(graph, names.inputs, outputs.values()), outputs


def verified_batch(
    before: Graph, after: Graph, fetches: Sequence[str], open_session: Callable[[Graph], Session], quiet: bool
) -> list[Verification]:
    """Compare a graph of another batch with the graph of the old one; notes tell what cannot be compared."""
    from ..formats.api.verification import verify_batch

    result, left_out = verify_batch(before, after, fetches, open_session)
    for words in left_out:
        render.note(f"not compared with the old batch: {words}", quiet)
    return [result] if result is not None else []


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
    from ..core.functions.table_fills import filled_tables, table_fills
    from ..core.graph.model_objects import asset_nodes
    from ..core.graph.table_nodes import saved_tables
    from ..formats.api.session_setup import state_words
    from ..formats.state import unread_values

    prefix, reason = source.meta.variables_prefix, unread_values(source)
    has_values = prefix is not None or reason is not None
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
    from ..core.functions.table_fills import iterator_starts, table_fills

    fills, starts = table_fills(frozen), list(iterator_starts(frozen).values())
    if fills or starts:
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

    roles = Roles(source)
    purposes = Purposes(roles)
    used = {variable.node.name for variable in roles.variables.values() if purposes.of(variable) != "unused"}
    return used & set(restored_variables(source).values()) & {v.node.name for v in find_variables(written).values()}
