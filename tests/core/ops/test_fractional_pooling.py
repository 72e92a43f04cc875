"""Fractional pooling beside the largest element of each region, region by region."""

import numpy as np
import pytest

from tfg import GraphBuilder, Session


@pytest.mark.parametrize("overlapping", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "double", "int32"])
@pytest.mark.parametrize("has_nan", [False, True])
def test_largest_of_each_region(dtype, overlapping, has_nan):
    x = np.random.default_rng(0).integers(-9, 9, (2, 13, 10, 3)).astype(dtype.replace("double", "float64"))
    if has_nan and dtype != "int32":
        x[0, 4:7, 3, 1] = np.nan
    b = GraphBuilder()
    attrs = {"pooling_ratio": [1.0, 1.7, 1.4, 1.0], "overlapping": overlapping, "seed": 3, "seed2": 5, "deterministic": True}
    result = Session(b.graph).run([o.name for o in b.FractionalMaxPool(b.constant(x), **attrs)])
    rows, columns = (sequence.tolist() for sequence in result[1:])
    for i in range(len(rows) - 1):
        for j in range(len(columns) - 1):
            region = x[:, rows[i] : rows[i + 1] + overlapping, columns[j] : columns[j + 1] + overlapping]
            region = region.reshape(2, -1, 3)
            best = region[:, 0].copy()
            for k in range(region.shape[1]):
                best = np.where(region[:, k] > best, region[:, k], best)
            np.testing.assert_array_equal(result[0][:, i, j], best)
