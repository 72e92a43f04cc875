"""The passes that a user has to ask for: weights, debugging, training, names, devices, order."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as command
from tests.core.passes.rewriting import placeholder, rewritten
from tfg.core.passes.pass_listing import all_passes
from tfg.core.passes.pipeline import choose_passes, optimize
from tfg.core.registry.catalog import CATALOG
from tfg.core.registry.op_history import ops_by_reader
from tfg.core.support.errors import InvalidArgumentError, NotFoundError
from tfg.core.types import dtypes
from tfg.core.types.tensors import Tensor

WEIGHTS = np.linspace(-1, 1, 2000, dtype="f").reshape(2, 1000)


def product(b):
    return b.MatMul(placeholder(b, "x", (3, 2)), b.constant(WEIGHTS, name="w"))


def value_of(graph, name):
    return tfg.Session(graph).run(f"{name}:0")


def test_round_weights():
    result = rewritten(product, "round_weights{steps=10}", check=False)
    rounded = value_of(result.after, "w")
    assert len(np.unique(rounded)) == 10
    assert np.abs(rounded - WEIGHTS).max() <= 0.1 + 1e-6


def test_quantize_weights():
    result = rewritten(product, "quantize_weights", check=False)
    assert result.after.node("w").op == "Dequantize"
    assert result.after.node("w/quantized").attrs["dtype"] is dtypes.quint8
    assert np.abs(value_of(result.after, "w") - WEIGHTS).max() < 2 / 255


def test_small_weights_stay():
    result = rewritten(product, "quantize_weights{minimum_size=1M}")
    assert "fewer than" in result.reasons
    assert result.after.node("w").op == "Const"


def test_strip_debug():
    def build(b):
        x = placeholder(b, "x")
        with b.control_dependencies([b.Assert(b.constant(True), [x])]):
            return b.Neg(b.CheckNumerics(x, message="bad"))

    result = rewritten(build, "strip_debug,prune")
    assert result.text == "Neg(x)"
    assert "Assert" not in result.ops()


def test_nodes_of_training_go():
    def build(b):
        return b.StopGradient(b.PlaceholderWithDefault(placeholder(b, "x"), shape=[2, 3]))

    assert rewritten(build, "remove_training_nodes").text == "x"


def test_rename_nodes_ops_and_attributes():
    b = tfg.GraphBuilder()
    b.AddV2(b.constant(1.0, name="a"), 2.0, name="y")
    after, _ = optimize(b.graph, ["y"], (), "rename{node=a:first,op=AddV2:Add}")
    assert after.node("first").op == "Const"
    assert after.node("y").op == "Add"
    with pytest.raises(InvalidArgumentError, match="OLD:NEW"):
        optimize(b.graph, ["y"], (), "rename{node=a}")


def test_devices_and_attributes():
    b = tfg.GraphBuilder()
    with b.device("/cpu:0"):
        a = b.constant(1.0, name="a")
    with b.colocate_with(a):
        b.Neg(a, name="y")
    after, _ = optimize(b.graph, ["y"], (), "set_device{device=/gpu:0,if_default=true}")
    assert after.node("a").device == b.graph.node("a").device
    after, _ = optimize(b.graph, ["y"], (), "set_device,remove_attribute")
    assert not any(node.device or node.colocation for node in after)


def test_sort():
    b = tfg.GraphBuilder()
    b.Neg(b.constant(1.0, name="a"), name="y")
    b.graph.reorder(list(b.graph)[::-1])
    after, _ = optimize(b.graph, ["y"], (), "sort")
    assert [node.name for node in after] == ["a", "y"]


def test_colocation_with_nodes_that_are_gone_is_dropped():
    b = tfg.GraphBuilder()
    gone = b.constant(1.0, name="gone")
    with b.colocate_with(gone):
        b.Neg(b.constant(2.0), name="y")
    after, _ = optimize(b.graph, ["y:0"], (), "prune")
    assert after.node("y").colocation == ()


def test_prerequisites_come_first():
    assert [one.name for one in choose_passes("batchnorm")] == ["fold", "batchnorm"]
    with pytest.raises(NotFoundError, match="prune"):
        choose_passes("bogus")


@pytest.mark.parametrize(("passes", "message"), [
    ("fold{limit=abc}", "limit=abc of pass fold is not a whole number"),
    ("fuse{onednn=yes}", "onednn=yes of pass fuse is not true or false"),
    ("fold{limt=1}", "pass fold has no option 'limt'; its options are limit$"),
    ("cse{constants}", "option 'constants' of pass cse is not of the form NAME=VALUE"),
    ("round_weights{steps=0}", "cannot round weights to 0 values"),
])  # fmt: skip
def test_options_that_do_not_fit(passes, message):
    with pytest.raises(InvalidArgumentError, match=message):
        choose_passes(passes)


def test_list_shows_every_pass_with_its_options():
    listed = {row["name"]: row for row in command("optimize", "--list", "--format", "json").json["passes"]}
    assert set(listed) == {kind.name for kind in all_passes()}
    assert listed["fold"]["options"] == {"limit": 10 * 2**20}
    assert not listed["quantize_weights"]["default"]


def test_default_stands_for_the_usual_passes():
    usual = [one.name for one in choose_passes(None)]
    chosen = choose_passes("default, fuse{onednn=true}, layout{to=NCHW}")
    assert [one.name for one in chosen if one.name != "layout"] == usual
    assert [one.name for one in chosen] == [kind.name for kind in all_passes() if kind.name in {*usual, "layout"}]
    assert next(one for one in chosen if one.name == "fuse").onednn is True
    assert "cse" not in [one.name for one in choose_passes("default", disable=["cse"])]


def convolution(b):
    x = placeholder(b, "x", (1, 4, 4, 1))
    y = b.Conv2D(x, b.constant(np.ones((2, 2, 1, 1), "f")), strides=[1] * 4, padding="VALID")
    return b.Relu(b.BiasAdd(y, b.constant(np.float32([1]))), name="y")


def test_the_note_and_the_report_tell_what_others_do_not_read(tmp_path):
    b = tfg.GraphBuilder()
    convolution(b)
    tfg.save(b.graph, tmp_path / "g.pb")
    fused = command("optimize", tmp_path / "g.pb", "-o", tmp_path / "fused.pb", "--format", "json")
    assert fused.json["report"]["unportable"] == {"_FusedConv2D": 1}
    assert "only tfg and TensorFlow on CPUs know 1 _FusedConv2D: other readers need `--portable`" in fused.err
    portable = command("optimize", tmp_path / "g.pb", "-o", tmp_path / "p.pb", "--portable", "--verify", "--format", "json")
    assert (portable.code, portable.json["report"]["unportable"]) == (0, {})
    assert {"Conv2D", "BiasAdd", "Relu"} <= {node.op for node in tfg.load(tmp_path / "p.pb")}
    assert "only tfg" not in portable.err and "does not read" not in portable.err and portable.json["report"]["unread"] == {}
    again = command("optimize", tmp_path / "fused.pb", "-o", tmp_path / "again.pb", "--portable")
    assert "1 _FusedConv2D: they were in the graph before" in again.err


RUNNABLE = [path.name for path in SAMPLES.iterdir() if path.suffix == ".pbtxt" and path.stem != "skipgram"]
FOLDERS = ["scaler_saved_model", "keras_classifier", "iris_tfjs"]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", sorted([*RUNNABLE, *FOLDERS]))
def test_samples_are_portable(name, tmp_path):
    target = tmp_path / "p.pb"
    done = command("optimize", SAMPLES / name, "-o", target, "--portable", "--verify", "--no-costs")
    assert done.code == 0
    before = {node.op for node in tfg.load(SAMPLES / name)}  # the converter of TensorFlow.js fuses
    made = {node.op for node in tfg.load(target)} - before
    assert all(op in CATALOG and not op.startswith(("_", "FusedPad", "FusedResize")) for op in made)


@pytest.mark.parametrize("axes", [None, 0])
def test_what_few_bytes_stand_for_is_not_folded(axes):
    """A constant with a single stored element and millions of claimed elements is neither computed nor written out."""
    b = tfg.GraphBuilder()
    vast = b.constant(np.float32(1), name="vast")
    vast.node.set_attr("value", Tensor.from_numpy(np.broadcast_to(np.float32(1), 1 << 22)))
    value = b.Exp(vast, name="value") if axes is None else b.Sum(vast, axes, name="value")
    changed, _ = optimize(b.graph, [value.name], passes="fold")
    assert changed.node("value").op == value.node.op


def test_fold_goes_on_from_all_outputs():
    """Consumers of the second output of a folded node are folded in the same run of the pass."""
    result = rewritten(lambda b: b.Square(b.AddV2(b.Unique([3, 1, 3])[1], [1, 2, 3])), "fold")
    assert [node.op for node in result.after if node.name == result.fetches[0].split(":")[0]] == ["Const"]


def test_a_portable_graph_tells_which_program_misses_which_ops(tmp_path):
    b = tfg.GraphBuilder()
    x = placeholder(b, "x", (4, 4))
    b.MatrixInverse(b.Cholesky(b.Erf(b.Relu(x))), name="y")
    tfg.save(b.graph, tmp_path / "g.pb")
    done = command("optimize", tmp_path / "g.pb", "-o", tmp_path / "p.pb", "--portable", "--format", "json")
    both = {"Cholesky": 1, "MatrixInverse": 1}
    assert done.json["report"]["unread"] == {
        "OpenCV": {"Erf": 1, **both}, "TensorFlow Lite": {"Erf": 1, **both}, "TensorFlow.js": both, "tf2onnx": {"Cholesky": 1},
    }  # fmt: skip
    assert "tf2onnx does not read: 1 Cholesky" in done.err and "OpenCV does not read: " in done.err
    assert "does not read" not in command("optimize", tmp_path / "g.pb", "-o", tmp_path / "q.pb").err
    assert not tfg.optimize(b.graph, "y").report.unread and tfg.optimize(b.graph, "y", portable=True).report.unread


def test_programs_read_ops_of_the_catalog():
    assert {"OpenCV", "TensorFlow Lite", "TensorFlow.js", "tf2onnx"} == set(ops_by_reader())
    for ops in ops_by_reader().values():
        assert {"Conv2D", "MatMul", "Placeholder", "Const", "Identity"} <= ops <= set(CATALOG)


def test_large_constants_merge_only_if_all_elements_are_equal():
    def build(b):
        values = np.zeros(50_000, np.float32)
        other = values.copy()
        other[1] = 1
        return b.AddN([b.constant(array, name=name) for name, array in (("a", values), ("b", values.copy()), ("c", other))])

    result = rewritten(build, "cse,prune")
    assert {node.name for node in result.after if node.is_constant} == {"a", "c"}


def test_equal_constants_beside_other_nodes_merge_and_other_ops_do_not():
    def build(b):
        x = placeholder(b, "x")
        made = [b.constant(np.float32(2), name="a"), b.constant(np.float32(2), name="b"), b.Neg(x), b.Neg(x)]
        for value, place in zip(made, (b"loc:@x", b"loc:@y") * 2):
            value.node.attrs["_class"] = [place]
        return b.AddN([b.Mul(value, x) for value in made])

    assert rewritten(build, "cse,prune").ops() == ["AddN", "Const", *["Mul"] * 3, "Neg", "Neg", "Placeholder"]
