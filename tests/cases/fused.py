"""Cases of the fused family."""

import numpy as np

from tests.opcases import case, normal, uniform
from tfg.core.types import dtypes

X, W, BIAS = normal(2, 5, 6, 3), normal(2, 3, 3, 4), normal(4)
NORM = [normal(4), normal(4, seed=1), normal(4, seed=2), uniform(4, low=0.5, high=2.0)]
PAIR = (normal(3, 5), normal(5, 4))
GELU = ("GeluApproximate", "GeluExact")
BF16 = dtypes.bfloat16.numpy
ONE = {"num_args": 1, "strides": [1] * 4, "padding": "SAME"}


def conv(args, fused_ops, **attrs):
    kinds = ["float"] * len(args)
    attrs = {"strides": [1, 2, 2, 1], "padding": "SAME", "num_args": len(args), "TArgs": kinds, **attrs}
    return case("_FusedConv2D", X, W, args, [], fused_ops=fused_ops, num_host_args=0, **attrs)


CASES = [
    conv([BIAS], ["BiasAdd"]),
    *(conv([BIAS], ["BiasAdd", op]) for op in ("Relu", "Relu6", "Elu")),
    conv([BIAS], ["BiasAdd", "LeakyRelu"], leakyrelu_alpha=0.3),
    conv(NORM, ["FusedBatchNorm"], epsilon=0.01),
    conv(NORM, ["FusedBatchNorm", "Relu"], epsilon=0.01),
    case("_FusedDepthwiseConv2dNative", X, normal(2, 2, 3, 1), [normal(3)], fused_ops=["BiasAdd", "Relu6"], **ONE),
    case(
        "_FusedConv3D", normal(1, 3, 4, 5, 2), normal(2, 2, 2, 2, 4), [BIAS],
        num_args=1, strides=[1] * 5, padding="SAME", fused_ops=["BiasAdd", "Relu"],
    ),
    *(
        case(
            "_FusedConv3D", normal(1, 3, 4, 5, 2), normal(2, 2, 2, 2, 4), [BIAS],
            num_args=1, strides=[1] * 5, padding=padding, fused_ops=["BiasAdd"], padding_list=[0, 0, 1, 0, 2, 0, 0, 3, 0, 0],
        )
        for padding in ("VALID", "SAME")
    ),
    case("_FusedMatMul", normal(3, 5), normal(5, 4), [BIAS], num_args=1, fused_ops=["BiasAdd", "Relu"]),
    case("_FusedMatMul", normal(5, 3), normal(5, 4), [BIAS], num_args=1, fused_ops=["BiasAdd"], transpose_a=True),
    case("_FusedMatMul", normal(3, 5), normal(5, 4), [np.zeros(3, np.float32)], num_args=1, fused_ops=["BiasAdd"]),
    *(case("_FusedMatMul", *PAIR, [BIAS], num_args=1, fused_ops=["BiasAdd", op]) for op in ("Tanh", "Sigmoid")),
    *(case("_FusedMatMul", *PAIR, [BIAS], num_args=1, fused_ops=["BiasAdd", op], tolerance=1e-5) for op in GELU),
    *(case("_MklLayerNorm", normal(*shape), normal(4), normal(4, seed=1), epsilon=0.01) for shape in ((5, 4), (2, 3, 4))),
    *(case("_MklLayerNorm", normal(*shape), normal(4), normal(4, seed=1)) for shape in ((4,), (2, 2, 3, 4))),
    case("_MklLayerNorm", normal(3, 4).astype(BF16), normal(4).astype(BF16), normal(4, seed=1).astype(BF16)),
]  # fmt: skip
