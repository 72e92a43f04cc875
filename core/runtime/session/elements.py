"""The elements of an input pipeline, by the name of a dataset, an iterator or a node that takes elements from an iterator."""

from __future__ import annotations

from typing import Any

from ...building.builder import GraphBuilder
from ...graph.graph import Node, Output
from ...inference.input_pipelines import beginning
from ...registry.op_facts import has_fact
from ...support.errors import InvalidArgumentError
from ...support.hints import Blank, Hint, command
from ...types.dtypes import string
from ...types.shapes import SCALAR
from .runner import Orders, Runner, StepResult


def elements_of(runner: Runner, name: str, count: int) -> list[StepResult]:
    """Return the first `count` elements, each as a step; the session's variables must be initialized or restored before.

    Raises InvalidArgumentError where the node is no part of a pipeline, or where several nodes begin its iterator. Raises
    OutOfRangeError where the pipeline is empty.
    """
    g = GraphBuilder(runner.graph.copy())
    begin, following = _asking(g, g.graph.node(name))
    asking = Runner(runner.session.on_graph(g.graph))
    if begin is not None:
        asking.session.run(begin.name)
    fetches = {f"component {i}": output.name for i, output in enumerate(following.outputs())}
    return list(asking.steps(Orders(fetches, {}, steps=count)))


def _asking(g: GraphBuilder, node: Node) -> tuple[Node | None, Node]:
    """Return (the node that begins a pass, the node that returns the next element), added to the graph where missing.

    The first is None where nothing has to begin a pass.
    """
    if has_fact(node.op, "next_element"):
        node = node.inputs[0].node
    spec = _spec(node)
    if node.output_dtypes[0].name == "variant":
        iterator = g.IteratorV2(name="tfg_elements/iterator", shared_name="", container="", **spec)
        return g.MakeIterator(node.output(), iterator, name="tfg_elements/begin"), _next(g, iterator, spec)
    begun = beginning(node)
    if len(begun) > 1:
        datasets = ", ".join(user.inputs[0].node.name for user in begun)
        raise InvalidArgumentError(
            f"several datasets ({len(begun)}) feed iterator '{node.name}'", hint=f"name a dataset: {datasets}"
        )
    return (begun[0] if begun else None), _next(g, node.output(), spec)


def _next(g: GraphBuilder, iterator: Output, spec: dict[str, Any]) -> Node:
    return g.add("IteratorGetNext", [iterator], spec, "tfg_elements/next")


def _spec(node: Node) -> dict[str, Any]:
    """Return the dtypes and shapes of elements as attributes."""
    types = node.attr("output_types", None) or node.attr("Toutput_types", None)
    if not types and has_fact(node.op, "reads_files"):
        return {"output_types": [string], "output_shapes": [SCALAR]}
    if not has_fact(node.op, "input_pipeline") or not types:
        raise InvalidArgumentError(
            f"'{node.name}' ({node.op}) is neither a dataset nor an iterator",
            hint=Hint(command("explain", Blank("GRAPH")), " shows the input pipelines"),
        )
    return {"output_types": types, "output_shapes": node.attr("output_shapes")}
