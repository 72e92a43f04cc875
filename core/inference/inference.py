"""Shapes and constant values of every tensor, derived from the graph without a run."""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from ..control_flow.copies import handed_in, source_of
from ..functions.call_kinds import Form, call_kind
from ..functions.call_signatures import Signatures, renamed, signature_of
from ..functions.implementations import implementation
from ..functions.instantiation import instantiate
from ..graph.graph import Function, Graph, Node, Output
from ..graph.traversal import topological_order
from ..registry import registry
from ..registry.op_facts import has_fact, ops_with
from ..support.errors import InvalidArgumentError, TfgError
from ..support.gc_control import rare_collection
from ..support.log import DEBUG, Stopwatch
from ..types.dims import Dim
from ..types.dtypes import DType, resource
from ..types.shapes import UNKNOWN, Shape, TensorSpec, common_value, covering_shape, merge_shapes, relax_shapes
from ..types.tensors import FuncRef
from . import binding
from .node_calls import apply_kernel, call_shape_function
from .shape_cache import ShapeCache

MAX_VALUE_ELEMENTS = 4096
_MAX_DEPTH: Final = 100
"""How many calls deep functions are looked into."""


@dataclasses.dataclass(frozen=True, slots=True)
class Inference:
    """The spec of every output, and why inference ended at some nodes: node name -> reason."""

    specs: Mapping[Output, TensorSpec]
    reasons: Mapping[str, str]

    def spec(self, output: Output) -> TensorSpec:
        return self.specs[output]

    def shape(self, output: Output) -> Shape:
        return self.specs[output].shape


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
    loop_rule: LoopRule | None = None,
    answers: Answers | None = None,
) -> Inference:
    """Infer the specs of all outputs of `graph`; `overrides` replaces the specs of some (fed) outputs.

    `functions` is the library of called functions, the graph's own by default; `answers` are cached results of the calls.

    The first sweep assumes that a V1 loop keeps the shapes at entry. Where an iteration changes a shape, another sweep
    assumes a shape that covers both.
    """
    watch = Stopwatch()
    graph.check_changes()
    library = _CalledFunctions(graph.functions if functions is None else functions, loop_rule, answers)
    inference = _infer(topological_order(graph), Specs(), overrides or {}, library)
    watch.tell("inferred the shapes of %d nodes", len(graph), level=DEBUG)
    return inference


def infer_again(
    nodes: Sequence[Node],
    before: Inference,
    overrides: Mapping[Output, TensorSpec],
    functions: Mapping[str, Function],
    loop_rule: LoopRule | None = None,
) -> Inference:
    """Infer the specs of `nodes`, in topological order, anew from `overrides` and the specs of all other nodes in `before`."""
    anew = set(nodes)
    inputs = {value: before.specs[value] for node in nodes for value in node.inputs if value.node not in anew}
    return _infer(nodes, Specs(inputs, before.specs), overrides, _CalledFunctions(functions, loop_rule))


def _infer(order: Sequence[Node], base: Specs, overrides: Mapping[Output, TensorSpec], library: _CalledFunctions) -> Inference:
    loops = {node: back for node in order if node.op in _MERGE and (back := _back_edge(node)) is not None}
    containers = {node for node in order if node.op in _CONTAINERS}
    assumed: dict[Output, TensorSpec] = {}
    inference = _sweep(order, base, overrides, assumed, loops, library)
    for sweep in range(_MAX_SWEEPS + len(loops) + len(containers)):
        changed = _relaxed(inference, loops, overrides)
        contents = _contents(inference, order, assumed, containers) if containers else {}
        if sweep >= _MAX_SWEEPS:
            changed = {back: TensorSpec(spec.dtype) for back, spec in changed.items()}
            contents = {
                handle: _of_anything(spec) for handle, spec in contents.items() if not _holds_anything(assumed, handle)
            }
        changed |= contents
        if not changed:
            break
        assumed |= changed
        inference = _sweep(order, base, overrides, assumed, loops, library)
    return inference


_MERGE = ops_with("merge")
_MAX_SWEEPS = 4
"""The number of sweeps after which the shape of a changing loop variable is unknown."""


def _of_anything(container: TensorSpec) -> TensorSpec:
    """Return the spec of a container with unknown elements."""
    return dataclasses.replace(container, handle=(TensorSpec(container.handle[0].dtype), *container.handle[1:]))


def _holds_anything(assumed: Mapping[Output, TensorSpec], handle: Output) -> bool:
    """Return True where no elements of a container are assumed any more."""
    return handle in assumed and _shown(assumed[handle]) == _shown(_of_anything(assumed[handle]))


def _back_edge(merge: Node) -> Output | None:
    """Return the back edge of a Merge: the input from the iteration before."""
    return next((v for v in merge.inputs if has_fact(v.node.op, "next_iteration")), None)


def _sweep(
    order: Sequence[Node],
    base: Specs,
    overrides: Mapping[Output, TensorSpec],
    assumed: Mapping[Output, TensorSpec],
    loops: Mapping[Node, Output],
    library: _CalledFunctions,
) -> Inference:
    """Sweep over the nodes; `assumed` has the specs along back edges, by default the specs at the loop's entry."""
    specs = Specs(base, base.others)
    reasons: dict[str, str] = {}
    for node in order:
        back = loops.get(node)
        if back is not None and back not in specs:
            known_inputs = [v for v in node.inputs if v is not back and v in specs]
            entering = specs[known_inputs[0] if known_inputs else back]
            specs[back] = assumed.get(back, dataclasses.replace(entering, value=None))
        for index, spec in enumerate(_node_specs(node, specs, reasons, library)):
            output = Output(node, index)
            specs[output] = overrides.get(output) or (assumed[output] if output in assumed and back is None else spec)
    return Inference(specs, reasons)


_WRITERS = {"StackPush": (1, 0), "StackPushV2": (1, 0), "TensorArrayWriteV3": (2, 0), "TensorArrayScatterV3": (2, 1)}
"""Ops that write elements into a container: (input with the elements, number of leading dimensions that count elements)."""
_CONTAINERS = ("Stack", "StackV2", "TensorArrayV3")


def _contents(
    inference: Inference, order: Sequence[Node], assumed: Mapping[Output, TensorSpec], containers: Collection[Node]
) -> dict[Output, TensorSpec]:
    """Return the handles of stacks and tensor arrays with the specs of their elements, known only after a sweep."""
    written: dict[Output, TensorSpec] = {}
    for node in order:
        if node.op not in _WRITERS:
            continue
        position, counting = _WRITERS[node.op]
        handle = handed_in(node.inputs[0])
        element = _without_dims(inference.specs[node.inputs[position]], counting)
        written[handle] = cover(written[handle], element) if handle in written else element
    filled: dict[Output, TensorSpec] = {}
    for handle, element in written.items():
        spec = inference.specs[handle]
        spec = dataclasses.replace(spec, handle=(_declared(handle, element), *spec.handle[1:]))
        if handle.node in containers and (handle not in assumed or _shown(assumed[handle]) != _shown(spec)):
            filled[handle] = spec
    return filled


def container_of(node: Node) -> Node | None:
    """Return the stack or tensor array to which a node writes elements."""
    return handed_in(node.inputs[0]).node if node.op in _WRITERS else None


def _without_dims(spec: TensorSpec, count: int) -> TensorSpec:
    """Return the spec of a slice along the first dimensions."""
    if not count:
        return spec
    return TensorSpec(spec.dtype, UNKNOWN if spec.shape.dims is None else Shape(spec.shape.dims[count:]))


def _declared(handle: Output, element: TensorSpec) -> TensorSpec:
    """Refine an element's spec by the element shape that its tensor array declares."""
    if handle.node.op != "TensorArrayV3":
        return element
    declared = handle.node.attr("element_shape")
    try:
        return dataclasses.replace(element, shape=merge_shapes(declared, element.shape))
    except TfgError:
        return TensorSpec(element.dtype, declared)


def _relaxed(
    inference: Inference, loops: Mapping[Node, Output], overrides: Mapping[Output, TensorSpec]
) -> dict[Output, TensorSpec]:
    """Return the back edges with less definite specs than assumed, and specs that cover both."""
    changed: dict[Output, TensorSpec] = {}
    for merge, back in loops.items():
        if merge.output() in overrides:
            continue
        merged, arriving = inference.specs[merge.output()], inference.specs[back]
        relaxed = relax_shapes(merged.shape, arriving.shape)
        if str(relaxed) != str(merged.shape):
            changed[back] = dataclasses.replace(arriving, shape=relaxed, value=None)
    return changed


def _node_specs(node: Node, specs: Specs, reasons: dict[str, str], library: _CalledFunctions) -> list[TensorSpec]:
    inputs = [specs[value] for value in node.inputs]
    results = library.call_specs(node, inputs)
    if results is None and (before := library.derived.find(node, inputs)) is not None:
        return before
    unknown = [TensorSpec(dtype) for dtype in library.output_dtypes(node)]
    if results is not None:
        if [spec.dtype.base for spec in results] == [spec.dtype.base for spec in unknown]:
            return results
        reasons[node.name] = "a function returns other dtypes than its call declares"
        return unknown
    definition = node.op_def
    function = registry.shape_function(node.op)
    if definition is None or function is None:
        reasons[node.name] = f"op '{node.op}' has no shape function" if definition else f"op '{node.op}' is not declared"
        return unknown
    try:
        results = call_shape_function(node, function, inputs)
    except TfgError as error:
        reasons[node.name] = error.message
        return unknown
    merged = _apart(node, inputs, [_merge(spec, result) for spec, result in zip(unknown, results)])
    try:
        merged = _constant_values(node, inputs, merged)
    except TfgError as error:
        reasons[node.name] = error.message
        return merged
    library.derived.keep(node, inputs, merged)
    return merged


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


class _CalledFunctions:
    """The functions called by a graph, and the specs of the calls' results."""

    def __init__(
        self, functions: Mapping[str, Function], loop_rule: LoopRule | None = None, answers: Answers | None = None
    ) -> None:
        self._functions = functions
        self._loop_rule = loop_rule
        self._calls: list[str] = []
        """The functions being inferred around this graph."""
        self._answers = answers or Answers()
        self.derived = self._answers.derived

    def output_dtypes(self, node: Node) -> Sequence[DType]:
        """Return the dtypes of a node's outputs, also for a call by the function's name."""
        function = self._functions.get(node.op)
        return node.output_dtypes if function is None else function.signature.output_dtypes(node.attrs)

    def call_specs(self, node: Node, inputs: Sequence[TensorSpec]) -> list[TensorSpec] | None:
        """Return the results of a call, If, Case or While, from the bodies; None for other nodes and for unknown bodies."""
        kind = call_kind(self._functions, node)
        if kind is None or kind.form not in (Form.CALL, Form.BRANCH, Form.LOOP):
            return None
        references, arguments = kind.references(node), kind.arguments(inputs)
        if kind.form is Form.CALL:
            return self._body(references[0], arguments)
        if kind.form is Form.BRANCH:
            return self._branches(references, arguments)
        if kind.counters:
            return self.loop(references[-1], arguments, [dataclasses.replace(inputs[0], value=None)])
        results = self._loop_rule(node, arguments) if self._loop_rule is not None else None
        return self.loop(references[-1], arguments) if results is None else list(results)

    def _body(self, reference: FuncRef, inputs: Sequence[TensorSpec]) -> list[TensorSpec] | None:
        """Return the results of a call: the body is inferred once for equal arguments."""
        function = self._functions.get(implementation(self._functions, reference.name))
        if function is None or reference.name in self._calls or len(function.args) != len(inputs):
            return None
        self._note_arguments(function, inputs)
        arguments, unnamed = signature_of(inputs)
        key = (function, repr(sorted(reference.attrs.items())) if function.signature.attrs else "", arguments)
        cached = self._answers.results
        if key not in cached:
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
        if function.signature.attrs:
            function = instantiate(function, reference.attrs)
        function.check()
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
        for sweep in range(_MAX_SWEEPS + len(current)):
            after = self._body(reference, [*counter, *current])
            if after is None or len(after) != len(current):
                return None
            pairs = [(a, cover(a, b)) for a, b in zip(current, after)]
            if all(_shown(a) == _shown(covering) for a, covering in pairs):
                return current
            if sweep < _MAX_SWEEPS:
                current = [covering for _, covering in pairs]
            else:
                current = [a if _shown(a) == _shown(covering) else TensorSpec(a.dtype) for a, covering in pairs]
        return [TensorSpec(spec.dtype) for spec in current]


def cover(a: TensorSpec, b: TensorSpec) -> TensorSpec:
    """Return a spec that covers both; where a single spec has the contents of a handle, these contents are taken."""
    return TensorSpec(a.dtype, relax_shapes(a.shape, b.shape), common_value(a, b), _known_handle(a, b))


def _known_handle(a: TensorSpec, b: TensorSpec) -> tuple[TensorSpec, ...]:
    """Return the contents of a handle that cover both specs; an empty list takes the other list's elements."""
    if len(a.handle) != len(b.handle):
        return a.handle or b.handle
    parts = [TensorSpec(x.dtype, covering_shape(x.shape, y.shape), common_value(x, y)) for x, y in zip(a.handle, b.handle)]
    if is_empty_list(a) or is_empty_list(b):
        parts[0] = (b if is_empty_list(a) else a).handle[0]
    return tuple(parts)


def is_empty_list(spec: TensorSpec) -> bool:
    """Return True for a list without elements; the second spec of the handle has the list's length."""
    length = spec.handle[1].value if len(spec.handle) > 1 else None
    return length is not None and length.size == 1 and length.item() == 0


def loop_specs(
    functions: Mapping[str, Function],
    body: FuncRef,
    inputs: Sequence[TensorSpec],
    counter: Sequence[TensorSpec] = (),
    answers: Answers | None = None,
) -> list[TensorSpec] | None:
    """Return specs of a loop's variables that hold in every iteration and after the loop; None where the body is unknown."""
    return _CalledFunctions(functions, answers=answers).loop(body, inputs, counter)


def changing(body: Function, specs: Sequence[TensorSpec]) -> list[TensorSpec]:
    """Return the specs of a loop's variables in any iteration: values only for variables that the body passes on."""
    invariant = unchanged(body)
    args = body.args[len(body.args) - len(specs) :]
    return [spec if arg in invariant else dataclasses.replace(spec, value=None) for spec, arg in zip(specs, args)]


def unchanged(body: Function) -> set[Node]:
    """Return the arguments of a loop's body that the body returns unchanged; other functions may have none."""
    pairs = zip(reversed(body.args), reversed(body.results))
    return {arg for arg, value in pairs if source_of(value) == arg.output()}


def _shown(spec: TensorSpec) -> str:
    return f"{spec.shape} {[(str(held.shape), held.value is None) for held in spec.handle]}"


def _merge(spec: TensorSpec, result: Shape | TensorSpec) -> TensorSpec:
    if isinstance(result, TensorSpec):
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
    if not all(spec.shape.is_known and _is_small(spec) for spec in outputs):
        return outputs
    partial = any(v is not None and v.dtype == object for v in values)
    if partial and not has_fact(node.op, "shape_arithmetic"):
        return outputs
    candidates = registry.kernels(node.op)
    definition = binding.require_op_def(node)
    if not candidates or not inputs or definition.is_stateful or candidates[0].is_stateful:
        return outputs
    results = apply_kernel(node, [value for value in values if value is not None])
    return [dataclasses.replace(spec, value=_as_value(value, spec)) for spec, value in zip(outputs, results)]


def _as_value(value: Any, spec: TensorSpec) -> np.ndarray[Any, Any]:
    """Convert a computed value to the spec's dtype, or keep objects while a symbolic dimension is among the elements."""
    array = np.asarray(value)
    if array.dtype == spec.dtype.numpy or any(isinstance(item, Dim) for item in array.ravel().tolist()):
        return array
    try:
        return array.astype(spec.dtype.numpy)
    except OverflowError:
        raise InvalidArgumentError(f"a value computed from dimensions does not fit in {spec.dtype}") from None


def _is_small(spec: TensorSpec) -> bool:
    size = spec.shape.num_elements
    return isinstance(size, int) and size <= MAX_VALUE_ELEMENTS and not spec.dtype.is_object
