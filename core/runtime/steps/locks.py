"""Locks around kernels: a kernel holds a shared object exclusively while it works on the object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...graph.graph import Node
from ...inference.binding import arg_lengths, require_op_def
from ...registry import registry
from ...registry.op_facts import has_fact
from ...types.dtypes import resource
from ..state.resources import Shared, exclusively


def exclusive(node: Node, call: Callable[..., Any]) -> Callable[..., Any]:
    """Return `call`, a node's bound kernel, with a lock on the objects behind its references and handles."""
    places = _places_to_lock(node)
    return _exclusive(call, places) if places else call


def _places_to_lock(node: Node) -> list[int]:
    """Return the inputs that lead to objects to lock: references and handles, except where the kernel only passes them on."""
    if has_fact(node.op, "snapshot") or has_fact(node.op, "unshared"):
        return []
    if registry.gradient_function(node.op) is registry.BY_SWEEP:
        return []
    definition = require_op_def(node)
    if any("func" in attr.type for attr in definition.attrs.values()):
        return []
    lengths = arg_lengths(definition.inputs, definition, node.attrs)
    handles = [
        arg.is_ref or arg.dtype is resource
        for arg, length in zip(definition.inputs, lengths)
        for _ in range(1 if length is None else length)
    ]
    return [place for place, is_handle in enumerate(handles) if is_handle]


def _exclusive(call: Callable[..., Any], places: Sequence[int]) -> Callable[..., Any]:
    """Return `call` with a lock on the shared objects at `places` of its inputs."""
    first = places[0]

    def exclusive_of_one(*inputs: Any) -> Any:
        shared = _shared(inputs[first])
        if shared is None:
            return call(*inputs)
        with shared.lock:
            try:
                result = call(*inputs)
            finally:
                shared.is_changing = False
        shared.tell()
        return result

    def exclusive(*inputs: Any) -> Any:
        # All threads take locks in the order of identities, so that no two threads wait for each other.
        shared_objects = {id(shared): shared for place in places if (shared := _shared(inputs[place])) is not None}
        return exclusively([shared_objects[key] for key in sorted(shared_objects)], call, inputs)

    return exclusive_of_one if len(places) == 1 else exclusive


def _shared(value: Any) -> Shared | None:
    """Return the shared object behind a reference or a handle; None where threads do not share the object."""
    if isinstance(value, np.ndarray):
        content = value.item(0) if value.size else None
        return content if isinstance(content, Shared) else None
    return value.shared if isinstance(value, Shared) else None
