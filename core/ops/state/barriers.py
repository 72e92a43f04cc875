"""Barriers: components arrive by key, and complete elements are taken in batches."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...numerics.sequences import MinHeap
from ...registry.registry import kernel, shape
from ...runtime.state.edge_values import WouldBlock
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.resources import Shared
from ...support import dataclasses
from ...support.errors import CancelledError, InvalidArgumentError, OutOfRangeError
from ...types import dtypes
from ...types.arrays import Array, Result, object_array
from ...types.dims import Dim
from ...types.dtypes import DType
from ...types.shapes import UNKNOWN, Shape, TensorSpec
from ..shared.resource_access import named, resource
from ..shared.turns import Line, in_turn
from .queues import QueueSpec


@kernel("Barrier", arithmetic=False)
def barrier(
    ctx: KernelContext, *, component_types: list[DType], shapes: list[Shape], capacity: int, container: str, shared_name: str
) -> Any:
    """A barrier of unlimited capacity."""
    # TensorFlow declares the attribute and then refuses all other values.
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


@kernel("BarrierInsertMany", facts=("side_effect", "asynchronous"), arithmetic=False)
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


@kernel("BarrierTakeMany", facts=("side_effect", "blocks", "asynchronous"), arithmetic=False)
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
    return indices, object_array(key for _, key, _ in elements), values


def _batch(rows: list[Array], dtype: DType, size: Shape) -> Array:
    """Stack rows of equal shapes."""
    result = np.empty((len(rows), *size.known()), dtype.numpy)
    for i, row in enumerate(rows):
        result[i, ...] = row
    return result


@kernel("BarrierClose", facts=("side_effect", "asynchronous"), arithmetic=False)
def barrier_close(handle: Any, *, cancel_pending_enqueues: bool) -> None:
    """Take no new keys."""
    resource(handle, Barrier).close(cancel_pending_enqueues)


@kernel("BarrierReadySize", shape="-> ()", facts=("asynchronous",), arithmetic=False)
def barrier_ready_size(handle: Any) -> Result:
    """Return the number of complete elements."""
    return np.int32(resource(handle, Barrier).ready_size)


@kernel("BarrierIncompleteSize", shape="-> ()", facts=("asynchronous",), arithmetic=False)
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


# Barriers: elements that become ready once all their components have come.

# TensorFlow's indices begin with the lowest int64, and a take returns them.
_FIRST_INDEX = -(1 << 63)
_MISSING: Any = object()


@dataclasses.dataclass
class _Incomplete:
    """An element with missing components; `index` numbers the insertion that first brought its key."""

    index: int
    components: list[Any]


class Barrier(Shared):
    """A barrier: components are inserted by key; complete elements leave in the order of their first insertion."""

    def __init__(self, name: str, spec: QueueSpec) -> None:
        self.name = name
        self.spec = spec
        self.is_closed = False
        self._cancels = False
        self._index = _FIRST_INDEX
        self._incomplete: dict[bytes, _Incomplete] = {}
        self._ready = MinHeap()
        self.line = Line()

    @property
    def incomplete_size(self) -> int:
        return len(self._incomplete)

    @property
    def ready_size(self) -> int:
        return len(self._ready)

    def close(self, cancel_pending: bool) -> None:
        """Take no new keys, with `cancel_pending` no components either; CancelledError if that was said before."""
        if self.is_closed and (self._cancels or not cancel_pending):
            raise CancelledError(f"Barrier '{self.name}' is already closed.")
        self.is_closed = True
        self._cancels = self._cancels or cancel_pending
        if cancel_pending:
            self._incomplete.clear()
        self.line.serve()

    def insert_many(self, keys: Sequence[bytes], values: np.ndarray[Any, Any], component: int) -> None:
        """Insert a component for each key."""
        # A barrier that is closed still takes the components that begun elements lack.
        if self.is_closed and (self._cancels or (keys and not self._incomplete)):
            raise CancelledError(f"Barrier {self.name} is closed.  Pending enqueues cancelled: {self._cancels}.")
        is_new = [self._insert(key, value, component) for key, value in zip(keys, values)]
        # All new keys of an insertion have one index: among them the heap's own order decides.
        if any(is_new):
            self._index += 1
        self.line.serve()

    def _insert(self, key: bytes, value: Any, component: int) -> bool:
        """Add a component; return True if the key is new."""
        element = self._incomplete.get(key)
        is_new = element is None
        if element is None:
            if self.is_closed:
                raise CancelledError(
                    f"Barrier {self.name} is closed, but attempted to insert a brand new key: {key!r}.  "
                    f"Pending inserts are {'' if self._cancels else 'not '}cancelled, so not inserting this key."
                )
            element = self._incomplete[key] = _Incomplete(self._index, [_MISSING] * len(self.spec.dtypes))
        if element.components[component] is not _MISSING:
            raise InvalidArgumentError(f"Key {key!r} already has a value for component {component} in barrier {self.name}")
        element.components[component] = value
        # `in` compares with ==, which arrays answer element by element.
        if _MISSING not in [c if c is _MISSING else None for c in element.components]:
            del self._incomplete[key]
            # Elements leave in the order of their first insertion, not of their completion.
            self._ready.push(element.index, (element.index, key, element.components))
        return is_new

    def take_many(self, count: int, allow_small_batch: bool, wait_for_incomplete: bool) -> list[Any]:
        """Complete elements as (index, key, components); fewer than `count` only from a closed barrier where allowed."""
        available = len(self._ready)
        if available >= count:
            return [self._ready.pop() for _ in range(count)]
        # A closed barrier may still complete elements that have begun, so that a take may have to wait for them.
        waits = bool(self._incomplete) and (wait_for_incomplete or not allow_small_batch or not available)
        if not self.is_closed or (waits and not self._cancels):
            raise WouldBlock(f"barrier '{self.name}' has {available} complete elements of {count} requested")
        if not allow_small_batch or not available:
            raise OutOfRangeError(
                f"Barrier '{self.name}' is closed and has insufficient elements (requested {count}, total size {available})"
            )
        return [self._ready.pop() for _ in range(available)]
