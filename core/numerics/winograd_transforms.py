"""Transforms along one axis for convolutions by tiles with windows of three places, F(2, 3) and F(4, 3) after Winograd.

A tile gives `size` results of `size + 2` neighbours. Convolution is a product of polynomials, found from its remainders modulo
small polynomials (Winograd, "Arithmetic Complexity of Computations", 1980): for two results x, x - 1, x + 1 and infinity; for
four x^2 + 1 besides, whose product of complex numbers takes three multiplications after Karatsuba. Other real points would
save one of the seven, but numbers like 1/6 and 8 in the transforms cost digits: 2.5e-6 of the largest result where these and
F(2, 3) both lose 6e-7 (256 channels). Here inputs and results are added up only, and filters multiplied with 1/2 and 1/4.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from ..types.arrays import Array


@dataclasses.dataclass(frozen=True, eq=False)
class Transform:
    """How a tile of `size` results is transformed along an axis."""

    size: int
    filters: Array
    """(places, 3)."""
    forward: Callable[[Sequence[Array], Array], None]
    """From size + 2 neighbours to the places of `out`."""
    prepare: Callable[[Array], None]
    """Changes the values of all places so that each result is one sum of two."""
    last: Sequence[tuple[np.ufunc, int, int]]
    """For each result the operation and its two places, of which the first has the result's number and is free after that."""
    common: int
    """The place whose value each result contains once."""

    @property
    def places(self) -> int:
        """The multiplications for a tile."""
        return len(self.filters)

    @functools.cached_property
    def planar(self) -> Array:
        """`filters` along both axes: (places * places, 9)."""
        return np.kron(self.filters, self.filters)


def _forward_two(given: Sequence[Array], out: Array) -> None:
    first, second, third, fourth = given
    np.subtract(first, third, out=out[0])
    np.add(second, third, out=out[1])
    np.subtract(third, second, out=out[2])
    np.subtract(second, fourth, out=out[3])


def _prepare_two(values: Array) -> None:
    values[0] += values[1]
    values[1] -= values[2]


def _forward_four(given: Sequence[Array], out: Array) -> None:
    first, second, third, fourth, fifth, sixth = given
    np.subtract(first, fifth, out=out[0])
    np.subtract(sixth, second, out=out[3])
    np.add(third, fifth, out=out[5])
    np.add(second, fourth, out=out[6])
    np.add(out[5], out[6], out=out[2])
    np.subtract(out[5], out[6], out=out[4])
    np.subtract(fourth, second, out=out[1])
    np.subtract(fifth, third, out=out[5])
    np.subtract(out[1], out[5], out=out[6])
    out[5] += out[1]


def _prepare_four(values: Array) -> None:
    values[5] += values[1]
    values[6] += values[1]
    np.subtract(values[2], values[4], out=values[1])
    values[2] += values[4]
    values[0] += values[2]
    values[3] += values[1]


TWO: Final = Transform(
    2,
    np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]], np.float32),
    _forward_two,
    _prepare_two,
    ((np.add, 0, 2), (np.subtract, 1, 3)),
    1,
)
FOUR: Final = Transform(
    4,
    np.array(
        [
            [1, 0, 0],
            [-0.5, -0.5, 0.5],
            [0.25, 0.25, 0.25],
            [0, 0, 1],
            [0.25, -0.25, 0.25],
            [0.5, 0, -0.5],
            [0, 0.5, 0],
        ],
        np.float32,
    ),
    _forward_four,
    _prepare_four,
    ((np.add, 0, 5), (np.add, 1, 6), (np.subtract, 2, 5), (np.subtract, 3, 6)),
    2,
)
