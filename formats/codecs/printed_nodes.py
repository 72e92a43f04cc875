"""The nodes of a GraphDef in printed text, in order.

Most nodes differ from others in names only: each distinct text of attributes is parsed only once.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from typing import Final

from ..protos.graph_pb2 import GraphDef, NodeDef
from .attrs import HEAD, NodeAttrs
from .printed_text import OtherLayout, PrintedReader
from .scan import MAX_CACHED, MAX_SHARED, GraphScan, LoadedNode, NodeReader
from .tensor_proto import LARGE_CONTENT

_WINDOW: Final = 1 << 18
_BEGIN, _END = "node {\n", "\n}\n"
_BEFORE, _BETWEEN, _AFTER = '  input: "', '"\n  input: "', '"\n'
_STRING: Final = r'"([^"\\\n]*)"\n'
_HEAD: Final = re.compile(
    rf'{_BEGIN}  name: {_STRING}  op: {_STRING}((?:{_BEFORE}[^"\\\n]*{_AFTER})*)(?:  device: {_STRING})?'
)
"""A node up to the attributes, where no string has an escape."""


class PrintedScan:
    """The scan of a printed text, with the interface of `GraphScan`; OtherLayout where the text may be wrong or not
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
                yield self._by_bytes(text, start, end)
            else:
                name, op, inputs, device = head.groups("")
                attrs = cached(text[head.end() : end])
                if attrs is None:
                    attrs = self._new_attrs(text, head, end)
                spelled = tuple(inputs[len(_BEFORE) : -len(_AFTER)].split(_BETWEEN)) if inputs else ()
                yield name, share(op, op), spelled, share(device, device), attrs
            start = end
        return len((text if start == len(text) else text[:start]).encode())

    def _new_attrs(self, text: str, head: re.Match[str], end: int) -> NodeAttrs:
        """Return the attributes in a text that occurs for the first time."""
        tail = self._tails.message(text, head.end(), end - len("}\n"), 1)
        attrs = self._nodes.attrs(tail, head[1], head[2])
        if len(tail) <= MAX_SHARED and len(self._attrs) < MAX_CACHED:
            self._attrs[text[head.end() : end]] = attrs
        return attrs

    def _by_bytes(self, text: str, start: int, end: int) -> LoadedNode:
        """Return a node of any kind and size."""
        (node,) = GraphScan(memoryview(self._printed.message(text, start, end, 0)), self._nodes).nodes()
        return node


def _decoded(text: memoryview | bytes) -> str:
    try:
        return str(text, "utf-8")
    except UnicodeDecodeError:
        raise OtherLayout from None
