"""Lists of tensors as TensorFlow's checkpoints hold them (TensorList::Encode in core/kernels/tensor_list.cc)."""

from __future__ import annotations

from typing import Any, Final

from ...codecs import wire
from ...codecs.wire import varint
from ...support.errors import DataLossError, TfgError, UnimplementedError
from ...types import dtypes
from ...types.shapes import Shape
from .stored_variants import StoredVariant
from .tensor_lists import TensorList
from .tensor_proto_bytes import parse, serialize, shape_message, sizes_in

_KIND: Final = "tensorflow::TensorList"
_UNKNOWN_RANK: Final = 3
"""The number of a field of TensorShapeProto."""


def is_storable(value: Any) -> bool:
    """Return True for an element of a variant that a checkpoint can hold."""
    return isinstance(value, StoredVariant) or (isinstance(value, TensorList) and not _holds_objects(value))


def _holds_objects(value: TensorList) -> bool:
    return value.dtype.is_object and value.dtype is not dtypes.string


def stored(value: Any) -> StoredVariant:
    """Return the stored form of an element of a variant; UnimplementedError for objects that are no lists of plain tensors."""
    if isinstance(value, StoredVariant):
        return value
    if not is_storable(value):
        raise UnimplementedError(f"a checkpoint cannot hold a {type(value).__name__} in a variant")
    items = value.items
    unset = [index for index, item in enumerate(items) if item is None]
    numbers = [len(unset), *unset, value.dtype.number, value.max_num_elements]
    tensors = [serialize(item, value.dtype) for item in items if item is not None]
    return StoredVariant.of(_KIND, b"".join(map(varint, numbers)) + _shape_message(value.element_shape), tensors)


def live(variant: StoredVariant) -> Any:
    """Return the list in a stored variant, and a variant of another kind as it is; DataLossError where the list is damaged."""
    if variant.kind != _KIND:
        return variant
    try:
        return _list_in(variant)
    except (TfgError, ValueError) as error:
        raise DataLossError(f"a list of tensors is damaged: {error}") from None


def _list_in(variant: StoredVariant) -> TensorList:
    metadata = variant.metadata
    count, position = wire.read_varint(metadata, 0, len(metadata))
    tensors = [parse(message) for message in variant.tensors]
    if count > len(metadata):
        raise ValueError(f"{len(metadata)} bytes do not hold {count} positions")
    numbers = []
    for _ in range(count + 2):
        number, position = wire.read_varint(metadata, position, len(metadata))
        numbers.append(number)
    *unset, dtype_number, most = numbers
    dtype = dtypes.from_number(dtype_number)
    if any(element is not dtype for _, element in tensors):
        raise ValueError(f"an element is not of dtype {dtype}")
    most -= (1 << 64) if most >= 1 << 63 else 0
    items = _with_unset([array for array, _ in tensors], set(unset))
    return TensorList(dtype, _shape_in(metadata[position:]), items, most)


def _with_unset(arrays: list[Any], unset: set[int]) -> list[Any]:
    """Return the elements of a list: None at the positions that were never set."""
    count = len(arrays) + len(unset)
    if any(index >= count for index in unset):
        raise ValueError(f"a list of {count} elements has no position {max(unset)}")
    rest = iter(arrays)
    return [None if index in unset else next(rest) for index in range(count)]


def _shape_message(shape: Shape) -> bytes:
    """Return a TensorShapeProto, -1 for an unknown size."""
    if shape.dims is None:
        return wire.varint_field(_UNKNOWN_RANK, 1)
    return shape_message(dim if isinstance(dim, int) else -1 for dim in shape.dims)


def _shape_in(message: bytes) -> Shape:
    if any(wire.integers(message, _UNKNOWN_RANK)):
        return Shape()
    return Shape(None if size < 0 else size for size in sizes_in(message))
