"""Graphs of TensorFlow for older releases: today's TensorFlow, which still knows the old ops, computes the same of them."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run

tf = pytest.importorskip("tensorflow")
v1 = tf.compat.v1

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]

X = np.linspace(-1, 1, 36, dtype=np.float32).reshape(2, 3, 3, 2)


def network(x):
    """A network of ops that all have newer versions than those of TensorFlow 1.0."""
    y = tf.nn.conv2d(x, tf.ones((3, 3, 2, 4)) / 9, 1, [[0, 0], [1, 1], [1, 1], [0, 0]])
    y = tf.raw_ops.FusedBatchNormV3(
        x=y, scale=[1.0, 2, 3, 4], offset=[0.0, 1, 0, 1], mean=[0.0, 0, 0, 1], variance=[1.0, 1, 1, 2], is_training=False
    ).y
    y = tf.nn.leaky_relu(y + 1.0)
    y = tf.gather(tf.where(y > 0.5, y, y * 2), [1, 0])
    y = tf.matmul(y := tf.reshape(tf.clip_by_value(y, -1.0, 3.0), (-1, 9, 4)), y, transpose_a=True)
    y = tf.linalg.set_diag(y, tf.linalg.diag_part(y) * 2) + tf.linalg.diag(tf.ones((2, 4)))
    return tf.tanh(tf.reduce_max(y, axis=-1) / 9, name="y")


FIRST = {"AddV2": "1.5", "SelectV2": "1.14", "FusedBatchNormV3": "1.14", "BatchMatMulV2": "1.14", "MatrixDiagV3": "2.2"}
PRODUCERS = {"1.0": 21, "1.5": 24, "1.13": 27, "1.14": 38, "2.0": 119, "2.2": 175}


def number(release):
    return tuple(map(int, release.split(".")))


@pytest.mark.parametrize("release", PRODUCERS)
def test_tensorflow_computes_the_same_of_the_older_ops(release, tmp_path):
    with tf.Graph().as_default() as graph, v1.Session() as session:
        network(v1.placeholder(tf.float32, X.shape, name="x"))
        expected = session.run("y:0", {"x:0": X})
    (tmp_path / "g.pb").write_bytes(graph.as_graph_def().SerializeToString())
    done = run("convert", tmp_path / "g.pb", tmp_path / "old.pb", "--for-tensorflow", release, "--verify")
    assert done.code == 0 and f"for TensorFlow {release}: " in done.err
    message = v1.GraphDef.FromString((tmp_path / "old.pb").read_bytes())
    assert {node.op for node in message.node if node.op in FIRST} == {
        op for op in FIRST if number(FIRST[op]) <= number(release)
    }
    assert message.versions.producer == PRODUCERS[release]
    with tf.Graph().as_default(), v1.Session() as session:
        tf.import_graph_def(message, name="")
        np.testing.assert_allclose(session.run("y:0", {"x:0": X}), expected, rtol=1e-5)


@pytest.mark.parametrize("release", ["1.9", "1.13", "2.0"])
def test_tensorflow_serves_a_keras_model_for_an_older_release(release, tmp_path):
    source, target = SAMPLES / "keras_classifier", tmp_path / "old"
    assert run("convert", source, f"{target}/", "--for-tensorflow", release).code == 0
    again = tfg.for_tensorflow(tfg.load(target), release)
    assert again.rewritten == () and again.dropped == 0
    x = tf.constant(np.linspace(0, 1, 8, dtype=np.float32).reshape(2, 4))
    before, after = (tf.saved_model.load(str(path)).signatures["serving_default"] for path in (source, target))
    np.testing.assert_allclose(after(measurements=x)["output_0"], before(measurements=x)["output_0"], rtol=1e-6)
