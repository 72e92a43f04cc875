"""Optionals: values that may be missing."""

import numpy as np

from tests.opcases import graph_case, normal

X = normal(3, dtype="float64")


def values(g, optional, types=("float64",), shapes=([3],)):
    return g.OptionalGetValue(optional, output_types=list(types), output_shapes=list(shapes))


def round_trip(g):
    optional = g.OptionalFromValue([X, np.int32(2)])
    first, second = values(g, optional, ("float64", "int32"), ([3], []))
    return [[first.name, second.name, g.OptionalHasValue(optional).name, g.OptionalHasValue(g.OptionalNone()).name]]


def sums(g):
    total = g.AddN([g.OptionalFromValue([X]), g.OptionalFromValue([X])])
    (added,), (zeros,) = values(g, total), values(g, g.ZerosLike(total))
    return [[added.name, zeros.name]]


def one(make):
    return lambda g: [[make(g)[0].name]]


CASES = [
    *(graph_case(f"round trip, {op}", f"Optional{op}", round_trip) for op in ("FromValue", "GetValue", "HasValue", "None")),
    graph_case("sums", "OptionalFromValue", sums),
    graph_case("no value", "OptionalGetValue", one(lambda g: values(g, g.OptionalNone()))),
    graph_case("another dtype", "OptionalGetValue", one(lambda g: values(g, g.OptionalFromValue([X]), ("float32",)))),
    graph_case("another shape", "OptionalGetValue", one(lambda g: values(g, g.OptionalFromValue([X]), shapes=([2],)))),
    graph_case("another number", "OptionalGetValue", one(lambda g: values(g, g.OptionalFromValue([X, X]), ("float64",)))),
    graph_case(
        "sum with nothing", "OptionalNone", one(lambda g: values(g, g.AddN([g.OptionalFromValue([X]), g.OptionalNone()])))
    ),
    graph_case(
        "sum of nothing", "OptionalNone", one(lambda g: [g.OptionalHasValue(g.AddN([g.OptionalNone(), g.OptionalNone()]))])
    ),
]
