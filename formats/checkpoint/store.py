"""Checkpoints by prefix: what is there is found out by looking, and what is written appears whole or not at all."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...core.dtypes import DType
from ...core.errors import InvalidArgumentError, NotFoundError
from ...core.tensors import Tensor
from ..source import file_errors, read_file
from .bundle import index_path, merge_bundles, open_bundle, write_bundle
from .reader import CheckpointReader, check_disjoint
from .slices import Extents, SliceSpec, parse_extents, parse_spec
from .table import is_table
from .v1 import open_v1, write_v1

Array = np.ndarray[Any, Any]

_STATE_FILE = "checkpoint"
_Stamp = list[tuple[int, int]]
_SHARD_SUFFIX = re.compile(r"\.data-\d{5}-of-\d{5}$")


class Partitioned:
    """A tensor of `shape` to be written in slices: (start, length) for each dimension, or text such as `0,5:-`, and values."""

    def __init__(self, shape: Sequence[int], slices: Sequence[tuple[Extents | str, Any]]) -> None:
        self.shape = tuple(shape)
        self.slices = [(parse_extents(part) if isinstance(part, str) else part, value) for part, value in slices]


def open_checkpoint(path: str | os.PathLike[str]) -> CheckpointReader:
    """A reader of the checkpoint at a prefix, in a folder with a `checkpoint` state file, or that a file of it belongs to.

    NotFoundError where there is none, DataLossError where it is damaged.
    """
    prefix = _SHARD_SUFFIX.sub("", os.fspath(path))
    if os.path.isdir(prefix):
        prefix = _latest(prefix)
    prefix = prefix.removesuffix(".index") if prefix.endswith(".index") and os.path.exists(prefix) else prefix
    if os.path.exists(index_path(prefix)):
        return open_bundle(prefix)
    tables = _tables(prefix)
    if not tables:
        raise NotFoundError(f"there is no checkpoint '{prefix}'", hint=_others(prefix))
    for table in tables:
        with file_errors(table), open(table, "rb") as file:
            if not is_table(read_file(file)):
                raise InvalidArgumentError(f"'{table}' is no checkpoint", hint="give the prefix, the part before .index")
    return open_v1(prefix, tables)


def _tables(prefix: str) -> list[str]:
    """The files of format V1 that a prefix or a pattern names."""
    if os.path.isfile(prefix):
        return [prefix]
    return sorted(glob.glob(prefix)) or sorted(glob.glob(f"{glob.escape(prefix)}-?????-of-?????"))


def _latest(folder: str) -> str:
    """The checkpoint that a folder's state file names, or the only one there is."""
    state = os.path.join(folder, _STATE_FILE)
    if os.path.exists(state):
        with file_errors(state), open(state, encoding="utf-8", errors="replace") as file:
            match = re.search(r'^\s*model_checkpoint_path\s*:\s*"([^"]*)"', file.read(), re.MULTILINE)
        if match is not None:
            return os.path.join(folder, match[1])
    indexes = sorted(glob.glob(os.path.join(glob.escape(folder), "*.index")))
    if len(indexes) == 1:
        return indexes[0].removesuffix(".index")
    names = ", ".join(os.path.basename(index).removesuffix(".index") for index in indexes[:5])
    raise NotFoundError(f"folder '{folder}' names no checkpoint", hint=f"there are {names}" if names else None)


def _others(prefix: str) -> str | None:
    """Checkpoints beside the one that is not there."""
    folder = os.path.dirname(prefix)
    indexes = sorted(glob.glob(os.path.join(glob.escape(folder), "*.index")))
    return f"there is '{indexes[-1].removesuffix('.index')}'" if indexes else None


def write_checkpoint(prefix: str | os.PathLike[str], tensors: Mapping[str, Any], version: int = 2) -> None:
    """Write arrays, Tensors or Partitioned tensors by name, in format V2 or V1.

    InvalidArgumentError for slices that overlap or do not fit, UnimplementedError for resources and variants.
    """
    items: list[tuple[str, tuple[int, ...], Extents | None, Tensor]] = []
    for name, value in tensors.items():
        if isinstance(value, Partitioned):
            check_disjoint(name, value.shape, [extents for extents, _ in value.slices])
            items += [(name, value.shape, extents, _as_tensor(part)) for extents, part in value.slices]
        else:
            tensor = _as_tensor(value)
            items.append((name, tensor.shape, None, tensor))
    _write(os.fspath(prefix), items, version)


def _as_tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else Tensor.from_numpy(value)


def _write(prefix: str, items: Sequence[tuple[str, tuple[int, ...], Extents | None, Tensor]], version: int) -> None:
    for name, full_shape, extents, tensor in items:
        expected = full_shape if extents is None else SliceSpec(full_shape, extents).shape
        if tensor.shape != expected:
            raise InvalidArgumentError(f"tensor '{name}' has shape {list(tensor.shape)}, its slice {list(expected)}")
    os.makedirs(os.path.dirname(prefix) or ".", exist_ok=True)
    if version not in (1, 2):
        raise InvalidArgumentError(f"there is no checkpoint format V{version}")
    (write_bundle if version == 2 else write_v1)(prefix, items)


def merge_checkpoints(
    prefixes: Sequence[str], destination: str, delete_old: bool = True, allow_missing: bool = False
) -> None:
    """Make one V2 checkpoint of several; their data files are moved, and with `delete_old` folders left empty removed.

    NotFoundError where one is missing, DataLossError where two have the same tensor.
    """
    merge_bundles(list(prefixes), destination, delete_old, allow_missing)


class FileCheckpointStore:
    """core's CheckpointStore on files. `check_path` raises for a path that the user did not allow."""

    def __init__(self, check_path: Callable[[str], None] | None = None) -> None:
        self._check_path = check_path
        self._readers: dict[str, tuple[_Stamp, CheckpointReader]] = {}

    def names(self, prefix: str) -> list[str]:
        """The names of all tensors."""
        return self._reader(prefix).names()

    def dtype(self, prefix: str, name: str) -> DType:
        """The dtype of one tensor."""
        return self._reader(prefix).dtype(name)

    def read(self, prefix: str, name: str, spec: str = "") -> Array:
        """The value of a tensor or of a slice of it."""
        return self._reader(prefix).read(name, spec)

    def write(self, prefix: str, tensors: Sequence[tuple[str, str, Tensor]], version: int = 2) -> None:
        """Write (name, spec, value)."""
        self._check(prefix)
        items: list[tuple[str, tuple[int, ...], Extents | None, Tensor]] = []
        for name, spec, tensor in tensors:
            part = parse_spec(spec)
            items.append((name, tensor.shape, None, tensor) if part is None else (name, part.full_shape, part.extents, tensor))
        _write(prefix, items, version)

    def merge(self, prefixes: Sequence[str], destination: str, delete_old: bool = True, allow_missing: bool = False) -> None:
        """Make one checkpoint of several."""
        for prefix in (*prefixes, destination):
            self._check(prefix)
        merge_checkpoints(prefixes, destination, delete_old, allow_missing)

    def _check(self, prefix: str) -> None:
        if self._check_path is not None:
            self._check_path(prefix)

    def _reader(self, prefix: str) -> CheckpointReader:
        """A graph restores variable by variable: the table is read once, until the file changes."""
        self._check(prefix)
        stamp = _stamp(prefix)
        known = self._readers.get(prefix)
        if known is None or known[0] != stamp:
            known = self._readers[prefix] = stamp, open_checkpoint(prefix)
        return known[1]


def _stamp(prefix: str) -> _Stamp:
    """What changes when one of the checkpoint's files is written."""
    index = index_path(prefix)
    found = [os.stat(path) for path in ([index] if os.path.exists(index) else _tables(prefix))]
    return [(status.st_mtime_ns, status.st_ino) for status in found]
