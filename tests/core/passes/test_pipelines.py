"""Transformations of input pipelines are fused and dropped, and the elements stay."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from benchmarks import growth
from tests.drawn_pipelines import elements, pipelines
from tests.pipelines import NO_REWRITES, NUMBER, function, int64, numbers, text
from tfg.core.building.builder import GraphBuilder
from tfg.core.graph.purity import DEEPEST, call_depth
from tfg.core.passes.pipeline import optimize
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import InvalidArgumentError, OutOfRangeError
from tfg.formats.loading import load

VECTOR = {"output_types": ["int64"], "output_shapes": [(None,)]}


def all_elements(graph):
    return elements(Session(graph, seed=3).run, OutOfRangeError, InvalidArgumentError)


def optimized(make, spec=NUMBER, passes=None):
    """The datasets' ops behind the optimized iterator, from the source on, and the report; elements are the same."""
    g = GraphBuilder()
    data = make(g)
    iterator = g.IteratorV2(shared_name="", container="", **spec)
    g.MakeIterator(data, iterator, name="start")
    g.IteratorGetNext(iterator, name="next", **spec)
    after, report = optimize(g.graph, ["start", "next:0"], passes=passes)
    assert all_elements(after) == all_elements(g.graph)
    return chain(after.node("start").inputs[0].node), report, after


def chain(node):
    before = chain(node.inputs[0].node) if node.inputs and node.inputs[0].dtype.name == "variant" else []
    return [*before, node.op]


def reasons(report):
    return {refusal.reason for record in report.passes for refusal in record.refused}


def times(g, data, factor, op="MapDataset", calls=(), **attrs):
    name = function(g, f"times{factor}", ["int64"], lambda b, x: [b.Mul(x, int64(factor))])
    return getattr(g, op)(data, [], *calls, f=name, Targuments=[], **attrs, **NUMBER)


def odd(g, data):
    name = function(g, "odd", ["int64"], lambda b, x: [b.Equal(b.FloorMod(x, int64(2)), int64(1))])
    return g.FilterDataset(data, [], predicate=name, Targuments=[], **NUMBER)


def test_maps_become_one_whose_function_is_inlined():
    ops, _, after = optimized(lambda g: times(g, times(g, times(g, numbers(g, 5), 2), 3), 5))
    assert ops == ["RangeDataset", "MapDataset"]
    assert [sorted(n.op for n in f.body) for f in after.functions.values()] == [["Const", "Mul", "_Arg"]]


def test_a_map_and_a_filter_call_one_function():
    ops, _, after = optimized(lambda g: odd(g, times(g, numbers(g, 9), 3)))
    assert ops == ["RangeDataset", "MapDataset", "FilterDataset", "MapDataset"]
    computing = [f for f in after.functions.values() if any(not n.is_argument for n in f.body)]
    assert len(computing) == 1


@pytest.mark.parametrize("op, calls", [
    ("MapDataset", []), ("ParallelMapDataset", [np.int32(2)]), ("ParallelMapDatasetV2", [int64(2)]),
])  # fmt: skip
@pytest.mark.parametrize("batch", ["BatchDataset", "BatchDatasetV2"])
def test_a_map_and_its_batches_become_one(op, calls, batch):
    drops = [np.array(True)] if batch.endswith("V2") else []
    make = lambda g: getattr(g, batch)(times(g, numbers(g, 8), 3, op, calls), int64(3), *drops, **VECTOR)  # noqa: E731
    ops, _, after = optimized(make, VECTOR)
    assert ops == ["RangeDataset", "MapAndBatchDataset"]
    assert [node.op for node in after.node("start").inputs[0].node.inputs[2].node.inputs] == []


@pytest.mark.parametrize("op", ["ShuffleDataset", "ShuffleDatasetV2", "ShuffleDatasetV3"])
@pytest.mark.parametrize("count", [1, 3])
def test_a_shuffle_and_its_passes_become_one(op, count):
    def make(g):
        seeds = [int64(3), int64(4)]
        data, size = numbers(g, 9), int64(4)
        if op == "ShuffleDatasetV2":
            data = g.ShuffleDatasetV2(data, size, g.AnonymousSeedGenerator(*seeds, np.array(True))[0], **NUMBER)
        else:
            handle = [g.DummySeedGenerator()] if op.endswith("V3") else []
            data = getattr(g, op)(data, size, *seeds, *handle, reshuffle_each_iteration=True, **NUMBER)
        return g.RepeatDataset(data, int64(count), **NUMBER)

    fused = "ShuffleAndRepeatDataset" + ("" if op == "ShuffleDataset" else "V2")
    assert optimized(make)[0] == ["RangeDataset", op if count == 1 else fused]


@pytest.mark.parametrize("op, arguments", [
    ("TakeDataset", [-1]), ("SkipDataset", [0]), ("RepeatDataset", [1]), ("ShardDataset", [1, 0]), ("PrefetchDataset", [0]),
])  # fmt: skip
def test_what_changes_nothing_goes(op, arguments):
    ops, report, _ = optimized(lambda g: getattr(g, op)(numbers(g, 4), *map(int64, arguments), name="gone", **NUMBER))
    assert ops == ["RangeDataset"]
    assert "replaced by RangeDataset" in report.fates["gone"]


def test_a_map_that_hands_elements_on_goes():
    def make(g):
        same = function(g, "same", ["int64"], lambda b, x: [b.Identity(x)])
        return g.MapDataset(numbers(g, 4), [], f=same, Targuments=[], **NUMBER)

    assert optimized(make)[0] == ["RangeDataset"]


def test_datasets_of_functions_are_rewritten_too():
    g = GraphBuilder()
    factory = function(g, "factory", [], lambda b: [odd(b, times(b, times(b, numbers(b, 9), 2), 3))])
    iterator = g.OneShotIterator(dataset_factory=factory, shared_name="", container="", **NUMBER)
    g.IteratorGetNext(iterator, name="next", **NUMBER)
    after, _ = optimize(g.graph, ["next:0"])
    assert [node.op for node in after.functions["factory"].body].count("MapDataset") == 2


def random_map(g, data):
    def draw(b, x):
        return [b.AddV2(x, b.RandomUniformInt(np.int32([]), int64(0), int64(9), seed=1, seed2=2))]

    name = function(g, "draw", ["int64"], draw, stateful=True)
    return g.MapDataset(data, [], f=name, Targuments=[], **NUMBER)


def captured(g, data):
    name = function(g, "plus", ["int64", "int64"], lambda b, x, y: [b.AddV2(x, y)])
    return g.MapDataset(data, [g.constant(int64(5))], f=name, Targuments=["int64"], **NUMBER)


def shared_generator(g, data):
    handle = g.AnonymousSeedGenerator(int64(3), int64(4), np.array(True))[0]
    for _ in range(2):
        data = g.ShuffleDatasetV3(data, int64(3), int64(0), int64(0), handle, **NUMBER)
    return g.RepeatDataset(data, int64(2), **NUMBER)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("make, reason", [
    (lambda g, data: times(g, random_map(g, data), 2), "one of the functions has state or effects"),
    (lambda g, data: odd(g, random_map(g, data)), "one of the functions has state or effects"),
    (lambda g, data: times(g, captured(g, data), 2), "one of the functions takes more than the element"),
    (lambda g, data: times(g, times(g, data, 2, preserve_cardinality=True), 3), "only one of the two may end the dataset"),
    (lambda g, data: times(g, times(g, data, 2), 3, "ParallelMapDatasetV2", [int64(-1)]),
     "only one of the datasets makes parallel calls"),
    (lambda g, data: times(g, times(g, data, 2, "ParallelMapDatasetV2", [int64(2)]), 3, "ParallelMapDatasetV2", [int64(-1)]),
     "the number of parallel calls is set"),
    (shared_generator, "other nodes may draw from its seed generator"),
    (lambda g, data: g.RepeatDataset(g.ShuffleDataset(data, int64(2), int64(1), int64(2), **NUMBER), int64(0), **NUMBER),
     "the number of passes may be 0"),
    (lambda g, data: g.ConcatenateDataset(one := times(g, data, 2), times(g, one, 3), **NUMBER),
     "other nodes also use the dataset before it, or it has control inputs"),
    (lambda g, data: g.AssertNextDataset(times(g, times(g, data, 2), 3), np.array([], object), **NUMBER),
     "'AssertNextDataset' inspects the datasets of the pipeline"),
])  # fmt: skip
def test_what_stays_says_why(make, reason):
    _, report, _ = optimized(lambda g: make(g, numbers(g, 6)))
    assert reason in reasons(report)


def test_options_are_kept_to():
    def make(g):
        return g.OptionsDataset(times(g, times(g, numbers(g, 4), 2), 3), serialized_options=NO_REWRITES, **NUMBER)

    assert optimized(make)[0] == ["RangeDataset", "MapDataset", "MapDataset", "OptionsDataset"]


def test_a_dataset_that_a_function_returns_keeps_its_batches():
    """No iterator reads the dataset directly, so TensorFlow does not fuse: a failed element must not take others along."""

    def make(g):
        inner = function(g, "inner", ["int64"], lambda b, x: [
            b.BatchDatasetV2(times(b, numbers(b, 5), 2), int64(2), np.array(False), **VECTOR)
        ])  # fmt: skip
        return g.FlatMapDataset(numbers(g, 2), [], f=inner, Targuments=[], **VECTOR)

    _, report, after = optimized(make, VECTOR)
    assert "BatchDatasetV2" in [node.op for node in after.functions["inner"].body]
    assert "a function returns the dataset, but TensorFlow fuses only datasets of iterators" in reasons(report)


def test_states_of_iterators_keep_their_datasets():
    g = GraphBuilder()
    iterator = g.IteratorV2(shared_name="", container="", **NUMBER)
    g.MakeIterator(times(g, times(g, numbers(g, 4), 2), 3), iterator, name="start")
    g.SerializeIterator(iterator, name="keep")
    after, report = optimize(g.graph, ["start", "keep:0"])
    assert chain(after.node("start").inputs[0].node) == ["RangeDataset", "MapDataset", "MapDataset"]
    assert "'keep' inspects the datasets of the pipeline" in reasons(report)


def test_files_of_caches_are_no_obstacle():
    assert optimized(lambda g: times(g, g.CacheDataset(numbers(g, 3), text(""), **NUMBER), 2))[0][-1] == "MapDataset"


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(pipelines())
@pytest.mark.slow
def test_drawn_pipelines_give_the_same_elements(graph):
    after, _ = optimize(graph, ["start", "next:0"])
    assert all_elements(after) == all_elements(graph)


def test_a_map_that_hands_on_and_counts_stays():
    def make(g):
        def counting(b, x):
            b.Print(x, [])
            return [x]

        name = function(g, "counting", ["int64"], counting, stateful=True)
        return g.MapDataset(numbers(g, 4), [], f=name, Targuments=[], **NUMBER)

    assert optimized(make)[0] == ["RangeDataset", "MapDataset"]


@pytest.mark.slow
def test_a_long_chain_of_maps_becomes_functions_that_are_not_too_deep(tmp_path):
    """A function for all of them would call others as deep as there are maps."""
    growth.write_graph(tmp_path / "maps.pb", "datasets", 160)
    graph = load(tmp_path / "maps.pb")
    optimized, _ = optimize(graph, ["y"], ["x"], passes="pipelines")
    maps = [node for node in optimized if node.op == "MapDataset"]
    assert len(maps) < 10
    assert max(call_depth(optimized, function, 100) for function in optimized.functions.values()) <= DEEPEST
    x = {"x:0": np.float32([0.1, 0.5, -1, 2])}
    np.testing.assert_array_equal(Session(optimized).run("y:0", x), Session(graph).run("y:0", x))
