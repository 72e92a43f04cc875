"""tf.Examples from features by name: of the types that the graph parses, also inside functions."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.cli.running import tfg as run
from tfg.core.runtime.session.readable_texts import serialized_examples
from tfg.core.support.errors import InvalidArgumentError
from tfg.formats.protos.example_pb2 import Example

ROW = {"age": [1.5, 2], "job": "cook", "count": -3}


def parsing(shape=(None,)):
    """A graph that parses two floats, a string and an integer, and takes other strings too."""
    g = tfg.GraphBuilder()
    texts = g.Placeholder(dtype="string", shape=shape, name="examples")
    none, keys = np.array([], object), np.array([b"age", b"job", b"count"], object)
    defaults = [np.float32([0, 0]), np.array([b"?"], object), np.int64([0])]
    parsed = g.ParseExampleV2(
        texts, none, none, keys, none, defaults, num_sparse=0, sparse_types=[], ragged_value_types=[],
        ragged_split_types=[], dense_shapes=[[2], [1], [1]], Tdense=["float", "string", "int64"],
    )  # fmt: skip
    for value, name in zip(parsed, ("ages", "jobs", "counts")):
        g.Identity(value, name=name)
    g.StringLength(g.Placeholder(dtype="string", name="text"), name="length")
    return g.graph


@pytest.mark.parametrize("rows", [[ROW], [ROW, {}], [{"job": b"\xff\0", "age": np.float32([1, 2]), "count": (1 << 63) - 1}]])
def test_a_row_is_an_example_of_the_types_that_the_graph_parses(rows):
    graph = parsing()
    texts = serialized_examples(graph, graph.output("examples:0"), rows)
    for text, row in zip(texts, rows, strict=True):
        features = Example.FromString(text).features.feature
        assert {name: features[name].WhichOneof("kind") for name in features} == {
            name: {"age": "float_list", "job": "bytes_list", "count": "int64_list"}[name] for name in row
        }
        if row is ROW:
            assert list(features["age"].float_list.value) == [1.5, 2] and list(features["count"].int64_list.value) == [-3]
            assert list(features["job"].bytes_list.value) == [b"cook"]


def test_a_model_takes_rows_of_features():
    model = tfg.Model(parsing(), outputs=["ages", "jobs", "counts"])
    result = {name: value.tolist() for name, value in model(examples=[ROW, {}]).items()}
    assert result == {"ages": [[1.5, 2], [0, 0]], "jobs": [[b"cook"], [b"?"]], "counts": [[-3], [0]]}


@pytest.mark.parametrize(("given", "jobs"), [
    ('examples=[{"job": "cook"}, {"job": ["maid"]}]', [["cook"], ["maid"]]),
    ('examples={"job": {"b64": "Y29vaw=="}}', [["cook"]]),
    ('{"examples": [{"job": "cook"}]}', [["cook"]]),
])  # fmt: skip
def test_feeds_take_features_as_json(given, jobs, tmp_path):
    tfg.save(parsing(), tmp_path / "g.pb")
    done = run("run", tmp_path / "g.pb", "--fetch", "jobs", "--feed", given, "--format", "json")
    assert done.code == 0 and done.json["steps"][0]["values"][0]["value"] == jobs, done.err


@pytest.mark.parametrize(("given", "message"), [
    ('examples=[{"jobs": "cook"}]', "--feed examples: the graph parses no feature 'jobs'"),
    ('examples=[{"count": 1.5}]', "--feed examples: feature 'count' takes int64, not 1.5"),
    ('examples=[{"age": true}]', "--feed examples: feature 'age' takes float, not True"),
    ('examples=[{"count": 9223372036854775808}]', "a value has more bits"),
    ('text=[{"age": 1}]', "no op parses it as Examples"),
])  # fmt: skip
def test_what_the_graph_does_not_parse_is_refused(given, message, tmp_path):
    tfg.save(parsing(), tmp_path / "g.pb")
    done = run("run", tmp_path / "g.pb", "--fetch", "jobs", "--feed", given)
    assert done.code == 1 and message in done.err


def test_a_scalar_input_takes_one_row():
    graph = parsing()
    graph.node("examples").set_attr("shape", tfg.Shape(()))
    text = serialized_examples(graph, graph.output("examples:0"), ROW)
    assert text.shape == () and "age" in Example.FromString(text.item()).features.feature
    with pytest.raises(InvalidArgumentError, match="no feature 'x'"):
        serialized_examples(graph, graph.output("examples:0"), {"x": 1})


def test_input_examples_are_those_of_saved_model_cli(tmp_path):
    """The graph tells the types of its own features; of other strings the values do."""
    tfg.save(parsing(), tmp_path / "g.pb")
    ask = ("run", tmp_path / "g.pb", "--format", "json", "--fetch")
    done = run(*ask, "ages", "--input-examples", 'examples=[{"age": [1, 2], "job": "cook"}, {}]')
    assert done.code == 0 and done.json["steps"][0]["values"][0]["value"] == [[1, 2], [0, 0]], done.err
    done = run(*ask, "text", "--input-examples", 'text={"a": [1, 2.5], "b": "c", "d": [3], "e": {"b64": "/w=="}}')
    (shown,) = done.json["steps"][0]["values"]
    model = tfg.Model(parsing(), outputs=["text"])
    (text,) = model(text=[{"a": [1, 2.5], "b": "c", "d": [3], "e": b"\xff"}])["text"]
    features = Example.FromString(text).features.feature
    assert list(features["a"].float_list.value) == [1, 2.5] and list(features["b"].bytes_list.value) == [b"c"]
    assert list(features["d"].int64_list.value) == [3] and list(features["e"].bytes_list.value) == [b"\xff"]
    assert shown["dtype"] == "string" and len(shown["value"]) == 1


@pytest.mark.parametrize(("given", "message"), [
    ("text=[1, 2]", "--input-examples text: it is not a list of objects"),
    ("text=cook", "--input-examples text: it is not a list of objects"),
    ('length=[{"age": 1}]', "--input-examples length: no op parses it as Examples"),
    ('text=[{"a": [1, "b"]}]', "feature 'a' takes string, not 1"),
    ('examples=[{"wage": 1}]', "--input-examples examples: the graph parses no feature 'wage'"),
    ('nothing=[{"a": 1}]', "no node 'nothing'"),
])  # fmt: skip
def test_input_examples_that_cannot_be_made_are_refused(given, message, tmp_path):
    tfg.save(parsing(), tmp_path / "g.pb")
    done = run("run", tmp_path / "g.pb", "--fetch", "length", "--input-examples", given)
    assert done.code == 1 and message in done.err


def test_input_examples_are_fed_in_each_run(tmp_path):
    tfg.save(parsing(), tmp_path / "g.pb")
    np.savez(tmp_path / "a.npz", text=np.array("four"))
    words = ("--input-examples", 'examples=[{"job": "cook"}]', "--fetch", "jobs", "--fetch", "length")
    for again in range(2):  # the second finds the results of the first
        done = run("run", tmp_path / "g.pb", "--each", tmp_path / "a.npz", "--feed", "text=@each:text", *words,
                   "--out-dir", tmp_path / "out")  # fmt: skip
        assert done.code == 0, (again, done.err)
    (path,) = (tmp_path / "out").glob("*.npz")
    with np.load(path) as results:
        assert any(value.tolist() == 4 for value in results.values())
