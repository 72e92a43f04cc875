"""Models to call: what the inputs and outputs are, what a call needs, and what it keeps."""

from __future__ import annotations

import concurrent.futures
import dataclasses

import numpy
import pytest

import tfg
from tests.cli.running import SAMPLES
from tfg.core.graph.metagraph import MetaGraph, Signature, SignatureTensor
from tfg.core.support.errors import InvalidArgumentError
from tfg.core.types.tensors import Tensor

KERAS = SAMPLES / "keras_classifier"


def line():
    """y = x w + b with w = 2 and a b of 0.5 by default; unused z = -u; a node counts its runs."""
    g = tfg.GraphBuilder()
    x, u = g.Placeholder(dtype="float", shape=[None], name="in/x"), g.Placeholder(dtype="float", shape=[], name="u")
    b = g.PlaceholderWithDefault(numpy.float32(0.5), shape=[], name="b")
    g.Add(g.Mul(x, g.variable(2.0, name="w"), name="product"), b, name="y")
    g.Neg(u, name="z")
    g.AssignAdd(g.variable(0.0, name="runs"), 1.0, name="counted")
    g.global_variables_initializer()
    return g.graph


def signed(**signatures):
    """A graph of z = 10 x and y = -a, with signatures."""
    g = tfg.GraphBuilder()
    g.Mul(g.Placeholder(dtype="float", shape=[], name="x"), 10.0, name="z")
    g.Neg(g.Placeholder(dtype="float", shape=[2], name="a"), name="y")
    g.graph.meta = MetaGraph(signatures=signatures)
    return g.graph


TIMES = Signature("times", {"value": SignatureTensor("x:0")}, {"result": SignatureTensor("z:0")})
MINUS = Signature("minus", {"value": SignatureTensor("a:0")}, {"result": SignatureTensor("y:0")})


def test_a_saved_model_is_called_by_the_names_of_its_usual_signature():
    """The classes' probabilities sum to 1."""
    model = tfg.Model(KERAS)
    assert repr(model) == "<Model keras_classifier: measurements (?,4) -> output_0 (?,3)>"
    values = numpy.array([[1, 2, 3, 4], [0, 0, 1, 0]], numpy.float32)
    by_name = model(measurements=values)
    assert list(by_name) == ["output_0"] and by_name["output_0"].sum(1) == pytest.approx([1, 1])
    for other in (model(values), model({"measurements": values}), model({"serving_default_measurements:0": values})):
        assert numpy.array_equal(other["output_0"], by_name["output_0"])


def test_a_graph_without_signatures_has_placeholders_and_outputs():
    model = tfg.Model(line(), outputs="y")
    assert model({"in/x": [1, 3]})["y"].tolist() == [2.5, 6.5]
    assert model([1, 3])["y"].tolist() == [2.5, 6.5]
    assert model({"in/x": [1, 3], "b": 0})["y"].tolist() == [2, 6]
    assert set(model.inputs) == {"in/x", "u", "b"} and list(model.outputs) == ["y"]
    assert set(tfg.Model(line()).outputs) == {"y", "z"}


def test_outputs_are_also_tensors_within_the_model():
    model = tfg.Model(line(), outputs=["product", "y:0"])
    values = model([1])
    assert {name: value.tolist() for name, value in values.items()} == {"product": [2], "y:0": [2.5]}
    assert {name: str(one.shape) for name, one in model.outputs.items()} == {"product": "(?)", "y:0": "(?)"}
    with pytest.raises(tfg.errors.InvalidArgumentError, match="'init' is an operation without a value"):
        tfg.Model(line(), outputs="init")
    with pytest.raises(tfg.errors.NotFoundError, match="no node 'prodct'") as caught:
        tfg.Model(line(), outputs="prodct")
    assert "product" in caught.value.hint


def test_variables_keep_their_values_between_calls():
    model = tfg.Model(line(), outputs=["counted", "y"], state={"w": numpy.float32(3)})
    assert [model([1])["counted"] for _ in range(3)] == [1, 2, 3]
    assert (model.variables["w"], model.variables["runs"]) == (3, 3)
    model.variables["w"] = 5
    assert model([1])["y"] == 5.5
    assert tfg.Model(line(), outputs="counted")()["counted"] == 1


def test_many_threads_share_the_state():
    model = tfg.Model(line(), outputs="counted")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        counts = [result["counted"] for result in pool.map(lambda _: model(), range(20))]
    assert sorted(counts) == list(range(1, 21))


def test_the_variables_are_those_of_the_model():
    """The file has 22 handles for 8 variables; a moving variance starts at 1."""
    assert sorted(value.shape for value in tfg.Model(KERAS).variables.values()) == [(3,), (4, 8), *[(8,)] * 5, (8, 3)]


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda model: model(), "an input has no value: in/x"),
        (lambda model: model(y=1), "the model has no input 'y'"),
        (lambda model: model([1], **{"in/x": [1]}), "an input has two values"),
        (lambda model: model({"in/x": [1], "in/x:0": [1]}), "an input has two values"),
    ],
)
def test_an_error_has_a_call_that_works(call, problem):
    model = tfg.Model(line(), outputs="y")
    with pytest.raises(tfg.errors.TfgError, match=problem) as caught:
        call(model)
    assert caught.value.hint == "model({'in/x': numpy.zeros([1])})"


@pytest.mark.parametrize("dtype", ["float", "double", "half", "bfloat16", "int32", "uint8", "bool", "string", "complex64"])
@pytest.mark.parametrize("shape", [[], [None, 2], None])
def test_the_call_of_an_error_works_for_each_dtype(dtype, shape):
    g = tfg.GraphBuilder()
    g.Identity(g.Placeholder(dtype=dtype, shape=shape, name="x"), name="y")
    model = tfg.Model(g.graph)
    with pytest.raises(tfg.errors.InvalidArgumentError) as caught:
        model()
    result = eval(caught.value.hint, {"numpy": numpy, "model": model})["y"]
    assert list(numpy.shape(result)) == [1 if size is None else size for size in shape or []]


def test_two_inputs_are_given_by_name():
    model = tfg.Model(line())
    with pytest.raises(tfg.errors.InvalidArgumentError, match="the model takes inputs by name: in/x, u") as caught:
        model([1])
    assert caught.value.hint == "model({'in/x': numpy.zeros([1]), 'u': 1.0})"


def test_a_signature_is_chosen_by_name():
    graph = signed(times=TIMES, minus=MINUS)
    assert tfg.Model(graph, "times")(value=3)["result"] == 30
    assert tfg.Model(graph, "minus")([1, 2])["result"].tolist() == [-1, -2]
    with pytest.raises(tfg.errors.InvalidArgumentError, match="several signatures: times, minus") as caught:
        tfg.Model(graph)
    assert "signature" in caught.value.hint
    with pytest.raises(tfg.errors.InvalidArgumentError, match="no signature 'plus'") as caught:
        tfg.Model(graph, "plus")
    assert "times, minus" in caught.value.hint


def test_arguments_with_a_default_may_be_left_out():
    model = tfg.Model(signed(only=dataclasses.replace(TIMES, defaults={"value": Tensor.from_numpy(numpy.float32(4))})))
    assert (model()["result"], model(value=1)["result"]) == (40, 10)


def test_a_function_of_the_objects_is_called_in_a_copy():
    graph = tfg.load(SAMPLES / "scaler_saved_model")
    name = graph.meta.callables[0].name
    before = len(graph)
    model = tfg.Model(graph, name)
    assert model.signature.name == name and len(graph) == before and set(graph.signatures) >= {"serving_default"}
    assert repr(model).startswith("<Model scaler_saved_model: ")


def test_engine_and_session_of_a_caller():
    model = tfg.Model(line(), outputs="y", engine="numpy")
    assert model([1])["y"] == 2.5

    def opened(graph):
        session = tfg.Session(graph, timeout=60)
        tfg.initialize(session)
        return session

    assert tfg.Model(line(), outputs="y", open_session=opened)([1])["y"] == 2.5
    with pytest.raises(tfg.errors.InvalidArgumentError, match="open_session"):
        tfg.Model(line(), engine="numpy", open_session=opened)


def test_a_model_for_another_batch():
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float", shape=[2, 3, 2], name="x")
    g.Reshape(x, numpy.array([2, 6], numpy.int32), name="y")
    model = tfg.Model(g.graph)
    assert [str(model.batch(rows).outputs["y"].shape) for rows in (None, 5)] == ["(?,6)", "(5,6)"]
    rows = numpy.arange(24, dtype=numpy.float32).reshape(4, 3, 2)
    numpy.testing.assert_array_equal(model.batch(None)(x=rows)["y"], rows.reshape(4, 6))
    with pytest.raises(InvalidArgumentError, match="shape"):
        model(rows)


def test_the_summary_is_the_table_of_layers(capsys):
    """A layer of 4 x 8 weights and 8 biases, one of 8 x 3 and 3, and 4 x 8 numbers of a normalization."""
    model = tfg.Model(KERAS)
    model.summary()
    head, *rows, _, totals, _ = capsys.readouterr().out.splitlines()
    assert head.split("  ")[0] == "layer"
    assert [row.split()[0] for row in rows] == [layer.name for layer in model.layers.layers]
    assert totals.startswith("3 layers, 99 parameters, 83 of them trainable")


def test_looking_at_a_model_opens_no_session(tmp_path):
    """The values of this model are missing."""
    (tmp_path / "saved_model.pb").write_bytes((KERAS / "saved_model.pb").read_bytes())
    model = tfg.Model(tmp_path)
    assert "measurements" in model._repr_html_() and len(model.layers.layers) == 3
    with pytest.raises(tfg.errors.TfgError):
        model([[1, 2, 3, 4]])
