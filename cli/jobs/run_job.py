"""Implementation of `tfg run`."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...core.graph.graph import Graph
from ...core.graph.table_nodes import saved_tables
from ...core.runtime.guards.process_limits import lift_time_limit
from ...core.runtime.session.runner import KeyboardInterruption, Orders, Runner, StepResult
from ...core.runtime.steps.value_cache import CacheStats
from ...core.support import dataclasses
from ...core.support.errors import DeadlineExceededError
from ...core.support.words import counted
from ...core.types.tensors import Tensor
from ...formats.api.run_plan import RunPlan
from ...formats.api.session_setup import position_words, state_words
from .. import render
from ..commands.run import RunOptions
from ..engines import suggest_engine
from ..main import DONE, INTERRUPTED
from ..models import save_model
from ..sections.run_sections import nothing_to_do, show_choices, write_steps

if TYPE_CHECKING:
    from ...core.flops.measured import KernelRecorder

_COSTLIEST = 10
"""The number of nodes that --profile shows."""
_CACHE = 2**28
"""Bytes that --cache-stats lets a session keep between steps."""


def run(options: RunOptions) -> int:
    """Run a graph as the options say, and print or write the results."""
    options.check()
    options = dataclasses.replace(options, session=dataclasses.replace(options.session, optimize=options.optimize))
    if options.is_of_many:
        from .each_job import run_each

        return run_each(options)
    graph = options.reader.load(options.graph)
    graph = options.sizes.applied(graph, options.session.signature, options.fetches, options.quiet)
    if options.asks_nothing:
        return show_choices(graph, options.graph, options.sizes, options.format)
    job = RunJob(graph, options)
    write_steps(job.run(), options.format, options.out, options.quiet)
    return job.exit_code


class RunJob:
    """A run of `tfg run`: the options, and the session while open."""

    def __init__(self, graph: Graph, options: RunOptions) -> None:
        self.graph = graph
        self.session = options.session.of_many_runs() if options.is_long else options.session
        self.options = options
        self.quiet = options.quiet
        self.exit_code = DONE
        self.plan = RunPlan(graph, options.request, options.session.signature, render.noting(self.quiet))
        self._profiled: tuple[int, KernelRecorder, float] | None = None
        """The number, the records and the seconds of the last step."""

    def run(self) -> tuple[StepResult, ...]:
        """Run the steps and return their results; save the promised files even after Ctrl-C or a deadline."""
        options = self.options
        orders = self.orders()
        self.session.check_state(options.save_state, self.graph)
        _ = self.plan.labels  # a file without labels is an error before the graph runs
        state: dict[str, Tensor] = {}
        results: list[StepResult] = []
        try:
            with KeyboardInterruption(self._notify) as interruption:
                runner = self.prepared()
                state = self._snapshot(runner)
                start = time.monotonic()
                for result in self._watched(runner, orders):
                    results += [result] if result.values else []
                    state = self._snapshot(runner)
                    if interruption.requested:
                        break
        except DeadlineExceededError:
            lift_time_limit()
            self._save(state)
            raise
        seconds = time.monotonic() - start
        lift_time_limit()
        self._save(runner.state() if options.save_state else {})
        if options.save_model:
            save_model(options.save_model, self.graph, runner.session, self.plan.names, self.plan.words, self.quiet)
        if interruption.requested:
            self.exit_code = INTERRUPTED
        self.session.tell_engine(self.quiet)
        if self.session.engine is None and self.session.on is None:
            suggest_engine(self.graph, (*orders.fetches.values(), *orders.targets), seconds, self.quiet)
        self._show_profile()
        if options.cache_stats:
            self._note_cache(runner.session.cache_stats)
        return self.plan.shown(results)

    def _note_cache(self, stats: CacheStats) -> None:
        render.note(
            f"cache: {stats.hits} hits saved {stats.saved_steps} kernels, {stats.misses} misses; {stats.bytes} bytes held",
            self.quiet,
        )

    def _notify(self) -> None:
        render.note("interrupted: finishing the current step; press Ctrl-C again to stop at once", self.quiet)

    def _snapshot(self, runner: Runner) -> dict[str, Tensor]:
        """Return the variables to save in case a deadline interrupts the next step."""
        return runner.state() if self.options.save_state and self.session.timeout is not None else {}

    def _watched(self, runner: Runner, orders: Orders) -> Iterator[StepResult]:
        done = 0
        with render.ProgressBar("step", orders.steps or 0, self.quiet) as progress:
            started = time.perf_counter()
            for result in runner.steps(orders):
                if self._recorder is not None:
                    self._profiled = result.step, self._recorder.take(), time.perf_counter() - started
                progress.update(result.step)
                yield result
                done = result.step
                started = time.perf_counter()
        if runner.exhausted is not None:
            render.note(f"'{runner.exhausted}' has no more elements after {counted(done, 'step')}", self.quiet)

    def _show_profile(self) -> None:
        """Write the trace of the last step, and show the costliest nodes and the memory peak on standard error."""
        if self.options.profile and self._profiled is not None:
            from ..sections.flops_sections import measured_sections, write_trace

            number, recorder, seconds = self._profiled
            measurement = recorder.measurement(seconds)
            with render.beside("-"):
                render.print_sections(measured_sections(measurement, measurement.by_node()[:_COSTLIEST]))
            if number == 1 and self.graph.functions:
                render.note("the first step also plans called functions: profile the second with --steps 2", self.quiet)
            write_trace(self.options.profile, measurement.trace(), len(measurement.events), self.quiet)

    def orders(self) -> Orders:
        """Return the orders for each step."""
        if not self.plan.fetches and not self.options.targets and not self._changes_state():
            raise nothing_to_do(self.graph)
        return self.plan.orders(hook=self._recorder)

    @functools.cached_property
    def _recorder(self) -> KernelRecorder | None:
        """Return the hook of --profile."""
        if self.options.profile is None:
            return None
        from ...core.flops.measured import KernelRecorder  # lazy: most runs are not measured

        return KernelRecorder(with_shapes=True)

    def _changes_state(self) -> bool:
        options = self.options
        assigns = options.assign or options.assign_add or options.assign_sub
        return bool(self.session.changes_state or assigns or options.save_state or options.save_model)

    def prepared(self) -> Runner:
        """The session, its variables initialized, restored and assigned to."""
        runner = self.session.open(self.graph, self.quiet, cache=_CACHE if self.options.cache_stats else 0)
        self.plan.assign(runner)
        return runner

    def _save(self, state: dict[str, Tensor]) -> None:
        path = self.options.save_state
        if path and state:
            self.session.write_state(path, state, self.graph)
            tables = [table for table in saved_tables(self.graph).values() if set(table.entries) <= state.keys()]
            words = state_words(len(state) - sum(len(table.entries) for table in tables), len(tables))
            render.note(f"saved {words} to {path}{position_words(self.graph)}", self.quiet)
        elif path:
            render.note(f"no variable or table has a value: {path} is not written", self.quiet)
