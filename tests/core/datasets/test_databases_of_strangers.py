"""Refusals of SQLite for hostile queries."""

import sqlite3
import time

import numpy as np
import pytest

from tests.pipelines import elements, text
from tfg import FileAccess, GraphBuilder, Session
from tfg.core.support.errors import DeadlineExceededError, TfgError

_ONE = elements(("string", ()))
_ENDLESS = "WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "open").mkdir()
    with sqlite3.connect(tmp_path / "open" / "a.db") as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.execute("INSERT INTO t VALUES ('one')")
    connection.close()
    return tmp_path / "open"


def _first(folder, query, **limits):
    g = GraphBuilder()
    rows = g.SqlDataset(text("sqlite"), text(str(folder / "a.db")), text(query), **_ONE)
    g.DatasetToSingleElement(g.TakeDataset(rows, np.int64(1), **_ONE), name="row", **_ONE)
    return Session(g.graph, files=FileAccess.only([folder]), **limits).run("row:0")


@pytest.mark.parametrize("query", ["SELECT x FROM t", "SELECT lower(max(x)) FROM t"])
def test_a_query_reads(query, folder):
    assert _first(folder, query) == b"one"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("query", [
    "ATTACH '{}/b.db' AS b",
    "VACUUM INTO '{}/b.db'",
    "CREATE TEMP TABLE u (x)",
    "CREATE VIRTUAL TABLE temp.u USING fts3(x)",
    "INSERT INTO t VALUES ('two')",
    "DELETE FROM t",
    "PRAGMA temp_store_directory = '{}'",
    "PRAGMA writable_schema = 1",
    "PRAGMA user_version = 7",
    "SELECT load_extension('{}/x.so')",
    "SELECT fts3_tokenizer('simple')",
    "SELECT zeroblob(2000000000)",
    "SELECT x FROM t; DELETE FROM t",
])  # fmt: skip
def test_a_query_does_nothing_else(query, folder):
    before = {path: path.read_bytes() for path in folder.parent.rglob("*") if path.is_file()}
    with pytest.raises(TfgError):
        _first(folder, query.format(folder.parent))
    assert {path: path.read_bytes() for path in folder.parent.rglob("*") if path.is_file()} == before


@pytest.mark.slow
def test_a_query_without_end_ends_with_the_time_of_the_run(folder):
    with pytest.raises(DeadlineExceededError):
        _first(folder, _ENDLESS, timeout=0.5)


@pytest.mark.slow
def test_a_query_that_makes_long_values_ends_with_the_time_of_the_run(folder):
    """Between two looks at the time there are few instructions, and none makes a value that takes long."""
    rows = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t)"
    start = time.process_time()
    with pytest.raises(DeadlineExceededError):
        _first(folder, f"{rows} SELECT max(length(printf('%.*c', 1000000, 'x'))) FROM t", timeout=0.5)
    assert time.process_time() - start < 5
