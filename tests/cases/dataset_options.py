"""Datasets that leave elements as they are."""

import numpy as np

from tests.pipelines import NO_REWRITES, NUMBER, int64, numbers, pipeline, text


def kept(op, *inputs, **attrs):
    def make(g):
        given = [np.asarray(value) for value in inputs]
        return getattr(g, op)(numbers(g, 3), *given, **attrs, **NUMBER)

    return pipeline(f"{inputs} {attrs}", op, make, take=5, plain=True)


def pooled(op, handle, **attrs):
    def make(g):
        return getattr(g, op)(numbers(g, 3), getattr(g, handle)(container="", shared_name="", **attrs), **NUMBER)

    return pipeline(handle, op, make, take=5, plain=True)


def gathering(op, handle):
    def make(g):
        return getattr(g, op)(
            numbers(g, 3), getattr(g, handle)(container="", shared_name=""), text("tag"), text("prefix"), **NUMBER
        )

    return pipeline(handle, op, make, take=5, plain=True)


def asserted(op, *names):
    """The names of what follows, or came before."""

    def make(g):
        source = numbers(g, 3)
        if op.endswith("PrevDataset"):
            source = g.TakeDataset(source, int64(2), **NUMBER)
        held = getattr(g, op)(source, np.array([name.encode() for name in names], object), **NUMBER)
        return g.SkipDataset(held, int64(1), **NUMBER)

    return pipeline(f"{names}", op, make, take=3, plain=True)


def cached(kind):
    def make(g):
        shuffled = g.ShuffleDataset(numbers(g, 6), int64(6), int64(1), int64(2), **NUMBER)
        if kind == "CacheDataset":
            found = g.CacheDataset(shuffled, text(""), **NUMBER)
        else:
            handle = g.DummyMemoryCache() if kind == "DummyMemoryCache" else g.AnonymousMemoryCache()[0]
            found = g.CacheDatasetV2(shuffled, text(""), handle, **NUMBER)
        return g.RepeatDataset(found, int64(2), **NUMBER)

    return pipeline(f"{kind}", "CacheDataset" if kind == "CacheDataset" else "CacheDatasetV2", make, take=14, plain=True)


CASES = [
    kept("OptionsDataset", serialized_options=NO_REWRITES),
    kept("PrefetchDataset", int64(2)),
    kept("PrefetchDataset", int64(0)),
    kept("PrefetchDataset", int64(-1), legacy_autotune=False, slack_period=1),
    kept("PrefetchDataset", int64(-2)),
    kept("SleepDataset", int64(10)),
    kept("ExperimentalSleepDataset", int64(10)),
    kept("ModelDataset"),
    kept("NonSerializableDataset"),
    kept("ExperimentalNonSerializableDataset"),
    kept("FinalizeDataset"),
    kept("RewriteDataset", text("replicate_on_split")),
    kept("OptimizeDataset", np.array([], object)),
    kept("OptimizeDatasetV2", np.array([], object), np.array([], object), np.array([], object)),
    kept("BytesProducedStatsDataset", text("tag")),
    kept("ExperimentalBytesProducedStatsDataset", text("tag")),
    kept("LatencyStatsDataset", text("tag")),
    kept("ExperimentalLatencyStatsDataset", text("tag")),
    kept("PrivateThreadPoolDataset", int64(2)),
    kept("PrivateThreadPoolDataset", int64(-1)),
    kept("ExperimentalPrivateThreadPoolDataset", int64(2)),
    kept("MaxIntraOpParallelismDataset", int64(2)),
    kept("ExperimentalMaxIntraOpParallelismDataset", int64(2)),
    kept("AutoShardDataset", int64(1), int64(0), num_replicas=1),
    kept("ExperimentalAutoShardDataset", int64(1), int64(0)),
    pooled("ThreadPoolDataset", "ThreadPoolHandle", num_threads=2, display_name="pool"),
    pooled("ExperimentalThreadPoolDataset", "ExperimentalThreadPoolHandle", num_threads=2, display_name="pool"),
    gathering("SetStatsAggregatorDataset", "StatsAggregatorHandle"),
    gathering("SetStatsAggregatorDataset", "StatsAggregatorHandleV2"),
    gathering("ExperimentalSetStatsAggregatorDataset", "ExperimentalStatsAggregatorHandle"),
    *(
        asserted("AssertNextDataset", *names)
        for names in [("FiniteSkip",), ("FiniteSkip", "Root"), ("FiniteTake",), ("FiniteSkip", "Root", "A", "B")]
    ),
    asserted("ExperimentalAssertNextDataset", "FiniteSkip"),
    *(
        asserted("AssertPrevDataset", *names)
        for names in [
            ("name:'TakeDataset'",),
            ('name: "TakeDataset"', "name: 'RangeDataset'"),
            ("name:'SkipDataset'",),
            ("Take",),
        ]
    ),
    *(cached(kind) for kind in ("CacheDataset", "DummyMemoryCache", "AnonymousMemoryCache")),
]
