"""Constants, placeholders and function arguments."""

from __future__ import annotations

from ...registry.registry import facts, kernel, not_differentiable, shape, zero_flops
from ...runtime.state.kernel_context import KernelContext
from ...support.errors import InvalidArgumentError
from ...types.arrays import Result
from ...types.dtypes import DType
from ...types.example_values import example_value, feeding
from ...types.shapes import Shape, TensorSpec
from ...types.tensors import Tensor


@kernel("Const")
def const(*, value: Tensor) -> Result:
    """The tensor held in the attribute."""
    return value.aligned()


@shape("Const")
def const_shape(*, value: Tensor) -> TensorSpec:
    array = value.numpy() if value.size <= 4096 and value.lack is None else None
    return TensorSpec(value.dtype, Shape(value.shape), array)


@kernel("Placeholder", "PlaceholderV2")
def placeholder(ctx: KernelContext, *, dtype: DType, shape: Shape) -> Result:
    hint = feeding(ctx.name, example_value(dtype.name, shape))
    raise InvalidArgumentError(f"You must feed a value for this placeholder, of shape {shape}", hint=hint)


@shape("Placeholder", "PlaceholderV2")
def placeholder_shape(*, shape: Shape) -> Shape:
    return shape


not_differentiable("Const", "Placeholder", "PlaceholderV2")
zero_flops("Const", "Placeholder", "PlaceholderV2")
facts("inexpensive", of=("Const",))
