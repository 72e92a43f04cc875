"""What objects of tfg say of themselves at a prompt, in a notebook and to data frames."""

from __future__ import annotations

import base64
import html.parser
import re
import shutil
import xml.etree.ElementTree

import numpy as np
import pytest

import tfg
from tfg.core.building.builder import GraphBuilder

HOSTILE = "<script>alert(1)</script>"


class Page(html.parser.HTMLParser):
    """The tags and the text of a fragment of HTML; tags must be closed in order."""

    VOID = frozenset(("br", "hr", "img", "meta"))

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.words = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture
def builder():
    g = GraphBuilder()
    x = g.Placeholder(dtype="float", shape=[None, 2], name="x")
    w = g.variable(np.ones((2, 3), np.float32), name="w")
    g.MatMul(x, w, name="y")
    g.global_variables_initializer()
    return g


def simple():
    g = GraphBuilder()
    g.Neg(g.Placeholder(dtype="float", shape=[2], name="x"), name="y")
    return g.graph


def things(graph):
    """Objects with a table: graph, node, output, session and reports."""
    session = tfg.Session(graph)
    session.run("init")
    optimized, report = tfg.optimize(graph, "y:0", ["x:0"])
    facts = tfg.explain(graph)
    return [
        graph, graph["y"], graph.output("y:0"), session, facts, tfg.explain(graph, "y")[0],
        tfg.count_flops(graph, ["y:0"]), report, optimized, tfg.profile(graph, "y:0", {"x:0": np.ones((1, 2))}),
        tfg.Model(graph),
    ]  # fmt: skip


def test_a_graph_has_a_short_repr(tmp_path):
    graph = simple()
    assert repr(graph) == "<Graph 2 nodes, 1 input, 1 output>"
    tfg.save(graph, str(tmp_path / "model.pb"))
    assert repr(tfg.load(str(tmp_path / "model.pb"))) == "<Graph model.pb: 2 nodes, 1 input, 1 output>"
    assert repr(tfg.load((tmp_path / "model.pb").read_bytes())) == "<Graph 2 nodes, 1 input, 1 output>"
    assert repr(graph["y"]) == "<Node y: Neg, 1 input>"
    assert repr(graph.output("y:0")) == "<Output y:0 of Neg>"


def test_a_session_tells_of_its_variables(builder):
    session = tfg.Session(builder.graph)
    assert repr(session).endswith("1 variable>: no variables yet>")
    session.run("init")
    assert repr(session).endswith("1 variable>: 1 of 1 variable initialized>")


def test_reports_have_a_short_repr(builder):
    for thing in things(builder.graph):
        assert len(repr(thing)) < 200
        assert repr(thing).startswith(f"<{type(thing).__name__}")
    report = tfg.count_flops(builder.graph, ["y:0"])
    assert repr(report) == f"<FlopsReport: 12*N FLOPs, {len(report.nodes)} nodes, 0 unknown>"


def test_html_is_small_and_well_formed(builder):
    for thing in things(builder.graph):
        text = thing._repr_html_()
        page = Page(text)
        assert len(text) < 20_000
        assert "table" in page.tags and "script" not in page.tags


def test_rows_have_tables_and_records(builder, tmp_path):
    """The tensor has six elements of four bytes."""
    tfg.write_checkpoint(tmp_path / "v.npz", {"w": np.ones((2, 3), np.float32)})
    checkpoint = tfg.read_checkpoint(tmp_path / "v.npz")
    rows = checkpoint.describe(statistics=True)
    (record,) = rows.to_records()
    assert (record["name"], record["shape"], record["bytes"], record["mean"]) == ("w", [2, 3], 24, 1.0)
    assert {"w", "float", "[2, 3]", "24"} <= set(Page(rows._repr_html_()).words)
    assert {"w", "float", "6"} <= set(Page(checkpoint._repr_html_()).words)
    nodes = tfg.explain(builder.graph, "y", "w")
    assert [row["role"] for row in nodes.to_records()] == [facts.role for facts in nodes]
    assert Page(nodes._repr_html_()).words.count("role") == 2
    compared = tfg.compare_checkpoints(checkpoint, checkpoint)
    assert repr(compared) == "<StateComparison: 1 tensor, 1 equal>"
    assert compared.to_records()[0]["name"] == "w"


def test_an_optimized_graph_shows_the_passes(builder):
    result = tfg.optimize(builder.graph, "y:0")
    assert result.report.passes[0].name in Page(result._repr_html_()).words
    graph, report = result
    assert (graph, report) == (result.graph, result.report)


def test_a_measurement_shows_the_slowest_nodes(builder):
    """(3,2) by (2,3): 36 FLOPs."""
    measured = tfg.profile(builder.graph, "y:0", {"x:0": np.ones((3, 2))})
    assert {"MatMul", "y", "36"} <= set(Page(measured._repr_html_()).words)
    assert {row["path"]: row["flops"] for row in measured.to_records()}["y"] == 36


def test_text_is_on_the_left_and_numbers_are_not(builder):
    """Notebooks put each cell on the right."""
    for thing in things(builder.graph):
        for style, text in re.findall(r"<td(.*?)>(.*?)</td>", thing._repr_html_()):
            is_number = re.fullmatch(r"[\d.,e+-]+", text) is not None
            assert is_number or style == ' style="text-align:left"', text


def test_the_tables_of_a_graph_name_inputs_outputs_and_variables(builder):
    assert {"x", "(?,2)", "w", "(2,3)", "MatMul"} <= set(Page(builder.graph._repr_html_()).words)
    assert {"x", "y", "(2)"} <= set(Page(simple()._repr_html_()).words)


def test_names_of_a_graph_are_no_markup():
    graph = simple()
    graph.rename_node(graph["y"], HOSTILE)
    graph["x"].device = HOSTILE
    for thing in (graph, graph[HOSTILE], graph["x"], graph.output("x:0"), tfg.Session(simple())):
        assert "<script" not in thing._repr_html_()
    assert "<script" not in (graph._repr_svg_() or "")


def test_long_tables_are_cut():
    g = GraphBuilder()
    for _ in range(40):
        g.Placeholder(dtype="float")
    assert "and 28 more rows" in Page(g.graph._repr_html_()).words


def test_a_small_graph_has_a_picture():
    if shutil.which("dot") is None:
        pytest.skip("the program 'dot' is not installed")
    graph = simple()
    picture = graph._repr_svg_()
    assert xml.etree.ElementTree.fromstring(picture).tag.endswith("svg")
    encoded = base64.b64encode(picture.encode()).decode()
    assert f'src="data:image/svg+xml;base64,{encoded}"' in graph._repr_html_()
    g = GraphBuilder(graph)
    for _ in range(100):
        g.Neg("y:0")
    assert graph._repr_svg_() is None and "<img" not in graph._repr_html_()


def test_no_program_for_layouts_is_no_error(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("tfg.formats.dot.pure_path", lambda: None)
    assert simple()._repr_svg_() is None


def test_a_page_is_shown_in_a_frame(tmp_path):
    page = simple().view(height=321)
    frame = page._repr_html_()
    assert Page(frame).tags == ["iframe"] and "height:321px" in frame and "allow-same-origin" not in frame
    assert len(repr(page)) < 80
    page.save(str(tmp_path / "page.html"))
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text == page.html and text.startswith("<!doctype html>")


def test_records_are_plain_values(builder):
    rows = tfg.count_flops(builder.graph, ["y:0"]).to_records()
    assert next(row for row in rows if row["op"] == "MatMul") | {"times": 1} == {
        "path": "y", "op": "MatMul", "section": "forward", "flops": "12*N", "macs": "6*N", "transcendentals": 0,
        "bytes": "20*N + 24", "parameters": 6, "times": 1, "reason": "", "is_free": False, "weights": ["w"],
        "shape": "(N,3)", "computes": True, "outside": 0, "is_fed": True, "is_logical": False,
    }  # fmt: skip
    facts = tfg.explain(builder.graph)
    assert [row["name"] for row in facts.to_records()] == ["w"]
    assert facts.to_records("inputs") == [{"name": "x:0", "op": "Placeholder", "dtype": "float", "shape": "(?,2)"}]
    assert facts.to_records("init_ops") == [{"value": "init"}]
    with pytest.raises(tfg.errors.InvalidArgumentError) as caught:
        facts.to_records("colours")
    assert "variables" in caught.value.hint


FRAMES = ("pandas", "polars")


@pytest.mark.slow
@pytest.mark.parametrize("library", FRAMES)
def test_records_make_a_data_frame(builder, library):
    frames = pytest.importorskip(library, reason="the extra tfg[clients] is not installed")
    for report, table in ((tfg.explain(builder.graph), "inputs"), (tfg.count_flops(builder.graph, ["y:0"]), None)):
        records = report.to_records(table)
        frame = frames.DataFrame(records)
        assert list(frame.columns) == list(records[0]) and len(frame) == len(records)
        for column in frame.columns:
            assert [str(value) for value in frame[column].to_list()] == [str(row[column]) for row in records]
