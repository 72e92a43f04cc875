"""Bound the iterations of a loop by running the steps behind the condition, as far as their values are known.

XLA gives arrays of a fixed size to the lists of a loop and needs a bound, which may be too large. `flops/trip_counts`
derives the exact count as a formula from a counter and a limit instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..graph.traversal import closure
from ..inference.node_calls import apply_kernel
from ..planning.plan import Loop, Step
from ..support.errors import TfgError
from .step_bodies import only_decides

_MOST: Final = 1 << 13
_FEW: Final = 64
"""The largest number of elements of a value that is followed through the iterations."""
UNKNOWN: Final = object()
"""Stands for a value that is computed when the loop runs."""


def trip_bound(
    condition: Callable[[Sequence[Any]], Any], advance: Callable[[Sequence[Any]], Sequence[Any]], values: Sequence[Any]
) -> int | None:
    """Return the iterations after which `condition` is surely false, None for never. Unknown values are UNKNOWN."""
    for count in range(_MOST):
        again = condition(values)
        if again is not UNKNOWN and not np.any(again):
            return count
        after = advance(values)
        if all(new is UNKNOWN or new is old for new, old in zip(after, values)):
            return None
        values = after
    return None


def changing(advance: Callable[[Sequence[Any]], Sequence[Any]], values: Sequence[Any]) -> list[int]:
    """Return the places of known values that are surely others after an iteration."""
    pairs = enumerate(zip(values, advance(values)))
    return [i for i, (old, new) in pairs if old is not UNKNOWN and new is not UNKNOWN and not np.array_equal(old, new)]


def iterations(
    condition: Callable[[Sequence[Any]], Any], advance: Callable[[Sequence[Any]], Sequence[Any]], values: Sequence[Any]
) -> list[Sequence[Any]] | None:
    """Return the values at the start of each iteration; None where the number of iterations is unknown."""
    starts: list[Sequence[Any]] = []
    while len(starts) < _MOST:
        again = condition(values)
        if again is UNKNOWN:
            return None
        if not np.any(again):
            return starts
        starts.append(values)
        values = advance(values)
    return None


def known_results(steps: Sequence[Step], slots: list[Any], fetches: Sequence[int]) -> list[Any]:
    """Return the values of the slots `wanted` as far as they follow from the values in `slots`; UNKNOWN and None are
    unknown.

    Inference finds values that hold in every iteration; this function follows the values of a single iteration. Of an
    unknown predicate both truth values are tried.
    """
    makers = {slot: step for step in steps for slot in step.outputs}
    needed = closure(fetches, lambda slot: makers[slot].inputs if slot in makers else ())
    for step in steps:
        if not needed.isdisjoint(step.outputs):
            for slot, value in zip(step.outputs, _results(step, [slots[i] for i in step.inputs])):
                slots[slot] = value
    return [UNKNOWN if slots[slot] is None else slots[slot] for slot in fetches]


def _results(step: Step, inputs: Sequence[Any]) -> Sequence[Any]:
    """Return the results of a step; of an unknown truth value both are tried."""
    nothing = [UNKNOWN] * len(step.outputs)
    if step.node.is_constant:
        return [step.node.constant_value()]
    if isinstance(step, Loop) or only_decides(step) or step.node.op_def is None or step.node.op_def.is_stateful:
        return nothing
    missing = [i for i, value in enumerate(inputs) if not isinstance(value, (np.ndarray, np.generic))]
    try:
        if not missing:
            results = apply_kernel(step.node, inputs)
            return results if all(np.size(value) <= _FEW for value in results) else nothing
        dtype = step.node.inputs[missing[0]].dtype
        if len(missing) > 1 or dtype is None or dtype.name != "bool":
            return nothing
        guesses = [[np.bool_(guess) if i == missing[0] else v for i, v in enumerate(inputs)] for guess in (False, True)]
        first, second = (apply_kernel(step.node, values) for values in guesses)
    except TfgError:
        return nothing
    return [a if np.array_equal(a, b) else UNKNOWN for a, b in zip(first, second)]
