"""What `tfg run --each` and --sweep do: a task for each input and setting, wherever they run, and a file for each result."""

from __future__ import annotations

import dataclasses
import itertools
import os
import secrets
import time
from collections.abc import Callable, Iterator, Sequence

import click

from ...core.graph.graph import Graph
from ...core.support.atomic import file_errors
from ...core.support.errors import InvalidArgumentError, UnimplementedError
from ...core.support.optional_packages import extra_hint
from ...core.support.words import counted
from ...formats.codecs.source import write_file
from ...formats.items import Item, find_items
from ...formats.saving import to_bytes
from .. import render
from ..main import DONE, REFUSED
from ..options import GraphReader
from ..sessions import SessionOptions
from .each_stamp import Stamp
from .each_worker import Outcome, Recipe, Task, Worker, digest_of
from .run_job import RunOptions

_MAX_LISTED = 10


class EachJob:
    """One `tfg run` over many inputs: the tasks that are left, and who works on them."""

    def __init__(self, path: str, reader: GraphReader, session: SessionOptions, options: RunOptions) -> None:
        if options.out_dir is None:
            raise click.UsageError("--each and --sweep need --out-dir DIR, where the results go")
        self._folder = options.out_dir
        self._path = path
        self._reader = reader
        self._quiet = options.quiet
        self._on = session.on or "local:0"
        is_remote = self._on.startswith("grpc")
        self._options = dataclasses.replace(options, format_=options.format_ or "npz")
        self._stamp = Stamp(self._folder, path, reader, session, self._options)
        self._session = session if is_remote else dataclasses.replace(session, on=None, seed=self._seed(session))

    def run(self) -> int:
        """Work on all tasks whose results are not there; 1 where any failed."""
        tasks = self._tasks()
        with file_errors(self._folder):
            os.makedirs(self._folder, exist_ok=True)
        self._stamp.open(self._session.seed, map(self._result, tasks), self._options.overwrite)
        left = [task for task in tasks if not self._stamp.has(self._result(task), task.item.path if task.item else None)]
        done, failed, cpu, started = 0, [], 0.0, time.monotonic()
        with render.Progress("input", len(left), self._quiet) as progress:
            for outcome in self._outcomes(left) if left else ():
                cpu += outcome.cpu
                if outcome.error is None:
                    self._write(outcome)
                    done += 1
                else:
                    failed.append(outcome)
                    if not self._options.keep_going:
                        break
                progress.update(done + len(failed), _pace(done + len(failed), time.monotonic() - started))
        self._summarize(len(tasks) - len(left), done, failed, cpu, time.monotonic() - started)
        return REFUSED if failed else DONE

    def _seed(self, session: SessionOptions) -> int:
        """One seed for all processes and for the job when it is resumed: what an initializer draws is then the same."""
        seed = session.seed if self._options.overwrite else self._stamp.adopt_seed(session.seed)
        return secrets.randbits(31) if seed is None else seed

    def _tasks(self) -> list[Task]:
        items: Sequence[Item | None] = find_items(self._options.each) or [None]
        settings = [[(name, text) for text in _values(values)] for name, values in self._options.sweep]
        found = [
            Task(_name(item.name if item else None, chosen), item, chosen)
            for item in items
            for chosen in itertools.product(*settings)
        ]
        if len({task.name for task in found}) < len(found):
            raise InvalidArgumentError("a --sweep gives one value twice")
        return found

    def _outcomes(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """What becomes of the tasks, as it is known, from where --on says."""
        kind, _, rest = self._on.partition(":")
        if kind == "dask":
            try:
                from .each_dask import Dask
            except ImportError as error:
                problem = f"dask:// needs {error.name}, which is missing"
                raise UnimplementedError(problem, hint=extra_hint("dask")) from None
            note = lambda text: render.note(text, self._quiet)  # noqa: E731
            return Dask(rest.removeprefix("//"), self._recipe(), note).outcomes(tasks)
        if kind == "local":
            count = _count(rest)
            graph = self._reader.load(self._path)
            make: Callable[[], Worker] = lambda: Worker(graph, self._session, self._options)  # noqa: E731
            if not count:
                return map(make().work, tasks)
            from .each_pool import Pool

            Worker(graph, self._session, self._options).check()
            return Pool(make, count).outcomes(tasks)
        return map(Worker(self._reader.load(self._path), self._session, self._options).work, tasks)

    def _recipe(self) -> Recipe:
        graph: Graph = self._reader.load(self._path)
        Worker(graph, self._session, self._options).check()
        path = os.path.abspath(self._path)
        is_folder = os.path.isdir(path)
        # Ops are mapped when the graph is loaded, here and there alike.
        data = None if is_folder else to_bytes(GraphReader((), (), None).load(path))
        return Recipe(path, digest_of(path) or "", data, self._reader, self._session, self._options)

    def _result(self, task: Task) -> str:
        return os.path.join(self._folder, f"{task.name}.{'txt' if self._options.format == 'table' else self._options.format}")

    def _write(self, outcome: Outcome) -> None:
        path = self._result(outcome.task)
        with file_errors(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        self._stamp.write()
        write_file(path, [outcome.data])

    def _summarize(self, skipped: int, done: int, failed: Sequence[Outcome], cpu: float, seconds: float) -> None:
        for outcome in failed[:_MAX_LISTED]:
            render.note(f"error: {outcome.task.name}: {outcome.error}")
        if len(failed) > _MAX_LISTED:
            render.note(f"error: {len(failed) - _MAX_LISTED} more failed")
        worked = done + len(failed)
        parts = [f"{counted(done, 'result')} written to {self._folder}", *([f"{len(failed)} failed"] if failed else [])]
        parts += [f"{skipped} were there"] if skipped else []
        if worked:
            parts.append(f"{seconds:.1f} s, {worked / seconds:.1f} a second, {cpu / worked * 1e3:.1f} ms of CPU time each")
        render.note("; ".join(parts), self._quiet)


def _count(text: str) -> int:
    if not text.isdecimal():
        raise click.UsageError(f"--on local:{text}: '{text}' is no number of processes")
    return int(text)


def _values(text: str) -> list[str]:
    """The values between commas; those within brackets and quotes belong to a value."""
    depth, is_quoted, start, found = 0, False, 0, []
    for i, character in enumerate(text):
        is_quoted ^= character == '"'
        depth += (character in "[(") - (character in ")]") if not is_quoted else 0
        if character == "," and not depth and not is_quoted:
            found.append(text[start:i].strip())
            start = i + 1
    return [*found, text[start:].strip()]


def _name(item: str | None, settings: Sequence[tuple[str, str]]) -> str:
    """What the result is called: as its input, and by what was set."""
    words = [f"{name}={text}".replace(os.sep, "_") for name, text in settings]
    return ",".join([*([item] if item is not None else []), *words])


def _pace(done: int, seconds: float) -> str:
    """How many tasks a second come to an end; the bar itself says how long that will take."""
    return f"{done / seconds:.1f}/s" if seconds else ""
