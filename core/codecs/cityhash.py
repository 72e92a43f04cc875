"""CityHash128 (Pike and Alakuijala 2011), retained by FarmHash for 128-bit fingerprints."""

from __future__ import annotations

import struct
from typing import Final

_M: Final = (1 << 64) - 1
"""The largest number of 64 bits."""
_K0: Final = 0xC3A5C85C97CB3127
"""A constant of CityHash (city.cc, k0)."""
_K1: Final = 0xB492B66FBE98F273
"""A constant of CityHash (city.cc, k1)."""
_K2: Final = 0x9AE16A3B2F90404F
"""A constant of CityHash (city.cc, k2)."""
_MUL: Final = 0x9DDFEA08EB382D69
"""The multiplier of Hash128to64 (city.h)."""
_Pair = tuple[int, int]


def fingerprint128(data: bytes) -> _Pair:
    """Return the low and the high 64 bits."""
    # The first 16 bytes are the seed of the rest.
    if len(data) >= 16:
        return _with_seed(data[16:], (_fetch(data, 0), (_fetch(data, 8) + _K0) & _M))
    return _with_seed(data, (_K0, _K1))


def _fetch(data: bytes, start: int) -> int:
    return int.from_bytes(data[start : start + 8], "little")


def _rotate(value: int, bits: int) -> int:
    value &= _M
    # A shift by 64 is undefined in C, so CityHash treats a rotation by 0 separately.
    return value if bits == 0 else (value >> bits | value << (64 - bits)) & _M


def _shift_mix(value: int) -> int:
    value &= _M
    return value ^ value >> 47


def _hash_16(u: int, v: int, mul: int = _MUL) -> int:
    a = _shift_mix((u ^ v) * mul)
    return _shift_mix((v ^ a) * mul) * mul & _M


def _hash_0_to_16(data: bytes) -> int:
    size = len(data)
    if size >= 8:
        mul = _K2 + size * 2
        a, b = (_fetch(data, 0) + _K2) & _M, _fetch(data, size - 8)
        return _hash_16((_rotate(b, 37) * mul + a) & _M, (_rotate(a, 25) + b) * mul & _M, mul)
    if size >= 4:
        first, last = struct.unpack_from("<I", data)[0], struct.unpack_from("<I", data, size - 4)[0]
        return _hash_16(size + (first << 3), last, _K2 + size * 2)
    if size > 0:
        y, z = data[0] + (data[size >> 1] << 8), size + (data[-1] << 2)
        return _shift_mix(y * _K2 & _M ^ z * _K0 & _M) * _K2 & _M
    return _K2


def _weak_32(data: bytes, start: int, a: int, b: int) -> _Pair:
    w, x, y, z = (_fetch(data, start + 8 * i) for i in range(4))
    a = (a + w) & _M
    b = _rotate(b + a + z, 21)
    c = a
    a = (a + x + y) & _M
    b = (b + _rotate(a, 44)) & _M
    return (a + z) & _M, (b + c) & _M


def _murmur(data: bytes, seed: _Pair) -> _Pair:
    a, b = seed
    size = len(data)
    if size <= 16:
        a = _shift_mix(a * _K1) * _K1 & _M
        c = (b * _K1 + _hash_0_to_16(data)) & _M
        # Fewer than 8 bytes have no full word to mix in.
        d = _shift_mix(a + (_fetch(data, 0) if size >= 8 else c))
    else:
        c = _hash_16((_fetch(data, size - 8) + _K1) & _M, a)
        d = _hash_16((b + size) & _M, (c + _fetch(data, size - 16)) & _M)
        a = (a + d) & _M
        for start in range(0, size - 16, 16):
            a = (a ^ _shift_mix(_fetch(data, start) * _K1) * _K1 & _M) * _K1 & _M
            b ^= a
            c = (c ^ _shift_mix(_fetch(data, start + 8) * _K1) * _K1 & _M) * _K1 & _M
            d ^= c
    a, b = _hash_16(a, c), _hash_16(d, b)
    return a ^ b, _hash_16(b, a)


def _with_seed(data: bytes, seed: _Pair) -> _Pair:
    # Two rounds of 64 bytes are the least that the long form takes.
    if len(data) < 128:
        return _murmur(data, seed)
    x, y = seed
    z = len(data) * _K1 & _M
    v0 = (_rotate(y ^ _K1, 49) * _K1 + _fetch(data, 0)) & _M
    v = v0, (_rotate(v0, 42) * _K1 + _fetch(data, 8)) & _M
    w = (_rotate(y + z, 35) * _K1 + x) & _M, _rotate(x + _fetch(data, 88), 53) * _K1 & _M
    # CityHash unrolls the loop twice, so it leaves up to 127 bytes for the tail.
    end = len(data) // 128 * 128
    for start in range(0, end, 64):
        x = _rotate(x + y + v[0] + _fetch(data, start + 8), 37) * _K1 & _M
        y = _rotate(y + v[1] + _fetch(data, start + 48), 42) * _K1 & _M
        x ^= w[1]
        y = (y + v[0] + _fetch(data, start + 40)) & _M
        z = _rotate(z + w[0], 33) * _K1 & _M
        v = _weak_32(data, start, v[1] * _K1 & _M, (x + w[0]) & _M)
        w = _weak_32(data, start + 32, (z + w[1]) & _M, (y + _fetch(data, start + 16)) & _M)
        x, z = z, x
    return _tail(data, len(data) - end, x, y, z, v, w)


def _tail(data: bytes, rest: int, x: int, y: int, z: int, v: _Pair, w: _Pair) -> _Pair:
    """Hash the last `rest` bytes, 32 at a time from the end, with the final mix."""
    x = (x + _rotate(v[0] + z, 49) * _K0) & _M
    y = (y * _K0 + _rotate(w[1], 37)) & _M
    z = (z * _K0 + _rotate(w[0], 27)) & _M
    w0, w1 = w[0] * 9 & _M, w[1]
    v0, v1 = v[0] * _K0 & _M, v[1]
    for done in range(32, rest + 32, 32):
        start = len(data) - done
        y = (_rotate(x + y, 42) * _K0 + v1) & _M
        w0 = (w0 + _fetch(data, start + 16)) & _M
        x = (x * _K0 + w0) & _M
        z = (z + w1 + _fetch(data, start)) & _M
        w1 = (w1 + v0) & _M
        v0, v1 = _weak_32(data, start, (v0 + z) & _M, v1)
        v0 = v0 * _K0 & _M
    x = _hash_16(x, v0)
    y = _hash_16((y + z) & _M, w0)
    return (_hash_16((x + v1) & _M, w1) + y) & _M, _hash_16((x + w1) & _M, (y + v1) & _M)
