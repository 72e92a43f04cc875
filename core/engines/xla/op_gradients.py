"""Derivatives of ops in functions of JAX: the registered gradient where the derivative of the lowering is another.

Values that pass through StopGradient and PreventGradient take no steps of their own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients, gradient_of
from ...graph.callers import gradient_name
from ...graph.frames import MERGE, NEXT_ITERATION, hands_in
from ...graph.graph import Node, Output
from ...planning.plan import Loop, Plan
from ...planning.planner import compile_plan
from ...registry.op_facts import has_fact
from ...registry.registry import NOT_DIFFERENTIABLE, WITHOUT_GRADIENT
from ...support.errors import UnimplementedError
from ...types import dtypes
from ...types.shapes import UNKNOWN, Shape
from .list_programs import StackedElements
from .traced_values import jax

_Run: TypeAlias = Callable[[Plan, list[Any]], Sequence[Any]]
_HELD: Final = (dtypes.resource, dtypes.variant)


def detached(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    """Return the inputs of a node, without gradients where TensorFlow lets no gradient through."""
    if gradient_of(node) is not NOT_DIFFERENTIABLE or _holds_state(node):
        return values
    # JAX would differentiate what TensorFlow does not, such as the values of an index computation.
    return [jax.lax.stop_gradient(value) if isinstance(value, jax.Array) else value for value in values]


def differentiated(node: Node, values: Sequence[Any], results: Sequence[Any], run: _Run) -> Sequence[Any]:
    """Return the results of a node with the derivatives of the node's gradient, where JAX's derivatives differ.

    `run` returns the fetches of a plan for values of the feeds.
    """
    rule = _rule(node, values, run)
    return results if rule is None else _attached(rule, values, results)


def _rule(node: Node, values: Sequence[Any], run: _Run | None) -> Callable[..., Any] | None:
    """Return the rule for the tangents of a node's results; None where JAX's rules apply."""
    name, function = gradient_name(node), gradient_of(node)
    if not any(isinstance(value, jax.Array) and _is_real(value) for value in values) or _holds_state(node):
        return None
    if function is WITHOUT_GRADIENT or (name and not callable(function) and function is not NOT_DIFFERENTIABLE):
        return functools.partial(_refuse, node, name)
    if not callable(function) or not (name or has_fact(node.op, "own_gradient")) or any(map(_is_complex, values)):
        return None
    return functools.partial(_tangents, OpGradient(node, function, run))


def with_factor(x: Any, y: Any, factor: Callable[[Any], Any]) -> Any:
    """Return y, a function of x element by element, whose derivative is `factor` of y.

    The largest finite number takes the place of an infinite factor and of NaN: a gradient of 0 stays 0, as in TensorFlow's
    kernels.
    """
    if not _is_real(x):
        return y

    def tangents(values: Sequence[Any], outputs: Sequence[Any], tangents: dict[int, Any]) -> list[Any]:
        bound = jax.numpy.finfo(x.dtype).max
        return [tangents[0] * jax.numpy.nan_to_num(factor(outputs[0]), nan=bound)]

    return _attached(tangents, [x], [y])[0]


def _attached(rule: Callable[..., Any], values: Sequence[Any], results: Sequence[Any]) -> list[Any]:
    """Return results with the tangents that `rule` computes from the inputs, the results and the inputs' tangents."""
    places = [i for i, value in enumerate(values) if isinstance(value, jax.Array)]

    def filled(traced: Sequence[Any]) -> list[Any]:
        arguments = list(values)
        for place, value in zip(places, traced):
            arguments[place] = value
        return arguments

    # The rule is one for tangents, from which JAX derives the reverse by transposition, so that forward derivatives work, too.
    attach = jax.custom_jvp(lambda traced, outputs: outputs)

    def tangents_of(primals: Any, tangents: Any) -> Any:
        outputs = attach(*primals)
        by_place = dict(zip(places, tangents[0]))
        return outputs, rule(filled(primals[0]), outputs, by_place)

    attach.defjvp(tangents_of)
    outputs: list[Any] = attach([values[i] for i in places], [jax.numpy.asarray(result) for result in results])
    return outputs


def _refuse(node: Node, name: str, *_: Any) -> Any:
    registration = f'`@tfg.core.registry.registry.gradient("{name or node.op}")` on a function (g, node, *grads)'
    other = (
        "fetch the gradients that `tfg.gradients` adds to the graph" if name else "end the gradient by `jax.lax.stop_gradient`"
    )
    raise UnimplementedError(
        f"its gradient '{name}' is not registered" if name else "the op has no gradient",
        node=node.name,
        op=node.op,
        hint=f"register it in an op library, {registration}, or {other}",
    )


class OpGradient:
    """The gradient function of a node, as a linear function of the gradients of the node's outputs."""

    def __init__(self, node: Node, function: Any, run: Any) -> None:
        self.node = node
        self.function = function
        self.run = run

    def plan(self, values: Sequence[Any], outputs: Sequence[Any]) -> tuple[list[int], Plan]:
        """Return the places of the inputs with a gradient, and the plan: (traced inputs, outputs, gradients) -> gradients."""
        g = GradientBuilder()
        inputs = [_placeholder(g, v) if isinstance(v, jax.Array) else g.constant(np.asarray(v)) for v in values]
        copy = g.graph.add_node(g.graph.unique_name(self.node.name), self.node.op, inputs, attrs=self.node.attrs)
        made = [copy.output(i) for i in range(len(outputs))]
        shapes = {tensor: Shape(value.shape) for tensor, value in zip([*inputs, *made], [*values, *outputs])}
        g.shapes = lambda tensor: shapes.get(tensor, UNKNOWN)
        arriving = [_placeholder(g, value) if _is_real(value) else None for value in outputs]
        gradients: Gradients = self.function(g, copy, *arriving)
        dense = {i: g.densify(gradient) for i, gradient in enumerate(gradients) if gradient is not None}
        places = [i for i in dense if isinstance(values[i], jax.Array) and _is_real(values[i])]
        fed = [tensor for tensor, value in zip(inputs, values) if isinstance(value, jax.Array)]
        seeds = [seed for seed in arriving if seed is not None]
        return places, compile_plan(g.graph, [dense[i] for i in places], [*fed, *made, *seeds])


def _tangents(gradient: OpGradient, values: Sequence[Any], outputs: Sequence[Any], tangents: dict[int, Any]) -> list[Any]:
    """Return the tangents of the outputs: the transpose of the gradient function, at the tangents of the inputs."""
    places, plan = gradient.plan(values, outputs)
    given = [value for value in values if isinstance(value, jax.Array)]
    reals = [i for i, value in enumerate(outputs) if _is_real(value)]

    def pulled_back(seeds: Sequence[Any]) -> list[Any]:
        results = gradient.run(plan, [*given, *outputs, *seeds])
        return [result.astype(values[i].dtype).reshape(values[i].shape) for i, result in zip(places, results)]

    seeds = [jax.ShapeDtypeStruct(outputs[i].shape, outputs[i].dtype) for i in reals]
    # TensorFlow registers the reverse rule, and `custom_jvp` wants the forward rule, which is the transpose of the reverse.
    pushed = dict(zip(reals, jax.linear_transpose(pulled_back, seeds)([tangents[i] for i in places])[0]))
    return [pushed.get(i, np.zeros(value.shape, jax.dtypes.float0)) for i, value in enumerate(outputs)]


def _placeholder(g: GradientBuilder, value: Any) -> Output:
    return g.Placeholder(dtype=dtypes.from_numpy(value.dtype), shape=value.shape)


def _holds_state(node: Node) -> bool:
    """Return True for a node with lists, or with objects behind handles, among the inputs and outputs."""
    return any(dtype in _HELD for dtype in (*(value.dtype for value in node.inputs), *node.output_dtypes))


def _is_real(value: Any) -> bool:
    return bool(jax.numpy.issubdtype(value.dtype, jax.numpy.floating))


def _is_complex(value: Any) -> bool:
    return bool(jax.numpy.issubdtype(value.dtype, jax.numpy.complexfloating))


def passed_on(xla: Any, fed: Collection[Output], source: Output, value: Any) -> Any:
    """Return the value of the tensor `source`, without gradients behind a StopGradient; the walk ends at tensors that are
    `fed`.

    Behind a node that names a gradient, the value has that gradient.
    """
    # Nodes such as StopGradient and Identity have no steps of their own in a plan, so that the reader looks behind its inputs.
    barrier = _barrier(fed, source, xla.gradient_ends.setdefault(bool(fed), {}))
    value = getattr(value, "value", value) if barrier is not None else value
    if barrier is None or not isinstance(value, (jax.Array, StackedElements)):
        return value
    if _stops(barrier):
        return jax.lax.stop_gradient(value)
    if barrier.attr("message") is not None:
        return _prevented(barrier, value)
    return value if isinstance(value, StackedElements) else differentiated(barrier, [value], [value], xla.fetched)[0]


def ends_of_iterations(fed: Collection[Output], loop: Loop) -> Iterator[tuple[int, Output]]:
    """Yield the slot of each variable of a V1 loop where gradients end between two iterations, and the tensor that is handed
    on.
    """
    for enter, slot in zip(loop.enters, loop.entries):
        if not enter.attr("is_constant"):
            merge = next(user for user in enter.uses if user.op in MERGE)
            end = next(value.node for value in merge.inputs if value.node.op in NEXT_ITERATION).inputs[0]
            if _barrier(fed, end, {}) is not None:
                yield slot, end


def _barrier(fed: Collection[Output], source: Output, known: dict[Output, Node | None]) -> Node | None:
    """Return the last node where gradients end, among the nodes that pass on the tensor `source`; `known` are earlier
    answers.
    """
    passed, barrier = [], None
    while source not in fed and hands_in(source.node) and source.node.inputs:
        if source in known:
            barrier = known[source]
            break
        passed.append(source)
        if _ends(source.node):
            barrier = source.node
            break
        source = source.node.inputs[0]
    known.update(dict.fromkeys(passed, barrier))
    return barrier


def _ends(node: Node) -> bool:
    return _stops(node) or node.attr("message") is not None or bool(gradient_name(node))


def _stops(node: Node) -> bool:
    return gradient_of(node) is NOT_DIFFERENTIABLE


def _prevented(node: Node, value: Any) -> Any:
    """Return the value, of which no gradient may be asked for."""

    def refuse(primals: Any, tangents: Any) -> Any:
        message = node.attr("message").decode("utf-8", "backslashreplace")
        raise UnimplementedError(f"gradient explicitly disabled: {message}", node=node.name, op=node.op)

    same = jax.custom_jvp(lambda x: x)
    same.defjvp(refuse)
    return same(value)
