"""Kernels in a process of their own, where a kernel that cannot be interrupted, such as a LAPACK decomposition, can be
ended.

The process gets a node's attributes and input values through a pipe, and returns the kernel's result or error; this module
is both ends. A kernel that needs this takes seconds, so a start of some tenths costs little.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...graph.graph import Graph, Node
from ...inference import binding
from ...parallel.blas_threads import one_thread
from ...parallel.float_mode import flushed
from ...support.errors import DeadlineExceededError, ResourceExhaustedError
from ...types.dtypes import resource, string, variant

_OF_OTHER_KINDS: Final = (resource, string, variant)


def can_be_apart(node: Node, inputs: Sequence[Any]) -> bool:
    """True for tfg's own kernels that make arrays of numbers of nothing but arrays of numbers."""
    if not sys.executable:
        return False
    if not all(isinstance(value, np.ndarray) and value.dtype != object for value in inputs):
        return False
    if any(dtype.is_ref or dtype in _OF_OTHER_KINDS for dtype in node.output_dtypes):
        return False
    kernel = binding.select_kernel(node)
    return kernel.is_own and not kernel.is_stateful


def run_apart(node: Node, inputs: Sequence[np.ndarray[Any, Any]], seconds: float, allowed: float) -> Any:
    """Return the result of the node's kernel, or raise its error; DeadlineExceededError after `seconds`.

    The error names `allowed`, the seconds of the whole run. The process is killed at the deadline, and where this process
    is interrupted.
    """
    order = pickle.dumps((node.name, node.op, dict(node.attrs), [_packed(value) for value in inputs]), protocol=5)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-P", "-c", f"from {__name__} import answer; answer()"]  # -P: no module of the current folder
    import subprocess  # lazy: only runs with a time limit need the module

    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment) as process:
        try:
            reply, _ = process.communicate(order, timeout=max(seconds, 0))
        except subprocess.TimeoutExpired:
            raise DeadlineExceededError(f"the run exceeded its time limit of {allowed:g} seconds") from None
        finally:
            process.kill()
    if process.returncode or not reply:
        raise ResourceExhaustedError(f"its process was killed ({process.returncode})")
    result = pickle.loads(reply)
    if isinstance(result, Exception):
        raise result
    return tuple(map(_unpacked, result)) if isinstance(result, list) else _unpacked(result)


def answer() -> None:
    """Run the kernel that standard input names, and write the result or the error to standard output."""
    with os.fdopen(os.dup(1), "wb") as output:
        os.dup2(2, 1)  # keeps prints of libraries out of the answer
        name, op, attrs, inputs = pickle.load(sys.stdin.buffer)
        pickle.dump(_answered(name, op, attrs, list(map(_unpacked, inputs))), output, protocol=5)


def _answered(name: str, op: str, attrs: Mapping[str, Any], inputs: Sequence[np.ndarray[Any, Any]]) -> Any:
    node = Graph().add_node(name, op, (), (), attrs)
    try:
        call = binding.bind_kernel(node, binding.select_kernel(node), None)
        with one_thread, np.errstate(all="ignore"):
            result = flushed(call, *inputs)
    except Exception as error:
        return error
    return list(map(_packed, result)) if isinstance(result, tuple) else _packed(result)


def _packed(value: Any) -> Any:
    """Return an array without the repetitions of zero strides, and the full shape."""
    array = np.asarray(value)
    if 0 not in array.strides or not array.size:
        return array, array.shape
    return np.ascontiguousarray(array[tuple(slice(None if step else 1) for step in array.strides)]), array.shape


def _unpacked(packed: tuple[np.ndarray[Any, Any], tuple[int, ...]]) -> np.ndarray[Any, Any]:
    array, shape = packed
    return array.reshape(shape) if array.size == np.prod(shape, dtype=object) else np.broadcast_to(array, shape)
