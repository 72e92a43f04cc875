"""`tfg compare` of two versions of a model: nodes in functions, NaN, times, ONNX files, and the meaning of --tolerance."""

from __future__ import annotations

import sys
import zipfile

import numpy as np
import pytest

import tfg
from tests.cli.record_exports import ARCHIVE
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as command
from tfg.cli import main
from tfg.core.building.builder import GraphBuilder
from tfg.core.types.tensors import Tensor
from tfg.formats import save


@pytest.fixture(scope="module")
def exports(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exports")
    with zipfile.ZipFile(ARCHIVE) as archive:
        archive.extractall(folder, [name for name in archive.namelist() if name.startswith("keras")])
    return folder


@pytest.fixture
def pair(tmp_path):
    """Write two graphs over the same placeholder."""

    def write(*builds):
        paths = [tmp_path / "before.pb", tmp_path / "after.pb"]
        for build, path in zip(builds, paths, strict=True):
            g = GraphBuilder()
            build(g, g.Placeholder(dtype="float", shape=[None], name="x"))
            save(g.graph, path)
        return paths

    return write


def logarithm(g, x):
    g.Neg(g.Log(g.AddV2(g.Identity(x, name="shifted"), 0.0, name="sum"), name="log"), name="y")


def shifted_logarithm(g, x):
    g.Neg(g.Log(g.AddV2(g.Identity(x, name="shifted"), -2.0, name="sum"), name="log"), name="y")


def test_the_first_node_that_became_nan_is_named(pair):
    """log(x - 2) of 1 and 4: the sum differs first, and the logarithm of -1 is the first NaN."""
    paths = pair(logarithm, shifted_logarithm)
    done = command("compare", *paths, "--feed", "x=[1, 4]", "--format", "json")
    assert done.code == 3
    assert done.json["first"]["tensor"] == "sum/y:0"
    first_nonfinite = done.json["first_nonfinite"]
    assert (first_nonfinite["tensor"], first_nonfinite["nonfinite_before"], first_nonfinite["nonfinite_after"]) == (
        "log:0",
        0,
        1,
    )
    assert "first NaN or infinity" in command("compare", *paths, "--feed", "x=[1, 4]").out
    back = command("compare", *paths[::-1], "--feed", "x=[1, 4]", "--format", "json").json
    assert back["first_nonfinite"] is None


def test_nan_in_both_is_no_difference(pair):
    paths = pair(shifted_logarithm, shifted_logarithm)
    assert command("compare", *paths, "--feed", "x=[1, 4]").code == 0


@pytest.mark.slow
def test_nodes_in_functions_are_compared(exports):
    done = command("compare", exports / "keras", exports / "keras_retrained", "--format", "json")
    assert done.code == 3
    assert "/hidden_1/" in done.json["first"]["tensor"]
    result = tfg.compare(tfg.load(exports / "keras"), tfg.load(exports / "keras_retrained"))
    assert result.first.tensor == done.json["first"]["tensor"]
    assert {node.op for node in result.nodes if not node.passed} >= {"MatMul", "BiasAdd", "Relu"}


def test_times_of_both(pair):
    """The error function's inverse takes over ten times as long as a negation."""
    size = 200_000

    def build(op):
        def of(g, x):
            g.Exp(getattr(g, op)(g.Tanh(x, name="squashed"), name="heavy"), name="y")

        return of

    paths = pair(build("Neg"), build("Erfinv"))
    options = "--fetch", "y", "--feed", f"x=uniform({size})", "--measured", "--top", "1"
    times = command("compare", *paths, *options, "--format", "json").json["times"]
    slowest = times["nodes"][0]
    assert (slowest["node"], slowest["other"]) == ("heavy", "heavy")
    assert slowest["after"] > 2 * slowest["before"]
    table = command("compare", *paths, *options).out.partition("largest slowdowns\n")[2].splitlines()
    assert [line.split()[0] for line in table if line][2:] == ["heavy", "all"]


@pytest.fixture
def onnx_file(tmp_path):
    pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
    graph, path = tmp_path / "xor.pb", tmp_path / "xor.onnx"
    command("convert", SAMPLES / "xor.pbtxt", graph, "--init", "--seed", "1", "--freeze", "--to", "probability")
    assert command("convert", graph, path, "--to", "probability").code == 0
    return graph, path


def test_an_onnx_file_on_either_side(onnx_file):
    for pair in (onnx_file, onnx_file[::-1]):
        done = command("compare", *pair, "--all", "--format", "json")
        assert (done.code, done.json["compared"]) == (0, 1), done.err
    graph, path = onnx_file
    assert tfg.compare(tfg.load(str(graph)), str(path)).agrees
    assert tfg.compare(str(path), tfg.load(str(graph))).nodes[0].tensor == "probability"


def test_an_onnx_file_of_other_weights(onnx_file, tmp_path):
    other = tmp_path / "other.pb"
    graph = tfg.load(str(onnx_file[0]))
    weights = next(node for node in graph if node.is_constant and node.attrs["value"].dtype.is_floating)
    weights.set_attr("value", Tensor.from_numpy(weights.attrs["value"].numpy() + np.float32(1)))
    save(graph, other)
    done = command("compare", onnx_file[1], other, "--feed", "x=[[0, 1]]")
    assert (done.code, "first difference" in done.out) == (3, True)
    assert command("compare", onnx_file[1], other, "--feed", "x=[[0, 1]]", "--tolerance", "10").code == 0


@pytest.mark.slow
def test_a_saved_model_beside_its_onnx_file(exports, tmp_path):
    pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
    assert command("convert", exports / "keras", tmp_path / "m.onnx", "--quiet").code == 0
    assert command("compare", exports / "keras", tmp_path / "m.onnx").code == 0
    done = command("compare", exports / "keras_retrained", tmp_path / "m.onnx", "--feed", "x=ones(1,4)")
    assert done.code == 3


def test_two_onnx_files_are_refused(tmp_path):
    done = command("compare", tmp_path / "a.onnx", tmp_path / "b.onnx")
    assert (done.code, "an ONNX file must be compared with a graph" in done.err) == (2, True)
    with pytest.raises(tfg.errors.InvalidArgumentError, match="compare two graphs, or a graph with the path"):
        tfg.compare("a.onnx", "b.onnx")


def test_without_onnxruntime_the_error_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    (tmp_path / "m.onnx").write_bytes(b"")
    done = command("compare", SAMPLES / "xor.pbtxt", tmp_path / "m.onnx")
    assert done.code == 1
    assert "onnxruntime" in done.err and "tfg[onnx]" in done.err


def test_tolerance_means_the_same_everywhere():
    commands = {name: main.root.get_command(None, name).params for name in main.commands()}
    helps = {name: option.help for name, options in commands.items() for option in options if option.name == "tolerance"}
    assert not [option.name for options in commands.values() for option in options if option.name in ("atol", "rtol")]
    assert set(helps) == {"checkpoint", "compare", "convert", "grad", "optimize", "unfreeze"}
    for text in helps.values():
        assert text.startswith("Largest difference that ") and "relative to the largest value. Default: 1e-" in text


def test_states_agree_in_both_commands_or_in_neither(tmp_path):
    """A difference of 0.5 beside the largest value 100 passes a tolerance of 0.005, and no smaller tolerance."""
    for name, value in (("a", 1.0), ("b", 1.5)):
        np.savez(tmp_path / f"{name}.npz", v=np.float64([100.0, value]))
    a, b = tmp_path / "a.npz", tmp_path / "b.npz"
    for tolerance, code in (("0.00501", 0), ("0.00499", 3)):
        assert command("compare", a, b, "--tolerance", tolerance).code == code
        assert command("checkpoint", a, "--compare", b, "--tolerance", tolerance).code == code


def test_a_nan_in_one_state_is_a_difference(tmp_path):
    np.savez(tmp_path / "a.npz", v=np.float32([1, np.nan, 3]))
    np.savez(tmp_path / "b.npz", v=np.float32([1, np.nan, np.nan]))
    done = command("checkpoint", tmp_path / "a.npz", "--compare", tmp_path / "b.npz", "--tolerance", "100")
    assert (done.code, "at [2]: 3 and nan" in done.out) == (3, True)
    assert command("checkpoint", tmp_path / "a.npz", "--compare", tmp_path / "a.npz").code == 0
