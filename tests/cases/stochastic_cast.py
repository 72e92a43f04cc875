"""Cases of the stochastic_cast family."""

import numpy as np

from tests.opcases import case, normal

CORNERS = np.array([np.nan, np.inf, -np.inf, 300, -300, 2, -2, -1.5, 127.5, -128.5, 0.25, -0.25], np.float32)
TYPES = ("half", "bfloat16", "float32", "double")
KEY, COUNTER = np.array([5], np.uint64), np.array([3, 7], np.uint64)


def cast(values, key=KEY, counter=COUNTER, alg=1, to="int32"):
    return case("StochasticCastToInt", values, key, counter, np.asarray(alg, np.int32), Tout=to)


CASES = [
    *(cast(normal(3, 7, dtype=t, scale=5), to=to) for t in TYPES for to in ("int8", "int16", "int32")),
    *(cast(CORNERS, to=to) for to in ("int8", "int32")),
    cast(CORNERS * np.float32(1e9)),
    cast(normal(0)),
    cast(np.float32(0.5)),
    cast(normal(3), key=np.array([2**63 + 1], np.uint64), counter=np.array([2**64 - 1, 4], np.uint64), alg=3),
    cast(normal(3), counter=COUNTER[:1]),
    cast(normal(3), alg=2),
    cast(normal(3), alg=[1]),
    cast(normal(3), key=np.array([5, 6], np.uint64)),
    cast(normal(3), counter=COUNTER[None]),
]
