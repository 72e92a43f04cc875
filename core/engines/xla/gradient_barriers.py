"""Values that pass through StopGradient and PreventGradient, which take no steps of their own."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from ...building.named_gradients import gradient_of
from ...control_flow.copies import hands_in
from ...control_flow.frames import MERGE, NEXT_ITERATION
from ...functions.callers import gradient_name
from ...graph.graph import Node, Output
from ...planning.plan import Loop
from ...registry.registry import NOT_DIFFERENTIABLE
from ...support.errors import UnimplementedError
from .library import jax
from .list_programs import StackedElements
from .op_gradients import differentiated


def passed_on(xla: Any, fed: Collection[Output], source: Output, value: Any) -> Any:
    """Return the value of the tensor `source`, without gradients behind a StopGradient; the walk ends at tensors that are
    `fed`.

    Behind a node that names a gradient, the value has that gradient.
    """
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
