"""How often the loops of a count run, and what their variables are in each iteration."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from ..control_flow.conditions import ENTER, EXIT, MERGE, NEXT_ITERATION, SWITCH, Frame
from ..dims import Dim, DimLike
from ..errors import InvalidArgumentError
from ..functions.call_signatures import Signatures, renamed, signature_of
from ..functions.instantiation import instantiate
from ..graph import Function, Graph, Node, Output
from ..inference import Inference, Specs, container_of, infer_again
from ..registry import Cost
from ..shapes import TensorSpec, substituted
from ..traversal import topological_order
from .growth import Growth, find_growth, summed, while_growth
from .report import NodeCost
from .symbols import Symbols
from .trips import frame_trips, while_trips

Known = Mapping[Output, TensorSpec]


@dataclasses.dataclass(frozen=True, slots=True)
class Loop:
    """A loop: its iterations, and its variables in each of them."""

    name: str
    rounds: DimLike
    growth: Growth
    condition: frozenset[Node] = frozenset()
    """The nodes of a V1 loop that decide whether it goes on, which run once more than the others."""

    def repeated(self, costs: Iterable[NodeCost], more: int = 0) -> list[NodeCost]:
        """The costs of nodes in all iterations together; `more` of them for a condition, which is asked once again."""
        return [_in_all(cost, self.growth.symbol, self.rounds + more, self.name) for cost in costs]

    def leaving(self) -> list[TensorSpec]:
        """The specs of the variables behind the loop."""
        return self.growth.after(self.rounds)


@dataclasses.dataclass(frozen=True, slots=True)
class _Changing(Inference):
    """An inference that takes in what is derived anew."""

    specs: Specs
    reasons: dict[str, str]


class Loops:
    """The loops of one count."""

    def __init__(self, functions: Mapping[str, Function], given: Mapping[str, int], symbols: Symbols) -> None:
        self._functions = functions
        self._given = given
        self._symbols = symbols
        self._derived: set[str] = set()
        self._met: set[str] = set()
        self._active: set[str] = set()
        self._growths: dict[Hashable, tuple[list[str], Growth]] = {}
        self._signatures = Signatures()

    def note(self, loop: Loop) -> Iterator[str]:
        """What to say of the iterations of a loop, which is nothing where they are a symbol."""
        if self._given_rounds(loop.name) is not None:
            yield f"loop {loop.name}: {loop.rounds} iterations as given"
        elif loop.name in self._derived:
            yield f"loop {loop.name}: {loop.rounds} iterations, derived from its condition"

    def require_used(self) -> None:
        """InvalidArgumentError where the user says something of a loop that there is not."""
        ends = {end for name in self._met for end in _ends(name)}
        for name in self._given:
            if name not in ends:
                listed = ", ".join(sorted(self._met)) or "none"
                raise InvalidArgumentError(f"there is no loop '{name}'", hint=f"loops: {listed}")

    def rounds(self, name: str, owner: object, derived: DimLike | None) -> DimLike:
        """What the user says, what the graph says, or a symbol."""
        self._met.add(name)
        given = self._given_rounds(name)
        if given is not None:
            return given
        if derived is not None:
            self._derived.add(name)
            return max(derived, 0) if isinstance(derived, int) else derived
        text = f"the iterations of loop {name}; --trips {{}}=NUMBER sets them"
        return self._symbols.claim("trips[{}]", name.rstrip("/"), owner, text)

    def _given_rounds(self, name: str) -> int | None:
        """What the user says of a loop, whom the longest end of its name that was given means."""
        return next((self._given[end] for end in _ends(name) if end in self._given), None)

    def rule(self, node: Node, entering: Sequence[TensorSpec]) -> Sequence[TensorSpec] | None:
        """What a While returns, for inference; None where its body cannot be told."""
        name = node.attr("body").name
        if name not in self._functions or name in self._active or self._signatures.is_full(name):
            return None
        self._active.add(name)
        try:
            return self.of_while(node, entering).leaving()
        finally:
            self._active.discard(name)

    def even(self, name: str, rounds: DimLike) -> Loop:
        """A loop whose iterations are all alike."""
        return Loop(name, rounds, Growth("", ()))

    def of_while(self, node: Node, entering: Sequence[TensorSpec]) -> Loop:
        """The loop of a While whose variables start with the specs `entering`."""
        rounds = self.rounds(node.name, node, while_trips(self._functions, node, entering))
        return Loop(node.name, rounds, self._while_growth(node, entering))

    def _while_growth(self, node: Node, entering: Sequence[TensorSpec]) -> Growth:
        """How its variables change: looked into once for specs that are alike, or loops in loops would take 2^depth looks."""
        reference = node.attr("body")
        arguments, unnamed = signature_of(entering)
        key = (node.name, repr(reference), arguments)
        if key not in self._growths:
            self._signatures.add(reference.name)
            body = self._functions[reference.name]
            if body.signature.attrs:
                body = instantiate(body, reference.attrs)
            growth = while_growth(body, entering, f"iteration of {node.name}", self._functions, self.rule)
            self._growths[key] = unnamed, growth
        before, found = self._growths[key]
        return Growth(found.symbol, renamed(found.specs, before, unnamed))

    def of_frames(
        self, graph: Graph, inference: Inference, known: Known, frames: Mapping[Node, Frame]
    ) -> tuple[Inference, dict[Frame, Loop]]:
        """The V1 loops of a graph, and its inference with what they say of their variables and of what leaves them."""
        order = {node: place for place, node in enumerate(topological_order(graph))}
        loops: dict[Frame, Loop] = {}
        found = dict(known)
        current = _Changing(Specs(inference.specs), dict(inference.reasons))
        within = _within(order, frames)
        for frame in sorted(within, key=lambda frame: frame.depth):
            merges = [node for node in frame.with_op(MERGE) if _is_loop_variable(node)]
            inside = within[frame]
            growth = self._frame_growth(merges, inside, current, found, _iteration(frame))
            rounds = self.rounds(frame.name, frame.name, frame_trips(frame, current))
            loops[frame] = loop = Loop(frame.name, rounds, growth, _condition(frame, frames))
            _add_new(found, _variables(merges, loop))
            if not self._update(current, _with_containers(inside, order), found):
                continue
            behind = _behind(order, inside)
            self._update(current, behind, found)
            handed_over = _handed_over(behind, current, frame, loop, frames)
            if handed_over:
                _add_new(found, handed_over)
                self._update(current, behind, found)
        return current, loops

    def _update(self, current: _Changing, nodes: Sequence[Node], known: Known) -> bool:
        """Derive the specs of nodes anew; True where others take what is now another one."""
        again = infer_again(nodes, current, known, self._functions, self.rule)
        anew = set(nodes)
        taken = [value for node in nodes if not anew.issuperset(node.uses) for value in node.outputs()]
        is_other = any(signature_of([current.specs[value]]) != signature_of([again.specs[value]]) for value in taken)
        for node in nodes:
            current.reasons.pop(node.name, None)
        current.specs.update(again.specs)
        current.reasons.update(again.reasons)
        return is_other

    def _frame_growth(
        self, merges: Sequence[Node], inside: Sequence[Node], inference: Inference, known: Known, symbol: str
    ) -> Growth:
        backs = [next(_back_edges(merge)) for merge in merges]
        fixed = {value: known[value] for node in inside for value in node.outputs() if value in known}

        def advance(specs: Sequence[TensorSpec]) -> list[TensorSpec]:
            assumed = {**dict(zip((merge.output() for merge in merges), specs)), **fixed}
            again = infer_again(inside, inference, assumed, self._functions, self.rule)
            return [again.specs[back.node.inputs[0]] for back in backs]

        return find_growth([_entering(merge, inference) for merge in merges], advance, symbol)


def _add_new(known: dict[Output, TensorSpec], more: Known) -> None:
    """Take in what is not known yet."""
    for output, spec in more.items():
        known.setdefault(output, spec)


def _within(order: Iterable[Node], frames: Mapping[Node, Frame]) -> dict[Frame, list[Node]]:
    """The nodes of each V1 loop, those of loops in it too."""
    found: dict[Frame, list[Node]] = {}
    for node in order:
        frame = frames.get(node)
        while frame is not None:
            found.setdefault(frame, []).append(node)
            frame = frame.enclosing
    return found


def _with_containers(loop: Sequence[Node], order: Mapping[Node, int]) -> list[Node]:
    """A V1 loop's nodes and the containers that it fills, in topological order."""
    filled = (node for writer in loop if (node := container_of(writer)) is not None)
    return sorted(dict.fromkeys((*loop, *filled)), key=order.__getitem__)


def _behind(order: Mapping[Node, int], loop: Sequence[Node]) -> list[Node]:
    """A V1 loop's nodes, the containers that it fills, and all that comes behind them."""
    found = set(_with_containers(loop, order))
    stack = list(found)
    while stack:
        users = [user for user in stack.pop().uses if user not in found]
        found.update(users)
        stack += users
    return sorted(found, key=order.__getitem__)


def _in_all(node: NodeCost, symbol: str, rounds: DimLike, loop: str) -> NodeCost:
    """The cost of a node in the iterations 0 to `rounds` - 1 together."""
    values = (node.cost.flops, node.cost.macs, node.cost.transcendentals, node.bytes, node.times)
    sums = [total for value in values if (total := summed(value, symbol, rounds)) is not None]
    if len(sums) < len(values) or _is_anonymous(sums) > _is_anonymous(values):
        reason = f"no formula says what it costs in the {rounds} iterations of loop {loop} together; --trips gives a number"
        return dataclasses.replace(node, cost=Cost(), bytes=0, reason=reason)
    *cost, moved, times = sums
    return dataclasses.replace(node, cost=Cost(*cost), bytes=moved, times=times)


def _is_anonymous(values: Iterable[DimLike]) -> bool:
    return any(isinstance(value, Dim) and value.is_anonymous for value in values)


def _symbols(spec: TensorSpec) -> set[str]:
    """The symbols in a tensor's shape and value."""
    shown = [*(spec.shape.dims or ()), *(spec.value.ravel().tolist() if spec.value is not None else ())]
    return {symbol for item in shown if isinstance(item, Dim) for symbol in item.symbols}


def _iteration(frame: Frame) -> str:
    """The symbol for the iteration of a V1 loop."""
    return f"iteration of {frame.name}"


def _back_edges(merge: Node) -> Iterator[Output]:
    return (value for value in merge.inputs if value.node.op in NEXT_ITERATION)


def _is_loop_variable(merge: Node) -> bool:
    """True for a Merge of what enters a loop and what comes back; graphs that are only looked at may lack either."""
    return 0 < sum(1 for _ in _back_edges(merge)) < len(merge.inputs)


def _entering(merge: Node, inference: Inference) -> TensorSpec:
    """The spec of what a loop variable starts with."""
    start = next(value for value in merge.inputs if value.node.op not in NEXT_ITERATION)
    return inference.specs[start.node.inputs[0] if start.node.op in ENTER else start]


def _variables(merges: Sequence[Node], loop: Loop) -> dict[Output, TensorSpec]:
    """The specs of a V1 loop's variables, inside and where they leave."""
    found: dict[Output, TensorSpec] = {}
    for merge, spec, last in zip(merges, loop.growth.specs, loop.leaving()):
        found[merge.output()] = spec
        switches = [node for node in merge.uses if node.op in SWITCH and node.inputs[0] == merge.output()]
        exits = [node for switch in switches for node in switch.uses if node.op in EXIT]
        found |= {node.output(): last for node in exits}
    return found


def _condition(frame: Frame, frames: Mapping[Node, Frame]) -> frozenset[Node]:
    """What a loop's LoopCond needs of each iteration."""
    pending = [node for node in frame.nodes if node.is_loop_condition]
    found = set(pending)
    while pending:
        sources = {value.node for value in pending.pop().inputs if value.node.op not in (*ENTER, *NEXT_ITERATION)}
        more = [source for source in sources - found if frames.get(source) is frame]
        found.update(more)
        pending += more
    return frozenset(found)


def _handed_over(
    order: Sequence[Node], inference: Inference, frame: Frame, loop: Loop, frames: Mapping[Node, Frame]
) -> dict[Output, TensorSpec]:
    """What nodes outside a loop take from a stack or an array that its iterations filled with tensors of growing shapes.

    A loop that pops takes the last first: in its own iteration i what was pushed in iteration rounds - 1 - i. Of anything
    else that is read, the growing dimensions are unknown.
    """
    symbol = loop.growth.symbol
    found: dict[Output, TensorSpec] = {}
    for node in order:
        home = frames.get(node)
        if node.op in EXIT or (home is not None and home.is_inside(frame)):
            continue
        if any(symbol in _symbols(inference.specs[value]) for value in node.inputs):
            continue
        then: DimLike = Dim.unknown()
        if home is not None and node.op in ("StackPop", "StackPopV2"):
            then = loop.rounds - 1 - Dim.symbol(_iteration(home))
        outputs = [output for output in node.outputs() if symbol in _symbols(inference.specs[output])]
        found |= {output: substituted(inference.specs[output], {symbol: then}) for output in outputs}
    return found


def _ends(name: str) -> list[str]:
    """What a user may call a loop: its name, and the ends of its path, the longest first."""
    parts = name.rstrip("/").split("/")
    return [name, *("/".join(parts[i:]) for i in range(len(parts)))]
