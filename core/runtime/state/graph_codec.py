"""What kernels need to turn graphs into bytes and back; `formats` implements it, and the package says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ...support.errors import UnimplementedError

if TYPE_CHECKING:
    from ...graph.graph import Graph


class GraphCodec(Protocol):
    """Graphs as serialized GraphDefs."""

    def encode(self, graph: Graph) -> bytes:
        """The GraphDef of a graph."""
        ...

    def decode(self, data: bytes) -> Graph:
        """The graph in a GraphDef; a TfgError where it holds none."""
        ...


_codecs: list[GraphCodec] = []


def provide_codec(codec: GraphCodec) -> None:
    """Say what encodes and decodes; the package does, which knows the formats."""
    _codecs[:] = [codec]


def graph_codec() -> GraphCodec:
    """The codec; UnimplementedError where none was provided."""
    if not _codecs:
        raise UnimplementedError("nothing here encodes graphs")
    return _codecs[0]
