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
"""The seconds that a folded loop, or a kernel that goes through strings singly, may take."""
MAX_FLOPS: Final = 1_000_000_000
"""The largest FLOP count of a kernel that is folded before a run."""
MAX_BYTES: Final = 1 << 30
"""The bound on the bytes of a folded node's constants, and on the bytes that its kernel holds: 1 GiB."""


def folded_values(node: Node, inputs: Sequence[Array], most: int = MAX_BYTES) -> list[np.ndarray[Any, Any]]:
    """Return the values of a pure node.

    Raises UnimplementedError where the kernel needs a session. Raises DeadlineExceededError or ResourceExhaustedError where
    the kernel takes more time or memory than a fold may. Callers first compare the node's FLOPs with MAX_FLOPS.
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
