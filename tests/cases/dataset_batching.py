"""Datasets of batches and windows, and unbatched datasets."""

import numpy as np

from tests.opcases import graph_case, integers, normal, strings
from tests.pipelines import NUMBER, elements, function, int64, numbers, pipeline, slices, text
from tfg.core.types.shapes import UNKNOWN

ROWS, NAMES = normal(5, 2), strings("a", "", "cc", "d", "e")
PADDED = elements(("float32", (None, 3)), ("string", (None,)))
VECTOR = elements(("int64", (None,)))
BATCHES = elements(("float32", (None, 2)), ("string", (None,)))


def batched(size, drop, source=5, op="BatchDatasetV2"):
    def make(g):
        calls = [int64(2)] if op == "ParallelBatchDataset" else []
        return getattr(g, op)(numbers(g, source), int64(size), *calls, np.array(drop), **VECTOR)

    return pipeline(f"{size} {drop} of {source}", op, make, VECTOR, take=4)


def rows(size, drop):
    def make(g):
        return g.BatchDatasetV2(slices(g, ROWS, NAMES), int64(size), np.array(drop), **BATCHES)

    return pipeline(f"of slices {size} {drop}", "BatchDatasetV2", make, BATCHES, take=4)


def growing(g):
    """Vectors 0, 0 1, 0 1 2, ..."""

    def make(b, x):
        return [b.Range(int64(0), x, int64(1))]

    return g.MapDataset(numbers(g, 1, 5), [], f=function(g, "growing", ["int64"], make), Targuments=[], **VECTOR)


MATRIX = elements(("int64", (None, None)))


def padded(op, size, width, padding=-1, drop=None):
    def make(g):
        drops = [] if drop is None else [np.array(drop)]
        spec = {"Toutput_types": ["int64"], "output_shapes": [(None, None)]}
        return getattr(g, op)(growing(g), int64(size), [np.int64([width])], [int64(padding)], *drops, **spec)

    return pipeline(f"{size} to {width} {drop}", op, make, MATRIX, take=4, plain=True)


def padded_names(g):
    spec = {"Toutput_types": ["float32", "string"], "output_shapes": [(None, None), (None,)]}
    shapes = [np.int64([3]), np.array([], np.int64)]
    values = [np.float32(7), text("?")]
    return g.PaddedBatchDatasetV2(slices(g, ROWS, NAMES), int64(2), shapes, values, np.array(False), **spec)


def unbatched(op):
    spec = elements(("float32", (2,)), ("string", ()))

    def make(g):
        return getattr(g, op)(g.BatchDatasetV2(slices(g, ROWS, NAMES), int64(2), np.array(False), **BATCHES), **spec)

    return pipeline("batches", op, make, spec, take=7, passes=2)


def unbatched_apart(g):
    """Slices of elements with components of different lengths."""
    both = slices(g, integers(2, 3), integers(2, 4))
    return g.UnbatchDataset(both, **elements(("int32", ()), ("int32", ())))


def rebatched(sizes, drop, width=3, source=8):
    def make(g):
        batches = g.BatchDatasetV2(numbers(g, source), int64(width), np.array(False), **VECTOR)
        return g.RebatchDatasetV2(batches, np.array(sizes, np.int64), np.array(drop), **VECTOR)

    return pipeline(f"{sizes} {drop} {width} {source}", "RebatchDatasetV2", make, VECTOR, take=9)


def replicas(batch, count, op="RebatchDataset", drop=False):
    def make(g):
        batches = g.BatchDatasetV2(numbers(g, 11), int64(batch), np.array(drop), **VECTOR)
        return getattr(g, op)(batches, int64(count), **VECTOR)

    return pipeline(f"{batch} {count} {drop}", op, make, VECTOR, take=16, plain=True)


def sparse(op, size, width):
    def build(g):
        variant = elements(("variant", UNKNOWN))
        iterator = g.IteratorV2(shared_name="", container="", **variant)
        g.MakeIterator(getattr(g, op)(growing(g), int64(size), np.int64([width]), **variant), iterator, name="start")
        element = g.IteratorGetNext(iterator, **variant)
        node = g.DeserializeSparse(element[0] if isinstance(element, tuple | list) else element, dtype="int64")
        fetches = [output.name for output in node]
        return [["start"], *[fetches] * 3]

    return graph_case(f"{op} {size} {width}", op, build)


WINDOWED = elements(("variant", ()))


def windowed(size, shift, stride, drop, source=7):
    """The elements of each window, as a batch."""

    def make(g):
        windows = g.WindowDataset(numbers(g, source), int64(size), int64(shift), int64(stride), np.array(drop), **WINDOWED)

        def batch(b, window):
            return [b.BatchDatasetV2(window, int64(10), np.array(False), **VECTOR)]

        return g.FlatMapDataset(windows, [], f=function(g, "batch", ["variant"], batch), Targuments=[], **VECTOR)

    return pipeline(f"{size} {shift} {stride} {drop} {source}", "WindowDataset", make, VECTOR, take=9)


def sliding(op, size, shift, stride, **attrs):
    def make(g):
        return getattr(g, op)(numbers(g, 7), int64(size), int64(shift), int64(stride), **attrs, **VECTOR)

    return pipeline(f"{size} {shift} {stride} {attrs}", op, make, VECTOR, take=9, plain=True)


def cardinality(key, op, make):
    def build(g):
        g.DatasetCardinality(make(g), name="count")
        return [["count:0"]]

    return graph_case(f"cardinality {op} {key}", op, build)


def cardinalities():
    for n in (0, 1, 6, 7):
        for drop in (False, True):
            yield cardinality(
                f"{n} {drop}",
                "BatchDatasetV2",
                lambda g, n=n, d=drop: g.BatchDatasetV2(numbers(g, n), int64(3), np.array(d), **VECTOR),
            )
            yield cardinality(
                f"{n} {drop}",
                "WindowDataset",
                lambda g, n=n, d=drop: g.WindowDataset(numbers(g, n), int64(3), int64(2), int64(2), np.array(d), **WINDOWED),
            )
            yield cardinality(
                f"{n} {drop}",
                "RebatchDatasetV2",
                lambda g, n=n, d=drop: g.RebatchDatasetV2(
                    g.BatchDatasetV2(numbers(g, n), int64(3), np.array(d), **VECTOR), np.int64([2]), np.array(d), **VECTOR
                ),
            )
        yield cardinality(
            f"{n}", "UnbatchDataset", lambda g, n=n: g.UnbatchDataset(slices(g, integers(n, 3)), **elements(("int32", ())))
        )


CASES = [
    *(batched(size, drop) for size in (1, 2, 5, 7) for drop in (False, True)),
    batched(0, False),
    batched(-1, False),
    batched(2, False, 0),
    batched(2, False, op="ParallelBatchDataset"),
    batched(2, True, op="ParallelBatchDataset"),
    rows(2, False),
    rows(2, True),
    rows(9, True),
    pipeline("2", "BatchDataset", lambda g: g.BatchDataset(numbers(g, 5), int64(2), **VECTOR), VECTOR, take=5, plain=True),
    pipeline(
        "shapes that differ",
        "BatchDataset",
        lambda g: g.BatchDataset(growing(g), int64(2), **MATRIX),
        MATRIX,
        take=3,
        plain=True,
    ),
    padded("PaddedBatchDataset", 2, -1),
    padded("PaddedBatchDataset", 3, 6),
    padded("PaddedBatchDatasetV2", 3, -1, drop=True),
    padded("PaddedBatchDatasetV2", 3, -1, drop=False),
    padded("PaddedBatchDatasetV2", 2, 2, drop=False),
    pipeline("names", "PaddedBatchDatasetV2", padded_names, PADDED, take=4),
    unbatched("UnbatchDataset"),
    unbatched("ExperimentalUnbatchDataset"),
    pipeline("apart", "UnbatchDataset", unbatched_apart, elements(("int32", ()), ("int32", ())), take=3),
    pipeline("numbers", "UnbatchDataset", lambda g: g.UnbatchDataset(numbers(g, 3), **NUMBER), take=2),
    *(rebatched(sizes, drop) for sizes in ([2], [1, 4], [0, 1], [2, 0, 3], [5, 9], [8]) for drop in (False, True)),
    rebatched([3], False, 1, 0),
    rebatched(2, True, 4, 4),
    replicas(4, 2),
    replicas(4, 3),
    replicas(3, 4, drop=True),
    replicas(5, 2, "ExperimentalRebatchDataset"),
    sparse("DenseToSparseBatchDataset", 2, -1),
    sparse("DenseToSparseBatchDataset", 3, 6),
    sparse("ExperimentalDenseToSparseBatchDataset", 3, 2),
    *(
        windowed(*given, drop)
        for given in [(2, 2, 1), (3, 1, 1), (2, 3, 2), (3, 2, 2), (1, 9, 1), (9, 1, 1)]
        for drop in (False, True)
    ),
    windowed(2, 5, 1, True, 8),
    windowed(0, 1, 1, True),
    windowed(1, 0, 1, True),
    sliding("SlidingWindowDataset", 3, 2, 1),
    sliding("SlidingWindowDataset", 2, 1, 3),
    sliding("SlidingWindowDataset", 3, 2, 1, drop_remainder=False),
    sliding("ExperimentalSlidingWindowDataset", 3, 2, 2),
    *cardinalities(),
]
