"""A graph in a few words, and the parts of it that a model's user knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from ..registry.op_facts import has_fact
from ..support.display import Pictured
from ..support.errors import MissingKeyError
from ..support.words import counted
from .graph_services import graph_services

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy as np

    from .metagraph import MetaGraph, Signature, SignatureTensor
    from .node import Node


_LARGEST: Final = 100_000
"""The number of nodes up to which inputs and outputs are counted."""


class Summarized(Pictured):
    """A graph with a short `repr`, and tables and a picture in a notebook."""

    meta: MetaGraph | None
    file: str = ""
    """The name of the file or folder that the graph was loaded from."""

    _nodes: dict[str, Node]

    def __iter__(self) -> Iterator[Node]:
        raise NotImplementedError

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes in the order of the graph, without those in functions."""
        return tuple(self)

    @property
    def signatures(self) -> Mapping[str, Signature]:
        """The signatures of a SavedModel by name, with the dtype and shape of each input and output."""
        return {} if self.meta is None else self.meta.signatures

    @property
    def inputs(self) -> Mapping[str, SignatureTensor]:
        """The inputs of the usual signature by name, with dtype and shape; without such a signature, the placeholders."""
        return self._signature(infers_shapes=False).inputs

    @property
    def outputs(self) -> Mapping[str, SignatureTensor]:
        """The outputs of the usual signature by name, with dtype and shape; without such a signature, those of `explain`."""
        return self._signature(infers_shapes=True).outputs

    @property
    def variables(self) -> Mapping[str, SignatureTensor]:
        """The variables by name, with dtype, shape and the tensor of the node. A session has their values."""
        return graph_services().variables(self)

    def _signature(self, *, infers_shapes: bool) -> Signature:
        usual = None if self.meta is None else self.meta.usual_signature
        return graph_services().signature(self, infers_shapes=infers_shapes) if usual is None else usual

    @property
    def constants(self) -> Constants:
        """The values of the Const nodes by name, as NumPy arrays."""
        return Constants(self._nodes)

    def __repr__(self) -> str:
        name = f"{self.file}: " if self.file else ""
        return f"<Graph {name}{', '.join([counted(len(self._nodes), 'node'), *_parts(self)])}>"


def _parts(graph: Summarized) -> list[str]:
    """Return `1 input`, `1 output`, or the number of signatures and variables; of a large graph nothing."""
    nodes = graph.nodes
    # `repr` is called by debuggers and notebooks, and must be quick.
    if len(nodes) > _LARGEST:
        return []
    variables = len(graph.variables) if any(has_fact(node.op, "variable") for node in nodes) else 0
    parts = [counted(variables, "variable")] if variables else []
    if graph.signatures:
        return [*parts, counted(len(graph.signatures), "signature")]
    inputs = sum(node.is_placeholder for node in nodes)
    parts = [counted(inputs, "input"), *parts]
    return parts if variables else [*parts, counted(len(outputs(nodes)), "output")]


def outputs(nodes: Collection[Node]) -> list[Node]:
    """Return the nodes with an output that no node takes, constants and placeholders left out."""
    taken = {name.partition(":")[0] for node in nodes for name in node.input_names()[0]}
    # By names, so that the nodes of a file need not be linked for a `repr`.
    ends = [node for node in nodes if node.name not in taken and not (node.is_constant or node.is_placeholder)]
    return [node for node in ends if node.op_def is None or node.op_def.outputs]


# The constants of a graph as arrays by name.


class Constants(Mapping[str, "np.ndarray[Any, Any]"]):
    """The values of a graph's Const nodes by name; a value is decoded and copied when it is asked for.

    NotFoundError, also a KeyError, names the nearest constants for a name that no constant has.
    """

    def __init__(self, nodes: Mapping[str, Node]) -> None:
        self._nodes = nodes

    def __getitem__(self, name: str) -> np.ndarray[Any, Any]:
        node = self._nodes.get(name)
        if node is None or not node.is_constant:
            raise MissingKeyError.of("constant", name, self)
        return node.constant_value().copy()

    def __iter__(self) -> Iterator[str]:
        return (name for name, node in self._nodes.items() if node.is_constant)

    def __len__(self) -> int:
        return sum(node.is_constant for node in self._nodes.values())

    def __repr__(self) -> str:
        return f"<Constants: {len(self):,}>"
