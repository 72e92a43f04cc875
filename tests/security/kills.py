"""Writers that are killed: after each kill a reader must find the old contents or the new ones, whole.

A child process writes the next generation and kills itself before its n-th call of the operating system, or is killed after a
random time. A generation is a number of which all tensors of the file consist.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import random
import signal
import sys
import time
from collections.abc import Callable

import numpy as np

from tfg import GraphBuilder, Session
from tfg.core.runtime.state.file_access import FileAccess
from tfg.core.types.tensors import Tensor
from tfg.formats import load, merge_checkpoints, open_checkpoint, save, write_checkpoint
from tfg.formats.codecs.numpy_files import read_npz, write_npz
from tfg.formats.codecs.safetensors import read_safetensors, write_safetensors

_NAMES, _SIZE = ("a", "b", "c"), 5000
_EVENTS = frozenset(("open", "os.rename", "os.link", "os.remove", "os.chmod", "os.listdir", "os.rmdir", "fcntl.flock"))
_TIMES = 0.02
"""Seconds within which a random kill falls: about what a write takes."""


@dataclasses.dataclass(frozen=True)
class Writer:
    """How a format is written, the generation that is read, and the files that are there at the end."""

    write: Callable[[pathlib.Path, int], None]
    read: Callable[[pathlib.Path], int]
    files: tuple[str, ...] = ("f",)


def _arrays(generation: int) -> dict[str, np.ndarray]:
    return {name: np.full(_SIZE, generation, np.float32) for name in _NAMES}


def _tensors(generation: int) -> dict[str, Tensor]:
    return {name: Tensor.from_numpy(array) for name, array in _arrays(generation).items()}


def _whole(arrays: dict[str, np.ndarray]) -> int:
    """The one generation of which all arrays consist."""
    assert sorted(arrays) == sorted(_NAMES)
    results = {float(value) for array in arrays.values() for value in np.unique(array)}
    assert len(results) == 1 and all(array.shape == (_SIZE,) for array in arrays.values()), results
    return int(results.pop())


def _read_checkpoint(folder: pathlib.Path) -> int:
    reader = open_checkpoint(folder / "f")
    return _whole({name: reader.read(name) for name in reader.names()})


def _merge(folder: pathlib.Path, generation: int) -> None:
    """A save in two parts, as of TensorFlow's sharded savers."""
    parts = [folder / f"part{i}" for i in range(2)]
    arrays = _arrays(generation)
    write_checkpoint(parts[0], {"a": arrays["a"]})
    write_checkpoint(parts[1], {"b": arrays["b"], "c": arrays["c"]})
    merge_checkpoints([str(part) for part in parts], str(folder / "f"))


def _write_graph(folder: pathlib.Path, generation: int, **options: bool) -> None:
    g = GraphBuilder()
    for name, array in _arrays(generation).items():
        g.constant(array, name=name)
    save(g.graph, folder / "f", **options)


def _read_graph(folder: pathlib.Path) -> int:
    graph = load(folder / "f")
    return _whole({node.name: node.attrs["value"].numpy() for node in graph})


def _run_write_file(folder: pathlib.Path, generation: int) -> None:
    g = GraphBuilder()
    text = b"\n".join(b"%d" % generation for _ in range(_SIZE))
    g.WriteFile(g.constant(str(folder / "f")), g.constant(text), name="op")
    Session(g.graph, files=FileAccess.only(writable=[folder])).run(["op"])


def _read_lines(folder: pathlib.Path) -> int:
    lines = (folder / "f").read_bytes().split(b"\n")
    assert len(lines) == _SIZE and len(set(lines)) == 1
    return int(lines[0])


_BUNDLE = ("f.data-00000-of-00001", "f.index")
WRITERS = {
    "V2": Writer(lambda folder, n: write_checkpoint(folder / "f", _arrays(n)), _read_checkpoint, _BUNDLE),
    "merged": Writer(_merge, _read_checkpoint, ("f.data-00000-of-00002", "f.data-00001-of-00002", "f.index")),
    "V1": Writer(lambda folder, n: write_checkpoint(folder / "f", _arrays(n), version=1), _read_checkpoint),
    "npz": Writer(
        lambda folder, n: write_npz(folder / "f", _tensors(n)),
        lambda folder: _whole({name: tensor.numpy() for name, tensor in read_npz(folder / "f").items()}),
    ),
    "safetensors": Writer(
        lambda folder, n: write_safetensors(folder / "f", _tensors(n)),
        lambda folder: _whole({name: tensor.numpy() for name, tensor in read_safetensors(folder / "f").items()}),
    ),
    "GraphDef": Writer(_write_graph, _read_graph),
    "text": Writer(lambda folder, n: _write_graph(folder, n, text=True), _read_graph),
    "gzip": Writer(lambda folder, n: _write_graph(folder, n, gzip=True), _read_graph),
    "WriteFile": Writer(_run_write_file, _read_lines),
}


def survive(name: str, folder: pathlib.Path, kills: int, seed: int = 0) -> int:
    """Kill a writer so often, check what is there after each kill, and return how many of the kills it lived through."""
    writer, draw = WRITERS[name], random.Random(seed)
    writer.write(folder, 1)
    writer.write(folder, 2)
    generation, finished, moment = 2, 0, 0
    for _ in range(kills):
        at_call = draw.random() < 0.5
        killed = (
            killed_at_call(writer, folder, generation + 1, moment)
            if at_call
            else _killed_in_time(writer, folder, generation + 1, draw.random() * _TIMES)
        )
        if at_call:
            moment = moment + 1 if killed else 0
        result = writer.read(folder)
        assert result in (generation, generation + 1), f"generation {result} after {generation} and a kill"
        finished += not killed
        generation = result
    writer.write(folder, generation + 1)
    assert writer.read(folder) == generation + 1
    left = sorted(path.name for path in folder.iterdir())
    assert left == sorted(writer.files), left
    return finished


def killed_at_call(writer: Writer, folder: pathlib.Path, generation: int, moment: int) -> bool:
    """Let a child kill itself before its `moment`-th call; False where it had finished by then."""
    child = os.fork()
    if child == 0:
        die_at(moment)
        _write_and_exit(writer, folder, generation)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0


def _killed_in_time(writer: Writer, folder: pathlib.Path, generation: int, seconds: float) -> bool:
    child = os.fork()
    if child == 0:
        _write_and_exit(writer, folder, generation)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0


def die_at(moment: int) -> None:
    """Let this process kill itself before that call of the operating system, counted from now."""
    calls = iter(range(moment))

    def hook(event: str, _: tuple[object, ...]) -> None:
        if event in _EVENTS and next(calls, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def _write_and_exit(writer: Writer, folder: pathlib.Path, generation: int) -> None:
    try:
        writer.write(folder, generation)
    except BaseException as error:
        os.write(2, f"{error!r}\n".encode())
        os._exit(9)
    os._exit(0)
