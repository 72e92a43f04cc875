"""Overlays from JSON: an object of numbers or texts by node, or the JSON of `tfg flops --measured` and `tfg compare`."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from typing import Any, Final

from ..core.drawing.view_model import NodeOverlay, Values
from ..core.explaining.model_view import ModelView
from ..core.flops.by_node import seconds_by_node
from ..core.flops.measured import Measurement
from ..core.graph.callers import CallPaths, nodes_by_path
from ..core.graph.graph import Node
from ..core.support import dataclasses
from ..core.support.errors import InvalidArgumentError
from .codecs.source import read_source
from .run_metadata import read_run_metadata

_MEASURED: Final = NodeOverlay("Measured time", {}, "seconds", adds_up=True)
_DOCUMENTS: Final = {
    "tfg.flops.measured": ("rows", "path", "seconds", _MEASURED),
    "tfg.compare": ("nodes", "tensor", "largest_difference", NodeOverlay("Difference", {})),
}
"""By schema: where the rows are, the fields of a row with node and value, and the overlay without values."""


def read_overlay(path: str, view: ModelView) -> NodeOverlay:
    """Return the overlay in a JSON file, called as the file is. Names of functions' nodes are FUNCTION/NODE.

    InvalidArgumentError for a file without JSON of this form, for values of both kinds, and if no name is a node's.
    """
    contents = _contents(path)
    rows, frame = _rows(contents, NodeOverlay(os.path.basename(path).removesuffix(".json"), {}), path)
    return dataclasses.replace(frame, values=_values_by_node(view, rows, path, through_calls=frame.adds_up))


def overlay_of(view: ModelView, title: str, values: Mapping[str, float | str]) -> NodeOverlay:
    """Return the overlay of numbers or texts by node's name; the errors of `read_overlay`."""
    return NodeOverlay(title, _values_by_node(view, values, title, through_calls=False))


def measured_overlay(view: ModelView, measurement: Measurement) -> NodeOverlay:
    """Return the seconds of each node in the average run; a call has those of its functions, too."""
    nodes = tuple(dataclasses.replace(node, path=view.path(node.path)) for node in measurement.nodes)
    return dataclasses.replace(_MEASURED, values=seconds_by_node(view.graph, dataclasses.replace(measurement, nodes=nodes)))


def _values_by_node(view: ModelView, rows: Mapping[str, Any], source: str, through_calls: bool) -> Values:
    """Return the values by node; with `through_calls` a call has the sum of its own number and its functions' numbers."""
    nodes, paths = nodes_by_path(view.graph), CallPaths(view.graph)
    named = ((name, view.path(name)) for name in rows)
    # Names that the graph lacks are passed over: a measurement may be of the graph before an optimization.
    at = {name: node for name, path in named if (node := nodes.get(path) or paths.node_at(path)) is not None}
    if not at:
        names = ", ".join(f"'{name}'" for name in list(rows)[:3])
        raise InvalidArgumentError(f"{source}: no name matches a node of the graph", hint=f"the names are {names or 'none'}")
    values = _of_one_kind({name: rows[name] for name in at}, source)
    if not through_calls:
        return {at[name]: value for name, value in values.items()}
    sums: dict[Node, float] = {}
    for name, value in values.items():
        # So the box of a call is coloured while it is closed, and its nodes are once it is opened.
        for node in paths.through(view.path(name)):
            sums[node] = sums.get(node, 0.0) + value
    return sums


def time_overlay(path: str, view: ModelView) -> NodeOverlay:
    """Return the seconds of all executions of each node in a RunMetadata file; DataLossError for any other file."""
    nodes = nodes_by_path(view.graph)
    seconds: dict[Node, float] = {}
    for time in read_run_metadata(path):
        node = nodes.get(view.path(time.name))
        if node is not None:
            seconds[node] = seconds.get(node, 0.0) + time.seconds
    return dataclasses.replace(_MEASURED, values=seconds)


def _contents(path: str) -> dict[str, Any]:
    try:
        contents = json.loads(bytes(read_source(path)))
    except (ValueError, RecursionError) as error:
        raise InvalidArgumentError(f"{path} is not JSON: {error}") from None
    if not isinstance(contents, dict):
        raise InvalidArgumentError(
            f"{path} does not hold an object with a number or text for each node", hint='write {"NODE": 1.5, ...}'
        )
    return contents


def _rows(contents: dict[str, Any], plain: NodeOverlay, path: str) -> tuple[dict[str, Any], NodeOverlay]:
    # A document of any version will do, as long as the keys that are read here are in it.
    schema = str(contents.get("schema", "")).partition("/")[0]
    if schema not in _DOCUMENTS:
        return contents, plain
    key, name, value, frame = _DOCUMENTS[schema]
    try:
        # `tfg compare` names tensors, and an overlay nodes: the first output stands for its node.
        return {str(row[name]).removesuffix(":0"): row[value] for row in contents[key]}, frame
    except (KeyError, TypeError):
        raise InvalidArgumentError(
            f"{path} has no '{key}' with '{name}' and '{value}'", hint="write the JSON file again"
        ) from None


def _of_one_kind(values: Mapping[str, Any], source: str) -> Mapping[str, Any]:
    # A bool is an int to Python, and NaN has no colour.
    numbers = {name: float(value) for name, value in values.items() if type(value) in (int, float) and math.isfinite(value)}
    texts = {name: value for name, value in values.items() if isinstance(value, str)}
    for name, value in values.items():
        if name not in numbers and name not in texts:
            raise InvalidArgumentError(f"{source}: {value!r} is neither a finite number nor a string", node=name)
    if numbers and texts:
        raise InvalidArgumentError(f"{source} mixes numbers and texts", hint="write the numbers and the texts to two files")
    return numbers or texts
