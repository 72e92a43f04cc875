"""Reading of tfg's graphs by OpenVINO's TensorFlow frontend: through a file, the only way in by the public interface."""

from __future__ import annotations

import importlib
import os
import tempfile
from typing import Any

from ...graph.graph import Graph


def input_model(frontend: Any, graph: Graph) -> Any:
    """Return the frontend's model of a graph, read from a temporary file, in memory where the system has such files."""
    saving = importlib.import_module(".....formats", __name__)
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="tfg-", dir=folder) as place:
        path = os.path.join(place, "graph.pb")
        saving.save(graph, path)
        return frontend.load(path)


def place_of(model: Any, node: str, index: int) -> Any:
    """Return the place of a tensor in the frontend's model."""
    place = model.get_place_by_tensor_name(f"{node}:{index}")
    return place if place is not None or index else model.get_place_by_tensor_name(node)
