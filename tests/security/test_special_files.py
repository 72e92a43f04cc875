"""Pipes, devices, sockets and circles of links where a file belongs: an error at once, and nothing of theirs is read."""

from __future__ import annotations

import ast
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES, command_line
from tests.cli.running import tfg as run
from tests.sources import nodes_of

SCALER = SAMPLES / "scaler_saved_model"
SECONDS = 300
"""A reader that blocks or never ends is stopped after this time."""

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")


def _pipe(path: pathlib.Path) -> None:
    os.mkfifo(path)


def _link_to_pipe(path: pathlib.Path) -> None:
    os.mkfifo(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def _device(path: pathlib.Path) -> None:
    path.symlink_to("/dev/zero")


def _socket(path: pathlib.Path) -> None:
    old = os.getcwd()
    os.chdir(path.parent)  # the name of a socket has at most 108 bytes
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(old)


SPECIAL = {"pipe": _pipe, "link to a pipe": _link_to_pipe, "device": _device, "socket": _socket}


@pytest.fixture(autouse=True)
def _deadline():
    def late(*_):
        raise TimeoutError("a special file is being read")

    old = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, old)


@pytest.fixture
def files(tmp_path):
    """A graph with an input of floats and one of strings, a SavedModel with an asset, a state in both forms, and inputs."""
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[None], name="x")
    g.AddV2(x, x, name="y")
    g.Identity(g.Placeholder(dtype="string", shape=[], name="s"), name="text")
    tfg.save(g.graph, tmp_path / "g.pb")
    shutil.copytree(SCALER, tmp_path / "model")
    (tmp_path / "model" / "assets").mkdir()
    (tmp_path / "model" / "assets" / "words.txt").write_text("a")
    for name in ("x.npy", "each.npy"):
        np.save(tmp_path / name, np.float32([1, 2]))
    np.savez(tmp_path / "state.npz", v=np.float32(1))
    for name in ("x.bytes", "x.tfrecord", "each.jsonl", "a.tfrecord", "metadata.pb"):
        (tmp_path / name).touch()
    return tmp_path


READS = {
    "g.pb": ("explain", "{}/g.pb"),
    "model/saved_model.pb": ("explain", "{}/model"),
    "model/variables/variables.index": ("run", "{}/model", "--feed", "x=[[1,2]]"),
    "model/variables/variables.data-00000-of-00001": ("run", "{}/model", "--feed", "x=[[1,2]]"),
    "model/assets/words.txt": ("run", "{}/model", "--save-model", "{}/out"),
    "x.npy": ("run", "{}/g.pb", "--fetch", "y", "--feed", "x=@{}/x.npy"),
    "x.bytes": ("run", "{}/g.pb", "--fetch", "text", "--feed", "s=@{}/x.bytes"),
    "x.tfrecord": ("run", "{}/g.pb", "--fetch", "text", "--feed", "s=@{}/x.tfrecord"),
    "state.npz": ("checkpoint", "{}/state.npz"),
    "each.npy": ("run", "{}/g.pb", "--fetch", "y", "--feed", "x=@each", "--each", "{}/each.npy", "--out-dir", "{}/out"),
    "each.jsonl": ("run", "{}/g.pb", "--fetch", "y", "--feed", "x=@each", "--each", "{}/each.jsonl", "--out-dir", "{}/out"),
    "a.tfrecord": ("run", "{}/g.pb", "--fetch", "text", "--feed", "s=@each", "--each", "{}/a.tfrecord", "--out-dir", "{}/out"),
    "metadata.pb": ("flops", "{}/g.pb", "--fetch", "y", "--feed", "x=[1]", "--measured", "--run-metadata", "{}/metadata.pb"),
}
"""What reads each file of the folder."""
NAMED = ("g.pb", "x.bytes", "x.tfrecord")
"""The inputs that may be pipes; one that nobody writes to is empty."""


@pytest.mark.sampled(10)
@pytest.mark.parametrize("special", SPECIAL)
@pytest.mark.parametrize("name", READS)
def test_a_special_file_is_no_input(name, special, files):
    (files / name).unlink()
    SPECIAL[special](files / name)
    done = run(*(word.format(files) for word in READS[name]))
    if name in NAMED and "pipe" in special:
        return  # its contents decide, and it did not block
    assert done.code in (1, 2) and not done.out, (done.out, done.err)
    assert not (files / "out").exists() or not any((files / "out").iterdir())


def test_a_folder_may_hold_no_circle_of_links(files):
    assets = files / "model" / "assets"
    for name in ("one", "two"):
        (assets / name).symlink_to(".")
    done = run("run", files / "model", "--save-model", files / "out")
    assert done.code == 1 and "is a link to a folder" in done.err


@pytest.mark.parametrize(("depth", "code"), [(60, 0), (70, 1)])
def test_folders_are_nested_only_so_deep(depth, code, files):
    files.joinpath("model", "assets", *["d"] * depth).mkdir(parents=True)
    done = run("run", files / "model", "--save-model", files / "out")
    assert done.code == code, done.err
    assert files.joinpath("out", "assets", *["d"] * depth).is_dir() == (code == 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_a_graph_may_come_from_a_pipe(name):
    graph = (SAMPLES / "xor.pbtxt").read_bytes()
    done = subprocess.run(command_line("dump", name), input=graph, capture_output=True, timeout=600)
    assert (
        done.returncode == 0
        and done.stdout
        == subprocess.run(command_line("dump", str(SAMPLES / "xor.pbtxt")), capture_output=True, timeout=600).stdout
    )


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="the program 'bash' is not installed")
def test_a_graph_may_come_from_a_shells_process_substitution():
    words = " ".join(f"'{word}'" for word in command_line("dump"))
    done = subprocess.run(["bash", "-c", f"{words} <(cat {SAMPLES / 'xor.pbtxt'})"], capture_output=True, timeout=600)
    assert done.returncode == 0 and b"MatMul" in done.stdout


def test_a_stream_without_end_is_an_error(monkeypatch, files):
    monkeypatch.setattr("tfg.core.support.regular_files.STREAM_LIMIT", 1 << 20)
    code = "import sys\nwhile True: sys.stdout.buffer.write(bytes(65536))"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as endless:
        done = run("dump", f"/proc/self/fd/{endless.stdout.fileno()}")
        endless.kill()
    assert done.code == 1 and "has more than 1,048,576 bytes" in done.err


OWN = {
    "cli/commands/samples.py",
    "core/registry/op_facts.py",
    "formats/api/verification.py",
    "cli/main.py",
    "core/engines/remembered_choices.py",
    "core/engines/lowerable.py",
    "core/graph/foreign_ops.py",
    "core/op_libraries/entry_points.py",
    "core/registry/catalog.py",
    "core/registry/op_history.py",
    "core/runtime/execute/openblas_kernels.py",
    "core/runtime/execute/process_limits.py",
    "core/support/atomic.py",
    "core/support/file_groups.py",
    "core/support/regular_files.py",
    "formats/page/writing.py",
    "formats/batches/each_pool.py",
    "formats/tfjs.py",
}
"""The modules that open only files of tfg itself, of installed packages and of /proc, and files that they just wrote."""


def _reads(path: pathlib.Path) -> list[int]:
    """The lines in which a module opens a file for reading by Python's `open`."""
    if "open(" not in path.read_text(encoding="utf-8"):
        return []
    calls = [node for node in nodes_of(path) if isinstance(node, ast.Call)]
    opens = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "open"]
    return [call.lineno for call in opens if not re.search("'[wxa]", "".join(map(ast.unparse, call.args[1:])))]


@pytest.mark.slow
def test_one_door_opens_files():
    root = pathlib.Path(tfg.__file__).parent
    sources = [path for part in ("cli", "core", "formats") for path in (root / part).rglob("*.py")]
    assert {path.relative_to(root).as_posix() for path in sources if _reads(path)} == OWN
