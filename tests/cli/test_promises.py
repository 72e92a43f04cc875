"""Commands do what their messages say: standard output, refusals, values of variables, files by their names."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

import pytest
from google.protobuf import text_format

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run
from tfg.formats.protos.graph_pb2 import GraphDef

SCALER, XOR, LINE = SAMPLES / "scaler_saved_model", SAMPLES / "xor.pbtxt", SAMPLES / "linear_regression.pbtxt"


@pytest.mark.parametrize("words", [
    ("optimize", XOR, "--fetch", "probability", "--text"),
    ("train", SAMPLES / "square_loss.pbtxt", "--loss", "loss", "--steps", "3", "--text"),
    ("grad", LINE, "--y", "loss", "--x", "w", "--text"),
    ("grad", LINE, "--y", "loss", "--x", "w", "--init", "--feed", "x=[1]", "--feed", "y=[2]", "--text"),
    ("convert", XOR, "-", "--text"),
])  # fmt: skip
def test_a_graph_on_standard_output_is_alone_there(words):
    done = run(*words, *(() if words[0] == "convert" else ("-o", "-")))
    assert done.code == 0, done.err
    assert len(text_format.Parse(done.out, GraphDef()).node) > 3
    assert words[0] == "convert" or "to standard output\n" in done.err


def test_a_variable_that_is_fetched_shows_its_value():
    assert run("run", SCALER, "--fetch", "scale").out == "scale  float (2)\n[2., 3.]\n"


def test_a_variables_value_can_be_written(tmp_path):
    import numpy as np

    assert run("run", SCALER, "--fetch", "scale", "--output", tmp_path / "scale.npy").code == 0
    assert np.load(tmp_path / "scale.npy").tolist() == [2, 3]


@pytest.mark.slow
def test_every_refusal_that_is_counted_has_its_reason():
    done = run("optimize", XOR, "--fetch", "loss", "--fetch", "train", "--format", "json")
    counted = {(p["name"], r["reason"]) for p in done.json["report"]["passes"] for r in p["refused"]}
    shown = run("optimize", XOR, "--fetch", "loss", "--fetch", "train").out
    assert counted
    for name, reason in counted:
        assert reason in shown and name in shown


def test_variables_to_differentiate_by_that_are_not_there_are_refused():
    words = ("flops", XOR, "--fetch", "loss", "--backward", "--view", "node", "--format", "json")
    done = run(*words, "--wrt", "nosuch")
    assert done.code == 1 and "matches 'nosuch'" in done.err and "hidden/kernel" in done.err
    one, whole = run(*words, "--wrt", "output/bias"), run(*words)
    assert len(one.json["rows"]) < len(whole.json["rows"])


def test_a_compiled_library_says_what_to_write_instead(tmp_path):
    (tmp_path / "ops.so").write_bytes(b"\x7fELF")
    done = run("run", XOR, "--op-library", tmp_path / "ops.so")
    assert done.code == 1 and "is compiled for TensorFlow" in done.err and "CATALOG.register" in done.err


def test_tensors_are_not_extracted_to_what_they_are_not(tmp_path):
    done = run("checkpoint", SCALER / "variables" / "variables", "--output", tmp_path / "x.json")
    assert done.code == 1 and ".npz (NumPy archive)" in done.err
    assert not list(tmp_path.iterdir())


def test_a_training_graph_says_that_it_has_no_values(tmp_path):
    words = ("train", SAMPLES / "square_loss.pbtxt", "--loss", "loss", "--steps", "1", "-o", tmp_path / "g.pb")
    assert "--save-state or --save-model saves them" in run(*words).err
    assert "saves them" not in run(*words, "--save-state", tmp_path / "s.npz").err
    assert tfg.load(str(tmp_path / "g.pb"))


def test_strings_are_fed_from_files_as_they_are(tmp_path):
    """Bytes of a file are a single string; a record file is a string per record; an array stays an array."""
    import numpy as np

    from tfg.core.codecs.tfrecord import encode_record

    (tmp_path / "x.jpg").write_bytes(b"\xff\xd8\0raw")
    (tmp_path / "x.tfrecord").write_bytes(encode_record(b"height") + encode_record(b"depth"))
    np.save(tmp_path / "x.npy", np.array([b"depth"]))
    words = ("run", SCALER, "--signature", "index", "--format", "json")

    def ids(name):
        return run(*words, "--feed", f"names=@{tmp_path / name}")

    known = run(*words, "--feed", 'names=["height", "depth"]').json
    assert ids("x.tfrecord").json == known
    assert ids("x.npy").json["steps"][0]["values"][0]["value"] == known["steps"][0]["values"][0]["value"][1:]
    assert ids("x.jpg").json["steps"][0]["values"][0]["value"] == [-1]  # a list of one string, which the table lacks
    (tmp_path / "cut.tfrecord").write_bytes(encode_record(b"height")[:-1])
    assert "truncated record" in ids("cut.tfrecord").err


def test_json_of_a_dump_has_the_values_of_constants():
    (node,) = run("dump", SAMPLES / "square.pbtxt", "--name", "^loss/y$", "--format", "json").json["nodes"]
    assert node["attributes"]["value"] == {"dtype": "float", "shape": [], "value": 2.0}


_INTERRUPTED_AT = """
import sys
class Finder:
    def find_spec(name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Finder)
sys.argv = ["tfg", "run", {graph!r}, "--init", "--fetch", "loss"]
from tfg.__main__ import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("module", ["click", "google.protobuf", "numpy", "tfg.core.runtime.session.session"])
def test_an_interruption_of_an_import_is_one_line(module):
    script = _INTERRUPTED_AT.format(module=module, graph=str(SAMPLES / "square.pbtxt"))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", "interrupted")


def test_wrappers_of_all_ops_are_not_written_to_a_terminal():
    done = run("ops", "--wrap")
    assert done.code == 2 and done.out == "" and "name ops" in done.err


def test_a_graph_of_one_node_is_said_to_have_one(tmp_path):
    done = run("convert", XOR, tmp_path / "x.pb", "--to", "x")
    assert done.err == f"wrote 1 node to {tmp_path / 'x.pb'}\n"
    assert "coverage: 100.0 % of 1 node\n" in run("flops", tmp_path / "x.pb", "--fetch", "x").out


def test_no_sentence_of_a_command_counts_without_the_number_of_the_noun():
    """`words.counted` does: 1 node, 2 nodes."""
    noun = r"\{(?:len|sum)\([^{}]*\)(?::,)?\} (?!kinds|values that both|pictures need)[a-z]+s\b"
    folder = pathlib.Path(tfg.__file__).parent / "cli"
    sources = {path.name: path.read_text().splitlines() for path in folder.rglob("*.py")}
    assert not [f"{name}: {line.strip()}" for name, lines in sources.items() for line in lines if re.search(noun, line)]
