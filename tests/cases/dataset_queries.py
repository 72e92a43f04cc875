"""Queries of whole datasets."""

import numpy as np

from tests.cases.dataset_mapping import plus
from tests.opcases import graph_case, normal, strings
from tests.pipelines import NUMBER, elements, function, int64, numbers, slices

ROWS, NAMES = normal(3, 2), strings("a", "", "cc")
FLOAT_AND_TEXT = elements(("float32", (2,)), ("string", ()))


def reduce_all(size):
    def build(g):
        made = function(g, "plus", ["int64", "int64"], plus)
        g.ReduceDataset(numbers(g, size), [int64(5)], [], f=made, Tstate=["int64"], Targuments=[], name="sum", **NUMBER)
        return [["sum:0"], ["sum:0"]]

    return graph_case(f"ReduceDataset {size}", "ReduceDataset", build)


def single(size):
    def build(g):
        g.DatasetToSingleElement(slices(g, ROWS[:size], NAMES[:size]), name="only", **FLOAT_AND_TEXT)
        return [["only:0", "only:1"]]

    return graph_case(f"DatasetToSingleElement {size}", "DatasetToSingleElement", build)


def at(index, make, key, spec=NUMBER):
    def build(g):
        g.GetElementAtIndex(make(g), int64(index), name="element", **spec)
        return [[f"element:{i}" for i in range(len(spec["output_types"]))]]

    return graph_case(f"GetElementAtIndex {index} {key}", "GetElementAtIndex", build)


def places():
    vector = elements(("int64", (None,)))
    pair = elements(("int64", ()), ("int64", ()))
    yield from (at(i, lambda g: numbers(g, 5), "range") for i in (0, 4, 5, -1))
    yield from (at(i, lambda g: slices(g, ROWS, NAMES), "slices", FLOAT_AND_TEXT) for i in (0, 2, 3))
    yield from (at(i, lambda g: g.TakeDataset(numbers(g, 5), int64(2), **NUMBER), "take") for i in (1, 2))
    yield from (at(i, lambda g: g.SkipDataset(numbers(g, 5), int64(2), **NUMBER), "skip") for i in (2, 3))
    yield from (at(i, lambda g: g.RepeatDataset(numbers(g, 5), int64(2), **NUMBER), "repeat") for i in (7, 10))
    yield at(12, lambda g: g.RepeatDataset(numbers(g, 5), int64(-1), **NUMBER), "repeat forever")
    yield from (at(i, lambda g: g.ShardDataset(numbers(g, 5), int64(2), int64(1), **NUMBER), "shard") for i in (1, 2))
    yield from (at(i, lambda g: g.ConcatenateDataset(numbers(g, 2), numbers(g, 5), **NUMBER), "two") for i in (1, 3, 7))
    yield from (at(i, lambda g: g.ZipDataset([numbers(g, 2), numbers(g, 5)], **pair), "zip", pair) for i in (1, 2))
    for drop in (False, True):
        make = lambda g, d=drop: g.BatchDatasetV2(numbers(g, 5), int64(2), np.array(d), **vector)  # noqa: E731
        yield from (at(i, make, f"batch {drop}", vector) for i in (1, 2, 3))
    yield at(1, lambda g: g.PrefetchDataset(numbers(g, 5), int64(2), **NUMBER), "prefetch")
    yield at(1, lambda g: g.CacheDataset(numbers(g, 5), np.array(b"", object), **NUMBER), "cache")
    squares = lambda g: function(g, "square", ["int64"], lambda b, x: [b.Mul(x, x)])  # noqa: E731
    yield at(
        3, lambda g: g.MapDataset(numbers(g, 5), [], f=squares(g), Targuments=[], preserve_cardinality=True, **NUMBER), "map"
    )
    yield at(3, lambda g: g.MapDataset(numbers(g, 5), [], f=squares(g), Targuments=[], **NUMBER), "open map")
    yield at(1, lambda g: g.ShuffleDataset(numbers(g, 5), int64(5), int64(1), int64(2), **NUMBER), "shuffle")
    few = lambda g: g.ShuffleDataset(numbers(g, 5), int64(2), int64(1), int64(2), **NUMBER)  # noqa: E731
    yield from (at(i, few, "small shuffle") for i in range(5))
    yield at(1, lambda g: g.UnbatchDataset(slices(g, np.ones((2, 3), np.int64)), **NUMBER), "unbatch")


def wrapped(g):
    again = g.UnwrapDatasetVariant(g.WrapDatasetVariant(numbers(g, 4)))
    g.DatasetCardinality(again, name="count")
    g.ExperimentalDatasetCardinality(again, name="count_too")
    return [["count:0", "count_too:0"]]


def no_dataset(g):
    g.DatasetCardinality(g.OptionalNone(), name="count")
    return [["count:0"]]


def batch_sizes(g):
    vector = elements(("int64", (None,)))
    batches = g.BatchDatasetV2(numbers(g, 8), int64(2), np.array(True), **vector)
    again = g.BatchDatasetV2(batches, int64(3), np.array(True), **elements(("int64", (None, None))))
    kept = g.RepeatDataset(
        g.TakeDataset(g.PrefetchDataset(batches, int64(1), **vector), int64(2), **vector), int64(2), **vector
    )
    pair = elements(("int64", (None,)), ("int64", (None,)))
    results = [
        numbers(g, 3), batches, again, kept, g.UnbatchDataset(batches, **NUMBER), g.ZipDataset([batches, kept], **pair),
        g.ZipDataset([batches, numbers(g, 3)], **pair), g.ConcatenateDataset(batches, kept, **vector),
        g.ParallelBatchDataset(numbers(g, 8), int64(2), int64(2), np.array(True), **vector),
    ]  # fmt: skip
    return [[g.ComputeBatchSize(dataset).name] for dataset in results]


def compressed(g):
    held = g.CompressElement([g.constant(ROWS), g.constant(NAMES)])
    spec = elements(("float32", (3, 2)), ("string", (3,)))
    g.UncompressElement(held, name="element", **spec)
    g.UncompressElement(held, name="wrong", **elements(("float32", (3, 2)), ("float32", (3,))))
    return [["element:0", "element:1"], ["wrong:0"]]


def counted_functions(level):
    def build(g):
        made = function(g, "inner", ["int64"], lambda b, x: [b.RangeDataset(int64(0), x, int64(1), **NUMBER)])
        flat = g.FlatMapDataset(numbers(g, 4), [], f=made, Targuments=[], **NUMBER)
        g.DatasetCardinality(flat, cardinality_options=level, name="count")
        return [["count:0"]]

    return graph_case(f"DatasetCardinality {level}", "DatasetCardinality", build)


def table(g):
    node = g.HashTableV2(key_dtype="int64", value_dtype="string", container="", shared_name="")
    pairs = slices(g, np.int64([3, 1, 2]), NAMES)
    g.InitializeTableFromDataset(node, pairs, name="fill")
    g.LookupTableFindV2(node, g.constant(np.int64([1, 9, 3])), g.constant(np.array(b"?", object)), name="find")
    return [["fill"], ["find:0"]]


CASES = [
    graph_case("a table from a dataset", "InitializeTableFromDataset", table),
    graph_case("batch sizes", "ComputeBatchSize", batch_sizes),
    graph_case("an element in one value", "CompressElement", compressed),
    *(counted_functions(level) for level in (b"", b"\x08\x01")),
    *(single(size) for size in (0, 1, 2)),
    reduce_all(5),
    reduce_all(0),
    *places(),
    graph_case("wrapped", "WrapDatasetVariant", wrapped),
    graph_case("no dataset", "DatasetCardinality", no_dataset),
]
