"""The JSON of a large book: the compressed parts equal the JSON of a small book."""

from __future__ import annotations

import base64
import json
import zlib

import pytest

from tests.cli.running import SAMPLES
from tfg.core.building.builder import GraphBuilder
from tfg.core.model.model_view import model_view
from tfg.formats import load
from tfg.formats.api.viewing import make_page
from tfg.formats.page.writing import book_json


def unpacked(text):
    return json.loads(zlib.decompress(base64.b64decode(text)))


def entries_of(packed):
    columns = unpacked(packed["columns"])
    entries = [{"name": name} for name in columns["names"]]
    for column, values in columns["columns"].items():
        for entry, at in zip(entries, values["at"], strict=True):
            if values["values"][at] not in (None, 0.0) or (column == "group" and values["values"][at] is not None):
                entry[column] = values["values"][at]
    details = [detail for part in packed["details"] for detail in unpacked(part)]
    return [entry | detail for entry, detail in zip(entries, details, strict=True)]


def overlays_of(packed):
    overlays = unpacked(packed["columns"])["overlays"]
    for overlay in overlays:
        column = overlay.pop("column")
        values = [column["values"][at] for at in column["at"]]
        overlay["values"] = [[node, value] for node, value in enumerate(values) if value is not None]
    return overlays


@pytest.mark.parametrize("sample", ["xor.pbtxt", "scaler_saved_model"])
def test_a_packed_book_says_the_same(sample):
    book = make_page(model_view(load(SAMPLES / sample), raw=True), "title", sample)
    reports = []
    small, packed = json.loads(book_json(book)), json.loads(book_json(book, 1, lambda *done: reports.append(done)))
    assert entries_of(packed) == small["entries"]
    traits = unpacked(packed["columns"])["traits"]
    for entry, at in zip(small["entries"], traits["at"], strict=True):
        assert set(traits["values"][at]) <= {f"{name}={value}" for name, value in entry.get("attributes", [])}
    assert any(traits["values"]), "a search finds attributes before the details are unpacked"
    assert unpacked(packed["columns"])["groups"] == small.get("groups", [])
    for page, whole in zip(packed["pages"], small["pages"], strict=True):
        assert [node for first, count in page["ranges"] for node in range(first, first + count)] == whole["nodes"]
        brief = unpacked(page["packed"]["brief"])
        assert brief["view"] == whole["brief"] and brief["holders"] == whole.get("holders", [])
        assert ("whole" in page["packed"]) == ("whole" in whole)
        assert "whole" not in whole or unpacked(page["packed"]["whole"])["view"] == whole["whole"]
    assert overlays_of(packed) == small["overlays"]
    assert reports[-1] == (len(book.entries), len(book.entries))


def test_consumers_are_the_inputs_turned_around():
    entries = json.loads(book_json(make_page(model_view(load(SAMPLES / "xor.pbtxt")), "title", "")))["entries"]
    uses = {(source, node, output) for node, entry in enumerate(entries) for source, output in entry.get("inputs", [])}
    uses |= {(source, node, -1) for node, entry in enumerate(entries) for source in entry.get("controls", [])}
    assert uses == {
        (source, node, output) for source, entry in enumerate(entries) for node, output in entry.get("consumers", [])
    }
    assert any(entry.get("group") == 0 for entry in entries), "the first group is a group"


def test_a_page_has_a_second_tree_only_where_nodes_are_left_out():
    g = GraphBuilder()
    g.Neg(g.Placeholder(dtype="float", shape=[2], name="x"), name="end")
    (page,) = json.loads(book_json(make_page(model_view(g.graph, raw=True), "title", "")))["pages"]
    assert "whole" not in page and page["brief"]["root"]["parts"] == [0, 1]
    (page, *_) = json.loads(book_json(make_page(model_view(load(SAMPLES / "xor.pbtxt")), "title", "")))["pages"]
    assert page["whole"] != page["brief"]
