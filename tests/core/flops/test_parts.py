"""FLOPs formulas of ops that do what others do, which tests of their own hold: older versions, fused ops."""

from __future__ import annotations

import numpy as np
import pytest

from tests.core.flops.held import cost
from tfg.core.registry.registry import ZERO

IMAGE, PADDED, HALF, WEIGHTS, OUT = (2, 4, 4, 3), (2, 6, 6, 3), (2, 2, 2, 3), (3, 3, 3, 5), (2, 4, 4, 5)
VOLUME, CUBE, DEEP, SMALL_VOLUME = (2, 4, 4, 4, 3), (3, 3, 3, 3, 5), (2, 4, 4, 4, 5), (2, 2, 2, 2, 3)
POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
POOL_3D = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "VALID"}
SIZES = [np.int32(POOL["ksize"]), np.int32(POOL["strides"])]
SAME, VALID = {"strides": [1] * 4, "padding": "SAME"}, {"strides": [1] * 4, "padding": "VALID"}
SAME_3D = {"strides": [1] * 5, "padding": "SAME"}
VECTOR, ARGMAX = (3,), np.zeros(HALF, np.int64)
FRAME, PADDINGS = {**VALID, "mode": "REFLECT"}, np.int32([[0, 0], [1, 1], [1, 1], [0, 0]])
LSTM = [(4, 2, 3), (2, 5), (2, 5), (8, 20), (5,), (5,), (5,), (20,)]
STATES = [(4, 2, 5)] * 9
FINISH = {"fused_ops": ["BiasAdd", "LeakyRelu"], "num_args": 1}


def one(op, *inputs, **attrs):
    return op, inputs, attrs


def finished(product, shape):
    return [product, one("BiasAdd", shape, shape[-1:]), one("LeakyRelu", shape)]


CASES = [
    (one("BatchMatMul", (2, 3, 4), (2, 4, 5)), [one("BatchMatMulV2", (2, 3, 4), (2, 4, 5))]),
    (one("BatchMatMulV3", (2, 3, 4), (2, 4, 5), Tout="float"), [one("BatchMatMulV2", (2, 3, 4), (2, 4, 5))]),
    (one("Conv", IMAGE, WEIGHTS, **SAME), [one("Conv2D", IMAGE, WEIGHTS, **SAME)]),
    (one("Conv2DBackpropInputV2", IMAGE, WEIGHTS, OUT, **SAME),
     [one("Conv2DBackpropInput", np.int32(IMAGE), WEIGHTS, OUT, **SAME)]),
    (one("Conv2DBackpropFilterV2", IMAGE, WEIGHTS, OUT, **SAME),
     [one("Conv2DBackpropFilter", IMAGE, np.int32(WEIGHTS), OUT, **SAME)]),
    (one("Conv3DBackpropInput", VOLUME, CUBE, DEEP, **SAME_3D),
     [one("Conv3DBackpropInputV2", np.int32(VOLUME), CUBE, DEEP, **SAME_3D)]),
    (one("Conv3DBackpropFilter", VOLUME, CUBE, DEEP, **SAME_3D),
     [one("Conv3DBackpropFilterV2", VOLUME, np.int32(CUBE), DEEP, **SAME_3D)]),
    (one("MaxPoolWithArgmax", IMAGE, **POOL), [one("MaxPool", IMAGE, **POOL)]),
    (one("MaxPoolV2", IMAGE, *SIZES, padding="VALID"), [one("MaxPool", IMAGE, **POOL)]),
    (one("MaxPoolGradV2", IMAGE, HALF, HALF, *SIZES, padding="VALID"), [one("MaxPoolGrad", IMAGE, HALF, HALF, **POOL)]),
    (one("MaxPoolGradWithArgmax", IMAGE, HALF, ARGMAX, **POOL), [one("AddV2", HALF, HALF)]),
    (one("MaxPoolGradGrad", IMAGE, HALF, IMAGE, **POOL), [one("MaxPool", IMAGE, **POOL)]),
    (one("MaxPoolGradGradV2", IMAGE, HALF, IMAGE, *SIZES, padding="VALID"), [one("MaxPool", IMAGE, **POOL)]),
    (one("MaxPool3DGradGrad", VOLUME, SMALL_VOLUME, VOLUME, **POOL_3D), [one("MaxPool3D", VOLUME, **POOL_3D)]),
    *((one(f"FusedBatchNorm{v}", IMAGE, *[VECTOR] * 4, is_training=False),
       [one("FusedBatchNormV3", IMAGE, *[VECTOR] * 4, is_training=False)]) for v in ("", "V2")),
    *((one(f"FusedBatchNormGrad{v}", IMAGE, IMAGE, *[VECTOR] * 3),
       [one("FusedBatchNormGradV3", IMAGE, IMAGE, *[VECTOR] * 4)]) for v in ("", "V2")),
    (one("_FusedBatchNormEx", IMAGE, *[VECTOR] * 4, [IMAGE], is_training=False, activation_mode="Relu", num_side_inputs=1),
     [one("FusedBatchNormV3", IMAGE, *[VECTOR] * 4, is_training=False), one("AddV2", IMAGE, IMAGE), one("Relu", IMAGE)]),
    (one("_FusedBatchNormGradEx", IMAGE, IMAGE, *[VECTOR] * 5, IMAGE, activation_mode="Relu"),
     [one("FusedBatchNormGradV3", IMAGE, IMAGE, *[VECTOR] * 4), one("ReluGrad", IMAGE, IMAGE)]),
    (one("BlockLSTMV2", np.int64(4), *LSTM), [one("BlockLSTM", np.int64(4), *LSTM)]),
    (one("BlockLSTMGradV2", np.int64(4), *LSTM, *STATES, use_peephole=True),
     [one("BlockLSTMGrad", np.int64(4), *LSTM, *STATES, use_peephole=True)]),
    (one("_FusedMatMul", (3, 4), (4, 5), [(5,)], **FINISH), finished(one("MatMul", (3, 4), (4, 5)), (3, 5))),
    (one("_FusedConv2D", IMAGE, WEIGHTS, [(5,)], [], **SAME, **FINISH), finished(one("Conv2D", IMAGE, WEIGHTS, **SAME), OUT)),
    (one("_FusedConv3D", VOLUME, CUBE, [(5,)], **SAME_3D, **FINISH), finished(one("Conv3D", VOLUME, CUBE, **SAME_3D), DEEP)),
    (one("_FusedDepthwiseConv2dNative", IMAGE, (3, 3, 3, 1), [VECTOR], **SAME, **FINISH),
     finished(one("DepthwiseConv2dNative", IMAGE, (3, 3, 3, 1), **SAME), IMAGE)),
    (one("FusedPadConv2D", IMAGE, PADDINGS, WEIGHTS, **FRAME), [one("Conv2D", PADDED, WEIGHTS, **VALID)]),
    (one("FusedResizeAndPadConv2D", HALF, np.int32([4, 4]), PADDINGS, WEIGHTS, **FRAME),
     [one("ResizeBilinear", HALF, np.int32([4, 4])), one("Conv2D", PADDED, WEIGHTS, **VALID)]),
    (one("_UnaryOpsComposition", IMAGE, op_names=["Exp", "Neg", "Rsqrt"]),
     [one("Exp", IMAGE), one("Neg", IMAGE), one("Rsqrt", IMAGE)]),
]  # fmt: skip
"""A node, and the nodes that do the same together."""

ALSO_HELD = tuple(whole[0] for whole, _ in CASES)


@pytest.mark.parametrize("whole, parts", CASES, ids=ALSO_HELD)
def test_ops_cost_what_their_parts_cost(whole, parts):
    def counted(node):
        op, inputs, attrs = node
        return cost(op, inputs, **attrs)

    assert counted(whole) == sum(map(counted, parts), ZERO) != ZERO
