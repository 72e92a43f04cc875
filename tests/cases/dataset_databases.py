"""Datasets of database contents."""

import sqlite3

from tests.opcases import graph_case
from tests.pipelines import NO_REWRITES, elements, text

FOLDER = "/tmp/tfg_cases/databases/"
ROWS = [
    (1, 2.5, "x", b"\0y"), (300, -1e300, "12abc", None), (-5, 0.1, "", b""), (2**40, 1e20, "3.7", b"7"),
    (None, None, None, None),
]  # fmt: skip
TYPES = ("string", "int8", "int16", "int32", "int64", "uint8", "uint16", "bool", "double")


def database():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (a INTEGER, b REAL, c TEXT, d BLOB)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", ROWS)
    connection.commit()
    return connection.serialize()


def reading(key, op, content, make, spec, take):
    def build(g):
        path = f"{FOLDER}{op} {key}"
        g.WriteFile(g.constant(text(path)), g.constant(text(content)), name="write")
        dataset = g.OptionsDataset(make(g, path), serialized_options=NO_REWRITES, **spec)
        iterator = g.IteratorV2(shared_name="", container="", **spec)
        g.MakeIterator(dataset, iterator, name="start")
        g.IteratorGetNext(iterator, name="next", **spec)
        following = [f"next:{i}" for i in range(len(spec["output_types"]))]
        return [["write"], ["start"], *[following] * take]

    return graph_case(f"{op} {key}", op, build)


def query(words, *types, op="SqlDataset", driver="sqlite", content=None, shape=(), take=6):
    spec = elements(*((dtype, shape) for dtype in types))

    def make(g, path):
        return getattr(g, op)(text(driver), text(path), text(words), **spec)

    key = f"{words} {types} {driver} {shape}{' damaged' * (content is not None)}"
    return reading(key, op, database() if content is None else content, make, spec, take)


CASES = [
    *(query(f"SELECT {column} FROM t", dtype) for column in "abcd" for dtype in TYPES),
    query("SELECT a, c FROM t ORDER BY a DESC LIMIT 2", "int64", "string"),
    query("SELECT a, b FROM t", "int64"),
    query("SELECT nothing FROM t", "int64"),
    query("SELECT FROM", "int64"),
    query("SELECT a FROM t", "int64", driver="mysql"),
    query("SELECT a FROM t", "int64", shape=(2,)),
    query("SELECT a FROM t", "float32"),
    query("SELECT a FROM t", "int64", content=b"no database" * 100),
    query("SELECT a FROM t", "int64", op="ExperimentalSqlDataset"),
]
