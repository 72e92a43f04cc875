"""Fed tensors: the allowed optimizations, and feeds that optimization makes needless."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.cli.running import tfg as run
from tfg.core.graph.metagraph import MetaGraph, Signature, SignatureTensor
from tfg.core.passes.pipeline import optimize
from tfg.core.types import dtypes
from tfg.core.types.shapes import Shape
from tfg.formats import load, to_bytes

FEEDS = {"x:0": np.float32(3), "z:0": np.float32(5), "w:0": np.float32(7), "rate:0": np.float32(9)}


def built():
    """y = (2 x) r, and a part that y does not need."""
    b = tfg.GraphBuilder()
    x, z = (b.Placeholder(dtype="float32", shape=[], name=name) for name in ("x", "z"))
    rate = b.PlaceholderWithDefault(np.float32(0.5), shape=[], name="rate")
    b.Mul(z, rate, name="w")
    four = b.AddV2(b.constant(np.float32(1), name="one"), np.float32(3))
    b.Mul(b.Mul(x, np.float32(2), name="double"), b.PlaceholderWithDefault(four, shape=[], name="r"), name="y")
    return b.graph


@pytest.mark.parametrize("needless", ["z:0", "w:0", "rate:0"])
def test_feeds_that_fetches_do_not_need_are_ignored_as_before(needless):
    before = built()
    for options in ({}, {"overridable": [needless]}, {"feeds": ["x:0"]}):
        after, _ = optimize(before, "y:0", **options)
        fed = {"x:0": FEEDS["x:0"], needless: FEEDS[needless]}
        for graph in (before, after, after.copy(), optimize(after, "y:0", ["x:0"])[0]):
            assert tfg.Session(graph).run("y:0", fed) == 24


def test_a_feed_that_the_fetches_needed_is_not_ignored():
    """Only declared tensors may be fed: the value of another tensor may be part of a constant by now."""
    after, _ = optimize(built(), "y:0", ["x:0"])
    with pytest.raises(tfg.errors.NotFoundError, match="no node 'one'"):
        tfg.Session(after).run("y:0", {"x:0": np.float32(3), "one:0": np.float32(2)})
    with pytest.raises(tfg.errors.NotFoundError, match="no node 'q'"):
        tfg.Session(after).run("y:0", {"x:0": np.float32(3), "q:0": np.float32(1)})
    after, _ = optimize(built(), "y:0", ["x:0"], overridable=["r:0"])
    assert tfg.Session(after).run("y:0", {"x:0": np.float32(3), "r:0": np.float32(1)}) == 6


def test_a_written_graph_does_not_remember():
    after = load(to_bytes(optimize(built(), "y:0", ["x:0"])[0]))
    with pytest.raises(tfg.errors.NotFoundError, match="no node 'z'"):
        tfg.Session(after).run("y:0", {"x:0": np.float32(3), "z:0": np.float32(1)})


def test_the_command_line_names_them(tmp_path):
    path, out = tmp_path / "g.pb", tmp_path / "fast.pb"
    path.write_bytes(to_bytes(built()))
    maybe = ("--overridable", "r:0", "--overridable", "z:0")
    done = run("optimize", path, "--fetch", "y", "--fed", "double:0", *maybe, "-o", out)
    assert done.code == 0, done.err
    after = load(out)
    assert "x" not in after
    assert tfg.Session(after).run("y:0", {"double:0": np.float32(3), "r:0": np.float32(1)}) == 3
    assert "no node 'nothing'" in run("optimize", path, "--fetch", "y", "--overridable", "nothing:0").err


def test_a_placeholder_of_which_only_the_shape_counts_may_still_be_fed():
    b = tfg.GraphBuilder()
    b.Shape(b.Placeholder(dtype="float32", shape=[2, 3], name="x"), name="y")
    for options in ({}, {"feeds": ["x:0"]}):
        after, _ = optimize(b.graph, "y:0", **options)
        assert not after["y"].inputs
        assert tfg.Session(after).run("y:0", {"x:0": np.ones((2, 3), np.float32)}).tolist() == [2, 3]


def test_inputs_of_signatures_stay_where_the_outputs_ignore_them():
    b = tfg.GraphBuilder()
    x, _ = (b.Placeholder(dtype="float32", shape=[], name=name) for name in ("x", "unread"))
    b.Mul(x, np.float32(2), name="y")
    graph = b.graph
    tensors = [SignatureTensor(f"{name}:0", dtypes.float32, Shape([])) for name in ("x", "unread", "y")]
    signature = Signature("serving_default", dict(zip(("x", "unread"), tensors, strict=False)), {"y": tensors[2]})
    graph.meta = MetaGraph(signatures={"serving_default": signature})
    assert tfg.Model(optimize(graph)[0])(x=3, unread=5)["y"] == 6
