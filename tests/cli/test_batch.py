"""`--batch` and `--shape` in each command: the sizes that were asked for are those that the command works with."""

from __future__ import annotations

import shlex

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run
from tfg.core.support.errors import InvalidArgumentError

WEIGHTS = np.sin(np.arange(36, dtype=np.float32)).reshape(12, 3)


@pytest.fixture
def graph(tmp_path):
    """y = reshape(x, [8,12]) times weights, of x (8,3,4)."""
    b = tfg.GraphBuilder()
    x = b.Placeholder(dtype="float", shape=[8, 3, 4], name="x")
    b.MatMul(b.Reshape(x, np.array([8, 12], np.int32), name="flat"), WEIGHTS, name="y")
    tfg.save(b.graph, tmp_path / "g.pb")
    return tmp_path / "g.pb"


@pytest.fixture
def summed(tmp_path):
    """The sum of the rows of x (8,3), a constant of eight rows added to x, and the mean of all."""
    b = tfg.GraphBuilder()
    x = b.Placeholder(dtype="float", shape=[8, 3], name="x")
    b.Mean(x, np.array([0, 1], np.int32), name="mean")
    b.Tanh(x, name="y")
    b.Cumsum(x, np.int32(0), name="sums")
    tfg.save(b.graph, tmp_path / "s.pb")
    return tmp_path / "s.pb"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("command", ["convert", "optimize"])
@pytest.mark.parametrize(("batch", "rows"), [("?", 5), ("5", 5), ("1", 1)])
def test_a_graph_of_another_batch_is_written_and_verified(graph, tmp_path, command, batch, rows):
    out = tmp_path / "out.pb"
    words = (graph, out) if command == "convert" else (graph, "-o", out, "--fetch", "y")
    done = run(command, *words, "--batch", batch, "--verify")
    assert done.code == 0, done.err
    assert f"x: (8,3,4) -> ({batch},3,4)\nflat: Reshape to [8,12] -> [-1,12]\n" in done.err
    assert "x (8,3,4)" in done.out if batch == "?" else f"x ({batch},3,4)" in done.out
    fed = np.cos(np.arange(rows * 12, dtype=np.float32)).reshape(rows, 3, 4)
    y = tfg.Session(tfg.load(out)).run("y:0", {"x:0": fed})
    np.testing.assert_allclose(y, fed.reshape(rows, 12) @ WEIGHTS, rtol=1e-5)


def test_python_gives_a_graph_another_batch(graph):
    filled = tfg.fill_placeholders(tfg.load(graph), batch="?")
    assert tfg.Session(filled).run("y:0", {"x:0": np.ones((2, 3, 4), np.float32)}).shape == (2, 3)
    with pytest.raises(InvalidArgumentError, match="a batch of 'x'"):
        tfg.fill_placeholders(tfg.load(graph), batch="x")


def test_a_difference_from_the_old_batch_is_found(graph, tmp_path, monkeypatch):
    """The comparison with the graph as it was sees a changed graph that is wrong from the start."""
    from tfg.core.transforms import batch_size

    right = batch_size.set_batch

    def wrong(changed, fetches, rows):
        constant = next(node for node in changed if node.is_constant and node.attr("value").shape == (12, 3))
        constant.set_attr("value", tfg.core.types.tensors.Tensor.from_numpy(WEIGHTS * 2))
        return right(changed, fetches, rows)

    monkeypatch.setattr(batch_size, "set_batch", wrong)
    for batch in ("?", "3"):
        assert run("convert", graph, tmp_path / "out.pb", "--batch", batch, "--verify").code == 3


def test_what_cannot_be_compared_row_by_row_is_told(summed, tmp_path):
    done = run("convert", summed, tmp_path / "out.pb", "--batch", "3", "--verify")
    assert done.code == 0, done.err
    assert "not compared with the old batch: mean:0 has no batch, its shape is ()" in done.err
    assert "not compared with the old batch: sums:0 depends on the place of a row, or on other rows" in done.err
    assert run("convert", summed, tmp_path / "out.pb", "--batch", "?", "--verify").err.count("not compared") == 0


@pytest.mark.parametrize(("batch", "flops"), [("8", 576), ("1", 72), ("64", 4608)])
@pytest.mark.parametrize("command", ["flops", "layers"])
def test_counts_are_those_of_the_batch(graph, command, batch, flops):
    """A row takes 2 x 12 x 3 FLOPs, whatever batch the file has."""
    counted = run(command, graph, "--batch", batch, "--format", "json").json
    assert (counted["total"] if command == "flops" else counted)["flops"] == flops


def test_a_count_for_an_open_batch_is_a_formula(graph):
    assert "72 x N" in run("flops", graph, "--batch", "?").out
    assert str(tfg.flops(tfg.load(graph), batch="?").total().flops) == "72*N"


@pytest.mark.parametrize("command", ["flops", "layers", "explain", "convert"])
def test_a_graph_without_a_batch_is_refused(tmp_path, command):
    b = tfg.GraphBuilder()
    b.Exp(b.Placeholder(dtype="float", shape=[], name="x"), name="y")
    tfg.save(b.graph, tmp_path / "g.pb")
    out = (tmp_path / "o.pb",) if command == "convert" else ()
    done = run(command, tmp_path / "g.pb", *out, "--batch", "2")
    assert done.code == 1
    assert "the graph has no batch: its inputs are x ()" in done.err or "does not depend on this size" in done.err


def test_memory_is_that_of_the_batch(graph):
    facts = {batch: run("explain", graph, "--batch", batch, "--format", "json").json for batch in ("8", "32")}
    held = [facts[batch]["peak_memory"]["bytes"] for batch in facts]
    assert held == [2 * 8 * 12 * 4, 2 * 32 * 12 * 4]  # x and flat
    assert facts["32"]["outputs"][0]["shape"] == [32, 3]


def test_commands_that_are_proposed_have_the_sizes(graph):
    for command in ("explain", "run"):
        lines = run(command, graph, "--batch", "2", "--format", "json").json["next_commands"]
        assert all(line.endswith(" --batch 2") for line in lines if not line.startswith("tfg dump"))
        assert "uniform(2,3,4)" in lines[0] and run(*shlex.split(lines[0])[1:]).code == 0


def test_a_page_shows_the_sizes(graph, tmp_path):
    assert run("view", graph, "-o", tmp_path / "v.html", "--batch", "77").code == 0
    assert "(77,3)" in (tmp_path / "v.html").read_text()


def test_a_run_takes_another_batch(graph):
    refused = run("run", graph, "--fetch", "y", "--feed", "x=ones(2,3,4)")
    assert refused.code == 1 and "`tfg convert GRAPH OUT --batch '?'`" in refused.err
    done = run("run", graph, "--fetch", "y", "--feed", "x=ones(2,3,4)", "--batch", "2", "--format", "json")
    assert done.code == 0 and np.shape(done.json["steps"][0]["values"][0]["value"]) == (2, 3)


@pytest.mark.slow
def test_runs_of_many_inputs_take_another_batch(graph, tmp_path):
    for rows in (1, 2):
        np.save(tmp_path / f"x{rows}.npy", np.ones((rows, 3, 4), np.float32))
    words = ("--feed", "x=@each", "--each", str(tmp_path / "x*.npy"), "--out-dir", tmp_path / "out", "--format", "npy")
    done = run("run", graph, "--fetch", "y", *words, "--batch", "?")
    assert done.code == 0, done.err
    shapes = [np.load(path).shape for path in sorted((tmp_path / "out").glob("*.npy"))]
    assert shapes == [(1, 3), (2, 3)] and done.err.count("flat: Reshape to [8,12] -> [-1,12]") == 1


@pytest.mark.parametrize("batch", ["x", "-1", "2.5", ""])
def test_what_is_no_batch_is_refused(graph, tmp_path, batch):
    done = run("convert", graph, tmp_path / "out.pb", "--batch", batch)
    assert done.code == 2 and "is not a number of rows, or ?" in done.err


def test_a_fixed_size_is_named_and_the_option_that_changes_it(graph, tmp_path):
    done = run("convert", graph, tmp_path / "out.pb", "--shape", "x=?,3,4")
    assert done.code == 1 and not (tmp_path / "out.pb").exists()
    assert "x (?,3,4) does not fit 1 node, for instance as x (16,3,4):\n  'flat': cannot reshape" in done.err
    assert "hint: --batch changes the first size" in done.err


@pytest.mark.slow
def test_a_model_gets_another_batch_with_its_signature(tmp_path):
    out = tmp_path / "out"
    words = ("convert", SAMPLES / "scaler_saved_model", f"{out}/")
    done = run(*words, "--batch", "7", "--verify")
    assert done.code == 0, done.err
    signature = tfg.load(out).meta.signatures["serving_default"]
    assert [str(signature.inputs["x"].shape), str(signature.outputs["scaled"].shape)] == ["(7,2)", "(7,2)"]


def test_a_cut_gets_the_batch(graph, tmp_path):
    done = run("convert", graph, tmp_path / "out.pb", "--to", "y", "--from", "flat", "--batch", "?", "--verify")
    assert done.code == 0, done.err
    assert str(tfg.load(tmp_path / "out.pb")["flat"].attr("shape")) == "(?,12)"


def test_an_onnx_model_takes_any_batch(graph, tmp_path):
    pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
    done = run("convert", graph, tmp_path / "out.onnx", "--batch", "?", "--verify")
    assert done.code == 0, done.err
    assert "x (8,3,4)" in done.out and "x (3,3,4)" in done.out
