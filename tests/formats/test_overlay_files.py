"""Overlays from files: their forms, the names of functions' nodes, and what is refused."""

from __future__ import annotations

import json

import pytest

from tests.cli.running import SAMPLES, tfg
from tfg.core.drawing.overlays import problem_overlay
from tfg.core.graph.graph import Graph
from tfg.core.support.errors import InvalidArgumentError
from tfg.formats import load
from tfg.formats.overlay_files import read_overlay, time_overlay


@pytest.fixture
def graph():
    graph = Graph()
    graph.add_node("a", "NoOp")
    graph.add_node("b", "NoOp")
    return graph


def overlay_of(tmp_path, contents, graph):
    path = tmp_path / "mine.json"
    path.write_text(contents if isinstance(contents, str) else json.dumps(contents))
    found = read_overlay(str(path), graph)
    return found.title, {node.name: value for node, value in found.values.items()}


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
    found = time_overlay(str(path), graph)
    assert {node.name: round(value * 1e6) for node, value in found.values.items()} == {"a": 7, "b": 5}


def test_problems_of_a_graph():
    graph = load(b'node { name: "a" op: "Nonsense" } node { name: "b" op: "Neg" input: "a" }')
    assert {node.name for node in problem_overlay(graph).values} >= {"b"}
