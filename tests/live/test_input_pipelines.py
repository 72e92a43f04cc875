"""Programs that begin with tf.data, trained by tfg and by TensorFlow: the same losses, to float rounding."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.cli.running import tfg as run
from tfg.core.support.words import counted

tf = pytest.importorskip("tensorflow")
pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]

RNG = np.random.RandomState(0)
IMAGES, LABELS = RNG.randint(0, 256, (60, 14, 14)).astype(np.uint8), RNG.randint(0, 10, 60)


def classifier(images, labels, initial):
    """Loss and train op of two dense layers with Adam, in V1."""
    v1 = tf.compat.v1
    flat = tf.reshape(images, [-1, 196])
    hidden = tf.nn.relu(tf.matmul(flat, v1.get_variable("w1", initializer=initial[0])) + v1.get_variable("b1", [32]))
    logits = tf.matmul(hidden, v1.get_variable("w2", initializer=initial[1]))
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits), name="loss")
    return loss, v1.train.AdamOptimizer(0.01).minimize(loss, name="train")


WEIGHTS = [RNG.randn(196, 32).astype(np.float32) * 0.1, RNG.randn(32, 10).astype(np.float32) * 0.1]


def arrays_shuffled_and_repeated():
    data = tf.data.Dataset.from_tensor_slices((IMAGES, LABELS)).shuffle(25, seed=7).repeat(3)
    data = data.map(lambda image, label: (tf.cast(image, tf.float32) / 255.0, tf.cast(label, tf.int32)))
    return data.batch(16)


def example(image, label):
    feature = {
        "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image.tobytes()])),
        "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


def records_parsed(folder, compression):
    """What an estimator's input function does: files interleaved, shuffled, repeated, examples parsed in batches."""
    for part in range(3):
        with tf.io.TFRecordWriter(str(folder / f"part-{part}.tfrecord"), compression) as writer:
            for image, label in zip(IMAGES[part::3], LABELS[part::3]):
                writer.write(example(image, label))
    spec = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}

    def decoded(features):
        pixels = tf.cast(tf.io.decode_raw(features["image"], tf.uint8), tf.float32) / 255.0
        return tf.reshape(pixels, [-1, 14, 14]), features["label"]

    files = tf.data.Dataset.list_files(str(folder / "part-*.tfrecord"), shuffle=False)
    data = files.interleave(
        lambda name: tf.data.TFRecordDataset(name, compression), cycle_length=2, num_parallel_calls=2, deterministic=True
    )
    data = data.shuffle(30, seed=3).repeat(2).batch(8)
    data = data.map(lambda batch: tf.io.parse_example(batch, spec), num_parallel_calls=2)
    return data.map(decoded).prefetch(1)


def losses_of(data, one_shot):
    """(TensorFlow's losses to the end of the data, the graph)."""
    v1 = tf.compat.v1
    data = data()
    iterator = v1.data.make_one_shot_iterator(data) if one_shot else v1.data.make_initializable_iterator(data)
    images, labels = iterator.get_next()
    loss, train = classifier(images, labels, WEIGHTS)
    initializers = [v1.global_variables_initializer(), *([] if one_shot else [iterator.initializer])]
    losses = []
    graph = v1.get_default_graph()
    with v1.Session() as session:
        session.run(initializers)
        session.run([variable.initializer for variable in v1.global_variables()])
        while True:
            try:
                losses.append(session.run([loss, train])[0])
            except tf.errors.OutOfRangeError:
                return losses, graph.as_graph_def()


@pytest.mark.parametrize("one_shot", [False, True])
@pytest.mark.parametrize("kind", ["arrays", "records", "packed records"])
def test_a_training_graph_gives_tensorflows_losses(kind, one_shot, tmp_path):
    if kind == "arrays":
        data, count = arrays_shuffled_and_repeated, 12
    else:
        compression = "GZIP" if kind.startswith("packed") else ""
        data, count = lambda: records_parsed(tmp_path, compression), 15
    with tf.Graph().as_default():
        tf.compat.v1.set_random_seed(5)
        bias = tf.compat.v1.zeros_initializer()
        with tf.compat.v1.variable_scope("", initializer=bias):
            expected, definition = losses_of(data, one_shot)
    assert len(expected) == count
    path = tmp_path / "graph.pb"
    path.write_bytes(definition.SerializeToString())
    arguments = ["--allow-files", str(tmp_path), "--fetch", "loss:0", "--target", "train", "--steps", "epoch"]
    done = run("run", path, "--init", *arguments, "--format", "json")
    values = [step["values"][0]["value"] for step in done.json["steps"]]
    np.testing.assert_allclose(values, expected, rtol=2e-5)
    assert f"after {counted(count, 'step')}" in done.err


class Trainer(tf.Module):
    """A function that trains on a dataset of its own, and one that sums over a dataset of its argument."""

    def __init__(self):
        super().__init__()
        self.w = tf.Variable(WEIGHTS[0], name="w")

    @tf.function(input_signature=[])
    def train(self):
        losses = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        data = tf.data.Dataset.from_tensor_slices((IMAGES, LABELS)).shuffle(20, seed=2).batch(15)
        data = data.map(lambda i, n: (tf.cast(i, tf.float32) / 255.0, n % 32))
        for step, (images, labels) in data.enumerate():
            with tf.GradientTape() as tape:
                logits = tf.reshape(images, [-1, 196]) @ self.w
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
            self.w.assign_sub(0.1 * tape.gradient(loss, self.w))
            losses = losses.write(tf.cast(step, tf.int32), loss)
        return {"losses": losses.stack()}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="x")])
    def serve(self, x):
        data = tf.data.Dataset.from_tensor_slices(x).map(lambda v: v * v).batch(4)
        return {"sums": data.map(tf.reduce_sum).reduce(0.0, lambda a, b: 2.0 * a + b)}


def test_a_saved_model_with_datasets_in_functions(tmp_path):
    model = Trainer()
    tf.saved_model.save(model, str(tmp_path / "model"), signatures={"train": model.train, "serve": model.serve})
    expected = model.train()["losses"].numpy()
    done = run("run", tmp_path / "model", "--signature", "train", "--format", "json")
    value = done.json["steps"][0]["values"][0]["value"]
    np.testing.assert_allclose(value, expected, rtol=2e-5)
    values = RNG.rand(10).astype(np.float32)
    np.save(tmp_path / "x.npy", values)
    served = run("run", tmp_path / "model", "--signature", "serve", "--feed", f"x=@{tmp_path / 'x.npy'}", "--format", "json")
    np.testing.assert_allclose(served.json["steps"][0]["values"][0]["value"], model.serve(values)["sums"].numpy(), rtol=1e-5)


def saving_graph():
    """A graph with an iterator and a variable that a Saver saves, and its definition."""
    v1 = tf.compat.v1
    iterator = v1.data.make_initializable_iterator(tf.data.Dataset.range(9).shuffle(4, seed=3).batch(2))
    tf.identity(iterator.get_next(), name="element")
    v1.get_variable("v", initializer=1.5)
    v1.add_to_collection(v1.GraphKeys.SAVEABLE_OBJECTS, tf.data.experimental.make_saveable_from_iterator(iterator))
    return v1.train.Saver(), v1.get_default_graph().as_graph_def()


def test_a_checkpoint_with_an_iterator_is_read_by_tensorflow_too(tmp_path):
    with tf.Graph().as_default():
        saver, definition = saving_graph()
        with tf.compat.v1.Session() as session:
            session.run(["MakeIterator", "v/Assign"])
            saver.save(session, str(tmp_path / "theirs"), write_meta_graph=False)
    session = tfg.Session(tfg.load(definition.SerializeToString()), files=tfg.FileAccess.everything())
    session.run(["MakeIterator", "v/Assign"])
    ours, theirs = ({"save/Const:0": np.array(bytes(tmp_path / name), object)} for name in ("ours", "theirs"))
    session.run("save/control_dependency:0", ours)
    reader = tf.train.load_checkpoint(str(tmp_path / "ours"))
    assert reader.get_variable_to_dtype_map() == {"v": tf.float32, "IteratorV2:0_STATE": tf.variant}
    assert reader.get_tensor("v") == 1.5
    with pytest.raises(tfg.errors.InvalidArgumentError, match="tensorflow::Iterator"):
        session.run("save/DeserializeIterator", theirs)
    session.run("save/restore_all", ours)
