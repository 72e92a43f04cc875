"""Composite tensors, extension types among them, as a single variant for conditionals and tensor lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...codecs.wire import fields
from ...graph.graph import Node, Output
from ...registry.registry import gradient, kernel, shape, zero_flops
from ...runtime.state.edge_values import is_of, scalar_object
from ...support import dataclasses
from ...support.errors import DataLossError, InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ..shared.plain_shapes import scalar_shape, signature


@dataclasses.dataclass(frozen=True, slots=True)
class CompositeTensor:
    """The tensors that a composite tensor is made of."""

    components: tuple[np.ndarray[Any, Any], ...]


def _check_metadata(metadata: Any) -> Any:
    """Raise InvalidArgumentError if the attribute is no serialized message; the TypeSpecProto itself matters to Python
    only.
    """
    try:
        list(fields(metadata.encode("utf-8", "surrogateescape")))
    except DataLossError as error:
        raise InvalidArgumentError(f"Error parsing metadata: {error}") from None


@kernel("CompositeTensorVariantFromComponents")
def from_components(components: list[Array], *, metadata: str) -> Result:
    """A variant that holds the components."""
    _check_metadata(metadata)
    return scalar_object(CompositeTensor(tuple(components)))


@kernel("CompositeTensorVariantToComponents")
def to_components(encoded: Array, *, metadata: str, Tcomponents: list[DType]) -> Sequence[Result]:
    """Return the components in a variant; their number and dtypes must match the attributes, the metadata need not."""
    _check_metadata(metadata)
    # Of any shape, as TensorFlow reads the first element of a flat tensor.
    content = encoded.flat[0] if encoded.size else None
    if not isinstance(content, CompositeTensor):
        raise InvalidArgumentError(f"the variant holds a {type(content).__name__}, not a composite tensor")
    if len(content.components) != len(Tcomponents):
        raise InvalidArgumentError(
            f"Encoded value has {len(content.components)} tensor components; expected {len(Tcomponents)}"
        )
    for i, (component, dtype) in enumerate(zip(content.components, Tcomponents)):
        if not is_of(component, dtype):
            raise InvalidArgumentError(f"Tensor component {i} had dtype {component.dtype}; expected dtype {dtype}")
    return list(content.components)


shape("CompositeTensorVariantFromComponents")(scalar_shape)


shape("CompositeTensorVariantToComponents")(signature("_ -> _ * Tcomponents"))


@gradient("CompositeTensorVariantFromComponents")
def from_components_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    dtypes_of = [value.base_dtype for value in node.inputs]
    components = g.CompositeTensorVariantToComponents(grad, metadata=node.attr("metadata"), Tcomponents=dtypes_of)
    # A builder gives a single output as it is, and the op's number of outputs follows from an attribute.
    return list(components) if isinstance(components, tuple) else [components]


@gradient("CompositeTensorVariantToComponents")
def to_components_gradient(g: GradientBuilder, node: Node, *grads: Output) -> Gradients:
    return [g.CompositeTensorVariantFromComponents(list(grads), metadata=node.attr("metadata"))]


zero_flops("CompositeTensorVariantFromComponents", "CompositeTensorVariantToComponents")
