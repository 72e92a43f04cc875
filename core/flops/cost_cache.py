"""A cache of node costs: nodes alike in op, attributes and specs share an entry, within a count and between counts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final

from ..graph.graph import Node
from ..inference.shape_cache import ShapeCache
from ..registry.registry import Cost
from ..support.keyed_cache import KeyedCache
from ..types.dims import DimLike
from ..types.shapes import TensorSpec

_MAX_KEPT: Final = 100_000
_MAX_ELEMENTS: Final = 16
"""Values of more elements than this are no axes, sizes or paddings, and hardly ever the same."""

Key = tuple[Hashable, ...]


class CostCache:
    """Costs and bytes moved by key; nodes with the same op, attributes, and specs of inputs and outputs share a key."""

    def __init__(self) -> None:
        self._entries: KeyedCache[Key, tuple[Mapping[str, Any], Cost, DimLike]] = KeyedCache(_MAX_KEPT)

    def find(self, key: Key, node: Node) -> tuple[Cost, DimLike] | None:
        """Return the cost and the bytes of a node with this key, None where they have to be worked out."""
        entry = self._entries.get(key)
        return entry[1:] if entry is not None and entry[0] is node.attrs else None

    def keep(self, key: Key, node: Node, cost: Cost, moved: DimLike) -> None:
        """Store a cost; the attributes are stored too, so that no other attributes can take over their `id`."""
        self._entries[key] = node.attrs, cost, moved


class CountCache(ShapeCache):
    """The shapes and costs kept from a count to the next while a graph is changed."""

    def __init__(self) -> None:
        super().__init__()
        self.costs = CostCache()


def cost_key(node: Node, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]) -> Key | None:
    """Return the key of a node's cost; None for specs with handles or with values too large to compare."""
    parts: list[Hashable] = [node.op, id(node.attrs), len(inputs)]
    for spec in (*inputs, *outputs):
        if spec.handle:
            return None
        value = spec.value
        if value is not None:
            if value.size > _MAX_ELEMENTS or value.dtype == object:
                return None
            parts.append(value.tobytes())
        parts += spec.dtype, spec.shape.dims
    return tuple(parts)
