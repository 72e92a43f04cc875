"""The function behind `tfg explain --engine`."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.engines.engine_registry import find_engine
from ...core.engines.engine_report import EngineReport
from ...core.engines.preview import preview
from ...core.engines.suggesting import first_engine
from ...core.graph.graph import GraphLike
from ...core.passes.pipeline import guessed_fetches
from ...core.support.arguments import takes
from ...core.support.engine_names import AUTO
from .prepared_sessions import as_run, names_of


@takes(graph=GraphLike, engine=str)
def explain_engine(graph: GraphLike, engine: str = AUTO, fetches: Sequence[str] | str = ()) -> EngineReport:
    """Return the part of a run that an engine would take, and the rest with the reasons; nothing runs.

    `engine` is `openvino`, `xla`, or `auto` for the engine that takes most. The run fetches `fetches`, by default the outputs
    and training operations. NotFoundError for an unknown engine.
    """
    graph = as_run(graph, fetches)
    targets = [graph.result(name) for name in names_of(fetches) or guessed_fetches(graph)]
    return preview(graph, targets, find_engine(first_engine(graph, targets) if engine == AUTO else engine))
