"""What a node says of the dtypes that come out of something that holds anything: it is refused where that is not so."""

from __future__ import annotations

import numpy as np
import pytest

from tests.functions import define
from tests.pipelines import NUMBER, elements, numbers, slices
from tfg import FileAccess, GraphBuilder, Session
from tfg.core.errors import DataLossError, InternalError, TfgError

TEXT = elements(("string", ()))


def _list(g):
    return g.TensorListReserve(np.int32([2]), 3, element_dtype="float32")


def _of_composite(g):
    value = g.CompositeTensorVariantFromComponents([_list(g)], metadata=b"")
    return g.CompositeTensorVariantToComponents(value, metadata=b"", Tcomponents=["string"])


def _of_queue(g):
    queue = g.FIFOQueueV2(component_types=["string"])
    g.QueueEnqueueV2(queue, [_list(g)], name="before")
    return g.QueueDequeueV2(queue, component_types=["string"])


def _of_stage(g):
    g.Stage([_list(g)], dtypes=["variant"], shared_name="s", name="before")
    return g.Unstage(dtypes=["string"], shared_name="s")


def _of_compressed(g):
    return g.UncompressElement(g.CompressElement([_list(g)]), **TEXT)


def _of_optional(g):
    return g.OptionalGetValue(g.OptionalFromValue([_list(g)]), **TEXT)


def _of_barrier(g):
    barrier = g.Barrier(component_types=["string"], shapes=[()])
    key = np.array([b"k"], object)
    g.BarrierInsertMany(barrier, key, g.Pack([_list(g)]), component_index=0, name="before")
    return g.BarrierTakeMany(barrier, np.int32(1), component_types=["string"])[2]


def _lists(g):
    return g.TensorDataset([_list(g)], output_shapes=[()], Toutput_types=["variant"])


def _of_dataset(g):
    return g.DatasetToSingleElement(_lists(g), **TEXT)


def _of_place(g):
    return g.GetElementAtIndex(_lists(g), np.int64(0), **TEXT)


def _of_reduction(g):
    define(g, "f", ["int64", "int64"], lambda b, state, x: [state])
    state = [g.constant(np.int64(1))]
    return g.add(
        "ReduceDataset", [numbers(g, 3), state, []], {"f": "f", "Tstate": ["int64"], "Targuments": [], **TEXT}
    ).output()


def _of_call(g):
    define(g, "f", ["float32"], lambda b, x: [x])
    args = [g.constant(np.float32(1))]
    return g.add("PartitionedCall", [args], {"f": "f", "Tin": ["float32"], "Tout": ["string"]}).output()


def _of_rows(g):
    define(g, "f", ["float32"], lambda b, x: [x])
    attrs = {"f": "f", "Targuments": ["float32"], "Tcaptured": [], "output_types": ["string"], "output_shapes": [()]}
    return g.add("MapDefun", [[g.constant(np.ones(2, np.float32))], []], attrs).output()


def _of_stack(g):
    stack = g.StackV2(np.int32(-1), elem_type="string")
    pushed = g.StackPushV2(stack, _list(g))
    with g.control_dependencies([pushed.node]):
        return g.StackPopV2(stack, elem_type="string")


def _of_map(g):
    filled = g.TensorMapInsert(g.EmptyTensorMap(), g.constant(1.0), _list(g))
    return g.TensorMapLookup(filled, g.constant(1.0), value_dtype="string")


def _of_session(g):
    return g.GetSessionTensor(g.GetSessionHandle(_list(g)), dtype="string")


def _of_sparse_handles(g):
    handles = g.AddManySparseToTensorsMap(np.int64([[0, 0]]), g.Pack([_list(g)]), np.int64([1, 1]), shared_name="s")
    return g.TakeManySparseFromTensorsMap(handles, dtype="string", shared_name="s")[1]


def _of_sparse_variants(g):
    packed = g.SerializeSparse(np.int64([[0, 0]]), g.Pack([_list(g)]), np.int64([1, 1]), out_type="variant")
    return g.DeserializeSparse(packed, dtype="string")[1]


SOURCES = (
    _of_composite, _of_queue, _of_stage, _of_compressed, _of_optional, _of_barrier, _of_dataset, _of_place, _of_reduction,
    _of_call, _of_rows, _of_stack, _of_map, _of_session, _of_sparse_handles, _of_sparse_variants,
)  # fmt: skip


def _refused(run):
    with pytest.raises(TfgError) as caught:
        run()
    assert not isinstance(caught.value, InternalError)
    assert caught.value.node is not None


@pytest.mark.parametrize("make", SOURCES)
def test_what_is_no_text_does_not_come_out_as_text(make):
    g = GraphBuilder()
    value = make(g)
    g.StringUpper(value[0] if isinstance(value, (tuple, list)) else value, name="op")
    steps = [["before"]] if any(node.name == "before" for node in g.graph) else []
    session = Session(g.graph, timeout=10)
    _refused(lambda: [session.run(step) for step in (*steps, ["op:0"])])


def test_texts_do_not_come_out_as_variants():
    g = GraphBuilder()
    filled = g.TensorMapInsert(g.EmptyTensorMap(), g.constant(np.array(b"a", object)), g.constant(1.0))
    g.TensorMapStackKeys(filled, key_dtype="variant", name="op")
    _refused(lambda: Session(g.graph).run("op:0"))


def _mapped(g):
    define(g, "f", ["int64"], lambda b, x: [x])
    return g.MapDataset(numbers(g, 3), [], f="f", Targuments=[], **TEXT)


def _mapped_twice(g):
    define(g, "upper", ["string"], lambda b, x: [b.StringUpper(x)])
    return g.MapDataset(_mapped(g), [], f="upper", Targuments=[], **TEXT)


def _with_captured(g):
    define(g, "f", ["int64", "string"], lambda b, x, text: [b.StringUpper(text)])
    return g.MapDataset(numbers(g, 3), [_list(g)], f="f", Targuments=["variant"], **TEXT)


def _taken(g):
    return g.TakeDataset(numbers(g, 3), np.int64(2), **TEXT)


def _listed(g):
    return g.ListDataset([g.constant(1.0)], **TEXT)


@pytest.mark.parametrize("make", [_mapped, _mapped_twice, _with_captured, _taken, _listed])
def test_elements_are_of_the_dtypes_that_are_said_of_them(make):
    g = GraphBuilder()
    iterator = g.IteratorV2(shared_name="", container="", **TEXT)
    g.MakeIterator(make(g), iterator, name="start")
    g.StringUpper(g.IteratorGetNext(iterator, name="next", **TEXT)[0], name="op")
    session = Session(g.graph)
    session.run(["start"])
    _refused(lambda: session.run(["op:0"]))


def test_rows_of_text_are_tensors():
    g = GraphBuilder()
    define(g, "f", ["string"], lambda b, x: [b.StringUpper(x)])
    attrs = {"f": "f", "Targuments": ["string"], "Tcaptured": [], "output_types": ["string"], "output_shapes": [()]}
    g.add("MapDefun", [[g.constant(np.array([b"a", b"bc"], object))], []], attrs, "op")
    assert Session(g.graph).run("op:0").tolist() == [b"A", b"BC"]


def test_examples_are_text():
    g = GraphBuilder()
    parsed = elements(("variant", (3,)))
    g.ParseExampleDatasetV2(
        numbers(g, 3), np.int64(1), [], sparse_keys=[b"a"], dense_keys=[], sparse_types=["int64"], Tdense=[], dense_shapes=[],
        ragged_keys=[], ragged_value_types=[], ragged_split_types=[], name="op", **parsed,
    )  # fmt: skip
    _refused(lambda: Session(g.graph).run("op:0"))


@pytest.mark.parametrize("arrays", [([[1, 2]], [[1, 2]]), ([[1, 2]], [[1]])])
def test_a_table_is_filled_with_scalars(arrays):
    g = GraphBuilder()
    table = g.HashTableV2(key_dtype="int64", value_dtype="int64")
    g.InitializeTableFromDataset(table, slices(g, *map(np.int64, arrays)), name="op")
    _refused(lambda: Session(g.graph).run(["op"]))


def test_a_function_that_gives_no_dataset():
    g = GraphBuilder()
    define(g, "f", [], lambda b: [])
    g.OneShotIterator(dataset_factory="f", name="op", **NUMBER)
    _refused(lambda: Session(g.graph).run("op:0"))


def test_weights_without_bound_ask_for_more_than_there_is():
    g = GraphBuilder()
    g.WeightedFlatMapDataset([numbers(g, 3), numbers(g, 4)], [np.float64(np.inf), np.float64(1)], name="op", **NUMBER)
    _refused(lambda: Session(g.graph).run("op:0"))


def test_seeds_below_zero_are_written():
    g = GraphBuilder()
    seeds = g.AnonymousSeedGenerator(np.int64(-1), np.int64(-(2**63)), np.bool_(True))
    shuffled = g.ShuffleDatasetV3(numbers(g, 3), np.int64(2), np.int64(-1), np.int64(-3), seeds[0], **NUMBER)
    g.DatasetToGraphV2(shuffled, name="op")
    assert Session(g.graph).run("op:0")


def test_records_are_single_texts(tmp_path):
    g = GraphBuilder()
    file = np.array(str(tmp_path / "a.tfrecord").encode(), object)
    g.DatasetToTFRecord(slices(g, np.array([[b"a", b"b"]], object)), file, np.array(b"", object), name="op")
    _refused(lambda: Session(g.graph, files=FileAccess.only(writable=[tmp_path])).run(["op"]))


@pytest.mark.parametrize("names", [[b"a_b"], [b"      5_7"], [b"      0_0", b"      2_0"]])
def test_a_checkpoint_that_is_no_cache(names, tmp_path):
    g = GraphBuilder()
    prefix = np.array(str(tmp_path / "cache").encode(), object)
    values = [g.constant(np.int64(1)) for _ in names]
    g.SaveV2(prefix, np.array(names, object), np.array([b""] * len(names), object), values, name="save")
    cached = g.CacheDataset(numbers(g, 3), prefix, **NUMBER)
    g.DatasetToSingleElement(cached, name="op", **NUMBER)
    session = Session(g.graph, files=FileAccess.only(writable=[tmp_path]))
    session.run(["save"])
    with pytest.raises(DataLossError, match="'op'"):
        session.run(["op:0"])


def test_no_file_keeps_a_dataset(tmp_path):
    g = GraphBuilder()
    spec = elements(("variant", ()))
    windows = g.WindowDataset(numbers(g, 1), *[np.int64(1)] * 3, np.bool_(False), **spec)
    cached = g.CacheDataset(windows, np.array(str(tmp_path / "cache").encode(), object), **spec)
    g.DatasetToSingleElement(cached, name="op", **spec)
    _refused(lambda: Session(g.graph, files=FileAccess.only(writable=[tmp_path])).run(["op:0"]))
