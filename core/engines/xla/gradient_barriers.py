"""Values that pass through StopGradient and PreventGradient, which take no steps of their own."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ...control_flow.copies import hands_in
from ...graph.graph import Node, Output
from ...registry.registry import NOT_DIFFERENTIABLE, gradient_function
from ...support.errors import UnimplementedError
from .library import jax


def passed_on(fed: Collection[Output], source: Output, value: Any) -> Any:
    """Return the value of the tensor `source`, without gradients behind a StopGradient; the walk ends at tensors that are
    `fed`.
    """
    if not isinstance(value, jax.Array):
        return value
    while source not in fed and hands_in(source.node) and source.node.inputs:
        node = source.node
        if gradient_function(node.op) is NOT_DIFFERENTIABLE:
            return jax.lax.stop_gradient(value)
        if node.attr("message") is not None:
            return _prevented(node, value)
        source = node.inputs[0]
    return value
    return value


def _prevented(node: Node, value: Any) -> Any:
    """Return the value, of which no gradient may be asked for."""

    def refuse(primals: Any, tangents: Any) -> Any:
        message = node.attr("message").decode("utf-8", "backslashreplace")
        raise UnimplementedError(f"gradient explicitly disabled: {message}", node=node.name, op=node.op)

    same = jax.custom_jvp(lambda x: x)
    same.defjvp(refuse)
    return same(value)
