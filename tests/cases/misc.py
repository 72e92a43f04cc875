"""Cases of the misc family."""

import numpy as np

from tests.opcases import graph_case


def timestamp(g):
    g.Timestamp(name="now")
    g.Cast(g.Greater(g.as_output("now:0"), g.constant(np.float64(1.7e9))), DstT="float", name="op")
    return [["op:0"]]


def version(g):
    g.GraphDefVersion(name="op")
    return [["op"]]


def py_func(op):
    def build(g):
        getattr(g, op)([g.constant(1.0)], token="nobody", Tout=["float"], name="op")
        return [["op:0"]]

    return graph_case(op, op, build)


CASES = [
    *map(py_func, ("PyFunc", "PyFuncStateless", "EagerPyFunc")),
    graph_case("now", "Timestamp", timestamp),
    graph_case("version", "GraphDefVersion", version),
]
