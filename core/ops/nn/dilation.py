"""Grayscale morphology: dilation by a structuring function, and its gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...inference.profiler_formulas import window
from ...numerics.array_namespace import NUMPY
from ...numerics.group_reductions import lowest
from ...numerics.half_precision import wide
from ...numerics.windows import offset_index, offsets, pad, padded_sizes, unpad
from ...registry.registry import WITHOUT_GRADIENT, Cost, everywhere, flops, kernel, profiled, shape
from ...support.errors import UnimplementedError
from ...types.arrays import Array, Result
from ...types.dims import DimLike
from ...types.shapes import Shape, TensorSpec
from ..shared.argument_checks import require, require_known_sizes, require_rank, with_rank
from ..shared.decompositions import by_ops
from ..shared.window_geometry import Pads, output_sizes, window_pads


class _Geometry:
    """Strides, rates and padding of a dilation, and the layout of the windows for an input and a filter."""

    def __init__(self, strides: list[int], rates: list[int], padding: str) -> None:
        for name, values in (("strides", strides), ("rates", rates)):
            require(len(values) == 4, f"{name} must have 4 values, not {list(values)}")
            if (values[0], values[3]) != (1, 1):
                raise UnimplementedError(f"{name} {list(values)} over batch or channels")
            require(min(values) > 0, f"{name} must be positive, not {list(values)}")
        self.strides, self.rates, self.padding = tuple(strides[1:3]), tuple(rates[1:3]), padding

    def outputs(self, sizes: Sequence[DimLike], window: Sequence[DimLike]) -> tuple[Any, ...]:
        return output_sizes(sizes, window, self.strides, self.rates, self.padding)

    def pads(self, sizes: tuple[int, ...], window: tuple[int, ...]) -> Pads:
        return window_pads(sizes, window, self.strides, self.rates, self.padding)


def _check(x: Array, w: Array, geometry: _Geometry) -> tuple[Any, ...]:
    require_rank(x, 4, "input")
    require_rank(w, 3, "filter")
    require(x.shape[3] == w.shape[2], f"input and filter must have the same depth: {x.shape[3]} and {w.shape[2]}")
    return geometry.outputs(x.shape[1:3], w.shape[:2])


def _largest(x: Any, w: Any, geometry: _Geometry, outputs: tuple[int, ...], xp: Any = NUMPY) -> tuple[Any, Any]:
    """Return the largest x + w of each window, and the number of its place in the window (-1 if no element is the largest).

    An element that is no number is never the largest. `xp` has the functions of NumPy, or those of a namespace like it.
    """
    x, w = wide(x), wide(w)
    pads = geometry.pads(x.shape[1:3], w.shape[:2])
    padded = pad(x, pads) if xp.is_eager else xp.pad(x, [(0, 0), *pads, (0, 0)])
    inside = pad(np.ones((1, *x.shape[1:3], 1), bool), pads)
    # The lowest finite number and not -inf: TensorFlow's kernel begins there, so a window of -inf alone gives that number.
    best = xp.full((x.shape[0], *outputs, x.shape[3]), lowest(x.dtype), x.dtype)
    places = xp.full(best.shape, -1)
    for place, offset in enumerate(offsets(w.shape[:2])):
        index = offset_index(offset, outputs, geometry.strides, geometry.rates)
        value = padded[index] + w[offset]
        # Padding is no element; a comparison with NaN is false, so NaN is never taken.
        better = (value > best) & inside[index]
        best, places = xp.where(better, value, best), xp.where(better, place, places)
    return best, places


@everywhere(
    "Dilation2D", gradient=by_ops("Dilation2DBackpropInput 0 1 dy", "Dilation2DBackpropFilter 0 1 dy"), facts=("row_wise",)
)
def dilation2d(xp: Any, input: Any, filter: Any, *, strides: list[int], rates: list[int], padding: str) -> Any:
    """max over the window of input + filter: (N, H, W, C), (KH, KW, C) -> (N, OH, OW, C)."""
    geometry = _Geometry(strides, rates, padding)
    return _largest(input, filter, geometry, _check(input, filter, geometry), xp)[0].astype(input.dtype, copy=False)


def _backprop(input: Any, filter: Any, out_backprop: Any, geometry: _Geometry, xp: Any = NUMPY) -> tuple[Any, Any]:
    """Return the place in each window that receives the gradient, and the gradients."""
    outputs = _check(input, filter, geometry)
    require_known_sizes((input.shape[0], *outputs, input.shape[3]), out_backprop.shape)
    return _largest(input, filter, geometry, outputs, xp)[1], wide(out_backprop)


@kernel("Dilation2DBackpropInput", shape="... -> ...", gradient=WITHOUT_GRADIENT, facts=("backward",))
def dilation2d_backprop_input(
    input: Array, filter: Array, out_backprop: Array, *, strides: list[int], rates: list[int], padding: str
) -> Result:
    """Add each window's gradient at its first largest element."""
    geometry = _Geometry(strides, rates, padding)
    places, grad = _backprop(input, filter, out_backprop, geometry)
    pads = geometry.pads(input.shape[1:3], filter.shape[:2])
    result = np.zeros((input.shape[0], *padded_sizes(input.shape[1:3], pads), input.shape[3]), grad.dtype)
    for place, offset in enumerate(offsets(filter.shape[:2])):
        index = offset_index(offset, grad.shape[1:3], geometry.strides, geometry.rates)
        # One place of all windows at a time: its elements are distinct, so an indexed sum loses none.
        result[index] += np.where(places == place, grad, grad.dtype.type(0))
    # Without a largest element, as in a window of NaN, the gradient goes where TensorFlow's search begins: at the window's
    # first element, moved into the image.
    n, i, j, c = np.nonzero(places < 0)
    top, left = (np.maximum(k * stride, before) for k, stride, (before, _) in zip((i, j), geometry.strides, pads))
    np.add.at(result, (n, top, left, c), grad[n, i, j, c])
    return unpad(result, pads).astype(input.dtype)


@everywhere("Dilation2DBackpropFilter", shape="*, ... -> ...", gradient=WITHOUT_GRADIENT, facts=("backward",))
def dilation2d_backprop_filter(
    xp: Any, input: Any, filter: Any, out_backprop: Any, *, strides: list[int], rates: list[int], padding: str
) -> Any:
    """Add each window's gradient at the filter's place of its first largest element."""
    places, grad = _backprop(input, filter, out_backprop, _Geometry(strides, rates, padding), xp)
    places = xp.maximum(places, 0)  # no largest element: the gradient goes to the filter's first place
    numbers = range(math.prod(filter.shape[:2]))
    sums = [xp.sum(xp.where(places == number, grad, grad.dtype.type(0)), (0, 1, 2)) for number in numbers]
    return xp.reshape(xp.stack(sums), filter.shape).astype(filter.dtype) if sums else xp.zeros_like(filter)


@shape("Dilation2D")
def dilation2d_shape(input: TensorSpec, filter: TensorSpec, *, strides: list[int], rates: list[int], padding: str) -> Shape:
    batch, *sizes, depth = with_rank(input.shape, 4)
    *window, filter_depth = with_rank(filter.shape, 3)
    outputs = _Geometry(strides, rates, padding).outputs(sizes, window)
    return Shape((batch, *outputs, depth if isinstance(depth, int) else filter_depth))


def _window_elements(filter: TensorSpec) -> DimLike:
    height, width, _ = with_rank(filter.shape, 3)
    return height * width


@flops("Dilation2D")
def dilation2d_flops(input: TensorSpec, filter: TensorSpec, *, outputs: list[TensorSpec]) -> Cost:
    """A sum for each element of the window, and a comparison for each but the first."""
    return Cost(1) * (outputs[0].shape.num_elements * (2 * _window_elements(filter) - 1))


@flops("Dilation2DBackpropInput", "Dilation2DBackpropFilter")
def dilation2d_backprop_flops(input: TensorSpec, filter: TensorSpec, out_backprop: TensorSpec) -> Cost:
    """The window's sums and comparisons again, and a sum for each window."""
    return Cost(2) * (out_backprop.shape.num_elements * _window_elements(filter))


profiled(window(2), "Dilation2D")
