"""Example values for feeds, in the grammar of the option --feed."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, Final

from .dtypes import string
from .shapes import Shape

_MOST_STRINGS: Final = 16
"""The largest number of strings in an example."""


def example_value(dtype: str, shape: Shape) -> str:
    """Return a value that fits a tensor of a dtype and a shape; unknown sizes are 1. Many strings come from a file."""
    sizes = [dim if isinstance(dim, int) else 1 for dim in shape.dims or ()]
    listed = ",".join(map(str, sizes))
    if dtype == string.name:
        return _texts(sizes)
    if dtype.startswith(("int", "uint")):
        return f"randint({listed})" if sizes else "randint(high=10)"
    if dtype == "bool":
        return f"ones({listed})" if sizes else "true"
    return f"uniform({listed})" if sizes else "1.0"


def _texts(sizes: Sequence[int]) -> str:
    if math.prod(sizes) > _MOST_STRINGS:
        return "@strings.npy"
    value: Any = "text"
    for size in reversed(sizes):
        value = [value] * size
    return json.dumps(value)
