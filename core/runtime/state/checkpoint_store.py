"""What the Save and Restore kernels need of checkpoints; `formats` implements it and the Session holds it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ...support.errors import UnimplementedError
from ...types.dtypes import DType
from ...types.tensors import Tensor

if TYPE_CHECKING:
    import numpy as np

    from .file_access import FileGate


class CheckpointStore(Protocol):
    """Checkpoints by prefix. A spec is the `shape_and_slices` of a Save or Restore op: empty, or such as `10 4 0,5:-`.

    Every file is opened by the gate `files`, which raises PermissionDeniedError for what the caller may not touch.
    """

    def names(self, prefix: str, *, files: FileGate = ...) -> list[str]:
        """The names of all tensors; NotFoundError where there is no such checkpoint."""
        ...

    def dtype(self, prefix: str, name: str, *, files: FileGate = ...) -> DType:
        """The dtype of one tensor; NotFoundError where the checkpoint does not have it."""
        ...

    def read(self, prefix: str, name: str, spec: str = "", *, files: FileGate = ...) -> np.ndarray[Any, Any]:
        """The value of a tensor or of a slice of it, not to be written to; DataLossError where the file is damaged."""
        ...

    def deferred(self, prefix: str, name: str, spec: str = "", *, files: FileGate = ...) -> Tensor:
        """As `read`, of the checkpoint as it is now, but the elements are read and checked when they are asked for."""
        ...

    def write(
        self, prefix: str, tensors: Sequence[tuple[str, str, Tensor]], version: int = 2, *, files: FileGate = ...
    ) -> None:
        """Write a checkpoint of (name, spec, value) whole or not at all, in format V2 or V1."""
        ...

    def merge(
        self,
        prefixes: Sequence[str],
        destination: str,
        delete_old: bool = True,
        allow_missing: bool = False,
        *,
        files: FileGate = ...,
    ) -> None:
        """Make one checkpoint of several; their files are moved, not copied, as soon as the new checkpoint is whole."""
        ...


_makers: list[Callable[[], CheckpointStore]] = []


def provide_store(make: Callable[[], CheckpointStore]) -> None:
    """Say what makes the store of sessions that are given none; the package does, which knows the formats."""
    _makers[:] = [make]


def default_store() -> CheckpointStore:
    """A store for a session that was given none."""
    if not _makers:
        raise UnimplementedError("this session has no checkpoint store")
    return _makers[0]()
