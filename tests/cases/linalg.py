"""Cases of the linalg family.

Cholesky reads a single triangle, and the gradient is the gradient of symmetric matrices: single elements cannot be checked.
"""

import numpy as np

from tests.opcases import case, integers, normal, removed

FLOATS = ("float32", "double", "complex64", "complex128")
LOOSE = {"half": 2e-2, "float32": 1e-3, "complex64": 1e-3}
SINGULAR = np.float64([[1, 2], [2, 4]])
SQUARE_OPS = ("Cholesky", "MatrixInverse", "MatrixDeterminant", "LogMatrixDeterminant")


def positive(*shape, dtype="double"):
    """Positive definite matrices of numbers that no processor rounds."""
    x = np.round(normal(*shape, dtype="double" if dtype == "half" else dtype) * 8) / 8
    return (x @ np.conj(np.swapaxes(x, -1, -2)) + shape[-1] * np.eye(shape[-1])).astype(
        np.float16 if dtype == "half" else x.dtype
    )


def regular(*shape, dtype="double"):
    """Matrices far from singular."""
    return (normal(*shape, dtype=dtype) + 3 * np.eye(shape[-1])).astype(normal(1, dtype=dtype).dtype)


def triangular(*shape, dtype="double"):
    return np.tril(regular(*shape, dtype=dtype))


def on_squares():
    cases = []
    for op in SQUARE_OPS:
        make = positive if op == "Cholesky" else regular
        cases += [
            case(op, make(3, 3, dtype=t), tolerance=LOOSE.get(t), differentiable=op != "Cholesky") for t in (*FLOATS, "half")
        ]
        cases += [
            case(op, make(2, 2, 2), differentiable=op != "Cholesky"),
            case(op, normal(0, 0)),
            case(op, normal(2, 0, 0)),
            case(op, normal(2, 3)),
            case(op, normal(3)),
        ]
        if op != "Cholesky":
            cases.append(case(op, SINGULAR, differentiable=False))
    return cases


def systems():
    cases = []
    for t in FLOATS:
        cases += [
            case("MatrixSolve", regular(2, 3, 3, dtype=t), normal(2, 3, 2, dtype=t), adjoint=a, tolerance=LOOSE.get(t))
            for a in (False, True)
        ]
        cases += [
            case(
                "MatrixTriangularSolve",
                regular(2, 3, 3, dtype=t),
                normal(2, 3, 2, dtype=t),
                lower=low,
                adjoint=a,
                tolerance=LOOSE.get(t),
            )
            for low in (False, True)
            for a in (False, True)
        ]
    for low in (False, True):
        for a in (False, True):
            cases.append(
                case(
                    "BandedTriangularSolve",
                    2 + normal(2, 2, 4, dtype="double") / 4,
                    normal(2, 4, 2, dtype="double"),
                    lower=low,
                    adjoint=a,
                )
            )
    return cases


def edges():
    matrix, rhs = regular(3, 3), normal(3, 2, dtype="double")
    return [
        case("MatrixSolve", SINGULAR, normal(2, 1, dtype="double")),
        case("MatrixSolve", matrix, normal(2, 2, dtype="double")),
        case("MatrixSolve", matrix, normal(3, dtype="double")),
        case("MatrixSolve", regular(1, 3, 3), normal(2, 3, 1, dtype="double")),
        case("MatrixSolve", normal(0, 0), normal(0, 2)),
        case("MatrixSolve", np.eye(2, dtype=np.float32), normal(2, 0)),
        case("MatrixTriangularSolve", matrix, normal(4, 3, 1, dtype="double")),
        case("MatrixTriangularSolve", regular(4, 2, 2), normal(2, 1, dtype="double")),
        case("MatrixTriangularSolve", regular(9, 2, 2), normal(2, 1, dtype="double"), lower=False),
        case("MatrixTriangularSolve", regular(2, 3, 3), normal(4, 3, 1, dtype="double")),
        case("MatrixTriangularSolve", matrix, normal(2, 2, dtype="double")),
        case("MatrixTriangularSolve", np.float32([[1, 0], [2, 0]]), np.ones((2, 1), np.float32)),
        case("MatrixTriangularSolve", normal(0, 0), normal(0, 1)),
        case("BandedTriangularSolve", 2 + normal(2, 3, dtype="double") / 4, normal(4, 3, 1, dtype="double")),
        case("BandedTriangularSolve", 2 + normal(1, 4) / 4, normal(4, 2)),
        case("BandedTriangularSolve", 2 + normal(3, 1, 4) / 4, normal(4, 2), lower=False, adjoint=True),
        case("BandedTriangularSolve", np.zeros((2, 3)), normal(3, 1, dtype="double")),
        case("BandedTriangularSolve", normal(2, 3), normal(2, 1)),
        case("BandedTriangularSolve", normal(0, 3), normal(3, 1)),
        *(
            case(
                "MatrixSolveLs",
                normal(2, *s, dtype="double"),
                normal(2, s[0], 2, dtype="double"),
                np.float64(l2),
                fast=fast,
                differentiable=(0, 1) if fast else False,
            )
            for s in ((4, 2), (2, 4), (3, 3))
            for l2, fast in ((0.0, True), (0.5, True), (0.0, False))
        ),
        case(
            "MatrixSolveLs", normal(4, 2, dtype="complex64"), normal(4, 1, dtype="complex64"), np.float64(0.1), tolerance=1e-3
        ),
        case("MatrixSolveLs", SINGULAR, normal(2, 1, dtype="double"), np.float64(0)),
        case("MatrixSolveLs", SINGULAR, normal(2, 1, dtype="double"), np.float64(0), fast=False, differentiable=False),
        case("MatrixSolveLs", matrix, rhs, np.float64(-1)),
        case("MatrixSolveLs", matrix, rhs, np.zeros(1)),
        case("MatrixSolveLs", matrix, normal(2, 2, dtype="double"), np.float64(0)),
        case("MatrixSolveLs", normal(2, 0), normal(2, 1), np.float64(0)),
        case("CholeskyGrad", triangular(3, 3), normal(3, 3, dtype="double")),
        case("CholeskyGrad", triangular(2, 2, 2), normal(2, 2, 2, dtype="double")),
        case("CholeskyGrad", triangular(2, 2, dtype="float32"), normal(3, 3)),
        case("Cholesky", np.float64([[4, 9], [2, 5]]), differentiable=False),
        case("Cross", normal(2, 3, dtype="double"), normal(2, 3, dtype="double", seed=1)),
        *(case("Cross", integers(2, 3, dtype=t), integers(2, 3, dtype=t, seed=1)) for t in ("int8", "int32", "uint8", "half")),
        case("Cross", normal(3), normal(2, 3)),
        case("Cross", np.float32(1), np.float32(1)),
        case("Cross", normal(0, 3), normal(0, 3)),
    ]


def old():
    matrix, rhs = regular(2, 2, 2), normal(2, 2, 1, dtype="double")
    return [
        removed("BatchCholesky", positive(2, 2, 2), differentiable=False),
        removed("BatchCholeskyGrad", triangular(2, 2, 2), normal(2, 2, 2, dtype="double")),
        removed("BatchMatrixInverse", matrix),
        removed("BatchMatrixDeterminant", matrix),
        removed("BatchMatrixSolve", matrix, rhs),
        removed("BatchMatrixTriangularSolve", matrix, rhs),
        removed("BatchMatrixSolveLs", matrix, rhs, np.float64(0.1), differentiable=(0, 1)),
    ]


CASES = [*on_squares(), *systems(), *edges(), *old()]
