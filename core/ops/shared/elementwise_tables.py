"""Rows of the elementwise tables become kernels, shape functions, gradients, FLOPs and facts."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

import numpy as np

from ...building.gradbuilder import GradientBuilder
from ...graph.graph import Node, Output
from ...numerics.array_namespace import NUMPY
from ...numerics.half_precision import widened
from ...registry import kernel_types, registry
from ...registry.registry import Cost, WithoutGradient
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array
from ...types.shapes import Shape, TensorSpec, broadcast_shapes
from .plain_shapes import first_shape

NARROW = ("half", "bfloat16")
WIDE = ("float", "double")
FLOATS = (*NARROW, *WIDE)
COMPLEX = ("complex64", "complex128")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = (*SIGNED, *UNSIGNED)


class ElementwiseProgram(NamedTuple):
    """An array program in a row: the kernel and both lowerings of the op."""

    function: Callable[..., Any]


class Unary(NamedTuple):
    """An elementwise op of one input. `gradient(g, x, y, dy)` returns dx, None for no gradient flow, WITHOUT_GRADIENT where
    TensorFlow has no gradient.

    A `function` by its name is that of NumPy in the kernel, and of the namespaces of XLA and ONNX in array programs; all three
    may be an `ElementwiseProgram`. `flops` and `transcendentals` are per element; a `widened` kernel computes 16-bit floats in
    float32.
    """

    op: str
    function: Callable[..., Any] | str | ElementwiseProgram
    gradient: Callable[..., Any] | WithoutGradient | None
    flops: int = 1
    transcendentals: int = 0
    widened: bool = False


class Binary(NamedTuple):
    """An elementwise op of two inputs that broadcast: `gradient(g, x, y, z, dz)` returns (dx, dy) before the sums."""

    op: str
    function: Callable[..., Any] | str | ElementwiseProgram
    gradient: Callable[..., Any] | WithoutGradient | None
    flops: int = 1
    transcendentals: int = 0
    widened: bool = False


def register_unary(rows: Iterable[Unary]) -> None:
    """Register all that the rows say."""
    for row in rows:
        _register(row, first_shape, unary_flops, _unary_gradient)


def register_binary(rows: Iterable[Binary]) -> None:
    """Register all that the rows say."""
    for row in rows:
        _register(row, binary_shape, binary_flops, _binary_gradient)


def _register(row: Unary | Binary, shape: Callable[..., Any], cost: Callable[..., Any], gradient: Callable[..., Any]) -> None:
    _register_kernels(row)
    registry.shape(row.op)(shape)
    registry.flops(row.op)(cost(row.flops, row.transcendentals))
    if row.gradient is None:
        registry.not_differentiable(row.op)
    elif isinstance(row.gradient, WithoutGradient):
        registry.without_gradient(row.op)
    else:
        registry.gradient(row.op)(functools.partial(gradient, row.gradient))
    registry.facts("elementwise", of=(row.op,))


def broadcasting(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` with NumPy's complaint about shapes as InvalidArgumentError."""

    @functools.wraps(function)
    def checked(x: Array, y: Array, **out: Array) -> Array:
        try:
            result: Array = function(x, y, **out)
        except ValueError:
            raise InvalidArgumentError(f"Incompatible shapes: {Shape(np.shape(x))} vs. {Shape(np.shape(y))}") from None
        return result

    return checked


def binary_shape(x: TensorSpec, y: TensorSpec, *rest: TensorSpec) -> Shape:
    return broadcast_shapes(x.shape, y.shape)


def unary_flops(flops: int = 1, transcendentals: int = 0) -> Callable[..., Cost]:
    """Return a FLOPs function: `flops` per element of the first input."""
    return counted(Cost(flops, 0, transcendentals), 0, "")


def binary_flops(flops: int = 1, transcendentals: int = 0) -> Callable[..., Cost]:
    """Return a FLOPs function: `flops` per element of two broadcast inputs."""
    return functools.partial(_binary_cost, per_element=Cost(flops, 0, transcendentals))


RESULT: Final = -1
"""The place of the result, for `counted`."""


def counted(per_element: int | Cost, places: int | tuple[int, ...], words: str, of_rows: bool = False) -> Callable[..., Cost]:
    """Return a FLOPs function: `per_element` for each element of the inputs at some places, or for each row of the last
    dimension.

    `words` say what is counted, for the list of formulas.
    """
    cost = per_element if isinstance(per_element, Cost) else Cost(per_element)
    places = places if isinstance(places, tuple) else (places,)
    return functools.partial(_counted, places=places, per_element=cost, words=words, of_rows=of_rows)


def _counted(
    *inputs: TensorSpec, outputs: list[TensorSpec], places: tuple[int, ...], per_element: Cost, words: str, of_rows: bool
) -> Cost:
    shapes = [(outputs[0] if place == RESULT else inputs[place]).shape for place in places]
    counts = [(shape[:-1] if of_rows else shape).num_elements for shape in shapes]
    return per_element * sum(counts[1:], counts[0])


def reduction_flops(x: TensorSpec, *rest: TensorSpec, outputs: list[TensorSpec]) -> Cost:
    """One operation less than the number of reduced elements for each result."""
    return Cost(x.shape.num_elements - outputs[0].shape.num_elements)


def _register_kernels(row: Unary | Binary) -> None:
    function = row.function
    if isinstance(function, str):
        registry.arrays_as(**{row.op: function})
        function = getattr(np, function)
    if isinstance(function, ElementwiseProgram):
        registry.arrays(row.op)(function.function)
        function = functools.partial(function.function, NUMPY)
        function = broadcasting(function) if isinstance(row, Binary) else function
    # Kernels for narrow floats come first, as the registry takes the first that accepts the dtypes.
    narrow = [dtype for dtype in NARROW if row.widened and kernel_types.takes(row.op, "T", dtype)]
    if narrow:
        registry.kernel(row.op, T=narrow)(widened(function))
    registry.kernel(row.op)(function)


def _binary_cost(x: TensorSpec, y: TensorSpec, *, per_element: Cost) -> Cost:
    return per_element * broadcast_shapes(x.shape, y.shape).num_elements


def _unary_gradient(function: Callable[..., Any], g: GradientBuilder, node: Node, dy: Output) -> list[Output]:
    return [function(g, node.inputs[0], node.output(0), dy)]


def _binary_gradient(function: Callable[..., Any], g: GradientBuilder, node: Node, dz: Output) -> list[Output | None]:
    x, y = node.inputs
    dx, dy = function(g, x, y, node.output(0), dz)
    return [
        None if dx is None else g.reduce_to(dx, x, y),
        None if dy is None else g.reduce_to(dy, y, x),
    ]
