"""V1 conditionals: the result of a Merge of values that are alive on several branches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..control_flow.deadness import branch_of
from .blocks import Value
from .branch_outputs import is_branch_output
from .emitter import Emitter

Condition = frozenset[tuple[Value, int]]


def merged(
    g: Emitter, entries: Sequence[tuple[Value, Condition]], numbers: Sequence[int], arity: Mapping[Value, int]
) -> list[Value]:
    """Return the value of the input that is alive, of several with conditions, and the input's number.

    `arity` has the number of branches of each predicate.
    """
    if len(entries) == 1:
        return [entries[0][0], g.constant(np.int32(numbers[0]))]
    if not all(is_branch_output(value) for value, _ in entries):
        g.refuse("it chooses between values that are not tensors")
    common = frozenset.intersection(*(condition for _, condition in entries))
    predicate, branches = _divided(g, [condition - common for _, condition in entries])
    order = [next((i for i, taken in enumerate(branches) if taken == branch), None) for branch in range(arity[predicate])]
    present = [i if i is not None else order[-1] or 0 for i in order]

    def emit(place: int) -> Any:
        return lambda: [entries[place][0], g.constant(np.int32(numbers[place]))]

    return g.choose(predicate, [emit(place) for place in present])


def _divided(g: Emitter, conditions: Sequence[Condition]) -> tuple[Value, list[int]]:
    """Return the predicate in which the conditions differ, and the branch of each condition."""
    for predicate, _ in conditions[0]:
        branches = [branch_of(condition, predicate) for condition in conditions]
        numbers = [branch for branch in branches if branch is not None]
        if len(numbers) == len(branches) == len(set(numbers)):
            return predicate, numbers
    g.refuse("its inputs are not the branches of one conditional")
