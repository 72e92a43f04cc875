"""Gathers from resource variables and scatters into variables."""

from __future__ import annotations

import numpy as np

from tests.cases.variables import assigned, handle
from tests.opcases import graph_case, integers, normal
from tfg.core.types.shapes import UNKNOWN

_ROWS = np.array([2, 0, 2], np.int32)


def ref_scatter(op, value, indices, updates):
    def build(g):
        ref = assigned(g, value)
        fed = [g.PlaceholderWithDefault(x, shape=UNKNOWN) for x in (indices, updates)]
        g.apply(op, ref, *fed, name="op")
        return [["op:0"], ["init:0"], ["op:0"], ["op:0"]]

    return build


def resource_scatter(op, value, indices, updates, is_refused=False):
    """Scatter twice, read; a refused op may have written some rows."""

    def build(g):
        resource = handle(g, value)
        fed = [g.PlaceholderWithDefault(x, shape=UNKNOWN) for x in (indices, updates)]
        g.apply(op, resource, *fed, name="op")
        return [["op"], ["init_h"], ["op"]] if is_refused else [["op"], ["init_h"], ["op"], ["read_h:0"]]

    return build


def row_cases(suffix):
    unit = np.abs(normal(3, 2, seed=1)) + 0.5
    yield graph_case(f"Scatter{suffix}", f"Scatter{suffix}", ref_scatter(f"Scatter{suffix}", normal(4, 2), _ROWS, unit))
    op = f"ResourceScatter{suffix}"
    yield graph_case(op, op, resource_scatter(op, normal(4, 2), _ROWS, unit))
    yield graph_case(f"{op} scalar", op, resource_scatter(op, normal(4, 2), _ROWS.astype(np.int64)[:, None], np.float32(2)))
    ints = integers(3, 2, low=1, high=9)
    yield graph_case(f"{op} integers", op, resource_scatter(op, integers(4, 2, low=-9), _ROWS, ints))
    yield graph_case(f"{op} double", op, resource_scatter(op, normal(4, dtype="double"), _ROWS, np.array([1.5, 2, 3])))
    yield graph_case(f"{op} out of range", op, resource_scatter(op, normal(4, 2), _ROWS + 2, unit, True))
    yield graph_case(f"{op} wrong shape", op, resource_scatter(op, normal(4, 2), _ROWS, unit[:2]))
    yield graph_case(f"{op} empty", op, resource_scatter(op, normal(4, 2), _ROWS[:0], unit[:0]))


def nan_cases(suffix):
    nan, one = np.full((2, 20), np.nan, np.float32), np.ones((2, 20), np.float32)
    for name, value, rows in (("NaN", one, nan), ("of NaN", nan, one)):
        for op in (f"ResourceScatter{suffix}", f"ResourceScatterNd{suffix}"):
            places = np.array([[1], [1]] if "Nd" in op else [1, 1], np.int32)
            yield graph_case(f"{op} {name}", op, resource_scatter(op, value, places, rows))


def nd_cases(suffix):
    places = np.array([[1, 0], [3, 1], [1, 0]], np.int32)
    updates = normal(3, seed=3)
    op, resource_op = f"ScatterNd{suffix}", f"ResourceScatterNd{suffix}"
    yield graph_case(op, op, ref_scatter(op, normal(4, 2), places, updates))
    yield graph_case(resource_op, resource_op, resource_scatter(resource_op, normal(4, 2), places, updates))
    rows = resource_scatter(resource_op, normal(4, 2), _ROWS[:2, None], normal(2, 2))
    yield graph_case(f"{resource_op} rows", resource_op, rows)
    outside = resource_scatter(resource_op, normal(4, 2), places + 1, updates, True)
    yield graph_case(f"{resource_op} range", resource_op, outside)


def gather(batch_dims, value, indices):
    def build(g):
        resource = handle(g, value)
        fed = g.PlaceholderWithDefault(indices, shape=UNKNOWN)
        g.ResourceGather(resource, fed, batch_dims=batch_dims, dtype=g.constant(value).dtype, name="op")
        return [["op:0"], ["init_h"], ["op:0"]]

    return build


def gather_nd(value, indices):
    def build(g):
        resource = handle(g, value)
        g.ResourceGatherNd(resource, g.PlaceholderWithDefault(indices, shape=UNKNOWN), dtype="float", name="op")
        return [["op:0"], ["init_h"], ["op:0"]]

    return build


CASES = [
    *(case for suffix in ("Update", "Add", "Sub", "Mul", "Div", "Min", "Max") for case in row_cases(suffix)),
    *(case for suffix in ("Update", "Add", "Sub", "Min", "Max") for case in nd_cases(suffix)),
    *(case for suffix in ("Min", "Max") for case in nan_cases(suffix)),
    graph_case("gather", "ResourceGather", gather(0, normal(4, 2), integers(2, 3, high=4))),
    graph_case("gather strings", "ResourceGather", gather(0, np.array([b"a", b"b"], object), integers(3, high=2))),
    graph_case("gather in batches", "ResourceGather", gather(1, normal(2, 4, 3), integers(2, 5, high=4))),
    graph_case("gather out of range", "ResourceGather", gather(0, normal(4, 2), integers(2, 3, low=3, high=9))),
    graph_case("gather nd", "ResourceGatherNd", gather_nd(normal(4, 2), np.array([[1, 0], [3, 1]]))),
    graph_case("gather nd rows", "ResourceGatherNd", gather_nd(normal(4, 2), np.array([[1], [3]], np.int32))),
    graph_case("gather nd out of range", "ResourceGatherNd", gather_nd(normal(4, 2), np.array([[1, 2]]))),
]
