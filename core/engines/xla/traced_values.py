"""Values while steps are traced: variables, and the widths of numbers that JAX computes in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...graph.graph import Node
from ...support.errors import UnimplementedError
from .library import jax, jnp

_WIDE: Final = "call `jax.config.update('jax_enable_x64', True)` first, or work within `jax.enable_x64(True)`"


class TracedVariable:
    """A variable while steps are traced: the value after the steps so far.

    The value is `before`, the value before all steps, where any of the first `settled` conditions does not hold.
    """

    def __init__(self, value: Any) -> None:
        self.before = self.value = value
        self.settled: int | None = None

    def assign(self, xla: Any, value: Any) -> None:
        """Take a new value."""
        if any(value is held for held in xla.barriers):
            count = len(xla.conditions)
            self.value, self.settled = value, count if self.settled is None else min(count, self.settled)
        else:
            self.value, self.settled = jnp.asarray(value).astype(self.before.dtype), 0

    @property
    def is_written(self) -> bool:
        """Return True where a step wrote to the variable."""
        return self.settled is not None

    def final(self, xla: Any) -> Any:
        """Return the final value: the initial value where a condition fails, unless the shape has changed."""
        if self.settled == len(xla.conditions) or self.value.shape != self.before.shape:
            return self.value
        return jnp.where(xla.holds(), self.value, self.before)


def require_width(dtype: np.dtype[Any]) -> None:
    """Raise UnimplementedError for a dtype of 64 bits where JAX computes in 32 bits."""
    if jax.dtypes.canonicalize_dtype(dtype) != dtype:
        raise UnimplementedError(f"{dtype} needs 64-bit numbers in JAX", hint=_WIDE)


def require_widths(node: Node, values: Sequence[Any]) -> None:
    """Raise UnimplementedError where JAX would cut a result, or a constant among the inputs, to 32 bits."""
    for dtype in node.output_dtypes:
        if dtype.is_numeric:
            require_width(dtype.numpy)
    for value in values:
        _require_fit(value)


def _require_fit(value: Any) -> None:
    """Raise UnimplementedError for a constant that JAX would cut to 32 bits."""
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.itemsize == 8 and value.dtype.kind in "iufc":
        narrow = jax.dtypes.canonicalize_dtype(value.dtype)
        if narrow != value.dtype and not np.array_equal(value.astype(narrow), value, equal_nan=value.dtype.kind in "fc"):
            require_width(value.dtype)
