"""Errors on their way out of what is written for each op: they get the node, and what is no TfgError becomes one."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from . import registry
from .dtypes import from_numpy, resource
from .errors import InternalError, InvalidArgumentError, ResourceExhaustedError, TfgError
from .graph import Node
from .shapes import Shape, TensorSpec

_FEW = 1024
"""Elements up to which a shape function gets the values of an input."""

_TOO_LARGE = ("array is too big", "Maximum allowed size exceeded", "Maximum allowed dimension exceeded")
"""What NumPy says of arrays with more elements or bytes than there can be addresses."""


@contextlib.contextmanager
def faults_of(node: Node, what: str) -> Iterator[None]:
    """Errors raised inside are `node`'s; `what` of it fails (its shape function, its gradient) where they are no TfgError."""
    try:
        yield
    except Exception as error:
        raise_located(error, node, what)


def raise_located(error: Exception, node: Node, what: str = "kernel") -> NoReturn:
    """Raise the error as one of `node`: running out of memory or of stack is an error of the graph, anything else a fault."""
    if isinstance(error, TfgError):
        if error.node is None:
            error.node, error.op = node.name, node.op
        raise error
    if isinstance(error, MemoryError) or str(error).startswith(_TOO_BIG):
        raise ResourceExhaustedError(f"out of memory: {error}", node=node.name, op=node.op) from error.__cause__
    if isinstance(error, (ValueError, OverflowError)) and any(text in str(error) for text in _TOO_LARGE):
        raise ResourceExhaustedError(f"out of memory: {error}", node=node.name, op=node.op) from None
    if isinstance(error, RecursionError):
        raise ResourceExhaustedError("functions call each other too deeply", node=node.name, op=node.op) from None
    raise fault(f"its {what} failed: {_described(error)}", node) from error


_TOO_BIG = ("array is too big", "Maximum allowed", "Unable to allocate", "maximum supported dimension")
"""How the ValueErrors begin by which NumPy refuses arrays for which it need not even ask for memory."""


def fault(message: str, node: Node | None = None) -> InternalError:
    """The error for something that tfg does wrong, whatever the graph: at a node, or in between."""
    hint = "this is a fault of tfg; please report it with the graph"
    name, op = (None, None) if node is None else (node.name, node.op)
    return InternalError(message, node=name, op=op, hint=hint)


def _described(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def raise_from_kernel(error: Exception, node: Node, inputs: Sequence[Any]) -> NoReturn:
    """Raise what came out of a node's kernel; where its shape function refuses such inputs, that is what is wrong.

    So a kernel need not repeat the checks of the shape function, and nothing is checked twice in a run that goes well.
    """
    if not isinstance(error, (TfgError, MemoryError, RecursionError)):
        _raise_refusal(error, node, inputs)
    raise_located(error, node)


def _raise_refusal(error: Exception, node: Node, inputs: Sequence[Any]) -> None:
    """InvalidArgumentError where an op does not take inputs of these shapes."""
    from .inference import call_shape_function

    function = registry.shape_function(node.op)
    if function is not None and len(inputs) == len(node.inputs):
        try:
            call_shape_function(node, function, [spec_of(value) for value in inputs])
        except InternalError:
            pass  # the kernel's own error says more
        except TfgError as refusal:
            raise_located(refusal, node)
    # Elementwise kernels are NumPy's own functions, which say themselves what does not fit.
    is_elementwise = any(isinstance(inspect.unwrap(kernel.function), np.ufunc) for kernel in registry.kernels(node.op))
    if is_elementwise and isinstance(error, ValueError):
        raise InvalidArgumentError(f"Incompatible shapes: {error}", node=node.name, op=node.op)


def spec_of(value: Any) -> TensorSpec:
    """What a shape function needs of a value that flows along an edge."""
    if not isinstance(value, (np.ndarray, np.generic)):
        return TensorSpec(resource)
    is_small = value.dtype.kind in "iub" and value.size <= _FEW
    dtype = resource if value.dtype == object else from_numpy(value.dtype)
    return TensorSpec(dtype, Shape(value.shape), np.asarray(value) if is_small else None)
