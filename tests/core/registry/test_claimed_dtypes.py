"""Contradictory dtypes and kinds of tensors in nodes, resources and variants: refusals."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from tests.functions import define
from tests.pipelines import NUMBER, elements, numbers, slices
from tfg import FileAccess, GraphBuilder, Session, count_flops, jacobian
from tfg.core.inference.inference import infer
from tfg.core.runtime.state import tensor_proto_bytes
from tfg.core.support.errors import DataLossError, InternalError, InvalidArgumentError, TfgError
from tfg.core.types import dtypes

TEXT = elements(("string", ()))
WORDS = np.array([b"NCHW"], object)


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
    session = Session(g.graph, timeout=100)
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


@pytest.mark.parametrize("maker", ["Stack", "TensorArray"])
@pytest.mark.parametrize("user", ["StackPop", "StackClose", "TensorArrayClose", "TensorArraySize"])
def test_a_name_that_leads_to_another_kind_of_resource(maker, user):
    """V1 handles are text: a container and a name of a resource of any kind."""
    if user.startswith(maker):
        return
    g = GraphBuilder()
    handle = g.Stack(elem_type="float32") if maker == "Stack" else g.TensorArray(2, dtype="float32")
    attrs = {"elem_type": "float32"} if user == "StackPop" else {}
    node = g.add(user, [handle, *([0.0] if user == "TensorArraySize" else [])], attrs, "op")
    with pytest.raises(InvalidArgumentError, match=rf"'op'.*{maker}") as caught:
        Session(g.graph).run([node.name if user.endswith("Close") else "op:0"])
    assert not isinstance(caught.value, InternalError)


@pytest.mark.parametrize("op", ["ZerosLike", "AddN"])
@pytest.mark.parametrize("where", ["alone", "in a list"])
def test_what_has_neither_sum_nor_zero(op, where):
    """A composite tensor in a variant has neither sum nor zero in TensorFlow; a list of composite tensors fails likewise."""
    g = GraphBuilder()
    value = g.CompositeTensorVariantFromComponents([g.constant(np.ones(3, np.float32))], metadata=b"")
    if where == "in a list":
        value = g.TensorListFromTensor(g.Pack([value]), g.constant(np.zeros(0, np.int32)), element_dtype="variant")
    node = g.ZerosLike(value, name="op") if op == "ZerosLike" else g.AddN([value, value], name="op")
    with pytest.raises(InvalidArgumentError, match=r"'op'.*CompositeTensor") as caught:
        Session(g.graph).run([node.name])
    assert not isinstance(caught.value, InternalError)


@pytest.mark.parametrize("dtype", ["int8", "uint64", "half", "bool", "string", "complex64"])
def test_numbers_of_a_dataset_are_cut_to_their_dtype(dtype):
    """As TensorFlow casts them; other dtypes than numbers are refused."""
    g = GraphBuilder()
    spec = elements((dtype, ()))
    bounds = (g.constant(np.int64(bound)) for bound in (0, 2**40, 1))
    shifted = g.SkipDataset(g.RangeDataset(*bounds, **spec), g.constant(np.int64(258)), **spec)
    first = g.TakeDataset(shifted, g.constant(np.int64(1)), **spec)
    node = g.DatasetToSingleElement(first, **spec)
    output = node[0] if isinstance(node, (list, tuple)) else node
    if dtype in ("bool", "string", "complex64"):
        with pytest.raises(InvalidArgumentError, match="Unsupported data type"):
            Session(g.graph).run([output.name])
        return
    assert Session(g.graph).run([output.name])[0] == np.array(258).astype(output.dtype.numpy)


@pytest.mark.parametrize("state", [np.array([b"a/b.txt"] * 4, object), np.ones(4, np.float32)])
@pytest.mark.parametrize("op", ["StatefulStandardNormal", "StatefulStandardNormalV2"])
def test_a_generator_whose_state_is_no_number(op, state):
    g = GraphBuilder()
    dtype = "string" if state.dtype == object else "float32"
    variable = g.VarHandleOp(dtype=dtype, shape=[4], shared_name="state")
    assign = g.AssignVariableOp(variable, g.constant(state))
    shape = g.constant(np.int32([2]))
    with g.control_dependencies([assign]):
        made = g.apply(op, variable, *([g.constant(np.int64(1))] if op.endswith("V2") else []), shape)
    with pytest.raises(InvalidArgumentError, match="must be int64"):
        Session(g.graph).run([made.name])


def test_a_map_is_no_key():
    g = GraphBuilder()
    node = g.TensorMapHasKey(g.EmptyTensorMap(), g.EmptyTensorMap(), name="op")
    with pytest.raises(InvalidArgumentError, match=r"'op'.*key") as caught:
        Session(g.graph).run([node.name])
    assert not isinstance(caught.value, InternalError)


def test_a_temporary_variable_of_text_begins_empty():
    g = GraphBuilder()
    variable = g.TemporaryVariable(shape=[2], dtype="string")
    g.Identity(variable, name="read")
    assert Session(g.graph).run("read:0").tolist() == [b"", b""]


def test_the_cost_of_what_has_text_for_a_shape():
    g = GraphBuilder()
    g.NonDeterministicInts(WORDS, dtype="int64", name="op")
    with contextlib.suppress(TfgError):
        count_flops(g.graph, ["op:0"])


def test_text_has_no_jacobian():
    g = GraphBuilder()
    x = g.constant(np.array(b"x", object))
    y = g.StringJoin([x, x])
    with pytest.raises(InvalidArgumentError, match="no derivatives"):
        jacobian(g.graph, y.name, x.name)


def test_a_table_takes_only_elements_of_its_dtypes():
    g = GraphBuilder()
    pairs = g.TensorSliceDataset([WORDS, WORDS], output_shapes=[[], []])
    table = g.HashTableV2(key_dtype="string", value_dtype="float32")
    g.InitializeTableFromDataset(table, pairs, name="op")
    with pytest.raises(InvalidArgumentError, match=r"'op'.*cannot be filled"):
        Session(g.graph).run(["op"])


@pytest.mark.parametrize("serialize", [tensor_proto_bytes.serialize, tensor_proto_bytes.serialize_content])
def test_elements_of_another_dtype_are_not_written(serialize):
    with pytest.raises(InvalidArgumentError, match="int32 cannot be written as string"):
        serialize(np.int32([1]), dtypes.string)


def _popped(g, taken):
    stack = g.StackV2(3, elem_type="string")
    with g.control_dependencies([g.StackPushV2(stack, WORDS)]):
        return g.StackPopV2(stack, elem_type=taken)


def _popped_by_name(g, taken):
    stack = g.Stack(elem_type="string")
    with g.control_dependencies([g.StackPush(stack, WORDS)]):
        return g.StackPop(stack, elem_type=taken)


def _received(g, taken):
    devices = {"tensor_name": "t", "send_device": "a", "recv_device": "b", "send_device_incarnation": 1}
    with g.control_dependencies([g._Send(WORDS, **devices)]):
        return g._Recv(tensor_type=taken, **devices)


@pytest.mark.parametrize("take", [_popped, _popped_by_name, _received])
def test_what_was_kept_is_taken_with_its_dtype(take):
    """A run refuses a request with another dtype; inference returns no value."""
    g = GraphBuilder()
    assert Session(g.graph).run(take(g, "string")).tolist() == WORDS.tolist()
    g = GraphBuilder()
    other = take(g, "bfloat16")
    assert infer(g.graph).specs[g.graph.output(str(other))].value is None
    with pytest.raises(InvalidArgumentError, match=other.node.name):
        Session(g.graph).run(other)
