"""Kernels in a process of their own: the same results and errors as here, and an end when the time is over."""

from __future__ import annotations

import time

import numpy as np
import pytest

import tfg
from tfg.core.inference.node_calls import apply_kernel
from tfg.core.runtime.execute import limits
from tfg.core.runtime.execute.limits import can_be_apart, run_apart
from tfg.core.support.errors import DeadlineExceededError, InvalidArgumentError

MATRIX = np.array([[2, 1], [1, 3]], np.float32)
CASES = {
    "one output": (lambda g, x: g.MatrixInverse(x), [MATRIX]),
    "several outputs": (lambda g, x: g.Svd(x)[0], [MATRIX]),
    "a view": (lambda g, x: g.Neg(x), [np.broadcast_to(np.float32(3), (4, 5))]),
    "a view with rows": (lambda g, x: g.Softmax(x), [np.broadcast_to(MATRIX[:, None], (2, 7, 2))]),
    "nothing": (lambda g, x: g.Exp(x), [np.zeros((0, 3))]),
    "bfloat16": (lambda g, x: g.Exp(x), [tfg.core.types.dtypes.bfloat16]),
    "dtypes in attributes": (lambda g, x: g.Cast(x, DstT="int64"), [MATRIX]),
}


def node_and_inputs(make, values):
    values = [v if isinstance(v, np.ndarray) else np.array([1, 2]).astype(v.numpy) for v in values]
    g = tfg.GraphBuilder()
    inputs = [g.Placeholder(dtype=tfg.core.types.dtypes.from_numpy(v.dtype), shape=v.shape) for v in values]
    return make(g, *inputs).node, values


@pytest.mark.slow
@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", CASES)
def test_the_same_comes_out(name):
    node, values = node_and_inputs(*CASES[name])
    assert can_be_apart(node, values)
    result = run_apart(node, values, 60, 60)
    expected = apply_kernel(node, values)
    for a, b in zip(result if isinstance(result, tuple) else (result,), expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.slow
def test_errors_come_out_as_they_are():
    node, _ = node_and_inputs(*CASES["one output"])
    with pytest.raises(InvalidArgumentError, match="not invertible"):
        run_apart(node, [np.zeros((2, 2), np.float32)], 60, 60)


@pytest.mark.slow
def test_what_takes_long_ends_in_time_and_names_its_node():
    """A matrix of 6,000 rows is inverted in no half second, and LAPACK looks at no clock."""
    g = tfg.GraphBuilder()
    matrix = g.AddV2(g.MatrixDiag(g.Fill([6000], np.float32(7))), g.Fill([6000, 6000], np.float32(1)))
    inverse = g.MatrixInverse(matrix, name="inverse")
    session = tfg.Session(g.graph, timeout=100)
    start = time.process_time()
    with pytest.raises(DeadlineExceededError, match=r"inverse|AddV2|MatrixDiag|Fill"):
        tfg.Session(g.graph, timeout=0.5).run(str(inverse))
    assert time.process_time() - start < 5
    assert session.run(str(g.Sum(g.constant(np.ones(3, np.float32)), 0))) == 3


def test_only_what_may_take_long_is_apart(monkeypatch):
    monkeypatch.setattr(limits, "run_apart", lambda node, *_: pytest.fail(node.name))
    g = tfg.GraphBuilder()
    x = g.constant(np.ones((300, 300), np.float32))
    value = g.Sum(g.MatMul(g.Exp(x), g.MatrixInverse(g.AddV2(x, g.MatrixDiag(g.Fill([300], np.float32(1)))))), [0, 1])
    assert np.isfinite(tfg.Session(g.graph, timeout=100).run(str(value)))


@pytest.mark.parametrize("op", ["RandomUniform", "StringUpper"])
def test_what_keeps_something_or_takes_text_stays_here(op):
    g = tfg.GraphBuilder()
    value = g.RandomUniform([3], dtype="float32") if op == "RandomUniform" else g.StringUpper("a")
    assert not can_be_apart(value.node, [np.array([b"a"], object)] if op == "StringUpper" else [np.array([3])])
