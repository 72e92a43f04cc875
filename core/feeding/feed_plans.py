"""Plans of drawing: which sizes, integers, floats and truth values the feeds of a run get."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..support import dataclasses
from ..types.dtypes import DType
from ..types.shapes import Shape


@dataclasses.dataclass(frozen=True, slots=True)
class DrawingPlan:
    """A plan of drawing: sizes of unknown dimensions, integers, floats and truth values.

    The first dimension is `batch`, all others are `size`, larger by `apart` from each to the next. `sizes` has the sizes of
    single dimensions, by placeholder and axis. Truth values are drawn where `truth` is None; `truths` has those of single
    placeholders. Integers are drawn from the first `span` numbers, or count up from `first`. Floats lie around
    `moved`. With `is_keyed` integers are keys of tables.
    """

    batch: int = 2
    size: int = 2
    apart: int = 0
    truth: bool | None = None
    first: int | None = None
    span: int = 2
    moved: float | None = None
    is_keyed: bool = False
    sizes: Mapping[tuple[int, int], int] = dataclasses.field(default_factory=dict)
    truths: Mapping[int, bool] = dataclasses.field(default_factory=dict)


VARIED: Final = (
    DrawingPlan(),
    DrawingPlan(3, 4, 1, True, 1),
    DrawingPlan(2, 2, 0, False, 1),
    DrawingPlan(2, 3, 2, False, 0),
    DrawingPlan(1, 5, 0, True),
    DrawingPlan(span=1),
)
"""Plans that differ in unknown dimensions and take both branches of conditions; the last has labels of a single class."""

GROWN: Final = tuple(DrawingPlan(2, size) for size in (8, 32, 64, 128, 224, 331))
"""Sizes for windows that fit into nothing smaller."""

EDGES: Final = (
    {"moved": 3.0}, {"moved": -3.0}, {"moved": 1e3}, {"moved": -1e3}, {"first": 0}, {"first": 3}, {"first": 1000},
    {"truth": True}, {"truth": False},
)  # fmt: skip
"""Values by which a computed predicate may take its other side."""

_ALL_COMBINATIONS: Final = 3
"""The number of truth values of which all combinations are tried; of more, each alone is turned around."""

_MOST_INPUTS: Final = 4
"""The number of placeholders whose sizes are varied on their own; a graph with more has one of each kind among the first."""


def size_variations(base: DrawingPlan, unknown: Mapping[int, Sequence[int]]) -> Iterator[DrawingPlan]:
    """Yield plans that differ from `base` in sizes of single placeholders: 1, one more, and 0, against the others' sizes.

    `unknown` has the axes of unknown size by placeholder. Broadcasting turns on the difference of 1 and N between two
    inputs, so each input is 1 where the others are not, after all are.
    """
    inputs = list(itertools.islice(unknown.items(), _MOST_INPUTS))
    first = {number: [axis for axis in axes if axis == 0] for number, axes in inputs}
    later = {number: [axis for axis in axes if axis != 0] for number, axes in inputs}
    sizes = (1, base.batch + 1, 0)
    for size in sizes:
        yield _with_sizes(base, {(number, 0): size for number, axes in unknown.items() if 0 in axes})
    for axes in (first, later):
        for size in sizes:
            yield from _each_alone(base, axes, size)


def _each_alone(base: DrawingPlan, axes: Mapping[int, Sequence[int]], size: int) -> Iterator[DrawingPlan]:
    for number, own in axes.items():
        yield from (_with_sizes(base, {(number, axis): size}) for axis in own)


def _with_sizes(base: DrawingPlan, sizes: Mapping[tuple[int, int], int]) -> DrawingPlan:
    return dataclasses.replace(base, sizes={**base.sizes, **sizes})


def truth_variations(base: DrawingPlan, numbers: Sequence[int]) -> Iterator[DrawingPlan]:
    """Yield plans with other truth values of the placeholders with these numbers: all combinations, or each turned around."""
    if len(numbers) <= _ALL_COMBINATIONS:
        choices = [dict(zip(numbers, values)) for values in itertools.product((True, False), repeat=len(numbers))]
    else:
        choices = [dict.fromkeys(numbers, True), dict.fromkeys(numbers, False)]
        choices += [{**dict.fromkeys(numbers, value), number: not value} for number in numbers for value in (True, False)]
    yield from (dataclasses.replace(base, truths=choice) for choice in choices if choice)


def sizes_of(shape: Shape, number: int, plan: DrawingPlan, counter: Iterator[int]) -> list[int]:
    """Return the sizes of a placeholder's dimensions by a plan; `number` is the placeholder's place."""
    sizes = []
    for axis, dim in enumerate(shape):
        unknown = plan.batch if axis == 0 else plan.size + plan.apart * next(counter)
        sizes.append(dim if isinstance(dim, int) else plan.sizes.get((number, axis), unknown))
    return sizes


def drawn_array(rng: np.random.Generator, sizes: Sequence[int], dtype: DType, plan: DrawingPlan, number: int) -> Any:
    """Return an array of random numbers or truth values by a plan."""
    if dtype.is_floating or dtype.is_complex:
        values = rng.standard_normal(sizes)
        return (values if plan.moved is None else values + plan.moved).astype(dtype.numpy)
    if dtype.name == "bool":
        truth = plan.truths.get(number, plan.truth)
        return rng.integers(0, 2, sizes).astype(bool) if truth is None else np.full(sizes, truth)
    if plan.first is not None:
        return (plan.first + np.arange(math.prod(sizes)).reshape(sizes) % 4).astype(dtype.numpy)
    return rng.integers(0, plan.span, sizes).astype(dtype.numpy)
