"""Conditionals of V1 graphs: the nodes on each branch of a Switch, and the branch to count."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from ..control_flow.deadness import Deadness, is_choice
from ..graph.graph import Node, Output
from ..inference.estimates import Estimate
from .flops_report import NodeCost, add_up, magnitude, total


@dataclasses.dataclass(frozen=True, slots=True)
class BranchChoice:
    """A conditional: the costs of the branches, the branch that is counted, and whether the predicate is known."""

    predicate: str
    costs: Mapping[int, str]
    taken: int
    is_known: bool

    def __str__(self) -> str:
        labels = {0: "false", 1: "true"}
        listed = ", ".join(f"{labels.get(branch, branch)} {cost}" for branch, cost in sorted(self.costs.items()))
        reason = "runs" if self.is_known else "is counted"
        return f"branches on {self.predicate}: {listed} FLOPs; {labels.get(self.taken, self.taken)} {reason}"


def not_taken(costs: Mapping[Node, Sequence[NodeCost]], inference: Estimate) -> tuple[set[Node], list[BranchChoice]]:
    """Return the nodes on branches that are not counted, and the choices made.

    A known predicate chooses the branch; otherwise the costlier branch counts.
    """
    if not any(is_choice(node) for node in costs):
        return set(), []
    deadness = Deadness(costs)
    branches: dict[Output | Node, dict[int, list[Node]]] = {}
    for node in costs:
        for predicate, branch in deadness.of_node(node):
            branches.setdefault(predicate, {}).setdefault(branch, []).append(node)
    nested = {node for members in branches.values() for nodes in members.values() for node in nodes}
    flops = {node: total(costs[node]).flops for node in nested}
    dropped: set[Node] = set()
    choices = []
    for predicate, members in branches.items():
        totals = {b: add_up(flops[node] for node in nodes if node not in dropped) for b, nodes in members.items()}
        known = _known_branch(predicate, inference)
        taken = known if known is not None else max(totals, key=lambda branch: (magnitude(totals[branch]), branch))
        dropped.update(node for branch, nodes in members.items() if branch != taken for node in nodes)
        name = predicate.node.name if isinstance(predicate, Output) else predicate.name
        choices.append(BranchChoice(name, {b: str(count) for b, count in totals.items()}, taken, known is not None))
    return dropped, choices


def _known_branch(predicate: Output | Node, inference: Estimate) -> int | None:
    spec = inference.specs.get(predicate) if isinstance(predicate, Output) else None
    if spec is None or spec.value is None or spec.value.size != 1:
        return None
    return int(spec.value.item())
