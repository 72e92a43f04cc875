"""FLOPs formulas of ops that do what others do, which tests of their own hold: older versions, mostly."""

from __future__ import annotations

import numpy as np
import pytest

from tests.core.flops.held import cost
from tfg.core.registry.registry import ZERO

IMAGE, HALF, WEIGHTS, OUT = (2, 4, 4, 3), (2, 2, 2, 3), (3, 3, 3, 5), (2, 4, 4, 5)
VOLUME, CUBE, DEEP, SMALL_VOLUME = (2, 4, 4, 4, 3), (3, 3, 3, 3, 5), (2, 4, 4, 4, 5), (2, 2, 2, 2, 3)
POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
POOL_3D = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "VALID"}
SIZES = [np.int32(POOL["ksize"]), np.int32(POOL["strides"])]
SAME = {"strides": [1] * 4, "padding": "SAME"}
SAME_3D = {"strides": [1] * 5, "padding": "SAME"}
VECTOR, ARGMAX = (3,), np.zeros(HALF, np.int64)
LSTM = [(4, 2, 3), (2, 5), (2, 5), (8, 20), (5,), (5,), (5,), (20,)]
STATES = [(4, 2, 5)] * 9


def one(op, *inputs, **attrs):
    return op, inputs, attrs


CASES = [
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
    (one("_FusedBatchNormGradEx", IMAGE, IMAGE, *[VECTOR] * 5, IMAGE, activation_mode="Relu"),
     [one("FusedBatchNormGradV3", IMAGE, IMAGE, *[VECTOR] * 4), one("ReluGrad", IMAGE, IMAGE)]),
    (one("BlockLSTMV2", np.int64(4), *LSTM), [one("BlockLSTM", np.int64(4), *LSTM, cell_clip=-1.0)]),
    (one("BlockLSTMGradV2", np.int64(4), *LSTM, *STATES, use_peephole=True),
     [one("BlockLSTMGrad", np.int64(4), *LSTM, *STATES, use_peephole=True)]),
]  # fmt: skip
"""A node, and the nodes that do the same together."""

ALSO_HELD = tuple(whole[0] for whole, _ in CASES)


@pytest.mark.parametrize("whole, parts", CASES, ids=ALSO_HELD)
def test_ops_cost_what_their_parts_cost(whole, parts):
    def counted(node):
        op, inputs, attrs = node
        return cost(op, inputs, **attrs)

    assert counted(whole) == sum(map(counted, parts), ZERO) != ZERO
