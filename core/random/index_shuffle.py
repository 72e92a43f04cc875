"""Pseudorandom permutations of index ranges: the Simon block cipher, repeated until the result is in range.

Simon: Beaulieu et al., "The SIMON and SPECK families of lightweight block ciphers", 2013; cycle walking: Black and Rogaway,
"Ciphers with arbitrary finite domains", 2002. Not for secrets.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from ..parallel.interruption_points import pause
from ..types.arrays import Array

_MIN_BLOCK_BITS: Final = 16
"""The least bits of the cipher's block, as in TensorFlow's random_index_shuffle."""
_Z_SEQUENCE: Final = 0x7369F885192C0EF5
"""The constant z of the Simon cipher (Beaulieu and others, 2013), 62 bits."""
_CONSTANT: Final = 0xFFFFFFFC
"""The constant c of the Simon cipher's key schedule, in 32 bits."""
_ONE: Final = np.uint64(1)
_FEW: Final = 1 << 11
"""The limit below which a walk through the smallest block is so long that the whole cipher is tabulated first."""


def shuffle_indices(indices: Array, limits: Array, seeds: Array, rounds: int) -> Array:
    """Return the image of each index (n,) in the permutation of [0, limit] chosen by a seed (n, 3), uint64; `rounds` is
    even.
    """
    indices, limits = indices.astype(np.uint64), limits.astype(np.uint64)
    words = _word_bits(limits)
    keys = _round_keys((seeds.astype(np.uint64) & np.uint64(0xFFFFFFFF)).T, words, rounds)
    result = np.where(limits == 0, np.uint64(0), indices)
    small = limits < _FEW
    _walk_tables(result, limits, keys, np.flatnonzero(small & (limits > 0)))
    walking = np.flatnonzero(~small)
    while walking.size:
        result[walking] = _encrypt(result[walking], [key[walking] for key in keys], words[walking])
        walking = walking[result[walking] > limits[walking]]
    return result


def _word_bits(limits: Array) -> Array:
    """Return half the bits of the cipher's block for each limit."""
    distinct, place = np.unique(limits, return_inverse=True)
    bits = [math.ceil(math.log2(limit)) if limit else 0 for limit in distinct.tolist()]
    return np.array([max(b + b % 2, _MIN_BLOCK_BITS) // 2 for b in bits], np.uint64)[place]


def _round_keys(seed: Array, word: Array, rounds: int) -> list[Array]:
    mask = (_ONE << word) - _ONE
    keys = [value & mask for value in seed]
    z = np.uint64(_Z_SEQUENCE) & mask
    for i in range(3, rounds):
        pause()
        rotated = _rotate_right(keys[i - 1], 3, word) ^ _rotate_right(keys[i - 1], 4, word)
        keys.append((np.uint64(_CONSTANT) & mask) ^ (z & _ONE) ^ keys[i - 3] ^ rotated)
        z = z >> _ONE
    return keys


def _encrypt(value: Array, keys: list[Array], word: Array) -> Array:
    mask = (_ONE << word) - _ONE
    left, right = value >> word & mask, value & mask
    for first, second in zip(keys[0::2], keys[1::2]):
        pause()
        left = left ^ _mix(right, word, mask) ^ first
        right = right ^ _mix(left, word, mask) ^ second
    result: Array = left << word | right
    return result


def _walk_tables(result: Array, limits: Array, keys: list[Array], places: Array) -> None:
    """Walk the cycles of the indices at `places`, all in blocks of two bytes."""
    tables: dict[tuple[int, ...], memoryview] = {}
    for place in places.tolist():
        key = tuple(int(value[place]) for value in keys)
        if key not in tables:
            tables[key] = _byte_cipher(key).data
        table, index, limit = tables[key], int(result[place]), int(limits[place])
        index = table[index]
        while index > limit:
            index = table[index]
        result[place] = index


def _byte_cipher(keys: tuple[int, ...]) -> Array:
    """Return the encryption of every block of two bytes, (65536,); rotations by 8 of 8 bits are identities."""
    block = np.arange(1 << 16, dtype=np.uint16)
    left, right = (block >> 8).astype(np.uint8), block.astype(np.uint8)
    for first, second in zip(keys[0::2], keys[1::2]):
        pause()
        left = left ^ _mix_bytes(right) ^ np.uint8(first)
        right = right ^ _mix_bytes(left) ^ np.uint8(second)
    return left.astype(np.uint16) << 8 | right


def _mix_bytes(x: Array) -> Array:
    return ((x << 1 | x >> 7) & x) ^ (x << 2 | x >> 6)


def _mix(x: Array, word: Array, mask: Array) -> Array:
    return (_rotate_left(x, 1, word, mask) & _rotate_left(x, 8, word, mask)) ^ _rotate_left(x, 2, word, mask)


def _rotate_left(x: Array, count: int, word: Array, mask: Array) -> Array:
    return (x << np.uint64(count) | x >> (word - np.uint64(count))) & mask


def _rotate_right(x: Array, count: int, word: Array) -> Array:
    result: Array = (x >> np.uint64(count) | x << (word - np.uint64(count))) & ((_ONE << word) - _ONE)
    return result
