"""Cases of the normalization family."""

import numpy as np

from tests.opcases import case, normal, uniform

X, DY = normal(2, 3, 4, 3), normal(2, 3, 4, 3, seed=1)
SCALE, OFFSET, MEAN, VARIANCE = normal(3), normal(3, seed=1), normal(3, seed=2), uniform(3, low=0.5, high=2.0)
NONE = np.zeros(0, np.float32)


def forward(op):
    return [
        case(op, X, SCALE, OFFSET, NONE, NONE, tolerance=1e-3),
        case(op, X, SCALE, OFFSET, MEAN, VARIANCE, is_training=False),
        case(op, X, SCALE, OFFSET, MEAN, VARIANCE, exponential_avg_factor=0.3, epsilon=0.01, tolerance=1e-3),
        case(op, X, SCALE, OFFSET, SCALE[:2], VARIANCE, is_training=False),
        case(op, X, SCALE[:2], OFFSET, NONE, NONE),
    ]


def backward(op, *extra):
    return [
        case(op, DY, X, SCALE, MEAN, VARIANCE, *extra, tolerance=1e-3),
        case(op, DY, X, SCALE, MEAN, VARIANCE, *extra, is_training=False, tolerance=1e-3),
        case(op, DY[:1], X, SCALE, MEAN, VARIANCE, *extra),
    ]


CASES = [
    *forward("FusedBatchNorm"),
    *forward("FusedBatchNormV2"),
    *forward("FusedBatchNormV3"),
    case("FusedBatchNormV3", normal(2, 2, 3, 4, 3), SCALE, OFFSET, NONE, NONE, data_format="NDHWC", tolerance=1e-3),
    case("FusedBatchNormV3", X.astype(np.float16), SCALE, OFFSET, NONE, NONE, tolerance=2e-2),
    *backward("FusedBatchNormGrad"),
    *backward("FusedBatchNormGradV2"),
    *backward("FusedBatchNormGradV3", NONE),
    case("LRN", normal(2, 3, 4, 7)),
    case("LRN", normal(2, 3, 4, 0)),
    case("LRN", normal(2, 3, 4, 7), depth_radius=2, bias=2.0, alpha=0.5, beta=0.7),
    case("LRN", normal(2, 3, 4, 7, dtype="half"), depth_radius=1),
    case("LRN", normal(2, 3, 4, 7), depth_radius=-1),
    case("LRNGrad", *[normal(2, 3, 4, 7)] * 3, depth_radius=-1),
    case("LRN", normal(3, 4, 7)),
    case(
        "LRNGrad", normal(2, 3, 4, 7), normal(2, 3, 4, 7, seed=1), normal(2, 3, 4, 7, seed=2),
        depth_radius=2, bias=2.0, alpha=0.5, beta=0.7,
    ),
]  # fmt: skip
