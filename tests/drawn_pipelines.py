"""Input pipelines drawn at random: sources and transformations of int64 datasets, each transformation in all ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.pipelines import NO_REWRITES, NUMBER, function, int64, numbers
from tfg.core.building.builder import GraphBuilder

_VECTOR = {"output_types": ["int64"], "output_shapes": [(None,)]}
FALSE = np.array(False)


def mapped(g, data, draw):
    by = draw(st.integers(1, 4))
    keeps = draw(st.booleans())
    captured = draw(st.lists(st.integers(1, 3), max_size=1))
    kind = draw(st.sampled_from(["times", "failing", "same", "random"]))
    name = function(g, f"map_{len(g.graph.functions)}", ["int64"] * (1 + len(captured)), _BODIES[kind](by), kind == "random")
    taken = [data, [g.constant(int64(value)) for value in captured]]
    attrs = {"f": name, "Targuments": ["int64"] * len(captured), "preserve_cardinality": keeps, **NUMBER}
    parallel = ["ParallelMapDataset", "ParallelMapDatasetV2"] if kind != "random" else []  # draws in parallel have no order
    op = draw(st.sampled_from(["MapDataset", *parallel]))
    calls = {"ParallelMapDataset": [np.int32(2)], "ParallelMapDatasetV2": [int64(draw(st.sampled_from([-1, 2])))]}
    return getattr(g, op)(*taken, *calls.get(op, ()), **attrs)


def _times(by):
    return lambda b, x, *more: [b.AddV2(b.Mul(x, int64(by)), more[0] if more else int64(1))]


def _failing(by):
    """An error for multiples of seven."""

    def make(b, x, *more):
        node = b.FloorDiv(b.Mul(x, int64(by)), b.Minimum(b.FloorMod(x, int64(7)), int64(1)))
        return [b.AddV2(node, more[0]) if more else node]

    return make


def _same(by):
    return lambda b, x, *more: [b.Identity(more[-1]) if more else x]


def _random(by):
    def make(b, x, *more):
        drawn = b.RandomUniformInt(np.int32([]), int64(0), int64(100), seed=by, seed2=2)
        return [b.AddV2(x, drawn)]

    return make


_BODIES = {"times": _times, "failing": _failing, "same": _same, "random": _random}


def filtered(g, data, draw):
    divisor = draw(st.integers(2, 3))
    body = lambda b, x: [b.NotEqual(b.FloorMod(x, int64(divisor)), int64(0))]  # noqa: E731
    name = function(g, f"filter_{len(g.graph.functions)}", ["int64"], body)
    return g.FilterDataset(data, [], predicate=name, Targuments=[], **NUMBER)


def batched(g, data, draw):
    size, drops = int64(draw(st.integers(1, 4))), np.array(draw(st.booleans()))
    return g.UnbatchDataset(g.BatchDatasetV2(data, size, drops, **_VECTOR), **NUMBER)


def shuffled(g, data, draw):
    op = draw(st.sampled_from(["ShuffleDataset", "ShuffleDatasetV2", "ShuffleDatasetV3"]))
    size, seeds = int64(draw(st.integers(1, 9))), [int64(draw(st.integers(1, 3))), int64(5)]
    again = draw(st.booleans())
    if op == "ShuffleDatasetV2":
        return g.ShuffleDatasetV2(data, size, g.AnonymousSeedGenerator(*seeds, np.array(again))[0], **NUMBER)
    generator = [g.DummySeedGenerator()] if op.endswith("V3") else []
    return getattr(g, op)(data, size, *seeds, *generator, reshuffle_each_iteration=again, **NUMBER)


def counted(g, data, draw):
    op, counts = draw(st.sampled_from([("TakeDataset", [-1, 6]), ("SkipDataset", [0, 2]), ("PrefetchDataset", [0, 2])]))
    return getattr(g, op)(data, int64(draw(st.sampled_from(counts))), **NUMBER)


def repeated(g, data, draw):
    return g.RepeatDataset(data, int64(draw(st.integers(1, 3))), **NUMBER)


def sharded(g, data, draw):
    return g.ShardDataset(data, int64(draw(st.integers(1, 2))), int64(0), **NUMBER)


STEPS = (mapped, mapped, mapped, filtered, batched, shuffled, repeated, counted, sharded)


@st.composite
def pipelines(draw: Any) -> Any:
    """A graph with a `start` of the pass and an element `next:0`; sometimes the options forbid rewrites."""
    g = GraphBuilder()
    data = numbers(g, draw(st.integers(0, 12)))
    for step in draw(st.lists(st.sampled_from(STEPS), min_size=1, max_size=7)):
        data = step(g, data, draw)
    if draw(st.booleans()):
        data = g.BatchDatasetV2(data, int64(3), FALSE, **_VECTOR)
    spec = _VECTOR if data.node.op == "BatchDatasetV2" else NUMBER
    if draw(st.integers(0, 3)) == 0:
        data = g.OptionsDataset(data, serialized_options=NO_REWRITES, **spec)
    iterator = g.IteratorV2(shared_name="", container="", **spec)
    g.MakeIterator(data, iterator, name="start")
    g.IteratorGetNext(iterator, name="next", **spec)
    return g.graph


def elements(run: Any, ends: type[Exception], fails: type[Exception], passes: int = 2) -> Sequence[Any]:
    """Return the elements of the passes: lists and numbers, up to the first "error" of a failed element.

    The number of elements that fail together depends on the fused maps and batches.
    """
    results = []
    for _ in range(passes):
        run("start")
        while len(results) < 300:
            try:
                results.append(np.asarray(run("next:0")).tolist())
            except ends:
                break
            except fails:
                return [*results, "error"]
        results.append("end")
    return results
