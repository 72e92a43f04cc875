"""First, second and third derivatives through every form of loop and conditional, against central differences."""

from __future__ import annotations

import pytest

import tfg
from tests.core.gradients.differences import assert_orders

pytest.importorskip("tensorflow")
pytestmark = pytest.mark.live

from tests.core.gradients import loop_forms  # noqa: E402 - needs TensorFlow

WITHOUT_GRADIENT = {"branch_in_call", "branch_in_call_in_loop"}
"""Programs of V1 of which TensorFlow itself fails to build or to run a gradient."""
BY_SYMBOLIC_GRADIENT = {name for name in loop_forms.FORMS if "call" in name and "condition" not in name}
"""TensorFlow's gradient of these is a SymbolicGradient, of which neither it nor tfg has a gradient."""
DEEP = {"nested_thrice", "nested_branch_in_loop", "nested_loop_in_call", "loop_in_branch_in_loop", "branch_in_loop_in_call"}
"""Loops in others, whose third derivatives have thousands of nodes; those of `nested` stand for them."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("name", loop_forms.FORMS)
def test_three_orders(name: str, version: int) -> None:
    assert_orders(tfg.load(loop_forms.program(name, version)), "y:0", 1, 2 if name in DEEP else 3)


FIRSTS = sorted(loop_forms.FORMS.keys() - BY_SYMBOLIC_GRADIENT - WITHOUT_GRADIENT)


@pytest.mark.parametrize("name", FIRSTS)
def test_the_second_of_a_first_that_tensorflow_built(name: str) -> None:
    assert_orders(tfg.load(loop_forms.differentiated(name, 1)), "dx:0", 2, 2)
