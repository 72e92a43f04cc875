"""Cached facts of functions stay true after each replacement, addition and removal of a function."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np

import tfg
from tests.functions import define
from tfg.core.graph.callers import CallTable, callers_by_function
from tfg.core.graph.instantiation import instantiate
from tfg.core.planning.effects import accesses
from tfg.core.types.tensors import FuncRef

CALL = {"Tout": ["float32"]}


_numbers = itertools.count()


def calling(graph, *names):
    """Return the name of a new function that calls others in sequence."""

    def body(g, value):
        for name in names:
            value = g.PartitionedCall([value], f=FuncRef(name), **CALL)[0]
        return [value]

    name = f"f{next(_numbers)}"
    define(graph, name, ["float32"], body)
    return name


def test_table_agrees_with_a_walk():
    rng = np.random.default_rng(3)
    g = tfg.GraphBuilder()
    names = [calling(g)]
    table = CallTable()
    functions = g.graph.functions
    for step in range(60):
        kind = rng.integers(3)
        some = [str(name) for name in rng.choice(names, size=min(len(names), 2))]
        if kind == 0 or len(names) < 4:
            names.append(calling(g, *some))
            (table.add if step % 2 and step > 1 else table.update)(functions)
        elif kind == 1:
            other = functions[calling(g, *some)]
            del functions[other.name]
            signature = dataclasses.replace(other.signature, name=some[0])
            functions[some[0]] = dataclasses.replace(other, signature=signature)
            table.put(functions[some[0]])
        else:
            del functions[names.pop()]
            table.update(functions)
        expected = callers_by_function(g.graph)
        for name in functions:
            assert table.count(name, but="") == len(expected[name])
            others = [call for call in expected[name] if not call.startswith(f"{some[0]}: ")]
            assert table.count(name, but=some[0]) == len(others)
        assert {name for name in functions if table.calls_itself(name)} == {
            name for name in functions if is_reached(expected, name)
        }


def is_reached(callers, name):
    """Return True if a function is among the direct or indirect callers."""
    names, pending = set(), [name]
    while pending:
        inner = {call.partition(":")[0] for call in callers.get(pending.pop(), ())} - names
        names |= inner
        pending += inner
    return name in names


def test_effects_follow_functions_that_are_replaced():
    g = tfg.GraphBuilder()
    define(g, "inner", ["float32"], lambda b, v: [b.Neg(v)])
    outer = calling(g, "inner")
    call = g.PartitionedCall([g.constant(1.0)], f=FuncRef(outer), **CALL)[0].node
    assert accesses(g.graph, [call]) == []
    define(g, "drawing", ["float32"], lambda b, v: [b.AddV2(v, b.RandomUniform([1], dtype="float32", seed=1))])
    before = g.graph.functions["inner"]
    made = instantiate(g.graph.functions["drawing"], {})
    g.graph.functions["inner"] = dataclasses.replace(made, signature=before.signature)
    assert [access.kind for access in accesses(g.graph, [call])] == ["draws"]
    g.graph.functions["inner"] = before
    assert accesses(g.graph, [call]) == []
