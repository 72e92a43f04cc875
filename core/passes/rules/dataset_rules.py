"""Rewrites of input pipelines that merge or drop transformations, as in TensorFlow's dataset graph rewrites."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import ClassVar, Final

from ...datasets import pipeline_fusions as fusions
from ...graph.callers import all_nodes, callers
from ...graph.graph import Graph, Node, Output
from ...graph.purity import DEEPEST, call_depth, change_blocker, composed, handing_on, has_state, places_handed_on
from ...graph.traversal import descendants
from ...registry.op_facts import has_fact
from ...types import dtypes
from ...types.shapes import SCALAR
from ...types.tensors import FuncRef
from ..base.accuracy import Accuracy, RuleSet
from ..base.graph_pass import Pass, PassContext, become
from .rewrite import Rewriter, attrs_of

_DATASET: Final = "input_pipeline"
RULES = RuleSet()
rule = RULES.rule
_OPTIONS: Final[dict[str, fusions.OptionName]] = {"dataset-without-effect": fusions.NOOPS, "identity-map": fusions.NOOPS}
"""The pipeline option that enables each rule; `_fusion` adds its own."""


class Pipelines(Pass):
    """Make the rewrites of datasets that TensorFlow makes before an iteration begins, and TensorFlow's optional rewrites.

    Rewrites that a pipeline's options turn off are left out, and nothing is done if a node inspects transformations, not
    only elements.
    """

    name: ClassVar[str] = "pipelines"
    summary: ClassVar[str] = "fuse maps, filters, batches, shuffles and repeats of datasets, drop redundant datasets"
    follows: ClassVar[str] = "structure"
    rule_sets: ClassVar[tuple[RuleSet, ...]] = (RULES,)

    def run(self, graph: Graph, ctx: PassContext) -> None:
        datasets = [node for node in graph if has_fact(node.op, _DATASET)]
        if not datasets:
            return
        whole = ctx.shared.graph or graph
        # AssertNextDataset and the like name the transformations that must follow: they pass or fail by what this pass would
        # change.
        observer = next((node for node in all_nodes(whole) if has_fact(node.op, "observes_pipeline")), None)
        if observer is not None:
            for node in datasets:
                if _kind(node) in _REWRITTEN:
                    ctx.refuse("dataset", node, f"'{observer.name}' inspects the datasets of the pipeline")
            return
        options = _options(whole)
        by_default = bool(options.get(fusions.DEFAULTS, True))
        rules = (rule for rule in RULES.rules if options.get(_OPTIONS[rule.name], by_default))
        _Datasets(graph, ctx).apply(RuleSet(rules))


def _options(graph: Graph) -> dict[fusions.OptionName, int]:
    """Return the options of all pipelines; an option that any pipeline turns off is off."""
    options: dict[fusions.OptionName, int] = {}
    for node in all_nodes(graph):
        if has_fact(node.op, _DATASET) and "serialized_options" in node.attrs:
            for name, value in fusions.parsed_options(node.attrs["serialized_options"]):
                # One pass rewrites all pipelines of the graph, so the most careful of them decides.
                options[name] = min(value, options.get(name, value))
    return options


class _Datasets(Rewriter):
    """A rewriter that adds no control inputs for a dropped dataset: without an iteration, a dataset has no effects."""

    def _keep_effects(self, node: Node, before: object, value: Output) -> None:
        return None


def _kind(node: Node) -> str:
    """Return the transformation without the op's version: Map, Shuffle."""
    return re.sub(r"Dataset(V[0-9]+)?$", "", node.op)


_COUNTED: Final = ("Take", "Skip", "Repeat", "Shard", "Prefetch")
_BATCH: Final = "Batch"
_MAP_KINDS: Final = ("Map", "ParallelMap")
_REWRITTEN: Final = (*_COUNTED, *_MAP_KINDS, "Filter", _BATCH, "Shuffle")


class _Transformation:
    """A node with the properties that the fusions of `pipeline_fusions` ask for, computed when asked for."""

    def __init__(self, r: Rewriter, node: Node) -> None:
        self._r = r
        self._node = node
        self.kind = _kind(node)
        self.has_captures = bool(node.attr("Targuments"))

    @property
    def is_stateful(self) -> bool:
        has_own = bool(self._node.attr("force_synchronous", False))
        return has_own or has_state(self._r.graph, _function(self._node).name)

    @property
    def calls(self) -> int:
        calls = _number(self._r, self._node.inputs[-1]) if self.kind == "ParallelMap" else -1
        return 0 if calls is None else calls  # an unknown number counts as set

    @property
    def count(self) -> int | None:
        return _number(self._r, self._node.inputs[1])


def _number(r: Rewriter, value: Output) -> int | None:
    """Return the only number of a constant."""
    array = r.constant_value(value)
    return int(array.flat[0]) if array is not None and array.size == 1 else None


def _function(node: Node) -> FuncRef:
    reference: FuncRef = node.attr("predicate" if _kind(node) == "Filter" else "f")
    return reference


def _source(r: Rewriter, node: Node, *kinds: str) -> Node | None:
    """Return the input dataset of a node, if the dataset has a kind of `kinds` and no other reader."""
    source = node.inputs[0].node
    if not has_fact(source.op, _DATASET) or _kind(source) not in kinds:
        return None
    if not r.is_free(source):
        r.refuse("other nodes also use the dataset before it, or it has control inputs")
        return None
    return source


def _composition_blocker(r: Rewriter, source: Node, node: Node) -> str:
    """Return what about two nodes, besides their effects, forbids composing their functions; empty if nothing does."""
    missing = next((f.name for f in map(_function, (source, node)) if f.name not in r.graph.functions), None)
    if missing is not None:
        return f"function '{missing}' is not in the library"
    first, second = (r.graph.functions[_function(one).name] for one in (source, node))
    reason = change_blocker(r.graph, first) or change_blocker(r.graph, second)
    if reason is None and [value.base_dtype for value in first.results] != [arg.attr("T") for arg in second.args]:
        reason = "the second function takes other values than the first function returns"
    if reason is None and max(call_depth(r.graph, f, DEEPEST) for f in (first, second)) >= DEEPEST:
        reason = f"calls of the function would nest more than {DEEPEST} deep"
    return reason or ""


def _take_place(r: Rewriter, node: Node, source: Node) -> None:
    """Drop a dataset whose work another dataset does now."""
    r.graph.remove_node(source)
    r.ctx.fire("fused", source, f"part of {node.name}")


@rule(
    fact=_DATASET,
    algebra="take(d, -1), skip(d, 0), repeat(d, 1), shard(d, 1, 0), prefetch(d, 0) -> d",
    accuracy=Accuracy.EXACT,
)
def dataset_without_effect(r: Rewriter, node: Node) -> Output | None:
    kind = _kind(node)
    if kind not in _COUNTED:
        return None
    from ...datasets import filter_take_skip, run_options  # lazy: few graphs have a pipeline

    counted = getattr(filter_take_skip, kind, None) or getattr(run_options, kind)
    count = _number(r, node.inputs[1])
    is_noop = count is not None and counted.is_noop(count)
    return node.inputs[0] if is_noop and not node.attr("require_non_empty", False) else None


@rule(fact=_DATASET, algebra="map(d, x -> x) -> d", accuracy=Accuracy.EXACT)
def identity_map(r: Rewriter, node: Node) -> Output | None:
    if _kind(node) not in _MAP_KINDS or node.attr("Targuments"):
        return None
    function = r.graph.functions.get(_function(node).name)
    is_identity = function is not None and places_handed_on(function) == list(range(len(function.args)))
    return node.inputs[0] if is_identity else None


_Fuse = Callable[[Rewriter, Node, Node], Output]


def _fusion(
    fusion: fusions.PipelineFusion,
    blocker: Callable[[Rewriter, Node, Node], str],
    *,
    algebra: str,
    kinds: tuple[str, ...] = (),
    pays: Callable[[Rewriter, Node], bool] = lambda r, node: True,
) -> Callable[[_Fuse], _Fuse]:
    """Register a function that fuses a node with its input, and returns the result.

    `blocker` returns reasons of nodes besides those of datasets. `kinds` restrict the fusion's kinds. Where the fusion does
    not pay, nothing is reported.
    """

    def register(fuse: _Fuse) -> _Fuse:
        @functools.wraps(fuse)
        def function(r: Rewriter, node: Node) -> Output | str | None:
            if _kind(node) not in (kinds or fusion.kinds) or (source := _source(r, node, *fusion.sources)) is None:
                return None
            if not pays(r, node):
                return None
            reason = blocker(r, source, node) or fusion.blocker(_Transformation(r, source), _Transformation(r, node))
            if reason:
                return reason
            return fuse(r, source, node)

        _OPTIONS[fuse.__name__.replace("_", "-")] = fusion.option
        rule(fact=_DATASET, algebra=algebra, accuracy=Accuracy.EXACT)(function)
        return fuse

    return register


def _shuffle_blocker(r: Rewriter, shuffle: Node, repeat: Node) -> str:
    """Return what forbids fusing a shuffle and a repeat, besides an unknown number of passes; empty if nothing does."""
    if repeat.control_inputs:
        return "the repeat has control inputs"
    for value in shuffle.inputs:
        users = [user for user in value.node.uses if user.output_dtypes]
        if value.dtype is dtypes.resource and (value.node.is_argument or len(users) > 1):
            return "other nodes may draw from its seed generator"
    return ""


@_fusion(fusions.SHUFFLE_AND_REPEAT, _shuffle_blocker, algebra="repeat(shuffle(d, n), k) -> shuffle_and_repeat(d, n, k)")
def shuffle_and_repeat(r: Rewriter, source: Node, node: Node) -> Output:
    count, private = node.inputs[1], {k: v for k, v in node.attrs.items() if k in ("output_types", "output_shapes")}
    private["reshuffle_each_iteration"] = source.attr("reshuffle_each_iteration", True)
    generator = [value for value in source.inputs if value.dtype is dtypes.resource]
    # A shuffle by a generator has no seeds, but the fused op takes both.
    seeds = source.inputs[2:4] if len(source.inputs) > 3 else [r.constant_of(0, dtypes.int64) for _ in range(2)]
    op = f"ShuffleAndRepeatDataset{'V2' if generator else ''}"
    # The shuffle keeps the name: the session's seeds are keyed by names.
    become(r.graph, source, op, [*source.inputs[:2], *seeds, count, *generator], private)
    return source.output()


def _calls(r: Rewriter, node: Node) -> bool:
    """Return True unless the function only hands on arguments: the call of such a function costs nothing."""
    function = r.graph.functions.get(_function(node).name)
    return function is None or places_handed_on(function) is None


@_fusion(
    fusions.MAP_AND_FILTER,
    _composition_blocker,
    algebra="filter(map(d, f), p) -> map(filter(map(d, x -> (f(x), p(f(x)))), last), all but last)",
    pays=_calls,  # the filter that the fusion makes has such a function: without this test it would be fused again
)
def map_and_filter(r: Rewriter, source: Node, node: Node) -> Output:
    types, shapes = list(node.attr("output_types")), list(node.attr("output_shapes"))
    wide = {"output_types": [*types, dtypes.bool_], "output_shapes": [*shapes, SCALAR]}
    both = composed(r.graph, _function(source), _function(node), keeps_first=True)
    # The map computes the element and the predicate's answer in one call; the filter then reads the answer, and a map without
    # work drops it.
    mapped = r.add(source.op, *_arguments(source), **{**attrs_of(source), **wide, "f": both})
    last = handing_on(r.graph, f"{_function(node).name}_last", wide["output_types"], [len(types)])
    rest = handing_on(r.graph, f"{_function(node).name}_rest", wide["output_types"], range(len(types)))
    filtered = r.add(node.op, mapped, [], **{**attrs_of(node), **wide, "predicate": last})
    cut = {"output_types": types, "output_shapes": shapes, "f": rest, "Targuments": [], "preserve_cardinality": True}
    become(r.graph, node, "MapDataset", [filtered], cut)
    _take_place(r, node, source)
    return node.output()


def _arguments(node: Node) -> Iterator[object]:
    """Yield the inputs of a map without captures, as arguments for a new map."""
    yield from (node.inputs[0], [], *node.inputs[1:])


def _map_and_batch_blocker(r: Rewriter, source: Node, batch: Node) -> str:
    """Return the reason not to fuse map and batch. TensorFlow fuses them anyway in a pipeline that an iterator runs, where
    elements that fail take their batch along.
    """
    if _function(source).name not in r.graph.functions:
        return "the map's function is not in the library"
    if _Transformation(r, source).is_stateful:
        return "the map's function has state or effects"
    whole, name = r.ctx.shared.graph or r.graph, r.ctx.function
    calling = [whole.get(caller) for caller in callers(whole, name)] if name else []
    # A dataset op with a resource makes an iterator.
    if all(node and has_fact(node.op, _DATASET) and list(node.output_dtypes) == [dtypes.resource] for node in calling):
        return ""
    returned = any(node.name in r.ctx.fetches for node in (batch, *descendants([batch])))
    return "a function returns the dataset, but TensorFlow fuses only datasets of iterators" if returned else ""


@_fusion(
    fusions.MAP_AND_BATCH,
    _map_and_batch_blocker,
    kinds=(_BATCH,),  # the inputs of a ParallelBatchDataset stand in another order
    algebra="batch(map(d, f), n) -> map_and_batch(d, f, n)",
)
def map_and_batch(r: Rewriter, source: Node, node: Node) -> Output:
    is_parallel = _kind(source) == "ParallelMap"
    calls = source.inputs[-1] if is_parallel else r.constant_of(1, dtypes.int64)
    # The first version of ParallelMapDataset counts its calls in int32.
    if calls.dtype is not dtypes.int64:
        calls = r.Cast(calls, DstT=dtypes.int64)
    drops = node.inputs[2] if len(node.inputs) > 2 else r.constant_of(False, dtypes.bool_)
    taken = source.inputs[:-1] if is_parallel else source.inputs
    names = ("f", "Targuments", "preserve_cardinality")
    attrs = {**{k: node.attr(k) for k in ("output_types", "output_shapes")}, **{k: source.attr(k) for k in names}}
    become(r.graph, node, "MapAndBatchDataset", [*taken, node.inputs[1], calls, drops], attrs)
    _take_place(r, node, source)
    return node.output()


def _maps_blocker(r: Rewriter, source: Node, node: Node) -> str:
    reason = _composition_blocker(r, source, node)
    if not reason and source.attr("preserve_cardinality") != node.attr("preserve_cardinality"):
        reason = "only one of the two may end the dataset"
    if not reason and source.op != node.op and _kind(source) == _kind(node):
        reason = f"one is {source.op}, the other {node.op}"
    return reason


@_fusion(fusions.MAP_AND_MAP, _maps_blocker, algebra="map(map(d, f), g) -> map(d, x -> g(f(x)))")
def map_and_map(r: Rewriter, source: Node, node: Node) -> Output:
    both = composed(r.graph, _function(source), _function(node))
    inputs = [source.inputs[0], *node.inputs[1:]]
    become(r.graph, node, node.op, inputs, {**attrs_of(node), "f": both})
    _take_place(r, node, source)
    return node.output()
