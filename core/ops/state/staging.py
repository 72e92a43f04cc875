"""Staging areas: Stage (a queue of tuples), MapStage (by key, in parts) and OrderedMapStage (by key, in order)."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...registry.registry import kernel
from ...runtime.state.edge_values import WouldBlock, is_of
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.resources import Shared
from ...support import dataclasses
from ...support.errors import InvalidArgumentError, ResourceExhaustedError
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ..shared.argument_checks import require_rank
from ..shared.resource_access import resource_of_node


@dataclasses.dataclass
class _Area(Shared):
    """The base of all staging areas: bounds on elements and bytes."""

    name: str
    capacity: int
    memory_limit: int

    def sizes(self) -> tuple[int, int]:
        """Elements and bytes held."""
        raise NotImplementedError

    def require_room(self, values: Sequence[Any], adds_element: bool) -> None:
        """WouldBlock if the values do not fit now, ResourceExhaustedError if they never will."""
        size = _bytes(values)
        if 0 < self.memory_limit < size:
            raise ResourceExhaustedError(
                f"Attempted to insert tensors with combined size of '{size}' bytes into Staging Area "
                f"with a memory limit of '{self.memory_limit}'."
            )
        elements, held = self.sizes()
        # A part of an incomplete element takes no place until the element is complete.
        is_full = self.capacity > 0 and elements + adds_element > self.capacity
        if is_full or 0 < self.memory_limit < held + size:
            raise WouldBlock(f"staging area '{self.name}' is full ({elements} elements)")


def _declared(values: Sequence[Any], dtypes: Sequence[DType]) -> list[Any]:
    """Return the values that leave; InvalidArgumentError if they are not of the dtypes that a node declares."""
    for i, (part, dtype) in enumerate(zip(map(np.asarray, values), dtypes)):
        if not is_of(part, dtype):
            raise InvalidArgumentError(f"staged part {i} has dtype {part.dtype}, not {dtype}")
    return list(values)


def _bytes(values: Sequence[Any]) -> int:
    return sum(np.asarray(value).nbytes for value in values if value is not None)


@dataclasses.dataclass
class StagingArea(_Area):
    """A queue of tuples."""

    elements: collections.deque[tuple[Any, ...]] = dataclasses.field(default_factory=collections.deque)

    def sizes(self) -> tuple[int, int]:
        return len(self.elements), sum(map(_bytes, self.elements))


@dataclasses.dataclass
class MapArea(_Area):
    """Tuples by key. A tuple with missing parts is incomplete; parts can be taken separately."""

    is_ordered: bool
    width: int
    complete: dict[int, dict[int, Any]] = dataclasses.field(default_factory=dict)
    incomplete: dict[int, dict[int, Any]] = dataclasses.field(default_factory=dict)

    def sizes(self) -> tuple[int, int]:
        everything = [*self.complete.values(), *self.incomplete.values()]
        return len(self.complete), sum(_bytes(list(parts.values())) for parts in everything)

    def put(self, key: int, indices: Sequence[int], values: Sequence[Any]) -> None:
        """Add parts of an element."""
        if any(not 0 <= index < self.width for index in indices):
            raise InvalidArgumentError(f"Index '{list(indices)}' is out of bounds '{self.width}'.")
        parts = self.incomplete.get(key, {})
        twice = [index for index in indices if index in parts]
        if twice:
            raise InvalidArgumentError(f"The tensor for index '{twice[0]}' for key '{key}' was already initialized.")
        # Before anything is put: a kernel that has to wait is run again, and may have changed nothing.
        self.require_room(values, len(parts) + len(indices) == self.width)
        parts = {**parts, **dict(zip(indices, values))}
        if len(parts) == self.width:
            self.incomplete.pop(key, None)
            # A second complete element of a key is dropped, as in TensorFlow's map.
            self.complete.setdefault(key, parts)
        else:
            self.incomplete[key] = parts

    def parts(self, key: int, indices: Sequence[int]) -> list[Any]:
        """Parts of a complete element; WouldBlock while there is none of that key."""
        if key not in self.complete:
            raise WouldBlock(f"staging area '{self.name}' has no element of key {key}")
        components = self.complete[key]
        for index in indices:
            if not 0 <= index < self.width:
                raise InvalidArgumentError(f"Index '{index}' is out of bounds '{self.width}'.")
            if index not in components:
                raise InvalidArgumentError(f"Tensor at index '{index}' for key '{key}' has already been removed.")
        return [components[index] for index in indices]

    def take(self, key: int, indices: Sequence[int]) -> list[Any]:
        """Take parts of a complete element; the element is removed with its last part."""
        taken = self.parts(key, indices)
        left = {index: value for index, value in self.complete[key].items() if index not in indices}
        if left:
            self.complete[key] = left
        else:
            del self.complete[key]
        return taken

    def any_key(self) -> int:
        """Return the smallest key of an ordered area, the latest of another; WouldBlock if there is none."""
        if not self.complete:
            raise WouldBlock(f"staging area '{self.name}' is empty")
        # TensorFlow takes the first key of a C++ hash map. That is the latest, unless keys share a bucket: 1, 2 and 14 leave
        # as 2, 14, 1 there.
        return min(self.complete) if self.is_ordered else next(reversed(self.complete))


class Bounds(NamedTuple):
    """The bounds of a staging area."""

    capacity: int
    memory_limit: int


def _staging_area(ctx: KernelContext, bounds: Bounds) -> StagingArea:
    return resource_of_node(ctx, StagingArea, lambda name: StagingArea(name, *bounds))


def _map_area(ctx: KernelContext, bounds: Bounds, dtypes: Sequence[DType]) -> MapArea:
    # The two kinds of maps have the same attributes: only the op tells them apart.
    is_ordered = ctx.node.op.startswith("Ordered")
    return resource_of_node(ctx, MapArea, lambda name: MapArea(name, *bounds, is_ordered, len(dtypes)))


@kernel("Stage", facts=("side_effect", "blocks"), arithmetic=False)
def stage(ctx: KernelContext, values: list[Array], *, bounds: Bounds) -> None:
    """Add a tuple."""
    area = _staging_area(ctx, bounds)
    with area:
        area.require_room(values, True)
        area.elements.append(tuple(values))


@kernel("StageClear", facts=("side_effect",), arithmetic=False)
def stage_clear(ctx: KernelContext, *, bounds: Bounds) -> None:
    """Forget all tuples."""
    area = _staging_area(ctx, bounds)
    with area:
        area.elements.clear()


def _key(key: Array) -> int:
    if np.ndim(key):
        raise InvalidArgumentError(f"key must be a scalar, not of shape {np.shape(key)}")
    return int(key)


def _indices(indices: Array) -> list[int]:
    if np.ndim(indices) != 1:
        raise InvalidArgumentError(f"indices must be a vector, not of shape {np.shape(indices)}")
    numbers = np.asarray(indices).tolist()
    # TensorFlow demands rising indices, so that no part of an element is named twice.
    if any(index >= later for index, later in itertools.pairwise(numbers)):
        raise InvalidArgumentError(f"Indices are not strictly ordered: {numbers}")
    return numbers


@kernel("MapStage", "OrderedMapStage", facts=("side_effect", "blocks"), arithmetic=False)
def map_stage(
    ctx: KernelContext, key: Array, indices: Array, values: list[Array], *, bounds: Bounds, dtypes: list[DType]
) -> None:
    """Add the parts `indices` of the element of a key."""
    places = _indices(indices)
    if len(values) > len(dtypes) or len(places) != len(values):
        raise InvalidArgumentError(f"{len(places)} indices do not fit {len(values)} values of {len(dtypes)} parts")
    area = _map_area(ctx, bounds, dtypes)
    with area:
        area.put(_key(key), places, values)


@kernel("MapClear", "OrderedMapClear", facts=("side_effect",), arithmetic=False)
def map_clear(ctx: KernelContext, *, bounds: Bounds, dtypes: list[DType]) -> None:
    """Forget all elements."""
    area = _map_area(ctx, bounds, dtypes)
    with area:
        area.complete.clear()
        area.incomplete.clear()


@kernel("Unstage", shape="-> * [dtypes]", facts=("side_effect", "blocks"), arithmetic=False)
def unstage(ctx: KernelContext, *, bounds: Bounds, dtypes: list[DType]) -> Sequence[Result]:
    """Take the oldest tuple."""
    area = _staging_area(ctx, bounds)
    with area:
        if not area.elements:
            raise WouldBlock(f"staging area '{area.name}' is empty")
        return _declared(area.elements.popleft(), dtypes)


@kernel("StagePeek", shape="-> * [dtypes]", facts=("blocks",), arithmetic=False)
def stage_peek(ctx: KernelContext, index: Array, *, bounds: Bounds, dtypes: list[DType]) -> Sequence[Result]:
    """A tuple that stays."""
    area = _staging_area(ctx, bounds)
    require_rank(index, 0, "index")
    if index < 0:
        raise InvalidArgumentError(f"index must not be negative, not {index}")
    with area:
        # TensorFlow's peek, too, waits until the element has come, rather than refuse an index that does not exist yet.
        if index >= len(area.elements):
            raise WouldBlock(f"staging area '{area.name}' has no element {index}")
        return _declared(area.elements[int(index)], dtypes)


@kernel("MapPeek", "OrderedMapPeek", shape="-> * [dtypes]", facts=("blocks",), arithmetic=False)
def map_peek(ctx: KernelContext, key: Array, indices: Array, *, bounds: Bounds, dtypes: list[DType]) -> Sequence[Result]:
    """Parts of an element that stays."""
    area = _map_area(ctx, bounds, dtypes)
    with area:
        return _declared(area.parts(_key(key), _indices(indices)), dtypes)


@kernel("MapUnstage", "OrderedMapUnstage", shape="-> * [dtypes]", facts=("side_effect", "blocks"), arithmetic=False)
def map_unstage(ctx: KernelContext, key: Array, indices: Array, *, bounds: Bounds, dtypes: list[DType]) -> Sequence[Result]:
    """Take parts of the element of a key."""
    area = _map_area(ctx, bounds, dtypes)
    with area:
        return _declared(area.take(_key(key), _indices(indices)), dtypes)


@kernel("StageSize", shape="-> ()", arithmetic=False)
def stage_size(ctx: KernelContext, *, bounds: Bounds) -> Result:
    """Return the number of tuples in the area."""
    return np.int32(len(_staging_area(ctx, bounds).elements))


@kernel("MapSize", "OrderedMapSize", shape="-> ()", arithmetic=False)
def map_size(ctx: KernelContext, *, bounds: Bounds, dtypes: list[DType]) -> Result:
    """Return the number of complete elements."""
    return np.int32(len(_map_area(ctx, bounds, dtypes).complete))


@kernel("MapIncompleteSize", "OrderedMapIncompleteSize", shape="-> ()", arithmetic=False)
def map_incomplete_size(ctx: KernelContext, *, bounds: Bounds, dtypes: list[DType]) -> Result:
    """Return the number of elements that lack parts."""
    return np.int32(len(_map_area(ctx, bounds, dtypes).incomplete))


@kernel(
    "MapUnstageNoKey", "OrderedMapUnstageNoKey", shape="-> (), * [dtypes]", facts=("side_effect", "blocks"), arithmetic=False
)
def map_unstage_no_key(ctx: KernelContext, indices: Array, *, bounds: Bounds, dtypes: list[DType]) -> Any:
    """Take parts of any element: its key and the parts."""
    area = _map_area(ctx, bounds, dtypes)
    with area:
        key = area.any_key()
        return np.int64(key), _declared(area.take(key, _indices(indices)), dtypes)
