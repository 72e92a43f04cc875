"""Datasets: a source, ops that change it and what reads it, with the dtypes and functions that elements ask for, mostly."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from random import Random
from typing import Any

from tests.fuzz import drawing
from tests.fuzz.drawing import Drawing, chance
from tests.fuzz.trials import Trial
from tfg.core.graph.graph import Output
from tfg.core.registry.catalog import CATALOG
from tfg.core.types import dtypes
from tfg.core.types.dtypes import DType
from tfg.core.types.shapes import Shape

READERS = ("DatasetCardinality", "DatasetToSingleElement", "ReduceDataset", "MakeIterator", "DatasetToGraphV2")
_BOOL = ("predicate",)
_INDEX = ("key_func", "window_size_func")


@functools.cache
def changes() -> tuple[str, ...]:
    """Ops with a kernel that make a dataset of their first input, which is one."""

    def is_change(op: str) -> bool:
        definition = CATALOG[op]
        is_from = bool(definition.inputs) and definition.inputs[0].dtype is dtypes.variant
        return "Dataset" in op and is_from and [arg.dtype for arg in definition.outputs] == [dtypes.variant]

    return tuple(filter(is_change, drawing.ops()))


@functools.cache
def sources() -> tuple[str, ...]:
    """Ops with a kernel that make a dataset of tensors."""
    return tuple(op for op in drawing.makers("variant") if "Dataset" in op)


def draw_trial(random: Random) -> Trial:
    """What reads a dataset of up to three steps behind its source."""
    made = Drawing(random)
    made.shapes += [()] * 6
    types = [random.choice(drawing.DTYPES[:10]) for _ in range(random.choice((1, 1, 2)))]
    output = _step(made, random.choice(sources()), "source", types, None)
    for i in range(random.choice((0, 1, 1, 2, 3))):
        output = _step(made, random.choice(changes()), f"step{i}", types, output)
    reader = random.choice([op for op in READERS if op in drawing.ops()])
    node = made.node_with(reader, "op", _attrs(made, reader, types), first=output)
    fetches = tuple(f"op:{i}" for i in range(len(drawing.output_dtypes(node)))) or ("op",)
    return Trial(made.graph, (fetches, fetches), made.feeds)


def _step(made: Drawing, op: str, name: str, types: list[DType], before: Output | None) -> Output:
    """One op of the pipeline; `types` become those of its elements."""
    attrs = _attrs(made, op, types)
    if "Map" in op and isinstance(attrs.get("output_types"), list):
        types[:] = attrs["output_types"]
    return made.node_with(op, name, attrs, first=before).output()


def _attrs(made: Drawing, op: str, types: Sequence[DType]) -> dict[str, Any]:
    """Attributes drawn, those that say what elements are set as they are, functions that take elements."""
    definition, random = CATALOG[op], made.random
    attrs = drawing.draw_attrs(random, definition)
    for name in ("output_types", "Toutput_types", "Tcomponents", "Tstate"):
        if name in definition.attrs and chance(random, 0.95) and not ("Map" in op and chance(random, 0.5)):
            attrs[name] = list(types)
    expected = attrs.get("output_types")
    if "output_shapes" in definition.attrs and isinstance(expected, list) and chance(random, 0.95):
        attrs["output_shapes"] = [Shape()] * len(expected)
    for name, attr in definition.attrs.items():
        if attr.type == "func":
            others = attrs.get("Targuments") if isinstance(attrs.get("Targuments"), list) else []
            state = [*types] if "Tstate" in definition.attrs else []
            results = [dtypes.bool_] if name in _BOOL else [dtypes.int64] if name in _INDEX else expected
            arguments = [t for t in [*state, *types, *others] if isinstance(t, DType)]
            returned = [t for t in results if isinstance(t, DType)] if isinstance(results, list) else []
            attrs[name] = made.function(arguments, returned, False, 1)
    return attrs
