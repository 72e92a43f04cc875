"""`tfg dump`: formats, filters, snapshots, scripts, stages, and the speed of the start."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess
import sys

import pytest

from tests.cli.running import SAMPLES, STAGES, command_line, process, tfg

BUILD = SAMPLES / "variable_2" / "build.py"
XOR = SAMPLES / "xor.pbtxt"
NAMES = ["Variable/initial_value", "Variable", "Variable/Assign", "Variable/read", "init"]


def test_table_shows_names_ops_outputs_inputs_and_colocation():
    done = tfg("dump", STAGES[1])
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].split() == ["name", "op", "outputs", "inputs", "colocation", "attributes"]
    assert [line.split()[0] for line in lines[2:]] == NAMES
    assert "^Variable/Assign" in done.out
    assert "loc:@Variable" in done.out
    assert "value=2" in done.out


def test_list_is_one_line_a_node():
    lines = tfg("dump", STAGES[1], "--format", "list").out.splitlines()
    assert [line.partition(" = ")[0] for line in lines] == NAMES
    assert "Assign(Variable, Variable/initial_value)" in lines[2]


def test_json_holds_everything():
    report = tfg("dump", STAGES[1], "--format", "json").json
    assert [node["name"] for node in report["nodes"]] == NAMES
    variable, assign, init = report["nodes"][1], report["nodes"][2], report["nodes"][4]
    assert variable["outputs"] == [{"dtype": "int32_ref", "shape": []}]
    assert assign["inputs"] == ["Variable", "Variable/initial_value"]
    assert assign["colocation"] == ["Variable"]
    assert init["control_inputs"] == ["Variable/Assign"]
    assert report["versions"]["producer"] == 2474


def test_csv_has_a_row_a_node():
    rows = list(csv.DictReader(io.StringIO(tfg("dump", STAGES[1], "--format", "csv").out)))
    assert [row["name"] for row in rows] == NAMES


def test_text_is_the_file_again():
    with open(STAGES[1]) as file:
        assert tfg("dump", STAGES[1], "--format", "text").out == file.read()


def test_standard_input_binary_and_gzip():
    binary = tfg("convert", STAGES[1], "-").out
    with open(STAGES[1]) as file:
        text = file.read()
    assert tfg("dump", "-", "--format", "text", stdin=text).out == text
    assert binary
    assert gzip.compress(text.encode())


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--name", "Assign$"], ["Variable/Assign"]),
        (["--op", "Variable.*"], ["Variable"]),
        (["--op", "Const|NoOp"], ["Variable/initial_value", "init"]),
        (["--scope", "Variable/"], NAMES[:4]),
        (["--scope", "Variable", "--op", "Identity"], ["Variable/read"]),
    ],
)
def test_filters(options, expected):
    report = tfg("dump", STAGES[1], *options, "--format", "json").json
    assert [node["name"] for node in report["nodes"]] == expected


def test_filter_that_lets_nothing_pass_is_refused():
    done = tfg("dump", STAGES[1], "--op", "Conv2D")
    assert (done.code, done.out) == (1, "")
    assert "no node matches the filter: op 'Conv2D'" in done.err


def test_snapshots_say_what_each_stage_changed_and_why_nothing_does():
    done = tfg("dump", *STAGES)
    assert done.out.count("stage ") >= 3
    assert "4 nodes; 4 added" in done.out
    assert "5 nodes; 1 added, 1 changed" in done.out
    assert "5 nodes; nothing changed" in done.out
    assert "which the session holds, not the graph" in done.out


def test_snapshots_as_json():
    stages = tfg("dump", *STAGES, "--format", "json").json["snapshots"]
    assert [stage["nodes"] for stage in stages] == [4, 5, 5]
    assert [node["name"] for node in stages[1]["diff"]["added"]] == ["init"]
    assert stages[1]["diff"]["changed"][0]["name"] == "Variable/Assign"
    assert stages[2]["diff"]["added"] == []
    assert stages[2]["note"]


def test_removed_nodes_are_shown():
    done = tfg("dump", STAGES[1], STAGES[0], "--format", "list")
    assert "- init = NoOp(^Variable/Assign)" in done.out


@pytest.mark.parametrize("number", [0, 1, 2])
def test_script_dumps_equal_tensorflows(number):
    stage = ("after_var_creation", "after_initializer_creation", "after_initializer_run")[number]
    done = tfg("dump", "--script", BUILD, "--stage", stage, "--format", "text")
    with open(STAGES[number]) as file:
        assert done.out == file.read()


def test_script_without_stage_marks_has_one(tmp_path):
    script = tmp_path / "build.py"
    script.write_text("def build(g):\n    g.constant(1.0)\n")
    assert [stage["stage"] for stage in tfg("dump", "--script", script, "--format", "json").json["snapshots"]] == ["end"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1", "made no graph"),
        ("import tfg\ng = tfg.GraphBuilder()\ng.MatMul(1)", "line 3"),
        ("1 +", "SyntaxError"),
        ("raise ValueError('no luck')", "no luck"),
    ],
)
def test_script_that_fails_is_a_users_error(tmp_path, text, expected):
    script = tmp_path / "build.py"
    script.write_text(text)
    done = tfg("dump", "--script", script)
    assert done.code == 1
    assert expected in done.err


def test_stages_of_a_training_graph():
    data = tfg("dump", "--stages", SAMPLES / "xor.pbtxt", "--format", "json").json
    stages = {stage["name"]: stage for stage in data["stages"]}
    assert list(stages) == [
        "variables", "initial values", "model", "loss", "gradients", "slot variables", "updates", "initializers",
    ]  # fmt: skip
    names = {name: [node["name"] for node in stage["nodes"]] for name, stage in stages.items()}
    assert "hidden/kernel" in names["variables"]
    assert "hidden/kernel/Adam" in names["slot variables"]
    assert "beta1_power" in names["slot variables"]
    assert "loss" in names["loss"]
    assert "y" in names["loss"]
    assert {"x", "logits", "hidden/activation"} <= set(names["model"])
    assert "train/update_output/bias/ApplyAdam" in names["updates"]
    assert "init" in names["initializers"]
    assert all(node["evidence"] for stage in stages.values() for node in stage["nodes"])


def test_functions_are_shown():
    done = tfg("dump", SAMPLES / "scaler_saved_model")
    assert "function __inference_apply_24(x: float, " in done.out
    assert "ReadVariableOp" in done.out


def test_some_nodes_of_a_function_have_its_name_and_their_number_above():
    """The signature may be long: it names all captured variables."""
    for words in ((), ("--format", "list")):
        done = tfg("dump", SAMPLES / "scaler_saved_model", "--op", "RestoreV2", *words)
        assert done.out.startswith("function __inference__traced_restore_125: 1 of 14 nodes\n")


def test_inferred_shapes():
    nodes = tfg("dump", SAMPLES / "linear_regression.pbtxt", "--shapes", "--name", "^loss$", "--format", "json").json["nodes"]
    assert nodes[0]["outputs"] == [{"dtype": "float", "shape": []}]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["dump"], 2, "give either GRAPH files or --script"),
        (["dump", "nowhere.pb"], 1, "file 'nowhere.pb' does not exist"),
        (["dump", STAGES[0], "--name", "("], 1, "not a regular expression"),
        (["dump", STAGES[0], "--format", "yaml"], 2, "yaml"),
        (["dump", STAGES[0], "--map-op", "A"], 2, "OLD=NEW"),
        (["dump", STAGES[0], "--map-op", "A=Nothing"], 1, "unknown op"),
        (["dump", *STAGES, "--stage", "x"], 1, "unknown stage 'x'"),
        (["dmp"], 2, "Did you mean 'dump'?"),
        ([__file__, "x"], 1, "a text file that begins"),
    ],
)
def test_mistakes(arguments, code, message):
    done = tfg(*arguments)
    assert done.code == code
    assert message in done.err
    assert "Traceback" not in done.err
    assert done.out == ""


@pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n\x1a\n1234", b"\x08\x07\x12\x07pytorch", b"PK\x03\x04zip", b"\0" * 50])
def test_other_files_are_named(tmp_path, content):
    path = tmp_path / "graph.pb"
    path.write_bytes(content)
    done = tfg("dump", path)
    assert done.code == 1
    assert done.err.startswith("error: ")
    assert done.out == ""


def test_starts_without_numpy_rich_or_kernels():
    script = (
        "import sys; from tfg.cli import main; code = main.run(sys.argv[1:]);"
        "print(code, sorted(m for m in sys.modules if m.split('.')[0] in ('numpy', 'rich', 'scipy')"
        " or m in ('re2', 'google_crc32c', 'cramjam')"
        " or m.startswith(('tfg.core.ops.', 'tfg.core.building')) or m.endswith('op_sentences')), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script, "dump", STAGES[1]], capture_output=True, text=True)
    assert done.stderr.strip() == "0 []"


@pytest.mark.slow
def test_reader_of_the_pipe_may_leave():
    graph = subprocess.Popen(
        command_line("dump", SAMPLES / "xor.pbtxt", "--format", "text"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert graph.stdout is not None
    assert graph.stderr is not None
    graph.stdout.read(10)
    graph.stdout.close()
    assert graph.stderr.read() == b""
    assert graph.wait() in (0, 141)


def test_help_and_version():
    assert process("--version").out.startswith("tfg ")
    for words in (("--version", "-v"), ("-v", "--version")):
        assert [line.split()[0] for line in tfg(*words).out.splitlines()] == ["tfg", "Python", "subnormal"]
    done = tfg("--help")
    assert done.code == 0
    assert "dump" in done.out
    assert json.dumps(done.err) == '""'


def names(*options):
    return [line.partition(" = ")[0] for line in tfg("dump", XOR, "--format", "list", *options).out.splitlines()]


def test_what_is_around_a_node():
    assert names("--around", "loss", "--hops", "0") == ["loss"]
    assert names("--around", "loss", "--hops", "1", "--to", "loss") == ["logistic_loss", "Const", "loss"]
    assert len(names("--around", "loss")) > 3


def test_what_a_tensor_needs():
    needed = names("--to", "probability:0")
    assert "probability" in needed and "loss" not in needed and not any("gradients" in name for name in needed)


def test_what_is_left_out():
    assert not any("gradients" in name for name in names("--exclude", "gradients|train"))
    assert names("--device", "TPU") == []


def test_orders():
    by_name = names("--sort", "name")
    assert by_name == sorted(names())
    ordered = names("--sort", "topological")
    assert ordered.index("logistic_loss") < ordered.index("loss")
    ops = [record["op"] for record in tfg("dump", XOR, "--sort", "op", "--format", "json").json["nodes"]]
    assert ops == sorted(ops)


def test_stages_show_the_nodes_that_are_chosen():
    output = tfg("dump", "--stages", XOR, "--name", "^hidden/kernel", "--format", "csv").out
    rows = list(csv.DictReader(io.StringIO(output)))
    assert {"variables", "initializers"} <= {row["stage"] for row in rows}
    assert all(row["name"].startswith("hidden/kernel") for row in rows)
    assert tfg("dump", "--stages", XOR, "--name", "nosuch").code == 1


@pytest.mark.parametrize("words", [(*STAGES,), (XOR, "--after", "all")], ids=["snapshots", "passes"])
@pytest.mark.parametrize("choice", [("--name", "x"), ("--op", "Const"), ("--around", "init"), ("--exclude", "x")])
def test_what_changed_is_not_chosen_from(words, choice):
    done = tfg("dump", *words, *choice)
    assert done.code == 2 and "all changes of" in done.err
