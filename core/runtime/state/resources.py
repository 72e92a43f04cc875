"""What lives as long as a session: variables and every other resource, found by container and name."""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final, Self, TypeVar

import numpy as np

from ...support.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError, TfgError
from ...types.arrays import Held
from ...types.dtypes import DType, float32
from ...types.shapes import UNKNOWN, Shape
from ...types.tensors import Tensor
from . import blocking

_Resource = TypeVar("_Resource")
ANONYMOUS_NAME: Final = "cd2c89b7-88b7-44c8-ad83-06c2a9158347"
"""The shared name by which TensorFlow asks for a new variable in every run."""
_RESHAPES: Final = itertools.count(1)


class Shared:
    """What kernels of several threads may work on. Each has it to itself, which it says by `with`.

    `is_changing` is true while the kernel that holds the lock writes in place.
    """

    __slots__ = ("is_changing", "lock")

    lock: threading.RLock
    is_changing: bool

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        self = super().__new__(cls)
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
        """Let another thread have it."""
        self.is_changing = False
        self.lock.release()

    def tell(self) -> None:
        """Let who waits for a change look; a kernel that would block changed nothing, or says this itself."""
        if blocking.waiting:
            blocking.changed()

    @property
    def shared(self) -> Shared:
        """What to lock: a reference may stand for something else."""
        return self


def exclusively(shared: Sequence[Shared], call: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    """`call(*inputs)` with all `shared` to itself, taken in the order given, which has to be the same for all threads."""
    taken = 0
    try:
        for one in shared:
            one.lock.acquire()
            taken += 1
        result = call(*inputs)
    finally:
        for one in shared[:taken]:
            one.release()
    if blocking.waiting:
        blocking.changed()
    return result


class Readable:
    """What stands for a value that may still change: whoever wants the value reads it."""

    __slots__ = ()

    def read(self) -> Any:
        """The value as it is now."""
        raise NotImplementedError


class Stored(Readable):
    """A value that still lies in a file, as the restoring of variables gives it to those who only keep it."""

    __slots__ = ("dtype", "shape", "size", "tensor")

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        self.dtype: np.dtype[Any] = tensor.dtype.numpy
        self.shape = tensor.shape
        self.size = tensor.size

    def read(self) -> Any:
        """The elements, which are read from the file now."""
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
        """Keep `value`, the last one that the variable had here."""
        self._variable, self._value = None, value


class Variable(Shared, Readable):
    """A variable's memory, behind a V1 reference or a resource handle alike.

    A value that was read is never written to while anybody holds it: `writable` copies an array that has other references.
    `version` counts the writes and so tells whether anything that depends on the variable is still valid. Between runs an
    engine may hold the value (`kept` is a Held then): whoever reads it or writes into it gets NumPy's. `reshapes` is another
    number each time that any variable gets or loses a shape.

    A value that was restored may still lie in its file (`_value` is a Stored then). Whoever asks for the elements has it read.
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
        """The value, which stays as it is whatever is written later; FailedPreconditionError before the first write."""
        value = self._value
        if self.is_changing:
            # The writer may have found nobody who holds the value before it came here, and another thread may be the writer.
            del value
            with self.lock:
                value = self._value
        if type(value) is Stored:
            value = self._loaded()
        if value is None:
            raise FailedPreconditionError(
                f"Attempting to use uninitialized value {self.name}",
                hint=f"`tfg run --init` or `--assign {self.name}=VALUE` initializes it",
            )
        return value.numpy() if type(value) is Held else value

    @property
    def kept(self) -> Any:
        """The value as it is kept: an array of NumPy's, a Held where an engine has it, None before the first write."""
        return self._loaded() if type(self._value) is Stored else self._value

    @property
    def value_shape(self) -> tuple[int, ...] | None:
        """The shape of the value, None before the first write; no value is read for it."""
        value = self._value
        return None if value is None else value.shape

    def constant(self) -> Tensor:
        """The value as it is now. What still lies in its file is read there when the constant is asked for its elements."""
        value = self._value
        if type(value) is Stored:
            return Tensor(self.dtype, value.shape, lambda: self._from_file(value))
        return Tensor.from_numpy(np.asarray(self.read()), self.dtype)

    def _loaded(self) -> Any:
        """The value, out of its file; the first of several threads reads it."""
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
        """`kept`, for a group that writes to the variable: a Held says whether the engine may overwrite what it has.

        For those that have the variable to themselves: from here on others wait for their end to read.
        """
        self.is_changing = True  # before the references are counted: who comes later sees it
        value = self.kept
        if type(value) is Held:
            value.is_lent = sys.getrefcount(value) <= _UNSHARED_REFERENCES and not value.is_read
        return value

    def assign(self, value: Any) -> None:
        """Replace the value by an array, a Held or a Stored; the caller hands it over and keeps no right to write to it."""
        if self._memory is not None and np.size(value) != np.size(self._value):
            self._memory.leave(self.kept)
            self._memory = None
        before = self._value
        self._value = value
        self.version += 1
        if before is None or before.shape != value.shape:
            Variable.reshapes = next(_RESHAPES)

    def copy(self, other: Variable) -> None:
        """Take the value of another variable."""
        self.assign(other._value)

    def memory(self) -> Memory:
        """The elements as whatever is written in place changes them; FailedPreconditionError before the first write."""
        self.read()
        with self.lock:
            if self._memory is None:
                self._memory = Memory(self)
            return self._memory

    def writable(self) -> np.ndarray[Any, Any]:
        """The array to write into in place, C-contiguous, copied first where somebody may still hold it; counts as a write.

        For kernels that hold the lock: from here on others wait for their end to read.
        """
        self.is_changing = True  # before the references are counted: who comes later sees it
        value = self.kept
        if value is None:
            value = self.read()
        if (
            type(value) is not np.ndarray
            or value.base is not None
            or not (value.flags.writeable and value.flags.c_contiguous)
            or self._references() > _UNSHARED_REFERENCES
        ):
            value = self._value = np.array(value, order="C")
        self.version += 1
        return value

    def _references(self) -> int:
        """CPython's count of references to the array: views of it hold one too."""
        return sys.getrefcount(self._value)

    def clear(self) -> None:
        """Back to uninitialized."""
        if self._memory is not None:
            self._memory.leave(self.kept)
        self._value = self._memory = None
        self.version += 1
        Variable.reshapes = next(_RESHAPES)


class View(Readable):
    """What a call makes of a variable's memory: the same elements seen in another way, whatever is written to them later."""

    __slots__ = ("_call", "_inputs")

    def __init__(self, call: Callable[..., Any], inputs: Sequence[Any]) -> None:
        self._call = call
        self._inputs = inputs

    def read(self) -> Any:
        """The elements as they are now."""
        return self._call(*[value.read() if isinstance(value, Readable) else value for value in self._inputs])


def _references_of_an_unshared_array() -> int:
    """What `writable` sees for an array that only the variable (and the caller's local name) holds."""
    probe = Variable("", float32)
    probe.assign(np.zeros(1))
    value = probe._value
    references = probe._references()
    del value
    return references


_UNSHARED_REFERENCES: Final = _references_of_an_unshared_array()


def _of_kind(found: Any, name: str, kind: type[_Resource]) -> _Resource:
    if not isinstance(found, kind):
        raise InvalidArgumentError(f"resource '{name}' is a {type(found).__name__}, not a {kind.__name__}")
    return found


class ResourceManager:
    """Resources by (container, name); threads that ask for one at a time get the same."""

    def __init__(self) -> None:
        self._resources: dict[tuple[str, str], Any] = {}
        self._lock = threading.RLock()

    def get_or_create(self, container: str, name: str, kind: type[_Resource], create: Callable[[], _Resource]) -> _Resource:
        """The resource of that name, created at first touch; InvalidArgumentError where it is of another kind."""
        key = (container, name)
        with self._lock:
            if key not in self._resources:
                self._resources[key] = create()
            found = self._resources[key]
        return _of_kind(found, name, kind)

    def get(self, container: str, name: str, kind: type[_Resource]) -> _Resource:
        """The resource of that name; NotFoundError where there is none, InvalidArgumentError where it is of another kind."""
        try:
            found = self._resources[container, name]
        except KeyError:
            raise NotFoundError(f"resource {container or 'localhost'}/{name} does not exist") from None
        return _of_kind(found, name, kind)

    def remove(self, container: str, name: str) -> None:
        """Forget the resource of that name; NotFoundError where there is none."""
        with self._lock:
            self.get(container, name, object)
            del self._resources[container, name]

    def items(self) -> list[tuple[tuple[str, str], Any]]:
        with self._lock:
            return list(self._resources.items())

    def clear(self, container: str | None = None) -> None:
        """Forget everything, or all of one container."""
        with self._lock:
            self._resources = {k: v for k, v in self._resources.items() if container is not None and k[0] != container}
