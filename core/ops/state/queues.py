"""Queues of tuples of tensors: FIFO, padding, shuffling and by priority; and barriers, which make tuples of components by key.

Kernels of any thread fill and empty them. A kernel that must wait raises WouldBlock, and is run again.
"""

from __future__ import annotations

import collections
import functools
import itertools
import secrets
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...datasets.dataset import row_of
from ...numerics.sequences import MinHeap
from ...random.philox import Philox
from ...registry.registry import kernel, shape
from ...runtime.state.edge_values import WouldBlock, is_of
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.resources import Shared
from ...support import dataclasses
from ...support.errors import CancelledError, InvalidArgumentError, OutOfRangeError
from ...types import dtypes
from ...types.arrays import Array, Result, object_array
from ...types.dims import Dim
from ...types.dtypes import DType
from ...types.shapes import SCALAR, UNKNOWN, Shape, TensorSpec, fits
from ..shared.argument_checks import require_rank
from ..shared.resource_access import ReferenceHandle, named, resource
from ..shared.turns import Line, Turn, done, in_turn

Element = tuple[Any, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class QueueSpec:
    """The attributes of a queue: its kind, the dtypes and shapes of the components, and its capacity."""

    kind: str
    dtypes: tuple[DType, ...]
    shapes: tuple[Shape, ...]
    capacity: int
    extra: tuple[Any, ...] = ()

    @staticmethod
    def make(kind: str, types: Sequence[DType], shapes: Sequence[Shape], capacity: int, *extra: Any) -> QueueSpec:
        """Return a spec; InvalidArgumentError unless there are no shapes, or a shape for each type."""
        if shapes and len(shapes) != len(types):
            raise InvalidArgumentError(f"{kind}: {len(shapes)} shapes do not fit {len(types)} component types")
        return QueueSpec(kind, tuple(types), tuple(shapes), capacity, extra)

    @property
    def component_shapes(self) -> tuple[Shape, ...]:
        """The shape of each component, unknown if none was given."""
        return self.shapes or (UNKNOWN,) * len(self.dtypes)


class Queue(Shared):
    """A queue, first in, first out. Subclasses choose the element that leaves.

    Kernels wait in two lines, as in TensorFlow. The first turn of a line is served until it is done or blocked. A close waits
    in the line of enqueues, so that earlier enqueues still get in.
    """

    def __init__(self, name: str, spec: QueueSpec) -> None:
        self.name = name
        self.spec = spec
        self.is_closed = False
        self.adding, self.taking = Line(), Line()

    @property
    def title(self) -> str:
        """The queue in a message."""
        return f"{self.spec.kind} '{self.name}'"

    def __len__(self) -> int:
        raise NotImplementedError

    def put(self, element: Element) -> None:
        """Add an element; there has to be room."""
        raise NotImplementedError

    def take(self) -> Element:
        """Take an element from a queue that is not empty."""
        raise NotImplementedError

    def put_back(self, element: Element) -> None:
        """Undo a `take`, the latest first."""
        self.put(element)

    def available(self) -> int:
        """Return the number of elements that may leave now."""
        return len(self)

    def has_room(self) -> bool:
        """Return True if another element fits."""
        return self.spec.capacity < 0 or len(self) < self.spec.capacity

    def serve(self) -> None:
        """Advance the turns in both lines; notify threads whose turn is done."""
        has_progress = False
        # A list, not a generator: both lines are served in each round. An element that is added may complete a dequeue, which
        # makes room for the next enqueue.
        while any([self.adding.serve(), self.taking.serve()]):
            has_progress = True
        # Only then: a thread that is woken tries all its waiting kernels again.
        if has_progress:
            self.tell()

    def cancel(self) -> None:
        """Close at once and refuse the waiting enqueues."""
        self.is_closed = True
        for turn in self.adding.turns:
            # The turns stay with their kernels, which find the error when they run again.
            turn.fail(CancelledError("Enqueue operation was cancelled"))
        self.adding.turns.clear()
        self.serve()
        self.tell()

    def check_element(self, components: Sequence[Any], is_batch: bool) -> None:
        """Raise InvalidArgumentError if dtypes or shapes are not the queue's."""
        if len(components) != len(self.spec.dtypes):
            raise InvalidArgumentError(
                f"Wrong number of components in tuple. Expected {len(self.spec.dtypes)}, got {len(components)}"
            )
        for i, (value, dtype, declared) in enumerate(zip(components, self.spec.dtypes, self.spec.component_shapes)):
            array = np.asarray(value)
            if not is_of(array, dtype):
                raise InvalidArgumentError(f"Type mismatch in tuple component {i}. Expected {dtype}, got {array.dtype}")
            if is_batch and array.ndim == 0:
                raise InvalidArgumentError(f"All tensors must have rank at least 1; component {i} is a scalar")
            actual = array.shape[1:] if is_batch else array.shape
            if not fits(actual, declared):
                raise InvalidArgumentError(f"Shape mismatch in tuple component {i}. Expected {declared}, got {actual}")

    def batched(self, elements: Sequence[Element]) -> list[np.ndarray[Any, Any]]:
        """Stack elements of equal shapes into an array for each component."""
        return [
            self._stack(column, dtype, shape)
            for column, dtype, shape in zip(
                zip(*elements) if elements else itertools.repeat(()), self.spec.dtypes, self.spec.component_shapes
            )
        ]

    def check_batches(self) -> None:
        """Raise InvalidArgumentError if element shapes are unknown: elements might not stack."""
        if not self.spec.shapes and self.spec.dtypes:
            raise InvalidArgumentError(
                f"{self.spec.kind}'s DequeueMany and DequeueUpTo require the components to have specified shapes."
            )

    def _stack(self, column: Sequence[Any], dtype: DType, shape: Shape) -> np.ndarray[Any, Any]:
        return _stacked(column, dtype, shape)


def _stacked(column: Sequence[Any], dtype: DType, shape: Shape) -> np.ndarray[Any, Any]:
    """Stack arrays of equal shapes."""
    result = np.empty((len(column), *shape.known()), dtype.numpy)
    for i, value in enumerate(column):
        result[i, ...] = value
    return result


class _QueueTurn(Turn):
    """A kernel's turn at a queue."""

    def __init__(self, queue: Queue) -> None:
        super().__init__(queue, queue.serve)
        self.queue = queue


class Adding(_QueueTurn):
    """Add elements in order; CancelledError once the queue is closed."""

    def __init__(self, queue: Queue, elements: Sequence[Element]) -> None:
        super().__init__(queue)
        self._left = collections.deque(elements)
        # Nothing to add and nothing to take are done at once, in front of all that wait.
        self.is_done = not elements

    @property
    def reason(self) -> str:
        return f"{self.queue.title} is full ({len(self.queue)} elements)"

    def advance(self) -> bool:
        if self.queue.is_closed:
            return self.fail(CancelledError(f"{self.queue.title} is closed."))
        before = len(self._left)
        while self._left and self.queue.has_room():
            self.queue.put(self._left.popleft())
        self.is_done = not self._left
        return len(self._left) < before


class Closing(_QueueTurn):
    """Let no more elements come; CancelledError if that was said before."""

    reason = "elements wait to be added before it is closed"

    def advance(self) -> bool:
        if self.queue.is_closed:
            return self.fail(CancelledError(f"Queue '{self.queue.name}' is already closed."))
        self.queue.is_closed = self.is_done = True
        return True


class Taking(_QueueTurn):
    """Take `count` elements as they come; fewer only from a closed queue and where that is allowed, else OutOfRangeError."""

    def __init__(self, queue: Queue, count: int, may_be_fewer: bool = False) -> None:
        super().__init__(queue)
        self.elements: list[Element] = []
        self._count = count
        self._may_be_fewer = may_be_fewer
        self.is_done = not count

    @property
    def reason(self) -> str:
        return f"{self.queue.title} has {self.queue.available()} of {self._missing} elements that are asked for"

    @property
    def _missing(self) -> int:
        return self._count - len(self.elements)

    def advance(self) -> bool:
        if self.queue.is_closed and len(self.queue) < self._missing and not self._settle_for_fewer():
            # Before the elements go back: the message counts what is in the queue beside them.
            size = len(self.queue)
            message = f"is closed and has insufficient elements (requested {self._missing}, current size {size})"
            self._put_back()
            return self.fail(OutOfRangeError(f"{self.queue.title} {message}"))
        before = self._missing
        # Taken although more are asked for: later dequeues wait after this one, as in TensorFlow.
        while self._missing and self.queue.available():
            self.elements.append(self.queue.take())
        self.is_done = not self._missing
        return self._missing < before or self.is_done

    def _settle_for_fewer(self) -> bool:
        # Not even one element is an error for UpTo, too: so a consumer learns that the queue has ended.
        if not self._may_be_fewer or not (self.elements or len(self.queue)):
            return False
        self._count = len(self.elements) + len(self.queue)
        return True

    def _put_back(self) -> None:
        # The latest first, so that the queue has its order again.
        while self.elements:
            self.queue.put_back(self.elements.pop())

    def withdraw(self) -> None:
        with self.queue:
            if not self.is_done:
                self._put_back()
        super().withdraw()


class FifoQueue(Queue):
    """First in, first out."""

    def __init__(self, name: str, spec: QueueSpec) -> None:
        super().__init__(name, spec)
        self._elements: collections.deque[Element] = collections.deque()

    def __len__(self) -> int:
        return len(self._elements)

    def put(self, element: Element) -> None:
        self._elements.append(element)

    def take(self) -> Element:
        return self._elements.popleft()

    def put_back(self, element: Element) -> None:
        self._elements.appendleft(element)


class PaddingQueue(FifoQueue):
    """First in, first out; elements taken together are padded with zeros to the largest."""

    def _stack(self, column: Sequence[Any], dtype: DType, shape: Shape) -> np.ndarray[Any, Any]:
        arrays = [np.asarray(value) for value in column]
        declared = [d if isinstance(d, int) else None for d in shape.dims or ()]
        sizes = [max((a.shape[i] for a in arrays), default=0) if d is None else d for i, d in enumerate(declared)]
        result = np.zeros((len(arrays), *sizes), dtype.numpy)
        if dtype.is_object:
            result[...] = b""
        for i, array in enumerate(arrays):
            place: Any = (i, *map(slice, array.shape), ...)
            result[place] = array
        return result if arrays or sizes else np.zeros(0, dtype.numpy)


class RandomShuffleQueue(Queue):
    """A random element leaves, in TensorFlow's order for given seeds; some stay to keep the choice large."""

    def __init__(self, name: str, spec: QueueSpec) -> None:
        super().__init__(name, spec)
        self._elements: list[Element] = []
        self._minimum, seed, seed2 = spec.extra
        if seed == 0 and seed2 == 0:
            seed, seed2 = secrets.randbits(63), secrets.randbits(63)
        self._random = _words(Philox.from_seeds(seed, seed2))

    def __len__(self) -> int:
        return len(self._elements)

    def available(self) -> int:
        # Nothing comes into a closed queue, so nothing has to stay for a better choice.
        return len(self) if self.is_closed else max(len(self) - self._minimum, 0)

    def put(self, element: Element) -> None:
        self._elements.append(element)

    def take(self) -> Element:
        index = next(self._random) % len(self._elements)
        taken = self._elements[index]
        # As in TensorFlow: the last element fills the gap, which decides what later draws find.
        self._elements[index] = self._elements[-1]
        self._elements.pop()
        return taken


def _words(generator: Philox) -> Iterator[int]:
    """Yield the generator's 32-bit numbers."""
    while True:
        yield from generator.take(1).block()


class PriorityQueue(Queue):
    """A queue that returns the element with the smallest first component."""

    def __init__(self, name: str, spec: QueueSpec) -> None:
        super().__init__(name, spec)
        self._heap = MinHeap()

    def __len__(self) -> int:
        return len(self._heap)

    def put(self, element: Element) -> None:
        self._heap.push(int(element[0]), element)

    def take(self) -> Element:
        taken: Element = self._heap.pop()
        return taken


class QueueAttributes(NamedTuple):
    """The attributes of all queues, and of barriers."""

    component_types: list[DType]
    shapes: list[Shape]
    capacity: int


def _named(ctx: KernelContext, base: type[Any], kind: type[Any], spec: QueueSpec) -> Any:
    """Return a handle of the queue or barrier of that name; InvalidArgumentError if the object has another spec."""
    handle = named(ctx, base, lambda name: kind(name, spec))
    there = resource(handle, base)
    # Nodes of several graphs may name one queue; they must agree about it.
    if there.spec != spec:
        raise InvalidArgumentError(f"Shared {base.__name__.lower()} '{there.name}' has {there.spec}, requested was {spec}")
    return handle


@kernel("FIFOQueue", "FIFOQueueV2", arithmetic=False)
def fifo_queue(ctx: KernelContext, *, attrs: QueueAttributes) -> Any:
    """A queue, first in, first out."""
    spec = QueueSpec.make("FIFOQueue", attrs.component_types, attrs.shapes, attrs.capacity)
    return _named(ctx, Queue, FifoQueue, spec)


@kernel("PaddingFIFOQueue", "PaddingFIFOQueueV2", arithmetic=False)
def padding_fifo_queue(ctx: KernelContext, *, attrs: QueueAttributes) -> Any:
    """A queue of elements that may differ in some dimensions, padded where they are taken together."""
    types, shapes = attrs.component_types, attrs.shapes
    if len(shapes) != len(types):
        raise InvalidArgumentError(f"PaddingFIFOQueue: {len(types)} types but {len(shapes)} shapes")
    # Batches are padded axis by axis to the largest element, so the number of axes has to be the same for all.
    if any(size.rank is None for size in shapes):
        raise InvalidArgumentError("PaddingFIFOQueue: every component needs a known rank")
    # All unknown dimensions get the same symbol, so that equal attributes give equal specs.
    plain = [Shape(d if isinstance(d, int) else _ANY for d in size) for size in shapes]
    return _named(ctx, Queue, PaddingQueue, QueueSpec.make("PaddingFIFOQueue", types, plain, attrs.capacity))


_ANY = Dim.unknown()


@kernel("RandomShuffleQueue", "RandomShuffleQueueV2", arithmetic=False)
def random_shuffle_queue(ctx: KernelContext, *, attrs: QueueAttributes, min_after_dequeue: int, seed: int, seed2: int) -> Any:
    """Return a queue that returns a random element."""
    if min_after_dequeue < 0:
        raise InvalidArgumentError(f"min_after_dequeue {min_after_dequeue} must be >= 0")
    if 0 <= attrs.capacity <= min_after_dequeue:
        raise InvalidArgumentError(f"min_after_dequeue {min_after_dequeue} must be < capacity {attrs.capacity}")
    extra = min_after_dequeue, seed, seed2
    spec = QueueSpec.make("RandomShuffleQueue", attrs.component_types, attrs.shapes, attrs.capacity, *extra)
    return _named(ctx, Queue, RandomShuffleQueue, spec)


@kernel("PriorityQueue", "PriorityQueueV2", arithmetic=False)
def priority_queue(ctx: KernelContext, *, attrs: QueueAttributes) -> Any:
    """Return a queue that returns the element of the smallest priority, its first component."""
    given, shapes = attrs.component_types, attrs.shapes
    if shapes and len(shapes) != len(given):
        raise InvalidArgumentError(f"PriorityQueue: {len(given)} types but {len(shapes)} shapes")
    # The attributes list the components without the priority, which is the first of each element.
    types, sizes = [dtypes.int64, *given], [SCALAR, *shapes]
    spec = QueueSpec.make("PriorityQueue", types, sizes if shapes or not given else (), attrs.capacity)
    return _named(ctx, Queue, PriorityQueue, spec)


def _handle_shape(handle: TensorSpec, *first: TensorSpec) -> Callable[..., TensorSpec]:
    """Return the shape function of a handle whose queue has the components `first` before those of the attributes."""

    def shape(*, component_types: list[DType], shapes: list[Shape]) -> TensorSpec:
        sizes = shapes or [UNKNOWN] * len(component_types)
        return dataclasses.replace(handle, handle=(*first, *map(TensorSpec, component_types, sizes)))

    return shape


_RESOURCE, _REFERENCE = TensorSpec(dtypes.resource, SCALAR), TensorSpec(dtypes.string, Shape((2,)))
_PRIORITY = TensorSpec(dtypes.int64, SCALAR)
shape("FIFOQueueV2", "PaddingFIFOQueueV2", "RandomShuffleQueueV2")(_handle_shape(_RESOURCE))
shape("FIFOQueue", "PaddingFIFOQueue", "RandomShuffleQueue", "Barrier")(_handle_shape(_REFERENCE))
shape("PriorityQueueV2")(_handle_shape(_RESOURCE, _PRIORITY))
shape("PriorityQueue")(_handle_shape(_REFERENCE, _PRIORITY))


@kernel("QueueEnqueue", "QueueEnqueueV2", facts=("side_effect", "blocks", "asynchronous"), arithmetic=False)
def queue_enqueue(ctx: KernelContext, handle: Any, components: list[Array]) -> None:
    """Add an element."""
    queue = resource(handle, Queue)
    # Before the kernel stands in line: a wrong element must not wait first.
    queue.check_element(components, is_batch=False)
    done(ctx, queue.adding, (handle, *components), lambda: Adding(queue, [tuple(components)]))


@kernel("QueueEnqueueMany", "QueueEnqueueManyV2", facts=("side_effect", "blocks", "asynchronous"), arithmetic=False)
def queue_enqueue_many(ctx: KernelContext, handle: Any, components: list[Array]) -> None:
    """Add the slices along the first dimension."""
    queue = resource(handle, Queue)
    queue.check_element(components, is_batch=True)
    sizes = {len(component) for component in components}
    if len(sizes) > 1:
        raise InvalidArgumentError(f"All input tensors must have the same size in the 0th dimension, not {sorted(sizes)}")
    # The rows join the queue in one turn: no element of another producer comes between them.
    rows = [tuple(row_of(component, i) for component in components) for i in range(sizes.pop())]
    done(ctx, queue.adding, (handle, *components), lambda: Adding(queue, rows))


@kernel("QueueClose", "QueueCloseV2", facts=("side_effect", "asynchronous"), arithmetic=False)
def queue_close(ctx: KernelContext, handle: Any, *, cancel_pending_enqueues: bool) -> None:
    """Close the queue: at once, or after the waiting enqueues."""
    queue = resource(handle, Queue)
    if cancel_pending_enqueues:
        queue.cancel()
    else:
        done(ctx, queue.adding, (handle,), lambda: Closing(queue))


@kernel("QueueDequeue", "QueueDequeueV2", facts=("side_effect", "blocks", "asynchronous"), arithmetic=False)
def queue_dequeue(ctx: KernelContext, handle: Any, *, component_types: list[DType]) -> Sequence[Result]:
    """Take an element."""
    queue = resource(handle, Queue)
    _check_types(queue, component_types)
    turn = done(ctx, queue.taking, (handle,), lambda: Taking(queue, 1))
    return list(turn.elements[0])


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
    turn = done(ctx, queue.taking, (handle, n), lambda: Taking(queue, int(n), may_be_fewer))
    return queue.batched(turn.elements)


@kernel("QueueDequeueMany", "QueueDequeueManyV2", facts=("side_effect", "blocks", "asynchronous"), arithmetic=False)
def queue_dequeue_many(ctx: KernelContext, handle: Any, n: Array, *, component_types: list[DType]) -> Sequence[Result]:
    """Take n elements as a batch."""
    return _dequeue_many(ctx, handle, n, component_types, False)


@shape("QueueDequeueMany", "QueueDequeueManyV2")
def queue_dequeue_many_shape(handle: TensorSpec, n: TensorSpec, *, component_types: list[DType]) -> list[Shape]:
    require_rank(n, 0, "n")
    return _element_shapes(handle, component_types, Shape([None if n.value is None else n.value.item()]))


@kernel("QueueDequeueUpTo", "QueueDequeueUpToV2", facts=("side_effect", "blocks", "asynchronous"), arithmetic=False)
def queue_dequeue_up_to(ctx: KernelContext, handle: Any, n: Array, *, component_types: list[DType]) -> Sequence[Result]:
    """Take n elements as a batch, or the remaining elements of a closed queue."""
    return _dequeue_many(ctx, handle, n, component_types, True)


@shape("QueueDequeueUpTo", "QueueDequeueUpToV2")
def queue_dequeue_up_to_shape(handle: TensorSpec, n: TensorSpec, *, component_types: list[DType]) -> list[Shape]:
    return _element_shapes(handle, component_types, Shape([None]))


@kernel("QueueIsClosed", "QueueIsClosedV2", shape="-> ()", facts=("asynchronous",), arithmetic=False)
def queue_is_closed(handle: Any) -> Result:
    """Return True if the queue was closed."""
    return np.bool_(resource(handle, Queue).is_closed)


@kernel("QueueSize", "QueueSizeV2", shape="-> ()", facts=("asynchronous",), arithmetic=False)
def queue_size(handle: Any) -> Result:
    """Return the number of elements in the queue."""
    return np.int32(len(resource(handle, Queue)))


@kernel("FakeQueue", arithmetic=False)
def fake_queue(ctx: KernelContext, resource: Array) -> Any:
    """A reference handle to the queue behind a resource handle."""
    # Ops of V1 take a queue by reference, and never look behind it.
    return ReferenceHandle("", ctx.name, resource.item())


@shape("FakeQueue")
def fake_queue_shape(resource: TensorSpec) -> TensorSpec:
    return TensorSpec(dtypes.string, Shape((2,)), None, resource.handle)


@kernel("Barrier", arithmetic=False)
def barrier(ctx: KernelContext, *, attrs: QueueAttributes) -> Any:
    """A barrier of unlimited capacity."""
    # TensorFlow declares the attribute and then refuses all other values.
    if attrs.capacity != -1:
        message = f"Barrier only accepts capacity=-1, not {attrs.capacity}"
        raise InvalidArgumentError(message, hint="feed it through a queue")
    if len(attrs.shapes) < len(attrs.component_types):
        raise InvalidArgumentError("All of the component shapes must be specified")
    if any(not size.is_known for size in attrs.shapes):
        raise InvalidArgumentError(f"All shapes in barrier must be fully defined, not {list(map(str, attrs.shapes))}")
    spec = QueueSpec.make("Barrier", attrs.component_types, attrs.shapes, attrs.capacity)
    return _named(ctx, Barrier, Barrier, spec)


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
        _stacked([components[i] for _, _, components in elements], dtype, size)
        for i, (dtype, size) in enumerate(zip(target.spec.dtypes, target.spec.component_shapes))
    ]
    return indices, object_array(key for _, key, _ in elements), values


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
