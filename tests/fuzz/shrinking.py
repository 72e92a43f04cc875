"""From a trial that fails to one as small as can be found that fails in the same way."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator

import numpy as np

from tests.fuzz.trials import Trial
from tfg.core.graph.graph import Graph, Node
from tfg.core.graph.traversal import reachable
from tfg.core.support.errors import TfgError
from tfg.core.types.tensors import Tensor
from tfg.formats import to_text

SECONDS = 20.0


def shrunk(trial: Trial, fails: Callable[[Trial], bool], seconds: float = SECONDS) -> Trial:
    """The trial made smaller step by step, as long as it fails and the time lasts."""
    deadline = time.monotonic() + seconds
    progress = True
    while progress and time.monotonic() < deadline:
        progress = False
        for candidate in _smaller(trial):
            if time.monotonic() > deadline:
                break
            if fails(candidate):
                trial, progress = candidate, True
                break
    return trial


def _smaller(trial: Trial) -> Iterator[Trial]:
    """Trials with one thing less."""
    if len(trial.steps) > 1:
        yield from (dataclasses.replace(trial, steps=(step,)) for step in trial.steps)
    for fetch in trial.fetches:
        if len(trial.fetches) > 1:
            yield dataclasses.replace(trial, steps=((fetch,),))
    yield from _pruned(trial)
    for name, value in trial.feeds.items():
        for smaller in _smaller_arrays(value):
            yield dataclasses.replace(trial, feeds={**trial.feeds, name: smaller})
    for node in trial.graph:
        for attrs in _smaller_attrs(node):
            graph = trial.graph.copy()
            graph.node(node.name).attrs = attrs
            graph.node(node.name).forget_dtypes()
            yield dataclasses.replace(trial, graph=graph)


def _pruned(trial: Trial) -> Iterator[Trial]:
    """Without the nodes that no fetch needs."""
    names = {name.partition(":")[0] for name in (*trial.fetches, *trial.feeds)}
    needed = {node.name for node in reachable(node for node in trial.graph if node.name in names)}
    if len(needed) < len(trial.graph):
        graph = trial.graph.copy()
        graph.remove_nodes([node for node in graph if node.name not in needed])
        yield dataclasses.replace(trial, graph=graph)


def _smaller_arrays(value: np.ndarray) -> Iterator[np.ndarray]:
    """Zeros, a dimension less, a dimension cut."""
    zeros = np.zeros_like(value) if value.dtype != object else value
    if value.dtype != object and value.tobytes() != zeros.tobytes():
        yield zeros
    for axis, size in enumerate(value.shape):
        if size:
            yield np.asarray(np.take(value, 0, axis), value.dtype)
        if size > 1:
            yield np.take(value, range(size // 2), axis)


def _smaller_attrs(node: Node) -> Iterator[dict[str, object]]:
    """Without an attribute that is as its default, or with the default in its place; constants of fewer elements."""
    definition = node.op_def
    for name, value in node.attrs.items():
        declared = definition.attrs.get(name) if definition is not None else None
        if declared is None or declared.has_default:
            yield {key: other for key, other in node.attrs.items() if key != name}
        if isinstance(value, Tensor):
            for smaller in _smaller_arrays(value.numpy()):
                yield {**node.attrs, name: Tensor.from_numpy(smaller, value.dtype)}


def snippet_of(trial: Trial, part: str) -> str:
    """The trial as something to paste: the graph as text, what to fetch and what to feed."""
    feeds = ", ".join(f"{name!r}: {_array_text(value)}" for name, value in trial.feeds.items())
    return f"{_graph_text(trial.graph)}# {part}, fetches {list(trial.fetches)}, feeds {{{feeds}}}"


def _array_text(value: np.ndarray) -> str:
    return f"np.array({value.tolist()!r}, '{value.dtype}').reshape({value.shape})"


def _graph_text(graph: Graph) -> str:
    try:
        return to_text(graph)
    except TfgError:
        lines = (f"{n.name} = {n.op}({', '.join(map(str, n.inputs))}) {dict(n.attrs)}" for n in graph)
        return "\n".join(lines) + "\n"
