"""`tfg grad` and `tfg train` as commands."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run_tfg
from tfg.core.building.builder import GraphBuilder
from tfg.core.support.errors import DeadlineExceededError
from tfg.core.training.trainer import LeastSquares, Trainer


@pytest.fixture
def graph(tmp_path):
    """y = tanh(x w), loss = sum(y^2), and `fraction`, an op without a gradient on the way from x."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="double", shape=[2], name="x")
    w = g.variable(np.array([[0.5, -1.0], [0.25, 2.0]]), name="w")
    y = g.Tanh(g.Reshape(g.MatMul(g.Reshape(x, [1, 2]), w.value), [2]), name="y")
    g.Sum(g.Square(y), [0], name="loss")
    g.LinSpace(g.Sum(x, [0]), np.float64(1), 3, name="fraction")
    g.global_variables_initializer()
    path = tmp_path / "graph.pb"
    tfg.save(g.graph, str(path))
    return str(path)


def test_gradient_nodes_are_written(graph, tmp_path) -> None:
    target = str(tmp_path / "out.pb")
    done = run_tfg("grad", graph, "--y", "loss", "--x", "w", "--x", "x", "-o", target, "--format", "json")
    assert done.code == 0
    names = {row["x"]: row["gradient"] for row in json.loads(done.out)["gradients"]}
    session = tfg.Session(tfg.load(target))
    session.run("init")
    by_w, by_x = session.run([names["w:0"], names["x:0"]], {"x:0": [1.0, 2.0]})
    y = np.tanh(np.array([1.0, 2.0]) @ [[0.5, -1.0], [0.25, 2.0]])
    np.testing.assert_allclose(by_x, (2 * y * (1 - y**2)) @ np.transpose([[0.5, -1.0], [0.25, 2.0]]))
    np.testing.assert_allclose(by_w, np.outer([1.0, 2.0], 2 * y * (1 - y**2)))


def test_check_passes_and_fails(graph) -> None:
    arguments = ("grad", graph, "--y", "loss", "--x", "w", "--feed", "x=[1,2]", "--init", "--check", "--format", "json")
    done = run_tfg(*arguments)
    assert done.code == 0
    assert json.loads(done.out)["checks"][0]["passed"]
    assert run_tfg(*arguments, "--tolerance", "1e-30").code == 3


def test_jacobian(graph) -> None:
    done = run_tfg("grad", graph, "--y", "y", "--x", "x", "--feed", "x=[0,0]", "--init", "--jacobian", "--format", "json")
    assert json.loads(done.out)["derivatives"][0]["jacobian"] == [[0.5, 0.25], [-1.0, 2.0]]


def test_a_missing_gradient_names_the_path(tmp_path) -> None:
    """TensorFlow has no gradient for the functional For either."""
    text = """
      node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
      node { name: "odd" op: "For" input: "start" input: "start" input: "start" input: "x"
             attr { key: "T" value { list { type: DT_FLOAT } } } attr { key: "body" value { func { name: "f" } } } }
      node { name: "start" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
             attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 1 } } } }
      node { name: "y" op: "Square" input: "odd" attr { key: "T" value { type: DT_FLOAT } } }
    """
    path = tmp_path / "g.pbtxt"
    path.write_text(text)
    done = run_tfg("grad", path, "--y", "y", "--x", "x")
    assert done.code == 1
    assert "op 'For' on the path to the variables has no gradient:  y -> odd -> x" in done.err


def test_training_prints_its_history(tmp_path) -> None:
    g = GraphBuilder()
    v = g.variable(np.float32(2), name="var")
    g.Square(v.value, name="loss")
    g.global_variables_initializer()
    path, out, state = (str(tmp_path / name) for name in ("g.pb", "out.pb", "state.npz"))
    tfg.save(g.graph, path)
    done = run_tfg("train", path, "--loss", "loss", "--lr", "0.1", "--steps", "10", "-o", out, "--save-state", state,
                   "--format", "json", "--dump-stages")  # fmt: skip
    result = json.loads(done.out)
    losses = [row["loss"] for row in result["history"]]
    np.testing.assert_allclose(losses, [4 * 0.64**i for i in range(10)], rtol=1e-5)
    assert list(result["stages"]) == ["forward", "gradients", "slots", "updates", "initializer"]
    again = run_tfg("run", out, "--state", state, "--fetch", "loss", "--format", "json")
    assert again.code == 0
    assert "nothing" not in again.err


def test_training_that_diverges_ends_and_keeps_the_older_state(tmp_path) -> None:
    g = GraphBuilder()
    v = g.variable(np.float32(2), name="var")
    g.Square(g.Square(v.value), name="loss")
    g.global_variables_initializer()
    path, out, state = (str(tmp_path / name) for name in ("g.pb", "out.pb", "state.npz"))
    tfg.save(g.graph, path)
    options = ("train", path, "--loss", "loss", "-q", "--format", "json", "--save-state", state)
    assert run_tfg(*options, "--lr", "0.01", "--steps", "1").code == 0
    before = dict(np.load(state))
    done = run_tfg(*options, "--lr", "1", "--steps", "50", "-o", out)
    assert done.code == 3
    losses = [row["loss"] for row in json.loads(done.out)["history"]]
    assert losses[0] == 16 and losses[-1] == "inf" and "inf" not in losses[:-1]
    assert f"the loss is inf in step {len(losses)}" in done.err
    assert dict(np.load(state)) == before
    assert "loss" in tfg.load(out)


def test_wrong_training_options(graph) -> None:
    assert "unknown optimizer 'adamm'" in run_tfg("train", graph, "--loss", "loss", "--optimizer", "adamm").err
    assert run_tfg("train", graph).code == 2
    assert "has no hyperparameter" in run_tfg("train", graph, "--loss", "loss", "--hyperparameter", "beta=1").err


def test_a_resource_variable_is_checked_by_its_value(tmp_path) -> None:
    g = GraphBuilder()
    w = g.variable(np.array([0.5, -1.0]), name="w", resource=True)
    g.Sum(g.Square(w.value), [0], name="loss")
    g.global_variables_initializer()
    path = str(tmp_path / "graph.pb")
    tfg.save(g.graph, path)
    done = run_tfg("grad", path, "--y", "loss", "--x", "w", "--init", "--check", "--format", "json")
    assert done.code == 0, done.err


def cut_after(count):
    """Return Trainer.steps with a deadline in the middle of a step: the variables are not the variables of a whole step."""

    def steps(self, expected, done=0):
        yield from itertools.islice(whole(self, expected), count)
        self.runner.assign("var", lambda _: np.float32(77))
        raise DeadlineExceededError("the run exceeded its time limit of 60 seconds")

    whole = Trainer.steps
    return steps


@pytest.mark.parametrize("count", [0, 3])
def test_a_deadline_leaves_the_state_of_a_whole_step(tmp_path, monkeypatch, count):
    graph, ended, again = SAMPLES / "square_loss.pbtxt", tmp_path / "ended.npz", tmp_path / "again.npz"
    words = "train", graph, "--loss", "loss", "--optimizer", "momentum", "--lr", "0.1"
    assert run_tfg(*words, "--steps", "3", "--save-state", again).code == 0
    monkeypatch.setattr(Trainer, "steps", cut_after(count))
    outcome = run_tfg(*words, "--steps", "100", "--timeout", "60", "--save-state", ended)
    assert outcome.code == 1
    assert f"saved the variables as they were after step {count} to {ended}" in outcome.err
    with np.load(ended) as result, np.load(again) as expected:
        same = [result[name] == expected[name] for name in expected]
        assert all(same) if count == 3 else not any(same)
        assert result["var"] != 77


def test_a_deadline_leaves_least_squares_their_best_values(tmp_path, monkeypatch):
    """After a deadline at any time, the variables hold a single visited point, not halves of two points."""

    def cut(self, *_):
        self.runner.assign(self.variables[0].name, lambda _: np.float32(77).reshape(self._values[0].shape))
        raise DeadlineExceededError("the run exceeded its time limit of 1 seconds")

    monkeypatch.setattr(LeastSquares, "fit", cut)
    path = tmp_path / "state.npz"
    graph = SAMPLES / "square_loss.pbtxt"
    outcome = run_tfg("train", graph, "--loss", "loss", "--optimizer", "lm", "--timeout", "60", "--save-state", path)
    assert outcome.code == 1
    assert 77 not in [value.tolist() for value in np.load(path).values()]


def test_values_of_a_gradient_are_printed_where_feeds_or_variables_are_given():
    arguments = ("--y", "loss", "--x", "w", "--x", "b", "--init", "--feed", "x=[1, 2]", "--feed", "y=[3, 6]")
    gradients = run_tfg("grad", SAMPLES / "linear_regression.pbtxt", *arguments, "--format", "json").json["gradients"]
    assert [item["value"] for item in gradients] == [-15, -9]  # means of 2 x (0 - y) and of 2 (0 - y)


def test_training_initializes_variables_that_no_operation_of_the_graph_initializes_together(tmp_path):
    """The initializer of the optimizer's slots is not an initializer of the graph."""
    g = tfg.GraphBuilder()
    w = g.VariableV2(dtype="float32", shape=[2], name="w")
    g.Assign(w, np.float32([1, 2]), name="w/Assign")
    g.Sum(g.Square(w), np.int32([0]), name="loss")
    tfg.save(g.graph, tmp_path / "g.pb")
    done = run_tfg("train", tmp_path / "g.pb", "--loss", "loss", "--optimizer", "adam", "--steps", 2, "--format", "json")
    assert done.code == 0, done.err
    assert done.json["history"][0]["loss"] == 5


@pytest.mark.parametrize("words, names", [
    (("grad",), ["--y", "loss or probability"]),
    (("grad", "--y", "loss"), ["--x", "hidden/kernel, hidden/bias or output/kernel"]),
    (("train",), ["--loss", "loss or probability"]),
    (("reduce", "--test", "false"), ["--fetch", "loss or probability"]),
])  # fmt: skip
def test_a_missing_tensor_is_an_error_with_candidates(words, names):
    command, *options = words
    done = run_tfg(command, SAMPLES / "xor.pbtxt", *options)
    assert done.code == 2 and all(name in done.err for name in names)
