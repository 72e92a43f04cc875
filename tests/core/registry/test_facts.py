"""Facts of ops: each is stated and used, and implications between facts hold."""

from __future__ import annotations

import ast
import pathlib

import numpy as np
import pytest

import tfg
from tests.cases.control_flow import counted
from tests.core.passes.rewriting import placeholder, rewritten
from tests.sources import nodes_of
from tfg import GraphBuilder, Session
from tfg.core.registry import op_facts, registry
from tfg.core.registry.catalog import CATALOG
from tfg.core.runtime.session import readable_texts
from tfg.core.types import dtypes

CORE = pathlib.Path(tfg.__file__).parent / "core"
ASKING = {"has_fact", "is_fact", "ops_with", "_with_fact"}


def ops_of(fact):
    registry.load_all_families()
    return sorted(op for op in CATALOG if CATALOG.is_builtin(op) and op_facts.has_fact(op, fact))


def asked_facts():
    """Return the facts that code outside the registry uses by name, in a rule, or as keys of a table."""
    yield from readable_texts.MAKERS
    for path in CORE.rglob("*.py"):
        if path.stem == "registry":
            continue
        for call in (node for node in nodes_of(path) if isinstance(node, ast.Call)):
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            given = [*(call.args if name in ASKING else ()), *(k.value for k in call.keywords if k.arg == "fact")]
            yield from (value.value for value in given if isinstance(value, ast.Constant))


def test_every_fact_is_stated_of_some_op():
    assert [fact for fact in op_facts.FACTS if not ops_of(fact)] == []


@pytest.mark.slow
def test_every_fact_is_asked_by_some_code():
    assert sorted(op_facts.FACTS.keys() - set(asked_facts())) == []


def number(b):
    return placeholder(b, "x", (2, 3))


def of_dtype(name):
    return lambda b: placeholder(b, "x", (2, 3), dtypes.from_name(name))


def permutation(b):
    return placeholder(b, "x", (4,), dtypes.int32)


# What an op with the fact takes first, where that is no matrix of numbers, and what it takes after it.
FIRST = {
    "LogicalNot": of_dtype("bool"), "Invert": of_dtype("int32"), "Conj": of_dtype("complex64"),
    "InvertPermutation": permutation, **dict.fromkeys(("StringLower", "StringUpper", "StringStrip"), of_dtype("string")),
}  # fmt: skip
REST = {"Reverse": [[True, False]], "ReverseV2": [[1]]}
ATTRS = {"EnsureShape": {"shape": [2, 3]}}


def applied(b, op, value, rest=None):
    return b.apply(op, value, *(REST.get(op, []) if rest is None else rest), **ATTRS.get(op, {}))


def repeated(op, times):
    """A builder of the op applied to a placeholder `times` times."""

    def build(b):
        value = FIRST.get(op, number)(b)
        for _ in range(times):
            value = applied(b, op, value)
        return b.IdentityN([value])[0]

    return build


VALUES = {
    dtypes.float32: np.float32([[1, -2.5, 4], [0.5, -0.25, 8]]), dtypes.int32: np.int32([[1, -2, 3], [4, 5, 0]]),
    dtypes.bool_: np.array([[True, False, True], [False, True, True]]), dtypes.complex64: np.complex64([[1j, 2, 3]] * 2),
    dtypes.string: np.array([[b"aB", b" c ", b""], [b"D", b"e", b"F f"]], object),
}  # fmt: skip


def run(op, graph, fetch):
    dtype = graph.node("x").attrs["dtype"]
    return Session(graph).run(fetch, {"x": np.int32([2, 0, 3, 1]) if op == "InvertPermutation" else VALUES[dtype]})


@pytest.mark.parametrize("fact, left", [("involution", 0), ("idempotent", 1)])
def test_functions_that_undo_or_repeat_themselves(fact, left):
    for op in ops_of(fact):
        once = GraphBuilder()
        expected = run(op, once.graph, repeated(op, left)(once).name)
        result = rewritten(repeated(op, 2), "arithmetic,prune", check=False)
        assert result.ops().count(op) == left, op
        for graph in (result.before, result.after):
            np.testing.assert_array_equal(run(op, graph, result.fetches[0]), expected, op)


@pytest.mark.parametrize("op, other", [("ReverseV2", [[0]]), ("Reverse", [[False, True]])])
def test_what_takes_more_must_take_the_same(op, other):
    def build(b):
        return applied(b, op, applied(b, op, number(b)), other)

    assert rewritten(build, "arithmetic,prune").ops().count(op) == 2


def test_shapes_that_are_ensured_must_be_the_same():
    def build(b):
        return b.EnsureShape(b.EnsureShape(placeholder(b, "x", None), shape=[None, 3]), shape=[2, None])

    assert rewritten(build, "arithmetic,prune").ops().count("EnsureShape") == 2


def queue(g):
    handle = g.FIFOQueueV2(component_types=["float32"], shapes=[[]])

    def take(handle):
        return g.QueueDequeueV2(handle, component_types=["float32"])[0]

    return [handle], take, lambda value: g.apply("QueueEnqueueV2", handle, [value])


def staging_area(g):
    area = {"shared_name": "area"}
    return [], lambda: g.Unstage(dtypes=["float32"], **area)[0], lambda value: g.apply("Stage", [value], **area)


@pytest.mark.parametrize("channel", [queue, staging_area])
def test_a_loop_that_takes_before_another_node_puts(channel):
    g = GraphBuilder()
    handles, take, put = channel(g)

    def step(values, constants):
        with g.control_dependencies([g.Identity(values[0])]):
            return [g.AddV2(values[0], take(*constants))]

    exits = counted(g, "f", 3, [g.constant(0.0)], handles, step)
    puts = []
    for value in (1.0, 2.0, 3.0):
        with g.control_dependencies(puts[-1:]):
            puts.append(put(g.constant(value)))
    assert Session(g.graph).run([exits[1].name, puts[-1].name])[0] == 6


def test_no_kernel_stands_behind_one_that_takes_everything():
    """The first kernel that accepts the dtypes runs: a kernel registered after a kernel for all dtypes never runs."""
    for op in filter(registry.has_kernel, CATALOG):
        assert all(kernel.dtypes for kernel in registry.kernels(op)[:-1]), op
