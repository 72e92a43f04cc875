"""What a graph says reaches the terminal without control characters, and nothing that is written is lost in silence."""

from __future__ import annotations

import json
import os
import pty
import re
import resource
import subprocess
import unicodedata

import numpy as np
import pytest

from tests.cli.running import SAMPLES, command_line, process, tfg
from tfg.core.support.escaping import printable, printable_json, printable_line
from tfg.formats import load, to_bytes
from tfg.formats.protos.graph_pb2 import GraphDef

pytestmark = pytest.mark.slow

EVIL = "e\x1b]0;owned\x07\x9b31m\u202e\u2028\n\t\r\x08\x7f"
SHOWN = "e\\x1b]0;owned\\x07\\x9b31m\\u202e\\u2028\\n\\t\\r\\x08\\x7f"
CONTROLS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def test_escapes():
    assert printable_line(EVIL) == SHOWN
    assert printable("a\tb\nc\x1b") == "a\tb\nc\\x1b"
    assert printable_line("caf\u00e9 \u4e2d \U0001f600 \\x1b") == "caf\u00e9 \u4e2d \U0001f600 \\x1b"
    assert printable_line("\udcff") == "\\udcff"
    for text in (EVIL, "\udcff\ud800 \U0001f600"):
        shown = printable_json(json.dumps(text, ensure_ascii=False))
        assert json.loads(shown.encode()) == text
    assert not any(unicodedata.category(character) == "Cc" for character in printable_line("".join(map(chr, range(256)))))


@pytest.mark.parametrize("space", ["\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_spaces_before_a_command_of_a_ci_log_are_controls_too(space):
    assert printable(f" {space}::x") == printable_line(f" {space}::x") == f" {space.encode('unicode_escape').decode()}::x"
    assert (printable(" \t::x"), printable_line(" \t::x")) == (" \t\\x3a:x", " \\t::x")


COMMANDS = ["::stop-commands::t", " ::error::m", "##[error]m", "##vso[task.setvariable]", "a##teamcity[x]"]


@pytest.mark.parametrize("name", COMMANDS)
def test_no_line_is_a_command_of_a_ci_log(name, tmp_path):
    graph = GraphDef()
    graph.node.add(name=name, op="NoOp")
    graph.node.add(name="x", op=name, device=name)
    (tmp_path / "g.pb").write_bytes(graph.SerializeToString())
    for line in ("check", "explain", "dump", "dump --format csv", "dump --format json", "draw --format dot", "run --fetch"):
        command, *options = line.split()
        done = tfg(command, tmp_path / "g.pb", *options, *[name] * (command == "run"))
        for shown in (done.out + done.err).splitlines():
            assert not shown.strip().startswith("::") and not re.search(r"##\w*\[", shown), line


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    """A graph whose names are hostile: refused at the door, and named where it is."""
    return evil_graph(tmp_path_factory.mktemp("evil") / "g.pb", EVIL)


@pytest.fixture(scope="module")
def accepted(tmp_path_factory):
    """A graph that is taken: names fit, devices, attributes and values are hostile."""
    return evil_graph(tmp_path_factory.mktemp("evil") / "g.pb", "n")


def evil_graph(path, name):
    proto = GraphDef()
    proto.node.add(name="first", op="NoOp")
    proto.node.add(name=f"{name}/x", op="Placeholder", device=EVIL).attr["dtype"].type = 1
    proto.node.add(name=f"{name}/y", op=f"Op{name}", input=[f"{name}/x"], device=EVIL)
    proto.node.add(name=f"{name}/c", op="Const", device=EVIL).attr["dtype"].type = 7
    proto.node[3].attr["value"].tensor.dtype = 7
    proto.node[3].attr["value"].tensor.tensor_shape.SetInParent()
    proto.node[3].attr["value"].tensor.string_val.append(EVIL.encode())
    proto.node[3].attr[EVIL].s = EVIL.encode()
    proto.library.function.add().signature.name = f"f{name}"
    path.write_bytes(proto.SerializeToString())
    return path


COMMANDS = [
    *(("dump", "--format", kind) for kind in ("table", "list", "text", "csv", "json")),
    ("dump", "--shapes"), ("explain",), ("explain", f"{EVIL}/y"), ("explain", "--missing"), ("draw",), ("draw", "--clusters"),
    ("run", "--fetch", f"{EVIL}/c"), ("run", "--fetch", f"{EVIL}/y"), ("run", "--fetch", f"{EVIL}/none"), ("flops",),
    ("optimize", "--report"), ("grad", "--loss", f"{EVIL}/y"), ("train", "--loss", f"{EVIL}/y"),
    ("ops", "--graph"), ("convert", "-", "--from", EVIL, "--to", EVIL), ("convert", "-", "--text"),
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command).split(EVIL)[0])
def test_no_command_shows_control_characters(graph, accepted, command):
    for path, name in ((graph, EVIL), (accepted, "n")):
        done = tfg(command[0], path, *(argument.replace(EVIL, name) for argument in command[1:]))
        for text in (done.out, done.err):
            assert CONTROLS.search(text) is None, text
        lines = done.err.splitlines()
        assert sum(line.startswith("error:") for line in lines) == (done.code != 0)


def test_diff_and_errors_of_files(graph, tmp_path):
    done = tfg("diff", graph, SAMPLES / "skipgram.pbtxt")
    assert SHOWN in done.out + done.err and CONTROLS.search(done.out + done.err) is None
    done = tfg("dump", tmp_path / EVIL)
    assert (done.code, done.err.count("\n")) == (1, 1 + ("hint" in done.err)) and SHOWN in done.err


def test_text_form_means_the_same(accepted):
    whole = load(accepted)
    for command in (("dump", accepted, "--format", "text"), ("convert", accepted, "-", "--text")):
        assert to_bytes(load(tfg(*command).out.encode())) == to_bytes(whole)


def test_at_a_terminal(graph):
    for command in (("dump",), ("explain",), ("explain", f"{EVIL}/y"), ("diff", str(SAMPLES / "skipgram.pbtxt"))):
        shown = _at_a_terminal(command[0], graph, *command[1:])
        assert "owned" in shown
        assert not re.search("\x1b\\]|\x07|\x9b|\u202e|\u2028|\x08|\x7f", shown)


def _at_a_terminal(*arguments: object) -> str:
    ours, theirs = pty.openpty()
    child = subprocess.Popen(command_line(*arguments), stdout=theirs, stderr=theirs, env=os.environ | {"TERM": "xterm"})
    os.close(theirs)
    pieces = []
    while True:
        try:
            pieces.append(os.read(ours, 1 << 16))
        except OSError:  # the other side is closed
            break
        if not pieces[-1]:
            break
    os.close(ours)
    child.wait(600)
    return b"".join(pieces).decode("utf-8", "replace")


def test_printing_kernels(tmp_path):
    from tfg import GraphBuilder, save

    g = GraphBuilder()
    with g.control_dependencies([g.PrintV2(g.constant(EVIL), output_stream="stdout")]):
        g.Print(g.constant(EVIL), [g.constant(EVIL)], name="q")
    save(g.graph, tmp_path / "g.pb")
    done = tfg("run", tmp_path / "g.pb", "--fetch", "q")
    assert "owned" in done.out and "owned" in done.err
    assert CONTROLS.search(done.out) is None and CONTROLS.search(done.err) is None


def test_text_that_the_encoding_lacks(tmp_path):
    (tmp_path / "g.pbtxt").write_text('node { name: "n" op: "NoOp" device: "caf\u00e9\u4e2d" }', encoding="utf-8")
    done = process("dump", tmp_path / "g.pbtxt", PYTHONIOENCODING="ascii")
    assert done.code == 0 and "caf\\xe9\\u4e2d" in done.out
    done = process("dump", tmp_path / "g.pbtxt", "--format", "json", PYTHONIOENCODING="ascii")
    assert done.code == 0 and "caf\u00e9\u4e2d" in json.dumps(json.loads(done.out), ensure_ascii=False)
    done = process("run", tmp_path / "g.pbtxt", "--fetch", "\u4e2d", PYTHONIOENCODING="ascii")
    assert done.code == 1 and "\\u4e2d" in done.err


SAMPLE = SAMPLES / "skipgram.pbtxt"
WRITING = [
    ("dump", SAMPLE), ("dump", SAMPLE, "--format", "json"), ("dump", SAMPLE, "--format", "text"), ("explain", SAMPLE),
    ("ops",), ("draw", SAMPLE), ("convert", SAMPLE, "-"), ("convert", SAMPLE, "-", "--text"), ("--help",), ("dump", "--help"),
]  # fmt: skip


def line_id(command):
    return " ".join(map(str, command)).replace(str(SAMPLE), "G")


@pytest.mark.parametrize("command", map(pytest.param, WRITING), ids=line_id)
@pytest.mark.parametrize("where", ["full", "closed"])
def test_output_that_cannot_be_written(command, where):
    redirection = {"full": ">/dev/full", "closed": ">&-"}[where]
    line = ["sh", "-c", f'"$@" {redirection}', "sh", *command_line(*command)]
    done = subprocess.run(line, stderr=subprocess.PIPE, text=True, timeout=600)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert done.stderr.startswith("error: cannot write to standard output: ")


@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- 2>&-"])
def test_other_streams_may_be_closed(closed, tmp_path):
    line = ["sh", "-c", f'"$@" {closed}', "sh", *command_line("dump", SAMPLE)]
    done = subprocess.run(line, stdout=subprocess.PIPE, text=True, timeout=600)
    assert (done.returncode == 0 and "Placeholder" in done.stdout) or "Const" in done.stdout
    line[-1:] = ["-"]
    done = subprocess.run([*line[:2], '"$@" <&-', *line[3:]], capture_output=True, text=True, timeout=600)
    assert done.returncode in (0, 1) and "Traceback" not in done.stderr


@pytest.mark.parametrize("command", WRITING[:7], ids=lambda command: " ".join(map(str, command)).replace(str(SAMPLE), "G"))
def test_a_reader_that_goes(command):
    child = subprocess.Popen(command_line(*command), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None and child.stderr is not None
    child.stdout.read(1)
    child.stdout.close()
    assert child.stderr.read() == b""
    assert child.wait(600) in (0, 141)


FILES = {"graph": ("g.pb",), "text": ("g.pbtxt", "--text"), "gzip": ("g.pb.gz", "--gzip")}


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 10, 1 << 10))


@pytest.mark.parametrize("name", FILES)
def test_no_room_for_a_file(name, tmp_path):
    target, *options = FILES[name]
    graph = tmp_path / "big.pbtxt"
    graph.write_text(
        "".join(f'node {{ name: "{np.random.default_rng(i).bytes(30).hex()}" op: "NoOp" }}\n' for i in range(2000))
    )
    (tmp_path / target).write_bytes(b"old")
    line = command_line("convert", graph, tmp_path / target, *options)
    done = subprocess.run(line, capture_output=True, text=True, preexec_fn=_limited, timeout=600)
    assert done.returncode == 1 and done.stderr.startswith(f"error: '{tmp_path / target}': "), done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["big.pbtxt", target])
    assert (tmp_path / target).read_bytes() == b"old"
