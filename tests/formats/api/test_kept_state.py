"""Each kind of state passes each way through files with equal results."""

from __future__ import annotations

import dataclasses
import pathlib

import numpy as np
import pytest

import tfg
from tests.cli.running import tfg as run
from tfg.core.graph.table_fills import iterator_starts, table_fills
from tfg.core.graph.traversal import reachable
from tfg.core.registry.op_facts import ops_with
from tfg.core.runtime.session.runner import Runner
from tfg.core.support.errors import UnimplementedError
from tfg.core.types.shapes import Shape
from tfg.formats.saving import save
from tfg.formats.state import check_state, read_graph_state, write_state

WORDS = np.array([b"b", b"q"], object)
NUMBERS = np.int64([1, 2])
FEEDS = {"w:0": np.array([b"q", b"z", b"b"], object)}


def variable(b, words):
    made = b.variable(np.float32([1, 2]), "v")
    return b.Neg(made.value), made.initializer


def resource_variable(b, words):
    made = b.variable(np.float32([1, 2]), "v", resource=True)
    return b.Neg(made.value), made.initializer


def strings(b, words):
    made = b.variable(np.array([b"x", b"\xff"], object), "v", dtype="string")
    return b.StringLength(made.value), made.initializer


def lists(b, words):
    """A variable that holds a list of tensors: one unset, two of different sizes."""
    handle = b.VarHandleOp(dtype="variant", shape=[], shared_name="v", name="v")
    made = b.TensorListReserve(np.int32(-1), np.int32(3), element_dtype="float32", shape_type="int32")
    for index, element in ((0, [1, 2]), (2, [3])):
        made = b.TensorListSetItem(made, np.int32(index), np.float32(element))
    read = b.ReadVariableOp(handle, dtype="variant")
    sizes = enumerate(([2], [1], [1]))
    items = [b.TensorListGetItem(read, np.int32(i), np.int32(size), element_dtype="float32") for i, size in sizes]
    return b.ConcatV2(items, 0), b.AssignVariableOp(handle, made)


def static(b, words):
    table = b.HashTableV2(key_dtype="string", value_dtype="int64", name="t")
    return b.LookupTableFindV2(table, words, np.int64(-1)), b.InitializeTableV2(table, WORDS, NUMBERS)


def static_by_reference(b, words):
    table = b.HashTable(key_dtype="string", value_dtype="int64", name="t")
    return b.LookupTableFind(table, words, np.int64(-1)), b.InitializeTable(table, WORDS, NUMBERS)


def mutable(b, words):
    table = b.MutableHashTableV2(key_dtype="string", value_dtype="int64", name="t")
    return b.LookupTableFindV2(table, words, np.int64(-1)), b.LookupTableInsertV2(table, WORDS, NUMBERS)


def mutable_by_reference(b, words):
    table = b.MutableHashTable(key_dtype="string", value_dtype="int64", name="t")
    return b.LookupTableFind(table, words, np.int64(-1)), b.LookupTableInsert(table, WORDS, NUMBERS)


def vectors(b, words):
    table = b.MutableHashTableOfTensorsV2(key_dtype="int64", value_dtype="float32", value_shape=[2], name="t")
    keys = b.Cast(b.StringLength(words), DstT="int64")
    rows = np.float32([[1, 2], [3, 4]])
    return b.LookupTableFindV2(table, keys, np.float32([0, 0])), b.LookupTableInsertV2(table, NUMBERS, rows)


def vectors_by_reference(b, words):
    table = b.MutableHashTableOfTensors(key_dtype="string", value_dtype="float32", value_shape=[2], name="t")
    rows = np.float32([[1, 2], [3, 4]])
    return b.LookupTableFind(table, words, np.float32([0, 0])), b.LookupTableInsert(table, WORDS, rows)


def dense(b, words):
    reserved = np.array(b"", object), np.array(b"-", object)
    table = b.MutableDenseHashTableV2(*reserved, value_dtype="int64", initial_num_buckets=8, name="t")
    return b.LookupTableFindV2(table, words, np.int64(-1)), b.LookupTableInsertV2(table, WORDS, NUMBERS)


def iterator(b, words):
    """The first element: an iterator begins anew in each session."""
    types = {"output_types": ["float32"], "output_shapes": [Shape((2,))]}
    made = b.IteratorV2(**types, shared_name="", container="", name="i")
    rows = b.TensorSliceDataset([np.float32([[1, 2], [3, 4]])], Toutput_types=["float32"], output_shapes=[Shape((2,))])
    return b.IteratorGetNext(made, **types)[0], b.MakeIterator(rows, made)


KINDS = (
    variable, resource_variable, strings, lists, static, static_by_reference, mutable, mutable_by_reference, vectors,
    vectors_by_reference, dense, iterator,
)  # fmt: skip
ANEW = {"OneShotIterator", "Iterator"}
"""Other forms of iterators, which begin by themselves, and the form of TensorFlow 1.4."""
REFUSED = {
    ".safetensors": {strings, lists, mutable, mutable_by_reference, vectors_by_reference, dense},
    ".npz": {lists},
    ".ckpt": set(),
}
"""The kinds that a file lacks: safetensors has no texts, and only TensorFlow's checkpoints have lists."""


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def kind(request):
    return request.param


def filled(kind):
    """Return a graph, a session in which its state is filled, and the result."""
    b = tfg.GraphBuilder()
    value, fill = kind(b, b.Placeholder(dtype="string", shape=[None], name="w"))
    b.Identity(value, name="y")
    session = tfg.Session(b.graph)
    session.run(fill.name.partition(":")[0])
    return b.graph, session, session.run("y:0", FEEDS).tolist()


def result(session):
    has_words = "w" in session.graph
    return session.run("y:0", FEEDS if has_words else {}).tolist()


def initialized(graph):
    session = tfg.Session(graph)
    for node in (*table_fills(graph), *iterator_starts(graph).values()):
        session.run(node.name)
    return session


@pytest.mark.slow
def test_each_op_with_a_state_has_a_kind():
    # Variable is the first version of VariableV2, TensorFlow has no kernel of MutableDenseHashTable, and the state of
    # TemporaryVariable ends with the run.
    # Ensembles of trees and boundaries of buckets are kept in tests/core/ops/test_boosted_trees.py.
    states = set(ops_with("owns_state")) - {"TemporaryVariable", "Variable", "MutableDenseHashTable", *ANEW}
    states -= {"BoostedTreesEnsembleResourceHandleOp", "BoostedTreesQuantileStreamResourceHandleOp"}
    made = {node.op for kind in KINDS for node in filled(kind)[0]}
    assert {op for op in states if not op.startswith("Anonymous")} <= made


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["state.ckpt", "state.npz", "state.safetensors"])
def test_a_file_of_values(kind, name, tmp_path):
    graph, session, expected = filled(kind)
    state = Runner(session).state()
    if kind in REFUSED[pathlib.Path(name).suffix]:
        with pytest.raises(UnimplementedError, match=r" '[tv]' "):
            check_state(tmp_path / name, graph)
        return
    check_state(tmp_path / name, graph)
    other = initialized(graph)
    if state:
        write_state(tmp_path / name, state, graph=graph)
        tfg.restore(other, read_graph_state(tmp_path / name, graph))
    assert result(other) == expected


def test_a_saved_model(kind, tmp_path):
    graph, session, expected = filled(kind)
    tfg.save_model(graph, tmp_path / "m", state=session, signatures={"serving_default": ({}, {"y": "y:0"})})
    assert result(tfg.Session(tfg.load(tmp_path / "m"))) == expected


def test_a_saved_model_of_a_part(kind, tmp_path):
    graph, session, expected = filled(kind)
    part = tfg.extract(graph, "y:0")
    tfg.save_model(part, tmp_path / "m", state=session, signatures={"serving_default": ({}, {"y": "y:0"})})
    assert result(tfg.Session(tfg.load(tmp_path / "m"))) == expected


def test_a_frozen_graph(kind, tmp_path):
    graph, session, expected = filled(kind)
    if kind is lists:
        with pytest.raises(UnimplementedError, match="variable 'v' holds lists or other objects"):
            tfg.freeze(graph, session, "y:0")
        return
    save(tfg.freeze(graph, session, "y:0"), tmp_path / "f.pb")
    assert result(initialized(tfg.load(tmp_path / "f.pb"))) == expected


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not lists], ids=lambda kind: kind.__name__)
def test_a_frozen_saved_model(kind, tmp_path):
    graph, session, expected = filled(kind)
    frozen = tfg.freeze(graph, session, "y:0")
    tfg.save_model(frozen, tmp_path / "m", signatures={"serving_default": ({}, {"y": "y:0"})})
    assert result(tfg.Session(tfg.load(tmp_path / "m"))) == expected


@pytest.mark.sampled(4)
def test_a_saved_model_written_again_in_each_way(kind, tmp_path):
    graph, session, expected = filled(kind)
    original = tmp_path / "m"
    tfg.save_model(graph, original, state=session, signatures={"serving_default": ({}, {"y": "y:0"})})
    ways = {
        "convert": ("convert", original, tmp_path / "convert/"),
        "part": ("convert", original, tmp_path / "part/", "--to", "y"),
        "freeze": ("convert", original, tmp_path / "freeze/", "--freeze"),
        "optimize": ("optimize", original, "--save-model", tmp_path / "optimize"),
        "run": ("run", original, "--feed", 'w=["q"]', "--fetch", "y", "--save-model", tmp_path / "run"),
    }
    for way, words in ways.items():
        outcome = run(*words, *(("--kind", "saved_model") if words[0] == "convert" else ()))
        if kind is lists and way == "freeze":
            assert outcome.code == 1 and "variable 'v' holds lists or other objects" in outcome.err
            continue
        assert outcome.code == 0, (way, outcome.err)
    original.rename(tmp_path / "gone")
    written = [way for way in ways if (tmp_path / way).exists()]
    assert {way: result(tfg.Session(tfg.load(tmp_path / way))) for way in written} == dict.fromkeys(written, expected)


@pytest.mark.parametrize("kind", [mutable, mutable_by_reference, dense], ids=lambda kind: kind.__name__)
def test_a_table_that_changes_after_freezing_is_saved_as_it_is(kind, tmp_path):
    graph, session, _ = filled(kind)
    insert = next(node.name for node in graph if "Insert" in node.op)
    frozen = tfg.freeze(graph, session, ["y:0", insert])
    again = initialized(frozen)
    again.run(insert, {frozen.node(insert).inputs[2]: np.int64([5, 6])})
    expected = again.run("y:0", FEEDS).tolist()
    assert expected == [6, -1, 5]
    tfg.save_model(frozen, tmp_path / "m", state=again, signatures={"serving_default": ({}, {"y": "y:0"})})
    assert result(tfg.Session(tfg.load(tmp_path / "m"))) == expected


@pytest.mark.parametrize(("kind", "words"), [(mutable, "1 table"), (variable, "1 variable")])
def test_the_notes_count_variables_and_tables(kind, words, tmp_path):
    graph, session, _ = filled(kind)
    tfg.save_model(graph, tmp_path / "m", state=session, signatures={"serving_default": ({}, {"y": "y:0"})})
    assert f"saved {words} to" in run("run", tmp_path / "m", "--save-state", tmp_path / "s.ckpt").err
    assert f"lacks the values of its {words}:" in run("convert", tmp_path / "m", tmp_path / "g.pb").err
    frozen = run("convert", tmp_path / "m", tmp_path / "f.pb", "--freeze").err
    assert "lacks" not in frozen and ("fills the tables" in frozen) == (kind is mutable)


def test_the_position_of_an_iterator_is_named_and_left_out(tmp_path):
    """TensorFlow's Saver keeps positions, which only the program reads that wrote them."""
    graph, session, _ = filled(iterator)
    b = tfg.GraphBuilder(graph)
    made = b.variable(np.float32(5), "v")
    b.AddV2(graph.output("y:0"), made.value, name="sum")
    session = tfg.Session(graph)
    session.run(["MakeIterator", made.initializer.name])
    signatures = {"serving_default": ({}, {"y": "sum:0"})}
    tfg.save_model(graph, tmp_path / "m", state=session, signatures=signatures)
    whole = tfg.load(tmp_path / "m")
    b, saver = tfg.GraphBuilder(whole), whole.meta.saver
    names, slices = np.array([b"i_STATE"], object), np.array([b""], object)
    position = b.RestoreV2(whole.output(saver.filename_tensor), names, slices, dtypes=["variant"])[0]
    whole.add_control_input(whole.node(saver.restore_op), b.DeserializeIterator(whole.output("i:0"), position))
    whole.meta = dataclasses.replace(whole.meta, folder=None, variables_prefix=None)
    save(whole, tmp_path / "whole.meta")
    write_state(tmp_path / "s.npz", {"v": tfg.Tensor.from_numpy(np.float32(7))}, graph=whole)
    words = ("run", tmp_path / "whole.meta", "--init", "--state", tmp_path / "s.npz", "--fetch", "sum")
    for option, name in (("--save-state", "t.npz"), ("--save-model", "n")):
        outcome = run(*words, option, tmp_path / name)
        assert "; 1 iterator position not kept: i" in outcome.err, (outcome.out, outcome.err)
    written = tfg.load(tmp_path / "n")
    assert "DeserializeIterator" not in {node.op for node in reachable([written.node(written.meta.saver.restore_op)])}
    assert tfg.Session(written).run("sum:0").tolist() == [8, 9]


def test_a_list_that_the_graph_lacks_is_no_position(tmp_path):
    graph, session, _ = filled(lists)
    write_state(tmp_path / "s.ckpt", Runner(session).state() | {"w": tfg.Tensor.from_numpy(np.float32(1))}, graph=graph)
    b = tfg.GraphBuilder()
    b.variable(np.float32(0), "w")
    restored = Runner(tfg.Session(b.graph)).restore(read_graph_state(tmp_path / "s.ckpt", b.graph))
    assert (restored.restored, restored.unknown, restored.positions) == (("w",), ("v",), ())


def test_a_vocabulary_becomes_an_asset_and_then_constants(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("a\nb\n", "ascii")
    b = tfg.GraphBuilder()
    table = b.HashTableV2(key_dtype="string", value_dtype="int64", name="t")
    b.InitializeTableFromTextFileV2(table, str(path).encode(), key_index=-2, value_index=-1)
    words = b.Placeholder(dtype="string", shape=[None], name="w")
    b.Identity(b.LookupTableFindV2(table, words, np.int64(-1)), name="y")
    save(b.graph, tmp_path / "g.pb")
    write = ("convert", tmp_path / "g.pb", tmp_path / "m", "--kind", "saved_model", "--to", "y")
    refused = run(*write)
    assert refused.code == 1 and "words.txt" in refused.err and "--allow-files" in refused.err
    assert run(*write, "--allow-files", tmp_path).code == 0
    path.unlink()
    assert result(tfg.Session(tfg.load(tmp_path / "m"))) == [-1, -1, 1]
    assert "lacks 1 file of the model" in run("convert", tmp_path / "m", tmp_path / "again.pb").err
    (tmp_path / "m").rename(tmp_path / "elsewhere")
    assert run("convert", tmp_path / "elsewhere", tmp_path / "f.pb", "--freeze").code == 0
    assert result(initialized(tfg.load(tmp_path / "f.pb"))) == [-1, -1, 1]


def test_a_part_of_a_meta_graph_names_no_nodes_that_are_gone(tmp_path):
    """Of a graph with a main op, a saver and conditionals of its own, as SavedModels and .meta files have them."""
    graph, session, _ = filled(static)
    tfg.save_model(graph, tmp_path / "m", state=session, signatures={"serving_default": ({}, {"y": "y:0"})})
    whole = tfg.load(tmp_path / "m")
    save(whole, tmp_path / "whole.meta")
    part = run("convert", tmp_path / "whole.meta", tmp_path / "part.meta", "--to", "y").err
    assert "wrote" in part
    meta = tfg.load(tmp_path / "part.meta").meta
    assert meta.init_op is None or meta.init_op in tfg.load(tmp_path / "part.meta")
    assert run("run", tmp_path / "part.meta", "--init", "--fetch", "y", "--feed", 'w=["q"]').code == 0
    assert tfg.load(tmp_path / "whole.meta").meta.init_op is not None
