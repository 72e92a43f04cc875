"""Datasets kept in files: caches in TensorFlow's format, saved datasets, and snapshots of both formats."""

from __future__ import annotations

import contextlib
import functools
import gzip
import itertools
import os
import re
import secrets
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ...codecs import snappy
from ...codecs.tfrecord import encode_record
from ...datasets.dataset import Dataset, Element, Spec, array_of, require_types
from ...datasets.file_records import guarded_error, read_records, uncompressing
from ...datasets.filter_take_skip import Skip
from ...datasets.rewriting import finalized
from ...datasets.snapshots import (
    FIRST_FORMAT,
    FORMAT,
    PASS,
    READ,
    WRITE,
    Cache,
    Chunks,
    DatasetSnapshot,
    FileCache,
    FirstFormat,
    FirstSnapshot,
    Loaded,
    MemoryCache,
    Metadata,
    SavedShard,
    Saving,
    elements_of,
)
from ...datasets.sources import ListOf
from ...registry.registry import kernel
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.tensor_proto_bytes import parse, serialize_content
from ...support.errors import DataLossError, InvalidArgumentError, NotFoundError, UnimplementedError
from ...support.words import counted
from ...types import dtypes
from ...types.arrays import Array
from ...types.dtypes import DType, string
from ...types.shapes import SCALAR
from ...types.tensors import FuncRef, Tensor
from ..shared.argument_checks import single
from ..shared.kernel_files import file_name, gate, read_file, system_errors, write_file
from ..shared.resource_access import resource
from ._datasets import GraphFunction, Number, Text, dataset_kernel, dataset_of, spec_of_node, text_in, with_twins
from .dataset_queries import fingerprint
from .dataset_records import opener

METADATA = "snapshot.metadata"
"""The file of a folder that holds the metadata of a saved dataset."""
_PACK: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    "GZIP": gzip.compress,
    "ZLIB": zlib.compress,
    "SNAPPY": snappy.framed,
}
_AUTOMATIC = "SNAPPY"
"""TensorFlow's default compression of a snapshot."""


def _require_compression(compression: str) -> str:
    if compression not in _PACK:
        raise InvalidArgumentError(f"unknown compression {compression!r}", hint="choose GZIP, ZLIB or SNAPPY")
    return compression


class Folder:
    """A folder that a dataset is saved in or loaded from."""

    def __init__(self, ctx: KernelContext, path: str, compression: str) -> None:
        self._ctx = ctx
        self._path = path
        self._compression = _require_compression(compression)

    def store(self, shards: Mapping[int, Sequence[Element]], types: Sequence[DType]) -> None:
        """Write the elements of all shards, and the metadata."""
        # A folder of its own for each run: a reader of an earlier run keeps its files.
        pack, run = _PACK[self._compression], str(secrets.randbits(63))
        for number, elements in shards.items():
            name = os.path.join(self._path, run, f"{number:08d}.shard", "00000000.snapshot")
            write_file(self._ctx, name, pack(b"".join(_encoded(element, types) for element in elements)))
        # Written last: from then on the folder counts as a complete dataset.
        metadata = Metadata(run, tuple(dtype.number for dtype in types), sum(map(len, shards.values())))
        write_file(self._ctx, os.path.join(self._path, METADATA), metadata.serialized())

    def has_elements(self) -> bool:
        """Return True if a complete dataset was written."""
        try:
            return self._metadata().finished
        except NotFoundError:
            return False

    def _metadata(self) -> Metadata:
        return Metadata.parse(read_file(self._ctx, os.path.join(self._path, METADATA)))

    def load(self, spec: Spec, read: Callable[..., Dataset]) -> Loaded:
        """Load the elements, in the order in which a function reads the datasets of the shards."""
        metadata = self._metadata()
        shards: list[Element] = []
        for paths in _shard_files(self._ctx, os.path.join(self._path, metadata.run)):
            shard = _shard(self._ctx, paths, self._compression, len(spec.dtypes))
            shard.spec = spec
            shards.append((scalar_object(shard),))
        nested = ListOf((), shards)
        nested.spec = Spec((dtypes.variant,), (SCALAR,))
        return Loaded((read([scalar_object(nested)]),), metadata.size)


def _shard(ctx: KernelContext, paths: Sequence[bytes], compression: str, width: int) -> SavedShard:
    """Return the elements in the files of a shard, each component a record."""
    records = functools.partial(read_records, opener(ctx), compression=compression)
    return SavedShard((), paths, lambda path: elements_of(records(path), decoded, width))


def _encoded(element: Element, types: Sequence[DType]) -> bytes:
    require_types(types, element)
    return b"".join(encode_record(serialize_content(array_of(value), dtype)) for value, dtype in zip(element, types))


class Sharding(NamedTuple):
    """The attributes of saving: the compression, and the function that names the shard of an element."""

    compression: str
    shard_func: FuncRef
    use_shard_func: bool


def _saving(ctx: KernelContext, input_dataset: Array, path: Array, captured: list[Any], sharding: Sharding) -> Saving:
    """Return the elements of a dataset on their way into a folder."""
    compression, shard_func, use_shard_func = sharding
    # Without the function TensorFlow, too, writes a single shard.
    function = GraphFunction(ctx, "shard_func", shard_func, captured)
    shard_of = function.numbers() if use_shard_func else lambda element: 0
    dataset = dataset_of(input_dataset)
    folder = Folder(ctx, file_name(text_in(path, "path")), compression)
    return Saving((dataset,), shard_of, folder.store, dataset.spec.dtypes)


@kernel("SaveDataset", facts=("side_effect", "takes_all_elements"), arithmetic=False)
def save_dataset(ctx: KernelContext, input_dataset: Array, path: Array, captured: list[Any], *, sharding: Sharding) -> None:
    """Write all elements into a folder."""
    saving = _saving(ctx, input_dataset, path, captured, sharding)
    # The op makes a pass, so the pipeline is rewritten as for an iterator.
    for _ in saving.stored(finalized(saving.source)):
        pass


@dataset_kernel("LoadDataset", facts=("reads_files",))
def load_dataset(ctx: KernelContext, path: Text, reader_func: GraphFunction, *, compression: str) -> Dataset:
    """Load the elements in a folder, in the order in which a function reads the shards."""
    folder = Folder(ctx, file_name(path), compression)
    return folder.load(spec_of_node(ctx.node), reader_func.datasets())


@dataset_kernel("SaveDatasetV2")
def save_dataset_v2(
    ctx: KernelContext, input_dataset: Array, path: Array, captured: list[Any], *, sharding: Sharding
) -> Dataset:
    """Return the elements; a pass that reaches the end writes them into a folder."""
    return _saving(ctx, input_dataset, path, captured, sharding)


@dataset_kernel("SnapshotDatasetV2", facts=("reads_files", "observes_pipeline"))
def snapshot_dataset_v2(
    ctx: KernelContext,
    input_dataset: Dataset,
    path: Text,
    reader_func: GraphFunction,
    shard_func: GraphFunction,
    *,
    compression: str,
    hash_valid: bool,
    hash: int,
) -> Dataset:
    """Return the elements in a folder where a complete pass wrote them; else return and write the elements of the input.

    Each way of making the input has a folder of its own, named by `hash` or by tfg's fingerprint.
    """
    # The attribute is a signed integer, and the folder's name an unsigned one.
    number = hash % 2**64 if hash_valid else fingerprint(input_dataset)
    compression = _AUTOMATIC if compression == "AUTO" else compression
    folder = Folder(ctx, os.path.join(file_name(path), str(number)), compression)
    types, load = input_dataset.spec.dtypes, functools.partial(folder.load, spec_of_node(ctx.node), reader_func.datasets())
    return DatasetSnapshot((input_dataset,), shard_func.numbers(), folder.store, types, folder.has_elements, load)


@dataset_kernel("SnapshotDatasetReader", "SnapshotChunkDataset", facts=("reads_files",))
def snapshot_dataset_reader(
    ctx: KernelContext, path: Text, start_index: Number = 0, *, compression: str, output_types: list[DType], version: int = 2
) -> Dataset:
    """Read the elements in a shard of a saved dataset, or in a file of a shard."""
    if version != FORMAT:
        raise UnimplementedError(f"tfg reads saved datasets of version {FORMAT}, not {version}")
    name = file_name(path)
    with system_errors(name):
        is_folder = os.path.isdir(gate(ctx).to_read(name))
    paths = files_in(ctx, name) if is_folder else [os.fsencode(name)]
    shard = _shard(ctx, paths, _require_compression(compression), len(output_types))
    return Skip((shard,), start_index)


@dataset_kernel("SnapshotNestedDatasetReader")
def snapshot_nested_dataset_reader(ctx: KernelContext, inputs: list[Array]) -> Dataset:
    """The datasets themselves as elements."""
    return ListOf((), [(value,) for value in inputs])


def files_in(ctx: KernelContext, folder: str) -> list[bytes]:
    """Return the files of a folder that hold elements."""
    with system_errors(folder):
        names = [name for name in gate(ctx).names_in(folder) if name.endswith(".snapshot")]
    return [os.fsencode(os.path.join(folder, name)) for name in names]


def _shard_files(ctx: KernelContext, folder: str) -> list[list[bytes]]:
    """Return the files of each shard of a run."""
    with system_errors(folder):
        shards = [name for name in gate(ctx).names_in(folder) if name.endswith(".shard")]
    return [files_in(ctx, os.path.join(folder, shard)) for shard in shards]


def decoded(record: bytes) -> Any:
    """Return the tensor in a record; DataLossError if there is none."""
    try:
        return parse(record)[0]
    except ValueError as error:
        raise DataLossError(f"a record of a saved dataset is not a tensor: {error}") from error


@kernel(*with_twins("DatasetToTFRecord"), facts=("side_effect", "takes_all_elements"), arithmetic=False)
def dataset_to_tf_record(ctx: KernelContext, input_dataset: Array, filename: Array, compression_type: Array) -> None:
    """Write all elements, strings, as records of a file."""
    dataset = dataset_of(input_dataset)
    if [dtype.base for dtype in dataset.spec.dtypes] not in ([], [dtypes.string]):
        raise InvalidArgumentError("DatasetToTFRecord writes elements of one string")
    pack = _PACK[_require_compression(text_in(compression_type, "compression_type"))]
    records = b"".join(encode_record(_only_text(element)) for element in finalized(dataset))
    write_file(ctx, file_name(text_in(filename, "filename")), pack(records))


def _only_text(element: Element) -> bytes:
    require_types((dtypes.string,), element)
    text: bytes = single(element[0], "an element of DatasetToTFRecord")
    return text


# TensorFlow reads the elements in the order of their names: padding makes this the order of their numbers.
_WIDTH = 7
"""Digits of an element's place."""
_NAME = re.compile(r" *(\d{1,18})_ *(\d{1,18})")


def _place(name: str) -> tuple[int, int]:
    """Return (index of the element, index of the component) from a tensor's name; (-1, -1) for a name of another kind."""
    match = _NAME.fullmatch(name)
    return (int(match[1]), int(match[2])) if match else (-1, -1)


class ElementCheckpoint:
    """A checkpoint that holds elements."""

    def __init__(self, ctx: KernelContext, prefix: str, types: Sequence[DType]) -> None:
        self._store = ctx.session.checkpoints
        self._gate = gate(ctx)
        self._prefix = prefix
        self._types = types

    def is_there(self) -> bool:
        """Return True if the cache holds elements."""
        try:
            self._store.names(self._prefix, files=self._gate)
        except NotFoundError:
            return False
        return True

    def read(self) -> Iterator[Element]:
        """Yield the elements in order."""
        stored = self._store.names(self._prefix, files=self._gate)
        names = {_place(name): name for name in stored}
        # Any checkpoint may lie there: its names must be those of whole elements, without a gap.
        if names.keys() != set(itertools.product(range(len(stored) // len(self._types)), range(len(self._types)))):
            raise DataLossError(f"{self._prefix} holds no elements of {counted(len(self._types), 'component')}")
        for _, parts in itertools.groupby(sorted(names), key=lambda place: place[0]):
            yield tuple([self._store.read(self._prefix, names[place], files=self._gate) for place in parts])

    def write(self, elements: Sequence[Element]) -> None:
        """Keep the elements."""
        for dtype in self._types:
            # A variant or a resource lives in this process alone.
            if dtype.is_object and dtype.base is not string:
                raise UnimplementedError(f"a cache file cannot hold a component of dtype {dtype}")
        width = len(str(len(self._types) - 1))
        tensors = [
            (f"{i:{_WIDTH}}_{j:{width}}", "", Tensor.from_numpy(array_of(value), dtype))
            for i, element in enumerate(elements)
            for j, (value, dtype) in enumerate(zip(element, self._types))
        ]
        with system_errors(self._prefix):
            self._store.write(self._prefix, tensors, files=self._gate)


# Compared by identity: it never holds an element, which two datasets would otherwise share.
_DUMMY = MemoryCache()


@dataset_kernel("CacheDataset", "CacheDatasetV2", facts=("reads_files",))
def cache_dataset(ctx: KernelContext, input_dataset: Dataset, filename: Text, cache: Any = _DUMMY) -> Dataset:
    """The same elements, kept in a cache that others may share."""
    memory, path = resource(cache, MemoryCache), file_name(filename)
    if path:
        kept = ElementCheckpoint(ctx, path, input_dataset.spec.dtypes)
        return FileCache((input_dataset,), kept.is_there, kept.read, kept.write)
    # Without a handle of a cache, each dataset made from it fills its own.
    return Cache((input_dataset,), MemoryCache() if memory is _DUMMY else memory)


@kernel("AnonymousMemoryCache", shape="-> (), ()", facts=("input_pipeline",), arithmetic=False)
def anonymous_memory_cache() -> tuple[Array, Array]:
    """Return a cache for elements, and its deleter."""
    return scalar_object(MemoryCache()), scalar_object(None)


@kernel("DummyMemoryCache", shape="-> ()", facts=("input_pipeline",), arithmetic=False)
def dummy_memory_cache() -> Array:
    """A handle in the place of a cache that the dataset makes itself."""
    return scalar_object(_DUMMY)


@kernel("DeleteMemoryCache", facts=("side_effect", "input_pipeline"), arithmetic=False)
def delete_memory_cache(handle: Array, deleter: Array) -> None:
    """Do nothing: a cache lives as long as a reference to it."""


_AUTO = "auto"
_COMPRESSIONS = ("", "GZIP", "SNAPPY")


class FirstFolder:
    """The folder of a snapshot, named by the pipeline's fingerprint or by the user."""

    def __init__(self, ctx: KernelContext, path: str, name: str, graph: str, form: FirstFormat) -> None:
        self._ctx = ctx
        # TensorFlow's names: a snapshot with a name is found by both libraries, whatever the graph's fingerprint.
        self._path = os.path.join(path, f"custom-{name}" if name else graph)
        self._run = "custom" if name else f"{secrets.randbits(64):016x}"
        self._graph = graph
        self._form = form
        self.mode = _AUTO
        self.expiry = 0
        """Seconds after which an unfinished snapshot of another writer is given up."""

    def _metadata(self) -> Metadata:
        return Metadata.parse(read_file(self._ctx, os.path.join(self._path, METADATA)), FIRST_FORMAT)

    def state(self) -> str:
        """Return the mode of a pass that begins now; NotFoundError in mode "read" without a snapshot."""
        if self.mode in (WRITE, PASS):
            return self.mode
        try:
            metadata = self._metadata()
        except NotFoundError:
            if self.mode == READ:
                raise NotFoundError("Metadata file does not exist.") from None
            return WRITE
        if self.mode == READ or metadata.finished:
            return READ
        # Another run may still be writing; after the time that the graph allows, it counts as broken off.
        return PASS if metadata.created / 1e6 >= time.time() - self.expiry else WRITE

    def load(self) -> Iterator[Element]:
        """Yield the elements in the folder, file by file."""
        for path in files_in(self._ctx, os.path.join(self._path, self._metadata().run)):
            # Snappy packs each element, GZIP the whole file.
            compression = self._form.compression if self._form.compression == "GZIP" else ""
            with opener(self._ctx)(path) as file, guarded_error(path):
                yield from self._form.decoded(uncompressing(file, compression, path))

    def store(self, elements: Sequence[Element]) -> None:
        """Write the elements, and the metadata."""
        name = os.path.join(self._path, self._run, "00000000.snapshot")
        write_file(self._ctx, name, self._form.encoded(elements))
        numbers = tuple(dtype.number for dtype in self._form.dtypes)
        metadata = Metadata(self._run, numbers, version=FIRST_FORMAT, graph=self._graph, created=int(time.time() * 1e6))
        write_file(self._ctx, os.path.join(self._path, METADATA), metadata.serialized())


@dataset_kernel("SnapshotDataset", facts=("reads_files", "observes_pipeline"))
def snapshot_dataset(
    ctx: KernelContext,
    input_dataset: Dataset,
    path: Text,
    *,
    compression: str,
    pending_snapshot_expiry_seconds: int,
    mode: str,
    snapshot_name: str,
) -> Dataset:
    """Return the elements in a folder where a complete pass wrote them; else return and write the elements of the input.

    The folder is named by `snapshot_name`, or by tfg's fingerprint of the input, which differs from TensorFlow's.
    """
    if compression not in _COMPRESSIONS:
        raise InvalidArgumentError("compression must be either '', 'GZIP' or 'SNAPPY'.")
    if pending_snapshot_expiry_seconds < 1:
        raise InvalidArgumentError("pending_snapshot_expiry_seconds must be at least 1 second.")
    if mode not in (_AUTO, READ, WRITE, PASS):
        raise InvalidArgumentError("mode must be either 'auto', 'read', 'write', or 'passthrough'.")
    form = FirstFormat(compression, input_dataset.spec.dtypes, serialize_content, decoded)
    folder = FirstFolder(ctx, file_name(path), snapshot_name, f"{fingerprint(input_dataset):016x}", form)
    folder.mode, folder.expiry = mode, pending_snapshot_expiry_seconds
    return FirstSnapshot((input_dataset,), folder.state, folder.load, folder.store)


class ChunkFolder:
    """A folder that a service writes a snapshot to."""

    def __init__(self, ctx: KernelContext, path: str) -> None:
        self._ctx = ctx
        self._path = path

    def chunks(self) -> list[bytes]:
        """Return the paths of the chunks that are there, none where the folder of chunks is not."""
        folder = os.path.join(self._path, "chunks")
        with contextlib.suppress(NotFoundError), system_errors(folder):
            # A reader may start before the service has made the folder.
            return [os.fsencode(os.path.join(folder, name)) for name in gate(self._ctx).names_in(folder)]
        return []

    def is_done(self) -> bool:
        """Return True if all chunks are written; an error if their writer failed."""
        # The error first, as in TensorFlow: a folder with both files is a failed snapshot.
        for name in ("ERROR", "DONE"):
            with contextlib.suppress(NotFoundError):
                reason = read_file(self._ctx, os.path.join(self._path, name))
                if name == "DONE":
                    return True
                raise InvalidArgumentError(f"the snapshot is incomplete: {reason.decode('utf-8', 'replace')}")
        return False


@dataset_kernel("ListSnapshotChunksDataset", facts=("reads_files",))
def list_snapshot_chunks_dataset(ctx: KernelContext, snapshot_path: Text) -> Dataset:
    """List the paths of a snapshot's chunks, including chunks written during the pass."""
    if spec_of_node(ctx.node).dtypes != (dtypes.string,):
        raise InvalidArgumentError("ListSnapshotChunksDataset gives strings")
    folder = ChunkFolder(ctx, file_name(snapshot_path))
    return Chunks((), folder.chunks, folder.is_done)
