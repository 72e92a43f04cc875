"""`tfg.train` with a file: checkpoints, and a training in several calls with the losses of a single call."""

from __future__ import annotations

import numpy as np
import pytest

import tfg

FEEDS = {"x:0": np.float32([1, 2, 3, 4, 5])}


@pytest.fixture
def model():
    """The loss is the mean of (w x - 3 x)^2, and w begins as 1."""
    b = tfg.GraphBuilder()
    x = b.Placeholder(dtype="float", shape=[None], name="x")
    b.Mean(b.Square(b.Sub(b.Mul(x, b.variable(1.0, name="w")), b.Mul(x, 3.0))), [0], name="loss")
    b.global_variables_initializer()
    return b.graph


def trained(graph, steps, **arguments):
    report = tfg.train(graph, "loss:0", FEEDS, steps=steps, optimizer="adam", lr=0.1, batch=2, **arguments)
    return {step.step: step.loss for step in report.history}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["s.npz", "s.safetensors", "s"])
def test_a_training_goes_on_to_the_losses_of_one_call(model, tmp_path, name):
    """Slots and the rows that are next too."""
    path = tmp_path / name
    parts = [trained(model, steps, save_state=path, resume=True) for steps in (3, 7, 9, 9)]
    assert [list(part) for part in parts] == [[1, 2, 3], [4, 5, 6, 7], [8, 9], []]
    assert parts[0] | parts[1] | parts[2] == trained(model, 9)


def test_checkpoints_are_written_on_the_way(model, tmp_path):
    path, seen = tmp_path / "s.npz", []

    def look(step):
        seen.append(int(np.load(path)["_TRAINED_STEPS"]) if path.exists() else 0)

    trained(model, 7, save_state=path, checkpoint_every=3, on_step=look)
    assert seen == [0, 0, 0, 3, 3, 3, 6]
    assert int(np.load(path)["_TRAINED_STEPS"]) == 7


def test_a_file_without_checkpoints_is_a_state(model, tmp_path):
    path = tmp_path / "s.npz"
    report = tfg.train(model, "loss:0", FEEDS, steps=2, optimizer="sgd", save_state=path)
    assert dict(tfg.read_checkpoint(path)) == {"w": report.state["w"], "global_step": 2}


def test_values_that_are_not_finite_are_not_written(model, tmp_path):
    path = tmp_path / "s.npz"
    tfg.write_checkpoint(path, {"w": np.float32(1)})
    report = tfg.train(model, "loss:0", FEEDS, steps=90, optimizer="sgd", lr=1e30, save_state=path, checkpoint_every=99)
    assert report.has_diverged
    assert dict(tfg.read_checkpoint(path)) == {"w": 1}


def test_what_cannot_be_resumed_is_refused(model, tmp_path):
    tfg.write_checkpoint(tmp_path / "s.npz", {"w": np.float32(1)})
    with pytest.raises(tfg.errors.InvalidArgumentError, match="no step number to resume from"):
        trained(model, 3, save_state=tmp_path / "s.npz", resume=True)
    for arguments in ({"resume": True}, {"checkpoint_every": 2}):
        with pytest.raises(tfg.errors.InvalidArgumentError, match="need a file"):
            trained(model, 3, **arguments)
    with pytest.raises(tfg.errors.InvalidArgumentError, match="at least 1"):
        trained(model, 3, save_state=tmp_path / "t.npz", checkpoint_every=0)
