"""Implementation of `tfg optimize`: the rewriting, its verification and its report."""

from __future__ import annotations

import functools
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from ...core.explaining.default_fetches import default_fetches
from ...core.flops.views import shortened
from ...core.graph.graph import Graph
from ...core.passes.base.accuracy import Accuracy
from ...core.passes.base.costs import GraphCost
from ...core.passes.function_clusters import FunctionClusters
from ...core.passes.pass_listing import PassFacts, list_passes
from ...core.passes.pipeline import ClusterFacts, OptimizeReport, PassRecord, optimize
from ...core.runtime.session.function_signatures import as_called
from ...core.support import dataclasses
from ...core.support.grouping import grouped
from ...core.support.hints import Hint
from ...core.support.log import is_told
from ...core.support.places import name_of
from ...core.support.words import counted, some
from ...formats.api.names import Names
from .. import render
from ..commands.optimize import OptimizeOptions
from ..main import COMPARISON_FAILED, DONE
from ..models import note_variables, save_model
from ..verdicts import verification_sections, verified_batch

if TYPE_CHECKING:
    from ...formats.api.verification import Verification
    from ..documents import Optimize


def run(options: OptimizeOptions) -> int:
    """Optimize a graph and print the report, or list the passes; return 3 if the graphs differ."""
    if options.list_:
        passes = list_passes()
        render.emit("tfg.optimize.passes/1", {"passes": passes}, options.format_, lambda: passes_sections(passes))
        return DONE
    if options.graph is None:
        raise click.UsageError("missing argument GRAPH; --list needs none")
    signature = options.session.signature
    has_fetches = bool(options.fetches or signature)
    graph = options.reader.load_for_passes(options.graph, options.passes, options.disable, has_fetches)
    graph = graph if has_fetches else as_called(graph)
    options.placeholders.apply(graph, Names(graph, signature), options.quiet)
    job = OptimizeJob(graph, options)
    report = job.run()
    if options.quiet and options.format_ == "table":
        return DONE if job.passed else COMPARISON_FAILED
    with render.beside(options.output):
        render.emit(
            "tfg.optimize/1", job.as_json(), options.format_, lambda: (*report_sections(report), *job.verdict_sections())
        )
    return DONE if job.passed else COMPARISON_FAILED


class OptimizeJob:
    """A run of `tfg optimize`: the graph, the options, and the results."""

    def __init__(self, graph: Graph, options: OptimizeOptions) -> None:
        # The graph and its rewrite must draw the same numbers to be compared.
        self.session = dataclasses.replace(options.session, seed=options.session.seed or 0)
        self.options = options
        names = self.names = Names(graph, options.session.signature).exposing(options.fetches, render.noting(options.quiet))
        graph = names.graph
        # An unknown name is an error now, and not a node that is missing from the result.
        for name in options.keep:
            graph.node(name)
        self.named = tuple(names.fetches(options.fetches).values())
        """The fetches that the options name."""
        # Kept for --verify with --batch: rows of the old batch must come out as before.
        self.of_old_batch = graph
        self.graph = options.placeholders.with_batch(graph, lambda: self.named or default_fetches(graph), options.quiet)
        self.feeds = names.feeds(options.feeds)
        self.report: OptimizeReport | None = None
        self.verification: Verification | None = None
        self.tolerance: float | None = None
        """The tolerance that a pass states; None for the tolerance of an accuracy class or of --tolerance."""
        self.unverified: str | None = None
        """Why nothing could be compared, where the graph is to be written all the same."""

    @property
    def passed(self) -> bool:
        """True if all that was to be compared agreed."""
        return self.unverified is None and self.may_write

    @property
    def may_write(self) -> bool:
        """True if nothing that was compared differs."""
        return self.verification is None or self.verification.passed

    def run(self) -> OptimizeReport:
        """Optimize, write and verify as the options ask."""
        # A SavedModel saves and restores itself by nodes that no output needs, and its prefix is fed: folding it would fix
        # the file that all later checkpoints are written to.
        saver = self.graph.meta.saver if self.graph.meta is not None and self.options.save_model else None
        with render.Working("optimizing", self.options.quiet) as working:
            result, report = optimize(
                self.graph,
                (*(self.named or default_fetches(self.graph)), *([saver.save_tensor] if saver else [])),
                self._fed,
                self._passes(),
                disable=self.options.disable,
                keep=self.options.keep,
                overridable=(*self.options.overridable, *([saver.filename_tensor] if saver else [])),
                fast_math=self.options.fast_math,
                portable=self.options.portable,
                costs=self.options.costs,
                observe=lambda stage, graph: working.update(f"{stage} left {counted(len(graph), 'node')}"),
            )
        self.report = report
        for text in dict.fromkeys(text for record in report.passes for text in record.notes):
            render.note(text, self.options.quiet)
        for cluster in report.clusters if self.options.cluster else ():
            render.note(cluster_text(cluster), self.options.quiet)
        if self.options.verify:
            self._verify_and_write(result, report.tolerance)
        else:
            self._note(result, self._write(result, self.options.output, self.options.save_model))
        if self.options.output is None and self.options.save_model is None:
            render.note("nothing written: -o FILE writes the optimized graph", self.options.quiet)
        return report

    def _verify_and_write(self, result: Graph, stated: float | Accuracy) -> None:
        """Write into a private folder, verify what was written, and put it in its place if it is right."""
        from ...formats.api.verification import private_folder, publish

        # A result that differs must neither replace a right file of the user nor be left for a program to pick up.
        with private_folder() as folder:
            wanted = {
                kind: path for kind, path in (("graph", self.options.output), ("model", self.options.save_model)) if path
            }
            for kind in wanted:  # a graph and a model may have one name in two folders
                os.mkdir(os.path.join(folder, kind))
            written = {kind: os.path.join(folder, kind, _file_name(path)) for kind, path in wanted.items()}
            notes = self._write(result, written.get("graph"), written.get("model"))
            self._verify(result, list(written.values()), stated)
            if not self.may_write:
                return
            for kind, path in written.items():
                publish(path, wanted[kind])
            self._note(result, notes)

    def _write(self, result: Graph, output: str | None, folder: str | None) -> list[str]:
        """Write the graph and the SavedModel that the options ask for; return notes on them."""
        notes = []
        if output:
            from ...formats.saving import save

            save(result, output, text=self.options.text or None)
            notes.append(f"wrote {counted(len(result), 'node')} to {render.place(self.options.output or output)}")
        if folder:
            # By the names before the passes, which may have dropped a signature's nodes.
            words = self.options.fetches or self.names.outputs
            # The variables are filled by the graph before the passes, which removed the initializers.
            session = self.session.filled(self.graph).on_graph(result)
            place = self.options.save_model
            notes.append(save_model(folder, result, session, self.names, words, quiet=True, place=place))
        return notes

    def _note(self, result: Graph, notes: Sequence[str]) -> None:
        for note in notes:
            render.note(note)
        if self.options.output:
            note_variables(result, self.graph, self.options.quiet)
        if notes and self.report is not None and self.report.unportable:
            render.note(unportable_text(self.report, self.options.portable), self.options.quiet)
        for text in unread_texts(self.report) if notes and self.report is not None else ():
            render.note(text, self.options.quiet)

    def _passes(self) -> str | None:
        """Return the passes as text, with the pass of --cluster at the end."""
        passes = self.options.passes
        return f"{'default' if passes is None else passes},{FunctionClusters.name}" if self.options.cluster else passes

    def as_json(self) -> Optimize:
        assert self.report is not None
        document: Optimize = {"report": self.report, "verification": ()}
        if self.verification is not None:
            document["verification"] = self.verification.comparisons
            document["drawn"] = self.verification.drawn
            document["refusals"] = self.verification.refusals
        if self.unverified is not None:
            document["unverified"] = self.unverified
        return document

    def verdict_sections(self) -> Iterator[render.Section]:
        """Yield the results of --verify."""
        if self.verification is not None:
            yield from verification_sections(self.verification)
        if self.tolerance is not None:
            yield render.Text(f"tolerance: {100 * self.tolerance:g} % of the largest element, for passes that change numbers")

    @property
    def _fed(self) -> tuple[str, ...]:
        """The tensors that every run feeds."""
        return tuple(dict.fromkeys([*self.feeds, *self.options.fed]))

    def _as_assumed(self) -> Graph:
        """Return the graph in the use that passes assume: with dropout off, where they switch it off."""
        assert self.report is not None
        if not self.report.assuming:
            return self.graph
        names = self.report.assuming
        render.note(f"--verify compares with the graph after {' and '.join(names)} alone", self.options.quiet)
        return optimize(self.graph, self.named, self._fed, ",".join(names), keep=self.options.keep).graph

    def _verify(self, result: Graph, paths: Sequence[str], stated: float | Accuracy) -> None:
        """Compare the results of the fetches, or of each signature separately, with the written files or the graph."""
        from ...core.runtime.session.drawn_feeds import NoFeedsError  # lazy: most commands run nothing
        from ...formats.api.verification import Verification, verify, verify_file

        options, original = self.options, self._as_assumed()
        tolerance = stated if options.tolerance is None else options.tolerance
        self.tolerance = stated if options.tolerance is None and isinstance(stated, float) else None
        run = functools.partial(verify_file, original, fetches=self.named, feeds=self.feeds, open_session=self.session.filled)
        try:
            # The written files are read again: a mistake of the writer is found as well.
            results = [run(path, tolerance=tolerance, steps=options.steps) for path in paths] or [
                verify(original, result, self.named, self.feeds, tolerance=tolerance, steps=options.steps,
                       open_session=self.session.filled)
            ]  # fmt: skip
            if options.placeholders.batch is not None:
                results += verified_batch(self.of_old_batch, self.graph, self.named, self.session.filled, options.quiet)
            self.verification = Verification.joined(results)
        except NoFeedsError as error:
            if not options.unverified:
                hint = Hint(error.hint or "", "; or write the graph unverified with --unverified")
                raise NoFeedsError(error.message, node=error.node, op=error.op, hint=hint) from None
            self.unverified = error.message
            render.note(f"not verified: {error.message}", options.quiet)


def _file_name(path: str) -> str:
    """Return the name of a file or folder; a file of the same kind stands for standard output."""
    return "graph" if path == "-" else name_of(path)


_MAX_OPS = 12
_MAX_REASONS = 3
"""The number of reasons shown for the nodes of a cluster that XLA does not support."""


def passes_sections(passes: Sequence[PassFacts]) -> Iterator[render.Section]:
    """Yield a table of the passes."""
    rows = [(one.name, one.default, ", ".join(one.accuracy), _options(one), one.summary) for one in passes]
    yield render.Table(("pass", "default", "accuracy", "options", "description"), rows)


def _options(one: PassFacts) -> str:
    return ", ".join(f"{name}={value}" for name, value in one.options.items())


def cluster_text(cluster: ClusterFacts) -> str:
    """Return the number of nodes of a cluster that XLA supports, and the first reasons against the others."""
    left = "".join(f"; not {nodes.count} {nodes.op}: {nodes.reason}" for nodes in cluster.refused[:_MAX_REASONS])
    return f"XLA supports {cluster.supported} of {counted(cluster.nodes, 'node')} in '{cluster.function}'{left}"


def unportable_text(report: OptimizeReport, portable: bool) -> str:
    """Return the ops that other readers of the graph do not know, and how the graph does without them."""
    ops = ", ".join(f"{count:,} {op}" for op, count in report.unportable.items())
    step = "they were in the graph before" if portable else "other readers need `--portable`"
    return f"only tfg and TensorFlow on CPUs know {ops}: {step}"


def unread_texts(report: OptimizeReport) -> Iterator[str]:
    """Yield the ops that each program does not read of a portable graph."""
    for reader, ops in report.unread.items():
        shown = [f"{count:,} {op}" for op, count in ops.items()]
        yield f"{reader} does not read: {some(shown)}"


def report_sections(report: OptimizeReport) -> Iterator[render.Section]:
    """Yield the tables of a report: a row for each pass that changed the graph, or with -v for each round of a pass."""
    if not report.passes:
        yield render.Text("no pass ran: no pass was chosen; --list shows all passes")
        return
    # A pass may remove nodes without counting a rule.
    busy = [record for record in report.passes if record.fired or record.nodes_after != record.nodes_before]
    # With -v the reader wants to know which round of a pass did what; otherwise its sum.
    rows = _round_rows(report) if is_told() else _pass_rows(report, busy)
    yield render.Table(
        ("pass", "nodes", "FLOPs", "transcendental", "bytes moved", "ms", "fired", "refused"),
        list(rows),
        name="passes",
        minor=("transcendental", "bytes moved", "FLOPs"),
    )
    # A name may be busy in one round and idle in another.
    idle = {record.name for record in report.passes} - {record.name for record in busy}
    if idle and not is_told():
        yield render.Text(f"passes that changed nothing: {len(idle)}; -v shows every round")
    if report.weight_errors:
        yield _weight_table(report)
    yield from _refusals(report)
    yield render.Table(("op", "before", "after"), list(_op_rows(report)), name="ops")


def _weight_table(report: OptimizeReport) -> render.Table:
    """Return the error of the weights of each layer, the largest relative error first."""
    layers = grouped((error.layer, error) for error in report.weight_errors)
    # The worst first, as the average of a network hides the layer that breaks it.
    ranked = sorted(layers.items(), key=lambda item: -max(error.relative for error in item[1]))
    rows = [
        (
            layer, len(errors), sum(e.bytes_before for e in errors), sum(e.bytes_after for e in errors),
            f"{max(e.largest for e in errors):.3g}", f"{max(e.relative for e in errors):.3g}",
        )
        for layer, errors in ranked
    ]  # fmt: skip
    columns = ("layer", "weights", "bytes before", "bytes after", "largest error", "relative error")
    return render.Table(columns, rows, "errors of weights", "weights")


def _round_rows(report: OptimizeReport) -> Iterator[tuple[Any, ...]]:
    """Yield the start, and the graph after each pass of each round."""
    yield "at the start", report.nodes_before, *_cost(report.passes[0].cost_before), "", "", ""
    for record in report.passes:
        milliseconds = round(1000 * record.seconds, 1)
        fired = _fired(record.fired, record.accuracy)
        name = f"{record.name} (round {record.round})"
        yield name, record.nodes_after, *_cost(record.cost_after), milliseconds, fired, len(record.refused)


def _pass_rows(report: OptimizeReport, busy: Sequence[PassRecord]) -> Iterator[tuple[Any, ...]]:
    """Yield the start, the change of the number of nodes by each pass over all rounds, and the end."""
    yield "at the start", report.nodes_before, *_cost(report.passes[0].cost_before), "", "", ""
    for name in dict.fromkeys(record.name for record in busy):
        rounds = [record for record in report.passes if record.name == name]
        change = sum(record.nodes_after - record.nodes_before for record in rounds)
        fired: Counter[str] = Counter()
        for record in rounds:
            fired.update(record.fired)
        classes = {rule: accuracy for record in rounds for rule, accuracy in record.accuracy.items()}
        milliseconds = round(sum(1000 * record.seconds for record in rounds), 1)
        refused = sum(len(record.refused) for record in rounds)
        yield name, f"{change:+}" if change else "", "", "", "", milliseconds, _fired(fired, classes), refused
    total = round(sum(1000 * record.seconds for record in report.passes), 1)
    yield "at the end", report.nodes_after, *_cost(report.passes[-1].cost_after), total, "", ""


def _cost(cost: GraphCost | None) -> tuple[Any, Any, Any]:
    if cost is None:
        return "", "", ""
    more = f" + {counted(cost.uncounted, 'node')}" if cost.uncounted else ""
    flops = render.Quantity(cost.flops, shortened(cost.flops) + more)
    transcendentals = render.Quantity(cost.transcendentals, shortened(cost.transcendentals))
    return flops, transcendentals, render.Quantity(cost.bytes, shortened(cost.bytes))


def _op_rows(report: OptimizeReport) -> Iterator[tuple[str, int, int]]:
    """Yield the ops with the largest changes in node count, the other ops in a single row, and the total."""
    before, after = report.ops_before, report.ops_after
    counts = {op: (before.get(op, 0), after.get(op, 0)) for op in {*before, *after}}
    # The ops that changed most, as a graph has dozens that stay.
    ops = sorted(counts, key=lambda op: (-abs(counts[op][0] - counts[op][1]), -counts[op][0], op))
    yield from ((op, *counts[op]) for op in ops[:_MAX_OPS])
    rest = [counts[op] for op in ops[_MAX_OPS:]]
    if rest:
        yield f"{len(rest)} other types", sum(pair[0] for pair in rest), sum(pair[1] for pair in rest)
    yield "total", report.nodes_before, report.nodes_after


def _fired(fired: Mapping[str, int], accuracy: Mapping[str, Any]) -> str:
    return ", ".join(f"{rule} x{count} ({accuracy[rule]})" for rule, count in fired.items())


def _refusals(report: OptimizeReport) -> Iterator[render.Section]:
    """Yield the refusals of each pass over all rounds, by reason, with a node as an example."""
    grouped: dict[tuple[str, str, str], dict[str, None]] = {}
    for record in report.passes:
        for refusal in record.refused:
            grouped.setdefault((record.name, refusal.rule, refusal.reason), {})[refusal.node] = None
    if grouped:
        rows = [(name, rule, len(nodes), reason, next(iter(nodes))) for (name, rule, reason), nodes in grouped.items()]
        yield render.Table(("pass", "rule", "refused", "why", "for example"), rows, name="refused")
