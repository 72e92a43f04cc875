"""Checkpoints with contradictory entries, and impossible names of other files: errors with the position."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cli.running import tfg as run
from tfg.core.support.errors import DataLossError, InvalidArgumentError
from tfg.core.types.tensors import Tensor
from tfg.formats import write_checkpoint
from tfg.formats.checkpoint.bundle import write_bundle
from tfg.formats.checkpoint.store import open_checkpoint
from tfg.formats.codecs.numpy_files import read_npz, write_npz

HALVES = ((0, 2), (0, -1)), ((2, 2), (0, -1))


def _sliced(prefix, *values, full_shape=(4, 5)):
    """Write a tensor of a shape in two slices, each with the values given for it."""
    write_bundle(prefix, [("p", full_shape, extents, Tensor.from_numpy(value)) for extents, value in zip(HALVES, values)])
    return open_checkpoint(prefix)


@pytest.mark.parametrize(
    "lie",
    [np.ones((2, 4), np.float32), np.ones((1, 5), np.float32), np.ones(10, np.float32), np.ones((2, 5, 1), np.float32),
     np.ones((2, 5), np.int32), np.ones((2, 5)), np.array([["a"] * 5] * 2, object)],
    ids=lambda value: f"{value.dtype}{list(value.shape)}",
)  # fmt: skip
def test_a_slice_is_what_the_index_says(lie, tmp_path):
    reader = _sliced(str(tmp_path / "m"), np.zeros((2, 5), np.float32), lie)
    for spec in ("", "4 5 2,2:-", "4 5 1,2:0,3"):
        with pytest.raises(DataLossError, match=r"slice 2,2:- of tensor 'p' has .*, but the index says"):
            reader.read("p", spec)
    done = run("checkpoint", tmp_path / "m", "--output", tmp_path / "out.npz")
    assert done.code == 1 and "of tensor 'p' has " in done.err


def test_slices_that_fit_are_read(tmp_path):
    reader = _sliced(str(tmp_path / "m"), np.zeros((2, 5), np.float32), np.ones((2, 5), np.float32))
    np.testing.assert_array_equal(reader.read("p")[:, 0], [0, 0, 1, 1])


@pytest.mark.parametrize("name", ["\udcff\udc80", "a\0b", "n" * 70_000], ids=["no UTF-8", "NUL", "long"])
def test_an_archive_refuses_names_that_it_cannot_hold(name, tmp_path):
    write_checkpoint(tmp_path / "m", {name: np.float32(1), "v": np.float32(2)})
    done = run("checkpoint", tmp_path / "m", "--output", tmp_path / "out.npz")
    assert done.code == 1 and "the tensor name" in done.err and "write a checkpoint" in done.err
    assert not (tmp_path / "out.npz").exists()
    assert run("checkpoint", tmp_path / "m", "--output", tmp_path / "copy").code == 0
    assert set(open_checkpoint(str(tmp_path / "copy")).names()) == {name, "v"}
    with pytest.raises(InvalidArgumentError):
        write_npz(tmp_path / "out.npz", {name: Tensor.from_numpy(np.float32(1))})


def test_an_archive_holds_the_longest_name(tmp_path):
    name = "n" * 65_531
    write_npz(tmp_path / "out.npz", {name: Tensor.from_numpy(np.float32(1))})
    assert list(read_npz(tmp_path / "out.npz")) == [name]
