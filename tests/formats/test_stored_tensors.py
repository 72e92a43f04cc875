"""Tensors of SavedModels and graphs by name, and their statistics."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run
from tfg.core.support.errors import InvalidArgumentError, NotFoundError
from tfg.core.types.tensors import Tensor
from tfg.formats.state import read_state, stored_tensors, write_state

SCALER = SAMPLES / "scaler_saved_model"
FROZEN = """
node { name: "w" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 4 } }
    float_val: 1 float_val: -3 float_val: nan float_val: inf } } } }
node { name: "word" op: "Const" attr { key: "dtype" value { type: DT_STRING } }
  attr { key: "value" value { tensor { dtype: DT_STRING tensor_shape { } string_val: "x" } } } }
node { name: "y" op: "Identity" input: "w" attr { key: "T" value { type: DT_FLOAT } } }
library { function { signature { name: "inner" output_arg { name: "r" type: DT_INT32 } }
  ret { key: "r" value: "two:output:0" }
  node_def { name: "two" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
    attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 2 } } } } } }
"""


@pytest.fixture
def frozen(tmp_path):
    (tmp_path / "frozen.pbtxt").write_text(FROZEN)
    return tmp_path / "frozen.pbtxt"


def test_a_saved_model_gives_its_variables_by_their_names():
    """As TensorFlow wrote them: the scale of two columns, and a counter of calls."""
    for path in (SCALER, SCALER / "saved_model.pb"):
        values = {name: tensor.numpy().tolist() for name, tensor in stored_tensors(path)[0].items()}
        assert values == {"calls": 0, "scale": [2.0, 3.0]}
    assert dict(tfg.read_checkpoint(SCALER))["scale"].tolist() == [2.0, 3.0]


def test_a_graph_gives_its_constants(frozen):
    values = {name: tensor.numpy().tolist() for name, tensor in stored_tensors(frozen)[0].items()}
    assert values == {"w": [1.0, -3.0, pytest.approx(np.nan, nan_ok=True), np.inf], "word": b"x", "inner/two": 2}


def test_constants_are_extracted_and_compared(frozen, tmp_path):
    path = tmp_path / "w.npz"
    assert run("checkpoint", frozen, "--output", path).code == 0
    assert read_state(path).keys() == {"w", "word", "inner/two"}
    assert run("checkpoint", frozen, "--compare", path).code == 0
    assert "of dtype string" in run("checkpoint", frozen, "--output", tmp_path / "w.safetensors").err
    assert run("checkpoint", frozen, "--output", tmp_path / "w.safetensors", "--name", "w$").code == 0


def test_statistics_are_of_the_finite_elements(frozen):
    rows = {row["name"]: row["statistics"] for row in run("checkpoint", frozen, "--stats", "--format", "json").json["tensors"]}
    assert rows["w"] == {"count": 4, "zeros": 0, "nans": 1, "infs": 1, "min": -3.0, "max": 1.0, "mean": -1.0, "std": 2.0}
    assert rows["word"]["min"] is None
    table = list(csv.DictReader(io.StringIO(run("checkpoint", frozen, "--stats", "--format", "csv").out)))
    assert [(row["name"], row["mean"], row["nan"]) for row in table] == [
        ("inner/two", "2", "0"),
        ("w", "-1", "1"),
        ("word", "", "0"),
    ]
    assert "-3" in run("checkpoint", frozen, "--stats").out


def test_other_files_are_named(tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(20))
    with pytest.raises(InvalidArgumentError, match="a PNG picture"):
        stored_tensors(tmp_path / "a.png")
    with pytest.raises(NotFoundError, match=r"checkpoint '.*' does not exist"):
        stored_tensors(tmp_path / "nothing")
    with pytest.raises(NotFoundError, match="a graph with variables"):
        stored_tensors(SAMPLES / "xor.pbtxt")
    assert "no graph with tags train" in run("checkpoint", SCALER, "--tags", "train").err


@pytest.mark.parametrize("name", ["w.safetensors", "w.npz"])
def test_a_damaged_state_file_is_named_by_its_kind(tmp_path, name):
    path = tmp_path / name
    write_state(path, {"w": Tensor.from_numpy(np.ones(9, np.float32))})
    path.write_bytes(path.read_bytes()[:20])
    done = run("checkpoint", path)
    assert done.code == 1 and "protobuf" not in done.err and name in done.err
