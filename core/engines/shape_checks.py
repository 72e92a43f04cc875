"""Checks of a group by tfg's shape functions: engines take shapes that TensorFlow refuses, and may return others."""

from __future__ import annotations

from collections.abc import Sequence

from ..graph.graph import Graph, Node, Output
from ..inference.binding import select_kernel
from ..inference.inference import Inference, infer
from ..registry.op_facts import has_fact
from ..registry.registry import has_kernel
from ..support.errors import InvalidArgumentError, TfgError
from ..types.shapes import Shape
from . import reasons
from .protocol import Cluster, EngineValue, UnfitShapes
from .reasons import Reason


def without_kernel(node: Node) -> Reason | None:
    """Return the reason why TensorFlow and NumPy refuse a node's dtypes, though an engine may take them; None without a
    refusal.
    """
    try:
        if has_kernel(node.op):
            select_kernel(node)
    except TfgError as error:
        return reasons.refused_by_tensorflow(error.message)
    return None


def result_shapes(cluster: Cluster, values: Sequence[EngineValue], needs_elements: bool) -> list[Shape]:
    """Return the shapes of a cluster's results for inputs shaped as `values`, and of the variables written.

    Raises InvalidArgumentError where a node refuses its inputs, UnfitShapes where `needs_elements` and a tensor has none.
    """
    graph, _, outputs = cluster.as_graph(values)
    inference = infer(graph)
    for name, reason in inference.reasons.items():
        raise InvalidArgumentError(reason, node=name, op=graph.node(name).op)
    if needs_elements:
        _require_elements(graph, inference, outputs)
    return [*(inference.shape(output) for output in outputs), *_written_shapes(cluster, graph, inference, values)]


def _written_shapes(cluster: Cluster, graph: Graph, inference: Inference, values: Sequence[EngineValue]) -> list[Shape]:
    """Return the shapes of the variables at the end: only an assignment changes a shape."""
    shapes = {slot: Shape(value.shape) for slot, value in zip(cluster.inputs, values)}
    leads = cluster.body.leads
    for step in cluster.body.steps:
        if has_fact(step.node.op, "assignment"):
            shapes[leads[step.inputs[0]]] = inference.shape(graph.node(step.node.name).inputs[1])
    return [shapes[slot] for slot in cluster.body.written]


def _require_elements(graph: Graph, inference: Inference, outputs: Sequence[Output]) -> None:
    """Raise UnfitShapes for nodes with a tensor without elements, and for nodes whose values decide a shape."""
    read = [value for node in graph for value in node.inputs if not value.node.is_constant]
    used = dict.fromkeys((*read, *outputs))
    unknown = {value for value in used if not inference.shape(value).is_known}
    empty = {value for value in used if value not in unknown and 0 in inference.shape(value).known()}
    refused: dict[str, Reason] = {}
    for node in graph:
        own = [value for value in node.outputs() if value in used]
        if not empty.isdisjoint((*own, *node.inputs)):
            refused[node.name] = reasons.NO_ELEMENTS
        elif not unknown.isdisjoint(own) and unknown.isdisjoint(node.inputs):
            refused[node.name] = reasons.SHAPE_OF_VALUES
    if refused:
        raise UnfitShapes(refused)
