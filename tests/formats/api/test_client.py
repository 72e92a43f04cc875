"""A program that uses tfg as a library: it runs, and mypy --strict finds nothing in it."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys

import tfg

CLIENT = pathlib.Path(__file__).with_name("client.py")
ROOT = pathlib.Path(tfg.__file__).parent


def test_the_client_runs():
    done = subprocess.run([sys.executable, CLIENT], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "nearest names: y" in done.stdout


def test_the_client_is_typed(tmp_path):
    (tmp_path / "tfg").symlink_to(ROOT)
    shutil.copy(CLIENT, tmp_path)
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--config-file=", "client.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "checked 1 source file" in done.stdout or "no issues found in 1 source file" in done.stdout, done.stderr
    assert not [line for line in done.stdout.splitlines() if line.startswith("client.py")]
