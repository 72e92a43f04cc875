"""The cost of a `tfg run --each` task in Dask's scheduler: with many workers, and with messages to real workers.

usage: python -m benchmarks.dask_scheduler [--workers 2,1000] [--tasks 100000] [--real 4000]

The first part runs Dask's SchedulerState, the deciding part of the scheduler, in this process. The workers are simulated:
tasks end in the order of assignment. Three tasks per worker are outstanding, as in tfg. The second part runs a real
scheduler, two real workers and a client, each in a process, with empty tasks: the CPU time of the scheduler and of the
client, messages included. The two halves of the simulated tasks show whether the cost of a task grows with earlier tasks.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import operator
import statistics
import time
from collections import deque
from typing import Any, Final

import distributed
import distributed.collections
from dask._task_spec import Task
from distributed.core import Status
from distributed.scheduler import ClientState, Scheduler, SchedulerState, TaskState, WorkerState
from sortedcontainers import SortedDict

AHEAD: Final = 3
"""Tasks that tfg has with the cluster for each worker."""


class State(SchedulerState):
    """The state of a scheduler alone. The base class has slots and lacks some attributes that the base class sets."""

    open_slots = Scheduler.stimulus_queue_slots_maybe_opened

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self.assigned: deque[str] = deque()

    def transitions(self, recommendations: dict[str, Any], stimulus_id: str) -> None:
        """Make the transitions and the following transitions, and record the assigned tasks."""
        worker_msgs: dict[str, Any] = {}
        self._transitions(recommendations, {}, worker_msgs, stimulus_id)
        self.note(worker_msgs)

    def note(self, worker_msgs: dict[str, Any]) -> None:
        """Record the tasks that the messages to workers assign."""
        self.assigned.extend(msg["key"] for msgs in worker_msgs.values() for msg in msgs if msg["op"] == "compute-task")


def scheduler_of(workers: int) -> State:
    """Return the state of a scheduler with single-threaded workers."""
    state = State(
        aliases={}, clients={}, workers=SortedDict(), host_info={}, resources={}, tasks={}, unrunnable={},
        queued=distributed.collections.HeapSet(key=operator.attrgetter("priority")), validate=False,
    )  # fmt: skip
    for number in range(workers):
        address = f"tcp://10.0.{number // 250}.{number % 250}:40000"
        worker = WorkerState(
            address=address, status=Status.running, pid=number, name=number, nthreads=1, memory_limit=2**33,
            local_directory="", nanny=None, server_id=address, scheduler=state,
        )  # fmt: skip
        state.workers[address] = worker
        state.running.add(worker)
        state.total_nthreads += 1
        state.check_idle_saturated(worker)
    return state


class Client:
    """The requests of a client and the answers of workers, by the transitions of the scheduler."""

    def __init__(self, state: SchedulerState) -> None:
        self._state = state
        self._own = ClientState("client")
        state.clients["client"] = self._own
        self._numbers = itertools.count()

    def submit(self) -> None:
        """Hand in a task."""
        number = next(self._numbers)
        key = f"tfg-0123456789abcdef-{number}"
        task = self._state.new_task(key, Task(key, _nothing, number), "released")
        task.priority = (0, number, 0)
        task.who_wants = {self._own}
        self._own.wants_what.add(task)
        self._state.transitions({key: "waiting"}, "submitted")

    def finish(self) -> None:
        """End and release the task that was assigned first."""
        key = self._state.assigned.popleft()
        task: TaskState = self._state.tasks[key]
        assert task.processing_on is not None
        recommendations, _, worker_msgs = self._state._transition(
            key, "memory", "finished", worker=task.processing_on.address, nbytes=1000, typename="tuple", type=b"", startstops=[
                {"action": "compute", "start": 0.0, "stop": 0.01}
            ],
        )  # fmt: skip
        self._state.note(worker_msgs)
        self._state.transitions(recommendations, "finished")
        self._state.open_slots(stimulus_id="finished")
        released: dict[str, Any] = {}
        self._state._client_releases_keys([key], self._own, released)
        self._state.transitions(released, "released")


def simulated(workers: int, tasks: int) -> list[float]:
    """Seconds of CPU time a task, in the first and in the second half of the tasks."""
    client = Client(scheduler_of(workers))
    for _ in range(AHEAD * workers):
        client.submit()
    halves = []
    for _ in range(2):
        started = time.process_time()
        for _ in range(tasks // 2):
            client.finish()
            client.submit()
        halves.append((time.process_time() - started) / (tasks // 2))
    return halves


def _nothing(number: int) -> int:
    return number


def _cpu(dask_scheduler: Any) -> float:
    return time.process_time()


def real(tasks: int) -> dict[str, float]:
    """Return the seconds of CPU time per task of a real scheduler and of the client."""
    context = multiprocessing.get_context("spawn")
    address, end = context.Queue(), context.Event()
    cluster = context.Process(target=_serve, args=(address, end))
    cluster.start()
    try:
        with distributed.Client(address.get(timeout=60)) as client:
            return _measured(client, tasks)
    finally:
        end.set()
        cluster.join()


def _serve(address: Any, end: Any) -> None:
    """Have a scheduler in this process and two workers in theirs."""
    with distributed.LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        address.put(cluster.scheduler_address)
        end.wait()


def _measured(client: distributed.Client, tasks: int) -> dict[str, float]:
    client.wait_for_workers(2)
    done = distributed.as_completed([client.submit(_nothing, number, pure=False) for number in range(2 * AHEAD)])
    before, own, left = client.run_on_scheduler(_cpu), time.process_time(), tasks
    for future in done:
        future.result()
        if left:
            left -= 1
            done.add(client.submit(_nothing, left, pure=False))
    scheduler = client.run_on_scheduler(_cpu) - before
    return {"scheduler": scheduler / tasks, "client": (time.process_time() - own) / tasks}


def main() -> None:
    """Print the cost of a task."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", default="2,1000")
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--real", type=int, default=4000)
    options = parser.parse_args()
    for workers in map(int, options.workers.split(",")):
        halves = simulated(workers, options.tasks)
        seconds = statistics.mean(halves) * 1e7
        shown = " and ".join(f"{half * 1e6:.0f}" for half in halves)
        print(f"decisions with {workers} workers: {shown} us a task; 10^7 tasks: {seconds:.0f} s")
    for name, taken in real(options.real).items() if options.real else ():
        print(f"{name} with messages, 2 real workers: {taken * 1e6:.0f} us a task; 10^7 tasks: {taken * 1e7:.0f} s")


if __name__ == "__main__":
    main()
