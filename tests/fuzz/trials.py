"""What the fuzzers try: a graph with fetches and feeds, taken through every part of tfg that looks at one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tfg.core.flops import count_flops
from tfg.core.gradients import gradients
from tfg.core.graph.graph import Graph
from tfg.core.inference.inference import infer
from tfg.core.passes.pipeline import optimize
from tfg.core.runtime.session.session import Session
from tfg.core.types import dtypes
from tfg.core.types.shapes import Shape, TensorSpec
from tfg.core.types.tensors import Tensor
from tfg.formats import load, to_bytes

SECONDS = 0.25
"""How long a run may take: one that waits for what never comes ends with DeadlineExceededError."""


@dataclasses.dataclass(frozen=True)
class Trial:
    """A graph, what to fetch of it in each step and what to feed; `origin` says how to draw it again."""

    graph: Graph
    steps: tuple[tuple[str, ...], ...]
    feeds: Mapping[str, np.ndarray]
    origin: str = ""

    @property
    def fetches(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for step in self.steps for name in step))


def run(trial: Trial) -> None:
    session = Session(trial.graph, seed=0, timeout=SECONDS)
    for fetches in trial.steps:
        session.run(fetches, trial.feeds)


def infer_shapes(trial: Trial) -> None:
    infer(trial.graph)


def infer_values(trial: Trial) -> None:
    infer(trial.graph, {trial.graph.output(name): _spec(trial.graph, name, value) for name, value in trial.feeds.items()})


def _spec(graph: Graph, name: str, value: np.ndarray) -> TensorSpec:
    dtype = graph.output(name).dtype or dtypes.from_numpy(value.dtype)
    return TensorSpec(dtype.base, Shape(value.shape), None if value.dtype == object else value)


def flops(trial: Trial) -> None:
    count_flops(trial.graph, trial.fetches, list(trial.feeds), values=trial.feeds)


def optimize_fed(trial: Trial) -> None:
    changed, _ = optimize(trial.graph, trial.fetches, list(trial.feeds))
    run(dataclasses.replace(trial, graph=changed))


def optimize_constant(trial: Trial) -> None:
    """With the feeds as constants of the graph, so that folding runs the kernels."""
    trial.graph.check()
    graph = trial.graph.copy()
    for name, value in trial.feeds.items():
        output = graph.output(name)
        if output.node.op == "Placeholder" and output.dtype is not None and output.dtype.numpy == value.dtype:
            node = output.node
            node.change_op("Const")
            node.attrs = {"dtype": output.dtype, "value": Tensor.from_numpy(value, output.dtype)}
            graph.set_inputs(node, ())
    optimize(graph, trial.fetches)


def differentiate(trial: Trial) -> None:
    ys = [name for name in trial.fetches if _is_floating(trial.graph, name)]
    xs = [name for name in trial.feeds if _is_floating(trial.graph, name)]
    if not ys or not xs:
        return
    graph, result = gradients(trial.graph, ys, xs)
    names = tuple(dict.fromkeys(name for name in result if name is not None))
    if names:
        run(Trial(graph, (names,), trial.feeds))
        count_flops(graph, names, list(trial.feeds), values=trial.feeds)


def _is_floating(graph: Graph, name: str) -> bool:
    graph.check()
    if ":" not in name:
        return False
    dtype = graph.output(name).dtype
    return dtype is not None and (dtype.is_floating or dtype.is_complex)


def write_and_read(trial: Trial) -> None:
    load(to_bytes(trial.graph))


def check(trial: Trial) -> None:
    trial.graph.check()


PARTS: Sequence[Callable[[Trial], Any]] = (
    check, run, infer_shapes, infer_values, flops, optimize_fed, optimize_constant, differentiate, write_and_read,
)  # fmt: skip
