"""The values of a run by the nodes of a model, by the names of its author."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tests.functions import define
from tfg import GraphBuilder
from tfg.core.explaining.model_view import model_view
from tfg.core.explaining.node_activations import activations
from tfg.core.support.errors import UnimplementedError
from tfg.core.types.dtypes import from_numpy
from tfg.formats.api.prepared_sessions import opened

ROWS = np.array([[5.1, 3.5, 1.4, 0.2], [6.3, 3.3, 6.0, 2.5]], np.float32)


def values_of(graph, fetches, feeds, steps=1):
    return activations(model_view(graph), opened(graph), fetches, feeds, steps)


def test_each_value_is_what_a_fetch_of_the_node_returns():
    graph = tfg.load(SAMPLES / "keras_classifier")
    values = tfg.Model(graph).activations(measurements=ROWS)
    exposed, tensors = tfg.expose(graph, list(values)[1:])
    expected = tfg.Model(exposed, outputs=list(tensors.values()))(measurements=ROWS)
    for name, tensor in tensors.items():
        np.testing.assert_array_equal(values[name], expected[tensor], name)
    assert len(values) > 10 and next(iter(values)) == "measurements"


def test_layers_stand_for_their_outputs():
    model = tfg.Model(SAMPLES / "keras_classifier")
    values = model.activations(ROWS)
    np.testing.assert_array_equal(values["classes"], model(ROWS)["output_0"])
    assert values["hidden"] is values["sequential/hidden/Relu"] and "hidden" in values and "nowhere" not in values
    with pytest.raises(KeyError, match="unknown tensor 'hiden'"):
        values["hiden"]


def test_a_notebook_shows_a_table():
    values = tfg.Model(SAMPLES / "keras_classifier").activations(ROWS)
    records = {row["tensor"]: row for row in values.to_records()}
    hidden = values["hidden"]
    row = records["sequential/hidden/Relu"]
    assert (row["op"], row["shape"], row["count"], row["zeros"]) == ("Relu", "(2,8)", 16, int((hidden == 0).sum()))
    assert row["max"] == hidden.max() and "sequential/hidden/MatMul" in values._repr_html_()


def loop():
    """A loop that doubles x five times, with a node of the same name and op in condition and body."""
    g = GraphBuilder()
    define(g, "below", ["int32", "float32"], lambda b, i, x: [b.Less(b.AddV2(i, 0, name="same"), 5)])
    define(g, "double", ["int32", "float32"], lambda b, i, x: [b.AddV2(i, 1, name="same"), b.AddV2(x, x, name="twice")])
    x = g.Placeholder(dtype="float32", shape=[], name="x")
    g.StatelessWhile([np.int32(0), x], cond="below", body="double", name="loop")
    return g.graph


def test_bodies_of_loops_have_the_last_trip_and_the_number_of_trips():
    graph = loop()
    view = model_view(graph)
    _, values = activations(view, opened(graph), ["loop:1"], {"x:0": np.float32(3)}, 1)
    body, condition = (view.graph.functions[name].body for name in ("double", "below"))
    assert values["loop:1"] == 96 and values["loop/twice"] == 96
    runs = {name: values.by_node[node] for name, node in (("body", body["same"]), ("condition", condition["same"]))}
    assert [(run.runs, int(run.values[0])) for run in runs.values()] == [(5, 5), (6, 5)]
    assert values.by_node[body["a1"]].values[0] == 48, "what the last trip began with"


def test_branches_not_taken_have_no_values():
    g = GraphBuilder()
    for name, op in (("yes", "Neg"), ("no", "Exp")):
        define(g, name, ["float32"], lambda b, x, op=op: [getattr(b, op)(x, name="node")])
    x = g.Placeholder(dtype="float32", shape=[], name="x")
    g.StatelessIf(True, [x], then_branch="yes", else_branch="no", Tout=["float32"], name="chosen")
    view = model_view(g.graph)
    _, values = activations(view, opened(g.graph), ["chosen:0"], {"x:0": np.float32(3)}, 1)
    assert view.graph.functions["yes"].body["node"] in values.by_node
    assert view.graph.functions["no"].body["node"] not in values.by_node


def test_identities_and_other_outputs_have_values():
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[4], name="x")
    _, high = g.Split(0, x, num_split=2, name="split")
    g.Identity(g.Identity(high, name="inner"), name="y")
    _, values = values_of(g.graph, ["y:0"], {"x:0": np.arange(4, dtype=np.float32)})
    assert values["split:1"].tolist() == values["y"].tolist() == [2, 3] and values["split"].tolist() == [0, 1]


def test_values_are_those_of_the_last_step():
    g = GraphBuilder()
    count = g.VarHandleOp(shape=[], dtype="float32", shared_name="count")
    start = g.AssignVariableOp(count, np.float32(0), name="start")
    added = g.AssignAddVariableOp(count, np.float32(1), name="step")
    with g.control_dependencies([added]):
        g.ReadVariableOp(count, dtype="float32", name="value")
    g.graph.meta = None
    session = tfg.Session(g.graph)
    session.run(start.name)
    fetched, values = activations(model_view(g.graph, raw=True), session, ["value:0"], {}, 4)
    assert fetched == [4] and "value" not in values, "a weight"
    assert values.by_node[g.graph["value"]].values[0] == 4


class Elsewhere(tfg.Session):
    def run(self, fetches, feeds=None, *, hook=None):
        if hook is not None:
            raise UnimplementedError("no hook")
        return super().run(fetches, feeds)


def test_a_session_without_hooks_is_an_error():
    model = tfg.Model(SAMPLES / "keras_classifier", open_session=Elsewhere)
    assert model(ROWS)["output_0"].shape == (2, 3)
    with pytest.raises(UnimplementedError):
        model.activations(ROWS)


@pytest.mark.parametrize("dtype", [np.float16, np.int8, np.uint64, np.complex64, bool])
def test_every_dtype_passes(dtype):
    g = GraphBuilder()
    g.Identity(g.Placeholder(dtype=from_numpy(np.dtype(dtype)), shape=[None], name="x"), name="y")
    _, values = values_of(g.graph, ["y:0"], {"x:0": np.array([0, 1], dtype)})
    assert values["y"].dtype == dtype and [row.statistics.zeros for row in values.describe()] == [1, 1]
    _, values = values_of(g.graph, ["y:0"], {"x:0": np.array([], dtype)})
    assert values["x"].size == 0 and values.describe()[0].statistics.min is None


def test_strings_are_values():
    g = GraphBuilder()
    g.Identity(g.StringUpper(g.Placeholder(dtype="string", shape=[None], name="x"), name="upper"), name="y")
    _, values = values_of(g.graph, ["y:0"], {"x:0": np.array([b"a", b""], object)})
    assert values["upper"].tolist() == [b"A", b""]
