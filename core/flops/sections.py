"""Which part of a training step a node belongs to: forward, backward, update or initializer."""

from __future__ import annotations

from collections.abc import Sequence

from ..graph import Graph, Node, Output
from ..op_facts import has_fact
from ..traversal import reachable


def classify(graph: Graph, needed: set[Node], targets: Sequence[Output | Node]) -> dict[Node, str]:
    """The section of every node that runs.

    Updates are the ops that write variables from gradients, and what only they need beyond gradients. Backward are the
    nodes under a `gradients` scope. Initializers are assignments that no update precedes and what only they need.
    """
    updates = [node for node in needed if is_update(node)]
    has_training = any(has_fact(node.op, "training") for node in updates)
    sections = {node: "backward" if is_gradient(node) else "forward" for node in needed}
    assigns = [node for node in needed if has_fact(node.op, "assignment") and not has_training]
    _mark(sections, needed, updates if has_training else [], "update", targets)
    _mark(sections, needed, assigns, "initializer", targets)
    for node in graph:
        if node in needed and node.is_no_op and len({sections[control] for control in node.control_inputs}) == 1:
            sections[node] = sections[node.control_inputs[0]]
    return sections


def is_gradient(node: Node) -> bool:
    """True for nodes in a scope that tf.gradients, a gradient tape or tfg makes."""
    return any(part.startswith(("gradients", "gradient_tape")) for part in node.name.split("/")[:-1])


def is_update(node: Node) -> bool:
    """True for ops that change a variable step by step."""
    return has_fact(node.op, "increment") or has_fact(node.op, "training")


def _mark(
    sections: dict[Node, str], needed: set[Node], roots: Sequence[Node], name: str, targets: Sequence[Output | Node]
) -> None:
    """Give `name` to the roots and to the forward nodes that nothing but the roots needs."""
    if not roots:
        return
    excluded = set(roots)
    fetched = [t if isinstance(t, Node) else t.node for t in targets if isinstance(t, Output)]
    others = [n for n in needed if n not in excluded and sections[n] == "backward"]
    kept = reachable([*others, *(f for f in fetched if f not in excluded)])
    for node in reachable(roots):
        if node in excluded or (node in needed and sections[node] == "forward" and node not in kept):
            sections[node] = name
