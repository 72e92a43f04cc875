"""The output of `tfg checkpoint`: tables of tensors, values, comparisons, and of a checkpoint beside a graph."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...core.support.words import counted
from ...core.types.dtypes import DType
from ...formats.api.checkpoints import Checkpoint, CheckpointMatch, StateComparison, TensorRow
from .. import render

_COLUMNS = ("name", "dtype", "shape", "bytes")
_STATISTICS = ("min", "max", "mean", "std", "NaN", "inf")
_MINOR = ("dtype", "bytes", "std", "mean")
"""The columns that a narrow terminal leaves out first, where there are statistics."""
_MAX_SHOWN = 1000
"""The largest number of elements that a table shows in full; larger tensors show the first and last elements."""


def listing(checkpoint: Checkpoint) -> Iterator[render.Section]:
    cells = [(name, *_kind(tensor.dtype, tensor.shape)) for name, tensor in checkpoint.tensors.items()]
    yield render.Table(_COLUMNS, cells)
    yield _totals([size for *_, size in cells])


def statistics_table(rows: Sequence[TensorRow]) -> Iterator[render.Section]:
    cells = [
        (row.name, row.dtype, _shape(row.shape), row.bytes, v.min, v.max, v.mean, v.std, v.nans, v.infs)
        for row in rows
        if (v := row.statistics) is not None
    ]
    yield render.Table((*_COLUMNS, *_STATISTICS), cells, minor=_MINOR) if cells else render.Table(_COLUMNS, cells)
    yield _totals([row.bytes for row in rows])


def _totals(sizes: Sequence[int]) -> render.Text:
    return render.Text(f"{counted(len(sizes), 'tensor')}, {counted(sum(sizes), 'byte')}")


def values_sections(tensors: Mapping[str, Any], format_: str) -> Iterator[render.Section]:
    """Yield the values of each tensor; in CSV a row for each element."""
    if format_ == "csv":
        elements = ((name, place, value) for name, array in tensors.items() for place, value in np.ndenumerate(array))
        rows = [(name, " ".join(map(str, place)), value) for name, place, value in elements]
        yield render.Table(("name", "index", "value"), rows)
        return
    for name, array in tensors.items():
        yield render.Text(np.array2string(array, threshold=_MAX_SHOWN, separator=", ", max_line_width=100), name, "code")


def comparison_sections(result: StateComparison) -> Iterator[render.Section]:
    rows = [(row.name, row.status, row.largest_difference, row.detail) for row in result.tensors]
    yield render.Table(("name", "status", "largest difference", "detail"), rows)
    statuses = Counter(row.status for row in result.tensors)
    counts = ", ".join(f"{count:,} {status}" for status, count in statuses.items())
    yield render.Text(f"{counted(len(rows), 'tensor')}: {counts}" if rows else "no tensors")


@functools.lru_cache(1024)
def _kind(dtype: DType, shape: tuple[int, ...]) -> tuple[str, str, int]:
    """Return the cells of a tensor's dtype and shape: many tensors share both."""
    return str(dtype), _shape(shape), math.prod(shape) * dtype.size


def _shape(shape: tuple[int, ...]) -> str:
    return f"({','.join(map(str, shape))})"


def match_sections(match: CheckpointMatch, format_: str) -> Iterator[render.Section]:
    """Yield the variables and tensors that do not fit, and the likely new names; in CSV all variables and tensors."""
    shown = [row for row in match.variables if format_ == "csv" or row.status != "fits"]
    rows = [(row.name, row.status, row.graph, row.checkpoint, row.nearest) for row in shown]
    if rows or format_ == "csv":
        yield render.Table(("name", "status", "graph", "checkpoint", "nearest"), rows)
    yield render.Text(match.headline())
    if match.pairs() and format_ != "csv":
        lines = "\n".join(f"{old}={new}" for old, new in match.pairs().items())
        yield render.Text(lines, "likely new names, for a file that --map and --rename read", "code")
