"""The values of nodes that depend on constants only, computed before a run and within bounds: a graph may ask for anything."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...graph.graph import Node
from ...inference import binding
from ...inference.node_calls import apply_kernel
from ...support.errors import ResourceExhaustedError, UnimplementedError
from ...types.arrays import Array
from ..state.run_context import Run

SECONDS: Final = 0.2
"""What a loop, or a kernel that goes through strings one by one, may take."""
MAX_FLOPS: Final = 1_000_000_000
"""FLOPs of a kernel up to which it is called before a run."""
MAX_BYTES: Final = 1 << 30
"""Of the constants that a node takes, and of what a call may hold."""


def folded_values(node: Node, inputs: Sequence[Array], most: int = MAX_BYTES) -> list[np.ndarray[Any, Any]]:
    """The values of a pure node.

    UnimplementedError where its kernel needs a session; DeadlineExceededError and ResourceExhaustedError where it takes more
    than is good before a run. Callers ask for its FLOPs first, against MAX_FLOPS.
    """
    if binding.select_kernel(node).is_stateful:
        raise UnimplementedError("its kernel needs a session")
    run = Run(0)
    run.start_clock(SECONDS)
    run.reserve = functools.partial(_reserve, most)
    with run:
        return [np.asarray(value) for value in apply_kernel(node, inputs)]


def _reserve(most: int, size: int) -> None:
    if size > most:
        raise ResourceExhaustedError(f"it takes {size:,} bytes, too many for an optimization")
