"""Barriers: components arrive by key, and complete elements are taken in batches."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...registry.registry import facts, kernel, not_differentiable, shape, zero_flops
from ...runtime.state.kernel_context import KernelContext
from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.dims import Dim
from ...types.dtypes import DType
from ...types.shapes import UNKNOWN, Shape, TensorSpec
from ..shared.plain_shapes import no_outputs_shape, scalar_shape
from ..shared.resource_access import named, resource
from ..shared.string_functions import as_objects
from ..shared.turns import in_turn
from ._barriers import Barrier
from ._queues import QueueSpec


@kernel("Barrier")
def barrier(
    ctx: KernelContext, *, component_types: list[DType], shapes: list[Shape], capacity: int, container: str, shared_name: str
) -> Any:
    """A barrier of unlimited capacity."""
    if capacity != -1:
        raise InvalidArgumentError(f"Barrier only accepts capacity=-1, not {capacity}", hint="feed it through a queue")
    if len(shapes) < len(component_types):
        raise InvalidArgumentError("All of the component shapes must be specified")
    if any(not size.is_known for size in shapes):
        raise InvalidArgumentError(f"All shapes in barrier must be fully defined, not {list(map(str, shapes))}")
    spec = QueueSpec.make("Barrier", component_types, shapes, capacity)
    handle = named(ctx, container, shared_name, Barrier, lambda: Barrier(shared_name or ctx.name, spec))
    target = resource(handle, Barrier)
    if target.spec != spec:
        raise InvalidArgumentError(f"Shared barrier '{target.name}' has {target.spec}, requested was {spec}")
    return handle


@kernel("BarrierInsertMany")
def barrier_insert_many(handle: Any, keys: Array, values: Array, *, component_index: int, T: DType) -> None:
    """Insert a component for many keys."""
    target = resource(handle, Barrier)
    values = np.asarray(values)
    width = len(target.spec.dtypes)
    if not 0 <= component_index < width:
        raise InvalidArgumentError(f"The component ID is out of range {component_index} > num_components ({width})")
    if target.spec.dtypes[component_index] is not T.base:
        raise InvalidArgumentError(f"component {component_index} is {target.spec.dtypes[component_index]}, not {T}")
    if keys.ndim != 1 or values.ndim == 0 or len(values) != len(keys):
        raise InvalidArgumentError(f"keys of shape {keys.shape} and values of shape {values.shape} do not fit")
    expected = target.spec.component_shapes[component_index]
    if expected.dims is not None and expected.known() != values.shape[1:]:
        raise InvalidArgumentError(f"component {component_index} has shape {expected}, not {values.shape[1:]}")
    target.insert_many(keys.tolist(), values, component_index)


@kernel("BarrierTakeMany")
def barrier_take_many(
    ctx: KernelContext,
    handle: Any,
    num_elements: Array,
    *,
    component_types: list[DType],
    allow_small_batch: bool,
    wait_for_incomplete: bool,
) -> Any:
    """Take complete elements: their indices, their keys, and a batch for each component."""
    target = resource(handle, Barrier)
    if np.ndim(num_elements) or num_elements < 0:
        raise InvalidArgumentError(f"num_elements must be a scalar and not negative, not {num_elements}")
    if tuple(component_types) != target.spec.dtypes:
        raise InvalidArgumentError(f"barrier '{target.name}' holds {list(map(str, target.spec.dtypes))}")
    take = functools.partial(target.take_many, int(num_elements), allow_small_batch, wait_for_incomplete)
    elements = in_turn(ctx, target, target.line, (handle, num_elements), take)
    indices = np.array([index for index, _, _ in elements], np.int64)
    values = [
        _batch([components[i] for _, _, components in elements], dtype, size)
        for i, (dtype, size) in enumerate(zip(target.spec.dtypes, target.spec.component_shapes))
    ]
    return indices, as_objects((key for _, key, _ in elements), (len(elements),)), values


def _batch(rows: list[Array], dtype: DType, size: Shape) -> Array:
    """Stack rows of equal shapes."""
    result = np.empty((len(rows), *size.known()), dtype.numpy)
    for i, row in enumerate(rows):
        result[i, ...] = row
    return result


@kernel("BarrierClose")
def barrier_close(handle: Any, *, cancel_pending_enqueues: bool) -> None:
    """Take no new keys."""
    resource(handle, Barrier).close(cancel_pending_enqueues)


@kernel("BarrierReadySize")
def barrier_ready_size(handle: Any) -> Result:
    """Return the number of complete elements."""
    return np.int32(resource(handle, Barrier).ready_size)


@kernel("BarrierIncompleteSize")
def barrier_incomplete_size(handle: Any) -> Result:
    """Return the number of elements that lack a component."""
    return np.int32(resource(handle, Barrier).incomplete_size)


@shape("Barrier")
def barrier_shape(*, component_types: list[DType], shapes: list[Shape]) -> TensorSpec:
    sizes = shapes or [UNKNOWN] * len(component_types)
    return TensorSpec(dtypes.string, Shape((2,)), None, tuple(TensorSpec(d, s) for d, s in zip(component_types, sizes)))


@shape("BarrierTakeMany")
def barrier_take_many_shape(
    handle: TensorSpec, num_elements: TensorSpec, *, component_types: list[DType]
) -> tuple[Shape, Shape, list[Shape]]:
    count = Shape((Dim.unknown(),))
    return count, count, [count + spec.shape for spec in handle.handle] or [UNKNOWN] * len(component_types)


shape("BarrierReadySize", "BarrierIncompleteSize")(scalar_shape)
shape("BarrierInsertMany", "BarrierClose")(no_outputs_shape)


_ALL = ("Barrier", "BarrierInsertMany", "BarrierTakeMany", "BarrierClose", "BarrierReadySize", "BarrierIncompleteSize")
facts("side_effect", of=("BarrierInsertMany", "BarrierTakeMany", "BarrierClose"))
facts("blocks", of=("BarrierTakeMany",))
facts("asynchronous", of=_ALL[1:])
not_differentiable(*_ALL)
zero_flops(*_ALL)
