"""The ways in which the suite runs a graph: TensorFlow, and sessions of tfg by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import tfg
from tfg.core.engines.automatic import AutoRuntime
from tfg.core.engines.engine_registry import find_engine
from tfg.core.engines.executables import EngineSettings
from tfg.core.runtime.execute.allocation import keep_freed_memory

TENSORFLOW = "tensorflow"
NUMPY = "numpy"
WAYS = (TENSORFLOW, NUMPY, "openvino", "xla")
"""The columns of the table: a column of an engine is `auto` with only this engine installed."""
FAST = "openvino:fast"
"""The same with --precision fast."""
ITSELF = "openvino:itself"
"""OpenVINO on the frozen network's file, without tfg."""
TITLES = {
    TENSORFLOW: "TensorFlow ms",
    NUMPY: "NumPy",
    "openvino": "auto with OpenVINO",
    "xla": "auto with XLA",
    FAST: "auto with OpenVINO, fast",
    ITSELF: "OpenVINO itself",
}

AUTOS: list[AutoRuntime] = []
"""The choosers of the sessions in this process."""


def session(graph: tfg.Graph, way: str, files: tfg.FileAccess | None = None) -> tfg.Session:
    """Return a session that runs in NumPy, or chooses between NumPy and an engine; freed memory is kept as by commands."""
    files = files or tfg.FileAccess.only()
    if way == NUMPY:
        keep_freed_memory()
        return tfg.Session(graph, files=files, engine=NUMPY)
    name, _, fast = way.partition(":")
    auto = AutoRuntime(engines=[find_engine(name)], settings=EngineSettings(is_fast=bool(fast)))
    keep_freed_memory(of_any_size=True)
    AUTOS.append(auto)
    return tfg.Session(graph, files=files, engine=auto)


def openvino_call(path: str, feeds: Mapping[str, np.ndarray[Any, Any]]) -> Callable[[], Any]:
    """Return a run of a frozen network in OpenVINO's interface, in single precision."""
    ov = importlib.import_module("tfg.core.engines.openvino").ov
    core = ov.Core()
    model = core.read_model(path)
    inputs = {port: feeds[f"{port.get_any_name().partition(':')[0]}:0"] for port in model.inputs}
    model.reshape({port: value.shape for port, value in inputs.items()})
    settings = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
    request = core.compile_model(model, "CPU", settings).create_infer_request()
    values = list(inputs.values())
    return lambda: request.infer(values)


def is_settled() -> bool:
    """Return whether the sessions of this process have chosen a way for the last run."""
    return all(auto.latest is None or auto.latest.is_settled for auto in AUTOS)


def kept() -> str:
    """Return the choice for the last run."""
    return ", ".join(auto.latest.best for auto in AUTOS if auto.latest is not None)
