"""Cases of the tensor_map family."""

from tests.opcases import graph_case, normal
from tests.opcases import string_array as strings


def build(g):
    """Two keys: a replaced key and an erased key."""
    first, second = (g.constant(strings(key)) for key in ("a", "b"))
    node = g.EmptyTensorMap(name="empty")
    for i, key in enumerate((first, second, first)):
        node = g.TensorMapInsert(node, key, g.constant(normal(2, seed=i)), name=f"insert{i}")
    g.TensorMapSize(node, name="size")
    g.TensorMapLookup(node, first, value_dtype="float", name="lookup")
    g.TensorMapLookup(node, g.constant(strings("c")), value_dtype="float", name="none")
    g.TensorMapHasKey(node, second, name="has")
    erased = g.TensorMapErase(node, second, value_dtype="float", name="erase")
    g.TensorMapSize(erased, name="size_erased")
    g.TensorMapHasKey(erased, second, name="has_erased")
    g.TensorMapStackKeys(erased, key_dtype="string", name="keys")
    g.TensorMapSize(g.TensorMapErase(erased, second, value_dtype="float"), name="erase_again")
    return [[f"{n}:0"] for n in ("size", "lookup", "none", "has", "size_erased", "has_erased", "keys", "erase_again")]


OPS = (
    "EmptyTensorMap", "TensorMapInsert", "TensorMapSize", "TensorMapLookup", "TensorMapHasKey", "TensorMapErase",
    "TensorMapStackKeys",
)  # fmt: skip
CASES = [graph_case(op, op, build) for op in OPS]
