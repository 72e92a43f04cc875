"""One view, one number: models of each kind have TensorFlow's numbers in every command, in Python and on the page.

`models.tar.xz` was recorded by `tests.core.explaining.record_models`.
"""

from __future__ import annotations

import json
import lzma
import pathlib
import shutil
import tarfile
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run
from tfg.core.explaining.model_view import model_view
from tfg.core.flops.views import layer_table, readable
from tfg.formats.api.viewing import make_page
from tfg.formats.protos.meta_graph_pb2 import SavedModel

ARCHIVE = pathlib.Path(__file__).with_name("models.tar.xz")
with lzma.open(ARCHIVE) as packed, tarfile.open(fileobj=packed) as files:
    NUMBERS: Mapping[str, Any] = json.load(files.extractfile("numbers.json"))
FILES = {"frozen": "graph.pb", "tf1_training": "model.ckpt.meta"}
"""The graphs of the folders that are no SavedModels."""
SAVED = sorted(NUMBERS.keys() - FILES.keys())
OPTIMIZED = sorted(NUMBERS.keys() - {"tf1_training"})
KERAS = sorted(name for name, numbers in NUMBERS.items() if "layers" in numbers)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    unpacked = tmp_path_factory.mktemp("models")
    with lzma.open(ARCHIVE) as packed, tarfile.open(fileobj=packed) as files:
        files.extractall(unpacked, filter="data")
    return unpacked


@pytest.fixture
def path(folder, name):
    return folder / name / FILES.get(name, "")


def formula(number: Mapping[str, Any], field: str = "flops") -> str:
    """A number of a JSON document, of which symbols are a formula."""
    return str(number[field] if number[f"{field}_formula"] is None else number[f"{field}_formula"])


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", NUMBERS)
def test_variables_are_counted_alike(name, path):
    wanted, graph = NUMBERS[name]["variables"], tfg.load(path)
    facts = run("explain", path, "--format", "json").json
    used = [variable["name"] for variable in facts["variables"] if variable["purpose"] != "unused"]
    assert len(used) == len(graph.variables) == wanted and set(used) == set(graph.variables)
    assert ("variable" in repr(graph)) == (wanted > 0) and (f" {wanted} variables" in repr(graph) or not wanted)
    trained = [variable for variable in facts["variables"] if variable["purpose"] == "trainable"]
    assert len(trained) == NUMBERS[name]["trainable_variables"]
    sheets = dict(make_page(model_view(graph), name, name).sheets[0].rows)
    assert sheets["variables"] == str(wanted)
    held = {holding["purpose"]: holding for holding in facts["holdings"]}
    if wanted:
        assert held["trainable"]["elements"] == NUMBERS[name]["trainable"]
        assert sum(held[purpose]["tensors"] for purpose in held.keys() - {"constants", "unused"}) == wanted


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", SAVED)
def test_sessions_hold_the_variables_of_the_model(name, path):
    graph, wanted = tfg.load(path), NUMBERS[name]["variables"]
    session, model = tfg.Session(graph), tfg.Model(path)
    assert len(session.variables) == len(model.variables) == wanted
    assert list(session.variables) == list(model.variables) and set(session.variables) == set(graph.variables)
    assert f"{wanted} of {wanted} variables initialized" in repr(session)
    table = session._repr_html_()
    assert table is not None and table.count("<tr>") == min(wanted, 12) + 1  # of many variables the first twelve


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", SAVED)
def test_the_view_holds_the_variables_of_the_signature(name, path):
    dumped = run("dump", "--model", path, "--format", "json")
    nodes = dumped.json["nodes"]
    handles = [node["name"] for node in nodes if node["op"] == "VarHandleOp"]
    unread = {"estimator": 1}.get(name, 0)  # the counter of steps
    assert len(handles) == NUMBERS[name]["variables"] - unread
    assert ("left out 1 variable that the signature does not read: " in dumped.err) == bool(unread)


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", NUMBERS)
def test_inputs_and_outputs_are_those_of_the_signature(name, path):
    facts = run("explain", path, "--format", "json").json
    assert {tensor["name"]: tensor["shape"] for tensor in facts["inputs"]} == NUMBERS[name]["inputs"]
    if "outputs" in NUMBERS[name]:
        assert {tensor["name"]: tensor["shape"] for tensor in facts["outputs"]} == NUMBERS[name]["outputs"]


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", NUMBERS)
def test_parameters_and_flops_are_counted_alike(name, path):
    report = run("layers", path, "--format", "json").json
    total = run("flops", path, "--format", "json").json["total"]
    assert report["parameters"] == total["parameters"] == NUMBERS[name]["parameters"]
    assert report["trainable"] == (NUMBERS[name]["trainable"] if NUMBERS[name]["variables"] else 0)
    assert formula(report) == formula(total)
    assert tfg.Model(path).layers == tfg.layers(path)


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", OPTIMIZED)
def test_the_page_and_optimize_count_the_usual_signature(name, path):
    graph = tfg.load(path)
    flops = tfg.flops(graph).total().flops
    book = make_page(model_view(graph), name, name)
    assert [note for note in book.notes if note.endswith(f": {readable(flops)}")] == [book.notes[0]]
    assert [page.kind for page in book.pages if page.kind != "function"] == ["signature" if name in SAVED else "graph"]
    (layers,) = [sheet for sheet in book.sheets if sheet.title == "layers"]
    columns, rows = layer_table(tfg.layers(path).layers)
    assert [dict(zip(layers.columns, row)) for row in layers.rows] == [dict(zip(columns, row)) for row in rows]
    first = run("optimize", path, "--costs", "--format", "json").json["report"]["passes"][0]
    assert formula(first["cost_before"]) == str(flops)


@pytest.mark.parametrize("name", ["keras3_export"])
def test_many_runs_are_of_the_usual_signature(path, tmp_path):
    np.save(tmp_path / "image.npy", np.ones((2, 8, 8, 3), np.float32))
    (result,) = tfg.run_each(path, str(tmp_path / "image.npy"))
    (value,) = result.values.values()
    np.testing.assert_array_equal(value, tfg.Model(path)(np.ones((2, 8, 8, 3), np.float32))["output_0"])


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", SAVED)
def test_freezing_changes_no_number(name, path, tmp_path):
    frozen = tmp_path / "frozen.pb"
    assert run("convert", path, frozen, "--freeze").code == 0
    before, after = (run("layers", each, "--format", "json").json for each in (path, frozen))
    for report in (before, after):
        for layer in report["layers"]:
            for field in ("trainable", "trainable_formula", "nodes", "bytes", "bytes_formula", "kind", "ops"):
                layer.pop(field)  # a frozen graph has no trainable variables, and gathers from a constant
    assert after["layers"] == before["layers"]
    assert [after[field] for field in ("parameters", "flops_formula")] == [before[f] for f in ("parameters", "flops_formula")]
    memory = [run("explain", each, "--format", "json").json["peak_memory"]["bytes"] for each in (path, frozen)]
    # In a frozen graph a mask may come before the layer that has it, and lives longer.
    assert memory[0] == memory[1] > 0 or (name.endswith("attention") and min(memory) > 0)
    assert len(tfg.freeze(tfg.load(path))) == len(tfg.load(frozen))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", KERAS)
def test_layers_are_those_of_kerass_summary(name, path):
    layers = run("layers", path, "--format", "json").json["layers"]
    wanted = NUMBERS[name]
    names = [layer["name"] for layer in layers]
    assert [part.rpartition("/")[2] for part in names] == [layer for layer, _, _ in wanted["layers"]]
    assert name == "frozen" or all("/" not in part for part in names)
    assert [layer["parameters"] for layer in layers] == [count for _, _, count in wanted["layers"]]
    assert [layer["shape"] for layer in layers] == wanted["shapes"]
    kinds = [kind for _, kind, _ in wanted["layers"]] if name.startswith("keras2") else [None] * len(layers)
    assert [layer["kind"] for layer in layers] == kinds


@pytest.mark.parametrize(
    "name, layers",
    [
        ("module", ["perceptron/hidden", "perceptron/logits", "perceptron"]),
        ("module_plain", ["w1", "b1", "Relu", "w2", "Softmax"]),
        ("estimator", ["ParseExample", "dnn/hiddenlayer_0", "dnn/logits", "head"]),
        ("tf1_slim", ["net/conv1", "net/pool1", "net/flatten", "net/logits", "predictions"]),
        ("tf1_training", ["conv", "pool", "flatten", "logits", "sparse_softmax_cross_entropy_loss"]),
    ],
)
def test_layers_without_keras(name, layers, path):
    assert [layer.name for layer in tfg.layers(path).layers] == layers


def test_layers_of_a_tensorflow_js_model():
    """The converter leaves weights below their readers, which have no scope."""
    report = tfg.layers(SAMPLES / "iris_tfjs")
    assert {layer.name: layer.parameters for layer in report.layers if layer.parameters} == {"matmul": 24 + 6, "matmul_1": 18}
    assert tfg.Model(SAMPLES / "iris_tfjs").layers == report


@pytest.mark.slow
@pytest.mark.parametrize("name", ["keras2"])
def test_a_measured_run_gives_times(name, path):
    feed = ("--measured", "--feed", "image=ones(2,8,8,3)")
    report = run("layers", path, *feed, "--sort", "seconds", "--format", "json").json
    seconds = [layer["seconds"] for layer in report["layers"]]
    assert all(time > 0 for time in seconds) and seconds == sorted(seconds, reverse=True)
    assert sum(seconds) <= report["seconds"] and report["layers"][0]["shape"][0] == 2
    header = run("layers", path, *feed).out.splitlines()[0].split()
    assert header[0] == "layer" and header[-1] == "ms" and "kind" in header
    assert run("layers", path, "--sort", "seconds").code == 2


@pytest.mark.parametrize("name", ["keras2"])
def test_metadata_of_keras_that_is_no_json_is_an_error(name, path, tmp_path):
    copy = tmp_path / "model"
    copy.mkdir()
    (copy / "saved_model.pb").write_bytes((path / "saved_model.pb").read_bytes())
    (copy / "keras_metadata.pb").write_bytes(b"\x0a\x03\x2a\x01{")
    with pytest.raises(tfg.errors.DataLossError, match="Keras layer is not JSON"):
        tfg.layers(copy)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["keras3_export"])
def test_a_copy_of_a_weight_says_which_the_model_reads(path):
    checkpoint, graph = tfg.read_checkpoint(path), tfg.load(path)
    assert (
        set(checkpoint.copies.values()) == set(graph.variables)
        and len(checkpoint.copies) == NUMBERS["keras3_export"]["variables"]
    )
    for copy, read in checkpoint.copies.items():
        np.testing.assert_array_equal(checkpoint[copy], checkpoint[read])
    listed = run("checkpoint", path)
    copy, read = next(iter(checkpoint.copies.items()))
    assert f"the signatures do not read {len(checkpoint.copies)} tensors: " in listed.err and f"(but {read})" in listed.err
    handle = "classes/bias"
    assert handle in graph and f"{handle}_1" in graph.variables
    rows = run("grad", path, "--y", "output_0", "--x", handle, "--x", copy, "--x", f"{handle}_1").out.splitlines()[2:]
    assert [row.partition("none: ")[2] for row in rows] == [
        f"no y depends on it; the model reads {handle}_1", f"no y depends on it; the model reads {read}", "",
    ]  # fmt: skip


@pytest.fixture
def unsigned(folder, tmp_path):
    """A model without signatures."""
    path = shutil.copytree(folder / "module", tmp_path / "unsigned")
    model = SavedModel.FromString((path / "saved_model.pb").read_bytes())
    model.meta_graphs[0].signature_def.clear()
    (path / "saved_model.pb").write_bytes(model.SerializeToString())
    return path


@pytest.mark.slow
def test_a_model_without_signatures_is_what_python_calls(unsigned, tmp_path):
    graph, model = tfg.load(unsigned), tfg.Model(unsigned)
    facts = tfg.explain(graph)
    assert [one.name for one in facts.inputs] == list(model.inputs) and str(facts.inputs[0].shape) == str(
        model.inputs["x"].shape
    )
    assert [one.name for one in facts.outputs] == list(model.outputs)
    x = np.ones([size if isinstance(size, int) else 2 for size in model.inputs["x"].shape.dims], np.float32)
    (expected,) = model(x=x).values()
    for made in (tfg.freeze(graph), tfg.optimize(graph).graph):
        (value,) = tfg.Model(made)(x=x).values()
        np.testing.assert_allclose(value, expected, rtol=1e-6)
    assert tfg.verify(graph, tfg.optimize(graph).graph).passed and tfg.compare(graph, passes="default").nodes
    assert "\nlayers\n" in run("explain", unsigned).out
    for words in (("freeze", unsigned, tmp_path / "frozen.pb", "--verify"), ("optimize", unsigned, "--verify")):
        assert run(*words).code == 0


@pytest.mark.slow
def test_a_meta_graph_is_frozen_with_its_own_checkpoint(folder, tmp_path):
    meta, state = tmp_path / "model.ckpt.meta", tmp_path / "model.ckpt"
    shutil.copy(folder / "tf1_training" / "model.ckpt.meta", meta)
    values = tfg.read_checkpoint(folder / "tf1_training" / "model.ckpt")
    tfg.write_checkpoint(state, {name: values[name] + 1 for name in values})
    for name, words in (("own", ()), ("asked", ("--state", state)), ("initial", ("--init",))):
        done = run("freeze", meta, tmp_path / f"{name}.pb", *words)
        assert done.code == 0 and (f"taking the values of the checkpoint '{state}'" in done.err) == (name == "own")
    done = run("freeze", state, tmp_path / "by_prefix.pb")
    assert done.code == 0 and (tmp_path / "by_prefix.pb").read_bytes() == (tmp_path / "own.pb").read_bytes()
    own, asked, initial = (tfg.read_checkpoint(tmp_path / f"{name}.pb") for name in ("own", "asked", "initial"))
    assert tfg.compare_checkpoints(own, asked, tolerance=0).equal and not tfg.compare_checkpoints(own, initial).equal


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", KERAS)
def test_each_row_of_the_table_of_layers_leads_into_the_layer(name, path):
    """The scope of a layer of Keras 3 in TensorFlow's own frozen graph has another name than the layer."""
    book = make_page(model_view(tfg.load(path)), "model", "")
    sheet = next(sheet for sheet in book.sheets if sheet.title == "layers")
    places, nodes = dict(sheet.places), [entry.name for entry in book.entries]
    for row in sheet.rows:
        place = places.get(row[0], row[0])
        assert any(node == place or node.startswith(f"{place}/") for node in nodes), row
    assert name != "frozen" or any(scope.endswith("_1") for scope in places.values())


@pytest.mark.parametrize("name", ["collatz.pbtxt", "weight_decay.pbtxt"])
def test_the_row_of_an_op_leads_to_the_op_and_not_to_its_constant(name):
    book = make_page(model_view(tfg.load(SAMPLES / name)), "graph", "")
    assert next(sheet for sheet in book.sheets if sheet.title == "layers").places == ()
