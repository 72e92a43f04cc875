"""The constants of a graph as arrays by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..support.errors import MissingKeyError

if TYPE_CHECKING:
    import numpy as np

    from .node import Node


class Constants(Mapping[str, "np.ndarray[Any, Any]"]):
    """The values of a graph's Const nodes by name; a value is decoded and copied when it is asked for.

    NotFoundError, also a KeyError, names the nearest constants for a name that no constant has.
    """

    def __init__(self, nodes: Mapping[str, Node]) -> None:
        self._nodes = nodes

    def __getitem__(self, name: str) -> np.ndarray[Any, Any]:
        node = self._nodes.get(name)
        if node is None or not node.is_constant:
            raise MissingKeyError.of("constant", name, self)
        return node.constant_value().copy()

    def __iter__(self) -> Iterator[str]:
        return (name for name, node in self._nodes.items() if node.is_constant)

    def __len__(self) -> int:
        return sum(node.is_constant for node in self._nodes.values())

    def __repr__(self) -> str:
        return f"<Constants: {len(self):,}>"
