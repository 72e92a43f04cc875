"""A survey of a cluster from outside: the devices, and their times to answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from ...core.building.builder import GraphBuilder
from ...core.graph.graph import Graph
from ...core.support import dataclasses
from ...core.support.arguments import checked, expect
from ...core.support.display import Report
from ...core.support.errors import DeadlineExceededError, UnavailableError
from ...core.support.words import counted
from .address import Address
from .cluster_session import CONNECT_SECONDS, ClusterSession
from .master import Device, Master
from .tasks import ANSWER_SECONDS, Tasks, ask_tasks

RESET_SECONDS: Final = 60.0
MOST_ASKED: Final = 1000
"""The largest number of devices whose time is measured: a step each, and a server may list any number."""


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Survey(Report, main_table="devices"):
    """The devices of a cluster, the seconds of a step on a device, and the seconds of making a session.

    `silent` are the tasks that do not answer.
    """

    devices: tuple[Device, ...]
    """The devices of the cluster."""
    seconds: tuple[float, ...]
    """The seconds of a step on each of the first 1,000 devices, in the order of `devices`."""
    session_seconds: float
    """The seconds of making a session."""
    silent: tuple[str, ...] = ()
    """The tasks that do not answer."""

    def headline(self) -> str:
        silent = f", {counted(len(self.silent), 'silent task')}" if self.silent else ""
        return f"{counted(len(self.devices), 'device')}{silent}"


@checked
def describe_cluster(
    address: str,
    *,
    reset: bool = False,
    containers: Sequence[str] | str = (),
    note: Callable[[str], None] | None = None,
) -> Survey:
    """Return the devices of the TensorFlow cluster of a server, the seconds until each answers, and the silent tasks.

    `address` is grpc://HOST:PORT or grpcs://HOST:PORT?ca=FILE. `reset` first ends all sessions and drops the variables of
    `containers`, by default of the unnamed container. `note` gets remarks while the function waits for the server.
    UnavailableError if the server does not answer, InvalidArgumentError for a text that is no address.
    """
    server, dropped = Address.parse(address), (containers,) if isinstance(containers, str) else tuple(containers)
    expect(str, *dropped)
    master = Master(server, note)
    master.wait(CONNECT_SECONDS)
    if reset:
        try:
            master.reset(dropped, RESET_SECONDS)
        except DeadlineExceededError:
            silent = ", ".join(ask_tasks(master).silent) or "a task"
            raise UnavailableError(f"the reset waited {RESET_SECONDS:g} s for {silent}, which does not answer") from None
    tasks = _tasks(master)
    master.close()
    devices = tasks.devices
    asked = devices[:MOST_ASKED]
    # The session must not wait for silent tasks, so it is of the living ones alone; of all tasks if all answer.
    living = dict.fromkeys(device.name.rpartition("/device:")[0] for device in devices)
    session = ClusterSession(_questions(asked), server, note=note, filters=list(living) if tasks.silent else [])
    # The first step makes the session, which waits for all tasks.
    session_seconds = _seconds(lambda: session.run("nothing"))
    # All devices once without the clock: at the first step the master sends each task its part of the graph.
    for i in range(len(asked)):
        session.run(f"question{i}")
    seconds = tuple(_seconds(lambda i=i: session.run(f"question{i}")) for i in range(len(asked)))  # type: ignore[misc]
    session.close()
    return Survey(devices, seconds, session_seconds, tasks.silent)


def _tasks(master: Master) -> Tasks:
    """Return the tasks of the cluster; each is asked separately if the tasks do not all answer together."""
    try:
        return Tasks(tuple(master.devices(seconds=ANSWER_SECONDS)), ())
    except DeadlineExceededError:
        return ask_tasks(master)


def _questions(devices: Sequence[Device]) -> Graph:
    """Return a graph with an operation on each device, and a NoOp without a device."""
    g = GraphBuilder()
    g.NoOp(name="nothing")
    for i, device in enumerate(devices):
        with g.device(device.name):
            g.NoOp(name=f"question{i}")
    return g.graph


def _seconds(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started
