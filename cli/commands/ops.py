"""`tfg ops`: list the ops: interfaces, kernels, gradients, coverage."""

from __future__ import annotations

from ...core.support.file_formats import WRAPPERS
from ..options import GraphReader, OutputFile, format_option, output_option, quiet_option
from ..requests import argument, command_of, needing, option, part, request


@request
class OpsOptions:
    """List the ops, or show the interface of each op NAME and its support in tfg.

    A NAME that is not an op is a regular expression, found anywhere in the names of ops.

    \b
    tfg ops MatMul
    tfg ops conv --missing-kernel
    tfg ops --missing graph.pb
    tfg ops --flops MatMul Conv2D
    tfg ops --wrap MatMul Add -o wrappers.py
    """

    names: tuple[str, ...] = argument("[NAME_OR_REGEX]...", nargs=-1)
    family: str | None = option(
        metavar="NAME",
        excludes="--coverage --missing",
        help="Only ops of this family: the file of core/ops that defines the ops.",
    )
    missing_kernel: bool = option(excludes="--coverage --missing", help="Only ops without a kernel in tfg.")
    custom: bool = option(excludes="--coverage --missing", help="Only ops declared by op libraries.")
    coverage: bool = option(excludes="--missing", help="Count the ops with a kernel, a shape function, a gradient or FLOPs.")
    flops: bool = option(excludes="--coverage --missing", help="Show the FLOPs formulas.")
    missing: str | None = option(
        metavar="GRAPH", help="Find the kernels, gradients and other functions that tfg lacks for the ops of this graph."
    )
    wrap: bool = option(excludes="--coverage --missing --flops", help="Write Python wrappers for the ops.")
    output: str = output_option(
        OutputFile(WRAPPERS, may_be_stdout=True),
        "For --wrap: write the wrappers here. Default: standard output.",
        default="-",
        needs="--wrap",
    )
    format_: str = format_option()
    quiet: bool = quiet_option()
    # The options of a graph, of which --op-library also serves lists without a graph.
    reader: GraphReader = part(GraphReader, needing("--map-op --tags --function", "--missing"))


command = command_of(OpsOptions, "ops_job.run")
