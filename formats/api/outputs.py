"""Nodes inside of functions as tensors and operations of the graph itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...core.explaining.model_view import ModelView, SourceNode, model_view
from ...core.graph.graph import Graph, GraphLike, Output, as_graph
from ...core.passes.pipeline import inline_functions
from ...core.support.arguments import checked, names_of
from ...core.support.errors import InvalidArgumentError
from ...core.support.hints import Hint, step
from ...core.support.tensor_names import parse_tensor_name


class Exposed(NamedTuple):
    """A graph with a node of its own for each of some words."""

    graph: Graph
    """The graph itself if it has all nodes, otherwise a copy with the bodies of functions in place of calls."""
    names: dict[str, str]
    """The names of the tensors, and of operations without a result, by the words."""


@checked
def expose(graph: GraphLike, words: Sequence[str] | str, signature: str | None = None) -> Exposed:
    """Return a graph in which each of the words is a tensor or an operation of the graph itself, and not of a function.

    A word is a name of the graph, which stays, an argument of the signature, or what `ModelView.value` finds: a layer, which
    stands for its last result, a node as the author of the model called it, or FUNCTION/NODE. NotFoundError and
    InvalidArgumentError are those of `ModelView.value`; InvalidArgumentError also if the calls around a node cannot be
    dissolved.

        graph, names = tfg.expose(tfg.load("flowers"), ["deep"])
        part = tfg.extract(graph, names["deep"])
    """
    graph, words = as_graph(graph), names_of(words)
    # Without a word of the view no view is made, and the graph stays the same object, with the caches of its sessions.
    there = {word: word for word in words if parse_tensor_name(word)[0] in graph}
    if len(there) == len(set(words)):
        return Exposed(graph, there)
    view = model_view(graph, signature)
    # A name of the graph comes before an argument, and an argument before a layer, as for all words.
    chosen = None if view.signature is None else view.source.signatures.get(view.signature.name)
    arguments = {} if chosen is None else {**chosen.fed, **chosen.fetched}
    there |= {word: name for word, name in arguments.items() if word in words and word not in there}
    result = exposed(view, {word: view.value(word) for word in words if word not in there})
    return Exposed(result.graph, {**there, **result.names})


def exposed(view: ModelView, values: Mapping[str, Output]) -> Exposed:
    """Return the graph of a view with a tensor of its own for each of the view's values, by their words."""
    graph = view.source
    # A node of the graph itself needs no inlining, which would give the caller another graph.
    if any(view.origin(value.node).function for value in values.values()):
        graph = inline_functions(graph)[0]
    return Exposed(graph, {word: _name(graph, word, view.origin(value.node), value) for word, value in values.items()})


def _name(graph: Graph, word: str, source: SourceNode, value: Output) -> str:
    if source.call_path in graph:
        return f"{source.call_path}:{value.index}" if value.node.output_dtypes else source.call_path
    raise InvalidArgumentError(
        f"'{word}' is node '{source.node}' of function '{source.function}', and a call around it stays a call",
        hint=Hint("only ", step("fetch"), " takes nodes of loops, branches, and functions that call themselves"),
    )
