"""Datasets that cache the elements of their input, in memory or in a file of TensorFlow's format.

A file is a checkpoint whose tensors are named by the indices of element and component, each index as wide as the widest.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any

from ...datasets.dataset import Dataset, Element, array_of
from ...datasets.snapshots import Cache, FileCache, MemoryCache
from ...registry.registry import facts, kernel, not_arithmetic, shape
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.kernel_context import KernelContext
from ...support.errors import DataLossError, NotFoundError, UnimplementedError
from ...support.words import counted
from ...types.arrays import Array
from ...types.dtypes import DType, string
from ...types.tensors import Tensor
from ..shared.kernel_files import file_name, gate, system_errors
from ..shared.plain_shapes import scalar_shape, two_scalars_shape
from ..shared.resource_access import resource
from ._datasets import dataset_kernel, dataset_of, text_in

# TensorFlow reads the elements in the order of their names: padding makes this the order of their numbers.
_WIDTH = 7
"""Digits of an element's place."""
_NAME = re.compile(r" *(\d{1,18})_ *(\d{1,18})")


def _place(name: str) -> tuple[int, int]:
    """Return (index of the element, index of the component) from a tensor's name; (-1, -1) for a name of another kind."""
    match = _NAME.fullmatch(name)
    return (int(match[1]), int(match[2])) if match else (-1, -1)


class ElementCheckpoint:
    """A checkpoint that holds elements."""

    def __init__(self, ctx: KernelContext, prefix: str, types: Sequence[DType]) -> None:
        self._store = ctx.session.checkpoints
        self._gate = gate(ctx)
        self._prefix = prefix
        self._types = types

    def is_there(self) -> bool:
        """Return True if the cache holds elements."""
        try:
            self._store.names(self._prefix, files=self._gate)
        except NotFoundError:
            return False
        return True

    def read(self) -> Iterator[Element]:
        """Yield the elements in order."""
        stored = self._store.names(self._prefix, files=self._gate)
        names = {_place(name): name for name in stored}
        # Any checkpoint may lie there: its names must be those of whole elements, without a gap.
        if names.keys() != set(itertools.product(range(len(stored) // len(self._types)), range(len(self._types)))):
            raise DataLossError(f"{self._prefix} holds no elements of {counted(len(self._types), 'component')}")
        for _, parts in itertools.groupby(sorted(names), key=lambda place: place[0]):
            yield tuple([self._store.read(self._prefix, names[place], files=self._gate) for place in parts])

    def write(self, elements: Sequence[Element]) -> None:
        """Keep the elements."""
        for dtype in self._types:
            # A variant or a resource lives in this process alone.
            if dtype.is_object and dtype.base is not string:
                raise UnimplementedError(f"a cache file cannot hold a component of dtype {dtype}")
        width = len(str(len(self._types) - 1))
        tensors = [
            (f"{i:{_WIDTH}}_{j:{width}}", "", Tensor.from_numpy(array_of(value), dtype))
            for i, element in enumerate(elements)
            for j, (value, dtype) in enumerate(zip(element, self._types))
        ]
        with system_errors(self._prefix):
            self._store.write(self._prefix, tensors, files=self._gate)


@dataset_kernel("CacheDataset")
def cache_dataset(ctx: KernelContext, input_dataset: Array, filename: Array) -> Dataset:
    """The same elements, kept."""
    # The first version has no handle of a cache: each dataset made from it fills its own.
    return _cached(ctx, input_dataset, filename, MemoryCache())


@dataset_kernel("CacheDatasetV2")
def cache_dataset_v2(ctx: KernelContext, input_dataset: Array, filename: Array, cache: Any) -> Dataset:
    """The same elements, kept in a cache that others may share."""
    memory = resource(cache, MemoryCache)
    return _cached(ctx, input_dataset, filename, MemoryCache() if memory is _DUMMY else memory)


def _cached(ctx: KernelContext, input_dataset: Array, filename: Array, cache: MemoryCache) -> Dataset:
    source, path = dataset_of(input_dataset), file_name(text_in(filename, "filename"))
    if path:
        return FileCache((source,), ElementCheckpoint(ctx, path, source.spec.dtypes))
    return Cache((source,), cache)


# Compared by identity: it never holds an element, which two datasets would otherwise share.
_DUMMY = MemoryCache()


@kernel("AnonymousMemoryCache")
def anonymous_memory_cache() -> tuple[Array, Array]:
    """Return a cache for elements, and its deleter."""
    return scalar_object(MemoryCache()), scalar_object(None)


@kernel("DummyMemoryCache")
def dummy_memory_cache() -> Array:
    """A handle in the place of a cache that the dataset makes itself."""
    return scalar_object(_DUMMY)


@kernel("DeleteMemoryCache")
def delete_memory_cache(handle: Array, deleter: Array) -> None:
    """Do nothing: a cache lives as long as a reference to it."""


shape("AnonymousMemoryCache")(two_scalars_shape)
shape("DummyMemoryCache")(scalar_shape)


_HANDLES = ("AnonymousMemoryCache", "DummyMemoryCache", "DeleteMemoryCache")
not_arithmetic(*_HANDLES)
facts("side_effect", of=("DeleteMemoryCache",))
facts("reads_files", of=("CacheDataset", "CacheDatasetV2"))
facts("input_pipeline", of=_HANDLES)
