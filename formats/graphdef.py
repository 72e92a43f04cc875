"""GraphDefs to graphs and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Generic, Literal, TypeVar

from ..core.codecs import wire
from ..core.graph.graph import Function, Graph, Node
from ..core.graph.import_upgrades import complete_attrs, forget_unstated_shape
from ..core.graph.node import CheckMemo
from ..core.graph.saved_gradients import Capture, RegisteredGradient
from ..core.support.errors import InvalidArgumentError, TfgError
from ..core.support.gc_control import rare_collection
from ..core.support.tensor_names import parse_tensor_name
from ..core.support.versions import Versions
from .codecs.attrs import NodeAttrs
from .codecs.node_def import add_nodes, complete_proto, encode_node, input_texts, node_chunks
from .codecs.scan import GraphScan, PrintedScan
from .codecs.textformat import print_text, read_printed, serialize_text
from .function_library import FunctionLibrary, encode_library
from .protos.graph_pb2 import FunctionDef, FunctionDefLibrary, GraphDef, NodeDef

if TYPE_CHECKING:
    from .protos.meta_graph_pb2 import SavedConcreteFunction, SavedObject, SavedObjectGraph, StructuredValue

Kind = Literal["graph", "meta_graph"]
_MAX_MEMO: Final = 10_000
_LIBRARY: Final = "library {\n"
"""The first line of a text with functions and without nodes."""


class GraphSource:
    """The loaded messages around a graph's nodes, kept to be written back.

    `rest` is the GraphDef without nodes, `meta_graph` the serialized MetaGraphDef without the GraphDef.
    """

    __slots__ = ("kind", "meta_graph", "rest")

    def __init__(self, rest: GraphDef, kind: Kind, meta_graph: bytes) -> None:
        self.rest, self.kind, self.meta_graph = rest, kind, meta_graph


class NodeStream:
    """The nodes of a serialized GraphDef in file order, without a graph that holds all of them.

    `faults` collects errors of single nodes and of names; the list is complete after all nodes were iterated.
    """

    def __init__(self, data: memoryview) -> None:
        self._scan = GraphScan(data)
        self._memo: CheckMemo = {}
        self._read_versions: Versions | None = None
        self.faults: list[TfgError] = []

    def nodes(self) -> Iterator[Node]:
        """Yield all nodes; inputs are known by name only."""
        # All nodes of the stream share a graph that stays empty: it must not hold the nodes that were passed on.
        home = Graph()
        names: set[str] = set()
        missing: dict[str, str] = {}
        for name, op, inputs, device, attrs in self._scan.nodes():
            if name in names:
                self.faults.append(InvalidArgumentError("two nodes have this name", node=name, op=op))
            names.add(name)
            for text in inputs:
                # A producer may come later in the file, so a name is only noted here; `names` has them all behind the last
                # node.
                if text not in names and (source := parse_tensor_name(text)[0]) not in names:
                    missing.setdefault(source, name)
            node = Node(name, op, complete_attrs(op, attrs, len(inputs)), device, attrs, inputs, home=home)
            forget_unstated_shape(node, self._versions)
            self._check(node)
            yield node
        for source, name in missing.items():
            if source not in names:
                self.faults.append(InvalidArgumentError(f"input '{source}' names a node that is not in the graph", node=name))

    def _check(self, node: Node) -> None:
        # The memo has an entry for each set of attributes; a file whose nodes all differ would grow it with the file.
        if len(self._memo) > _MAX_MEMO:
            self._memo.clear()
        try:
            node.check(self._memo)
        except InvalidArgumentError as error:
            self.faults.append(InvalidArgumentError(error.message, node=node.name, op=node.op, hint=error.hint))

    @property
    def place(self) -> int:
        """The place at which `node_at` finds the last node again."""
        return self._scan.place

    def node_at(self, place: int) -> Node:
        """Return the node whose field begins at byte `place`; inputs are known by name only."""
        name, op, inputs, device, attrs = self._scan.node_at(place)
        node = Node(name, op, complete_attrs(op, attrs, len(inputs)), device, attrs, inputs, home=Graph())
        forget_unstated_shape(node, self._versions)
        return node

    def _versions(self) -> Versions:
        """Return the versions of the graph, which stand behind the nodes in most files."""
        if self._read_versions is None:
            self._read_versions = _decode_versions(self._scan.versions())
        return self._read_versions

    def has_at(self, place: int, other: NodeStream) -> bool:
        """Return True if the bytes at a place equal the bytes of another stream's last node."""
        return self._scan.has_at(place, other._scan.last_field())

    def functions(self) -> Iterator[Function]:
        """Yield the functions in order, once all nodes were iterated; no function is kept."""
        return self._library(self._scan.rest_without_functions()).one_by_one()

    def rest_texts(self) -> Iterator[str]:
        """Yield everything but nodes in protobuf's text format, function by function, once all nodes were iterated."""
        rest = self._scan.rest_without_functions()
        text, library = print_text(rest), self._library(rest)
        if text.startswith(_LIBRARY):
            yield _LIBRARY
            messages = filter(None, map(library.undecoded, library))
            yield from (_indented(print_text(FunctionDefLibrary(function=[message]))) for message in messages)
        yield text.removeprefix(_LIBRARY)

    def _library(self, rest: GraphDef) -> FunctionLibrary:
        return FunctionLibrary(rest.library, checks=False, serialized=self._scan.functions())

    def rest(self, checks: bool = False) -> Graph:
        """Return a graph with everything but nodes, once all nodes were iterated; `checks` checks the functions too."""
        rest = self._scan.rest()
        graph = Graph()
        graph.functions = FunctionLibrary(rest.library, checks)
        graph.versions = _decode_versions(rest)
        graph.source = GraphSource(rest, "graph", b"")
        return graph


def _indented(text: str) -> str:
    return "".join([f"  {line}\n" for line in text.splitlines()])


def graph_from_bytes(
    data: memoryview, kind: Kind = "graph", meta_graph: bytes = b"", faults: list[TfgError] | None = None
) -> Graph:
    """Return the graph of a serialized GraphDef; errors of nodes are raised, or added to `faults`."""
    return _graph(GraphScan(data), kind, meta_graph, faults)


def graph_from_text(data: memoryview, faults: list[TfgError] | None = None) -> Graph:
    """Return the graph of a GraphDef in text, as `graph_from_bytes`; errors of the text come before errors of nodes."""
    # Text that protobuf printed is read without its parser, ten times as fast; any other text goes through the parser.
    graph = read_printed(data, faults, lambda text, errors: graph_from_printed(text, faults=errors))
    return graph_from_bytes(memoryview(serialize_text(GraphDef, data)), faults=faults) if graph is None else graph


def graph_from_printed(
    text: memoryview, kind: Kind = "graph", meta_graph: bytes = b"", faults: list[TfgError] | None = None
) -> Graph:
    """Return the graph of a text in protobuf's printed layout, as `graph_from_bytes`.

    OtherLayout if the text has another layout or may be wrong.
    """
    return _graph(PrintedScan(text), kind, meta_graph, faults)


def _graph(scan: GraphScan | PrintedScan, kind: Kind, meta_graph: bytes, faults: list[TfgError] | None) -> Graph:
    graph = Graph()
    # None of the objects of a loading is garbage, and the collector would walk through all of them again and again.
    with rare_collection():
        add_nodes(graph, scan.nodes(), faults)
    rest = scan.rest()
    graph.functions = FunctionLibrary(rest.library, checks=faults is None)
    graph.versions = _decode_versions(rest)
    graph.source = GraphSource(rest, kind, meta_graph)
    if rest.library.registered_gradients:
        add_registered_gradients(graph, None)
    return graph


def add_registered_gradients(graph: Graph, objects: SavedObjectGraph | None) -> None:
    """Add the gradients that the library of a decoded graph registers; `objects` are the objects of the graph's SavedModel."""

    graph.registered_gradients = decode_registered_gradients(graph.source.rest.library, objects)


def _decode_versions(proto: GraphDef) -> Versions:
    versions = proto.versions
    # Before `versions` there was a single number.
    return Versions(versions.producer or proto.version, versions.min_consumer, tuple(versions.bad_consumers))


def graph_texts(nodes: Iterable[Node], rest: Callable[[], Graph]) -> Iterator[str]:
    """Yield the GraphDef in protobuf's text format, in pieces; `rest` is called after all nodes are written."""
    yield from map(NodePrinter().text, nodes)
    yield print_text(_encode_rest(rest()))


def to_node_def(node: Node) -> NodeDef:
    """Return the NodeDef of a node as a message."""
    return complete_proto(encode_node(node, input_texts(node)))


def graph_chunks(nodes: Iterable[Node], rest: Callable[[], Graph]) -> Iterator[bytes | memoryview]:
    """Yield the GraphDef serialized, in pieces, as `graph_texts`; map entries are in the order of their keys."""
    writer = NodeWriter()
    for node in nodes:
        yield from writer.chunks(node)
    yield _encode_rest(rest()).SerializeToString(deterministic=True)


def part_bytes(graph: Graph, nodes: Iterable[Node], functions: Collection[str]) -> bytes:
    """Return a serialized GraphDef of some nodes and functions of a graph, and of the graph's versions.

    Inputs and calls may name nodes and functions outside the part.
    """
    rest = _encode_rest(graph)
    definitions = [function for function in rest.library.function if function.signature.name in functions]
    part = GraphDef(node=map(to_node_def, nodes), versions=rest.versions)
    part.library.function.extend(definitions)
    return part.SerializeToString(deterministic=True)


def _encode_rest(graph: Graph) -> GraphDef:
    """Encode all of the GraphDef except the nodes."""
    rest = GraphDef()
    if isinstance(graph.source, GraphSource):
        rest.CopyFrom(graph.source.rest)
    if graph.functions or rest.HasField("library"):
        encode_library(graph.functions, rest.library)
    if graph.registered_gradients:
        _encode_registered_gradients(graph.registered_gradients, rest.library)
    versions = graph.versions
    # The loaded form stays if it says the same: an old graph has a number in `version`, and is written with it.
    if versions is not None and versions != _decode_versions(rest):
        rest.ClearField("version")
        rest.versions.producer, rest.versions.min_consumer = versions.producer, versions.min_consumer
        rest.versions.bad_consumers[:] = versions.bad_consumers
    return rest


# The gradients that a library registers for nodes, and the captures that a SavedModel's objects list for gradients.

# A GraphDef has no objects, so captures and returns would be lost when a SavedModel's graph is written as one.
_CAPTURES, _RETURNS = "_captured_tensors", "_returned_gradients"
"""Attributes of a gradient function's first argument. TensorFlow refuses a function that has an unknown attribute."""


def decode_registered_gradients(
    library: FunctionDefLibrary, objects: SavedObjectGraph | None
) -> Mapping[str, RegisteredGradient]:
    """Return the registered gradients by the names that nodes use for the gradients."""
    functions = {function.signature.name: function for function in library.function}
    return {
        g.registered_op_type: _noted(functions[g.gradient_func])
        if g.gradient_func in functions and _RETURNS in functions[g.gradient_func].arg_attr[0].attr
        else _decode(g.gradient_func, objects)
        for g in library.registered_gradients
    }


def _encode_registered_gradients(gradients: Mapping[str, RegisteredGradient], library: FunctionDefLibrary) -> None:
    """Add the gradients that the library lacks, and write the captures that only a SavedModel's objects list into attributes
    of the gradient functions' first arguments.
    """
    functions = {function.signature.name: function for function in library.function}
    # Freezing gives copies of functions gradients of their own, and a join brings those of the other graph.
    known = {registered.registered_op_type for registered in library.registered_gradients}
    for name, registered in gradients.items():
        if name not in known and registered.function in functions:
            library.registered_gradients.add(gradient_func=registered.function, registered_op_type=name)
    for registered in gradients.values():
        function = functions.get(registered.function)
        if function is not None and registered.captures is not None and registered.returns is not None:
            # A space separates the two: no name of a function or a tensor has one.
            texts = [" ".join(filter(None, (c.function, c.tensor))) for c in registered.captures]
            attrs = function.arg_attr[0].attr
            attrs[_CAPTURES].list.s[:] = [text.encode("utf-8", "surrogateescape") for text in texts]
            attrs[_RETURNS].list.b[:] = registered.returns


def _noted(function: FunctionDef) -> RegisteredGradient:
    attrs = function.arg_attr[0].attr
    texts = [text.decode("utf-8", "surrogateescape") for text in attrs[_CAPTURES].list.s]
    captures = [Capture(tensor, owner or None) for owner, _, tensor in (text.rpartition(" ") for text in texts)]
    return RegisteredGradient(function.signature.name, tuple(captures), tuple(attrs[_RETURNS].list.b))


def _decode(function: str, objects: SavedObjectGraph | None) -> RegisteredGradient:
    if objects is None or function not in objects.concrete_functions:
        return RegisteredGradient(function)
    concrete: SavedConcreteFunction = objects.concrete_functions[function]
    bound = [objects.nodes[i] for i in concrete.bound_inputs if 0 <= i < len(objects.nodes)]
    captures = [_capture(node) for node in bound]
    complete = None if None in captures or len(bound) < len(concrete.bound_inputs) else captures
    # A gradient of None has its place in the structure of the function's value, and is no result of the function.
    returns = tuple(leaf.WhichOneof("kind") != "none_value" for _, leaf in leaves(concrete.output_signature))
    return RegisteredGradient(function, None if complete is None else tuple(c for c in complete if c is not None), returns)


def _capture(node: SavedObject) -> Capture | None:
    """Return a function's captured input: a tensor of another function or a variable; None for anything else."""
    if node.WhichOneof("kind") == "captured_tensor":
        return Capture(node.captured_tensor.name, node.captured_tensor.concrete_function)
    return Capture(node.variable.name) if node.WhichOneof("kind") == "variable" else None


def leaves(value: StructuredValue, path: str = "") -> Iterator[tuple[str, StructuredValue]]:
    """Yield the leaf values of a structure, in TensorFlow's order, each behind its path: keys, and places in lists."""
    kind = value.WhichOneof("kind")
    if kind in ("list_value", "tuple_value"):
        for number, item in enumerate(getattr(value, kind).values):
            yield from leaves(item, f"{path}.{number}" if path else f"output_{number}")
    elif kind == "dict_value":
        # As `tf.nest.flatten` has it: dictionaries by their keys in order, named tuples by their fields as declared.
        for key in sorted(value.dict_value.fields):
            yield from leaves(value.dict_value.fields[key], f"{path}.{key}" if path else key)
    elif kind == "named_tuple_value":
        for pair in value.named_tuple_value.values:
            yield from leaves(pair.value, f"{path}.{pair.key}" if path else pair.key)
    else:
        yield path, value


# Nodes as parts of a GraphDef, as bytes and as text.

_T = TypeVar("_T", str, bytes)
_MAX_CACHED: Final = 10_000
_PLAIN: Final = re.compile(r"[\w./:^>@-]*", re.ASCII)
"""Words that the text format prints unchanged."""
_FIRST_LINE, _LAST_LINE = "node {\n", "}\n"


class _Encoded(Generic[_T]):
    """A cache of encoded attributes, for the following nodes that share the attributes."""

    def __init__(self, encode: Callable[[NodeDef], _T]) -> None:
        self._encode: Callable[[NodeDef], _T] = encode
        self._cache: dict[int, tuple[NodeAttrs, _T]] = {}

    def of(self, attrs: NodeAttrs) -> _T:
        # The entry keeps its attributes alive, so that no other attributes get the same id while it is in the cache.
        entry = self._cache.get(id(attrs))
        if entry is None:
            if len(self._cache) >= _MAX_CACHED:
                self._cache.clear()
            entry = self._cache[id(attrs)] = attrs, self._encode(attrs.bare())
        return entry[1]


def _unchanged_attrs(node: Node) -> NodeAttrs | None:
    """Return a node's attributes if they are unchanged since loading, and none of them is still in the file."""
    attrs = node.source
    return attrs if isinstance(attrs, NodeAttrs) and attrs is node.attrs and not attrs.contents else None


class NodeWriter:
    """Nodes as serialized fields of a GraphDef; map entries are in the order of their keys."""

    def __init__(self) -> None:
        self._attrs = _Encoded(lambda proto: proto.SerializeToString(deterministic=True))

    def chunks(self, node: Node) -> Iterator[bytes | memoryview]:
        """Yield the field in pieces; contents that were left in the file are never copied."""
        attrs = _unchanged_attrs(node)
        if attrs is not None:
            yield wire.bytes_field(GraphDef.NODE_FIELD_NUMBER, _head(node) + self._attrs.of(attrs))
            return
        pieces = list(node_chunks(encode_node(node, input_texts(node))))
        yield wire.length_prefix(GraphDef.NODE_FIELD_NUMBER, sum(map(len, pieces)))
        yield from pieces


def _head(node: Node) -> bytes:
    """Return the fields of a NodeDef that come before the attributes."""
    pieces = [
        wire.string_field(NodeDef.NAME_FIELD_NUMBER, node.name.encode()),
        wire.string_field(NodeDef.OP_FIELD_NUMBER, node.op.encode()),
        *(wire.bytes_field(NodeDef.INPUT_FIELD_NUMBER, text.encode()) for text in input_texts(node)),
        wire.string_field(NodeDef.DEVICE_FIELD_NUMBER, node.device.encode()),
    ]
    return b"".join(pieces)


class NodePrinter:
    """Nodes in protobuf's text format, as in a GraphDef: `node { ... }`."""

    def __init__(self) -> None:
        self._attrs = _Encoded(lambda proto: _inner(GraphDef(node=[proto])))

    def text(self, node: Node) -> str:
        """Return the text of a node."""
        attrs = _unchanged_attrs(node)
        if attrs is None:
            return print_text(GraphDef(node=[complete_proto(encode_node(node, input_texts(node)))]))
        return f"{_FIRST_LINE}{_printed_head(node, input_texts(node))}{self._attrs.of(attrs)}{_LAST_LINE}"


def _inner(graph: GraphDef) -> str:
    """Return the printed fields of a graph's only node."""
    return print_text(graph).removeprefix(_FIRST_LINE).removesuffix(_LAST_LINE)


def _printed_head(node: Node, inputs: Sequence[str]) -> str:
    # Any other sign may need an escape, and only protobuf's printer knows them all.
    if not all(map(_PLAIN.fullmatch, (node.name, node.op, *inputs, node.device))):
        return _inner(GraphDef(node=[NodeDef(name=node.name, op=node.op, input=inputs, device=node.device)]))
    lines = [
        f'  name: "{node.name}"\n' if node.name else "",
        f'  op: "{node.op}"\n' if node.op else "",
        *(f'  input: "{text}"\n' for text in inputs),
        f'  device: "{node.device}"\n' if node.device else "",
    ]
    return "".join(lines)
