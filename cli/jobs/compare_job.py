"""Implementation of `tfg compare`: compares two graphs, a graph on two engines, or two states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from ...core.comparing.value_comparison import GraphComparison, NodeComparison, NodeTimes, TimeComparison
from ...core.support import dataclasses
from ...formats.api.comparisons import compare, compare_states
from ...formats.api.names import Names
from ...formats.onnx_model import is_onnx
from ...formats.state import holds_state, read_variables
from .. import render
from ..commands.compare import CompareOptions
from ..engines import report_sections
from ..findings import FORMATS, Finding, print_findings
from ..main import COMPARISON_FAILED, DONE

if TYPE_CHECKING:
    from ..documents import Compare

_MAX_NAMES = 10


def run(options: CompareOptions) -> int:
    """Compare the values of two graphs or states, and print the differences; return 3 for differences."""
    job = compare_files(options)
    if options.format_ in FORMATS:
        print_findings(job.findings(), options.format_)
    else:
        render.emit("tfg.compare/1", job.as_json(), options.format_, lambda: job.sections(options.format_))
    return DONE if job.result.agrees else COMPARISON_FAILED


class CompareJob:
    """A run of `tfg compare`: the result and the output."""

    def __init__(self, result: GraphComparison, options: CompareOptions) -> None:
        self.result = result
        self.options = options

    def as_json(self) -> Compare:
        result = self.result
        document: Compare = {
            "first": result.first,
            "first_nonfinite": result.first_nonfinite,
            "compared": len(result.nodes),
            "only_before": result.only_before,
            "only_after": result.only_after,
        }
        if self.options.engines:
            document["engines"] = result.engines
        if result.times is not None:
            document["times"] = result.times
        if self.options.show_all:
            document["nodes"] = result.nodes
        return document

    def findings(self) -> list[Finding]:
        """Return the values that differ as findings in the second graph: the first, or all with --all."""
        # Behind the first difference most values differ, and a page of annotations hides the cause.
        nodes = [node for node in self.result.nodes if not node.passed]
        shown = nodes if self.options.show_all else nodes[:1]
        path = self.options.after or self.options.before
        return [Finding("error", "different value", _difference(node), path, node.other.partition(":")[0]) for node in shown]

    def sections(self, format_: str) -> Iterator[render.Section]:
        """Yield the first difference, or all values; then unmatched nodes, engine reports and times."""
        result = self.result
        # CSV is for programs, which get a table even of no difference.
        if self.options.show_all or format_ == "csv":
            yield _table(result.nodes if self.options.show_all else [result.first] if result.first else [], result.of_states)
        if result.first is None:
            yield render.Text(f"all {len(result.nodes)} common values agree")
        else:
            if not self.options.show_all:
                yield _table([result.first], result.of_states, "first difference")
            differing = sum(not node.passed for node in result.nodes)
            yield render.Text(f"{differing} of {len(result.nodes)} common values differ; --all shows all of them")
        if result.first_nonfinite is not None:
            node = result.first_nonfinite
            other = node.other if node.other != node.tensor else ""
            columns = ("tensor", "op", "in AFTER", "NaN or infinite in BEFORE", "in AFTER")
            row = (node.tensor, node.op, other, node.nonfinite_before, node.nonfinite_after)
            yield render.Table(columns, [row], "first NaN or infinity")
        for title, names in (("only in BEFORE", result.only_before), ("only in AFTER", result.only_after)):
            if names and not self.options.quiet:
                more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
                yield render.Text(", ".join(names[:_MAX_NAMES]) + more, title)
        for report in result.engines:
            # The summary alone: what ran where is the matter of --engine-report.
            yield next(report_sections(report))
        if result.times is not None:
            yield from _time_sections(result.times, self.options.top)


def compare_files(options: CompareOptions) -> CompareJob:
    """Run the comparison that the options ask for."""
    before, after, session = options.before, options.after, options.session
    if (after is not None) + (options.passes is not None) + (options.engines is not None) != 1:
        raise click.UsageError("give exactly one of AFTER, --passes and --engines")
    if holds_state(before) or (after is not None and holds_state(after)):
        _refuse_what_states_do_not_take()
        return CompareJob(_compared_states(options), options)
    if is_onnx(before) or (after is not None and is_onnx(after)):
        _require_a_graph(options)
    # An ONNX file has names of its own, which onnxruntime resolves.
    names = [None if path is None or is_onnx(path) else _names(path, options) for path in (before, after)]
    first, second = (path if of_file is None else of_file.graph for path, of_file in zip((before, after), names))
    # At least one is a graph: two ONNX files were refused above.
    one, *others = filter(None, names)
    assert first is not None
    result = compare(
        first, second, _in_both(options.fetches, one, others), one.feeds(options.feeds),
        passes=options.passes, fast_math=options.fast_math, engines=options.engines, signature=session.signature,
        measured=options.measured, tolerance=options.tolerance,
        # Only with one seed do both graphs draw the same numbers.
        open_session=dataclasses.replace(session, seed=session.seed or 0).filled,
    )  # fmt: skip
    return CompareJob(result, options)


def _names(path: str, options: CompareOptions) -> Names:
    """Return the names of a file's graph, which has the tensors of all fetches."""
    graph = options.reader.load(path)
    return Names(graph, options.session.signature).exposing(options.fetches, render.noting(options.quiet))


def _in_both(words: Sequence[str], names: Names, others: Sequence[Names]) -> dict[str, str]:
    """Return the names of fetches in the second graph, or in an ONNX file, by their names in the first."""
    tensors = {word: names.fetch(word) for word in words}
    if not others:
        return {name: word for word, name in tensors.items()}
    (other,) = others
    # A word that is an output of the second model's signature means that output, whatever its tensor is called.
    stays = {word: word not in other.outputs and other.knows(name) for word, name in tensors.items()}
    return {name: name if stays[word] else other.fetch(word) for word, name in tensors.items()}


def _require_a_graph(options: CompareOptions) -> None:
    """Raise a usage error unless an ONNX file is compared with a graph, by values alone."""
    before, after = options.before, options.after
    if after is None or options.measured or is_onnx(before) == is_onnx(after):
        what = "with --measured" if options.measured else f"with {after}" if after else "alone"
        raise click.UsageError(f"an ONNX file must be compared with a graph, not {what}")


def _compared_states(options: CompareOptions) -> GraphComparison:
    before, after = options.before, options.after
    for path in (before, after):
        if path is None or not holds_state(path):
            raise click.UsageError(f"a state must be compared with another state, not with {path or 'nothing'}")
    assert after is not None
    return compare_states(read_variables(before), read_variables(after), tolerance=options.tolerance)


def _refuse_what_states_do_not_take() -> None:
    ctx = click.get_current_context()
    taken = {"before", "after", "tolerance", "show_all", "format_", "quiet"}
    for param in ctx.command.params:
        # Whether both files are states is known only now, too late for the rules of the options.
        is_given = ctx.get_parameter_source(param.name or "") is click.core.ParameterSource.COMMANDLINE
        if is_given and param.name not in taken:
            raise click.UsageError(f"{max(param.opts, key=len)} has no effect when states are compared", ctx)


def _difference(node: NodeComparison) -> str:
    return f"'{node.tensor}' differs by {node.largest_difference:.6g}; tolerance {node.tolerance_needed:.3g} would pass"


def _time_sections(times: TimeComparison, top: int) -> Iterator[render.Section]:
    # Below the slowest nodes, since many small ones may cost more than the first ten.
    whole = NodeTimes("all nodes", "", "all nodes", times.before, times.after)
    rows = [
        (
            row.node,
            row.op,
            row.other if row.other != row.node else "",
            *map(_milliseconds, (row.before, row.after, row.slowdown)),
        )
        for row in (*times.nodes[:top], whole)
    ]
    columns = ("node", "op", "in AFTER", "ms before", "ms after", "ms more")
    yield render.Table(columns, rows, "largest slowdowns")


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1e3, 4)


def _table(nodes: Sequence[NodeComparison], of_states: bool, title: str = "") -> render.Table:
    """A row for each value; variables have neither ops nor other names."""
    columns = ("tensor", "op", "in AFTER", "largest difference", "passing tolerance", "agrees")
    rows = [
        (n.tensor, n.op, n.other if n.other != n.tensor else "", n.largest_difference, n.tolerance_needed, n.passed)
        for n in nodes
    ]
    if of_states:
        return render.Table((columns[0], *columns[3:]), [(row[0], *row[3:]) for row in rows], title)
    return render.Table(columns, rows, title, minor=("in AFTER", "op"))
