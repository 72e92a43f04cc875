"""Running sums, products and log-sums along an axis."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics.array_namespace import NUMPY
from ...numerics.group_reductions import lowest
from ...numerics.half_precision import is_narrow
from ...numerics.interruption_points import pause
from ...registry.registry import Cost, flops, gradient, kernel, layout, lower, onnx
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.dims import DimLike
from ...types.shapes import TensorSpec
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


@kernel("Cumsum", shape="... -> ...")
def cumsum(x: Array, axis: Array, *, exclusive: bool, reverse: bool) -> Result:
    """Running sums along `axis`."""
    return _scan(functools.partial(_accumulated, np.add, 0), x, axis, 0, exclusive, reverse)


@kernel("Cumprod", shape="... -> ...")
def cumprod(x: Array, axis: Array, *, exclusive: bool, reverse: bool) -> Result:
    """Running products along `axis`."""
    return _scan(functools.partial(_accumulated, np.multiply, 1), x, axis, 1, exclusive, reverse)


@kernel("CumulativeLogsumexp", shape="... -> ...")
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
        total = _log_sum(NUMPY, total, row)
        np.moveaxis(result, place, 0)[step] = total
    return result


def _log_sum(xp: Any, total: Any, row: Any) -> Any:
    """Return the logarithm of a sum of two exponentials, rounded as TensorFlow rounds it."""
    # Not the maximum: a NaN is neither less nor greater, and TensorFlow's extremes of the total and NaN are both the total.
    low, high = xp.where(row < total, row, total), xp.where(total < row, row, total)
    return xp.where(high == -np.inf, high, xp.log1p(xp.exp(low - high)) + high)


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


# XLA has running sums, products and log-sums, and ONNX sums alone. Floats of 16 bits are combined row after row in both, as
# TensorFlow rounds each result: the engines' own scans add in another order, and round less often.


class _Scan(NamedTuple):
    """A scan: how a row is combined with the total before, and the total before all rows."""

    step: Callable[[Any, Any, Any], Any]
    start: float


_SCANS: Final[Mapping[str, _Scan]] = {
    "cumsum": _Scan(lambda xp, total, row: total + row, 0),
    "cumprod": _Scan(lambda xp, total, row: total * row, 1),
    "cumlogsumexp": _Scan(_log_sum, -np.inf),
}
"""The scans by their names in JAX."""


def _delayed(xp: Any, x: Any, place: int, start: float, by: int, reverse: bool) -> Any:
    """Return `x` moved on by a few rows of an axis, behind rows of `start`; the last rows drop out."""
    before = (slice(None),) * place
    first = xp.zeros_like(x[(*before, slice(0, by))]) + start
    if reverse:
        return xp.concatenate([x[(*before, slice(by, None))], first], place)
    return xp.concatenate([first, x[(*before, slice(0, -by))]], place)


def _scanned_arrays(
    xp: Any, x: Any, name: str, place: int, exclusive: bool, reverse: bool, own: Callable[..., Any] | None = None
) -> Any:
    """Return the running results, by the engine's own scan if it has one; an exclusive scan begins with the total before."""
    step, start = functools.partial(_SCANS[name].step, xp), _SCANS[name].start
    x = _delayed(xp, x, place, start, 1, reverse) if exclusive else x
    if own is not None and not is_narrow(x.dtype):
        return own(x, place, reverse=reverse)
    if is_narrow(x.dtype) or not isinstance(x.shape[place], int):
        return xp.scanned(step, start, x, place, reverse)
    # Each element is combined with the one 1, 2, 4 ... before: log n steps for a row of n.
    for power in range(max(x.shape[place] - 1, 0).bit_length()):
        x = step(_delayed(xp, x, place, start, 1 << power, reverse), x)
    return x


def _register_scan(op: str, name: str) -> None:
    @lower(op, static=(1,))
    def lowering(xla: Any, x: Any, axis: Array, *, exclusive: bool, reverse: bool) -> Any:
        return _scanned_arrays(xla, x, name, _place(axis, x.ndim), exclusive, reverse, getattr(xla.lax, name))

    @onnx(op)
    def onnx_lowering(g: Any, x: Any, axis: Any, *, exclusive: bool, reverse: bool) -> Any:
        if name == "cumsum" and not is_narrow(np.dtype(x.dtype.numpy)):
            return g.CumSum(x, axis, exclusive=int(exclusive), reverse=int(reverse))
        attrs = {"name": name, "place": g.axis(axis, g.rank(x)), "exclusive": exclusive, "reverse": reverse}
        return g.evaluate(_scanned_arrays, (), (), (x,), attrs)


for _op, _name in (("Cumsum", "cumsum"), ("Cumprod", "cumprod"), ("CumulativeLogsumexp", "cumlogsumexp")):
    _register_scan(_op, _name)
