"""GraphBuilder against TensorFlow's Python layer: the same construction gives the same NodeDefs."""

from __future__ import annotations

import pytest

from tests.core.transforms.test_freezing import VALUES, WAYS, X, built
from tfg import GraphBuilder
from tfg.core.transforms.freezing import freeze
from tfg.formats.saving import to_bytes

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.live
v1 = tf.compat.v1


def with_tfg():
    g = GraphBuilder()
    z, a = g.constant(1.0, name="z"), g.constant([2.0, 3.0], name="a")
    with g.control_dependencies([a, z]):
        g.Identity(z, name="r")
        with g.name_scope("s"):
            g.Identity(z)
    with g.name_scope("s"):
        g.MatMul([[1.0]], [[2.0]])
    g.Identity(z, name="S")
    for resource in (False, True):
        with g.name_scope("scope"), g.device("/job:w/task:1"):
            v = g.variable(2.0, resource=resource)
            with g.device("/gpu:1"):
                w = g.variable([1, 2], name="w", resource=resource)
            g.AddV2(v, v)
        with g.colocate_with(w):
            g.Neg(z, name="beside")
    g.global_variables_initializer()
    return g.graph


def with_tensorflow():
    with tf.Graph().as_default() as graph:
        z, a = tf.constant(1.0, name="z"), tf.constant([2.0, 3.0], name="a")
        with tf.control_dependencies([a, z]):
            tf.identity(z, name="r")
            with tf.name_scope("s"):
                tf.identity(z)
        with v1.name_scope("s"):
            tf.matmul([[1.0]], [[2.0]])
        tf.identity(z, name="S")
        for resource in (False, True):
            with v1.name_scope("scope"), v1.device("/job:w/task:1"):
                v = v1.Variable(2.0, use_resource=resource)
                with v1.device("/gpu:1"):
                    w = v1.Variable([1, 2], name="w", use_resource=resource)
                tf.raw_ops.AddV2(x=v, y=v)
            with v1.colocate_with(w.handle.op if resource else w.op):
                tf.negative(z, name="beside")
        v1.global_variables_initializer()
        return graph.as_graph_def()


def test_same_nodes():
    mine = v1.GraphDef.FromString(to_bytes(with_tfg()))
    theirs = with_tensorflow()
    assert [node.name for node in mine.node] == [node.name for node in theirs.node]
    for ours, node in zip(mine.node, theirs.node):
        assert ours == node, node.name


@pytest.mark.parametrize(("way", "expected"), WAYS, ids=lambda item: getattr(item, "__name__", ""))
def test_tensorflow_takes_what_freeze_writes(way, expected):
    frozen = freeze(built(way), VALUES, ["y:0"])
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        tf.import_graph_def(v1.GraphDef.FromString(to_bytes(frozen)), name="")
        assert session.run("y:0", {"x:0": X}).tolist() == expected.tolist()
