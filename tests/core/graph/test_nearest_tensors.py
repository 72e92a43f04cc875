"""Likely tensors for variables that a state lacks."""

from __future__ import annotations

from tfg.core.graph.nearest_tensors import nearest_tensors
from tfg.core.types.dtypes import from_name
from tfg.core.types.shapes import Shape

FLOAT = from_name("float")


def kinds(**shapes):
    return {name.replace("__", "/"): (FLOAT, Shape(shape)) for name, shape in shapes.items()}


def test_names_of_other_libraries_and_numbers_of_layers_decide():
    lacking = kinds(dense__kernel=(4, 4), dense_1__kernel=(4, 4), dense__bias=(4,), dense__gamma=(4,))
    others = kinds(fc_1__weights=(4, 4), fc__weights=(4, 4), fc__biases=(4,), norm__scale=(4,), fc__weights__Adam=(4, 4))
    assert nearest_tensors(lacking, others) == {
        "dense/kernel": "fc/weights", "dense_1/kernel": "fc_1/weights", "dense/bias": "fc/biases", "dense/gamma": "norm/scale",
    }  # fmt: skip


def test_shapes_must_agree_and_scalars_need_a_common_word():
    assert nearest_tensors(kinds(a=(3,)), kinds(a=(4,))) == {}
    assert nearest_tensors(kinds(q=(3,)), kinds(z=(3,))) == {"q": "z"}
    assert nearest_tensors(kinds(counter=()), kinds(rate=())) == {}
    assert nearest_tensors(kinds(step=()), kinds(global_step=(), rate=())) == {"step": "global_step"}


def test_many_tensors_of_a_shape_are_paired_in_their_order():
    lacking, others = ({f"{scope}/{i}": (FLOAT, Shape((2,))) for i in range(400)} for scope in ("a", "b"))
    assert nearest_tensors(lacking, others) == dict(zip(lacking, others))
