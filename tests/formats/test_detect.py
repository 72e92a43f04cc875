"""Files that are no graphs are named."""

import gzip
import io
import zipfile

import numpy as np
import pytest

from tfg.core.building.builder import GraphBuilder
from tfg.core.support.errors import DataLossError, InvalidArgumentError
from tfg.formats import load, to_bytes, write_checkpoint
from tfg.formats.protos.graph_pb2 import GraphDef
from tfg.formats.protos.meta_graph_pb2 import MetaGraphDef, SavedModel

GRAPH = b"""\
node { name: "first" op: "Const" }
node { name: "second" op: "Identity" input: "first" }
versions { producer: 9 }
"""


def zipped(*names):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return buffer.getvalue()


def _with_weights():
    b = GraphBuilder()
    b.Const(value=np.linspace(-1, 1, 100, dtype=np.float32), dtype="float32", name="weights")
    return b.graph


def _in_saved_model(graph):
    meta = MetaGraphDef(graph_def=GraphDef.FromString(to_bytes(graph)))
    return SavedModel(saved_model_schema_version=1, meta_graphs=[meta]).SerializeToString()


def npz():
    buffer = io.BytesIO()
    np.savez(buffer, a=np.arange(3))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "is empty"),
        (b"\x08\x07\x12\x07pytorch\x1a\x032.0:\x05\n\x03abcB\x02\x10\x11", "an ONNX model"),
        (b"\x08\x07:\x05\n\x03abcB\x02\x10\x11", "an ONNX model"),
        (b"\x1c\0\0\0TFL3" + bytes(50), "a TFLite model"),
        (b"\x89HDF\r\n\x1a\n" + bytes(20), "an HDF5 file"),
        (zipped("metadata.json", "model.weights.h5"), "a Keras .keras archive"),
        (zipped("archive/data.pkl"), "a PyTorch model"),
        (zipped("a.txt"), "a zip archive"),
        (npz(), "a NumPy .npz archive"),
        (b"\x02\0\0\0\0\0\0\0{}", "a safetensors file"),
        (b"\x93NUMPY\x01\0", "a NumPy .npy array"),
        (b"\x89PNG\r\n\x1a\n" + bytes(20), "a PNG picture"),
        (b"\xff\xd8\xff\xe0", "a JPEG picture"),
        (b"#!/bin/sh\n", "a script"),
        (b'{"nodes": []}', "a JSON file"),
        (b"hello world\n", "a text file that begins 'hello world'"),
        (b"[section]\n", "a text file that begins"),
        (b" \n ", "only white space"),
        (bytes(64), "all zeros"),
        (b"\xff\xfe\xfd\xfc\xfb", "not a protobuf message"),
        (b'op { name: "MatMul" }', "an OpList in text form"),
        (b'model_checkpoint_path: "m"\n', "a 'checkpoint' state file"),
        (b"\x08\xa3\xd4\xc5\xb1\x9f\x1f\x10\x81\x92\x8e\xb4\x0f:\x04uuid", "a SavedModel's fingerprint.pb"),
        (b"\x0a\x09\x0a\x07MyOpDef", "a list of OpDefs or FunctionDefs"),
        (b"\x0a\x04\x0a\x02\x08\x01", "a protobuf message of another kind"),
    ],
)
def test_other_files_are_named(tmp_path, data, what):
    path = tmp_path / "model.pb"
    path.write_bytes(data)
    with pytest.raises(InvalidArgumentError) as error:
        load(path)
    assert what in str(error.value)
    assert "model.pb" in str(error.value)
    assert "tfg reads TensorFlow graphs" in f"{error.value} {error.value.hint}"


def test_checkpoint_files_are_named(tmp_path):
    write_checkpoint(tmp_path / "ck", {"a": np.float32([1, 2])})
    with pytest.raises(InvalidArgumentError, match="a checkpoint's index") as error:
        load(tmp_path / "ck.index")
    assert "tfg.read_checkpoint" in str(error.value.hint)


@pytest.mark.parametrize("size", [20, 30, 45])
def test_truncated_graphs_are_damaged(size):
    data = to_bytes(load(GRAPH))
    assert len(data) > size
    with pytest.raises(DataLossError, match=r"truncated|cut off"):
        load(data[:size])


def test_damaged_gzip():
    packed = gzip.compress(GRAPH)
    with pytest.raises(DataLossError, match="truncated gzip"):
        load(packed[:-12])
    with pytest.raises(DataLossError, match="damaged gzip"):
        load(packed[:12] + b"\xff\xff\xff" + packed[15:])


@pytest.mark.parametrize(
    "data", [b"# a comment\n\n" + GRAPH, b"\xef\xbb\xbf" + GRAPH, gzip.compress(GRAPH) + gzip.compress(b"\n")]
)
def test_spellings_of_text(data):
    assert [node.name for node in load(data)] == ["first", "second"]


def test_graphs_without_nodes():
    graph = load(b"\x22\x03\x08\xaa\x13")
    assert len(graph) == 0
    assert graph.versions.producer == 2474
    assert load(b"versions { producer: 5 }").versions.producer == 5
    assert load(b"version: 4").versions.producer == 4


@pytest.mark.parametrize("bytes_of", [to_bytes, lambda graph: gzip.compress(to_bytes(graph)), _in_saved_model])
def test_a_file_that_was_read_as_text_and_written_back_is_named(bytes_of, tmp_path):
    packed = bytes_of(_with_weights())
    data = gzip.decompress(packed) if packed[:2] == b"\x1f\x8b" else packed
    damaged = data.decode("utf-8", "replace").encode()
    path = tmp_path / "graph.pb"
    path.write_bytes(gzip.compress(damaged) if data is not packed else damaged)
    with pytest.raises(DataLossError, match="damaged by a conversion to text") as error:
        load(path)
    assert "graph.pb" in str(error.value)
    assert "binary" in str(error.value.hint)


def test_a_name_with_a_replacement_character_is_no_damage():
    text = GRAPH.replace(b'op: "Const"', b'op: "Const" device: "\xef\xbf\xbd"')
    assert [node.name for node in load(to_bytes(load(text)))] == ["first", "second"]
    with pytest.raises(InvalidArgumentError, match="'gone'"):
        load(text.replace(b'input: "first"', b'input: "gone"'))
