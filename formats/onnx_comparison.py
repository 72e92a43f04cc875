"""The outputs of a graph beside those of a model in an ONNX file, computed by onnxruntime."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from ..core.comparing.value_comparison import GraphComparison, compare_outputs
from ..core.feeding.drawn_feeds import Feeds
from ..core.graph.graph import Graph
from ..core.runtime.session.session import Session
from ..core.support.errors import InvalidArgumentError
from ..core.support.file_formats import ONNX, extension_of
from ..core.support.tensor_names import parse_tensor_name
from ..core.support.words import listed
from .onnx_model import as_pairs, onnx_interface, run_onnx


def is_onnx(path: str | os.PathLike[str]) -> bool:
    """Return True for the name of an ONNX file."""
    return extension_of(path) in ONNX.extensions


def compare_with_onnx(
    graph: Graph,
    path: str | os.PathLike[str],
    names: tuple[Mapping[str, str], Mapping[str, str]],
    feeds: Mapping[str, Any],
    open_session: Callable[[Graph], Session],
    tolerance: float,
    *,
    onnx_first: bool = False,
    all_outputs: bool = True,
) -> GraphComparison:
    """Run a graph and an ONNX model on the same feeds and compare the outputs that both have.

    `names` are the graph's tensors behind the names of inputs and of outputs; other inputs are placeholders. An input
    without a value in `feeds` gets a drawn value. `onnx_first`: the model in the file is the first of the two. With
    `all_outputs` an output of the model that no name stands for is the graph's node of that name. InvalidArgumentError where
    names do not fit, UnimplementedError without the package onnxruntime.
    """
    inputs, outputs = onnx_interface(path)
    placeholders = {node.name: node.output().name for node in graph if node.is_placeholder}
    fed, fetched = ({name.removesuffix(":0"): tensor for name, tensor in pairs.items()} for pairs in names)
    fed = placeholders | fed
    if all_outputs:
        fetched |= {name: f"{name}:0" for name in outputs if name not in fetched and name in graph}
    both = [name for name in outputs if name in fetched]
    lacking = [name for name in inputs if name not in fed]
    if lacking or not both:
        problem = f"input '{lacking[0]}'" if lacking else f"output {listed(outputs)}"
        hint = f"the graph has {', '.join(fed if lacking else fetched) or 'none'}"
        raise InvalidArgumentError(f"the graph lacks {problem} of '{os.fspath(path)}'", hint=hint)
    fetches = [fetched[name] for name in both]
    drawn = Feeds(graph, feeds, [*fetches, *(fed[name] for name in inputs)])
    values, mine = next(drawn.each_that_runs(lambda given: open_session(graph).run(fetches, given)))
    theirs = dict(zip(outputs, run_onnx(path, {name: values[fed[name]] for name in inputs})))
    rows = ((fetched[name], _op(graph, fetched[name]), name, as_pairs(a), theirs[name]) for name, a in zip(both, mine))
    only_graph = tuple(name for name in fetched if name not in outputs)
    only_onnx = tuple(name for name in outputs if name not in fetched)
    if onnx_first:
        swapped = ((name, op, tensor, b, a) for tensor, op, name, a, b in rows)
        return GraphComparison(compare_outputs(swapped, tolerance), only_onnx, only_graph)
    return GraphComparison(compare_outputs(rows, tolerance), only_graph, only_onnx)


def _op(graph: Graph, tensor: str) -> str:
    return graph.node(parse_tensor_name(tensor)[0]).op
