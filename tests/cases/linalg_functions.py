"""Cases of the linalg_functions family."""

import numpy as np

from tests.opcases import case, normal, removed

FLOATS = ("float32", "double", "complex64", "complex128")
LOOSE = {"float32": 1e-3, "complex64": 1e-3}


def regular(*shape, dtype="double"):
    return (normal(*shape, dtype=dtype) + 3 * np.eye(shape[-1])).astype(normal(1, dtype=dtype).dtype)


def tridiagonal(*shape, dtype="double"):
    """Diagonals (..., 3, n) with a dominant main diagonal."""
    x = normal(*shape, dtype=dtype)
    x[..., 1, :] += 4
    return x


CASES = [
    *(removed("MatrixExponential", normal(3, 3, dtype=t), tolerance=LOOSE.get(t)) for t in FLOATS),
    removed("MatrixExponential", normal(2, 0, 0)),
    *(case("MatrixLogarithm", regular(2, 3, 3, dtype=t), tolerance=LOOSE.get(t)) for t in ("complex64", "complex128")),
    case("MatrixLogarithm", np.zeros((0, 0), np.complex64)),
    case("MatrixLogarithm", np.ones((2, 3), np.complex64)),
    *(case("MatrixSquareRoot", regular(2, 3, 3, dtype=t), tolerance=LOOSE.get(t)) for t in FLOATS),
    case("MatrixSquareRoot", -np.eye(2), differentiable=False),
    case("MatrixSquareRoot", normal(0, 0)),
    case("MatrixSquareRoot", normal(2, 3)),
    *(
        case(
            "TridiagonalSolve",
            tridiagonal(2, 3, 4, dtype=t),
            normal(2, 4, 2, dtype=t),
            partial_pivoting=p,
            tolerance=LOOSE.get(t),
        )
        for t in FLOATS
        for p in (False, True)
    ),
    case("TridiagonalSolve", np.float32([[1, 1, 0], [1, 1, 1], [0, 1, 0]]), np.ones((3, 1), np.float32)),
    case("TridiagonalSolve", np.float32([[2, -1, 0], [0, 1, 0], [0, 3, 1]]), np.ones((3, 1), np.float32)),
    case("TridiagonalSolve", np.zeros((3, 3), np.float32), np.ones((3, 1), np.float32), partial_pivoting=False),
    case("TridiagonalSolve", np.zeros((3, 4), np.float32), np.ones((4, 1), np.float32), perturb_singular=True),
    case("TridiagonalSolve", normal(3, 5), normal(5, 2), perturb_singular=True, tolerance=1e-3),
    case("TridiagonalSolve", normal(3, 4), normal(4, 1), perturb_singular=True, partial_pivoting=False),
    case("TridiagonalSolve", normal(3, 1), normal(1, 2)),
    case("TridiagonalSolve", normal(3, 0), normal(0, 2)),
    case("TridiagonalSolve", normal(2, 4), normal(4, 2)),
    case("TridiagonalSolve", normal(3, 4), normal(3, 2)),
    case("TridiagonalSolve", normal(3, 4), normal(4)),
    case("TridiagonalSolve", normal(2, 3, 4), normal(1, 4, 1)),
    *(
        case(
            "TridiagonalMatMul",
            *(normal(2, 1, 4, dtype=t, seed=i) for i in range(3)),
            normal(2, 4, 3, dtype=t),
            tolerance=LOOSE.get(t),
        )
        for t in FLOATS
    ),
    case("TridiagonalMatMul", normal(1, 0), normal(1, 0), normal(1, 0), normal(0, 2)),
    case("TridiagonalMatMul", normal(1, 2), normal(1, 3), normal(1, 3), normal(3, 2)),
    case("TridiagonalMatMul", normal(3), normal(1, 3), normal(1, 3), normal(3, 2)),
    case("TridiagonalMatMul", normal(2, 1, 3), normal(2, 1, 3), normal(2, 1, 3), normal(1, 3, 2)),
]
