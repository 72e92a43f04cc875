"""Input pipelines as they stand in a graph: what begins an iterator's passes, and the datasets behind it."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Iterator
from typing import Final

from ..functions.callers import called_functions_of, function_references
from ..graph.graph import Graph, Node, Output
from ..graph.traversal import sources_first, trail_end
from ..registry.catalog import CATALOG
from ..registry.op_facts import has_fact
from ..types.dtypes import variant

_SERVER_INPUTS: Final = frozenset(("address", "protocol"))
"""The inputs by which an op names a server of TensorFlow's data service."""


def asks_service(op: str) -> bool:
    """Return True for an op that hands a dataset to TensorFlow's data service, or takes elements from the service."""
    return op in CATALOG and {arg.name for arg in CATALOG[op].inputs} >= _SERVER_INPUTS


def beginning(iterator: Node) -> list[Node]:
    """The nodes that begin a pass of an iterator, each over the dataset that is its first input."""
    users = [user for user in iterator.uses if user.op_def is not None and not user.output_dtypes and len(user.inputs) == 2]
    return [user for user in users if has_fact(user.op, "input_pipeline") and user.inputs[1].node is iterator]


def datasets_behind(graph: Graph, iterator: Node) -> list[Output]:
    """The datasets an iterator goes through: those it is begun with, or of a one-shot iterator what its function gives."""
    begun = [user.inputs[0] for user in beginning(iterator)]
    made = [graph.functions[f.name].results for f in function_references(iterator) if f.name in graph.functions]
    return begun or [result for results in made for result in results]


def asked_datasets(graph: Graph, node: Node) -> list[Output]:
    """The datasets whose elements a node goes through, by an iterator or by itself."""
    if has_fact(node.op, "next_element"):
        return datasets_behind(graph, node.inputs[0].node) if node.inputs else []
    return list(node.inputs[:1]) if has_fact(node.op, "takes_all_elements") else []


def stages_of(dataset: Output) -> list[Node]:
    """The nodes that make a dataset, from its sources on, each once; what only hands one on is left out.

    Where no dataset op is behind it, but a placeholder or a call, it is that node.
    """

    def sources(node: Node) -> list[Node]:
        given = node.inputs if has_fact(node.op, "input_pipeline") else ()
        makers = (maker_of(value) for value in given if value.dtype is dataset.dtype)
        return [maker for maker in makers if has_fact(maker.op, "input_pipeline")]

    return sources_first(maker_of(dataset), sources)


def maker_of(dataset: Output) -> Node:
    """The node that makes a dataset, past those that only hand it on."""
    return trail_end(dataset, _handed_on).node


def _handed_on(value: Output) -> Output | None:
    return value.node.inputs[0] if value.node.is_identity and value.node.inputs else None


def going_through_elements(graph: Graph, nodes: Iterable[Node]) -> Iterator[tuple[str, Node]]:
    """(path, node) of those that go through datasets, among the nodes and in the functions that they call: `FUNCTION/NODE`."""
    pending, seen = collections.deque(("", node) for node in nodes), set[str]()
    while pending:
        scope, node = pending.popleft()
        if asked_datasets(graph, node):
            yield f"{scope}{node.name}", node
        elif not has_fact(node.op, "input_pipeline"):
            names = [name for name in called_functions_of(graph, node) if name not in seen]
            seen.update(names)
            pending += [(f"{name}/", inner) for name in names for inner in graph.functions[name].body]


def asking_for_elements(node: Node) -> list[Node]:
    """The nodes that give elements of the pipeline that a node is part of: the node itself, or those behind it."""
    found: dict[Node, None] = {}
    seen, pending = {node}, [node]
    while pending:
        last = pending.pop()
        if has_fact(last.op, "next_element"):
            found[last] = None
            continue
        behind = [user for user in last.uses if has_fact(user.op, "input_pipeline") or variant in user.output_dtypes]
        behind += [value.node for value in last.inputs[1:] if last in beginning(value.node)]
        pending += [other for other in behind if other not in seen]
        seen.update(behind)
    return list(found)


def stand_ins(node: Node) -> str | None:
    """How to feed what stands in for the pipeline that a node is part of, in words; None where it is part of none."""
    outputs = [output for asking in asking_for_elements(node) for output in asking.outputs()]
    if not outputs:
        return None
    feeds = " ".join(f"--feed {output.name}=VALUE" for output in outputs)
    return f"`{feeds}` {'stands' if len(outputs) == 1 else 'stand'} in for the input pipeline"
