"""Implementation of `tfg run`: a run, runs of many inputs (`--each`, `--sweep`), and the output of both.

A run of one input imports nothing of `formats/batches`, and only a run without anything to fetch asks `graph_facts`.
"""

from __future__ import annotations

import contextlib
import functools
import math
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import click
import numpy as np

from ...core.graph.graph import Graph
from ...core.graph.table_nodes import saved_tables
from ...core.runtime.execute.process_limits import lift_time_limit
from ...core.runtime.execute.value_cache import CacheStats
from ...core.runtime.session.runner import FetchedValue, KeyboardInterruption, Orders, Runner, StepResult
from ...core.support import dataclasses
from ...core.support.errors import DeadlineExceededError
from ...core.support.hints import Hint
from ...core.support.json_documents import plain
from ...core.support.places import absolute
from ...core.support.words import counted
from ...core.types.tensors import Tensor
from ...formats.api.run_plan import Pairs, RunPlan
from ...formats.api.session_setup import SessionSetup, position_words, state_words
from ...formats.api.step_results import encoded_steps
from ...formats.codecs.source import write_file
from ...formats.state import unread_values
from .. import render
from ..commands.run import RunOptions
from ..engines import suggest_engine
from ..main import DONE, INTERRUPTED, REFUSED
from ..models import save_model, signature_table
from ..placeholder_options import SizeOptions

if TYPE_CHECKING:
    from ...core.comparing.row_blocks import BlockSize
    from ...core.explaining.graph_facts import GraphFacts
    from ...core.flops.measured import KernelRecorder
    from ...formats.batches.batch_runs import BatchProgress, BatchReport
    from ...formats.batches.each_tasks import Recipe
    from ..documents import Choices

_COSTLIEST = 10
"""The number of nodes that --profile shows."""
_CACHE = 2**28
"""Bytes that --cache-stats lets a session keep between steps."""


def run(options: RunOptions) -> int:
    """Run a graph as the options say, and print or write the results."""
    options.check()
    options = dataclasses.replace(options, session=dataclasses.replace(options.session, optimize=options.optimize))
    if options.is_of_many:
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
                # Before the first step and after each, as a step that is cut short may have changed some variables and not
                # others.
                state = self._snapshot(runner)
                start = time.monotonic()
                for result in self._watched(runner, orders):
                    # Steps that only train have nothing to show, and there may be millions of them.
                    results += [result] if result.values else []
                    state = self._snapshot(runner)
                    if interruption.requested:
                        break
        # The time is up, but the values of the last whole step were promised: they are written without a limit.
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
        # The time of an engine or of a cluster says nothing on NumPy.
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
            from .flops_job import measured_sections, write_trace

            number, recorder, seconds = self._profiled
            measurement = recorder.measurement(seconds)
            # On standard error, since the results go to standard output.
            with render.beside("-"):
                render.print_sections(measured_sections(measurement, measurement.by_node()[:_COSTLIEST]))
            # A function is planned when it is first called, inside the time of the step.
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
            # A table is two entries of the state, its keys and its values, and one thing to the user.
            tables = [table for table in saved_tables(self.graph).values() if set(table.entries) <= state.keys()]
            words = state_words(len(state) - sum(len(table.entries) for table in tables), len(tables))
            render.note(f"saved {words} to {path}{position_words(self.graph)}", self.quiet)
        elif path:
            render.note(f"no variable or table has a value: {path} is not written", self.quiet)


_MAX_LISTED = 10
_TELL_SECONDS: Final = 60.0


def run_each(options: RunOptions) -> int:
    """Compute all missing results; return 1 if any task failed, otherwise 0."""
    from ...formats.batches.batch_runs import BatchJob, batched
    from ...formats.batches.each_tasks import sweep_tasks

    _check(options)
    options = dataclasses.replace(options, session=options.session.of_many_runs())
    graph = options.reader.load(options.graph)
    note = render.noting(options.quiet)
    signature, shapes = options.session.signature, dataclasses.replace(options.sizes, batch=None)
    path = None if shapes else options.graph  # a graph that is not the file's travels itself
    graph = shapes.applied(graph, signature, options.fetches, options.quiet)
    graph, path, size = batched(graph, path, options.request, signature, options.sizes.batch or "auto", note)
    tasks = sweep_tasks(options.each, [(name, _values(text)) for name, text in options.sweep])
    job = BatchJob(graph, _recipe(graph, path, size, options), tasks, engine=options.session.engine, note=note)
    with ProgressDisplay(options.quiet) as display:
        report = job.run(display.show)
    _summarize(report, options)
    options.session.tell_engine(options.quiet)
    return REFUSED if report.failed else DONE


def _check(options: RunOptions) -> None:
    """UsageError for results without a place, and for a number of processes that is no number."""
    if options.out_dir is None and options.out is None:
        raise click.UsageError("--each and --sweep need --out-dir DIR, or --output FILE for shards")
    kind, _, count = (options.session.on or "").partition(":")
    if kind == "local" and not count.isdecimal():
        raise click.UsageError(f"--on local:{count}: '{count}' is not a number of processes")


def _recipe(graph: Graph, path: str | None, size: BlockSize, options: RunOptions) -> Recipe:
    from ...formats.batches.each_tasks import BatchOutput, graph_recipe

    session = options.session
    # The part of the options that other processes can have: SessionOptions holds an engine, which no process can send.
    setup = SessionSetup(**{name: getattr(session, name) for name in SessionSetup.__dataclass_fields__})
    setup = dataclasses.replace(setup, engine=session.engine_name, precision=session.engine_options.precision)
    format_ = options.format_ or "npz"
    output = BatchOutput(
        options.out_dir, options.out and absolute(options.out), format_, options.shard_size, options.overwrite,
        options.keep_going, steps_table if format_ == "table" else None,
    )  # fmt: skip
    request = options.request
    request = dataclasses.replace(
        request, feeds=_read_once(request.feeds), assign=_read_once(request.assign),
        assign_add=_read_once(request.assign_add), assign_sub=_read_once(request.assign_sub),
    )  # fmt: skip
    return graph_recipe(graph, path, options.reader.reading, setup, request, output, size)


def _read_once(pairs: Pairs) -> Pairs:
    """Return values with standard input in the place of `-`: all inputs, in all processes, take the same value."""
    return tuple((name, sys.stdin.read() if value == "-" else value) for name, value in pairs)


class ProgressDisplay:
    """A progress bar at a terminal; elsewhere a line a minute."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._bar: render.ProgressBar | None = None
        self._stack = contextlib.ExitStack()
        self._told = 0.0

    def __enter__(self) -> ProgressDisplay:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def show(self, progress: BatchProgress) -> None:
        """Show the progress of a batch."""
        # The number of inputs is known from the first report on: patterns are expanded by the job.
        if self._bar is None:
            self._bar = self._stack.enter_context(render.ProgressBar("input", progress.total, self._quiet))
        self._bar.update(progress.computed, pace(progress))
        if not sys.stderr.isatty() and progress.seconds - self._told > _TELL_SECONDS:
            self._told = progress.seconds
            render.note(f"{progress.computed} of {counted(progress.total, 'input')}, {pace(progress)}", self._quiet)


def pace(progress: BatchProgress) -> str:
    """Return how many inputs a second are computed, and how long the others take at this rate."""
    rate = progress.rate
    return f"{rate:.3g}/s, {_duration((progress.total - progress.computed) / rate)} left" if rate else ""


def _duration(seconds: float) -> str:
    """Return a duration in words, with one or two units."""
    minutes = round(seconds / 60)
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def _summarize(report: BatchReport, options: RunOptions) -> None:
    failed, worked = report.failed, report.done + len(report.failed)
    # The errors of a batch are usually one error many times over.
    for result in failed[:_MAX_LISTED]:
        render.note(Hint(f"error: {result.name}: ", result.error))
    if len(failed) > _MAX_LISTED:
        render.note(f"error: {len(failed) - _MAX_LISTED} more failed")
    place = options.out_dir or f"{counted(report.shards, 'shard')} of {absolute(options.out or '')}"
    # Without a single result there may be no folder and no shard to name.
    written = f"{counted(report.done, 'result')} written to {place}" if report.done or not failed else "no result written"
    parts = [written, *([f"{len(failed)} failed"] if failed else [])]
    # Without this, a rerun that finds all results in place would seem to have failed.
    parts += [f"{report.skipped} already there"] if report.skipped else []
    if worked:
        rate, cpu = worked / max(report.seconds, 1e-6), report.cpu / worked * 1e3
        parts.append(f"{report.seconds:.1f} s, {rate:.1f} a second, {cpu:.2g} ms of CPU time each")
    render.note("; ".join(parts), options.quiet)


def _values(text: str) -> list[str]:
    """Split values at commas outside brackets and quotes."""
    depth, is_quoted, start, items = 0, False, 0, []
    for i, character in enumerate(text):
        # Commas in JSON lists and strings part no values: `--sweep x=[1,2],[3,4]` are two.
        is_quoted ^= character == '"'
        depth += (character in "[(") - (character in ")]") if not is_quoted else 0
        if character == "," and not depth and not is_quoted:
            items.append(text[start:i].strip())
            start = i + 1
    return [*items, text[start:].strip()]


_MAX_SHOWN = 1000
CLASSES: Final = "/classes"
"""The end of a name of class numbers; scores and labels end likewise."""


def write_steps(
    steps: Sequence[StepResult], format_: str, out: str | None, quiet: bool = False, schema: str = "tfg.run/1"
) -> None:
    """Print the fetched values, or write them to a file whole or not at all."""
    if out in (None, "-"):
        if steps and format_ == "table":
            render.print_sections(_sections(steps, _MAX_SHOWN))
        # A program that reads JSON gets a document even if nothing was fetched.
        elif steps or format_ == "json":
            write_file("-", [_encoded(steps, format_, schema)])
        return
    write_file(out, [_encoded(steps, format_, schema)])
    # Names and not arrays: a thousand steps of one tensor are one result.
    count = len({item.name for step in steps for item in step.values})
    render.note(f"wrote {counted(count, 'result')} to {out}", quiet)


def _encoded(steps: Sequence[StepResult], format_: str, schema: str) -> bytes:
    return steps_table(steps) if format_ == "table" else encoded_steps(steps, format_, schema)


def steps_table(steps: Sequence[StepResult]) -> bytes:
    """Return the printed table with all elements."""
    return "".join(f"{line}\n" for line in render.plain_text(_sections(steps, sys.maxsize))).encode()


_NAMED: Final = 3
"""The largest number of functions that an error names."""


def show_choices(graph: Graph, name: str, sizes: SizeOptions, format_: str) -> int:
    """Print the signatures of a graph, or else its inputs and outputs, and the commands that run them with the sizes; for a
    model without the values of its variables the commands that need none.

    UsageError for a graph without outputs.
    """
    # Only a run of nothing looks at the whole graph, and most runs fetch something.
    from ...core.explaining.graph_facts import explain

    lacks = unread_values(graph)
    if lacks is not None:
        render.note(f"the values of variables cannot be read: {lacks}")
    facts = explain(graph, path=name, variables_unread=lacks)
    if not (facts.signatures or facts.outputs or facts.train_ops):
        raise nothing_to_do(graph)
    lines = sizes.carried(facts.next_commands)
    commands = [line for line in lines if lacks is not None or "run" in line.split()[1:3]]
    shown: Choices = {
        "signatures": facts.signatures,
        "inputs": facts.inputs,
        "outputs": facts.outputs,
        "next_commands": commands,
    }
    render.emit("tfg.run.choices/1", shown, format_, lambda: _choices(facts, commands))
    return DONE


def nothing_to_do(graph: Graph) -> click.UsageError:
    """Return the error of a graph without outputs, with the functions of the model's objects or a few tensors to fetch."""
    from ...core.explaining.graph_facts import callables, output_candidates

    if called := callables(graph):
        names = " or ".join(f"--function {shlex.quote(one.name)}" for one in called[:_NAMED])
        return click.UsageError(
            f"nothing to do: the model has no signature; add {names}, --fetch, --target, --init or --assign"
        )
    names = " or ".join(output_candidates(graph))
    such = f" (such as {names})" if names else ""
    return click.UsageError(f"nothing to do: the graph has no obvious output; add --fetch{such}, --target, --init or --assign")


def _choices(facts: GraphFacts, commands: Sequence[str]) -> Iterator[render.Section]:
    yield from map(signature_table, facts.signatures)
    for title, tensors in () if facts.signatures else (("inputs", facts.inputs), ("outputs", facts.outputs)):
        if tensors:
            yield render.Table(("name", "op", "dtype", "shape"), [(t.name, t.op, t.dtype, t.shape) for t in tensors], title)
    yield render.Text(commands, "next", "commands")


def _sections(steps: Sequence[StepResult], max_shown: int) -> Iterator[render.Section]:
    """Yield scalars of several steps as a table with a row for each step, and all other tensors one by one, cut to
    `max_shown` elements.
    """
    scalars = all(item.shape in ((), None) for step in steps for item in step.values)
    # A training prints a number or two a step, which are a table; anything else is shown step by step.
    if scalars and len(steps) > 1:
        columns = ("step", *(item.name for item in steps[0].values))
        yield render.Table(columns, [(step.step, *(_shown(item) for item in step.values)) for step in steps])
        return
    for step in steps:
        tables = list(class_tables(step.values))
        if tables:
            yield from tables
            continue
        prefix = f"step {step.step}: " if len(steps) > 1 else ""
        # Numbers share a section, as a title for each would be longer than they are.
        short = [item for item in step.values if item.shape in ((), None)]
        if short:
            yield render.Text([prefix + _short_line(item) for item in short], form="code")
        for item in step.values:
            if item.shape:
                shape = ",".join(map(str, item.shape))
                yield render.Text(str(_shown(item, max_shown)), f"{prefix}{item.name}  {item.dtype} ({shape})", "code")


def _short_line(item: FetchedValue) -> str:
    return f"{item.name}: done" if item.shape is None else f"{item.name} = {_shown(item)}  ({item.dtype})"


def _shown(item: FetchedValue, max_shown: int = _MAX_SHOWN) -> Any:
    value = item.value
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype == object:
        # Strings are bytes; as text they print without the `b`.
        value = np.array([plain(text) for text in value.ravel().tolist()], object).reshape(value.shape)
    if value.ndim == 0:
        return value.item()
    return np.array2string(value, threshold=max_shown, separator=", ", max_line_width=100)


def class_tables(values: Sequence[FetchedValue]) -> Iterator[render.Section]:
    """Yield a table for each tensor of scores: a line for each class, the best first."""
    by_name = {item.name: item.value for item in values}
    for item in values:
        if item.name.endswith(CLASSES) and item.name.replace(CLASSES, "/scores") in by_name:
            yield _class_table(item.name.removesuffix(CLASSES), by_name)


def _class_table(name: str, values: Mapping[str, Any]) -> render.Table:
    columns = {key: values[f"{name}/{key}"] for key in ("classes", "labels", "scores") if f"{name}/{key}" in values}
    # A row for each class of each row, whatever batches stand around.
    cells = {key: array.reshape(math.prod(array.shape[:-1]), array.shape[-1]) for key, array in columns.items()}
    rows = [
        (row, *(_cell(array[row, place]) for array in cells.values())) for row, place in np.ndindex(cells["classes"].shape)
    ]
    return render.Table(("row", *("class" if key == "classes" else key.removesuffix("s") for key in cells)), rows, name)


def _cell(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return int(value) if value.dtype.kind == "i" else f"{value:.6g}"
