"""Loops, conditionals and calls in an array program, with the changes of stacks and arrays of tensors by the steps inside."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from ...support.errors import UnimplementedError
from .library import jax, jnp
from .list_programs import StackedElements, Unread

Condition = Callable[[Sequence[Any]], Any]
Advance = Callable[[Sequence[Any]], Sequence[Any]]
_ATTEMPTS: Final = 8
"""The largest number of traces of a body until the forms of the carried values settle; each level of nested lists takes
one.
"""


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

    def __init__(self, xla: Any, values: Sequence[Any]) -> None:
        self.xla = xla
        self.values = list(values)
        self.varying: list[int] = []
        self.cells: list[Any] = []

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

    def holds(self) -> Any:
        """Return whether all requirements hold since the conditions were last taken."""
        conditions = [jnp.asarray(condition) for condition in self.xla.conditions]
        self.xla.conditions = []
        return jnp.all(jnp.stack(conditions)) if conditions else jnp.asarray(True)

    def changed_cells(self, known: Sequence[Any], contents: Sequence[Any]) -> list[Any]:
        """Return the changed cells, and new arrays of gradients of older arrays, which must be created outside."""
        cells = [cell for cell, content in zip(known, contents) if cell.value is not content and cell not in self.cells]
        return [*cells, *(made for cell in known for made in getattr(cell, "gradients", {}).values() if made not in known)]


class _LoopPart(_Part):
    """A loop: `advance` makes the next values as long as `condition` holds."""

    def __init__(self, xla: Any, condition: Condition, advance: Advance, values: Sequence[Any]) -> None:
        super().__init__(xla, values)
        self.condition = condition
        self.advance = advance

    def step(self, state: Any) -> Any:
        """Trace an iteration."""
        *inner, held = state
        values = self.enter(inner)
        new = self.advance(values)
        return [_as_array(new[i]) for i in self.varying], [cell.value for cell in self.cells], held & self.holds()

    def goes_on(self, state: Any) -> Any:
        """Return True where another iteration follows; requirements of the condition are checked after the last."""
        *inner, held = state
        with undone(self.xla):
            again = jnp.asarray(self.condition(self.enter(inner)))
            if again.ndim:
                raise UnimplementedError("a loop's condition is not a scalar")
            return again & held & self.xla.alive

    def settle(self) -> None:
        """Find the varying values and forms that hold in all iterations."""
        for _ in range(_ATTEMPTS):
            if not self.look():
                return
        raise UnimplementedError("a value changes its shape from one iteration of a loop to the next")

    def look(self) -> bool:
        """Trace an iteration without computing; return True where the trace told something new."""
        cells_before = list(self.xla.cells)
        seen: dict[str, Any] = {}

        def once(state: Any) -> Any:
            values = self.enter(state[:2])
            contents = [cell.value for cell in cells_before]
            new = self.advance(values)
            seen["values"] = [i for i, (a, b) in enumerate(zip(values, new)) if a is not b and i not in self.varying]
            seen["cells"] = self.changed_cells(cells_before, contents)
            return [_as_array(new[i]) for i in self.varying], [cell.value for cell in self.cells]

        state = self.state()
        with undone(self.xla):
            after = jax.eval_shape(once, state)
        for i in seen["values"]:
            self.varying.append(i)
            self.values[i] = _as_array(self.values[i])
        for cell in seen["cells"]:
            self.carry(cell, cells_before)
        return self.widen(after) or bool(seen["values"] or seen["cells"])

    def carry(self, cell: Any, known: Sequence[Any]) -> None:
        """Let a cell's content go from iteration to iteration; an array of gradients that is new begins before the loop."""
        if cell not in known:
            cell.begin(next(source for source in known if cell in getattr(source, "gradients", {}).values()))
            self.xla.cells.append(cell)
        cell.value = _as_array(cell.value)
        self.cells.append(cell)

    def widen(self, after: Any) -> bool:
        """Give lists at the start the room that they have `after` an iteration; True where they had less."""
        is_wider = False
        places = [*self.varying, *range(len(self.cells))]
        for n, (place, new) in enumerate(zip(places, (*after[0], *after[1]))):
            is_value = n < len(after[0])
            old = self.values[place] if is_value else self.cells[place].value
            if isinstance(old, StackedElements) is not isinstance(new, StackedElements):
                raise UnimplementedError("a loop passes on a list instead of a tensor")
            if not isinstance(old, StackedElements) or (
                jax.tree.structure(old) == jax.tree.structure(new) and _alike(old, new)
            ):
                continue
            is_wider, wide = True, _as_array(old.widened(new))
            if is_value:
                self.values[place] = wide
            else:
                self.cells[place].value = wide
        return is_wider

    def run(self, times: int | None) -> list[Any]:
        """Return the values after the last iteration; `times` bounds the iterations where it is known."""
        self.settle()
        if not self.varying and not self.cells:
            raise UnimplementedError("no loop variable changes between iterations")
        state = (*self.state(), jnp.asarray(True))
        with undone(self.xla):
            _require_alike(state, jax.eval_shape(self.step, state))
            values, contents, held = self.repeated(state, times if self.xla.fed is not None else None)
        inside = self.enter((values, contents))
        self.xla.require(held)
        with _only_conditions(self.xla):
            self.condition(inside)
        return inside

    def repeated(self, state: Any, times: int | None) -> Any:
        """Return the state after the last iteration, by a scan over `times` iterations where they are known."""
        if times is None:
            return jax.lax.while_loop(self.goes_on, self.step, state)

        def once(state: Any, _: None) -> tuple[Any, None]:
            return jax.lax.cond(self.goes_on(state), self.step, lambda same: same, state), None

        return jax.lax.scan(once, state, None, length=times)[0]


@contextlib.contextmanager
def _only_conditions(xla: Any) -> Iterator[None]:
    """Return a context that discards everything traced inside but the conditions."""
    before, conditions = list(xla.conditions), None
    with undone(xla):
        yield
        conditions = xla.conditions
    xla.conditions = [*before, *conditions]


def loop(xla: Any, condition: Condition, advance: Advance, values: Sequence[Any], times: int | None) -> list[Any]:
    """Return `values` after `advance` for as long as `condition` holds, at most `times` times if known."""
    outer = xla.times
    xla.times = None if outer is None or times is None else outer * times
    try:
        return _LoopPart(xla, condition, advance, values).run(times)
    finally:
        xla.times = outer


def choose(xla: Any, index: Any, branches: Sequence[Advance], values: Sequence[Any]) -> list[Any]:
    """Return the results of the branch numbered `index` on `values`."""
    if not isinstance(index, jax.Array):
        return list(branches[int(index)](values))
    part = _Part(xla, values)
    while True:
        results, cells = [], []
        for branch in branches:
            output, changed = _seen(part, branch)
            results.append(output)
            cells += [cell for cell in changed if cell not in cells]
        if not cells:
            break
        part.cells += cells
    known = [_common(outputs) for outputs in zip(*results)]
    left = [i for i, value in enumerate(known) if value is None]
    forms = [next((value for value in outputs if not isinstance(value, Unread)), outputs[0]) for outputs in zip(*results)]

    def inside(branch: Advance) -> Callable[[Any], Any]:
        def run(contents: Any) -> Any:
            new = branch(part.enter(([], contents)))
            inside = [_as_array(_read(new[i], forms[i])) for i in left]
            return inside, [_as_array(cell.value) for cell in part.cells], part.holds()

        return run

    contents = [_as_array(cell.value) for cell in part.cells]
    with undone(xla):
        shapes = [jax.eval_shape(inside(branch), contents) for branch in branches]
        for other in shapes[1:]:
            _require_alike(shapes[0], other)
        outputs, contents, held = jax.lax.switch(index, [inside(branch) for branch in branches], contents)
    part.enter(([], contents))
    xla.require(held)
    for i, value in zip(left, outputs):
        known[i] = value
    return known


def _seen(part: _Part, branch: Advance) -> tuple[list[Any], list[Any]]:
    """Return the results of a branch, constants among them known, and the cells that the branch changes."""
    cells_before = list(part.xla.cells)
    results: list[Any] = []
    cells: list[Any] = []

    def once() -> Any:
        contents = [cell.value for cell in cells_before]
        results.extend(branch(part.enter(([], [cell.value for cell in part.cells]))))
        cells.extend(part.changed_cells(cells_before, contents))
        if any(cell not in cells_before for cell in cells):
            raise UnimplementedError("a branch begins an array of gradients")
        return [_as_array(value) for value in results]

    with undone(part.xla):
        jax.eval_shape(once)
    return results, cells


def _read(value: Any, form: Any) -> Any:
    """Return a value; for an unread value, zeros of the form on another branch."""
    return jax.tree.map(lambda a: jnp.zeros(a.shape, a.dtype), form) if isinstance(value, Unread) else value


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


def _alike(a: Any, b: Any) -> bool:
    return all(x.shape == y.shape and x.dtype == y.dtype for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b)))


def _require_alike(a: Any, b: Any) -> None:
    if jax.tree.structure(a) != jax.tree.structure(b) or not _alike(a, b):
        raise UnimplementedError("the shape of a tensor depends on the branch taken or the number of iterations")
