"""State files that lie: checkpoints whose checksums fit what was changed, archives with false headers and lengths."""

from __future__ import annotations

import dataclasses
import functools
import io
import os
import pathlib
import struct
import tempfile
import zipfile
from random import Random

import numpy as np

from tests.fuzz.commands import changed_bytes
from tfg.core import dtypes
from tfg.core.tensors import Tensor
from tfg.formats.checkpoint import open_checkpoint, write_checkpoint
from tfg.formats.checkpoint.table import read_table, write_table
from tfg.formats.npz import npz_bytes, read_npz
from tfg.formats.values import parse_value

TENSORS = {
    "a": Tensor.from_numpy(np.arange(12, dtype=np.float32).reshape(3, 4)),
    "b/c": Tensor.from_numpy(np.array([b"x", b"", b"long" * 20], object), dtypes.string),
    "d": Tensor.from_numpy(np.int64(7)),
    "e": Tensor.from_numpy(np.zeros((0, 2), np.int8)),
    "f": Tensor.from_numpy(np.ones(3), dtypes.bfloat16),
}


@dataclasses.dataclass(frozen=True)
class StateFiles:
    """The files of one checkpoint or archive, by the ends of their names."""

    files: dict[str, bytes]
    origin: str

    def __call__(self) -> None:
        """List what the files hold, then read every tensor."""
        with tempfile.TemporaryDirectory() as folder:
            for end, data in self.files.items():
                pathlib.Path(folder, f"state{end}").write_bytes(data)
            _read_all(os.path.join(folder, "state"), next(iter(self.files)))

    def snippet(self) -> str:
        return f"{self.origin}: {self.files}"


def _read_all(prefix: str, end: str) -> None:
    if end == ".npz":
        for tensor in read_npz(f"{prefix}.npz").values():
            tensor.numpy()
    elif end == ".npy":
        parse_value(f"@{prefix}.npy")
    else:
        reader = open_checkpoint(prefix)
        for name in reader.names():
            reader.read(name)


@functools.cache
def originals() -> dict[str, dict[str, bytes]]:
    """A checkpoint of each version and an archive, as tfg writes them."""
    found: dict[str, dict[str, bytes]] = {"npz": {".npz": npz_bytes(TENSORS)}}
    for version in (1, 2):
        with tempfile.TemporaryDirectory() as folder:
            write_checkpoint(os.path.join(folder, "state"), TENSORS, version)
            paths = sorted(pathlib.Path(folder).iterdir(), key=lambda path: path.name != "state.index")
            found[f"V{version}"] = {path.name.removeprefix("state"): path.read_bytes() for path in paths}
    return found


def draw_state(random: Random) -> StateFiles:
    """One of the originals with a change that its checksums do not show, or with bytes changed anywhere."""
    kind = random.choice(("V1", "V2", "V2", "npz", "npz", "npy"))
    if kind == "npy":
        return StateFiles({".npy": lying_array(random)}, kind)
    files = dict(originals()[kind])
    if random.random() < 0.3:
        end = random.choice(sorted(files))
        files[end] = changed_bytes(random, files[end])
    elif kind == "npz":
        files[".npz"] = lying_archive(random)
    else:
        table = next(iter(files))
        files[table] = lying_table(random, files[table])
    return StateFiles(files, kind)


def lying_table(random: Random, data: bytes) -> bytes:
    """A table with one entry changed and all checksums right."""
    items = [(key, bytes(value)) for key, value in read_table(memoryview(data))]
    for _ in range(random.choice((1, 1, 2))):
        place = random.randrange(len(items))
        key, value = items[place]
        match random.randrange(5):
            case 0:
                key = changed_bytes(random, key)
            case 1:
                value = random.choice(items)[1]
            case _:
                value = changed_bytes(random, value)
        items[place] = key, value
    buffer = io.BytesIO()
    write_table(buffer, sorted(dict(items).items()))
    return buffer.getvalue()


def lying_archive(random: Random) -> bytes:
    """An archive with one member changed, its checksum right, and sometimes its directory wrong."""
    with zipfile.ZipFile(io.BytesIO(originals()["npz"][".npz"])) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = random.choice(sorted(members))
    members[name] = lying_array(random) if random.random() < 0.5 else changed_bytes(random, members[name])
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for member, data in members.items():
            archive.writestr(member, data)
    data = bytearray(buffer.getvalue())
    if random.random() < 0.3:
        start = data.rfind(b"PK\x01\x02") + random.randrange(4, 46)
        data[start : start + 4] = struct.pack("<I", random.choice((0, 1, 0xFFFFFFFF, 0x7FFFFFFF, random.getrandbits(32))))
    return bytes(data)


def lying_array(random: Random) -> bytes:
    """An .npy file whose header says something else than what follows."""
    types = ("<f4", "|O", "|S5", "<U3", "<M8[s]", "|V2", "<f16", "<i8", "[('a', '<f4')]", "|b1", ">f8", "<c8", "", "\\x00")
    shapes = ("(2,)", "()", "(1099511627776,)", "(-1,)", "(2, 3)", "(0, 9223372036854775807)", "2", "None", "((1,),)")
    header = f"{{'descr': '{random.choice(types)}', 'fortran_order': {random.choice(('False', 'True', '3'))}, "
    header += f"'shape': {random.choice(shapes)}, }}"
    if random.random() < 0.2:
        header = changed_bytes(random, header.encode()).decode("latin-1")
    version = random.choice(((1, 0), (1, 0), (2, 0), (3, 0), (9, 9)))
    text = header.encode("latin-1", "replace") + b"\n"
    length = len(text) if random.random() < 0.9 else random.getrandbits(16)
    size = struct.pack("<H" if version[0] == 1 else "<I", length)
    return b"\x93NUMPY" + bytes(version) + size + text + random.randbytes(random.choice((0, 4, 8, 24, 100)))
