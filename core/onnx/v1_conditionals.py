"""V1 conditionals: under which branches a value is alive, and what a Merge is of values on several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from .branch_outputs import is_given
from .emitter import Emitter
from .model import Value

Alive = frozenset[tuple[Value, int, int]]
"""Literals (predicate, branch, number of branches) that all hold where a value is alive."""
ALWAYS: Final[Alive] = frozenset()


def union(conditions: Iterable[Alive | None]) -> Alive | None:
    """When all of several are alive; None for never."""
    found = ALWAYS
    for condition in conditions:
        if condition is None:
            return None
        found |= condition
    return found


def on_branch(alive: Alive, predicate: Value, branch: int, count: int) -> Alive | None:
    """When a value is alive that a Switch lets onto a branch; numbers that no branch has go to the last."""
    if predicate.array is None:
        return alive | {(predicate, branch, count)}
    taken = int(predicate.array.reshape(-1)[0])
    return alive if branch == (taken if 0 <= taken < count else count - 1) else None


def merged(g: Emitter, entries: Sequence[tuple[Value, Alive]], numbers: Sequence[int]) -> tuple[list[Value], Alive]:
    """The value of the input that is alive and its number, and when there is one."""
    common = frozenset.intersection(*(alive for _, alive in entries))
    if len(entries) == 1:
        return [entries[0][0], g.constant(np.int32(numbers[0]))], entries[0][1]
    if not all(is_given(value) for value, _ in entries):
        g.refuse("it chooses between things that are no tensors")
    predicate, count, branches = _divided(g, [alive - common for _, alive in entries])
    order = [next((i for i, taken in enumerate(branches) if taken == branch), None) for branch in range(count)]
    present = [i if i is not None else order[-1] or 0 for i in order]

    def emit(place: int) -> Any:
        return lambda: [entries[place][0], g.constant(np.int32(numbers[place]))]

    return g.choose(predicate, [emit(place) for place in present]), common


def _divided(g: Emitter, conditions: Sequence[Alive]) -> tuple[Value, int, list[int]]:
    """The predicate by which the conditions differ, the number of its branches, and the branch of each condition."""
    for predicate, _, count in conditions[0]:
        branches = [next((b for p, b, _ in condition if p is predicate), None) for condition in conditions]
        known = [branch for branch in branches if branch is not None]
        if len(known) == len(branches) == len(set(known)):
            return predicate, count, known
    g.refuse("its inputs are not the branches of one conditional")
