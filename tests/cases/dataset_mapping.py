"""Datasets of mapped elements."""

import numpy as np

from tests.opcases import graph_case
from tests.pipelines import NO_REWRITES, NUMBER, elements, function, int64, numbers, pipeline, slices

VECTOR = elements(("int64", (None,)))
PAIR = elements(("int64", ()), ("int64", ()))


def square(b, x):
    return [b.Mul(x, x)]


def plus(b, x, y):
    return [b.AddV2(x, y)]


def checked(b, x):
    """`x`, or an error for 2."""
    return [b.CheckNumerics(b.RealDiv(b.Cast(x, DstT="float64"), b.Cast(b.Sub(x, int64(2)), DstT="float64")), message="two")]


def mapped(op, **more):
    def make(g):
        calls = {"ParallelMapDataset": [np.int32(2)], "ParallelMapDatasetV2": [int64(2)]}.get(op, [])
        squares = function(g, "square", ["int64"], square)
        return getattr(g, op)(numbers(g, 4), [], *calls, f=squares, Targuments=[], **more, **NUMBER)

    return pipeline(f"squares {more}", op, make, take=6, passes=2)


def captured(op):
    def make(g):
        calls = [int64(2)] if op.startswith("Parallel") else []
        sums = function(g, "plus", ["int64", "int64"], plus)
        return getattr(g, op)(numbers(g, 4), [g.constant(int64(7))], *calls, f=sums, Targuments=["int64"], **NUMBER)

    return pipeline("plus a captured number", op, make, take=6)


def capturing(op, read, make):
    """A function that captures a read of a variable, with writes to the variable between elements."""

    def build(g):
        variable = g.VariableV2(dtype="int64", shape=[], shared_name="", container="", name="v")
        g.Assign(variable, int64(1), name="begin")
        g.AssignAdd(variable, int64(10), name="add")
        dataset = make(g, numbers(g, 5), read(g, g.Identity(variable)))
        dataset = g.OptionsDataset(dataset, serialized_options=NO_REWRITES, **NUMBER)
        iterator = g.IteratorV2(shared_name="", container="", **NUMBER)
        g.MakeIterator(dataset, iterator, name="start")
        g.IteratorGetNext(iterator, name="next", **NUMBER)
        return [["begin"], ["start"], ["next:0"], ["add"], ["next:0"], ["add"], ["next:0"], ["begin"], ["next:0"]]

    return graph_case(f"{op} captures a variable, {read.__name__}", op, build)


def itself(g, value):
    return value


def computed(g, value):
    return g.AddV2(value, int64(5))


def with_sum(g, data, captured):
    sums = function(g, "sums", ["int64", "int64"], lambda b, x, y: [b.AddV2(x, y)])
    return g.MapDataset(data, [captured], f=sums, Targuments=["int64"], **NUMBER)


def below(g, data, captured):
    less = function(g, "less", ["int64", "int64"], lambda b, x, y: [b.Less(x, y)])
    return g.FilterDataset(data, [captured], predicate=less, Targuments=["int64"], **NUMBER)


def with_state(g, data, captured):
    step = function(g, "step", ["int64"] * 3, lambda b, s, x, y: [b.AddV2(s, y), b.AddV2(s, x)])
    attrs = {"f": step, "Tstate": ["int64"], "Targuments": ["int64"]}
    return g.ScanDataset(data, [captured], [captured], **attrs, **NUMBER)


def failing(op, **more):
    """An element that fails is passed."""
    real = elements(("float64", ()))

    def make(g):
        calls = [int64(2)] if op.startswith("Parallel") else []
        made = function(g, "checked", ["int64"], checked)
        result = getattr(g, op)(numbers(g, 5), [], *calls, f=made, Targuments=[], **more, **real)
        return result

    return pipeline(f"fails once {more}", op, make, real, take=7)


def ignoring(op):
    real = elements(("float64", ()))

    def make(g):
        made = function(g, "checked", ["int64"], checked)
        return getattr(g, op)(g.MapDataset(numbers(g, 5), [], f=made, Targuments=[], **real), **real)

    return pipeline("fails once", op, make, real, take=7, plain=True)


def zipped_failing(g):
    made = function(g, "checked", ["int64"], checked)
    real = elements(("float64", ()))
    failing = g.MapDataset(numbers(g, 5), [], f=made, Targuments=[], **real)
    return g.ZipDataset([numbers(g, 5), failing], **elements(("int64", ()), ("float64", ())))


def batch_failing(op, size):
    real = elements(("float64", (None,)))

    def make(g):
        made = function(g, "checked", ["int64"], checked)
        scalar = elements(("float64", ()))
        return g.BatchDatasetV2(
            g.MapDataset(numbers(g, 7), [], f=made, Targuments=[], **scalar), int64(size), np.array(False), **real
        )

    return pipeline(f"fails once, batches of {size}", op, make, real, take=5, plain=True)


def map_and_batch(op, size, drop, make_element=square, dtype="int64", source=7):
    spec = elements((dtype, (None,)))

    def make(g):
        made = function(g, "made", ["int64"], make_element)
        return getattr(g, op)(numbers(g, source), [], int64(size), int64(2), np.array(drop), f=made, Targuments=[], **spec)

    return pipeline(f"{size} {drop} {make_element.__name__}", op, make, spec, take=5, plain=True)


def counting(b, x):
    """The numbers from x to 2 x."""
    return [b.RangeDataset(x, b.Add(x, x), int64(1), **NUMBER)]


def repeated(b, x):
    """x repeated x times."""
    value = b.TensorDataset([x], Toutput_types=["int64"], output_shapes=[()])
    return [b.RepeatDataset(value, x, **NUMBER)]


def flat(op, *sizes, values=(1, 0, 3, 2), make_dataset=counting, **more):
    def make(g):
        inner = function(g, "inner", ["int64"], make_dataset)
        extra = [int64(size) if isinstance(size, int) else np.array(size) for size in sizes]
        return getattr(g, op)(slices(g, np.int64(values)), [], *extra, f=inner, Targuments=[], **more, **NUMBER)

    return pipeline(f"{sizes} {values} {more}", op, make, take=sum(values) + 3, plain=True)


LONG = (4, 0, 3, 6, 0, 1, 2, 5, 0, 0, 3)


def scanned(op, **more):
    def make(g):
        def running(b, total, x):
            return [b.AddV2(total, x), b.Mul(total, x)]

        made = function(g, "running", ["int64", "int64"], running)
        return getattr(g, op)(numbers(g, 5), [int64(10)], [], f=made, Tstate=["int64"], Targuments=[], **more, **NUMBER)

    return pipeline(f"{more}", op, make, take=7)


def zipped(*sizes):
    spec = elements(*[("int64", ())] * len(sizes))
    return pipeline(f"{sizes}", "ZipDataset", lambda g: g.ZipDataset([numbers(g, n) for n in sizes], **spec), spec, take=6)


def remainder(b, x):
    return [b.FloorMod(x, int64(3))]


def grouped(op, size):
    def make(g):
        def batch(b, key, window):
            return [b.BatchDatasetV2(window, int64(10), np.array(False), **VECTOR)]

        key = function(g, "key", ["int64"], remainder)
        reduce = function(g, "reduce", ["int64", "variant"], batch)
        size_of = function(g, "size", ["int64"], lambda b, key: [b.Add(key, int64(size))])
        arguments = ("Tkey_func_other_arguments", "Treduce_func_other_arguments", "Twindow_size_func_other_arguments")
        functions = {"key_func": key, "reduce_func": reduce, "window_size_func": size_of}
        return getattr(g, op)(numbers(g, 12), [], [], [], **functions, **{name: [] for name in arguments}, **VECTOR)

    return pipeline(f"{size}", op, make, VECTOR, take=9, plain=True)


def reduced(op):
    def make(g):
        functions = {
            "key_func": function(g, "key", ["int64"], remainder),
            "init_func": function(g, "init", ["int64"], lambda b, key: [b.Neg(key), key]),
            "reduce_func": function(g, "reduce", ["int64"] * 3, lambda b, s, t, x: [b.AddV2(s, x), b.Maximum(t, x)]),
            "finalize_func": function(g, "finalize", ["int64"] * 2, lambda b, s, t: [b.Sub(s, t), t]),
        }
        arguments = {f"T{name}_other_arguments": [] for name in functions}
        return getattr(g, op)(numbers(g, 10), [], [], [], [], **functions, **arguments, **PAIR)

    return pipeline("sums", op, make, PAIR, take=5, plain=True)


CASES = [
    mapped("MapDataset"),
    mapped("MapDataset", preserve_cardinality=True, force_synchronous=True),
    mapped("ParallelMapDataset"),
    mapped("ParallelMapDatasetV2"),
    mapped("ParallelMapDatasetV2", deterministic="true", use_unbounded_threadpool=True),
    captured("MapDataset"),
    captured("ParallelMapDatasetV2"),
    *(capturing("MapDataset", read, with_sum) for read in (itself, computed)),
    capturing("FilterDataset", itself, below),
    capturing("ScanDataset", itself, with_state),
    failing("MapDataset"),
    failing("ParallelMapDatasetV2"),
    ignoring("IgnoreErrorsDataset"),
    ignoring("ExperimentalIgnoreErrorsDataset"),
    pipeline("one fails", "ZipDataset", zipped_failing, elements(("int64", ()), ("float64", ())), take=6, plain=True),
    batch_failing("BatchDatasetV2", 2),
    batch_failing("BatchDatasetV2", 3),
    *(map_and_batch("MapAndBatchDataset", size, drop) for size in (2, 3, 7) for drop in (False, True)),
    map_and_batch("ExperimentalMapAndBatchDataset", 3, False),
    map_and_batch("MapAndBatchDataset", 2, False, checked, "float64"),
    map_and_batch("MapAndBatchDataset", 3, True, checked, "float64"),
    flat("FlatMapDataset"),
    flat("FlatMapDataset", values=(0, 0)),
    *(flat("InterleaveDataset", cycle, block, values=LONG) for cycle in (1, 2, 3, 16) for block in (1, 2, 3)),
    flat("InterleaveDataset", 0, 1),
    flat("InterleaveDataset", 1, 0),
    *(flat("ParallelInterleaveDatasetV2", cycle, block, 2, values=LONG) for cycle in (2, 3) for block in (1, 2)),
    flat("ParallelInterleaveDatasetV3", 3, 2, 2, values=LONG, deterministic="true"),
    *(
        flat("ParallelInterleaveDatasetV4", cycle, block, 4, 4, 2, values=LONG, deterministic="true")
        for cycle in (2, 16)
        for block in (1, 3)
    ),
    *(flat("LegacyParallelInterleaveDatasetV2", cycle, 2, 4, 4, values=LONG, deterministic="true") for cycle in (2, 3, 16)),
    flat("ParallelInterleaveDataset", 2, 2, False, 4, 4, values=LONG),
    flat("ExperimentalParallelInterleaveDataset", 3, 1, False, 4, 4, values=LONG, make_dataset=repeated),
    scanned("ScanDataset"),
    scanned("ExperimentalScanDataset"),
    scanned("ScanDataset", preserve_cardinality=True),
    zipped(3),
    zipped(3, 5, 4),
    zipped(0, 2),
    grouped("GroupByWindowDataset", 1),
    grouped("GroupByWindowDataset", 3),
    grouped("GroupByWindowDataset", 0),
    grouped("ExperimentalGroupByWindowDataset", 2),
    reduced("GroupByReducerDataset"),
    reduced("ExperimentalGroupByReducerDataset"),
]
