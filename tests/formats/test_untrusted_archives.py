"""Packed files of strangers: gzip and npz that lie about sizes, unpack to gigabytes, are encrypted or broken."""

from __future__ import annotations

import gzip
import io
import json
import struct
import time
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest

from tests.cli.running import tfg
from tfg.core.support.errors import DataLossError, InvalidArgumentError, ResourceExhaustedError, TfgError, UnimplementedError
from tfg.formats import load
from tfg.formats.codecs.numpy_files import MANIFEST, read_npz
from tfg.formats.value_literals import parse_value

GRAPH = b'node { name: "a" op: "NoOp" }'


@pytest.mark.slow
def test_many_members_take_linear_time():
    """50,000 in a second; with a copy of the rest for each, they took minutes."""
    member = gzip.compress(b"\n")
    times = []
    for count in (25_000, 50_000, 100_000):
        data = gzip.compress(GRAPH) + member * count
        started = time.process_time()
        assert "a" in load(data)
        times.append(time.process_time() - started)
    assert times[2] < 4 * times[1] + 0.2 and times[2] < 10


@pytest.mark.slow
def test_a_bomb_is_not_unpacked():
    packer = zlib.compressobj(9, wbits=31)
    bomb = b"".join([*(packer.compress(bytes(1 << 20)) for _ in range(400)), packer.flush()])
    tracemalloc.start()
    try:
        with pytest.raises(ResourceExhaustedError, match="would unpack to more than") as error:
            load(bomb)
        assert tracemalloc.get_traced_memory()[1] < 900 << 20
    finally:
        tracemalloc.stop()
    assert "gunzip" in error.value.hint


@pytest.mark.parametrize("cut", [3, 12, 30])
def test_truncated_and_damaged_gzip(cut):
    whole = gzip.compress(GRAPH)
    with pytest.raises(DataLossError, match=r"truncated|damaged"):
        load(whole[:cut])
    with pytest.raises(DataLossError, match=r"truncated|damaged"):
        load(whole + whole[:cut])
    assert "a" in load(whole + b"\0" * 100), "padding after the last member"


def _npy(array: np.ndarray, **header: object) -> bytes:
    """An .npy file with another header than the array's."""
    said = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape} | header
    text = repr(said).encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text + array.tobytes()


def _archive(path, members, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


ONE = np.arange(3.0)
BAD_HEADERS = {
    "a TiB": _npy(ONE, shape=(1 << 37,)),
    "more than there is": _npy(ONE, shape=(4,)),
    "less than there is": _npy(ONE, shape=(2,)),
    "a product past 64 bits": _npy(ONE, shape=(1 << 40, 1 << 40)),
    "negative": _npy(ONE, shape=(-3,)),
    "a bool": _npy(ONE, shape=(True, 3)),
    "no tuple": _npy(ONE, shape=3),
    "40 dimensions": _npy(ONE, shape=(3, *[1] * 40)),
    "no dtype": _npy(ONE, descr="nonsense"),
    "an odd dtype": _npy(ONE, descr=[("a",)]),
    "a dtype of arrays": _npy(ONE, descr=("<f8", (3,)), shape=(1,)),
    "no dict": b"\x93NUMPY\1\0\2\0[]" + ONE.tobytes(),
    "code": b"\x93NUMPY\1\0\x0a\0print('x')" + ONE.tobytes(),
    "nested deeply": b"\x93NUMPY\1\0" + struct.pack("<H", 9000) + b"(" * 9000,
    "a huge header": b"\x93NUMPY\2\0" + struct.pack("<I", 1 << 31),
    "version 9": b"\x93NUMPY\x09\0\2\0{}",
    "no magic": b"hello",
    "nothing": b"",
}


@pytest.mark.parametrize("name", BAD_HEADERS)
def test_headers_that_lie(name, tmp_path):
    path = _archive(tmp_path / "a.npz", {"v.npy": BAD_HEADERS[name], "w.npy": _npy(ONE)})
    (tmp_path / "v.npy").write_bytes(BAD_HEADERS[name])
    for read in (lambda: read_npz(path), lambda: parse_value(f"@{path}:v"), lambda: parse_value(f"@{tmp_path}/v.npy")):
        with pytest.raises(DataLossError):
            read()
    done = tfg("checkpoint", path)
    assert done.code == 1 and done.err.startswith("error: ")


def test_python_objects(tmp_path):
    np.save(tmp_path / "o.npy", np.array([{}], object), allow_pickle=True)
    path = _archive(tmp_path / "o.npz", {"o.npy": (tmp_path / "o.npy").read_bytes()})
    for read in (read_npz(path)["o"].numpy, lambda: parse_value(f"@{path}"), lambda: parse_value(f"@{tmp_path}/o.npy")):
        with pytest.raises(InvalidArgumentError, match="never unpickled") as error:
            read()
        assert "pickle" not in (error.value.hint or "")


@pytest.mark.slow
def test_a_listing_decodes_no_array(tmp_path):
    np.savez(tmp_path / "a.npz", big=np.zeros(4_000_000), small=ONE)
    data = bytearray((tmp_path / "a.npz").read_bytes())
    data[1000] ^= 1
    (tmp_path / "a.npz").write_bytes(data)
    tracemalloc.start()
    try:
        archive = read_npz(tmp_path / "a.npz")
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    assert {name: tensor.shape for name, tensor in archive.items()} == {"big": (4_000_000,), "small": (3,)}
    assert archive["small"].numpy().tolist() == [0, 1, 2]
    with pytest.raises(DataLossError, match=r"'big' of .* damaged"):
        archive["big"].numpy()


@pytest.mark.slow
def test_a_bomb_in_an_archive(tmp_path):
    """It is listed; its numbers are not unpacked."""
    np.savez_compressed(tmp_path / "b.npz", b=np.zeros(60_000_000))
    archive = read_npz(tmp_path / "b.npz")
    assert archive["b"].shape == (60_000_000,)
    with pytest.raises(ResourceExhaustedError, match="would unpack to"):
        archive["b"].numpy()
    np.savez_compressed(tmp_path / "c.npz", c=np.zeros(1_000_000), d=ONE)
    assert not read_npz(tmp_path / "c.npz")["c"].numpy().any()


def _patched(path, changes):
    """The archive with bytes of its local and central headers changed: {offset in header: value}."""
    data = bytearray(path.read_bytes())
    for signature, shift in ((b"PK\3\4", 0), (b"PK\1\2", 2)):
        start = data.index(signature)
        for offset, value in changes.items():
            data[start + shift + offset] = value
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("changes", "kind"),
    [({6: 1}, UnimplementedError), ({4: 99}, UnimplementedError), ({8: 99}, UnimplementedError), ({22: 77}, DataLossError),
     ({18: 200}, DataLossError), ({26: 255}, DataLossError), ({14: 1}, DataLossError)],
    ids=["encrypted", "version", "method", "size", "packed size", "name", "checksum"],
)  # fmt: skip
def test_odd_zip_headers(changes, kind, tmp_path):
    path = _patched(_archive(tmp_path / "a.npz", {"v.npy": _npy(ONE)}), changes)
    with pytest.raises(kind):
        read_npz(path)["v"].numpy()


def test_entries_twice_or_of_other_kinds(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive, pytest.warns(UserWarning):
        archive.writestr("v.npy", _npy(ONE))
        archive.writestr("v.npy", _npy(ONE))
    with pytest.raises(DataLossError, match="twice"):
        read_npz(tmp_path / "a.npz")
    with pytest.raises(DataLossError, match="is not an array"):
        read_npz(_archive(tmp_path / "b.npz", {"readme.txt": b"hello"}))


def _manifest(text: str | bytes) -> bytes:
    return _npy(np.frombuffer(text if isinstance(text, bytes) else text.encode(), np.uint8))


@pytest.mark.parametrize(
    "manifest",
    ["", "[]", "3", "{", '{"v": 3}', '{"v": {}}', '{"v": {"dtype": "nonsense", "shape": [3]}}', "[" * 5000, b"\xff\xfe",
     '{"v": {"dtype": "bfloat16"}}', '{"v": {"dtype": "int4"}}', '{"v": {"dtype": "qint8"}}',
     '{"v": {"dtype": "string", "shape": [-1], "lengths": []}}', '{"v": {"dtype": "string", "shape": 3, "lengths": [6]}}',
     '{"v": {"dtype": "string", "shape": [2], "lengths": [1]}}', '{"v": {"dtype": "string", "shape": [1], "lengths": [9]}}',
     '{"v": {"dtype": "string", "shape": [2], "lengths": [-3, 9]}}', '{"v": {"dtype": "resource", "shape": []}}',
     '{"v": {"dtype": "string", "shape": [1], "lengths": "a"}}', '{"v": {"dtype": [], "shape": [1]}}'],
)  # fmt: skip
def test_broken_manifests(manifest, tmp_path):
    members = {"v.npy": _npy(np.zeros(6, np.uint8)), f"{MANIFEST}.npy": _manifest(manifest)}
    with pytest.raises(DataLossError):
        read_npz(_archive(tmp_path / "a.npz", members))


def test_a_manifest_says_what_numpy_has_no_type_for(tmp_path):
    entry = json.dumps({"v": {"dtype": "bfloat16"}})
    members = {"v.npy": _npy(np.float32([1, -2.5, np.inf])), f"{MANIFEST}.npy": _manifest(entry)}
    archive = read_npz(_archive(tmp_path / "a.npz", members))
    assert (str(archive["v"].dtype), archive["v"].numpy().tolist()) == ("bfloat16", [1, -2.5, np.inf])


@pytest.mark.slow
def test_every_byte_may_be_wrong(tmp_path):
    buffer = io.BytesIO()
    np.savez(buffer, a=ONE, b=np.int32(3))
    whole = buffer.getvalue()
    draw = np.random.default_rng(0)
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= int(draw.integers(1, 256))
        (tmp_path / "a.npz").write_bytes(damaged if position % 2 else damaged[:position])
        try:
            for tensor in read_npz(tmp_path / "a.npz").values():
                tensor.numpy()
        except TfgError as error:
            assert "a.npz" in str(error)


def test_layouts_that_numpy_writes(tmp_path):
    arrays = {
        "fortran": np.asfortranarray(np.arange(6).reshape(2, 3)), "big": np.arange(3, dtype=">f4"), "none": np.zeros((0, 2)),
        "scalar": np.float32(2), "text": np.array(["a", "bc"]), "bytes": np.array([b"x"]), "flags": np.array([True, False]),
    }  # fmt: skip
    np.savez(tmp_path / "a.npz", **arrays)
    archive = read_npz(tmp_path / "a.npz")
    for name, array in arrays.items():
        expected = [text.encode() for text in array.tolist()] if name == "text" else np.asarray(array).tolist()
        assert archive[name].numpy().tolist() == expected and archive[name].shape == np.shape(array)
        np.save(tmp_path / "one.npy", array)
        assert parse_value(f"@{tmp_path}/one.npy", archive[name].dtype).tolist() == expected
