"""Adding nodes: op wrappers made from the catalog, name scopes, control dependencies, colocation and devices."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..graph.graph import Graph, Node, Output
from ..registry.catalog import CATALOG, ArgDef, OpDef
from ..registry.validation import check_value
from ..support.arguments import expect
from ..support.errors import ArgumentTypeError, InvalidArgumentError
from ..support.grouping import grouped
from ..support.versions import GRAPH_VERSION, Versions
from ..support.words import counted
from ..types import dtypes
from ..types.dtypes import DType
from ..types.shapes import Shape, as_shape
from ..types.tensors import FuncRef, Tensor, as_array
from .built_variables import BuiltVariable
from .placement import DeviceSpec, canonical_device
from .raw_ops import RawOps

_MANUAL_CONTROLS = "_has_manual_control_dependencies"


class _Controls:
    """A `control_dependencies` block: the nodes to wait for, and the nodes made in the block."""

    def __init__(self, nodes: tuple[Node, ...]) -> None:
        self.nodes = nodes
        self.made: set[Node] = set()


class NodeBuilder(RawOps):
    """Adds nodes to a graph. `b.MatMul(x, w, transpose_b=True, name="y")` adds a MatMul and returns the Output.

    Inputs are Outputs, tensor names, or Python and NumPy values, which become Const nodes. Type and length attributes
    follow from the inputs. A call returns the only Output, a tuple of Outputs, or the Node of an op without outputs.
    """

    def __init__(self, graph: Graph | None = None) -> None:
        if graph is None:
            graph = Graph()
            graph.versions = Versions(GRAPH_VERSION)
        self.graph = graph
        self._names = UniqueNames(graph)
        self._scope = ""
        self._controls: tuple[_Controls, ...] = ()
        self._device = ""
        self._colocation: tuple[Node, ...] = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.graph!r}>"

    def apply(self, op: str, *inputs: Any, name: str | None = None, **attrs: Any) -> Any:
        """Add a node of type `op`; list arguments are given as sequences, attributes by keyword."""
        node = self.add(op, inputs, attrs, name)
        outputs = tuple(Output(node, i) for i in range(len(node.output_dtypes)))
        if not outputs:
            return node
        definition = CATALOG[op]
        return outputs[0] if len(definition.outputs) == 1 and not definition.outputs[0].is_list else outputs

    def add(self, op: str, inputs: Sequence[Any], attrs: Mapping[str, Any], name: str | None = None) -> Node:
        """Add a node and return the node; InvalidArgumentError if inputs or attributes do not fit the op's interface."""
        definition = CATALOG[op]
        if len(inputs) != len(definition.inputs):
            names = ", ".join(arg.name for arg in definition.inputs)
            takes = counted(len(definition.inputs), "input")
            raise InvalidArgumentError(f"{op} takes {takes} ({names}), not {len(inputs)}", op=op)
        if name is not None and not isinstance(name, str):
            raise ArgumentTypeError(f"a name must be a string, not {name!r}", op=op)
        # As in TensorFlow, a name with a slash at the end is the full name, without the scopes around.
        exact = (name or op).endswith("/")
        node_name = (name or op).rstrip("/") if exact else self._names.unique(self._scope + (name or op))
        resolved = {key: _attr_value(definition, key, value) for key, value in attrs.items() if value is not None}
        flat: list[Output] = []
        for arg, operand in zip(definition.inputs, inputs):
            flat += self._argument(definition, arg, operand, resolved, node_name)
        self._fill_defaults(definition, resolved, node_name)
        if self._colocation and "_class" not in resolved:
            # A node that shares a device with another hands that name on, so that chains stay short.
            partners = {partner for other in self._colocation for partner in other.colocation or (other.name,)}
            resolved["_class"] = [b"loc:@" + name.encode("utf-8", "surrogateescape") for name in sorted(partners)]
        node = self.graph.add_node(node_name, op, flat, self._waits_for(flat), resolved, self._device)
        for block in self._controls:
            block.made.add(node)
        return node

    def _waits_for(self, inputs: Sequence[Output]) -> list[Node]:
        """Return the control inputs in the order of their names.

        A block that made any of the inputs adds none, since the input has waited already.
        """
        sources = {value.node for value in inputs}
        blocks = (block for block in self._controls if not sources & block.made)
        # In one order, since sets have none: a graph that is built twice is the same file.
        return sorted({node for block in blocks for node in block.nodes if node not in sources}, key=lambda node: node.name)

    def constant(self, value: Any, dtype: DType | str | None = None, name: str = "Const", **attrs: Any) -> Output:
        """Add a Const node holding `value`; Python floats become float32 and ints int32, as in TensorFlow."""
        tensor = as_tensor(value, None if dtype is None else dtypes.as_dtype(dtype))
        node = self.add("Const", (), {"value": tensor, "dtype": tensor.dtype, **attrs}, name)
        return node.output()

    def group(self, nodes: Iterable[Output | Node | BuiltVariable], name: str = "group_deps") -> Node:
        """Add a NoOp that waits for all `nodes`; for nodes on several devices, a NoOp on each device comes in between."""
        by_device = grouped((node.device, node) for node in map(_node_of, nodes))
        with self.name_scope(name) as scope:
            # A tree of two levels, as in TensorFlow: each device tells the last node once, and not once for each of its nodes.
            if len(by_device) > 1:
                joined = [self._no_op(device, by_device[device], "NoOp") for device in sorted(by_device)]
                return self._no_op("", joined, scope)
            device, members = next(iter(by_device.items()), ("", []))
            return self._no_op(device, members, scope)

    def _no_op(self, device: str, controls: Sequence[Node], name: str) -> Node:
        with self.device(device), self.control_dependencies(controls):
            return self.NoOp(name=name)

    @contextlib.contextmanager
    def _with(self, **fields: Any) -> Iterator[None]:
        """Change fields of this builder for the block."""
        outer = {name: getattr(self, name) for name in fields}
        vars(self).update(fields)
        try:
            yield
        finally:
            vars(self).update(outer)

    @contextlib.contextmanager
    def name_scope(self, name: str) -> Iterator[str]:
        """Name nodes made in the block `name/...`; a taken name gets a suffix, `name/` opens a scope again. Yields `name/`."""
        expect(str, name)
        scope = name if name.endswith("/") else f"{self._names.unique_scope(self._scope + name)}/"
        with self._with(_scope=scope):
            yield scope

    @contextlib.contextmanager
    def control_dependencies(self, controls: Iterable[Output | Node | BuiltVariable]) -> Iterator[None]:
        """Let nodes made in the block wait for `controls`."""
        nodes = tuple(dict.fromkeys(_node_of(control) for control in controls))
        for node in nodes:
            # TensorFlow marks the nodes that a user names to wait for.
            if not node.attrs.get(_MANUAL_CONTROLS):
                node.set_attr(_MANUAL_CONTROLS, True)
        with self._with(_controls=(*self._controls, _Controls(nodes))):
            yield

    def no_controls(self) -> contextlib.AbstractContextManager[None]:
        """Let nodes made in the block wait for nothing, whatever control_dependencies are open."""
        return self._with(_controls=())

    @contextlib.contextmanager
    def device(self, device: str | None) -> Iterator[None]:
        """Place nodes made in the block on `device`; parts that `device` leaves open come from the scope around.

        None is no device.
        """
        expect(str | None, device)
        merged = "" if device is None else str(DeviceSpec.parse(self._device).merged(DeviceSpec.parse(device)))
        with self._with(_device=merged):
            yield

    @contextlib.contextmanager
    def colocate_with(self, target: Output | Node | BuiltVariable) -> Iterator[None]:
        """Let nodes made in the block share the device of `target` (`loc:@target`)."""
        node = _node_of(target)
        # The device of the target takes the place of the scopes', as in TensorFlow.
        with self._with(_colocation=(*self._colocation, node), _device=canonical_device(node.device)):
            yield

    def no_placement(self) -> contextlib.AbstractContextManager[None]:
        """Let nodes made in the block have no device and share none, whatever scopes are open."""
        return self._with(_colocation=(), _device="")

    def as_output(self, value: Any, dtype: DType | None = None, name: str = "Const") -> Output:
        """Return the Output of an Output, a Node, a tensor name, or a value that becomes a Const."""
        if isinstance(value, Output):
            return value
        if isinstance(value, Node):
            return value.output()
        if isinstance(value, BuiltVariable):
            return value.value
        # For an op on strings a text is a value, for any other the name of a tensor.
        if isinstance(value, str) and dtype is not dtypes.string:
            return self.graph.output(value)
        return self.constant(value, dtype, name)

    def _argument(self, definition: OpDef, arg: ArgDef, operand: Any, attrs: dict[str, Any], node_name: str) -> list[Output]:
        """Return the outputs for an argument, and set the type and length attributes that follow from them."""
        items = [self._read(item, arg, node_name) for item in (operand if arg.is_list else [operand])]
        dtype_hint = arg.dtype or (attrs.get(arg.type_attr) if arg.type_attr else None)
        if dtype_hint is None and arg.type_attr:
            dtype_hint = next((i.dtype.base for i in items if isinstance(i, Output) and i.dtype), None)
            dtype_hint = dtype_hint or _default_type(definition, arg.type_attr, items)
        types = attrs.get(arg.type_list_attr) if arg.type_list_attr else None
        # A Const is named behind the node that takes it; the scope is cut off, as adding the Const puts it in front again.
        outputs = [
            self.as_output(item, types[i] if types else dtype_hint, f"{node_name}/{arg.name}"[len(self._scope) :])
            for i, item in enumerate(items)
        ]
        output_dtypes = [output.dtype.base if output.dtype else dtypes.float32 for output in outputs]
        if arg.number_attr:
            attrs.setdefault(arg.number_attr, len(outputs))
        if arg.type_list_attr:
            attrs.setdefault(arg.type_list_attr, output_dtypes)
        elif arg.type_attr and output_dtypes:
            attrs.setdefault(arg.type_attr, output_dtypes[0])
        expected = arg.dtype or (attrs.get(arg.type_attr) if arg.type_attr else None)
        for dtype in output_dtypes:
            if expected is not None and dtype is not expected:
                raise InvalidArgumentError(
                    f"input '{arg.name}' is {dtype}, not {expected}", node=node_name, op=definition.name
                )
        return outputs

    def _read(self, item: Any, arg: ArgDef, node_name: str) -> Any:
        """Return the op's input for a variable: the reference, the handle or the value.

        Every use of a resource adds a new read.
        """
        if not isinstance(item, BuiltVariable):
            return item
        if arg.is_ref or arg.dtype is dtypes.resource:
            return item.handle
        if not item.is_resource:
            return item.value
        name = f"{node_name}/ReadVariableOp"[len(self._scope) :]
        with self.no_placement():
            return self.ReadVariableOp(item.handle, dtype=item.dtype, name=name)

    def _fill_defaults(self, definition: OpDef, attrs: dict[str, Any], node_name: str) -> None:
        for attr in definition.attrs.values():
            if attr.name not in attrs:
                if not attr.has_default:
                    raise InvalidArgumentError(f"missing attribute '{attr.name}'", node=node_name, op=definition.name)
                attrs[attr.name] = attr.default


def _node_of(item: Output | Node | BuiltVariable) -> Node:
    if isinstance(item, BuiltVariable):
        return item.handle.node
    expect(Node | Output, item)
    return item.node if isinstance(item, Output) else item


def _default_type(definition: OpDef, type_attr: str, items: Sequence[Any]) -> DType | None:
    """Return the attribute's default where the op has one and the value has no dtype of its own."""
    attr = definition.attrs[type_attr]
    if attr.has_default and items and not isinstance(items[0], (np.ndarray, np.generic)):
        default: DType | None = attr.default
        return default
    return None


def as_tensor(value: Any, dtype: DType | None = None) -> Tensor:
    """Return a Tensor for a Tensor or a value; Python floats are float32 and ints int32 (int64 where they do not fit)."""
    if isinstance(value, Tensor):
        return value
    # A value of NumPy has a dtype that somebody chose; TensorFlow's own defaults are for Python's numbers.
    if dtype is None and not isinstance(value, (np.ndarray, np.generic)):
        array = as_array(value)
        if array.dtype == np.float64:
            dtype = dtypes.float32
        elif array.dtype == np.int64 and np.all((array >= -(2**31)) & (array < 2**31)):
            dtype = dtypes.int32
    return Tensor.from_numpy(value, dtype)


def _attr_value(definition: OpDef, name: str, value: Any) -> Any:
    """Return a plain attribute value for a Python value; InvalidArgumentError for a wrong type or value."""
    # No op declares such an attribute, and TensorFlow lets every node have any.
    if name.startswith("_"):
        return value
    attr = definition.attrs.get(name)
    if attr is None:
        names = ", ".join(definition.attrs)
        raise InvalidArgumentError(
            f"{definition.name} has no attribute '{name}'; its attributes are {names}", op=definition.name
        )
    try:
        if attr.type.startswith("list("):
            element = attr.type[5:-1]
            converted: Any = [_CONVERTERS[element](item) for item in value]
        else:
            converted = _CONVERTERS[attr.type](value)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"attribute '{name}' must be {attr.type}, not {value!r}", op=definition.name) from error
    try:
        check_value(attr, converted)
    except InvalidArgumentError as error:
        raise InvalidArgumentError(error.message, op=definition.name) from None
    return converted


def _as_bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


_CONVERTERS: dict[str, Callable[[Any], Any]] = {
    "int": int,
    "float": float,
    "bool": bool,
    "string": _as_bytes,
    "type": lambda value: dtypes.as_dtype(value).base,
    "shape": lambda value: value if isinstance(value, Shape) else as_shape(value),
    "tensor": as_tensor,
    "func": lambda value: value if isinstance(value, FuncRef) else FuncRef(str(value)),
}


# Unique names as TensorFlow numbers them: case-insensitive; name scopes and nodes share a list.


class UniqueNames:
    """The names taken in a graph: names of nodes, and of opened scopes."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._used: dict[str, int] = {}
        self._seen_scopes: set[str] | None = None

    def unique(self, name: str) -> str:
        """Return `name`, or with the first free suffix `_1`, `_2` ...; the name is taken from now on."""
        # As in TensorFlow, whose unique names differ in more than their case.
        key = name.lower()
        count = self._used.get(key, 0)
        if count == 0 and name in self._graph:
            count = 1
        self._used[key] = count + 1
        if count == 0:
            return name
        candidate = name
        while candidate.lower() in self._used or candidate in self._graph:
            candidate = f"{name}_{count}"
            count += 1
        self._used[key] = count
        self._used[candidate.lower()] = 1
        return candidate

    def unique_scope(self, name: str) -> str:
        """Return a unique name for a scope: names before a `/` in the graph's nodes are taken too."""
        if self._seen_scopes is None:
            self._seen_scopes = _scopes(self._graph)
            for scope in self._seen_scopes:
                self._used.setdefault(scope.lower(), 1)
        return self.unique(name)


def _scopes(graph: Graph) -> set[str]:
    """Return every scope that holds a node."""
    scopes: set[str] = set()
    for node in graph:
        scope = node.name.rpartition("/")[0]
        while scope and scope not in scopes:
            scopes.add(scope)
            scope = scope.rpartition("/")[0]
    return scopes
