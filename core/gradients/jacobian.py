"""Jacobians, and products with Jacobians, at given values: a single plan, basis vectors in batches; a check by differences."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..building.gradbuilder import GradientBuilder
from ..graph.frames import SWITCH, is_transparent
from ..graph.graph import GraphLike, Node, Output, as_graph
from ..graph.variable_nodes import RESOURCE_VARIABLES
from ..registry.catalog import CATALOG
from ..registry.op_facts import has_fact
from ..runtime.session.session import Session
from ..runtime.session.session_like import SessionLike
from ..runtime.state.edge_values import Batched, RunState, scalar_object
from ..runtime.state.resources import Variable
from ..support import dataclasses
from ..support.arguments import checked
from ..support.errors import InvalidArgumentError, UnimplementedError
from ..support.hints import Hint, option
from ..types.arrays import Array, object_array
from ..types.shapes import UNKNOWN
from .backward import add_gradients

DEFAULT_CHUNK_BYTES = 256 * 2**20
MODES = ("auto", "forward", "reverse")

Feeds = Mapping[str, Any]


@checked
def jacobian(
    graph: GraphLike,
    y: str,
    x: str,
    feeds: Feeds | None = None,
    *,
    session: SessionLike | None = None,
    mode: str = "auto",
    chunk_bytes: int = DEFAULT_CHUNK_BYTES,
) -> Array:
    """Return the derivatives of every element of tensor `y` with respect to every element of tensor `x`.

    The result has the shape of y followed by the shape of x. `mode` is reverse (a product for each element of y), forward
    (a product for each element of x), or auto: the fewer products. `session` supplies the state of variables; `chunk_bytes`
    bounds the memory of a batch of basis vectors.
    """
    return Derivative(graph, y, x, session).jacobian(feeds or {}, mode, chunk_bytes)


@checked
def vjp(graph: GraphLike, y: str, x: str, v: Any, feeds: Feeds | None = None, *, session: SessionLike | None = None) -> Array:
    """Return v^T J: the gradient of x when `v`, of y's shape, arrives at y."""
    return Derivative(graph, y, x, session).vjp(v, feeds or {})


@checked
def jvp(graph: GraphLike, y: str, x: str, v: Any, feeds: Feeds | None = None, *, session: SessionLike | None = None) -> Array:
    """Return J v: the change of y when x moves along `v`, of x's shape."""
    return Derivative(graph, y, x, session).jvp(v, feeds or {})


@checked
def hessian_vector(
    graph: GraphLike, y: str, x: str, v: Any, feeds: Feeds | None = None, *, session: SessionLike | None = None
) -> Array:
    """Return H v: the change of the gradient of (the sum of) y when x moves along `v`, of x's shape."""
    return Derivative(graph, y, x, session).hessian_vector(v, feeds or {})


class Derivative:
    """The derivative of tensor y with respect to tensor x: gradient nodes on a copy of the graph, built once and run often.

    `session` supplies the variables' values, also later, as they change.
    """

    def __init__(self, graph: GraphLike, y: str, x: str, session: SessionLike | None = None) -> None:
        self.graph = as_graph(graph).copy()
        self.builder = GradientBuilder(self.graph)
        self.y = self.graph.output(y)
        self.x = self.graph.output(x)
        self.session = Session(self.graph) if session is None else session.on_graph(self.graph)

    def values(self, feeds: Feeds) -> tuple[Array, Array]:
        """Return the values of y and x; x counts as the value behind a variable's reference or handle."""
        y, x = self.session.run([self.y.name, self._x_value.name], feeds)
        return y, x

    def jacobian(self, feeds: Feeds, mode: str = "auto", chunk_bytes: int = DEFAULT_CHUNK_BYTES) -> Array:
        """Return all derivatives, of y's shape followed by x's."""
        if mode not in MODES:
            raise InvalidArgumentError(f"mode must be {' or '.join(MODES)}, not '{mode}'")
        for value in (self.y, self._x_value):
            if value.base_dtype.is_object:
                raise InvalidArgumentError(f"'{value.name}' has dtype {value.base_dtype}, which has no derivatives")
        y, x = self.values(feeds)
        # One product is needed for each element of the smaller side.
        is_forward = mode == "forward" or (mode == "auto" and x.size < y.size)
        basis_of, other = (x, y) if is_forward else (y, x)
        multiply = self.jvp if is_forward else self.vjp
        rows = np.empty((basis_of.size, other.size), x.dtype)
        for start, basis in _basis(basis_of, other, chunk_bytes):
            products = multiply(Batched(basis.reshape(-1, *basis_of.shape)), feeds)
            rows[start : start + len(basis)] = products.reshape(-1, other.size)
        return (rows.T if is_forward else rows).reshape((*y.shape, *x.shape))

    def vjp(self, v: Any, feeds: Feeds) -> Array:
        """Return v^T J, of x's shape; a batch of v gives a batch."""
        seed, product = self._reverse
        return self._run(product, {**feeds, seed.name: v})

    def jvp(self, v: Any, feeds: Feeds) -> Array:
        """Return J v, of y's shape: the gradient of v^T J with respect to v, linear in the direction that arrives there."""
        seed, direction, product = self._forward
        # v^T J is linear in v, so its gradient with respect to v is the same at every v: zeros do.
        y, _ = self.values(feeds)
        return self._run(product, {**feeds, seed.name: np.zeros_like(y), direction.name: v})

    def hessian_vector(self, v: Any, feeds: Feeds) -> Array:
        """Return H v for the sum of y, of x's shape."""
        direction, product = self._second
        return self._run(product, {**feeds, direction.name: v})

    @functools.cached_property
    def _x_value(self) -> Output:
        if self.x.node.op not in RESOURCE_VARIABLES:
            return self.x
        return self.builder.ReadVariableOp(self.x, dtype=self.x.node.attrs["dtype"])

    @functools.cached_property
    def _reverse(self) -> tuple[Output, Output]:
        """Return a placeholder for the gradient that arrives at y, and the gradient at x."""
        seed = self._placeholder(self.y, "cotangent")
        return seed, self._gradient(self.y, seed, self.x)

    @functools.cached_property
    def _forward(self) -> tuple[Output, Output, Output]:
        # Two reverse sweeps make a forward product, so that no op needs a forward rule of its own.
        seed, gradient = self._reverse
        direction = self._placeholder(self._x_value, "tangent")
        return seed, direction, self._gradient(gradient, direction, seed)

    @functools.cached_property
    def _second(self) -> tuple[Output, Output]:
        direction = self._placeholder(self._x_value, "direction")
        return direction, self._gradient(self._gradient(self.y, None, self.x), direction, self.x)

    def _placeholder(self, like: Output, name: str) -> Output:
        return self.builder.Placeholder(dtype=like.base_dtype, shape=UNKNOWN, name=name)

    def _gradient(self, y: Output, grad_y: Output | None, x: Output) -> Output:
        """Return the gradient of y with respect to x; zeros if y does not depend on x."""
        (grad,) = add_gradients(self.graph, [y], [x], [grad_y])
        like = self._x_value if x is self.x else x
        return self.builder.zeros_like(like) if grad is None else self.builder.densify(grad)

    def _run(self, fetch: Output, feeds: Feeds) -> Array:
        batch = next((value for value in feeds.values() if isinstance(value, Batched)), None)
        # A server of a cluster runs the graph itself, if no hook can widen the kernels.
        if batch is not None and not self.session.takes_hooks:
            return self._one_by_one(fetch, feeds, len(batch.values))
        result = self.session.run(fetch.name, feeds, hook=BatchHook(len(batch.values)) if batch is not None else None)
        if batch is None or isinstance(result, Batched):
            return result.values if isinstance(result, Batched) else result
        # Nothing on the way depended on the batch, so all members have one result.
        return np.broadcast_to(result, (len(batch.values), *result.shape))

    def _one_by_one(self, fetch: Output, feeds: Feeds, count: int) -> Array:
        """Return a run for each member of a batch, for sessions that take no batches."""
        members = (
            {name: value.values[i] if isinstance(value, Batched) else value for name, value in feeds.items()}
            for i in range(count)
        )
        return np.stack([self.session.run(fetch.name, member) for member in members])


def _basis(basis_of: Array, other: Array, chunk_bytes: int) -> Any:
    """Yield the unit vectors in chunks, with the number of the first of each chunk."""
    per_vector = max((basis_of.size + other.size) * basis_of.dtype.itemsize, 1)
    # A chunk has at least one vector, even if one alone exceeds the bound.
    chunk = int(np.clip(chunk_bytes // per_vector, 1, max(basis_of.size, 1)))
    for start in range(0, basis_of.size, chunk):
        count = min(chunk, basis_of.size - start)
        yield start, np.eye(count, basis_of.size, start, basis_of.dtype)


# Batched execution of a plan for many values of an input: a hook that gives values a leading batch axis.
#
# Steps that no batched value reaches run once. Elementwise ops and ops with a rule below take the whole batch in a single
# call; any other op runs once for each member.

Call = Callable[..., Any]
Rule = Callable[[Node, Call, Sequence[Any]], Any]


class BatchHook:
    """An executor hook for a single run: steps with inputs of which some may be Batched.

    Values written into a TensorArray or pushed on a stack may be Batched; each member then has an array or stack of its
    own.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._members: dict[int, tuple[RunState, Batched]] = {}

    def __call__(self, node: Node, call: Call, inputs: Sequence[Any]) -> Any:
        inputs = _with_one_flow(node, inputs)
        is_batched = any(isinstance(value, Batched) for value in inputs)
        states = [state for value in inputs if (state := _state_behind(value)) is not None]
        # From the first batched write on, each member has an array or a stack of its own, and readers must find the right one.
        if states and (is_batched or any(id(state) in self._members for state in states)):
            return _one_by_one(node, call, [self._parted(value) for value in inputs])
        if not is_batched:
            return call(*inputs)
        return self._rule(node, inputs)(node, call, inputs)

    def _rule(self, node: Node, inputs: Sequence[Any]) -> Rule:
        """Return the rule for a node; steps on lists and other objects run member by member."""
        if has_fact(node.op, "control_flow"):
            return _routed
        # Lists and handles have no batch axis inside.
        if any(isinstance(value, Batched) and value.values.dtype == object for value in inputs):
            return _forwarded if is_transparent(node) else _one_by_one
        return _RULES.get(node.op) or _rule_by_facts(node)

    def _parted(self, value: Any) -> Any:
        """Return the handles of the members' own states in the place of a handle; other values as they are."""
        state = _state_behind(value)
        if state is None:
            return value
        if id(state) not in self._members:
            copies = [state.copied(f"{state.name}/{i}") for i in range(self._size)]
            self._members[id(state)] = state, Batched(object_array(copies, (self._size,)))
        return self._members[id(state)][1]


def _with_one_flow(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """Return the inputs with a single member's flow: a flow only orders accesses to an array, so any member's will do."""
    if not inputs or not isinstance(inputs[-1], Batched):
        return inputs
    definition = CATALOG.get(node.op)
    if definition is None or definition.inputs[-1].name != "flow_in":
        return inputs
    return [*inputs[:-1], inputs[-1].values[0, ...]]


def _state_behind(value: Any) -> RunState | None:
    if not isinstance(value, np.ndarray) or value.dtype != object or value.size != 1:
        return None
    item = value.item()
    return item if isinstance(item, RunState) else None


def _rule_by_facts(node: Node) -> Rule:
    """Return the rule for a node by the facts of the op."""
    if is_transparent(node):
        return _forwarded
    if has_fact(node.op, "row_wise"):
        return _row_wise
    return _elementwise if has_fact(node.op, "elementwise") else _one_by_one


def _one_by_one(node: Node, call: Call, inputs: Sequence[Any]) -> Any:
    """Apply any op: a call for each member, results stacked."""
    size = next(len(value.values) for value in inputs if isinstance(value, Batched))
    results = [call(*(v.values[i, ...] if isinstance(v, Batched) else v for v in inputs)) for i in range(size)]
    return _stacked(results)


def _stacked(results: Sequence[Any]) -> Any:
    """Return the results of all members stacked, output by output; None if a step returns None."""
    if results[0] is None:
        return None
    if isinstance(results[0], (tuple, list)):
        return type(results[0])(map(_stacked, zip(*results)))
    return Batched(np.stack(results))


def _elementwise(node: Node, call: Call, inputs: Sequence[Any]) -> Any:
    """Batched inputs get the axes they lack between the batch axis and their own; all are broadcast, since not all ops do."""
    rank = max(value.rank if isinstance(value, Batched) else np.ndim(value) for value in inputs)
    # Kernels of gradients take operands of equal shapes alone.
    return Batched(call(*np.broadcast_arrays(*(_aligned(value, rank) for value in inputs))))


def _aligned(value: Any, rank: int) -> Any:
    if not isinstance(value, Batched):
        return value
    size, *shape = value.values.shape
    return value.values.reshape(size, *[1] * (rank - len(shape)), *shape)


def _row_wise(node: Node, call: Call, inputs: Sequence[Any]) -> Any:
    """Join the batch with the rows of the first input: the op treats each row alike."""
    first, *others = inputs
    if not isinstance(first, Batched) or first.rank == 0 or any(isinstance(value, Batched) for value in others):
        return _one_by_one(node, call, inputs)
    size, rows, *rest = first.values.shape
    result = np.asarray(call(first.values.reshape(size * rows, *rest), *others))
    return Batched(result.reshape(size, rows, *result.shape[1:]))


def _forwarded(node: Node, call: Call, inputs: Sequence[Any]) -> Any:
    return inputs[0]


def _routed(node: Node, call: Call, inputs: Sequence[Any]) -> Any:
    """Route a whole batch into or out of a loop or a branch; the predicate must be the same for all members."""
    if node.op in SWITCH and isinstance(inputs[-1], Batched):
        raise UnimplementedError(
            "the predicate depends on the vectors of the batch",
            node=node.name,
            op=node.op,
            hint="multiply by a single vector at a time",
        )
    return call(*inputs)


def _matmul(node: Node, call: Call, inputs: Sequence[Any]) -> Any:
    """Multiply matrices; where only the left factor is batched the rows join into a tall matrix."""
    a, b = inputs
    flip_a, flip_b = (node.attr("transpose_a"), node.attr("transpose_b"))
    if isinstance(a, Batched) and not isinstance(b, Batched) and not flip_a:
        size, rows, inner = a.values.shape
        right = b.T if flip_b else b
        return Batched((a.values.reshape(size * rows, inner) @ right).reshape(size, rows, right.shape[1]))
    left, right = (v.values if isinstance(v, Batched) else v for v in (a, b))
    return Batched(np.matmul(left.swapaxes(-1, -2) if flip_a else left, right.swapaxes(-1, -2) if flip_b else right))


def _reduction(node: Node, call: Call, inputs: Sequence[Any]) -> Any:
    """Return a reduction over fixed axes, counted from behind the batch axis."""
    value, axes = inputs
    if isinstance(axes, Batched):
        return _one_by_one(node, call, inputs)
    return Batched(np.asarray(call(value.values, np.asarray(axes) % max(value.rank, 1) + 1)))


def _reshape(node: Node, call: Call, inputs: Sequence[Any]) -> Any:
    value, shape = inputs
    if isinstance(shape, Batched):
        return _one_by_one(node, call, inputs)
    dims = call(np.empty(value.values.shape[1:], bool), shape).shape  # the op itself fills in a -1
    return Batched(value.values.reshape(len(value.values), *dims))


def _transpose(node: Node, call: Call, inputs: Sequence[Any]) -> Any:
    value, permutation = inputs
    if isinstance(permutation, Batched):
        return _one_by_one(node, call, inputs)
    return Batched(value.values.transpose(0, *(int(axis) + 1 for axis in permutation)))


def _conv2d_backprop_input(node: Node, call: Call, inputs: Sequence[Any]) -> Any:
    """Join the batch with the images: the op treats each image alike."""
    sizes, weights, grad = inputs
    if isinstance(weights, Batched) or isinstance(sizes, Batched):
        return _one_by_one(node, call, inputs)
    size, images, *rest = grad.values.shape
    joined = np.concatenate([np.asarray([size * images], np.asarray(sizes).dtype), np.asarray(sizes)[1:]])
    result = call(joined, weights, grad.values.reshape(size * images, *rest))
    return Batched(result.reshape(size, images, *result.shape[1:]))


_RULES: dict[str, Rule] = {
    "AddN": _elementwise,
    "MatMul": _matmul,
    "Sum": _reduction,
    "Mean": _reduction,
    "Max": _reduction,
    "Min": _reduction,
    "Prod": _reduction,
    "Reshape": _reshape,
    "Transpose": _transpose,
    "Conv2DBackpropInput": _conv2d_backprop_input,
}

# A check of gradients by central differences.

_STEPS = {8: 1e-6, 4: 5e-3, 2: 1e-1}
"""How far to step from a number, by its size in bytes."""
_TOLERANCES = {8: 1e-4, 4: 1e-3, 2: 5e-2}
"""The tolerance that passes by default, by the size of the numbers in bytes."""


@dataclasses.dataclass(frozen=True, slots=True)
class GradientCheck:
    """The distance of an x's gradient from central differences: the worst element, and the smallest tolerance that passes."""

    x: str
    """The tensor that was varied."""
    elements: int
    """How many elements x has."""
    worst_index: tuple[int, ...]
    """The place of the element with the largest difference."""
    analytic: float
    """The gradient of this element."""
    numeric: float
    """The central difference of this element."""
    tolerance_needed: float
    """The smallest tolerance that passes."""
    passed: bool
    """True if the difference is within the tolerance."""


@checked
def check_gradient(
    graph: GraphLike,
    y: str,
    x: str,
    feeds: Mapping[str, Any] | None = None,
    *,
    tolerance: float | None = None,
    session: SessionLike | None = None,
    max_elements: int = 1000,
) -> GradientCheck:
    """Check the gradient of the sum of r*y with respect to x, where r are fixed random numbers.

    The error of an element is |analytic - numeric| / max(1, |analytic|, |numeric|); by default 1e-4 passes in double
    precision, 1e-3 in single. Of more than `max_elements` elements a fixed sample is checked. Raises InvalidArgumentError
    where x is no floating-point tensor that a feed can replace; a resource variable's handle stands for the variable's
    value.
    """
    graph = as_graph(graph)
    feeds = dict(feeds or {})
    work = graph.copy()
    builder = GradientBuilder(work)
    target, variable = work.output(y), work.output(x)
    weights = builder.Placeholder(dtype=target.base_dtype, shape=UNKNOWN, name="weights")
    (grad,) = add_gradients(work, [target], [variable], [weights])
    run = Session(work) if session is None else session.on_graph(work)
    x_value, y_value = run.run([x, y], feeds)
    if x_value.dtype == object and not run.takes_hooks:
        raise UnimplementedError(
            f"'{x}' is a handle of a cluster, which only the servers can replace",
            hint=Hint("check without ", option("on"), ", or name the tensor read from the variable"),
        )
    fed: Callable[[Any], Any] = np.asarray
    if x_value.dtype == object and isinstance(x_value.item(), Variable):
        fed, x_value = _handles(x_value.item())
    if x_value.dtype.kind != "f":
        raise InvalidArgumentError(f"'{x}' is {x_value.dtype}: central differences need real floating-point numbers")
    # The sum has weights, because errors of opposite signs cancel in a plain sum. The weights are away from 0, so that each
    # element counts.
    r = np.asarray(np.random.default_rng(0).uniform(0.5, 1.5, y_value.shape), y_value.dtype)
    gradient = builder.zeros_like(variable) if grad is None else builder.densify(grad)
    analytic = np.asarray(run.run(gradient.name, {**feeds, weights.name: r, x: fed(x_value)}), np.float64)
    count = min(x_value.size, max_elements)
    chosen = np.sort(np.random.default_rng(1).choice(x_value.size, count, replace=False))
    step = _STEPS[x_value.dtype.itemsize]
    numeric = np.array([_difference(run, y, x, feeds, x_value, fed, int(i), step, r) for i in chosen])
    allowed = _TOLERANCES[x_value.dtype.itemsize] if tolerance is None else tolerance
    return _verdict(x, x_value.shape, chosen, analytic.ravel()[chosen], numeric, allowed)


def _handles(variable: Variable) -> tuple[Callable[[Any], Any], Any]:
    """Return a maker of handles to variables with other values, and the current value."""

    def handle(value: Any) -> Any:
        moved = Variable(variable.name, variable.dtype, variable.shape)
        moved.assign(value)
        return scalar_object(moved)

    return handle, variable.read()


def _difference(
    run: SessionLike,
    y: str,
    x: str,
    feeds: Mapping[str, Any],
    value: Any,
    fed: Callable[[Any], Any],
    index: int,
    step: float,
    weights: Any,
) -> float:
    """Return (f(x + h) - f(x - h)) / 2h at an element, f the weighted sum of y."""
    results = []
    for sign in (1, -1):
        moved = value.copy()
        # `ravel` of a fresh copy is a view.
        moved.ravel()[index] += sign * step
        results.append((moved.ravel()[index], float(np.sum(run.run(y, {**feeds, x: fed(moved)}) * weights, dtype=np.float64))))
    (high, f_high), (low, f_low) = results
    # The difference is divided by the real distance, because in half precision the step is rounded.
    return (f_high - f_low) / float(high - low)


def _verdict(x: str, shape: tuple[int, ...], chosen: Any, analytic: Any, numeric: Any, tolerance: float) -> GradientCheck:
    if not chosen.size:
        return GradientCheck(x, 0, (), 0.0, 0.0, 0.0, True)
    errors = np.abs(analytic - numeric) / np.maximum(1.0, np.maximum(np.abs(analytic), np.abs(numeric)))
    # A NaN compares as no error at all, and would pass.
    errors = np.where(np.isfinite(errors), errors, np.inf)
    worst = int(np.argmax(errors))
    index = tuple(int(i) for i in np.unravel_index(chosen[worst], shape))
    needed = float(errors[worst])
    return GradientCheck(x, chosen.size, index, float(analytic[worst]), float(numeric[worst]), needed, needed <= tolerance)
