"""Nodes that only pass values on are bypassed, where nothing else hangs on them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.core.passes.rewriting import placeholder, rewritten
from tfg import Session


def pair(b, **attrs):
    """Return an IdentityN of x and of a product, with a use of the product only."""
    x, y = placeholder(b, "x"), placeholder(b, "y")
    node = b.add("IdentityN", [[x, b.Mul(x, y)]], {}, "pair")
    node.attrs.update(attrs)
    return node


def test_values_that_pass_together_part_ways():
    result = rewritten(lambda b: b.Neg(pair(b, _gradient_op_type=b"CustomGradient-1").output(1)), "dependency,prune")
    assert result.text == "Neg(Mul(x, y))"
    assert "IdentityN" not in result.ops()


def with_variable(b):
    b.VariableV2(shape=[], dtype="float32")
    return b.Neg(pair(b, _gradient_op_type=b"CustomGradient-1").output(1))


def waited_for(b):
    node = pair(b)
    with b.control_dependencies([node]):
        return b.Neg(node.output(1)), b.Identity(placeholder(b, "z"))


def with_effects(b):
    x = placeholder(b, "x")
    return b.Neg(b.add("IdentityN", [[b.CheckNumerics(x, message=""), b.Square(x)]], {}, "pair").output(1))


@pytest.mark.parametrize(
    ("build", "reason"),
    [(with_variable, "gradients may still be added"), (waited_for, "control edges"), (with_effects, "has effects")],
)
def test_an_identity_of_many_stays(build, reason):
    result = rewritten(build, "dependency")
    assert "IdentityN" in result.ops()
    assert reason in result.reasons


def test_an_identity_with_a_gradient_of_its_own_stays_while_there_are_variables():
    def build(b):
        b.VariableV2(shape=[], dtype="float32")
        identity = b.add("Identity", [placeholder(b, "x")], {}, "own")
        identity.attrs["_gradient_op_type"] = b"Reversed"
        return b.Neg(identity.output())

    result = rewritten(build, "dependency")
    assert "Identity" in result.ops()
    assert "gradients may still be added" in result.reasons


def unread(b, waited=()):
    """Return -z, which waits for a product that no node reads and that waits for other nodes itself."""
    x, z = placeholder(b, "x"), placeholder(b, "z")
    with b.control_dependencies(waited):
        product = b.Mul(x, x)
    with b.control_dependencies([product]):
        return b.Neg(z, name="y")


def test_what_others_only_wait_for_is_not_computed():
    result = rewritten(unread, "dependency,prune")
    assert (result.text, result.ops()) == ("Neg(z)", ["Neg", "Placeholder", "Placeholder"])
    assert not result.after.node("y").control_inputs


def test_an_effect_before_what_others_only_wait_for_still_comes_before():
    def build(b):
        variable = b.VariableV2(shape=[], dtype="float32")
        return unread(b, [b.Assign(variable, np.float32(1), name="write")])

    result = rewritten(build, "dependency,prune")
    assert "Mul" not in result.ops()
    assert [control.name for control in result.after.node("y").control_inputs] == ["write"]


def test_what_others_only_wait_for_on_a_branch_tells_the_branch():
    def build(b):
        predicate = b.Less(placeholder(b, "p", ()), np.float32(0))
        chosen = []
        for value, side in zip((3, 2), b.Switch(placeholder(b, "x"), predicate)):
            with b.control_dependencies([b.Square(b.Neg(side))]):
                chosen.append(b.constant(np.float32(value)))
        return b.Merge(chosen)[0]

    result = rewritten(build, "dependency,prune")
    assert "Square" not in result.ops()
    for p, value in ((-1, 2), (1, 3)):
        assert Session(result.after).run(result.fetches[0], {"x:0": np.zeros((2, 3)), "p:0": p}) == value
