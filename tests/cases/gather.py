"""Cases of the gather family."""

import numpy as np

from tests.opcases import case, i32, i64, integers, normal, strings, unshaped, wide

X = wide(3, 4)
BATCH = wide(2, 3, 4)


def gathers():
    return [
        case("Gather", X, i32([2, 0], [1, 1])),
        case("Gather", X, i64(3)),
        *(case("GatherV2", X, i32(2, 0, 2), axis) for axis in (0, 1, -1, -2)),
        case("GatherV2", X, np.int64(1), np.int64(0)),
        case("GatherV2", strings(b"a", b"b"), 1, 0),
        case("GatherV2", X, i32(0, 3), 0),
        case("GatherV2", X, i32(-1), 0),
        case("GatherV2", X, i32(0), 2),
        case("GatherV2", normal(0, 3), i32(7), 1),
        case("GatherV2", normal(2, 0, 3), np.zeros((0, 2), np.int32), 1),
        case("GatherV2", BATCH, i32([2, 0], [1, 1]), 1, batch_dims=1),
        case("GatherV2", BATCH, i32([2, 0], [1, 1]), 2, batch_dims=1),
        case("GatherV2", BATCH, i32([[2], [0], [1]], [[1], [1], [3]]), -1, batch_dims=-1),
        case("GatherV2", BATCH, i32([2, 0], [1, 5]), 1, batch_dims=1),
        case("GatherV2", BATCH, i32([2, 0], [1, 1]), 0, batch_dims=1),
        case("GatherNd", X, i32([0, 1], [2, 3], [0, 1])),
        case("GatherNd", X, i64([2], [0])),
        case("GatherNd", X, i32(1, 2)),
        case("GatherNd", X, np.zeros((2, 0), np.int32), differentiable=False),
        case("GatherNd", strings(b"a", b"b"), i32([1])),
        case("GatherNd", strings(b"a", b"b"), i32(1)),
        case("GatherNd", X, i32([0, 4])),
        case("GatherNd", X, i32([0, 0, 0])),
        case("GatherNd", normal(0, 3), i32([0])),
        case("GatherNd", X, i32([5, 0], [1, 1]), bad_indices_policy="IGNORE"),
    ]


def scatters():
    rows, points = i32([1], [0], [1]), i64([0, 1], [2, 3], [0, 1])
    tensor_ops = ("TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "TensorScatterMin", "TensorScatterMax")
    cases = [case(op, X, rows[:2], wide(2, 4, seed=1)) for op in (*tensor_ops, "ScatterNdNonAliasingAdd")]
    cases += [case(op, X, points, wide(3, seed=1)) for op in (*tensor_ops[1:], "ScatterNdNonAliasingAdd")]
    cases += [case(op, integers(3, 2), i32([0], [2]), integers(2, 2, seed=1)) for op in tensor_ops]
    cases += [case(op, X, i32([3]), wide(1, 4)) for op in tensor_ops]
    return [
        *cases,
        case("TensorScatterUpdate", strings(b"a", b"b"), i32([1]), strings(b"c")),
        case("TensorScatterUpdate", X, i32([0]), wide(2, 4)),
        case("TensorScatterAdd", X, i32([7], [1]), wide(2, 4), bad_indices_policy="IGNORE", differentiable=False),
        case("TensorScatterMax", X, i32([7], [1]), wide(2, 4), bad_indices_policy="IGNORE"),
        case("TensorScatterMin", X, i32([7], [1]), wide(2, 4), bad_indices_policy="IGNORE"),
        case("ScatterNd", rows, wide(3, 4), i32(3, 4)),
        case("ScatterNd", points, wide(3), i64(3, 4)),
        case("ScatterNd", points, integers(3, dtype="half"), i64(3, 4)),
        case("ScatterNd", rows, strings(b"a", b"b", b"c"), i32(2)),
        case("ScatterNd", rows, np.array([True, False, True]), i32(2)),
        case("ScatterNd", rows, wide(3, 4), i32(1, 4)),
        case("ScatterNd", rows, wide(3, 5), i32(3, 4)),
        case("ScatterNd", rows, wide(3, 0), i32(3, 0)),
        case("ScatterNd", np.zeros((0, 1), np.int32), np.zeros(0, np.float32), i32(3)),
        case("ScatterNdNonAliasingAdd", X, i32([3]), wide(1, 4)),
        case("InplaceUpdate", X, i32(2, 0), wide(2, 4), differentiable=False),
        case("InplaceUpdate", X, i32(-1, 5), wide(2, 4), differentiable=False),
        case("InplaceAdd", X, i32(1, 1), wide(2, 4), differentiable=False),
        case("InplaceSub", integers(3, 2), i32(1, 1), integers(2, 2)),
        case("InplaceAdd", X, 1, wide(4)),
        case("InplaceAdd", X, i32(1), wide(2, 4)),
    ]


def partitions():
    numbers = i32(1, 0, 1)
    return [
        case("DynamicPartition", X, numbers, num_partitions=2),
        case("DynamicPartition", X, i32([0, 1, 0, 2], [0] * 4, [1] * 4), num_partitions=4),
        case("DynamicPartition", strings(b"a", b"b"), i32(1, 0), num_partitions=2),
        case("DynamicPartition", np.float32(1), 1, num_partitions=2),
        case("DynamicPartition", normal(0, 2), np.zeros(0, np.int32), num_partitions=2),
        case("DynamicPartition", X, i32(1, 0, 2), num_partitions=2),
        case("DynamicPartition", X, i32(1, 0), num_partitions=2),
        *(
            case(op, [np.int32(3), i32(1, 0), i32([2, 4])], [wide(2), wide(2, 2), wide(1, 2, 2)])
            for op in ("DynamicStitch", "ParallelDynamicStitch")
        ),
        case("DynamicStitch", [i32(0, 1), i32(1)], [wide(2), wide(1, seed=1)], differentiable=False),
        case("DynamicStitch", [i32(1, 0)], [strings(b"a", b"b")]),
        case("DynamicStitch", [np.zeros(0, np.int32)], [normal(0, 2)]),
        case("DynamicStitch", [i32(0)], [normal(2)]),
        case("DynamicStitch", [i32(0), i32(1)], [normal(1, 2), normal(1, 3)]),
    ]


def policies():
    x, at, rows = normal(2), i32(0).reshape(1, 1), normal(1)
    nan, one = np.full((1, 20), np.nan), np.ones((1, 20))
    return [
        *(
            case(op, one_row.astype(t), at, update.astype(t), differentiable=False)
            for op in ("TensorScatterMax", "TensorScatterMin")
            for one_row, update in ((one, nan), (nan, one))
            for t in ("float32", "float64", "float16")
        ),
        *(case("TensorScatterMax", x, at, rows, bad_indices_policy=p, differentiable=False) for p in ("DEFAULT", "any")),
        case("ScatterNd", at, rows, i32(2), bad_indices_policy="any"),
        *(
            unshaped(op, normal(2, 2, 3), i32(0, 1), normal(n))
            for op in ("TensorScatterAdd", "TensorScatterUpdate", "ScatterNdNonAliasingAdd")
            for n in (2, 3)
        ),
        *(unshaped("TensorScatterAdd", normal(3), i32(0, 1), normal(n)) for n in (1, 2)),
        *(case(f"Inplace{op}", normal(0), i32(), normal(0)) for op in ("Update", "Add", "Sub")),
        *(case(f"Inplace{op}", strings(b"a"), i32(0), strings(b"b")) for op in ("Update", "Add", "Sub")),
    ]


CASES = [*gathers(), *scatters(), *partitions(), *policies()]
