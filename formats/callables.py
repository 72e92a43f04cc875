"""The functions that Python calls on the objects of a SavedModel: their names and their captured inputs."""

from __future__ import annotations

import collections
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ..core.functions.call_kinds import CALL_KINDS, Form
from ..core.graph.graph import Graph
from ..core.graph.metagraph import Asset, Bound, SavedCallable
from ..core.types.tensors import FuncRef
from .protos.meta_graph_pb2 import SavedConcreteFunction, SavedObjectGraph, StructuredValue

_INTERNAL: Final = ("_initialize", "_create_resource", "_destroy_resource", "signatures", "keras_api")
"""Attributes whose functions only serve to save and restore the model."""


def callables(
    objects: SavedObjectGraph, keys: Mapping[int, str], assets: Sequence[Asset], graph: Graph
) -> tuple[SavedCallable, ...]:
    """Return the functions of all objects, beginning with the objects nearest to the model.

    `keys` maps the numbers of variables' objects to the variables' keys in a checkpoint.
    """
    saved_callables = []
    handles = _handles(objects, graph)
    for path, names in _functions(objects):
        for number, function in enumerate(names):
            concrete = objects.concrete_functions[function]
            bound = tuple(_bound(objects, i, keys, assets, handles) for i in concrete.bound_inputs)
            name = path if len(names) == 1 else f"{path}[{number}]"
            saved_callables.append(SavedCallable(name, function, tuple(_results(concrete)), bound))
    return tuple(saved_callables)


def _functions(objects: SavedObjectGraph) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the paths of functions, each once, and the library's functions traced from each."""
    queue = collections.deque([(0, "")] if objects.nodes else [])
    seen = {0}
    while queue:
        number, path = queue.popleft()
        for child in objects.nodes[number].children:
            if child.node_id in seen or child.local_name in _INTERNAL or not 0 <= child.node_id < len(objects.nodes):
                continue
            seen.add(child.node_id)
            node, name = objects.nodes[child.node_id], f"{path}{child.local_name}"
            if node.WhichOneof("kind") == "function":
                traced = [function for function in node.function.concrete_functions if function in objects.concrete_functions]
                if traced:
                    yield name, traced
            else:
                queue.append((child.node_id, f"{name}."))


def _handles(objects: SavedObjectGraph, graph: Graph) -> dict[int, str]:
    """Return the tensors that the graph's own calls of functions pass for objects."""
    tensors: dict[int, str] = {}
    for node in graph:
        kind = CALL_KINDS.get(node.op)
        called = node.attrs.get(kind.functions[0]) if kind is not None and kind.form is Form.CALL else None
        if isinstance(called, FuncRef) and called.name in objects.concrete_functions:
            bound = objects.concrete_functions[called.name].bound_inputs
            tensors.update((number, value.name) for number, value in zip(reversed(bound), reversed(node.inputs)))
    return tensors


def _bound(
    objects: SavedObjectGraph, number: int, keys: Mapping[int, str], assets: Sequence[Asset], handles: Mapping[int, str]
) -> Bound:
    node = objects.nodes[number] if 0 <= number < len(objects.nodes) else None
    kind = node.WhichOneof("kind") if node is not None else None
    words = f"a {kind or 'thing'} of the model's objects"
    if number in keys:
        return Bound(f"variable '{keys[number]}'", key=keys[number], tensor=handles.get(number, ""))
    if node is not None and kind == "asset" and 0 <= node.asset.asset_file_def_index < len(assets):
        return Bound(words, tensor=assets[node.asset.asset_file_def_index].tensor)
    if node is not None and kind == "constant":
        return Bound(words, tensor=f"{node.constant.operation}:0")
    return Bound(words, tensor=handles.get(number, ""))


def _results(concrete: SavedConcreteFunction) -> Iterator[str]:
    """Yield the names of a function's results: keys, and positions in lists; `output_0` for a single tensor."""
    for path in _leaves(concrete.output_signature, ""):
        yield path or "output_0"


def _leaves(value: StructuredValue, path: str) -> Iterator[str]:
    """Yield the paths to the tensors in a structure, in TensorFlow's order."""
    kind = value.WhichOneof("kind")
    if kind in ("list_value", "tuple_value"):
        for number, item in enumerate(getattr(value, kind).values):
            yield from _leaves(item, f"{path}.{number}" if path else f"output_{number}")
    elif kind == "dict_value":
        for key in sorted(value.dict_value.fields):
            yield from _leaves(value.dict_value.fields[key], f"{path}.{key}" if path else key)
    elif kind == "named_tuple_value":
        for pair in value.named_tuple_value.values:
            yield from _leaves(pair.value, f"{path}.{pair.key}" if path else pair.key)
    elif kind not in (None, "none_value"):
        yield path
