"""Snapshots in the first format, and the chunks that services write."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Iterator, Sequence

from ...datasets.dataset import Dataset, Element
from ...datasets.file_records import guarded_error, uncompressing
from ...datasets.snapshots import FIRST_FORMAT, PASS, READ, WRITE, Chunks, FirstFormat, FirstSnapshot, Metadata
from ...registry.registry import facts
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.tensor_proto_bytes import serialize_content
from ...support.errors import InvalidArgumentError, NotFoundError
from ...types import dtypes
from ..shared.kernel_files import file_name, gate, read_file, system_errors, write_file
from ._datasets import Text, dataset_kernel, spec_of_node
from .dataset_graphs import fingerprint
from .dataset_records import opener
from .dataset_saving import METADATA, decoded, files_in

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


@dataset_kernel("SnapshotDataset")
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
    return FirstSnapshot((input_dataset,), folder)


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


@dataset_kernel("ListSnapshotChunksDataset")
def list_snapshot_chunks_dataset(ctx: KernelContext, snapshot_path: Text) -> Dataset:
    """List the paths of a snapshot's chunks, including chunks written during the pass."""
    if spec_of_node(ctx.node).dtypes != (dtypes.string,):
        raise InvalidArgumentError("ListSnapshotChunksDataset gives strings")
    return Chunks((), ChunkFolder(ctx, file_name(snapshot_path)))


facts("reads_files", of=("SnapshotDataset", "ListSnapshotChunksDataset"))
facts("observes_pipeline", of=("SnapshotDataset",))
