"""Losses by name, between outputs of a graph and labels that are fed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run
from tfg import GraphBuilder, Session
from tfg.core.support.errors import InvalidArgumentError
from tfg.core.training.losses import NamedLoss, add_loss

SCALER = SAMPLES / "scaler_saved_model"


def value(kind, output, labels, dtype="float"):
    g = GraphBuilder()
    output, labels = np.float32(output), np.asarray(labels)
    x = g.Placeholder(dtype="float", shape=[None, *output.shape[1:]], name="output")
    y = g.Placeholder(dtype=dtype, name="labels")
    loss = add_loss(g.graph, kind, x, y)
    return float(Session(g.graph).run(loss.name, {"output:0": output, "labels:0": labels}))


@pytest.mark.parametrize(("kind", "output", "labels", "dtype", "expected"), [
    ("mse", [[1], [3]], [0.0, 1.0], "float", (1 + 4) / 2),
    ("mae", [[1, 2], [3, 4]], [[0.0, 2.0], [4.0, 1.0]], "float", (1 + 0 + 1 + 3) / 4),
    ("crossentropy", [[0.25], [0.5]], [1.0, 0.0], "float", -(math.log(0.25) + math.log(0.5)) / 2),
    ("crossentropy", [[0.2, 0.6]], [1], "int64", -math.log(0.6 / 0.8)),
    ("crossentropy", [[0.2, 0.6]], [[1.0, 0.0]], "float", -math.log(0.2 / 0.8)),
    ("crossentropy", [[0.0], [1.0]], [0.0, 1.0], "float", 1e-7),
])  # fmt: skip
def test_values(kind, output, labels, dtype, expected):
    assert value(kind, output, labels, dtype) == pytest.approx(expected, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize(("text", "expected"), [
    ("mse", NamedLoss("mse")), ("mae(y)", NamedLoss("mae", "y")),
    ("crossentropy( y , labels )", NamedLoss("crossentropy", "y", "labels")),
    ("loss", None), ("mse_1", None), ("mse()", None), ("huber(y, z)", None),
])  # fmt: skip
def test_words(text, expected):
    assert NamedLoss.parse(text) == expected


def test_residuals_are_those_of_squares():
    g = GraphBuilder()
    x, y = (g.Placeholder(dtype="float", shape=[None], name=name) for name in "xy")
    with pytest.raises(InvalidArgumentError, match="mae has no residuals"):
        add_loss(g.graph, "mae", x, y, residuals=True)


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", ["lm", "adam"])
def test_a_model_is_fitted_by_its_signature_and_written_back(optimizer, tmp_path):
    """y = scale x, from three rows by scale = (4, -1): the exact solution of least squares, and what Adam goes towards."""
    out = tmp_path / "fitted"
    words = ("--feed", "x=[[1, 2], [3, 1], [0, 5]]", "--feed", "labels=[[4, -2], [12, -1], [0, -5]]")
    steps = ("--steps", "20") if optimizer == "lm" else ("--steps", "400", "--lr", "0.1")
    done = run("train", SCALER, "--loss", "mse(scaled, labels)", "--optimizer", optimizer, *steps, *words, "--save-model", out)
    assert done.code == 0, done.err
    shown = run("run", out, "--feed", "x=[[1, 1]]", "--fetch", "scaled", "--format", "json").json
    np.testing.assert_allclose(shown["steps"][0]["values"][0]["value"], [[4, -1]], atol=1e-2)


@pytest.mark.parametrize(("words", "why"), [
    (("--loss", "mse(scaled)", "--feed", "x=[[1, 2]]"), "needs labels, fed in addition to the inputs"),
    (("--loss", "mse", "--feed", "x=[[1, 2]]", "--feed", "y=[[1, 2]]"), "the output is ambiguous"),
    (("--loss", "mse(nosuch)", "--feed", "x=[[1, 2]]", "--feed", "y=[[1, 2]]"), "has no output 'nosuch'"),
    (("--loss", "mse(scaled)", "--feed", "y=[[1, 2]]"), "input 'x' of signature 'serving_default' is not fed"),
])  # fmt: skip
def test_what_is_missing_is_named(words, why):
    done = run("train", SCALER, *words)
    assert (done.code, why in done.err) == (1, True), done.err


def test_a_fit_that_fails_writes_no_model(tmp_path):
    """Two residuals cannot determine the scale and more; nothing is left that looks like a result."""
    out = tmp_path / "out"
    words = ("--loss", "mse(scaled)", "--optimizer", "lm", "--feed", "x=zeros(0,2)", "--feed", "labels=zeros(0,2)")
    assert run("train", SCALER, *words, "--save-model", out).code == 1
    assert not out.exists()
