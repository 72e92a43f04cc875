"""Bounds on a run: how long it may take and how much memory its tensors may hold. A hook, so that other runs pay nothing."""

from __future__ import annotations

import functools
import math
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from .errors import DeadlineExceededError, ResourceExhaustedError, TfgError
from .faults import spec_of
from .graph import Node
from .inference import call_shape_function
from .registry import shape_function
from .runs import Hook, Run
from .shapes import TensorSpec

_SMALL: Final = 1024
"""Bytes up to which a tensor is not counted."""


class Limits:
    """The bounds of a session: `timeout` seconds for each run, `max_memory` bytes for the tensors of all of them together."""

    def __init__(self, timeout: float | None, max_memory: int | None) -> None:
        self.timeout = timeout
        self.max_memory = max_memory
        self._held = 0
        self._references: dict[int, weakref.ref[Any]] = {}
        self._lock = threading.RLock()

    def begin(self, run: Run) -> None:
        """Begin to count a run's time and check every kernel that it calls, around the hook that it has."""
        if self.timeout is not None:
            run.deadline = time.monotonic() + self.timeout
        run.hook = functools.partial(self._checked, run, run.hook)

    def _checked(self, run: Run, inner: Hook | None, node: Node, call: Callable[..., Any], inputs: Sequence[Any]) -> Any:
        if time.monotonic() > run.deadline:
            raise DeadlineExceededError(
                f"the run took more than the {self.timeout:g} seconds allowed", node=node.name, op=node.op
            )
        if self.max_memory is not None:
            self._require(node, sum(_output_bytes(node, inputs)))
        result = call(*inputs) if inner is None else inner(node, call, inputs)
        if self.max_memory is not None:
            for value in result if isinstance(result, tuple) else (result,):
                self._count(value)
            self._require(node, 0)
        return result

    def check_constant(self, node: Node) -> None:
        """Refuse a constant that is too large, before it is decoded."""
        if self.max_memory is not None and node.op == "Const":
            tensor = node.attrs["value"]
            self._require(node, tensor.size * tensor.dtype.numpy.itemsize)

    def _require(self, node: Node, more: int) -> None:
        assert self.max_memory is not None
        if self._held + more > self.max_memory:
            raise ResourceExhaustedError(
                f"the run would hold {self._held + more:,} bytes, of {self.max_memory:,} allowed", node=node.name, op=node.op
            )

    def _count(self, value: Any) -> None:
        """Count an array until it is freed."""
        if type(value) is not np.ndarray or value.base is not None or value.nbytes <= _SMALL:
            return
        key, size = id(value), value.nbytes

        def forget(_: Any) -> None:
            with self._lock:
                del self._references[key]
                self._held -= size

        with self._lock:
            if key not in self._references:
                self._references[key] = weakref.ref(value, forget)
                self._held += size


def _output_bytes(node: Node, inputs: Sequence[Any]) -> Sequence[int]:
    """The sizes of a node's outputs as its shape function foretells them; nothing where it does not."""
    function = shape_function(node.op)
    if function is None or not node.inputs:
        return ()
    try:
        found = call_shape_function(node, function, [spec_of(value) for value in inputs])
    except TfgError:
        return ()  # The kernel says what is wrong with its inputs.
    sizes = []
    for item, dtype in zip(found, node.output_dtypes):
        shape = item.shape if isinstance(item, TensorSpec) else item
        if shape.is_known:
            sizes.append(math.prod(shape.known()) * dtype.numpy.itemsize)
    return sizes
