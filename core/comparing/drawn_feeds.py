"""Drawn feeds for a graph that runs without feeds: values by the placeholders' dtypes and shapes, and by the readers."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

import numpy as np

from ..graph.graph import Graph, Node
from ..planning.reachability import needed_nodes
from ..registry.input_ranks import input_rank_bounds
from ..registry.op_facts import has_fact
from ..support.errors import DataLossError, InvalidArgumentError, OutOfRangeError
from ..support.words import counted
from ..types.dtypes import DType
from ..types.shapes import as_shape
from .readable_texts import contents_of

_Result = TypeVar("_Result")

_MAX_SIZE: Final = 1 << 28
_WANTED: Final = 3
"""The number of feeds to run where different feeds can take different paths through the graph."""

_FAULTS: Final = (InvalidArgumentError, OutOfRangeError, DataLossError)
"""The errors of a run that may be the feeds' fault."""


class NoFeedsError(InvalidArgumentError):
    """The graph runs on none of the feeds that were drawn."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Plan:
    """A plan of drawing: sizes of unknown dimensions, integers and truth values.

    The first dimension is `batch`, all others are `size`, larger by `apart` from each to the next. Truth values are drawn
    where `truth` is None; integers are drawn from 0 and 1, or count up from `first`.
    """

    batch: int = 2
    size: int = 2
    apart: int = 0
    truth: bool | None = None
    first: int | None = None


_VARIED: Final = (_Plan(), _Plan(3, 4, 1, True, 1), _Plan(2, 2, 0, False, 1), _Plan(2, 3, 2, False, 0), _Plan(1, 5, 0, True))
"""Plans that differ in unknown dimensions and take both branches of conditions."""

_GROWN: Final = tuple(_Plan(2, size) for size in (8, 32, 64, 128, 224, 331))
"""Sizes for windows that fit into nothing smaller."""

_MOST_GROWN: Final = 1 << 21
"""The number of elements of a placeholder beyond which no larger sizes are tried."""

_RANKS: Final = (2, 4, 1, 3, 0)
"""The ranks to try for a placeholder of unknown rank, in this order, within the bounds of the readers."""


class Feeds:
    """The feeds of a run of `fetches`: the `fixed_feeds`, and drawn feeds for every other placeholder that the fetches
    need.
    """

    def __init__(self, graph: Graph, fixed_feeds: Mapping[str, Any], fetches: Sequence[str]) -> None:
        self.fixed_feeds = fixed_feeds
        needed = needed_nodes([graph.fetch(name) for name in fetches])
        placeholders = [node for node in graph if node.is_placeholder and node in needed]
        self.drawn = [node for node in placeholders if node.output().name not in fixed_feeds]
        self.contents = {node: contents_of(graph, node.output()) for node in self.drawn if node.attrs["dtype"].is_object}

    def first(self) -> dict[str, Any]:
        """Return the plainest feeds: random values, 2 for each unknown size."""
        return self._by(_VARIED[0], self._sizes(_VARIED[0], 0))

    def candidates(self, plans: Sequence[_Plan]) -> Iterator[dict[str, Any]]:
        """Yield feeds by each of several plans."""
        ranks = _RANKS if any(as_shape(node.attr("shape")).dims is None for node in self.drawn) else (0,)
        for plan, rank in itertools.product(plans, ranks):
            sizes = self._sizes(plan, rank)
            if plans is not _GROWN or all(math.prod(of_node) <= _MOST_GROWN for of_node in sizes.values()):
                yield self._by(plan, sizes)

    def each_that_runs(self, run: Callable[[Mapping[str, Any]], _Result]) -> Iterator[tuple[dict[str, Any], _Result]]:
        """Yield feeds on which `run` raises no error, each with the result; raise NoFeedsError where all feeds fail.

        Where nothing is drawn, an error of `run` comes from the graph and is raised unchanged.
        """
        if not self.drawn:
            yield dict(self.fixed_feeds), run(self.fixed_feeds)
            return
        count, error = 0, None
        for plans in (_VARIED, _GROWN) if self._varies else (_VARIED[:1],):
            for feeds in self.candidates(plans):
                try:
                    result = run(feeds)
                except _FAULTS as fault:
                    error = fault
                    continue
                yield feeds, result
                count += 1
                if count == (_WANTED if self._varies else 1):
                    return
            if count:
                return
        raise self._refused(error)

    @property
    def _varies(self) -> bool:
        """Return True where feeds of other sizes, or other integers or truth values, may take another way through the
        graph.
        """
        dtypes = [node.attrs["dtype"] for node in self.drawn]
        if not all(dtype.is_floating or dtype.is_complex for dtype in dtypes):
            return True
        return not all(as_shape(node.attr("shape")).is_known for node in self.drawn)

    def _sizes(self, plan: _Plan, rank: int) -> dict[Node, Sequence[int]]:
        number = itertools.count()
        return {node: _sizes(node, plan, rank, number) for node in self.drawn}

    def _by(self, plan: _Plan, sizes: Mapping[Node, Sequence[int]]) -> dict[str, Any]:
        rng = np.random.default_rng(0)
        drawn = {node.output().name: self._value(node, plan, sizes[node], rng) for node in self.drawn}
        return {**self.fixed_feeds, **drawn}

    def _value(self, node: Node, plan: _Plan, sizes: Sequence[int], rng: np.random.Generator) -> Any:
        if math.prod(sizes) > _MAX_SIZE:
            message = f"{as_shape(node.attr('shape'))} is too large for random values"
            raise NoFeedsError(message, node=node.name, op=node.op, hint="feed a value")
        dtype = node.attrs["dtype"]
        if dtype.is_object:
            values = np.empty(sizes, object)
            values[...] = self.contents[node]
            return values
        return _drawn(rng, sizes, dtype, plan)

    def _refused(self, error: Exception | None) -> NoFeedsError:
        names = ", ".join(f"{node.name} ({node.attrs['dtype']} {as_shape(node.attr('shape'))})" for node in self.drawn)
        flags = " ".join(f"--feed {node.name}=VALUE" for node in self.drawn)
        what = f"the graph fails on all random feeds of {counted(len(self.drawn), 'placeholder')}: {names}"
        return NoFeedsError(f"{what}; the last error was: {error}", hint=f"feed valid values: {flags}")


def generated_feeds(graph: Graph, fixed_feeds: Mapping[str, Any], fetches: Sequence[str]) -> dict[str, Any]:
    """Return the feeds, and for every other placeholder that `fetches` need random values; unknown sizes become 2."""
    return Feeds(graph, fixed_feeds, fetches).first()


def _sizes(node: Node, plan: _Plan, rank: int, number: Iterator[int]) -> list[int]:
    shape = as_shape(node.attr("shape"))
    if shape.dims is None:
        low, high = _rank_bounds(node)
        shape = as_shape([None] * int(min(max(rank, low), high)))
    sizes = []
    for axis, dim in enumerate(shape):
        unknown = plan.batch if axis == 0 else plan.size + plan.apart * next(number)
        sizes.append(dim if isinstance(dim, int) else unknown)
    return sizes


def _rank_bounds(node: Node) -> tuple[int, float]:
    """Return the least and the largest rank that all readers of a placeholder accept, looking through elementwise ops."""
    low, high = 0, math.inf
    seen, stack = set(), [node.output()]
    while stack:
        value = stack.pop()
        for user in value.node.uses:
            if user in seen:
                continue
            seen.add(user)
            if has_fact(user.op, "elementwise") and len(user.inputs) == 1:
                stack.append(user.output())
            for least, most in (input_rank_bounds(user.op, i) for i, source in enumerate(user.inputs) if source == value):
                low, high = max(low, least), min(high, most)
    return low, high


def _drawn(rng: np.random.Generator, sizes: Sequence[int], dtype: DType, plan: _Plan) -> Any:
    if dtype.is_floating or dtype.is_complex:
        return rng.standard_normal(sizes).astype(dtype.numpy)
    if dtype.name == "bool" and plan.truth is not None:
        return np.full(sizes, plan.truth)
    if dtype.name != "bool" and plan.first is not None:
        return (plan.first + np.arange(math.prod(sizes)).reshape(sizes) % 4).astype(dtype.numpy)
    return rng.integers(0, 2, sizes).astype(dtype.numpy)
