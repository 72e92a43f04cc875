"""Sets in the rows of tensors, by flags and by sorting, beside Python's sets."""

import numpy as np
import pytest

from tfg.core.ops.shared.sparse_tensors import SparseParts
from tfg.core.ops.sparse.sets import dense_to_dense_set_operation, set_size, sparse_to_sparse_set_operation

OPERATIONS = {
    "a-b": set.difference,
    "b-a": lambda a, b: b - a,
    "intersection": set.intersection,
    "union": set.union,
}
EXTREMES = {"int8": 127, "uint8": 200, "int32": 2**31 - 1, "int64": 2**63 - 1}


def drawn(dtype, spread, shape, seed):
    """Values close together, or from the least to the largest that there is."""
    rng = np.random.default_rng(seed)
    if dtype == "string":
        return np.array([b"%d" % n for n in rng.integers(0, 20, np.prod(shape))], object).reshape(shape)
    values = rng.integers(0, 7, shape)
    return (values if spread == "close" else values * (EXTREMES[dtype] // 7)).astype(dtype)


def rows_of(indices, values, dense_shape):
    rows = {}
    for place, value in zip(indices.tolist(), values.tolist()):
        rows.setdefault(tuple(place[:-1]), []).append(value)
        assert place[-1] == len(rows[tuple(place[:-1])]) - 1
    assert dense_shape[-1] == max(map(len, rows.values()), default=0)
    assert indices.tolist() == sorted(indices.tolist())
    return rows


@pytest.mark.sampled(10)
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("spread", ["close", "far"])
@pytest.mark.parametrize("dtype", [*EXTREMES, "string"])
@pytest.mark.parametrize("shape", [(40,), (5, 6), (1,)])
def test_rows_of_dense_tensors(shape, dtype, spread, operation):
    a, b = (drawn(dtype, spread, (*shape, size), size) for size in (3, 5))
    indices, values, dense_shape = dense_to_dense_set_operation(a, b, set_operation=operation)
    assert values.dtype == a.dtype and dense_shape[:-1].tolist() == list(shape)
    want = {i: OPERATIONS[operation](set(a[i].tolist()), set(b[i].tolist())) for i in np.ndindex(shape)}
    assert rows_of(indices, values, dense_shape) == {i: sorted(row) for i, row in want.items() if row}


@pytest.mark.parametrize("rows", [30, 10**12])
def test_rows_of_sparse_tensors(rows):
    rng = np.random.default_rng(0)
    places = [np.unique(np.stack([rng.integers(0, 30, 60) * (rows // 30), rng.integers(0, 4, 60)], 1), axis=0) for _ in "ab"]
    parts = [SparseParts(result, rng.integers(-3, 4, len(result)), np.array([rows, 4])) for result in places]
    outputs = sparse_to_sparse_set_operation(*parts, set_operation="union", validate_indices=True)
    want = {}
    for indices, values, _ in parts:
        for place, value in zip(indices.tolist(), values.tolist()):
            want.setdefault((place[0],), set()).add(value)
    assert rows_of(*outputs) == {i: sorted(row) for i, row in want.items()}


@pytest.mark.parametrize("largest", [5, 10**15])
def test_sizes(largest):
    rng = np.random.default_rng(0)
    places = np.stack(np.unravel_index(np.sort(rng.permutation(20 * 6)[:70]), (20, 6)), 1)
    values = rng.integers(0, 5, 70) * largest
    result = set_size(places, values, np.array([20, 6]), validate_indices=True)
    assert result.dtype == np.int32
    assert result.tolist() == [len({*values[places[:, 0] == i].tolist()}) for i in range(20)]
