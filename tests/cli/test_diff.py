"""`tfg diff` of models that TensorFlow exported: equal where they are the same model, and every change is seen.

`exports.zip` was recorded by `tests.cli.record_exports`.
"""

from __future__ import annotations

import shutil
import zipfile

import numpy as np
import pytest

import tfg
from tests.cli.record_exports import ARCHIVE
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as command
from tfg.core.comparing.matching import GraphMatch
from tfg.core.graph.metagraph import MetaGraph, Signature, SignatureTensor
from tfg.core.types import dtypes
from tfg.core.types.tensors import Tensor
from tfg.formats.protos.graph_pb2 import FunctionDef, GraphDef


@pytest.fixture(scope="module")
def exports(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exports")
    with zipfile.ZipFile(ARCHIVE) as archive:
        archive.extractall(folder)
    return folder


SAME = [
    ("keras", "keras_again"),
    ("keras", "keras_rebuilt"),
    ("keras", "keras_elsewhere"),
    ("keras_again", "keras_elsewhere"),
    ("module", "module_again"),
    ("module_again", "module_elsewhere"),
    ("v1", "v1_again"),
    ("v1", "v1_elsewhere"),
]
"""Exports of the same model: twice in a process, built twice, and in another process."""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("pair", SAME, ids=" ".join)
def test_exports_of_one_model_are_equal(exports, pair):
    for before, after in (pair, pair[::-1]):
        done = command("diff", exports / before, exports / after)
        assert (done.code, done.out.endswith("the graphs are equal\n")) == (0, True), done.out


@pytest.mark.sampled(3)
@pytest.mark.parametrize("pair", SAME[:6], ids=" ".join)
def test_strict_names_see_the_numbers(exports, pair):
    done = command("diff", *(exports / name for name in pair), "--strict-names")
    assert done.code == 3


def test_other_weights_are_named_with_the_largest_difference(exports):
    """The recording added 0.25 to the first kernel."""
    done = command("diff", exports / "keras", exports / "keras_retrained")
    first = done.out.splitlines()[0]
    assert first.endswith("same graph, same signatures; 1 of 4 variables differ, largest difference 0.25")
    report = command("diff", exports / "keras", exports / "keras_retrained", "--format", "json").json
    assert [(v["name"], v["before"], v["largest_difference"]) for v in report["variables"]] == [
        ("sequential/hidden/kernel_1", "float (4,3)", pytest.approx(0.25))
    ]
    assert not (report["changed"] or report["functions_changed"] or report["signatures"])


def test_another_activation_is_one_node_added_and_one_removed(exports):
    result = tfg.diff(tfg.load(exports / "keras"), tfg.load(exports / "keras_tanh"))
    assert [[node.op for node in nodes] for nodes in (result.removed, result.added)] == [["Relu"], ["Tanh"]]
    assert not result.signatures and not result.functions_changed
    assert [change.op for change in result.changed] == ["MatMul"]


def test_raw_is_the_difference_of_the_files(exports):
    files = exports / "keras", exports / "keras_tanh"
    result = tfg.diff(*map(tfg.load, files), raw=True)
    (function,) = result.functions_changed
    assert [[node.op for node in nodes] for nodes in (function.removed, function.added)] == [["Relu"], ["Tanh"]]
    shown, raw = (command("diff", *files, *words).out for words in ((), ("--raw",)))
    assert function.name in raw and function.name not in shown


def test_what_no_view_shows_is_compared_as_well():
    """A function that no signature runs, and a node beside the signature's."""
    files = []
    for op in ("Neg", "Exp"):
        graph = calls(function("f", ("Abs", "")), function("g", (op, "")), callee="f")
        graph.add_node("aside", op, [graph["x"].output()], (), {"T": dtypes.float32})
        signature = Signature("serving_default", {"x": SignatureTensor("x:0")}, {"y": SignatureTensor("y:0")})
        graph.meta = MetaGraph(signatures={signature.name: signature})
        files.append(graph)
    result = tfg.diff(*files)
    assert [change.name for change in result.changed] == ["aside"]
    assert [change.name for change in result.functions_changed] == ["g"]
    assert tfg.diff(files[0], files[0].copy()).is_empty


def test_other_shapes_of_variables(exports):
    result = tfg.diff(tfg.load(exports / "keras"), tfg.load(exports / "keras_wider"))
    shapes = {(v.before, v.after) for v in result.variables}
    assert shapes == {("float (4,3)", "float (4,5)"), ("float (3)", "float (5)"), ("float (3,2)", "float (5,2)")}
    out = command("diff", exports / "keras", exports / "keras_wider").out
    assert out.index("\nvariables\n") < out.index("\nnodes\n") and "StatefulPartitionedCall" not in out
    raw = command("diff", exports / "keras", exports / "keras_wider", "--raw").out
    assert raw.index("by op") < raw.index("by scope") < raw.index("\nvariables\n") < raw.index("\nnodes\n")


def test_another_asset(exports):
    done = command("diff", exports / "module", exports / "module_asset")
    assert (done.code, done.out.splitlines()[0].endswith("same graph, same signatures; 1 asset differs")) == (3, True)
    assert ["words.csv", "changed"] in [line.split() for line in done.out.splitlines()]


def test_other_signatures(exports):
    result = tfg.diff(tfg.load(exports / "module"), tfg.load(exports / "module_signature"))
    changes = {s.name: (s.change, [str(change) for change in s.changes]) for s in result.signatures}
    assert changes["halve"] == ("added", [])
    assert changes["serving_default"] == (
        "changed",
        [
            "inputs.word: string () -> -",
            "outputs.rounds: int64 () -> -",
            "outputs.y: float (?) -> -",
            "outputs.output_0: - -> float (?)",
        ],
    )


def test_renumbered_nodes_match_by_what_they_compute(exports):
    """An earlier addition and conditional make TensorFlow number all later nodes and functions differently."""
    result = tfg.diff(tfg.load(exports / "v1_plain.pbtxt"), tfg.load(exports / "v1_renumbered.pbtxt"))
    assert not (result.removed or result.changed or result.functions_removed or result.functions_changed)
    assert {node.name for node in result.added} == {"Add", "Add/x", "Const", "cond", "cond/Identity"}
    assert len(result.functions_added) == 2


@pytest.mark.slow
def test_every_function_counts(exports):
    """A changed node is found in every function that the model's signatures call."""
    whole = tfg.load(exports / "module_again")
    changed = 0
    for name in whole.functions:
        other = tfg.load(exports / "module")
        match = GraphMatch(other, whole)
        own = next(mine for mine, theirs in match.functions.items() if theirs == name)
        if "traced_save" in own or "traced_restore" in own:
            continue
        body = other.functions[own].body
        node = next(node for node in body if not (node.is_argument or "f" in node.attrs))  # a view dissolves calls
        node.set_attr("_mark", 1)
        difference = tfg.diff(other, whole, raw=True)
        assert [function.name for function in difference.functions_changed] == [name]
        assert not tfg.diff(other, whole).is_empty
        changed += 1
    assert changed > 10


def test_a_constant_in_a_nested_function(exports):
    """`step` is called by the body of a loop in `serve`."""
    before, after = tfg.load(exports / "module"), tfg.load(exports / "module_again")
    name = next(name for name in after.functions if name.startswith("__inference_step"))
    node = next(n for n in after.functions[name].body if n.is_constant and n.attrs["value"].dtype.is_floating)
    node.set_attr("value", Tensor.from_numpy(node.attrs["value"].numpy() + np.float32(1)))
    difference = tfg.diff(before, after)
    (body,) = difference.functions_changed
    assert "body" in body.name and [change.changes[0].field for change in body.changed] == ["value"]
    raw = tfg.diff(before, after, raw=True)
    assert [(f.name, [c.changes[0].field for c in f.changed]) for f in raw.functions_changed] == [(name, ["value"])]


def function(name, *nodes):
    made = FunctionDef()
    made.signature.name = name
    made.signature.input_arg.add(name="a", type=1)
    made.signature.output_arg.add(name="r", type=1)
    last = "a"
    for number, (op, callee) in enumerate(nodes):
        node = made.node_def.add(name=f"n_{number}", op=op, input=[last])
        if callee:
            node.attr["f"].func.name = callee
            node.attr["Tin"].list.type.append(1)
            node.attr["Tout"].list.type.append(1)
            last = f"n_{number}:output:0"
        else:
            node.attr["T"].type = 1
            last = f"n_{number}:y:0"
    made.ret["r"] = last
    return made


def calls(*functions, callee):
    graph = GraphDef()
    graph.node.add(name="x", op="Placeholder").attr["dtype"].type = 1
    node = graph.node.add(name="y", op="PartitionedCall", input=["x"])
    node.attr["f"].func.name = callee
    node.attr["Tin"].list.type.append(1)
    node.attr["Tout"].list.type.append(1)
    graph.library.function.extend(functions)
    return tfg.load(graph.SerializeToString())


def mutual(one, two, op="Neg"):
    """Two functions that call each other, and a third that calls itself."""
    return calls(
        function(one, ("Neg", ""), ("PartitionedCall", two)),
        function(two, (op, ""), ("PartitionedCall", one), ("PartitionedCall", f"self_{one.rpartition('_')[2]}")),
        function(f"self_{one.rpartition('_')[2]}", ("PartitionedCall", f"self_{one.rpartition('_')[2]}"), ("Exp", "")),
        callee=one,
    )


def test_functions_that_call_each_other():
    before = mutual("even_1", "odd_2")
    assert tfg.diff(before, mutual("even_7", "odd_9")).is_empty
    assert not tfg.diff(before, mutual("even_7", "odd_9"), strict_names=True).is_empty
    changed = tfg.diff(before, mutual("even_7", "odd_9", "Abs"))
    assert [(f.name, [node.changes[0].field for node in f.changed]) for f in changed.functions_changed] == [("odd_9", ["op"])]


def test_functions_that_changed_places():
    """The user chose both names: the two functions exchange their bodies."""
    before = calls(function("f", ("Neg", "")), function("g", ("Exp", "")), callee="f")
    after = calls(function("f", ("Exp", "")), function("g", ("Neg", "")), callee="f")
    assert {f.name for f in tfg.diff(before, after).functions_changed} == {"f", "g"}


def test_the_callee_counts():
    """Both libraries have the same two functions; the graphs call different functions."""
    before = calls(function("call_1", ("Neg", "")), function("call_2", ("Exp", "")), callee="call_1")
    after = calls(function("call_3", ("Neg", "")), function("call_4", ("Exp", "")), callee="call_4")
    assert [change.changes[0].field for change in tfg.diff(before, after).changed] == ["f"]


def test_alike_functions_match_by_their_callers():
    """In the second graph TensorFlow numbered two equal branches in the other order."""

    def library(first, second, outer):
        return calls(
            function(first, ("Neg", "")),
            function(second, ("Neg", "")),
            function(outer, ("PartitionedCall", first), ("Exp", ""), ("PartitionedCall", second)),
            callee=outer,
        )

    assert tfg.diff(library("branch_1", "branch_2", "outer_3"), library("branch_9", "branch_8", "outer_5")).is_empty


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind, contents", [("data-*", None), ("data-*", POINTER), ("index", None), ("index", POINTER)])
def test_models_without_a_file_of_values_are_looked_at_as_far_as_they_go(tmp_path, kind, contents):
    """A repository often leaves the file out, or has a Git LFS pointer in its place. Each command says so once."""
    model = tmp_path / "model"
    shutil.copytree(SAMPLES / "scaler_saved_model", model)
    (missing,) = (model / "variables").glob(f"variables.{kind}")
    missing.unlink()
    if contents is not None:
        missing.write_bytes(contents)
    done = command("diff", model, SAMPLES / "scaler_saved_model")
    assert (done.code, done.err) == (3, "")  # nobody knows whether the values are equal
    assert "same graph, same signatures; variables not compared" in done.out
    assert "variables not compared: " in done.out and done.out.count(missing.name) == 1
    for name in ("check", "dump"):
        assert command(name, model).code == 0
    for name, *words in (["flops"], ["view", "-o", tmp_path / "out.html"], ["optimize", "-o", tmp_path / "out.pb"]):
        done = command(name, model, *words)
        assert done.code == 0 and done.err.count(missing.name) == 1
    assert command("draw", model, "-o", tmp_path / "out.svg").code == 0
    assert missing.name in command("optimize", model, "--save-model", tmp_path / "again").err
    facts = command("explain", model, "--format", "json").json
    assert missing.name in facts["variables_unread"]
    assert [line.split()[1] for line in facts["next_commands"]][:3] == ["layers", "draw", "check"]


@pytest.mark.parametrize("words", [("run", "--feed", "x=[[1,2]]"), ("convert", "frozen.pb", "--freeze"), ("checkpoint",)])
def test_an_error_for_values_that_are_not_there_says_what_needs_none(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    for kind in ("index", "data-00000-of-00001"):
        shutil.copytree(SAMPLES / "scaler_saved_model", kind)
        (tmp_path / kind / "variables" / f"variables.{kind}").unlink()
        done = command(words[0], kind, *words[1:])
        assert done.code == 1 and f"variables.{kind}' " in done.err and "`tfg layers`, `tfg draw`" in done.err


def test_choices_of_a_model_without_values_are_commands_that_need_none(tmp_path):
    shutil.copytree(SAMPLES / "scaler_saved_model", tmp_path / "model")
    (tmp_path / "model" / "variables" / "variables.index").unlink()
    done = command("run", tmp_path / "model")
    assert "variables.index' does not exist" in done.err
    assert [line.split()[1] for line in done.out.partition("\nnext\n")[2].splitlines()][:3] == ["layers", "draw", "check"]


def test_numbers_in_names_have_any_length(tmp_path):
    """A name is a stranger's text: Python refuses to read thousands of digits as a number."""
    for file, last in (("before", "8"), ("after", "9")):
        g = tfg.GraphBuilder()
        for stem in ("a_", "b_1/c_"):
            g.NoOp(name=stem + "9" * 5000 + last)
        tfg.save(g.graph, tmp_path / f"{file}.pb")
    assert command("diff", tmp_path / "before.pb", tmp_path / "after.pb").code == 0
