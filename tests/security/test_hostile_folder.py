"""Modules beside a downloaded model are never imported, whatever process a command or a session starts.

The command `tfg` does not look for modules in the current folder. `python -P` does the same for the processes of these tests.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import tfg

pytestmark = pytest.mark.slow

CLI = ("-c", "from tfg.cli.main import main; main()")
ISOLATED = """
import numpy as np, tfg
from tfg.core.runtime.execute.limits import can_be_apart, run_apart
g = tfg.GraphBuilder()
node = g.MatrixInverse(g.Placeholder(dtype="float32", shape=[2, 2])).node
value = np.float32([[2, 0], [0, 4]])
assert can_be_apart(node, [value])
print(run_apart(node, [value], 60, 60).tolist())
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with a graph, inputs, and a module in place of each that Python or tfg may import; one that runs says so."""
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[2], name="x")
    g.AddV2(x, x, name="y")
    tfg.save(g.graph, tmp_path / "g.pb")
    for number in range(4):
        np.save(tmp_path / f"i{number}.npy", np.float32([number, 1]))
    installed = {name.partition(".")[0] for name in sys.modules} | {"scipy", "click", "rich", "google", "graphviz", "jax"}
    for name in installed | sys.stdlib_module_names:
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r} + ' ')\n")
    return tmp_path


def started(folder, *words):
    """What a program prints that runs in the folder; nothing of the folder ran."""
    done = subprocess.run([sys.executable, "-P", *words], cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert not (folder / "ran").exists(), (folder / "ran").read_text()
    return done.stdout


def test_a_kernel_in_a_process_of_its_own(folder):
    assert started(folder, "-c", ISOLATED) == "[[0.5, 0.0], [0.0, 0.25]]\n"


BATCH = """
import tfg
report = tfg.run_batch(tfg.load("g.pb"), "i*.npy", "y:0", parts={"x:0": ""}, output="r.npz", on="local:2")
print(report.done, len(report.failed))
"""


def test_processes_of_a_batch(folder):
    assert started(folder, "-c", BATCH) == "4 0\n"


WAYS = {
    "a time limit": ("run", "g.pb", "--feed", "x=[1,2]", "--fetch", "y", "--timeout", "60"),
    "a memory limit": ("run", "g.pb", "--feed", "x=[1,2]", "--fetch", "y", "--max-memory", "16GB"),
    "a pool": ("run", "g.pb", "--feed", "x=@each", "--fetch", "y", "--each", "i*.npy", "--out-dir", "out", "--on", "local:2"),
    "a test command": ("reduce", "g.pb", "--feed", "x=[1,2]", "--fetch", "y", "--test", "exit 1", "-o", "small.pbtxt"),
    "a drawing": ("draw", "g.pb", "-o", "g.svg"),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_command_that_starts_processes(way, folder):
    started(folder, *CLI, *WAYS[way])


def test_a_dask_cluster(folder):
    distributed = pytest.importorskip("distributed", reason="the extra tfg[dask] is not installed")
    with distributed.LocalCluster(1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        address = cluster.scheduler_address.replace("tcp://", "dask://")
        words = [word.replace("i*", f"{folder}/i*") for word in WAYS["a pool"][:-1]]  # the workers have another current folder
        started(folder, *CLI, *words, address)


def test_the_hostile_modules_would_run(folder):
    """The folder does hold what the others hold fast: with the current folder on the path, its modules run."""
    subprocess.run([sys.executable, "-c", "import numpy"], cwd=folder, capture_output=True, timeout=600)
    assert (folder / "ran").read_text()
