"""Examples of feeds as texts: sizes that constants require, integers within their tables, parts that fit together."""

from __future__ import annotations

import itertools
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..graph.graph import Graph, Node
from ..inference.binding import named_inputs
from ..inference.inference import Inference
from ..support import dataclasses
from ..types.dtypes import string
from ..types.example_values import example_value
from ..types.shapes import Shape, as_shape
from .composite_feeds import CompositeFeeds, composite_readers
from .drawn_feeds import likely_shape
from .feed_plans import DrawingPlan, sizes_of
from .fitting_sizes import fits, fitting_sizes
from .readable_texts import example_text

_TABLES: Final[Mapping[tuple[str, str], int]] = {
    ("indices", "params"): 0, ("indices", "resource"): 0, ("labels", "features"): -1, ("targets", "predictions"): -1,
}  # fmt: skip
"""The dimension of an argument that bounds the integers of another argument of the op, by the names of both."""

_PLACES: Final = (
    "indices", "labels", "targets", "segment_ids", "axis", "dimension", "dim", "reduction_indices", "split_dim", "concat_dim",
)  # fmt: skip
"""Arguments whose integers count rows, classes or dimensions: 0 is valid where no table is known."""

_VISITS: Final = 40_000
"""The number of nodes that the search for sizes may visit: an explanation should not wait for it."""

_MOST_RANKS: Final = 5
"""The number of ranks that are tried for placeholders of unknown rank."""

_MOST_LISTED: Final = 64
"""The largest number of elements of a value that is written out."""

_MOST_COUNTED: Final = sys.maxsize // 8
"""The largest number of elements in an array of 64-bit integers."""


@dataclasses.dataclass(frozen=True, slots=True)
class Input:
    """A placeholder or an argument of a function, with the dtype and the shape that a caller knows."""

    node: Node
    dtype: str
    shape: Shape


def example_feeds(graph: Graph, inputs: Sequence[Input], inference: Inference | None = None) -> dict[Node, str]:
    """Return a text for --feed of each input. With an inference of the graph, sizes fit its constants and variables."""
    composites = CompositeFeeds(graph, [one.node for one in inputs], inference)
    smallest = 2 if composites.splits or composites.shapes else 1
    sizes = _sizes(graph, inputs, smallest, inference)
    listed = composites.fitted({one.node: _zeros(sizes[one.node]) for one in inputs}, _MOST_LISTED)
    return {
        one.node: json.dumps(listed[one.node].tolist())
        if one.node in listed
        else _text(graph, one, sizes[one.node], inference)
        for one in inputs
    }


def _zeros(sizes: Sequence[int]) -> np.ndarray[Any, Any]:
    """Return zeros without memory of their own: a placeholder may declare terabytes, and more than NumPy can count."""
    if math.prod(sizes) > _MOST_COUNTED:
        sizes = [min(sizes[0], _MOST_COUNTED), *[1] * (len(sizes) - 1)]
    return np.broadcast_to(np.int64(0), sizes)


def _sizes(graph: Graph, inputs: Sequence[Input], smallest: int, inference: Inference | None) -> Mapping[Node, Sequence[int]]:
    """Return sizes that fit; placeholders of unknown rank get the smallest rank that no shape function refuses."""
    first = _sizes_of_rank(0, graph, inputs, smallest, inference)
    unranked = [one.node for one in inputs if one.shape.dims is None and one.node.is_placeholder]
    if inference is None or not unranked or len(graph) > _VISITS // _MOST_RANKS:
        return first
    tried = itertools.chain([first], (_sizes_of_rank(n, graph, inputs, smallest, inference) for n in range(1, _MOST_RANKS)))
    return next((sizes for sizes in tried if fits(graph, sizes, inference)), first)


def _sizes_of_rank(
    rank: int, graph: Graph, inputs: Sequence[Input], smallest: int, inference: Inference | None
) -> Mapping[Node, Sequence[int]]:
    plan, counter = DrawingPlan(smallest, smallest), itertools.count()
    shapes = {one.node: likely_shape(one.node, one.shape, rank) for one in inputs}
    sizes = {node: sizes_of(shape, number, plan, counter) for number, (node, shape) in enumerate(shapes.items())}
    free = {
        node: [axis for axis, dim in enumerate(shape) if not isinstance(dim, int)]
        for node, shape in shapes.items()
        if node.is_placeholder
    }
    if inference is None:
        return sizes
    fitted = fitting_sizes(graph, {node: sizes[node] for node in free}, free, _VISITS // max(len(graph), 1), inference)
    return {**sizes, **fitted}


def _text(graph: Graph, one: Input, sizes: Sequence[int], inference: Inference | None) -> str:
    if one.dtype == string.name:
        return example_text(graph, one.node.output(), sizes)
    is_integer = one.dtype.startswith(("int", "uint"))
    high = min(_bounds(graph, one.node, inference), default=None) if is_integer else None
    return example_value(one.dtype, as_shape(list(sizes)), high)


def _bounds(graph: Graph, node: Node, inference: Inference | None) -> Iterator[int]:
    """Yield the numbers of rows, classes or dimensions that readers of an integer count: 1 where the number is unknown."""
    for reader, place in composite_readers(graph, node.output()):
        names = [name for name, _ in named_inputs(reader)]
        name = names[place] if place < len(names) else None
        if name in _PLACES:
            yield next(_table_sizes(reader, name, inference), 1)


def _table_sizes(reader: Node, name: str, inference: Inference | None) -> Iterator[int]:
    """Yield the number of rows or classes of the table that an argument of a node counts, as far as it is known."""
    arguments = dict(named_inputs(reader))
    for (own, table), dimension in _TABLES.items():
        if inference is None or own != name or table not in arguments:
            continue
        spec = inference.specs[arguments[table]]
        shape = spec.handle[0].shape if spec.handle else spec.shape
        axis = inference.specs[arguments["axis"]].value if "axis" in arguments else dimension
        size = shape.dims[int(axis)] if shape.dims and axis is not None else None
        if isinstance(size, int) and size > 0:
            yield size
