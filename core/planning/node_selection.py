"""The nodes of a plan: the nodes that run, their frames, and the order in which TensorFlow makes them."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..graph.foreign_ops import supply_hint
from ..graph.frames import EXIT, LOOP_OPS, MERGE, NEXT_ITERATION, SWITCH, Frame, assign_frames
from ..graph.graph import Graph, Node, Output
from ..graph.purity import impurity
from ..graph.references import any_reference
from ..graph.traversal import copied_from, nodes_of_kind, topological_order, trail_end
from ..registry.catalog import OpDef
from ..registry.op_facts import NodeKinds, has_fact
from ..support.errors import InvalidArgumentError
from .reachability import needed_nodes, needed_sources, unused_outputs
from .scheduling import construction_order, is_bypassed, optimized_order


class _Sources(dict[Node, list[Node | None]]):
    """The `needed_sources` of nodes, found when first asked for: a plan without loops and shared state does not ask."""

    def __init__(self, fed: frozenset[Output]) -> None:
        super().__init__()
        self.fed = fed

    def __missing__(self, node: Node) -> list[Node | None]:
        self[node] = sources = needed_sources(node, self.fed)
        return sources


class Selection:
    """The nodes that run for the fetches of a plan, and their frames."""

    def __init__(self, graph: Graph, fetches: Sequence[Output | Node], feeds: Sequence[Output]) -> None:
        self.graph = graph
        self.fetches = fetches
        self.feeds = feeds
        self.fed = frozenset(feeds)
        self.needed = needed_nodes(fetches, feeds)
        # The nodes are in the order of the graph and not of the walk, so that the order of the fetches does not change the
        # plan.
        self.nodes = [node for node in graph if node in self.needed]
        self.waiting = _Sources(self.fed)
        """The nodes from which each node takes data or control, None for a fed value."""
        self.ops = {node.op for node in self.nodes}
        self._behind: dict[Output, Output] = {}
        self._before: dict[Output, Output] = {}
        self.root = Frame("", None)
        self.frames: Mapping[Node, Frame] = {}
        # Frames are spread along every edge of a graph: most graphs have no V1 loop, and do without.
        if not self.ops.isdisjoint(LOOP_OPS):
            self.root, self.frames = assign_frames(self.nodes, self.waiting.__getitem__)
        else:
            self.root.nodes = self.nodes

    @functools.cached_property
    def order(self) -> list[Node]:
        """The nodes in topological order; InvalidArgumentError names a node on a cycle."""
        if self.graph.is_in_order:
            return self.nodes
        return topological_order(self.nodes, self.waits_for if self.frames else self.waiting.__getitem__)

    @functools.cached_property
    def has_references(self) -> bool:
        """Whether a node returns a reference to a variable."""
        return any_reference(self.nodes)

    @functools.cached_property
    def passing_ops(self) -> frozenset[str]:
        """The ops of nodes that may pass a value on without a step."""
        return frozenset(node.op for node in nodes_of_kind(self.nodes, _may_pass))

    def waits_for(self, node: Node) -> list[Node]:
        """Return the sources of a node's data and control inputs in the same iteration: back edges of loops are left out."""
        sources = self.sources(node)
        return [source for source in sources if source.op not in NEXT_ITERATION] if node.op in MERGE else sources

    def is_bypassed(self, node: Node) -> bool:
        """True for a node that only passes a value on; TensorFlow's graph optimizer removes the node."""
        return is_bypassed(node, lambda value: value in self.fed or value in self.fetches or value.node in self.fetches)

    def behind(self, value: Output) -> Output:
        """Return the value behind `value`, past all bypassed nodes."""
        return trail_end(value, self._bypassed, self._behind)

    def _bypassed(self, value: Output) -> Output | None:
        return value.node.inputs[0] if value not in self.fed and self.is_bypassed(value.node) else None

    def _before_identities(self, value: Output) -> Output | None:
        """Return the value before an Identity, to which a Cast to fewer bytes moves."""
        before = None if value in self.fed else copied_from(value)
        return self.behind(before) if before is not None else None

    def taken(self, node: Node) -> list[Output]:
        """Return the inputs of a node past bypassed nodes.

        TensorFlow moves a Cast to fewer bytes before an Identity of any kind.
        """
        values = list(map(self.behind, node.inputs))
        if node.op == "Cast" and node.attr("SrcT").size > node.attr("DstT").size:
            values = [trail_end(values[0], self._before_identities, self._before)]
        return values

    def construction_order(self) -> list[Node]:
        """Return the nodes in the order in which TensorFlow makes them.

        Users of a feed wait for the feed's node, made last.
        """
        nodes = optimized_order(self.nodes, self.fetched_nodes(), self.sources, self.forward_sources)
        units: list[Any] = [*nodes, *sorted(self.feeds, key=str)]
        return [unit for unit in construction_order(units, self.forward_sources) if isinstance(unit, Node)]

    def fetched_nodes(self) -> list[Node]:
        """Return the fetched nodes, by name."""
        # A session of TensorFlow sorts the names, so that one executor serves the same fetches in any order.
        return sorted({f if isinstance(f, Node) else f.node for f in self.fetches}, key=lambda node: node.name)

    def folded(self) -> Iterator[Node]:
        """Yield the nodes that TensorFlow's graph optimizer folds: nodes computed from constants alone."""
        constants: set[Node] = set()
        fetched = set(self.fetched_nodes())
        for node in self.order:
            if node.op == "Const":
                constants.add(node)
            elif self._is_folded(node, constants) and node not in fetched:
                constants.add(node)
                yield node

    def _is_folded(self, node: Node, constants: set[Node]) -> bool:
        return bool(node.inputs) and constants.issuperset(self.waiting[node]) and impurity(self.graph, node) is None

    def sources(self, node: Node) -> list[Node]:
        """Return the nodes from which a node takes data or control."""
        return [source for source in self.waiting[node] if source is not None]

    def forward_sources(self, unit: Any) -> Iterator[Any]:
        """Yield the sources of a node's data and control inputs: nodes and fed values, without back edges of loops."""
        if isinstance(unit, Output):
            return
        for value, source in itertools.zip_longest(unit.inputs, self.waiting[unit]):
            if source is None:
                yield value
            elif not (unit.op in MERGE and source.op in NEXT_ITERATION):
                yield source

    def frame_around(self, node: Node) -> Frame:
        """Return the frame of a node's outputs."""
        frame = self.frames.get(node, self.root)
        return frame.parent if node.op in EXIT and frame.parent is not None else frame

    def unused_outputs(self, node: Node) -> tuple[int, ...]:
        """Return the outputs of a node that this run does not read."""
        return unused_outputs(node, self.needed, self.fetches)

    def definition(self, node: Node) -> OpDef:
        """Return the interface of a node's op or of the library function that the op names."""
        return definition_in(self.graph, node)


def _may_pass(kind: NodeKinds) -> bool:
    is_of_loop = kind.is_loop_condition or kind.op in (*NEXT_ITERATION, *EXIT, *SWITCH, *MERGE)
    return is_of_loop or has_fact(kind.op, "transparent")


def definition_in(graph: Graph, node: Node) -> OpDef:
    """Return the interface of a node's op, or of the library function that the op names.

    Raises InvalidArgumentError without either.
    """
    definition = node.op_def
    if definition is not None:
        return definition
    if node.op in graph.functions:
        return graph.functions[node.op].signature
    raise InvalidArgumentError(f"op '{node.op}' is not declared", node=node.name, op=node.op, hint=supply_hint(node.op))
