"""The protocol of checkpoints for the Save and Restore kernels.

`formats` implements the protocol, the Session holds the store.
"""

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

    The gate `files` opens every file, and raises PermissionDeniedError for files that the caller may not touch.
    """

    def names(self, prefix: str, *, files: FileGate = ...) -> list[str]:
        """Return the names of all tensors; NotFoundError for a checkpoint that does not exist."""
        ...

    def dtype(self, prefix: str, name: str, *, files: FileGate = ...) -> DType:
        """Return the dtype of a tensor; NotFoundError if the checkpoint lacks the tensor."""
        ...

    def read(self, prefix: str, name: str, spec: str = "", *, files: FileGate = ...) -> np.ndarray[Any, Any]:
        """Return the value of a tensor or of a slice, read-only; DataLossError if the file is damaged."""
        ...

    def deferred(self, prefix: str, name: str, spec: str = "", *, files: FileGate = ...) -> Tensor:
        """Return the value as `read` does, of the checkpoint at the time of the call; elements are read and checked on use."""
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
        """Merge several checkpoints; their files are moved, not copied, as soon as the new checkpoint is whole."""
        ...


_makers: list[Callable[[], CheckpointStore]] = []


def provide_store(make: Callable[[], CheckpointStore]) -> None:
    """Set the maker of stores for sessions without a store; the package does, since the package knows the formats."""
    _makers[:] = [make]


def default_store() -> CheckpointStore:
    """Return a store for a session without a store."""
    if not _makers:
        raise UnimplementedError("this session has no checkpoint store")
    return _makers[0]()
