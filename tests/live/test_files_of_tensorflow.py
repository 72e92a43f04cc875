"""Pictures and records that TensorFlow wrote, fed to a model that TensorFlow saved, and the profile of the run."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.cli.running import tfg as run

tf = pytest.importorskip("tensorflow")

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]
PIXELS = np.random.default_rng(0).integers(0, 256, (2, 10, 12, 3)).astype(np.uint8)


class Classifier(tf.Module):
    """Scores of four classes from pictures of 6 x 5 pixels."""

    def __init__(self):
        super().__init__()
        self.w = tf.Variable(np.random.default_rng(1).normal(size=(90, 4)).astype(np.float32), name="head/w")

    @tf.function(input_signature=[tf.TensorSpec([None, 6, 5, 3], tf.float32, name="images")])
    def serve(self, images):
        return {"scores": tf.nn.softmax(tf.reshape(images, (-1, 90)) @ self.w)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("model")
    model = Classifier()
    tf.saved_model.save(model, str(place / "model"), signatures=model.serve)
    for number, pixels in enumerate(PIXELS):
        tf.io.write_file(str(place / f"p{number}.png"), tf.io.encode_png(pixels))
    (place / "labels.txt").write_text("cat\ndog\nbird\nfish\n")
    resized = tf.image.resize(PIXELS, (6, 5)) / 255.0
    return place, model.serve(resized)["scores"].numpy()


def test_pictures_of_tensorflow_are_resized_and_classified(folder, tmp_path):
    place, expected = folder
    words = ("--each", place / "p*.png", "--feed", "images=@each?resize=6,5&scale=1/255", "--out-dir", tmp_path / "o")
    assert run("run", place / "model", *words).code == 0
    scores = [np.load(tmp_path / "o" / f"p{number}.npz")["scores"][0] for number in range(2)]
    np.testing.assert_allclose(scores, expected, rtol=1e-4)
    wrong = run("run", place / "model", "--feed", f"images=@{place}/p0.png")
    assert wrong.code == 1 and "?resize=6,5" in wrong.err
    picture = f"images=@{place}/p0.png?resize=6,5&scale=1/255"
    best = run("run", place / "model", "--feed", picture, "--top-k", "1", "--labels", place / "labels.txt")
    assert ["cat", "dog", "bird", "fish"][int(expected[0].argmax())] in best.out


def test_a_profile_has_the_kernels_of_the_model(folder, tmp_path):
    place, _ = folder
    picture = f"images=@{place}/p0.png?resize=6,5&scale=1/255"
    assert run("run", place / "model", "--feed", picture, "--profile", tmp_path / "t.json").code == 0
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert any("MatMul" in event["name"] or "MatMul" in str(event.get("args")) for event in events)
    layers = run("flops", place / "model", "--view", "layer", "--batch", 1, "--format", "json").json["rows"]
    assert max(row["flops"] for row in layers) >= 2 * 90 * 4
