"""The functions behind `tfg compare`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...core.comparing.matching import match_nodes
from ...core.comparing.value_comparison import (
    GraphComparison,
    compare_graphs,
    compare_sessions,
    compare_values,
    renamed_feeds,
)
from ...core.engines.automatic import load_runtime
from ...core.engines.engine_runtime import EngineRuntime
from ...core.engines.executables import EngineSettings
from ...core.explaining.default_fetches import default_fetches, guessed_fetches
from ...core.flops.time_comparison import compare_times
from ...core.graph.graph import Graph, GraphLike
from ...core.graph.metagraph import asked_signature, called_signature
from ...core.passes.base.graph_pass import Pass
from ...core.passes.pipeline import choose_passes, inline_functions, optimize
from ...core.runtime.session.drawn_feeds import Feeds
from ...core.runtime.session.function_signatures import as_run
from ...core.runtime.session.session import Session
from ...core.support import dataclasses
from ...core.support.arguments import checked, expect, named, names_of
from ...core.support.engine_names import NUMPY
from ...core.support.errors import InvalidArgumentError
from ..onnx_model import compare_with_onnx, is_onnx
from ..state import State, as_tensors
from .prepared_sessions import Opener, local_session

_Fetches = Mapping[str, str] | Sequence[str] | str


@checked(engines=tuple | list | None)
def compare(
    before: GraphLike,
    after: GraphLike | None = None,
    fetches: _Fetches = (),
    feeds: Mapping[str, Any] | None = None,
    *,
    passes: str | Sequence[Pass] | None = None,
    fast_math: bool = False,
    engines: Sequence[str] | None = None,
    signature: str | None = None,
    measured: bool = False,
    tolerance: float = 1e-5,
    state: State | None = None,
    open_session: Opener | None = None,
) -> GraphComparison:
    """Run two graphs on the same feeds and return how far the values of their nodes differ.

    Called functions stand in place of their calls, so that their nodes are compared. One of the two may be the path of an
    ONNX file, of which onnxruntime computes the outputs. Instead of `after`, `passes` compares `before` with the graph that
    `optimize` makes by these passes, and `engines`, two names such as `numpy` and `openvino:bf16`, compares two runs of
    `before`.

    `fetches` names tensors of both graphs, or maps names of `before` to names of `after` (of the graph to names of an ONNX
    file); by default the outputs of `signature`, or of `before`. Placeholders without a value in `feeds` get drawn values.
    `tolerance` is relative to a tensor's largest magnitude. With `measured` the nodes of both graphs are timed, too. Both
    graphs run from seed 0; their variables are initialized, then set to the values of `state`; `open_session` opens sessions
    in another way.

    InvalidArgumentError if the graphs share no node, UnimplementedError for an ONNX file without onnxruntime.
    """
    if (after is not None) + (passes is not None) + (engines is not None) != 1:
        raise InvalidArgumentError("compare needs exactly one of a second graph, passes and engines")
    how = _How(named(feeds), signature, lambda graph: local_session(graph, open_session, state), tolerance, measured)
    before, after = _read(before, fetches), None if after is None else _read(after, fetches)
    if isinstance(before, Graph) and engines is not None:
        return how.by_engines(before, _targets(before, fetches, signature), engines)
    if isinstance(before, Graph) and passes is not None:
        return how.with_passes(before, _targets(before, fetches, signature), passes, fast_math)
    if isinstance(before, Graph) and isinstance(after, Graph):
        return how.graphs(before, after, fetches)
    return how.with_onnx(before, after, fetches)


def _read(graph: GraphLike, fetches: _Fetches) -> Graph | str | os.PathLike[str]:
    """Return a graph; the path of an ONNX file stays a path."""
    return graph if not isinstance(graph, Graph) and is_onnx(graph) else as_run(graph, tuple(fetches))


@checked
def compare_states(before: State, after: State, *, tolerance: float = 1e-5) -> GraphComparison:
    """Return how far the tensors of two states differ, by name."""
    return compare_values(as_tensors(before), as_tensors(after), tolerance)


@dataclasses.dataclass(frozen=True, slots=True)
class _How:
    """How two graphs run and are compared."""

    fixed_feeds: Mapping[str, Any]
    signature: str | None
    open_session: Callable[[Graph], Session]
    tolerance: float
    measured: bool

    def graphs(self, before: Graph, after: Graph, fetches: _Fetches) -> GraphComparison:
        """Compare two graphs, nodes of called functions included."""
        # A rewrite may inline a call that the other graph keeps. Nodes of the function match only if both graphs are without
        # calls.
        before, after = (inline_functions(graph)[0] if graph.functions else graph for graph in (before, after))
        names = _targets(before, fetches, self.signature)
        return self._beside(before, after, _in_both(before, after, names, fetches, self.signature), self.open_session)

    def with_passes(self, graph: Graph, names: Sequence[str], passes: Any, fast_math: bool) -> GraphComparison:
        """Compare a graph with what passes make of it, from the same initial values of variables."""
        after = optimize(graph, names, tuple(self.fixed_feeds), choose_passes(passes), fast_math=fast_math)[0]

        def opened(one: Graph) -> Session:
            session = self.open_session(graph)
            # Both graphs run on a session of the original, so that random initial values of variables are the same.
            return session.on_graph(after) if one is after else session

        return self._beside(graph, after, {name: name for name in names}, opened)

    def by_engines(self, graph: Graph, names: Sequence[str], engines: Sequence[str]) -> GraphComparison:
        """Compare two runs of a graph, each by an engine."""
        if len(engines) != 2 or self.measured:
            raise InvalidArgumentError("a comparison of two engines has no times of nodes")
        expect(str, *engines)
        runtimes = [_runtime(name) for name in engines]
        # Each runs in a session of its own, as a run may change variables that the other reads.
        # NumPy is named, too: without an engine `on_graph` keeps that of the opened session.
        sessions = [self.open_session(graph).on_graph(graph, runtime or NUMPY) for runtime in runtimes]
        result = compare_sessions(graph, names, self._feeds(graph, names), sessions, self.tolerance)
        reports = tuple(runtime.report() for runtime in runtimes if runtime is not None)
        return _checked(dataclasses.replace(result, engines=reports))

    def with_onnx(self, before: Any, after: Any, fetches: _Fetches) -> GraphComparison:
        """Compare the outputs of a graph and of an ONNX file, whichever comes first."""
        graph, path = (before, after) if isinstance(before, Graph) else (after, before)
        if not isinstance(graph, Graph) or path is None or not is_onnx(path):
            raise InvalidArgumentError("compare two graphs, or a graph with the path of an .onnx file")
        if self.measured:
            raise InvalidArgumentError("an ONNX file has no times of nodes")
        signature = called_signature(graph.meta, self.signature)
        outputs = signature.fetched if signature is not None and not fetches else {}
        return compare_with_onnx(
            graph, path, (signature.fed if signature is not None else {}, outputs or _outputs(graph, fetches)),
            self.fixed_feeds, self.open_session, self.tolerance, onnx_first=path is before, all_outputs=not fetches,
        )  # fmt: skip

    def _beside(
        self, before: Graph, after: Graph, names: Mapping[str, str], opened: Callable[[Graph], Session]
    ) -> GraphComparison:
        """Compare the nodes of two graphs by values and, if asked, by times; `names` has the fetches of both."""
        matched = match_nodes(before, after)
        feeds = self._feeds(before, tuple(names))
        result = compare_graphs(before, after, tuple(names.items()), feeds, opened, self.tolerance, matched)
        if self.measured:
            # Times are measured apart from the values: a hook that keeps values slows each node down.
            both = feeds, renamed_feeds(matched, feeds)
            sessions = opened(before), opened(after)
            result = dataclasses.replace(
                result, times=compare_times(sessions, (tuple(names), tuple(names.values())), both, matched)
            )
        return _checked(result)

    def _feeds(self, graph: Graph, names: Sequence[str]) -> Mapping[str, Any]:
        """Return the feeds, drawn if none are given, on which the graph runs."""
        feeds = Feeds(graph, self.fixed_feeds, names)
        # Only drawn values need a trial run, which shows whether the graph takes them.
        if not feeds.drawn:
            return self.fixed_feeds
        return next(feeds.each_that_runs(lambda drawn: self.open_session(graph).run(list(names), drawn)))[0]


def _checked(result: GraphComparison) -> GraphComparison:
    """Return the comparison; InvalidArgumentError if it has no nodes."""
    if not result.nodes:
        raise InvalidArgumentError("no node of the first graph matches a node of the second")
    return result


def _targets(graph: Graph, fetches: _Fetches, signature: str | None) -> tuple[str, ...]:
    """Return the names to fetch, by default the outputs of the signature or of the graph."""
    asked = asked_signature(graph.meta, signature)
    outputs = tuple(asked.fetched.values()) if asked is not None else ()
    return names_of(tuple(fetches) if isinstance(fetches, Mapping) else fetches) or outputs or default_fetches(graph)


def _in_both(before: Graph, after: Graph, names: Sequence[str], fetches: _Fetches, signature: str | None) -> dict[str, str]:
    """Return the names to fetch of `after` by the names of `before`: of the same output of a signature, or the same name."""
    if isinstance(fetches, Mapping) and fetches:
        expect(str, *fetches.values())
        return {name: after.fetch(other).name for name, other in fetches.items()}
    asked = asked_signature(before.meta, signature)
    theirs = asked_signature(after.meta, signature)
    # Two models may return the same output of their signatures from tensors of different names.
    words = {} if fetches or asked is None or theirs is None else {name: word for word, name in asked.fetched.items()}
    outputs = theirs.fetched if theirs is not None else {}
    return {name: outputs.get(words.get(name, "")) or after.fetch(name).name for name in names}


def _outputs(graph: Graph, fetches: _Fetches) -> dict[str, str]:
    """Return the tensors of a graph by their names in an ONNX file."""
    if isinstance(fetches, Mapping):
        return {word: name for name, word in fetches.items()}
    return {name: graph.result(name).name for name in names_of(fetches) or guessed_fetches(graph)}


def _runtime(name: str) -> EngineRuntime | None:
    """Return the engine of `NAME` or `NAME:PRECISION`; None for NumPy."""
    engine, _, precision = name.partition(":")
    return None if name == NUMPY else load_runtime(engine, precision or None, EngineSettings())
