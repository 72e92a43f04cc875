"""Calls of library functions within a run: bodies compiled once for each way they are called, depth bounded."""

from __future__ import annotations

import collections
import sys
import threading
from collections.abc import Callable, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...graph.call_kinds import PLAIN_CALL, CallSite
from ...graph.graph import Function, Graph, Node
from ...graph.instantiation import implementation, with_attrs
from ...inference.node_calls import apply_kernel
from ...planning.planner import plan_of_function
from ...planning.while_plans import WhilePlans, while_plans
from ...support import dataclasses
from ...support.errors import InvalidArgumentError, ResourceExhaustedError
from ...types.shapes import fits
from ...types.tensors import FuncRef
from ..state.edge_values import is_true, scalar_object
from ..state.run_context import Run, check_time, current
from ..state.tensor_lists import ANY, NOTHING_SET, TensorList
from .executor import Program, bound_program
from .random_lowering import lowered_function
from .tiers import NO_TIERS, Policy, Tier
from .value_cache import ValueCache

if TYPE_CHECKING:
    from ...engines.engine_runtime import EngineRuntime


_MAX_DEPTH: Final = 400
"""The deepest nesting of calls; deeper calls are an error."""
_DEEP: Final = 40
"""The nesting of calls from which Python's recursion limit is raised."""
_DEEP_STACK: Final = 8000
"""Frames of Python that deep calls may have."""


@dataclasses.dataclass(frozen=True, slots=True)
class _FunctionProgram:
    """A function ready to run."""

    name: str
    program: Program | WhileCall
    args: int
    results: tuple[int | None, ...]
    """The place of each result among the program's fetches; None for a result that is left out."""
    is_complete: bool
    """The fetches are the results, and no other."""


class FunctionCalls:
    """The functions of a graph's library, ready to run with a session's state, value cache and engine."""

    def __init__(
        self,
        graph: Graph,
        context: Callable[..., Any],
        cache: ValueCache | None = None,
        runtime: EngineRuntime | None = None,
        policy: Policy = NO_TIERS,
    ) -> None:
        self._graph = graph
        self.library: MutableMapping[str, Function] = collections.ChainMap({}, graph.functions)
        """The functions of the graph, behind the functions that kernels add for themselves."""
        self._context = context
        self._cache = cache
        self._runtime = runtime
        self._policy = policy
        self._bodies: dict[tuple[str, CallSite, bool], _FunctionProgram] = {}
        """The programs by name, with and without a hook; equal functions share theirs in `_programs`."""
        self._programs: dict[tuple[Function, str, CallSite], _FunctionProgram] = {}
        self._made: dict[int, tuple[Function, _FunctionProgram]] = {}
        self._checked: set[Function] = set()
        self._lowered: dict[tuple[Function, str], Function] = {}
        self._lock = threading.RLock()

    def find(self, reference: FuncRef) -> Function:
        """Return a function of the library for inspection, with its nodes checked; NotFoundError for an unknown name."""
        function = self._named(reference.name)
        if function.pattern not in self._checked:
            function.pattern.check(function.signature.attrs)
            self._checked.add(function.pattern)
        return function

    def call(self, reference: FuncRef, args: Sequence[Any], site: CallSite = PLAIN_CALL) -> list[Any]:
        """Return the results of a library function on `args`; None for results that are left out."""
        # The first look takes no lock: entries are only added, and `_library_body` looks again under the lock.
        is_hooked = current().hook is not None
        body = self._bodies.get((reference.name, site, is_hooked)) or self._library_body(reference, site, is_hooked)
        return self._run(body, args)

    def caller(self, reference: FuncRef, site: CallSite = PLAIN_CALL) -> Callable[[Sequence[Any]], list[Any]]:
        """Return a call of a single function; the first call looks the function up."""
        bodies: list[_FunctionProgram | None] = [None, None]

        def run(args: Sequence[Any]) -> list[Any]:
            is_hooked = current().hook is not None
            body = bodies[is_hooked]
            if body is None:
                body = bodies[is_hooked] = self._library_body(reference, site, is_hooked)
            return self._run(body, args)

        return run

    def loop(
        self,
        condition: FuncRef,
        body: FuncRef,
        site: CallSite,
        unused: tuple[int, ...],
        plain: Callable[[Sequence[Any]], Sequence[Any]],
    ) -> Callable[[Sequence[Any]], Sequence[Any]]:
        """Return `plain`, a loop over calls of two functions, without its dead values where a run has no hook to see them."""
        # The programs of the loop made here have neither a cache nor an engine.
        if not self._policy.allows(Tier.FUSED) or self._cache is not None or self._runtime is not None:
            return plain
        made: list[tuple[WhileCall, _FunctionProgram] | None] = []

        def run(values: Sequence[Any]) -> Sequence[Any]:
            # A hook sees each node, also those that push onto lists and pop from them, so such a run takes the plain loop.
            if current().hook is not None:
                return plain(values)
            if not made:
                loop = self._while_call(condition, body, site, unused)
                made.append(None if loop is None else (loop, _FunctionProgram(body.name, loop, len(values), (), True)))
            # This is asked in each run: the lists come from outside, and another list may have a limit or lack elements.
            if made[0] is None or not made[0][0].takes(values):
                return plain(values)
            return self._run(made[0][1], values)

        return run

    def _while_call(self, condition: FuncRef, body: FuncRef, site: CallSite, unused: tuple[int, ...]) -> WhileCall | None:
        functions = [with_attrs(self._implementation(reference), reference) for reference in (condition, body)]
        for function in functions:
            function.check()
        plans = while_plans(functions[0], functions[1], site, unused)
        if plans is None:
            return None
        programs = [Program(plan, self._context, self.library, policy=self._policy) for plan in (plans.condition, plans.body)]
        return WhileCall(plans, programs[0], programs[1])

    def call_made(self, function: Function, args: Sequence[Any]) -> list[Any]:
        """Return the results of a function that is not in the library, but was made by a kernel."""
        with self._lock:
            # The function is kept beside its program, so its id is not given to another.
            entry = self._made.get(id(function))
            if entry is None:
                entry = self._made[id(function)] = (function, self._compiled(function, PLAIN_CALL))
        return self._run(entry[1], args)

    def _library_body(self, reference: FuncRef, site: CallSite, is_hooked: bool) -> _FunctionProgram:
        function = self._implementation(reference)
        # A polymorphic function has a body for each set of attributes; for all others the name is enough.
        attrs = str(sorted(reference.attrs.items(), key=lambda item: item[0])) if function.signature.attrs else ""
        # A hook sees the nodes of the very function, and nodes with a state have a state for each function.
        source = function if is_hooked or _may_keep_state(function.pattern) else function.pattern
        with self._lock:
            program = self._programs.get((source, attrs, site))
            if program is None:
                if (source, attrs) not in self._lowered:
                    self._lowered[source, attrs] = lowered_function(with_attrs(source, reference))
                program = self._programs[source, attrs, site] = self._compiled(self._lowered[source, attrs], site)
            body = dataclasses.replace(program, name=function.name)
            if not attrs:
                self._bodies[reference.name, site, is_hooked] = body
            return body

    def _implementation(self, reference: FuncRef) -> Function:
        return self._named(implementation(self.library, reference.name))

    def _named(self, name: str) -> Function:
        function = self.library.get(name)
        return self._graph.function(name) if function is None else function

    def _compiled(self, function: Function, site: CallSite) -> _FunctionProgram:
        function.check()
        plan = plan_of_function(function, site)
        program = bound_program(plan, function.body, self._context, self.library, self._cache, self._runtime, self._policy)
        places = iter(range(len(function.results)))
        results = tuple(None if i in site.unused else next(places) for i in range(len(function.results)))
        return _FunctionProgram(
            function.name, program, len(function.args), results, results == tuple(range(len(plan.fetches)))
        )

    def _run(self, body: _FunctionProgram, args: Sequence[Any]) -> list[Any]:
        if len(args) != body.args:
            raise InvalidArgumentError(f"function '{body.name}' takes {body.args} arguments, not {len(args)}")
        run = current()
        # A recursion without end would overflow the C stack, which ends the process; this is an error that can be handled.
        if run.depth >= _MAX_DEPTH:
            raise ResourceExhaustedError(f"function '{body.name}' calls itself without end ({run.depth} calls deep)")
        run.depth += 1
        try:
            # The recursion limit belongs to the whole interpreter, so shallow calls, which are all calls of most graphs, leave
            # it alone.
            if run.depth == _DEEP:  # once: the raised limit holds for all deeper calls
                with _deep_stack:
                    values = body.program.run(args, run)
            else:
                values = body.program.run(args, run)
        finally:
            run.depth -= 1
        return values if body.is_complete else [None if place is None else values[place] for place in body.results]


def _may_keep_state(function: Function) -> bool:
    """Return True if a node of the function may keep a state between runs, which sessions hold by the node."""
    nodes = (node for node in function.body if not node.is_argument)
    return any(node.op_def is None or node.op_def.is_stateful for node in nodes)


class _DeepStack:
    """Stack space for functions nested many levels deep: every level takes about ten Python frames.

    The interpreter has a single limit for all threads, so the last thread to leave restores the limit.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entered = 0
        self._before = 0

    def __enter__(self) -> None:
        with self._lock:
            self._entered += 1
            if self._entered == 1:
                self._before = sys.getrecursionlimit()
                sys.setrecursionlimit(max(self._before, _DEEP_STACK))

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._entered -= 1
            if not self._entered:
                sys.setrecursionlimit(self._before)


_deep_stack = _DeepStack()


# A While as a loop over two programs; lists that grow or shrink by an element at a time are Python lists.

_UNKNOWN_SHAPE: Final = np.array(-1, np.int32)
"""The `element_shape` input of a node that pops an element: unknown."""


# The forward loop of a Keras RNN pushes each intermediate value, read or not. Without the dead values, and with Python's
# lists, a training step of a GRU takes 14.5 ms instead of 20.6, an LSTM's 8.9 instead of 9.9.
class WhileCall:
    """A loop with a body that pops elements from some lists and pushes elements onto others."""

    def __init__(self, plans: WhilePlans, condition: Program, body: Program) -> None:
        self._plans = plans
        self._condition = condition
        self._body = body

    def takes(self, values: Sequence[Any]) -> bool:
        """True if the loop may begin with `values`: lists without a limit, with all popped elements present."""
        popped, pushed = self._plans.popped, self._plans.pushed
        return all(_is_endless(node, values[place]) for place, node in (*popped.items(), *pushed.items())) and not any(
            item is None for place in popped for item in values[place].item().items
        )

    def run(self, feeds: Sequence[Any], run: Run) -> list[Any]:
        """Return the final values of the variables that the loop `takes`; variables that nobody reads may have any value."""
        plans, values = self._plans, list(feeds)
        asked, taken, updated = plans.asked, plans.taken, plans.updated
        shrinking = [_ChangingList(node, values[place].item()) for place, node in plans.popped.items()]
        growing = [_ChangingList(node, values[place].item()) for place, node in plans.pushed.items()]
        while is_true(self._condition.run([values[place] for place in asked], run)[0]):
            # A run may have a deadline and no hook, as while a loop is folded.
            check_time()
            elements = [changing.popped() for changing in shrinking]
            results = self._body.run(elements + [values[place] for place in taken], run)
            for changing, element in zip(growing, results):
                changing.push(element)
            for place, value in zip(updated, results[len(growing) :]):
                values[place] = value
        for place, changing in zip((*plans.popped, *plans.pushed), shrinking + growing):
            values[place] = changing.as_tensor()
        return values


class _ChangingList:
    """A list of tensors while a node of the loop's body changes the list."""

    __slots__ = ("_before", "_item_shape", "_items", "_last_shape", "_node")

    def __init__(self, node: Node, before: TensorList) -> None:
        self._node = node
        self._before = before
        self._items = before.items.copy()  # a list is a value: who else holds the one of before sees no change
        self._item_shape = before.item_shape
        self._last_shape: tuple[int, ...] | None = None

    def as_tensor(self) -> Any:
        """Return the current list as a tensor."""
        before = self._before
        return scalar_object(
            TensorList(before.dtype, before.element_shape, self._items.copy(), before.max_num_elements, self._item_shape)
        )

    def popped(self) -> Any:
        """Remove and return the last element."""
        # The list may run out in any iteration, and the error must be the one of the node that pops.
        if not self._items:
            apply_kernel(self._node, [self.as_tensor(), _UNKNOWN_SHAPE])
        return self._items.pop()

    def push(self, element: Any) -> None:
        """Add an element at the end."""
        # Elements of a loop nearly always have one shape, and a comparison costs less than the checks.
        if element.shape != self._last_shape:
            self._note_shape(element)
        self._items.append(element)

    def _note_shape(self, element: Any) -> None:
        """Let the node refuse an element that does not fit."""
        if not fits(element.shape, self._before.element_shape):
            apply_kernel(self._node, [self.as_tensor(), element])
        if self._item_shape is NOTHING_SET:
            self._item_shape = element.shape
        elif self._item_shape != element.shape:
            self._item_shape = ANY
        self._last_shape = element.shape


def _is_endless(node: Node, handle: Any) -> bool:
    """True for a handle of a list that a node may change and that has no largest size."""
    if handle.ndim or not isinstance(content := handle.item(), TensorList):
        return False
    # A limit or a wrong dtype is an error of the node's kernel, which only the plain loop calls.
    return content.dtype is node.attr("element_dtype") and content.max_num_elements < 0
