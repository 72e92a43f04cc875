"""Implementation of `tfg diff`: the comparison, then a summary, large changes by op and scope, and a row for each change."""

from __future__ import annotations

import collections
import math
from collections.abc import Iterator, Sequence
from typing import Final

from ...core.comparing.graph_diff import GraphDiff
from ..commands.diff import DiffOptions
from ..findings import FORMATS, print_findings, table_findings
from ..main import COMPARISON_FAILED, DONE
from ..render import Section, Table, Text, Working, emit
from .dump_job import change_rows, short_change


def run(options: DiffOptions) -> int:
    """Compare two graphs, and print the differences; return 3 for differences."""
    format_ = options.format_
    # From the cheapest way to the one that loads both graphs; each returns None where it cannot answer.
    result = _diff_values(options) or _diff_as_read(options) or _diff(options)
    if format_ in FORMATS:
        # The table of CSV has one row for each difference, as findings have.
        tables = (section for section in _sections(result, "csv") if isinstance(section, Table))
        print_findings(table_findings(tables, options.after, "different graph"), format_)
    elif not options.quiet:
        emit("tfg.diff/1", result, format_, lambda: _sections(result, format_))
    return DONE if result.is_empty else COMPARISON_FAILED


def _diff_values(options: DiffOptions) -> GraphDiff | None:
    """Compare the values of two files if one is a state; return None for two graphs."""
    from ...formats.api.analyses import diff
    from ...formats.state import holds_state

    paths = options.before, options.after
    return diff(*paths) if any(path != "-" and holds_state(path) for path in paths) else None


def _diff(options: DiffOptions) -> GraphDiff:
    from ...formats.api.analyses import diff

    graphs = options.reader.load(options.before), options.reader.load(options.after)
    with Working("comparing", options.quiet):
        return diff(*graphs, strict_names=options.strict_names, raw=options.raw)


def _diff_as_read(options: DiffOptions) -> GraphDiff | None:
    """Compare two large files while reading; return None if the graphs must be loaded."""
    paths = options.before, options.after
    streams = [stream for path in paths if (stream := options.reader.stream(path)) is not None]
    # A small file is loaded faster than it is streamed, and a graph and a stream cannot be compared.
    if len(streams) < 2:
        return None
    from ...formats.streaming import diff_streams

    with Working("comparing", options.quiet):
        return diff_streams(*streams, strict_names=options.strict_names)


_MANY: Final = 20
"""More rows of changed nodes come after their numbers by op and scope."""
_MAX_GROUPS: Final = 15
_COLUMNS: Final = ("change", "name", "op", "detail")
_KINDS: Final = ("added", "removed", "changed")

Row = tuple[str, str, str, str]


def _sections(diff: GraphDiff, format_: str) -> Iterator[Section]:
    """Yield the summary and all sections that differ; as CSV a single table."""
    nodes = change_rows(diff)
    functions = {function.name: change_rows(function) for function in diff.functions_changed}
    if format_ == "csv":
        yield Table(("section", *_COLUMNS), [*_csv_rows(diff, nodes, functions)])
        return
    yield Text(f"{diff.nodes_before:,} and {diff.nodes_after:,} nodes: {diff.verdict}" if diff.has_nodes else diff.verdict)
    # Functions count too: in TF2 nearly all nodes are in functions.
    yield from _overview([*nodes, *(row for rows in functions.values() for row in rows)])
    rows = [(change.name, change.change, "; ".join(map(str, change.changes))) for change in diff.signatures]
    if rows:
        yield Table(("signature", "change", "detail"), rows, "signatures")
    if diff.variables:
        yield _variables(diff)
    if diff.variables_unread is not None:
        yield Text(f"variables not compared: {diff.variables_unread}")
    if nodes:
        yield Table(_COLUMNS, nodes, "nodes")
    yield from _functions(diff, functions)
    if diff.assets:
        yield Table(("asset", "change"), [(change.filename, change.change) for change in diff.assets], "assets")
    versions = [str(change) for change in (diff.versions, diff.tensorflow_version) if change is not None]
    if versions:
        yield Text(versions, "versions")


def _functions(diff: GraphDiff, rows: dict[str, list[Row]]) -> Iterator[Section]:
    lines = [f"+ {name}" for name in diff.functions_added] + [f"- {name}" for name in diff.functions_removed]
    for f in diff.functions_changed:
        lines.append(f"~ {f.name}: {len(f.added)} added, {len(f.removed)} removed, {len(f.changed)} changed")
    if lines:
        yield Text(lines, "functions")
    for name, changes in rows.items():
        yield Table(_COLUMNS, changes, f"function {name}")


def _variables(diff: GraphDiff) -> Table:
    """Return the variables, the largest difference first."""
    ordered = sorted(diff.variables, key=lambda change: -_size(change.largest_difference))
    rows = [
        (v.name, v.change if v.new_name is None else f"renamed to {v.new_name}", v.before, v.after, v.largest_difference)
        for v in ordered
    ]
    return Table(("variable", "change", "before", "after", "largest difference"), rows, "variables")


def _size(difference: float | None) -> float:
    # A NaN, or another shape, is the largest difference of all.
    return math.inf if difference is None or math.isnan(difference) else difference


def _overview(rows: Sequence[Row]) -> Iterator[Section]:
    """Yield the numbers of changed nodes by op and by scope, where there are many."""
    if len(rows) <= _MANY:
        return
    scopes = _scopes([name for _, name, _, _ in rows])
    for title, groups in (("op", [op for _, _, op, _ in rows]), ("scope", scopes)):
        counts: dict[str, collections.Counter[str]] = {}
        for group, row in zip(groups, rows, strict=True):
            counts.setdefault(group, collections.Counter())[row[0]] += 1
        largest = sorted(counts.items(), key=lambda item: (-item[1].total(), item[0]))
        # A scope or an op of few changes is found in the rows below.
        shown = [(group, *(count[kind] for kind in _KINDS)) for group, count in largest[:_MAX_GROUPS]]
        more = f", the largest {_MAX_GROUPS} of {len(largest):,}" if len(largest) > _MAX_GROUPS else ""
        yield Table((title, *_KINDS), shown, f"by {title}{more}")


def _scopes(names: Sequence[str]) -> list[str]:
    """Return the scope of each name: the outermost part in which the names differ."""
    parts = [name.split("/")[:-1] for name in names]
    depth = 1
    # A model lies in one outermost scope, which would be the only row.
    while len({tuple(scope[:depth]) for scope in parts}) == 1 and any(len(scope) > depth for scope in parts):
        depth += 1
    return ["/".join(scope[:depth]) or "(none)" for scope in parts]


def _csv_rows(diff: GraphDiff, nodes: Sequence[Row], functions: dict[str, list[Row]]) -> Iterator[tuple[str, ...]]:
    yield from (("node", *row) for row in nodes)
    for kind, names in (("added", diff.functions_added), ("removed", diff.functions_removed)):
        yield from (("function", kind, name, "", "") for name in names)
    yield from ((f"function {name}", *row) for name, rows in functions.items() for row in rows)
    yield from (("signature", c.change, c.name, "", "; ".join(map(str, c.changes))) for c in diff.signatures)
    for v in diff.variables:
        by = "" if v.largest_difference is None else f"; largest difference {v.largest_difference:.6g}"
        yield "variable", v.change, v.name, "", f"{v.before or '-'} -> {v.after or '-'}{by}"
    yield from (("asset", change.change, change.filename, "", "") for change in diff.assets)
    for change in (diff.versions, diff.tensorflow_version):
        if change is not None:
            yield "versions", "changed", change.field, "", short_change(change)
