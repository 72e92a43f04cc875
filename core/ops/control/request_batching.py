"""Batching of requests: Batch, Unbatch and UnbatchGrad. In a session a batch holds the request of a single run."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ...registry.registry import WITHOUT_GRADIENT, kernel, shape, zero_cost
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.resources import Shared
from ...support.errors import DeadlineExceededError, InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.shapes import SCALAR, UNKNOWN, Shape, TensorSpec, unknown_dims

_IDS = itertools.count(1)


class _Parts(Shared):
    """Rows that wait for the calls with their ids."""

    def __init__(self) -> None:
        self.by_id: dict[int, Any] = {}


@kernel("Batch", gradient=WITHOUT_GRADIENT, flops=zero_cost, facts=("side_effect", "asynchronous"))
def batch(ctx: KernelContext, in_tensors: list[Array], *, max_batch_size: int, allowed_batch_sizes: list[int]) -> Any:
    """Return the inputs as a batch, padded with the first row to an allowed size; its rows (id, start, end); and the id."""
    size = _common_size(in_tensors)
    _check_sizes(max_batch_size, allowed_batch_sizes)
    if size > max_batch_size:
        raise InvalidArgumentError(f"a batch of {size} rows exceeds max_batch_size {max_batch_size}")
    if not size:
        # Without rows TensorFlow's outputs are vectors, whatever the rank of the inputs.
        empty = np.zeros(0, np.int64)
        return [np.zeros(0, value.dtype) for value in in_tensors], empty, empty
    padded = min((s for s in allowed_batch_sizes if s >= size), default=size)
    # Rows that are empty take NumPy's `repeat` as long as others.
    tensors = [np.concatenate([value, np.broadcast_to(value[0], (padded - size, *value.shape[1:]))]) for value in in_tensors]
    # Unique in the process: a node keeps parts from run to run, and an id must not find rows of an earlier batch.
    number = next(_IDS)
    return tensors, np.array([[number, 0, size]], np.int64), np.int64(number)


def _common_size(tensors: list[Array]) -> int:
    shapes = [np.shape(value) for value in tensors]
    if not all(shapes):
        raise InvalidArgumentError("Batching input tensors must have at least one dimension")
    if len({dims[0] for dims in shapes}) > 1:
        raise InvalidArgumentError(f"Batching input tensors must have equal 0th-dimension size, not shapes {shapes}")
    return shapes[0][0]


def _check_sizes(largest: int, allowed: list[int]) -> None:
    if allowed and (any(a >= b for a, b in itertools.pairwise(allowed)) or allowed[-1] != largest):
        raise InvalidArgumentError(f"allowed_batch_sizes {allowed} must increase and end with max_batch_size {largest}")


@kernel("Unbatch", shape="_ ... -> _ ...", gradient=WITHOUT_GRADIENT, flops=zero_cost, facts=("side_effect", "asynchronous"))
def unbatch(ctx: KernelContext, batched_tensor: Array, batch_index: Array, id: Array, *, timeout_micros: int) -> Result:
    """The rows of the batch that belong to `id`; DeadlineExceededError if no batch that came has any."""
    if np.ndim(id):
        raise InvalidArgumentError(f"Input id should be scalar; got shape {Shape(np.shape(id))}")
    if batch_index.ndim != 2 or batch_index.shape[1] != 3:
        raise InvalidArgumentError(f"batch_index must be a matrix of 3 columns, not of shape {Shape(batch_index.shape)}")
    parts = ctx.state(_Parts)
    with parts:
        # The batch may hold rows of other calls, which come for them later.
        parts.by_id.update(_split(batched_tensor, batch_index))
        part = parts.by_id.pop(int(id), None)
    # A session has no other call under way that could bring the rows, so `timeout_micros` is not waited for.
    if part is None:
        raise DeadlineExceededError(f"no batch has rows for id {int(id)}")
    return part


def _split(tensor: Array, rows: Array) -> dict[Any, Any]:
    """Return the parts by id: consecutive pieces of the lengths in `rows`."""
    if np.ndim(tensor) < 1:
        raise InvalidArgumentError("a batched tensor must have at least one dimension")
    sizes = [int(end - start) for _, start, end in rows.tolist()]
    if min(sizes, default=0) < 0 or sum(sizes) > tensor.shape[0]:
        raise InvalidArgumentError(f"parts of {sizes} rows do not make a tensor of shape {Shape(tensor.shape)}")
    starts = list(itertools.accumulate(sizes, initial=0))
    return {row[0]: tensor[start : start + size] for row, start, size in zip(rows.tolist(), starts, sizes)}


@kernel("UnbatchGrad", gradient=WITHOUT_GRADIENT, flops=zero_cost, facts=("backward", "side_effect", "asynchronous"))
def unbatch_grad(ctx: KernelContext, original_input: Array, batch_index: Array, grad: Array, id: Array) -> Result:
    """Return the batch of the gradients for the ids in `batch_index`; DeadlineExceededError if a gradient is missing."""
    if np.ndim(id):
        raise InvalidArgumentError(f"Expected `id` to be scalar. Received shape {Shape(np.shape(id))}")
    parts = ctx.state(_Parts)
    with parts:
        return _gathered(parts.by_id, original_input, batch_index, grad, int(id))


def _gathered(waiting: Any, original_input: Any, batch_index: Any, grad: Array, id: Any) -> Any:
    if not np.ndim(grad):
        raise InvalidArgumentError("the gradient of a batch's rows must have at least one dimension")
    waiting[id] = grad
    if not np.size(original_input):
        return np.zeros((0, *np.shape(grad)[1:]), original_input.dtype)
    if np.ndim(batch_index) != 2 and np.size(batch_index):
        raise InvalidArgumentError(f"batch_index must be a matrix, not of shape {Shape(np.shape(batch_index))}")
    if not np.size(batch_index):
        raise InvalidArgumentError("an empty batch_index needs an empty batch")
    if batch_index.shape[1] != 3:
        raise InvalidArgumentError(f"batch_index must have 3 columns, not shape {Shape(batch_index.shape)}")
    numbers = batch_index[:, 0].tolist()
    if len(set(numbers)) < len(numbers):
        raise InvalidArgumentError(f"batch_index names an id more than once: {numbers}")
    missing = [number for number in numbers if number not in waiting]
    if missing:
        raise DeadlineExceededError(f"no gradients came for ids {missing}")
    parts = [waiting.pop(number) for number in numbers]
    if len({np.shape(part)[1:] if np.ndim(part) else None for part in parts}) > 1 or not np.ndim(parts[0]):
        raise InvalidArgumentError(f"gradients of shapes {[np.shape(part) for part in parts]} do not make a batch")
    return np.concatenate(parts)


@shape("Batch")
def batch_shape(in_tensors: list[TensorSpec]) -> list[Shape | list[Shape]]:
    for spec in in_tensors:
        if spec.rank == 0:
            raise InvalidArgumentError("Batching input tensors must have at least one dimension")
    batched = [UNKNOWN] * len(in_tensors)
    # An empty batch comes with empty vectors in the place of its index and its id.
    has_rows = any(spec.rank and isinstance(spec.shape[0], int) and spec.shape[0] > 0 for spec in in_tensors)
    return [batched, Shape((None, 3)), SCALAR] if has_rows else [batched, UNKNOWN, UNKNOWN]


@shape("UnbatchGrad")
def unbatch_grad_shape(original_input: TensorSpec, batch_index: TensorSpec, grad: TensorSpec, id: TensorSpec) -> Shape:
    return unknown_dims(grad.rank)
