"""Jacobians over lists, TensorArrays, loops and conditionals: each row is the product with one basis vector alone."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.core.gradients.test_graphs import KEYS, RECORDED
from tests.functions import define
from tfg.core.building.builder import GraphBuilder
from tfg.core.gradients.jacobian import Derivative
from tfg.core.runtime.session.session import Session
from tfg.core.types.tensors import FuncRef

X = np.array([[0.3, -1.2, 0.7], [1.1, 0.4, -0.5]])


def assert_rows_are_products(graph, x: str, feeds, session=None) -> None:
    """In both modes, against runs that batch nothing."""
    derivative = Derivative(graph, "y:0", x, session)
    y, value = derivative.values(feeds)
    for mode, like, multiply in (("reverse", y, derivative.vjp), ("forward", value, derivative.jvp)):
        result = derivative.jacobian(feeds, mode).reshape(y.size, value.size)
        for i in {0, like.size - 1}:
            basis = np.eye(1, like.size, i, like.dtype).reshape(like.shape)
            alone = multiply(basis, feeds).ravel()
            np.testing.assert_allclose(result[i] if mode == "reverse" else result[:, i], alone, rtol=1e-4, atol=1e-5)


@pytest.mark.sampled(24)
@pytest.mark.parametrize("key", KEYS)
def test_recorded_graphs(key: str) -> None:
    """Loops and conditionals of both kinds, map_fn, scan, foldl, TensorArrays, nested."""
    feeds = {n.split("/")[2]: v for n, v in RECORDED.items() if n.startswith(f"{key}/feed/")}
    graph = tfg.load(RECORDED[f"{key}/graph"].tobytes())
    session = Session(graph)
    if "init" in graph:
        session.run("init")
    x = "x:0" if "x:0" in feeds else next(name for name, value in feeds.items() if value.dtype.kind == "f")
    if feeds[x].dtype.kind == "f":
        assert_rows_are_products(graph, x, feeds, session)


def pushed_and_popped(g, x):
    items = g.EmptyTensorList([3], 10, element_dtype="double")
    for row in g.Unpack(x, num=2):
        items = g.TensorListPushBack(items, g.Square(row))
    items, last = g.TensorListPopBack(items, [3], element_dtype="double")
    return g.Mul(last, g.TensorListGetItem(items, 0, [3], element_dtype="double"))


def stacked_twice(g, x):
    """A list that two ops read, so that two gradients of lists are added."""
    items = g.TensorListFromTensor(g.Sin(x), [3])
    return g.Mul(g.TensorListStack(items, [3], element_dtype="double"), g.TensorListStack(items, [3], element_dtype="double"))


def split_and_joined(g, x):
    items = g.TensorListSplit(g.Square(x), [-1, 3], g.constant([1, 1], "int64"))
    joined, _ = g.TensorListConcatV2(items, [-1, 3], g.constant([], "int64"), element_dtype="double")
    return joined


def scattered_and_gathered(g, x):
    items = g.TensorListScatterV2(g.Exp(x), [2, 0], [3], 3)
    return g.TensorListGather(items, [0, 2, 2], [3], element_dtype="double")


def lists_of_lists(g, x):
    inner = g.TensorListFromTensor(g.Square(x), [3])
    outer = g.TensorListPushBack(g.EmptyTensorList(g.constant([], "int32"), 4, element_dtype="variant"), inner)
    _, item = g.TensorListPopBack(outer, g.constant([], "int32"), element_dtype="variant")
    return g.TensorListStack(item, [3], element_dtype="double")


def array(g, x):
    """A TensorArray (V3), written whole and read in parts."""
    handle, flow = g.TensorArrayV3(2, dtype="double")
    flow = g.TensorArrayScatterV3(handle, [0, 1], g.Square(x), flow)
    first = g.TensorArrayReadV3(handle, 0, flow, dtype="double")
    rows = g.TensorArrayGatherV3(handle, [1], flow, dtype="double")
    return g.Mul(rows, first)


def looped(g, x):
    """A While whose body pushes and whose conditional pushes too."""
    types = ["int32", "variant", "double"]

    def push(b, i, items, a):
        return [b.TensorListPushBack(items, b.Mul(a, a))]

    def push_sine(b, i, items, a):
        return [b.TensorListPushBack(items, b.Sin(a))]

    yes, no = define(g, "push", types, push), define(g, "push_sine", types, push_sine)

    def body(b, i, items, a):
        even = b.Equal(b.FloorMod(i, b.constant(2)), b.constant(0))
        items = b.If(even, [i, items, a], Tout=["variant"], then_branch=FuncRef(yes), else_branch=FuncRef(no))[0]
        return [b.AddV2(i, b.constant(1)), items, b.Mul(a, b.constant(0.5, "double"))]

    cond = define(g, "more", types, lambda b, i, items, a: [b.Less(i, b.constant(3))])
    step = define(g, "step", types, body)
    start = [g.constant(0), g.EmptyTensorList([2, 3], 10, element_dtype="double"), x]
    items = g.While(start, cond=FuncRef(cond), body=FuncRef(step), output_shapes=[[], [], [2, 3]])[1]
    return g.TensorListStack(items, [2, 3], element_dtype="double")


LISTS = (pushed_and_popped, stacked_twice, split_and_joined, scattered_and_gathered, lists_of_lists, array, looped)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("make", LISTS, ids=lambda make: make.__name__)
def test_lists(make) -> None:
    g = GraphBuilder()
    x = g.Placeholder(dtype="double", shape=[2, 3], name="x")
    g.Identity(make(g, x), name="y")
    assert_rows_are_products(g.graph, "x:0", {"x:0": X})
