"""Everything that a process needs to work on the tasks of a batch."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...core.comparing.row_blocks import BlockSize
from ...core.graph.graph import Graph
from ...core.support import dataclasses
from ...core.support.errors import InvalidArgumentError, NotFoundError
from ...core.support.file_formats import CSV, JSON, NPY, NPZ, SHARDS, TABLE, format_of
from ...core.support.places import absolute, is_file, is_folder
from ...core.support.regular_files import open_regular
from ...core.support.untrusted import is_untrusted
from ..api.graph_reading import GraphReading
from ..api.run_plan import RunRequest
from ..api.session_setup import SessionSetup
from ..detect import MODEL_FILES
from ..saving import to_bytes

if TYPE_CHECKING:
    from ...core.graph.metagraph import MetaGraph
    from ...core.runtime.session.runner import StepResult

_FORMATS = {file_format.word: file_format.extensions[0] for file_format in (NPZ, NPY, JSON, CSV, TABLE)}


@dataclasses.dataclass(frozen=True, slots=True)
class BatchOutput:
    """The place and the form of the results: a folder with a file for each result, or shards of many results."""

    folder: str | None = None
    """The folder with a file for each result."""
    shards: str | None = None
    """The name of the shards without their numbers; the extension is the format."""
    format: str = NPZ.word
    """The format of the files in the folder."""
    shard_size: int | None = None
    """The number of results in a shard; None for 1,000, or for the groups of rows of Parquet and Arrow files."""
    overwrite: bool = False
    """Compute results again that are there."""
    keep_going: bool = False
    """Continue after a failure."""
    encode: Callable[[Sequence[StepResult]], bytes] | None = None
    """The function that makes a file's contents; by default the encoder of the format."""

    def check(self) -> None:
        """InvalidArgumentError without a place, with two places, for unknown formats, and for shards without a result."""
        if (self.folder is None) == (self.shards is None):
            raise InvalidArgumentError("the results need a place", hint="name either a folder or a file for shards")
        if self.shards is not None:
            format_of(self.shards, SHARDS)
        if self.shard_size is not None and self.shard_size < 1:
            raise InvalidArgumentError(f"a shard of {self.shard_size} results is empty")
        if self.format not in _FORMATS or (self.format == TABLE.word and self.encode is None):
            raise InvalidArgumentError(f"'{self.format}' is not a format of results", hint="use npz, npy, json or csv")

    @property
    def place(self) -> str:
        """The folder that the results go to."""
        return os.path.dirname(self.shards) if self.shards is not None else str(self.folder)

    @property
    def ending(self) -> str:
        """The extension of a result's own file."""
        return _FORMATS[self.format]


@dataclasses.dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that a process needs to work on tasks: the graph, as a file or as bytes, and the settings.

    A graph as bytes is read without the metadata, which is beside the bytes.
    """

    path: str | None
    digest: str
    data: bytes | None
    reading: GraphReading
    session: SessionSetup
    request: RunRequest
    output: BatchOutput
    meta: MetaGraph | None = None
    untrusted: bool = False
    batch: BlockSize = "auto"
    """The number of inputs in a run."""

    def load(self) -> Graph:
        """Load the graph from its file if this machine has the same file, otherwise from the bytes."""
        if self.path is not None and self.digest == digest_of(self.path):
            graph = self.reading.load(self.path)
        elif self.data is not None:
            graph = self.reading._replace(tags=None).load(self.data)
        else:
            raise NotFoundError(f"'{self.path}' is missing here, or differs from the graph of the job")
        graph.meta = self.meta or graph.meta
        if self.untrusted:
            graph.distrust()
        return graph


def graph_recipe(
    graph: Graph, path: str | None, reading: GraphReading, session: SessionSetup, request: RunRequest, output: BatchOutput,
    batch: BlockSize,
) -> Recipe:  # fmt: skip
    """Return the recipe for a graph in a file, or for a graph of this process, which travels as bytes."""
    digest = None if path is None else digest_of(path)
    untrusted = graph.is_untrusted or is_untrusted()
    if path is not None and digest is not None:
        return Recipe(absolute(path), digest, None, reading, session, request, output, None, untrusted, batch)
    data = to_bytes(graph, "graph")
    own = GraphReading(op_library=reading.op_library)
    return Recipe(None, digest_of_bytes(data), data, own, session, request, output, graph.meta, untrusted, batch)


def digest_of(path: str) -> str | None:
    """Return a checksum of a graph's file, or of the description of a SavedModel's folder; None without a file."""
    names = [os.path.join(path, name) for name in MODEL_FILES] if is_folder(path) else [path]
    for name in names:
        if is_file(name):
            with open_regular(name) as file:
                return hashlib.file_digest(file, "blake2b").hexdigest()
    return None


def digest_of_bytes(data: bytes) -> str:
    """Return the checksum of `digest_of` for the contents of a file."""
    return hashlib.blake2b(data).hexdigest()
