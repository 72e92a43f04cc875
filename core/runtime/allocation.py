"""How the C library keeps memory that was freed: what one run gives back, the next one takes again."""

from __future__ import annotations

import ctypes
import sys
from typing import Final

# The parameters of glibc's mallopt, https://man7.org/linux/man-pages/man3/mallopt.3.html
_TRIM_THRESHOLD: Final = -1
_TOP_PAD: Final = -2
_MMAP_THRESHOLD: Final = -3
_MMAP_MAX: Final = -4
_ARENA_MAX: Final = -8
_KEPT: Final = 1 << 30
_MOST_KEPT: Final = (1 << 31) - 1
_PAD: Final = 64 << 20
_LARGEST_MMAP_THRESHOLD: Final = 32 << 20


def keep_freed_memory(in_threads: bool = False, of_any_size: bool = False) -> None:
    """Have this process keep up to 1 GiB of freed memory, instead of returning it and having it cleared anew in each run.

    Arrays of up to 32 MiB are then taken from it; `of_any_size`: larger ones too, from up to 2 GiB, as an engine that asks for
    all that a run needs at once. `in_threads`: also in threads that are begun from now on, which have heaps of their own
    otherwise, too small to keep much. Nothing changes where the C library is not glibc.
    """
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        if in_threads:
            mallopt(_ARENA_MAX, 1)
        if of_any_size:
            mallopt(_MMAP_MAX, 0)
        kept = _MOST_KEPT if of_any_size else _KEPT
        for parameter, value in ((_MMAP_THRESHOLD, _LARGEST_MMAP_THRESHOLD), (_TRIM_THRESHOLD, kept), (_TOP_PAD, _PAD)):
            mallopt(parameter, value)
