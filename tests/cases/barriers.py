"""Cases of the barriers family."""

import numpy as np

from tests.opcases import graph_case
from tests.opcases import string_array as strings

TYPES = ["float", "int32"]
TAKEN = [f"take:{i}" for i in range(4)]


def barrier(key, steps, **attrs):
    """Two components; `steps` has the actions: 0 or 1 insert this component of three keys, 2 inserts a component of a new
    key.
    """

    def build(g):
        node = g.Barrier(component_types=TYPES, shapes=[(), (2,)])
        floats, rows = np.float32([1, 2, 3]), np.arange(6, dtype=np.int32).reshape(3, 2)
        keys = g.constant(strings(list("abc")))
        g.BarrierInsertMany(node, keys, g.constant(floats), component_index=0, name="0")
        g.BarrierInsertMany(node, keys, g.constant(rows), component_index=1, name="1")
        g.BarrierInsertMany(node, g.constant(strings(["d"])), g.constant(np.float32([9])), component_index=0, name="2")
        g.BarrierInsertMany(node, g.constant(strings(["d"])), g.constant(rows[:1]), component_index=1, name="3")
        g.BarrierInsertMany(node, keys, g.constant(rows), component_index=0, name="4")
        g.BarrierTakeMany(node, g.constant(2), component_types=TYPES, name="take", **attrs)
        g.BarrierReadySize(node, name="ready")
        g.BarrierIncompleteSize(node, name="incomplete")
        g.BarrierClose(node, name="close")
        g.BarrierClose(node, cancel_pending_enqueues=True, name="cancel")
        sizes = ["ready:0", "incomplete:0"]
        names = {"take": TAKEN, "sizes": sizes}
        return [names.get(step, [step]) for step in steps.split()]

    return graph_case(key, "Barrier", build)


CASES = [
    barrier("insert and take", "0 sizes 1 sizes take sizes"),
    barrier("order of insertion", "2 0 1 3 take take"),
    barrier("value twice", "0 0"),
    barrier("wrong dtype", "4"),
    barrier("closed", "0 1 close 2 1 take take sizes close"),
    barrier("closed with incomplete", "0 2 close sizes 1 take 3 take 0"),
    barrier("small batch", "0 1 close take take take", allow_small_batch=True),
    barrier("cancelled", "0 cancel 1 sizes", allow_small_batch=True),
]
