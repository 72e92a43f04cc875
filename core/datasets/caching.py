"""Datasets that keep the elements of another one."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from ..runtime.resources import Shared
from .base import Dataset, Element, Pull, SameElements, require_index


class MemoryCache(Shared):
    """Elements kept in memory once a pass came to its end; `by_place` those up to one that was asked for by its place."""

    def __init__(self) -> None:
        self.elements: list[Element] | None = None
        self.by_place: list[Element] = []
        self.pull: Pull | None = None


@dataclasses.dataclass(eq=False)
class Cache(SameElements):
    """The same elements: those that a first complete pass kept, in passes that begin after its end."""

    kind: ClassVar[str] = "MemoryCacheImpl"
    cache: MemoryCache

    def begin(self) -> Pull:
        if self.cache.elements is not None:
            found = iter(self.cache.elements)
            return lambda: next(found, None)
        return _keeping(self.source, self.cache)

    def element(self, index: int) -> Element:
        kept = self.cache.by_place
        if self.cache.pull is None:
            self.cache.pull = self.source.begin()
        while 0 <= len(kept) <= index:
            found = self.cache.pull()
            if found is None:
                break
            kept.append(found)
        require_index(index, len(kept))
        return kept[index]


def _keeping(source: Dataset, cache: MemoryCache) -> Pull:
    pull, kept = source.begin(), list[Element]()
    is_over = False

    def next_element() -> Element | None:
        nonlocal is_over
        element = None if is_over else pull()
        if element is not None:
            kept.append(element)
        elif not is_over:
            is_over = True
            if cache.elements is None:
                cache.elements = kept
        return element

    return next_element
