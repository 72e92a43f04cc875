"""The graph: nodes by name, edges that are changed only by the graph's own methods, and a library of functions, graphs too."""

from __future__ import annotations

import copy
import dataclasses
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from .catalog import CATALOG, OpDef
from .dtypes import DType
from .errors import AlreadyExistsError, InvalidArgumentError, NotFoundError
from .node_kinds import OfKind
from .tensor_names import parse_tensor_name
from .validation import check_attrs, check_colocation, check_name, check_op_name, expected_inputs

if TYPE_CHECKING:
    from .metagraph import MetaGraph
    from .saved_gradients import RegisteredGradient
    from .versions import Versions


class Output:
    """One output of a node: the end of an edge. `str()` is the tensor name, `node:index`.

    There is one object for each output, so that it is compared and found in dictionaries by what it is.
    """

    __slots__ = ("index", "node")

    node: Node
    index: int

    def __new__(cls, node: Node, index: int) -> Output:
        known = node._first if index == 0 else node._others.get(index) if node._others is not None else None
        return known if known is not None else _make_output(node, index)

    @property
    def name(self) -> str:
        """The tensor name, `node:index`."""
        return f"{self.node.name}:{self.index}"

    @property
    def dtype(self) -> DType | None:
        """The dtype, or None where the op is not declared."""
        return self.node.output_dtype(self.index)

    @property
    def base_dtype(self) -> DType:
        """The dtype of the value, behind a reference too; InvalidArgumentError where the op is not declared."""
        if self.dtype is None:
            raise InvalidArgumentError(f"the dtype of {self} is not known", node=self.node.name, op=self.node.op)
        return self.dtype.base

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Output({self.name})"


_making: Final = threading.Lock()


def _make_output(node: Node, index: int) -> Output:
    """The object for an output that nobody asked for before; of threads that ask at once, all get the same."""
    with _making:
        others = {} if node._others is None else node._others
        known = node._first if index == 0 else others.get(index)
        if known is None:
            known = object.__new__(Output)
            known.node, known.index = node, index
            if index == 0:
                node._first = known
            else:
                others[index] = known
                node._others = others
        return known


class Node(OfKind):
    """One operation of a graph. Edges are changed through the graph's methods only."""

    __slots__ = (
        "_checked", "_control_inputs", "_first", "_inputs", "_others", "_output_dtypes", "attrs", "device", "name", "op",
        "source", "uses",
    )  # fmt: skip

    name: str
    op: str
    attrs: Mapping[str, Any]
    device: str
    uses: dict[Node, int]
    """Consumers, each with the number of its data and control inputs that come from here."""
    source: Any
    """Whatever a format keeps to write the node back unchanged."""

    def __init__(self, name: str, op: str, attrs: Mapping[str, Any], device: str = "", source: Any = None) -> None:
        self.name = name
        self.op = op
        self.attrs = attrs
        self.device = device
        self.source = source
        self.uses = {}
        self._inputs: tuple[Output, ...] = ()
        self._control_inputs: tuple[Node, ...] = ()
        self._output_dtypes: tuple[DType, ...] | None = None
        self._checked: _Checked | None = None
        self._first: Output | None = None
        self._others: dict[int, Output] | None = None

    @property
    def inputs(self) -> tuple[Output, ...]:
        return self._inputs

    @inputs.setter
    def inputs(self, value: object) -> None:
        raise AttributeError("edges are changed by Graph.set_input, set_inputs or replace_all_uses")

    @property
    def control_inputs(self) -> tuple[Node, ...]:
        return self._control_inputs

    @control_inputs.setter
    def control_inputs(self, value: object) -> None:
        raise AttributeError("edges are changed by Graph.add_control_input, remove_control_input or set_inputs")

    @property
    def op_def(self) -> OpDef | None:
        """The op's interface, or None for an op that nobody declared."""
        return CATALOG.get(self.op)

    def attr(self, name: str, default: Any = None) -> Any:
        """An attribute's value, the op's default for it, or `default`."""
        if name in self.attrs:
            return self.attrs[name]
        definition = self.op_def.attrs.get(name) if self.op_def else None
        return definition.default if definition is not None and definition.has_default else default

    def change_op(self, op: str) -> None:
        """Make it a node of another type; inputs and attributes stay."""
        self.op = op
        self._output_dtypes = None

    def set_attr(self, name: str, value: Any) -> None:
        """Set an attribute to a plain value: int, float, bool, bytes, DType, Shape, Tensor, FuncRef or a list of them."""
        self.attrs = {**self.attrs, name: value}
        self._output_dtypes = None

    def remove_attr(self, name: str) -> None:
        """Drop an attribute where it is set."""
        self.attrs = {key: value for key, value in self.attrs.items() if key != name}
        self._output_dtypes = None

    def forget_dtypes(self) -> None:
        """Derive the output dtypes anew, after `op` or `attrs` were assigned."""
        self._output_dtypes = None

    @property
    def output_dtypes(self) -> tuple[DType, ...]:
        """The dtypes of all outputs; empty where the op is not declared."""
        if self._output_dtypes is None:
            definition = self.op_def
            self._output_dtypes = () if definition is None else tuple(definition.output_dtypes(self.attrs))
        return self._output_dtypes

    def output_dtype(self, index: int) -> DType | None:
        found = self.output_dtypes
        return found[index] if index < len(found) else None

    def output(self, index: int = 0) -> Output:
        return Output(self, index)

    def outputs(self) -> list[Output]:
        """All outputs; empty where the op is not declared."""
        return [Output(self, i) for i in range(len(self.output_dtypes))]

    @property
    def colocation(self) -> tuple[str, ...]:
        """The names after `loc:@` in `_class`: the nodes this one must share a device with."""
        entries = self.attrs.get("_class", ())
        check_colocation(entries)
        return tuple(e[5:].decode("utf-8", "replace") for e in entries if e.startswith(b"loc:@"))

    def __repr__(self) -> str:
        return f"Node({self.name}, {self.op})"


class Graph:
    """Nodes in insertion order, the function library and the versions of the GraphDef they came from."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self.functions: MutableMapping[str, Function] = {}
        self.registered_gradients: Mapping[str, RegisteredGradient] = {}
        self.versions: Versions | None = None
        self.meta: MetaGraph | None = None
        self.source: Any = None
        self.needless: frozenset[str] = frozenset()
        """Nodes that an optimization removed because no fetch ran them; sessions ignore what is fed for them. Files do not
        keep these names."""

    def __len__(self) -> int:
        return len(self._nodes)

    def __iter__(self) -> Iterator[Node]:
        return iter(self._nodes.values())

    def __contains__(self, name: object) -> bool:
        return name in self._nodes

    def __getitem__(self, name: str) -> Node:
        return self.node(name)

    def get(self, name: str) -> Node | None:
        return self._nodes.get(name)

    def node(self, name: str) -> Node:
        """The node called `name`; NotFoundError names the nearest names."""
        found = self._nodes.get(name)
        if found is None:
            raise NotFoundError(f"the graph has no node '{name}'", hint=self._nearest(name))
        return found

    def node_of(self, tensor_name: str) -> Node:
        """The node that `a`, `a:1` or `^a` is about; whether it has such an output is not asked."""
        return self.node(parse_tensor_name(tensor_name)[0])

    def output(self, tensor_name: str) -> Output:
        """The Output called `a` or `a:1`; errors where the node or the output does not exist."""
        name, index, is_control = parse_tensor_name(tensor_name)
        if is_control:
            raise InvalidArgumentError(f"'{tensor_name}' is a control input, not a tensor")
        node = self.node(name)
        if node.op_def is not None and index >= len(node.output_dtypes):
            count = len(node.output_dtypes)
            raise InvalidArgumentError(f"there is no output {index}: it has {count}", node=name, op=node.op)
        return Output(node, index)

    def fetch(self, name: str) -> Output | Node:
        """What a session fetches by a name: the tensor `a:0`, the operation `a`; errors where there is none."""
        if parse_tensor_name(name)[2]:
            raise InvalidArgumentError(f"'{name}' is a control input; fetch the operation by its plain name")
        return self.output(name) if ":" in name else self.node(name)

    def result(self, name: str) -> Output | Node:
        """What people mean by a name: the first output of `a`, or the operation where it has none."""
        found = self.fetch(name)
        has_outputs = isinstance(found, Node) and (found.op_def is None or found.output_dtypes)
        return found.output() if isinstance(found, Node) and has_outputs else found

    def unique_name(self, name: str) -> str:
        """`name`, or with the first free suffix `_1`, `_2` ... as TensorFlow numbers them."""
        if name not in self._nodes:
            return name
        suffix = 1
        while f"{name}_{suffix}" in self._nodes:
            suffix += 1
        return f"{name}_{suffix}"

    def add_node(
        self,
        name: str,
        op: str,
        inputs: Iterable[Output] = (),
        control_inputs: Iterable[Node] = (),
        attrs: Mapping[str, Any] | None = None,
        device: str = "",
        source: Any = None,
    ) -> Node:
        """Append a node; AlreadyExistsError where the name is taken."""
        if name in self._nodes:
            raise AlreadyExistsError(f"the graph already has a node '{name}'")
        node = Node(name, op, attrs if attrs is not None else {}, device, source)
        self._nodes[name] = node
        self.set_inputs(node, inputs, control_inputs)
        return node

    def remove_node(self, node: Node) -> None:
        """Remove a node that nothing uses; InvalidArgumentError names a consumer otherwise."""
        if node.uses:
            consumer = next(iter(node.uses))
            raise InvalidArgumentError(f"it is still used by '{consumer.name}'", node=node.name, op=node.op)
        self.set_inputs(node, (), ())
        del self._nodes[node.name]

    def remove_nodes(self, nodes: Iterable[Node]) -> None:
        """Remove nodes that only each other use."""
        doomed = list(nodes)
        for node in doomed:
            self.set_inputs(node, (), ())
        for node in doomed:
            self.remove_node(node)

    def rename_node(self, node: Node, name: str) -> None:
        """Give a node another name, its place in the order kept."""
        if name in self._nodes and self._nodes[name] is not node:
            raise AlreadyExistsError(f"the graph already has a node '{name}'")
        self._nodes = {name if n is node else n.name: n for n in self._nodes.values()}
        node.name = name

    def set_inputs(self, node: Node, inputs: Iterable[Output], control_inputs: Iterable[Node] | None = None) -> None:
        """Replace all data inputs, and all control inputs where they are given."""
        for value in node._inputs:
            _drop_use(value.node, node)
        node._inputs = tuple(inputs)
        for value in node._inputs:
            value.node.uses[node] = value.node.uses.get(node, 0) + 1
        if control_inputs is None:
            return
        for control in node._control_inputs:
            _drop_use(control, node)
        node._control_inputs = tuple(dict.fromkeys(control_inputs))
        for control in node._control_inputs:
            control.uses[node] = control.uses.get(node, 0) + 1

    def set_input(self, node: Node, index: int, value: Output) -> None:
        """Replace one data input."""
        self.set_inputs(node, (*node._inputs[:index], value, *node._inputs[index + 1 :]))

    def add_control_input(self, node: Node, control: Node) -> None:
        """Make `node` wait for `control`."""
        if control not in node._control_inputs:
            node._control_inputs += (control,)
            control.uses[node] = control.uses.get(node, 0) + 1

    def remove_control_input(self, node: Node, control: Node) -> None:
        """Make `node` no longer wait for `control`."""
        if control in node._control_inputs:
            node._control_inputs = tuple(c for c in node._control_inputs if c is not control)
            _drop_use(control, node)

    def replace_all_uses(self, old: Output, new: Output) -> None:
        """Let every data consumer of `old` take `new`; control edges from old's node stay."""
        for consumer in list(old.node.uses):
            if consumer is not new.node and old in consumer._inputs:
                self.set_inputs(consumer, (new if value == old else value for value in consumer._inputs))

    def replace_control_uses(self, old: Node, new: Node) -> None:
        """Let every node that waits for `old` wait for `new`."""
        for consumer in list(old.uses):
            if consumer is not new and old in consumer._control_inputs:
                self.remove_control_input(consumer, old)
                self.add_control_input(consumer, new)

    def consumers(self, output: Output) -> list[Node]:
        """Nodes that take `output` as a data input."""
        return [node for node in output.node.uses if output in node._inputs]

    def control_consumers(self, node: Node) -> list[Node]:
        """Nodes that wait for `node`."""
        return [consumer for consumer in node.uses if node in consumer._control_inputs]

    def copy(self) -> Graph:
        """A graph of new nodes that shares attribute values and functions with this one."""
        result = Graph()
        result.versions, result.meta, result.source = self.versions, self.meta, self.source
        result.needless = self.needless
        result.functions = copy.copy(self.functions)
        result.registered_gradients = self.registered_gradients
        for node in self:
            made = result._nodes[node.name] = Node(node.name, node.op, node.attrs, node.device, node.source)
            made._checked = node._checked
        for node in self:
            result.set_inputs(
                result._nodes[node.name],
                [Output(result._nodes[value.node.name], value.index) for value in node._inputs],
                [result._nodes[control.name] for control in node._control_inputs],
            )
        return result

    def reorder(self, nodes: Sequence[Node]) -> None:
        """Put all nodes into the order given."""
        if set(nodes) != set(self._nodes.values()):
            raise InvalidArgumentError("reorder needs each node of the graph exactly once")
        self._nodes = {node.name: node for node in nodes}

    def check(self, left_open: Collection[str] = ()) -> None:
        """Validate names, edges, attributes, and numbers and dtypes of inputs; InvalidArgumentError names the node.

        `left_open` names the attributes that the callers of a function give, for which `Placeholder`s stand in its body. What
        was found of a node holds until its op or attributes change, so that checking again costs little.
        """
        for check in (lambda node: self._check_node(node, left_open), self._check_edges):
            for node in self._nodes.values():
                try:
                    check(node)
                except InvalidArgumentError as error:
                    raise InvalidArgumentError(error.message, node=node.name, op=node.op, hint=error.hint) from None

    def _check_edges(self, node: Node) -> None:
        nodes = self._nodes
        for source in (*(value.node for value in node._inputs), *node._control_inputs):
            if nodes.get(source.name) is not source:
                raise InvalidArgumentError(f"input '{source.name}' is not in the graph")
            if node not in source.uses:
                raise InvalidArgumentError(f"'{source.name}' does not list it as a use")
        self._check_inputs(node)

    def _check_node(self, node: Node, left_open: Collection[str]) -> None:
        found = node._checked
        if found is None or not found.holds(node):
            found = node._checked = self._checked(node)
        for name in found.opened:
            if name not in left_open:
                raise InvalidArgumentError(f"attribute '{name}' is left to a caller, and there is none")

    def _check_inputs(self, node: Node) -> None:
        """The dtypes of a node's inputs, once all nodes were found to make what they say."""
        expected, inputs = node._checked.inputs if node._checked else None, node._inputs
        if expected is None:
            return
        if len(expected) != len(inputs):
            raise InvalidArgumentError(f"it has {len(inputs)} inputs, its op takes {len(expected)}")
        for i, value in enumerate(inputs):
            got, want = value.dtype, expected[i]
            if got is not want and want is not None:
                self._check_input(i, value, got, want)

    def _check_input(self, index: int, value: Output, got: DType | None, want: DType) -> None:
        if got is None:
            if value.node.op_def is not None:
                raise InvalidArgumentError(f"input {index} is '{value}', which does not exist")
        elif got.base is not want.base or (want.is_ref and not got.is_ref):
            raise InvalidArgumentError(f"input {index}, '{value}', is {got}, not {want}")

    def _checked(self, node: Node) -> _Checked:
        """What holds of a node whatever surrounds it."""
        check_name(node.name)
        definition = node.op_def
        if definition is None:
            check_op_name(node.op)
            return _Checked(node.name, node.op, node.attrs, None)
        opened = check_attrs(definition, node.attrs)
        expected = expected_inputs(definition, node.attrs, len(node._inputs))
        node.output_dtypes  # noqa: B018 - evaluated for its errors
        return _Checked(node.name, node.op, node.attrs, expected, opened)

    def _nearest(self, name: str) -> str:
        from difflib import get_close_matches

        close = get_close_matches(name, self._nodes, n=3, cutoff=0.5)
        if not close:
            close = [n for n in self._nodes if name.lower() in n.lower()][:3]
        return f"nearest names: {', '.join(close)}" if close else "`tfg dump --format list` lists all nodes"


class _Checked:
    """That a node was found to fit its op's interface, and the dtypes of the inputs it takes; None for an unknown op.

    `opened` names what its attributes leave to the caller of the function that it stands in.
    """

    __slots__ = ("attrs", "inputs", "name", "op", "opened")

    def __init__(
        self, name: str, op: str, attrs: Mapping[str, Any], inputs: tuple[DType, ...] | None, opened: Sequence[str] = ()
    ) -> None:
        self.opened = opened
        self.name = name
        self.op = op
        self.attrs = attrs
        self.inputs = inputs

    def holds(self, node: Node) -> bool:
        """True while nothing has changed that was looked at."""
        return self.attrs is node.attrs and self.op == node.op and self.name == node.name


def _drop_use(source: Node, consumer: Node) -> None:
    source.uses[consumer] -= 1
    if not source.uses[consumer]:
        del source.uses[consumer]


@dataclasses.dataclass(slots=True)
class Function:
    """A function: its interface as an OpDef, its body, and which outputs and nodes of the body it returns.

    `args` are the body's `_Arg` nodes in order, `results` the outputs returned, `control_results` the nodes that must have
    run before a call counts as done. A polymorphic body holds `tensors.Placeholder` attribute values.
    """

    signature: OpDef
    body: Graph
    args: list[Node]
    results: list[Output]
    control_results: list[Node] = dataclasses.field(default_factory=list)
    attrs: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    arg_attrs: Mapping[int, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    gradient: str | None = None
    """The function that TensorFlow is to call for this one's gradient, where one is declared."""
    source: Any = None
    """Whatever a format keeps to write the function back unchanged."""

    @property
    def name(self) -> str:
        return self.signature.name
