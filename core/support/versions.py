"""Versions of TensorFlow for a graph."""

from __future__ import annotations

from typing import Final, NamedTuple

GRAPH_VERSION: Final = 2474
"""The GraphDef version of the TensorFlow that tfg stands for, 2.21: `producer` of graphs that are built."""


class Versions(NamedTuple):
    """The GraphDef version that made a graph, and the oldest version that may read the graph."""

    producer: int = 0
    """The GraphDef version of the program that wrote the graph."""
    min_consumer: int = 0
    """The oldest version that may read the graph."""
    bad_consumers: tuple[int, ...] = ()
    """Versions that may not read the graph."""

    def __str__(self) -> str:
        bad = f", bad consumers {', '.join(map(str, self.bad_consumers))}" if self.bad_consumers else ""
        return f"producer {self.producer}, min consumer {self.min_consumer}{bad}"
