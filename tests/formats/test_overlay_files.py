"""Overlays from files: their forms, the names of functions' nodes, and refusals."""

from __future__ import annotations

import json

import pytest

from tests.cli.running import SAMPLES, tfg
from tests.functions import define
from tfg.core.building.builder import GraphBuilder
from tfg.core.drawing.view_model import problem_overlay
from tfg.core.explaining.model_view import model_view
from tfg.core.graph.graph import Graph
from tfg.core.support.errors import InvalidArgumentError
from tfg.formats import load
from tfg.formats.api.counting import profile
from tfg.formats.overlay_files import measured_overlay, read_overlay, time_overlay


@pytest.fixture
def graph():
    graph = Graph()
    graph.add_node("a", "NoOp")
    graph.add_node("b", "NoOp")
    return graph


def overlay_of(tmp_path, contents, graph):
    path = tmp_path / "mine.json"
    path.write_text(contents if isinstance(contents, str) else json.dumps(contents))
    result = read_overlay(str(path), model_view(graph, raw=True))
    return result.title, {node.name: value for node, value in result.values.items()}


def test_numbers_and_texts_by_node(tmp_path, graph):
    assert overlay_of(tmp_path, {"a": 1.5, "gone": 2}, graph) == ("mine", {"a": 1.5})
    assert overlay_of(tmp_path, {"a": "x", "b": "y"}, graph) == ("mine", {"a": "x", "b": "y"})


@pytest.mark.parametrize(
    "contents",
    [
        "",
        "[1]",
        {},
        {"gone": 1},
        {"a": None},
        {"a": True},
        {"a": [1]},
        '{"a": NaN}',
        '{"a": 1e999}',
        {"a": 1, "b": "x"},
        "[" * 9999,
    ],
)
def test_other_contents_are_refused(tmp_path, graph, contents):
    with pytest.raises(InvalidArgumentError):
        overlay_of(tmp_path, contents, graph)


@pytest.mark.slow
def test_differences_of_compare(tmp_path):
    xor = SAMPLES / "xor.pbtxt"
    other = tmp_path / "other.pbtxt"
    other.write_text(xor.read_text())
    document = tfg("compare", xor, other, "--all", "--format", "json").json
    title, values = overlay_of(tmp_path, document, load(xor))
    assert title == "Difference" and values["loss"] == 0.0
    del document["nodes"]
    with pytest.raises(InvalidArgumentError):
        overlay_of(tmp_path, document, load(xor))


def test_times_of_a_recorded_run(tmp_path, graph):
    path = tmp_path / "run.pbtxt"
    times = ("a", 3), ("a", 4), ("b", 5), ("gone", 6)
    stats = "".join(
        f'node_stats {{ node_name: "{name}" op_end_rel_micros: {us} all_end_rel_micros: {us} }}' for name, us in times
    )
    path.write_text(f'step_stats {{ dev_stats {{ device: "/cpu:0" {stats} }} }}')
    result = time_overlay(str(path), model_view(graph, raw=True))
    assert {node.name: round(value * 1e6) for node, value in result.values.items()} == {"a": 7, "b": 5}


def test_problems_of_a_graph():
    graph = load(b'node { name: "a" op: "Nonsense" } node { name: "b" op: "Neg" input: "a" }')
    assert {node.name for node in problem_overlay(graph).values} >= {"b"}


@pytest.fixture
def calling():
    """A graph that calls `f` twice, which takes exp and then neg."""
    g = GraphBuilder()
    define(g, "f", ["float32"], lambda b, a: [b.Neg(b.Exp(a, name="exp"), name="neg")])
    x = g.Placeholder(dtype="float32", shape=(3,), name="x")
    first = g.PartitionedCall([x], f="f", Tout=["float32"], name="scope/first")
    g.PartitionedCall([first[0]], f="f", Tout=["float32"], name="second")
    return g.graph


def test_a_call_has_the_times_of_its_functions(tmp_path, calling):
    seconds = {"scope/first": 1, "scope/first/exp": 2, "scope/first/neg": 4, "second": 8, "second/exp": 16, "gone/exp": 64}
    rows = [{"path": path, "seconds": value} for path, value in seconds.items()]
    title, values = overlay_of(tmp_path, {"schema": "tfg.flops.measured/1", "rows": rows}, calling)
    assert title == "Measured time"
    assert values == {"scope/first": 7, "second": 24, "exp": 18, "neg": 4}


def test_names_of_nodes_in_functions(tmp_path, calling):
    assert overlay_of(tmp_path, {"f/exp": 1, "second/neg": 2, "second/gone": 3}, calling)[1] == {"exp": 1, "neg": 2}


def test_a_measurement_is_an_overlay(calling):
    overlay = measured_overlay(model_view(calling, raw=True), profile(calling, "second:0", {"x:0": [1, 2, 3]}))
    values = {node.name: value for node, value in overlay.values.items()}
    assert {"scope/first", "second", "exp", "neg"} <= values.keys()
    assert values["exp"] + values["neg"] <= values["scope/first"] + values["second"]
