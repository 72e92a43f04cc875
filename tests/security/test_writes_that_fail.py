"""Full disks, file-size limits and folders that cannot be written: one error, the old file as it was, nothing left behind."""

from __future__ import annotations

import os
import pathlib
import resource
import shutil
import subprocess
import sys

import pytest

from tests.children import fork_to
from tests.security import kills

_LIMIT = 1 << 12
_WRITE_ALL = """
import pathlib, sys
from tests.security import kills
from tfg.core.support.errors import TfgError
for name, writer in kills.WRITERS.items():
    try:
        writer.write(pathlib.Path(sys.argv[1]) / name, 2)
        print("wrote", name)
    except TfgError as error:
        print(type(error).__name__)
"""


def _write(name: str, folder: pathlib.Path, limit: int = -1) -> str:
    """The error of a writer in a process of its own, whose files may not be larger than the limit."""
    ours, theirs = os.pipe()

    def write() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        os.write(theirs, _outcome(name, folder).encode())

    child = fork_to(write)
    os.close(theirs)
    with open(ours) as outcome:
        result = outcome.read()
    os.waitpid(child, 0)
    return result


def _outcome(name: str, folder: pathlib.Path) -> str:
    try:
        kills.WRITERS[name].write(folder, 2)
    except BaseException as error:
        return type(error).__name__
    return "written"


def _names(folder: pathlib.Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != "fill")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", kills.WRITERS)
def test_file_size_limit(name, tmp_path):
    kills.WRITERS[name].write(tmp_path, 1)
    before = _names(tmp_path)
    limit = 100 if name == "gzip" else _LIMIT
    assert _write(name, tmp_path, limit) == "ResourceExhaustedError"
    assert kills.WRITERS[name].read(tmp_path) == 1
    assert _names(tmp_path) == before


@pytest.fixture
def small_disk(tmp_path):
    """A file system with room for one file, if this user may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "none", folder]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("this user cannot mount a small file system")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", kills.WRITERS)
def test_full_disk(name, small_disk):
    kills.WRITERS[name].write(small_disk, 1)
    before = _names(small_disk)
    with open(small_disk / "fill", "wb", buffering=0) as fill:
        for size in (4096, 1):
            try:
                while fill.write(bytes(size)):
                    pass
            except OSError:  # no room is left
                continue
    assert _write(name, small_disk) == "ResourceExhaustedError"
    assert kills.WRITERS[name].read(small_disk) == 1
    assert _names(small_disk) == before


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() == 0 and shutil.which("setpriv") is None, reason="the program 'setpriv' is not installed")
def test_read_only_folders(tmp_path):
    for name, writer in kills.WRITERS.items():
        (tmp_path / name).mkdir()
        writer.write(tmp_path / name, 1)
    before = {name: _names(tmp_path / name) for name in kills.WRITERS}
    for folder in tmp_path.iterdir():
        folder.chmod(0o555)
    line = [sys.executable, "-c", _WRITE_ALL, str(tmp_path)]
    if os.geteuid() == 0:  # without the capabilities that let root write everywhere
        line = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all", "--", *line]
    done = subprocess.run(line, capture_output=True, text=True, timeout=600)
    for name, writer in kills.WRITERS.items():
        (tmp_path / name).chmod(0o755)
        assert writer.read(tmp_path / name) == 1
    assert done.stdout.split() == ["PermissionDeniedError"] * len(kills.WRITERS), done.stdout + done.stderr
    assert {name: _names(tmp_path / name) for name in kills.WRITERS} == before
