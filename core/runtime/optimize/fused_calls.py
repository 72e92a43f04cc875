"""Calls of fused groups of steps; the layout of a group is computed once for each combination of shapes.

Small values, and values that no layout fits, go through the steps' own kernels, which also report errors.

`benchmarks/__main__.py` shows the worth of the thresholds here: MobileNetV2, LSTM train step.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...registry.registry import affine_function
from ...support.errors import TfgError
from ...support.keyed_cache import KeyedCache
from ..steps.instructions import Call
from .fused_layouts import FusedGroup, GroupLayout, layout_of, shapes_of
from .step_fusion import Fused
from .tiers import LEAST_GROUPED

WORTH_TILING: Final = 1 << 18
"""The number of elements of a result from which tiles save more memory traffic than their dispatch in Python costs."""
_MOST_LAYOUTS: Final = 16
"""The number of combinations of shapes whose layouts a group keeps; a layout may hold a copy of filters."""

_Shapes = tuple[tuple[int, ...], ...]


class FusedCall:
    """A fused group of steps as a call.

    `run_body` runs the steps from an index on, by their own kernels, on a list of slots. `calls` are the bound kernels of
    the steps, `functions` the registered kernels, `constants` the inputs that are the same in every run, by slot. A forced
    call runs fused on values of any size.
    """

    def __init__(
        self,
        step: Fused,
        calls: Sequence[Call],
        functions: Sequence[Call],
        run_body: Callable[[int, list[Any]], None],
        constants: Mapping[int, Any],
        is_forced: bool = False,
    ) -> None:
        self.step = step
        self.is_forced = is_forced
        self.calls = calls
        self.run_body = run_body
        self.root = step.body[-1].outputs[0]
        self.dtype = step.node.output_dtypes[0].numpy
        self.layouts: KeyedCache[_Shapes, GroupLayout | None] = KeyedCache(_MOST_LAYOUTS)
        self.produced: KeyedCache[_Shapes, tuple[int, ...]] = KeyedCache(_MOST_LAYOUTS)
        self.is_useful = False
        affine = [affine_function(inner.node.op) for inner in step.body]
        self.normalizes = any(form is not None and form.has_factor for form in affine)
        on_tiles = [_on_tiles(call, function) for call, function in zip(calls, functions)]
        takes_out = [_takes(function, "out") for function in functions]
        self.group = FusedGroup(step, on_tiles, takes_out, dict(constants), self.dtype)

    def __call__(self, *inputs: Any) -> Any:
        slots = [*inputs, *[None] * (self.step.slots - len(inputs))]
        try:
            result = self._produced(slots) if self.step.has_producer else self._tiled(slots)
        except (TfgError, MemoryError):  # the body fails again, with the node that is at fault
            result = None
        if result is not None:
            self.is_useful = True
            return result
        self.run_body(0 if slots[self.step.body[0].outputs[0]] is None else 1, slots)
        return slots[self.root]

    def _tiled(self, slots: list[Any]) -> Any:
        """Return the result of elementwise steps without a producer; None where tiles do not pay."""
        shapes = tuple([value.shape for value in slots[: len(self.step.inputs)]])
        layout = self._layout(shapes, None)
        if layout is None:
            return None
        result = np.empty(shapes_of(self.step.body, shapes)[self.root], self.dtype)
        return result if layout.chain.evaluate(result, self._operands(layout, slots, result)) else None

    def _produced(self, slots: list[Any]) -> Any:
        """Return the result of a convolution and its epilogue. The first run with new shapes shows the result's shape."""
        first = self.step.body[0]
        shapes, layout = self._known_layout(slots)
        if layout is not None:
            return self._finished(layout, slots)
        slots[first.outputs[0]] = result = self.calls[0](*[slots[i] for i in first.inputs])
        self.produced[shapes] = result.shape
        return None

    def _known_layout(self, slots: list[Any]) -> tuple[Any, GroupLayout | None]:
        """Return (the inputs' shapes, the layout).

        The layout is None until a run has shown the shape of the producer's result.
        """
        shapes = tuple([value.shape for value in slots[: len(self.step.inputs)]])
        layout = self.layouts.get(shapes)
        if layout is None and (produced := self.produced.get(shapes)) is not None:
            layout = self._layout(shapes, produced)
        return shapes, layout

    def _finished(self, layout: GroupLayout, slots: list[Any]) -> Any:
        """Return the result of a convolution with an epilogue on each block.

        The result is None where an operand cannot be cut into tiles.
        """
        finished: list[Any] = []

        def epilogue(result: Any) -> Any:
            finish = layout.chain.on(result, self._operands(layout, slots, result))
            if finish is not None:
                finished.append(result)
            return finish

        first, second, *others = [slots[i] for i in self.step.body[0].inputs]
        filters = second if layout.filters is None else layout.filters
        keywords = {} if layout.bias is None else {"bias": layout.bias}
        if not layout.chain.instructions:
            return self.calls[0](first, filters, *others, **keywords)
        result = self.calls[0](first, filters, *others, epilogue=epilogue, **keywords)
        return result if finished else None

    def _layout(self, shapes: tuple[Any, ...], produced: tuple[int, ...] | None) -> GroupLayout | None:
        try:
            return self.layouts[shapes]
        except KeyError:
            layout = self._lay_out(shapes, produced)
        self.layouts[shapes] = layout
        return layout

    def _operands(self, layout: GroupLayout, slots: Sequence[Any], result: Any) -> list[Any]:
        """Return the chain's operands in this run."""
        values: dict[int, Any] = {**layout.fixed, -1: result}
        for call, sources, places in layout.early:
            computed = call(*[values[i] if i in values else slots[i] for i in sources])
            values.update(zip(places, computed if len(places) > 1 else (computed,)))
        return [values[i] if i in values else slots[i] for i in layout.operands]

    def _lay_out(self, shapes: tuple[Any, ...], produced: tuple[int, ...] | None) -> GroupLayout | None:
        """Return the layout for the shapes of the inputs and of the producer's result; None where tiles do not pay."""
        shape_of = shapes_of(self.step.body, shapes, produced)
        full = shape_of[self.root]
        size = math.prod(full)
        if not size or (produced is not None and tuple(produced) != tuple(full)):
            return None
        if not (self.is_forced or (self._is_worth_tiling(size) if produced is None else size >= LEAST_GROUPED)):
            return None
        return layout_of(self.group, shape_of, full)

    def _is_worth_tiling(self, size: int) -> bool:
        """True for elementwise steps on enough elements that tiles take less time."""
        return size >= LEAST_GROUPED if self.normalizes else size >= WORTH_TILING and len(self.calls) > 1


def _on_tiles(call: Call, function: Call) -> Call:
    """Return a step's call for tiles; a kernel that rounds few numbers otherwise than many gets `is_part`."""
    return functools.partial(call, is_part=True) if _takes(function, "is_part") else call


@functools.lru_cache(1024)
def _takes(function: Call, name: str) -> bool:
    """True where a function has a parameter of this name; NumPy's own take `out`."""
    inner = inspect.unwrap(function)
    return name == "out" if isinstance(inner, np.ufunc) else name in inspect.signature(inner).parameters
