"""`tfg ops`: list the ops: interfaces, kernels, gradients, coverage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from ...core.support.file_formats import WRAPPERS
from ...core.support.words import counted
from .. import render
from ..options import (
    GraphReader,
    OutputFile,
    format_option,
    graph_options,
    quiet_option,
)
from ..requests import argument, command_of, needing, option, part, request, together
from ..sections.ops_sections import (
    coverage_sections,
    detail_sections,
    detail_tables,
    formula_sections,
    list_sections,
    missing_sections,
)


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
    output: str = option(
        "-o",
        "--output",
        type=OutputFile(WRAPPERS, may_be_stdout=True),
        default="-",
        metavar="FILE",
        needs="--wrap",
        help="For --wrap: write the wrappers here. Default: standard output.",
    )
    format_: str = format_option()
    quiet: bool = quiet_option()
    reader: GraphReader = part(together(needing("--map-op --tags --function", "--missing"), graph_options))


def _run(options: OpsOptions) -> None:
    """List or describe ops, or write wrappers for them."""
    from ...core.op_libraries.op_listing import missing_parts, op_coverage

    names, format_ = options.names, options.format_
    if options.missing is not None and names:
        raise click.UsageError("--missing lists the ops of GRAPH: leave out NAME")
    if options.missing is not None:
        missing = missing_parts(options.reader.load(options.missing))
        render.emit("tfg.ops.missing/1", {"missing": missing}, format_, lambda: missing_sections(missing, format_))
        return
    options.reader.load_libraries()
    if options.wrap and not (names or options.family or options.custom or options.missing_kernel):
        raise click.UsageError("--wrap writes a wrapper for each chosen op: name ops, or give --family or --custom")
    if options.coverage and names:
        raise click.UsageError("--coverage counts all ops by family: leave out NAME")
    if options.coverage:
        coverage = op_coverage()
        render.emit("tfg.ops.coverage/1", coverage, format_, lambda: coverage_sections(coverage.families, coverage.total))
    elif options.flops:
        from ...core.flops.formulas import flops_formulas

        formulas = flops_formulas([op.name for op in _selected(options)])
        render.emit("tfg.ops.formulas/1", {"formulas": formulas}, format_, lambda: formula_sections(formulas))
    elif options.wrap:
        _wrap(_selected(options), options.output, options.quiet)
    else:
        _list(options)


def _list(options: OpsOptions) -> None:
    """Print details of ops that are named, or a list of the ops that the expressions and filters choose."""
    from ...core.op_libraries.op_listing import OpDetail, OpSummary, is_declared, ops

    names, format_ = options.names, options.format_
    if names and all(map(is_declared, names)):
        listed = ops(*names)
    else:
        listed = ops(*names, family=options.family, missing_kernel=options.missing_kernel, custom=options.custom)
    details = [op for op in listed if isinstance(op, OpDetail)]
    summaries = [op for op in listed if isinstance(op, OpSummary)]
    if not details:
        render.emit("tfg.ops/1", {"ops": summaries}, format_, lambda: list_sections(summaries))
        return
    if format_ == "csv":
        sections: Iterator[render.Section] = detail_tables(details)
    else:
        sections = (section for detail in details for section in detail_sections(detail))
    render.emit("tfg.ops.details/1", {"ops": details}, format_, lambda: sections)


def _selected(options: OpsOptions) -> Any:
    """Return the ops that match the names or expressions and the filters; NotFoundError for a name without a match."""
    from ...core.op_libraries.op_listing import select_ops

    return select_ops(options.names, options.family, options.missing_kernel, options.custom)


def _wrap(ops: Sequence[Any], target: str, quiet: bool) -> None:
    from ...core.op_libraries.wrappers import write_wrappers
    from ...formats.codecs.source import write_file

    text = write_wrappers([op.name for op in ops])
    if target == "-":
        render.print_text(text)
    else:
        write_file(target, [text.encode()])
        render.note(f"wrote wrappers of {counted(len(ops), 'op')} to {target}", quiet)


command = command_of(OpsOptions, _run)
