"""Reuse of freed memory by the C library: the next run takes the memory that a run frees."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from collections.abc import Callable
from typing import Final

# The parameters of glibc's mallopt, https://man7.org/linux/man-pages/man3/mallopt.3.html
_TRIM_THRESHOLD: Final = -1
"""The number of M_TRIM_THRESHOLD in malloc.h."""
_TOP_PAD: Final = -2
"""The number of M_TOP_PAD in malloc.h."""
_MMAP_THRESHOLD: Final = -3
"""The number of M_MMAP_THRESHOLD in malloc.h."""
_MMAP_MAX: Final = -4
"""The number of M_MMAP_MAX in malloc.h."""
_ARENA_MAX: Final = -8
"""The number of M_ARENA_MAX in malloc.h."""
_KEPT: Final = 1 << 30
"""Bytes that the allocator keeps of freed memory: 1 GiB."""
_MOST_KEPT: Final = (1 << 31) - 1
"""The largest number of bytes that mallopt takes."""
# MobileNetV2 at batch 1 had 2,300 page faults a run, 15 % of its CPU time, and a training step of ResNet-50 had 38,000, 16 %.
# With this much kept there are none, at the same peak of memory.
_KEPT_UNASKED: Final = 1 << 28
"""Bytes that the allocator keeps where the user's program asked for nothing: 256 MiB."""
_PAD: Final = 64 << 20
"""The smallest growth of the heap in bytes: 64 MiB."""
_PAD_UNASKED: Final = 16 << 20
"""The smallest growth of the heap in bytes where the user's program asked for nothing: 16 MiB."""
_LARGEST_MMAP_THRESHOLD: Final = 32 << 20
"""The largest threshold, in bytes, that glibc takes: 32 MiB."""
_CHOICES: Final = ("GLIBC_TUNABLES", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_", "MALLOC_TRIM_THRESHOLD_")
"""The environment variables by which the user sets the same options of glibc."""


# `of_any_size` is for XLA, which asks for the memory of a whole step at once: of 550 ms of a training step of ResNet-50, 150
# went into fresh pages.
def keep_freed_memory(in_threads: bool = False, of_any_size: bool = False) -> None:
    """Have this process keep up to 1 GiB of freed memory, which the system would otherwise clear anew in each run.

    Arrays of up to 32 MiB then come from the kept memory. `of_any_size` takes larger arrays from there too, and keeps up to
    2 GiB; an engine that allocates all of a run's memory at once needs this. `in_threads` includes threads that start from
    now on; their own heaps would be too small to keep much. Nothing changes where the C library is not glibc.
    """
    # With one arena, threads allocate from the main heap: heaps of their own have at most 64 MiB.
    options = {_ARENA_MAX: 1} if in_threads else {}
    options |= {_MMAP_MAX: 0} if of_any_size else {}
    threshold = _MOST_KEPT if of_any_size else _KEPT
    _tell(options | {_MMAP_THRESHOLD: _LARGEST_MMAP_THRESHOLD, _TRIM_THRESHOLD: threshold, _TOP_PAD: _PAD})


def keep_some_freed_memory() -> None:
    """Have this process keep up to 256 MiB of freed memory; for programs that did not ask.

    Nothing changes where options were set before, where the user has chosen, or where the address space is limited.
    """
    # Kept memory counts against a limit of the address space, though nobody uses it.
    if _told or any(name in os.environ for name in _CHOICES) or _has_limited_memory():
        return
    _tell({_MMAP_THRESHOLD: _LARGEST_MMAP_THRESHOLD, _TRIM_THRESHOLD: _KEPT_UNASKED, _TOP_PAD: _PAD_UNASKED})


_told: dict[int, int] = {}
"""The options last set in the C library, by number."""


def _tell(options: dict[int, int]) -> None:
    _told.update(options)
    mallopt = _mallopt()
    if mallopt is not None:
        for parameter, value in options.items():
            mallopt(parameter, value)


@functools.cache
def _mallopt() -> Callable[[int, int], int] | None:
    """Return glibc's `mallopt`; None for another C library."""
    return getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None


def _has_limited_memory() -> bool:
    """True if the address space of this process has a limit."""
    if sys.platform != "linux":
        return False
    import resource

    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
