"""Invariance of a loop's nodes in all iterations, and their safety where they would not have run."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...functions.call_kinds import CALL_KINDS
from ...functions.purity import impurity
from ...graph.frames import is_transparent
from ...graph.graph import Graph, Node, Output
from ...graph.traversal import trail_end
from ...inference.inference import Inference
from ...registry.op_facts import has_fact
from ...types.dtypes import resource, variant
from ...types.shapes import Shape


class Invariants:
    """The invariant values of a loop, and the pure nodes that compute them.

    `blocker` returns the reason why a node with invariant inputs has to stay, or None; `refuse` is called with the reason.
    """

    def __init__(self, blocker: Callable[[Node], str | None], refuse: Callable[[Node, str], None]) -> None:
        self._blocker = blocker
        self._refuse = refuse
        self._waits: dict[Output, tuple[Node, ...]] = {}
        self._copies: dict[Output, Output] = {}
        self.nodes: dict[Node, tuple[Node, ...]] = {}
        """The nodes that may leave the loop, in topological order, and the loop's nodes that each waits for."""

    def add(self, value: Output, waits: Iterable[Node] = ()) -> None:
        """Add an invariant value, and the loop's nodes that the value waits for."""
        self._waits[value] = tuple(waits)

    def consider(self, node: Node) -> None:
        """Add the node where all inputs are invariant and no blocker exists. Nodes with only constant inputs are left to
        folding.
        """
        if node.is_constant:
            self.add(node.output(), self._controls(node))
            return
        if any(value not in self._waits for value in node.inputs) or all(v.node.is_constant for v in node.inputs):
            return
        waits = dict.fromkeys([*self._controls(node), *(w for value in node.inputs for w in self._waits[value])])
        if is_transparent(node):
            self._copies[node.output()] = self.original(node.inputs[0])
        elif (reason := self._blocker(node)) is not None:
            self._refuse(node, reason)
            return
        else:
            self.nodes[node] = tuple(waits)
        for output in node.outputs():
            self.add(output, waits)

    def original(self, value: Output) -> Output:
        """Return the invariant value that `value` is a copy of."""
        return self._copies.get(value, value)

    def sources(self, node: Node) -> list[Output]:
        """Return the originals of a node's inputs."""
        return [self.original(value) for value in node.inputs]

    def worthwhile(self) -> dict[Node, tuple[Node, ...]]:
        """Return the nodes to move: nodes that compute, their inputs, and nodes that only pass their results on."""
        chosen: set[Node] = set()
        for node in self.nodes:
            # A view alone is free in each iteration, and moving it out costs another loop variable or Enter.
            if not is_idle(node) or any(value.node in chosen for value in self.sources(node)):
                chosen.add(node)
        # Backwards, so that a chosen node brings its sources along, and they theirs.
        for node in reversed(self.nodes):
            if node in chosen:
                chosen |= {value.node for value in self.sources(node)}
        return {node: waits for node, waits in self.nodes.items() if node in chosen}

    def _controls(self, node: Node) -> list[Node]:
        """Return a node's control inputs; an invariant control input is replaced by the nodes that the input waits for."""
        return [wait for control in node.control_inputs for wait in self.nodes.get(control, (control,))]


def is_idle(node: Node) -> bool:
    """Return True for a node that only passes the input on, whole or as a shape."""
    return has_fact(node.op, "forwarding") or has_fact(node.op, "view")


def passed_on(value: Output) -> Output:
    """Return the original of `value`, past nodes that only pass the value on."""
    return trail_end(value, _before)


def _before(value: Output) -> Output | None:
    node = value.node
    return node.inputs[0] if is_transparent(node) and not is_reference(node.inputs[0]) else None


def is_reference(value: Output) -> bool:
    return value.dtype is not None and value.dtype.is_ref


def bound_to_loop(graph: Graph, node: Node) -> str | None:
    """Return the reason why a node with invariant inputs may vary between iterations, or may not move."""
    # The object behind a handle may change although the handle does not.
    if any(dtype.base in (resource, variant) for dtype in node.output_dtypes):
        return "its output is a handle"
    return impurity(graph, node)


def may_fail(node: Node, inference: Inference) -> str | None:
    """Return the reason why a node may fail on valid inputs, or None for a total node, which may run speculatively."""
    if node.op in CALL_KINDS:
        return "the called function may fail"
    if node.name in inference.reasons or not (has_fact(node.op, "total") or _is_safe_elementwise(node)):
        return "it may fail"
    inputs = [_shape(inference, value) for value in node.inputs]
    tensors = {shape for shape in inputs if shape.rank != 0}
    is_elementwise = has_fact(node.op, "elementwise")
    # Equal shapes fit whatever their unknown sizes are. Scalars fit everything.
    if is_elementwise and (len(inputs) == 1 or (len(tensors) <= 1 and all(shape.dims is not None for shape in tensors))):
        return None
    is_known = all(shape.is_known for shape in (*inputs, *(_shape(inference, value) for value in node.outputs())))
    return None if is_known else "the shapes of its inputs may not match"


def _is_safe_elementwise(node: Node) -> bool:
    """Return True for elementwise ops on numbers, except on integers, where a division may fail."""
    dtypes = [*node.output_dtypes, *(value.dtype for value in node.inputs)]
    is_numeric = all(dtype is not None and not dtype.is_object for dtype in dtypes)
    is_elementwise = has_fact(node.op, "elementwise") and not has_fact(node.op, "forwarding")
    return is_numeric and is_elementwise and not any(dtype.is_integer for dtype in node.output_dtypes)


def _shape(inference: Inference, value: Output) -> Shape:
    return inference.specs[value].shape if value in inference.specs else Shape()
