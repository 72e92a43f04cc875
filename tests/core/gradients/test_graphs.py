"""Gradients through calls, conditionals and loops of both kinds against TensorFlow's recorded ones; and live in TensorFlow."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

import tfg
from tfg.core.gradients import gradients
from tfg.formats import to_bytes

with np.load(pathlib.Path(__file__).with_name("recorded.npz")) as archive:
    RECORDED = {name: archive[name] for name in archive.files}
KEYS = sorted({name.split("/")[0] for name in RECORDED})
SOURCES = ("x:0", "k:0", "w:0", "r:0", "e:0", "er:0", "unused:0")


def run(session, names, feeds):
    if "init" in session.graph:
        session.run("init")
    return session.run(names, feeds)


def case(key):
    """The graph with tfg's gradients, their names, the feeds, and TensorFlow's gradients.

    Programs with variables are differentiated with respect to those too; one of them has no gradient.
    """
    feeds = {n.split("/")[2]: v for n, v in RECORDED.items() if n.startswith(f"{key}/feed/")}
    want = [RECORDED[f"{key}/grad/{i}"] for i in range(sum(n.startswith(f"{key}/grad/") for n in RECORDED))]
    graph = tfg.load(RECORDED[f"{key}/graph"].tobytes())
    sources = ("x:0", "w:0") if "t" in graph else SOURCES if "init" in graph else sorted(feeds)
    extended, names = gradients(graph, "y:0", sources, name="gradients_tfg")
    assert [source for source, name in zip(sources, names) if name is None] == [s for s in sources if s == "unused:0"]
    return extended, [name for name in names if name is not None], feeds, want


@pytest.mark.sampled(12)
@pytest.mark.parametrize("key", KEYS)
def test_recorded(key: str) -> None:
    graph, names, feeds, want = case(key)
    graph.check()
    got = run(tfg.Session(graph), names, feeds)
    assert len(got) == len(want)
    for a, b in zip(got, want):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.sampled(18)
@pytest.mark.parametrize("key", KEYS)
def test_the_graph_that_is_written_is_the_graph_that_runs(key: str) -> None:
    """Functions and attributes that tfg makes survive writing and reading."""
    graph, names, feeds, want = case(key)
    got = run(tfg.Session(tfg.load(to_bytes(graph))), names, feeds)
    for a, b in zip(got, want):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.live
@pytest.mark.sampled(2)
@pytest.mark.parametrize("key", KEYS)
def test_tensorflow_runs_tfgs_gradients(key: str) -> None:
    tf = pytest.importorskip("tensorflow")
    from tensorflow.core.protobuf import rewriter_config_pb2

    graph, names, feeds, want = case(key)
    definition = tf.compat.v1.GraphDef.FromString(to_bytes(graph))
    with tf.Graph().as_default() as imported:
        tf.graph_util.import_graph_def(definition, name="")
    config = tf.compat.v1.ConfigProto()
    # Its loop optimizer takes the saved stack of an inner loop for one that nothing pops.
    config.graph_options.rewrite_options.loop_optimization = rewriter_config_pb2.RewriterConfig.OFF
    with tf.compat.v1.Session(graph=imported, config=config) as session:
        if "init" in graph:
            session.run("init")
        got = session.run(names, feeds)
    for a, b in zip(got, want):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
