"""TensorArrays in array programs, where a handle is the array itself; the methods of arrays are in engines.xla_lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...support.errors import UnimplementedError
from ...types.arrays import Array
from ...types.dtypes import DType
from ...types.shapes import Shape


def made(
    xla: Any, size: Array, *, dtype: DType, element_shape: Shape, dynamic_size: bool, clear_after_read: bool,
    identical_element_shapes: bool,
) -> tuple[Any, Any]:  # fmt: skip
    if dynamic_size:
        raise UnimplementedError("it grows as it is written")
    shape = element_shape.known() if element_shape.is_known else None
    return xla.new_array(dtype.numpy, int(size), shape, clear_after_read, identical_element_shapes), np.float32(0)


def of_gradients(xla: Any, handle: Any, flow: Any, *, source: str) -> tuple[Any, Any]:
    return xla.gradient_array(handle, source), flow


def written(xla: Any, handle: Any, index: Any, value: Any, flow: Any) -> Any:
    handle.write(xla, index, value)
    return flow


def read(xla: Any, handle: Any, index: Any, flow: Any, *, dtype: DType) -> Any:
    return handle.read(xla, index, dtype.numpy)


def scattered(xla: Any, handle: Any, indices: Any, value: Any, flow: Any) -> Any:
    handle.scatter(xla, indices, value)
    return flow


def gathered(xla: Any, handle: Any, indices: Any, flow: Any, *, dtype: DType) -> Any:
    return handle.gather(xla, indices, dtype.numpy)


def split(xla: Any, handle: Any, value: Any, lengths: Array, flow: Any) -> Any:
    handle.split(xla, value, lengths)
    return flow


def joined(xla: Any, handle: Any, flow: Any, *, dtype: DType) -> tuple[Any, Any]:
    return handle.joined(xla, dtype.numpy)
