"""The reverse sweep from ys to xs: the nodes between them, the gradients of their outputs, and the order of the visits.

The algorithm is TensorFlow's (tf.gradients): find the nodes between xs and ys, visit them in reverse order from ys, and sum
the gradients of each output with AddN. The sweep visits a node when the gradients of all outputs are complete. Subclasses
differentiate nodes and loops.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ..building.gradbuilder import Gradient, GradientBuilder, Gradients, IndexedSlices
from ..graph.deadness import ALWAYS
from ..graph.frames import NEXT_ITERATION, Frame, source_of
from ..graph.graph import Graph, Node, Output
from ..graph.traversal import closure, forward_predecessors, shortest_path, topological_order
from ..inference.inference import infer
from ..support import dataclasses
from ..support.errors import InvalidArgumentError
from ..types import dtypes
from ..types.shapes import UNKNOWN, Shape, TensorSpec
from .function_parts import DifferentiatedFunctions, dtype_of
from .stack_lists import refuse_other_stacks
from .swept_values import (
    CallScope,
    LoopState,
    carries_gradient,
    element_dtype,
    has_gradient,
    in_order,
    loop_values,
    origins,
    zeros_elsewhere,
)


@dataclasses.dataclass(frozen=True, slots=True)
class Call:
    """The call of a body under differentiation, with the specs of the arguments.

    `function` is the name of the body in the call.
    """

    backward: Sweep
    node: Node
    function: str
    args: Sequence[Node]
    known: Mapping[Output, TensorSpec]

    @property
    def scope(self) -> CallScope:
        """Return the scope of the body's arguments."""
        outer = self.backward.call
        inputs = self.node.inputs[len(self.node.inputs) - len(self.args) :]
        return CallScope(dict(zip(self.args, inputs)), outer.scope if outer is not None else None)

    def argument_of(self, value: Output) -> Output | None:
        """Return the argument that the call gives a value to."""
        source = source_of(value)
        return next((arg.output() for arg, taken in self.scope.arguments.items() if source_of(taken) == source), None)


@dataclasses.dataclass(frozen=True, slots=True)
class Unit:
    """A unit of the sweep: a node, or a V1 loop (`node` is a member) with a gradient of its own."""

    node: Node
    outputs: tuple[Output, ...]
    inputs: tuple[Output, ...]
    gradient: Callable[[Node, Gradients], Gradients] | None = None
    runs_with: Node | None = None
    """A node that runs if the unit does, where that is not `node`."""


class Sweep(abc.ABC):
    """A backward sweep: the gradients that have arrived so far, and the builder that adds nodes."""

    def __init__(
        self,
        builder: GradientBuilder,
        ys: Sequence[Output],
        xs: Sequence[Output],
        stop_gradients: Iterable[Output] = (),
        colocate: bool = False,
        *,
        loop_state: LoopState | None = None,
        enclosing: Frame | None = None,
        functions: DifferentiatedFunctions | None = None,
        call: Call | None = None,
    ) -> None:
        self.functions = functions or DifferentiatedFunctions()
        """The functions that calls, conditionals and loops were given."""
        self.loops = loop_state or LoopState(builder.graph)
        self._enclosing = enclosing
        self.call = call
        self.builder = builder
        self.graph = builder.graph
        self.scope = ""
        self.colocate = colocate
        self._arrived: dict[Output, list[Output | IndexedSlices]] = {}
        self._stops = frozenset(stop_gradients)
        self._xs = dict.fromkeys(xs)
        self._ys = tuple(ys)
        self._specs: Mapping[Output, TensorSpec] | None = None
        builder.shapes = self._shape
        self._between = self._nodes_between()

    def seed(self, ys: Sequence[Output], grad_ys: Sequence[Output | None] | None) -> None:
        """Start the sweep: the given gradients, or 1 for each element, arrive at ys."""
        arriving = grad_ys if grad_ys is not None else [None] * len(ys)
        if len(arriving) != len(ys):
            raise InvalidArgumentError(f"{len(ys)} ys do not match {len(arriving)} grad_ys")
        for i, (y, grad) in enumerate(zip(ys, arriving)):
            _require_differentiable_dtype(y, "y")
            self.add(y, grad if grad is not None else self._ones(y, f"grad_ys_{i}"))

    def add(self, output: Output, grad: Gradient) -> None:
        """Let a gradient arrive at an output."""
        if grad is not None:
            self._arrived.setdefault(output, []).append(grad)

    def sweep(self) -> None:
        """Take all gradients from ys back to xs."""
        # Shapes are inferred before the first backward loop is built, because half of a loop has no shapes.
        if self.loops.has_loops:
            self._infer()
        for unit in reversed(self._units()):
            grads = [self.total(output) for output in unit.outputs]
            # A unit without an arriving gradient adds nothing, so no zeros are built for it.
            if any(grad is not None for grad in grads):
                self._take_back(unit, grads)

    def total(self, output: Output) -> Gradient:
        """Return the sum of everything that arrived at an output, None if nothing did."""
        arrived = self._arrived.get(output, [])
        if len(arrived) > 1:
            # The sum is kept: a later question for the same total must not add another AddN.
            arrived = self._arrived[output] = [self._sum(arrived)]
        return arrived[0] if arrived else None

    @abc.abstractmethod
    def node_gradient(self, node: Node, grads: Gradients) -> Gradients:
        """Return the gradients of a node's inputs, by the named gradient or the op's; UnimplementedError if there is
        none.
        """

    @abc.abstractmethod
    def loop_gradient(self, loop: Frame, grads: Gradients) -> Gradients:
        """Return the gradients of the values that enter a V1 loop, from the gradients of the values that leave."""

    @abc.abstractmethod
    def in_function(
        self, body: Graph, ys: Sequence[Output], xs: Sequence[Output], grad_ys: Sequence[Output | None], call: Call
    ) -> list[Gradient]:
        """Sweep a function's body on its own; ys without a gradient are left out."""

    def in_loop(self, frame: Frame, ys: Sequence[Output], xs: Sequence[Output], grad_ys: Sequence[Output]) -> list[Gradient]:
        """Sweep an iteration of a loop of this graph on its own."""
        inner = type(self)(
            self.builder,
            ys,
            xs,
            loop_state=self.loops,
            enclosing=frame,
            colocate=self.colocate,
            functions=self.functions,
            call=self.call,
        )
        inner._specs, self.builder.shapes = self._specs, self._shape
        inner.scope = f"{self.scope}{frame.name}_grad/"
        inner.seed(ys, grad_ys)
        inner.sweep()
        return [inner.total(x) for x in xs]

    def _nodes_between(self) -> set[Node]:
        """Return the nodes on a path of differentiable edges from an x to a y; paths stop where an iteration ends."""
        forward: set[Node] = set()
        stack = list(self._xs)
        while stack:
            output = stack.pop()
            # Integers and strings end a path, as in TensorFlow: what lies behind them gets None, not zeros.
            if output in self._stops or not self.is_differentiable(output):
                continue
            for consumer in self.graph.consumers(output):
                if consumer not in forward and not self._ends_iteration(consumer):
                    forward.add(consumer)
                    stack += [consumer.output(i) for i in range(len(consumer.output_dtypes))]
        if self._enclosing is None:
            refuse_other_stacks(forward | {x.node for x in self._xs}, self._ys)
        # Only nodes on a way from an x to a y count: a node without a gradient function elsewhere is no error.
        return forward & _needed_for(self._ys, forward)

    def _ends_iteration(self, node: Node) -> bool:
        """Return True for the NextIterations of the loop that this sweep differentiates an iteration of."""
        return self._enclosing is not None and node.op in NEXT_ITERATION and self.loops.frame_of(node) is self._enclosing

    def reaches(self, node: Node) -> bool:
        """Return True if a path from an x to a y leads through the node."""
        return node in self._between

    def is_wanted(self, value: Output) -> bool:
        """Return True for an x, and for a value on a path from an x."""
        return value in self._xs or value.node in self._between

    def variable_behind(self, handle: Output) -> Node | None:
        """Return the VarHandleOp behind a handle, through calls and loops; None if another op makes the handle."""
        # A handle reaches its reads through calls and loops, and only its maker knows the dtype of the gradient.
        makers = (source.node for source in origins(handle, self.graph.functions, self._scope()))
        return next((node for node in makers if node.op == "VarHandleOp"), None)

    def spec(self, value: Output) -> TensorSpec:
        """Return the inferred spec of a value without the value itself, from the graph and the call's arguments."""
        inferred = self._infer().get(value)
        # The value is left out: calls share a function, and the value of one call would become a constant in the gradient of
        # all.
        return TensorSpec(dtype_of(value)) if inferred is None else dataclasses.replace(inferred, value=None)

    def _shape(self, value: Output) -> Shape:
        inferred = self._infer().get(value)
        return UNKNOWN if inferred is None else inferred.shape

    def _infer(self) -> Mapping[Output, TensorSpec]:
        """Return the inferred specs of the nodes that exist at the first call."""
        if self._specs is None:
            known = self.call.known if self.call is not None else None
            self._specs = infer(self.graph, known, answers=self.functions.answers).specs
        return self._specs

    def carries_gradient(self, value: Output) -> bool:
        """Return True for values with a gradient of their own dtype; a list of integers has none."""
        if not carries_gradient(value) or dtype_of(value) is not dtypes.variant:
            return carries_gradient(value)
        elements = element_dtype(value, self.graph.functions, self._scope())
        return elements is None or has_gradient(elements)

    def is_differentiable(self, value: Output) -> bool:
        """Return True for values that carry gradients, and for the handles of variables."""
        return self.carries_gradient(value) or _is_handle(value)

    def _scope(self) -> CallScope | None:
        return self.call.scope if self.call is not None else None

    def _take_back(self, unit: Unit, grads: Gradients) -> None:
        take_back = unit.gradient or self._scoped_gradient
        results = take_back(unit.node, grads)
        for value, grad in zip(unit.inputs, results):
            if grad is not None and value not in self._stops and self.is_differentiable(value):
                self.add(value, self._on_all_branches(unit, value, grad))

    def _on_all_branches(self, unit: Unit, value: Output, grad: Output | IndexedSlices) -> Output | IndexedSlices:
        """Return a gradient that is alive whenever the value is, also where the value's reader is on a branch not taken.

        TensorFlow lets values onto branches by a Switch; gradients and optimizations may lack the Switch.
        """
        deadness = self.loops.deadness
        own = deadness.of_node(unit.runs_with or unit.node) if self.loops.has_branches else ALWAYS
        # The conditions on which the reader runs, without those on which the value exists.
        more = own - deadness.of_value(value) if own else ALWAYS
        literals = [literal for literal in more if self._is_decided_here(literal[0])]
        if not literals:
            return grad
        with self.builder.name_scope(f"{self.scope}{unit.node.name}_grad/"):
            branches = in_order(literals, deadness, f"whether '{unit.node.name}' runs")
            return zeros_elsewhere(self.builder, value, grad, branches)

    def _is_decided_here(self, decision: Output | Node) -> bool:
        """Return True for a decision made in an iteration of the loop that this sweep differentiates."""
        frame = self.loops.frame_of_value(decision) if isinstance(decision, Output) else self.loops.frame_of(decision)
        return frame is self._enclosing

    def _scoped_gradient(self, node: Node, grads: Gradients) -> Gradients:
        """Return the node's gradient with new nodes under `gradients/NODE_grad/`."""
        with self.builder.name_scope(f"{self.scope}{node.name}_grad/"):
            if not self.colocate:
                return self.node_gradient(node, grads)
            with self.builder.colocate_with(node):
                return self.node_gradient(node, grads)

    def dense_or_zeros(self, output: Output, grad: Gradient) -> Output | None:
        """Return a gradient function's argument for an output: dense, zeros, or None for a dtype without gradients."""
        if grad is not None:
            return self.builder.densify(grad)
        return self.builder.zeros_like(output) if self.carries_gradient(output) else None

    def _sum(self, grads: list[Output | IndexedSlices]) -> Output | IndexedSlices:
        # Slices stay slices as long as all are: a dense sum would be as large as the variable, an embedding for instance.
        if all(isinstance(grad, IndexedSlices) for grad in grads):
            return self._concatenated([grad for grad in grads if isinstance(grad, IndexedSlices)])
        with self.builder.name_scope(self.scope):
            dense = [self.builder.densify(grad) for grad in grads]
            result: Output | IndexedSlices = self.builder.AddN(dense)
            return result

    def _concatenated(self, slices: list[IndexedSlices]) -> IndexedSlices:
        """Add up slices by concatenation."""
        with self.builder.name_scope(self.scope):
            values = self.builder.ConcatV2([s.values for s in slices], 0)
            # The indices of several look-ups may be int32 and int64.
            indices = self.builder.ConcatV2([self.builder.Cast(s.indices, DstT="int64") for s in slices], 0)
        return IndexedSlices(values, indices, slices[0].dense_shape)

    def _ones(self, y: Output, name: str) -> Output:
        dtype = y.dtype.base if y.dtype else None
        shape = self.builder.Shape(y, out_type="int32")
        with self.builder.name_scope(name) as scope:
            one = self.builder.constant(1.0, dtype)
            return self.builder.Fill(shape, one, name=scope)

    def _units(self) -> list[Unit]:
        """Return the units between xs and ys in topological order, an inner loop as a single unit."""
        between = self.loops.in_order(self._between)
        loop_of = {node: self.loops.outermost_within(node, self._enclosing) for node in between}
        first: dict[Frame, Node] = {}
        members: dict[Node, list[Node]] = {}
        for node, loop in loop_of.items():
            # A loop is one unit: its nodes wait for each other, so no order of single nodes would be topological.
            leader = node if loop is None else first.setdefault(loop, node)
            members.setdefault(leader, []).append(node)
        leaders = {node: leader for leader, nodes in members.items() for node in nodes}

        def before(leader: Node) -> Iterator[Node]:
            sources = (source for node in members[leader] for source in forward_predecessors(node))
            return (leaders[s] for s in sources if s in leaders and leaders[s] is not leader)

        return [self._unit(leader, loop_of[leader]) for leader in topological_order(members, before)]

    def _unit(self, node: Node, loop: Frame | None) -> Unit:
        if loop is None:
            return Unit(node, tuple(node.output(i) for i in range(len(node.output_dtypes))), node.inputs)
        inputs, outputs = loop_values(loop)
        return Unit(node, tuple(outputs), tuple(inputs), lambda _, grads: self.loop_gradient(loop, grads), loop.condition)

    def path(self, through: Node) -> list[str]:
        """Return the names of the nodes on a shortest path from a y through the node to an x."""
        sources, ys = {x.node for x in self._xs}, {y.node for y in self._ys}
        inside = self._between | sources
        up = shortest_path(through, ys, lambda n: (user for user in n.uses if user in self._between))
        down = shortest_path(through, sources, lambda n: (value.node for value in n.inputs if value.node in inside))
        return [n.name for n in (*reversed(up or [through]), *down[1:])]


def is_differentiable(output: Output) -> bool:
    """Return True for dtypes that carry gradients, and for the handles of variables."""
    return carries_gradient(output) or _is_handle(output)


def _is_handle(output: Output) -> bool:
    return output.dtype is not None and output.dtype.base.name == "resource"


def _require_differentiable_dtype(output: Output, what: str) -> None:
    if not is_differentiable(output):
        raise InvalidArgumentError(
            f"{what} '{output}' is {output.dtype}: gradients need floating point or complex numbers",
            node=output.node.name,
            op=output.node.op,
        )


def _needed_for(ys: Sequence[Output], allowed: set[Node]) -> set[Node]:
    starts = (y.node for y in ys if y.node in allowed)
    return closure(starts, lambda node: (value.node for value in node.inputs if value.node in allowed))
