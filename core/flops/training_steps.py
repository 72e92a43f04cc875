"""Counting the backward pass: gradient nodes of the graph, or gradient nodes that tfg builds."""

from __future__ import annotations

import collections
import re
from collections.abc import Mapping, Sequence

from ..building.gradbuilder import GradientBuilder
from ..gradients import add_gradients
from ..graph.graph import Graph, Node, Output
from ..graph.traversal import reachable
from ..graph.variable_nodes import VARIABLES, is_frozen_weight
from ..registry.op_facts import has_fact
from ..support.errors import InvalidArgumentError
from .flops_report import FlopsReport, Section, total
from .sections import is_gradient


def with_backward(graph: Graph, loss: str, wrt: str = "") -> tuple[Graph, dict[str, str]]:
    """Return the graph with gradient nodes for `loss`, and the names of the gradients to fetch by variable.

    Gradients in the graph are used where there are any. Otherwise gradients are built with respect to all variables, or
    weights frozen to constants, whose names match the regular expression `wrt`. Raises NotFoundError where the loss is
    missing.
    """
    graph.output(loss)
    existing = [node for node in graph if is_gradient(node)]
    # A graph that has gradients is counted as it is: a second backward pass beside the first is in no training step.
    if existing:
        named = _gradients_by_variable(graph)
        if wrt:
            return graph, _matching(named, loss, wrt)
        others = [node.name for node in _ends(existing) if node.name not in {name.split(":")[0] for name in named.values()}]
        return graph, named | {name: name for name in others}
    result = graph.copy()
    target = result.output(loss)
    weights = [node for node in _weights(result, target) if re.search(wrt, node.name)]
    if not weights:
        raise InvalidArgumentError(f"'{loss}' depends on no variable or weight" + (f" that matches '{wrt}'" if wrt else ""))
    grads = add_gradients(result, [target], [node.output() for node in weights])
    builder = GradientBuilder(result)
    return result, {n.name: builder.densify(grad).name for n, grad in zip(weights, grads) if grad is not None}


def _matching(named: Mapping[str, str], loss: str, wrt: str) -> dict[str, str]:
    """Return the gradients of variables that match; InvalidArgumentError where there are none."""
    matches = {variable: gradient for variable, gradient in named.items() if re.search(wrt, variable)}
    if not matches:
        hint = f"the graph has the gradients of {', '.join(named)}" if named else None
        raise InvalidArgumentError(f"the graph has no gradient of '{loss}' for a variable that matches '{wrt}'", hint=hint)
    return matches


def _weights(graph: Graph, target: Output) -> list[Node]:
    """Return the variables that the target depends on; without any, the floating-point constants of rank 1 and more."""
    needed = reachable([target.node])
    variables = [node for node in graph if node in needed and node.op in VARIABLES]
    if variables:
        return variables
    return [node for node in graph if node in needed and is_frozen_weight(node)]


def _gradients_by_variable(graph: Graph) -> dict[str, str]:
    """Return variables and the gradients that training ops write them from."""
    by_variable = {}
    for node in graph:
        if has_fact(node.op, "training") and node.op_def is not None:
            names = [arg.name for arg in node.op_def.inputs]
            # ApplyGradientDescent and the ops like it call the gradient delta, all other optimizers grad.
            gradient = next((i for i, name in enumerate(names) if name in ("grad", "delta")), None)
            if gradient is not None and is_gradient(node.inputs[gradient].node):
                by_variable[node.inputs[0].node.name] = node.inputs[gradient].name
    return by_variable


def per_variable(graph: Graph, gradients: Mapping[str, str], report: FlopsReport) -> dict[str, tuple[Section, Section]]:
    """Return for each variable the backward cost of nodes for that variable alone, and of all nodes that the gradient
    needs.

    Control inputs do not count as needed: TensorFlow makes all gradients of an op wait for each other.
    """
    backward = {cost.path: cost for cost in report.nodes if cost.section == "backward"}
    ends = {name: graph.output(value).node for name, value in gradients.items() if ":" in value}
    needed = {name: reachable([node], by_control=False) for name, node in ends.items()}
    uses = collections.Counter(node for nodes in needed.values() for node in nodes)
    totals = {}
    for name, nodes in needed.items():
        costs = {node: backward[node.name] for node in nodes if node.name in backward}
        totals[name] = total(cost for node, cost in costs.items() if uses[node] == 1), total(costs.values())
    return totals


def _ends(nodes: Sequence[Node]) -> list[Node]:
    """Return the gradient nodes that no other gradient node reads."""
    inside = set(nodes)
    return [node for node in nodes if not any(consumer in inside for consumer in node.uses)]
