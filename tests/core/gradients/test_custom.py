"""Gradients that nodes name themselves: saved with the graph, registered, or nowhere."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

import tfg
from tfg.core.building.builder import GraphBuilder
from tfg.core.gradients import gradients
from tfg.core.registry import registry
from tfg.core.runtime.session.runner import Runner
from tfg.core.support.errors import UnimplementedError
from tfg.formats import saving

with np.load(pathlib.Path(__file__).with_name("custom.npz")) as archive:
    RECORDED = {name: archive[name] for name in archive.files}
SERVED = {name.split("/")[0] for name in RECORDED if "/" in name}
X = "serving_default_x:0"


def loaded():
    graph = tfg.load(RECORDED["graph"].tobytes())
    return graph, {key: value.tensor for key, value in graph.meta.signatures["serving_default"].outputs.items()}


def assert_as_recorded(graph, outputs):
    for name, tensor in outputs.items():
        extended, names = gradients(graph, tensor, [X, "w:0"])
        extended.check()
        runner = Runner(tfg.Session(extended))
        runner.assign("w", lambda _: RECORDED["w"])
        got = runner.session.run(names, {X: RECORDED["x"]})
        for mine, source in zip(got, "xw"):
            np.testing.assert_allclose(mine, RECORDED[f"{name}/{source}"], rtol=1e-5, atol=1e-5, err_msg=f"{name} by {source}")


@pytest.mark.slow
def test_saved_gradients_are_those_of_tensorflow() -> None:
    graph, outputs = loaded()
    assert set(outputs) == SERVED and len(SERVED) == 6
    assert_as_recorded(graph, outputs)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["graph", "meta_graph"])
def test_they_survive_writing(kind: str) -> None:
    """Without the SavedModel's objects too, which say what a gradient reads."""
    graph, outputs = loaded()
    assert_as_recorded(tfg.load(saving.to_bytes(graph, kind=kind)), outputs)


def test_functions_are_written_without_attributes_that_tensorflow_refuses() -> None:
    """Its loader of SavedModels refuses a function with an attribute that it does not know."""
    graph, _ = loaded()
    before = {name: set(function.attrs) for name, function in graph.functions.items()}
    written = tfg.load(saving.to_bytes(graph))
    assert {name: set(function.attrs) for name, function in written.functions.items()} == before


@pytest.mark.slow
def test_they_survive_optimization() -> None:
    graph, outputs = loaded()
    optimized, _ = tfg.optimize(graph, fetches=list(outputs.values()))
    assert_as_recorded(optimized, outputs)
    assert_as_recorded(tfg.load(saving.to_bytes(optimized)), outputs)


@pytest.mark.slow
@pytest.mark.parametrize("is_written", [False, True])
@pytest.mark.parametrize("name", sorted(SERVED))
def test_they_survive_freezing(name: str, is_written: bool) -> None:
    """Functions that took handles have copies, whose gradients read tensors of the copies."""
    graph, outputs = loaded()
    frozen = tfg.freeze(graph, {"w": RECORDED["w"]}, outputs[name])
    frozen = tfg.load(saving.to_bytes(frozen)) if is_written else frozen
    extended, grads = gradients(frozen, outputs[name], [X])
    np.testing.assert_allclose(tfg.Session(extended).run(grads, {X: RECORDED["x"]})[0], RECORDED[f"{name}/x"], rtol=1e-5)


@pytest.mark.slow
def test_they_survive_a_join() -> None:
    graph, outputs = loaded()
    b = GraphBuilder()
    b.Identity(b.Placeholder(dtype="float", shape=[None, 2], name="first"), name="passed")
    joined = tfg.join(b.graph, tfg.freeze(graph, {"w": RECORDED["w"]}, outputs["clipped"]), {X: "passed:0"})
    joined = tfg.load(saving.to_bytes(getattr(joined, "graph", joined)))
    extended, grads = gradients(joined, outputs["clipped"], ["first:0"])
    result = tfg.Session(extended).run(grads, {"first:0": RECORDED["x"]})[0]
    np.testing.assert_allclose(result, RECORDED["clipped/x"], rtol=1e-5)


@pytest.mark.slow
def test_a_gradient_of_a_written_gradient() -> None:
    """Functions made by differentiation still know whose nodes they have."""
    graph, outputs = loaded()
    extended, names = gradients(graph, outputs["clipped"], [X])
    again = tfg.load(saving.to_bytes(extended))
    values = []
    for first in (extended, again):
        second, result = gradients(first, names[0], ["w:0"], name="second")
        runner = Runner(tfg.Session(second))
        runner.assign("w", lambda _: RECORDED["w"])
        values.append(runner.session.run(result, {X: RECORDED["x"]})[0])
    np.testing.assert_array_equal(values[0], values[1])
    assert np.any(values[0])


def of_identity(name):
    """A graph of y = identity(x)^2 where the Identity names its gradient."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float", shape=[2], name="x")
    passed = g.Identity(x, name="passed")
    passed.node.set_attr("_gradient_op_type", name)
    g.Square(passed, name="y")
    return g.graph


def test_a_missing_gradient_is_an_error() -> None:
    with pytest.raises(UnimplementedError, match="'CustomGradient-7' is neither saved") as caught:
        gradients(of_identity(b"CustomGradient-7"), "y:0", "x:0")
    assert caught.value.node == "passed" and "CustomGradient-7" in caught.value.hint


def test_the_gradient_of_another_op() -> None:
    """As with gradient_override_map({"Identity": "Neg"})."""
    extended, names = gradients(of_identity(b"Neg"), "y:0", "x:0")
    np.testing.assert_array_equal(tfg.Session(extended).run(names, {"x:0": np.float32([1, 2])})[0], [-2, -4])


def test_a_gradient_that_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._GRADIENTS, "Tripled", lambda g, node, grad: [g.Mul(grad, g.constant(3.0))])
    extended, names = gradients(of_identity(b"Tripled"), "y:0", "x:0")
    np.testing.assert_array_equal(tfg.Session(extended).run(names, {"x:0": np.float32([1, 2])})[0], [6, 12])
