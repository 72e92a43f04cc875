"""Rewriting of a dataset before a pass begins: gather options, apply the rewrites that the options ask for, check
assertions.

TensorFlow rewrites a dataset's graph; here the datasets themselves are rewritten, by the same rules and options.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Protocol

from ..codecs import wire
from ..runtime.state.run_context import check_time
from ..support import dataclasses
from ..support.errors import InvalidArgumentError
from .batches import Batch, MapAndBatch, ParallelBatch
from .dataset import Dataset, PerPass, SameElements, tree
from .filter_take_skip import Filter, ParallelFilter, Repeat, Shard, Skip, Take
from .mapping import Map, ParallelInterleave, ParallelMap
from .ordering import GlobalShuffle, Shuffle, ShuffleAndRepeat
from .run_options import AssertNext, AssertPrev, Options, Prefetch

# Rules for fusing transformations, after TensorFlow's rewrites of dataset graphs.
# The rules hold both for datasets at work and for the nodes that make datasets.

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
        """True if the function has a state or effects."""
        ...

    @property
    def has_captures(self) -> bool:
        """True if the function takes more than the element."""
        ...


class MapLike(Calling, Protocol):
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


def why_maps_stay(first: MapLike, second: MapLike) -> str:
    """Return the reason not to fuse two maps; empty where fusing is allowed."""
    if first.kind != second.kind:
        return "only one of the datasets makes parallel calls"
    if first.calls >= 0 or second.calls >= 0:
        return "the number of parallel calls is set"
    return why_calls_stay(first, second)


def finalized(dataset: Dataset) -> Dataset:
    """Return the rewritten dataset for a pass."""
    options = gathered_options(dataset)
    final = everywhere(rewritten(dataset, options), _with_own_states)
    hold_assertions(final)
    return final


def gathered_options(dataset: Dataset) -> dict[OptionName, int]:
    """Gather the options of a dataset: a later setting overrides an earlier setting."""
    check_time()  # a dataset used twice by each of many datasets is visited exponentially often
    options: dict[OptionName, int] = {}
    for source in dataset.inputs:
        options.update(gathered_options(source))
    if isinstance(dataset, Options):
        options.update(parsed_options(dataset.serialized))
    return options


def rewritten(dataset: Dataset, options: Mapping[OptionName, int]) -> Dataset:
    """Return the dataset after the rewrites in its options, in TensorFlow's order, and without its options."""
    has_defaults, tunes = bool(options.get(DEFAULTS, True)), bool(options.get(AUTOTUNE, True))
    dataset = everywhere(dataset, _without_options)
    if options.get(WARM_START, False):
        dataset = everywhere(dataset, _prefetched_before_shuffled)
    for name, is_default, rewrite in _REWRITES:
        is_on = options.get(name, is_default and has_defaults)
        if is_on and (tunes or rewrite not in _TUNED):
            dataset = everywhere(dataset, rewrite)
    if tunes and options.get(PREFETCH_INJECTED, has_defaults):
        dataset = _with_prefetch(dataset)
    return dataset


def everywhere(dataset: Dataset, rewrite: Callable[[Dataset], Dataset]) -> Dataset:
    """Rewrite a dataset and the datasets below, inputs first."""
    check_time()
    inputs = tuple([everywhere(source, rewrite) for source in dataset.inputs])
    if any(one is not other for one, other in zip(inputs, dataset.inputs)):
        dataset = dataset.with_inputs(inputs)
    return rewrite(dataset)


def _with_own_states(dataset: Dataset) -> Dataset:
    """Return the dataset with a fresh copy of its function, if the function draws random numbers."""
    if not isinstance(dataset, Map | MapAndBatch) or not isinstance(dataset.function, PerPass):
        return dataset
    other = dataset.with_inputs(dataset.inputs)
    assert isinstance(other, Map | MapAndBatch)
    other.function = dataset.function.anew()
    return other


def _without_options(dataset: Dataset) -> Dataset:
    return dataset.source if isinstance(dataset, Options) else dataset


def _prefetched_before_shuffled(dataset: Dataset) -> Dataset:
    """Replace a global shuffle above a prefetch by the same elements, as TensorFlow's warm start does.

    The prefetch begins together with the pass, and has elements ready before the shuffle can choose indices.
    """
    if not isinstance(dataset, GlobalShuffle) or not any(isinstance(item, Prefetch) for item in tree(dataset.source)):
        return dataset
    return _like(dataset, SameElements(dataset.inputs))


def _like(old: Dataset, new: Dataset) -> Dataset:
    new.spec = old.spec
    return new


def _without_noop(dataset: Dataset) -> Dataset:
    counts = isinstance(dataset, Take | Skip | Repeat | Shard) and dataset.is_noop(dataset.count)
    return dataset.source if counts or (isinstance(dataset, Map) and dataset.is_identity) else dataset


def _map_fused(dataset: Dataset) -> Dataset:
    """Fuse two maps, with TensorFlow's number of parallel calls."""
    source = dataset.source if dataset.inputs else None
    if not isinstance(dataset, Map) or not isinstance(source, Map) or why_maps_stay(source, dataset):
        return dataset
    first, second = source.function, dataset.function
    keeps_cardinality = dataset.keeps_cardinality and source.keeps_cardinality
    early = dataset.runs_early and source.runs_early
    fused = type(dataset)(source.inputs, lambda element: second(first(element)), keeps_cardinality, runs_early=early)
    return _like(dataset, fused)


def _filter_fused(dataset: Dataset) -> Dataset:
    """Fuse two stateless filters."""
    source = dataset.source if dataset.inputs else None
    if type(dataset) is not Filter or type(source) is not Filter or dataset.is_stateful or source.is_stateful:
        return dataset
    first, second = source.predicate, dataset.predicate
    early = dataset.runs_early and source.runs_early
    return _like(dataset, Filter(source.inputs, lambda element: first(element) and second(element), runs_early=early))


def _map_and_filter_fused(dataset: Dataset) -> Dataset:
    """Fuse a map and a filter: a map that computes the predicate too, a filter by the predicate, and a map that drops the
    predicate.
    """
    source = dataset.source if dataset.inputs else None
    if type(dataset) is not Filter or not isinstance(source, Map) or why_calls_stay(source, dataset):
        return dataset
    function, predicate = source.function, dataset.predicate
    fused = source.with_inputs(source.inputs)
    assert isinstance(fused, Map)

    def with_answer(element: tuple[object, ...]) -> tuple[object, ...]:
        result = function(element)
        return (*result, predicate(result))

    fused.function = with_answer
    chosen = Filter((fused,), lambda element: bool(element[-1]))
    return _like(dataset, Map((chosen,), lambda element: element[:-1], is_stateful=True))


def _map_and_batch_fused(dataset: Dataset) -> Dataset:
    """Fuse a map and a batch."""
    if not isinstance(dataset, Batch) or type(dataset) not in (Batch, ParallelBatch) or not isinstance(dataset.source, Map):
        return dataset
    source = dataset.source
    is_parallel = isinstance(source, ParallelMap) and not source.is_stateful
    arguments = (dataset.size, dataset.drops_remainder, source.function, source.keeps_cardinality)
    calls = source.calls if is_parallel or source.runs_early else 1
    return _like(dataset, MapAndBatch(source.inputs, *arguments, calls, runs_early=source.runs_early))


def _shuffle_and_repeat_fused(dataset: Dataset) -> Dataset:
    """Fuse a shuffle and a repeat."""
    if not isinstance(dataset, Repeat) or type(dataset.source) is not Shuffle or dataset.count == 0:
        return dataset
    source = dataset.source
    return _like(dataset, ShuffleAndRepeat(source.inputs, source.size, source.seeds, dataset.count))


def _in_parallel(kind: type[Dataset], parallel: type[Dataset], dataset: Dataset) -> Dataset:
    """Return a stateless dataset of a kind as the parallel kind with the same fields."""
    if type(dataset) is not kind or getattr(dataset, "is_stateful", False):
        return dataset
    arguments = {field.name: getattr(dataset, field.name) for field in dataclasses.fields(dataset) if field.init}
    return _like(dataset, parallel(**arguments))


_map_parallel = functools.partial(_in_parallel, Map, ParallelMap)
_filter_parallel = functools.partial(_in_parallel, Filter, ParallelFilter)
_batch_parallel = functools.partial(_in_parallel, Batch, ParallelBatch)

_REWRITES: Final[Sequence[tuple[OptionName, bool, Callable[[Dataset], Dataset]]]] = (
    (NOOPS, True, _without_noop),
    (SHUFFLES, True, _shuffle_and_repeat_fused),
    (FILTERS_FUSED, False, _filter_fused),
    (FILTERS, False, _map_and_filter_fused),
    (BATCHES, True, _map_and_batch_fused),
    (MAPS_PARALLEL, True, _map_parallel),
    (MAPS, False, _map_fused),
    (FILTERS_PARALLEL, False, _filter_parallel),
    (BATCHES_PARALLEL, False, _batch_parallel),
)
"""(name of the option, the option's default, the rewrite of a dataset)."""
_TUNED: Final = (_map_fused, _map_parallel, _filter_parallel, _batch_parallel)
"""Rewrites that TensorFlow makes where autotuning chooses numbers of threads."""
_ASYNCHRONOUS: Final = (Prefetch, ParallelMap, ParallelInterleave, ParallelBatch, MapAndBatch)


def _with_prefetch(dataset: Dataset) -> Dataset:
    """Append a prefetch, unless the last transformation is asynchronous already."""
    return dataset if isinstance(dataset, _ASYNCHRONOUS) else _like(dataset, Prefetch((dataset,), -1))


def hold_assertions(dataset: Dataset, following: tuple[str, ...] = ("Root",)) -> None:
    """Raise InvalidArgumentError where the transformations after a dataset break its assertion."""
    check_time()
    if isinstance(dataset, AssertNext):
        _hold(dataset.transformations, following)
    if isinstance(dataset, AssertPrev):
        _hold_previous(dataset.transformations, dataset.source)
    for source in dataset.inputs:
        hold_assertions(source, (dataset.title, *following))


def _hold(expected: Sequence[str], following: Sequence[str]) -> None:
    if len(expected) > len(following):
        raise InvalidArgumentError(f"Asserted next {len(expected)} transformations but encountered only {len(following)}.")
    for i, (name, title) in enumerate(zip(expected, following)):
        if _VERSION.sub("", name) != title:
            raise InvalidArgumentError(
                f"Asserted transformation matching {name} at offset {i} but encountered {title} transformation instead."
            )


_VERSION: Final = re.compile(r"V\d+$")


def _hold_previous(expected: Sequence[str], dataset: Dataset) -> None:
    """Check the names of the previous transformations: the dataset's op, the op of its first input, and so on."""
    for i, text in enumerate(expected):
        name = _NAME.match(text)
        if name is None or name[3].strip():
            raise InvalidArgumentError(f"cannot read the transformation {text!r} at offset {i}: only a name is understood")
        op = "" if dataset.origin is None else dataset.origin.node.op
        if _VERSION.sub("", op) != _VERSION.sub("", name[2]):
            raise InvalidArgumentError(
                f"Asserted transformation matching '{name[2]}' at offset {i} but encountered '{op}' transformation instead."
            )
        if i + 1 < len(expected) and not dataset.inputs:
            raise InvalidArgumentError(f"Asserted previous {len(expected)} transformations but encountered only {i + 1}.")
        dataset = dataset.inputs[0] if dataset.inputs else dataset


_NAME: Final = re.compile(r"""\s*name\s*:\s*(['"])(\w+)\1\s*(.*)""", re.DOTALL)
"""A NameAttrList message as text."""
