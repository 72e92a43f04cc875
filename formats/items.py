"""The inputs of a batch job: files that match patterns, and lines of JSON, each read as arrays."""

from __future__ import annotations

import dataclasses
import glob
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..core.codecs.tfrecord import RecordError, decode_record
from ..core.support.atomic import file_errors
from ..core.support.errors import DataLossError, InvalidArgumentError, NotFoundError
from ..core.support.regular_files import open_regular
from .codecs.npy import open_array
from .codecs.npz import read_npz
from .codecs.source import read_source

WHOLE: Final = ""
"""The key of an input that is a single array without a name."""
_LINES: Final = (".jsonl", ".ndjson", ".json")


@dataclasses.dataclass(frozen=True, slots=True)
class Item:
    """An input: a file, or the part of a file of lines from byte `start` up to `end`. `name` names the input's result."""

    name: str
    path: str
    start: int | None = None
    end: int = 0


def find_items(patterns: Sequence[str]) -> list[Item]:
    """Return the inputs that match patterns, sorted in each: npz, npy and TFRecord files, and the lines of files of JSON.

    Names are paths below the files' common folder, without endings; lines are numbered from 1. NotFoundError for a pattern
    without a match, InvalidArgumentError for a file of another kind and for two inputs with the same name.
    """
    paths = list(dict.fromkeys(path for pattern in patterns for path in _matching(pattern)))
    folders = {os.path.dirname(os.path.abspath(path)) for path in paths}
    shared = os.path.commonpath(folders) if folders else ""
    items = [item for path in paths for item in _items(path, os.path.relpath(os.path.abspath(path), shared))]
    names: dict[str, Item] = {}
    for item in items:
        other = names.setdefault(item.name, item)
        if other is not item:
            raise InvalidArgumentError(f"'{other.path}' and '{item.path}' would have one result, '{item.name}'")
    return items


def _matching(pattern: str) -> list[str]:
    paths = sorted(path for path in glob.glob(pattern, recursive=True) if not os.path.isdir(path))
    if not paths:
        raise NotFoundError(f"no file matches '{pattern}'")
    return paths


def _items(path: str, below: str) -> Iterator[Item]:
    stem, ending = os.path.splitext(below)
    if _is_records(path):
        yield Item(below.replace(".tfrecords", "").replace(".tfrecord", ""), path)
    elif ending in (".npz", ".npy"):
        yield Item(stem, path)
    elif ending in _LINES:
        yield from _lines(path, stem)
    else:
        raise InvalidArgumentError(f"'{path}' is no input: files end in .npz, .npy, .tfrecord or {', '.join(_LINES)}")


def _is_records(path: str) -> bool:
    return ".tfrecord" in os.path.basename(path)


def _lines(path: str, stem: str) -> Iterator[Item]:
    """Yield the lines that are not blank."""
    start = 0
    with file_errors(path), open_regular(path) as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield Item(f"{stem}-{number:06d}", path, start, start + len(line))
            start += len(line)


def read_item(item: Item) -> Mapping[str, Any]:
    """Return the arrays of an input by name: of an npz file, or of a line's JSON object.

    An npy file and a TFRecord file, a vector of strings, have the name `WHOLE`. NotFoundError where the file is gone,
    DataLossError where the file is damaged.
    """
    if item.start is not None:
        return _parsed(item)
    if _is_records(item.path):
        return {WHOLE: _records(item.path)}
    if item.path.endswith(".npy"):
        return {WHOLE: open_array(item.path).read()}
    return {name: tensor.numpy() for name, tensor in read_npz(item.path).items()}


def _parsed(item: Item) -> Mapping[str, Any]:
    line = bytes(read_source(item.path)[item.start : item.end])
    try:
        parsed = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataLossError(f"line {item.name.rpartition('-')[2]} of '{item.path}' is no JSON: {error}") from None
    return parsed if isinstance(parsed, dict) else {WHOLE: parsed}


def _records(path: str) -> Any:
    data, position, records = bytes(read_source(path)), 0, []
    try:
        while position < len(data):
            record, position = decode_record(data, position)
            records.append(record)
    except RecordError as error:
        raise DataLossError(f"'{path}' is damaged: {error}") from None
    result = np.empty(len(records), object)
    result[:] = records
    return result
