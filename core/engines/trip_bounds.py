"""Bound the iterations of a loop by running the steps that its condition follows from, as far as their values are known.

XLA gives arrays of a fixed size to the lists of a loop, so it needs a number, which may be too large. `flops/trip_counts`
derives the exact count as a formula from a counter and a limit instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..inference.node_calls import apply_kernel
from ..planning.plan import Loop, Step
from ..support.errors import TfgError
from .step_bodies import only_decides

_MOST: Final = 1 << 13
_FEW: Final = 64
"""Elements up to which a value is followed from iteration to iteration."""
UNKNOWN: Final = object()
"""Stands for a value that is computed when the loop runs."""


def trip_bound(
    condition: Callable[[Sequence[Any]], Any], advance: Callable[[Sequence[Any]], Sequence[Any]], values: Sequence[Any]
) -> int | None:
    """After how many iterations `condition` is surely false, None: never. Both functions give UNKNOWN for what is unknown."""
    for count in range(_MOST):
        again = condition(values)
        if again is not UNKNOWN and not np.any(again):
            return count
        after = advance(values)
        if all(new is UNKNOWN or new is old for new, old in zip(after, values)):
            return None
        values = after
    return None


def iterations(
    condition: Callable[[Sequence[Any]], Any], advance: Callable[[Sequence[Any]], Sequence[Any]], values: Sequence[Any]
) -> list[Sequence[Any]] | None:
    """The values at the beginning of each iteration; None where it is not known how many there are."""
    found: list[Sequence[Any]] = []
    while len(found) < _MOST:
        again = condition(values)
        if again is UNKNOWN:
            return None
        if not np.any(again):
            return found
        found.append(values)
        values = advance(values)
    return None


def known_results(steps: Sequence[Step], slots: list[Any], wanted: Sequence[int]) -> list[Any]:
    """Return the values of the slots `wanted` as far as they follow from those in `slots`; UNKNOWN and None are unknown.

    Inference finds values that hold in every iteration; this goes through the values of one iteration. Of a predicate that
    is unknown it tries both truth values.
    """
    makers = {slot: step for step in steps for slot in step.outputs}
    needed: set[int] = set()
    pending = list(wanted)
    while pending:
        slot = pending.pop()
        if slot not in needed:
            needed.add(slot)
            pending += makers[slot].inputs if slot in makers else ()
    for step in steps:
        if not needed.isdisjoint(step.outputs):
            for slot, value in zip(step.outputs, _results(step, [slots[i] for i in step.inputs])):
                slots[slot] = value
    return [UNKNOWN if slots[slot] is None else slots[slot] for slot in wanted]


def _results(step: Step, inputs: Sequence[Any]) -> Sequence[Any]:
    """What a step gives; of a truth value that is not known both are tried."""
    nothing = [UNKNOWN] * len(step.outputs)
    if step.node.is_constant:
        return [step.node.constant_value()]
    if isinstance(step, Loop) or only_decides(step) or step.node.op_def is None or step.node.op_def.is_stateful:
        return nothing
    missing = [i for i, value in enumerate(inputs) if not isinstance(value, (np.ndarray, np.generic))]
    try:
        if not missing:
            found = apply_kernel(step.node, inputs)
            return found if all(np.size(value) <= _FEW for value in found) else nothing
        dtype = step.node.inputs[missing[0]].dtype
        if len(missing) > 1 or dtype is None or dtype.name != "bool":
            return nothing
        given = [[np.bool_(guess) if i == missing[0] else v for i, v in enumerate(inputs)] for guess in (False, True)]
        first, second = (apply_kernel(step.node, values) for values in given)
    except TfgError:
        return nothing
    return [a if np.array_equal(a, b) else UNKNOWN for a, b in zip(first, second)]
