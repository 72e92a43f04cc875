"""Saving and restoring tensors, through the session's checkpoint store."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence, Set
from typing import Any

import numpy as np

from ...graph.graph import Node
from ...registry.op_facts import has_fact
from ...registry.registry import kernel, shape
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.resources import Stored
from ...runtime.state.tensor_lists import is_storable
from ...support.errors import InvalidArgumentError, NotFoundError
from ...types.arrays import Array, Result
from ...types.dtypes import DType, string, variant
from ...types.shapes import SCALAR, UNKNOWN, Shape, TensorSpec, merge_shapes
from ...types.tensors import Tensor
from ..shared.argument_checks import require_rank, scalar
from ..shared.kernel_files import file_name, gate


def _texts(value: Array, what: str, count: int) -> list[str]:
    """Return a vector of `count` strings."""
    if value.ndim != 1:
        raise InvalidArgumentError(f"Input {what} should be an 1-D tensor, got {value.shape}")
    if value.size != count:
        raise InvalidArgumentError(f"tensor_names and {what} have different number of elements: {count} vs. {value.size}")
    return [os.fsdecode(text) for text in value.tolist()]


def _write(
    ctx: KernelContext, path: str, names: list[str], specs: list[str], values: list[Array], types: list[DType], version: int
) -> None:
    for name, dtype, value in zip(names, types, values):
        # Format V2 holds tensor lists as their parts; of other variants no form in a file is known.
        is_stored = dtype is variant and version == 2 and all(map(is_storable, np.ravel(value).tolist()))
        if dtype.is_object and dtype is not string and not is_stored:
            raise InvalidArgumentError(f"a checkpoint cannot hold tensor '{name}' of dtype {dtype}")
        if version == 1:
            _check_size(name, dtype, np.size(value))
    tensors = [Tensor.from_numpy(np.asarray(value), dtype) for value, dtype in zip(values, types)]
    ctx.session.checkpoints.write(path, list(zip(names, specs, tensors)), version, files=gate(ctx))


# Format V1 writes numbers as protobuf fields: dtype -> most bytes of a number, where not the dtype's size.
_V1_BYTES = {"int32": 10, "int16": 10, "int8": 10, "int64": 10, "qint8": 10, "qint32": 10, "uint8": 2, "quint8": 2, "half": 3}
_V1_LIMIT = (1 << 31) - 1


def _check_size(name: str, dtype: DType, count: int) -> None:
    """Raise InvalidArgumentError where the tensor is too large for a message of format V1."""
    # Protobuf refuses messages of 2 GiB, and a varint takes up to ten bytes.
    estimate = count * _V1_BYTES.get(dtype.name, dtype.size)
    if estimate > _V1_LIMIT and not dtype.is_object:
        raise InvalidArgumentError(
            f"Tensor slice is too large to serialize (tensor '{name}', conservative estimate: {estimate} bytes)"
        )


@kernel("SaveV2", facts=("half_deny", "side_effect", "reads_files", "checkpoint"), arithmetic=False)
def save_v2(
    ctx: KernelContext,
    prefix: Array,
    tensor_names: Array,
    shape_and_slices: Array,
    tensors: list[Array],
    *,
    dtypes: list[DType],
) -> None:
    """Write a checkpoint of format V2."""
    path = file_name(scalar(prefix, "prefix"))
    names = _texts(tensor_names, "tensor_names", len(tensors))
    _write(ctx, path, names, _texts(shape_and_slices, "shape_and_slices", len(tensors)), tensors, dtypes, 2)


@kernel("Save", facts=("side_effect", "reads_files", "checkpoint"), arithmetic=False)
def save(ctx: KernelContext, filename: Array, tensor_names: Array, data: list[Array], *, T: list[DType]) -> None:
    """Write a checkpoint of format V1."""
    path = file_name(scalar(filename, "filename"))
    _write(ctx, path, _texts(tensor_names, "tensor_names", len(data)), [""] * len(data), data, T, 1)


@kernel("SaveSlices", facts=("side_effect", "reads_files", "checkpoint"), arithmetic=False)
def save_slices(
    ctx: KernelContext, filename: Array, tensor_names: Array, shapes_and_slices: Array, data: list[Array], *, T: list[DType]
) -> None:
    """Write a checkpoint of format V1 that may hold parts of tensors."""
    path = file_name(scalar(filename, "filename"))
    names = _texts(tensor_names, "tensor_names", len(data))
    _write(ctx, path, names, _texts(shapes_and_slices, "shapes_and_slices", len(data)), data, T, 1)


@kernel("MergeV2Checkpoints", facts=("side_effect", "reads_files", "checkpoint"), arithmetic=False)
def merge_v2_checkpoints(
    ctx: KernelContext,
    checkpoint_prefixes: Array,
    destination_prefix: Array,
    *,
    delete_old_dirs: bool,
    allow_missing_files: bool,
) -> None:
    """Merge several checkpoints."""
    prefixes = [file_name(text) for text in _texts(checkpoint_prefixes, "checkpoint_prefixes", checkpoint_prefixes.size)]
    destination = file_name(scalar(destination_prefix, "destination_prefix"))
    ctx.session.checkpoints.merge(prefixes, destination, delete_old_dirs, allow_missing_files, files=gate(ctx))


def _read(ctx: KernelContext, prefix: str, name: str, spec: str, dtype: DType, is_deferred: bool) -> Any:
    """Read a tensor, as a lazy Stored when `is_deferred`; InvalidArgumentError where its dtype differs."""
    store, files = ctx.session.checkpoints, gate(ctx)
    stored = store.dtype(prefix, name, files=files)
    if stored is not dtype:
        raise InvalidArgumentError(f"tensor_name = {name}; expected dtype {dtype} does not equal original dtype {stored}")
    # A model of which only a part runs never reads the variables of the rest.
    if is_deferred:
        return Stored(store.deferred(prefix, name, spec, files=files))
    return store.read(prefix, name, spec, files=files)


def _deferred_outputs(ctx: KernelContext) -> Set[int]:
    """Return the outputs used by variables alone, whose reading is deferred. A hook must see values, so a watched run
    defers nothing.
    """
    return set() if ctx.step.is_watched else set(range(len(ctx.node.output_dtypes))) - _otherwise_used(ctx.node)


def _otherwise_used(node: Node) -> set[int]:
    """Return the outputs that something else than an assignment reads, directly or through an Identity."""
    used = set()
    for user in node.uses:
        is_passed_on = user.is_identity and all(map(_is_assignment, user.uses))
        used |= {
            value.index
            for place, value in enumerate(user.inputs)
            # Input 1 of an assignment is the value; any other reader needs the tensor itself.
            if value.node is node and not is_passed_on and not (place == 1 and _is_assignment(user))
        }
    return used


def _is_assignment(node: Node) -> bool:
    return has_fact(node.op, "assignment")


@kernel("RestoreV2", facts=("restores", "reads_files", "checkpoint"), arithmetic=False)
def restore_v2(
    ctx: KernelContext, prefix: Array, tensor_names: Array, shape_and_slices: Array, *, dtypes: list[DType]
) -> Sequence[Result]:
    """Tensors, or slices of them, from a checkpoint."""
    path = file_name(scalar(prefix, "prefix"))
    names = _texts(tensor_names, "tensor_names", len(dtypes))
    specs = _texts(shape_and_slices, "shape_and_slices", len(dtypes))
    deferred = _deferred_outputs(ctx)
    return [_read(ctx, path, *item, index in deferred) for index, item in enumerate(zip(names, specs, dtypes))]


def _slice_shape(spec: str) -> Shape:
    """Return the shape of a slice in `shape_and_slices`, as `10 4 0,5:-`; unknown for the whole tensor."""
    *sizes, extents = spec.split() or [""]
    parts = [_SLICE.fullmatch(part) for part in extents.split(":")]
    # Fewer than 19 digits fit into 64 bits.
    if not all(size.isdecimal() and len(size) < 19 for size in sizes) or len(sizes) != len(parts) or not all(parts):
        raise InvalidArgumentError(f"'{spec}' is not a slice such as 10 4 0,5:-")
    return Shape(int(size if part[1] is None else part[1]) for size, part in zip(sizes, parts) if part is not None)


_SLICE = re.compile(r"-|[0-9]{1,18},([0-9]{1,18})")


@shape("RestoreV2")
def restore_v2_shape(
    prefix: TensorSpec, tensor_names: TensorSpec, shape_and_slices: TensorSpec, *, dtypes: list[DType]
) -> list[Shape]:
    merge_shapes(prefix.shape, SCALAR)
    if shape_and_slices.value is None:
        return [UNKNOWN] * len(dtypes)
    specs = [os.fsdecode(text) for text in shape_and_slices.value.ravel().tolist()]
    return [_slice_shape(spec) if spec else UNKNOWN for spec in specs]


def _checkpoint(ctx: KernelContext, pattern: str) -> str:
    """Return the pattern; NotFoundError unless it matches files of a checkpoint of format V1."""
    # Checked here for TensorFlow's error; the store would name a missing file of format V2.
    if not gate(ctx).matching(pattern):
        raise NotFoundError(f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {pattern}")
    return pattern


@kernel("Restore", shape="-> *", facts=("restores", "reads_files", "checkpoint"), arithmetic=False)
def restore(ctx: KernelContext, file_pattern: Array, tensor_name: Array, *, dt: DType) -> Result:
    """A tensor from a checkpoint."""
    path = _checkpoint(ctx, file_name(scalar(file_pattern, "file_pattern")))
    return _read(ctx, path, os.fsdecode(scalar(tensor_name, "tensor_name")), "", dt, 0 in _deferred_outputs(ctx))


@kernel("RestoreSlice", facts=("restores", "reads_files", "checkpoint"), arithmetic=False)
def restore_slice(ctx: KernelContext, file_pattern: Array, tensor_name: Array, shape_and_slice: Array, *, dt: DType) -> Result:
    """A slice of a tensor from a checkpoint."""
    path = _checkpoint(ctx, file_name(scalar(file_pattern, "file_pattern")))
    name, spec = (os.fsdecode(scalar(v, w)) for v, w in ((tensor_name, "tensor_name"), (shape_and_slice, "shape_and_slice")))
    return _read(ctx, path, name, spec, dt, 0 in _deferred_outputs(ctx))


@shape("RestoreSlice")
def restore_slice_shape(file_pattern: TensorSpec, tensor_name: TensorSpec, shape_and_slice: TensorSpec) -> Shape:
    require_rank(shape_and_slice, 0, "shape_and_slice")
    spec = "" if shape_and_slice.value is None else os.fsdecode(shape_and_slice.value.item())
    return _slice_shape(spec) if spec else UNKNOWN
