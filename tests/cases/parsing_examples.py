"""Cases of the parsing_examples family."""

import numpy as np

from tests.example_messages import example
from tests.opcases import case
from tests.opcases import string_array as strings

E0, E1, E2 = example(), example(a=[1, 2], b=[1.5], c=[b"x"]), example(a=[3], b=[2.5])
MATRIX = example(a=[1, -2, 3, 4])
NONE = np.zeros(0, np.int64)


def v2(key, serialized, sparse=(), dense=(), ragged=(), names=()):
    """ParseExampleV2: sparse (key, type), dense (key, shape, default), ragged (key, type, splits)."""
    return case(
        "ParseExampleV2",
        strings(serialized),
        strings(list(names)),
        strings([k for k, _ in sparse]),
        strings([k for k, _, _ in dense]),
        strings([k for k, _, _ in ragged]),
        [np.asarray(default) for _, _, default in dense],
        key=key,
        num_sparse=len(sparse),
        sparse_types=[t for _, t in sparse],
        ragged_value_types=[t for _, t, _ in ragged],
        ragged_split_types=[s for _, _, s in ragged],
        dense_shapes=[s for _, s, _ in dense],
    )


def v1(key, serialized, sparse, dense):
    return case(
        "ParseExample",
        strings(serialized),
        strings([]),
        [strings(k) for k, _ in sparse],
        [strings(k) for k, _, _ in dense],
        [np.asarray(default) for _, _, default in dense],
        key=key,
        sparse_types=[t for _, t in sparse],
        dense_shapes=[s for _, s, _ in dense],
    )


def single(key, serialized, sparse, dense):
    return case(
        "ParseSingleExample",
        strings(serialized),
        [np.asarray(default) for _, _, default in dense],
        key=key,
        num_sparse=len(sparse),
        sparse_keys=[k for k, _ in sparse],
        sparse_types=[t for _, t in sparse],
        dense_keys=[k for k, _, _ in dense],
        dense_shapes=[s for _, s, _ in dense],
    )


B = ("b", (1,), np.zeros(0, np.float32))
VARIABLE = ("a", (None,), np.int64(9))
CASES = [
    v2("sparse", [E1, E2, E0], [("a", "int64"), ("c", "string")]),
    v2("sparse scalar", E1, [("a", "int64")]),
    v2("sparse of wrong type", [E1], [("a", "float")]),
    v2("dense", [E1, E2], dense=[B]),
    v2("dense missing", [E1, E0], dense=[B]),
    v2("dense default", [E1, E0], dense=[("b", (1,), np.float32([7])), ("c", (), np.array(b"q", object))]),
    v2("dense matrix", [MATRIX], dense=[("a", (2, 2), NONE)]),
    v2("dense of wrong size", [MATRIX], dense=[("a", (3,), NONE)]),
    v2("dense of wrong type", [E1], dense=[("a", (2,), np.zeros(0, np.float32))]),
    v2("dense scalar", E1, dense=[B]),
    v2("default of wrong shape", [E1], dense=[("a", (2,), np.int64([1, 2, 3]))]),
    v2("variable", [E1, E2, E0], dense=[VARIABLE]),
    v2("variable rows", [MATRIX, E1, E0], dense=[("a", (None, 2), np.int64([9]))]),
    v2("variable stride", [E2], dense=[("a", (None, 2), np.int64([9]))]),
    v2("variable without default", [E2], dense=[("a", (None,), NONE)]),
    v2("variable scalar", E1, dense=[VARIABLE]),
    v2("ragged", [E1, E2, E0], ragged=[("a", "int64", "int32"), ("b", "float", "int64")]),
    v2("ragged scalar", E1, ragged=[("a", "int64", "int64")]),
    v2("all", [E1, E2], [("a", "int64")], [B], [("c", "string", "int32")], ["n", "m"]),
    v2("none", [], [("a", "int64")], [B], [("c", "string", "int32")]),
    v2("empty feature", [example(a=None)], [("a", "int64")]),
    v2("key twice in a message", [E1 + example(a=[7, 8, 9])], [("a", "int64")]),
    v2("dense and sparse", [E1], [("a", "int64")], [("a", (2,), NONE)]),
    v2("damaged", [b"\x07"], [("a", "int64")]),
    v2("rank 2", [[E1]], [("a", "int64")]),
    v2("names", [E1], [("a", "int64")], names=["n", "m"]),
    v1("v1", [E1, E2], [("a", "int64")], [B]),
    v1("v1 keys in vectors", [E1, E2], [(["a"], "int64")], [(["b"], *B[1:])]),
    v1("v1 scalar", E1, [("a", "int64")], [B]),
    single("single", E1, [("a", "int64")], [B]),
    single("single variable", E1, [("c", "string")], [VARIABLE]),
    single("single vector", [E1], [("a", "int64")], [B]),
]
