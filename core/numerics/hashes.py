"""64-bit hashes of byte strings, many at a time: FarmHash's fingerprint, SipHash-2-4 and a seeded 64-bit Murmur.

FarmHash: Geoff Pike, https://github.com/google/farmhash (farmhashna::Hash64). SipHash: Aumasson and Bernstein 2012.
Strings are grouped by length, so that each step of a hash is one NumPy operation on a column of uint64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..arrays import Array
from .pauses import PIECE, pause

_U64 = np.ndarray[Any, np.dtype[np.uint64]]
_Pair = tuple[_U64, _U64]
_K0, _K1, _K2 = np.uint64(0xC3A5C85C97CB3127), np.uint64(0xB492B66FBE98F273), np.uint64(0x9AE16A3B2F90404F)
_MASK = (1 << 64) - 1


def farm_fingerprint64(strings: Sequence[bytes]) -> _U64:
    """FarmHash's Fingerprint64 of each string."""
    return _by_length(strings, _farm)


def murmur64(strings: Sequence[bytes]) -> _U64:
    """MurmurHash64A of each string, of the seed that TensorFlow's Hash64 has."""
    return _by_length(strings, _murmur)


def sip_hash(strings: Sequence[bytes], key: tuple[int, int]) -> _U64:
    """SipHash-2-4 of each string under a key of two 64-bit words."""
    return _by_length(strings, lambda data: _sip(data, key))


def fingerprint_cat64(first: Any, second: Any) -> Any:
    """One fingerprint of two; not commutative."""
    multiplier = 0xC6A4A7935BD1E995
    result = first ^ multiplier
    result ^= _shift_mix_int(second * multiplier & _MASK) * multiplier & _MASK
    result = result * multiplier & _MASK
    result = _shift_mix_int(result) * multiplier & _MASK
    return _shift_mix_int(result)


def _shift_mix_int(value: int) -> int:
    return value ^ (value >> 47)


def _by_length(strings: Sequence[bytes], hash_rows: Callable[[Array], _U64]) -> _U64:
    """`hash_rows` of the (n, length) bytes of all strings of one length, put in their places."""
    result = np.zeros(len(strings), np.uint64)
    places: dict[int, list[int]] = {}
    for i, text in enumerate(strings):
        places.setdefault(len(text), []).append(i)
    with np.errstate(over="ignore"):
        for length, rows in places.items():
            count = PIECE // max(length, 1) + 1
            for start in range(0, len(rows), count):
                pause()
                part = rows[start : start + count]
                data = np.frombuffer(b"".join([strings[i] for i in part]), np.uint8).reshape(len(part), length)
                result[part] = hash_rows(data)
    return result


def _fetch64(data: Array, start: int) -> _U64:
    return np.ascontiguousarray(data[:, start : start + 8]).view("<u8")[:, 0].astype(np.uint64)


def _fetch32(data: Array, start: int) -> _U64:
    return np.ascontiguousarray(data[:, start : start + 4]).view("<u4")[:, 0].astype(np.uint64)


def _rotate(value: _U64, bits: int) -> _U64:
    """Rotated right."""
    return (value >> np.uint64(bits)) | (value << np.uint64(64 - bits))


def _shift_mix(value: _U64) -> _U64:
    return value ^ (value >> np.uint64(47))


def _hash_16(u: _U64, v: _U64, mul: Any) -> _U64:
    a = _shift_mix((u ^ v) * mul)
    return _shift_mix((v ^ a) * mul) * mul


def _farm(data: Array) -> _U64:
    length = data.shape[1]
    if length <= 16:
        return _farm_16(data, length)
    if length <= 32:
        return _farm_32(data, length)
    return _farm_64(data, length) if length <= 64 else _farm_long(data, length)


def _farm_16(data: Array, length: int) -> _U64:
    mul = _K2 + np.uint64(2 * length)
    if length >= 8:
        a, b = _fetch64(data, 0) + _K2, _fetch64(data, length - 8)
        return _hash_16(_rotate(b, 37) * mul + a, (_rotate(a, 25) + b) * mul, mul)
    if length >= 4:
        a, b = _fetch32(data, 0), _fetch32(data, length - 4)
        return _hash_16(np.uint64(length) + (a << np.uint64(3)), b, mul)
    if length > 0:
        a, b, c = (data[:, i].astype(np.uint64) for i in (0, length >> 1, length - 1))
        y = a + (b << np.uint64(8))
        z = np.uint64(length) + (c << np.uint64(2))
        return _shift_mix(y * _K2 ^ z * _K0) * _K2
    return np.full(len(data), _K2)


def _farm_32(data: Array, length: int) -> _U64:
    mul = _K2 + np.uint64(2 * length)
    a, b = _fetch64(data, 0) * _K1, _fetch64(data, 8)
    c, d = _fetch64(data, length - 8) * mul, _fetch64(data, length - 16) * _K2
    return _hash_16(_rotate(a + b, 43) + _rotate(c, 30) + d, a + _rotate(b + _K2, 18) + c, mul)


def _farm_64(data: Array, length: int) -> _U64:
    mul = _K2 + np.uint64(2 * length)
    a, b = _fetch64(data, 0) * _K2, _fetch64(data, 8)
    c, d = _fetch64(data, length - 8) * mul, _fetch64(data, length - 16) * _K2
    y = _rotate(a + b, 43) + _rotate(c, 30) + d
    z = _hash_16(y, a + _rotate(b + _K2, 18) + c, mul)
    e, f = _fetch64(data, 16) * mul, _fetch64(data, 24)
    g, h = (y + _fetch64(data, length - 32)) * mul, (z + _fetch64(data, length - 24)) * mul
    return _hash_16(_rotate(e + f, 43) + _rotate(g, 30) + h, e + _rotate(f + a, 18) + g, mul)


def _weak_32(data: Array, start: int, a: _U64, b: _U64) -> tuple[_U64, _U64]:
    w, x, y, z = (_fetch64(data, start + 8 * i) for i in range(4))
    a = a + w
    b = _rotate(b + a + z, 21)
    c = a
    a = a + x + y
    return a + z, b + _rotate(a, 44) + c


def _farm_long(data: Array, length: int) -> _U64:
    seed = np.uint64(81)
    zeros = np.zeros(len(data), np.uint64)
    v = w = (zeros, zeros)
    x = zeros + seed * _K2 + _fetch64(data, 0)
    y = zeros + seed * _K1 + np.uint64(113)
    z = _shift_mix(y * _K2 + np.uint64(113)) * _K2
    for start in range(0, (length - 1) // 64 * 64, 64):
        x, y, z, v, w = _farm_round(data, start, x, y, z, v, w, _K1, np.uint64(1), np.uint64(1))
    mul = _K1 + ((z & np.uint64(0xFF)) << np.uint64(1))
    rest = np.uint64((length - 1) & 63)
    v_first = v[0] + w[0] + rest
    w = (w[0] + rest + v_first, w[1])
    x, y, z, v, w = _farm_round(data, length - 64, x, y, z, (v_first, v[1]), w, mul, np.uint64(9), np.uint64(9))
    return _hash_16(
        _hash_16(v[0], w[0], mul) + _shift_mix(y) * _K0 + z,
        _hash_16(v[1], w[1], mul) + x,
        mul,
    )


def _farm_round(
    data: Array, s: int, x: _U64, y: _U64, z: _U64, v: _Pair, w: _Pair, mul: Any, w_factor: Any, v_factor: Any
) -> tuple[_U64, _U64, _U64, _Pair, _Pair]:
    """64 bytes from `s` mixed into the state; x and z come back exchanged."""
    x = _rotate(x + y + v[0] + _fetch64(data, s + 8), 37) * mul
    y = _rotate(y + v[1] + _fetch64(data, s + 48), 42) * mul
    x = x ^ w[1] * w_factor
    y = y + v[0] * v_factor + _fetch64(data, s + 40)
    z = _rotate(z + w[0], 33) * mul
    v = _weak_32(data, s, v[1] * mul, x + w[0])
    w = _weak_32(data, s + 32, z + w[1], y + _fetch64(data, s + 16))
    return z, y, x, v, w


def _murmur(data: Array) -> _U64:
    multiplier, shift = np.uint64(0xC6A4A7935BD1E995), np.uint64(47)
    length = data.shape[1]
    state = np.full(len(data), np.uint64(0xDECAFCAFFE) ^ (np.uint64(length) * multiplier))
    for start in range(0, length // 8 * 8, 8):
        word = _fetch64(data, start) * multiplier
        state = (state ^ (word ^ (word >> shift)) * multiplier) * multiplier
    tail = length % 8
    if tail:
        state = (state ^ _tail_word(data, length - tail)) * multiplier
    state = (state ^ (state >> shift)) * multiplier
    return state ^ (state >> shift)


def _tail_word(data: Array, start: int) -> _U64:
    """The bytes from `start`, fewer than eight, as a little-endian number."""
    padded = np.zeros((len(data), 8), np.uint8)
    padded[:, : data.shape[1] - start] = data[:, start:]
    return padded.view("<u8")[:, 0].astype(np.uint64)


def _sip(data: Array, key: tuple[int, int]) -> _U64:
    low, high = np.uint64(key[0] & _MASK), np.uint64(key[1] & _MASK)
    length = data.shape[1]
    full = length // 8 * 8
    constants = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
    state = [np.full(len(data), np.uint64(c) ^ k) for c, k in zip(constants, (low, high, low, high))]
    last = _tail_word(data, full) | np.uint64((length & 0xFF) << 56)
    for word in [*(_fetch64(data, start) for start in range(0, full, 8)), last]:
        state[3] = state[3] ^ word
        _sip_rounds(state, 2)
        state[0] = state[0] ^ word
    state[2] = state[2] ^ np.uint64(0xFF)
    _sip_rounds(state, 4)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _sip_rounds(v: list[_U64], count: int) -> None:
    for _ in range(count):
        v[0] = v[0] + v[1]
        v[1] = _rotate(v[1], 51) ^ v[0]
        v[0] = _rotate(v[0], 32)
        v[2] = v[2] + v[3]
        v[3] = _rotate(v[3], 48) ^ v[2]
        v[0] = v[0] + v[3]
        v[3] = _rotate(v[3], 43) ^ v[0]
        v[2] = v[2] + v[1]
        v[1] = _rotate(v[1], 47) ^ v[2]
        v[2] = _rotate(v[2], 32)
