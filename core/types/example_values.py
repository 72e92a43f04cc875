"""Example values for feeds, in the grammar of the option --feed."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, Final

from ..support.hints import Hint, feed
from .dtypes import DType, string
from .shapes import Shape

_MOST_STRINGS: Final = 16
"""The largest number of strings in an example."""


def example_value(dtype: str, shape: Shape, high: int | None = None) -> str:
    """Return a value that fits a tensor of a dtype and a shape; unknown sizes are 1.

    Integers are less than `high`, by default 10.
    """
    sizes = [dim if isinstance(dim, int) else 1 for dim in shape.dims or ()]
    listed = ",".join(map(str, sizes))
    if dtype == string.name:
        return texts_value("text", sizes)
    if dtype.startswith(("int", "uint")):
        # 0 is the only integer below 1.
        if high == 1:
            return f"zeros({listed})" if sizes else "0"
        bound = "" if high is None and sizes else f"high={10 if high is None else high}"
        return f"randint({','.join(filter(None, (listed, bound)))})"
    if dtype == "bool":
        return f"ones({listed})" if sizes else "true"
    return f"uniform({listed})" if sizes else "1.0"


def feeding(name: str, value: str) -> str:
    """Return the hint to feed an example value to a tensor."""
    return Hint(feed({name: value}), " feeds an example")


def strings_value(sizes: Sequence[int]) -> str:
    """Return an array of strings that the graph can read: pictures, sounds or Examples where ops parse them."""
    return f"strings({','.join(map(str, sizes))})"


def texts_value(text: str, sizes: Sequence[int]) -> str:
    """Return an array of a text as JSON; many elements are generated."""
    if math.prod(sizes) > _MOST_STRINGS:
        return strings_value(sizes)
    value: Any = text
    for size in reversed(sizes):
        value = [value] * size
    return json.dumps(value)


def example_in_python(dtype: DType | None, shape: Shape) -> str:
    """Return an expression in Python, with `numpy`, of a value that fits; unknown sizes are 1."""
    sizes = [dim if isinstance(dim, int) else 1 for dim in shape.dims or ()]
    if dtype is string:
        return f"numpy.full({sizes}, 'text')" if sizes else "'text'"
    if dtype is not None and dtype.name == "bool":
        return f"numpy.ones({sizes}, bool)" if sizes else "True"
    kind = ", int" if dtype is not None and dtype.is_integer else ""
    return f"numpy.zeros({sizes}{kind})" if sizes else "0" if kind else "1.0"
