"""The function behind `tfg run --each` and `--sweep`: a graph run once for each of many inputs."""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, TypedDict, Unpack

from ...core.comparing.row_blocks import BlockRows, BlockRunner, BlockSize, BlockWork, lacks_rows
from ...core.explaining.default_fetches import guessed_fetches
from ...core.graph.callers import called_functions
from ...core.graph.graph import Graph, GraphLike
from ...core.graph.traversal import topological_order
from ...core.graph.variable_nodes import find_variables
from ...core.planning.effects import READ, accesses
from ...core.planning.reachability import needed_nodes
from ...core.registry.op_facts import has_fact
from ...core.runtime.session.function_signatures import as_run
from ...core.runtime.session.runner import Runner, StepResult
from ...core.runtime.session.session_like import SessionLike
from ...core.support import dataclasses
from ...core.support.arguments import checked, expect, named, names_of
from ...core.support.display import Report
from ...core.support.errors import InternalError, InvalidArgumentError, TfgError
from ...core.support.words import counted
from ...core.transforms.batch_size import find_batch, set_batch
from ..api.prepared_sessions import Opener, runtime_of_many_runs, session_on
from ..api.run_plan import Pairs, RunPlan
from ..api.session_setup import SessionSetup
from ..items import InputArrays, Item, Items, find_items
from ..state import State


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class InputResult(Report, main_table="settings"):
    """The fetched values for an input, or the error that ended its run."""

    name: str
    """The name of the input, with the values of a sweep: `photos/cat,rate=0.5`."""
    values: Mapping[str, Any]
    """The values by the names of the fetches; empty after an error."""
    error: TfgError | None = None
    settings: tuple[tuple[str, Any], ...] = ()
    """The values of a sweep, by the names of tensors and variables."""

    def headline(self) -> str:
        return f"{self.name}: {self.error.message if self.error is not None else counted(len(self.values), 'value')}"


class RowKeywords(TypedDict, total=False):
    """The rows of inputs."""

    parts: Annotated[
        Mapping[str, str] | None,
        None,
        "The key of an array or the columns (`a,b`) for a tensor by name, or for pictures options such as `?scale=1/255`.",
    ]
    batch: Annotated[
        BlockSize | Literal["?"],
        "auto",
        "The number of inputs in a block, if no node mixes their rows; blocks of 'auto' grow until a run takes 50 ms. A "
        "graph for a fixed number of rows gets this number, with '?' an open one.",
    ]


class EachKeywords(RowKeywords, total=False):
    """The inputs of runs."""

    sweep: Annotated[
        Mapping[str, Sequence[Any]] | None, None, "Values of tensors and variables; the graph runs once with each combination."
    ]
    keep_going: Annotated[bool, False, "Continue after a failure."]


@checked
def run_each(
    graph: GraphLike,
    inputs: Sequence[str] | str = (),
    fetches: Sequence[str] | str = (),
    feeds: Mapping[str, Any] | None = None,
    *,
    state: State | None = None,
    seed: int | None = 0,
    open_session: Opener | None = None,
    **options: Unpack[EachKeywords],
) -> Iterator[InputResult]:
    """Run a graph once for each input, and yield the results in the order of the inputs.

    `inputs` are patterns of files: .npz, .npy, TFRecord, pictures, lines of JSON and rows of CSV. Arrays are fed by name. A
    file with one array without a name feeds the only input of the graph. `fetches` are by default the outputs. NotFoundError
    for a pattern without a file.

    Inputs run in blocks, where 1 is one by one: results are equal to rounding. InvalidArgumentError names a node that may mix
    rows if `batch` is a number.

    Runs share a session if no step writes or draws. Otherwise each run begins from the initial values, or those of
    `state`. The first error ends the runs; with `keep_going` the error is in the result.
    """
    graph = as_run(graph, fetches)
    names = names_of(fetches)
    if not names:
        names = guessed_fetches(graph)
    tensors = {name: graph.result(name).name for name in names}
    settings = named(options["sweep"])
    expect(list | tuple, *settings.values())
    patterns = names_of(inputs)
    signature = graph.meta.usual_signature if graph.meta is not None else None
    arrays = InputArrays(graph, signature, tuple(tensors.values()), options["parts"] or {})

    engine = runtime_of_many_runs() if open_session is None else None

    def opened(graph: Graph) -> SessionLike:
        return session_on(graph, open_session, state, seed, engine)

    graph, size = in_batches(graph, list(tensors.values()), options["batch"])
    runs = _Runs(graph, tensors, named(feeds), opened, size)
    # The caller learns of wrong names and files at the call, not at the first result.
    items: Sequence[Item | None] = find_items(patterns) if patterns else [None]
    total = len(items) * math.prod(map(len, settings.values()))
    return InputResults(runs.results(items, settings, arrays, options["keep_going"]), total)


def in_batches(
    graph: Graph, fetches: Sequence[str], batch: BlockSize | Literal["?"], note: Callable[[str], None] = lambda _: None
) -> tuple[Graph, BlockSize]:
    """Return a graph that takes `batch` rows if its batch is fixed, and the number of inputs in a block.

    `note` takes the changes of the graph.
    """
    if batch not in ("?", "auto") if isinstance(batch, str) else batch < 1:
        raise InvalidArgumentError(f"a batch of {batch!r}", hint='a batch is a number of inputs from 1, "auto", or "?"')
    size: BlockSize = "auto" if isinstance(batch, str) else batch
    if batch == "auto" or (isinstance(batch, int) and find_batch(graph, fetches).rows in (None, batch)):
        return graph, size
    changed = graph.copy()
    for change in set_batch(changed, fetches, batch):
        note(change)
    return changed, size


class InputResults(Iterator[InputResult]):
    """The results of `run_each`; each run starts when its result is asked for."""

    def __init__(self, results: Iterator[InputResult], total: int) -> None:
        self._results, self._total, self._done = results, total, 0

    def __next__(self) -> InputResult:
        result = next(self._results)
        self._done += 1
        return result

    def __repr__(self) -> str:
        return f"<InputResults: {self._done} of {counted(self._total, 'input')}>"


class SharedRuns:
    """A session for many runs of a graph, shared if no run leaves something behind that the next run would see."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._shared: Runner | None = None
        self._leaving: dict[frozenset[str], bool] = {}

    def runner(
        self, names: Sequence[str], fed: Mapping[str, Any], prepare: Callable[[], Runner], *, own: bool = False,
        always: bool = False,
    ) -> Runner:  # fmt: skip
        """Return the session to run `names` in with these feeds: a prepared one, or that of the runs before.

        A run with a session of its `own` never shares; with `always` other runs do, whatever they write.
        """
        is_shared = not own and (always or self.leaves_nothing(names, fed))
        if is_shared and self._shared is not None:
            return self._shared
        runner = prepare()
        self._shared = runner if is_shared else None
        return runner

    def runs_at_once(self) -> int:
        """Return how many runs of the shared session may be side by side; 1 before the first, and on a cluster."""
        return 1 if self._shared is None else self._shared.session.runs_at_once

    def require_no_trace(self, names: Sequence[str], fed: Mapping[str, Any]) -> None:
        """InvalidArgumentError for runs that cannot be one: they would not see what each other leave behind."""
        if not self.leaves_nothing(names, fed):
            raise InvalidArgumentError("a run changes the state of the next run, or draws random numbers")

    def leaves_nothing(self, names: Sequence[str], fed: Mapping[str, Any]) -> bool:
        """Return True if a run of the tensors and operations with these tensors fed writes and draws nothing."""
        # What a run leaves behind depends on which tensors are fed, as these cut off the nodes before them, and not on the
        # values.
        key = frozenset(fed)
        if key not in self._leaving:
            self._leaving[key] = self._finds_no_trace(names, fed)
        return self._leaving[key]

    def _finds_no_trace(self, names: Sequence[str], values: Mapping[str, Any]) -> bool:
        fed = frozenset(self._graph.output(name) for name in values)
        needed = needed_nodes([self._graph.fetch(name) for name in names], list(fed))
        order = topological_order(node for node in self._graph if node in needed)
        if any(access.kind != READ for access in accesses(self._graph, order, fed)):
            return False
        bodies = [self._graph.functions[name].body for name in called_functions(self._graph, order)]
        ops = {node.op for node in itertools.chain(order, *bodies)}
        # After a draw, or a change as of a queue, the next run may differ.
        acting = (op for op in ops if has_fact(op, "side_effect") and not has_fact(op, "diagnostic"))
        return not any(acting) and not any(has_fact(op, "random") for op in ops)


class _Runs:
    """The runs of `run_each`."""

    def __init__(
        self, graph: Graph, fetches: Mapping[str, str], feeds: Mapping[str, Any], opened: Callable[[Graph], SessionLike],
        batch: BlockSize,
    ) -> None:  # fmt: skip
        self._graph, self._fetches, self._feeds, self._opened, self._batch = graph, fetches, feeds, opened, batch
        self._variables = find_variables(graph)
        self._sessions = SharedRuns(graph)

    def results(
        self, items: Sequence[Item | None], sweep: Mapping[str, Sequence[Any]], arrays: InputArrays, keep_going: bool
    ) -> Iterator[InputResult]:
        """Yield the result of each input and setting."""
        if not sweep and isinstance(items, Items):
            yield from self._in_blocks(items, arrays, keep_going)
            return
        for item, values in itertools.product(items, list(itertools.product(*sweep.values()))):
            settings = tuple(zip(sweep, values))
            words = [item.name] if item is not None else []
            name = ",".join([*words, *(f"{key}={value}" for key, value in settings)])
            try:
                yield InputResult(name, self._run(arrays.of(item) if item is not None else {}, settings), None, settings)
            # A fault of tfg is no result of an input.
            except InternalError:
                raise
            except TfgError as error:
                if not keep_going:
                    raise
                yield InputResult(name, {}, error, settings)

    def _in_blocks(self, items: Sequence[Item], arrays: InputArrays, keep_going: bool) -> Iterator[InputResult]:
        """Yield the result of each input; inputs run in blocks if they can be stacked."""
        work = BlockWork(
            arrays.of, arrays.block, lambda values: self._run(values, ()), lambda result: result, self._rows,
            functools.partial(lacks_rows, self._graph), lambda _: None, lambda item: item.is_slow, self._sessions.runs_at_once,
        )  # fmt: skip
        runner = BlockRunner(work, self._batch)
        for ran in runner.results(items):
            if ran.error is not None:
                if not keep_going:
                    raise ran.error
                yield InputResult(ran.inputs[0].name, {}, ran.error)
            elif not ran.counts or runner.rows is None:
                yield InputResult(ran.inputs[0].name, ran.result)
            else:
                parts = {name: runner.rows.split(name, value, ran.counts) for name, value in ran.result.items()}
                for place, item in enumerate(ran.inputs):
                    yield InputResult(item.name, {name: values[place] for name, values in parts.items()})

    def _rows(self, fed: Mapping[str, Any]) -> BlockRows:
        self._sessions.require_no_trace(list(self._fetches.values()), {**self._feeds, **fed})
        return BlockRows(self._graph, self._fetches, list(fed), list(self._feeds))

    def _run(self, values: Mapping[str, Any], settings: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        assigned = {name: value for name, value in settings if name in self._variables}
        fed = {self._graph.output(name).name: value for name, value in settings if name not in self._variables}
        feeds = {**self._feeds, **fed, **values}
        names = list(self._fetches.values())
        runner = self._sessions.runner(names, feeds, lambda: self._prepared(assigned), own=bool(assigned))
        return dict(zip(self._fetches, runner.session.run(names, feeds)))

    def _prepared(self, assigned: Mapping[str, Any]) -> Runner:
        runner = Runner(self._opened(self._graph))
        for name, value in assigned.items():
            runner.assign(name, lambda variable, value=value: value)  # type: ignore[misc]
        return runner


# The runs of a graph on the values of inputs: sessions that runs share, and the rows of inputs that may run together.


class StepRuns:
    """The runs of a plan. Runs share a session if no step writes or draws; otherwise each run has a new session."""

    def __init__(self, graph: Graph, session: SessionSetup, plan: RunPlan) -> None:
        self._graph, self._session, self._plan = graph, session, plan
        self._sessions = SharedRuns(graph)
        self._closing = contextlib.ExitStack()

    def steps(self, values: Mapping[str, Any], assigned: Pairs = ()) -> list[StepResult]:
        """Return the results of the steps with these feeds, and with these values of variables."""
        orders = self._plan.orders(values)
        runner = self._runner(assigned, (*orders.fetches.values(), *orders.targets), values)
        return [result for result in runner.steps(orders) if result.values]

    def rows(self, fed: Mapping[str, Any]) -> BlockRows:
        """Return the rows of the graph; InvalidArgumentError if runs are more than fetches that leave nothing behind."""
        orders = self._plan.orders(fed)
        if orders.targets or orders.steps != 1 or orders.inside:
            raise InvalidArgumentError("a run is more than a step that fetches tensors")
        self._sessions.require_no_trace(list(orders.fetches.values()), fed)
        return BlockRows(self._graph, orders.fetches, list(fed), [name for name in orders.feeds if name not in fed])

    def runs_at_once(self) -> int:
        """Return how many runs may be side by side."""
        return self._sessions.runs_at_once()

    def close(self) -> None:
        """End the sessions on a cluster."""
        self._closing.close()

    def _runner(self, assigned: Pairs, names: tuple[str, ...], values: Mapping[str, Any]) -> Runner:
        """Return a session: the session of the previous task if its runs change no state, otherwise a new session."""

        def prepared() -> Runner:
            runner = self._session.open(self._graph, quiet=True)
            if (close := getattr(runner.session, "close", None)) is not None:
                self._closing.callback(close)
            self._plan.assign(runner, assigned)
            return runner

        # The variables of a cluster outlive every session, so a session for each input would not see others anyhow.
        return self._sessions.runner(names, values, prepared, own=bool(assigned), always=self._session.on is not None)


def values_of(steps: Sequence[StepResult]) -> dict[str, Any]:
    """Return the values of a step by name."""
    return {item.name: item.value for step in steps for item in step.values}
