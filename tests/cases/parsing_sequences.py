"""Cases of the parsing_sequences family."""

import numpy as np

from tests.example_messages import sequence_example
from tests.opcases import case
from tests.opcases import string_array as strings
from tfg.core.types import dtypes

E0 = sequence_example({})
E1 = sequence_example({"c": [5]}, a=[[1, 2], [3]], d=[[1.5, 2.5], [3.5, 4.5]])
E2 = sequence_example({}, a=[[], [4, 5, 6], [7]], d=[[9.0, 9.0]])
UNSET = sequence_example({}, a=[None, [3]])


def v2(key, serialized, sparse=(), dense=(), ragged=(), context_sparse=(), context_dense=(), context_ragged=()):
    """Sparse (key, type), dense (key, type, shape, may miss), ragged (key, type, splits), context dense (key, default)."""
    return case(
        "ParseSequenceExampleV2",
        strings(serialized),
        strings([]),
        strings([k for k, _ in context_sparse]),
        strings([k for k, _ in context_dense]),
        strings([k for k, _, _ in context_ragged]),
        strings([k for k, _ in sparse]),
        strings([k for k, _, _, _ in dense]),
        strings([k for k, _, _ in ragged]),
        np.array([may for _, _, _, may in dense], bool),
        [np.asarray(default) for _, default in context_dense],
        key=key,
        Ncontext_sparse=len(context_sparse),
        context_sparse_types=[t for _, t in context_sparse],
        context_ragged_value_types=[t for _, t, _ in context_ragged],
        context_ragged_split_types=[s for _, _, s in context_ragged],
        context_dense_shapes=[(1,) for _ in context_dense],
        Nfeature_list_sparse=len(sparse),
        Nfeature_list_dense=len(dense),
        feature_list_sparse_types=[t for _, t in sparse],
        feature_list_dense_types=[t for _, t, _, _ in dense],
        feature_list_dense_shapes=[s for _, _, s, _ in dense],
        feature_list_ragged_value_types=[t for _, t, _ in ragged],
        feature_list_ragged_split_types=[s for _, _, s in ragged],
    )


D, A = ("d", "float", (2,), False), ("a", "int64")
RAGGED = ("a", "int64", "int32")
OLD = {
    "context_sparse_types": ["int64"],
    "Ncontext_sparse": 1,
    "Ncontext_dense": 1,
    "Nfeature_list_sparse": 1,
    "Nfeature_list_dense": 1,
    "feature_list_sparse_types": ["int64"],
    "feature_list_dense_types": ["float"],
    "feature_list_dense_shapes": [(2,)],
    "context_dense_shapes": [(1,)],
    "Tcontext_dense": [dtypes.int64],
}
KEYS = {
    "context_sparse_keys": ["q"],
    "context_dense_keys": ["c"],
    "feature_list_sparse_keys": ["a"],
    "feature_list_dense_keys": ["d"],
}


def single(key, serialized, missing):
    return case(
        "ParseSingleSequenceExample",
        strings(serialized),
        strings(missing),
        [strings("q")],
        [strings("c")],
        [strings("a")],
        [strings("d")],
        [np.int64([8])],
        strings(""),
        key=key,
        **OLD,
    )


CASES = [
    v2("sparse", [E1, E2, E0], [A]),
    v2("sparse scalar", E1, [A]),
    v2("sparse missing", E0, [A]),
    v2("dense", [E1, E2], dense=[D]),
    v2("dense missing", [E1, E0], dense=[D]),
    v2("dense may miss", [E1, E0], dense=[("d", "float", (2,), True)]),
    v2("dense of wrong size", [E1], dense=[("a", "int64", (1,), True)]),
    v2("dense of wrong type", [E1], dense=[("a", "float", (1,), True)]),
    v2("dense scalar", E1, dense=[D]),
    v2("dense strings", [sequence_example({}, s=[[b"x"], [b"y"]]), E0], dense=[("s", "string", (), True)]),
    v2("ragged", [E1, E2, E0], ragged=[RAGGED]),
    v2("context", [E1, E2], context_sparse=[("c", "int64")], context_ragged=[("q", "float", "int64")]),
    v2("context ragged", [E1, E0], context_ragged=[("c", "int64", "int32")]),
    v2("context dense", [E0, E1], context_dense=[("c", np.int64([8]))]),
    v2("context dense scalar", E0, context_dense=[("c", np.int64([8]))]),
    v2("context dense missing", [E0], context_dense=[("c", np.zeros(0, np.int64))]),
    v2("context dense of no kind", [E1, sequence_example({"c": None})], context_dense=[("c", np.int64([8]))]),
    v2("context dense of no example", [], context_dense=[("c", np.int64([8]))]),
    v2("context dense of no example, without default", [], context_dense=[("c", np.zeros(0, np.int64))]),
    v2("all", [E1, E2], [A], [D], [("q", "float", "int64")], [("c", "int64")]),
    v2("none", [], [A], [D], [("q", "float", "int64")]),
    v2("sparse and ragged", [E1], [A], ragged=[RAGGED]),
    v2("unset sparse", [UNSET], [A]),
    v2("unset ragged", [UNSET], ragged=[RAGGED]),
    v2("damaged", [b"\x07"], [A]),
    v2("rank 2", [[E1]], [A]),
    case(
        "ParseSequenceExample",
        strings([E1, E2]),
        strings([]),
        [np.int64([8])],
        key="v1",
        feature_list_dense_missing_assumed_empty=[],
        **KEYS,
        **OLD,
    ),
    single("single", E1, []),
    single("single of no kind", sequence_example({"c": None}, d=[[1.5, 2.5]]), []),
    single("single missing", E0, []),
    single("single may miss", E0, ["d"]),
]
