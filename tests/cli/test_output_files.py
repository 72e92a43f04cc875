"""The extension of a file decides the written format: every option that writes, with names of many formats."""

from __future__ import annotations

import ast
import gzip
import io
import json
import pathlib
import re
import shutil
import zipfile
from collections.abc import Iterator

import click
import numpy as np
import pytest
from google.protobuf import text_format

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run
from tfg.cli.main import commands, root
from tfg.cli.options import FileName, OutputFile
from tfg.core.support.errors import InvalidArgumentError, NotFoundError
from tfg.core.support.file_formats import extension_of
from tfg.formats.protos.graph_pb2 import GraphDef
from tfg.formats.protos.meta_graph_pb2 import MetaGraphDef, SavedModel
from tfg.formats.state import write_state

XOR = SAMPLES / "xor.pbtxt"
SCALER = SAMPLES / "scaler_saved_model"
GRAPHS = {"", ".pb", ".pbtxt", ".prototxt", ".textproto", ".txt", ".meta", ".pb.gz", ".pbtxt.gz", ".gz", ".PB"}
STATES = {"", ".ckpt", ".ckpt-100", ".npz", ".NPZ", ".safetensors"}
FOLDERS = {"", "/"}
VALUES = FOLDERS | {".csv"}
# The extensions that each option takes. "" is a name without one, "/" one with a slash at its end.
TAKEN = {
    ("convert", "OUT"): GRAPHS | {".onnx", ".stablehlo", ".json", "/"},
    ("optimize", "--output"): GRAPHS,
    ("grad", "--output"): GRAPHS,
    ("train", "--output"): GRAPHS,
    ("reduce", "--output"): GRAPHS,
    ("run", "--save-state"): STATES,
    ("train", "--save-state"): STATES,
    ("checkpoint", "--output"): STATES | {".npy", ".csv", ".tsv"},
    ("run", "--save-model"): FOLDERS,
    ("train", "--save-model"): FOLDERS,
    ("optimize", "--save-model"): FOLDERS,
    ("unfreeze", "--output"): FOLDERS,
    ("join", "--output"): GRAPHS | {"/"},
    ("run", "--output"): {".npy", ".npz", ".NPZ", ".json", ".csv", ".txt"},
    ("run", "--profile"): {"", ".json"},
    ("run", "--out-dir"): FOLDERS,
    ("samples", "--output"): FOLDERS,
    ("scalars", "--output"): VALUES,
    ("draw", "--output"): {"", ".dot", ".gv", ".svg", ".png", ".pdf", ".txt"},
    ("view", "--output"): {"", ".html", ".htm"},
    ("ops", "--output"): {"", ".py"},
    ("flops", "--trace"): {"", ".json"},
}
LOG = ("--log-file", {"", ".log", ".txt"})
ENDINGS = sorted(
    {
        ".h5",
        ".hdf5",
        ".keras",
        ".tflite",
        ".safetensors",
        ".csv",
        ".parquet",
        ".mlmodel",
        ".pt",
        ".jpeg",
        ".zip",
        ".yaml",
        ".gz",
    }
    | {".index", ".npz.gz", ".onnx.gz", ".stablehlo.gz", ".md", ".5", "."}.union(*TAKEN.values(), LOG[1])
)
NO_FORMATS = {".h5", ".hdf5", ".keras", ".tflite", ".mlmodel", ".pt", ".jpeg", ".zip", ".yaml", ".gz"}
NO_FORMATS |= {".index", ".md", ".5", ".", ".log"}
"""Endings that name no format that tfg writes."""
READ = {
    "IN", "--state", "--first-state", "--second-state", "--script", "--average", "--compare", "--labels", "--map",
    "--overlay", "--run-metadata", "--allow-files", "--op-library",
}  # fmt: skip
"""The parameters that name input files; all others with the metavar of a file name output files."""
LEAST = {
    "join": ["nowhere.pb"],
    "train": ["--loss", "loss"], "grad": ["--y", "loss", "--x", "x"], "reduce": ["--fetch", "y", "--test", "false"],
    "ops": ["--wrap"], "flops": ["--measured"], "run": ["--fetch", "y"],
}  # fmt: skip
"""The required words of a command line beside the graph."""


def parameters() -> Iterator[tuple[str, click.Parameter, str]]:
    for name in commands():
        command = root.get_command(click.Context(root), name)
        assert command is not None
        for parameter in command.params:
            flag = max(parameter.opts, key=len) if isinstance(parameter, click.Option) else parameter.human_readable_name
            yield name, parameter, flag


def test_every_option_that_writes_is_in_the_table():
    """A new option must state the written formats: the option has the type OutputFile, or is listed among the inputs."""
    writers = {(name, flag) for name, parameter, flag in parameters() if isinstance(parameter.type, OutputFile)}
    assert {pair for pair in writers if pair[1] != LOG[0]} == set(TAKEN)
    assert {name for name, flag in writers if flag == LOG[0]} == set(commands())
    others = [(flag, parameter) for _, parameter, flag in parameters() if not isinstance(parameter.type, OutputFile)]
    assert {flag for flag, parameter in others if isinstance(parameter.type, FileName)} <= READ
    texts = [(flag, str(getattr(parameter, "help", ""))) for flag, parameter in others if parameter.type is click.STRING]
    assert not [flag for flag, help_ in texts if re.search(r"\b([Ww]rite|[Cc]opy|[Ss]ave) ", help_)]


def asked(name: str, flag: str, path: str) -> list[str]:
    """A command line for a graph that is not there, with a file to write."""
    graph = {"ops": "Nowhere", "samples": "nowhere"}.get(name, "nowhere.pb")
    if flag == "OUT":
        return [name, graph, path]
    needed = ["--each", "nowhere.npy"] if flag == "--out-dir" else []
    return [name, graph, *LEAST.get(name, []), *needed, flag, path]


@pytest.mark.sampled(10)
@pytest.mark.parametrize(("name", "flag"), [*TAKEN, ("dump", LOG[0])])
def test_other_names_are_refused_with_the_list_before_any_work(name, flag, tmp_path, monkeypatch):
    """The graph is not there: a refusal of the name comes before anything is read."""
    monkeypatch.chdir(tmp_path)
    taken = LOG[1] if flag == LOG[0] else TAKEN[name, flag]
    bare = {".5"} if "" in taken else set()
    bare |= NO_FORMATS if taken in (FOLDERS, VALUES) else set()  # the name of a folder may have a dot
    for ending in ENDINGS:
        done = run(*asked(name, flag, f"file{ending}"))
        assert done.code != 0
        if ending in taken | bare:
            refusal = "needs the program 'dot'" if ending == ".pdf" and shutil.which("dot") is None else "nowhere"
            assert refusal in done.err.replace("Nowhere", "nowhere") and "cannot write" not in done.err, (ending, done.err)
        else:
            assert f"cannot write 'file{ending}' here" in done.err, (ending, done.err)
            offered = {known for known in taken if known.lower() == known and not re.search(r"gz|\d", known)} - {"", "/"}
            assert all(known in done.err for known in offered)
        assert flag == LOG[0] or not list(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "flag"), TAKEN)
def test_a_folder_that_is_not_there_is_named(name, flag, tmp_path):
    ending = ".npz" if flag == "--output" and name == "run" else ""
    done = run(*asked(name, flag, str(tmp_path / "missing" / f"file{ending}")))
    if flag == "--out-dir" or name in ("samples", "scalars"):
        assert "nowhere" in done.err, "it is made"
    else:
        assert done.code == 1 and f"folder '{tmp_path / 'missing'}' does not exist" in done.err


@pytest.mark.parametrize(("name", "flag"), TAKEN)
def test_standard_output_takes_what_can_be_read_from_it(name, flag):
    done = run(*asked(name, flag, "-"))
    streams = flag in ("--output", "OUT") and name not in ("checkpoint", "join", "samples", "scalars", "unfreeze")
    assert ("cannot be written to standard output" in done.err) != streams


def is_text_graph(data: bytes) -> bool:
    return len(text_format.Parse(data.decode(), GraphDef()).node) > 0


def is_graph(data: bytes) -> bool:
    return len(GraphDef.FromString(data).node) > 0


def is_npz(data: bytes) -> bool:
    return bool(np.load(io.BytesIO(data)).files)


SNIFFERS = {
    "": is_graph, ".pb": is_graph, ".PB": is_graph,
    ".pbtxt": is_text_graph, ".prototxt": is_text_graph, ".textproto": is_text_graph, ".txt": is_text_graph,
    ".meta": lambda data: len(MetaGraphDef.FromString(data).graph_def.node) > 0,
    ".gz": lambda data: is_graph(gzip.decompress(data)),
    ".pb.gz": lambda data: is_graph(gzip.decompress(data)),
    ".pbtxt.gz": lambda data: is_text_graph(gzip.decompress(data)),
    ".npz": is_npz, ".NPZ": is_npz,
    ".safetensors": lambda data: data[8:9] == b"{",
    ".npy": lambda data: np.load(io.BytesIO(data)).size > 0,
    ".csv": lambda data: data.count(b"\n") > 1, ".tsv": lambda data: data.count(b"\n") == 2,
    ".json": lambda data: bool(json.loads(data)),
    ".svg": lambda data: b"<svg" in data, ".png": lambda data: data.startswith(b"\x89PNG\r\n"),
    ".pdf": lambda data: data.startswith(b"%PDF"),
    ".dot": lambda data: data.startswith(b"digraph"), ".gv": lambda data: data.startswith(b"digraph"),
    ".html": lambda data: data.lower().startswith(b"<!doctype html"), ".htm": lambda data: b"<html" in data,
    ".py": lambda data: bool(ast.parse(data).body),
}  # fmt: skip
WRITING = {
    ("convert", "OUT"): ["convert", SCALER, "{}"],
    ("optimize", "--output"): ["optimize", XOR, "--fetch", "probability", "--output", "{}"],
    ("grad", "--output"): ["grad", XOR, "--y", "loss", "--x", "x", "--output", "{}"],
    ("run", "--save-state"): ["run", SCALER, "--assign-add", "calls=1", "--save-state", "{}"],
    ("checkpoint", "--output"): ["checkpoint", SCALER, "--name", "scale", "--output", "{}"],
    ("run", "--output"): ["run", SCALER, "--fetch", "scaled", "--feed", "x=[[1, 2]]", "--output", "{}"],
    ("draw", "--output"): ["draw", XOR, "--output", "{}"],
    ("view", "--output"): ["view", SAMPLES / "square.pbtxt", "--output", "{}"],
    ("ops", "--output"): ["ops", "Add", "--wrap", "--output", "{}"],
}
OTHERWISE = {
    ("draw", ""): SNIFFERS[".dot"], ("draw", ".txt"): lambda data: "┌" in data.decode(),
    ("run", ".txt"): lambda data: b"[[2., 6.]]" in data, ("view", ""): SNIFFERS[".html"], ("ops", ""): SNIFFERS[".py"],
}  # fmt: skip
NEED_PROGRAMS = {".pdf", ".onnx", ".stablehlo"}


def written() -> Iterator[tuple[str, str, str]]:
    for (name, flag), _ in WRITING.items():
        yield from ((name, flag, ending) for ending in sorted(TAKEN[name, flag] - NEED_PROGRAMS))


@pytest.mark.sampled(24)
@pytest.mark.parametrize(("name", "flag", "ending"), list(written()))
def test_what_the_name_says_is_written(name, flag, ending, tmp_path):
    path = f"{tmp_path / 'file'}{ending}"
    done = run(*(str(word).replace("{}", path) for word in WRITING[name, flag]))
    assert done.code == 0 and f"{path}" in done.err, "what was written is said"
    if ending == "/":
        assert SavedModel.FromString((tmp_path / "file" / "saved_model.pb").read_bytes()).meta_graphs
    elif (flag == "--save-state" or name == "checkpoint") and ending in ("", ".ckpt", ".ckpt-100"):
        assert pathlib.Path(f"{path}.index").exists() and not pathlib.Path(path).exists()
    else:
        sniffer = OTHERWISE.get((name, ending)) or SNIFFERS[ending]
        assert sniffer(pathlib.Path(path).read_bytes())


def test_a_folder_that_is_there_takes_a_saved_model(tmp_path):
    (tmp_path / "model.v2").mkdir()
    assert run("convert", SCALER, tmp_path / "model.v2").code == 0
    assert (tmp_path / "model.v2" / "saved_model.pb").exists()
    again = run("convert", "nowhere.pb", tmp_path / "model.v2")
    assert again.code == 1 and "is not empty" in again.err


def test_names_that_say_something_else_than_the_options(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for words in (
        ("convert", "nowhere.pb", "x.pb", "--kind", "saved_model"),
        ("convert", "nowhere.pb", "x/", "--kind", "graph"),
        ("convert", "nowhere.pb", "x.meta", "--kind", "graph"),
        ("convert", "nowhere.pb", "x.pbtxt", "--binary"),
        ("convert", "nowhere.pb", "x.pb", "--text"),
        ("convert", "nowhere.pb", "x.pb", "--gzip"),
        ("convert", "nowhere.pb", "x.pb.gz", "--no-gzip"),
        ("optimize", "nowhere.pb", "-o", "x.pb", "--text"),
        ("run", "nowhere.pb", "--fetch", "y", "--output", "x.npz", "--format", "json"),
        ("run", "nowhere.pb", "--fetch", "y", "--output", "x"),
        ("draw", "nowhere.pb", "-o", "x.svg", "--format", "png"),
    ):
        done = run(*words)
        assert done.code == 1 and "nowhere" not in done.err, (words, done.err)


def test_options_say_what_a_name_leaves_open(tmp_path):
    assert run("convert", XOR, tmp_path / "text", "--text").code == 0
    assert is_text_graph((tmp_path / "text").read_bytes())
    assert run("convert", XOR, tmp_path / "packed", "--gzip").code == 0
    assert is_graph(gzip.decompress((tmp_path / "packed").read_bytes()))
    words = ("run", SCALER, "--fetch", "scaled", "--feed", "x=[[1, 2]]", "--output", tmp_path / "array", "--format", "npy")
    assert run(*words).code == 0
    np.testing.assert_array_equal(np.load(tmp_path / "array"), [[2, 6]])


def test_a_table_in_a_file_has_all_elements(tmp_path):
    g = tfg.GraphBuilder()
    g.Fill([2000], np.float32(3), name="many")
    tfg.save(g.graph, tmp_path / "g.pb")
    assert run("run", tmp_path / "g.pb", "--fetch", "many", "--output", tmp_path / "many.txt").code == 0
    assert (tmp_path / "many.txt").read_text().count("3.") == 2000


@pytest.mark.slow
def test_python_obeys_the_same_table(tmp_path):
    graph = tfg.load(XOR)
    for ending in ENDINGS:
        path = f"{tmp_path / 'file'}{ending}"
        if ending in GRAPHS | {".5"}:
            tfg.save(graph, path)
            assert SNIFFERS[ending.replace(".5", "")](pathlib.Path(path).read_bytes())
        else:
            with pytest.raises(InvalidArgumentError, match=r"\.pb or no extension \(binary GraphDef\)"):
                tfg.save(graph, path)
        if ending not in STATES | {".5"}:
            with pytest.raises(InvalidArgumentError, match=r"\.npz \(NumPy archive\)"):
                write_state(path, {})
    with pytest.raises(InvalidArgumentError, match="the options ask for GraphDef as text"):
        tfg.save(graph, tmp_path / "g.pb", text=True)
    with pytest.raises(NotFoundError, match="folder '"):
        tfg.save(graph, tmp_path / "missing" / "g.pb")


@pytest.mark.parametrize(
    ("path", "extension"),
    [
        ("a/b.c/d", ""), ("x.PB", ".pb"), ("x.pb.GZ", ".pb.gz"), ("x.gz", ".gz"), ("m-1.5", ""), ("m.ckpt-100", ".ckpt"),
        (".pb", ""), ("run.2024.npz", ".npz"), ("x.", "."), ("x.v2", ".v2"), ("x.tar.gz", ".tar.gz"),
    ],
)  # fmt: skip
def test_extensions(path, extension):
    assert extension_of(path) == extension


def test_zip_archives_are_what_npz_says(tmp_path):
    assert run("run", SCALER, "--assign-add", "calls=1", "--save-state", tmp_path / "S.NPZ").code == 0
    assert zipfile.is_zipfile(tmp_path / "S.NPZ")
    assert run("run", SCALER, "--state", tmp_path / "S.NPZ", "--fetch", "scale").code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("convert", "nowhere.pb", "-"), ("optimize", "nowhere.pb", "-o", "-"),
        ("grad", "nowhere.pb", "--y", "y", "--x", "x", "-o", "-"),
        ("draw", "nowhere.pb", "--format", "png"), ("run", "nowhere.pb", "--fetch", "y", "--format", "npz"),
        ("run", "nowhere.pb", "--fetch", "y", "--format", "npy", "--output", "-"),
    ],
    ids=lambda words: words[0],
)  # fmt: skip
def test_a_terminal_gets_no_binary_data(words, monkeypatch):
    assert "nowhere.pb" in run(*words).err, "a pipe gets it"
    monkeypatch.setattr("tests.cli.running.Stream.isatty", lambda self: True)
    done = run(*words)
    assert done.code == 2 and "is binary data, and standard output is a terminal" in " ".join(done.err.split())
