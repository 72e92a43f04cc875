"""Gradients of any node with respect to any other, built as nodes of the graph."""

from __future__ import annotations

from collections.abc import Sequence

from ..building.gradbuilder import GradientBuilder
from ..graph.graph import Graph
from ..support.arguments import checked
from ..support.gc_control import rare_collection
from .backward import add_gradients

__all__ = ["add_gradients", "gradients"]


@rare_collection()
@checked
def gradients(
    graph: Graph,
    ys: Sequence[str] | str,
    xs: Sequence[str] | str,
    grad_ys: Sequence[str | None] | None = None,
    stop_gradients: Sequence[str] = (),
    *,
    name: str = "gradients",
    colocate: bool = False,
) -> tuple[Graph, list[str | None]]:
    """Return a copy of `graph` with the gradient of the sum of `ys` with respect to each of `xs`, and the gradients' tensor
    names.

    ys, xs and stop_gradients are tensor names; a variable is named by its node or by its read tensor. `grad_ys` gives the
    gradients that arrive at ys (all 1 where None). A name is None for an x on which no y depends differentiably. An op on
    the way without a gradient raises UnimplementedError with the path to the op. `colocate` puts each gradient node on the
    device of its forward node (`loc:@`).
    """
    # The caller's graph stays: gradients of several losses may be asked for.
    result = graph.copy()
    seeds = [None if g is None else result.output(g) for g in grad_ys] if grad_ys is not None else None
    grads = add_gradients(
        result,
        [result.output(y) for y in _names(ys)],
        [result.output(x) for x in _names(xs)],
        seeds,
        [result.output(s) for s in stop_gradients],
        name=name,
        colocate=colocate,
    )
    builder = GradientBuilder(result)
    with builder.name_scope(f"{name}/"):
        return result, [None if g is None else builder.densify(g).name for g in grads]


def _names(names: Sequence[str] | str) -> Sequence[str]:
    return (names,) if isinstance(names, str) else names
