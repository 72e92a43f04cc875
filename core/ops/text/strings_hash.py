"""Hashes of strings and tensors."""

from __future__ import annotations

import math

import numpy as np

from ...codecs.hashes import farm_fingerprint64, murmur64, sip_hash
from ...registry.registry import facts, kernel, not_arithmetic, shape
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.shapes import SCALAR, UNKNOWN, Shape, TensorSpec, merge_shapes


def _buckets(hashes: Array, count: int, result: tuple[int, ...]) -> Array:
    return (hashes % np.uint64(count)).astype(np.int64).reshape(result)


@kernel("StringToHashBucket", shape="... -> ...")
def string_to_hash_bucket(string_tensor: Array, *, num_buckets: int) -> Result:
    """A bucket by the 64-bit Murmur hash."""
    return _buckets(murmur64(string_tensor.ravel().tolist()), num_buckets, string_tensor.shape)


@kernel("StringToHashBucketFast", shape="... -> ...")
def string_to_hash_bucket_fast(input: Array, *, num_buckets: int) -> Result:
    """A bucket by FarmHash."""
    return _buckets(farm_fingerprint64(input.ravel().tolist()), num_buckets, input.shape)


@kernel("StringToHashBucketStrong", shape="... -> ...")
def string_to_hash_bucket_strong(input: Array, *, num_buckets: int, key: list[int]) -> Result:
    """A bucket by SipHash under a key."""
    if len(key) != 2:
        raise InvalidArgumentError(f"Key must have 2 elements, not {len(key)}")
    return _buckets(sip_hash(input.ravel().tolist(), (key[0], key[1])), num_buckets, input.shape)


@kernel("_TensorToHashBucketFast", shape="... -> ...")
def tensor_to_hash_bucket_fast(input: Array, *, num_buckets: int) -> Result:
    """A bucket by FarmHash of each number's decimal text."""
    # TensorFlow hashes the decimal text, so that numbers and their texts fall into one bucket.
    texts = [b"%d" % number for number in np.ravel(input).tolist()]
    return _buckets(farm_fingerprint64(texts), num_buckets, np.shape(input))


@kernel("Fingerprint")
def fingerprint(data: Array, method: Array) -> Result:
    """FarmHash's fingerprint of each row of the tensor's bytes, (n, ...) -> (n, 8)."""
    data = np.asarray(data)
    if data.ndim == 0:
        raise InvalidArgumentError("`data` should have at least one dimension")
    if method.ndim:
        raise InvalidArgumentError(f"`method` should be a scalar, got shape {method.shape}")
    if method.item() != b"farmhash64":
        raise InvalidArgumentError(f"Unsupported fingerprint method: {method.item()!r}")
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


@shape("Fingerprint")
def fingerprint_shape(data: TensorSpec, method: TensorSpec) -> Shape:
    merge_shapes(method.shape, SCALAR)
    if data.rank is None:
        return Shape([None, 8])
    return Shape((data.shape[0], 8)) if data.rank else UNKNOWN


_ALL = ("StringToHashBucket", "StringToHashBucketFast", "StringToHashBucketStrong", "_TensorToHashBucketFast", "Fingerprint")
not_arithmetic(*_ALL)
facts("row_wise", of=("StringToHashBucket", "StringToHashBucketFast", "StringToHashBucketStrong"))
