"""Safetensors files: tfg reads the library's files, the library reads tfg's files, and false headers are refused."""

from __future__ import annotations

import json
import pathlib
import struct
import zipfile

import ml_dtypes
import numpy as np
import pytest

import tfg
from tests.cli.running import tfg as run
from tfg.core.support.errors import DataLossError, InvalidArgumentError, UnimplementedError
from tfg.core.types import dtypes
from tfg.core.types.tensors import Tensor
from tfg.formats.codecs.safetensors import read_safetensors, write_safetensors
from tfg.formats.state import holds_state, read_state, write_state

RECORDED = pathlib.Path(__file__).parent / "recorded" / "library.safetensors"
"""All types, as safetensors 0.8.0 wrote them, with metadata."""
VALUES = {
    "flag": ("bool", [True, False]), "u8": ("uint8", [0, 255]), "i8": ("int8", [-128, 127]), "u16": ("uint16", [65535]),
    "i16": ("int16", [-32768]), "u32": ("uint32", [4294967295]), "i32": ("int32", [[-1, 2], [3, 4]]),
    "u64": ("uint64", [18446744073709551615]), "i64": ("int64", -9), "f16": ("half", [0.5, -2.0]),
    "bf16": ("bfloat16", [1.5, -2.0]), "f32": ("float", [[float(np.float32(0.1)), -0.0, np.inf]]), "f64": ("double", [1e300]),
    "c64": ("complex64", [1 + 2j]), "e5m2": ("float8_e5m2", [0.25, -57344.0]), "e4m3": ("float8_e4m3fn", [448.0, -0.5]),
    "e5m2fnuz": ("float8_e5m2fnuz", [1.0, 2.0]), "e4m3fnuz": ("float8_e4m3fnuz", [240.0, 1.0]), "empty": ("float", []),
    "späť/w:0": ("float", [7.0]),
}  # fmt: skip


def contents(tensors):
    return {name: (str(tensor.dtype), tensor.numpy().tolist()) for name, tensor in tensors.items()}


def test_a_file_of_the_library_is_read():
    tensors = read_state(RECORDED)
    assert contents(tensors) == VALUES
    assert tensors["empty"].shape == (0, 3)
    assert np.signbit(tensors["f32"].numpy()).tolist() == [[False, True, False]]
    assert holds_state(RECORDED)


def test_types_survive_writing(tmp_path):
    path = tmp_path / "again.safetensors"
    assert write_state(path, read_state(RECORDED)) == len(VALUES)
    assert contents(read_state(path)) == VALUES
    path.rename(tmp_path / "by_content")
    assert contents(read_state(tmp_path / "by_content")) == VALUES


def test_the_library_reads_what_tfg_writes(tmp_path):
    library = pytest.importorskip("safetensors")
    write_safetensors(tmp_path / "w.safetensors", read_state(RECORDED))
    by_name = {name: (entry["dtype"], list(entry["shape"]), bytes(entry["data"])) for name, entry in
             library.deserialize((tmp_path / "w.safetensors").read_bytes())}  # fmt: skip
    expected = {name: (entry["dtype"], list(entry["shape"]), bytes(entry["data"])) for name, entry in
                library.deserialize(RECORDED.read_bytes())}  # fmt: skip
    assert by_name == expected


def test_data_of_each_type_is_aligned(tmp_path):
    write_safetensors(tmp_path / "w.safetensors", read_state(RECORDED))
    data = (tmp_path / "w.safetensors").read_bytes()
    length = struct.unpack_from("<Q", data)[0]
    assert length % 8 == 0
    for name, entry in json.loads(data[8 : 8 + length]).items():
        assert entry["data_offsets"][0] % dtypes.from_name(VALUES[name][0]).size == 0


def test_columns_and_transposed_arrays_are_written_by_rows(tmp_path):
    matrix = np.arange(6, dtype=np.int32).reshape(2, 3)
    write_safetensors(tmp_path / "w.safetensors", {"t": Tensor.from_numpy(matrix.T), "big": Tensor.from_numpy(matrix[:, ::2])})
    assert contents(read_state(tmp_path / "w.safetensors")) == {
        "t": ("int32", [[0, 3], [1, 4], [2, 5]]), "big": ("int32", [[0, 2], [3, 5]]),
    }  # fmt: skip


@pytest.mark.parametrize("dtype", [dtypes.string, dtypes.complex128, dtypes.qint8, dtypes.from_name("int4")], ids=str)
def test_types_that_the_format_lacks_are_refused(tmp_path, dtype):
    value = Tensor(dtype, (1,), lambda: np.zeros(1, dtype.numpy))
    with pytest.raises(UnimplementedError, match=f"cannot hold tensor 'v' of dtype {dtype}"):
        write_state(tmp_path / "w.safetensors", {"v": value})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["__metadata__", "\ud800"])
def test_names_that_the_format_cannot_hold_are_refused(tmp_path, name):
    with pytest.raises(InvalidArgumentError):
        write_safetensors(tmp_path / "w.safetensors", {name: Tensor.from_numpy(1)})


def entry(begin, end, shape=None, dtype="U8"):
    return {"dtype": dtype, "shape": [end - begin] if shape is None else shape, "data_offsets": [begin, end]}


def file_of(header, size=0):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(size)


DAMAGED = {
    "empty": b"",
    "short": bytes(7),
    "no header": bytes(8),
    "header longer than the file": struct.pack("<Q", 100) + b"{}",
    "huge header": struct.pack("<Q", (1 << 64) - 1) + b"{}",
    "no JSON": file_of(b"{nothing"),
    "no UTF-8": file_of(b'{"\xff": 1}'),
    "a list": file_of([]),
    "deep": file_of(b'{"a":' * 100_000),
    "a hole": file_of({"a": entry(0, 2), "b": entry(3, 4)}, 4),
    "an overlap": file_of({"a": entry(0, 2), "b": entry(1, 3)}, 3),
    "the same range twice": file_of({"a": entry(0, 2), "b": entry(0, 2)}, 2),
    "data behind the last array": file_of({"a": entry(0, 2)}, 3),
    "data missing": file_of({"a": entry(0, 4)}, 3),
    "a shape of more bytes": file_of({"a": entry(0, 4, [5])}, 4),
    "an end before its beginning": file_of({"a": entry(0, 2), "b": {"dtype": "U8", "shape": [0], "data_offsets": [2, 1]}}, 2),
    "an empty array inside another": file_of({"a": entry(0, 2), "b": entry(1, 1)}, 2),
    "a negative size": file_of({"a": entry(0, 1, [-1])}, 1),
    "a size that is no integer": file_of({"a": entry(0, 1, [1.0])}, 1),
    "a size that is a flag": file_of({"a": entry(0, 1, [True])}, 1),
    "an overflow": file_of({"a": entry(0, 0, [1 << 63, 1 << 63, 0])}),
    "many dimensions": file_of({"a": entry(0, 0, [0] * 100)}),
    "a long number": file_of(b'{"a":{"dtype":"U8","shape":[' + b"9" * 5000 + b'],"data_offsets":[0,0]}}'),
    "three offsets": file_of({"a": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0, 0]}}),
    "no offsets": file_of({"a": {"dtype": "U8", "shape": [0]}}),
    "an unknown type": file_of({"a": entry(0, 1, dtype="U9")}, 1),
    "a type that is a list": file_of({"a": entry(0, 1, dtype=["U8"])}, 1),
    "a name twice": file_of(b'{"a":%b,"a":%b}' % ((json.dumps(entry(0, 2)).encode(),) * 2), 2),
    "a field twice": file_of(b'{"a":{"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]}}'),
    "metadata that is no text": file_of({"__metadata__": {"a": 1}}),
    "metadata that is a list": file_of({"__metadata__": [1]}),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_files_that_lie_are_refused(tmp_path, name):
    path = tmp_path / "w.safetensors"
    path.write_bytes(DAMAGED[name])
    with pytest.raises(DataLossError, match=r"w\.safetensors"):
        read_safetensors(path)


@pytest.mark.parametrize("name", sorted(DAMAGED.keys() - {"a name twice", "many dimensions", "a size that is a flag"}))
def test_the_library_refuses_them_too(name):
    """The library keeps the last array of a name, and takes any number of dimensions."""
    library = pytest.importorskip("safetensors")
    with pytest.raises(library.SafetensorError):
        library.deserialize(DAMAGED[name])


@pytest.mark.parametrize("dtype", ["F4", "F6_E2M3", "F6_E3M2", "F8_E8M0"])
def test_types_that_tensorflow_lacks_are_named(tmp_path, dtype):
    (tmp_path / "w.safetensors").write_bytes(file_of({"a": entry(0, 1, dtype=dtype)}, 1))
    with pytest.raises(UnimplementedError, match=f"'a' of .* has type {dtype}"):
        read_safetensors(tmp_path / "w.safetensors")


def test_a_truth_value_is_any_byte_but_zero(tmp_path):
    path = tmp_path / "w.safetensors"
    path.write_bytes(file_of({"__metadata__": None, "a": entry(0, 3, dtype="BOOL")}) + b"\0\1\2")
    assert read_safetensors(path)["a"].numpy().tolist() == [False, True, True]


def test_commands_read_and_write_them(tmp_path):
    samples = pathlib.Path(tfg.__file__).parent / "sample_graphs"
    first, second = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    graph = samples / "square.pbtxt"
    assert run("run", graph, "--init", "--target", "momentum", "--save-state", first).code == 0
    assert run("checkpoint", first, "--output", second).err == f"wrote 2 tensors to {second}\n"
    run("checkpoint", first, "--output", tmp_path / "c.ckpt")
    assert run("compare", second, tmp_path / "c.ckpt").code == 0
    by_state = run("run", graph, "--state", second, "--fetch", "var/Momentum", "--format", "json").json
    assert by_state == run("run", graph, "--state", tmp_path / "c.ckpt", "--fetch", "var/Momentum", "--format", "json").json
    assert "a safetensors file" in run("explain", second).err


@pytest.mark.slow
def test_a_part_of_a_checkpoint_of_objects_is_written_by_names_of_variables(tmp_path):
    """The object graph, a string that names the variables, stays behind, except in another checkpoint."""
    model = pathlib.Path(tfg.__file__).parent / "sample_graphs" / "scaler_saved_model"
    prefix = model / "variables" / "variables"
    tensors = read_state(prefix)
    for words in ((), ("--name", "VARIABLE_VALUE")):
        for extension in ("safetensors", *(["npz"] if words else [])):
            path = tmp_path / f"w.{extension}"
            assert run("checkpoint", prefix, "--output", path, *words).err == f"wrote 2 tensors to {path}\n"
            assert read_state(path) == {name: tensors[f"{name}/.ATTRIBUTES/VARIABLE_VALUE"] for name in ("calls", "scale")}
            assert run("run", model, "--feed", "x=[[1, 1]]", "--state", path).code == 0
    path = tmp_path / "part.ckpt"
    assert run("checkpoint", prefix, "--output", path, "--name", "scale").err == f"wrote 2 tensors to {path}\n"
    assert set(read_state(path)) == {"_CHECKPOINTABLE_OBJECT_GRAPH", "scale/.ATTRIBUTES/VARIABLE_VALUE"}
    assert run("run", model, "--feed", "x=[[1, 1]]", "--state", path).code == 0


@pytest.fixture(scope="module")
def exports(tmp_path_factory):
    """Models that TensorFlow exported; `tests.cli.record_exports` made them."""
    folder = tmp_path_factory.mktemp("exports")
    with zipfile.ZipFile(pathlib.Path(tfg.__file__).parent / "tests" / "cli" / "exports.zip") as archive:
        archive.extractall(folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("form", ["safetensors", "npz", "ckpt"])
def test_the_values_of_an_object_checkpoint_reach_another_export_of_the_model(form, exports, tmp_path):
    """Keras stores each weight twice: both entries have the weight's name in the checkpoint."""
    path, saved = tmp_path / f"w.{form}", tmp_path / f"saved.{form}"
    prefix = exports / "keras_retrained" / "variables" / "variables"
    assert run("checkpoint", prefix, "--output", path).code == 0
    words = ("--feed", "x=[[1, 2, 3, 4]]", "--format", "json")
    expected = run("run", exports / "keras_retrained", *words).json
    assert run("run", exports / "keras", *words).json != expected
    assert run("run", exports / "keras", *words, "--state", path).json == expected
    assert run("run", exports / "keras", "--state", path, "--save-state", saved).code == 0
    assert run("run", exports / "keras", *words, "--state", saved).json == expected


def test_no_tensor_of_an_object_checkpoint_is_lost(exports, tmp_path):
    prefix, path = exports / "keras" / "variables" / "variables", tmp_path / "w.safetensors"
    assert run("checkpoint", prefix, "--output", path).code == 0
    tensors, stored = read_state(prefix), read_state(path)
    assert len(stored) == len(tensors) - 1
    assert {"hidden/kernel", "hidden/bias", "out/kernel", "out/bias"} <= {name.removeprefix("sequential/") for name in stored}


def test_python_reads_and_writes_them(tmp_path):
    tfg.write_checkpoint(tmp_path / "w.safetensors", {"w": np.array([1.5], ml_dtypes.bfloat16)})
    assert tfg.read_checkpoint(tmp_path / "w.safetensors")["w"].dtype == ml_dtypes.bfloat16
