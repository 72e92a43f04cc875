"""The ways in which the suite runs a graph: TensorFlow, and sessions of tfg by name."""

from __future__ import annotations

import tfg
from tfg.core.engines.automatic import AutoEngagement
from tfg.core.engines.engine_registry import find_engine
from tfg.core.engines.executables import EngineSettings
from tfg.core.runtime.guards.allocation import keep_freed_memory

TENSORFLOW = "tensorflow"
NUMPY = "numpy"
WAYS = (TENSORFLOW, NUMPY, "openvino", "xla")
"""The columns of the table: those of engines are `auto` where only that engine is installed."""
FAST = "openvino:fast"
"""The same with --precision fast."""

AUTOS: list[AutoEngagement] = []
"""What chooses in the sessions of this process."""


def session(graph: tfg.Graph, way: str, files: tfg.FileAccess | None = None) -> tfg.Session:
    """A session that runs in NumPy, or chooses between NumPy and one engine; memory is kept as commands keep it."""
    files = files or tfg.FileAccess.only()
    if way == NUMPY:
        keep_freed_memory()
        return tfg.Session(graph, files=files, engine=NUMPY)
    name, _, fast = way.partition(":")
    auto = AutoEngagement(engines=[find_engine(name)], settings=EngineSettings(is_fast=bool(fast)))
    keep_freed_memory(of_any_size=True)
    AUTOS.append(auto)
    return tfg.Session(graph, files=files, engine=auto)


def is_settled() -> bool:
    """Whether the sessions of this process have chosen how to run what ran last."""
    return all(auto.latest is None or auto.latest.is_settled for auto in AUTOS)


def kept() -> str:
    """What was chosen for what ran last."""
    return ", ".join(auto.latest.best for auto in AUTOS if auto.latest is not None)
