"""Which nodes of a loop compute the same in every iteration, and whether they may run where they would not have run."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...control_flow.copies import is_transparent
from ...functions.call_kinds import CALL_KINDS
from ...functions.purity import impurity
from ...graph.graph import Graph, Node, Output
from ...graph.traversal import trail_end
from ...inference.inference import Inference
from ...registry.op_facts import has_fact
from ...types.dtypes import resource, variant
from ...types.shapes import Shape


class Invariants:
    """The values of a loop that are the same in every iteration, and the pure nodes that give them.

    `obstacle` says why a node has to stay although its inputs are invariant, or None; `refuse` is told.
    """

    def __init__(self, obstacle: Callable[[Node], str | None], refuse: Callable[[Node, str], None]) -> None:
        self._obstacle = obstacle
        self._refuse = refuse
        self._waits: dict[Output, tuple[Node, ...]] = {}
        self._copies: dict[Output, Output] = {}
        self.nodes: dict[Node, tuple[Node, ...]] = {}
        """The nodes that may leave the loop, inputs first, and what in the loop each waits for."""

    def add(self, value: Output, waits: Iterable[Node] = ()) -> None:
        """State that a value is invariant, and what in the loop it waits for."""
        self._waits[value] = tuple(waits)

    def consider(self, node: Node) -> None:
        """Note the node where its inputs are invariant and nothing is in the way. What only constants lead to is not moved."""
        if node.is_constant:
            self.add(node.output(), self._controls(node))
            return
        if any(value not in self._waits for value in node.inputs) or all(v.node.is_constant for v in node.inputs):
            return
        waits = dict.fromkeys([*self._controls(node), *(w for value in node.inputs for w in self._waits[value])])
        if is_transparent(node):
            self._copies[node.output()] = self.original(node.inputs[0])
        elif (reason := self._obstacle(node)) is not None:
            self._refuse(node, reason)
            return
        else:
            self.nodes[node] = tuple(waits)
        for output in node.outputs():
            self.add(output, waits)

    def original(self, value: Output) -> Output:
        """The invariant value that `value` is a copy of."""
        return self._copies.get(value, value)

    def sources(self, node: Node) -> list[Output]:
        """What a node's inputs are copies of."""
        return [self.original(value) for value in node.inputs]

    def worthwhile(self) -> dict[Node, tuple[Node, ...]]:
        """The nodes to move: those that compute something, what they need, and what only hands on what they give."""
        chosen: set[Node] = set()
        for node in self.nodes:
            if not is_idle(node) or any(value.node in chosen for value in self.sources(node)):
                chosen.add(node)
        for node in reversed(self.nodes):
            if node in chosen:
                chosen |= {value.node for value in self.sources(node)}
        return {node: waits for node, waits in self.nodes.items() if node in chosen}

    def _controls(self, node: Node) -> list[Node]:
        """What a node's control inputs are, or wait for where they are invariant themselves."""
        return [wait for control in node.control_inputs for wait in self.nodes.get(control, (control,))]


def is_idle(node: Node) -> bool:
    """True for a node that only hands its input on, whole or as its shape."""
    return has_fact(node.op, "forwarding") or has_fact(node.op, "view")


def passed_on(value: Output) -> Output:
    """The value that `value` is a copy of, past nodes that only pass it on."""
    return trail_end(value, _before)


def _before(value: Output) -> Output | None:
    node = value.node
    return node.inputs[0] if is_transparent(node) and not is_reference(node.inputs[0]) else None


def is_reference(value: Output) -> bool:
    return value.dtype is not None and value.dtype.is_ref


def bound_to_loop(graph: Graph, node: Node) -> str | None:
    """Why a node with invariant inputs may still give another result in each iteration, or not leave its place."""
    if any(dtype.base in (resource, variant) for dtype in node.output_dtypes):
        return "it gives a handle"
    return impurity(graph, node)


def may_fail(node: Node, inference: Inference) -> str | None:
    """Why a node may fail on inputs that are there, or None where it cannot: then it may run though nobody needs it."""
    if node.op in CALL_KINDS:
        return "the function it calls may fail"
    if node.name in inference.reasons or not (has_fact(node.op, "total") or _is_safe_elementwise(node)):
        return "it may fail"
    inputs = [_shape(inference, value) for value in node.inputs]
    tensors = {shape for shape in inputs if shape.rank != 0}
    is_elementwise = has_fact(node.op, "elementwise")
    if is_elementwise and (len(inputs) == 1 or (len(tensors) <= 1 and all(shape.dims is not None for shape in tensors))):
        return None
    is_known = all(shape.is_known for shape in (*inputs, *(_shape(inference, value) for value in node.outputs())))
    return None if is_known else "the shapes of its inputs are not known to fit"


def _is_safe_elementwise(node: Node) -> bool:
    """True for elementwise ops on numbers, without those on whole numbers, among which division is."""
    dtypes = [*node.output_dtypes, *(value.dtype for value in node.inputs)]
    is_numeric = all(dtype is not None and not dtype.is_object for dtype in dtypes)
    is_elementwise = has_fact(node.op, "elementwise") and not has_fact(node.op, "forwarding")
    return is_numeric and is_elementwise and not any(dtype.is_integer for dtype in node.output_dtypes)


def _shape(inference: Inference, value: Output) -> Shape:
    return inference.specs[value].shape if value in inference.specs else Shape()
