"""Linear algebra: matrices taken apart, equations, products, Fourier transforms."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .making import Row, definite, fixed, ints, normal, one, row


def matrix_rows() -> Iterator[Row]:
    for shape in ((256, 256), (1000, 4, 4), (64, 32, 32), (3, 3)):
        a, d = normal(*shape), definite(*shape)
        b = normal(*shape[:-1], 2)
        yield row("MatrixInverse", d)
        yield row("MatrixDeterminant", d / shape[-1])
        yield row("LogMatrixDeterminant", d)
        yield row("Cholesky", d)
        yield row("MatrixSolve", d, b)
        yield row("MatrixTriangularSolve", d, b)
        yield row("Lu", d)
        yield row("BatchMatMulV2" if len(shape) > 2 else "MatMul", a, d)
        if shape[-1] <= 32:
            yield row("CholeskyGrad", np.linalg.cholesky(d), a)
            yield row("MatrixSolveLs", d, b, one(0.1, np.float64))
            yield row("MatrixSquareRoot", d)
            yield row("MatrixLogarithm", d.astype(np.complex64))
        if shape != (256, 256):
            yield row("Qr", a)
            yield row("SelfAdjointEigV2", d)
            yield row("Svd", a)
            yield row("Eig", a, Tout="complex64")
    yield row("Qr", normal(200, 100))
    yield row("SelfAdjointEigV2", definite(100, 100))
    yield row("Svd", normal(100, 50))


def band_rows() -> Iterator[Row]:
    yield row("TridiagonalSolve", normal(50, 3, 200) + np.array([0, 9, 0], np.float32)[:, None], normal(50, 200, 2))
    yield row("TridiagonalMatMul", normal(50, 1, 200), normal(50, 1, 200), normal(50, 1, 200), normal(50, 200, 10))
    yield row("BandedTriangularSolve", normal(20, 3, 100) + 5, normal(20, 100, 2))


def product_rows() -> Iterator[Row]:
    for left, right in (((256, 256), (256, 256)), ((1000, 10), (10, 10)), ((1, 100), (100, 1000))):
        yield row("MatMul", normal(*left), normal(*right))
        yield row("MatMul", normal(*left, dtype=np.float64), normal(*right, dtype=np.float64), note="double")
    yield row("MatMul", normal(256, 256, dtype=np.float16), normal(256, 256, dtype=np.float16), note="half")
    yield row("MatMul", ints(9, 128, 128), ints(9, 128, 128), note="int32")
    yield row("BatchMatMulV2", normal(64, 12, 64, 32), normal(64, 12, 32, 64))
    for equation, left, right in (
        ("bij,bjk->bik", (32, 64, 32), (32, 32, 64)),
        ("ij,jk->ik", (4, 5), (5, 6)),
        ("bhqd,bkhd->bhqk", (4, 8, 64, 32), (4, 64, 8, 32)),
        ("ijk,k->ij", (30, 100, 100), (100,)),
        ("bi,bj->bij", (100, 50), (100, 50)),
    ):
        yield row("Einsum", [normal(*left), normal(*right)], equation=equation, note=equation)


def transform_rows() -> Iterator[Row]:
    waves = (normal(64, 1024) + 1j * normal(64, 1024)).astype(np.complex64)
    square = waves.reshape(4, 128, 128)
    for op in ("FFT", "IFFT"):
        yield row(op, waves)
        yield row(op, waves[:, :1000], note="1000")
        yield row(op, waves[0, :16])
        yield row(f"{op}2D", square)
        yield row(f"{op}3D", square.reshape(4, 16, 32, 32))
    yield row("FFT", waves.astype(np.complex128), note="double")
    yield row("RFFT", normal(64, 1024), fixed(1024))
    yield row("RFFT2D", normal(4, 128, 128), fixed(128, 128))
    yield row("RFFT3D", normal(4, 16, 32, 32), fixed(16, 32, 32))
    yield row("IRFFT", waves[:, :513], fixed(1024))
    yield row("IRFFT2D", square[:, :, :65], fixed(128, 128))
