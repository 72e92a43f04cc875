"""`tfg explain`: graphs, roles of nodes, paths to a fetch, foreign ops."""

from __future__ import annotations

import pytest

from tests.cli.running import SAMPLES, STAGES, process, tfg
from tfg import GraphBuilder, layers, load, save
from tfg.core.building.placement import LONGEST_CHAIN

XOR = SAMPLES / "xor.pbtxt"
BRIDGED = """
node { name: "v" op: "NGraphVariable" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: 2 } } } } attr { key: "just_looking" value { b: false } } }
node { name: "c" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: 1 float_val: 2 } } } }
node { name: "v/Assign" op: "NGraphAssign" input: "v" input: "c" device: "/gpu:0" attr { key: "T" value { type: DT_FLOAT } }
  attr { key: "_class" value { list { s: "loc:@v" } } } }
node { name: "r" op: "Identity" input: "v" device: "/cpu:0" attr { key: "T" value { type: DT_FLOAT } }
  attr { key: "_class" value { list { s: "loc:@v" } } } }
node { name: "z" op: "MyOp" input: "r" }
"""
MAPS = ("--map-op", "NGraphVariable=VariableV2", "--map-op", "NGraphAssign=Assign")


@pytest.fixture
def bridged(tmp_path):
    path = tmp_path / "bridged.pbtxt"
    path.write_text(BRIDGED)
    return path


def facts(graph, node, *options):
    return tfg("explain", graph, node, *options, "--format", "json").json["nodes"][0]


def test_whole_graph():
    report = tfg("explain", XOR, "--format", "json").json
    assert [tensor["name"] for tensor in report["inputs"]] == ["x:0", "y:0"]
    assert [tensor["name"] for tensor in report["outputs"]] == ["loss:0", "probability:0"]
    assert report["losses"] == ["loss"]
    assert report["init_ops"] == ["init"]
    assert report["train_ops"] == ["train"]
    variables = {variable["name"]: variable for variable in report["variables"]}
    assert variables["hidden/kernel"]["shape"] == [2, 8]
    assert variables["hidden/kernel"]["initializer"] == "hidden/kernel/Assign"
    assert variables["hidden/kernel/Adam_1"]["slot_of"] == "Adam v of hidden/kernel"
    assert variables["beta1_power"]["slot_of"] == "Adam beta1_power"
    assert variables["global_step"]["slot_of"] is None


def test_text_for_people():
    done = tfg("explain", XOR)
    assert "inputs\n" in done.out
    assert "next\n" in done.out


@pytest.mark.parametrize(
    ("node", "words"),
    [
        ("Variable", "Owns the memory of variable 'Variable'"),
        ("Variable/initial_value", "The initial value (2) of variable 'Variable'"),
        ("Variable/Assign", "Initializer: writes the initial value"),
        ("Variable/read", "Dereferences the ref edge"),
        ("Variable/read:0", "Dereferences the ref edge"),
        ("init", "waits for 1 initializer"),
    ],
)
def test_roles_around_a_variable(node, words):
    assert words in facts(STAGES[1], node)["role"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("node", "words"),
    [
        ("x", "An input"),
        ("loss", "The loss"),
        ("hidden/kernel/Adam", "the running mean of the gradients"),
        ("hidden/kernel/Adam", "from run to run"),
        ("train/update_hidden/kernel/ApplyAdam", "one step of Adam, with the gradient"),
        ("gradients/MatMul_grad/MatMul_1", "gradient of 'MatMul'"),
        ("gradients/grad_ys_0", "which is 1"),
        ("train", "AssignAdd"),
    ],
)
def test_roles_in_a_training_graph(node, words):
    graph_facts = facts(XOR, node)
    assert words in f"{graph_facts['role']} {graph_facts['node']['op']}"


def test_control_inputs_say_what_waits_for_what():
    (control,) = facts(STAGES[1], "init")["control_inputs"]
    assert control["name"] == "Variable/Assign"
    assert control["meaning"] == (
        "'init' runs only after 'Variable/Assign', which has written its initial value to variable 'Variable'"
    )


def test_colocation():
    graph_facts = facts(STAGES[1], "Variable/read")
    assert graph_facts["loc_chain"] == ["Variable"]
    assert graph_facts["colocation"]["members"] == ["Variable", "Variable/Assign", "Variable/read"]
    assert graph_facts["colocation"]["conflicts"] == []


def test_a_ring_of_colocation_is_followed_for_some_names(tmp_path):
    """All nodes of the ring are in the group; a chain per node would take the square of their number."""
    g = GraphBuilder()
    names = [f"n{i}" for i in range(100)]
    for name, other in zip(names, [*names[1:], names[0]]):
        g.graph.add_node(name, "NoOp", attrs={"_class": [b"loc:@" + other.encode()]})
    save(g.graph, tmp_path / "ring.pb")
    graph_facts = facts(tmp_path / "ring.pb", "n98")
    assert graph_facts["loc_chain"] == ["n99", *names[: LONGEST_CHAIN - 1]]
    assert sorted(graph_facts["colocation"]["members"]) == sorted(names)


def test_conflict_of_devices_is_named(bridged):
    done = tfg("explain", bridged, "r")
    assert "conflict: 'r' asks for /cpu:0, but its colocation group has /device:GPU:0" in done.out


def test_fetch():
    assert facts(STAGES[1], "Variable/initial_value", "--fetch", "init")["fetch"]["path"] == [
        "Variable/initial_value", "Variable/Assign", "init",
    ]  # fmt: skip
    assert facts(STAGES[1], "init", "--fetch", "Variable/read")["fetch"] == {
        "fetch": "Variable/read", "runs": False, "path": [],
    }  # fmt: skip
    assert "does not run" in tfg("explain", STAGES[1], "init", "--fetch", "Variable/read").out


def test_node_in_a_function():
    graph_facts = facts(SAMPLES / "scaler_saved_model", "AssignAddVariableOp")
    assert graph_facts["function"].startswith("__inference_apply")
    assert graph_facts["callers"]


def test_missing_ops(bridged):
    rows = {row["op"]: row for row in tfg("explain", bridged, "--missing", "--format", "json").json["missing"]}
    assert rows["NGraphVariable"]["map_to"] == "VariableV2"
    assert "nGraph bridge" in rows["NGraphVariable"]["reason"]
    assert rows["MyOp"]["known"] is False
    assert "--map-op NGraphVariable=VariableV2" in tfg("explain", bridged, "--missing").out
    assert "reads it as VariableV2" in facts(bridged, "v")["role"]


def test_who_lacks_an_op_is_told_where_it_comes_from(bridged):
    """Every command names the origin of the op, the known op to use instead, and the command that lists all missing ops."""
    fetched = ("--fetch", "r")
    for args in (("run", bridged, *fetched), ("ops", "NGraphVariable"), ("flops", bridged, "--measured", *fetched)):
        error = tfg(*args).err
        for words in ("nGraph bridge", "--map-op NGraphVariable=VariableV2", "tfg explain GRAPH --missing"):
            assert words in error, args


def test_map_op_is_honoured_everywhere(bridged, tmp_path):
    assert "VariableV2" in tfg("dump", bridged, *MAPS).out
    assert tfg("run", bridged, *MAPS, "--init", "--fetch", "r").out == "r  float (2)\n[1., 2.]\n"
    assert [row["op"] for row in tfg("explain", bridged, *MAPS, "--missing", "--format", "json").json["missing"]] == ["MyOp"]
    assert tfg("convert", bridged, tmp_path / "mapped.pb", *MAPS).code == 0
    assert "NGraph" not in tfg("dump", tmp_path / "mapped.pb").out
    assert tfg("diff", bridged, tmp_path / "mapped.pb", *MAPS).code == 0
    assert "VariableV2" in tfg("draw", bridged, *MAPS).out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([STAGES[0], "Varible"], 1, "nearest names: Variable"),
        ([STAGES[0], "--fetch", "x"], 2, "name at least one"),
        ([STAGES[0], "Variable", "--fetch", "x"], 1, "no node 'x'"),
    ],
)
def test_mistakes(arguments, code, message):
    done = tfg("explain", *arguments)
    assert done.code == code
    assert message in done.err


def test_races_in_words_and_as_json():
    arguments = ("explain", SAMPLES / "square.pbtxt", "--races", "--fetch", "momentum", "--fetch", "sgd")
    (run,) = tfg(*arguments, "--format", "json").json["runs"]
    assert run["fetches"] == ["momentum", "sgd"]
    two_writes = [race for race in run["races"] if race["first_access"] == race["second_access"] == "writes 'var'"]
    assert len(two_writes) == 1
    assert two_writes[0]["words"] in tfg(*arguments).out.replace("\n", " ")
    assert two_writes[0]["control_edge"] == [two_writes[0]["first"], two_writes[0]["second"]]


def test_several_fetches_are_for_races():
    assert "needs --engine, --partition or --races" in tfg("explain", XOR, "x", "--fetch", "loss", "--fetch", "logits").err


@pytest.mark.parametrize("sample", [*sorted(SAMPLES.glob("*.pbtxt")), SAMPLES / "scaler_saved_model"], ids=lambda p: p.name)
def test_samples_have_no_races(sample):
    """Each training operation and initializer orders the accesses to state."""
    assert not [run for run in tfg("explain", sample, "--races", "--format", "json").json["runs"] if run["races"]]


def test_an_op_type_in_the_place_of_a_graph():
    assert tfg("explain", "MatMul").out == tfg("ops", "MatMul").out
    assert "'MatMuul' is neither a file nor an op" in tfg("explain", "MatMuul").err


def test_many_control_inputs_are_told_in_few_lines():
    out = tfg("explain", XOR, "init").out
    assert out.count("  ^") == 4 and "more like this" in out
    assert len(facts(XOR, "init")["control_inputs"]) == 15


def test_what_a_variable_and_a_location_mean():
    out = tfg("explain", XOR, "hidden/kernel", "hidden/kernel/Adam").out
    assert "It has no value until 'hidden/kernel/Assign' runs" in out
    assert "loc:@hidden/kernel: will be placed on the device of 'hidden/kernel'" in out


def test_what_a_graph_holds():
    out = tfg("explain", XOR).out
    assert "33 parameters, 132 bytes, in 4" in out and "memory of a run" in out


def test_a_broken_graph_has_no_shapes_but_words(bridged):
    done = tfg("explain", bridged, "r")
    assert done.code == 0 and "outputs: float" in done.out


@pytest.mark.slow
def test_what_cannot_run_is_explained():
    """An undeclared op is listed among the missing ops."""
    done = process("explain", SAMPLES / "skipgram.pbtxt")
    assert (done.code, done.err) == (0, "")
    assert "SkipPairs" in done.out


def test_a_model_is_shown_by_its_layers():
    model = SAMPLES / "keras_classifier"
    shown, raw = (tfg("explain", model, *words).out for words in ((), ("--raw",)))
    for layer in layers(load(model)).layers:
        assert any(line.split()[:1] == [layer.name] and str(layer.shape) in line for line in shown.splitlines()), layer.name
    assert "\nlayers\n" not in raw and "\nops" in raw and "\nops" not in shown and "--raw shows" in shown
