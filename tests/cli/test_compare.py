"""`tfg compare`: the first node with a different value, also after renaming."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cli.running import SAMPLES, tfg
from tfg.core.building.builder import GraphBuilder
from tfg.core.comparing.matching import match_nodes
from tfg.core.types.dtypes import float32
from tfg.core.types.tensors import Tensor
from tfg.formats import load, save

SEEDS = np.random.default_rng(0)
WEIGHTS = [SEEDS.standard_normal((4, 4)).astype(np.float32) for _ in range(3)]


def network():
    """Return three layers in separate scopes."""
    g = GraphBuilder()
    h = g.Placeholder(dtype=float32, shape=[None, 4], name="x")
    for i, weight in enumerate(WEIGHTS):
        w = g.constant(weight, name=f"layer{i}/w")
        h = g.Tanh(g.MatMul(h, w, name=f"layer{i}/product"), name=f"layer{i}/out")
    g.Sub(h, g.Square(h, name="square"), name="y")
    return g.graph


def rename_scope(graph):
    for node in list(graph):
        if node.name.startswith("layer1/"):
            graph.rename_node(node, node.name.replace("layer1/", "middle/"))


def change_weight(graph):
    node = next(n for n in graph if n.name in ("layer1/w", "middle/w"))
    changed = node.attrs["value"].numpy().copy()
    changed[0, 0] += 1
    node.set_attr("value", Tensor.from_numpy(changed))


def swap_inputs(graph):
    graph.set_inputs(graph["y"], tuple(reversed(graph["y"].inputs)))


@pytest.fixture
def compared(tmp_path):
    def run(*changes, options=()):
        before, after = network(), network()
        for change in changes:
            change(after)
        paths = [str(tmp_path / name) for name in ("before.pb", "after.pb")]
        for graph, path in zip((before, after), paths):
            save(graph, path)
        done = tfg("compare", *paths, "--fetch", "y", "--format", "json", *options)
        return done.code, done.json

    return run


def test_equal_graphs_agree(compared):
    code, result = compared()
    assert (code, result["first"], result["compared"]) == (0, None, 11)


@pytest.mark.parametrize(
    ("changes", "tensor", "other"),
    [
        ([change_weight], "layer1/w:0", "layer1/w:0"),
        ([swap_inputs], "y:0", "y:0"),
        ([rename_scope, change_weight], "layer1/w:0", "middle/w:0"),
        ([rename_scope, swap_inputs], "y:0", "y:0"),
    ],
)
def test_finds_the_first_node_that_differs(compared, changes, tensor, other):
    code, result = compared(*changes)
    assert code == 3
    assert (result["first"]["tensor"], result["first"]["other"]) == (tensor, other)


def test_renaming_changes_nothing(compared):
    code, result = compared(rename_scope)
    assert (code, result["compared"], result["only_before"], result["only_after"]) == (0, 11, [], [])


def test_all_shows_what_agrees_too(compared):
    _, result = compared(swap_inputs, options=["--all"])
    assert [node["tensor"] for node in result["nodes"] if not node["passed"]] == ["y:0"]
    assert len(result["nodes"]) == result["compared"]


def test_tolerance(compared):
    _, result = compared(change_weight)
    needed = max(1.01 * node["tolerance_needed"] for node in compared(change_weight, options=["--all"])[1]["nodes"])
    assert compared(change_weight, options=["--tolerance", str(needed)])[0] == 0
    assert result["first"]["tolerance_needed"] > 0.1


def test_what_passes_leave_of_a_fetch_is_compared(tmp_path):
    """After fusion the fetch is an Identity that no step of a run computes."""
    whole, fused = tmp_path / "whole.pb", tmp_path / "fused.pb"
    tfg("convert", SAMPLES / "xor.pbtxt", whole, "--init", "--seed", "1", "--freeze", "--to", "probability")
    done = tfg("compare", whole, "--passes", "default", "--fetch", "probability", "--all", "--format", "json").json
    assert "probability:0" in {node["tensor"] for node in done["nodes"]}
    tfg("optimize", whole, "-o", fused, "--fetch", "probability")
    graph = load(str(fused))
    for node in graph:
        if node.is_constant:
            node.set_attr("value", Tensor.from_numpy(node.attrs["value"].numpy() + np.float32(0.5)))
    save(graph, fused)
    done = tfg("compare", whole, fused, "--fetch", "probability", "--format", "json", "--all")
    assert done.code == 3 and "probability:0" in {node["tensor"] for node in done.json["nodes"] if not node["passed"]}


def test_before_and_after_passes():
    assert tfg("compare", SAMPLES / "xor.pbtxt", "--passes", "default", "--fetch", "probability").code == 0


def test_needs_two_graphs():
    done = tfg("compare", SAMPLES / "xor.pbtxt")
    assert done.code == 2
    assert "--passes" in done.err


def test_training_steps_agree():
    assert (
        tfg("compare", SAMPLES / "xor.pbtxt", SAMPLES / "xor.pbtxt", "--fetch", "train", "--fetch", "loss", "--seed", "7").code
        == 0
    )


def test_loops_are_compared_run_by_run():
    options = ("--feed", "n=6", "--all", "--format", "json")
    done = tfg("compare", SAMPLES / "collatz.pbtxt", SAMPLES / "collatz.pbtxt", *options).json
    assert max(node["executions"] for node in done["nodes"]) > 1


def test_matching_pairs_alike_nodes_in_order():
    a, b = network(), network()
    rename_scope(b)
    matched = {node.name: other.name for node, other in match_nodes(a, b).items()}
    assert matched == {node.name: node.name.replace("layer1/", "middle/") for node in a}


def test_placeholders_too_large_to_draw_are_to_be_fed(tmp_path):
    g = GraphBuilder()
    g.Neg(g.Placeholder(dtype=float32, shape=[1 << 40], name="x"), name="y")
    save(g.graph, tmp_path / "g.pb")
    done = tfg("compare", tmp_path / "g.pb", tmp_path / "g.pb")
    assert done.code == 1
    assert "node 'x' (Placeholder)" in done.err


@pytest.fixture
def states(tmp_path):
    """Two states of a training, the second later, as checkpoint and as archive."""

    def save_state(name, steps):
        options = ("--init", "--seed", "3", "--target", "momentum", "--steps", steps, "--save-state", tmp_path / name)
        assert tfg("run", SAMPLES / "square.pbtxt", *options).code == 0
        return tmp_path / name

    return [save_state("one.npz", 1), save_state("same.ckpt", 1), save_state("later.ckpt", 2)]


def test_states_are_compared_by_variable(states):
    one, same, later = states
    assert tfg("compare", one, same).code == 0
    done = tfg("compare", one, later, "--format", "json")
    assert (done.code, done.json["first"]["tensor"], done.json["compared"]) == (3, "var", 2)
    # var is 1 - 0.1 * 2 after a step; the next adds 0.9 of the velocity of 2 to the gradient of 1.6.
    assert done.json["first"]["largest_difference"] == pytest.approx(0.34)
    assert tfg("compare", one, later, "--tolerance", "2").code == 0


def test_a_variable_that_one_state_lacks_is_a_difference(states, tmp_path):
    part = tmp_path / "part.npz"
    assert tfg("checkpoint", states[0], "--name", "^var$", "--output", part).code == 0
    done = tfg("compare", states[0], part)
    assert (done.code, "only in BEFORE" in done.out, "var/Momentum" in done.out) == (3, True, True)


def test_states_are_compared_with_states_only(states):
    graph = SAMPLES / "square.pbtxt"
    for arguments in ((states[0], graph), (graph, states[1])):
        done = tfg("compare", *arguments)
        assert (done.code, "a state must be compared with another state" in done.err) == (2, True)
    for option in ("--fetch", "--passes"):
        done = tfg("compare", states[0], *([states[1]] if option == "--fetch" else []), option, "y")
        assert (done.code, f"{option} has no effect when states are compared" in done.err) == (2, True)


def test_saved_models_are_graphs_though_they_hold_values():
    model = SAMPLES / "scaler_saved_model"
    assert tfg("compare", model, model, "--fetch", "scaled").code == 0
