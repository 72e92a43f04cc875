"""Nodes as parts of a GraphDef, as bytes and as text; attributes that many nodes share are encoded once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Generic, TypeVar

from ..core.codecs import wire
from ..core.graph.graph import Node
from .codecs.attrs import NodeAttrs
from .codecs.node_def import complete_proto, encode_node, input_texts, node_chunks
from .codecs.textformat import print_text
from .protos.graph_pb2 import GraphDef, NodeDef

_T = TypeVar("_T", str, bytes)

_MAX_CACHED: Final = 10_000
_PLAIN: Final = re.compile(r"[\w./:^>@-]*", re.ASCII)
"""Words that the text format prints unchanged."""
_FIRST_LINE, _LAST_LINE = "node {\n", "}\n"


class _Encoded(Generic[_T]):
    """A cache of encoded attributes, for the following nodes that share the attributes."""

    def __init__(self, encode: Callable[[NodeDef], _T]) -> None:
        self._encode: Callable[[NodeDef], _T] = encode
        self._cache: dict[int, tuple[NodeAttrs, _T]] = {}

    def of(self, attrs: NodeAttrs) -> _T:
        entry = self._cache.get(id(attrs))
        if entry is None:
            if len(self._cache) >= _MAX_CACHED:
                self._cache.clear()
            entry = self._cache[id(attrs)] = attrs, self._encode(attrs.bare())
        return entry[1]


def _unchanged_attrs(node: Node) -> NodeAttrs | None:
    """Return a node's attributes where they are unchanged since loading, and none of them is still in the file."""
    attrs = node.source
    return attrs if isinstance(attrs, NodeAttrs) and attrs is node.attrs and not attrs.contents else None


class NodeWriter:
    """Nodes as serialized fields of a GraphDef; map entries are in the order of their keys."""

    def __init__(self) -> None:
        self._attrs = _Encoded(lambda proto: proto.SerializeToString(deterministic=True))

    def chunks(self, node: Node) -> Iterator[bytes | memoryview]:
        """Yield the field in pieces; contents that were left in the file are never copied."""
        attrs = _unchanged_attrs(node)
        if attrs is not None:
            yield wire.bytes_field(GraphDef.NODE_FIELD_NUMBER, _head(node) + self._attrs.of(attrs))
            return
        pieces = list(node_chunks(encode_node(node, input_texts(node))))
        yield wire.length_prefix(GraphDef.NODE_FIELD_NUMBER, sum(map(len, pieces)))
        yield from pieces


def _head(node: Node) -> bytes:
    """Return the fields of a NodeDef that come before the attributes."""
    pieces = [
        wire.string_field(NodeDef.NAME_FIELD_NUMBER, node.name.encode()),
        wire.string_field(NodeDef.OP_FIELD_NUMBER, node.op.encode()),
        *(wire.bytes_field(NodeDef.INPUT_FIELD_NUMBER, text.encode()) for text in input_texts(node)),
        wire.string_field(NodeDef.DEVICE_FIELD_NUMBER, node.device.encode()),
    ]
    return b"".join(pieces)


class NodePrinter:
    """Nodes in protobuf's text format, as in a GraphDef: `node { ... }`."""

    def __init__(self) -> None:
        self._attrs = _Encoded(lambda proto: _inner(GraphDef(node=[proto])))

    def text(self, node: Node) -> str:
        """Return the text of a node."""
        attrs = _unchanged_attrs(node)
        if attrs is None:
            return print_text(GraphDef(node=[complete_proto(encode_node(node, input_texts(node)))]))
        return f"{_FIRST_LINE}{_printed_head(node, input_texts(node))}{self._attrs.of(attrs)}{_LAST_LINE}"


def _inner(graph: GraphDef) -> str:
    """Return the printed fields of a graph's only node."""
    return print_text(graph).removeprefix(_FIRST_LINE).removesuffix(_LAST_LINE)


def _printed_head(node: Node, inputs: Sequence[str]) -> str:
    if not all(map(_PLAIN.fullmatch, (node.name, node.op, *inputs, node.device))):
        return _inner(GraphDef(node=[NodeDef(name=node.name, op=node.op, input=inputs, device=node.device)]))
    lines = [
        f'  name: "{node.name}"\n' if node.name else "",
        f'  op: "{node.op}"\n' if node.op else "",
        *(f'  input: "{text}"\n' for text in inputs),
        f'  device: "{node.device}"\n' if node.device else "",
    ]
    return "".join(lines)
