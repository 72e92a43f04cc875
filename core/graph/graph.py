"""The graph: nodes by name, edges that are changed only by the graph's own methods, and a library of functions, graphs too."""

from __future__ import annotations

import abc
import collections
import copy
import functools
import itertools
import os
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ..registry.catalog import OpDef
from ..support import dataclasses
from ..support.arguments import expect
from ..support.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError, TfgError
from ..support.gc_control import rare_collection
from ..support.hints import Blank, Hint, step
from ..support.keyed_cache import KeyedCache
from ..support.tensor_names import Suffixes, joined_names_hint, parse_tensor_name
from ..support.versions import GRAPH_VERSION, Versions
from ..support.words import counted
from ..types.dtypes import DType
from .graph_services import graph_services
from .import_upgrades import Versioned, complete_attrs
from .node import (
    WIDE,
    CheckMemo,
    Node,
    Output,
    WideInputs,
    WideUses,
    add_use,
    are_checked,
    check_usual,
    drop_use,
    resolve_usual,
    unusual_edges,
)
from .reference_ops import handle_hint, lacks_reference, leftover_hint
from .summary import Summarized

if TYPE_CHECKING:
    from .metagraph import MetaGraph
    from .saved_gradients import RegisteredGradient


__all__ = ["STRAY_ARGUMENT", "DeclaredFunctions", "Function", "Graph", "GraphLike", "Node", "Output", "as_graph"]

# Reentrant: what a thread asks for while it links a graph, or copies a body, may be parts of another function.
_linking: Final = threading.RLock()
_MOST_CHECKS: Final = 1000
"""Kinds of alike nodes whose check is remembered for all functions of a library."""

_PARTS: Final = frozenset(("body", "args", "results", "control_results"))
"""The parts of a function that a function like another copies on demand."""
_BESIDE_NODES: Final = ("file", "is_untrusted", "left_out", "meta", "needless", "registered_gradients", "source", "versions")
"""The attributes of a graph that bytes of nodes and functions do not hold."""
STRAY_ARGUMENT: Final = "the signature of a function fixes its arguments"


class Graph(Summarized, Versioned):
    """Nodes in insertion order, the function library and the versions of the GraphDef they came from."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._suffixes = Suffixes()
        self._is_linked = True
        self._is_resolved = True
        self._wide_uses: dict[Node, WideUses] = {}
        self._sound: int | None = None
        """After how many edits nothing was wrong."""
        self.edits = 0
        """The number of edits to nodes and edges: results derived from nodes and edges hold while the number stays."""
        self.ordered: tuple[int, list[Node] | None] = (-1, None)
        """The nodes in topological order after so many edits, None for the order of the graph itself where each node takes
        values alone: many analyses of a large graph begin with the order.
        """
        self.functions: MutableMapping[str, Function] = {}
        self.registered_gradients: Mapping[str, RegisteredGradient] = {}
        self.meta: MetaGraph | None = None
        self.source: Any = None
        self.is_untrusted = False  # else sessions have limits of time and memory, and no files
        self.left_out: Mapping[str, TfgError] = {}
        """Why nodes that the file has are not in the graph, by name."""
        self.needless: frozenset[str] = frozenset()
        """Nodes that an optimization removed as unreachable from the fetches; sessions ignore feeds for these names. Files
        do not keep the names.
        """

    def __len__(self) -> int:
        return len(self._nodes)

    def __iter__(self) -> Iterator[Node]:
        return iter(self._nodes.values())

    def since(self, count: int) -> list[Node]:
        """Return the nodes added since the graph had `count` nodes, provided that none was removed."""
        # From the end: a rewriting asks for a few new nodes of a large graph.
        return list(itertools.islice(reversed(self._nodes.values()), len(self) - count))[::-1]

    def __contains__(self, name: object) -> bool:
        return name in self._nodes

    def __getitem__(self, name: str) -> Node:
        return self.node(name)

    def get(self, name: str) -> Node | None:
        return self._nodes.get(name)

    def node(self, name: str) -> Node:
        """Return the node called `name`; NotFoundError names the nearest names."""
        node = self._nodes.get(name)
        if node is None:
            raise self.left_out.get(name) or NotFoundError(f"the graph has no node '{name}'", hint=self._found(name))
        return node

    def function(self, name: str) -> Function:
        """Return the library's function called `name`; NotFoundError if the library lacks the name."""
        function = self.functions.get(name)
        if function is None:
            raise NotFoundError(f"function '{name}' is not in the graph's library")
        return function

    def interface(self, name: str) -> OpDef | None:
        """Return the interface of the library's function called `name`, None if there is none."""
        if isinstance(self.functions, DeclaredFunctions):
            return self.functions.signature(name)
        function = self.functions.get(name)
        return None if function is None else function.signature

    def node_of(self, tensor_name: str) -> Node:
        """Return the node of `a`, `a:1` or `^a`; the output's number is not checked."""
        return self.node(parse_tensor_name(tensor_name)[0])

    def output(self, tensor_name: str) -> Output:
        """Return the Output called `a` or `a:1`; errors if the node or the output does not exist."""
        name, index, is_control = parse_tensor_name(tensor_name)
        if is_control:
            raise InvalidArgumentError(f"'{tensor_name}' is a control input, not a tensor")
        node = self.node(name)
        if node.op_def is not None and index >= len(node.output_dtypes):
            count = len(node.output_dtypes)
            raise InvalidArgumentError(
                f"output {index} does not exist: the node has {counted(count, 'output')}", node=name, op=node.op
            )
        return Output(node, index)

    def fetch(self, name: str) -> Output | Node:
        """Return the tensor `a:0` or the operation `a`, as a session fetches by name; raise an error if the name is
        unknown.
        """
        if parse_tensor_name(name)[2]:
            raise InvalidArgumentError(f"'{name}' is a control input; fetch the operation by its plain name")
        return self.output(name) if ":" in name else self.node(name)

    def result(self, name: str) -> Output | Node:
        """Return the first output of `a`, or the operation where `a` has no output."""
        target = self.fetch(name)
        has_outputs = isinstance(target, Node) and (target.op_def is None or target.output_dtypes)
        return target.output() if isinstance(target, Node) and has_outputs else target

    def unique_name(self, name: str) -> str:
        """Return `name`, or `name` with the first free suffix `_1`, `_2` ... in TensorFlow's numbering."""
        return name if name not in self._nodes else self._suffixes.first_free(name, self._nodes)

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
        """Append a node; AlreadyExistsError if the name is taken."""
        # Here and not by `checked`, whose wrapper would take longer than the method.
        expect(str, name, op, device)
        if attrs is not None:
            expect(Mapping, attrs)
        outputs, controls = _sources(inputs, control_inputs)
        if name in self._nodes:
            raise AlreadyExistsError(f"the graph already has a node '{name}'")
        self.link()
        # Linked first: an input that a file spells by name must not find this node in the place of a missing one.
        node = Node(name, op, attrs if attrs is not None else {}, device, source, home=self, is_linked=True)
        self._nodes[name] = node
        self._connect(node, outputs, controls)
        return node

    def remove_node(self, node: Node) -> None:
        """Remove a node that nothing uses; InvalidArgumentError names a consumer otherwise."""
        expect(Node, node)
        if node.uses:
            consumer = next(iter(node.uses))
            raise InvalidArgumentError(f"it is still used by '{consumer.name}'", node=node.name, op=node.op)
        if node.inputs or node.control_inputs:
            self._connect(node, (), ())
        self._wide_uses.pop(node, None)
        del self._nodes[node.name]
        self._suffixes.free(node.name)
        self.edits += 1

    def remove_nodes(self, nodes: Iterable[Node]) -> None:
        """Remove nodes that only each other use."""
        doomed = list(nodes)
        expect(Node, *doomed)
        self.link()
        # All edges first, since the nodes may use each other in any order, and in circles.
        for node in doomed:
            self._connect(node, (), ())
        for node in doomed:
            self.remove_node(node)

    def rename_node(self, node: Node, name: str) -> None:
        """Rename a node; the place in the order stays. AlreadyExistsError if another node has the name."""
        self.rename_nodes({node: name})

    def rename_nodes(self, names: Mapping[Node, str]) -> None:
        """Rename nodes, all at once: they may exchange their names. AlreadyExistsError if two would have the same name."""
        expect(Node, *names)
        expect(str, *names.values())
        self.link()  # inputs that are still names of a file are resolved by the old names
        # A new dictionary keeps the order of the nodes.
        renamed = {names.get(node, node.name): node for node in self._nodes.values()}
        if len(renamed) < len(self._nodes):
            counts = collections.Counter(names.get(node, node.name) for node in self)
            raise AlreadyExistsError(f"the graph already has a node '{counts.most_common(1)[0][0]}'")
        self._nodes = renamed
        for node, name in names.items():
            for user in node.uses:
                # The file spells the inputs of the users with the old name.
                user.spelling = None
            self._suffixes.free(node.name)
            node.name = name
            node.checked = None

    def load_node(self, name: str, op: str, spelling: tuple[str, ...], attrs: Mapping[str, Any], device: str) -> Node:
        """Append a node from a file, with `attrs` as its source; the inputs are resolved on demand."""
        if name in self._nodes:
            raise AlreadyExistsError(f"the graph already has a node '{name}'")
        complete = complete_attrs(op, attrs, len(spelling))
        node = self._nodes[name] = Node(name, op, complete, device, attrs, spelling, home=self)
        self._is_linked = self._is_resolved = False
        self.edits += 1
        return node

    def resolve_node(self, node: Node, inputs: tuple[Output, ...], control_inputs: tuple[Node, ...]) -> None:
        """Give a loaded node its inputs, which the file spells in another way than a graph does: `link` has to follow."""
        node._inputs, node._control_inputs = inputs, control_inputs

    def resolve(self) -> None:
        """Resolve the inputs of all nodes, once all nodes of a file are loaded; unusual inputs resolve on demand."""
        if not self._is_resolved:
            self._is_resolved = True  # at first: the few nodes that stay unresolved would otherwise ask again and again
            if resolve_usual(self._nodes):
                self.ordered = self.edits, None

    @property
    def is_in_order(self) -> bool:
        """True if each node is known to take values alone, of nodes before it; False asks for a look at the edges."""
        return self.ordered == (self.edits, None)

    def link(self) -> None:
        """Tell all nodes their users, once all nodes of a file are loaded."""
        if self._is_linked:
            return
        with _linking, rare_collection():
            if self._is_linked:
                return
            self.resolve()
            # Collected apart: an input that does not exist raises here, and leaves the graph as it was.
            uses: dict[Node, dict[Node, int]] = {node: {} for node in self}
            for node in self:
                inputs = node._inputs  # without a call for most nodes
                for value in node.inputs if inputs is None else inputs:
                    users = uses[value.node]
                    users[node] = users.get(node, 0) + 1
                for control in node._control_inputs if node._control_inputs is not None else node.control_inputs:
                    users = uses[control]
                    users[node] = users.get(node, 0) + 1
            for node, users in uses.items():
                node._uses = users
            self._wide_uses = {}
            self._is_linked = True

    def set_inputs(self, node: Node, inputs: Iterable[Output], control_inputs: Iterable[Node] | None = None) -> None:
        """Replace all data inputs, and all control inputs where they are given."""
        expect(Node, node)
        outputs, controls = _sources(inputs, control_inputs)
        self.link()
        self._connect(node, outputs, controls)

    def _connect(self, node: Node, inputs: tuple[Output, ...], controls: tuple[Node, ...] | None) -> None:
        self.edits += 1
        for value in node.inputs:
            self._drop_taker(value, node)
        node.spelling = node._wide = None
        node._inputs = inputs
        for value in inputs:
            self._add_taker(value, node)
        if controls is None:
            return
        for control in node.control_inputs:
            drop_use(control, node)
        node._control_inputs, node._waits = controls, None
        for control in node._control_inputs:
            add_use(control, node)

    def set_input(self, node: Node, index: int, value: Output) -> None:
        """Replace a data input; InvalidArgumentError if the node has no input `index`."""
        expect(Node, node)
        expect(int, index)
        if not 0 <= index < node.input_count():
            raise InvalidArgumentError(f"input {index} does not exist", node=node.name, op=node.op)
        self.set_inputs(node, (*node.inputs[:index], value, *node.inputs[index + 1 :]))

    def add_control_input(self, node: Node, control: Node) -> None:
        """Make `node` wait for `control`."""
        expect(Node, node, control)
        self.link()
        if not node.waits_for(control):
            self.edits += 1
            add_use(control, node)
            if node._waits is not None:
                node._waits[control] = None
            # With the dictionary, the tuple is made on demand: n control inputs added one by one would copy n tuples.
            node._control_inputs = (*node.control_inputs, control) if node._waits is None else None
            node.spelling = None

    def remove_control_input(self, node: Node, control: Node) -> None:
        """Make `node` no longer wait for `control`."""
        expect(Node, node, control)
        self.link()
        if node.waits_for(control):
            self.edits += 1
            drop_use(control, node)
            if node._waits is not None:
                del node._waits[control]
            node._control_inputs = tuple(c for c in node.control_inputs if c is not control) if node._waits is None else None
            node.spelling = None

    def replace_all_uses(self, old: Output, new: Output) -> None:
        """Let every data consumer of `old` take `new`; control edges from old's node stay."""
        expect(Output, old, new)
        for consumer in self.consumers(old):
            # The new value may be made of the old one, for example by an Identity after it; that edge stays.
            if consumer is new.node:
                continue
            # A new tuple for each replaced input would take time in the square of the inputs, and an AddN may have thousands.
            if consumer.input_count() >= WIDE:
                self._replace_in_wide(consumer, old, new)
            else:
                self.set_inputs(consumer, (new if value is old else value for value in consumer.inputs))

    def _replace_in_wide(self, consumer: Node, old: Output, new: Output) -> None:
        """Replace an input among many, by an index of the places of inputs: more replacements may follow."""
        wide = consumer._wide = consumer._wide or WideInputs(consumer.inputs)
        if old in wide and old is not new:
            self.edits += 1
            for _ in range(wide.replace(old, new)):
                self._drop_taker(old, consumer)
                self._add_taker(new, consumer)
            # The tuple of inputs is made again on demand.
            consumer.spelling = consumer._inputs = None

    def replace_control_uses(self, old: Node, new: Node) -> None:
        """Let every node that waits for `old` wait for `new`."""
        expect(Node, old, new)
        for consumer in list(old.uses):
            # The new node may wait for the old one itself; that edge stays.
            if consumer is not new and consumer.waits_for(old):
                self.remove_control_input(consumer, old)
                self.add_control_input(consumer, new)

    def consumers(self, output: Output) -> list[Node]:
        """Return nodes that take `output` as a data input."""
        expect(Output, output)
        uses = output.node.uses
        # Few users are looked through faster than an index is kept.
        if len(uses) < WIDE:
            return [node for node in uses if node.takes(output)]
        if output.node not in self._wide_uses:
            self._wide_uses[output.node] = WideUses(output.node)
        return self._wide_uses[output.node].takers(output.index)

    def _add_taker(self, value: Output, consumer: Node) -> None:
        add_use(value.node, consumer)
        if value.node in self._wide_uses:
            self._wide_uses[value.node].add(value.index, consumer)

    def _drop_taker(self, value: Output, consumer: Node) -> None:
        drop_use(value.node, consumer)
        if value.node in self._wide_uses:
            self._wide_uses[value.node].drop(value.index, consumer)

    def control_consumers(self, node: Node) -> list[Node]:
        """Return the nodes with `node` as a control input."""
        expect(Node, node)
        return [consumer for consumer in node.uses if consumer.waits_for(node)]

    def distrust(self) -> None:
        """Mark the graph, its functions and all graphs that are made from them as a stranger's: sessions limit them."""
        self.is_untrusted = True
        if isinstance(self.functions, DeclaredFunctions):
            self.functions.is_untrusted = True

    def emptied(self) -> Graph:
        """Return a graph without nodes, with the library and the versions of this graph, and as untrusted as this graph."""
        result = Graph()
        result.functions, result.versions, result.is_untrusted = self.functions, self.versions, self.is_untrusted
        return result

    def copy(self, library: MutableMapping[str, Function] | None = None) -> Graph:
        """Return a graph of new nodes that shares attribute values and functions with this graph.

        The copy's library is `library`, or without an argument a copy of this graph's library.
        """
        result = self.emptied()
        result.meta, result.source, result.needless = self.meta, self.source, self.needless
        # The dictionary is copied and the functions are shared: code that changes a function puts another in its place.
        result.functions = copy.copy(self.functions) if library is None else library
        result.registered_gradients = self.registered_gradients
        for node in self:
            made = Node(node.name, node.op, node.attrs, node.device, node.source, node.spelling, home=result)
            # The result of the check holds for equal op and attributes, which the copy shares, and so do the dtypes.
            made.checked, made._output_dtypes = node.checked, node._output_dtypes
            result._nodes[node.name] = made
        # Uses are found on demand: many copies are made to read them.
        for node in self:
            if node._inputs is not None or node._wide is not None:
                result._copy_edges(node)
        result._is_linked = result._is_resolved = False
        result.ordered = (result.edits if self.is_in_order else -1, None)
        return result

    __copy__ = copy

    def __reduce__(self) -> tuple[Callable[..., Graph], tuple[bytes, dict[str, Any]]]:
        """Pickle the bytes of the graph's file, and what the file leaves out; objects of nodes would nest without bound."""
        written = self
        if self.versions is None:  # in a file, no version is an old version, whose placeholders mean something else
            written = self.copy(self.functions)
            written.versions = Versions(GRAPH_VERSION)
        return _unpickled, (graph_services().encode(written), {name: getattr(self, name) for name in _BESIDE_NODES})

    def _copy_edges(self, origin: Node) -> None:
        """Give the copy of another graph's node its inputs: texts alone would not have the edges of a body or of changes."""
        nodes, copied = self._nodes, self._nodes[origin.name]
        copied._inputs = tuple([Output(nodes[value.node.name], value.index) for value in origin.inputs])
        copied._control_inputs = tuple([nodes[control.name] for control in origin.control_inputs])

    def reorder(self, nodes: Sequence[Node]) -> None:
        """Put all nodes into the order given."""
        if set(nodes) != set(self._nodes.values()):
            raise InvalidArgumentError("reorder needs every node of the graph exactly once")
        self._nodes = {node.name: node for node in nodes}
        self.edits += 1

    def check(self, left_open: Collection[str] = ()) -> None:
        """Validate names, edges, attributes, and numbers and dtypes of inputs; InvalidArgumentError names the node.

        `left_open` names the attributes that the callers of a function set, held open by `Placeholder`s in the body. A
        node's result is cached until the node's op or attributes change, so that a repeated check costs little.
        """
        self._sound = None
        for error in self.faults(left_open):
            raise error
        # Attributes that one caller leaves open are missing for all others.
        self._sound = None if left_open else self.edits

    def faults(self, left_open: Collection[str] = ()) -> Iterator[InvalidArgumentError]:
        """Yield the errors of `check`, at most a single error for each node; nodes downstream of a faulty node are skipped."""
        memo: CheckMemo = self.functions.checks_so_far if isinstance(self.functions, DeclaredFunctions) else {}
        unfit: set[Node] = set()
        # All nodes first: edges are compared with the dtypes of outputs, which are known from then on.
        check_node = functools.partial(self._check_node, left_open=left_open, memo=memo)
        for check, nodes in (
            (check_node, check_usual(self._nodes, memo)),
            (self._check_edges, unusual_edges(self._nodes, self._is_linked)),
        ):
            for node in nodes:
                if unfit and (node in unfit or any(source in unfit for source, _ in node.data_sources())):
                    continue
                try:
                    check(node)
                except InvalidArgumentError as error:
                    unfit.add(node)
                    yield InvalidArgumentError(error.message, node=node.name, op=node.op, hint=error.hint)

    def check_changes(self) -> None:
        """Check the graph as `check` does, unless the last check passed and no node or edge has changed."""
        self.resolve()  # an analysis needs the inputs anyway; `tfg dump`, which needs their names alone, calls `check`
        # The number of edits covers edges; attributes are compared by identity, since a node may be given new ones.
        if self._sound != self.edits or not are_checked(self._nodes.values()):
            self.check()

    def _check_node(self, node: Node, left_open: Collection[str], memo: CheckMemo) -> None:
        for name in node.check(memo).opened:
            if name not in left_open:
                raise InvalidArgumentError(f"attribute '{name}' needs a value from a caller, but the graph has no caller")

    def _check_edges(self, node: Node) -> None:
        if self._is_linked:
            for value in node.inputs:
                self._check_link(node, value.node)
            for control in node.control_inputs:
                self._check_link(node, control)
        self._check_inputs(node)

    def _check_link(self, node: Node, source: Node) -> None:
        if self._nodes.get(source.name) is not source:
            raise InvalidArgumentError(f"input '{source.name}' is not in the graph")
        if node not in source.uses:
            raise InvalidArgumentError(f"'{source.name}' does not list it as a use")

    def _check_inputs(self, node: Node) -> None:
        """Check the dtypes of a node's inputs, after all nodes' output dtypes were checked."""
        expected = node.checked.inputs if node.checked else None
        if expected is None:
            return
        arriving = node.input_dtypes()
        if arriving == expected:  # as of nearly all nodes: only a difference is looked at more closely
            return
        if len(expected) != len(arriving):
            raise InvalidArgumentError(f"it has {counted(len(arriving), 'input')}, but its op takes {len(expected)}")
        for i, (got, want) in enumerate(zip(arriving, expected)):
            if got is not want and want is not None:
                self._check_input(node, i, node.inputs[i], got, want)

    def _check_input(self, node: Node, index: int, value: Output, got: DType | None, want: DType) -> None:
        if got is None:
            if value.node.op_def is not None:
                raise InvalidArgumentError(f"input {index}, '{value}', does not exist")
        # A reference serves as a value, as TensorFlow reads the variable then; a value is no reference.
        elif got.base is not want.base or lacks_reference(got, want):
            hint = leftover_hint(node) if lacks_reference(got, want) else handle_hint(got, want)
            raise InvalidArgumentError(f"input {index}, '{value}', has dtype {got}, not {want}", hint=hint)

    def nearest(self, name: str) -> list[str]:
        """Return the names that are most like an unknown name, or that contain the name."""
        from difflib import get_close_matches

        close = get_close_matches(name, self._nodes, n=3, cutoff=0.5)
        return close or [n for n in self._nodes if name.lower() in n.lower()][:3]

    def _found(self, name: str) -> str:
        expect(str, name)
        if joined := joined_names_hint(name):
            return joined
        close = ", ".join(self.nearest(name))
        by_name = step("find_name", name=Blank("TEXT"))
        return f"nearest names: {close}" if close else Hint(by_name, " finds nodes by a part of the name")


GraphLike: TypeAlias = Graph | str | os.PathLike[str]
"""A graph, or the path of a file or folder with a graph, as functions that change no graph take it."""


def as_graph(graph: GraphLike) -> Graph:
    """Return a graph as it is, and load the graph of a path, as `tfg.load` does."""
    if isinstance(graph, Graph):
        return graph
    loaded: Graph = graph_services().load(graph)
    return loaded


def _sources(
    inputs: Iterable[Output], control_inputs: Iterable[Node] | None
) -> tuple[tuple[Output, ...], tuple[Node, ...] | None]:
    """Inputs, and control inputs once each; ArgumentTypeError if they are something else, before anything is changed."""
    outputs, controls = tuple(inputs), None if control_inputs is None else tuple(dict.fromkeys(control_inputs))
    expect(Output, *outputs)
    expect(Node, *(controls or ()))
    return outputs, controls


def _unpickled(data: bytes, beside: Mapping[str, Any]) -> Graph:
    graph: Graph = graph_services().decode(data)
    for name, value in beside.items():
        setattr(graph, name, value)
    # The library decodes its bodies later, and must know beforehand that they are untrusted.
    if graph.is_untrusted:
        graph.distrust()
    return graph


@dataclasses.dataclass(slots=True, eq=False)
class Function:
    """A function: its interface as an OpDef, its body, and the outputs and nodes of the body that a call returns.

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
    """The function that TensorFlow calls for the gradient of this function, where declared."""
    source: Any = None
    """Whatever a format keeps to write the function back unchanged."""
    accesses: Any = dataclasses.field(default=None, init=False, repr=False)
    """The state that the function reads and writes, cached by `ordering`, with the conditions of the cached result."""
    _pattern: Function | None = dataclasses.field(default=None, init=False, repr=False)
    """The function to copy the parts from that this function still lacks."""
    _sharers: int = dataclasses.field(default=0, init=False, repr=False)
    """The number of functions that lack parts of their own and read these."""

    @classmethod
    def like(cls, pattern: Function, signature: OpDef, source: Any) -> Function:
        """Return a function that is equal to another but for its name; its body is copied when it is first asked for."""
        made = cls.__new__(cls)
        made.signature, made.source, made._pattern, made._sharers = signature, source, pattern, 0
        made.attrs, made.arg_attrs, made.gradient, made.accesses = pattern.attrs, pattern.arg_attrs, pattern.gradient, None
        pattern.share()
        return made

    def share(self) -> None:
        """Count one more that reads the parts, which nobody may take or change from then on."""
        with _linking:
            self._sharers += 1

    def __getattr__(self, name: str) -> Any:
        # Python asks here for what is missing: the parts of a function that was made `like` another.
        if name not in _PARTS:
            raise AttributeError(f"a function has no '{name}'")
        with _linking:
            pattern = self._pattern
            if pattern is not None:  # else another thread has set them meanwhile
                # Most functions of a file have no equal: theirs is the only use of the parts, and a copy would double them.
                parts = pattern.parts if pattern._sharers == 1 else pattern.parts_copied()
                self.body, self.args, self.results, self.control_results = parts
                pattern._sharers -= 1
                self._pattern = None
        return getattr(self, name)

    @property
    def is_pattern(self) -> bool:
        """Whether functions share the parts; False again once a function has taken them for its own."""
        return self._sharers > 0

    @property
    def pattern(self) -> Function:
        """The function with equal nodes that all equal functions of a file share, to be read and never changed.

        The function itself once somebody asked for its body, and may have changed it.
        """
        return self if self._pattern is None else self._pattern

    @property
    def parts(self) -> tuple[Graph, list[Node], list[Output], list[Node]]:
        """The body, the arguments, the results and the control results."""
        return self.body, self.args, self.results, self.control_results

    def parts_copied(self) -> tuple[Graph, list[Node], list[Output], list[Node]]:
        """Return copies of the body, the arguments, the results and the control results."""
        body = self.body.copy(self.body.functions)
        return (
            body,
            [body.node(arg.name) for arg in self.args],
            [Output(body.node(value.node.name), value.index) for value in self.results],
            [body.node(control.name) for control in self.control_results],
        )

    @property
    def name(self) -> str:
        return self.signature.name

    def check(self, left_open: Collection[str] = ()) -> None:
        """Check the body as `Graph.check` does, its arguments against the signature, and the returned outputs."""
        self._check_arguments()
        self.body.check(left_open)
        self._check_results()

    def check_changes(self) -> None:
        """Check the function as `check` does, the body only where it changed since the last check."""
        self._check_arguments()
        self.body.check_changes()
        self._check_results()

    def _check_arguments(self) -> None:
        args = set(self.args)
        for node in self.body:
            if node.is_argument and node not in args:
                raise InvalidArgumentError(STRAY_ARGUMENT, node=node.name, op=node.op)

    def _check_results(self) -> None:
        for value in self.results:
            if value.dtype is None and value.node.op_def is not None:
                raise InvalidArgumentError(f"the function returns '{value}', which does not exist", node=value.node.name)


class DeclaredFunctions(MutableMapping[str, Function]):
    """A library whose functions' interfaces are known before their bodies are decoded."""

    is_untrusted = False
    """Whether the bodies are a stranger's graphs."""

    # A library of thousands of functions decodes the bodies that a run calls, and equal bodies share their checks.
    @functools.cached_property
    def checks_so_far(self) -> CheckMemo:
        """The results of checks, which the bodies of many functions share."""
        return KeyedCache(_MOST_CHECKS)

    @functools.cached_property
    def derived(self) -> dict[type, Any]:
        """What was derived from all functions of the library, by its class; empty after a change of the library."""
        return {}

    @abc.abstractmethod
    def signature(self, name: str) -> OpDef | None:
        """Return the interface of a function without decoding the body; None if the library has no function `name`."""
