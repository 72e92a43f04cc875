"""Queues: FIFO, padding, shuffling and by priority. A kernel that must wait raises WouldBlock, and is run again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...datasets.dataset import row_of
from ...registry.registry import facts, kernel, not_arithmetic, shape
from ...runtime.state.kernel_context import KernelContext
from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.dims import Dim
from ...types.dtypes import DType
from ...types.shapes import SCALAR, UNKNOWN, Shape, TensorSpec
from ..shared.argument_checks import require_rank
from ..shared.plain_shapes import scalar_shape
from ..shared.resource_access import ReferenceHandle, named, resource
from ._queues import (
    Adding,
    Closing,
    FifoQueue,
    PaddingQueue,
    PriorityQueue,
    Queue,
    QueueSpec,
    RandomShuffleQueue,
    Taking,
    done,
)


def _queue(
    ctx: KernelContext, container: str, shared_name: str, kind: type[Queue], spec: QueueSpec
) -> Array | ReferenceHandle:
    """Return the queue of that name; InvalidArgumentError if the queue has another spec."""
    handle = named(ctx, container, shared_name, Queue, lambda: kind(shared_name or ctx.name, spec))
    queue = resource(handle, Queue)
    # Nodes of several graphs may name one queue; they must agree about it.
    if queue.spec != spec:
        raise InvalidArgumentError(f"Shared queue '{queue.name}' has {queue.spec}, requested was {spec}")
    return handle


@kernel("FIFOQueue", "FIFOQueueV2")
def fifo_queue(
    ctx: KernelContext, *, component_types: list[DType], shapes: list[Shape], capacity: int, container: str, shared_name: str
) -> Any:
    """A queue, first in, first out."""
    return _queue(ctx, container, shared_name, FifoQueue, QueueSpec.make("FIFOQueue", component_types, shapes, capacity))


@kernel("PaddingFIFOQueue", "PaddingFIFOQueueV2")
def padding_fifo_queue(
    ctx: KernelContext, *, component_types: list[DType], shapes: list[Shape], capacity: int, container: str, shared_name: str
) -> Any:
    """A queue of elements that may differ in some dimensions, padded where they are taken together."""
    if len(shapes) != len(component_types):
        raise InvalidArgumentError(f"PaddingFIFOQueue: {len(component_types)} types but {len(shapes)} shapes")
    # Batches are padded axis by axis to the largest element, so the number of axes has to be the same for all.
    if any(size.rank is None for size in shapes):
        raise InvalidArgumentError("PaddingFIFOQueue: every component needs a known rank")
    spec = QueueSpec.make("PaddingFIFOQueue", component_types, [_plain(size) for size in shapes], capacity)
    return _queue(ctx, container, shared_name, PaddingQueue, spec)


def _plain(size: Shape) -> Shape:
    """Return the shape with the same symbol for all unknown dimensions, so that equal attributes give equal specs."""
    return Shape(d if isinstance(d, int) else _ANY for d in size)


_ANY = Dim.unknown()


@kernel("RandomShuffleQueue", "RandomShuffleQueueV2")
def random_shuffle_queue(
    ctx: KernelContext,
    *,
    component_types: list[DType],
    shapes: list[Shape],
    capacity: int,
    min_after_dequeue: int,
    seed: int,
    seed2: int,
    container: str,
    shared_name: str,
) -> Any:
    """Return a queue that returns a random element."""
    if min_after_dequeue < 0:
        raise InvalidArgumentError(f"min_after_dequeue {min_after_dequeue} must be >= 0")
    if 0 <= capacity <= min_after_dequeue:
        raise InvalidArgumentError(f"min_after_dequeue {min_after_dequeue} must be < capacity {capacity}")
    spec = QueueSpec.make("RandomShuffleQueue", component_types, shapes, capacity, min_after_dequeue, seed, seed2)
    return _queue(ctx, container, shared_name, RandomShuffleQueue, spec)


def _specs(types: Any, shapes: Any) -> tuple[TensorSpec, ...]:
    sizes = shapes or [UNKNOWN] * len(types)
    return tuple(TensorSpec(dtype, size) for dtype, size in zip(types, sizes))


@shape("FIFOQueueV2", "PaddingFIFOQueueV2", "RandomShuffleQueueV2")
def queue_shape(*, component_types: list[DType], shapes: list[Shape]) -> TensorSpec:
    return TensorSpec(dtypes.resource, SCALAR, None, _specs(component_types, shapes))


@shape("FIFOQueue", "PaddingFIFOQueue", "RandomShuffleQueue")
def queue_v1_shape(*, component_types: list[DType], shapes: list[Shape]) -> TensorSpec:
    return TensorSpec(dtypes.string, Shape((2,)), None, _specs(component_types, shapes))


@kernel("PriorityQueue", "PriorityQueueV2")
def priority_queue(
    ctx: KernelContext, *, component_types: list[DType], shapes: list[Shape], capacity: int, container: str, shared_name: str
) -> Any:
    """Return a queue that returns the element of the smallest priority, its first component."""
    if shapes and len(shapes) != len(component_types):
        raise InvalidArgumentError(f"PriorityQueue: {len(component_types)} types but {len(shapes)} shapes")
    # The attributes list the components without the priority, which is the first of each element.
    types, sizes = [dtypes.int64, *component_types], [SCALAR, *shapes]
    spec = QueueSpec.make("PriorityQueue", types, sizes if shapes or not component_types else (), capacity)
    return _queue(ctx, container, shared_name, PriorityQueue, spec)


@shape("PriorityQueueV2")
def priority_queue_shape(*, component_types: list[DType], shapes: list[Shape]) -> TensorSpec:
    return TensorSpec(dtypes.resource, SCALAR, None, _with_priority(component_types, shapes))


def _with_priority(types: Any, shapes: Any) -> tuple[TensorSpec, ...]:
    return (TensorSpec(dtypes.int64, SCALAR), *_specs(types, shapes))


@shape("PriorityQueue")
def priority_queue_v1_shape(*, component_types: list[DType], shapes: list[Shape]) -> TensorSpec:
    return TensorSpec(dtypes.string, Shape((2,)), None, _with_priority(component_types, shapes))


@kernel("QueueEnqueue", "QueueEnqueueV2")
def queue_enqueue(ctx: KernelContext, handle: Any, components: list[Array]) -> None:
    """Add an element."""
    queue = resource(handle, Queue)
    # Before the attempt stands in line: a wrong element must not wait first.
    queue.check_element(components, is_batch=False)
    done(ctx, queue.adding, (handle, *components), lambda: Adding(queue, [tuple(components)]))


@kernel("QueueEnqueueMany", "QueueEnqueueManyV2")
def queue_enqueue_many(ctx: KernelContext, handle: Any, components: list[Array]) -> None:
    """Add the slices along the first dimension."""
    queue = resource(handle, Queue)
    queue.check_element(components, is_batch=True)
    sizes = {len(component) for component in components}
    if len(sizes) > 1:
        raise InvalidArgumentError(f"All input tensors must have the same size in the 0th dimension, not {sorted(sizes)}")
    # The rows join the queue as one attempt: no element of another producer comes between them.
    rows = [tuple(row_of(component, i) for component in components) for i in range(sizes.pop())]
    done(ctx, queue.adding, (handle, *components), lambda: Adding(queue, rows))


@kernel("QueueClose", "QueueCloseV2")
def queue_close(ctx: KernelContext, handle: Any, *, cancel_pending_enqueues: bool) -> None:
    """Close the queue: at once, or after the waiting enqueues."""
    queue = resource(handle, Queue)
    if cancel_pending_enqueues:
        queue.cancel()
    else:
        done(ctx, queue.adding, (handle,), lambda: Closing(queue))


_USE = ("QueueEnqueue", "QueueEnqueueMany", "QueueDequeue", "QueueDequeueMany", "QueueDequeueUpTo", "QueueClose")

facts("side_effect", of=[name + version for name in _USE for version in ("", "V2")])

facts("blocks", of=[name + version for name in _USE[:-1] for version in ("", "V2")])


@kernel("QueueDequeue", "QueueDequeueV2")
def queue_dequeue(ctx: KernelContext, handle: Any, *, component_types: list[DType]) -> Sequence[Result]:
    """Take an element."""
    queue = resource(handle, Queue)
    _check_types(queue, component_types)
    attempt = done(ctx, queue.taking, (handle,), lambda: Taking(queue, 1))
    return list(attempt.elements[0])


def _check_types(queue: Queue, component_types: list[DType]) -> None:
    if tuple(component_types) != queue.spec.dtypes:
        raise InvalidArgumentError(
            f"Signature mismatch: queue '{queue.name}' holds {list(map(str, queue.spec.dtypes))}, "
            f"not {list(map(str, component_types))}"
        )


@shape("QueueDequeue", "QueueDequeueV2")
def queue_dequeue_shape(handle: TensorSpec, *, component_types: list[DType]) -> list[Shape]:
    return _element_shapes(handle, component_types)


def _element_shapes(handle: Any, component_types: Any, first: Any = SCALAR) -> Any:
    """Return the shapes of a queue's components behind the dimensions `first`; unknown if another op made the handle."""
    if len(handle.handle) != len(component_types):
        return [UNKNOWN] * len(component_types)
    return [first + spec.shape for spec in handle.handle]


_ASK = ("QueueIsClosed", "QueueSize")

facts("asynchronous", of=[name + version for name in (*_USE, *_ASK) for version in ("", "V2")])


def _dequeue_many(
    ctx: KernelContext, handle: Array | ReferenceHandle, n: Array, component_types: list[DType], may_be_fewer: bool
) -> list[Array]:
    queue = resource(handle, Queue)
    if np.ndim(n):
        raise InvalidArgumentError(f"n must be a scalar, not of shape {np.shape(n)}")
    if n < 0:
        raise InvalidArgumentError(f"DequeueManyOp requested {n} < 0 elements")
    _check_types(queue, component_types)
    # A queue without shapes may hold elements that make no batch: refused at once, and not when they come.
    queue.check_batches()
    attempt = done(ctx, queue.taking, (handle, n), lambda: Taking(queue, int(n), may_be_fewer))
    return queue.batched(attempt.elements)


@kernel("QueueDequeueMany", "QueueDequeueManyV2")
def queue_dequeue_many(ctx: KernelContext, handle: Any, n: Array, *, component_types: list[DType]) -> Sequence[Result]:
    """Take n elements as a batch."""
    return _dequeue_many(ctx, handle, n, component_types, False)


@shape("QueueDequeueMany", "QueueDequeueManyV2")
def queue_dequeue_many_shape(handle: TensorSpec, n: TensorSpec, *, component_types: list[DType]) -> list[Shape]:
    require_rank(n, 0, "n")
    return _element_shapes(handle, component_types, Shape([None if n.value is None else n.value.item()]))


@kernel("QueueDequeueUpTo", "QueueDequeueUpToV2")
def queue_dequeue_up_to(ctx: KernelContext, handle: Any, n: Array, *, component_types: list[DType]) -> Sequence[Result]:
    """Take n elements as a batch, or the remaining elements of a closed queue."""
    return _dequeue_many(ctx, handle, n, component_types, True)


@shape("QueueDequeueUpTo", "QueueDequeueUpToV2")
def queue_dequeue_up_to_shape(handle: TensorSpec, n: TensorSpec, *, component_types: list[DType]) -> list[Shape]:
    return _element_shapes(handle, component_types, Shape([None]))


@kernel("QueueIsClosed", "QueueIsClosedV2")
def queue_is_closed(handle: Any) -> Result:
    """Return True if the queue was closed."""
    return np.bool_(resource(handle, Queue).is_closed)


@kernel("QueueSize", "QueueSizeV2")
def queue_size(handle: Any) -> Result:
    """Return the number of elements in the queue."""
    return np.int32(len(resource(handle, Queue)))


shape("QueueIsClosed", "QueueIsClosedV2", "QueueSize", "QueueSizeV2")(scalar_shape)


@kernel("FakeQueue")
def fake_queue(ctx: KernelContext, resource: Array) -> Any:
    """A reference handle to the queue behind a resource handle."""
    # Ops of V1 take a queue by reference, and never look behind it.
    return ReferenceHandle("", ctx.name, resource.item())


@shape("FakeQueue")
def fake_queue_shape(resource: TensorSpec) -> TensorSpec:
    return TensorSpec(dtypes.string, Shape((2,)), None, resource.handle)


_CREATE = ("FIFOQueue", "PaddingFIFOQueue", "RandomShuffleQueue", "PriorityQueue")

_ALL = [name + version for name in (*_CREATE, *_USE, *_ASK) for version in ("", "V2")]

not_arithmetic(*_ALL, "FakeQueue")
