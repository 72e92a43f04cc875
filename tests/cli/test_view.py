"""`tfg view`: the written page, and text of a graph that never becomes markup."""

import base64
import hashlib
import html.parser
import json
import re
import shutil
import webbrowser

import pytest

import tfg as tfg_library
from tests.cli.running import SAMPLES, tfg
from tests.pages import NASTY, UNKNOWN_OPS, book_in, graph_of_unknown_ops, nasty_graph
from tfg.core.support.errors import InvalidArgumentError
from tfg.core.support.escaping import printable_line
from tfg.formats import load

XOR = str(SAMPLES / "xor.pbtxt")


class _Page(html.parser.HTMLParser):
    """The elements of a page with their attributes, and (element, attributes, text) of scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.texts = []
        self._now = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._now = tag

    def handle_data(self, data):
        if self._now in ("script", "style"):
            self.texts.append((*self.elements[-1], data))

    def handle_endtag(self, tag):
        self._now = None


def view(tmp_path, graph, *options):
    out = tmp_path / "page.html"
    done = tfg("view", graph, "-o", out, *options)
    assert done.code == 0, done.err
    return out.read_text(encoding="utf-8"), done


@pytest.mark.slow
def test_where_it_writes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = tfg("view", XOR)
    assert done.code == 0 and done.out == "" and "wrote xor.html" in done.err
    assert tfg("view", XOR, "-o", "-").out == (tmp_path / "xor.html").read_text(encoding="utf-8")
    assert tfg("view", XOR, "-q").err == ""
    assert tfg("view", XOR, "-o", "no/such/folder.html").code == 1


def test_the_browser_opens(tmp_path, monkeypatch):
    addresses = []
    monkeypatch.setattr(webbrowser, "open", lambda address: bool(addresses.append(address)) or len(addresses) == 1)
    out = tmp_path / "page.html"
    assert "open it" not in tfg("view", XOR, "-o", out, "--open").err and addresses == [out.as_uri()]
    assert "open it in a browser" in tfg("view", XOR, "-o", out, "--open").err, "where there is no browser"
    assert tfg("view", XOR, "-o", "-", "--open").code == 2


@pytest.mark.slow
def test_what_ops_do_is_said(tmp_path):
    text, _ = view(tmp_path, XOR)
    book = book_in(text)
    said = dict(book["ops"])
    assert said["MatMul"] == 'Multiply the matrix "a" by the matrix "b".'
    assert said["MatMul"] in tfg("ops", "MatMul").out
    flops = {entry["name"]: entry.get("flops") for entry in book["entries"]}
    assert flops["hidden/activation"] == "8 x N transcendental", "a Tanh of 8 units"
    assert flops["probability"] == "3 x N, 1 x N transcendental", "a Sigmoid: a negation, an addition, a division and an exp"


def test_the_page_needs_nothing_else(tmp_path):
    text, _ = view(tmp_path, XOR)
    page = _Page(text)
    for tag, attrs in page.elements:
        assert not {"src", "href", "srcset", "style", "data"} & set(attrs), (tag, attrs)
        assert not any(name.startswith("on") for name in attrs), (tag, attrs)
        assert tag not in ("link", "iframe", "object", "embed", "base", "form") or attrs == {"method": "dialog"}
    assert "Copyright (c) 2012-2014 Chris Pettitt" in text, "the licence of the layout library"


def test_the_policy_lets_only_its_own_scripts_run(tmp_path):
    text, _ = view(tmp_path, XOR)
    page = _Page(text)
    policy = next(attrs["content"] for tag, attrs in page.elements if attrs.get("http-equiv") == "Content-Security-Policy")
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'" and "unsafe" not in policy
    for tag, attrs, content in page.texts:
        if attrs.get("type") == "application/json":
            continue
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in rules[f"{tag}-src"]


def test_what_it_says(tmp_path):
    text, _ = view(tmp_path, XOR)
    book = book_in(text)
    names = [entry["name"] for entry in book["entries"]]
    assert book["title"] == "xor.pbtxt" and "loss" in names
    facts = tfg("explain", XOR, "loss", "--format", "json").json["nodes"][0]
    assert book["entries"][names.index("loss")]["role"] == facts["role"]
    assert any(note.startswith("FLOPs of 'loss:0'") for note in book["notes"])
    assert max(entry.get("share", 0) for entry in book["entries"]) > 0
    assert {"inputs", "variables", "ops"} <= {sheet.get("title") for sheet in book["sheets"]}


@pytest.mark.slow
def test_flops(tmp_path):
    whole, _ = view(tmp_path, XOR)
    none, _ = view(tmp_path, XOR, "--no-flops")
    part, _ = view(tmp_path, XOR, "--fetch", "loss")
    counted = [sum("flops" in entry for entry in book_in(text)["entries"]) for text in (whole, part, none)]
    assert counted[0] > counted[1] > counted[2] == 0
    assert tfg("view", XOR, "-o", tmp_path / "p.html", "--fetch", "nowhere").code == 1


def test_what_cannot_be_counted_is_said(tmp_path):
    graph = tmp_path / "g.pbtxt"
    graph.write_text('node { name: "a" op: "NoOp" }')
    text, _ = view(tmp_path, graph)
    assert any("FLOPs not counted" in note for note in book_in(text)["notes"])


def test_the_facts_begin_with_those_of_the_file(tmp_path):
    model = tmp_path / "model"
    shutil.copytree(SAMPLES / "keras_classifier", model)
    metadata = b'{"name": "m", "class_name": "Model", "keras_version": "2.12.0"}'
    inner = bytes([0x2A, len(metadata)]) + metadata
    (model / "keras_metadata.pb").write_bytes(bytes([0x0A, len(inner)]) + inner)
    text, _ = view(tmp_path, model)
    for book in (book_in(text), book_in(tfg_library.view(load(model)).html)):
        rows = book["sheets"][0]["rows"]
        assert rows[0] == ["written by", "TensorFlow 2.21.0, Keras 2.12.0"] and rows[1][1].startswith("producer ")
        assert ["signature serve", "measurements: float (?,4) → output_0: float (?,3)"] in rows
        assert len({name for name, _ in rows}) == len(rows), "nothing twice"


def test_ops_without_a_kernel_are_a_table(tmp_path):
    path = graph_of_unknown_ops(tmp_path)
    text, _ = view(tmp_path, path)
    for book in (book_in(text), book_in(tfg_library.view(load(path)).html)):
        tables = [sheet["rows"] for sheet in book["sheets"] if sheet.get("title") == "ops without a kernel"]
        assert [[row[:3] for row in rows] for rows in tables] == [[[UNKNOWN_OPS[0], "2", "no"], [UNKNOWN_OPS[1], "1", "no"]]]


def test_a_broken_graph_can_be_looked_through(tmp_path):
    graph = tmp_path / "g.pbtxt"
    graph.write_text('node { name: "a" op: "Neg" input: "gone" attr { key: "T" value { type: DT_FLOAT } } }')
    text, done = view(tmp_path, graph)
    assert "the graph is broken" in done.err
    kinds = {entry["name"]: entry["kind"] for entry in book_in(text)["entries"]}
    assert kinds == {"a": "op", "gone": "absent"}


def test_nothing_that_a_graph_says_is_markup(tmp_path):
    plain, _ = view(tmp_path, XOR)
    text, _ = view(tmp_path, nasty_graph(tmp_path))
    elements = [tag for tag, _ in _Page(text).elements]
    assert elements == [tag for tag, _ in _Page(plain).elements]
    data = re.search(r'<script type="application/json" id="book">(.*?)</script>', text, re.S)[1]
    assert not set("<>&") & set(data) and data.isascii() and data.isprintable()
    said = json.dumps(book_in(text), ensure_ascii=False)
    assert not re.search("[\x1b\u202e\u2028]", said), "what moves cursors and turns text around is written out"
    names = {entry["name"] for entry in book_in(text)["entries"]}
    assert {f"{printable_line(name)}/{printable_line(name)}0" for name in NASTY} < names


@pytest.mark.parametrize("name", ["<script>.pb", "a&b.pb", "@@book@@.pb", "<b>.pb"])
def test_names_of_files_are_no_markup(name, tmp_path):
    graph = tmp_path / name
    graph.write_text('node { name: "a" op: "NoOp" }')
    text, _ = view(tmp_path, graph)
    assert "<script>.pb" not in text and "<b>.pb" not in text
    assert book_in(text)["title"] == name


@pytest.mark.slow
def test_a_measured_run_is_an_overlay(tmp_path):
    model = SAMPLES / "scaler_saved_model"
    text, _ = view(tmp_path, model, "--measured", "--feed", "x=normal(8,2)")
    book = book_in(text)
    times = {overlay["title"]: overlay for overlay in book["overlays"]}["Measured time"]
    names = {book["entries"][node]["name"] for node, _ in times["values"]}
    assert times["unit"] == "seconds" and {"mul", "AssignAddVariableOp"} <= names, "nodes of the called function"
    assert tfg("view", model, "--feed", "x=normal(8,2)").code == 2, "nothing runs without --measured"
    done = tfg("view", model, "--measured", "-o", tmp_path / "page.html")
    assert done.code == 0 and "measured on drawn feeds" in done.err


@pytest.mark.slow
def test_a_page_from_python():
    before, after = load(XOR), load(XOR)
    after.remove_node(after["loss"])
    overlays = {"Owner": {"hidden/activation": "serving"}, "Rank": {"probability": 3}}
    measured = tfg_library.profile(before, "probability", {"x": [[0, 1]]})
    book = book_in(tfg_library.view(before, overlays=overlays, measured=measured, diff=after).html)
    by_title = {overlay["title"]: overlay["values"] for overlay in book["overlays"]}
    both, first = book["entries"][: book["panes"]["start"]], book["entries"][book["panes"]["start"] :]
    number = {entry["name"]: node for node, entry in enumerate(both)}
    paired = {first[node - len(both)]["name"]: both[merged]["name"] for node, merged in book["panes"]["pairs"]}
    assert paired == {node.name: node.name for node in before}, "the removed node, too"
    after_names = [both[node]["name"] for node in book["panes"]["after"][0]["nodes"]]
    assert after_names == [node.name for node in after] and len(book["panes"]["before"][0]["nodes"]) == len(before)
    assert by_title["Owner"] == [[number["hidden/activation"], "serving"]]
    assert by_title["Rank"] == [[number["probability"], 3.0]]
    assert [number["loss"], "removed"] in by_title["Differences"]
    assert number["probability"] in dict(by_title["Measured time"])
    with pytest.raises(InvalidArgumentError, match="Owner"):
        tfg_library.view(before, overlays={"Owner": {"gone": "x"}})
