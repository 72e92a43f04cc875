"""Pages with the values of runs: of one input, of several, of two models."""

from __future__ import annotations

import base64
import io
import zlib

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run
from tests.functions import define
from tests.pages import NASTY, book_in
from tfg import GraphBuilder
from tfg.core.explaining.model_view import model_view
from tfg.core.support.errors import InvalidArgumentError
from tfg.core.support.escaping import printable_line
from tfg.core.types import dtypes
from tfg.core.types.tensors import Tensor
from tfg.formats.api.page_values import page_values

KERAS = SAMPLES / "keras_classifier"
ROWS = np.array([[5.1, 3.5, 1.4, 0.2], [6.3, 3.3, 6.0, 2.5]], np.float32)


def values_in(page):
    """The values of a page by node."""
    return {entry["name"]: entry["values"] for entry in book_in(page)["entries"] if "values" in entry}


def colours_in(page):
    """The numbers and texts that colour a page, by title and node."""
    book = book_in(page)
    names = [entry["name"] for entry in book["entries"]]
    return {overlay["title"]: {names[node]: value for node, value in overlay["values"]} for overlay in book["overlays"]}


def test_a_page_has_the_value_of_each_node():
    values = values_in(tfg.view(KERAS, feeds={"measurements": ROWS}, values=True).html)
    computed = tfg.Model(KERAS).activations(ROWS)
    for name, array in computed.items():
        (value,) = values[name]
        facts = dict(value["facts"])
        assert facts["min"] == f"{array.min():.6g}" and facts["zeros"] == str((array == 0).sum())
        file = io.BytesIO(zlib.decompress(base64.b64decode(value["npy"])))
        np.testing.assert_array_equal(np.load(file), array)
    assert values["sequential/hidden/Relu"][0]["picture"]["kind"] == "line", "two rows"
    assert values["sequential/hidden/kernel_1"][0]["picture"]["kind"] == "map"


def test_a_value_in_a_file_is_read_once():
    reads = []

    def read():
        reads.append("w")
        return np.arange(6, dtype=np.float32)

    g = GraphBuilder()
    g.Identity(g.VarHandleOp(shape=[6], dtype="float32", name="w"), name="y")
    notes = []
    values, _ = page_values(model_view(g.graph), lambda graph: {"w": Tensor(dtypes.float32, (6,), read)}, 1 << 20, notes)
    assert [value.holds for (value,) in values.values()] == ["float (6)"] and not notes
    assert reads == ["w"]


@pytest.mark.slow
def test_scores_are_shown_by_class():
    labels = ["setosa", NASTY[0], "virginica"]
    values = values_in(tfg.view(KERAS, feeds={"measurements": ROWS}, values=True, labels=labels).html)
    scores = tfg.Model(KERAS)(ROWS)["output_0"][0]
    best = [[printable_line(labels[i]), pytest.approx(float(scores[i]))] for i in np.argsort(-scores)]
    assert values["sequential/classes/Softmax"][0]["classes"] == best
    with pytest.raises(InvalidArgumentError, match="no value has a score for each of 2 labels"):
        tfg.view(KERAS, feeds={"measurements": ROWS}, values=True, labels=["a", "b"])


def nonfinite():
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[3], name="x")
    dead = g.Relu(x, name="dead")
    g.Tanh(g.AddV2(g.Log(x, name="log"), dead, name="sum"), name="y")
    return g.graph


def test_colours_tell_magnitudes_zeros_and_where_nan_begins():
    page = tfg.view(nonfinite(), feeds={"x": np.array([-3, -4, 0], np.float32)}, values=True).html
    colours = colours_in(page)
    assert colours["NaN and infinities"] == {"log": "begins here", "sum": "passed on", "y": "passed on"}
    assert colours["Share of zeros"]["dead"] == 1 and colours["Share of zeros"]["x"] == 0.3333
    assert colours["Magnitude"]["x"] == 2.887, "the root of 25 / 3"
    assert book_in(page)["colour"] == "NaN and infinities"
    assert "3 nodes returned NaN or infinities; they begin at 'log'" in book_in(page)["notes"]
    finite = tfg.view(nonfinite(), feeds={"x": np.ones(3, np.float32)}, values=True).html
    assert "NaN and infinities" not in colours_in(finite) and "colour" not in book_in(finite)


@pytest.mark.slow
def test_the_flops_of_a_layer_beside_the_values_of_all(tmp_path):
    out = tmp_path / "page.html"
    done = run("view", KERAS, "--values", "--feed", f"measurements={ROWS.tolist()}", "--fetch", "hidden", "-o", out)
    assert done.code == 0, done.err
    page = tfg.view(KERAS, "hidden", {"measurements": ROWS}, values=True).html
    assert values_in(page) == values_in(out.read_text()) and "sequential/classes/Softmax" in values_in(page)
    assert run("view", KERAS, "--values", "--feed", f"measurements={ROWS.tolist()}", "--fetch", "hiden").code == 1


def test_weights_do_not_count_as_dead_units():
    zeros = colours_in(tfg.view(KERAS, feeds={"measurements": ROWS}, values=True).html)["Share of zeros"]
    assert "sequential/hidden/Relu" in zeros and not any("bias" in name for name in zeros)


@pytest.mark.slow
def test_the_page_says_what_it_leaves_out():
    page = tfg.view(KERAS, feeds={"measurements": ROWS}, values=True, max_values=100).html
    values = [value for group in values_in(page).values() for value in group]
    held = sum(len(zlib.decompress(base64.b64decode(v["picture"]["pixels"]))) for v in values if "picture" in v)
    assert 0 < held <= 100 and not any("npy" in value for value in values) and sum("facts" in value for value in values) > 20
    (note,) = [note for note in book_in(page)["notes"] if note.startswith("the page holds")]
    assert "100 bytes of values" in note and "are left out, the largest" in note
    whole = tfg.view(KERAS, feeds={"measurements": ROWS}, values=True).html
    assert not any(note.startswith("the page holds") for note in book_in(whole)["notes"])


def test_loops_tell_their_trips():
    g = GraphBuilder()
    define(g, "below", ["int32"], lambda b, i: [b.Less(i, 5)])
    define(g, "more", ["int32"], lambda b, i: [b.AddV2(i, 1, name="next")])
    g.StatelessWhile([np.int32(0)], cond="below", body="more", name="loop")
    values = values_in(tfg.view(g.graph, "loop:0", values=True).html)
    assert [(values[name][0]["title"], values[name][0]["first"]) for name in ("loop", "next")] == [
        ("after 5 trips", "5"), ("the last of 5 runs", "5"),
    ]  # fmt: skip


@pytest.mark.slow
def test_several_inputs_stand_one_below_the_other(tmp_path):
    for name, row in (("first", ROWS[:1]), ("second", ROWS[1:])):
        np.save(tmp_path / f"{name}.npy", row)
    page = tfg.view(KERAS, values=True, each=str(tmp_path / "*.npy")).html
    titles = [value["title"] for value in values_in(page)["sequential/hidden/Relu"]]
    assert titles == ["first", "second"]
    out = tmp_path / "page.html"
    done = run("view", KERAS, "--values", "--each", tmp_path / "*.npy", "--feed", "measurements=@each", "-o", out)
    assert done.code == 0, done.err
    assert values_in(out.read_text()) == values_in(page)
    for i in range(17):
        np.save(tmp_path / f"{i}.npy", ROWS)
    assert "19 inputs are too many" in run("view", KERAS, "--values", "--each", tmp_path / "*.npy").err


def test_steps_come_before_the_values_that_are_shown(tmp_path):
    g = GraphBuilder()
    count = g.VariableV2(shape=[], dtype="float32", name="count")
    g.Assign(count, np.float32(3), name="start")
    g.AssignAdd(count, np.float32(1), name="step")
    tfg.save(g.graph, tmp_path / "graph.pb")
    page = tfg.view(g.graph, "step", values=True, steps=4).html
    assert [values_in(page)[name][0]["first"] for name in ("step", "count")] == ["7", "6"], "before the step"
    out = tmp_path / "page.html"
    done = run("view", tmp_path / "graph.pb", "--values", "--steps", "4", "--fetch", "step", "-o", out, "--init-op", "start")
    assert done.code == 0, done.err
    assert values_in(out.read_text()) == values_in(page)


def changed(scale):
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[2], name="x")
    g.Neg(
        g.Mul(g.Exp(x, name="exp"), g.Const(value=np.float32(scale), dtype="float32", name="scale"), name="scaled"), name="y"
    )
    return g.graph


def test_two_models_show_where_they_part(tmp_path):
    before, after = changed(2), changed(2.5)
    page = tfg.view(before, feeds={"x": np.zeros(2, np.float32)}, values=True, diff=after).html
    book = book_in(page)
    assert book["colour"] == "Values"
    assert colours_in(page)["Values"] == {"x": "agree", "exp": "agree", "scaled": "part here", "y": "differ since an input"}
    comparison = tfg.compare(before, after, feeds={"x:0": np.zeros(2, np.float32)}).nodes
    wanted = {row.tensor: row for row in comparison}["scaled:0"]
    changes = {entry["name"]: entry.get("changes", []) for entry in book["entries"][: book["panes"]["start"]]}
    told = f"differs by {wanted.largest_difference:.6g}; tolerance {wanted.tolerance_needed:.3g} would pass"
    assert ["value of 'scaled:0'", "", told] in changes["scaled"]
    assert [value["title"] for value in values_in(page)["scaled"]] == ["before", "after"]
    assert any(note == f"2 of 4 common values differ; the first is 'scaled:0': {told}" for note in book["notes"])
    same = tfg.view(before, feeds={"x": np.zeros(2, np.float32)}, values=True, diff=changed(2)).html
    assert "all 4 common values agree" in book_in(same)["notes"]


def test_two_saved_models_are_compared_by_their_layers():
    page = tfg.view(KERAS, feeds={"measurements": ROWS}, values=True, diff=KERAS).html
    assert set(colours_in(page)["Values"].values()) == {"agree"} and "sequential/hidden/Relu" in colours_in(page)["Values"]


@pytest.mark.parametrize("options", [["--feed", "x=1"], ["--labels", "l.txt"], ["--steps", "2"], ["--each", "*.npy"]])
def test_options_of_a_run_need_a_run(options):
    assert run("view", KERAS, *options).code == 2
