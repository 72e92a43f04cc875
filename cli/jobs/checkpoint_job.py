"""Implementation of `tfg checkpoint`: the tensors that are chosen and changed, and their tables."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from ...core.support.words import counted, some
from ...core.types.dtypes import DType
from ...formats.api.checkpoints import Checkpoint, CheckpointMatch, StateComparison, TensorRow
from .. import render
from ..commands.checkpoint import CheckpointOptions
from ..main import COMPARISON_FAILED, DONE

if TYPE_CHECKING:
    from ..documents import CheckpointTensors, CheckpointValues


def run(options: CheckpointOptions) -> int:
    """Show, compare or write the tensors of a checkpoint."""
    format_ = options.format_
    checkpoint = _changed(options)
    if options.values:
        tensors = {tensor: checkpoint[tensor] for tensor in options.values}
        data: CheckpointValues = {"checkpoint": options.prefix, "values": tensors}
        render.emit("tfg.checkpoint.values/1", data, format_, lambda: _values_sections(tensors, format_))
        return DONE
    if options.other is not None:
        return _compare(checkpoint, options)
    if options.graph is not None:
        return _match(checkpoint, options.graph, format_)
    if options.out is not None:
        _write(checkpoint, options.out, options)
    else:
        _list(checkpoint if options.sort == "name" else checkpoint.largest_first(), options)
    return DONE


def _changed(options: CheckpointOptions) -> Checkpoint:
    """Return the chosen tensors, averaged and renamed as the options say."""
    from ...formats.api.checkpoints import average_checkpoints
    from ...formats.checkpoint.renaming import names_from_words

    # Chosen before they are averaged: a tensor that only one checkpoint has may be among those left out.
    first = _chosen(options.prefix, options)
    others = [_chosen(path, options) for path in options.average]
    checkpoint = average_checkpoints([first, *others], _weights(options.weights)) if others else first
    return checkpoint.renamed(names_from_words(options.rename)) if options.rename else checkpoint


def _chosen(path: str, options: CheckpointOptions) -> Checkpoint:
    from ...formats.api.checkpoints import read_checkpoint

    checkpoint = read_checkpoint(path, tags=options.tags.split(",") if options.tags is not None else None)
    # --values names its tensors itself, and a comparison chooses by --name on both sides.
    is_chosen = not options.values and options.other is None
    chosen = checkpoint.matching(options.name) if is_chosen else checkpoint
    return chosen if options.exclude is None else chosen.without(options.exclude)


def _weights(text: str | None) -> list[float] | None:
    try:
        return None if text is None else [float(word) for word in text.split(",")]
    except ValueError:
        raise click.UsageError(f"--weights: '{text}' is not a list of numbers such as 0.5,0.3,0.2") from None


def _compare(checkpoint: Checkpoint, options: CheckpointOptions) -> int:
    from ...formats.api.checkpoints import compare_checkpoints, read_checkpoint

    assert options.other is not None
    other = read_checkpoint(options.other)
    # On both sides: a tensor left out here would be missing there.
    if options.exclude is not None:
        other = other.without(options.exclude)
    compared = compare_checkpoints(checkpoint, other, pattern=options.name, tolerance=options.tolerance)
    render.emit("tfg.checkpoint.compare/1", compared, options.format_, lambda: _comparison_sections(compared))
    return DONE if compared.equal else COMPARISON_FAILED


def _match(checkpoint: Checkpoint, graph: str, format_: str) -> int:
    from ...formats.api.checkpoints import match_checkpoint

    match = match_checkpoint(checkpoint, graph)
    render.emit("tfg.checkpoint.for/1", match, format_, lambda: _match_sections(match, format_))
    return DONE if match.fits else COMPARISON_FAILED


def _write(checkpoint: Checkpoint, path: str, options: CheckpointOptions) -> None:
    from ...formats.api.checkpoints import write_checkpoint
    from ...formats.api.step_results import read_labels

    labels = None if options.labels is None else read_labels(options.labels)
    # Labels are read first, so that a missing file leaves no table without them.
    count = write_checkpoint(path, checkpoint, labels=labels)
    render.note(f"wrote {counted(count, 'tensor')} to {path}", options.quiet)


def _list(checkpoint: Checkpoint, options: CheckpointOptions) -> None:
    for lack in filter(None, (tensor.lack for tensor in checkpoint.tensors.values())):
        # A listing needs no values, so a file of values that is missing is worth a note only.
        render.note(lack.message, options.quiet)
    if checkpoint.copies:
        copies = some([f"{name} (but {other})" for name, other in checkpoint.copies.items()])
        render.note(f"the signatures do not read {counted(len(checkpoint.copies), 'tensor')}: {copies}", options.quiet)
    # Statistics read all values, a plain list only the index: so the rows are made where a table needs them.
    rows = functools.partial(checkpoint.describe, statistics=options.with_statistics)
    if options.format_ == "json":
        tensors: CheckpointTensors = {"checkpoint": options.prefix, "tensors": rows()}
        render.print_json("tfg.checkpoint/1", tensors)
    elif options.with_statistics:
        render.emit("tfg.checkpoint/1", {}, options.format_, lambda: _statistics_table(rows()))
    else:
        render.emit("tfg.checkpoint/1", {}, options.format_, lambda: _listing(checkpoint))


_COLUMNS = ("name", "dtype", "shape", "bytes")
_STATISTICS = ("min", "max", "mean", "std", "NaN", "inf")
_MINOR = ("dtype", "bytes", "std", "mean")
"""The columns that a narrow terminal leaves out first, where there are statistics."""
_MAX_SHOWN = 1000
"""The largest number of elements that a table shows in full; larger tensors show the first and last elements."""


def _listing(checkpoint: Checkpoint) -> Iterator[render.Section]:
    cells = [(name, *_kind(tensor.dtype, tensor.shape)) for name, tensor in checkpoint.tensors.items()]
    yield render.Table(_COLUMNS, cells)
    yield _totals([size for *_, size in cells])


def _statistics_table(rows: Sequence[TensorRow]) -> Iterator[render.Section]:
    cells = [
        (row.name, row.dtype, _shape(row.shape), row.bytes, v.min, v.max, v.mean, v.std, v.nans, v.infs)
        for row in rows
        if (v := row.statistics) is not None
    ]
    # Statistics are of numbers: strings alone leave no row with any.
    yield render.Table((*_COLUMNS, *_STATISTICS), cells, minor=_MINOR) if cells else render.Table(_COLUMNS, cells)
    yield _totals([row.bytes for row in rows])


def _totals(sizes: Sequence[int]) -> render.Text:
    return render.Text(f"{counted(len(sizes), 'tensor')}, {counted(sum(sizes), 'byte')}")


def _values_sections(tensors: Mapping[str, Any], format_: str) -> Iterator[render.Section]:
    """Yield the values of each tensor; in CSV a row for each element."""
    if format_ == "csv":
        # A row for each element, since a cell of CSV holds one number.
        elements = ((name, place, value) for name, array in tensors.items() for place, value in np.ndenumerate(array))
        rows = [(name, " ".join(map(str, place)), value) for name, place, value in elements]
        yield render.Table(("name", "index", "value"), rows)
        return
    for name, array in tensors.items():
        yield render.Text(np.array2string(array, threshold=_MAX_SHOWN, separator=", ", max_line_width=100), name, "code")


def _comparison_sections(result: StateComparison) -> Iterator[render.Section]:
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


def _match_sections(match: CheckpointMatch, format_: str) -> Iterator[render.Section]:
    """Yield the variables and tensors that do not fit, and the likely new names; in CSV all variables and tensors."""
    shown = [row for row in match.variables if format_ == "csv" or row.status != "fits"]
    rows = [(row.name, row.status, row.graph, row.checkpoint, row.nearest) for row in shown]
    if rows or format_ == "csv":
        yield render.Table(("name", "status", "graph", "checkpoint", "nearest"), rows)
    yield render.Text(match.headline())
    if match.pairs() and format_ != "csv":
        # As text to copy into a file, which --map takes.
        lines = "\n".join(f"{old}={new}" for old, new in match.pairs().items())
        yield render.Text(lines, "likely new names, for a file that --map and --rename read", "code")
