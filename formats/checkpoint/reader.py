"""Checkpoints of both versions behind a single reader."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ...core.graph.nearest_tensors import kind_words
from ...core.support import dataclasses
from ...core.support.errors import DataLossError, InvalidArgumentError, NotFoundError
from ...core.types.arrays import Array
from ...core.types.dtypes import DType
from ...core.types.shapes import Shape
from ...core.types.tensors import Tensor
from .tensor_slices import Extents, SliceSpec, format_extents, parse_spec, resolve

Kind = tuple[DType, tuple[int, ...]]
"""The dtype and the shape of a tensor."""


class StoredTensor:
    """A tensor of a checkpoint: `parts` are the stored slices, a single part for a whole tensor."""

    __slots__ = ("_find_parts", "dtype", "name", "shape")

    def __init__(
        self, name: str, dtype: DType, shape: tuple[int, ...], find_parts: Callable[[], tuple[StoredPart, ...]]
    ) -> None:
        self.name, self.dtype, self.shape, self._find_parts = name, dtype, shape, find_parts

    @property
    def parts(self) -> tuple[StoredPart, ...]:
        return self._find_parts()


@dataclasses.dataclass(frozen=True, slots=True)
class StoredPart:
    """A stored slice, and a function that reads the slice. `check` raises errors that can be detected without reading."""

    extents: Extents
    read: Callable[[], Array]
    check: Callable[[], None]


class CheckpointReader:
    """A checkpoint open for reading: names, dtypes and shapes at once, values at first use."""

    def __init__(
        self, prefix: str, version: int, tensors: Mapping[str, StoredTensor], kinds: Callable[[], Mapping[str, Kind]]
    ) -> None:
        self.prefix, self.version, self._tensors, self._kinds = prefix, version, tensors, kinds

    def __contains__(self, name: object) -> bool:
        return name in self._tensors

    def __len__(self) -> int:
        return len(self._tensors)

    def names(self) -> list[str]:
        """Return the names of all tensors, in alphabetical order."""
        return sorted(self._tensors)

    def tensors(self) -> list[StoredTensor]:
        """Return the descriptions of all tensors, in the order of `names`."""
        return list(map(self._tensors.__getitem__, self.names()))

    def kinds(self) -> dict[str, Kind]:
        """Return dtype and shape of each tensor, in the order of `names`."""
        kinds = self._kinds()
        return {name: kinds[name] for name in sorted(kinds)}

    def tensor(self, name: str) -> StoredTensor:
        """Return the description of a tensor; NotFoundError names the nearest names."""
        tensor = self._tensors.get(name)
        if tensor is None:
            raise NotFoundError(f"Key {name} not found in checkpoint '{self.prefix}'", hint=self._nearest(name))
        return tensor

    def dtype(self, name: str) -> DType:
        """Return the dtype of a tensor."""
        return self.tensor(name).dtype

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the full shape of a tensor."""
        return self.tensor(name).shape

    def read(self, name: str, spec: str = "") -> Array:
        """Read a tensor, or the slice that `spec`, for example `10 4 0,5:-`, means.

        NotFoundError for an unknown name, InvalidArgumentError for a slice that does not fit or is not stored,
        DataLossError for damage.
        """
        tensor = self.tensor(name)
        return _assemble(tensor, tensor.parts, self._requested(tensor, spec))

    def deferred(self, name: str, spec: str = "") -> Tensor:
        """Return a tensor as `read`, with elements read at first use; only damage of elements is detected that late."""
        tensor = self.tensor(name)
        requested, parts = self._requested(tensor, spec), tensor.parts
        for part, *_ in _needed(tensor, parts, requested):
            part.check()
        return Tensor(tensor.dtype, requested.shape, lambda: _assemble(tensor, parts, requested))

    def _requested(self, tensor: StoredTensor, spec: str) -> SliceSpec:
        requested = parse_spec(spec)
        if requested is None:
            requested = SliceSpec(tensor.shape, ((0, -1),) * len(tensor.shape))
        if requested.full_shape != tensor.shape:
            raise InvalidArgumentError(
                f"tensor '{tensor.name}' has shape {list(tensor.shape)} in checkpoint '{self.prefix}', but the slice "
                f"is of shape {list(requested.full_shape)}"
            )
        return requested

    def _nearest(self, name: str) -> str | None:
        # Here, as most reads find their tensor.
        import difflib

        close = difflib.get_close_matches(name, self._tensors, n=3, cutoff=0.5)
        return f"nearest names: {', '.join(f'{other} {self._words(other)}' for other in close)}" if close else None

    def _words(self, name: str) -> str:
        return kind_words((self._tensors[name].dtype, Shape(self._tensors[name].shape)))


_Piece = tuple["StoredPart", tuple[slice, ...], tuple[slice, ...]]
"""A part, the wanted range inside the part, and the range's place in the wanted slice."""


def _needed(tensor: StoredTensor, parts: Sequence[StoredPart], requested: SliceSpec) -> list[_Piece]:
    """Return the pieces of the wanted slice; InvalidArgumentError if the parts do not cover the slice."""
    everything = tuple(slice(0, length) for _, length in requested.bounds)
    for part in parts:
        # A variable is mostly restored in the partitions in which it was saved: the part is the result, and nothing is
        # copied.
        if resolve(part.extents, tensor.shape) == requested.bounds:
            return [(part, everything, everything)]
    # A single part without lengths covers the whole tensor.
    if len(parts) == 1 and all(length < 0 for _, length in parts[0].extents):
        return [(parts[0], requested.index, everything)]
    overlaps = [(part, _overlap(resolve(part.extents, tensor.shape), requested.bounds)) for part in parts]
    pieces = [(part, *overlap) for part, overlap in overlaps if overlap is not None]
    # Slices of a valid checkpoint do not overlap, so their sizes tell whether a gap is left, without a mask of the elements.
    covered = sum(math.prod(piece.stop - piece.start for piece in target) for _, _, target in pieces)
    if covered < math.prod(requested.shape):
        place = format_extents(requested.extents)
        raise InvalidArgumentError(f"the stored slices of tensor '{tensor.name}' do not cover slice {place} of it")
    return pieces


def _assemble(tensor: StoredTensor, parts: Sequence[StoredPart], requested: SliceSpec) -> Array:
    """Assemble the wanted slice from the parts that overlap the slice."""
    # All parts are read before room is made for them.
    pieces = [(_read_part(tensor, part), source, target) for part, source, target in _needed(tensor, parts, requested)]
    if len(pieces) == 1:
        array, source, _ = pieces[0]
        return array if array.shape == requested.shape else array[source]
    result = np.zeros(requested.shape, tensor.dtype.numpy)  # slices that overlap may leave gaps
    for array, source, target in pieces:
        result[target] = array[source]
    return result


def _read_part(tensor: StoredTensor, part: StoredPart) -> Array:
    """Read a stored slice; DataLossError if its own entry has another shape or dtype than the tensor's description."""
    array, shape = part.read(), SliceSpec(tensor.shape, part.extents).shape
    # A slice of a V2 checkpoint has an entry of its own, which a hostile file may fill with another shape.
    if array.shape != shape or array.dtype != tensor.dtype.numpy:
        raise DataLossError(
            f"slice {format_extents(part.extents)} of tensor '{tensor.name}' has {array.dtype} and shape "
            f"{list(array.shape)}, but the index says {tensor.dtype} of shape {list(shape)}"
        )
    return array


def _overlap(stored: Extents, requested: Extents) -> tuple[tuple[slice, ...], tuple[slice, ...]] | None:
    """Return the overlap's range in the stored slice, and the overlap's range in the wanted slice; None without overlap."""
    source, target = [], []
    for (a, a_size), (b, b_size) in zip(stored, requested):
        start, stop = max(a, b), min(a + a_size, b + b_size)
        if start >= stop:
            return None
        source.append(slice(start - a, stop - a))
        target.append(slice(start - b, stop - b))
    return tuple(source), tuple(target)


def check_disjoint(name: str, shape: Sequence[int], parts: Sequence[Extents]) -> None:
    """Raise InvalidArgumentError if two slices of a tensor overlap."""
    bounds = [resolve(extents, shape) for extents in parts]
    for i, extents in enumerate(bounds):
        for other in bounds[:i]:
            if _overlap(extents, other) is not None:
                raise InvalidArgumentError(f"two slices of tensor '{name}' overlap")
