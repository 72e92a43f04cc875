"""Values of placeholders that are the parts of a sparse or ragged tensor: indices within the shape, splits that end at the
number of values.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..graph.graph import Graph, Node, Output
from ..inference.inference import Inference, infer
from ..registry.catalog import OpDef
from ..registry.op_facts import has_fact
from .value_readers import called_arguments, readers_of

_ROWS: Final = 8
"""The smallest size of a dimension in the shape of a sparse tensor: more than the number of drawn indices."""

_Reader = tuple[Node, int]


class CompositeFeeds:
    """The placeholders of `drawn` that ops read as indices, shapes and splits, by the argument names of the catalog.

    `inference` is an inference of the graph, if there is one.
    """

    def __init__(self, graph: Graph, drawn: Sequence[Node], inference: Inference | None = None) -> None:
        self.graph = graph
        self._known = inference
        sources: dict[Node, dict[str, list[Node | None]]] = {}
        for placeholder in drawn:
            for node, index in composite_readers(graph, placeholder.output()):
                if node.op_def is not None:
                    parts = sources.setdefault(node, _arguments(node.op_def, node))
                    _put(parts, node, index, placeholder)
        self.shapes = list(_sparse(sources))
        self.splits = list(_ragged(sources))

    def fitted(self, values: Mapping[Node, Any], most: int = sys.maxsize) -> dict[Node, Any]:
        """Return new values of indices, shapes and splits that fit the drawn values of all placeholders.

        What has more than `most` elements is left out.
        """
        large = {node for node, value in values.items() if np.size(value) > most}
        return {**dict(self._of_sparse(values, large)), **dict(self._of_ragged(values, large))}

    def _of_sparse(self, values: Mapping[Node, Any], large: Container[Node]) -> Iterator[tuple[Node, Any]]:
        """Yield shapes that hold all indices, and indices in order: a row each, in the first column."""
        for reader, indices, shape in self.shapes:
            if shape in large:
                continue
            count = 0 if indices is None else _length(values[indices])
            sizes = np.full(np.size(values[shape]), max(_ROWS, count), values[shape].dtype)
            if sizes.size > 1:
                sizes[-1] = self._columns(reader, indices) or sizes[-1]
            yield shape, sizes
            if indices is not None and indices not in large and np.ndim(values[indices]) == 2:
                table = np.zeros_like(values[indices])
                table[:, :1] = np.arange(count)[:, None]
                yield indices, table

    def _of_ragged(self, values: Mapping[Node, Any], large: Container[Node]) -> Iterator[tuple[Node, Any]]:
        """Yield splits from 0 to the number of values, or of rows that the next splits make."""
        inner = {splits for splits, _ in self.splits}
        for splits, divided in self.splits:
            count = 0 if divided is None else _length(values[divided]) - (divided in inner)
            if splits not in large and np.ndim(values[splits]) == 1:
                ends = np.linspace(0, max(count, 0), np.size(values[splits]))
                yield splits, ends.astype(values[splits].dtype)

    @functools.cached_property
    def _inference(self) -> Inference:
        return self._known or infer(self.graph)

    def _columns(self, reader: Node, indices: Node | None) -> int | None:
        """Return the number of rows of the matrix that a sparse matrix is multiplied with, if it is known."""
        if reader.name not in self.graph or self.graph[reader.name] is not reader:
            return None
        shapes = [self._inference.shape(value) for value in reader.inputs if value.node is not indices]
        sizes = [shape.dims[0] for shape in shapes if shape.dims is not None and len(shape.dims) == 2]
        return next((size for size in sizes if isinstance(size, int)), None)


def _length(value: Any) -> int:
    return len(value) if np.ndim(value) else 0


def _arguments(definition: OpDef, node: Node) -> dict[str, list[Node | None]]:
    return {arg.name: [None] * (node.attr(arg.number_attr) if arg.number_attr else 1) for arg in definition.inputs}


def _put(parts: dict[str, list[Node | None]], node: Node, index: int, placeholder: Node) -> None:
    """Note that an input of a node comes from a placeholder."""
    for own in parts.values():
        if index < len(own):
            own[index] = placeholder
            return
        index -= len(own)


def _sparse(sources: Mapping[Node, Mapping[str, Sequence[Node | None]]]) -> Iterator[tuple[Node, Node | None, Node]]:
    """Yield (reader, indices, shape) of sparse tensors: arguments `a_indices` and `a_shape` of an op, however called."""
    for reader, parts in sources.items():
        indices = [name for name in parts if name.endswith("indices")]
        shapes = [name for name in parts if name.endswith("shape")]
        for mine, shape in zip(indices, shapes):
            for a, b in zip(parts[mine], parts[shape]):
                if b is not None:
                    yield reader, a, b


def _ragged(sources: Mapping[Node, Mapping[str, Sequence[Node | None]]]) -> Iterator[tuple[Node, Node | None]]:
    """Yield row splits, each with what they divide: the next splits of a nested tensor, or the values."""
    for parts in sources.values():
        splits = [
            one
            for name, own in parts.items()
            if (name.endswith("splits") and name != "size_splits") or "row_partition" in name
            for one in own
        ]
        values = next((own[0] for name, own in parts.items() if name.endswith("values")), None)
        yield from ((one, after) for one, after in zip(splits, [*splits[1:], values]) if one is not None)


def composite_readers(graph: Graph, value: Output) -> Iterator[_Reader]:
    """Yield the nodes that read a value, with the number of the input, through copies, casts, reshapes and calls."""
    readers = readers_of(value, functools.partial(_passed_on, graph))
    return ((reader, place) for reader, places in readers for place in places)


def _passed_on(graph: Graph, node: Node, places: Sequence[int]) -> Iterator[Output]:
    yield from called_arguments(graph, node, places)
    if places[0] == 0 and _forwards(node):
        yield node.output()


def _forwards(node: Node) -> bool:
    is_reshaped = has_fact(node.op, "view") and has_fact(node.op, "alias_view")
    return node.is_identity or is_reshaped or (has_fact(node.op, "elementwise") and len(node.inputs) == 1)
