"""Maps from tensors to tensors, immutable: an insertion makes another map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...registry.registry import gradient, kernel, not_differentiable, shape, without_gradient, zero_flops
from ...runtime.state.edge_values import is_of, scalar_object
from ...runtime.state.variants import added
from ...support import dataclasses
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ..shared.plain_shapes import scalar_shape, unknown_shape


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


@kernel("EmptyTensorMap")
def empty_tensor_map() -> Result:
    """A map without entries."""
    return scalar_object(TensorMap({}))


shape("EmptyTensorMap")(scalar_shape)


@kernel("TensorMapSize")
def tensor_map_size(input_handle: Array) -> Result:
    """Return the number of entries."""
    return np.int32(len(_map(input_handle).entries))


@kernel("TensorMapInsert")
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


@kernel("TensorMapErase")
def tensor_map_erase(input_handle: Array, key: Array) -> Result:
    """The map without an entry."""
    entries = _map(input_handle).entries
    _entry(entries, key, "erase")
    return scalar_object(TensorMap({k: entry for k, entry in entries.items() if k != _key(key)}))


@gradient("TensorMapErase")
def tensor_map_erase_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    # The erased entry did not reach the result, so the map of gradients has none for its key.
    return [grad, None]


@kernel("TensorMapHasKey")
def tensor_map_has_key(input_handle: Array, key: Array) -> Result:
    """Return True if the map has the key."""
    return np.bool_(_key(key) in _map(input_handle).entries)


shape("TensorMapSize", "TensorMapInsert", "TensorMapErase", "TensorMapHasKey")(scalar_shape)
not_differentiable("EmptyTensorMap", "TensorMapSize", "TensorMapHasKey")
zero_flops("EmptyTensorMap", "TensorMapSize", "TensorMapInsert", "TensorMapErase", "TensorMapHasKey")


@kernel("TensorMapLookup")
def tensor_map_lookup(input_handle: Array, key: Array, *, value_dtype: DType) -> Result:
    """The value of a key."""
    value = _entry(_map(input_handle).entries, key, "lookup")[1]
    if not is_of(np.asarray(value), value_dtype):
        raise InvalidArgumentError(f"Expected value dtype {value_dtype}, the map has {np.asarray(value).dtype}")
    return value


shape("TensorMapLookup")(unknown_shape)


@gradient("TensorMapLookup")
def tensor_map_lookup_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """The gradient of a map is the map of gradients."""
    # The other entries had no effect: a key that is missing from a map of gradients stands for a gradient of 0.
    return [g.TensorMapInsert(g.EmptyTensorMap(), node.inputs[1], grad), None]


@kernel("TensorMapStackKeys")
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


shape("TensorMapStackKeys")(unknown_shape)
without_gradient("TensorMapStackKeys")
zero_flops("TensorMapLookup", "TensorMapStackKeys")
