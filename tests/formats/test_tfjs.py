"""TensorFlow.js graph models, written by hand as tensorflowjs_converter writes them."""

from __future__ import annotations

import base64
import json
import math
import pathlib
import shutil
import struct
import subprocess

import numpy as np
import pytest

import tfg
from tests.cli.running import tfg as run
from tests.functions import define
from tfg.core.ops.shared.tensorflow_js import spelled
from tfg.core.support.errors import DataLossError, InvalidArgumentError, NotFoundError, PermissionDeniedError, TfgError
from tfg.core.types.dtypes import float32
from tfg.formats.tfjs import known_ops, unknown_ops


def const(name, dtype, *sizes):
    shape = {"dim": [{"size": str(size)} for size in sizes]} if sizes else {}
    tensor = {"dtype": dtype, "tensorShape": shape}
    return {"name": name, "op": "Const", "attr": {"dtype": {"type": dtype}, "value": {"tensor": tensor}}}


def unary(name, op, source, dtype):
    return {"name": name, "op": op, "input": [source], "attr": {"T": {"type": dtype}}}


TOPOLOGY = {
    "node": [
        {"name": "x", "op": "Placeholder", "attr": {
            "dtype": {"type": 1}, "shape": {"shape": {"dim": [{"size": "-1"}, {"size": "2"}]}}}},
        const("w", "DT_FLOAT", 2, 3), const("b", "DT_FLOAT", 3), const("half", "DT_FLOAT", 2), const("steps", "DT_INT32", 2),
        const("flag", "DT_BOOL"), const("words", "DT_STRING", 2), const("long", "DT_INT64", 2), const("z", "DT_COMPLEX64", 1),
        {"name": "p", "op": "MatMul", "input": ["x", "w"], "attr": {
            "T": {"type": "DT_FLOAT"}, "transpose_a": {"b": False}, "transpose_b": {"b": False}}},
        {"name": "y", "op": "BiasAdd", "input": ["p", "b"], "attr": {
            "T": {"type": "DT_FLOAT"}, "data_format": {"s": base64.b64encode(b"NHWC").decode()}}},
    ],
    "library": {}, "versions": {"producer": 1882},
}  # fmt: skip
SIGNATURE = {
    "inputs": {"points": {"name": "x:0", "dtype": "DT_FLOAT", "tensorShape": {"dim": [{"size": "-1"}, {"size": "2"}]}}},
    "outputs": {"scores": {"name": "y:0", "dtype": "DT_FLOAT"}},
}
WEIGHTS = [
    ({"name": "w", "shape": [2, 3], "dtype": "float32",
      "quantization": {"dtype": "uint8", "scale": 0.5, "min": -1.0, "original_dtype": "float32"}},
     bytes([0, 1, 2, 3, 4, 255])),
    ({"name": "b", "shape": [3], "dtype": "float32"}, struct.pack("<3f", 1, 2, 3)),
    ({"name": "half", "shape": [2], "dtype": "float32", "quantization": {"dtype": "float16"}}, struct.pack("<2e", 0.5, -2)),
    ({"name": "steps", "shape": [2], "dtype": "int32",
      "quantization": {"dtype": "uint16", "scale": 1.5, "min": -4}}, struct.pack("<2H", 1, 3)),
    ({"name": "flag", "shape": [], "dtype": "bool"}, b"\1"),
    ({"name": "words", "shape": [2], "dtype": "string"}, struct.pack("<I", 2) + "ä".encode() + struct.pack("<I", 0)),
    ({"name": "long", "shape": [2], "dtype": "int32"}, struct.pack("<2i", -5, 7)),
    ({"name": "z", "shape": [1], "dtype": "complex64"}, struct.pack("<2f", 1, -1)),
]  # fmt: skip


def model(**changes):
    manifest = [{"paths": ["group1-shard1of2.bin", "group1-shard2of2.bin"], "weights": [entry for entry, _ in WEIGHTS]}]
    return {"format": "graph-model", "generatedBy": "2.21.0", "signature": SIGNATURE,
            "modelTopology": TOPOLOGY, "weightsManifest": manifest, **changes}  # fmt: skip


def written(folder, contents=None):
    """Write a model with weights cut in the middle of a number."""
    folder.mkdir(exist_ok=True)
    data = b"".join(part for _, part in WEIGHTS)
    (folder / "group1-shard1of2.bin").write_bytes(data[:13])
    (folder / "group1-shard2of2.bin").write_bytes(data[13:])
    (folder / "model.json").write_text(json.dumps(model() if contents is None else contents))
    return folder


def test_weights_are_the_constants(tmp_path):
    graph = tfg.load(written(tmp_path / "m"))
    graph.check()
    assert {name: value.tolist() for name, value in graph.constants.items()} == {
        "w": [[-1.0, -0.5, 0.0], [0.5, 1.0, 126.5]], "b": [1.0, 2.0, 3.0], "half": [0.5, -2.0], "steps": [-2, 0], "flag": True,
        "words": ["ä".encode(), b""], "long": [-5, 7], "z": [1 - 1j],
    }  # fmt: skip
    assert str(graph["long"].output().dtype) == "int64"
    result = tfg.Session(graph).run("y:0", {"x:0": np.float32([[1, 2]])})
    assert result.tolist() == [[1.0, 3.5, 256.0]]  # 1*w[0] + 2*w[1] + b


def test_commands_take_the_folder_and_the_file(tmp_path):
    folder = written(tmp_path / "m")
    for path in (folder, folder / "model.json"):
        shown = run("run", path, "--feed", "points=[[1, 2]]", "--format", "json").json
        assert shown["steps"][0]["values"][0]["value"] == [[1.0, 3.5, 256.0]]
    assert run("convert", folder, tmp_path / "g.pb").code == 0
    assert tfg.load(tmp_path / "g.pb").constants["b"].tolist() == [1.0, 2.0, 3.0]
    assert run("convert", folder, f"{tmp_path}/saved/").code == 0
    assert list(tfg.load(f"{tmp_path}/saved").meta.signatures["serving_default"].inputs) == ["points"]
    assert run("checkpoint", folder).code == 0


def test_the_signature_of_older_converters(tmp_path):
    contents = model(userDefinedMetadata={"signature": SIGNATURE})
    del contents["signature"], contents["format"]
    assert list(tfg.load(written(tmp_path / "m", contents)).meta.signatures["serving_default"].outputs) == ["scores"]


def test_weights_inside_functions(tmp_path):
    body = {"signature": {"name": "f", "outputArg": [{"name": "r", "type": "DT_FLOAT"}]}, "ret": {"r": "inner:output:0"},
            "nodeDef": [const("inner", "DT_FLOAT")]}  # fmt: skip
    call = {"name": "y", "op": "PartitionedCall", "attr": {
        "f": {"func": {"name": "f"}}, "Tin": {"list": {}}, "Tout": {"list": {"type": ["DT_FLOAT"]}}}}  # fmt: skip
    manifest = [{"paths": ["w.bin"], "weights": [{"name": "inner", "shape": [], "dtype": "float32"}]}]
    topology = {"node": [call], "library": {"function": [body]}}
    folder = written(tmp_path / "m", {"modelTopology": topology, "weightsManifest": manifest})
    (folder / "w.bin").write_bytes(struct.pack("<f", 2.5))
    assert tfg.Session(tfg.load(folder)).run("y:0") == 2.5


RECORDED = pathlib.Path(__file__).parent / "recorded" / "tfjs"
SAMPLE = pathlib.Path(tfg.__file__).parent / "sample_graphs" / "iris_tfjs"


@pytest.mark.parametrize(
    ("folder", "tolerance"),
    [(RECORDED / "float32", 1e-6), (RECORDED / "uint16", 1e-3), (RECORDED / "float16", 1e-2), (SAMPLE, 0.1)],
    ids=lambda value: getattr(value, "name", None),
)  # fmt: skip
def test_models_of_the_converter(folder, tolerance):
    """tensorflowjs_converter 4.22 wrote the models: shards that cut weights, each encoding, and a table of names.

    The weights' encoding bounds the error of the probabilities; the names come out of the table that the initializer fills.
    """
    expected = json.loads((RECORDED / "expected.json").read_text())
    shown = run("run", folder, "--feed", f"measurements={expected['measurements']}", "--format", "json").json
    values = {value["name"]: value["value"] for value in shown["steps"][0]["values"]}
    assert values["classes"] == expected["classes"] and len(set(expected["classes"])) > 1
    np.testing.assert_allclose(values["probabilities"], expected["probabilities"], atol=tolerance)
    assert list(tfg.load(folder).meta.signatures["serving_default"].inputs) == ["measurements"]


def test_a_layers_model_of_the_converter():
    with pytest.raises(InvalidArgumentError, match="a layers model"):
        tfg.load(RECORDED / "layers")


def test_the_tables_of_a_model_go_into_a_saved_model(tmp_path):
    assert run("convert", SAMPLE, f"{tmp_path}/saved/").code == 0
    shown = run("run", tmp_path / "saved", "--feed", "measurements=[[5.1, 3.5, 1.4, 0.2]]", "--format", "json").json
    expected = json.loads((RECORDED / "expected.json").read_text())["classes"][:1]
    assert [value["value"] for value in shown["steps"][0]["values"] if value["name"] == "classes"] == [expected]


def manifest_with(**changes):
    entry = {**WEIGHTS[0][0], **changes}
    return [{"paths": ["group1-shard1of2.bin", "group1-shard2of2.bin"], "weights": [entry, *(e for e, _ in WEIGHTS[1:])]}]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"modelTopology": {"class_name": "Model"}}, InvalidArgumentError, "a layers model"),
        ({"format": "layers-model"}, InvalidArgumentError, "a layers model"),
        ({"modelTopology": {"node": [{"op": 3}]}}, DataLossError, "not a valid model.json"),
        ({"modelTopology": {"node": [{"\ud800": 3}]}}, DataLossError, "not a valid model.json"),
        ({"weightsManifest": [{"paths": ["nothing.bin"], "weights": []}]}, NotFoundError, "nothing.bin"),
        ({"weightsManifest": [{"paths": ["../secret.bin"], "weights": []}]}, PermissionDeniedError, "secret.bin"),
        ({"weightsManifest": [{"paths": ["/etc/passwd"], "weights": []}]}, PermissionDeniedError, "passwd"),
        ({"weightsManifest": manifest_with(shape=[2, 4])}, DataLossError, "not a valid model.json"),
        ({"weightsManifest": manifest_with(shape=[1 << 40, 1 << 40])}, DataLossError, "ends at byte"),
        ({"weightsManifest": manifest_with(shape=[-1])}, DataLossError, "has the shape"),
        ({"weightsManifest": manifest_with(dtype="string", shape=[1 << 60])}, DataLossError, "strings in"),
        ({"weightsManifest": manifest_with(dtype="float128", quantization=None)}, DataLossError, "float128"),
        ({"weightsManifest": manifest_with(quantization={"dtype": "uint8"})}, DataLossError, "scale"),
        *(
            (
                {"weightsManifest": manifest_with(quantization={"dtype": "uint8", "scale": scale, "min": 0})},
                DataLossError,
                "scale",
            )
            for scale in (10**400, 1e39, float("inf"), float("nan"), [[1.0], [2.0]], "1", None)
        ),
        *(
            (
                {"modelTopology": {"node": [{"name": "w", "op": "Const", "attr": {"a": value}}]}},
                DataLossError,
                "not a valid model.json",
            )
            for value in ({"type": math.inf}, {"i": math.inf}, {"tensor": {"dtype": math.inf}}, {"list": {"i": [math.inf]}})
        ),
        ({"weightsManifest": 3}, DataLossError, "not a valid model.json"),
        ({"signature": {"inputs": 3}}, DataLossError, "not a valid model.json"),
    ],
)
def test_models_that_lie_are_refused(tmp_path, changes, error, message):
    (tmp_path / "secret.bin").write_bytes(b"")
    with pytest.raises(error, match=message):
        tfg.load(written(tmp_path / "m", model(**changes)))


@pytest.mark.parametrize("path", ["group1-shard1of2.bin", "./group1-shard1of2.bin", "../m/group1-shard1of2.bin"])
def test_a_file_of_weights_is_read_once(tmp_path, path):
    """A manifest of a few bytes for each name of a large file would take memory without a bound."""
    manifest = [{"paths": ["group1-shard1of2.bin", path], "weights": []}]
    with pytest.raises(DataLossError, match="twice"):
        tfg.load(written(tmp_path / "m", model(weightsManifest=manifest)))


@pytest.mark.parametrize("place", ["graph", "functions"])
def test_repeated_names_do_not_repeat_a_large_weight(tmp_path, place):
    nodes = [const("w", "DT_FLOAT", 1)] * 100
    functions = [{"signature": {"name": f"f_{i}"}, "nodeDef": [node]} for i, node in enumerate(nodes)]
    manifest = [{"paths": ["w.bin"], "weights": [{"name": "w", "shape": [1 << 18], "dtype": "float32"}]}]
    topology = {"node": nodes if place == "graph" else [], "library": {"function": functions if place == "functions" else []}}
    (tmp_path / "w.bin").write_bytes(bytes(1 << 20))
    (tmp_path / "model.json").write_text(json.dumps({"modelTopology": topology, "weightsManifest": manifest}))
    with pytest.raises(DataLossError, match="too many constants"):
        tfg.load(tmp_path)


@pytest.mark.parametrize("topology", ["", "[", "1}", "[" * 100_000])
def test_json_that_is_cut_or_deep_is_refused(topology):
    with pytest.raises(TfgError, match=r"model\.json"):
        tfg.load(f'{{"modelTopology": {topology}'.encode())


def test_weights_need_the_folder():
    with pytest.raises(NotFoundError, match=r"next to model\.json"):
        tfg.load(json.dumps(model()).encode())


FUSED_ATTRS = {
    "T": {"type": "DT_FLOAT"}, "strides": {"list": {"i": ["1", "1", "1", "1"]}},
    "padding": {"s": base64.b64encode(b"SAME").decode()}, "explicit_paddings": {"list": {}},
    "dilations": {"list": {"i": ["1", "1", "1", "1"]}}, "leakyrelu_alpha": {"f": 0.5},
}  # fmt: skip
IMAGE, FILTER = np.float32([[[[1], [-2]], [[-3], [4]]]]), 2.0
BIAS, SLOPE = 1.0, 0.25


def fused_model(folder, op, parts, arguments, shape=(1, 1, 1, 1)):
    """A model of one fused node, whose product is the image times 2."""
    weights = {"w": np.full(shape, FILTER, np.float32), **arguments}
    attrs = {**FUSED_ATTRS, "num_args": {"i": str(len(arguments))}}
    attrs["fused_ops"] = {"list": {"s": [base64.b64encode(part.encode()).decode() for part in parts]}}
    nodes = [
        {"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": 1}, "shape": {"shape": {"unknownRank": True}}}},
        *(const(name, "DT_FLOAT", *value.shape) for name, value in weights.items()),
        {"name": "y", "op": op, "input": ["x", *weights, "^x"], "attr": attrs},
    ]
    entries = [{"name": name, "shape": list(value.shape), "dtype": "float32"} for name, value in weights.items()]
    manifest = [{"paths": ["w.bin"], "weights": entries}]
    model = {"modelTopology": {"node": nodes, "versions": {"producer": 440}}, "weightsManifest": manifest}
    (folder / "model.json").write_text(json.dumps(model))
    (folder / "w.bin").write_bytes(b"".join(value.tobytes() for value in weights.values()))
    return folder


def prelu(x):
    return np.where(x > 0, x, SLOPE * x)


BIASED = {"b": np.float32([BIAS])}
SLOPED = {"a": np.float32([[[SLOPE]]])}
PRODUCT = FILTER * IMAGE


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("parts", "arguments", "expected"),
    [
        (["BiasAdd"], BIASED, PRODUCT + BIAS),
        (["BiasAdd", "Relu"], BIASED, np.maximum(PRODUCT + BIAS, 0)),
        (["BiasAdd", "Prelu"], BIASED | SLOPED, prelu(PRODUCT + BIAS)),
        (["NoOp", "Prelu"], SLOPED, prelu(PRODUCT)),
        (["Prelu"], SLOPED, prelu(PRODUCT)),
        (["NoOp", "Relu6"], {}, np.clip(PRODUCT, 0, 6)),
        (["NoOp", "LeakyRelu"], {}, np.where(PRODUCT > 0, PRODUCT, 0.5 * PRODUCT)),
        ([], {}, PRODUCT),
    ],
)
@pytest.mark.parametrize("op", ["_FusedConv2D", "FusedDepthwiseConv2dNative", "_FusedDepthwiseConv2dNative"])
def test_a_fused_convolution_computes_its_parts(tmp_path, op, parts, arguments, expected):
    folder = fused_model(tmp_path, op, parts, arguments)
    y = tfg.Session(tfg.load(folder)).run("y:0", {"x:0": IMAGE})
    np.testing.assert_allclose(y, expected, rtol=1e-6)
    assert run("check", folder).code == 0


def test_a_fused_product_of_matrices_computes_its_parts(tmp_path):
    folder = fused_model(tmp_path, "_FusedMatMul", ["BiasAdd", "Prelu"], BIASED | {"a": np.float32([SLOPE])}, (1, 1))
    x = IMAGE.reshape(4, 1)
    np.testing.assert_allclose(tfg.Session(tfg.load(folder)).run("y:0", {"x:0": x}), prelu(FILTER * x + BIAS), rtol=1e-6)


def test_prelu_alone(tmp_path):
    folder = fused_model(tmp_path, "_FusedConv2D", ["BiasAdd"], BIASED | SLOPED)
    model = json.loads((folder / "model.json").read_text())
    *nodes, fused = model["modelTopology"]["node"]
    fused["input"], fused["attr"]["num_args"] = ["x", "w", "b"], {"i": "1"}
    nodes += [fused, {"name": "p", "op": "Prelu", "input": ["y", "a"]}]
    model["modelTopology"]["node"] = nodes
    (folder / "model.json").write_text(json.dumps(model))
    graph = tfg.load(folder)
    assert "Prelu" not in {node.op for node in graph}
    np.testing.assert_allclose(tfg.Session(graph).run("p:0", {"x:0": IMAGE}), prelu(PRODUCT + BIAS), rtol=1e-6)


def test_strings_as_lists_of_character_codes(tmp_path):
    folder = fused_model(tmp_path, "_FusedConv2D", ["BiasAdd", "Relu"], BIASED)
    model = json.loads((folder / "model.json").read_text())
    attrs = model["modelTopology"]["node"][-1]["attr"]
    attrs["padding"], attrs["fused_ops"] = {"s": list(b"SAME")}, {"list": {"s": [list(b"BiasAdd"), list(b"Relu")]}}
    (folder / "model.json").write_text(json.dumps(model))
    y = tfg.Session(tfg.load(folder)).run("y:0", {"x:0": IMAGE})
    np.testing.assert_allclose(y, np.maximum(PRODUCT + BIAS, 0), rtol=1e-6)
    attrs["padding"] = {"s": [300]}
    (folder / "model.json").write_text(json.dumps(model))
    with pytest.raises(DataLossError, match=r"not a valid model\.json"):
        tfg.load(folder)


@pytest.mark.parametrize("pointer", [None, b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 8\n"])
def test_a_model_without_its_weights_is_read_as_far_as_it_goes(tmp_path, pointer):
    folder = fused_model(tmp_path, "_FusedConv2D", ["BiasAdd"], BIASED)
    (folder / "w.bin").unlink()
    if pointer is not None:
        (folder / "w.bin").write_bytes(pointer)
    for command in (["explain"], ["dump"], ["draw"], ["flops"], ["diff", folder]):
        done = run(command[0], folder, *command[1:])
        assert done.code == 0, done.err
    problems = run("check", folder, "--format", "json").json["graphs"][0]["problems"]
    assert [problem["kind"] for problem in problems] == ["file"]
    assert "w.bin" in problems[0]["message"]
    with pytest.raises(NotFoundError, match=r"w\.bin") as error:
        tfg.Session(tfg.load(folder)).run("y:0", {"x:0": IMAGE})
    assert error.value.details == ("`tfg.layers`, `tfg.draw` and `tfg.check` need no values",)


WRITTEN = ("iris_tfjs", "keras_classifier", "collatz.pbtxt")
"""Samples with a table and strings, with dense layers, and with a loop of TensorFlow 1."""
FEEDS = {
    "keras_classifier": {"measurements": np.float32([[5.1, 3.5, 1.4, 0.2], [6.3, 3.3, 6.0, 2.5]])},
    "iris_tfjs": {"measurements": np.float32([[5.1, 3.5, 1.4, 0.2], [6.3, 3.3, 6.0, 2.5]])},
    "collatz.pbtxt": {"n": np.int32(7)},
    "lists": {"x": np.float32([[0.25, 1, 2], [1, 2, 3], [0.5, -1, 0]])},
}


@pytest.mark.parametrize("name", [WRITTEN[0], *(pytest.param(name, marks=pytest.mark.slow) for name in WRITTEN[1:])])
def test_a_written_model_computes_what_the_graph_computes(name, tmp_path):
    target = tmp_path / "web" / "model.json"
    done = run("convert", SAMPLE.parent / name, target, "--verify")
    assert done.code == 0, done.err + done.out
    assert f"of weights to {target}" in done.err
    model = json.loads(target.read_text())
    assert model["format"] == "graph-model" and set(model["weightsManifest"][0]["paths"]) == {"model-shard1of1.bin"}
    assert bool(model.get("modelInitializer")) == (name == "iris_tfjs")
    stated = [node for node in model["modelTopology"]["node"] if node["op"] == "MatMul"]
    assert all("transpose_a" in node["attr"] for node in stated), "TensorFlow.js knows no defaults"


def test_the_graph_of_a_meta_file_is_written(tmp_path):
    g = tfg.GraphBuilder()
    g.Relu(g.Placeholder(dtype="float32", shape=[None], name="x"), name="y")
    tfg.save(g.graph, tmp_path / "g.meta")
    tfg.convert(tfg.load(tmp_path / "g.meta"), tmp_path / "model.json", "y:0")
    assert tfg.Session(tfg.load(tmp_path / "model.json")).run("y:0", {"x:0": np.float32([-1, 2])}).tolist() == [0, 2]


def weights_graph(**values):
    """A graph that returns constants by name, a float added to each float."""
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[], name="x")
    for name, value in values.items():
        constant = g.constant(value, name=name)
        is_number = np.asarray(value).dtype.kind == "f"
        g.Identity(g.AddV2(g.Cast(constant, DstT="float32"), x) if is_number else constant, name=f"{name}_out")
    return g.graph


NUMBERS = np.linspace(-1.5, 3.25, 1000).astype(np.float32).reshape(10, 100)


@pytest.mark.parametrize(
    ("weight_type", "error"), [("uint8", 4.75 / 255), ("uint16", 4.75 / 65535), ("float16", 2e-3), (None, 0)]
)
def test_the_error_of_stored_weights_is_bounded_and_0_stays_0(weight_type, error, tmp_path):
    constants = {
        "w": NUMBERS, "zeros": np.zeros(3, np.float32), "one": np.float32(0.3), "above": np.float32([2, 3, 4]),
        "huge": np.float32([1e30, -1, 0]), "odd": np.float32([np.inf, np.nan, 0]), "n": np.int32([5, -6]),
        "none": np.zeros((0, 2), np.float32),
    }  # fmt: skip
    graph = weights_graph(**constants)
    export = tfg.convert(graph, tmp_path / "m.json", [f"{name}_out" for name in constants], weight_type=weight_type)
    (group,) = json.loads((tmp_path / "m.json").read_text())["weightsManifest"]
    stored = tfg.load(tmp_path / "m.json").constants
    assert {entry["name"] for entry in group["weights"]} == set(stored)
    session = tfg.Session(tfg.load(tmp_path / "m.json"))
    values = {name: session.run(f"{name}_out:0", {"x:0": np.float32(0)}) for name in constants}
    assert np.abs(values["w"] - NUMBERS).max() <= error / 2 + 1e-6
    assert not values["zeros"].any() and values["one"] == pytest.approx(0.3, abs=2e-4) and values["n"].tolist() == [5, -6]
    np.testing.assert_array_equal(values["odd"], constants["odd"])
    if weight_type == "float16":
        np.testing.assert_array_equal(values["huge"], constants["huge"])
    assert export.weights == sum(path.stat().st_size for path in tmp_path.glob("m-shard*.bin"))


def test_weights_are_cut_into_files(tmp_path, monkeypatch):
    monkeypatch.setattr("tfg.formats.tfjs.SHARD_BYTES", 1001)
    words = np.array([b"a", "ä".encode(), b""], object)
    graph = weights_graph(
        w=NUMBERS, words=words, flag=np.array([True, False]), z=np.complex64([1 - 2j]), half=np.float16([0.5])
    )
    tfg.convert(graph, tmp_path / "m.json", [f"{name}_out" for name in ("w", "words", "flag", "z", "half")])
    files = sorted(path.name for path in tmp_path.glob("m-shard*.bin"))
    assert files == [f"m-shard{number}of5.bin" for number in range(1, 6)]
    session = tfg.Session(tfg.load(tmp_path / "m.json"))
    outputs = session.run(["w_out:0", "words_out:0", "flag_out:0", "z_out:0"], {"x:0": np.float32(0)})
    np.testing.assert_array_equal(outputs[0], NUMBERS)
    assert [value.tolist() for value in outputs[1:]] == [words.tolist(), [True, False], [1 - 2j]]


def test_files_of_an_earlier_longer_model_are_removed(tmp_path, monkeypatch):
    """Only files that the earlier model.json names, beside it: another model and other files stay."""
    folder = tmp_path / "web"
    monkeypatch.setattr("tfg.formats.tfjs.SHARD_BYTES", 1001)
    for stem in ("m", "other"):
        tfg.convert(weights_graph(w=NUMBERS), folder / f"{stem}.json", "w_out")
    kept = {path.name for path in folder.glob("other*")} | {"m-shard1of99.bin"}
    (folder / "m-shard1of99.bin").write_bytes(b"")
    outside = tmp_path / "outside.bin"
    outside.write_bytes(b"")
    earlier = json.loads((folder / "m.json").read_text())
    earlier["weightsManifest"][0]["paths"] += ["../outside.bin", str(outside), "", ".", "gone.bin"]
    (folder / "m.json").write_text(json.dumps(earlier))
    monkeypatch.undo()
    tfg.convert(weights_graph(w=NUMBERS), folder / "m.json", "w_out")
    assert {path.name for path in folder.iterdir()} == kept | {"m.json", "m-shard1of1.bin"}
    assert outside.exists()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"weightsManifest": [{"paths": [1]}]}', '{"weightsManifest": 3}'])
def test_a_file_that_is_no_model_is_replaced(tmp_path, text):
    (tmp_path / "m.json").write_text(text)
    tfg.convert(weights_graph(w=NUMBERS), tmp_path / "m.json", "w_out")
    assert {path.name for path in tmp_path.iterdir()} == {"m.json", "m-shard1of1.bin"}


def test_what_tensorflow_js_cannot_say_is_listed(tmp_path):
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[2, 2], name="x")
    g.Identity(g.MatrixInverse(g.Cholesky(x, name="c"), name="i"), name="y")
    tfg.save(g.graph, tmp_path / "g.pb")
    done = run("convert", tmp_path / "g.pb", tmp_path / "m.json", "--to", "y")
    assert done.code == 1 and "no 2 ops of this graph: Cholesky ('c'); MatrixInverse ('i')" in done.err
    assert not list(tmp_path.glob("m*"))
    with pytest.raises(tfg.errors.UnimplementedError, match="'big_out' needs more"):
        tfg.convert(weights_graph(big=np.int64([1 << 40])), tmp_path / "m.json", "big_out")
    with pytest.raises(InvalidArgumentError, match="int4"):
        tfg.convert(weights_graph(w=NUMBERS), tmp_path / "m.json", "w_out", weight_type="int4")
    with pytest.raises(InvalidArgumentError, match=r"does not end in \.json"):
        tfg.convert(weights_graph(w=NUMBERS), tmp_path / "m.pb", "w_out", weight_type="uint8")


def test_arguments_of_functions_and_ops_under_other_names_are_known():
    graph = tfg.load(SAMPLE.parent / "scaler_saved_model")
    assert graph.functions and not {"_Arg", "_Retval"} & set(unknown_ops(graph))
    g = tfg.GraphBuilder()
    g.Neg(g.graph.add_node("x", "_Arg", (), (), {"T": float32, "index": 0}).output(), name="y")
    assert unknown_ops(g.graph) == {"_Arg": ["x"]}  # no call gives it a value
    assert "_FusedDepthwiseConv2dNative" not in known_ops() and spelled("_FusedDepthwiseConv2dNative") in known_ops()


def test_checks_which_tensorflow_js_lacks_are_left_out(tmp_path):
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[None], name="x")
    check = g.Assert(g.All(g.Greater(x, np.float32(0)), np.int32([0])), [x], name="check")
    with g.control_dependencies([check]):
        g.Identity(g.CheckNumerics(g.Sqrt(x), message="m"), name="y")
    tfg.convert(g.graph, tmp_path / "m.json", "y:0")
    assert not {"Assert", "CheckNumerics"} & {node.op for node in tfg.load(tmp_path / "m.json")}


def test_constants_of_functions_have_names_of_their_own(tmp_path):
    """Two branches have a constant of one name, and the model one list of weights."""
    functions = [
        {"signature": {"name": name, "outputArg": [{"name": "r", "type": "DT_FLOAT"}]}, "ret": {"r": "value:output:0"},
         "nodeDef": [const("value", "DT_FLOAT")]}
        for name in ("yes", "no")
    ]  # fmt: skip
    branches = {f"{part}_branch": {"func": {"name": name}} for part, name in (("then", "yes"), ("else", "no"))}
    types = {"Tcond": {"type": "DT_BOOL"}, "Tin": {"list": {}}, "Tout": {"list": {"type": ["DT_FLOAT"]}}}
    nodes = [
        {"name": "p", "op": "Placeholder", "attr": {"dtype": {"type": "DT_BOOL"}, "shape": {"shape": {}}}},
        {"name": "y", "op": "StatelessIf", "input": ["p"], "attr": branches | types},
    ]
    manifest = [{"paths": ["w.bin"], "weights": [{"name": "value", "shape": [], "dtype": "float32"}]}]
    folder = written(
        tmp_path / "m", {"modelTopology": {"node": nodes, "library": {"function": functions}}, "weightsManifest": manifest}
    )
    (folder / "w.bin").write_bytes(struct.pack("<f", 2.5))
    graph = tfg.load(folder)
    graph.functions["no"].body["value"].set_attr("value", tfg.Tensor.from_numpy(np.float32(3.5)))
    tfg.convert(graph, tmp_path / "n.json", "y:0")
    session = tfg.Session(tfg.load(tmp_path / "n.json"))
    assert [session.run("y:0", {"p:0": np.bool_(flag)}).tolist() for flag in (True, False)] == [2.5, 3.5]


def lists_graph():
    """A loop that puts an element into a list in each branch of a conditional: 2 x or -x for each row x of the input."""
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[None, 3], name="x")
    size = g.StridedSlice(g.Shape(x), [0], [1], [1], shrink_axis_mask=1)
    rows = g.TensorListReserve(np.int32([3]), size, element_dtype="float32")

    def negative(b, row, i, rows):
        both = b.Unpack(b.Pack([row, b.Neg(row)]), num=2)
        return [b.TensorListSetItem(rows, i, both[1], element_dtype="float32")]

    define(
        g, "double", ["float32", "int32", "variant"],
        lambda b, row, i, rows: [b.TensorListSetItem(rows, i, b.AddV2(row, row), element_dtype="float32")],
    )  # fmt: skip
    define(g, "negative", ["float32", "int32", "variant"], negative)

    def body(b, i, n, rows, x):
        row = b.GatherV2(x, i, 0)
        first = b.StridedSlice(row, [0], [1], [1], shrink_axis_mask=1)
        branches = {"then_branch": "double", "else_branch": "negative"}
        (rows,) = b.StatelessIf(b.Greater(first, np.float32(0.5)), [row, i, rows], Tout=["variant"], **branches)
        return [b.AddV2(i, np.int32(1)), n, rows, x]

    types = ["int32", "int32", "variant", "float32"]
    define(g, "before", types, lambda b, i, n, *others: [b.Less(i, n)])
    define(g, "step", types, body)
    results = g.StatelessWhile([np.int32(0), size, rows, x], cond="before", body="step")
    g.TensorListStack(results[2], np.int32([3]), element_dtype="float32", name="y")
    return g.graph


def test_functions_return_the_elements_that_they_put_into_lists(tmp_path):
    """TensorFlow.js disposes of other elements, and takes one output for all results of a node."""
    done = tfg.convert(lists_graph(), tmp_path / "m.json", "y:0")
    assert done.verify()
    graph = tfg.load(tmp_path / "m.json")
    assert tfg.Session(graph).run("y:0", {"x:0": FEEDS["lists"]["x"]}).tolist() == [[-0.25, -1, -2], [2, 4, 6], [-0.5, 1, 0]]
    writers = [(f, node) for f in graph.functions.values() for node in f.body if node.op == "TensorListSetItem"]
    assert len(writers) == 2
    assert all(node.inputs[2] in function.results for function, node in writers)
    for function in graph.functions.values():
        nodes = [value.node for value in dict.fromkeys(function.results)]
        assert len(nodes) == len(set(nodes))


def test_a_function_without_lists_may_call_itself(tmp_path):
    g = tfg.GraphBuilder()
    define(g, "same", ["float32"], lambda inner, x: [inner.Identity(x)])

    def lower(inner, x):
        again = inner.Greater(x, np.float32(1))
        return inner.If(again, [inner.Sub(x, np.float32(1))], Tout=["float32"], then_branch="lower", else_branch="same")

    define(g, "lower", ["float32"], lower)
    x = g.Placeholder(dtype="float32", shape=[], name="x")
    g.If(g.Greater(x, np.float32(1)), [x], Tout=["float32"], then_branch="lower", else_branch="same", name="y")
    tfg.convert(g.graph, tmp_path / "m.json", "y:0")
    assert tfg.Session(tfg.load(tmp_path / "m.json")).run("y:0", {"x:0": np.float32(3.5)}) == -0.5


def test_a_function_that_calls_itself_and_puts_elements_into_lists_is_named(tmp_path):
    """The elements of inner calls can be no results of the outer call: a run decides how many there are."""
    g = tfg.GraphBuilder()

    def fill(inner, i, rows):
        rows = inner.TensorListSetItem(rows, i, inner.Cast(i, DstT="float32"), element_dtype="float32")
        branches = {"then_branch": "fill", "else_branch": "same"}
        return inner.StatelessIf(inner.Greater(i, 0), [inner.Sub(i, 1), rows], Tout=["variant"], name="again", **branches)

    define(g, "same", ["int32", "variant"], lambda inner, i, rows: [inner.Identity(rows)])
    define(g, "fill", ["int32", "variant"], fill)
    i = g.Placeholder(dtype="int32", shape=[], name="i")
    rows = g.TensorListReserve(np.int32([]), g.AddV2(i, 1), element_dtype="float32")
    (filled,) = g.PartitionedCall([i, rows], Tout=["variant"], f="fill")
    g.TensorListStack(filled, np.int32([]), element_dtype="float32", name="y")
    assert tfg.Session(g.graph).run("y:0", {"i:0": np.int32(2)}).tolist() == [0, 1, 2]
    with pytest.raises(tfg.errors.UnimplementedError, match="function 'fill' calls itself and puts") as raised:
        tfg.convert(g.graph, tmp_path / "m.json", "y:0")
    assert raised.value.node == "again"


@pytest.mark.slow
@pytest.mark.parametrize("weight_type", [None, "uint16", "float16"])
@pytest.mark.parametrize("name", [*WRITTEN, "lists"])
def test_tensorflow_js_itself_reads_what_is_written(name, weight_type, tmp_path):
    """The packages @tensorflow/tfjs-core, -converter and -backend-cpu of npm, which Node finds by NODE_PATH."""
    node = shutil.which("node")
    if node is None or subprocess.run([node, "-e", "require('@tensorflow/tfjs-converter')"], capture_output=True).returncode:
        pytest.skip("no packages of npm: @tensorflow/tfjs-core, -converter and -backend-cpu")
    source, outputs = (lists_graph(), "y:0") if name == "lists" else (SAMPLE.parent / name, ())
    tfg.convert(source, tmp_path / "model.json", outputs, weight_type=weight_type)
    feeds = {
        word: {"shape": value.shape, "dtype": value.dtype.name, "values": value.ravel().tolist()}
        for word, value in FEEDS[name].items()
    }
    script = pathlib.Path(__file__).with_name("run_tfjs.cjs")
    done = subprocess.run([node, script, tmp_path / "model.json", json.dumps(feeds)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout.splitlines()[-1])
    model = tfg.Model(tmp_path / "model.json")
    for word, expected in model(**FEEDS[name]).items():
        values = np.array(results[word]["values"]).reshape(results[word]["shape"])
        if values.dtype.kind == "U":
            assert values.tolist() == [text.decode() for text in expected.tolist()]
        else:
            np.testing.assert_allclose(values, expected, rtol=1e-5, atol=1e-6)
