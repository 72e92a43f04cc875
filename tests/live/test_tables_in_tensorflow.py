"""TensorFlow loads the tables of each written model from another folder, while the original and its sources are gone."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.cli.running import tfg as run
from tfg.core.runtime.session.runner import Runner
from tfg.formats.state import write_state

tf = pytest.importorskip("tensorflow")
tf1 = tf.compat.v1

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]
WORDS = [tf.TensorSpec([None], tf.string, name="w")]
FED = ["b", "q", "a"]
LINE, NUMBER = tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER


def mutable_table(value_dtype, default, keys, values, **options):
    table = tf.lookup.experimental.MutableHashTable(tf.string, value_dtype, default, **options)
    return table, table.insert(tf.constant(keys), tf.constant(values, value_dtype))


def dense_table(**options):
    table = tf.lookup.experimental.DenseHashTable(tf.string, tf.float32, [0.0, 0.0], "", "-", initial_num_buckets=8, **options)
    return table, table.insert(tf.constant(["b", "q"]), tf.constant([[1.0, 2.0], [3.0, 4.0]]))


def file_table(path):
    return tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(str(path), tf.string, LINE, tf.int64, NUMBER), -1)


def constant_table():
    keys, values = tf.constant(["b", "c"]), tf.constant([7, 8], tf.int64)
    return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), -5)


class Mutable(tf.Module):
    def __init__(self, path):
        super().__init__()
        self.t, _ = mutable_table(tf.int64, -1, ["b"], [7])
        self.u, _ = mutable_table(tf.float32, [0.0, 0.5], ["q", "a"], [[1, 2], [3, 4]])
        self.d, _ = dense_table()
        self.d.erase(tf.constant(["q"]))
        self.v = tf.Variable(2, dtype=tf.int64)

    @tf.function(input_signature=WORDS)
    def serve(self, w):
        return {"t": self.t.lookup(w) * self.v, "u": self.u.lookup(w), "d": self.d.lookup(w)}


class Files(tf.Module):
    """Tables from files and constants beside a changed one, in a conditional and a loop, and a file read by a function."""

    def __init__(self, path):
        super().__init__()
        self.asset = tf.saved_model.Asset(str(path))
        self.f, self.c = file_table(path), constant_table()
        self.m, _ = mutable_table(tf.int64, -1, ["b"], [7])

    @tf.function(input_signature=WORDS)
    def serve(self, w):
        first = tf.cond(tf.size(w) > 1, lambda: self.f.lookup(w), lambda: self.m.lookup(w))
        _, sums = tf.while_loop(lambda i, _: i < 2, lambda i, s: (i + 1, s + self.c.lookup(w) + self.m.lookup(w)), (0, first))
        return {"sums": sums, "text": tf.strings.join([w, tf.io.read_file(self.asset)])}


class Anonymous(tf.Module):
    def __init__(self, path):
        super().__init__()
        self.m, _ = mutable_table(tf.int64, -1, ["b"], [7], experimental_is_anonymous=True)

    @tf.function(input_signature=WORDS)
    def serve(self, w):
        return {"m": self.m.lookup(w)}


def module(kind):
    def make(folder, path):
        model = kind(path)
        tf.saved_model.save(model, str(folder), signatures=model.serve)

    return make


def graph_model(has_main_op):
    """Write a V1 model, and beside it a checkpoint of its Saver."""

    def make(folder, path):
        with tf.Graph().as_default(), tf1.Session() as session:
            w = tf1.placeholder(tf.string, [None], name="w")
            m, fill = mutable_table(tf.int64, -1, ["b"], [7], name="m")
            f, v = file_table(path), tf1.Variable(2, dtype=tf.int64, name="v", use_resource=False)
            outputs = {"m": m.lookup(w) * v, "f": f.lookup(w)}
            session.run([tf1.global_variables_initializer(), fill])
            builder = tf1.saved_model.Builder(str(folder))
            builder.add_meta_graph_and_variables(
                session, ["serve"],
                {"serving_default": tf1.saved_model.predict_signature_def({"w": w}, outputs)},
                assets_collection=tf1.get_collection(tf1.GraphKeys.ASSET_FILEPATHS),
                main_op=tf1.tables_initializer() if has_main_op else None,
            )  # fmt: skip
            builder.save()

    return make


MODELS = {
    "mutable": module(Mutable),
    "files": module(Files),
    "anonymous": module(Anonymous),
    "V1": graph_model(True),
    "V1 without main op": graph_model(False),
}
WAYS = {
    "convert": ("convert", "IN", "OUT", "--kind", "saved_model"),
    "freeze": ("convert", "IN", "OUT", "--kind", "saved_model", "--freeze"),
    "freeze with functions": ("convert", "IN", "OUT", "--kind", "saved_model", "--freeze", "--keep-functions"),
    "optimize": ("optimize", "IN", "--save-model", "OUT"),
    "run": ("run", "IN", "--feed", 'w=["b"]', "--save-model", "OUT"),
}


def served(folder):
    """Return the results of a model's signature."""
    model = tf.saved_model.load(str(folder))
    return {name: value.numpy().tolist() for name, value in model.signatures["serving_default"](w=tf.constant(FED)).items()}


@pytest.mark.parametrize("model", MODELS)
def test_each_way_of_writing(model, tmp_path):
    path, original = tmp_path / "source" / "words.txt", tmp_path / "model"
    path.parent.mkdir()
    path.write_text("a\nb\n", "ascii")
    MODELS[model](original, path)
    path.unlink()
    expected = served(original)
    for way, words in WAYS.items():
        places = {"IN": original, "OUT": tmp_path / way}
        outcome = run(*(places.get(word, word) for word in words))
        assert outcome.code == 0, (way, outcome.err)
    original.rename(tmp_path / "gone")
    for way in WAYS:
        assert served(tmp_path / way) == expected, way


def test_a_saver_restores_the_tables_of_a_written_state(tmp_path):
    with tf.Graph().as_default(), tf1.Session() as session:
        m, fill = mutable_table(tf.int64, -1, ["b"], [7], name="m")
        value = m.lookup(tf.constant(FED), name="y")
        session.run(fill)
        tf1.train.Saver().save(session, str(tmp_path / "ck"))
    meta, state = tmp_path / "ck.meta", ("--state", tmp_path / "ck")
    done = run("run", meta, *state, "--fetch", value.name, "--save-state", tmp_path / "again.ckpt")
    assert "[ 7, -1, -1]" in done.out, (done.out, done.err)
    with tf.Graph().as_default(), tf1.Session() as session:
        tf1.train.import_meta_graph(str(meta))
        session.run("save/restore_all", {"save/Const:0": str(tmp_path / "again.ckpt")})
        np.testing.assert_array_equal(session.run(value.name), [7, -1, -1])


def test_a_list_in_a_variable_is_restored(tmp_path):
    """TensorFlow restores the checkpoint that tfg writes of a variable with a list, one of its elements unset."""
    b = tfg.GraphBuilder()
    handle = b.VarHandleOp(dtype="variant", shape=[], shared_name="v", name="v")
    made = b.TensorListReserve(np.int32([-1, 2]), np.int32(2), element_dtype="float32", shape_type="int32")
    b.AssignVariableOp(handle, b.TensorListSetItem(made, np.int32(1), np.float32([[3, 4]])), name="fill")
    session = tfg.Session(b.graph)
    session.run("fill")
    write_state(tmp_path / "s.ckpt", Runner(session).state())
    (restored,) = tf.raw_ops.RestoreV2(
        prefix=str(tmp_path / "s.ckpt"), tensor_names=["v"], shape_and_slices=[""], dtypes=[tf.variant]
    )
    stack = tf.raw_ops.TensorListStack(input_handle=restored, element_shape=[1, 2], element_dtype=tf.float32)
    assert stack.numpy().tolist() == [[[0, 0]], [[3, 4]]]
