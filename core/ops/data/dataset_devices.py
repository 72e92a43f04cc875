"""Iterators that deal elements to several devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...datasets.dataset import held_to
from ...datasets.iterators import MultiDeviceIterator
from ...registry.registry import facts, kernel, not_arithmetic, shape
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.kernel_context import KernelContext
from ...support.errors import InvalidArgumentError, NotFoundError
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import Shape
from ..shared.plain_shapes import scalar_shape, signature, two_scalars_shape
from ..shared.resource_access import named, resource
from ._datasets import dataset_of, number_in, spec_of_node, text_in

_HANDLES = "string handles of multi-device iterators"


def _made(ctx: KernelContext, devices: list[str], name: str = "") -> MultiDeviceIterator:
    # Devices matter by their number alone: all of them are this machine's memory.
    return MultiDeviceIterator(name or ctx.name, spec_of_node(ctx.node), len(devices))


@kernel("MultiDeviceIterator")
def multi_device_iterator(ctx: KernelContext, *, devices: list[str], shared_name: str, container: str) -> Any:
    """An iterator that is to be given a dataset, with a shard for each device."""
    return named(ctx, container, shared_name, MultiDeviceIterator, lambda: _made(ctx, devices, shared_name))


@kernel("AnonymousMultiDeviceIterator")
def anonymous_multi_device_iterator(ctx: KernelContext, *, devices: list[str]) -> tuple[Array, Array]:
    """Return an iterator without a name, and its deleter."""
    return scalar_object(_made(ctx, devices)), scalar_object(None)


@kernel("AnonymousMultiDeviceIteratorV3")
def anonymous_multi_device_iterator_v3(ctx: KernelContext, *, devices: list[str]) -> Array:
    """Return an iterator without a name."""
    return scalar_object(_made(ctx, devices))


@kernel("MultiDeviceIteratorInit")
def multi_device_iterator_init(dataset: Array, multi_device_iterator: Any, max_buffer_size: Array) -> Result:
    """Begin a pass over a dataset and return its number. Buffers grow as needed."""
    # Checked and not used: buffers never block here.
    number_in(max_buffer_size, "max_buffer_size")
    return np.int64(resource(multi_device_iterator, MultiDeviceIterator).start(dataset_of(dataset)))


@kernel("MultiDeviceIteratorGetNextFromShard")
def multi_device_iterator_get_next_from_shard(
    multi_device_iterator: Any,
    shard_num: Array,
    incarnation_id: Array,
    *,
    output_types: list[DType],
    output_shapes: list[Shape],
) -> Sequence[Result]:
    """The next element of a shard; OutOfRangeError at the end."""
    iterator = resource(multi_device_iterator, MultiDeviceIterator)
    element = iterator.next(number_in(shard_num, "shard_num"), number_in(incarnation_id, "incarnation_id"))
    return held_to(element, output_types, output_shapes)


@kernel("MultiDeviceIteratorToStringHandle")
def multi_device_iterator_to_string_handle(ctx: KernelContext, multi_device_iterator: Any) -> Array:
    """A word for an iterator."""
    iterator = resource(multi_device_iterator, MultiDeviceIterator)
    # As for plain iterators, the string alone would keep no iterator alive.
    ctx.resources.get_or_create(_HANDLES, iterator.handle, MultiDeviceIterator, lambda: iterator)
    return scalar_object(iterator.handle.encode("utf-8", "surrogateescape"))


@kernel("MultiDeviceIteratorFromStringHandle")
def multi_device_iterator_from_string_handle(ctx: KernelContext, string_handle: Array) -> Array:
    """The iterator that a word stands for."""
    word = text_in(string_handle, "string_handle")
    try:
        iterator = ctx.resources.get(_HANDLES, word, MultiDeviceIterator)
    except NotFoundError:
        raise InvalidArgumentError(f"Could not find a multi-device iterator of the handle {word!r}") from None
    spec = spec_of_node(ctx.node)
    if spec.dtypes:
        spec.require(iterator.spec)
    return scalar_object(iterator)


@kernel("DeleteMultiDeviceIterator")
def delete_multi_device_iterator(multi_device_iterator: Any, iterators: list[Any], deleter: Any) -> None:
    """Do nothing: an iterator lives as long as a reference to it."""


_WORDS = (
    "MultiDeviceIterator", "AnonymousMultiDeviceIteratorV3", "MultiDeviceIteratorInit", "MultiDeviceIteratorToStringHandle",
    "MultiDeviceIteratorFromStringHandle",
)  # fmt: skip


shape(*_WORDS)(scalar_shape)
shape("AnonymousMultiDeviceIterator")(two_scalars_shape)


shape("MultiDeviceIteratorGetNextFromShard")(signature("_* -> {output_shapes}"))


_USES = ("MultiDeviceIteratorInit", "MultiDeviceIteratorGetNextFromShard", "DeleteMultiDeviceIterator")
_ALL = ("AnonymousMultiDeviceIterator", *_WORDS, *_USES[1:])
not_arithmetic(*_ALL)
facts("input_pipeline", of=_ALL)
facts("side_effect", of=_USES)
