"""Datasets that cache the elements of their input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Protocol

from ..runtime.state.resources import Shared
from ..support import dataclasses
from .dataset import Element, Pull, SameElements, keeping, pull_of, require_index


class MemoryCache(Shared):
    """Elements of a complete pass in memory; `by_place` holds the elements up to the largest index asked for."""

    def __init__(self) -> None:
        self.elements: list[Element] | None = None
        self.by_place: list[Element] = []
        self.pull: Pull | None = None

    def keep(self, elements: list[Element]) -> None:
        """Cache the elements of a complete pass, unless another pass was first."""
        if self.elements is None:
            self.elements = elements


@dataclasses.dataclass(eq=False)
class Cache(SameElements):
    """The same elements. A pass that begins after the end of a complete pass reads the cached elements."""

    kind: ClassVar[str] = "MemoryCacheImpl"
    cache: MemoryCache

    def begin(self) -> Pull:
        if self.cache.elements is not None:
            return pull_of(iter(self.cache.elements))
        return keeping(self.source, self.cache.keep)

    @property
    def has_places(self) -> bool:
        return True

    def element(self, index: int) -> Element:
        elements = self.cache.by_place
        if self.cache.pull is None:
            self.cache.pull = self.source.begin()
        while 0 <= len(elements) <= index:
            element = self.cache.pull()
            if element is None:
                break
            elements.append(element)
        require_index(index, len(elements))
        return elements[index]


class CacheFile(Protocol):
    """A file for elements."""

    def is_there(self) -> bool:
        """Return True where elements are in the file."""
        ...

    def read(self) -> Iterator[Element]:
        """Yield the elements in order."""
        ...

    def write(self, elements: Sequence[Element]) -> None:
        """Keep the elements."""
        ...


@dataclasses.dataclass(eq=False)
class FileCache(SameElements):
    """The same elements, read from a file where a complete pass has written the file."""

    kind: ClassVar[str] = "FileCacheImpl"
    file: CacheFile

    def begin(self) -> Pull:
        if not self.file.is_there():
            return keeping(self.source, self.file.write)
        return pull_of(self.file.read())
