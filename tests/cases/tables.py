"""Cases of the tables family."""

import pathlib

import numpy as np

from tests.opcases import graph_case
from tests.opcases import string_array as strings

WORDS, MORE = strings(["brain", "salad", "surgery"]), strings([chr(97 + i) for i in range(20)])
I64 = np.int64
VOCABULARY = "a 1\nb 2\nc 3\n"


def mutable(key, create, keys, values, default, keys_dtype="string", values_dtype="int64", extra=()):
    """Insert, look up, remove, export and import."""

    def build(g):
        table = create(g)
        g.LookupTableInsertV2(table, g.constant(keys), g.constant(values), name="insert")
        g.LookupTableFindV2(table, g.constant(keys[::-1][:2]), g.constant(default), name="find")
        g.LookupTableSizeV2(table, name="size")
        g.LookupTableRemoveV2(table, g.constant(keys[:1]), name="remove")
        g.LookupTableExportV2(table, Tkeys=keys_dtype, Tvalues=values_dtype, name="export")
        g.LookupTableImportV2(table, g.constant(keys[1:]), g.constant(values[1:]), name="import")
        export = ["export:0", "export:1"]
        return [["insert"], ["find:0"], ["size:0"], export, ["remove"], ["size:0"], ["find:0"], export, *extra]

    return graph_case(key, "LookupTableExportV2", build)


def chain(g):
    return g.MutableHashTableV2(key_dtype="string", value_dtype="int64", name="table")


def vectors(g):
    return g.MutableHashTableOfTensorsV2(key_dtype="int64", value_dtype="float", value_shape=[2], name="table")


def dense(g):
    keys = g.constant(I64(-1)), g.constant(I64(-2))
    return g.MutableDenseHashTableV2(*keys, value_dtype="int64", initial_num_buckets=8, name="table")


def static(key, steps):
    """A table that `steps` (name -> op on g and table) fill and use; every step is fetched in order."""

    def build(g):
        table = g.HashTableV2(key_dtype="string", value_dtype="int64", name="table")
        for name, step in steps.items():
            step(g, table, name)
        return [[name if name.startswith("do") else f"{name}:0"] for name in steps]

    return graph_case(key, "HashTableV2", build)


def initialize(*pairs):
    keys, values = zip(*pairs)
    return lambda g, t, name: g.InitializeTableV2(t, g.constant(strings(list(keys))), g.constant(I64(values)), name=name)


def import_nothing(g, t, name):
    return g.LookupTableImportV2(t, g.constant(strings([])), g.constant(I64([])), name=name)


def find(keys, default=-1):
    return lambda g, t, name: g.LookupTableFindV2(t, g.constant(strings(keys)), g.constant(I64(default)), name=name)


def size(g, t, name):
    g.LookupTableSizeV2(t, name=name)


def insert(g, t, name):
    g.LookupTableInsertV2(t, g.constant(WORDS), g.constant(I64([1, 2, 3])), name=name)


def v1_tables():
    """The ops with reference handles."""

    def build(g):
        table = g.HashTable(key_dtype="string", value_dtype="int64", shared_name="t")
        g.InitializeTable(table, g.constant(WORDS), g.constant(I64([1, 2, 3])), name="init")
        g.LookupTableFind(table, g.constant(WORDS), g.constant(I64(-1)), name="find")
        g.LookupTableSize(table, name="size")
        other = g.MutableHashTable(key_dtype="string", value_dtype="int64")
        g.LookupTableInsert(other, g.constant(WORDS), g.constant(I64([1, 2, 3])), name="insert")
        g.LookupTableExport(other, Tkeys="string", Tvalues="int64", name="export")
        g.LookupTableImport(other, g.constant(WORDS[:1]), g.constant(I64([7])), name="import")
        rows = g.MutableHashTableOfTensors(key_dtype="string", value_dtype="int64", value_shape=[1])
        g.LookupTableSize(rows, name="rows")
        buckets = g.MutableDenseHashTable(g.constant(I64(-1)), value_dtype="int64", initial_num_buckets=4)
        g.LookupTableSize(buckets, name="buckets")
        export = ["export:0", "export:1"]
        return [["init"], ["find:0"], ["size:0"], ["insert"], export, ["import"], export, ["rows:0"], ["buckets:0"]]

    return graph_case("reference handles", "HashTable", build)


def anonymous_tables():
    """Tables without a name; each run makes them anew."""

    def build(g):
        tables = [
            g.AnonymousHashTable(key_dtype="string", value_dtype="int64"),
            g.AnonymousMutableHashTable(key_dtype="string", value_dtype="int64"),
            g.AnonymousMutableHashTableOfTensors(key_dtype="string", value_dtype="int64", value_shape=[1]),
            g.AnonymousMutableDenseHashTable(g.constant(I64(-1)), g.constant(I64(-2)), value_dtype="int64"),
        ]
        for i, table in enumerate(tables):
            g.LookupTableSizeV2(table, name=f"size{i}")
        return [[f"size{i}:0" for i in range(len(tables))]]

    return graph_case("anonymous", "AnonymousHashTable", build)


def from_file(key, key_dtype, value_dtype, probe, op="InitializeTableFromTextFileV2", lines=VOCABULARY, **attrs):
    """A table from the lines of a vocabulary file."""
    path = pathlib.Path("/tmp/tfg_case_vocabulary.txt")

    def build(g):
        write = g.WriteFile(g.constant(str(path).encode()), g.constant(lines.encode()), name="write")
        kind = g.HashTableV2 if op.endswith("V2") else g.HashTable
        table = kind(key_dtype=key_dtype, value_dtype=value_dtype)
        with g.control_dependencies([write]):
            getattr(g, op)(table, g.constant(str(path).encode()), name="init", **attrs)
        default = I64(-1) if value_dtype == "int64" else b"?"
        lookup = g.LookupTableFindV2 if op.endswith("V2") else g.LookupTableFind
        lookup(table, g.constant(probe), g.constant(default), name="find")
        return [["init"], ["find:0"]]

    return graph_case(f"file {key}", op, build)


def dense_keys(key, empty, deleted, *shapes):
    """Insert, find and remove keys of several shapes, with a batch dimension."""

    def build(g):
        keys = g.constant(I64(empty)), g.constant(I64(deleted))
        table = g.MutableDenseHashTableV2(*keys, value_dtype="int64", initial_num_buckets=8, name="table")
        fetches = []
        for i, size in enumerate(shapes):
            expected = g.constant(np.arange(3, 3 + np.prod(size)).reshape(size))
            values = g.constant(np.arange(4).reshape(size[: len(size) - np.ndim(empty)]))
            g.LookupTableInsertV2(table, expected, values, name=f"insert{i}")
            g.LookupTableFindV2(table, expected, g.constant(I64(-1)), name=f"find{i}")
            g.LookupTableRemoveV2(table, expected, name=f"remove{i}")
            fetches += [[f"insert{i}"], ["size:0"], [f"find{i}:0"], [f"remove{i}"]]
        g.LookupTableSizeV2(table, name="size")
        return fetches

    return graph_case(key, "MutableDenseHashTableV2", build)


def bad_table(key, deleted, buckets):
    def build(g):
        keys = g.constant(I64(-1)), g.constant(I64(deleted))
        g.LookupTableSizeV2(g.MutableDenseHashTableV2(*keys, value_dtype="int64", initial_num_buckets=buckets), name="size")
        return [["size:0"]]

    return graph_case(key, "MutableDenseHashTableV2", build)


ROWS = np.arange(6, dtype=np.float32).reshape(3, 2)
CASES = [
    mutable("chain", chain, WORDS, I64([0, 1, 2]), I64(-1), extra=[["import"], ["export:0", "export:1"]]),
    mutable("chain of many", chain, MORE, I64(range(20)), I64(-1)),
    mutable("vectors", vectors, I64([7, 70, -3]), ROWS, np.float32([9, 9]), "int64", "float"),
    mutable("vectors, full default", vectors, I64([7, 70, -3]), ROWS, np.ones((2, 2), np.float32), "int64", "float"),
    mutable("vectors, wrong default", vectors, I64([7, 70, -3]), ROWS, np.float32(1), "int64", "float"),
    mutable("buckets", dense, I64([0, 7, 15, 23, 512, 3]), I64(range(6)), I64(-1), "int64"),
    mutable("buckets that double", dense, I64(range(0, 90, 3)), I64(range(30)), I64(-1), "int64"),
    mutable("buckets without the empty key", dense, I64([0, -1]), I64([1, 2]), I64(-1), "int64"),
    mutable("wrong value dtype", chain, WORDS, np.int32([0, 1, 2]), I64(-1)),
    static("uninitialized", {"find": find(["a"]), "size": size}),
    static("initialized", {"do": initialize(("a", 1), ("b", 2)), "find": find([["a", "x"]]), "size": size}),
    static("same twice", {"do": initialize(("a", 1), ("a", 1)), "size": size}),
    static("different twice", {"do": initialize(("a", 1), ("a", 2)), "size": size}),
    static("again", {"do": initialize(("a", 1)), "do2": initialize(("b", 2)), "find": find(["a", "b"])}),
    static("again, more", {"do": initialize(("a", 1)), "do2": initialize(("a", 1), ("b", 2))}),
    static("insert", {"do": insert}),
    static("nothing to import", {"do": import_nothing, "find": find(["a"])}),
    static("imports nothing later", {"do": initialize(("a", 1)), "do2": import_nothing, "find": find(["a"])}),
    v1_tables(),
    anonymous_tables(),
    from_file("line numbers", "string", "int64", strings(["b 2", "x"]), key_index=-2, value_index=-1),
    from_file("columns", "string", "int64", strings(["b", "x"]), key_index=0, value_index=1, delimiter=" "),
    from_file("ids", "int64", "string", I64([0, 2, 5]), key_index=-1, value_index=-2, vocab_size=2),
    from_file("offset", "string", "int64", strings(["b 2"]), key_index=-2, value_index=-1, offset=10),
    from_file("v1", "string", "int64", strings(["b 2"]), "InitializeTableFromTextFile", key_index=-2, value_index=-1),
    from_file("too few lines", "string", "int64", strings(["b 2"]), key_index=-2, value_index=-1, vocab_size=9),
    from_file("too few columns", "string", "int64", strings(["b 2"]), key_index=0, value_index=2, delimiter=" "),
    from_file("no number", "string", "int64", strings(["b 2"]), key_index=1, value_index=0, delimiter=" "),
    from_file("empty", "string", "int64", strings(["b"]), lines="", key_index=-2, value_index=-1),
    from_file("empty line", "string", "int64", strings(["b"]), lines="b\n\nc\n", key_index=-2, value_index=-1),
    from_file("empty line late", "string", "int64", strings(["b"]), lines="b\n\n", key_index=-2, value_index=-1, vocab_size=1),
    dense_keys("buckets of scalars", -1, -2, (4,), (4, 1), (2, 2)),
    dense_keys("buckets of vectors", [-1, -1], [-2, -2], (4, 2), (2, 2, 2), (4, 1, 2)),
    bad_table("seven buckets", -2, 7),
    bad_table("one key for both", -1, 8),
]
