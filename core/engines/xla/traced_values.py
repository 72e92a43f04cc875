"""JAX, and values while steps are traced: variables, symbolic dimensions, and the widths of numbers that JAX computes in.

Symbolic dimensions are arrays of objects, as long as shapes are computed from them.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ...graph.graph import Node
from ...inference.node_calls import apply_kernel
from ...registry.op_facts import has_fact
from ...support.errors import UnimplementedError
from ...support.hints import Hint, option
from ...types.dtypes import DType

# Where tfg is the first to import JAX, programs on a CPU run in the calling thread, which waits for them. The modules of the
# engine take JAX from here, so that the setting comes before any computation.


def _imported() -> Any:
    """Return the package, with JAX's settings unchanged where the program has imported JAX before."""
    if "jax" in sys.modules:
        return importlib.import_module("jax")
    package = importlib.import_module("jax")
    package.config.update("jax_cpu_enable_async_dispatch", False)
    return package


jax: Final = _imported()
jnp: Final = importlib.import_module("jax.numpy")
export: Final = importlib.import_module("jax.export")
special: Final = importlib.import_module("jax.scipy.special")
program_function: Final[Callable[[Any], Callable[..., Any]]] = importlib.import_module("jax.extend.core").jaxpr_as_fun
"""Make a function of a traced program."""

# Variables, and the widths of numbers.

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
        # The op has already chosen between the old and the new value by the conditions so far; only later conditions are open.
        if any(value is held for held in xla.barriers):
            count = len(xla.conditions)
            self.value, self.settled = value, count if self.settled is None else min(count, self.settled)
        else:
            self.value, self.settled = jnp.asarray(value).astype(self.before.dtype), 0

    @property
    def is_written(self) -> bool:
        """Return True if a step wrote to the variable."""
        return self.settled is not None

    def final(self, xla: Any) -> Any:
        """Return the final value: the initial value where a condition fails, unless the shape has changed."""
        # Values of two shapes leave no choice: NumPy then repeats the whole run if a condition fails.
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


# Symbolic dimensions: arrays of objects, as long as shapes are computed from them.


def extents(dims: Sequence[Any], dtype: Any) -> Any:
    """Return dimensions as an array, of objects where a dimension is symbolic."""
    return _normal(np.array([*dims], object), dtype)


def is_symbolic(value: Any) -> bool:
    """Return True for an array with a symbolic dimension."""
    return isinstance(value, np.ndarray) and value.dtype == object and any(map(jax.export.is_symbolic_dim, value.flat))


def computed(node: Node, values: Sequence[Any], static: Sequence[int]) -> list[Any] | None:
    """Return the results of a node that computes shapes; None for another node, as where a `static` input is symbolic."""
    is_shape = has_fact(node.op, "shape_arithmetic") and not any(isinstance(value, jax.Array) for value in values)
    if not is_shape or any(is_symbolic(values[place]) for place in static):
        return None
    return [
        _normal(np.asarray(value, object), dtype.numpy) for value, dtype in zip(apply_kernel(node, values), node.output_dtypes)
    ]


def traced(value: Any, dtype: DType | None) -> Any:
    """Return an array of dimensions as numbers of the program; other values are returned unchanged."""
    if not is_symbolic(value) or dtype is None:
        return value
    numbers = [jnp.asarray(dim).astype(dtype.numpy) for dim in value.flat]
    return jnp.stack(numbers).reshape(value.shape)


def require_numbers(node: Node, values: Sequence[Any]) -> None:
    """Raise UnimplementedError for a node without a lowering that takes symbolic dimensions."""
    if any(map(is_symbolic, values)):
        problem = "it computes with a symbolic dimension, which has no lowering"
        hint = Hint("set the dimension of the input, e.g. with ", option("shape"))
        raise UnimplementedError(problem, node=node.name, op=node.op, hint=hint)


def _normal(array: Any, dtype: Any) -> Any:
    """Return an array of the dtype where all dimensions are numbers."""
    return array if is_symbolic(array) else array.astype(dtype)
