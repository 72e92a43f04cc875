"""Plans of drawing: which sizes, integers, floats and truth values the feeds of a run get.

Sizes of unknown dimensions that constants and variables require are found by shape inference.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..graph.graph import Graph, Node
from ..graph.traversal import topological_order
from ..inference.inference import Answers, Inference, infer
from ..support import dataclasses
from ..types.dtypes import DType
from ..types.shapes import Shape, TensorSpec, as_shape


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


# Sizes of unknown dimensions that the graph's constants and variables require.

_Sizes = dict[Node, list[int]]

_MOST_TRIALS: Final = 48
"""The number of inferences of a search: each costs as much as planning a run."""

_MOST_NODES: Final = 20_000
"""The number of nodes beyond which no sizes are searched."""

_NUMBER: Final = re.compile(r"\d+")


def fitting_sizes(
    graph: Graph,
    sizes: Mapping[Node, Sequence[int]],
    free: Mapping[Node, Sequence[int]],
    most_trials: int = _MOST_TRIALS,
    known: Inference | None = None,
) -> _Sizes:
    """Return sizes of placeholders for which inference finds no conflict, or as few as possible; `free` has the axes that may
    change.

    `most_trials` bounds the number of inferences, and `known` is an inference of the graph without sizes, if there is one.
    A conflict is a node whose shape function refuses the sizes. Candidates for a size are the numbers in the reason and the
    sizes of the node's other inputs. A candidate is good if the first conflict comes later in the order of the graph.
    """
    best = {node: list(own) for node, own in sizes.items()}
    if len(graph) > _MOST_NODES or not most_trials or not any(free.values()):
        return best
    search = _Search(graph, known or infer(graph), min(most_trials, _MOST_TRIALS))
    conflict = search.first_conflict(best)
    while conflict is not None:
        better = next(search.better(best, free, conflict), None)
        if better is None:
            break
        best, conflict = better
    return best


def fits(graph: Graph, sizes: Mapping[Node, Sequence[int]], known: Inference) -> bool:
    """Return True if no shape function refuses the sizes of placeholders; `known` is an inference without sizes."""
    placeholders = {node: own for node, own in sizes.items() if node.is_placeholder}
    return _Search(graph, known, 1).first_conflict(placeholders) is None


class _Search:
    """Inferences of a graph for sizes of placeholders."""

    def __init__(self, graph: Graph, known: Inference, most_trials: int) -> None:
        self.graph = graph
        self.most_trials = most_trials
        self.order = {node.name: place for place, node in enumerate(topological_order(graph))}
        self.known = known
        self.trials = 0
        self.inference: Inference | None = None

    def first_conflict(self, sizes: Mapping[Node, Sequence[int]]) -> str | None:
        """Return the first node that refuses the sizes, if any."""
        self.trials += 1
        fed = {node.output(): TensorSpec(node.attrs["dtype"], as_shape(list(own))) for node, own in sizes.items()}
        # The cache of shapes alone: the results of calls would count against how many ways of a call are looked into.
        self.inference = infer(self.graph, fed, answers=Answers(derived=self.known.cache))
        always, reasons = self.known.reasons, self.inference.reasons
        names = [name for name in reasons if always.get(name) != reasons[name]]
        return min(names, key=lambda name: self.order[name], default=None)

    def better(self, sizes: _Sizes, free: Mapping[Node, Sequence[int]], conflict: str) -> Iterator[tuple[_Sizes, str | None]]:
        """Yield sizes with a later first conflict, or without one."""
        numbers = list(self._numbers(conflict))
        for changed in changed_sizes(sizes, free, numbers):
            if self.trials >= self.most_trials:
                return
            later = self.first_conflict(changed)
            if later is None or self.order[later] > self.order[conflict]:
                yield changed, later

    def _numbers(self, conflict: str) -> Iterator[int]:
        """Yield sizes that the refusing node may require, each once: those in the reason, then those of its inputs."""
        assert self.inference is not None
        texts = [self.inference.reasons[conflict]]
        for value in self.graph.node(conflict).inputs:
            spec = self.inference.specs[value]
            texts.append(str(spec.shape))
            known = spec.value if isinstance(spec.value, np.ndarray) and spec.value.size <= 8 else ()
            texts += [str(number) for number in np.ravel(known)]
        yield from numbers_in(" ".join(texts))


def numbers_in(text: str) -> list[int]:
    """Return the numbers in a text that can be sizes, each once."""
    return list(dict.fromkeys(int(number) for number in _NUMBER.findall(text) if len(number) < 7))


def changed_sizes(sizes: _Sizes, free: Mapping[Node, Sequence[int]], numbers: Sequence[int]) -> Iterator[_Sizes]:
    """Yield sizes with a candidate in place of a single dimension, or of all dimensions behind the first of a placeholder.

    A flattened picture has the product of its sizes: a required product is reached by a factor, or by its root for height
    and width together. At last two dimensions change at once, as a constant may require both.
    """
    for (node, axes), number in itertools.product(free.items(), numbers):
        later = [axis for axis in axes if axis != 0]
        for chosen in (*([axis] for axis in reversed(axes)), *([later] if len(later) > 1 else [])):
            yield _replaced(sizes, node, chosen, number)
    for (node, axes), pair in itertools.product(free.items(), itertools.permutations(numbers, 2)):
        later = [axis for axis in axes if axis != 0]
        if later and pair[0] and pair[1]:
            size = sizes[node][later[0]] * (pair[0] / pair[1]) ** (1 / len(later))
            yield _replaced(sizes, node, later, math.ceil(size))
    for node, axes in free.items():
        for pair, number, other in itertools.product(itertools.combinations(axes, 2), numbers, numbers):
            yield _replaced(_replaced(sizes, node, pair[:1], number), node, pair[1:], other)


def _replaced(sizes: _Sizes, node: Node, axes: Sequence[int], size: int) -> _Sizes:
    own = [size if axis in axes else old for axis, old in enumerate(sizes[node])]
    return {**sizes, node: own}
