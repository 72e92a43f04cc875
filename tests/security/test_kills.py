"""A killed writer loses nothing, and two writers at once leave what one of them wrote."""

from __future__ import annotations

import concurrent.futures
import itertools
import os
import signal
import time

import numpy as np
import pytest

import tfg
from tests.children import fork_to
from tests.cli.running import SAMPLES
from tests.security import kills
from tfg.cli.main import run
from tfg.formats import open_checkpoint, write_checkpoint
from tfg.formats.checkpoint.bundle import read_index


@pytest.mark.parametrize("name", kills.WRITERS)
@pytest.mark.slow
def test_kills(name, tmp_path):
    kills.survive(name, tmp_path, 24)


@pytest.mark.slow
def test_a_kill_at_every_call(tmp_path):
    """The bundle between its two swaps is one that names a shard too many, and so is found by readers and the next writer."""
    writer = kills.WRITERS["V2"]
    counts = set()
    for moment in range(200):
        writer.write(tmp_path, 1)
        killed = kills.killed_at_call(writer, tmp_path, 2, moment)
        assert writer.read(tmp_path) in (1, 2)
        counts.add(read_index(str(tmp_path / "f"))[0].num_shards)
        if not killed:
            break
    assert not killed and counts == {1, 2}


@pytest.mark.slow
def test_a_saved_model_appears_whole(tmp_path):
    """Kills before every third call leave no model, and of what they left the next writer leaves nothing."""
    source, out = SAMPLES / "scaler_saved_model", tmp_path / "out"
    command = ["run", str(source), "--quiet", "--save-model"]
    assert run([*command, str(tmp_path / "first")]) == 0  # imports what children would
    writer = kills.Writer(lambda folder, _: run([*command, str(out)]), lambda folder: 0)
    for moment in itertools.count(0, 3):
        if not kills.killed_at_call(writer, tmp_path, 0, moment):
            break
        assert not out.exists() or tfg.load(str(out)).meta
    assert moment > 15 and sorted(path.name for path in tmp_path.iterdir()) == ["first", "out"]
    assert tfg.load(str(out)).meta.objects == tfg.load(str(source)).meta.objects


@pytest.mark.slow
@pytest.mark.parametrize("version", [1, 2])
def test_two_writers_and_a_reader(version, tmp_path):
    def write(generation):
        write_checkpoint(tmp_path / "f", {name: np.full(3000, generation) for name in "abc"}, version)

    write(0)
    children = []
    for number in (1, 2):
        children.append(fork_to(lambda number=number: [write(number) for _ in itertools.count()]))
    try:
        seen = {_read(tmp_path / "f") for _ in range(150)}
        end = time.monotonic() + 300  # a busy machine may let one of them wait
        while not {1, 2} <= seen and time.monotonic() < end:
            seen.add(_read(tmp_path / "f"))
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    assert {1, 2} <= seen
    assert _read(tmp_path / "f") in (1, 2)


@pytest.mark.slow
def test_threads_that_write_one_prefix(tmp_path):
    def write(number):
        for _ in range(15):
            write_checkpoint(tmp_path / "f", {name: np.full(3000, number) for name in "abc"})

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(write, (1, 2, 3, 4)))
    assert _read(tmp_path / "f") in (1, 2, 3, 4)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f.data-00000-of-00001", "f.index"]


def _read(prefix):
    reader = open_checkpoint(prefix)
    values = {value for name in "abc" for value in np.unique(reader.read(name)).tolist()}
    assert len(values) == 1
    return values.pop()


def test_leftovers_of_others_stay(tmp_path):
    """Only what a writer of this very file left, and nobody writes any more, is removed."""
    (tmp_path / "f.123-0.tmp").write_text("left")
    for name in ("g.123-0.tmp", "f.tmp", "f.12-x.tmp"):
        (tmp_path / name).write_text("somebody's")
    kills.WRITERS["npz"].write(tmp_path, 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f", "f.12-x.tmp", "f.tmp", "g.123-0.tmp"]
