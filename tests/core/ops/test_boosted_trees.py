"""Boosted trees, small enough to follow by hand: TensorFlow 2.21 has no kernels for these ops."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tfg.core.building.builder import GraphBuilder
from tfg.core.codecs import wire
from tfg.core.codecs.wire import varint
from tfg.core.flops import count
from tfg.core.runtime.session.runner import Runner
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import (
    DataLossError,
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    UnimplementedError,
)
from tfg.core.transforms.freezing import freeze
from tfg.core.types.tensors import Tensor
from tfg.formats.api.model_saving import save_model

BOUNDARIES = [-1.0, 0.5, 2.0]
VALUES = [-3, -1, -0.5, 0.5, 0.6, 2, 9, np.nan, np.inf, -np.inf]
BUCKETS = [0, 0, 1, 1, 2, 2, 2, 0, 2, 0]


def message(**numbers):
    """Integer fields, by names `f1`, `f2` ..."""
    return b"".join(wire.varint_field(int(name[1:]), value) for name, value in numbers.items())


def floats(number, *values):
    return b"".join(wire.float_field(number, value, always=True) for value in values)


def leaf(*logits):
    """A leaf of a scalar, or of a vector."""
    return floats(3, *logits) if len(logits) == 1 else wire.bytes_field(1, floats(1, *logits))


def leaf_node(*logits):
    return wire.bytes_field(1, leaf(*logits))


def split(kind, feature, threshold, left, right, dimension=0, was=None):
    """A split, 2 of buckets or 3 of categories, with the logits of the leaf that it was."""
    node = wire.bytes_field(kind, message(f1=feature, f2=threshold, f3=left, f4=right, f5=dimension))
    return node + (wire.bytes_field(777, wire.bytes_field(2, leaf(was))) if was is not None else b"")


def ensemble(*trees, weights, growing=b"", finalized=()):
    body = b"".join(wire.bytes_field(1, b"".join(wire.bytes_field(1, node) for node in tree)) for tree in trees)
    metadata = b"".join(wire.bytes_field(3, message(f3=int(one))) for one in finalized)
    return body + wire.bytes_field(2, np.array(weights, "<f4").tobytes()) + metadata + wire.bytes_field(4, growing)


# Feature 0 is a bucket, feature 1 a matrix with a category in dimension 1.
FIRST = [
    split(2, 0, 1, 1, 2, was=0.25),
    leaf_node(-1.0),
    split(3, 1, 7, 3, 4, dimension=1, was=0.5),
    leaf_node(2.0),
    leaf_node(4.0),
]
SECOND = [split(2, 0, 0, 1, 2), leaf_node(10.0), leaf_node(20.0)]
TREES = ensemble(FIRST, SECOND, weights=[1.0, 0.5])
FEATURES = [np.array([0, 1, 2, 2], np.int32), np.array([[0, 7], [0, 0], [0, 7], [7, 0]], np.int32)]


def built(data, op="BoostedTreesPredict", features=FEATURES, **attributes):
    """Return a session on a created ensemble, and the name of the op's first output."""
    b = GraphBuilder()
    handle = b.BoostedTreesEnsembleResourceHandleOp(name="trees")
    create = b.add("BoostedTreesCreateEnsemble", [handle, np.int64(3), np.array(data, object)], {}, "create")
    inputs = [handle, [b.constant(feature) for feature in features]] if features is not None else [handle]
    with b.control_dependencies([create]):
        b.add(op, inputs, attributes, "op")
    return Session(b.graph)


def predicted(data, features=FEATURES, logits_dimension=1):
    return built(data, features=features, logits_dimension=logits_dimension).run("op:0").tolist()


@pytest.mark.parametrize("engine", ["numpy", pytest.param("xla", marks=pytest.mark.engine)])
def test_bucketize(engine):
    """A value falls into the bucket of the first boundary that is not below the value; above all, into the last bucket."""
    b = GraphBuilder()
    values = [b.Placeholder(dtype="float", shape=[None], name="x"), b.Placeholder(dtype="float", shape=[None], name="y")]
    b.add("BoostedTreesBucketize", [values, [np.float32(BOUNDARIES), np.zeros(0, np.float32)]], {}, "op")
    if engine == "xla":
        pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")
    session = Session(b.graph, engine=engine)
    x, y = session.run(["op:0", "op:1"], {"x:0": np.float32(VALUES), "y:0": np.float32(VALUES)})
    assert x.dtype == np.int32
    assert x.tolist() == BUCKETS
    assert y.tolist() == [0] * len(VALUES)


@pytest.mark.engine
def test_bucketize_in_onnx(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
    b = GraphBuilder()
    x, limits = (b.Placeholder(dtype="float", shape=[None], name=name) for name in ("x", "limits"))
    b.add("BoostedTreesBucketize", [[x, x], [limits, np.zeros(0, np.float32)]], {}, "op")
    tfg.convert(b.graph, tmp_path / "op.onnx", outputs=["op:0", "op:1"])
    run = onnxruntime.InferenceSession(tmp_path / "op.onnx").run(
        None, {"x": np.float32(VALUES), "limits": np.float32(BOUNDARIES)}
    )
    assert [result.tolist() for result in run] == [BUCKETS, [0] * len(VALUES)]


def test_predictions():
    """Buckets 0 and 1 go left in the first tree (-1), and bucket 0 goes left in the second (10 / 2)."""
    assert predicted(TREES) == [[-1 + 5], [-1 + 10], [2 + 10], [4 + 10]]


def test_predictions_of_several_logits():
    trees = ensemble([split(2, 0, 0, 1, 2), leaf_node(1.0, 2.0, 3.0), leaf_node(-1.0, 0.0, 0.5)], weights=[2.0])
    assert predicted(trees, logits_dimension=3) == [[2, 4, 6], [-2, 0, 1], [-2, 0, 1], [-2, 0, 1]]


def test_an_ensemble_without_trees_predicts_zeros():
    assert predicted(b"", logits_dimension=2) == [[0, 0]] * 4


def test_no_examples():
    assert built(TREES, features=[f[:0] for f in FEATURES], logits_dimension=1).run("op:0").shape == (0, 1)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (ensemble([split(2, 0, 0, 0, 0)], weights=[1.0]), DataLossError),
        (ensemble([split(2, 0, 0, 1, 9), leaf_node(1.0)], weights=[1.0]), InvalidArgumentError),
        (ensemble([split(2, 5, 0, 1, 1), leaf_node(1.0)], weights=[1.0]), InvalidArgumentError),
        (ensemble([split(2, 1, 0, 1, 1, dimension=2), leaf_node(1.0)], weights=[1.0]), InvalidArgumentError),
        (ensemble([split(4, 0, 0, 1, 1), leaf_node(1.0)], weights=[1.0]), InvalidArgumentError),
        (ensemble([leaf_node(1.0)], weights=[]), InvalidArgumentError),
        (ensemble([leaf_node(1.0, 2.0)], weights=[1.0]), InternalError),
        (ensemble([], weights=[1.0]) + b"\x0a\x05", InvalidArgumentError),
        (ensemble([b""], weights=[1.0]), InvalidArgumentError),
    ],
    ids=["cycle", "child", "feature", "dimension", "dense split", "weights", "logits", "damaged", "empty node"],
)
def test_broken_ensembles_are_refused(data, error):
    with pytest.raises(error):
        predicted(data)


def test_batches_of_features_must_agree():
    with pytest.raises(InvalidArgumentError):
        predicted(TREES, [FEATURES[0], FEATURES[1][:2]])


def test_debug_outputs():
    """The logits after each split include the leaves of earlier trees: 0.25, -1, -1 + 5, and 0.25, 0.5, 2, 2 + 10."""
    session = built(TREES, "BoostedTreesExampleDebugOutputs", logits_dimension=1)
    outputs = session.run("op:0").tolist()

    def expected(splits, logits, leaves):
        parts = [b"".join(map(varint, splits)), np.array(logits, "<f4").tobytes(), b"".join(map(varint, leaves))]
        return b"".join(wire.bytes_field(number, part) for number, part in enumerate(parts, 1))

    assert outputs[0] == expected([0, 0], [0.25, -1, 4], [1, 1])
    assert outputs[2] == expected([0, 1, 0], [0.25, 0.5, 2, 12], [3, 2])


def test_states():
    growing = message(f1=2, f2=5, f3=3, f4=7)
    for finalized, number in (((True, True), 2), ((True, False), 1)):
        data = ensemble(FIRST, SECOND, weights=[1.0, 0.5], growing=growing, finalized=finalized)
        session = built(data, "BoostedTreesGetEnsembleStates", None)
        states = session.run([f"op:{i}" for i in range(5)])
        assert [np.asarray(state).tolist() for state in states] == [3, 2, number, 5, [3, 7]]
    stamp, text = built(TREES, "BoostedTreesSerializeEnsemble", None).run(["op:0", "op:1"])
    assert (int(stamp), text) == (3, TREES)


def restored_graph():
    """A model as an estimator exports it: the trees and the boundaries lie in a checkpoint."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float", shape=[None], name="x")
    trees = b.BoostedTreesEnsembleResourceHandleOp(name="trees")
    create = b.add("BoostedTreesCreateEnsemble", [trees, np.int64(0), np.array(b"", object)], {}, "create")
    stream = b.BoostedTreesQuantileStreamResourceHandleOp(name="stream")
    begin = b.add("BoostedTreesCreateQuantileStreamResource", [stream, np.float32(0.1), np.int64(1)], {}, "begin")
    keys = ["t-stamp", "t-serialized", "limits"]
    names, slices = (np.array(texts, object) for texts in ([key.encode() for key in keys], [b""] * 3))
    types = ["int64", "string", "float"]
    restored = b.add("RestoreV2", [np.array(b"prefix", object), names, slices], {"dtypes": types}, "RestoreV2")
    copy = b.Identity(restored.output(1))
    with b.control_dependencies([create]):
        inputs = [trees, restored.output(0), copy]
        b.add("BoostedTreesDeserializeEnsemble", inputs, {}, "restore_trees")
    with b.control_dependencies([begin]):
        b.add("BoostedTreesQuantileStreamResourceDeserialize", [stream, [restored.output(2)]], {}, "restore_limits")
    limits = b.add("BoostedTreesQuantileStreamResourceGetBucketBoundaries", [stream], {"num_features": 1}, "limits")
    buckets = b.add("BoostedTreesBucketize", [[x], [limits.output(0)]], {}, "buckets")
    b.add("BoostedTreesPredict", [trees, [buckets.output(0)]], {"logits_dimension": 1}, "logits")
    for op, handle, name in (("Ensemble", trees, "has_trees"), ("QuantileStreamResource", stream, "has_limits")):
        b.add(f"IsBoostedTrees{op}Initialized", [handle], {}, name)
    return b.graph


STATE = {
    "t-stamp": Tensor.from_numpy(np.int64(4)),
    "t-serialized": Tensor.from_numpy(np.array(ensemble(SECOND, weights=[1.0]), object)),
    "limits": Tensor.from_numpy(np.float32([0.0, 1.0])),
}


def test_a_state_fills_ensembles_and_boundaries():
    session = Session(restored_graph())
    assert [bool(value) for value in session.run(["has_trees:0", "has_limits:0"])] == [False, False]
    with pytest.raises(NotFoundError):
        session.run("logits:0", {"x:0": np.float32([0.0])})
    restored = Runner(session).restore(STATE)
    assert (restored.resources, restored.unknown) == (("trees", "stream"), ())
    assert [bool(value) for value in session.run(["has_trees:0", "has_limits:0"])] == [True, True]
    assert session.run("logits:0", {"x:0": np.float32([-1.0, 0.5, 7.0])}).tolist() == [[10], [20], [20]]


def test_a_created_ensemble_stays():
    session = Session(restored_graph())
    Runner(session).restore(STATE)
    session.run(["create", "begin"])
    assert session.run("logits:0", {"x:0": np.float32([-1.0])}).tolist() == [[10]]


def test_flops():
    """Two comparisons for a search among three boundaries; the trees are unknown before a run."""
    b = GraphBuilder()
    b.add("BoostedTreesBucketize", [[np.zeros(5, np.float32)], [np.float32(BOUNDARIES)]], {}, "op")
    assert count.count_flops(b.graph, ["op"]).total().flops == 10


@pytest.mark.slow
def test_a_state_has_what_ensembles_and_boundaries_hold():
    runner = Runner(Session(restored_graph()))
    assert runner.state() == {}
    runner.restore(STATE)
    state = runner.state()
    assert {key: value.numpy().tolist() for key, value in state.items()} == {
        key: value.numpy().tolist() for key, value in STATE.items()
    }


def test_a_frozen_graph_holds_the_contents_in_constants():
    with pytest.raises(FailedPreconditionError, match="limits"):
        freeze(restored_graph(), {key: STATE[key] for key in ("t-stamp", "t-serialized")}, ["logits"])
    frozen = freeze(restored_graph(), STATE, ["logits"])
    assert "RestoreV2" not in frozen
    session = Session(frozen)
    Runner(session).initialize()
    assert session.run("logits:0", {"x:0": np.float32([-1.0, 0.5, 7.0])}).tolist() == [[10], [20], [20]]


def test_a_saved_model_that_would_lack_the_contents_is_refused(tmp_path):
    with pytest.raises(UnimplementedError, match="trees"):
        save_model(restored_graph(), tmp_path / "model")
    frozen = freeze(restored_graph(), STATE, ["logits"])
    save_model(frozen, tmp_path / "model")
    assert tfg.Model(tmp_path / "model")(x=np.float32([-1.0, 0.5]))["logits"].tolist() == [[10], [20]]
