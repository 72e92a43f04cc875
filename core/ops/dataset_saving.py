"""Datasets saved to and loaded from folders, and records written to files."""

from __future__ import annotations

import gzip
import os
import secrets
import zlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .. import dtypes
from ..arrays import Array
from ..datasets.base import Dataset, Element, Spec, array_of
from ..datasets.rewriting import finalized
from ..datasets.snapshots import Loaded, Metadata, Shard
from ..datasets.sources import ListOf
from ..dtypes import DType
from ..errors import DataLossError, InvalidArgumentError, UnimplementedError
from ..numerics.records import encode_record
from ..registry import facts, kernel, not_differentiable, shape, zero_flops
from ..runtime.kernel_context import KernelContext
from ..runtime.values import scalar_object
from ..shapes import SCALAR
from ..tensors import FuncRef
from ._datasets import (
    dataset_function,
    dataset_kernel,
    dataset_of,
    number_function,
    spec_of_node,
    text_in,
    with_twins,
)
from ._files import file_name, gate, read_file, system_errors, write_file
from ._tensor_proto import parse, serialize_content
from .dataset_records import opener

_METADATA = "snapshot.metadata"
_PACK = {"": lambda data: data, "GZIP": gzip.compress, "ZLIB": zlib.compress}


def _require_compression(compression: str) -> str:
    if compression not in _PACK:
        raise UnimplementedError(f"tfg does not compress saved datasets as {compression}", hint="GZIP and ZLIB are known")
    return compression


def _saved(ctx: KernelContext, dataset: Dataset, path: Array, shard_of: Callable[[Element], int], compression: str) -> None:
    """Write all elements, each into its shard."""
    folder = file_name(text_in(path, "path"))
    pack, types = _PACK[_require_compression(compression)], dataset.spec.dtypes
    shards: dict[int, list[bytes]] = {0: []}
    size = 0
    for element in finalized(dataset):
        shards.setdefault(shard_of(element), []).append(_encoded(element, types))
        size += 1
    run = str(secrets.randbits(63))
    for number, parts in shards.items():
        name = os.path.join(folder, run, f"{number:08d}.shard", "00000000.snapshot")
        write_file(ctx, name, pack(b"".join(parts)))
    metadata = Metadata(run, tuple(dtype.number for dtype in types), size)
    write_file(ctx, os.path.join(folder, _METADATA), metadata.serialized())


def _encoded(element: Element, types: Iterable[DType]) -> bytes:
    return b"".join(encode_record(serialize_content(array_of(value), dtype)) for value, dtype in zip(element, types))


@kernel("SaveDataset")
def save_dataset(
    ctx: KernelContext,
    input_dataset: Array,
    path: Array,
    captured: list[Any],
    *,
    compression: str,
    shard_func: FuncRef,
    use_shard_func: bool,
) -> None:
    """Write all elements into a folder."""
    shard_of = number_function(ctx, shard_func, captured, "shard_func") if use_shard_func else lambda element: 0
    _saved(ctx, dataset_of(input_dataset), path, shard_of, compression)


@shape("SaveDataset")
def save_dataset_shape(*inputs: Any) -> None:
    return None


@dataset_kernel("LoadDataset")
def load_dataset(ctx: KernelContext, path: Array, captured: list[Any], *, compression: str, reader_func: FuncRef) -> Dataset:
    """The elements that were written into a folder, in the order in which a function reads the shards."""
    folder = file_name(text_in(path, "path"))
    _require_compression(compression)
    metadata = Metadata.parse(read_file(ctx, os.path.join(folder, _METADATA)))
    spec = spec_of_node(ctx.node)
    shards: list[Element] = []
    for paths in _shard_files(ctx, os.path.join(folder, metadata.run)):
        shard = Shard((), paths, opener(ctx), compression, _decoded, len(spec.dtypes))
        shard.spec = spec
        shards.append((scalar_object(shard),))
    nested = ListOf((), shards)
    nested.spec = Spec((dtypes.variant,), (SCALAR,))
    read = dataset_function(ctx, reader_func, captured)([scalar_object(nested)])
    return Loaded((read,), metadata.size)


def _shard_files(ctx: KernelContext, folder: str) -> list[list[bytes]]:
    """The files of each shard of a run."""
    with system_errors(folder):
        real = gate(ctx).to_read(folder)
        shards = sorted(name for name in os.listdir(real) if name.endswith(".shard"))
        found = [(name, sorted(os.listdir(os.path.join(real, name)))) for name in shards]
    paths = [[os.path.join(folder, shard, name) for name in names if name.endswith(".snapshot")] for shard, names in found]
    return [[os.fsencode(path) for path in group] for group in paths]


def _decoded(record: bytes) -> Any:
    try:
        return parse(record)[0]
    except ValueError as error:
        raise DataLossError(f"a record of a saved dataset is no tensor: {error}") from error


@kernel(*with_twins("DatasetToTFRecord"))
def dataset_to_tf_record(ctx: KernelContext, input_dataset: Array, filename: Array, compression_type: Array) -> None:
    """Write all elements, strings, as records of a file."""
    dataset = dataset_of(input_dataset)
    if [dtype.base for dtype in dataset.spec.dtypes] not in ([], [dtypes.string]):
        raise InvalidArgumentError("DatasetToTFRecord writes elements of one string")
    pack = _PACK[_require_compression(text_in(compression_type, "compression_type"))]
    records = b"".join(encode_record(np.asarray(element[0], object).item()) for element in finalized(dataset))
    write_file(ctx, file_name(text_in(filename, "filename")), pack(records))


@shape(*with_twins("DatasetToTFRecord"))
def dataset_to_tf_record_shape(*inputs: Any) -> None:
    return None


_WRITING = ("SaveDataset", *with_twins("DatasetToTFRecord"))
not_differentiable(*_WRITING)
zero_flops(*_WRITING)
facts("side_effect", of=_WRITING)
facts("reads_files", of=("LoadDataset",))
