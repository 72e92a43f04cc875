"""GraphDef messages cut into NodeDefs: small nodes are parsed in runs, large tensor contents stay views of the file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from google.protobuf.message import DecodeError, Message

from ..core.errors import DataLossError
from ..core.numerics import wire
from .attrs import NodeAttrs
from .protos.graph_pb2 import AttrValue, GraphDef, NodeDef, TensorProto
from .tensor_proto import LARGE_CONTENT

M = TypeVar("M", bound=Message)

# Runs are cut before protobuf's own limit of 2 GB comes near.
_MAX_RUN = 1 << 26
_NODE_TAG = GraphDef.NODE_FIELD_NUMBER << 3 | wire.LENGTH_DELIMITED


def parse(message_type: type[M], data: memoryview | bytearray | bytes) -> M:
    """The message in `data`; DataLossError where there is none."""
    try:
        return message_type.FromString(bytes(data))
    except DecodeError:
        raise DataLossError(f"damaged: {len(data)} bytes are no {message_type.DESCRIPTOR.name}") from None


def scan_graph_def(data: memoryview) -> tuple[list[NodeAttrs], GraphDef]:
    """The nodes of a serialized GraphDef, and all the rest of it as a message without nodes."""
    rest = bytearray()
    sources: list[NodeAttrs] = []
    for start, end, kind in _sections(data):
        if kind == "rest":
            rest += data[start:end]
        elif kind == "large":
            sources.append(_large_node(data, start, end))
        else:
            sources.extend(map(NodeAttrs, parse(GraphDef, data[start:end]).node))
    return sources, parse(GraphDef, rest)


def _sections(data: memoryview) -> Iterator[tuple[int, int, str]]:
    """(start, end, kind): `run`s of small node fields, payloads of `large` nodes, and other fields (`rest`)."""
    run_start = run_end = 0
    for field in wire.fields(data):
        is_node = field.number == GraphDef.NODE_FIELD_NUMBER
        is_small = is_node and field.end - field.start <= LARGE_CONTENT
        if is_small and run_end == field.tag_start and field.end - run_start <= _MAX_RUN:
            run_end = field.end
            continue
        if run_end > run_start:
            yield run_start, run_end, "run"
        if is_small:
            run_start, run_end = field.tag_start, field.end
            continue
        if is_node:
            yield field.start, field.end, "large"
        else:
            yield field.tag_start, field.end, "rest"
        run_start = run_end = field.end
    if run_end > run_start:
        yield run_start, run_end, "run"


def _large_node(data: memoryview, start: int, end: int) -> NodeAttrs:
    """A node whose large constants, the `tensor` of an attribute, stay in the file."""
    kept = bytearray()
    contents: dict[str, memoryview] = {}
    for field in wire.fields(data, start, end):
        content = None
        if field.number == NodeDef.ATTR_FIELD_NUMBER and field.wire_type == wire.LENGTH_DELIMITED:
            content = _tensor_content(data, field)
        if content is None:
            kept += data[field.tag_start : field.end]
        else:
            name, entry = _without_content(data, field, content)
            contents[name] = data[content.start : content.end]
            kept += wire.length_prefix(NodeDef.ATTR_FIELD_NUMBER, len(entry)) + entry
    return NodeAttrs(parse(NodeDef, kept), contents)


def _child(data: memoryview, parent: wire.Field, number: int) -> wire.Field | None:
    """The last length-delimited field `number` of a message: the one that counts."""
    found = None
    for field in wire.fields(data, parent.start, parent.end):
        if field.number == number and field.wire_type == wire.LENGTH_DELIMITED:
            found = field
    return found


def _tensor_content(data: memoryview, entry: wire.Field) -> wire.Field | None:
    """The large tensor_content of a map entry of NodeDef.attr, or None."""
    field: wire.Field | None = entry
    for number in (2, AttrValue.TENSOR_FIELD_NUMBER, TensorProto.TENSOR_CONTENT_FIELD_NUMBER):
        field = _child(data, field, number) if field is not None else None
    return field if field is not None and field.end - field.start > LARGE_CONTENT else None


def _without_content(data: memoryview, entry: wire.Field, content: wire.Field) -> tuple[str, bytes]:
    """The attribute's name and its map entry without the content."""
    key = _child(data, entry, 1)
    name = "" if key is None else bytes(data[key.start : key.end]).decode("utf-8", "replace")
    return name, _cut(data, entry, (2, AttrValue.TENSOR_FIELD_NUMBER), content)


def _cut(data: memoryview, message: wire.Field, path: tuple[int, ...], content: wire.Field) -> bytes:
    """The payload of `message` without the field `content`, which lies inside the fields of `path`."""
    kept = bytearray()
    for field in wire.fields(data, message.start, message.end):
        if path and field.number == path[0] and field.start <= content.tag_start < field.end:
            inner = _cut(data, field, path[1:], content)
            kept += wire.length_prefix(field.number, len(inner)) + inner
        elif field.tag_start != content.tag_start:
            kept += data[field.tag_start : field.end]
    return bytes(kept)
