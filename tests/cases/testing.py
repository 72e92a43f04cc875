"""Cases of the testing family."""

import numpy as np

from tests.opcases import case, graph_case, normal, removed, strings


def stub(g):
    handle = g.StubResourceHandleOp(shared_name="s", name="h")
    g.ResourceCreateOp(handle, name="create")
    g.ResourceUsingOp(handle, name="use")
    g.ResourceInitializedOp(handle, name="exists")
    g.IsResourceHandleRefCounting(g.MakeWeakResourceHandle(handle), name="counted")
    g.DestroyResourceOp(handle, name="destroy", ignore_lookup_error=False)
    once = [["exists:0"], ["use"], ["create"], ["exists:0"], ["use"], ["create"], ["counted:0"]]
    return [*once, ["destroy"], ["exists:0"], ["create"]]


def counted(op, **attrs):
    def build(g):
        g.IsResourceHandleRefCounting(g.add(op, [], attrs, "handle").output(0), name="op")
        return [["op:0"]]

    return graph_case(f"counted {op}", "IsResourceHandleRefCounting", build)


def deadline(g):
    g.Greater(g.GetDeadline(), g.constant(np.int64(1_700_000_000_000_000)), name="op")
    return [["op:0"]]


def aggregator(values, method=1, bins=4):
    return case(
        "CustomAggregator", np.asarray(values, np.float32), id="a", calibration_method=method, num_bins=bins,
        key=f"aggregator {values if np.size(values) < 10 else np.shape(values)} {method} {bins}",
    )  # fmt: skip


def vector(*values):
    return np.array(values, np.float32)


CASES = [
    case("Fact"),
    case("KernelLabel"),
    case("KernelLabelRequired", np.array([1], np.int32)),
    case("KernelLabelRequired", np.int32(1)),
    case("TestAttr", T="float"),
    case("TestAttr", T="double"),
    removed("Old", version=7),
    case("ConstructionFails"),
    case("CheckPinned", vector(1, 2)),
    case("DtypeWithDefaultOp", vector(1)),
    case("DtypeWithDefaultOp", strings("a")),
    case("DtypeWithDefaultOp", np.uint8(1)),
    case("DtypeWithDefaultOp", normal(2, dtype="bfloat16")),
    case("DtypeWithDefaultOp", normal(2, dtype="half")),
    case("DtypeWithDefaultOp", normal(2, dtype="complex64")),
    case("DtypeWithDefaultOp", np.array([True])),
    case("DevicePlacementOp"),
    case("SyncDevice"),
    case("IsTensorFloat32Enabled"),
    graph_case("deadline", "GetDeadline", deadline),
    case("SleepOp", np.int32(0)),
    case("SleepOp", np.array([0], np.int32)),
    case("SleepIdentityOp", np.int32(-1), vector(1, 2)),
    case("SleepIdentityOp", np.array([0, 0], np.int32), vector(1, 2)),
    case("FileSystemSetConfiguration", "file", "a", "b"),
    case("FileSystemSetConfiguration", "file", strings("a", "b"), "c"),
    graph_case("stub", "StubResourceHandleOp", stub),
    counted("VarHandleOp", dtype="float", shape=[]),
    counted("MutableHashTableV2", key_dtype="int64", value_dtype="int64"),
    counted("AnonymousMutableHashTable", key_dtype="int64", value_dtype="int64"),
    *(
        aggregator(values)
        for values in (
            *([], [1, 2, 3.5], [-2, -1.5, 7, 7, 7, 0], [2], [[1, 2], [3, 4]]),
            *([np.nan, 1], [np.inf, 1], [1, 2, -np.inf, np.nan]),
        )
    ),
    *(aggregator([1, 2, 3.5], method, bins) for method in (0, 2, 3, 9, -1) for bins in (0, 1, 100)),
    aggregator(normal(50), 3, 64),
    aggregator(normal(60) * 1e-3, 4, 16),
]
