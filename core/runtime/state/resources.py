"""Resources of a session, found by container and name: variables and all other kinds."""

from __future__ import annotations

import itertools
import sys
import threading
import time
import types
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final, Self, TypeVar

import numpy as np

from ...graph.graph import Node
from ...numerics.blas_threads import OWN_THREADS
from ...support.errors import DeadlineExceededError, FailedPreconditionError, InvalidArgumentError, NotFoundError, TfgError
from ...support.hints import Blank, Hint, step
from ...types.arrays import EngineArray
from ...types.dtypes import DType, float32
from ...types.shapes import UNKNOWN, Shape
from ...types.tensors import Tensor

_Resource = TypeVar("_Resource")
ANONYMOUS_NAME: Final = "cd2c89b7-88b7-44c8-ad83-06c2a9158347"
"""The shared name by which TensorFlow asks for a new variable in every run."""
_RESHAPES: Final = itertools.count(1)


def no_value_hint(variable: str) -> Hint:
    """Return the ways to give a variable a first value."""
    restore = step("state", path=Blank("FILE"))
    return Hint(step("initialize"), " or ", step("assign", variable=variable), " initializes it, ", restore, " restores it")


class Shared:
    """An object that kernels of several threads may work on; a kernel locks the object by `with`.

    `is_changing` is true while the kernel that holds the lock writes in place.
    """

    __slots__ = ("is_changing", "lock")

    lock: threading.RLock
    is_changing: bool

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        self = super().__new__(cls)
        # The lock is re-entrant, because a kernel that holds it may load the variable's value, which locks, too. It is made in
        # `__new__`, so that no subclass has to call an initializer.
        self.lock = threading.RLock()
        self.is_changing = False
        return self

    def __enter__(self) -> Self:
        self.lock.acquire()
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        self.release()
        if error is None:
            self.tell()

    def release(self) -> None:
        """Release the lock."""
        self.is_changing = False
        self.lock.release()

    def tell(self) -> None:
        """Wake waiting threads after a change; a kernel that would block has changed nothing, or calls this method itself."""
        if waiting:
            changed()

    @property
    def shared(self) -> Shared:
        """The object to lock; a reference may stand for another object."""
        return self


def exclusively(shared: Sequence[Shared], call: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    """Return `call(*inputs)` with all of `shared` locked, in the order of the sequence, which must be the same for all
    threads.
    """
    taken = 0
    try:
        for one in shared:
            one.lock.acquire()
            taken += 1
        result = call(*inputs)
    finally:
        for one in shared[:taken]:
            one.release()
    if waiting:
        changed()
    return result


class Readable:
    """A stand-in for a value that may still change; `read` returns the current value."""

    __slots__ = ()

    def read(self) -> Any:
        """Return the current value."""
        raise NotImplementedError


# A SavedModel of 1 GB took 1,072 MB for a fetch that needs 20 kB of it, and takes 48 MB with values that stay in the file.
class Stored(Readable):
    """A value that still lies in a file. Restoring gives variables this form, since variables only keep values."""

    __slots__ = ("dtype", "shape", "size", "tensor")

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        self.dtype: np.dtype[Any] = tensor.dtype.numpy
        self.shape = tensor.shape
        self.size = tensor.size

    def read(self) -> Any:
        """Read the elements from the file and return them."""
        return self.tensor.read()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.asarray(self.read(), dtype)


class Memory(Readable):
    """A variable's elements, as long as they stay where they are: a value of another size is put elsewhere."""

    __slots__ = ("_value", "_variable")

    def __init__(self, variable: Variable) -> None:
        self._variable: Variable | None = variable
        self._value: Any = None

    def read(self) -> Any:
        return self._value if self._variable is None else self._variable.read()

    def leave(self, value: Any) -> None:
        """Keep `value`, the last value that the variable had in this memory."""
        self._variable, self._value = None, value


class Variable(Shared, Readable):
    """A variable's memory, behind a V1 reference or a resource handle alike.

    A value that was read is never written to while anybody holds the value: `writable` copies an array with other
    references. `version` counts the writes, and so tells whether results that depend on the variable are still valid.
    Between runs an engine may hold the value (`kept` is then an EngineArray); readers and writers get NumPy's. `reshapes`
    changes each time that any variable gets or loses a shape.

    A restored value may still lie in its file (`_value` is then a Stored); a reader of the elements loads them.
    """

    reshapes: ClassVar[int] = 0

    __slots__ = ("_memory", "_value", "dtype", "name", "shape", "version")

    def __init__(self, name: str, dtype: DType, shape: Shape = UNKNOWN) -> None:
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.version = 0
        self._value: Any = None
        self._memory: Memory | None = None

    @property
    def is_initialized(self) -> bool:
        return self._value is not None

    def read(self) -> Any:
        """Return the value, which later writes do not change; FailedPreconditionError before the first write."""
        value = self._value
        if self.is_changing:
            # A writer in another thread may have counted the references before this thread took one: wait for its end.
            del value
            with self.lock:
                value = self._value
        if type(value) is Stored:
            value = self._loaded()
        if value is None:
            raise FailedPreconditionError(
                f"Attempting to use uninitialized value {self.name}",
                hint=no_value_hint(self.name),
            )
        return value.numpy() if type(value) is EngineArray else value

    @property
    def kept(self) -> Any:
        """The stored value: a NumPy array, an EngineArray where an engine has the value, None before the first write."""
        return self._loaded() if type(self._value) is Stored else self._value

    @property
    def value_shape(self) -> tuple[int, ...] | None:
        """The shape of the value, None before the first write; no value is read from a file."""
        value = self._value
        return None if value is None else value.shape

    def constant(self) -> Tensor:
        """Return the current value. A value still in its file is read when the constant's elements are read."""
        value = self._value
        if type(value) is Stored:
            return Tensor(self.dtype, value.shape, lambda: self._from_file(value))
        return Tensor.from_numpy(np.asarray(self.read()), self.dtype)

    def _loaded(self) -> Any:
        """Load the value from its file and return the value; the first of several threads reads the file."""
        with self.lock:
            if type(self._value) is Stored:
                self._value = self._from_file(self._value)
            return self._value

    def _from_file(self, stored: Stored) -> Any:
        try:
            return stored.read()
        except TfgError as error:
            raise type(error)(f"variable '{self.name}': {error.message}", hint=error.hint) from error

    def lend(self) -> Any:
        """Return `kept` for a group that writes to the variable; an EngineArray tells whether the engine may overwrite it.

        For callers that hold the lock: from here on, other threads wait for their end to read.
        """
        self.is_changing = True  # before the references are counted: later readers wait
        value = self.kept
        if type(value) is EngineArray:
            value.is_lent = sys.getrefcount(value) <= _UNSHARED_REFERENCES and not value.is_read
        return value

    def assign(self, value: Any) -> None:
        """Replace the value by an array, an EngineArray or a Stored, which the caller must not write to afterwards."""
        # As in TensorFlow, a value of another size gets memory of its own: who holds the old memory keeps the old elements.
        if self._memory is not None and np.size(value) != np.size(self._value):
            self._memory.leave(self.kept)
            self._memory = None
        before = self._value
        self._value = value
        self.version += 1
        # The counter is one for all variables, so that a program asks a single number whether any shape may have changed.
        if before is None or before.shape != value.shape:
            Variable.reshapes = next(_RESHAPES)

    def copy(self, other: Variable) -> None:
        """Take the value of another variable."""
        self.assign(other._value)

    def memory(self) -> Memory:
        """Return the elements, which later writes in place change; FailedPreconditionError before the first write."""
        self.read()
        with self.lock:
            if self._memory is None:
                self._memory = Memory(self)
            return self._memory

    def writable(self) -> np.ndarray[Any, Any]:
        """Return the array to write into in place, C-contiguous, copied first where somebody may hold the array.

        Counts as a write. For kernels that hold the lock: from here on, other threads wait for their end to read.
        """
        self.is_changing = True  # before the references are counted: later readers wait
        value = self.kept
        if value is None:
            value = self.read()
        if (
            # Only an array that the variable alone holds is written to in place. Every edge, feed, caller and view with the
            # old value has a reference to it, and would see the new elements.
            type(value) is not np.ndarray
            or value.base is not None
            or not (value.flags.writeable and value.flags.c_contiguous)
            or self._references() > _UNSHARED_REFERENCES
        ):
            value = self._value = np.array(value, order="C")
        self.version += 1
        array: np.ndarray[Any, Any] = value
        return array

    def _references(self) -> int:
        """Return CPython's count of references to the array: each view of the array holds a reference too."""
        # This is a method of its own, because the interpreter's temporary references count, too, and must be the same here and
        # in the probe.
        return sys.getrefcount(self._value)

    def clear(self) -> None:
        """Make the variable uninitialized."""
        if self._memory is not None:
            self._memory.leave(self.kept)
        self._value = self._memory = None
        self.version += 1
        Variable.reshapes = next(_RESHAPES)


class VariableView(Readable):
    """A call's view of a variable's memory: the same elements in another form, with all later writes."""

    __slots__ = ("_call", "_inputs")

    def __init__(self, call: Callable[..., Any], inputs: Sequence[Any]) -> None:
        self._call = call
        self._inputs = inputs

    def read(self) -> Any:
        """Return the current elements."""
        return self._call(*[value.read() if isinstance(value, Readable) else value for value in self._inputs])


def _references_of_an_unshared_array() -> int:
    """Return the count that `writable` sees for an array that only the variable and the caller's local name hold."""
    probe = Variable("", float32)
    probe.assign(np.zeros(1))
    value = probe._value
    references = probe._references()
    del value
    return references


_UNSHARED_REFERENCES: Final = _references_of_an_unshared_array()


def _of_kind(resource: Any, name: str, kind: type[_Resource]) -> _Resource:
    if not isinstance(resource, kind):
        raise InvalidArgumentError(f"resource '{name}' is a {type(resource).__name__}, not a {kind.__name__}")
    return resource


class ResourceManager:
    """Resources by (container, name); concurrent threads that ask for the same name get the same resource."""

    def __init__(self) -> None:
        self._resources: dict[tuple[str, str], Any] = {}
        self._lock = threading.RLock()

    def get_or_create(self, container: str, name: str, kind: type[_Resource], create: Callable[[], _Resource]) -> _Resource:
        """Return the resource of a name, created on first use; InvalidArgumentError for a resource of another kind."""
        key = (container, name)
        with self._lock:
            # The resource is created under the lock, because two threads that ask first must get the same variable.
            if key not in self._resources:
                self._resources[key] = create()
            resource = self._resources[key]
        return _of_kind(resource, name, kind)

    def get(self, container: str, name: str, kind: type[_Resource]) -> _Resource:
        """Return the resource of a name.

        Raises NotFoundError for an unknown name, InvalidArgumentError for a resource of another kind.
        """
        try:
            resource = self._resources[container, name]
        except KeyError:
            raise NotFoundError(f"resource {container or 'localhost'}/{name} does not exist") from None
        return _of_kind(resource, name, kind)

    def remove(self, container: str, name: str) -> None:
        """Forget the resource of that name; NotFoundError if there is none."""
        with self._lock:
            self.get(container, name, object)
            del self._resources[container, name]

    def items(self) -> list[tuple[tuple[str, str], Any]]:
        with self._lock:
            return list(self._resources.items())

    def clear(self, container: str | None = None) -> None:
        """Forget all resources, or all resources of a container."""
        with self._lock:
            # The dictionary is replaced and not changed, because `get` reads without the lock.
            self._resources = {k: v for k, v in self._resources.items() if container is not None and k[0] != container}


# Waits for other threads: a dequeue waits for an enqueue, a lock for its release.
# Kernels never sleep: they raise WouldBlock, and the executor runs other nodes. Where no other node is left, the executor
# waits here until a kernel of any thread has changed a shared object, and tries again.

_LOOK_AGAIN: Final = 0.1
"""The seconds between checks of a waiting thread for other threads that may still act."""

_condition = threading.Condition()
waiting = 0
"""How many runs wait, or are about to; while there are none nobody has to say that something changed."""

_changes = 0
"""The number of changes that threads were told of."""
_asleep: set[threading.Thread] = set()
_stuck: set[threading.Thread] = set()
"""Deadlocked threads that have yet to raise their errors. All of them raise: the first goes on in unknown code."""


def changed() -> None:
    """Announce a change of a shared object: waiting threads try again."""
    global _changes
    with _condition:
        _changes += 1
        _asleep.clear()
        _condition.notify_all()


class Wait:
    """The wait of a run whose ready kernels would all block; no change since the beginning is missed."""

    def __enter__(self) -> Wait:
        global waiting
        with _condition:
            waiting += 1
            self._seen = _changes
        return self

    def __exit__(self, *_: object) -> None:
        global waiting
        with _condition:
            waiting -= 1

    def for_change(self, deadline: float, reason: str, node: Node) -> None:
        """Sleep until a shared object changes.

        Raises DeadlineExceededError from `deadline` on, or where no thread is left to change one.
        """
        me = threading.current_thread()
        has_looked = False
        with _condition:
            try:
                # A change between the failed attempt and this sleep counts, too; otherwise it would be missed.
                while self._seen == _changes or me in _stuck:
                    if me in _stuck or not _others_act(me, has_looked):
                        # All threads that sleep are stuck as well: none of them will change anything.
                        _stuck.update(_asleep)
                        _condition.notify_all()
                        raise DeadlineExceededError(f"{reason}, and no other node can change that", node=node.name, op=node.op)
                    left = deadline - time.monotonic()
                    if left <= 0:
                        raise DeadlineExceededError(f"{reason} after the time allowed", node=node.name, op=node.op)
                    _asleep.add(me)
                    # The wait has a limit, because a thread of the program that ends tells nobody.
                    has_looked = not _condition.wait(min(left, _LOOK_AGAIN))
                self._seen = _changes
            finally:
                _asleep.discard(me)
                _stuck.discard(me)


def _others_act(me: threading.Thread, has_looked: bool) -> bool:
    """True if another thread of the program may still act; threads that serve kernels act only on request.

    A thread that was interrupted at its start or end may stay listed, but runs nothing. A pool thread that waits for work
    does nothing either, if the wait lasts longer than a thread takes to begin with new work.
    """
    frames = sys._current_frames()
    return any(
        thread is not me
        and thread.ident in frames
        and thread not in _asleep
        and not thread.name.startswith(OWN_THREADS)
        # A thread that Python did not start stays in the list when it has ended.
        and not isinstance(thread, threading._DummyThread)
        and not (has_looked and _is_without_work(frames[thread.ident]))
        for thread in threading.enumerate()
    )


def _is_without_work(frame: types.FrameType) -> bool:
    """True in a thread of a `ThreadPoolExecutor` that waits to be given something to do."""
    pools = sys.modules.get("concurrent.futures.thread")
    return pools is not None and frame.f_code is pools._worker.__code__ and frame.f_locals["work_queue"].empty()
