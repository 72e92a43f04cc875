"""Cases of the sparse_matrix family; every case is a graph, because the ops exchange variants."""

import numpy as np

from tests.opcases import graph_case, i64, normal

PLAIN = (i64([0, 0], [0, 2], [1, 1]), np.array([1.5, -2.0, 3.0]), i64(2, 3))
BATCH = (i64([0, 0, 1], [1, 0, 0], [1, 1, 2]), np.array([1.0, 2.0, 3.0]), i64(2, 2, 3))
COMPLEX = (PLAIN[0], normal(3, dtype="complex64"), PLAIN[2])
MATRICES = {"plain": PLAIN, "batch": BATCH, "complex": COMPLEX}
FLAGS = ("transpose", "adjoint")


def dtype_of(parts):
    return "complex64" if parts is COMPLEX else "double"


def matrix(g, parts):
    return g.SparseTensorToCSRSparseMatrix(*(g.constant(p) for p in parts))


def conversions():
    results = []
    for name, parts in MATRICES.items():
        dtype = dtype_of(parts)

        def dense(g, parts=parts, dtype=dtype):
            back = g.CSRSparseMatrixToSparseTensor(matrix(g, parts), type=dtype)
            whole = g.CSRSparseMatrixToDense(matrix(g, parts), type=dtype)
            return [[o.name for o in back], [whole.name], [g.SparseMatrixNNZ(matrix(g, parts)).name]]

        def turned(g, parts=parts, dtype=dtype):
            both = [g.SparseMatrixTranspose(matrix(g, parts), type=dtype, conjugate=c) for c in (False, True)]
            return [[g.CSRSparseMatrixToDense(m, type=dtype).name] for m in both]

        def components(g, parts=parts, dtype=dtype):
            asked = [g.CSRSparseMatrixComponents(matrix(g, parts), index, type=dtype) for index in (0, 5)]
            return [[o.name for o in outputs] for outputs in asked]

        results += [graph_case(f"SparseTensorToCSRSparseMatrix {name}", "SparseTensorToCSRSparseMatrix", dense)]
        results += [graph_case(f"SparseMatrixTranspose {name}", "SparseMatrixTranspose", turned)]
        results += [graph_case(f"CSRSparseMatrixComponents {name}", "CSRSparseMatrixComponents", components)]
        results += [graph_case(f"{op} {name}", op, dense) for op in ("CSRSparseMatrixToSparseTensor", "SparseMatrixNNZ")]

    def picked(g):
        dense = g.DenseToCSRSparseMatrix(normal(2, 3), PLAIN[0])
        return [[g.CSRSparseMatrixToDense(dense, type="float").name], [g.CSRSparseMatrixToDense(dense, type="double").name]]

    results += [graph_case("DenseToCSRSparseMatrix", "DenseToCSRSparseMatrix", picked)]
    return [*results, graph_case("CSRSparseMatrixToDense", "CSRSparseMatrixToDense", picked)]


def products():
    def dense(parts, b, **flags):
        dtype = dtype_of(parts)

        def build(g):
            return [[g.SparseMatrixMatMul(matrix(g, parts), g.constant(b), T=dtype, **flags).name]]

        key = f"SparseMatrixMatMul {dtype} {b.shape} {sorted(flags)}"
        return graph_case(key, "SparseMatrixMatMul", build)

    def sparse(parts, other, **flags):
        dtype = dtype_of(parts)

        def build(g):
            made = g.SparseMatrixSparseMatMul(matrix(g, parts), matrix(g, other), type=dtype, **flags)
            return [[g.CSRSparseMatrixToDense(made, type=dtype).name]]

        key = f"SparseMatrixSparseMatMul {dtype} {parts[2]} {other[2]} {sorted(flags)}"
        return graph_case(key, "SparseMatrixSparseMatMul", build)

    results = [dense(PLAIN, normal(3, 2, dtype="double")), dense(BATCH, normal(2, 3, 4, dtype="double"))]
    results += [dense(PLAIN, normal(2, 4, dtype="double"), **{f"{f}_a": True}) for f in FLAGS]
    results += [dense(COMPLEX, normal(4, 3, dtype="complex64"), **{f"{f}_b": True}) for f in FLAGS]
    results += [dense(COMPLEX, normal(3, 2, dtype="complex64"), conjugate_output=True, transpose_output=True)]
    results += [dense(PLAIN, normal(2, 2, dtype="double"))]
    results += [sparse(p, p, **{f"{f}_{x}": True}) for p in (PLAIN, BATCH, COMPLEX) for f in FLAGS for x in "ab"]
    return [*results, sparse(PLAIN, PLAIN)]


CASES = [*conversions(), *products()]
