"""What lives as long as a session: variables and every other resource, found by container and name."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar

import numpy as np

from .dtypes import DType, float32
from .errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from .shapes import UNKNOWN, Shape

_Resource = TypeVar("_Resource")


class Variable:
    """A variable's memory, behind a V1 reference or a resource handle alike.

    A value that was read is never written to while anybody holds it: `writable` copies an array that has other references.
    `version` counts the writes and so tells whether anything that depends on the variable is still valid.
    """

    __slots__ = ("_value", "dtype", "name", "shape", "version")

    def __init__(self, name: str, dtype: DType, shape: Shape = UNKNOWN) -> None:
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.version = 0
        self._value: Any = None

    @property
    def is_initialized(self) -> bool:
        return self._value is not None

    def read(self) -> Any:
        """The value, which stays as it is whatever is written later; FailedPreconditionError before the first write."""
        if self._value is None:
            raise FailedPreconditionError(
                f"Attempting to use uninitialized value {self.name}",
                hint=f"`tfg run --init` or `--assign {self.name}=VALUE` initializes it",
            )
        return self._value

    def assign(self, value: Any) -> None:
        """Replace the value; the caller hands the array over and keeps no right to write to it."""
        self._value = value
        self.version += 1

    def writable(self) -> np.ndarray[Any, Any]:
        """The array to write into in place, copied first where somebody may still hold it; counts as a write."""
        value = self._value
        if value is None:
            value = self.read()
        if (
            type(value) is not np.ndarray
            or value.base is not None
            or not value.flags.writeable
            or self._references() > _UNSHARED_REFERENCES
        ):
            value = self._value = np.array(value)
        self.version += 1
        return value

    def _references(self) -> int:
        """CPython's count of references to the array: views of it hold one too."""
        return sys.getrefcount(self._value)

    def clear(self) -> None:
        """Back to uninitialized."""
        self._value = None
        self.version += 1


def _references_of_an_unshared_array() -> int:
    """What `writable` sees for an array that only the variable (and the caller's local name) holds."""
    probe = Variable("", float32)
    probe.assign(np.zeros(1))
    value = probe._value
    references = probe._references()
    del value
    return references


_UNSHARED_REFERENCES: Final = _references_of_an_unshared_array()


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
        if not isinstance(found, kind):
            raise InvalidArgumentError(f"resource '{name}' is a {type(found).__name__}, not a {kind.__name__}")
        return found

    def get(self, container: str, name: str) -> Any:
        """The resource of that name; NotFoundError where there is none."""
        try:
            return self._resources[container, name]
        except KeyError:
            raise NotFoundError(f"resource {container or 'localhost'}/{name} does not exist") from None

    def remove(self, container: str, name: str) -> None:
        """Forget the resource of that name; NotFoundError where there is none."""
        with self._lock:
            self.get(container, name)
            del self._resources[container, name]

    def items(self) -> list[tuple[tuple[str, str], Any]]:
        with self._lock:
            return list(self._resources.items())

    def clear(self, container: str | None = None) -> None:
        """Forget everything, or all of one container."""
        with self._lock:
            self._resources = {k: v for k, v in self._resources.items() if container is not None and k[0] != container}
