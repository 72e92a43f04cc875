"""TensorLists: made, changed and read; the gradients are checked through a list that leads from tensors to tensors."""

import numpy as np

from tests.opcases import graph_case, i32, normal, strings

X = normal(3, 2, dtype="float64")


def of_rows(g, values=X, shape=None):
    shape = i32(*np.shape(values)[1:]) if shape is None else shape
    return g.TensorListFromTensor(values, shape)


def reserved(g, count=3, shape=None, dtype="float64"):
    return g.TensorListReserve(i32(2) if shape is None else shape, count, element_dtype=dtype)


def stacked(g, handle, shape=None, **options):
    return g.TensorListStack(handle, i32(2) if shape is None else shape, element_dtype="float64", **options)


def one(make):
    """A case with a single fetch."""

    def build(g):
        result = make(g)
        return [[value.name for value in (result if isinstance(result, (list, tuple)) else [result])]]

    return build


def item(g, handle, index, shape=None):
    return g.TensorListGetItem(handle, index, i32(2) if shape is None else shape, element_dtype="float64")


def pushed(g):
    handle = g.EmptyTensorList(i32(2), -1, element_dtype="float64")
    for row in X:
        handle = g.TensorListPushBack(handle, row)
    return handle


def pop_all(g):
    handle = pushed(g)
    values = []
    for _ in X:
        handle, value = g.TensorListPopBack(handle, i32(2), element_dtype="float64")
        values.append(value)
    return [*values, g.TensorListLength(handle)]


def old_versions_live_on(g):
    """A list does not change when new lists are made from the list."""
    first = of_rows(g)
    second = g.TensorListSetItem(first, 1, np.zeros(2))
    third = g.TensorListPushBack(second, np.ones(2))
    fourth, _ = g.TensorListPopBack(second, i32(2), element_dtype="float64")
    with g.control_dependencies([third, fourth]):
        return [stacked(g, handle) for handle in (first, second, third, fourth)]


def scattered(version):
    def make(g):
        if version == "":
            return stacked(g, g.TensorListScatter(X, [2, 0, 4], i32(2)))
        return stacked(g, g.TensorListScatterV2(X, [2, 0, 4], i32(2), 6))

    return make


def into_existing(g):
    return stacked(g, g.TensorListScatterIntoExistingList(of_rows(g), -X[:2], [2, 0]))


def concat_v1(g):
    handle = g.TensorListSplit(X, i32(-1, 2), np.array([1, 0, 2]))
    return g.TensorListConcat(handle, element_dtype="float64", element_shape=[None, 2])


def concat(g, handle, shape=None, leading=()):
    shape = i32(-1, 2) if shape is None else shape
    return g.TensorListConcatV2(handle, shape, np.array(leading, np.int64), element_dtype="float64")


def split_and_concat(g):
    return concat(g, g.TensorListSplit(X, i32(-1, 2), np.array([1, 0, 2])))


def unset_pieces(g):
    handle = g.TensorListSetItem(reserved(g, 2, i32(-1, 2)), 0, X)
    return concat(g, handle, leading=[3, 2])


def unset_as_the_others(g):
    """Unset elements have as many rows as the other elements, if the other elements agree."""
    handle = g.TensorListSetItem(reserved(g, 3, np.int32(-1)), 1, X)
    return concat(g, handle)


def unset_unlike_the_others(g):
    handle = g.TensorListSetItem(reserved(g, 3, i32(-1, 2)), 0, X)
    return concat(g, g.TensorListSetItem(handle, 1, X[:1]))


def batches(g):
    """Two lists at once."""
    handles = g.Pack([of_rows(g), reserved(g)], axis=0)
    both = g.TensorListPushBackBatch(handles, X[:2])
    joined = g.TensorListConcatLists(both, both, element_dtype="float64")
    first, second = g.Unpack(joined, num=2)
    return [stacked(g, first), stacked(g, second)]


def sums(g):
    """AddN and ZerosLike of variants that hold lists."""
    total = g.AddN([of_rows(g), of_rows(g), reserved(g)])
    return [stacked(g, total), stacked(g, g.ZerosLike(total))]


def of_strings(g):
    handle = g.TensorListReserve(i32(), 2, element_dtype="string")
    handle = g.TensorListSetItem(handle, 1, g.constant(strings("ab")[0], "string"))
    return g.TensorListStack(handle, i32(), element_dtype="string")


def of_one_string(g):
    """The rows of a vector of strings, stacked again after an op that gives a scalar."""
    handle = g.TensorListFromTensor(strings("ab", "cd"), i32())
    upper = g.StringUpper(g.TensorListGetItem(handle, 1, i32(), element_dtype="string"))
    return g.TensorListStack(g.TensorListSetItem(handle, 0, upper), i32(), element_dtype="string")


def nested(g):
    """A list of lists."""
    outer = g.EmptyTensorList(i32(), -1, element_dtype="variant")
    outer = g.TensorListPushBack(outer, of_rows(g))
    return stacked(g, g.TensorListGetItem(outer, 0, i32(), element_dtype="variant"))


def shapes(g):
    lists = [of_rows(g), of_rows(g, shape=i32(-1)), g.EmptyTensorList(-1, -1, element_dtype="float64")]
    return [g.TensorListElementShape(handle, shape_type="int64") for handle in lists]


CASES = [
    graph_case("push and pop", "TensorListPushBack", one(pop_all)),
    graph_case("pop", "TensorListPopBack", one(pop_all)),
    graph_case("length", "TensorListLength", one(lambda g: g.TensorListLength(of_rows(g)))),
    graph_case("empty", "EmptyTensorList", one(lambda g: stacked(g, g.EmptyTensorList(i32(2), -1, element_dtype="float64")))),
    graph_case("old versions live on", "TensorListSetItem", one(old_versions_live_on)),
    graph_case("from a tensor", "TensorListFromTensor", one(lambda g: item(g, of_rows(g), 1))),
    graph_case("get", "TensorListGetItem", one(lambda g: [item(g, of_rows(g), i) for i in range(3)])),
    graph_case("get what was never set", "TensorListGetItem", one(lambda g: item(g, reserved(g), 1))),
    graph_case("get with a shape", "TensorListGetItem", one(lambda g: item(g, reserved(g, shape=np.int32(-1)), 1, i32(4)))),
    graph_case("reserve", "TensorListReserve", one(lambda g: stacked(g, reserved(g)))),
    graph_case("stack", "TensorListStack", one(lambda g: stacked(g, of_rows(g), num_elements=3))),
    graph_case("stack, shape unknown", "TensorListStack", one(lambda g: stacked(g, of_rows(g), np.int32(-1)))),
    graph_case(
        "set beyond the end",
        "TensorListSetItem",
        one(lambda g: stacked(g, g.TensorListSetItem(of_rows(g), 4, X[0], resize_if_index_out_of_bounds=True))),
    ),
    graph_case("resize up", "TensorListResize", one(lambda g: stacked(g, g.TensorListResize(of_rows(g), 4)))),
    graph_case("resize down", "TensorListResize", one(lambda g: stacked(g, g.TensorListResize(of_rows(g), 1)))),
    graph_case(
        "gather", "TensorListGather", one(lambda g: g.TensorListGather(of_rows(g), [2, 0, 2], i32(2), element_dtype="float64"))
    ),
    graph_case("scatter", "TensorListScatter", one(scattered(""))),
    graph_case("scatter V2", "TensorListScatterV2", one(scattered("V2"))),
    graph_case("scatter into a list", "TensorListScatterIntoExistingList", one(into_existing)),
    graph_case("concat V1", "TensorListConcat", one(concat_v1)),
    graph_case("concat", "TensorListConcatV2", one(split_and_concat)),
    graph_case("concat with unset pieces", "TensorListConcatV2", one(unset_pieces)),
    graph_case("concat, unset as the others", "TensorListConcatV2", one(unset_as_the_others)),
    graph_case("concat, unset unlike the others", "TensorListConcatV2", one(unset_unlike_the_others)),
    graph_case(
        "concat, other rows than asked for", "TensorListConcatV2", one(lambda g: concat(g, of_rows(g, X[None]), i32(2, 2)))
    ),
    graph_case("split", "TensorListSplit", one(split_and_concat)),
    graph_case(
        "split into other rows than the shape says",
        "TensorListSplit",
        one(lambda g: concat(g, g.TensorListSplit(X, i32(1, 2), np.array([1, 2])))),
    ),
    graph_case(
        "split into scalars",
        "TensorListSplit",
        one(lambda g: g.TensorListLength(g.TensorListSplit(X[:, 0], i32(), np.array([1, 2])))),
    ),
    graph_case("push a batch", "TensorListPushBackBatch", one(batches)),
    graph_case("concat lists", "TensorListConcatLists", one(batches)),
    graph_case("element shapes", "TensorListElementShape", one(shapes)),
    graph_case("sums", "TensorListFromTensor", one(sums)),
    graph_case("strings", "TensorListReserve", one(of_strings)),
    graph_case("scalars of strings", "TensorListStack", one(of_one_string)),
    graph_case("nested", "TensorListPushBack", one(nested)),
    graph_case(
        "pop from an empty list",
        "TensorListPopBack",
        one(lambda g: g.TensorListPopBack(reserved(g, 0), i32(2), element_dtype="float64")[1]),
    ),
    graph_case(
        "push into a full list",
        "TensorListPushBack",
        one(lambda g: g.TensorListLength(g.TensorListPushBack(g.EmptyTensorList(i32(2), 0, element_dtype="float64"), X[0]))),
    ),
    graph_case(
        "push another shape", "TensorListPushBack", one(lambda g: g.TensorListLength(g.TensorListPushBack(of_rows(g), X)))
    ),
    graph_case(
        "push another dtype",
        "TensorListPushBack",
        one(lambda g: g.TensorListLength(g.TensorListPushBack(of_rows(g), i32(1, 2)))),
    ),
    graph_case(
        "set before the start",
        "TensorListSetItem",
        one(lambda g: g.TensorListLength(g.TensorListSetItem(of_rows(g), -1, X[0]))),
    ),
    graph_case(
        "set after the end", "TensorListSetItem", one(lambda g: g.TensorListLength(g.TensorListSetItem(of_rows(g), 3, X[0])))
    ),
    graph_case("get after the end", "TensorListGetItem", one(lambda g: item(g, of_rows(g), 3))),
    graph_case(
        "get of unknown shape", "TensorListGetItem", one(lambda g: item(g, reserved(g, shape=np.int32(-1)), 1, np.int32(-1)))
    ),
    graph_case("stack a wrong count", "TensorListStack", one(lambda g: stacked(g, of_rows(g), num_elements=2))),
    graph_case("stack a wrong shape", "TensorListStack", one(lambda g: stacked(g, of_rows(g), i32(3)))),
    graph_case("stack nothing", "TensorListStack", one(lambda g: stacked(g, reserved(g, 0, np.int32(-1)), np.int32(-1)))),
    graph_case(
        "gather after the end",
        "TensorListGather",
        one(lambda g: g.TensorListGather(of_rows(g), [3], i32(2), element_dtype="float64")),
    ),
    graph_case("reserve less than nothing", "TensorListReserve", one(lambda g: g.TensorListLength(reserved(g, -1)))),
    graph_case(
        "resize below nothing", "TensorListResize", one(lambda g: g.TensorListLength(g.TensorListResize(of_rows(g), -1)))
    ),
    graph_case(
        "from a scalar",
        "TensorListFromTensor",
        one(lambda g: g.TensorListLength(g.TensorListFromTensor(np.float64(1), i32()))),
    ),
    graph_case("from another shape", "TensorListFromTensor", one(lambda g: g.TensorListLength(of_rows(g, X, i32(3))))),
    graph_case(
        "scatter before the start",
        "TensorListScatter",
        one(lambda g: g.TensorListLength(g.TensorListScatter(X, [-1, 0, 1], i32(2)))),
    ),
    graph_case(
        "scatter after the end",
        "TensorListScatterV2",
        one(lambda g: g.TensorListLength(g.TensorListScatterV2(X, [0, 1, 2], i32(2), 2))),
    ),
    graph_case(
        "split too few rows",
        "TensorListSplit",
        one(lambda g: g.TensorListLength(g.TensorListSplit(X, i32(-1, 2), np.array([1])))),
    ),
    graph_case(
        "split too many rows",
        "TensorListSplit",
        one(lambda g: g.TensorListLength(g.TensorListSplit(X, i32(-1, 2), np.array([4])))),
    ),
    graph_case("concat scalars", "TensorListConcatV2", one(lambda g: concat(g, of_rows(g, X[0]), np.int32(-1)))),
    graph_case(
        "read another dtype",
        "TensorListGetItem",
        one(lambda g: g.TensorListGetItem(of_rows(g), 0, i32(2), element_dtype="float32")),
    ),
]
