"""The ops that other programs read of a frozen graph: OpenCV, TensorFlow Lite, TensorFlow.js and tf2onnx.

graph_readers.txt has a line for each program, and below it the ops; comments name the sources.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from typing import Final

_LIST: Final = os.path.join(os.path.dirname(__file__), "graph_readers.txt")


@functools.cache
def ops_by_reader() -> Mapping[str, frozenset[str]]:
    """Return the ops that each program reads."""
    ops: dict[str, set[str]] = {}
    reader = ""
    with open(_LIST, encoding="utf-8") as file:
        for line in file:
            if line.startswith("  "):
                ops[reader].update(line.split())
            elif line.strip() and not line.startswith("#"):
                reader = line.strip()
                ops[reader] = set()
    return {name: frozenset(words) for name, words in ops.items()}


def unread_ops(counts: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Return the ops among some that each program does not read, with their numbers; without programs that read all."""
    unread = {reader: {op: n for op, n in counts.items() if op not in ops} for reader, ops in ops_by_reader().items()}
    return {reader: ops for reader, ops in unread.items() if ops}
