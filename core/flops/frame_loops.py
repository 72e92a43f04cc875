"""V1 loops in inference: an outermost loop at a time, each once all inputs are known as well as they will be."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from ..graph.call_signatures import signature_of
from ..graph.frames import ENTER, EXIT, MERGE, NEXT_ITERATION, SWITCH, Frame
from ..graph.graph import Function, Graph, Node, Output
from ..graph.traversal import closure, forward_predecessors, topological_order
from ..inference.containers import container_of
from ..inference.estimates import Estimate, estimate_again
from ..inference.inference import Specs
from ..registry.op_facts import has_fact
from ..support import dataclasses
from ..support.grouping import grouped
from ..types.dims import Dim, DimLike
from ..types.shapes import TensorSpec, substituted
from .growth import Growth, find_growth
from .loop_counts import Known, LoopCount, LoopCounts
from .trip_counts import frame_trips

_Unit: TypeAlias = Node | Frame
"""A node outside loops, or an outermost loop with all nodes inside."""


@dataclasses.dataclass(frozen=True, slots=True)
class _LoopEstimate(Estimate):
    """An inference whose specs are replaced as they are derived anew."""

    specs: Specs
    reasons: dict[str, str]


class FrameLoops:
    """The V1 loops of a graph, and an inference refined by the growth of loop variables and by the values that leave loops.

    Specs that a loop changes are derived anew as far as the next loop; behind that loop only once it has been analysed too.
    """

    def __init__(
        self,
        loops: LoopCounts,
        functions: Mapping[str, Function],
        graph: Graph,
        inference: Estimate,
        known: Known,
        frames: Mapping[Node, Frame],
    ) -> None:
        self.loops: dict[Frame, LoopCount] = {}
        # Copies, which the loops change; the caller's inference stays as it is.
        self.inference = _LoopEstimate(Specs(inference.specs), dict(inference.reasons))
        self._loops = loops
        self._functions = functions
        self._frames = frames
        self._known = dict(known)
        self._order = {node: place for place, node in enumerate(topological_order(graph))}
        self._within = _within(self._order, frames)
        self._writers = _writers(self._order)
        self._stale: set[Node] = set()
        """The nodes with an input whose spec has changed since the node's own was derived."""
        self._left: dict[str, LoopCount] = {}
        """The loops that have been looked into, by the symbols for their iterations."""
        self._homes: dict[str, Frame] = {}

    def look(self) -> None:
        """Look into all loops."""
        plain: list[Node] = []
        for unit in _in_order(self._order, self._frames):
            if isinstance(unit, Node):
                plain.append(unit)
                continue
            self._catch_up(plain)
            plain = []
            self._look_into(unit)
        self._catch_up(plain)
        self._catch_up(self._order)

    def _look_into(self, outermost: Frame) -> None:
        """Analyse an outermost loop and the loops inside."""
        nodes = self._within[outermost]
        self._catch_up(nodes)
        inner = dict.fromkeys(self._frames[node] for node in nodes)
        # The outer loop first: how its variables grow decides what enters the loops inside.
        for frame in sorted(inner, key=lambda frame: frame.depth):
            inside = self._within[frame]
            merges = [node for node in frame.with_op(MERGE) if _is_loop_variable(node)]
            growth = self._growth(merges, inside, _iteration(frame))
            rounds = self._loops.rounds(frame.name, frame.name, frame_trips(frame, self.inference))
            loop = self.loops[frame] = LoopCount(frame.name, rounds, growth, _condition(frame, self._frames))
            self._left[growth.symbol], self._homes[growth.symbol] = loop, frame
            self._add(_variables(merges, loop))
            self._update(inside)
            self._catch_up(nodes)

    def _catch_up(self, nodes: Iterable[Node]) -> None:
        """Derive anew the stale nodes among `nodes`, and the nodes behind them."""
        # Most loops keep all shapes: then nothing is derived anew, and the count stays linear.
        if not self._stale:
            return
        pool = set(nodes)
        behind = closure(self._stale & pool, lambda node: pool.intersection(node.uses))
        if not behind:
            return
        self._update(behind)
        handed_over = self._handed_over(behind)
        if handed_over:
            self._add(handed_over)
            self._update(behind)

    def _update(self, nodes: Iterable[Node]) -> None:
        """Derive the specs of nodes anew, with the containers that they fill; readers of a changed spec become stale."""
        filled = dict.fromkeys(node for writer in nodes if (node := container_of(writer)) is not None)
        more = (writer for container in filled for writer in self._writers[container])
        again = sorted(dict.fromkeys((*nodes, *filled, *more)), key=self._order.__getitem__)
        current = self.inference
        derived = estimate_again(again, current, self._known, self._functions, self._loops.rule)
        anew = set(again)
        self._stale -= anew
        for node in again:
            others = [user for user in node.uses if user not in anew]
            # Only a spec that says something else makes its readers stale; unnamed sizes get new symbols in each inference.
            if others and any(_is_other(current.specs[value], derived.specs[value]) for value in node.outputs()):
                self._stale.update(others)
            current.reasons.pop(node.name, None)
        current.specs.update(derived.specs)
        current.reasons.update(derived.reasons)

    def _add(self, more: Known) -> None:
        """Add specs for outputs that have none yet."""
        for output, spec in more.items():
            # What the user gave stands before what follows from a loop.
            self._known.setdefault(output, spec)

    def _growth(self, merges: Sequence[Node], inside: Sequence[Node], symbol: str) -> Growth:
        backs = [next(_back_edges(merge)) for merge in merges]
        fixed = {value: self._known[value] for node in inside for value in node.outputs() if value in self._known}

        def advance(specs: Sequence[TensorSpec]) -> list[TensorSpec]:
            assumed = {**dict(zip((merge.output() for merge in merges), specs)), **fixed}
            again = estimate_again(inside, self.inference, assumed, self._functions, self._loops.rule)
            return [again.specs[back.node.inputs[0]] for back in backs]

        return find_growth([_entering(merge, self.inference) for merge in merges], advance, symbol)

    def _handed_over(self, nodes: Iterable[Node]) -> dict[Output, TensorSpec]:
        """Return the specs that nodes outside a loop read from a stack or an array of tensors with growing shapes.

        A loop that pops reads the last tensor first: iteration i reads the tensor pushed in iteration rounds - 1 - i. Of
        any other read the growing dimensions are unknown.
        """
        specs = self.inference.specs
        specs_read: dict[Output, TensorSpec] = {}
        for node in nodes:
            if node.op in EXIT:
                continue
            came = {symbol for value in node.inputs for symbol in _symbols(specs[value])}
            for output in node.outputs():
                new = (_symbols(specs[output]) & self._left.keys()) - came
                then = {symbol: self._then(symbol, node) for symbol in new if not self._is_at_home(symbol, node)}
                if then:
                    specs_read[output] = substituted(specs[output], then)
        return specs_read

    def _is_at_home(self, symbol: str, node: Node) -> bool:
        """Return True for a node of the loop whose iterations a symbol stands for."""
        home = self._frames.get(node)
        return home is not None and home.is_inside(self._homes[symbol])

    def _then(self, symbol: str, node: Node) -> DimLike:
        """Return the iteration of another loop that a node takes a value from."""
        home = self._frames.get(node)
        if home is not None and has_fact(node.op, "stack_pop"):
            return self._left[symbol].rounds - 1 - Dim.symbol(_iteration(home))
        return Dim.unknown()


def _in_order(order: Iterable[Node], frames: Mapping[Node, Frame]) -> list[_Unit]:
    """Return nodes outside loops and outermost loops in topological order; units on a cycle come last."""
    homes: dict[Node, _Unit] = {node: _outermost(frames[node]) if node in frames else node for node in order}
    behind: dict[_Unit, list[_Unit]] = {unit: [] for unit in homes.values()}
    waits: collections.Counter[_Unit] = collections.Counter()
    for node, home in homes.items():
        for source in forward_predecessors(node):
            if homes[source] is not home:
                behind[homes[source]].append(home)
                waits[home] += 1
    units = [unit for unit in behind if not waits[unit]]
    # Units that wait for nothing any more are added while the list is walked (Kahn's algorithm).
    for unit in units:
        for other in behind[unit]:
            waits[other] -= 1
            if not waits[other]:
                units.append(other)
    return list(dict.fromkeys((*units, *behind)))


def _outermost(frame: Frame) -> Frame:
    while frame.enclosing is not None:
        frame = frame.enclosing
    return frame


def _writers(order: Iterable[Node]) -> dict[Node, list[Node]]:
    """Return the nodes that fill each stack and tensor array."""
    return grouped((container, node) for node in order if (container := container_of(node)) is not None)


def _is_other(before: TensorSpec, now: TensorSpec) -> bool:
    return before is not now and signature_of([before]) != signature_of([now])


def _within(order: Iterable[Node], frames: Mapping[Node, Frame]) -> dict[Frame, list[Node]]:
    """Return the nodes of each V1 loop, nodes of inner loops included."""
    members: dict[Frame, list[Node]] = {}
    for node in order:
        frame = frames.get(node)
        while frame is not None:
            members.setdefault(frame, []).append(node)
            frame = frame.enclosing
    return members


def _symbols(spec: TensorSpec) -> set[str]:
    """Return the symbols in a tensor's shape and value."""
    shown = [*(spec.shape.dims or ()), *(spec.value.ravel().tolist() if spec.value is not None else ())]
    return {symbol for item in shown if isinstance(item, Dim) for symbol in item.symbols}


def _iteration(frame: Frame) -> str:
    """Return the symbol for the iteration of a V1 loop."""
    return f"iteration of {frame.name}"


def _back_edges(merge: Node) -> Iterator[Output]:
    return (value for value in merge.inputs if value.node.op in NEXT_ITERATION)


def _is_loop_variable(merge: Node) -> bool:
    """Return True for a Merge with a value from outside and a back edge; broken graphs may lack either."""
    return 0 < sum(1 for _ in _back_edges(merge)) < len(merge.inputs)


def _entering(merge: Node, inference: Estimate) -> TensorSpec:
    """Return the spec of a loop variable's initial value."""
    start = next(value for value in merge.inputs if value.node.op not in NEXT_ITERATION)
    return inference.specs[start.node.inputs[0] if start.node.op in ENTER else start]


def _variables(merges: Sequence[Node], loop: LoopCount) -> dict[Output, TensorSpec]:
    """Return the specs of a V1 loop's variables, inside and where they leave."""
    variables: dict[Output, TensorSpec] = {}
    for merge, spec, last in zip(merges, loop.growth.specs, loop.leaving()):
        variables[merge.output()] = spec
        switches = [node for node in merge.uses if node.op in SWITCH and node.inputs[0] == merge.output()]
        exits = [node for switch in switches for node in switch.uses if node.op in EXIT]
        variables |= {node.output(): last for node in exits}
    return variables


def _condition(frame: Frame, frames: Mapping[Node, Frame]) -> frozenset[Node]:
    """Return the nodes that a loop's LoopCond needs in each iteration."""

    def sources(node: Node) -> Iterator[Node]:
        inside = (value.node for value in node.inputs if frames.get(value.node) is frame)
        return (source for source in inside if source.op not in (*ENTER, *NEXT_ITERATION))

    return frozenset(closure((node for node in frame.nodes if node.is_loop_condition), sources))
