"""Vocabularies remapped, and matrices of checkpoints loaded under a remapping."""

from __future__ import annotations

import numpy as np

from tests.opcases import graph_case, normal
from tests.opcases import string_array as strings

FOLDER = b"/tmp/tfg_cases/"


def vocabulary(name, new, old, runs=1, **attrs):
    def build(g):
        paths = []
        for which, text in (("new", new), ("old", old)):
            paths.append(FOLDER + f"vocabulary {name} {which}".encode())
            g.WriteFile(g.constant(paths[-1]), g.constant(text), name=which)
        g.GenerateVocabRemapping(*(g.constant(path) for path in paths), name="op", **attrs)
        return [["new", "old"], ["op:0", "op:1"]]

    return graph_case(name, "GenerateVocabRemapping", build)


def matrix(name, rows, columns, given, value=None, **attrs):
    path = FOLDER + b"matrix " + name.encode()

    def build(g):
        data = normal(4, 3) if value is None else value
        g.SaveV2(g.constant(path), g.constant(strings(["m"])), g.constant(strings([""])), [g.constant(data)], name="save")
        ids = [g.constant(np.array(x, np.int64)) for x in (rows, columns)]
        filled = g.constant(np.array(given, np.float32))
        g.LoadAndRemapMatrix(g.constant(path), g.constant(b"m"), *ids, filled, num_rows=len(rows), name="op", **attrs)
        return [["save"], ["op:0"]]

    return graph_case(name, "LoadAndRemapMatrix", build)


CASES = [
    vocabulary("some kept", b"a\nb\nc\nd\n", b"d\nx\na", new_vocab_offset=0, num_new_vocab=4),
    vocabulary("part of the new", b"a\nb\nc\nd\n", b"d\nc\na\n", new_vocab_offset=1, num_new_vocab=2),
    vocabulary("part of the old", b"a\nb\nc\n", b"c\nb\na\n", new_vocab_offset=0, num_new_vocab=3, old_vocab_size=2),
    vocabulary("nothing new", b"a\n", b"a\n", new_vocab_offset=0, num_new_vocab=0),
    vocabulary("too few", b"a\nb\n", b"a\n", new_vocab_offset=1, num_new_vocab=2),
    vocabulary("old too few", b"a\nb\n", b"a\n", new_vocab_offset=0, num_new_vocab=2, old_vocab_size=3),
    vocabulary("old token twice", b"a\nb\n", b"a\nb\na\n", new_vocab_offset=0, num_new_vocab=2),
    vocabulary("old token twice beyond", b"a\nb\n", b"a\nb\na\n", new_vocab_offset=0, num_new_vocab=2, old_vocab_size=2),
    vocabulary("old of no size", b"a\n", b"a\n", new_vocab_offset=0, num_new_vocab=1, old_vocab_size=0),
    vocabulary("old is empty", b"a\n", b"", new_vocab_offset=0, num_new_vocab=1),
    vocabulary("new is empty", b"", b"a\n", new_vocab_offset=0, num_new_vocab=0),
    vocabulary("line is empty", b"a\n\nb\n", b"a\n", new_vocab_offset=0, num_new_vocab=1),
    vocabulary("line is empty beyond", b"a\n", b"a\n\nb\n", new_vocab_offset=0, num_new_vocab=1, old_vocab_size=1),
    vocabulary("windows lines", b"a\r\nb\r\n", b"b\r\na\r\n", new_vocab_offset=0, num_new_vocab=2),
    matrix("rows", [2, 0, 3], [], [], num_cols=3),
    matrix("rows and columns", [2, -1], [1, 0, -1], [9, 8, 7, 6], num_cols=3),
    matrix("few rows at a time", [3, 0, 1], [2, 0], [], num_cols=2, max_rows_in_memory=1),
    matrix("too few values", [2, -1], [], [1], num_cols=3),
    matrix("too many values", [2, 1], [], [1], num_cols=3),
    matrix("no such row", [4, 0], [], [], num_cols=3),
    matrix("row twice", [2, 2], [], [], num_cols=3),
    matrix("wrong columns", [2, 1], [], [], num_cols=2),
    matrix("not a matrix", [0], [], [], normal(3), num_cols=3),
    matrix("not float", [0], [], [], normal(3, 3, dtype="double"), num_cols=3),
]
