"""Removal of nodes that only training needs."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from ...graph.graph import Graph, Node, Output
from ...registry.op_facts import has_fact
from ..base.accuracy import Accuracy
from ..base.graph_pass import Pass, PassContext
from ..base.rule_sets import RuleSet
from ..rules.rewrite import Rewriter

RULES = RuleSet()
rule = RULES.rule
_PASSED_ON = ("StopGradient", "PreventGradient", "CheckNumerics", "Snapshot", "PlaceholderWithDefault")


@dataclasses.dataclass(frozen=True)
class RemoveTrainingNodes(Pass):
    """Bypass StopGradient, PreventGradient, CheckNumerics and PlaceholderWithDefault, and dropout at a rate of 0.

    No random number is drawn for a mask that keeps everything, so ops without a seed of their own may draw others.
    """

    name: ClassVar[str] = "remove_training_nodes"
    summary: ClassVar[str] = "bypass nodes that only training needs, including dropout at rate 0"
    follows: ClassVar[str] = "strip_debug"
    in_default_pipeline: ClassVar[bool] = False
    rule_sets: ClassVar[tuple[RuleSet, ...]] = (RULES,)

    def run(self, graph: Graph, ctx: PassContext) -> None:
        Rewriter(graph, ctx).apply(*self.rule_sets)


@rule(*_PASSED_ON, algebra="stop_gradient(x) -> x", accuracy=Accuracy.EXACT)
def passed_on(r: Rewriter, node: Node) -> Output | None:
    return node.inputs[0]


@rule("GreaterEqual", algebra="uniform[0, 1) >= 0 -> true", accuracy=Accuracy.EXACT)
def mask_of_nothing(r: Rewriter, node: Node) -> Output | None:
    drawn, rate = node.inputs
    if drawn.node.op != "RandomUniform" or not r.is_all(rate, 0):
        return None
    return r.Fill(drawn.node.inputs[0], r.constant(True, node.output()))


@rule("Floor", algebra="floor(1 + uniform[0, 1)) -> 1", accuracy=Accuracy.EXACT)
def floor_of_nothing(r: Rewriter, node: Node) -> Output | None:
    added = node.inputs[0].node
    if not has_fact(added.op, "addition"):
        return None
    for one, drawn in (added.inputs, tuple(reversed(added.inputs))):
        if r.is_all(one, 1) and drawn.node.op == "RandomUniform":
            return r.Fill(drawn.node.inputs[0], r.constant(1, drawn))
    return None
