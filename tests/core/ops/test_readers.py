"""Readers with a queue of files, filled later or by another thread."""

import threading

import pytest

from tfg import GraphBuilder, Session
from tfg.core.runtime.state.file_access import FileAccess
from tfg.core.support.errors import DataLossError, OutOfRangeError


@pytest.fixture
def session(tmp_path):
    for name in "ab":
        (tmp_path / name).write_text(f"{name}1\n{name}2\n")
    (tmp_path / "empty").write_text("")
    g = GraphBuilder()
    queue = g.FIFOQueueV2(component_types=["string"], shapes=[[]], name="queue")
    g.QueueEnqueueV2(queue, [g.Placeholder(dtype="string", shape=[], name="path")], name="add")
    g.QueueCloseV2(queue, name="close")
    g.ReaderReadV2(g.TextLineReaderV2(), queue, name="read")
    g.ReaderReadUpToV2(g.TextLineReaderV2(), queue, g.constant(5, dtype="int64"), name="read_up_to")
    return Session(g.graph, files=FileAccess.only([tmp_path]))


def test_lines_of_several_files(session, tmp_path):
    for name in ("a", "empty", "b"):
        session.run(["add"], {"path:0": str(tmp_path / name).encode()})
    results = [session.run(["read:0", "read:1"]) for _ in range(4)]
    assert [value for _, value in results] == [b"a1", b"a2", b"b1", b"b2"]
    assert results[3][0] == f"{tmp_path}/b:2".encode()
    session.run(["add"], {"path:0": str(tmp_path / "a").encode()})
    assert session.run(["read_up_to:1"])[0].tolist() == [b"a1", b"a2"]
    session.run(["close"])
    with pytest.raises(OutOfRangeError, match="closed"):
        session.run(["read:1"])


def test_a_file_that_another_thread_names(session, tmp_path):
    results = []
    reading = threading.Thread(target=lambda: results.append(session.run(["read:1"])[0]))
    reading.start()
    for name in ("empty", "b"):
        session.run(["add"], {"path:0": str(tmp_path / name).encode()})
    reading.join(300)
    assert results == [b"b1"]


def test_damaged_compressed_records_are_named(tmp_path):
    (tmp_path / "damaged.gz").write_bytes(b"not compressed")
    g = GraphBuilder()
    g.RecordInput(file_pattern=str(tmp_path / "*.gz").encode(), compression_type="GZIP", batch_size=1, name="records")
    with pytest.raises(DataLossError, match=r"damaged\.gz"):
        Session(g.graph, files=FileAccess.only([tmp_path])).run("records:0")
