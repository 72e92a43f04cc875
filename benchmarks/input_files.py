"""Inputs of a graph in all kinds of files, of any number of rows, columns, lines, records or files."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable, Mapping

import numpy as np

from tfg.core.codecs import png
from tfg.core.codecs.tfrecord import encode_record
from tfg.core.types import dtypes
from tfg.formats.protos.graph_pb2 import GraphDef

from . import scale_graphs

WAYS: Mapping[str, tuple[Callable[[pathlib.Path, int], None], str]] = {}
"""The writers of files in a folder, and the arguments of `tfg run` that feed the files."""


def _way(words: str) -> Callable[[Callable[[pathlib.Path, int], None]], Callable[[pathlib.Path, int], None]]:
    def added(write: Callable[[pathlib.Path, int], None]) -> Callable[[pathlib.Path, int], None]:
        WAYS[write.__name__] = write, words  # type: ignore[index]
        return write

    return added


_ONE_BY_ONE = "--out-dir {folder}/results --overwrite"


@_way(f"--fetch y --each {{folder}}/t.csv --feed x=@each:b,a {_ONE_BY_ONE}")
def csv_rows(folder: pathlib.Path, count: int) -> None:
    (folder / "t.csv").write_text("a,b\n" + "1,2.5\n" * count)


@_way(f"--fetch y --each {{folder}}/t.csv {_ONE_BY_ONE}")
def csv_columns(folder: pathlib.Path, count: int) -> None:
    (folder / "t.csv").write_text(",".join(f"c{i}" for i in range(count)) + "\n" + ",".join("1" * count) + "\n")


@_way(f"--fetch y --each {{folder}}/t.csv --feed x=@each {_ONE_BY_ONE} --keep-going")
def csv_faults(folder: pathlib.Path, count: int) -> None:
    (folder / "t.csv").write_text("a,b\n" + "1,oops\n" * count)


@_way("--fetch y --feed x=@{folder}/t.csv")
def csv_table(folder: pathlib.Path, count: int) -> None:
    (folder / "t.csv").write_text("a,b\n" + "1,2.5\n" * count)


@_way("--fetch y --feed x=@{folder}/t.csv")
def csv_wide_table(folder: pathlib.Path, count: int) -> None:
    csv_columns(folder, count)


@_way(f"--fetch y --each {{folder}}/t.jsonl --feed x=@each:k {_ONE_BY_ONE}")
def json_lines(folder: pathlib.Path, count: int) -> None:
    (folder / "t.jsonl").write_text('{"k": [1, 2]}\n' * count)


@_way(f"--fetch y --each {{folder}}/t.jsonl --feed x=@each {_ONE_BY_ONE}")
def json_elements(folder: pathlib.Path, count: int) -> None:
    (folder / "t.jsonl").write_text(f"{json.dumps([1.5] * count)}\n")


@_way("--fetch y --feed x=@{folder}/t.npz:k0")
def archive_members(folder: pathlib.Path, count: int) -> None:
    np.savez(folder / "t.npz", **{f"k{i}": np.float32([i]) for i in range(count)})  # type: ignore[arg-type]


@_way(f"--fetch y --each {{folder}}/inputs --feed x=@each:k {_ONE_BY_ONE}")
def archives(folder: pathlib.Path, count: int) -> None:
    for path in _paths(folder, count, "npz"):
        np.savez(path, k=np.float32([1, 2]))


@_way(f"--fetch y --each {{folder}}/inputs --feed x=@each?scale=1/255 {_ONE_BY_ONE}")
def pictures(folder: pathlib.Path, count: int) -> None:
    for path in _paths(folder, count, "png"):
        path.write_bytes(png.encode(np.zeros((2, 2, 3), np.uint8)))


@_way(f"--fetch t --each {{folder}}/t.tfrecord --feed s=@each {_ONE_BY_ONE}")
def records(folder: pathlib.Path, count: int) -> None:
    (folder / "t.tfrecord").write_bytes(encode_record(b"record") * count)


@_way("--fetch t --feed s=@{folder}/t.tfrecord")
def fed_records(folder: pathlib.Path, count: int) -> None:
    records(folder, count)


def _paths(folder: pathlib.Path, count: int, ending: str) -> list[pathlib.Path]:
    (folder / "inputs").mkdir(exist_ok=True)
    return [folder / "inputs" / f"{i}.{ending}" for i in range(count)]


def words(folder: pathlib.Path, way: str, count: int) -> list[str]:
    """Write a graph and inputs; return the words of `tfg run`."""
    float_, string = {"dtype": dtypes.float32}, {"dtype": dtypes.string}
    nodes = [
        scale_graphs.node("x", "Placeholder", **float_), scale_graphs.node("y", "Tanh", "x", **scale_graphs.FLOAT),
        scale_graphs.node("s", "Placeholder", **string), scale_graphs.node("t", "Identity", "s", T=dtypes.string),
    ]  # fmt: skip
    path = folder / "inputs.pb"
    path.write_bytes(GraphDef(node=nodes).SerializeToString())
    write, given = WAYS[way]
    write(folder, count)
    return ["run", str(path), "--quiet", *given.format(folder=folder).split()]
