"""State files: .npz archives and checkpoints behind the same two functions."""

import gc
import io
import sys
import zipfile

import numpy as np
import pytest

from tfg.core.support.errors import DataLossError, InvalidArgumentError, NotFoundError, UnimplementedError
from tfg.core.types import dtypes
from tfg.core.types.tensors import Tensor
from tfg.formats.codecs.numpy_files import MANIFEST, NpzWriter, npz_bytes, npz_tensors, read_npz, write_npz
from tfg.formats.state import read_state, write_state

TENSORS = {
    "layer/w": Tensor.from_numpy(np.arange(6.0).reshape(2, 3)),
    "file": Tensor.from_numpy(np.array([[b"x", b""], [b"\xff\0", b"yy"]], object)),
    "quantized": Tensor.from_numpy(np.int8([1, -1]), dtypes.qint8),
    "bf": Tensor.from_numpy(np.arange(3), dtypes.bfloat16),
    "scalar": Tensor.from_numpy(np.int64(3)),
    "flag": Tensor.from_numpy(True),
    "empty": Tensor.from_numpy(np.zeros((0, 2), np.complex64)),
}


@pytest.mark.parametrize("name", ["s.npz", "s"])
def test_round_trip(tmp_path, name):
    write_state(tmp_path / name, TENSORS)
    again = read_state(tmp_path / name)
    assert again == TENSORS
    assert {key: value.dtype for key, value in again.items()} == {key: value.dtype for key, value in TENSORS.items()}


def test_bytes_of_an_archive():
    data = npz_bytes(TENSORS)
    again = npz_tensors(data, "what was sent")
    assert again == TENSORS
    assert {key: value.dtype for key, value in again.items()} == {key: value.dtype for key, value in TENSORS.items()}
    for damaged in (b"", data[:-30], data[200:]):
        with pytest.raises(DataLossError, match="what was sent"):
            {name: tensor.numpy() for name, tensor in npz_tensors(damaged, "what was sent").items()}


def test_an_archive_that_is_left_unfinished_ends_in_silence(monkeypatch):
    """An error or a signal ends a write at any line; the collector then finds an archive whose file is closed."""
    said = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    file = io.BytesIO()
    writer = NpzWriter(file)
    writer.add("w", TENSORS["layer/w"])
    file.close()
    del writer
    gc.collect()
    assert said == []


def test_numpy_reads_what_it_can(tmp_path):
    write_npz(tmp_path / "s.npz", TENSORS)
    with np.load(tmp_path / "s.npz") as archive:
        assert np.array_equal(archive["layer/w"], np.arange(6.0).reshape(2, 3))
        assert np.array_equal(archive["quantized"], np.int8([1, -1]))
        assert np.array_equal(archive["bf"], np.float32([0, 1, 2]))


@pytest.mark.parametrize("dtype", [dtype for dtype in dtypes.ALL if dtype.is_numeric and not dtype.is_complex], ids=str)
def test_numbers_of_every_dtype_survive_in_a_type_that_numpy_has(tmp_path, dtype):
    """All patterns of one and two bytes, with the signs of zeros, but not which of many NaNs a small float is."""
    bits = np.arange(1 << 16, dtype=np.uint16)
    raw = np.resize(bits, (1 << 16) * dtype.size // 2) if dtype.size > 1 else bits.astype(np.uint8)
    values = raw.view(dtype.numpy)
    if dtype.size == 1:  # types of a few bits leave the others of a byte to chance
        values = _as_doubles(values).astype(dtype.numpy)
    is_nan = dtype.is_floating & np.isnan(_as_doubles(values))
    write_npz(tmp_path / "s.npz", {"v": Tensor(dtype, values.shape, lambda: values)})
    with np.load(tmp_path / "s.npz") as archive:
        assert archive["v"].shape == values.shape and archive["v"].dtype.isbuiltin == 1
    again = read_npz(tmp_path / "s.npz")["v"]
    assert again.dtype is dtype and np.array_equal(dtype.is_floating & np.isnan(_as_doubles(again.numpy())), is_nan)
    assert np.all(again.numpy()[~is_nan] == values[~is_nan])
    assert np.array_equal(np.signbit(_as_doubles(again.numpy())[~is_nan]), np.signbit(_as_doubles(values)[~is_nan]))


def _as_doubles(array):
    with np.errstate(invalid="ignore"):
        return array.astype(np.float64)


def test_archives_of_others(tmp_path):
    np.savez(tmp_path / "a", x=np.float32([1, 2]))
    (tmp_path / "a.npz").rename(tmp_path / "renamed")
    assert read_state(tmp_path / "renamed")["x"].numpy().tolist() == [1, 2]


def test_what_is_refused(tmp_path):
    with pytest.raises(UnimplementedError, match="tensor 'r' of dtype resource"):
        write_npz(tmp_path / "a.npz", {"r": Tensor(dtypes.resource, (), lambda: np.empty((), object))})
    with pytest.raises(InvalidArgumentError, match="cannot hold a tensor named"):
        write_npz(tmp_path / "a.npz", {MANIFEST: TENSORS["flag"]})
    assert list(tmp_path.iterdir()) == []
    np.savez(tmp_path / "pickled", x=np.array([{}], object))
    with pytest.raises(InvalidArgumentError):
        read_npz(tmp_path / "pickled.npz")["x"].numpy()
    with pytest.raises(NotFoundError):
        read_state(tmp_path / "none.npz")


def test_damage(tmp_path):
    path = tmp_path / "a.npz"
    write_npz(path, TENSORS)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataLossError):
        read_state(path)
    damaged = bytearray(whole)
    damaged[150] ^= 0xFF
    path.write_bytes(damaged)
    with pytest.raises((DataLossError, InvalidArgumentError)):
        read_npz(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{MANIFEST}.npy", "x")
    with pytest.raises((DataLossError, InvalidArgumentError)):
        read_npz(path)


def strings(*values, shape=None):
    array = np.empty(len(values), object)
    array[:] = values
    return Tensor.from_numpy(array.reshape(shape or len(values)), dtypes.string)


@pytest.mark.parametrize("tensor", [
    strings(b"one", b"", b"\xff\xfe", b"longer", shape=(2, 2)), strings(b"alone", shape=()), strings(shape=(0, 3)),
    strings(b"\0a", b"b"),
])  # fmt: skip
def test_numpy_reads_strings(tmp_path, tensor):
    write_npz(tmp_path / "s.npz", {"s": tensor})
    with np.load(tmp_path / "s.npz") as archive:
        assert archive.files == ["s"]
        assert (archive["s"].dtype.kind, archive["s"].shape) == ("S", tensor.shape)
        assert archive["s"].tolist() == tensor.numpy().tolist()
    assert read_npz(tmp_path / "s.npz")["s"].numpy().tolist() == tensor.numpy().tolist()


@pytest.mark.parametrize("values", [(b"ends with NUL\0", b"a"), (b"\0", b""), (b"x" * 100_000, *[b"y"] * 100)])
def test_strings_that_numpy_cannot_hold_come_back(tmp_path, values):
    write_npz(tmp_path / "s.npz", {"s": strings(*values)})
    assert read_npz(tmp_path / "s.npz")["s"].numpy().tolist() == list(values)
    assert (tmp_path / "s.npz").stat().st_size < 2 * sum(map(len, values)) + 10_000
