"""Nodes that only pass values on are bypassed, where nothing else hangs on them."""

from __future__ import annotations

import pytest

from tests.core.passes.rewriting import placeholder, rewritten


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
