"""The object graph of a TF2 checkpoint: the objects by paths of attributes, and the key of each object's value."""

from __future__ import annotations

import collections
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from ...core.types.dtypes import string
from ...core.types.tensors import Tensor
from ..codecs.scan import parse

if TYPE_CHECKING:
    from ..protos.meta_graph_pb2 import TrackableObjectGraph

    _Object: TypeAlias = TrackableObjectGraph.TrackableObject
    _Value: TypeAlias = TrackableObjectGraph.TrackableObject.SerializedTensor

OBJECT_GRAPH: Final = "_CHECKPOINTABLE_OBJECT_GRAPH"
"""The key of the object graph."""
_VALUES: Final = "/.ATTRIBUTES/"
_SLOT: Final = "/.OPTIMIZER_SLOT/"


def read_objects(tensor: Tensor) -> TrackableObjectGraph:
    """Return the object graph that a checkpoint holds; DataLossError for another string."""
    from ..protos.meta_graph_pb2 import TrackableObjectGraph

    return parse(TrackableObjectGraph, tensor.numpy().item())


def object_path(key: str) -> str:
    """Return the path of the object whose value a key names; another key as it is."""
    return key.partition(_VALUES)[0]


def moved_objects(tensor: Tensor, keys: Mapping[str, str]) -> Tensor:
    """Return the object graph of a part of a checkpoint, under new keys: `keys` has the new key of each key that stays.

    A value moves to the object at the path of its new key, which is made if the graph has none. Other references to
    that object hold for the value, too: Keras lists each variable of a layer in the lists of the model as well.
    """
    objects = read_objects(tensor)
    changes = []
    for node in objects.nodes:
        for value in list(node.attributes):
            key = _new_key(value.checkpoint_key, keys)
            if key != value.checkpoint_key:
                node.attributes.remove(value)
                changes.append((value, key))
    if not changes:
        return tensor
    # All values are taken off before the first is put back, because two variables may exchange their names.
    places = _Places(objects)
    for value, key in changes:
        if key is not None:
            places.put(value, key)
    _drop_empty_slots(objects)
    _mark_values(objects)
    return Tensor.from_numpy(np.array(objects.SerializeToString(deterministic=True), object), string)


def _new_key(key: str, keys: Mapping[str, str]) -> str | None:
    """Return the new key of a value, None for a value that is left out.

    The tensors of a table have the key of the table, and an ending for each part.
    """
    part = key if key in keys else next((name for name in keys if name.startswith(f"{key}-")), None)
    return None if part is None else keys[part].removesuffix(part[len(key) :])


class _Places:
    """The objects of a graph by path, found from the root or made."""

    def __init__(self, objects: TrackableObjectGraph) -> None:
        self._nodes = objects.nodes

    def put(self, value: _Value, key: str) -> None:
        """Add a value to the object at the path of its new key. The variable's name, too, becomes the path."""
        path = object_path(key)
        variable, slot, place = path.partition(_SLOT)
        node = self._slot(variable, *place.rpartition("/")[::2]) if slot else self._find(variable)
        added = self._nodes[node].attributes.add()
        added.CopyFrom(value)
        added.checkpoint_key = key
        # A slot is found through its optimizer and its variable; its name in the graph has no such path, and stays.
        if not slot:
            added.full_name = path

    def _find(self, path: str) -> int:
        """Return the number of the object at a path."""
        number = 0
        for name in path.split("/"):
            children = self._nodes[number].children
            known = next((child.node_id for child in children if escaped(child.local_name) == name), None)
            if known is None:
                known = self._added()
                self._nodes[number].children.add(node_id=known, local_name=_plain(name))
            number = known
        return number

    def _slot(self, variable: str, optimizer: str, name: str) -> int:
        """Return the number of the variable that an optimizer keeps for another variable."""
        original, slots = self._find(variable), self._nodes[self._find(optimizer)].slot_variables
        for slot in slots:
            if slot.original_variable_node_id == original and escaped(slot.slot_name) == name:
                return slot.slot_variable_node_id
        number = self._added()
        slots.add(original_variable_node_id=original, slot_name=_plain(name), slot_variable_node_id=number)
        return number

    def _added(self) -> int:
        self._nodes.add()
        return len(self._nodes) - 1


def escaped(name: str) -> str:
    """Return the part of a path that stands for the name of an attribute."""
    # TensorFlow's escapes of object paths: "/" separates the names, and ".ATTRIBUTES" begins the part that is no name.
    return name.replace(".", "..").replace("/", ".S")


def _plain(part: str) -> str:
    return part.replace(".S", "/").replace("..", ".")


def _drop_empty_slots(objects: TrackableObjectGraph) -> None:
    """Drop the slots without a value: an optimizer that restores a slot needs the value."""
    for node in objects.nodes:
        for slot in list(node.slot_variables):
            if not objects.nodes[slot.slot_variable_node_id].attributes:
                node.slot_variables.remove(slot)


def _mark_values(objects: TrackableObjectGraph) -> None:
    """Mark the objects that have values, or below which objects have values: TensorFlow does not look below others."""
    parents: dict[int, set[int]] = collections.defaultdict(set)
    for number, node in enumerate(objects.nodes):
        for child in node.children:
            parents[child.node_id].add(number)
    holding = [number for number, node in enumerate(objects.nodes) if _holds(node)]
    marked = set(holding)
    while holding:
        above = parents[holding.pop()] - marked
        marked |= above
        holding += above
    for number, node in enumerate(objects.nodes):
        node.has_checkpoint_values.value = number in marked


def _holds(node: _Object) -> bool:
    return bool(node.attributes or node.slot_variables or node.HasField("registered_saver"))
