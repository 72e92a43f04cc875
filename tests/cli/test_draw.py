"""`tfg draw`: what it writes and what it refuses."""

import shutil

import pytest

from tests.cli.running import SAMPLES, process, tfg

XOR = str(SAMPLES / "xor.pbtxt")
needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="the program 'dot' of Graphviz is not installed")


def test_text():
    drawn = tfg("draw", XOR, "--format", "text", "--fetch", "loss")
    assert drawn.code == 0 and "┌" in drawn.out and "▼" in drawn.out
    assert "not drawn:" in drawn.out.splitlines()[-1]


def test_dot_needs_no_program(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert tfg("draw", XOR).out.startswith("digraph {")
    refused = tfg("draw", XOR, "--format", "svg")
    assert refused.code == 1 and "'dot' of Graphviz is not installed" in refused.err and "--format dot" in refused.err


@needs_dot
@pytest.mark.parametrize(("kind", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_pictures(kind, start, tmp_path):
    out = tmp_path / f"xor.{kind}"
    assert tfg("draw", XOR, "-o", str(out)).code == 0
    assert out.read_bytes().startswith(start)


@needs_dot
def test_dot_has_a_time_limit(tmp_path):
    late = tfg("draw", XOR, "-o", str(tmp_path / "late.svg"), "--timeout", "0.0001")
    assert late.code == 1 and "did not lay out" in late.err and "--max-nodes" in late.err
    assert not (tmp_path / "late.svg").exists()


def test_one_picture_a_stage(tmp_path):
    done = tfg("draw", XOR, "--stages", "-o", str(tmp_path / "xor.dot"))
    assert done.code == 0
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written[0] == "xor-0-variables.dot" and "xor-2-model.dot" in written and len(written) > 4
    assert all("#d62728" in (tmp_path / name).read_text() for name in written), "what is new is red"
    together = tfg("draw", XOR, "--stages").out
    assert together.count("digraph {") == len(written)


def test_functions(tmp_path):
    scaler = str(SAMPLES / "scaler_saved_model")
    (tmp_path / "f").mkdir()
    assert tfg("draw", scaler, "--functions", "-o", str(tmp_path / "f" / "s.dot")).code == 0
    written = sorted(path.name for path in (tmp_path / "f").iterdir())
    assert "s.dot" in written and len(written) > 1
    name = tfg("explain", scaler, "--format", "json").json["functions"][0]["name"]
    assert "digraph" in tfg("draw", scaler, "--function", name).out
    assert "no function 'nowhere'" in tfg("draw", scaler, "--function", "nowhere").err


def test_flops_and_colours():
    assert "% of FLOPs" in tfg("draw", XOR, "--flops").out
    assert "label=gradients" in tfg("draw", XOR, "--colour", "stage").out
    assert '"no device"' in tfg("draw", XOR, "--color", "device").out
    assert "none" in tfg("draw", XOR, "--colour", "colocation").out


def test_shapes_are_written_at_edges():
    assert "float (?,2)" in tfg("draw", XOR, "--shapes", "--fetch", "loss").out


def test_what_is_around_a_node():
    near = tfg("draw", XOR, "--around", "loss", "--hops", "1", "--all").out
    far = tfg("draw", XOR, "--around", "loss", "--all").out
    assert near.count("tooltip") < far.count("tooltip")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-o", "picture.jpeg"], "does not say what to write"),
        (["--stages", "--format", "svg"], "need files"),
    ],
)
def test_what_does_not_go_together(options, said):
    refused = tfg("draw", XOR, *options)
    assert refused.code == 2 and said in refused.err


def test_text_in_a_terminal_that_knows_no_lines():
    done = process("draw", XOR, "--format", "text", PYTHONIOENCODING="ascii")
    assert done.code == 0
