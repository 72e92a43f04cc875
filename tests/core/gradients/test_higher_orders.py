"""Second and third derivatives through V1 loops and conditionals, which save values on stacks; TensorFlow has none of these.

The programs are in loop_forms.py; the ones that are not recorded, and those of V2, are in tests/live.
"""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

import tfg
from tests.cases.control_flow import counted
from tests.core.gradients.differences import W, X, assert_orders, difference
from tfg.core.building.builder import GraphBuilder
from tfg.core.gradients import gradients
from tfg.core.gradients.jacobian import hessian_vector, jvp
from tfg.core.graph.graph import Graph
from tfg.core.support.errors import UnimplementedError

GRAPHS = np.load(pathlib.Path(__file__).with_name("loop_forms.npz"))
FORMS = [name for name in GRAPHS if not name.endswith("_differentiated")]
DIFFERENTIATED = [name for name in GRAPHS if name.endswith("_differentiated")]


def load(name: str) -> Graph:
    return tfg.load(GRAPHS[name].tobytes())


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", FORMS)
def test_first_and_second(name: str) -> None:
    assert_orders(load(name), "y:0", 1, 2)


@pytest.mark.slow
def test_third() -> None:
    assert_orders(load("power"), "y:0", 1, 3)


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_the_gradient_of_a_gradient_that_tensorflow_built(name: str) -> None:
    assert_orders(load(name), "dx:0", 2, 2)


@pytest.mark.slow
def test_products() -> None:
    graph = load("branch_in_loop")
    extended, (grad,) = gradients(graph, "y:0", "x:0")
    session = tfg.Session(extended)
    np.testing.assert_allclose(jvp(graph, "y:0", "x:0", W, {"x:0": X}), difference(session, "y:0"), rtol=1e-6)
    step = 1e-5
    high, low = (session.run(grad, {"x:0": X + sign * step * W}) for sign in (1, -1))
    result = hessian_vector(graph, "y:0", "x:0", W, {"x:0": X})
    np.testing.assert_allclose(result, (high - low) / (2 * step), rtol=1e-6)


def pushed_and_popped(pushes: int) -> Graph:
    """The square of x is pushed, maybe more than once, and popped once."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="double", shape=[], name="x")
    stack = b.StackV2(-1, elem_type="double", stack_name="s")
    waits: list[tfg.Output] = []
    for _ in range(pushes):
        with b.control_dependencies(waits):
            waits = [b.StackPushV2(stack, b.Square(x))]
    with b.control_dependencies(waits):
        b.Identity(b.StackPopV2(stack, elem_type="double"), name="y")
    return b.graph


def test_a_stack_outside_of_loops() -> None:
    graph, (grad,) = gradients(pushed_and_popped(1), "y:0", "x:0")
    assert tfg.Session(graph).run(grad, {"x:0": 3.0}) == 6


def test_a_stack_that_is_no_list_is_refused() -> None:
    """What is popped depends on what was pushed last, which no edge says."""
    with pytest.raises(UnimplementedError, match="no gradient flows through this stack") as error:
        gradients(pushed_and_popped(2), "y:0", "x:0")
    assert error.value.node == "StackPopV2"


def test_a_value_that_is_read_on_a_branch_without_a_switch() -> None:
    """As optimizations and gradients leave it: the product runs on one branch, x is there on both."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="double", shape=[], name="x")
    taken = b.Greater(x, b.constant(np.float64(0)))
    other, inside = b.Switch(b.constant(np.float64(5)), taken)
    b.Merge([b.Mul(inside, x), b.Neg(other)], name="y")
    graph, (grad,) = gradients(b.graph, "y:0", "x:0")
    session = tfg.Session(graph)
    assert session.run(grad, {"x:0": 2.0}) == 5
    assert session.run(grad, {"x:0": -2.0}) == 0


@pytest.mark.slow
def test_rows_of_the_result_of_a_loop() -> None:
    """The sparse gradient of a gather becomes dense in front of the backward loop."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="double", shape=(2,), name="x")
    squared = counted(g, "loop", 2, [x], [], lambda values, fixed: [g.Mul(values[0], values[0])])[1]
    g.Sum(g.GatherV2(squared, np.int32([1, 0, 1]), 0), [0], name="y")
    assert_orders(g.graph, "y:0", 1, 2)
