"""Cached results of shape functions, for unchanged nodes and for equal nodes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ..graph.graph import Node
from ..support.keyed_cache import KeyedCache
from ..types.shapes import TensorSpec

_MAX_ALIKE: Final = 100_000
"""Nodes that are remembered: some 100 MB of specs."""


class _Record(NamedTuple):
    op: str
    attrs: Mapping[str, Any]
    inputs: Sequence[TensorSpec]
    outputs: list[TensorSpec]


class ShapeCache:
    """Specs of the outputs of nodes, valid while op, attributes and the specs of the inputs are the same."""

    def __init__(self) -> None:
        self._of_node: dict[Node, _Record] = {}
        self._alike: KeyedCache[Hashable, _Record] = KeyedCache(_MAX_ALIKE)

    def find(self, node: Node, inputs: Sequence[TensorSpec]) -> list[TensorSpec] | None:
        """Return the cached specs of the outputs, or None."""
        record = self._of_node.get(node)
        if record is None or not _holds(record, node, inputs):
            key = _key(node, inputs)
            record = self._alike.get(key) if key is not None else None
            if record is None or record.attrs is not node.attrs:
                return None
            self._of_node[node] = record
        return record.outputs

    def keep(self, node: Node, inputs: Sequence[TensorSpec], outputs: list[TensorSpec]) -> None:
        """Cache specs that were derived without a fault."""
        record = self._of_node[node] = _Record(node.op, node.attrs, inputs, outputs)
        key = _key(node, inputs)
        # Unknown dimensions of different nodes are different symbols.
        if key is not None and all(map(_is_plain, outputs)):
            self._alike[key] = record


def _holds(record: _Record, node: Node, inputs: Sequence[TensorSpec]) -> bool:
    if record.attrs is not node.attrs or record.op != node.op or len(record.inputs) != len(inputs):
        return False
    return all(map(_is_same, record.inputs, inputs))


def _is_same(a: TensorSpec, b: TensorSpec) -> bool:
    """Return True for identical specs, and for specs with equal dtype and shape that know neither values nor contents."""
    if a is b:
        return True
    says_more = a.value is not None or b.value is not None or a.handle or b.handle
    return not says_more and a.dtype is b.dtype and a.shape == b.shape


def _key(node: Node, inputs: Sequence[TensorSpec]) -> Hashable | None:
    """Return the cache key of a node: op, attributes and inputs; None where an input's spec has more than a known shape."""
    if not all(map(_is_plain, inputs)):
        return None
    return node.op, id(node.attrs), tuple((spec.dtype, spec.shape.dims) for spec in inputs)


def _is_plain(spec: TensorSpec) -> bool:
    return spec.value is None and not spec.handle and spec.shape.is_known
