"""64-bit hashes of byte strings, many at a time: FarmHash's fingerprint, SipHash-2-4 and a seeded 64-bit Murmur.

FarmHash: Geoff Pike, https://github.com/google/farmhash (farmhashna::Hash64). SipHash: Aumasson and Bernstein 2012. Strings
are grouped by the steps that their lengths need, so that each step is a single NumPy operation on a column of uint64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..numerics.interruption_points import PIECE, pause
from ..types.arrays import Array

_U64 = np.ndarray[Any, np.dtype[np.uint64]]
_Pair = tuple[_U64, _U64]
_K0, _K1, _K2 = np.uint64(0xC3A5C85C97CB3127), np.uint64(0xB492B66FBE98F273), np.uint64(0x9AE16A3B2F90404F)
_MASK = (1 << 64) - 1
"""The largest number of 64 bits."""


def farm_fingerprint64(strings: Sequence[bytes]) -> _U64:
    """Return FarmHash's Fingerprint64 of each string."""
    return _in_groups(strings, _farm_steps, _farm)


def murmur64(strings: Sequence[bytes]) -> _U64:
    """Return MurmurHash64A of each string, with the seed of TensorFlow's Hash64."""
    return _in_groups(strings, lambda lengths: lengths // 8 * 2 + (lengths % 8 > 0), _murmur)


def sip_hash(strings: Sequence[bytes], key: tuple[int, int]) -> _U64:
    """Return SipHash-2-4 of each string under a key of two 64-bit words."""
    return _in_groups(strings, lambda lengths: lengths // 8, lambda texts: _sip(texts, key))


# Works on Python's integers, which are masked, as well as on uint64 arrays, which wrap around by themselves.
def fingerprint_cat64(first: Any, second: Any) -> Any:
    """Combine two fingerprints; not commutative."""
    multiplier = 0xC6A4A7935BD1E995
    result = first ^ multiplier
    result ^= _shift_mix_int(second * multiplier & _MASK) * multiplier & _MASK
    result = result * multiplier & _MASK
    result = _shift_mix_int(result) * multiplier & _MASK
    return _shift_mix_int(result)


def _shift_mix_int(value: int) -> int:
    return value ^ (value >> 47)


class _Texts:
    """Strings in memory: `words` are the eight bytes from each byte on, `starts` the strings' starts.

    Strings of equal length follow each other at the distance `step`.
    """

    def __init__(self, words: _U64, starts: Array, lengths: Array, step: int) -> None:
        self.words, self.starts, self.lengths, self.step = words, starts, lengths, step
        self.length = lengths.astype(np.uint64)

    def __len__(self) -> int:
        return len(self.starts)

    def chosen(self, places: Array) -> _Texts:
        return _Texts(self.words, self.starts[places], self.lengths[places], self.step)

    def fetch64(self, at: Any) -> _U64:
        """Return the little-endian word at a byte of each string."""
        if self.step:
            first = at if isinstance(at, int) else int(at[0])
            return self.words[first :: self.step][: len(self)].astype(np.uint64)
        # Strings of different lengths lie anywhere, so their words are gathered; those of one length are a strided view.
        result: _U64 = self.words.take(self.starts + at)
        return result

    def fetch32(self, at: Any) -> _U64:
        return self.fetch64(at) & np.uint64(0xFFFFFFFF)

    def tail(self) -> _U64:
        """Return the bytes after the last full word of each string, padded with zeros."""
        result: _U64 = self.fetch64(self.lengths // 8 * 8) & _LOW_BYTES[self.lengths % 8]
        return result


_LOW_BYTES = np.array([(1 << 8 * count) - 1 for count in range(8)], np.uint64)


def _in_groups(strings: Sequence[bytes], steps: Callable[[Array], Array], hash_texts: Callable[[_Texts], _U64]) -> _U64:
    """Apply `hash_texts` to each group of strings with the same steps, and put the hashes in the strings' order."""
    result = np.empty(len(strings), np.uint64)
    lengths = np.fromiter(map(len, strings), np.int64, len(strings))
    ends = lengths.cumsum()
    start = 0
    while start < len(strings):
        pause()
        # Pieces bound the memory of the joined copy, and let a run be interrupted.
        taken = ends[start] - lengths[start]
        stop = min(max(int(np.searchsorted(ends, taken + PIECE)), start + 1), start + PIECE)
        texts = _texts(strings[start:stop], lengths[start:stop])
        # Hashes are defined by products modulo 2^64.
        with np.errstate(over="ignore"):
            for places in _groups(steps(texts.lengths)):
                result[start + places] = hash_texts(texts.chosen(places))
        start = stop
    return result


def _texts(strings: Sequence[bytes], lengths: Array) -> _Texts:
    # Eight bytes more, so that a word may be read at any byte of the last string.
    buffer = b"".join(strings) + bytes(8)
    # A word at every byte, as a view of overlapping words.
    words = np.ndarray(len(buffer) - 7, "<u8", buffer, strides=(1,))
    step = int(lengths[0]) if (lengths == lengths[0]).all() else 0
    # Unaligned gathers are slow.
    return _Texts(words if step else words.astype(np.uint64), lengths.cumsum() - lengths, lengths, step)


def _groups(keys: Array) -> list[Array]:
    """Return the places of each key."""
    order = np.argsort(keys, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(keys[order])) + 1)


def _rotate(value: _U64, bits: int) -> _U64:
    """Rotate right."""
    return (value >> np.uint64(bits)) | (value << np.uint64(64 - bits))


def _shift_mix(value: _U64) -> _U64:
    return value ^ (value >> np.uint64(47))


def _hash_16(u: _U64, v: _U64, mul: Any) -> _U64:
    a = _shift_mix((u ^ v) * mul)
    result: _U64 = _shift_mix((v ^ a) * mul) * mul
    return result


_FARM_SHORT = np.array([0, 3, 7, 16, 32, 64])
"""The last length of each class of lengths with a separate algorithm; longer strings take rounds of 64 bytes."""


def _farm_steps(lengths: Array) -> Array:
    result: Array = np.searchsorted(_FARM_SHORT, lengths) + np.maximum(lengths - 1, 0) // 64
    return result


def _farm(texts: _Texts) -> _U64:
    way = (_farm_0, _farm_3, _farm_7, _farm_16, _farm_32, _farm_64, _farm_long)
    return way[np.searchsorted(_FARM_SHORT, texts.lengths[0])](texts)


def _farm_0(texts: _Texts) -> _U64:
    return np.full(len(texts), _K2)


def _farm_3(texts: _Texts) -> _U64:
    a, b, c = (texts.fetch64(at) & np.uint64(0xFF) for at in (0, texts.lengths >> 1, texts.lengths - 1))
    y = a + (b << np.uint64(8))
    z = texts.length + (c << np.uint64(2))
    return _shift_mix(y * _K2 ^ z * _K0) * _K2


def _farm_7(texts: _Texts) -> _U64:
    a, b = texts.fetch32(0), texts.fetch32(texts.lengths - 4)
    return _hash_16(texts.length + (a << np.uint64(3)), b, _farm_factor(texts))


def _farm_factor(texts: _Texts) -> _U64:
    return _K2 + (texts.length << np.uint64(1))


def _farm_16(texts: _Texts) -> _U64:
    mul = _farm_factor(texts)
    a, b = texts.fetch64(0) + _K2, texts.fetch64(texts.lengths - 8)
    return _hash_16(_rotate(b, 37) * mul + a, (_rotate(a, 25) + b) * mul, mul)


def _farm_32(texts: _Texts) -> _U64:
    mul, end = _farm_factor(texts), texts.lengths
    a, b = texts.fetch64(0) * _K1, texts.fetch64(8)
    c, d = texts.fetch64(end - 8) * mul, texts.fetch64(end - 16) * _K2
    return _hash_16(_rotate(a + b, 43) + _rotate(c, 30) + d, a + _rotate(b + _K2, 18) + c, mul)


def _farm_64(texts: _Texts) -> _U64:
    mul, end = _farm_factor(texts), texts.lengths
    a, b = texts.fetch64(0) * _K2, texts.fetch64(8)
    c, d = texts.fetch64(end - 8) * mul, texts.fetch64(end - 16) * _K2
    y = _rotate(a + b, 43) + _rotate(c, 30) + d
    z = _hash_16(y, a + _rotate(b + _K2, 18) + c, mul)
    e, f = texts.fetch64(16) * mul, texts.fetch64(24)
    g, h = (y + texts.fetch64(end - 32)) * mul, (z + texts.fetch64(end - 24)) * mul
    return _hash_16(_rotate(e + f, 43) + _rotate(g, 30) + h, e + _rotate(f + a, 18) + g, mul)


def _weak_32(texts: _Texts, start: Any, a: _U64, b: _U64) -> tuple[_U64, _U64]:
    w, x, y, z = (texts.fetch64(start + 8 * i) for i in range(4))
    a = a + w
    b = _rotate(b + a + z, 21)
    c = a
    a = a + x + y
    return a + z, b + _rotate(a, 44) + c


def _farm_long(texts: _Texts) -> _U64:
    seed = np.uint64(81)
    zeros = np.zeros(len(texts), np.uint64)
    v = w = (zeros, zeros)
    x = zeros + seed * _K2 + texts.fetch64(0)
    y = zeros + seed * _K1 + np.uint64(113)
    z = _shift_mix(y * _K2 + np.uint64(113)) * _K2
    # The last 64 bytes are left for the final round, even if they are a whole round.
    for start in range(0, int(texts.lengths[0] - 1) // 64 * 64, 64):
        x, y, z, v, w = _farm_round(texts, start, x, y, z, v, w, _K1, np.uint64(1), np.uint64(1))
    mul = _K1 + ((z & np.uint64(0xFF)) << np.uint64(1))
    rest = (texts.length - np.uint64(1)) & np.uint64(63)
    # In C++ the sums update in place: w, then v by the new w, then w by the new v.
    v_first = v[0] + w[0] + rest
    w = (w[0] + rest + v_first, w[1])
    x, y, z, v, w = _farm_round(texts, texts.lengths - 64, x, y, z, (v_first, v[1]), w, mul, np.uint64(9), np.uint64(9))
    return _hash_16(
        _hash_16(v[0], w[0], mul) + _shift_mix(y) * _K0 + z,
        _hash_16(v[1], w[1], mul) + x,
        mul,
    )


def _farm_round(
    texts: _Texts, s: Any, x: _U64, y: _U64, z: _U64, v: _Pair, w: _Pair, mul: Any, w_factor: Any, v_factor: Any
) -> tuple[_U64, _U64, _U64, _Pair, _Pair]:
    """Mix 64 bytes from `s` into the state; x and z come back exchanged."""
    x = _rotate(x + y + v[0] + texts.fetch64(s + 8), 37) * mul
    y = _rotate(y + v[1] + texts.fetch64(s + 48), 42) * mul
    x = x ^ w[1] * w_factor
    y = y + v[0] * v_factor + texts.fetch64(s + 40)
    z = _rotate(z + w[0], 33) * mul
    v = _weak_32(texts, s, v[1] * mul, x + w[0])
    w = _weak_32(texts, s + 32, z + w[1], y + texts.fetch64(s + 16))
    return z, y, x, v, w


def _murmur(texts: _Texts) -> _U64:
    multiplier, shift = np.uint64(0xC6A4A7935BD1E995), np.uint64(47)
    length = int(texts.lengths[0])
    state = np.uint64(0xDECAFCAFFE) ^ (texts.length * multiplier)
    for start in range(0, length // 8 * 8, 8):
        word = texts.fetch64(start) * multiplier
        state = (state ^ (word ^ (word >> shift)) * multiplier) * multiplier
    if length % 8:
        state = (state ^ texts.tail()) * multiplier
    state = (state ^ (state >> shift)) * multiplier
    return state ^ (state >> shift)


def _sip(texts: _Texts, key: tuple[int, int]) -> _U64:
    low, high = np.uint64(key[0] & _MASK), np.uint64(key[1] & _MASK)
    full = int(texts.lengths[0]) // 8 * 8
    constants = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
    state = [np.full(len(texts), np.uint64(c) ^ k) for c, k in zip(constants, (low, high, low, high))]
    # SipHash ends with the length modulo 256 in the highest byte, so equal bytes of other lengths differ.
    last = texts.tail() | texts.length << np.uint64(56)
    for word in [*(texts.fetch64(start) for start in range(0, full, 8)), last]:
        state[3] = state[3] ^ word
        _sip_rounds(state, 2)
        state[0] = state[0] ^ word
    state[2] = state[2] ^ np.uint64(0xFF)
    _sip_rounds(state, 4)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _sip_rounds(v: list[_U64], count: int) -> None:
    for _ in range(count):
        v[0] = v[0] + v[1]
        # SipHash rotates left, by 13 here, which is a rotation right by 64 - 13.
        v[1] = _rotate(v[1], 51) ^ v[0]
        v[0] = _rotate(v[0], 32)
        v[2] = v[2] + v[3]
        v[3] = _rotate(v[3], 48) ^ v[2]
        v[0] = v[0] + v[3]
        v[3] = _rotate(v[3], 43) ^ v[0]
        v[2] = v[2] + v[1]
        v[1] = _rotate(v[1], 47) ^ v[2]
        v[2] = _rotate(v[2], 32)
