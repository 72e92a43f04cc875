"""Ops that run functions of the library."""

import numpy as np

from tests.functions import define
from tests.opcases import case, graph_case, normal
from tfg.core.types.tensors import FuncRef

X = normal(3)


def square(g):
    return define(g, "square", ["float32"], lambda b, x: [b.Square(x)])


def negative(g):
    return define(g, "negative", ["float32"], lambda b, x: [b.Neg(x)])


def call(op, **options):
    def build(g):
        return [[g.apply(op, [X], Tout=["float32"], f=square(g), **options)[0].name]]

    return build


def remote(g):
    target = g.constant(np.array("/job:localhost/replica:0/task:0/device:CPU:0", object))
    return [[g.RemoteCall(target, [g.constant(X)], Tout=["float32"], f=square(g))[0].name]]


def nested(g):
    square(g)

    def make(b, x):
        once = b.PartitionedCall([x], Tout=["float32"], f="square")
        return [b.PartitionedCall(once, Tout=["float32"], f="square")[0]]

    twice = define(g, "twice", ["float32"], make)
    return [[g.PartitionedCall([X], Tout=["float32"], f=twice)[0].name]]


def conditional(op, condition):
    def build(g):
        branches = {"then_branch": square(g), "else_branch": negative(g)}
        chosen = g.apply(op, g.constant(condition), [g.constant(X)], Tout=["float32"], name="chosen", **branches)
        return [[chosen[0].name]]

    return build


def switch_case(op, index):
    def build(g):
        branches = [FuncRef(square(g)), FuncRef(negative(g))]
        return [[g.apply(op, index, [X], Tout=["float32"], branches=branches)[0].name]]

    return build


def condition(g):
    return define(g, "below", ["int32", "float32"], lambda b, i, x: [b.Less(i, b.constant(4))])


def body(g):
    return define(g, "step", ["int32", "float32"], lambda b, i, x: [b.AddV2(i, b.constant(1)), b.AddV2(x, x)])


def loop(op, start=0):
    def build(g):
        count, value = g.apply(op, [g.constant(start), g.constant(X)], cond=condition(g), body=body(g), name="loop")
        return [[count.name, value.name]]

    return build


def loop_of_other_dtypes(g):
    wrong = define(g, "wrong", ["int32", "float32"], lambda b, i, x: [x, i])
    return [[g.While([g.constant(0), g.constant(X)], cond=condition(g), body=wrong)[0].name]]


def counting(start, limit, delta):
    def build(g):
        step = define(g, "sum", ["int32", "float32"], lambda b, i, x: [b.AddV2(x, b.Cast(i, DstT="float32"))])
        return [[g.For(start, limit, delta, [g.constant(X)], body=step)[0].name]]

    return build


def gradient_of(g):
    cube = define(g, "cube", ["float32"], lambda b, x: [b.Mul(b.Square(x), x)])
    return [[g.SymbolicGradient([g.constant(X), g.constant(np.ones(3, np.float32))], Tout=["float32"], f=cube)[0].name]]


def gradient_through_floats(g):
    """A result that is no float gives nothing."""
    f = define(g, "f", ["float32", "int32"], lambda b, x, n: [b.Mul(n, n), b.Mul(x, b.Cast(n, DstT="float32"))])
    seeds = [g.constant(np.int32(7)), g.constant(-X)]
    grads = g.SymbolicGradient([g.constant(X), g.constant(np.int32(3)), *seeds], Tout=["float32", "int32"], f=f)
    return [[grads[0].name]]


def declared_gradient(g):
    """The library's gradient function is called, whatever the function computes."""
    define(g, "invented", ["float32", "float32"], lambda b, x, dy: [b.AddV2(x, dy)])
    named = define(g, "cube", ["float32"], lambda b, x: [b.Mul(b.Square(x), x)], gradient="invented")
    return [[g.SymbolicGradient([g.constant(X), g.constant(np.ones(3, np.float32))], Tout=["float32"], f=named)[0].name]]


def mapped(values, shape):
    def build(g):
        return [[g.MapDefun([values], [], output_types=["float32"], output_shapes=[shape], f=square(g))[0].name]]

    return build


def effects(g):
    """An assignment without a path to a result of the body does not run: the call is inlined into the graph."""
    handle = g.VarHandleOp(dtype="float32", shape=[3], name="v")
    ready = g.AssignVariableOp(handle, g.constant(X), name="init")

    def make(b, resource, x):
        b.AssignAddVariableOp(resource, x)
        return [b.Neg(x)]

    write = define(g, "write", ["resource", "float32"], make, stateful=True)
    called = g.StatefulPartitionedCall([handle, g.constant(X)], Tout=["float32"], f=write)[0]
    return [[ready.name], [called.name], [g.ReadVariableOp(handle, dtype="float32").name]]


def only_effects(g):
    """The call of a body without any result is not put into the graph: the body runs as a whole."""
    handle = g.VarHandleOp(dtype="float32", shape=[3], name="v")
    ready = g.AssignVariableOp(handle, g.constant(X), name="init")

    def make(b, resource, x):
        b.AssignAddVariableOp(resource, x)
        return []

    write = define(g, "write", ["resource", "float32"], make, stateful=True)
    called = g.StatefulPartitionedCall([handle, g.constant(X)], Tout=[], f=write)
    return [[ready.name], [called.name], [g.ReadVariableOp(handle, dtype="float32").name]]


def lowered_effects(g):
    """A lowered conditional leaves effects out, with and without results of the branches."""
    handle = g.VarHandleOp(dtype="float32", shape=[3], name="v")
    ready = g.AssignVariableOp(handle, g.constant(X), name="init")

    def make(b, resource):
        b.AssignAddVariableOp(resource, b.constant(X))
        return []

    branch = define(g, "write", ["resource"], make, stateful=True)
    choice = g.If(True, [handle], Tout=[], then_branch=branch, else_branch=branch)
    choice.set_attr("_lower_using_switch_merge", True)
    return [[ready.name], [choice.name], [g.ReadVariableOp(handle, dtype="float32").name]]


def batched(g):
    options = {"num_batch_threads": 1, "max_batch_size": 8, "batch_timeout_micros": 1}
    return [[g.BatchFunction([g.constant(X)], [], Tout=["float32"], f=square(g), **options)[0].name]]


def filled_up(allowed, largest):
    """The function returns the number of received rows, and sees the padding rows of the batch."""

    def build(g):
        def centred(b, x):
            return [b.Sub(x, b.Mean(x, b.constant(np.int32([0])), keep_dims=True))]

        function = define(g, "centred", ["float32"], centred)
        options = {"num_batch_threads": 1, "batch_timeout_micros": 1, "shared_name": f"{allowed} {largest}"}
        values = g.constant(np.float32([1, 2, 6]))
        batch = g.BatchFunction(
            [values], [], Tout=["float32"], f=function, max_batch_size=largest, allowed_batch_sizes=allowed, **options
        )
        return [[batch[0].name]]

    return build


IFS = ("If", "StatelessIf", "_If")
CONDITIONS = (True, False, np.float32(0), np.int32(2), np.zeros(0, np.float32), np.zeros(2, np.float32))
CASES = [
    graph_case("call", "PartitionedCall", call("PartitionedCall")),
    graph_case("stateful call", "StatefulPartitionedCall", call("StatefulPartitionedCall")),
    graph_case("remote call", "RemoteCall", remote),
    graph_case("nested calls", "PartitionedCall", nested),
    graph_case("effects", "StatefulPartitionedCall", effects),
    graph_case("only effects", "StatefulPartitionedCall", only_effects),
    graph_case("effects, lowered", "If", lowered_effects),
    graph_case("batch", "BatchFunction", batched),
    *(
        graph_case(f"batch of {allowed}, at most {largest}", "BatchFunction", filled_up(allowed, largest))
        for allowed, largest in (([], 4), ([2, 4], 4), ([3, 8], 8), ([8], 8), ([], 2))
    ),
    *(graph_case(f"{op} {i}", op, conditional(op, c)) for op in IFS for i, c in enumerate(CONDITIONS)),
    *(graph_case(f"{op} {i}", op, switch_case(op, i)) for op in ("Case", "StatelessCase") for i in (-1, 0, 1, 2)),
    *(graph_case(op, op, loop(op)) for op in ("While", "StatelessWhile", "_While")),
    graph_case("While, never", "While", loop("While", 5)),
    graph_case("While of other dtypes", "While", loop_of_other_dtypes),
    *(
        graph_case(f"For {args}", "For", counting(*args))
        for args in ((0, 4, 1), (4, 0, -2), (0, 0, 0), (4, 0, 1), (0, 4, 0), (0, 3, [1]))
    ),
    graph_case("gradient of a function", "SymbolicGradient", gradient_of),
    graph_case("gradient through floats", "SymbolicGradient", gradient_through_floats),
    graph_case("declared gradient", "SymbolicGradient", declared_gradient),
    graph_case("map", "MapDefun", mapped(np.abs(normal(2, 3)), [3])),
    graph_case("map over nothing", "MapDefun", mapped(np.zeros((0, 3), np.float32), [3])),
    case("DeviceIndex", device_names=["GPU", "CPU"], key="device"),
    case("DeviceIndex", device_names=["TPU"], key="no device"),
    case("_ListToArray", [X, X], T="float32", Tin=["float32", "float32"], N=2, key="_ListToArray"),
    case("_ArrayToList", [X, X], T="float32", N=2, out_types=["float32", "float32"], key="_ArrayToList"),
    *(case(op, T="float32", index=0, key=op) for op in ("_Arg", "_DeviceArg")),
    *(case(op, X, T="float32", index=0, key=op) for op in ("_Retval", "_DeviceRetval")),
    graph_case("FakeParam", "FakeParam", lambda g: [[g.Shape(g.FakeParam(dtype="float32", shape=[2])).name]]),
]
