"""`tfg checkpoint`: list, extract, change or compare the tensors of a checkpoint or a model."""

from __future__ import annotations

from typing import Literal

from ...core.support.file_formats import TENSORS
from ..options import OutputFile, format_option, output_option, quiet_option, tolerance_option
from ..requests import argument, command_of, option, request


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
    # A file has the order of its own format, and a comparison that of the differences.
    sort: Literal["name", "bytes"] = option(
        default="name", excludes="--output --compare --for --values", help="Order of the tensors; bytes: the largest first."
    )
    with_statistics: bool = option(
        "--stats",
        excludes="--output --compare --for --values",
        help="Also show minimum, maximum, mean, standard deviation, NaNs and infinities.",
    )
    values: tuple[str, ...] = option(
        metavar="TENSOR", excludes="--output --compare --for", help="Print the values of this tensor; repeatable."
    )
    out: str | None = output_option(
        OutputFile(TENSORS),
        "Write the tensors to an .npz file, a .safetensors file or a checkpoint, or a table to .npy, .csv or .tsv.",
        excludes="--compare --for",
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
    # Not by GraphReader, whose other options change graphs: a checkpoint has no ops to map.
    tags: str | None = option(
        metavar="TAGS", excludes="--compare", help="The tags of the SavedModel's graph, separated by commas."
    )
    format_: str = format_option("table", "json", "csv")
    quiet: bool = quiet_option()


command = command_of(CheckpointOptions, "checkpoint_job.run")
