"""Cleanup of a model before writing: dead operations are removed, operations that only a branch needs sink into the branch."""

from __future__ import annotations

import collections
import heapq
from collections import ChainMap
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from .blocks import Block, Operation, Value
from .emitter import Emitter
from .transposes import cancel_transposes


def tidy(g: Emitter) -> None:
    """Clean up the open block: remove duplicates and dead operations, cancel transposes, sink into branches, separate
    outputs.
    """
    drop_unused(g.block)
    _share(g.block, ChainMap(), ChainMap())
    cancel_transposes(g, g.block)
    _share(g.block, ChainMap(), ChainMap())
    drop_unused(g.block)
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


def _uses(values: Iterable[Value]) -> collections.Counter[Value]:
    return collections.Counter(values)


def _sink(block: Block) -> None:
    """Move operations that only a single branch of an If reads into the branch, to run only where the branch is taken."""
    uses = _uses(block.values())
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
        if operation.outputs and all(inside[value] == uses[value] for value in operation.outputs):
            take(operation.values())
            moved.append(operation)
            block.operations[place] = Operation("", [], [])
    branch.operations[:0] = moved[::-1]


def _own_outputs(block: Block) -> None:
    """Make each output of a block in the block, and for that output alone."""
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
