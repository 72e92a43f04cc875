"""Cached results of shape functions: a graph of a million nodes has tens of signatures."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ..functions.call_signatures import unnamed_in, value_key
from ..graph.graph import Node
from ..support import dataclasses
from ..support.keyed_cache import KeyedCache
from ..types.shapes import TensorSpec

_MOST: Final = 1_000_000
"""The signatures and the specs that are remembered."""
_FEW: Final = 64
"""Values of more elements are hardly ever equal to others, and are told apart by identity."""


class _Record(NamedTuple):
    op: str
    attrs: Mapping[str, Any]
    inputs: Sequence[TensorSpec]
    outputs: list[TensorSpec]


class ShapeCache:
    """Specs of the outputs of nodes by signature: op, attributes and the specs of the inputs.

    Equal specs are a single object, so that signatures are compared by identities. A record keeps alive what its key
    identifies.
    """

    def __init__(self) -> None:
        self._alike: KeyedCache[Hashable, _Record] = KeyedCache(_MOST)
        self._of_node: dict[Node, _Record] = {}
        """The records of nodes with unknown dimensions of their own: different symbols in each node."""
        self._specs: KeyedCache[Hashable, TensorSpec] = KeyedCache(_MOST)

    def find(self, node: Node, inputs: Sequence[TensorSpec]) -> list[TensorSpec] | None:
        """Return the cached specs of the outputs, or None."""
        # Nodes of a file with equal attributes have the same mapping, and equal specs are the same object: identities stand
        # for values.
        record = self._alike.get((node.op, id(node.attrs), *map(id, inputs)))
        if record is None:
            record = self._of_node.get(node)
            if record is None or not _holds(record, node, inputs):
                return None
        return record.outputs

    def keep(self, node: Node, inputs: Sequence[TensorSpec], outputs: Iterable[TensorSpec]) -> list[TensorSpec]:
        """Cache and return specs that were derived without a fault."""
        record = _Record(node.op, node.attrs, inputs, list(map(self.shared, outputs)))
        # A size that is unknown at this node alone, as the number of true elements, is not that of any other node.
        if unnamed_in(record.outputs) <= unnamed_in(inputs):
            self._alike[(node.op, id(node.attrs), *map(id, inputs))] = record
        else:
            self._of_node[node] = record
        return record.outputs

    def shared(self, spec: TensorSpec) -> TensorSpec:
        """Return the object that stands for all equal specs."""
        if spec.handle:
            spec = dataclasses.replace(spec, handle=tuple(map(self.shared, spec.handle)))
        shape, value = spec.shape, spec.value
        values = id(value) if value is not None and value.size > _FEW else value_key(value)
        # The class tells the shape of no element from the unknown shape: both have no dimensions.
        key = spec.dtype, shape.__class__, shape.dims, values, tuple(map(id, spec.handle))
        known = self._specs.get(key)
        if known is None:
            known = self._specs[key] = spec
        return known


def _holds(record: _Record, node: Node, inputs: Sequence[TensorSpec]) -> bool:
    if record.attrs is not node.attrs or record.op != node.op or len(record.inputs) != len(inputs):
        return False
    return all(a is b for a, b in zip(record.inputs, inputs))
