"""Outputs of the branches of a conditional: tensors, and optionals that only some branches fill."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..types.shapes import relax_shapes
from .blocks import Held, Value


def is_branch_output(value: Any) -> bool:
    """Return True for a value that a branch can return."""
    return isinstance(value, (Value, Held))


def flat(g: Any, values: Sequence[Any]) -> list[Value]:
    """Return the tensors that values consist of: parts of complex numbers; of an optional first the flag, then the
    contents.
    """
    tensors: list[Value] = []
    for value in values:
        if isinstance(value, Held):
            tensors += [value.is_there, *flat(g, value.values or ())]
        else:
            tensors += g.parts(value) if value.dtype.is_complex else [value]
    return tensors


def common(g: Any, a: Any, b: Any) -> Any:
    """Return a new value for the result of either branch."""
    if isinstance(a, Held) and isinstance(b, Held):
        if a.values is None or b.values is None:
            held = a.values if b.values is None else b.values
            return Held(_fresh(g, a.is_there), None if held is None else tuple(common(g, value, value) for value in held))
        return Held(_fresh(g, a.is_there), tuple(common(g, left, right) for left, right in zip(a.values, b.values)))
    if isinstance(a, Held) or isinstance(b, Held):
        g.refuse("one branch returns an optional, the other a tensor")
    result = g.fresh(a.dtype, relax_shapes(a.shape, b.shape), a)
    result.elements = a.elements.beside(b.elements)
    return result


def _fresh(g: Any, value: Value) -> Value:
    result: Value = g.fresh(value.dtype, value.shape, value)
    return result


def fitted(g: Any, value: Any, form: Any) -> Any:
    """Return a branch's value with the same tensors as `form`: an optional without contents gets empty tensors."""
    if not isinstance(form, Held) or form.values is None:
        return value
    if value.values is None:
        return Held(value.is_there, tuple(_absent(g, each) for each in form.values))
    return Held(value.is_there, tuple(fitted(g, *pair) for pair in zip(value.values, form.values)))


def _absent(g: Any, form: Any) -> Any:
    if isinstance(form, Held):
        return Held(g.constant(np.array(False)), tuple(_absent(g, value) for value in form.values or ()))
    return g.constant(np.zeros([0] * (form.rank or 0), form.dtype.numpy), form.dtype)
