"""`tfg run`: feeds, fetches, steps, assigns, state files, limits and interruptions."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import time

import numpy as np
import pytest

from tests.cli.running import SAMPLES, STAGES, command_line, process, tfg
from tfg import GraphBuilder, save
from tfg.core.codecs import png

VARIABLE = STAGES[1]
LINEAR = SAMPLES / "linear_regression.pbtxt"
SQUARE = SAMPLES / "square.pbtxt"
XOR = SAMPLES / "xor.pbtxt"
XOR_FEEDS = ("--feed", "x=[[0,0],[0,1],[1,0],[1,1]]", "--feed", "y=[[0],[1],[1],[0]]")

LOOP = """
node { name: "zero" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
  attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 0 } } } }
node { name: "enter" op: "Enter" input: "zero" attr { key: "T" value { type: DT_INT32 } }
  attr { key: "frame_name" value { s: "f" } } }
node { name: "merge" op: "Merge" input: "enter" input: "next" attr { key: "T" value { type: DT_INT32 } }
  attr { key: "N" value { i: 2 } } }
node { name: "true" op: "Const" input: "^merge" attr { key: "dtype" value { type: DT_BOOL } }
  attr { key: "value" value { tensor { dtype: DT_BOOL tensor_shape {} bool_val: true } } } }
node { name: "cond" op: "LoopCond" input: "true" }
node { name: "switch" op: "Switch" input: "merge" input: "cond" attr { key: "T" value { type: DT_INT32 } } }
node { name: "next" op: "NextIteration" input: "switch:1" attr { key: "T" value { type: DT_INT32 } } }
node { name: "exit" op: "Exit" input: "switch" attr { key: "T" value { type: DT_INT32 } } }
"""


def value(done):
    """Return the only value that the last step fetched."""
    return done.json["steps"][-1]["values"][0]["value"]


def fetch(graph, *options, name="Variable"):
    return tfg("run", graph, "--fetch", name, "--format", "json", *options)


def test_initializer_gives_the_variable_its_value():
    done = fetch(VARIABLE, "--init")
    steps = [{"step": 1, "values": [{"name": "Variable", "dtype": "int32", "shape": [], "value": 2}]}]
    assert done.json == {"schema": "tfg.run/1", "steps": steps}
    assert "initialized by init" in done.err


def test_uninitialized_variable_is_named_with_the_cure():
    done = fetch(VARIABLE)
    assert done.code == 1
    assert "uninitialized value Variable" in done.err
    assert "--init" in done.err


def test_init_op_and_quiet():
    assert value(fetch(VARIABLE, "--init-op", "init")) == 2
    assert fetch(VARIABLE, "--init", "--quiet").err == ""


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--assign", "Variable=7"], 7),
        (["--init", "--assign-add", "Variable=5"], 7),
        (["--init", "--assign-sub", "Variable=5"], -3),
        (["--assign", "Variable=1", "--assign-add", "Variable=10", "--assign-sub", "Variable=3"], 8),
    ],
)
def test_assign(options, expected):
    assert value(fetch(VARIABLE, *options)) == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--assign", "Variable=[1,2]"], "shape (2) cannot be assigned"),
        (["--assign", "Variable=1.5"], "holds fractions"),
        (["--assign", "Variable=99999999999"], "does not fit into int32"),
        (["--assign", 'Variable="a"'], "int32"),
        (["--assign", "Varible=1"], "the variables are Variable"),
        (["--assign-add", "Variable=1"], "uninitialized value Variable"),
        (["--init-op", "ini"], "nearest names: init"),
        (["--state", "nowhere.npz"], "nowhere.npz"),
        (["--init", "--save-state", "nowhere/state.npz"], "folder 'nowhere' does not exist"),
        (["--init", "--fetch", "Variabel"], "nearest names: Variable"),
        (["--init", "--fetch", "Variable:3"], "output 3 does not exist"),
        (["--signature", "serving"], "no signature 'serving'"),
    ],
)
def test_refusals(options, message):
    done = fetch(VARIABLE, *options)
    assert (done.code, done.out) == (1, "")
    assert message in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    "arguments", [[], ["--fetch", "Variable", "--steps", "0"], ["--feed", "x"], ["--timeout", "0"], ["--max-memory", "much"]]
)
def test_wrong_usage(arguments):
    done = tfg("run", VARIABLE, *arguments)
    assert done.code == 2
    assert "hint: tfg run --help" in done.err


@pytest.mark.parametrize("name", ["state.npz", "checkpoint"])
def test_state_carries_variables_to_the_next_run(tmp_path, name):
    path = tmp_path / name
    assert fetch(VARIABLE, "--assign", "Variable=41", "--save-state", path).code == 0
    assert value(fetch(VARIABLE, "--state", path, "--assign-add", "Variable=1")) == 42


def test_state_of_another_graph_is_refused(tmp_path):
    path = tmp_path / "state.npz"
    tfg("run", VARIABLE, "--init", "--save-state", path)
    done = tfg("run", SQUARE, "--state", path, "--fetch", "loss")
    assert done.code == 1
    assert "no value of any variable" in done.err


def test_gradient_descent_on_a_square():
    done = tfg("run", SQUARE, "--init", "--target", "sgd", "--fetch", "loss", "--steps", "10", "--format", "json")
    losses = [step["values"][0]["value"] for step in done.json["steps"]]
    assert np.allclose(losses, [0.64**k for k in range(10)])


def test_momentum_is_carried_between_runs(tmp_path):
    path = tmp_path / "state.npz"
    whole = tfg("run", SQUARE, "--init", "--target", "momentum", "--fetch", "loss", "--steps", "6", "--format", "json")
    tfg("run", SQUARE, "--init", "--target", "momentum", "--steps", "3", "--save-state", path)
    rest = fetch(SQUARE, "--state", path, "--target", "momentum", "--steps", "3", name="loss")
    assert [s["values"] for s in rest.json["steps"]] == [s["values"] for s in whole.json["steps"][3:]]


def test_training_learns_xor_and_the_state_answers(tmp_path):
    path = tmp_path / "xor.npz"
    options = ("--target", "train", "--fetch", "loss", "--steps", "200", "--fetch-every", "80", "--save-state", path)
    done = tfg("run", XOR, "--init", *XOR_FEEDS, *options)
    assert [line.split()[0] for line in done.out.splitlines()] == ["step", "----", "80", "160", "200"]
    answers = fetch(XOR, "--state", path, *XOR_FEEDS[:2], name="probability")
    assert np.round(value(answers)).tolist() == [[0.0], [1.0], [1.0], [0.0]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[0, 1, 2]", [0.0, 2.0, 4.0]),
        ("zeros(2)", [0.0, 0.0]),
        ("ones(3)", [2.0, 2.0, 2.0]),
        ("full(2,value=4)", [8.0, 8.0]),
        ("randint(2,low=3,high=4)", [6.0, 6.0]),
        ("@x.npy", [2.0, 4.0]),
        ("@x.npz:a", [6.0]),
        ("-", [10.0]),
    ],
)
def test_values_to_feed(tmp_path, monkeypatch, text, expected):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", [1.0, 2.0])
    np.savez("x.npz", a=[3.0], b=[4.0])
    done = tfg(
        "run", LINEAR, "--assign", "w=2", "--assign", "b=0", "--fetch", "prediction", "--feed", f"x={text}",
        "--format", "json", stdin="[5]",
    )  # fmt: skip
    assert value(done) == expected


def test_seeded_values_are_the_same_again():
    done = [fetch(LINEAR, "--init", "--feed", "x=normal(3,seed=4)", name="x") for _ in range(2)]
    assert value(done[0]) == value(done[1])
    assert value(done[0]) != value(fetch(LINEAR, "--init", "--feed", "x=normal(3,seed=5)", name="x"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("many(2)", "unknown generator 'many'"),
        ("zeros(a)", "not a number"),
        ("zeros(-1)", "impossible shape"),
        ("uniform(2,hi=1)", "no option 'hi'"),
        ("[[1],[1,2]]", "same length"),
        ("{}", "is not a value"),
        ("hello", "is not a value"),
        ("@nowhere.npy", "file 'nowhere.npy' does not exist"),
        ("@__init__.py", ""),
        ("[[1,2]]", "cannot feed a value of shape (1,2)"),
    ],
)
def test_bad_values(text, message):
    done = fetch(LINEAR, "--init", "--feed", f"x={text}", name="prediction")
    assert done.code == 1
    assert message in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("name", ["out.npy", "out.npz", "out.json", "out.txt"])
def test_output_files(tmp_path, name):
    path = tmp_path / name
    options = ("--assign", "w=2", "--assign", "b=1", "--feed", "x=[1,2]")
    done = tfg("run", LINEAR, *options, "--fetch", "prediction", "--output", path)
    assert (done.code, done.out) == (0, "")
    if name.endswith("npy"):
        assert np.load(path).tolist() == [3.0, 5.0]
    elif name.endswith("npz"):
        assert np.load(path)["prediction"].tolist() == [3.0, 5.0]
    elif name.endswith("json"):
        assert json.loads(path.read_text())["steps"][0]["values"][0]["value"] == [3.0, 5.0]
    else:
        assert "[3., 5.]" in path.read_text()


@pytest.mark.parametrize("text", ['"a\\u0000"', '["a\\u0000"]'])
def test_zeros_at_the_ends_of_strings_stay(tmp_path, text):
    """Of a string, and of a vector."""
    g = GraphBuilder()
    g.StringLower(g.Placeholder(dtype="string", shape=None, name="s"), name="lower")
    save(g.graph, tmp_path / "g.pb")
    assert value(fetch(tmp_path / "g.pb", "--feed", f"s={text}", name="lower")) == json.loads(text)


@pytest.mark.slow
def test_npy_on_standard_output_stacks_steps():
    command = command_line("run", SQUARE, "--init", "--target", "sgd", "--fetch", "loss", "--steps", "3", "--format", "npy")
    done = subprocess.run(command, capture_output=True)
    assert np.allclose(np.load(io.BytesIO(done.stdout)), [1, 0.64, 0.4096])


def test_signature_speaks_the_models_names():
    scaler = SAMPLES / "scaler_saved_model"
    done = tfg("run", scaler, "--signature", "serving_default", "--feed", "x=[[1,2]]", "--format", "json", "--steps", "2")
    last = {result["name"]: result["value"] for result in done.json["steps"][-1]["values"]}
    assert last == {"scaled": [[2.0, 6.0]], "calls": 2}
    done = tfg("run", scaler, "--signature", "index", "--feed", 'names=["height", "depth"]', "--format", "json")
    assert value(done) == [1, -1]


@pytest.mark.slow
def test_ctrl_c_saves_what_was_promised(tmp_path):
    path = tmp_path / "state.npz"
    command = command_line("run", SQUARE, "--init", "--target", "sgd", "--steps", "100000000", "--save-state", path)
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stderr is not None
    assert running.stderr.readline() == "initialized by init\n"
    time.sleep(0.2)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=600)
    assert running.returncode == 130
    assert "saved 2 variables" in err
    assert 0 <= np.load(path)["var"] < 1


@pytest.mark.slow
def test_timeout_ends_a_loop_that_never_does(tmp_path):
    graph = tmp_path / "loop.pbtxt"
    graph.write_text(LOOP)
    done = tfg("run", graph, "--fetch", "exit", "--timeout", "0.3")
    assert done.code == 1
    assert "exceeded its time limit of 0.3 seconds" in done.err


def test_timeout_keeps_the_last_whole_step(tmp_path):
    path = tmp_path / "state.npz"
    done = tfg("run", SQUARE, "--init", "--target", "sgd", "--steps", "100000000", "--timeout", "0.5", "--save-state", path)
    assert done.code == 1
    assert 0 <= np.load(path)["var"] < 1


@pytest.mark.slow
def test_memory_limit_refuses_a_giant(tmp_path):
    graph = tmp_path / "giant.pbtxt"
    graph.write_text("""
        node { name: "n" op: "Placeholder" attr { key: "dtype" value { type: DT_INT32 } } }
        node { name: "value" op: "Const" attr { key: "dtype" value { type: DT_DOUBLE } }
          attr { key: "value" value { tensor { dtype: DT_DOUBLE tensor_shape {} double_val: 1 } } } }
        node { name: "fill" op: "Fill" input: "n" input: "value" attr { key: "T" value { type: DT_DOUBLE } } }
        node { name: "y" op: "Neg" input: "fill" attr { key: "T" value { type: DT_DOUBLE } } }
    """)
    done = process("run", graph, "--fetch", "y", "--feed", "n=[1000000000]", "--max-memory", "1G")
    assert done.code == 1
    assert "out of memory" in done.err
    assert "Traceback" not in done.err


def test_files_are_out_of_reach_unless_allowed(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("hidden")
    graph = tmp_path / "reader.pbtxt"
    graph.write_text("""
        node { name: "path" op: "Placeholder" attr { key: "dtype" value { type: DT_STRING } } }
        node { name: "text" op: "ReadFile" input: "path" }
    """)
    done = tfg("run", graph, "--fetch", "text", "--feed", f'path="{secret}"')
    assert done.code == 1
    assert "ReadFile" in done.err
    assert str(secret) in done.err
    assert "--allow-files" in done.err
    assert value(fetch(graph, "--feed", f'path="{secret}"', "--allow-files", tmp_path, name="text")) == "hidden"


_TAKES_PICTURES = """
node {{ name: "x" op: "Placeholder" attr {{ key: "dtype" value {{ type: {dtype} }} }}
  attr {{ key: "shape" value {{ shape {{ {dims} }} }} }} }}
node {{ name: "y" op: "Identity" input: "x" attr {{ key: "T" value {{ type: {dtype} }} }} }}
"""
_PIXELS = np.arange(24, dtype=np.uint8).reshape(2, 4, 3) * 10


@pytest.mark.parametrize(
    ("dtype", "dims", "expected"),
    [
        ("DT_UINT8", (2, 4, 3), _PIXELS),
        ("DT_FLOAT", (-1, -1, -1, 3), _PIXELS[None].astype(np.float32)),
        ("DT_INT32", (-1, 2, 4, 4), np.concatenate([_PIXELS, np.full((2, 4, 1), 255)], -1)[None]),
    ],
)
def test_the_pixels_of_a_picture_are_fed_to_a_tensor_of_numbers(tmp_path, dtype, dims, expected):
    (tmp_path / "picture").write_bytes(png.encode(_PIXELS))
    graph = tmp_path / "g.pbtxt"
    graph.write_text(_TAKES_PICTURES.format(dtype=dtype, dims=" ".join(f"dim {{ size: {size} }}" for size in dims)))
    done = tfg("run", graph, "--feed", f"x=@{tmp_path / 'picture'}", "--fetch", "y", "--format", "json")
    result = done.json["steps"][0]["values"][0]
    assert result["shape"] == list(expected.shape) and np.array_equal(result["value"], expected)


def test_a_damaged_picture_is_named(tmp_path):
    (tmp_path / "picture").write_bytes(png.encode(_PIXELS)[:40])
    graph = tmp_path / "g.pbtxt"
    graph.write_text(_TAKES_PICTURES.format(dtype="DT_FLOAT", dims=""))
    done = tfg("run", graph, "--feed", f"x=@{tmp_path / 'picture'}", "--fetch", "y")
    assert done.code == 1 and "--feed x" in done.err and "picture': invalid PNG data of 40 bytes\n" in done.err


@pytest.mark.parametrize("shape", [None, [], [None], [None, 1]])
def test_a_feed_of_whatever_is_known_of_its_shape(shape, tmp_path):
    g = GraphBuilder()
    g.Square(g.Placeholder(dtype="float", shape=shape, name="x"), name="y")
    save(g.graph, tmp_path / "g.pb")
    rank = len(shape or ())
    done = tfg("run", tmp_path / "g.pb", "--fetch", "y", "--feed", "x=" + "[" * rank + "3" + "]" * rank, "--format", "json")
    assert np.ravel(value(done)).tolist() == [9]


@pytest.mark.parametrize("again", ["x", "x:0"])
def test_a_tensor_is_fed_once(again):
    done = tfg("run", LINEAR, "--init", "--fetch", "prediction", "--feed", "x=[1]", "--feed", f"{again}=[2]")
    assert done.code == 1 and f"--feed {again}: 'x:0' is already fed" in done.err


def test_each_kernel_by_itself(monkeypatch):
    """--optimize none keeps a plan's steps apart; the output is the same except for rounding."""
    from tfg.core.runtime.execute import executor

    asked = []
    monkeypatch.setattr(executor, "with_fused_steps", lambda plan, *_: asked.append(plan) or plan)
    words = ("run", SQUARE, "--init", "--target", "sgd", "--fetch", "loss", "--steps", "5")
    fused = tfg(*words)
    assert fused.code == 0 and asked
    asked.clear()
    single = tfg(*words, "--optimize", "none")
    assert (single.code, single.out) == (0, fused.out) and not asked


@pytest.mark.parametrize("dtype, file, others", [
    ("string", "s.safetensors", "write an .npz file or a checkpoint"),
    ("complex128", "s.safetensors", "write an .npz file or a checkpoint"),
    ("qint8", "s.safetensors", "write an .npz file or a checkpoint"),
    ("variant", "s.safetensors", "a checkpoint holds lists of tensors, too"),
    ("variant", "s.npz", "a checkpoint holds lists of tensors, too"),
    ("resource", "s.ckpt", "a state file holds numbers and strings"),
])  # fmt: skip
@pytest.mark.parametrize("words", [("run", "--init"), ("train", "--loss", "loss", "--steps", "1")], ids=["run", "train"])
def test_a_state_file_refuses_a_variable_of_a_dtype_that_it_lacks_before_the_graph_runs(words, dtype, file, others, tmp_path):
    g = GraphBuilder()
    g.VarHandleOp(dtype=dtype, shape=[], shared_name="odd", name="odd")
    w = g.VarHandleOp(dtype="float", shape=[], shared_name="w", name="w")
    g.AssignVariableOp(w, np.float32(2), name="w/Assign")
    g.Square(g.ReadVariableOp(w, dtype="float"), name="loss")
    save(g.graph, tmp_path / "g.pb")
    command, *options = words
    done = tfg(command, tmp_path / "g.pb", *options, "--save-state", tmp_path / file)
    assert done.code == 1 and f"variable 'odd' of dtype {dtype}" in done.err and others in done.err
    assert "initialized" not in done.err and not (tmp_path / file).exists()


@pytest.mark.parametrize("dtype, value, file", [
    ("string", "'a'", "s.npz"), ("string", "'a'", "s.ckpt"), ("complex128", "1", "s.npz"), ("complex64", "1", "s.safetensors"),
    ("bfloat16", "1", "s.safetensors"), ("qint8", "1", "s.ckpt"),
])  # fmt: skip
def test_a_state_file_takes_each_dtype_of_its_format(dtype, value, file, tmp_path):
    g = GraphBuilder()
    g.VarHandleOp(dtype=dtype, shape=[], shared_name="odd", name="odd")
    save(g.graph, tmp_path / "g.pb")
    assert tfg("run", tmp_path / "g.pb", "--assign", f"odd={value}", "--save-state", tmp_path / file).code == 0
    assert [row["dtype"] for row in tfg("checkpoint", tmp_path / file, "--format", "json").json["tensors"]] == [dtype]
