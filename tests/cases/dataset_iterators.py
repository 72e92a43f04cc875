"""Iterators, and queries of whole datasets."""

import numpy as np

from tests.opcases import graph_case, normal, strings
from tests.pipelines import NO_REWRITES, NUMBER, elements, function, int64, numbers, slices

ROWS, NAMES = normal(3, 2), strings("a", "", "cc")
FLOAT_AND_TEXT = elements(("float32", (2,)), ("string", ()))
V1 = {"container": "", "shared_name": ""}


def following(get="IteratorGetNext"):
    def build(g):
        iterator = g.IteratorV2(**V1, **FLOAT_AND_TEXT)
        g.MakeIterator(slices(g, ROWS, NAMES), iterator, name="start")
        getattr(g, get)(iterator, name="next", **FLOAT_AND_TEXT)
        step = ["next:0", "next:1"]
        return [step, ["start"], step, ["next:1"], ["start"], *[step] * 5]

    return graph_case(f"{get} before, after and behind", get, build)


def first_kind(g):
    iterator = g.Iterator(shared_name="", container="", **NUMBER)
    g.MakeIterator(numbers(g, 2), iterator, name="start")
    g.IteratorGetNext(iterator, name="next", **NUMBER)
    return [["start"], *[["next:0"]] * 3]


def one_shot(g):
    made = function(g, "made", [], lambda b: [numbers(b, 3)], stateful=True)
    iterator = g.OneShotIterator(dataset_factory=made, **V1, **NUMBER)
    g.IteratorGetNext(iterator, name="next", **NUMBER)
    return [["next:0"]] * 5


def one_shot_that_fails(g):
    made = function(g, "made", [], lambda b: [b.RangeDataset(int64(0), int64(1), int64(0), **NUMBER)], stateful=True)
    iterator = g.OneShotIterator(dataset_factory=made, **V1, **NUMBER)
    g.IteratorGetNext(iterator, name="next", **NUMBER)
    return [["next:0"]] * 2


def shared(g):
    first, second = (g.IteratorV2(shared_name="one", container="", **NUMBER) for _ in range(2))
    g.MakeIterator(numbers(g, 3), first, name="start")
    g.IteratorGetNext(second, name="next", **NUMBER)
    return [["start"], *[["next:0"]] * 4]


def wrong_elements(g):
    iterator = g.IteratorV2(**V1, **FLOAT_AND_TEXT)
    g.MakeIterator(numbers(g, 3), iterator, name="start")
    g.MakeIterator(slices(g, ROWS[:, :1], NAMES), iterator, name="start_narrow")
    return [["start"], ["start_narrow"]]


def optionals(g):
    iterator = g.IteratorV2(**V1, **FLOAT_AND_TEXT)
    g.MakeIterator(slices(g, ROWS[:1], NAMES[:1]), iterator, name="start")
    optional = g.IteratorGetNextAsOptional(iterator, **FLOAT_AND_TEXT)
    g.OptionalHasValue(optional, name="has")
    g.OptionalGetValue(optional, name="value", **FLOAT_AND_TEXT)
    return [["start"], ["has:0", "value:0", "value:1"], ["has:0"], ["value:0"]]


def feedable(op):
    def build(g):
        iterators = []
        for i in range(2):
            iterators.append(g.IteratorV2(shared_name="", container="", **NUMBER))
            g.MakeIterator(numbers(g, 10 * i, 10 * i + 3), iterators[-1], name=f"start{i}")
        handles = [g.IteratorToStringHandle(iterator) for iterator in iterators]
        for i, handle in enumerate(handles):
            g.IteratorGetNext(getattr(g, op)(handle, **NUMBER), name=f"next{i}", **NUMBER)
        return [["start0"], ["start1"], ["next0:0"], ["next1:0"], ["next0:0"], ["next1:0"]]

    return graph_case(f"{op} two", op, build)


def of_other_elements(g):
    iterator = g.IteratorV2(shared_name="", container="", **NUMBER)
    g.IteratorFromStringHandleV2(g.IteratorToStringHandle(iterator), name="other", **FLOAT_AND_TEXT)
    g.IteratorFromStringHandleV2(np.array(b"no handle", object), name="none", **NUMBER)
    g.IteratorGetDevice(iterator, name="device")
    g.ExperimentalIteratorGetDevice(iterator, name="twin")
    return [["other"], ["none"], ["device:0"], ["twin:0"]]


def anonymous(op):
    def build(g):
        result = getattr(g, op)(**NUMBER)
        handle = result[0] if isinstance(result, tuple | list) else result
        start = g.MakeIterator(numbers(g, 3), handle, name="start")
        with g.control_dependencies([start]):
            g.IteratorGetNext(handle, name="next", **NUMBER)
        return [["next:0"], ["next:0"]]

    return graph_case(f"{op}", op, build)


def no_state(g):
    iterator = g.IteratorV2(**V1, **NUMBER)
    g.SerializeIterator(iterator, name="keep")
    return [["keep"]]


def not_tuned(g):
    """TensorFlow keeps a model only of tuned datasets."""
    iterator = g.IteratorV2(**V1, **NUMBER)
    g.MakeIterator(g.OptionsDataset(numbers(g, 3), serialized_options=NO_REWRITES, **NUMBER), iterator, name="start")
    g.IteratorGetModelProto(iterator, name="model")
    return [["model:0"], ["start"], ["model:0"]]


CASES = [
    graph_case("not tuned", "IteratorGetModelProto", not_tuned),
    graph_case("no state", "SerializeIterator", no_state),
    following(),
    following("IteratorGetNextSync"),
    graph_case("the first kind of iterator", "Iterator", first_kind),
    graph_case("one shot", "OneShotIterator", one_shot),
    graph_case("one shot that fails", "OneShotIterator", one_shot_that_fails),
    graph_case("shared", "IteratorV2", shared),
    graph_case("wrong elements", "MakeIterator", wrong_elements),
    graph_case("optionals", "IteratorGetNextAsOptional", optionals),
    feedable("IteratorFromStringHandle"),
    feedable("IteratorFromStringHandleV2"),
    graph_case("of other elements", "IteratorFromStringHandleV2", of_other_elements),
    *(anonymous(op) for op in ("AnonymousIterator", "AnonymousIteratorV2", "AnonymousIteratorV3")),
]
