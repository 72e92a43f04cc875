"""Drawn feeds for a graph that runs without feeds: values by the placeholders' dtypes and shapes, and by the readers.

Examples of feeds as texts have the same sizes, integers within tables, and parts that fit together.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import sys
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

import numpy as np

from ..graph.graph import Graph, Node, Output
from ..inference.binding import named_inputs
from ..inference.inference import Inference, infer
from ..planning.reachability import needed_nodes
from ..registry.catalog import OpDef
from ..registry.input_ranks import input_rank_bounds
from ..registry.op_facts import has_fact
from ..registry.registry import has_kernel
from ..support import dataclasses
from ..support.errors import (
    DataLossError,
    InvalidArgumentError,
    NotFoundError,
    OutOfRangeError,
    PermissionDeniedError,
    ResourceExhaustedError,
    TfgError,
)
from ..support.hints import Hint, HintStep, feed
from ..support.words import counted
from ..types.dtypes import string
from ..types.example_values import example_value
from ..types.shapes import Shape, as_shape
from .feed_plans import (
    EDGES,
    GROWN,
    VARIED,
    DrawingPlan,
    changed_sizes,
    drawn_array,
    fits,
    fitting_sizes,
    numbers_in,
    size_variations,
    sizes_of,
    truth_variations,
)
from .readable_texts import PLAIN, called_arguments, contents_of, example_text, readers_of

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
                    parts = sources.setdefault(node, _arguments(node.op_def, node))
                    _put(parts, node, index, placeholder)
        self.shapes = list(_sparse(sources))
        self.splits = list(_ragged(sources))

    def fitted(self, values: Mapping[Node, Any], most: int = sys.maxsize) -> dict[Node, Any]:
        """Return new values of indices, shapes and splits that fit the drawn values of all placeholders.

        What has more than `most` elements is left out.
        """
        large = {node for node, value in values.items() if np.size(value) > most}
        return {**dict(self._of_sparse(values, large)), **dict(self._of_ragged(values, large))}

    def _of_sparse(self, values: Mapping[Node, Any], large: Container[Node]) -> Iterator[tuple[Node, Any]]:
        """Yield shapes that hold all indices, and indices in order: a row each, in the first column."""
        for reader, indices, shape in self.shapes:
            if shape in large:
                continue
            count = 0 if indices is None else _length(values[indices])
            sizes = np.full(np.size(values[shape]), max(_ROWS, count), values[shape].dtype)
            if sizes.size > 1:
                sizes[-1] = self._columns(reader, indices) or sizes[-1]
            yield shape, sizes
            if indices is not None and indices not in large and np.ndim(values[indices]) == 2:
                table = np.zeros_like(values[indices])
                table[:, :1] = np.arange(count)[:, None]
                yield indices, table

    def _of_ragged(self, values: Mapping[Node, Any], large: Container[Node]) -> Iterator[tuple[Node, Any]]:
        """Yield splits from 0 to the number of values, or of rows that the next splits make."""
        inner = {splits for splits, _ in self.splits}
        for splits, divided in self.splits:
            count = 0 if divided is None else _length(values[divided]) - (divided in inner)
            if splits not in large and np.ndim(values[splits]) == 1:
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


def _arguments(definition: OpDef, node: Node) -> dict[str, list[Node | None]]:
    return {arg.name: [None] * (node.attr(arg.number_attr) if arg.number_attr else 1) for arg in definition.inputs}


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
            if plans is not GROWN or all(math.prod(of_node) <= _MOST_GROWN for of_node in sizes.values()):
                yield plan, rank, self._by(plan, sizes)

    def each_that_runs(self, run: Callable[[Mapping[str, Any]], _Result]) -> Iterator[tuple[dict[str, Any], _Result]]:
        """Yield feeds on which `run` raises no error, each with the result; raise NoFeedsError where all feeds fail.

        Where nothing is drawn, an error of `run` comes from the graph and is raised unchanged.
        """
        if not self.drawn:
            yield dict(self.fixed_feeds), run(self.fixed_feeds)
            return
        results: list[tuple[dict[str, Any], _Result]] = []
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
        """Call `attempt` on feeds that take each way through the graph; NoFeedsError where it returns an error for all.

        Of the feeds that succeed first there are variations: sizes of single inputs 1, 0 and one more against the others,
        each truth value, and values near edges as long as `edges` is true.
        """
        seen: set[Any] = set()

        def fresh(feeds: Mapping[str, Any]) -> Exception | None:
            seen.add(_key(feeds))
            return self._telling(attempt, feeds)

        base, error = None, None
        for plans, is_fitted in self._rounds:
            for plan, rank, feeds in self.candidates(plans, is_fitted):
                if _key(feeds) not in seen:
                    error = self._of_graph(fresh(feeds))
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
        for values in EDGES:
            if edges():
                yield dataclasses.replace(base, **values)

    @property
    def _rounds(self) -> Sequence[tuple[Sequence[DrawingPlan], bool]]:
        """Return the rounds of plans, each for graphs that run on no feeds of the rounds before."""
        if not self._varies:
            return ((VARIED[:1], False),)
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
        rng = np.random.default_rng(0)
        values = {node: self._value(number, plan, sizes[node], rng) for number, node in enumerate(self.drawn)}
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
        shape = spec.handle[0].shape if spec.handle else spec.shape
        axis = inference.specs[arguments["axis"]].value if "axis" in arguments else dimension
        size = shape.dims[int(axis)] if shape.dims and axis is not None else None
        if isinstance(size, int) and size > 0:
            yield size
