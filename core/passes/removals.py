"""Removal of control inputs, of nodes that no fetch runs, of ops that only watch values, and of nodes for training alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from typing import ClassVar, Final

from ..graph.call_kinds import call_site
from ..graph.callers import drop_uncalled, has_variables
from ..graph.frames import MERGE, is_transparent
from ..graph.graph import Graph, Node, Output
from ..graph.purity import CONTROL_FLOW
from ..graph.traversal import forward_predecessors, predecessors, reachable
from ..planning.reachability import needed_nodes
from ..registry.op_facts import has_fact, ops_with
from ..support.errors import InvalidArgumentError
from ..transforms.subgraphs import shapes_at_cuts
from .base.accuracy import Accuracy, RuleSet
from .base.graph_pass import Pass, PassContext, Waves, become
from .rules.rewrite import Rewriter


class Dependencies(Pass):
    """Bypass Identity, IdentityN and NoOp nodes and drop redundant control edges.

    A NoOp goes if the edges between the NoOp's inputs and consumers are no more than before. An Identity of a variable's
    reference stays, and so does an Identity that carries a control edge out of a Switch.
    """

    name: ClassVar[str] = "dependency"
    summary: ClassVar[str] = "bypass Identity and NoOp nodes, drop redundant control edges"
    follows: ClassVar[str] = "layout"
    keeps_cost: ClassVar[bool] = True

    def run(self, graph: Graph, ctx: PassContext) -> None:
        for node in ctx.order():
            if is_transparent(node):
                self._bypass_identity(graph, ctx, node)
            elif has_fact(node.op, "passes_each_on"):
                self._bypass_identity_n(graph, ctx, node)
            elif node.is_no_op:
                self._bypass_no_op(graph, ctx, node)
        for node in graph:
            if node.control_inputs:
                self._drop_pure_controls(graph, ctx, node)
        self._reduce(graph, ctx)

    def _bypass_identity(self, graph: Graph, ctx: PassContext, node: Node) -> None:
        value = node.inputs[0]
        if ctx.is_preserved(node) or ctx.is_fed(node.output()):
            return
        # The Identity is the read: it fixes the moment at which the variable's value is taken.
        if value.is_reference:
            ctx.refuse("identity", node, "it reads a variable's reference")
            return
        if _is_at_control_flow(value.node, node):
            ctx.refuse("identity", node, "it stands at a Switch, Merge or loop edge")
            return
        own_gradient = _own_gradient(graph, node)
        if own_gradient is not None:
            ctx.refuse("identity", node, own_gradient)
            return
        # Each consumer would wait for each of the control inputs itself.
        added = len(node.control_inputs) * len(node.uses) - len(node.control_inputs)
        if added > 0:
            ctx.refuse("identity", node, "bypassing it would add control edges")
            return
        ctx.replace(node, value, "identity", f"bypassed: it passed on {value.name}")

    def _bypass_identity_n(self, graph: Graph, ctx: PassContext, node: Node) -> None:
        """Bypass each value of an IdentityN, if no node waits for all values and no value has effects."""
        if ctx.is_preserved(node) or ctx.has_fed_output(node):
            return
        reason = _knot(graph, ctx, node)
        if reason is not None:
            ctx.refuse("identity", node, reason)
            return
        for output, value in zip(node.outputs(), node.inputs):
            graph.replace_all_uses(output, value)
        graph.remove_node(node)
        ctx.fire("identity", node, "bypassed: it passed values on")

    def _bypass_no_op(self, graph: Graph, ctx: PassContext, node: Node) -> None:
        sources, consumers = node.control_inputs, graph.control_consumers(node)
        # A NoOp that joins many nodes is there to save edges: m + n of them stand for m * n.
        if ctx.is_preserved(node) or len(sources) * len(consumers) > len(sources) + len(consumers):
            return
        for consumer in consumers:
            graph.remove_control_input(consumer, node)
            for source in sources:
                graph.add_control_input(consumer, source)
        graph.remove_node(node)
        ctx.fire("no-op", node, "bypassed: its consumers wait for its inputs directly")

    def _drop_pure_controls(self, graph: Graph, ctx: PassContext, node: Node) -> None:
        """Drop control inputs from constants and from data inputs: waiting for them changes nothing."""
        # TensorFlow turns a lowered call into Switches and function bodies, which read their own inputs only: for all other
        # nodes of the body the control edge is the only wait.
        read = set() if call_site(node).is_lowered else {value.node for value in node.inputs}
        for control in node.control_inputs:
            if control in read or (control.is_constant and not control.control_inputs):
                graph.remove_control_input(node, control)
                ctx.fire("control-edge", node)

    def _reduce(self, graph: Graph, ctx: PassContext) -> None:
        """Transitive reduction: drop a control edge if a longer path leads the same way.

        A conditional or loop that TensorFlow lowers keeps its edges: a branch does not wait for inputs that it does not read.
        """
        order = {node: i for i, node in enumerate(ctx.order())}
        paths = _LongerPaths(order)
        for node in order:
            if not node.control_inputs or call_site(node).is_lowered:
                continue
            # A control edge from a Switch or Merge tells whether the node runs at all, not only when. A longer path does not
            # say the same.
            if not any(c.op in CONTROL_FLOW and not c.is_no_op for c in node.control_inputs):
                for control in paths.implied(node):
                    graph.remove_control_input(node, control)
                    ctx.fire("control-edge", node)


def _knot(graph: Graph, ctx: PassContext, node: Node) -> str | None:
    """Return the reason why the values that pass through an IdentityN may not part, or None."""
    if node.control_inputs or graph.control_consumers(node):
        return "control edges begin or end at it"
    if any(value.is_reference for value in node.inputs):
        return "it reads a variable's reference"
    if any(_is_at_control_flow(value.node, node) for value in node.inputs):
        return "it stands at a Switch, Merge or loop edge"
    if any(ctx.has_effects(value.node) for value in node.inputs):
        return "one of its inputs has effects, and other nodes wait for them"
    return _own_gradient(graph, node)


def _own_gradient(graph: Graph, node: Node) -> str | None:
    """Return the reason why an Identity with a registered gradient stays, or None."""
    if "_gradient_op_type" in node.attrs and has_variables(graph):
        return "it has a custom gradient, and gradients may still be added"
    return None


def _is_at_control_flow(source: Node, node: Node) -> bool:
    """Return True for an Identity directly after or before an op of a loop or branch; False for a NoOp."""
    return any(n.op in CONTROL_FLOW and not n.is_no_op for n in (source, *node.uses))


_ALIVE_ANYWAY = (*MERGE, "ControlTrigger")
"""Ops that may run although an ancestor does not."""


_OFTEN: Final = 4
"""The number of uses from which all descendants of a node are searched once, instead of the ancestors of each user."""


class _LongerPaths:
    """A search for longer paths beside control edges, none through nodes that run even if an ancestor does not."""

    def __init__(self, order: Mapping[Node, int]) -> None:
        self._order = order
        self._waves = Waves(order, _surely_after)

    def implied(self, node: Node) -> list[Node]:
        """Return the control inputs of a node that another input of the node already waits for."""
        often = {control for control in node.control_inputs if len(control.uses) >= _OFTEN}
        implied = self._ahead(node, often)
        rest = set(node.control_inputs) - often
        if rest:
            implied |= self._behind(node, rest)
        return [control for control in node.control_inputs if control in implied]

    def _ahead(self, node: Node, candidates: Set[Node]) -> set[Node]:
        """Return the control inputs that another input waits for, by a search through the control inputs' descendants."""
        # Back edges of loops are left out: a path through the next iteration orders nothing in this one.
        sources = {source for source in forward_predecessors(node) if source.op not in _ALIVE_ANYWAY}
        last = max(map(self._waves.place, sources), default=-math.inf)
        for control in candidates:
            if control not in self._waves:
                self._waves.begin(control, _surely_after(control))
        return {control for control in candidates if self._waves.meets(control, sources, last)}

    def _behind(self, node: Node, candidates: Set[Node]) -> set[Node]:
        """Return the control inputs that another input waits for, by a search through the node's ancestors."""
        earliest = min(self._order[c] for c in candidates)
        implied: set[Node] = set()
        seen: set[Node] = set()
        stack = predecessors(node)
        while stack and len(implied) < len(candidates):
            source = stack.pop()
            if source.op in _ALIVE_ANYWAY:
                continue
            for before in forward_predecessors(source):
                if before in candidates:
                    implied.add(before)
                # No path leads from a candidate to a node that comes before all candidates in the order.
                if before not in seen and self._order[before] > earliest:
                    seen.add(before)
                    stack.append(before)
        return implied


def _surely_after(node: Node) -> list[Node]:
    """Return the nodes that run only after a node."""
    return [user for user in node.uses if user.op not in _ALIVE_ANYWAY]


class Prune(Pass):
    """Remove nodes, and functions of the library, that neither fetches nor kept nodes need."""

    name: ClassVar[str] = "prune"
    summary: ClassVar[str] = "remove nodes and functions that no fetch needs"
    keeps_cost: ClassVar[bool] = True

    def run(self, graph: Graph, ctx: PassContext) -> None:
        feeds = [graph.output(name) for name in ctx.always_fed]
        # A node whose only output is fed computes nothing, unless others wait for it.
        fed = (node for node in dict.fromkeys(feed.node for feed in feeds) if not graph.control_consumers(node))
        cut = [node for node in fed if len(node.output_dtypes) == 1 and not node.is_placeholder]
        shapes = shapes_at_cuts(graph, [node.output().name for node in cut])
        for node in cut:
            # The nodes that computed the fed value are dead, so this one may no longer have inputs. It must stay, since feeds
            # name it.
            attrs = {"dtype": node.output_dtypes[0].base, "shape": shapes[node.output().name]}
            become(graph, node, "Placeholder", [], attrs, ())
            ctx.fire("fed", node, "became a placeholder: its value is fed")
        roots = [graph.node(name) for name in (*ctx.fetches, *ctx.keep, *ctx.start) if name in graph]
        needed = needed_nodes(roots, feeds) | reachable(feed.node for feed in feeds)
        doomed = [node for node in graph if node not in needed]
        graph.remove_nodes(doomed)
        for node in doomed:
            ctx.fire("unreachable", node, "removed: no fetch needs it")
        for name in drop_uncalled(graph):
            ctx.fire("function", name, "removed: no node calls it")


class StripDebug(Pass):
    """Turn Assert and PrintV2 into NoOps that wait for the same inputs, and bypass CheckNumerics and Print.

    The errors of these ops are no longer raised; therefore only the user may ask for the pass.
    """

    name: ClassVar[str] = "strip_debug"
    summary: ClassVar[str] = "drop Assert, Print and CheckNumerics"
    follows: ClassVar[str] = "inline"
    in_default_pipeline: ClassVar[bool] = False
    ops: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        diagnostic = ops_with("diagnostic")
        unknown = [op for op in self.ops if op not in diagnostic]
        if unknown:
            raise InvalidArgumentError(
                f"strip_debug does not drop {unknown[0]}", hint=f"the droppable ops are {', '.join(diagnostic)}"
            )

    def run(self, graph: Graph, ctx: PassContext) -> None:
        for node in ctx.order():
            if not has_fact(node.op, "diagnostic") or (self.ops and node.op not in self.ops):
                continue
            if not node.output_dtypes:
                self._silence(graph, ctx, node)
            elif not ctx.is_fed(node.output()):
                ctx.replace(node, node.inputs[0], "bypass", f"bypassed: {node.op} only observes values")

    def _silence(self, graph: Graph, ctx: PassContext, node: Node) -> None:
        # The inputs may have effects of their own, such as draws or writes, for which nodes after the assertion waited.
        op, controls = node.op, ctx.anchors(node)
        become(graph, node, "NoOp", (), {}, controls)
        ctx.fire("no-op", node, f"became a NoOp: {op} only observes values")


RULES = RuleSet()
rule = RULES.rule
_PASSED_ON = ("StopGradient", "PreventGradient", "CheckNumerics", "Snapshot", "PlaceholderWithDefault")


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
