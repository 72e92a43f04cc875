"""A graph and its rewrite on the same feeds, drawn so that a wrong rewrite differs.

Fetches that race with each other run in turn: what a run of all of them returns depends on the readiness of nodes. A graph
with a fixed batch runs on feeds of another number of rows batch by batch.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, Final, Protocol

import numpy as np

from ..graph.call_kinds import Form, call_kind
from ..graph.deadness import is_choice
from ..graph.frames import find_frames
from ..graph.graph import Graph, Node, Output
from ..graph.traversal import reachable
from ..planning.planner import races_of
from ..planning.reachability import needed_nodes
from ..registry.catalog import CATALOG
from ..runtime.session.drawn_feeds import FAULTS, Feeds
from ..runtime.session.session import Session
from ..runtime.state.resources import Variable
from ..runtime.state.run_context import Hook
from ..support import dataclasses
from ..support.errors import InvalidArgumentError, TfgError
from ..support.tensor_names import parse_tensor_name
from ..types.shapes import Shape
from .element_differences import Comparison, compare, is_value, worse

Tolerance = Callable[[Any], float]
"""A function from the dtype of compared values to the relative tolerance."""

Values = dict[str, Any]
"""The results of a step by name: of fetches, and of variables that any of the graphs changed."""

_NOISES: Final = 2
"""The number of runs with other roundings."""

_MOST_KEYS: Final = 3
"""The number of keys of a table that are looked up."""

_MOST_TOLD: Final = 8
"""The number of refusals that are told."""


class UndeclaredError(InvalidArgumentError):
    """A model does not declare to take an input of this shape."""


class Runs(Protocol):
    """A graph or a model in a file: each call starts it anew, and returns the values of each step.

    A call raises UndeclaredError for feeds that the model need not take, other TfgErrors for feeds that it refuses.
    """

    raises_as_the_graph: bool
    """Whether feeds that the graph refuses are to be refused; other runtimes may compute where TensorFlow raises an error."""

    def __call__(self, feeds: Mapping[str, Any]) -> Sequence[Values]: ...


@dataclasses.dataclass(frozen=True, slots=True)
class LoneRefusal:
    """Feeds that only the graph, or only the rewrite, refuses."""

    feeds: str
    """The drawn feeds."""
    by: str
    """`original` or `rewrite`."""
    error: str
    """The error."""


@dataclasses.dataclass(frozen=True, slots=True)
class Drawn:
    """The feeds of a verification."""

    compared: tuple[str, ...] = ()
    """The feeds that were compared, in words."""
    refused: tuple[str, ...] = ()
    """The feeds that both refuse."""
    accepted: tuple[str, ...] = ()
    """The feeds that only the rewrite takes, as it lacks a pure op that refuses them."""
    undeclared: tuple[str, ...] = ()
    """The feeds that the written model does not declare to take."""
    one_sided: tuple[str, ...] = ()
    """The predicates that took the same side on all feeds."""


@dataclasses.dataclass(frozen=True, slots=True)
class Verdict:
    """The worst comparison of each value, feeds that only one of the two refuses, and the feeds that were drawn."""

    comparisons: tuple[Comparison, ...]
    refusals: tuple[LoneRefusal, ...]
    drawn: Drawn


class GraphRuns:
    """Runs of a graph in sessions that `open_session` opens: `steps` in a row, with the variables as they are at the end.

    `fetches` maps names of results to tensors and operations of the graph. `inputs` maps feeds to tensors of the graph;
    other feeds keep their names, and feeds of nodes that the graph lacks are dropped.
    """

    raises_as_the_graph = True

    def __init__(
        self,
        graph: Graph,
        fetches: Mapping[str, str],
        open_session: Callable[[Graph], Session],
        steps: int = 1,
        inputs: Mapping[str, str] | None = None,
    ) -> None:
        self.graph = graph
        self.fetches = dict(fetches)
        self.open_session = open_session
        self.steps = steps
        self.inputs = inputs or {}
        self.watched: tuple[str, ...] = ()
        """Tensors to look at beside the fetches: predicates."""
        self.seen: list[Sequence[Any]] = []
        """The values of `watched` in each step."""
        self.hook: Hook | None = None
        """A hook that looks at the kernels if a call names no other."""
        self._unchanged: Session | None = None

    def __call__(self, feeds: Mapping[str, Any], hook: Hook | None = None) -> list[Values]:
        named = {self.inputs.get(name, name): value for name, value in feeds.items()}
        given = {name: value for name, value in named.items() if parse_tensor_name(name)[0] in self.graph}
        # A session that a run left as it was serves for the next feeds: it has its plans and programs already. Taken out of
        # the field first, so that a run that fails is not used again.
        session, self._unchanged = self._unchanged or self.open_session(self.graph), None
        session.start()
        before, tables = _versions(session), _tables(session)
        results = [self._step(session, given, hook) for _ in range(self.steps)]
        after = _versions(session)
        changed = [item for item in _variables(session) if item.is_initialized and item.version != before.get(item)]
        # Only what changed, since a rewrite may drop variables that nothing writes.
        results[-1] |= {f"variable {item.name}": np.asarray(item.read()) for item in changed}
        results[-1] |= {name: own for name, own in _tables(session).items() if not _equal(own, tables.get(name))}
        # Kernels keep state of their own there, such as a random stream, which has no version.
        if before == after and not session.node_states:
            self._unchanged = session
        return results

    def _step(self, session: Session, feeds: Mapping[str, Any], hook: Hook | None) -> Values:
        values = session.live_values([*self.fetches.values(), *self.watched], feeds, hook=hook or self.hook)
        self.seen.append(values[len(self.fetches) :])
        return {name: value for name, value in zip(self.fetches, values) if value is not None}


def _equal(a: Any, b: Any) -> bool:
    return b is not None and bool(np.array_equal(a, b))


def _versions(session: Session) -> dict[Any, Any]:
    """Return a number for each variable, table and other resource that changes with the contents, as far as it is known."""
    others = [item for _, item in session.resources.items() if not isinstance(item, Variable)]
    return {item: item.version for item in _variables(session)} | {id(item): _size(item) for item in others}


def _variables(session: Session) -> list[Variable]:
    return [item for item in session.held_variables() if isinstance(item, Variable)]


def _size(resource: Any) -> Any:
    """Return the number of entries of a table; a new object, unequal to all others, for resources of other kinds."""
    return len(resource.entries) if hasattr(resource, "entries") else object()


def _has_effects(error: TfgError) -> bool:
    """Return True for an error of an op with effects, or of an unknown op."""
    definition = CATALOG.get(error.op) if error.op is not None else None
    return definition is None or definition.is_stateful


def _tables(session: Session) -> Values:
    """Return the contents of the session's tables: the entries as texts, in an order that does not depend on the table."""
    texts = {
        name: sorted(repr(entry).encode() for entry in item.entries.items())
        for (_, name), item in session.resources.items() if hasattr(item, "entries")
    }  # fmt: skip
    return {f"table {name}": np.array(own, object) for name, own in texts.items() if own}


def _keys(session: Session) -> dict[str, list[Any]]:
    """Return keys of the session's tables by the name of the dtype: a few of each, as a wrong table may lack any."""
    keys: dict[str, list[Any]] = {}
    for _, item in session.resources.items():
        if hasattr(item, "entries"):
            keys.setdefault(item.key_dtype.name, []).extend(itertools.islice(item.entries, _MOST_KEYS))
    return keys


class _Comparing:
    """The comparison of an original with a rewrite, feed by feed."""

    def __init__(self, original: GraphRuns, rewrite: Runs, feeds: Feeds, tolerance: Tolerance, grows: bool) -> None:
        self.original, self.rewrite, self.feeds = original, rewrite, feeds
        self.tolerance, self.grows = tolerance, grows
        self.worst: dict[str, Comparison] = {}
        self.refusals: list[LoneRefusal] = []
        self.compared: list[str] = []
        self.refused: list[str] = []
        self.accepted: list[str] = []
        self.undeclared: list[str] = []

    def attempt(self, feeds: Mapping[str, Any]) -> Exception | None:
        """Compare both on feeds; return the error of the original, if any."""
        words = self.feeds.words(feeds)
        try:
            first = self.original(feeds)
        except FAULTS as error:
            self._refuses_too(feeds, words, error)
            return error
        try:
            second = self.rewrite(feeds)
        except UndeclaredError:
            self.undeclared.append(words)
            return None
        except TfgError as error:
            self._refuses_alone(words, "rewrite", error)
            return None
        self.compared.append(words)
        self._compare(feeds, first, second)
        return None

    def _refuses_too(self, feeds: Mapping[str, Any], words: str, error: TfgError) -> None:
        """Note feeds that the original refuses.

        A rewrite may take more: two reshapes become one, and with a pure op its error goes. An error of an op with effects,
        such as Assert, is itself an effect.
        """
        if self.rewrite.raises_as_the_graph and self.feeds.drawn:
            try:
                self.rewrite(feeds)
            except TfgError:
                pass
            else:
                if _has_effects(error):
                    self._refuses_alone(words, "original", error)
                else:
                    self.accepted.append(words)
                return
        self.refused.append(words)

    def _refuses_alone(self, words: str, by: str, error: TfgError) -> None:
        """Note feeds that only one of the two refuses: all results differ."""
        self.refusals.append(LoneRefusal(words, by, str(error)))
        for name in self.original.fetches:
            self.worst[name] = worse(self.worst.get(name), Comparison(name, 1, np.inf, np.inf, False))

    def _compare(self, feeds: Mapping[str, Any], first: Sequence[Values], second: Sequence[Values]) -> None:
        rows = [row for row in self._rows(first, second, None) if row is not None]
        # The effect of roundings takes further runs, so it is measured only if something differs by a finite amount.
        if self.grows and any(not row.passed and np.isfinite(row.tolerance_needed) for row in rows):
            rows = self._rows(first, second, self._roundings(feeds, first))
        for row in rows:
            self.worst[row.fetch] = worse(self.worst.get(row.fetch), row)

    def _rows(
        self, first: Sequence[Values], second: Sequence[Values], own: Mapping[tuple[int, str], float] | None
    ) -> list[Comparison]:
        rows = []
        for step, (a, b) in enumerate(zip(first, second), 1):
            for name in (*a, *(name for name in b if name not in a)):
                if name not in a or name not in b:
                    rows.append(Comparison(name, step, np.inf, np.inf, False))
                elif is_value(a[name]) and is_value(b[name]):
                    allowed = self.tolerance(np.asarray(a[name]).dtype)
                    if own is not None:
                        allowed = max(allowed, min(LARGEST, ROUNDINGS * own.get((step, name), 0.0)))
                    rows.append(compare(name, step, a[name], b[name], allowed))
        return rows

    def _roundings(self, feeds: Mapping[str, Any], first: Sequence[Values]) -> dict[tuple[int, str], float]:
        """Return the relative effect of roundings on each result: the largest of some runs with other roundings."""
        own: dict[tuple[int, str], float] = {}
        for seed in range(_NOISES):
            try:
                moved = self.original(feeds, RoundingHook(seed))
            except FAULTS:  # a rounded value is out of bounds: nothing is known of the roundings
                return {}
            for step, (a, b) in enumerate(zip(first, moved), 1):
                for name in a.keys() & b.keys():
                    if is_value(a[name]) and is_value(b[name]):
                        needed = compare(name, step, a[name], b[name], 0.0).tolerance_needed
                        own[step, name] = max(own.get((step, name), 0.0), needed if np.isfinite(needed) else 0.0)
        return own


def verify(original: GraphRuns, rewrite: Runs, feeds: Feeds, tolerance: Tolerance | float, *, grows: bool = True) -> Verdict:
    """Compare the values of a graph and of its rewrite on feeds, and the variables and tables after the last step.

    `tolerance` is relative to the largest element, or a function from the dtype of a value to the tolerance; with `grows` it
    grows with the effect of roundings on the value. A value on an untaken branch must be dead in both. Feeds that both
    refuse are no counterexample; feeds that only one refuses are, unless the rewrite lacks the pure op that refuses them.
    Raises NoFeedsError where the original runs on no feeds. The verdict has no comparisons if the fetches have no values
    and change nothing.
    """
    drawn = [original.inputs.get(node.output().name, node.output().name) for node in feeds.drawn]
    graph = original.graph  # which has no placeholder if a model takes the value of a variable
    predicates = _Predicates(original, {graph.output(name).node for name in drawn if parse_tensor_name(name)[0] in graph})
    work = _Comparing(original, rewrite, feeds, tolerance if callable(tolerance) else lambda dtype: tolerance, grows)
    # Drawn keys would hardly ever be in a table, and every look-up would give the default.
    feeds.keys = _keys(original.open_session(original.graph)) if feeds.drawn else {}
    feeds.try_each(work.attempt, lambda: bool(predicates.one_sided()))
    # Variables and tables come behind the fetches, by name.
    order = {name: place for place, name in enumerate(original.fetches)}
    rows = sorted(work.worst.values(), key=lambda row: (order.get(row.fetch, len(order)), row.fetch))
    lists = (work.compared, work.refused, work.accepted, work.undeclared, predicates.one_sided())
    return Verdict(tuple(rows), tuple(work.refusals[:_MOST_TOLD]), Drawn(*map(tuple, lists)))


class _Predicates:
    """The predicates of the conditionals that a run of a graph needs, and the sides that they took.

    Predicates of the graph are fetched, as a V1 conditional calls no kernel. As a hook, the object sees conditionals in
    functions and loops.
    """

    def __init__(self, runs: GraphRuns, drawn: Container[Node]) -> None:
        self.runs = runs
        graph = self.graph = runs.graph
        frames = find_frames(graph)
        nodes = needed_nodes([graph.fetch(name) for name in runs.fetches.values()])
        predicates = [_predicate(graph, node) for node in graph if node in nodes and node not in frames]
        vary = [value for value in predicates if value is not None and _varies(value, drawn)]
        # Several Switches have one predicate.
        self.names = tuple(dict.fromkeys(value.name for value in vary))
        self.inside: dict[str, set[int]] = {}
        runs.watched = self.names
        bodies = (node for function in graph.functions.values() for node in function.body)
        runs.hook = self if any(_is_branch(graph, node) for node in bodies) else None

    def __call__(self, node: Node, call: Callable[..., Any], inputs: Sequence[Any]) -> Any:
        """Run a kernel, and note the side that a conditional in a function takes."""
        if node.name not in self.graph and _is_branch(self.graph, node):
            self.inside.setdefault(node.name, set()).add(_side(inputs[0]))
        return call(*inputs)

    def one_sided(self) -> list[str]:
        """Return the predicates that took a single side so far."""
        sides: dict[str, set[int]] = {name: set() for name in self.names}
        for values in self.runs.seen:
            for name, value in zip(self.names, values):
                if value is not None:
                    sides[name].add(_side(value))
        return [name for name, taken in (sides | self.inside).items() if len(taken) < 2]


def _side(predicate: Any) -> int:
    """Return the branch that a predicate selects: by a number, or by whether there are elements."""
    array = np.asarray(predicate)
    return int(array.reshape(-1)[0]) if array.size == 1 and array.dtype.kind in "biuf" else int(array.size > 0)


def _varies(value: Output, drawn: Container[Node]) -> bool:
    """Return True if a value, of which no reference can change another, depends on a drawn feed."""
    is_plain = value.dtype is not None and not value.dtype.is_ref
    return is_plain and any(source in drawn for source in reachable([value.node]))


def _predicate(graph: Graph, node: Node) -> Output | None:
    """Return the value that selects the branch of a conditional."""
    if is_choice(node):
        return node.inputs[1]
    return node.inputs[0] if _is_branch(graph, node) else None


def _is_branch(graph: Graph, node: Node) -> bool:
    kind = call_kind(graph.functions, node)
    return kind is not None and kind.form is Form.BRANCH


# The effect of float roundings on the results of a graph, measured by a run in which each op rounds differently.
#
# Each result of an op moves to a neighbouring float, as in Monte Carlo arithmetic (D. S. Parker, Monte Carlo Arithmetic,
# UCLA CSD-970002, 1997). A deep network so has as many roundings as layers, and an ill-conditioned op enlarges them.

ROUNDINGS: Final = 16.0
"""The largest difference of two right results as a multiple of the effect of one rounding an op.

An op has more roundings than one: the sums of a product of 1,000 terms differ by about 10 units in the last place between
two orders of addition.
"""

LARGEST: Final = 5e-4
"""The largest tolerance for rounding, of the largest element: a wrong rewrite may change as little as 1e-3."""


class RoundingHook:
    """A hook that moves each float that an op returns up or down to the next float; zeros and whole numbers stay.

    Whole numbers may be sizes or counts, which the next float would turn into others.
    """

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def __call__(self, node: Node, call: Callable[..., Any], inputs: Sequence[Any]) -> Any:
        result = call(*inputs)
        if isinstance(result, (tuple, list)):
            # A named tuple cannot be made of an iterable, and holds no floats to move.
            return type(result)(map(self._moved, result)) if type(result) in (tuple, list) else result
        return self._moved(result)

    def _moved(self, value: Any) -> Any:
        if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind != "f":
            return value
        with np.errstate(all="ignore"):
            ends = self._rng.choice(np.array([-np.inf, np.inf], value.dtype), np.shape(value))
            moved = np.where(value == np.rint(value), value, np.nextafter(value, ends))
        return moved if isinstance(value, np.ndarray) else value.dtype.type(moved)


# Fetches that race with each other, in turn, and a fixed batch on feeds of another number of rows.


def fetches_in_turn(graph: Graph, fetches: Mapping[str, str], fed: Sequence[Output] = ()) -> list[list[str]]:
    """Return the keys of `fetches` in groups, such that no two fetches of a group race with each other.

    Two training operations of one variable come into two groups: what a run of both does has no order, what each does alone
    has. Accesses that race in the run of a single fetch separate nothing, as no group would order them.

        >>> fetches_in_turn(graph, {"loss": "loss:0", "first": "sgd", "second": "momentum"})
        [['loss', 'first'], ['second']]
    """
    targets = {key: graph.fetch(name) for key, name in fetches.items()}
    races = list(races_of(graph, list(targets.values()), fed)) if len(targets) > 1 else []
    # Most graphs have no races, and one walk finds that.
    needed = {key: needed_nodes([target], fed) for key, target in targets.items()} if races else {}
    conflicts: set[tuple[str, str]] = set()
    for race in races:
        first, second = ({key for key in needed if access.node in needed[key]} for access in (race.first, race.second))
        # Fetches that need both accesses of a race are not separated by it: alone they would race as well.
        conflicts.update(itertools.product(first - second, second - first))
    groups: list[list[str]] = []
    for key in targets:
        free = [
            group for group in groups if conflicts.isdisjoint([(key, own) for own in group] + [(own, key) for own in group])
        ]
        if free:
            free[0].append(key)
        else:
            groups.append([key])
    return groups


_ROUNDING: Final = 1e-4
"""The relative difference up to which two runs of a row are alike."""


class BatchRuns(GraphRuns):
    """Runs of a graph in batches of `rows`, whose results are joined; the last batch repeats rows from the first on.

    Variables are not looked at: the number of runs differs.
    """

    def __init__(
        self, graph: Graph, fetches: Mapping[str, str], open_session: Callable[[Graph], Session], batched: Sequence[str],
        rows: int,
    ) -> None:  # fmt: skip
        super().__init__(graph, fetches, open_session)
        self.batched = batched
        """The tensors whose first size is the batch."""
        self.rows = rows

    def __call__(self, feeds: Mapping[str, Any], hook: Hook | None = None) -> list[Values]:
        count = len(next(feeds[name] for name in self.batched))
        batches = np.arange(-(-count // self.rows) * self.rows).reshape(-1, self.rows) % count
        # Python 3.11 finds no class for a bare `super()` inside a comprehension.
        runs = [super(BatchRuns, self).__call__(self._taken(feeds, places), hook)[0] for places in batches]
        return [{name: np.concatenate([run[name] for run in runs])[:count] for name in self.fetches}]

    def unlike(self, feeds: Mapping[str, Any]) -> dict[str, str]:
        """Return the fetches whose rows are no results of single rows, each with the reason.

        In a batch of equal rows each result has to be that of the row among others.
        """
        straight = self._values(feeds, np.arange(self.rows))
        # The first, the middle and the last place: a graph that treats one place otherwise mostly does so at an end.
        alone = {place: self._values(feeds, np.full(self.rows, place)) for place in {0, self.rows // 2, self.rows - 1}}
        reasons = {name: self._unlike(name, straight, alone) for name in self.fetches}
        return {name: reason for name, reason in reasons.items() if reason}

    def _unlike(self, name: str, straight: Values, alone: Mapping[int, Values]) -> str:
        if not is_value(straight.get(name)):
            return "has no value"
        value = np.asarray(straight[name])
        if not value.ndim or len(value) != self.rows:
            return f"has no batch, its shape is {Shape(value.shape)}"
        pairs = ((values[name], np.broadcast_to(value[place], value.shape)) for place, values in alone.items())
        alike = all(compare(name, 1, one, other, _ROUNDING).passed for one, other in pairs)
        return "" if alike else "depends on the place of a row, or on other rows"

    def _values(self, feeds: Mapping[str, Any], places: Any) -> Values:
        return super().__call__(self._taken(feeds, places))[0]

    def _taken(self, feeds: Mapping[str, Any], places: Any) -> dict[str, Any]:
        """Return the feeds with the rows at these places."""
        return {name: np.asarray(value)[places] if name in self.batched else value for name, value in feeds.items()}
