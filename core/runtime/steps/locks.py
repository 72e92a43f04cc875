"""Kernels of several threads: each has to itself what threads share, as long as it works on it."""

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
    """`call`, a node's bound kernel, with what its references and handles lead to to itself."""
    places = _places_to_lock(node)
    return _exclusive(call, places) if places else call


def _places_to_lock(node: Node) -> list[int]:
    """Which inputs lead to what the kernel must have to itself: references and handles, but not those it only passes on."""
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
    """`call` with what threads share at `places` of its inputs to itself."""
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
        found = {id(shared): shared for place in places if (shared := _shared(inputs[place])) is not None}
        return exclusively([found[key] for key in sorted(found)], call, inputs)

    return exclusive_of_one if len(places) == 1 else exclusive


def _shared(value: Any) -> Shared | None:
    """What a reference or a handle leads to, where threads may share it."""
    if isinstance(value, np.ndarray):
        found = value.item(0) if value.size else None
        return found if isinstance(found, Shared) else None
    return value.shared if isinstance(value, Shared) else None
