"""`--untrusted`, TFG_UNTRUSTED and `tfg.load(untrusted=True)`: what they close, and what they refuse."""

from __future__ import annotations

import socket
import subprocess
import sys

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES, process
from tests.cli.running import tfg as run
from tfg.core.inference.binding import select_kernel
from tfg.core.registry.catalog import CATALOG
from tfg.core.support.errors import DeadlineExceededError, PermissionDeniedError
from tfg.core.support.untrusted import untrusted_process

COUNTDOWN = SAMPLES / "countdown.pbtxt"
XOR = SAMPLES / "xor.pbtxt"
SHORT = """
from tfg.core.runtime.execute import limits
from tfg.cli.main import main
limits.UNTRUSTED_SECONDS = 1.0
main()
"""
"""The command line with a shorter limit."""
LONG = ("--init", "--fetch", "take", "--steps", 10**9, "--fetch-every", 10**9, "--quiet")


@pytest.mark.slow
def test_a_command_does_what_it_does_without():
    plain = process("run", SAMPLES / "collatz.pbtxt", "--fetch", "steps", "--feed", "n=27")
    for words, environment in ((["--untrusted", "run"], {}), (["run", "--untrusted"], {}), (["run"], {"TFG_UNTRUSTED": "1"})):
        done = process(*words, SAMPLES / "collatz.pbtxt", "--fetch", "steps", "--feed", "n=27", **environment)
        assert (done.code, done.out, done.err) == (0, plain.out, "")
    plain = process("explain", XOR).out
    assert process("--untrusted", "explain", XOR).out == plain.replace("\ntfg ", "\ntfg --untrusted ")
    assert "\ntfg --untrusted run " in process("--untrusted", "run", XOR).out
    assert process("--untrusted", "run", SAMPLES / "scaler_saved_model", "--feed", "x=[[1, 2]]").code == 0


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--allow-files", "."], "--untrusted excludes --allow-files: the graph reads no files but its own"),
        (["--op-library", "x.py"], "--untrusted excludes --op-library: an op library is a program"),
        (["--on", "grpc://localhost:1"], "--untrusted excludes --on: the network is closed"),
    ],
)
def test_an_option_that_contradicts_is_refused_with_the_reason(options, reason):
    done = run("--untrusted", "run", XOR, "--fetch", "loss", *options)
    assert done.code == 2 and reason in done.err


@pytest.mark.slow
def test_time_has_a_limit():
    command = [sys.executable, "-P", "-c", SHORT, "--untrusted", "run", COUNTDOWN, *map(str, LONG)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 1 and "time limit of 1 seconds" in done.stderr
    done = process("--untrusted", "run", COUNTDOWN, *LONG, "--timeout", "0.5")
    assert done.code == 1 and "time limit of 0.5 seconds" in done.err


@pytest.mark.slow
def test_memory_has_a_limit(tmp_path):
    g = tfg.GraphBuilder()
    g.Fill(g.Placeholder(dtype="int32", shape=[2], name="size"), g.constant(1.0), name="ones")
    tfg.save(g.graph, tmp_path / "g.pb")
    done = process("--untrusted", "run", tmp_path / "g.pb", "--fetch", "ones", "--feed", "size=[100000, 100000]")
    assert done.code == 1 and "memory" in done.err


def test_a_system_without_the_limits_refuses_the_switch(monkeypatch, tmp_path):
    monkeypatch.setattr("tfg.core.runtime.execute.process_limits._PAGES", str(tmp_path / "none"))
    done = run("--untrusted", "explain", XOR)
    assert (done.code, done.out) == (1, "") and "a memory limit of a process needs Linux" in done.err


@pytest.mark.slow
def test_the_network_is_closed():
    done = process("--untrusted", "cluster", "grpc://localhost:1")
    assert done.code == 1 and "untrusted: the network is closed" in done.err
    with untrusted_process(), pytest.raises(PermissionDeniedError), socket.socket() as made:
        made.connect(("127.0.0.1", 1))
    with pytest.raises(ConnectionRefusedError), socket.socket() as made:
        made.connect(("127.0.0.1", 1))


def test_programs_do_not_run(tmp_path):
    (tmp_path / "ops.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    with untrusted_process():
        for start in (tfg.load_op_library, tfg.run_script):
            with pytest.raises(PermissionDeniedError, match=r"untrusted: the .* is a program"):
                start(str(tmp_path / "ops.py"))
    assert not (tmp_path / "ran").exists()


def test_sessions_on_an_untrusted_graph_have_limits(monkeypatch):
    graph = tfg.load(COUNTDOWN, untrusted=True)
    for each in (graph, graph.copy()):
        with pytest.raises(tfg.errors.InvalidArgumentError, match="untrusted=True"):
            tfg.Session(each, files=tfg.FileAccess.everything())
    monkeypatch.setattr("tfg.core.runtime.execute.limits.UNTRUSTED_SECONDS", 1e-9)
    with pytest.raises(DeadlineExceededError):
        tfg.Session(graph.copy()).run("take:0")


def test_memory_of_an_untrusted_graph_is_limited(tmp_path):
    g = tfg.GraphBuilder()
    g.Fill(g.Placeholder(dtype="int32", shape=[2], name="size"), g.constant(1.0), name="ones")
    tfg.save(g.graph, tmp_path / "g.pb")
    session = tfg.Session(tfg.load(tmp_path / "g.pb", untrusted=True))
    with pytest.raises(tfg.errors.ResourceExhaustedError):
        session.run("ones:0", {"size:0": np.int32([100_000, 100_000])})


@pytest.mark.slow
def test_processes_of_a_batch_are_untrusted_too(tmp_path):
    """The processes of this machine are no network; each of them refuses what the command refuses."""
    (tmp_path / "in").mkdir()
    for name in ("a", "b"):
        np.savez(tmp_path / "in" / f"{name}.npz", n=np.int32(27))
    words = ["run", SAMPLES / "collatz.pbtxt", "--fetch", "steps", "--each", tmp_path / "in/*.npz", "--on", "local:1"]
    done = process("--untrusted", *words, "--out-dir", tmp_path / "out")
    assert done.code == 0, done.err
    assert {path.name for path in (tmp_path / "out").glob("*.npz")} == {"a.npz", "b.npz"}


def test_a_process_that_works_on_a_stranger_stays_untrusted():
    code = (
        "import socket; from tfg.core.support.untrusted import keep_untrusted; keep_untrusted(); "
        "socket.socket().connect(('127.0.0.1', 1))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=600)
    assert "untrusted: the network is closed to 'socket.connect'" in done.stderr


def test_no_op_library_computes_a_node_of_an_untrusted_graph():
    """Neither in a session nor where `select_kernel` serves a pass."""
    tfg.load_op_library(str(SAMPLES / "skipgram_ops.py"))
    custom = set(CATALOG.custom())
    graph = tfg.load(SAMPLES / "skipgram.pbtxt", untrusted=True)
    node = next(node for node in graph if node.op in custom)
    for computes in (lambda: tfg.Session(graph).run(node.output()), lambda: select_kernel(node)):
        with pytest.raises(tfg.errors.InvalidArgumentError, match="so no op library computes it"):
            computes()
    assert select_kernel(tfg.load(SAMPLES / "skipgram.pbtxt")[node.name])
