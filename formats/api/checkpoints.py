"""The functions behind `tfg checkpoint`: values of variables from files and to files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from ...core.support.arguments import takes
from ...core.support.display import Displayed
from ...core.support.errors import MissingKeyError
from ...core.support.words import counted
from ...core.types.arrays import Array
from ...core.types.tensors import Tensor
from ..state import read_variables, write_state
from ..stored_tensors import stored_tensors
from .sessions import State, as_tensors


class Checkpoint(Mapping[str, Array], Displayed):
    """The tensors of a checkpoint or an archive by name; a value is read from the file when it is asked for."""

    def __init__(self, path: str, tensors: Mapping[str, Tensor]) -> None:
        self.path = path
        self.tensors = tensors

    def __getitem__(self, name: str) -> Array:
        """Return a value as a NumPy array; NotFoundError, also a KeyError to `in` and `get`, names the nearest names."""
        if name not in self.tensors:
            raise MissingKeyError.of("tensor", name, self.tensors)
        return self.tensors[name].numpy()

    def __iter__(self) -> Iterator[str]:
        return iter(self.tensors)

    def __len__(self) -> int:
        return len(self.tensors)

    def __repr__(self) -> str:
        return f"<Checkpoint {os.path.basename(self.path)}: {counted(len(self), 'tensor')}>"

    def to_records(self) -> list[dict[str, Any]]:
        """Return name, dtype, shape and number of elements of each tensor, without a look at the values."""
        return [
            {"name": name, "dtype": str(tensor.dtype), "shape": list(tensor.shape), "elements": tensor.size}
            for name, tensor in self.tensors.items()
        ]


@takes(path=str | os.PathLike, names=str)
def read_checkpoint(path: str | os.PathLike[str], *, names: str = "keys") -> Checkpoint:
    """Return the tensors of a checkpoint (its prefix, or a folder with one), an .npz archive or a safetensors file.

    A SavedModel's folder gives its variables, by their names in the graph, and a graph's file its constants.

    `names="variables"` names the tensors of TF2's checkpoints as the graph names its variables, not by object paths.
    NotFoundError where there is neither, DataLossError where the file is damaged.
    """
    return Checkpoint(os.fspath(path), read_variables(path) if names == "variables" else stored_tensors(path))


@takes(path=str | os.PathLike, values=Mapping)
def write_checkpoint(path: str | os.PathLike[str], values: State) -> None:
    """Write arrays or Tensors by name, whole or not at all: an archive for `.npz`, a `.safetensors` file, else a V2
    checkpoint with this prefix.

    InvalidArgumentError, before anything is written, for other extensions than those and `.ckpt`.
    """
    write_state(path, as_tensors(values))
