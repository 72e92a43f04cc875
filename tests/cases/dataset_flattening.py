"""Datasets of the elements of several datasets, or of the slices of elements, by their places."""

import numpy as np

from tests.pipelines import NUMBER, function, int64, numbers, pipeline, slices

ROWS = np.int64([[1, 2, 3], [4, 5, 6]])


def weighted(sizes, weights):
    def make(g):
        inputs = [numbers(g, 100 * i, 100 * i + size) for i, size in enumerate(sizes)]
        return g.WeightedFlatMapDataset(inputs, [np.float64(w) for w in weights], **NUMBER)

    return pipeline(f"{sizes} {weights}", "WeightedFlatMapDataset", make, take=22)


def refused(key, second):
    def make(g):
        return g.WeightedFlatMapDataset([numbers(g, 3), second(g)], [np.float64(1), np.float64(1)], **NUMBER)

    return pipeline(key, "WeightedFlatMapDataset", make, take=1)


def even(g):
    return g.FilterDataset(
        numbers(g, 4), [], predicate=function(g, "even", ["int64"], lambda b, x: [b.Equal(x, x)]), Targuments=[], **NUMBER
    )


def parts(b, place, size=3, dtype="int64"):
    """The row of a place, and the index inside the row."""
    return [b.Cast(b.FloorDiv(place, int64(size)), DstT=dtype), b.Cast(b.FloorMod(place, int64(size)), DstT=dtype)]


def indexed(key, place_of, data=ROWS, size=6, take=9):
    def make(g):
        twice = function(g, "twice", ["int64", "int64"], lambda b, x, y: [b.Mul(x, y)])
        names = {"map_func": twice, "index_map_func": function(g, "place_of", ["int64"], place_of)}
        types = {"Tmap_func_args": ["int64"], "Tindex_map_func_args": []}
        return g.IndexFlatMapDataset(slices(g, data), [g.constant(int64(2))], [], int64(size), **names, **types, **NUMBER)

    return pipeline(key, "IndexFlatMapDataset", make, take=take)


CASES = [
    weighted((100, 100, 10), (0.2, 0.3, 0.5)),
    weighted((3, 4), (1, 1)),
    weighted((4, 3), (0.5, 0.25)),
    weighted((3, 0), (1, 1)),
    weighted((7, 3), (0.1, 0.7)),
    weighted((3, 4), (1, 0)),
    weighted((3, 4), (1, -1)),
    weighted((3, 4), (1, 1, 1)),
    refused("without end", lambda g: g.RepeatDataset(numbers(g, 2), int64(-1), **NUMBER)),
    refused("of unknown size", even),
    refused("of other numbers", lambda g: slices(g, np.float32([1, 2]))),
    refused("of other shapes", lambda g: slices(g, np.int64([[1, 2]]))),
    indexed("rows", parts),
    indexed("int32", lambda b, place: parts(b, place, dtype="int32")),
    indexed("parts of rows", lambda b, place: parts(b, place, 2)),
    indexed("a smaller size than there is", parts, size=4),
    indexed("numbers", parts, ROWS[:, 0]),
    indexed("gaps", lambda b, place: [b.Mul(place, int64(2)), b.Sub(place, place)], size=-1),
    indexed("one result", lambda b, place: [b.Identity(place)], take=2),
    indexed("three results", lambda b, place: [*parts(b, place), b.Identity(place)], take=2),
    indexed("results of another dtype", lambda b, place: parts(b, place, dtype="float64"), take=2),
]
