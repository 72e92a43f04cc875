"""The fates of single nodes in an optimization."""

from __future__ import annotations

from collections.abc import Sequence

from ..functions.purity import impurity
from ..graph.graph import Graph, GraphLike, Node, as_graph
from ..support import dataclasses
from ..support.arguments import checked
from ..support.display import Rows
from ..support.tensor_names import parse_tensor_name
from .pipeline import OptimizeReport, guessed_fetches, optimize


@dataclasses.dataclass(frozen=True, slots=True)
class NodeFate:
    """The fate of a node; `refused` lists refused rewrites of the node, each with the pass's rule and the reason."""

    name: str
    """The name of the node."""
    op: str
    """The op before the passes."""
    op_after: str | None
    """The op after the passes; None where the node is gone."""
    fate: str
    """What became of the node, in words."""
    refused: tuple[str, ...]
    """Rewrites that were refused, with the reasons."""


@checked
def node_fates(
    graph: GraphLike, names: Sequence[str], fetches: Sequence[str] = (), feeds: Sequence[str] = (), *, fast_math: bool = False
) -> Rows[NodeFate]:
    """Optimize for the fetches, by default the outputs and training operations, and tell of each node how the node went
    (folded, merged, fused, removed ...) or why the node stayed.
    """
    graph = as_graph(graph)
    fetches = fetches or guessed_fetches(graph)
    nodes = [graph.node_of(name) for name in names]
    after, report = optimize(graph, fetches, feeds, fast_math=fast_math)
    fetched = {parse_tensor_name(name)[0] for name in fetches}
    return Rows(_fate(graph, node, after, report, fetched) for node in nodes)


def _fate(graph: Graph, node: Node, after: Graph, report: OptimizeReport, fetched: set[str]) -> NodeFate:
    left = after.get(node.name)
    fate = report.fates.get(node.name, "")
    if left is not None and not fate:
        fate = f"kept: {_reason(graph, node, fetched)}"
    refused = dict.fromkeys(
        f"{record.name}: {refusal.rule}: {refusal.reason}"
        for record in report.passes
        for refusal in record.refused
        if refusal.node == node.name
    )
    return NodeFate(node.name, node.op, left.op if left is not None else None, fate, tuple(refused))


def _reason(graph: Graph, node: Node, fetched: set[str]) -> str:
    if node.name in fetched:
        return "it is fetched"
    if node.is_placeholder:
        return "it is an input"
    if node.is_constant:
        return "it is a needed constant"
    reason = impurity(graph, node)
    return reason if reason is not None else "its value is needed and known only at run time, and no rule applies"
