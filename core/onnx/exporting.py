"""Export of a graph to an ONNX model: the plan is walked as in a run, and each step emits operations instead of computing."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, Final, TypeAlias

import numpy as np

from ..building.gradbuilder import parts_of
from ..graph.call_kinds import CallKind, Form, call_kind
from ..graph.deadness import branch_of, is_contradiction, joined, on_branch
from ..graph.frames import MERGE, SWITCH, hands_in
from ..graph.graph import Function, Graph, Node, Output
from ..graph.instantiation import function_called, with_attrs
from ..graph.purity import impurity
from ..graph.table_fills import table_fills
from ..inference.binding import bind_attrs, group_inputs, input_bundles, require_op_def
from ..inference.error_context import faults_of
from ..inference.inference import Answers, infer, loop_specs, unchanged
from ..inference.node_calls import call_shape_function
from ..planning.plan import Loop, Step
from ..planning.planner import compile_plan
from ..registry.catalog import OpDef
from ..registry.op_facts import has_fact
from ..registry.registry import Composition, has_kernel, onnx_lowering, shape_function
from ..runtime.execute.constant_steps import FOLD_FLOPS, folded_values
from ..runtime.execute.limits import flops_of
from ..support import dataclasses, hints
from ..support.errors import (
    DeadlineExceededError,
    InternalError,
    InvalidArgumentError,
    ResourceExhaustedError,
    TfgError,
    UnimplementedError,
)
from ..support.grouping import grouped
from ..support.words import counted
from ..types import dtypes
from ..types.arrays import Array
from ..types.dims import Dim
from ..types.shapes import POSITION, SCALAR, UNKNOWN, Shape, TensorSpec, merge_shapes, relax_shapes
from ..types.tensors import FuncRef
from .blocks import Block, OnnxModel, Operation, Value, carrier, flat, is_branch_output
from .cleanup import drop_unused, tidy
from .complex_numbers import part_dtype
from .emitter import DEEPEST, EXPORT_A_PART, Emitter, ModelTooLargeError, UndecidedAxisError, too_deep

_HANDLES: Final = (dtypes.variant, dtypes.resource)
"""The dtypes of lists and TensorArrays, lowered to tensors."""
_TYPES: Final = frozenset(map(dtypes.from_name, (
    "float", "double", "half", "bfloat16", "bool", "string", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
    "uint64", "complex64", "complex128", "int4", "uint4", "float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2fnuz",
)))  # fmt: skip
"""The dtypes of tensors in ONNX."""
_STEPS: Final = 50_000
_STEPS_PER_NODE: Final = 8
_STEPS_PER_CALL: Final = 10
"""The number of steps that a call of a function counts as, against the limit of steps of an export."""
_FOLDED: Final = 1 << 16
"""The largest number of elements of a constant that folding may grow from smaller constants."""
_BYTES_PER_ELEMENT: Final = 256
"""The memory that a kernel may use while folding, in bytes for each element, strings and copies included."""


@dataclasses.dataclass(frozen=True, slots=True)
class ExportRefusal:
    """A node that ONNX does not get, and why."""

    node: str
    op: str
    reason: str


LayerNames = Callable[[str], tuple[str, str]]
"""From the path of a node, behind the functions that are called, to the names of the node and of its layer."""


def export(
    graph: Graph,
    inputs: Mapping[str, Output],
    outputs: Mapping[str, Output],
    layer_names: Callable[[], LayerNames] | None = None,
) -> OnnxModel:
    """Return the model of a graph's part, without variables, that computes `outputs` from `inputs`, each by its name in the
    model.

    Complex inputs and outputs are pairs of real numbers along a last dimension. UnimplementedError names all layers with
    nodes that ONNX cannot express, with the reasons; without `layer_names` the nodes.
    """
    # Only an input in the middle of a graph has a shape that the graph does not declare.
    inferred = {} if all(value.node.is_placeholder for value in inputs.values()) else infer(graph).specs
    specs = {value: _input_spec(name, value, inferred) for name, value in inputs.items()}
    exporter = _Exporter(graph.functions, len(graph))
    g = exporter.emitter
    entries = {value: _input(spec) for value, spec in specs.items()}
    entering = [g.unpacked(value) if spec.dtype.is_complex else value for value, spec in zip(entries.values(), specs.values())]
    # The contents of tables are part of the model, so that their initializers come first.
    if fills := table_fills(graph):
        exporter.run(graph, fills, [], [], [])
    results = exporter.run(graph, list(outputs.values()), list(entries), entering, list(specs.values()))
    for name, value, result in zip(outputs, outputs.values(), results):
        if not isinstance(result, Value) or value.base_dtype in _HANDLES:
            exporter.refuse(ExportRefusal(value.node.name, value.node.op, f"output '{name}' has dtype {value.base_dtype}"))
    # Unread operations go first: a node that was refused does no harm if only they read it.
    if not exporter.is_refused:
        g.block.outputs = [g.packed(value) if value.dtype.is_complex else value for value in results]
        drop_unused(g.block)
    if exporter.is_refused or not exporter.unknown.isdisjoint(g.block.values()):
        raise _refused(exporter.refusals, layer_names() if layer_names is not None else lambda path: (path, path))
    g.block.inputs = list(entries.values())
    tidy(g)
    # The depth is checked after the cleanup, which may remove blocks.
    if g.block.depth > DEEPEST:
        raise too_deep(next(iter(outputs)))
    defaults = {name: default for name, value in inputs.items() if (default := _default(value.node)) is not None}
    fed, fetched = dict(zip(inputs, entries.values())), dict(zip(outputs, g.block.outputs))
    return OnnxModel(g.block, fed, fetched, tuple(g.narrowed), defaults)


def _default(node: Node) -> Array | None:
    """Return the constant that an input has if nobody feeds it; the file's input is required for a computed one."""
    if node.op != "PlaceholderWithDefault" or not node.inputs[0].node.is_constant:
        return None
    return node.inputs[0].node.constant_value()


def _input(spec: TensorSpec) -> Value:
    """Return an input of a model; complex numbers are pairs along a last dimension."""
    if spec.dtype.is_complex:
        return Value(part_dtype(spec.dtype), spec.shape + Shape((2,)) if spec.shape.dims is not None else UNKNOWN)
    return Value(carrier(spec.dtype), spec.shape)


def _input_spec(name: str, value: Output, inferred: Mapping[Output, TensorSpec]) -> TensorSpec:
    """Return the spec of an input, with unknown dimensions named after the input."""
    declared = value.node.attr("shape") if value.node.is_placeholder else inferred[value].shape
    shape = declared if isinstance(declared, Shape) else UNKNOWN
    if shape.dims is not None:
        word = name.replace(":", "_").replace("/", "_")
        shape = Shape(d if isinstance(d, int) else Dim.symbol(f"{word}_dim{i}") for i, d in enumerate(shape.dims))
    return TensorSpec(value.base_dtype, shape)


def _refused(refusals: Sequence[ExportRefusal], layer_names: LayerNames) -> UnimplementedError:
    """Return a single error for all refused nodes, by op and reason."""
    groups = grouped(((refusal.op, refusal.reason), layer_names(refusal.node)) for refusal in dict.fromkeys(refusals))
    lines = [hints.Hint(f"{op} ({_places_of(names)}): ", reason) for (op, reason), names in groups.items()]
    count = len({refusal.node for refusal in refusals})
    drawing = [refusal for refusal in refusals if has_fact(refusal.op, "random")]
    ways = [_as_input(refusal, " makes its random numbers an input of the model") for refusal in drawing[:1]]
    ways += [_as_input(refusal, " makes it an input of the model") for refusal in refusals if refusal.op == "_Arg"][:1]
    ways += [_WITHOUT_DROPOUT] if any(has_fact(refusal.op, "unit_uniform") for refusal in drawing) else []
    hint = functools.reduce(lambda first, second: hints.Hint(first, "; ", second), ways) if ways else None
    return UnimplementedError(f"ONNX does not support {counted(count, 'node')} of the graph:", hint=hint, details=lines)


def _as_input(refusal: ExportRefusal, outcome: str) -> hints.Hint:
    return hints.Hint(hints.step("input", name=refusal.node), outcome)


def _places_of(names: Sequence[tuple[str, str]]) -> str:
    """Return the name of a node, or the layers of several."""
    layers = list(dict.fromkeys(layer for _, layer in names))
    if len(names) == 1:
        return names[0][0]
    shown = ", ".join(layers[:_MOST_LAYERS]) + (f" and {len(layers) - _MOST_LAYERS} more" if layers[_MOST_LAYERS:] else "")
    return shown if len(layers) == len(names) else f"{counted(len(names), 'node')} in {shown}"


_MOST_LAYERS: Final = 8
_WITHOUT_DROPOUT: Final = hints.Hint(hints.step("optimize", passes="default,remove_dropout"), " switches dropout off")


class _Exporter:
    """An export: the emitter, the functions of the graph, and the refused nodes.

    For a refused node that only computes, `unknown` values stand for the results. If only checks and prints read them, both
    left out of a model, the model does without the node.
    """

    def __init__(self, functions: Mapping[str, Function], size: int) -> None:
        """Begin an export of a graph of `size` nodes."""
        self.emitter = Emitter()
        self.functions = functions
        self.refusals: list[ExportRefusal] = []
        self.is_refused = False
        self.unknown: set[Value] = set()
        self.answers = Answers()
        self.calls: list[str] = []
        self.left = _STEPS + _STEPS_PER_NODE * (size + sum(len(function.body) for function in functions.values()))

    def run(
        self,
        graph: Graph,
        fetches: Sequence[Output | Node],
        feeds: Sequence[Output],
        values: Sequence[Any],
        specs: Sequence[TensorSpec],
    ) -> list[Any]:
        """Emit a plan and return the values of the fetches, where `values` stand for the feeds."""
        inference = infer(graph, dict(zip(feeds, specs)), self.functions, answers=self.answers)
        plan = compile_plan(graph, fetches, feeds)
        if plan.needs_dataflow:
            raise UnimplementedError("a loop or conditional does not have the form of tf.while_loop or tf.cond")
        frame = _Frame(self, graph, inference.specs, plan.slots)
        for slot, value in zip(plan.feeds, values):
            frame.values[slot] = value
        frame.steps(plan.steps)
        return [frame.values[slot] for slot in plan.fetches if slot is not None]

    def call(self, reference: FuncRef, values: Sequence[Any], specs: Sequence[TensorSpec]) -> list[Any]:
        """Emit a function's body in the place of the call and return the results."""
        function = self.called(reference)
        if function is None or len(function.args) != len(values):
            raise UnimplementedError(f"the graph has no function '{reference.name}' with {counted(len(values), 'argument')}")
        if reference.name in self.calls:
            raise UnimplementedError(f"function '{reference.name}' calls itself")
        function = with_attrs(function, reference)
        self.spend(_STEPS_PER_CALL)
        self.calls.append(reference.name)
        try:
            return self.run(function.body, function.results, [arg.output() for arg in function.args], values, specs)
        finally:
            self.calls.pop()

    def called(self, reference: FuncRef) -> Function | None:
        return function_called(self.functions, reference.name)

    def spend(self, steps: int) -> None:
        """Count steps of the export; UnimplementedError where they are far more than the graph has nodes."""
        self.left -= steps
        if self.left < 0:
            problem = f"{self.emitter.source}: inlining all function calls makes the model far larger than the graph"
            raise ModelTooLargeError(problem, hint=EXPORT_A_PART)

    def refuse(self, refusal: ExportRefusal) -> None:
        self.refusals.append(refusal)
        self.is_refused = True

    def place(self, node: Node) -> str:
        """Return the path of a node: the functions being called, and the name."""
        return "/".join([*self.calls, node.name])


class _Frame:
    """The slots of a plan or loop: values, and the conditions under which they are alive."""

    def __init__(self, exporter: _Exporter, graph: Graph, specs: Mapping[Output, TensorSpec], slots: int) -> None:
        self.exporter = exporter
        self.graph = graph
        self.emitter = exporter.emitter
        self.specs = specs
        self.values: list[Any] = [None] * slots
        self.conditions: list[Condition] = [frozenset()] * slots
        self.arity: dict[Value, int] = {}

    def steps(self, steps: Sequence[Step]) -> None:
        self.exporter.spend(len(steps))
        for step in steps:
            self.emitter.source = self.exporter.place(step.node)
            self.step(step)

    def step(self, step: Step) -> None:
        """Emit a step; a refused node becomes a value with nothing but a spec."""
        node = step.node
        condition = Condition().union(*(self.conditions[slot] for slot in (*step.inputs, *step.controls)))
        if node.op in MERGE:
            self.merge(step)
            return
        if node.op in SWITCH:
            self.switch(step, condition)
            return
        results: Sequence[Any] = [None] * len(step.outputs)
        if not is_contradiction(condition):
            try:
                results = self.results(step)
            except ModelTooLargeError:
                raise
            except TfgError as error:
                if not isinstance(error, InternalError):
                    self.refuse(node, error)
                elif not self.exporter.unknown:
                    raise  # else it trips over what stands for a node that was refused
                # The export goes on, so that one error lists all nodes that ONNX does not get.
                results = [self.unknown(Output(node, i)) for i in range(len(node.output_dtypes))]
        for i, slot in enumerate(step.outputs):
            self.values[slot], self.conditions[slot] = results[i] if i < len(results) else None, condition

    def refuse(self, node: Node, error: TfgError) -> None:
        """Note a refusal, final for a node with side effects."""
        self.exporter.refusals.append(ExportRefusal(self.exporter.place(node), node.op, error.message))
        self.exporter.is_refused |= node.op not in MERGE and impurity(self.graph, node) is not None

    def unknown(self, output: Output) -> Value:
        spec = self.specs[output]
        value = self.emitter.fresh(carrier(spec.dtype), spec.shape)
        self.exporter.unknown.update((value, *(value.parts or ())))
        return value

    def results(self, step: Step) -> Sequence[Any]:
        values = [self.values[slot] for slot in step.inputs]
        if isinstance(step, Loop):
            return self.loop(step, values)
        kind = call_kind(self.exporter.functions, step.node)
        first = len(self.emitter.block.operations)
        outputs = self.call(step.node, kind, values) if kind is not None else self.lowered(step.node, values)
        return [self.refined(Output(step.node, i), value, first) for i, value in enumerate(outputs)]

    def refined(self, output: Output, value: Any, first: int = 0) -> Any:
        """Return a result in the dtype that the node declares, with the inferred spec.

        The node's operations are those from number `first` of the block.
        """
        spec = self.specs[output]
        if not isinstance(value, Value) or value.is_stacked:
            return value
        if spec.dtype in _HANDLES:
            return self.emitter.stacked(value)
        # Sizes and places are int64 in ONNX, and often int32 in TensorFlow.
        result = self.emitter.cast(value, carrier(spec.dtype))
        if result.array is None:
            shape = _merged(result.shape, spec.shape)
            # What a branch learns about a value from outside, as by EnsureShape, is not true in the other branches.
            if str(shape) != str(result.shape) and not self.has_made(result, first):
                if result.parts is not None:
                    return result
                result = self.emitter.Identity(result)
            result.spec = dataclasses.replace(spec, dtype=carrier(spec.dtype), shape=shape)
            for part in result.parts or ():
                part.spec = TensorSpec(part.dtype, result.shape)
        return result

    def has_made(self, value: Value, first: int) -> bool:
        """Return True if an operation of the block, from number `first` on, gives the value or its first part."""
        sought = value.parts[0] if value.parts else value
        # From the end: most nodes give what their last operation gives.
        return any(sought in operation.outputs for operation in reversed(self.emitter.block.operations[first:]))

    def lowered(self, node: Node, values: Sequence[Any]) -> Sequence[Any]:
        """Return a node's outputs: constants where all inputs are constants, else the values that the lowering emits."""
        if node.is_constant:
            self.require_types(node)
            return [self.emitter.constant(node.constant_value(), carrier(node.output_dtypes[0]))]
        known = self.known(node, values)
        if known is not None:
            return known
        self.require_types(node)
        lowering = onnx_lowering(node.op)
        if lowering is None:
            reason = impurity(self.graph, node)
            raise UnimplementedError("it has no lowering" if reason is None else reason)
        if isinstance(lowering, Composition):
            return self.composed(node, lowering, values)
        return self.emitted(node, lowering, values)

    def composed(self, node: Node, composition: Composition, values: Sequence[Any]) -> Sequence[Any]:
        """Emit the parts of a node, whose places are in the node's own."""
        specs = [self.specs[value] for value in node.inputs]
        graph, inputs, outputs = parts_of(node, composition, [spec.shape for spec in specs])
        self.exporter.calls.append(node.name)
        try:
            return self.exporter.run(graph, outputs, inputs, values, specs)
        finally:
            self.exporter.calls.pop()

    def require_types(self, node: Node) -> None:
        for dtype in (*node.output_dtypes, *(value.base_dtype for value in node.inputs)):
            if carrier(dtype) not in _TYPES and dtype.base not in _HANDLES:
                raise UnimplementedError(f"ONNX has no tensors of {dtype.base}")

    def known(self, node: Node, values: Sequence[Any]) -> Sequence[Value] | None:
        """Return the values that inference knows, or that the kernel makes of constants; None where they are not known.

        What is computed from quantized constants is left to the model, so that they stay small.
        """
        if any(value.base_dtype.is_quantized for value in node.inputs) and onnx_lowering(node.op) is not None:
            return None
        specs = [self.specs[Output(node, i)] for i in range(len(node.output_dtypes))]
        if not specs or any(carrier(spec.dtype) not in _TYPES for spec in specs):
            return None
        arrays = [spec.value for spec in specs if spec.value is not None and spec.value.dtype != object]
        if len(arrays) == len(specs):
            return [self.emitter.constant(array, carrier(spec.dtype)) for array, spec in zip(arrays, specs)]
        known_arrays = [value.array for value in values if isinstance(value, Value) and value.array is not None]
        if len(known_arrays) < len(values) or not self.may_fold(node):
            return None
        # Fill, Tile and Range make large constants of small ones: folded, they would make the file large.
        allowed = max([_FOLDED, *(array.size for array in known_arrays)])
        if known_arrays and any(math.prod(spec.shape.known()) > allowed for spec in specs if spec.shape.is_known):
            return None
        try:
            arrays = folded_values(node, known_arrays, _BYTES_PER_ELEMENT * allowed)
        except (UnimplementedError, DeadlineExceededError, ResourceExhaustedError):
            return None  # it is left to the model
        return [self.emitter.constant(array, carrier(spec.dtype)) for array, spec in zip(arrays, specs)]

    def may_fold(self, node: Node) -> bool:
        """Return True for a pure node whose kernel takes little time; quantized weights stay small."""
        if (
            any(value.base_dtype.is_quantized for value in node.inputs)
            or not has_kernel(node.op)
            or impurity(self.graph, node) is not None
        ):
            return False
        return flops_of(node, [self.specs[value] for value in node.inputs]) <= FOLD_FLOPS

    def emitted(self, node: Node, lowering: Callable[..., Any], values: Sequence[Any]) -> Sequence[Any]:
        """Emit the lowering of a node's op and return the outputs."""
        definition = require_op_def(node)
        if has_misplaced_list(node, definition):
            raise UnimplementedError("ONNX has no tensors of lists")
        outputs = [self.specs.get(Output(node, i)) for i in range(len(node.output_dtypes))]
        keywords = bind_attrs(node, lowering, outputs)

        def call(*inputs: Any) -> Any:
            return lowering(self.emitter, *inputs, **keywords)

        try:
            with faults_of(node, "lowering to ONNX"):
                result = group_inputs(definition, node, call, input_bundles(lowering, True))(*values)
        except UndecidedAxisError as error:
            return self.along_each(node, lowering, values, error)
        return result if isinstance(result, (tuple, list)) else () if result is None else [result]

    def along_each(
        self, node: Node, lowering: Callable[..., Any], values: Sequence[Any], undecided: UndecidedAxisError
    ) -> Sequence[Any]:
        """Emit a node's lowering for each axis that the node may have, in branches."""
        g, axis = self.emitter, undecided.value

        def along(place: int) -> Callable[[], Sequence[Any]]:
            constant = g.constant(np.full(axis.shape.known(), place), axis.dtype)
            return lambda: self.emitted(node, lowering, [constant if value is axis else value for value in values])

        index = next((i for i, value in enumerate(values) if value is axis), None)
        places = range(0 if index is None else undecided.rank)
        possible = [place for place in places if self.allows(node, index, np.full(axis.shape.known(), place))]
        if not possible:
            raise undecided
        # `branches` maps an axis to its branch. An axis that shapes rule out never comes, and may have any branch.
        branches = np.zeros(undecided.rank, np.int64)
        branches[possible] = range(len(possible))
        number = g.reshape(g.cast(axis, dtypes.int64), [])
        number = g.Where(g.Less(number, 0), g.Add(number, undecided.rank), number)
        return g.choose(g.Gather(branches, number), [along(place) for place in possible])

    def allows(self, node: Node, index: int | None, axis: Array) -> bool:
        """Return False for an axis, the input at `index`, that the other inputs of a node do not fit."""
        specs = [
            dataclasses.replace(self.specs[value], value=axis) if i == index else self.specs[value]
            for i, value in enumerate(node.inputs)
        ]
        try:
            call_shape_function(node, shape_function(node.op), specs)
        except InvalidArgumentError:
            return False
        return True

    # Functions.

    def call(self, node: Node, kind: CallKind, values: Sequence[Any]) -> Sequence[Any]:
        """Emit a call, If, Case or While and return the results."""
        references, arguments = kind.references(node), kind.arguments(values)
        specs = kind.arguments([self.specs[value] for value in node.inputs])
        call = self.exporter.call
        if kind.form is Form.CALL and not kind.before:
            return call(references[0], arguments, specs)
        if kind.form is Form.BRANCH:
            branches = [lambda one=one: call(one, arguments, specs) for one in references]
            if len(kind.functions) > 1:
                # An If names the function for true first; as numbers, false is 0 and comes first.
                return self.emitter.choose(self.emitter.truth(values[0]), branches[::-1])
            return self.emitter.choose(values[0], branches)
        if kind.form is Form.LOOP and not kind.counters:
            return self.while_(references[0], references[1], arguments, specs)
        if kind.form is Form.LOOP:
            return self.for_(references[0], values[: kind.before], arguments, specs)
        raise UnimplementedError(f"a node that {kind.form.value} has no lowering")

    def for_(self, body: FuncRef, bounds: Sequence[Value], values: Sequence[Any], specs: Sequence[TensorSpec]) -> list[Any]:
        """Emit a loop over the numbers from a start to a limit by a step; the body takes the number before all other
        values.
        """
        g, (start, limit, step) = self.emitter, bounds
        counter = TensorSpec(start.dtype, SCALAR)
        values, carried = self.carried(body, values, specs, (counter,))

        def goes_on(number: Value) -> Value:
            # The sign of the step may be known in the run only.
            result: Value = g.Where(g.Greater(step, 0), g.Less(number, limit), g.Greater(number, limit))
            return result

        def advance(current: Sequence[Any]) -> tuple[Value, Sequence[Any]]:
            after = self.exporter.call(body, current, [counter, *carried])
            number = g.Add(current[0], step)
            return goes_on(number), [number, *after]

        return emit_loop(g, goes_on(start), [start, *values], advance, passed_on=returned(self.exporter.called(body)))[1:]

    def carried(
        self, body: FuncRef, values: Sequence[Any], specs: Sequence[TensorSpec], counter: Sequence[TensorSpec] = ()
    ) -> tuple[list[Any], list[TensorSpec]]:
        """Return the values that enter a loop, and their specs in every iteration."""
        # The values are those of the first iteration alone.
        entering = [dataclasses.replace(spec, value=None) for spec in specs]
        known = loop_specs(self.exporter.functions, body, entering, counter, self.exporter.answers)
        inner = known or [TensorSpec(spec.dtype) for spec in specs]
        return [self.entering(value, spec) for value, spec in zip(values, inner)], inner

    def while_(self, cond: FuncRef, body: FuncRef, values: Sequence[Any], specs: Sequence[TensorSpec]) -> list[Any]:
        call = self.exporter.call
        values, carried = self.carried(body, values, specs)

        def condition(current: Sequence[Any]) -> Value:
            return self.emitter.truth(call(cond, current, carried)[0])

        def advance(current: Sequence[Any]) -> tuple[Value, Sequence[Any]]:
            # ONNX's Loop takes the next condition from the end of the body, so that a While's condition is emitted twice:
            # here, and before the loop for the first iteration.
            after = call(body, current, carried)
            return condition(after), after

        return emit_loop(self.emitter, condition(values), values, advance, passed_on=returned(self.exporter.called(body)))

    def entering(self, value: Any, spec: TensorSpec) -> Any:
        """Return a value that enters a loop; a list with the rank that the elements have in the loop."""
        is_list = isinstance(value, Value) and value.is_stacked and spec.handle
        return self.emitter.of_rank(value, spec.handle[0].shape) if is_list else value

    # V1 control flow.

    def switch(self, step: Step, condition: Condition) -> None:
        """Make every output the data, alive on the output's branch only; numbers beyond the branches go to the last."""
        data, predicate = (self.values[slot] for slot in step.inputs[:2])
        count = len(step.node.output_dtypes)
        taken = None
        if not is_contradiction(condition):
            self.arity[predicate] = count
            if predicate.array is not None:
                number = int(predicate.array.reshape(-1)[0])
                taken = number if 0 <= number < count else count - 1
        for i, slot in enumerate(step.outputs):
            self.values[slot] = data
            if len(condition) > DEEPEST:
                raise too_deep(self.exporter.place(step.node))
            self.conditions[slot] = on_branch(condition, predicate, i, taken) if i < count else condition

    def merge(self, step: Step) -> None:
        """Set the outputs to the inputs that are alive, chosen by the predicates in which their branches differ."""
        slots = [slot for slot in step.inputs if not is_contradiction(self.conditions[slot])]
        entries = [(self.values[slot], self.conditions[slot]) for slot in slots]
        numbers = [step.inputs.index(slot) for slot in slots]
        result: Sequence[Any] = (None, None)
        condition = self.conditions[step.inputs[0]]
        if entries:
            try:
                result = merged(self.emitter, entries, numbers, self.arity)
                condition = joined(result[1], [alive for _, alive in entries], self.arity)
            except TfgError as error:
                self.refuse(step.node, error)
                result, condition = [self.unknown(Output(step.node, i)) for i in range(2)], Condition()
        for i, slot in enumerate(step.outputs[:2]):
            self.values[slot] = self.refined(Output(step.node, i), result[i])
            self.conditions[slot] = condition

    def loop(self, step: Loop, values: Sequence[Any]) -> list[Any]:
        """Return the exits of a V1 loop: the head decides, before the first iteration and at the end of each."""
        sources, targets = [a for a, _ in step.carried], [b for _, b in step.carried]
        initial = dict(zip(step.entries, values))

        def started(current: Sequence[Any]) -> _Frame:
            frame = _Frame(self.exporter, self.graph, self.specs, step.slots)
            for slot, value in {**initial, **dict(zip(targets, current))}.items():
                frame.values[slot] = value
            frame.steps(step.head)
            return frame

        def advance(current: Sequence[Any]) -> tuple[Value, Sequence[Any]]:
            frame = started(current)
            frame.steps(step.body)
            after = [frame.values[slot] for slot in sources]
            return self.emitter.truth(started(after).values[step.condition]), after

        entering = [initial[slot] for slot in targets]
        first = self.emitter.truth(started(entering).values[step.condition])
        # The head is emitted once more, because exits leave a loop after the head that found the condition false.
        last = started(emit_loop(self.emitter, first, entering, advance, values, handed_on(step)))
        last.steps(step.tail)
        return [last.values[slot] for slot in step.exits]


def _merged(a: Shape, b: Shape) -> Shape:
    try:
        return merge_shapes(b, a)
    except TfgError:
        return b


# Loops: the values that an iteration changes, and the invariant part of their shapes.

Advance: TypeAlias = "Callable[[Sequence[Any]], tuple[Value, Sequence[Any]]]"
"""A function that emits an iteration: from the entering values to the next condition and the values handed on."""


def emit_loop(
    g: Emitter,
    condition: Value,
    values: Sequence[Any],
    advance: Advance,
    around: Sequence[Any] = (),
    passed_on: Set[int] = frozenset(),
) -> list[Any]:
    """Emit a loop and return `values` after the condition no longer holds.

    Values that an iteration hands on unchanged stay outside, as do values `around` the loop that the body reads. The body
    is emitted until the shapes of the entering values hold in every iteration. `passed_on` are positions of values that
    each iteration hands on: the first emission reads constants among these values, for each emission repeats the loops inside.
    """
    # A loop that never runs must not be emitted, as its body may be for other shapes than the values have.
    if condition.array is not None and not condition.array.any():
        return list(values)
    constants = {i for i in passed_on if isinstance(values[i], Value) and values[i].array is not None}
    shapes = {i: value.shape for i, value in enumerate(values) if isinstance(value, Value) and i not in constants}
    outside = [value.shape for value in (*values, *around) if isinstance(value, Value)]
    constant = {name for shape in outside for dim in shape.dims or () if isinstance(dim, Dim) for name in dim.unnamed}
    # The body is emitted again, for other shapes, until they hold: shapes only become less definite, so that this ends.
    source = g.source
    while True:
        inner = {i: g.fresh(values[i].dtype, shape, values[i]) for i, shape in shapes.items()}
        with g.inside() as block:
            again, after = advance([inner.get(i, value) for i, value in enumerate(values)])
        g.source = source
        values, ranked = _with_rank(g, inner, values, after), values
        if values != ranked:
            shapes = {i: values[i].shape for i in shapes}
            continue
        changed = _changed(g, inner, values, after)
        if all(changed.get(i, shape) == shape and (i in changed or values[i].array is None) for i, shape in shapes.items()):
            _read_outside(g, block, [(values[i], inner.pop(i)) for i in shapes.keys() - changed.keys()])
            _join_elements(g, inner, after, constant)
            block.inputs = list(inner.values())
            block.outputs = [again, *(after[i] for i in inner)]
            results = g.loop(condition, [values[i] for i in inner], block)
            left = dict(zip(inner, results))
            return [left.get(i, value) for i, value in enumerate(values)]
        shapes = changed


def _read_outside(g: Emitter, block: Block, copies: Sequence[tuple[Value, Value]]) -> None:
    """Let a body read unchanged values outside the loop, by an Identity that the cleanup removes."""
    pairs = ((flat(g, [value]), flat(g, [copy])) for value, copy in copies)
    block.operations[:0] = [Operation("Identity", [a], [b]) for parts in pairs for a, b in zip(*parts)]


def handed_on(step: Loop) -> set[int]:
    """Return the positions in `carried` of the values that each iteration of a V1 loop hands on unchanged."""
    # Values are followed through Identity, Switch and the like, which hand the same value on.
    origins = {target: target for _, target in step.carried}
    for each in (*step.head, *step.body):
        if hands_in(each.node) and each.inputs[0] in origins:
            origins |= dict.fromkeys(each.outputs, origins[each.inputs[0]])
    return {i for i, (source, target) in enumerate(step.carried) if origins.get(source) == target}


def returned(body: Function | None) -> set[int]:
    """Return the positions of the arguments that the body of a While or For returns unchanged."""
    if body is None:
        return set()
    arguments = unchanged(body)
    return {i for i, argument in enumerate(body.args) if argument in arguments}


def _with_rank(g: Emitter, inner: dict[int, Value], values: Sequence[Any], after: Sequence[Any]) -> list[Any]:
    """Return the entering values; lists with elements of unknown rank get the rank that the first iteration writes."""
    written = {i: after[i].elements.written for i, value in inner.items() if value.is_stacked and value.rank == 1}
    return [g.of_rank(value, written[i]) if written.get(i) is not None else value for i, value in enumerate(values)]


def _changed(g: Emitter, inner: dict[int, Value], before: Sequence[Any], after: Sequence[Any]) -> dict[int, Shape]:
    """Return shapes of the changed values that hold before and after an iteration."""
    shapes = {}
    for i, value in enumerate(after):
        if i not in inner and value is not before[i]:
            g.refuse("an iteration passes on a value that is not a tensor")
        if i in inner and value is not inner[i]:
            relaxed = relax_shapes(inner[i].shape, value.shape)
            shapes[i] = inner[i].shape if str(relaxed) == str(inner[i].shape) else relaxed
            if inner[i].dtype is not value.dtype:
                g.refuse(f"an iteration passes on {value.dtype} instead of {inner[i].dtype}")
    return shapes


def _join_elements(g: Emitter, inner: dict[int, Value], after: Sequence[Any], constant: Set[str]) -> None:
    """Record for each list the shape of the written elements; refuse unless all iterations write the same sizes.

    Such sizes are numbers, sizes of the model's inputs, and `constant` symbols that exist since before the loop.
    """
    for i, value in inner.items():
        if not value.is_stacked:
            continue
        written = after[i].elements.written
        if written is not None and written != value.elements.written and not _is_constant(written, constant):
            g.refuse("the elements of a list may differ in size from iteration to iteration")
        value.elements = value.elements.beside(after[i].elements)


def _is_constant(shape: Shape, constant: Set[str]) -> bool:
    dims = [dim for dim in shape.dims or () if isinstance(dim, Dim)]
    return shape.dims is not None and all(POSITION not in dim.symbols and constant >= set(dim.unnamed) for dim in dims)


# V1 conditionals: a Merge takes the one input that is alive, on the branch that is taken.

Condition = frozenset[tuple[Value, int]]
"""Predicates, and the branch of each on which a value is alive."""


def merged(
    g: Emitter, entries: Sequence[tuple[Value, Condition]], numbers: Sequence[int], arity: Mapping[Value, int]
) -> list[Value]:
    """Return the value of the input that is alive, of several with conditions, and the input's number.

    `arity` has the number of branches of each predicate.
    """
    if len(entries) == 1:
        return [entries[0][0], g.constant(np.int32(numbers[0]))]
    if not all(is_branch_output(value) for value, _ in entries):
        g.refuse("it chooses between values that are not tensors")
    # Conditions that all inputs share are those of the Merge itself.
    common = frozenset.intersection(*(condition for _, condition in entries))
    predicate, branches = _divided(g, [condition - common for _, condition in entries])
    order = [next((i for i, taken in enumerate(branches) if taken == branch), None) for branch in range(arity[predicate])]
    present = [i if i is not None else order[-1] or 0 for i in order]

    def emit(place: int) -> Any:
        return lambda: [entries[place][0], g.constant(np.int32(numbers[place]))]

    return g.choose(predicate, [emit(place) for place in present])


def _divided(g: Emitter, conditions: Sequence[Condition]) -> tuple[Value, list[int]]:
    """Return the predicate in which the conditions differ, and the branch of each condition."""
    for predicate, _ in conditions[0]:
        branches = [branch_of(condition, predicate) for condition in conditions]
        numbers = [branch for branch in branches if branch is not None]
        if len(numbers) == len(branches) == len(set(numbers)):
            return predicate, numbers
    g.refuse("its inputs are not the branches of one conditional")


# Lists among the inputs of nodes: in a model a list is the tensor of its elements, which few ops may take for the list.


def has_misplaced_list(node: Node, definition: OpDef) -> bool:
    """Return True for a list as an input for tensors of any dtype: the lowering would move the elements of the list."""
    if has_fact(node.op, "of_lists") or has_fact(node.op, "sum_of_inputs"):
        return False
    if has_fact(node.op, "forwarding") or has_fact(node.op, "passes_each_on"):
        return False
    open_args = [arg for arg in definition.inputs if arg.dtype is None]
    return any(dtypes.variant in definition.arg_dtypes(arg, node.attrs) for arg in open_args)
