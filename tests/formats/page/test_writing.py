"""The JSON of a large book: the compressed parts equal the JSON of a small book."""

from __future__ import annotations

import base64
import itertools
import json
import zlib

import pytest

from tests.cli.running import SAMPLES
from tfg.core.building.builder import GraphBuilder
from tfg.core.drawing.view_model import NodeOverlay
from tfg.core.explaining.model_view import model_view
from tfg.formats import load
from tfg.formats.api.viewing import make_page
from tfg.formats.page.writing import book_json


def unpacked(text):
    return json.loads(zlib.decompress(base64.b64decode(text)))


def entries_of(packed):
    columns = unpacked(packed["columns"])
    entries = [{"name": name, **common} for name, common in zip(columns["names"], of_column(columns["common"]))]
    fill(entries, columns["columns"])
    for node, (inputs, controls, weights, _) in enumerate(zip(*map(of_column, columns["edges"].values()), entries)):
        edges = {
            "inputs": [[end_of(node, inputs[i]), inputs[i + 1]] for i in range(0, len(inputs), 2)],
            "controls": [end_of(node, number) for number in controls],
            "weights": [end_of(node, number) for number in weights],
        }
        entries[node] |= {name: ends for name, ends in edges.items() if ends}
    for place, part in enumerate(packed["details"]):
        fill(entries[place * packed["size"] :], unpacked(part))
    return entries


def fill(entries, columns):
    for name, column in columns.items():
        for entry, value in zip(entries, of_column(column)):
            if value not in (None, 0.0) or (name == "group" and value is not None):
                entry[name] = value


def of_column(column):
    """The values of a column; a single one, which has no numbers, again and again."""
    return map(column["values"].__getitem__, column.get("at", itertools.repeat(0)))


def end_of(node, number):
    return node - number if number < 4096 else number - 4096


def view_of(packed):
    opened = unpacked(packed)
    rows = in_rows(opened["links"], 3)
    targets = itertools.accumulate(row[0] for row in rows)
    links = [[target - back, target, output] for target, (_, back, output) in zip(targets, rows)]
    return {"root": opened["root"], **({"links": links} if links else {})}, in_rows(opened["holders"], 2)


def in_rows(numbers, width):
    return [numbers[i : i + width] for i in range(0, len(numbers), width)]


def overlays_of(packed):
    columns = unpacked(packed["columns"])
    overlays = columns["overlays"]
    for overlay in overlays:
        values = zip(range(len(columns["names"])), of_column(overlay.pop("column")))
        overlay["values"] = [[node, value] for node, value in values if value is not None]
    return overlays


@pytest.mark.parametrize("sample", ["xor.pbtxt", "scaler_saved_model"])
def test_a_packed_book_says_the_same(sample):
    view = model_view(load(SAMPLES / sample), raw=True)
    costs = NodeOverlay("cost", dict(zip(list(view.graph)[::2], itertools.cycle([0.0, 2.5]))))
    same = NodeOverlay("same", dict.fromkeys(view.graph, 1.5))
    book = make_page(view, "title", sample, overlays=[costs, same])
    reports = []
    small, packed = json.loads(book_json(book)), json.loads(book_json(book, 1, lambda *done: reports.append(done)))
    assert entries_of(packed) == small["entries"]
    assert unpacked(packed["columns"])["groups"] == small.get("groups", [])
    for page, whole in zip(packed["pages"], small["pages"], strict=True):
        assert [node for first, count in page["ranges"] for node in range(first, first + count)] == whole["nodes"]
        assert view_of(page["packed"]["brief"]) == (whole["brief"], whole.get("holders", []))
        assert ("whole" in page["packed"]) == ("whole" in whole)
        assert "whole" not in whole or unpacked(page["packed"]["whole"]) == whole["whole"]
    assert overlays_of(packed) == small["overlays"]
    assert reports[-1] == (len(book.entries), len(book.entries))


def test_nodes_that_are_alike_share_what_is_said_of_them():
    g = GraphBuilder()
    x = g.Placeholder(dtype="float", shape=[2], name="x")
    for i in range(100):
        x = g.Neg(x, name=f"neg_{i}")
    packed = json.loads(book_json(make_page(model_view(g.graph, raw=True), "title", ""), 1))
    columns = unpacked(packed["columns"])
    assert [common["op"] for common in columns["common"]["values"]] == ["Placeholder", "Neg"]
    assert columns["edges"]["inputs"]["values"] == [[], [1, 0]], "counted back from each node"


@pytest.mark.slow
def test_nodes_may_read_the_first_nodes_from_afar():
    g = GraphBuilder()
    x = g.Placeholder(dtype="float", shape=[2], name="x")
    y = x
    for i in range(6000):
        y = g.Add(x, y, name=f"add_{i}")
    book = make_page(model_view(g.graph, raw=True), "title", "", flops=False)
    small, packed = json.loads(book_json(book)), json.loads(book_json(book, 1))
    assert entries_of(packed) == small["entries"]
    columns = unpacked(packed["columns"])
    assert columns["edges"]["inputs"]["values"][-2:] == [[4095, 0, 1, 0], [4096, 0, 1, 0]], "far nodes have a row in common"


def test_a_page_has_a_second_tree_only_where_nodes_are_left_out():
    g = GraphBuilder()
    g.Neg(g.Placeholder(dtype="float", shape=[2], name="x"), name="end")
    (page,) = json.loads(book_json(make_page(model_view(g.graph, raw=True), "title", "")))["pages"]
    assert "whole" not in page and page["brief"]["root"]["parts"] == [0, 1]
    (page, *_) = json.loads(book_json(make_page(model_view(load(SAMPLES / "xor.pbtxt")), "title", "")))["pages"]
    assert page["whole"] != page["brief"]
