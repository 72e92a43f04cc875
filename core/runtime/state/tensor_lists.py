"""TensorLists: immutable lists of tensors, cheap to extend and to change because only the newest version holds the
elements.

After Baker, "Shallow binding makes functional arrays fast" (1991): an older version keeps its difference to the next, and
is rebuilt only where somebody still reads the older version.
"""

from __future__ import annotations

from typing import Any, Final

from ...codecs import wire
from ...codecs.wire import varint
from ...support.errors import DataLossError, InvalidArgumentError, TfgError, UnimplementedError
from ...types import dtypes
from ...types.dtypes import DType
from ...types.shapes import Shape, merge_shapes
from .tensor_proto_bytes import parse, serialize, shape_message, sizes_in
from .variants import StoredVariant, added, zeros_like

_Difference = tuple["TensorList", str, int, Any]
NOTHING_SET: Final = (-1,)
"""The shape of the elements of a list that never had any."""
ANY: Final = (-2,)
"""The item shape of a list whose elements differ in shape, or include zeros whose shape only the reader knows."""


class TensorList:
    """A list of tensors of the same dtype; None stands for an element that was never set and reads as zeros.

    `item_shape` is the shape of all elements of this version and of earlier versions, or NOTHING_SET or ANY.
    """

    __slots__ = ("_difference", "_items", "dtype", "element_shape", "item_shape", "max_num_elements")

    def __init__(
        self,
        dtype: DType,
        element_shape: Shape,
        items: list[Any],
        max_num_elements: int = -1,
        item_shape: tuple[int, ...] = ANY,
    ) -> None:
        self.dtype = dtype
        self.element_shape = element_shape
        self.max_num_elements = max_num_elements
        self.item_shape = item_shape
        self._items: list[Any] | None = items
        self._difference: _Difference | None = None

    @property
    def items(self) -> list[Any]:
        """The elements. Not to be written to."""
        if self._items is None:
            # From here on both versions have elements of their own, so reads in turn do not rebuild again and again.
            self._items = self._rebuilt()
            self._difference = None
        return self._items

    def __len__(self) -> int:
        return len(self.items if self._items is None else self._items)

    def pushed(self, value: Any) -> TensorList:
        """Return the list with another element at the end."""
        items = self.items if self._items is None else self._items
        items.append(value)
        # The newest version takes the elements over: a loop appends in constant time, without a copy of the list.
        return self._followed_by(items, "pop", 0, None, value.shape)

    def popped(self) -> TensorList:
        """Return the list without the last element."""
        items = self.items if self._items is None else self._items
        return self._followed_by(items, "push", 0, items.pop(), self.item_shape)

    def replaced(self, index: int, value: Any) -> TensorList:
        """Return the list with another element at `index`."""
        items = self.items
        old = items[index]
        items[index] = value
        return self._followed_by(items, "set", index, old, value.shape)

    def resized(self, size: int) -> TensorList:
        """Return the list cut, or filled up with unset elements, to `size`."""
        items = self.items[:size]
        items += [None] * (size - len(items))
        return self.with_items(items)

    def with_items(self, items: list[Any]) -> TensorList:
        """Return a list of the same kind that holds `items`."""
        return TensorList(self.dtype, self.element_shape, items, self.max_num_elements)

    def _followed_by(self, items: list[Any], change: str, index: int, value: Any, shape: tuple[int, ...]) -> TensorList:
        """Return the next version, which takes the elements over, `shape` among their shapes.

        This version keeps the difference.
        """
        if shape != self.item_shape and self.item_shape is not NOTHING_SET:
            shape = ANY
        following = TensorList(self.dtype, self.element_shape, items, self.max_num_elements, shape)
        self._items = None
        self._difference = (following, change, index, value)
        return following

    def _rebuilt(self) -> list[Any]:
        differences = []
        version = self
        # This is a loop and no recursion, because a list that grew in a long loop has a chain of as many versions.
        while version._items is None:
            assert version._difference is not None
            differences.append(version._difference)
            version = version._difference[0]
        items = version._items.copy()
        for _, change, index, value in reversed(differences):
            if change == "set":
                items[index] = value
            elif change == "push":
                items.append(value)
            else:
                items.pop()
        return items

    def __add__(self, other: object) -> TensorList:
        """Return the list of sums: AddN of variants that hold lists."""
        if not isinstance(other, TensorList) or self.dtype is not other.dtype:
            raise InvalidArgumentError("Trying to add two lists of tensors of different dtypes.")
        if len(self) != len(other):
            raise InvalidArgumentError("Trying to add two lists of tensors with different lengths.")
        items = [b if a is None else a if b is None else added(a, b) for a, b in zip(self.items, other.items)]
        shape = self.item_shape if self.item_shape == other.item_shape else ANY
        return TensorList(self.dtype, merge_shapes(self.element_shape, other.element_shape), items, item_shape=shape)

    def zeros_like(self) -> TensorList:
        """Return the list of zeros: ZerosLike of a variant that holds a list."""
        items = [None if item is None else zeros_like(item) for item in self.items]
        return TensorList(self.dtype, self.element_shape, items, self.max_num_elements, self.item_shape)

    def __repr__(self) -> str:
        return f"TensorList({self.dtype}, {self.element_shape}, {len(self)} elements)"


# Lists as checkpoints hold them (TensorList::Encode in TensorFlow's core/kernels/tensor_list.cc).

_KIND: Final = "tensorflow::TensorList"
_UNKNOWN_RANK: Final = 3
"""The number of a field of TensorShapeProto."""


def is_storable(value: Any) -> bool:
    """Return True for an element of a variant that a checkpoint can hold."""
    if isinstance(value, TensorList):
        return value.dtype is dtypes.string or not value.dtype.is_object
    return isinstance(value, StoredVariant)


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
    """Return the list in a stored variant, and a variant of another kind as it is; DataLossError if the list is damaged."""
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
    # Each position takes a byte or more: this bounds the loop below for a damaged count.
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
    # A varint holds -1, for no limit, as 2^64 - 1.
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
