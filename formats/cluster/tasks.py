"""The tasks of a cluster and the dead tasks, detected by sessions on a single task at a time.

A server does not tell the tasks of the cluster, and ListDevices waits for all of them for ever. A session whose device
filters name a single task waits for that task alone: a living task is among the session's devices, a task outside the
cluster is not, and a dead task does not answer in time.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable, Iterator
from typing import Final

from ...core.support import dataclasses
from ...core.support.errors import DeadlineExceededError, UnavailableError
from ...core.support.hints import Blank, Hint, command
from ..protos import cluster_pb2 as pb
from .master import Device, Master

_JOBS: Final = ("chief", "evaluator", "master", "ps", "worker")
"""The jobs that TensorFlow's own guides call so; the master's job is looked for too."""
_NOBODY: Final = "/job:nobody"
"""A filter that no task passes. The text must be the name of a device: any other text ends TensorFlow's server."""
_TASK: Final = re.compile(r"(/job:([A-Za-z]\w*)/replica:\d+/task:\d+)/")
_MOST: Final = 1000
"""The largest number of a job's tasks to ask: a server that claims more is none of TensorFlow's."""
ANSWER_SECONDS: Final = 5.0
"""The seconds for a living task to make a session; some milliseconds are usual."""
NOTE_SECONDS: Final = 20.0
"""The seconds without an answer after which a note names a task that a step waits for."""
SILENT_SECONDS: Final = 1800.0
"""The seconds without an answer after which a task counts as dead.

TensorFlow's server answers on the threads that run kernels. A task is silent too while kernels keep all threads busy, and
no step may be ended for that reason.
"""
_LONGEST_PAUSE: Final = 60.0


@dataclasses.dataclass(frozen=True, slots=True)
class Tasks:
    """The devices of the tasks that answer, and the names of the silent tasks."""

    devices: tuple[Device, ...]
    silent: tuple[str, ...]


def ask_tasks(master: Master) -> Tasks:
    """Ask each task of the cluster for itself; the master's own devices come first."""
    own = [dataclasses.replace(device, is_of_master=True) for device in _devices_with(master, _NOBODY)]
    # The job of the master may have any name. Other jobs are found only by the usual names, as no server lists the jobs.
    jobs = dict.fromkeys([*(match[2] for device in own if (match := _TASK.match(device.name))), *_JOBS])
    devices, silent = {device.name: device for device in own}, []
    for job in jobs:
        for name, answering in _tasks_of(master, job):
            others = [device for device in answering if device.name not in devices]
            devices |= {device.name: dataclasses.replace(device, is_of_master=False) for device in others}
            silent += [] if answering else [name]
    return Tasks(tuple(devices.values()), tuple(silent))


class TaskWatch:
    """A watch over the tasks of a session while a call waits for them.

    A step whose machine vanished would wait for ever, as a master sets no limit to the master's own calls. Asking also
    sends data to the machine, so that the master's operating system notices, in about a quarter of an hour, that the
    connection is dead.
    """

    def __init__(self, master: Master, handle: str, note: Callable[[str], None]) -> None:
        self._master, self._handle, self._note = master, handle, note
        self._begun = self._next = time.monotonic()
        self._silent: dict[str, float] = {}
        self._named: set[str] = set()

    def look(self) -> None:
        """Ask each task; note each task that does not answer, and raise UnavailableError after half an hour of silence."""
        now = time.monotonic()
        if now < self._next:
            return
        # A task that answers once is forgotten here: only an unbroken silence counts.
        self._silent = {name: self._silent.get(name, now) for name in self._silent_tasks()}
        for name, since in self._silent.items():
            if now - since >= SILENT_SECONDS:
                problem = f"{name} has not answered for {now - since:.0f} s while a step waited for it"
                raise UnavailableError(
                    problem,
                    hint=Hint("start the task; ", command("cluster", Blank("ADDRESS")), " lists the tasks that do not answer"),
                )
            if now - since >= NOTE_SECONDS and name not in self._named:
                self._named.add(name)
                self._note(
                    f"a step waits for {name}, which does not answer: the task has ended, or kernels keep all its threads busy"
                )
        # A question without an answer leaves an empty session at the master, so that the pauses grow.
        self._next = now + (min((now - self._begun) / 2, _LONGEST_PAUSE) if self._silent else 0.0)

    def _silent_tasks(self) -> list[str]:
        try:
            devices = self._master.devices(self._handle, ANSWER_SECONDS)
        except (DeadlineExceededError, UnavailableError):
            # A master that does not answer cannot be asked for its tasks, and counts as one silent task itself.
            return [f"the server at {self._master.address}"]
        names = dict.fromkeys(match[1] for device in devices if (match := _TASK.match(device.name)))
        return [name for name in names if not self._answers(name)]

    def _answers(self, name: str) -> bool:
        try:
            _devices_with(self._master, name)
        except (DeadlineExceededError, UnavailableError):
            return False
        return True


def _tasks_of(master: Master, job: str) -> Iterator[tuple[str, list[Device]]]:
    """Yield the tasks of a job with their devices, none for a task that does not answer, up to the first that is not there."""
    for number in itertools.islice(itertools.count(), _MOST):
        # A server of `tf.train.Server` is always of replica 0.
        name = f"/job:{job}/replica:0/task:{number}"
        try:
            devices = [device for device in _devices_with(master, name) if device.name.startswith(f"{name}/")]
        except DeadlineExceededError:
            devices = []
        else:
            if not devices:
                return
        yield name, devices


def _devices_with(master: Master, device_filter: str) -> list[Device]:
    """Return the devices of a session that waits for the tasks of a filter alone: the master's and the tasks' devices."""
    # The graph is empty, because the session is made only to learn whether the tasks of its filter are there.
    handle = master.create(b"", pb.SessionConfig(device_filters=[device_filter]), ANSWER_SECONDS).session_handle
    try:
        return master.devices(handle, ANSWER_SECONDS)
    finally:
        master.abandon(handle)
