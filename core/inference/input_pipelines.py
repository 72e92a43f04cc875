"""Input pipelines in a graph: the initializers of iterators, and the datasets upstream."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Iterator
from typing import Final

from ..graph.callers import called_functions_of, function_references
from ..graph.graph import Function, Graph, Node, Output
from ..graph.traversal import nodes_of_kind, sources_first, trail_end
from ..registry.catalog import CATALOG
from ..registry.op_facts import NodeKinds, has_fact
from ..support.hints import Hint, feed
from ..types.dtypes import variant

_SERVER_INPUTS: Final = frozenset(("address", "protocol"))
"""Inputs with the address of a TensorFlow data service."""


def asks_service(op: str) -> bool:
    """Return True for an op that hands a dataset to TensorFlow's data service, or takes elements from the service."""
    return op in CATALOG and {arg.name for arg in CATALOG[op].inputs} >= _SERVER_INPUTS


def beginning(iterator: Node) -> list[Node]:
    """Return the nodes that begin a pass of an iterator, each over the dataset of its first input."""
    # Known by its form: of all users of an iterator only what begins a pass takes a dataset beside it and gives nothing.
    users = [user for user in iterator.uses if user.op_def is not None and not user.output_dtypes and len(user.inputs) == 2]
    return [user for user in users if has_fact(user.op, "input_pipeline") and user.inputs[1].node is iterator]


def datasets_behind(graph: Graph, iterator: Node) -> list[Output]:
    """Return the datasets of an iterator: the datasets of its initializers, or of a one-shot iterator the results of its
    function.
    """
    begun = [user.inputs[0] for user in beginning(iterator)]
    made = [graph.functions[f.name].results for f in function_references(iterator) if f.name in graph.functions]
    return begun or [result for results in made for result in results]


def asked_datasets(graph: Graph, node: Node) -> list[Output]:
    """Return the datasets whose elements a node takes, by an iterator or directly."""
    if has_fact(node.op, "next_element"):
        return datasets_behind(graph, node.inputs[0].node) if node.inputs else []
    return list(node.inputs[:1]) if has_fact(node.op, "takes_all_elements") else []


def _asks(kind: NodeKinds) -> bool:
    """Return True for nodes that take elements of a dataset."""
    return has_fact(kind.op, "next_element") or has_fact(kind.op, "takes_all_elements")


def stages_of(dataset: Output) -> list[Node]:
    """Return the nodes that make a dataset, from its sources on, each node once; nodes that only forward a dataset are left
    out.

    Without a dataset op upstream (a placeholder or a call makes the dataset) the maker is the only node.
    """

    def sources(node: Node) -> list[Node]:
        values = node.inputs if has_fact(node.op, "input_pipeline") else ()
        makers = (maker_of(value) for value in values if value.dtype is dataset.dtype)
        return [maker for maker in makers if has_fact(maker.op, "input_pipeline")]

    return sources_first(maker_of(dataset), sources)


def maker_of(dataset: Output) -> Node:
    """Return the node that makes a dataset, upstream of nodes that only forward the dataset."""
    return trail_end(dataset, _handed_on).node


def _handed_on(value: Output) -> Output | None:
    return value.node.inputs[0] if value.node.is_identity and value.node.inputs else None


def going_through_elements(graph: Graph, nodes: Iterable[Node]) -> Iterator[tuple[str, Node]]:
    """Yield (path, node) of nodes that take a dataset's elements, among the nodes and in called functions: `FUNCTION/NODE`."""
    looks: dict[Function | None, tuple[list[Node], list[str]]] = {None: _look(graph, nodes)}
    pending, seen = collections.deque([""]), {""}
    while pending:
        name = pending.popleft()
        function = graph.functions[name].pattern if name else None
        if function not in looks:  # equal functions share their nodes
            looks[function] = _look(graph, [] if function is None else function.body)
        asking, called = looks[function]
        for node in asking:
            yield f"{name}/{node.name}" if name else node.name, node
        new = dict.fromkeys(other for other in called if other not in seen)
        seen.update(new)
        pending += new


def _look(graph: Graph, nodes: Iterable[Node]) -> tuple[list[Node], list[str]]:
    """Return the nodes that take a dataset's elements, and the functions that other nodes call."""
    if not graph.functions:
        return [node for node in nodes_of_kind(nodes, _asks) if asked_datasets(graph, node)], []
    asking, called = [], []
    for node in nodes:
        if asked_datasets(graph, node):
            asking.append(node)
        elif not has_fact(node.op, "input_pipeline"):
            called += called_functions_of(graph, node)
    return asking, called


def asking_for_elements(node: Node) -> list[Node]:
    """Return the nodes that give elements of a node's pipeline: the node itself, or nodes downstream."""
    givers: dict[Node, None] = {}
    seen, pending = {node}, [node]
    while pending:
        last = pending.pop()
        if has_fact(last.op, "next_element"):
            givers[last] = None
            continue
        behind = [user for user in last.uses if has_fact(user.op, "input_pipeline") or variant in user.output_dtypes]
        # An iterator takes no edge from its dataset: the op that begins a pass takes both.
        behind += [value.node for value in last.inputs[1:] if last in beginning(value.node)]
        pending += [other for other in behind if other not in seen]
        seen.update(behind)
    return list(givers)


def stand_ins(node: Node) -> str | None:
    """Return a hint to feed the outputs of a node's pipeline; None for a node outside of pipelines."""
    outputs = [output for asking in asking_for_elements(node) for output in asking.outputs()]
    if not outputs:
        return None
    feeds = {output.name: "VALUE" for output in outputs}
    return Hint(feed(feeds), f" {'stands' if len(outputs) == 1 else 'stand'} in for the input pipeline")
