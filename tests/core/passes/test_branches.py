"""Constant predicates: the branch that is taken stays."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.cases.control_flow import counted
from tests.core.passes.rewriting import placeholder, rewritten
from tests.functions import define
from tfg.core.passes.pipeline import optimize
from tfg.core.types.tensors import FuncRef

PASSES = "fold,branches,dependency,prune"


def conditional(predicate, nested=False):
    def build(b):
        left, right = b.Switch(placeholder(b, "x"), predicate(b))
        right = b.Neg(right)
        if nested:
            inner = b.Switch(right, placeholder(b, "q", (), "bool"))
            right = b.Merge([b.Exp(inner[0]), b.Abs(inner[1])])[0]
        merged, index = b.Merge([b.Square(left), right])
        return merged if nested else (b.Neg(merged), b.Neg(index))

    return build


def test_switch_on_a_constant():
    result = rewritten(conditional(lambda b: b.constant(True)), PASSES)
    assert result.text.startswith("Neg(Neg(x))")
    assert not {"Switch", "Merge", "Square"} & set(result.ops())
    result = rewritten(conditional(lambda b: b.constant(False)), PASSES)
    assert result.text.startswith("Neg(Square(x))")


def test_nested_switch_on_the_dead_branch_goes():
    result = rewritten(conditional(lambda b: b.constant(False), nested=True), PASSES, check=False)
    assert not {"Switch", "Exp", "Abs"} & set(result.ops())


def test_switch_on_what_is_fed_stays():
    result = rewritten(conditional(lambda b: placeholder(b, "p", (), "bool")), PASSES)
    assert "Switch" in result.ops()


def test_a_dead_fetch_is_refused():
    def build(b):
        return b.Neg(b.Switch(placeholder(b, "x"), b.constant(True))[0])

    assert "never runs is fetched" in rewritten(build, PASSES, check=False).reasons


def test_if_and_case_become_calls_and_then_nodes():
    def build(b):
        x = placeholder(b, "x")
        names = [define(b, op, ["float32"], lambda g, v, op=op: [g.apply(op, v)]) for op in ("Neg", "Abs", "Exp")]
        chosen = b.StatelessIf(b.constant(True), [x], Tout=["float32"], then_branch=FuncRef("Neg"), else_branch=FuncRef("Abs"))
        case = b.StatelessCase(b.constant(2), [chosen[0]], Tout=["float32"], branches=[FuncRef(name) for name in names])
        return b.Identity(case[0])

    assert rewritten(build).text == "Exp(Neg(x))"


@pytest.mark.parametrize("taken", [False, True])
def test_a_loop_on_a_branch(taken):
    b = tfg.GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[], name="x")
    off, on = b.Switch(x, b.constant(taken))
    exits = counted(b, "loop", 3, [off], [], lambda v, c: [b.AddV2(v[0], v[0])])
    b.Identity(b.Merge([exits[1], on])[0], name="y")
    after, _ = optimize(b.graph, ["y:0"])
    assert tfg.Session(after, timeout=20).run("y:0", {"x:0": np.float32(2)}) == (2 if taken else 16)
