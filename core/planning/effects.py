"""Effects of a run's nodes on state: reads and writes of variables, tables and iterators, and draws of random ops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from ..graph.call_kinds import CALL_KINDS, call_kind
from ..graph.frames import ENTER, EXIT, LOOP_OPS, MERGE, NEXT_ITERATION, SWITCH
from ..graph.graph import Function, Graph, Node, Output
from ..graph.instantiation import with_attrs
from ..graph.references import (
    dereferenced_inputs,
    held_references,
    memory_of_variables,
    memory_outputs,
    referenced_variables,
    written_variables,
)
from ..graph.traversal import nodes_of_kinds, trail_ends
from ..registry.catalog import CATALOG
from ..registry.op_facts import NodeKinds, has_fact
from ..support import dataclasses
from ..support.grouping import grouped
from ..types.dtypes import resource
from ..types.tensors import FuncRef

READ: Final = "reads"
WRITE: Final = "writes"
DRAW: Final = "draws"

_PASSING: Final = frozenset({*ENTER, *EXIT, *MERGE, *NEXT_ITERATION, *SWITCH})


@dataclasses.dataclass(frozen=True, slots=True)
class State:
    """A state that nodes read and write: a variable, table or iterator by container and name, or a random op's generator."""

    container: str
    name: str


@dataclasses.dataclass(frozen=True, slots=True)
class Access:
    """An access of a node to a state: a read, a write or a draw; `through` is the node inside a called function, if any."""

    node: Node
    kind: str
    state: State
    through: Node | None = None

    @property
    def words(self) -> str:
        """The access as a phrase that follows the node's name."""
        place = f" (by '{self.through.name}' in a called function)" if self.through is not None else ""
        return f"{self.kind} '{self.state.name}'{place}" if self.kind != DRAW else f"draws random numbers{place}"


def accesses(graph: Graph, nodes: Sequence[Node], fed: frozenset[Output] = frozenset()) -> list[Access]:
    """Return the accesses of `nodes` to variables, tables, iterators and random generators.

    The order is topological but for back edges. A value that is a reference variable's own memory counts as read where the
    value is used.
    """
    return _Effects(graph, fed).of(nodes)


Looked: TypeAlias = dict[str, tuple[Function, int] | None]
"""Functions of a library by name, with the number of edits of their bodies; None for a missing function."""


@dataclasses.dataclass(frozen=True, slots=True)
class _FunctionEffects:
    """The accesses of a function, valid while the inspected functions stay the same."""

    accesses: list[Access]
    looked_at: Looked

    def holds(self, functions: Mapping[str, Function]) -> bool:
        return all(_looked(functions, name) == seen for name, seen in self.looked_at.items())


def _looked(functions: Mapping[str, Function], name: str) -> tuple[Function, int] | None:
    function = functions.get(name)
    return None if function is None else (function.pattern, function.pattern.body.edits)


class _Effects:
    """The facts about a graph's nodes, collected in a single pass."""

    def __init__(self, graph: Graph, fed: frozenset[Output]) -> None:
        self.graph = graph
        self.fed = fed
        self.memory: dict[Output, tuple[Node, ...]] = {}
        self.handles: dict[Output, Output] = {}
        self.references: dict[Output, Output] = {}
        self.active: frozenset[str] = frozenset()
        self.bodies: dict[Function, _FunctionEffects] = {}
        self.looked_at: Looked = {}
        """The functions from which the accesses follow."""
        self.called_again: set[str] = set()
        """The functions of `active` that are called again: the accesses are collected up to these recursive calls."""

    def of(self, nodes: Sequence[Node]) -> list[Access]:
        self.memory = memory_of_variables(nodes, self.fed)
        touching = _nodes_touching_state(nodes, {value.node for value in self.fed if value.node.is_argument})
        # A node that takes a variable by two inputs accesses it once.
        return [access for node in nodes if node in touching for access in dict.fromkeys(self.of_node(node))]

    def of_node(self, node: Node) -> Iterator[Access]:
        if node.op in CALL_KINDS or node.op_def is None:
            yield from self.of_call(node)
            return
        yield from (Access(node, WRITE, state_of(owner)) for owner in written_variables(node, self.references))
        yield from self.reads_of_memory(node)
        yield from self.of_handles(node)
        # Without seeds TensorFlow draws by chance, so no order of the draws can be asked for.
        if has_fact(node.op, "random") and is_seeded(node):
            yield Access(node, DRAW, State("", node.name))

    def reads_of_memory(self, node: Node) -> Iterator[Access]:
        """Yield reads of reference variables, directly or through values that are their memory."""
        if has_fact(node.op, "metadata") or has_fact(node.op, "fills_likewise"):
            return
        # A node that passes the memory on reads nothing: the reader behind it does, perhaps after a write.
        if (memory := memory_outputs(node)) and memory[0] in self.memory:
            return
        owners = [owner for value in node.inputs if value not in self.fed for owner in self.memory.get(value, ())]
        for value in self.references_read(node):
            owners += referenced_variables(value, self.references)
        yield from (Access(node, READ, state_of(owner)) for owner in dict.fromkeys(owners))

    def references_read(self, node: Node) -> list[Output]:
        """Return the references behind which a node reads: those of values, and those of tables that it looks into."""
        if node.op_def is None:
            return []
        # A node with a side effect writes what it holds, which `written_variables` has told.
        held = [] if has_fact(node.op, "side_effect") else held_references(node)
        values = [node.inputs[i] for i in dereferenced_inputs(node, node.op_def)]
        return [value for value in (*values, *held) if value not in self.fed]

    def of_handles(self, node: Node) -> Iterator[Access]:
        if node.op in _PASSING or has_fact(node.op, "metadata") or _hands_on(node.op):
            return
        for value in node.inputs:
            if value.dtype is resource and (value not in self.fed or value.node.is_argument):
                # A node that draws from a state behind a handle changes the state.
                writes = has_fact(node.op, "side_effect") or has_fact(node.op, "random")
                for owner in handle_owners(value, self.handles):
                    if has_fact(owner.op, "owns_state") or owner.is_argument:
                        yield Access(node, WRITE if writes else READ, state_of(owner))

    def of_call(self, node: Node) -> Iterator[Access]:
        """Yield the accesses of the functions that a node calls: to the node's arguments, and to states that the functions
        name.
        """
        kind = call_kind(self.graph.functions, node)
        if kind is None:
            return
        for reference in kind.references(node):
            function = self.graph.functions.get(reference.name)
            # A missing function is noted, too: adding it later must make the cached accesses invalid.
            self.looked_at[reference.name] = _looked(self.graph.functions, reference.name)
            # A recursive call adds no accesses but those that are collected already.
            if reference.name in self.active:
                self.called_again.add(reference.name)
                continue
            if function is None:
                continue
            body = function.pattern
            # The counter of a For comes from the op, and is no operand of the node.
            operands = dict(zip(map(state_of, body.args[kind.counters :]), kind.arguments(node.inputs)))
            for inner in self.of_body(body, reference):
                yield from self.seen_from_outside(node, inner, operands)

    def of_body(self, function: Function, reference: FuncRef) -> list[Access]:
        """Return the accesses of a called function, in terms of its own arguments."""
        effects: _FunctionEffects | None = self.bodies.get(function) or function.accesses
        if effects is None or not effects.holds(self.graph.functions):
            effects = self.looked_into(function, reference)
        # Kept for this walk, too: whether cached accesses hold is asked of all functions that they follow from.
        self.bodies[function] = effects
        self.looked_at |= effects.looked_at
        return effects.accesses

    def looked_into(self, function: Function, reference: FuncRef) -> _FunctionEffects:
        """Collect the accesses of a function, and cache them where they do not depend on the functions that call it."""
        inner = _Effects(self.graph, frozenset())
        inner.active = self.active | {reference.name}
        effects = _FunctionEffects(inner.of(list(with_attrs(function, reference).body)), inner.looked_at)
        outside = inner.called_again - {reference.name}
        self.called_again |= outside
        # Accesses that were collected up to a recursive call are incomplete, and serve this walk alone.
        if not outside:
            function.accesses = effects
        return effects

    def seen_from_outside(self, node: Node, inner: Access, operands: dict[State, Output]) -> Iterator[Access]:
        state = inner.state
        if state in operands:
            value = operands[state]
            is_state = value.dtype is resource and value not in self.fed
            states = [state_of(owner) for owner in handle_owners(value, self.handles)] if is_state else []
        else:
            # Each call of a function draws from streams of its own; variables that a function names are the same for all
            # calls.
            states = [State(node.name, state.name) if inner.kind == DRAW else state]
        yield from (Access(node, inner.kind, touched, inner.through or inner.node) for touched in states)


def may_touch_state(graph: Graph) -> bool:
    """Return False if no node touches state, as ops and dtypes alone tell of most graphs for inference; True of V1 loops."""
    kinds = {node.op: node for node in graph}.values()
    if any(kind.op in LOOP_OPS or _touches_state(kind) or _gives_state(kind) for kind in kinds):
        return True
    return any(dtype is resource or dtype.is_ref for dtypes in {node.output_dtypes for node in graph} for dtype in dtypes)


def _nodes_touching_state(nodes: Sequence[Node], arguments: Iterable[Node]) -> set[Node]:
    """Return the nodes that may touch state.

    Nodes touch state if they take references, handles or a variable's memory, draw random numbers, or call functions.
    `arguments` are the arguments of the function whose body this is, and are no part of `nodes`.
    """
    touching, giving, making = map(set, nodes_of_kinds(nodes, _touches_state, _gives_state, _may_make))
    # An op whose outputs may have any dtype hands a handle on; without inputs, it makes one.
    giving |= {node for node in making if not node.inputs and resource in node.output_dtypes}
    sources = {node for node in arguments if resource in node.output_dtypes}
    for node in nodes if giving or sources else ():
        is_taking = any(value.node in sources for value in node.inputs)
        if is_taking:
            touching.add(node)
        if node in giving or (is_taking and (bool(memory_outputs(node)) or _hands_on(node.op))):
            sources.add(node)
    return touching


def _hands_on(op: str) -> bool:
    """True for ops that return their inputs unchanged."""
    return has_fact(op, "forwarding") or has_fact(op, "passes_each_on")


def _touches_state(kind: NodeKinds) -> bool:
    """True for ops that draw random numbers or call functions."""
    return kind.op in CALL_KINDS or kind.op not in CATALOG or has_fact(kind.op, "random")


def _gives_state(kind: NodeKinds) -> bool:
    """True for ops with an output that may be a reference or a handle by the op's declaration."""
    definition = CATALOG.get(kind.op)
    return definition is None or any(arg.is_ref or arg.dtype is resource for arg in definition.outputs)


def _may_make(kind: NodeKinds) -> bool:
    """True for ops with an output that may be a handle by an attribute, and perhaps without inputs."""
    definition = CATALOG.get(kind.op)
    if definition is None or not all(arg.is_list for arg in definition.inputs):
        return False
    return any(arg.dtype is None for arg in definition.outputs)


def handle_owners(value: Output, trails: dict[Output, Output] | None = None) -> list[Node]:
    """Return the nodes that may have made a resource handle; `trails` caches the results of `trail_end`."""
    return [end.node for end in trail_ends(value, _handles_before, trails)]


def _handles_before(value: Output) -> Sequence[Output]:
    node = value.node
    if node.op in CALL_KINDS or node.op_def is None:
        return ()
    if has_fact(node.op, "passes_each_on"):
        return (node.inputs[value.index],)
    taken = node.inputs if node.op in MERGE else node.inputs[:1]
    return [handle for handle in taken if handle.dtype is resource]


def state_of(owner: Node) -> State:
    """Return the state that a variable's, table's or iterator's node owns, by the shared name where there is one."""
    if owner.is_argument:
        return State("argument", owner.name)
    return State(owner.text_attr("container"), owner.text_attr("shared_name") or owner.name)


def is_seeded(node: Node) -> bool:
    """True if a random op's draws are the same in every session."""
    return bool(node.attr("seed", 0) or node.attr("seed2", 0)) and not any(v.dtype is resource for v in node.inputs)


def contested(accesses: Iterable[Access]) -> dict[State, list[Access]]:
    """Return the states with writes or draws, with all accesses to them."""
    by_state = grouped((access.state, access) for access in accesses)
    return {state: every for state, every in by_state.items() if any(access.kind != READ for access in every)}
