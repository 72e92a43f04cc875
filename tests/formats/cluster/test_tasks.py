"""Dead tasks of a cluster: they are named, and nothing waits for them for ever.

The server of these tests answers as TensorFlow 2.21's was seen to: ListDevices without a session and CreateSession without
filters wait for every task; a session whose filters name one task waits for that task alone, and sees it if it is there.
"""

from __future__ import annotations

import threading

import pytest

grpc = pytest.importorskip("grpc", reason="the extra tfg[cluster] is not installed")

import tfg  # noqa: E402
from tests.cli.running import tfg as run  # noqa: E402
from tests.formats.cluster.exchange import serving  # noqa: E402
from tfg.core.support.errors import UnavailableError  # noqa: E402
from tfg.formats.cluster import cluster_session, master, survey, tasks  # noqa: E402
from tfg.formats.cluster.address import Address  # noqa: E402
from tfg.formats.cluster.cluster_session import ClusterSession  # noqa: E402
from tfg.formats.cluster.master import Master  # noqa: E402
from tfg.formats.protos import cluster_pb2 as pb  # noqa: E402

pytestmark = pytest.mark.slow

MASTER = "/job:chief/replica:0/task:0"
WORKERS = [f"/job:worker/replica:0/task:{number}" for number in range(3)]


class Cluster:
    """A master and three workers, some of them dead."""

    def __init__(self, *dead):
        self.dead = set(dead)
        self.over = threading.Event()
        self.filters = []
        self.step_seconds = 0.0
        self.deserts = False

    def __call__(self, method, request):
        if method == "CreateSession":
            names = list(pb.CreateSessionRequest.FromString(request).config.device_filters)
            assert "/job:" not in names  # at which TensorFlow's server ends itself
            self.wait_for([task for task in WORKERS if not names or task in names])
            self.filters.append(names)
            return pb.CreateSessionResponse(session_handle=str(len(self.filters))).SerializeToString()
        if method == "ListDevices":
            handle = pb.ListDevicesRequest.FromString(request).session_handle
            names = self.filters[int(handle) - 1] if handle else WORKERS
            self.wait_for(names)
            seen = [MASTER, *(task for task in WORKERS if task in names or (handle and not names))]
            devices = [pb.DeviceAttributes(name=f"{task}/device:CPU:0", device_type="CPU") for task in seen]
            local, remote = (devices, []) if handle else (devices[:1], devices[1:])
            return pb.ListDevicesResponse(local_device=local, remote_device=remote).SerializeToString()
        if method == "RunStep" and self.deserts:
            self.dead.add(WORKERS[1])
            self.over.wait(20)
        elif method == "RunStep":
            self.over.wait(self.step_seconds)
        elif method == "Reset":
            self.wait_for(WORKERS)
        return b""

    def wait_for(self, names):
        if self.dead & set(names):
            self.over.wait(20)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    for module in (tasks, survey):
        monkeypatch.setattr(module, "ANSWER_SECONDS", 1.0)
    monkeypatch.setattr(cluster_session, "TASKS_SECONDS", 0.5)


@pytest.fixture(params=[(), (WORKERS[1],), (WORKERS[0], WORKERS[2])], ids=["none", "one", "two"])
def cluster(request):
    result = Cluster(*request.param)
    with serving(result) as address:
        yield result, address
        result.over.set()


def test_each_task_is_asked_for_itself(cluster):
    known, address = cluster
    result = tasks.ask_tasks(Master(Address.parse(address)))
    assert set(result.silent) == known.dead
    living = [MASTER, *(task for task in WORKERS if task not in known.dead)]
    assert {device.name: device.is_of_master for device in result.devices} == {
        f"{task}/device:CPU:0": task == MASTER for task in living
    }


def test_the_command_lists_dead_tasks(cluster):
    known, address = cluster
    done = run("cluster", address)
    assert done.code == bool(known.dead), done.err
    lines = {line.split()[0]: line for line in done.out.splitlines() if line.startswith("/job:")}
    assert {name for name, line in lines.items() if "no answer" in line} == known.dead
    assert len(lines) == 4
    survey = tfg.describe_cluster(address)
    assert set(survey.silent) == known.dead
    assert len(survey.devices) == len(survey.seconds) == 4 - len(known.dead)


def test_a_server_that_lists_very_many_devices_costs_few_steps(monkeypatch):
    monkeypatch.setattr(survey, "MOST_ASKED", 5)
    steps = []

    def answer(method, request):
        if method == "ListDevices":
            listed = [pb.DeviceAttributes(name=f"{MASTER}/device:CPU:{i}", device_type="CPU") for i in range(400)]
            return pb.ListDevicesResponse(local_device=listed).SerializeToString()
        if method == "RunStep":
            steps.append(request)
        made = {"CreateSession": pb.CreateSessionResponse(session_handle="s")}
        return made[method].SerializeToString() if method in made else b""

    with serving(answer) as address:
        done = run("cluster", address)
    assert done.code == 0, done.err
    assert len(steps) == 1 + 2 * 5 and done.out.count("/device:CPU:") == 400 and done.out.count("not asked") == 395


def test_a_session_says_for_which_tasks_it_waited(cluster, monkeypatch):
    known, address = cluster
    b = tfg.GraphBuilder()
    b.NoOp(name="nothing")
    client = ClusterSession(b.graph, address)
    if not known.dead:
        client.run("nothing")
        return
    with pytest.raises(UnavailableError) as error:
        client.run("nothing")
    assert all(task in error.value.message for task in known.dead)
    monkeypatch.setattr(cluster_session, "TASKS_SECONDS", 20)  # a busy machine answers late
    assert ClusterSession(b.graph, address, filters=[MASTER]).run("nothing") is None


@pytest.fixture
def watched(monkeypatch):
    """A living cluster whose tasks are looked at often."""
    monkeypatch.setattr(master, "PATIENCE", 0.1)
    monkeypatch.setattr(tasks, "SILENT_SECONDS", 3.0)
    monkeypatch.setattr(tasks, "NOTE_SECONDS", 0.2)
    result, notes = Cluster(), []
    b = tfg.GraphBuilder()
    b.NoOp(name="nothing")
    with serving(result) as address:
        yield result, ClusterSession(b.graph, address, note=notes.append), notes
        result.over.set()


def test_a_step_whose_task_dies_ends_and_names_the_task(watched):
    known, client, notes = watched
    known.deserts = True
    with pytest.raises(UnavailableError, match=f"{WORKERS[1]} has not answered for .* while a step waited"):
        client.run("nothing")
    assert any(f"a step waits for {WORKERS[1]}, which does not answer" in note for note in notes)
    assert not any(WORKERS[0] in note or WORKERS[2] in note for note in notes)


def test_a_step_that_takes_long_is_not_ended(watched):
    known, client, notes = watched
    known.step_seconds = 3.0
    assert client.run("nothing") is None
    assert len(known.filters) > 6 and notes == [], "tasks were asked meanwhile"


def test_a_reset_says_for_which_task_it_waited(monkeypatch):
    monkeypatch.setattr(survey, "RESET_SECONDS", 0.3)
    known = Cluster(WORKERS[2])
    with serving(known) as address:
        done = run("cluster", address, "--reset")
        known.over.set()
    assert done.code == 1 and f"the reset waited 0.3 s for {WORKERS[2]}, which does not answer" in done.err
