"""`tfg checkpoint`: list, extract, change or compare the tensors of a checkpoint or a model."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import click

from ...core.support.file_formats import TENSORS
from ...core.support.words import counted, some
from .. import render
from ..main import COMPARISON_FAILED, DONE
from ..options import (
    OutputFile,
    format_option,
    quiet_option,
    tolerance_option,
)
from ..requests import argument, command_of, option, request

if TYPE_CHECKING:
    from ...formats.api.checkpoints import Checkpoint


@request
class CheckpointOptions:
    """List the tensors of the checkpoint PREFIX: names, dtypes, shapes, bytes.

    PREFIX may be an .npz or .safetensors file, a SavedModel with variables, or a graph with constants. The options choose
    tensors, then average, then rename. TensorFlow restores a written part of a TF2 checkpoint by its objects.

    \b
    tfg checkpoint model.ckpt-1000 --sort bytes
    tfg checkpoint saved_model_folder --stats
    tfg checkpoint model.ckpt-1000 --values global_step
    tfg checkpoint model.ckpt-1000 --exclude Adam --output weights.npz
    tfg checkpoint model.ckpt-1000 --rename encoder/=bert/ --output renamed.ckpt
    tfg checkpoint model.ckpt-1000 --average model.ckpt-2000 --output mean.ckpt
    tfg checkpoint model.ckpt-1000 --name '^embedding$' --output vectors.tsv --labels vocabulary.txt
    tfg checkpoint model.ckpt-1000 --compare model.ckpt-2000
    tfg checkpoint model.ckpt-1000 --for graph.pb
    """

    prefix: str = argument()
    name: str = option(default="", metavar="REGEX", help="Only tensors whose name matches.")
    exclude: str | None = option(metavar="REGEX", help="Leave out tensors whose name matches.")
    average: tuple[str, ...] = option(metavar="PREFIX", help="Average with this checkpoint; repeatable.")
    weights: str | None = option(
        metavar="W,W,...",
        needs="--average",
        help="The weights of the averaged checkpoints, PREFIX first. Default: equal weights.",
    )
    rename: tuple[str, ...] = option(
        metavar="OLD=NEW",
        help="Rename a tensor or scope, or what matches a regular expression; @FILE has a line for each; repeatable.",
    )
    sort: str = option(
        type=click.Choice(("name", "bytes")),
        default="name",
        show_default=True,
        excludes="--output --compare --for --values",
        help="Order of the tensors; bytes: the largest first.",
    )
    with_statistics: bool = option(
        "--stats",
        excludes="--output --compare --for --values",
        help="Also show minimum, maximum, mean, standard deviation, NaNs and infinities.",
    )
    values: tuple[str, ...] = option(
        metavar="TENSOR", excludes="--output --compare --for", help="Print the values of this tensor; repeatable."
    )
    out: str | None = option(
        "-o",
        "--output",
        type=OutputFile(TENSORS),
        metavar="FILE",
        excludes="--compare --for",
        help="Write the tensors to an .npz file, a .safetensors file or a checkpoint, or a table to .npy, .csv or .tsv.",
    )
    labels: str | None = option(
        metavar="FILE",
        needs="--output",
        help="With --output FILE.tsv: write a label for each row, a line of this file, to metadata.tsv.",
    )
    other: str | None = option("--compare", metavar="PREFIX", help="Compare with a checkpoint, a state file or a model.")
    tolerance: float = tolerance_option("--compare", needs="--compare")
    graph: str | None = option(
        "--for", metavar="GRAPH", excludes="--compare", help="Show which variables of this graph lack a value that fits."
    )
    tags: str | None = option(
        metavar="TAGS", excludes="--compare", help="The tags of the SavedModel's graph, separated by commas."
    )
    format_: str = format_option("table", "json", "csv")
    quiet: bool = quiet_option()


def _run(options: CheckpointOptions) -> int:
    """Show, compare or write the tensors of a checkpoint."""
    from ..sections.checkpoint_sections import values_sections

    format_ = options.format_
    checkpoint = _changed(options)
    if options.values:
        tensors = {tensor: checkpoint[tensor] for tensor in options.values}
        data = {"checkpoint": options.prefix, "values": tensors}
        render.emit("tfg.checkpoint.values/1", data, format_, lambda: values_sections(tensors, format_))
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

    first = _chosen(options.prefix, options)
    others = [_chosen(path, options) for path in options.average]
    checkpoint = average_checkpoints([first, *others], _weights(options.weights)) if others else first
    return checkpoint.renamed(names_from_words(options.rename)) if options.rename else checkpoint


def _chosen(path: str, options: CheckpointOptions) -> Checkpoint:
    from ...formats.api.checkpoints import read_checkpoint

    checkpoint = read_checkpoint(path, tags=options.tags.split(",") if options.tags is not None else None)
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
    from ..sections.checkpoint_sections import comparison_sections

    assert options.other is not None
    other = read_checkpoint(options.other)
    if options.exclude is not None:
        other = other.without(options.exclude)
    compared = compare_checkpoints(checkpoint, other, pattern=options.name, tolerance=options.tolerance)
    render.emit("tfg.checkpoint.compare/1", compared, options.format_, lambda: comparison_sections(compared))
    return DONE if compared.equal else COMPARISON_FAILED


def _match(checkpoint: Checkpoint, graph: str, format_: str) -> int:
    from ...formats.api.checkpoints import match_checkpoint
    from ..sections.checkpoint_sections import match_sections

    match = match_checkpoint(checkpoint, graph)
    render.emit("tfg.checkpoint.for/1", match, format_, lambda: match_sections(match, format_))
    return DONE if match.fits else COMPARISON_FAILED


def _write(checkpoint: Checkpoint, path: str, options: CheckpointOptions) -> None:
    from ...formats.api.checkpoints import write_checkpoint
    from ...formats.api.step_results import read_labels

    labels = None if options.labels is None else read_labels(options.labels)
    count = write_checkpoint(path, checkpoint, labels=labels)
    render.note(f"wrote {counted(count, 'tensor')} to {path}", options.quiet)


def _list(checkpoint: Checkpoint, options: CheckpointOptions) -> None:
    from ..sections.checkpoint_sections import listing, statistics_table

    for lack in filter(None, (tensor.lack for tensor in checkpoint.tensors.values())):
        render.note(lack.message, options.quiet)
    if checkpoint.copies:
        copies = some([f"{name} (but {other})" for name, other in checkpoint.copies.items()])
        render.note(f"the signatures do not read {counted(len(checkpoint.copies), 'tensor')}: {copies}", options.quiet)
    rows = functools.partial(checkpoint.describe, statistics=options.with_statistics)
    if options.format_ == "json":
        render.print_json("tfg.checkpoint/1", {"checkpoint": options.prefix, "tensors": rows()})
    elif options.with_statistics:
        render.emit("tfg.checkpoint/1", {}, options.format_, lambda: statistics_table(rows()))
    else:
        render.emit("tfg.checkpoint/1", {}, options.format_, lambda: listing(checkpoint))


command = command_of(CheckpointOptions, _run)
