"""Loops, conditionals and calls in an array program, with the changes of stacks and arrays of tensors by the steps inside."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from ...support.errors import UnimplementedError
from .library import jax, jnp, program_function
from .list_programs import StackedElements, Unread
from .symbolic_dims import is_symbolic
from .trace_memory import TraceFinding, same_form

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
    site = (site, xla.times, xla.alive is True)
    call = xla.memory.call(site, values)
    if call is None:
        results = list(compute(values))
        xla.memory.note_call(site, values, all(map(_is_shareable, results)))
        return results
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
        """Give lists at the start the room that they have `after` an iteration; True where they had less."""
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
            return decision(*inner)[0] & held & self.xla.alive

        if times is None:
            return jax.lax.while_loop(goes_on, step, state)

        def once(state: Any, _: None) -> tuple[Any, None]:
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
            if place not in part.varying:
                part.vary(place)
        return part.run(times)
    finally:
        xla.times = outer


def choose(xla: Any, site: Hashable, index: Any, branches: Sequence[Advance], values: Sequence[Any]) -> list[Any]:
    """Return the results of the branch numbered `index` on `values`; `site` stands for the branches in the graph."""
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
