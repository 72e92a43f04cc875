"""Overlays from JSON: an object of numbers or texts by node, or the JSON of `tfg flops --measured` and `tfg compare`."""

from __future__ import annotations

import json
import math
import os
from typing import Any, Final

from ..core.drawing.overlays import NodeOverlay, nodes_by_path
from ..core.graph.graph import Graph, Node
from ..core.support.errors import InvalidArgumentError
from .codecs.source import read_source
from .run_metadata import read_run_metadata

_DOCUMENTS: Final = {
    "tfg.flops.measured": ("rows", "path", "seconds", NodeOverlay("Measured time", {}, "seconds", adds_up=True)),
    "tfg.compare": ("nodes", "tensor", "largest_difference", NodeOverlay("Difference", {})),
}
"""By schema: where the rows are, the fields of a row with node and value, and the overlay without values."""


def read_overlay(path: str, graph: Graph) -> NodeOverlay:
    """Return the overlay in a JSON file, called as the file is. Names of functions' nodes are FUNCTION/NODE.

    InvalidArgumentError for a file without JSON of this form, for values of both kinds, and where no name is a node's.
    """
    contents = _contents(path)
    rows, frame = _rows(contents, NodeOverlay(os.path.basename(path).removesuffix(".json"), {}), path)
    nodes = nodes_by_path(graph)
    values = {nodes[name]: value for name, value in rows.items() if name in nodes}
    if not values:
        names = ", ".join(f"'{name}'" for name in list(rows)[:3])
        raise InvalidArgumentError(f"{path}: no name is a node of the graph", hint=f"the file has {names or 'no names'}")
    return NodeOverlay(frame.title, _of_one_kind(values, path), frame.unit, frame.adds_up)


def time_overlay(path: str, graph: Graph) -> NodeOverlay:
    """Return the seconds of all executions of each node in a RunMetadata file; DataLossError for any other file."""
    nodes = nodes_by_path(graph)
    seconds: dict[Node, float] = {}
    for time in read_run_metadata(path):
        node = nodes.get(time.name)
        if node is not None:
            seconds[node] = seconds.get(node, 0.0) + time.seconds
    return NodeOverlay("Measured time", seconds, "seconds", adds_up=True)


def _contents(path: str) -> dict[str, Any]:
    try:
        contents = json.loads(bytes(read_source(path)))
    except (ValueError, RecursionError) as error:
        raise InvalidArgumentError(f"{path} is no JSON: {error}") from None
    if not isinstance(contents, dict):
        raise InvalidArgumentError(f"{path} has no object of numbers or texts by node", hint='write {"NODE": 1.5, ...}')
    return contents


def _rows(contents: dict[str, Any], plain: NodeOverlay, path: str) -> tuple[dict[str, Any], NodeOverlay]:
    schema = str(contents.get("schema", "")).partition("/")[0]
    if schema not in _DOCUMENTS:
        return contents, plain
    key, name, value, frame = _DOCUMENTS[schema]
    try:
        return {str(row[name]).removesuffix(":0"): row[value] for row in contents[key]}, frame
    except (KeyError, TypeError):
        raise InvalidArgumentError(f"{path} has no '{key}' with '{name}' and '{value}'", hint="write the JSON anew") from None


def _of_one_kind(values: dict[Node, Any], path: str) -> dict[Node, float] | dict[Node, str]:
    numbers = {node: float(value) for node, value in values.items() if type(value) in (int, float) and math.isfinite(value)}
    texts = {node: value for node, value in values.items() if isinstance(value, str)}
    for node, value in values.items():
        if node not in numbers and node not in texts:
            raise InvalidArgumentError(f"{path}: {value!r} is neither a finite number nor a text", node=node.name)
    if numbers and texts:
        raise InvalidArgumentError(f"{path} has numbers and texts", hint="write them to two files")
    return numbers or texts
