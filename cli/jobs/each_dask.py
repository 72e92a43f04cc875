"""A Dask cluster that works on tasks. Its workers get the graph from a plugin, and again where they are started anew."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import distributed

from ...core.runtime.guards.allocation import keep_freed_memory
from ...core.support.errors import UnavailableError
from .each_worker import Outcome, Recipe, Task, Worker, digest_of

_AHEAD: Final = 3
"""Tasks that are with the cluster for each of its threads: results wait there only as long as they are written here."""
_CONNECT_SECONDS: Final = 10
WORKER_SECONDS: Final = 60.0
"""Seconds without any worker after which a job ends: workers may be started after it, or anew."""
_POLL_SECONDS: Final = 0.005
_CHECK_SECONDS: Final = 5.0
"""Seconds without a result after which the scheduler is asked for its workers."""
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
        _profile(worker, False)

    def teardown(self, worker: Any) -> None:
        """The job is over."""
        _recipes.pop(self.name, None)
        _worker.cache_clear()
        if not any(isinstance(plugin, GraphPlugin) for plugin in worker.plugins.values()):
            _profile(worker, True)


def _profile(worker: Any, wanted: bool) -> None:
    """Let Dask sample what a worker does, or not: a hundred times a second it interrupts a thread that computes."""
    sampling = worker.periodic_callbacks.get("profile")
    if sampling is not None:
        (sampling.start if wanted else sampling.stop)()


@functools.cache
def _worker(name: str) -> Worker:
    recipe = _recipes[name]
    return Worker(recipe.load(), recipe.session, recipe.options)


def _work(name: str, task: Task) -> Outcome:
    """What a worker of the cluster runs."""
    return _worker(name).work(task)


def _has_graph(path: str, digest: str) -> bool:
    return digest_of(path) == digest


class Dask:
    """The cluster whose scheduler is at an address, HOST:PORT."""

    def __init__(self, address: str, recipe: Recipe, note: Callable[[str], None] = lambda _: None) -> None:
        try:
            self._client = distributed.Client(f"tcp://{address}", timeout=_CONNECT_SECONDS, set_as_default=False)
        except (OSError, TimeoutError) as error:
            raise UnavailableError(f"no Dask scheduler answers at {address}: {error}") from None
        self._recipe = recipe
        self._note = note

    def outcomes(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """What became of each task, as it is known; each comes once. UnavailableError where the scheduler is lost."""
        try:
            yield from self._outcomes(tasks)
        except (OSError, concurrent.futures.CancelledError) as error:
            raise UnavailableError(f"the Dask cluster is lost: {error or type(error).__name__}") from None

    def _outcomes(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        self._require_workers()
        name = self._prepare()
        threads = sum(self._client.nthreads().values()) or 1
        left = iter(tasks)
        known: dict[Any, Task] = {}

        def submitted(task: Task) -> Any:
            future = self._client.submit(_work, name, task, pure=False, key=f"{name}-{task.name}")
            known[future.key] = task
            return future

        first = [submitted(task) for task in itertools.islice(left, _AHEAD * threads)]
        running = distributed.as_completed(first, loop=self._client.loop)
        try:
            for future in self._completed(running):
                yield self._outcome(future, known.pop(future.key))
                future.release()
                for following in itertools.islice(left, 1):
                    running.add(submitted(following))
        finally:
            if self._client.status == "running":
                self._client.cancel(list(known))
                self._client.unregister_worker_plugin(name)
            self._client.close()

    def _completed(self, running: Any) -> Iterator[Any]:
        """Yield futures as they complete; UnavailableError where no worker is left to complete them."""
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
        """The answer about a completed future; its result is made again if the worker that held it is gone."""
        while True:
            try:
                return ask(timeout=_CHECK_SECONDS)
            except TimeoutError:
                self._require_workers()

    def _require_workers(self) -> None:
        """Wait for a worker, with a note; UnavailableError where none joins the scheduler in time."""
        if self._client.nthreads():
            return
        address = self._client.scheduler.address
        self._note(f"the Dask scheduler at {address} has no workers; waiting up to {WORKER_SECONDS:g} s for one")
        try:
            self._client.wait_for_workers(1, timeout=WORKER_SECONDS)
        except TimeoutError:
            hint = "start one: dask worker ADDRESS"
            problem = f"no worker joined the Dask scheduler at {address} in {WORKER_SECONDS:g} s"
            raise UnavailableError(problem, hint=hint) from None

    def _prepare(self) -> str:
        """Give the workers the recipe, without the graph where all of them have its file; the name they know it by."""
        recipe = self._recipe
        found = self._client.run(_has_graph, recipe.path, recipe.digest)
        if found and all(found.values()):
            recipe = dataclasses.replace(recipe, data=None)
        name = f"tfg-{recipe.digest[:16]}-{id(self)}"
        self._client.register_plugin(GraphPlugin(name, recipe), name=name)
        return name

    def _outcome(self, future: Any, task: Task) -> Outcome:
        error = self._answered(future.exception)
        if error is None:
            outcome: Outcome = self._answered(future.result)
            return outcome
        if isinstance(error, distributed.scheduler.KilledWorker):
            return Outcome(task, error=f"its workers were ended again and again: {error}")
        raise error
