"""A program that runs in NumPy first, then by each engine that takes a part, and from then on in the fastest way."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from ...engines.automatic import Contest, nodes_within, trains
from ...engines.engine_runtime import are_batches_of_one
from ...engines.protocol import Engined, inner_steps
from ...engines.remembered_choices import RememberedChoice
from ...graph.callers import called_functions
from ...graph.graph import Graph, Node
from ...planning.plan import Plan
from ...registry.op_facts import has_fact
from ...support.engine_names import NUMPY
from ...support.trials import RunTimer
from ..execute.executor import Program
from ..execute.tiers import Tier
from ..state.run_context import Run, current

if TYPE_CHECKING:
    from ...engines.automatic import AutoRuntime
    from ...engines.engine_runtime import EngineRuntime, Group
    from ...engines.remembered_choices import ChoiceMemory

_MAX_CONTESTS: Final = 16
"""For how many shapes of feeds a way is chosen; feeds of other shapes run in NumPy."""


class AutomaticProgram:
    """A plan bound to the ways in which the plan can run.

    `program` makes a program by an engine, or by NumPy; all programs share the same state.
    """

    def __init__(
        self,
        plan: Plan,
        graph: Graph,
        auto: AutoRuntime,
        program: Callable[[EngineRuntime | None], Program],
        name: str,
        optimize: str,
    ) -> None:
        self._auto = auto
        self._make = program
        self._name = name
        self._graph = graph
        self._programs: dict[str, Program] = {NUMPY: program(None)}
        self._groups: dict[str, list[Group]] = {}
        self._contests: dict[tuple[Any, ...], Contest] = {}
        self._lock = threading.RLock()
        nodes = [step.node for step in inner_steps(plan.steps)]
        self._calls_functions = bool(called_functions(graph, nodes))
        self._engines = auto.names(graph, nodes)
        self._is_training = trains(graph, nodes)
        self._first = self._needed_engine(nodes)
        self._latest = self._programs[NUMPY]
        self._remembers = functools.partial(auto.memory, graph, nodes, optimize)

    @functools.cached_property
    def _memory(self) -> ChoiceMemory | None:
        """The choices of other processes; None if the nodes need an engine, which leaves no choice."""
        return self._remembers() if self._first == NUMPY else None

    def _needed_engine(self, nodes: Sequence[Node]) -> str:
        """Return the engine that the nodes need, such as a program compiled for the engine; NumPy where they need none."""
        needing = [node for node in nodes_within(self._graph, nodes) if has_fact(node.op, "program")]
        for name in self._engines if needing else ():
            runtime = self._auto.runtime(name)
            if runtime is not None and not runtime.engine.refuses(needing, self._graph):
                self._engines = []
                return name
        return NUMPY

    def run(self, feeds: Sequence[Any], run: Run | None = None) -> list[Any]:
        """Return the values of the plan's fetches. NumPy runs every run with a hook."""
        hook = (run or current()).hook
        shapes = tuple([getattr(value, "shape", None) for value in feeds])
        # A hook sees kernels, and only NumPy runs kernels one by one.
        contest = None if hook is not None else self._contest(shapes)
        if contest is None:
            self._latest = self._programs[NUMPY]
            return self._latest.run(feeds, run)
        self._auto.latest = contest
        with self._lock:
            way = contest.next()
            # The program is made under the lock, so that a way is compiled once. The run is outside, so that threads may run
            # side by side.
            program = self._program(contest, way)
        self._latest = program
        runtime = None if program is self._programs[NUMPY] else self._auto.runtime(way)
        call = program.run if runtime is None else functools.partial(runtime.timed, program.run)
        # Timing takes locks and clocks, which a small program would feel in each run.
        if contest.is_settled:
            return call(feeds, run)
        compared = runtime.comparisons if runtime else 0
        timer = RunTimer()
        values = call(feeds, run)
        seconds = timer.quiet_seconds
        with self._lock:
            untried = contest.untried
            if runtime is None:
                contest.note(way, seconds)
            else:
                contest.note(way, seconds, runtime.is_deciding, runtime.comparisons > compared)
            if self._is_idle(way):
                contest.drop(way)
            # The choice is written when the outcome changes, not in each run, because the memory is a file.
            if contest.untried != untried and self._memory is not None:
                self._memory.remember(shapes, self._choice(contest, shapes))
        return values

    def _choice(self, contest: Contest, shapes: tuple[Any, ...]) -> RememberedChoice:
        """Return the outcome of a contest so far, for later processes."""
        runtime = None if contest.best == NUMPY else self._auto.runtime(contest.best)
        groups = {} if runtime is None else runtime.choices()
        return RememberedChoice(self._name, _said(shapes), contest.best, contest.seconds, contest.untried, groups)

    @property
    def tier(self) -> Tier:
        """The tier of the latest run."""
        return self._latest.tier

    def _contest(self, shapes: tuple[Any, ...]) -> Contest | None:
        """Return the contest for feeds of certain shapes; None beyond the largest number of contests."""
        contest = self._contests.get(shapes)
        if contest is None and len(self._contests) < _MAX_CONTESTS:
            with self._lock:
                if shapes not in self._contests:
                    recalled = None if self._memory is None else self._memory.recall(shapes)
                    alike = [known for other, known in self._contests.items() if are_batches_of_one(other, shapes)]
                    furthest = min(alike, key=lambda known: len(known.untried), default=None)
                    self._contests[shapes] = self._auto.contest(
                        self._name, _said(shapes), self._engines, self._first, self._is_training, recalled, furthest
                    )
                contest = self._contests[shapes]
        return contest

    def _program(self, contest: Contest, way: str) -> Program:
        """Return the program of a way, NumPy's where the engine takes nothing."""
        if way not in self._programs:
            runtime = self._auto.runtime(way)
            before = 0 if runtime is None else len(runtime.groups)
            made = None if runtime is None else self._make(runtime)
            # The runtime also has groups of other programs; these alone tell whether the engine works here.
            self._groups[way] = [] if runtime is None else runtime.groups[before:]
            self._programs[way] = made if made is not None and self._has_groups(made) else self._programs[NUMPY]
        if way != NUMPY and self._programs[way] is self._programs[NUMPY]:
            contest.drop(way)
        return self._programs[way]

    def _is_idle(self, way: str) -> bool:
        """Return True if NumPy runs all groups of an engine."""
        groups = self._groups.get(way, ())
        return bool(groups) and not self._calls_functions and all(group.is_idle for group in groups)

    def _has_groups(self, program: Program) -> bool:
        """True if an engine takes part of a program: a group of the program, or maybe of a function that the program
        calls.
        """
        return self._calls_functions or any(isinstance(step, Engined) for step in program.plan.steps)


def _said(shapes: tuple[Any, ...]) -> str:
    """Return the shapes of feeds in words."""
    return ", ".join(str(list(shape)) for shape in shapes if shape is not None)
