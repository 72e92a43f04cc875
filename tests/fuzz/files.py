"""Files that lie: checkpoints with fitting checksums, false archives, SavedModels, records, recordings, packed graphs."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import gzip
import io
import json
import math
import os
import pathlib
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

import numpy as np

import tfg
from tests.formats.tables import InMemory
from tests.fuzz.mutation import changed_bytes
from tfg import GraphBuilder, Session
from tfg.core.codecs.tfrecord import masked_crc32c
from tfg.core.runtime.state.file_access import FileAccess
from tfg.core.support.errors import TfgError
from tfg.core.types import dtypes
from tfg.core.types.tensors import Tensor
from tfg.formats import load, save, to_bytes
from tfg.formats.checkpoint.sorted_table import SortedTable, write_table
from tfg.formats.checkpoint.store import open_checkpoint, write_checkpoint
from tfg.formats.codecs.numpy_files import npz_bytes, read_npz
from tfg.formats.codecs.safetensors import read_safetensors, write_safetensors
from tfg.formats.protos.event_pb2 import Event, Summary, SummaryMetadata, TaggedRunMetadata
from tfg.formats.protos.graph_pb2 import GraphDef, NodeDef, TensorProto
from tfg.formats.protos.run_metadata_pb2 import DeviceStepStats, NodeExecStats, RunMetadata, StepStats
from tfg.formats.recordings import describe_recording
from tfg.formats.run_metadata import read_run_metadata
from tfg.formats.value_literals import parse_value

SAMPLES = pathlib.Path(tfg.__file__ or ".").with_name("sample_graphs")
SECONDS = 0.25
TENSORS = {
    "a": Tensor.from_numpy(np.arange(12, dtype=np.float32).reshape(3, 4)),
    "b/c": Tensor.from_numpy(np.array([b"x", b"", b"long" * 20], object), dtypes.string),
    "d": Tensor.from_numpy(np.int64(7)),
    "e": Tensor.from_numpy(np.zeros((0, 2), np.int8)),
    "f": Tensor.from_numpy(np.ones(3), dtypes.bfloat16),
}


@dataclasses.dataclass(frozen=True)
class Files:
    """Files of one kind by their names, and what reads them in a folder."""

    files: Mapping[str, bytes]
    read: Callable[[pathlib.Path], object]
    origin: str

    def __call__(self) -> None:
        """Write the files, read all that is in them, and see that nothing was added."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name, "folder")
            write_files(folder, self.files)
            self.read(folder)
            results = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
            assert results == set(self.files), f"left {sorted(results - set(self.files))}"

    def snippet(self) -> str:
        return f"{self.origin}: {dict(self.files)}"


def write_files(folder: pathlib.Path, files: Mapping[str, bytes]) -> None:
    """Write files, whose names may lead through folders, into a new folder."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def draw_files(random: Random) -> Files:
    """Files of any kind with a change that their checksums do not show, or with bytes changed anywhere."""
    kinds = (draw_state, draw_state, draw_state, draw_saved_model, draw_packed_graph, draw_records, draw_tfjs, draw_recording)
    return random.choice(kinds)(random)


def _read_archive(folder: pathlib.Path) -> None:
    for tensor in read_npz(str(folder / "state.npz")).values():
        tensor.numpy()


def _read_safetensors(folder: pathlib.Path) -> None:
    for tensor in read_safetensors(str(folder / "state.safetensors")).values():
        tensor.numpy()


def _read_array(folder: pathlib.Path) -> None:
    parse_value(f"@{folder}/state.npy")


def _read_checkpoint(folder: pathlib.Path) -> None:
    reader = open_checkpoint(str(folder / "state"))
    for name in reader.names():
        reader.read(name)


_STATE_READERS = {
    "npz": _read_archive, "safetensors": _read_safetensors, "V1": _read_checkpoint, "V2": _read_checkpoint,
}  # fmt: skip


@functools.cache
def originals() -> dict[str, dict[str, bytes]]:
    """A checkpoint of each version, an archive and a safetensors file, as tfg writes them."""
    by_name: dict[str, dict[str, bytes]] = {"npz": {"state.npz": npz_bytes(TENSORS)}}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "state.safetensors")
        write_safetensors(path, {name: value for name, value in TENSORS.items() if value.dtype.kind in "fiub"})
        by_name["safetensors"] = {path.name: path.read_bytes()}
    for version in (1, 2):
        with tempfile.TemporaryDirectory() as folder:
            write_checkpoint(os.path.join(folder, "state"), TENSORS, version)
            paths = sorted(pathlib.Path(folder).iterdir(), key=lambda path: path.name != "state.index")
            by_name[f"V{version}"] = {path.name: path.read_bytes() for path in paths}
    return by_name


def draw_state(random: Random) -> Files:
    """A checkpoint, an archive or a safetensors file."""
    kind = random.choice(("V1", "V2", "V2", "npz", "npz", "npy", "safetensors"))
    if kind == "npy":
        return Files({"state.npy": lying_array(random)}, _read_array, kind)
    files, read = dict(originals()[kind]), _STATE_READERS[kind]
    if random.random() < 0.3:
        _change_one(random, files)
    elif kind == "npz":
        files["state.npz"] = lying_archive(random)
    elif kind == "safetensors":
        files["state.safetensors"] = lying_safetensors(random)
    else:
        table = next(iter(files))
        files[table] = lying_table(random, files[table])
    return Files(files, read, kind)


def _change_one(random: Random, files: dict[str, bytes]) -> None:
    name = random.choice(sorted(files))
    files[name] = changed_bytes(random, files[name], files[random.choice(sorted(files))])


@functools.cache
def saved_model() -> dict[str, bytes]:
    """The files of a SavedModel with variables."""
    root = SAMPLES / "scaler_saved_model"
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def draw_saved_model(random: Random) -> Files:
    """A SavedModel whose graph, table of variables, or any other byte was changed."""
    files = dict(saved_model())
    tables = [name for name in files if name.endswith(".index")]
    if random.random() < 0.4:
        files[tables[0]] = lying_table(random, files[tables[0]])
    else:
        _change_one(random, files)
    return Files(files, _start, "SavedModel")


def draw_tfjs(random: Random) -> Files:
    """A TensorFlow.js model, of which model.json or the weights were changed."""
    weights = {"name": "w", "shape": [2], "dtype": "float32", "quantization": {"dtype": "uint8", "scale": 1, "min": 0}}
    attrs = {"dtype": {"type": "DT_FLOAT"}, "value": {"tensor": {"dtype": 1, "tensorShape": {"dim": [{"size": "2"}]}}}}
    topology = {"node": [{"name": "w", "op": "Const", "attr": attrs}]}
    model = {"modelTopology": topology, "weightsManifest": [{"paths": ["w.bin"], "weights": [weights]}]}
    if random.random() < 0.6:
        model = lying_model(random, model)
    files = {"model.json": json.dumps(model).encode(), "w.bin": b"ab"}
    if random.random() < 0.5:
        _change_one(random, files)
    return Files(files, _start, "TensorFlow.js")


_JSON_VALUES: tuple[Any, ...] = (
    None, True, 0, 1, -1, 1.5, 2**31, 2**63, 10**400, 1e308, "", "w", "float32", "string", "int32", "\0", "\ud800", [], {},
    [1, 2], [2**62, 0], [2**70, 0], [0, 2**62, 2**62], [1] * 33, "../w.bin", "/etc/passwd", ".", "absent.bin", "w.bin",
    ["w.bin", "w.bin"], ["../w.bin"], ["/etc/passwd"], ["."], {"dtype": "float16"}, {"dtype": "uint16"}, math.nan, math.inf,
)  # fmt: skip
"""Values of JSON that a field of a model may hold: of other types, beyond the integers, and paths out of the folder."""


def lying_model(random: Random, model: Any) -> Any:
    """A copy of a JSON value with one or two values inside replaced, repeated, removed or nested deeply."""
    model = copy.deepcopy(model)
    for _ in range(random.choice((1, 1, 2))):
        holders = list(_holders(model))
        holder = random.choice(holders)
        key = random.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        match random.randrange(6):
            case 0:
                del holder[key]
            case 1:
                holder[key] = [holder[key]] * random.choice((2, 50))
            case 2:
                holder[key] = functools.reduce(lambda inner, _: [inner], range(random.choice((1, 150, 900))), 1)
            case _:
                holder[key] = copy.deepcopy(random.choice(_JSON_VALUES))
    return model


def _holders(value: Any) -> Iterator[Any]:
    """Yield the objects and arrays with contents of a JSON value, not those of deep nests."""
    stack = [(value, 0)]
    while stack:
        holder, depth = stack.pop()
        if isinstance(holder, dict | list) and holder and depth < 20:
            yield holder
            stack += [(inner, depth + 1) for inner in (holder.values() if isinstance(holder, dict) else holder)]


def draw_recording(random: Random) -> Files:
    """An event file or a RunMetadata file, changed within its messages or anywhere."""
    trace = recorded_run()
    summaries = [
        Summary.Value(tag="loss", simple_value=0.5),
        Summary.Value(tag="run", metadata=_metadata("graph_run_metadata"), tensor=TensorProto(dtype=7, string_val=[trace])),
    ]
    events = [
        Event(file_version="brain.Event:2"),
        Event(graph_def=graph_files()[1]),
        Event(meta_graph_def=graph_files()[2]),
        Event(step=1, summary=Summary(value=summaries)),
        Event(tagged_run_metadata=TaggedRunMetadata(tag="step", run_metadata=trace)),
    ]
    messages = [event.SerializeToString() for event in events]
    place = random.randrange(1, len(messages))
    messages[place] = changed_bytes(random, messages[place], random.choice(messages))
    data = trace if random.random() < 0.2 else b"".join(_record(random, message) for message in messages)
    data = changed_bytes(random, data, trace) if random.random() < 0.4 else data
    return Files({"recording": data}, _read_recording, "recording")


def _metadata(plugin: str) -> SummaryMetadata:
    return SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=plugin))


@functools.cache
def recorded_run() -> bytes:
    """A RunMetadata with the times of two nodes, a partition graph, and the graphs of a function."""
    graph = GraphDef(node=[NodeDef(name="x", op="NoOp"), NodeDef(name="y", op="NoOp", input=["^x"])])
    nodes = [NodeExecStats(node_name=node.name, all_start_micros=1, op_end_rel_micros=2) for node in graph.node]
    device = DeviceStepStats(device="/device:CPU:0", node_stats=nodes)
    functions = RunMetadata.FunctionGraphs(
        partition_graphs=[graph], pre_optimization_graph=graph, post_optimization_graph=graph
    )
    message = RunMetadata(step_stats=StepStats(dev_stats=[device]), partition_graphs=[graph], function_graphs=[functions])
    return message.SerializeToString()


def _read_recording(folder: pathlib.Path) -> None:
    path = str(folder / "recording")
    describe_recording(path)
    with contextlib.suppress(TfgError):
        read_run_metadata(path)
    to_bytes(load(path))


def _start(folder: pathlib.Path) -> None:
    graph = load(str(folder))
    to_bytes(graph)
    Session(graph, timeout=SECONDS).start()


@functools.cache
def graph_files() -> tuple[bytes, ...]:
    """The small sample graphs in every form that a file may have."""
    arrays = []
    for path in sorted(SAMPLES.glob("*.pbtxt")):
        if path.stat().st_size < 8000 and "skipgram" not in path.name:
            arrays.append(path.read_bytes())
            for options in ({}, {"kind": "meta_graph"}, {"kind": "meta_graph", "text": True}):
                with tempfile.TemporaryDirectory() as folder:
                    save(load(path), os.path.join(folder, "graph"), **options)
                    arrays.append(pathlib.Path(folder, "graph").read_bytes())
    return tuple(arrays)


def draw_packed_graph(random: Random) -> Files:
    """A graph in any form, changed before or after it is packed."""
    data = random.choice(graph_files())
    if random.random() < 0.7:
        data = changed_bytes(random, data, random.choice(graph_files()))
    if random.random() < 0.4:
        data = gzip.compress(data, mtime=0) + random.choice((b"", b"", b"x", gzip.compress(b"more", mtime=0)))
        data = changed_bytes(random, data) if random.random() < 0.7 else data
    return Files({"graph": data}, lambda folder: to_bytes(load(str(folder / "graph"))), "graph")


def draw_records(random: Random) -> Files:
    """Records, lines or pieces of a length, packed or not, with checksums that fit or not."""
    contents = [random.randbytes(random.choice((0, 1, 5, 300))) for _ in range(random.randint(0, 4))]
    op = random.choice(
        (
            "TFRecordReaderV2",
            "TFRecordReaderV2",
            "TFRecordReader",
            "TextLineReaderV2",
            "FixedLengthRecordReaderV2",
            "WholeFileReaderV2",
        )
    )
    is_framed = op.startswith("TFRecord")
    data = b"".join(_record(random, item) if is_framed else item + b"\n" for item in contents)
    attrs = {name: random.choice(values) for name, values in _READER_ATTRS.get(op, {}).items()}
    packing = attrs.get("compression_type", attrs.get("encoding", b""))
    data = {b"GZIP": lambda: gzip.compress(data, mtime=0), b"ZLIB": lambda: zlib.compress(data)}.get(packing, lambda: data)()
    if random.random() < 0.4:
        data = changed_bytes(random, data)
    count = random.choice((0, 1, 3, -1, 2**62))
    return Files({"data": data}, lambda folder: _read_records(folder, op, attrs, count), f"{op} {attrs}, {count} at once")


_READER_ATTRS: Mapping[str, Mapping[str, tuple[object, ...]]] = {
    "TFRecordReaderV2": {"compression_type": (b"", b"GZIP", b"ZLIB", b"zstd")},
    "TFRecordReader": {"compression_type": (b"", b"GZIP", b"ZLIB")},
    "TextLineReaderV2": {"skip_header_lines": (0, 1, -1, 2**62)},
    "FixedLengthRecordReaderV2": {
        "record_bytes": (1, 3, 0, -1, 2**62), "header_bytes": (0, 1, -1, 2**62), "footer_bytes": (0, 2, -1),
        "hop_bytes": (0, 1, -1, 2**62),
        "encoding": (b"", b"GZIP", b"ZLIB"),
    },
}  # fmt: skip


def _record(random: Random, item: bytes) -> bytes:
    """A record as TFRecord files have them, sometimes with a length that is another's, its checksum right."""
    size = len(item) if random.random() < 0.8 else random.choice((0, 1, 2**31, 2**62, 2**64 - 1, len(item) + 1))
    length = struct.pack("<Q", size)
    return length + struct.pack("<I", masked_crc32c(length)) + item + struct.pack("<I", masked_crc32c(item))


def _read_records(folder: pathlib.Path, op: str, attrs: Mapping[str, object], count: int) -> None:
    g = GraphBuilder()
    version = "V2" if op.endswith("V2") else ""
    queue = g.apply(f"FIFOQueue{version}", component_types=["string"])
    name = g.constant(np.array(str(folder / "data").encode(), object))
    added = g.add(f"QueueEnqueue{version}", [queue, [name]], {})
    closed = g.add(f"QueueClose{version}", [queue], {})
    reader = g.apply(op, **attrs)
    one = g.add(f"ReaderRead{version}", [reader, queue], {})
    several = g.add(f"ReaderReadUpTo{version}", [reader, queue, g.constant(np.int64(count))], {})
    session = Session(g.graph, timeout=SECONDS, files=FileAccess.only([folder]))
    for step in ([added.name], [closed.name], [f"{several.name}:1"], [f"{one.name}:1"], [f"{one.name}:0"]):
        session.run(step)


def lying_table(random: Random, data: bytes) -> bytes:
    """A table with one entry changed and all checksums right."""
    items = [(key, bytes(value)) for key, value in SortedTable(InMemory(data)).items()]
    for _ in range(random.choice((1, 1, 2))):
        place = random.randrange(len(items))
        key, value = items[place]
        match random.randrange(5):
            case 0:
                key = changed_bytes(random, key)
            case 1:
                value = random.choice(items)[1]
            case _:
                value = changed_bytes(random, value)
        items[place] = key, value
    buffer = io.BytesIO()
    write_table(buffer, sorted(dict(items).items()))
    return buffer.getvalue()


def lying_archive(random: Random) -> bytes:
    """An archive with one member changed, its checksum right, and sometimes its directory wrong."""
    with zipfile.ZipFile(io.BytesIO(originals()["npz"]["state.npz"])) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = random.choice(sorted(members))
    members[name] = lying_array(random) if random.random() < 0.5 else changed_bytes(random, members[name])
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for member, data in members.items():
            archive.writestr(member, data)
    data = bytearray(buffer.getvalue())
    if random.random() < 0.3:
        start = data.rfind(b"PK\x01\x02") + random.randrange(4, 46)
        data[start : start + 4] = struct.pack("<I", random.choice((0, 1, 0xFFFFFFFF, 0x7FFFFFFF, random.getrandbits(32))))
    return bytes(data)


def lying_safetensors(random: Random) -> bytes:
    """A safetensors file whose header says something else than what follows."""
    numbers = (0, 1, 2, 4, 8, 12, -1, 1 << 63, 1 << 40, 1.5, None, "1")
    entries = {}
    for name in ("a", "b", "__metadata__")[: random.randrange(1, 4)]:
        fields = {
            "dtype": random.choice(("F32", "U8", "BOOL", "F4", "BF16", "f32", 3, None)),
            "shape": [random.choice(numbers) for _ in range(random.randrange(4))],
            "data_offsets": [random.choice(numbers) for _ in range(random.choice((2, 2, 2, 1, 3)))],
        }
        entries[name] = random.choice((fields, fields, fields, {**fields, "more": []}, [], "text"))
    text = json.dumps(entries).encode()
    text = changed_bytes(random, text) if random.random() < 0.2 else text
    length = len(text) if random.random() < 0.9 else random.getrandbits(64)
    return struct.pack("<Q", length) + text + random.randbytes(random.choice((0, 1, 4, 8, 12)))


def lying_array(random: Random) -> bytes:
    """An .npy file whose header says something else than what follows."""
    types = ("<f4", "|O", "|S5", "<U3", "<M8[s]", "|V2", "<f16", "<i8", "[('a', '<f4')]", "|b1", ">f8", "<c8", "", "\\x00")
    shapes = ("(2,)", "()", "(1099511627776,)", "(-1,)", "(2, 3)", "(0, 9223372036854775807)", "2", "None", "((1,),)")
    header = f"{{'descr': '{random.choice(types)}', 'fortran_order': {random.choice(('False', 'True', '3'))}, "
    header += f"'shape': {random.choice(shapes)}, }}"
    if random.random() < 0.2:
        header = changed_bytes(random, header.encode()).decode("latin-1")
    version = random.choice(((1, 0), (1, 0), (2, 0), (3, 0), (9, 9)))
    text = header.encode("latin-1", "replace") + b"\n"
    length = len(text) if random.random() < 0.9 else random.getrandbits(16)
    size = struct.pack("<H" if version[0] == 1 else "<I", length)
    return b"\x93NUMPY" + bytes(version) + size + text + random.randbytes(random.choice((0, 4, 8, 24, 100)))
