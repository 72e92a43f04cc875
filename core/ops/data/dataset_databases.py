"""Datasets of the rows in databases."""

from __future__ import annotations

import os
from typing import BinaryIO

from ...datasets.databases import Pairs, Query
from ...datasets.dataset import Dataset
from ...registry.registry import facts
from ...runtime.state.kernel_context import KernelContext
from ...support.errors import InvalidArgumentError
from ...types.dtypes import DType
from ...types.shapes import Shape
from ..shared.kernel_files import file_name, gate, system_errors
from ._datasets import Text, Texts, dataset_kernel, with_twins

_SQL_TYPES = ("string", "int8", "int16", "int32", "int64", "uint8", "uint16", "bool", "double")


@dataset_kernel("SqlDataset")
def sql_dataset(
    ctx: KernelContext,
    driver_name: Text,
    data_source_name: Text,
    query: Text,
    *,
    output_types: list[DType],
    output_shapes: list[Shape],
) -> Dataset:
    """The rows that a query gives."""
    # The message lists a single database since TensorFlow registers a single driver as well.
    if driver_name != "sqlite":
        raise InvalidArgumentError(
            f"The database type, {driver_name}, is not supported by SqlDataset. The set of supported databases is: "
            "{'sqlite'}."
        )
    if any(dtype.name not in _SQL_TYPES for dtype in output_types):
        raise InvalidArgumentError(f"Each element of `output_types_` must be one of: {', '.join(_SQL_TYPES)}")
    if any(shape.rank != 0 for shape in output_shapes):
        raise InvalidArgumentError("Each element of `output_shapes_` must be a scalar.")
    # The gate is asked here and not at the first row: SQLite would open a file by itself, past all that the run may read.
    path = gate(ctx).to_read(file_name(data_source_name))
    return Query((), path, query, output_types)


@dataset_kernel("LMDBDataset")
def lmdb_dataset(ctx: KernelContext, filenames: Texts) -> Dataset:
    """The keys and values of databases: files, or folders that hold `data.mdb`."""

    def open_file(path: bytes) -> BinaryIO:
        name = file_name(path)
        with system_errors(name):
            is_folder = os.path.isdir(gate(ctx).to_read(name))
            # LMDB keeps its data in a folder beside a file of locks, which a reader of a file at rest does not need.
            return gate(ctx).open(os.path.join(name, "data.mdb") if is_folder else name)

    return Pairs((), filenames, open_file)


facts("reads_files", of=with_twins("SqlDataset", "LMDBDataset"))
