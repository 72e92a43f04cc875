"""Cases of the linalg_diag family."""

import numpy as np

from tests.opcases import case, integers, normal, removed, unshaped

I64 = np.int64
WIDE = "double"
ALIGNMENTS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")


def k(*values):
    return np.array(values, np.int32)


def bands():
    sizes = [(4, 5), (2, 3, 3), (3, 0), (1, 1)]
    cases = [
        case("MatrixBandPart", normal(*size, dtype=WIDE), np.int64(low), np.int64(high))
        for size in sizes
        for low, high in ((0, 0), (-1, 0), (1, -1), (-1, -1))
    ]
    cases += [
        case("MatrixBandPart", integers(3, 4, dtype=t), 1, 1)
        for t in ("int8", "uint8", "bool", "half", "bfloat16", "complex64")
    ]
    cases += [case("MatrixBandPart", normal(3, 4), low, high) for low, high in ((4, 0), (0, 5), (3, 4))]
    return [
        *cases,
        case("MatrixBandPart", normal(3), 0, 0),
        removed("BatchMatrixBandPart", normal(2, 3, 3, dtype=WIDE), I64(1), I64(0)),
    ]


def first_versions():
    wide = normal(2, 3, 4, dtype=WIDE)
    return [
        *(case("MatrixDiag", integers(2, 3, dtype=t)) for t in ("int32", "half", "bfloat16", "complex128", "bool", "uint16")),
        case("MatrixDiag", normal(2, 3, dtype=WIDE)),
        case("MatrixDiag", normal(0)),
        case("MatrixDiag", np.float32(3)),
        removed("BatchMatrixDiag", normal(2, 3, dtype=WIDE)),
        case("MatrixDiagPart", wide),
        case("MatrixDiagPart", normal(2, 4, 3)),
        case("MatrixDiagPart", normal(4)),
        case("MatrixDiagPart", normal(0, 3)),
        removed("BatchMatrixDiagPart", wide),
        case("MatrixSetDiag", wide, normal(2, 3, dtype=WIDE)),
        case("MatrixSetDiag", normal(2, 3, 4), normal(2, 4)),
        case("MatrixSetDiag", normal(2, 3, 4), normal(3)),
        removed("BatchMatrixSetDiag", wide, normal(2, 3, dtype=WIDE)),
        case("Diag", normal(3, dtype=WIDE)),
        case("Diag", normal(2, 3, dtype=WIDE)),
        case("Diag", integers(2, 0)),
        case("Diag", np.float32(3)),
        case("DiagPart", normal(2, 3, 2, 3, dtype=WIDE)),
        case("DiagPart", normal(2, 3, 3, 2)),
        case("DiagPart", normal(3, 3, 3)),
        case("DiagPart", integers(3, 3, dtype="complex64")),
    ]


def later_versions():
    results = []
    for align in ALIGNMENTS:
        for low, high in ((-1, 1), (-2, 0), (0, 2), (1, 2), (-2, -1)):
            longest = min(4 + min(high, 0), 5 - max(low, 0))
            packed = normal(2, high - low + 1, longest, dtype=WIDE)
            results += [
                case("MatrixDiagV3", packed, k(low, high), 4, 5, np.float64(7), align=align, differentiable=(0,)),
                case(
                    "MatrixDiagPartV3",
                    normal(2, 4, 5, dtype=WIDE),
                    k(low, high),
                    np.float64(7),
                    align=align,
                    differentiable=(0,),
                ),
                case("MatrixSetDiagV3", normal(2, 4, 5, dtype=WIDE), packed, k(low, high), align=align),
            ]
    return results


def edges():
    rows = normal(3, 3, dtype=WIDE)
    return [
        case("MatrixDiagV2", rows, k(-1, 1), -1, -1, np.float64(2), differentiable=(0,)),
        case("MatrixDiagV2", rows, k(1), -1, -1, np.float64(0), differentiable=(0,)),
        case("MatrixDiagV2", rows, np.int32(-2), 5, -1, np.float64(0), differentiable=(0,)),
        case("MatrixDiagV2", rows, np.int32(-2), -1, 4, np.float64(0), differentiable=(0,)),
        case("MatrixDiagV2", rows, np.int32(0), 2, 4, np.float64(0), differentiable=(0,)),
        case("MatrixDiagV2", rows, np.int32(0), 5, 5, np.float64(0), differentiable=(0,)),
        case("MatrixDiagV2", rows, k(0, 1), 5, 5, np.float64(0), differentiable=(0,)),
        case("MatrixDiagV2", rows, k(1, 0), -1, -1, np.float64(0), differentiable=(0,)),
        case("MatrixDiagV2", rows, k(1, 1, 1), -1, -1, np.float64(0), differentiable=(0,)),
        case("MatrixDiagV3", rows, np.int32(0), k(3), 3, np.float64(0), differentiable=(0,)),
        case("MatrixDiagV3", rows, np.int32(0), 3, 3, np.zeros(2), differentiable=(0,)),
        case("MatrixDiagPartV2", rows, k(-1, 2), np.float64(3), differentiable=(0,)),
        case("MatrixDiagPartV2", rows, np.int32(2), np.float64(3), differentiable=(0,)),
        case("MatrixDiagPartV2", rows, np.int32(3), np.float64(3), differentiable=(0,)),
        case("MatrixDiagPartV2", rows, k(-3, 0), np.float64(3), differentiable=(0,)),
        case("MatrixDiagPartV2", normal(0, 3), np.int32(0), np.float32(3), differentiable=(0,)),
        case("MatrixDiagPartV3", rows, np.int32(0), np.zeros(2), differentiable=(0,)),
        case("MatrixDiagPartV3", rows, np.zeros((1, 1), np.int32), np.float64(0), differentiable=(0,)),
        case("MatrixSetDiagV2", rows, normal(2, dtype=WIDE), np.int32(-1)),
        case("MatrixSetDiagV2", rows, normal(3, 3, dtype=WIDE), k(-1, 1)),
        case("MatrixSetDiagV2", rows, normal(3, dtype=WIDE), np.int32(-1)),
        case("MatrixSetDiagV2", rows, normal(3, dtype=WIDE), np.int32(4)),
        case("MatrixSetDiagV3", rows, normal(1, 3, dtype=WIDE), k(0, 0)),
        *(
            unshaped(f"MatrixDiagPart{v}", normal(2, 3), k(0, 1), np.ones(shape, np.float32))
            for v in ("V2", "V3")
            for shape in ((1, 1), (2,))
        ),
        case("MatrixDiagV3", normal(2, 3), k(0, 1), np.int32(-1), np.int32(-1), np.ones(1, np.float32)),
    ]


CASES = [*bands(), *first_versions(), *later_versions(), *edges()]
