"""Execution of tasks on a Dask cluster. A plugin gives workers the graph, restarted workers too."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import distributed

from ...core.runtime.execute.allocation import keep_freed_memory
from ...core.support import dataclasses
from ...core.support.errors import UnavailableError
from ...core.support.hints import Hint, step
from ...core.support.log import tell
from .each_results import Results, SweepReport, reports, writing_results
from .each_tasks import Outcome, Recipe, SweepTask, TaskQueue, digest_of
from .each_worker import Worker, recipe_worker

_AHEAD: Final = 3
"""Batches in flight for each thread of the cluster; bounds the results that wait on the cluster."""
_BATCH_SECONDS: Final = 0.25
"""Seconds of work in a batch of tasks; Dask's overhead is some milliseconds a batch."""
_MOST: Final = 1000
_BATCH_BYTES: Final = 1 << 24
"""Bytes of results that a batch is to have at most."""
CONNECT_SECONDS: Final = 10
WORKER_SECONDS: Final = 60.0
"""Seconds without workers after which a job fails; leaves time to start or restart workers."""
_POLL_SECONDS: Final = 0.005
_CHECK_SECONDS: Final = 5.0
"""Seconds without a result after which the client asks the scheduler for its workers."""
_recipes: dict[str, Recipe] = {}


class GraphPlugin(distributed.WorkerPlugin):
    """Gives a worker the recipe."""

    idempotent = True

    def __init__(self, name: str, recipe: Recipe) -> None:
        self.name = name
        self.recipe = recipe

    def setup(self, worker: Any) -> None:
        """A worker is started, or was there before."""
        keep_freed_memory(in_threads=True)  # Dask's nanny has its workers return all that is freed, and fetch it anew
        _recipes[self.name] = self.recipe
        # The samples of Dask's profiler would take a good part of the time of small runs, and nobody looks at them.
        _profile(worker, False)

    def teardown(self, worker: Any) -> None:
        """The job is over."""
        _recipes.pop(self.name, None)
        _worker.cache_clear()
        if not any(isinstance(plugin, GraphPlugin) for plugin in worker.plugins.values()):
            _profile(worker, True)


def _profile(worker: Any, starts: bool) -> None:
    """Enable or disable Dask's sampling profiler, which interrupts computing threads a hundred times a second."""
    sampling = worker.periodic_callbacks.get("profile")
    if sampling is not None:
        (sampling.start if starts else sampling.stop)()


@functools.cache
def _worker(name: str) -> Worker:
    return recipe_worker(_recipes[name])


def _work(name: str, tasks: Sequence[SweepTask]) -> tuple[Sequence[Outcome], float]:
    """What a worker of the cluster runs: the outcomes of a batch, and the seconds that it took.

    The worker writes shards itself; results with separate files travel back.
    """
    started = time.monotonic()
    worker, output = _worker(name), _recipes[name].output
    # Files of single results are written by the client, whose folder it is; shards are too large to travel.
    if output.shards is None:
        outcomes = [outcome for together in worker.outcomes(tasks) for outcome in together]
    else:
        with writing_results(output) as results:
            told = list(reports(worker.outcomes, results, [tasks], output.keep_going))
        outcomes = [outcome for report in told for outcome in report.outcomes]
    return outcomes, time.monotonic() - started


def _has_graph(path: str, digest: str) -> bool:
    return digest_of(path) == digest


async def _reach(address: str) -> None:
    """Connect and disconnect; OSError or TimeoutError if no scheduler answers."""
    connect: Callable[..., Any] = distributed.comm.core.connect
    comm = await asyncio.wait_for(connect(address, timeout=CONNECT_SECONDS), CONNECT_SECONDS)
    comm.abort()


class Dask:
    """A cluster with a scheduler at an address, HOST:PORT."""

    def __init__(self, address: str, recipe: Recipe, note: Callable[[str], None] = lambda _: None) -> None:
        try:
            # A client that cannot connect would leave the thread of its event loop behind.
            distributed.utils.LoopRunner().run_sync(_reach, f"tcp://{address}")
            # Not as the default client, which belongs to the program that called.
            self._client = distributed.Client(f"tcp://{address}", timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, TimeoutError) as error:
            raise UnavailableError(f"no Dask scheduler answers at {address}: {error or 'it says nothing'}") from None
        self._recipe = recipe
        self._note = note
        self._numbers = itertools.count()
        self._size = 1

    def reports(self, queue: TaskQueue, results: Results) -> Iterator[SweepReport]:
        """Yield what became of the tasks, as it is known; each outcome comes once. UnavailableError if the scheduler is lost.

        `results` writes results with separate files, in this process.
        """
        computed = 0
        try:
            for outcomes in self._outcomes(queue):
                computed += len(outcomes)
                if self._recipe.output.shards is not None:
                    yield SweepReport(outcomes, computed)
                    continue
                results.write(outcomes)
                stops = not self._recipe.output.keep_going and any(outcome.error for outcome in outcomes)
                yield SweepReport(results.finish() if stops else results.known(), computed)
            yield SweepReport(results.finish(), computed)
        except (OSError, concurrent.futures.CancelledError) as error:
            raise UnavailableError(f"lost the Dask cluster: {error or type(error).__name__}") from None
        finally:
            self._client.close()

    def _outcomes(self, queue: TaskQueue) -> Iterator[Sequence[Outcome]]:
        self._require_workers()
        name = self._prepare()
        threads = sum(self._client.nthreads().values()) or 1
        running = distributed.as_completed([], loop=self._client.loop)
        sent: dict[Any, Sequence[SweepTask]] = {}

        def submit(tasks: Sequence[SweepTask]) -> None:
            future = self._client.submit(_work, name, tasks, pure=False, key=f"{name}-{next(self._numbers)}")
            sent[future.key] = tasks
            running.add(future)

        def submit_some() -> None:
            while queue and len(sent) < _AHEAD * threads:
                # The last batches are small, so that all threads have work to the end.
                submit(queue.take(min(self._size, len(queue) // (_AHEAD * threads) + 1)))

        try:
            submit_some()
            for future in self._completed(running):
                tasks = sent.pop(future.key)
                outcomes = self._settled(future, tasks)
                future.release()
                for task in tasks if outcomes is None else ():
                    submit([task])
                submit_some()
                yield outcomes or ()
        finally:
            if self._client.status == "running":
                self._client.cancel(list(sent))
                try:
                    self._client.unregister_worker_plugin(name)
                # A worker that died just now took its plugin along; all results are here.
                except OSError as error:
                    tell("the plugin of the job stays on a worker: %s", error)

    def _completed(self, running: Any) -> Iterator[Any]:
        """Yield futures as they complete; UnavailableError if no worker is left to complete them."""
        checked = time.monotonic()
        while not running.is_empty():
            if running.has_ready():
                yield next(running)
                checked = time.monotonic()
            elif time.monotonic() - checked > _CHECK_SECONDS:
                self._require_workers()
                checked = time.monotonic()
            else:
                time.sleep(_POLL_SECONDS)

    def _answered(self, ask: Callable[..., Any]) -> Any:
        """Return the answer about a completed future; recompute a result whose worker was lost."""
        while True:
            try:
                return ask(timeout=_CHECK_SECONDS)
            except TimeoutError:
                self._require_workers()

    def _require_workers(self) -> None:
        """Wait for a worker, with a note; UnavailableError if none joins the scheduler in time."""
        if self._client.nthreads():
            return
        scheduler = self._client.scheduler
        assert scheduler is not None  # only an unconnected client has none
        address = scheduler.address
        self._note(f"the Dask scheduler at {address} has no workers; waiting up to {WORKER_SECONDS:g} s for one")
        try:
            self._client.wait_for_workers(1, timeout=WORKER_SECONDS)
        except TimeoutError:
            hint = "start a worker: dask worker ADDRESS"
            problem = f"no worker joined the Dask scheduler at {address} in {WORKER_SECONDS:g} s"
            raise UnavailableError(problem, hint=hint) from None

    def _prepare(self) -> str:
        """Send the recipe to the workers, without the graph if all workers have its file; return the name of the plugin."""
        recipe = self._recipe
        # A model may have gigabytes, and workers often see the same disk.
        answers = self._client.run(_has_graph, recipe.path, recipe.digest, on_error="return")  # a worker may die meanwhile
        if answers and all(answer is True for answer in answers.values()):
            recipe = dataclasses.replace(recipe, data=None)
        # Two jobs may run the same graph with other settings at the same time.
        name = f"tfg-{recipe.digest[:16]}-{id(self)}"
        self._client.register_plugin(GraphPlugin(name, recipe), name=name)
        return name

    def _settled(self, future: Any, tasks: Sequence[SweepTask]) -> Sequence[Outcome] | None:
        """Return the outcomes of a batch; None if a task killed its workers, so that the tasks must run separately."""
        error = self._answered(future.exception)
        if error is None:
            outcomes: Sequence[Outcome]
            outcomes, seconds = self._answered(future.result)
            self._learn(outcomes, seconds)
            return outcomes
        if not isinstance(error, distributed.scheduler.KilledWorker):
            raise error
        # Any task of the batch may have killed the workers. Each of them then runs alone, and the next death tells which it
        # is.
        if len(tasks) > 1 and tasks[0].shard is None:
            return None
        place = f"the last of them {error.last_worker.address}"
        memory = "give the workers more memory, look into their logs, or run the input here: "
        killed = Hint(f"{error.allowed_failures + 1} workers died of it, {place}; {memory}", step("here"))
        return [Outcome(task, error=killed) for task in tasks]

    def _learn(self, outcomes: Sequence[Outcome], seconds: float) -> None:
        """Choose the size of later batches from the time and the bytes of this batch."""
        if outcomes:
            size = sum(len(outcome.result) for outcome in outcomes)
            by_bytes = _BATCH_BYTES * len(outcomes) // max(size, 1)
            # A batch is at most four times as large as the last, because its inputs may take more time.
            self._size = max(1, min(int(_BATCH_SECONDS * len(outcomes) / max(seconds, 1e-6)), 4 * self._size, by_bytes, _MOST))
