"""V1 control flow: conditionals by Switch and Merge, and loops of every form."""

import numpy as np

from tests.opcases import case, graph_case, normal
from tfg.core.graph.graph import Output

X = normal(3)


def conditional(g):
    """Switch, both branches, Merge; a constant in a branch dies by its control input."""
    x, p = g.Placeholder(dtype="float32", shape=[3], name="x"), g.Placeholder(dtype="bool", shape=[], name="p")
    left, right = g.Switch(x, p)
    with g.control_dependencies([g.Identity(left)]):
        two = g.constant(2.0)
    merged, index = g.Merge([g.Mul(left, two), g.Square(right)])
    return [[merged.name, index.name]]


def switch_n(index):
    def build(g):
        outputs = g.apply("_SwitchN", g.constant(X), g.constant(np.int32(index)), num_outs=3, name="switch")
        value, position = g.Merge([g.Neg(outputs[0]), g.Square(outputs[1]), g.Abs(outputs[2])])
        return [[value.name, position.name]]

    return build


def dead_fetch(g):
    left, right = g.Switch(g.constant(X), g.constant(True))
    return [[right.name], [left.name], [g.Neg(left).name], [left.node.name]]


def nested(g):
    a = g.Switch(g.constant(X), g.constant(True))
    b = g.Switch(a[1], g.constant(False))
    value, index = g.Merge([a[0], b[0], b[1]])
    return [[value.name, index.name]]


def trigger(g):
    """A ControlTrigger runs after dead inputs; a NoOp does not."""
    left, _ = g.Switch(g.constant(X), g.constant(True))
    with g.control_dependencies([g.Identity(left)]):
        alive, dead = g.ControlTrigger(), g.NoOp()
    with g.control_dependencies([alive]):
        after = g.constant(1.0)
    with g.control_dependencies([dead]):
        never = g.constant(2.0)
    return [[after.name], [never.name]]


def references(g):
    variable = g.VariableV2(dtype="float32", shape=[3])
    ready = g.Assign(variable, g.constant(X))
    left, right = g.RefSwitch(ready, g.constant(True))
    chosen = g.RefSelect(g.constant(1), [ready, ready])
    return [[g.Merge([left, right])[0].name, chosen.name, g.RefMerge([left, right])[0].name]]


def references_in_frames(g):
    """A reference enters a frame and leaves the frame; writes inside the frame change the variable."""
    ready = g.Assign(g.VariableV2(dtype="float32", shape=[3]), g.constant(X))
    entered = g.RefEnter(ready, frame_name="f")
    added = g.AssignAdd(entered, g.Enter(g.constant(X), frame_name="f"))
    again = g.RefNextIteration(ready)
    return [[g.RefExit(added).name, again.name]]


def uninitialized_reference(g):
    return [[g.RefExit(g.RefEnter(g.VariableV2(dtype="float32", shape=[3]), frame_name="f")).name]]


def select_out_of_range(g):
    variable = g.Assign(g.VariableV2(dtype="float32", shape=[3]), g.constant(X))
    return [[g.RefSelect(g.constant(2), [variable, variable]).name]]


def loop(g, frame, initial, constants, condition, body, control=(), **attrs):
    """A loop in the form of tf.while_loop; returns the outputs of the Exits."""
    with g.control_dependencies(control):
        enters = [g.Enter(value, frame_name=frame, **attrs) for value in initial]
    fixed = [g.Enter(value, frame_name=frame, is_constant=True, **attrs) for value in constants]
    merges = [g.Merge([enter, enter])[0] for enter in enters]
    predicate = g.LoopCond(condition(merges, fixed))
    switches = [g.Switch(merge, predicate) for merge in merges]
    results = body([g.Identity(switch[1]) for switch in switches], fixed)
    for merge, enter, result in zip(merges, enters, results):
        g.graph.set_inputs(merge.node, [enter, g.NextIteration(result)])
    return [g.Exit(switch[0]) for switch in switches]


def counted(g, frame, end, initial, constants, step):
    """A loop that counts to `end`, a number or a tensor."""

    def condition(values, fixed):
        return g.Less(values[0], fixed[0])

    def body(values, fixed):
        with g.control_dependencies([values[0]]):
            one = g.constant(1)
        return [g.AddV2(values[0], one), *step(values[1:], fixed[1:])]

    limit = end if isinstance(end, Output) else g.constant(end)
    return loop(g, frame, [g.constant(0), *initial], [limit, *constants], condition, body)


def doubling(g):
    return [[out.name for out in counted(g, "f", 5, [g.constant(X)], [], lambda v, c: [g.AddV2(v[0], v[0])])]]


def never_entered(g):
    return [[out.name for out in counted(g, "f", 0, [g.constant(X)], [], lambda v, c: [g.AddV2(v[0], v[0])])]]


def swapping(g):
    initial = [g.constant(X), g.constant(-X)]
    return [[out.name for out in counted(g, "f", 3, initial, [], lambda v, c: [v[1], v[0]])]]


def with_constant(g):
    return [[out.name for out in counted(g, "f", 3, [g.constant(X)], [g.constant(X)], lambda v, c: [g.Mul(v[0], c[0])])]]


def loop_in_loop(g):
    # The limit and the initial count of the inner loop are constants of the outer one's frame.
    def build_inner(values, fixed):
        with g.control_dependencies([values[0]]):
            zero, two, one = g.constant(0), g.constant(2), g.constant(1)
        enters = [g.Enter(value, frame_name="inner") for value in (zero, values[1])]
        end, scale = (g.Enter(value, frame_name="inner", is_constant=True) for value in (two, fixed[1]))
        merges = [g.Merge([enter, enter])[0] for enter in enters]
        predicate = g.LoopCond(g.Less(merges[0], end))
        count, value = (g.Switch(merge, predicate) for merge in merges)
        with g.control_dependencies([g.Identity(count[1])]):
            inner_one = g.constant(1)
        results = [g.AddV2(count[1], inner_one), g.Mul(value[1], scale)]
        for merge, enter, result in zip(merges, enters, results):
            g.graph.set_inputs(merge.node, [enter, g.NextIteration(result)])
        return [g.AddV2(values[0], one), g.AddV2(g.Exit(value[0]), values[1])]

    constants = [g.constant(3), g.constant(0.5)]
    exits = loop(g, "outer", [g.constant(0), g.constant(X)], constants, lambda v, c: g.Less(v[0], c[0]), build_inner)
    return [[out.name for out in exits]]


def conditional_in_loop(g):
    def step(values, constants):
        with g.control_dependencies([values[0]]):
            axes = g.constant([0])
        predicate = g.Less(g.Sum(values[0], axes, keep_dims=False), constants[0])
        left, right = g.Switch(values[0], predicate)
        return [g.Merge([g.Neg(left), g.Square(right)])[0]]

    return [[out.name for out in counted(g, "f", 4, [g.constant(np.abs(X))], [g.constant(9.0)], step)]]


def loop_in_dead_branch(g):
    """The whole loop is dead on an untaken branch."""
    p = g.Placeholder(dtype="bool", shape=[], name="p")
    left, right = g.Switch(g.constant(X), p)
    zero, end = (g.Switch(g.constant(n), p)[1] for n in (0, 3))

    def body(values, fixed):
        with g.control_dependencies([values[0]]):
            one = g.constant(1)
        return [g.AddV2(values[0], one), g.AddV2(values[1], values[1])]

    exits = loop(g, "f", [zero, right], [end], lambda v, c: g.Less(v[0], c[0]), body)
    value, index = g.Merge([left, exits[1]])
    return [[value.name, index.name]]


def straight_through(g):
    """Enter and Exit without a loop; the value is there once."""
    return [[g.Exit(g.Enter(g.constant(X), frame_name="f")).name], [g.Enter(g.constant(X), frame_name="g").name]]


def fetched_inside(g):
    exits = counted(g, "f", 2, [g.constant(X)], [], lambda v, c: [g.AddV2(v[0], v[0], name="inside")])
    return [["inside:0"], [exits[0].name]]


def fetched_inside_once(g):
    counted(g, "f", 1, [g.constant(X)], [], lambda v, c: [g.AddV2(v[0], v[0], name="inside")])
    return [["inside:0", "inside"]]


def different_frames(g):
    return [[g.Exit(g.AddV2(g.Enter(g.constant(X), frame_name="f"), g.constant(X))).name]]


def two_loops_in_one_frame(g):
    first = counted(g, "f", 2, [g.constant(X)], [], lambda v, c: [g.AddV2(v[0], v[0])])
    second = counted(g, "f", 3, [g.constant(X)], [], lambda v, c: [g.Neg(v[0])])
    return [[first[1].name, second[1].name]]


def doubled_twice(g, first):
    """Return the results of a loop that doubles `first` and another value, which a test lets begin later."""
    return counted(g, "f", 3, [first, g.constant(X, name="later")], [], lambda v, c: [g.AddV2(x, x) for x in v])


def begun_late(g):
    """A loop variable begins after another has left the loop, as the counter of a gradient that waits for the loss."""
    exits = doubled_twice(g, g.constant(-X))
    g.graph.add_control_input(g.graph.node("later"), exits[1].node)
    return [[out.name for out in exits]]


def begun_with_a_result(g):
    """A loop variable begins with what another loop makes of a result of the loop."""
    exits = doubled_twice(g, g.constant(X))
    second = counted(g, "g", 2, [exits[1]], [], lambda v, c: [g.Neg(g.AddV2(v[0], v[0]))])
    (entering,) = (node for node in g.graph if [value.node.name for value in node.inputs] == ["later"])
    g.graph.set_inputs(entering, [second[1]])
    return [[out.name for out in (*exits, *second)]]


def merge_that_never_fires(g):
    left, _ = g.Switch(g.constant(X), g.constant(True))
    return [[g.Merge([left, g.Neg(left)])[0].name]]


CASES = [
    case("Switch", X, np.array(True), key="Switch", differentiable=False),
    case("Switch", X, np.array([True]), key="Switch by a vector"),
    case("Merge", [X, X], key="Merge"),
    case("LoopCond", np.array(True), key="LoopCond"),
    case("NextIteration", X, key="NextIteration", differentiable=False),
    case("Enter", X, frame_name="f", key="Enter", differentiable=False),
    case("Enter", X, frame_name="", key="Enter without a frame"),
    case("Exit", X, key="Exit of no loop"),
    case("ControlTrigger", key="ControlTrigger"),
    case("_SwitchN", X, np.int32(0), num_outs=2, key="dead output of _SwitchN"),
    *(graph_case(f"_SwitchN {i}", "_SwitchN", switch_n(i)) for i in (-1, 0, 2, 3)),
    graph_case("conditional, taken", "Switch", conditional, x=X, p=True),
    graph_case("conditional, not taken", "Switch", conditional, x=X, p=False),
    graph_case("dead fetch", "Switch", dead_fetch),
    graph_case("nested conditionals", "Merge", nested),
    graph_case("control trigger", "ControlTrigger", trigger),
    graph_case("references", "RefSwitch", references),
    graph_case("merged references", "RefMerge", references),
    *(
        graph_case(f"references in frames, {op}", op, references_in_frames)
        for op in ("RefEnter", "RefExit", "RefNextIteration")
    ),
    graph_case("uninitialized reference", "RefEnter", uninitialized_reference),
    graph_case("reference out of range", "RefSelect", select_out_of_range),
    graph_case("doubling", "Enter", doubling),
    graph_case("never entered", "Exit", never_entered),
    graph_case("swapping", "NextIteration", swapping),
    graph_case("constant of a loop", "Enter", with_constant),
    graph_case("loop in a loop", "Enter", loop_in_loop),
    graph_case("conditional in a loop", "Merge", conditional_in_loop),
    graph_case("loop in a branch, taken", "Enter", loop_in_dead_branch, p=True),
    graph_case("loop in a branch, not taken", "Enter", loop_in_dead_branch, p=False),
    graph_case("straight through", "Exit", straight_through),
    graph_case("fetched inside", "Enter", fetched_inside),
    graph_case("fetched inside once", "Enter", fetched_inside_once),
    graph_case("inputs from different frames", "Enter", different_frames),
    graph_case("two loops in one frame", "Enter", two_loops_in_one_frame),
    graph_case("begun late", "Enter", begun_late),
    graph_case("begun with a result", "Enter", begun_with_a_result),
    graph_case("merge that never fires", "Merge", merge_that_never_fires),
]
