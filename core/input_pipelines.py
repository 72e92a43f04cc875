"""Input pipelines as they stand in a graph: what begins an iterator's passes, and the datasets behind it."""

from __future__ import annotations

from .functions.callers import function_references
from .graph import Graph, Node, Output
from .op_facts import has_fact


def beginning(iterator: Node) -> list[Node]:
    """The nodes that begin a pass of an iterator, each over the dataset that is its first input."""
    users = [user for user in iterator.uses if user.op_def is not None and not user.output_dtypes and len(user.inputs) == 2]
    return [user for user in users if has_fact(user.op, "input_pipeline") and user.inputs[1].node is iterator]


def datasets_behind(graph: Graph, iterator: Node) -> list[Output]:
    """The datasets an iterator goes through: those it is begun with, or of a one-shot iterator what its function gives."""
    begun = [user.inputs[0] for user in beginning(iterator)]
    made = [graph.functions[f.name].results for f in function_references(iterator) if f.name in graph.functions]
    return begun or [result for results in made for result in results]
