"""Functions for the libraries of test graphs."""

from tfg.core.building.builder import GraphBuilder
from tfg.core.graph.graph import Function
from tfg.core.registry.catalog import ArgDef, OpDef
from tfg.core.types.dtypes import as_dtype


def define(g, name, args, make, stateful=False, gradient=None):
    """Add a function with arguments of these dtypes; `make(builder, *arguments)` returns the results."""
    inner = GraphBuilder()
    inner.graph.functions = g.graph.functions
    types = [as_dtype(arg) for arg in args]
    nodes = [inner.graph.add_node(f"a{i}", "_Arg", (), (), {"T": t, "index": i}) for i, t in enumerate(types)]
    results = make(inner, *(node.output() for node in nodes))
    signature = OpDef(
        name,
        tuple(ArgDef(f"a{i}", dtype) for i, dtype in enumerate(types)),
        tuple(ArgDef(f"r{i}", value.dtype) for i, value in enumerate(results)),
        {},
        frozenset({"stateful"} if stateful else ()),
    )
    g.graph.functions[name] = Function(signature, inner.graph, nodes, list(results), gradient=gradient)
    return name


def call_with_an_unread_input(x_shape, unread_shape):
    """The graph y = f(x, unread), float32, of a function that gives exp(x)."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=x_shape, name="x")
    unread = g.Placeholder(dtype="float32", shape=unread_shape, name="unread")
    define(g, "f", ["float32", "float32"], lambda inner, a, b: [inner.Exp(a)])
    g.PartitionedCall([x, unread], f="f", Tout=["float32"], name="y")
    return g.graph
