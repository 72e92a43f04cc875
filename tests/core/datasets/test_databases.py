"""LMDB databases written by the library lmdb, and damaged databases."""

import base64
import contextlib
import io
import struct
import zlib

import numpy as np
import pytest

from tests.pipelines import elements
from tfg import FileAccess
from tfg.core.building.builder import GraphBuilder
from tfg.core.datasets import databases
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import InvalidArgumentError, OutOfRangeError, PermissionDeniedError

WRITTEN = (
    b"c-rmRJq|%Z5CGs=UZGow#yOn8Rs6NIj^I?{1dbqTjZRCvJUkJh@Dj!M6+5$=NhaBDXCrPp<+|G(*D30{_s|)}N9Rg>=~kZt0001JN^11|pI-X3s#v_)n*#s"
    b"<0Ko6HYFR(F`H)X}pSRh~0002MzgqRKKj<l@?dS6plW14jXfdCqDjyFXg+)0FSONe50050M%LD)be(eG)7f>n"
)
"""Four pairs, one on separate pages, put in the order b, a, c, d by the package lmdb."""
PAIRS = [(b"a", b"one"), (b"b", b"2"), (b"c", b""), (b"d", b"x" * 5000)]
TEXTS = elements(("string", ()), ("string", ()))


def content():
    return zlib.decompress(base64.b85decode(WRITTEN))


@pytest.mark.parametrize("op", ["LMDBDataset", "ExperimentalLMDBDataset"])
@pytest.mark.parametrize("in_folder", [False, True])
def test_pairs_come_in_the_order_of_keys(tmp_path, op, in_folder):
    path = tmp_path / "data.mdb"
    path.write_bytes(content())
    g = GraphBuilder()
    files = np.array([bytes(tmp_path if in_folder else path)], object)
    iterator = g.IteratorV2(shared_name="", container="", **TEXTS)
    g.MakeIterator(getattr(g, op)(files, **TEXTS), iterator, name="start")
    g.IteratorGetNext(iterator, name="next", **TEXTS)
    session = Session(g.graph, files=FileAccess.everything())
    session.run("start")
    assert [tuple(session.run(["next:0", "next:1"])) for _ in PAIRS] == PAIRS
    with pytest.raises(OutOfRangeError):
        session.run("next:0")
    closed = Session(g.graph)
    closed.run("start")
    with pytest.raises(PermissionDeniedError):
        closed.run("next:0")


_ROOT = 16 + 24 + 48 + 40
"""Where a meta page has the number of the main tree's root."""


def _with_root(number):
    data = bytearray(content())
    size = struct.unpack_from("<I", data, 16 + 24)[0]
    for page in (0, size):
        struct.pack_into("<Q", data, page + _ROOT, number)
    return data, size


def test_a_page_that_leads_to_itself_again_and_again():
    data, size = _with_root(2)
    places = [size - 16] * 500
    struct.pack_into(f"<QHHHH{len(places)}H", data, 2 * size, 2, 0, 1, 16 + 2 * len(places), 0, *places)
    struct.pack_into("<HHHH", data, 3 * size - 16, 2, 0, 0, 0)
    with pytest.raises(databases.LmdbError, match="several parents"):
        list(databases.lmdb_pairs(io.BytesIO(bytes(data))))


def test_what_is_damaged_is_an_error_or_other_pairs():
    data = content()
    for i in range(0, len(data), 53):
        damaged = bytearray(data)
        damaged[i] ^= 0xFF
        with contextlib.suppress(databases.LmdbError):
            list(databases.lmdb_pairs(io.BytesIO(bytes(damaged))))


@pytest.mark.parametrize("size", [0, 100, 4096, 8192, 12288])
def test_a_database_that_is_cut_off_is_an_error(size):
    with pytest.raises(databases.LmdbError):
        list(databases.lmdb_pairs(io.BytesIO(content()[:size])))


def test_a_query_opens_no_other_database(tmp_path):
    g = GraphBuilder()
    spec = elements(("int64", ()))
    texts = [np.array(part, object) for part in (b"sqlite", bytes(tmp_path / "a.db"), b"ATTACH DATABASE 'b.db' AS b")]
    (tmp_path / "a.db").write_bytes(b"")
    g.DatasetToSingleElement(g.SqlDataset(*texts, **spec), name="row", **spec)
    with pytest.raises(InvalidArgumentError, match="not authorized"):
        Session(g.graph, files=FileAccess.everything()).run("row:0")
