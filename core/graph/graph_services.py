"""The protocol by which a graph reaches the rooms above: bytes, files, and the parts that a model's user knows."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from ..support.errors import UnimplementedError

if TYPE_CHECKING:
    from .metagraph import Signature, SignatureTensor


class GraphServices(Protocol):
    """Services for graphs; `Graph` itself uses the services, so that its type cannot be named here."""

    def encode(self, graph: Any) -> bytes:
        """Return the GraphDef of a graph."""
        ...

    def decode(self, data: bytes) -> Any:
        """Return the graph in a GraphDef; a TfgError if the bytes hold no graph."""
        ...

    def load(self, path: str | os.PathLike[str]) -> Any:
        """Return the graph in a file or folder, as `tfg.load` does."""
        ...

    def signature(self, graph: Any, *, infers_shapes: bool) -> Signature:
        """Return the placeholders and outputs of a graph without a signature, with inferred shapes of outputs if asked."""
        ...

    def variables(self, graph: Any) -> Mapping[str, SignatureTensor]:
        """Return the variables of a graph by name, each with the tensor of its node, without handles that nothing uses."""
        ...


_provided: list[GraphServices] = []


def provide_services(services: GraphServices) -> None:
    """Set the services; the package does, since the package knows all rooms."""
    _provided[:] = [services]


def graph_services() -> GraphServices:
    """Return the services; UnimplementedError if none were provided."""
    if not _provided:
        raise UnimplementedError("the services of graphs are not installed")
    return _provided[0]
