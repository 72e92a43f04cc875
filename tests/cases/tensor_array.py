"""TensorArrays by reference, string and resource handle."""

import numpy as np

from tests.opcases import graph_case, normal, strings
from tfg.core.support.versions import Versions

X = normal(3, 2, dtype="float64")


def array_v3(g, size=3, dtype="float64", **options):
    return g.TensorArrayV3(size, dtype=dtype, **options)


def written(g, handle, flow, version="V3", values=X):
    for i, row in enumerate(values):
        flow = g.apply(f"TensorArrayWrite{version}", handle, i, row, flow)
    return flow


def allow_old_ops(g):
    """Handles by reference and by string are for graphs before version 16."""
    g.graph.versions = Versions(15)


def every_op(version):
    """Write, size, gather, read, concat, close of an array."""

    def build(g):
        allow_old_ops(g)
        options = {"dtype": "float64", "clear_after_read": False}
        if version == "V3":
            handle, flow = array_v3(g, clear_after_read=False)
        else:
            handle, flow = g.apply(f"TensorArray{version}", 3, **options), g.constant(0.0)
        flow = written(g, handle, flow, version)
        size = g.apply(f"TensorArraySize{version}", handle, flow)
        gathered = g.apply(f"TensorArrayGather{version}", handle, [2, 0], flow, dtype="float64")
        read = g.apply(f"TensorArrayRead{version}", handle, 1, flow, dtype="float64")
        joined, lengths = g.apply(f"TensorArrayConcat{version}", handle, flow, dtype="float64")
        results = [size, gathered, read, joined, lengths]
        with g.control_dependencies(results):
            closed = g.apply(f"TensorArrayClose{version}", handle)
        return [[*(result.name for result in results), closed.name]]

    return build


def filled(version):
    """Scatter and split, then gather the written elements."""

    def build(g):
        allow_old_ops(g)
        arrays = []
        for _ in range(2):
            created = g.apply(f"TensorArray{version}", 3, dtype="float64")
            arrays.append(created if version == "V3" else (created, g.constant(0.0)))
        (first, flow1), (second, flow2) = arrays
        flow1 = g.apply(f"TensorArrayScatter{version}", first, [2, 0, 1], X, flow1)
        flow2 = g.apply(f"TensorArraySplit{version}", second, X, np.array([1, 0, 2]), flow2)
        gathered = g.apply(f"TensorArrayGather{version}", first, [0, 1, 2], flow1, dtype="float64")
        joined, lengths = g.apply(f"TensorArrayConcat{version}", second, flow2, dtype="float64")
        return [[gathered.name, joined.name, lengths.name]]

    return build


def packed(g):
    allow_old_ops(g)
    handle = g.TensorArray(3, dtype="float64")
    flow = g.TensorArrayUnpack(handle, X, g.constant(0.0))
    return [[g.TensorArrayPack(handle, flow, dtype="float64").name]]


def gradient_array(version):
    """Writes to an array of gradients add up; an unwritten element reads as zeros of the known shape."""

    def build(g):
        allow_old_ops(g)
        handle, flow = array_v3(g) if version == "V3" else (g.TensorArrayV2(3, dtype="float64"), g.constant(0.0))
        flow = written(g, handle, flow, version)
        node = g.apply(f"TensorArrayGrad{version}", handle, flow, source="gradients")
        grad = node[0] if version == "V3" else node
        again = g.apply(f"TensorArrayGrad{version}", handle, flow, source="gradients")
        same = again[0] if version == "V3" else again
        flow = g.apply(f"TensorArrayWrite{version}", grad, 1, X[0], flow)
        flow = g.apply(f"TensorArrayWrite{version}", same, 1, X[1], flow)
        reads = [g.apply(f"TensorArrayRead{version}", grad, i, flow, dtype="float64") for i in range(3)]
        return [[read.name for read in reads]]

    return build


def gradient_by_reference(g):
    allow_old_ops(g)
    handle = g.TensorArrayV2(2, dtype="float64")
    flow = written(g, handle, g.constant(0.0), "V2", X[:2])
    grad = g.TensorArrayGrad(handle, flow, source="gradients")
    flow = g.TensorArrayWrite(grad, 0, X[0], flow)
    return [[g.TensorArrayRead(grad, 0, flow, dtype="float64").name]]


def gradient_with_shape(g):
    handle, flow = array_v3(g)
    flow = written(g, handle, flow)
    grad, flow = g.TensorArrayGradWithShape(handle, flow, [4], source="gradients")
    return [[g.TensorArrayReadV3(grad, 0, flow, dtype="float64").name]]


def gradient_of_no_shape(g, handle, flow):
    flow = written(g, handle, flow)
    grad, flow = g.TensorArrayGradWithShape(handle, flow, [-1], source="gradients")
    return g.TensorArrayReadV3(grad, 0, flow, dtype="float64")


def refused(act, **options):
    def build(g):
        handle, flow = array_v3(g, **options)
        return [[act(g, handle, flow).name]]

    return build


def write_twice(g, handle, flow):
    flow = g.TensorArrayWriteV3(handle, 0, X[0], flow)
    return g.TensorArrayWriteV3(handle, 0, X[0], flow)


def read_twice(g, handle, flow):
    flow = written(g, handle, flow)
    with g.control_dependencies([g.TensorArrayReadV3(handle, 0, flow, dtype="float64")]):
        return g.TensorArrayReadV3(handle, 0, flow, dtype="float64")


def write_after_close(g, handle, flow):
    with g.control_dependencies([g.TensorArrayCloseV3(handle)]):
        return g.TensorArrayWriteV3(handle, 0, X[0], flow)


def write_of_two_shapes(g, handle, flow):
    flow = g.TensorArrayWriteV3(handle, 0, X[0], flow)
    return g.TensorArrayWriteV3(handle, 1, X, flow)


def gather_of_two_shapes(g, handle, flow):
    flow = write_of_two_shapes(g, handle, flow)
    return g.TensorArrayGatherV3(handle, [0, 1], flow, dtype="float64")


def write(index, value=X[0]):
    return lambda g, handle, flow: g.TensorArrayWriteV3(handle, index, value, flow)


def read(index, dtype="float64"):
    return lambda g, handle, flow: g.TensorArrayReadV3(handle, index, flow, dtype=dtype)


def gather(indices, **options):
    return lambda g, handle, flow: g.TensorArrayGatherV3(handle, indices, flow, dtype="float64", **options)


def concat(g, handle, flow, **options):
    return g.TensorArrayConcatV3(handle, flow, dtype="float64", **options)[0]


def dynamic(g):
    handle, flow = array_v3(g, 0, dynamic_size=True)
    flow = g.TensorArrayWriteV3(handle, 2, X[0], flow)
    flow = g.TensorArrayWriteV3(handle, 0, X[1], flow)
    return [[g.TensorArraySizeV3(handle, flow).name, g.TensorArrayReadV3(handle, 0, flow, dtype="float64").name]]


def of_strings(g):
    handle, flow = array_v3(g, 2, "string")
    flow = g.TensorArrayScatterV3(handle, [0, 1], g.constant(strings("a", "bc")), flow)
    reads = [g.TensorArrayReadV3(handle, i, flow, dtype="string") for i in range(2)]
    return [[read.name for read in reads]]


def scatter(indices, values=X, **options):
    return lambda g, handle, flow: g.TensorArrayScatterV3(handle, indices, values, flow)


def split(lengths, values=X):
    return lambda g, handle, flow: g.TensorArraySplitV3(handle, values, np.array(lengths), flow)


_NAMES = ("", "Write", "Read", "Gather", "Concat", "Size", "Close")
CASES = [
    *(graph_case(f"every op, {v or 'V1'}, {n}", f"TensorArray{n}{v}", every_op(v)) for v in ("", "V2", "V3") for n in _NAMES),
    *(graph_case(f"scattered, {v or 'V1'}", f"TensorArrayScatter{v}", filled(v)) for v in ("", "V2", "V3")),
    *(graph_case(f"split, {v or 'V1'}", f"TensorArraySplit{v}", filled(v)) for v in ("", "V2", "V3")),
    graph_case("pack", "TensorArrayPack", packed),
    graph_case("unpack", "TensorArrayUnpack", packed),
    graph_case("gradients, V2", "TensorArrayGradV2", gradient_array("V2")),
    graph_case("gradients, V3", "TensorArrayGradV3", gradient_array("V3")),
    graph_case("gradients by reference", "TensorArrayGrad", gradient_by_reference),
    graph_case("gradients of a negative size", "TensorArrayGradWithShape", refused(gradient_of_no_shape)),
    graph_case("gradients with shape", "TensorArrayGradWithShape", gradient_with_shape),
    graph_case("dynamic size", "TensorArrayV3", dynamic),
    graph_case("strings", "TensorArrayV3", of_strings),
    graph_case("negative size", "TensorArrayV3", refused(write(0), size=-1)),
    graph_case("size of rank one", "TensorArrayV3", refused(write(0), size=[1])),
    graph_case("write twice", "TensorArrayWriteV3", refused(write_twice)),
    graph_case("write beyond the end", "TensorArrayWriteV3", refused(write(3))),
    graph_case("write before the start", "TensorArrayWriteV3", refused(write(-1), dynamic_size=True)),
    graph_case("write at a vector", "TensorArrayWriteV3", refused(write([0]))),
    graph_case("write of another dtype", "TensorArrayWriteV3", refused(write(0, np.int32(1)))),
    graph_case("write of another shape", "TensorArrayWriteV3", refused(write(0), element_shape=[3])),
    graph_case("write of two shapes", "TensorArrayWriteV3", refused(write_of_two_shapes, identical_element_shapes=True)),
    graph_case("write after close", "TensorArrayCloseV3", refused(write_after_close)),
    graph_case("read twice", "TensorArrayReadV3", refused(read_twice)),
    graph_case("read of nothing", "TensorArrayReadV3", refused(read(0))),
    graph_case("read of nothing, shape known", "TensorArrayReadV3", refused(read(0), element_shape=[2])),
    graph_case("read beyond the end", "TensorArrayReadV3", refused(read(3))),
    graph_case("read of another dtype", "TensorArrayReadV3", refused(read(0, "float32"))),
    graph_case("gather of two shapes", "TensorArrayGatherV3", refused(gather_of_two_shapes)),
    graph_case("gather of nothing", "TensorArrayGatherV3", refused(gather([]))),
    graph_case("gather of nothing, shape known", "TensorArrayGatherV3", refused(gather([], element_shape=[2]))),
    graph_case("gather at a matrix", "TensorArrayGatherV3", refused(gather([[0]]))),
    graph_case("concat of nothing", "TensorArrayConcatV3", refused(concat, size=0)),
    graph_case("scatter beyond the end", "TensorArrayScatterV3", refused(scatter([0, 1, 3]))),
    graph_case("scatter with too few indices", "TensorArrayScatterV3", refused(scatter([0, 1]))),
    graph_case("scatter of a scalar", "TensorArrayScatterV3", refused(scatter([0], np.float64(1)))),
    graph_case("split of too few rows", "TensorArraySplitV3", refused(split([1, 1, 0]))),
    graph_case("split into too few pieces", "TensorArraySplitV3", refused(split([3]))),
    graph_case("split of a scalar", "TensorArraySplitV3", refused(split([1], np.float64(1)))),
]
