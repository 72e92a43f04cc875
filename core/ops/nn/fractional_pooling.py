"""Pooling over randomly drawn regions of fractional size, and its gradients (Graham 2014, arXiv 1412.6071)."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics.integers import truncated_quotient
from ...random.philox import Philox, unit_double
from ...registry.registry import WITHOUT_GRADIENT, Cost, flops, gradient, kernel, shape
from ...runtime.state.kernel_context import KernelContext
from ...support.errors import UnimplementedError
from ...types.arrays import Array, Result
from ...types.dims import DimLike
from ...types.shapes import Shape, TensorSpec
from ..random._random import node_stream
from ..shared.argument_checks import require, require_rank, require_shape, with_rank
from ..shared.decompositions import by_ops
from ..shared.shape_arguments import ints

_FORWARD = ("FractionalAvgPool", "FractionalMaxPool")


def _pseudo_random_lengths(size: int, count: int, generator: Philox) -> Array:
    """Return lengths of ceil(alpha (i + u)) steps with a single random number u, bounded so that all are k or k + 1."""
    alpha = size / count
    k = size // count
    # From the paper: with a larger u the first region would be longer than k + 1, or the last shorter than k.
    limit = min((k + 2) / alpha - 1, (size + 1 - k) / alpha - (count - 1))
    u = unit_double(*generator.words(2).tolist()) * limit
    ends = np.ceil(alpha * (np.arange(1, count) + u)).astype(np.int64)
    return np.diff(np.concatenate(([1], ends, [size + 1])))


def _random_lengths(size: int, count: int, generator: Philox) -> list[int]:
    """k and k + 1 in random order (Fisher-Yates on the generator's words)."""
    lengths = [size // count + (i < size % count) for i in range(count)]
    words = generator.words(count).tolist()
    for i in range(count - 1):
        j = i + words[i] % (count - i)
        lengths[i], lengths[j] = lengths[j], lengths[i]
    return lengths


def _sequence(size: int, count: int, stream: Philox, pseudo_random: bool) -> Array:
    """Return the starts of the regions, and the end of the last."""
    samples = 2 if pseudo_random else count
    # A step of the stream gives four words; TensorFlow reserves whole steps.
    generator = stream.reserve(1, (samples + 3) // 4)
    lengths = (_pseudo_random_lengths if pseudo_random else _random_lengths)(size, count, generator)
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)


def _counts(shape: Sequence[Any], pooling_ratio: Sequence[float]) -> list[int]:
    require(len(pooling_ratio) == 4, f"pooling_ratio must have 4 values, not {list(pooling_ratio)}")
    require(all(ratio >= 1 for ratio in pooling_ratio), f"pooling_ratio {list(pooling_ratio)} must not be smaller than 1")
    if (pooling_ratio[0], pooling_ratio[3]) != (1, 1):
        raise UnimplementedError(f"fractional pooling over batch or channels: pooling_ratio {list(pooling_ratio)}")
    # In float32, as in TensorFlow: in double precision 9 / 1.1 and the like may round to the other side of an integer.
    counts = [math.floor(np.float32(n) / np.float32(r)) for n, r in zip(shape, pooling_ratio)]
    require(min(counts) > 0, f"pooling_ratio {list(pooling_ratio)} leaves no elements of an input of shape {shape}")
    return counts[1:3]


class RegionAttributes(NamedTuple):
    """The attributes of the draw of regions."""

    pooling_ratio: tuple[float, ...]
    pseudo_random: bool
    deterministic: bool
    seed: int
    seed2: int


def _draw(ctx: KernelContext, value: Array, draw: RegionAttributes) -> tuple[Array, Array]:
    """Draw the sequences of rows and columns for this run from the node's stream, from its start where `deterministic`."""
    pooling_ratio, pseudo_random, deterministic, seed, seed2 = draw
    require_rank(value, 4, "value")
    counts = _counts(value.shape, pooling_ratio)
    require(deterministic or not (seed or seed2), "seeds need `deterministic`")
    stream = node_stream(ctx, seed, seed2)
    if deterministic:
        # From the start of the stream in every run, so that rows and columns are the same each time.
        stream = stream.skipped(0)
    rows, columns = (_sequence(size, count, stream, pseudo_random) for size, count in zip(value.shape[1:3], counts))
    return rows, columns


class _Axis:
    """The regions of an axis: `places[j]` are their j-th elements, `inside[j]` is True for regions of more than j elements.

    In `repeated` the last element of a shorter region fills the missing places.
    """

    def __init__(self, sequence: Array, size: int, overlapping: bool) -> None:
        # Overlapping regions share the border, but the last has none to share.
        starts, ends = sequence[:-1], np.minimum(sequence[1:] + overlapping, size)
        self.lengths = ends - starts
        steps = range(int(self.lengths.max(initial=0)))
        self.places = [np.minimum(starts + j, size - 1) for j in steps]
        self.inside = [j < self.lengths for j in steps]
        self.repeated = [np.minimum(starts + j, ends - 1) for j in steps]


def _axes(shape: tuple[int, ...], row_sequence: Array, column_sequence: Array, overlapping: bool) -> tuple[_Axis, _Axis]:
    return _Axis(row_sequence, shape[1], overlapping), _Axis(column_sequence, shape[2], overlapping)


def _divide(total: Any, counts: Array, dtype: np.dtype[Any]) -> Array:
    """total / counts; integers are cut off towards zero."""
    if dtype.kind == "i":
        return truncated_quotient(total, counts).astype(dtype)
    return (total / counts.astype(dtype)).astype(dtype, copy=False)


def _cells(rows: _Axis, columns: _Axis) -> Iterator[Any]:
    """Yield the places of all regions, a (rows, columns, inside) for each pair of steps, the rows' step first."""
    for i, j in itertools.product(range(len(rows.places)), range(len(columns.places))):
        inside = rows.inside[i][:, None] & columns.inside[j]
        yield rows.places[i][:, None], columns.places[j], inside[None, ..., None]


@kernel("FractionalAvgPool", facts=("random", "stated_sequences"))
def fractional_avg_pool(ctx: KernelContext, value: Array, *, draw: RegionAttributes, overlapping: bool) -> tuple[Result, ...]:
    """The mean of each region, and the sequences of rows and columns."""
    sequences = _draw(ctx, value, draw)
    rows, columns = _axes(value.shape, *sequences, overlapping)
    total = sum(np.where(inside, value[:, r, c], value.dtype.type(0)) for r, c, inside in _cells(rows, columns))
    counts = rows.lengths[:, None, None] * columns.lengths[:, None]
    return _divide(total, counts, value.dtype), *sequences


@gradient("FractionalAvgPool")
def fractional_avg_pool_gradient(g: GradientBuilder, node: Node, grad: Output, *_: Output) -> Gradients:
    x = node.inputs[0]
    shape_of_x = g.Shape(x, out_type="int64")
    overlapping = node.attr("overlapping")
    return [g.FractionalAvgPoolGrad(shape_of_x, grad, node.output(1), node.output(2), overlapping=overlapping)]


def _elements(image: TensorSpec, pooled: TensorSpec, overlapping: bool) -> DimLike:
    """Return the number of elements of all regions; overlapping regions share a row or column with the next region."""
    batch, *sizes, channels = with_rank(image.shape, 4)
    rows, columns = (n + overlapping * (regions - 1) for n, regions in zip(sizes, with_rank(pooled.shape, 4)[1:3]))
    return batch * rows * columns * channels


@flops("FractionalAvgPool")
def fractional_avg_pool_flops(value: TensorSpec, *, overlapping: bool, outputs: list[TensorSpec]) -> Cost:
    """The sum of each region and a division."""
    return Cost(_elements(value, outputs[0], overlapping))


@kernel("FractionalMaxPool", gradient=by_ops("FractionalMaxPoolGrad 0 y dy y1 y2"), facts=("random", "stated_sequences"))
def fractional_max_pool(ctx: KernelContext, value: Array, *, draw: RegionAttributes, overlapping: bool) -> tuple[Result, ...]:
    """The largest element of each region, and the sequences of rows and columns."""
    sequences = _draw(ctx, value, draw)
    rows, columns = _axes(value.shape, *sequences, overlapping)
    if value.dtype.kind == "f" and np.isnan(value).any():  # of these the order of comparisons decides
        return _largest(value, rows, columns)[0], *sequences
    # The maximum of a region is that of its rows' maxima, so columns need not be visited for each row.
    for axis, regions in ((1, rows), (2, columns)):
        value = functools.reduce(np.maximum, (value.take(places, axis) for places in regions.repeated))
    return value, *sequences


def _largest(value: Array, rows: _Axis, columns: _Axis) -> tuple[Array, Array]:
    """Return the largest element of each region, and the number of its pair of steps."""
    best: Any = None
    steps: Any = None
    for step, (r, c, inside) in enumerate(_cells(rows, columns)):
        part = value[:, r, c]
        if best is None:
            # Every region has a first element, so the first step needs no mask and a NaN there stays.
            best, steps = part, np.zeros(part.shape, np.int64)
        else:
            better = (part > best) & inside
            best, steps = np.where(better, part, best), np.where(better, step, steps)
    return best, steps


@shape(*_FORWARD)
def fractional_pool_shape(value: TensorSpec, *, pooling_ratio: list[float]) -> list[Shape]:
    dims = with_rank(value.shape, 4)
    are_known = all(isinstance(d, int) for d in dims[1:3])
    rows, columns = _counts((1, dims[1], dims[2], 1), pooling_ratio) if are_known else (None, None)
    ends = [Shape([None if n is None else n + 1]) for n in (rows, columns)]
    return [Shape((dims[0], rows, columns, dims[3])), *ends]


@flops("FractionalMaxPool")
def fractional_max_pool_flops(value: TensorSpec, *, overlapping: bool, outputs: list[TensorSpec]) -> Cost:
    """A comparison for each element of a region but the first."""
    return Cost(_elements(value, outputs[0], overlapping) - outputs[0].shape.num_elements)


def _check_sequence(sequence: Array, count: int, size: int, name: str) -> None:
    require(sequence.ndim == 1 and len(sequence) == count + 1, f"{name} must have {count + 1} elements, not {sequence.shape}")
    require(
        sequence[0] >= 0 and sequence[-1] <= size and np.all(sequence[1:] > sequence[:-1]),
        f"{name} must increase within [0, {size}]: {sequence.tolist()}",
    )


def _check_backprop(shape: tuple[int, ...], grad: Array, row_sequence: Array, column_sequence: Array) -> None:
    require_rank(grad, 4, "out_backprop")
    require(min(shape) > 0, f"the input's shape {tuple(shape)} must be positive")
    require(grad.shape[0] == shape[0] and grad.shape[3] == shape[3], f"out_backprop {grad.shape} does not fit {tuple(shape)}")
    _check_sequence(row_sequence, grad.shape[1], shape[1], "row_pooling_sequence")
    _check_sequence(column_sequence, grad.shape[2], shape[2], "col_pooling_sequence")


@kernel("FractionalAvgPoolGrad", shape="<a b c d> -> a b c d", gradient=WITHOUT_GRADIENT, facts=("backward",))
def fractional_avg_pool_grad(
    orig_input_tensor_shape: Array,
    out_backprop: Array,
    row_pooling_sequence: Array,
    col_pooling_sequence: Array,
    *,
    overlapping: bool,
) -> Result:
    """Share each region's gradient equally among its elements."""
    dims = ints(orig_input_tensor_shape, "orig_input_tensor_shape", 4)
    _check_backprop(dims, out_backprop, row_pooling_sequence, col_pooling_sequence)
    result = np.zeros(dims)  # allocated first: its size is checked before a step for each row is made
    rows, columns = _axes(dims, row_pooling_sequence, col_pooling_sequence, overlapping)
    share = out_backprop / (rows.lengths[:, None, None] * columns.lengths[:, None]).astype(np.float64)
    for r, c, inside in _cells(rows, columns):
        # Overlapping regions meet in elements, whose gradients an indexed sum would overwrite.
        np.add.at(result, (slice(None), r, c), np.where(inside, share, 0))  # type: ignore[arg-type]
    return result.astype(out_backprop.dtype)


@flops("FractionalAvgPoolGrad")
def fractional_avg_pool_grad_flops(
    orig_input_tensor_shape: TensorSpec, out_backprop: TensorSpec, *, overlapping: bool, outputs: list[TensorSpec]
) -> Cost:
    """A division for each region and a sum for each of its elements."""
    return Cost(out_backprop.shape.num_elements + _elements(outputs[0], out_backprop, overlapping))


@kernel("FractionalMaxPoolGrad", shape="a b c d -> a b c d", gradient=WITHOUT_GRADIENT, facts=("backward",))
def fractional_max_pool_grad(
    orig_input: Array,
    orig_output: Array,
    out_backprop: Array,
    row_pooling_sequence: Array,
    col_pooling_sequence: Array,
    *,
    overlapping: bool,
) -> Result:
    """Add each region's gradient at its first largest element."""
    require_rank(orig_input, 4, "orig_input")
    _check_backprop(orig_input.shape, out_backprop, row_pooling_sequence, col_pooling_sequence)
    require_shape(orig_output, out_backprop.shape, "orig_output")
    rows, columns = _axes(orig_input.shape, row_pooling_sequence, col_pooling_sequence, overlapping)
    best, steps = _largest(orig_input, rows, columns)
    # TensorFlow fails where an output is no element of its region.
    require(np.array_equal(best, orig_output), "orig_output is not the pooled orig_input")
    result = np.zeros(orig_input.shape, out_backprop.dtype)
    for step, (r, c, _) in enumerate(_cells(rows, columns)):
        np.add.at(result, (slice(None), r, c), np.where(steps == step, out_backprop, 0))  # type: ignore[arg-type]
    return result


@flops("FractionalMaxPoolGrad")
def fractional_max_pool_grad_flops(
    orig_input: TensorSpec, orig_output: TensorSpec, out_backprop: TensorSpec, *, overlapping: bool
) -> Cost:
    """The comparisons again and a sum for each region."""
    return Cost(_elements(orig_input, out_backprop, overlapping))
