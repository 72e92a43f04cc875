"""Optionals: variants that hold tensors or nothing. Functional conditionals save values in optionals for their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...registry.registry import facts, gradient, kernel, not_differentiable, onnx, shape, zero_flops
from ...runtime.state.edge_values import is_of, scalar_object
from ...runtime.state.variants import added, zeros_like
from ...support.errors import InvalidArgumentError, UnimplementedError
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import Shape, merge_shapes
from ..shared.plain_shapes import scalar_shape, signature


class Optional:
    """Tensors, or nothing: `components` is None then."""

    __slots__ = ("components",)

    def __init__(self, components: list[Array] | None = None) -> None:
        self.components = components

    def __add__(self, other: Optional) -> Optional:
        """Add components of two optionals, as AddN does; both optionals must hold values, or neither."""
        if not isinstance(other, Optional) or (self.components is None) != (other.components is None):
            raise InvalidArgumentError("Cannot add optionals because one has a value and the other doesn't.")
        # Neither has a value: gradients of a branch that did not run stay without one.
        if self.components is None or other.components is None:
            return self
        if len(self.components) != len(other.components):
            raise InvalidArgumentError("Cannot add optionals because they have different numbers of components.")
        return Optional([added(a, b) for a, b in zip(self.components, other.components)])

    def zeros_like(self) -> Optional:
        """Return an optional of zeros, as ZerosLike does."""
        return Optional(None if self.components is None else [zeros_like(value) for value in self.components])


def _optional(handle: Array) -> Optional:
    if np.ndim(handle):
        raise InvalidArgumentError(f"an optional must be a scalar, but has shape {Shape(np.shape(handle))}")
    content = handle.item()
    if not isinstance(content, Optional):
        raise InvalidArgumentError(f"the variant holds a {type(content).__name__}, not an optional")
    return content


@kernel("OptionalFromValue")
def optional_from_value(components: list[Array]) -> Result:
    """An optional that holds the components."""
    return scalar_object(Optional(list(components)))


shape("OptionalFromValue")(scalar_shape)


@kernel("OptionalNone")
def optional_none() -> Result:
    """An optional without a value."""
    return scalar_object(Optional())


shape("OptionalNone", "OptionalHasValue")(scalar_shape)


@kernel("OptionalHasValue")
def optional_has_value(optional: Array) -> Result:
    return np.bool_(_optional(optional).components is not None)


@kernel("OptionalGetValue")
def optional_get_value(optional: Array, *, output_types: list[DType], output_shapes: list[Shape]) -> Sequence[Result]:
    """The components of an optional."""
    components = _optional(optional).components
    if components is None:
        raise InvalidArgumentError("The given optional does not have a value.")
    if len(components) != len(output_types):
        raise InvalidArgumentError(f"The given optional has {len(components)} components, expected {len(output_types)}.")
    for i, (value, dtype, expected) in enumerate(zip(components, output_types, output_shapes)):
        if not is_of(value, dtype):
            raise InvalidArgumentError(f"component {i} of the optional is {value.dtype}, not {dtype}")
        merge_shapes(expected, Shape(value.shape))
    return components


shape("OptionalGetValue")(signature("_ -> {output_shapes}"))


@gradient("OptionalFromValue")
def optional_from_value_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    dtypes_of = [value.base_dtype for value in node.inputs]
    values = g.OptionalGetValue(grad, output_types=dtypes_of, output_shapes=[Shape()] * len(dtypes_of))
    # The builder returns a single output without a tuple.
    return list(values) if isinstance(values, tuple) else [values]


@gradient("OptionalGetValue")
def optional_get_value_gradient(g: GradientBuilder, node: Node, *grads: Output) -> Gradients:
    # An optional holds all components or none, so a gradient without one of them cannot be put into one.
    missing = next((dtype for dtype, grad in zip(node.output_dtypes, grads) if grad is None), None)
    if missing is not None:
        raise UnimplementedError(f"a component of dtype {missing} has no gradient, so the optional has no gradient")
    return [g.OptionalFromValue(list(grads))]


_OPS = ("OptionalFromValue", "OptionalNone", "OptionalHasValue", "OptionalGetValue")
not_differentiable("OptionalNone", "OptionalHasValue")
zero_flops(*_OPS)

onnx("OptionalFromValue")(lambda g, values: g.held(values))
facts("of_lists", of=("OptionalFromValue",))
onnx("OptionalNone")(lambda g: g.nothing())
onnx("OptionalHasValue")(lambda g, optional: optional.is_there)


@onnx("OptionalGetValue")
def _get_value_onnx(g: Any, optional: Any) -> Any:
    # An optional is a flag beside its tensors in ONNX, and one that is always empty has no tensors to take.
    if getattr(optional, "values", None) is None:
        g.refuse("it may be empty")
    return optional.values
