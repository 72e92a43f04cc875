"""What a graph is for: inputs, outputs, variables, initializers, signatures, what tfg cannot run of it, what to do next."""

from __future__ import annotations

import collections
import dataclasses
import shlex
from collections.abc import Container, Iterable, Iterator
from typing import Any

from .. import registry
from ..arguments import takes
from ..building.placement import Placement
from ..catalog import CATALOG
from ..dtypes import string
from ..functions.callers import all_nodes, callers_by_function
from ..graph import Graph, Node
from ..metagraph import Signature
from ..op_libraries.opmap import foreign
from ..shapes import Shape
from ..variable_nodes import VARIABLES
from ..versions import Versions
from .listing import declared_shapes
from .nodes import Explainer
from .roles import Roles
from .stages import stage_of_nodes

_NO_OUTPUT = ("Const", "Placeholder", "NoOp", "Assert", "Print", *VARIABLES)
# Built into the executor or without need of a kernel of their own.
_STRUCTURAL = ("_Arg", "_Retval", "NoOp", "Const", "Placeholder")


@dataclasses.dataclass(frozen=True, slots=True)
class TensorFacts:
    """An input or output."""

    name: str
    op: str
    dtype: str
    shape: Shape


@dataclasses.dataclass(frozen=True, slots=True)
class VariableFacts:
    """A variable: where its first value comes from, and whose slot it is."""

    name: str
    kind: str
    dtype: str
    shape: Shape
    initializer: str | None
    initial_value: str | None
    slot_of: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class MissingOp:
    """An op type without a kernel; not `known` where TensorFlow has no such op. `map_to` is what it can be read as."""

    op: str
    count: int
    nodes: tuple[str, ...]
    known: bool
    reason: str
    map_to: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class OpCount:
    """How many nodes, those in functions included, are of one type."""

    op: str
    count: int
    kernel: bool


@dataclasses.dataclass(frozen=True, slots=True)
class FunctionFacts:
    """A function of the library and the nodes that call it."""

    name: str
    nodes: int
    callers: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class GraphFacts:
    """All that `tfg explain GRAPH` says."""

    nodes: int
    edges: int
    control_edges: int
    versions: Versions | None
    inputs: tuple[TensorFacts, ...]
    outputs: tuple[TensorFacts, ...]
    losses: tuple[str, ...]
    variables: tuple[VariableFacts, ...]
    init_ops: tuple[str, ...]
    train_ops: tuple[str, ...]
    signatures: tuple[Signature, ...]
    functions: tuple[FunctionFacts, ...]
    ops: tuple[OpCount, ...]
    missing: tuple[MissingOp, ...]
    devices: dict[str, int]
    conflicts: tuple[str, ...]
    next_commands: tuple[str, ...]


@takes(graph=Graph)
def explain(graph: Graph, *nodes: str, fetch: str | None = None) -> Any:
    """GraphFacts of a graph, or a tuple of NodeFacts: what each of the nodes named is for, and why `fetch` runs it."""
    if not nodes:
        return explain_graph(graph)
    explainer = Explainer(graph)
    return tuple(explainer.explain(name, fetch) for name in nodes)


def explain_graph(graph: Graph, name: str = "GRAPH") -> GraphFacts:
    """What the graph is; `name` is how the commands to paste call it."""
    roles = Roles(graph)
    placed = stage_of_nodes(roles)
    inputs = tuple(_tensor(node) for node in graph if node.is_placeholder and placed[node][0] != "save/restore")
    outputs = tuple(_tensor(node) for node in _outputs(graph, roles, placed))
    train_ops = tuple(_train_ops(graph, placed))
    init_ops = tuple(node.name for node in roles.init_ops)
    signatures = tuple(graph.meta.signatures.values()) if graph.meta else ()
    return GraphFacts(
        nodes=len(graph),
        edges=sum(len(node.inputs) for node in graph),
        control_edges=sum(len(node.control_inputs) for node in graph),
        versions=graph.versions,
        inputs=inputs,
        outputs=outputs,
        losses=tuple(node.name for node in roles.losses),
        variables=tuple(_variables(roles)),
        init_ops=init_ops,
        train_ops=train_ops,
        signatures=signatures,
        functions=tuple(FunctionFacts(f, len(graph.functions[f].body), by) for f, by in callers_by_function(graph).items()),
        ops=op_counts(graph),
        missing=missing_ops(graph),
        devices=dict(collections.Counter(node.device for node in graph if node.device)),
        conflicts=tuple(conflict for group in Placement(graph).groups() for conflict in group.conflicts),
        next_commands=tuple(_next_commands(name, inputs, outputs, init_ops, train_ops, signatures, roles)),
    )


def op_counts(graph: Graph) -> tuple[OpCount, ...]:
    """The op histogram, most frequent first."""
    counts = collections.Counter(node.op for node in all_nodes(graph))
    return tuple(OpCount(op, count, _can_run(graph.functions, op)) for op, count in counts.most_common())


def missing_ops(graph: Graph) -> tuple[MissingOp, ...]:
    """Op types of the graph that tfg cannot run, with what is known of them."""
    return missing_among(all_nodes(graph), graph.functions)


def missing_among(nodes: Iterable[Node], functions: Container[str]) -> tuple[MissingOp, ...]:
    """The op types of nodes that are neither functions nor have a kernel, with what is known of them."""
    found: dict[str, list[str]] = {}
    for node in nodes:
        if not _can_run(functions, node.op):
            found.setdefault(node.op, []).append(node.name)
    return tuple(_missing(op, names) for op, names in found.items())


def _missing(op: str, names: list[str]) -> MissingOp:
    if op in CATALOG:
        return MissingOp(op, len(names), tuple(names[:5]), True, "an op of TensorFlow that tfg has no kernel for", None)
    reason, map_to = foreign(op)
    return MissingOp(op, len(names), tuple(names[:5]), False, reason, map_to)


def _can_run(functions: Container[str], op: str) -> bool:
    return registry.has_kernel(op) or op in _STRUCTURAL or op in functions


def _tensor(node: Node, index: int = 0) -> TensorFacts:
    dtypes = node.output_dtypes
    shape = declared_shapes(node, len(dtypes))[index] if dtypes else Shape()
    return TensorFacts(node.output(index).name, node.op, str(dtypes[index]) if dtypes else "", shape)


def _outputs(graph: Graph, roles: Roles, placed: dict[Node, tuple[str, str]]) -> Iterator[Node]:
    """The losses, and nodes of the model whose values nobody takes."""
    yield from roles.losses
    for node in graph:
        ends = not node.uses and node.op not in _NO_OUTPUT and (node.output_dtypes or node.op_def is None)
        if ends and placed[node][0] in ("model", "loss") and node not in roles.losses:
            yield node


def _train_ops(graph: Graph, placed: dict[Node, tuple[str, str]]) -> Iterator[str]:
    """Updates that nothing but other stages waits for: fetching them trains."""
    for node in graph:
        if placed[node][0] == "updates" and not node.uses:
            yield node.name


def _variables(roles: Roles) -> Iterator[VariableFacts]:
    for variable in roles.variables.values():
        slot = roles.slots.get(variable.node)
        trained = f" of {slot.variable.name}" if slot and slot.variable else ""
        yield VariableFacts(
            variable.name,
            "resource" if variable.is_resource else "reference",
            str(variable.dtype),
            variable.shape,
            variable.initializer.name if variable.initializer else None,
            variable.initial_value.name if variable.initial_value else None,
            f"{slot.optimizer} {slot.name}{trained}" if slot else None,
        )


def _next_commands(
    name: str, inputs: Iterable[TensorFacts], outputs: tuple[TensorFacts, ...], init_ops: tuple[str, ...],
    train_ops: tuple[str, ...], signatures: tuple[Signature, ...], roles: Roles,
) -> Iterator[str]:  # fmt: skip
    graph = shlex.quote(name)
    needed = [tensor for tensor in inputs if tensor.op != "PlaceholderWithDefault"]
    feeds = "".join(f" --feed {shlex.quote(tensor.name.removesuffix(':0') + '=' + example(tensor))}" for tensor in needed)
    init = " --init" if roles.variables and init_ops else ""
    if signatures:
        yield f"tfg run {graph} --signature {shlex.quote(signatures[0].name)}" + "".join(
            f" --feed {shlex.quote(key + '=' + example(TensorFacts(key, '', str(info.dtype), info.shape)))}"
            for key, info in signatures[0].inputs.items()
        )
    if outputs:
        yield f"tfg run {graph}{init} --fetch {shlex.quote(outputs[0].name)}{feeds}"
    if train_ops:
        fetch = f" --fetch {shlex.quote(outputs[0].name)}" if outputs else ""
        yield f"tfg run {graph}{init} --target {shlex.quote(train_ops[-1])}{fetch} --steps 10{feeds}"
    yield f"tfg dump {graph} --stages" if roles.variables else f"tfg dump {graph}"
    example_node = next(iter(roles.variables), None) or (outputs[0].name.removesuffix(":0") if outputs else None)
    if example_node:
        yield f"tfg explain {graph} {shlex.quote(example_node)}"


def example(tensor: TensorFacts) -> str:
    """A value of the grammar of --feed that fits a tensor; unknown sizes are 1."""
    sizes = [dim if isinstance(dim, int) else 1 for dim in tensor.shape.dims or ()]
    listed = ",".join(map(str, sizes))
    if tensor.dtype == string.name:
        return '"text"' if not sizes else "[" * len(sizes) + '"text"' + "]" * len(sizes)
    if tensor.dtype.startswith(("int", "uint")):
        return f"randint({listed})" if sizes else "randint(high=10)"
    if tensor.dtype == "bool":
        return f"ones({listed})" if sizes else "true"
    return f"uniform({listed})" if sizes else "1.0"


def facts_without_detail(facts: GraphFacts) -> dict[str, Any]:
    """The numbers that one line each can say."""
    return {
        "nodes": facts.nodes,
        "edges": facts.edges,
        "control edges": facts.control_edges,
        "op types": len(facts.ops),
        "functions": len(facts.functions),
        "variables": len(facts.variables),
        "made by GraphDef version": "" if facts.versions is None else str(facts.versions),
        "losses": ", ".join(facts.losses),
        "initializer": ", ".join(facts.init_ops),
        "train op": ", ".join(facts.train_ops),
        "devices": ", ".join(f"{device} ({count})" for device, count in facts.devices.items()),
    }
