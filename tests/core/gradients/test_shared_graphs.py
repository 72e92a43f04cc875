"""tfg's gradients of real graphs against tf.gradients of the same tensors, in TensorFlow and in tfg.

The graphs lie in ../shared/graphs beside the project; without them, or without TensorFlow, there is nothing to compare.
"""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import tfg
from tfg.core.gradients import gradients
from tfg.core.graph.graph import Graph
from tfg.core.graph.traversal import reachable
from tfg.formats import to_bytes

FOLDER = pathlib.Path(__file__).parents[4] / "shared" / "graphs"
pytestmark = [pytest.mark.live, pytest.mark.skipif(not FOLDER.exists(), reason="there is no ../shared/graphs")]

VARIABLES = ("VariableV2", "VarHandleOp")
TARGETS = {
    "mlp_adam": "loss:0",
    "lenet_momentum": "loss:0",
    "lstm_v1": "loss:0",
    "resnet50_train": "loss:0",
    "transformer_mini": "Identity:0",
}
# greedy_decode is not among them: all it returns are token numbers, which nothing differentiable leads to.


def load(name: str) -> tuple[Graph, dict[str, np.ndarray]]:
    """The graph, and the feeds of the last step of its trace that feeds anything."""
    folder = FOLDER / name
    graph = tfg.load(str(next(p for p in (folder / "graph.pb", folder / "graph.pbtxt") if p.exists())))
    with np.load(folder / "trace.npz") as archive:
        meta = json.loads(archive["meta"].tobytes())
        step = [s for s in meta["steps"] if s["feeds"]][-1]
        feeds = {
            tensor: np.frombuffer(archive[ref["key"]].tobytes(), ref["dtype"]).reshape(ref["shape"])
            for tensor, ref in step["feeds"].items()
        }
    return graph, feeds


def sources(graph: Graph, y: str) -> list[str]:
    """What y is differentiated with respect to: its variables, or some of the weights that were frozen to constants."""
    needed = reachable([graph.output(y).node])
    variables = [node.name for node in graph if node in needed and node.op in VARIABLES and node.attrs["dtype"].is_floating]
    weights = [
        node.name
        for node in graph
        if node in needed and node.op == "Const" and node.attrs["dtype"].is_floating and len(node.attrs["value"].shape) > 1
    ]
    return [f"{name}:0" for name in variables or weights[:6]]


def theirs_of(tf, imported, graph, y, xs):
    """TensorFlow's gradients: built now, or where imported loops keep it from that, those that the graph trains with."""
    if any(node.op == "Enter" for node in graph):
        updates = {node.inputs[0].name: node.inputs[-1].name for node in graph if node.op.startswith("Apply")}
        return [imported.get_tensor_by_name(updates[x]) for x in xs]
    grads = tf.gradients(imported.get_tensor_by_name(y), [imported.get_tensor_by_name(x) for x in xs], name="gradients_tf")
    with imported.as_default():
        return [tf.convert_to_tensor(grad) for grad in grads]


@pytest.mark.parametrize("name", TARGETS)
def test_as_tensorflow(name: str) -> None:
    tf = pytest.importorskip("tensorflow")
    y = TARGETS[name]
    graph, feeds = load(name)
    xs = sources(graph, y)
    extended, names = gradients(graph, y, xs, name="gradients_tfg")
    present = [(x, g) for x, g in zip(xs, names) if g is not None]
    with tf.Graph().as_default() as imported:
        tf.graph_util.import_graph_def(tf.compat.v1.GraphDef.FromString(to_bytes(extended)), name="")
        expected = theirs_of(tf, imported, graph, y, [x for x, _ in present])
    with tf.compat.v1.Session(graph=imported) as session:
        has_init = "init" in [op.name for op in imported.get_operations()]
        if has_init:
            session.run("init")
        theirs, ours = session.run([expected, [g for _, g in present]], feeds)
    assert len(theirs) == len(ours) > 0
    for a, b in zip(ours, theirs):
        scale = np.max(np.abs(b)) + 1e-12
        np.testing.assert_allclose(a / scale, b / scale, rtol=1e-3, atol=1e-4)
