"""Dropout as TensorFlow and Keras write it: switched off, the results are those of TensorFlow without dropout."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cli.running import tfg as run

tf = pytest.importorskip("tensorflow")

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]
X = np.linspace(-1, 2, 12, dtype=np.float32).reshape(3, 4)
W = np.cos(np.arange(16, dtype=np.float32)).reshape(4, 4)


def in_half(h):
    return tf.cast(tf.nn.dropout(tf.cast(h, tf.float16), rate=0.9), tf.float32)


def by_row(h):
    return tf.nn.dropout(h, rate=0.25, noise_shape=[tf.shape(h)[0], 1])


def by_placeholder(h):
    return tf.compat.v1.nn.dropout(h, keep_prob=tf.compat.v1.placeholder_with_default(np.float32(0.5), [], "keep_prob"))


def in_conditional(h):
    return tf.cond(tf.compat.v1.placeholder_with_default(True, []), lambda: tf.nn.dropout(h, rate=0.5), lambda: h)


def in_loop(h):
    return tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, tf.nn.dropout(h, rate=0.5)), (0, h))[1]


FORMS = {
    "rate": lambda h: tf.nn.dropout(h, rate=0.5),
    "keep": lambda h: tf.compat.v1.nn.dropout(h, keep_prob=0.8),
    "stateless": lambda h: tf.nn.experimental.stateless_dropout(h, rate=0.3, seed=[1, 2]),
    **{form.__name__: form for form in (in_half, by_row, by_placeholder, in_conditional, in_loop)},
}


@pytest.mark.parametrize("is_v2", [False, True], ids=["v1", "functional"])
@pytest.mark.parametrize("form", FORMS)
def test_a_graph_of_tensorflow(form, is_v2, tmp_path):
    (tf.compat.v1.enable_control_flow_v2 if is_v2 else tf.compat.v1.disable_control_flow_v2)()
    with tf.Graph().as_default() as graph:
        h = tf.nn.relu(tf.matmul(tf.compat.v1.placeholder(tf.float32, [None, 4], "x"), W), "h")
        tf.identity(FORMS[form](h), "y")
    (tmp_path / "g.pb").write_bytes(graph.as_graph_def().SerializeToString())
    done = run("optimize", tmp_path / "g.pb", "-o", tmp_path / "o.pb", "--fetch", "y", "--passes", "remove_dropout")
    assert done.code == 0 and "dropout is off: 1 of rate" in done.err, done.err
    definition = tf.compat.v1.GraphDef.FromString((tmp_path / "o.pb").read_bytes())
    assert "RandomUniform" not in str(definition)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.import_graph_def(definition, name="")
        y, h = session.run(["y:0", "h:0"], {"x:0": X})
    np.testing.assert_array_equal(y, h.astype(np.float16) if form == "in_half" else h)


@pytest.mark.parametrize("library", ["keras", "tf_keras"])
def test_a_model_of_keras(library, tmp_path):
    keras = pytest.importorskip(library)
    inputs = keras.Input((4,))
    drop = keras.layers.Dropout(0.4)
    model = keras.Model(inputs, keras.layers.Dense(3)(drop(keras.layers.Dense(8, activation="relu")(inputs))))
    module = tf.Module()
    module.kept = [model, getattr(getattr(getattr(drop, "seed_generator", None), "state", None), "value", None)]
    module.serve = tf.function(
        lambda x: {"y": model(x, training=True)}, input_signature=[tf.TensorSpec([None, 4], tf.float32, name="x")]
    )
    tf.saved_model.save(module, str(tmp_path / "model"), signatures=module.serve)
    words = ("optimize", tmp_path / "model", "--save-model", tmp_path / "out", "--passes", "default,remove_training_nodes")
    done = run(*words)
    assert done.code == 0 and "dropout is off: 1 of rate 0.4" in done.err, done.err
    serve = tf.saved_model.load(str(tmp_path / "out")).signatures["serving_default"]
    expected = model(X, training=False)
    np.testing.assert_allclose(serve(x=tf.constant(X))["y"], expected, rtol=1e-5, atol=1e-6)
