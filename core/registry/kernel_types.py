"""Dtypes for which TensorFlow has a CPU kernel of an op; scripts/make_kernel_types.py makes kernel_types.txt."""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Mapping
from typing import Any

from ..support.grouping import grouped
from ..types import dtypes
from ..types.dtypes import DType


def runs_in_tensorflow(op: str, attrs: Mapping[str, Any]) -> bool:
    """Return False if TensorFlow has kernels of the op, but none for these type attributes."""
    rows = alternatives(op)
    # Ops without rows have no CPU kernel in TensorFlow, or one for all dtypes: the table cannot refuse them.
    return not rows or any(all(_is_among(attrs.get(name), allowed) for name, allowed in row.items()) for row in rows)


def takes(op: str, name: str, dtype: str) -> bool:
    """Return True if a kernel of the op takes `dtype` for the attribute `name`, or any."""
    rows = alternatives(op)
    # A row without the attribute takes every dtype of it.
    return not rows or any(dtypes.from_name(dtype) in row.get(name, (dtypes.from_name(dtype),)) for row in rows)


def _is_among(value: Any, allowed: frozenset[DType]) -> bool:
    # An attribute may list dtypes: the kernel has to take each of them.
    return all(item in allowed for item in value) if isinstance(value, list) else value in allowed


@functools.cache
def alternatives(op: str) -> tuple[dict[str, frozenset[DType]], ...]:
    """Return a row for each combination of dtypes with a CPU kernel in TensorFlow; no rows where all dtypes are accepted."""
    return tuple(map(_parsed, _lines().get(op, ())))


def _parsed(text: str) -> dict[str, frozenset[DType]]:
    pairs = (item.split("=") for item in text.split())
    return {name: frozenset(map(dtypes.from_name, types.split(","))) for name, types in pairs}


@functools.cache
def _lines() -> dict[str, list[str]]:
    lines = pathlib.Path(__file__).with_suffix(".txt").read_text().splitlines()
    return grouped((op, row) for op, _, row in (line.partition(" ") for line in lines))
