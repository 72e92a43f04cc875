"""Batched execution of a plan for many values of an input: a hook that gives values a leading batch axis.

Steps that no batched value reaches run once. Elementwise ops and ops with a rule below take the whole batch in a single
call; any other op runs once for each member.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..control_flow.copies import is_transparent
from ..control_flow.frames import SWITCH
from ..graph.graph import Node
from ..registry.catalog import CATALOG
from ..registry.op_facts import has_fact
from ..runtime.state.edge_values import Batched, RunState, object_array
from ..support.errors import UnimplementedError

Call = Callable[..., Any]
Rule = Callable[[Node, Call, Sequence[Any]], Any]


class BatchHook:
    """An executor hook for a single run: steps with inputs of which some may be Batched.

    Values written into a TensorArray or pushed on a stack may be Batched; each member then has an array or stack of its
    own.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._members: dict[int, tuple[RunState, Batched]] = {}

    def __call__(self, node: Node, call: Call, inputs: Sequence[Any]) -> Any:
        inputs = _with_one_flow(node, inputs)
        is_batched = any(isinstance(value, Batched) for value in inputs)
        states = [state for value in inputs if (state := _state_behind(value)) is not None]
        if states and (is_batched or any(id(state) in self._members for state in states)):
            return _one_by_one(node, call, [self._parted(value) for value in inputs])
        if not is_batched:
            return call(*inputs)
        return self._rule(node, inputs)(node, call, inputs)

    def _rule(self, node: Node, inputs: Sequence[Any]) -> Rule:
        """Return the rule for a node; steps on lists and other objects run member by member."""
        if has_fact(node.op, "control_flow"):
            return _routed
        if any(isinstance(value, Batched) and value.values.dtype == object for value in inputs):
            return _forwarded if is_transparent(node) else _one_by_one
        return _RULES.get(node.op) or _rule_by_facts(node)

    def _parted(self, value: Any) -> Any:
        """Return the handles of the members' own states in the place of a handle; other values as they are."""
        state = _state_behind(value)
        if state is None:
            return value
        if id(state) not in self._members:
            copies = [state.copied(f"{state.name}/{i}") for i in range(self._size)]
            self._members[id(state)] = state, Batched(object_array(copies, (self._size,)))
        return self._members[id(state)][1]


def _with_one_flow(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """Return the inputs with a single member's flow: a flow only orders accesses to an array, so any member's will do."""
    if not inputs or not isinstance(inputs[-1], Batched):
        return inputs
    definition = CATALOG.get(node.op)
    if definition is None or definition.inputs[-1].name != "flow_in":
        return inputs
    return [*inputs[:-1], inputs[-1].values[0, ...]]


def _state_behind(value: Any) -> RunState | None:
    if not isinstance(value, np.ndarray) or value.dtype != object or value.size != 1:
        return None
    item = value.item()
    return item if isinstance(item, RunState) else None


def _rule_by_facts(node: Node) -> Rule:
    """Return the rule for a node by the facts of the op."""
    if is_transparent(node):
        return _forwarded
    if has_fact(node.op, "row_wise"):
        return _row_wise
    return _elementwise if has_fact(node.op, "elementwise") else _one_by_one


def _one_by_one(node: Node, call: Call, inputs: Sequence[Any]) -> Any:
    """Apply any op: a call for each member, results stacked."""
    size = next(len(value.values) for value in inputs if isinstance(value, Batched))
    results = [call(*(v.values[i, ...] if isinstance(v, Batched) else v for v in inputs)) for i in range(size)]
    return _stacked(results)


def _stacked(results: Sequence[Any]) -> Any:
    """Return the results of all members stacked, output by output; None where a step returns None."""
    if results[0] is None:
        return None
    if isinstance(results[0], (tuple, list)):
        return type(results[0])(map(_stacked, zip(*results)))
    return Batched(np.stack(results))


def _elementwise(node: Node, call: Call, inputs: Sequence[Any]) -> Any:
    """Batched inputs get the axes they lack between the batch axis and their own; all are broadcast, since not all ops do."""
    rank = max(value.rank if isinstance(value, Batched) else np.ndim(value) for value in inputs)
    return Batched(call(*np.broadcast_arrays(*(_aligned(value, rank) for value in inputs))))


def _aligned(value: Any, rank: int) -> Any:
    if not isinstance(value, Batched):
        return value
    size, *shape = value.values.shape
    return value.values.reshape(size, *[1] * (rank - len(shape)), *shape)


def _row_wise(node: Node, call: Call, inputs: Sequence[Any]) -> Any:
    """Join the batch with the rows of the first input: the op treats each row alike."""
    first, *others = inputs
    if not isinstance(first, Batched) or first.rank == 0 or any(isinstance(value, Batched) for value in others):
        return _one_by_one(node, call, inputs)
    size, rows, *rest = first.values.shape
    result = np.asarray(call(first.values.reshape(size * rows, *rest), *others))
    return Batched(result.reshape(size, rows, *result.shape[1:]))


def _forwarded(node: Node, call: Call, inputs: Sequence[Any]) -> Any:
    return inputs[0]


def _routed(node: Node, call: Call, inputs: Sequence[Any]) -> Any:
    """Route a whole batch into or out of a loop or a branch; the predicate must be the same for all members."""
    if node.op in SWITCH and isinstance(inputs[-1], Batched):
        raise UnimplementedError(
            "the predicate depends on the vectors of the batch",
            node=node.name,
            op=node.op,
            hint="multiply by a single vector at a time",
        )
    return call(*inputs)


def _matmul(node: Node, call: Call, inputs: Sequence[Any]) -> Any:
    """Multiply matrices; where only the left factor is batched the rows join into a tall matrix."""
    a, b = inputs
    flip_a, flip_b = (node.attr("transpose_a"), node.attr("transpose_b"))
    if isinstance(a, Batched) and not isinstance(b, Batched) and not flip_a:
        size, rows, inner = a.values.shape
        right = b.T if flip_b else b
        return Batched((a.values.reshape(size * rows, inner) @ right).reshape(size, rows, right.shape[1]))
    left, right = (v.values if isinstance(v, Batched) else v for v in (a, b))
    return Batched(np.matmul(left.swapaxes(-1, -2) if flip_a else left, right.swapaxes(-1, -2) if flip_b else right))


def _reduction(node: Node, call: Call, inputs: Sequence[Any]) -> Any:
    """Return a reduction over fixed axes, counted from behind the batch axis."""
    value, axes = inputs
    if isinstance(axes, Batched):
        return _one_by_one(node, call, inputs)
    return Batched(np.asarray(call(value.values, np.asarray(axes) % max(value.rank, 1) + 1)))


def _reshape(node: Node, call: Call, inputs: Sequence[Any]) -> Any:
    value, shape = inputs
    if isinstance(shape, Batched):
        return _one_by_one(node, call, inputs)
    dims = call(np.empty(value.values.shape[1:], bool), shape).shape  # the op itself fills in a -1
    return Batched(value.values.reshape(len(value.values), *dims))


def _transpose(node: Node, call: Call, inputs: Sequence[Any]) -> Any:
    value, permutation = inputs
    if isinstance(permutation, Batched):
        return _one_by_one(node, call, inputs)
    return Batched(value.values.transpose(0, *(int(axis) + 1 for axis in permutation)))


def _conv2d_backprop_input(node: Node, call: Call, inputs: Sequence[Any]) -> Any:
    """Join the batch with the images: the op treats each image alike."""
    sizes, weights, grad = inputs
    if isinstance(weights, Batched) or isinstance(sizes, Batched):
        return _one_by_one(node, call, inputs)
    size, images, *rest = grad.values.shape
    joined = np.concatenate([np.asarray([size * images], np.asarray(sizes).dtype), np.asarray(sizes)[1:]])
    result = call(joined, weights, grad.values.reshape(size * images, *rest))
    return Batched(result.reshape(size, images, *result.shape[1:]))


_RULES: dict[str, Rule] = {
    "AddN": _elementwise,
    "MatMul": _matmul,
    "Sum": _reduction,
    "Mean": _reduction,
    "Max": _reduction,
    "Min": _reduction,
    "Prod": _reduction,
    "Reshape": _reshape,
    "Transpose": _transpose,
    "Conv2DBackpropInput": _conv2d_backprop_input,
}
