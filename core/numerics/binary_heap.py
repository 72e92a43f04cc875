"""A binary heap that moves its elements as C++'s std::push_heap and std::pop_heap (GNU libstdc++, bits/stl_heap.h) do.

Elements of equal priority leave the heap in no simple order; TensorFlow's priority queues and barriers show that order.
"""

from __future__ import annotations

from typing import Any


class MinHeap:
    """Elements by priority, the smallest first."""

    def __init__(self) -> None:
        self._items: list[tuple[int, Any]] = []

    def __len__(self) -> int:
        return len(self._items)

    def push(self, priority: int, element: Any) -> None:
        """Add an element."""
        self._items.append((priority, element))
        self._rise(len(self._items) - 1, 0, (priority, element))

    def pop(self) -> Any:
        """Take an element of the smallest priority."""
        items = self._items
        last = items.pop()
        if not items:
            return last[1]
        first, length = items[0], len(items)
        hole = child = 0
        while child < (length - 1) // 2:
            child = 2 * (child + 1)
            if items[child][0] > items[child - 1][0]:
                child -= 1
            items[hole] = items[child]
            hole = child
        if length % 2 == 0 and child == (length - 2) // 2:
            child = 2 * (child + 1)
            items[hole] = items[child - 1]
            hole = child - 1
        self._rise(hole, 0, last)
        return first[1]

    def _rise(self, hole: int, top: int, item: tuple[int, Any]) -> None:
        """Move the hole up until `item` fits."""
        items = self._items
        parent = (hole - 1) // 2
        while hole > top and items[parent][0] > item[0]:
            items[hole] = items[parent]
            hole, parent = parent, (parent - 1) // 2
        items[hole] = item
