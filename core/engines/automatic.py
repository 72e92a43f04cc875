"""`engine="auto"`: the installed engines, the order of trials, and the choices made.

Before a run, `preview` shows the work of an engine without running anything, and a suggestion names the engine that would
take most of a run, without the packages of engines.
"""

from __future__ import annotations

import math
import os
import statistics
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Final

from ..graph.callers import called_functions
from ..graph.graph import Graph, Node, Output
from ..planning.plan import Loop, Plan
from ..planning.planner import compile_plan, plan_of_function
from ..planning.reachability import needed_nodes
from ..registry.op_facts import has_fact
from ..support import dataclasses, trials
from ..support.engine_names import AUTO, FAST, NUMPY, VARIABLE
from ..support.errors import InvalidArgumentError, NotFoundError
from ..support.hints import extra_hint
from ..support.not_copied import NotCopied
from ..support.trials import PairedTrial, gpus
from ..support.user_signals import pass_on
from .engine_registry import find_engine, install_hint, installed_engines, installed_versions
from .engine_report import Choice, EngineReport
from .engine_runtime import EngineRuntime
from .executables import DEFAULT, EngineSettings
from .lowerable import UnsupportedOps, refusals
from .protocol import Engine, Engined, Mesh, inner_steps
from .remembered_choices import ChoiceMemory, RememberedChoice
from .step_bodies import is_constant_step

PATIENCE: Final = 1.0
"""Seconds that runs take before an engine is tried. Importing an engine and compiling take about as long, so a short
program loses nothing, and a long program at most as much again.
"""
_LEAST_WARM_RUNS: Final = 3
_MOST_WARM_RUNS: Final = 30
"""The largest number of warm-up runs with an engine before runs are timed: groups choose between NumPy and the engine
meanwhile.
"""
_FAR: Final = 3.0
"""By how much two warm-up runs, after the first, are slower than the best way where an engine is dropped at once."""
CLOSE: Final = 1.5
"""By how much a way may be slower than the best and still be tried for feeds of another batch. Of the networks of
docs/speed.md all that OpenVINO runs faster than NumPy by this factor are slower in XLA on a CPU, by 1.4 times or more.
"""
CALL_SECONDS: Final = 1e-3
"""The seconds by which a way may be slower and be tried, too: at a small batch the call of an engine may be most of a run."""
_RECENT: Final = 9
"""Runs of the best way whose median is compared with warm-up runs."""
TRIAL_SECONDS: Final = 0.05
"""The least seconds that each candidate is timed before the faster is chosen."""
_TRAINING: Final = ("xla", "openvino")
_INFERENCE: Final = ("openvino", "xla")
"""The order in which engines are tried: XLA takes whole train steps, OpenVINO has the faster convolutions."""


class Contest:
    """A contest for the fastest way to run a program on feeds of certain shapes: NumPy, then each engine against the best
    so far, in turns: the first run of a turn converts the variables that the other way wrote.

    An engine is tried when the runs since the last trial took `patience`, and at least as long as the last trial. So all
    trials together take at most half of the time.
    """

    def __init__(
        self,
        engines: Iterable[str],
        patience: float,
        best: str = NUMPY,
        final: str | None = None,
        seconds: Mapping[str, float] | None = None,
        lead: float = 1.0,
    ) -> None:
        """`final` is an engine after whose victory, by the factor `lead` or more, no other is tried; `seconds` has the times
        of earlier trials.
        """
        self.best = best
        self._final = final
        self._lead = lead
        self._recent: deque[float] = deque(maxlen=_RECENT)
        self._far = 0
        self.seconds: dict[str, float] = dict(seconds or {})
        """The least time of a run of each way that was tried."""
        self._pending = list(engines)
        self._patience = self._needed = patience
        self._spent = self._cost = 0.0
        self._runs = self._warm_runs = 0
        self._is_warm = False
        self._challenger: str | None = None
        self._trial = PairedTrial()

    @property
    def is_settled(self) -> bool:
        """Return whether no engine is left to be tried."""
        return self._challenger is None and not self._pending

    def of_other_batch(self) -> Contest:
        """Return a contest for feeds of another batch, which begins with the best way of this.

        The best way meets again the ways that were close behind, and the untried. Where NumPy is among the close ways, NumPy
        is the first, as in every contest.
        """
        limit = CLOSE * self.seconds.get(self.best, math.inf) + CALL_SECONDS
        close = [way for way, seconds in self.seconds.items() if seconds <= limit and way != self.best]
        first = NUMPY if NUMPY in close else self.best
        rest = dict.fromkeys((self.best, *close, *self.untried))
        ways = [way for way in rest if way not in (first, NUMPY)]
        return Contest(ways, self._patience, first, self._final, lead=self._lead)

    @property
    def untried(self) -> tuple[str, ...]:
        """Return the engines whose trials are not over."""
        return (*self._pending, *((self._challenger,) if self._challenger else ()))

    def next(self) -> str:
        """Return the way of the next run."""
        if self._challenger is None and self._pending and self._runs and self._spent >= self._needed:
            self._challenger, self._trial = self._pending.pop(0), PairedTrial(TRIAL_SECONDS)
            self._warm_runs, self._is_warm, self._cost, self._far = 0, False, 0.0, 0
        if self._challenger is None:
            return self.best
        return (self.best, self._challenger)[self._trial.next] if self._is_warm else self._challenger

    def note(self, way: str, seconds: float, is_deciding: bool = False, has_compared: bool = False) -> None:
        """Record the time of a run, whether groups are still undecided after it, and whether it compared some with NumPy."""
        self._runs += 1
        if self._challenger is None:
            self._spent += seconds
            self._recent.append(seconds)
            return
        self._cost += seconds
        if not self._is_warm:
            self._warm_runs += way == self._challenger
            is_over = self._warm_runs >= (_MOST_WARM_RUNS if is_deciding else _LEAST_WARM_RUNS)
            self._is_warm = way == self._challenger and is_over
            # A group that is compared runs in NumPy too and leaves the variables there: such a run says nothing about the
            # engine. Its own trial ends early where the engine is far behind.
            if not has_compared:
                self._drop_if_far(way, seconds)
            return
        ways = (self.best, self._challenger)
        if way in ways:
            self._trial.note(ways.index(way), seconds)
        if self._trial.choice is not None:
            for name, least in zip(ways, self._trial.least):
                self.seconds[name] = min(self.seconds.get(name, math.inf), least or math.inf)
            beaten, self.best = self.best, ways[self._trial.choice]
            if self.best == self._final and self.seconds[beaten] >= self._lead * self.seconds[self.best]:
                self._pending.clear()
            # The next challenger is compared with runs of this way.
            self._recent.clear()
            self._end()

    def _drop_if_far(self, way: str, seconds: float) -> None:
        """Drop an engine of which two warm-up runs, after the first, which compiles, are far behind the best way."""
        if way == self._challenger and self._warm_runs > 1 and self._recent:
            self._far += seconds > _FAR * trials.GAIN * statistics.median(self._recent)
            if self._far == 2:
                self.seconds[way] = min(self.seconds.get(way, math.inf), seconds)
                self._end()

    def drop(self, engine: str) -> None:
        """Try an engine no further."""
        if engine == self._challenger:
            self._end()

    def _end(self) -> None:
        # A trial that took long is followed by as long a time without one: together trials take at most half.
        self._challenger, self._spent, self._needed = None, 0.0, max(self._patience, self._cost)


@dataclasses.dataclass(frozen=True, slots=True)
class _ContestEntry:
    """A contest, and the call that it is held for."""

    fetches: str
    shapes: str
    contest: Contest
    recalled: str | None
    """The way that an earlier process chose."""

    @property
    def choice(self) -> Choice:
        """The row of the report."""
        best = self.contest.best
        return Choice(self.fetches, self.shapes, self.contest.seconds, best, is_remembered=best == self.recalled)


class AutoRuntime(NotCopied):
    """The runtimes of all engines in a session that chooses among them: `engines`, by default all installed."""

    instead = "pickle the engine's name: `Session(engine='auto')`"

    name = AUTO

    def __init__(
        self,
        precision: str | None = None,
        settings: EngineSettings = DEFAULT,
        engines: Sequence[Engine] | None = None,
        patience: float | None = None,
        versions: str | None = None,
    ) -> None:
        """`patience` is by default PATIENCE. `versions` are those of given `engines`; without it no choice is remembered for
        later processes.
        """
        self.precision = precision
        self.settings = dataclasses.replace(settings, chooses=True)
        self.patience = PATIENCE if patience is None else patience
        self.lock = threading.RLock()
        self._names = installed_engines() if engines is None else [engine.name for engine in engines]
        self._versions = versions
        self._is_of_packages = engines is None
        made = {engine.name: EngineRuntime(engine, self.settings) for engine in engines or ()}
        self._runtimes: dict[str, EngineRuntime] = made
        self._unusable: dict[str, str] = {}
        self._entries: list[_ContestEntry] = []
        self.latest: Contest | None = None
        """The contest of the last run."""

    def names(self, graph: Graph, nodes: Sequence[Node]) -> list[str]:
        """Return the engines to try for a plan of nodes, in order."""
        # Engines of other packages come after tfg's own, of which it is known what they are good at.
        ranked = [name for name in preferred(graph, nodes) if name in self._names]
        return [*ranked, *(name for name in self._names if name not in ranked)]

    def runtime(self, name: str) -> EngineRuntime | None:
        """Return the runtime of an engine, importing the engine at the first call; None where that fails, as the report
        tells.
        """
        with self.lock:
            if name not in self._runtimes and name not in self._unusable:
                try:
                    self._runtimes[name] = load_runtime(name, self.precision, self.settings)
                except Exception as error:
                    pass_on(error)
                    self._unusable[name] = f"{name} cannot be used: {error}"
            return self._runtimes.get(name)

    def memory(self, graph: Graph, nodes: Sequence[Node], optimize: str) -> ChoiceMemory | None:
        """Return the memory of choices for a plan of nodes; None where each process is to decide anew."""
        if self._versions is None and self._is_of_packages:
            self._versions = installed_versions()
        # Someone who compares an engine with NumPy wants to see the comparison, not what an earlier process concluded.
        if self._versions is None or self.settings.verify:
            return None
        return ChoiceMemory(nodes_within(graph, nodes), repr((self._versions, self.precision, optimize)))

    def contest(
        self,
        fetches: str,
        shapes: str,
        engines: Sequence[str],
        best: str,
        is_training: bool = False,
        recalled: RememberedChoice | None = None,
        other_batch: Contest | None = None,
    ) -> Contest:
        """Return a new contest of ways to run a program, and add the contest to the report.

        A training step for which XLA wins is not tried on other engines, which leave a part of the step to NumPy; nor is
        inference that OpenVINO wins clearly, where XLA has no GPU. A recalled choice is where the contest goes on, or the
        contest of the same program for an `other_batch`.
        """
        final, lead = (_TRAINING[0], 1.0) if is_training else (None if gpus() else _INFERENCE[0], CLOSE)
        way = None
        if recalled is not None and self._takes(recalled, {best, *engines}):
            way = recalled.best
            contest = Contest(recalled.pending, self.patience, way, final, recalled.seconds, lead)
        elif other_batch is not None:
            contest = other_batch.of_other_batch()
        else:
            contest = Contest(engines, self.patience, best, final, lead=lead)
        with self.lock:
            self._entries.append(_ContestEntry(fetches, shapes, contest, way))
        return contest

    def _takes(self, recalled: RememberedChoice, ways: Set[str]) -> bool:
        """Return whether a recalled choice is among the ways, and prepare the runtime of its engine."""
        if not {recalled.best, *recalled.pending} <= ways:
            return False
        # The package may have been removed, or fail to load here: then the program decides anew.
        runtime = None if recalled.best == NUMPY else self.runtime(recalled.best)
        if runtime is not None:
            runtime.recalled.update(recalled.groups)
        return recalled.best == NUMPY or runtime is not None

    @property
    def runs_at_once(self) -> int:
        """Return how many runs may be side by side: 1 while times of runs are still compared."""
        if self.latest is None or not self.latest.is_settled or self.latest.best == NUMPY:
            return 1
        runtime = self.runtime(self.latest.best)
        return 1 if runtime is None else runtime.runs_at_once

    def report(self) -> EngineReport:
        """Return a report on all engines and choices so far."""
        with self.lock:
            reports = [runtime.report() for runtime in self._runtimes.values()]
            choices = [e.choice for e in self._entries]
        refused = (dataclasses.replace(r, reason=f"{each.engine}: {r.reason}") for each in reports for r in each.refused)
        return EngineReport(
            self.name,
            self.note,
            tuple(group for report in reports for group in report.groups),
            tuple(refused),
            sum(report.in_small_groups for report in reports),
            tuple(difference for report in reports for difference in report.differences),
            tuple(choices),
        )

    @property
    def note(self) -> str:
        """Return the names of the engines to choose from, or how to install an engine."""
        if not self._names:
            return f"no engine is installed: {install_hint()}"
        said = [self._runtimes[name].engine.note if name in self._runtimes else name for name in self._names]
        precision = [f"precision {self.precision}"] if self.precision is not None else []
        return "; ".join([*said, *precision, *self._unusable.values()])


def load_runtime(name: str, precision: str | None, settings: EngineSettings, mesh: Mesh | None = None) -> EngineRuntime:
    """Return the runtime of the engine named."""
    # The exact engine compares its own faster types; `fast` is no type that an engine knows.
    is_fast = precision == FAST
    engine = find_engine(name, None if is_fast else precision, mesh)
    return EngineRuntime(engine, dataclasses.replace(settings, is_fast=is_fast))


def choose_runtime(
    name: str | None, precision: str | None = None, settings: EngineSettings = DEFAULT, mesh: Mesh | None = None
) -> EngineRuntime | AutoRuntime | None:
    """Return the runtime for an engine's name; None for NumPy, also where neither the name nor the environment says
    anything.
    """
    chosen = name or os.environ.get(VARIABLE) or NUMPY
    if chosen == NUMPY:
        if precision is not None:
            raise InvalidArgumentError(f"precision {precision} needs an engine, but NumPy runs everything")
        return None
    if chosen == AUTO and mesh is None:
        return AutoRuntime(precision, settings)
    return load_runtime(chosen, precision, settings, mesh)


def preferred(graph: Graph, nodes: Sequence[Node]) -> Sequence[str]:
    """Return the names of tfg's own engines, first the engine that is faster, as a rule, for a plan of these nodes."""
    return _TRAINING if trains(graph, nodes) else _INFERENCE


def trains(graph: Graph, nodes: Sequence[Node]) -> bool:
    """Return True for nodes of which some update variables by gradients or increments."""
    return any(has_fact(node.op, fact) for node in nodes_within(graph, nodes) for fact in ("training", "increment"))


def nodes_within(graph: Graph, nodes: Sequence[Node]) -> Iterator[Node]:
    """Yield nodes and the nodes in the functions that they call."""
    yield from nodes
    functions: Mapping[str, object] = graph.functions
    # The order is the same in every process, because the names of remembered choices are made of these nodes.
    for name in sorted(called_functions(graph, nodes)):
        if name in functions:
            yield from graph.functions[name].body


# A preview of an engine's work, without running anything.


def preview(graph: Graph, fetches: Sequence[Output | Node], engine: Engine) -> EngineReport:
    """Return the groups in which `engine` would run `fetches`, groups in functions included, and the refused nodes."""
    runtime = EngineRuntime(engine)
    for owner, plan in _plans(graph, fetches):
        for step in runtime.divided(plan, owner).steps:
            if isinstance(step, Engined):
                runtime.group(owner, step.body, _never)
    return runtime.report()


def _plans(graph: Graph, fetches: Sequence[Output | Node]) -> Iterator[tuple[Graph, Plan]]:
    yield graph, compile_plan(graph, fetches)
    for name in sorted(called_functions(graph, needed_nodes(fetches))):
        function = graph.functions[name]
        yield function.body, plan_of_function(function)


def _never(*values: object) -> tuple[object, ...]:
    raise AssertionError("a preview cannot run")


# A suggestion of the engine that would take most of a run.

_MOST: Final = 0.5
"""The part of the nodes that an engine must take to be worth a word."""


@dataclasses.dataclass(frozen=True, slots=True)
class Suggestion:
    """An engine, the part of the nodes that the engine would take, and how to install a missing package."""

    engine: str
    share: float
    install: str | None


def first_engine(graph: Graph, targets: Sequence[Output | Node]) -> str:
    """Return the engine that `auto` tries first for a run of `targets`; NotFoundError where none is installed."""
    auto = AutoRuntime()
    names = auto.names(graph, list(needed_nodes(targets)))
    if not names:
        raise NotFoundError("no engine is installed", hint=install_hint())
    return names[0]


def suggested_engine(graph: Graph, targets: Sequence[Output | Node]) -> Suggestion | None:
    """Return the engine that would take most of a run of `targets`, None where no engine would.

    The answer rests on the tables of unsupported ops and on the lowerings; only OpenVINO itself knows the ops it translates
    beyond them.
    """
    plan = compile_plan(graph, targets)
    if plan.needs_dataflow:
        return None
    steps = [step for step in inner_steps(plan.steps) if not (isinstance(step, Loop) or is_constant_step(step))]
    nodes = [step.node for step in steps]
    has_loops = any(isinstance(step, Loop) for step in plan.steps)
    for name in preferred(graph, nodes):
        # OpenVINO takes no loop, in which most of the time may go, whatever share of the other nodes it takes.
        if name == "openvino" and has_loops:
            continue
        share = 1 - len(refusals(nodes, UnsupportedOps.of(name), graph)) / len(nodes) if nodes else 0.0
        if share >= _MOST:
            return Suggestion(name, share, None if name in installed_engines() else extra_hint(name))
    return None
