"""Cases of the matmul family."""

import numpy as np

from tests.opcases import case, integers, normal

FLOATS = ("half", "bfloat16", "float32", "double")
COMPLEX = ("complex64", "complex128")
TYPES = (*FLOATS, *COMPLEX, "int16", "int32", "int64")
FLAGS = (False, True)


def operand(*shape, dtype, seed=0):
    return (
        integers(*shape, low=-9, high=9, dtype=dtype, seed=seed)
        if dtype.startswith("int")
        else normal(*shape, dtype=dtype, seed=seed)
    )


def products():
    cases = [case("MatMul", operand(2, 3, dtype=t), operand(3, 4, dtype=t)) for t in TYPES if t != "int16"]
    for a in FLAGS:
        for b in FLAGS:
            left, right = ((3, 2) if a else (2, 3)), ((4, 3) if b else (3, 4))
            cases += [
                case("MatMul", normal(*left, dtype=t), normal(*right, dtype=t), transpose_a=a, transpose_b=b)
                for t in ("double", "complex128")
            ]
    return [
        *cases,
        case("MatMul", normal(2, 0), normal(0, 3)),
        case("MatMul", normal(0, 2), normal(2, 3)),
        case("MatMul", normal(2, 3), normal(2, 3)),
        case("MatMul", normal(2, 3, 1), normal(2, 3)),
        case("MatMul", normal(2), normal(2, 3)),
        case("MatMul", np.float32([[np.inf, 0]]), np.float32([[0], [1]])),
    ]


def batches():
    cases = []
    for op in ("BatchMatMul", "BatchMatMulV2"):
        cases += [
            case(op, operand(2, 2, 3, dtype=t), operand(2, 3, 4, dtype=t))
            for t in TYPES
            if op != "BatchMatMul" or t != "int16"
        ]
        for a in FLAGS:
            for b in FLAGS:
                left, right = ((3, 2) if a else (2, 3)), ((4, 3) if b else (3, 4))
                cases += [
                    case(op, normal(2, *left, dtype=t), normal(2, *right, dtype=t), adj_x=a, adj_y=b)
                    for t in ("double", "complex64")
                ]
        cases += [
            case(op, normal(2, 3), normal(3, 4)),
            case(op, normal(0, 2, 3), normal(0, 3, 4)),
            case(op, normal(2, 2, 0), normal(2, 0, 4)),
            case(op, normal(2, 3), normal(2, 3, 4)),
            case(op, normal(2, 2, 3), normal(3, 3, 4)),
            case(op, normal(2, 2, 3), normal(2, 2, 4)),
            case(op, normal(3), normal(3, 4)),
        ]
    return [
        *cases,
        case("BatchMatMulV2", normal(2, 1, 2, 3, dtype="double"), normal(4, 3, 2, dtype="double")),
        case("BatchMatMulV2", normal(2, 3, dtype="double"), normal(4, 3, 2, dtype="double"), adj_y=False),
        case("BatchMatMulV3", normal(2, 2, 3, dtype="double"), normal(2, 3, 2, dtype="double"), Tout="double"),
        case("BatchMatMulV3", operand(2, 3, dtype="int8"), operand(3, 2, dtype="int8"), Tout="int32"),
        case("BatchMatMulV3", integers(2, 3, dtype="uint8"), operand(3, 2, dtype="int8"), Tout="int32"),
        case("BatchMatMulV3", operand(2, 3, dtype="bfloat16"), operand(3, 2, dtype="bfloat16"), Tout="float32"),
    ]


CASES = [*products(), *batches()]
