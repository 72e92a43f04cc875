"""Conditional accumulators: gradients are summed until enough have arrived; stale gradients are dropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...registry.registry import Cost, facts, flops, kernel, not_differentiable, shape, zero_flops
from ...runtime.state.edge_values import WouldBlock
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.resources import Shared
from ...support import dataclasses
from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import SCALAR, Shape, TensorSpec, fits
from ..shared.argument_checks import scalar
from ..shared.elementwise_tables import RESULT, counted
from ..shared.resource_access import named, resource
from ..shared.turns import Line, in_turn


@dataclasses.dataclass
class _Accumulator(Shared):
    """The base of both kinds: the number of gradients, and the step before which a gradient is stale."""

    name: str
    dtype: DType
    shape: Shape
    is_mean: bool
    count: int = 0
    global_step: int = 0
    line: Line = dataclasses.field(default_factory=Line)

    def check(self, dtype: DType) -> None:
        if dtype is not self.dtype:
            raise InvalidArgumentError(f"accumulator '{self.name}' is {self.dtype}, the gradient is {dtype}")

    def require(self, needed: int) -> None:
        """WouldBlock if too few gradients have come."""
        if needed <= 0:
            raise InvalidArgumentError(f"Argument num_required must be positive, not {needed}")
        # More than are asked for are as good: what came in excess is part of the sum, and is counted in the mean.
        if self.count < needed:
            raise WouldBlock(f"accumulator '{self.name}' has {self.count} of {needed} requested gradients")

    def taken(self) -> None:
        """Start anew at the next step."""
        self.count = 0
        self.global_step += 1


@dataclasses.dataclass
class DenseAccumulator(_Accumulator):
    """Sums dense gradients."""

    total: Any = None

    def apply(self, local_step: int, gradient: np.ndarray[Any, Any]) -> None:
        """Add a gradient unless stale; InvalidArgumentError for a wrong shape."""
        if local_step < self.global_step:
            return
        if not fits(gradient.shape, self.shape):
            raise InvalidArgumentError(f"Shape mismatch: expected {self.shape}, got {gradient.shape}")
        if self.count and gradient.shape != self.total.shape:
            raise InvalidArgumentError(f"Shape mismatch: expected {self.total.shape}, got {gradient.shape}")
        # A new sum, not in place: the first gradient belongs to the caller.
        self.total = gradient if not self.count else self.total + gradient
        self.count += 1
        self.line.serve()

    def take(self, needed: int) -> Any:
        """Return the mean or sum."""
        self.require(needed)
        # The count in the gradients' dtype, as TensorFlow divides: in half precision a count above 2,048 is rounded.
        result = self.total / np.asarray(self.count, self.dtype.numpy) if self.is_mean else self.total
        self.total = None
        self.taken()
        return np.asarray(result).astype(self.dtype.numpy)


@dataclasses.dataclass
class SparseAccumulator(_Accumulator):
    """An accumulator that sums rows by index; a row's mean is over the gradients that have the row.

    As in TensorFlow, two gradients are merged like sorted lists: the indices are assumed to be in order, and an index that
    occurs twice in a gradient stays two rows.
    """

    entries: list[tuple[int, Any, int]] = dataclasses.field(default_factory=list)
    row_shape: tuple[int, ...] = ()

    def apply(self, local_step: int, indices: Any, values: Any, dense_shape: list[int], has_shape: bool) -> None:
        """Add a gradient unless stale."""
        if local_step < self.global_step:
            return
        if indices.ndim != 1 or values.ndim < 1:
            raise InvalidArgumentError(f"Input indices should be a vector but received shape: {indices.shape}")
        if len(indices) != len(values):
            raise InvalidArgumentError(f"{len(indices)} indices do not fit {len(values)} values")
        self._check_shapes(indices, values, dense_shape if has_shape else None)
        # Rows one by one: those of new indices come in between, and each counts its gradients.
        self.entries = _merged(self.entries, [(i, row, 1) for i, row in zip(indices.tolist(), values)])
        self.row_shape = values.shape[1:]
        self.count += 1
        self.line.serve()

    def _check_shapes(self, indices: Any, values: Any, dense_shape: list[int] | None) -> None:
        """Check shapes. A gradient's stated shape may have more dimensions than the declared shape, and need not fit its
        own rows.
        """
        declared = self.shape.dims or ()
        if dense_shape is not None:
            _check_leading(declared, dense_shape)
        if declared and isinstance(declared[0], int) and (indices >= declared[0]).any():
            raise InvalidArgumentError(f"Shape mismatch: an index of {indices.tolist()} is beyond {self.shape}")
        if not self.count:
            _check_leading(declared, [*declared[:1], *values.shape[1:]])
        elif self.row_shape != values.shape[1:]:
            raise InvalidArgumentError(f"Shape mismatch: expected rows of {self.row_shape}, got {values.shape[1:]}")

    def take(self, needed: int) -> tuple[Any, Any, Any]:
        """Indices, the mean or sum of their rows, and the shape."""
        self.require(needed)
        values = np.empty((len(self.entries), *self.row_shape), self.dtype.numpy)
        for i, (_, total, count) in enumerate(self.entries):
            values[i] = total / np.asarray(count, self.dtype.numpy) if self.is_mean else total
        indices = np.array([index for index, _, _ in self.entries], np.int64)
        length = self.shape[0] if self.shape.rank else None
        # A gradient with slices says -1 for an unknown number of rows, as in TensorFlow.
        size = [length if isinstance(length, int) else -1, *self.row_shape]
        self.entries = []
        self.taken()
        return indices, values, np.array(size, np.int64)


def _merged(ours: list[tuple[int, Any, int]], theirs: list[tuple[int, Any, int]]) -> list[tuple[int, Any, int]]:
    """Merge both lists of (index, sum of rows, count) in order; equal indices that meet become a single entry."""
    result = []
    i = j = 0
    while i < len(ours) and j < len(theirs):
        (a, total, count), (b, row, more) = ours[i], theirs[j]
        result.append((a, total + row, count + more) if a == b else ours[i] if a < b else theirs[j])
        i, j = i + (a <= b), j + (b <= a)
    return result + ours[i:] + theirs[j:]


def _check_leading(declared: Sequence[Any], actual: Sequence[Any]) -> None:
    """Raise InvalidArgumentError unless `actual` begins with the declared dimensions."""
    if len(actual) < len(declared) or any(isinstance(d, int) and d != n for d, n in zip(declared, actual)):
        raise InvalidArgumentError(f"Shape mismatch: expected {list(declared)}, got {list(actual)}")


# A shared accumulator keeps its first attributes, whatever a later node states.
@kernel("ConditionalAccumulator", "ResourceConditionalAccumulator")
def conditional_accumulator(ctx: KernelContext, *, dtype: DType, shape: Shape, reduction_type: str) -> Any:
    """An accumulator of dense gradients."""
    return named(ctx, DenseAccumulator, lambda name: DenseAccumulator(name, dtype, shape, reduction_type == "MEAN"))


@kernel("SparseConditionalAccumulator")
def sparse_conditional_accumulator(ctx: KernelContext, *, dtype: DType, shape: Shape, reduction_type: str) -> Any:
    """An accumulator of sparse gradients."""
    return named(ctx, SparseAccumulator, lambda name: SparseAccumulator(name, dtype, shape, reduction_type == "MEAN"))


@kernel("AccumulatorApplyGradient", "ResourceAccumulatorApplyGradient", flops=counted(1, 2, "An addition for each element."))
def accumulator_apply_gradient(handle: Any, local_step: Array, gradient: Array, *, dtype: DType) -> None:
    """Add a gradient that was computed at `local_step`."""
    accumulator = resource(handle, DenseAccumulator)
    accumulator.check(dtype)
    accumulator.apply(scalar(local_step, "local_step"), np.asarray(gradient))


@kernel("SparseAccumulatorApplyGradient", flops=counted(1, 3, "An addition for each element."))
def sparse_accumulator_apply_gradient(
    handle: Any,
    local_step: Array,
    gradient_indices: Array,
    gradient_values: Array,
    gradient_shape: Array,
    *,
    dtype: DType,
    has_known_shape: bool,
) -> None:
    """Add a sparse gradient that was computed at `local_step`."""
    accumulator = resource(handle, SparseAccumulator)
    accumulator.check(dtype)
    size = np.ravel(gradient_shape).tolist()
    step = scalar(local_step, "local_step")
    accumulator.apply(step, np.asarray(gradient_indices), np.asarray(gradient_values), size, has_known_shape)


@kernel("AccumulatorTakeGradient", "ResourceAccumulatorTakeGradient", "SparseAccumulatorTakeGradient")
def accumulator_take_gradient(ctx: KernelContext, handle: Any, num_required: Array, *, dtype: DType) -> Any:
    """The mean or sum of the gradients, once enough have come; of a sparse one its indices, values and shape."""
    accumulator = resource(handle, SparseAccumulator if ctx.node.op.startswith("Sparse") else DenseAccumulator)
    accumulator.check(dtype)
    needed = scalar(num_required, "num_required")
    return in_turn(ctx, accumulator, accumulator.line, (handle, num_required), lambda: accumulator.take(needed))


@kernel("AccumulatorNumAccumulated", "ResourceAccumulatorNumAccumulated", shape="-> ()")
def accumulator_num_accumulated(handle: Any) -> Result:
    """Return the number of gradients since the last take."""
    return np.int32(resource(handle, _Accumulator).count)


@kernel("AccumulatorSetGlobalStep", "ResourceAccumulatorSetGlobalStep")
def accumulator_set_global_step(handle: Any, new_global_step: Array) -> None:
    """Gradients of earlier steps are stale from now on."""
    # A step before the present one is taken, too: TensorFlow only logs a warning.
    resource(handle, _Accumulator).global_step = scalar(new_global_step, "new_global_step")


def _spec(dtype: DType, shape: Shape) -> tuple[TensorSpec, ...]:
    return (TensorSpec(dtype, shape),)


facts("stated_pair", of=("ResourceConditionalAccumulator",))


@shape("ResourceConditionalAccumulator")
def resource_accumulator_shape(*, dtype: DType, shape: Shape) -> TensorSpec:
    return TensorSpec(dtypes.resource, SCALAR, None, _spec(dtype, shape))


@shape("ConditionalAccumulator", "SparseConditionalAccumulator")
def accumulator_shape(*, dtype: DType, shape: Shape) -> TensorSpec:
    return TensorSpec(dtypes.string, Shape((2,)), None, _spec(dtype, shape))


@shape("AccumulatorTakeGradient", "ResourceAccumulatorTakeGradient")
def accumulator_take_gradient_shape(handle: TensorSpec, num_required: TensorSpec) -> Shape:
    return handle.handle[0].shape if handle.handle else Shape()


@shape("SparseAccumulatorTakeGradient")
def sparse_accumulator_take_gradient_shape(handle: TensorSpec, num_required: TensorSpec) -> tuple[Shape, ...]:
    """A declared shape without dimensions holds for gradients of any rank."""
    size = handle.handle[0].shape if handle.handle else Shape()
    rows = Shape([None])
    return rows, (rows + size[1:] if size.rank else Shape()), Shape([size.rank or None])


# A quotient for each element, also for a sum: which it is stands at the node that makes the accumulator.
flops("AccumulatorTakeGradient", "ResourceAccumulatorTakeGradient")(counted(1, RESULT, "A quotient for each element."))


@flops("SparseAccumulatorTakeGradient")
def sparse_accumulator_take_gradient_flops(handle: TensorSpec, num_required: TensorSpec, *, outputs: list[TensorSpec]) -> Cost:
    return Cost(outputs[1].shape.num_elements)


_CREATE = ("ConditionalAccumulator", "ResourceConditionalAccumulator", "SparseConditionalAccumulator")
_ASK = ("AccumulatorNumAccumulated", "ResourceAccumulatorNumAccumulated")
_SET = ("AccumulatorSetGlobalStep", "ResourceAccumulatorSetGlobalStep")
_USE = (
    "AccumulatorApplyGradient", "ResourceAccumulatorApplyGradient", "SparseAccumulatorApplyGradient",
    "AccumulatorTakeGradient", "ResourceAccumulatorTakeGradient", "SparseAccumulatorTakeGradient",
)  # fmt: skip
facts("side_effect", of=(*_USE, *_SET))
facts("blocks", "asynchronous", of=_USE[3:])
not_differentiable(*_CREATE, *_ASK, *_SET, *_USE)
zero_flops(*_CREATE, *_ASK, *_SET)
