"""Facts about a whole graph: inputs, outputs, variables, initializers, signatures, ops without a kernel, next commands."""

from __future__ import annotations

import collections
import operator
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from ..building.placement import Placement
from ..graph.callers import all_nodes, callers_by_function
from ..graph.deadness import always_alive
from ..graph.foreign_ops import foreign, original_function
from ..graph.graph import Graph, GraphLike, Node, as_graph
from ..graph.metagraph import Signature, SignatureTensor, find_signature
from ..graph.traversal import nodes_of_kind
from ..graph.variable_nodes import VARIABLES
from ..inference.inference import Inference
from ..registry import registry
from ..registry.catalog import CATALOG
from ..registry.op_facts import has_fact
from ..support import dataclasses
from ..support.arguments import checked
from ..support.display import Report, Rows
from ..support.errors import InvalidArgumentError, TfgError
from ..support.gc_control import rare_collection
from ..support.grouping import grouped
from ..support.hints import Hint
from ..support.regular_files import open_regular, open_size
from ..support.versions import Versions
from ..support.words import counted, size_in_bytes
from ..types.dtypes import from_name
from ..types.shapes import Shape
from .footprint import Holding, PeakMemory, holdings, inferred, peak_memory
from .model_view import ModelView, model_view
from .node_listing import declared_shapes
from .pipeline_words import PipelineFacts, components, pipelines
from .purposes import Purpose, Purposes
from .roles import Roles
from .stages import stage_of_nodes

if TYPE_CHECKING:
    from .next_commands import NextCommands
    from .node_facts import NodeFacts

_MAX_CANDIDATES = 3
_MAX_COUNTED = 16 << 20
"""Bytes of a file up to which its lines are counted."""
_NO_OUTPUT = ("Const", "Placeholder", "NoOp", "Assert", "Print", *VARIABLES)
"""Ops that no model ends with, though nobody reads their results: what feeds it, and what only acts."""


@dataclasses.dataclass(frozen=True, slots=True)
class TensorFacts:
    """An input or output."""

    name: str
    """The name of the tensor or the node."""
    op: str
    """The op of the node."""
    dtype: str
    """The name of the dtype."""
    shape: Shape
    """The shape as far as known."""


@dataclasses.dataclass(frozen=True, slots=True)
class VariableFacts:
    """A variable: source of the first value, the variable that a slot serves, and its purpose."""

    name: str
    """The name of the variable."""
    kind: str
    """The op that holds the variable."""
    dtype: str
    """The name of the dtype."""
    shape: Shape
    """The shape as far as known."""
    initializer: str | None
    """The node that assigns the first value."""
    initial_value: str | None
    """The tensor with the first value."""
    slot_of: str | None
    """The variable that an optimizer's slot serves."""
    purpose: Purpose
    """`trainable`, `slots`, `other` or `unused`."""


@dataclasses.dataclass(frozen=True, slots=True)
class MissingOp:
    """An op type without a kernel; `known` is False if TensorFlow lacks it, `map_to` is a known op of the same meaning."""

    op: str
    """The op."""
    count: int
    """How many nodes have the op."""
    nodes: tuple[str, ...]
    """The first nodes."""
    known: bool
    """True for an op of TensorFlow."""
    reason: str
    """Why tfg has no kernel."""
    map_to: str | None
    """A known op with the same meaning, for --map-op."""


@dataclasses.dataclass(frozen=True, slots=True)
class OpCount:
    """The number of nodes of a type, bodies of functions included."""

    op: str
    """The op."""
    count: int
    """How many nodes have the op."""
    kernel: bool
    """True if tfg has a kernel."""


@dataclasses.dataclass(frozen=True, slots=True)
class FunctionFacts:
    """A function of the library and the nodes that call the function."""

    name: str
    """The name in the library."""
    nodes: int
    """How many nodes the body has."""
    callers: tuple[str, ...]
    """The nodes that call the function."""


@dataclasses.dataclass(frozen=True, slots=True)
class AssetFacts:
    """A file of a SavedModel, such as a vocabulary."""

    name: str
    """The name in the folder of assets."""
    bytes: int | None
    """The size; null if the file is missing."""
    lines: int | None
    """How many lines the file has, if it is text of at most 16 MiB."""

    def __str__(self) -> str:
        if self.bytes is None:
            return f"{self.name} (missing)"
        size = size_in_bytes(self.bytes) if self.lines is None else counted(self.lines, "line")
        return f"{self.name} ({size})"


@dataclasses.dataclass(frozen=True, slots=True)
class CallableFacts:
    """A function that Python calls on an object of a SavedModel, by path; `function` is the name in the library."""

    name: str
    """The path from the model to the function."""
    function: str
    """The name in the library."""
    inputs: tuple[TensorFacts, ...]
    """The arguments."""
    outputs: tuple[str, ...]
    """The results."""


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class GraphFacts(Report, main_table="variables"):
    """All that `tfg explain GRAPH` says."""

    nodes: int
    """How many nodes the graph has, without the bodies of functions."""
    edges: int
    """How many inputs are tensors."""
    control_edges: int
    """How many inputs are control inputs."""
    versions: Versions | None
    """The versions of GraphDef that the graph was written for."""
    tensorflow_version: str | None
    """The version of TensorFlow that wrote the model; null if the file does not say."""
    inputs: tuple[TensorFacts, ...]
    """The inputs of the signature, by its names, or of the function of a SavedModel that Python calls as the model; of another
    graph, the placeholders.
    """
    outputs: tuple[TensorFacts, ...]
    """The outputs of the signature or of that function, by their names; of another graph, the tensors that no node reads."""
    losses: tuple[str, ...]
    """The tensors that training seems to minimize."""
    variables: tuple[VariableFacts, ...]
    """The variables, and behind them the handles that nothing uses."""
    variables_unread: str | None
    """Why the values of the variables cannot be read, if a file of the model is missing or damaged."""
    init_ops: tuple[str, ...]
    """The operations that initialize variables."""
    train_ops: tuple[str, ...]
    """The operations that make a training step."""
    holdings: tuple[Holding, ...]
    """The sizes of variables and constants, by purpose."""
    peak_memory: PeakMemory | None
    """An estimate of the memory of a run."""
    signatures: tuple[Signature, ...]
    """The signatures of a SavedModel."""
    callables: tuple[CallableFacts, ...]
    """The functions that Python calls on objects of a SavedModel."""
    assets: tuple[AssetFacts, ...]
    """The files of a SavedModel, beside its graph and its variables."""
    functions: tuple[FunctionFacts, ...]
    """The functions of the library."""
    ops: tuple[OpCount, ...]
    """The number of nodes of each op."""
    missing: tuple[MissingOp, ...]
    """The ops without a kernel."""
    devices: dict[str, int]
    """The number of nodes by the device asked for."""
    conflicts: tuple[str, ...]
    """Colocated nodes on different devices, in words."""
    pipelines: tuple[PipelineFacts, ...]
    """The input pipelines."""
    next_commands: tuple[str, ...]
    """Steps that go on from here: command lines, in Python calls."""

    def headline(self) -> str:
        return f"{counted(self.nodes, 'node')}, {counted(len(self.inputs), 'input')}, {counted(len(self.outputs), 'output')}"

    @property
    def ends(self) -> GraphEnds:
        """The outputs, losses and training operations, as `graph_ends` finds them."""
        return GraphEnds(tuple(tensor.name for tensor in self.outputs), self.losses, self.train_ops)


@overload
def explain(
    graph: GraphLike, *, fetch: str | None = None, signature: str | None = None, raw: bool = False, path: str = "GRAPH",
    is_sound: bool = True, variables_unread: str | None = None,
) -> GraphFacts: ...  # fmt: skip
@overload
def explain(
    graph: Graph, node: str, /, *nodes: str, fetch: str | None = None, signature: str | None = None, raw: bool = False,
    path: str = "GRAPH", is_sound: bool = True, variables_unread: str | None = None,
) -> Rows[NodeFacts]: ...  # fmt: skip
@rare_collection()
@checked
def explain(
    graph: GraphLike,
    *nodes: str,
    fetch: str | None = None,
    signature: str | None = None,
    raw: bool = False,
    path: str = "GRAPH",
    is_sound: bool = True,
    variables_unread: str | None = None,
) -> GraphFacts | Rows[NodeFacts]:
    """Return GraphFacts of a graph, or a tuple of NodeFacts with the purpose of each node named, and why `fetch` runs the
    node. A node has the name of the file, in a function FUNCTION/NODE, or that which the author of the model gave it; a layer
    stands for its output.

    Inputs, outputs and memory are those of `signature`, by default of the usual one, in the view of `tfg.model_view`; with
    `raw` inputs and outputs are the placeholders and results that the file has, and nodes have no other names. `path` is the
    name of the graph's file in the commands that the facts propose. `is_sound` is False for a graph with problems, of which
    no shapes are inferred.
    `variables_unread` says why the values of the variables cannot be read: then no run is proposed.
    """
    graph = as_graph(graph)
    inference = inferred(graph) if is_sound else None
    if nodes:
        from .node_facts import Explainer

        explainer = Explainer(graph, inference, signature)
        return Rows(explainer.explain(name, fetch, raw=raw) for name in nodes)
    # A view dissolves calls, which a graph with faults may not allow.
    view = model_view(graph, signature, raw=not is_sound)
    specs = inference if view.graph is graph or inference is None else inferred(view.graph)
    facts = explain_graph(graph, path, inference, is_sound, variables_unread, view, specs)
    asked = None if signature is None else find_signature(graph.meta, signature)
    if raw or view.signature is None:
        facts = facts if asked is None else _with_arguments(facts, graph, asked, inference)
    else:
        facts = _with_arguments(facts, view.graph, view.signature, specs, by_name=True)
    if asked is None:
        return facts
    from .next_commands import NextCommands

    is_function = graph.meta is not None and graph.meta.chosen is not None
    # A run would stop at the first variable.
    commands = () if facts.variables_unread else (NextCommands(graph, path, inference).signature(asked, is_function),)
    # Who asks for a signature has chosen among the ways to call the model, so the others are left out.
    return dataclasses.replace(facts, signatures=(asked,), callables=(), next_commands=commands)


@rare_collection()
def explain_graph(
    graph: Graph,
    name: str | None = None,
    inference: Inference | None = None,
    is_sound: bool = True,
    variables_unread: str | None = None,
    view: ModelView | None = None,
    specs: Inference | None = None,
) -> GraphFacts:
    """Return the facts of the graph; `name` is the file's name in the commands to paste, which are left out without it.

    With an inference, outputs have the shapes that follow from the inputs', and values in commands have sizes that fit. The
    peak memory of a run is estimated in a `view` of the graph whose shapes are `specs`. If the graph is that of the view, the
    variables are still those of the whole model.
    """
    roles = Roles(graph)
    placed = stage_of_nodes(roles)
    # A view has what its signature needs: slots and initializers, which tell what variables are for, may be in the file alone.
    owners = roles if view is None or view.graph is not graph or view.source is graph else Roles(view.source)
    purposes = Purposes(owners)
    # Sorting is stable: the variables in use keep the order of the graph, and unused ones follow.
    variables = tuple(sorted(_variables(owners, purposes), key=lambda variable: variable.purpose == "unused"))
    inputs = tuple(facts for node in _input_nodes(graph, placed) for facts in _input_facts(node))
    outputs = _output_facts(graph, roles, placed, inference)
    train_ops = tuple(_train_ops(graph, placed))
    init_ops = tuple(node.name for node in roles.init_ops)
    signatures = tuple(graph.meta.signatures.values()) if graph.meta else ()
    counts = collections.Counter(map(operator.attrgetter("op"), all_nodes(graph)))
    facts = GraphFacts(
        nodes=len(graph),
        edges=sum([len(node.inputs) for node in graph]),
        control_edges=sum([len(node.control_inputs) for node in graph]),
        versions=graph.versions,
        tensorflow_version=(graph.meta.tensorflow_version or None) if graph.meta else None,
        inputs=inputs,
        outputs=outputs,
        losses=tuple(node.name for node in roles.losses),
        variables=variables,
        variables_unread=variables_unread,
        init_ops=init_ops,
        train_ops=train_ops,
        holdings=holdings(graph, owners, purposes),
        # A training step keeps the values of the forward pass for the gradients, so it takes the most.
        peak_memory=_peak(graph, train_ops or tuple(tensor.name for tensor in outputs), view, specs),
        signatures=signatures,
        callables=callables(graph),
        assets=assets(graph),
        functions=tuple(
            FunctionFacts(f, len(graph.functions[f].pattern.body), by) for f, by in callers_by_function(graph).items()
        ),
        ops=tuple(OpCount(op, count, _can_run(graph.functions, op)) for op, count in counts.most_common()),
        missing=missing_ops(graph),
        devices=dict(collections.Counter(node.device for node in graph if node.device)),
        conflicts=tuple(conflict for group in Placement(graph).groups() for conflict in group.conflicts),
        pipelines=pipelines(graph),
        next_commands=(),
    )
    if name is None:
        return facts
    from .next_commands import NextCommands  # lazy: who asks for outputs needs no commands

    # The commands follow from the other facts, such as missing ops and unread variables.
    commands = _next_commands(facts, NextCommands(graph, name, inference), is_sound)
    return dataclasses.replace(facts, next_commands=tuple(commands))


class GraphEnds(NamedTuple):
    """The names of the tensors and operations that a graph without signatures computes something for."""

    outputs: tuple[str, ...]
    losses: tuple[str, ...]
    train_ops: tuple[str, ...]


def graph_ends(graph: Graph) -> GraphEnds:
    """Return the outputs, losses and training operations that `explain_graph` finds, without the work of its other facts."""
    roles = Roles(graph)
    placed = stage_of_nodes(roles)
    outputs = tuple(tensor.name for tensor in _output_facts(graph, roles, placed, None))
    return GraphEnds(outputs, tuple(node.name for node in roles.losses), tuple(_train_ops(graph, placed)))


def implied_signature(graph: Graph, *, infers_shapes: bool = False) -> Signature:
    """Return the inputs and outputs that `explain` finds in a graph without signatures, by name: `x` stands for `x:0`.

    With `infers_shapes` the outputs have the shapes that follow from the inputs', otherwise those that their nodes declare.
    """
    roles = Roles(graph)
    placed = stage_of_nodes(roles)
    nodes = [node for node in _input_nodes(graph, placed) if node.is_placeholder or node.is_argument]
    outputs = _output_facts(graph, roles, placed, inferred(graph) if infers_shapes else None)
    return Signature("", _by_name(map(tensor_facts, nodes)), _by_name(outputs))


def used_variables(graph: Graph) -> dict[str, SignatureTensor]:
    """Return the variables by name, each with the tensor of its node, without handles that nothing uses."""
    roles = Roles(graph)
    purposes = Purposes(roles)
    used = (variable for variable in roles.variables.values() if purposes.of(variable) != "unused")
    return {one.name: SignatureTensor(one.node.output().name, one.dtype, one.shape) for one in used}


def _by_name(tensors: Iterable[TensorFacts]) -> dict[str, SignatureTensor]:
    # The output of an undeclared op has no dtype.
    dtypes = ((one, from_name(one.dtype) if one.dtype else None) for one in tensors)
    return {one.name.removesuffix(":0"): SignatureTensor(one.name, dtype, one.shape) for one, dtype in dtypes}


def _input_facts(node: Node) -> Iterator[TensorFacts]:
    """Yield the tensors that a node brings in: a placeholder's, an argument's, or the components of an iterator's elements."""
    if node.is_placeholder or node.is_argument:
        yield tensor_facts(node)
    elif has_fact(node.op, "next_element"):
        yield from (TensorFacts(part.name, node.op, part.dtype, part.shape) for part in components(node))


def callables(graph: Graph) -> tuple[CallableFacts, ...]:
    """Return the functions that Python calls on the objects of a SavedModel."""
    if graph.meta is None or not graph.meta.callables:
        return ()
    from .next_commands import free_inputs  # lazy: examples of feeds come with it

    facts = []
    for saved in graph.meta.callables:
        function = graph.functions.get(saved.function)
        if function is not None:
            inputs = (TensorFacts(one.node.name, one.node.op, one.dtype, one.shape) for one in free_inputs(function, saved))
            facts.append(CallableFacts(saved.name, saved.function, tuple(inputs), saved.results))
    return tuple(facts)


def assets(graph: Graph) -> tuple[AssetFacts, ...]:
    """Return the files of a SavedModel; a file that several tensors name is listed once."""
    paths = {asset.filename: asset.path for asset in graph.meta.assets} if graph.meta is not None else {}
    return tuple(AssetFacts(name, *_size_and_lines(path)) for name, path in paths.items() if path)


def _size_and_lines(path: str) -> tuple[int | None, int | None]:
    """Return the size of a file and how many lines its text has; None for a file or a text that is not there."""
    try:
        # A model names its files itself: a pipe or a device among them would never end.
        with open_regular(path) as file:
            size = open_size(file)
            return size, _lines(file.read()) if size <= _MAX_COUNTED else None
    except (OSError, InvalidArgumentError):
        return None, None


def _lines(data: bytes) -> int | None:
    """Return how many lines a text has; None for other data."""
    try:
        # Binary data may be valid UTF-8 by chance, but hardly without a zero.
        return None if "\0" in (text := data.decode()) else text.count("\n") + (text != "" and not text.endswith("\n"))
    except UnicodeDecodeError:
        return None


@checked
def missing_ops(graph: GraphLike) -> Rows[MissingOp]:
    """Return the op types of the graph that tfg cannot run, each with the reason and a substitute."""
    graph = as_graph(graph)
    return missing_among(all_nodes(graph), graph.functions)


def missing_among(nodes: Iterable[Node], functions: Container[str]) -> Rows[MissingOp]:
    """Return the op types of nodes that are no calls of `functions` and have no kernel, with reason and substitute."""
    users_by_op = grouped((node.op, node) for node in nodes_of_kind(nodes, lambda kind: not _can_run(functions, kind.op)))
    return Rows(_missing(op, users, functions) for op, users in users_by_op.items())


def _missing(op: str, nodes: Sequence[Node], functions: Container[str]) -> MissingOp:
    names = tuple(node.name for node in nodes[:5])
    if op in CATALOG:
        return MissingOp(op, len(nodes), names, True, "a TensorFlow op without a kernel in tfg", None)
    reason, map_to = foreign(op)
    original = original_function(nodes[0], functions)
    more = f"; function '{original}' holds the original nodes of '{names[0]}'" if original is not None else ""
    return MissingOp(op, len(nodes), names, False, reason + more, map_to)


def _can_run(functions: Container[str], op: str) -> bool:
    return registry.has_kernel(op) or op in functions


def _peak(graph: Graph, fetches: Sequence[str], view: ModelView | None, specs: Inference | None) -> PeakMemory | None:
    """Return the estimated peak of a run of a view's signature, or of `fetches` of the graph; None without inference, and for
    a graph that cannot run (`missing` gives the reason).
    """
    if view is None or specs is None:
        return None
    try:
        if view.signature is not None:
            tensors = view.signature.fetched
        else:
            # The fetches have the names of the file; a view of it may have dissolved the calls around their nodes.
            tensors = {name: name if view.graph is graph else view.value(name).name for name in fetches}
        peak = peak_memory(view.graph, tuple(tensors.values()), specs) if tensors else None
        # The estimate is told under the names that were asked for.
        return peak and dataclasses.replace(peak, fetches=tuple(tensors))
    except TfgError:
        return None


def _with_arguments(
    facts: GraphFacts, graph: Graph, signature: Signature, inference: Inference | None, *, by_name: bool = False
) -> GraphFacts:
    """Return the facts with the inputs and outputs of a signature, called as the signature calls them or as the graph."""
    inputs, outputs = (
        tuple(
            dataclasses.replace(tensor_facts(value.node, value.index, inference), name=name if by_name else value.name)
            for name, value in ((name, graph.output(tensor)) for name, tensor in tensors.items())
        )
        for tensors in (signature.fed, signature.fetched)
    )
    return dataclasses.replace(facts, inputs=inputs, outputs=outputs)


def _results(node: Node, inference: Inference | None) -> Iterator[TensorFacts]:
    """Yield all outputs of a node without users; only the first of a loss and of an undeclared op."""
    # A loss has readers; the outputs that nobody reads are results only of nodes without any.
    count = 1 if node.uses else len(node.output_dtypes)
    yield from (tensor_facts(node, index, inference) for index in range(max(count, 1)))


def tensor_facts(node: Node, index: int = 0, inference: Inference | None = None) -> TensorFacts:
    """Return the dtype and shape of an output, without an inference as far as the node alone declares them."""
    dtypes = node.output_dtypes
    shape = declared_shapes(node, len(dtypes))[index] if dtypes else Shape()
    if dtypes and inference is not None:
        shape = inference.shape(node.output(index))
    return TensorFacts(node.output(index).name, node.op, str(dtypes[index]) if dtypes else "", shape)


def _input_nodes(graph: Graph, placed: dict[Node, tuple[str, str]]) -> Iterator[Node]:
    # A saver's placeholder for the name of a file is no input of the model.
    inputs = nodes_of_kind(graph, lambda kind: kind.is_placeholder or kind.is_argument or has_fact(kind.op, "next_element"))
    return (node for node in inputs if placed[node][0] != "save/restore")


def _output_facts(
    graph: Graph, roles: Roles, placed: dict[Node, tuple[str, str]], inference: Inference | None
) -> tuple[TensorFacts, ...]:
    nodes = _outputs(graph, roles, placed)
    return function_results(graph, inference) or tuple(facts for node in nodes for facts in _results(node, inference))


def _outputs(graph: Graph, roles: Roles, placed: dict[Node, tuple[str, str]]) -> Iterator[Node]:
    """Yield the losses, and nodes of the model without users; dead ends of conditionals only if there is nothing else."""
    # Losses are no ends: the gradients read them.
    losses = dict.fromkeys(roles.losses)
    yield from losses
    ends = [
        node for node in graph
        if not node.uses and node.op not in _NO_OUTPUT and (node.output_dtypes or node.op_def is None)
        and placed[node][0] in ("model", "loss") and node not in losses
    ]  # fmt: skip
    # A dead end of a conditional often has no value, so that a fetch of it would fail.
    alive = always_alive(graph, ends)
    yield from alive or ([] if losses else ends)


def function_results(graph: Graph, inference: Inference | None = None) -> tuple[TensorFacts, ...]:
    """Return the results of a function's body that was stored as a graph, as event files and RunMetadata hold them."""
    # _Retval nodes stand in any order; their attribute numbers them.
    results = sorted(nodes_of_kind(graph, lambda kind: kind.is_result), key=lambda node: node.attr("index", 0))
    values = dict.fromkeys(value for node in results for value in node.inputs)
    return tuple(tensor_facts(value.node, value.index, inference) for value in values)


def output_candidates(graph: Graph) -> tuple[str, ...]:
    """Return a few tensors to fetch from a graph without an obvious output: results without readers, else the last result."""
    names = [node.output().name for node in graph if node.output_dtypes and node.op not in _NO_OUTPUT and not node.uses]
    last = [node.output().name for node in graph if node.output_dtypes][-1:]
    return tuple((names or last)[-_MAX_CANDIDATES:])


def _train_ops(graph: Graph, placed: dict[Node, tuple[str, str]]) -> Iterator[str]:
    """Return updates that only other stages wait for: fetching them trains."""
    for node in graph:
        if placed[node][0] == "updates" and not node.uses:
            yield node.name


def _variables(roles: Roles, purposes: Purposes) -> Iterator[VariableFacts]:
    for variable in roles.variables.values():
        slot = roles.slots.get(variable.node)
        yield VariableFacts(
            variable.name,
            "resource" if variable.is_resource else "reference",
            str(variable.dtype),
            variable.shape,
            variable.initializer.name if variable.initializer else None,
            variable.initial_value.name if variable.initial_value else None,
            slot.title if slot else None,
            purposes.of(variable),
        )


def _next_commands(facts: GraphFacts, next_: NextCommands, is_sound: bool) -> Iterator[Hint]:
    """Yield the steps that run the graph, or say why it cannot run, and that show more of it."""
    fetches = [tensor.name for tensor in facts.outputs[:1]]
    if facts.missing:
        # Nothing else would work before the missing ops are there.
        yield next_.look("missing")
    elif not is_sound:
        yield next_.look("check")
    elif facts.variables_unread is None:
        yield from _run_commands(facts, next_, fetches)
    else:
        yield from map(next_.look, ("layers", "draw", "check"))
    if facts.signatures and facts.variables_unread is None:
        yield next_.look("layers")
    yield next_.look("stages" if facts.variables else "nodes")
    used = [variable.name for variable in facts.variables if variable.purpose != "unused"]
    # A variable has the most to tell; a graph without variables has its output.
    for name in [*used, *(fetch.removesuffix(":0") for fetch in fetches)][:1]:
        yield next_.explain(name)


def _run_commands(facts: GraphFacts, next_: NextCommands, fetches: Sequence[str]) -> Iterator[Hint]:
    yield from map(next_.signature, facts.signatures)
    if not facts.signatures:
        yield from next_.calls()
    if fetches and not facts.signatures and not facts.callables:
        yield next_.run(fetches)
    if facts.train_ops:
        yield next_.train(facts.train_ops[-1], fetches)


def written_by(tensorflow: str | None, keras: str = "") -> str:
    """Return the programs that wrote a file, with the versions that are known."""
    return ", ".join(f"{name} {version}" for name, version in (("TensorFlow", tensorflow), ("Keras", keras)) if version)


def facts_without_detail(facts: GraphFacts) -> dict[str, Any]:
    """Return the facts that fit on a line each, without the empty facts."""
    lines = {
        "nodes": facts.nodes,
        "edges": facts.edges,
        "control edges": facts.control_edges,
        "op types": len(facts.ops),
        "functions": len(facts.functions),
        "variables": sum(variable.purpose != "unused" for variable in facts.variables),
        "values of variables": f"cannot be read: {facts.variables_unread}" if facts.variables_unread else "",
        "written by": written_by(facts.tensorflow_version),
        "GraphDef version of the producer": "" if facts.versions is None else str(facts.versions),
        "assets": ", ".join(map(str, facts.assets)),
        "losses": ", ".join(facts.losses),
        "initializer": ", ".join(facts.init_ops),
        "train op": ", ".join(facts.train_ops),
        "devices": ", ".join(f"{device} ({count})" for device, count in facts.devices.items()),
    }
    return {name: value for name, value in lines.items() if value not in ("", None)}
