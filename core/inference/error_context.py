"""Context of errors raised by functions of ops: an error gets the node, and an error of Python or NumPy becomes a TfgError."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import NoReturn

import numpy as np

from ..graph.graph import Node
from ..registry.catalog import CATALOG
from ..registry.op_facts import has_fact
from ..registry.registry import kernels
from ..support.errors import InternalError, InvalidArgumentError, ResourceExhaustedError, TfgError, UnimplementedError
from ..support.user_signals import pass_on
from .input_pipelines import stand_ins


@contextlib.contextmanager
def faults_of(node: Node, role: str) -> Iterator[None]:
    """Locate errors raised inside at `node`; `role` names the failing function (shape function, gradient) of other
    exceptions.
    """
    try:
        yield
    except Exception as error:
        raise_located(error, node, role)


def raise_located(error: Exception, node: Node, role: str = "kernel") -> NoReturn:
    """Raise the error located at `node`: exhausted memory or stack is an error of the graph, any other exception a fault of
    tfg.
    """
    if isinstance(error, TfgError):
        # An error of a function's body has a node already, which says more than the call.
        if error.node is None:
            error.node, error.op = node.name, node.op
        elif isinstance(error, UnimplementedError) or has_fact(error.op or "", "calls_python"):
            error.hint = stand_ins(node) or error.hint  # a missing kernel inside a function: feed the call's outputs
        raise error
    # An error of the program's own signal handler, as of a time-out, is no fault of the node.
    pass_on(error)
    if isinstance(error, MemoryError) or any(text in str(error) for text in _TOO_BIG):
        raise ResourceExhaustedError(f"out of memory: {error}", node=node.name, op=node.op) from error.__cause__
    if isinstance(error, np.linalg.LinAlgError):
        raise InvalidArgumentError(f"its matrices have no solution: {error}", node=node.name, op=node.op) from None
    if str(error).startswith(_TOO_MANY_DIMENSIONS):
        raise UnimplementedError(f"it has too many dimensions for NumPy: {error}", node=node.name, op=node.op) from None
    if isinstance(error, RecursionError):
        raise ResourceExhaustedError("functions call each other too deeply", node=node.name, op=node.op) from None
    raise fault(f"its {role} failed: {_described(error)}", node) from error


_TOO_BIG = (
    "array is too big", "iterator is too large", "Maximum allowed", "Unable to allocate", "maximum supported dimension",
    "precision too big", "width too big",
)  # fmt: skip
"""Messages of NumPy for arrays, and of Python for texts, that exceed the memory; some are raised without an allocation."""

_TOO_MANY_DIMENSIONS = (
    "number of dimensions must be within",
    "this function only supports up to 32 dimensions",
    "too many dimensions for generalized ufunc",
)
"""Messages of NumPy for arrays with more dimensions than NumPy, or a function of NumPy, supports."""


def fault(message: str, node: Node | None = None) -> InternalError:
    """Return the error for a fault of tfg or of an op library, at a node or between nodes."""
    hint = "this is a bug in tfg: please report it with the graph"
    if node is not None and not _is_own(node.op):
        hint = f"this is a bug in the op library of op '{node.op}', not in the graph"
    name, op = (None, None) if node is None else (node.name, node.op)
    return InternalError(message, node=name, op=op, hint=hint)


def _is_own(op: str) -> bool:
    """Return True if all functions of an op came with tfg."""
    return CATALOG.is_builtin(op) and all(kernel.is_own for kernel in kernels(op))


def _described(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
