"""The nodes of a GraphDef, found in its bytes or its printed text and decoded without a message of the whole graph."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping
from typing import Final, TypeAlias, TypeVar

from google.protobuf.message import DecodeError, Message

from ...core.codecs import wire
from ...core.support.errors import DataLossError
from ..protos.graph_pb2 import AttrValue, FunctionDef, FunctionDefLibrary, GraphDef, NodeDef, OpDef, TensorProto
from .attrs import HEAD, NodeAttrs
from .printed_text import OtherLayout, PrintedReader
from .tensor_proto import LARGE_CONTENT

M = TypeVar("M", bound=Message)

LoadedNode: TypeAlias = tuple[str, str, tuple[str, ...], str, NodeAttrs]
"""A node's name, op, inputs in the file's spelling, device and attributes."""

_WINDOW: Final = 1 << 18
_MAX_SHARED: Final = 256
"""Attributes of more bytes than this are hardly ever the same for two nodes."""
_MAX_CACHED: Final = 1 << 17


def _tag(message: type[Message], field: str) -> int:
    """Return the first byte of a length-delimited field."""
    return int(message.DESCRIPTOR.fields_by_name[field].number) << 3 | wire.LENGTH_DELIMITED


_NODE: Final = _tag(GraphDef, "node")
_NAME, _OP, _INPUT, _DEVICE = (_tag(NodeDef, field) for field in ("name", "op", "input", "device"))

_BEGIN, _END = "node {\n", "\n}\n"
_BEFORE, _BETWEEN, _AFTER = '  input: "', '"\n  input: "', '"\n'
_STRING: Final = r'"([^"\\\n]*)"\n'
_HEAD: Final = re.compile(
    rf'{_BEGIN}  name: {_STRING}  op: {_STRING}((?:{_BEFORE}[^"\\\n]*{_AFTER})*)(?:  device: {_STRING})?'
)
"""A node up to the attributes, where no string has an escape."""


def parse(message_type: type[M], data: memoryview | bytearray | bytes) -> M:
    """Parse the message in `data`; DataLossError for no valid message."""
    try:
        return message_type.FromString(bytes(data))
    except DecodeError:
        raise DataLossError(f"damaged: {len(data)} bytes are not a {message_type.DESCRIPTOR.name}") from None


class NodeReader:
    """A reader of NodeDefs from bytes; equal parts of nodes are shared.

    The bytes after name, op, inputs and device are parsed once for all nodes with the same bytes.
    """

    def __init__(self) -> None:
        self._words: dict[bytes, str] = {}
        self._attrs: dict[bytes, NodeAttrs] = {}

    def node(self, data: bytes, start: int, end: int) -> LoadedNode:
        """Return the node in data[start:end], parsed quickly in the usual encoding: fields in order, names below 16 KiB."""
        name = op = device = b""
        inputs = []
        position = start
        try:
            # The number of the attributes' field is the largest, so its tag ends the loop: all that follows is one piece of
            # bytes.
            while position < end and (tag := data[position]) <= _DEVICE:
                size, begin = data[position + 1], position + 2
                if size >= 0x80:
                    # If a third byte follows, the bit that says so stays in the size, which then points behind the end. The
                    # message class reads such a node.
                    size, begin = size & 0x7F | data[begin] << 7, begin + 1
                position = begin + size
                if tag == _INPUT:
                    inputs.append(str(data[begin:position], "utf-8"))
                elif tag == _NAME:
                    name = data[begin:position]
                elif tag == _OP:
                    op = data[begin:position]
                elif tag == _DEVICE:
                    device = data[begin:position]
                else:
                    position = end + 1
            if position <= end:
                text = str(name, "utf-8")
                word = self._word(op)
                attrs = self._shared(data[position:end], text, word)
                if attrs is not None:
                    return text, word, tuple(inputs), self._word(device), attrs
        except (IndexError, UnicodeDecodeError):
            pass  # damaged, as the message class will say
        return _whole_node(parse(NodeDef, data[start:end]))

    def read(self, proto: NodeDef) -> LoadedNode:
        """Return the node of a message; a large node stays part of the surrounding message."""
        # A large constant is not copied out of its function and kept twice.
        if proto.ByteSize() > LARGE_CONTENT:
            return _whole_node(proto)
        data = proto.SerializeToString(deterministic=True)
        return self.node(data, 0, len(data))

    def _word(self, encoded: bytes) -> str:
        """Return a string shared by many nodes."""
        word = self._words.get(encoded)
        if word is None:
            word = self._words[encoded] = str(encoded, "utf-8")
        return word

    def _shared(self, tail: bytes, name: str, op: str) -> NodeAttrs | None:
        """Return the attributes in the rest of a node's bytes, None if the rest has other fields."""
        attrs = self._attrs.get(tail)
        if attrs is None:
            proto = parse(NodeDef, tail)
            if proto.name or proto.op or proto.input or proto.device:
                return None
            attrs = self._keep(tail, name, op)
        return attrs

    def attrs(self, tail: bytes, name: str, op: str) -> NodeAttrs:
        """Return the attributes in bytes that hold nothing but attributes."""
        attrs = self._attrs.get(tail)
        return self._keep(tail, name, op) if attrs is None else attrs

    def _keep(self, tail: bytes, name: str, op: str) -> NodeAttrs:
        # The name is that of the first node with these attributes, for errors in one of their values.
        attrs = NodeAttrs(tail, name, op)
        if len(tail) <= _MAX_SHARED:
            if len(self._attrs) >= _MAX_CACHED:
                self._attrs.clear()
            self._attrs[tail] = attrs
        return attrs


class GraphScan:
    """The nodes of a serialized GraphDef in order, and then the rest of the GraphDef."""

    def __init__(self, data: memoryview, reader: NodeReader | None = None) -> None:
        self._data = data
        self._others: list[wire.Field] = []
        """The fields that are no nodes, so far."""
        self._reader = reader or NodeReader()
        self.place, self.end = 0, 0
        """The start and the end of the field of the last node read."""

    def rest(self) -> GraphDef:
        """Return the message without nodes, once all nodes were iterated."""
        return parse(GraphDef, b"".join(map(self._bytes, self._others)))

    def rest_without_functions(self) -> GraphDef:
        """Return the message without nodes and functions, once all nodes were iterated; the library stays, if only empty."""
        return parse(GraphDef, b"".join(map(self._without_functions, self._others)))

    def functions(self) -> Iterator[memoryview]:
        """Yield the serialized functions, once all nodes were iterated."""
        for field in filter(_is_library, self._others):
            yield from (self._data[part.start : part.end] for part in self._fields(field) if _is_function(part))

    def _without_functions(self, field: wire.Field) -> bytes | memoryview:
        if not _is_library(field):
            return self._bytes(field)
        kept = b"".join([self._bytes(part) for part in self._fields(field) if not _is_function(part)])
        return wire.bytes_field(field.number, kept)

    def _fields(self, field: wire.Field) -> Iterator[wire.Field]:
        return wire.fields(self._data, field.start, field.end)

    def _bytes(self, field: wire.Field) -> memoryview:
        return self._data[field.tag_start : field.end]

    def nodes(self) -> Iterator[LoadedNode]:
        """Yield all nodes; DataLossError for a damaged node."""
        position, end = 0, len(self._data)
        while position < end:
            # Bytes are indexed and sliced faster than a view, and a window of them is still in the processor's cache.
            window = bytes(self._data[position : position + _WINDOW])
            done = 0
            for start, end_of_node in _small_nodes(window):
                self.place, self.end, done = position + done, position + end_of_node, end_of_node
                yield self._reader.node(window, start, done)
            position += done
            if not done:
                position = yield from self._field(position)

    def _field(self, position: int) -> Generator[LoadedNode, None, int]:
        """Yield the node of the field at a position, of any kind and size; return the position after the field."""
        field = next(wire.fields(self._data, position))
        if field.number != GraphDef.NODE_FIELD_NUMBER or field.wire_type != wire.LENGTH_DELIMITED:
            self._others.append(field)
        else:
            self.place, self.end = position, field.end
            yield self._in_field(field)
        return field.end

    def _in_field(self, field: wire.Field) -> LoadedNode:
        if field.end - field.start <= LARGE_CONTENT:
            return _whole_node(parse(NodeDef, self._data[field.start : field.end]))
        return _whole_node(*_large_node(self._data, field.start, field.end))

    def versions(self) -> GraphDef:
        """Return the message with its version alone: the fields of the whole file are looked at, and no node is decoded."""
        numbers = (GraphDef.VERSIONS_FIELD_NUMBER, GraphDef.VERSION_FIELD_NUMBER)
        kept = (self._data[one.tag_start : one.end] for one in wire.fields(self._data) if one.number in numbers)
        return parse(GraphDef, b"".join(kept))

    def node_at(self, place: int) -> LoadedNode:
        """Return the node whose field begins at `place`."""
        return self._in_field(next(wire.fields(self._data, place)))

    def last_field(self) -> bytes:
        """Return the field of the last node read."""
        return bytes(self._data[self.place : self.end])

    def has_at(self, place: int, field: bytes) -> bool:
        """Return True if the field at a place equals another field."""
        return self._data[place : place + len(field)] == field


def _small_nodes(window: bytes) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each node at the beginning of a GraphDef's bytes, up to a field of another kind or size."""
    # The padding lets a length at the end of the window be read without a check of each index. The size then points behind the
    # window.
    padded = window + bytes(4)
    position = 0
    while padded[position] == _NODE:
        size, start = padded[position + 1], position + 2
        if size >= 0x80:
            second, start = padded[start], start + 1
            size = size & 0x7F | (second & 0x7F) << 7
            if second >= 0x80:
                size, start = size | padded[start] << 14, start + 1
        position = start + size
        if size > LARGE_CONTENT or position > len(window):
            return
        yield start, position


def _whole_node(proto: NodeDef, contents: Mapping[str, memoryview] | None = None) -> LoadedNode:
    """Return a node that protobuf has parsed completely."""
    return proto.name, proto.op, tuple(proto.input), proto.device, NodeAttrs(proto, proto.name, proto.op, contents)


def _large_node(data: memoryview, start: int, end: int) -> tuple[NodeDef, dict[str, memoryview]]:
    """Return a node without large constants, the `tensor` of an attribute, and views of the constants in the file."""
    rest = bytearray()
    contents: dict[str, memoryview] = {}
    for field in wire.fields(data, start, end):
        content = None
        if field.number == NodeDef.ATTR_FIELD_NUMBER and field.wire_type == wire.LENGTH_DELIMITED:
            content = _tensor_content(data, field)
        if content is None:
            rest += data[field.tag_start : field.end]
        else:
            key = _child(data, field, 1)
            # The message class refuses a key that is no UTF-8 afterwards, with its own error.
            name = "" if key is None else bytes(data[key.start : key.end]).decode("utf-8", "replace")
            entry = _cut(data, field, (2, AttrValue.TENSOR_FIELD_NUMBER), content)
            contents[name] = data[content.start : content.end]
            rest += wire.length_prefix(NodeDef.ATTR_FIELD_NUMBER, len(entry)) + entry
    return parse(NodeDef, rest), contents


def _child(data: memoryview, parent: wire.Field, number: int) -> wire.Field | None:
    """Return the last length-delimited field `number` of a message; in protobuf the last occurrence wins."""
    child = None
    for field in wire.fields(data, parent.start, parent.end):
        if field.number == number and field.wire_type == wire.LENGTH_DELIMITED:
            child = field
    return child


def _tensor_content(data: memoryview, entry: wire.Field) -> wire.Field | None:
    """Return the large tensor_content of a map entry of NodeDef.attr, or None."""
    field: wire.Field | None = entry
    for number in (2, AttrValue.TENSOR_FIELD_NUMBER, TensorProto.TENSOR_CONTENT_FIELD_NUMBER):
        field = _child(data, field, number) if field is not None else None
    return field if field is not None and field.end - field.start > LARGE_CONTENT else None


def _cut(data: memoryview, message: wire.Field, path: tuple[int, ...], content: wire.Field) -> bytes:
    """Return the payload of `message` without the field `content`, nested in the fields of `path`."""
    rest = bytearray()
    for field in wire.fields(data, message.start, message.end):
        if path and field.number == path[0] and field.start <= content.tag_start < field.end:
            inner = _cut(data, field, path[1:], content)
            rest += wire.length_prefix(field.number, len(inner)) + inner
        elif field.tag_start != content.tag_start:
            rest += data[field.tag_start : field.end]
    return bytes(rest)


def _is_library(field: wire.Field) -> bool:
    return field.number == GraphDef.LIBRARY_FIELD_NUMBER and field.wire_type == wire.LENGTH_DELIMITED


def _is_function(field: wire.Field) -> bool:
    return field.number == FunctionDefLibrary.FUNCTION_FIELD_NUMBER and field.wire_type == wire.LENGTH_DELIMITED


def function_name(data: memoryview) -> str:
    """Return the name of a serialized function."""
    signatures = [field.payload for field in wire.fields(data) if field.number == FunctionDef.SIGNATURE_FIELD_NUMBER]
    # A message that comes in pieces is their concatenation.
    return parse(OpDef, b"".join(signatures)).name


class PrintedScan:
    """The scan of a printed text, with the interface of `GraphScan`; OtherLayout if the text may be wrong or not
    printed.
    """

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._nodes = NodeReader()
        self._printed = PrintedReader(GraphDef.DESCRIPTOR)
        self._tails = PrintedReader(NodeDef.DESCRIPTOR, without=HEAD)
        self._attrs: dict[str, NodeAttrs] = {}
        self._words: dict[str, str] = {"": ""}
        self._behind: GraphScan

    def rest(self) -> GraphDef:
        """Return the message without nodes, once all nodes were iterated."""
        return self._behind.rest()

    def nodes(self) -> Iterator[LoadedNode]:
        """Yield all nodes; DataLossError for a damaged node."""
        position = 0
        # TensorFlow prints the nodes first; a text with other fields before them is read by the serializer of all fields.
        while self._data[position : position + len(_BEGIN)] == _BEGIN.encode():
            position += yield from self._in_window(self._window(position))
        text = _decoded(self._data[position:])
        self._behind = GraphScan(memoryview(self._printed.message(text, 0, len(text), 0)))
        yield from self._behind.nodes()

    def _window(self, position: int) -> str:
        """Return some whole messages from a position on."""
        size, last_end = _WINDOW, -1
        while last_end < 0:
            window = bytes(self._data[position : position + size])
            last_end = window.rfind(_END.encode())
            if last_end < 0 and len(window) < size:
                raise OtherLayout
            size *= 2
        return _decoded(window[: last_end + len(_END)])

    def _in_window(self, text: str) -> Generator[LoadedNode, None, int]:
        """Yield the nodes at the beginning of a text; return their size in bytes."""
        cached, share, match, length = self._attrs.get, self._words.setdefault, _HEAD.match, len(_END)
        start = 0
        while text.startswith(_BEGIN, start):
            end = text.index(_END, start) + length
            head = match(text, start, end)
            if head is None or end - head.end() > LARGE_CONTENT:
                # A node of any kind and size is read by its bytes.
                yield from GraphScan(memoryview(self._printed.message(text, start, end, 0)), self._nodes).nodes()
            else:
                name, op, inputs, device = head.groups("")
                attrs = cached(text[head.end() : end])
                if attrs is None:
                    attrs = self._new_attrs(text, head, end)
                spelled = tuple(inputs[len(_BEFORE) : -len(_AFTER)].split(_BETWEEN)) if inputs else ()
                yield name, share(op, op), spelled, share(device, device), attrs
            start = end
        # The caller counts bytes, and the positions here are of characters.
        return len((text if start == len(text) else text[:start]).encode())

    def _new_attrs(self, text: str, head: re.Match[str], end: int) -> NodeAttrs:
        """Return the attributes in a text that occurs for the first time."""
        tail = self._tails.message(text, head.end(), end - len("}\n"), 1)
        attrs = self._nodes.attrs(tail, head[1], head[2])
        if len(tail) <= _MAX_SHARED and len(self._attrs) < _MAX_CACHED:
            self._attrs[text[head.end() : end]] = attrs
        return attrs


def _decoded(text: memoryview | bytes) -> str:
    try:
        return str(text, "utf-8")
    except UnicodeDecodeError:
        raise OtherLayout from None
