"""Iterators over datasets, and those that deal elements to several devices."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...datasets.dataset import array_of, held_to
from ...datasets.iterators import DatasetIterator, IteratorState, MultiDeviceIterator, NamedIterator
from ...registry.registry import kernel, shape
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.variants import StoredVariant
from ...support.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from ...types import dtypes
from ...types.arrays import Array, Result, object_array
from ...types.dtypes import DType
from ...types.shapes import SCALAR, Shape, TensorSpec
from ...types.tensors import FuncRef
from ..control.variant_ops import Optional
from ..shared.resource_access import named, resource
from ._datasets import GraphFunction, dataset_of, number_in, spec_of_node, text_in, with_twins


@kernel("Iterator", "IteratorV2", shape="-> ()", facts=("input_pipeline", "owns_state"), arithmetic=False)
def iterator(ctx: KernelContext) -> Any:
    """An iterator that is to be given a dataset."""
    return named(ctx, DatasetIterator, lambda name: DatasetIterator(name, spec_of_node(ctx.node)))


@kernel("OneShotIterator", shape="-> ()", facts=("input_pipeline", "owns_state"), arithmetic=False)
def one_shot_iterator(ctx: KernelContext, *, dataset_factory: FuncRef) -> Any:
    """An iterator over the dataset that a function makes."""

    def create(name: str) -> DatasetIterator:
        made = DatasetIterator(name, spec_of_node(ctx.node))
        # Made within the op that creates it: runs that meet the iterator again go on with the pass, and no op begins another.
        made.start(GraphFunction(ctx, "dataset_factory", dataset_factory, []).datasets()([]))
        return made

    return named(ctx, DatasetIterator, create)


@kernel("AnonymousIterator", "AnonymousIteratorV3", shape="-> ()", facts=("input_pipeline", "owns_state"), arithmetic=False)
def anonymous_iterator(ctx: KernelContext) -> Array:
    """An iterator without a name."""
    return scalar_object(DatasetIterator(ctx.name, spec_of_node(ctx.node)))


@kernel("AnonymousIteratorV2", shape="-> (), ()", facts=("input_pipeline", "owns_state"), arithmetic=False)
def anonymous_iterator_v2(ctx: KernelContext) -> tuple[Array, Array]:
    """Return an iterator without a name, and its deleter."""
    # TensorFlow's deleter ends the iterator when its last copy goes; here the references of Python do.
    return scalar_object(DatasetIterator(ctx.name, spec_of_node(ctx.node))), scalar_object(None)


@kernel("DeleteIterator", "DeleteMultiDeviceIterator", facts=("input_pipeline", "side_effect"), arithmetic=False)
def delete_iterator(iterator: Any, *others: Any) -> None:
    """Do nothing: an iterator lives as long as a reference to it."""


@kernel("MakeIterator", facts=("input_pipeline", "side_effect"), arithmetic=False)
def make_iterator(dataset: Array, iterator: Any) -> None:
    """Begin a pass over a dataset."""
    resource(iterator, DatasetIterator).start(dataset_of(dataset))


@kernel(
    "IteratorGetNext",
    "IteratorGetNextSync",
    shape="-> {output_shapes}...",
    facts=("input_pipeline", "next_element", "side_effect"),
    arithmetic=False,
)
def iterator_get_next(iterator: Any, *, output_types: list[DType], output_shapes: list[Shape]) -> Sequence[Result]:
    """The next element; OutOfRangeError at the end."""
    return held_to(resource(iterator, DatasetIterator).next(), output_types, output_shapes)


@kernel("IteratorGetNextAsOptional", facts=("input_pipeline", "next_element", "side_effect"), arithmetic=False)
def iterator_get_next_as_optional(iterator: Any) -> Array:
    """Return the next element as an optional, empty at the end."""
    element = resource(iterator, DatasetIterator).pull()
    return scalar_object(Optional(None if element is None else list(map(array_of, element))))


@kernel(
    "IteratorToStringHandle", "MultiDeviceIteratorToStringHandle", shape="-> ()", facts=("input_pipeline",), arithmetic=False
)
def iterator_to_string_handle(ctx: KernelContext, iterator: Any) -> Array:
    """Return an iterator's handle as a string, for feeds."""
    source = resource(iterator, NamedIterator)
    # The session keeps the iterator under its string handle: a string alone keeps no object alive.
    ctx.resources.get_or_create(_HANDLES, source.handle, NamedIterator, lambda: source)
    return scalar_object(source.handle.encode("utf-8", "surrogateescape"))


_HANDLES = "string handles of iterators"


@kernel("IteratorFromStringHandle", "IteratorFromStringHandleV2", shape="-> ()", facts=("input_pipeline",), arithmetic=False)
def iterator_from_string_handle(ctx: KernelContext, string_handle: Array) -> Array:
    """The iterator that a word stands for."""
    return _of_word(ctx, string_handle, DatasetIterator, "an iterator")


@kernel("MultiDeviceIteratorFromStringHandle", shape="-> ()", facts=("input_pipeline",), arithmetic=False)
def multi_device_iterator_from_string_handle(ctx: KernelContext, string_handle: Array) -> Array:
    """The iterator that a word stands for."""
    return _of_word(ctx, string_handle, MultiDeviceIterator, "a multi-device iterator")


def _of_word(ctx: KernelContext, string_handle: Array, kind: type[NamedIterator], what: str) -> Array:
    word = text_in(string_handle, "string_handle")
    try:
        source = ctx.resources.get(_HANDLES, word, kind)
    except NotFoundError:
        raise InvalidArgumentError(
            f"Could not find {what} of the handle {word!r}",
            hint="IteratorToStringHandle of the same session gives an iterator's handle",
        ) from None
    spec = spec_of_node(ctx.node)
    # Without types the handle is taken for any iterator, and each element is checked instead.
    if spec.dtypes:
        spec.require(source.spec)
    return scalar_object(source)


@kernel("SerializeIterator", shape="-> n", facts=("observes_pipeline", "input_pipeline", "side_effect"), arithmetic=False)
def serialize_iterator(resource_handle: Any) -> Array:
    """Return an iterator's state as checkpoints hold it: the input of DeserializeIterator."""
    return object_array([resource(resource_handle, DatasetIterator).state().stored()], (1,))


@kernel(
    "DeserializeIterator", facts=("observes_pipeline", "restores_position", "input_pipeline", "side_effect"), arithmetic=False
)
def deserialize_iterator(resource_handle: Any, serialized: Array) -> None:
    """Go on where an iterator of a like dataset stood."""
    stored = np.ravel(serialized).tolist()
    if not stored or not isinstance(stored[0], StoredVariant):
        raise InvalidArgumentError("the variant does not hold the state of an iterator")
    resource(resource_handle, DatasetIterator).resume(IteratorState.parse(stored[0]))


@kernel(*with_twins("IteratorGetDevice"), shape="-> ()", facts=("input_pipeline",), arithmetic=False)
def iterator_get_device(resource: Any) -> Array:
    """Return the device of an iterator."""
    return scalar_object(b"/job:localhost/replica:0/task:0/device:CPU:0")


@kernel("IteratorGetModelProto", shape="-> ()", facts=("input_pipeline",), arithmetic=False)
def iterator_get_model_proto(iterator: Any) -> Array:
    """Raise NotFoundError: TensorFlow's model of a dataset's times exists only under tuning, and tfg tunes no dataset."""
    if resource(iterator, DatasetIterator).dataset is None:
        raise FailedPreconditionError("GetModelProto() failed because the iterator has not been initialized.")
    raise NotFoundError("Cannot find this iterator's analytical model: tfg does not tune datasets.")


@shape("IteratorGetNextAsOptional")
def optional_shape(iterator: TensorSpec, *, output_types: list[DType], output_shapes: list[Shape]) -> TensorSpec:
    return TensorSpec(dtypes.variant, SCALAR, handle=tuple(map(TensorSpec, output_types, output_shapes)))


def _devices_made(ctx: KernelContext, devices: list[str], name: str) -> MultiDeviceIterator:
    # Devices matter by their number alone: all of them are this machine's memory.
    return MultiDeviceIterator(name, spec_of_node(ctx.node), len(devices))


@kernel("MultiDeviceIterator", shape="-> ()", facts=("input_pipeline",), arithmetic=False)
def multi_device_iterator(ctx: KernelContext, *, devices: list[str]) -> Any:
    """An iterator that is to be given a dataset, with a shard for each device."""
    return named(ctx, MultiDeviceIterator, functools.partial(_devices_made, ctx, devices))


@kernel("AnonymousMultiDeviceIterator", shape="-> (), ()", facts=("input_pipeline",), arithmetic=False)
def anonymous_multi_device_iterator(ctx: KernelContext, *, devices: list[str]) -> tuple[Array, Array]:
    """Return an iterator without a name, and its deleter."""
    return scalar_object(_devices_made(ctx, devices, ctx.name)), scalar_object(None)


@kernel("AnonymousMultiDeviceIteratorV3", shape="-> ()", facts=("input_pipeline",), arithmetic=False)
def anonymous_multi_device_iterator_v3(ctx: KernelContext, *, devices: list[str]) -> Array:
    """Return an iterator without a name."""
    return scalar_object(_devices_made(ctx, devices, ctx.name))


@kernel("MultiDeviceIteratorInit", shape="-> ()", facts=("input_pipeline", "side_effect"), arithmetic=False)
def multi_device_iterator_init(dataset: Array, multi_device_iterator: Any, max_buffer_size: Array) -> Result:
    """Begin a pass over a dataset and return its number. Buffers grow as needed."""
    # Checked and not used: buffers never block here.
    number_in(max_buffer_size, "max_buffer_size")
    return np.int64(resource(multi_device_iterator, MultiDeviceIterator).start(dataset_of(dataset)))


@kernel(
    "MultiDeviceIteratorGetNextFromShard",
    shape="-> {output_shapes}...",
    facts=("input_pipeline", "side_effect"),
    arithmetic=False,
)
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
