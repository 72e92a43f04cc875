"""Values on the way of the sweep: IndexedSlices where tensors have to stand, origins, and what loops and branches add."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..building.builder import GraphBuilder
from ..building.gradbuilder import Gradient, GradientBuilder, IndexedSlices
from ..graph.call_kinds import CallKind, call_kind
from ..graph.deadness import Deadness, Literal, is_choice, loop_variables, predicate_source
from ..graph.frames import ENTER, Frame, find_frames, frame_of_outputs, source_of
from ..graph.graph import Function, Graph, Node, Output
from ..support import dataclasses
from ..support.errors import UnimplementedError
from ..types import dtypes
from ..types.dtypes import DType


def tensors_of(grad: Gradient) -> tuple[Output, ...]:
    """Return the tensors that a gradient consists of."""
    if isinstance(grad, IndexedSlices):
        return grad.values, grad.indices, grad.dense_shape
    return () if grad is None else (grad,)


def rebuilt(model: Gradient, tensors: Iterator[Output]) -> Gradient:
    """Return a gradient of the kind of `model` from the next of `tensors`."""
    if isinstance(model, IndexedSlices):
        return IndexedSlices(next(tensors), next(tensors), next(tensors))
    return None if model is None else next(tensors)


def map_parts(change: Callable[..., Output], *grads: Output | IndexedSlices) -> Any:
    """Return a gradient of the kind of `grads`, which all share; `change` makes each tensor from the tensors of `grads`."""
    return rebuilt(grads[0], iter([change(*tensors) for tensors in zip(*map(tensors_of, grads))]))


def alike(builders: Sequence[GradientBuilder], grads: Sequence[Output | IndexedSlices]) -> list[Output | IndexedSlices]:
    """Return the same gradients in a common kind, each changed by its builder.

    Where any gradient is slices all become slices, with indices of a common dtype; the slices of a tensor are all rows.
    """
    if not any(isinstance(grad, IndexedSlices) for grad in grads):
        return list(grads)
    slices = [grad if isinstance(grad, IndexedSlices) else _all_rows(g, grad) for g, grad in zip(builders, grads)]
    # The gradients are joined by Merge nodes, whose inputs must have one dtype.
    if len({s.indices.dtype for s in slices}) > 1 or len({s.dense_shape.dtype for s in slices}) > 1:
        return [IndexedSlices(s.values, _int64(g, s.indices), _int64(g, s.dense_shape)) for g, s in zip(builders, slices)]
    return list(slices)


def zeros_for(g: GradientBuilder, value: Output, dtype: DType) -> Output:
    """Return zeros of the shape of a tensor, or of the variable behind a handle, whose gradient has `dtype`."""
    if value.dtype is None or value.dtype.base is not dtypes.resource:
        return g.zeros_like(value)
    return g.Fill(g.VariableShape(value, out_type="int32"), g.constant(0, dtype))


def carries_gradient(value: Output) -> bool:
    """Return True for values with a gradient of their own dtype: floats, complex numbers, and variants that hold them.

    A variable's handle has a gradient too, of the variable's dtype.
    """
    return value.dtype is not None and has_gradient(value.dtype)


def has_gradient(dtype: DType) -> bool:
    """Return True for dtypes whose values have gradients of the same dtype."""
    return dtype.is_floating or dtype.is_complex or dtype.base is dtypes.variant


def gradient_dtype(grad: Output | IndexedSlices) -> DType:
    """Return the dtype of a gradient's values."""
    dtype = tensors_of(grad)[0].dtype
    assert dtype is not None
    return dtype.base


def _all_rows(g: GradientBuilder, grad: Output) -> IndexedSlices:
    shape = g.shape_of(grad)
    return IndexedSlices(grad, g.Range(0, g.first_of(shape), 1), shape)


def _int64(g: GradientBuilder, value: Output) -> Output:
    return value if value.dtype is dtypes.int64 else g.Cast(value, DstT=dtypes.int64)


# Origins of values: through calls, loops and branches, and from a function's arguments to the inputs of the call.
# The origin tells the variable of a handle, and the elements of a list, which decide whether the list has a gradient.


@dataclasses.dataclass(frozen=True, slots=True)
class CallScope:
    """The values of a body's arguments in the surrounding call, which may lie in another body."""

    arguments: Mapping[Node, Output]
    outer: CallScope | None


def origins(value: Output, functions: Mapping[str, Function], scope: CallScope | None) -> list[Output]:
    """Return the values that `value` may be, a value for each branch, past all forwarding nodes."""
    tracer = _Tracer(functions)
    values = tracer.sources(value)
    while scope is not None:
        arguments = scope.arguments
        traced = (tracer.sources(arguments[source.node]) if source.node in arguments else [source] for source in values)
        values, scope = list(dict.fromkeys(source for sources in traced for source in sources)), scope.outer
    return values


class _Tracer:
    """Where values come from in the bodies of a library, each result of a function looked into once."""

    def __init__(self, functions: Mapping[str, Function]) -> None:
        self._functions = functions
        self._results: dict[tuple[str, int], list[Output]] = {}

    def sources(self, value: Output) -> list[Output]:
        """Return the values behind `value`, here or in a called function, or the arguments of this body that may be the
        value.
        """
        sources_seen: dict[Output, None] = {}
        pending, seen = [value], set[Output]()
        for passed_on in pending:
            source = source_of(passed_on)
            if source in seen:
                continue
            seen.add(source)
            kind = call_kind(self._functions, source.node)
            if kind is None:
                sources_seen[source] = None
                continue
            for inner, arguments in self._returned(source, kind):
                if inner.node in arguments:
                    pending.append(arguments[inner.node])
                else:
                    sources_seen[inner] = None
        return list(sources_seen)

    def _returned(self, result: Output, kind: CallKind) -> Iterator[tuple[Output, Mapping[Node, Output]]]:
        """Yield the values that a result of a call may be in each called function, with the values of the arguments there."""
        for name in (reference.name for reference in kind.references(result.node)):
            called = self._functions.get(name)
            if called is not None and result.index < len(called.results):
                arguments = dict(zip(called.args, kind.arguments(result.node.inputs)))
                yield from ((source, arguments) for source in self._inside(called, result.index))

    def _inside(self, function: Function, index: int) -> list[Output]:
        key = (function.name, index)
        if key not in self._results:
            self._results[key] = []  # of a function that calls itself
            self._results[key] = self.sources(function.results[index])
        return self._results[key]


def element_dtype(value: Output, functions: Mapping[str, Function], scope: CallScope | None) -> DType | None:
    """Return the dtype of the elements of a list; None if the graph does not tell, or for a variant of another kind."""
    element_dtypes = (source.node.attr("element_dtype") for source in origins(value, functions, scope) if source.index == 0)
    return next((dtype for dtype in element_dtypes if dtype is not None), None)


# V1 loops under differentiation.


class LoopState:
    """The loops of a graph under differentiation, and the nodes that backward loops added to forward loops."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.has_loops = any(node.op in ENTER for node in graph)
        self.has_branches = any(is_choice(node) for node in graph)
        self._places: dict[Node, int] = {}
        self._frames: dict[Node, Frame] = find_frames(graph) if self.has_loops else {}
        self._adopted: dict[Node, Frame | None] = {}
        self.deadness = Deadness(predicate=predicate_source)
        self.pivots: dict[Frame | None, Node] = {}
        """A node of each forward loop that runs in every iteration."""
        self.keeps_slices = False
        """True if IndexedSlices of what a loop reads leave the backward loop as IndexedSlices."""

    def in_order(self, nodes: Iterable[Node]) -> list[Node]:
        """Return nodes in the order of the graph; sweeps only add nodes, so places never change."""
        # Places are looked up once for each node, because sorting by the list of nodes would be quadratic.
        for node in self.graph.since(len(self._places)):
            self._places[node] = len(self._places)
        return sorted(nodes, key=self._places.__getitem__)

    def adopt(self, node: Node, frame: Frame | None) -> None:
        """Record that a new node belongs to the forward graph."""
        self._adopted[node] = frame

    def is_adopted(self, node: Node) -> bool:
        return node in self._adopted

    def frame_of(self, node: Node) -> Frame | None:
        """Return the innermost forward loop that a node lies in."""
        return self._adopted[node] if node in self._adopted else self._frames.get(node)

    def frame_of_value(self, value: Output) -> Frame | None:
        """Return the innermost forward loop in which a value is visible; an Exit's value is visible around the loop."""
        node = value.node
        return self._adopted[node] if node in self._adopted else frame_of_outputs(node, self._frames)

    def outermost_within(self, node: Node, enclosing: Frame | None) -> Frame | None:
        """Return the loop directly inside `enclosing` that holds a node, None for a node in no inner loop."""
        frame = self.frame_of(node)
        while frame is not None and frame is not enclosing and frame.enclosing is not enclosing:
            frame = frame.enclosing
        return None if frame is enclosing else frame


def loop_values(frame: Frame) -> tuple[list[Output], list[Output]]:
    """Return the inputs and the results of a loop: the inputs of Enters and the outputs of Exits."""
    exits = [variable.exit.output() for variable in loop_variables(frame) if variable.exit is not None]
    return [enter.inputs[0] for enter in frame.with_op(ENTER)], exits


# Adding variables to V1 loops: Enter -> Merge -> Switch -> ... -> NextIteration -> Merge, and Exit.


def enter_and_merge(g: GraphBuilder, value: Output, frame_name: str, parallel_iterations: int) -> Output:
    """Add Enter and Merge of a new variable. The second input of the Merge is set by `close_variable`."""
    entered = g.Enter(value, frame_name=frame_name, is_constant=False, parallel_iterations=parallel_iterations)
    result = g.Merge([entered, entered])[0]
    return result


def close_variable(g: GraphBuilder, switch: Node, value: Output) -> Output:
    """Make `value` the variable's next iteration and return the Exit; `switch` is the Switch of the variable's Merge."""
    back = g.NextIteration(value)
    g.graph.set_input(switch.inputs[0].node, 1, back)
    return g.Exit(switch.output(0))


# Branches of V1 conditionals that values lie on.


def branches_of(value: Output, deadness: Deadness) -> list[tuple[Output, int]]:
    """Return the predicates that decide whether `value` is alive, outermost first, each with the value's branch.

    Raises UnimplementedError if a Merge on the way joins other values than the two branches of a predicate.
    """
    return in_order(deadness.of_value(value), deadness, f"whether '{value}' exists")


def in_order(literals: Iterable[Literal], deadness: Deadness, decided: str) -> list[tuple[Output, int]]:
    """Return predicates with branches, outermost first.

    Raises UnimplementedError for a literal that is no predicate; the message says in `decided` the matter at stake.
    """
    predicates = []
    for predicate, branch in literals:
        if not isinstance(predicate, Output):
            raise UnimplementedError(
                f"it decides {decided}, and its inputs are not the two branches of one predicate",
                node=predicate.name,
                op=predicate.op,
            )
        predicates.append((predicate, branch))
    # A predicate on a branch has a longer condition than the predicate of the branch, so the outermost comes first. Names
    # break ties, so that graphs do not differ from run to run.
    return sorted(predicates, key=lambda literal: (len(deadness.of_node(literal[0].node)), literal[0].name))


def zeros_elsewhere(
    g: GradientBuilder, value: Output, grad: Output | IndexedSlices, branches: Iterable[tuple[Output, int]]
) -> Output | IndexedSlices:
    """Return the gradient of a value that is read on these branches only, outermost first: zeros on all other branches."""
    zeros = zeros_for(g, value, gradient_dtype(grad))
    # The loop goes from the innermost branch outwards: each Merge makes the gradient alive one branch further out.
    for predicate, branch in reversed(list(branches)):
        other = g.Switch(zeros, predicate)[1 - branch]
        grad = map_parts(lambda *tensors: g.Merge(tensors)[0], *alike([g, g], [other, grad]))
    return grad
