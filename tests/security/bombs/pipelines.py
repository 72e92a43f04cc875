"""Datasets without an end, of buffers, windows and batches larger than there is memory, and of each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.functions import define
from tests.security.bombs.building import Bomb, view
from tfg import GraphBuilder
from tfg.core.graph.graph import Output
from tfg.core.types.tensors import FuncRef

MOST = 2**63 - 1
NUMBER: dict[str, Any] = {"output_types": ["int64"], "output_shapes": [[]]}
ROWS: dict[str, Any] = {"output_types": ["int64"], "output_shapes": [[None]]}
HANDLES: dict[str, Any] = {"output_types": ["variant"], "output_shapes": [[]]}
Change = Callable[[GraphBuilder, Output], Output]


def number(g: GraphBuilder, value: int) -> Output:
    return g.constant(np.int64(value))


def integers(g: GraphBuilder, count: int = MOST) -> Output:
    return g.RangeDataset(number(g, 0), number(g, count), number(g, 1), **NUMBER)


def sum_of(g: GraphBuilder, dataset: Output) -> Output:
    """The sum of all elements."""
    define(g, "add", ["int64", "int64"], lambda b, total, x: [b.AddV2(total, x)])
    return g.ReduceDataset(dataset, [number(g, 0)], [], f=FuncRef("add"), Tstate=["int64"], Targuments=[], **NUMBER)[0]


def _first(change: Change, attrs: dict[str, Any] = NUMBER) -> Bomb:
    """The first element of a dataset made of all integers."""

    def build(g: GraphBuilder) -> Output:
        taken = g.TakeDataset(change(g, integers(g)), number(g, 1), **attrs)
        return g.DatasetToSingleElement(taken, **attrs)[0]

    return build


def _all(change: Change) -> Bomb:
    return lambda g: sum_of(g, change(g, integers(g)))


def _mapped(g: GraphBuilder, source: Output, op: str, body: Callable[..., Any], attrs: dict[str, Any]) -> Output:
    define(g, "f", ["int64"], body)
    key = "predicate" if op == "FilterDataset" else "f"
    return g.apply(op, source, [], Targuments=[], **{key: FuncRef("f")}, **attrs)


def _padded(g: GraphBuilder, source: Output) -> Output:
    rows = g.BatchDatasetV2(source, number(g, 2), g.constant(True), **ROWS)
    width = g.constant(np.array([1 << 40], np.int64))
    attrs = {"Toutput_types": ["int64"], "output_shapes": [[2, 1 << 40]]}
    return g.PaddedBatchDatasetV2(rows, number(g, 2), [width], [number(g, 0)], g.constant(True), **attrs)


def _grouped(g: GraphBuilder, source: Output) -> Output:
    """One group of all integers, which is given out when it is full."""
    define(g, "key", ["int64"], lambda b, x: [b.constant(np.int64(0))])
    define(g, "size", ["int64"], lambda b, key: [b.constant(np.int64(MOST))])
    define(g, "reduce", ["int64", "variant"], lambda b, key, window: [b.Identity(window)])
    functions = {"key_func": FuncRef("key"), "reduce_func": FuncRef("reduce"), "window_size_func": FuncRef("size")}
    names = ("key_func", "reduce_func", "window_size_func")
    return g.GroupByWindowDataset(source, [], [], [], **functions, **{f"T{n}_other_arguments": [] for n in names}, **NUMBER)


def _doubled(op: str, depth: int) -> Bomb:
    """Each dataset is made of the one before twice."""

    def build(g: GraphBuilder) -> Output:
        result = integers(g, 2)
        for i in range(depth):
            if op == "ConcatenateDataset":
                result = g.ConcatenateDataset(result, result, **NUMBER)
            else:
                flat = {"output_types": ["int64"] * 2**i * 2, "output_shapes": [[]] * 2**i * 2}
                result = g.ZipDataset([result, result], **flat)
        return sum_of(g, result) if op == "ConcatenateDataset" else g.DatasetCardinality(result)

    return build


def _chain(change: Change, length: int) -> Bomb:
    def build(g: GraphBuilder) -> Output:
        result = integers(g, 3)
        for _ in range(length):
            result = change(g, result)
        return sum_of(g, result)

    return build


def _never(b: GraphBuilder, x: Output) -> list[Output]:
    return [b.Less(x, b.constant(np.int64(0)))]


def _wide(b: GraphBuilder, x: Output) -> list[Output]:
    return [b.BroadcastTo(x, b.constant(np.array([1 << 40])))]


def _endless_inside(b: GraphBuilder, x: Output) -> list[Output]:
    return [integers(b)]


def _empty_inside(b: GraphBuilder, x: Output) -> list[Output]:
    return [integers(b, 0)]


PIPELINES: dict[str, Bomb] = {
    "sum of all integers": _all(lambda g, d: d),
    "repeated for ever": _all(lambda g, d: g.RepeatDataset(integers(g, 1), number(g, -1), **NUMBER)),
    "nothing repeated for ever": _all(lambda g, d: g.RepeatDataset(integers(g, 0), number(g, -1), **NUMBER)),
    "shuffled": _first(lambda g, d: g.ShuffleDataset(d, number(g, MOST), number(g, 1), number(g, 2), **NUMBER)),
    "one batch": _first(lambda g, d: g.BatchDatasetV2(d, number(g, MOST), g.constant(False), **ROWS), ROWS),
    "padded": _first(_padded, {"output_types": ["int64"], "output_shapes": [[2, 1 << 40]]}),
    "one window": _first(
        lambda g, d: g.WindowDataset(d, *(number(g, n) for n in (MOST, MOST, 1)), g.constant(True), **HANDLES), HANDLES
    ),
    "sliding window": _first(lambda g, d: g.SlidingWindowDataset(d, *(number(g, n) for n in (MOST, 1, 1)), **ROWS), ROWS),
    "one group": _first(_grouped),
    "prefetched": _all(lambda g, d: g.PrefetchDataset(d, number(g, 1 << 40), **NUMBER)),
    "skipped": _first(lambda g, d: g.SkipDataset(d, number(g, MOST - 1), **NUMBER)),
    "sharded": _first(lambda g, d: g.ShardDataset(d, number(g, MOST), number(g, MOST - 1), **NUMBER)),
    "filtered": _first(lambda g, d: _mapped(g, d, "FilterDataset", _never, NUMBER)),
    "mapped to wide rows": _first(lambda g, d: _mapped(g, d, "MapDataset", _wide, ROWS), ROWS),
    "endless ones in an endless one": _all(lambda g, d: _mapped(g, d, "FlatMapDataset", _endless_inside, NUMBER)),
    "empty ones in an endless one": _all(lambda g, d: _mapped(g, d, "FlatMapDataset", _empty_inside, NUMBER)),
    "concatenated 2^60 times": _doubled("ConcatenateDataset", 60),
    "zipped 2^12 times": _doubled("ZipDataset", 12),
    "3,000 steps": _chain(lambda g, d: g.TakeDataset(d, number(g, -1), **NUMBER), 3000),
    "unbatched": _all(
        lambda g, d: g.UnbatchDataset(
            g.TensorDataset([view(g, 1 << 36, value=np.int64(1))], Toutput_types=["int64"], output_shapes=[[1 << 36]]),
            **NUMBER,
        )
    ),
}
