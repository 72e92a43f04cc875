"""Text parsed and serialized as protobuf's parser does; all other text is left to protobuf."""

import pathlib
import random
import time

import pytest
from google.protobuf import text_format

from tfg.core.support.errors import InvalidArgumentError, TfgError
from tfg.core.support.words import shortened
from tfg.formats import load
from tfg.formats.codecs.printed_text import PrintedReader, serialize_printed
from tfg.formats.codecs.scan import PrintedScan
from tfg.formats.graphdef import graph_chunks, graph_from_bytes, graph_from_text
from tfg.formats.protos.graph_pb2 import AttrValue, GraphDef, TensorProto
from tfg.formats.protos.meta_graph_pb2 import MetaGraphDef

SAMPLES = sorted((pathlib.Path(__file__).parents[2] / "sample_graphs").rglob("*.pbtxt"))
NASTY = AttrValue.ListValue(
    s=[b"", b"\0\xff\"'\\\n", "é".encode(), bytes(range(256))], i=[0, -1, -(1 << 63), (1 << 63) - 1],
    f=[0.1, 1e30, -2.5e-39, 3], b=[True, False], type=[1, 23, 101],
)  # fmt: skip
FLOATS = TensorProto(double_val=[0.1, 1e300, float("inf"), float("-inf")], float_val=[float("inf"), 1.17549435e-38])


def graph_text() -> str:
    graph = GraphDef(versions={"producer": 27})
    for i, value in enumerate(
        [AttrValue(list=NASTY), AttrValue(tensor=FLOATS), AttrValue(i=0), AttrValue(), AttrValue(s=b"x")]
    ):
        node = graph.node.add(name=f"n{i}", op="Op", input=["é", "^a"], device="/cpu:0")
        node.attr["a"].CopyFrom(value)
        node.attr["T"].type = 1
    function = graph.library.function.add(ret={"a": "b:0"}, node_def=graph.node[:2], resource_arg_unique_id={3: 4})
    function.signature.name = "f"
    graph.debug_info.frames_by_id[1 << 63].line = 0
    return text_format.MessageToString(graph)


def held_against_protobuf(text, message_type=GraphDef):
    """Return True if tfg parsed the text, after a check that protobuf parses the same message."""
    result = serialize_printed(message_type.DESCRIPTOR, text)
    if result is not None:
        assert message_type.FromString(result) == text_format.Parse(text, message_type())
    return result is not None


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_samples(path):
    text = path.read_text()
    held_against_protobuf(text)
    assert held_against_protobuf(text_format.MessageToString(text_format.Parse(text, GraphDef())))


def test_everything_that_is_printed():
    assert held_against_protobuf(graph_text())
    assert held_against_protobuf("")
    meta = MetaGraphDef(graph_def=text_format.Parse(graph_text(), GraphDef()))
    meta.collection_def["c"].int64_list.value.extend([1, 2])
    assert held_against_protobuf(text_format.MessageToString(meta), MetaGraphDef)


@pytest.mark.parametrize(
    "text",
    [
        "node { name: 'a' }", "node {\n  name: \"a\" # comment\n}\n", "node {\n name : \"a\"\n}\n", "node <\n>\n",
        'node {\n  input: ["a", "b"]\n}\n', 'node {\n  name: "a" "b"\n}\n', "versions {\n  producer: 0x10\n}\n",
        'node {\n  attr {\n    key: "f"\n    value {\n      f: 1.5f\n    }\n  }\n}\n', 'node\n{\n  name: "a"\n}',
    ],
)  # fmt: skip
def test_other_layouts_are_left_to_protobuf(text):
    assert serialize_printed(GraphDef.DESCRIPTOR, text) is None
    text_format.Parse(text, GraphDef())


@pytest.mark.parametrize(
    "edited",
    [
        lambda text: text.removesuffix("\n"), lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("  ", "\t"), lambda text: text.replace("  ", "    "), lambda text: text.replace("  ", ""),
        lambda text: f"# {{\n\n{text}# }}", lambda text: text.replace("\n", "\n  # of a line\n\n"),
        lambda text: text.replace(" {\n", ": {\n"), lambda text: text.replace(" {\n", "{\n"),
        lambda text: text.replace("\n", "  \n"), lambda text: f"\n \n{text}\n\t\n",
    ],
)  # fmt: skip
def test_what_editors_and_people_make_of_printed_text_is_read_too(edited):
    assert held_against_protobuf(edited(graph_text()))


def test_what_looks_like_a_comment_in_a_string_is_none():
    graph = GraphDef()
    graph.node.add(name="#a", op="{", input=["# }", "\n# b\n{"], device=" x ")
    assert held_against_protobuf(f"\n{text_format.MessageToString(graph)}")


@pytest.mark.slow
@pytest.mark.sampled(8)
@pytest.mark.filterwarnings("ignore:invalid escape sequence:DeprecationWarning")  # protobuf's
@pytest.mark.parametrize("seed", range(24))
def test_changed_text(seed):
    """After any change of the text, tfg parses the text as protobuf does or not at all."""
    draw = random.Random(seed)
    lines = graph_text().splitlines(keepends=True)
    for _ in range(30):
        changed = list(lines)
        at, other = draw.randrange(len(changed)), draw.randrange(len(changed))
        changed[at : at + draw.choice((0, 1, 1, 5))] = draw.choice(
            ([], [changed[other]], [changed[at][:-3]], ["  " + changed[at]])
        )
        text = "".join(changed)
        position = draw.randrange(len(text))
        text = draw.choice((text, text[:position] + draw.choice('\\"0{}\n .-x#\t\r:') + text[position + 1 :]))
        held_against_protobuf(text)
        assert graph_in(text) == graph_by_protobuf(text)


def graph_in(text):
    """The serialized graph in a text, and what is wrong with its nodes; or what is wrong with the text."""
    faults = []
    try:
        graph = graph_from_text(memoryview(text.encode()), faults)
    except TfgError as error:
        return str(error)
    return b"".join(graph_chunks(graph, lambda: graph)), list(map(str, faults))


def graph_by_protobuf(text):
    faults = []
    try:
        data = text_format.Parse(text, GraphDef()).SerializeToString()
    except text_format.ParseError as error:
        place, _, reason = str(error).partition(" : ")
        line, column = place.split(":")
        return shortened(f"line {line}, column {column} of the text: {reason}")
    try:
        graph = graph_from_bytes(memoryview(data), faults=faults)
    except TfgError as error:
        return str(error)
    return b"".join(graph_chunks(graph, lambda: graph)), list(map(str, faults))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_graphs_in_samples(path):
    assert graph_in(path.read_text()) == graph_by_protobuf(path.read_text())


@pytest.mark.parametrize("size", [1 << 4, 1 << 14, 1 << 17])
def test_large_nodes_among_small_ones(size):
    graph = GraphDef()
    for i in range(3):
        graph.node.add(name=f"a{i}", op="NoOp")
        graph.node.add(name=f"b{i}", op="Const").attr["value"].tensor.tensor_content = bytes(size)
        graph.node.add(name=f"c{i}", op="Op", input=[f"a{k}" for k in range(i)]).attr["s"].s = b"\n}\n"
    graph.versions.producer = 27
    text = text_format.MessageToString(graph)
    assert graph_in(text) == graph_by_protobuf(text)
    assert graph_in(f"\ufeff{text}") == graph_in(text)


def test_attributes_are_looked_into_once(monkeypatch):
    """Of nodes that differ in names only, those after the first are told by where their names stand."""
    graph = GraphDef()
    for i in range(500):
        graph.node.add(name=f"n{i}", op="Neg", input=["n0"], device="/cpu:0").attr["T"].type = 1
    read = []
    message = PrintedReader.message
    monkeypatch.setattr(PrintedReader, "message", lambda *given: read.append(given) or message(*given))
    scan = PrintedScan(memoryview(text_format.MessageToString(graph).encode()))
    assert len({id(attrs) for *_, attrs in scan.nodes()}) == 1
    assert len(read) == 2, "the attributes, and what comes behind the nodes"


def test_a_mistake_in_the_text_goes_before_one_of_a_node():
    node = 'node {\n  name: "a"\n  op: "NoOp"\n}\n'
    with pytest.raises(InvalidArgumentError, match="line 10, column 10"):
        load(f"{node}{node}node {{\n  input: 3\n}}\n".encode())
    with pytest.raises(InvalidArgumentError, match="two nodes have this name"):
        load(f"{node}{node}".encode())


def test_mistakes_are_named_by_line_and_column():
    text = 'node {\n  name: "a"\n  op: "NoOp"\n  input: 3\n}\n'
    with pytest.raises(InvalidArgumentError, match="line 4, column 10"):
        load(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        'node { name: "a" op: "NoOp" } ' * 100_000,
        "node {\n  node {\n" + "  node {\n" * 100_000,
        'node {\n  name: "a"\n' * 50_000,
        "a" * 5_000_000,
    ],
    ids=["one line", "lines that only begin", "messages without end", "one word"],
)
def test_text_of_another_layout_is_told_at_once(text):
    began = time.process_time()
    assert serialize_printed(GraphDef.DESCRIPTOR, text) is None
    assert time.process_time() - began < 5


def test_messages_very_deep_in_each_other_are_refused_at_once():
    began = time.process_time()
    with pytest.raises(TfgError):
        graph_from_text(memoryview(b"node {\n" + b"attr {\n" * 100_000))
    assert time.process_time() - began < 5
