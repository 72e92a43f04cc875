"""Programs for certain shapes beside the plain plan: the same bits, fewer steps, and shapes may change at any time."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases.control_flow import counted
from tests.core.runtime.programs import programs
from tests.functions import define
from tfg import GraphBuilder, Session, gradients
from tfg.core.runtime.optimize import shape_programs
from tfg.core.runtime.optimize.shape_programs import Known, every_step
from tfg.core.support.errors import InvalidArgumentError
from tfg.core.types.tensors import FuncRef

WIDTH = 3
RUNS = 4


def program(session, run=0):
    return programs(session)[run]


def specials(session, run=0):
    return program(session, run).shape_programs.programs


def ops(session, run=0):
    """The ops that are left in the newest program for certain shapes."""
    steps = every_step(specials(session, run)[-1].program.plan.steps)
    return [step.node.op for step in steps if type(step) is not Known and not step.node.is_constant]


def same_bits(result, want):
    for a, b in zip(result, want, strict=True):
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())


def beside_plain(graph, fetches, all_feeds):
    """Return a session after all the feeds in turn, with the bits of a session that runs the unchanged plan."""
    session, plain = Session(graph, seed=1), Session(graph, seed=1, optimize="none")
    for feeds in all_feeds:
        same_bits(session.run(fetches, feeds), plain.run(fetches, feeds))
    return session


UNARY = {
    "tanh": lambda b, v: b.Tanh(v),
    "flat and back": lambda b, v: b.Reshape(b.Reshape(v, b.constant([-1])), b.Shape(v)),
    "as it is": lambda b, v: b.Reshape(v, b.Shape(v)),
    "ones": lambda b, v: b.Mul(v, b.Fill(b.Shape(v), b.constant(np.float32(0.5)))),
    "sum of rows": lambda b, v: b.Sum(v, b.constant([0]), keep_dims=True),
    "mean": lambda b, v: b.RealDiv(v, b.Cast(b.Size(v), DstT="float32")),
    "sum of nothing": lambda b, v: b.Sum(v, b.constant(np.zeros(0, np.int32))),
    "once": lambda b, v: b.Tile(v, b.constant([1, 1])),
    "twice": lambda b, v: b.Slice(b.Tile(v, b.constant([2, 1])), b.constant([0, 0]), b.Shape(v)),
}
BINARY = {"add": lambda b, x, y: b.AddV2(x, y), "mul": lambda b, x, y: b.Mul(x, y), "sub": lambda b, x, y: b.Sub(x, y)}


@st.composite
def expressions(draw):
    """Draw a graph of broadcasting and shapes, with or without a loop, with gradients; and the names to fetch."""
    b = GraphBuilder()
    pool = [
        b.Placeholder(dtype="float32", shape=shape, name=name)
        for name, shape in (("x", [None, WIDTH]), ("y", [1, WIDTH]), ("z", [None, 1]))
    ]

    def more(values, count):
        values = list(values)
        for _ in range(count):
            name = draw(st.sampled_from([*UNARY, *BINARY]))
            chosen = [draw(st.sampled_from(values)) for _ in range(1 if name in UNARY else 2)]
            values.append((UNARY | BINARY)[name](b, *chosen))
        return values

    result = more(pool, draw(st.integers(1, 5)))
    if draw(st.booleans()):
        carried = b.AddV2(b.AddV2(pool[0], pool[1]), pool[2])
        steps = draw(st.integers(1, 3))

        def body(values, fixed):
            with b.control_dependencies([values[0]]):
                other = more([*values, *fixed], steps)[-1]
                factor = b.Sum(other, b.constant([0, 1]), keep_dims=True)
            return [b.Tanh(b.Mul(values[0], factor))]

        result.append(counted(b, "loop", draw(st.integers(0, 3)), [carried], [result[-1]], body)[1])
    total = b.Identity(b.AddV2(result[-1], result[len(result) // 2]), name="total")
    graph, names = gradients(b.graph, total.name, ["x:0", "y:0", "z:0"])
    return graph, [total.name, *(name for name in names if name is not None)]


def fed(rows):
    rng = np.random.default_rng(rows)
    sizes = {"x:0": (rows, WIDTH), "y:0": (1, WIDTH), "z:0": (rows, 1)}
    return {name: rng.uniform(-0.5, 0.5, size).astype(np.float32) for name, size in sizes.items()}


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(expressions(), st.lists(st.integers(0, 3), min_size=4, max_size=12))
def test_runs_of_changing_shapes_give_the_bits_of_the_plan(drawn, rows):
    beside_plain(*drawn, [fed(n) for n in rows])


def product_graph():
    b = GraphBuilder()
    x, y = (
        b.Placeholder(dtype="float32", shape=[None, WIDTH], name="x"),
        b.Placeholder(dtype="float32", shape=[WIDTH], name="y"),
    )
    b.Mul(b.Tanh(x), y, name="p")
    return gradients(b.graph, "p:0", ["x:0", "y:0"])


def test_what_follows_from_shapes_takes_no_step():
    graph, names = product_graph()
    feeds = [{"x:0": np.full((rows, WIDTH), 0.5, np.float32), "y:0": np.ones(WIDTH, np.float32)} for rows in (2, 2, 2, 5, 5)]
    session = beside_plain(graph, names, feeds)
    assert sorted(ops(session)) == ["Mul", "Mul", "Sum", "Tanh", "TanhGrad"]  # of the product only the shape is asked
    assert [special.shapes[0] for special in specials(session)] == [(2, WIDTH), (5, WIDTH)]


def test_programs_are_few():
    graph, names = product_graph()
    rows = [n for n in range(1, 20) for _ in range(3)]
    feeds = [{"x:0": np.full((n, WIDTH), 0.5, np.float32), "y:0": np.ones(WIDTH, np.float32)} for n in rows]
    assert len(specials(beside_plain(graph, names, feeds))) == shape_programs.MOST_PROGRAMS


def test_hooks_see_every_kernel():
    graph, names = product_graph()
    feeds = {"x:0": np.ones((2, WIDTH), np.float32), "y:0": np.ones(WIDTH, np.float32)}
    session, seen = Session(graph), []
    for _ in range(RUNS):
        session.run(names, feeds)
    session.run(names, feeds, hook=lambda node, call, inputs: seen.append(node.op) or call(*inputs))
    assert {"Shape", "BroadcastGradientArgs", "Reshape"} < set(seen)


def stacked(limit):
    """Return a loop that pushes values and their shapes onto stacks, and a loop that pops and adds them."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, WIDTH], name="x")
    shapes, values = (b.StackV2(b.constant(limit), elem_type=dtype) for dtype in ("int32", "float32"))

    def down(carried, fixed):
        kept = b.StackPushV2(fixed[1], b.Tanh(carried[0]))
        with b.control_dependencies([b.StackPushV2(fixed[0], b.Shape(kept))]):
            return [b.Identity(b.AddV2(kept, kept))]

    def up(carried, fixed):
        with b.control_dependencies([carried[0]]):
            value, shape = b.StackPopV2(fixed[1], elem_type="float32"), b.StackPopV2(fixed[0], elem_type="int32")
        return [b.AddV2(carried[0], b.Reshape(value, shape))]

    end = counted(b, "down", 3, [x], [shapes, values], down)[1]
    result = counted(b, "up", 3, [end], [shapes, values], up)[1]
    return b.graph, [result.name]


def test_stacks_of_known_shapes_stay():
    graph, names = stacked(-1)
    feeds = [{"x:0": np.full((n, WIDTH), 0.1, np.float32)} for n in (2, 2, 2, 4, 2, 4, 4)]
    session = beside_plain(graph, names, feeds)
    assert [special.shapes for special in specials(session)] == [[(2, WIDTH)], [(4, WIDTH)]]
    assert (ops(session).count("StackPopV2"), ops(session).count("StackPushV2")) == (2, 2)
    assert "Shape" not in ops(session)


def test_stacks_that_may_be_full_stay():
    graph, names = stacked(2)
    session = Session(graph)
    for _ in range(RUNS):
        with pytest.raises(InvalidArgumentError, match="overflow"):
            session.run(names, {"x:0": np.ones((2, WIDTH), np.float32)})


def test_what_inference_takes_for_granted_is_not_relied_on():
    """A number of rows that only a run tells may be 1, and then a gradient is summed over them."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[4], name="x")
    rows = b.Where(b.Greater(x, b.constant(np.float32(0))))
    size = b.Cast(rows, DstT="float32")
    other = b.constant(np.ones((3, 1), np.float32))
    axes = b.BroadcastGradientArgs(b.Shape(size), b.Shape(other))
    b.Sum(b.Mul(size, other), axes[0], keep_dims=True, name="y")
    values = [[1, 1, 1, 0]] * RUNS + [[0, 1, 0, 0]] * RUNS
    beside_plain(b.graph, ["y:0"], [{"x:0": np.array(value, np.float32)} for value in values])


def resized_variable(kind):
    """Return a graph that sets a variable (`set`), doubles the value (`double`) and returns the shape (`sizes`)."""
    b = GraphBuilder()
    value = b.Placeholder(dtype="float32", shape=None, name="x")
    if kind == "reference":
        variable = b.VariableV2(dtype="float32", shape=[2], name="v")
        b.Assign(variable, value, validate_shape=False, name="set")
        read = b.Identity(variable)
    else:
        handle = b.VarHandleOp(dtype="float32", shape=[2], shared_name="v", name="v")
        b.AssignVariableOp(handle, value, name="set")
        read = b.ReadVariableOp(handle, dtype="float32")
    read = b.Tanh(read)
    b.Reshape(b.AddV2(read, read), b.Shape(read), name="double")
    b.Shape(read, name="sizes")
    return b


@pytest.mark.parametrize("kind", ["reference", "resource"])
def test_variables_may_get_other_shapes_between_runs(kind):
    b = resized_variable(kind)
    session = Session(b.graph)
    for shape in ((2,), (3,), (3,), (2, 2), (1,), (2,)):
        session.run("set", {"x:0": np.full(shape, 0.5, np.float32)})
        for _ in range(RUNS):
            value, result = session.run(["double:0", "sizes:0"])
            assert value.shape == tuple(result) == shape


@pytest.mark.parametrize("kind", ["reference", "resource"])
def test_variables_may_get_other_shapes_within_a_run(kind):
    b = resized_variable(kind)
    after = b.graph.node("set")
    with b.control_dependencies([after]):
        variable = b.graph.node("v").output()
        read = b.Identity(variable) if kind == "reference" else b.ReadVariableOp(variable, dtype="float32")
        b.Shape(b.Tanh(read), name="late")
    session = Session(b.graph)
    session.run("set", {"x:0": np.zeros(2, np.float32)})
    for shape in ((2,), (2,), (2,), (3,), (3,), (3,), (1, 4), (2,)):
        (late,) = session.run(["late:0"], {"x:0": np.zeros(shape, np.float32)})
        assert tuple(late) == shape


def test_functions_are_for_the_variables_that_they_are_given():
    b = GraphBuilder()

    def body(inner, handle):
        read = inner.Tanh(inner.ReadVariableOp(handle, dtype="float32"))
        return [inner.Reshape(inner.AddV2(read, read), inner.Shape(read)), inner.Shape(read)]

    define(b, "doubled", ["resource"], body, stateful=True)
    for name, shape in (("a", (2,)), ("b", (3, 1))):
        handle = b.VarHandleOp(dtype="float32", shape=shape, shared_name=name)
        b.AssignVariableOp(handle, b.constant(np.ones(shape, np.float32)), name=f"set_{name}")
        b.StatefulPartitionedCall([handle], Tout=["float32", "int32"], f=FuncRef("doubled"), name=f"call_{name}")
    session = Session(b.graph)
    session.run(["set_a", "set_b"])
    for _ in range(RUNS):
        for name, shape in (("a", (2,)), ("b", (3, 1))):
            value, result = session.run([f"call_{name}:0", f"call_{name}:1"])
            assert value.shape == tuple(result) == shape


def test_errors_name_the_node_in_every_run():
    b = GraphBuilder()
    x, y = (b.Placeholder(dtype="float32", shape=[None, None], name=name) for name in "xy")
    b.MatMul(b.Reshape(x, b.Shape(x)), y, name="product")
    session = Session(b.graph)
    for _ in range(RUNS):
        session.run("product:0", {"x:0": np.ones((2, 3), np.float32), "y:0": np.ones((3, 2), np.float32)})
        with pytest.raises(InvalidArgumentError) as caught:
            session.run("product:0", {"x:0": np.ones((2, 3), np.float32), "y:0": np.ones((2, 2), np.float32)})
        assert caught.value.node == "product"


def test_threads_with_other_shapes_do_not_disturb_each_other():
    graph, names = product_graph()
    session = Session(graph)
    wrong = []

    def work(rows):
        feeds = {"x:0": np.full((rows, WIDTH), 0.5, np.float32), "y:0": np.full(WIDTH, rows, np.float32)}
        for _ in range(30):
            dx, dy = session.run(names, feeds)
            if dx.shape != (rows, WIDTH) or not np.allclose(dy, rows * np.tanh(0.5)):
                wrong.append(rows)

    threads = [threading.Thread(target=work, args=(rows,)) for rows in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def list_graph():
    """`y` is twice the last element of a list, in the element's shape: by a function that a call is made of."""
    b = GraphBuilder()

    def body(inner, handle):
        passed = inner.Identity(handle)
        left, last = inner.TensorListPopBack(passed, inner.constant(-1), element_dtype="float32")
        last = inner.Tanh(last)
        return [left, inner.Reshape(inner.AddV2(last, last), inner.Shape(last)), inner.Shape(last)]

    define(b, "last", ["variant"], body)
    x, y = (b.Placeholder(dtype="float32", shape=None, name=name) for name in "xy")
    rows = b.TensorListFromTensor(x, b.constant(-1), element_dtype="float32")
    pushed = b.TensorListPushBack(rows, y)
    both = pushed
    results = []
    for i in range(2):
        both, value, sizes = b.PartitionedCall(
            [both], Tout=["variant", "float32", "int32"], f=FuncRef("last"), name=f"call{i}"
        )
        results += [value.name, sizes.name]
    return b.graph, results


def test_functions_are_for_the_shapes_of_elements_of_lists():
    shapes = [((2, 3), (3,))] * 4 + [((2, 4), (4,))] * 3 + [((2, 4), (3,)), ((3, 2), (2, 2)), ((2, 3), (3,))] * 2
    feeds = [{"x:0": np.full(a, 0.5, np.float32), "y:0": np.full(b, 0.25, np.float32)} for a, b in shapes]
    beside_plain(*list_graph(), feeds)


def test_what_is_read_of_lists_has_a_known_shape():
    graph, results = list_graph()
    session = Session(graph)
    for _ in range(RUNS):
        session.run(results, {"x:0": np.ones((2, 3), np.float32), "y:0": np.ones(3, np.float32)})
    body = next(iter(session.functions._bodies.values()))
    steps = every_step(body.program.shape_programs.programs[-1].program.plan.steps)
    assert [step.node.op for step in steps if type(step) is not Known and not step.node.is_constant] == [
        "TensorListPopBack",
        "Tanh",
        "AddV2",
    ]
