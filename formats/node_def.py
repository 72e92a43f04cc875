"""NodeDefs to the nodes of a graph and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..core.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError
from ..core.graph import Graph, Node, Output
from ..core.numerics import wire
from ..core.tensor_names import parse_tensor_name
from ..core.tensors import Tensor
from .attrs import NodeAttrs, attr_type, encode_attr
from .protos.graph_pb2 import AttrValue, NodeDef, TensorProto
from .tensor_proto import split_tensor


def add_nodes(graph: Graph, sources: Iterable[NodeAttrs]) -> None:
    """Add a node for each NodeDef, then the edges: nodes may stand in any order and loops have back edges.

    InvalidArgumentError names the node for a duplicate name or an input that does not exist.
    """
    pending = []
    for source in sources:
        proto = source.proto
        try:
            pending.append((graph.add_node(proto.name, proto.op, (), (), source, proto.device, source), proto))
        except AlreadyExistsError:
            raise InvalidArgumentError(
                "two nodes have this name", node=proto.name, op=proto.op, hint="every node of a graph needs its own name"
            ) from None
    for node, proto in pending:
        if proto.input:
            inputs, control_inputs = _resolve_inputs(graph, node, proto.input)
            graph.set_inputs(node, inputs, control_inputs)


def _resolve_inputs(graph: Graph, node: Node, texts: Iterable[str]) -> tuple[list[Output], list[Node]]:
    inputs: list[Output] = []
    control_inputs: list[Node] = []
    for text in texts:
        found = graph.get(text)  # most inputs are bare names
        index, is_control = 0, False
        if found is None:
            name, index, is_control = parse_tensor_name(text)
            found = graph.get(name)
            if found is None:
                raise _missing_input(graph, node, text, name)
        if is_control:
            control_inputs.append(found)
        elif control_inputs:
            raise InvalidArgumentError(
                f"input '{text}' comes after a control input", node=node.name, op=node.op, hint="control inputs come last"
            )
        else:
            inputs.append(Output(found, index))
    return inputs, control_inputs


def _missing_input(graph: Graph, node: Node, text: str, name: str) -> InvalidArgumentError:
    if not name:
        return InvalidArgumentError(
            f"input '{text}' is malformed", node=node.name, op=node.op, hint="inputs are 'node', 'node:index' or '^node'"
        )
    hint: str | None = None
    try:
        graph.node(name)
    except NotFoundError as error:
        hint = error.hint
    return InvalidArgumentError(f"input '{text}' names a node that is not in the graph", node=node.name, op=node.op, hint=hint)


def input_texts(node: Node) -> list[str]:
    """The inputs as a NodeDef spells them, control inputs last."""
    texts = [value.node.name if value.index == 0 else f"{value.node.name}:{value.index}" for value in node.inputs]
    return texts + [f"^{control.name}" for control in node.control_inputs]


def _canonical(texts: Sequence[str]) -> list[tuple[str, int, bool]]:
    """What the spelling means: `a` is `a:0`, and a repeated control input counts once."""
    parsed = [parse_tensor_name(text) for text in texts]
    return [item for item in parsed if not item[2]] + list(dict.fromkeys(item for item in parsed if item[2]))


def encode_node(node: Node, inputs: list[str]) -> NodeAttrs:
    """The NodeDef with its contents: the one that the node was loaded from, with only those fields set anew that changed."""
    source = node.source if isinstance(node.source, NodeAttrs) else None
    if source is None:
        return _new_node_def(node, inputs)
    old = source.proto
    same_inputs = list(old.input) == inputs or _canonical(old.input) == _canonical(inputs)
    if node.attrs is source and same_inputs and (old.name, old.op, old.device) == (node.name, node.op, node.device):
        return source
    proto = NodeDef()
    proto.CopyFrom(old)
    proto.name, proto.op, proto.device = node.name, node.op, node.device
    if not same_inputs:
        del proto.input[:]
        proto.input.extend(inputs)
    if node.attrs is not source:
        return _with_attrs(proto, node, source)
    return NodeAttrs(proto, source.contents)


def _new_node_def(node: Node, inputs: list[str]) -> NodeAttrs:
    return _with_attrs(NodeDef(name=node.name, op=node.op, input=inputs, device=node.device), node, None)


def _with_attrs(proto: NodeDef, node: Node, source: NodeAttrs | None) -> NodeAttrs:
    """Set the attributes of `proto` to those of the node; values that came from `source` are copied as they were."""
    contents: dict[str, memoryview] = {}
    proto.ClearField("attr")
    # A node copied to another name shares the attributes it was loaded with.
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
    return NodeAttrs(proto, contents)


def _set_attr(proto: NodeDef, contents: dict[str, memoryview], name: str, value: Any) -> None:
    if not isinstance(value, Tensor):
        proto.attr[name].CopyFrom(encode_attr(value, attr_type(proto.op, name)))
        return
    tensor, content = split_tensor(value)
    proto.attr[name].tensor.CopyFrom(tensor)
    if content is not None:
        contents[name] = content


def complete_proto(source: NodeAttrs) -> NodeDef:
    """The NodeDef with the contents that were left in the file copied into it."""
    if not source.contents:
        return source.proto
    proto = NodeDef()
    proto.CopyFrom(source.proto)
    for name, content in source.contents.items():
        proto.attr[name].tensor.tensor_content = bytes(content)
    return proto


def node_chunks(source: NodeAttrs) -> Iterator[bytes | memoryview]:
    """The serialized NodeDef in pieces; contents that were left in the file are pieces of their own, never copied."""
    if not source.contents:
        yield source.proto.SerializeToString(deterministic=True)
        return
    head = NodeDef()
    head.CopyFrom(source.proto)
    for name in source.contents:
        del head.attr[name]
    yield head.SerializeToString(deterministic=True)
    for name in sorted(source.contents):
        yield from _attr_entry_chunks(name, source.proto.attr[name], source.contents[name])


def _attr_entry_chunks(name: str, value: AttrValue, content: memoryview) -> Iterator[bytes | memoryview]:
    """One entry of NodeDef.attr whose tensor gets `content` as its tensor_content."""
    tensor = value.tensor.SerializeToString(deterministic=True) + wire.length_prefix(
        TensorProto.TENSOR_CONTENT_FIELD_NUMBER, len(content)
    )
    tensor_prefix = wire.length_prefix(AttrValue.TENSOR_FIELD_NUMBER, len(tensor) + len(content))
    value_size = len(tensor_prefix) + len(tensor) + len(content)
    key = name.encode()
    entry = wire.length_prefix(1, len(key)) + key + wire.length_prefix(2, value_size) + tensor_prefix + tensor
    yield wire.length_prefix(NodeDef.ATTR_FIELD_NUMBER, len(entry) + len(content)) + entry
    yield content
