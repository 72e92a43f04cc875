"""The protocol by which kernels turn graphs into bytes and back; `formats` implements the protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ...support.errors import UnimplementedError

if TYPE_CHECKING:
    from ...graph.graph import Graph


class GraphCodec(Protocol):
    """Graphs as serialized GraphDefs."""

    def encode(self, graph: Graph) -> bytes:
        """Return the GraphDef of a graph."""
        ...

    def decode(self, data: bytes) -> Graph:
        """Return the graph in a GraphDef; a TfgError where the bytes hold no graph."""
        ...


_codecs: list[GraphCodec] = []


def provide_codec(codec: GraphCodec) -> None:
    """Set the codec; the package does, since the package knows the formats."""
    _codecs[:] = [codec]


def graph_codec() -> GraphCodec:
    """Return the codec; UnimplementedError where none was provided."""
    if not _codecs:
        raise UnimplementedError("the graph codec is not installed")
    return _codecs[0]
