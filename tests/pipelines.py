"""Graphs with input pipelines, for the cases of the dataset families."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.functions import define
from tests.opcases import Case, graph_case
from tfg.core.building.builder import GraphBuilder

NUMBER = {"output_types": ["int64"], "output_shapes": [()]}
"""An int64 of rank 0."""
NO_REWRITES = b"\x1a\x02\x08\x00\x3a\x02\x08\x00"
"""Options without default optimizations and automatic tuning."""


def elements(*parts: tuple[str, Any]) -> dict[str, Any]:
    """Return the attributes of elements with components of these dtypes and shapes."""
    return {"output_types": [dtype for dtype, _ in parts], "output_shapes": [shape for _, shape in parts]}


def pipeline(
    key: str,
    op: str,
    make: Callable[[GraphBuilder], Any],
    spec: dict[str, Any] = NUMBER,
    take: int = 12,
    passes: int = 1,
    plain: bool = False,
) -> Case:
    """Return a case with passes over the dataset of `make`, element by element until after the end.

    `plain`: without TensorFlow's default rewrites, which remove some ops.
    """

    def build(g: GraphBuilder) -> Sequence[Sequence[str]]:
        dataset = make(g)
        if plain:
            dataset = g.OptionsDataset(dataset, serialized_options=NO_REWRITES, **spec)
        iterator = g.IteratorV2(shared_name="", container="", **spec)
        g.MakeIterator(dataset, iterator, name="start")
        g.IteratorGetNext(iterator, name="next", **spec)
        following = [f"next:{i}" for i in range(len(spec["output_types"]))]
        return [step for _ in range(passes) for step in (["start"], *[following] * take)]

    return graph_case(f"{op} {key}", op, build)


def numbers(g: GraphBuilder, *bounds: int) -> Any:
    """A dataset of range(*bounds)."""
    span = range(*bounds)
    return g.RangeDataset(*map(int64, (span.start, span.stop, span.step)), **NUMBER)


def slices(g: GraphBuilder, *arrays: np.ndarray) -> Any:
    """A dataset of the rows of arrays."""
    values = [g.constant(array) for array in arrays]
    return g.TensorSliceDataset(values, Toutput_types=[v.dtype for v in values], output_shapes=[a.shape[1:] for a in arrays])


def int64(value: int) -> np.ndarray:
    """Return a number in the form of dataset inputs."""
    return np.array(value, np.int64)


def text(value: str | bytes) -> np.ndarray:
    """Return a string in the form of dataset inputs."""
    return np.array(value.encode() if isinstance(value, str) else value, object)


def function(g: GraphBuilder, name: str, args: Sequence[str], make: Callable[..., Any], stateful: bool = False) -> str:
    """Add a function to the library; `make(builder, *arguments)` returns the results."""
    return define(g, name, args, make, stateful)
