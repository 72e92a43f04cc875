"""Gradients of ops that TensorFlow has none of, against central differences, first and second."""

from __future__ import annotations

import numpy as np
import pytest

from tfg.core.building.builder import GraphBuilder
from tfg.core.gradients import gradients
from tfg.core.gradients.jacobian import check_gradient
from tfg.core.support.errors import InternalError, TfgError
from tfg.core.types import dtypes

CONV = {"strides": [1, 1, 1, 1], "padding": "SAME"}
CELL = [(2, 3), (2, 4), (2, 4), (7, 16), (4,), (4,), (4,), (16,)]
GRU = [(2, 3), (2, 4), (7, 8), (7, 4), (8,), (4,)]
IMAGE = (1, 4, 5, 2)
NORM = [(4,)] * 4


def fused(op, shapes, *fused_ops, **attrs):
    host = [[]] if op == "_FusedConv2D" else []
    return op, [*shapes[:2], list(shapes[2:]), *host], {"fused_ops": list(fused_ops), "num_args": len(shapes) - 2, **attrs}


# Each: op, shapes of the inputs that vary (arrays stay as they are), attributes.
OPS = [
    fused("_FusedMatMul", [(2, 3), (3, 4), (4,)], "BiasAdd"),
    *[fused("_FusedMatMul", [(2, 3), (3, 4), (4,)], "BiasAdd", last)
      for last in ("Relu", "Relu6", "Elu", "LeakyRelu", "Tanh", "Sigmoid", "GeluApproximate", "GeluExact")],
    fused("_FusedMatMul", [(3, 2), (4, 3), (4,)], "BiasAdd", transpose_a=True, transpose_b=True),
    fused("_FusedConv2D", [IMAGE, (2, 2, 2, 4), (4,)], "BiasAdd", "Relu", **CONV),
    fused("_FusedConv2D", [IMAGE, (2, 2, 2, 4), *NORM], "FusedBatchNorm", "Elu", **CONV),
    fused("_FusedConv3D", [(1, 2, 3, 4, 2), (1, 2, 2, 2, 3), (3,)], "BiasAdd", "Tanh", strides=[1] * 5, padding="VALID"),
    fused("_FusedDepthwiseConv2dNative", [IMAGE, (2, 2, 2, 2), (4,)], "BiasAdd", **CONV),
    *[("_FusedBatchNormEx", [(3, 2, 2, 4), *[(4,)] * 4, [(3, 2, 2, 4)] * sides],
       {"num_side_inputs": sides, "activation_mode": mode, "is_training": training})
      for sides, mode, training in ((0, "Identity", False), (1, "Relu", False), (0, "Identity", True))],
    *[("Fused" + name, [IMAGE, *sizes, np.int32([[0, 0], [1, 1], [1, 0], [0, 0]]), (2, 2, 2, 3)],
       {"mode": "REFLECT", "strides": [1] * 4, "padding": "VALID"})
      for name, sizes in (("PadConv2D", []), ("ResizeAndPadConv2D", [np.int32([5, 3])]))],
    ("_MklLayerNorm", [(3, 5), (5,), (5,)], {}),
    ("_UnaryOpsComposition", [(3,)], {"op_names": ["Exp", "Sin", "Tanh"]}),
    ("LSTMBlockCell", CELL, {}),
    ("LSTMBlockCell", CELL, {"use_peephole": True, "cell_clip": 0.7}),
    ("GRUBlockCell", GRU, {}),
    ("SoftsignGrad", [(5,), (5,)], {}),
    ("AdjustContrastv2", [(2, 3, 4, 2), ()], {}),
    *[("ResizeArea", [IMAGE, np.int32(size)], {"align_corners": align}) for size, align in (([2, 3], False), ([7, 4], True))],
    ("ResizeBicubicGrad", [(1, 3, 3, 1), np.zeros((1, 5, 4, 1), np.float32)], {}),
    ("ResizeNearestNeighborGrad", [(1, 3, 3, 1), np.int32([5, 4])], {}),
    ("ScaleAndTranslateGrad",
     [(1, 3, 3, 1), np.zeros((1, 5, 4, 1), np.float32), np.float32([0.6, 0.8]), np.float32([0, 0.2])], {}),
    ("MatrixExponential", [(2, 3, 3)], {}),
    ("IsotonicRegression", [(2, 6)], {"output_dtype": dtypes.float64}),
    ("Bitcast", [(3,)], {"type": dtypes.float64}),
    *[("Mod", [(4,), (4,)], {}), ("TruncateMod", [(4,), (1,)], {})],
    ("Conv2DBackpropInputV2", [IMAGE, (2, 2, 2, 3), (1, 4, 5, 3)], CONV),
    ("Conv2DBackpropFilterV2", [IMAGE, (2, 2, 2, 3), (1, 4, 5, 3)], CONV),
    *[(op, [(3,)], {}) for op in ("Snapshot", "DeepCopy", "GuaranteeConst", "Copy", "CopyHost")],
]  # fmt: skip
SINGLE = {"LSTMBlockCell", "GRUBlockCell", "AdjustContrastv2", "ResizeArea", "ResizeBicubicGrad", "ScaleAndTranslateGrad",
          "_MklLayerNorm", "_FusedBatchNormEx", "FusedResizeAndPadConv2D", "_FusedMatMul", "_FusedConv3D",
          "_FusedDepthwiseConv2dNative"}  # fmt: skip
"""Ops without a kernel for doubles."""
CONSTANT = {"_FusedBatchNormEx": ("x3:0", "x4:0")}
"""What TensorFlow takes for a constant, as in FusedBatchNormV3: the moments."""


def build(op: str, inputs: list, attrs: dict):
    """The graph, the first output, and what is fed."""
    g = GraphBuilder()
    feeds: dict[str, np.ndarray] = {}
    dtype = np.float32 if op in SINGLE else np.float64

    def value(x):
        if isinstance(x, list):
            return [value(each) for each in x]
        if isinstance(x, np.ndarray):
            return g.constant(x)
        name = f"x{len(feeds)}"
        feeds[f"{name}:0"] = np.random.default_rng(len(feeds)).uniform(0.2, 1.2, x).astype(dtype)
        return g.Placeholder(dtype=dtypes.from_numpy(np.dtype(dtype)), shape=list(x), name=name)

    node = g.add(op, [value(x) for x in inputs], attrs, "op")
    g.Sin(node.output(), name="y")
    return g.graph, feeds


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("op", "inputs", "attrs"), OPS, ids=[f"{op}-{i}" for i, (op, _, _) in enumerate(OPS)])
def test_first_derivatives(op, inputs, attrs) -> None:
    graph, feeds = build(op, inputs, attrs)
    for x in feeds.keys() - CONSTANT.get(op, ()):
        outcome = check_gradient(graph, "y:0", x, feeds, max_elements=3, tolerance=5e-3 if op in SINGLE else 1e-5)
        assert outcome.passed, outcome


# TensorFlow takes ResizeBilinearGrad for not differentiable.
TWICE = [row for row in OPS if row[0] != "FusedResizeAndPadConv2D"]


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("op", "inputs", "attrs"), TWICE, ids=[f"{op}-{i}" for i, (op, _, _) in enumerate(TWICE)])
def test_second_derivatives(op, inputs, attrs) -> None:
    graph, feeds = build(op, inputs, attrs)
    graph, firsts = gradients(graph, ["y:0"], list(feeds))
    gradient = next(name for name in firsts if name is not None)
    for second in list(feeds)[:2]:
        outcome = check_gradient(graph, gradient, second, feeds, max_elements=2, tolerance=2e-2 if op in SINGLE else 1e-5)
        assert outcome.passed, outcome


@pytest.mark.parametrize(
    ("op", "inputs", "attrs"),
    [
        ("_FusedMatMul", [(2, 3), (3, 4), [(4,)]], {"fused_ops": [b"\xff"], "num_args": 1}),
        ("_UnaryOpsComposition", [(3,)], {"op_names": [b"\xff"]}),
    ],
)
def test_a_name_of_an_op_that_is_no_text_is_refused(op, inputs, attrs):
    g = GraphBuilder()
    made = [
        [g.Placeholder(dtype="float32", shape=one) for one in shape] if isinstance(shape, list) else
        g.Placeholder(dtype="float32", shape=shape)
        for shape in inputs
    ]  # fmt: skip
    y = g.apply(op, *made, **attrs)
    with pytest.raises(TfgError) as refused:
        gradients(g.graph, y.name, [made[0].name])
    assert not isinstance(refused.value, InternalError)
