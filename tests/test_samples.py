"""The classic examples among the sample graphs give the numbers that arithmetic says they must."""

from __future__ import annotations

import pytest

from tests.cli.running import SAMPLES, tfg


def history(*arguments):
    """The values of each step of `tfg run`, by name."""
    report = tfg("run", *arguments, "--format", "json").json
    return [{value["name"]: value["value"] for value in step["values"]} for step in report["steps"]]


def losses(*arguments):
    return [step["loss"] for step in tfg("train", *arguments, "--format", "json", "--quiet").json["history"]]


def test_square_under_gradient_descent():
    """var' = var - 0.1 * 2 var = 0.8 var, so the loss falls by 0.64 a step."""
    steps = history(SAMPLES / "square.pbtxt", "--init", "--target", "sgd", "--fetch", "loss", "--steps", 10)
    expected = [1, 0.64, 0.4096, 0.262144, 0.16777216, 0.10737418, 0.068719477, 0.043980465, 0.028147498, 0.018014399]
    assert [step["loss"] for step in steps] == pytest.approx(expected, rel=1e-5)


def test_train_builds_the_same_descent():
    step_losses = losses(SAMPLES / "square_loss.pbtxt", "--loss", "loss", "--optimizer", "sgd", "--lr", 0.1, "--steps", 10)
    expected = [1, 0.64, 0.4096, 0.262144, 0.16777216, 0.10737418, 0.068719477, 0.043980465, 0.028147498, 0.018014399]
    assert step_losses == pytest.approx(expected, rel=1e-5)


def test_momentum_is_carried_across_runs(tmp_path):
    """With momentum 0.9 and rate 0.1: v' = 0.9 v + 2 x, x' = x - 0.1 v'. Without the slot the fourth step starts anew."""
    common = (SAMPLES / "square_loss.pbtxt", "--loss", "loss", "--optimizer", "momentum", "--lr", 0.1, "--steps", 3)
    state, trained = tmp_path / "state.npz", tmp_path / "trained.pbtxt"
    expected = [1.0, 0.64, 0.2116, 0.003844, 0.09523396, 0.3368874]
    assert losses(*common, "--save-state", state, "-o", trained) == pytest.approx(expected[:3], rel=1e-5)
    assert losses(*common, "--state", state) == pytest.approx(expected[3:], rel=1e-5)
    assert "keeps its value from step to step, and from run to run" in tfg("explain", trained, "var/Momentum").out


def test_kernel_decays_every_tenth_step():
    steps = history(SAMPLES / "weight_decay.pbtxt", "--init", "--fetch", "step/Merge", "--steps", 30)
    first = [step["step/Merge"][0][0] for step in steps]
    assert first == pytest.approx([1.0] * 9 + [0.9] * 10 + [0.81] * 10 + [0.729], rel=1e-6)
    assert steps[-1]["step/Merge"][1] == pytest.approx([2.187, 2.916], rel=1e-6)


def test_assign_sub_takes_away_step_by_step():
    steps = history(SAMPLES / "countdown.pbtxt", "--init", "--fetch", "take", "--steps", 4)
    assert [step["take"] for step in steps] == [8.5, 7.0, 5.5, 4.0]
    steps = history(SAMPLES / "countdown.pbtxt", "--init", "--fetch", "take", "--steps", 2, "--feed", "amount=3")
    assert [step["take"] for step in steps] == [7.0, 4.0]


def test_fetches_run_at_every_step():
    steps = history(SAMPLES / "countdown.pbtxt", "--init", "--fetch", "take", "--steps", 4, "--fetch-every", 2)
    assert [step["take"] for step in steps if step] == [7.0, 4.0]


def test_library_of_skip_pairs():
    graph, library = SAMPLES / "skipgram.pbtxt", SAMPLES / "skipgram_ops.py"
    fetches = [f"--fetch={name}" for name in ("examples", "labels", "word_pairs", "epoch", "scores")]
    steps = history(graph, "--op-library", library, *fetches, "--steps", 8)
    assert [step["examples"] for step in steps[:2]] == [[0, 0, 1, 1], [1, 2, 2, 2]]
    assert [step["labels"] for step in steps[:2]] == [[1, 2, 0, 2], [3, 0, 1, 3]]
    assert steps[0]["word_pairs"] == ["the", "the", "quick", "quick"]
    assert steps[0]["scores"] == [3.0, 3.0, 3.0, 3.0]
    assert [step["epoch"] for step in steps] == [0] * 7 + [1]
    assert steps[7]["examples"] == [8, 8, 0, 0]
