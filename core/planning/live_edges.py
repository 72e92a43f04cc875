"""Control edges that order two nodes without switching the later node off.

Deadness travels along control edges as along data: a node that waits for a node of an untaken branch never runs. An order
that leaves a branch of a V1 conditional therefore ends in a Merge, which is alive whichever branch is taken.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from ..graph.deadness import ALWAYS, Condition, Deadness, Literal
from ..graph.graph import Graph, Node, Output
from ..graph.node_making import add_constant, add_identity
from ..types import dtypes
from ..types.tensors import Tensor


class LiveEdges:
    """Adds control edges among the nodes of a graph that lie in no loop; `fed` are the fed values."""

    def __init__(self, graph: Graph, fed: Container[Output] = ()) -> None:
        self.graph = graph
        self._deadness = Deadness(None, fed)
        self._merges: dict[tuple[Node, Condition], Node] = {}
        self._switches: dict[Output, Node] = {}

    def let_wait(self, later: Node, earlier: Node) -> bool:
        """Let `later` wait for `earlier` in the runs in which both are alive.

        Return False, and add no edge, where `earlier` lies on a branch whose other branches are unknown.
        """
        source = self.live_behind(earlier, self._deadness.of_node(later))
        if source is not None:
            self.graph.add_control_input(later, source)
        return source is not None

    def live_behind(self, node: Node, condition: Condition = ALWAYS) -> Node | None:
        """Return a node that ends after `node`, if that is alive, and is alive itself wherever `condition` holds.

        Return `node` itself if it qualifies, else a Merge, which is added; None if the branches of `node` are unknown.
        """
        literals = self._deadness.of_node(node) - condition
        if not literals:
            return node
        if not all(_has_two_branches(key) for key, _ in literals):
            return None
        # Several nodes may wait for one: they share its Merge.
        merge = self._merges.get((node, literals))
        if merge is None:
            merge = self._merges[node, literals] = self._merged(node, literals)
        return merge

    def has_live_end(self, node: Node) -> bool:
        """Return True if `live_behind` finds a node: the other branches beside the node are known."""
        return all(_has_two_branches(key) for key, _ in self._deadness.of_node(node))

    def is_live(self, node: Node, condition: Condition) -> bool:
        """Return True for a node that is alive wherever `condition` holds."""
        return self._deadness.of_node(node) <= condition

    def condition(self, node: Node) -> Condition:
        """Return the condition under which a node is alive."""
        return self._deadness.of_node(node)

    def _merged(self, node: Node, literals: Condition) -> Node:
        """Add the Merges behind a node that lies on the branches of `literals`, from the innermost branch to the outermost.

        A predicate on a branch of another predicate is the inner one.
        """
        ordered = sorted(literals, key=lambda literal: (-len(self._deadness.of_value(_predicate(literal))), str(literal)))
        name, device = f"{node.name}/settled", node.device
        last = add_constant(self.graph, name, Tensor.from_numpy(True, dtypes.bool_), [node], device)
        for i, (key, branch) in enumerate(ordered, 1):
            # The other branch must be dead where the outer branch is not taken, or the Merge would have two live inputs.
            around = [self._pivot(literal, ()) for literal in ordered[i:]]
            other = self._pivot((key, 1 - branch), around)
            inputs = [last.output(), other.output()]
            name = self.graph.unique_name(f"{node.name}/settled")
            last = self.graph.add_node(name, "Merge", inputs, (), {"T": dtypes.bool_, "N": 2}, device)
        return last

    def _pivot(self, literal: Literal, around: Sequence[Node]) -> Node:
        """Add an Identity that is alive if the predicate takes the branch and the pivots `around` are alive."""
        predicate, branch = _predicate(literal), literal[1]
        switch = self._switches.get(predicate)
        device = predicate.node.device
        if switch is None:
            name = self.graph.unique_name(f"{predicate.node.name}/settled")
            switch = self.graph.add_node(name, "Switch", [predicate, predicate], (), {"T": dtypes.bool_}, device)
            self._switches[predicate] = switch
        return add_identity(self.graph, f"{switch.name}/pivot", switch.output(branch), dtypes.bool_, around, device)


def _has_two_branches(key: Output | Node) -> bool:
    """Return True for a predicate that is the same for all Switches, and that chooses one of two branches."""
    return isinstance(key, Output) and key.dtype is not None and key.dtype.base is dtypes.bool_


def _predicate(literal: Literal) -> Output:
    predicate = literal[0]
    assert isinstance(predicate, Output)
    return predicate
