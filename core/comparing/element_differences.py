"""Two values of a tensor compared element by element."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..support import dataclasses
from ..types.tensors import Tensor
from .node_changes import Renaming, VariableChange


@dataclasses.dataclass(frozen=True, slots=True)
class Comparison:
    """The difference in a fetch: the largest absolute difference, and the smallest relative tolerance that passes.

    `step` is the run with the largest difference, counted from 1.
    """

    fetch: str
    """The tensor that is compared."""
    step: int
    """The run with the largest difference, from 1."""
    largest_difference: float
    """The largest absolute difference of two elements."""
    tolerance_needed: float
    """The smallest tolerance that passes."""
    passed: bool
    """True if the difference is within the tolerance."""


def worse(worst: Comparison | None, comparison: Comparison) -> Comparison:
    """Return the comparison that needs more tolerance; the earlier if both need the same."""
    return comparison if worst is None or comparison.tolerance_needed > worst.tolerance_needed else worst


def is_value(value: Any) -> bool:
    """Return False for results that two runs never share: handles, lists, None."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype != object or all(isinstance(item, bytes) for item in value.ravel())
    return isinstance(value, bytes)


def compare(name: str, step: int, a: Any, b: Any, tolerance: float) -> Comparison:
    """Compare two values of a fetch; values that are not numbers must be equal."""
    a, b = (np.asarray(value, object) if isinstance(value, bytes) else value for value in (a, b))
    if a.shape != b.shape or a.dtype != b.dtype:
        return Comparison(name, step, np.inf, np.inf, False)
    # "V" has most dtypes of ml_dtypes, which NumPy knows as void.
    if a.dtype.kind not in "fciuV" or not a.size:
        same = bool(np.array_equal(a, b))
        return Comparison(name, step, 0.0 if same else np.inf, 0.0 if same else np.inf, same)
    # In 64 bits integers do not wrap, and large float16 do not overflow, when they are subtracted.
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    x, y = a.astype(wide), b.astype(wide)
    # Before the difference: infinity less infinity is NaN, though the two are equal.
    both = ~(np.isnan(x) & np.isnan(y)) & (x != y)
    with np.errstate(all="ignore"):
        difference = np.abs(x - y)[both]
    if not difference.size:
        return Comparison(name, step, 0.0, 0.0, True)
    # Relative to the largest element, not element by element: a result near 0 that is a difference of large numbers has their
    # rounding errors.
    scale = np.maximum(np.max(np.abs(x[np.isfinite(x)]), initial=0.0), 1e-30)
    # A NaN beside a number is as far off as infinity.
    needed = float(np.max(np.where(np.isfinite(difference), difference, np.inf)) / scale)
    return Comparison(name, step, float(np.max(difference)), needed, needed <= tolerance)


def diff_variables(
    before: Mapping[str, Tensor], after: Mapping[str, Tensor], renaming: Renaming
) -> tuple[VariableChange, ...]:
    """Return the variables of which names, dtypes, shapes or values differ; values are read one variable at a time."""
    new_names = {name: renaming.tensor(name) for name in before}
    counterparts = set(new_names.values())
    changes = [VariableChange(name, "removed", _kind(before[name]), None) for name in before if new_names[name] not in after]
    changes += [VariableChange(name, "added", None, _kind(after[name])) for name in after if name not in counterparts]
    both = [(name, new) for name, new in new_names.items() if new in after]
    values = (_variable_change(name, new, before[name], after[new], renaming) for name, new in both)
    return (*changes, *(change for change in values if change is not None))


def _variable_change(name: str, new: str, a: Tensor, b: Tensor, renaming: Renaming) -> VariableChange | None:
    new_name = new if renaming.is_new_name(name, new) else None
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return VariableChange(name, "changed", _kind(a), _kind(b), None, new_name)
    # `read` leaves nothing behind in the checkpoint's tensors: two models of gigabytes are compared one variable at a time.
    a, b = (Tensor.from_numpy(tensor.read(), tensor.dtype) for tensor in (a, b))
    if a == b:
        return None if new_name is None else VariableChange(name, "changed", _kind(a), _kind(b), 0.0, new_name)
    return VariableChange(name, "changed", _kind(a), _kind(b), largest_difference(a, b), new_name)


def largest_difference(a: Tensor, b: Tensor) -> float | None:
    """Return the largest absolute difference of two tensors of one dtype and shape; None for texts.

    Two NaN are equal, and a NaN and a number differ by NaN.
    """
    if a.dtype.is_object:
        return None
    return compare("", 1, a.numpy(), b.numpy(), 0.0).largest_difference


def _kind(tensor: Tensor) -> str:
    return f"{tensor.dtype} ({','.join(map(str, tensor.shape))})"
