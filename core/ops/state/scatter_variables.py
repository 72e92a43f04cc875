"""Gathering rows of resource variables, and scattering into variables: by row and by coordinates, V1 and resource forms."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients, IndexedSlices
from ...graph.graph import Node, Output
from ...numerics.group_reductions import update_rows, without_nans
from ...numerics.integers import truncated_quotient
from ...registry.registry import NOT_DIFFERENTIABLE, WITHOUT_GRADIENT, Cost, facts, gradient, kernel, shape, zero_cost
from ...runtime.state.resources import Variable
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import UNKNOWN, Shape, TensorSpec, merge_shapes
from ..array.gather import gather, gather_nd, gather_nd_shape
from ..array.scatter import scatter_into
from ..shared.plain_shapes import first_shape
from ..shared.resource_access import resource_variable, rounds_without_repeats


@kernel("ResourceGather", flops=zero_cost, facts=("snapshot", "row_numbers"))
def resource_gather(resource: Array, indices: Array, *, batch_dims: int, dtype: DType) -> Result:
    """Return rows of a variable; leading `batch_dims` dimensions are paired with the dimensions of `indices`."""
    # The op has no axis: it gathers along the dimension that follows the batches.
    return gather(_read(resource, dtype), indices, np.int32(batch_dims), batch_dims=batch_dims)


def _read(handle: Array, dtype: DType) -> Array:
    """Return the value of a resource variable of the expected dtype."""
    variable = resource_variable(handle)
    if variable.dtype is not dtype:
        raise InvalidArgumentError(f"variable '{variable.name}' is {variable.dtype}, not {dtype}")
    return variable.read()


@shape("ResourceGather")
def resource_gather_shape(resource: TensorSpec, indices: TensorSpec, *, batch_dims: int) -> Shape:
    params = _content(resource)
    if params.rank is None or indices.rank is None:
        return UNKNOWN
    if params.rank < 1 or batch_dims > min(params.rank, indices.rank):
        raise InvalidArgumentError(f"a variable of shape {params} does not fit {batch_dims} batch dimensions")
    if batch_dims < 0:
        batch_dims += indices.rank
    batch = merge_shapes(params[:batch_dims], indices.shape[:batch_dims])
    return batch + indices.shape[batch_dims:] + params[batch_dims + 1 :]


def _content(resource: TensorSpec) -> Shape:
    return resource.handle[0].shape if resource.handle else UNKNOWN


@gradient("ResourceGather")
def resource_gather_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """The rows that were touched; TensorFlow takes no notice of batch_dims."""
    handle, indices = node.inputs
    dims = g.VariableShape(handle, out_type="int32")
    rows = g.Reshape(indices, [-1])
    inner = g.StridedSlice(dims, [1], [0], [1], end_mask=1)
    values = g.Reshape(grad, g.ConcatV2([g.Shape(rows, out_type="int32"), inner], 0))
    return [IndexedSlices(values, rows, dims), None]


@kernel("ResourceGatherNd", flops=zero_cost, facts=("snapshot",))
def resource_gather_nd(resource: Array, indices: Array, *, dtype: DType) -> Result:
    """Slices of a variable at the coordinates in the last dimension of `indices`."""
    return gather_nd(_read(resource, dtype), indices, bad_indices_policy="")


@shape("ResourceGatherNd")
def resource_gather_nd_shape(resource: TensorSpec, indices: TensorSpec, *, dtype: DType) -> Shape:
    return gather_nd_shape(resource.handle[0], indices) if resource.handle else UNKNOWN


@gradient("ResourceGatherNd")
def resource_gather_nd_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    handle, indices = node.inputs
    return [g.ScatterNd(indices, grad, g.VariableShape(handle, out_type=indices.base_dtype)), None]


def _scatter_rows(variable: Variable, indices: Any, updates: Any, write: Callable[[Array, Array, Array], None]) -> None:
    """Write `updates` (a row for each index, or a scalar for all) into the rows of a variable at `indices`."""
    current = variable.read()
    if current.ndim == 0:
        raise InvalidArgumentError(f"params must be at least 1-D, variable '{variable.name}' is a scalar")
    if updates.dtype != current.dtype:
        raise InvalidArgumentError(f"variable '{variable.name}' is {current.dtype}, the updates are {updates.dtype}")
    indices, updates = np.asarray(indices), np.asarray(updates)
    expected = (*indices.shape, *current.shape[1:])
    if updates.ndim and updates.shape != expected:
        raise InvalidArgumentError(
            f"Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got updates.shape "
            f"{Shape(updates.shape)}, indices.shape {Shape(indices.shape)}, params.shape {Shape(current.shape)}"
        )
    bad = np.flatnonzero((indices < 0) | (indices >= current.shape[0]))
    if len(bad):
        raise InvalidArgumentError(f"indices[{bad[0]}] = {indices.ravel()[bad[0]]} is not in [0, {current.shape[0]})")
    # A scalar stands for all rows, without a copy for each.
    rows = np.broadcast_to(updates, expected).reshape((indices.size, *current.shape[1:]))
    # This reference would make `writable` copy the variable.
    del current
    # Nothing to write: `writable` would count a write, and perhaps copy the variable.
    if indices.size and rows.size:
        write(variable.writable(), indices.reshape(-1), rows)


def _register_row_scatter(suffix: str, write: Callable[[Array, Array, Array], None]) -> None:
    cost = zero_cost if suffix == "Update" else _scatter_flops
    # TensorFlow declares the sums as without gradient flow and says nothing of these: a gradient through them is an error.
    flow = WITHOUT_GRADIENT if suffix in ("Update", "Min", "Max") else NOT_DIFFERENTIABLE

    @kernel(f"Scatter{suffix}", shape=_scatter_shape, gradient=flow, flops=cost, facts=("side_effect",))
    def scatter(ref: Variable, indices: Array, updates: Array) -> Variable:
        """Update rows of the variable and return the variable."""
        _scatter_rows(ref, indices, updates, write)
        return ref

    @kernel(
        f"ResourceScatter{suffix}",
        shape=_resource_scatter_shape,
        gradient=NOT_DIFFERENTIABLE,
        flops=cost,
        facts=("side_effect",),
    )
    def resource_scatter(resource: Array, indices: Array, updates: Array) -> None:
        """Update rows of a variable."""
        _scatter_rows(resource_variable(resource), indices, updates, write)


def _scatter_flops(ref: TensorSpec, indices: TensorSpec, updates: TensorSpec) -> Cost:
    return Cost(flops=updates.shape.num_elements)


def _resource_scatter_shape(resource: TensorSpec, indices: TensorSpec, updates: TensorSpec) -> list[Any]:
    _check_row_shapes(_content(resource), indices.shape, updates.shape)
    return []


def _check_row_shapes(params: Shape, indices: Shape, updates: Shape) -> None:
    if updates.rank == 0:
        return
    if params.rank == 0:
        raise InvalidArgumentError("params must be at least 1-D")
    merge_shapes(indices + params[1:], updates)


def _scatter_shape(ref: TensorSpec, indices: TensorSpec, updates: TensorSpec) -> Shape:
    _check_row_shapes(ref.shape, indices.shape, updates.shape)
    return ref.shape


def _replace(memory: Array, indices: Array, rows: Array) -> None:
    # Of repeated rows the last one stays: NumPy assigns them in turn.
    memory[indices] = rows


def _subtract(memory: Array, indices: Array, rows: Array) -> None:
    # Adding the negative rounds as subtracting does, and additions have the fast path.
    update_rows(np.add, memory, indices, np.negative(rows))


def _compare(ufunc: np.ufunc, memory: Array, indices: Array, rows: Array) -> None:
    update_rows(ufunc, memory, indices, without_nans(ufunc, rows))


def _divide(memory: Array, indices: Array, rows: Array) -> None:
    """Divide row by row in order, integers towards zero; a zero divisor is refused, as it ends TensorFlow's process."""
    is_integer = memory.dtype.kind in "iu"
    if is_integer and not np.all(rows):
        raise InvalidArgumentError("integer division by zero")
    # A row that occurs twice is divided twice: fancy indexing would keep the last division alone.
    for chosen in rounds_without_repeats(indices):
        places, divisor = indices[chosen], rows[chosen]
        current = memory[places]
        quotient = truncated_quotient(current, divisor) if is_integer else current / divisor
        memory[places] = quotient.astype(memory.dtype, copy=False)


_ROW_SCATTERS: tuple[tuple[str, Callable[[Array, Array, Array], None]], ...] = (
    ("Update", _replace),
    ("Add", functools.partial(update_rows, np.add)),
    ("Sub", _subtract),
    ("Mul", functools.partial(update_rows, np.multiply)),
    ("Div", _divide),
    ("Min", functools.partial(_compare, np.minimum)),
    ("Max", functools.partial(_compare, np.maximum)),
)

for _suffix, _write in _ROW_SCATTERS:
    _register_row_scatter(_suffix, _write)


def _scatter_nd(variable: Variable, indices: Any, updates: Any, ufunc: np.ufunc | None, policy: str) -> None:
    if updates.dtype != variable.read().dtype:
        raise InvalidArgumentError(f"variable '{variable.name}' is {variable.dtype}, the updates are {updates.dtype}")
    rows = np.negative(updates) if ufunc is np.subtract else updates
    scatter_into(np.add if ufunc is np.subtract else ufunc, variable.writable(), indices, rows, policy)


def _register_nd_scatter(suffix: str, ufunc: np.ufunc | None) -> None:
    cost = zero_cost if ufunc is None else _scatter_flops
    flow = WITHOUT_GRADIENT if suffix in ("Min", "Max") else NOT_DIFFERENTIABLE

    @kernel(f"ScatterNd{suffix}", shape=first_shape, gradient=flow, flops=cost, facts=("side_effect",))
    def scatter_nd(ref: Variable, indices: Array, updates: Array, *, bad_indices_policy: str) -> Variable:
        """The variable, updated at the coordinates in `indices`."""
        _scatter_nd(ref, indices, updates, ufunc, bad_indices_policy)
        return ref

    @kernel(f"ResourceScatterNd{suffix}", gradient=NOT_DIFFERENTIABLE, flops=cost, facts=("side_effect",))
    def resource_scatter_nd(ref: Array, indices: Array, updates: Array, *, bad_indices_policy: str) -> None:
        """Update a variable at the coordinates in `indices`."""
        _scatter_nd(resource_variable(ref), indices, updates, ufunc, bad_indices_policy)


_ND_SCATTERS: tuple[tuple[str, np.ufunc | None], ...] = (
    ("Update", None),
    ("Add", np.add),
    ("Sub", np.subtract),
    ("Min", np.minimum),
    ("Max", np.maximum),
)

for _suffix, _ufunc in _ND_SCATTERS:
    _register_nd_scatter(_suffix, _ufunc)

facts("row_numbers", of=("ResourceScatterAdd",))
facts("increment", of=("ScatterAdd", "ScatterSub"))
