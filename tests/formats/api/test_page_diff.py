"""Two graphs as one: what is added, removed and changed, and that the arguments stay as they are."""

from __future__ import annotations

from tests.cli.running import SAMPLES
from tfg.core.building.builder import GraphBuilder
from tfg.formats import load
from tfg.formats.api.page_diff import merged_graphs


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
