"""Shapes and constant values of every tensor, derived from the graph without a run."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias

import numpy as np

from ..graph.call_kinds import Form, call_kind
from ..graph.call_signatures import Signatures, renamed, signature_of, unnamed_in, value_key
from ..graph.frames import source_of
from ..graph.graph import Function, Graph, Node, Output
from ..graph.instantiation import FunctionChoice, with_attrs
from ..graph.traversal import closure, nodes_of_kinds, topological_order
from ..registry import registry
from ..registry.op_facts import has_fact, ops_with
from ..support import dataclasses
from ..support.errors import InternalError, InvalidArgumentError, TfgError, UnimplementedError
from ..support.gc_control import rare_collection
from ..support.keyed_cache import KeyedCache
from ..support.log import DEBUG, Stopwatch
from ..types.dims import Dim, DimLike, of_same_kind
from ..types.dtypes import DType, resource
from ..types.shapes import UNKNOWN, Shape, TensorSpec
from ..types.tensors import FuncRef
from . import binding
from .containers import (
    CONTAINERS,
    contents,
    cover,
    elements_renamed,
    holds_anything,
    is_covered,
    new_dims,
    of_anything,
    shown,
    symbols_of_elements,
    without_values,
)
from .error_context import fault
from .node_calls import apply_kernel, call_shape_function

# Shapes, permutations, paddings and axes are far smaller; weights are far larger.
MAX_VALUE_ELEMENTS = 4096
MISFITS_ARE_FAULTS = False
"""Raise an InternalError for a computed value that does not fit the inferred spec, as tests do."""
_MAX_DEPTH: Final = 100
"""How many calls deep functions are looked into."""
_MOST: Final = 1_000_000
"""The signatures and the specs that are remembered."""
_FEW: Final = 64
"""Values of more elements are hardly ever equal to others, and are told apart by identity."""


@dataclasses.dataclass(slots=True, eq=False)
class SpecRecord:
    """A signature, op, attributes and specs of inputs, with the specs of the outputs."""

    op: str
    attrs: Mapping[str, Any]
    inputs: Sequence[TensorSpec]
    outputs: list[TensorSpec]
    cost: Any = None
    """Whatever a count of FLOPs keeps for the nodes of the signature."""


class ShapeCache:
    """Specs of the outputs of nodes by signature: op, attributes and the specs of the inputs.

    Equal specs are a single object, so that signatures are compared by identities. A record keeps alive what its key
    identifies.
    """

    def __init__(self) -> None:
        self._alike: KeyedCache[Hashable, SpecRecord] = KeyedCache(_MOST)
        self._of_node: dict[Node, SpecRecord] = {}
        """The records of nodes with unknown dimensions of their own: different symbols in each node."""
        self._specs: KeyedCache[Hashable, TensorSpec] = KeyedCache(_MOST)

    def find(self, node: Node, inputs: Sequence[TensorSpec]) -> SpecRecord | None:
        """Return the record with the specs of the outputs, or None."""
        # Nodes of a file with equal attributes have the same mapping, and equal specs are the same object: identities stand
        # for values.
        record = self._alike.get((node.op, id(node.attrs), *map(id, inputs)))
        if record is None:
            record = self._of_node.get(node)
            if record is None or not _holds(record, node, inputs):
                return None
        return record

    def keep(self, node: Node, inputs: Sequence[TensorSpec], outputs: Iterable[TensorSpec]) -> list[TensorSpec]:
        """Cache and return specs that were derived without a fault."""
        record = SpecRecord(node.op, node.attrs, inputs, list(map(self.shared, outputs)))
        # A size that is unknown at this node alone, as the number of true elements, is not that of any other node.
        if unnamed_in(record.outputs) <= unnamed_in(inputs):
            self._alike[(node.op, id(node.attrs), *map(id, inputs))] = record
        else:
            self._of_node[node] = record
        return record.outputs

    def shared(self, spec: TensorSpec) -> TensorSpec:
        """Return the object that stands for all equal specs."""
        if spec.handle:
            spec = dataclasses.replace(spec, handle=tuple(map(self.shared, spec.handle)))
        shape, value = spec.shape, spec.value
        values = id(value) if value is not None and value.size > _FEW else value_key(value)
        # The class tells the shape of no element from the unknown shape: both have no dimensions.
        key = spec.dtype, shape.__class__, shape.dims, values, tuple(map(id, spec.handle))
        known = self._specs.get(key)
        if known is None:
            known = self._specs[key] = spec
        return known


def _holds(record: SpecRecord, node: Node, inputs: Sequence[TensorSpec]) -> bool:
    if record.attrs is not node.attrs or record.op != node.op or len(record.inputs) != len(inputs):
        return False
    return all(a is b for a, b in zip(record.inputs, inputs))


@dataclasses.dataclass(frozen=True, slots=True)
class Derived:
    """The spec of every output, and why inference ended at some nodes: node name -> reason."""

    specs: Mapping[Output, TensorSpec]
    reasons: Mapping[str, str]
    records: tuple[Sequence[Node], Sequence[SpecRecord | None]] = dataclasses.field(
        default=((), ()), repr=False, compare=False
    )
    """Nodes, and the record that each node's specs come from, None for specs from elsewhere."""

    def spec(self, output: Output) -> TensorSpec:
        return self.specs[output]

    def shape(self, output: Output) -> Shape:
        return self.specs[output].shape

    def records_of(self, graph: Graph, nodes: Sequence[Node]) -> Sequence[SpecRecord | None]:
        """Return the record of each of the nodes, which stand in the order of the graph; None of a node without one."""
        order, records = self.records
        # Shapes were inferred in the order of the graph, unless it has nodes before their sources.
        if len(nodes) == len(order) and graph.is_in_order:
            return records
        return list(map(dict(zip(order, records)).get, nodes))


@dataclasses.dataclass(frozen=True, slots=True)
class Inference(Derived):
    """Facts: specs that hold in every run in which the node runs. They may rewrite a graph."""

    cache: ShapeCache = dataclasses.field(default_factory=ShapeCache, repr=False, compare=False)
    """The cached specs of nodes, with which another inference of the graph or of its functions may begin."""


class Assumptions(Protocol):
    """What an estimate takes for granted: `core/inference/estimates.py` has the only assumptions."""

    def shape_function(self, op: str) -> Callable[..., Any] | None:
        """Return the shape function that stands in for an op's own, None for most ops."""

    def settled(self, spec: TensorSpec) -> TensorSpec:
        """Return the spec with likely dimensions in the place of undecided dimensions."""


class InputRevision(Protocol):
    """Another graph than the one at hand, of which the specs are wanted: some nodes have other inputs."""

    def revised(self, node: Node, inputs: Sequence[TensorSpec]) -> Sequence[TensorSpec]:
        """Return the specs of a node's inputs."""

    def retried(self, node: Node, inputs: Sequence[TensorSpec]) -> Sequence[TensorSpec] | None:
        """Return the specs of the inputs of a node at which inference ends, None where they stay."""


_NOTHING: Final[Mapping[Output, TensorSpec]] = types.MappingProxyType({})


class Specs(dict[Output, TensorSpec]):
    """Specs of outputs; an output without a spec or declared interface has its dtype at most.

    Specs that are rarely read may stay in `others`.
    """

    def __init__(self, specs: Mapping[Output, TensorSpec] = _NOTHING, others: Mapping[Output, TensorSpec] = _NOTHING) -> None:
        super().__init__(specs)
        self.others = others

    def __missing__(self, output: Output) -> TensorSpec:
        return self.others.get(output) or TensorSpec(output.dtype or resource)


@dataclasses.dataclass(slots=True)
class Answers:
    """Cached results of function calls, by the specs of the arguments: valid while the function is unchanged."""

    results: dict[Hashable, tuple[list[str], list[TensorSpec] | None]] = dataclasses.field(default_factory=dict)
    """Each with the unnamed dimensions of the arguments."""
    signatures: Signatures = dataclasses.field(default_factory=Signatures)
    derived: ShapeCache = dataclasses.field(default_factory=ShapeCache)
    """The cached specs of nodes that call no function."""
    arguments: dict[Function, list[TensorSpec]] = dataclasses.field(default_factory=dict)
    """For each function, specs that cover the arguments of all its calls."""


LoopRule: TypeAlias = Callable[[Node, Sequence[TensorSpec]], "Sequence[TensorSpec] | None"]
"""The specs of a functional loop's results, from the loop's node and the specs at entry; None for the general rule."""


@rare_collection()
def infer(
    graph: Graph,
    overrides: Mapping[Output, TensorSpec] | None = None,
    functions: Mapping[str, Function] | None = None,
    answers: Answers | None = None,
    revision: InputRevision | None = None,
) -> Inference:
    """Infer the specs of all outputs of `graph`; `overrides` replaces the specs of some (fed) outputs.

    `functions` is the library of called functions, the graph's own by default; `answers` are cached results of the calls.
    With a `revision` the specs are those of another graph; `reasons` has the nodes that were tried again, too.

    The first sweep assumes that a V1 loop keeps the shapes at entry. Where an iteration changes a shape, another sweep
    assumes a shape that covers both.
    """
    library = Library(graph.functions if functions is None else functions, answers, revision=revision)
    derived = derive(graph, overrides or {}, library)
    return Inference(derived.specs, derived.reasons, derived.records, library.derived)


def derive(graph: Graph, overrides: Mapping[Output, TensorSpec], library: Library) -> Derived:
    """Infer the specs of all outputs of `graph` with a library of functions, and the library's assumptions, if any."""
    watch = Stopwatch()
    graph.check_changes()
    derived = _infer(topological_order(graph), Specs(), overrides, library)
    watch.tell("inferred the shapes of %d nodes", len(graph), level=DEBUG)
    return derived


def infer_again(
    nodes: Sequence[Node], before: Inference, overrides: Mapping[Output, TensorSpec], functions: Mapping[str, Function]
) -> Inference:
    """Infer the specs of `nodes`, in topological order, anew from `overrides` and the specs of all other nodes in `before`."""
    library = Library(functions)
    derived = derive_again(nodes, before, overrides, library)
    return Inference(derived.specs, derived.reasons, cache=library.derived)


def derive_again(nodes: Sequence[Node], before: Derived, overrides: Mapping[Output, TensorSpec], library: Library) -> Derived:
    """Infer the specs of some nodes anew, as `infer_again` does, with a library of functions."""
    anew = set(nodes)
    inputs = {value: before.specs[value] for node in nodes for value in node.inputs if value.node not in anew}
    return _infer(nodes, Specs(inputs, before.specs), overrides, library)


def _infer(order: Sequence[Node], base: Specs, overrides: Mapping[Output, TensorSpec], library: Library) -> Derived:
    merges, holding = nodes_of_kinds(order, lambda kind: kind.op in _MERGE, lambda kind: kind.op in CONTAINERS)
    loops = {node: back for node in merges if (back := _back_edge(node)) is not None}
    containers = set(holding)
    assumed: dict[Output, TensorSpec] = {}
    free: set[DimLike] = set()
    derived = _sweep(order, base, overrides, assumed, loops, library)
    # After _MAX_SWEEPS, a spec that still changes becomes unknown for good: each further sweep settles at least one loop
    # variable or container, so that the sweeps end.
    for sweep in range(_MAX_SWEEPS + len(loops) + len(containers)):
        changed = _relaxed(derived, loops, assumed, overrides, library, free)
        filled = contents(derived.specs, order, assumed, containers) if containers else {}
        if sweep >= _MAX_SWEEPS:
            changed = {back: TensorSpec(spec.dtype) for back, spec in changed.items()}
            filled = {handle: of_anything(spec) for handle, spec in filled.items() if not holds_anything(assumed, handle)}
        changed |= filled
        if not changed:
            break
        assumed |= changed
        derived = _sweep(order, base, overrides, assumed, loops, library)
    return derived


_MERGE = ops_with("merge")
_MAX_SWEEPS = 4
"""The number of sweeps after which the shape of a changing loop variable is unknown."""


def _back_edge(merge: Node) -> Output | None:
    """Return the back edge of a Merge: the input from the iteration before."""
    return next((v for v in merge.inputs if has_fact(v.node.op, "next_iteration")), None)


def _sweep(
    order: Sequence[Node],
    base: Specs,
    overrides: Mapping[Output, TensorSpec],
    assumed: Mapping[Output, TensorSpec],
    loops: Mapping[Node, Output],
    library: Library,
) -> Derived:
    """Sweep over the nodes; `assumed` has the specs along back edges, by default the specs at the loop's entry."""
    specs = Specs(base, base.others)
    reasons: dict[str, str] = {}
    filled = {output: spec for output, spec in assumed.items() if output.node.op in CONTAINERS}
    find = library.derived.find
    records: list[SpecRecord | None] = []
    for node in order:
        back = loops.get(node) if loops else None
        # The nodes behind a back edge come later in the order: the Merge needs an assumption about what they return.
        if back is not None and back not in specs:
            known_inputs = [v for v in node.inputs if v is not back and v in specs]
            entering = specs[known_inputs[0] if known_inputs else back]
            specs[back] = library.derived.shared(assumed.get(back) or dataclasses.replace(entering, value=None))
        inputs = [specs[value] for value in node.inputs]
        # Nearly all nodes of a large graph end here: a million nodes have tens of signatures.
        # Without inputs, a variable's specs depend on its users, too, and a revision may give a node other inputs than these.
        known = find(node, inputs) if inputs and library.revision is None else None
        for index, spec in enumerate(_node_specs(node, inputs, reasons, library) if known is None else known.outputs):
            output = (None if index else node._first) or node.output(index)
            if output in overrides:
                specs[output], known = library.derived.shared(overrides[output]), None
            else:
                specs[output] = filled.get(output, spec) if filled else spec
        records.append(None if filled else known)
    return Derived(specs, reasons, (order, records))


def _relaxed(
    derived: Derived,
    loops: Mapping[Node, Output],
    assumed: Mapping[Output, TensorSpec],
    overrides: Mapping[Output, TensorSpec],
    library: Library,
    free: set[DimLike],
) -> dict[Output, TensorSpec]:
    """Return the back edges with less definite specs than assumed, and specs that cover both.

    `free` has the sizes that differ from iteration to iteration; more are added.
    """
    changed: dict[Output, TensorSpec] = {}
    for merge, back in loops.items():
        if merge.output() in overrides:
            continue
        merged, arriving = derived.specs[merge.output()], derived.specs[back]
        if back in assumed:
            free |= new_dims(merged, [assumed[back], *(derived.specs[value] for value in merge.inputs if value is not back)])
        relaxed = without_values(cover(merged, arriving, free))
        if not library.is_stable(without_values(merged), relaxed):
            changed[back] = dataclasses.replace(relaxed, dtype=arriving.dtype)
            free |= new_dims(relaxed, [merged, arriving])
    return changed


def _node_specs(node: Node, inputs: Sequence[TensorSpec], reasons: dict[str, str], library: Library) -> Sequence[TensorSpec]:
    if library.revision is not None:
        inputs = library.revision.revised(node, inputs)
    if not inputs and library.is_resized(node):
        return [TensorSpec(dtype) for dtype in node.output_dtypes]
    before = library.derived.find(node, inputs)
    return _new_specs(node, inputs, reasons, library) if before is None else before.outputs


def _new_specs(node: Node, inputs: Sequence[TensorSpec], reasons: dict[str, str], library: Library) -> list[TensorSpec]:
    """Return the specs of a node's outputs, from the called function or the op's shape function."""
    results = library.call_specs(node, inputs)
    unknown = [TensorSpec(dtype) for dtype in library.output_dtypes(node)]
    if results is not None:
        if [spec.dtype.base for spec in results] == [spec.dtype.base for spec in unknown]:
            return list(map(library.derived.shared, results))
        reasons[node.name] = "a function returns other dtypes than its call declares"
        return unknown
    definition = node.op_def
    function = library.shape_function(node.op)
    if definition is None or function is None:
        reasons[node.name] = f"op '{node.op}' has no shape function" if definition else f"op '{node.op}' is not declared"
        return unknown
    try:
        results = _by_shape_function(node, function, inputs, unknown)
        # If a container is read, the function is called twice: the value read is not the one written last, so its unknown
        # sizes need other symbols, while the container keeps its own.
        if (apart := library.held_apart(inputs)) is not inputs:
            read = _by_shape_function(node, function, apart, unknown)
            results = [dataclasses.replace(spec, handle=written.handle) for spec, written in zip(read, results)]
    except TfgError as error:
        reasons[node.name] = error.message
        again = library.retried(node, function, inputs)
        return unknown if again is None else [_merge(spec, result) for spec, result in zip(unknown, again)]
    merged = library.settled(_apart(node, inputs, results))
    try:
        merged = _constant_values(node, inputs, merged)
    except TfgError as error:
        if MISFITS_ARE_FAULTS and isinstance(error, InternalError):
            raise
        reasons[node.name] = error.message
        return merged
    # What a call returns follows from functions that may change, while the node and its inputs stay the same.
    return merged if library.is_call(node) else library.derived.keep(node, inputs, merged)


def _by_shape_function(
    node: Node, function: Callable[..., Any], inputs: Sequence[TensorSpec], unknown: Sequence[TensorSpec]
) -> list[TensorSpec]:
    return [_merge(spec, result) for spec, result in zip(unknown, call_shape_function(node, function, inputs))]


def _apart(node: Node, inputs: Sequence[TensorSpec], results: list[TensorSpec]) -> list[TensorSpec]:
    """Return the results with unnamed dimensions of the node's own: different nodes of a file may share attributes."""
    declared = node.op_def.attrs if node.op_def is not None else {}
    shapes = [node.attrs.get(name) for name, attr in declared.items() if "shape" in attr.type]
    if not any(map(_has_unnamed, shapes)):
        return results
    unnamed = signature_of(inputs)[1]
    return renamed(results, unnamed, unnamed)


def _has_unnamed(value: Any) -> bool:
    shapes = value if isinstance(value, list) else [value]
    return any(isinstance(shape, Shape) and any(isinstance(dim, Dim) for dim in shape.dims or ()) for shape in shapes)


class Library:
    """The functions called by a graph, the specs of the calls' results, and what is assumed, by default nothing."""

    def __init__(
        self,
        functions: Mapping[str, Function],
        answers: Answers | None = None,
        loop_rule: LoopRule | None = None,
        assumptions: Assumptions | None = None,
        revision: InputRevision | None = None,
    ) -> None:
        self._functions = functions
        self._choice = FunctionChoice(functions)
        self._loop_rule = loop_rule
        self._calls: list[str] = []
        """The functions being inferred around this graph."""
        self._answers = answers or Answers()
        self.derived = self._answers.derived
        self._assumptions = assumptions
        self.revision = revision

    def retried(self, node: Node, function: Callable[..., Any], inputs: Sequence[TensorSpec]) -> Sequence[TensorSpec] | None:
        """Return the results of a node at which inference ends with other inputs, None without a revision of them."""
        again = None if self.revision is None else self.revision.retried(node, inputs)
        if again is None:
            return None
        try:
            return call_shape_function(node, function, again)
        except TfgError:
            return None  # the reason with the own inputs stays

    def shape_function(self, op: str) -> Callable[..., Any] | None:
        """Return the op's shape function, or the function of the assumptions."""
        assumed = None if self._assumptions is None else self._assumptions.shape_function(op)
        return registry.shape_function(op) if assumed is None else assumed

    def settled(self, specs: list[TensorSpec]) -> list[TensorSpec]:
        """Return a node's specs with the assumptions applied."""
        return specs if self._assumptions is None else list(map(self._assumptions.settled, specs))

    def held_apart(self, inputs: Sequence[TensorSpec]) -> Sequence[TensorSpec]:
        """Return the inputs with unknown sizes of their own in containers: two elements, and all else, may differ."""
        if self._assumptions is not None or not any(spec.handle for spec in inputs):
            return inputs
        names = {symbol: of_same_kind(symbol) for spec in inputs for symbol in symbols_of_elements(spec)}
        if not names:
            return inputs
        return [elements_renamed(spec, names) if spec.handle else spec for spec in inputs]

    def is_stable(self, spec: TensorSpec, covering: TensorSpec) -> bool:
        """Return True if a loop's variable has the spec in every iteration; an estimate takes unknown sizes to stay."""
        return is_covered(spec, covering) or (self._assumptions is not None and shown(spec) == shown(covering))

    def is_resized(self, node: Node) -> bool:
        """Return True for a variable to which an Assign may give another shape than the declared one; an estimate takes it
        to stay.
        """
        is_reference = self._assumptions is None and has_fact(node.op, "owns_state") and node.output_dtypes[0].is_ref
        return is_reference and any(user.attrs.get("validate_shape") is False for user in closure([node], _reference_users))

    def output_dtypes(self, node: Node) -> Sequence[DType]:
        """Return the dtypes of a node's outputs, also for a call by the function's name."""
        function = self._functions.get(node.op)
        return node.output_dtypes if function is None else function.signature.output_dtypes(node.attrs)

    def is_call(self, node: Node) -> bool:
        """Return True for a node that calls functions: its results may follow from the calls around the node."""
        return call_kind(self._functions, node) is not None

    def call_specs(self, node: Node, inputs: Sequence[TensorSpec]) -> list[TensorSpec] | None:
        """Return the results of a call, If, Case or While, from the bodies; None for other nodes and for unknown bodies."""
        kind = call_kind(self._functions, node)
        if kind is None or kind.form not in (Form.CALL, Form.BRANCH, Form.LOOP):
            return None
        references, arguments = kind.references(node), kind.arguments(inputs)
        # TensorFlow joins the rows of several callers into a batch: inside, their number is not the number of this call.
        if kind.is_batched and self._assumptions is None:
            rows = self._body(references[0], [_with_rows(spec, None) for spec in arguments])
            return None if rows is None else [_with_rows(spec, inputs[0].shape[0]) for spec in rows]
        if kind.form is Form.CALL:
            return self._body(references[0], arguments)
        if kind.form is Form.BRANCH:
            return self._branches(references, arguments)
        if kind.counters:
            return self.loop(references[-1], arguments, [dataclasses.replace(inputs[0], value=None)])
        # FLOPs know how a variable grows with the iteration; facts only know what covers all iterations.
        results = self._loop_rule(node, arguments) if self._loop_rule is not None else None
        return self.loop(references[-1], arguments) if results is None else list(results)

    def _body(self, reference: FuncRef, inputs: Sequence[TensorSpec]) -> list[TensorSpec] | None:
        """Return the results of a call: the body is inferred once for equal arguments."""
        function = self._choice.called(reference.name)
        # A function that calls itself ends here: what it returns is not known before its body has been inferred.
        if function is None or reference.name in self._calls or len(function.pattern.args) != len(inputs):
            return None
        self._note_arguments(function, inputs)
        arguments, unnamed = signature_of(inputs)
        function = function.pattern  # equal functions return equal specs
        key = (function, repr(sorted(reference.attrs.items())) if function.signature.attrs else "", arguments)
        cached = self._answers.results
        if key not in cached:
            # Functions that each call the next with several shapes have as many signatures as there are paths of calls.
            if self._answers.signatures.is_full(function) or len(self._calls) >= _MAX_DEPTH:
                return None
            self._answers.signatures.add(function)
            cached[key] = unnamed, self._inside(function, reference, inputs)
        before, results = cached[key]
        return results if before is unnamed or results is None else renamed(results, before, unnamed)

    def _note_arguments(self, function: Function, inputs: Sequence[TensorSpec]) -> None:
        """Widen the argument specs of a function to cover another call."""
        noted = self._answers.arguments
        noted[function] = list(map(cover, noted[function], inputs)) if function in noted else list(inputs)

    def _inside(self, function: Function, reference: FuncRef, inputs: Sequence[TensorSpec]) -> list[TensorSpec] | None:
        function = with_attrs(function, reference)
        function.check_changes()
        arguments = dict(zip((arg.output() for arg in function.args), inputs))
        self._calls.append(reference.name)
        try:
            inner = _infer(topological_order(function.body), Specs(), arguments, self)
        finally:
            self._calls.pop()
        specs = [inner.specs.get(result) for result in function.results]
        results = [spec for spec in specs if spec is not None]
        return results if len(results) == len(specs) else None

    def _branches(self, references: Sequence[FuncRef], inputs: Sequence[TensorSpec]) -> list[TensorSpec] | None:
        """Return specs that cover the results of all branches."""
        branches = [self._body(reference, inputs) for reference in references]
        if any(branch is None for branch in branches):
            return None
        return [functools.reduce(cover, column) for column in zip(*(branch for branch in branches if branch is not None))]

    def loop(
        self, reference: FuncRef, inputs: Sequence[TensorSpec], counter: Sequence[TensorSpec] = ()
    ) -> list[TensorSpec] | None:
        """Return specs that cover the loop variables before and after each iteration; a For's body takes a counter before
        them.
        """
        body = self._functions.get(reference.name)
        current = list(inputs) if body is None else changing(body, inputs)
        free: set[DimLike] = set()  # the unknown sizes that differ from iteration to iteration
        # As for V1 loops, each sweep after the first few gives up at least one variable, so that the sweeps end.
        for sweep in range(_MAX_SWEEPS + len(current)):
            after = self._body(reference, [*counter, *current])
            if after is None or len(after) != len(current):
                return None
            wider = [cover(a, b, free) for a, b in zip(current, after)]
            stable = list(map(self.is_stable, current, wider))
            if all(stable):
                return current
            if sweep < _MAX_SWEEPS:
                free.update(*map(new_dims, wider, zip(current, after)))
                current = wider
            else:
                current = [a if kept else TensorSpec(a.dtype) for a, kept in zip(current, stable)]
        return [TensorSpec(spec.dtype) for spec in current]


def _reference_users(node: Node) -> list[Node]:
    """Return the users of a node that pass a reference on, as an Assign does."""
    return [user for user in node.uses if any(dtype.is_ref for dtype in user.output_dtypes)]


def _with_rows(spec: TensorSpec, count: DimLike | None) -> TensorSpec:
    """Return the spec of a tensor with other rows, `count` of them, or any number for None."""
    return TensorSpec(spec.dtype, Shape([count, *spec.shape[1:]]) if spec.rank else UNKNOWN)


def loop_specs(
    functions: Mapping[str, Function],
    body: FuncRef,
    inputs: Sequence[TensorSpec],
    counter: Sequence[TensorSpec] = (),
    answers: Answers | None = None,
) -> list[TensorSpec] | None:
    """Return specs of a loop's variables that hold in every iteration and after the loop; None where the body is unknown."""
    return Library(functions, answers=answers).loop(body, inputs, counter)


def changing(body: Function, specs: Sequence[TensorSpec]) -> list[TensorSpec]:
    """Return the specs of a loop's variables in any iteration: values only for variables that the body passes on."""
    invariant = unchanged(body)
    args = body.args[len(body.args) - len(specs) :]
    return [spec if arg in invariant else dataclasses.replace(spec, value=None) for spec, arg in zip(specs, args)]


def unchanged(body: Function) -> set[Node]:
    """Return the arguments of a loop's body that the body returns unchanged; other functions may have none."""
    pairs = zip(reversed(body.args), reversed(body.results))
    return {arg for arg, value in pairs if source_of(value) == arg.output()}


def _merge(spec: TensorSpec, result: Shape | TensorSpec) -> TensorSpec:
    if isinstance(result, TensorSpec):
        # The node declares another dtype than the op's function computed: the numbers are not those of the declared dtype.
        value = result.value if result.dtype.base is spec.dtype.base else None
        return dataclasses.replace(result, dtype=spec.dtype, value=value)
    return dataclasses.replace(spec, shape=result)


def _constant_values(node: Node, inputs: Sequence[TensorSpec], outputs: list[TensorSpec]) -> list[TensorSpec]:
    """Return the output specs with values, where all inputs have values and the op is a pure function of them.

    The values hold in every run and every iteration, and may be dimensions that are known by name only.
    """
    values = [spec.value for spec in inputs]
    # The branch of a Merge is unknown, and random sizes are not drawn.
    if node.op in _MERGE or has_fact(node.op, "random") or has_fact(node.op, "lengthy"):
        return outputs
    if not outputs or any(v is None for v in values) or any(spec.value is not None for spec in outputs):
        return outputs
    # Values serve for sizes, axes and predicates, which are small. Weights would only take time and memory here; folding
    # them is the work of a pass.
    if not all(spec.shape.is_known and _is_small(spec) for spec in outputs):
        return outputs
    # Sizes that are known by name only are objects. Most kernels would fail on objects, or compute nonsense.
    partial = any(v is not None and v.dtype == object for v in values)
    if partial and not has_fact(node.op, "shape_arithmetic"):
        return outputs
    candidates = registry.kernels(node.op)
    definition = binding.require_op_def(node)
    # A stateful op gives other values in each run, although it takes the same inputs.
    if not candidates or not inputs or definition.is_stateful or candidates[0].is_stateful:
        return outputs
    try:
        results = apply_kernel(node, [value for value in values if value is not None])
    except UnimplementedError:
        # A place or a step that is known by name only: the graph is right, and the value is not known.
        if partial:
            return outputs
        raise
    kept = object if partial else None  # a computed dimension may have become a plain int
    return [_with_value(node, spec, np.asarray(value, kept)) for spec, value in zip(outputs, results)]


def _with_value(node: Node, spec: TensorSpec, array: np.ndarray[Any, Any]) -> TensorSpec:
    """Return a spec with a computed value. A value of another shape or dtype than inferred is no fact and is left out."""
    if array.shape == spec.shape.known() and array.dtype in (spec.dtype.numpy, object):
        return dataclasses.replace(spec, value=_as_value(array, spec))
    if MISFITS_ARE_FAULTS:
        raise fault(f"its value is {array.dtype} {Shape(array.shape)}, inferred is {spec.dtype} {spec.shape}", node)
    return spec


def _as_value(array: np.ndarray[Any, Any], spec: TensorSpec) -> np.ndarray[Any, Any]:
    """Convert a computed value to the spec's dtype, or keep objects while a symbolic dimension is among the elements."""
    if array.dtype == spec.dtype.numpy or any(isinstance(item, Dim) for item in array.ravel().tolist()):
        return array
    try:
        return array.astype(spec.dtype.numpy)
    except OverflowError:
        raise InvalidArgumentError(f"a value computed from dimensions does not fit in {spec.dtype}") from None


def _is_small(spec: TensorSpec) -> bool:
    size = spec.shape.num_elements
    return isinstance(size, int) and size <= MAX_VALUE_ELEMENTS and not spec.dtype.is_object
