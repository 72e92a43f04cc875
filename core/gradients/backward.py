"""The backward pass: nodes added to a graph, op by op, from the gradient functions that the families register.

A caller may give all nodes of an op another gradient.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias, TypeVar

from ..building.gradbuilder import NAMED, Gradient, GradientBuilder, Gradients, IndexedSlices, gradient_of
from ..graph.call_kinds import Form, call_kind, call_op, check_calls, check_own_calls
from ..graph.callers import gradient_name
from ..graph.deadness import Deadness, LoopVariable, loop_variables
from ..graph.frames import ENTER, MERGE, Frame, source_of
from ..graph.graph import Graph, GraphLike, Node, Output, as_graph
from ..graph.instantiation import nodes_to_change
from ..graph.saved_gradients import Capture, RegisteredGradient
from ..graph.traversal import reachable
from ..graph.variable_nodes import variable
from ..inference.error_context import faults_of
from ..registry import registry
from ..registry.catalog import CATALOG
from ..registry.op_facts import has_fact
from ..support import dataclasses
from ..support.arguments import checked, expect
from ..support.errors import InvalidArgumentError, NotFoundError, UnimplementedError
from ..support.hints import Blank, Hint, command, option
from ..support.words import counted
from ..types import dtypes
from ..types.tensors import FuncRef
from . import functional_ops
from .function_parts import DifferentiatedFunctions, dtype_of, find_function
from .stack_lists import POP, use_lists_for_stacks
from .sweep import Call, Sweep
from .swept_values import alike, branches_of, close_variable, enter_and_merge, gradient_dtype, map_parts, zeros_for

_Made = TypeVar("_Made", Output, IndexedSlices)

# Gradients of V1 conditionals: a Switch on the way forward is a Merge on the way back, and the other way round.


def switch_gradient(backward: Sweep, node: Node, grads: Gradients) -> Gradients:
    """Return the gradient from the branch that was taken; a branch without a gradient contributes zeros."""
    g = backward.builder
    dtype = gradient_dtype(next(grad for grad in grads if grad is not None))
    # The Merge needs a value from whichever branch runs: from the other it would be dead, and so would all behind it.
    branches = [zeros_for(g, node.output(i), dtype) if grad is None else grad for i, grad in enumerate(grads)]
    return [map_parts(lambda *tensors: g.Merge(tensors)[0], *alike([g, g], branches)), None]


def merge_gradient(backward: Sweep, node: Node, grads: Gradients) -> Gradients:
    """Return the gradient, sent to the input that came from the branch taken."""
    g = backward.builder
    grad = grads[0]
    if grad is None:
        return [None] * len(node.inputs)
    predicate, branch_of_input = merge_predicate(node, backward.loops.deadness)
    return [map_parts(lambda part, branch=branch: g.Switch(part, predicate)[branch], grad) for branch in branch_of_input]


def merge_predicate(merge: Node, deadness: Deadness) -> tuple[Output, tuple[int, int]]:
    """Return the predicate of the branches that a cond's Merge joins, and the branch of each of the two inputs."""
    if len(merge.inputs) == 2:
        first, second = merge.inputs
        other = deadness.of_value(second)
        for predicate, branch in branches_of(first, deadness):
            if (predicate, 1 - branch) in other:
                return predicate, (branch, 1 - branch)
    raise UnimplementedError("its inputs are not the two branches of one predicate", node=merge.name, op=merge.op)


def add_gradients(
    graph: Graph,
    ys: Sequence[Output],
    xs: Sequence[Output],
    grad_ys: Sequence[Output | None] | None = None,
    stop_gradients: Iterable[Output] = (),
    *,
    name: str = "gradients",
    colocate: bool = False,
    functions: DifferentiatedFunctions | None = None,
    call: Call | None = None,
    slices_of_loops: bool = False,
) -> list[Gradient]:
    """Add the gradients of the sum of ys with respect to xs to the graph itself, and return them; sparse gradients stay
    IndexedSlices.

    With `slices_of_loops` so do those of what a V1 loop reads, as in TensorFlow: the loop collects rows, whose number grows
    with each iteration. By default it sums tensors, which engines can compile.

    `functions` are functions of the same library that were differentiated before; `call` is the call of the graph where the
    graph is a function's body.
    """
    graph.check()
    (check_calls if functions is None else check_own_calls)(graph)
    # Only gradients of gradients meet stacks, so most graphs are not searched further.
    if any(node.op in POP for node in reachable(y.node for y in ys)):
        use_lists_for_stacks(graph)
    builder = GradientBuilder(graph)
    backward = Backward(builder, ys, xs, stop_gradients, colocate, functions=functions, call=call)
    backward.loops.keeps_slices = slices_of_loops
    with builder.name_scope(name) as scope:
        backward.scope = scope
        builder.sweep = scope.removesuffix("/")
        backward.seed(ys, grad_ys)
        backward.sweep()
        return [backward.total(x) for x in xs]


class Backward(Sweep):
    """A sweep that knows how to take back nodes, calls and loops."""

    def node_gradient(self, node: Node, grads: Gradients) -> Gradients:
        """Return the gradients of a node's inputs, by the named gradient or the op's; UnimplementedError if there is
        none.
        """
        named = gradient_name(node)
        if named in self.graph.registered_gradients:
            return registered_gradient(self, node, grads, self.graph.registered_gradients[named])
        special = self._whole_gradient(node)
        if special is not None and (not named or special is functional_ops.call_gradient):
            # The gradient that a call names is that of its function, in a program that is gone.
            return special(self, node, grads)
        function = gradient_of(node)
        if named and not (callable(function) or function is registry.NOT_DIFFERENTIABLE):
            raise missing_gradient(node, named)
        if function is registry.NOT_DIFFERENTIABLE:
            return [None] * len(node.inputs)
        if not callable(function):
            raise UnimplementedError(
                f"op '{node.op}' on the path to the variables has no gradient:  {' -> '.join(self.path(node))}",
                node=node.name,
                op=node.op,
                hint=f'register one in an op library, `@tfg.core.registry.registry.gradient("{node.op}")`, '
                "or stop the gradient there",
            )
        if node.is_identity and isinstance(grads[0], IndexedSlices):
            return grads  # rows of an embedding stay rows behind the read of a V1 variable
        dense = [self.dense_or_zeros(node.output(i), grad) for i, grad in enumerate(grads)]
        with faults_of(node, "gradient function"):
            result: Gradients = function(self.builder, node, *dense)
        if len(result) != len(node.inputs):
            raise InvalidArgumentError(
                f"its gradient returns {counted(len(result), 'value')} for {counted(len(node.inputs), 'input')}",
                node=node.name,
                op=node.op,
            )
        return result

    def _whole_gradient(self, node: Node) -> _WholeGradient | None:
        """Return the gradient function of a conditional or a call; None for other nodes, and for calls without a declared
        gradient.
        """
        kind = call_kind(self.graph.functions, node)
        if kind is None:
            return CONDITIONALS.get(node.op)
        is_declared = not kind.functions or registry.gradient_function(node.op) is registry.BY_SWEEP
        return CALLS[kind.form] if is_declared else None

    def loop_gradient(self, loop: Frame, grads: Gradients) -> Gradients:
        """Return the gradients of the values that enter a V1 loop, from the gradients of the values that leave."""
        return _LoopGradient(self, loop).build(grads)

    def in_function(
        self, body: Graph, ys: Sequence[Output], xs: Sequence[Output], grad_ys: Sequence[Output | None], call: Call
    ) -> list[Gradient]:
        """Sweep a function's body on its own; ys without a gradient are left out."""
        pairs = [(y, grad) for y, grad in zip(ys, grad_ys) if grad is not None]
        arriving = [grad for _, grad in pairs]
        return add_gradients(body, [y for y, _ in pairs], xs, arriving, functions=self.functions, call=call)


# Gradients that need the whole sweep, not only the node: control flow and calls.
_WholeGradient: TypeAlias = Callable[[Sweep, Node, Gradients], Gradients]
CONDITIONALS: Final[Mapping[str, _WholeGradient]] = {
    "Switch": switch_gradient,
    "RefSwitch": switch_gradient,
    **dict.fromkeys(MERGE, merge_gradient),
}
CALLS: Final[Mapping[Form, _WholeGradient]] = {
    Form.CALL: functional_ops.call_gradient,
    Form.BRANCH: functional_ops.branch_gradient,
    Form.LOOP: functional_ops.while_gradient,
}


# Gradients that nodes name themselves: functions saved with the graph (tf.custom_gradient) or registered for a name.


def registered_gradient(backward: Sweep, node: Node, grads: Gradients, registered: RegisteredGradient) -> Gradients:
    """Call the function that the library registers: zeros if no gradient arrives, then the captured values."""
    g = backward.builder
    if registered.captures is None or registered.returns is None:
        raise UnimplementedError(
            f"its gradient function '{registered.function}' reads tensors that only the SavedModel describes",
            node=node.name,
            op=node.op,
            hint="differentiate the original SavedModel",
        )
    function = find_function(backward.graph, node, FuncRef(registered.function))
    arriving = [
        zeros_for(g, node.output(i), dtype_of(node.output(i))) if grad is None else g.densify(grad)
        for i, grad in enumerate(grads)
    ]
    inputs = [*arriving, *(_captured(backward, node, capture) for capture in registered.captures)]
    if len(inputs) != len(function.args) or len(registered.returns) != len(node.inputs):
        raise InvalidArgumentError(
            f"its gradient '{registered.function}' takes {len(function.args)} values and returns "
            f"{len(registered.returns)}, but must take {len(inputs)} and return {len(node.inputs)}",
            node=node.name,
            op=node.op,
        )
    op = call_op(function.signature.is_stateful)
    results = iter(g.apply(op, inputs, f=FuncRef(registered.function), Tout=[dtype_of(v) for v in function.results]))
    return [next(results) if is_returned else None for is_returned in registered.returns]


def missing_gradient(node: Node, name: str) -> UnimplementedError:
    """Return the error of a node whose named gradient is missing; the derivative of the computation would be a different
    gradient.
    """
    return UnimplementedError(
        f"its gradient '{name}' is neither saved with the graph nor registered",
        node=node.name,
        op=node.op,
        hint=f'register it: `@tfg.core.registry.registry.gradient("{name}")` on a function (g, node, *grads) '
        "in an op library; "
        "TensorFlow saves custom gradients with SaveOptions(experimental_custom_gradients=True)",
    )


def _captured(backward: Sweep, node: Node, capture: Capture) -> Output:
    """Return the value that a gradient captured, as visible in the graph under differentiation."""
    if capture.function is None:
        return _handle(backward, capture.tensor)
    captured = _seen(backward, capture)
    if captured is None:
        raise NotFoundError(
            f"its gradient reads '{capture.tensor}' of function '{capture.function}', which is out of reach",
            node=node.name,
            op=node.op,
        )
    return captured


def _handle(backward: Sweep, name: str) -> Output:
    """Return a handle of a variable of the graph that is run."""
    # The variable belongs to the graph that is run, however deep the function lies in which the gradient is taken.
    root = backward
    while root.call is not None:
        root = root.call.backward
    owner = variable(root.graph, name)
    container = owner.node.attr("container", b"")
    g = backward.builder
    shared_name = owner.name.encode("utf-8", "surrogateescape")
    return g.VarHandleOp(dtype=owner.dtype, shape=owner.shape, container=container, shared_name=shared_name)


def _seen(backward: Sweep, capture: Capture) -> Output | None:
    """Return the tensor itself in its own function; in a called function, the argument that holds the tensor."""
    call = backward.call
    if call is None:
        return None
    if call.function == capture.function:
        return backward.graph.output(capture.tensor)
    outer = _seen(call.backward, capture)
    return None if outer is None else call.argument_of(outer)


# Another gradient for all nodes of an op.


@checked
def override_gradients(graph: GraphLike, overrides: Mapping[str, str]) -> Graph:
    """Return a copy of the graph, of which all nodes of some ops have another gradient, also in functions.

    `overrides` maps ops to gradients: "guided" (only positive gradients pass, by the op's own gradient), "deconv" (positive
    gradients pass, whatever the input was), "straight_through" (all gradients pass), the name of an op, whose gradient
    function takes the place, or a name that an op library registers with `@gradient`. The nodes name the gradient in the
    attribute `_gradient_op_type`, as TensorFlow's `Graph.gradient_override_map` lets them. NotFoundError for an op without a
    node, and for an unknown gradient; InvalidArgumentError if the gradient does not fit the op.

        graph = tfg.override_gradients(tfg.load("frozen.pb"), {"Relu": "guided"})
        graph, (saliency,) = tfg.gradients(graph, "logits", "image")
    """
    result = as_graph(graph).copy()
    expect(str, *overrides, *overrides.values())
    for op, name in overrides.items():
        _require(op, name)
        nodes = list(nodes_to_change(result, lambda node, op=op: node.op == op))  # type: ignore[misc]
        if not nodes:
            raise NotFoundError(f"no node has the op '{op}'", hint=Hint(command("explain"), " lists the ops"))
        for node in nodes:
            node.set_attr("_gradient_op_type", name.encode())
    return result


def _require(op: str, name: str) -> None:
    """Raise the error of a gradient that is unknown, or that does not fit an op."""
    if name not in NAMED:
        if registry.gradient_function(name) is None:
            names = ", ".join(NAMED)
            known = f"the gradients are {names}, the names of ops, and those that an op library registers"
            hint = Hint(known, " (", option("op-library", Blank("FILE")), ")")
            raise NotFoundError(f"no gradient is called '{name}'", hint=hint)
    elif name == "guided":
        if not callable(registry.gradient_function(op)):
            raise InvalidArgumentError(f"op '{op}' has no gradient that could be guided")
    elif op not in CATALOG or not has_fact(op, "elementwise") or len(CATALOG[op].inputs) != 1:
        raise InvalidArgumentError(f"gradient '{name}' is for ops of one input, element by element, and '{op}' is not one")


# Gradients of V1 loops: a second loop that runs as often as the first, back to front. As in TensorFlow, the forward loop
# counts iterations and pushes every value that the backward loop needs onto a stack; the backward loop counts down and pops.
# Values that do not change over the iterations enter the backward loop directly; their gradients are summed over them.


@dataclasses.dataclass(slots=True)
class _IterationCounter:
    """A loop variable that counts: the start of each iteration, the NextIteration, and the Exit."""

    pivot: Node
    next_iteration: Node
    exit: Output


class _LoopGradient:
    """The state of building a backward loop."""

    def __init__(self, backward: Sweep, frame: Frame) -> None:
        self.backward = backward
        self.graph: Graph = backward.graph
        self.g: GradientBuilder = backward.builder
        self.frame = frame
        self.frame_name = f"{backward.scope}{frame.name}"
        self.parallel_iterations = frame.with_op(ENTER)[0].attr("parallel_iterations")
        variables = loop_variables(frame)
        self.variables = [v for v in variables if backward.carries_gradient(v.enter.output())]
        self.handles = [v for v in variables if v.enter.output().dtype is dtypes.resource]
        self._outside: set[Node] = set()
        self._entered: dict[Output, Output] = {}
        self._popped: dict[Output, Output] = {}
        self._pushes: list[Node] = []
        self._pops: list[Node] = []

    def build(self, grads: Gradients) -> list[Gradient]:
        with self.g.name_scope(f"{self.backward.scope}{self.frame.name}_forward/"):
            self.forward_counter = self._forward_counter()
        with self.g.name_scope(f"{self.backward.scope}{self.frame.name}_grad/"):
            return self._build_backward(grads)

    def _build_backward(self, grads: Gradients) -> list[Gradient]:
        before = len(self.graph)
        exits = iter(grads)
        arriving = {v: next(exits) for v in loop_variables(self.frame) if v.exit is not None}
        self.backward_counter = self._backward_counter()
        switches = {v: self._start_variable(self._exit_gradient(v, arriving.get(v))) for v in self.variables}
        invariant = {enter: enter.output() for enter in self.frame.invariants if self.backward.reaches(enter)}
        invariant |= {v.enter: v.body_input for v in self.handles if self.backward.reaches(v.enter)}
        xs = [*(v.body_input for v in self.variables), *invariant.values()]
        seeds = [switch.output(1) for switch in switches.values()]
        body_grads = self.backward.in_loop(self.frame, [v.body_output for v in self.variables], xs, seeds)
        results: dict[Node, Output | IndexedSlices] = {}
        for carried, grad in zip(self.variables, body_grads):
            switch = switches[carried]
            # The variable takes part in no gradient of the body: what arrives at its end is lost, as the body overwrites it.
            value = self.g.densify(grad) if grad is not None else self.g.zeros_like(switch.output(1))
            results[carried.enter] = close_variable(self.g, switch, value)
        for enter, grad in zip(invariant, body_grads[len(self.variables) :]):
            if isinstance(grad, IndexedSlices) and self.backward.loops.keeps_slices:
                results[enter] = self._collect(enter, grad)
            elif grad is not None:
                results[enter] = self._accumulate(enter, self.g.densify(grad))
        for carried in self.handles:
            self._add_exit_gradient(carried, arriving.get(carried), results)
        self._legalise(self.graph.since(before))
        self._order_stack_operations()
        return [results.get(enter) for enter in self.frame.with_op(ENTER)]

    def _exit_gradient(self, variable: LoopVariable, grad: Gradient) -> Output:
        if grad is not None:
            return self._made_outside(lambda: self.g.densify(grad))
        final = variable.exit.output() if variable.exit is not None else variable.enter.inputs[0]
        return self._made_outside(lambda: self.g.zeros_like(final))

    def _add_exit_gradient(self, variable: LoopVariable, grad: Gradient, results: dict[Node, Output | IndexedSlices]) -> None:
        """Add the gradient of reads through a handle that the loop forwards to the entered handle; both must be the same."""
        own = results.get(variable.enter)
        if (own is not None or grad is not None) and source_of(variable.body_output) != variable.body_input:
            raise UnimplementedError(
                "its handle changes from one iteration to the next, so its gradient cannot be summed",
                node=variable.enter.name,
                op=variable.enter.op,
            )
        if grad is not None:
            dense = self._made_outside(lambda: self.g.densify(grad))
            if own is not None:
                dense = self._made_outside(lambda: self.g.AddV2(self.g.densify(own), dense))
            results[variable.enter] = dense

    def _made_outside(self, make: Callable[[], _Made]) -> _Made:
        """Return what belongs, with all nodes made for it, to the graph around the loop."""
        before = len(self.graph)
        value = make()
        self._outside.update(self.graph.since(before))
        return value

    def _forward_counter(self) -> _IterationCounter:
        """Add a counter to the forward loop: 0, 1, 2 ...; the exit is the number of iterations."""
        g = self.g
        with self._placed_beside(self.frame):
            zero = g.constant(0, dtypes.int32, "zero")
        merge = enter_and_merge(g, zero, self.frame.name, self.parallel_iterations)
        switch = g.Switch(merge, self.frame.condition.output())[0].node
        pivot = g.Identity(switch.output(1), name="iteration").node
        with g.control_dependencies([pivot]):
            one = g.constant(1, dtypes.int32, "one")
        back = g.NextIteration(g.AddV2(pivot, one)).node
        self.graph.set_input(merge.node, 1, back.output())
        leaving = g.Exit(switch.output(0))
        self._adopt([merge.node.inputs[0].node, merge.node, switch, pivot, one.node, back.inputs[0].node, back], self.frame)
        self._adopt([zero.node, leaving.node], self.frame.enclosing)
        self.backward.loops.pivots[self.frame] = pivot
        return _IterationCounter(pivot, back, leaving)

    def _backward_counter(self) -> _IterationCounter:
        """Return a counter in the backward loop: from the number of iterations down to 0, and the loop's condition."""
        g = self.g
        merge = enter_and_merge(g, self.forward_counter.exit, self.frame_name, self.parallel_iterations)
        with g.control_dependencies([merge]):
            zero, one = g.constant(0, dtypes.int32, "zero"), g.constant(1, dtypes.int32, "one")
        self.condition = g.LoopCond(g.Greater(merge, zero))
        switch = g.Switch(merge, self.condition)[0].node
        pivot = g.Identity(switch.output(1), name="iteration").node
        back = g.NextIteration(g.Sub(pivot, one)).node
        self.graph.set_input(merge.node, 1, back.output())
        return _IterationCounter(pivot, back, g.Exit(switch.output(0)))

    def _enter(self, value: Output, frame_name: str) -> Output:
        """Return the value in every iteration of a loop."""
        result = self.g.Enter(value, frame_name=frame_name, is_constant=True, parallel_iterations=self.parallel_iterations)
        return result

    def _start_variable(self, initial: Output) -> Node:
        """Add Enter, Merge and Switch of a variable of the backward loop; return the Switch."""
        merge = enter_and_merge(self.g, initial, self.frame_name, self.parallel_iterations)
        node = self.g.Switch(merge, self.condition)[0].node
        return node

    def _accumulate(self, enter: Node, grad: Output) -> Output:
        """Return the sum over all iterations of the gradient of a loop invariant."""
        zeros = zeros_for(self.g, enter.inputs[0], dtype_of(grad))
        self._outside.update([zeros.node, *(value.node for value in zeros.node.inputs)])
        # A loop variable holds the running sum: a list of summands would grow with the iterations.
        switch = self._start_variable(zeros)
        return close_variable(self.g, switch, self.g.AddV2(switch.output(1), grad))

    def _collect(self, enter: Node, grad: IndexedSlices) -> IndexedSlices:
        """Return the rows of the gradient of a loop invariant in all iterations.

        As in TensorFlow, they begin with a zero for row 0: an update of the rows touches row 0, too.
        """
        first = self._made_outside(lambda: self._zero_row(enter.inputs[0], grad))
        values, indices = self._joined(first.values, grad.values), self._joined(first.indices, grad.indices)
        return IndexedSlices(values, indices, first.dense_shape)

    def _joined(self, first: Output, more: Output) -> Output:
        """Return what all iterations append to a tensor."""
        switch = self._start_variable(first)
        return close_variable(self.g, switch, self.g.ConcatV2([switch.output(1), more], 0))

    def _zero_row(self, value: Output, grad: IndexedSlices) -> IndexedSlices:
        """Return slices of the shape of a tensor, or of the variable behind a handle: a zero for row 0."""
        g = self.g
        shape = g.VariableShape(value, out_type="int32") if value.dtype is dtypes.resource else g.shape_of(value)
        row = g.ConcatV2([[1], g.StridedSlice(shape, [1], [0], [1], end_mask=1)], 0)
        dense_shape = shape if dtype_of(grad.dense_shape) is dtypes.int32 else g.Cast(shape, DstT=dtype_of(grad.dense_shape))
        zero = g.constant(0, dtype_of(grad.values))
        return IndexedSlices(g.Fill(row, zero), g.Fill([1], g.constant(0, dtype_of(grad.indices))), dense_shape)

    def _legalise(self, new_nodes: Sequence[Node]) -> None:
        """Bring every outer value that the backward loop's body reads into the loop's frame."""
        inside = {n for n in new_nodes if n not in self._outside and not self.backward.loops.is_adopted(n)}
        for node in list(inside):
            if node.op in ENTER and node.attr("frame_name") == self.frame_name.encode("utf-8", "surrogateescape"):
                continue
            values = [value if value.node in inside else self._bring(value) for value in node.inputs]
            self.graph.set_inputs(node, values)
            # Without an input from the loop the node would belong to the root frame and run once.
            if not node.inputs and not node.control_inputs:
                self.graph.add_control_input(node, self.backward_counter.pivot)

    def _bring(self, value: Output) -> Output:
        """Return the value as visible in the backward loop's body: entered, copied or popped."""
        node = value.node
        if self.backward.loops.frame_of_value(value) is not self.frame:
            return self._entered_value(value)
        if node.op in ENTER and node.attr("is_constant"):
            return self._entered_value(node.inputs[0])
        # A value is saved once, however often the body reads it: each save is a stack with an element for each iteration.
        if value not in self._popped:
            # A constant is the same in each iteration, and cheaper than a stack of copies.
            self._popped[value] = self._copied_constant(node) if node.is_constant else self._saved(value)
        return self._popped[value]

    def _entered_value(self, value: Output) -> Output:
        if value not in self._entered:
            self._entered[value] = self._enter(value, self.frame_name)
        return self._entered[value]

    def _copied_constant(self, node: Node) -> Output:
        with self.g.control_dependencies([self.backward_counter.pivot]):
            return self.g.add(node.op, (), {"value": node.attrs["value"], "dtype": node.attrs["dtype"]}, node.op).output()

    def _saved(self, value: Output) -> Output:
        """Push the value in the forward loop, pop it in the backward loop, each only on the branch where the value is
        alive.
        """
        g = self.g
        branches = self._branches(value)
        with g.name_scope(f"{self.backward.scope}{self.frame.name}_forward/"):
            with self._placed_beside(self.frame):
                size = g.constant(-1, dtypes.int32, "max_size")
                stack = g.StackV2(size, elem_type=value.base_dtype, stack_name="")
            handle = self._enter(stack, self.frame.name)
            inside = [handle.node]
            for predicate, branch in branches:
                switch = g.Switch(handle, predicate)
                # The stack is pushed only on the branch on which the value is alive, or pops would not match pushes.
                handle = switch[branch]
                inside.append(handle.node)
            with g.control_dependencies([self.forward_counter.pivot]):
                push = g.StackPushV2(handle, value)
        self._adopt([size.node, stack.node], self.frame.enclosing)
        self._adopt([*inside, push.node], self.frame)
        self._pushes.append(push.node)
        source = self._entered_value(stack)
        for predicate, branch in branches:
            source = g.Switch(source, self._bring(predicate))[branch]
        with g.control_dependencies([self.backward_counter.pivot]):
            popped = g.StackPopV2(source, elem_type=value.base_dtype)
        self._pops.append(popped.node)
        return popped

    def _branches(self, value: Output) -> list[tuple[Output, int]]:
        """Return the predicates inside this loop that decide whether `value` is alive, outermost first."""
        loops = self.backward.loops
        decisions = branches_of(value, loops.deadness)
        return [(predicate, branch) for predicate, branch in decisions if loops.frame_of_value(predicate) is self.frame]

    def _order_stack_operations(self) -> None:
        """Make each iteration wait for the stack operations of the iteration before."""
        for counter, operations, frame in (
            (self.forward_counter, self._pushes, self.frame),
            (self.backward_counter, self._pops, None),
        ):
            if operations:
                # Iterations may overlap: pushes and pops must keep the order of iterations, or values would meet the wrong
                # ones.
                with self.g.control_dependencies(operations):
                    trigger = self.g.ControlTrigger()
                self.graph.add_control_input(counter.next_iteration, trigger)
                if frame is not None:
                    self._adopt([trigger], frame)

    def _placed_beside(self, frame: Frame) -> contextlib.AbstractContextManager[None]:
        """Return a context for nodes without inputs, made inside but belonging to the outer frame: they wait for the outer
        iteration.
        """
        pivot = self.backward.loops.pivots.get(frame.enclosing)
        return self.g.control_dependencies([pivot] if pivot is not None else [])

    def _adopt(self, nodes: Sequence[Node], frame: Frame | None) -> None:
        """Record that new nodes belong to the forward graph, in `frame`."""
        for node in nodes:
            self.backward.loops.adopt(node, frame)
