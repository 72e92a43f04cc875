"""Cases of the sparse_io family."""

import numpy as np

from tests.opcases import case, graph_case, i64, strings

INDICES = i64([0, 0], [0, 2], [3, 1])
NUMBERS = (INDICES, np.array([1.5, -2.0, 3.0], np.float32), i64(4, 3))
WORDS = (INDICES, strings(b"a", b"", b"longer"), i64(4, 3))


def strings_out():
    cases = [case(op, *parts) for op in ("SerializeSparse", "SerializeManySparse") for parts in (NUMBERS, WORDS)]
    return [
        *cases,
        case("SerializeManySparse", INDICES[:, :1].copy(), NUMBERS[1], i64(4)),
        case("SerializeSparse", INDICES[0], NUMBERS[1], i64(4)),
        case("DeserializeSparse", strings([b"\xff", b"", b""]), dtype="float"),
        case("DeserializeSparse", strings(b"a", b"b"), dtype="float"),
        case("DeserializeManySparse", strings(b"a", b"b", b"c"), dtype="float"),
    ]


def round_trips():
    def many(op, parts, dtype):
        def build(g):
            packed = g.SerializeManySparse(*(g.constant(p) for p in parts))
            return [[o.name for o in g.apply(op, packed, dtype=dtype)]]

        return graph_case(f"{op} of {dtype}", op, build)

    def variant(g):
        packed = g.SerializeSparse(*(g.constant(p) for p in WORDS), out_type="variant")
        return [[o.name for o in g.DeserializeSparse(packed, dtype="string")]]

    def wrong(g):
        packed = g.SerializeSparse(*(g.constant(p) for p in NUMBERS))
        return [[o.name for o in g.DeserializeSparse(packed, dtype="int32")]]

    parts = ((NUMBERS, "float"), (WORDS, "string"))
    return [
        *(many(op, *p) for op in ("DeserializeSparse", "DeserializeManySparse") for p in parts),
        graph_case("variants", "DeserializeSparse", variant),
        graph_case("another dtype", "DeserializeSparse", wrong),
    ]


def maps():
    def one(g):
        handle = g.AddSparseToTensorsMap(*(g.constant(p) for p in NUMBERS), shared_name="m")
        taken = g.TakeManySparseFromTensorsMap(g.Pack([handle, handle], axis=0), dtype="float", shared_name="m")
        once = g.TakeManySparseFromTensorsMap(g.Pack([handle]), dtype="float", shared_name="m")
        return [[o.name for o in once], [o.name for o in taken]]

    def many(g):
        handles = g.AddManySparseToTensorsMap(*(g.constant(p) for p in WORDS), shared_name="m")
        taken = g.TakeManySparseFromTensorsMap(g.ReverseV2(handles, [0]), dtype="string", shared_name="m")
        return [[handles.name, *(o.name for o in taken)]]

    return [
        graph_case("one", "AddSparseToTensorsMap", one),
        graph_case("many", "AddManySparseToTensorsMap", many),
        graph_case("take", "TakeManySparseFromTensorsMap", many),
    ]


CASES = [*strings_out(), *round_trips(), *maps()]
