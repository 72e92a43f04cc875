"""Debugging ops that count and summarize a tensor's numbers."""

from __future__ import annotations

import numpy as np

from ...registry.registry import Cost, facts, flops, kernel, shape, without_gradient
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import Shape, TensorSpec


@kernel("DebugNumericSummary")
def debug_numeric_summary(x: Array, *, lower_bound: float, upper_bound: float, T: DType) -> Result:
    """Return counts of six kinds of numbers, extremes, mean and variance of the finite numbers, dtype and shape, (14 +
    rank,).
    """
    x = np.asarray(x)
    wide = x.astype(np.float64)
    low, high, nan = wide <= lower_bound, wide >= upper_bound, np.isnan(wide)
    inside = wide[np.isfinite(wide)]
    counts = [nan, low, (wide < 0) & ~low, wide == 0, (wide > 0) & ~high, high]
    moments = [inside.min(), inside.max(), inside.mean(), inside.var()] if inside.size else [np.inf, -np.inf, np.nan, np.nan]
    summary = [1, x.size, *map(np.count_nonzero, counts), *moments, T.number, x.ndim, *x.shape]
    return np.array(summary, np.float64)


@shape("DebugNumericSummary")
def debug_numeric_summary_shape(x: TensorSpec) -> Shape:
    return Shape([None if x.rank is None else 14 + x.rank])


@flops("DebugNumericSummary")
def debug_numeric_summary_flops(x: TensorSpec) -> Cost:
    """Seven comparisons, the least and the greatest, the mean and the variance, as if all numbers were finite."""
    return Cost(flops=13 * x.shape.num_elements - 2)


without_gradient("DebugNumericSummary")
facts("debug", of=("DebugNumericSummary",))
