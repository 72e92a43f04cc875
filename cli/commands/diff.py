"""`tfg diff`: compare two graphs node by node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..findings import FORMATS, print_findings, table_findings
from ..main import COMPARISON_FAILED, DONE
from ..options import (
    GraphReader,
    ci_format_option,
    graph_options,
    quiet_option,
    raw_option,
)
from ..requests import argument, command_of, option, part, request

if TYPE_CHECKING:
    from ...core.comparing.graph_diff import GraphDiff


@request
class DiffOptions:
    """Compare BEFORE with AFTER: nodes, functions, signatures, variables with their values, assets, versions.

    The comparison ignores the order of nodes, the numbers that TensorFlow adds to names, and the nodes that save variables.
    Functions match by their computation. A checkpoint, an .npz or a .safetensors file is compared by its values, also with a
    frozen graph. Exit code: 0 if all sections are equal, 3 if they differ. `tfg view BEFORE
    --diff AFTER` shows both graphs and the differences in a page.

    \b
    tfg diff graph.pb optimized.pb
    tfg diff old_saved_model new_saved_model
    tfg diff model.ckpt-1000 frozen.pb
    tfg diff graph.pb graph.pbtxt --quiet && echo equal
    """

    before: str = argument()
    after: str = argument()
    strict_names: bool = option(help="Match nodes and functions by name alone, and compare the full names.")
    raw: bool = raw_option()
    format_: str = ci_format_option()
    quiet: bool = quiet_option()
    reader: GraphReader = part(graph_options)


def _run(options: DiffOptions) -> int:
    """Compare two graphs, and print the differences; return 3 for differences."""
    from .. import render
    from ..sections.diff_sections import diff_sections

    format_ = options.format_
    result = _diff_values(options) or _diff_as_read(options) or _diff(options)
    if format_ in FORMATS:
        tables = (section for section in diff_sections(result, "csv") if isinstance(section, render.Table))
        print_findings(table_findings(tables, options.after, "different graph"), format_)
    elif not options.quiet:
        render.emit("tfg.diff/1", result, format_, lambda: diff_sections(result, format_))
    return DONE if result.is_empty else COMPARISON_FAILED


def _diff_values(options: DiffOptions) -> GraphDiff | None:
    """Compare the values of two files if one is a state; return None for two graphs."""
    from ...formats.api.analyses import diff
    from ...formats.state import holds_state

    paths = options.before, options.after
    return diff(*paths) if any(path != "-" and holds_state(path) for path in paths) else None


def _diff(options: DiffOptions) -> GraphDiff:
    from ...formats.api.analyses import diff
    from ..render import Working

    graphs = options.reader.load(options.before), options.reader.load(options.after)
    with Working("comparing", options.quiet):
        return diff(*graphs, strict_names=options.strict_names, raw=options.raw)


def _diff_as_read(options: DiffOptions) -> GraphDiff | None:
    """Compare two large files while reading; return None if the graphs must be loaded."""
    paths = options.before, options.after
    streams = [stream for path in paths if (stream := options.reader.stream(path)) is not None]
    if len(streams) < 2:
        return None
    from ...formats.streaming import diff_streams
    from ..render import Working

    with Working("comparing", options.quiet):
        return diff_streams(*streams, strict_names=options.strict_names)


command = command_of(DiffOptions, _run)
