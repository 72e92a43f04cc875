"""A preview of an engine's work on a graph, without running anything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..functions.callers import called_functions
from ..graph.graph import Graph, Node, Output
from ..planning.plan import Plan
from ..planning.planner import compile_plan, plan_of_function
from ..planning.reachability import needed_nodes
from .engine_report import EngineReport
from .engine_runtime import EngineRuntime
from .protocol import Engine, Engined


def preview(graph: Graph, fetches: Sequence[Output | Node], engine: Engine) -> EngineReport:
    """Return the groups in which `engine` would run `fetches`, groups in functions included, and the refused nodes."""
    runtime = EngineRuntime(engine)
    for owner, plan in _plans(graph, fetches):
        for step in runtime.divided(plan, owner).steps:
            if isinstance(step, Engined):
                runtime.group(owner, step.body, _never)
    return runtime.report()


def _plans(graph: Graph, fetches: Sequence[Output | Node]) -> Iterator[tuple[Graph, Plan]]:
    yield graph, compile_plan(graph, fetches)
    for name in sorted(called_functions(graph, needed_nodes(fetches))):
        function = graph.functions[name]
        yield function.body, plan_of_function(function)


def _never(*values: object) -> tuple[object, ...]:
    raise AssertionError("a preview cannot run")
