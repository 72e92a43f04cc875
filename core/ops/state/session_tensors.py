"""Tensors that a session keeps for later runs, named by handles."""

from __future__ import annotations

import itertools
from typing import Any, Final

from ...registry.registry import facts, kernel, not_arithmetic, shape
from ...runtime.state.edge_values import is_of, scalar_object
from ...runtime.state.kernel_context import KernelContext
from ...support.errors import InvalidArgumentError, NotFoundError
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import Shape
from ..shared.plain_shapes import scalar_shape, unknown_shape

_SESSION_CONTAINER: Final = "session tensors"


@kernel("GetSessionHandle")
def get_session_handle(ctx: KernelContext, value: Array) -> Result:
    """Return a name under which the session keeps `value` between runs, for feeds of GetSessionTensor."""
    # TensorFlow's form of a handle, which programs take apart for the device.
    handle: Any = f"{ctx.name};{_next_number(ctx)};/job:localhost/replica:0/task:0/device:CPU:0".encode()
    ctx.resources.get_or_create(_SESSION_CONTAINER, handle, _SessionTensor, lambda: _SessionTensor(value))
    return scalar_object(handle)


class _SessionTensor:
    """A tensor that the session keeps between runs."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _next_number(ctx: KernelContext) -> int:
    # The session counts, not the node: a handle of an earlier run must never name the tensor of a later one.
    counter = ctx.resources.get_or_create(_SESSION_CONTAINER, "counter", itertools.count, itertools.count)
    return next(counter)


@kernel("GetSessionHandleV2")
def get_session_handle_v2(ctx: KernelContext, value: Array) -> Result:
    """Return a resource whose name refers to `value` between runs."""
    session_tensor = _SessionTensor(value)
    handle: Any = f"{ctx.name};{_next_number(ctx)};".encode()
    return scalar_object(ctx.resources.get_or_create(_SESSION_CONTAINER, handle, _SessionTensor, lambda: session_tensor))


shape("GetSessionHandle", "GetSessionHandleV2")(scalar_shape)


@kernel("GetSessionTensor")
def get_session_tensor(ctx: KernelContext, handle: Array, *, dtype: DType) -> Result:
    """The tensor kept under a handle."""
    value = _session_tensor(ctx, handle).value
    if not is_of(value, dtype):
        raise InvalidArgumentError(f"the tensor kept under the handle is {value.dtype}, not {dtype}")
    return value


def _session_tensor(ctx: KernelContext, handle: Array) -> _SessionTensor:
    if handle.ndim:
        raise InvalidArgumentError(f"handle must be a scalar, not of shape {Shape(handle.shape)}")
    try:
        return ctx.resources.get(_SESSION_CONTAINER, handle.item(), _SessionTensor)
    except NotFoundError:
        raise InvalidArgumentError(f"the session keeps no tensor under the handle {handle.item()!r}") from None


shape("GetSessionTensor")(unknown_shape)


@kernel("DeleteSessionTensor")
def delete_session_tensor(ctx: KernelContext, handle: Array) -> None:
    """Forget the tensor kept under a handle."""
    # For its error, which is TensorFlow's: removing alone would say that there is no such resource.
    _session_tensor(ctx, handle)
    ctx.resources.remove(_SESSION_CONTAINER, handle.item())


not_arithmetic("GetSessionHandle", "GetSessionHandleV2", "GetSessionTensor", "DeleteSessionTensor")
facts("side_effect", of=("GetSessionHandle", "GetSessionHandleV2", "DeleteSessionTensor"))
