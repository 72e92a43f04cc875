"""Functions whose every call is another: of other shapes, of other values; and graphs that are deep, wide or dense."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.functions import define
from tests.security.bombs.building import Bomb, ints, view
from tfg import GraphBuilder
from tfg.core.graph.graph import Output
from tfg.core.types.shapes import Shape
from tfg.core.types.tensors import FuncRef

Change = Callable[[GraphBuilder, Output, int], Output]


def _each_another(depth: int, dtype: str, start: Callable[[GraphBuilder], Output], change: Change) -> Bomb:
    """f_i calls f_(i-1) on its argument and on the argument changed by i, so that there are 2^depth different calls."""

    def build(g: GraphBuilder) -> Output:
        def level(i: int) -> Callable[..., list[Output]]:
            def body(b: GraphBuilder, x: Output) -> list[Output]:
                called = [
                    b.PartitionedCall([value], Tout=["float32"], f=FuncRef(f"f{i}"))[0] for value in (x, change(b, x, i))
                ]
                return [b.AddV2(*called)]

            return body

        define(g, "f0", [dtype], lambda b, x: [b.Sum(b.Cast(x, DstT="float32"), b.Range(np.int32(0), b.Rank(x), np.int32(1)))])
        for i in range(depth):
            define(g, f"f{i + 1}", [dtype], level(i))
        return g.PartitionedCall([start(g)], Tout=["float32"], f=FuncRef(f"f{depth}"))[0]

    return build


def _wider(b: GraphBuilder, x: Output, i: int) -> Output:
    return b.PadV2(x, b.constant(np.array([[0, 1 << i]])), b.constant(np.float32(0)))


def _deeper(b: GraphBuilder, x: Output, i: int) -> Output:
    return b.ExpandDims(x, b.constant(np.int32(0)))


def _larger(b: GraphBuilder, x: Output, i: int) -> Output:
    return b.AddV2(x, b.constant(np.int32(1 << i)))


def _many_calls(g: GraphBuilder) -> Output:
    """Ten levels of ten calls each."""

    def level(i: int) -> Callable[..., list[Output]]:
        def body(b: GraphBuilder, x: Output) -> list[Output]:
            return [b.AddN([b.PartitionedCall([x], Tout=["float32"], f=FuncRef(f"f{i}"))[0] for _ in range(10)])]

        return body

    define(g, "f0", ["float32"], lambda b, x: [b.Sqrt(x)])
    for i in range(10):
        define(g, f"f{i + 1}", ["float32"], level(i))
    return g.PartitionedCall([g.constant(np.float32(1))], Tout=["float32"], f=FuncRef("f10"))[0]


def _nested_loops(g: GraphBuilder) -> Output:
    """Loops of a hundred turns in each other, ten deep."""
    types = ["int32", "float32"]
    define(g, "few", types, lambda b, i, x: [b.Less(i, b.constant(np.int32(100)))])
    define(g, "body0", types, lambda b, i, x: [b.AddV2(i, b.constant(np.int32(1))), b.Sqrt(x)])

    def level(name: str) -> Callable[..., list[Output]]:
        def body(b: GraphBuilder, i: Output, x: Output) -> list[Output]:
            inner = b.StatelessWhile([b.constant(np.int32(0)), x], cond=FuncRef("few"), body=FuncRef(name))
            return [b.AddV2(i, b.constant(np.int32(1))), inner[1]]

        return body

    for i in range(10):
        define(g, f"body{i + 1}", types, level(f"body{i}"))
    start = [g.constant(np.int32(0)), g.constant(np.float32(1))]
    return g.StatelessWhile(start, cond=FuncRef("few"), body=FuncRef("body10"))[1]


def _deep_calls(g: GraphBuilder) -> Output:
    """A function that calls one that calls one, three thousand deep."""

    def level(i: int) -> Callable[..., list[Output]]:
        return lambda b, x: [b.PartitionedCall([x], Tout=["float32"], f=FuncRef(f"f{i}"))[0]]

    define(g, "f0", ["float32"], lambda b, x: [b.Sqrt(x)])
    for i in range(3000):
        define(g, f"f{i + 1}", ["float32"], level(i))
    return g.PartitionedCall([g.constant(np.float32(1))], Tout=["float32"], f=FuncRef("f3000"))[0]


def _conditionals(g: GraphBuilder) -> Output:
    """Five hundred V1 conditionals in each other, and the paths through them."""
    x, predicate = g.constant(np.float32(1)), g.Less(g.constant(np.float32(1)), g.constant(np.float32(2)))
    opened = []
    for _ in range(500):
        false, true = g.Switch(x, predicate)
        opened.append(false)
        x = g.Sqrt(true)
    for false in reversed(opened):
        x = g.Merge([false, x])[0]
    return x


def _diamonds(g: GraphBuilder) -> Output:
    """2,000 conditionals one after the other."""
    x, predicate = g.constant(np.float32(1)), g.Less(g.constant(np.float32(1)), g.constant(np.float32(2)))
    for _ in range(2000):
        false, true = g.Switch(x, predicate)
        x = g.Merge([g.Sqrt(false), g.Square(true)])[0]
    return x


def _dense(g: GraphBuilder) -> Output:
    """A thousand nodes, each of which waits for all before it."""
    nodes = []
    for _ in range(1000):
        with g.control_dependencies(list(nodes)):
            nodes.append(g.Sqrt(g.constant(np.float32(1))).node)
    return nodes[-1].output()


def _behind_nothing(g: GraphBuilder) -> Output:
    """4,000 ops behind a placeholder of unknown rank."""
    x = g.PlaceholderWithDefault(view(g, 4), shape=Shape())
    for _ in range(4000):
        x = g.Tanh(x)
    return x


def _with_unknown_sizes(g: GraphBuilder) -> Output:
    """Sizes of which each is a product of sums of those before."""
    x = g.PlaceholderWithDefault(view(g, 2, 2), shape=[None, None])
    for _ in range(200):
        x = g.ConcatV2(
            [g.Reshape(x, ints(g, -1, 1)), g.Reshape(g.MatMul(x, x, transpose_b=True), ints(g, -1, 1))], np.int32(0)
        )
        x = g.Slice(g.Reshape(x, g.Pack([g.Size(x), g.constant(np.int32(1))])), ints(g, 0, 0), ints(g, 2, 1))
    return x


FUNCTIONS: dict[str, Bomb] = {
    "calls of other shapes": _each_another(24, "float32", lambda g: view(g, 1), _wider),
    "calls of other ranks": _each_another(40, "float32", lambda g: view(g, 1), _deeper),
    "calls of other values": _each_another(24, "int32", lambda g: g.constant(np.int32(0)), _larger),
    "ten levels of ten calls": _many_calls,
    "loops in loops": _nested_loops,
    "3,000 calls in each other": _deep_calls,
    "500 conditionals in each other": _conditionals,
    "2,000 conditionals in a row": _diamonds,
    "half a million edges": _dense,
    "4,000 ops of unknown rank": _behind_nothing,
    "sizes of sizes": _with_unknown_sizes,
}
