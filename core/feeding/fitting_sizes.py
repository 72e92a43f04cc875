"""Sizes of unknown dimensions that the graph's constants and variables require, found by shape inference."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from ..graph.graph import Graph, Node
from ..graph.traversal import topological_order
from ..inference.inference import Answers, Inference, infer
from ..types.shapes import TensorSpec, as_shape

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
    """Return True where no shape function refuses the sizes of placeholders; `known` is an inference without sizes."""
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
