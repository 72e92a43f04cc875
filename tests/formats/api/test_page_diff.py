"""Two graphs as one: what is added, removed and changed, and that the arguments stay as they are."""

from __future__ import annotations

import re
import shutil

from tests.cli.running import SAMPLES
from tests.functions import define
from tfg.core.building.builder import GraphBuilder
from tfg.core.drawing import view_model
from tfg.core.explaining.model_view import model_view
from tfg.formats import load
from tfg.formats.api.page_diff import merged_graphs
from tfg.formats.api.viewing import make_page


def states_of(before, after):
    merged = merged_graphs(before, after)
    return merged, {node.name: state for node, state in merged.states.values.items()}


def chain(*ops):
    g = GraphBuilder()
    value = g.Placeholder(dtype="float", shape=[2], name="x")
    for op in ops:
        value = getattr(g, op)(value, name=op)
    return g.graph


def test_removed_nodes_keep_their_inputs():
    before, after = chain("Tanh", "Exp", "Neg"), chain("Neg")
    merged, states = states_of(before, after)
    assert states == {"Tanh": "removed", "Exp": "removed", "Neg": "changed"}
    assert [str(value) for value in merged.graph["Exp"].inputs] == ["Tanh:0"]
    assert merged.graph["Tanh"].inputs[0].node is merged.graph["x"]
    assert merged.changes[merged.graph["Neg"]] == (("inputs", "Exp:0", "x:0"),)
    assert "Tanh" not in after and len(before) == 4
    merged.graph.check()


def test_equal_graphs_have_no_differences():
    for sample in ("xor.pbtxt", "scaler_saved_model"):
        merged, states = states_of(load(SAMPLES / sample), load(SAMPLES / sample))
        assert states == {} and merged.changes == {} and "equal" in merged.verdict


def test_a_removed_name_that_is_taken():
    before, after = chain("Neg"), chain("Neg")
    after.remove_node(after["Neg"])
    after.add_node("Neg", "NoOp")
    merged, states = states_of(before, after)
    assert len(merged.graph) >= 2 and set(states.values()) <= {"added", "removed", "changed"}


def called(make, dtypes=("float",)):
    g = GraphBuilder()
    define(g, "f", dtypes, make)
    x = g.Placeholder(dtype="float", shape=[2], name="x")
    g.PartitionedCall([x] * len(dtypes), f="f", Tout=["float"], name="call")
    return g.graph


def test_nodes_removed_inside_functions():
    before = called(lambda b, a: [b.Neg(b.Exp(a, name="exp"), name="neg")])
    after = called(lambda b, a: [b.Neg(a, name="neg")])
    merged, states = states_of(before, after)
    body = merged.graph.functions["f"].body
    assert states == {"exp": "removed", "neg": "changed"}
    assert body["exp"].inputs[0].node is body["a0"] and "exp" not in after.functions["f"].body
    assert merged.graph.functions["f"].results[0].node is body["neg"]
    merged.graph.functions["f"].check()
    pages = make_page(model_view(merged.graph, raw=True), "", "", compared=merged)
    assert {entry.name: entry.common.outputs for entry in pages.entries}["exp"] == ("float (2)",)


def test_progress_counts_the_nodes_of_both_graphs(monkeypatch):
    monkeypatch.setattr(view_model, "_NODES_OF_A_REPORT", 2)
    merged, _ = states_of(chain("Neg", "Exp", "Abs"), chain("Neg", "Exp"))
    reports = []
    make_page(model_view(merged.graph, raw=True), "", "", report=lambda *done: reports.append(done), compared=merged)
    assert reports == [(2, 8), (4, 8), (6, 8), (8, 8)]


def test_a_removed_argument_of_a_function():
    before = called(lambda b, a, c: [b.AddV2(a, b.Exp(c, name="exp"), name="end")], ("float", "float"))
    after = called(lambda b, a: [b.Neg(a, name="end")])
    merged, states = states_of(before, after)
    assert states["exp"] == states["a1"] == "removed"
    merged.graph.functions["f"].check()
    assert len(make_page(model_view(merged.graph, raw=True), "", "", compared=merged).pages) == 2


def test_one_model_exported_twice(tmp_path):
    """TensorFlow numbers functions anew in the second export."""
    again = shutil.copytree(SAMPLES / "scaler_saved_model", tmp_path / "again")
    data = (again / "saved_model.pb").read_bytes()
    digits = bytes.maketrans(b"0123456789", b"9876543210")
    renumbered = re.sub(rb"(__inference_\w+_)(\d+)", lambda name: name[1] + name[2].translate(digits), data)
    (again / "saved_model.pb").write_bytes(renumbered)
    before, after = load(SAMPLES / "scaler_saved_model"), load(again)
    merged, states = states_of(before, after)
    assert set(before.functions).isdisjoint(after.functions) and before.functions
    assert states == {} and merged.changes == {} and "equal" in merged.verdict
