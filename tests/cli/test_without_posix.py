"""The first commands of a user, and all commands that write files, work without POSIX functions, as on Windows."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES

pytestmark = pytest.mark.slow

WINDOWS = """
import faulthandler, os, signal, sys

for module in ("fcntl", "resource", "termios", "pwd", "grp", "pty", "tty"):
    sys.modules[module] = None
LACKING = {
    os: "fork register_at_fork geteuid getuid setsid killpg O_DIRECTORY O_NOFOLLOW O_NONBLOCK O_NOCTTY O_CLOEXEC "
        "sched_getaffinity mkfifo pread pwrite preadv sysconf fchmod chown memfd_create posix_fadvise statvfs nice",
    signal: "SIGALRM SIGKILL SIGUSR1 SIGUSR2 SIGHUP setitimer ITIMER_REAL pthread_sigmask alarm",
    faulthandler: "register",
}
for module, names in LACKING.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)


def refusing_open_files(function):
    def checked(path, *others, **options):
        opened = {os.path.realpath(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")}
        if os.path.realpath(path) in opened:
            raise PermissionError(13, "The process cannot access the file because it is being used by another process", path)
        return function(path, *others, **options)
    return checked


def renaming_over_nothing(source, target, rename=os.rename):
    if os.path.exists(target):
        raise FileExistsError(17, "Cannot create a file when that file already exists", target)
    rename(source, target)


os.replace, os.link, os.unlink = map(refusing_open_files, (os.replace, os.link, os.unlink))
os.rename = renaming_over_nothing

from tfg.cli.main import main

main(sys.argv[1:])
"""
needs_proc = pytest.mark.skipif(not pathlib.Path("/proc/self/fd").exists(), reason="other systems: finds open files by /proc")


def windows(folder: pathlib.Path, *arguments: object) -> None:
    """Run the command line as on Windows."""
    command = [sys.executable, "-c", WINDOWS, *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr


@needs_proc
@pytest.mark.slow
def test_variables_models_and_graphs_are_written_and_written_again(tmp_path):
    xor = ("--init", "--target", "train", "--fetch", "loss", "--steps", "2")
    xor = (SAMPLES / "xor.pbtxt", *xor, "--feed", "x=[[0,0],[0,1],[1,0],[1,1]]", "--feed", "y=[[0],[1],[1],[0]]")
    for name in ("xor.npz", "xor", "xor.ckpt"):
        windows(tmp_path, "run", *xor, "--save-state", name)
    windows(tmp_path, "run", *xor, "--save-state", "xor")
    assert len(np.load(tmp_path / "xor.npz").files) == 15
    (tmp_path / "model").mkdir()
    windows(tmp_path, "convert", SAMPLES / "scaler_saved_model", "model")
    assert set(tfg.load(tmp_path / "model").meta.signatures) == {"index", "serving_default"}
    for _ in range(2):
        windows(tmp_path, "convert", "model", "graph.pb")
    assert len(tfg.load(tmp_path / "graph.pb"))
    assert not list(tmp_path.glob("*.tmp"))


@needs_proc
@pytest.mark.parametrize(
    "words",
    [("dump", "{}"), ("explain", "{}"), ("check", "{}"), ("flops", "{}", "--fetch", "loss"), ("draw", "{}", "-o", "x.svg"),
     ("view", "{}"), ("optimize", "{}", "--fetch", "loss", "-o", "x.pb"), ("samples", "--output", "samples"), ("--help",),
     ("grad", "{}", "--y", "loss", "--x", "x"), ("ops", "MatMul"), ("diff", "{}", "{}")],
    ids=lambda words: words[0],
)  # fmt: skip
def test_commands(words, tmp_path):
    windows(tmp_path, *(word.replace("{}", str(SAMPLES / "xor.pbtxt")) for word in words))
