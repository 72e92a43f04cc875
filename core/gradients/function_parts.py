"""Differentiated functions: a body with gradient nodes is split into a forward and a backward function."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from ..building.builder import GraphBuilder
from ..building.gradbuilder import Gradient, GradientBuilder
from ..graph.frames import NEXT_ITERATION
from ..graph.graph import Function, Graph, Node, Output
from ..graph.instantiation import ORIGIN, instantiate, origin_of
from ..graph.traversal import topological_order
from ..inference.inference import Answers
from ..registry.catalog import ArgDef, OpDef
from ..support import dataclasses
from ..support.errors import InvalidArgumentError, ResourceExhaustedError
from ..support.tensor_names import free_name
from ..types.dtypes import DType
from ..types.shapes import UNKNOWN
from ..types.tensors import FuncRef
from .swept_values import tensors_of


@dataclasses.dataclass(slots=True)
class Differentiated:
    """A function's body with the gradient nodes inside, before the split.

    `grads[i]` belongs to argument i and is None if no result depends on the argument. `captured` are the forward values
    that gradient nodes read and the forward function must return. `handed` maps handles that inner loops and branches
    forward, and that are not captured, to the arguments behind them.
    """

    function: Function
    body: Graph
    args: list[Node]
    results: list[Output]
    grad_args: list[Node | None]
    grads: list[Gradient]
    backward_nodes: list[Node]
    captured: list[Output]
    handed: dict[Output, int]

    def read_args(self) -> list[int]:
        """Return the arguments that the gradient nodes read directly instead of among `captured`.

        As in TensorFlow a gradient takes no other arguments, since second gradients depend on all arguments of the
        gradient.
        """
        read = {value for node in self.backward_nodes for value in node.inputs}
        read |= {tensor for grad in self.grads for tensor in tensors_of(grad)}
        # A captured argument comes among the saved values.
        read -= set(self.captured)
        return [i for i, arg in enumerate(self.args) if arg.output() in read]

    @contextlib.contextmanager
    def adding(self) -> Iterator[GradientBuilder]:
        """Yield a builder of further gradient nodes, for reading arguments and gradients."""
        before = set(self.body)
        yield GradientBuilder(self.body)
        self.backward_nodes += [node for node in self.body if node not in before]


_T = TypeVar("_T")
_MAX_AGAIN: Final = 500
"""How often functions may be differentiated that were before, for calls that are not alike."""
_MAX_SAVED: Final = 10_000
"""The largest number of intermediate values that a function may save for the gradient; each level of calls may double them."""


@dataclasses.dataclass(slots=True)
class DifferentiatedFunctions:
    """The differentiated functions of a library, shared by all calls that are alike.

    Nested calls, whose number may double with each level, are thereby differentiated in time linear in the number of
    functions.
    """

    answers: Answers = dataclasses.field(default_factory=Answers)
    """The inferred specs of the functions."""
    _made: dict[Hashable, Any] = dataclasses.field(default_factory=dict)
    _begun: set[str] = dataclasses.field(default_factory=set)
    _again: int = 0
    """The number of times that a function was begun again."""

    def once(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """Return the result of `make` for a key, made at the first request."""
        if key not in self._made:
            self._made[key] = make()
        result: _T = self._made[key]
        return result

    def begin(self, function: Function, node: Node) -> None:
        """Note that a function is differentiated; ResourceExhaustedError if this happens too often."""
        self._again += function.name in self._begun
        self._begun.add(function.name)
        if self._again > _MAX_AGAIN:
            problem = f"more than {_MAX_AGAIN:,} calls need another gradient of a function that already has a gradient"
            raise ResourceExhaustedError(problem, hint=_FEWER, node=node.name, op=node.op)


_FEWER: Final = "write calls that double at each level as a While loop; its gradient saves a list for each value"


def require_few(node: Node, branches: Sequence[Differentiated]) -> None:
    """Raise ResourceExhaustedError if a node would return more intermediate values of functions than any graph can need."""
    count = sum(len(parts.captured) for parts in branches)
    if count > _MAX_SAVED:
        name = branches[0].function.name
        problem = f"the gradient of function '{name}' would save {count:,} values, more than the limit of {_MAX_SAVED:,}"
        raise ResourceExhaustedError(problem, hint=_FEWER, node=node.name, op=node.op)


def copied_body(graph: Graph, function: Function, attrs: Mapping[str, Any]) -> tuple[Graph, list[Node], list[Output]]:
    """Return a copy of a function's body for the given attributes, with arguments and results; the library is the graph's."""
    filled = instantiate(function, attrs)
    filled.body.functions = graph.functions
    filled.body.registered_gradients = graph.registered_gradients
    return filled.body, filled.args, filled.results


def add_forward_function(
    graph: Graph, parts: Differentiated, before: Sequence[DType] = (), after: Sequence[DType] = ()
) -> str:
    """Add the function that also returns the captured values, between placeholders for values that other branches save."""
    body, mapping = forward_body(parts)
    builder = GraphBuilder(body)
    saved = [Output(mapping[value.node], value.index) for value in parts.captured]
    # Branches of one conditional return alike: each also has a place for what the others save.
    padded = [_fake(builder, before), saved, _fake(builder, after)]
    results = [Output(mapping[v.node], v.index) for v in parts.results] + [v for group in padded for v in group]
    args = [mapping[arg] for arg in parts.args]
    # The nodes are found by name, because the body is a copy whose nodes keep their names.
    controls = [body.node(c.name) for c in parts.function.control_results]
    return add_function(graph, f"{parts.function.name}_forward", body, args, results, parts.function, controls, extends=True)


def add_backward_function(
    graph: Graph,
    parts: Differentiated,
    read: Sequence[int],
    before: Sequence[DType] = (),
    after: Sequence[DType] = (),
) -> str:
    """Add the function (arguments that are read, saved values, gradients of results) -> gradients of arguments."""
    body = graph.emptied()
    builder = GraphBuilder(body)
    mapping: dict[Output, Output] = {}
    args: list[Node] = []

    def take(dtype: DType, value: Output | None) -> None:
        args.append(add_arg(builder, dtype, len(args)))
        if value is not None:
            mapping[value] = args[-1].output()

    for arg in (parts.args[i].output() for i in read):
        take(dtype_of(arg), arg)
    mapping |= {value: mapping[parts.args[i].output()] for value, i in parts.handed.items()}
    for dtype in before:
        take(dtype, None)
    for value in parts.captured:
        take(dtype_of(value), value)
    for dtype in after:
        take(dtype, None)
    for grad_arg in parts.grad_args:
        if grad_arg is not None:
            take(dtype_of(grad_arg.output()), grad_arg.output())
    copied = copy_nodes(body, parts.backward_nodes, mapping)
    results = [mapped(body, tensor, copied) for grad in parts.grads for tensor in tensors_of(grad)]
    return add_function(graph, f"{parts.function.name}_gradient", body, args, results, parts.function)


def add_function(
    graph: Graph,
    name: str,
    body: Graph,
    args: list[Node],
    results: list[Output],
    origin: Function,
    control_results: Sequence[Node] = (),
    *,
    extends: bool = False,
) -> str:
    """Put a function into the library under a free name made from `name`, and return the name.

    `extends` says that the body holds the nodes of `origin` and more.
    """
    unique = free_name(name, graph.functions)
    signature = OpDef(
        unique,
        tuple(ArgDef(arg.name, dtype=dtype_of(arg.output())) for arg in args),
        tuple(ArgDef(f"result{i}", dtype=dtype_of(value)) for i, value in enumerate(results)),
        {},
        origin.signature.flags,
    )
    attrs = {ORIGIN: origin_of(origin).encode("utf-8", "surrogateescape")} if extends else {}
    graph.functions[unique] = Function(signature, body, args, results, list(control_results), attrs)
    return unique


def find_function(graph: Graph, node: Node, reference: FuncRef) -> Function:
    """Return the function that a node refers to; InvalidArgumentError if the library lacks the function."""
    function = graph.functions.get(reference.name)
    if function is None:
        raise InvalidArgumentError(f"the graph has no function '{reference.name}'", node=node.name, op=node.op)
    return function


def forward_body(parts: Differentiated) -> tuple[Graph, dict[Node, Node]]:
    """Return a copy of the body without gradient nodes, and a map from the body's nodes to the copies."""
    copied = parts.body.copy(parts.body.functions)
    mapping = {node: copied.node(node.name) for node in parts.body}
    doomed = [*parts.backward_nodes, *(arg for arg in parts.grad_args if arg is not None)]
    # The remaining nodes compute the results, and the values that the gradient reads.
    copied.remove_nodes(mapping.pop(node) for node in doomed)
    return copied, mapping


def copy_nodes(target: Graph, nodes: Sequence[Node], mapping: dict[Output, Output]) -> dict[Output, Output]:
    """Copy nodes into another graph, inputs mapped; constants that they read come along. Returns the full mapping."""
    copied: dict[Node, Node] = {}
    for node in topological_order(nodes):
        # A Merge reads a NextIteration that is copied later: the edge is added at the end.
        inputs = [mapped(target, value, mapping) for value in node.inputs if value.node.op not in NEXT_ITERATION]
        controls = [copied[control] for control in node.control_inputs if control in copied]
        name = target.unique_name(node.name)
        copied[node] = target.add_node(name, node.op, inputs, controls, node.attrs, node.device)
        for i in range(len(node.output_dtypes)):
            mapping[node.output(i)] = copied[node].output(i)
    for node, made in copied.items():
        if len(made.inputs) < len(node.inputs):  # by the back edge of a loop
            target.set_inputs(made, [mapping[value] for value in node.inputs])
    return mapping


def mapped(target: Graph, value: Output, mapping: dict[Output, Output]) -> Output:
    """Return the counterpart of a value in another graph; a constant is copied at the first request."""
    if value not in mapping:
        constant = value.node
        # Constants are not saved with the forward values: a copy costs nothing in the run.
        copied = target.add_node(target.unique_name(constant.name), constant.op, attrs=constant.attrs)
        mapping[value] = copied.output(value.index)
    return mapping[value]


def add_arg(builder: GraphBuilder, dtype: DType, index: int) -> Node:
    return builder.add("_Arg", (), {"T": dtype, "index": index}, f"arg{index}")


def _fake(builder: GraphBuilder, dtypes: Sequence[DType]) -> list[Output]:
    return [builder.FakeParam(dtype=dtype, shape=UNKNOWN) for dtype in dtypes]


def dtype_of(value: Output) -> DType:
    if value.dtype is None:
        raise InvalidArgumentError(f"the dtype of '{value}' is unknown", node=value.node.name, op=value.node.op)
    return value.dtype.base
