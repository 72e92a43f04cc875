"""Inference from dimensions that are forgotten at random, held against a run: whatever is said must hold."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np

from tfg.core.graph.graph import Graph, Output
from tfg.core.inference.inference import infer
from tfg.core.types.dims import Dim, DimLike, substitute
from tfg.core.types.dtypes import from_numpy
from tfg.core.types.shapes import Shape, TensorSpec


def forget(feeds: Mapping[str, Any], draws: random.Random) -> dict[str, TensorSpec]:
    """Return specs of fed arrays that lack some dimensions, some ranks and some values; equal sizes may share a symbol."""
    symbols = {size: Dim.unknown() for value in feeds.values() for size in np.shape(value)}
    specs = {}
    for name, value in feeds.items():
        kept = [draws.choice((size, size, None, symbols[size])) for size in value.shape]
        shape = Shape() if draws.random() < 0.1 else Shape(kept)
        known = value.dtype != object and shape.is_known and draws.random() < 0.8
        specs[name] = TensorSpec(from_numpy(value.dtype), shape, value if known else None)
    return specs


def assert_facts(graph: Graph, specs: Mapping[Output, TensorSpec], results: Mapping[Output, Any]) -> None:
    """Every inferred dtype, dimension and value is that of the run; a symbol stands for one number all through the run."""
    sizes: dict[str, int] = {}
    inference = infer(graph, specs)
    for output in [*specs, *(output for output in results if output not in specs)]:
        spec, result = inference.specs[output], results[output]
        where = f"{output.name} ({output.node.op}): inferred {spec.shape} {spec.value}"
        if not isinstance(result, (np.ndarray, np.generic)) or spec.handle:
            continue
        assert result.dtype in (spec.dtype.numpy, object), where
        if spec.shape.dims is not None:
            assert len(spec.shape.dims) == result.ndim, where
            for dim, size in zip(spec.shape.dims, result.shape):
                _assert_is(dim, size, sizes, f"{where}, the run gives shape {result.shape}")
        if spec.value is not None:
            assert spec.value.shape == result.shape, where
            for item, number in zip(spec.value.ravel().tolist(), result.ravel().tolist()):
                _assert_is(item, number, sizes, f"{where}, the run gives {result}")


def _assert_is(said: DimLike, number: Any, sizes: dict[str, int], where: str) -> None:
    """A number is the inferred one; the number of a symbol that stands alone is kept for the symbol's other places."""
    if isinstance(said, Dim):
        if said.is_unknown:
            sizes.setdefault(said.unnamed[0], number)
        if not said.symbols <= sizes.keys():
            return
        said = substitute(said, sizes)
    assert said == number or (said != said and number != number), where
