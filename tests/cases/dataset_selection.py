"""Datasets of some elements of others."""

import numpy as np

from tests.opcases import graph_case, strings
from tests.pipelines import NUMBER, elements, function, int64, numbers, pipeline, slices


def counted(op, count, source=5, passes=1):
    return pipeline(
        f"{count} of {source}", op, lambda g: getattr(g, op)(numbers(g, source), int64(count), **NUMBER), passes=passes
    )


def shard(count, index, source=7, **attrs):
    def make(g):
        return g.ShardDataset(numbers(g, source), int64(count), int64(index), **attrs, **NUMBER)

    return pipeline(f"{index} of {count} {source} {attrs}", "ShardDataset", make, take=6)


def is_even(b, x):
    return [b.Equal(b.FloorMod(x, int64(2)), int64(0))]


def below_limit(b, x, limit):
    return [b.Less(x, limit)]


def filtered(op, **more):
    def make(g):
        even = function(g, "even", ["int64"], is_even)
        extra = [int64(2)] if op.startswith("Parallel") else []
        return getattr(g, op)(numbers(g, 7), [], *extra, predicate=even, Targuments=[], **more, **NUMBER)

    return pipeline(f"even {more}", op, make, take=6, plain=True)


def captured(op):
    def make(g):
        below = function(g, "below", ["int64", "int64"], below_limit)
        limit = g.constant(int64(3))
        return getattr(g, op)(numbers(g, 7), [limit], predicate=below, Targuments=["int64"], **NUMBER)

    return pipeline("below a captured number", op, make, take=6)


def no_scalar(g):
    vector = function(g, "vector", ["int64"], lambda b, x: [b.ExpandDims(b.Equal(x, x), np.int32(0))])
    return g.FilterDataset(numbers(g, 3), [], predicate=vector, Targuments=[], **NUMBER)


def concatenated(g):
    return g.ConcatenateDataset(numbers(g, 2), numbers(g, 5, 8), **NUMBER)


def unique(op, values, spec):
    return pipeline(f"{values.dtype}", op, lambda g: getattr(g, op)(slices(g, values), **spec), spec, take=5)


def asserted(count, source):
    def make(g):
        return g.AssertCardinalityDataset(numbers(g, source), int64(count), **NUMBER)

    return pipeline(f"{count} of {source}", "AssertCardinalityDataset", make, take=6)


def sampled(rate, seed, seed2):
    def make(g):
        return g.SamplingDataset(numbers(g, 30), np.float32(rate), int64(seed), int64(seed2), **NUMBER)

    return pipeline(f"{rate} {seed} {seed2}", "SamplingDataset", make, take=30, passes=2)


def directed(op, selector, **attrs):
    def make(g):
        inputs = [numbers(g, 2), numbers(g, 10, 14), numbers(g, 20, 23)]
        return getattr(g, op)(slices(g, np.int64(selector)), inputs, **attrs, **NUMBER)

    return pipeline(f"{selector} {attrs}", op, make, take=14)


def cardinality(key, op, make):
    def build(g):
        g.DatasetCardinality(make(g), name="count")
        return [["count:0"]]

    return graph_case(f"cardinality {op} {key}", op, build)


def cardinalities():
    def count(op, n, source):
        return lambda g: getattr(g, op)(source(g), int64(n), **NUMBER)

    def some(g):
        return numbers(g, 5)

    def none(g):
        return numbers(g, 0)

    def unknown(g):
        even = function(g, "even", ["int64"], is_even)
        return g.FilterDataset(some(g), [], predicate=even, Targuments=[], **NUMBER)

    endless = count("RepeatDataset", -1, some)
    for name, source in (("some", some), ("none", none), ("endless", endless), ("unknown", unknown)):
        for op in ("TakeDataset", "SkipDataset", "RepeatDataset"):
            for n in (-1, 0, 1, 3, 9):
                yield cardinality(f"{n} {name}", op, count(op, n, source))
        yield cardinality(name, "ShardDataset", lambda g, s=source: g.ShardDataset(s(g), int64(3), int64(2), **NUMBER))
        yield cardinality(name, "UniqueDataset", lambda g, s=source: g.UniqueDataset(s(g), **NUMBER))
        for other, second in (("some", some), ("none", none), ("endless", endless), ("unknown", unknown)):
            both = lambda g, s=source, t=second: [s(g), t(g)]  # noqa: E731
            yield cardinality(
                f"{name} {other}", "ZipDataset", lambda g, b=both: g.ZipDataset(b(g), **elements(("int64", ()), ("int64", ())))
            )
            yield cardinality(f"{name} {other}", "ConcatenateDataset", lambda g, b=both: g.ConcatenateDataset(*b(g), **NUMBER))
            for stops in (False, True):
                yield cardinality(
                    f"{name} {other} {stops}",
                    "DirectedInterleaveDataset",
                    lambda g, b=both, e=stops: g.DirectedInterleaveDataset(
                        endless(g), b(g), stop_on_empty_dataset=e, **NUMBER
                    ),
                )


CASES = [
    *(counted("TakeDataset", n) for n in (-1, 0, 1, 3, 9)),
    *(counted("SkipDataset", n) for n in (-1, 0, 1, 3, 9)),
    *(counted("RepeatDataset", n, 3) for n in (-2, -1, 0, 1, 3)),
    *(counted("RepeatDataset", n, 0) for n in (-1, 2)),
    counted("RepeatDataset", 2, 3, passes=2),
    shard(3, 0),
    shard(3, 2),
    shard(1, 0),
    shard(9, 8),
    shard(3, 1, require_non_empty=True),
    shard(9, 8, require_non_empty=True),
    shard(9, 1, require_non_empty=True),
    shard(0, 0),
    shard(3, 3),
    shard(3, -1),
    filtered("FilterDataset"),
    filtered("ParallelFilterDataset"),
    filtered("ParallelFilterDataset", deterministic="true"),
    captured("FilterDataset"),
    captured("TakeWhileDataset"),
    captured("ExperimentalTakeWhileDataset"),
    pipeline("no scalar", "FilterDataset", no_scalar, take=1),
    pipeline("two", "ConcatenateDataset", concatenated, take=7, passes=2),
    unique("UniqueDataset", np.int64([1, 2, 1, 3, 2]), NUMBER),
    unique("ExperimentalUniqueDataset", strings("a", "b", "a"), elements(("string", ()))),
    unique("UniqueDataset", np.float32([1, 2, 1]), elements(("float32", ()))),
    *(asserted(count, source) for count, source in [(4, 4), (4, 3), (4, 5), (-1, 3), (-2, 3)]),
    sampled(0.5, 1, 2),
    sampled(0.1, 3, 4),
    sampled(1.0, 3, 4),
    directed("DirectedInterleaveDataset", [0, 1, 2, 0, 0, 1, 2, 2, 2, 1]),
    directed("DirectedInterleaveDataset", [0, 1, 2, 0, 0, 1, 2, 2, 2, 1], stop_on_empty_dataset=True),
    directed("ExperimentalDirectedInterleaveDataset", [2, 1, 0]),
    directed("DirectedInterleaveDataset", [0, 3]),
    directed("DirectedInterleaveDataset", [-1]),
    *cardinalities(),
]
