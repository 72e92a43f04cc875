"""Implementation of `tfg run --each` and `--sweep`: the options of a batch, its progress and its summary."""

from __future__ import annotations

import contextlib
import sys
from typing import Final

import click

from ...core.comparing.row_blocks import BlockSize
from ...core.graph.graph import Graph
from ...core.support import dataclasses
from ...core.support.hints import Hint
from ...core.support.places import absolute
from ...core.support.words import counted
from ...formats.api.run_plan import Pairs
from ...formats.api.session_setup import SessionSetup
from ...formats.batches.batch_runs import BatchJob, BatchProgress, BatchReport, batched
from ...formats.batches.each_tasks import BatchOutput, Recipe, graph_recipe, sweep_tasks
from .. import render
from ..commands.run import RunOptions
from ..main import DONE, REFUSED
from ..sections.run_sections import steps_table

_MAX_LISTED = 10
_TELL_SECONDS: Final = 60.0


def run_each(options: RunOptions) -> int:
    """Compute all missing results; return 1 if any task failed, otherwise 0."""
    _check(options)
    options = dataclasses.replace(options, session=options.session.of_many_runs())
    graph = options.reader.load(options.graph)
    note = render.noting(options.quiet)
    signature, shapes = options.session.signature, dataclasses.replace(options.sizes, batch=None)
    path = None if shapes else options.graph  # a graph that is not the file's travels itself
    graph = shapes.applied(graph, signature, options.fetches, options.quiet)
    graph, path, size = batched(graph, path, options.request, signature, options.sizes.batch or "auto", note)
    tasks = sweep_tasks(options.each, [(name, _values(text)) for name, text in options.sweep])
    job = BatchJob(
        graph, _recipe(graph, path, size, options), tasks, engine=options.session.engine,
        note=note,
    )  # fmt: skip
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
    session = options.session
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
    for result in failed[:_MAX_LISTED]:
        render.note(Hint(f"error: {result.name}: ", result.error))
    if len(failed) > _MAX_LISTED:
        render.note(f"error: {len(failed) - _MAX_LISTED} more failed")
    place = options.out_dir or f"{counted(report.shards, 'shard')} of {absolute(options.out or '')}"
    written = f"{counted(report.done, 'result')} written to {place}" if report.done or not failed else "no result written"
    parts = [written, *([f"{len(failed)} failed"] if failed else [])]
    parts += [f"{report.skipped} already there"] if report.skipped else []
    if worked:
        rate, cpu = worked / max(report.seconds, 1e-6), report.cpu / worked * 1e3
        parts.append(f"{report.seconds:.1f} s, {rate:.1f} a second, {cpu:.2g} ms of CPU time each")
    render.note("; ".join(parts), options.quiet)


def _values(text: str) -> list[str]:
    """Split values at commas outside brackets and quotes."""
    depth, is_quoted, start, items = 0, False, 0, []
    for i, character in enumerate(text):
        is_quoted ^= character == '"'
        depth += (character in "[(") - (character in ")]") if not is_quoted else 0
        if character == "," and not depth and not is_quoted:
            items.append(text[start:i].strip())
            start = i + 1
    return [*items, text[start:].strip()]
