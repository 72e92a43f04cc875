"""Calls of functions that implement the same interface for several devices."""

import numpy as np

from tests.functions import define
from tests.opcases import graph_case, normal
from tfg.core.building.builder import GraphBuilder
from tfg.core.types.tensors import FuncRef

X = normal(3)
GRAPPLER_MINIMUM = 4
"""TensorFlow's Grappler leaves smaller graphs alone."""


def implement(g: GraphBuilder, name: str, device: str | None, added: float, interface="sum", dtypes=("float32",)) -> str:
    """A function that adds a distinct number, so that results identify the function that ran."""
    define(g, name, dtypes, lambda b, x, *more: [b.AddV2(x, b.constant(np.float32(added)))])
    attrs = {"api_implements": interface.encode(), **({"api_preferred_device": device.encode()} if device else {})}
    g.graph.functions[name].attrs = attrs
    return name


def implementations(g, *devices):
    """Functions `f0`, `f1` ... for these devices, which add 1, 2 ...; and a value that Grappler cannot fold."""
    for i, device in enumerate(devices):
        implement(g, f"f{i}", device, i + 1.0)
    for i in range(GRAPPLER_MINIMUM):
        g.constant(i, name=f"unused_{i}")
    return g.PlaceholderWithDefault(X, shape=[3])


def call(b, value, f="f0", **options):
    return b.PartitionedCall([value], Tout=["float32"], f=f, **options)[0]


def by_name(g, x):
    return g.graph.add_node("call", "f0", [x]).output()


def nested(g, x):
    return call(g, x, define(g, "outer", ["float32"], lambda b, a: [call(b, a)]))


def chosen(g, x):
    return g.Case(0, [x], Tout=["float32"], branches=[FuncRef("f0")])[0]


def loop(g, x):
    define(g, "below", ["int32", "float32"], lambda b, i, a: [b.Less(i, b.constant(2))])
    define(g, "step", ["int32", "float32"], lambda b, i, a: [b.AddV2(i, b.constant(1)), call(b, a)])
    result = g.While([g.constant(0), x], cond="below", body="step")[1]
    result.node.set_attr("_lower_using_switch_merge", True)
    return result


def of(way, *devices):
    def build(g):
        return [[g.Identity(way(g, implementations(g, *devices))).name]]

    return build


def beside_other_signatures(interface):
    """Implementations with different signatures stop TensorFlow from choosing at all, with any interface."""

    def build(g):
        x = implementations(g, None, "CPU")
        implement(g, "odd", "GPU", 5.0, interface)
        implement(g, "other", "GPU", 6.0, interface, ("float32", "float32"))
        used = g.PartitionedCall([x, x], Tout=["float32"], f="other")[0]
        return [[call(g, x).name, call(g, used, "odd").name]]

    return build


WAYS = (call, by_name, nested, chosen, loop)
DEVICES = ((None, "CPU", "GPU"), ("GPU", None), ("GPU", "CPU"), (None, "cpu"), (None, "XLA_CPU"), (None,))
CASES = [
    *(graph_case(f"{way.__name__}", "PartitionedCall", of(way, None, "GPU", "CPU")) for way in WAYS),
    *(graph_case(f"call {devices}", "PartitionedCall", of(call, *devices)) for devices in DEVICES),
    *(graph_case(f"signatures {name}", "PartitionedCall", beside_other_signatures(name)) for name in ("sum", "another")),
]
