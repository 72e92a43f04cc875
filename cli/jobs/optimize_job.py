"""Implementation of `tfg optimize`."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from ...core.graph.graph import Graph
from ...core.graph.metagraph import SaverInfo
from ...core.passes.base.accuracy import Accuracy
from ...core.passes.functions.function_clusters import FunctionClusters
from ...core.passes.pass_listing import list_passes
from ...core.passes.pipeline import OptimizeReport, optimize
from ...core.runtime.session.function_signatures import as_called
from ...core.support import dataclasses
from ...core.support.hints import Hint
from ...core.support.places import name_of
from ...core.support.words import counted
from ...formats.api.names import Names
from ...formats.api.outputs import default_fetches
from .. import render
from ..commands.optimize import OptimizeOptions
from ..main import COMPARISON_FAILED, DONE
from ..models import note_variables, save_model, verified_batch
from ..sections.convert_sections import feeds_of, verification_sections
from ..sections.optimize_sections import cluster_text, passes_sections, report_sections, unportable_text, unread_texts

if TYPE_CHECKING:
    from ...formats.api.verification import Verification


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
        self.session = dataclasses.replace(options.session, seed=options.session.seed or 0)
        self.options = options
        names = self.names = Names(graph, options.session.signature).exposing(options.fetches, render.noting(options.quiet))
        graph = names.graph
        for name in options.keep:
            graph.node(name)
        self.named = tuple(names.fetches(options.fetches).values())
        """The fetches that the options name."""
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
        saver = self._saver()
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
            words = self.options.fetches or self.names.outputs
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

    def _saver(self) -> SaverInfo | None:
        """Return the saver of a SavedModel's variables, if the command writes a SavedModel again."""
        return self.graph.meta.saver if self.graph.meta is not None and self.options.save_model else None

    def _passes(self) -> str | None:
        """Return the passes as text, with the pass of --cluster at the end."""
        passes = self.options.passes
        return f"{'default' if passes is None else passes},{FunctionClusters.name}" if self.options.cluster else passes

    def as_json(self) -> dict[str, Any]:
        unverified = {"unverified": self.unverified} if self.unverified is not None else {}
        return {
            "report": self.report,
            "verification": self.verification.comparisons if self.verification else (),
            **feeds_of(self.verification),
            **unverified,
        }

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
        from ...core.feeding.drawn_feeds import NoFeedsError  # lazy: most commands run nothing
        from ...formats.api.verification import Verification, verify, verify_file

        options, original = self.options, self._as_assumed()
        tolerance = stated if options.tolerance is None else options.tolerance
        self.tolerance = stated if options.tolerance is None and isinstance(stated, float) else None
        run = functools.partial(verify_file, original, fetches=self.named, feeds=self.feeds, open_session=self.session.filled)
        try:
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
