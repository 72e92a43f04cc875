"""Cases of the strings_hash family."""

import numpy as np

from tests.opcases import case, graph_case, integers, normal
from tests.opcases import string_array as strings

TEXTS = strings([(f"xyz{i}" * i)[:i] for i in (0, 1, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 128, 129, 257)])


def strong(*key):
    """StringToHashBucketStrong; the op has an attribute with the name of a parameter of `case`."""

    def build(g):
        g.StringToHashBucketStrong(g.constant(TEXTS), num_buckets=2**62 + 1, key=key, name="op")
        return [["op:0"]]

    return graph_case(f"strong {key}", "StringToHashBucketStrong", build)


CASES = [
    case("StringToHashBucket", TEXTS, num_buckets=2**62 + 1),
    case("StringToHashBucketFast", TEXTS, num_buckets=2**62 + 1),
    case("StringToHashBucketFast", strings([["a"], ["b"]]), num_buckets=10),
    strong(123, -4),
    strong(1),
    case("_TensorToHashBucketFast", integers(2, 3, low=-100), num_buckets=1000),
    case("Fingerprint", TEXTS, strings("farmhash64")),
    case("Fingerprint", strings([["a", "b"], ["c", ""]]), strings("farmhash64")),
    case("Fingerprint", normal(3, 4), strings("farmhash64")),
    case("Fingerprint", normal(0), strings("farmhash64")),
    case("Fingerprint", normal(0, 3), strings("farmhash64")),
    case("Fingerprint", normal(3, 0), strings("farmhash64")),
    case("Fingerprint", integers(2, dtype="int64"), strings("farmhash64")),
    case("Fingerprint", np.float32(1), strings("farmhash64")),
    case("Fingerprint", normal(2), strings("md5")),
]
