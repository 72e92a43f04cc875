"""The shapes of placeholders: declared by the graph, given by the user, and symbols for the rest, with their meanings."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..graph.graph import Graph, Node, Output
from ..graph.traversal import nodes_of_kind
from ..inference.estimates import Estimate
from ..support.errors import InvalidArgumentError, TfgError
from ..types.dims import Dim
from ..types.shapes import UNKNOWN, Shape, TensorSpec, as_shape, merge_shapes

Shapes = Mapping[str, Sequence[int | None] | Shape]
_MAX_FED_ELEMENTS: Final = 64


def symbolic_placeholders(graph: Graph, shapes: Shapes, symbols: Symbols) -> dict[Output, TensorSpec]:
    """Return the specs of all placeholders, and of other tensors in `shapes`, with symbols for unknown dimensions.

    Raises InvalidArgumentError for a shape of a tensor that the graph lacks, or that contradicts a placeholder's
    declaration.
    """
    user_shapes = {graph.output(name): as_shape(shape) for name, shape in shapes.items()}
    specs: dict[Output, TensorSpec] = {}
    for node in nodes_of_kind(graph, lambda kind: kind.is_placeholder):
        declared = as_shape(node.attr("shape"))
        shape = merge_given_shape(node.output(), user_shapes.pop(node.output(), UNKNOWN), declared)
        specs[node.output()] = TensorSpec(node.output_dtypes[0], _symbolic(node, shape, symbols))
    for output, shape in user_shapes.items():
        if output.dtype is None:
            raise InvalidArgumentError(f"the dtype of '{output}' is unknown", node=output.node.name, op=output.node.op)
        specs[output] = TensorSpec(output.dtype.base, _symbolic(output.node, shape, symbols))
    return specs


def merge_given_shape(output: Output, user_shape: Shape, graph_shape: Shape) -> Shape:
    """Return the more definite of the user's shape and the graph's; InvalidArgumentError names both where they conflict."""
    try:
        return merge_shapes(user_shape, graph_shape)
    except TfgError:
        raise InvalidArgumentError(
            f"the shape {user_shape} given for '{output}' contradicts the shape {graph_shape} of the graph",
            node=output.node.name,
            op=output.node.op,
        ) from None


def fed_values(
    graph: Graph, known: Mapping[Output, TensorSpec], values: Mapping[str, np.ndarray[Any, Any]]
) -> dict[Output, TensorSpec]:
    """Return the specs of fed tensors with values: few integers or truth values, on whose values other shapes may depend."""
    specs: dict[Output, TensorSpec] = {}
    for name, feed in values.items():
        output, value = graph.output(name), np.asarray(feed)
        if value.dtype.kind in "iub" and value.size <= _MAX_FED_ELEMENTS and output.dtype is not None:
            # The value has a shape, which must fit the one that was given or declared.
            shape = merge_given_shape(output, Shape(value.shape), known[output].shape if output in known else UNKNOWN)
            specs[output] = TensorSpec(output.dtype.base, shape, value)
    return specs


def require_consistent_shapes(graph: Graph, shapes: Shapes, inference: Estimate) -> None:
    """Raise InvalidArgumentError for a given shape that contradicts the inferred shape."""
    for name, shape in shapes.items():
        output = graph.output(name)
        if output in inference.specs:
            merge_given_shape(output, as_shape(shape), inference.shape(output))


def _symbolic(node: Node, shape: Shape, symbols: Symbols) -> Shape:
    """Return the shape with a symbol for each unknown dimension: N for the first, others called after the placeholder."""
    if shape.dims is None:
        return shape
    return Shape([dim if isinstance(dim, int) else _symbol(node, axis, symbols) for axis, dim in enumerate(shape.dims)])


def _symbol(node: Node, axis: int, symbols: Symbols) -> Dim:
    # A graph does not say which dimension is the batch. By convention it is the first, and the same for all inputs, so that
    # costs of all nodes add up to one term.
    if axis == 0:
        return symbols.shared("N", "the batch: dimension 0 of every placeholder")
    return symbols.claim(f"{{}}_{axis}", node.name, node, lambda _: f"dimension {axis} of placeholder {node.name}")


# Symbols for unknown numbers: handed out once to each owner, with a text that explains the meaning.


class Symbols:
    """The symbols of a count."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        """The meaning of each symbol."""
        self._owners: dict[str, Hashable] = {}
        self._claimed: dict[tuple[str, Hashable], str] = {}

    def shared(self, symbol: str, text: str) -> Dim:
        """Return a symbol that stands for the same number at every use."""
        self.texts.setdefault(symbol, text)
        return Dim.symbol(symbol)

    def claim(self, form: str, path: str, owner: Hashable, meaning: Callable[[str], str]) -> Dim:
        """Return the symbol of `owner`: `form` with the shortest free end of `path`, of which `meaning` makes the text."""
        symbol = self._claimed.get((form, owner))
        if symbol is None:
            # The shortest end of the path, so that formulas stay short: only names that clash get longer.
            label = next(label for label in _labels(path) if form.replace("{}", label) not in self._owners)
            symbol = self._claimed[form, owner] = form.replace("{}", label)
            self._owners[symbol] = owner
            self.texts[symbol] = meaning(label)
        return Dim.symbol(symbol)


def _labels(path: str) -> Iterator[str]:
    """Yield `c`, `b/c`, `a/b/c` of `a/b/c`, then the whole path with numbers."""
    parts = path.split("/")
    yield from ("/".join(parts[-count:]) for count in range(1, len(parts) + 1))
    yield from (f"{path}#{number}" for number in itertools.count(2))
