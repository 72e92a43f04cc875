"""Unfreezing: constants become variables that begin with the values of the constants."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ..building.builder import GraphBuilder
from ..building.built_variables import BuiltVariable
from ..control_flow.frames import find_frames
from ..graph.graph import Graph, Node, Output
from ..graph.metagraph import MetaGraph, VariableInfo
from ..graph.node_making import add_constant
from ..graph.traversal import topological_order, trail_end
from ..inference.binding import named_inputs
from ..model.author_scopes import passes_weight_on
from ..registry.op_facts import has_fact
from ..support import dataclasses
from ..types.tensors import Tensor

_AVERAGES: Final = ("mean", "variance")
"""The inputs of a batch normalization that a training averages, and changes by no gradient."""
_NAMED_SO: Final = re.compile(r"(^|/)moving_(mean|variance)(_\d+)?$")
"""The names that tf.layers and Keras give to such averages, of which a normalization can be any arithmetic."""


def why_not(graph: Graph, names: Iterable[str]) -> dict[str, str]:
    """Return the reasons for nodes that cannot become variables, by name; NotFoundError names the nearest nodes."""
    nodes = [graph.node(name) for name in names]
    frames = find_frames(graph) if any(node.control_inputs for node in nodes) else {}
    reasons = {node.name: _why_not(node, node in frames) for node in nodes}
    return {name: reason for name, reason in reasons.items() if reason}


def _why_not(node: Node, is_in_loop: bool) -> str:
    value = node.attr_of(Tensor, "value") if node.is_constant else None
    if value is None:
        return "it is not a constant"
    if not value.dtype.is_numeric:
        return f"it holds {value.dtype}"
    return "it lies in a loop" if is_in_loop else ""


def unfreeze_constants(graph: Graph, names: Sequence[str]) -> tuple[str, ...]:
    """Turn constants of a graph into resource variables of their names, which initializers give the values of the constants;
    return the variables that can be trained.

    The metadata list the variables. Constants of floating-point numbers can be trained, apart from the averages of batch
    normalizations.
    """
    averages = {node.name for node in _averages(graph)}
    g = GraphBuilder(graph)
    for name in names:
        value = graph.node(name).attrs["value"]
        _unfreeze(g, graph.node(name), trainable=value.dtype.is_floating and name not in averages)
    g.global_variables_initializer(graph.unique_name("init"))
    graph.meta = _listing(graph.meta or MetaGraph(), g.variables)
    graph.reorder(topological_order(graph))
    return tuple(made.name for made in g.variables if made.trainable)


def _averages(graph: Graph) -> Iterator[Node]:
    """Yield the constants that batch normalizations take as averages."""
    for node in graph:
        if _NAMED_SO.search(node.name):
            yield node
        if has_fact(node.op, "batch_normalization"):
            values = (value for name, value in named_inputs(node) if name in _AVERAGES)
            yield from (trail_end(value, _handed_on).node for value in values)


def _handed_on(value: Output) -> Output | None:
    return value.node.inputs[0] if passes_weight_on(value.node) and value.node.inputs else None


def _unfreeze(g: GraphBuilder, node: Node, *, trainable: bool) -> None:
    graph, name = g.graph, node.name
    graph.rename_node(node, graph.unique_name(f"{name}/frozen"))
    initial = add_constant(graph, f"{name}/Initializer/initial_value", node.attrs["value"])
    with g.device(node.device or None):
        made = g.variable(initial.output(), name=f"{name}/", resource=True, trainable=trainable)
    read = made.value.node
    graph.set_inputs(read, read.inputs, node.control_inputs)  # a branch that is not taken has no value of the variable
    graph.replace_all_uses(node.output(), read.output())
    graph.replace_control_uses(node, read)
    graph.remove_nodes([node])


def _listing(meta: MetaGraph, variables: Sequence[BuiltVariable]) -> MetaGraph:
    """Return metadata that list more variables."""
    infos = [
        VariableInfo(
            made.handle.name, made.initial_value.name, made.initializer.name, made.value.name, is_resource=True,
            trainable=made.trainable,
        )
        for made in variables
    ]  # fmt: skip
    added = {"variables": infos, "trainable_variables": [info for info in infos if info.trainable]}
    listed = {name: (*meta.variables.get(name, ()), *more) for name, more in added.items()}
    return dataclasses.replace(meta, variables={**meta.variables, **listed})
