"""Hostile pipelines: elements that contradict their declaration, and files with other contents, lead to a refusal."""

from __future__ import annotations

import gzip
import itertools
import sqlite3
import struct

import numpy as np
import pytest

from tests.pipelines import NUMBER, function, int64, numbers, text
from tfg import GraphBuilder, Session
from tfg.core.codecs import snappy
from tfg.core.codecs.tfrecord import masked_crc32c
from tfg.core.runtime.state.file_access import FileAccess
from tfg.core.support.errors import DataLossError, FailedPreconditionError, InternalError, InvalidArgumentError, TfgError
from tfg.core.types.shapes import UNKNOWN
from tfg.core.types.tensors import FuncRef
from tfg.formats import FileCheckpointStore

ONE = {"output_types": ["int64"], "output_shapes": [UNKNOWN]}
A, NAN, PAIR = text("a"), np.float64(np.nan), np.float64([1, 2])
FALSE, TEXTS = np.array(False), np.array([b"a"], object)
_NAMES = itertools.count()


def gives(g, *values, source=None, args=("int64",)):
    """Return a dataset of a function's results, declared as numbers."""
    name = f"f{next(_NAMES)}"
    function(g, name, list(args), lambda b, *_: [b.constant(value) for value in values])
    return g.MapDataset(source if source is not None else numbers(g, 3), [], f=FuncRef(name), **ONE)


def both(g, first, second):
    return g.ConcatenateDataset(first, second, **ONE)


def rows(g, *shapes):
    made = [g.TensorDataset([g.constant(np.ones(shape))], output_shapes=[UNKNOWN]) for shape in shapes]
    return g.ConcatenateDataset(*made, output_types=["double"], output_shapes=[UNKNOWN])


def padded(g, source):
    return g.PaddedBatchDatasetV2(
        source, int64(2), [g.constant(np.int64([]))], [g.constant(int64(0))], FALSE, output_shapes=[[None]]
    )


def weighted(g, *weights):
    return g.WeightedFlatMapDataset([numbers(g, 5), numbers(g, 4)], [g.constant(np.float64(w)) for w in weights], **ONE)


def lowered(g):
    function(g, "lower", ["string"], lambda b, x: [b.StringLower(x)])
    return g.MapDataset(numbers(g, 3), [], f=FuncRef("lower"), **ONE)


def slices_of(g, size):
    return g.SparseTensorSliceDataset(np.zeros((0, 2), np.int64), np.ones(0), np.int64([size, 2]))


REFUSED = {
    "text for a number": lambda g: gives(g, A),
    "two components for one": lambda g: gives(g, int64(1), int64(1)),
    "no component": lambda g: gives(g),
    "a number for an argument that is text": lowered,
    "a batch of numbers and texts": lambda g: g.BatchDatasetV2(both(g, numbers(g, 1), gives(g, A)), int64(2), FALSE, **ONE),
    "a batch of texts and numbers": lambda g: g.BatchDatasetV2(both(g, gives(g, A), numbers(g, 1)), int64(4), FALSE, **ONE),
    "a padded batch of texts": lambda g: padded(g, gives(g, A)),
    "a padded batch of too many components": lambda g: padded(
        g, g.ZipDataset([numbers(g, 3)] * 2, output_types=["int64"] * 2, output_shapes=[()] * 2)
    ),
    "rows of texts behind rows of numbers": lambda g: g.RebatchDatasetV2(
        both(g, gives(g, PAIR), gives(g, TEXTS)), int64(9), FALSE, **ONE
    ),
    "a sparse batch of texts and numbers": lambda g: g.DenseToSparseBatchDataset(
        both(g, gives(g, PAIR), gives(g, TEXTS)), int64(9), np.int64([-1]), **ONE
    ),
    "a selector of text": lambda g: g.DirectedInterleaveDataset(gives(g, A), [numbers(g, 3)] * 2, **ONE),
    "a selector that is no number": lambda g: g.DirectedInterleaveDataset(gives(g, NAN), [numbers(g, 3)] * 2, **ONE),
    "unique things that are no numbers": lambda g: g.UniqueDataset(gives(g, NAN), **ONE),
    "a last component of none": lambda g: g.FilterByLastComponentDataset(gives(g), **ONE),
    "an endless weight": lambda g: weighted(g, np.inf, 1.0),
    "two endless weights": lambda g: weighted(g, np.inf, np.inf),
    "fewer rows than none": lambda g: slices_of(g, -5),
    "a row of fewer than no elements": lambda g: g.DenseToSparseBatchDataset(numbers(g, 3), int64(2), np.int64([-2]), **ONE),
    "records from before the file": lambda g: g.TFRecordDatasetV2(text("x"), text(""), int64(0), np.int64([-1])),
}  # fmt: skip


def outcome(graph, name, **options):
    with pytest.raises(TfgError) as caught:
        Session(graph, **options).run([name])
    assert not isinstance(caught.value, InternalError)
    assert caught.value.node
    return caught.value


def only(g, dataset, attrs=ONE):
    taken = g.TakeDataset(dataset, int64(1), **attrs)
    return g.DatasetToSingleElement(taken, **attrs)[0]


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    g = GraphBuilder()
    assert isinstance(outcome(g.graph, only(g, REFUSED[case](g)).name), InvalidArgumentError)


@pytest.mark.parametrize("shapes", [[(2, 3), (2, 4)], [(2, 3), (2,)]])
def test_rows_that_are_not_alike(shapes):
    g = GraphBuilder()
    attrs = {"output_types": ["double"], "output_shapes": [UNKNOWN]}
    batches = g.RebatchDatasetV2(rows(g, *shapes), int64(3), FALSE, **attrs)
    assert isinstance(outcome(g.graph, only(g, batches, attrs).name), FailedPreconditionError)


def test_what_an_iterator_gives_is_what_its_user_says():
    g = GraphBuilder()
    iterator = g.IteratorV2(shared_name="", container="", **NUMBER)
    start = g.MakeIterator(numbers(g, 3), iterator)
    (shaped,) = g.IteratorGetNext(iterator, output_types=["int64"], output_shapes=[[2]])
    session = Session(g.graph)
    session.run([start.name])
    with pytest.raises(InvalidArgumentError, match="Incompatible shapes at component 0"):
        session.run(shaped.name)


def test_a_factory_that_makes_no_dataset():
    g = GraphBuilder()
    function(g, "none", [], lambda b: [])
    (result,) = g.IteratorGetNext(g.OneShotIterator(dataset_factory=FuncRef("none"), **NUMBER), **NUMBER)
    assert isinstance(outcome(g.graph, result.name), InvalidArgumentError)


@pytest.mark.parametrize("values", [[np.int64([1, 2])] * 2, [np.int64([1, 2]), int64(1)], [int64(1)]])
def test_pairs_for_a_table_are_two_scalars(values):
    g = GraphBuilder()
    table = g.HashTableV2(key_dtype="int64", value_dtype="int64")
    pairs = g.TensorDataset([g.constant(value) for value in values], output_shapes=[UNKNOWN] * len(values))
    node = g.InitializeTableFromDataset(table, pairs)
    assert isinstance(outcome(g.graph, node.name), InvalidArgumentError)


@pytest.mark.parametrize("make", [lambda g: gives(g, int64(1)), lambda g: gives(g, np.array([b"a", b"b"], object)), gives])
def test_records_are_one_text_each(make, tmp_path):
    g = GraphBuilder()
    source = g.TakeDataset(make(g), int64(1), output_types=["string"], output_shapes=[UNKNOWN])
    node = g.DatasetToTFRecord(source, text(str(tmp_path / "x")), text(""))
    assert isinstance(outcome(g.graph, node.name, files=FileAccess.everything()), InvalidArgumentError)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("cycle", [2**29, 2**62])
@pytest.mark.parametrize("op", ["InterleaveDataset", "LegacyParallelInterleaveDatasetV2"])
def test_a_cycle_of_more_places_than_datasets_takes_no_room(op, cycle):
    g = GraphBuilder()
    function(g, "row", ["int64"], lambda b, x: [b.RangeDataset(x, int64(3), int64(1), **NUMBER)])
    ahead = [int64(1)] * 2 if op.startswith("Legacy") else []
    made = g.apply(op, numbers(g, 3), [], int64(cycle), int64(1), *ahead, f=FuncRef("row"), **NUMBER)
    batch = g.BatchDatasetV2(made, int64(9), FALSE, **ONE)
    assert Session(g.graph).run(only(g, batch).name).tolist() == [0, 1, 2, 1, 2, 2]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("block", [1, 2])
@pytest.mark.parametrize("cycle", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_places_of_a_cycle_that_stay_empty_end_nothing(count, cycle, block):
    """The rows are 0 1 2, 1 2 and 2."""
    g = GraphBuilder()
    function(g, "row", ["int64"], lambda b, x: [b.RangeDataset(x, int64(3), int64(1), **NUMBER)])
    made = g.InterleaveDataset(numbers(g, count), [], int64(cycle), int64(block), f=FuncRef("row"), **NUMBER)
    batch = g.BatchDatasetV2(made, int64(9), FALSE, **ONE)
    waiting = [list(range(start, 3)) for start in range(count)]
    expected, places = [], [[] for _ in range(cycle)]
    while waiting or any(places):
        for place in places:
            if not place and waiting:
                place += waiting.pop(0)
            expected += place[:block]
            del place[:block]
    assert Session(g.graph).run(only(g, batch).name).tolist() == expected


def test_one_of_very_many_shuffled_elements():
    g = GraphBuilder()
    few, many = (
        g.GetElementAtIndex(g.ShuffleDataset(numbers(g, n), int64(3), int64(1), int64(2), **NUMBER), int64(1), **NUMBER)[0]
        for n in (3, 2**62)
    )
    first, second = Session(g.graph).run([few.name, many.name])
    assert 0 <= first < 3
    assert 0 <= second < 2**62


def test_the_first_of_very_many_rows():
    g = GraphBuilder()
    attrs = {"output_types": ["int64", "double", "int64"], "output_shapes": [UNKNOWN] * 3}
    taken = g.TakeDataset(slices_of(g, 2**62), int64(1), **attrs)
    node = g.DatasetToSingleElement(taken, **attrs)
    assert Session(g.graph, max_memory=1 << 20).run(node[2].name).tolist() == [2]


def checkpoint(path, names):
    g = GraphBuilder()
    values = [g.constant(np.ones(3)) for _ in names]
    node = g.SaveV2(text(path), np.array(names, object), np.array([b""] * len(names), object), values)
    Session(g.graph, files=FileAccess.everything(), checkpoints=FileCheckpointStore()).run([node.name])


@pytest.mark.parametrize("names", [[b"dense/kernel"], [b"      0_1"], [b"      0_0_0", b"      5_0"], [b"9" * 5000 + b"_0"]])
def test_a_cache_file_that_is_another_checkpoint(names, tmp_path):
    checkpoint(str(tmp_path / "x"), names)
    g = GraphBuilder()
    node = only(g, g.CacheDataset(numbers(g, 3), text(str(tmp_path / "x")), **NUMBER))
    error = outcome(g.graph, node.name, files=FileAccess.everything(), checkpoints=FileCheckpointStore())
    assert isinstance(error, DataLossError)


def test_lines_are_kept_in_a_file(tmp_path):
    (tmp_path / "lines").write_text("a\nb\n")
    g = GraphBuilder()
    attrs = {"output_types": ["string"], "output_shapes": [()]}
    lines = g.TextLineDataset(text(str(tmp_path / "lines")), text(""), int64(0))
    kept = g.CacheDataset(lines, text(str(tmp_path / "kept")), **attrs)
    node = only(g, g.BatchDatasetV2(kept, int64(5), FALSE, **ONE), {**attrs, "output_shapes": [[None]]})
    session = Session(g.graph, files=FileAccess.everything(), checkpoints=FileCheckpointStore())
    for _ in range(2):
        assert session.run(node.name).tolist() == [b"a", b"b"]
        (tmp_path / "lines").write_text("gone\n")


def bomb(head=b""):
    return gzip.compress(head + b"0" * (1 << 23), 1)


def long_record():
    length = struct.pack("<Q", 1 << 23)
    return bomb(length + struct.pack("<I", masked_crc32c(length)))


BOMBS = {
    "TextLineDataset": (bomb, lambda g, path: g.TextLineDataset(path, text("GZIP"), int64(0))),
    "TFRecordDataset": (long_record, lambda g, path: g.TFRecordDataset(path, text("GZIP"), int64(0))),
    "CSVDataset": (bomb, lambda g, path: g.CSVDataset(
        path, text("GZIP"), int64(9), FALSE, text(","), np.array(True), text(""), np.int64([]),
        [g.constant(np.array([], object))], output_shapes=[()],
    )),
}  # fmt: skip


@pytest.mark.parametrize("op", BOMBS)
def test_a_line_that_fills_the_memory(op, tmp_path, monkeypatch):
    monkeypatch.setattr(snappy, "ROOM", 1 << 20)
    contents, make = BOMBS[op]
    (tmp_path / "x").write_bytes(contents())
    g = GraphBuilder()
    attrs = {"output_types": ["string"], "output_shapes": [()]}
    node = only(g, make(g, text(str(tmp_path / "x"))), attrs)
    error = outcome(g.graph, node.name, files=FileAccess.everything())
    assert isinstance(error, DataLossError)


def test_records_from_behind_every_file(tmp_path):
    (tmp_path / "x").write_bytes(b"abc")
    g = GraphBuilder()
    made = g.TFRecordDatasetV2(text(str(tmp_path / "x")), text(""), int64(0), np.int64([2**63 - 1]))
    node = only(g, made, {"output_types": ["string"], "output_shapes": [()]})
    error = outcome(g.graph, node.name, files=FileAccess.everything())
    assert "Dataset was empty" in str(error)


@pytest.mark.parametrize("query", [b"select '\xff'", b"select zeroblob(999000000)"])
def test_queries_that_are_no_text_or_give_too_much(query, tmp_path):
    sqlite3.connect(tmp_path / "x").close()
    g = GraphBuilder()
    attrs = {"output_types": ["string"], "output_shapes": [()]}
    node = only(g, g.SqlDataset(text("sqlite"), text(str(tmp_path / "x")), text(query), **attrs), attrs)
    error = outcome(g.graph, node.name, files=FileAccess.everything())
    assert isinstance(error, InvalidArgumentError)


@pytest.mark.parametrize("root", [2**60, 2**63, 2**64 - 2])
def test_a_tree_whose_root_is_beyond_the_file(root, tmp_path):
    def tree(number):
        return struct.pack("<IHHQQQQQ", 4096, 0, 1, 0, 0, 0, 0, number)

    head = struct.pack("<QHHHH", 0, 0, 8, 16, 16) + struct.pack("<IIQQ", 0xBEEFC0DE, 1, 0, 0)
    page = (head + tree(0) + tree(root) + struct.pack("<QQ", 0, 1)).ljust(4096, b"\0")
    (tmp_path / "x").write_bytes(2 * page)
    g = GraphBuilder()
    attrs = {"output_types": ["string"] * 2, "output_shapes": [()] * 2}
    taken = g.LMDBDataset(text(str(tmp_path / "x")), **attrs)
    node = g.DatasetToSingleElement(taken, **attrs)
    assert f"page {root} does not exist" in str(outcome(g.graph, node[0].name, files=FileAccess.everything()))
