"""The counter-based generator Philox 4x32-10 and distributions over Philox words, bit for bit as TensorFlow's.

Philox: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011. A generator is a 64-bit key and
a 128-bit counter; each counter value yields a block of four 32-bit words. Distributions are functions of the words.
`benchmarks/thresholds.py` measures the thresholds of this file.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..numerics.interruption_points import pause
from ..types.arrays import Array

MULTIPLIERS: Final = (0xD2511F53, 0xCD9E8D57)
"""The multipliers of Philox 4 x 32 (Salmon and others, 2011)."""
KEY_STEPS: Final = (0x9E3779B9, 0xBB67AE85)
"""The numbers added in each round to the two words of the key (Salmon and others, 2011)."""
ROUNDS: Final = 10
"""The number of Philox's rounds in TensorFlow."""
_MASK32: Final = 0xFFFFFFFF
"""The largest number of 32 bits."""
_MASK64: Final = 0xFFFFFFFFFFFFFFFF
"""The largest number of 64 bits."""
_CHUNK: Final = 1 << 14
"""The number of counters computed at once: few enough for the work arrays to stay in the cache."""
_PART: Final = 1 << 16
"""The number of samples of a part, where many samples are drawn in parts."""
_FEW: Final = 12
"""The number of blocks at arbitrary places up to which Python's integers take less time than arrays."""
_KEYS: Final = tuple((step * KEY_STEPS[0] & _MASK32, step * KEY_STEPS[1] & _MASK32) for step in range(ROUNDS))
"""The total offsets of the key's two words before each round."""

_FACTOR0, _FACTOR1 = (np.array(factor, np.uint64) for factor in MULTIPLIERS)
_LOW_HALF, _HALF = np.array(_MASK32, np.uint64), np.array(32, np.uint64)
"""Constants as arrays of rank 0: ufuncs convert Python numbers to arrays at each call."""

RESERVED_PER_OUTPUT: Final = 256
"""The number of blocks that TensorFlow's stateful kernels reserve for each output."""


class Philox:
    """A position in the stream of a key. Reading words does not move the position; `skip` does."""

    __slots__ = ("counter", "key")

    def __init__(self, key: int, counter: int) -> None:
        self.key = key
        self.counter = counter

    @staticmethod
    def from_seeds(seed: int, seed2: int) -> Philox:
        """Return the generator of an op's two seeds: the first is the key, the second the upper half of the counter."""
        return Philox(seed & _MASK64, (seed2 & _MASK64) << 64)

    def skip(self, blocks: int) -> None:
        """Move on by a number of blocks."""
        self.counter = (self.counter + blocks) % (1 << 128)

    def skipped(self, blocks: int) -> Philox:
        """Return a generator further on in the stream."""
        return Philox(self.key, (self.counter + blocks) % (1 << 128))

    def take(self, blocks: int) -> Philox:
        """Return a generator at the current position and skip a number of blocks."""
        start = Philox(self.key, self.counter)
        self.skip(blocks)
        return start

    def reserve(self, outputs: int, per_output: int = RESERVED_PER_OUTPUT) -> Philox:
        """Return a generator at the current position and skip the blocks that TensorFlow's kernels reserve for `outputs`
        samples.
        """
        return self.take(outputs * per_output)

    def block(self) -> tuple[int, int, int, int]:
        """Return the four words at this position."""
        return _block(self.key, self.counter)

    def words(self, count: int) -> Array:
        """Return the next `count` words, uint32."""
        pause()  # a caller that draws until enough samples are accepted may draw for ever
        return self.blocks(np.arange((count + 3) // 4, dtype=np.uint64)).reshape(-1)[:count]

    def blocks(self, offsets: Array) -> Array:
        """Return the words of the blocks at `offsets` (uint64) from here, shape (len(offsets), 4), uint32."""
        # A call to NumPy costs as much as several products of Python's integers, and a round takes ten calls.
        if len(offsets) <= _FEW:
            values = [_block(self.key, (self.counter + int(o)) % (1 << 128)) for o in offsets]
            return np.array(values, np.uint32).reshape(-1, 4)
        result = np.empty((len(offsets), 4), np.uint32)
        for start in range(0, len(offsets), _CHUNK):
            pause()
            part = slice(start, start + _CHUNK)
            _blocks(self.key, self.counter, offsets[part], result[part])
        return result


def _block(key: int, counter: int) -> tuple[int, int, int, int]:
    c0, c1, c2, c3 = counter & _MASK32, counter >> 32 & _MASK32, counter >> 64 & _MASK32, counter >> 96
    k0, k1, mask = key & _MASK32, key >> 32, _MASK32
    m0, m1 = MULTIPLIERS
    for step0, step1 in _KEYS:
        # The whole round in one assignment: every right side reads the words of the round before.
        p0, p1 = c0 * m0, c2 * m1
        c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ (k0 + step0 & mask), p1 & mask, (p0 >> 32) ^ c3 ^ (k1 + step1 & mask), p0 & mask
    return c0, c1, c2, c3


def _blocks(key: int, counter: int, offsets: Array, result: Array) -> None:
    """Write the blocks at counter + offsets to `result`. Words are held in 64 bits, so that products keep their upper half."""
    # The sum wraps around, and is then less than what was added: that is the carry into the upper half.
    low = offsets + np.uint64(counter & _MASK64)
    carry = (low < offsets).astype(np.uint64)
    high = carry + np.uint64(counter >> 64)
    c0, c1, c2, c3 = low & _LOW_HALF, low >> _HALF, high & _LOW_HALF, high >> _HALF
    # Two arrays for the products of all rounds, which the loop writes over.
    p0, p1 = np.empty_like(c0), np.empty_like(c0)
    for k0, k1 in _keys_of_rounds(key):
        np.multiply(c0, _FACTOR0, out=p0)
        np.multiply(c2, _FACTOR1, out=p1)
        np.right_shift(p1, _HALF, out=c0)
        np.bitwise_xor(c0, c1, out=c0)
        np.bitwise_xor(c0, k0, out=c0)
        np.right_shift(p0, _HALF, out=c2)
        np.bitwise_xor(c2, c3, out=c2)
        np.bitwise_xor(c2, k1, out=c2)
        np.bitwise_and(p1, _LOW_HALF, out=c1)
        np.bitwise_and(p0, _LOW_HALF, out=c3)
    # Two words of 32 bits lie in one of 64, the lower one first, whatever the machine's order of bytes.
    pairs = result.view("<u8")
    for i, (lower, upper) in enumerate(((c0, c1), (c2, c3))):
        np.left_shift(upper, _HALF, out=upper)
        np.bitwise_or(lower, upper, out=pairs[:, i])


@functools.lru_cache(64)
def _keys_of_rounds(key: int) -> list[tuple[Array, Array]]:
    """Return the two words of each round's key, arrays of rank 0."""
    words = ((key + step0 & _MASK32, (key >> 32) + step1 & _MASK32) for step0, step1 in _KEYS)
    return [(np.array(k0, np.uint64), np.array(k1, np.uint64)) for k0, k1 in words]


def words_per_sample(dtype: np.dtype[Any]) -> int:
    """Return the number of 32-bit words of a uniform or normal sample."""
    return 2 if dtype.itemsize == 8 else 1


def uniform(gen: Philox, count: int, dtype: np.dtype[Any]) -> Array:
    """Draw `count` samples uniform on [0, 1)."""
    return _samples(uniform_from_words, gen, count, dtype)


def _samples(from_words: Callable[[Array, np.dtype[Any]], Array], gen: Philox, count: int, dtype: np.dtype[Any]) -> Array:
    """Draw `count` samples, computed from words block by block; many samples in parts that fit a cache.

    Threads would take turns at the many short calls: two threads take longer than a single thread.
    """
    words = words_per_sample(dtype)
    if count <= 2 * _PART:
        return from_words(gen.words(count * words), dtype)
    result = np.empty(count, dtype)
    for start in range(0, count, _PART):
        some = result[start : start + _PART]
        some[...] = from_words(gen.skipped(start * words // 4).words(len(some) * words), dtype)
    return result


_MANTISSA, _EXPONENT = np.array(0x7FFFFF, np.uint32), np.array(0x3F800000, np.uint32)
_ONE: Final = np.array(1, np.float32)


def unit_float(word: int) -> float:
    """Return a number uniform on [0, 1) from a word, in a float's precision: 23 bits."""
    return (word & 0x7FFFFF) * 2.0**-23


def unit_double(upper: int, lower: int) -> float:
    """Return a number uniform on [0, 1) from two words, in a double's precision: 52 bits."""
    return ((upper & 0xFFFFF) << 32 | lower) * 2.0**-52


def uniform_from_words(words: Array, dtype: np.dtype[Any]) -> Array:
    """Return uniform samples on [0, 1): random mantissas under the exponent of [1, 2), minus 1.

    The fast form of ops.random._random_programs, where the integers of the mantissas are converted to floats.
    """
    if dtype == np.float32:
        bits = words & _MANTISSA
        bits |= _EXPONENT
        samples = bits.view(np.float32)
        # The exponent bits make a number in [1, 2) of random digits: no conversion of integers, and every sample is exact.
        samples -= _ONE
        return samples
    if dtype == np.float64:
        pairs = words.reshape(-1, 2).astype(np.uint64)
        mantissa = (pairs[:, 0] & np.uint64(0xFFFFF)) << np.uint64(32) | pairs[:, 1]
        return (mantissa | np.uint64(1023 << 52)).view(np.float64) - 1.0
    if dtype == np.float16:
        return ((words & np.uint32(0x3FF)) | np.uint32(15 << 10)).astype(np.uint16).view(np.float16) - np.float16(1)
    from ml_dtypes import bfloat16  # lazy: most graphs have no such numbers

    bits = ((words & np.uint32(0x7F)) | np.uint32(127 << 7)).astype(np.uint16)
    result: Array = bits.view(bfloat16) - bfloat16(1)
    return result


def normal(gen: Philox, count: int, dtype: np.dtype[Any]) -> Array:
    """Draw `count` samples of the standard normal distribution."""
    # Samples come in pairs; the last one of an odd number is dropped.
    return _samples(normal_from_words, gen, count + count % 2, dtype)[:count]


def normal_from_words(words: Array, dtype: np.dtype[Any]) -> Array:
    """Return standard normal samples by Box and Muller from pairs of uniform samples, an even number."""
    if dtype == np.float64:
        return _box_muller(uniform_from_words(words, dtype), 2 * np.pi).reshape(-1)
    # TensorFlow draws halves and bfloat16 in float32 and rounds the normal samples.
    samples = uniform_from_words(words, np.dtype(np.float32))
    return _box_muller_float(samples).astype(dtype, copy=False)


def _box_muller(uniforms: Array, turn: float) -> Array:
    u, v = uniforms[0::2], uniforms[1::2] * turn
    radius = np.sqrt(-2.0 * np.log(np.maximum(u, 1e-7)))
    result = np.empty((len(u), 2))
    result[:, 0] = np.sin(v) * radius
    result[:, 1] = np.cos(v) * radius
    return result


_LEAST, _MINUS_TWO, _TURN = np.array(1e-7, np.float32), np.array(-2, np.float32), np.array(2 * np.pi)


def _box_muller_float(uniforms: Array) -> Array:
    """Apply Box and Muller in float, with the C library's logarithm, sine and cosine."""
    result = np.empty(len(uniforms), np.float32)
    for start in range(0, len(uniforms), _CHUNK):
        pause()
        part, output = uniforms[start : start + _CHUNK], result[start : start + _CHUNK]
        # TensorFlow's bound: the logarithm of 0 is infinite, and so would be the sample.
        radius = log(np.maximum(part[0::2], _LEAST))
        radius *= _MINUS_TWO
        np.sqrt(radius, radius)
        # C++ multiplies by a double of 2 pi and rounds the angle to a float before it calls sinf and cosf.
        sine, cosine = sincos((part[1::2] * _TURN).astype(np.float32))
        np.multiply(sine, radius, out=output[0::2])
        np.multiply(cosine, radius, out=output[1::2])
    return result


def truncated_normal(gen: Philox, count: int, dtype: np.dtype[Any], limit: float = 2.0) -> Array:
    """Draw `count` standard normal samples; samples of magnitude `limit` or more are drawn anew.

    Every group of four samples (two in double) has a separate region of the stream, so groups do not depend on each other.
    """
    size = 4 // words_per_sample(dtype)
    stride = size * RESERVED_PER_OUTPUT // 4
    groups = (count + size - 1) // size
    result = np.empty((groups, size), dtype)
    active = np.arange(groups)
    filled = np.zeros(groups, np.intp)
    attempt = 0
    while len(active):
        words = gen.blocks(active.astype(np.uint64) * np.uint64(stride) + np.uint64(attempt))
        samples = normal_from_words(words.reshape(-1), np.dtype(np.float64) if size == 2 else np.dtype(np.float32))
        samples = samples.reshape(len(active), size)
        accepted = np.abs(samples) < limit
        if attempt == 0:  # most groups are complete at once
            result[...] = samples
            # The truth values of a group read as one integer: a single comparison instead of a reduction of short rows.
            active = np.flatnonzero(accepted.view(f"u{size}").ravel() != int.from_bytes(b"\1" * size, "little"))
            samples, accepted = samples[active], accepted[active]
        active = _keep_accepted(result, filled, active, samples, accepted)
        attempt += 1
    return result.reshape(-1)[:count]


def _keep_accepted(result: Array, filled: Array, active: Array, samples: Array, accepted: Array) -> Array:
    """Append the accepted samples of the active groups to the groups' samples; return the groups that still lack some."""
    size = result.shape[1]
    places = filled[active, None] + np.cumsum(accepted, axis=1) - 1
    # A group may accept more samples than it lacks.
    accepted &= places < size
    rows, columns = np.nonzero(accepted)
    result[active[rows], places[rows, columns]] = samples[rows, columns]
    filled[active] += accepted.sum(axis=1)
    output: Array = active[filled[active] < size]
    return output


def uniform_int(gen: Philox, count: int, low: int, high: int, dtype: np.dtype[Any]) -> Array:
    """Draw `count` integers uniform on [low, high), with TensorFlow's slight bias of a remainder."""
    return uniform_int_from_words(gen.words(count * words_per_sample(dtype)), low, high, dtype)


def uniform_int_from_words(words: Array, low: int, high: int, dtype: np.dtype[Any]) -> Array:
    """Return integers uniform on [low, high), from all bits of the words."""
    bits = words.view(f"u{dtype.itemsize}")
    # The span is taken modulo 2^bits, as TensorFlow's unsigned arithmetic does: bounds of both signs may be further apart
    # than the signed dtype reaches.
    remainder = bits % bits.dtype.type((high - low) % (1 << 8 * dtype.itemsize))
    result: Array = (remainder + bits.dtype.type(low % (1 << 8 * dtype.itemsize))).view(dtype)
    return result


def full_int(gen: Philox, count: int, dtype: np.dtype[Any]) -> Array:
    """Draw `count` integers over the whole range of a type of 32 or 64 bits."""
    return gen.words(count * words_per_sample(dtype)).view(dtype)


# Logarithm, sine and cosine in single precision, with the GNU C library's rounding bit for bit.
# Algorithms and constants: Arm Optimized Routines (Szabolcs Nagy, Wilco Dijkstra, 2018), adopted by glibc: a table and a
# polynomial in double precision, rounded once. TensorFlow's normally distributed samples depend on them.


def _hex(text: str) -> Array:
    return np.array([float.fromhex(word) for word in text.split()])


def _numbers(text: str) -> tuple[Array, ...]:
    """Parse numbers to arrays of rank 0: ufuncs convert Python numbers to arrays at each call."""
    return tuple(np.array(number) for number in _hex(text))


_INVERSES: Final = _hex(
    "0x1.661ec79f8f3bep+0 0x1.571ed4aaf883dp+0 0x1.49539f0f010bp+0 0x1.3c995b0b80385p+0 "
    "0x1.30d190c8864a5p+0 0x1.25e227b0b8eap+0 0x1.1bb4a4a1a343fp+0 0x1.12358f08ae5bap+0 "
    "0x1.0953f419900a7p+0 0x1p+0 0x1.e608cfd9a47acp-1 0x1.ca4b31f026aap-1 "
    "0x1.b2036576afce6p-1 0x1.9c2d163a1aa2dp-1 0x1.886e6037841edp-1 0x1.767dcf5534862p-1"
)
_LOGARITHMS: Final = _hex(
    "-0x1.57bf7808caadep-2 -0x1.2bef0a7c06ddbp-2 -0x1.01eae7f513a67p-2 -0x1.b31d8a68224e9p-3 "
    "-0x1.6574f0ac07758p-3 -0x1.1aa2bc79c81p-3 -0x1.a4e76ce8c0e5ep-4 -0x1.1973c5a611cccp-4 "
    "-0x1.252f438e10c1ep-5 0x0p+0 0x1.aa5aa5df25984p-5 0x1.c5e53aa362eb4p-4 "
    "0x1.526e57720db08p-3 0x1.bc2860d22477p-3 0x1.1058bc8a07ee1p-2 0x1.4043057b6ee09p-2"
)
_LOG_2, *_LOG_TERMS = _numbers("0x1.62e42fefa39efp-1 -0x1.00ea348b88334p-2 0x1.5575b0be00b6ap-2 -0x1.ffffef20a4123p-2")
_OFFSET: Final = np.array(0x3F330000, np.int32)
_STEP: Final = 19
"""The lowest bit, after subtracting the offset, of the bits that hold the exponent and the index into the table."""
_PLACES: Final = np.arange(0x00800000 - 0x3F330000 >> _STEP, (0x7F7FFFFF - 0x3F330000 >> _STEP) + 1)
_FIRST_PLACE: Final = int(_PLACES[0])
_INVERSE_AT: Final = _INVERSES[_PLACES & 15]
_LOGARITHM_AT: Final = _LOGARITHMS[_PLACES & 15] + (_PLACES >> 4) * _LOG_2

_TWO_OVER_PI, _HALF_PI = _numbers("0x1.45F306DC9C883p+23 0x1.921FB54442D18p0")
_COSINE_TERMS: Final = _numbers("-0x1.ffffffd0c621cp-2 0x1.55553e1068f19p-5 -0x1.6c087e89a359dp-10 0x1.99343027bf8c3p-16")
_SINE_TERMS: Final = _numbers("-0x1.555545995a603p-3 0x1.1107605230bc4p-7 -0x1.994eb3774cf24p-13")
_UNIT: Final = np.array(1.0)
_EXPONENT_BITS, _ROUNDING, _FRACTION, _ODD, _SECOND, _TO_SIGN = (
    np.array(bits, np.int32) for bits in (-1 << 23, 0x800000, 24, 1, 2, 30)
)


def log(x: Array, library: Any = np) -> Array:
    """Return the natural logarithm of positive normal numbers, float32; `library` has NumPy's functions, in 64 bits."""
    bits = x.view(np.int32)
    # The upper bits of the difference are the exponent, and the next four choose one of 16 intervals of the mantissa.
    offset = bits - _OFFSET
    place = (offset >> _STEP) - _FIRST_PLACE
    offset &= _EXPONENT_BITS
    mantissa = (bits - offset).view(np.float32).astype(np.float64)
    # The table's inverse brings the mantissa near to 1, where the short polynomial is enough.
    r = mantissa * library.take(_INVERSE_AT, place) - _UNIT
    base = library.take(_LOGARITHM_AT, place) + r
    square = r * r
    a0, a1, a2 = _LOG_TERMS
    logarithms: Array = (a0 * square + (r * a1 + a2)) * square + base
    return logarithms.astype(np.float32)


def sincos(x: Array) -> tuple[Array, Array]:
    """Return sine and cosine of numbers of magnitude below 120, float32; an array may be NumPy's, or another library's in 64
    bits.
    """
    angle = x.astype(np.float64)
    # The factor has 2^24 in it: adding a half (_ROUNDING) and shifting by 24 bits rounds to the nearest quadrant.
    quadrant = (angle * _TWO_OVER_PI).astype(np.int32)
    quadrant += _ROUNDING
    quadrant >>= _FRACTION
    angle -= quadrant * _HALF_PI
    square = angle * angle
    sine = _sine_near_zero(angle, square, *_SINE_TERMS).astype(np.float32).view(np.int32)
    cosine = _cosine_near_zero(square, *_COSINE_TERMS).astype(np.float32).view(np.int32)
    # In odd quadrants they change places; the signs are bits.
    exchange = sine ^ cosine
    # All bits for odd quadrants, none for even ones: the words change places by three exclusive ors without a choice.
    exchange &= -(quadrant & _ODD)
    sine ^= exchange
    cosine ^= exchange
    sine ^= (quadrant & _SECOND) << _TO_SIGN
    quadrant += _ODD
    cosine ^= (quadrant & _SECOND) << _TO_SIGN
    return sine.view(np.float32), cosine.view(np.float32)


def _sine_near_zero(angle: Any, square: Any, s1: Any, s2: Any, s3: Any) -> Any:
    """Return the sine between -pi / 4 and pi / 4."""
    cube = angle * square
    return (cube * s1 + angle) + (square * s3 + s2) * (cube * square)


def _cosine_near_zero(square: Any, c1: Any, c2: Any, c3: Any, c4: Any) -> Any:
    """Return the cosine between -pi / 4 and pi / 4, of the squares of angles."""
    fourth = square * square
    return ((square * c1 + 1.0) + fourth * c2) + (square * c4 + c3) * (fourth * square)
