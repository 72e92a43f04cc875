"""A Dask cluster works on many inputs; killed workers lose nothing."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading

import numpy as np
import pytest

distributed = pytest.importorskip("distributed", reason="the extra tfg[dask] is not installed")

import dask  # noqa: E402

import tfg  # noqa: E402
from tests.cli.running import command_line  # noqa: E402
from tests.cli.running import tfg as run  # noqa: E402
from tests.cli.test_each import wait_for  # noqa: E402

pytestmark = pytest.mark.slow

COUNT = 24


@pytest.fixture(scope="module")
def cluster():
    # Dask gives a worker up that is away 15 s after a death, even where that is the third death of a series.
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"}),
        distributed.LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=None) as result,
    ):
        yield result


@pytest.fixture(autouse=True)
def threads():
    """No job leaves the thread of an event loop behind: a run beside one that may still act would wait for it."""
    before = loops()
    yield
    wait_for(lambda: loops() <= before)


def loops():
    return {thread for thread in threading.enumerate() if thread.name == "IO loop"}


@pytest.fixture
def job(tmp_path):
    """A graph that takes some tenths of a second an input."""
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[], name="x")
    y = g.Fill(np.int32([400, 400]), x)
    for _ in range(12):
        y = g.MatMul(y, g.Mul(y, np.float32(1e-3)))
    g.AddV2(x, g.Mul(g.Slice(y, np.int32([0, 0]), np.int32([1, 1])), np.float32(0)), name="y")
    tfg.save(g.graph, tmp_path / "g.pb")
    for i in range(COUNT):
        np.save(tmp_path / f"i{i:02d}.npy", np.float32(i / 1000))
    return ["run", tmp_path / "g.pb", "--fetch", "y", "--each", tmp_path / "*.npy", "--out-dir", tmp_path / "out"]


def values(folder):
    return {path.stem: float(np.load(path)["y"].item()) for path in (folder / "out").glob("*.npz")}


EXPECTED = {f"i{i:02d}": float(np.float32(i / 1000)) for i in range(COUNT)}


def on(cluster):
    return "--on", cluster.scheduler_address.replace("tcp://", "dask://")


def test_a_cluster_makes_what_this_process_makes(cluster, job, tmp_path):
    done = run(*job, *on(cluster))
    assert done.code == 0 and f"{COUNT} results written" in done.err, done.err
    assert values(tmp_path) == EXPECTED
    assert f"{COUNT} already there" in run(*job, *on(cluster)).err


def left_behind(dask_worker):
    """Return a worker's leftovers of jobs, and whether Dask samples the worker."""
    from tfg.formats.batches import each_dask

    return len(each_dask._recipes), dask_worker.periodic_callbacks["profile"].is_running()


def test_nothing_is_left_in_the_workers(cluster, job):
    assert run(*job, *on(cluster)).code == 0
    with distributed.Client(cluster) as client:
        assert set(client.run(left_behind).values()) == {(0, True)}


def test_workers_that_lack_the_file_get_the_graph(cluster, job, tmp_path):
    """As if they had another file system: the file is gone once the job has begun."""
    from tfg.formats.batches import each_dask

    real = each_dask._has_graph
    each_dask._has_graph = lambda path, digest: False
    try:
        client = distributed.Client(cluster, set_as_default=False)
        done = run(*job, *on(cluster))
        client.close()
    finally:
        each_dask._has_graph = real
    assert done.code == 0, done.err
    assert values(tmp_path) == EXPECTED


def test_failures_are_told(cluster, job, tmp_path):
    np.save(tmp_path / "i05.npy", np.float32([1, 2]))
    done = run(*job, *on(cluster), "--keep-going")
    assert done.code == 1 and "error: i05: node 'x' (Placeholder): cannot feed" in done.err
    assert set(values(tmp_path)) == set(EXPECTED) - {"i05"}


@pytest.mark.parametrize("count", [1, 2], ids=["one", "all"])
def test_killed_workers_lose_nothing(count, cluster, job, tmp_path):
    out = tmp_path / "out"
    with subprocess.Popen(command_line(*job, *on(cluster)), stderr=subprocess.PIPE, text=True) as client:
        wait_for(lambda: len(list(out.glob("*.npz"))) >= 2)
        for nanny in list(cluster.workers.values())[:count]:
            threading.Thread(target=os.kill, args=(nanny.pid, signal.SIGKILL)).start()
        _, said = client.communicate(timeout=600)
    assert client.returncode == 0 and f"{COUNT} results written" in said, said
    assert values(tmp_path) == EXPECTED


def test_nobody_there(job, monkeypatch):
    monkeypatch.setattr("tfg.formats.batches.each_dask.CONNECT_SECONDS", 0.5)
    done = run(*job, "--on", "dask://localhost:1")
    assert done.code == 1 and "no Dask scheduler answers" in done.err


def test_a_server_that_is_no_scheduler(job, monkeypatch):
    monkeypatch.setattr("tfg.formats.batches.each_dask.CONNECT_SECONDS", 0.5)
    with socket.create_server(("localhost", 0)) as server:
        done = run(*job, "--on", f"dask://localhost:{server.getsockname()[1]}")
    assert done.code == 1 and "no Dask scheduler answers" in done.err


def test_a_cluster_without_workers_is_not_waited_for(job, monkeypatch):
    monkeypatch.setattr("tfg.formats.batches.each_dask.WORKER_SECONDS", 0.5)
    with distributed.LocalCluster(1, dashboard_address=None) as empty:
        empty.scale(0)
        wait_for(lambda: not empty.scheduler.workers)
        done = run(*job, *on(empty))
    assert done.code == 1 and "has no workers; waiting up to 0.5 s for one" in done.err
    assert "no worker joined the Dask scheduler" in done.err


def test_a_cluster_that_loses_all_workers_is_not_waited_for(job, monkeypatch):
    monkeypatch.setattr("tfg.formats.batches.each_dask.WORKER_SECONDS", 0.5)
    monkeypatch.setattr("tfg.formats.batches.each_dask._CHECK_SECONDS", 0.2)
    with distributed.LocalCluster(1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        ending = threading.Timer(3, lambda: cluster.scale(0))
        ending.start()
        done = run(*job, "--sweep", "x=" + ",".join(map(str, range(200))), *on(cluster))
        ending.join()
    assert done.code == 1 and "no worker joined the Dask scheduler" in done.err, done.err


def test_a_worker_may_come_late(job, tmp_path):
    with distributed.LocalCluster(1, dashboard_address=None) as cluster:
        cluster.scale(0)
        wait_for(lambda: not cluster.scheduler.workers)
        coming = threading.Timer(1, lambda: cluster.scale(1))
        coming.start()
        done = run(*job, *on(cluster))
        coming.join()
    assert done.code == 0 and values(tmp_path) == EXPECTED, done.err


def test_workers_write_shards(cluster, job, tmp_path):
    words = [*job[:-2], "--output", tmp_path / "r.npz", "--shard-size", 5, *on(cluster)]
    done = run(*words)
    assert done.code == 0 and f"{COUNT} results written to 5 shards" in done.err, done.err
    shards = sorted(tmp_path.glob("r-*.npz"))
    by_name = [{name: float(value.item()) for name, value in np.load(path).items()} for path in shards]
    assert [len(shard) for shard in by_name] == [5, 5, 5, 5, 4]
    assert {name.removesuffix("/y"): value for shard in by_name for name, value in shard.items()} == EXPECTED
    shards[1].unlink()
    assert "5 results written" in run(*words).err
    np.save(tmp_path / "i03.npy", np.float32([1, 2]))
    done = run(*words, "--keep-going")
    assert done.code == 1 and "error: i03: " in done.err and "4 results written" in done.err
    assert not list(tmp_path.glob(".staging*"))


def test_batches_are_of_many_quick_tasks(cluster, tmp_path):
    """Dask's own work for a task takes longer than a small input."""
    g = tfg.GraphBuilder()
    g.Neg(g.Placeholder(dtype="float32", shape=[], name="x"), name="y")
    tfg.save(g.graph, tmp_path / "g.pb")
    (tmp_path / "in.jsonl").write_text("".join(f'{{"x": {i}}}\n' for i in range(300)))
    words = ("run", tmp_path / "g.pb", "--fetch", "y", "--each", tmp_path / "in.jsonl", "--out-dir", tmp_path / "out")
    with distributed.Client(cluster) as client:
        before = client.run_on_scheduler(finished)
        assert run(*words, *on(cluster)).code == 0
        assert client.run_on_scheduler(finished) - before < 200
    assert values(tmp_path) == {f"in-{i + 1:06d}": -i for i in range(300)}


def finished(dask_scheduler):
    """How many tasks workers were given."""
    return dask_scheduler.transition_counter


def test_the_simulated_scheduler_works_on_all_tasks():
    from benchmarks import dask_scheduler

    client = dask_scheduler.Client(dask_scheduler.scheduler_of(10))
    for _ in range(30):
        client.submit()
    processing = [len(worker.processing) for worker in client._state.workers.values()]
    assert min(processing) > 0 and sum(processing) + len(client._state.queued) == 30
    for _ in range(30):
        client.finish()
    assert not client._state.tasks
    assert all(seconds > 0 for seconds in dask_scheduler.simulated(2, 20))


_DEADLY = """
import os, signal
from tfg.core.registry.catalog import CATALOG
from tfg.core.registry.registry import kernel

CATALOG.register("DeadlyForTest(x: float) -> (y: float)")

@kernel("DeadlyForTest")
def deadly(x):
    os.kill(os.getpid(), signal.SIGKILL)
"""
_GRAPH = """
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "y" op: "DeadlyForTest" input: "x" }
"""


def test_workers_that_die_before_the_first_result_end_the_job(cluster, tmp_path):
    """The scheduler tries an input on four workers; the error names the last of them and the next step."""
    (tmp_path / "deadly.py").write_text(_DEADLY)
    (tmp_path / "g.pbtxt").write_text(_GRAPH)
    np.save(tmp_path / "i.npy", np.float32(1))
    words = [
        "--fetch",
        "y",
        "--each",
        tmp_path / "*.npy",
        "--op-library",
        tmp_path / "deadly.py",
        "--out-dir",
        tmp_path / "out",
    ]
    command = command_line("run", tmp_path / "g.pbtxt", *words, *on(cluster))
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1
    assert "error: i: 4 workers died of it, the last of them tcp://" in done.stderr, done.stderr
    assert "give the workers more memory, look into their logs, or run the input here: leave out --on" in done.stderr


def test_a_worker_that_dies_when_all_is_done_loses_nothing(cluster, job, monkeypatch):
    def closed(*_):
        raise distributed.comm.CommClosedError("Stream is closed")

    monkeypatch.setattr(distributed.Client, "unregister_worker_plugin", closed)
    done = run(*job, *on(cluster))
    assert done.code == 0 and f"{COUNT} results written" in done.err


def test_workers_read_groups_of_rows(cluster, tmp_path):
    arrow = pytest.importorskip("pyarrow", reason="the extra tfg[arrow] is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra tfg[arrow] is not installed")
    g = tfg.GraphBuilder()
    g.Square(g.Placeholder(dtype="float32", shape=[None], name="x"), name="y")
    tfg.save(g.graph, tmp_path / "g.pb")
    x = np.arange(5000, dtype=np.float32)
    parquet.write_table(arrow.table({"x": x}), tmp_path / "t.parquet", row_group_size=2000)
    words = ["run", tmp_path / "g.pb", "--fetch", "y", "--each", tmp_path / "t.parquet", "-o", tmp_path / "r.parquet"]
    done = run(*words, *on(cluster))
    assert done.code == 0 and "5,000 results written to 3 shards" in done.err, done.err
    shards = [parquet.read_table(path)["y"].to_numpy() for path in sorted(tmp_path.glob("r-*.parquet"))]
    assert list(map(len, shards)) == [2000, 2000, 1000]
    np.testing.assert_array_equal(np.concatenate(shards), x * x)
