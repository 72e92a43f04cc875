"""`tfg convert`, `diff`, `draw` and `checkpoint`; and properties of all commands."""

from __future__ import annotations

import contextlib
import pathlib
import re

import numpy as np
import pytest

from tests.cli.running import SAMPLES, STAGES, tfg
from tests.core.transforms.test_freezing import W, built, conditional
from tfg.cli import main
from tfg.cli.guesses import ALIASES
from tfg.core.support.errors import InvalidArgumentError, NotFoundError, TfgError
from tfg.core.types.dtypes import as_dtype
from tfg.formats import load, save
from tfg.formats.checkpoint.store import write_checkpoint
from tfg.formats.value_literals import parse_value

XOR = SAMPLES / "xor.pbtxt"


def test_text_to_binary_to_gzip_and_back(tmp_path):
    binary, packed, text = (tmp_path / name for name in ("g.pb", "g.pb.gz", "g.pbtxt"))
    assert tfg("convert", XOR, binary).code == 0
    assert tfg("convert", binary, packed).code == 0
    assert packed.read_bytes()[:2] == b"\x1f\x8b"
    assert tfg("convert", packed, text).code == 0
    assert text.read_text() == XOR.read_text()


def test_convert_to_standard_output():
    assert tfg("convert", STAGES[0], "-", "--text").out == pathlib.Path(STAGES[0]).read_text()


def test_freeze_keeps_the_answers(tmp_path):
    frozen, state = tmp_path / "frozen.pb", tmp_path / "state.npz"
    assert tfg("run", XOR, "--init", "--save-state", state).code == 0
    assert tfg("convert", XOR, frozen, "--freeze", "--state", state, "--to", "probability").code == 0
    options = ("--fetch", "probability", "--feed", "x=[[0,1]]", "--format", "json")
    assert tfg("run", frozen, *options).out == tfg("run", XOR, "--state", state, *options).out
    ops = {node["op"] for node in tfg("dump", frozen, "--format", "json").json["nodes"]}
    assert "VariableV2" not in ops
    assert "ApplyAdam" not in ops


def test_freeze_reaches_into_functions(tmp_path):
    given, state, frozen = (tmp_path / name for name in ("given.pb", "state.npz", "frozen.pb"))
    save(built(conditional), given)
    np.savez(state, w=W, v=-W)
    assert tfg("convert", given, frozen, "--freeze", "--state", state, "--to", "y").code == 0
    assert "[[4., 6.]]" in tfg("run", frozen, "--fetch", "y", "--feed", "x=[[1,1]]").out


def test_freeze_keeps_tables_and_refuses_what_a_function_writes_to(tmp_path):
    frozen, model = tmp_path / "frozen.pb", SAMPLES / "scaler_saved_model"
    assert tfg("convert", model, frozen, "--freeze", "--to", "StatefulPartitionedCall:0").code == 0
    feed = ("--feed", 'index_names=["height","x"]', "--fetch", "StatefulPartitionedCall:0", "-q")
    assert "[ 1, -1]" in tfg("run", frozen, "--init-op", "init_all_tables", *feed).out
    done = tfg("convert", model, frozen, "--freeze", "--to", "StatefulPartitionedCall_1:0")
    assert done.code == 1
    assert "AssignAddVariableOp" in done.err and "variable 'calls'" in done.err
    assert "with --to OUTPUT" in done.err and "--except calls" in done.err


def test_freeze_leaves_out_a_variable(tmp_path):
    """The scale is frozen; the counter of calls stays a variable and counts."""
    frozen, model = tmp_path / "frozen.pb", SAMPLES / "scaler_saved_model"
    for more in ((), ("--keep-functions",)):
        done = tfg("convert", model, frozen, "--freeze", "--to", "StatefulPartitionedCall_1", "--except", "calls", *more)
        assert done.code == 0, done.err
        ops = {node.op for node in load(frozen)}
        assert ("StatefulPartitionedCall" in ops) == bool(more)
        variables = [node.name for node in load(frozen) if node.op == "VarHandleOp"]
        assert variables == ["calls"]
        fetches = ("--fetch", "StatefulPartitionedCall_1:0", "--fetch", "StatefulPartitionedCall_1:1")
        feed = ("--assign", "calls=41", "--feed", "serving_default_x=[[1,2]]")
        shown = tfg("run", frozen, *fetches, *feed, "--format", "json").json
        assert [result["value"] for result in shown["steps"][0]["values"]] == [42, [[2.0, 6.0]]]
    done = tfg("convert", model, frozen, "--freeze", "--to", "StatefulPartitionedCall_1", "--except", "call")
    assert "no variable 'call'" in done.err and "calls" in done.err


def test_freeze_inlines_functions_unless_they_are_to_stay(tmp_path):
    frozen, model = tmp_path / "frozen.pb", SAMPLES / "keras_classifier"
    assert tfg("convert", model, frozen, "--freeze").code == 0
    assert not load(frozen).functions
    assert tfg("convert", model, frozen, "--freeze", "--keep-functions").code == 0
    assert load(frozen).functions


def test_freeze_without_values_is_refused(tmp_path):
    done = tfg("convert", XOR, tmp_path / "frozen.pb", "--freeze", "--to", "probability")
    assert done.code == 1
    assert "has no value to freeze" in done.err
    assert not (tmp_path / "frozen.pb").exists()


@pytest.mark.slow
def test_inference_prints_its_decisions_and_writes_the_result(tmp_path):
    done = tfg("convert", XOR, f"{tmp_path / 'model'}/", "--inference", "--init", "--verify")
    assert done.code == 0 and "y     is gone   no output needs it" in done.out and "probability:0" in done.out
    assert "differ" not in done.err and load(tmp_path / "model").meta.signatures["serving_default"].inputs.keys() == {"x"}
    assert tfg("convert", SAMPLES / "keras_classifier", tmp_path / "m.pb", "--inference", "--freeze", "--verify").code == 0
    scaler = tmp_path / "scaler"
    assert tfg("convert", SAMPLES / "scaler_saved_model", f"{scaler}/", "--inference", "--verify").code == 0
    assert load(scaler).meta.signatures.keys() == {"index", "serving_default"}
    stream = tfg("convert", XOR, "-", "--text", "--inference")
    assert stream.code == 0 and stream.out.startswith("node {") and "no output needs it" in stream.err
    averaged = tfg("convert", XOR, tmp_path / "n.pb", "--inference", "--ema")
    assert averaged.code == 1 and "no moving averages" in averaged.err
    assert tfg("convert", XOR, tmp_path / "n.pb", "--ema").code == 2


def test_subgraph_becomes_a_graph_of_its_own(tmp_path):
    part = tmp_path / "part.pb"
    assert tfg("convert", XOR, part, "--from", "hidden/activation", "--to", "logits").code == 0
    done = tfg(
        "run", part, "--assign", "output/kernel=ones(8,1)", "--assign", "output/bias=[1]", "--fetch", "logits",
        "--feed", "hidden/activation=ones(1,8)",
    )  # fmt: skip
    assert "[[9.]]" in done.out


def test_strip_default_attrs_and_devices(tmp_path):
    out = tmp_path / "g.pb"
    assert "dropped" in tfg("convert", XOR, out, "--strip-default-attrs", "--clear-devices").err
    assert tfg("run", out, "--init", "--fetch", "hidden/bias").code == 0


def test_diff_of_equal_graphs(tmp_path):
    tfg("convert", XOR, tmp_path / "g.pb")
    done = tfg("diff", XOR, tmp_path / "g.pb")
    assert done.code == 0
    assert "the graphs are equal" in done.out


@pytest.mark.slow
def test_recorded_shapes_are_a_difference_only_where_both_record_them(tmp_path):
    """A MetaGraph has recorded shapes, and the original graph has none."""
    text = XOR.read_text()
    recorded = 'attr { key: "_output_shapes" value { list { shape { dim { size: %d } } } } }'
    paths = [XOR]
    for size in (1, 2):
        paths.append(tmp_path / f"{size}.pbtxt")
        paths[-1].write_text(text.replace("node {", f"node {{ {recorded % size}", 1))
    assert tfg("diff", paths[0], paths[1]).code == 0
    assert "_output_shapes: [(1)] -> [(2)]" in tfg("diff", paths[1], paths[2]).out


def test_diff_of_different_graphs():
    done = tfg("diff", STAGES[0], STAGES[1], "--format", "json")
    assert done.code == 3
    assert [node["name"] for node in done.json["added"]] == ["init"]
    assert tfg("diff", STAGES[0], STAGES[1], "--quiet").out == ""


@pytest.mark.slow
def test_draw_writes_graphviz_source(tmp_path):
    out = tmp_path / "g.dot"
    assert tfg("draw", STAGES[1], "-o", out, "--highlight", "init").code == 0
    assert out.read_text().startswith("digraph")
    around = tfg("draw", XOR, "--around", "loss", "--hops", "1").out
    assert "loss" in around
    assert "hidden/kernel" not in around


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-o", "g.foo"], 1, ".svg (SVG)"),
        (["--around", "ini"], 1, "nearest names: init"),
        (["--scope", "nothing"], 1, "no node matches"),
        (["--highlight", "nothing"], 1, "no node 'nothing'"),
    ],
)
def test_draw_mistakes(arguments, code, message):
    done = tfg("draw", STAGES[1], *arguments)
    assert done.code == code
    assert message in done.err


def test_checkpoint_lists_extracts_and_compares(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two.npz"
    tfg("run", STAGES[1], "--init", "--save-state", one)
    tfg("run", STAGES[1], "--assign", "Variable=5", "--save-state", two)
    rows = tfg("checkpoint", one, "--format", "json").json["tensors"]
    assert rows == [{"name": "Variable", "dtype": "int32", "shape": [], "bytes": 4, "statistics": None}]
    assert tfg("checkpoint", one, "--output", tmp_path / "copy.npz").code == 0
    assert tfg("checkpoint", one, "--compare", tmp_path / "copy.npz").code == 0
    done = tfg("checkpoint", one, "--compare", two, "--format", "json")
    assert done.code == 3
    assert done.json["tensors"][0]["largest_difference"] == 3
    assert tfg("checkpoint", one, "--compare", two, "--tolerance", "1.5").code == 0


def test_values_of_a_checkpoint(tmp_path):
    path = tmp_path / "state.npz"
    np.savez(path, a=np.array([[1.5, 2.0]], np.float32), b=np.int64(7))
    both = tfg("checkpoint", path, "--values", "a", "--values", "b", "--format", "json").json
    assert both["values"] == {"a": [[1.5, 2.0]], "b": 7}
    assert "[[1.5, 2. ]]" in tfg("checkpoint", path, "--values", "a").out
    assert tfg("checkpoint", path, "--values", "a", "--format", "csv").out.splitlines()[1:] == ["a,0 0,1.5", "a,0 1,2.0"]
    assert "has no tensor 'c'" in tfg("checkpoint", path, "--values", "c").err


def test_a_tensor_of_a_checkpoint_as_a_table(tmp_path):
    """CSV has a header, as results of runs; rows between tabs are vectors for a projector, which takes no header."""
    path, out = tmp_path / "state.npz", tmp_path / "out"
    vectors = np.array([[1.5, 2], [0.1, -1]], np.float32)
    np.savez(path, emb=vectors, words=np.array([b"a,b", b"c"]), cube=np.zeros((2, 2, 2)), none=np.zeros((0, 3)), x=np.int64(7))
    for name, extension, text in [
        ("emb", "csv", "emb_0,emb_1\n1.5,2.0\n0.1,-1.0\n"), ("emb", "tsv", "1.5\t2.0\n0.1\t-1.0\n"),
        ("words", "csv", 'words\n"a,b"\nc\n'), ("words", "tsv", "a,b\nc\n"), ("none", "csv", "none_0,none_1,none_2\n"),
        ("x", "csv", "x\n7\n"),
    ]:  # fmt: skip
        assert tfg("checkpoint", path, "--name", f"^{name}$", "-o", f"{out}.{extension}").code == 0
        assert pathlib.Path(f"{out}.{extension}").read_text() == text
    assert tfg("checkpoint", path, "--name", "emb", "-o", f"{out}.npy").err == f"wrote 1 tensor to {out}.npy\n"
    np.testing.assert_array_equal(np.load(f"{out}.npy"), vectors)
    for arguments, said in [
        (("-o", f"{out}.tsv"), "hint: choose one: `tfg checkpoint PREFIX --name TENSOR`; or write .npz"),
        (("--name", "cube", "-o", f"{out}.csv"), "'cube' has 3 dimensions"),
        (("--name", "words", "-o", f"{out}.npy"), "cannot hold the dtype of 'words'"),
    ]:
        assert said in tfg("checkpoint", path, *arguments).err


def test_a_tensor_that_is_not_there_gets_the_names_that_hold_the_word(tmp_path):
    np.savez(tmp_path / "state.npz", **{"deep/embedding": 1.0, "Embedding_1": 2.0, "bias": 3.0})
    done = tfg("checkpoint", tmp_path / "state.npz", "--values", "emb")
    assert done.err.endswith("hint: nearest names: Embedding_1, deep/embedding\n")


def test_checkpoint_that_is_not_there(tmp_path):
    assert tfg("checkpoint", tmp_path / "nothing").code == 1


@pytest.mark.parametrize("name", main.commands())
def test_every_command_has_help_with_an_example(name):
    done = tfg(name, "--help")
    assert done.code == 0
    assert f"tfg {name} " in done.out


def test_bugs_keep_their_traceback(monkeypatch):
    monkeypatch.setattr(main.root, "main", lambda *a, **k: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main.run(["dump"])


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("train", SAMPLES / "square_loss.pbtxt", "--loss", "loss", "--var", "("), 1, "not a regular expression"),
        (("flops", SAMPLES / "xor.pbtxt", "--name", "("), 1, "not a regular expression"),
        (("optimize", SAMPLES / "xor.pbtxt", "--fetch", "loss", "--keep", "nowhere"), 1, "no node 'nowhere'"),
        (("ops", "NoSuchOpAtAll"), 1, "unknown op"),
        ((), 2, "Usage: tfg"),
    ],
)
def test_mistakes_are_told(arguments, code, message):
    done = tfg(*arguments)
    assert (done.code, "Traceback" in done.err) == (code, False)
    assert message in done.err


def test_least_squares_of_one_residual():
    done = tfg("train", SAMPLES / "square_loss.pbtxt", "--loss", "loss", "--optimizer", "lm", "--steps", 20)
    assert done.code == 0
    assert "half the sum of squares" in done.out


def test_training_goes_on_with_the_graphs_own_step():
    feeds = ("--feed", "x=[[0,0],[0,1]]", "--feed", "y=[[0],[1]]")
    assert tfg("train", SAMPLES / "xor.pbtxt", "--loss", "loss", "--steps", 3, *feeds).code == 0


@pytest.mark.parametrize("arguments", [
    ("explain", "GRAPH", "--missing"), ("explain", "GRAPH", "--races"), ("diff", "GRAPH", "GRAPH"), ("ops", "--custom"),
])  # fmt: skip
def test_a_listing_of_nothing_is_empty_csv(arguments):
    """No command fails for want of rows."""
    given = [str(SAMPLES / "all_constant.pbtxt") if word == "GRAPH" else word for word in arguments]
    outcome = tfg(*given, "--format", "csv")
    assert (outcome.code, outcome.err) == (0, "")


@pytest.mark.parametrize("name", ["", ".", "..", "x/", "x/."])
def test_a_checkpoint_needs_a_name_in_its_folder(tmp_path, monkeypatch, name):
    """The prefix `.` would leave files that begin with two dots and that nobody sees."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidArgumentError, match="folder"):
        write_checkpoint(name, {"a": np.ones(2)})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["uniform(2,low=nan)", "normal(2,seed=inf)", "uniform(1,high=inf)", "randint(2,high=1e300)"])
def test_generators_of_feeds_refuse_bounds_that_are_no_numbers(text):
    with pytest.raises(InvalidArgumentError):
        parse_value(text)


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "int8", "bool", "complex64", "qint8", "string"])
@pytest.mark.parametrize("array", [np.zeros(2, "V2"), np.zeros(2, "M8[s]"), np.zeros(2, [("a", "<f4")])])
def test_arrays_of_other_kinds_are_refused(tmp_path, dtype, array):
    """Bytes without a meaning, times and records: dtypes that no tensor has."""
    np.save(tmp_path / "x.npy", array)
    with contextlib.suppress(TfgError):
        parse_value(f"@{tmp_path}/x.npy", as_dtype(dtype))


def test_help_is_a_command_too():
    assert tfg("help").out == tfg("--help").out
    assert tfg("help", "run").out == tfg("run", "--help").out
    assert "Did you mean 'run'?" in tfg("help", "rum").err


def test_the_help_says_which_commands_end_with_code_3():
    """A comparison, and whatever else fails without an error."""
    said = " ".join(tfg("--help").out.split())
    assert "3 a comparison, `check` or `flops --strict` failed, or training diverged" in said


def test_convert_keeps_what_an_operation_without_outputs_needs(tmp_path):
    target = tmp_path / "train.pb"
    assert tfg("convert", SAMPLES / "square.pbtxt", target, "--to", "momentum").code == 0
    assert "momentum" in tfg("dump", target, "--format", "list").out.split()
    assert "error: the graph has no node 'gone'" in tfg("convert", SAMPLES / "square.pbtxt", target, "--to", "gone").err


def test_a_part_that_was_cut_out_says_what_it_is_fed(tmp_path):
    target = tmp_path / "head.pb"
    cut = ("--from", "hidden/activation", "--to", "probability", "--freeze", "--init")
    assert tfg("convert", SAMPLES / "xor.pbtxt", target, *cut).code == 0
    assert tfg("explain", target, "--format", "json").json["inputs"][0]["shape"] == [None, 8]
    pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
    assert tfg("convert", target, tmp_path / "head.onnx", "--to", "probability").code == 0


OF_ANOTHER_MEANING = (
    "concat upgrade update delete remove clear clean tflite coreml torch keras tensorrt openvino "
    "dedupe activations size resize split compile deploy login init config set get put copy move reset test cast history "
    "install client batch fetch feed distill opset import load tune"
)
"""Words for work that tfg does not do, or that it names otherwise; many are spelled nearly as words of tfg."""


def test_a_word_of_another_meaning_gets_no_neighbour():
    for word in OF_ANOTHER_MEANING.split():
        done = tfg(word, XOR)
        assert (done.code, done.err) == (2, f"error: unknown command '{word}'\nhint: tfg --help shows the usage\n")


FORMS = {
    "freezing": "freeze", "pruning": "prune", "Pruned": "prune", "quantization": "quantize", "converter": "convert",
    "summarise": "summarize", "kernel": "kernels", "profiler": "profile", "rum": "run", "dif": "diff",
}  # fmt: skip


def test_another_form_of_a_word_is_guessed():
    assert {word: re.findall("Did you mean '(.*)'", tfg(word, XOR).err) for word in FORMS} == {
        word: [meant] for word, meant in FORMS.items()
    }


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", main.commands())
def test_a_slip_in_the_name_of_a_command_is_guessed(name):
    """Any letter but the first left out, doubled or wrong, or two letters swapped, where this is no other word."""
    places = range(1, len(name))
    slips = {name[:i] + name[i + 1 :] for i in places} | {name[:i] + name[i] + name[i:] for i in places}
    slips |= {f"{name[:i]}q{name[i + 1 :]}" for i in places}
    slips |= {name[:i] + name[i : i + 2][::-1] + name[i + 2 :] for i in places[:-1]}
    guessed = {word: tfg(word, XOR).err for word in slips - {*main.commands(), *ALIASES}}
    assert [word for word, said in guessed.items() if "Did you mean" not in said] == []
    assert sum(f"Did you mean '{name}'?" in said for said in guessed.values()) > len(guessed) // 2


def test_a_search_takes_an_op_or_a_part_of_a_name():
    by_op = tfg("find", XOR, "MatMul")
    assert by_op.err.startswith("this is `tfg dump") and "--op=MatMul" in by_op.err
    assert by_op.out.count(" = MatMul(") == len(by_op.out.splitlines()) > 1
    assert all("hidden" in line.partition(" = ")[0] for line in tfg("find", XOR, "hidden").out.splitlines())
    assert "`tfg dump GRAPH --op Conv2D` finds its nodes" in tfg("dump", XOR, "--name", "Conv2D").err
    assert "`tfg dump GRAPH --name Conv2D` finds nodes" in tfg("find", XOR, "Conv2D").err


@pytest.mark.parametrize(("word", "expression"), [("hidden/*", "hidden/"), ("*/kernel", "'.*/kernel'"), ("loss", "loss")])
def test_a_pattern_behind_a_graph_leads_to_the_option(word, expression):
    done = tfg("dump", XOR, word)
    assert (
        done.err
        == f"error: file '{word}' does not exist\nhint: to list nodes by their names: `tfg dump {XOR} --name {expression}`\n"
    )
    assert tfg("dump", XOR, "--name", expression.strip("'")).code == 0


@pytest.mark.parametrize("graph", [XOR, SAMPLES / "keras_classifier"])
def test_names_between_commas_lead_to_an_option_for_each(graph):
    for words in (
        ("run", graph, "--fetch"),
        ("flops", graph, "--fetch"),
        ("convert", graph, "out.pb", "--to"),
        ("dump", graph, "--to"),
    ):
        assert "repeat the option for each, such as --fetch a --fetch b/c\n" in tfg(*words, "a,b/c").err
    with pytest.raises(NotFoundError) as error:
        load(graph).node("a,b")
    assert error.value.hint == "names are not joined: give a list of names"


def test_the_version_of_a_model_is_that_of_its_writer():
    assert "TensorFlow 2.21.0" in tfg("version", SAMPLES / "scaler_saved_model").out
    assert tfg("version").out.startswith("tfg ")


def test_a_graph_is_written_for_an_older_tensorflow(tmp_path):
    out = tmp_path / "old.pb"
    done = tfg("convert", XOR, out, "--for-tensorflow", "1.13.2")
    assert done.code == 0 and "for TensorFlow 1.13: " in done.err
    assert "producer 27" in tfg("explain", out).out
    assert tfg("run", out, "--init", "--fetch", "hidden/bias").code == 0
    done = tfg("convert", SAMPLES / "keras_classifier", tmp_path / "m/", "--for-tensorflow", "1.4")
    assert done.code == 1 and "of TensorFlow 1.9" in done.err and "--for-tensorflow 1.9" in done.err
    assert not (tmp_path / "m").exists()
    assert "1.0 to 1.15 and 2.0 to 2.21" in tfg("convert", XOR, out, "--for-tensorflow", "1.16").err
