"""Engines of sessions, with checks and meshes."""

from __future__ import annotations

from ...core.engines.automatic import AutoRuntime, choose_runtime
from ...core.engines.engine_registry import find_mesh
from ...core.engines.engine_runtime import EngineRuntime
from ...core.engines.executables import EngineSettings
from ...core.engines.protocol import Mesh
from ...core.support.arguments import takes


@takes(engine=str | None, precision=str | None, verify=bool, measure=bool)
def engine_runtime(
    engine: str | None,
    precision: str | None = None,
    *,
    verify: bool = False,
    measure: bool = False,
    mesh: int | Mesh | None = None,
) -> EngineRuntime | AutoRuntime | None:
    """Return an engine for `Session(engine=...)`, to be shared by several sessions; None for NumPy.

    `engine` is a name, or None for the engine of TFG_ENGINE; `precision` is as for `Session`. With `verify`, each group of
    nodes also runs in NumPy: `report().differences` names the first tensor that differs. With `measure`, the first run
    measures the times of the report. `mesh` is the number of XLA devices that divide the rows of the feeds.
    NotFoundError for an unknown engine, or for an engine that is not installed.
    """
    devices = find_mesh(mesh, None) if isinstance(mesh, int) else mesh
    settings = EngineSettings(verify=verify, reports=measure, times_numpy=devices is None)
    return choose_runtime(engine, precision, settings, devices)
