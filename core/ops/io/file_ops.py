"""Whole files and file names."""

from __future__ import annotations

import os

from ...registry.registry import kernel, shape
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.kernel_context import KernelContext
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result, object_array
from ...types.shapes import Shape, TensorSpec
from ..shared.argument_checks import scalar
from ..shared.kernel_files import file_name, matching_files, read_file, write_file


@kernel("ReadFile", shape="() -> ()", facts=("reads_files",), arithmetic=False)
def read_file_op(ctx: KernelContext, filename: Array) -> Result:
    """The contents of a file."""
    return scalar_object(read_file(ctx, file_name(scalar(filename, "filename"))))


@kernel("WriteFile", shape="(), () ->", facts=("side_effect",), arithmetic=False)
def write_file_op(ctx: KernelContext, filename: Array, contents: Array) -> None:
    """Write a file, and create its folder."""
    write_file(ctx, file_name(scalar(filename, "filename")), scalar(contents, "contents"))


@kernel("MatchingFiles", facts=("reads_files",), arithmetic=False)
def matching_files_op(ctx: KernelContext, pattern: Array) -> Result:
    """The files that glob patterns match, in order."""
    if pattern.ndim > 1:
        raise InvalidArgumentError(f"Input patterns tensor must be scalar or vector, but had shape: {Shape(pattern.shape)}")
    paths = [path for text in pattern.ravel().tolist() for path in matching_files(ctx, os.fsdecode(text))]
    # By bytes, not by letters: TensorFlow sorts C++ strings.
    names = sorted(os.fsencode(path) for path in paths)
    return object_array(names)


@shape("MatchingFiles")
def matching_files_shape(pattern: TensorSpec) -> Shape:
    if pattern.rank not in (None, 0, 1):
        raise InvalidArgumentError(f"Input patterns tensor must be scalar or vector, but had shape: {pattern.shape}")
    return Shape([None])
