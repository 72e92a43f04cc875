"""Costs of an input pipeline's functions for each element."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ..functions.callers import function_references
from ..graph.graph import Function, Graph, Node, Output
from ..inference.input_pipelines import asked_datasets, going_through_elements, maker_of, stages_of
from ..registry.op_facts import has_fact
from ..types.dtypes import DType
from ..types.shapes import UNKNOWN, Shape
from ..types.tensors import FuncRef
from .flops_report import FlopsReport, PipelineCost

Count = Callable[[Graph, Sequence[str]], FlopsReport]


def per_element(graph: Graph, needed: Iterable[Node], count: Count) -> Iterator[PipelineCost]:
    """Yield the cost of a call of each function that takes an element and captured values, from the source on."""
    for node, scope in _calling(graph, needed).items() if graph.functions else ():
        for reference in function_references(node):
            function = graph.functions.get(reference.name)
            argument_specs = None if function is None or not node.inputs else _arguments(node, function)
            if function is not None and argument_specs is not None:
                called = _call(graph, reference, function, argument_specs)
                yield PipelineCost(f"{scope}{node.name}", node.op, reference.name, count(called, ["call"]).total())


def _calling(graph: Graph, needed: Iterable[Node]) -> dict[Node, str]:
    """Return the datasets and iterators that may call functions for elements, sources first, each with the path
    `FUNCTION/`.
    """
    callers: dict[Node, str] = {}
    for path, asking in going_through_elements(graph, needed):
        scope = path.removesuffix(asking.name)
        for dataset in asked_datasets(graph, asking):
            callers.update((stage, scope) for stage in stages_of(dataset) if has_fact(stage.op, "input_pipeline"))
        callers[asking] = scope
    return callers


def _arguments(node: Node, function: Function) -> list[tuple[DType, Shape]] | None:
    """Return the dtypes and shapes of a function's arguments; None where no element leads them, behind any state."""
    source = maker_of(node.inputs[0])
    state = node.attr("Tstate", None) or []
    types = source.attr("output_types", None) or source.attr("Toutput_types", None) or []
    shapes = source.attr("output_shapes", None) or [UNKNOWN] * len(types)
    dtypes = [arg.attr("T") for arg in function.args]
    if dtypes[: len(state) + len(types)] != [*state, *types] or len(dtypes) - len(types) >= len(node.inputs):
        return None
    taken = list(map(_declared, node.inputs[1 : 1 + len(dtypes) - len(types)]))
    return list(zip(dtypes, [*taken[: len(state)], *shapes, *taken[len(state) :]]))


def _declared(value: Output) -> Shape:
    """Return the shape of a captured constant; UNKNOWN for other values."""
    return Shape(value.node.attr("value").shape) if value.node.is_constant else UNKNOWN


def _call(graph: Graph, reference: FuncRef, function: Function, signature: Sequence[tuple[DType, Shape]]) -> Graph:
    """Return a graph that calls the function on placeholders."""
    called = graph.emptied()
    called.functions = dict(graph.functions)
    made = [
        called.add_node(f"component{i}", "Placeholder", (), (), {"dtype": dtype, "shape": shape})
        for i, (dtype, shape) in enumerate(signature)
    ]
    types = {"Tin": [dtype for dtype, _ in signature], "Tout": [value.dtype for value in function.results], "f": reference}
    called.add_node("call", "StatefulPartitionedCall", [node.output() for node in made], (), types)
    return called
