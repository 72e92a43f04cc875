"""Construction of rows: an op, the inputs and the distributions of the inputs.

`row` feeds arrays; `fixed` and `one` are constants, as sizes and axes are in most graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from tfg import GraphBuilder

Built = tuple[Sequence[Any], dict[str, Any], Sequence[str]]


class Row(NamedTuple):
    """A name and a function that makes a graph: outputs to fetch, feeds, and the names of nodes to run first."""

    name: str
    build: Callable[[GraphBuilder], Built]


class Fixed(NamedTuple):
    value: Any


def fixed(*values: Any, dtype: Any = np.int32) -> Fixed:
    """A constant vector."""
    return Fixed(np.array(values, dtype))


def one(value: Any, dtype: Any = np.int32) -> Fixed:
    """A constant scalar."""
    return Fixed(np.array(value, dtype))


def sizes(*dims: int) -> Fixed:
    """Return the dimensions of a sparse tensor, or an index of the tensor: a constant vector of 64 bits."""
    return fixed(*dims, dtype=np.int64)


def row(op: str, *inputs: Any, note: str = "", **attrs: Any) -> Row:
    """An op of fed and fixed inputs (a list for a list argument)."""

    def build(b: GraphBuilder) -> Built:
        feeds: dict[str, Any] = {}

        def output(value: Any) -> Any:
            if isinstance(value, list):
                return [output(item) for item in value]
            if isinstance(value, Fixed):
                return b.constant(value.value)
            name = f"x{len(feeds)}"
            feeds[f"{name}:0"] = value
            return fed(b, value, name)

        made = b.apply(op, *(output(value) for value in inputs), **attrs)
        return (made if isinstance(made, (tuple, list)) else [made]), feeds, []

    return Row(row_name(op, inputs, note), build)


def fed(b: GraphBuilder, value: Any, name: str) -> Any:
    """A placeholder for an array."""
    dtype = "string" if value.dtype == object else value.dtype.name
    return b.Placeholder(dtype=dtype.replace("float16", "half"), shape=list(value.shape), name=name)


def row_name(op: str, inputs: Iterable[Any], note: str = "") -> str:
    """Return the op, the sizes of the fed inputs, and a note that distinguishes rows."""
    return " ".join([op, *_shapes_of(inputs), *([note] if note else [])])


def _shapes_of(inputs: Iterable[Any]) -> Iterator[str]:
    for value in inputs:
        if isinstance(value, list):
            yield f"{len(value)}*{next(_shapes_of(value), '')}"
        elif not isinstance(value, Fixed):
            yield "x".join(map(str, value.shape)) or "1"


draws = np.random.default_rng(0)


def normal(*shape: int, dtype: Any = np.float32) -> Any:
    return draws.standard_normal(shape).astype(dtype)


def unit(*shape: int, dtype: Any = np.float32) -> Any:
    """Numbers in [0, 1)."""
    return draws.random(shape).astype(dtype)


def ints(high: int, *shape: int, dtype: Any = np.int32) -> Any:
    """Integers in [0, high)."""
    return draws.integers(0, high, shape).astype(dtype)


def words(*shape: int, length: int = 12, alphabet: str = "abcdefgh ABC,xyz") -> Any:
    """Texts of up to `length` characters."""
    letters = list(alphabet)
    texts = ["".join(draws.choice(letters, draws.integers(1, length + 1))).encode() for _ in range(int(np.prod(shape)))]
    return np.array(texts, object).reshape(shape)


def numerals(form: str, values: Any) -> Any:
    """Numbers as texts."""
    return np.array([(form % value).encode() for value in values.ravel().tolist()], object).reshape(values.shape)


def indices(count: int, *shape: int) -> Any:
    """`count` places of a sparse tensor of a shape, in order."""
    flat = np.sort(draws.choice(int(np.prod(shape)), count, replace=False))
    return np.stack(np.unravel_index(flat, shape), 1).astype(np.int64)


def definite(*shape: int, dtype: Any = np.float32) -> Any:
    """Positive definite matrices."""
    a = normal(*shape, dtype=np.float64)
    return (a @ a.swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1])).astype(dtype)


def boxes(count: int) -> Any:
    corner, size = unit(count, 2) * 0.8, unit(count, 2) * 0.2
    return np.concatenate([corner, corner + size], 1)


IMAGES = unit(4, 128, 128, 3)
BYTES = ints(256, 256, 256, 3, dtype=np.uint8)
SMALL = unit(1, 16, 16, 3)
