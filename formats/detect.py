"""Detection of a file's kind by content: a kind of graph, or another format, named by the error."""

from __future__ import annotations

import os
import re
from typing import Final, Literal

from ..core.codecs import wire
from ..core.support.errors import DataLossError, InvalidArgumentError, TfgError
from ..core.support.hints import Blank, Hint, command, option, step
from ..core.support.places import is_file
from ..core.support.regular_files import POINTER, POINTER_WORDS

Kind = Literal["graph", "meta_graph", "saved_model", "tfjs", "events", "run_metadata"]

TFJS_FILE: Final = "model.json"
"""The usual name of the file with the graph of a TensorFlow.js model."""
MODEL_FILES: Final = ("saved_model.pb", "saved_model.pbtxt")
"""The names of the file with the graphs in a SavedModel's folder."""
_READS = "tfg reads TensorFlow graphs: GraphDef, MetaGraphDef and SavedModel, binary or text, and TensorFlow.js graph models"

_TEXT_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("node", "library", "versions", "version", "debug_info"), "graph"),
    **dict.fromkeys(
        ("meta_info_def", "graph_def", "saver_def", "collection_def", "signature_def", "asset_file_def", "object_graph_def"),
        "meta_graph",
    ),
    **dict.fromkeys(("saved_model_schema_version", "meta_graphs"), "saved_model"),
}

# First fields of other messages in text form that users are likely to have.
_OTHER_TEXT = {
    "op{": "an OpList", "signature{": "a FunctionDef", "function{": "a FunctionDefLibrary", "features{": "an Example",
    "model_checkpoint_path:": "a 'checkpoint' state file", "all_model_checkpoint_paths:": "a 'checkpoint' state file",
    "item{": "a label map", "model{": "a pipeline configuration", "layer{": "a Caffe network", "ir_version:": "an ONNX model",
    "step_stats{": "a RunMetadata", "name:": "a NodeDef or another single message",
}  # fmt: skip

_FIRST_FIELD = re.compile(rb"(?:\s|#[^\n]*\n)*([A-Za-z_]\w*)\s*(:|\{|<)")
_NODE_NAME = re.compile(rb"[A-Za-z0-9._][A-Za-z0-9_.\\/>-]*")
_OP_NAME = re.compile(rb"[A-Za-z_][A-Za-z0-9_.>]*")

_ORIGIN = "give tfg the SavedModel or graph from before the conversion; Netron shows the file itself"

_EXPORT = Hint("in Keras write a SavedModel with `model.export('folder')`, then ", command("explain", "folder"))

# (offset, magic bytes, format, hint)
_MAGIC: tuple[tuple[int, bytes, str, str | None], ...] = (
    (4, b"TFL3", "a TFLite model", _ORIGIN),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file, such as a Keras .h5 model", _EXPORT),
    (0, b"\x89PNG\r\n\x1a\n", "a PNG picture", None),
    (0, b"\xff\xd8\xff", "a JPEG picture", None),
    (0, b"GIF8", "a GIF picture", None),
    (0, b"BM", "a BMP picture", None),
    (0, b"RIFF", "a RIFF file (WebP picture, WAV sound or AVI film)", None),
    (0, b"\x93NUMPY", "a NumPy .npy array", Hint("feed it to a graph: ", step("feed_file"))),
    (0, b"%PDF", "a PDF document", None),
    (0, b"\x80\x02", "a Python pickle", None),
    (0, b"\x80\x04", "a Python pickle", None),
    (0, b"\x80\x05", "a Python pickle", None),
    (0, b"\x7fELF", "a program or library (ELF)", None),
    (0, b"BZh", "a bzip2 file", "unpack it first"),
    (0, b"\xfd7zXZ", "an xz file", "unpack it first"),
    (0, b"(\xb5/\xfd", "a zstd file", "unpack it first"),
    (0, b"7z\xbc\xaf", "a 7z archive", "unpack it first"),
    (257, b"ustar", "a tar archive", "unpack it first"),
    (0, b"GGUF", "a GGUF model", None),
    (0, b"#!", "a script", None),
    (0, b"<?xml", "an XML file", None),
    (0, b"<!DOCTYPE", "an HTML page", None),
    (0, b"<html", "an HTML page", None),
    (0, POINTER, *POINTER_WORDS),
)
_EVENTS: Final = b"brain.Event:"
"""The beginning of the version in the first record of an event file."""
_LAST_FIELD = 7  # of a MetaGraphDef; GraphDef and SavedModel have fewer
_CHECKPOINT_HINT = Hint(
    "use the file as a state, with ",
    option("state", Blank("PREFIX")),
    ", or list it with ",
    command("checkpoint", Blank("PREFIX")),
)
_TABLE_MAGIC = b"\x57\xfb\x80\x8b\x24\x75\x47\xdb"


def is_safetensors(head: bytes, size: int) -> bool:
    """Return True if a file of `size` bytes begins as a safetensors file: the length of a header, and a JSON object."""
    length = int.from_bytes(head[:8], "little")
    return len(head) > 8 and 2 <= length <= size - 8 and head[8:].lstrip().startswith(b"{")


def is_converted_to_text(data: memoryview) -> bool:
    """Return True for binary data that was read as UTF-8 and written back: EF BF BD is in the place of other bytes."""
    whole = bytes(data)
    # EF BF BD is the replacement character in UTF-8, which editors and version control put in the place of bytes that are no
    # text.
    if b"\xef\xbf\xbd" not in whole or _is_text(whole[:4096]):
        return False
    try:
        whole.decode()
    except UnicodeDecodeError:
        return False
    return True


def is_saved_model(folder: str | os.PathLike[str]) -> bool:
    """Return True for the folder of a SavedModel."""
    return any(is_file(os.path.join(folder, name)) for name in MODEL_FILES)


def graph_kind(data: memoryview, name: str) -> tuple[Kind, bool]:
    """Return the kind of graph, and whether the data is text.

    InvalidArgumentError names the other format that the data has; DataLossError says that the data is damaged.
    """
    if len(data) == 0:
        raise InvalidArgumentError(f"{name} is empty", hint=_READS)
    text_kind = _text_kind(data, name)
    if text_kind is not None:
        return text_kind, True
    # A model.json of TensorFlow.js is a JSON object with a topology.
    if bytes(data[:64]).lstrip().startswith(b"{") and b'"modelTopology"' in bytes(data):
        return "tfjs", True
    if _EVENTS in bytes(data[12:80]):
        return "events", False
    _refuse_known(data, name)
    return _binary_kind(data, name), False


def recording_kind(data: memoryview, name: str) -> Literal["events", "run_metadata"] | None:
    """Return the kind of recording of a run; None for graphs and for all other data."""
    try:
        kind, _ = graph_kind(data, name)
    except TfgError:
        return None
    return kind if kind in ("events", "run_metadata") else None


def _refuse(name: str, what: str, hint: str | None = None) -> InvalidArgumentError:
    return InvalidArgumentError(f"{name} is {what}; {_READS}", hint=hint)


def _text_kind(data: memoryview, name: str) -> Kind | None:
    """Return the kind of graph in a text; None if the data is no printed message."""
    # Editors on Windows write a byte order mark before UTF-8.
    head = bytes(data[:4096]).removeprefix(b"\xef\xbb\xbf")
    match = _FIRST_FIELD.match(head)
    # A binary GraphDef may begin with a line break (the tag of field 1 is 0x0A) and letters; text has no zero byte.
    if match is None or b"\0" in head:
        return None
    field = match[1].decode()
    kind = _TEXT_KINDS.get(field)
    other = _OTHER_TEXT.get(f"{field}{match[2].decode()}")
    if kind is None and other is not None and _is_text(head):
        raise _refuse(name, f"{other} in text form")
    return kind


def _is_text(head: bytes) -> bool:
    if not all(byte >= 0x20 or byte in b"\t\n\r\f" for byte in head):
        return False
    # The cut at the end may go through a character.
    return "\ufffd" not in head.decode("utf-8", "replace")[:-3]


def _refuse_known(data: memoryview, name: str) -> None:
    """Raise if the data is of a known kind that is no graph."""
    head = bytes(data[:1024])
    for offset, magic, what, hint in _MAGIC:
        if head[offset : offset + len(magic)] == magic:
            raise _refuse(name, what, hint)
    if head[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        raise _refuse(name, *_zip_kind(data))
    if is_safetensors(head, len(data)):
        restore = option("state", Blank("FILE"))
        hint = Hint("use the file as a state, with ", restore, ", or list it with ", command("checkpoint", Blank("FILE")))
        raise _refuse(name, "a safetensors file", hint)
    if len(data) >= 48 and bytes(data[-8:]) == _TABLE_MAGIC:
        raise _refuse(name, "a checkpoint's index or a V1 checkpoint", _CHECKPOINT_HINT)
    if not any(head):
        raise _refuse(name, "all zeros")
    if _is_text(head):
        raise _refuse(name, _text_description(head))


def _zip_kind(data: memoryview) -> tuple[str, str | None]:
    """Return a description of a zip archive and a hint; the names of members stand uncompressed in the archive."""
    # The first member is at the beginning, the directory of all members at the end.
    names = bytes(data[:4096]) + bytes(data[-65536:])
    if b"model.weights.h5" in names or b"metadata.json" in names:
        return "a Keras .keras archive", _EXPORT
    if b".npy" in names:
        return "a NumPy .npz archive", Hint("use the file as a state, with ", option("state", Blank("FILE.npz")))
    if b"data.pkl" in names:
        return "a PyTorch model", None
    return "a zip archive", "unpack it first"


def _text_description(head: bytes) -> str:
    stripped = head.lstrip()
    if re.match(rb'\{\s*["}]|\[\s*[\[{"\d\]-]', stripped):
        return "a JSON file"
    if not stripped:
        return "only white space"
    first_line = stripped.splitlines()[0][:40].decode("utf-8", "replace")
    return f"a text file that begins '{first_line}'"


def _binary_kind(data: memoryview, name: str) -> Kind:
    """Return the kind of graph in serialized data, by the wire types and contents of the first fields."""
    seen = _first_fields(data, name)
    first = seen.get(1)
    # The surest sign comes first: no other message has a name and an op at this place.
    if first is not None and first.wire_type == wire.LENGTH_DELIMITED and _is_node(data, first):
        return "graph"
    graph = seen.get(2)
    graph_inside = graph is not None and graph.wire_type == wire.LENGTH_DELIMITED and _looks_like_graph(data, graph)
    # A SavedModel and an ONNX model both begin with a number, and have a message or a string in field 2.
    if first is not None and first.wire_type == wire.VARINT and graph is not None:
        if _is_onnx(seen):
            raise _refuse(name, "an ONNX model", _ORIGIN)
        if graph.wire_type == wire.LENGTH_DELIMITED:
            return "saved_model"
    if graph_inside or _has_tags_of_meta_graph(data, seen):
        return "meta_graph"
    if set(seen) == {2} and _holds_meta_graph(data, seen[2]):
        return "saved_model"  # without the number of the schema: TF-Hub's first modules have 0
    if set(seen) <= {1, 3, 4, 5} and _is_run_metadata(data, seen):
        return "run_metadata"
    if set(seen) <= {2, 3, 4, 5} and _is_graph_without_nodes(data, seen):
        return "graph"
    raise _refuse(name, _other_message(data, seen))


def _first_fields(data: memoryview, name: str) -> dict[int, wire.Field]:
    """Return the first field of each number; refuse data that is no protobuf message."""
    seen: dict[int, wire.Field] = {}
    try:
        for field in wire.fields(data):
            seen.setdefault(field.number, field)
            if field.number == 1 and field.wire_type == wire.LENGTH_DELIMITED and len(seen) == 1 and _is_node(data, field):
                break  # a GraphDef: no need to walk all its nodes twice
    except DataLossError as error:
        if not _begins_like_graph(data, seen):
            raise _refuse(
                name, "not a protobuf message", "the file may be encrypted or compressed, or the data file of a checkpoint"
            ) from None
        raise DataLossError(error.message, hint="the file begins like a graph: copy or download the file again") from None
    return seen


def _begins_like_graph(data: memoryview, seen: dict[int, wire.Field]) -> bool:
    """Return True if truncated data begins like a MetaGraphDef, a SavedModel or a node."""
    if any(number <= _LAST_FIELD and field.wire_type == wire.LENGTH_DELIMITED for number, field in seen.items()):
        return all(number <= _LAST_FIELD for number in seen)
    # A first node that is cut off is no whole field, but its beginning is there: its tag, a length of up to five bytes, and
    # the tag of its name.
    head = bytes(data[:12])
    # A SavedModel begins with the version 1 of its schema, field 1, and the tag of its first MetaGraphDef.
    return head.startswith(b"\x08\x01\x12") or re.match(rb"\n[\x80-\xff]{0,4}[\0-\x7f]\n", head) is not None


def _strings(data: memoryview, message: wire.Field) -> dict[int, memoryview]:
    """Return the first length-delimited field of each number; empty if the bytes are no message."""
    strings: dict[int, memoryview] = {}
    try:
        for field in wire.fields(data, message.start, message.end):
            if field.wire_type == wire.LENGTH_DELIMITED:
                strings.setdefault(field.number, data[field.start : field.end])
    except DataLossError:
        return {}
    return strings


def _is_node(data: memoryview, field: wire.Field) -> bool:
    """Return True if a field looks like a NodeDef: a valid node name and a valid op name; other messages have neither."""
    strings = _strings(data, field)
    name, op = strings.get(1, b""), strings.get(2, b"")
    return _NODE_NAME.fullmatch(name) is not None and _OP_NAME.fullmatch(op) is not None


def _looks_like_graph(data: memoryview, field: wire.Field) -> bool:
    """Return True for a GraphDef inside a MetaGraphDef: the bytes begin with a node."""
    return any(
        inner.number == 1 and inner.wire_type == wire.LENGTH_DELIMITED and _is_node(data, inner)
        for inner in _safe_first(data, field)
    )


def _safe_first(data: memoryview, field: wire.Field) -> list[wire.Field]:
    """Return the first field inside a message as a list; empty if the bytes are no message."""
    try:
        return [next(wire.fields(data, field.start, field.end))] if field.end > field.start else []
    except DataLossError:
        return []


def _has_tags_of_meta_graph(data: memoryview, seen: dict[int, wire.Field]) -> bool:
    """Return True if a MetaInfoDef names the TensorFlow version, as in a MetaGraphDef without nodes."""
    if 1 not in seen or seen[1].wire_type != wire.LENGTH_DELIMITED or 2 not in seen:
        return False
    return re.match(rb"\d+\.\d+", _strings(data, seen[1]).get(5, b"")) is not None


def _holds_meta_graph(data: memoryview, field: wire.Field) -> bool:
    """Return True for a field with a MetaGraphDef: a graph with nodes, or the TensorFlow version beside a graph."""
    inner: dict[int, wire.Field] = {}
    try:
        for part in wire.fields(data, field.start, field.end):
            inner.setdefault(part.number, part)
    except DataLossError:
        return False
    graph = inner.get(2)
    if graph is None or graph.wire_type != wire.LENGTH_DELIMITED:
        return False
    return _looks_like_graph(data, graph) or _has_tags_of_meta_graph(data, inner)


def _is_graph_without_nodes(data: memoryview, seen: dict[int, wire.Field]) -> bool:
    """Return True for a GraphDef of versions and functions only: `versions` holds numbers."""
    versions = seen.get(4)
    if versions is None or versions.wire_type != wire.LENGTH_DELIMITED:
        return False
    return all(inner.wire_type == wire.VARINT for inner in _safe_first(data, versions))


def _is_run_metadata(data: memoryview, seen: dict[int, wire.Field]) -> bool:
    """Return True for a RunMetadata: times of a device, a graph of a device, or the graphs of a function."""
    device, graph, function = (_safe_first(data, seen[number]) if number in seen else [] for number in (1, 3, 4))
    if device and device[0].number == 1 and device[0].wire_type == wire.LENGTH_DELIMITED:
        # The first string is the name of the device, such as `/job:localhost/replica:0/task:0/device:CPU:0`.
        return _strings(data, device[0]).get(1, b"")[:1] == b"/"
    if graph and 3 in seen and _looks_like_graph(data, seen[3]):
        return True
    return any(inner.wire_type == wire.LENGTH_DELIMITED and _looks_like_graph(data, inner) for inner in function)


def _is_onnx(seen: dict[int, wire.Field]) -> bool:
    """Return True for an ONNX ModelProto: ir_version, a small number, producer_name, ... graph = 7, opset_import = 8."""
    if 1 not in seen or seen[1].wire_type != wire.VARINT or seen[1].end - seen[1].start > 1:
        return False
    return any(number in seen and seen[number].wire_type == wire.LENGTH_DELIMITED for number in (7, 8))


def _other_message(data: memoryview, seen: dict[int, wire.Field]) -> str:
    if _is_onnx(seen):
        return "an ONNX model"
    if all(number in seen and seen[number].wire_type == wire.VARINT for number in (1, 2)):
        return "a message of numbers, such as a SavedModel's fingerprint.pb"
    first = seen.get(1)
    if first is not None and first.wire_type == wire.LENGTH_DELIMITED:
        text = bytes(data[first.start : min(first.end, first.start + 60)])
        if 2 in seen and _OP_NAME.fullmatch(text) is not None:
            return f"a single message named '{text.decode()}' (perhaps an OpDef or NodeDef)"
        if _OP_NAME.fullmatch(bytes(_strings(data, first).get(1, b""))) is not None:
            return "a list of OpDefs or FunctionDefs"
    return "a protobuf message of another kind"
