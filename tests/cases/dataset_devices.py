"""Elements distributed to several devices, with requests in any order."""

import numpy as np

from tests.opcases import graph_case
from tests.pipelines import NUMBER, elements, int64, numbers, slices

CPUS = {"devices": ["/cpu:0", "/cpu:0"]}
PAIR = elements(("int64", ()), ("float32", (2,)))


def _steps(g, handle, data, shards, spec=NUMBER, **start):
    """A pass with requests of shards in this order."""
    begun = g.MultiDeviceIteratorInit(data, handle, int64(4), name="start")
    for i in sorted(set(shards)):
        given = (handle, np.int32(i), start.get("incarnation", begun))
        g.MultiDeviceIteratorGetNextFromShard(*given, name=f"next{i}", **spec)
    return begun


def asked(key, shards, count=5):
    """The start and the requests are in the same graph; the number of the pass is fed."""

    def build(g):
        handle = g.MultiDeviceIterator(shared_name="", container="", **CPUS, **NUMBER)
        _steps(g, handle, numbers(g, count), shards, incarnation=int64(1))
        return [["start:0"], *[[f"next{i}:0"] for i in shards]]

    return graph_case(key, "MultiDeviceIteratorGetNextFromShard", build)


def two_components(g):
    handle = g.MultiDeviceIterator(shared_name="x", container="", **CPUS, **PAIR)
    data = slices(g, np.arange(3), np.float32([[0, 1], [2, 3], [4, 5]]))
    _steps(g, handle, data, (0, 1), PAIR, incarnation=int64(2))
    return [["start:0"], ["start:0"], ["next1:0", "next1:1"], ["next0:0", "next0:1"], ["next0:1"], ["next1:0"]]


def of_another_pass(g):
    handle = g.MultiDeviceIterator(shared_name="", container="", **CPUS, **NUMBER)
    _steps(g, handle, numbers(g, 3), (0,), incarnation=int64(7))
    return [["start:0"], ["next0:0"]]


def by_handle(g):
    handle = g.MultiDeviceIterator(shared_name="", container="", **CPUS, **NUMBER)
    other = g.MultiDeviceIteratorFromStringHandle(g.MultiDeviceIteratorToStringHandle(handle), **NUMBER)
    _steps(g, other, numbers(g, 3), (0, 1), incarnation=int64(1))
    return [["start:0"], ["next0:0"], ["next1:0"]]


def no_handle(g):
    g.MultiDeviceIteratorFromStringHandle(np.array(b"no handle", object), name="none", **NUMBER)
    return [["none"]]


def anonymous(op):
    def build(g):
        result = getattr(g, op)(**CPUS, **NUMBER)
        _steps(g, result[0] if isinstance(result, tuple | list) else result, numbers(g, 3), (0,))
        return [["next0:0"], ["next0:0"]]

    return graph_case(op, op, build)


def let_go(g):
    handle, deleter = g.AnonymousMultiDeviceIterator(**CPUS, **NUMBER)
    g.DeleteMultiDeviceIterator(handle, [], deleter, name="end")
    return [["end"]]


CASES = [
    graph_case("let go", "DeleteMultiDeviceIterator", let_go),
    asked("in turn", [0, 1, 0, 1, 0, 1, 0]),
    asked("one after the other", [0, 0, 0, 0, 1, 1, 1]),
    asked("nothing", [0, 1], count=0),
    graph_case("two components", "MultiDeviceIterator", two_components),
    graph_case("of another pass", "MultiDeviceIteratorInit", of_another_pass),
    graph_case("by handle", "MultiDeviceIteratorToStringHandle", by_handle),
    graph_case("no handle", "MultiDeviceIteratorFromStringHandle", no_handle),
    anonymous("AnonymousMultiDeviceIterator"),
    anonymous("AnonymousMultiDeviceIteratorV3"),
]
