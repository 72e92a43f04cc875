"""Printed text is serialized to what protobuf's own parser reads in it; all other text is left to that."""

import pathlib
import random

import pytest
from google.protobuf import text_format

from tfg.core.errors import InvalidArgumentError
from tfg.formats import load
from tfg.formats.printed_text import serialize_printed
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
    """True where the text was read, and is then what protobuf reads."""
    found = serialize_printed(message_type.DESCRIPTOR, text)
    if found is not None:
        assert message_type.FromString(found) == text_format.Parse(text, message_type())
    return found is not None


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


@pytest.mark.filterwarnings("ignore:invalid escape sequence:DeprecationWarning")  # protobuf's
@pytest.mark.parametrize("seed", range(40))
def test_changed_text(seed):
    """Whatever is done to a text, it is read as protobuf reads it or not at all."""
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


def test_mistakes_are_named_by_line_and_column():
    text = 'node {\n  name: "a"\n  op: "NoOp"\n  input: 3\n}\n'
    with pytest.raises(InvalidArgumentError, match="line 4, column 10"):
        load(text.encode())
