"""Races: unordered accesses are found, ordered accesses are not, and the plan follows TensorFlow's executor for races."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest

from tests import opcases
from tests.cases import order_of_effects as graphs
from tests.cases.control_flow import counted
from tests.functions import define
from tfg import Session, optimize
from tfg.core.building.builder import GraphBuilder
from tfg.core.explaining.race_report import MOST_RACES, explain_races
from tfg.core.passes.base.race_settling import settle_races
from tfg.core.planning import races as races_module
from tfg.core.planning.planner import compile_plan, races_of
from tfg.core.planning.scheduling import ReadyQueue, construction_order
from tfg.core.registry.catalog import CATALOG
from tfg.core.registry.op_facts import ops_with
from tfg.core.types.dtypes import float32, int32
from tfg.core.types.shapes import Shape
from tfg.core.types.tensors import FuncRef


def built(build):
    g = GraphBuilder()
    return g.graph, build(g)


def races(graph, *fetches):
    return [race for run in explain_races(graph, fetches) for race in run.races]


def pairs(graph, *fetches):
    return {frozenset((race.first, race.second)) for race in races(graph, *fetches)}


@pytest.mark.parametrize("write", graphs.WRITES)
@pytest.mark.parametrize("read", graphs.READS)
def test_a_counter_moved_on_beside_its_reader_is_a_race(read, write):
    graph, steps = built(graphs.counter(graphs.READS[read], graphs.WRITES[write]))
    result = races(graph, *steps[-1])
    assert {race.state for race in result} == {"step"}
    assert {a for race in result for a in (race.first_access, race.second_access)} == {"reads 'step'", "writes 'step'"}
    assert not races(graph, *steps[0])  # the initializers alone


def test_a_control_edge_settles_a_race():
    graph, steps = built(graphs.counter(graphs.READS["directly"], graphs.WRITES["add"]))
    (race,) = races(graph, *steps[-1])
    before, after = race.control_edge
    assert f"a control edge from '{before}' to '{after}'" in race.words
    graph.add_control_input(graph.node(after), graph.node(before))
    assert not races(graph, *steps[-1])


def test_two_writes_are_a_race_and_two_reads_are_not():
    g = GraphBuilder()
    v, _ = graphs.variable(g, np.float32(0))
    writes = [g.AssignAdd(v, g.constant(1.0)), g.Assign(v, g.constant(2.0))]
    reads = [g.Neg(v), g.Abs(v)]
    assert pairs(g.graph, *(w.name for w in writes)) == {frozenset(w.node.name for w in writes)}
    assert not races(g.graph, *(r.name for r in reads))


def update_op(graph, op, references):
    """Add an update that takes the references as its variables, and fed values."""
    inputs = iter(references)
    fed = [
        None
        if arg.is_ref
        else graph.add_node(graph.unique_name("fed"), "Placeholder", (), (), {"dtype": arg.dtype or float32})
        for arg in CATALOG[op].inputs
    ]
    taken = [next(inputs) if node is None else node.output() for node in fed]
    return graph.add_node("update", op, taken, (), {"T": float32, "Tindices": int32})


UPDATES = [op for op in ops_with("training") if sum(arg.is_ref for arg in CATALOG[op].inputs) > 1 and op != "NegTrain"]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("op", UPDATES)
def test_an_update_writes_to_each_of_its_variables(op):
    g = GraphBuilder()
    names = [arg.name for arg in CATALOG[op].inputs if arg.is_ref]
    references = [graphs.variable(g, np.float32([1]), name)[0] for name in names]
    seen = [g.Neg(g.Identity(reference)) for reference in references]
    update = update_op(g.graph, op, references)
    for name, value in zip(names, seen):
        (race,) = races(g.graph, value.name, update.name)
        assert (race.state, {race.first, race.second}) == (name, {value.node.name, "update"})


def test_a_value_of_one_of_several_variables_races_with_writes_to_each():
    g = GraphBuilder()
    a, b = (graphs.variable(g, np.float32(0), name)[0] for name in "ab")
    predicate = g.Placeholder(dtype="bool", shape=[], name="p")
    merged = g.Merge([g.Identity(g.RefSwitch(a, predicate)[0]), g.Identity(g.RefSwitch(b, predicate)[1])])[0]
    value = g.Neg(merged)
    for variable in (a, b):
        write = g.AssignAdd(variable, g.constant(1.0))
        assert pairs(g.graph, value.name, write.name) == {frozenset((value.node.name, write.node.name))}
    chosen = g.AssignAdd(g.RefSelect(g.constant(1), [a, b]), g.constant(1.0))
    assert {race.state for race in races(g.graph, value.name, chosen.name)} == {"a", "b"}


def test_handles_that_are_handed_on_together_stay_apart():
    g = GraphBuilder()
    a, b = (g.VarHandleOp(dtype="float32", shape=[], shared_name=name, name=name) for name in "ab")
    read = g.ReadVariableOp(g.IdentityN([a, b])[1], dtype="float32")
    writes = [g.AssignVariableOp(handle, g.constant(1.0)).name for handle in (a, b)]
    assert not races(g.graph, read.name, writes[0])
    assert {race.state for race in races(g.graph, read.name, writes[1])} == {"b"}
    merged = g.Merge([g.Switch(a, g.Placeholder(dtype="bool", shape=[]))[0], b])[0]
    read = g.ReadVariableOp(merged, dtype="float32")
    assert all({race.state for race in races(g.graph, read.name, write)} for write in writes)


def test_reads_of_a_table_by_reference_race_with_its_inserts():
    g = GraphBuilder()
    table = g.MutableHashTable(key_dtype="int64", value_dtype="float32")
    key = g.constant(np.int64(1))
    looked_up = g.LookupTableFind(table, key, g.constant(0.0))
    insert = g.LookupTableInsert(table, key, g.constant(1.0))
    assert pairs(g.graph, looked_up.name, insert.name) == {frozenset((looked_up.node.name, insert.name))}


def test_elements_of_an_iterator_come_in_no_order():
    g = GraphBuilder()
    types = {"output_types": ["int64"], "output_shapes": [Shape(())]}
    made = [g.IteratorV2(**types, shared_name=name, container="", name=name) for name in "ab"]
    first, second, other = (g.IteratorGetNext(handle, **types)[0].name for handle in (made[0], made[0], made[1]))
    assert {race.state for race in races(g.graph, first, second)} == {"a"}
    assert not races(g.graph, first, other)


def test_shared_names_are_one_variable_and_containers_keep_apart():
    def variables(**attrs):
        g = GraphBuilder()
        handles = [g.VarHandleOp(dtype="float32", shape=[], name=f"h{i}", **a) for i, a in enumerate(attrs["each"])]
        fetches = [g.ReadVariableOp(handles[0], dtype="float32").name, g.AssignVariableOp(handles[1], g.constant(1.0)).name]
        return races(g.graph, *fetches)

    assert variables(each=[{"shared_name": "v"}, {"shared_name": "v"}])
    assert not variables(each=[{"shared_name": "v"}, {"shared_name": "w"}])
    assert not variables(each=[{"shared_name": "v"}, {"shared_name": "v", "container": "c"}])


def test_branches_of_one_conditional_do_not_race():
    g = GraphBuilder()
    v, _ = graphs.variable(g, np.float32(0))
    predicate = g.Placeholder(dtype="bool", shape=[], name="p")
    one = g.Switch(g.constant(1.0), predicate)
    merged, _ = g.Merge([g.AssignAdd(v, one[0]), g.AssignSub(v, one[1])])
    assert not races(g.graph, merged.name)


def test_draws_in_a_loop_race_with_themselves_unless_they_wait():
    graph, steps = built(graphs.drawing(3))
    (race,) = races(graph, *steps[0])
    assert race.first == race.second
    assert race.loop == "f"
    before, after = race.control_edge
    graph.add_control_input(graph.node(after), graph.node(before))
    assert not races(graph, *steps[0])
    graph, steps = built(graphs.drawing_in_turn)
    assert not races(graph, *steps[0])


def test_unseeded_draws_have_no_order_to_keep():
    g = GraphBuilder()
    (fetches, *_) = graphs.drawing(3, seed=0)(g)
    for node in g.graph:
        if node.op == "RandomUniform":
            node.attrs["seed2"] = 0
    assert not races(g.graph, *fetches)
    assert not compile_plan(g.graph, [g.graph.output(name) for name in fetches]).needs_dataflow


def test_a_loop_is_before_what_takes_its_result():
    """Reads in the body of a loop come before the loop's result."""
    g = GraphBuilder()
    v, _ = graphs.variable(g, np.float32(2))
    value = g.Identity(v)
    outs = counted(g, "f", 3, [g.constant(1.0)], [value], lambda values, fixed: [g.Mul(values[0], fixed[0])])
    after, beside = g.AssignAdd(v, outs[1]), g.AssignAdd(v, g.constant(1.0))
    assert not races(g.graph, after.name)
    assert races(g.graph, outs[1].name, beside.name)


@pytest.mark.slow
def test_ten_thousand_nodes_take_no_longer_than_their_number():
    g = GraphBuilder()
    last = g.constant(0.0)
    for i in range(1000):
        v, _ = graphs.variable(g, np.float32(0), f"v{i}")
        with g.control_dependencies([last]):
            last = g.AssignAdd(v, g.Neg(g.Abs(g.Identity(v))))
    start = time.process_time()
    assert not races(g.graph, last.name)
    assert time.process_time() - start < 5


@pytest.mark.sampled(16)
@pytest.mark.parametrize("case", opcases.load_cases("order_of_effects"), ids=lambda case: case.key)
def test_optimization_keeps_the_order_of_races(case):
    """With every pass on, a graph with a race keeps the result."""
    g = GraphBuilder()
    steps = case.build(g)
    feeds = case.feeds
    targets = tuple(dict.fromkeys(name for fetches in steps for name in fetches))
    optimized = optimize(g.graph, targets, tuple(feeds))[0]
    before, after = Session(g.graph), Session(optimized)
    for fetches in steps:
        for expected, result in zip(before.run(list(fetches), feeds), after.run(list(fetches), feeds)):
            assert expected is None if result is None else np.array_equal(expected, result)


MAPS = (
    lambda g, a: g.Neg(a), lambda g, a: g.Identity(a), lambda g, a: g.Mul(a, np.float32(2)), lambda g, a: g.Mul(a, a),
    lambda g, a: g.AddV2(a, np.float32(0)), lambda g, a: g.Sub(a, np.float32([1, 1, 1])),
    lambda g, a: g.Reshape(g.Reshape(a, np.int32([1, 3])), np.int32([3])),
)  # fmt: skip


def memory_program(seed):
    """Values of two variables' memory, before and after writes, and what is computed of them."""
    rng, g = random.Random(seed), GraphBuilder()
    made = [graphs.variable(g, np.float32([0.1, 0.2, 0.3]) * (i + 1), f"v{i}") for i in range(2)]
    x = g.Placeholder(dtype="float32", shape=[3], name="x")
    values, last = [*(g.Identity(v) for v, _ in made), x], []
    for _ in range(rng.randrange(6, 16)):
        kind = rng.randrange(4)
        if kind == 0:
            recent = [value for value in values[-4:] if value is not x]
            with g.control_dependencies([*last, *recent]):
                write = rng.choice([g.Assign, g.AssignAdd, g.AssignSub])
                last = [write(rng.choice(made)[0], g.Mul(rng.choice(values), np.float32(0.5)))]
            continue
        with g.control_dependencies(last if rng.random() < 0.5 else []):
            if kind == 1:
                values.append(rng.choice([g.Mul, g.AddV2, g.Sub, g.Maximum])(rng.choice(values), rng.choice(values)))
            else:
                values.append(rng.choice(MAPS)(g, rng.choice(values[-5:])))
    with g.control_dependencies(last):
        g.AddN([g.Identity(value) for value in values[-4:]], name="y")
    return g.graph, [init for _, init in made]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(24))
def test_optimization_keeps_the_time_of_reads(seed):
    graph, init = memory_program(seed)
    optimized = optimize(graph, ["y:0", *init], ["x:0"])[0]
    assert {race.state for race in races(optimized, "y")} <= {race.state for race in races(graph, "y")}
    results = []
    for one in (graph, optimized):
        session = Session(one)
        session.run(init)
        results.append([session.run("y:0", {"x:0": np.float32([1, 2, 3])}) for _ in range(2)])
    np.testing.assert_allclose(results[1], results[0], rtol=1e-4, atol=1e-5)


def square_of_a_late_read(g, v, x):
    read = g.Identity(v)
    with g.control_dependencies([g.AssignAdd(v, x)]):
        late = g.Identity(read)
    return g.Mul(late, late)


def difference_of_an_early_result(g, v, x):
    negated = g.Neg(g.Identity(v))
    with g.control_dependencies([negated]):
        write = g.AssignAdd(v, x)
    with g.control_dependencies([write]):
        return g.AddV2(g.Identity(x), negated)


@pytest.mark.parametrize(
    ("made", "expected"), [(square_of_a_late_read, [4, 9, 16]), (difference_of_an_early_result, [0, -1, -2])]
)
def test_a_rule_reads_memory_when_the_nodes_before_did(made, expected):
    g = GraphBuilder()
    v, init = graphs.variable(g, np.float32([1, 2, 3]))
    g.Identity(made(g, v, g.constant(np.float32([1, 1, 1]))), name="y")
    optimized = optimize(g.graph, ["y:0", init])[0]
    session = Session(optimized)
    session.run(init)
    assert session.run("y:0").tolist() == expected


def test_ready_queue():
    """Cheap items run at once and in order; of the others the last joins an empty queue, and the rest is a stack."""
    queue = ReadyQueue(str.islower)
    queue.add(["A", "b", "C", "d", "E"])
    assert list(queue.taken()) == ["b", "d", "E", "C", "A"]
    queue.add(["A", "B", "C"])
    assert list(queue.taken()) == ["C", "B", "A"]
    queue.add(["a", "b"], is_asynchronous=True)
    assert list(queue.taken()) == ["b", "a"]
    assert not queue


def test_construction_order_takes_the_first_that_can_be_made():
    waits = {"a": "d", "b": "", "c": "b", "d": "", "e": "ab"}
    assert construction_order("abcde", lambda unit: waits[unit]) == ["b", "c", "d", "a", "e"]


def test_optimization_settles_a_race_where_both_always_run():
    """A chain that optimization makes shorter would else let another node come first."""
    g = GraphBuilder()
    step, init = graphs.variable(g, np.int32(0), "step")
    late = g.Identity(g.Identity(g.constant(1)))
    moved = g.Assign(step, g.AddV2(g.Identity(step), g.Neg(g.Neg(late))))
    total, init_total = graphs.variable(g, np.float32(0), "total")
    added = g.AssignAdd(total, g.Cast(step, DstT="float32"))
    with g.control_dependencies([moved, added]):
        train = g.NoOp(name="train")
    optimized, _ = optimize(g.graph, [init, init_total, train.name])
    assert not races(optimized, train.name)
    before, after = Session(g.graph), Session(optimized)
    for session in (before, after):
        session.run([init, init_total])
        for _ in range(3):
            session.run("train")
    assert before.run(total.name) == after.run(total.node.name + ":0")


def chained(b, rng, value):
    """The value behind some nodes that optimization takes away."""
    for _ in range(rng.randrange(4)):
        value = rng.choice([lambda v: b.Neg(b.Neg(v)), b.Identity, lambda v: b.Mul(v, b.constant(1.0))])(value)
    return value


def planted(b, rng, handle, x):
    """Return a value that depends on the order of unordered reads and writes of a variable."""
    result, writes = [x], []
    for _ in range(rng.randrange(2, 6)):
        source = chained(b, rng, rng.choice(result))
        if rng.random() < 0.5:
            with b.control_dependencies([source]):
                read = b.ReadVariableOp(handle, dtype="float32")
            result.append(chained(b, rng, b.AddV2(read, source)))
        else:
            write = rng.choice([b.AssignVariableOp, b.AssignAddVariableOp])
            writes.append(write(handle, source, dtype="float32"))
    with b.control_dependencies(writes):
        return b.Identity(b.AddN(result))


def in_call(g, rng, handle, x):
    define(g, "inner", ["resource", "float32"], lambda b, h, a: [planted(b, rng, h, a)], stateful=True)

    def outer(b, h, a):
        return b.StatefulPartitionedCall([h, chained(b, rng, a)], f=FuncRef("inner"), Tout=["float32"])

    define(g, "outer", ["resource", "float32"], outer, stateful=True)
    return g.StatefulPartitionedCall([handle, x], f=FuncRef("outer"), Tout=["float32"])[0]


def in_branch(g, rng, handle, x):
    for name in ("then", "else"):
        define(g, name, ["resource", "float32"], lambda b, h, a: [planted(b, rng, h, a)], stateful=True)
    branches = {"then_branch": FuncRef("then"), "else_branch": FuncRef("else")}
    return g.If(g.Greater(x, g.constant(0.0)), [handle, x], Tout=["float32"], **branches)[0]


def in_loop(g, rng, handle, x):
    types = ["int32", "float32", "resource"]
    define(g, "more", types, lambda b, i, a, h: [b.Less(i, b.constant(3))])

    def step(b, i, a, h):
        return [b.AddV2(i, b.constant(1)), b.Mul(planted(b, rng, h, a), b.constant(0.25)), h]

    define(g, "step", types, step, stateful=True)
    return g.While([g.constant(0), x, handle], cond=FuncRef("more"), body=FuncRef("step"))[1]


PLACES = {"the graph": planted, "a call": in_call, "a branch": in_branch, "a loop": in_loop}


def with_planted_races(place, seed):
    g = GraphBuilder()
    handle = g.VarHandleOp(shape=[], dtype="float32", shared_name="v", name="v")
    g.AssignVariableOp(handle, g.constant(1.5), dtype="float32", name="init")
    x = g.Placeholder(dtype="float32", shape=[], name="x")
    g.Identity(PLACES[place](g, random.Random(seed), handle, x), name="y")
    return g.graph


def test_states_are_looked_at_in_parts(monkeypatch):
    """The cached facts of a node do not grow with the number of variables."""
    g = GraphBuilder()
    results = []
    for _ in range(9):
        v, _ = graphs.variable(g, np.float32(0))
        results += [g.Neg(v), g.AssignAdd(v, g.constant(1.0))]
    target = g.group(results)
    whole = list(races_of(g.graph, [target]))
    kept = []
    reached = races_module._RunOrder.reached
    monkeypatch.setattr(races_module._RunOrder, "reached", lambda search, bits: kept.append(bits) or reached(search, bits))
    monkeypatch.setattr(races_module, "MOST_BITS", 4)
    assert list(races_of(g.graph, [target])) == whole
    assert len(whole) == 9 and max(len(bits) for bits in kept) <= 4


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", range(40))
def test_what_is_settled_races_no_more(seed):
    """Only neighbours get an edge; where all of them have, so have all pairs."""
    g = GraphBuilder()
    rng = random.Random(seed)
    v, _ = graphs.variable(g, np.float32(0))
    results = []
    branches = [g.Identity(branch) for branch in g.Switch(g.constant(1.0), g.Placeholder(dtype="bool", shape=[]))]
    for _ in range(rng.randrange(2, 8)):
        awaited = rng.sample(results, min(len(results), rng.randrange(3))) or rng.sample(branches, rng.randrange(2))
        with g.control_dependencies(awaited):
            results.append(rng.choice([g.Neg(v), g.AssignAdd(v, g.constant(1.0))]))
    target = g.group(results)
    listed = list(races_of(g.graph, [target]))
    accesses = [result.node for result in results]
    edges = sum(len(node.control_inputs) for node in accesses)
    settle_races(g.graph, [target], (), ())
    assert not list(races_of(g.graph, [target]))
    assert sum(len(node.control_inputs) for node in accesses) - edges <= len(listed)


def test_a_race_is_settled_where_each_run_of_the_later_node_has_the_earlier():
    """In a run of a single target, an edge must not make more nodes run."""
    for targets, is_settled in ((("both", "one"), True), (("both", "other"), False), (("both", "one", "other"), False)):
        g = GraphBuilder()
        v, _ = graphs.variable(g, np.float32(0))
        one, other = g.AssignAdd(v, g.constant(1.0), name="one"), g.AssignAdd(v, g.constant(2.0), name="other")
        g.AddN([one, other], name="both")
        settle_races(g.graph, [g.graph.node(name) for name in targets], (), ())
        assert ([node.name for node in g.graph["other"].control_inputs] == ["one"]) is is_settled, targets


def test_of_very_many_races_the_first_are_told():
    g = GraphBuilder()
    v, _ = graphs.variable(g, np.float32(0))
    writes = [g.AssignAdd(v, g.constant(1.0)) for _ in range(60)]
    (run,) = explain_races(g.graph, [g.group(writes).name])
    assert run.has_more and len(run.races) == MOST_RACES
    (run,) = explain_races(g.graph, [g.group(writes[:20]).name])
    assert not run.has_more and len(run.races) == 20 * 19 // 2


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_optimization_keeps_the_order_of_planted_races(place):
    result = 0
    for seed in range(12):
        graph = with_planted_races(place, seed)
        result += bool(explain_races(graph, ["y"])[0].races)
        sessions = [Session(graph), Session(optimize(graph, ["y", "init"], ["x"])[0])]
        for session in sessions:
            session.run("init")
        for x in (2.0, -3.0, 0.5):
            before, after = (session.run("y:0", {"x": np.float32(x)}) for session in sessions)
            np.testing.assert_allclose(after, before, rtol=1e-5, err_msg=f"{seed}")
    assert result > 6
