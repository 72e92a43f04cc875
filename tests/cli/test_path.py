"""`tfg path` and `tfg.path`: whether a node reaches another, and by which nodes."""

from __future__ import annotations

import pytest

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run
from tfg.core.support.errors import InvalidArgumentError, NotFoundError

CLASSIFIER = SAMPLES / "keras_classifier"


@pytest.fixture(scope="module")
def graph():
    """A split with readers of both halves, and a node that waits for a check of one."""
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float", shape=[4], name="x")
    left, right = g.Split(0, x, num_split=2, name="split")
    far = g.Exp(left, name="far")
    long = g.Add(g.Neg(far, name="neg"), g.Square(right, name="square"), name="long")
    with g.control_dependencies([g.Assert(True, [right], name="assert")]):
        g.NoOp(name="after")
    g.Add(far, long, name="y")
    return g.graph


def names(path):
    return [step.name for step in path.steps]


def test_a_shortest_path_and_all_nodes_between(graph):
    path = tfg.path(graph, "x", "y")
    assert names(path) == ["x", "split", "far", "y"]
    assert [step.reads for step in path.steps] == [None, "x:0", "split:0", "far:0"]
    assert path.between == ("split", "far", "neg", "square", "long")
    assert path.reaches and not path.waits


def test_a_tensor_starts_at_its_own_readers(graph):
    assert names(tfg.path(graph, "split:1", "y")) == ["split", "square", "long", "y"]
    assert not tfg.path(graph, "split:1", "far").reaches
    assert tfg.path(graph, "split", "far").reaches


def test_order_counts_where_no_data_leads_there(graph):
    path = tfg.path(graph, "x", "after")
    assert path.waits and [(step.name, step.reads) for step in path.steps[-2:]] == [("assert", "split:1"), ("after", None)]
    assert "by order alone" in path.headline()


def test_the_other_direction_is_told(graph):
    path = tfg.path(graph, "y", "x")
    assert not path.reaches and path.is_reverse and path.headline() == "y does not reach x, but x reaches y"
    assert not tfg.path(graph, "y", "after").is_reverse
    assert names(tfg.path(graph, "y", "y")) == ["y"]


def test_names_that_are_not_there_and_no_outputs(graph):
    with pytest.raises(NotFoundError, match="no layer or node 'fra'"):
        tfg.path(graph, "fra", "y")
    with pytest.raises(InvalidArgumentError, match="output 7"):
        tfg.path(graph, "split:7", "y")
    assert tfg.path(graph, "x", "assert").reaches


def test_layers_arguments_and_nodes_of_the_file():
    model = tfg.load(CLASSIFIER)
    path = tfg.path(model, "hidden", "output_0")
    assert names(path)[0] == "sequential/hidden/Relu" and names(path)[-1] == "sequential/classes/Softmax"
    in_file = tfg.path(model, "measurements", "output_0", raw=True)
    assert names(in_file) == ["serving_default_measurements", "StatefulPartitionedCall_1"]
    assert tfg.path(model, "saver_filename", "StatefulPartitionedCall_2").reaches  # no signature runs them


def test_nodes_of_a_function():
    model = tfg.load(CLASSIFIER)
    save, restore = (next(name for name in model.functions if word in name) for word in ("_save", "_restore"))
    path = tfg.path(model, f"{save}/file_prefix", f"{save}/MergeV2Checkpoints")
    assert names(path)[-1] == "MergeV2Checkpoints"
    with pytest.raises(NotFoundError, match="no layer or node"):
        tfg.path(model, f"{save}/file_prefix", f"{restore}/file_prefix")


def test_the_command_line():
    done = run("path", CLASSIFIER, "hidden", "output_0")
    assert done.code == 0 and "sequential/classes/Softmax" in done.out
    assert run("path", CLASSIFIER, "output_0", "hidden", "--quiet").code == 3
    listed = run("path", CLASSIFIER, "hidden", "output_0", "--all", "--format", "csv").out.split()
    assert listed[:2] == ["node", "sequential/hidden/Relu"] and len(listed) == 7
    assert run("reaches", CLASSIFIER, "hidden", "output_0").code == 0
