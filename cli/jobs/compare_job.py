"""What `tfg compare` does between its options and its output: two graphs, one graph by two engines, or two states."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click

from ...core.comparing.drawn_feeds import Feeds
from ...core.comparing.matching import match_nodes
from ...core.comparing.value_comparison import (
    GraphComparison,
    NodeComparison,
    compare_graphs,
    compare_sessions,
    compare_values,
    renamed_feeds,
)
from ...core.engines.automatic import load_runtime
from ...core.engines.engine_report import EngineReport
from ...core.engines.engine_runtime import EngineRuntime
from ...core.engines.executables import EngineSettings
from ...core.flops.time_comparison import NodeTimes, TimeComparison, compare_times
from ...core.graph.graph import Graph
from ...core.passes.pipeline import choose_passes, inline_functions, optimize
from ...core.runtime.session.session import Session
from ...core.support.engine_names import NUMPY
from ...core.support.errors import InvalidArgumentError
from ...formats.api.outputs import default_fetches
from ...formats.onnx_comparison import compare_with_onnx, is_onnx
from ...formats.state import holds_state, read_variables
from .. import render
from ..engines import report_sections
from ..findings import Finding
from ..names import Names
from ..options import GraphReader
from ..sessions import SessionOptions

_MAX_NAMES = 10


@dataclasses.dataclass(frozen=True, slots=True)
class CompareOptions:
    """The options of `tfg compare`, apart from those that open its sessions."""

    passes: str | None
    fast_math: bool
    engines: tuple[str, str] | None
    fetches: tuple[str, ...]
    feeds: tuple[tuple[str, str], ...]
    tolerance: float
    measured: bool
    top: int
    show_all: bool
    quiet: bool


class CompareJob:
    """One `tfg compare`: what came of it, and how it is shown."""

    def __init__(
        self,
        result: GraphComparison,
        options: CompareOptions,
        reports: Sequence[EngineReport] = (),
        times: TimeComparison | None = None,
    ) -> None:
        self.result = result
        self.options = options
        self.reports = reports
        self.times = times

    def as_json(self) -> dict[str, Any]:
        first = {"first": self.result.first, "first_nonfinite": self.result.first_nonfinite}
        found = {**first, "compared": len(self.result.nodes)}
        names = {"only_before": self.result.only_before, "only_after": self.result.only_after}
        engines = {"engines": self.reports} if self.options.engines else {}
        times = {"times": self.times} if self.times is not None else {}
        return {**found, **names, **engines, **times, **({"nodes": self.result.nodes} if self.options.show_all else {})}

    def findings(self, before: str, after: str | None) -> list[Finding]:
        """Return the values that differ as findings in the second graph: the first, or all with --all."""
        nodes = [node for node in self.result.nodes if not node.passed]
        shown = nodes if self.options.show_all else nodes[:1]
        path = after or before
        return [Finding("error", "different value", _difference(node), path, node.other.partition(":")[0]) for node in shown]

    def sections(self, format_: str) -> Iterator[render.Section]:
        """The first difference, or all values; then what could not be compared, and what engines ran."""
        result = self.result
        if self.options.show_all or format_ == "csv":
            yield _table(result.nodes if self.options.show_all else [result.first] if result.first else [], result.of_states)
        if result.first is None:
            yield render.Text(f"all {len(result.nodes)} values that both have agree")
        else:
            if not self.options.show_all:
                yield _table([result.first], result.of_states, "the first that differs")
            differing = sum(not node.passed for node in result.nodes)
            yield render.Text(f"{differing} of {len(result.nodes)} values that both have differ; --all shows them")
        if result.first_nonfinite is not None:
            yield _nonfinite_table(result.first_nonfinite)
        for title, names in (("only in the first", result.only_before), ("only in the second", result.only_after)):
            if names and not self.options.quiet:
                more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
                yield render.Text(", ".join(names[:_MAX_NAMES]) + more, title)
        for report in self.reports:
            yield next(report_sections(report))
        if self.times is not None:
            yield from _time_sections(self.times, self.options.top)


def compare(
    before: str, after: str | None, reader: GraphReader, session: SessionOptions, options: CompareOptions
) -> CompareJob:
    """Compare what the command line names."""
    if (after is not None) + (options.passes is not None) + (options.engines is not None) != 1:
        raise click.UsageError("give one of a second graph, --passes and --engines")
    if holds_state(before) or (after is not None and holds_state(after)):
        _refuse_what_states_do_not_take()
        return CompareJob(_compared_states(before, after, options), options)
    session = dataclasses.replace(session, seed=session.seed or 0)
    if is_onnx(before) or (after is not None and is_onnx(after)):
        return _beside_onnx(before, after, reader, session, options)
    if after is not None:
        graphs = [_without_calls(reader.load(path)) for path in (before, after)]
        return _Run(graphs[0], session, options).beside(graphs[1])
    run = _Run(reader.load(before), session, options)
    return run.beside(None) if options.engines is None else run.by_engines(*options.engines)


def _without_calls(graph: Graph) -> Graph:
    """The graph with the bodies of called functions in place of the calls, so that their nodes are compared."""
    return inline_functions(graph)[0] if graph.functions else graph


def _beside_onnx(
    before: str, after: str | None, reader: GraphReader, session: SessionOptions, options: CompareOptions
) -> CompareJob:
    """Compare the outputs of a graph and of an ONNX file, whichever comes first."""
    if after is None or options.measured or is_onnx(before) == is_onnx(after):
        what = "with --measured" if options.measured else f"with {after}" if after else "alone"
        raise click.UsageError(f"an ONNX file is compared with a graph, not {what}")
    graph, path = (reader.load(after), before) if is_onnx(before) else (reader.load(before), after)
    run = _Run(graph, session, options)
    outputs = run.words if options.fetches else run.names.outputs or run.words

    def opened(graph: Graph) -> Session:
        return run.opened()

    result = compare_with_onnx(
        graph, path, (run.names.inputs, outputs), run.given, opened, options.tolerance,
        onnx_first=is_onnx(before), all_outputs=not options.fetches,
    )  # fmt: skip
    return CompareJob(result, options)


def _compared_states(before: str, after: str | None, options: CompareOptions) -> GraphComparison:
    for path in (before, after):
        if path is None or not holds_state(path):
            raise click.UsageError(f"a state is compared with another state, not with {path or 'nothing'}")
    assert after is not None
    return compare_values(read_variables(before), read_variables(after), options.tolerance)


def _refuse_what_states_do_not_take() -> None:
    ctx = click.get_current_context()
    taken = {"before", "after", "tolerance", "show_all", "format_", "quiet"}
    for param in ctx.command.params:
        is_given = ctx.get_parameter_source(param.name or "") is click.core.ParameterSource.COMMANDLINE
        if is_given and param.name not in taken:
            raise click.UsageError(f"{max(param.opts, key=len)} does nothing where states are compared", ctx)


class _Run:
    """What to run of a graph, and on which feeds."""

    def __init__(self, graph: Graph, session: SessionOptions, options: CompareOptions) -> None:
        self.graph = graph
        self.session = session
        self.options = options
        self.names = Names(graph, session.signature)
        self.words = self.names.fetches(options.fetches) or {name: name for name in default_fetches(self.names.graph)}
        self.given = self.names.feeds(options.feeds)

    def _feeds(self) -> dict[str, Any]:
        """The feeds, drawn where none are given, that the first graph runs on."""
        fetches = tuple(self.words.values())
        feeds = Feeds(self.graph, self.given, fetches)
        if not feeds.drawn:
            return dict(self.given)
        return next(feeds.each_that_runs(lambda drawn: self._session(None).run(fetches, drawn)))[0]

    def beside(self, after: Graph | None) -> CompareJob:
        """The graph beside another, or beside what passes make of it."""
        is_derived = after is None
        if after is None:
            passes = choose_passes(self.options.passes)
            wanted, fast_math = tuple(self.words.values()), self.options.fast_math
            after = optimize(self.graph, wanted, tuple(self.given), passes, fast_math=fast_math)[0]
        others = Names(after, self.session.signature)
        fetches = [(name, _other(others, word, name)) for word, name in self.words.items()]
        opened = self._opener(after if is_derived else None)
        feeds = self._feeds()
        result = compare_graphs(self.graph, after, fetches, feeds, opened, self.options.tolerance)
        job = self._job(result)
        if self.options.measured:
            both = feeds, renamed_feeds(match_nodes(self.graph, after), feeds)
            names = [name for name, _ in fetches], [name for _, name in fetches]
            job.times = compare_times((opened(self.graph), opened(after)), names, both)
        return job

    def opened(self) -> Session:
        """A session of the graph with its variables in place."""
        return self._session(None)

    def by_engines(self, *names: str) -> CompareJob:
        """The graph by two engines."""
        runtimes = [_runtime(name) for name in names]
        sessions = [self._session(runtime) for runtime in runtimes]
        fetches = tuple(self.words.values())
        found = compare_sessions(self.graph, fetches, self._feeds(), sessions, self.options.tolerance)
        return self._job(found, [runtime.report() for runtime in runtimes if runtime is not None])

    def _job(self, result: GraphComparison, reports: Sequence[EngineReport] = ()) -> CompareJob:
        if not result.nodes:
            raise InvalidArgumentError("no node of the one graph stands for one of the other")
        return CompareJob(result, self.options, reports)

    def _session(self, runtime: EngineRuntime | None) -> Session:
        options = dataclasses.replace(self.session, engine=runtime)
        session = options.local(self.graph)
        options.prepare(session, quiet=True, implied=True)
        return session

    def _opener(self, derived: Graph | None) -> Callable[[Graph], Session]:
        """Opens sessions with variables as the graph's initializer or --state makes them; of passes, as the first graph's."""

        def opened(graph: Graph) -> Session:
            session = self.session.local(self.graph if graph is derived else graph)
            self.session.prepare(session, quiet=True, implied=True)
            return session.on_graph(graph) if graph is derived else session

        return opened


def _runtime(name: str) -> EngineRuntime | None:
    """The engine of `NAME` or `NAME:PRECISION`; None for NumPy."""
    engine, _, precision = name.partition(":")
    return None if name == NUMPY else load_runtime(engine, precision or None, EngineSettings())


def _other(names: Names, word: str, name: str) -> str:
    """What the second graph calls a fetch: by the word of its signature, or by the same name."""
    return names.fetch(word) if word in names.outputs else names.graph.fetch(name).name


def _difference(node: NodeComparison) -> str:
    return f"'{node.tensor}' differs by {node.largest_difference:.6g}; a tolerance of {node.tolerance_needed:.3g} would pass"


def _nonfinite_table(node: NodeComparison) -> render.Table:
    columns = ("tensor", "op", "in the second", "NaN or infinite in the first", "in the second")
    row = (node.tensor, node.op, node.other if node.other != node.tensor else "", node.nonfinite_before, node.nonfinite_after)
    return render.Table(columns, [row], "the first that became NaN or infinite")


def _time_sections(times: TimeComparison, top: int) -> Iterator[render.Section]:
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
    columns = ("node", "op", "in the second", "ms before", "ms after", "ms more")
    yield render.Table(columns, rows, "the largest slowdowns")


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1e3, 4)


def _table(nodes: Sequence[NodeComparison], of_states: bool, title: str = "") -> render.Table:
    """A row for each value; variables have neither ops nor other names."""
    columns = ("tensor", "op", "in the second", "largest difference", "tolerance that passes", "agrees")
    rows = [
        (n.tensor, n.op, n.other if n.other != n.tensor else "", n.largest_difference, n.tolerance_needed, n.passed)
        for n in nodes
    ]
    if of_states:
        return render.Table((columns[0], *columns[3:]), [(row[0], *row[3:]) for row in rows], title)
    return render.Table(columns, rows, title)
