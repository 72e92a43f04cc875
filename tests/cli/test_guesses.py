"""The first guesses of new users work, or the message has a working command line."""

from __future__ import annotations

import re
import shlex
import shutil

import pytest

from tests.cli.running import SAMPLES, Outcome
from tests.cli.running import tfg as run
from tfg.cli.guesses import ALIASES, OPTIONS, resolve
from tfg.cli.main import commands, root

_SUGGESTED = re.compile(r"`tfg ([^`]+)`")


@pytest.fixture(scope="module")
def made_models(tmp_path_factory):
    """A folder with a SavedModel, the frozen model, a training graph with a checkpoint, and files other than graphs."""
    folder = tmp_path_factory.mktemp("models")
    shutil.copytree(SAMPLES / "keras_classifier", folder / "model")
    (folder / "rows.csv").write_text("a,b,c,d\n1,2,3,4\n5,6,7,8\n")
    for number in "12":
        shutil.copytree(SAMPLES / "scaler_saved_model", folder / "versions" / number)
    shutil.copy(SAMPLES / "xor.pbtxt", folder / "train.pbtxt")
    shutil.copy(SAMPLES / "all_constant.pbtxt", folder / "constant.pbtxt")
    assert run("convert", folder / "model", folder / "frozen.pb", "--freeze", "-q").code == 0
    assert run("run", folder / "train.pbtxt", "--init", "--save-state", folder / "ck", "-q").code == 0
    for name, head in (("m.tflite", b"\0\0\0\0TFL3"), ("m.h5", b"\x89HDF\r\n\x1a\n"), ("m.keras", b"PK\3\4metadata.json")):
        (folder / name).write_bytes(head + bytes(64))
    (folder / "m.onnx").write_bytes(b"\x08\x08\x12\x02tf\x3a\x02\x08\x01")
    return folder


@pytest.fixture(autouse=True)
def models(made_models, tmp_path, monkeypatch):
    """A copy of the models as the current folder: commands write there."""
    shutil.copytree(made_models, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


def suggested(done: Outcome) -> list[str]:
    """The words of the command line that a hint gives."""
    match = _SUGGESTED.search(done.err)
    assert match is not None, done.err
    return shlex.split(match[1])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("unsupported train.pbtxt", "has a kernel"),
        ("show model", "serving_default"),
        ("signatures model", "serving_default"),
        ("inputs model", "serving_default"),
        ("outputs model", "serving_default"),
        ("variables model", "bytes"),
        ("vars ck", "bytes"),
        ("weights ck", "bytes"),
        ("variables train.pbtxt", "variables"),
        ("checkpoint model", "bytes"),
        ("explain ck", "bytes"),
        ("explain model/variables/variables", "bytes"),
        ("params model", "parameters"),
        ("flops model --by layer", "share"),
        ("flops model --view scope", "share"),
        ("freeze model", "wrote"),
        ("freeze model out.pb", "wrote"),
        ("extract train.pbtxt --from x --to probability", "wrote"),
        ("extract train.pbtxt out.pb --from x --to probability", "wrote"),
        ("rename train.pbtxt x features", "wrote"),
        ("strip train.pbtxt out.pb", "wrote"),
        ("fold frozen.pb out.pb", "wrote"),
        ("prune train.pbtxt out.pb", "wrote"),
        ("quantize frozen.pb out.pb", "wrote"),
        ("optimize train.pbtxt --passes remove_training_nodes --fetch probability -o out.pb", "wrote"),
        ("optimize train.pbtxt --passes remove_dropout --fetch probability -o out.pb", "wrote"),
        ("explain train.pbtxt probability", "probability"),
        ("placement train.pbtxt", "device"),
        ("compare model model", "agree"),
        ("diff model model", "equal"),
        ("run model", "tfg run"),
        ("serve model", "tfg run"),
        ("predict model", "tfg run"),
        ("run constant.pbtxt --trace", "event"),
        ("run constant.pbtxt --profile t.json", "event"),
        ("trace constant.pbtxt t.json", "event"),
        ("trace constant.pbtxt", "event"),
        ("timeline constant.pbtxt t.json", "event"),
        ("summary frozen.pb", "output shape"),
        ("scopes train.pbtxt", "share"),
        ("histogram ck", "mean"),
        ("stats model", "mean"),
        ("checkpoint ck --stats", "mean"),
        ("checkpoint ck --histogram", "mean"),
        ("safetensors ck", "wrote"),
        ("safetensors frozen.pb w.safetensors", "wrote"),
        ("npz ck", "wrote"),
        ("fp16 frozen.pb small.pb", "wrote"),
        ("bf16 frozen.pb small.pb", "wrote"),
        ("half frozen.pb small.pb", "wrote"),
        ("text frozen.pb", "wrote"),
        ("tensorboard frozen.pb", "wrote"),
        ("netron frozen.pb", "wrote"),
        ("shapes frozen.pb", "float (?,4)"),
        ("stages train.pbtxt", "initializers"),
        ("classify model -f 'measurements=uniform(1,4)'", "score"),
        ("numerics constant.pbtxt", "y"),
        ("run model measurements=uniform(1,4) --top-k 2", "output_0"),
        ("run model --each rows.csv -f measurements=@each:a,b,c,d --out-dir results", "2 results written"),
        ("convert model out --kind saved_model --signature classify --to output_0", "wrote"),
        ("convert train.pbtxt out.pb --feed x=[[1,2]]", "wrote"),
        ("explain frozen.pb", "memory of a run"),
        ("run train.pbtxt --init --fetch logits x=[[1,2]]", "logits"),
        ("optimize train.pbtxt --passes dropout", "remove_dropout"),
        ("profile constant.pbtxt", "ms"),
        ("convert train.pbtxt --dtype float16", "wrote"),
        ("grep train.pbtxt loss", "loss"),
        ("version", "tfg "),
        ("model", "nodes"),
        ("train.pbtxt", "nodes"),
        ("./train.pbtxt --missing", "has a kernel"),
        ("MatMul", "Product of two matrices"),
        ("explain MatMull", "Product of two matrices"),
        ("explian train.pbtxt", "nodes"),
        ("explain train.pbtxt nonode", "name"),
        ("explain versions", "nodes"),
    ],
)
def test_the_first_guess_works_or_the_message_gives_a_line_that_does(typed, shown):
    done = run(*shlex.split(typed))
    for _ in range(2):
        if done.code not in (0, 3):
            done = run(*[{"GRAPH": "train.pbtxt", "TEXT": "x"}.get(word, word) for word in suggested(done)])
    assert done.code == 0, done
    assert shown in f"{done.out}{done.err}"


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    ("path", "named", "step"),
    [
        ("m.tflite", "a TFLite model", "from before the conversion"),
        ("m.onnx", "an ONNX model", "from before the conversion"),
        ("m.h5", "an HDF5 file", "`model.export('folder')`"),
        ("m.keras", "a Keras .keras archive", "`model.export('folder')`"),
        ("versions", "is not a SavedModel", "versions/2"),
        ("ck", "the prefix of a checkpoint", "`tfg checkpoint ck`"),
    ],
)
@pytest.mark.parametrize("command", ["explain", "dump", "run", "flops", "check"])
def test_a_path_that_is_no_graph_is_named_and_the_next_step_said(command, path, named, step):
    done = run(command, path)
    assert done.code == 1
    assert named in done.err and step in done.err.replace("\\", "/")


def test_every_alias_stands_for_a_command_and_hides_none():
    assert {line.split()[0] for line in ALIASES.values()} <= {*commands(), "--version"}
    assert not set(ALIASES) & set(commands())
    assert {command for command, _ in OPTIONS} <= set(commands())


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("command", "option"), OPTIONS)
def test_every_line_for_an_option_has_options_that_its_command_takes(command, option):
    assert option not in flags(command)
    name, *words = OPTIONS[command, option].split()
    assert {word for word in words if word.startswith("-")} <= flags(name)


def flags(name: str) -> set[str]:
    """The options of a command."""
    command = root.get_command(None, name)
    assert command is not None
    return {flag for param in command.params for flag in param.opts}


@pytest.fixture(scope="module")
def context():
    return root.make_context("tfg", ["explain", "x"])


@pytest.mark.slow
@pytest.mark.parametrize("alias", sorted(ALIASES))
def test_every_alias_is_a_line_that_its_command_takes(alias, context):
    """All words are options and arguments that the command has."""
    line = resolve([alias, "train.pbtxt", "a.out", "c", "d"], commands(), context)
    if line[0] == "--version":
        return
    assert {word.partition("=")[0] for word in line[1:] if word.startswith("-")} <= flags(line[0])


def test_an_alias_names_all_that_is_missing():
    done = run("rename", "train.pbtxt", "x")
    assert "needs 2 more names" in done.err and "`tfg rename train.pbtxt x NEW renamed.pb`" in done.err


def test_a_folder_of_event_files_names_one(tmp_path):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "events.out.tfevents.1700000000.host").write_bytes(b"")
    assert "'logs/events.out.tfevents.1700000000.host'" in run("tensorboard", "logs").err.replace("\\", "/")


@pytest.mark.slow
def test_an_alias_says_what_it_runs_unless_quiet():
    assert run("freeze", "model", "a.pb").err.startswith("this is `tfg convert model a.pb --freeze`")
    assert run("freeze", "model", "b.pb", "-q").err == ""


def test_a_word_like_no_command_is_refused():
    done = run("qqqqqqqq", "train.pbtxt")
    assert done.code == 2 and "unknown command 'qqqqqqqq'" in done.err


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("typed", "pattern"), [
    ("g.pb --each in/0.npy in/1.npy in/2.npy in/3.npy in/4.npy --out-dir o", "'in/*.npy'"),
    ("--each in/0.npy in/1.npy in/2.npy in/3.npy in/4.npy --out-dir o g.pb", "'in/*.npy'"),
    ("g.pb --each in/1.npy in/2.npy", "'PATTERN'"),
    ("g.pb --each in/0.npy a.jsonl", "'PATTERN'"),
    ("g.pb --each a.jsonl b.jsonl", "'*.jsonl'"),
    ("g.pb in/0.npy --each in/1.npy", None),
    ("g.pb --each none.npy other.npy", None),
])  # fmt: skip
def test_a_pattern_that_a_shell_resolved_is_to_be_quoted(typed, pattern, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    for name in (*(f"in/{number}.npy" for number in range(5)), "a.jsonl", "b.jsonl", "g.pb"):
        (tmp_path / name).touch()
    done = run("run", *typed.split())
    assert done.code == 2 and "unexpected extra argument" in done.err
    assert ("quote the pattern" in done.err, f"--each {pattern}\n" in done.err) == (pattern is not None,) * 2, done.err
    assert len(done.err.splitlines()[0]) < 100
