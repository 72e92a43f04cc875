"""Which transformations of a pipeline TensorFlow fuses under which options, for datasets at work and for nodes of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, TypeAlias

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


Transformation: TypeAlias = Any
"""A dataset, or a view of a node that makes one, with the properties that its fusions ask for: `kind`, TensorFlow's word;
`is_stateful` for a function with a state or effects; `has_captures` for a function of more than the element; `calls`, how many
are made at a time, -1 if that is left open; `count`, the number of passes, negative without end, None if unknown.
"""


def _why_calls_stay(first: Transformation, second: Transformation) -> str:
    """Return the reason not to fuse the functions of two transformations; empty if fusing is allowed."""
    if first.is_stateful or second.is_stateful:
        return "one of the functions has state or effects"
    return "one of the functions takes more than the element" if first.has_captures or second.has_captures else ""


def _why_maps_stay(first: Transformation, second: Transformation) -> str:
    if first.kind != second.kind:
        return "only one of the datasets makes parallel calls"
    if first.calls >= 0 or second.calls >= 0:
        return "the number of parallel calls is set"
    return _why_calls_stay(first, second)


def _why_repeat_stays(shuffle: Transformation, repeat: Transformation) -> str:
    # TensorFlow's fused op refuses a count of 0.
    return "" if repeat.count else "the number of passes may be 0"


class PipelineFusion(NamedTuple):
    """A rewrite of a transformation together with its input, of datasets and of nodes alike.

    `kinds` are TensorFlow's words for the transformation, `sources` those for its input; `blocker` takes the input and the
    transformation, and returns the reason not to fuse them.
    """

    option: OptionName
    is_default: bool
    sources: tuple[str, ...]
    kinds: tuple[str, ...]
    blocker: Callable[[Transformation, Transformation], str]


# Which transformations fuse is decided here, for datasets at work (`rewriting`) and for the nodes of a file
# (`passes/rules/dataset_rules`); each of the two only builds the result. Nodes alone would not do: a dataset draws its seeds
# and reads its captured values when it is made, so datasets made again from rewritten nodes would shuffle otherwise.
_MAP_KINDS: Final = ("Map", "ParallelMap")
SHUFFLE_AND_REPEAT: Final = PipelineFusion(SHUFFLES, True, ("Shuffle",), ("Repeat",), _why_repeat_stays)
FILTER_AND_FILTER: Final = PipelineFusion(
    FILTERS_FUSED, False, ("Filter",), ("Filter",), lambda a, b: "stateful" if a.is_stateful or b.is_stateful else ""
)
MAP_AND_FILTER: Final = PipelineFusion(FILTERS, False, _MAP_KINDS, ("Filter",), _why_calls_stay)
MAP_AND_BATCH: Final = PipelineFusion(BATCHES, True, _MAP_KINDS, ("Batch", "ParallelBatch"), lambda a, b: "")
MAP_AND_MAP: Final = PipelineFusion(MAPS, False, _MAP_KINDS, _MAP_KINDS, _why_maps_stay)
