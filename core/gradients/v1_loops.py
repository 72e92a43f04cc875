"""Gradients of V1 while loops: a second loop that runs as often as the first, back to front.

As in TensorFlow, the forward loop counts iterations and pushes every value that the backward loop needs onto a stack; the
backward loop counts down and pops. Values that do not change over the iterations enter the backward loop directly, and
their gradients are summed over the iterations.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TypeVar

from ..building.gradbuilder import Gradient, GradientBuilder, Gradients, IndexedSlices
from ..control_flow.copies import source_of
from ..control_flow.frames import ENTER, Frame
from ..control_flow.loop_variables import LoopVariable, loop_variables
from ..graph.graph import Graph, Node, Output
from ..support import dataclasses
from ..support.errors import UnimplementedError
from ..types import dtypes
from .function_parts import dtype_of
from .indexed_slices import zeros_for
from .loop_state import close_variable, enter_and_merge
from .sweep import Sweep
from .switch_branches import branches_of

_Made = TypeVar("_Made", Output, IndexedSlices)


@dataclasses.dataclass(slots=True)
class _IterationCounter:
    """A loop variable that counts: the start of each iteration, the NextIteration, and the Exit."""

    pivot: Node
    next_iteration: Node
    exit: Output


def loop_gradient(backward: Sweep, frame: Frame, grads: Gradients) -> list[Gradient]:
    """Return the gradients of the values that enter the loop, from the gradients of the values that leave."""
    return _LoopGradient(backward, frame).build(grads)


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
        for variable, grad in zip(self.variables, body_grads):
            switch = switches[variable]
            value = self.g.densify(grad) if grad is not None else self.g.zeros_like(switch.output(1))
            results[variable.enter] = close_variable(self.g, switch, value)
        for enter, grad in zip(invariant, body_grads[len(self.variables) :]):
            if isinstance(grad, IndexedSlices) and self.backward.loops.keeps_slices:
                results[enter] = self._collect(enter, grad)
            elif grad is not None:
                results[enter] = self._accumulate(enter, self.g.densify(grad))
        for variable in self.handles:
            self._add_exit_gradient(variable, arriving.get(variable), results)
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
            if not node.inputs and not node.control_inputs:
                self.graph.add_control_input(node, self.backward_counter.pivot)

    def _bring(self, value: Output) -> Output:
        """Return the value as visible in the backward loop's body: entered, copied or popped."""
        node = value.node
        if self.backward.loops.frame_of_value(value) is not self.frame:
            return self._entered_value(value)
        if node.op in ENTER and node.attr("is_constant"):
            return self._entered_value(node.inputs[0])
        if value not in self._popped:
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
