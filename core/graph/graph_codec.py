"""The protocol by which kernels and `pickle` turn graphs into bytes and back; `formats` implements the protocol."""

from __future__ import annotations

from typing import Any, Protocol

from ..support.errors import UnimplementedError


class GraphCodec(Protocol):
    """Graphs as serialized GraphDefs; `Graph` itself uses the codec, so that its type cannot be named here."""

    def encode(self, graph: Any) -> bytes:
        """Return the GraphDef of a graph."""
        ...

    def decode(self, data: bytes) -> Any:
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
