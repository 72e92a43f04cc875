"""Cases of the softmax family."""

import numpy as np

from tests.opcases import case, integers, normal, uniform

EXTREME = np.array([[1e4, -1e4, 0], [-np.inf, 0, 1]], np.float32)


def softmaxes(op):
    return [
        case(op, normal(3, 4, dtype="double")),
        case(op, normal(2, 3, 4)),
        case(op, EXTREME),
        case(op, normal(2, 5, dtype="half")),
        case(op, normal(2, 5, dtype="bfloat16")),
        case(op, np.zeros((0, 3), np.float32)),
        case(op, np.zeros((2, 0), np.float32)),
        case(op, normal(4)),
        case(op, normal()),
    ]


def dense():
    op = "SoftmaxCrossEntropyWithLogits"
    labels = uniform(3, 4, dtype="double")
    return [
        case(op, normal(3, 4, dtype="double"), labels / labels.sum(1, keepdims=True), differentiable=(0,)),
        case(op, normal(3, 4), uniform(1, 4)),
        case(op, normal(1, 4), uniform(3, 4)),
        case(op, normal(2, 3, dtype="half"), uniform(2, 3, dtype="half")),
        case(op, np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32)),
        case(op, EXTREME, np.array([[0, 0, 1], [0, 1, 0]], np.float32), differentiable=False),
        case(op, normal(2, 3), uniform(2, 4)),
        case(op, normal(2, 3, 2), uniform(2, 3, 2)),
    ]


def sparse():
    op = "SparseSoftmaxCrossEntropyWithLogits"
    return [
        case(op, normal(3, 4, dtype="double"), integers(3, high=4)),
        case(op, normal(3, 4), integers(3, high=4, dtype="int64")),
        case(op, np.zeros((0, 3), np.float32), np.zeros(0, np.int32)),
        case(op, normal(3, 4), integers(2, high=4)),
        case(op, normal(3), integers(3, high=4)),
    ]


CASES = [
    *softmaxes("Softmax"),
    *softmaxes("LogSoftmax"),
    *dense(),
    *sparse(),
    case("L2Loss", normal(3, 4, dtype="double")),
    case("L2Loss", normal(5, dtype="half")),
    case("L2Loss", np.zeros(0, np.float32)),
    case("L2Loss", normal()),
    case("L2Loss", np.float16([300])),
    case("L2Loss", np.float32([1.7e19, 1.7e19])),
    *(case("LogSoftmax", normal(6, 6, dtype=t), differentiable=False, key=f"steps in {t}") for t in ("half", "bfloat16")),
]
