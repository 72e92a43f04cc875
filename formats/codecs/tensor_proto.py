"""TensorProto to core's Tensor and back: the elements stay in the message, or in the file, until somebody needs them."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...core.support.errors import InvalidArgumentError
from ...core.types import dtypes
from ...core.types.dtypes import DType
from ...core.types.tensors import Tensor
from ..protos.graph_pb2 import TensorProto, TensorShapeProto

if TYPE_CHECKING:
    import numpy as np

LARGE_CONTENT = 1 << 16
"""A tensor_content of more bytes than this stays outside protobuf, as a view of the file or array."""

# The typed list of a dtype, and memoryview.cast's code; the machine is little-endian here, like the files.
_PREVIEWS = {
    "float": ("float_val", "f"), "double": ("double_val", "d"), "bool": ("bool_val", "?"), "string": ("string_val", ""),
    "int8": ("int_val", "b"), "int16": ("int_val", "h"), "int32": ("int_val", "i"), "int64": ("int64_val", "q"),
    "uint8": ("int_val", "B"), "uint16": ("int_val", "H"), "uint32": ("uint32_val", "I"), "uint64": ("uint64_val", "Q"),
}  # fmt: skip


# The module stays apart from `tensor_values`, so that reading, printing and writing a graph imports no NumPy.
class TensorSource:
    """The encoded form of a constant: the message, and the message's tensor_content if left in the file."""

    __slots__ = ("content", "proto")

    def __init__(self, proto: TensorProto, content: memoryview | None = None) -> None:
        self.proto = proto
        self.content = content

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorSource) and (self.proto, self.content) == (other.proto, other.content)

    __hash__ = None  # type: ignore[assignment]

    def preview(self, limit: int) -> list[Any] | None:
        """Return the first elements without NumPy; None for dtypes that only NumPy can decode."""
        field, code = _PREVIEWS.get(dtypes.from_number(self.proto.dtype).name, ("", ""))
        buffer = self.proto.tensor_content if self.content is None else self.content
        if not len(buffer):
            return self._filled(list(getattr(self.proto, field)[:limit]), code, limit) if field else None
        if not code:
            return None
        size = struct.calcsize(code)
        head = memoryview(buffer)[: min(limit, len(buffer) // size) * size]
        elements: list[Any] = head.cast("B").cast(code).tolist()  # type: ignore[call-overload]
        return elements

    def _filled(self, stored: list[Any], code: str, limit: int) -> list[Any]:
        """Return the elements of a typed list; an empty list stands for zeros, and missing elements repeat the last
        element.
        """
        missing = min(limit, math.prod(dim.size for dim in self.proto.tensor_shape.dim)) - len(stored)
        zero = struct.unpack(code, bytes(struct.calcsize(code)))[0] if code else b""
        return stored + [stored[-1] if stored else zero] * missing


def decode_tensor(proto: TensorProto, content: memoryview | None = None) -> Tensor:
    """Return a lazy Tensor; `content` replaces tensor_content if cut out of the message.

    InvalidArgumentError for a dtype or shape that no tensor has; wrong numbers of elements show when they are asked for.
    """
    dtype = dtypes.from_number(proto.dtype).base
    shape = decode_static_shape(proto.tensor_shape)
    return Tensor(dtype, shape, lambda: _decode_elements(proto, content, dtype, shape), TensorSource(proto, content))


def encode_tensor(tensor: Tensor) -> TensorProto:
    """Return the TensorProto of a constant: the loaded message, or a message as TensorFlow's make_tensor_proto makes."""
    proto, content = split_tensor(tensor)
    if content is None:
        return proto
    complete = TensorProto()
    complete.CopyFrom(proto)
    complete.tensor_content = bytes(content)
    return complete


def split_tensor(tensor: Tensor) -> tuple[TensorProto, memoryview | None]:
    """Return the result of `encode_tensor`, a large tensor_content apart from the message and not copied."""
    if isinstance(tensor.source, TensorSource):
        return tensor.source.proto, tensor.source.content
    from . import tensor_values  # imports numpy

    proto = TensorProto(dtype=tensor.dtype.enum_name, tensor_shape=encode_static_shape(tensor.shape))
    content = tensor_values.encode_elements(proto, tensor.dtype, tensor.read(), encode_tensor)
    if content is not None and len(content) <= LARGE_CONTENT:
        proto.tensor_content = bytes(content)
        content = None
    return proto, content


def _decode_elements(
    proto: TensorProto, content: memoryview | None, dtype: DType, shape: tuple[int, ...]
) -> np.ndarray[Any, Any]:
    from . import tensor_values  # imports numpy

    buffer = proto.tensor_content if content is None else content
    return tensor_values.decode_elements(proto, buffer, dtype, shape, decode_tensor)


def decode_static_shape(proto: TensorShapeProto) -> tuple[int, ...]:
    """Return the dimensions; InvalidArgumentError for a negative dimension, or a product past 64 bits."""
    # TensorFlow reads an unknown rank as a scalar: the message has no dimensions.
    shape = tuple([dim.size for dim in proto.dim])  # a list is faster than a generator: checkpoints have many shapes
    if shape and min(shape) < 0:
        raise InvalidArgumentError(f"a constant has shape {list(shape)}, with a negative dimension")
    if math.prod(shape) >= 1 << 63:
        raise InvalidArgumentError(f"a constant has shape {list(shape)}, with more elements than 64 bits can count")
    return shape


def encode_static_shape(shape: Iterable[int]) -> TensorShapeProto:
    """Encode a fully known shape as a TensorShapeProto."""
    proto = TensorShapeProto()
    for size in shape:
        proto.dim.add().size = size
    return proto
