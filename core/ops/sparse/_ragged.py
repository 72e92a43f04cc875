"""Checks of the row splits of ragged tensors."""

from __future__ import annotations

import numpy as np

from ...support.errors import InvalidArgumentError
from ...types.arrays import Array
from ...types.shapes import Shape


def check_splits(splits: Array, count: int) -> None:
    """Raise InvalidArgumentError unless the splits begin at 0, never descend and end at `count`."""
    if np.ndim(splits) != 1 or splits.size == 0:
        raise InvalidArgumentError(f"ragged splits must be a vector with elements, not of shape {Shape(np.shape(splits))}")
    if splits[0] != 0:
        raise InvalidArgumentError("First value of ragged splits must be 0.")
    if np.any(splits[1:] < splits[:-1]):
        raise InvalidArgumentError(f"Ragged splits should be non decreasing: {splits.tolist()[:10]}")
    if splits[-1] != count:
        raise InvalidArgumentError(f"Ragged splits must end at the number of values, {count}, not at {int(splits[-1])}")


def check_nested(nested: list[Array], values: Array) -> None:
    """The splits of every level fit the next."""
    if np.ndim(values) < 1:
        raise InvalidArgumentError("flat values of a ragged tensor must have a rank of at least 1")
    for splits, inner in zip(nested, [*(np.size(s) - 1 for s in nested[1:]), len(values)]):
        check_splits(splits, inner)
