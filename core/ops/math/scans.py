"""Running sums, products and log-sums along an axis."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics.group_reductions import lowest
from ...numerics.half_precision import is_narrow
from ...parallel.interruption_points import pause
from ...registry.registry import Cost, flops, gradient, kernel, layout, lower, onnx, shape
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.dims import DimLike
from ...types.shapes import TensorSpec
from ..shared.plain_shapes import first_shape
from ..shared.shape_arguments import normalize_axis, scalar_int


def _scan(accumulate: Callable[..., Any], x: Array, axis: Array, initial: float, exclusive: bool, reverse: bool) -> Array:
    """Apply `accumulate(x, axis)` from an end of the axis; exclusive results lag by an element and start with `initial`."""
    place = _place(axis, x.ndim)
    result = accumulate(np.flip(x, place) if reverse else x, place)
    if exclusive and x.shape[place]:
        before = (slice(None),) * place
        result = np.concatenate([np.full_like(result[(*before, slice(0, 1))], initial), result[(*before, slice(-1))]], place)
    return np.flip(result, place) if reverse else result


def _place(axis: Array, rank: int) -> int:
    """Return the axis, counted from the first, that a scan goes along."""
    if np.ndim(axis):
        raise InvalidArgumentError(f"ScanOp: axis must be a scalar, not {np.shape(axis)}")
    if not -rank <= axis < rank:
        raise InvalidArgumentError(f"ScanOp: Expected scan axis in the range [{-rank}, {rank}), but got {axis}")
    return int(axis) % rank


def _accumulated(function: np.ufunc, start: int, values: Array, place: int) -> Array:
    """Return running results that begin with `start`: NumPy's begin with the first element, though it be subnormal or -0."""
    result: Array = function.accumulate(values, place, values.dtype)
    first = result[(*(slice(None),) * place, slice(0, 1))]
    # TensorFlow's loop starts with the identity: 0 + -0 is 0, and a subnormal first element is flushed to 0.
    function(first, values.dtype.type(start), out=first)
    return result


@kernel("Cumsum")
def cumsum(x: Array, axis: Array, *, exclusive: bool, reverse: bool) -> Result:
    """Running sums along `axis`."""
    return _scan(functools.partial(_accumulated, np.add, 0), x, axis, 0, exclusive, reverse)


@kernel("Cumprod")
def cumprod(x: Array, axis: Array, *, exclusive: bool, reverse: bool) -> Result:
    """Running products along `axis`."""
    return _scan(functools.partial(_accumulated, np.multiply, 1), x, axis, 1, exclusive, reverse)


@kernel("CumulativeLogsumexp")
def cumulative_logsumexp(x: Array, axis: Array, *, exclusive: bool, reverse: bool) -> Result:
    """Logarithms of running sums of exponentials along `axis`."""
    return _scan(_log_sums, x, axis, -np.inf, exclusive, reverse)


def _log_sums(x: Array, place: int) -> Array:
    """Return logarithms of running sums of exponentials."""
    # NumPy rounds once where TensorFlow's step rounds four times, which shows in 16 bits, and NaN and infinity differ.
    if not is_narrow(x.dtype) and (x < np.inf).all():
        result: Array = np.logaddexp.accumulate(x, place)
        return result
    result = np.empty_like(x)
    total = np.array(-np.inf, x.dtype)
    for step, row in enumerate(np.moveaxis(x, place, 0)):
        pause()
        # Not np.maximum: a NaN is neither less nor greater, and TensorFlow's extremes of the total and NaN are both the total.
        low, high = np.where(row < total, row, total), np.where(total < row, row, total)
        total = np.where(high == -np.inf, high, np.log1p(np.exp(low - high)) + high)
        np.moveaxis(result, place, 0)[step] = total
    return result


shape("Cumsum", "Cumprod", "CumulativeLogsumexp")(first_shape)


@gradient("Cumsum")
def cumsum_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    options = {"exclusive": node.attr("exclusive"), "reverse": not node.attr("reverse")}
    return [g.Cumsum(grad, node.inputs[1], **options), None]


@gradient("Cumprod")
def cumprod_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """The running sum, from the other end, of products times gradients, over x; zero where x is."""
    x, axis = node.inputs
    sums = g.Cumsum(g.Mul(node.output(), grad), axis, exclusive=node.attr("exclusive"), reverse=not node.attr("reverse"))
    # TensorFlow's gradient, which is 0 where x is 0 although the derivative there need not be.
    return [g.DivNoNan(sums, x), None]


@gradient("CumulativeLogsumexp")
def cumulative_logsumexp_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """Send both signs of the gradient through separate logarithms, which keeps large inputs stable."""
    x, axis = node.inputs
    zero = g.scalar_like(grad, 0)
    least = g.constant(lowest(grad.base_dtype.numpy), grad.dtype)

    def part(signed: Output) -> Output:
        logarithm = g.SelectV2(g.Greater(signed, zero), g.Log(signed), least)
        sums = g.CumulativeLogsumexp(
            g.Sub(logarithm, node.output()), axis, exclusive=node.attr("exclusive"), reverse=not node.attr("reverse")
        )
        return g.Exp(g.AddV2(sums, x))

    return [g.Sub(part(grad), part(g.Neg(grad))), None]


@flops("Cumsum", "Cumprod")
def scan_flops(x: TensorSpec, axis: TensorSpec) -> Cost:
    """One operation less than the number of elements for each line along the axis."""
    return Cost(_steps(x, axis))


def _steps(x: TensorSpec, axis: TensorSpec) -> DimLike:
    """Return the number of combinations of two elements; where the axis is unknown, the number of elements."""
    if axis.value is None or x.rank is None:
        return x.shape.num_elements
    place = normalize_axis(scalar_int(axis.value, "axis"), x.rank)
    return x.shape.num_elements - (x.shape[:place] + x.shape[place + 1 :]).num_elements


@flops("CumulativeLogsumexp")
def cumulative_logsumexp_flops(x: TensorSpec, axis: TensorSpec) -> Cost:
    """A maximum, a minimum, a difference, an exponential, a logarithm and a sum where Cumsum has a sum."""
    return Cost(4, transcendentals=2) * _steps(x, axis)


layout("TA -> T", "Cumprod", "Cumsum")


# The programs for XLA and ONNX sum floats of 16 bits in an order and a precision of the engine's own: rounding each step as
# TensorFlow does would take as many dependent operations as the row has elements.
def _lowered_scan(name: str, initial: float) -> Callable[..., Any]:
    """Return the lowering of a scan; an exclusive scan begins with `initial` and leaves out the last result."""

    def scanned(xla: Any, x: Any, axis: Array, *, exclusive: bool, reverse: bool) -> Any:
        place = _place(axis, x.ndim)
        total = getattr(xla.lax, name)(x, place, reverse=reverse)
        if not exclusive:
            return total
        shifted = (-1, 1, 0) if reverse else (1, -1, 0)
        # A negative width cuts the last result off, so that all others move on by one.
        pads = [shifted if dimension == place else (0, 0, 0) for dimension in range(x.ndim)]
        return xla.lax.pad(total, np.asarray(initial, x.dtype), pads)

    return scanned


lower("Cumsum", static=(1,))(_lowered_scan("cumsum", 0))
lower("Cumprod", static=(1,))(_lowered_scan("cumprod", 1))
lower("CumulativeLogsumexp", static=(1,))(_lowered_scan("cumlogsumexp", -np.inf))


@onnx("Cumsum")
def _cumsum_onnx(g: Any, x: Any, axis: Any, *, exclusive: bool, reverse: bool) -> Any:
    return g.CumSum(x, axis, exclusive=int(exclusive), reverse=int(reverse))


@onnx("Cumprod")
def _cumprod_onnx(g: Any, x: Any, axis: Any, *, exclusive: bool, reverse: bool) -> Any:
    return _doubling_onnx(g, x, axis, g.Mul, 1, exclusive, reverse)


@onnx("CumulativeLogsumexp")
def _cumulative_logsumexp_onnx(g: Any, x: Any, axis: Any, *, exclusive: bool, reverse: bool) -> Any:
    def added(a: Any, b: Any) -> Any:
        larger = g.Max(a, b)
        # Two equal infinities have a difference of NaN.
        distance = g.Where(g.Equal(a, b), 0, g.Neg(g.Abs(g.Sub(a, b))))
        return g.Add(larger, g.Log(g.Add(g.Exp(distance), 1)))

    return _doubling_onnx(g, x, axis, added, -np.inf, exclusive, reverse)


def _doubling_onnx(g: Any, x: Any, axis: Any, combine: Any, neutral: float, exclusive: bool, reverse: bool) -> Any:
    """Combine each element with the element 1, 2, 4 ... before: log n steps for a row of n, after `neutral`."""
    place = g.axis(axis, g.rank(x))
    size = x.shape[place]
    if not isinstance(size, int):
        g.refuse("the scanned dimension is unknown")
    last = np.iinfo(np.int64).max
    if reverse:
        # ONNX turns an axis around by a slice of step -1; both ends lie beyond the axis, whatever its size.
        x = g.Slice(x, [last], [-last], [place], [-1])

    def shifted(value: Any, by: int) -> Any:
        start = g.slice(value, 0, by, place)
        return g.Concat(g.Expand(g.like(neutral, value), g.dims(start)), g.slice(value, 0, size - by, place), axis=place)

    if exclusive and size:
        x = shifted(x, 1)
    for step in range(max(size - 1, 0).bit_length()):
        x = combine(shifted(x, 1 << step), x)
    return g.Slice(x, [last], [-last], [place], [-1]) if reverse else x
