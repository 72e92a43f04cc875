"""NodeDefs to the nodes of a graph and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ...core.codecs import wire
from ...core.graph.graph import Graph, Node
from ...core.graph.reference_ops import REPAIRS
from ...core.registry.op_facts import ABSENT
from ...core.support.errors import AbsentInputError, AlreadyExistsError, InvalidArgumentError, TfgError
from ...core.support.hints import Hint, step
from ...core.support.tensor_names import parse_tensor_name
from ...core.types.tensors import Tensor
from ..protos.graph_pb2 import AttrValue, NodeDef, TensorProto
from .attrs import NodeAttrs, attr_type, encode_attr
from .scan import LoadedNode
from .tensor_proto import split_tensor

_HINTED: Final = 20
"""The number of a file's faults with hints of the nearest names; each hint costs a search through all nodes."""


def add_nodes(graph: Graph, nodes: Iterable[LoadedNode], faults: list[TfgError] | None = None) -> None:
    """Add the nodes of a file, in any order and with cycles; inputs stay names until first use.

    InvalidArgumentError names the node for a duplicate name or an input that does not exist. With a list of `faults` the
    errors are collected there: a node with a duplicate name is renamed, and nodes of type `ABSENT` stand for missing
    inputs.
    """
    open_nodes: list[Node] = []
    for name, op, inputs, device, attrs in nodes:
        if "^" in name or ":" in name:  # inputs spell control edges and outputs with them
            _note(faults, InvalidArgumentError(f"'{name}' is not a valid node name", node=name, op=op))
            name = graph.unique_name(name.replace("^", "_").replace(":", "_"))
        shared = _names_so_far(graph, inputs)
        spelling = inputs if shared is None else shared
        try:
            node = graph.load_node(name, op, spelling, attrs, device)
        except AlreadyExistsError:
            hint = "rename a node: names must be unique"
            _note(faults, InvalidArgumentError("two nodes have this name", node=name, op=op, hint=hint))
            node = graph.load_node(graph.unique_name(name), op, spelling, attrs, device)
        # Nodes with an input that is not the bare name of an earlier node are resolved below, when all names are known.
        if shared is None:
            open_nodes.append(node)
    controls: dict[str, str] = {}
    for node in open_nodes:
        node.spelling = _resolved_inputs(graph, node, node.spelling or (), controls, faults)


def _names_so_far(graph: Graph, texts: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the texts as `_resolved_inputs` does if all are bare names of earlier nodes, the usual case; else None.

    Data that was just read from the file is still in the processor's cache; after all nodes are read, that is no longer
    true.
    """
    names = []
    for text in texts:
        source = graph.get(text)
        if source is None:
            return None
        names.append(source.name)
    return tuple(names)


def _note(faults: list[TfgError] | None, error: TfgError) -> None:
    """Raise an error, or collect the error if faults are collected."""
    if faults is None:
        raise error from None
    faults.append(error)


def _resolved_inputs(
    graph: Graph, node: Node, texts: tuple[str, ...], controls: dict[str, str], faults: list[TfgError] | None
) -> tuple[str, ...]:
    """Return the same texts as strings shared with the named nodes, each of `controls` only once."""
    names = []
    is_control = False
    for text in texts:
        source = graph.get(text)  # most inputs are bare names
        if source is not None and not is_control:
            names.append(source.name)
            continue
        name, _, is_control_now = parse_tensor_name(text)
        if source is None and graph.get(name) is None:
            _note(faults, _missing_input(graph, node, text, name, is_hinted=len(faults or ()) < _HINTED))
            # The node exists from here on, so each missing name is one fault, however many inputs have it.
            graph.load_node(name, ABSENT, (), {}, "")
        if is_control and not is_control_now:
            message, hint = f"input '{text}' comes after a control input", "move control inputs to the end"
            _note(faults, InvalidArgumentError(message, node=node.name, op=node.op, hint=hint))
        is_control = is_control_now
        names.append(controls.setdefault(text, text))
    # A sort is stable: the data inputs keep their order, and control inputs that stood between them move behind.
    return tuple(names if faults is None else sorted(names, key=lambda text: text.startswith("^")))


def _missing_input(graph: Graph, node: Node, text: str, name: str, is_hinted: bool) -> InvalidArgumentError:
    if not name:
        return InvalidArgumentError(
            f"input '{text}' is malformed", node=node.name, op=node.op, hint="write inputs as 'node', 'node:index' or '^node'"
        )
    message = f"input '{text}' names a node that is not in the graph"
    error = AbsentInputError(message, node=node.name, op=node.op, hint=_remedy(graph, text, name) if is_hinted else None)
    error.absent = name
    return error


def _remedy(graph: Graph, text: str, name: str) -> str:
    """Return the names like that of a missing input, and how a missing tensor becomes an input of the graph."""
    close = graph.nearest(name)
    near = f"nearest names: {', '.join(close)}; " if close else ""
    if text.startswith("^"):
        return Hint(near, REPAIRS, " lets no node wait for it")
    return Hint(near, step("extract_from", tensor=text), " makes it a placeholder")


def input_texts(node: Node) -> Sequence[str]:
    """Return the inputs in NodeDef's spelling, control inputs last; unchanged inputs keep their loaded spelling.

    A node of a function may have another spelling, which only a function can hold.
    """
    if node.spelling is not None and not any(map(_is_of_function, node.spelling)):
        return node.spelling
    names, controls = node.input_names()
    return names + [f"^{control}" for control in controls]


def _is_of_function(text: str) -> bool:
    """Return True for `node:output_arg` and `node:output_arg:index`."""
    _, colon, rest = text.partition(":")
    return bool(colon) and not rest.isdecimal()


def _canonical(texts: Sequence[str]) -> list[tuple[str, int, bool]]:
    """Return inputs in canonical form: `a` is `a:0`, and a repeated control input counts once."""
    parsed = [parse_tensor_name(text) for text in texts]
    return [item for item in parsed if not item[2]] + list(dict.fromkeys(item for item in parsed if item[2]))


class EncodedNode(NamedTuple):
    """A NodeDef, and the tensor_content bytes left out of the NodeDef, by attribute."""

    proto: NodeDef
    contents: Mapping[str, memoryview]


def encode_node(node: Node, inputs: Sequence[str]) -> EncodedNode:
    """Return the NodeDef and the contents left out; unchanged parts are the loaded parts."""
    source = node.source if isinstance(node.source, NodeAttrs) else None
    proto = NodeDef()
    if source is not None:
        proto.CopyFrom(source.proto)
    proto.name, proto.op, proto.device = node.name, node.op, node.device
    del proto.input[:]
    spelling = node.spelling
    # A node whose inputs are the same keeps the file's spelling, `a:0` or `a`, so that an unchanged graph is written
    # unchanged.
    proto.input.extend(inputs if spelling is None or _canonical(spelling) != _canonical(inputs) else spelling)
    if source is not None and node.attrs is source:
        return EncodedNode(proto, source.contents or {})
    return EncodedNode(proto, _set_attrs(proto, node, source))


def _set_attrs(proto: NodeDef, node: Node, source: NodeAttrs | None) -> dict[str, memoryview]:
    """Set the attributes of `proto` to the node's attributes, copied from `source` if unchanged.

    Return the contents that are left out.
    """
    contents: dict[str, memoryview] = {}
    proto.ClearField("attr")
    # A node copied to another name shares the loaded attributes.
    origin = node.attrs if isinstance(node.attrs, NodeAttrs) else source
    for name in node.attrs:
        value = node.attrs[name]
        if origin is not None and origin.is_original(name, value):
            proto.attr[name].CopyFrom(origin.proto.attr[name])
            if origin.contents and name in origin.contents:
                contents[name] = origin.contents[name]
            continue
        try:
            _set_attr(proto, contents, name, value)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"attribute '{name}': {error.message}", node=node.name, op=node.op) from None
    return contents


def _set_attr(proto: NodeDef, contents: dict[str, memoryview], name: str, value: Any) -> None:
    if not isinstance(value, Tensor):
        proto.attr[name].CopyFrom(encode_attr(value, attr_type(proto.op, name)))
        return
    tensor, content = split_tensor(value)
    proto.attr[name].tensor.CopyFrom(tensor)
    if content is not None:
        contents[name] = content


def complete_proto(source: EncodedNode) -> NodeDef:
    """Return the NodeDef with the contents from the file copied in."""
    if not source.contents:
        return source.proto
    proto = NodeDef()
    proto.CopyFrom(source.proto)
    for name, content in source.contents.items():
        proto.attr[name].tensor.tensor_content = bytes(content)
    return proto


def node_chunks(source: EncodedNode) -> Iterator[bytes | memoryview]:
    """Yield the serialized NodeDef in pieces; contents left in the file are separate pieces, never copied."""
    if not source.contents:
        yield source.proto.SerializeToString(deterministic=True)
        return
    head = NodeDef()
    head.CopyFrom(source.proto)
    for name in source.contents:
        del head.attr[name]
    yield head.SerializeToString(deterministic=True)
    # Large attributes come after the others. The order of a map does not matter to readers, and is the same each time.
    for name in sorted(source.contents):
        yield from _attr_entry_chunks(name, source.proto.attr[name], source.contents[name])


def _attr_entry_chunks(name: str, value: AttrValue, content: memoryview) -> Iterator[bytes | memoryview]:
    """Yield an entry of NodeDef.attr with `content` as the tensor's tensor_content."""
    tensor = value.tensor.SerializeToString(deterministic=True) + wire.length_prefix(
        TensorProto.TENSOR_CONTENT_FIELD_NUMBER, len(content)
    )
    tensor_prefix = wire.length_prefix(AttrValue.TENSOR_FIELD_NUMBER, len(tensor) + len(content))
    value_size = len(tensor_prefix) + len(tensor) + len(content)
    key = name.encode()
    entry = wire.length_prefix(1, len(key)) + key + wire.length_prefix(2, value_size) + tensor_prefix + tensor
    yield wire.length_prefix(NodeDef.ATTR_FIELD_NUMBER, len(entry) + len(content)) + entry
    yield content
