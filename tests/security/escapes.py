"""Graphs that try to leave the folder that was opened to them: each reads or writes beside it, or tells what is there."""

from __future__ import annotations

import functools
import os
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.functions import define
from tests.opcases import string_array as strings
from tests.pipelines import NUMBER, elements, numbers, slices
from tfg import GraphBuilder
from tfg.core.graph.graph import Graph
from tfg.core.ops.data._datasets import with_twins
from tfg.core.types.tensors import FuncRef
from tfg.formats import write_checkpoint

_RUN_1 = b"\x12\x011\x20\x02\x2a\x01\x09\x30\x03\xc0\x3e\x01"
"""The metadata of a saved dataset whose run is `1`."""
TEXT = elements(("string", ()))
Make = Callable[[GraphBuilder, pathlib.Path], None]


class Place:
    """A folder `open` with links into a folder `closed` beside it, which holds a file and a checkpoint of each format."""

    def __init__(self, root: pathlib.Path) -> None:
        self.root, self.open, self.closed = root, root / "open", root / "closed"
        self.open.mkdir()
        (self.open / "sub").mkdir()
        self.closed.mkdir()
        (self.closed / "secret").write_text("hidden,1\n")
        write_checkpoint(self.closed / "v2", {"v": np.float32([[1]])})
        write_checkpoint(self.closed / "v1", {"v": np.float32([[1]])}, version=1)
        for name, target in (("folder", "."), ("secret", "secret"), ("v1", "v1")):
            (self.open / name).symlink_to(self.closed / target)
        for suffix in (".index", ".data-00000-of-00001"):
            (self.open / f"v2{suffix}").symlink_to(self.closed / f"v2{suffix}")
        write_checkpoint(self.open / "mixed", {"v": np.float32([[1]])})
        os.replace(self.open / "mixed.data-00000-of-00001", self.closed / "data")
        (self.open / "mixed.data-00000-of-00001").symlink_to(self.closed / "data")
        (self.open / "state").mkdir()
        (self.open / "state" / "checkpoint").write_text(f'model_checkpoint_path: "{self.closed}/v2"\n')
        (self.open / "loop").symlink_to("loop")
        (self.open / "saved" / "1").mkdir(parents=True)
        (self.open / "saved" / "1" / "0.shard").symlink_to(self.closed)
        (self.open / "saved" / "snapshot.metadata").write_bytes(_RUN_1)
        (self.closed / "hidden.snapshot").write_text("hidden")

    def outside(self) -> dict[str, bytes]:
        """All files outside the open folder, with their contents."""
        files = (path for path in self.root.rglob("*") if path.is_file() and not path.is_relative_to(self.open))
        return {str(path.relative_to(self.root)): path.read_bytes() for path in files}


def save(prefix: str, op: str = "SaveV2") -> Make:
    def make(g: GraphBuilder, place: Place) -> None:
        names, data = g.constant(strings(["v"])), [g.constant(np.float32([2]))]
        path = g.constant(prefix.format(place))
        slices = [] if op == "Save" else [g.constant(strings([""]))]
        getattr(g, op)(path, names, *slices, data, name="op")

    return make


def _merge(prefix: str, destination: str) -> Make:
    def make(g: GraphBuilder, place: Place) -> None:
        g.MergeV2Checkpoints(g.constant(strings([prefix.format(place)])), g.constant(destination.format(place)), name="op")

    return make


def restore(prefix: str, op: str = "RestoreV2") -> Make:
    def make(g: GraphBuilder, place: Place) -> None:
        path = g.constant(prefix.format(place))
        if op == "RestoreV2":
            g.RestoreV2(path, g.constant(strings(["v"])), g.constant(strings([""])), dtypes=["float"], name="op")
        elif op == "Restore":
            g.Restore(path, g.constant("v"), dt="float", name="op")
        elif op == "RestoreSlice":
            g.RestoreSlice(path, g.constant("v"), g.constant(""), dt="float", name="op")
        else:
            zero = g.constant(np.int64([0]))
            g.LoadAndRemapMatrix(
                path, g.constant("v"), zero, zero, g.constant(np.float32([])), num_rows=1, num_cols=1, name="op"
            )

    return make


def one_file(op: str, text: str) -> Make:
    return lambda g, place: getattr(g, op)(g.constant(text.format(place)), name="op")


def write_file(path: str) -> Make:
    return lambda g, place: g.WriteFile(g.constant(path.format(place)), g.constant("mine"), name="op")


def _print(path: str) -> Make:
    return lambda g, place: g.PrintV2(g.constant("mine"), output_stream=path.format(place), name="op")


def _events(folder: str, suffix: str = "") -> Make:
    def make(g: GraphBuilder, place: Place) -> None:
        args = (g.constant(folder.format(place)), g.constant(np.int32(1)), g.constant(np.int32(1)), g.constant(suffix))
        g.CreateSummaryFileWriter(g.SummaryWriter(), *args, name="op")

    return make


def _reader(kind: str, path: str, version: str = "V2", many: bool = False) -> Make:
    def make(g: GraphBuilder, place: Place) -> None:
        queue = getattr(g, f"FIFOQueue{version}")(component_types=["string"], shapes=[[]])
        reader = getattr(g, f"{kind}{version}")(**({"record_bytes": 1} if kind.startswith("Fixed") else {}))
        read = getattr(g, f"ReaderReadUpTo{version}" if many else f"ReaderRead{version}")
        with g.control_dependencies([getattr(g, f"QueueEnqueue{version}")(queue, [g.constant(path.format(place))])]):
            read(reader, queue, *([np.int64(2)] if many else []), name="op")

    return make


def _table(path: str, version: str = "V2") -> Make:
    def make(g: GraphBuilder, place: Place) -> None:
        table = getattr(g, f"HashTable{version}")(key_dtype="string", value_dtype="int64")
        initialize = getattr(g, f"InitializeTableFromTextFile{version}")
        initialize(table, g.constant(path.format(place)), key_index=-2, value_index=-1, name="op")

    return make


def _vocabularies(path: str) -> Make:
    def make(g: GraphBuilder, place: Place) -> None:
        file = g.constant(path.format(place))
        g.GenerateVocabRemapping(file, file, new_vocab_offset=0, num_new_vocab=1, name="op")

    return make


def _sampler(path: str) -> Make:
    def make(g: GraphBuilder, place: Place) -> None:
        classes = g.constant(np.int64([[0]]))
        g.FixedUnigramCandidateSampler(
            classes, num_true=1, num_sampled=1, unique=True, range_max=1, vocab_file=path.format(place), name="op"
        )

    return make


def _records(pattern: str) -> Make:
    return lambda g, place: g.RecordInput(file_pattern=pattern.format(place), name="op")


def _skipgram(path: str) -> Make:
    return lambda g, place: g.Skipgram(filename=path.format(place), batch_size=1, name="op")


FILE_DATASETS = with_twins(
    "CSVDataset",
    "CSVDatasetV2",
    "FixedLengthRecordDataset",
    "FixedLengthRecordDatasetV2",
    "LMDBDataset",
    "MatchingFilesDataset",
    "SnapshotChunkDataset",
    "SnapshotDatasetReader",
    "TFRecordDataset",
    "TFRecordDatasetV2",
    "TextLineDataset",
)
_ZERO, _PLAIN = np.int64(0), strings("")
_CSV = (_PLAIN, np.int64(1), np.False_, strings(","), np.True_, _PLAIN, np.array([], np.int64), [strings("")])
_BESIDE: dict[str, tuple[Any, ...]] = {
    "CSVDataset": _CSV,
    "CSVDatasetV2": (*_CSV, np.array([], np.int64)),
    "FixedLengthRecordDataset": (_ZERO, np.int64(1), _ZERO, _ZERO),
    "FixedLengthRecordDatasetV2": (_ZERO, np.int64(1), _ZERO, _ZERO, _PLAIN),
    "SnapshotDatasetReader": (_ZERO,),
    "TFRecordDataset": (_PLAIN, _ZERO),
    "TFRecordDatasetV2": (_PLAIN, _ZERO, np.array([], np.int64)),
    "TextLineDataset": (_PLAIN, _ZERO),
}
"""What datasets take besides the names of their files."""
_ATTRS: dict[str, dict[str, Any]] = {
    "CSVDataset": {"output_shapes": [()]},
    "CSVDatasetV2": {"output_shapes": [()]},
    "LMDBDataset": TEXT,
    "SnapshotChunkDataset": TEXT,
    "SnapshotDatasetReader": {**TEXT, "version": 2},
}


def _only_of(g: GraphBuilder, dataset: Any) -> None:
    """The node `read`: the only element of a dataset, a string."""
    g.DatasetToSingleElement(dataset, name="read", **TEXT)


def _file_dataset(op: str, path: str) -> Make:
    """The only element of a dataset of what is in files, or of their names."""
    plain = op.removeprefix("Experimental")

    def make(g: GraphBuilder, place: Place) -> None:
        more = _BESIDE.get(plain, ())
        _only_of(g, getattr(g, op)(path.format(place), *more, name="op", **_ATTRS.get(plain, {})))

    return make


def _query(op: str, path: str) -> Make:
    def make(g: GraphBuilder, place: Place) -> None:
        _only_of(g, getattr(g, op)("sqlite", path.format(place), "SELECT 1", name="op", **TEXT))

    return make


def _kept(op: str, path: str) -> Make:
    """A dataset that is kept in a file or folder and read from there again."""

    def make(g: GraphBuilder, place: Place) -> None:
        cache = [g.DummyMemoryCache()] if op == "CacheDatasetV2" else []
        functions: dict[str, Any] = {}
        if op in ("SaveDatasetV2", "SnapshotDatasetV2"):
            define(g, "shard", ["string"], lambda b, x: [b.constant(np.int64(0))])
            functions = {"shard_func": FuncRef("shard")}
        if op == "SnapshotDatasetV2":
            define(g, "first", ["variant"], lambda b, d: [b.FlatMapDataset(d, [], f=FuncRef("same"), **TEXT)])
            define(g, "same", ["variant"], lambda b, d: [d])
            functions["reader_func"] = FuncRef("first")
        captured = [[] for _ in functions]
        dataset = slices(g, strings(["mine"]))
        _only_of(g, getattr(g, op)(dataset, path.format(place), *cache, *captured, name="op", **functions, **TEXT))

    return make


def _save_dataset(path: str) -> Make:
    def make(g: GraphBuilder, place: Place) -> None:
        g.SaveDataset(numbers(g, 3), path.format(place), [], use_shard_func=False, shard_func=FuncRef("none"), name="op")

    return make


def _load_dataset(path: str) -> Make:
    def make(g: GraphBuilder, place: Place) -> None:
        define(g, "same", ["variant"], lambda b, d: [d])
        define(g, "first", ["variant"], lambda b, d: [b.FlatMapDataset(d, [], f=FuncRef("same"), **NUMBER)])
        g.LoadDataset(path.format(place), [], reader_func=FuncRef("first"), name="op", **NUMBER)

    return make


def _write_records(op: str, path: str) -> Make:
    return lambda g, place: getattr(g, op)(slices(g, strings(["mine"])), path.format(place), "", name="op")


def _encode_proto(path: str) -> Make:
    fields = {"message_type": "m.M", "field_names": ["f"]}
    one = np.int32([[1]])
    return lambda g, place: g.EncodeProto(one, [one], descriptor_source=path.format(place), name="op", **fields)


def _decode_proto(path: str) -> Make:
    fields = {"message_type": "m.M", "field_names": ["f"], "output_types": ["int32"]}
    return lambda g, place: g.DecodeProtoV2(strings([""]), descriptor_source=path.format(place), name="op", **fields)


_WAYS_OUT = {
    "parent": "{0.open}/../closed/secret",
    "through a new folder": "{0.open}/new/../../closed/secret",
    "link": "{0.open}/secret",
    "linked folder": "{0.open}/folder/secret",
    "URI": "file://{0.open}/../closed/secret",
    "URI of a host": "file://localhost{0.closed}/secret",
    "through /proc": "/proc/self/root{0.closed}/secret",
    "through /proc/self/cwd": "/proc/self/cwd/../../../../../../../../../{0.closed}/secret",
    "absolute": "{0.closed}/secret",
    "beside": "{0.open}x",
}
_ANY_PATH: dict[str, Callable[[str], Make]] = {
    "ReadFile": lambda path: one_file("ReadFile", path),
    "WriteFile": write_file,
    "MatchingFiles": lambda path: one_file("MatchingFiles", path),
    "SaveV2": save,
    "Save": lambda path: save(path, "Save"),
    "SaveSlices": lambda path: save(path, "SaveSlices"),
    "RestoreV2": restore,
    "Restore": lambda path: restore(path, "Restore"),
    "RestoreSlice": lambda path: restore(path, "RestoreSlice"),
    "LoadAndRemapMatrix": lambda path: restore(path, "LoadAndRemapMatrix"),
    "MergeV2Checkpoints from": lambda path: _merge(path, "{0.open}/merged"),
    "summaries": _events,
    "WholeFileReader": lambda path: _reader("WholeFileReader", path),
    "TextLineReader": lambda path: _reader("TextLineReader", path),
    "FixedLengthRecordReader": lambda path: _reader("FixedLengthRecordReader", path),
    "TFRecordReader": lambda path: _reader("TFRecordReader", path),
    "ReaderRead": lambda path: _reader("TextLineReader", path, version=""),
    "ReaderReadUpTo": lambda path: _reader("TextLineReader", path, version="", many=True),
    "ReaderReadUpToV2": lambda path: _reader("TextLineReader", path, many=True),
    "RecordInput": _records,
    "table": _table,
    "InitializeTableFromTextFile": lambda path: _table(path, version=""),
    "vocabularies": _vocabularies,
    "sampler": _sampler,
    "EncodeProto": _encode_proto,
    "DecodeProtoV2": _decode_proto,
    "Skipgram": _skipgram,
    "SaveDataset": _save_dataset,
    "LoadDataset": _load_dataset,
    **{op: functools.partial(_write_records, op) for op in with_twins("DatasetToTFRecord")},
    **{op: functools.partial(_file_dataset, op) for op in FILE_DATASETS},
    **{op: functools.partial(_query, op) for op in with_twins("SqlDataset")},
    **{op: functools.partial(_kept, op) for op in ("CacheDataset", "CacheDatasetV2", "SaveDatasetV2", "SnapshotDatasetV2")},
}
_TAKE_A_PREFIX = ("SaveV2", "Save", "SaveSlices", "MergeV2Checkpoints from")  # the files beside a link of that name are free

ESCAPES: dict[str, Make] = {
    **{
        f"{op}, {way}": make(path)
        for op, make in _ANY_PATH.items()
        for way, path in _WAYS_OUT.items()
        if way != "link" or op not in _TAKE_A_PREFIX
    },
    **{
        f"PrintV2, {way}": _print("file://" + path.removeprefix("file://localhost").removeprefix("file://"))
        for way, path in _WAYS_OUT.items()
    },
    "SaveV2 to the folder as a prefix": save("{0.open}"),
    "SaveV2 over links": save("{0.open}/v2"),
    "SaveV2 over linked data": save("{0.open}/mixed"),
    "Save over a link": save("{0.open}/v1", "Save"),
    "SaveSlices over a link": save("{0.open}/v1", "SaveSlices"),
    "RestoreV2 through links": restore("{0.open}/v2"),
    "RestoreV2 through linked data": restore("{0.open}/mixed"),
    "RestoreV2 of a folder whose state names another": restore("{0.open}/state"),
    "RestoreV2 of a linked table": restore("{0.open}/v1"),
    "RestoreV2 by a pattern": restore("{0.open}/v[1]"),
    "Restore by a pattern": restore("{0.open}/fold?r/v*", "Restore"),
    "Restore of what is not there": restore("{0.closed}/none", "Restore"),
    "RestoreSlice of what is not there": restore("{0.closed}/none", "RestoreSlice"),
    "MergeV2Checkpoints to elsewhere": _merge("{0.open}/mixed", "{0.closed}/merged"),
    "MergeV2Checkpoints of links": _merge("{0.open}/v2", "{0.open}/merged"),
    "MergeV2Checkpoints of linked data": _merge("{0.open}/mixed", "{0.open}/merged"),
    "MergeV2Checkpoints over links": _merge("{0.open}/mixed", "{0.open}/v2"),
    "summaries with a suffix": _events("{0.open}", "/../../closed/x"),
    "MatchingFiles of a linked folder": one_file("MatchingFiles", "{0.open}/fold*/*"),
    "MatchingFiles beside": one_file("MatchingFiles", "{0.open}*"),
    "MatchingFiles of the parent": one_file("MatchingFiles", "{0.open}/../*"),
    "MatchingFiles of the parent's folder": one_file("MatchingFiles", "{0.open}/../clo*/sec*"),
    "LoadDataset of a linked shard": _load_dataset("{0.open}/saved"),
    "RecordInput of a linked folder": _records("{0.open}/fold*/*"),
}  # fmt: skip

NOTHING_FOUND: dict[str, Make] = {
    "MatchingFiles, parents after a wildcard": one_file("MatchingFiles", "{0.open}/s*/../../closed/*"),
    "MatchingFiles, many parents after a wildcard": one_file("MatchingFiles", "{0.open}/s*/../../../../../../../etc/*"),
    "MatchingFiles, a dot after a wildcard": one_file("MatchingFiles", "{0.open}/s*/./../../closed/*"),
    "MatchingFiles, two slashes": one_file("MatchingFiles", "{0.open}/s*//etc/*"),
}


def graph(make: Make, place: Place) -> Graph:
    """The graph of an attempt; its node `op` does it."""
    builder = GraphBuilder()
    make(builder, place)
    return builder.graph
