"""TensorFlow's division of a loop into blocks for threads, where the blocks decide the part of a random stream to draw.

The cost model is Eigen's (ThreadPoolDevice::parallelFor), for the two threads of the machine that recorded the answers.
"""

from __future__ import annotations

from typing import Final

THREADS: Final = 2
"""The number of threads of the machine that recorded the answers."""
_CYCLES_PER_THREAD: Final = 100_000
"""The cycles of starting, and the cycles of work for each thread (kStartupCycles and kPerThreadCycles of Eigen's cost
model).
"""
_CYCLES_PER_TASK: Final = 40_000
"""The least cycles of work of a block (kTaskSize of Eigen's cost model)."""
_BLOCKS_PER_THREAD: Final = 4
"""The largest number of blocks for each thread (kMaxOverShardingFactor of Eigen's parallelFor)."""


def blocks(count: int, cost: float) -> list[tuple[int, int]]:
    """Return (start, stop) of each block of a loop of `count` turns that cost `cost` cycles each."""
    size = block_size(count, cost)
    return [(start, min(start + size, count)) for start in range(0, count, size)]


def block_size(count: int, cost: float) -> int:
    """Return the number of turns in a block; all turns where a single thread is enough."""
    if count <= 1 or int((count * cost - _CYCLES_PER_THREAD) / _CYCLES_PER_THREAD + 0.9) <= 1:
        return max(count, 1)
    size = min(count, max(-(-count // (_BLOCKS_PER_THREAD * THREADS)), int(_CYCLES_PER_TASK / cost)))
    largest = min(count, 2 * size)
    number = -(-count // size)
    best = _efficiency(number)
    while best < 1 and number > 1:
        coarser = -(-count // (number - 1))
        if coarser > largest:
            break
        number = -(-count // coarser)
        if _efficiency(number) + 0.01 >= best:
            size, best = coarser, max(best, _efficiency(number))
    return size


def _efficiency(number: int) -> float:
    return number / (-(-number // THREADS) * THREADS)
