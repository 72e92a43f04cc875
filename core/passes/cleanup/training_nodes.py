"""Removal of nodes that only training needs."""

from __future__ import annotations

from typing import ClassVar

from ...graph.graph import Graph, Node, Output
from ...support import dataclasses
from ..base.accuracy import Accuracy
from ..base.graph_pass import Pass, PassContext
from ..base.rule_sets import RuleSet
from ..rules.rewrite import Rewriter

RULES = RuleSet()
rule = RULES.rule
_PASSED_ON = ("StopGradient", "PreventGradient", "CheckNumerics", "Snapshot", "PlaceholderWithDefault")


@dataclasses.dataclass(frozen=True)
class RemoveTrainingNodes(Pass):
    """Bypass StopGradient, PreventGradient, CheckNumerics and PlaceholderWithDefault, after dropout."""

    name: ClassVar[str] = "remove_training_nodes"
    summary: ClassVar[str] = "bypass nodes that only training needs, including dropout"
    follows: ClassVar[str] = "remove_dropout"
    requires: ClassVar[tuple[str, ...]] = ("remove_dropout",)
    in_default_pipeline: ClassVar[bool] = False
    rule_sets: ClassVar[tuple[RuleSet, ...]] = (RULES,)

    def run(self, graph: Graph, ctx: PassContext) -> None:
        Rewriter(graph, ctx).apply(*self.rule_sets)


@rule(*_PASSED_ON, algebra="stop_gradient(x) -> x", accuracy=Accuracy.EXACT)
def passed_on(r: Rewriter, node: Node) -> Output | None:
    return node.inputs[0]
