"""Rules for fusing transformations, after TensorFlow's rewrites of dataset graphs.

The rules hold both for datasets at work and for the nodes that make datasets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol

from ..codecs import wire

OptionName = tuple[int, ...]
"""The numbers of the fields that lead to an option."""

# The fields of tf.data's Options (dataset_options.proto), by the names of the rewrites that they switch.
DEFAULTS: Final = (3, 1)
FILTERS_FUSED: Final = (3, 6)
BATCHES: Final = (3, 9)
"""Fusion of a map and a batch."""
FILTERS: Final = (3, 10)
"""Fusion of a map and a filter."""
MAPS: Final = (3, 11)
"""Fusion of two maps."""
MAPS_PARALLEL: Final = (3, 12)
NOOPS: Final = (3, 14)
"""Dropping of transformations without effect."""
BATCHES_PARALLEL: Final = (3, 15)
SHUFFLES: Final = (3, 17)
"""Fusion of a shuffle and a repeat."""
FILTERS_PARALLEL: Final = (3, 18)
PREFETCH_INJECTED: Final = (3, 19)
AUTOTUNE: Final = (7, 1)
WARM_START: Final = (9,)
_MESSAGES: Final = (2, 3, 5, 7, 12)


def parsed_options(serialized: bytes, path: OptionName = ()) -> Iterator[tuple[OptionName, int]]:
    """Yield the options in an Options message that are numbers."""
    for field in wire.fields(serialized):
        name = (*path, field.number)
        if field.wire_type == wire.LENGTH_DELIMITED:
            if not path and field.number in _MESSAGES:
                yield from parsed_options(field.payload, name)
        elif field.wire_type == wire.VARINT:
            yield name, wire.repeated_integers([field])[-1]


class Calling(Protocol):
    """A transformation that calls a function of the graph for each element."""

    @property
    def kind(self) -> str:
        """TensorFlow's word for the transformation."""
        ...

    @property
    def is_stateful(self) -> bool:
        """True where the function has a state or effects."""
        ...

    @property
    def has_captures(self) -> bool:
        """True where the function takes more than the element."""
        ...


class Mapping(Calling, Protocol):
    """A map."""

    @property
    def calls(self) -> int:
        """How many calls are made at a time, -1 where that is left open."""
        ...


def why_calls_stay(first: Calling, second: Calling) -> str:
    """Return the reason not to fuse the functions of two transformations; empty where fusing is allowed."""
    if first.is_stateful or second.is_stateful:
        return "one of the functions has state or effects"
    return "one of the functions takes more than the element" if first.has_captures or second.has_captures else ""


def why_maps_stay(first: Mapping, second: Mapping) -> str:
    """Return the reason not to fuse two maps; empty where fusing is allowed."""
    if first.kind != second.kind:
        return "only one of the datasets makes parallel calls"
    if first.calls >= 0 or second.calls >= 0:
        return "the number of parallel calls is set"
    return why_calls_stay(first, second)
