"""Wrappers around kernel calls for the steps of a plan: hooks, references, dead values and loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...graph.graph import Node
from ...planning.plan import Loop, Step
from ...support.errors import InvalidArgumentError
from ...types.tensors import FuncRef
from ..state.edge_values import DEAD
from ..state.resources import Readable, Variable, VariableView
from ..state.run_context import current
from ..steps.instructions import Call, Instruction
from .execution import execute


def single(call: Call) -> Call:
    """Return `call`, whose result is a tuple of length 1, with the element as the result."""
    return lambda *values: call(*values)[0]


def loop_runner(loop: Loop, initial: list[Any], parts: Sequence[list[Instruction]], hooked: bool) -> Call:
    """Return a function from a loop's inputs to the tuple of its exits; `parts` are the loop's head, body and tail."""
    head, body, tail = parts
    entries, condition, exits = loop.entries, loop.condition, loop.exits
    sources = tuple(a for a, _ in loop.carried)
    targets = tuple(b for _, b in loop.carried)

    def run(*inputs: Any) -> tuple[Any, ...]:
        slots = initial.copy()
        for slot, value in zip(entries, inputs):
            slots[slot] = value
        inputs = ()
        while True:
            execute(head, slots)
            predicate = slots[condition]
            if hooked:
                _call_hook(loop.node, _pass_on, (predicate,))
            if predicate.ndim:
                raise InvalidArgumentError(f"The second input must be a scalar, but it has shape {predicate.shape}")
            if not predicate:
                break
            execute(body, slots)
            for slot, value in zip(targets, [slots[i] for i in sources]):
                slots[slot] = value
        execute(tail, slots)
        return tuple([slots[i] for i in exits])

    return run


def _pass_on(value: Any) -> Any:
    return value


def function_call(ctx: Any, function: FuncRef) -> Call:
    """Return a call of a library function by an op of the function's name."""
    run = ctx.function(function)

    def call(*inputs: Any) -> Any:
        results = run(inputs)
        return results[0] if len(results) == 1 else tuple(results)

    return call


def hooked_call(node: Node, call: Call) -> Call:
    """Return `call` through the hook of the calling run."""
    return lambda *inputs: _call_hook(node, call, inputs)


def _call_hook(node: Node, call: Call, inputs: Sequence[Any]) -> Any:
    """Call the hook of the current run; only instructions of runs with a hook come here."""
    hook = current().hook
    assert hook is not None
    return hook(node, call, inputs)


def following_references(call: Call, step: Step) -> Call:
    """Return `call` with variables read where the step takes values; an uninitialized variable raises even where passed on."""
    if not (step.dereferenced or step.references or step.shared or step.is_view):
        return call

    def following(*inputs: Any) -> Any:
        values = list(inputs)
        for i in step.dereferenced:
            if isinstance(values[i], Readable):  # neither dead nor fed
                values[i] = values[i].read()
        for i in step.references:
            if isinstance(values[i], Readable):
                values[i].read()
        for i in step.shared:
            if isinstance(values[i], Variable):
                values[i] = values[i].memory()
        if step.is_view and isinstance(values[0], Readable):
            return VariableView(call, values)
        return call(*values)

    return following


def guarded(call: Call, step: Step) -> Call:
    """Return `call` guarded against dead inputs: any dead input makes all outputs dead."""
    inputs, outputs = len(step.inputs), len(step.outputs)
    has_tuple = isinstance(step, Loop) or outputs - step.tells_deadness != 1
    dead = (DEAD,) * outputs if outputs != 1 or step.tells_deadness or isinstance(step, Loop) else DEAD

    def guarded(*values: Any) -> Any:
        for value in values:
            if value is DEAD:
                return dead
        result = call(*values[:inputs])
        if not step.tells_deadness:
            return result
        return (*(result or ()), None) if has_tuple else (result, None)

    return guarded
