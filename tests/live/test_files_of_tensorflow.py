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


def test_events_of_both_versions_have_the_values_that_were_written(tmp_path):
    """Numbers, a picture and a histogram by TensorFlow's own writers of summaries."""
    losses = np.linspace(1.0, 0.1, 5).astype(np.float32)
    metadata = tf.compat.v1.SummaryMetadata(plugin_data=tf.compat.v1.SummaryMetadata.PluginData(plugin_name="scalars"))
    writer = tf.summary.create_file_writer(str(tmp_path / "v2"))
    with writer.as_default():
        for step, loss in enumerate(losses):
            tf.summary.write("loss", loss, step=step, metadata=metadata)
    writer.close()
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        fed = tf.compat.v1.placeholder(tf.float32)
        tf.compat.v1.summary.scalar("loss", fed)
        tf.compat.v1.summary.histogram("weights", tf.constant([-1.5, 0.0, 0.0, 4.0]))
        tf.compat.v1.summary.image("picture", PIXELS[:1])
        merged = tf.compat.v1.summary.merge_all()
        old = tf.compat.v1.summary.FileWriter(str(tmp_path / "v1"))
        for step, loss in enumerate(losses):
            old.add_summary(session.run(merged, {fed: loss}), step)
        old.close()
    out = tmp_path / "out"
    assert run("scalars", tmp_path, "-o", f"{out}/").code == 0
    rows = run("scalars", tmp_path, "--format", "json").json["scalars"]
    for name in ("v1", "v2"):
        values = {row["step"]: row["value"] for row in rows if row["run"] == name}
        assert {step: np.float32(value) for step, value in values.items()} == dict(enumerate(losses))
    (picture,) = (out / "images" / "v1" / "picture").rglob("step_0_0.png")
    decoded = tf.io.decode_png(picture.read_bytes())
    np.testing.assert_array_equal(decoded, PIXELS[0])
    table = np.genfromtxt(out / "histograms" / "v1" / "weights.csv", delimiter=",", skip_header=1)
    first = table[table[:, 0] == 0]
    assert (first[0, 2], first[-1, 3], first[:, 4].sum()) == (-1.5, 4.0, 4)
