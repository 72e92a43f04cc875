"""Reading and writing GraphDefs: unchanged round trips, and named faults."""

import gzip
import io
import pathlib
import subprocess
import sys
import types

import numpy as np
import pytest

from tfg.core.graph.graph import Graph
from tfg.core.support.errors import DataLossError, InvalidArgumentError, NotFoundError, PermissionDeniedError
from tfg.core.types import dtypes
from tfg.core.types.shapes import Shape
from tfg.core.types.tensors import FuncRef, Placeholder, Tensor
from tfg.formats import load, save, to_bytes, to_text
from tfg.formats.graphdef import NodePrinter
from tfg.formats.protos.graph_pb2 import GraphDef

TEXT = """\
node {
  name: "a"
  op: "Const"
  attr {
    key: "dtype"
    value {
      type: DT_FLOAT
    }
  }
  attr {
    key: "value"
    value {
      tensor {
        dtype: DT_FLOAT
        tensor_shape {
          dim {
            size: 2
          }
        }
        float_val: 1.5
        float_val: -inf
      }
    }
  }
}
node {
  name: "b"
  op: "Foo"
  input: "c:1"
  input: "a"
  input: "^c"
  device: "/cpu:0"
  attr {
    key: "_class"
    value {
      list {
        s: "loc:@a"
      }
    }
  }
  attr {
    key: "empty"
    value {
      list {
      }
    }
  }
  attr {
    key: "f"
    value {
      func {
        name: "fn"
        attr {
          key: "T"
          value {
            placeholder: "U"
          }
        }
      }
    }
  }
  attr {
    key: "nothing"
    value {
    }
  }
  attr {
    key: "shape"
    value {
      shape {
        dim {
          size: -1
        }
        dim {
          size: 3
        }
      }
    }
  }
  attr {
    key: "text"
    value {
      s: "\\303\\251\\"\\000\\n"
    }
  }
  experimental_debug_info {
    original_node_names: "b0"
  }
}
node {
  name: "c"
  op: "Bar"
}
library {
}
versions {
  producer: 27
  min_consumer: 12
}
"""


def node_def(name, op="Foo", *inputs):
    spelled = "".join(f' input: "{text}"' for text in inputs)
    return f'node {{ name: "{name}" op: "{op}"{spelled} }}\n'


def test_text_round_trip_is_byte_exact():
    assert to_text(load(TEXT.encode())) == TEXT


def test_binary_round_trip_gives_the_same_message():
    data = to_bytes(load(TEXT.encode()))
    again = load(data)
    assert to_bytes(again) == data
    assert to_text(again) == TEXT
    assert GraphDef.FromString(data).node[1].experimental_debug_info.original_node_names == ["b0"]


def test_nodes_edges_and_versions():
    graph = load(TEXT.encode())
    b = graph["b"]
    assert [node.name for node in graph] == ["a", "b", "c"]
    assert [str(value) for value in b.inputs] == ["c:1", "a:0"]
    assert [control.name for control in b.control_inputs] == ["c"]
    assert (b.device, b.colocation) == ("/cpu:0", ("a",))
    assert str(graph.versions) == "producer 27, min consumer 12"


def test_attributes_are_plain_values():
    attrs = load(TEXT.encode())["b"].attrs
    assert list(attrs) == ["_class", "empty", "f", "nothing", "shape", "text"]
    assert attrs["_class"] == [b"loc:@a"]
    assert attrs["empty"] == []
    assert attrs["f"] == FuncRef("fn", {"T": Placeholder("U")})
    assert attrs["nothing"] is None
    assert str(attrs["shape"]) == "(?,3)"
    assert attrs["text"] == 'é"\0\n'.encode()
    assert attrs["text"] is attrs["text"]
    assert attrs.get("missing") is None and "missing" not in attrs
    with pytest.raises(KeyError):
        attrs["missing"]


def test_unknown_fields_survive():
    data = to_bytes(load(TEXT.encode()))
    # Field 99 of the GraphDef; then a node with a field 98 of its own.
    strange = data + b"\x9a\x06\x03xyz" + b"\x0a\x0d\x0a\x01z\x12\x03Foo\x92\x06\x02hi"
    graph = load(strange)
    assert graph["z"].op == "Foo"
    for encoded in (to_bytes(graph), to_bytes(graph.copy())):
        assert b"\x9a\x06\x03xyz" in encoded
        assert b"\x92\x06\x02hi" in encoded
    graph["z"].set_attr("n", 1)
    graph.set_inputs(graph["z"], [graph["a"].output()])
    assert b"\x92\x06\x02hi" in to_bytes(graph)


def test_changed_nodes_are_written_changed():
    graph = load(TEXT.encode())
    graph.rename_node(graph["c"], "d")
    graph["b"].set_attr("n", 3)
    graph["a"].device = "/gpu:0"
    nodes = {node.name: node for node in GraphDef.FromString(to_bytes(graph)).node}
    assert list(nodes["b"].input) == ["d:1", "a", "^d"]
    assert nodes["b"].attr["n"].i == 3
    assert nodes["b"].attr["text"].s == 'é"\0\n'.encode()
    assert nodes["a"].device == "/gpu:0"
    assert list(nodes["a"].attr["value"].tensor.float_val) == [1.5, float("-inf")]


def test_new_nodes_use_the_declared_types():
    graph = Graph()
    x = graph.add_node("x", "Placeholder", attrs={"dtype": dtypes.float32, "shape": Shape([None, 2])})
    graph.add_node("y", "LeakyRelu", [x.output()], [x], {"T": dtypes.float32, "alpha": 1})
    graph.add_node("z", "Odd", attrs={"a": True, "b": ["x", b"y"], "c": [1, 2.5], "d": np.int32(4), "e": None})
    text = NodePrinter().text(graph["y"])
    assert "f: 1.0" in text and 'input: "^x"' in text
    attrs = load(to_bytes(graph))["z"].attrs
    assert dict(attrs) == {"a": True, "b": [b"x", b"y"], "c": [1.0, 2.5], "d": 4, "e": None}


@pytest.mark.parametrize("value", [object(), [1, "a"], 1 << 70, {"a": 1}])
def test_values_that_no_attribute_holds(value):
    graph = Graph()
    graph.add_node("x", "Foo", attrs={"v": value})
    with pytest.raises(InvalidArgumentError, match="attribute 'v'") as error:
        to_bytes(graph)
    assert error.value.node == "x"


def test_nodes_in_any_order_and_loops():
    text = node_def("exit", "Exit", "merge") + node_def("next", "NextIteration", "merge")
    graph = load((text + node_def("merge", "Merge", "enter", "next") + node_def("enter", "Enter")).encode())
    assert [str(value) for value in graph["merge"].inputs] == ["enter:0", "next:0"]


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (node_def("a") + node_def("a"), "two nodes have this name", "unique"),
        (node_def("weights") + node_def("a", "Foo", "wieghts"), "input 'wieghts' names a node", "weights"),
        (node_def("a", "Foo", "^nope"), "input '\\^nope' names a node", None),
        (node_def("a", "Foo", ""), "input '' is malformed", "write inputs as"),
        (node_def("a", "Foo", "^"), "input '\\^' is malformed", "write inputs as"),
        (node_def("a") + node_def("b", "Foo", "^a", "a"), "comes after a control input", "to the end"),
    ],
)
def test_bad_edges_name_the_node(text, message, hint):
    with pytest.raises(InvalidArgumentError, match=message) as error:
        load(text.encode())
    assert error.value.node in ("a", "b")
    assert hint is None or hint in (error.value.hint or "")


def test_spelling_of_inputs_is_kept_where_nothing_changed():
    text = node_def("a") + node_def("b", "Foo", "a:0", "^a", "^a")
    graph = load(text.encode())
    assert list(GraphDef.FromString(to_bytes(graph)).node[1].input) == ["a:0", "^a", "^a"]


def test_bad_attribute_names_node_and_attribute():
    graph = load(b'node { name: "x" op: "Foo" attr { key: "T" value { type: 77 } } }')
    with pytest.raises(InvalidArgumentError, match="attribute 'T': 77 is no") as error:
        graph["x"].attrs["T"]
    assert error.value.node == "x"
    assert GraphDef.FromString(to_bytes(graph)).node[0].attr["T"].type == 77


def large_graph(size=1 << 18):
    graph = Graph()
    values = np.arange(size, dtype=np.float32)
    graph.add_node("w", "Const", attrs={"dtype": dtypes.float32, "value": Tensor.from_numpy(values)})
    graph.add_node("x", "Identity", [graph["w"].output()], attrs={"T": dtypes.float32})
    return graph, values


def test_large_constants_stay_in_the_file(tmp_path):
    graph, values = large_graph()
    path = tmp_path / "g.pb"
    save(graph, path)
    loaded = load(path)
    array = loaded["w"].attrs["value"].numpy()
    assert np.array_equal(array, values)
    assert not array.flags.owndata and not array.flags.writeable
    assert loaded["w"].source.contents.keys() == {"value"}
    assert len(loaded["w"].source.proto.SerializeToString()) < 1000
    assert to_bytes(loaded) == path.read_bytes()
    assert to_text(loaded) == to_text(graph)
    save(loaded, path)  # over the very file that the views lie in
    assert np.array_equal(load(path)["w"].attrs["value"].numpy(), values)


def test_large_constants_survive_changes(tmp_path):
    graph, values = large_graph()
    loaded = load(to_bytes(graph))
    loaded.rename_node(loaded["w"], "v")
    loaded["v"].set_attr("_extra", b"x")
    loaded.add_node("again", "Const", attrs={"dtype": dtypes.float32, "value": loaded["v"].attrs["value"]})
    again = load(to_bytes(loaded))
    for name in ("v", "again"):
        assert np.array_equal(again[name].attrs["value"].numpy(), values)
    assert again["x"].inputs[0].node.name == "v"


def test_gzip_and_byte_order_mark(tmp_path):
    graph = load(gzip.compress(TEXT.encode()))
    assert to_text(graph) == TEXT
    assert to_text(load(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode())) == TEXT
    save(graph, tmp_path / "a", gzip=True)
    save(graph, tmp_path / "b", gzip=True, text=True)
    assert (tmp_path / "a").read_bytes()[:2] == b"\x1f\x8b"
    assert to_text(load(tmp_path / "a")) == to_text(load(tmp_path / "b")) == TEXT
    first = (tmp_path / "a").read_bytes()
    save(graph, tmp_path / "a", gzip=True)
    assert (tmp_path / "a").read_bytes() == first


def test_standard_streams(monkeypatch):
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(TEXT.encode())))
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", types.SimpleNamespace(buffer=out))
    save(load("-"), "-", text=True)
    assert out.getvalue().decode() == TEXT


def test_missing_files_have_hints(tmp_path):
    (tmp_path / "graph.pbtxt").write_text(TEXT)
    with pytest.raises(NotFoundError, match=r"graph\.pb' does not exist") as error:
        load(tmp_path / "graph.pb")
    assert "graph.pbtxt" in str(error.value.hint)
    with pytest.raises(NotFoundError) as error:
        load(tmp_path / "nowhere" / "graph.pb")
    assert "does not exist either" in str(error.value.hint)


def test_nothing_is_written_where_writing_fails(tmp_path):
    graph = load(TEXT.encode())
    path = tmp_path / "g.pb"
    save(graph, path)
    before = path.read_bytes()
    graph["a"].set_attr("bad", object())
    with pytest.raises(InvalidArgumentError):
        save(graph, path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["g.pb"]
    with pytest.raises(NotFoundError):
        save(load(TEXT.encode()), tmp_path / "no" / "g.pb")


def test_unreadable_file(tmp_path, monkeypatch):
    path = tmp_path / "g.pb"
    path.write_text(TEXT)

    def refuse(*args, **kwargs):
        raise PermissionError

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(PermissionDeniedError):
        load(path)


def test_text_errors_name_line_and_column():
    with pytest.raises(InvalidArgumentError, match="line 3, column 3"):
        load(b'node {\n  name: "x"\n  nope: 1\n}\n')
    with pytest.raises(InvalidArgumentError, match="not UTF-8"):
        load(b'node { name: "\xff" }')


@pytest.mark.parametrize("depth", [60, 120, 1000])
def test_deep_nesting_is_refused(depth):
    head, tail = 'func { attr { key: "x" value { ' * depth, "}}}" * depth
    with pytest.raises((InvalidArgumentError, DataLossError)):
        load(f'node {{ name: "a" op: "b" attr {{ key: "x" value {{ {head} {tail} }} }} }}'.encode())


def test_truncation_says_where():
    data = to_bytes(load(TEXT.encode()))
    with pytest.raises(DataLossError, match="truncated"):
        load(data[:-30])


def test_duplicate_function_names():
    function = 'function { signature { name: "f" } attr { key: "a" value { i: %d } } }'
    with pytest.raises(InvalidArgumentError, match="two functions named 'f'"):
        load((node_def("a") + f"library {{ {function % 1} {function % 2} }}").encode())


@pytest.mark.slow
def test_reading_a_graph_does_not_import_numpy(tmp_path):
    path = tmp_path / "g.pbtxt"
    path.write_text(TEXT)
    script = (
        "import sys, tfg; g = tfg.load(sys.argv[1]); [n.attrs[k] for n in g for k in n.attrs];"
        "print(sorted({'numpy', 'graphviz', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    assert pathlib.Path(path).read_text() == TEXT
