"""A session in many threads: shared objects are made once, and the state of a run stays with the run."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from tests.functions import define
from tfg.core.building.builder import GraphBuilder
from tfg.core.graph.metagraph import MetaGraph
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import CancelledError, DeadlineExceededError, InvalidArgumentError, OutOfRangeError


@pytest.fixture(autouse=True)
def _many_switches():
    """Threads take turns as often as the interpreter can let them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def in_threads(*bodies, timeout=600):
    """Run functions in separate threads that begin together; return their results, or raise the first error."""
    barrier = threading.Barrier(len(bodies))
    results, errors = [None] * len(bodies), []

    def call(i, body):
        barrier.wait()
        try:
            results[i] = body()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=call, args=item, daemon=True) for item in enumerate(bodies)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout)
        assert not thread.is_alive(), "a thread still waits"
    if errors:
        raise errors[0]
    return results


def flat(lists):
    return [item for items in lists for item in items]


def test_the_first_run_starts_a_saved_model_once():
    b = GraphBuilder()
    queue = b.FIFOQueueV2(component_types=["int32"], name="queue")
    b.QueueEnqueueV2(queue, [np.int32(1)], name="start")
    b.QueueSizeV2(queue, name="starts")
    b.graph.meta = MetaGraph(init_op="start", folder="")
    for _ in range(10):
        session = Session(b.graph)
        assert in_threads(*[lambda session=session: session.run("starts:0")] * 6) == [1] * 6


def test_a_start_that_failed_is_tried_again():
    b = GraphBuilder()
    value = b.Placeholder(dtype="float32", shape=[], name="x")
    b.CheckNumerics(b.Sqrt(b.constant(np.float32(-1))), message="", name="start")
    b.graph.meta = MetaGraph(init_op="start", folder="")
    session = Session(b.graph)
    for _ in range(2):
        with pytest.raises(InvalidArgumentError, match="NaN"):
            session.run(value.name, {"x:0": 1})


def chain(length=50):
    b = GraphBuilder()
    value = b.Placeholder(dtype="float32", shape=[], name="x")
    for i in range(length):
        value = b.Neg(value, name=f"n{i}")
    return b.graph, value.name


def test_a_hook_sees_its_own_run_only():
    graph, last = chain()
    session = Session(graph)

    def seen_by_a_hook(number):
        seen = []

        def hook(node, call, inputs):
            seen.append(abs(float(inputs[0])))
            return call(*inputs)

        for _ in range(20):
            session.run(last, {"x:0": number}, hook=hook)
        return seen

    bodies = [lambda n=n: seen_by_a_hook(n) for n in range(1, 5)]
    unhooked = [lambda: [float(session.run(last, {"x:0": 9})) for _ in range(20)]] * 2
    *seen, first, second = in_threads(*bodies, *unhooked)
    assert seen == [[n] * 1000 for n in range(1, 5)]
    assert first == second == [9.0] * 20


@pytest.mark.slow
def test_each_run_has_its_own_timeout():
    graph, last = chain()
    session = Session(graph, timeout=4)

    def slow():
        with pytest.raises(DeadlineExceededError, match="4 seconds"):
            session.run(last, {"x:0": 1}, hook=lambda node, call, inputs: (time.sleep(1), call(*inputs))[1])

    def quick():
        end = time.monotonic() + 1
        while time.monotonic() < end:
            session.run(last, {"x:0": 1})

    in_threads(slow, quick)


def test_temporary_variables_belong_to_their_run():
    b = GraphBuilder()
    start = b.TemporaryVariable(shape=[], dtype="int32", var_name="sum")
    value = b.Assign(start, b.Placeholder(dtype="int32", shape=[], name="x"))
    for _ in range(20):
        value = b.AssignAdd(value, b.constant(np.int32(1)))
    last = b.DestroyTemporaryVariable(value, var_name="sum", name="last")
    session = Session(b.graph)

    def runs(start):
        return {int(session.run(last.name, {"x:0": start})) for _ in range(30)}

    assert in_threads(*[lambda n=n: runs(n) for n in range(4)]) == [{20 + n} for n in range(4)]


def _less(b, x):
    rest = b.Sub(x, b.constant(np.int32(1)))
    return [b.If(b.Greater(x, b.constant(np.int32(0))), [rest], Tout=["int32"], then_branch="down", else_branch="stop")[0]]


def test_functions_may_be_deep_in_several_threads():
    b = GraphBuilder()
    define(b, "stop", ["int32"], lambda b, x: [b.Identity(x)])
    define(b, "down", ["int32"], _less)
    b.PartitionedCall([b.Placeholder(dtype="int32", shape=[], name="x")], Tout=["int32"], f="down", name="call")
    session = Session(b.graph)
    limit = sys.getrecursionlimit()
    assert in_threads(*[lambda n=n: int(session.run("call:0", {"x:0": n})) for n in (60, 90, 120, 150)]) == [-1] * 4
    assert sys.getrecursionlimit() == limit


def test_a_value_cache_is_shared():
    b = GraphBuilder()
    variable = b.VarHandleOp(dtype="float32", shape=[], shared_name="v", name="v")
    b.AssignVariableOp(variable, b.Placeholder(dtype="float32", shape=[], name="x"), name="assign")
    read = b.ReadVariableOp(variable, dtype="float32")
    b.Neg(b.Add(read, read), name="y")
    session = Session(b.graph, cache=1 << 20)
    session.run("assign", {"x:0": 1})

    def reads():
        return {float(session.run("y:0")) for _ in range(200)}

    def writes():
        for n in range(200):
            session.run("assign", {"x:0": n % 3 + 1})

    first, second, _ = in_threads(reads, reads, writes)
    assert first | second <= {-2.0, -4.0, -6.0}
    stats = session.cache_stats
    assert stats.hits + stats.misses == 400
    assert stats.bytes <= 4


def sum_of(kind):
    """Return fetches that write 1 to a variable and read the variable, with a write of this kind."""
    b = GraphBuilder()
    zeros = b.constant(np.zeros(64, np.float32))
    every = b.constant(np.arange(64, dtype=np.int32))
    ones = b.constant(np.ones(64, np.float32))
    if kind.startswith("Resource") or kind.endswith("VariableOp"):
        v = b.VarHandleOp(dtype="float32", shape=[64], shared_name="v")
        b.AssignVariableOp(v, zeros, name="init")
        b.ReadVariableOp(v, dtype="float32", name="read")
    else:
        v = b.VariableV2(dtype="float32", shape=[64], name="v")
        b.Assign(v, zeros, name="init")
        b.Identity(v, name="read")
    if "Assign" in kind:
        getattr(b, kind)(v, ones, name="write")
    elif "ScatterNd" in kind:
        getattr(b, kind)(v, b.Reshape(every, [64, 1]), ones, name="write")
    elif "Scatter" in kind:
        getattr(b, kind)(v, every, ones, name="write")
    else:
        getattr(b, kind)(v, np.float32(1), b.Neg(ones), name="write")
    return b.graph


WRITES = [
    "AssignAdd",
    "AssignAddVariableOp",
    "ScatterAdd",
    "ResourceScatterAdd",
    "ScatterNdAdd",
    "ResourceScatterNdAdd",
    "ApplyGradientDescent",
    "ResourceApplyGradientDescent",
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", WRITES)
def test_no_write_is_lost_and_no_read_is_torn(kind):
    session = Session(sum_of(kind))
    session.run("init")

    def writes():
        for _ in range(100):
            session.run("write")

    def reads():
        before = 0.0
        for _ in range(100):
            value = session.run("read:0")
            assert (value == value[0]).all() and value[0] >= before
            before = value[0]

    in_threads(writes, writes, writes, reads, reads)
    assert session.run("read:0").tolist() == [300.0] * 64


def test_momentum_and_its_variable_change_together():
    """Both variables of an update are locked by one kernel at a time, in any order of the names in two nodes."""
    b = GraphBuilder()
    x, y = (b.VarHandleOp(dtype="float32", shape=[], shared_name=n) for n in "xy")
    for name, handle in (("x", x), ("y", y)):
        b.AssignVariableOp(handle, b.constant(np.float32(0)), name=f"init_{name}")
    one, zero = np.float32(1), np.float32(0)
    b.ResourceApplyMomentum(x, y, b.constant(zero), b.constant(one), b.constant(one), name="there")
    b.ResourceApplyMomentum(y, x, b.constant(zero), b.constant(one), b.constant(one), name="back")
    b.ReadVariableOp(x, dtype="float32", name="read_x")
    b.ReadVariableOp(y, dtype="float32", name="read_y")
    session = Session(b.graph)
    session.run(["init_x", "init_y"])
    in_threads(*[lambda op=op: [session.run(op) for _ in range(100)] for op in ("there", "back", "there", "back")])
    assert session.run(["read_x:0", "read_y:0"]) == [200, 200]


def test_counters_count_each_number_once():
    b = GraphBuilder()
    v = b.VariableV2(dtype="int32", shape=[], name="v")
    b.Assign(v, b.constant(np.int32(0)), name="init")
    b.CountUpTo(v, limit=1000, name="count")
    session = Session(b.graph)
    session.run("init")
    results = in_threads(*[lambda: [int(session.run("count:0")) for _ in range(100)]] * 4)
    assert sorted(flat(results)) == list(range(400))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", [None, 7])
@pytest.mark.parametrize("op", ["RandomUniform", "RandomStandardNormal", "TruncatedNormal"])
def test_random_draws_never_repeat(op, seed):
    b = GraphBuilder()
    getattr(b, op)([3], dtype="float64", name="x")
    together, alone = Session(b.graph, seed=seed), Session(b.graph, seed=seed)
    results = in_threads(*[lambda: [tuple(together.run("x:0").tolist()) for _ in range(50)]] * 4)
    draws = set(flat(results))
    assert len(draws) == 200
    if seed is not None:
        assert draws == {tuple(alone.run("x:0").tolist()) for _ in range(200)}


def draws_of(build, times=60):
    """Return the draws of four threads and of a single thread from equally built nodes."""
    b = GraphBuilder()
    fetches = build(b)
    together, alone = Session(b.graph, seed=3), Session(b.graph, seed=3)

    def draw(session):
        results = session.run(fetches)
        return tuple(tuple(np.asarray(value).ravel().tolist()) for value in results)

    results = in_threads(*[lambda: [draw(together) for _ in range(times)]] * 4)
    return sorted(flat(results)), sorted(draw(alone) for _ in range(4 * times))


def _shuffle(b):
    return [b.RandomShuffle(b.constant(np.arange(50, dtype=np.int32)), seed=1).name]


def _crop(b):
    return [b.RandomCrop(b.constant(np.arange(2500, dtype=np.int32).reshape(50, 50, 1)), np.int64([1, 1])).name]


def _sample(b):
    classes = b.constant(np.int64([[1], [2]]))
    drawn = b.LearnedUnigramCandidateSampler(classes, num_true=1, num_sampled=4, unique=True, range_max=40)
    return [out.name for out in drawn]


@pytest.mark.parametrize("build", [_shuffle, _crop, _sample])
def test_together_threads_draw_what_one_draws(build):
    together, alone = draws_of(build)
    assert together == alone


def test_generators_in_variables_never_repeat():
    b = GraphBuilder()
    v = b.VarHandleOp(dtype="int64", shape=[3], shared_name="state")
    b.AssignVariableOp(v, b.constant(np.int64([0, 0, 5])), name="init")
    b.StatefulUniformFullInt(v, np.int64(1), np.int64([2]), dtype="uint64", name="x")
    session = Session(b.graph)
    session.run("init")
    results = in_threads(*[lambda: [tuple(session.run("x:0").tolist()) for _ in range(50)]] * 4)
    assert len(set(flat(results))) == 200


def queue_graph(capacity=-1, op="FIFOQueueV2", **attrs):
    """`put` adds x, `put_many` the elements of xs; `take` and `take_many` take, n elements; `size`, `close` and `cancel`."""
    b = GraphBuilder()
    queue = getattr(b, op)(component_types=["int32"], shapes=[[]], capacity=capacity, name="queue", **attrs)
    b.QueueEnqueueV2(queue, [b.Placeholder(dtype="int32", shape=[], name="x")], name="put")
    b.QueueEnqueueManyV2(queue, [b.Placeholder(dtype="int32", shape=[None], name="xs")], name="put_many")
    n = b.Placeholder(dtype="int32", shape=[], name="n")
    b.QueueDequeueV2(queue, component_types=["int32"], name="take")
    b.QueueDequeueManyV2(queue, n, component_types=["int32"], name="take_many")
    b.QueueDequeueUpToV2(queue, n, component_types=["int32"], name="take_up_to")
    b.QueueSizeV2(queue, name="size")
    b.QueueCloseV2(queue, name="close")
    b.QueueCloseV2(queue, cancel_pending_enqueues=True, name="cancel")
    return b.graph


def shortly(body):
    """`body`, a little later, so that other threads wait by then."""

    def late():
        time.sleep(0.05)
        return body()

    return late


@pytest.mark.parametrize("op", ["FIFOQueueV2", "PaddingFIFOQueueV2", "RandomShuffleQueueV2"])
def test_a_dequeue_waits_for_an_enqueue_of_another_thread(op):
    session = Session(queue_graph(op=op))
    assert in_threads(lambda: int(session.run("take:0")), shortly(lambda: session.run("put", {"x:0": 7})))[0] == 7


def test_producers_and_consumers_lose_nothing():
    session = Session(queue_graph(capacity=3))

    def produces(start):
        return lambda: [session.run("put", {"x:0": start + i}) for i in range(50)]

    def consumes():
        return [int(session.run("take:0")) for _ in range(50)]

    *_, first, second = in_threads(produces(0), produces(50), consumes, consumes)
    assert sorted(first + second) == list(range(100))
    assert [x for x in first if x < 50] == sorted(x for x in first if x < 50)


def test_a_batch_larger_than_the_queue_comes_piece_by_piece():
    session = Session(queue_graph(capacity=2))
    taken, _ = in_threads(
        lambda: session.run("take_many:0", {"n:0": 7}).tolist(), shortly(lambda: session.run("put_many", {"xs:0": range(7)}))
    )
    assert taken == list(range(7))


def test_who_waits_longer_is_served_first():
    session = Session(queue_graph())
    batch = lambda: session.run("take_many:0", {"n:0": 3}).tolist()  # noqa: E731
    one = shortly(lambda: int(session.run("take:0")))
    taken, last, _ = in_threads(batch, one, shortly(shortly(lambda: [session.run("put", {"x:0": i}) for i in range(4)])))
    assert (taken, last) == ([0, 1, 2], 3)


def _gradients(b, x):
    accumulator = b.ConditionalAccumulator(dtype="float32", shape=[], shared_name="sum", reduction_type="SUM")
    b.AccumulatorApplyGradient(accumulator, np.int64(9), b.Cast(x, DstT="float32"), name="give")
    return b.AccumulatorTakeGradient(accumulator, b.Placeholder(dtype="int32", shape=[], name="n"), dtype="float32")


def _elements(b, x):
    barrier = b.Barrier(component_types=["int32"], shapes=[[]])
    element = b.ExpandDims(x, 0)
    b.BarrierInsertMany(barrier, b.AsString(element), element, component_index=0, name="give")
    taken = b.BarrierTakeMany(barrier, b.Placeholder(dtype="int32", shape=[], name="n"), component_types=["int32"])[2]
    return b.Sum(taken[0] if isinstance(taken, (list, tuple)) else taken, 0)


@pytest.mark.parametrize("build", [_gradients, _elements])
def test_who_waits_longer_is_served_first_by_all_that_wait(build):
    """A later request for few elements does not overtake an earlier request for more; a cancelled request blocks no thread."""
    b = GraphBuilder()
    b.Identity(build(b, b.Placeholder(dtype="int32", shape=[], name="x")), name="get")
    session = Session(b.graph)
    with pytest.raises(DeadlineExceededError):
        session.run("get:0", {"n:0": 5})
    three, one = (lambda: int(session.run("get:0", {"n:0": 3}))), (lambda: int(session.run("get:0", {"n:0": 1})))
    give = lambda: [session.run("give", {"x:0": x}) for x in (1, 2, 4, 8)]  # noqa: E731
    assert in_threads(three, shortly(one), shortly(shortly(shortly(give))))[:2] == [1 + 2 + 4, 8]


def test_closing_wakes_who_waits():
    session = Session(queue_graph())

    def refused():
        with pytest.raises(OutOfRangeError, match=r"closed and has insufficient elements \(requested 1, current size 0\)"):
            session.run("take:0")

    in_threads(refused, refused, shortly(lambda: session.run("close")))


def test_elements_of_an_unfinished_batch_return():
    session = Session(queue_graph())

    def refused():
        with pytest.raises(OutOfRangeError, match="insufficient"):
            session.run("take_many:0", {"n:0": 3})

    in_threads(refused, shortly(lambda: [session.run("put_many", {"xs:0": [1, 2]}), session.run("close")]))
    assert session.run("take_up_to:0", {"n:0": 5}).tolist() == [1, 2]


def test_what_waits_to_get_in_goes_before_a_close_and_not_before_a_cancel():
    session = Session(queue_graph(capacity=1))
    session.run("put", {"x:0": 0})
    adds, closes = lambda: session.run("put", {"x:0": 1}), shortly(lambda: session.run("close"))
    *_, taken = in_threads(adds, closes, shortly(shortly(lambda: session.run("take_many:0", {"n:0": 2}).tolist())))
    assert taken == [0, 1]
    session = Session(queue_graph(capacity=1))
    session.run("put", {"x:0": 0})

    def refused():
        with pytest.raises(CancelledError, match="cancelled"):
            session.run("put", {"x:0": 1})

    in_threads(refused, shortly(lambda: session.run("cancel")))
    assert session.run("take_up_to:0", {"n:0": 5}).tolist() == [0]


@pytest.mark.slow
def test_waiting_ends_with_the_time_of_the_run():
    session = Session(queue_graph(), timeout=0.3)

    def waits():
        start = time.monotonic()
        with pytest.raises(DeadlineExceededError, match=r"'take'.*0 of 1 elements.* after the time allowed"):
            session.run("take:0")
        assert 0.25 < time.monotonic() - start < 100

    in_threads(waits, lambda: time.sleep(1))
    session.run("put", {"x:0": 5})
    assert session.run("take:0") == 5, "the attempt that was given up takes nothing"


@pytest.mark.slow
def test_nobody_waits_for_a_thread_that_ended_or_waits_too():
    """Threads that all wait end one after another, because nothing comes; a lone run ends at once."""
    start = time.monotonic()
    code = (
        "import threading, time; from tests.core.runtime.session.test_concurrent_runs import queue_graph; import tfg\n"
        "session, ends = tfg.Session(queue_graph()), []\n"
        "def take():\n"
        "    try: session.run('take:0')\n"
        "    except tfg.errors.DeadlineExceededError as error: ends.append(str(error))\n"
        "take()\n"
        "threads = [threading.Thread(target=take) for _ in range(2)]\n"
        "[thread.start() for thread in threads]; take(); [thread.join() for thread in threads]\n"
        "assert len(ends) == 4, ends\n"
        "assert all('no other node can change that' in end for end in ends), ends\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)
    assert time.monotonic() - start < 300


def _staged(b):
    attrs = {"dtypes": ["int32"], "shared_name": "area"}
    b.Stage([np.int32(4)], shared_name="area", name="give")
    b.Unstage(**attrs, name="get")


def _staged_by_key(b):
    attrs = {"dtypes": ["int32"], "shared_name": "area"}
    b.MapStage(np.int64(1), np.int32([0]), [np.int32(4)], **attrs, name="give")
    b.MapUnstage(np.int64(1), np.int32([0]), **attrs, name="get")


def _accumulated(b):
    accumulator = b.ConditionalAccumulator(dtype="float32", shape=[], shared_name="sum")
    b.AccumulatorApplyGradient(accumulator, np.int64(0), np.float32(4), name="give")
    b.AccumulatorTakeGradient(accumulator, np.int32(1), dtype="float32", name="get")


def _barred(b):
    barrier = b.Barrier(component_types=["int32"], shapes=[[]])
    b.BarrierInsertMany(barrier, [b"k"], np.int32([4]), component_index=0, name="give")
    taken = b.BarrierTakeMany(barrier, np.int32(1), component_types=["int32"])
    b.Squeeze(taken[2][0] if isinstance(taken[2], (list, tuple)) else taken[2], name="get")


@pytest.mark.parametrize("build", [_staged, _staged_by_key, _accumulated, _barred])
def test_whatever_blocks_waits_for_another_thread(build):
    b = GraphBuilder()
    build(b)
    session = Session(b.graph)
    result, _ = in_threads(lambda: int(session.run("get:0")), shortly(lambda: session.run("give")))
    assert result == 4


def test_a_mutex_keeps_other_threads_out():
    """No other thread enters between a read, a pause and a write."""
    b = GraphBuilder()
    mutex = b.MutexV2(shared_name="mutex")
    v = b.VarHandleOp(dtype="int32", shape=[], shared_name="v")
    b.AssignVariableOp(v, np.int32(0), name="init")
    lock = b.MutexLock(mutex)
    with b.control_dependencies([lock.node]):
        read = b.ReadVariableOp(v, dtype="int32", name="read")
    more = b.Add(read, b.constant(np.int32(1)))
    for _ in range(20):
        more = b.Identity(more)
    write = b.AssignVariableOp(v, more)
    with b.control_dependencies([write]):
        b.ConsumeMutexLock(lock, name="step")
    session = Session(b.graph)
    session.run("init")
    in_threads(*[lambda: [session.run("step") for _ in range(30)]] * 4)
    assert session.run("read:0") == 120


def test_a_table_keeps_what_all_threads_insert():
    b = GraphBuilder()
    table = b.MutableHashTableV2(key_dtype="int64", value_dtype="int64", shared_name="table")
    keys = b.Placeholder(dtype="int64", shape=[None], name="keys")
    b.LookupTableInsertV2(table, keys, keys, name="insert")
    b.LookupTableRemoveV2(table, keys, name="remove")
    b.LookupTableExportV2(table, Tkeys="int64", Tvalues="int64", name="export")
    session = Session(b.graph)

    def inserts(start):
        for i in range(60):
            session.run("insert", {"keys:0": np.arange(4) + start + 4 * i})
            keys, values = session.run(["export:0", "export:1"])
            assert sorted(keys) == sorted(values)
            if i % 2:
                session.run("remove", {"keys:0": np.arange(4) + start + 4 * i})

    in_threads(*[lambda n=n: inserts(1000 * n) for n in range(4)])
    expected = [1000 * n + 4 * i + j for n in range(4) for i in range(0, 60, 2) for j in range(4)]
    assert sorted(session.run("export:0")) == expected
