"""A cluster of TensorFlow servers on this machine: one ps, two workers."""

from __future__ import annotations

import concurrent.futures
import json
import subprocess
import time

import numpy as np
import pytest

pytestmark = pytest.mark.live
tf = pytest.importorskip("tensorflow")
pytest.importorskip("grpc", reason="the extra tfg[cluster] is not installed")

import tfg  # noqa: E402
from tests.cli.running import command_line  # noqa: E402
from tests.cli.running import tfg as run_tfg  # noqa: E402
from tests.formats.cluster.servers import Servers  # noqa: E402
from tfg.core.explaining.device_partition import CLIENT, explain_partition  # noqa: E402
from tfg.core.support.errors import UnavailableError  # noqa: E402
from tfg.formats.cluster.cluster_session import ClusterSession  # noqa: E402

PS, WORKER = "/job:ps/task:0", "/job:worker/task:1"


@pytest.fixture(scope="module")
def servers():
    with Servers(ps=1, worker=2) as result:
        yield result


@pytest.fixture
def graph(tmp_path, request):
    """Two layers with their weights on the ps; names of their own, as the servers keep all variables by name."""
    rng = np.random.default_rng(1)
    g = tfg.GraphBuilder()
    scope = request.node.name.replace("[", "_").replace("]", "")
    with g.name_scope(scope), g.device(PS):
        w = g.VariableV2(dtype="float32", shape=[6, 8], name="w")
        g.Assign(w, rng.normal(size=(6, 8)).astype(np.float32), name="w/Assign")
        v = g.VarHandleOp(dtype="float32", shape=[8, 1], name="v", shared_name=f"{scope}/v")
        g.AssignVariableOp(v, rng.normal(size=(8, 1)).astype(np.float32), name="v/Assign")
        step = g.VariableV2(dtype="int64", shape=[], name="step")
        g.Assign(step, np.int64(0), name="step/Assign")
        g.AssignAdd(step, np.int64(1), name="next")
    with g.device(WORKER):
        x = g.Placeholder(dtype="float32", shape=[None, 6], name="x")
        t = g.Placeholder(dtype="float32", shape=[None, 1], name="t")
        y = g.MatMul(g.Tanh(g.MatMul(x, w)), g.ReadVariableOp(v, dtype="float32"), name="y")
        g.Mean(g.Square(g.Sub(y, t)), np.int32([0, 1]), name="loss")
    path = tmp_path / "graph.pb"
    tfg.save(g.graph, path)
    return path, scope


FEEDS = ("--feed", "x=normal(32,6,seed=1)", "--feed", "t=normal(32,1,seed=2)")


def losses(done):
    assert done.code == 0, done.err
    return [step["loss"] for step in done.json["history"]]


@pytest.mark.parametrize("optimizer", ["adam", "momentum", "ftrl"])
def test_training_gives_the_losses_of_a_local_session(optimizer, graph, servers, tmp_path):
    path, scope = graph
    states = [tmp_path / "here.npz", tmp_path / "there.npz"]
    fit = ("--optimizer", optimizer, "--var", f"{scope}/[wv]", "--lr", 0.05, "--steps", 20)
    command = ("train", path, "--loss", "loss", *fit)
    here = run_tfg(*command, *FEEDS, "--init", "--format", "json", "--save-state", states[0])
    on = ("--on", servers.address("worker", 0))
    there = run_tfg(*command, *FEEDS, "--init", "--format", "json", "--save-state", states[1], *on)
    np.testing.assert_allclose(losses(there), losses(here), rtol=1e-5)
    mine, theirs = (np.load(state) for state in states)
    assert set(mine) == set(theirs)
    for name in mine:
        np.testing.assert_allclose(theirs[name], mine[name], rtol=1e-4, atol=1e-6)


def test_state_goes_there_and_comes_back(graph, servers, tmp_path):
    path, scope = graph
    rng = np.random.default_rng(3)
    given = {f"{scope}/w": rng.normal(size=(6, 8)), f"{scope}/v": rng.normal(size=(8, 1))}
    np.savez(tmp_path / "given.npz", **{k: v.astype(np.float32) for k, v in given.items()}, **{f"{scope}/step": np.int64(7)})
    on = ("--on", servers.address("ps", 0))
    back = tmp_path / "back.npz"
    loss = ("--fetch", "loss", *FEEDS)
    there = run_tfg("run", path, "--state", tmp_path / "given.npz", "--save-state", back, *loss, *on, "--format", "json")
    assert there.code == 0, there.err
    for name, value in np.load(back).items():
        np.testing.assert_array_equal(value, np.load(tmp_path / "given.npz")[name])
    here = run_tfg("run", path, "--state", back, *loss, "--format", "json")
    values = [done.json["steps"][0]["values"][0]["value"] for done in (here, there)]
    assert values[1] == pytest.approx(values[0], rel=1e-6)


def test_two_clients_at_once(graph, servers):
    """Each has a session; both count one variable's steps."""
    path, scope = graph
    sessions = [ClusterSession(tfg.load(str(path)), servers.address("worker", task)) for task in (0, 1)]
    sessions[0].run(f"{scope}/step/Assign")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda session: [session.run(f"{scope}/next") for _ in range(25)], sessions))
    assert sessions[0].run(f"{scope}/step:0") == 50
    for session in sessions:
        session.close()


def test_two_clients_in_processes_of_their_own(graph, servers):
    path, scope = graph
    on = ("--on", servers.address("worker", 0))
    assert run_tfg("run", path, "--init", *on).code == 0
    command = command_line("run", path, "--target", f"{scope}/next", "--steps", 20, *on)
    clients = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for _ in range(2)]
    assert [client.wait(120) for client in clients] == [0, 0]
    done = run_tfg("run", path, "--fetch", f"{scope}/step", "--format", "json", *on)
    assert done.json["steps"][0]["values"][0]["value"] == 40


def test_a_lost_worker_is_unavailable_at_once_and_a_new_session_finds_the_variables(graph, servers):
    path, scope = graph
    session = ClusterSession(tfg.load(str(path)), servers.address("worker", 0))
    session.run([f"{scope}/w/Assign", f"{scope}/v/Assign"])
    feeds = {"x:0": np.ones((4, 6)), "t:0": np.ones((4, 1))}
    expected = session.run("loss:0", feeds)
    servers.kill("worker", 1)
    began = time.monotonic()
    with pytest.raises(UnavailableError):
        session.run("loss:0", feeds)
    assert time.monotonic() - began < 1
    servers.start("worker", 1)
    session.retries = 5
    assert session.run("loss:0", feeds) == expected
    session.close()


def test_training_goes_on_with_retries_when_a_worker_is_lost(graph, servers):
    """From the step that the ps keeps: a step that failed on the worker may have counted, so there may be one more a retry."""
    path, scope = graph
    steps, retries = 600, 5
    on = ("--on", servers.address("worker", 0))
    assert run_tfg("run", path, "--init", *on).code == 0
    fed = ("--feed", "x=ones(4,6)", "--feed", "t=ones(4,1)")
    command = ("run", path, "--target", f"{scope}/next", "--fetch", "loss", *fed, "--steps", steps, "--retry", retries, *on)
    client = subprocess.Popen(command_line(*command, "--format", "json"), stdout=subprocess.PIPE, text=True)
    counting = ClusterSession(tfg.load(str(path)), servers.address("ps", 0))
    while counting.run(f"{scope}/step:0") < 20:
        assert client.poll() is None
    servers.kill("worker", 1)
    assert 20 <= counting.run(f"{scope}/step:0") < steps
    servers.start("worker", 1)
    out, _ = client.communicate(timeout=600)
    assert client.returncode == 0
    values = [step["values"][0]["value"] for step in json.loads(out)["steps"]]
    assert len(values) == steps and len(set(values)) == 1
    assert steps <= counting.run(f"{scope}/step:0") <= steps + retries
    counting.close()


def test_what_crosses_is_what_the_servers_receive(graph, servers):
    """And nodes are where the servers say that they ran."""
    path, scope = graph
    loaded = tfg.load(str(path))
    session = ClusterSession(loaded, servers.address("worker", 0))
    session.run([f"{scope}/w/Assign", f"{scope}/v/Assign"])
    # Servers begin to log what they receive in their own time: a step may be over before one of them does.
    steps = [session.traced(["loss:0"], {"x:0": np.ones((4, 6)), "t:0": np.ones((4, 1))}) for _ in range(10)]
    session.close()
    times = [time for step in steps for time in step]
    facts = explain_partition(loaded, ["loss:0"])
    home = "/job:worker/replica:0/task:0/device:CPU:0"
    places = {f"{CLIENT}/device:CPU:0": home}
    expected = {
        (c.tensor.removesuffix(":0"), places.get(c.source, c.source), places.get(c.target, c.target)) for c in facts.crossings
    }
    received = {(*time.name.split(" from "), time.device) for time in times if time.op == "RecvTensor"}
    assert {(name.removeprefix("_recv_").removesuffix("_0"), source, target) for name, source, target in received} == expected
    ran = {time.name: time.device for time in times if time.name in facts.devices}
    assert ran and ran.items() <= facts.devices.items()
