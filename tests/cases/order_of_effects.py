"""Graphs with an order from TensorFlow's executor alone, and values that share the memory of a variable."""

import numpy as np

from tests.cases.control_flow import counted, loop
from tests.functions import define
from tests.opcases import graph_case
from tfg.core.registry.catalog import CATALOG
from tfg.core.types.shapes import Shape
from tfg.core.types.tensors import FuncRef


def variable(g, value, name="v"):
    """A reference variable with an initializer."""
    value = np.asarray(value)
    reference = g.VariableV2(dtype=value.dtype.name, shape=value.shape, name=name)
    return reference, g.Assign(reference, g.constant(value)).node.name


def counter(read, write, steps=3):
    """A schedule that reads a counter, with an increment of the counter in the same step."""

    def build(g):
        step, init = variable(g, np.int32(0), "step")
        rate = g.Cast(read(g, step), DstT="float32")
        total, init_total = variable(g, np.float32(0), "total")
        added = g.AssignAdd(total, g.Mul(rate, g.constant(2.0)))
        moved = write(g, step)
        return [[init, init_total], *[[added.name, moved.node.name]] * steps]

    return build


READS = {
    "directly": lambda g, v: v,
    "identity": lambda g, v: g.Identity(v),
    "squeezed": lambda g, v: g.Squeeze(g.ExpandDims(g.Neg(v), g.constant(0))),
    "expensively": lambda g, v: g.Neg(g.Neg(v)),
    "late": lambda g, v: g.Identity(g.Identity(g.Identity(g.Identity(v)))),
}
WRITES = {
    "add": lambda g, v: g.AssignAdd(v, g.constant(1)),
    "assign": lambda g, v: g.Assign(v, g.AddV2(g.Identity(v), g.constant(1))),
    "slowly": lambda g, v: g.Assign(v, g.AddV2(g.Neg(g.Neg(g.Identity(v))), g.constant(1))),
    "locked": lambda g, v: g.Assign(v, g.AddV2(g.Identity(v), g.constant(1)), use_locking=False),
}


def resource_counter(g):
    """A resource variable is read when the read runs; the read value stays."""
    handle = g.VarHandleOp(dtype="int32", shape=[], shared_name="step", name="step")
    init = g.AssignVariableOp(handle, g.constant(0))
    rate = g.Cast(g.ReadVariableOp(handle, dtype="int32"), DstT="float32")
    total, init_total = variable(g, np.float32(0), "total")
    added = g.AssignAdd(total, rate)
    moved = g.AssignAddVariableOp(handle, g.constant(1))
    return [[init.name, init_total], *[[added.name, moved.name]] * 3]


def schedule(is_resource, moved_first, readers, steps=3):
    """A rate from several reads of an int64 counter, with an increment constructed before or after the reads."""

    def build(g):
        if is_resource:
            step = g.VarHandleOp(dtype="int64", shape=[], shared_name="step", name="step")
            init = g.AssignVariableOp(step, g.constant(np.int64(1))).name
        else:
            step, init = variable(g, np.int64(1), "step")
            held = g.Identity(step)

        def look():
            return g.ReadVariableOp(step, dtype="int64") if is_resource else held

        def move():
            following = g.AddV2(look(), g.constant(np.int64(1)))
            return (g.AssignVariableOp(step, following) if is_resource else g.Assign(step, following).node).name

        moved = move() if moved_first else None
        rates = [reader(g, look()) for reader in readers]
        rate = g.Mul(g.AddN(rates), g.constant(np.float32(0.5)), name="rate")
        return [[init], *[[rate.name, moved or move()]] * steps]

    return build


READERS = {
    "cast": lambda g, v: g.Cast(v, DstT="float32"),
    "cast to int32": lambda g, v: g.Mul(g.Cast(g.Cast(v, DstT="int32"), DstT="float32"), g.constant(np.float32(7))),
    "cast to double": lambda g, v: g.Cast(g.Sqrt(g.Cast(v, DstT="double")), DstT="float32"),
    "added": lambda g, v: g.Cast(g.AddV2(v, g.constant(np.int64(20))), DstT="float32"),
    "passed on": lambda g, v: g.Cast(g.Neg(g.Identity(g.Identity(v))), DstT="float32"),
}
SCHEDULES = (["cast"], ["cast", "cast to int32"], ["cast to double", "passed on"], ["added", "cast", "passed on"], [*READERS])


def memory(seen, write, shape=(2, 3)):
    """A value read from a variable before a write, and used after the write."""

    def build(g):
        v, init = variable(g, np.arange(np.prod(shape), dtype=np.float32).reshape(shape))
        value = seen(g, g.Identity(v))
        with g.control_dependencies([value]):
            written = write(g, v, g.Placeholder(dtype="float32", shape=None, name="x"))
        with g.control_dependencies([written]):
            after = g.Neg(value)
        return [[init], [after.name, value.name], [value.name]]

    return build


def shape_of(*sizes):
    return np.array(sizes, np.int32)


SEEN = {
    "Identity": lambda g, v: g.Identity(v),
    "StopGradient": lambda g, v: g.StopGradient(v),
    "Snapshot": lambda g, v: g.Snapshot(v),
    "Reshape": lambda g, v: g.Reshape(v, g.constant(shape_of(-1))),
    "ExpandDims": lambda g, v: g.ExpandDims(v, g.constant(0)),
    "Squeeze": lambda g, v: g.Squeeze(v),
    "reshaped twice": lambda g, v: g.Reshape(g.ExpandDims(g.Identity(v), g.constant(1)), g.constant(shape_of(3, 2))),
    "Neg": lambda g, v: g.Neg(v),
    "Transpose": lambda g, v: g.Transpose(v, g.constant(shape_of(1, 0))),
    "ReverseV2": lambda g, v: g.ReverseV2(v, g.constant(np.array([0], np.int32))),
    "ConcatV2": lambda g, v: g.ConcatV2([v, g.constant(np.zeros((0, 3), np.float32))], g.constant(0)),
    "Slice of a row": lambda g, v: g.Slice(v, g.constant(shape_of(0, 0)), g.constant(shape_of(1, 3))),
    "Merge": lambda g, v: g.Merge(list(g.Switch(v, g.constant(True))))[0],
}
UPDATES = {
    "Assign": lambda g, v, x: g.Assign(v, x),
    "AssignAdd": lambda g, v, x: g.AssignAdd(v, x),
    "AssignSub": lambda g, v, x: g.AssignSub(v, x, use_locking=True),
    "ApplyGradientDescent": lambda g, v, x: g.ApplyGradientDescent(v, g.constant(0.5), x),
    "ScatterUpdate": lambda g, v, x: g.ScatterUpdate(v, g.constant(shape_of(1, 0)), x),
    "Assign of another size": lambda g, v, x: g.Assign(v, g.ConcatV2([x, x], g.constant(0)), validate_shape=False),
}
X = np.full((2, 3), 10, np.float32)
SCALARS = {"lr": 0.5, "momentum": 0.5, "beta1_power": 0.5, "beta2_power": 0.5, "beta1": 0.5, "beta2": 0.5, "epsilon": 0.5}


def memory_of_a_slot(op, place):
    """The optimizer's variable at a place of an update's inputs, read before the update and used after the update."""

    def build(g):
        names = [arg.name for arg in CATALOG[op].inputs]
        made = [variable(g, np.ones((2, 3), np.float32), name) for arg, name in zip(CATALOG[op].inputs, names) if arg.is_ref]
        value = g.Identity(made[place][0])
        with g.control_dependencies([value]):
            inputs = {name: g.constant(np.float32(SCALARS[name])) for name in names if name in SCALARS}
            inputs |= dict(zip(names, (reference for reference, _ in made)))
            inputs["grad"] = g.Placeholder(dtype="float32", shape=None, name="x")
            updated = getattr(g, op)(*map(inputs.__getitem__, names))
        with g.control_dependencies([updated]):
            after = g.Neg(value)
        return [[init for _, init in made], [after.name], [value.name]]

    return build


def memory_on_branches(place):
    """One of two variables, by a predicate, read before a write to one of them and used after the write."""

    def build(g):
        made = [variable(g, np.ones((2, 3), np.float32), name) for name in ("a", "b")]
        x = g.Placeholder(dtype="float32", shape=None, name="x")
        taken = [g.Identity(g.RefSwitch(v, g.constant(True))[i]) for i, (v, _) in enumerate(made)]
        value = g.Merge(taken)[0]
        with g.control_dependencies([value]):
            updated = g.AssignAdd(made[place][0], x)
        with g.control_dependencies([updated]):
            after = g.Neg(value)
        return [[init for _, init in made], [after.name], [value.name]]

    return build


def drawing(count, draws=1, seed=3, samples=1, runs=3, **attrs):
    """A loop that draws random numbers in each iteration, in no fixed order of the iterations."""

    def build(g):
        def body(values, fixed):
            with g.control_dependencies([values[0]]):
                shape, one = g.constant(shape_of(samples)), g.constant(1)
            drawn = [g.RandomUniform(shape, dtype="float32", seed=seed, seed2=5 + i) for i in range(draws)]
            if samples > 1:
                drawn = [g.Max(numbers, g.ExpandDims(fixed[1], fixed[1]), keep_dims=True) for numbers in drawn]
            return [g.AddV2(values[0], one), g.ConcatV2([values[1], *drawn], fixed[1])]

        initial = [g.constant(0), g.constant(np.zeros(0, np.float32))]
        constants = [g.constant(count), g.constant(0)]
        outs = loop(g, "f", initial, constants, lambda values, fixed: g.Less(values[0], fixed[0]), body, **attrs)
        return [[outs[1].name]] * runs

    return build


def drawing_before_a_conditional(count, runs):
    """The drawn number decides the branch of an iteration, and a branch draws too."""

    def build(g):
        def body(values, fixed):
            with g.control_dependencies([values[0]]):
                shape, one = g.constant(shape_of()), g.constant(1)
            drawn = g.RandomUniform(shape, dtype="float32", seed=3, seed2=5)
            left, right = g.Switch(drawn, g.Less(drawn, fixed[2]))
            with g.control_dependencies([g.Identity(right)]):
                inside = g.constant(shape_of())
            moved = g.AddV2(g.RandomStandardNormal(inside, dtype="float32", seed=3, seed2=6), right)
            merged = g.ExpandDims(g.Merge([g.Neg(left), moved])[0], fixed[1])
            return [g.AddV2(values[0], one), g.ConcatV2([values[1], merged], fixed[1])]

        initial = [g.constant(0), g.constant(np.zeros(0, np.float32))]
        constants = [g.constant(count), g.constant(0), g.constant(np.float32(0.5))]
        outs = loop(g, "f", initial, constants, lambda values, fixed: g.Less(values[0], fixed[0]), body)
        return [[outs[1].name]] * runs

    return build


def drawing_in_turn(g):
    """Each draw waits for the previous draw."""

    def step(values, fixed):
        with g.control_dependencies([values[0]]):
            shape = g.constant(shape_of(1))
        return [g.AddV2(values[0], g.RandomUniform(shape, dtype="float32", seed=3, seed2=5))]

    outs = counted(g, "f", 4, [g.constant(np.zeros(1, np.float32))], [], step)
    return [[outs[1].name]] * 3


def drawing_in_a_while(count, **attrs):
    """A While with draws in the body; the iterations of a lowered While overlap."""

    def build(g):
        cond = define(g, "cond", ["int32", "float32"], lambda b, i, x: [b.Less(i, b.constant(count))])

        def step(b, i, x):
            drawn = b.RandomUniform(b.constant(shape_of(1)), dtype="float32", seed=3, seed2=5)
            return [b.AddV2(i, b.constant(1)), b.ConcatV2([x, drawn], b.constant(0))]

        body = define(g, "body", ["int32", "float32"], step)
        initial = [g.constant(0), g.constant(np.zeros(0, np.float32))]
        out = g.While(initial, cond=cond, body=body, output_shapes=[Shape(()), Shape((None,))], name="loop", **attrs)
        others = [["loop"], [out[0].name, g.Neg(out[1]).name]] if attrs else []
        return [*[[out[1].name]] * 3, *others]

    return build


def decayed(steps):
    """Weights are read and changed by a step of a constant size, as an optimizer folds the size."""

    def build(g):
        v, init = variable(g, np.float32([1, 2, 3]))
        read = g.Identity(v, name="read")
        penalty = g.Sum(g.Square(read), g.constant([0]), name="penalty")
        size = g.constant(0.125)
        for _ in range(steps):
            size = g.Mul(size, g.constant(0.5))
        change = g.Neg(g.Mul(read, size))
        g.Assign(v, g.Sub(change, g.constant(1.0)), name="new")
        return [[init], *[[penalty.name, "new"]] * 2]

    return build


def cast_beside_constants(g):
    """A Cast moved before the preceding Identity, beside nodes that depend on constants alone."""
    v, init = variable(g, np.int64(3), "step")
    seen = g.Cast(g.Identity(v), DstT="float32")
    g.Assign(v, g.AddV2(g.constant(np.int64(1)), g.constant(np.int64(2))), name="new")
    return [[init], [g.Mul(g.AddN([seen]), g.constant(0.5), name="rate").name, "new"]]


def drawing_function(g):
    uniform = {"dtype": "float32", "seed": 3, "seed2": 5}
    return define(g, "draw", [], lambda b: [b.RandomUniform(b.constant(shape_of(2)), **uniform)], stateful=True)


def called_twice(g):
    """Each call of a function has separate random streams, in graphs of four nodes or more."""
    draw = FuncRef(drawing_function(g))
    calls = [g.StatefulPartitionedCall([], Tout=["float32"], f=draw)[0] for _ in range(2)]
    return [[g.Neg(g.Square(out)).name for out in calls]] * 3


def called_in_a_loop(g):
    """A call in the body of an inlined While draws once per iteration, and not after the last iteration."""
    draw = FuncRef(drawing_function(g))
    cond = define(g, "cond", ["int32", "float32"], lambda b, i, x: [b.Less(i, b.constant(3))])

    def step(b, i, x):
        drawn = b.StatefulPartitionedCall([], Tout=["float32"], f=draw)[0]
        return [b.AddV2(i, b.constant(1)), b.AddV2(b.AddV2(x, x), drawn)]

    body = define(g, "body", ["int32", "float32"], step, stateful=True)
    initial = [g.constant(0), g.constant(np.zeros(2, np.float32))]
    shapes = [Shape(()), Shape((2,))]
    out = g.While(initial, cond=cond, body=body, output_shapes=shapes, _lower_using_switch_merge=True)
    return [[out[1].name]] * 4


def counting(g):
    """A loop that adds to a variable in every iteration, with a read of the variable in another node."""
    v, init = variable(g, np.float32(0))
    held = g.RefEnter(v, frame_name="f", is_constant=True)

    def step(values, fixed):
        with g.control_dependencies([values[0]]):
            added = g.AssignAdd(held, g.constant(1.0))
        return [g.AddV2(values[0], added)]

    outs = counted(g, "f", 4, [g.constant(np.float32(0))], [], step)
    return [[init], [outs[1].name], [outs[1].name], [g.Identity(v).name]]


CASES = [
    *(
        graph_case(f"counter read {read} written {write}", "AssignAdd", counter(READS[read], WRITES[write]))
        for read in READS
        for write in WRITES
    ),
    graph_case("resource counter", "AssignAddVariableOp", resource_counter),
    *(
        graph_case(
            f"{kind} counter moved {'first' if first else 'last'}, {' and '.join(readers)}",
            op,
            schedule(kind == "resource", first, [READERS[reader] for reader in readers]),
        )
        for kind, op in (("reference", "Assign"), ("resource", "AssignVariableOp"))
        for first in (False, True)
        for readers in SCHEDULES
    ),
    *(graph_case(f"memory {seen}", "Identity", memory(SEEN[seen], UPDATES["AssignAdd"]), x=X) for seen in SEEN),
    *(graph_case(f"memory after {update}", "Assign", memory(SEEN["Identity"], UPDATES[update]), x=X) for update in UPDATES),
    *(
        graph_case(f"memory of variable {i} of {op}", op, memory_of_a_slot(op, i), x=X)
        for op, count in (("ApplyMomentum", 2), ("ApplyAdagrad", 2), ("ApplyAdam", 3))
        for i in range(count)
    ),
    *(graph_case(f"memory of one of two variables, {i} written", "Merge", memory_on_branches(i), x=X) for i in (0, 1)),
    *(graph_case(f"{count} draws in a loop", "RandomUniform", drawing(count)) for count in (0, 1, 3, 9, 13)),
    graph_case("two draws in a loop", "RandomUniform", drawing(4, draws=2)),
    graph_case("many draws in a loop", "RandomUniform", drawing(120)),
    graph_case("draws in a sequential loop", "RandomUniform", drawing(9, draws=2, parallel_iterations=1)),
    graph_case("many large draws", "RandomUniform", drawing(13, samples=20000, runs=6)),
    graph_case("two draws in a loop that runs often", "RandomUniform", drawing(30, draws=2, runs=6)),
    graph_case("draws before a conditional", "Switch", drawing_before_a_conditional(19, runs=7)),
    graph_case("draws in turn", "RandomUniform", drawing_in_turn),
    graph_case("a Cast beside constants", "Cast", cast_beside_constants),
    *(graph_case(f"weights that decay by a product of {n} constants", "Assign", decayed(n)) for n in range(4)),
    graph_case("a function that draws, called twice", "StatefulPartitionedCall", called_twice),
    graph_case("a function that draws, called in a loop", "While", called_in_a_loop),
    *(
        graph_case(f"{count} draws in a lowered While", "While", drawing_in_a_while(count, _lower_using_switch_merge=True))
        for count in (0, 1, 4, 13)
    ),
    graph_case("draws in a While that is not lowered", "While", drawing_in_a_while(4)),
    graph_case("a variable counts in a loop", "AssignAdd", counting),
]
