"""What bombs are made of: tensors that take no memory where they are written, and many copies of one string."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfg import GraphBuilder
from tfg.core.graph.graph import Output
from tfg.core.types.tensors import Tensor

MOST = 2**31 - 1
HUGE = 1 << 36
Bomb = Callable[[GraphBuilder], Output]


def ints(g: GraphBuilder, *values: int) -> Output:
    """A vector of int32, or of int64 where they need it."""
    return g.constant(np.array(values, np.int64 if max(map(abs, values), default=0) > MOST else np.int32))


HALF = np.float32(0.5)


def view(g: GraphBuilder, *shape: int, value: Any = HALF) -> Output:
    """A tensor of this shape that takes no memory, all elements the same."""
    return g.BroadcastTo(g.constant(value), ints(g, *shape))


def scalar(g: GraphBuilder, value: bytes) -> Output:
    array = np.empty((), object)
    array[()] = value
    return g.constant(Tensor.from_numpy(array))


def text(g: GraphBuilder, *values: bytes) -> Output:
    return g.constant(Tensor.from_numpy(np.array(values, object)))


def texts(g: GraphBuilder, count: int, value: bytes) -> Output:
    """`count` times the same string."""
    return g.Fill(ints(g, count), scalar(g, value))


def square(g: GraphBuilder, size: int) -> Output:
    """An invertible symmetric matrix."""
    return g.AddV2(g.MatrixDiag(view(g, size)), view(g, size, size))
