"""Binary heaps that move their elements as C++'s std::push_heap and std::pop_heap (GNU libstdc++, bits/stl_heap.h) do.

Elements of equal priority leave the heap in no simple order; TensorFlow's priority queues and barriers show that order. The
largest element is at the root; a pop sifts a hole down to a leaf and back up (Floyd, Algorithm 245, CACM 7 (1964)).
"""

from __future__ import annotations

from typing import Any, NamedTuple


class _Entry(NamedTuple):
    priority: int
    element: Any

    def __lt__(self, other: tuple[Any, ...]) -> bool:
        """Return True for an element that leaves a heap after the other."""
        return bool(self.priority > other[0])


class MinHeap:
    """Elements by priority, the smallest first."""

    def __init__(self) -> None:
        self._entries: list[_Entry] = []

    def __len__(self) -> int:
        return len(self._entries)

    def push(self, priority: int, element: Any) -> None:
        """Add an element."""
        entry = _Entry(priority, element)
        self._entries.append(entry)
        _rise(self._entries, len(self._entries) - 1, 0, entry)

    def pop(self) -> Any:
        """Take an element of the smallest priority."""
        first, last = self._entries[0], self._entries.pop()
        if self._entries:
            sift(self._entries, 0, len(self._entries), last)
        return first.element


def sift(heap: list[Any], hole: int, size: int, item: Any) -> None:
    """Move the hole to a leaf along the larger children, then `item` up from there."""
    top, child = hole, hole
    while child < (size - 1) // 2:
        child = 2 * child + 2
        if heap[child] < heap[child - 1]:
            child -= 1
        heap[hole] = heap[child]
        hole = child
    if size % 2 == 0 and child == (size - 2) // 2:
        child = 2 * child + 1
        heap[hole] = heap[child]
        hole = child
    _rise(heap, hole, top, item)


def _rise(heap: list[Any], hole: int, top: int, item: Any) -> None:
    """Move the hole up, at most to `top`, until `item` fits."""
    while hole > top and heap[(hole - 1) // 2] < item:
        heap[hole] = heap[(hole - 1) // 2]
        hole = (hole - 1) // 2
    heap[hole] = item
