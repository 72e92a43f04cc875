"""Datasets of tensors, ranges and random numbers."""

import numpy as np

from tests.opcases import normal, strings
from tests.pipelines import NUMBER, elements, function, int64, numbers, pipeline, slices

ROWS, NAMES = normal(4, 2), strings("a", "", "cc", "d")
FLOAT_AND_TEXT = elements(("float32", (2,)), ("string", ()))


def tensors(g):
    return g.TensorDataset(
        [g.constant(ROWS[0]), g.constant(NAMES[0])], Toutput_types=["float32", "string"], output_shapes=[(2,), ()]
    )


def listed(g):
    values = [g.constant(v) for i in range(3) for v in (ROWS[i], NAMES[i])]
    return g.ListDataset(values, Tinput_types=[v.dtype for v in values], **FLOAT_AND_TEXT)


def ranged(dtype, *bounds):
    spec = elements((dtype, ()))
    return pipeline(f"{dtype} {bounds}", "RangeDataset", lambda g: g.RangeDataset(*map(int64, bounds), **spec), spec, take=6)


def sparse(indices, values, size):
    def make(g):
        parts = [np.array(indices, np.int64).reshape(-1, len(size)), np.array(values, np.float32), np.array(size, np.int64)]
        return g.SparseTensorSliceDataset(*parts, Tvalues="float32")

    spec = elements(("int64", (None, len(size) - 1)), ("float32", (None,)), ("int64", (len(size) - 1,)))
    return pipeline(f"{indices} {size}", "SparseTensorSliceDataset", make, spec, take=5)


def random(op, seed, seed2, **attrs):
    return pipeline(
        f"{seed} {seed2}",
        op,
        lambda g: getattr(g, op)(int64(seed), int64(seed2), **NUMBER, **attrs),
        take=7,
        passes=2,
        plain=True,
    )


def random_v2(generator, renewed):
    def make(g):
        if generator == "DummySeedGenerator":
            handle = g.DummySeedGenerator()
        else:
            handle = g.AnonymousSeedGenerator(int64(3), int64(4), np.array(renewed))[0]
        return g.RandomDatasetV2(int64(5), int64(6), handle, rerandomize_each_iteration=renewed, **NUMBER)

    return pipeline(f"{generator} {renewed}", "RandomDatasetV2", make, take=5, passes=3)


def shuffled_by(reshuffle):
    def make(g):
        handle = g.AnonymousSeedGenerator(int64(3), int64(4), np.array(reshuffle))[0]
        return g.RepeatDataset(g.ShuffleDatasetV2(numbers(g, 5), int64(3), handle, **NUMBER), int64(2), **NUMBER)

    return pipeline(f"{reshuffle}", "ShuffleDatasetV2", make, passes=2)


def generated(g):
    """Twice the values of an iterator from the first function, plus the capture of the second function."""

    def begin(b):
        handle = b.AnonymousIteratorV3(**NUMBER)
        with b.control_dependencies([b.MakeIterator(numbers(b, 3), handle)]):
            return [b.Identity(handle)]

    def following(b, handle, captured):
        return [b.AddV2(b.Mul(int64(2), b.IteratorGetNext(handle, **NUMBER)[0]), captured)]

    names = {
        "init_func": function(g, "begin", [], begin, stateful=True),
        "next_func": function(g, "following", ["resource", "int64"], following, stateful=True),
        "finalize_func": function(g, "end", ["resource"], lambda b, handle: [b.constant(int64(0))]),
    }
    return g.GeneratorDataset([], [g.constant(int64(5))], [], **names, **NUMBER)


CASES = [
    pipeline("of an iterator", "GeneratorDataset", generated, take=5, passes=2),
    pipeline("two components", "TensorDataset", tensors, FLOAT_AND_TEXT, take=3),
    pipeline("two components", "TensorSliceDataset", lambda g: slices(g, ROWS, NAMES), FLOAT_AND_TEXT, take=6, passes=2),
    pipeline("numbers", "TensorSliceDataset", lambda g: slices(g, np.int64([3, 1, 2])), take=5),
    pipeline("nothing", "TensorSliceDataset", lambda g: slices(g, np.int64([])), take=2),
    pipeline("rank 0", "TensorSliceDataset", lambda g: slices(g, np.int64(3)), take=1),
    pipeline("lengths that differ", "TensorSliceDataset", lambda g: slices(g, ROWS, NAMES[:3]), FLOAT_AND_TEXT, take=1),
    pipeline("two components", "ListDataset", listed, FLOAT_AND_TEXT, take=5),
    *(
        ranged(*given)
        for given in [("int64", 0, 5, 2), ("int32", 5, 0, -2), ("float64", -2, 3, 2), ("int64", 3, 3, 1), ("int64", 3, 0, 1)]
    ),
    ranged("int64", 0, 5, 0),
    ranged("float32", 2**40, 2**40 + 3, 1),
    sparse([[0, 1], [0, 2], [2, 0]], [1, 2, 3], (4, 3)),
    sparse([[0, 0, 1], [1, 1, 1]], [1, 2], (2, 2, 2)),
    sparse([], [], (2, 3)),
    sparse([[1, 0], [0, 0]], [1, 2], (2, 3)),
    random("RandomDataset", 1, 2),
    random("RandomDataset", 0, -7),
    random("ExperimentalRandomDataset", 2**40, 3),
    *(
        random_v2(generator, renewed)
        for generator in ("DummySeedGenerator", "AnonymousSeedGenerator")
        for renewed in (True, False)
    ),
    shuffled_by(True),
    shuffled_by(False),
]
