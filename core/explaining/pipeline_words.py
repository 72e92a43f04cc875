"""Input pipelines in words: sources, stages, and components of the elements."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..graph.callers import called_functions, function_references
from ..graph.graph import Function, Graph, Node, Output
from ..inference.input_pipelines import asked_datasets, beginning, going_through_elements, stages_of
from ..registry.op_facts import has_fact
from ..support import dataclasses
from ..support.words import counted
from ..types.shapes import SCALAR, Shape
from ..types.tensors import Tensor

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]*|[0-9]+")


@dataclasses.dataclass(frozen=True, slots=True)
class Component:
    """A tensor of each element, and the feed that replaces the pipeline."""

    name: str
    """The tensor to feed in place of the pipeline."""
    dtype: str
    """The name of the dtype."""
    shape: Shape
    """The shape as far as known."""


@dataclasses.dataclass(frozen=True, slots=True)
class PipelineFacts:
    """The pipeline of a node that asks for elements: stages from the source on, components, and the nodes that begin a
    pass.

    Without an iterator the node itself goes through all elements.
    """

    node: str
    """The node that asks for elements."""
    iterator: str
    """The iterator, or ""."""
    begun_by: tuple[str, ...]
    """The nodes that begin a pass."""
    stages: tuple[str, ...]
    """The stages from the source on, in words."""
    components: tuple[Component, ...]
    """The tensors of an element."""


def pipelines(graph: Graph) -> tuple[PipelineFacts, ...]:
    """Return the pipelines behind the nodes that ask for elements, in the graph and in called functions."""
    return tuple(_facts(graph, path, node) for path, node in going_through_elements(graph, graph))


def _facts(graph: Graph, path: str, node: Node) -> PipelineFacts:
    has_iterator = has_fact(node.op, "next_element")
    iterator = node.inputs[0].node
    begun = beginning(iterator) if has_iterator else []
    datasets = asked_datasets(graph, node)
    several = len(datasets) > 1
    stages = [
        f"{begun[i].name}: {words}" if several and i < len(begun) else words
        for i, dataset in enumerate(datasets)
        for words in _stages(graph, dataset)
    ]
    # Without an iterator the node is the last stage itself, as a reduction of a dataset.
    if not has_iterator:
        return PipelineFacts(path, "", (), (*stages, _words(graph, node)), components(node))
    return PipelineFacts(path, iterator.name, tuple(user.name for user in begun), tuple(stages), components(node))


def components(node: Node) -> tuple[Component, ...]:
    """Return the tensors of each element that a node yields; an optional is a single tensor."""
    # An iterator that gives an optional declares the types of the element, but has one output of a variant.
    is_optional = (node.attr_of(list, "output_types") or []) != list(node.output_dtypes)
    shapes = [SCALAR] if is_optional else node.attr_of(list, "output_shapes") or []
    specs = zip(node.outputs(), node.output_dtypes, shapes)
    return tuple(Component(output.name, str(dtype), shape) for output, dtype, shape in specs)


def _stages(graph: Graph, dataset: Output) -> list[str]:
    """Return the stages in words from the source on; joined inputs come in turn, and a shared stage is told once."""
    return [
        _words(graph, node) if has_fact(node.op, "input_pipeline") else f"the elements of '{node.name}' ({node.op})"
        for node in stages_of(dataset)
    ]


def _words(graph: Graph, node: Node) -> str:
    """Return an op in words, with constants and functions: `shuffle (buffer size 100, seed 1)`."""
    # `ParallelMapDatasetV2` is a parallel map: the rest of the name tells a reader nothing.
    name = re.sub(r"^Experimental|Dataset|V[0-9]+$", "", node.op)
    details = [*_constants(node), *_functions(graph, node)]
    words = " ".join(_WORD.findall(name)).lower()
    return f"{words} ({', '.join(details)})" if details else words


def _constants(node: Node) -> Iterator[str]:
    """Yield the constant arguments, with the sizes of constants that are too large to show."""
    names = [arg.name for arg in node.op_def.inputs if not arg.is_list] if node.op_def is not None else []
    # With lists of inputs, such as captured values, names and inputs do not correspond one to one.
    named = len(names) == len(node.inputs)
    for i, value in enumerate(node.inputs):
        tensor = value.node.attr_of(Tensor, "value")
        if tensor is None:
            continue
        label = names[i].replace("_", " ") if named else ""
        # A preview reads a scalar from the file's bytes without NumPy.
        values = tensor.preview(1) if tensor.shape == () else None
        yield f"{label} {values[0] if values else f'{tensor.dtype}{Shape(tensor.shape)}'}".strip()


def _functions(graph: Graph, node: Node) -> Iterator[str]:
    for reference in function_references(node):
        function = graph.functions.get(reference.name)
        size = "" if function is None else f" of {counted(len(function.body) - len(function.args), 'node')}"
        ops = _work(graph, function) if function is not None else []
        shown = f": {', '.join(ops[:_SHOWN])}{' ...' if len(ops) > _SHOWN else ''}" if ops else ""
        yield f"function {reference.name}{size}{shown}"


def _work(graph: Graph, function: Function) -> list[str]:
    """Return the op types of a function and of called functions, without constants and identities."""
    # A function that calls itself is among those that it calls. Sorted, since a set has another order in each process.
    names = [function.name, *sorted(called_functions(graph, function.body) - {function.name})]
    nodes = (node for name in names for node in graph.functions[name].body)
    return list(dict.fromkeys(n.op for n in nodes if n.inputs and not n.is_identity))


_SHOWN = 4
"""The largest number of a function's op types that are named."""
