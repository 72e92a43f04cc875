"""Warm starts from a checkpoint with another vocabulary: the remapping of ids, and a matrix loaded by the remapping."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ...registry.registry import kernel
from ...runtime.state.kernel_context import KernelContext
from ...support.errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError, UnimplementedError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.shapes import Shape
from ..shared.kernel_files import file_name, gate, read_file
from .tables import file_lines


@kernel("GenerateVocabRemapping", shape="(), () -> {num_new_vocab}, ()", facts=("reads_files",), arithmetic=False)
def generate_vocab_remapping(
    ctx: KernelContext,
    new_vocab_file: Array,
    old_vocab_file: Array,
    *,
    new_vocab_offset: int,
    num_new_vocab: int,
    old_vocab_size: int,
) -> tuple[Result, Result]:
    """Return (old id of each new id or -1, number of ids present in both); a vocabulary file has a token for each line."""
    new = _tokens(ctx, new_vocab_file, "new_vocab_file", -1)
    if new_vocab_offset + num_new_vocab > len(new):
        raise InvalidArgumentError(f"line {new_vocab_offset} and {num_new_vocab} entries, but the file has {len(new)} lines")
    old = _tokens(ctx, old_vocab_file, "old_vocab_file", old_vocab_size)
    places: dict[bytes, int] = {}
    for i, token in enumerate(old):
        # Only of the old file: a token that is twice in the new one takes the same old row both times.
        if places.setdefault(token, i) != i:
            raise FailedPreconditionError(f"the old vocabulary has a duplicate token {token!r}")
    chosen = new[new_vocab_offset : new_vocab_offset + num_new_vocab]
    remapping = np.array([places.get(token, -1) for token in chosen], np.int64)
    return remapping, np.int32(np.count_nonzero(remapping >= 0))


def _tokens(ctx: Any, name: Any, what: str, size: int) -> list[bytes]:
    """Return the lines of a vocabulary file, the first `size` where that is not negative."""
    if name.ndim:
        raise InvalidArgumentError(f"{what} should be a single string, but got shape {Shape(name.shape)}")
    path = file_name(name.item())
    if not path:
        raise InvalidArgumentError("vocab filename cannot be empty")
    if size == 0:
        raise OutOfRangeError(f"Finished reading 0 of lines from {path}")
    return file_lines(read_file(ctx, path), size, path)


@kernel("LoadAndRemapMatrix", shape="*, *, {num_rows}, _ -> {num_rows} {num_cols}", facts=("reads_files",), arithmetic=False)
def load_and_remap_matrix(
    ctx: KernelContext,
    ckpt_path: Array,
    old_tensor_name: Array,
    row_remapping: Array,
    col_remapping: Array,
    initializing_values: Array,
    *,
    num_rows: int,
    num_cols: int,
) -> Result:
    """Load a matrix of a checkpoint with moved rows and columns; cells without a source take initializing_values, in order."""
    if row_remapping.ndim != 1 or col_remapping.ndim != 1:
        raise InvalidArgumentError("row_remapping and col_remapping must be 1-D")
    if len(row_remapping) != num_rows:
        raise InvalidArgumentError(f"Size of row_remapping is {len(row_remapping)} instead of num_rows={num_rows}")
    if len(col_remapping) not in (0, num_cols):
        raise InvalidArgumentError(f"the size of col_remapping is {len(col_remapping)} instead of num_cols={num_cols}")
    _check_unique(row_remapping)
    _check_unique(col_remapping)
    if ckpt_path.size != 1:
        raise InvalidArgumentError(f"ckpt_path must have exactly one element, not shape {Shape(ckpt_path.shape)}")
    old = _old_matrix(ctx, file_name(ckpt_path.item()), os.fsdecode(old_tensor_name.item()))
    # An empty remapping of columns keeps the columns as they are.
    columns = col_remapping if len(col_remapping) else np.arange(num_cols)
    if not len(col_remapping) and old.shape[1] != num_cols:
        raise InvalidArgumentError(f"the checkpoint's tensor has shape {Shape(old.shape)}, num_cols is {num_cols}")
    present = (row_remapping >= 0)[:, None] & (columns >= 0)
    if row_remapping.max(initial=-1) >= len(old):
        raise InvalidArgumentError(f"row_remapping points outside of the checkpoint's tensor of shape {Shape(old.shape)}")
    if columns.max(initial=-1) >= old.shape[1]:
        raise InvalidArgumentError(f"col_remapping points outside of the checkpoint's tensor of shape {Shape(old.shape)}")
    # Every cell gets its value below, from the checkpoint or from the initializing values.
    result = np.empty((num_rows, num_cols), np.float32)
    # -1, for no source, would index the last row; what is read at 0 instead is not kept.
    result[present] = old[np.maximum(row_remapping, 0)[:, None], np.maximum(columns, 0)][present]
    missing = np.count_nonzero(~present)
    if missing != initializing_values.size:
        raise InvalidArgumentError(f"initializing_values contained {initializing_values.size} elements for {missing} cells")
    result[~present] = initializing_values.reshape(-1)
    return result


def _check_unique(remapping: Any) -> None:
    old, counts = np.unique(remapping[remapping >= 0], return_counts=True)
    if np.any(counts > 1):
        raise UnimplementedError(f"Old ID {old[counts > 1][0]} is mapped to several new IDs, which is not supported.")


def _old_matrix(ctx: Any, path: str, name: str) -> Any:
    store, files = ctx.session.checkpoints, gate(ctx)
    dtype = store.dtype(path, name, files=files)
    if dtype is not dtypes.float32:
        raise InvalidArgumentError(f"Tensor {name} has invalid type {dtype} instead of expected type float")
    old = store.read(path, name, files=files)
    if old.ndim != 2:
        raise InvalidArgumentError(f"Tensor {name} has shape {Shape(old.shape)} instead of expected shape of rank 2.")
    return old
