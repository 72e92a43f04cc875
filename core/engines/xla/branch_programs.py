"""V1 conditionals in loops and functions as array programs: the steps of all branches are computed, a Merge chooses.

A value is alive where the run would have computed the value. Conditions of dead steps do not count, loops on dead branches
end at once, and stacks and arrays of tensors stay there as they were.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...control_flow.frames import MERGE
from ...planning.plan import Step
from ...support.errors import UnimplementedError
from .library import jax, jnp
from .list_programs import StackedElements, Unread


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
            sides[-1] = (choice < 0) | (choice >= count - 1)
        for slot, side in zip(step.outputs, sides):
            self.alive[slot] = side if alive is True else alive & side
        return [*[data] * count, alive]

    def merged(self, step: Step, values: Sequence[Any]) -> list[Any]:
        """Return the outputs of a Merge: the first input that is alive, and the input's number."""
        alive = [self.alive.get(slot, True) for slot in step.inputs]
        value, number = values[-1], np.int32(len(values) - 1)
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
