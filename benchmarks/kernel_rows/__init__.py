"""The rows that `kernels` times: an op per row, of ten thousand to a million elements, or small where calls cost most."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator

from . import algebra, elementwise, images, moving, networks, quantized, reductions, resources, samples, sparse, texts
from .making import Row

MODULES = images, texts, elementwise, reductions, moving, sparse, algebra, networks, quantized, samples, resources


def families(module: types.ModuleType) -> Iterator[Callable[[], Iterator[Row]]]:
    """Yield the functions of a module named NAME_rows: each returns the rows of a family."""
    return (member for name, member in vars(module).items() if name.endswith("_rows"))


def rows() -> Iterator[Row]:
    """All rows, family by family."""
    for module in MODULES:
        for family in families(module):
            yield from family()
