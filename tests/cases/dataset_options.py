"""Datasets that leave elements as they are."""

import numpy as np

from tests.opcases import graph_case
from tests.pipelines import NO_REWRITES, NUMBER, elements, function, int64, numbers, pipeline, slices, text


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
    """The names of the following or preceding datasets."""

    def make(g):
        source = numbers(g, 3)
        if op.endswith("PrevDataset"):
            source = g.TakeDataset(source, int64(2), **NUMBER)
        held = getattr(g, op)(source, np.array([name.encode() for name in names], object), **NUMBER)
        return g.SkipDataset(held, int64(1), **NUMBER)

    return pipeline(f"{names}", op, make, take=3, plain=True)


def summary(op):
    def build(g):
        handle = g.StatsAggregatorHandle(container="", shared_name="")
        getattr(g, op)(handle, name="summary")
        return [["summary:0"]]

    return graph_case(op, op, build)


def no_writer(g):
    handle = g.StatsAggregatorHandleV2(container="", shared_name="")
    writer = g.SummaryWriter(shared_name="", container="")
    g.StatsAggregatorSetSummaryWriter(handle, writer, name="set")
    return [["set"]]


def fastest(op, *counts):
    def make(g):
        return getattr(g, op)([numbers(g, count) for count in counts], num_experiments=2, **NUMBER)

    return pipeline(f"{counts}", op, make, take=4, plain=True)


def branching(key, count, ratio, tried, branches, spec=NUMBER, take=14):
    """Branches with equal results, for every choice of the fastest branch."""

    def make(g):
        names = [function(g, f"branch{i}", ["variant"], branch) for i, branch in enumerate(branches)]
        attrs = {"num_elements_per_branch": tried, "branches": names, "other_arguments_lengths": [0] * len(names)}
        return g.ChooseFastestBranchDataset(numbers(g, count), *map(int64, ratio), [], Targuments=[], **attrs, **spec)

    return pipeline(f"{key} of {count} {ratio}", "ChooseFastestBranchDataset", make, spec, take)


def adding(number):
    """A branch with a function of the library."""

    def branch(b, dataset):
        f = function(b, f"adding{number}", ["int64"], lambda inner, x: [inner.AddV2(x, int64(number))])
        return [b.MapDataset(dataset, [], f=f, Targuments=[], **NUMBER)]

    return branch


def batches(b, dataset):
    return [b.BatchDataset(dataset, int64(3), **elements(("int64", (None,))))]


def twice(b, dataset):
    return [b.RepeatDataset(dataset, int64(2), **NUMBER)]


def behind(b, dataset):
    return [b.SkipDataset(dataset, int64(1), **NUMBER)]


FOLDER = "/tmp/tfg_cases/datasets_sharded/"
TEXT = elements(("string", ()))


def sharded(policy, source, workers=2, index=1, op="AutoShardDataset"):
    """A worker's part of three files of two lines each, read by a dataset or by a function, or of numbers."""

    def build(g):
        paths = [f"{FOLDER}{i}" for i in range(3)]
        for i, path in enumerate(paths):
            g.WriteFile(g.constant(text(path)), g.constant(text(f"{i}a\n{i}b\n")), name=f"write{i}")
        names = np.array([path.encode() for path in paths], object)
        read = function(g, "read", ["string"], lambda b, x: [b.TextLineDataset(x, text(""), int64(0))])
        spec = NUMBER if source == "numbers" else TEXT
        if source == "function":
            data = g.FlatMapDataset(slices(g, names), [], f=read, Targuments=[], **TEXT)
        else:
            data = numbers(g, 7) if source == "numbers" else g.TextLineDataset(names, text(""), int64(0))
        data = g.TakeDataset(data, int64(9), **spec)
        data = getattr(g, op)(data, int64(workers), int64(index), auto_shard_policy=policy, **spec)
        data = g.OptionsDataset(data, serialized_options=NO_REWRITES, **spec)
        iterator = g.IteratorV2(shared_name="", container="", **spec)
        g.MakeIterator(data, iterator, name="start")
        g.IteratorGetNext(iterator, name="next", **spec)
        return [*[[f"write{i}"] for i in range(3)], ["start"], *[["next:0"]] * 8]

    return graph_case(f"{op} {policy} {source} {workers} {index}", op, build)


CASES = [
    *(sharded(policy, source) for policy in (-1, 0, 1, 2, 3) for source in ("numbers", "files", "function")),
    sharded(0, "numbers", 1, 0),
    sharded(0, "numbers", 2, 2),
    sharded(0, "numbers", 0, 0),
    sharded(1, "files", 5, 4),
    sharded(0, "files", op="ExperimentalAutoShardDataset"),
    *(summary(op) for op in ("StatsAggregatorSummary", "ExperimentalStatsAggregatorSummary")),
    graph_case("set", "StatsAggregatorSetSummaryWriter", no_writer),
    *(fastest(op, 3, 3) for op in ("ChooseFastestDataset", "ExperimentalChooseFastestDataset")),
    branching("batches", 20, (3, 1), 3, [batches, batches], elements(("int64", (None,)))),
    branching("batches", 20, (1, 3), 3, [batches, batches], elements(("int64", (None,)))),
    branching("batches", 20, (1, 2), 3, [batches, batches], elements(("int64", (None,)))),
    branching("batches", 20, (0, 2), 3, [batches, batches], elements(("int64", (None,)))),
    branching("what is left", 9, (1, 1), 3, [behind, behind]),
    branching("passes", 4, (1, 1), 2, [twice, twice], take=5),
    branching("sums", 4, (1, 1), 2, [adding(0), adding(100)]),
    kept("OptionsDataset", serialized_options=NO_REWRITES),
    kept("PrefetchDataset", int64(2)),
    kept("PrefetchDataset", int64(0)),
    kept("PrefetchDataset", int64(-1), legacy_autotune=False, slack_period=1),
    kept("PrefetchDataset", int64(-2)),
    kept("SleepDataset", int64(10)),
    kept("SleepDataset", int64(0)),
    kept("SleepDataset", int64(-1)),
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
]
