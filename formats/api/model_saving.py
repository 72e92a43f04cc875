"""SavedModels of a graph and the variables of a session, with signatures defined, copied, renamed and dropped."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from ...core.explaining.default_fetches import default_outputs
from ...core.graph.graph import Graph, GraphLike, Output, as_graph
from ...core.graph.metagraph import USUAL_SIGNATURE
from ...core.graph.node_making import become_constant
from ...core.graph.table_fills import filled_tables, table_fills
from ...core.graph.table_nodes import IMPORTS, saved_tables
from ...core.graph.traversal import trail_end
from ...core.planning.reachability import needed_nodes
from ...core.runtime.session.restored_variables import read_instead
from ...core.runtime.session.runner import Runner
from ...core.runtime.session.session import Session
from ...core.runtime.session.session_like import SessionLike
from ...core.runtime.state.file_access import NO_FILES, FileAccess
from ...core.support.arguments import checked, expect, named, names_of
from ...core.support.engine_names import NUMPY
from ...core.types.tensors import Tensor
from ..saved_model_writing import ModelToWrite, SignatureEdits, prepare, write_saved_model
from ..state import State
from .prepared_sessions import opened


@checked
def save_model(
    graph: GraphLike,
    path: str | os.PathLike[str],
    *,
    state: State | SessionLike | None = None,
    signatures: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]] | None = None,
    copied: Mapping[str, str] | None = None,
    renamed: Mapping[str, str] | None = None,
    dropped: Sequence[str] | str = (),
) -> tuple[str, ...]:
    """Write a SavedModel to a new folder, whole or not at all; return the names of its signatures.

    `state` are the values of variables by name, or a session that holds them; by default a SavedModel's own values, or those
    of the initializers. `copied` and `renamed` map old names to new names, and `dropped` are names. `signatures` maps
    names of new signatures to (inputs, outputs): tensors by the names of arguments. Without inputs a signature gets the
    placeholders that its outputs need. A graph without signatures gets the usual one, with the outputs that `explain` finds.

    NotFoundError for a signature or tensor that is not there, AlreadyExistsError for a folder with files or for a signature
    that is there already.
    """
    graph = as_graph(graph)
    session = state if isinstance(state, SessionLike) else opened(graph, state)
    defined = {name: _arguments(graph, *arguments) for name, arguments in named(signatures).items()}
    copies, renames = named(copied), named(renamed)
    expect(str, *copies.values(), *renames.values())
    edits = SignatureEdits(tuple(copies.items()), tuple(renames.items()), names_of(dropped), defined)
    has_signature = bool(defined or graph.signatures)
    words = {} if has_signature else {name.removesuffix(":0"): name for name in default_outputs(graph)}
    model = prepare(graph, *_arguments(graph, {}, words), USUAL_SIGNATURE, edits)
    write_model(os.fspath(path), graph, model, session)
    return model.signatures


def write_model(folder: str, graph: Graph, model: ModelToWrite, session: SessionLike) -> None:
    """Write the prepared `model` of a graph with the variables of a session, and the files that fill tables.

    PermissionDeniedError for a file outside the model that the session may not read.
    """

    # The session may have changed its tables since they were filled, and a written model fills them from constants.
    _refresh_tables(model.graph, session)

    def save(prefix: str) -> None:
        assert model.saver is not None
        feeds = {model.saver.filename_tensor: prefix}
        _saving_session(model.graph, session, os.path.dirname(prefix)).run([model.saver.save_tensor], feeds)

    files = session.files if isinstance(session, Session) else NO_FILES
    write_saved_model(folder, model, graph.meta, save, files)


def _refresh_tables(graph: Graph, session: SessionLike) -> None:
    """Let the constants that fill tables of a frozen graph hold what the tables hold now."""
    fills = {filled: node for node in table_fills(graph) if node.op in IMPORTS for filled in filled_tables(node)}
    tables = [table for table in saved_tables(graph).values() if table.node in fills]
    state = Runner(session).state() if tables else {}
    for table in tables:
        # The first input is the table; keys and values follow in the order of the entries.
        for value, entry in zip(fills[table.node].inputs[1:], table.entries):
            constant = trail_end(value, _handed_on).node
            if constant.is_constant and entry in state:
                become_constant(graph, constant, state[entry])


def _handed_on(value: Output) -> Output | None:
    """Return the value that an Identity or a placeholder with a default hands on."""
    node = value.node
    return node.inputs[0] if node.inputs and (node.is_identity or node.is_placeholder) else None


def _arguments(
    graph: Graph, inputs: Mapping[str, str], outputs: Mapping[str, str]
) -> tuple[Mapping[str, Output], Mapping[str, Output]]:
    """Return the tensors of a signature by argument, with the needed placeholders if there are no `inputs`."""
    results = {word: graph.output(name) for word, name in outputs.items()}
    fed = {word: graph.output(name) for word, name in inputs.items()}
    usual = graph.meta.usual_signature if graph.meta is not None else None
    return fed or needed_placeholders(graph, usual.fed if usual is not None else {}, results.values()), results


def needed_placeholders(graph: Graph, arguments: Mapping[str, str], outputs: Iterable[Output]) -> dict[str, Output]:
    """Return the placeholders that outputs need, by their names in `arguments`, a signature's inputs, or in the graph."""
    needed = needed_nodes(list(outputs))
    words = {tensor: word for word, tensor in arguments.items()}
    values = [node.output() for node in graph if node in needed and node.is_placeholder]
    return {words.get(value.name, value.node.name): value for value in values}


def _saving_session(graph: Graph, session: SessionLike, folder: str) -> Session:
    """Return a session of a like graph with the same variables, which writes to a folder."""
    # The graph of the savers runs once: an engine would only compile it.
    saving = Session(graph, engine=NUMPY)
    readable = [*map(str, saving.files.readable or ()), *(saving.files.addresses or ())]
    # Only the nodes of the saver run, so a stranger's graph is saved, too. `Session(files=)` would refuse it the folder.
    saving.files = FileAccess.only(readable, [folder])
    if isinstance(session, Session):
        saving.share(session)
    else:
        saving.start()
        Runner(saving).restore(Runner(session).state())
    runner = Runner(saving)
    state = runner.state()
    # Python's functions of a Keras model read copies of the weights: without their values a model loaded by Keras would
    # compute on old ones.
    twins = {name: value for name, value in with_twins(state, graph).items() if value is not state.get(name)}
    if twins:
        runner.restore(twins)
    return saving


def with_twins(state: Mapping[str, Tensor], graph: Graph) -> dict[str, Tensor]:
    """Return the values of variables; variables that only Python's functions read have the values that the graph reads."""
    return {**state, **{twin: state[name] for twin, name in read_instead(graph).items() if name in state}}
