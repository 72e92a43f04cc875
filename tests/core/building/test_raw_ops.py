"""The methods of a builder that add ops: names, signatures and docstrings from the catalog, and a stub for type checkers."""

from __future__ import annotations

import ast
import inspect
import pathlib
import subprocess
import sys

import pytest

import tfg
from tfg.core.building import node_builder, raw_ops
from tfg.core.registry.catalog import CATALOG, op_sentence

STUB = ast.parse(pathlib.Path(raw_ops.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def builder():
    return tfg.GraphBuilder()


def test_a_signature_names_inputs_attributes_and_types(builder):
    assert str(inspect.signature(builder.MatMul)) == (
        "(a: 'TensorLike', b: 'TensorLike', /, *, transpose_a: 'bool' = False, transpose_b: 'bool' = False,"
        " T: 'DTypeLike | None' = None, grad_a: 'bool' = False, grad_b: 'bool' = False, name: 'str | None' = None) -> 'Output'"
    )
    parameters = inspect.signature(builder.Conv2D).parameters
    assert parameters["padding"].annotation == "Literal['SAME', 'VALID', 'EXPLICIT'] | bytes"
    assert parameters["strides"].default is inspect.Parameter.empty
    assert inspect.signature(builder.AddN).parameters["inputs"].annotation == "Sequence[TensorLike]"
    assert inspect.signature(builder.Assign).parameters["ref"].annotation == "OutputLike"


@pytest.mark.parametrize(
    ("op", "result"),
    [
        ("Neg", "Output"),
        ("NoOp", "Node"),
        ("Unique", "tuple[Output, Output]"),
        ("Split", "tuple[Output, ...]"),
        ("While", "OutputsOrNode"),
    ],
)
def test_a_signature_has_the_type_of_the_result(builder, op, result):
    assert inspect.signature(getattr(builder, op)).return_annotation == result


def test_results_are_of_these_types(builder):
    x = builder.Placeholder(dtype="float", shape=[4])
    assert isinstance(builder.Neg(x), tfg.Output)
    assert isinstance(builder.NoOp(), tfg.Node)
    assert [type(value) for value in builder.Unique(x)] == [tfg.Output] * 2
    assert [type(value) for value in builder.Split(0, x, num_split=2)] == [tfg.Output] * 2
    assert [type(value) for value in builder.Unpack(x, num=1)] == [tfg.Output]
    assert isinstance(builder.PartitionedCall([], Tout=[], f="f"), tfg.Node)


@pytest.mark.slow
def test_a_docstring_begins_with_the_sentence_of_the_op(builder):
    assert builder.Conv2D.__doc__.startswith("Computes a 2-D convolution given 4-D `input` and `filter` tensors.\n\n")
    assert "one of SAME, VALID, EXPLICIT" in builder.Conv2D.__doc__
    described = [op for op in raw_ops.op_names() if op_sentence(op)]
    assert len(described) > 1000
    assert all(getattr(builder, op).__doc__.partition("\n")[0] == op_sentence(op) for op in described)


def test_every_op_is_listed_with_a_signature(builder):
    assert {"MatMul", "constant", "name_scope"} <= set(dir(builder))
    assert all(name.isidentifier() and name != "None" for name in dir(builder))
    for op in raw_ops.op_names():
        assert inspect.signature(getattr(builder, op)).parameters["name"].default is None


def test_the_stub_has_every_op_and_no_other_method():
    (methods,) = (node.body for node in STUB.body if isinstance(node, ast.ClassDef))
    assert [method.name for method in methods] == ["apply", *filter(CATALOG.is_builtin, raw_ops.op_names())]


def test_the_stub_uses_the_names_of_its_module():
    imported = {alias.name for node in STUB.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert {name for name in vars(node_builder) if name.endswith(("Like", "OrNode"))} <= imported


def test_an_op_of_a_library_is_a_method_without_a_stub(builder):
    CATALOG.register("Halve(x: T) -> (y: T) {T: {half, float}}")
    try:
        assert "Halve" in dir(builder)
        assert list(inspect.signature(builder.Halve).parameters) == ["x", "T", "name"]
        assert builder.Halve.__doc__.startswith("Add a node of type Halve and return the Output.")
    finally:
        CATALOG.unregister("Halve")


def test_a_misspelt_op_is_no_method(builder):
    with pytest.raises(AttributeError, match="'MatMull' is neither a method of GraphBuilder nor a declared op"):
        builder.MatMull  # noqa: B018


def test_the_package_does_not_read_sentences_before_a_builder_adds_an_op():
    script = "import sys, tfg; tfg.Graph; print([m for m in sys.modules if m.endswith(('op_sentences', 'raw_ops'))])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "[]\n"
