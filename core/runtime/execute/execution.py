"""Instructions run on slots: they call, store and release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...engines.protocol import Engined
from ...graph.graph import Node
from ...graph.traversal import descendants
from ...inference.node_calls import raise_from_kernel
from ...planning.plan import Loop, Step
from ...support.gc_control import rare_collection
from ..state.blocking import Wait
from ..state.edge_values import WouldBlock
from ..state.run_context import current
from ..steps.instructions import Instruction, released_slots


def execute(instructions: Sequence[Instruction], slots: list[Any]) -> None:
    """Run the instructions on the slots; an error names the failing node."""
    step: Step | None = None
    try:
        for kind, call, a, b, out, released, step in instructions:  # noqa: B007 - read by the handlers
            if kind == 2:
                slots[out] = call(slots[a], slots[b])
            elif kind == 1:
                slots[out] = call(slots[a])
            else:
                result = call(*[slots[i] for i in a])
                if out.__class__ is int:
                    slots[out] = result
                elif out:
                    for slot, value in zip(out, result):
                        slots[slot] = value
                result = value = None
            if released is not None:
                if released.__class__ is int:
                    slots[released] = None
                else:
                    for slot in released:
                        slots[slot] = None
    except WouldBlock:
        assert step is not None
        _execute_around(instructions, slots, step)
    except Exception as error:
        if step is not None:
            raise_from_kernel(error, step.node, [slots[i] for i in step.inputs])
        raise


@rare_collection()
def execute_measured(instructions: Sequence[Instruction], slots: list[Any]) -> int:
    """Run the instructions on the slots; return the number of elements of the largest result."""
    largest = 0
    for i, instruction in enumerate(instructions):
        try:
            _execute_one(instruction, slots)
        except WouldBlock:
            _execute_around(instructions[i:], slots, instruction[-1])
            return largest
        for slot in instruction[-1].outputs:
            value = slots[slot]
            if value.__class__ is np.ndarray and value.size > largest:
                largest = value.size
        for slot in released_slots(instruction):
            slots[slot] = None
    return largest


def _execute_around(instructions: Sequence[Instruction], slots: list[Any], first: Step) -> None:
    """Go on from step `first`, which would block: set the step and its dependents aside, and retry while other steps
    progress.
    """
    start = next(i for i, instruction in enumerate(instructions) if instruction[-1] is first)
    pending: Sequence[Instruction] = instructions[start:]
    deadline = current().deadline
    with Wait() as wait:
        while pending:
            waiting, reason = _attempt(pending, slots)
            if len(waiting) == len(pending):
                wait.for_change(deadline, reason, waiting[0][-1].node)
            pending = waiting


def _attempt(pending: Sequence[Instruction], slots: list[Any]) -> tuple[list[Instruction], str]:
    """Run the instructions that can run; return the instructions that have to wait, with the reason of the first."""
    waiting: list[Instruction] = []
    blocked: set[Node] = set()
    reason = ""
    for instruction in pending:
        step = instruction[-1]
        if blocked and not blocked.isdisjoint(_entries(step)):
            waiting.append(instruction)
            continue
        try:
            _execute_one(instruction, slots)
        except WouldBlock as signal:
            reason = reason or signal.reason
            waiting.append(instruction)
            blocked |= descendants(_entries(step))
    return waiting, reason


def _execute_one(instruction: Instruction, slots: list[Any]) -> None:
    """Run a single instruction; release nothing, since waiting instructions may read the slots."""
    _, call, _, _, out, _, step = instruction
    try:
        result = call(*[slots[i] for i in step.inputs + step.controls])
    except WouldBlock:
        raise
    except Exception as error:
        raise_from_kernel(error, step.node, [slots[i] for i in step.inputs])
    if out.__class__ is int:
        slots[out] = result
    elif out:
        for slot, value in zip(out, result):
            slots[slot] = value


def _entries(step: Step) -> tuple[Node, ...]:
    """Return the nodes by which a step depends on others."""
    if isinstance(step, Engined):
        return tuple(inner.node for inner in step.body.steps)
    return step.enters if isinstance(step, Loop) else (step.node,)
