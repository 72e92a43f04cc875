"""Counting FLOPs from shapes: every node that a fetch runs, through functions, branches and loops."""

from __future__ import annotations

import collections
import itertools
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ..explaining.author_scopes import passes_weight_on, without_calls
from ..graph.call_kinds import BY_NAME, CALL_KINDS, PARTLY_READ, Form, call_kind, call_site, check_calls, function_targets
from ..graph.call_signatures import Signatures, signature_of
from ..graph.callers import function_references, repeated_nodes
from ..graph.deadness import Deadness, is_choice
from ..graph.frames import ENTER, EXIT, MERGE, NEXT_ITERATION, SWITCH, Frame, find_frames, frame_of_outputs
from ..graph.graph import Function, Graph, GraphLike, Node, Output, as_graph
from ..graph.instantiation import FunctionChoice, with_attrs
from ..graph.traversal import descendants, nodes_of_kind
from ..graph.variable_nodes import VARIABLES, is_frozen_weight
from ..inference.estimates import Estimate, estimate, estimated_loop, likely_cost
from ..inference.inference import Answers, ShapeCache, SpecRecord, Specs, unchanged
from ..inference.input_pipelines import asked_datasets, going_through_elements, maker_of, stages_of
from ..inference.node_calls import call_flops_function
from ..planning.reachability import needed_nodes, unused_outputs
from ..registry import registry
from ..registry.op_facts import has_fact, ops_with
from ..registry.registry import ZERO, Cost
from ..support import dataclasses
from ..support.arguments import checked
from ..support.errors import InvalidArgumentError, TfgError
from ..support.gc_control import rare_collection
from ..support.grouping import grouped
from ..support.hints import Blank, Hint, step
from ..support.keyed_cache import KeyedCache
from ..support.log import Stopwatch
from ..types.dims import Dim, DimLike
from ..types.dtypes import DType, bool_
from ..types.shapes import UNKNOWN, Shape, TensorSpec, substituted
from ..types.tensors import FuncRef
from .flops_report import FlopsReport, NodeCost, PipelineCost, add_up, magnitude, merged, total
from .frame_loops import FrameLoops
from .input_shapes import Shapes, Symbols, fed_values, require_consistent_shapes, symbolic_placeholders
from .loop_counts import Known, LoopCount, LoopCounts
from .sections import classify, classify_body
from .trip_counts import for_trips

_MOST_COSTS: Final = 100_000
"""The kinds of alike nodes whose costs are kept."""
_MAX_LISTED: Final = 5_000
"""The largest number of nodes, over all repeated calls of functions, that a count lists call by call."""


class _Costed(NamedTuple):
    """The cost and the bytes moved of alike nodes, with all that the key of the result identifies, to keep it alive."""

    attrs: Mapping[str, Any]
    inputs: Sequence[TensorSpec]
    outputs: Sequence[TensorSpec]
    cost: Cost
    moved: DimLike
    reason: str


class CountCache(ShapeCache):
    """The shapes and costs kept from a count to the next while a graph is changed.

    Nodes are alike if they have the same op, attributes, and specs of inputs and outputs. Equal specs are a single object,
    so that keys hold identities.
    """

    def __init__(self) -> None:
        super().__init__()
        self.costs: KeyedCache[Hashable, _Costed] = KeyedCache(_MOST_COSTS)


@rare_collection()
@checked
def count_flops(
    graph: GraphLike,
    fetches: Sequence[str],
    feeds: Iterable[str] = (),
    *,
    shapes: Shapes | None = None,
    values: Mapping[str, np.ndarray[Any, Any]] | None = None,
    trips: Mapping[str, int] | None = None,
    derived: CountCache | None = None,
) -> FlopsReport:
    """Count the FLOPs of all nodes that run for `fetches`.

    Unknown dimensions become symbols: the first of each placeholder is N, the others have the placeholder's name, and a
    dimension that only a run decides has the name of the node. `shapes` gives the shapes of placeholders and other tensors,
    `values` the feeds that decide shapes (axes, window sizes, predicates), `trips` the iterations of loops by frame or node
    name; `derived` keeps shapes and costs from a count to the next while the graph is changed.
    """
    graph = as_graph(graph)
    watch = Stopwatch()
    graph.check_changes()
    check_calls(graph)
    symbols = Symbols()
    counter = _CountState(graph, trips or {}, symbols, derived or CountCache())
    placeholder_specs = symbolic_placeholders(graph, shapes or {}, symbols)
    # A given shape of a tensor inside the graph replaces the inferred shape, and must not contradict it.
    others = {name: shape for name, shape in (shapes or {}).items() if not graph.output(name).node.is_placeholder}
    if others:
        free = {value: spec for value, spec in placeholder_specs.items() if value.node.is_placeholder}
        require_consistent_shapes(graph, others, estimate(graph, free))
    placeholder_specs |= fed_values(graph, placeholder_specs, values or {})
    targets = [graph.fetch(name) for name in fetches]
    fed = [graph.output(name) for name in feeds]
    needed = needed_nodes(targets, fed)
    nodes = counter.count(targets, needed, placeholder_specs)
    # Which loops there are is only known once all bodies were counted.
    counter.loops.require_used()
    watch.tell("counted %d nodes", len(nodes))
    pipeline = tuple(per_element(graph, needed, count_flops))
    return FlopsReport(tuple(fetches), tuple(nodes), _used(symbols, nodes), tuple(counter.notes), pipeline)


def _used(symbols: Symbols, nodes: Iterable[NodeCost]) -> dict[str, str]:
    """Return the meanings of the placeholders' symbols, and of all other symbols in the costs of nodes."""
    # Names of sizes that only a run decides have brackets: placeholders are listed whether or not a cost contains them.
    if not any("[" in name for name in symbols.texts):
        return symbols.texts
    values = [value for node in nodes for value in (node.cost.flops, node.cost.transcendentals, node.bytes, node.times)]
    used = {name for value in values if isinstance(value, Dim) for name in value.symbols}
    return {name: text for name, text in symbols.texts.items() if name in used or "[" not in name}


@dataclasses.dataclass(frozen=True, slots=True)
class _CountedCall:
    """A call: the node and the function, from the library or made for the node."""

    reference: FuncRef
    function: Function
    specs: Sequence[TensorSpec]
    scope: CountScope
    node: Node
    section: str
    is_repeated: bool

    @property
    def unused(self) -> tuple[int, ...]:
        """Return the results that nobody reads."""
        return unused_outputs(self.node, self.scope.needed, self.scope.targets) if self.node.op in PARTLY_READ else ()


class _Inside(NamedTuple):
    """What the calls of equal functions have in common if the specs of their arguments are the same objects."""

    specs: Sequence[TensorSpec]
    """The specs of the arguments, kept alive as the key has their identities."""
    targets: Sequence[Output | Node]
    needed: set[Node]
    sections: Mapping[Node, str]
    inference: Estimate


class _Role(NamedTuple):
    """The role of an op, the same for all its nodes."""

    calls: bool
    """True if the op calls functions."""
    reads_weights: bool
    """True unless the op holds a value, or hands parameters on."""
    computes: bool
    """True unless the op holds a value, or hands on or measures what it gets."""


class _Library(collections.ChainMap[str, Function]):
    """Functions behind others; whether a function exists is asked for every node."""

    def __contains__(self, name: object) -> bool:
        made, library = self.maps
        return name in made or name in library


class _CountState:
    """The state of a count: symbols handed out, notes taken, parameters already attributed."""

    def __init__(self, graph: Graph, trips: Mapping[str, int], symbols: Symbols, derived: CountCache) -> None:
        self.graph = graph
        self.functions: MutableMapping[str, Function] = _Library({}, graph.functions)
        """The functions of the graph, behind the functions that the gradients of functions call."""
        self._choice = FunctionChoice(self.functions)
        self.notes: list[str] = []
        self._symbols = symbols
        self.loops = LoopCounts(self.functions, trips, symbols)
        self._noted: set[str] = set()
        self._seen_parameters: set[tuple[str, Node]] = set()
        # Functions that each call the next one twice have 2^depth bodies, which no list could hold.
        self._is_by_function = repeated_nodes(graph) > _MAX_LISTED
        self._answers = Answers(derived=derived)
        self._costs = derived.costs
        self._roles: dict[str, _Role] = {}
        self._bodies: dict[Hashable, list[NodeCost]] = {}
        self._insides: dict[Hashable, _Inside] = {}
        self._signatures = Signatures()
        if self._is_by_function:
            self.notes.append("too many calls to list: each node of a function stands for all calls of the function")

    def count(self, targets: Sequence[Output | Node], needed: set[Node], known: Known) -> list[NodeCost]:
        """Return the cost of the nodes that run for the targets; initializers that run with them are told apart."""
        return self._all(self._scope(self.graph, known, targets, needed), classify(self.graph, needed, targets), "forward")

    def _scope(
        self,
        graph: Graph,
        known: Known,
        targets: Sequence[Output | Node],
        needed: set[Node],
        results: Mapping[Output, TensorSpec] | None = None,
        inference: Estimate | None = None,
        **reached: Any,
    ) -> CountScope:
        """Return the scope of a graph or a body; `results` are the body's outputs with the caller's specs."""
        if inference is None:
            inference = self._estimated(graph, known)
        kinds = {node.op: node for node in graph}
        self._roles |= {op: self._role(node) for op, node in kinds.items() if op not in self._roles}
        frames = find_frames(graph) if "Enter" in kinds and any(node.op == "Enter" for node in needed) else {}
        scope = CountScope(graph, inference, frames, {}, needed, targets, **reached)
        scope.fed = fed_nodes(scope)
        if frames:
            v1 = FrameLoops(self.loops, self.functions, graph, inference, known, frames)
            v1.look()
            scope.inference, scope.loops = v1.inference, v1.loops
        # A body that runs repeatedly may have other sizes each time: a name would stand for several numbers.
        if not scope.is_repeated:
            names = shared_names((scope.inference.specs[value], spec) for value, spec in (results or {}).items())
            scope.inference = named(scope.inference, frames, scope.prefix, self._symbols, names, self._answers.derived)
        return scope

    def _estimated(self, graph: Graph, known: Known) -> Estimate:
        return estimate(graph, known, self.functions, self.loops.rule, self._answers)

    def _all(self, scope: CountScope, sections: Mapping[Node, str], usual: str) -> list[NodeCost]:
        """Return the costs of all nodes that run, without nodes on branches of V1 conditionals that do not count.

        `usual` is the section of the nodes that `sections` lacks.
        """
        nodes = [node for node in scope.graph if node in scope.needed]
        by_node: Iterable[Sequence[NodeCost]] = self._each(nodes, scope, sections, usual)
        if any(map(is_choice, nodes_of_kind(nodes, lambda kind: kind.op in SWITCH))):
            costs = dict(zip(nodes, by_node))
            dropped, choices = not_taken(costs, scope.inference)
            self.notes += [str(choice) for choice in choices]
            by_node = (node_costs for node, node_costs in costs.items() if node not in dropped)
        left = list(itertools.chain.from_iterable(by_node))
        return merged(left) if self._is_by_function else left

    def _each(
        self, nodes: Sequence[Node], scope: CountScope, sections: Mapping[Node, str], usual: str
    ) -> Iterator[Sequence[NodeCost]]:
        """Yield the cost of each node, or of the called bodies, in all iterations of the V1 loops around the node."""
        for node, record in zip(nodes, scope.inference.records_of(scope.graph, nodes)):
            role, section = self._roles[node.op], sections.get(node, usual)
            costs = self._called(node, scope, section) if role.calls else [self._node(node, role, scope, section, record)]
            yield self._in_loops(node, costs, scope) if scope.frames else costs

    def _in_loops(self, node: Node, costs: Sequence[NodeCost], scope: CountScope) -> Sequence[NodeCost]:
        """Return the costs of an iteration in all iterations of the V1 loops around the node."""
        for loop in scope.loops_around(node):
            self._note(loop)
            # The condition is computed once more than the body: the last time it is false.
            costs = loop.repeated(costs, 1 if node in loop.condition else 0)
        return costs

    def _note(self, loop: LoopCount) -> None:
        if loop.name not in self._noted:
            self._noted.add(loop.name)
            self.notes += self.loops.note(loop)

    def _node(self, node: Node, role: _Role, scope: CountScope, section: str, record: SpecRecord | None) -> NodeCost:
        """Return the cost of a node by itself, with the weights that the node reads, and if counted with their parameters."""
        costed = None if record is None else record.cost
        if costed is None:
            costed = self._cost(node, scope)
            if record is not None and not costed.reason:
                record.cost = costed
        outputs, cost, moved, reason = costed.outputs, costed.cost, costed.moved, costed.reason
        path = scope.prefix + node.name
        weights, parameters = self._weights(node, scope, not reason) if role.reads_weights else ((), 0)
        if reason:
            return NodeCost(path, node.op, section, cost, moved, parameters, 1, reason, weights=weights)
        # By position: a large graph makes millions of them.
        shape, outside = outputs[0].shape if outputs else None, scope.outside_of(node) if scope.around else scope.outside
        return NodeCost(
            path, node.op, section, cost, moved, parameters, 1, "", cost is ZERO, weights, shape, role.computes, outside,
            node in scope.fed, bool(outputs) and outputs[0].dtype is bool_,
        )  # fmt: skip

    def _cost(self, node: Node, scope: CountScope) -> _Costed:
        """Return the cost and the bytes moved, or no cost and the reason why the node cannot be counted."""
        specs = scope.inference.specs
        inputs = [specs[value] for value in node.inputs]
        outputs = [specs[value] for value in node.outputs()]
        key = (node.op, id(node.attrs), *map(id, inputs), *map(id, outputs))
        known = self._costs.get(key)
        if known is not None and node.name not in scope.inference.reasons:
            return known
        known = _Costed(node.attrs, inputs, outputs, *self._new_cost(node, scope, inputs, outputs))
        if not known.reason:
            self._costs[key] = known
        return known

    def _new_cost(
        self, node: Node, scope: CountScope, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]
    ) -> tuple[Cost, DimLike, str]:
        refusal = scope.inference.reasons.get(node.name)
        function = registry.flops_function(node.op)
        if function is None:
            return ZERO, 0, "its op is unknown" if node.op_def is None else f"op {node.op} has no FLOPs formula"
        if refusal is not None and registry.shape_function(node.op) and all(spec.rank is None for spec in outputs):
            return ZERO, 0, refusal
        try:
            cost = likely_cost(call_flops_function(node, function, inputs, outputs))
        except TfgError as error:
            is_known = all(spec.rank is not None for spec in (*inputs, *outputs))
            return ZERO, 0, error.message if is_known else shape_reason(node, scope)
        # A size without a name is one that the user cannot set: no formula for anyone to read.
        if any(isinstance(v, Dim) and v.is_anonymous for v in (cost.flops, cost.macs, cost.transcendentals)):
            return ZERO, 0, shape_reason(node, scope)
        moved = moved_bytes(node, inputs, outputs)
        return ZERO if cost == ZERO else cost, moved, ""

    def _weights(self, node: Node, scope: CountScope, is_counted: bool) -> tuple[tuple[str, ...], DimLike]:
        """Return the paths of the variables, and of the weights frozen to constants, that a node reads, and the elements of
        those that no counted node has read before.

        Behind a node that itself reads weights, as one that computes, is none.
        """
        paths: list[str] = []
        parameters: DimLike = 0
        for value in node.inputs:
            if self._roles[value.node.op].reads_weights:
                continue
            source, home = scope.origins.get(value) or origin(value, scope)
            if source is None:
                continue
            paths.append(home.prefix + source.node.name)
            # Equal functions share their nodes, but each has parameters of its own.
            if is_counted and (home.function, source.node) not in self._seen_parameters:
                self._seen_parameters.add((home.function, source.node))
                spec = home.inference.specs[source]
                held = spec.handle[0] if spec.handle else spec
                parameters = parameters + held.shape.num_elements
        return tuple(paths), parameters

    def _role(self, node: Node) -> _Role:
        """Return the role of a node's op."""
        reads_weights = not (_is_source(node) or passes_parameters_on(node))
        computes = reads_weights and not any(has_fact(node.op, fact) for fact in _PASSES_ON)
        return _Role(call_kind(self.functions, node) is not None, reads_weights, computes)

    def _called(self, node: Node, scope: CountScope, section: str) -> list[NodeCost]:
        """Return the costs in the functions that a node calls."""
        kind = CALL_KINDS.get(node.op, BY_NAME)
        specs = [scope.inference.specs[value] for value in node.inputs]
        if kind.form is Form.BRANCH:
            return self._branches(dict(zip(kind.labels(node), kind.references(node))), specs, scope, node, section)
        if kind.form is Form.LOOP:
            count = self._for if kind.counters else self._while
            return count(node, specs, scope, section)
        if kind.form is Form.MAP:
            return self._map(node, specs, scope, section)
        function = self._gradient(node) if kind.form is Form.GRADIENT else None
        return self._body(kind.references(node)[0], kind.arguments(specs), scope, node, section, function=function)

    def _map(self, node: Node, specs: Sequence[TensorSpec], scope: CountScope, section: str) -> list[NodeCost]:
        """Return the costs in a MapDefun's function: each argument is an element, captured values are whole."""
        mapped = len(node.attr("Targuments"))
        elements = [dataclasses.replace(s, shape=s.shape[1:], value=None) for s in specs[:mapped]]
        costs = self._body(node.attr("f"), [*elements, *specs[mapped:]], scope, node, section, is_repeated=True)
        return self.loops.even(node.name, specs[0].shape[0]).repeated(costs)

    def _while(self, node: Node, specs: Sequence[TensorSpec], scope: CountScope, section: str) -> list[NodeCost]:
        """Return the costs in a loop's condition and body, each iteration at the sizes that the variables have by then."""
        self._function(node.attr("body"), node)
        loop = self.loops.of_while(node, specs)
        self._note(loop)
        # The condition runs once more than the body: the last time it is false.
        tests = self._body(node.attr("cond"), loop.growth.specs, scope, node, section, is_repeated=True)
        costs = self._body(node.attr("body"), loop.growth.specs, scope, node, section, is_repeated=True)
        return loop.repeated(tests, 1) + loop.repeated(costs)

    def _for(self, node: Node, specs: Sequence[TensorSpec], scope: CountScope, section: str) -> list[NodeCost]:
        """Return the costs in the body of a For, with the counter as argument before the loop's variables."""
        loop = self.loops.even(node.name, self.loops.rounds(node.name, node, for_trips(specs)))
        self._note(loop)
        counter = TensorSpec(specs[0].dtype, specs[0].shape)
        current = estimated_loop(self.functions, node.attr("body"), specs[3:], [counter]) or specs[3:]
        return loop.repeated(self._body(node.attr("body"), [counter, *current], scope, node, section, is_repeated=True))

    def _branches(
        self, branches: Mapping[str, FuncRef], specs: Sequence[TensorSpec], scope: CountScope, node: Node, section: str
    ) -> list[NodeCost]:
        """Return the costs of the branch that a known condition takes, or else of the costlier branch, with a note of all
        costs.
        """
        by_label = {label: self._body(branch, specs[1:], scope, node, section) for label, branch in branches.items()}
        costs = {label: total(nodes).flops for label, nodes in by_label.items()}
        decided = _chosen(tuple(branches), specs[0])
        taken = decided or max(costs, key=lambda label: magnitude(costs[label]))
        listed = ", ".join(f"{label} {cost}" for label, cost in costs.items())
        reason = "runs" if decided else "is counted"
        self.notes.append(f"branches of {scope.prefix}{node.name}: {listed} FLOPs; {taken} {reason}")
        return by_label[taken]

    def _body(
        self,
        reference: FuncRef,
        specs: Sequence[TensorSpec],
        scope: CountScope,
        node: Node,
        section: str,
        *,
        is_repeated: bool = False,
        function: Function | None = None,
    ) -> list[NodeCost]:
        """Return the costs in a called function, from the library or made for the node."""
        function = function or self._function(reference, node)
        if reference.name in scope.calls:
            raise InvalidArgumentError(f"function '{reference.name}' calls itself", node=node.name, op=node.op)
        call = _CountedCall(reference, function, specs, scope, node, section, is_repeated)
        return self._body_by_function(call) if self._is_by_function else self._run(call, f"{scope.prefix}{node.name}/")

    def _body_by_function(self, call: _CountedCall) -> list[NodeCost]:
        """Return the costs in a call of a function, counted once for all calls that are alike."""
        name = call.reference.name
        sources = tuple(origin(value, call.scope)[0] for value in call.node.inputs)
        form = CALL_KINDS.get(call.node.op, BY_NAME).form
        key = (form is Form.GRADIENT, repr(call.reference), signature_of(call.specs)[0], sources, call.unused, call.section)
        if key in self._bodies:
            # The weights were counted with the first of the alike calls.
            return [dataclasses.replace(cost, parameters=0) for cost in self._bodies[key]]
        if self._signatures.is_full(name):
            reason = f"function '{name}', or its caller, is called with too many different shapes"
            return [NodeCost(name, call.node.op, call.section, ZERO, 0, 0, 1, reason)]
        self._signatures.add(name)
        call = dataclasses.replace(call, is_repeated=True)
        costs = self._bodies[key] = self._run(call, f"{name}/")
        return costs

    def _run(self, call: _CountedCall, prefix: str) -> list[NodeCost]:
        """Return the costs in a call of a function, each by the node's name behind `prefix`."""
        function, node, scope = call.function, call.node, call.scope
        arg_specs = {arg.output(): spec for arg, spec in zip(function.args, call.specs)}
        key = function, call_site(node, call.unused), call.section, *map(id, call.specs)
        inside = self._insides.get(key)
        if inside is None:
            inside = self._insides[key] = self._inside(call, arg_specs)
        # Arguments and inputs are paired from the end: the predicate of an If and the counters of a For come before the
        # arguments.
        arguments = dict(zip(reversed(function.args), reversed(node.inputs)))
        kind = CALL_KINDS.get(node.op, BY_NAME)
        if kind.is_loop:
            arguments = {arg: arguments[arg] for arg in unchanged(function) if arg in arguments}
        # The wrapper of a signature calls the model from outside of all scopes: the names inside are those of the author.
        is_wrapper = scope.outside == len(scope.prefix) and (kind.is_inlined or kind is BY_NAME) and "/" not in node.name
        count = 0 if call.is_repeated else len(function.results)
        outer = [scope.inference.specs[Output(node, i)] for i in range(count)]
        inner = self._scope(
            function.body,
            arg_specs,
            inside.targets,
            inside.needed,
            dict(zip(function.results, outer)),
            inside.inference,
            prefix=prefix,
            outside=len(prefix) if is_wrapper else scope.outside_of(node),
            around="".join(without_calls(node.name).rpartition("/")[:2]),
            calls=scope.calls | {call.reference.name},
            function=call.reference.name,
            caller=scope,
            site=node,
            arguments=arguments,
            is_repeated=call.is_repeated or scope.is_repeated or frame_of_outputs(node, scope.frames) is not None,
        )
        return self._all(inner, inside.sections, call.section)

    def _inside(self, call: _CountedCall, known: Known) -> _Inside:
        function = call.function
        targets = function_targets(function, call_site(call.node, call.unused))
        needed = needed_nodes(targets, list(known))
        sections = classify_body(function.body, needed, targets, call.section)
        return _Inside(call.specs, targets, needed, sections, self._estimated(function.body, known))

    def _function(self, reference: FuncRef, node: Node) -> Function:
        function = self._choice.called(reference.name)
        if function is None:
            raise InvalidArgumentError(f"the graph has no function '{reference.name}'", node=node.name, op=node.op)
        return with_attrs(function.pattern, reference)

    def _gradient(self, node: Node) -> Function:
        """Return the function that a SymbolicGradient runs: the declared gradient, or the body with gradient nodes added."""
        function = self._function(node.attr("f"), node)
        if function.gradient is not None:
            return self._function(FuncRef(function.gradient, node.attr("f").attrs), node)
        from ..ops.control.functional import differentiated

        return differentiated(function, node.attr("Tin"), self.functions)


def _chosen(labels: Sequence[str], condition: TensorSpec) -> str | None:
    """Return the branch for a condition of known value, None otherwise; numbers past the last case take the last branch."""
    if condition.value is None or condition.value.size != 1 or isinstance(condition.value.item(), Dim):
        return None
    value = condition.value.item()
    if labels == ("then", "else"):
        return labels[0 if value else 1]
    return labels[value if 0 <= value < len(labels) else -1]


def _is_source(node: Node) -> bool:
    """Return True for a node that computes nothing: constants, placeholders, arguments, NoOps."""
    held = node.is_constant or node.is_placeholder or node.is_argument
    return held or node.is_no_op or node.is_control_trigger


_PASSES_ON: Final = (
    "forwarding", "transparent", "passes_each_on", "idle", "metadata", "enter", "exit", "next_iteration", "switch", "merge",
    "owns_state",
)  # fmt: skip
"""Facts of ops that hand on or measure what they get, or name a state."""


def moved_bytes(node: Node, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]) -> DimLike:
    """Return the bytes read and written; ops that only forward a value move none."""
    # What hands a value on hands its memory on, and a read shows the memory of the variable.
    passes_on = has_fact(node.op, "passes_each_on") or has_fact(node.op, "forwarding") or node.is_variable_read
    if _is_source(node) or node.op in VARIABLES or passes_on:
        return 0
    moved: DimLike = 0
    for spec in (*inputs, *outputs):
        if not spec.dtype.is_object and is_definite(spec.shape):
            moved = moved + spec.shape.num_elements * spec.dtype.size
    return moved


# Conditionals of V1 graphs: the nodes on each branch of a Switch, and the branch to count.


@dataclasses.dataclass(frozen=True, slots=True)
class BranchChoice:
    """A conditional: the costs of the branches, the branch that is counted, and whether the predicate is known."""

    predicate: str
    costs: Mapping[int, str]
    taken: int
    is_known: bool

    def __str__(self) -> str:
        labels = {0: "false", 1: "true"}
        listed = ", ".join(f"{labels.get(branch, branch)} {cost}" for branch, cost in sorted(self.costs.items()))
        reason = "runs" if self.is_known else "is counted"
        return f"branches on {self.predicate}: {listed} FLOPs; {labels.get(self.taken, self.taken)} {reason}"


def not_taken(costs: Mapping[Node, Sequence[NodeCost]], inference: Estimate) -> tuple[set[Node], list[BranchChoice]]:
    """Return the nodes on branches that are not counted, and the choices made.

    A known predicate chooses the branch; otherwise the costlier branch counts.
    """
    deadness = Deadness(costs)
    branches: dict[Output | Node, dict[int, list[Node]]] = {}
    for node in costs:
        for predicate, branch in deadness.of_node(node):
            branches.setdefault(predicate, {}).setdefault(branch, []).append(node)
    nested = {node for members in branches.values() for nodes in members.values() for node in nodes}
    flops = {node: total(costs[node]).flops for node in nested}
    dropped: set[Node] = set()
    choices = []
    for predicate, members in branches.items():
        # A conditional inside a branch has dropped nodes by then, if its predicate came first: they do not count for the
        # branch.
        totals = {b: add_up(flops[node] for node in nodes if node not in dropped) for b, nodes in members.items()}
        known = _known_branch(predicate, inference)
        taken = known if known is not None else max(totals, key=lambda branch: (magnitude(totals[branch]), branch))
        dropped.update(node for branch, nodes in members.items() if branch != taken for node in nodes)
        name = predicate.node.name if isinstance(predicate, Output) else predicate.name
        choices.append(BranchChoice(name, {b: str(count) for b, count in totals.items()}, taken, known is not None))
    return dropped, choices


def _known_branch(predicate: Output | Node, inference: Estimate) -> int | None:
    spec = inference.specs.get(predicate) if isinstance(predicate, Output) else None
    if spec is None or spec.value is None or spec.value.size != 1:
        return None
    return int(spec.value.item())


# Scopes of a count: the graph or a called function's body, and values traced back through the callers.

_READ: Final = re.compile(r"(?:^|/)(?:read|ReadVariableOp)(?:_\d+)?$")
"""The names of nodes that read a variable; freezing leaves an Identity of the same name."""


@dataclasses.dataclass(slots=True, eq=False)
class CountScope:
    """A scope of a count: the graph or function body, with specs, V1 loops, and the call that leads there."""

    graph: Graph
    inference: Estimate
    frames: Mapping[Node, Frame]
    loops: Mapping[Frame, LoopCount]
    needed: Collection[Node]
    """The nodes that run."""
    targets: Sequence[Output | Node]
    """The fetched tensors and operations, or the targets of the function's call."""
    prefix: str = ""
    outside: int = 0
    """How many letters of the prefix name calls that lie in no scope, or whose scope the nodes' names repeat."""
    around: str = ""
    """The scope around the call that leads here, with a slash; empty for none."""
    calls: frozenset[str] = frozenset()
    function: str = ""
    """The function whose body this is, empty for the graph."""
    caller: CountScope | None = None
    site: Node | None = None
    """The caller's node that leads here."""
    arguments: Mapping[Node, Output] = dataclasses.field(default_factory=dict)
    """The values in the caller's graph that the body's arguments stand for; of a loop only the invariant arguments."""
    is_repeated: bool = False
    """True for a body that a loop runs repeatedly, perhaps with other shapes each time."""
    fed: Collection[Node] = ()
    """The nodes that depend on what a run is fed."""
    origins: dict[Output, tuple[Output | None, CountScope]] = dataclasses.field(default_factory=dict)
    """Where values were found to be read from."""
    shape_reasons: dict[Node, str] = dataclasses.field(default_factory=dict)
    """Reasons for unknown shapes, for all nodes asked about so far and the nodes on the way to the cause."""

    def outside_of(self, node: Node) -> int:
        """Return `outside` for a node: TensorFlow names the nodes of loops and branches with the scopes around them."""
        return len(self.prefix) if self.around and node.name.startswith(self.around) else self.outside

    def loops_around(self, node: Node) -> Iterator[LoopCount]:
        """Yield the V1 loops that a node runs in, the innermost first; an Enter or Exit runs outside of the frame."""
        frame = self.frames.get(node)
        if frame is not None and node.op in (*ENTER, *EXIT):
            frame = frame.enclosing
        while frame is not None:
            yield self.loops[frame]
            frame = frame.enclosing


def fed_nodes(scope: CountScope) -> set[Node]:
    """Return the nodes of a scope that depend on what a run is fed: on placeholders, or on elements of an input pipeline."""
    sources = nodes_of_kind(
        scope.needed, lambda kind: kind.is_argument or kind.is_placeholder or has_fact(kind.op, "next_element")
    )
    fed = {node for node in sources if _brings_input(node, scope)}
    if not scope.graph.is_in_order:
        return descendants(fed)
    # In a graph in order, where no node waits for others by control inputs, the lists of users need not be made.
    for node in scope.graph:
        for value in node.inputs:
            if value.node in fed:
                fed.add(node)
                break
    return fed


def _brings_input(node: Node, scope: CountScope) -> bool:
    if not node.is_argument or scope.caller is None:
        return node.is_placeholder or has_fact(node.op, "next_element")
    value = scope.arguments.get(node)
    return (scope.site if value is None else value.node) in scope.caller.fed


def is_definite(shape: Shape) -> bool:
    """Return True if all dimensions are numbers or have names."""
    return shape.dims is not None and not any(isinstance(d, Dim) and d.is_anonymous for d in shape.dims)


def origin(value: Output, scope: CountScope) -> tuple[Output | None, CountScope]:
    """Return the variable or the weight frozen to a constant behind a value, and the scope of its node."""
    passed: dict[tuple[Output, CountScope], None] = {}
    while value not in scope.origins:
        # A broken graph may lead round in a circle.
        before = _before(value.node, scope) if (value, scope) not in passed else None
        passed[value, scope] = None
        if before is None:
            was_read = any(_READ.search(one.node.name) for one, _ in passed)
            scope.origins[value] = _parameters(value, is_scalar_weight=was_read), scope
        else:
            value, scope = before
    source = scope.origins[value]
    for one, where in passed:
        where.origins[one] = source
    return source


def _before(node: Node, scope: CountScope) -> tuple[Output, CountScope] | None:
    """Return the value that a node forwards, and the value's scope; None for a node that computes."""
    if passes_weight_on(node) and node.inputs:
        return node.inputs[0], scope
    if node in scope.arguments and scope.caller is not None:
        return scope.arguments[node], scope.caller
    return None


def _parameters(value: Output, *, is_scalar_weight: bool) -> Output | None:
    """Return a value that is a variable or a floating-point constant, a scalar only if it was a variable; else None."""
    is_weight = value.node.is_constant and value.dtype is not None and value.dtype.is_floating
    # Keras 2 gives normalizations empty constants for averages that they do not read.
    has_rank = is_weight and (is_scalar_weight or is_frozen_weight(value.node))
    return value if value.node.op in VARIABLES or has_rank else None


def passes_parameters_on(node: Node) -> bool:
    """Return True for nodes that hold parameters or hand them on, but do nothing with them."""
    return passes_weight_on(node) or node.op in VARIABLES


def shape_reason(node: Node, scope: CountScope) -> str:
    """Return the reason for unknown shapes at a node, from the first node with a reason on the way back."""
    stack, seen = [node], {node}
    reason, passed = None, []
    while stack and reason is None:
        current = stack.pop()
        passed.append(current)
        sources = [value.node for value in current.inputs if not is_definite(scope.inference.shape(value))]
        reason = scope.shape_reasons.get(current) or _own_reason(current, sources, scope)
        stack += [source for source in dict.fromkeys(sources) if source not in seen]
        seen.update(sources)
    reason = reason or "its cost depends on values known only at run time"
    scope.shape_reasons.update(dict.fromkeys(passed, reason))
    return reason


def _own_reason(node: Node, sources: Sequence[Node], scope: CountScope) -> str | None:
    """Return the reason why shapes end at a node; None where shapes end earlier, at a member of `sources`."""
    if node.name in scope.inference.reasons:
        return f"shapes end at node '{node.name}' ({node.op}): {scope.inference.reasons[node.name]}"
    if not sources and any(not is_definite(scope.inference.shape(value)) for value in node.outputs()):
        return _source_reason(node, scope)
    if node in scope.frames and any(value.node.op in NEXT_ITERATION for value in node.inputs):
        loop = scope.frames[node].name
        return f"the shape of '{scope.prefix}{node.name}' changes from one iteration of '{loop}' to the next"
    return None


def _source_reason(node: Node, scope: CountScope) -> str:
    """Return the reason why a node has outputs of unknown shape though the shapes of the inputs are known."""
    path, set_shape = scope.prefix + node.name, step("shape", name=node.name, sizes=Blank("SIZES"))
    if node.is_placeholder:
        return Hint(f"placeholder '{path}' has no shape: set it with ", set_shape)
    if node.is_argument and scope.caller is not None and scope.site is not None:
        if all(is_definite(scope.caller.inference.shape(value)) for value in scope.site.inputs):
            return f"the shape of '{path}' changes from one iteration of '{scope.site.name}' to the next"
        return shape_reason(scope.site, scope.caller)
    hint = () if scope.prefix else (": set it with ", set_shape)
    if scope.is_repeated or any(scope.loops_around(node)):
        return Hint(f"the shape of '{path}' ({node.op}) is known only at run time, and may change between iterations", *hint)
    return Hint(f"the shape of '{path}' ({node.op}) is known only at run time", *hint)


# Costs of an input pipeline's functions for each element.

Count = Callable[[Graph, Sequence[str]], FlopsReport]


def per_element(graph: Graph, needed: Iterable[Node], count: Count) -> Iterator[PipelineCost]:
    """Yield the cost of a call of each function that takes an element and captured values, from the source on."""
    for node, scope in _calling(graph, needed).items() if graph.functions else ():
        for reference in function_references(node):
            function = graph.functions.get(reference.name)
            argument_specs = None if function is None or not node.inputs else _arguments(node, function)
            if function is not None and argument_specs is not None:
                called = _call(graph, reference, function, argument_specs)
                yield PipelineCost(f"{scope}{node.name}", node.op, reference.name, count(called, ["call"]).total())


def _calling(graph: Graph, needed: Iterable[Node]) -> dict[Node, str]:
    """Return the datasets and iterators that may call functions for elements, sources first, each with the path
    `FUNCTION/`.
    """
    callers: dict[Node, str] = {}
    for path, asking in going_through_elements(graph, needed):
        scope = path.removesuffix(asking.name)
        for dataset in asked_datasets(graph, asking):
            callers.update((stage, scope) for stage in stages_of(dataset) if has_fact(stage.op, "input_pipeline"))
        callers[asking] = scope
    return callers


def _arguments(node: Node, function: Function) -> list[tuple[DType, Shape]] | None:
    """Return the dtypes and shapes of a function's arguments; None where no element leads them, behind any state."""
    source = maker_of(node.inputs[0])
    state = node.attr("Tstate", None) or []
    types = source.attr("output_types", None) or source.attr("Toutput_types", None) or []
    shapes = source.attr("output_shapes", None) or [UNKNOWN] * len(types)
    dtypes = [arg.attr("T") for arg in function.args]
    if dtypes[: len(state) + len(types)] != [*state, *types] or len(dtypes) - len(types) >= len(node.inputs):
        return None
    taken = list(map(_declared, node.inputs[1 : 1 + len(dtypes) - len(types)]))
    return list(zip(dtypes, [*taken[: len(state)], *shapes, *taken[len(state) :]]))


def _declared(value: Output) -> Shape:
    """Return the shape of a captured constant; UNKNOWN for other values."""
    return Shape(value.node.attr("value").shape) if value.node.is_constant else UNKNOWN


def _call(graph: Graph, reference: FuncRef, function: Function, signature: Sequence[tuple[DType, Shape]]) -> Graph:
    """Return a graph that calls the function on placeholders."""
    called = graph.emptied()
    called.functions = dict(graph.functions)
    made = [
        called.add_node(f"component{i}", "Placeholder", (), (), {"dtype": dtype, "shape": shape})
        for i, (dtype, shape) in enumerate(signature)
    ]
    types = {"Tin": [dtype for dtype, _ in signature], "Tout": [value.dtype for value in function.results], "f": reference}
    called.add_node("call", "StatefulPartitionedCall", [node.output() for node in made], (), types)
    return called


# Names for dimensions that only a run decides, as the number of true elements.
#
# Inference has an anonymous symbol for each such dimension, the same wherever the number must be the same. The symbol is
# named after the first node that shows the dimension. Dimensions inside a loop stay anonymous, as the number may differ
# between iterations; a dimension that leaves the loop is named and stands for the number of the last iteration.

_OF_FORM: Final = {form: [op for op, kind in CALL_KINDS.items() if kind.form is form] for form in Form}
_MEANING: Final = {
    **dict.fromkeys(ops_with("finds_true"), "the number of true elements"),
    **dict.fromkeys(ops_with("finds_distinct"), "the number of distinct values"),
    **dict.fromkeys((*MERGE, *_OF_FORM[Form.BRANCH]), "a result of the branch taken"),
    **dict.fromkeys((*EXIT, *_OF_FORM[Form.LOOP]), "a result of the last iteration"),
}
"""The meaning of an unknown size, by op."""


def named(
    inference: Estimate,
    frames: Mapping[Node, Frame],
    prefix: str,
    symbols: Symbols,
    known: Mapping[str, DimLike],
    cache: ShapeCache,
) -> Estimate:
    """Return the inference with a name for each anonymous symbol outside of loops; `known` has names from the caller.

    Equal specs are a single object of the cache, so that alike nodes have a key in common.
    """
    names = dict(known)
    inside: set[str] = set()
    for node, specs in _by_node(inference).items():
        places: dict[str, tuple[int, int | None]] = {}
        for symbol, place in _anonymous(specs):
            if symbol not in names:
                places.setdefault(symbol, place)
        if frame_of_outputs(node, frames) is not None:
            inside |= places.keys()
            continue
        for symbol, (index, axis) in places.items():
            names[symbol] = _claim(node, index, axis, len(places) == 1, prefix, symbols)
    if not names:
        return inference
    invariant = {symbol: name for symbol, name in names.items() if symbol not in inside}
    substitutes: dict[tuple[bool, int], TensorSpec] = {}
    named_specs = Specs()
    for output, spec in inference.specs.items():
        is_inside = frame_of_outputs(output.node, frames) is not None
        substitute = substitutes.get((is_inside, id(spec)))
        if substitute is None:
            substitute = cache.shared(substituted(spec, invariant if is_inside else names))
            substitutes[is_inside, id(spec)] = substitute
        named_specs[output] = substitute
    return Estimate(named_specs, inference.reasons)


def shared_names(pairs: Iterable[tuple[TensorSpec, TensorSpec]]) -> dict[str, DimLike]:
    """Return the caller's names of the anonymous dimensions of a function's results, from (result, call's output) pairs."""
    names: dict[str, DimLike] = {}
    for inner, outer in pairs:
        for dim, name in zip(inner.shape.dims or (), outer.shape.dims or ()):
            if isinstance(dim, Dim) and dim.is_unknown and not (isinstance(name, Dim) and name.is_anonymous):
                names[dim.unnamed[0]] = name
    return names


def _by_node(inference: Estimate) -> dict[Node, list[tuple[int, TensorSpec]]]:
    """Return the specs with symbols of each node's outputs, in topological order.

    Values that come along back edges have the symbols of the loop's start.
    """
    # Equal specs are one object, so each is looked at once.
    by_id = {id(spec): spec for spec in inference.specs.values()}
    open_specs = {key for key, spec in by_id.items() if spec.value is not None or not spec.shape.is_known}
    return grouped(
        (output.node, (output.index, spec))
        for output, spec in (inference.specs.items() if open_specs else ())
        if id(spec) in open_specs and output.node.op not in NEXT_ITERATION
    )


def _anonymous(specs: Iterable[tuple[int, TensorSpec]]) -> Iterator[tuple[str, tuple[int, int | None]]]:
    """Yield the anonymous symbols of outputs, each with the output and the dimension that show the symbol, None for a
    value.
    """
    for index, spec in specs:
        shown: list[tuple[int | None, object]] = list(enumerate(spec.shape.dims or ()))
        if spec.value is not None and spec.value.dtype == object:
            shown += [(None, item) for item in spec.value.ravel().tolist()]
        for axis, dim in shown:
            if isinstance(dim, Dim):
                yield from ((symbol, (index, axis)) for symbol in dim.unnamed)


def _claim(node: Node, index: int, axis: int | None, is_only: bool, prefix: str, symbols: Symbols) -> Dim:
    path = prefix + node.name
    place = "" if is_only else f":{index}" if axis is None else f":{index},{axis}"
    what = "a number in" if axis is None else f"dimension {axis} of"
    where = f"{path}:{index} ({_MEANING.get(node.op, node.op)})"

    def meaning(label: str) -> Hint:
        return Hint(f"{what} {where}, known only at run time; ", step("size", size=f"{label}{place}"), " sets it")

    return symbols.claim(f"n[{{}}{place}]", path, (path, index, axis), meaning)
