"""MetaGraphDefs and SavedModels in text, parsed as protobuf's parser does, with faults by line and column."""

import random
import time

import pytest
from google.protobuf import text_format

from tests.formats.test_printed_text import graph_text
from tfg.core.support.errors import InvalidArgumentError, TfgError
from tfg.core.support.words import shortened
from tfg.formats import load
from tfg.formats.codecs.scan import PrintedScan
from tfg.formats.graphdef import graph_chunks
from tfg.formats.meta_graph import (
    graph_from_meta_graph,
    graph_from_meta_graph_text,
    graph_from_saved_model,
    graph_from_saved_model_text,
)
from tfg.formats.protos.graph_pb2 import GraphDef
from tfg.formats.protos.meta_graph_pb2 import MetaGraphDef, SavedModel


def meta_graph(*tags):
    meta = MetaGraphDef(graph_def=text_format.Parse(graph_text(), GraphDef()))
    meta.meta_info_def.tags.extend(tags)
    meta.collection_def["c"].int64_list.value.extend([1, 2])
    meta.collection_def["texts"].bytes_list.value.extend([b"graph_def {\n", b"\n}\n"])
    meta.signature_def["s"].inputs["x"].name = "n0:0"
    meta.object_graph_def.nodes.add().children.add(node_id=0, local_name="\n  ")
    return meta


def saved_model(*tag_sets):
    return SavedModel(saved_model_schema_version=1, meta_graphs=[meta_graph(*tags) for tags in tag_sets])


KINDS = {
    MetaGraphDef: (
        meta_graph("serve"),
        graph_from_meta_graph_text,
        lambda data, faults: graph_from_meta_graph(data, None, faults),
    ),
    SavedModel: (
        saved_model(["serve"], ["train"]),
        lambda data, faults: graph_from_saved_model_text(data, None, None, faults),
        lambda data, faults: graph_from_saved_model(data, None, None, faults),
    ),
}


def shown(read, data):
    """All that a graph that was read says, and what is wrong with its nodes; or why it could not be read."""
    faults = []
    try:
        graph = read(memoryview(data), faults)
    except TfgError as error:
        return str(error)
    around = MetaGraphDef.FromString(graph.source.meta_graph)
    return b"".join(graph_chunks(graph, lambda: graph)), graph.meta, around, graph.source.kind, list(map(str, faults))


def by_protobuf(kind, text):
    try:
        data = text_format.Parse(text, kind()).SerializeToString()
    except text_format.ParseError as error:
        place, _, reason = str(error).partition(" : ")
        line, column = place.split(":")
        return shortened(f"line {line}, column {column} of the text: {reason}")
    return shown(KINDS[kind][2], data)


def held_against_protobuf(kind, text):
    result = shown(KINDS[kind][1], text.encode())
    assert result == by_protobuf(kind, text)
    return result


@pytest.fixture
def scanned(monkeypatch):
    """How often a graph is read from printed text."""
    results = []
    scan = PrintedScan.nodes
    monkeypatch.setattr(PrintedScan, "nodes", lambda self: results.append(self) or scan(self))
    return results


@pytest.mark.parametrize("kind", KINDS)
def test_graphs_are_read_as_those_in_texts_of_their_own(kind, scanned):
    message = KINDS[kind][0]
    assert not isinstance(held_against_protobuf(kind, text_format.MessageToString(message)), str)
    assert len(scanned) == 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "edited",
    [
        lambda text: text.removesuffix("\n"), lambda text: text.replace("\n", "\r\n"), lambda text: text.replace("  ", "    "),
        lambda text: text.replace("  ", ""), lambda text: f"# {{\n\n{text}# }}", lambda text: text.replace(" {\n", ": {\n"),
        lambda text: f"\ufeff{text}",
    ],
)  # fmt: skip
def test_what_editors_and_people_make_of_printed_text_is_read_too(kind, edited, scanned):
    text = edited(text_format.MessageToString(KINDS[kind][0]))
    assert shown(KINDS[kind][1], text.encode()) == by_protobuf(kind, text.removeprefix("\ufeff"))
    assert scanned


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "graph_def {\n}\n", "graph_def {\n}\ngraph_def {\n}\n", "meta_graphs {\n}\n"]
)
def test_little_text(kind, text):
    held_against_protobuf(kind, text)


def test_no_graph_but_much_around_it():
    meta = meta_graph("serve")
    meta.ClearField("graph_def")
    held_against_protobuf(MetaGraphDef, text_format.MessageToString(meta))


def test_a_mistake_in_a_graph_that_is_not_chosen():
    text = text_format.MessageToString(saved_model(["serve"], ["train"]))
    at = text.rindex('op: "Op"')
    result = held_against_protobuf(SavedModel, f"{text[:at]}op: 3{text[at + 8 :]}")
    assert result.startswith(f"line {text[:at].count(chr(10)) + 1}, column ")


def test_tags_choose_among_graphs_in_text():
    model = saved_model(["serve"], ["train"])
    for meta in model.meta_graphs:
        meta.graph_def.Clear()
    text = text_format.MessageToString(model).encode()
    assert load(text, tags=["train"]).meta.tags == ("train",)
    with pytest.raises(InvalidArgumentError, match="tag sets: serve; train"):
        load(text, tags=["other"])


@pytest.mark.sampled(5)
@pytest.mark.filterwarnings("ignore:invalid escape sequence:DeprecationWarning")  # protobuf's
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(10))
def test_changed_text(kind, seed):
    """After any change of the text, tfg parses or refuses the text as protobuf does."""
    draw = random.Random(seed)
    lines = text_format.MessageToString(KINDS[kind][0]).splitlines(keepends=True)
    for _ in range(15):
        changed = list(lines)
        at, other = draw.randrange(len(changed)), draw.randrange(len(changed))
        changed[at : at + draw.choice((0, 1, 1, 5))] = draw.choice(
            ([], [changed[other]], [changed[at][:-3]], ["  " + changed[at]], [changed[at][2:]])
        )
        text = "".join(changed)
        position = draw.randrange(len(text))
        text = draw.choice((text, text[:position] + draw.choice('\\"0{}\n .-x#\t\r:') + text[position + 1 :]))
        held_against_protobuf(kind, text)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("line", ["graph_def {\n", "meta_graphs {\n", "graph_def {\n}\n", "  graph_def {\n"])
def test_text_that_only_begins_is_told_at_once(kind, line):
    began = time.process_time()
    with pytest.raises(TfgError):
        KINDS[kind][1](memoryview(line.encode() * 50_000), None)
    assert time.process_time() - began < 5
