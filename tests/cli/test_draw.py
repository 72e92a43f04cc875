"""`tfg draw`: outputs and refusals."""

import html
import io
import json
import re
import shutil

import pytest

from tests.cli.running import SAMPLES, Stream, process, tfg
from tfg.cli.layout import drawable

XOR = str(SAMPLES / "xor.pbtxt")
needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="the program 'dot' is not installed")
PICTURES = {"svg": b"<?xml", "png": b"\x89PNG"}


@pytest.fixture
def without_dot(monkeypatch):
    """A machine without programs on the path."""
    monkeypatch.setenv("PATH", "")


def test_text():
    drawn = tfg("draw", XOR, "--format", "text", "--to", "loss")
    assert drawn.code == 0 and "┌" in drawn.out and "▼" in drawn.out
    assert "not drawn:" in drawn.out.splitlines()[-1]


def test_dot_needs_no_program(without_dot):
    assert tfg("draw", XOR).out.startswith("digraph {")


@pytest.mark.parametrize("kind", PICTURES)
def test_pictures_without_graphviz(kind, without_dot, tmp_path):
    out = tmp_path / f"xor.{kind}"
    done = tfg("draw", XOR, "-o", out)
    assert (done.code, done.err) == (0, f"wrote {out}\n")
    assert out.read_bytes().startswith(PICTURES[kind])


@pytest.mark.sampled(5)
@pytest.mark.parametrize("options", [(), ("--shapes", "--all"), ("--flops",), ("--color-by", "stage"), ("--depth", "0")])
def test_everything_that_is_drawn_is_in_the_picture_without_graphviz(options, without_dot):
    """Boxes of every shape, frames in frames, labels of edges, the legend."""
    svg = tfg("draw", XOR, "--format", "svg", *options).out
    source = tfg("draw", XOR, *options).out
    boxes = re.findall(r"^\s*(\w+) \[", source, re.MULTILINE)
    assert set(re.findall(r"<title>(\w+)</title>", svg)) >= {name for name in boxes if name not in ("graph", "node", "edge")}
    assert svg.count('class="edge"') == source.count("->") - source.count("style=invis")
    assert svg.count('class="cluster"') == source.count("subgraph ")


def _drawn(names, tmp_path):
    """Return the SVG of placeholders with these names."""
    path = tmp_path / "g.pbtxt"
    path.write_text("".join(f"node {{ name: {json.dumps(name)} op: 'Placeholder' }}\n" for name in names), encoding="utf-8")
    return tfg("draw", path, "--format", "svg", "--all").out


def test_names_of_any_letters_without_graphviz(without_dot, tmp_path):
    """Text that looks like markup or an escape is shown letter by letter."""
    names = ["Größe-λ", "重み", "a&amp;b", "<b>bold<i>", "left\\nright", "{p|q}", 'say "x"']
    svg = _drawn(names, tmp_path)
    assert {html.unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)} >= set(names)


def test_a_box_is_as_wide_as_its_text_without_graphviz(without_dot, tmp_path):
    """An `a` of Helvetica is 0.556 of the size wide, 11 points here; an `a` of Times, the layout's last resort, 0.444."""
    svg = _drawn(["a" * 40], tmp_path)
    (radius,) = re.findall(r'<ellipse fill="#cfe8ff"[^>]* rx="([\d.]+)"', svg)[:1]
    assert 'font-family="Helvetica,sans-Serif"' in svg and 2 * float(radius) > 40 * 0.556 * 11


def test_pdf_asks_for_dot_before_it_reads_the_graph(without_dot, tmp_path):
    refused = tfg("draw", "nowhere.pb", "-o", tmp_path / "x.pdf")
    assert refused.code == 1 and "PDF needs the program 'dot' of Graphviz" in refused.err
    assert "install Graphviz" in refused.err and "SVG or PNG" in refused.err


def test_a_machine_without_both_is_told_before_the_graph_is_read(without_dot, monkeypatch):
    monkeypatch.setattr("tfg.formats.dot.pure_path", lambda: None)
    refused = tfg("draw", "nowhere.pb", "--format", "svg")
    assert refused.code == 1 and "pip install graphviz-pure" in refused.err and "--format dot" in refused.err


@needs_dot
@pytest.mark.parametrize(("kind", "start"), [*PICTURES.items(), ("pdf", b"%PDF")])
def test_pictures_by_dot(kind, start, tmp_path):
    out = tmp_path / f"xor.{kind}"
    assert tfg("draw", XOR, "-o", out).code == 0
    assert out.read_bytes().startswith(start)


def test_the_layout_has_a_time_limit(tmp_path):
    late = tfg("draw", XOR, "-o", tmp_path / "late.svg", "--timeout", "0.0001")
    assert late.code == 1 and "needed more than" in late.err and "--max-nodes" in late.err
    assert not (tmp_path / "late.svg").exists()


@pytest.mark.slow
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
    assert "label=gradients" in tfg("draw", XOR, "--color-by", "stage").out
    assert '"no device"' in tfg("draw", XOR, "--color-by", "device").out
    assert "none" in tfg("draw", XOR, "--color-by", "colocation").out


def test_shapes_are_written_at_edges():
    assert "float (?,2)" in tfg("draw", XOR, "--shapes", "--to", "loss").out


def test_what_is_around_a_node():
    near = tfg("draw", XOR, "--around", "loss", "--hops", "1", "--all").out
    far = tfg("draw", XOR, "--around", "loss", "--all").out
    assert near.count("tooltip") < far.count("tooltip")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-o", "picture.svg", "--format", "png"], "the extension of a SVG, but the options ask for PNG"),
        (["--stages", "--format", "svg"], "need files"),
    ],
)
def test_what_does_not_go_together(options, said):
    refused = tfg("draw", XOR, *options)
    assert refused.code in (1, 2) and said in refused.err


@pytest.mark.parametrize("line", [(), ("-o", "-"), ("--stages",)])
def test_a_terminal_gets_boxes_and_a_pipe_graphviz_source(line, monkeypatch):
    assert tfg("draw", XOR, *line).out.startswith("digraph")
    monkeypatch.setattr(Stream, "isatty", lambda self: True)
    assert "┌" in tfg("draw", XOR, *line).out
    assert tfg("draw", XOR, *line, "--format", "dot").out.startswith("digraph")


@pytest.mark.slow
def test_a_stream_that_cannot_write_lines_gets_ascii():
    """Box by box as in UTF-8."""
    whole = tfg("draw", XOR, "--format", "text").out
    done = process("draw", XOR, "--format", "text", PYTHONIOENCODING="cp1252")
    assert done.code == 0 and done.out.isascii() and "\\" not in done.out
    assert list(map(len, done.out.splitlines())) == list(map(len, whole.splitlines()))
    assert done.out.count("v") - whole.count("v") == whole.count("▼") > 0


def test_solid_and_dashed_lines_differ_in_ascii():
    text = "┌─┐\n│a│\n└─┘\n ┊\n ╌\n ▼"
    for encoding in ("ascii", "cp437"):  # code page 437 has the boxes, but no dashed lines and no arrows
        assert drawable(text, io.TextIOWrapper(io.BytesIO(), encoding)) == "+-+\n|a|\n+-+\n :\n .\n v"
    assert drawable(text, io.TextIOWrapper(io.BytesIO(), "utf-8")) == text


@pytest.mark.slow
def test_every_character_of_a_picture_has_one_in_ascii():
    """Solid and dashed lines in all directions, joints and arrows."""
    everything = "│─┌┐└┘├┤┬┴┼┊╌▼"
    drawn = tfg("draw", XOR, "--all", "--depth", "9", "--max-nodes", "400", "--format", "text").out
    assert {letter for letter in drawn if not letter.isascii()} <= set(everything)
    assert drawable(everything, io.TextIOWrapper(io.BytesIO(), "ascii")).isascii()
