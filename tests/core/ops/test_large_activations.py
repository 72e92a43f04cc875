"""Activations of arrays that are computed in several blocks: the numbers of their definitions in double precision."""

import numpy as np
import pytest

from tfg import GraphBuilder, Session

SHAPE = (700, 193)
SCALE, ALPHA = 1.0507009873554805, 1.6732632423543772


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


DEFINITIONS = {
    "Elu": (lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))), {}),
    "Selu": (lambda x: SCALE * np.where(x > 0, x, ALPHA * np.expm1(np.minimum(x, 0))), {}),
    "LeakyRelu": (lambda x: np.where(x > 0, x, 0.25 * x), {"alpha": 0.25}),
    "LeakyRelu of a slope above 1": (lambda x: np.where(x > 0, x, 1.5 * x), {"alpha": 1.5}),
    "LeakyReluGrad": (lambda dy, x: np.where(x > 0, dy, 0.25 * dy), {"alpha": 0.25}),
    "EluGrad": (lambda dy, y: np.where(y < 0, (y + 1) * dy, dy), {}),
    "SeluGrad": (lambda dy, y: dy * np.where(y < 0, y + SCALE * ALPHA, SCALE), {}),
    "Sigmoid": (lambda x: 1 / (1 + np.exp(-x)), {}),
    "Softmax": (softmax, {}),
    "LogSoftmax": (lambda x: np.log(softmax(x)), {}),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", DEFINITIONS)
def test_blocks_make_the_result_of_the_definition(name, dtype):
    definition, attrs = DEFINITIONS[name]
    rng = np.random.default_rng(0)
    values = [rng.normal(0, 3, SHAPE).astype(dtype) for _ in range(definition.__code__.co_argcount)]
    b = GraphBuilder()
    inputs = [b.Placeholder(dtype=dtype, shape=None, name=f"x{i}") for i in range(len(values))]
    b.apply(name.split()[0], *inputs, **attrs, name="y")
    result = Session(b.graph).run("y:0", {f"x{i}:0": value for i, value in enumerate(values)})
    want = definition(*(value.astype(np.float64) for value in values))
    assert result.dtype == dtype
    eps = np.finfo(dtype).eps
    # The logarithm of a probability is rounded as numbers of the size of the largest logit.
    np.testing.assert_allclose(result, want, rtol=4 * eps, atol=20 * eps if "Log" in name else 4 * eps)
