"""Values kept between runs: used while nothing they depend on was written, never where something else decides them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.functions import define
from tfg.core.building.builder import GraphBuilder
from tfg.core.runtime.session.session import Session

MEGABYTE = 2**20


def product_with_built_matrix(resource):
    """y = (a . a^T) x with a variable a, and an operation that adds to a."""
    b = GraphBuilder()
    a = b.variable(np.eye(3, dtype="f"), "a", resource=resource)
    matrix = b.MatMul(b.Square(a.value), b.constant(np.full((3, 3), 2, "f")))
    x = b.Placeholder(dtype="float32", shape=[3, 1], name="x")
    b.MatMul(matrix, x, name="y")
    if resource:
        b.AssignAddVariableOp(a.handle, b.constant(np.eye(3, dtype="f")), dtype="float32", name="write")
    else:
        b.AssignAdd(a.handle, b.constant(np.eye(3, dtype="f")), name="write")
    b.global_variables_initializer()
    return b.graph


def vector(number):
    return {"x:0": np.full((3, 1), number, "f")}


@pytest.mark.parametrize("resource", [False, True])
def test_a_matrix_of_unchanged_variables_is_built_once(resource):
    session, plain = (Session(product_with_built_matrix(resource), cache=size) for size in (MEGABYTE, 0))
    for one in (session, plain):
        one.run("init")
    for number in range(5):
        np.testing.assert_array_equal(session.run("y:0", vector(number)), plain.run("y:0", vector(number)))
    assert (session.cache_stats.hits, session.cache_stats.misses) == (4, 1)
    assert session.cache_stats.saved_steps == 8
    assert session.cache_stats.bytes == 36


@pytest.mark.parametrize("resource", [False, True])
def test_a_write_invalidates_exactly(resource):
    session, plain = (Session(product_with_built_matrix(resource), cache=size) for size in (MEGABYTE, 0))
    for one in (session, plain):
        one.run("init")
    for number in range(8):
        if number % 3 == 2:
            session.run("write"), plain.run("write")
        np.testing.assert_array_equal(session.run("y:0", vector(1)), plain.run("y:0", vector(1)))
    assert session.cache_stats.misses == 3


def test_what_is_only_written_has_a_value():
    """An op without outputs reads the value, and writes to the variable leave cached values unchanged."""
    b = GraphBuilder()
    a = b.variable(np.zeros(3, "f"), "a", resource=True)
    b.AssignVariableOp(a.handle, b.Square(b.constant(np.full(3, 2, "f"))), name="write")
    b.AssignAddVariableOp(a.handle, b.constant(np.ones(3, "f")), name="add")
    b.global_variables_initializer()
    session = Session(b.graph, cache=MEGABYTE)
    session.run("init")
    for _ in range(3):
        session.run("write")
        session.run("add")
        assert session.run(a.value.name).tolist() == [5, 5, 5]
    assert (session.cache_stats.hits, session.cache_stats.misses) == (2, 1)


def test_functions_keep_values_too():
    b = GraphBuilder()
    a = b.variable(np.eye(3, dtype="f"), "a", resource=True)

    def body(g, x, handle):
        matrix = g.Square(g.ReadVariableOp(handle, dtype="float32"))
        return [g.MatMul(matrix, x)]

    define(b, "product", ["float32", "resource"], body, stateful=True)
    x = b.Placeholder(dtype="float32", shape=[3, 1], name="x")
    b.StatefulPartitionedCall([x, a.handle], Tout=["float32"], f="product", name="y")
    b.AssignAddVariableOp(a.handle, b.constant(np.eye(3, dtype="f")), dtype="float32", name="write")
    b.global_variables_initializer()
    session = Session(b.graph, cache=MEGABYTE)
    session.run("init")
    assert [session.run("y:0", vector(n))[0, 0] for n in (1, 2, 3)] == [1, 2, 3]
    assert (session.cache_stats.hits, session.cache_stats.misses) == (2, 1)
    session.run("write")
    assert session.run("y:0", vector(1))[0, 0] == 4


def test_a_function_that_calls_itself_counts_what_it_keeps_once():
    b = GraphBuilder()

    def body(g, n):
        less = g.StatelessIf(g.Less(n, 1.0), [n], Tout=["float32"], then_branch="same", else_branch="next")
        return [g.AddV2(less[0], g.Square(g.constant(np.float32(3))))]

    define(b, "same", ["float32"], lambda g, n: [g.Identity(n)])
    define(b, "next", ["float32"], lambda g, n: [g.PartitionedCall([g.Sub(n, 1.0)], Tout=["float32"], f="count")[0]])
    define(b, "count", ["float32"], body)
    n = b.Placeholder(dtype="float32", shape=[], name="n")
    b.PartitionedCall([n], Tout=["float32"], f="count", name="y")
    session = Session(b.graph, cache=MEGABYTE)
    assert session.run("y:0", {"n:0": 3}) == 36
    assert (session.cache_stats.hits, session.cache_stats.bytes) == (3, 4)


def test_what_changes_in_every_run_is_soon_kept_no_more():
    session = Session(product_with_built_matrix(False), cache=MEGABYTE)
    session.run("init")
    for _ in range(6):
        session.run("write")
        session.run("y:0", vector(1))
    assert session.cache_stats.hits == 0
    assert session.cache_stats.bytes == 0


def test_the_bound_holds():
    session = Session(product_with_built_matrix(False), cache=35)
    session.run("init")
    for _ in range(3):
        session.run("y:0", vector(1))
    assert (session.cache_stats.hits, session.cache_stats.bytes) == (0, 0)


def test_random_and_fed_values_are_never_kept():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2], name="x")
    b.Neg(b.RandomUniform([2], dtype="float32"), name="noise")
    b.Neg(b.Neg(x), name="twice")
    session = Session(b.graph, cache=MEGABYTE)
    seen = {session.run("noise:0").tobytes() for _ in range(3)}
    assert len(seen) == 3
    assert [session.run("twice:0", {"x:0": [n, n]})[0] for n in range(3)] == [0, 1, 2]
    assert session.cache_stats.hits == 0


def test_a_fed_variable_read_replaces_what_was_kept():
    session = Session(product_with_built_matrix(False), cache=MEGABYTE)
    session.run("init")
    session.run("y:0", vector(1))
    fed = session.run("y:0", {**vector(1), "a/read:0": np.zeros((3, 3), "f")})
    assert not fed.any()


def test_the_caller_may_write_into_what_it_fetched():
    b = GraphBuilder()
    b.Square(b.constant(np.arange(3, dtype="f")), name="y")
    session = Session(b.graph, cache=MEGABYTE)
    session.run("y:0")[:] = -1
    assert session.run("y:0").tolist() == [0, 1, 4]
