"""Leftovers of training in a frozen graph: nodes that need references to frozen variables."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cli.running import tfg
from tfg.core.explaining.problems import find_problems
from tfg.core.graph.graph import Graph
from tfg.core.passes.pipeline import optimize
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import InvalidArgumentError
from tfg.core.types import dtypes
from tfg.core.types.shapes import Shape
from tfg.core.types.tensors import Tensor
from tfg.formats import load, save
from tfg.formats.loading import load_leniently

FLOAT, INDEXED = {"T": dtypes.float32}, {"T": dtypes.float32, "Tindices": dtypes.int32}


class Frozen:
    """A graph with frozen variables and unchanged other nodes."""

    def __init__(self):
        self.graph = Graph()

    def constant(self, name, value, dtype=np.float32):
        tensor = Tensor.from_numpy(np.asarray(value, dtype))
        return self.graph.add_node(name, "Const", attrs={"dtype": tensor.dtype, "value": tensor}).output()

    def fed(self, name):
        return self.graph.add_node(name, "Placeholder", attrs={"dtype": dtypes.float32, "shape": Shape()}).output()

    def add(self, name, op, *inputs, **attrs):
        return self.graph.add_node(name, op, inputs, attrs=FLOAT | attrs).output()

    def repaired(self, fetches, passes="repair"):
        return optimize(self.graph, fetches, (), passes)


def run(graph, fetch, feeds=None):
    return np.asarray(Session(graph).run(fetch, feeds or {})).tolist()


@pytest.mark.parametrize(("op", "value"), [("Assign", 5), ("AssignAdd", 7), ("AssignSub", -3)])
def test_an_assignment_computes_what_it_would_have_written(op, value):
    b = Frozen()
    b.add("y", "Neg", b.add("update", op, b.constant("mean", 2), b.fed("x"), use_locking=True))
    graph, _ = b.repaired(["y"])
    assert run(graph, "y:0", {"x:0": np.float32(5)}) == -value


ROWS = [[1, 2], [3, 4], [5, 6]]
SCATTERED = {
    "ScatterUpdate": [[10, 1], [3, 4], [2, 20]],
    "ScatterAdd": [[11, 3], [3, 4], [7, 26]],
    "ScatterSub": [[-9, 1], [3, 4], [3, -14]],
    "ScatterMax": [[10, 2], [3, 4], [5, 20]],
    "ScatterMin": [[1, 1], [3, 4], [2, 6]],
}


@pytest.mark.parametrize("op", SCATTERED)
@pytest.mark.parametrize("columns", [False, True], ids=["slices", "indices"])
def test_scattered_rows(op, columns):
    b = Frozen()
    rows = b.constant("rows", [[0], [2]] if columns else [0, 2], np.int32)
    name = op.replace("Scatter", "ScatterNd") if columns else op
    b.add("y", name, b.constant("table", ROWS), rows, b.constant("new", [[10, 1], [2, 20]]), **INDEXED)
    graph, _ = b.repaired(["y"])
    assert run(graph, "y:0") == SCATTERED[op]


@pytest.mark.parametrize(("taken", "value"), [(True, -3), (False, 2)])
def test_references_that_a_conditional_hands_on(taken, value):
    b = Frozen()
    mean, predicate = b.constant("mean", 2), b.constant("taken", taken, np.bool_)
    switched = b.add("switch", "RefSwitch", mean, predicate).node
    updated = b.add("update", "AssignSub", switched.output(1), b.fed("x"))
    b.add("merge", "RefMerge", switched.output(0), updated, N=2)
    graph, _ = b.repaired(["merge:0"])
    assert run(graph, "merge:0", {"x:0": np.float32(5)}) == value


def counting_loop():
    """`while count < 10: count += 3` of a reference, from 2 on."""
    b = Frozen()
    enter = b.add("enter", "RefEnter", b.constant("count", 2), frame_name=b"loop")
    three = b.add("three", "Enter", b.constant("step", 3), frame_name=b"loop", is_constant=True)
    ten = b.add("ten", "Enter", b.constant("limit", 10), frame_name=b"loop", is_constant=True)
    merge = b.graph.add_node("merge", "RefMerge", [enter, enter], attrs=FLOAT | {"N": 2})
    less = b.add("less", "Less", merge.output(), ten)
    condition = b.graph.add_node("condition", "LoopCond", [less]).output()
    switch = b.add("switch", "RefSwitch", merge.output(), condition).node
    following = b.add("next", "RefNextIteration", b.add("add", "AssignAdd", switch.output(1), three))
    b.graph.set_input(merge, 1, following)
    b.add("exit", "RefExit", switch.output(0))
    b.add("y", "RefIdentity", b.graph.output("exit:0"))
    return b


def test_references_that_a_loop_hands_on():
    graph, _ = counting_loop().repaired(["y"])
    assert run(graph, "y:0") == 11
    assert not [node.op for node in graph if node.op.startswith("Ref")]


@pytest.mark.parametrize("op", ["ApplyMomentum", "ScatterMul"])
def test_a_training_step_that_nothing_reads_does_nothing(op):
    b = training_step(op)
    train = b.graph.add_node("train", "NoOp", control_inputs=[b.graph.node("step")])
    graph, report = b.repaired(["train"])
    assert [node.op for node in (graph.node("step"), train)] == ["NoOp", "NoOp"]
    assert Session(graph).run(["train"]) == [None]
    assert report.passes[0].fired == {"reference": 1}


def training_step(op):
    b = Frozen()
    w, m, one = b.constant("w", [1, 2]), b.constant("m", [0, 0]), b.constant("one", 1)
    if op == "ApplyMomentum":
        b.add("step", op, w, m, one, b.constant("grad", [1, 1]), one)
    else:
        b.add("step", op, w, b.constant("rows", [0], np.int32), b.constant("new", [1]), **INDEXED)
    return b


@pytest.mark.parametrize("op", ["ApplyMomentum", "ScatterMul"])
def test_a_training_step_that_is_read_is_an_error_that_names_it(op):
    b = training_step(op)
    b.add("y", "Neg", b.graph.output("step:0"))
    with pytest.raises(InvalidArgumentError, match="'w:0', has dtype float, not float_ref") as caught:
        b.repaired(["y"])
    assert caught.value.node == "step"


def test_what_fits_stays_as_it_is():
    b = Frozen()
    variable = b.graph.add_node("v", "VariableV2", attrs={"dtype": dtypes.float32, "shape": Shape(())}).output()
    b.add("assign", "Assign", variable, b.constant("start", 2))
    b.add("y", "AssignSub", b.add("same", "RefIdentity", variable), b.constant("one", 1))
    graph, report = b.repaired(["y"])
    assert [(node.name, node.op) for node in graph] == [(node.name, node.op) for node in b.graph]
    assert not report.passes[0].fired


def test_locations_of_nodes_that_are_gone_are_forgotten():
    b = Frozen()
    y = b.add("y", "Neg", b.fed("x"), _class=[b"loc:@gone/kernel"]).node
    b.add("z", "Neg", y.output(), _class=[b"loc:@gone/kernel", b"loc:@y"])
    graph, report = b.repaired(["z"])
    assert [node.colocation for node in graph] == [(), (), ("y",)]
    assert report.passes[0].fired == {"location": 2}


@pytest.fixture
def leftover(tmp_path):
    """Return y = x - mean = 3 at x = 5, beside a loop and a conditional that update a frozen variable."""
    b = counting_loop()
    mean, x = b.constant("mean", 2), b.fed("x")
    switched = b.add("cond/Switch", "RefSwitch", mean, b.constant("is_training", True, np.bool_)).node
    b.add("cond/update", "AssignSub", switched.output(1), x)
    b.add("out", "Sub", x, mean)
    path = tmp_path / "frozen.pb"
    save(b.graph, path)
    return path


@pytest.mark.parametrize("target", ["g.pbtxt", "g.pb", "g.pb.gz", "g.pbtxt.gz"])
@pytest.mark.parametrize("kind", [(), ("--kind", "graph"), ("--kind", "meta_graph")])
def test_the_form_changes_however_nodes_are(leftover, target, kind, tmp_path):
    done = tfg("convert", leftover, tmp_path / target, *kind)
    assert done.code == 0, done.err
    assert "the graph is broken: node 'merge'" in done.err or "the graph is broken: node 'enter'" in done.err
    there, before = load(tmp_path / target), load(leftover)
    assert [(n.name, n.op, dict(n.attrs), n.inputs and [v.name for v in n.inputs]) for n in there] == [
        (n.name, n.op, dict(n.attrs), n.inputs and [v.name for v in n.inputs]) for n in before
    ]


@pytest.mark.parametrize("way", [
    ("convert", "{}", "{out}", "--to", "out"),
    ("convert", "{}", "{out}", "--to", "out", "--freeze", "--inline-functions"),
    ("convert", "{}", "{out}", "--map-op", "AssignSub=Sub", "--map-op", "RefSwitch=Switch", "--to", "out"),
    ("optimize", "{}", "-o", "{out}", "--fetch", "out"),
    ("optimize", "{}", "-o", "{out}", "--fetch", "out", "--passes", "prune"),
    ("optimize", "{}", "-o", "{out}", "--fetch", "out", "--passes", "repair"),
    ("optimize", "{}", "-o", "{out}", "--fetch", "out", "--fetch", "cond/update", "--passes", "default,repair"),
])  # fmt: skip
def test_each_way_out_gives_the_right_value(leftover, way, tmp_path):
    done = tfg(*(word.format(leftover, out=tmp_path / "out.pb") for word in way))
    assert done.code == 0, done.err
    result = tfg("run", tmp_path / "out.pb", "--fetch", "out", "--feed", "x=5", "--format", "json")
    assert "3.0" in result.out, result.err


@pytest.mark.parametrize("way", [
    ("convert", "{}", "{out}", "--to", "cond/update"),
    ("convert", "{}", "{out}", "--from", "x"),
    ("optimize", "{}", "-o", "{out}", "--fetch", "cond/update"),
    ("optimize", "{}", "-o", "{out}", "--fetch", "out", "--passes", "fold"),
    ("run", "{}", "--fetch", "out", "--feed", "x=5"),
])  # fmt: skip
def test_what_is_kept_is_checked(leftover, way, tmp_path):
    done = tfg(*(word.format(leftover, out=tmp_path / "out.pb") for word in way))
    assert done.code == 1
    assert "float, not float_ref" in done.err
    assert "--passes repair" in done.err


def test_check_says_what_to_do(leftover):
    problems = tfg("check", leftover, "--format", "json").json["graphs"][0]["problems"]
    hints = {p["node"]: p["hint"] for p in problems if p["kind"] == "dtype"}
    assert "`tfg convert GRAPH OUT --to OUTPUT`" in hints["cond/Switch"]
    assert "`--map-op RefSwitch=Switch --map-op AssignSub=Sub`" in hints["cond/Switch"]
    assert "`tfg optimize GRAPH -o OUT --passes repair`" in hints["cond/Switch"]


def test_the_initial_value_of_a_frozen_variable_is_its_value():
    """`v.initialized_value()`: a conditional on IsVariableInitialized, with a RefSwitch on the side that reads."""
    b = Frozen()
    v, start, bools = b.constant("v", 2), b.constant("start", 7), {"T": dtypes.bool_}
    asked = b.graph.add_node("asked", "IsVariableInitialized", [v], attrs={"dtype": dtypes.float32}).output()
    pred = b.graph.add_node("pred", "Identity", [asked], attrs=bools).output()
    read = b.graph.add_node("read", "RefSwitch", [v, pred], attrs=FLOAT).output(1)
    other = b.graph.add_node("other", "Switch", [start, pred], attrs=FLOAT).output(0)
    merged = b.graph.add_node("merged", "Merge", [other, b.add("kept", "Identity", read)], attrs=FLOAT | {"N": 2}).output()
    b.add("y", "Mul", merged, b.fed("x"))
    graph, _ = b.repaired(["y", "asked"])
    assert run(graph, "y:0", {"x:0": np.float32(3)}) == 6
    assert run(graph, "asked:0") is True


def loop(graph, name, start, frame, factor):
    """Add a V1 loop that multiplies a value by a factor three times; the factor is any value at the loop's entry."""
    attrs = {"frame_name": frame, "is_constant": False, "parallel_iterations": 10}
    ints = {"T": dtypes.int32}

    def const(label, value, *controls):
        tensor = Tensor.from_numpy(np.int32(value))
        node = graph.add_node(f"{name}/{label}", "Const", (), controls, {"dtype": tensor.dtype, "value": tensor})
        return node.output()

    def add(label, op, inputs, types):
        return graph.add_node(f"{name}/{label}", op, inputs, attrs=types).output()

    count = add("enter_count", "Enter", [const("zero", 0)], ints | attrs)
    value = add("enter_value", "Enter", [start], FLOAT | attrs)
    counted = graph.add_node(f"{name}/merge_count", "Merge", [count, count], attrs=ints | {"N": 2})
    valued = graph.add_node(f"{name}/merge_value", "Merge", [value, value], attrs=FLOAT | {"N": 2})
    less = add("less", "Less", [counted.output(), const("three", 3, counted)], ints)
    going = add("going", "LoopCond", [less], {})
    switch_count = graph.add_node(f"{name}/switch_count", "Switch", [counted.output(), going], attrs=ints)
    switch_value = graph.add_node(f"{name}/switch_value", "Switch", [valued.output(), going], attrs=FLOAT)
    now = add("now", "Identity", [switch_count.output(1)], ints)
    more = add("more", "AddV2", [now, const("one", 1, now.node)], ints)
    product = add("product", "Mul", [switch_value.output(1), factor(attrs)], FLOAT)
    graph.set_input(counted, 1, add("next_count", "NextIteration", [more], ints))
    graph.set_input(valued, 1, add("next_value", "NextIteration", [product], FLOAT))
    return add("exit", "Exit", [switch_value.output(0)], FLOAT)


def test_a_loop_reads_the_value_of_a_frozen_handle():
    b = Frozen()
    kernel = b.constant("kernel", 2)
    b.add("also", "Neg", kernel)

    def factor(attrs):
        types = {"T": dtypes.resource} | attrs | {"is_constant": True}
        handle = b.graph.add_node("handle", "Enter", [kernel], attrs=types).output()
        return b.graph.add_node("read", "ReadVariableOp", [handle], attrs={"dtype": dtypes.float32}).output()

    loop(b.graph, "loop", b.fed("x"), b"frame", factor)
    assert "repair" in next(problem.hint for problem in find_problems(b.graph) if problem.node == "handle")
    graph, report = b.repaired(["loop/exit", "also"])
    assert run(graph, "loop/exit:0", {"x:0": np.float32(1)}) == 8
    assert run(graph, "also:0") == -2
    assert not find_problems(graph)
    assert report.passes[0].fired == {"handle": 1}


def test_a_loop_gathers_from_a_frozen_handle():
    """The axis of the gather belongs to the frame of the loop."""
    b = Frozen()
    table, row = b.constant("table", [3, 2]), b.constant("row", 1, np.int32)

    def factor(attrs):
        entered = attrs | {"is_constant": True}
        handle = b.graph.add_node("handle", "Enter", [table], attrs={"T": dtypes.resource} | entered).output()
        place = b.graph.add_node("place", "Enter", [row], attrs={"T": dtypes.int32} | entered).output()
        types = {"Tindices": dtypes.int32, "dtype": dtypes.float32}
        return b.graph.add_node("gather", "ResourceGather", [handle, place], attrs=types).output()

    loop(b.graph, "loop", b.fed("x"), b"frame", factor)
    graph, _ = b.repaired(["loop/exit"])
    assert run(graph, "loop/exit:0", {"x:0": np.float32(1)}) == 8
    assert not find_problems(graph)


@pytest.mark.parametrize(
    ("op", "attrs", "value"),
    [
        ("ReadVariableOp", {"dtype": dtypes.float32}, [[1, 2], [3, 4]]),
        ("VariableShape", {"out_type": dtypes.int32}, [2, 2]),
        ("VarIsInitializedOp", {}, True),
    ],
)
def test_questions_to_a_frozen_handle_are_answered(op, attrs, value):
    b = Frozen()
    b.graph.add_node("asked", op, [b.constant("v", [[1, 2], [3, 4]])], attrs=attrs)
    graph, _ = b.repaired(["asked"])
    assert run(graph, "asked:0") == value


def test_rows_of_a_frozen_table_are_gathered():
    b = Frozen()
    table, rows = b.constant("table", ROWS), b.constant("rows", [2, 0], np.int32)
    attrs = {"Tindices": dtypes.int32, "dtype": dtypes.float32}
    b.graph.add_node("found", "ResourceGather", [table, rows], attrs=attrs)
    graph, _ = b.repaired(["found"])
    assert run(graph, "found:0") == [[5, 6], [1, 2]]


def test_writes_to_a_frozen_handle_are_dropped():
    b = Frozen()
    v = b.constant("v", 2)
    b.graph.add_node("write", "AssignVariableOp", [v, b.constant("w", 3)], attrs={"dtype": dtypes.float32})
    b.add("y", "Neg", v)
    graph, _ = b.repaired(["y", "write"])
    assert graph["write"].is_no_op
    assert run(graph, "y:0") == -2


def test_two_loops_of_one_frame_get_frames_of_their_own():
    b = Frozen()

    def entered(scope):
        def factor(attrs):
            value = b.constant(f"{scope}/c", 2)
            return b.graph.add_node(f"{scope}/two", "Enter", [value], attrs=FLOAT | attrs | {"is_constant": True}).output()

        return factor

    first = loop(b.graph, "g1", b.fed("x"), b"frame", entered("g1"))
    loop(b.graph, "g2", first, b"frame", entered("g2"))
    (problem,) = find_problems(b.graph)
    assert "used twice" in problem.message
    assert "repair" in problem.hint
    graph, _ = b.repaired(["g2/exit"])
    assert run(graph, "g2/exit:0", {"x:0": np.float32(1)}) == 64
    assert {node.attrs["frame_name"] for node in graph if node.op == "Enter"} == {b"frame", b"frame_1"}
    assert not find_problems(graph)


def test_the_hint_promises_only_repairs():
    b = Frozen()
    v = b.constant("v", 2)
    counted = b.graph.add_node("counted", "CountUpTo", [b.constant("n", 2, np.int32)], attrs={"T": dtypes.int32, "limit": 9})
    b.graph.add_node("asked", "IsVariableInitialized", [v], attrs={"dtype": dtypes.float32})
    b.graph.add_node("reader", "Identity", [counted.output()], attrs={"T": dtypes.int32})
    hints = {problem.node: problem.hint for problem in find_problems(b.graph) if problem.kind == "dtype"}
    assert "repair" in hints["asked"]
    assert "repair" not in hints["counted"]
    with pytest.raises(InvalidArgumentError, match="counted"):
        b.repaired(["reader"])


@pytest.mark.parametrize(("index", "value"), [(0, [1, 2]), (1, [3, 4])])
def test_a_selected_reference_is_the_value_of_the_selected_variable(index, value):
    b = Frozen()
    number = b.constant("number", index, np.int32)
    selected = b.add("selected", "RefSelect", number, b.constant("v", [1, 2]), b.constant("w", [3, 4]), N=2)
    b.add("y", "AssignAdd", selected, b.fed("x"))
    assert all("passes='repair'" in problem.hint for problem in find_problems(b.graph))
    graph, _ = b.repaired(["y"])
    assert run(graph, "y:0", {"x:0": np.float32(0)}) == value
    assert not find_problems(graph)


def test_a_question_on_a_branch_stays_on_the_branch():
    """Of V1 conditionals with variables of both kinds: the answer is dead where the branch is not taken."""
    for switch, question, attrs in (
        ("RefSwitch", "IsVariableInitialized", {"dtype": dtypes.float32}), ("Switch", "VarIsInitializedOp", {}),
    ):  # fmt: skip
        b = Frozen()
        given, pred = b.constant("v", 2), b.constant("pred", False, np.bool_)
        types = FLOAT if switch == "RefSwitch" else {"T": dtypes.resource}
        taken = b.graph.add_node("switch", switch, [given, pred], attrs=types).output(1)
        asked = b.graph.add_node("asked", question, [taken], attrs=attrs).output()
        other = b.graph.add_node("other", "Switch", [pred, pred], attrs={"T": dtypes.bool_}).output(0)
        b.graph.add_node("merged", "Merge", [asked, other], attrs={"T": dtypes.bool_, "N": 2})
        graph, _ = b.repaired(["merged", "merged:1"])
        assert (run(graph, "merged:0"), run(graph, "merged:1")) == (False, 1)


MISSING = """
node { name: "w" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: 2 } } } }
node { name: "y" op: "Mul" input: "x" input: "w" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "z" op: "AddV2" input: "y" input: "split:1" input: "^gone" attr { key: "T" value { type: DT_FLOAT } } }
"""


def test_missing_inputs_become_placeholders(tmp_path):
    broken, mended = tmp_path / "broken.pbtxt", tmp_path / "mended.pb"
    broken.write_text(MISSING)
    problems = find_problems(*load_leniently(broken))
    assert "passes='repair')` lets no node wait" in problems[-1].hint
    done = tfg("optimize", broken, "-o", mended, "--passes", "repair")
    assert done.code == 0 and "placeholder 'split/output_1' takes the place of 'split:1'" in done.err
    graph = load(mended)
    assert not find_problems(graph) and not graph["z"].control_inputs
    assert Session(graph).run("z:0", {"x:0": np.float32(3), "split/output_1:0": np.float32(1)}) == 7


def test_an_input_of_unknown_dtype_is_named_and_the_other_faults_stay(tmp_path):
    broken = tmp_path / "broken.pbtxt"
    broken.write_text('node { name: "y" op: "Unknown" input: "x" }')
    assert "neither its op nor a reader tells the dtype" in tfg("optimize", broken, "--passes", "repair").out
    broken.write_text(MISSING + 'node { name: "w" op: "NoOp" }')
    assert tfg("optimize", broken, "--passes", "repair").code == 1
