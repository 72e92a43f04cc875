"""Training on a mesh: the losses of a single device for every division of rows; lost processes, and resumed training."""

from __future__ import annotations

import os
import signal
import subprocess
import time

import numpy as np
import pytest

pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")
pytestmark = pytest.mark.engine

import tfg  # noqa: E402
from tests.cli.running import Outcome, command_line, process  # noqa: E402
from tests.core.engines.test_distributed import free_port  # noqa: E402
from tfg.core.building.builder import GraphBuilder  # noqa: E402

ALONE = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": ""}
_LIMIT = 600


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """The command line to train a network of two layers with random initial variables on 8 rows with labels."""
    folder, draws = tmp_path_factory.mktemp("mesh"), np.random.default_rng(0)
    b = GraphBuilder()
    x, y = b.Placeholder(dtype="float32", shape=[None, 5], name="x"), b.Placeholder(dtype="int64", shape=[None], name="y")
    for name, shape in (("w1", [5, 7]), ("w2", [7, 3])):
        start = b.RandomStandardNormal(np.int32(shape), dtype="float32")
        b.Assign(b.VariableV2(dtype="float32", shape=shape, name=name), start, name=f"{name}/Assign")
    hidden = b.Tanh(b.MatMul(x, b.graph.output("w1:0")))
    losses, _ = b.SparseSoftmaxCrossEntropyWithLogits(b.MatMul(hidden, b.graph.output("w2:0")), y)
    b.Mean(losses, np.int32([0]), name="loss")
    tfg.save(b.graph, folder / "graph.pb")
    np.save(folder / "x.npy", draws.standard_normal((8, 5)).astype("f"))
    np.save(folder / "y.npy", draws.integers(0, 3, 8))
    feeds = ("--feed", f"x=@{folder}/x.npy", "--feed", f"y=@{folder}/y.npy")
    return ("train", folder / "graph.pb", "--loss", "loss", *feeds, "--optimizer", "adam", "--lr", "0.05", "--format", "json",
            "--engine", "xla")  # fmt: skip


def losses(outcome):
    assert outcome.code == 0, outcome.err
    return {item["step"]: item["loss"] for item in outcome.json["history"]}


def started(words, *options, size=2):
    """Two processes that share a mesh; options of the second may differ, as a pair."""
    port, result = free_port(), []
    for index in (0, 1):
        own = [option[index] if isinstance(option, tuple) else option for option in options]
        mesh = ("--mesh", f"batch={size}", "--coordinator", f"127.0.0.1:{port}", "--processes", 2, "--process", index)
        line = command_line(*words, *own, *mesh)
        pipe = subprocess.PIPE
        result.append(subprocess.Popen(line, stdout=pipe, stderr=pipe, text=True, env=os.environ | ALONE))
    return result


def ended(process):
    out, err = process.communicate(timeout=_LIMIT)
    return Outcome(process.returncode, out, err)


def together(words, *options, size=2):
    return [ended(process) for process in started(words, *options, size=size)]


@pytest.fixture(scope="module")
def alone(words):
    """The losses of a single device."""
    return losses(process(*words, "--steps", 8, "--seed", 5, **ALONE))


def test_devices_of_one_process_give_the_losses_of_one(words, alone):
    step_losses = losses(process(*words, "--steps", 8, "--seed", 5, "--mesh", "batch=4", **ALONE))
    assert step_losses == pytest.approx(alone, rel=1e-6)


def test_two_processes_give_the_losses_of_one(words, alone):
    """Process 0 prints the losses, process 1 nothing. Each has two devices."""
    first, second = together(words, "--steps", 8, "--seed", 5, size=4)
    assert losses(first) == pytest.approx(alone, rel=1e-6)
    assert (second.code, second.out) == (0, "")


def test_without_a_seed_the_processes_draw_alike_and_resumed_they_go_on(words, tmp_path):
    """Two times 4 steps are 8, although the second start knows only the file of the first."""
    state = tmp_path / "s.npz"
    first, second = together(words, "--steps", 4, "--save-state", state, "--checkpoint-every", 2)
    begun = losses(first)
    assert second.code == 0
    (tmp_path / "copy.npz").write_bytes(state.read_bytes())
    resumed = losses(together(words, "--steps", 8, "--save-state", (state, tmp_path / "nowhere.npz"), "--resume")[0])
    straight = losses(process(*words, "--steps", 8, "--save-state", tmp_path / "copy.npz", "--resume", **ALONE))
    assert sorted(resumed) == [5, 6, 7, 8]
    assert resumed == pytest.approx(straight, rel=1e-6)
    assert resumed[5] < begun[4]
    assert not (tmp_path / "nowhere.npz").exists()


def killed(words, state, victim):
    """Return the results of two processes after process `victim` is killed behind a checkpoint."""
    processes = started(words, "--steps", 10**6, "--seed", 5, "--save-state", state, "--checkpoint-every", 1, size=4)
    deadline = time.monotonic() + _LIMIT
    while not state.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    processes[victim].send_signal(signal.SIGKILL)
    left = ended(processes[1 - victim])
    ended(processes[victim])
    assert left.code != 0
    return left


def test_a_lost_process_ends_the_other_and_both_resume(words, tmp_path):
    """Started again, they end with the losses of an undisturbed run."""
    state = tmp_path / "s.npz"
    assert "process 1 of 2 was lost" in killed(words, state, 1).err
    with np.load(state) as result:
        steps = int(result["_TRAINED_STEPS"])
    first, _ = together(words, "--steps", steps + 3, "--seed", 5, "--save-state", state, "--resume")
    resumed = losses(first)
    straight = losses(process(*words, "--steps", steps + 3, "--seed", 5, **ALONE))
    assert sorted(resumed) == [steps + 1, steps + 2, steps + 3]
    assert resumed == pytest.approx({step: straight[step] for step in resumed}, rel=1e-5)


def test_without_the_first_process_the_other_ends(words, tmp_path):
    """The process prints the error, or JAX is faster and the error line comes from JAX."""
    left = killed(words, tmp_path / "s.npz", 0)
    assert "process 0 of 2 was lost" in left.err or "process 1 of 2 was killed, or lost process 0" in left.err


def test_what_differs_between_the_processes_is_refused(words):
    for outcome in together(words, "--steps", ("3", "4")):
        assert outcome.code == 1
        assert "process 1 has another graph, feed or number of steps than process 0" in outcome.err


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--mesh", "batch=3"), "the 8 rows of a step cannot be divided among 3 devices"),
        (("--mesh", "batch=2", "--batch", 3), "the 3 rows of a step cannot be divided among 2 devices"),
    ],
)
def test_rows_that_cannot_be_divided_are_refused(words, options, problem):
    done = process(*words, *options, **ALONE)
    assert done.code == 1
    assert problem in done.err


def test_a_step_without_rows_is_refused(words, tmp_path):
    """Every device would do the same."""
    b = GraphBuilder()
    b.Assign(b.VariableV2(dtype="float32", shape=[3], name="w"), np.float32([1, 2, 3]), name="w/Assign")
    b.Sum(b.Square(b.graph.output("w:0")), np.int32([0]), name="loss")
    tfg.save(b.graph, tmp_path / "g.pb")
    done = process("train", tmp_path / "g.pb", "--loss", "loss", "--engine", "xla", "--mesh", "batch=2", **ALONE)
    assert done.code == 1
    assert "the devices share no work of a step: no rows go to XLA" in done.err


def test_more_devices_than_there_are(words):
    done = process(*words, "--mesh", "batch=4", **ALONE | {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"})
    assert done.code == 1
    assert "a mesh needs 4 devices in each process; process 0 has 2 (cpu)" in done.err
