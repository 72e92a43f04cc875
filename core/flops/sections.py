"""Sections of a training step: forward, backward, update and initializer."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from ..explaining.author_scopes import is_in_gradients
from ..graph.graph import Graph, Node, Output
from ..graph.traversal import descendants, nodes_of_kind, nodes_of_kinds, reachable
from ..registry.op_facts import NodeKinds, has_fact


def classify(graph: Graph, needed: set[Node], targets: Sequence[Output | Node]) -> dict[Node, str]:
    """Return the sections of the nodes that run, without those of the forward pass.

    Updates are the ops that write variables from gradients, with the nodes that only updates need beyond gradients.
    Backward are the nodes under a `gradients` scope. Initializers are assignments that no update precedes, with the nodes
    only they need.
    """
    # Gradient descent and initialization are both writes to variables: an assignment in a training step, as of a moving
    # average, is part of the step.
    changing, assigns = nodes_of_kinds(needed, is_update, lambda kind: has_fact(kind.op, "assignment"))
    updates = _updates(changing)
    assigns = [] if updates else assigns
    in_gradients = functools.cache(is_in_gradients)  # a scope has many nodes
    # The letters are looked for first, as most names lack them.
    backward = (n for n in needed if "gradient" in n.name and in_gradients(n.name.rpartition("/")[0]))
    sections = dict.fromkeys(backward, "backward")
    _mark(sections, needed, updates, "update", targets)
    _mark(sections, needed, assigns, "initializer", targets)
    for node in nodes_of_kind(graph, lambda kind: kind.is_no_op):
        # A group has the section of what it waits for. In the order of the graph, groups of groups come after their parts.
        awaited = {sections.get(control, "forward") for control in node.control_inputs}
        if node in needed and len(awaited) == 1:
            sections[node] = awaited.pop()
    return sections


def classify_body(body: Graph, needed: set[Node], targets: Sequence[Output | Node], section: str) -> dict[Node, str]:
    """Return the sections of a function's nodes, without those of the call's section.

    A whole training step may stand in a function that the forward pass calls.
    """
    return classify(body, needed, targets) if section == "forward" and any(map(is_gradient, needed)) else {}


def _updates(changing: list[Node]) -> list[Node]:
    """Return the ops that train; without any, the ops that change variables by values behind gradients."""
    if any(has_fact(node.op, "training") for node in changing):
        return changing
    # An update by hand, as an AssignSub of a gradient times a rate, has no training op.
    after = descendants(filter(is_gradient, reachable(changing)))
    return [node for node in changing if any(value.node in after for value in node.inputs)]


def is_gradient(node: Node) -> bool:
    """Return True for nodes in a scope that tf.gradients, a gradient tape or tfg makes."""
    return is_in_gradients(node.name.rpartition("/")[0])


def is_update(node: NodeKinds) -> bool:
    """Return True for ops that change a variable step by step."""
    return has_fact(node.op, "increment") or has_fact(node.op, "training")


def _mark(
    sections: dict[Node, str], needed: set[Node], roots: Sequence[Node], name: str, targets: Sequence[Output | Node]
) -> None:
    """Give `name` to the roots and to the forward nodes that nothing needs but through the roots."""
    if not roots:
        return
    excluded = set(roots)
    fetched = [t if isinstance(t, Node) else t.node for t in targets if isinstance(t, Output)]
    others = [n for n in needed if n not in excluded and sections.get(n) == "backward"]
    needed_by_others = reachable([*others, *(f for f in fetched if f not in excluded)], excluded.__contains__)
    for node in reachable(roots):
        is_forward = node in needed and sections.get(node, "forward") == "forward"
        if node in excluded or (is_forward and node not in needed_by_others):
            sections[node] = name
