"""The runtime of an engine in a session: groups compiled as shapes turn up, NumPy wherever that fails, and the report.

Results of the engine are compared with NumPy's on request.
"""

from __future__ import annotations

import functools
import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from ..graph.graph import Graph, Node
from ..planning.plan import Plan
from ..registry.op_facts import has_fact
from ..support import dataclasses
from ..support.errors import InvalidArgumentError, TfgError
from ..support.log import tell
from ..support.not_copied import NotCopied
from ..support.trials import RunTimer, Trial
from ..support.user_signals import pass_on
from ..types.arrays import EngineArray
from ..types.shapes import Shape
from . import reasons
from .engine_report import EngineReport, GroupDifference, GroupReport, Rounded, refused_nodes
from .executables import (
    DEFAULT,
    PAIRED_GAIN,
    PAIRS,
    PAIRS_SECONDS,
    EngineSettings,
    Executable,
    Form,
    difference,
    is_rounding,
    neighbours,
    relative_difference,
)
from .plan_division import Blame, blame, divided_again, partition, said
from .protocol import (
    ENDING,
    Body,
    Cluster,
    Compiled,
    Declined,
    Engine,
    EngineValue,
    UnfitShapes,
    UnsupportedNodes,
    inner_steps,
)
from .reasons import Reason
from .remembered_choices import GroupChoice, digest, node_identity
from .step_bodies import fixed_inputs, needing, result_shapes

_MAX_COMPILED: Final = 16
"""The largest number of compilations of a group, each for other shapes; further shapes run in NumPy."""
_CLEAR: Final = 1.5
"""By how much an engine was faster than NumPy where the times are not compared again for inputs of another batch."""
_Call: TypeAlias = Callable[..., Sequence[Any]]
"""A function from the inputs of a group to the tuple of outputs."""


class EngineRuntime(NotCopied):
    """The state of an engine in a session, and in all sessions that share variables."""

    instead = "pickle the engine's name: `Session(engine=NAME)`"

    def __init__(self, engine: Engine, settings: EngineSettings = DEFAULT) -> None:
        self.engine = engine
        self.settings = settings
        self.lock = threading.RLock()
        self.groups: list[Group] = []
        self.refusals: dict[Node, Reason] = {}
        self.too_small = 0
        self.seconds = 0.0
        self.differences: dict[str, GroupDifference] = {}
        self.recalled: dict[str, GroupChoice] = {}
        """The outcomes for groups in earlier processes, by the identities of the groups."""

    @property
    def note(self) -> str:
        """Return the engine's name, and remarks on the way of computing."""
        fast = ", or in the fastest type that is near enough" if self.settings.is_fast else ""
        return f"{self.engine.name}: {self.engine.note}{fast}"

    @property
    def runs_at_once(self) -> int:
        """Return how many runs of a session may be side by side, each in `work_division.undivided`."""
        return self.engine.runs_at_once

    @property
    def is_deciding(self) -> bool:
        """Return whether groups that ran are still to be compared with NumPy."""
        executables = (executable for group in self.groups for executable in group.executables.values())
        return any(compiled is not None and compiled.runs > 0 and compiled.trial.choice is None for compiled in executables)

    @property
    def compile_seconds(self) -> float:
        """Return the seconds spent on compiling so far."""
        return sum(group.compile_seconds for group in self.groups)

    @property
    def comparisons(self) -> int:
        """Return how many runs of groups were runs in NumPy too, to compare times and results."""
        return sum(trial.counts[0] for group in self.groups for trial in group.trials)

    def choices(self) -> dict[str, GroupChoice]:
        """Return the outcomes for all groups that are decided, by identity, for later processes."""
        with self.lock:
            groups = list(self.groups)
        return {identity: choice for group in groups for identity, choice in group.choices()}

    def divided(self, plan: Plan, graph: Graph) -> Plan:
        """Return the plan with the steps that the engine takes in groups."""
        parts = partition(plan, graph, self.engine)
        with self.lock:
            self.refusals.update(parts.refusals)
            self.too_small += parts.too_small
        return parts.plan

    def group(self, graph: Graph, body: Body, in_numpy: _Call, assemble: Callable[[Body], _Call] | None = None) -> Group:
        """Return the group of steps in a body as a function; `in_numpy` runs the body, and `assemble` makes a runner of
        another body.

        Without `assemble` the group is not divided further.
        """
        made = Group(self, Cluster(graph, body), in_numpy, assemble)
        with self.lock:
            self.groups.append(made)
        return made

    def divided_again(self, cluster: Cluster, blame: Blame) -> Body | None:
        """Return the steps of a group divided again, None where the engine takes none of them."""
        body, parts = divided_again(cluster, self.engine, blame)
        if body is not None:
            with self.lock:
                self.refusals.update(parts.refusals)
                self.too_small += parts.too_small
        return body

    def timed(self, run: Callable[..., Any], *args: Any) -> Any:
        """Return the result of a run, and count the time."""
        start = time.perf_counter()
        try:
            return run(*args)
        finally:
            with self.lock:
                self.seconds += time.perf_counter() - start

    def report(self) -> EngineReport:
        """Return the report on all groups and refusals so far."""
        with self.lock:
            groups = tuple(group.report(self.seconds) for group in self.groups if group.runs or not group.instead)
            refused, differences = refused_nodes(self.refusals), tuple(self.differences.values())
            return EngineReport(self.engine.name, self.engine.note, groups, refused, self.too_small, differences)

    def note_difference(self, difference: GroupDifference) -> None:
        """Record a result that differs from NumPy's."""
        with self.lock:
            self.differences.setdefault(difference.tensor, difference)


class Group:
    """A group of steps as a function of the input values."""

    def __init__(
        self, runtime: EngineRuntime, cluster: Cluster, in_numpy: _Call, assemble: Callable[[Body], _Call] | None
    ) -> None:
        self.runtime = runtime
        self.engine = runtime.engine
        self.cluster = cluster
        self.in_numpy = in_numpy
        self.assemble = assemble
        tensors = [(output.name, output.node.op) for output in cluster.results]
        self.made = [*tensors, *((node.name, node.op) for node in cluster.updates)]
        self.makers = [*(output.node.name for output in cluster.results), *(node.name for node in cluster.updates)]
        self.dtypes = tuple(result.node.output_dtypes[result.index].numpy for result in cluster.results)
        self.written = cluster.body.written
        self.fixed = fixed_inputs(cluster.body, self.engine)
        self.variables = frozenset(cluster.body.variables)
        self.fed_slots = [slot for slot in range(cluster.body.inputs) if slot not in self.fixed]
        self.blame = Blame({}, 0)
        """The nodes that do not compile, whatever the shapes."""
        self.parts: dict[frozenset[Node], _Call | None] = {}
        """Runners of the group without nodes that do not compile and go to NumPy; None where no engine is left."""
        self.instead: dict[Any, _Call] = {}
        self.executables: dict[Any, Executable | None] = {}
        self.left: dict[Any, GroupChoice] = {}
        """For which inputs NumPy runs the group because of a comparison."""
        self.trials: list[Trial] = []
        self.rounded: Rounded | None = None
        self.precision: str | None = None
        self.reason: Reason | None = None
        self.lock = threading.Lock()
        self.compile_seconds = self.seconds = 0.0
        self.runs = 0
        # A program compiled for an engine has no kernel in NumPy.
        has_numpy = not any(has_fact(step.node.op, "program") for step in cluster.body.steps)
        self.is_timed = has_numpy and runtime.settings.times_numpy

    def __call__(self, *values: Any) -> Any:
        """Return the outputs of the group: the value itself for a single output, else a tuple."""
        arrays = self.arrays(values)
        run = self.executable(arrays)
        results = self._run_either(run, arrays, values) if isinstance(run, Executable) else run(*values)
        return results[0] if len(results) == 1 else results

    def _run_either(self, executable: Executable, arrays: Sequence[Any], values: Sequence[Any]) -> Sequence[Any]:
        """Return the engine's results, or NumPy's in their place."""
        compares = self.compares(executable)
        results = self.run(executable, arrays)
        if not isinstance(results, tuple):
            return results(*values)
        expected = self.timed_in_numpy(executable, values) if compares else None
        moved = functools.partial(self.numpy_of_neighbours, values)
        return results if expected is None or self.accepts(executable, results, expected, moved) else expected

    def arrays(self, values: Sequence[Any]) -> list[Any]:
        """Return the inputs as an engine takes them: variables replaced by their values."""
        return [value if type(value) is EngineArray else np.asarray(value) for value in values]

    def executable(self, arrays: Sequence[Any]) -> Executable | _Call:
        """Return the executable for inputs of these shapes, or the function to run instead."""
        # The value of a variable would be compiled in, and would be an old one after the next assignment.
        if not self.variables.isdisjoint(self.fixed):
            return self._without_variables()
        # Dtypes are the graph's, so that shapes and the compiled-in values tell executables apart.
        key = (*[a.shape for a in arrays], *[arrays[i].tobytes() for i in self.fixed])
        executable = self.executables[key] if key in self.executables else self._compile(key, arrays)
        return self.instead.get(key, self.in_numpy) if executable is None else executable

    def choices(self) -> Iterator[tuple[str, GroupChoice]]:
        """Yield the outcomes of comparisons with NumPy, with the identities of the group for the inputs."""
        with self.lock:
            kept = {key: GroupChoice(made.trial.least_pair) for key, made in self.executables.items() if made and made.is_kept}
            outcomes = {**kept, **self.left}
        yield from ((self.identity(key), choice) for key, choice in outcomes.items())

    def identity(self, key: Any) -> str:
        """Return a text that names the group for inputs of these shapes in every process."""
        return digest([self._steps, repr(key)])

    @functools.cached_property
    def _steps(self) -> str:
        return node_identity(step.node for step in inner_steps(self.cluster.body.steps))

    def on(self, body: Body) -> Group:
        """Return the group for the same steps in another body."""
        return self.runtime.group(self.cluster.graph, body, self.in_numpy)  # whose order must stay, so it is not divided

    def decline(self, reason: Reason) -> None:
        """Note why a run was NumPy's, where that is not known of another."""
        self.reason = self.reason or reason

    def compares(self, executable: Executable) -> bool:
        """Return whether NumPy runs too after the next run in the engine: to compare the results, or to time both."""
        settings = self.runtime.settings
        if settings.verify:
            return True
        # If the user asked for the engine, the first run does not wait for NumPy's. The second run times both for the report.
        begins = 0 if settings.chooses or settings.reports else 1
        return self.is_timed and executable.trial.choice is None and executable.runs >= begins

    def compares_values(self, executable: Executable) -> bool:
        """Return whether a comparison is of values, too: those of a large network take several times as long as a step."""
        settings = self.runtime.settings
        return settings.verify or (settings.chooses and not executable.is_accepted)

    def timed_in_numpy(self, executable: Executable, values: Sequence[Any]) -> Sequence[Any] | None:
        """Return the outputs computed by NumPy after the engine, with the time recorded; None where only the time matters
        and NumPy refuses the values that the engine takes.
        """
        settings = self.runtime.settings
        timer = RunTimer()
        try:
            results = self.in_numpy(*values)
        except TfgError as error:
            # Where results are compared, an error of NumPy is the user's: the run is wrong, though the engine has computed
            # something. Otherwise only the time is missing.
            if settings.verify or settings.chooses:
                raise
            self.is_timed = False
            tell("NumPy cannot be timed on the group up to %s: %s", self.last, error)
            return None
        # NumPy is timed after the engine, so that the engine finds the caches as the earlier steps have left them, as in later
        # runs.
        executable.trial.note(0, timer.quiet_seconds)
        return results

    def numpy_of_neighbours(self, values: Sequence[Any]) -> Sequence[Any]:
        """Return NumPy's results for values moved to neighbouring floats."""
        return self.in_numpy(*map(neighbours, values))

    def accepts(
        self,
        executable: Executable,
        results: Sequence[EngineValue],
        expected: Sequence[Any],
        moved: Callable[[], Sequence[Any]],
    ) -> bool:
        """Return True if results agree with NumPy's; where the faster way is chosen, wrong results retire the engine.

        `moved` computes NumPy's results for neighbouring floats: deep networks turn roundings into large differences.
        """
        settings = self.runtime.settings
        if self.compares_values(executable):
            differences = self._differences(executable, results, expected)
            first = next(iter(differences.values()), None)
            # Roundings are looked for only after a difference is found, because a second run in NumPy costs as much as the
            # first.
            if first is not None and not self._are_roundings(differences, results, expected, moved):
                if settings.verify:
                    self.runtime.note_difference(first)
                if settings.chooses:
                    self._leave(executable, reasons.DIFFERENT.of(first.tensor, first.by))
                    return False
            else:
                executable.is_accepted = True
        # The engine's results stand for this run, since they agree; NumPy takes over from the next.
        if settings.chooses and executable.trial.choice == 0:
            in_numpy, in_engine = executable.trial.least
            self._leave(executable, reasons.SLOWER.of(in_numpy or 0.0, in_engine or 0.0))
        return True

    def _leave(self, executable: Executable, reason: Reason) -> None:
        """Run in NumPy from here on, in later processes too, because of a comparison."""
        with self.lock:
            self.left[executable.key] = GroupChoice(executable.trial.least_pair, reason)
        self._give_up(executable, reason)

    def _differences(
        self, executable: Executable, actual: Sequence[EngineValue], expected: Sequence[Any]
    ) -> dict[int, GroupDifference]:
        """Return the differences from NumPy's results, by the places of the results."""
        tolerance = None if executable.precision is None else ROUNDED
        words = [difference(np.asarray(a), np.asarray(b), tolerance) for a, b in zip(actual, expected, strict=True)]
        return {place: GroupDifference(*self.made[place], by) for place, by in enumerate(words) if by is not None}

    def _are_roundings(
        self,
        differences: Iterable[int],
        actual: Sequence[EngineValue],
        expected: Sequence[Any],
        moved: Callable[[], Sequence[Any]],
    ) -> bool:
        """Return whether NumPy's results at these places differ as much, where each input moves to a neighbouring float."""
        try:
            others = moved()
        except TfgError as error:
            tell("NumPy refuses neighbouring floats for the group up to %s: %s", self.last, error)
            return False
        triples = (map(np.asarray, (actual[place], expected[place], others[place])) for place in differences)
        return all(is_rounding(*triple) for triple in triples)

    def _give_up(self, executable: Executable, reason: Reason) -> None:
        """Run in NumPy from here on where that executable ran."""
        with self.lock:
            self.reason, self.executables[executable.key] = reason, None
        tell("engine %s: the group up to %s runs in NumPy, because %s", self.engine.name, self.last, reason)

    @property
    def is_idle(self) -> bool:
        """Return True if NumPy runs the group for all shapes so far."""
        return bool(self.executables) and not any(self.executables.values()) and not self.instead

    @property
    def last(self) -> str:
        """Return the name of the node that the group ends with."""
        return self.cluster.body.steps[-1].node.name

    def _compile(self, key: Any, arrays: Sequence[Any]) -> Executable | None:
        with self.lock:  # held while the engine compiles: threads with the same shapes wait, and do not compile them again
            # Another thread may have compiled while this one waited for the lock.
            if key in self.executables:
                return self.executables[key]
            # Compiling takes longer than running: feeds whose shapes never come again would compile for ever.
            if len(self.executables) >= _MAX_COMPILED:
                self.decline(reasons.TOO_MANY_SHAPES.of(_MAX_COMPILED))
                return None
            budget = self.runtime.settings.compile_seconds
            if self.runtime.compile_seconds >= budget:
                self.decline(reasons.OVER_BUDGET.of(budget))
                return None
            recalled = self._recalled(key)
            # The group is not compiled at all, because a later process saves most by not compiling.
            if recalled is not None and recalled.reason is not None:
                self.left[key], self.reason, self.executables[key] = recalled, recalled.reason, None
                return None
            start = time.perf_counter()
            executable = self._made(key, arrays)
            seconds = time.perf_counter() - start
            self.compile_seconds += seconds
            self._tell_compiled(seconds)
            if executable is not None and recalled is not None:
                executable.trial.decide(1, recalled.seconds)
            self.executables[key] = executable
            return executable

    def _recalled(self, key: Any) -> GroupChoice | None:
        """Return the outcome for the group with such inputs in an earlier process, if known."""
        return self.runtime.recalled.get(self.identity(key)) if self.runtime.recalled else None

    def _made(self, key: Any, arrays: Sequence[Any]) -> Executable | None:
        """Return the group compiled for these inputs; None where the group is divided, or left to NumPy."""
        cluster = dataclasses.replace(self.cluster, fixed={slot: arrays[slot] for slot in self.fixed})
        values = [arrays[slot] for slot in self.fed_slots]
        try:
            forms = self._forms(cluster, values, arrays)
            if not self.blame.refused:
                return self._compiled(key, cluster, values, forms)
            self._divide(key, self.blame, reasons.NOT_ONE_NODE)
        # NumPy must not take over: see ENDING.
        except ENDING:
            raise
        # These nodes are blamed for these shapes alone: `self.blame` holds for all shapes.
        except UnfitShapes as error:
            blamed = blame(error, cluster, values, self.engine)
            self._divide(
                key, Blame({**self.blame.refused, **blamed.refused}, blamed.attempts), reasons.uncompiled(said(error))
            )
        except Exception as error:
            pass_on(error)
            self._refuse(key, error, reasons.uncompiled(said(error)), cluster, values)
        return None

    def _compiled(self, key: Any, cluster: Cluster, values: Sequence[Any], forms: Sequence[Form]) -> Executable:
        """Return the executable for these inputs, in a type of fewer bits where requested and near enough."""
        settings = self.runtime.settings
        function, precision = self.engine.compile(cluster, values), None
        if self.engine.faster and (settings.is_fast or settings.reports):
            rounded = fastest_rounded(self.engine.faster, cluster, values, function)
            self.rounded = None if rounded is None else rounded.report
            if rounded is not None and rounded.is_better and settings.is_fast:
                function, precision = rounded.function, rounded.report.precision
        self.precision = precision or self.precision
        trial = self._trial(key)
        self.trials.append(trial)
        return Executable(key, function, forms, trial, precision)

    def _trial(self, key: Any) -> Trial:
        """Return the trial that decides between NumPy and the engine for these inputs."""
        if not self.runtime.settings.chooses:
            return Trial(2, 1)
        # For another batch an engine may take other code, so NumPy runs once to compare the values. More runs to compare the
        # times would be most of the work if inputs come in blocks of many sizes.
        kept = (made for made in self.executables.values() if made is not None and made.is_kept)
        if any(are_batches_of_one(made.key, key) and _is_clear(*made.trial.least_pair) for made in kept):
            return Trial(2, 1, gain=math.inf)
        return Trial(2, PAIRS, PAIRS_SECONDS, gain=PAIRED_GAIN)

    def _forms(self, cluster: Cluster, values: Sequence[Any], arrays: Sequence[Any]) -> list[Form]:
        """Return the dtypes and shapes that results must have for these inputs."""
        shapes = result_shapes(cluster, values, self.engine.needs_elements)
        known = (shape.known() if shape.is_known else None for shape in shapes)
        return list(zip((*self.dtypes, *(arrays[slot].dtype for slot in self.written)), known, strict=True))

    def _refuse(self, key: Any, error: Exception, why: Reason, cluster: Cluster, values: Sequence[Any]) -> None:
        """Divide the group, for all inputs, without the nodes that fail; not where a value is at fault: NumPy says so."""
        # Looking for a node to blame compiles up to 32 times; for a value that the graph itself refuses there is none.
        if self.assemble is not None and not isinstance(error, (Declined, InvalidArgumentError)):
            blamed = blame(error, cluster, values, self.engine)
            self.blame = Blame({**self.blame.refused, **blamed.refused}, self.blame.attempts + blamed.attempts)
        self._divide(key, self.blame, why)

    def _divide(self, key: Any, blamed: Blame, why: Reason) -> None:
        """Run the group without the blamed nodes for these inputs; NumPy runs the nodes, or all where nothing else is left."""
        nodes = frozenset(blamed.refused)
        # Several shapes may fail at the same nodes and then share the division.
        if nodes and self.assemble is not None and nodes not in self.parts:
            body = self.runtime.divided_again(self.cluster, blamed)
            self.parts[nodes] = None if body is None else self.assemble(body)
        run = self.parts.get(nodes)
        if run is None:
            self.reason = why
        else:
            self.instead[key] = run

    def _without_variables(self) -> _Call:
        """Return a runner for a group whose shapes follow from the values of variables, unknown while compiling."""
        with self.lock:
            if None not in self.executables:
                self.executables[None] = None
                reason = reasons.SHAPE_OF_VARIABLE
                self._divide(None, Blame(dict.fromkeys(needing(self.cluster.body, self.engine), reason), 1), reason)
        return self.instead.get(None, self.in_numpy)

    def _tell_compiled(self, seconds: float) -> None:
        why = f": {self.reason}" if self.reason else ""
        tell("engine %s took %.3f s to compile the group up to %s%s", self.engine.name, seconds, self.last, why)

    def run(self, executable: Executable, arrays: Sequence[Any]) -> tuple[EngineValue, ...] | _Call:
        """Return the engine's results; after a failure the function that runs in the engine's place from here on."""
        # The clock of CPU time and the load of the machine take long to read, which a group that has chosen does without.
        timer = RunTimer() if executable.trial.choice is None else None
        start = time.perf_counter()
        try:
            # Compiled code returns new arrays, so that results outlive the next run of the group.
            results = tuple(executable.function([arrays[slot] for slot in self.fed_slots]))
            self._require_forms(results, executable.forms)
        except ENDING:
            raise
        # The engine declines these values only, and the next run tries it again.
        except Declined as error:
            self.decline(reasons.DECLINED.of(said(error)))
            return self.in_numpy
        # A result has another dtype or shape than the graph's: its node is refused for all inputs, and the other nodes are
        # compiled anew.
        except UnsupportedNodes as error:
            with self.lock:
                self.executables[executable.key] = None
                self._refuse(executable.key, error, reasons.FAILING.of(said(error)), self.cluster, ())
            return self.instead.get(executable.key, self.in_numpy)
        except Exception as error:
            pass_on(error)
            self._give_up(executable, reasons.FAILING.of(said(error)))
            return self.in_numpy
        seconds = time.perf_counter() - start
        # Failed runs are not timed, nor those that NumPy took over.
        executable.trial.note(1, seconds if timer is None else timer.quiet_seconds)
        self.seconds += seconds
        executable.runs += 1
        self.runs += 1
        return results

    def _require_forms(self, results: Sequence[EngineValue], forms: Sequence[Form]) -> None:
        """Raise UnsupportedNodes with the node of a result that has another dtype or shape than expected."""
        for (name, _), maker, array, (dtype, dims) in zip(self.made, self.makers, results, forms, strict=True):
            if array.dtype != dtype:
                raise UnsupportedNodes({maker: reasons.UNLIKE.of(f"dtype: {name} is {array.dtype}")})
            if dims is not None and array.shape != dims:
                raise UnsupportedNodes({maker: reasons.UNLIKE.of(f"shape: {name} is {Shape(array.shape)}, not {Shape(dims)}")})

    def report(self, total: float) -> GroupReport:
        """Return a report on the group, in runs that took `total` seconds."""
        body = self.cluster.body
        steps = sum(not step.node.is_constant for step in body.steps)
        compiled = sum(executable is not None for executable in self.executables.values())
        share = self.seconds / total if total else None
        in_numpy, in_engine = (min(known, default=None) for known in map(self._times, (0, 1)))
        return GroupReport(
            self.engine.name, self.last, steps, body.inputs, len(body.outputs), compiled, self.compile_seconds, self.runs,
            self.seconds, share, self.reason,
            None if self.reason is None else self.reason.step, in_numpy, in_engine, self.precision, self.rounded,
        )  # fmt: skip

    def _times(self, way: int) -> list[float]:
        """Return the least time of NumPy, 0, or the engine, 1, for each shape."""
        return [seconds for trial in self.trials if (seconds := trial.least[way]) is not None]


def are_batches_of_one(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Return True if the shapes of two lists of inputs differ in their first axes alone."""
    return [_of_row(part) for part in one] == [_of_row(part) for part in other]


def _of_row(part: Any) -> Any:
    return part[1:] if isinstance(part, tuple) else part


def _is_clear(in_numpy: float | None, in_engine: float | None) -> bool:
    return in_numpy is not None and in_engine is not None and in_numpy > _CLEAR * in_engine


# Types of fewer bits than the graph's, for groups that are faster in them and whose results are near enough.

ROUNDED: Final = 1e-2
"""The largest error of a result in a type of fewer bits, as a part of the tensor's largest magnitude."""


@dataclasses.dataclass(frozen=True, slots=True)
class RoundedFunction:
    """A group compiled for a type of fewer bits. `is_better`: faster than in the graph's types, and near enough."""

    function: Compiled
    report: Rounded
    is_better: bool


def fastest_rounded(
    engines: Sequence[Engine], cluster: Cluster, values: Sequence[EngineValue], exact: Compiled
) -> RoundedFunction | None:
    """Return the group in the engine's fastest type of fewer bits for these inputs; None where none compiles.

    `exact` computes the group in the graph's types. Types whose results are off by more than ROUNDED come last.
    """
    expected = exact(values)
    functions = {engine.precision or "": _compiled(engine, cluster, values) for engine in engines}
    rounded = {name: function for name, function in functions.items() if function is not None}
    if not rounded:
        return None
    differences = {name: _largest_difference(function(values), expected) for name, function in rounded.items()}
    trial = Trial(1 + len(rounded))
    ways = [functools.partial(function, values) for function in (exact, *rounded.values())]
    # The types run in turns, so that other work on the machine slows all of them alike.
    while trial.choice is None:
        trial.run(*ways)
    exact_seconds, *others = [seconds or 0.0 for seconds in trial.least]
    seconds = dict(zip(rounded, others))
    name = min(rounded, key=lambda name: (differences[name] > ROUNDED, seconds[name]))
    is_better = differences[name] <= ROUNDED and trial.choice != 0
    return RoundedFunction(rounded[name], Rounded(name, seconds[name], exact_seconds, differences[name]), is_better)


def _compiled(engine: Engine, cluster: Cluster, values: Sequence[EngineValue]) -> Compiled | None:
    try:
        return engine.compile(cluster, [np.asarray(value) for value in values])
    except Exception as error:
        pass_on(error)
        tell("engine %s does not compile a group in %s: %s", engine.name, engine.precision, error)
        return None


def _largest_difference(results: Sequence[EngineValue], expected: Sequence[EngineValue]) -> float:
    return max(relative_difference(np.asarray(a), np.asarray(b)) for a, b in zip(results, expected, strict=True))
