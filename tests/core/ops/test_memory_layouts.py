"""Results do not depend on how inputs lie in memory: by columns, with gaps, backwards."""

from __future__ import annotations

import numpy as np
import pytest

from tests import opcases
from tests.comparison import assert_same
from tests.core.ops.test_ops import build
from tests.opcases import case, i32, normal
from tests.recorded_answers import answers
from tfg.core.building.builder import GraphBuilder
from tfg.core.runtime.session.session import Session
from tfg.core.runtime.state.file_access import FileAccess


def with_gaps(a):
    spread = np.empty([2 * n for n in a.shape], a.dtype)[(slice(None, None, 2),) * a.ndim]
    spread[...] = a
    return spread


def backwards(a):
    turned = (slice(None, None, -1),) * a.ndim
    return np.ascontiguousarray(a[turned])[turned]


LAYOUTS = {"by columns": np.asfortranarray, "with gaps": with_gaps, "backwards": backwards}


def laid_out(feeds, layout):
    return {name: LAYOUTS[layout](value) if value.ndim else value for name, value in feeds.items()}


def runs(case, all_feeds):
    """Yield the results of the case for each feeds. A session without state serves all: most of the time goes into plans."""
    graph, steps = build(case)
    session = Session(graph, seed=0, files=FileAccess.everything())
    for feeds in all_feeds:
        yield [session.run(list(fetches), feeds) for fetches in steps]
        if any(node.op_def.is_stateful for node in graph):
            session = Session(graph, seed=0, files=FileAccess.everything())


def laid_out_runs(case):
    return runs(case, [laid_out(case.feeds, layout) for layout in LAYOUTS])


def single_ops(family):
    """Return the single-op cases with an answer of TensorFlow and an input of several elements, which alone has layouts."""
    recorded = answers(family)
    for item in opcases.load_cases(family):
        steps = recorded.steps(item.key)
        is_answered = not any(step["error"] for step in steps)
        if item.is_single_op and is_answered and any(x.size > 1 for x in item.feeds.values()):
            yield item, steps


@pytest.mark.sampled(50)
@pytest.mark.parametrize("family", opcases.families())
def test_every_op_case(family):
    for item, steps in single_ops(family):
        for results in laid_out_runs(item):
            for result, step in zip(results, steps, strict=True):
                for got, want in zip(result, step["results"], strict=True):
                    assert_same(got, want, item.tolerance)


IMAGES, SMALLER = normal(6, 32, 32, 16), normal(6, 16, 16, 16, seed=1)
WINDOW = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
OVERLAP = {"ksize": [1, 3, 3, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}
PLAIN = {"strides": [1, 1, 1, 1], "padding": "SAME"}
TRAINED = {"data_format": "NHWC", "is_training": True}
CHANNEL = [np.abs(normal(16, seed=seed)) + 1 for seed in range(4)]

LARGE = {
    "max pool": case("MaxPool", IMAGES, **WINDOW),
    "max pool, overlapping": case("MaxPool", IMAGES, **OVERLAP),
    "max pool gradient": case("MaxPoolGrad", IMAGES, SMALLER, SMALLER, **WINDOW),
    "max pool gradient, overlapping": case("MaxPoolGrad", IMAGES, SMALLER, SMALLER, **OVERLAP),
    "average pool": case("AvgPool", IMAGES, **OVERLAP),
    "average pool gradient": case("AvgPoolGrad", i32(*IMAGES.shape), SMALLER, **OVERLAP),
    "convolution": case("Conv2D", IMAGES, normal(3, 3, 16, 24), **PLAIN),
    "convolution, wide": case("Conv2D", normal(2, 16, 16, 64), normal(3, 3, 64, 64), **PLAIN),
    "convolution, 1 x 1": case("Conv2D", IMAGES, normal(1, 1, 16, 64), **PLAIN),
    "convolution, strided": case("Conv2D", IMAGES, normal(5, 5, 16, 24), strides=[1, 2, 2, 1], padding="SAME"),
    "convolution, few channels": case("Conv2D", normal(4, 32, 32, 3), normal(5, 5, 3, 16), **PLAIN),
    "convolution, groups": case("Conv2D", IMAGES, normal(3, 3, 4, 24), **PLAIN),
    "input gradient": case("Conv2DBackpropInput", i32(*IMAGES.shape), normal(3, 3, 16, 16), IMAGES, **PLAIN),
    "filter gradient": case("Conv2DBackpropFilter", IMAGES, i32(3, 3, 16, 16), IMAGES, **PLAIN),
    "filter gradient, wide": case(
        "Conv2DBackpropFilter", normal(2, 16, 16, 64), i32(3, 3, 64, 64), normal(2, 16, 16, 64, seed=1), **PLAIN
    ),
    "depthwise": case("DepthwiseConv2dNative", IMAGES, normal(3, 3, 16, 1), **PLAIN),
    "depthwise, two filters": case("DepthwiseConv2dNative", IMAGES, normal(3, 3, 16, 2), **PLAIN),
    "depthwise input gradient": case(
        "DepthwiseConv2dNativeBackpropInput", i32(*IMAGES.shape), normal(3, 3, 16, 1), IMAGES, **PLAIN
    ),
    "depthwise filter gradient": case("DepthwiseConv2dNativeBackpropFilter", IMAGES, i32(3, 3, 16, 1), IMAGES, **PLAIN),
    "volumes": case("Conv3D", normal(2, 8, 16, 16, 8), normal(3, 3, 3, 8, 16), strides=[1] * 5, padding="SAME"),
    "batch norm": case("FusedBatchNormV3", IMAGES, *CHANNEL[:2], np.zeros(0, "f"), np.zeros(0, "f"), U="float32", **TRAINED),
    "batch norm gradient": case("FusedBatchNormGradV3", IMAGES, IMAGES[::-1].copy(), *CHANNEL, U="float32", **TRAINED),
    "local response": case("LRN", IMAGES),
    "product": case("MatMul", normal(300, 200), normal(200, 150)),
    "product, turned": case("MatMul", normal(200, 300), normal(150, 200), transpose_a=True, transpose_b=True),
    "products": case("BatchMatMulV2", normal(4, 100, 80), normal(4, 80, 90)),
    "einsum": case("Einsum", [normal(8, 40, 60), normal(60, 4, 20)], equation="abc,cde->adbe"),
    "softmax": case("Softmax", normal(400, 300)),
    "loss": case("SparseSoftmaxCrossEntropyWithLogits", normal(600, 300), np.arange(600, dtype=np.int32) % 300),
    "sum": case("Sum", normal(300, 40, 50), i32(0, 2)),
    "relu gradient": case("ReluGrad", IMAGES, IMAGES[::-1].copy()),
    "bias gradient": case("BiasAddGrad", IMAGES),
    "resize": case("ResizeBilinear", normal(4, 24, 24, 16), i32(48, 40)),
    "rows": case("GatherV2", normal(500, 40), np.arange(300, dtype=np.int32)[::-1].copy(), i32(0)[0]),
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("kind", LARGE)
def test_large_values(kind):
    """Kernels that work in blocks compute many numbers in other ways than few."""
    item = LARGE[kind]
    ((expected,),) = runs(item, [item.feeds])
    for (results,) in laid_out_runs(item):
        for got, want in zip(results, expected, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4 * np.abs(want).max(initial=1e-9))


@pytest.mark.slow
def test_groups_of_steps():
    """A convolution that is finished block by block, and elementwise steps tile by tile, as runs after the first go."""
    g = GraphBuilder()
    x, z = (g.Placeholder(dtype="float32", shape=[4, 64, 64, 16], name=name) for name in "xz")
    y = g.BiasAdd(g.Conv2D(x, g.constant(normal(3, 3, 16, 16)), **PLAIN), g.constant(normal(16)))
    out = g.Mul(g.Sigmoid(g.AddV2(g.Relu(y), z)), z)
    feeds = {"x:0": normal(4, 64, 64, 16), "z:0": normal(4, 64, 64, 16, seed=1)}
    expected = Session(g.graph).run([out.name], feeds)[0]
    for layout in LAYOUTS:
        session = Session(g.graph)
        for _ in range(4):
            np.testing.assert_allclose(session.run([out.name], laid_out(feeds, layout))[0], expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", ["resource", "reference"])
def test_variables_that_hold_what_lies_by_columns(kind):
    """Rows of a variable are written in place, whatever was assigned to the variable."""
    g = GraphBuilder()
    value = g.Transpose(g.constant(np.arange(12, dtype=np.float32).reshape(4, 3)), g.constant([1, 0]))
    value = g.AddV2(value, value)
    rows, update = g.constant([[0, 1], [2, 3]]), g.constant(np.float32([100, 200]))
    if kind == "resource":
        v = g.VarHandleOp(dtype="float32", shape=[3, 4], name="v")
        first = g.apply("AssignVariableOp", v, value)
        with g.control_dependencies([first]):
            second = g.apply("ResourceScatterNdAdd", v, rows, update)
        with g.control_dependencies([second]):
            read = g.ReadVariableOp(v, dtype="float32")
    else:
        v = g.VariableV2(dtype="float32", shape=[3, 4], name="v")
        with g.control_dependencies([g.Assign(v, value).node]):
            read = g.Identity(g.ScatterNdAdd(v, rows, update))
    expected = 2 * np.arange(12, dtype=np.float32).reshape(4, 3).T
    expected[0, 1] += 100
    expected[2, 3] += 200
    np.testing.assert_array_equal(Session(g.graph).run([read.name])[0], expected)
