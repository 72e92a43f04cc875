"""The files that results of `tfg run --each` go to: written while the next input computes, synced many at a time."""

from __future__ import annotations

import abc
import concurrent.futures
import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from ...core.support.atomic import file_errors
from ...core.support.file_groups import FileGroup, StagedFile, file_group
from .each_recipe import BatchOutput
from .each_shards import ResultShard
from .each_tasks import Outcome, SweepTask

_SYNC_SECONDS: Final = 0.25
"""Seconds that written files wait for further files, so that all share a sync."""


class SweepReport(NamedTuple):
    """The outcomes that became known, and how many tasks were computed so far, their results on the disk or not."""

    outcomes: Sequence[Outcome]
    computed: int


class Results(abc.ABC):
    """A writer of results that reports the outcome of a task once the result is on the disk.

    A thread waits for the disk: a single sync covers all files written since the last sync began.
    """

    def __init__(self, group: FileGroup, disk: concurrent.futures.Executor) -> None:
        self._group = group
        self._disk = disk
        self._lock = threading.Lock()
        self._hurry = threading.Event()
        self._syncing: concurrent.futures.Future[None] | None = None
        self._is_syncing = False
        self._written: list[tuple[StagedFile | None, Sequence[Outcome]]] = []
        self._known: list[Outcome] = []

    @abc.abstractmethod
    def write(self, outcomes: Sequence[Outcome]) -> None:
        """Write the results of tasks that ran together."""

    @abc.abstractmethod
    def end_batch(self) -> None:
        """End a batch of tasks that were given to a worker together."""

    @abc.abstractmethod
    def close(self) -> None:
        """Close the file of a batch that was not ended."""

    def known(self) -> list[Outcome]:
        """Return the outcomes that became known since the last call, in the order of their tasks."""
        if self._syncing is not None and self._syncing.done():
            self._syncing.result()
        with self._lock:
            known, self._known = self._known, []
        return known

    def finish(self) -> list[Outcome]:
        """Wait for the disk; return the other outcomes of all that was written and of all batches that were ended."""
        self._hurry.set()
        if self._syncing is not None:
            self._syncing.result()
        self._hurry.clear()
        self._group.finish()
        return self.known()

    def publish(self, file: StagedFile | None, outcomes: Sequence[Outcome]) -> None:
        """Schedule the sync and renaming of a closed file; its outcomes become known after the sync."""
        with self._lock:
            self._written.append((file, outcomes))
            was_syncing, self._is_syncing = self._is_syncing, True
        if not was_syncing:
            self._syncing = self._disk.submit(self._sync)

    def _sync(self) -> None:
        while True:
            self._hurry.wait(_SYNC_SECONDS)
            with self._lock:
                written, self._written = self._written, []
                self._is_syncing = bool(written)
            if not written:
                return
            self._group.publish([file for file, _ in written if file is not None])
            with self._lock:
                self._known += [outcome for _, outcomes in written for outcome in outcomes]


class ResultFiles(Results):
    """Writes a file for each result."""

    def __init__(self, group: FileGroup, disk: concurrent.futures.Executor, output: BatchOutput) -> None:
        super().__init__(group, disk)
        self._output = output

    def write(self, outcomes: Sequence[Outcome]) -> None:
        """Write the result of each task; its outcome becomes known after the next sync."""
        for outcome in outcomes:
            staged = None
            if outcome.error is None:
                path = result_path(self._output, outcome.task)
                file, staged = self._group.create(path)
                with file_errors(path), file:
                    file.write(outcome.result)
            self.publish(staged, [_without_result(outcome)])

    def end_batch(self) -> None:
        """Do nothing: each result has a separate file."""

    def close(self) -> None:
        """Do nothing: no file is open."""


class ResultShards(Results):
    """A writer that adds the results of each batch to the shard of its tasks."""

    def __init__(self, group: FileGroup, disk: concurrent.futures.Executor) -> None:
        super().__init__(group, disk)
        self._shard: ResultShard | None = None
        self._outcomes: list[Outcome] = []

    def write(self, outcomes: Sequence[Outcome]) -> None:
        """Add the results of tasks to their shard."""
        shard = outcomes[0].task.shard
        assert shard is not None
        if self._shard is None:
            self._shard = ResultShard(*self._group.create(shard))
        for outcome in outcomes:
            if outcome.error is None and outcome.result is not None:
                self._shard.add(outcome.result)
        self._outcomes += map(_without_result, outcomes)

    def end_batch(self) -> None:
        """Close the shard; the outcomes of its tasks become known after the next sync."""
        if self._shard is not None:
            self.publish(self._shard.close(), self._outcomes)
            self._shard, self._outcomes = None, []

    def close(self) -> None:
        """Close the shard of a batch that was not ended."""
        if self._shard is not None:
            self._shard.close()


@contextlib.contextmanager
def writing_results(output: BatchOutput) -> Iterator[Results]:
    """Yield the writer of a job's results for this process; the folder must exist."""
    with file_group(output.place) as group, concurrent.futures.ThreadPoolExecutor(1) as disk:
        results = ResultFiles(group, disk, output) if output.shards is None else ResultShards(group, disk)
        with contextlib.closing(results):
            yield results


def result_path(output: BatchOutput, task: SweepTask) -> str:
    """The file of a result."""
    return os.path.join(output.place, task.name + output.ending)


def reports(
    work: Callable[[Sequence[SweepTask]], Iterable[Sequence[Outcome]]], results: Results,
    batches: Iterable[Sequence[SweepTask]], keep_going: bool,
) -> Iterator[SweepReport]:  # fmt: skip
    """Run batches of tasks in order and write their results; stop at a failure unless `keep_going`."""
    computed = 0
    for batch in batches:
        for outcomes in work(batch):
            results.write(outcomes)
            computed += len(outcomes)
            failed = None if keep_going else next((outcome for outcome in outcomes if outcome.error is not None), None)
            if failed is not None:
                yield SweepReport([*(known for known in results.finish() if known.error is None), failed], computed)
                return
            yield SweepReport(results.known(), computed)
        results.end_batch()
    yield SweepReport(results.finish(), computed)


def _without_result(outcome: Outcome) -> Outcome:
    return Outcome(outcome.task, error=outcome.error, cpu=outcome.cpu)
