"""Drawn feeds for a graph that runs without feeds: values by the placeholders' dtypes and shapes, and by the readers.

A plan of drawing says which sizes, integers, floats and truth values the feeds of a run get. Sizes of unknown dimensions that
constants and variables require are found by shape inference. Examples of feeds as texts have the same sizes, integers within
tables, and parts that fit together.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import re
import sys
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

import numpy as np

from ...graph.graph import Graph, Node, Output
from ...graph.traversal import topological_order
from ...inference.binding import named_inputs
from ...inference.inference import Answers, Inference, infer
from ...planning.reachability import needed_nodes
from ...registry.input_ranks import input_rank_bounds
from ...registry.op_facts import has_fact
from ...registry.registry import has_kernel
from ...support import dataclasses
from ...support.errors import (
    DataLossError,
    InvalidArgumentError,
    NotFoundError,
    OutOfRangeError,
    PermissionDeniedError,
    ResourceExhaustedError,
    TfgError,
)
from ...support.hints import Hint, HintStep, feed
from ...support.words import counted
from ...types.dtypes import DType, string
from ...types.example_values import example_value
from ...types.shapes import Shape, TensorSpec, as_shape
from .readable_texts import PLAIN, called_arguments, contents_of, example_text, readers_of


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
        # All batches at once: inputs usually share one batch.
        yield _with_sizes(base, {(number, 0): size for number, axes in unknown.items() if 0 in axes})
    for axes in (first, later):
        for size in sizes:
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
        # Around 0 by default, where most functions of networks are neither saturated nor undefined.
        return (values if plan.moved is None else values + plan.moved).astype(dtype.numpy)
    if dtype.name == "bool":
        truth = plan.truths.get(number, plan.truth)
        return rng.integers(0, 2, sizes).astype(bool) if truth is None else np.full(sizes, truth)
    if plan.first is not None:
        # Four numbers over and over: distinct enough for indices, and small enough for most tables.
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
    # Without a search the sizes are as good as any, and the run tells.
    if len(graph) > _MOST_NODES or not most_trials or not any(free.values()):
        return best
    search = _Search(graph, known or infer(graph), min(most_trials, _MOST_TRIALS))
    conflict = search.first_conflict(best)
    while conflict is not None:
        better = next(search.better(best, free, conflict), None)
        if better is None:
            break
        # Each size that moves the first conflict back is kept: constants of a model fix one size after the other.
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
        # A later conflict is progress only in an order that follows the values.
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
        # What is refused without sizes too is not the fault of the sizes.
        names = [name for name in reasons if always.get(name) != reasons[name]]
        return min(names, key=lambda name: self.order[name], default=None)

    def better(self, sizes: _Sizes, free: Mapping[Node, Sequence[int]], conflict: str) -> Iterator[tuple[_Sizes, str | None]]:
        """Yield sizes with a later first conflict, or without one."""
        numbers = list(self._numbers(conflict))
        for changed in changed_sizes(sizes, free, numbers):
            if self.trials >= self.most_trials:
                return
            later = self.first_conflict(changed)
            # The graph is right up to a later node, so the size fits more of it.
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
            # Small values only: they are sizes and axes, and a weight's elements are not.
            texts += [str(number) for number in np.ravel(known)]
        yield from numbers_in(" ".join(texts))


def numbers_in(text: str) -> list[int]:
    """Return the numbers in a text that can be sizes, each once."""
    # Longer numbers are addresses or products, and would allocate too much as sizes.
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
            # Height and width share the factor by which the product has to change.
            size = sizes[node][later[0]] * (pair[0] / pair[1]) ** (1 / len(later))
            yield _replaced(sizes, node, later, math.ceil(size))
    for node, axes in free.items():
        for pair, number, other in itertools.product(itertools.combinations(axes, 2), numbers, numbers):
            yield _replaced(_replaced(sizes, node, pair[:1], number), node, pair[1:], other)


def _replaced(sizes: _Sizes, node: Node, axes: Sequence[int], size: int) -> _Sizes:
    own = [size if axis in axes else old for axis, old in enumerate(sizes[node])]
    return {**sizes, node: own}


# Values of placeholders that are the parts of a sparse or ragged tensor: indices within the shape, splits that end at the
# number of values.

_ROWS: Final = 8
"""The smallest size of a dimension in the shape of a sparse tensor: more than the number of drawn indices."""

_Reader = tuple[Node, int]


class CompositeFeeds:
    """The placeholders of `drawn` that ops read as indices, shapes and splits, by the argument names of the catalog.

    `inference` is an inference of the graph, if there is one.
    """

    def __init__(self, graph: Graph, drawn: Sequence[Node], inference: Inference | None = None) -> None:
        self.graph = graph
        self._known = inference
        sources: dict[Node, dict[str, list[Node | None]]] = {}
        for placeholder in drawn:
            for node, index in composite_readers(graph, placeholder.output()):
                if node.op_def is not None:
                    lengths = {arg.name: node.attr(arg.number_attr) if arg.number_attr else 1 for arg in node.op_def.inputs}
                    parts = sources.setdefault(node, {name: [None] * length for name, length in lengths.items()})
                    _put(parts, node, index, placeholder)
        self.shapes = list(_sparse(sources))
        self.splits = list(_ragged(sources))

    def fitted(self, values: Mapping[Node, Any], most: int = sys.maxsize) -> dict[Node, Any]:
        """Return new values of indices, shapes and splits that fit the drawn values of all placeholders.

        What has more than `most` elements is left out.
        """
        # A value that is written out as text, and large, stays the text that generates it.
        large = {node for node, value in values.items() if np.size(value) > most}
        return {**dict(self._of_sparse(values, large)), **dict(self._of_ragged(values, large))}

    def _of_sparse(self, values: Mapping[Node, Any], large: Container[Node]) -> Iterator[tuple[Node, Any]]:
        """Yield shapes that hold all indices, and indices in order: a row each, in the first column."""
        for reader, indices, shape in self.shapes:
            if shape in large:
                continue
            # The indices count up in the first column, so the shape has at least as many rows.
            count = 0 if indices is None else _length(values[indices])
            sizes = np.full(np.size(values[shape]), max(_ROWS, count), values[shape].dtype)
            if sizes.size > 1:
                # A sparse matrix multiplies from the left, so it has as many columns as the other has rows.
                sizes[-1] = self._columns(reader, indices) or sizes[-1]
            yield shape, sizes
            if indices is not None and indices not in large and np.ndim(values[indices]) == 2:
                # Kernels of sparse tensors take indices in order and without repetition.
                table = np.zeros_like(values[indices])
                table[:, :1] = np.arange(count)[:, None]
                yield indices, table

    def _of_ragged(self, values: Mapping[Node, Any], large: Container[Node]) -> Iterator[tuple[Node, Any]]:
        """Yield splits from 0 to the number of values, or of rows that the next splits make."""
        inner = {splits for splits, _ in self.splits}
        for splits, divided in self.splits:
            # Splits have one number more than the rows that they divide.
            count = 0 if divided is None else _length(values[divided]) - (divided in inner)
            if splits not in large and np.ndim(values[splits]) == 1:
                # From 0 to the number of values and never downwards, as row splits must be.
                ends = np.linspace(0, max(count, 0), np.size(values[splits]))
                yield splits, ends.astype(values[splits].dtype)

    @functools.cached_property
    def _inference(self) -> Inference:
        return self._known or infer(self.graph)

    def _columns(self, reader: Node, indices: Node | None) -> int | None:
        """Return the number of rows of the matrix that a sparse matrix is multiplied with, if it is known."""
        if reader.name not in self.graph or self.graph[reader.name] is not reader:
            return None
        shapes = [self._inference.shape(value) for value in reader.inputs if value.node is not indices]
        sizes = [shape.dims[0] for shape in shapes if shape.dims is not None and len(shape.dims) == 2]
        return next((size for size in sizes if isinstance(size, int)), None)


def _length(value: Any) -> int:
    return len(value) if np.ndim(value) else 0


def _put(parts: dict[str, list[Node | None]], node: Node, index: int, placeholder: Node) -> None:
    """Note that an input of a node comes from a placeholder."""
    for own in parts.values():
        if index < len(own):
            own[index] = placeholder
            return
        index -= len(own)


def _sparse(sources: Mapping[Node, Mapping[str, Sequence[Node | None]]]) -> Iterator[tuple[Node, Node | None, Node]]:
    """Yield (reader, indices, shape) of sparse tensors: arguments `a_indices` and `a_shape` of an op, however called."""
    for reader, parts in sources.items():
        indices = [name for name in parts if name.endswith("indices")]
        shapes = [name for name in parts if name.endswith("shape")]
        for mine, shape in zip(indices, shapes):
            for a, b in zip(parts[mine], parts[shape]):
                if b is not None:
                    yield reader, a, b


def _ragged(sources: Mapping[Node, Mapping[str, Sequence[Node | None]]]) -> Iterator[tuple[Node, Node | None]]:
    """Yield row splits, each with what they divide: the next splits of a nested tensor, or the values."""
    for parts in sources.values():
        splits = [
            one
            for name, own in parts.items()
            if (name.endswith("splits") and name != "size_splits") or "row_partition" in name
            for one in own
        ]
        values = next((own[0] for name, own in parts.items() if name.endswith("values")), None)
        yield from ((one, after) for one, after in zip(splits, [*splits[1:], values]) if one is not None)


def composite_readers(graph: Graph, value: Output) -> Iterator[_Reader]:
    """Yield the nodes that read a value, with the number of the input, through copies, casts, reshapes and calls."""
    readers = readers_of(value, functools.partial(_passed_on, graph))
    return ((reader, place) for reader, places in readers for place in places)


def _passed_on(graph: Graph, node: Node, places: Sequence[int]) -> Iterator[Output]:
    yield from called_arguments(graph, node, places)
    if places[0] == 0 and _forwards(node):
        yield node.output()


def _forwards(node: Node) -> bool:
    # Not Shape and its kin, which read a tensor's sizes and none of its elements.
    is_reshaped = has_fact(node.op, "view") and has_fact(node.op, "alias_view")
    return node.is_identity or is_reshaped or (has_fact(node.op, "elementwise") and len(node.inputs) == 1)


# Feeds drawn until a run takes them.

_Result = TypeVar("_Result")

_MAX_SIZE: Final = 1 << 28
_WANTED: Final = 3
"""The number of feeds to run where different feeds can take different paths through the graph."""

FAULTS: Final = (InvalidArgumentError, OutOfRangeError, DataLossError)
"""The errors of a run that may be the feeds' fault."""

_MOST_GROWN: Final = 1 << 21
"""The number of elements of a placeholder beyond which no larger sizes are tried."""

_RANKS: Final = (2, 4, 1, 3, 0)
"""The ranks to try for a placeholder of unknown rank, in this order, within the bounds of the readers."""

_MOST_MENDED: Final = 24
"""The number of runs with sizes from an error."""

_MOST_REFUSED: Final = 16
"""The number of variations that the graph refuses, after which it is not asked again."""

_MOST_CASES: Final = 48
"""The number of feeds on which a rewrite is compared with the graph."""


class NoFeedsError(InvalidArgumentError):
    """The graph runs on none of the feeds that were drawn."""


class Feeds:
    """The feeds of a run of `fetches`: the `fixed_feeds`, and drawn feeds for every other placeholder that the fetches
    need.
    """

    def __init__(self, graph: Graph, fixed_feeds: Mapping[str, Any], fetches: Sequence[str]) -> None:
        self.graph = graph
        self.fixed_feeds = fixed_feeds
        needed = needed_nodes([graph.fetch(name) for name in fetches])
        placeholders = [node for node in graph if node.is_placeholder and node in needed]
        self.drawn = [node for node in placeholders if node.output().name not in fixed_feeds]
        self.keys: Mapping[str, Sequence[Any]] = {}
        """Keys of the graph's tables by the name of the dtype: values that a look-up finds."""
        # Texts are made for their readers (a picture, an Example), as no decoder takes a random one.
        self.contents = {node: contents_of(graph, node.output()) for node in self.drawn if node.attrs["dtype"].is_object}

    def first(self) -> dict[str, Any]:
        """Return the plainest feeds: random values, 2 for each unknown size."""
        return self._by(VARIED[0], self._sizes(VARIED[0], 0))

    def candidates(self, plans: Sequence[DrawingPlan], is_fitted: bool) -> Iterator[tuple[DrawingPlan, int, dict[str, Any]]]:
        """Yield feeds by each of several plans, each with the plan and the rank of placeholders of unknown rank.

        With `is_fitted` sizes are those that constants of the graph require.
        """
        for plan, rank in itertools.product(plans, self._ranks):
            plan = self._fitted(plan, rank) if is_fitted else plan
            sizes = self._sizes(plan, rank)
            # Grown sizes are a last resort, and of a tensor of four unknown axes would fill the memory.
            if plans is not GROWN or all(math.prod(of_node) <= _MOST_GROWN for of_node in sizes.values()):
                yield plan, rank, self._by(plan, sizes)

    def each_that_runs(self, run: Callable[[Mapping[str, Any]], _Result]) -> Iterator[tuple[dict[str, Any], _Result]]:
        """Yield feeds on which `run` raises no error, each with the result; raise NoFeedsError if all feeds fail.

        Where nothing is drawn, an error of `run` comes from the graph and is raised unchanged.
        """
        if not self.drawn:
            yield dict(self.fixed_feeds), run(self.fixed_feeds)
            return
        results: list[tuple[dict[str, Any], _Result]] = []
        # Other floats of known shapes seldom take another way through a graph: one run of them is enough.
        wanted = _WANTED if self._varies else 1

        def attempt(feeds: Mapping[str, Any]) -> Exception | None:
            try:
                results.append((dict(feeds), self._telling(run, feeds)))
            except FAULTS as error:
                return error
            return None

        count, error = 0, None
        for plans, is_fitted in self._rounds:
            for _, _, feeds in self.candidates(plans, is_fitted):
                error = self._of_graph(attempt(feeds))
                yield from results
                count += len(results)
                results.clear()
                if count == wanted:
                    return
            if count:
                return
        if self._mended(attempt, error) is None:
            raise self._refused(error)
        yield from results

    def try_each(self, attempt: Callable[[Mapping[str, Any]], Exception | None], edges: Callable[[], bool]) -> None:
        """Call `attempt` on feeds that take each way through the graph; NoFeedsError if it returns an error for all.

        Of the feeds that succeed first there are variations: sizes of single inputs 1, 0 and one more against the others,
        each truth value, and values near edges as long as `edges` is true.
        """
        # Variations meet each other where sizes are known, and a run may take minutes.
        seen: set[Any] = set()

        def fresh(feeds: Mapping[str, Any]) -> Exception | None:
            seen.add(_key(feeds))
            return self._telling(attempt, feeds)

        base, error = None, None
        for plans, is_fitted in self._rounds:
            for plan, rank, feeds in self.candidates(plans, is_fitted):
                if _key(feeds) not in seen:
                    error = self._of_graph(fresh(feeds))
                    # The first feeds that run are the base of the variations; the others of the round still run.
                    base = base or ((plan, rank) if error is None else None)
            if base:
                break
        if base is None:
            base = self._mended(fresh, error)
        if base is None:
            assert error is not None
            raise self._refused(error) if self.drawn else error
        refused = 0
        for plan in self._variations(*base, edges):
            feeds = self._by(plan, self._sizes(plan, base[1]))
            if len(seen) < _MOST_CASES and refused < _MOST_REFUSED and _key(feeds) not in seen:
                refused += fresh(feeds) is not None

    def _mended(
        self, attempt: Callable[[Mapping[str, Any]], Exception | None], error: Exception | None
    ) -> tuple[DrawingPlan, int] | None:
        """Return a plan that runs with a size that the error of a run names, as kernels check more than shape functions."""
        for rank in self._ranks if error is not None else ():
            axes = self.unknown_axes(rank)
            if not any(axes.values()):
                continue
            free = {node: axes[number] for number, node in enumerate(self.drawn)}
            plan = self._fitted(VARIED[0], rank)
            sizes = self._sizes(plan, rank)
            error = attempt(self._by(plan, sizes))
            for changed in itertools.islice(changed_sizes(sizes, free, numbers_in(str(error))), _MOST_MENDED):
                mended = self._with_sizes(plan, free, changed)
                if attempt(self._by(mended, changed)) is None:
                    return mended, rank
        return None

    def _telling(self, run: Callable[[Mapping[str, Any]], _Result], feeds: Mapping[str, Any]) -> _Result:
        """Run on drawn feeds; an error that names a file or a resource tells that the name may have been drawn."""
        try:
            return run(feeds)
        except (PermissionDeniedError, NotFoundError, ResourceExhaustedError) as error:
            if self.drawn:
                error.details = (
                    *error.details,
                    Hint("on drawn feeds: ", self.words(feeds), "; ", self._others, " sets others"),
                )
            raise

    @property
    def _others(self) -> HintStep:
        """The step to feed values in place of the drawn values."""
        return feed({node.name: "VALUE" for node in self.drawn})

    def _of_graph(self, error: Exception | None) -> Exception | None:
        """Return the error of a run; raise an error that no feed can mend: of an op without a kernel."""
        op = error.op if isinstance(error, TfgError) else None
        # No other feed would help, and a search takes seconds.
        if error is not None and op is not None and not has_kernel(op) and op not in self.graph.functions:
            raise error
        return error

    def words(self, feeds: Mapping[str, Any]) -> str:
        """Return the drawn feeds in a few words: shapes, and single integers and truth values."""
        return ", ".join(f"{node.name} {_in_words(feeds[node.output().name])}" for node in self.drawn) or "nothing drawn"

    def unknown_axes(self, rank: int) -> dict[int, list[int]]:
        """Return the axes of unknown size by the number of the placeholder."""
        shapes = [_shape(node, rank) for node in self.drawn]
        return {
            number: [axis for axis, dim in enumerate(shape) if not isinstance(dim, int)] for number, shape in enumerate(shapes)
        }

    def _variations(self, base: DrawingPlan, rank: int, edges: Callable[[], bool]) -> Iterator[DrawingPlan]:
        bools = [number for number, node in enumerate(self.drawn) if node.attrs["dtype"].name == "bool"]
        yield from truth_variations(base, bools)
        if any(self.keys.get(node.attrs["dtype"].name) for node in self.drawn):
            yield dataclasses.replace(base, is_keyed=True)
        for truth in (True, False) if bools else (None,):
            yield from size_variations(dataclasses.replace(base, truth=truth), self.unknown_axes(rank))
        # Last, as a predicate that is computed may take its other side by chance before.
        for values in EDGES:
            if edges():
                yield dataclasses.replace(base, **values)

    @property
    def _rounds(self) -> Sequence[tuple[Sequence[DrawingPlan], bool]]:
        """Return the rounds of plans, each for graphs that run on no feeds of the rounds before."""
        if not self._varies:
            return ((VARIED[:1], False),)
        # From the cheap to the dear: fitted sizes take inferences, and grown ones runs of real pictures.
        return ((VARIED, False), ((VARIED[0], VARIED[-1]), True), (GROWN, False), (GROWN[:3], True))

    @functools.cached_property
    def _composites(self) -> CompositeFeeds:
        return CompositeFeeds(self.graph, self.drawn)

    @functools.cached_property
    def _ranks(self) -> tuple[int, ...]:
        return _RANKS if any(node.declared_shape.dims is None for node in self.drawn) else (0,)

    @property
    def _varies(self) -> bool:
        """Return True if feeds of other sizes, or other integers or truth values, may take another way through the
        graph.
        """
        dtypes = [node.attrs["dtype"] for node in self.drawn]
        if not all(dtype.is_floating or dtype.is_complex for dtype in dtypes):
            return True
        return not all(node.declared_shape.is_known for node in self.drawn)

    def _fitted(self, plan: DrawingPlan, rank: int) -> DrawingPlan:
        """Return the plan with sizes that constants and variables of the graph require."""
        sizes, axes = self._sizes(plan, rank), self.unknown_axes(rank)
        if not any(axes.values()):
            return plan
        free = {node: axes[number] for number, node in enumerate(self.drawn)}
        return self._with_sizes(plan, free, fitting_sizes(self.graph, sizes, free))

    def _with_sizes(
        self, plan: DrawingPlan, free: Mapping[Node, Sequence[int]], sizes: Mapping[Node, Sequence[int]]
    ) -> DrawingPlan:
        """Return the plan with the given sizes of the free axes."""
        chosen = {(number, axis): sizes[node][axis] for number, node in enumerate(self.drawn) for axis in free[node]}
        return dataclasses.replace(plan, sizes={**plan.sizes, **chosen})

    def _sizes(self, plan: DrawingPlan, rank: int) -> dict[Node, list[int]]:
        counter = itertools.count()
        return {node: sizes_of(_shape(node, rank), number, plan, counter) for number, node in enumerate(self.drawn)}

    def _by(self, plan: DrawingPlan, sizes: Mapping[Node, Sequence[int]]) -> dict[str, Any]:
        # The same numbers each time: a failure can be looked at again, and a rewrite gets what the graph got.
        rng = np.random.default_rng(0)
        values = {node: self._value(number, plan, sizes[node], rng) for number, node in enumerate(self.drawn)}
        # Parts of a sparse or ragged tensor are drawn like all others first, so that their dtypes and sizes are right.
        values |= self._composites.fitted(values)
        return {**self.fixed_feeds, **{node.output().name: value for node, value in values.items()}}

    def _value(self, number: int, plan: DrawingPlan, sizes: Sequence[int], rng: np.random.Generator) -> Any:
        node = self.drawn[number]
        if math.prod(sizes) > _MAX_SIZE:
            message = f"{node.declared_shape} is too large for random values"
            raise NoFeedsError(message, node=node.name, op=node.op, hint="feed a value")
        dtype = node.attrs["dtype"]
        if dtype.is_object:
            values = np.empty(sizes, object)
            values[...] = self.contents[node]
            return _with_keys(values, self.keys.get(dtype.name, ())) if self.contents[node] == PLAIN else values
        values = drawn_array(rng, sizes, dtype, plan, number)
        return _with_keys(values, self.keys.get(dtype.name, ())) if plan.is_keyed else values

    def _refused(self, error: Exception | None) -> NoFeedsError:
        names = ", ".join(f"{node.name} ({node.attrs['dtype']} {node.declared_shape})" for node in self.drawn)
        what = f"the graph fails on all random feeds of {counted(len(self.drawn), 'placeholder')}: {names}"
        return NoFeedsError(f"{what}; the last error was: {error}", hint=Hint("feed valid values: ", self._others))


def generated_feeds(graph: Graph, fixed_feeds: Mapping[str, Any], fetches: Sequence[str]) -> dict[str, Any]:
    """Return the feeds, and for every other placeholder that `fetches` need random values; unknown sizes become 2."""
    return Feeds(graph, fixed_feeds, fetches).first()


def _with_keys(values: Any, keys: Sequence[Any]) -> Any:
    """Return values with keys of tables in place of all elements but the last, as far as keys are scalars."""
    keys = [key for key in keys if not isinstance(key, tuple)]
    # A copy, and the last element stays: a look-up has to meet a key that the table lacks, too.
    flat = np.array(values).reshape(-1)
    for place in range(max(flat.size - 1, 1) if keys and flat.size else 0):
        flat[place] = keys[place % len(keys)]
    return flat.reshape(np.shape(values))


def _key(feeds: Mapping[str, Any]) -> Any:
    """Return a key that is equal for equal feeds."""
    arrays = {name: np.asarray(value) for name, value in feeds.items()}
    return tuple((name, a.shape, a.tobytes() if a.dtype != object else tuple(a.ravel())) for name, a in arrays.items())


def _in_words(value: Any) -> str:
    array = np.asarray(value)
    return f"= {str(array).lower()}" if not array.ndim and array.dtype.kind in "biu" else str(as_shape(list(array.shape)))


def _shape(node: Node, rank: int) -> Shape:
    return likely_shape(node, node.declared_shape, rank)


def likely_shape(node: Node, shape: Shape, rank: int) -> Shape:
    """Return the shape of an input; one of unknown rank gets `rank`, or the nearest rank that its readers take."""
    if shape.dims is not None:
        return shape
    # A rank that no reader takes would be refused before any kernel runs.
    low, high = _rank_bounds(node)
    return as_shape([None] * int(min(max(rank, low), high)))


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


# Examples of feeds as texts: sizes that constants require, integers within their tables, parts that fit together.

_TABLES: Final[Mapping[tuple[str, str], int]] = {
    ("indices", "params"): 0, ("indices", "resource"): 0, ("labels", "features"): -1, ("targets", "predictions"): -1,
}  # fmt: skip
"""The dimension of an argument that bounds the integers of another argument of the op, by the names of both."""

_PLACES: Final = (
    "indices", "labels", "targets", "segment_ids", "axis", "dimension", "dim", "reduction_indices", "split_dim", "concat_dim",
)  # fmt: skip
"""Arguments whose integers count rows, classes or dimensions: 0 is valid where no table is known."""

_VISITS: Final = 40_000
"""The number of nodes that the search for sizes may visit: an explanation should not wait for it."""

_MOST_RANKS: Final = 5
"""The number of ranks that are tried for placeholders of unknown rank."""

_MOST_LISTED: Final = 64
"""The largest number of elements of a value that is written out."""

_MOST_COUNTED: Final = sys.maxsize // 8
"""The largest number of elements in an array of 64-bit integers."""


@dataclasses.dataclass(frozen=True, slots=True)
class Input:
    """A placeholder or an argument of a function, with the dtype and the shape that a caller knows."""

    node: Node
    dtype: str
    shape: Shape


def example_feeds(graph: Graph, inputs: Sequence[Input], inference: Inference | None = None) -> dict[Node, str]:
    """Return a text for --feed of each input. With an inference of the graph, sizes fit its constants and variables."""
    composites = CompositeFeeds(graph, [one.node for one in inputs], inference)
    # Of one row every split and every index is right, also a wrong one.
    smallest = 2 if composites.splits or composites.shapes else 1
    sizes = _sizes(graph, inputs, smallest, inference)
    listed = composites.fitted({one.node: _zeros(sizes[one.node]) for one in inputs}, _MOST_LISTED)
    return {
        one.node: json.dumps(listed[one.node].tolist())
        if one.node in listed
        else _text(graph, one, sizes[one.node], inference)
        for one in inputs
    }


def _zeros(sizes: Sequence[int]) -> np.ndarray[Any, Any]:
    """Return zeros without memory of their own: a placeholder may declare terabytes, and more than NumPy can count."""
    if math.prod(sizes) > _MOST_COUNTED:
        sizes = [min(sizes[0], _MOST_COUNTED), *[1] * (len(sizes) - 1)]
    return np.broadcast_to(np.int64(0), sizes)


def _sizes(graph: Graph, inputs: Sequence[Input], smallest: int, inference: Inference | None) -> Mapping[Node, Sequence[int]]:
    """Return sizes that fit; placeholders of unknown rank get the smallest rank that no shape function refuses."""
    first = _sizes_of_rank(0, graph, inputs, smallest, inference)
    unranked = [one.node for one in inputs if one.shape.dims is None and one.node.is_placeholder]
    if inference is None or not unranked or len(graph) > _VISITS // _MOST_RANKS:
        return first
    # From low to high, as an example is read by people.
    tried = itertools.chain([first], (_sizes_of_rank(n, graph, inputs, smallest, inference) for n in range(1, _MOST_RANKS)))
    return next((sizes for sizes in tried if fits(graph, sizes, inference)), first)


def _sizes_of_rank(
    rank: int, graph: Graph, inputs: Sequence[Input], smallest: int, inference: Inference | None
) -> Mapping[Node, Sequence[int]]:
    plan, counter = DrawingPlan(smallest, smallest), itertools.count()
    shapes = {one.node: likely_shape(one.node, one.shape, rank) for one in inputs}
    sizes = {node: sizes_of(shape, number, plan, counter) for number, (node, shape) in enumerate(shapes.items())}
    free = {
        node: [axis for axis, dim in enumerate(shape) if not isinstance(dim, int)]
        for node, shape in shapes.items()
        if node.is_placeholder
    }
    if inference is None:
        return sizes
    fitted = fitting_sizes(graph, {node: sizes[node] for node in free}, free, _VISITS // max(len(graph), 1), inference)
    return {**sizes, **fitted}


def _text(graph: Graph, one: Input, sizes: Sequence[int], inference: Inference | None) -> str:
    if one.dtype == string.name:
        return example_text(graph, one.node.output(), sizes)
    is_integer = one.dtype.startswith(("int", "uint"))
    high = min(_bounds(graph, one.node, inference), default=None) if is_integer else None
    return example_value(one.dtype, as_shape(list(sizes)), high)


def _bounds(graph: Graph, node: Node, inference: Inference | None) -> Iterator[int]:
    """Yield the numbers of rows, classes or dimensions that readers of an integer count: 1 where the number is unknown."""
    for reader, place in composite_readers(graph, node.output()):
        names = [name for name, _ in named_inputs(reader)]
        name = names[place] if place < len(names) else None
        if name in _PLACES:
            yield next(_table_sizes(reader, name, inference), 1)


def _table_sizes(reader: Node, name: str, inference: Inference | None) -> Iterator[int]:
    """Yield the number of rows or classes of the table that an argument of a node counts, as far as it is known."""
    arguments = dict(named_inputs(reader))
    for (own, table), dimension in _TABLES.items():
        if inference is None or own != name or table not in arguments:
            continue
        spec = inference.specs[arguments[table]]
        # A table may be a variable, whose handle tells the shape of its value.
        shape = spec.handle[0].shape if spec.handle else spec.shape
        # A Gather along an axis counts the elements of that axis.
        axis = inference.specs[arguments["axis"]].value if "axis" in arguments else dimension
        size = shape.dims[int(axis)] if shape.dims and axis is not None else None
        if isinstance(size, int) and size > 0:
            yield size
