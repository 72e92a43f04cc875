"""Random numbers of datasets: TensorFlow's words of Philox, and seeds for each pass."""

from __future__ import annotations

import secrets
import threading
import zlib
from typing import Final

from ..random.philox import Philox
from ..runtime.state.kernel_context import KernelContext
from ..runtime.state.resources import Shared

_MASK64: Final = 2**64 - 1


class PhiloxWords:
    """The 32-bit words of a Philox stream, from a position on."""

    _BLOCKS: Final = 64

    def __init__(self, seed: int, seed2: int) -> None:
        self._philox = Philox.from_seeds(seed, seed2)
        self.position = 0
        self._start = self._end = 0
        self._words: list[int] = []

    def next(self) -> int:
        """Return the next word."""
        position = self.position
        if not self._start <= position < self._end:
            # A block of Philox has four words. Many blocks are made at a time, because a call of NumPy costs as much for one
            # as for 64.
            block = position // 4
            self._words = self._philox.skipped(block).words(4 * self._BLOCKS).tolist()
            self._start, self._end = 4 * block, 4 * (block + self._BLOCKS)
        self.position = position + 1
        return self._words[position - self._start]


class Seeds(Shared):
    """Two seeds for each pass: the same seeds each time, or where `renewed`, the next two words of a stream."""

    def __init__(self, seed: int, seed2: int, renewed: bool) -> None:
        self.pair = seed, seed2
        self.renewed = renewed
        self._stream = PhiloxWords(seed, seed2)
        self._lock = threading.Lock()

    def anew(self) -> Seeds:
        """Return the seeds of a copy of the dataset, which begins where these began."""
        return Seeds(*self.pair, self.renewed)

    def next(self) -> tuple[int, int]:
        """Return the seeds of the next pass."""
        if not self.renewed:
            return self.pair
        with self._lock:
            return self._stream.next(), self._stream.next()

    @property
    def state(self) -> tuple[int, int, int]:
        """Return (seed, seed2, words drawn from the stream) for `restore`."""
        return (*self.pair, self._stream.position)

    def restore(self, state: tuple[int, int, int]) -> None:
        """Go on as other seeds did that had this state."""
        with self._lock:
            self.pair = state[:2]
            self._stream = PhiloxWords(*self.pair)
            self._stream.position = state[2]


class SeedGenerator(Seeds):
    """The seeds of a resource, from which all datasets with its handle draw.

    TensorFlow makes such a resource also for an op that takes a generator and is given none.
    """

    def anew(self) -> Seeds:
        """Return the generator itself, for a copy of a dataset has the same handle."""
        return self


def seeds_of(ctx: KernelContext, seed: int, seed2: int, renewed: bool = False, kind: type[Seeds] = Seeds) -> Seeds:
    """Return the seeds for an op's two seeds; two zeros mean the session's seed, or chance."""
    if not seed and not seed2:
        if ctx.session.seed is None:
            seed, seed2 = secrets.randbits(64), secrets.randbits(64)
        else:
            # The second seed tells the ops of a session apart; + 1, since two zeros would mean chance.
            seed, seed2 = ctx.session.seed & _MASK64, zlib.crc32(ctx.name.encode()) + 1
    return kind(seed, seed2, renewed)
