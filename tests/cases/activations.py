"""Cases of the activations family."""

import numpy as np

from tests.opcases import case, normal
from tfg.core.types.dtypes import from_name

SPECIAL = np.array([-np.inf, -100.0, -1.0, -0.0, 0.0, 0.5, 6.0, 7.0, 100.0, np.inf, np.nan], np.float32)
FORWARD = ("Relu", "Relu6", "Elu", "Selu", "Softplus", "Softsign", "LeakyRelu")
BACKWARD = ("ReluGrad", "Relu6Grad", "EluGrad", "SeluGrad", "SoftplusGrad", "SoftsignGrad", "LeakyReluGrad")


def forward(op):
    return [
        case(op, normal(3, 4, dtype="double", scale=3)),
        case(op, SPECIAL),
        case(op, normal(5, dtype="half")),
        case(op, normal(5, dtype="bfloat16")),
        case(op, np.zeros((0, 3), np.float32)),
        case(op, normal(dtype="float")),
    ]


def backward(op):
    return [
        case(op, normal(3, 4, dtype="double"), normal(3, 4, dtype="double", seed=1, scale=3)),
        case(op, normal(2, 3, dtype="half"), normal(2, 3, dtype="half", seed=1)),
        case(op, np.zeros((0, 2), np.float32), np.zeros((0, 2), np.float32)),
        case(op, normal(2, 3), normal(3, 2)),
    ]


CASES = [
    *(c for op in FORWARD for c in forward(op)),
    *(c for op in BACKWARD for c in backward(op)),
    case("LeakyRelu", normal(2, 3, dtype="double"), alpha=0.5),
    case("LeakyReluGrad", normal(2, 3, dtype="double"), normal(2, 3, dtype="double", seed=1), alpha=0.5),
    case("Relu", np.array([-3, 0, 4], np.int32)),
    case("Relu", np.array([-3, 0, 4], np.int8)),
    case("Relu6", np.array([0, 3, 9], np.uint8)),
    *(
        case("Softplus", np.arange(-8, 8, 0.375).astype(from_name(t).numpy), differentiable=False, tolerance=2e-3)
        for t in ("half", "bfloat16")
    ),
    case("ReluGrad", np.array([1, 2, 3], np.int64), np.array([-1, 0, 1], np.int64)),
]
