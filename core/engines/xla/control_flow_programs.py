"""Loops, conditionals and calls in an array program, with the changes of stacks and arrays of tensors by the steps inside."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from ...graph.frames import MERGE
from ...planning.plan import Step
from ...support import dataclasses
from ...support.errors import UnimplementedError
from .list_programs import StackedElements, Unread
from .traced_values import is_symbolic, jax, jnp, program_function

# What traces of loops, conditionals and calls have found, for later traces: of a loop in a loop there are several.
# Without this memory, each level of loops or calls would multiply the number of traces of the innermost.


@dataclasses.dataclass
class TraceFinding:
    """What a trace with these values has found: the places of values, and of cells, that change inside."""

    values: Sequence[Any]
    varying: Sequence[int] = ()
    cells: Sequence[int] = ()


@dataclasses.dataclass
class TracedCall:
    """A call with values of one form: the program for it, from the second call on, where it `is_closed`."""

    values: Sequence[Any]
    is_closed: bool
    program: Any = None


class TraceMemory:
    """The findings of a program by the loop or conditional, its calls, and its results that follow from known values alone."""

    def __init__(self) -> None:
        self._findings: dict[Hashable, list[TraceFinding]] = {}
        self._calls: dict[Hashable, list[TracedCall]] = {}
        self._results: dict[Hashable, list[tuple[Sequence[Any], Any]]] = {}

    def findings(self, site: Hashable, values: Sequence[Any]) -> Iterable[TraceFinding]:
        """Return the findings of which all hold for `values`: a trace that knew as much or more found no change too many."""
        return [one for one in self._findings.get(site, ()) if _knows_all(one.values, values)]

    def note(self, site: Hashable, finding: TraceFinding) -> None:
        """Keep a finding, in place of an older one of the same values."""

        def is_replaced(one: TraceFinding) -> bool:
            return _knows_all(one.values, finding.values) and _knows_all(finding.values, one.values)

        self._findings[site] = [*(one for one in self._findings.get(site, ()) if not is_replaced(one)), finding]

    def call(self, site: Hashable, values: Sequence[Any]) -> TracedCall | None:
        """Return the call with values of the same form and the same constants, None for the first."""
        known = self._calls.get(site, ())
        return next((call for call in known if all(map(_is_same, call.values, values))), None)

    def note_call(self, site: Hashable, values: Sequence[Any], is_closed: bool) -> None:
        """Keep a first call."""
        self._calls.setdefault(site, []).append(TracedCall(values, is_closed))

    def once(self, site: Hashable, values: Sequence[Any], find: Callable[[], Any]) -> Any:
        """Return the result of `find` for known values; it is called once for the same values."""
        results = self._results.setdefault(site, [])
        for known, result in results:
            if all(a is b or (_is_constant(a) and _is_constant(b) and _equal(a, b)) for a, b in zip(known, values)):
                return result
        results.append((list(values), find()))
        return results[-1][1]


def _is_same(before: Any, after: Any) -> bool:
    """Return True if a program for one value is right for the other: equal constants, or arrays of one form."""
    if _is_constant(before) or _is_constant(after):
        return _is_constant(before) and _is_constant(after) and _equal(before, after)
    return same_form(before, after)


def same_form(a: Any, b: Any) -> bool:
    """Return True for trees of one structure whose arrays have the same shapes and dtypes."""
    return jax.tree.structure(a) == jax.tree.structure(b) and all(map(_alike, jax.tree.leaves(a), jax.tree.leaves(b)))


def _knows_all(before: Sequence[Any], after: Sequence[Any]) -> bool:
    """Return True if `before` has each constant that `after` has."""
    return len(before) == len(after) and all(_knows(a, b) for a, b in zip(before, after))


def _knows(before: Any, after: Any) -> bool:
    if before is after:
        return True
    if isinstance(before, StackedElements) or isinstance(after, StackedElements):
        return type(before) is type(after) and _knows_list(before, after)
    if isinstance(before, Unread) or isinstance(after, Unread):
        return bool(before == after)
    if hasattr(before, "value") and type(before) is type(after):  # a variable, a stack, an array of tensors
        return _knows(before.value, after.value)
    if _is_constant(before) and _is_constant(after):
        return _equal(before, after)
    is_array = isinstance(after, jax.Array) and isinstance(before, (jax.Array, np.ndarray, np.generic))
    return bool(is_array) and _alike(before, after)


def _knows_list(before: StackedElements, after: StackedElements) -> bool:
    """Return True if the earlier list is known as well; what it has room for is seen by no step."""
    length = isinstance(before.length, np.integer) and (
        not isinstance(after.length, np.integer) or before.length == after.length
    )
    traced = not isinstance(before.length, np.integer) and not isinstance(after.length, np.integer)
    constant = after.constant is None or (before.constant is not None and _equal(before.constant, after.constant))
    return before.dtype == after.dtype and (length or traced) and constant


def _is_constant(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic))


def _equal(a: Any, b: Any) -> bool:
    return a.dtype == b.dtype and np.shape(a) == np.shape(b) and bool(np.array_equal(a, b))


def _alike(a: Any, b: Any) -> bool:
    return bool(a.dtype == b.dtype and np.shape(a) == np.shape(b))


# Loops, conditionals and calls.

Condition = Callable[[Sequence[Any]], Any]
Advance = Callable[[Sequence[Any]], Sequence[Any]]
_ATTEMPTS: Final = 8
"""The largest number of traces of a body until the forms of the carried values settle; each level of nested lists takes
one.
"""

_MOST_CALLS: Final = 10_000
"""The largest number of calls, each as often as a run makes it: XLA, and JAX's walks of shardings, take each by itself."""


class TracedProgram:
    """A function of trees of arrays, traced once: calls repeat the operations, not the Python code that made them."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        traced, self.results = jax.make_jaxpr(function, return_shape=True)(*arguments)
        self.function = program_function(traced)

    def __call__(self, *arguments: Any) -> Any:
        """Return the results for arguments of the same form."""
        return jax.tree.unflatten(jax.tree.structure(self.results), self.function(*jax.tree.leaves(arguments)))


class _Shared:
    """A function of arrays and constants as a program that several calls share, with constants among its results known."""

    def __init__(self, xla: Any, values: Sequence[Any], compute: Advance) -> None:
        self.places = [i for i, value in enumerate(values) if isinstance(value, (jax.Array, StackedElements))]

        def run(arrays: Sequence[Any], alive: Any) -> Any:
            given = list(values)
            for i, array in zip(self.places, arrays):
                given[i] = array
            xla.alive = alive
            results = list(compute(given))
            self.requires = bool(xla.conditions)
            # Results that are inputs or constants are known to the caller, who may compute shapes from them.
            self.inputs = {n: i for n, new in enumerate(results) for i in self.places if new is given[i]}
            self.known = {n: new for n, new in enumerate(results) if isinstance(new, (np.ndarray, np.generic))}
            self.count = len(results)
            return [new for n, new in enumerate(results) if n not in self.inputs and n not in self.known], _holds(xla)

        alive, calls = xla.alive, xla.calls
        xla.calls = 1
        with undone(xla):
            try:
                self.program = TracedProgram(run, [values[i] for i in self.places], alive)
                self.calls = xla.calls
            finally:
                xla.alive, xla.calls = alive, calls
        # With `jit` the text of the program has a call for each use instead of a copy of the operations.
        self.program.function = jax.jit(self.program.function)

    def __call__(self, xla: Any, values: Sequence[Any]) -> list[Any]:
        """Return the results for values of the same form; UnimplementedError where a run would make too many calls."""
        xla.calls += self.calls
        if xla.calls > _MOST_CALLS:
            problem = f"functions call each other more than {_MOST_CALLS:,} times"
            raise UnimplementedError(problem, hint="run the graph without an engine: a program repeats each call")
        new, held = self.program([values[i] for i in self.places], xla.alive)
        if self.requires:
            xla.require(held)
        rest = iter(new)
        return [
            self.known[n] if n in self.known else values[self.inputs[n]] if n in self.inputs else next(rest)
            for n in range(self.count)
        ]


def shared(xla: Any, site: Hashable, values: Sequence[Any], compute: Advance) -> list[Any]:
    """Return what `compute` makes of the values; the code at `site` is traced twice at most for values of one form.

    A function that calls another twice, which does the same, would otherwise be traced 2 ** depth times.
    """
    if not all(map(_is_shareable, values)):
        return list(compute(values))
    # The room for lists depends on how often the code runs, and the meaning of requirements on whether it is on a branch.
    site = (site, xla.times, xla.alive is True)
    call = xla.memory.call(site, values)
    # The first call is traced in place, as most code is called once; only the second makes the program to share.
    if call is None:
        results = list(compute(values))
        xla.memory.note_call(site, values, all(map(_is_shareable, results)))
        return results
    # Its results hold handles, which belong to one trace.
    if not call.is_closed:
        return list(compute(values))
    if call.program is None:
        call.program = _Shared(xla, values, compute)
    return call.program(xla, values)  # type: ignore[no-any-return]


def _is_shareable(value: Any) -> bool:
    """Return True for arrays, lists and constants; handles belong to one trace."""
    return isinstance(value, (jax.Array, StackedElements, np.ndarray, np.generic)) and not is_symbolic(value)


def _holds(xla: Any) -> Any:
    """Return whether all requirements hold since the conditions were last taken."""
    conditions = [jnp.asarray(condition) for condition in xla.conditions]
    xla.conditions = []
    return jnp.all(jnp.stack(conditions)) if conditions else jnp.asarray(True)


@contextlib.contextmanager
def undone(xla: Any) -> Iterator[None]:
    """Return a context that restores stacks, arrays and conditions at the end."""
    cells, conditions = list(xla.cells), xla.conditions
    contents = [cell.value for cell in cells]
    xla.conditions = []
    try:
        yield
    finally:
        xla.cells[len(cells) :] = []
        xla.conditions = conditions
        for cell, content in zip(cells, contents):
            cell.value = content


class _Part:
    """A part of a program that runs as a function: of input values, and of the contents of cells.

    Values and cells that the part leaves unchanged stay outside, so that constants among them stay known.
    """

    def __init__(self, xla: Any, site: Hashable, values: Sequence[Any], around: Sequence[Any] = ()) -> None:
        """Prepare a part; `site` stands for its code, `around` are further values that the code reads."""
        self.xla = xla
        self.site = site
        self.values = list(values)
        self.varying: list[int] = []
        self.cells: list[Any] = []
        self.given = [*values, *around, *(cell.value for cell in xla.cells)]
        self.cells_given = list(xla.cells)
        self.recall()

    def recall(self) -> None:
        """Take what earlier traces have found for what varies."""
        # An inner loop is traced again for each trace of the outer: it begins with all that earlier traces found to vary.
        findings = self.xla.memory.findings(self.site, self.given)
        for i in dict.fromkeys(i for finding in findings for i in finding.varying):
            self.vary(i)
        for i in dict.fromkeys(i for finding in findings for i in finding.cells):
            self.carry(self.cells_given[i], self.cells_given)

    def remember(self) -> None:
        """Keep what varies for later traces."""
        cells = [i for i, cell in enumerate(self.cells_given) if cell in self.cells]
        self.xla.memory.note(self.site, TraceFinding(self.given, tuple(self.varying), cells))

    def vary(self, place: int) -> None:
        """Let a value be an input of the part."""
        self.varying.append(place)
        self.values[place] = _as_array(self.values[place])

    def carry(self, cell: Any, known: Sequence[Any]) -> None:
        """Let a cell's content be an input of the part; an array of gradients that is new begins before the part."""
        if cell not in known:
            cell.begin(next(source for source in known if cell in getattr(source, "gradients", {}).values()))
            self.xla.cells.append(cell)
        cell.value = _as_array(cell.value)
        self.cells.append(cell)

    def state(self) -> tuple[list[Any], list[Any]]:
        """Return the values and contents of cells to pass in."""
        return [self.values[i] for i in self.varying], [cell.value for cell in self.cells]

    def enter(self, state: tuple[Sequence[Any], Sequence[Any]]) -> list[Any]:
        """Return the values inside, the cells filled."""
        values = list(self.values)
        for i, value in zip(self.varying, state[0]):
            values[i] = value
        for cell, content in zip(self.cells, state[1]):
            cell.value = content
        return values

    def changed_cells(self, known: Sequence[Any], contents: Sequence[Any]) -> list[Any]:
        """Return the changed cells, and new arrays of gradients of older arrays, which must be created outside."""
        cells = [cell for cell, content in zip(known, contents) if cell.value is not content and cell not in self.cells]
        return [*cells, *(made for cell in known for made in getattr(cell, "gradients", {}).values() if made not in known)]


class _LoopPart(_Part):
    """A loop: `advance` makes the next values as long as `condition` holds."""

    def __init__(self, xla: Any, site: Hashable, condition: Condition, advance: Advance, *values: Sequence[Any]) -> None:
        super().__init__(xla, site, *values)
        self.condition = condition
        self.advance = advance

    def settle(self) -> TracedProgram:
        """Return an iteration, with the varying values and forms that hold in all iterations."""
        for _ in range(_ATTEMPTS):
            program = self.look()
            if program is not None:
                self.remember()
                return program
        raise UnimplementedError("a value changes its shape from one iteration of a loop to the next")

    def look(self) -> TracedProgram | None:
        """Trace an iteration; return None where the trace told something new."""
        cells_before = list(self.xla.cells)
        seen: dict[str, Any] = {}

        def once(state: Any) -> Any:
            *inner, held = state
            values = self.enter(inner)
            contents = [cell.value for cell in cells_before]
            new = self.advance(values)
            seen["values"] = [i for i, (a, b) in enumerate(zip(values, new)) if a is not b and i not in self.varying]
            seen["cells"] = self.changed_cells(cells_before, contents)
            return [_as_array(new[i]) for i in self.varying], [cell.value for cell in self.cells], held & _holds(self.xla)

        with undone(self.xla):
            program = TracedProgram(once, (*self.state(), jnp.asarray(True)))
        for i in seen["values"]:
            self.vary(i)
        for cell in seen["cells"]:
            self.carry(cell, cells_before)
        is_new = self.widen(program.results) or bool(seen["values"] or seen["cells"])
        return None if is_new else program

    def decision(self, state: Any) -> tuple[TracedProgram, bool]:
        """Return whether another iteration follows and requirements hold, as a program, and whether there are any."""
        seen = {}

        def decide(*inner: Any) -> Any:
            again = jnp.asarray(self.condition(self.enter(inner)))
            if again.ndim:
                raise UnimplementedError("a loop's condition is not a scalar")
            seen["requires"] = bool(self.xla.conditions)
            return again, _holds(self.xla)

        with undone(self.xla):
            return TracedProgram(decide, *state), seen["requires"]

    def widen(self, after: Any) -> bool:
        """Give lists at the start the room that they have `after` an iteration; True if they had less."""
        is_wider = False
        places = [*self.varying, *range(len(self.cells))]
        for n, (place, new) in enumerate(zip(places, (*after[0], *after[1]))):
            is_value = n < len(after[0])
            old = self.values[place] if is_value else self.cells[place].value
            if isinstance(old, StackedElements) is not isinstance(new, StackedElements):
                raise UnimplementedError("a loop passes on a list instead of a tensor")
            if not isinstance(old, StackedElements) or same_form(old, new):
                continue
            is_wider, wide = True, _as_array(old.widened(new))
            if is_value:
                self.values[place] = wide
            else:
                self.cells[place].value = wide
        return is_wider

    def run(self, times: int | None) -> list[Any]:
        """Return the values after the last iteration; `times` bounds the iterations where it is known."""
        step = self.settle()
        if not self.varying and not self.cells:
            raise UnimplementedError("no loop variable changes between iterations")
        # The requirements are carried as a truth value, because the conditions of an iteration exist only inside the loop.
        state = (*self.state(), jnp.asarray(True))
        _require_alike(state, step.results)
        decision, requires = self.decision(self.state())
        with undone(self.xla):
            values, contents, held = self.repeated(step, decision, state, times if self.xla.fed is not None else None)
        inside = self.enter((values, contents))
        self.xla.require(held)
        if requires:  # the requirements of the condition, after the last iteration
            self.xla.require(decision(values, contents)[1])
        return inside

    def repeated(self, step: TracedProgram, decision: TracedProgram, state: Any, times: int | None) -> Any:
        """Return the state after the last iteration, by a scan over `times` iterations where they are known."""

        def goes_on(state: Any) -> Any:
            *inner, held = state
            # A loop ends at once where a requirement failed, since NumPy repeats the run; on a dead branch it might never end.
            return decision(*inner)[0] & held & self.xla.alive

        if times is None:
            return jax.lax.while_loop(goes_on, step, state)

        def once(state: Any, _: None) -> tuple[Any, None]:
            # JAX has no reverse derivative of a while_loop. A scan has one; iterations beyond the last change nothing.
            return jax.lax.cond(goes_on(state), step, lambda same: same, state), None

        return jax.lax.scan(once, state, None, length=times)[0]


def loop(
    xla: Any,
    site: Hashable,
    condition: Condition,
    advance: Advance,
    values: Sequence[Any],
    times: int | None,
    varying: Sequence[int] = (),
    around: Sequence[Any] = (),
) -> list[Any]:
    """Return `values` after `advance` for as long as `condition` holds, at most `times` times if known.

    `site` stands for the loop in the graph; `varying` are values that surely change, `around` further values that the two
    functions read.
    """
    outer = xla.times
    xla.times = None if outer is None or times is None else outer * times
    try:
        part = _LoopPart(xla, site, condition, advance, values, around)
        for place in varying:
            # These places are known to vary, which saves the trace that would find out.
            if place not in part.varying:
                part.vary(place)
        return part.run(times)
    finally:
        xla.times = outer


def choose(xla: Any, site: Hashable, index: Any, branches: Sequence[Advance], values: Sequence[Any]) -> list[Any]:
    """Return the results of the branch numbered `index` on `values`; `site` stands for the branches in the graph."""
    # The index is known while tracing, so the other branches are left out, even if they have no lowering.
    if not isinstance(index, jax.Array):
        return list(branches[int(index)](values))
    part = _Part(xla, site, values)
    traces = _settled(part, branches)
    known = [_common(outputs) for outputs in zip(*(trace.values for trace in traces))]
    left = [i for i, value in enumerate(known) if value is None]
    forms = [_form(outputs) for outputs in zip(*(trace.values for trace in traces))]

    def inside(trace: _Trace) -> Callable[[Any], Any]:
        def run(contents: Any) -> Any:
            new, after, held = trace.program(contents)
            return [_as_array(_read(trace.values[i], new[i], forms[i])) for i in left], after, held

        return run

    contents = [cell.value for cell in part.cells]
    with undone(xla):
        shapes = [jax.eval_shape(inside(trace), contents) for trace in traces]
        for other in shapes[1:]:
            _require_alike(shapes[0], other)
        outputs, contents, held = jax.lax.switch(index, [inside(trace) for trace in traces], contents)
    part.enter(([], contents))
    xla.require(held)
    for i, value in zip(left, outputs):
        known[i] = value
    return known


class _Trace:
    """A branch as a program of the contents of the part's cells, with what the trace told."""

    def __init__(self, part: _Part, branch: Advance) -> None:
        cells_before = list(part.xla.cells)

        def once(contents: Sequence[Any]) -> Any:
            values = part.enter(([], contents))
            before = [cell.value for cell in cells_before]
            self.values = list(branch(values))
            self.cells = part.changed_cells(cells_before, before)
            if any(cell not in cells_before for cell in self.cells):
                raise UnimplementedError("a branch begins an array of gradients")
            new = [_as_array(value) for value in self.values]
            return new, [_as_array(cell.value) for cell in part.cells], _holds(part.xla)

        with undone(part.xla):
            self.program = TracedProgram(once, [cell.value for cell in part.cells])


def _settled(part: _Part, branches: Sequence[Advance]) -> list[_Trace]:
    """Trace the branches of a part until the cells that they change are its inputs."""
    while True:
        traces = [_Trace(part, branch) for branch in branches]
        cells = list(dict.fromkeys(cell for trace in traces for cell in trace.cells))
        if not cells:
            part.remember()
            return traces
        for cell in cells:
            part.carry(cell, part.xla.cells)


def _form(values: Sequence[Any]) -> Any:
    """Return the first value of several branches that is read."""
    return next((value for value in values if not isinstance(value, Unread)), values[0])


def _read(traced: Any, value: Any, form: Any) -> Any:
    """Return a value; of one that was unread when traced, zeros of the form on another branch."""
    return jax.tree.map(lambda a: jnp.zeros(a.shape, a.dtype), form) if isinstance(traced, Unread) else value


def _common(values: Sequence[Any]) -> Any:
    """Return the constant that all values are, or None."""
    first = values[0]
    if any(isinstance(value, (jax.Array, StackedElements, Unread)) for value in values):
        return None
    return first if all(np.array_equal(first, value) and first.dtype == value.dtype for value in values) else None


def _as_array(value: Any) -> Any:
    """Return a value as an array that a program can carry."""
    if isinstance(value, StackedElements):
        return value
    if isinstance(value, jax.Array):
        return value
    if isinstance(value, Unread):
        return jnp.zeros((), value.dtype)
    array = np.asarray(value)
    if array.dtype == object:
        raise UnimplementedError("a loop or conditional passes on a value that is not a numeric tensor")
    return jnp.asarray(array)


def _require_alike(a: Any, b: Any) -> None:
    if not same_form(a, b):
        raise UnimplementedError("the shape of a tensor depends on the branch taken or the number of iterations")


# V1 conditionals in loops and functions as array programs: the steps of all branches are computed, a Merge chooses.
# A value is alive where the run would have computed the value. Conditions of dead steps do not count, loops on dead branches
# end at once, and stacks and arrays of tensors stay there as they were.


class Branches:
    """Deadness of the values in slots while steps are traced: a slot without an entry is alive."""

    def __init__(self, xla: Any) -> None:
        self.xla = xla
        self.alive: dict[int, Any] = {}

    def of(self, step: Step) -> Any:
        """Return whether a guarded step is alive: all inputs and predecessors are."""
        return self.all_alive(list(dict.fromkeys((*step.inputs, *step.controls))))

    def note(self, step: Step, alive: Any) -> None:
        """Record that the outputs of a step are alive where the step is."""
        self.alive.update(dict.fromkeys(step.outputs, alive))

    def all_alive(self, slots: Sequence[int]) -> Any:
        """Return whether the values in all the slots are alive."""
        return _all(self.alive[slot] for slot in slots if slot in self.alive)

    def decided(self, step: Step, values: Sequence[Any]) -> list[Any]:
        """Return the outputs of a step that decides on branches, or joins them."""
        if step.node.op in MERGE:
            return self.merged(step, values)
        alive = self.of(step)
        self.note(step, alive)
        return self.switched(step, values[0], values[1], alive) if values else [alive]

    def switched(self, step: Step, data: Any, choice: Any, alive: Any) -> list[Any]:
        """Return the outputs of a Switch: the data, alive on the side of the predicate's value or number, else on the last."""
        if np.ndim(choice):
            raise UnimplementedError("a predicate is not a scalar")
        count = len(step.node.output_dtypes)
        sides = [choice == side for side in range(count)]
        if choice.dtype != bool:
            # _SwitchN takes the last branch for a number out of range.
            sides[-1] = (choice < 0) | (choice >= count - 1)
        for slot, side in zip(step.outputs, sides):
            self.alive[slot] = side if alive is True else alive & side
        return [*[data] * count, alive]

    def merged(self, step: Step, values: Sequence[Any]) -> list[Any]:
        """Return the outputs of a Merge: the first input that is alive, and the input's number."""
        alive = [self.alive.get(slot, True) for slot in step.inputs]
        value, number = values[-1], np.int32(len(values) - 1)
        # The inputs are taken from the last to the first, so that the first one that is alive decides.
        for place in reversed(range(len(values) - 1)):
            value, number = chosen(alive[place], values[place], value), chosen(alive[place], np.int32(place), number)
        if all(state is not True for state in alive):
            self.note(step, functools.reduce(lambda a, b: a | b, alive))
        return [value, number]


def _all(conditions: Iterator[Any]) -> Any:
    holds: Any = True
    for condition in conditions:
        holds = condition if holds is True else holds & condition
    return holds


def chosen(condition: Any, value: Any, other: Any) -> Any:
    """Return `value` where a condition holds, else `other`, of the same dtype and shape."""
    if not isinstance(condition, jax.Array):
        return value if condition else other
    if value is other or isinstance(other, Unread):
        return value
    if isinstance(value, Unread):
        return other
    if isinstance(value, StackedElements) and isinstance(other, StackedElements):
        value, other = value.alike(other), other.alike(value)
    elif isinstance(value, StackedElements) or isinstance(other, StackedElements):
        raise UnimplementedError("one branch returns a list, another a tensor")
    else:
        value, other = jnp.asarray(value), jnp.asarray(other)
    if jax.tree.structure(value) != jax.tree.structure(other):
        raise UnimplementedError("branches return lists of different forms")
    pairs = zip(jax.tree.leaves(value), jax.tree.leaves(other))
    if any(np.shape(a) != np.shape(b) or a.dtype != b.dtype for a, b in pairs):
        raise UnimplementedError("branches return tensors of different shapes")
    return jax.tree.map(functools.partial(jnp.where, condition), value, other)


@contextlib.contextmanager
def on_branch(xla: Any, alive: Any) -> Iterator[None]:
    """Return a context in which conditions and changes of stacks and arrays count only where `alive` is true."""
    outer, cells = xla.alive, list(xla.cells)
    contents = [cell.value for cell in cells]
    xla.alive = alive if outer is True else outer & alive
    try:
        yield
    finally:
        xla.alive = outer
    for cell, content in zip(cells, contents):
        if cell.value is not content:
            cell.value = chosen(alive, cell.value, content)
