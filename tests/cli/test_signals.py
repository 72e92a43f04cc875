"""Ctrl-C and SIGTERM at the n-th import and at the n-th system call of a writer: no traceback, no file left, 130 and 143."""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
import time

import pytest

from tests.cli.running import SAMPLES, command_line

XOR, KERAS, SQUARE = (SAMPLES / name for name in ("xor.pbtxt", "keras_classifier", "square.pbtxt"))
SIGNALS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
# As the script of `tfg`, with a hook that sends the signal; 0 sends none, and the count goes to a file.
_SCRIPT = """
import _signal, os, sys
_signal.signal(_signal.SIGINT, _signal.default_int_handler)  # a shell starts jobs in the background without it
number, at, counted, *sys.argv = sys.argv[1:]
events, count = sys.argv.pop(0).split(), 0
def hook(event, arguments):
    global count
    if event in events and not (event == "open" and str(arguments[0]) == counted):
        count += 1
        if count == int(at):
            os.kill(os.getpid(), int(number))
sys.argv = ["/bin/tfg", *sys.argv]
exit = os._exit
def finish(code):
    open(counted, "w").write(str(count))
    exit(code)
if at == "0":
    os._exit = finish
sys.addaudithook(hook)
from tfg.__main__ import main
main()
"""
_WRITES = "open os.rename os.remove os.chmod os.mkdir os.rmdir os.listdir fcntl.flock"
FEEDS = ["--feed", "x=[[0,1]]", "--feed", "y=[[1]]"]
WRITERS = {
    "convert": ["convert", XOR, "out/g.pb"],
    "optimize": ["optimize", XOR, "--fetch", "loss", "-o", "out/g.pbtxt"],
    "npz": ["run", SQUARE, "--init", "--target", "sgd", "--save-state", "out/state.npz"],
    "checkpoint": ["run", SQUARE, "--init", "--target", "sgd", "--save-state", "out/state"],
    "model": ["run", SQUARE, "--init", "--target", "sgd", "--fetch", "loss", "--save-model", "out/model"],
    "folder": ["run", SQUARE, "--init", "--fetch", "var", "--sweep", "var=1,2,3", "--out-dir", "out/results"],
    "draw": ["draw", XOR, "-o", "out/g.dot"],
    "view": ["view", XOR, "-o", "out/g.html"],
    "samples": ["samples", "-o", "out/samples"],
    "train": [
        "train",
        XOR,
        "--loss",
        "loss",
        "--steps",
        "3",
        "--feed",
        "x=[[0,1]]",
        "--feed",
        "y=[[1]]",
        "--save-state",
        "out/s",
    ],
}


def ended(folder, number, at, events, *words):
    """Return the process of a command in a new folder that gets a signal at an event, and the number of events before."""
    (folder / "out").mkdir(parents=True)
    counted = folder / "count"
    command = [sys.executable, "-P", "-c", _SCRIPT, str(int(number)), str(at), str(counted), events, *map(str, words)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    return done, int(counted.read_text()) if at == 0 else at


def spread(first, count, times):
    """Return at most a number of places from the first to the last."""
    return sorted({first + place * (count - first) // (times - 1) for place in range(times)})


def assert_quiet(done, number, folder):
    """The command was finished, or ended without a traceback; no file with a name of its own is left beside its output."""
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr, done.stderr
    assert done.returncode in (128 + number, 0), (done.returncode, done.stderr)
    assert done.returncode == 0 or SIGNALS[number] in done.stderr
    assert [path for path in folder.rglob("*") if ".tmp" in path.name] == []


@pytest.mark.slow
def test_a_signal_at_any_import_ends_the_command(tmp_path):
    words = ["optimize", XOR, "--fetch", "loss", "-o", "out/g.pb"]
    _, count = ended(tmp_path / "0", signal.SIGINT, 0, "import", *words)
    assert count > 100
    for at, number in zip(spread(count // 10, count, 10), itertools.cycle(SIGNALS)):
        done, _ = ended(tmp_path / str(at), number, at, "import", *words)
        assert_quiet(done, number, tmp_path / str(at))
        assert done.returncode != 0 or (tmp_path / str(at) / "out/g.pb").exists()


@pytest.mark.slow
@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_imports_of_the_package_end_without_a_traceback(number, tmp_path):
    """Before the package has a handler for its message, the system ends the process."""
    for at in range(8, 44, 5):  # before, Python itself finds the file of the package
        done, _ = ended(tmp_path / str(at), number, at, "import", "--version")
        assert "Traceback" not in done.stderr, (at, done.stderr)
        assert done.returncode in (128 + number, -number)


@pytest.mark.slow
@pytest.mark.parametrize("writer", WRITERS)
def test_a_signal_while_writing_leaves_no_file(writer, tmp_path):
    words = WRITERS[writer]
    done, count = ended(tmp_path / "0", signal.SIGINT, 0, _WRITES, *words)
    assert done.returncode == 0, done.stderr
    for at, number in zip(range(max(count - 9, 1), count + 1, 3), itertools.cycle(SIGNALS)):
        done, _ = ended(tmp_path / str(at), number, at, _WRITES, *words)
        assert_quiet(done, number, tmp_path / str(at))


@pytest.mark.slow
@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_the_processes_of_a_batch(number, tmp_path):
    words = ["--init", "--fetch", "var", "--sweep", f"var={','.join(map(str, range(400)))}", "--on", "local:2"]
    command = command_line("run", SQUARE, *words, "--out-dir", tmp_path / "out")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        while running.poll() is None and not list(tmp_path.glob("out/*")):
            time.sleep(0.01)
        running.send_signal(number)
        _, err = running.communicate(timeout=600)
    assert running.returncode in (128 + number, 0) and "Traceback" not in err
    assert not list(tmp_path.glob("out/*.tmp*"))


@pytest.mark.slow
def test_a_process_that_begins_after_its_job_ended_is_quiet(tmp_path):
    """The signal came between its start and its first lines: the folder of the job is removed."""
    code = f"from tfg.formats.batches.each_pool import serve; serve({str(tmp_path / 'removed')!r}, 0)"
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([sys.executable, "-P", "-c", code], text=True, **pipes) as running:
        running.wait(timeout=600)
        assert (running.stdout.read(), running.stderr.read(), running.returncode) == ("", "", 0)


def test_an_ignored_signal_stays_ignored():
    """`nohup tfg ...` and `trap "" INT` in a script."""
    code = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); import os; os.execv({0!r}, {1!r})"
    script = "import sys; sys.argv = ['tfg']; import tfg, signal; assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN"
    command = [sys.executable, "-P", "-c", code.format(sys.executable, [sys.executable, "-P", "-c", script])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_program_that_imports_tfg_keeps_its_handlers():
    script = "import signal; before = signal.getsignal(2), signal.getsignal(15); import tfg, tfg.cli.main; "
    script += "assert (signal.getsignal(2), signal.getsignal(15)) == before"
    done = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")
