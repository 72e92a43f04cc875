"""Running a plan: kernels bound once, instructions run on slots, and steps fused once that has settled."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ...engines.protocol import Body, Engined, ShapePrecompute
from ...graph.graph import Function, Graph, Node
from ...graph.traversal import descendants
from ...inference.binding import arg_lengths, bind_kernel, require_op_def, select_kernel
from ...inference.error_context import faults_of
from ...inference.node_calls import raise_from_kernel
from ...planning.plan import Loop, Plan, Step
from ...registry import registry
from ...registry.op_facts import has_fact
from ...support import dataclasses
from ...support.errors import InvalidArgumentError
from ...support.gc_control import rare_collection
from ...support.keyed_cache import KeyedCache
from ...support.log import tell
from ...types.dtypes import resource
from ...types.tensors import FuncRef
from ..state.edge_values import DEAD, WouldBlock
from ..state.resources import Readable, Shared, Variable, VariableView, Wait, exclusively
from ..state.run_context import Run, current
from .constant_steps import does_nothing, fixed_values, is_independent
from .instructions import Call, Instruction, instruction_of, released_slots
from .shape_programs import Known, Runnable, ShapePrograms
from .step_fusion import Fused, settled_steps, with_fused_steps
from .tiers import NO_TIERS, Action, Policy, ProgramState, Tier, Tiers
from .value_cache import Cached, ValueCache, with_cached_trees
from .variable_groups import VariableGroup, variable_of

if TYPE_CHECKING:
    from ...engines.engine_runtime import EngineRuntime, Group
    from .dataflow import DataflowProgram, RecordedLoops
    from .fused_calls import FusedCall


# Instructions run on slots: they call, store and release.


def execute(instructions: Sequence[Instruction], slots: list[Any]) -> None:
    """Run the instructions on the slots; an error names the failing node."""
    step: Step | None = None
    try:
        # This loop is what small graphs spend their time on. Most steps have one or two inputs and one output, so these need
        # neither a list of inputs nor a loop over outputs; a class is compared because that is cheaper than isinstance.
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
                # The names would keep the last results alive after their slots are cleared, and a kernel that asks for the
                # references of an array would copy what it could overwrite.
                result = value = None
            # Slots are cleared at once: the memory of a value goes to the next kernel, which finds it in the cache.
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


# Python's collector walks through all objects after so many allocations. On a large graph this took most of the time of a
# measured run.
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
    # The steps before this one have run, perhaps with effects, and must not run again.
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
        # A step after one that waits may have all its inputs and still have to come later, by a control edge; the descendants
        # in the graph include those.
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
    kind, call, a, b, out, _, step = instruction
    try:
        if kind == 2:
            result = call(slots[a], slots[b])
        elif kind == 1:
            result = call(slots[a])
        else:
            result = call(*[slots[i] for i in a])
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
        # A loop within the group waits for what enters it, which its own node may not follow.
        return tuple(node for inner in step.body.steps for node in _entries(inner))
    return step.enters if isinstance(step, Loop) else (step.node,)


# Locks around kernels: a kernel holds a shared object exclusively while it works on the object.


def exclusive(node: Node, call: Callable[..., Any]) -> Callable[..., Any]:
    """Return `call`, a node's bound kernel, with a lock on the objects behind its references and handles."""
    places = _places_to_lock(node)
    return _exclusive(call, places) if places else call


def _places_to_lock(node: Node) -> list[int]:
    """Return the inputs that lead to objects to lock: references and handles, except where the kernel only passes them on."""
    # A snapshot is one load of a pointer, and state of a single run has no other thread: a lock would only cost time.
    if not node.inputs or has_fact(node.op, "snapshot") or has_fact(node.op, "unshared"):
        return []
    if registry.gradient_function(node.op) is registry.BY_SWEEP:
        return []
    definition = require_op_def(node)
    # A call passes its handles on to kernels of its function, which lock for themselves. A lock around the whole call would
    # shut out the thread that the function may be waiting for.
    if any("func" in attr.type for attr in definition.attrs.values()):
        return []
    lengths = arg_lengths(definition.inputs, definition, node.attrs)
    handles = [
        arg.is_ref or arg.dtype is resource
        for arg, length in zip(definition.inputs, lengths)
        for _ in range(1 if length is None else length)
    ]
    return [place for place, is_handle in enumerate(handles) if is_handle]


def _exclusive(call: Callable[..., Any], places: Sequence[int]) -> Callable[..., Any]:
    """Return `call` with a lock on the shared objects at `places` of its inputs."""
    first = places[0]

    def exclusive_of_one(*inputs: Any) -> Any:
        shared = _shared(inputs[first])
        if shared is None:
            return call(*inputs)
        with shared.lock:
            try:
                result = call(*inputs)
            finally:
                # The flag is cleared even after an error: while it is set, every reader takes the lock.
                shared.is_changing = False
        # Others are told after the lock is free, so that a woken thread does not wait again at once.
        shared.tell()
        return result

    def exclusive(*inputs: Any) -> Any:
        # All threads take locks in the order of identities, so that no two threads wait for each other.
        shared_objects = {id(shared): shared for place in places if (shared := _shared(inputs[place])) is not None}
        return exclusively([shared_objects[key] for key in sorted(shared_objects)], call, inputs)

    return exclusive_of_one if len(places) == 1 else exclusive


def _shared(value: Any) -> Shared | None:
    """Return the shared object behind a reference or a handle; None if threads do not share the object."""
    if isinstance(value, np.ndarray):
        content = value.item(0) if value.size else None
        return content if isinstance(content, Shared) else None
    return value.shared if isinstance(value, Shared) else None


# Programs.


class _Bound(NamedTuple):
    """A node's bound kernel, and the function as registered."""

    call: Call
    function: Call
    attrs: Mapping[str, Any] | None = None
    """The attributes of the nodes that share a kernel, kept so that their `id` stays."""


class Active(NamedTuple):
    """The instructions that a program runs, on a copy of `initial`, the slots with the values of constants.

    A change makes another of both and replaces them in a single assignment. So a concurrent run has the instructions and the
    constants of before, or of after, but never instructions without their constants.
    """

    instructions: list[Instruction]
    initial: list[Any]


class Program:
    """A plan bound to kernels and to the state of a session; `tiers` says how the plan runs.

    `context` returns the `ctx` argument of a stateful kernel. `functions` is the library that ops may name. `groups` makes
    a function of an engine's group; its arguments are the body, a call that runs the body in NumPy, and a maker of calls
    for other bodies. `policy` says which tiers the program may reach; a program with an engine or a cache has no tiers. A
    program with the `calls` of another program is a specialization of the other program for certain shapes. `around_loop`
    wraps the calls of loops, which have the names of their conditions.
    """

    def __init__(
        self,
        plan: Plan,
        context: Callable[..., Any],
        functions: Mapping[str, Function] | None = None,
        cache: ValueCache | None = None,
        groups: Callable[[Body, Call, Callable[[Body], Call]], Group] | None = None,
        policy: Policy = NO_TIERS,
        calls: dict[Node | tuple[str, int], _Bound] | None = None,
        around_loop: Callable[[Node, Call], Call] | None = None,
    ) -> None:
        self.plan = plan
        self._cache = cache
        self._groups = groups
        self._context = context
        self._functions = functions if functions is not None else {}
        self._calls = calls if calls is not None else {}
        """Kernels by node, the stateless ones by op and identity of the attributes."""
        self._hooked: Active | None = None
        self._changing = threading.Lock()
        self._dataflow: DataflowProgram | None = None
        self._recorded: RecordedLoops | None = None
        self._around_loop = around_loop
        self.fused_calls: dict[Fused, FusedCall] = {}
        self.fused_steps: tuple[Step, ...] = ()
        self._folds_constants = False
        self.active = Active([], [])
        if plan.needs_dataflow:
            from .dataflow import DataflowProgram  # lazy: most plans need no dataflow

            self._dataflow = DataflowProgram(plan, {step.node: self._call(step, False) for step in plan.steps})
            tell("%s: each node has its turn as in TensorFlow's executor, because %s", _name(plan), plan.why)
            if plan.ordered is not None and cache is None:
                self._recorded = self._recorded_loops(plan, plan.ordered, policy)
        else:
            self.active = self._activated(plan.steps, [None] * plan.slots)
        has_tiers = groups is None and cache is None and not plan.needs_dataflow
        self._tiers = Tiers(policy if has_tiers else NO_TIERS, _name(plan), is_special=calls is not None)
        self.shape_programs: ShapePrograms | None = None
        self._latest: Runnable = self
        if calls is None and self._tiers.policy.allows(Tier.SPECIALIZED):
            self.shape_programs = ShapePrograms(plan, self._functions, self._kernel, self._special, policy.is_forced)

    def run(self, feeds: Sequence[Any], run: Run | None = None) -> list[Any]:
        """Return the values of the plan's fetches, None for operations, with the hook of the current run.

        Several threads may run.
        """
        hook = (run or current()).hook
        if self._dataflow is not None:
            if self._recorded is not None and hook is None:
                return self._recorded.run(feeds)
            return self._dataflow.run(feeds, hook)
        if hook is not None:
            return self._run(self._hooked_active(), feeds)
        # The interpreted or fused program does not count runs that a specialized program takes: its tiers stand still.
        special = None if self.shape_programs is None else self.shape_programs.find(feeds)
        if special is not None:
            self._latest = special
            return special.run(feeds, run)
        self._latest = self
        # SETTLED is the last state, so it may be read without the lock that `_prepare` takes in each other run.
        is_measured = self._tiers.state is not ProgramState.SETTLED and self._prepare(feeds)
        return self._run(self.active, feeds, is_measured)

    def _run(self, active: Active, feeds: Sequence[Any], is_measured: bool = False) -> list[Any]:
        """Return the values of the plan's fetches; a measured run tells the tiers of its sizes."""
        # Other threads may run the same program, and the constants among the slots serve the next run.
        slots = active.initial.copy()
        for slot, value in zip(self.plan.feeds, feeds):
            slots[slot] = value
        if is_measured:
            self._tiers.note_results(_elements(feeds), execute_measured(active.instructions, slots))
        else:
            execute(active.instructions, slots)
        values = [None if slot is None else slots[slot] for slot in self.plan.fetches]
        for i, value in enumerate(values):
            # Any other value is a dead one, or a reference that stands for a variable.
            if value.__class__ is not np.ndarray and value is not None and not isinstance(value, np.generic):
                values[i] = self._fetched(i, value)
        return values

    @property
    def tier(self) -> Tier:
        """The tier of the latest run without a hook."""
        if self._dataflow is not None:
            return Tier.DATAFLOW if self._recorded is None else self._recorded.tier
        return self._tiers.tier if self._latest is self else self._latest.tier

    def _prepare(self, feeds: Sequence[Any]) -> bool:
        """Change the program before a run, if a change is due; return True if the run is measured."""
        with self._changing:
            action = self._tiers.begin_run(_elements(feeds))
            if action in (Action.FUSE, Action.SETTLE):
                self._change(action)
        return action is Action.MEASURE

    @rare_collection()
    def _change(self, action: Action) -> None:
        """Fuse groups of steps, or take the useless groups apart.

        From the first change on, values that follow from constants are constants too.
        """
        initial = list(self.active.initial)
        # Constants are folded only from here on: a plan that runs once would compute each of them once anyway.
        if action is Action.FUSE:
            self._folds_constants = True
            self.fused_steps = with_fused_steps(self.plan, self._tiers.has_groups).steps
            self.active = self._activated(self.fused_steps, initial, before=self.active.instructions)
        # A group that never fused, because its values were too small or fitted no layout, costs a call and the tests of shapes
        # in each run.
        elif self.fused_calls:
            useful = {step for step, call in self.fused_calls.items() if call.is_useful}
            steps = settled_steps(self.fused_steps, useful, self.plan)
            if steps != self.fused_steps:
                self.active = self._activated(steps, initial)

    def _fetched(self, index: int, value: Any) -> Any:
        if value is DEAD:
            if current().takes_dead:
                return None
            target = self.plan.targets[index]
            raise InvalidArgumentError(f"'{target}' has no value: it is on a branch that was not taken")
        return value.read() if isinstance(value, Readable) else value

    def _hooked_active(self) -> Active:
        with self._changing:
            if self._hooked is None:
                self._hooked = self._activated(self.plan.steps, [None] * self.plan.slots, hooked=True)
        return self._hooked

    def _activated(
        self, steps: Sequence[Step], initial: list[Any], hooked: bool = False, before: Sequence[Instruction] = ()
    ) -> Active:
        return Active(self._assemble(steps, initial, hooked, before), initial)

    def _assemble(
        self, steps: Sequence[Step], initial: list[Any], hooked: bool, before: Sequence[Instruction] = ()
    ) -> list[Instruction]:
        """Return the instructions of the steps, with or without calls of a hook.

        Put constant values into `initial` instead. Instructions from `before` stay where no further constant changes them.
        """
        instructions = []
        known = {instruction[-1]: instruction for instruction in before}
        for step in steps:
            if step in known and is_independent(step, initial):
                instructions.append(known[step])
                continue
            # A hook sees idle nodes too.
            call = self._step_call(step, initial, hooked) if hooked or step.outputs or not does_nothing(step) else None
            if call is not None:
                instructions.append(instruction_of(step, guarded(call, step) if step.is_guarded else call, initial))
        return instructions

    def _step_call(self, step: Step, initial: list[Any], hooked: bool) -> Call | None:
        """Return the call that runs a step; None if the step's values are put into `initial`."""
        if step.__class__ is Step:
            return self._kernel_call(step, initial, hooked)
        if isinstance(step, Loop):
            return self._loop(step, hooked)
        if isinstance(step, Cached):
            return self._cached(step, hooked)
        if isinstance(step, Engined):
            return self._engined(step, hooked)
        if isinstance(step, ShapePrecompute):
            return PrecomputedCall(step, self._body(step.cluster.body, hooked))
        if isinstance(step, Fused):
            return self._fused(step, initial)
        assert isinstance(step, Known)
        _put(step, map(_as_number, step.values), initial)
        return None

    def _kernel_call(self, step: Step, initial: list[Any], hooked: bool) -> Call | None:
        """Return the call of a step that is a node; None if the step's values are put into `initial`."""
        # A guarded constant waits for a branch: in some runs it is dead.
        if step.node.is_constant and not step.is_guarded:
            kernel = self._kernel(step.node)
            with faults_of(step.node, "value"):
                initial[step.outputs[0]] = _as_number(kernel())
            return None
        call = self._call(step, hooked)
        if hooked or not self._folds_constants:
            return call
        # None in a slot means that the value is known only in a run: constants are arrays or handles, never None.
        values = [initial[slot] for slot in step.inputs]
        outputs = fixed_values(step, call, values)
        if outputs is None:
            return call
        # The values take the place of the step.
        _put(step, outputs, initial)
        return None

    def _call(self, step: Step, hooked: bool) -> Call:
        """Return the kernel call of a step, which reads references."""
        node = step.node
        call = self._bound(node, step.unused).call
        if hooked:
            call = functools.partial(_call_hook, node, call)
        return following_references(call, step)

    def _kernel(self, node: Node) -> Call:
        """Return the kernel of a node."""
        return self._bound(node).call

    def _bound(self, node: Node, unused: tuple[int, ...] = ()) -> _Bound:
        """Return the kernel of a node, bound once."""
        bound = self._calls.get(node) or self._calls.get((node.op, id(node.attrs)))
        return self._bind(node, unused) if bound is None else bound

    def _recorded_loops(self, plan: Plan, ordered: Plan, policy: Policy) -> RecordedLoops:
        """Return the runs of a plan whose loops draw random numbers: the draws have calls of their own."""
        from .dataflow import RecordedLoops

        assert self._dataflow is not None
        drawing = [node for nodes in plan.draws.values() for node in nodes]
        random = [self._context(step.node) for step in plan.steps if has_fact(step.node.op, "random")]
        calls = {node: self._kernel(node) for node in drawing}
        recorded = RecordedLoops(
            self._dataflow, plan.draws, calls, lambda: [ctx.session.node_states.get(ctx.node) for ctx in random]
        )
        own: dict[Node | tuple[str, int], _Bound] = {
            node: _Bound(recorded.draw(node), self._bound(node).function) for node in drawing
        }
        program = Program(
            ordered, self._context, self._functions, policy=policy, calls=self._calls | own, around_loop=recorded.checked
        )
        recorded.program = program
        return recorded

    def _special(self, plan: Plan) -> Program:
        """Return a program of the plan for certain shapes, with this program's kernels.

        The new program fuses in its first run.
        """
        return Program(plan, self._context, self._functions, policy=self._tiers.policy, calls=self._calls)

    def _bind(self, node: Node, unused: tuple[int, ...]) -> _Bound:
        ctx = self._context(node, unused) if unused else self._context(node)
        if node.op_def is None and node.op in self._functions:
            call = function_call(ctx, FuncRef(node.op, node.attrs))
            self._calls[node] = bound = _Bound(call, call)
            return bound
        with faults_of(node, "kernel"):
            kernel = select_kernel(node)
            bound = _Bound(exclusive(node, bind_kernel(node, kernel, ctx)), kernel.function, node.attrs)
        # A stateful kernel is bound to its own node. Nodes without inputs, such as a Const, rarely share their attributes with
        # another node.
        is_shared = node.inputs and not kernel.is_stateful
        self._calls[(node.op, id(node.attrs)) if is_shared else node] = bound
        return bound

    def _loop(self, loop: Loop, hooked: bool) -> Call:
        initial: list[Any] = [None] * loop.slots
        parts = [self._assemble(steps, initial, hooked) for steps in (loop.head, loop.body, loop.tail)]
        call = loop_runner(loop, initial, parts, hooked)
        if self._around_loop is not None:
            call = self._around_loop(loop.node, call)
        return following_references(call, loop)

    def _cached(self, step: Cached, hooked: bool) -> Call:
        """Return the call of a cached tree of steps; hooks see the inner steps when they run."""
        assert self._cache is not None
        body = Body(step.body, step.slots, len(step.inputs), step.body[-1].outputs)
        return self._cache.remembering(single(self._body(body, hooked)), step)

    def _engined(self, step: Engined, hooked: bool) -> Call:
        """Return the call of an engine's group; a run with a hook runs the steps in NumPy, where the hook sees them."""
        in_numpy = self._body(step.body, hooked)
        # An engine's group is one function: its nodes cannot be seen one by one.
        if hooked or self._groups is None:
            return single(in_numpy) if len(step.outputs) == 1 else in_numpy
        group = self._groups(step.body, in_numpy, functools.partial(self._body, hooked=False))
        return VariableGroup(group, step.body, in_numpy) if step.body.variables else group

    def _fused(self, step: Fused, initial: list[Any]) -> FusedCall:
        """Return the call of a group of fused steps; hooks do not see the group."""
        return self.fused_calls.setdefault(step, self._fused_call(step, initial))

    def _fused_call(self, step: Fused, initial: list[Any]) -> FusedCall:
        from .fused_calls import FusedCall  # lazy: the first run of a plan fuses nothing

        body = [instruction_of(inner, self._call(inner, False), ()) for inner in step.body]
        calls = [self._call(inner, False) for inner in step.parts]
        constants = {i: initial[slot] for i, slot in enumerate(step.inputs) if initial[slot] is not None}
        is_forced = self._tiers.policy.is_forced
        functions = [self._bound(inner.node).function for inner in step.parts]
        return FusedCall(step, calls, functions, lambda some, slots: execute(body[some], slots), constants, is_forced)

    def _body(self, body: Body, hooked: bool) -> Call:
        """Return a function from a body's inputs to the tuple of its outputs; the first call binds the kernels."""
        made: list[tuple[list[Any], list[Instruction]]] = []

        def assembled() -> tuple[list[Any], list[Instruction]]:
            with self._changing:  # `call` looks without the lock, so several first calls may come here
                if not made:
                    initial: list[Any] = [None] * body.slots
                    made.append((initial, self._assemble(body.steps, initial, hooked)))
            return made[0]

        def call(*values: Any) -> tuple[Any, ...]:
            initial, instructions = made[0] if made else assembled()
            slots = initial.copy()
            slots[: len(values)] = values
            execute(instructions, slots)
            return tuple([slots[i] for i in body.outputs])

        return call


def bound_program(
    plan: Plan,
    graph: Graph,
    context: Callable[..., Any],
    functions: Mapping[str, Function],
    cache: ValueCache | None = None,
    runtime: EngineRuntime | None = None,
    policy: Policy = NO_TIERS,
) -> Program:
    """Return the program of a plan of `graph`, with cached trees where there is a cache and groups where there is an
    engine.
    """
    if cache is not None:
        plan = with_cached_trees(plan, graph)
    groups = None
    if runtime is not None:
        plan, groups = runtime.divided(plan, graph), functools.partial(runtime.group, graph)
    return Program(plan, context, functions, cache, groups, policy)


def _name(plan: Plan) -> str:
    """Return the name of a plan in messages about its program."""
    return plan.targets[0].name if plan.targets else "nothing"


def _elements(feeds: Sequence[Any]) -> int:
    return sum([feed.size for feed in feeds if isinstance(feed, np.ndarray)])


def _put(step: Step, values: Iterable[Any], initial: list[Any]) -> None:
    """Put the constant outputs of a step into the initial slots."""
    for slot, value in zip(step.outputs, values):
        initial[slot] = value


def _as_number(value: Any) -> Any:
    """Return an array of rank 0 as a NumPy scalar, on which operators are many times faster."""
    is_number = type(value) is np.ndarray and not value.ndim and value.dtype != object
    return value[()] if is_number else value


# Values that follow from the shapes of tensors, found by inference, or by computation where inference does not know them.

_MOST_KEPT: Final = 64
"""Of how many shapes of inputs the results are kept."""


class PrecomputedCall:
    """A step as a function of references, handles and other values; `in_numpy` runs its body."""

    def __init__(self, step: ShapePrecompute, in_numpy: Callable[..., Sequence[Any]]) -> None:
        self.cluster = step.cluster
        self.known = step.known
        self.in_numpy = in_numpy
        self.results: KeyedCache[Any, Any] = KeyedCache(_MOST_KEPT)

    def __call__(self, *values: Any) -> Any:
        """Return the value."""
        arrays = [self._array(slot, value) for slot, value in enumerate(values)]
        if any(array is None for array in arrays):
            return self.in_numpy(*values)[0]
        # The key has, besides the shapes, the elements of the inputs that decide shapes, such as the new shape of a Reshape.
        key = (*[a.shape for a in arrays], *[arrays[i].tobytes() for i in self.known])
        try:
            result = self.results[key]
        except KeyError:
            self.results[key] = result = self._inferred(arrays)
        return self.in_numpy(*values)[0] if result is None else result

    def _array(self, slot: int, value: Any) -> Any:
        """Return a value, read from its variable where the slot holds a variable; None before the variable's first write."""
        if slot not in self.cluster.body.variables:
            return np.asarray(value)
        variable = variable_of(value)
        return None if variable is None else variable.kept

    def _inferred(self, arrays: Sequence[Any]) -> Any:
        """Return the result by inference; None if inference knows only a part of the value."""
        from ...inference.inference import infer  # lazy: a run infers no shapes

        cluster = dataclasses.replace(self.cluster, fixed={slot: arrays[slot] for slot in self.known})
        graph, _, (output,) = cluster.as_graph([arrays[slot] for slot in cluster.inputs])
        value = infer(graph).spec(output).value
        return None if value is None or value.dtype == object else value


# Wrappers around kernel calls for the steps of a plan: hooks, references, dead values and loops.


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
        inputs = ()  # the values of the first iteration must not live as long as the loop
        while True:
            execute(head, slots)
            # The check and its message are those of TensorFlow's Switch.
            predicate = slots[condition]
            if hooked:
                _call_hook(loop.node, _pass_on, predicate)
            if predicate.ndim:
                raise InvalidArgumentError(f"The second input must be a scalar, but it has shape {predicate.shape}")
            if not predicate:
                break
            execute(body, slots)
            # All sources are read first: the new value of a variable may be the old one of another, as in `a, b = b, a`.
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


def _call_hook(node: Node, call: Call, *inputs: Any) -> Any:
    """Run a call through the hook of the current run; only instructions of runs with a hook come here."""
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
            # The value is not used: TensorFlow refuses to pass on a reference to an uninitialized variable.
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
            # As in TensorFlow, any dead input kills a node, also one that comes along a control edge (the values after the
            # inputs).
            if value is DEAD:
                return dead
        result = call(*values[:inputs])
        if not step.tells_deadness:
            return result
        return (*(result or ()), None) if has_tuple else (result, None)

    return guarded
