"""TensorFlow runs SavedModels and frozen graphs whose placeholders tfg gave values and shapes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cli.running import tfg as run

tf = pytest.importorskip("tensorflow")

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]
X = np.array([[1.0, -2.0], [3.0, 0.5]], np.float32)


class Scale(tf.Module):
    """x w scaled by a number that is fed."""

    def __init__(self):
        super().__init__()
        self.w = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], name="w")

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x"), tf.TensorSpec([], tf.float32, name="by")])
    def serve(self, x, by):
        return {"y": x @ self.w * by}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("models") / "model")
    scale = Scale()
    tf.saved_model.save(scale, folder, signatures=scale.serve)
    return folder, scale.serve(X, 3.0)["y"].numpy()


def test_a_value_takes_the_place_of_an_argument(model, tmp_path):
    folder, expected = model
    assert run("convert", folder, f"{tmp_path}/set/", "--set", "by=3").code == 0
    serve = tf.saved_model.load(str(tmp_path / "set")).signatures["serving_default"]
    assert list(serve.structured_input_signature[1]) == ["x"]
    np.testing.assert_allclose(serve(x=tf.constant(X))["y"], expected, rtol=1e-6)


def test_a_frozen_graph_has_the_shape(model, tmp_path):
    folder, expected = model
    words = ("--freeze", "--shape", "x=2,2", "--set", "by=3")
    assert run("convert", folder, tmp_path / "f.pb", *words).code == 0
    outputs = run("explain", tmp_path / "f.pb", "--format", "json").json["outputs"]
    definition = tf.compat.v1.GraphDef.FromString((tmp_path / "f.pb").read_bytes())
    with tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
        tf.import_graph_def(definition, name="")
        (x,) = (op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder")
        assert x.shape == (2, 2)
        np.testing.assert_allclose(session.run(outputs[0]["name"], {x: X}), expected, rtol=1e-6)
