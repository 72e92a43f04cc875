"""Cases of the queues family."""

import numpy as np

from tests.opcases import graph_case, integers, normal
from tests.opcases import string_array as strings

TYPES = {"component_types": ["float", "string"], "shapes": [(2,), ()]}
ROWS, TEXTS = normal(4, 2), strings(list("abcd"))


def two_components(op, **attrs):
    """An element, then four, taken singly and together until the queue is closed and empty."""

    def build(g):
        queue = getattr(g, op)(**TYPES, capacity=10, **attrs)
        g.QueueEnqueueV2(queue, [g.constant(ROWS[0]), g.constant(TEXTS[0])], name="put")
        g.QueueEnqueueManyV2(queue, [g.constant(ROWS), g.constant(TEXTS)], name="put_many")
        g.QueueDequeueV2(queue, component_types=["float", "string"], name="take")
        g.QueueDequeueManyV2(queue, g.constant(2), component_types=["float", "string"], name="take_two")
        g.QueueDequeueUpToV2(queue, g.constant(3), component_types=["float", "string"], name="take_three")
        g.QueueCloseV2(queue, name="close")
        g.QueueIsClosedV2(queue, name="closed")
        g.QueueSizeV2(queue, name="size")
        both = [f"{name}:{i}" for name in ("take", "take_two", "take_three") for i in (0, 1)]
        take, two, three = both[:2], both[2:4], both[4:]
        steps = [["put"], ["size:0"], ["put_many"], take, two, ["closed:0"], ["close"], ["closed:0"], ["put"]]
        return [*steps, three, three, take, ["close"], ["size:0"]]

    return graph_case(f"{op} {attrs}", op, build)


def v1(op, **attrs):
    """The same queue by a reference handle."""

    def build(g):
        queue = getattr(g, op)(component_types=["float"], shapes=[(2,)], **attrs)
        first = [g.constant(np.int64(3))] if op == "PriorityQueue" else []
        types = [*(["int64"] if first else []), "float"]
        g.QueueEnqueue(queue, [*first, g.constant(ROWS[0])], name="put")
        many = [g.constant(np.int64([2, 1, 2, 1]))] if first else []
        g.QueueEnqueueMany(queue, [*many, g.constant(ROWS)], name="put_many")
        g.QueueDequeue(queue, component_types=types, name="take")
        g.QueueDequeueMany(queue, g.constant(2), component_types=types, name="take_two")
        g.QueueDequeueUpTo(queue, g.constant(2), component_types=types, name="take_up_to")
        g.QueueSize(queue, name="size")
        g.QueueIsClosed(queue, name="closed")
        g.QueueClose(queue, name="close")
        outputs = {name: [f"{name}:{i}" for i in range(len(types))] for name in ("take", "take_two", "take_up_to")}
        steps = [["put"], ["put_many"], outputs["take"], outputs["take_two"], ["size:0"], ["close"], ["closed:0"]]
        return [*steps, outputs["take_up_to"], outputs["take_up_to"]]

    return graph_case(f"reference {op}", op, build)


def priorities(values):
    """Elements of equal priority leave in the order of C++'s heap."""

    def build(g):
        queue = g.PriorityQueueV2(component_types=["string"], shapes=[()])
        names = strings([str(i) for i in range(len(values))])
        g.QueueEnqueueManyV2(queue, [g.constant(np.int64(values)), g.constant(names)], name="put")
        g.QueueDequeueManyV2(queue, g.constant(len(values)), component_types=["int64", "string"], name="take")
        return [["put"], ["take:0", "take:1"]]

    return graph_case(f"priorities {values}", "PriorityQueueV2", build)


def padding():
    def build(g):
        queue = g.PaddingFIFOQueueV2(component_types=["int32", "string"], shapes=[(None, 2), (None,)])
        for i, rows in enumerate((1, 3, 0)):
            g.QueueEnqueueV2(queue, [g.constant(integers(rows, 2)), g.constant(strings(list("xyz")[:rows]))], name=f"put{i}")
        g.QueueDequeueManyV2(queue, g.constant(3), component_types=["int32", "string"], name="take")
        return [["put0"], ["put1"], ["put2"], ["take:0", "take:1"]]

    return graph_case("padding", "PaddingFIFOQueueV2", build)


def one_step(key, use, **attrs):
    """A queue of float vectors of two, and a step on the queue."""

    def build(g):
        queue = g.FIFOQueueV2(**{"component_types": ["float"], "shapes": [(2,)], **attrs}, name="q")
        use(g, queue)
        return [["op" if not list(g.graph["op"].output_dtypes) else "op:0"]]

    return graph_case(key, "FIFOQueueV2", build)


def put(value):
    return lambda g, q: g.QueueEnqueueV2(q, [g.constant(value)], name="op")


def put_many(*values):
    return lambda g, q: g.QueueEnqueueManyV2(q, [g.constant(v) for v in values], name="op")


def take_many(count, **types):
    return lambda g, q: g.QueueDequeueManyV2(q, g.constant(count), **{"component_types": ["float"], **types}, name="op")


def shared(key, first, second):
    """Two queues of the same name."""

    def build(g):
        for i, attrs in enumerate((first, second)):
            g.QueueSizeV2(g.FIFOQueueV2(**{"component_types": ["float"], **attrs}, shared_name="s"), name=f"size{i}")
        return [["size0:0"], ["size1:0"]]

    return graph_case(f"shared {key}", "FIFOQueueV2", build)


def producer_and_consumer():
    """A run with a dequeue before an enqueue: the consumer waits for the producer."""

    def build(g):
        queue = g.FIFOQueueV2(component_types=["float"], shapes=[(2,)])
        g.QueueDequeueV2(queue, component_types=["float"], name="take")
        g.QueueEnqueueV2(queue, [g.constant(ROWS[0])], name="put")
        return [["take:0", "put"], ["put", "take:0"]]

    return graph_case("producer and consumer", "FIFOQueueV2", build)


def fake():
    def build(g):
        queue = g.FIFOQueueV2(component_types=["float"], shapes=[()])
        g.QueueSize(g.FakeQueue(queue), name="size")
        return [["size:0"]]

    return graph_case("fake", "FakeQueue", build)


def capacity(op, **attrs):
    def build(g):
        g.QueueSizeV2(getattr(g, op)(**TYPES, **attrs), name="size")
        return [["size:0"]]

    return graph_case(f"{op} {attrs}", op, build)


CASES = [
    *(capacity("RandomShuffleQueueV2", capacity=4, min_after_dequeue=n) for n in (3, 4, 5)),
    two_components("FIFOQueueV2"),
    two_components("PaddingFIFOQueueV2"),
    two_components("RandomShuffleQueueV2", seed=3, seed2=5),
    two_components("RandomShuffleQueueV2", seed=3, seed2=5, min_after_dequeue=1),
    v1("FIFOQueue"),
    v1("PaddingFIFOQueue"),
    v1("RandomShuffleQueue", seed=3),
    v1("PriorityQueue"),
    priorities([3, 1, 2, 1, 3, 2]),
    priorities([0] * 11),
    padding(),
    producer_and_consumer(),
    fake(),
    one_step("wrong shape", put(normal(3))),
    one_step("wrong dtype", put(np.float64([1, 2]))),
    one_step("too many components", put_many(ROWS, ROWS)),
    one_step("scalar in a batch", put_many(np.float32(1))),
    one_step("empty batch", put_many(ROWS[:0])),
    one_step("none taken", take_many(0)),
    one_step("fewer than none taken", take_many(-1)),
    one_step("other types taken", take_many(1, component_types=["double"])),
    one_step("unknown shapes taken", take_many(1), shapes=[]),
    one_step("too many shapes", put(ROWS[0]), shapes=[(2,), (2,)]),
    shared("same", {"capacity": 3}, {"capacity": 3}),
    shared("other capacity", {"capacity": 3}, {"capacity": 4}),
    shared("other types", {}, {"component_types": ["double"]}),
    shared("other shapes", {"shapes": [(1,)]}, {"shapes": [(2,)]}),
]
