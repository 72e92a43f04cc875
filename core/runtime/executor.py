"""Running a plan: kernels bound once, then a loop that calls, stores and releases."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..binding import bind_kernel, select_kernel
from ..engines.protocol import Body, Engined, Foretold
from ..errors import InvalidArgumentError
from ..faults import faults_of
from ..graph import Function, Node
from ..node_calls import raise_from_kernel
from ..numerics.products import divided
from ..numerics.threads import one_thread
from ..planning.plan import Loop, Plan, Step
from ..tensors import FuncRef
from ..traversal import descendants
from .caching import Cached, ValueCache
from .constant_steps import does_nothing, fixed_values, for_constants
from .dataflow import DataflowProgram
from .exclusion import exclusive
from .foretold_calls import ForetoldCall
from .fused_calls import FusedCall
from .fusing import Fused, settled_steps, with_fused_steps
from .instructions import Instruction, instruction_of, released_slots
from .parallel_regions import Timing
from .region_calls import Measurement, single_instructions
from .resources import Readable, Variable, View
from .runs import Run, current
from .shape_programs import ShapePrograms
from .specializing import Known
from .values import DEAD, WouldBlock
from .variable_groups import VariableGroup
from .waits import Wait

if TYPE_CHECKING:
    from ..engines.engagement import Group

_Call = Callable[..., Any]
_RUNS_TO_SETTLE = 6


class Program:
    """A plan bound to kernels and to the session whose state they touch.

    `context` gives what a stateful kernel takes as `ctx`; `functions` is the library that ops may name; `groups` makes a
    function of an engine's group and of what runs it in NumPy. One that `fuses` runs groups of steps as one where there is no
    hook, engine or cache, from the second run on: what runs once is not worth looking for them. When that has settled, it
    measures what steps take in some runs, and has threads share branches.
    """

    def __init__(
        self,
        plan: Plan,
        context: Callable[..., Any],
        functions: Mapping[str, Function] | None = None,
        cache: ValueCache | None = None,
        groups: Callable[[Body, _Call], Group] | None = None,
        fuses: bool = False,
        calls: dict[Node, _Call] | None = None,
    ) -> None:
        self.plan = plan
        self._cache = cache
        self._groups = groups
        self._context = context
        self._functions = functions if functions is not None else {}
        self._calls = calls if calls is not None else {}
        self._hooked: list[Instruction] | None = None
        self._hooking = threading.Lock()
        self._dataflow: DataflowProgram | None = None
        self._fused_calls: dict[Fused, FusedCall] = {}
        self._fused_steps: Sequence[Step] = ()
        self._is_settling = False
        self._measurement: Measurement | None = None
        self._initial: list[Any] = [None] * plan.slots
        self._instructions: list[Instruction] = []
        if plan.needs_dataflow:
            make = None if groups or cache else lambda plan: Program(plan, context, functions, fuses=fuses)
            self._dataflow = DataflowProgram(plan, {step.node: self._call(step, False) for step in plan.steps}, make)
        else:
            self._instructions = self._assemble(plan.steps, self._initial, False)
        self._unsettled_runs = 0
        self._by_shapes: ShapePrograms | None = None
        if fuses and groups is None and cache is None:
            self._unsettled_runs = _RUNS_TO_SETTLE if calls is None else _RUNS_TO_SETTLE - 1
            self._by_shapes = ShapePrograms(plan, self._functions, self._kernel, self._special) if calls is None else None

    def run(self, feeds: Sequence[Any], run: Run | None = None) -> list[Any]:
        """The values of the plan's fetches, None for operations, with the hook of the current run. Several threads may."""
        hook = (run or current()).hook
        if self._dataflow is not None:
            return self._dataflow.run(feeds, hook)
        if hook is None:
            special = None if self._by_shapes is None else self._by_shapes.find(feeds)
            if special is not None:
                return special.run(feeds, run)
            if self._unsettled_runs:
                self._settle()
        slots = self._initial.copy()
        for slot, value in zip(self.plan.feeds, feeds):
            slots[slot] = value
        if hook is None and self._measurement is not None and one_thread.share > 1:
            self._measure(slots, self._measurement)
        else:
            _execute(self._instructions if hook is None else self._hooked_instructions(), slots)
        values = [None if slot is None else slots[slot] for slot in self.plan.fetches]
        for i, value in enumerate(values):
            if value.__class__ is not np.ndarray and value is not None and not isinstance(value, np.generic):
                values[i] = self._fetched(i, value)
        return values

    def _settle(self) -> None:
        """Fuse steps in the second run, and take apart in the last of some the groups whose values are too small for it.

        From the second run on, values that follow from constants are constants too.
        """
        with self._hooking:
            self._unsettled_runs = max(self._unsettled_runs - 1, 0)
            if self._unsettled_runs == _RUNS_TO_SETTLE - 2:
                self._is_settling = True
                self._fused_steps = with_fused_steps(self.plan).steps
                self._instructions = self._assemble(self._fused_steps, self._initial, False)
            if not self._unsettled_runs:
                useful = {step for step, call in self._fused_calls.items() if call.is_useful}
                fed = {step for step, call in self._fused_calls.items() if call.is_fed}
                steps = settled_steps(self._fused_steps, useful, fed, self.plan)
                if steps != tuple(self._fused_steps):
                    self._instructions = self._assemble(steps, self._initial, False)
                self._measurement = Measurement()

    def _measure(self, slots: list[Any], measurement: Measurement) -> None:
        """Run and note what the steps take; after some runs, those of a region become one instruction."""
        instructions = self._instructions
        timings = _execute_timed(instructions, slots)
        with self._hooking:
            if self._measurement is measurement:
                measurement.add(timings)
                if measurement.is_over:
                    self._instructions = measurement.with_regions(instructions, _execute)
                    self._measurement = None

    def _fetched(self, index: int, value: Any) -> Any:
        if value is DEAD:
            target = self.plan.targets[index]
            raise InvalidArgumentError(f"'{target}' has no value: it is on a branch that was not taken")
        return value.read() if isinstance(value, Readable) else value

    def _hooked_instructions(self) -> list[Instruction]:
        with self._hooking:
            if self._hooked is None:
                self._hooked = self._assemble(self.plan.steps, self._initial, True)
        return self._hooked

    def _assemble(self, steps: Sequence[Step], initial: list[Any], hooked: bool) -> list[Instruction]:
        """Instructions for the steps, with or without a hook's call; constants are put into `initial` instead."""
        instructions = []
        for step in steps:
            if does_nothing(step) and not hooked:
                continue
            call: _Call
            if isinstance(step, Loop):
                call = self._loop(step, hooked)
            elif isinstance(step, Cached):
                call = self._cached(step, hooked)
            elif isinstance(step, Engined):
                call = self._engined(step, hooked)
            elif isinstance(step, Foretold):
                call = ForetoldCall(step, self._body(step.cluster.body, hooked))
            elif isinstance(step, Fused):
                call = self._fused(step, initial)
            elif isinstance(step, Known):
                for slot, value in zip(step.outputs, step.values):
                    initial[slot] = _as_number(value)
                continue
            else:
                call = self._call(step, hooked)
                if step.node.is_constant and not step.is_guarded:
                    with faults_of(step.node, "value"):
                        initial[step.outputs[0]] = _as_number(self._calls[step.node]())
                    continue
                if self._is_settling and not hooked:
                    values = [initial[slot] for slot in step.inputs]
                    found = fixed_values(step, call, values)
                    if found is not None:
                        for slot, value in zip(step.outputs, found):
                            initial[slot] = value
                        continue
                    call = for_constants(step, call, values)
            if step.is_guarded:
                call = _guard(call, step)
            instructions.append(instruction_of(step, call, initial))
        return instructions

    def _call(self, step: Step, hooked: bool) -> _Call:
        """The kernel of a step on the values of its inputs, references followed."""
        node = step.node
        call = self._kernel(node, step.unused)
        if hooked:
            call = _hooked(node, call)
        return _following_references(call, step)

    def _kernel(self, node: Node, unused: tuple[int, ...] = ()) -> _Call:
        """The kernel of a node, bound once."""
        call = self._calls.get(node)
        if call is None:
            call = self._calls[node] = self._bind(node, unused)
        return call

    def _special(self, plan: Plan) -> Program:
        """A program of the plan for certain shapes, with this one's kernels, that fuses in its first run."""
        return Program(plan, self._context, self._functions, fuses=True, calls=self._calls)

    def _bind(self, node: Node, unused: tuple[int, ...]) -> _Call:
        ctx = self._context(node, unused) if unused else self._context(node)
        if node.op_def is None and node.op in self._functions:
            return _function_call(ctx, FuncRef(node.op, node.attrs))
        with faults_of(node, "kernel"):
            return exclusive(node, bind_kernel(node, select_kernel(node), ctx))

    def _loop(self, loop: Loop, hooked: bool) -> _Call:
        initial: list[Any] = [None] * loop.slots
        parts = [self._assemble(steps, initial, hooked) for steps in (loop.head, loop.body, loop.tail)]
        call = _loop_runner(loop, initial, parts, hooked)
        return _following_references(call, loop)

    def _cached(self, step: Cached, hooked: bool) -> _Call:
        """A tree of steps that keeps its result; hooks see the steps when they run."""
        assert self._cache is not None
        initial: list[Any] = [None] * step.slots
        body, inputs, root = self._assemble(step.body, initial, hooked), len(step.inputs), step.body[-1].outputs[0]

        def call(*values: Any) -> Any:
            slots = initial.copy()
            slots[:inputs] = values
            _execute(body, slots)
            return slots[root]

        return self._cache.remembering(call, step)

    def _engined(self, step: Engined, hooked: bool) -> _Call:
        """An engine's group; hooks see its steps, which NumPy runs then."""
        in_numpy = self._body(step.body, hooked)
        if hooked or self._groups is None:
            return _single(in_numpy) if len(step.outputs) == 1 else in_numpy
        group = self._groups(step.body, in_numpy)
        return VariableGroup(group, step.body, in_numpy) if step.body.variables else group

    def _fused(self, step: Fused, initial: list[Any]) -> FusedCall:
        """A group of steps that work together, which no hook meets."""
        return self._fused_calls.setdefault(step, self._fused_call(step, initial))

    def _fused_call(self, step: Fused, initial: list[Any]) -> FusedCall:
        calls = [self._call(inner, False) for inner in step.body]
        body = [instruction_of(inner, call, ()) for inner, call in zip(step.body, calls)]
        constants = {i: initial[slot] for i, slot in enumerate(step.inputs) if initial[slot] is not None}
        lead = None if step.lead is None else self._fused(step.lead, initial)
        return FusedCall(step, calls, lambda start, slots: _execute(body[start:], slots), constants, lead)

    def _body(self, body: Body, hooked: bool) -> _Call:
        """A function from a body's inputs to the tuple of its outputs; its kernels are bound when it is first called."""
        made: list[tuple[list[Any], list[Instruction]]] = []

        def assembled() -> tuple[list[Any], list[Instruction]]:
            with self._hooking:
                if not made:
                    initial: list[Any] = [None] * body.slots
                    made.append((initial, self._assemble(body.steps, initial, hooked)))
            return made[0]

        def call(*values: Any) -> tuple[Any, ...]:
            initial, instructions = made[0] if made else assembled()
            slots = initial.copy()
            slots[: len(values)] = values
            _execute(instructions, slots)
            return tuple([slots[i] for i in body.outputs])

        return call


def _as_number(value: Any) -> Any:
    """An array of rank 0 as NumPy's number, with which operators are many times faster."""
    is_number = type(value) is np.ndarray and not value.ndim and value.dtype != object
    return value[()] if is_number else value


def _single(call: _Call) -> _Call:
    return lambda *values: call(*values)[0]


def _execute(instructions: Sequence[Instruction], slots: list[Any]) -> None:
    """Run the instructions on the slots; an error names the node it came from."""
    step: Step | None = None
    try:
        for kind, call, a, b, out, released, step in instructions:  # noqa: B007 - read by the handlers
            if kind == 2:
                slots[out] = call(slots[a], slots[b])
            elif kind == 1:
                slots[out] = call(slots[a])
            elif kind:
                call(slots)
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


def _execute_timed(instructions: Sequence[Instruction], slots: list[Any]) -> list[Timing]:
    """Run the instructions on the slots; what they took, nothing where one had to wait."""
    timings = []
    for i, instruction in enumerate(instructions):
        begun, divided_before = time.perf_counter(), divided.seconds
        try:
            _execute_one(instruction, slots)
        except WouldBlock:
            _execute_around(instructions[i:], slots, instruction[-1])
            return []
        for slot in released_slots(instruction):
            slots[slot] = None
        shared = divided.seconds - divided_before
        timings.append(Timing(time.perf_counter() - begun - shared, shared))
    return timings


def _execute_around(instructions: Sequence[Instruction], slots: list[Any], first: Step) -> None:
    """Go on from step `first`, which would block: put it and what depends on it aside, retry while other steps get on."""
    start = next(i for i, instruction in enumerate(instructions) if instruction[-1] is first)
    pending: Sequence[Instruction] = list(single_instructions(instructions[start:]))
    deadline = current().deadline
    with Wait() as wait:
        while pending:
            waiting, reason = _attempt(pending, slots)
            if len(waiting) == len(pending):
                wait.for_change(deadline, reason, waiting[0][-1].node)
            pending = waiting


def _attempt(pending: Sequence[Instruction], slots: list[Any]) -> tuple[list[Instruction], str]:
    """Run what can run of the instructions; those that have to wait are returned, with the first one's reason."""
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
    """Run one instruction; nothing is released, since others may have been put aside."""
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
    """The nodes by which a step depends on others."""
    if isinstance(step, Engined):
        return tuple(inner.node for inner in step.body.steps)
    return step.enters if isinstance(step, Loop) else (step.node,)


def _loop_runner(loop: Loop, initial: list[Any], parts: Sequence[list[Instruction]], hooked: bool) -> _Call:
    """A function from a loop's inputs to the tuple of its exits; `parts` are its head, body and tail."""
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
            _execute(head, slots)
            predicate = slots[condition]
            if hooked:
                _call_hook(loop.node, _pass_on, (predicate,))
            if predicate.ndim:
                raise InvalidArgumentError(f"The second input must be a scalar, but it has shape {predicate.shape}")
            if not predicate:
                break
            _execute(body, slots)
            for slot, value in zip(targets, [slots[i] for i in sources]):
                slots[slot] = value
        _execute(tail, slots)
        return tuple([slots[i] for i in exits])

    return run


def _pass_on(value: Any) -> Any:
    return value


def _function_call(ctx: Any, function: FuncRef) -> _Call:
    """A call of a library function by an op of its name."""
    run = ctx.function(function)

    def call(*inputs: Any) -> Any:
        results = run(inputs)
        return results[0] if len(results) == 1 else tuple(results)

    return call


def _hooked(node: Node, call: _Call) -> _Call:
    return lambda *inputs: _call_hook(node, call, inputs)


def _call_hook(node: Node, call: _Call, inputs: Sequence[Any]) -> Any:
    """What the hook of the current run gives; only instructions of runs with one are assembled to come here."""
    hook = current().hook
    assert hook is not None
    return hook(node, call, inputs)


def _following_references(call: _Call, step: Step) -> _Call:
    """`call` on values of variables where these are wanted; an uninitialized variable raises also where it is passed on."""
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
            return View(call, values)
        return call(*values)

    return following


def _guard(call: _Call, step: Step) -> _Call:
    """`call` where every value is alive, dead outputs otherwise."""
    inputs, outputs = len(step.inputs), len(step.outputs)
    has_tuple = isinstance(step, Loop) or outputs - step.tells_liveness != 1
    dead = (DEAD,) * outputs if outputs != 1 or step.tells_liveness or isinstance(step, Loop) else DEAD

    def guarded(*values: Any) -> Any:
        for value in values:
            if value is DEAD:
                return dead
        result = call(*values[:inputs])
        if not step.tells_liveness:
            return result
        return (*(result or ()), None) if has_tuple else (result, None)

    return guarded
