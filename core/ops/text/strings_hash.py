"""Hashes of strings and tensors."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from ...codecs.hashes import farm_fingerprint64, murmur64, sip_hash
from ...registry.registry import facts, kernel, not_arithmetic
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ..shared.argument_checks import require, scalar
from ..shared.string_functions import map_bytes


def _buckets(hash_of: Callable[[list[bytes]], Array], texts: Array, *, num_buckets: int) -> Array:
    """Return the bucket of each string by its hash."""
    return (hash_of(texts.ravel().tolist()) % np.uint64(num_buckets)).astype(np.int64).reshape(texts.shape)


kernel("StringToHashBucket", shape="... -> ...")(functools.partial(_buckets, murmur64))
kernel("StringToHashBucketFast", shape="... -> ...")(functools.partial(_buckets, farm_fingerprint64))


@kernel("StringToHashBucketStrong", shape="... -> ...")
def string_to_hash_bucket_strong(input: Array, *, num_buckets: int, key: list[int]) -> Result:
    """A bucket by SipHash under a key."""
    if len(key) != 2:
        raise InvalidArgumentError(f"Key must have 2 elements, not {len(key)}")
    return _buckets(lambda texts: sip_hash(texts, (key[0], key[1])), input, num_buckets=num_buckets)


@kernel("_TensorToHashBucketFast", shape="... -> ...")
def tensor_to_hash_bucket_fast(input: Array, *, num_buckets: int) -> Result:
    """A bucket by FarmHash of each number's decimal text."""
    # TensorFlow hashes the decimal text, so that numbers and their texts fall into one bucket.
    return _buckets(farm_fingerprint64, map_bytes(b"%d".__mod__, input), num_buckets=num_buckets)


@kernel("Fingerprint", shape="n ..., () -> n 8")
def fingerprint(data: Array, method: Array) -> Result:
    """FarmHash's fingerprint of each row of the tensor's bytes, (n, ...) -> (n, 8)."""
    data = np.asarray(data)
    require(data.ndim > 0, "`data` should have at least one dimension")
    name = scalar(method, "method")
    require(name == b"farmhash64", f"Unsupported fingerprint method: {name!r}")
    if data.dtype == object:
        hashes = farm_fingerprint64(data.ravel().tolist())
        # A single string a row is its own fingerprint; several are hashed again, as the bytes of their hashes.
        if data.size == len(data):
            return _as_bytes(hashes)
        data = hashes.reshape(data.shape)
    rows = np.ascontiguousarray(data).reshape(len(data), math.prod(data.shape[1:]))
    return _as_bytes(farm_fingerprint64([row.tobytes() for row in rows]))


def _as_bytes(hashes: Array) -> Array:
    # Little-endian on any machine.
    return hashes.astype("<u8").view(np.uint8).reshape(-1, 8)


_ALL = ("StringToHashBucket", "StringToHashBucketFast", "StringToHashBucketStrong", "_TensorToHashBucketFast", "Fingerprint")
not_arithmetic(*_ALL)
facts("row_wise", of=("StringToHashBucket", "StringToHashBucketFast", "StringToHashBucketStrong"))
