"""Cases of the slicing family."""

import numpy as np

from tests.opcases import case, graph_case, i32, i64, integers, normal, strings

X = normal(3, 4, dtype="double")


def slices():
    return [
        case("Slice", X, i32(1, 0), i32(2, 2)),
        case("Slice", X, i64(0, 1), i64(-1, -1)),
        case("Slice", X, i32(0, 4), i32(-1, -1)),
        case("Slice", X, i32(0, 5), i32(-1, -1)),
        case("Slice", X, i32(0, 0), i32(4, 1)),
        case("Slice", X, i32(0, 0), i32(-2, 1)),
        case("Slice", X, i32(0), i32(1)),
        case("Slice", strings(b"a", b"b"), i32(1), i32(1)),
    ]


# begin, end, strides and the masks begin, end, ellipsis, new axis, shrink axis
SPECS = (
    ((0, 1), (2, 3), (1, 1), 0, 0, 0, 0, 0),
    ((0, 1), (9, -1), (2, 1), 0, 0, 0, 0, 0),
    ((-1, -1), (-9, 0), (-1, -2), 0, 0, 0, 0, 0),
    ((1, 1), (0, 0), (1, 1), 3, 3, 0, 0, 0),
    ((1,), (0,), (1,), 0, 0, 0, 0, 1),
    ((-1, 2), (0, 0), (1, 1), 0, 0, 0, 0, 3),
    ((0, 1), (0, 2), (1, 1), 0, 0, 1, 0, 0),
    ((0, 0, 1), (0, 0, 2), (1, 1, 1), 0, 0, 1, 2, 0),
    ((0, 0), (0, 0), (1, 1), 0, 0, 0, 3, 0),
    ((0, 0, 2), (0, 0, 0), (1, 1, 1), 0, 0, 2, 1, 4),
    ((5,), (9,), (1,), 0, 0, 0, 0, 0),
    ((3,), (4,), (1,), 0, 0, 0, 0, 1),
    ((0,), (1,), (0,), 0, 0, 0, 0, 0),
    ((0,), (1,), (-1,), 0, 0, 0, 0, 1),
    ((0, 0, 0), (1, 1, 1), (1, 1, 1), 0, 0, 0, 0, 0),
    ((0, 0), (1, 1), (1, 1), 0, 0, 3, 0, 0),
    (31 * (0,), 31 * (1,), 31 * (1,), 0, 0, 0, (1 << 30) - 1, 0),
    (32 * (0,), 32 * (1,), 32 * (1,), 0, 0, 0, (1 << 30) - 1, 0),
)
NAMES = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


def strided():
    cases = []
    for begin, end, strides, *masks in SPECS:
        attrs = dict(zip(NAMES, masks))
        vectors = [i32(*begin), i32(*end), i32(*strides)]
        cases.append(case("StridedSlice", X, *vectors, **attrs))
        cases.append(case("TensorStridedSliceUpdate", X, *vectors, np.float64(7), **attrs))
    return [
        *cases,
        case("StridedSlice", X, np.int16([0]), np.int16([2]), np.int16([1])),
        case("StridedSlice", strings(b"a", b"b"), i64(1), i64(2), i64(1), shrink_axis_mask=1),
        case("StridedSlice", X, i32(0), i32(1, 2), i32(1)),
        case("StridedSlice", integers(0, 3), i32(0), i32(5), i32(1)),
        case("StridedSliceGrad", i32(3, 4), i32(0, 1), i32(2, 3), i32(1, 1), normal(2, 2, dtype="double")),
        case("StridedSliceGrad", i64(3, 4), i64(-1), i64(0), i64(-2), normal(1, 4, dtype="double")),
        case("StridedSliceGrad", i32(3, 4), i32(1), i32(0), i32(1), normal(4, dtype="double"), shrink_axis_mask=1),
        case("StridedSliceGrad", i32(3, 4), i32(0), i32(2), i32(1), normal(3, 4)),
        case("TensorStridedSliceUpdate", X, i32(0, 0), i32(2, 2), i32(1, 1), normal(2, 1, dtype="double")),
        case("TensorStridedSliceUpdate", X, i32(0, 0), i32(2, 2), i32(1, 1), normal(3, dtype="double")),
        graph_case("StridedSliceAssign", "StridedSliceAssign", strided_slice_assign),
        graph_case("ResourceStridedSliceAssign", "ResourceStridedSliceAssign", resource_strided_slice_assign),
    ]


def strided_slice_assign(g):
    variable = g.VariableV2(dtype="float", shape=[3, 4], name="v")
    start = g.Assign(variable, np.zeros((3, 4), np.float32))
    changed = g.StridedSliceAssign(variable, [0, 1], [3, 3], [2, 1], np.ones((2, 2), np.float32))
    return [[start.name], [changed.name], ["v:0"]]


def resource_strided_slice_assign(g):
    handle = g.VarHandleOp(dtype="float", shape=[3, 4], shared_name="v")
    start = g.AssignVariableOp(handle, np.zeros((3, 4), np.float32))
    changed = g.ResourceStridedSliceAssign(handle, [1], [2], [1], np.ones(4, np.float32), shrink_axis_mask=1)
    return [[start.name], [changed.name], [g.ReadVariableOp(handle, dtype="float").name]]


def splits():
    return [
        *(case("Split", axis, X, num_split=n) for axis, n in ((0, 3), (1, 2), (-1, 4), (0, 1), (0, 2), (2, 1))),
        case("Split", 0, strings(b"a", b"b"), num_split=2),
        case("Split", 0, normal(0, 2), num_split=2),
        *(case("SplitV", X, i32(*s), 1, num_split=len(s)) for s in ((1, 3), (2, -1, 1), (4,), (1, 2), (-1, -1), (0, 4))),
        *(case("SplitV", X, i32(n), 1, num_split=1) for n in (3, -1)),
        case("SplitV", X, i64(1, 2), 0, num_split=2),
        case("SplitV", X, np.int8([2, 1]), -2, num_split=2),
        case("SplitV", X, i64(1, 2), 2, num_split=2),
        *(case("Unpack", X, num=n, axis=axis) for axis, n in ((0, 3), (1, 4), (-1, 4), (-2, 3), (0, 2), (2, 1))),
        case("Unpack", strings(b"a", b"b"), num=2),
        case("Unpack", normal(0, 3), num=0),
        case("Unpack", normal(1), num=1),
    ]


def choices():
    rows = np.array([True, False, True])
    grid = np.array([[True, False, True, True], [False] * 4, [True] * 4])
    y = normal(3, 4, dtype="double", seed=1)
    return [
        *(case("Select", c, X, y) for c in (rows, grid, np.bool_(True), np.bool_(False))),
        case("Select", grid[0], X, y),
        case("Select", rows, X, y[:2]),
        case("Select", rows[:2], strings(b"a", b"b"), strings(b"c", b"d")),
        case("SelectV2", rows[:, None], X, y[:1]),
        case("SelectV2", grid, np.float64(2), y),
        case("SelectV2", np.bool_(True), "a", "b"),
        case("SelectV2", rows, X, y),
        case("Where", grid),
        case("Where", np.array([[np.nan, 0], [1, 0]])),
        case("Where", np.array([1j, 0], np.complex64)),
        case("Where", integers(2, 2, 2, high=2, dtype="int8")),
        case("Where", np.zeros((0, 3), bool)),
        case("Where", np.bool_(True)),
    ]


CASES = [*slices(), *strided(), *splits(), *choices()]
