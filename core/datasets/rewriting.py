"""Rewriting of a dataset before a pass begins: gather options, apply the rewrites that the options ask for, check
assertions.

TensorFlow rewrites a dataset's graph; here the datasets themselves are rewritten, by the same rules and options.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ..runtime.state.run_context import check_time
from ..support import dataclasses
from ..support.errors import InvalidArgumentError
from . import pipeline_fusions as fusions
from .batches import Batch, MapAndBatch, ParallelBatch
from .dataset import Dataset, PerPass, SameElements, tree
from .filter_take_skip import Filter, ParallelFilter, Repeat, Shard, Skip, Take
from .mapping import Map, ParallelInterleave, ParallelMap
from .ordering import GlobalShuffle, Shuffle, ShuffleAndRepeat
from .pipeline_fusions import OptionName, PipelineFusion
from .run_options import AssertNext, AssertPrev, Options, Prefetch
from .sources import RandomNumbers


def finalized(dataset: Dataset) -> Dataset:
    """Return the rewritten dataset for a pass."""
    # Options are gathered when a pass begins and not when datasets are made, because they may come after the transformations
    # that they switch.
    options = gathered_options(dataset)
    final = everywhere(rewritten(dataset, options), _with_own_states)
    # To rewrite a dataset TensorFlow writes it as a graph, in which a dataset that two read stands twice.
    if options.get(fusions.DEFAULTS, True) or any(options.get(rewrite.option) for rewrite in _REWRITES):
        final = everywhere(final, _with_own_seeds)
    # Assertions are checked after the rewrites, because they name the result of the rewrites.
    hold_assertions(final)
    return final


def gathered_options(dataset: Dataset) -> dict[OptionName, int]:
    """Gather the options of a dataset: a later setting overrides an earlier setting."""
    check_time()  # a dataset used twice by each of many datasets is visited exponentially often
    options: dict[OptionName, int] = {}
    for source in dataset.inputs:
        options.update(gathered_options(source))
    # After the inputs: the setting that stands last in the pipeline counts.
    if isinstance(dataset, Options):
        options.update(fusions.parsed_options(dataset.serialized))
    return options


def rewritten(dataset: Dataset, options: Mapping[OptionName, int]) -> Dataset:
    """Return the dataset after the rewrites in its options, in TensorFlow's order, and without its options."""
    has_defaults, tunes = bool(options.get(fusions.DEFAULTS, True)), bool(options.get(fusions.AUTOTUNE, True))
    # Options are removed before the rewrites, because an Options between two maps would keep them apart.
    dataset = everywhere(dataset, lambda one: one.source if isinstance(one, Options) else one)
    if options.get(fusions.WARM_START, False):
        dataset = everywhere(dataset, _prefetched_before_shuffled)
    for rewrite in _REWRITES:
        is_on = options.get(rewrite.option, rewrite.is_default and has_defaults)
        if is_on and (tunes or not rewrite.is_tuned):
            dataset = everywhere(dataset, rewrite.apply)
    if tunes and options.get(fusions.PREFETCH_INJECTED, has_defaults):
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
    # The dataset is copied, because other iterators may run it, and each draws from the beginning.
    other = dataset.with_inputs(dataset.inputs)
    other.function = dataset.function.anew()
    return other


def _with_own_seeds(dataset: Dataset) -> Dataset:
    """Return the dataset with seeds that no other reader of the same dataset draws from."""
    if not isinstance(dataset, Shuffle | GlobalShuffle | RandomNumbers) or not dataset.seeds.renewed:
        return dataset
    other = dataset.with_inputs(dataset.inputs)
    other.seeds = dataset.seeds.anew()
    return other


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


def _fusing(fusion: PipelineFusion, fuse: Callable[[Any, Any], Dataset], dataset: Dataset) -> Dataset:
    """Return `fuse` of the input and the dataset if the fusion takes them, else the dataset."""
    source = dataset.source if dataset.inputs else None
    if source is None or _kind(dataset) not in fusion.kinds or _kind(source) not in fusion.sources:
        return dataset
    return dataset if fusion.blocker(source, dataset) else _like(dataset, fuse(source, dataset))


def _kind(dataset: Dataset) -> str:
    return dataset.kind.removeprefix("Finite")  # TensorFlow's word for a repeat is FiniteRepeat, the op is RepeatDataset


def _maps(source: Map, dataset: Map) -> Dataset:
    first, second = source.function, dataset.function
    keeps_cardinality = dataset.keeps_cardinality and source.keeps_cardinality
    early = dataset.runs_early and source.runs_early
    return type(dataset)(
        source.inputs, lambda element: second(first(element)), keeps_cardinality=keeps_cardinality, runs_early=early
    )


def _filters(source: Filter, dataset: Filter) -> Dataset:
    first, second = source.predicate, dataset.predicate
    early = dataset.runs_early and source.runs_early
    return Filter(source.inputs, lambda element: first(element) and second(element), runs_early=early)


def _map_and_filter(source: Map, dataset: Filter) -> Dataset:
    """Return a map that computes the predicate too, a filter by the predicate, and a map that drops the predicate."""
    function, predicate = source.function, dataset.predicate
    fused = source.with_inputs(source.inputs)
    assert isinstance(fused, Map)

    def with_answer(element: tuple[object, ...]) -> tuple[object, ...]:
        result = function(element)
        return (*result, predicate(result))

    fused.function = with_answer
    chosen = Filter((fused,), lambda element: bool(element[-1]))
    # Called stateful, this map stays a plain Map in the rewrites that follow.
    return Map((chosen,), lambda element: element[:-1], is_stateful=True)


def _map_and_batch(source: Map, dataset: Batch) -> Dataset:
    is_parallel = isinstance(source, ParallelMap) and not source.is_stateful
    return MapAndBatch(
        source.inputs,
        size=dataset.size,
        drops_remainder=dataset.drops_remainder,
        function=source.function,
        keeps_cardinality=source.keeps_cardinality,
        calls=source.calls if is_parallel or source.runs_early else 1,
        runs_early=source.runs_early,
    )


def _in_parallel(kind: type[Dataset], parallel: type[Dataset], dataset: Dataset) -> Dataset:
    """Return a stateless dataset of a kind as the parallel kind with the same fields."""
    # isinstance would also accept the parallel kinds, which are subclasses.
    if type(dataset) is not kind or getattr(dataset, "is_stateful", False):
        return dataset
    arguments = {field.name: getattr(dataset, field.name) for field in dataclasses.fields(dataset) if field.init}
    return _like(dataset, parallel(**arguments))


class _Rewrite(NamedTuple):
    """A rewrite of a dataset under an option. `is_tuned`: only if TensorFlow tunes the numbers of threads."""

    option: OptionName
    is_default: bool
    apply: Callable[[Dataset], Dataset]
    is_tuned: bool = False


def _fused(fusion: PipelineFusion, fuse: Callable[[Any, Any], Dataset], is_tuned: bool = False) -> _Rewrite:
    return _Rewrite(fusion.option, fusion.is_default, functools.partial(_fusing, fusion, fuse), is_tuned)


def _parallel(option: OptionName, is_default: bool, kind: type[Dataset], parallel: type[Dataset]) -> _Rewrite:
    return _Rewrite(option, is_default, functools.partial(_in_parallel, kind, parallel), is_tuned=True)


# The order is that of TensorFlow's rewrites, and it shows: a map that a batch has taken in makes no parallel map any more.
_REWRITES: Final = (
    _Rewrite(fusions.NOOPS, True, _without_noop),
    _fused(fusions.SHUFFLE_AND_REPEAT, lambda a, b: ShuffleAndRepeat(a.inputs, a.size, a.seeds, b.count)),
    _fused(fusions.FILTER_AND_FILTER, _filters),
    _fused(fusions.MAP_AND_FILTER, _map_and_filter),
    _fused(fusions.MAP_AND_BATCH, _map_and_batch),
    _parallel(fusions.MAPS_PARALLEL, True, Map, ParallelMap),
    _fused(fusions.MAP_AND_MAP, _maps, is_tuned=True),
    _parallel(fusions.FILTERS_PARALLEL, False, Filter, ParallelFilter),
    _parallel(fusions.BATCHES_PARALLEL, False, Batch, ParallelBatch),
)
_ASYNCHRONOUS: Final = (Prefetch, ParallelMap, ParallelInterleave, ParallelBatch, MapAndBatch)


def _with_prefetch(dataset: Dataset) -> Dataset:
    """Append a prefetch, unless the last transformation is asynchronous already."""
    # An asynchronous transformation has elements ready itself.
    return dataset if isinstance(dataset, _ASYNCHRONOUS) else _like(dataset, Prefetch((dataset,), -1))


def hold_assertions(dataset: Dataset, following: tuple[str, ...] = ("Root",)) -> None:
    """Raise InvalidArgumentError if the transformations after a dataset break its assertion."""
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
