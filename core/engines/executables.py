"""Settings of an engine in a session, compiled groups, and the comparison of an engine's results with NumPy's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from ..support import dataclasses
from ..support.trials import Trial
from ..types.arrays import Array
from .protocol import Compiled

_COMPILE_SECONDS: Final = 120.0
"""The seconds of compiling in a session before later groups stay in NumPy."""
PAIRS: Final = 3
"""The number of paired runs of a group, in the engine and in NumPy, before a choice; the first pair warms up."""
PAIRED_GAIN: Final = 1.3
"""The ratio of times below which a group stays with its engine, before whole runs are compared. In a pair each way finds the
caches and the variables as the other way left them: XLA takes 1.06 times NumPy's time for an Adam step of a perceptron in
pairs, and 0.8 times alone (`benchmarks`, the row of the perceptron).
"""
PAIRS_SECONDS: Final = 0.05
"""The least seconds of all paired runs; a short group needs more pairs, since short times scatter."""
Form: TypeAlias = tuple[np.dtype[Any], tuple[int, ...] | None]
"""The dtype of a result, and the shape where known."""


@dataclasses.dataclass(frozen=True, slots=True)
class EngineSettings:
    """Settings of an engine.

    `verify`: run every group in NumPy too, and compare. `chooses`: keep NumPy if NumPy is faster, or if the first results
    of the engine differ. `is_fast`: compute in the fastest type with results close enough. `reports`: measure the figures
    of a report in the first run. `times_numpy`: run each group once in NumPy for the time. `compile_seconds`: the seconds
    of compiling before later groups stay in NumPy.
    """

    verify: bool = False
    chooses: bool = False
    is_fast: bool = False
    reports: bool = False
    times_numpy: bool = True
    compile_seconds: float = _COMPILE_SECONDS


DEFAULT: Final = EngineSettings()


@dataclasses.dataclass(slots=True, eq=False)
class Executable:
    """A group compiled for inputs like the inputs of `key`; `trial` has the times of NumPy, 0, and the engine, 1.

    `is_accepted`: results agreed with NumPy's in a run.
    """

    key: Any
    function: Compiled
    forms: Sequence[Form]
    trial: Trial
    precision: str | None = None
    runs: int = 0
    is_accepted: bool = False

    @property
    def is_kept(self) -> bool:
        """Return whether a comparison with NumPy has kept the engine."""
        return self.trial.choice == 1


TOLERANCES: Final = {"f2": 2e-2, "f4": 1e-4, "f8": 1e-9, "c8": 1e-4, "c16": 1e-9}
"""The largest error of an element as a part of the tensor's largest magnitude, by the kind and size of the dtype."""
_COARSE: Final = 2e-2
"""That part for the dtypes of other packages, such as bfloat16."""
ROUNDINGS: Final = 16.0
"""The largest error of an engine as a multiple of NumPy's own change, where each input moves to a neighbouring float.

XLA has 0.5 to 5 times NumPy's own change in 330 tensors of a training step of ResNet-50; a wrong op has some hundred times.
"""


def neighbours(array: Any) -> Any:
    """Return the array with each float moved up or down to the next float; zeros and other dtypes stay."""
    values = np.asarray(array)
    if values.dtype.kind != "f":
        return array
    # All floats moved in one direction would shift means and sums by more than roundings do. The seed makes the answer of a
    # comparison the same in each run.
    ends = np.random.default_rng(0).choice(np.array([-np.inf, np.inf], values.dtype), values.shape)
    with np.errstate(all="ignore"):
        # The neighbour of zero is subnormal, which flushes to zero; and many zeros are exact, such as padding and masks.
        return np.where(values == 0, values, np.nextafter(values, ends))


def is_rounding(result: Array, expected: Array, moved: Array) -> bool:
    """Return whether a difference follows from rounding: `moved` is NumPy's result for neighbouring floats as inputs."""
    # The change of NumPy's own result must be finite: if it is not, nothing can be said about the engine.
    own = relative_difference(moved, expected)
    return np.isfinite(own) and relative_difference(result, expected) <= ROUNDINGS * own


def difference(result: Array, expected: Array, tolerance: float | None = None) -> str | None:
    """Return the difference of `result` from `expected` in words; None within the precision of the dtype.

    Integers and truth values must be equal, NaNs and infinities at the same places.
    """
    if result.dtype != expected.dtype:
        return f"its dtype is {result.dtype}, not {expected.dtype}"
    if result.shape != expected.shape:
        return f"its shape is {result.shape}, not {expected.shape}"
    kind = expected.dtype.kind
    if kind in "biu":
        wrong = int(np.count_nonzero(result != expected))
        return f"{wrong} of {expected.size} elements differ" if wrong else None
    # The limit is relative to the largest magnitude of the tensor and not of the element: a sum that cancels to a small
    # element has the error of its terms.
    limit = tolerance or TOLERANCES.get(f"{kind}{expected.dtype.itemsize}", _COARSE)
    return _numeric_difference(_wide(result), _wide(expected), limit)


def _wide(array: Array) -> Array:
    # Differences of halves in half precision would round, and overflow beyond 65,504.
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _numeric_difference(result: Array, expected: Array, limit: float) -> str | None:
    off, largest = _off(result, expected)
    if off == np.inf:
        return "NaNs or infinities are in other places"
    if off <= limit * largest or off == 0:
        return None
    return f"it is off by up to {off:.3g}, where the largest magnitude is {largest:.3g}"


def relative_difference(result: Array, expected: Array) -> float:
    """Return the error of `result` as a part of the largest magnitude; infinite for another dtype or shape, or for unequal
    integers.
    """
    if result.dtype != expected.dtype or result.shape != expected.shape:
        return np.inf
    if expected.dtype.kind in "biu":
        return 0.0 if np.array_equal(result, expected) else np.inf
    off, largest = _off(_wide(result), _wide(expected))
    return float(np.float64(off) / np.float64(largest)) if largest else (np.inf if off else 0.0)


def _off(result: Array, expected: Array) -> tuple[float, float]:
    """Return (the largest difference, infinite where NaNs or infinities are in other places; the largest finite magnitude)."""
    with np.errstate(all="ignore"):
        finite = np.isfinite(expected)
        # `==` holds for infinities of the same sign, but for no NaNs, which count as the same here.
        same = (result == expected) | (np.isnan(result) & np.isnan(expected))
        if not np.array_equal(np.isfinite(result), finite) or not same[~finite].all():
            return np.inf, 0.0
        if not finite.any():
            return 0.0, 0.0
        return float(np.abs(result[finite] - expected[finite]).max()), float(np.abs(expected[finite]).max())
