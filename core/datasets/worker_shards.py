"""Sharding of a pipeline for several workers, by file or by element."""

from __future__ import annotations

from collections.abc import Callable

from ..support.errors import NotFoundError
from .dataset import Dataset
from .filter_take_skip import Shard

AUTO, BY_FILE, BY_DATA = 0, 1, 2
"""Policies: files where there are some, else elements; files or an error; elements. The others leave the pipeline whole."""


def part_of(dataset: Dataset, count: int, index: int, policy: int, reads: Callable[[Dataset], bool]) -> Dataset:
    """Return the dataset of every `count`-th file or element from `index` on; `reads` tells whether a dataset's function
    reads files.
    """
    if count == 1 or policy not in (AUTO, BY_FILE, BY_DATA):
        return dataset
    sharded = None if policy == BY_DATA else _by_file(dataset, count, index, reads)
    if sharded is None and policy == BY_FILE:
        raise NotFoundError("Found an unshardable source dataset: no dataset of the pipeline reads files")
    return Shard((dataset,), count, index, False) if sharded is None else sharded


def _by_file(dataset: Dataset, count: int, index: int, reads: Callable[[Dataset], bool]) -> Dataset | None:
    """Shard the files of the pipeline; None where the files are not elements that a function reads.

    As in TensorFlow, a dataset that reads a list of files by itself cannot be sharded.
    """
    if reads(dataset):
        return dataset.with_inputs((_after_source(dataset.source, count, index),))
    parts = [_by_file(source, count, index, reads) for source in dataset.inputs]
    whole = tuple(part for part in parts if part is not None)
    return dataset.with_inputs(whole) if parts and len(whole) == len(parts) else None


def _after_source(dataset: Dataset, count: int, index: int) -> Dataset:
    """Shard the names of files directly after their source, before any transformation."""
    if not dataset.inputs:
        return Shard((dataset,), count, index, False)
    return dataset.with_inputs((_after_source(dataset.source, count, index), *dataset.inputs[1:]))
