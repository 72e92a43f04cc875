"""Functions of a graph: decoded from FunctionDefs at first use; unused functions are written back unchanged."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterable, Iterator, Mapping, MutableMapping, ValuesView
from typing import Any, Final

from ..core.graph.graph import STRAY_ARGUMENT, DeclaredFunctions, Function, Graph, Node, Output
from ..core.registry.catalog import CATALOG, ArgDef, AttrDef, OpDef
from ..core.registry.validation import attribute_faults
from ..core.support import dataclasses
from ..core.support.errors import InvalidArgumentError, TfgError
from ..core.support.keyed_cache import KeyedCache
from ..core.support.tensor_names import output_number
from ..core.support.words import counted
from ..core.types import dtypes
from ..core.types.dtypes import DType
from ..core.types.tensors import Placeholder
from .codecs.attrs import attr_type, decode_attr, decode_attrs, encode_attr
from .codecs.node_def import encode_node
from .codecs.scan import NodeReader, function_name, parse
from .protos.graph_pb2 import FunctionDef, FunctionDefLibrary, NodeDef
from .protos.graph_pb2 import OpDef as OpDefProto

# In the message, a body's inputs are spelled `arg` or `node:output_arg:index`; in core they are flat Outputs.
# Reading a body takes the catalog, which knows how many tensors an output argument has.

_MOST_PATTERNS: Final = 10_000
"""The bodies that a library keeps for functions to share: more than programs repeat, and a bound for a library of others."""
_ARG, _RESOURCE_ID = "_Arg", "_resource_arg_unique_id"
_FLAG_FIELDS = {
    "stateful": "is_stateful",
    "commutative": "is_commutative",
    "aggregate": "is_aggregate",
    "uninitialized_input": "allows_uninitialized_input",
}


class ReadFunctions(DeclaredFunctions):
    """Functions whose nodes come from the same reader, so that equal parts are shared between functions too."""

    reader: NodeReader


def signature_of(op: str, functions: Mapping[str, Function]) -> OpDef | None:
    """Return the interface of an op, or of the function of that name."""
    definition = CATALOG.get(op)
    if definition is not None:
        return definition
    if isinstance(functions, DeclaredFunctions):
        return functions.signature(op)
    return functions[op].signature if op in functions else None


@dataclasses.dataclass(frozen=True, slots=True)
class FunctionSource:
    """The loaded message of a Function, kept so that an unchanged function is written back unchanged."""

    proto: FunctionDef
    signature: OpDef
    arg_attrs: Mapping[int, Mapping[str, Any]]
    spellings: Mapping[tuple[str, int], str]
    """The message's spellings of outputs: of nodes with an undeclared op, and all spellings that differ from the usual."""


def decode_signature(proto: OpDefProto) -> OpDef:
    """Decode an OpDef message to core's OpDef."""
    attrs = {attr.name: _decode_attr_def(attr) for attr in proto.attr}
    flags = frozenset(flag for flag, field in _FLAG_FIELDS.items() if getattr(proto, field))
    return OpDef(
        proto.name, tuple(map(_decode_arg_def, proto.input_arg)), tuple(map(_decode_arg_def, proto.output_arg)), attrs, flags
    )


def _decode_arg_def(proto: OpDefProto.ArgDef) -> ArgDef:
    dtype = dtypes.from_number(proto.type) if proto.type else None
    is_ref = proto.is_ref or (dtype is not None and dtype.is_ref)
    return ArgDef(
        proto.name, dtype.base if dtype else None, proto.type_attr or None, proto.number_attr or None,
        proto.type_list_attr or None, is_ref,
    )  # fmt: skip


def _decode_attr_def(proto: OpDefProto.AttrDef) -> AttrDef:
    has_default = proto.HasField("default_value")
    default = decode_attr(proto.default_value) if has_default else None
    allowed = tuple(decode_attr(proto.allowed_values)) if proto.HasField("allowed_values") else None
    return AttrDef(proto.name, proto.type, default, has_default, proto.minimum if proto.has_minimum else None, allowed)


def encode_signature(signature: OpDef) -> OpDefProto:
    """Encode core's OpDef as a message."""
    proto = OpDefProto(name=signature.name)
    for flag in signature.flags:
        setattr(proto, _FLAG_FIELDS[flag], True)
    proto.input_arg.extend(map(_encode_arg_def, signature.inputs))
    proto.output_arg.extend(map(_encode_arg_def, signature.outputs))
    for attr in signature.attrs.values():
        added = proto.attr.add(name=attr.name, type=attr.type)
        if attr.has_default:
            added.default_value.CopyFrom(encode_attr(attr.default, attr.type))
        if attr.minimum is not None:
            added.has_minimum, added.minimum = True, attr.minimum
        if attr.allowed is not None:
            added.allowed_values.CopyFrom(encode_attr(list(attr.allowed), f"list({attr.type})"))
    return proto


def _encode_arg_def(arg: ArgDef) -> OpDefProto.ArgDef:
    return OpDefProto.ArgDef(
        name=arg.name, type=arg.dtype.enum_name if arg.dtype else None, type_attr=arg.type_attr or "",
        number_attr=arg.number_attr or "", type_list_attr=arg.type_list_attr or "", is_ref=arg.is_ref,
    )  # fmt: skip


def decode_function(proto: FunctionDef, library: ReadFunctions, gradient: str | None = None, checks: bool = True) -> Function:
    """Decode the Function of a message.

    InvalidArgumentError names the function and the node if an input does not exist and, with `checks`, if a node does
    not fit the node's op.
    """
    name = proto.signature.name
    try:
        function = _Decoder(proto, library).function(gradient)
        if checks:
            function.check(function.signature.attrs)
        # Linking comes after the check, which names the node that is wrong; linking alone would meet its missing inputs first.
        function.body.link()
        return function
    except TfgError as error:
        raise type(error)(f"function '{name}': {error.message}", node=error.node, op=error.op, hint=error.hint) from None


class _Decoder:
    """The decoder of a single FunctionDef into a Function."""

    def __init__(self, proto: FunctionDef, library: ReadFunctions) -> None:
        self.proto = proto
        self.library = library
        self.body = Graph()
        self.body.functions = library
        self.spellings: dict[tuple[str, int], str] = {}

    def function(self, gradient: str | None) -> Function:
        proto = self.proto
        signature = decode_signature(proto.signature)
        args = [self.add_arg(i, arg) for i, arg in enumerate(signature.inputs)]
        self.add_nodes()
        results = [self.result(arg.name) for arg in signature.outputs]
        controls = [self.node(proto.control_ret[name]) for name in _control_names(proto)]
        arg_attrs = {index: decode_attrs(proto.arg_attr[index].attr) for index in sorted(proto.arg_attr)}
        source = FunctionSource(proto, signature, arg_attrs, self.spellings)
        return Function(signature, self.body, args, results, controls, decode_attrs(proto.attr), arg_attrs, gradient, source)

    def add_arg(self, index: int, arg: ArgDef) -> Node:
        dtype = arg.dtype.ref if arg.dtype is not None and arg.is_ref else arg.dtype
        attrs = _plain_arg(dtype or Placeholder(arg.type_attr or arg.type_list_attr or "T"), index)
        if index in self.proto.arg_attr:
            attrs = attrs | decode_attrs(self.proto.arg_attr[index].attr)
        if index in self.proto.resource_arg_unique_id:
            attrs = {**attrs, _RESOURCE_ID: self.proto.resource_arg_unique_id[index]}
        node = self.body.load_node(arg.name, _ARG, (), attrs, "")
        node.source = None  # the message has no node of an argument
        return node

    def add_nodes(self) -> None:
        pending: list[tuple[Node, tuple[str, ...]]] = []
        for name, op, texts, device, attrs in map(self.library.reader.read, self.proto.node_def):
            if name in self.body:
                raise InvalidArgumentError("two nodes have this name", node=name, op=op)
            if op == _ARG:
                raise InvalidArgumentError(STRAY_ARGUMENT, node=name, op=op)
            # Inputs are resolved after all nodes: a body lists its nodes in any order.
            pending.append((self.body.load_node(name, op, texts, attrs, device), texts))
        for node, texts in pending:
            try:
                inputs = [self.output(text) for text in texts if not text.startswith("^")]
                controls = dict.fromkeys([self.node(text[1:]) for text in texts if text.startswith("^")])
            except InvalidArgumentError as error:
                raise InvalidArgumentError(error.message, node=node.name, op=node.op) from None
            self.body.resolve_node(node, tuple(inputs), tuple(controls))

    def result(self, name: str) -> Output:
        if name not in self.proto.ret:
            raise InvalidArgumentError(f"it has no tensor for its output '{name}'")
        return self.output(self.proto.ret[name])

    def node(self, name: str) -> Node:
        node = self.body.get(name)
        if node is None:
            raise InvalidArgumentError(f"'{name}' is not in its body")
        return node

    def output(self, text: str) -> Output:
        """Return the Output of `arg`, `arg:index`, `node:output_arg` or `node:output_arg:index`."""
        name, _, rest = text.partition(":")
        node = self.node(name)
        arg_name, _, index_text = rest.partition(":")
        if node.op == _ARG or arg_name.isdecimal():
            output = Output(node, output_number(arg_name) if arg_name.isdecimal() else 0)
            # An argument is written without its number unless the file has one: then the file's spelling is kept.
            if text == f"{name}:0":
                self.spellings[name, 0] = text
            return output
        if index_text and not index_text.isdecimal():
            raise InvalidArgumentError(f"'{text}' does not end with an output number")
        index = output_number(index_text) if index_text else 0
        definition = signature_of(node.op, self.library)
        if definition is None:
            return self.undeclared_output(node, arg_name, index, text)
        output = Output(node, _arg_start(definition, node, arg_name) + index)
        # Here it is the other way round: outputs of nodes are written with numbers, and a missing one is kept.
        if not index_text:
            self.spellings[name, output.index] = text
        return output

    def undeclared_output(self, node: Node, arg_name: str, index: int, text: str) -> Output:
        """Return an output of an undeclared op: arguments are numbered in the order of first sight."""
        prefix = f"{node.name}:{arg_name}:"
        spelled = {flat: seen for (name, flat), seen in self.spellings.items() if name == node.name}
        for flat, seen in spelled.items():
            if seen == text:
                return Output(node, flat)
        # The first number of an argument is not known without the op's interface. Any consistent numbers do: the body is
        # written back by the spellings.
        starts = [flat - int(seen.rpartition(":")[2]) for flat, seen in spelled.items() if seen.startswith(prefix)]
        start = starts[0] if starts else max(spelled, default=-1) + 1
        self.spellings[node.name, start + index] = text
        return Output(node, start + index)


@functools.lru_cache(maxsize=1000)
def _plain_arg(dtype: DType | Placeholder, index: int) -> dict[str, Any]:
    """Return the attributes of an argument, the same object for alike arguments: so the checks and shapes of one serve all."""
    return {"T": dtype, "index": index}


def _control_names(proto: FunctionDef) -> list[str]:
    """Return the control outputs in the signature's order, then control outputs that the signature does not list."""
    listed = [name for name in proto.signature.control_output if name in proto.control_ret]
    return listed + sorted(set(proto.control_ret) - set(listed))


def _arg_sizes(definition: OpDef, node: Node) -> Iterator[tuple[ArgDef, int]]:
    """Yield every output argument with the argument's number of outputs."""
    for arg in definition.outputs:
        if not arg.is_list:
            yield arg, 1
            continue
        value = definition.attr(node.attrs, str(arg.number_attr or arg.type_list_attr))
        if isinstance(value, Placeholder):
            message = f"the caller decides the number of its outputs '{arg.name}'"
            raise InvalidArgumentError(message, node=node.name, op=node.op)
        size = value if arg.number_attr else len(value) if isinstance(value, list) else None
        if not isinstance(size, int) or size < 0:
            raise InvalidArgumentError(next(attribute_faults(definition, node.attrs)), node=node.name, op=node.op)
        yield arg, size


def _arg_start(definition: OpDef, node: Node, arg_name: str) -> int:
    """Return the flat index of an output argument's first output."""
    # Nearly all ops have one output argument, and its attributes need not be looked up.
    if definition.outputs and definition.outputs[0].name == arg_name:
        return 0
    start = 0
    for arg, size in _arg_sizes(definition, node):
        if arg.name == arg_name:
            return start
        start += size
    names = ", ".join(arg.name for arg in definition.outputs)
    raise InvalidArgumentError(f"'{node.name}' ({node.op}) has no output '{arg_name}'; the outputs are {names or 'none'}")


def encode_function(function: Function, functions: Mapping[str, Function]) -> FunctionDef:
    """Return the message of a function: the loaded message, with all changed parts encoded anew."""
    source = function.source if isinstance(function.source, FunctionSource) else None
    proto = FunctionDef()
    if source is not None:
        proto.CopyFrom(source.proto)
    if source is None or function.signature is not source.signature:
        # Core's interface of an op has no control outputs, so they are carried over.
        control_outputs = list(proto.signature.control_output)
        proto.signature.CopyFrom(encode_signature(function.signature))
        proto.signature.control_output.extend(control_outputs)
    encoder = _Encoder(function, functions, source.spellings if source else {})
    nodes = encoder.nodes()
    if list(proto.node_def) != nodes:
        del proto.node_def[:]
        proto.node_def.extend(nodes)
    _update_map(proto.ret, {arg.name: encoder.text(value) for arg, value in zip(function.signature.outputs, function.results)})
    _update_controls(proto, function)
    if source is None or dict(function.attrs) != decode_attrs(proto.attr):
        proto.ClearField("attr")
        for name, value in function.attrs.items():
            proto.attr[name].CopyFrom(encode_attr(value))
    if source is None or function.arg_attrs is not source.arg_attrs:
        proto.ClearField("arg_attr")
        _set_arg_attrs(proto, function)
    return proto


def _update_map(target: MutableMapping[str, str], entries: Mapping[str, str]) -> None:
    if dict(target) != dict(entries):
        target.clear()
        target.update(entries)


def _update_controls(proto: FunctionDef, function: Function) -> None:
    """Update the control outputs: an output keeps the name of an unchanged node, and takes the node's name otherwise."""
    names = [node.name for node in function.control_results]
    if [proto.control_ret[name] for name in _control_names(proto)] == names:
        return
    del proto.signature.control_output[:]
    proto.signature.control_output.extend(names)
    _update_map(proto.control_ret, {name: name for name in names})


def _set_arg_attrs(proto: FunctionDef, function: Function) -> None:
    for index, attrs in function.arg_attrs.items():
        for name, value in attrs.items():
            proto.arg_attr[index].attr[name].CopyFrom(encode_attr(value, attr_type(_ARG, name)))
    for index, node in enumerate(function.args):
        if _RESOURCE_ID in node.attrs:
            proto.resource_arg_unique_id[index] = node.attrs[_RESOURCE_ID]


class _Encoder:
    """The encoder of a function's body; spells outputs as the function's message does."""

    def __init__(
        self, function: Function, functions: Mapping[str, Function], spellings: Mapping[tuple[str, int], str]
    ) -> None:
        self.function = function
        self.arg_names = {node: arg.name for node, arg in zip(function.args, function.signature.inputs)}
        self.functions = functions
        self.spellings = spellings

    def nodes(self) -> list[NodeDef]:
        return [encode_node(node, self.inputs(node)).proto for node in self.function.body if node not in self.arg_names]

    def inputs(self, node: Node) -> list[str]:
        return [self.text(value) for value in node.inputs] + [
            f"^{self.arg_names.get(control, control.name)}" for control in node.control_inputs
        ]

    def text(self, value: Output) -> str:
        node = value.node
        spelled = self.spellings.get((node.name, value.index))
        if spelled is not None:
            return spelled
        if node in self.arg_names:
            name = self.arg_names[node]
            return name if value.index == 0 else f"{name}:{value.index}"
        definition = signature_of(node.op, self.functions)
        if definition is None:
            raise InvalidArgumentError("its op is unknown, so its outputs have no names", node=node.name, op=node.op)
        start = 0
        for arg, size in _arg_sizes(definition, node):
            if value.index < start + size:
                return f"{node.name}:{arg.name}:{value.index - start}"
            start += size
        raise InvalidArgumentError(
            f"it has {counted(start, 'output')}, so output {value.index} does not exist", node=node.name, op=node.op
        )


class FunctionLibrary(ReadFunctions):
    """Functions by name, in the library's order, each decoded at first use.

    With `checks`, InvalidArgumentError names the first node of a decoded function that does not fit the node's op.
    """

    def __init__(self, library: FunctionDefLibrary, checks: bool = True, serialized: Iterable[memoryview] = ()) -> None:
        """`serialized` are further functions of the library, of which only the bytes are kept: each is parsed when it is asked
        for.
        """
        self.checks = checks
        self._entries: dict[str, Function | FunctionDef | memoryview] = {}
        self._signatures: dict[str, OpDef] = {}
        self._patterns: KeyedCache[Hashable, Function] = KeyedCache(_MOST_PATTERNS)
        self.reader = NodeReader()
        self._gradients = {gradient.function_name: gradient.gradient_func for gradient in library.gradient}
        for proto in library.function:
            self._add(proto.signature.name, proto)
        for data in serialized:
            self._add(function_name(data), data)

    def _add(self, name: str, entry: FunctionDef | memoryview) -> None:
        # TensorFlow takes a second definition that is equal to the first, and refuses any other.
        if name in self._entries and self.undecoded(name) != _parsed(entry):
            raise InvalidArgumentError(f"the library has two functions named '{name}'")
        self._entries[name] = entry

    def __getitem__(self, name: str) -> Function:
        function = self._entries[name]
        if not isinstance(function, Function):
            function = self._entries[name] = self._decoded(name, _parsed(function))
        if self.is_untrusted:
            function.pattern.body.is_untrusted = True
        return function

    def values(self) -> ValuesView[Function]:
        """Return all functions, decoded: passes over a library of thousands ask again and again."""
        for name in [name for name, entry in self._entries.items() if self.is_untrusted or not isinstance(entry, Function)]:
            self[name]
        return self._entries.values()  # type: ignore[return-value]

    def get(self, name: str, default: Any = None) -> Any:
        # Mapping.get would raise and catch an error for each op that is no function.
        return self[name] if name in self._entries else default

    def _decoded(self, name: str, proto: FunctionDef) -> Function:
        """Return a function that shares the nodes of its equals until somebody asks for its own."""
        gradient = self._gradients.get(name)
        key = gradient, *_apart_from_name(proto)
        pattern = known = self._patterns.get(key)
        if pattern is None or not pattern.is_pattern:
            pattern = self._patterns[key] = decode_function(proto, self, gradient, self.checks)
            # The first function may take the parts for its own. When an equal one follows, the library keeps them for more.
            if known is not None:
                pattern.share()
        signature = dataclasses.replace(pattern.signature, name=name)
        # The arguments' attributes are those of the pattern, the same object: who changes them, replaces them.
        source = FunctionSource(proto, signature, pattern.arg_attrs, pattern.source.spellings)
        return Function.like(pattern, signature, source)

    def one_by_one(self) -> Iterator[Function]:
        """Yield all functions; functions decoded only for this iteration are not cached."""
        for name, entry in self._entries.items():
            yield entry if isinstance(entry, Function) else self._decoded(name, _parsed(entry))

    def __setitem__(self, name: str, function: Function) -> None:
        self._entries[name] = function
        self._signatures.pop(name, None)
        self.derived.clear()

    def __delitem__(self, name: str) -> None:
        del self._entries[name]
        self._signatures.pop(name, None)
        self.derived.clear()

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __copy__(self) -> FunctionLibrary:
        result = FunctionLibrary(FunctionDefLibrary(), self.checks)
        result._entries = dict(self._entries)
        result._gradients = dict(self._gradients)
        result.reader, result.is_untrusted = self.reader, self.is_untrusted
        return result

    # A call needs only the interface, so a library of thousands of functions is decoded as far as a run goes.
    def signature(self, name: str) -> OpDef | None:
        entry = self._entries.get(name)
        if entry is None:
            return None
        if isinstance(entry, Function):
            return entry.signature
        if name not in self._signatures:
            self._signatures[name] = decode_signature(_parsed(entry).signature)
        return self._signatures[name]

    def undecoded(self, name: str) -> FunctionDef | None:
        """Return the message of a function that is not decoded yet."""
        entry = self._entries.get(name)
        return None if entry is None or isinstance(entry, Function) else _parsed(entry)


def _parsed(entry: FunctionDef | memoryview) -> FunctionDef:
    return parse(FunctionDef, entry) if isinstance(entry, memoryview) else entry


def _apart_from_name(proto: FunctionDef) -> tuple[int, bytes]:
    """Return what a function is but for its name: the size of the rest of the signature, and the bytes from there on."""
    name = proto.signature.name.encode("utf-8", "surrogateescape")
    data = proto.SerializeToString(deterministic=True)
    # The name is the first string of the first field. Should it occur earlier, as bytes of a length, then more bytes are
    # compared, and fewer functions are found equal.
    start = data.find(name) + len(name)
    return proto.signature.ByteSize() - len(name), data[start:]


def encode_library(functions: Mapping[str, Function], library: FunctionDefLibrary) -> None:
    """Bring the message of a graph's functions up to date; unchanged functions keep their loaded messages."""
    # A gradient of a function that is still there stays, also of one that was never decoded.
    removed = {function.signature.name for function in library.function}.difference(functions)
    order = [gradient.function_name for gradient in library.gradient]
    gradients = {g.function_name: g.gradient_func for g in library.gradient if g.function_name not in removed}
    messages = []
    for name in functions:
        # A function that was never decoded is written with its original bytes: decoding could fail on a function that nobody
        # uses.
        untouched = functions.undecoded(name) if isinstance(functions, FunctionLibrary) else None
        if untouched is not None:
            messages.append(untouched)
            continue
        function = functions[name]
        messages.append(encode_function(function, functions))
        gradients.pop(name, None)
        if function.gradient is not None:
            gradients[name] = function.gradient
    del library.function[:], library.gradient[:]
    library.function.extend(messages)
    # Gradients keep the order of the file, with new ones at the end, so that an unchanged library is written unchanged.
    for name in sorted(gradients, key=lambda name: order.index(name) if name in order else len(order)):
        library.gradient.add(function_name=name, gradient_func=gradients[name])
