"""Cases of the bitwise family."""

import numpy as np

from tests.opcases import case, integers

SIGNED, UNSIGNED = ("int8", "int16", "int32", "int64"), ("uint8", "uint16", "uint32", "uint64")
OPS = ("BitwiseAnd", "BitwiseOr", "BitwiseXor")


def some(dtype, *shape, seed=0):
    return integers(*shape, low=-100 if dtype in SIGNED else 0, high=100, dtype=dtype, seed=seed)


CASES = [
    *(case(op, some(t, 2, 3), some(t, 3, seed=1)) for op in OPS for t in (*SIGNED, *UNSIGNED)),
    *(case(op, some("int32", 2), some("int32", 3)) for op in (*OPS, "LeftShift", "RightShift")),
    *(case(op, some("int32", 0), some("int32", 1)) for op in (*OPS, "LeftShift", "RightShift")),
    *(
        case(op, some(t, 2, 3), integers(3, dtype=t, high=7))
        for op in ("LeftShift", "RightShift")
        for t in (*SIGNED, *UNSIGNED)
    ),
    *(case(op, np.int32([-8, 5, 7, -1]), np.int32([40, -3, 31, 32])) for op in ("LeftShift", "RightShift")),
    *(case(op, np.uint8([200, 5]), np.uint8([9, 8])) for op in ("LeftShift", "RightShift")),
    *(case(op, some(t, 2, 3)) for op in ("Invert", "PopulationCount") for t in (*SIGNED, *UNSIGNED)),
    *(case(op, some("int32", 0)) for op in ("Invert", "PopulationCount")),
]
