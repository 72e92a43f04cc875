"""Values and shapes for placeholders: a constant in the place of a placeholder, another static shape."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping, Sequence
from typing import Final

from ..graph.graph import Graph, Node
from ..graph.node_making import become_constant
from ..graph.traversal import descendants
from ..support.errors import InvalidArgumentError
from ..support.hints import Blank, Hint, option, step
from ..support.words import counted
from ..types.arrays import Array
from ..types.shapes import UNKNOWN, Shape, as_shape, merge_shapes
from ..types.tensors import Tensor
from .stated_sizes import drop_recorded_shapes, own_functions, places, reasons_of, state_shapes

_MOST_NAMED: Final = 8
"""The number of nodes that an error names."""


def set_placeholders(graph: Graph, values: Mapping[str, Array]) -> None:
    """Put constants in the place of placeholders, by the names of their tensors; a constant has the placeholder's name.

    InvalidArgumentError for a tensor of another op, and for a value of another shape than the placeholder declares.
    """
    for name, value in values.items():
        node = _placeholder(graph, name)
        tensor = Tensor.from_numpy(value, node.output().dtype)
        try:
            merge_shapes(declared_shape(node), Shape(tensor.shape))
        except InvalidArgumentError as error:
            hint = Hint(step("shape", name=name.removesuffix(":0"), sizes=Blank("SIZES")), " sets another shape")
            raise InvalidArgumentError(error.message, node=node.name, op=node.op, hint=hint) from None
        defaults = [source.node for source in node.inputs]
        become_constant(graph, node, tensor)
        graph.remove_nodes([default for default in defaults if default.is_constant and not default.uses])


def set_shapes(graph: Graph, shapes: Mapping[str, Shape], known: Collection[str] | None = None) -> None:
    """Give placeholders other static shapes, by the names of their tensors, and drop the shapes recorded behind them.

    InvalidArgumentError for a tensor of another op, and for a shape that the graph contradicts: it names each node that fixes
    another size, apart from those `known` to contradict the old shapes. A size that becomes unknown must be free: a graph that
    runs with the old size alone contradicts it.
    """
    nodes = {_placeholder(graph, name): shape for name, shape in shapes.items()}
    if not nodes:
        return
    before = {node: declared_shape(node) for node in nodes}
    known = reasons_of(places(graph)) if known is None else known
    own_functions(graph, descendants(nodes))
    drop_recorded_shapes(graph, nodes)
    trials = [{node: _tried(shape, before[node], size) for node, shape in nodes.items()} for size in _OTHER_SIZES]
    free = {node.name for node, shape in nodes.items() if trials[0][node] != shape}  # a default has one of the possible sizes
    contradictions = _contradictions(graph, trials[0], {*known, *free})
    if contradictions and (trials[0] == trials[1] or _contradictions(graph, trials[1], {*known, *free})):
        raise _contradicted(before, nodes, trials[0], contradictions)
    _write(nodes)
    state_shapes(graph, nodes)


def other_shapes(graph: Graph, shapes: Mapping[str, Sequence[int | None] | Shape]) -> dict[str, Shape]:
    """Return the shapes for placeholders that do not only complete the shapes which the placeholders declare."""
    given = {graph.output(name): as_shape(shape) for name, shape in shapes.items()}
    return {value.name: shape for value, shape in given.items() if value.node.is_placeholder and _is_other(value.node, shape)}


def _is_other(node: Node, shape: Shape) -> bool:
    old = declared_shape(node).dims
    return old is not None and (
        shape.dims is None
        or len(shape) != len(old)
        or any(isinstance(size, int) and size != new for size, new in zip(old, shape.dims))
    )


_OTHER_SIZES: Final[Sequence[Callable[[int], int]]] = (lambda size: 2 * size, lambda size: size + 1)
"""Functions from an old size to others, of which one must fit where the size becomes unknown."""


def _tried(shape: Shape, before: Shape, other: Callable[[int], int]) -> Shape:
    """Return a shape with another number for each unknown size that was a number before."""
    if shape.dims is None or before.dims is None or len(shape) != len(before):
        return shape
    pairs = zip(shape.dims, before.dims)
    return Shape(other(old) if isinstance(old, int) and not isinstance(dim, int) else dim for dim, old in pairs)


def _write(shapes: Mapping[Node, Shape]) -> None:
    for node, shape in shapes.items():
        node.set_attr("shape", shape)


def _contradictions(graph: Graph, shapes: Mapping[Node, Shape], known: Container[str]) -> dict[str, str]:
    """Return why inference ends with these shapes at nodes that are not `known`, by path."""
    _write(shapes)
    return {path: why for path, why in reasons_of(places(graph)).items() if path not in known}


def _contradicted(
    before: Mapping[Node, Shape], shapes: Mapping[Node, Shape], tried: Mapping[Node, Shape], reasons: Mapping[str, str]
) -> InvalidArgumentError:
    """Return the error that names the nodes that fix other sizes, with the reasons for the shapes that were tried."""
    lines = [f"'{path}': {why}" for path, why in reasons.items()]
    given = ", ".join(f"{node.name} {shape}" for node, shape in shapes.items())
    as_tried = ", ".join(f"{node.name} {shape}" for node, shape in tried.items())
    example = f", for instance as {as_tried}" if as_tried != given else ""
    has_batch = any(_rows(shape) != _rows(before[node]) for node, shape in shapes.items())
    return InvalidArgumentError(
        f"{given} does not fit {counted(len(lines), 'node')}{example}:",
        details=[*lines[:_MOST_NAMED], *([f"and {len(lines) - _MOST_NAMED} more"] if len(lines) > _MOST_NAMED else [])],
        hint=Hint(option("batch"), " changes the first size, also in the nodes that state it") if has_batch else None,
    )


def _rows(shape: Shape) -> int | None:
    """Return the first size of a shape, None for an unknown size."""
    first = shape[0] if shape.rank else None
    return first if isinstance(first, int) else None


def _placeholder(graph: Graph, name: str) -> Node:
    node = graph.output(name).node
    if not node.is_placeholder:
        raise InvalidArgumentError(
            "it is not a placeholder", node=node.name, op=node.op,
            hint=Hint(step("make_placeholder", tensor=name.removesuffix(":0")), " puts a placeholder in its place"),
        )  # fmt: skip
    return node


def declared_shape(node: Node) -> Shape:
    """Return the shape that a placeholder declares."""
    shape = node.attr_of(Shape, "shape")
    return UNKNOWN if shape is None else shape
