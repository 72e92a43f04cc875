"""The classes of the layers of a Keras 2 model, from the metadata that Keras writes into a SavedModel."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ...core.codecs.wire import LENGTH_DELIMITED, fields
from ...core.graph.graph import Graph
from ...core.support.atomic import file_errors
from ...core.support.errors import DataLossError
from ...core.support.grouping import grouped
from ...core.support.places import exists
from ...core.support.regular_files import open_regular

FILE: Final = "keras_metadata.pb"
_NODES: Final = 1
_METADATA: Final = 5
"""The numbers of fields: the objects in SavedMetadata, and the JSON of an object."""


def layer_classes(graph: Graph) -> Mapping[str, str]:
    """Return the classes of a model's layers by their names, without names that layers of several classes have.

    The result is empty for files without this metadata, as Keras 3 writes them. DataLossError for damaged metadata.
    """
    named = grouped((str(layer["name"]), str(layer["class_name"])) for layer in _described(graph))
    # Layers of nested models may share a name, and the scope of a node tells only the name.
    return {name: classes[0] for name, classes in named.items() if len(set(classes)) == 1}


def keras_version(graph: Graph) -> str:
    """Return the version of Keras 2 that wrote a model, empty if no file says. DataLossError as `layer_classes`."""
    versions = (str(one["keras_version"]) for one in _described(graph) if "keras_version" in one)
    return next(versions, "")


def _described(graph: Graph) -> Iterator[Mapping[str, Any]]:
    """Yield the metadata of objects that have a name and a class."""
    for text in _texts(graph):
        try:
            metadata = json.loads(text)
        except ValueError as error:
            raise DataLossError(f"the metadata of a Keras layer is not JSON: {error}") from None
        # Other objects of a model have metadata of their own, as metrics and wrappers do.
        if isinstance(metadata, dict) and {"name", "class_name"} <= metadata.keys():
            yield metadata


def _texts(graph: Graph) -> Iterator[bytes | str]:
    """Yield the JSON of the model's objects: in a file since TensorFlow 2.5, before in the graph of objects."""
    meta = graph.meta
    if meta is None or meta.objects is None:
        return
    yield from (one.user_object.metadata for one in meta.objects.nodes if one.user_object.metadata)
    path = os.path.join(meta.folder or "", FILE)
    if meta.folder is None or not exists(path):
        return
    with file_errors(path), open_regular(path) as file:
        data = file.read()
    for node in fields(data):
        if node.number == _NODES and node.wire_type == LENGTH_DELIMITED:
            inner = fields(data, node.start, node.end)
            yield from (field.payload for field in inner if field.number == _METADATA)
