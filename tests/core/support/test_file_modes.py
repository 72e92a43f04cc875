"""A replaced file keeps the permissions, and the new file has the permissions from the start."""

from __future__ import annotations

import os
import stat

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tfg.core.runtime.state.file_access import OPEN
from tfg.core.support import atomic
from tfg.core.types.tensors import Tensor
from tfg.formats import write_checkpoint
from tfg.formats.checkpoint.store import write_v1
from tfg.formats.codecs.numpy_files import write_npz

VALUE = Tensor.from_numpy(np.float32([1, 2]))
WRITERS = {
    "graph": lambda path: tfg.save(tfg.load(SAMPLES / "xor.pbtxt"), path.with_suffix(".pb")),
    "text": lambda path: tfg.save(tfg.load(SAMPLES / "xor.pbtxt"), path.with_suffix(".pbtxt")),
    "npz": lambda path: write_npz(path.with_suffix(".npz"), {"v": VALUE}),
    "checkpoint": lambda path: write_checkpoint(path, {"v": VALUE}),
    "V1 checkpoint": lambda path: write_v1(str(path), [("v", (2,), None, VALUE)], OPEN),
}

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no permissions of this kind")


def _modes(folder):
    return {name: stat.S_IMODE(os.stat(folder / name).st_mode) for name in os.listdir(folder)}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o666])
@pytest.mark.parametrize("writer", WRITERS)
def test_permissions_stay(writer, mode, tmp_path, monkeypatch):
    WRITERS[writer](tmp_path / "out")
    for name in os.listdir(tmp_path):
        os.chmod(tmp_path / name, mode)
    seen, fsync = [], os.fsync

    def noting(descriptor):
        seen.append(_modes(tmp_path))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noting)
    old = os.umask(0o022)
    try:
        WRITERS[writer](tmp_path / "out")
    finally:
        os.umask(old)
    assert any(name.endswith(".tmp") for modes in seen for name in modes)
    assert {result for modes in [*seen, _modes(tmp_path)] for result in modes.values()} == {mode}


def test_nobody_else_may_read_it_while_it_is_made(tmp_path, monkeypatch):
    """Between creation and the change of permissions, only the owner may open the file."""
    target = tmp_path / "out"
    target.touch(0o644)
    created = []
    monkeypatch.setattr(os, "chmod", lambda path, mode: created.append((stat.S_IMODE(os.stat(path).st_mode), mode)))
    with atomic.atomic_file(target):
        pass
    assert created == [(0o600, 0o644)]
