"""The results of a run belong to the caller, and are copied only if another holder exists."""

import numpy as np
import pytest

from tfg import GraphBuilder, Session
from tfg.core.numerics import blas_threads, work_division
from tfg.core.runtime.session.session import is_alone


def address(array):
    return array.__array_interface__["data"][0]


def made_and_fetched(graph, name, feeds):
    """Return (address of a kernel's result, None without a result; address of the fetched array)."""
    places = {}

    def hook(node, call, inputs):
        value = call(*inputs)
        places[node.name] = address(np.asarray(value))
        return value

    value = Session(graph).run(f"{name}:0", feeds, hook=hook)
    return places.get(name), address(value)


def graph_of(kind):
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=None, name="x")
    if kind == "a fresh array":
        b.Neg(x, name="y")
    elif kind == "all of one in another shape":
        b.Reshape(b.Neg(x), b.constant(np.array([-1], np.int32)), name="y")
    elif kind == "a little of one":
        b.Slice(b.Neg(x), b.constant(np.array([0, 0])), b.constant(np.array([1, 2])), name="y")
    elif kind == "all of one, turned around":
        b.Transpose(b.Neg(x), b.constant(np.array([1, 0], np.int32)), name="y")
    elif kind == "all of one, from behind":
        b.ReverseV2(b.Neg(x), b.constant(np.array([0], np.int32)), name="y")
    elif kind == "what is fed":
        b.Identity(x, name="y")
    elif kind == "what is fed in another shape":
        b.Reshape(x, b.constant(np.array([-1], np.int32)), name="y")
    else:
        b.Identity(b.constant(np.ones((3, 5), np.float32)), name="y")
    return b.graph


@pytest.mark.parametrize("kind", ["a fresh array", "all of one in another shape"])
def test_what_nobody_else_has_is_not_copied(kind):
    made, fetched = made_and_fetched(graph_of(kind), "y", {"x:0": np.ones((3, 5), np.float32)})
    assert made == fetched


@pytest.mark.parametrize("kind", ["a little of one", "what is fed", "what is fed in another shape", "a constant"])
def test_the_rest_is(kind):
    x = np.ones((3, 5), np.float32)
    made, fetched = made_and_fetched(graph_of(kind), "y", {"x:0": x})
    assert made != fetched
    session = Session(graph_of(kind))
    session.run("y:0", {"x:0": x})[...] = 7
    assert (x == 1).all() and abs(session.run("y:0", {"x:0": x})).max() == 1


@pytest.mark.parametrize("kind", ["all of one, turned around", "all of one, from behind"])
def test_rows_lie_one_after_the_other(kind):
    """So they do as TensorFlow hands them out; others refuse steps that are negative."""
    x = np.arange(15, dtype=np.float32).reshape(3, 5)
    result = Session(graph_of(kind)).run("y:0", {"x:0": x})
    np.testing.assert_array_equal(result, -x.T if kind == "all of one, turned around" else -x[::-1])
    assert result.flags.c_contiguous


def test_what_is_fetched_twice_is_twice_there():
    b = GraphBuilder()
    y = b.Neg(b.Placeholder(dtype="float32", shape=None, name="x"), name="y")
    b.Reshape(y, b.constant(np.array([-1], np.int32)), name="z")
    result = Session(b.graph).run(["y:0", "y:0", "z:0"], {"x:0": np.ones((3, 5), np.float32)})
    assert len({address(value) for value in result}) == 3


def test_threads_let_go_of_what_they_worked_on(monkeypatch):
    monkeypatch.setattr(blas_threads.one_thread, "available", 3)

    def made():
        value = np.zeros(6)

        def fill(part):
            value[part] = 1

        work_division.divide(fill, work_division.cut(6, 6))
        return value

    for _ in range(200):
        values = [made()]
        assert is_alone(values, 0)
