"""The commands that explain proposes: they run, on values that fit the graph."""

from __future__ import annotations

import re
import shlex

import numpy as np
import pytest

import tfg as library
from tests.cli.running import ROOT, SAMPLES, tfg
from tests.functions import define
from tfg.core.building.builder import GraphBuilder
from tfg.core.types import dtypes
from tfg.formats.api.model_saving import save_model
from tfg.formats.saving import save

with np.load(ROOT / "tests/core/training/tf1_graphs.npz") as archive:
    TF1_GRAPHS = {name: archive[name] for name in archive.files}


def sample_graphs():
    """The graphs and models of the samples and of the recorded data."""
    models = {path.parent for folder in (SAMPLES, ROOT / "tests") for path in folder.rglob("saved_model.pb")}
    return sorted({*models, *SAMPLES.rglob("*.pbtxt"), *SAMPLES.rglob("model.json")})


def next_commands(path):
    return tfg("explain", path, "--format", "json").json["next_commands"]


def run_all(path) -> list[str]:
    """Run the commands for a file and return them; `check` finds problems where the graph cannot run."""
    commands = next_commands(path)
    for command in commands:
        _, *words = shlex.split(command)
        done = tfg(*words)
        assert done.code == (3 if words[0] == "check" else 0), f"{command}\n{done.err}"
    return commands


@pytest.mark.sampled(6)
@pytest.mark.parametrize("path", sample_graphs(), ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_for_samples_work(path):
    assert run_all(path)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("path", sample_graphs(), ids=lambda path: str(path.relative_to(ROOT)))
def test_calls_for_samples_work(path):
    """In Python the next commands are calls."""
    graph = library.load(path)
    for line in library.explain(graph).next_commands:
        exec(line, {"tfg": library, "numpy": np, "graph": graph})


@pytest.mark.slow
@pytest.mark.parametrize("key", [name for name in TF1_GRAPHS if name.endswith("/own/graph")])
def test_commands_for_training_programs_work(tmp_path, key):
    (tmp_path / "graph.pb").write_bytes(TF1_GRAPHS[key].tobytes())
    assert run_all(tmp_path / "graph.pb")


def placeholder(b, name, dtype, *shape):
    return b.Placeholder(dtype=dtype, shape=list(shape), name=name)


def labels_of_classes(b):
    labels = b.Reshape(placeholder(b, "labels", "int64", None, 1), b.constant([-1]))
    logits = b.MatMul(placeholder(b, "x", "float", None, 2), b.constant(np.ones((2, 3), np.float32)))
    b.SparseSoftmaxCrossEntropyWithLogits(logits, labels, name="loss")


def rows_of_a_table(b):
    rows = b.Cast(placeholder(b, "rows", "int32", None, 4), DstT="int64")
    b.GatherV2(b.constant(np.ones((2, 3), np.float32)), rows, b.constant(1), name="y")


def rows_of_an_unknown_table(b):
    table = placeholder(b, "table", "float", None, None)
    b.GatherV2(table, placeholder(b, "rows", "int32", None), b.constant(0), name="y")


def rows_of_a_variable(b):
    table = b.VarHandleOp(dtype="float", shape=[3, 2], shared_name="table", name="table")
    value = b.constant(np.ones((3, 2), np.float32))
    assign = b.apply("AssignVariableOp", table, value, dtype=dtypes.float32, name="table/Assign")
    b.ResourceGather(table, placeholder(b, "rows", "int32", None), dtype="float", name="y")
    with b.control_dependencies([assign]):
        b.NoOp(name="init")


def a_variable_without_an_initializer(b):
    weights = b.VarHandleOp(dtype="float", shape=[2, 3], shared_name="scope/w", name="w")
    b.MatMul(placeholder(b, "x", "float", None, 2), b.ReadVariableOp(weights, dtype="float"), name="y")


def variables_without_an_operation_for_all(b):
    """Each has an assignment of its own, as before tf.compat.v1.global_variables_initializer()."""
    first, second = (b.variable(np.ones((2, 2), np.float32), name=name) for name in "vw")
    b.MatMul(first, second, name="y")


def a_table_alone(b):
    table = b.HashTableV2(key_dtype="string", value_dtype="int64", shared_name="t", name="table")
    b.LookupTableImportV2(table, b.constant([b"a"], dtypes.string), b.constant([1], dtypes.int64), name="fill")
    default = b.constant(-1, dtypes.int64)
    b.LookupTableFindV2(table, placeholder(b, "words", "string", None), default, name="y")


def elements_of_a_one_shot_iterator(b):
    """The iterator begins by itself: there is nothing to initialize."""
    types = {"output_types": ["int64"], "output_shapes": [[]]}
    make = lambda f: [f.RangeDataset(*(f.constant(number, dtypes.int64) for number in (0, 5, 1)), **types)]  # noqa: E731
    iterator = b.OneShotIterator(dataset_factory=define(b, "numbers", [], make), **types, name="iterator")
    b.IteratorGetNext(iterator, **types, name="y")


def an_axis(b):
    b.Sum(placeholder(b, "x", "float", None, 2), placeholder(b, "axis", "int32"), name="y")


def segments(b):
    b.SegmentSum(placeholder(b, "x", "float", None, 2), placeholder(b, "ids", "int32", None), name="y")


def classes_of_predictions(b):
    b.InTopKV2(placeholder(b, "scores", "float", None, 3), placeholder(b, "best", "int32", None), b.constant(1), name="y")


def a_sparse_product(b):
    parts = [
        placeholder(b, "indices", "int64", None, 2),
        placeholder(b, "values", "float", None),
        placeholder(b, "shape", "int64", 2),
    ]
    b.SparseTensorDenseMatMul(*parts, b.constant(np.ones((5, 3), np.float32)), name="y")


def a_sparse_placeholder(b):
    """The shape of `tf.compat.v1.sparse_placeholder(tf.float32, [None, 4])` has a default with a -1."""
    shape = b.PlaceholderWithDefault(b.constant([-1, 4], dtypes.int64), shape=[2], name="shape")
    indices, values = placeholder(b, "indices", "int64", None, 2), placeholder(b, "values", "float", None)
    b.SparseTensorDenseMatMul(indices, values, shape, placeholder(b, "dense", "float", 4, 3), name="y")


def a_ragged_tensor(b):
    values, splits = placeholder(b, "values", "float", None), placeholder(b, "splits", "int64", None)
    b.RaggedTensorToTensor(
        b.constant([-1, -1], dtypes.int64), values, b.constant(0.0), [splits], row_partition_types=["ROW_SPLITS"], name="y"
    )


def a_nested_ragged_tensor(b):
    inner, outer = (placeholder(b, name, "int64", None) for name in ("inner", "outer"))
    values = placeholder(b, "v", "float", None)
    b.RaggedTensorToSparse([outer, inner], values, name="y")


def sizes_of_constants(b):
    b.MatMul(placeholder(b, "x", "float", None, None), b.constant(np.ones((11, 2), np.float32)), name="y")


def a_rank_of_readers(b):
    x = b.Placeholder(dtype="float", shape=None, name="x")
    b.MatMul(x, b.constant(np.ones((11, 2), np.float32)), name="y")


def a_rank_of_a_shape(b):
    b.Reshape(b.Placeholder(dtype="float", shape=None, name="x"), b.constant([-1, 2]), name="y")


def a_rank_of_an_axis(b):
    x, y = (b.Placeholder(dtype="float", shape=None, name=name) for name in ("x", "y"))
    b.ConcatV2([x, y], b.constant(2), name="z")


def a_reshape_of_a_constant(b):
    x = placeholder(b, "x", "float", None, 8)
    b.Reshape(b.constant(np.ones(16, np.float32)), b.Shape(x), name="y")


def a_number_as_text(b):
    b.StringToNumber(placeholder(b, "text", "string", None), out_type="float", name="y")


def pictures(b):
    """A picture of each string, as an exported classifier of JPEG bytes has them."""
    b.DecodeJpeg(b.Reshape(placeholder(b, "jpegs", "string", None), b.constant([], dtypes.int32)), channels=3, name="y")


def many_strings(b):
    b.StringLength(placeholder(b, "words", "string", 6, 7), name="y")


def sounds(b):
    b.DecodeWav(placeholder(b, "sound", "string"), name="y")


def examples(b):
    keys = b.constant([b"weights", b"class"], dtypes.string)
    defaults = [b.constant([], dtypes.float32), b.constant([], dtypes.int64)]
    examples = placeholder(b, "examples", "string", None)
    no_keys = b.constant([], dtypes.string)
    b.ParseExampleV2(
        examples, b.constant([], dtypes.string), no_keys, keys, no_keys, defaults,
        num_sparse=0, sparse_types=[], ragged_value_types=[], ragged_split_types=[], dense_shapes=[[3], []], name="y",
    )  # fmt: skip


def an_input_that_nothing_reads(b):
    placeholder(b, "unused", "variant")
    b.Neg(placeholder(b, "x", "float", 2), name="y")


def a_leftover_of_training(b):
    frozen = b.constant(1.0, name="mean")
    b.Neg(placeholder(b, "x", "float", 2), name="y")
    b.graph.add_node("assign", "Assign", [frozen, b.constant(2.0)], attrs={"T": dtypes.float32})


def an_undeclared_op(b):
    b.graph.add_node("mystery", "Mystery", [placeholder(b, "x", "float", 2)])


GRAPHS = [
    labels_of_classes, rows_of_a_table, rows_of_an_unknown_table, rows_of_a_variable, an_axis, segments,
    classes_of_predictions, a_sparse_product, a_sparse_placeholder, a_ragged_tensor, a_nested_ragged_tensor,
    sizes_of_constants, a_rank_of_readers, a_rank_of_a_shape, a_rank_of_an_axis,
    a_reshape_of_a_constant, a_number_as_text, pictures, many_strings, sounds, examples,
    a_variable_without_an_initializer, variables_without_an_operation_for_all, a_table_alone,
    elements_of_a_one_shot_iterator, an_input_that_nothing_reads, a_leftover_of_training, an_undeclared_op,
]  # fmt: skip


@pytest.mark.sampled(6)
@pytest.mark.parametrize("build", GRAPHS)
def test_commands_feed_values_that_fit(tmp_path, build):
    b = GraphBuilder()
    build(b)
    save(b.graph, tmp_path / "g.pb")
    assert run_all(tmp_path / "g.pb")


@pytest.mark.parametrize("shape", [[2**31, 2**31], [2**45, 2], [None, 2**31, 2**31]], ids=str)
def test_sizes_that_no_machine_holds_are_explained(shape, tmp_path):
    """A stranger's file claims sizes; an explanation allocates none of them."""
    g = GraphBuilder()
    values = g.Placeholder(dtype="float32", shape=shape, name="values")
    splits = g.Placeholder(dtype="int64", shape=[2**45], name="splits")
    indices = g.Placeholder(dtype="int64", shape=[2**45, 2], name="indices")
    dense_shape = g.Placeholder(dtype="int64", shape=[2], name="dense_shape")
    g.RaggedTensorToSparse([splits], values, name="sparse")
    g.SparseTensorDenseMatMul(
        indices, g.Placeholder(dtype="float32", shape=[2**45]), dense_shape, g.constant(np.eye(2, dtype="f"))
    )
    save(g.graph, tmp_path / "g.pb")
    assert any(command.startswith("tfg run") for command in next_commands(tmp_path / "g.pb"))
    for words in (["flops"], ["view", "-o", tmp_path / "g.html"]):
        done = tfg(words[0], tmp_path / "g.pb", *words[1:])
        assert done.code == 0, done.err


def unknown_sizes(path):
    """A model whose sizes and iterations only a run knows."""
    b = GraphBuilder()
    x = placeholder(b, "x", "float", None, 2)
    with b.name_scope("dense"):
        product = b.MatMul(x, b.constant(np.ones((2, 2), np.float32), name="kernel"), name="MatMul")
    picked = b.GatherNd(product, b.Where(b.Greater(product, b.constant(0.0)), name="hits"))
    define(b, "less", ["float"], lambda b, total: [b.Less(total, b.constant(9.0))])
    define(b, "double", ["float"], lambda b, total: [b.AddV2(total, total)])
    y = b.StatelessWhile([b.Sum(picked, b.constant([0]))], cond="less", body="double", name="loop")[0]
    save_model(b.graph, path, signatures={"serving_default": ({"x": x.name}, {"y": y.name})})
    return path


@pytest.mark.parametrize("command", ["flops", "layers", "explain"])
def test_hints_on_sizes_work(command, tmp_path):
    path = unknown_sizes(str(tmp_path / "a model"))
    shown = tfg(command, path).out
    hints = re.findall(r"(?:`tfg (?P<words>.*?) )?--(size|trips) (\S+)=NUMBER", " ".join(shown.split()))
    assert {option for _, option, _ in hints} == {"size", "trips"}
    for words, option, name in hints:
        done = tfg(*(shlex.split(words) or (command, path)), f"--{option}", f"{name}=3")
        assert done.code == 0, done.err
        assert f"--{option} {name}=NUMBER" not in done.out and f"--{option} {name}=NUMBER" in shown
