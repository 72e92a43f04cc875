"""Discrete Fourier transforms of one, two or three dimensions, complex and real."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder
from ...graph.graph import Node, Output
from ...registry.registry import Cost, everywhere, flops, gradient, shape
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array
from ...types.dims import DimLike
from ...types.dtypes import DType
from ...types.shapes import UNKNOWN, Shape, TensorSpec, dims_of, merge_shapes
from ..shared.argument_checks import is_empty, require


def _require_rank(input: Array, rank: int) -> None:
    require(input.ndim >= rank, f"Input must have rank of at least {rank} but got: {Shape(input.shape)}")


def _complex_transform(name: str, rank: int) -> Callable[..., Any]:
    """Return the program of a complex transform of all dimensions."""

    def transform(xp: Any, input: Any) -> Any:
        _require_rank(input, rank)
        if is_empty(xp, input):
            return input
        return getattr(xp.fft, name)(input, axes=range(-rank, 0)).astype(input.dtype, copy=False)

    return transform


def _lengths(fft_length: Array, rank: int) -> list[int]:
    """Return the sizes of the transform; InvalidArgumentError for a negative size, or zero, where TensorFlow crashes."""
    require(np.shape(fft_length) == (rank,), f"fft_length must have shape [{rank}], not {np.shape(fft_length)}")
    lengths = fft_length.tolist()
    require(min(lengths) >= 0, f"fft_length must not be negative: {lengths}")
    return lengths


def _require_lengths(input: Array, needed: list[int]) -> None:
    for axis, least in enumerate(needed, input.ndim - len(needed)):
        size = input.shape[axis]
        # TensorFlow lets an empty dimension pass, whatever length is asked for.
        fits = not isinstance(size, int) or size == 0 or size >= least
        require(fits, f"Input dimension {axis} must have length of at least {least} but got: {size}")


def _checked_lengths(xp: Any, x: Any, fft_length: Array, rank: int, Tcomplex: DType) -> list[int]:
    """Return the sizes of a transform of real numbers that fit x."""
    _require_rank(x, rank)
    lengths = _lengths(fft_length, rank)
    _require_precision(x, Tcomplex)
    _require_lengths(x, lengths)
    require(lengths[-1] or is_empty(xp, x), f"fft_length must not be zero: {lengths}")
    return lengths


def _checked_inverse_lengths(x: Any, fft_length: Array, rank: int, Treal: DType) -> list[int]:
    """Return the sizes of an inverse transform to real numbers that fit x."""
    _require_rank(x, rank)
    lengths = _lengths(fft_length, rank)
    if x.dtype.itemsize != 2 * Treal.numpy.itemsize:
        raise InvalidArgumentError(f"Wrong types for an inverse real FFT: {x.dtype} and {Treal}")
    _require_lengths(x, [*lengths[:-1], lengths[-1] // 2 + 1])
    return lengths


def _real_transform(rank: int) -> Callable[..., Any]:
    def rfft(xp: Any, input: Any, fft_length: Array, *, Tcomplex: DType) -> Any:
        """Return the first half of the spectrum, (..., n // 2 + 1), of the first fft_length numbers in each dimension."""
        lengths = _checked_lengths(xp, input, fft_length, rank, Tcomplex)
        half = _half(lengths)
        # TensorFlow leaves the memory of this result as it finds it; zeros are what padding the missing numbers would give.
        if is_empty(xp, input) or not math.prod(half):
            return np.zeros((*input.shape[:-rank], *half), Tcomplex.numpy)
        return xp.fft.rfftn(input, lengths, range(-rank, 0)).astype(Tcomplex.numpy, copy=False)

    return rfft


def _half(lengths: Sequence[Any]) -> list[Any]:
    """Return the sizes of half a spectrum; nothing has half of nothing."""
    last = lengths[-1]
    return [*lengths[:-1], 0 if isinstance(last, int) and last == 0 else last // 2 + 1]


def _require_precision(input: Array, Tcomplex: DType) -> None:
    # The op's two attributes may differ in precision, which no kernel of TensorFlow takes.
    if input.dtype.itemsize * 2 != Tcomplex.numpy.itemsize:
        raise InvalidArgumentError(f"Wrong types for a real FFT: {input.dtype} and {Tcomplex}")


def _inverse_real_transform(rank: int) -> Callable[..., Any]:
    def irfft(xp: Any, input: Any, fft_length: Array, *, Treal: DType) -> Any:
        """Return the real numbers, fft_length in each dimension, from the first half of their spectrum."""
        lengths = _checked_inverse_lengths(input, fft_length, rank, Treal)
        if is_empty(xp, input) or not math.prod(lengths):
            return np.zeros((*input.shape[:-rank], *lengths), Treal.numpy)
        return xp.fft.irfftn(input, lengths, range(-rank, 0)).astype(Treal.numpy, copy=False)

    return irfft


def _real_shape(rank: int, halved: Callable[..., Any]) -> Callable[..., Any]:
    def transform_shape(input: TensorSpec, fft_length: TensorSpec) -> Shape:
        merge_shapes(fft_length.shape, Shape([rank]))
        if input.shape.dims is None:
            return UNKNOWN
        require(len(input.shape) >= rank, f"Input must have rank of at least {rank}, not {input.shape}")
        lengths = dims_of(fft_length)
        return input.shape[:-rank] + Shape([None] * rank if lengths is None else halved(lengths))

    return transform_shape


def _sizes(g: GradientBuilder, x: Any, rank: Any) -> Any:
    """Return the last `rank` dimensions of x, and their product."""
    sizes = g.StridedSlice(g.shape_of(x), [-rank], [0], [1], end_mask=1)
    return sizes, g.Prod(sizes, g.constant([0], "int32"))


def _complex_gradient(suffix: str, rank: int, inverse: bool) -> Callable[..., Any]:
    """Return the gradient: the other transform, times or over the number of elements, as normalization differs from the
    adjoint's.
    """

    def transform_gradient(g: GradientBuilder, node: Node, grad: Output) -> Any:
        # The adjoint of the transform is the inverse without its division by n.
        scale = g.Cast(_sizes(g, grad, rank)[1], DstT=grad.base_dtype)
        if inverse:
            return [g.RealDiv(g.apply(f"FFT{suffix}", grad), scale)]
        return [g.Mul(g.apply(f"IFFT{suffix}", grad), scale)]

    return transform_gradient


def _real_gradient(suffix: str, rank: int) -> Callable[..., Any]:
    """Return the real part of the unnormalized inverse transform of the half spectrum with zeros for the other half."""

    def transform_gradient(g: GradientBuilder, node: Node, grad: Output) -> Any:
        x, lengths = node.inputs
        # The spectrum's other half has no gradient of its own, and counts as zero.
        full = _resized(g, grad, lengths, rank)
        scale = g.Cast(g.Prod(lengths, g.constant([0], "int32")), DstT=grad.base_dtype)
        whole = g.Mul(g.apply(f"IFFT{suffix}", full), scale)
        return [_resized(g, g.Real(whole, Tout=x.base_dtype), _sizes(g, x, rank)[0], rank), None]

    return transform_gradient


def _inverse_real_gradient(suffix: str, rank: int) -> Callable[..., Any]:
    """Return the gradient: the transform over the number of elements, doubled where an element stands for its mirror image
    too.
    """

    def transform_gradient(g: GradientBuilder, node: Node, grad: Output) -> Any:
        x, lengths = node.inputs
        spectrum = g.apply(f"RFFT{suffix}", grad, lengths, Tcomplex=x.base_dtype)
        scale = g.Cast(g.Prod(lengths, g.constant([0], "int32")), DstT=x.base_dtype)
        # The elements without a mirror image in the input stand for themselves alone.
        scaled = g.Mul(g.RealDiv(spectrum, scale), g.Cast(_multiplicity(g, lengths), DstT=x.base_dtype))
        return [_resized(g, scaled, _sizes(g, x, rank)[0], rank), None]

    return transform_gradient


def _multiplicity(g: GradientBuilder, lengths: Any) -> Any:
    """Return the multiplicity of each element of a half spectrum in the whole: 1 for the first, and for the last of an even
    length, else 2.
    """
    # From the length, not the size of the input as TensorFlow's gradient takes it, which fails for a spectrum longer than
    # needed.
    last = g.Reshape(g.StridedSlice(lengths, [-1], [0], [1], end_mask=1), g.constant([], "int32"))
    places = g.Range(0, g.AddV2(g.FloorDiv(last, g.constant(2, "int32")), g.constant(1, "int32")), 1)
    is_alone = g.LogicalOr(g.Equal(places, g.constant(0, "int32")), g.Equal(g.Mul(places, g.constant(2, "int32")), last))
    return g.SelectV2(is_alone, g.constant(1, "int32"), g.constant(2, "int32"))


def _resized(g: GradientBuilder, x: Any, sizes: Any, rank: Any) -> Any:
    """Return the last `rank` dimensions padded with zeros to `sizes`: they are no longer than that."""
    missing = g.Sub(sizes, _sizes(g, x, rank)[0])
    inner = g.Pack([g.ZerosLike(missing), missing], axis=1)
    outer = g.Fill(g.Pack([g.Sub(g.Rank(x), g.constant(rank, "int32")), 2]), g.constant(0, "int32"))
    return g.Pad(x, g.ConcatV2([outer, inner], 0))


def _n_log_n(factor: float, sizes: Sequence[Any] | None) -> DimLike:
    """factor * n log2(n), n the product of the sizes; unknown if they are not known."""
    if sizes is None or not all(isinstance(size, int) for size in sizes):
        return UNKNOWN.num_elements
    n = math.prod(sizes)
    return math.ceil(factor * n * math.log2(max(n, 1)))


def _complex_cost(rank: int) -> Callable[..., Any]:
    def cost(input: TensorSpec) -> Cost:
        """5 n log2(n) for each transform of n numbers in all dimensions, by the convention of FFTW's benchmark.

        The convention is the cost of radix 2 for powers of two, https://www.fftw.org/speed/method.html; division by n is
        not counted.
        """
        return Cost(input.shape[:-rank].num_elements * _n_log_n(5, input.shape[-rank:].dims))

    return cost


def _real_cost(rank: int) -> Callable[..., Any]:
    def cost(input: TensorSpec, fft_length: TensorSpec) -> Cost:
        """2.5 n log2(n) for each transform of n real numbers: half the cost of n complex numbers."""
        return Cost(input.shape[:-rank].num_elements * _n_log_n(2.5, dims_of(fft_length)))

    return cost


for _rank, _suffix in enumerate(("", "2D", "3D"), 1):
    _sizes_of = " ".join("xyz"[:_rank])
    for _op, _function in ((f"FFT{_suffix}", "fftn"), (f"IFFT{_suffix}", "ifftn")):
        everywhere(_op, shape=f"... {_sizes_of} -> ... {_sizes_of}")(_complex_transform(_function, _rank))
        gradient(_op)(_complex_gradient(_suffix, _rank, _op.startswith("I")))
        flops(_op)(_complex_cost(_rank))
    everywhere(f"RFFT{_suffix}", static=(1,))(_real_transform(_rank))
    shape(f"RFFT{_suffix}")(_real_shape(_rank, _half))
    gradient(f"RFFT{_suffix}")(_real_gradient(_suffix, _rank))
    everywhere(f"IRFFT{_suffix}", static=(1,), shape=_real_shape(_rank, list))(_inverse_real_transform(_rank))
    gradient(f"IRFFT{_suffix}")(_inverse_real_gradient(_suffix, _rank))
    flops(f"RFFT{_suffix}", f"IRFFT{_suffix}")(_real_cost(_rank))
