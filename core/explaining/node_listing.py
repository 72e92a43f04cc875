"""Records of nodes in plain values: the only source of dump's tables, lines and JSON."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..graph.graph import Function, Graph, GraphLike, Node, as_graph
from ..graph.traversal import predecessors, reachable, topological_order
from ..registry.catalog import CATALOG, AttrDef
from ..support import dataclasses
from ..support.arguments import checked, expect, regular_expression
from ..support.display import Report
from ..support.errors import InvalidArgumentError, NotFoundError
from ..support.hints import Hint, option, step
from ..support.keyed_cache import KeyedCache
from ..support.words import counted
from ..types.shapes import Shape
from ..types.tensors import FuncRef, Tensor

if TYPE_CHECKING:
    from ..inference.inference import Inference

MAX_PREVIEW = 8
MOST_ALIKE: Final = 1000
"""Kinds of alike nodes that are remembered: a graph has tens to hundreds."""
RECORDED_SHAPES: Final = "_output_shapes"
"""The attribute in which an export notes the shapes of a node's outputs."""
_NOISE: frozenset[str | None] = frozenset([RECORDED_SHAPES, "_has_manual_control_dependencies"])


@dataclasses.dataclass(frozen=True, slots=True)
class OutputRecord:
    """The dtype of an output, and the shape as far as known."""

    dtype: str
    """The name of the dtype."""
    shape: Shape
    """The shape as far as known."""

    def __str__(self) -> str:
        return f"{self.dtype} {'?' if self.shape.dims is None else self.shape}"


@dataclasses.dataclass(frozen=True, slots=True)
class NodeRecord:
    """A node of a graph, or of a function's body."""

    name: str
    """The name of the node."""
    op: str
    """The op of the node."""
    inputs: tuple[str, ...]
    """The tensors that the node reads, in order."""
    control_inputs: tuple[str, ...]
    """The nodes that run before, without a `^`."""
    device: str
    """The device that the graph asks for, or ""."""
    colocation: tuple[str, ...]
    """The nodes whose device the node shares."""
    outputs: tuple[OutputRecord, ...]
    """The outputs with their dtypes and shapes."""
    attributes: Mapping[str, Any]
    """The attributes by name."""
    function: str | None = None
    """The function in whose body the node is; None for the graph itself."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """Return data inputs, then control inputs with their `^`."""
        return self.inputs if not self.control_inputs else self.inputs + tuple(f"^{name}" for name in self.control_inputs)

    @property
    def line(self) -> str:
        """Return the node on a line: `y = MatMul(x, w/read, ^init) {transpose_b=true} -> float (2,3) on /cpu:0`."""
        text = f"{self.name} = {self.op}({', '.join(self.arguments)})"
        if self.attributes:
            text += f" {{{attribute_text(self.attributes)}}}"
        if self.outputs:
            text += f" -> {', '.join(map(str, self.outputs))}"
        return text + (f" on {self.device}" if self.device else "")


@dataclasses.dataclass(frozen=True, slots=True)
class NodeFilter:
    """A filter of nodes; an empty field lets all nodes pass.

    `name`, `exclude` and `device` are regular expressions to be found, or not, in a node's name or device; `op` must match
    the whole type. `scope` is a name scope. `among` holds the only nodes that may pass in the graph of its members.
    """

    name: str = ""
    op: str = ""
    scope: str = ""
    exclude: str = ""
    device: str = ""
    among: frozenset[Node] | None = None

    @property
    def is_empty(self) -> bool:
        return self == ALL_NODES

    def apply(self, nodes: Iterable[Node]) -> Iterator[Node]:
        """Yield the nodes that pass; InvalidArgumentError for a bad regular expression."""
        if self.is_empty:
            yield from nodes
            return
        tests = list(self._tests())
        yield from (node for node in nodes if all(test(node) for test in tests))

    def _tests(self) -> Iterator[Callable[[Node], object]]:
        """Yield the tests that a node has to pass."""
        # Compiled before the first node, so that a bad expression is an error also if no node is left to test.
        name, op, exclude, device = map(regular_expression, (self.name, self.op, self.exclude, self.device))
        scope, among = self.scope.rstrip("/"), self.among
        if among is not None:
            yield lambda node: node in among
        if scope:
            yield lambda node: node.name == scope or node.name.startswith(scope + "/")
        if self.name:
            yield lambda node: name.search(node.name)
        if self.op:
            yield lambda node: op.fullmatch(node.op)
        if self.exclude:
            yield lambda node: not exclude.search(node.name)
        if self.device:
            yield lambda node: device.search(node.device)


ALL_NODES: Final = NodeFilter()


def narrowed(graph: Graph, chosen: NodeFilter, to: Iterable[str] = (), around: str | None = None, hops: int = 2) -> NodeFilter:
    """Return the filter narrowed to nodes that fetching any of `to` needs and that lie within `hops` edges of `around`."""
    among = None
    if to := tuple(to):
        among = reachable([graph.node_of(name) for name in to])
    if around is not None:
        near = _near(graph.node_of(around), hops)
        among = near if among is None else among & near
    return chosen if among is None else dataclasses.replace(chosen, among=frozenset(among))


def _near(node: Node, hops: int) -> set[Node]:
    near = {node}
    for _ in range(hops):
        # Along edges of both directions: around a node are its readers and what it reads.
        near |= {n for node in near for n in (*node.uses, *predecessors(node))}
    return near


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class NodeListing(Report, main_table="nodes"):
    """The nodes of a graph, and the nodes of each function's body."""

    nodes: tuple[NodeRecord, ...]
    functions: Mapping[str, tuple[NodeRecord, ...]]

    def headline(self) -> str:
        return f"{counted(len(self.nodes), 'node')}, {counted(len(self.functions), 'function')}"


_KEYS: Final[Mapping[str, Callable[[Node], tuple[str, ...]]]] = {
    "name": lambda node: (node.name,),
    "op": lambda node: (node.op, node.name),
    "device": lambda node: (node.device, node.name),
}
ORDERS: Final = ("graph", "topological", *_KEYS)
"""The orders of `list_nodes`."""


@checked
def list_nodes(
    graph: GraphLike,
    *,
    name: str = "",
    op: str = "",
    scope: str = "",
    exclude: str = "",
    device: str = "",
    to: Sequence[str] | str = (),
    around: str | None = None,
    hops: int = 2,
    shapes: bool = False,
    order: str = "graph",
) -> NodeListing:
    """Return records of the nodes of a graph and of its functions, all of them or the nodes that pass all filters.

    `name`, `exclude` and `device` are regular expressions to be found, or not, in a node's name or device; `op` must match
    the whole type, `scope` is a name scope. `to` keeps the nodes that these tensors need, `around` the nodes up to `hops`
    edges from a node. `shapes` infers the shapes of outputs; without it they are the declared shapes. `order` is `graph`,
    `topological`, `name`, `op` or `device`. NotFoundError if no node passes, InvalidArgumentError for a bad expression or
    order.
    """
    graph = as_graph(graph)
    if order not in ORDERS:
        raise InvalidArgumentError(f"unknown order '{order}'", hint=f"the orders are {', '.join(ORDERS)}")
    needed = (to,) if isinstance(to, str) else tuple(to)
    expect(str, *needed)
    chosen = narrowed(graph, NodeFilter(name, op, scope, exclude, device), needed, around, hops)
    nodes = tuple(record_nodes(ordered(chosen.apply(graph), order), graph if shapes else None))
    functions = {function.name: bodies for function, bodies in function_records(graph.functions.values(), chosen)}
    require_nodes([*nodes, *functions.values()], chosen)
    return NodeListing(nodes, functions)


def ordered(nodes: Iterable[Node], order: str) -> Iterable[Node]:
    """Return nodes in one of the ORDERS."""
    if order == "topological":
        return topological_order(nodes)
    return sorted(nodes, key=_KEYS[order]) if order in _KEYS else nodes


def record_nodes(nodes: Iterable[Node], inferred: Graph | None = None) -> Iterator[NodeRecord]:
    """Yield the records of nodes, with inferred shapes if the graph of the nodes is given."""
    inference = None
    if inferred is not None:
        # Here, as a dump without shapes imports neither inference nor NumPy.
        from ..inference.inference import infer

        inference = infer(inferred)
    alike = Alike()
    return (node_record(node, inference, alike=alike) for node in nodes)


def function_records(
    functions: Iterable[Function], chosen: NodeFilter = ALL_NODES
) -> Iterator[tuple[Function, tuple[NodeRecord, ...]]]:
    """Yield each function with the records of the body; a function without a node that passes is left out."""
    alike = Alike()
    for function in functions:
        records = tuple([node_record(node, None, function.name, alike) for node in chosen.apply(function.pattern.body)])
        # A function without nodes is listed if no filter asks for nodes.
        if records or chosen.is_empty:
            yield function, records


class _Common(NamedTuple):
    """The parts of a record that nodes with the same attributes share; the attributes are kept, so that their `id` stays."""

    attrs: Mapping[str, Any]
    colocation: tuple[str, ...]
    outputs: tuple[OutputRecord, ...]
    shown: dict[str, Any]


class Alike(KeyedCache[tuple[str, int], _Common]):
    """What the records of nodes share, by op and identity of the attributes."""

    def __init__(self) -> None:
        super().__init__(MOST_ALIKE)


def node_record(
    node: Node, inference: Inference | None = None, function: str | None = None, alike: Alike | None = None
) -> NodeRecord:
    """Return the record of a node; many records share their equal parts by `alike`."""
    inputs, controls = node.input_names()
    key = node.op, id(node.attrs)
    common = None if alike is None else alike.get(key)
    if common is None:
        shown = {name: value for name, value in node.attrs.items() if name != "_class"}
        common = _Common(node.attrs, node.colocation, _outputs(node, None), shown)
        # A node without inputs may have a value of its own, which would only fill the cache.
        if alike is not None and inputs:
            alike[key] = common
    outputs = common.outputs if inference is None else _outputs(node, inference)
    return NodeRecord(
        node.name, node.op, tuple(inputs), tuple(controls), node.device,
        common.colocation, outputs, common.shown, function,
    )  # fmt: skip


def _outputs(node: Node, inference: Inference | None) -> tuple[OutputRecord, ...]:
    try:
        output_dtypes = node.output_dtypes
    # The body of a polymorphic function lacks the types that a call gives.
    except InvalidArgumentError:
        return ()
    if inference is not None:
        return tuple(OutputRecord(str(dtype), inference.shape(node.output(i))) for i, dtype in enumerate(output_dtypes))
    shapes = declared_shapes(node, len(output_dtypes))
    return tuple(OutputRecord(str(dtype), shape) for dtype, shape in zip(output_dtypes, shapes))


def declared_shapes(node: Node, count: int) -> Sequence[Shape]:
    """Return the shapes that the node's own attributes tell, without inference."""
    recorded = node.attr_of(list, RECORDED_SHAPES) or ()
    # A record of another length belongs to another version of the op; it tells nothing of these outputs.
    if len(recorded) == count and all(isinstance(shape, Shape) for shape in recorded):
        return recorded
    if count == 1:
        for name in ("value", "shape"):
            declared = node.attrs.get(name)
            if isinstance(declared, Tensor) and node.is_constant:
                return (Shape(declared.shape),)
            # A handle is a scalar, whatever the shape of the variable behind it.
            if isinstance(declared, Shape):
                return (Shape(()) if node.op == "VarHandleOp" else declared,)
    return (Shape(),) * count


def default_attributes(op: str) -> dict[str, Any]:
    """Return the attributes of an op with their defaults, without types and counts of the inputs."""
    declared, implied = _attribute_kinds(op)
    kinds = ((name, kind) for name, kind in declared.items() if name not in implied)
    return {name: kind.default for name, kind in kinds if kind.has_default}


def own_attributes(node: NodeRecord) -> dict[str, Any]:
    """Return the attributes that say more than op and dtypes: neither defaults nor types and counts of the inputs."""
    declared, implied = _attribute_kinds(node.op)
    shown = {}
    for name, value in node.attributes.items():
        if name not in implied:
            definition = declared.get(name)
            if definition is None or not definition.is_default(value):
                shown[name] = value
    return shown


@functools.cache
def _attribute_kinds(op: str) -> tuple[Mapping[str, AttrDef], frozenset[str | None]]:
    """Return the declared attributes of an op, and the names of attributes that follow from the inputs and outputs."""
    definition = CATALOG.get(op)
    if definition is None:
        return {}, _NOISE
    arguments = (*definition.inputs, *definition.outputs)
    # These follow from the edges, and a reader sees them there: T of float inputs is float.
    names = {name for arg in arguments for name in arg.attr_names}
    return definition.attrs, _NOISE | names | {"dtype"}


def attribute_text(attributes: Mapping[str, Any]) -> str:
    """Return `name=value` pairs, large constants cut short."""
    return ", ".join(f"{name}={value_text(value)}" for name, value in attributes.items())


def value_text(value: Any) -> str:
    """Return the text of an attribute's value as people write: true, "SAME", float, (2,3), [1, 2]."""
    # Before numbers, since True is an int in Python.
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, bytes):
        # Bytes of an attribute need not be UTF-8, and a table has one line for a node.
        text = value.decode("utf-8", "backslashreplace")
        return f'"{text if text.isprintable() else repr(text)[1:-1]}"'
    if isinstance(value, (list, tuple)):
        shown = [value_text(item) for item in value[:MAX_PREVIEW]]
        return f"[{', '.join(shown)}{', ...' if len(value) > MAX_PREVIEW else ''}]"
    if isinstance(value, Tensor):
        return _tensor_text(value)
    if isinstance(value, FuncRef):
        return f"{value.name}()"
    return "none" if value is None else str(value)


def _tensor_text(tensor: Tensor) -> str:
    """Return the first elements of a constant, or only dtype and shape if no elements are in memory."""
    # A preview reads the first bytes alone: a constant may have gigabytes, and lie in a file.
    elements = tensor.preview(MAX_PREVIEW)
    if not elements:
        return f"<{tensor.dtype} {Shape(tensor.shape)}>"
    shown = [value_text(element) for element in elements]
    if tensor.shape == ():
        return shown[0]
    more = ", ..." if tensor.size > len(shown) else ""
    described = f" {Shape(tensor.shape)}" if len(tensor.shape) > 1 or more else ""
    return f"[{', '.join(shown)}{more}]{described}"


def require_nodes(records: Sequence[Any], chosen: NodeFilter) -> None:
    """Raise NotFoundError if a filter let nothing pass."""
    if not records and not chosen.is_empty:
        parts = {part: getattr(chosen, part) for part in ("name", "op", "scope", "exclude", "device")}
        conditions = [f"{part} '{text}'" for part, text in parts.items() if text]
        conditions += [] if chosen.among is None else [f"among the {counted(len(chosen.among), 'node')} chosen by their edges"]
        raise NotFoundError(f"no node matches the filter: {', '.join(conditions)}", hint=_other_filter(chosen))


def _other_filter(chosen: NodeFilter) -> str:
    """Return a hint: an op is not found by name, and a part of a name is not found as an op."""
    if chosen.name in CATALOG and not chosen.op:
        return Hint(f"'{chosen.name}' is an op: ", step("find_op", op=chosen.name), " finds its nodes")
    if chosen.op.isidentifier() and not chosen.name:
        by_name = step("find_name", name=chosen.op)
        return Hint(option("op"), " takes a whole op: ", by_name, " finds nodes by a part of the name")
    return Hint(step("list_nodes"), " lists all nodes")


def argument_shapes(graph: Graph) -> dict[str, Shape]:
    """Return the recorded shapes of the arguments of a function's body that was stored as a graph, by tensor."""
    shapes = {node.output().name: declared_shapes(node, 1)[0] for node in graph if node.is_argument}
    return {name: shape for name, shape in shapes.items() if shape.dims is not None}
