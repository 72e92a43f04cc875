"""Prefetched draws of the same kind that follow each other in a stream at equal distances.

Small draws are computed ahead, several together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from ..types.arrays import Array
from .philox import Philox

_MOST_SAMPLES: Final = 1 << 13
"""The largest size of a small draw; most of a small draw's time does not depend on the size."""
_SAMPLES_AHEAD: Final = 1 << 15
"""The largest number of samples computed ahead: a cache holds them."""
_DRAWS_AHEAD: Final = 256
"""The largest number of draws computed ahead."""
_GROWTH: Final = 4
"""The growth of the number of draws computed ahead from each time to the next: the first draw may be the only draw."""


class Draw(NamedTuple):
    """An array of shape `dims` of a distribution with `parameters`, and the number of blocks by which the draw advances the
    stream.

    `whole(generator, size, *parameters)` makes the samples; `from_words` makes samples from words, for a draw or several
    draws.
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
        """Return True where the draw is worth computing together with others."""
        return 0 < self.size <= _MOST_SAMPLES

    def at(self, start: Philox) -> Array:
        """Draw from a generator."""
        return self.whole(start, self.size, *self.parameters).reshape(self.dims)


class DrawPrefetcher:
    """A prefetcher of draws from a stream, as long as each draw equals the draw before. Threads have to take turns."""

    __slots__ = ("_computed", "_counter", "_draw", "_next")

    def __init__(self) -> None:
        self._draw: Draw | None = None
        self._counter = -1
        self._computed = 0
        self._next: list[Any] = []

    def take(self, stream: Philox, draw: Draw) -> Any:
        """Return the samples at the stream's position and advance the stream."""
        if self._counter != stream.counter or (self._draw is not draw and self._draw != draw):
            self._draw, self._computed = draw, 0
            self._next.clear()
        if not self._next:
            self._compute(stream, draw)
        stream.skip(draw.stride)
        self._counter = stream.counter
        return self._next.pop()

    def _compute(self, stream: Philox, draw: Draw) -> None:
        """Compute the next draws, more of them each time: the first draw may be the only draw."""
        most = min(_DRAWS_AHEAD, max(_SAMPLES_AHEAD // draw.size, 1))
        self._computed = count = min(max(self._computed * _GROWTH, 1), most)
        self._next = list(_drawn(stream, draw, count))[::-1]


def _drawn(start: Philox, draw: Draw, count: int) -> Array:
    """Return `count` draws, (count, *dims), from the position `start` on."""
    blocks = np.arange((draw.words + 3) // 4, dtype=np.uint64)
    offsets = np.arange(count, dtype=np.uint64)[:, None] * np.uint64(draw.stride) + blocks
    words = start.blocks(offsets.reshape(-1)).reshape(count, -1)[:, : draw.words]
    samples = draw.from_words(words.reshape(-1), *draw.parameters).reshape(count, -1)[:, : draw.size]
    return samples.reshape(count, *draw.dims)
