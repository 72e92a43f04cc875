"""Plans, loops, functions, blocking kernels, limits and hooks, beyond the op cases."""

import collections
import concurrent.futures
import importlib
import re
import threading
import time

import numpy as np
import pytest

from tests import opcases
from tests.cases import control_flow as graphs
from tests.functions import define
from tests.recorded_answers import Answers, expected_error
from tfg.core.building.builder import GraphBuilder
from tfg.core.graph.deadness import ALWAYS, joined
from tfg.core.graph.graph import Function
from tfg.core.planning.plan import Loop
from tfg.core.planning.planner import compile_plan
from tfg.core.registry import op_facts, registry
from tfg.core.registry.catalog import CATALOG
from tfg.core.runtime.session.session import Session
from tfg.core.runtime.state.edge_values import WouldBlock
from tfg.core.support.errors import (
    AbortedError,
    DeadlineExceededError,
    InvalidArgumentError,
    NotFoundError,
    ResourceExhaustedError,
    TfgError,
    UnimplementedError,
)
from tfg.core.types.dtypes import float32, int32
from tfg.core.types.tensors import FuncRef, Placeholder


def built(build):
    builder = GraphBuilder()
    return builder.graph, build(builder)


def plan_of(graph, names):
    return compile_plan(graph, [graph.output(name) for name in names])


@pytest.mark.parametrize("build", [graphs.doubling, graphs.loop_in_loop, graphs.conditional_in_loop, graphs.never_entered])
def test_a_loop_as_tf_while_loop_builds_it_becomes_one_step(build):
    graph, (fetches,) = built(build)
    plan = plan_of(graph, fetches)
    assert not plan.needs_dataflow
    assert sum(isinstance(step, Loop) for step in plan.steps) == 1


@pytest.mark.parametrize("build", [graphs.straight_through, graphs.fetched_inside_once])
def test_other_loops_run_by_dataflow(build):
    graph, fetches = built(build)
    assert plan_of(graph, fetches[0][:1]).needs_dataflow


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "case", [c for c in opcases.load_cases("control_flow") if not c.is_single_op], ids=lambda case: case.key
)
def test_dataflow_gives_what_steps_give(case, monkeypatch):
    """The dataflow interpreter runs every graph, also graphs with a plan of steps."""
    planner = importlib.import_module("tfg.core.planning.planner").Planner
    monkeypatch.setattr(planner, "plan", lambda self: self.dataflow_plan("the test asks for it"))
    graph, steps = built(case.build)
    session = Session(graph)
    for fetches, answer in zip(steps, Answers.load(opcases.RECORDED_DIR / "control_flow.npz").steps(case.key)):
        if answer["error"]:
            with pytest.raises(TfgError) as raised:
                session.run(list(fetches), case.feeds)
            assert type(raised.value).__name__ == expected_error(answer["error"])
            continue
        for result, expected in zip(session.run(list(fetches), case.feeds), answer["results"]):
            assert result is None if expected is None else np.allclose(result, expected)


def test_what_follows_a_conditional_is_not_guarded():
    graph, (fetches,) = built(graphs.conditional)
    graph_builder = GraphBuilder(graph)
    after = graph_builder.Neg(graph.output(fetches[0]))
    guarded = {step.node.op for step in plan_of(graph, [after.name]).steps if step.is_guarded}
    assert "Neg" not in guarded and "Mul" in guarded


def test_conditions_join():
    p, q = object(), object()
    assert joined(None, [frozenset({(p, 0)}), frozenset({(p, 1)})], {}) == ALWAYS
    assert joined(None, [frozenset({(p, 0), (q, 1)}), frozenset({(p, 1), (q, 1)})], {}) == {(q, 1)}
    assert joined(None, [frozenset({(p, 0), (p, 1)}), frozenset({(q, 1)})], {}) == {(q, 1)}
    assert joined("merge", [frozenset({(p, 0)}), frozenset({(q, 1)})], {}) == {("merge", 0)}
    assert joined("merge", [frozenset({(p, 0)}), frozenset({(p, 1)})], {p: 3}) == {("merge", 0)}


@pytest.mark.parametrize(
    ("build", "error", "text"),
    [
        (graphs.different_frames, InvalidArgumentError, "inputs from different frames"),
        (graphs.two_loops_in_one_frame, InvalidArgumentError, "loop frame 'f' is used twice"),
        (graphs.merge_that_never_fires, InvalidArgumentError, "has no value"),
        (graphs.fetched_inside, InvalidArgumentError, "a value for each iteration"),
    ],
)
def test_errors_name_what_is_wrong_with_a_loop(build, error, text):
    graph, fetches = built(build)
    with pytest.raises(error, match=re.escape(text)):
        Session(graph).run(list(fetches[0]))


def test_a_hook_sees_loops_and_function_bodies():
    builder = GraphBuilder()
    define(builder, "square", ["float32"], lambda b, x: [b.Square(x)])
    called = builder.PartitionedCall([3.0], Tout=["float32"], f="square")[0]
    exits = graphs.counted(builder, "f", 4, [called], [], lambda v, c: [builder.Neg(v[0])])
    seen = collections.Counter()

    def hook(node, call, inputs):
        seen[node.op] += 1
        return call(*inputs)

    assert Session(builder.graph).run(exits[1].name, hook=hook) == 9
    assert seen["Square"] == 1 and seen["Neg"] == 4 and seen["Less"] == 5


def recursive(builder):
    define(builder, "endless", ["float32"], lambda b, x: [b.PartitionedCall([x], Tout=["float32"], f="endless")[0]])
    return builder.PartitionedCall([1.0], Tout=["float32"], f="endless")[0]


def test_a_function_that_calls_itself_without_end():
    builder = GraphBuilder()
    with pytest.raises(ResourceExhaustedError, match="'endless' calls itself without end"):
        Session(builder.graph).run(recursive(builder).name)


def test_a_function_may_call_itself_with_an_end():
    """The sum of all numbers up to n, 300 calls deep."""
    builder = GraphBuilder()
    define(builder, "zero", ["float32"], lambda b, n: [b.Mul(n, b.constant(0.0))])

    def less(b, n):
        rest = b.If(b.Less(n, 1.5), [b.Sub(n, 1.0)], Tout=["float32"], then_branch="zero", else_branch="sum")[0]
        return [b.AddV2(n, rest)]

    define(builder, "sum", ["float32"], less)
    total = builder.PartitionedCall([150.0], Tout=["float32"], f="sum")[0]
    assert Session(builder.graph).run(total.name) == 150 * 151 / 2


def test_a_function_that_the_library_lacks():
    builder = GraphBuilder()
    called = builder.PartitionedCall([1.0], Tout=["float32"], f="nowhere", name="call")[0]
    with pytest.raises(NotFoundError, match=r"node 'call'.*function 'nowhere'"):
        Session(builder.graph).run(called.name)


def test_a_polymorphic_function_called_by_name():
    """The body leaves a dtype open; each caller sets the dtype."""
    builder = GraphBuilder()
    name = define(builder, "double", ["float32"], lambda b, x: [b.AddV2(x, x)])
    template = builder.graph.functions[name]
    body = template.body
    body.node("AddV2").set_attr("T", Placeholder("T"))
    body.node("a0").set_attr("T", Placeholder("T"))
    signature = CATALOG.get("Identity")
    builder.graph.functions[name] = Function(
        type(signature)(name, signature.inputs, signature.outputs, signature.attrs, frozenset()),
        body,
        template.args,
        template.results,
    )
    for i, (value, dtype) in enumerate(((1.5, float32), (3, int32))):
        node = builder.graph.add_node(f"call{i}", name, [builder.constant(value)], (), {"T": dtype})
        reference = FuncRef(name, {"T": dtype})
        called = builder.PartitionedCall([builder.constant(value)], Tout=[dtype], f=reference)[0]
        by_name, by_call = Session(builder.graph).run([f"{node.name}:0", called.name])
        assert by_name == by_call == 2 * value and by_name.dtype == dtype.numpy


@pytest.fixture
def mailbox():
    """Register two ops on a box for a number: writing to a full box and reading an empty box block."""
    box = []
    CATALOG.register("TestPut(x: float) -> () stateful")
    CATALOG.register("TestTake(x: float) -> (y: float) stateful")

    @registry.kernel("TestPut")
    def put(x):
        if box:
            raise WouldBlock("the box is full")
        box.append(x)

    @registry.kernel("TestTake")
    def take(x):
        if not box:
            raise WouldBlock("the box is empty")
        return box.pop()

    registry.facts("blocks", of=("TestPut", "TestTake"))
    yield box
    for op in ("TestPut", "TestTake"):
        CATALOG.unregister(op)
        registry._KERNELS.pop(op)
        op_facts.STATED["blocks"].discard(op)


def test_a_step_that_would_block_waits_for_others(mailbox):
    builder = GraphBuilder()
    first = builder.TestTake(0.0)
    builder.TestPut(4.0, name="put")
    with builder.control_dependencies([builder.Neg(first)]):
        builder.TestPut(5.0, name="put_again")
    assert Session(builder.graph).run([first.name, "put", "put_again"])[0] == 4
    assert mailbox == [5.0]


def test_nothing_to_wait_for(mailbox):
    builder = GraphBuilder()
    builder.TestTake(0.0, name="take")
    with pytest.raises(DeadlineExceededError, match=r"node 'take'.*the box is empty"):
        Session(builder.graph).run("take:0")


def test_nobody_waits_for_a_thread_that_is_listed_and_does_not_run(mailbox, monkeypatch):
    gone, listed = threading.Thread(target=str), threading.enumerate
    gone.start()
    gone.join()
    monkeypatch.setattr(threading, "enumerate", lambda: [*listed(), gone, threading.Thread(target=str)])
    test_nothing_to_wait_for(mailbox)


def test_nobody_waits_for_threads_of_a_pool_that_wait_for_work(mailbox):
    with concurrent.futures.ThreadPoolExecutor() as pool:
        pool.submit(str).result()
        test_nothing_to_wait_for(mailbox)


@pytest.mark.slow
def test_what_a_pool_was_given_to_do_is_waited_for(mailbox):
    builder = GraphBuilder()
    builder.TestTake(0.0, name="take")
    builder.TestPut(3.0, name="put")
    session = Session(builder.graph)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        pool.submit(lambda: (time.sleep(0.5), session.run("put")))
        assert session.run("take:0") == 3


def test_a_loop_can_wait_for_what_is_outside(mailbox):
    builder = GraphBuilder()

    def step(values, constants):
        return [builder.AddV2(values[0], builder.TestTake(values[0]))]

    exits = graphs.counted(builder, "f", 3, [builder.constant(0.0)], [], step)
    before = []
    for value in (1.0, 2.0, 3.0):
        with builder.control_dependencies(before):
            before = [builder.TestPut(value)]
    assert Session(builder.graph).run([exits[1].name, before[0].name])[0] == 6


def endless_loop(builder):
    exits = graphs.loop(
        builder, "f", [builder.constant(0.0)], [builder.constant(1.0)], lambda v, c: builder.Less(v[0], c[0]), lambda v, c: v
    )
    return exits[0].name


def test_a_time_limit():
    builder = GraphBuilder()
    with pytest.raises(DeadlineExceededError, match=r"the run exceeded its time limit of 0\.2 seconds"):
        Session(builder.graph, timeout=0.2).run(endless_loop(builder))


def test_a_memory_limit_refuses_before_allocation():
    builder = GraphBuilder()
    builder.Fill([10**6, 10**6], 1.0, name="large")
    builder.Sum(builder.Fill([1000], 1.0), [0], keep_dims=False, name="small")
    session = Session(builder.graph, max_memory=10**6)
    assert session.run("small:0") == 1000
    with pytest.raises(ResourceExhaustedError, match="node 'large'"):
        session.run("large:0")


def test_a_memory_limit_counts_what_is_held():
    builder = GraphBuilder()
    values = [builder.Fill([1000], float(i)) for i in range(10)]
    total = builder.AddN(values)
    assert Session(builder.graph, max_memory=10**5).run(total.name).shape == (1000,)
    with pytest.raises(ResourceExhaustedError):
        Session(builder.graph, max_memory=2 * 10**4).run(total.name)


def test_fetches_and_feeds():
    builder = GraphBuilder()
    x = builder.Placeholder(dtype="float32", shape=[2], name="x")
    constant = builder.constant(np.ones(2, np.float32), name="constant")
    builder.AddV2(x, constant, name="sum")
    session = Session(builder.graph)
    feed = {"x:0": [1, 2], "constant:0": [5, 5]}
    first, second, nothing, fed = session.run(["sum:0", "sum:0", "sum", "x:0"], feed)
    assert first.tolist() == second.tolist() == [6, 7] and first is not second and nothing is None and fed.tolist() == [1, 2]
    held = session.run("constant:0")
    held += 1
    assert session.run("constant:0").tolist() == [1, 1]
    with pytest.raises(InvalidArgumentError, match="feed"):
        session.run("sum:0")
    with pytest.raises(InvalidArgumentError, match=r"shape \(3\)"):
        session.run("sum:0", {"x:0": [1, 2, 3]})


def test_switch_n():
    """TensorFlow keeps this op to itself: an index that is out of range takes the last output."""
    builder = GraphBuilder()
    index = builder.Placeholder(dtype="int32", shape=[], name="i")
    outputs = builder.apply("_SwitchN", builder.constant(7.0), index, num_outs=3)
    position = builder.Merge(list(outputs))[1]
    session = Session(builder.graph)
    assert [int(session.run(position.name, {"i:0": i})) for i in (-1, 0, 1, 2, 3)] == [2, 0, 1, 2, 2]


def test_abort_ends_the_run_and_not_the_process():
    builder = GraphBuilder()
    builder.Abort(error_msg="enough", name="abort")
    with pytest.raises(AbortedError, match="enough"):
        Session(builder.graph).run("abort")


def test_a_value_read_before_a_loop_follows_the_writes_in_it():
    """A loop that squares a variable three times, by a read that was made outside: 2, 4, 16, 256."""
    builder = GraphBuilder()
    variable = builder.variable([2.0], name="v")
    options = {"frame_name": "loop", "is_constant": True}
    reference = builder.RefEnter(variable.handle, **options)
    value = builder.Enter(builder.Identity(builder.RefIdentity(variable.handle)), **options)
    start = builder.Enter(0, frame_name="loop")
    count, _ = builder.Merge([start, start])
    one, three = builder.Enter(1, **options), builder.Enter(3, **options)
    going = builder.LoopCond(builder.Less(count, three))
    left, entered = builder.Switch(count, going)
    entered = builder.Identity(entered)
    with builder.control_dependencies([entered.node]):
        write = builder.Assign(reference, builder.Square(value))
    with builder.control_dependencies([write.node]):
        advanced = builder.NextIteration(builder.AddV2(entered, one))
    builder.graph.set_input(count.node, 1, advanced)
    end = builder.Exit(left)
    builder.global_variables_initializer(name="init")
    session = Session(builder.graph)
    session.run(["init"])
    assert session.run(end.name) == 3
    np.testing.assert_array_equal(session.run(variable.value.name), [256.0])


def test_errors_name_the_node():
    builder = GraphBuilder()
    bad = builder.AddV2(np.ones(2, np.float32), np.ones(3, np.float32), name="bad")
    with pytest.raises(InvalidArgumentError, match="node 'bad'"):
        Session(builder.graph).run(bad.name)
    builder.graph.add_node("unknown", "NoSuchOp", [bad])
    with pytest.raises(InvalidArgumentError, match="not declared"):
        Session(builder.graph).run("unknown")
    lists = {name: [] for name in ("Tinputs", "Toutputs", "ancestors", "shapes")}
    attrs = lists | {"key": b"k", "shape_inference_graph": FuncRef("f")}
    builder.graph.add_node("missing", "XlaHostCompute", attrs=attrs)
    with pytest.raises(UnimplementedError, match="no kernel"):
        Session(builder.graph).run("missing")


def test_a_value_read_through_a_reference_follows_later_writes():
    """TensorFlow's reads of references share the variable's memory: a node that waits for a write sees the written value."""
    builder = GraphBuilder()
    variable = builder.variable([1.0, 2.0], name="v")
    early = builder.AddV2(variable.value, [0.0, 0.0], name="early")
    with builder.control_dependencies([early.node]):
        update = builder.AssignAdd(variable.handle, [10.0, 10.0], name="update")
    with builder.control_dependencies([update.node]):
        late = builder.AddV2(variable.value, [0.0, 0.0], name="late")
    builder.global_variables_initializer(name="init")
    session = Session(builder.graph, cache=1 << 20)
    session.run(["init"])
    for step in range(3):
        before, after = session.run([early.name, late.name])
        np.testing.assert_array_equal(before, [1.0 + 10 * step, 2.0 + 10 * step])
        np.testing.assert_array_equal(after, before + 10)
