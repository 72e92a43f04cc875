"""Cleanup of a model before writing: equal operations are merged, dead ones removed, and transposes cancelled; operations
that only a branch needs sink into the branch.
"""

from __future__ import annotations

import collections
import heapq
from collections import ChainMap
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from .blocks import Block, Operation, Value
from .emitter import Emitter


def tidy(g: Emitter) -> None:
    """Clean up the open block: remove duplicates and dead operations, cancel transposes, sink into branches, separate
    outputs.
    """
    drop_unused(g.block)
    _share(g.block, ChainMap(), ChainMap())
    _cancel_transposes(g, g.block)
    # Transposes that have moved may be equal now.
    _share(g.block, ChainMap(), ChainMap())
    drop_unused(g.block)
    # Operations sink after the last removal, because an operation that nobody needs would keep others from sinking.
    _sink(g.block)
    _own_outputs(g.block)


def drop_unused(block: Block) -> None:
    """Remove operations whose results nobody reads."""
    used = set(block.outputs)
    live = []
    for operation in reversed(block.operations):
        if used.isdisjoint(operation.outputs):
            continue
        for inner in operation.blocks:
            drop_unused(inner)
        used.update(operation.values())
        live.append(operation)
    block.operations = live[::-1]


def _share(block: Block, known: ChainMap[Hashable, list[Value]], renamed: ChainMap[Value, Value]) -> None:
    """Merge equal operations, in the block and in nested blocks."""
    # A nested block may read what the blocks around it made, but not the other way round.
    shared, same = known.new_child(), renamed.new_child()
    unique = []
    for operation in block.operations:
        operation.inputs = [same.get(value, value) if value is not None else None for value in operation.inputs]
        for inner in operation.blocks:
            _share(inner, shared, same)
        if operation.op == "Identity" and operation.inputs[0] is not None:
            same[operation.outputs[0]] = operation.inputs[0]
            continue
        key = _key(operation)
        before = shared.get(key) if key is not None else None
        if before is not None:
            same.update(zip(operation.outputs, before))
            continue
        if key is not None:
            shared[key] = operation.outputs
        unique.append(operation)
    block.operations = unique
    block.outputs = [same.get(value, value) for value in block.outputs]


def _key(operation: Operation) -> Hashable | None:
    """Return a key that operations with equal results share; None for operations with blocks."""
    if operation.blocks:
        return None
    return operation.op, tuple(map(id, operation.inputs)), tuple(sorted((k, _plain(v)) for k, v in operation.attrs.items()))


def _plain(value: Any) -> str:
    return f"{value.dtype} {value.tolist()}" if isinstance(value, np.ndarray) else repr(value)


def _sink(block: Block) -> None:
    """Move operations that only a single branch of an If reads into the branch, to run only where the branch is taken."""
    uses = collections.Counter(block.values())
    makers = {value: place for place, operation in enumerate(block.operations) for value in operation.outputs}
    for operation in reversed(block.operations):
        if operation.op == "If":
            for branch in operation.blocks:
                _sink_into(branch, block, makers, uses)
    block.operations = [operation for operation in block.operations if operation.outputs]
    for operation in block.operations:
        for inner in operation.blocks:
            _sink(inner)


def _sink_into(branch: Block, block: Block, makers: Mapping[Value, int], uses: Mapping[Value, int]) -> None:
    """Move operations that only the branch reads from a block, the last first; `makers` are their places."""
    inside: collections.Counter[Value] = collections.Counter()
    pending: list[int] = []  # a heap of places, the last one first
    moved: list[Operation] = []

    def take(values: Iterable[Value]) -> None:
        for value in values:
            if value not in inside and value in makers:
                heapq.heappush(pending, -makers[value])
            inside[value] += 1

    take(branch.values())
    while pending:
        place = -heapq.heappop(pending)
        operation = block.operations[place]
        # `uses` counts the whole block: a single reader elsewhere keeps an operation where it is.
        if operation.outputs and all(inside[value] == uses[value] for value in operation.outputs):
            take(operation.values())
            moved.append(operation)
            block.operations[place] = Operation("", [], [])
    branch.operations[:0] = moved[::-1]


def _own_outputs(block: Block) -> None:
    """Make each output of a block in the block, and for that output alone."""
    # ONNX names the outputs of a block by the values made there: a value from outside, or the same value twice, has no name to
    # give.
    made = {value for operation in block.operations for value in operation.outputs}
    for i, value in enumerate(block.outputs):
        if value not in made:
            copy = Value(value.dtype, value.shape)
            block.operations.append(Operation("Identity", [value], [copy]))
            block.outputs[i] = copy
        made.discard(value)
    for operation in block.operations:
        for inner in operation.blocks:
            _own_outputs(inner)


# Transposes move down through elementwise operators until two that undo each other meet.

_ELEMENTWISE: Final = frozenset((
    "Add", "Sub", "Mul", "Div", "Pow", "Mod", "Max", "Min", "Abs", "Neg", "Sign", "Ceil", "Floor", "Round", "Sqrt", "Exp",
    "Log", "Reciprocal", "Tanh", "Erf", "Sigmoid", "Softplus", "Softsign", "Relu", "Elu", "Selu", "LeakyRelu", "Gelu",
    "HardSigmoid", "HardSwish", "Identity", "Cast", "Clip", "Where", "Not", "Equal", "Less", "Greater", "And", "Or",
))  # fmt: skip
_REDUCING: Final = frozenset(["ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd"])
_Perm = tuple[int, ...]


def _cancel_transposes(g: Emitter, block: Block) -> None:
    """Sweep once over the operations of a block and of nested blocks."""
    sweep = _Sweep(g)
    around, g.block = g.block, Block()
    for operation in block.operations:
        g.source = operation.source
        sweep.take(operation)
    block.outputs = [sweep.now(value) for value in block.outputs]
    block.operations = g.block.operations
    g.block = around


class _Sweep:
    """A sweep: `moved` maps values to the transpose of another value that they equal, `placed` holds the transposes
    emitted.
    """

    def __init__(self, g: Emitter) -> None:
        self.g = g
        self.moved: dict[Value, tuple[Value, _Perm]] = {}
        self.placed: dict[tuple[Value, _Perm], Value] = {}

    def now(self, value: Value) -> Value:
        """Return a value with the elements of `value` in place; the transpose is emitted where needed."""
        moved = self.moved.get(value)
        if moved is None:
            return value
        source, perm = moved
        if list(perm) == sorted(perm):
            return source
        if moved not in self.placed:
            self.place("Transpose", source, value, {"perm": list(perm)})
            self.placed[moved] = value
        return self.placed[moved]

    def pin(self, value: Value) -> None:
        """Emit `value` itself, for a nested block that reads the value."""
        made = self.now(value)
        if made is not value:
            self.place("Identity", made, value, {})
            del self.moved[value]

    def place(self, op: str, source: Value, value: Value, attrs: dict[str, Any]) -> None:
        self.g.block.operations.append(Operation(op, [source], [value], attrs, self.g.source))

    def take(self, operation: Operation) -> None:
        value = operation.inputs[0] if operation.inputs else None
        if operation.op == "Transpose" and value is not None:
            source, perm = self.moved.get(value, (value, None))
            own = tuple(operation.attrs["perm"])
            self.moved[operation.outputs[0]] = source, own if perm is None else tuple(perm[axis] for axis in own)
        elif not (operation.op in _ELEMENTWISE and self.elementwise(operation)) and not self.other(operation):
            self.keep(operation)

    def keep(self, operation: Operation) -> None:
        """Keep an operation, with inputs in their original layout."""
        operation.inputs = [None if value is None else self.now(value) for value in operation.inputs]
        for block in operation.blocks:
            for value in dict.fromkeys(block.values()):
                self.pin(value)
            _cancel_transposes(self.g, block)
        self.g.block.operations.append(operation)

    def elementwise(self, operation: Operation) -> bool:
        """Compute on the untransposed values and transpose the result; False unless all inputs agree."""
        perms = {self.moved[value][1] for value in operation.inputs if value in self.moved}
        if len(perms) != 1:
            return False
        perm = perms.pop()
        inputs = [self.untransposed(value, perm) for value in operation.inputs]
        # An input that is not transposed alike would need a transpose of its own, and nothing would be gained.
        if any(a is None and b is not None for a, b in zip(inputs, operation.inputs)):
            return False
        self.emit(operation, inputs, perm)
        return True

    def emit(self, operation: Operation, inputs: Sequence[Value | None], perm: _Perm) -> None:
        """Emit an operation before the transpose that stood before the operation."""
        outputs = [Value(value.dtype) for value in operation.outputs]
        self.g.block.operations.append(Operation(operation.op, list(inputs), outputs, operation.attrs, operation.source))
        for old, new in zip(operation.outputs, outputs):
            self.moved[old] = new, perm

    def untransposed(self, value: Value | None, perm: _Perm) -> Value | None:
        """Return the value whose transpose by `perm` is `value`; None where that takes another transpose."""
        if value is None or value in self.moved:
            return None if value is None else self.moved[value][0]
        if value.rank == 0:
            return value
        if value.array is None or value.array.ndim > len(perm):
            return None
        # Constants are transposed here, at no cost in the run.
        array = value.array.reshape((1,) * (len(perm) - value.array.ndim) + value.array.shape)
        return self.g.constant(np.ascontiguousarray(np.transpose(array, np.argsort(perm))), value.dtype)

    def other(self, operation: Operation) -> bool:
        """Move a transpose past Concat, Pad and reductions that keep dimensions, with axes renumbered."""
        perms = {self.moved[value][1] if value in self.moved else None for value in operation.inputs[:1]}
        perm = next(iter(perms), None)
        if perm is None:
            return False
        if operation.op == "Concat":
            return self.concatenated(operation, perm)
        constant = operation.inputs[1] if len(operation.inputs) > 1 else None
        if constant is None or constant.array is None:
            return False
        if operation.op in _REDUCING and operation.attrs.get("keepdims", 1):
            axes = [perm[axis] for axis in constant.array]
        elif operation.op == "Pad" and constant.array.size == 2 * len(perm):
            places = np.argsort(perm)
            axes = [*constant.array[places], *constant.array[places + len(perm)]]
        else:
            return False
        source = self.moved[_first(operation)][0]
        self.emit(operation, [source, self.g.constant(np.array(axes, np.int64)), *operation.inputs[2:]], perm)
        return True

    def concatenated(self, operation: Operation, perm: _Perm) -> bool:
        if any(value not in self.moved or self.moved[value][1] != perm for value in operation.inputs):
            return False
        operation.attrs = {"axis": perm[operation.attrs["axis"]]}
        self.emit(operation, [self.moved[value][0] for value in operation.inputs if value is not None], perm)
        return True


def _first(operation: Operation) -> Value:
    first = operation.inputs[0]
    assert first is not None
    return first
