"""The elements of a TensorProto as NumPy arrays and back; imported when somebody first asks for the numbers of a constant."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, MutableSequence
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from ...core.codecs import wire
from ...core.codecs.snappy import unpacked_limit
from ...core.support.errors import InvalidArgumentError, ResourceExhaustedError, UnimplementedError
from ...core.types import dtypes
from ...core.types.arrays import object_array
from ...core.types.dtypes import DType
from ...core.types.tensors import ResourceHandle, Tensor, VariantData
from ..protos.graph_pb2 import ResourceHandleProto, TensorProto, VariantTensorDataProto

Buffer = bytes | memoryview

_MOST_DIMENSIONS = 64
_PIECE = 1 << 20
"""The number of elements that become Python objects at a time."""

# The typed list of a dtype's elements, used if tensor_content is not.
_VALUE_FIELDS = {
    "float": "float_val", "double": "double_val", "half": "half_val", "bfloat16": "half_val", "int64": "int64_val",
    "bool": "bool_val", "uint32": "uint32_val", "uint64": "uint64_val", "complex64": "scomplex_val",
    "complex128": "dcomplex_val", "string": "string_val", "resource": "resource_handle_val", "variant": "variant_val",
}  # fmt: skip
_INT_VAL = "int_val"  # all other integers and the quantized types

# The dtypes that make_tensor_proto writes as tensor_content if there are several elements.
_CONTENT_DTYPES = frozenset(
    ("float", "double", "half", "bfloat16", "int32", "uint8", "int16", "int8", "int64", "qint8", "quint8", "qint16", "quint16",
     "qint32", "uint32", "uint64", "float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2fnuz",
     "float4_e2m1fn")
)  # fmt: skip


def decode_elements(
    proto: TensorProto, content: Buffer, dtype: DType, shape: tuple[int, ...], decode_tensor: Callable[[TensorProto], Tensor]
) -> np.ndarray[Any, Any]:
    """Return the elements of a tensor, a view of `content` if possible; `decode_tensor` decodes the tensors in variants.

    InvalidArgumentError for too few or too many bytes, ResourceExhaustedError for elements that cannot fit into memory.
    """
    count = math.prod(shape)
    # NumPy counts the bytes without the dimensions of size 0, and refuses a shape beyond its limits with a ValueError.
    if len(shape) > _MOST_DIMENSIONS or math.prod(n for n in shape if n) * np.dtype(dtype.numpy).itemsize > sys.maxsize:
        raise InvalidArgumentError(f"a constant of {dtype} has shape {list(shape)}, which NumPy does not support")
    if count == 0:
        return np.empty(shape, dtype.numpy)
    if len(content):
        return _from_content(content, dtype, shape)
    if dtype is dtypes.variant:
        variants = [
            VariantData(value.type_name, value.metadata, tuple(map(decode_tensor, value.tensors)))
            for value in proto.variant_val
        ]
        return _fill(object_array(variants), dtype, shape)
    values = _typed_values(proto, dtype)
    values = values.astype(dtype.numpy, copy=False)
    return _fill(values, dtype, shape)


def _from_content(buffer: Buffer, dtype: DType, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    count = math.prod(shape)
    if dtype is dtypes.string:
        return object_array(_split_strings(memoryview(buffer), count), shape)
    if dtype is dtypes.resource:
        return object_array([_decode_handle(_handle_proto(text)) for text in _split_strings(memoryview(buffer), count)], shape)
    if dtype.is_object:
        raise InvalidArgumentError(f"tensor_content cannot hold elements of dtype {dtype}")
    if len(buffer) != count * dtype.size:
        raise InvalidArgumentError(
            f"tensor_content has {len(buffer)} bytes, but {dtype} of shape {list(shape)} needs {count * dtype.size}"
        )
    return np.frombuffer(buffer, dtype.numpy).reshape(shape)


def _split_strings(buffer: memoryview, count: int) -> list[bytes]:
    """Split tensor_content into strings: all lengths as varints, then all characters."""
    # Each length takes a byte or more, so the number of strings is bounded before room is made for their lengths.
    if count > len(buffer):
        raise InvalidArgumentError(f"tensor_content has {len(buffer)} bytes, too few for {count} strings")
    sizes, position = wire.read_varints(buffer, count)
    if position + sum(sizes) != len(buffer):
        raise InvalidArgumentError(f"tensor_content has {len(buffer)} bytes, but its strings need {position + sum(sizes)}")
    return wire.pieces(buffer, position, sizes)


def _typed_values(proto: TensorProto, dtype: DType) -> np.ndarray[Any, Any]:
    """Return the elements of the dtype's own list, without filling."""
    if dtype.name.startswith("float8") or dtype.name.startswith("float4"):
        return np.frombuffer(proto.float8_val, dtype.numpy)
    values = getattr(proto, _VALUE_FIELDS.get(dtype.name, _INT_VAL))
    if dtype is dtypes.string:
        return object_array(list(values))
    if dtype is dtypes.resource:
        return object_array([_decode_handle(value) for value in values])
    if dtype in (dtypes.float16, dtypes.bfloat16):
        # The field has the 16 bits of a number as an int32; only the low half counts.
        return (np.fromiter(values, np.int64, len(values)) & 0xFFFF).astype(np.uint16).view(dtype.numpy)
    if dtype.is_complex:
        part = np.float32 if dtype is dtypes.complex64 else np.float64
        return np.fromiter(values, part, len(values) // 2 * 2).view(dtype.numpy)
    # A number beyond the dtype wraps around, as in C++.
    if _VALUE_FIELDS.get(dtype.name, _INT_VAL) == _INT_VAL:
        return np.fromiter(values, np.int32, len(values)).astype(dtype.numpy)
    return np.fromiter(values, dtype.numpy, len(values))


def _fill(values: np.ndarray[Any, Any], dtype: DType, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Return `values` in `shape`; missing values repeat the last value, and no values stand for zeros."""
    count = math.prod(shape)
    # As in TensorFlow's FromProtoField: values beyond the shape are left out.
    if len(values) >= count:
        return values[:count].reshape(shape)
    if len(values) <= 1:
        # A broadcast element takes no memory, however large a shape the file claims.
        only = values if len(values) else np.array([_zero(dtype)], dtype.numpy)
        return np.broadcast_to(only.reshape((1,) * len(shape)), shape)
    # A few bytes of a file must not become gigabytes of memory: a shape may claim any number of elements.
    if count * dtype.size > unpacked_limit(values.nbytes):
        message = f"a constant of {dtype} with shape {list(shape)} has only {len(values)} of its {count} elements"
        raise ResourceExhaustedError(message)
    result = np.full(count, values[-1], dtype.numpy)
    result[: len(values)] = values
    return result.reshape(shape)


def _zero(dtype: DType) -> Any:
    zeros: dict[str, Any] = {"string": b"", "resource": ResourceHandle(), "variant": VariantData()}
    return zeros.get(dtype.name, 0)


def _handle_proto(text: bytes) -> ResourceHandleProto:
    try:
        return ResourceHandleProto.FromString(text)
    except DecodeError:
        raise InvalidArgumentError("an element of tensor_content is not a resource handle") from None


def _decode_handle(proto: ResourceHandleProto) -> ResourceHandle:
    return ResourceHandle(proto.device, proto.container, proto.name, proto.hash_code, proto.maybe_type_name)


def encode_elements(
    proto: TensorProto, dtype: DType, array: np.ndarray[Any, Any], encode_tensor: Callable[[Tensor], TensorProto]
) -> memoryview | None:
    """Put the elements into the message as make_tensor_proto does, or return the bytes of the tensor_content.

    `encode_tensor` encodes the tensors in variants.
    """
    # With TensorFlow's choice of the field a graph that tfg writes is equal to TensorFlow's byte for byte.
    if dtype.name in _CONTENT_DTYPES and array.size > 1:
        return little_endian_bytes(array)
    append_values(proto, dtype, array.ravel(), encode_tensor)
    return None


def little_endian_bytes(array: np.ndarray[Any, Any]) -> memoryview:
    """Return the elements in the byte order of files, not copied if memory has the same order."""
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return little.reshape(-1).view(np.uint8).data


def append_values(
    proto: TensorProto, dtype: DType, flat: np.ndarray[Any, Any], encode_tensor: Callable[[Tensor], TensorProto]
) -> None:
    """Append the elements to the list of their dtype; `encode_tensor` is for the tensors in variants."""
    if dtype.name.startswith("float8") or dtype.name.startswith("float4"):
        proto.float8_val = flat.astype(dtype.numpy).tobytes()
        return
    target = getattr(proto, _VALUE_FIELDS.get(dtype.name, _INT_VAL))
    if dtype in (dtypes.float16, dtypes.bfloat16):
        _extend(target, np.ascontiguousarray(flat).view(np.uint16))
    elif dtype.is_complex:
        part = np.float32 if dtype is dtypes.complex64 else np.float64
        target.extend(np.ascontiguousarray(flat).view(part).tolist())
    elif dtype is dtypes.resource:
        target.extend(map(_encode_handle, flat.tolist()))
    elif dtype is dtypes.variant:
        target.extend(_encode_variant(value, encode_tensor) for value in flat.tolist())
    elif dtype.size == 1 and dtype.name in ("int4", "uint4", "int2", "uint2"):
        target.extend(flat.astype(np.int8).tolist())
    else:
        _extend(target, flat)


def _extend(target: MutableSequence[Any], flat: np.ndarray[Any, Any]) -> None:
    """Append the elements a piece at a time: as objects of Python all would take many times their memory."""
    for start in range(0, len(flat), _PIECE):
        target.extend(flat[start : start + _PIECE].tolist())


def _encode_handle(handle: Any) -> ResourceHandleProto:
    if not isinstance(handle, ResourceHandle):
        raise UnimplementedError(f"a {type(handle).__name__} cannot be written as a constant of dtype resource")
    return ResourceHandleProto(
        device=handle.device, container=handle.container, name=handle.name, hash_code=handle.hash_code,
        maybe_type_name=handle.type_name,
    )  # fmt: skip


def _encode_variant(value: Any, encode_tensor: Callable[[Tensor], TensorProto]) -> VariantTensorDataProto:
    if not isinstance(value, VariantData):
        raise UnimplementedError(f"a {type(value).__name__} cannot be written as a constant of dtype variant")
    tensors = [encode_tensor(tensor) for tensor in value.tensors]
    return VariantTensorDataProto(type_name=value.type_name, metadata=value.metadata, tensors=tensors)
