"""Loops: which of the values that an iteration hands on change, and what stays of their shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ..shapes import Shape, relax_shapes
from .emitter import Emitter
from .model import Value

Advance: TypeAlias = "Callable[[Sequence[Any]], tuple[Value, Sequence[Any]]]"
"""Emits an iteration: from what enters it to the next condition and what it hands on."""


def emit_loop(g: Emitter, condition: Value, values: Sequence[Any], advance: Advance) -> list[Any]:
    """What is left of `values` when the condition no longer holds.

    What an iteration hands on as it is stays outside. The body is emitted until the shapes that enter it hold in every
    iteration.
    """
    if condition.array is not None and not condition.array.any():
        return list(values)
    shapes = {i: value.shape for i, value in enumerate(values) if isinstance(value, Value)}
    source = g.source
    while True:
        inner = {i: g.fresh(values[i].dtype, shape, values[i].is_stacked) for i, shape in shapes.items()}
        with g.inside() as block:
            again, after = advance([inner.get(i, value) for i, value in enumerate(values)])
        g.source = source
        found = _changed(g, inner, values, after)
        if found == shapes:
            block.inputs = list(inner.values())
            block.outputs = [again, *(after[i] for i in inner)]
            results = g.loop(condition, [values[i] for i in inner], block)
            left = dict(zip(inner, results))
            return [left.get(i, value) for i, value in enumerate(values)]
        shapes = found


def _changed(g: Emitter, inner: dict[int, Value], before: Sequence[Any], after: Sequence[Any]) -> dict[int, Shape]:
    """The shapes of what changes, such that they hold before and after an iteration."""
    found = {}
    for i, value in enumerate(after):
        if i not in inner and value is not before[i] and not _same(value, before[i]):
            g.refuse("an iteration hands on something that is no tensor")
        if i in inner and value is not inner[i]:
            relaxed = relax_shapes(inner[i].shape, value.shape)
            found[i] = inner[i].shape if str(relaxed) == str(inner[i].shape) else relaxed
            if inner[i].dtype is not value.dtype:
                g.refuse(f"an iteration hands on {value.dtype} for {inner[i].dtype}")
    return found


def _same(a: Any, b: Any) -> bool:
    return isinstance(a, Value) and isinstance(b, Value) and a.array is not None and a is b
