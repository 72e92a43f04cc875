"""The same files through tfg and an installed TensorFlow, both ways."""

import os

import numpy as np
import pytest
from google.protobuf import text_format

from tests.children import fork_to
from tests.security import kills
from tfg.core.types import dtypes
from tfg.core.types.tensors import Tensor
from tfg.formats import Partitioned, load, merge_checkpoints, open_checkpoint, to_bytes, to_text, write_checkpoint
from tfg.formats.checkpoint.bundle import read_index
from tfg.formats.codecs.tensor_proto import decode_tensor, encode_tensor
from tfg.formats.protos.graph_pb2 import TensorProto

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.live

FULL = np.arange(40, dtype=np.float32).reshape(10, 4)
VALUES = {
    "f": np.float32([[1, 2], [3, 4]]), "d": np.float64(0.1), "i": np.arange(5, dtype=np.int32), "l": np.int64(-7),
    "b": np.array([True, False]), "h": np.float16([1, 2]), "c": np.complex64([1 + 2j]), "u": np.uint8([255]),
    "s": np.array([b"hi", b"", b"x" * 300], object), "e": np.zeros((0, 3), np.float32), "w": np.ones((300, 300), np.float32),
}  # fmt: skip


def save_v2(prefix, names, specs, values):
    tensors = [tf.constant(value) for value in values]
    tf.raw_ops.SaveV2(prefix=prefix, tensor_names=names, shape_and_slices=specs, tensors=tensors)


def restore(prefix, name, dtype, spec=""):
    return tf.raw_ops.RestoreV2(prefix=prefix, tensor_names=[name], shape_and_slices=[spec], dtypes=[dtype])[0].numpy()


def test_tensorflow_writes_v2_and_tfg_reads(tmp_path):
    prefix = str(tmp_path / "ck")
    specs = [*[""] * len(VALUES), "10 4 0,3:-", "10 4 3,7:-"]
    save_v2(prefix, [*VALUES, "p", "p"], specs, [*VALUES.values(), FULL[:3], FULL[3:]])
    reader = open_checkpoint(prefix)
    for name, value in VALUES.items():
        assert reader.read(name).tolist() == value.tolist()
    assert np.array_equal(reader.read("p"), FULL)


@pytest.mark.parametrize("version", [1, 2])
def test_tfg_writes_and_tensorflow_reads(tmp_path, version):
    prefix = str(tmp_path / "ck")
    write_checkpoint(prefix, {**VALUES, "p": Partitioned((10, 4), [("0,3:-", FULL[:3]), ("3,7:-", FULL[3:])])}, version)
    for name, value in VALUES.items():
        assert restore(prefix, name, tf.as_dtype(value.dtype)).tolist() == value.tolist()
    assert np.array_equal(restore(prefix, "p", tf.float32), FULL)
    assert np.array_equal(restore(prefix, "p", tf.float32, "10 4 2,4:-"), FULL[2:6])


def test_merged_by_tfg(tmp_path):
    parts = [str(tmp_path / "a"), str(tmp_path / "b")]
    save_v2(parts[0], ["p", "x"], ["10 4 0,3:-", ""], [FULL[:3], np.int32(1)])
    save_v2(parts[1], ["p"], ["10 4 3,7:-"], [FULL[3:]])
    merge_checkpoints(parts, str(tmp_path / "all"))
    assert np.array_equal(restore(str(tmp_path / "all"), "p", tf.float32), FULL)
    assert restore(str(tmp_path / "all"), "x", tf.int32) == 1


WRITTEN_BY_TENSORFLOW = [
    (shape, dtype)
    for shape in ((), (1,), (3, 2))
    for dtype in dtypes.ALL
    if dtype.name not in ("resource", "variant") and (shape == (3, 2) or not dtype.name.endswith("fnuz"))
]
"""TensorFlow writes no single number of the kinds of float8 with an unsigned zero (fnuz)."""


@pytest.mark.parametrize(("shape", "dtype"), WRITTEN_BY_TENSORFLOW, ids=str)
def test_constants_are_make_tensor_protos(shape, dtype):
    size = int(np.prod(shape))
    array = (np.arange(size) % 2).reshape(shape).astype("S1" if dtype is dtypes.string else dtype.numpy).astype(dtype.numpy)
    theirs = tf.make_tensor_proto(array, dtype=tf.as_dtype(dtype.number), shape=shape)
    ours = encode_tensor(Tensor.from_numpy(array, dtype))
    assert ours.SerializeToString(deterministic=True) == theirs.SerializeToString(deterministic=True)
    assert decode_tensor(TensorProto.FromString(theirs.SerializeToString())).numpy().tolist() == array.tolist()


def test_text_is_byte_exact():
    graph_def = tf.compat.v1.GraphDef()
    rng = np.random.default_rng(0)
    for i, value in enumerate([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 3.4e38, 0.1, 16777217, *rng.normal(size=20)]):
        node = graph_def.node.add(name=f"n{i}", op="Foo")
        node.attr["f"].f = value
        node.attr["s"].s = rng.bytes(30)
        node.attr["t"].tensor.double_val.append(value)
        node.attr["l"].list.SetInParent()
        node.attr["unknown"].type = 77
    want = text_format.MessageToString(graph_def)
    assert to_text(load(graph_def.SerializeToString())) == want
    assert to_text(load(want.encode())) == want


def test_tensorflow_reads_what_tfg_writes():
    function = tf.function(lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x - 1))
    graph_def = function.get_concrete_function(tf.TensorSpec([None], tf.float32)).graph.as_graph_def()
    graph = load(graph_def.SerializeToString())
    for body in graph.functions.values():
        assert len(body.body)
    again = tf.compat.v1.GraphDef.FromString(to_bytes(graph))
    assert again == graph_def
    with tf.Graph().as_default():
        tf.import_graph_def(again)


def test_tensorflow_reads_a_bundle_between_its_two_swaps(tmp_path):
    """Where a writer is killed there, the table names a shard more than there is."""
    prefix = str(tmp_path / "ck")
    write_checkpoint(prefix, {"w": FULL[:2]})
    moment = 0
    while True:
        write_checkpoint(prefix, {"w": FULL[:2]})

        def write(moment: int = moment) -> bool:
            kills.die_at(moment)
            write_checkpoint(prefix, {"w": FULL, "s": VALUES["s"]})
            return True

        child = fork_to(write)
        if os.waitpid(child, 0)[1] == 0:
            raise AssertionError("no kill fell between the swaps")
        if read_index(prefix)[0].num_shards == 2:
            break
        moment += 1
    reader = tf.train.load_checkpoint(prefix)
    assert np.array_equal(reader.get_tensor("w"), FULL) and reader.get_tensor("s").tolist() == VALUES["s"].tolist()
    assert np.array_equal(restore(prefix, "w", tf.float32), FULL)
    assert np.array_equal(restore(prefix, "w", tf.float32, "10 4 3,7:-"), FULL[3:])
    merge_checkpoints([prefix], str(tmp_path / "merged"))
    assert np.array_equal(restore(str(tmp_path / "merged"), "w", tf.float32), FULL)
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("merged")) == [
        "merged.data-00000-of-00001", "merged.index",
    ]  # fmt: skip
