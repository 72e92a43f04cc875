"""Nodes and their outputs, the ends of edges. Names from a file are resolved to objects on demand."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, TypeVar

from ..registry.catalog import CATALOG, OpDef
from ..registry.op_facts import NodeKinds
from ..registry.validation import Checked, check_name, check_node, is_name
from ..support.display import Displayed
from ..support.errors import InvalidArgumentError, TfgError
from ..support.gc_control import rare_collection
from ..support.tensor_names import parse_tensor_name
from ..support.words import counted
from ..types.dtypes import DType
from ..types.shapes import UNKNOWN, Shape

if TYPE_CHECKING:
    import numpy as np

_Kind = TypeVar("_Kind")

WIDE: Final = 64
"""The number of inputs from which a node indexes the places of inputs during replacement, and of uses for an index of
takers.
"""


class Output(Displayed):
    """An output of a node: the end of an edge. `str()` is the tensor name, `node:index`.

    Each output has a single object, so that outputs are compared and hashed by identity.
    """

    __slots__ = ("index", "node")

    node: Node
    index: int

    def __new__(cls, node: Node, index: int) -> Output:
        # Most nodes have one output that is ever asked for, and no dictionary.
        output = node._first if index == 0 else node._others.get(index) if node._others is not None else None
        return output if output is not None else _make_output(node, index)

    @property
    def name(self) -> str:
        """The tensor name, `node:index`."""
        return f"{self.node.name}:{self.index}"

    @property
    def dtype(self) -> DType | None:
        """The dtype, or None if the op is not declared."""
        dtypes = self.node._output_dtypes
        if dtypes is None:  # looked up here as well, for the checks of a graph ask for each of its edges
            dtypes = self.node.output_dtypes
        try:
            return dtypes[self.index]
        except IndexError:
            return None

    @property
    def base_dtype(self) -> DType:
        """The dtype of the value, behind a reference too; InvalidArgumentError if the op is not declared."""
        if self.dtype is None:
            raise InvalidArgumentError(f"the dtype of {self} is unknown", node=self.node.name, op=self.node.op)
        return self.dtype.base

    @property
    def is_reference(self) -> bool:
        """True for a reference to a variable of TensorFlow 1, not its value."""
        dtype = self.dtype  # once: it is found anew each time
        return dtype is not None and dtype.is_ref

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<Output {self.name} of {self.node.op}>"

    def __reduce__(self) -> tuple[type[Output], tuple[Node, int]]:
        """Pickle the whole graph: an output has no meaning without its graph."""
        return Output, (self.node, self.index)


# One lock for all nodes: one each would take more memory than the outputs, and it is taken once for an output.
_making: Final = threading.Lock()


def _make_output(node: Node, index: int) -> Output:
    """Make the object of an output; threads that ask at the same time all get the same object."""
    with _making:
        others = {} if node._others is None else node._others
        output = node._first if index == 0 else others.get(index)
        if output is None:
            output = object.__new__(Output)
            output.node, output.index = node, index
            if index == 0:
                node._first = output
            else:
                others[index] = output
                node._others = others  # only now: `Output` looks there without the lock
        return output


def resolve_usual(nodes: Mapping[str, Node]) -> bool:
    """Resolve the inputs of nodes that take only first outputs of existing nodes, as most do; others resolve on demand.

    Who asks for one node's inputs soon asks for all: a loop over the nodes takes a fifth of the time of a call for each.
    Returns True if all nodes are so, and each stands after its sources.
    """
    find, make = nodes.get, object.__new__
    is_ordered = True
    with _making, rare_collection():
        for node in nodes.values():
            if node._inputs is not None or node._wide is not None:
                is_ordered = False  # nobody has looked where its sources stand
                continue
            inputs = []
            for text in node.spelling or ():
                source = find(text)
                if source is None or text[:1] == "^":
                    is_ordered = False
                    break
                if source._inputs is None:
                    is_ordered = False  # its turn has not come
                output = source._first
                if output is None:
                    output = make(Output)
                    output.node, output.index = source, 0
                    source._first = output  # only now: `Output` looks there without the lock
                inputs.append(output)
            else:
                node._control_inputs = ()
                node._inputs = tuple(inputs)
    return is_ordered


def check_usual(nodes: Mapping[str, Node], memo: CheckMemo) -> Iterator[Node]:
    """Keep in nodes the results of checks of alike nodes; yield the nodes that are left, whose checks fill the memo.

    As in `resolve_usual`, a loop for the usual case takes a fraction of the time of calls for each node.
    """
    for node in nodes.values():
        checked = node.checked
        if checked is None or not checked.holds(node.op, node.attrs):
            inputs, texts = node._inputs, node.spelling
            if inputs is not None:
                count = len(inputs)
            else:  # texts may be of control inputs, which come last
                count = node.input_count() if texts is None or (texts and texts[-1][:1] == "^") else len(texts)
            checked = memo.get((node.op, id(node.attrs), count))
            if checked is None or not is_name(node.name):
                yield node
                continue
            node.checked = checked
            node._output_dtypes = checked.outputs if checked.is_declared else None
        if checked.opened:
            yield node


def are_checked(nodes: Iterable[Node]) -> bool:
    """Return True if the results of the last checks of all nodes hold."""
    for node in nodes:
        checked = node.checked
        if checked is None or checked.attrs is not node.attrs or checked.op != node.op:
            return False
    return True


def unusual_edges(nodes: Mapping[str, Node], is_linked: bool) -> Iterator[Node]:
    """Yield the nodes that may have edges of other dtypes than their ops take, or to nodes that do not know them.

    All nodes have been checked.
    """
    find = nodes.get
    for node in nodes.values():
        inputs, checked = node._inputs, node.checked
        if checked is None or (is_linked and (inputs is None or node._control_inputs or checked.inputs is None)):
            yield node
            continue
        if checked.inputs is None:
            continue
        try:
            if inputs is None:  # a text that is the name of a node stands for its first output
                arriving = [find(text)._output_dtypes[0] for text in node.spelling or ()]  # type: ignore[union-attr, index]
            else:
                arriving = [value.node._output_dtypes[value.index] for value in inputs]  # type: ignore[index]
        except (AttributeError, IndexError, TypeError):  # no such node or output, or a node of unknown dtypes
            yield node
            continue
        is_usual = tuple(arriving) == checked.inputs
        if is_usual and is_linked:
            is_usual = all(find(v.node.name) is v.node and node in v.node.uses for v in inputs or ())
        if not is_usual:
            yield node


CheckMemo: TypeAlias = dict[tuple[str, int, int], Checked]
"""Results of checks, by op, identity of the attributes and number of inputs."""


class Home(Protocol):
    """The interface of a node to its graph."""

    is_untrusted: bool

    def get(self, name: str) -> Node | None:
        """Return the node called `name`, None if there is none."""

    def node(self, name: str) -> Node:
        """Return the node called `name`."""

    def resolve(self) -> None:
        """Resolve the inputs of all loaded nodes to objects."""

    def link(self) -> None:
        """Tell all nodes of the graph their users."""

    def interface(self, name: str) -> OpDef | None:
        """Return the interface of the library's function called `name`, None if there is none."""


class WideInputs:
    """Index of a node's many inputs during replacement: the places of each output among the inputs."""

    __slots__ = ("_places", "outputs")

    def __init__(self, outputs: Iterable[Output]) -> None:
        self.outputs = list(outputs)
        self._places: dict[Output, list[int]] = {}
        for place, output in enumerate(self.outputs):
            self._places.setdefault(output, []).append(place)

    def __contains__(self, output: Output) -> bool:
        return output in self._places

    def replace(self, old: Output, new: Output) -> int:
        """Let `new` stand where `old` stood; how many times that was."""
        places = self._places.pop(old)
        for place in places:
            self.outputs[place] = new
        self._places.setdefault(new, []).extend(places)
        return len(places)


class WideUses:
    """Index of a node's many uses: the nodes that take each output."""

    __slots__ = ("_takers",)

    def __init__(self, node: Node) -> None:
        self._takers: dict[int, dict[Node, int]] = {}
        for user in node.uses:
            for value in user.inputs:
                if value.node is node:
                    self.add(value.index, user)

    def takers(self, index: int) -> list[Node]:
        """Return the nodes that take an output."""
        return list(self._takers.get(index, ()))

    def add(self, index: int, user: Node) -> None:
        """Count one more input of a node from an output."""
        users = self._takers.setdefault(index, {})
        users[user] = users.get(user, 0) + 1

    def drop(self, index: int, user: Node) -> None:
        """Count one input less of a node from an output."""
        users = self._takers[index]
        users[user] -= 1
        if not users[user]:
            del users[user]


class Node(NodeKinds, Displayed):
    """An operation of a graph. Edges are changed through the graph's methods only.

    A node from a file has the texts of its inputs. The texts are resolved to objects on demand, and the first demand for a
    node's uses finds the uses of all nodes of the graph.
    """

    __slots__ = (
        "_control_inputs", "_first", "_home", "_inputs", "_others", "_output_dtypes", "_uses", "_waits", "_wide", "attrs",
        "checked", "device", "name", "op", "source", "spelling",
    )  # fmt: skip

    name: str
    op: str
    attrs: Mapping[str, Any]
    device: str
    source: Any
    """Whatever a format keeps to write the node back unchanged."""
    spelling: tuple[str, ...] | None
    """The inputs as the file that the node came from spells them, None once they were changed."""
    checked: Checked | None
    """The result of the graph's last check of this node."""
    _home: Home
    _inputs: tuple[Output, ...] | None
    _control_inputs: tuple[Node, ...] | None
    _waits: dict[Node, None] | None
    """The control inputs as a dict, for a node with very many control inputs that change singly."""
    _uses: dict[Node, int] | None
    _wide: WideInputs | None
    _output_dtypes: tuple[DType, ...] | None
    _first: Output | None
    _others: dict[int, Output] | None

    def __init__(
        self,
        name: str,
        op: str,
        attrs: Mapping[str, Any],
        device: str = "",
        source: Any = None,
        spelling: tuple[str, ...] | None = None,
        *,
        home: Home,
        is_linked: bool = False,
    ) -> None:
        self.name = name
        self.op = op
        self.attrs = attrs
        self.device = device
        self.source = source
        self.spelling = spelling
        self.checked = self._output_dtypes = self._first = self._others = self._wide = self._waits = None
        self._home = home
        if is_linked:
            self._uses, self._inputs, self._control_inputs = {}, (), ()
        else:
            self._uses = self._inputs = self._control_inputs = None

    @property
    def is_untrusted(self) -> bool:
        """Whether the node is part of a stranger's graph, which no op library computes."""
        return self._home.is_untrusted

    @property
    def inputs(self) -> tuple[Output, ...]:
        inputs = self._inputs
        return self._gathered() if inputs is None else inputs

    @inputs.setter
    def inputs(self, value: object) -> None:
        raise AttributeError("change edges with Graph.set_input, set_inputs or replace_all_uses")

    @property
    def control_inputs(self) -> tuple[Node, ...]:
        if self._control_inputs is None:
            if self._waits is not None:
                self._control_inputs = tuple(self._waits)
            else:
                self._resolve_all()
        return self._control_inputs  # type: ignore[return-value]

    @control_inputs.setter
    def control_inputs(self, value: object) -> None:
        raise AttributeError("change edges with Graph.add_control_input, remove_control_input or set_inputs")

    def waits_for(self, control: Node) -> bool:
        """Return True if `control` is among the control inputs."""
        if self._waits is None and len(self.control_inputs) >= WIDE:
            self._waits = dict.fromkeys(self.control_inputs)
        return control in (self.control_inputs if self._waits is None else self._waits)

    def takes(self, output: Output) -> bool:
        """Return True if `output` is among the data inputs."""
        # The index is kept: a caller that asks once about many inputs asks for each of them.
        if self._wide is None and self.input_count() >= WIDE:
            self._wide = WideInputs(self.inputs)
        return output in (self.inputs if self._wide is None else self._wide)

    @property
    def uses(self) -> dict[Node, int]:
        """Consumers of the node, each with the number of its data and control inputs from this node."""
        uses = self._uses
        if uses is None:
            self._home.link()
            uses = self._uses
        return uses  # type: ignore[return-value]

    def input_names(self) -> tuple[list[str], list[str]]:
        """Return (names of the data inputs, names of the control inputs); an output 0 goes by its node's name."""
        if self._is_resolved:
            # As TensorFlow writes them.
            names = [value.node.name if value.index == 0 else value.name for value in self.inputs]
            return names, [control.name for control in self.control_inputs]
        names, controls = [], {}  # a file may name a control input twice
        for text in self.spelling or ():
            if text.startswith("^"):
                controls[text[1:]] = True
            elif ":" in text:
                name, index, _ = parse_tensor_name(text)
                names.append(f"{name}:{index}" if index else name)
            else:
                names.append(text)
        return names, list(controls)

    def data_sources(self) -> Iterator[tuple[Node, int]]:
        """Yield (node, output number) of each data input, without an object for the output."""
        if self._is_resolved:
            for value in self.inputs:
                yield value.node, value.index
            return
        find = self._home.get
        for text in self.spelling or ():
            if text.startswith("^"):
                return  # control inputs come last
            source = find(text)  # the usual case: the first output of a node
            yield (source, 0) if source is not None else self._source_of(text)

    def input_dtypes(self) -> tuple[DType | None, ...]:
        """Return the dtypes that arrive at the data inputs, None of an output that does not exist or is not declared."""
        if self._inputs is not None:
            return tuple([value.dtype for value in self._inputs])
        return tuple([source.output_dtype(index) for source, index in self.data_sources()])

    def input_count(self) -> int:
        """Return the number of data inputs."""
        if self._wide is not None:
            return len(self._wide.outputs)
        if self._inputs is not None:
            return len(self._inputs)
        texts = self.spelling or ()
        count = len(texts)
        # Control inputs come last, and a node has few; the names before need not be looked at.
        while count and texts[count - 1].startswith("^"):
            count -= 1
        return count

    @property
    def _is_resolved(self) -> bool:
        """True if the inputs are objects."""
        return self._inputs is not None or self._wide is not None

    def _source_of(self, text: str) -> tuple[Node, int]:
        """Return the node and the number of the output that a data input's text names."""
        source = self._home.get(text)
        if source is not None:
            return source, 0
        name, index, _ = parse_tensor_name(text)
        return self._home.node(name), index

    def _gathered(self) -> tuple[Output, ...]:
        if self._wide is not None:
            self._inputs = tuple(self._wide.outputs)
        else:
            self._resolve_all()
        return self._inputs  # type: ignore[return-value]

    def _resolve_all(self) -> None:
        """Resolve the inputs of all nodes of the graph; an error where a source of this node does not exist."""
        self._home.resolve()
        if self._inputs is None or self._control_inputs is None:
            self._resolve()

    def _resolve(self) -> None:
        """Resolve the texts of the file to objects."""
        inputs, controls = [], []
        find = self._home.get
        for text in self.spelling or ():
            if text.startswith("^"):
                controls.append(self._home.node(text[1:]))
            elif (source := find(text)) is not None:  # the usual case: the first output of a node
                inputs.append(source._first or _make_output(source, 0))
            else:
                inputs.append(Output(*self._source_of(text)))
        # A file may name a control input twice.
        self._control_inputs = tuple(dict.fromkeys(controls))
        self._inputs = tuple(inputs)

    def check(self, memo: CheckMemo) -> Checked:
        """Check the node apart from its edges; InvalidArgumentError if the node breaks its op's interface.

        `memo` has the results of nodes with the same attributes.
        """
        checked = self.checked
        if checked is None or not checked.holds(self.op, self.attrs):
            check_name(self.name)
            # By identity: nodes of a file with equal attributes share one object, which the remembered result keeps alive.
            key = self.op, id(self.attrs), self.input_count()
            checked = memo.get(key)
            if checked is None:
                checked = check_node(self.op, self.attrs, key[2])
                # Other nodes without inputs, such as constants, hardly ever share their attributes.
                if key[2] or self.is_argument:
                    memo[key] = checked
            self.checked = checked
            self._output_dtypes = checked.outputs if checked.is_declared else None
        return checked

    @property
    def op_def(self) -> OpDef | None:
        """The op's interface, or None for an op that nobody declared."""
        # Looked up each time: an op library may declare the op after the graph was loaded.
        return CATALOG.get(self.op)

    def attr(self, name: str, default: Any = None) -> Any:
        """Return an attribute's value, the op's default, or `default`."""
        if name in self.attrs:
            return self.attrs[name]
        definition = self.op_def.attrs.get(name) if self.op_def else None
        return definition.default if definition is not None and definition.has_default else default

    def attr_of(self, kind: type[_Kind], name: str) -> _Kind | None:
        """Return an attribute's value; None if the value is no `kind`, possible in an unchecked graph and in a function."""
        value = self.attr(name)
        return value if isinstance(value, kind) else None

    def constant_value(self) -> np.ndarray[Any, Any]:
        """Return the elements of a Const, as `Tensor.numpy` does; damaged elements are an error that names the node."""
        try:
            value: np.ndarray[Any, Any] = self.attrs["value"].numpy()
        except TfgError as error:
            raise type(error)(error.message, node=self.name, op=self.op, hint=error.hint) from None
        return value

    def stored_bytes(self) -> int:
        """Return `Tensor.stored_bytes` of a Const; damaged elements are an error that names the node."""
        self.constant_value()
        stored: int = self.attrs["value"].stored_bytes
        return stored

    def text_attr(self, name: str) -> str:
        """Return a string attribute as text, as kernels get it; empty without the attribute."""
        return (self.attr_of(bytes, name) or b"").decode("utf-8", "surrogateescape")

    def change_op(self, op: str, attrs: dict[str, Any] | None = None) -> None:
        """Change the node's op type; inputs stay, and attributes where none are given."""
        self.op = op
        self.attrs = self.attrs if attrs is None else attrs
        self._output_dtypes = None

    def set_attr(self, name: str, value: Any) -> None:
        """Set an attribute to a plain value: int, float, bool, bytes, DType, Shape, Tensor, FuncRef or a list of them."""
        # A new mapping, as other nodes share the old one. Its new identity also invalidates the result of the check.
        self.attrs = {**self.attrs, name: value}
        self._output_dtypes = None

    def remove_attr(self, name: str) -> None:
        """Remove an attribute, if set."""
        self.attrs = {key: value for key, value in self.attrs.items() if key != name}
        self._output_dtypes = None

    def forget_dtypes(self) -> None:
        """Derive the output dtypes anew, after `op` or `attrs` were assigned."""
        self._output_dtypes = None

    def note_dtypes(self, dtypes: tuple[DType, ...]) -> None:
        """Keep the output dtypes that a check found."""
        self._output_dtypes = dtypes

    @property
    def output_dtypes(self) -> tuple[DType, ...]:
        """The dtypes of all outputs, also for a call whose op is a function's name; empty if the op is not declared."""
        if self._output_dtypes is not None:
            return self._output_dtypes
        definition = self.op_def
        if definition is None:
            # Not kept: the library may replace the function by one with another interface.
            function = self._home.interface(self.op)
            return () if function is None else tuple(function.output_dtypes(self.attrs))
        self._output_dtypes = tuple(definition.output_dtypes(self.attrs))
        return self._output_dtypes

    def output_dtype(self, index: int) -> DType | None:
        dtypes = self.output_dtypes
        return dtypes[index] if index < len(dtypes) else None

    def output(self, index: int = 0) -> Output:
        return (None if index else self._first) or Output(self, index)

    def outputs(self) -> list[Output]:
        """Return all outputs; empty if the op is not declared."""
        dtypes = self._output_dtypes
        if dtypes is None:  # as in `Output.dtype`
            dtypes = self.output_dtypes
        count = len(dtypes)
        # Most nodes have one output, and know it already: a call of the class takes several times as long.
        return [self._first or Output(self, 0)] if count == 1 else [Output(self, i) for i in range(count)]

    @property
    def colocation(self) -> tuple[str, ...]:
        """The names after `loc:@` in `_class`: the nodes with which this node must share a device."""
        value = self.attrs.get("_class")
        entries = value if isinstance(value, (list, tuple)) else ()
        # Names that are not UTF-8 keep their bytes as surrogates: as replacement characters two names would become one.
        return tuple(
            e[5:].decode("utf-8", "surrogateescape") for e in entries if isinstance(e, bytes) and e.startswith(b"loc:@")
        )

    @property
    def declared_shape(self) -> Shape:
        """The shape that a placeholder declares."""
        shape = self.attr_of(Shape, "shape")
        return UNKNOWN if shape is None else shape

    def __repr__(self) -> str:
        return f"<Node {self.name}: {self.op}, {counted(self.input_count(), 'input')}>"

    def __reduce__(self) -> tuple[Callable[..., Node], tuple[Home, str]]:
        """Pickle the whole graph and the name; InvalidArgumentError for a node that is in no graph any more."""
        if self._home.get(self.name) is not self:
            problem = "a node outside of a graph cannot be pickled or copied"
            raise InvalidArgumentError(problem, node=self.name, op=self.op, hint="pickle the graph before the node is removed")
        return _node_of, (self._home, self.name)


def _node_of(home: Home, name: str) -> Node:
    return home.node(name)


def add_use(source: Node, consumer: Node) -> None:
    """Count one more use of a node by another."""
    uses = source.uses
    uses[consumer] = uses.get(consumer, 0) + 1


def drop_use(source: Node, consumer: Node) -> None:
    """Count one use less of a node by another."""
    uses = source.uses
    uses[consumer] -= 1
    if not uses[consumer]:
        del uses[consumer]
