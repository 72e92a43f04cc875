"""Sparse and ragged inputs, fed by their name."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pytest

import tfg
from tests.cli.running import tfg as run
from tfg.core.graph.metagraph import MetaGraph, Signature, SignatureTensor
from tfg.core.support.errors import InvalidArgumentError


def taking(kind, dtype="float", ragged_rank=1):
    """A graph of the components of an input x, by the names of TensorFlow 1 or 2, and results of the components' names."""
    g = tfg.GraphBuilder()
    names, shapes, dtypes = {
        "sparse_1": (("x/indices", "x/values", "x/shape"), ([None, 2], [None], [2]), ("int64", dtype, "int64")),
        "sparse_2": (("x", "x_1", "x_2"), ([None, 2], [None], [2]), ("int64", dtype, "int64")),
        "ragged_1": (("x/flat_values", "x/row_splits_0", "x/row_splits_1"), [[None]] * 3, (dtype, "int64", "int64")),
        "ragged_2": (("x", "x_1", "x_2"), ([None], [None], [None]), (dtype, "int32", "int32")),
        "uniform": (("x", "x_1"), ([None, 2], [None]), (dtype, "int64")),
    }[kind]  # fmt: skip
    count = ragged_rank + 1 if kind.startswith("ragged") else len(names)
    placeholders = [g.Placeholder(dtype=own, shape=shape, name=n) for n, shape, own in zip(names[:count], shapes, dtypes)]
    parts = [g.Identity(value, name=f"part_{number}") for number, value in enumerate(placeholders)]
    g.IdentityN(parts, name="all")
    return g.graph, [f"part_{number}" for number in range(count)]


def called(kind, **options):
    """The graph as a model of Python; the names of TensorFlow 2 are those of a signature."""
    graph, parts = taking(kind, **options)
    if kind.endswith("1"):
        return tfg.Model(graph, outputs=parts)
    names = [node.name for node in graph if node.op == "Placeholder"]
    inputs = {name: SignatureTensor(f"{name}:0") for name in names}
    call = Signature("call", inputs, {part: SignatureTensor(f"{part}:0") for part in parts})
    graph.meta = MetaGraph(signatures={"call": call})
    return tfg.Model(graph, "call", outputs=parts)


def fed(kind, value, **options):
    """Return what the components get for a value."""
    return [part.tolist() for part in called(kind, **options)(x=value).values()]


def written(kind, folder):
    """Write the graph, a SavedModel for the names of TensorFlow 2; return the words that run it."""
    graph, parts = taking(kind)
    if kind.endswith("1"):
        tfg.save(graph, folder / "g.pb")
        return [folder / "g.pb", *(word for part in parts for word in ("--fetch", part))]
    model = folder / kind
    arguments = {node.name: f"{node.name}:0" for node in graph if node.op == "Placeholder"}
    tfg.save_model(graph, model, signatures={"call": (arguments, {part: f"{part}:0" for part in parts})})
    return [model, "--signature", "call"]


SPARSE = [
    ([[0, 1.5, 0], [2, 0, 0]], [[[0, 1], [1, 0]], [1.5, 2], [2, 3]]),
    ([[0, 1.5], [2, None, 3], []], [[[0, 1], [1, 0], [1, 2]], [1.5, 2, 3], [3, 3]]),
    (np.eye(2), [[[0, 0], [1, 1]], [1, 1], [2, 2]]),
    (([[0, 1]], [0.0], [2, 3]), [[[0, 1]], [0], [2, 3]]),
    ({"indices": [[0, 1]], "values": [4], "dense_shape": [2, 3]}, [[[0, 1]], [4], [2, 3]]),
    ([[0, 0]], [[], [], [1, 2]]),
    ([[], None], [[], [], [2, 0]]),
    (np.zeros((0, 3)), [[], [], [0, 3]]),
]  # fmt: skip
RAGGED = [
    (1, [[1, 2], [], [3]], [[1, 2, 3], [0, 2, 2, 3]]),
    (1, [[1, 2], None, [3, None]], [[1, 2, 3], [0, 2, 2, 3]]),
    (1, np.array([[1, 2], [3, 4]]), [[1, 2, 3, 4], [0, 2, 4]]),
    (1, ([1, 2, 3], [0, 1, 3]), [[1, 2, 3], [0, 1, 3]]),
    (1, [[]], [[], [0, 0]]),
    (2, [[[1], [2, 3]], [], [[]]], [[1, 2, 3], [0, 2, 2, 3], [0, 1, 3, 3]]),
    (2, {"flat_values": [1, 2], "nested_row_splits": [[0, 1], [0, 2]]}, [[1, 2], [0, 1], [0, 2]]),
]  # fmt: skip


@pytest.mark.parametrize("release", [1, 2])
@pytest.mark.parametrize(("value", "parts"), SPARSE)
def test_a_sparse_input_is_divided_into_components(release, value, parts):
    assert fed(f"sparse_{release}", value) == parts


@pytest.mark.parametrize("release", [1, 2])
@pytest.mark.parametrize(("rank", "value", "parts"), RAGGED)
def test_a_ragged_input_is_divided_into_components(release, rank, value, parts):
    assert fed(f"ragged_{release}", value, ragged_rank=rank) == parts


def test_other_dtypes_and_inner_dimensions():
    assert fed("sparse_2", [["", "a"], ["b", ""]], dtype="string") == [[[0, 1], [1, 0]], [b"a", b"b"], [2, 2]]
    assert fed("ragged_1", [["a"], ["b", ""]], dtype="string") == [[b"a", b"b", b""], [0, 1, 3]]
    assert fed("uniform", [[[1, 2]], [[3, 4], [5, 6]]]) == [[[1, 2], [3, 4], [5, 6]], [0, 1, 3]]
    assert fed("uniform", [[], []]) == [[], [0, 0, 0]]
    assert fed("ragged_1", []) == [[], [0]]
    assert fed("ragged_2", [[True], [False, True]], dtype="bool") == [[True, False, True], [0, 1, 3]]


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        ("sparse_2", [[[1]]], "lists of one depth"),
        ("sparse_1", np.ones((1, 2, 3)), "it has 2 dimensions, and the value has 3"),
        ("sparse_1", ([[0, 0]], [1]), "indices, values and shape, and 2 arrays"),
        ("ragged_1", [1, 2], "lists of lists"),
        ("ragged_2", [["a"], ["b"]], "not an array of float"),
        ("ragged_1", {"values": [1]}, "flat_values, nested_row_splits"),
        ("sparse_1", {"values": [1]}, "indices, values, dense_shape"),
    ],
)
def test_a_value_of_another_form_is_refused(kind, value, message):
    with pytest.raises(InvalidArgumentError, match=message):
        fed(kind, value)


def test_the_command_line_feeds_by_the_name(tmp_path):
    np.save(tmp_path / "x.npy", np.float32([[0, 2]]))
    for kind, given, parts in [
        ("sparse_1", json.dumps([[0, 1.5], [2, None]]), [[[0, 1], [1, 0]], [1.5, 2], [2, 2]]),
        ("sparse_1", f"@{tmp_path / 'x.npy'}", [[[0, 1]], [2], [1, 2]]),
        ("sparse_2", '{"indices": [[0, 1]], "values": [4], "dense_shape": [2, 3]}', [[[0, 1]], [4], [2, 3]]),
        ("ragged_1", "[[1, 2], [], [3]]", [[1, 2, 3], [0, 2, 2, 3]]),
        ("ragged_2", "ones(2,2)", [[1, 1, 1, 1], [0, 2, 4]]),
    ]:
        done = run("run", *written(kind, tmp_path), "--feed", f"x={given}", "--format", "json")
        assert done.code == 0, done.err
        assert [shown["value"] for shown in done.json["steps"][0]["values"]] == parts
    tfg.save(taking("ragged_1")[0], tmp_path / "g.pb")
    done = run("run", tmp_path / "g.pb", "--fetch", "part_0", "--feed", "x=[1, 2]")
    assert done.code == 1 and "--feed x: a ragged input takes lists of lists" in done.err and "[[1, 2], [3]]" in done.err


def test_inputs_with_numbers_in_their_names_stay_inputs(tmp_path):
    """Features and labels: the value is one of the first input alone, or the other input is fed, too."""
    graph, _ = taking("uniform")
    assert tfg.Model(graph, outputs="part_0")(x=[[1, 2]])["part_0"].tolist() == [[1, 2]]
    assert tfg.Model(graph, outputs="part_1")(x_1=[1])["part_1"].tolist() == [1]
    with pytest.raises(InvalidArgumentError, match="x_1"):  # without a signature they are no ragged tensor
        tfg.Model(graph, outputs=["part_0", "part_1"])(x=[[[1, 2]]])
    tfg.save(graph, tmp_path / "g.pb")
    assert "x=uniform(1,2)" in run("explain", tmp_path / "g.pb").out
    both = called("ragged_2")(x=[1, 2], x_1=[0, 2])
    assert both["part_0"].tolist() == [1, 2] and both["part_1"].tolist() == [0, 2]
    assert called("sparse_2")(x=[[1, 2]], x_1=[1], x_2=[2, 3])["part_0"].tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("kind", "example"),
    [
        ("sparse_1", "x=uniform(2,2)"),
        ("ragged_1", "x=uniform(2,2)"),
        ("ragged_2", "x=uniform(2,2)"),
        ("uniform", "x=uniform(2,2,2)"),
    ],
)
def test_the_next_command_feeds_the_whole_input(kind, example, tmp_path):
    commands = run("explain", written(kind, tmp_path)[0]).out.split("\nnext\n")[1].splitlines()
    words = shlex.split(commands[0])
    assert example in words and words.count("--feed") == 1
    assert run(*words[1:]).code == 0


def test_an_input_without_a_value_is_asked_for_as_a_whole(tmp_path):
    words = written("sparse_2", tmp_path)
    done = run("run", *words)
    assert done.code == 1 and "input 'x' of signature 'call' is not fed" in done.err and "--feed 'x=uniform(2,2)'" in done.err
    done = run("run", *words, "--feed", "x=[[0, 5]]", "--format", "json")
    assert done.json["steps"][0]["values"][1]["value"] == [5]
