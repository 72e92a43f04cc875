"""`tfg train` in several calls: checkpoints on the way, and --resume with the losses of a single call."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run
from tfg.core.building.builder import GraphBuilder

FEEDS = ("--feed", "x=[1, 2, 3, 4, 5]", "--feed", "y=[2, 3, 5, 6, 9]")
WORDS = ("train", SAMPLES / "linear_regression.pbtxt", "--loss", "loss", *FEEDS, "--format", "json")


def losses(*options):
    done = run(*WORDS, *options)
    assert done.code == 0, done.err
    return {item["step"]: item["loss"] for item in done.json["history"]}


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", ["s.npz", "s"])
@pytest.mark.parametrize(
    "options",
    [
        ("--optimizer", "adam", "--lr", "0.1"),
        ("--optimizer", "momentum", "--lr", "0.01", "--batch", "2"),
        ("--lr", "0.05", "--schedule", "exponential(decay_steps=2, decay_rate=0.5)"),
    ],
)
def test_what_is_resumed_goes_on_to_the_losses_of_one_call(tmp_path, name, options):
    """Slots, the rows that are next and the rate of the schedule too."""
    whole = losses(*options, "--steps", 9)
    again = (*options, "--save-state", tmp_path / name, "--resume")
    step_losses = [losses(*again, "--steps", steps) for steps in (3, 7, 9, 9)]
    assert [list(part) for part in step_losses] == [[1, 2, 3], [4, 5, 6, 7], [8, 9], []]
    assert step_losses[0] | step_losses[1] | step_losses[2] == whole


def test_checkpoints_are_written_on_the_way(tmp_path, monkeypatch):
    """After every K steps, and at the end."""
    from tfg.cli.sessions import SessionOptions

    path, written = tmp_path / "s.npz", []
    save = SessionOptions.write_state

    def noted(self, *what):
        save(self, *what)
        with np.load(path) as result:
            written.append((int(result["_TRAINED_STEPS"]), float(result["w"])))

    monkeypatch.setattr(SessionOptions, "write_state", noted)
    losses("--steps", 7, "--lr", "0.01", "--save-state", path, "--checkpoint-every", 3)
    assert [step for step, _ in written] == [3, 6, 7]
    assert len({value for _, value in written}) == 3


def test_a_checkpoint_is_a_state_like_others(tmp_path):
    """The number of steps in a checkpoint is not a variable."""
    path = tmp_path / "s.npz"
    losses("--steps", 4, "--lr", "0.01", "--save-state", path, "--checkpoint-every", 2)
    done = run("run", WORDS[1], "--fetch", "w:0", "--state", path)
    assert done.code == 0
    assert "_TRAINED_STEPS" not in done.err


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({}, "has no step number to resume from"),
        ({"_TRAINED_STEPS": np.float32(3)}, "has an invalid value in its entry '_TRAINED_STEPS'"),
        ({"_TRAINED_STEPS": np.int64(-3)}, "has an invalid value in its entry '_TRAINED_STEPS'"),
        ({"_TRAINED_STEPS": np.int64(3), "_RANDOM_STREAM/x": np.uint64([1, 2])}, "in its entry '_RANDOM_STREAM/x'"),
        ({"_TRAINED_STEPS": np.int64([3])}, "has an invalid value in its entry '_TRAINED_STEPS'"),
    ],
)
def test_a_state_without_a_number_of_steps_is_refused(tmp_path, entry, problem):
    np.savez(tmp_path / "s.npz", w=np.float32(1), b=np.float32(2), **entry)
    done = run(*WORDS, "--save-state", tmp_path / "s.npz", "--resume")
    assert done.code == 1
    assert problem in done.err


def test_without_resume_a_state_says_nothing_of_steps(tmp_path):
    losses("--steps", 2, "--lr", "0.01", "--save-state", tmp_path / "s.npz")
    with np.load(tmp_path / "s.npz") as result:
        assert "_TRAINED_STEPS" not in result


@pytest.mark.slow
@pytest.mark.parametrize("name", ["s.npz", "s"])
def test_random_numbers_go_on(tmp_path, name):
    """A resumed step continues the random streams, from the op's seeds, the session's seed and random seeds."""
    b = GraphBuilder()
    w = b.VariableV2(dtype="float32", shape=[4], name="w")
    b.Assign(w, np.float32([1, 2, 3, 4]), name="w/Assign")
    draws = [b.RandomUniform(np.int32([4]), dtype="float32", name=f"draw_{seed}", seed=seed, seed2=seed) for seed in (0, 7)]
    b.Sum(b.Square(b.Mul(w, b.Add(*draws))), np.int32([0]), name="loss")
    tfg.save(b.graph, tmp_path / "g.pb")
    words = ("train", tmp_path / "g.pb", "--loss", "loss", "--lr", "0.01", "--format", "json")

    def trained(*options):
        done = run(*words, *options)
        assert done.code == 0, done.err
        return [item["loss"] for item in done.json["history"]]

    state, copy = tmp_path / name, tmp_path / "copy"
    begun = ("--steps", 2, "--checkpoint-every", 5)
    trained(*begun, "--save-state", state)
    copy.mkdir()
    for path in tmp_path.glob("s*"):
        shutil.copy(path, copy)
    whole = trained("--steps", 8, "--save-state", copy / name, "--resume")
    again = [trained("--steps", steps, "--save-state", state, "--resume") for steps in (5, 8)]
    assert again[0] + again[1] == whole
    assert len(set(whole)) == 6
