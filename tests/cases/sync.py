"""Cases of the sync family."""

import numpy as np

from tests.opcases import graph_case


def build(g):
    """Two critical sections in the same run, and a lock left behind."""
    mutex = g.MutexV2(shared_name="m")
    ends = []
    for name in ("a", "b"):
        lock = g.MutexLock(mutex, name=name)
        with g.control_dependencies([lock]):
            value = g.StringJoin([g.constant(name.encode())], name=f"work_{name}")
        with g.control_dependencies([value]):
            ends.append(g.ConsumeMutexLock(lock, name=f"free_{name}"))
    with g.control_dependencies([g.graph["a"]]):
        g.StringJoin([g.constant(b"left")], name="left")
    return [["work_a:0", "work_b:0", "free_a", "free_b"], ["left:0"], ["work_b:0", "free_b"]]


def counter(g):
    g.DummyIterationCounter(name="op")
    return [["op"]]


def two_locks(g):
    """A tensor of variants without a lock."""
    numbers = g.TensorDataset([g.constant(np.int64(1))], Toutput_types=["int64"], output_shapes=[[]])
    g.ConsumeMutexLock(g.Pack([numbers, numbers]), name="op")
    return [["op"]]


CASES = [
    graph_case("two locks", "ConsumeMutexLock", two_locks),
    *[graph_case(op, op, build) for op in ("MutexV2", "MutexLock", "ConsumeMutexLock")],
    graph_case("counter", "DummyIterationCounter", counter),
]
