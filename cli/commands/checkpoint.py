"""`tfg checkpoint`: list, extract or compare the tensors of a checkpoint or a model."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...core.support.file_formats import TENSORS
from ...core.support.words import counted, some
from .. import render
from ..main import COMPARISON_FAILED, DONE
from ..options import (
    OutputFile,
    format_option,
    quiet_option,
)
from ..requests import argument, command_of, option, request
from ..tolerance import tolerance_option

if TYPE_CHECKING:
    from ...core.types.dtypes import DType
    from ...formats.api.checkpoints import Checkpoint, StateComparison, TensorRow

_COLUMNS = ("name", "dtype", "shape", "bytes")
_STATISTICS = ("min", "max", "mean", "std", "NaN", "inf")
_MINOR = ("dtype", "bytes", "std", "mean")
"""The columns that a narrow terminal leaves out first, where there are statistics."""
_MAX_SHOWN = 1000
"""The largest number of elements that a table shows in full; larger tensors show the first and last elements."""


@request
class CheckpointOptions:
    """List the tensors of the checkpoint PREFIX: names, dtypes, shapes, bytes.

    PREFIX may be an .npz or .safetensors file, a SavedModel with variables, or a graph with constants.

    \b
    tfg checkpoint model.ckpt-1000
    tfg checkpoint saved_model_folder --stats
    tfg checkpoint model.ckpt-1000 --values global_step
    tfg checkpoint model.ckpt-1000 --name kernel --output kernels.npz
    tfg checkpoint model.ckpt-1000 --name '^embedding$' --output vectors.tsv
    tfg checkpoint model.ckpt-1000 --compare model.ckpt-2000
    """

    prefix: str = argument()
    name: str = option(default="", metavar="REGEX", help="Only tensors whose name matches.")
    with_statistics: bool = option(
        "--stats",
        excludes="--output --compare --values",
        help="Also show minimum, maximum, mean, standard deviation, NaNs and infinities.",
    )
    values: tuple[str, ...] = option(
        metavar="TENSOR", excludes="--output --compare", help="Print the values of this tensor; repeatable."
    )
    out: str | None = option(
        "-o",
        "--output",
        type=OutputFile(TENSORS),
        metavar="FILE",
        excludes="--compare",
        help="Write the tensors to an .npz file, a .safetensors file or a checkpoint, or a table to .npy, .csv or .tsv.",
    )
    other: str | None = option("--compare", metavar="PREFIX", help="Compare with another checkpoint or state file.")
    tolerance: float = tolerance_option("--compare", needs="--compare")
    tags: str | None = option(
        metavar="TAGS", excludes="--compare", help="The tags of the SavedModel's graph, separated by commas."
    )
    format_: str = format_option("table", "json", "csv")
    quiet: bool = quiet_option()


def _run(options: CheckpointOptions) -> int:
    """Show, compare or write the tensors of a checkpoint."""
    from ...formats.api.checkpoints import compare_checkpoints, read_checkpoint, write_checkpoint
    from ...formats.state import by_variable

    format_, tags = options.format_, options.tags
    checkpoint = read_checkpoint(options.prefix, tags=tags.split(",") if tags is not None else None)
    if options.values:
        tensors = {tensor: checkpoint[tensor] for tensor in options.values}
        data = {"checkpoint": options.prefix, "values": tensors}
        render.emit("tfg.checkpoint.values/1", data, format_, lambda: _values(tensors, format_))
        return DONE
    if options.other is not None:
        other = read_checkpoint(options.other)
        compared = compare_checkpoints(checkpoint, other, pattern=options.name, tolerance=options.tolerance)
        render.emit("tfg.checkpoint.compare/1", compared, format_, lambda: _comparison(compared))
        return DONE if compared.equal else COMPARISON_FAILED
    chosen = checkpoint.matching(options.name)
    if options.out is not None:
        count = write_checkpoint(options.out, by_variable(checkpoint.tensors, chosen))
        render.note(f"wrote {counted(count, 'tensor')} to {options.out}", options.quiet)
        return DONE
    for lack in filter(None, (tensor.lack for tensor in chosen.tensors.values())):
        render.note(lack.message, options.quiet)
    if chosen.copies:
        copies = some([f"{name} (but {other})" for name, other in chosen.copies.items()])
        render.note(f"the signatures do not read {counted(len(chosen.copies), 'tensor')}: {copies}", options.quiet)
    with_statistics = options.with_statistics
    rows = functools.partial(chosen.describe, statistics=with_statistics)
    if format_ == "json":
        render.print_json("tfg.checkpoint/1", {"checkpoint": options.prefix, "tensors": rows()})
    else:
        render.emit("tfg.checkpoint/1", {}, format_, lambda: _statistics(rows()) if with_statistics else _listing(chosen))
    return DONE


def _listing(checkpoint: Checkpoint) -> Iterator[render.Section]:
    cells = [(name, *_kind(tensor.dtype, tensor.shape)) for name, tensor in checkpoint.tensors.items()]
    yield render.Table(_COLUMNS, cells)
    yield _totals([size for *_, size in cells])


def _statistics(rows: Sequence[TensorRow]) -> Iterator[render.Section]:
    cells = [
        (row.name, row.dtype, _shape(row.shape), row.bytes, v.min, v.max, v.mean, v.std, v.nans, v.infs)
        for row in rows
        if (v := row.statistics) is not None
    ]
    yield render.Table((*_COLUMNS, *_STATISTICS), cells, minor=_MINOR) if cells else render.Table(_COLUMNS, cells)
    yield _totals([row.bytes for row in rows])


def _totals(sizes: Sequence[int]) -> render.Text:
    return render.Text(f"{counted(len(sizes), 'tensor')}, {counted(sum(sizes), 'byte')}")


def _values(tensors: Mapping[str, Any], format_: str) -> Iterator[render.Section]:
    """Yield the values of each tensor; in CSV a row for each element."""
    import numpy as np

    if format_ == "csv":
        elements = ((name, place, value) for name, array in tensors.items() for place, value in np.ndenumerate(array))
        rows = [(name, " ".join(map(str, place)), value) for name, place, value in elements]
        yield render.Table(("name", "index", "value"), rows)
        return
    for name, array in tensors.items():
        yield render.Text(np.array2string(array, threshold=_MAX_SHOWN, separator=", ", max_line_width=100), name, "code")


def _comparison(result: StateComparison) -> Iterator[render.Section]:
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


command = command_of(CheckpointOptions, _run)
