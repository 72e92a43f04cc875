"""Cases of the batching family."""

import numpy as np

from tests.opcases import case, graph_case, normal, strings

_BATCH = {"num_batch_threads": 1, "max_batch_size": 4, "batch_timeout_micros": 1000, "grad_timeout_micros": 1000}


def batch(*values, **attrs):
    """The batched tensors and their places, without the arbitrary id."""

    def build(g):
        inputs = [g.constant(value) for value in values]
        node = g.add("Batch", [inputs], {**_BATCH, **attrs}, "op")
        index = node.output(len(values))
        g.StridedSlice(index, [0, 1], [0, 0], [1, 1], begin_mask=1, end_mask=3, name="rows")
        return [[f"op:{i}" for i in range(len(values))], ["rows:0"]]

    return graph_case(f"batch {[np.shape(v) for v in values]} {attrs}", "Batch", build)


def there_and_back(g):
    inputs = [g.constant(normal(2, 3)), g.constant(np.arange(2))]
    batch = g.add("Batch", [inputs], {**_BATCH, "allowed_batch_sizes": [3, 4]}, "b")
    g.Unbatch(batch.output(0), batch.output(2), batch.output(3), timeout_micros=1000, name="u")
    g.UnbatchGrad(g.constant(normal(2, 3)), batch.output(2), g.constant(normal(2, 3)), batch.output(3), name="w")
    return [["b:0", "b:1"], ["u:0"], ["w:0"]]


def unbatch(values, index, id):
    return case("Unbatch", np.float32(values), np.array(index, np.int64), np.array(id, np.int64), timeout_micros=1000)


def unbatch_grad(values, index, grad, id):
    return case("UnbatchGrad", np.float32(values), np.array(index, np.int64), np.float32(grad), np.array(id, np.int64))


CASES = [
    graph_case("there and back", "Batch", there_and_back),
    batch(normal(2, 3)),
    batch(normal(5, 3)),
    batch(normal(2, 3), normal(3, 2)),
    batch(normal(2), allowed_batch_sizes=[1]),
    batch(normal(2), allowed_batch_sizes=[3, 2, 4]),
    batch(normal(2), allowed_batch_sizes=[4, 4]),
    batch(normal(2), strings("a", "b"), allowed_batch_sizes=[4]),
    case("Batch", [normal(0, 3)], **_BATCH),
    case("Batch", [normal(2, 3), normal(0, 3)], **_BATCH),
    case("Batch", [np.float32(3)], **_BATCH),
    unbatch([1, 2], [[3, 0, 2]], 3),
    unbatch([1, 2], [[3, 0, 1], [4, 1, 2]], 4),
    unbatch([1, 2], [[3, 0, 1], [4, 1, 2]], 5),
    unbatch([1, 2], [[3, 0, 1]], [3]),
    unbatch([1, 2], [[3, 1]], 3),
    unbatch([1, 2], [[3, 0, 3]], 3),
    unbatch([1, 2, 3], [[3, 1, 2]], 3),
    unbatch([1, 2, 3], [[3, 0, 2]], 3),
    unbatch([1, 2, 3], [[3, -1, 2]], 3),
    unbatch_grad(np.zeros(0), [[1, 0, 2]], normal(2, 3), 1),
    unbatch_grad([1], [], [1], 3),
    unbatch_grad([1], [[3, 0, 1]], [1], 3),
    unbatch_grad([], [], [], 3),
    unbatch_grad([1, 2], [[3, 0, 1]], [5, 6, 7], [[3]]),
    unbatch_grad([1, 2], [3, 0, 1], [5, 6, 7], 3),
    unbatch_grad([[1, 2]], [[3, 0, 1]], [5, 6, 7], 3),
    unbatch_grad([[], []], [3, 0], [1, 2], 3),
    unbatch_grad([[], []], [[7, 0, 1]], [1, 2], 3),
]
