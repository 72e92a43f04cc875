"""Implementation of `tfg join`."""

from __future__ import annotations

import collections

from ...core.graph.graph import Graph
from ...core.graph.variable_nodes import find_variables
from ...core.runtime.session.runner import initializers
from ...core.support.errors import InvalidArgumentError
from ...core.support.words import counted
from ...core.types.tensors import Tensor
from ...formats.api.joins import Joined, clash_words, join
from ...formats.api.names import Names
from ...formats.api.session_setup import require_saved_values
from ...formats.saving import graph_form, write_graph
from ...formats.state import as_tensors, read_graph_state
from .. import render
from ..commands.join import JoinOptions
from ..models import save_model


def run(options: JoinOptions) -> None:
    """Join two graphs, and write the result as a graph or as a SavedModel."""
    counts = collections.Counter(word for word, _ in options.connect)
    if counts and (twice := counts.most_common(1)[0])[1] > 1:
        raise InvalidArgumentError(f"input '{twice[0]}' is connected twice")
    first, second = (options.reader.load(source) for source in (options.first, options.second))
    joined = join(
        first, second, dict(options.connect), first_prefix=options.first_prefix, second_prefix=options.second_prefix,
        first_state=_state(options.first_state, first), second_state=_state(options.second_state, second),
        signature=options.session.signature,
    )  # fmt: skip
    for words in clash_words(joined):
        render.note(words, options.quiet)
    # Only a SavedModel has values, so only for one must they be there.
    if options.output.endswith("/"):
        for part, state in ((first, options.first_state), (second, options.second_state)):
            if state is None and options.session.state is None:
                require_saved_values(part)
        _write_model(joined, options)
    else:
        _write_graph(joined.graph, options)


def _state(path: str | None, graph: Graph) -> dict[str, Tensor] | None:
    return None if path is None else read_graph_state(path, graph)


def _write_model(joined: Joined, options: JoinOptions) -> None:
    has_values = joined.state is None or bool(initializers(joined.graph))
    runner = options.session.open(joined.graph, options.quiet, implied=has_values)
    if joined.state is not None:
        runner.restore(as_tensors(joined.state))
    save_model(options.output, joined.graph, runner.session, Names(joined.graph), (), options.quiet)


def _write_graph(graph: Graph, options: JoinOptions) -> None:
    write_graph(graph, options.output, graph_form(options.output))
    render.note(f"wrote {counted(len(graph), 'node')} to {render.place(options.output)}", options.quiet)
    if graph.meta is not None and graph.meta.folders and (count := len(find_variables(graph))):
        values = f"the file lacks the values of its {counted(count, 'variable')}"
        render.note(f"{values}: end the name of OUT with a slash to write a SavedModel", options.quiet)
