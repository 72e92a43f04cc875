"""The table of call ops: complete, equal to the catalog, and known to the gradient sweep."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.functions import define
from tfg import GraphBuilder, Session, gradients
from tfg.core.gradients.backward import CONDITIONALS
from tfg.core.graph.call_kinds import CALL_KINDS, Form
from tfg.core.graph.frames import LOOP_OPS
from tfg.core.registry import registry
from tfg.core.registry.catalog import CATALOG
from tfg.core.registry.op_facts import has_fact
from tfg.core.support.errors import UnimplementedError

DATASETS = r"\w*Dataset(V\d)?|OneShotIterator"
# Ops that name functions and call none where they stand.
KEEPERS = {
    DATASETS: "make the elements of a data set, when it is iterated",
    r"_?Xla\w+|Risc\w+|_TPUReplicate|TPUCompile": "give them to a compiler",
    r"FuncAttr|FuncListAttr": "test what attributes may hold",
    r"RpcServerRegister": "has them called by other processes",
}


def test_every_op_that_names_functions_is_in_the_table_or_keeps_them():
    naming = {op for op in CATALOG if any("func" in attr.type for attr in CATALOG[op].attrs.values())}
    keepers = {op for op in naming if any(re.fullmatch(pattern, op) for pattern in KEEPERS)}
    assert naming == CALL_KINDS.keys() | keepers
    assert not CALL_KINDS.keys() & keepers
    run = {op for op in keepers if registry.has_kernel(op) and not has_fact(op, "program")}
    assert not {op for op in run if not re.fullmatch(DATASETS, op)}


@pytest.mark.parametrize("op", CALL_KINDS)
def test_the_table_says_what_the_catalog_says(op):
    kind, definition = CALL_KINDS[op], CATALOG[op]
    assert list(kind.functions) == [name for name, attr in definition.attrs.items() if "func" in attr.type]
    arguments = definition.inputs[kind.before : len(definition.inputs) - kind.after]
    assert tuple(arg.type_list_attr for arg in arguments) == kind.args
    assert [arg.type_list_attr for arg in definition.outputs] == [kind.results]
    lowered = "_lower_using_switch_merge"
    assert not kind.may_be_lowered or lowered not in definition.attrs


X = np.float32([1.0, -2.0])


def squares(g, attrs):
    """Return the functions of a node: each squares the last argument, except the condition of a loop."""
    define(g, "square", ["float32"], lambda b, x: [b.Square(x)])
    define(g, "stays", ["float32"], lambda b, x: [b.Less(b.Sum(b.Abs(x), [0]), 4.0)])
    define(g, "nth_square", ["int32", "float32"], lambda b, i, x: [b.Square(x)])
    return {name: ["square"] if name == "branches" else "stays" if name == "cond" else "square" for name in attrs}


def called(g, op, x):
    """Return a node of type `op` whose functions square `x`, once."""
    attrs = squares(g, CALL_KINDS[op].functions)
    if op == "SymbolicGradient":
        return g.SymbolicGradient([x, x], Tout=["float32"], f="square")[0]
    if op == "MapDefun":
        return g.MapDefun([x], [], output_types=["float32"], output_shapes=[[]], f="square")[0]
    if op == "BatchFunction":
        options = {"num_batch_threads": 1, "max_batch_size": 8, "batch_timeout_micros": 1}
        return g.BatchFunction([x], [], Tout=["float32"], f="square", **options)[0]
    if op == "For":
        return g.For(0, 1, 1, [x], body="nth_square")[0]
    leading = {"RemoteCall": ["/cpu:0"], "If": [True], "StatelessIf": [True], "_If": [g.constant(True)]}.get(op, [])
    leading = [np.int32(0)] if op.endswith("Case") else leading
    types = {} if CALL_KINDS[op].form is Form.LOOP else {"Tout": ["float32"]}
    return g.apply(op, *leading, [x], **types, **attrs)[0]


RUNNING = [op for op in CALL_KINDS if op != "TPUPartitionedCall"]


@pytest.mark.parametrize("op", RUNNING)
def test_calls_are_taken_back_or_their_lack_of_a_gradient_is_told(op):
    g = GraphBuilder()
    x = g.constant(X)
    y = called(g, op, x)
    if registry.gradient_function(op) is not registry.BY_SWEEP:
        assert registry.gradient_function(op) is registry.WITHOUT_GRADIENT
        with pytest.raises(UnimplementedError, match=f"{y.node.name}.*has no gradient"):
            gradients(g.graph, [y.name], [x.name])
        return
    value = Session(g.graph).run(y.name)
    graph, (result,) = gradients(g.graph, [y.name], [x.name])
    np.testing.assert_array_equal(value, X**2)
    np.testing.assert_array_equal(Session(graph).run(result), 2 * X)


def test_sweep_handles_exactly_the_declared_ops():
    registry.load_all_families()
    declared = {op for op in CATALOG if registry.gradient_function(op) is registry.BY_SWEEP}
    assert declared - CALL_KINDS.keys() == {*CONDITIONALS, *LOOP_OPS}
