"""Draws of one kind that follow each other in a stream at equal distances.

Small ones are computed ahead, some together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from ..types.arrays import Array
from .philox import Philox

_MOST_SAMPLES: Final = 1 << 13
"""Of a small draw, most of whose time is taken by what does not depend on its size."""
_SAMPLES_AHEAD: Final = 1 << 15
"""Samples that are computed ahead at most: a cache holds them."""
_DRAWS_AHEAD: Final = 256
"""Draws that are computed ahead at most."""
_GROWTH: Final = 4
"""The ratio of draws computed ahead to those of the time before: the first draw may be the only one."""


class Draw(NamedTuple):
    """An array of shape `dims` of a distribution with `parameters`, and by how many blocks drawing it moves the stream on.

    `whole(generator, size, *parameters)` makes the samples, and `from_words` of so many words, for one draw or several.
    """

    whole: Callable[..., Array]
    from_words: Callable[..., Array]
    parameters: tuple[Any, ...]
    dims: tuple[int, ...]
    size: int
    words: int
    stride: int

    @property
    def is_small(self) -> bool:
        """True where it is worth computing with others."""
        return 0 < self.size <= _MOST_SAMPLES

    def at(self, start: Philox) -> Array:
        """What is drawn from a generator."""
        return self.whole(start, self.size, *self.parameters).reshape(self.dims)


class DrawsAhead:
    """What draws from a stream will give as long as each is like the one before. Threads have to take turns."""

    __slots__ = ("_computed", "_counter", "_draw", "_next")

    def __init__(self) -> None:
        self._draw: Draw | None = None
        self._counter = -1
        self._computed = 0
        self._next: list[Any] = []

    def take(self, stream: Philox, draw: Draw) -> Any:
        """The samples at the stream's position, which is moved on."""
        if self._counter != stream.counter or (self._draw is not draw and self._draw != draw):
            self._draw, self._computed = draw, 0
            self._next.clear()
        if not self._next:
            self._compute(stream, draw)
        stream.skip(draw.stride)
        self._counter = stream.counter
        return self._next.pop()

    def _compute(self, stream: Philox, draw: Draw) -> None:
        """The next draws, more of them each time: the first may be the only one."""
        most = min(_DRAWS_AHEAD, max(_SAMPLES_AHEAD // draw.size, 1))
        self._computed = count = min(max(self._computed * _GROWTH, 1), most)
        self._next = list(_drawn(stream, draw, count))[::-1]


def _drawn(start: Philox, draw: Draw, count: int) -> Array:
    """So many draws, (count, *dims), from where the first one begins."""
    blocks = np.arange((draw.words + 3) // 4, dtype=np.uint64)
    offsets = np.arange(count, dtype=np.uint64)[:, None] * np.uint64(draw.stride) + blocks
    words = start.blocks(offsets.reshape(-1)).reshape(count, -1)[:, : draw.words]
    samples = draw.from_words(words.reshape(-1), *draw.parameters).reshape(count, -1)[:, : draw.size]
    return samples.reshape(count, *draw.dims)
