"""Files larger than anybody wants in memory: sparse ones, which take no room on the disk."""

import tracemalloc

import numpy as np
import pytest

from tfg.core.codecs.tfrecord import crc32c, mask
from tfg.core.graph.graph import Graph
from tfg.core.support.errors import DataLossError, InvalidArgumentError
from tfg.core.types import dtypes
from tfg.core.types.tensors import Tensor
from tfg.formats import load, open_checkpoint, save
from tfg.formats.checkpoint.bundle import write_index
from tfg.formats.codecs.tensor_proto import encode_static_shape
from tfg.formats.protos.checkpoint_pb2 import BundleEntryProto

GIB = 1 << 30


def sparse(path, size):
    with open(path, "wb") as file:
        try:
            file.truncate(size)
        except OSError:
            pytest.skip("no sparse files here")


@pytest.fixture
def prefix(tmp_path):
    """A checkpoint of 5 GiB: a million numbers near its end, and what nobody reads."""
    values = np.arange(1_000_000, dtype=np.float32)
    prefix = tmp_path / "large"
    data = tmp_path / "large.data-00000-of-00001"
    sparse(data, 5 * GIB)
    offset = 5 * GIB - 5_000_000
    with open(data, "r+b") as file:
        file.seek(offset)
        file.write(values.tobytes())
    entries = {
        b"huge": BundleEntryProto(dtype=1, shape=encode_static_shape((GIB,)), size=4 * GIB, crc32c=1),
        b"read": BundleEntryProto(dtype=1, shape=encode_static_shape((1000, 1000)), offset=offset, size=values.nbytes),
        b"past": BundleEntryProto(dtype=1, shape=encode_static_shape((GIB,)), offset=2 * GIB, size=4 * GIB),
    }
    entries[b"read"].crc32c = mask(crc32c(values.data))
    write_index(f"{prefix}.index", entries, 1)
    return str(prefix)


def test_one_tensor_of_a_large_checkpoint_is_read_alone(prefix):
    tracemalloc.start()
    try:
        reader = open_checkpoint(prefix)
        result = reader.read("read")
        assert tracemalloc.get_traced_memory()[1] < result.nbytes + (4 << 20)
    finally:
        tracemalloc.stop()
    assert np.array_equal(result.ravel()[[0, 1, -1]], [0, 1, 999_999])
    with pytest.raises(DataLossError, match=r"tensor 'past' .* the file ends at byte"):
        reader.read("past")


def test_a_graph_of_2_gib_is_refused_with_what_to_do(tmp_path):
    sparse(tmp_path / "weights", 2 * GIB)
    weights = np.memmap(tmp_path / "weights", np.uint8, "r", shape=(2 * GIB,))
    graph = Graph()
    graph.add_node("w", "Const", attrs={"dtype": dtypes.uint8, "value": Tensor.from_numpy(weights)})
    with pytest.raises(InvalidArgumentError, match="cannot read messages of 2 GiB") as refused:
        save(graph, tmp_path / "graph.pb")
    assert "checkpoint" in (refused.value.hint or "")
    assert not (tmp_path / "graph.pb").exists()


def test_a_large_constant_of_a_file_is_not_copied(tmp_path):
    sparse(tmp_path / "weights", GIB)
    weights = np.memmap(tmp_path / "weights", np.uint8, "r", shape=(1 << 24,))
    graph = Graph()
    graph.add_node("w", "Const", attrs={"dtype": dtypes.uint8, "value": Tensor.from_numpy(weights)})
    save(graph, tmp_path / "graph.pb")
    tracemalloc.start()
    try:
        values = load(tmp_path / "graph.pb")["w"].attrs["value"].numpy()
        assert tracemalloc.get_traced_memory()[1] < 1 << 21
    finally:
        tracemalloc.stop()
    assert not values.flags.owndata
