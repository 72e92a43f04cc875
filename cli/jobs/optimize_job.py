"""The work of `tfg optimize`, from its options to its output."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from ...core.comparing.drawn_feeds import NoFeedsError
from ...core.comparing.verify_rewrite import Comparison, Tolerance, verify
from ...core.graph.graph import Graph
from ...core.graph.metagraph import SaverInfo
from ...core.graph.variable_nodes import find_variables
from ...core.passes.base.accuracy import Accuracy, tolerance_of
from ...core.passes.base.graph_pass import Pass
from ...core.passes.functions.function_clusters import Cluster
from ...core.passes.pipeline import OptimizeReport, choose_passes, guessed_fetches, optimize
from ...core.runtime.session.session import Session
from ...core.support.words import counted
from .. import render
from ..models import note_variables, save_model
from ..names import Names
from ..sessions import SessionOptions

_STEPS = 3
_REASONS = 3
"""How many reasons for what XLA does not take are said of a group."""


@dataclasses.dataclass(frozen=True, slots=True)
class OptimizeOptions:
    """The options of `tfg optimize`, apart from those that open the sessions of --verify."""

    output: str | None
    save_model: str | None
    fetches: tuple[str, ...]
    feeds: tuple[tuple[str, str], ...]
    passes: str | None
    disable: tuple[str, ...]
    fast_math: bool
    cluster: bool
    keep: tuple[str, ...]
    fed: tuple[str, ...]
    overridable: tuple[str, ...]
    verify: bool
    unverified: bool
    tolerance: float | None
    steps: int | None
    costs: bool
    text: bool
    format_: str
    quiet: bool


class OptimizeJob:
    """One `tfg optimize`: the graph, its options, and what came of it."""

    def __init__(self, graph: Graph, session: SessionOptions, options: OptimizeOptions) -> None:
        self.graph = graph
        self.session = dataclasses.replace(session, seed=session.seed or 0)
        self.options = options
        for name in options.keep:
            graph.node(name)
        names = self.names = Names(graph, session.signature)
        words = names.fetches(options.fetches)
        self.runs = [tuple(words.values())] if words else names.runs() or [guessed_fetches(graph)]
        self.fetches = tuple(dict.fromkeys(name for run in self.runs for name in run))
        self.feeds = names.feeds(options.feeds)
        self.report: OptimizeReport | None = None
        self.comparisons: list[Comparison] = []
        self.unverified: str | None = None
        """Why nothing could be compared, where the graph is to be written all the same."""

    @property
    def passed(self) -> bool:
        """True where all that was to be compared agreed."""
        return self.unverified is None and all(comparison.passed for comparison in self.comparisons)

    @property
    def may_write(self) -> bool:
        """True where nothing that was compared differs."""
        return all(comparison.passed for comparison in self.comparisons)

    @property
    def steps(self) -> int:
        """The runs that --verify compares: some in a row where variables can change from one to the next."""
        return self.options.steps or (_STEPS if find_variables(self.graph) else 1)

    def run(self) -> OptimizeReport:
        """Optimize, write and verify as the options ask."""
        saver = self._saver()
        with render.Working("optimizing", self.options.quiet) as working:
            result, report = optimize(
                self.graph,
                (*self.fetches, *([saver.save_tensor] if saver else [])),
                tuple(dict.fromkeys([*self.feeds, *self.options.fed])),
                self._passes(),
                keep=self.options.keep,
                overridable=(*self.options.overridable, *([saver.filename_tensor] if saver else [])),
                fast_math=self.options.fast_math,
                costs=self.options.costs,
                observe=lambda stage, graph: working.update(f"{stage} left {counted(len(graph), 'node')}"),
            )
        self.report = report
        if self.options.cluster:
            self._note_clusters(result)
        if self.options.verify:
            self._verify(result, report.accuracy)
        if self.options.output and self.may_write:
            from ...formats.saving import save

            save(result, self.options.output, text=self.options.text or None)
            render.note(f"wrote {counted(len(result), 'node')} to {render.place(self.options.output)}")
            note_variables(result, self.graph, self.options.quiet)
        if self.options.output is None and self.options.save_model is None:
            render.note("nothing is written: -o FILE writes the optimized graph", self.options.quiet)
        if self.options.save_model and self.may_write:
            words = self.options.fetches or self.names.outputs
            save_model(self.options.save_model, result, self._opened(result), self.names, words, quiet=False)
        return report

    def _note_clusters(self, result: Graph) -> None:
        """Say what XLA would take of each group that became a function."""
        from ...core.engines.lowerable import function_refusals

        for name in sorted(result.functions.keys() - self.graph.functions.keys()):
            if name.startswith(Cluster.name):
                count, refused = function_refusals(result.functions[name])
                reasons = Counter(f"{node.op}: {reason}" for node, reason in refused.items())
                left = "".join(f"; not {number} {reason}" for reason, number in reasons.most_common(_REASONS))
                taken = f"XLA takes {count - len(refused)} of {counted(count, 'node')} in '{name}'"
                render.note(f"{taken}{left}", self.options.quiet)

    def _saver(self) -> SaverInfo | None:
        """What saves the variables of a SavedModel, which stays where one is written again."""
        return self.graph.meta.saver if self.graph.meta is not None and self.options.save_model else None

    def _passes(self) -> list[Pass]:
        chosen = choose_passes(self.options.passes, self.options.disable)
        return [*chosen, Cluster()] if self.options.cluster else chosen

    def as_json(self) -> dict[str, Any]:
        unverified = {"unverified": self.unverified} if self.unverified is not None else {}
        return {"report": self.report, "verification": self.comparisons, **unverified}

    def verdict_sections(self) -> Iterator[render.Section]:
        """What --verify found."""
        if self.comparisons:
            rows = [(c.fetch, c.step, c.largest_difference, c.tolerance_needed, c.passed) for c in self.comparisons]
            columns = ("fetch", "worst step", "largest difference", "tolerance that passes", "passed")
            yield render.Table(columns, rows, f"verification over {counted(self.steps, 'step')}")

    def _verify(self, result: Graph, accuracy: Accuracy) -> None:
        """Compare the results of each signature, which are never run together, or what is fetched."""
        given = self.options.tolerance
        tolerance = (lambda dtype: tolerance_of(accuracy, dtype)) if given is None else (lambda _: given)
        try:
            self.comparisons = [found for run in self.runs for found in self._verified_run(result, run, tolerance)]
        except NoFeedsError as error:
            if not self.options.unverified:
                hint = f"{error.hint}; or --unverified, which writes the graph all the same"
                raise NoFeedsError(error.message, node=error.node, op=error.op, hint=hint) from None
            self.unverified = error.message
            render.note(f"not verified: {error.message}", self.options.quiet)

    def _verified_run(self, result: Graph, fetches: Sequence[str], tolerance: Tolerance) -> list[Comparison]:
        return verify(self.graph, result, fetches, self.feeds, self._opened, tolerance, self.steps)

    def _opened(self, graph: Graph) -> Session:
        """A session on either graph, with its variables as the original graph's initializer or --state makes them."""
        session, origin = self.session.local(graph), self.session.local(self.graph)
        self.session.prepare(origin, quiet=True, implied=True)
        session.share(origin)
        return session
