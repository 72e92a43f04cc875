"""SavedModels with new signatures in TensorFlow: loaded, listed by saved_model_cli, and run."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.live


def test_tensorflow_calls_defined_signatures(tmp_path):
    out = tmp_path / "out"
    words = (
        "--signature",
        "classify",
        "--input",
        "points=x",
        "--output",
        "raw=logits",
        "--signature",
        "hidden",
        "--output",
        "h=hidden/activation",
    )
    assert run("convert", SAMPLES / "xor.pbtxt", f"{out}/", "--init", "--seed", "1", *words).code == 0
    model = tf.saved_model.load(str(out))
    assert set(model.signatures) == {"classify", "hidden"}
    points = [[0.0, 1.0], [1.0, 1.0]]
    answer = model.signatures["classify"](points=tf.constant(points))
    shown = run("run", out, "--signature", "classify", "--feed", f"points={points}", "--format", "json").json
    np.testing.assert_allclose(answer["raw"].numpy(), shown["steps"][0]["values"][0]["value"], rtol=1e-5)
    assert model.signatures["hidden"](x=tf.constant(points))["h"].shape == (2, 8)


def test_tensorflow_sees_changed_signatures(tmp_path):
    out = tmp_path / "out"
    words = ("--rename-signature", "index=lookup", "--copy-signature", "serving_default=twice", "--shape", "x=1,2")
    assert run("convert", SAMPLES / "scaler_saved_model", f"{out}/", *words).code == 0
    model = tf.saved_model.load(str(out))
    assert set(model.signatures) == {"lookup", "serving_default", "twice"}
    assert model.signatures["twice"](x=tf.constant([[1.0, 2.0]]))["scaled"].numpy().tolist() == [[2.0, 6.0]]
    tool = [sys.executable, "-m", "tensorflow.python.tools.saved_model_cli", "show"]
    words = ["--dir", str(out), "--tag_set", "serve", "--signature_def", "twice"]
    shown = subprocess.run([*tool, *words], capture_output=True, text=True, check=True).stdout
    assert "shape: (1, 2)" in shown and "serving_default_x:0" in shown
