"""Variants that hold other values: optionals, maps of tensors, and composite tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...codecs.wire import fields
from ...graph.graph import Node, Output
from ...registry.registry import WITHOUT_GRADIENT, gradient, kernel, onnx, zero_cost
from ...runtime.state.edge_values import is_of, scalar_object
from ...runtime.state.variants import added, zeros_like
from ...support import dataclasses
from ...support.errors import DataLossError, InvalidArgumentError, UnimplementedError
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import Shape, merge_shapes
from ..shared.decompositions import by_ops


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


@kernel("OptionalFromValue", shape="-> ()", flops=zero_cost, facts=("of_lists",))
def optional_from_value(components: list[Array]) -> Result:
    """An optional that holds the components."""
    return scalar_object(Optional(list(components)))


@kernel("OptionalNone", shape="-> ()", arithmetic=False)
def optional_none() -> Result:
    """An optional without a value."""
    return scalar_object(Optional())


@kernel("OptionalHasValue", shape="-> ()", arithmetic=False)
def optional_has_value(optional: Array) -> Result:
    return np.bool_(_optional(optional).components is not None)


@kernel("OptionalGetValue", shape="-> {output_shapes}...", flops=zero_cost)
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


onnx("OptionalFromValue")(lambda g, values: g.held(values))
onnx("OptionalNone")(lambda g: g.nothing())
onnx("OptionalHasValue")(lambda g, optional: optional.is_there)


@onnx("OptionalGetValue")
def _get_value_onnx(g: Any, optional: Any) -> Any:
    # An optional is a flag beside its tensors in ONNX, and one that is always empty has no tensors to take.
    if getattr(optional, "values", None) is None:
        g.refuse("it may be empty")
    return optional.values


@dataclasses.dataclass(frozen=True, slots=True)
class TensorMap:
    """Entries by normalized keys: dtype, shape and elements."""

    entries: Mapping[Any, tuple[Any, Any]]

    def __add__(self, other: TensorMap) -> TensorMap:
        """Return the entries of both; values of the same key are added."""
        if not isinstance(other, TensorMap):
            return NotImplemented
        total = dict(self.entries)
        for name, (key, value) in other.entries.items():
            total[name] = (key, added(total[name][1], value) if name in total else value)
        return TensorMap(total)

    def zeros_like(self) -> TensorMap:
        """Return an empty map, the neutral element of addition."""
        return TensorMap({})


def _map(handle: Array) -> TensorMap:
    content = handle.item() if isinstance(handle, np.ndarray) and handle.ndim == 0 else handle
    if not isinstance(content, TensorMap):
        raise InvalidArgumentError(f"the variant holds a {type(content).__name__}, not a tensor map")
    return content


def _key(key: Array) -> tuple[Any, Any, Any]:
    array = np.asarray(key)
    if array.dtype == object and not all(isinstance(item, bytes) for item in array.flat):
        raise InvalidArgumentError("a key must be a tensor of numbers or strings")
    # The bytes of an object array are addresses.
    elements = tuple(array.ravel().tolist()) if array.dtype == object else array.tobytes()
    return array.dtype.name, array.shape, elements


@kernel("EmptyTensorMap", shape="-> ()", arithmetic=False)
def empty_tensor_map() -> Result:
    """A map without entries."""
    return scalar_object(TensorMap({}))


@kernel("TensorMapSize", shape="-> ()", arithmetic=False)
def tensor_map_size(input_handle: Array) -> Result:
    """Return the number of entries."""
    return np.int32(len(_map(input_handle).entries))


@kernel("TensorMapInsert", shape="-> ()", flops=zero_cost)
def tensor_map_insert(input_handle: Array, key: Array, value: Array) -> Result:
    """The map with an entry more, or another value."""
    # A new dictionary, because older handles keep the map as it was.
    return scalar_object(TensorMap({**_map(input_handle).entries, _key(key): (key, value)}))


@gradient("TensorMapInsert")
def tensor_map_insert_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """Give the gradient at the key to the value and the rest to the map; the key may have no gradient."""
    _, key, value = node.inputs
    # Switches and merges, as the two branches of an If would have to be functions in the graph's library.
    has_key = g.TensorMapHasKey(grad, key)
    whole, with_key = g.Switch(grad, has_key)
    present = g.Switch(key, has_key)[1]
    of_map, _ = g.Merge([whole, g.TensorMapErase(with_key, present, value_dtype=value.base_dtype)])
    zeros = g.zeros_like(g.Switch(value, has_key)[0])
    of_value, _ = g.Merge([zeros, g.TensorMapLookup(with_key, present, value_dtype=value.base_dtype)])
    return [of_map, None, of_value]


def _entry(entries: Mapping[Any, tuple[Array, Array]], key: Array, what: str) -> tuple[Array, Array]:
    if _key(key) not in entries:
        raise InvalidArgumentError(f"Trying to {what} non-existent key: {np.asarray(key).tolist()}")
    return entries[_key(key)]


@kernel("TensorMapErase", shape="-> ()", flops=zero_cost)
def tensor_map_erase(input_handle: Array, key: Array) -> Result:
    """The map without an entry."""
    entries = _map(input_handle).entries
    _entry(entries, key, "erase")
    return scalar_object(TensorMap({k: entry for k, entry in entries.items() if k != _key(key)}))


# The erased entry did not reach the result, so the map of gradients has none for its key.
gradient("TensorMapErase")(by_ops("dy"))


@kernel("TensorMapHasKey", shape="-> ()", arithmetic=False)
def tensor_map_has_key(input_handle: Array, key: Array) -> Result:
    """Return True if the map has the key."""
    return np.bool_(_key(key) in _map(input_handle).entries)


@kernel("TensorMapLookup", shape="-> *", flops=zero_cost)
def tensor_map_lookup(input_handle: Array, key: Array, *, value_dtype: DType) -> Result:
    """The value of a key."""
    value = _entry(_map(input_handle).entries, key, "lookup")[1]
    if not is_of(np.asarray(value), value_dtype):
        raise InvalidArgumentError(f"Expected value dtype {value_dtype}, the map has {np.asarray(value).dtype}")
    return value


# The gradient of a map is the map of gradients, in which a missing key stands for 0: the other entries had no effect.
gradient("TensorMapLookup")(by_ops("TensorMapInsert (EmptyTensorMap) 1 dy"))


@kernel("TensorMapStackKeys", shape="-> *", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def tensor_map_stack_keys(input_handle: Array, *, key_dtype: DType) -> Result:
    """Stack all keys."""
    keys = [np.asarray(key) for key, _ in _map(input_handle).entries.values()]
    for key in keys:
        if not is_of(key, key_dtype):
            raise InvalidArgumentError(f"Key does not match requested dtype {key_dtype}: {key.dtype}")
        if key.shape != keys[0].shape:
            raise InvalidArgumentError(f"Keys must have the same shape: {keys[0].shape} and {key.shape}")
    # Filled row by row, as np.stack takes no empty list, and a map without entries has no keys to stack.
    result = np.empty((len(keys), *(keys[0].shape if keys else ())), key_dtype.numpy)
    for i, key in enumerate(keys):
        result[i, ...] = key
    return result


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


@kernel("CompositeTensorVariantFromComponents", shape="-> ()", flops=zero_cost)
def from_components(components: list[Array], *, metadata: str) -> Result:
    """A variant that holds the components."""
    _check_metadata(metadata)
    return scalar_object(CompositeTensor(tuple(components)))


@kernel("CompositeTensorVariantToComponents", shape="-> * [Tcomponents]", flops=zero_cost)
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


@gradient("CompositeTensorVariantFromComponents")
def from_components_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    dtypes_of = [value.base_dtype for value in node.inputs]
    components = g.CompositeTensorVariantToComponents(grad, metadata=node.attr("metadata"), Tcomponents=dtypes_of)
    # A builder gives a single output as it is, and the op's number of outputs follows from an attribute.
    return list(components) if isinstance(components, tuple) else [components]


@gradient("CompositeTensorVariantToComponents")
def to_components_gradient(g: GradientBuilder, node: Node, *grads: Output) -> Gradients:
    return [g.CompositeTensorVariantFromComponents(list(grads), metadata=node.attr("metadata"))]
