"""Sparse and ragged inputs of TensorFlow's models and graphs, fed by their name: TensorFlow computes the same of them."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.cli.running import tfg as run

tf = pytest.importorskip("tensorflow")
v1 = tf.compat.v1

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]

DENSE = [[0, 1.5, 0, 2], [3, 0, 0, 0]]
RAGGED = [[[1, 2], []], [], [[3], [4, 5, 6]]]
W = np.arange(4, dtype=np.float32)


class Composites(tf.Module):
    @tf.function(input_signature=[tf.SparseTensorSpec([None, 4], tf.float32), tf.TensorSpec([4], tf.float32, name="w")])
    def sparse(self, x, w):
        return {"y": tf.sparse.sparse_dense_matmul(x, w[:, None])}

    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None, None], tf.int32)])
    def ragged(self, r):
        return {"y": tf.reduce_sum(r, axis=[1, 2])}

    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None, 2], tf.float32, 1, tf.int32)])
    def uniform(self, r):
        return {"y": tf.reduce_sum(r, axis=1)}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("composites") / "model")
    module = Composites()
    tf.saved_model.save(module, path, {"sparse": module.sparse, "ragged": module.ragged, "uniform": module.uniform})
    return module, path


def test_signatures_of_tensorflow_2_take_the_whole_input(model):
    module, path = model
    pairs = [[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]]
    calls = {
        "sparse": ({"x": DENSE, "w": W}, module.sparse(tf.sparse.from_dense(tf.constant(DENSE)), W)),
        "ragged": ({"r": RAGGED}, module.ragged(tf.ragged.constant(RAGGED, tf.int32))),
        "uniform": ({"r": pairs}, module.uniform(tf.ragged.constant(pairs, tf.float32, 1, row_splits_dtype=tf.int32))),
    }
    for name, (feeds, expected) in calls.items():
        np.testing.assert_array_equal(tfg.Model(path, name)(feeds)["y"], expected["y"])
    sparse = tf.sparse.from_dense(tf.constant(DENSE))
    np.testing.assert_array_equal(tfg.Model(path, "sparse")(x=sparse, w=W)["y"], calls["sparse"][1]["y"])
    done = run("run", path, "--signature", "ragged", "--feed", "r=[[[1, 2], []], [], [[3], [4, 5, 6]]]", "--format", "json")
    assert done.json["steps"][0]["values"][0]["value"] == [3, 0, 18]


def test_placeholders_of_tensorflow_1_take_the_whole_input(tmp_path):
    v1.disable_control_flow_v2()
    with tf.Graph().as_default() as graph, v1.Session() as session:
        x = v1.sparse_placeholder(tf.float32, [None, 4], name="x")
        r = v1.ragged.placeholder(tf.float32, 2, name="r")
        y = tf.sparse.sparse_dense_matmul(x, W[:, None], name="y")
        z = tf.reduce_sum(r, axis=[1, 2], name="z")
        values = {x: v1.SparseTensorValue([[0, 1], [0, 3], [1, 0]], [1.5, 2, 3], [2, 4])}
        values[r] = v1.ragged.constant_value(RAGGED, np.float32)
        expected = session.run([y, z], values)
        v1.saved_model.simple_save(session, str(tmp_path / "model"), {"x": x, "r": r}, {"y": y, "z": z})
    (tmp_path / "g.pb").write_bytes(graph.as_graph_def().SerializeToString())
    for source in ("model", "g.pb"):
        outputs = () if source == "model" else (y.name, z.name)
        result = tfg.Model(tmp_path / source, outputs=outputs)(x=DENSE, r=RAGGED)
        for got, own in zip(result.values(), expected, strict=True):
            np.testing.assert_array_equal(got, own)
