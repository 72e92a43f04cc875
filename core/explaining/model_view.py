"""The graph of a model: the part that a signature runs, its calls dissolved, with the names that the author gave."""

from __future__ import annotations

import collections
import functools
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Final, NamedTuple

from ..graph.call_kinds import BY_NAME, CallKind, call_kind
from ..graph.callers import called_functions_of, drop_uncalled, node_count
from ..graph.graph import Function, Graph, GraphLike, Node, Output, as_graph
from ..graph.instantiation import function_called, with_attrs
from ..graph.metagraph import MetaGraph, Signature, SignatureTensor, VariableInfo
from ..graph.node_making import add_placeholder
from ..graph.traversal import topological_order
from ..graph.variable_nodes import VARIABLES, is_frozen_weight
from ..inference.inference import unchanged
from ..planning.reachability import needed_nodes
from ..registry.op_facts import has_fact
from ..runtime.session.function_signatures import entry, entry_points
from ..runtime.session.restored_variables import restored_variables
from ..support import dataclasses
from ..support.arguments import checked
from ..support.errors import InvalidArgumentError, NotFoundError
from ..support.grouping import grouped
from ..support.hints import Hint, command
from ..support.tensor_names import Suffixes, free_name, parse_tensor_name
from ..types.dtypes import resource
from ..types.shapes import UNKNOWN, Shape
from .author_scopes import (
    CALL,
    AuthorScopes,
    ScopedNode,
    base_name,
    is_in_gradients,
    is_seed,
    passes_weight_on,
    weight_name,
    without_calls,
)

_COPIES: Final = 10
"""How many times the nodes of the file a view may have: a function that calls another twice doubles with each level."""
_MIN_COPIES: Final = 10_000
_HANDED_ON: Final = re.compile(r"Identity(_\d+)?$")
"""The nodes by which TensorFlow hands the results of a function on."""
_INLINED: Final = re.compile(rf"(?:^|/){CALL.pattern}/")
_MAX_LISTED: Final = 5
_MAX_CALLS: Final = 64
_HARMLESS: Final = ("variable", "snapshot", "metadata", "owns_state", "diagnostic", "debug", "initialization_test")
"""Facts of stateful ops that change nothing."""


class SourceNode(NamedTuple):
    """The node of the file that a node of a view stands for."""

    node: str
    """The name of the node in its graph or function."""
    function: str = ""
    """The function; empty for a node of the graph."""
    calls: tuple[str, ...] = ()
    """The names of the calls that lead to the function, the graph's first."""

    @property
    def path(self) -> str:
        """The name by which commands know the node: NODE, or FUNCTION/NODE."""
        return f"{self.function}/{self.node}" if self.function else self.node

    @property
    def call_path(self) -> str:
        """The names of the calls that lead to the node, and its name; `path` where there are too many calls to list."""
        return "/".join((*self.calls, self.node)) if len(self.calls) <= _MAX_CALLS else self.path


@dataclasses.dataclass(frozen=True, eq=False)
class ModelView:
    """A model as a graph without plumbing.

    Calls are dissolved, also inside the bodies of loops and branches, and arguments and captured handles replaced by the
    inputs and variables behind them. Inputs have the names of the signature, and nodes of functions and variables lie in the
    scopes of layers that the author named. The graph is there to be looked at and counted; the file's own graph is there to
    be run, as a view keeps only the effects that a result waits for.
    """

    graph: Graph
    """The nodes of the view."""
    origins: Mapping[str, SourceNode]
    """The nodes of the file, by the names of the view's nodes: NODE, or FUNCTION/NODE in the body of a loop or branch."""
    signature: Signature | None
    """The signature with the tensors of the view; None for a graph without one."""
    source: Graph
    """The graph of the file."""
    layers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """The scopes of layers, by the names of the nodes inside, as in `origins`."""
    results: Mapping[str, Output] = dataclasses.field(default_factory=dict)
    """The tensors of the view for those of the file's graph that a dissolved call returns."""
    depths: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """The number of calls of the file that lead to a body of the view, by function."""

    def origin(self, node: Node | str) -> SourceNode:
        """Return the node of the file that a node of the view stands for; NotFoundError if the view has no such node."""
        name = node if isinstance(node, str) else self.name(node)
        if name not in self.origins:
            raise NotFoundError(f"the view has no node '{name}'")
        return self.origins[name]

    def name(self, node: Node) -> str:
        """Return the name of a node of the view, FUNCTION/NODE in the body of a loop or branch."""
        function = self.function_of(node)
        return node.name if function is None else f"{function}/{node.name}"

    def function_of(self, node: Node) -> str | None:
        """Return the function of the view in whose body a node lies; None for a node of the graph."""
        # By identity: a node of a body may have the name of one of the graph.
        if self.graph.get(node.name) is node:
            return None
        return next((name for name in self.depths if self.graph.functions[name].body.get(node.name) is node), None)

    @property
    def other_names(self) -> dict[Node, str]:
        """The paths of nodes that the file calls otherwise."""
        nodes = [(node, node.name) for node in self.graph]
        nodes += [(node, f"{name}/{node.name}") for name in self.depths for node in self.graph.functions[name].body]
        paths = ((node, self.origins[name].path, name) for node, name in nodes)
        return {} if isinstance(self.origins, _Themselves) else {node: path for node, path, name in paths if path != name}

    @functools.cached_property
    def _by_path(self) -> Mapping[str, str]:
        """The names of the view's nodes by NODE, FUNCTION/NODE, and NODE behind the calls that lead there."""
        names: dict[str, str] = {}
        for name, origin in self.origins.items():
            names.setdefault(origin.path, name)
            if self._body_of(name) is None:
                names.setdefault(origin.call_path, name)
        return names

    @functools.cached_property
    def _in_bodies(self) -> Mapping[str, Mapping[str, str]]:
        """The names of the nodes of each body by NODE, and NODE behind the calls that lead there from the body."""
        names: dict[str, dict[str, str]] = {function: {} for function in self.depths}
        for name, origin in self.origins.items():
            if (function := self._body_of(name)) is not None:
                inner = "/".join((*origin.calls[self.depths[function] :], origin.node))
                names[function].setdefault(inner, name[len(function) + 1 :])
        return names

    def _body_of(self, name: str) -> str | None:
        """Return the function of FUNCTION/NODE, None for the name of a node of the view's graph."""
        function = name.partition("/")[0] if self.depths else ""
        return function if function in self.depths and name not in self.graph else None

    @functools.cached_property
    def _by_name(self) -> Mapping[str, str]:
        """The names of the view's nodes by their names in functions; the first of several."""
        names: dict[str, str] = {}
        for name, origin in self.origins.items():
            names.setdefault(origin.node, name)
        return names

    def path(self, path: str) -> str:
        """Return the path of a node in the view's graph for its path in the file; where the view has a part of the path as a
        node, the rest of the path leads into that node's functions.
        """
        whole = path
        while path:
            if (name := self._by_path.get(path)) is not None:
                rest = whole[len(path) + 1 :]
                return f"{name}/{self._inner_path(self.get(name), rest)}" if rest else name
            path = path.rpartition("/")[0]
        return whole

    def _inner_path(self, call: Node | None, path: str) -> str:
        """Return the path of a node in a function that a node of the view calls, for its path in the function of the file."""
        for function in () if call is None else called_functions_of(self.graph, call):
            names, first = self._in_bodies.get(function, {}), path
            while first and first not in names:
                first = first.rpartition("/")[0]
            if first:
                rest = path[len(first) + 1 :]
                node = self.graph.functions[function].body.get(names[first])
                return f"{names[first]}/{self._inner_path(node, rest)}" if rest else names[first]
        return path

    def get(self, name: str) -> Node | None:
        """Return the node of the view called NODE or FUNCTION/NODE, None if there is none."""
        graph, own = self._place(name)
        return graph.get(own)

    def _place(self, name: str) -> tuple[Graph, str]:
        """Return the graph or the body that has NODE or FUNCTION/NODE, and the name of the node there."""
        function = self._body_of(name)
        return (self.graph, name) if function is None else (self.graph.functions[function].body, name[len(function) + 1 :])

    def value(self, word: str) -> Output:
        """Return the tensor that a word names: an argument of the signature, a node or tensor of the view or of the file, or
        a scope, which stands for its last result. The last parts of a name are enough where no other name ends so.

        An operation without results is its output 0. NotFoundError if there is no such name, InvalidArgumentError lists the
        names where there are several.
        """
        value = self.find(word)
        if value is None:
            name = parse_tensor_name(word)[0]
            # Users remember the end of a name, and the scopes around differ from file to file.
            last = name.strip("/").rpartition("/")[2]
            near = ", ".join(dict.fromkeys([*self._nearest_layers(last), *self.graph.nearest(name)]))
            raise NotFoundError(
                f"the model has no layer or node '{name}'",
                hint=f"nearest names: {near}" if near else Hint(command("layers"), " lists them"),
            )
        return value

    def find(self, word: str) -> Output | None:
        """Return the tensor of `value`, None if there is no such name."""
        name, index, _ = parse_tensor_name(word)
        arguments = {} if self.signature is None else {**self.signature.fed, **self.signature.fetched}
        # Arguments of the signature come first, then tensors and nodes, and scopes last.
        if word in arguments:
            return self.graph.output(arguments[word])
        if (result := self.results.get(f"{name}:{index}")) is not None:
            return result
        known = self._by_path.get(name) or self._by_name.get(name, "")
        own_name = next((each for each in (name, known) if self.get(each) is not None), None)
        if own_name is not None:
            graph, own = self._place(own_name)
            node = graph.node(own)
            return graph.output(f"{own}:{index}") if index or node.output_dtypes else node.output()
        result = self._last_result(name)
        if index and result is not None:
            raise InvalidArgumentError(f"'{name}' is a scope, and has the single output {result.node.name}: write '{name}'")
        return result

    @functools.cached_property
    def functions(self) -> frozenset[str]:
        """The functions whose nodes the view has."""
        return frozenset(origin.function for origin in self.origins.values() if origin.function)

    def _last_result(self, scope: str) -> Output | None:
        """Return the last result that leaves a scope, by the whole name of the scope or by its end; None without the scope."""
        # By whole parts, so that `conv1` does not find `conv10`.
        parts = scope.strip("/").split("/")
        graphs = (self.graph, *(self.graph.functions[name].body for name in self.depths))
        by_scope = (grouped((each, node) for node in graph for each in _scopes_named(node.name, parts)) for graph in graphs)
        known = [members for members in by_scope if members]
        # A scope may hold only constants or variables, under the name of the layer that reads them.
        computing = (members for members in known if any(_computes(node) for nodes in members.values() for node in nodes))
        members = next(computing, known[0] if known else self._layers_named(parts))
        if len(members) > 1 and scope not in members:
            names = ", ".join(list(members)[:_MAX_LISTED]) + (" ..." if len(members) > _MAX_LISTED else "")
            raise InvalidArgumentError(f"'{scope}' names {len(members)} nodes and scopes", hint=f"choose one of {names}")
        if not members:
            return None
        inside = dict.fromkeys(members.get(scope) or next(iter(members.values())))
        active = [node for node in inside if _computes(node)]
        # The result of a scope is what others take of it, and of several the last, as the author computed it.
        leaving = [node for node in active if not node.uses or any(user not in inside for user in node.uses)]
        if not active:
            held = ", ".join(node.name for node in list(inside)[:_MAX_LISTED])
            raise InvalidArgumentError(f"scope '{scope}' computes nothing", hint=f"it holds {held}")
        return self._read_output((leaving or active)[-1])

    def _layers_named(self, parts: Sequence[str]) -> dict[str, list[Node]]:
        """Return the layers by their authors' names whose last parts are those given, in a graph with other names."""
        layers = grouped((layer, node) for node, layer, rest in _layers(list(_places(self.graph, {}, {}, {})), ()) if rest)
        return {layer: nodes for layer, nodes in layers.items() if layer.split("/")[-len(parts) :] == list(parts)}

    def _nearest_layers(self, word: str) -> Iterator[str]:
        """Yield the layers whose own names are near to a word."""
        layers = {layer.rpartition("/")[2]: layer for layer in self.layers.values()}
        yield from (layers[name] for name in get_close_matches(word, layers, _MAX_LISTED, 0.7))

    def _read_output(self, node: Node) -> Output:
        """Return the first output of a node that something reads: that of a loop is no counter of iterations."""
        fetched = self.signature.fetched.values() if self.signature is not None else ()
        taken = {value for user in node.uses for value in user.inputs if value.node is node}
        read = (value for value in node.outputs() if value in taken or value.name in fetched)
        return next(read, node.output())


def is_inside(value: Output, word: str) -> bool:
    """Return True for the tensor that `ModelView.value` found inside the scope of the word, and not by its own name."""
    return f"/{word.strip('/')}/" in f"/{value.node.name}"


def _computes(node: Node) -> bool:
    """Return True for a node that may be the output of a layer: it does more than to hold a value."""
    holds = node.is_constant or node.is_placeholder or node.is_argument or node.is_variable_read or node.op in VARIABLES
    return bool(node.output_dtypes) and not holds


def _scopes_named(name: str, parts: Sequence[str]) -> Iterator[str]:
    """Yield the scopes around a node, and the node, whose last parts are those given."""
    names = name.split("/")
    for end in range(len(parts), len(names) + 1):
        if names[end - len(parts) : end] == parts:
            yield "/".join(names[:end])


@checked
def model_view(graph: GraphLike, signature: str | None = None, *, raw: bool = False) -> ModelView:
    """Return the view of a signature, by default of the usual one; of a graph without signatures the view of all its nodes
    but those that save and restore.

    The time is linear in the nodes of the graph and its functions. A recursive call stays a call, and so does one whose
    function would make the view more than ten times as large as the file. A graph without signatures, functions and scopes of
    inlined functions is its own view, and so is one with a cycle; with `raw` every graph is. `signature` may also name a
    function of the model's objects. InvalidArgumentError lists the signatures for a name that none has.
    """
    graph = as_graph(graph)
    meta = graph.meta
    # A view of a view shows the same signature.
    names = [meta.chosen] if meta is not None and meta.chosen is not None else entry_points(graph)
    name = signature if signature is not None else next(iter(names), None)
    # Nothing to dissolve: a copy would only take time and memory.
    calls = (node.name for node in graph if "PartitionedCall" in node.name)  # a quick test: few of a million names pass
    if raw or (name is None and not graph.functions and not any(map(_INLINED.search, calls))):
        return ModelView(graph, _Themselves(graph), None, graph)
    graph, chosen = (graph, None) if name is None else entry(graph, name)
    copying = _Copying(graph, chosen)
    try:
        copying.run()
    except (InvalidArgumentError, NotFoundError):
        # Nodes on a cycle have no order, and a signature may name what is not there: such a graph is looked at as it is.
        return ModelView(graph, _Themselves(graph), None, graph)
    return copying.view()


def layers_of_nodes(view: ModelView) -> Mapping[str, str]:
    """Return the layers of the nodes inside of layers, by the names of the nodes in the view."""
    if not isinstance(view.origins, _Themselves):
        return view.layers
    places = list(_places(view.graph, {}, {}, {}))
    return {node.name: layer for node, layer, rest in _layers(places, ()) if rest}


class _Themselves(Mapping[str, SourceNode]):
    """The origins of a graph that is its own view."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def __getitem__(self, name: str) -> SourceNode:
        return SourceNode(self._graph.node(name).name)

    def __iter__(self) -> Iterator[str]:
        return (node.name for node in self._graph)

    def __len__(self) -> int:
        return len(self._graph)


@dataclasses.dataclass(eq=False)
class _Body:
    """The graph or a function whose nodes are copied."""

    nodes: Iterator[Node]
    function: Function | None = None
    calls: tuple[str, ...] = ()
    site: Node | None = None
    """The call in the body around."""
    scope: str = ""
    """The scope of the calls, in which the nodes lie."""
    path: str | None = None
    """The path of the calls, for naming layers; None if it is the scope."""
    controls: Sequence[Node] = ()
    """The copies that the call waits for."""
    made: dict[Node, Node] = dataclasses.field(default_factory=dict)
    values: dict[Output, Output] = dataclasses.field(default_factory=dict)
    """Values of the view for arguments and for results of dissolved calls."""
    ends: dict[Node, list[Node]] = dataclasses.field(default_factory=dict)
    """The copies that a node waits for which waits for a dissolved call."""

    def value(self, value: Output) -> Output:
        """Return the value of the view for a value of the body."""
        # These Identity nodes were left out, so their readers take what they hand on.
        while value.node not in self.made and _hands_on(value.node):
            value = value.node.inputs[0]
        return self.values.get(value) or Output(self.made[value.node], value.index)

    def waited(self, node: Node) -> list[Node]:
        """Return the copies to wait for in the place of a node."""
        return [self.made[node]] if node in self.made else self.ends.get(node, [])


class _Copying:
    """The copying of a graph's nodes and of the bodies of its calls into a view."""

    def __init__(self, graph: Graph, signature: Signature | None) -> None:
        self.source = graph
        self.signature = signature
        self.graph = self.target = graph.emptied()
        # A library of its own, as bodies with dissolved calls take the places of the file's.
        self.graph.functions = dict(graph.functions)
        self.bodies: dict[str, tuple[str, ...]] = {}
        """The functions that stay, in the order of their first calls, with the calls of the file that lead there."""
        self.paths: dict[Node, str] = {}
        """The paths of nodes by which layers are found, where they are not their names."""
        self.origins: dict[Node, SourceNode] = {}
        self.inner: set[Node] = set()
        """The copies of nodes of functions, also of functions that were inlined before."""
        self.room = max(_COPIES * node_count(graph), _MIN_COPIES)
        self.body = _Body(iter(()))
        self.open: set[str] = set()
        """The functions whose bodies are being copied."""
        self.orders: dict[Function, list[Node]] = {}
        """The needed nodes of bodies in topological order; equal functions share theirs."""

    def run(self) -> None:
        """Copy the needed nodes."""
        source, body = self.source, self.body
        if self.signature is None:
            wanted = _without_saver(source)
        else:
            inputs = {argument: source.output(name) for argument, name in self.signature.fed.items()}
            fetches = [source.fetch(name) for name in self.signature.fetched.values()]
            wanted = needed_nodes(fetches, list(inputs.values()))
            body.values = {value: self._input(argument, value) for argument, value in inputs.items()}
        order = topological_order(node for node in source if node in wanted)
        body.nodes = (node for node in order if node.output() not in body.values and not _is_argument(node))
        self._copy(body)
        # Bodies after the graph, and inner ones after outer ones: a function gets the layers of its first call.
        pending = collections.deque([self.graph])
        looked_at: set[tuple[str, int]] = set()
        while pending:
            for node in pending.popleft():
                # Alike nodes name the same functions, and the first has had their bodies.
                if (node.op, id(node.attrs)) in looked_at:
                    continue
                looked_at.add((node.op, id(node.attrs)))
                for function in self._new_bodies(node):
                    self.graph.functions[function.name] = function
                    pending.append(function.body)

    def _new_bodies(self, node: Node) -> Iterator[Function]:
        """Yield copies of the functions that a node of the view runs, such as the body of a loop, with their calls dissolved.

        A function has one copy, with the layers of its first call.
        """
        for name in called_functions_of(self.source, node):
            function = self.source.functions[name]
            # A polymorphic function has another body for each call, and stays as it is.
            if name not in self.bodies and not function.signature.attrs:
                origin = self.origins[node]
                self.bodies[name] = calls = (*origin.calls, origin.node)
                yield self._copied(function, calls)

    def _copied(self, function: Function, calls: tuple[str, ...]) -> Function:
        self.target = function.body.emptied()
        kept = _needed(function).union(function.args)
        order = topological_order(node for node in function.body if node in kept)
        body = _Body(iter(order), function, calls, path="")
        self.open = {function.name}
        self._copy(body)
        controls = dict.fromkeys(end for control in function.control_results for end in body.waited(control))
        return dataclasses.replace(
            function, body=self.target, args=[body.made[arg] for arg in function.args], source=None,
            results=[body.value(value) for value in function.results], control_results=list(controls),
        )  # fmt: skip

    def _input(self, argument: str, value: Output) -> Output:
        """Add the placeholder of an argument."""
        node = value.node
        assert self.signature is not None
        # A tensor that the graph computes has the shape that the signature states.
        stated = self.signature.inputs[argument].shape if argument in self.signature.inputs else UNKNOWN
        shape = node.attr_of(Shape, "shape") if node.is_placeholder else stated
        made = add_placeholder(self.target, argument, value.base_dtype, UNKNOWN if shape is None else shape)
        self.origins[made] = SourceNode(node.name)
        return made.output()

    def _copy(self, outermost: _Body) -> None:
        stack = [outermost]  # not Python's: functions nest deeper than its limit of recursion
        while stack:
            body = stack[-1]
            for node in body.nodes:
                function = self._dissolved(node)
                if function is not None:
                    stack.append(self._entered(body, node, function))
                    break
                self._add(body, node)
            else:
                self._connect(stack.pop())
                if body.function is not None and stack:
                    self.open.discard(body.function.name)
                    _leave(stack[-1], body)

    def _dissolved(self, node: Node) -> Function | None:
        """Return the function of a call that has a place in the view, None for another node."""
        kind = call_kind(self.source.functions, node)
        # Loops and branches stay nodes, as what they run depends on values.
        if kind is None or not (kind.is_inlined or kind is BY_NAME):
            return None
        function = _callee(self.source, kind, node)
        # A call of other arguments is broken, and stays to be looked at.
        if function is None:
            return None
        shared = function.pattern
        if len(shared.body) > self.room or len(shared.args) != len(node.inputs):
            return None
        # A recursive call has no end.
        return None if function.name in self.open else function

    def _entered(self, body: _Body, site: Node, function: Function) -> _Body:
        """Return the body of a function, with the values of a call for its arguments."""
        # A function with two calls of the next doubles the view with each level; when the room is used up, calls stay.
        shared = function.pattern
        self.room -= len(shared.body)
        self.open.add(function.name)
        # Arguments have no node in the view: their readers take the call's inputs.
        values = {arg.output(): body.value(value) for arg, value in zip(shared.args, site.inputs)}
        if shared not in self.orders:
            nodes = _needed(shared)
            self.orders[shared] = topological_order(
                node for node in shared.body if node in nodes and node.output() not in values
            )
        controls = [end for control in site.control_inputs for end in body.waited(control)]
        calls = (*body.calls, site.name)
        # The name of the call itself is TensorFlow's (PartitionedCall), and the scope around is the author's.
        scope = _inside(body.scope, site.name).rpartition("/")[0]
        path = None if body.path is None else _inside(body.scope, site.name)
        return _Body(iter(self.orders[shared]), function, calls, site, scope, path, controls or body.controls, values=values)

    def _add(self, body: _Body, node: Node) -> None:
        is_variable = node.op in VARIABLES
        own = node.name if body.function is not None else without_calls(node.name)
        # A variable is called as in sessions and checkpoints.
        name = node.text_attr("shared_name") or node.name if is_variable else _inside(body.scope, own)
        attrs = node.attrs
        if body.function is not None and "_class" in attrs:  # it names nodes of the function
            attrs = {key: value for key, value in attrs.items() if key != "_class"}
        # Without inputs at first: those of a loop come later in the order.
        made = self.target.add_node(self.target.unique_name(name), node.op, (), (), attrs, node.device)
        body.made[node] = made
        if (body.calls or own != node.name) and not node.is_argument:
            self.inner.add(made)
        if body.path and name != own:
            self.paths[made] = f"{body.path}/{own}"
        self.origins[made] = SourceNode(node.name, body.function.name if body.function is not None else "", body.calls)

    def _connect(self, body: _Body) -> None:
        # After all nodes are made, as the Merge of a V1 loop takes a value that a later node computes.
        for node, made in body.made.items():
            controls = [end for control in node.control_inputs for end in body.waited(control) if end is not made]
            if not node.inputs and not controls and not node.is_constant and node.op not in VARIABLES:
                controls = list(body.controls)  # a node of a function runs after what its call waited for
            self.target.set_inputs(made, map(body.value, node.inputs), controls)

    def view(self) -> ModelView:
        """Return the view, its nodes renamed."""
        signature = self.signature
        values: dict[str, Output] = {}
        if signature is not None:
            fetched = {argument: self.source.result(name) for argument, name in signature.fetched.items()}
            values = {argument: self.body.value(value) for argument, value in fetched.items() if isinstance(value, Output)}
        # Before the signature is written, which takes the new names.
        layers = self._name_nodes()
        if signature is not None:
            inputs = {key: self.body.values[self.source.output(name)].name for key, name in signature.fed.items()}
            signature = _retargeted(signature, inputs, {key: value.name for key, value in values.items()})
            self.graph.meta = self._meta(signature)
        # Functions whose calls were all dissolved have no caller any more.
        drop_uncalled(self.graph)
        names = self._names()
        origins = {names[node]: origin for node, origin in self.origins.items()}
        scopes = {names[node]: layer for node, layer in layers.items()}
        results: dict[str, Output] = {value.name: made for value, made in self.body.values.items()}
        depths = {name: len(calls) for name, calls in self.bodies.items()}
        return ModelView(self.graph, origins, signature, self.source, scopes, results, depths)

    def _name_nodes(self) -> dict[Node, str]:
        """Give the nodes of functions the names of their layers; return the layers of nodes that are not layers themselves."""
        bodies = {name: self.graph.functions[name] for name in self.bodies}
        python_names = self.source.meta.python_names if self.source.meta is not None else {}
        places = list(_places(self.graph, bodies, self.paths, python_names))
        layers = list(_layers(places, self.inner))
        inner = {
            node: f"{layer}/{rest}".rstrip("/") for node, layer, rest in layers if node in self.inner or node.op in VARIABLES
        }
        for graph in (self.graph, *(function.body for function in bodies.values())):
            # All at once, as a node may take the name that another one leaves.
            graph.rename_nodes(_free_names({node: inner[node] for node in graph if node in inner}, graph))
        return {node: layer for node, layer, rest in layers if rest}

    def _names(self) -> dict[Node, str]:
        names = {node: node.name for node in self.graph}
        for function in self.bodies:
            names |= {node: f"{function}/{node.name}" for node in self.graph.functions[function].body}
        return names

    def _meta(self, signature: Signature) -> MetaGraph | None:
        """Return what the file says of the model, with the signature alone and without what is not in the view."""
        meta = self.source.meta
        if meta is None:
            return None
        # In a TF2 model, keys of the checkpoint belong to objects, and only these tell the variables.
        restored = restored_variables(self.source) if meta.objects is not None else {}
        keys = {node: key for key, node in restored.items()} | dict(meta.read_keys)
        names = {origin.node: node.name for node, origin in self.origins.items() if not origin.function}
        return MetaGraph(
            tags=meta.tags, signatures={signature.name: signature}, variables_prefix=meta.variables_prefix,
            folder=meta.folder, tensorflow_version=meta.tensorflow_version, frozen_keys=meta.frozen_keys,
            read_keys={names[node]: key for node, key in keys.items() if node in names}, chosen=signature.name,
            variables=_renamed(meta.variables, names),
        )  # fmt: skip


def _renamed(
    collections: Mapping[str, Sequence[VariableInfo]], names: Mapping[str, str]
) -> dict[str, tuple[VariableInfo, ...]]:
    """Return the variables of collections by the names of the view's nodes, without variables that the view lacks."""
    records = {name: [(record, record.name.partition(":")[0]) for record in infos] for name, infos in collections.items()}
    return {
        name: tuple(dataclasses.replace(record, name=f"{names[node]}:0") for record, node in pairs if node in names)
        for name, pairs in records.items()
    }


def _without_saver(graph: Graph) -> set[Node]:
    """Return the nodes of a graph but those that only save and restore its variables."""
    saver = graph.meta.saver if graph.meta is not None else None
    if saver is None:
        return set(graph)
    # What feeds the saver, such as its file's name, goes with these ends.
    names = [name.partition(":")[0] for name in (saver.save_tensor, saver.restore_op)]
    ends = {node for name in names if (node := graph.get(name)) is not None}
    return needed_nodes([node for node in graph if not node.uses and node not in ends])


def _inside(scope: str, name: str) -> str:
    """Return the name of a node in a scope; TensorFlow names the nodes of some functions with the scope of their calls."""
    return f"{scope}/{name}" if scope and not name.startswith(f"{scope}/") else name


def _callee(graph: Graph, kind: CallKind, node: Node) -> Function | None:
    """Return the function that a node calls, with the values of its attributes; None if the graph lacks the function."""
    reference = kind.references(node)[0]
    function = function_called(graph.functions, reference.name)
    return None if function is None else with_attrs(function, reference)


def _hands_on(node: Node) -> bool:
    """Return True for a node by which TensorFlow hands the result of a function on, or inlining an argument."""
    return node.is_identity and (_HANDED_ON.match(node.name) is not None or _is_argument(node))


def _is_argument(node: Node) -> bool:
    """Return True for what is left of an argument of an inlined function: no node waits for it."""
    # Inlining leaves an Identity for each argument, in the scope of the call: the author wrote no such node.
    is_left = node.is_identity and not node.control_inputs and CALL.fullmatch(node.name.split("/")[-2:][0]) is not None
    return is_left and "/" in node.name and bool(node.uses) and not any(node in user.control_inputs for user in node.uses)


def _needed(function: Function) -> set[Node]:
    """Return the nodes that results need, and that change a state.

    What hands a result on waits for all nodes with effects, reads among them.
    """
    cuts = [arg.output() for arg in function.args]
    results = list(function.results)
    controls = list(function.control_results)
    for place, value in enumerate(results):
        # An Identity at the end waits for all effects, and would hold the reads of all variables in the view.
        while _hands_on(value.node):
            controls += value.node.control_inputs
            results[place] = value = value.node.inputs[0]
    needed = needed_nodes(results, cuts)
    for control in dict.fromkeys(controls):
        more = needed_nodes([control], cuts) - needed
        # A control result that changes nothing, such as a read of a variable, is plumbing.
        if any(map(_acts, more)):
            needed |= more
    return needed


def _acts(node: Node) -> bool:
    definition = node.op_def
    return (definition is None or definition.is_stateful) and not any(has_fact(node.op, fact) for fact in _HARMLESS)


def _leave(body: _Body, callee: _Body) -> None:
    """Let the readers of a call take the results of its function, and what waits for the call wait for its effects."""
    function, site = callee.function, callee.site
    assert function is not None and site is not None
    for index, value in enumerate(function.pattern.results):
        body.values[site.output(index)] = callee.value(value)
    body.ends[site] = [end for control in function.pattern.control_results for end in callee.waited(control)]


def _retargeted(signature: Signature, inputs: Mapping[str, str], outputs: Mapping[str, str]) -> Signature:
    """Return a signature with other tensors behind its arguments; components of a composite are arguments of their own."""
    known = {**signature.inputs, **signature.outputs}

    def argument(key: str, tensor: str) -> SignatureTensor:
        return dataclasses.replace(known[key], tensor=tensor) if key in known else SignatureTensor(tensor)

    return dataclasses.replace(
        signature,
        inputs={key: argument(key, tensor) for key, tensor in inputs.items()},
        outputs={key: argument(key, tensor) for key, tensor in outputs.items()},
    )


def _layers(places: Sequence[tuple[Node, ScopedNode]], inner: Container[Node]) -> Iterator[tuple[Node, str, str]]:
    """Yield the nodes that lie in a scope, each with its layer by the author's name, and the name below the layer. `inner` are
    the nodes of functions.

    A layer that is called several times is as many layers, or the picture of the data flow would have a cycle.
    """
    # Gradients have scopes like the layers that they are of, and would become layers of the same names.
    forward = [(node, place) for node, place in places if "/" in place.path and not is_in_gradients(place.path)]
    scopes = AuthorScopes([place for _, place in places])
    parts = list(scopes.named(place for _, place in forward))
    calls: dict[tuple[str, str], str] = {}
    taken = {part.layer for part in parts}
    for (node, _), (layer, scope, rest) in zip(forward, parts):
        if node.op in VARIABLES and (own := scopes.layer_of_weight(node.name)) is not None:
            yield node, own, node.name.rpartition("/")[2]
            continue
        is_call = node in inner and base_name(scope) == base_name(layer)
        # The second call of a layer gets a name of its own.
        if is_call and (layer, scope) not in calls:
            calls[layer, scope] = layer if layer not in calls.values() else free_name(layer, taken)
            taken.add(calls[layer, scope])
        yield node, calls[layer, scope] if is_call else layer, rest


def _free_names(wanted: Mapping[Node, str], graph: Graph) -> dict[Node, str]:
    """Return new names for some nodes of a graph, with a number where a name is taken."""
    taken = {node.name for node in graph if node not in wanted}
    suffixes = Suffixes()
    names: dict[Node, str] = {}
    for node, name in wanted.items():
        names[node] = name if name not in taken else suffixes.first_free(name, taken)
        taken.add(names[node])
    return names


def _places(
    graph: Graph, bodies: Mapping[str, Function], paths: Mapping[Node, str], python_names: Mapping[str, str]
) -> Iterator[tuple[Node, ScopedNode]]:
    """Yield the nodes of a graph and of the bodies that it runs, callers first, each with its path and its weights."""
    # By value, so that the node that computes with a weight reads it, and not the nodes on the way.
    carried: dict[Output, str] = {}
    repeated: set[str] = set()
    for function, body in (("", graph), *((name, function.body) for name, function in bodies.items())):
        kinds = {node.op: node for node in body}
        loops = {op for op, node in kinds.items() if _is_loop(graph, node)}
        # Of a million nodes few are of these ops.
        holding = {op for op, node in kinds.items() if op in VARIABLES or node.is_constant}
        for node in body:
            read = [carried[value] for value in node.inputs if value in carried]
            called = [name for name in called_functions_of(graph, node) if name in bodies] if bodies else ()
            is_loop = node.op in loops
            repeated.update(called if is_loop or function in repeated else ())
            for name in called if read else ():
                _hand_weights(node, bodies[name], carried, is_loop=is_loop)
            if node.op in holding and (node.op in VARIABLES or is_frozen_weight(node)):
                if not is_seed(node.name):
                    carried[node.output()] = weight_name(node.name, python_names)
                read = []
            elif called:
                read = []  # its functions' nodes read them
            elif read and passes_weight_on(node):
                carried |= dict.fromkeys(node.outputs(), read[0])
                read = []
            is_repeated = is_loop or function in repeated
            weights = tuple(dict.fromkeys(read)) if read else ()
            yield node, ScopedNode(paths.get(node, node.name), weights, is_repeated=is_repeated)


def _hand_weights(call: Node, function: Function, carried: dict[Output, str], *, is_loop: bool) -> None:
    """Note the weights that a call hands to the arguments of a function; a loop changes its other arguments."""
    kept = unchanged(function) if is_loop else set(function.args)
    # From the end: an If has its predicate in front of the arguments.
    for arg, value in zip(reversed(function.args), reversed(call.inputs)):
        if value in carried and (arg in kept or value.dtype is resource):
            carried.setdefault(arg.output(), carried[value])


def _is_loop(graph: Graph, node: Node) -> bool:
    kind = call_kind(graph.functions, node)
    return kind is not None and kind.is_loop
