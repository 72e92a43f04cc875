"""The tasks of a cluster and which of them are dead, found by sessions on one task at a time.

A server does not tell which tasks its cluster has, and ListDevices waits for all of them for ever. A session whose device
filters name one task waits for that task alone: a living task is among the session's devices, a task that the cluster does not
have is not, and a dead task does not answer in time.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator
from typing import Final

from ...core.support.errors import DeadlineExceededError
from ..protos import cluster_pb2 as pb
from .master import Device, Master

_JOBS: Final = ("chief", "evaluator", "master", "ps", "worker")
"""The jobs that TensorFlow's own guides call so; the master's job is looked for too."""
_NOBODY: Final = "/job:nobody"
"""A filter that no task passes. It must be the name of a device: at any other text TensorFlow's server ends itself."""
_TASK: Final = re.compile(r"(/job:([A-Za-z]\w*)/replica:\d+/task:\d+)/")
_MOST: Final = 1000
"""Tasks of a job that are asked at most: a server that claims to have them all is none of TensorFlow's."""
ANSWER_SECONDS: Final = 5.0
"""Seconds in which a living task makes a session, which takes some milliseconds."""


@dataclasses.dataclass(frozen=True, slots=True)
class Tasks:
    """The devices of the tasks that answer, and the names of those that do not."""

    devices: tuple[Device, ...]
    silent: tuple[str, ...]


def ask_tasks(master: Master) -> Tasks:
    """Ask each task of the cluster for itself; the master's own devices come first."""
    own = [dataclasses.replace(device, is_of_master=True) for device in _devices_with(master, _NOBODY)]
    jobs = dict.fromkeys([*(match[2] for device in own if (match := _TASK.match(device.name))), *_JOBS])
    devices, silent = {device.name: device for device in own}, []
    for job in jobs:
        for name, found in _tasks_of(master, job):
            others = [device for device in found if device.name not in devices]
            devices |= {device.name: dataclasses.replace(device, is_of_master=False) for device in others}
            silent += [] if found else [name]
    return Tasks(tuple(devices.values()), tuple(silent))


def _tasks_of(master: Master, job: str) -> Iterator[tuple[str, list[Device]]]:
    """Yield the tasks of a job with their devices, none for a task that does not answer, up to the first that is not there."""
    for number in itertools.islice(itertools.count(), _MOST):
        name = f"/job:{job}/replica:0/task:{number}"
        try:
            found = [device for device in _devices_with(master, name) if device.name.startswith(f"{name}/")]
        except DeadlineExceededError:
            found = []
        else:
            if not found:
                return
        yield name, found


def _devices_with(master: Master, device_filter: str) -> list[Device]:
    """The devices of a session that waits for the tasks of a filter alone: the master's and those tasks'."""
    handle = master.create(b"", pb.SessionConfig(device_filters=[device_filter]), ANSWER_SECONDS).session_handle
    try:
        return master.devices(handle, ANSWER_SECONDS)
    finally:
        master.abandon(handle)
