"""Loops without an end, and functions that call each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.functions import define
from tests.security.bombs.building import MOST, Bomb, view
from tfg import GraphBuilder
from tfg.core.graph.graph import Output
from tfg.core.types.tensors import FuncRef


def _while(g: GraphBuilder, op: str = "While", wide: int = 1) -> Output:
    """A loop whose body does nothing, and whose condition holds."""
    types = ["float32"] * wide
    define(g, "holds", types, lambda b, *a: [b.constant(True)])
    define(g, "same", types, lambda b, *a: [b.Identity(x) for x in a])
    return g.apply(op, [g.constant(np.float32(1))] * wide, cond=FuncRef("holds"), body=FuncRef("same"))[0]


def _growing(g: GraphBuilder) -> Output:
    """A loop whose variable doubles."""
    define(g, "holds", ["float32"], lambda b, a: [b.constant(True)])
    define(g, "twice", ["float32"], lambda b, a: [b.ConcatV2([a, a], b.constant(np.int32(0)))])
    shape = {"output_shapes": [None]}
    return g.While([view(g, 2)], cond=FuncRef("holds"), body=FuncRef("twice"), **shape)[0]


def _while_v1(g: GraphBuilder) -> Output:
    """Enter, Merge, Switch and NextIteration around a condition that holds."""
    start = g.Enter(g.constant(np.float32(1)), frame_name="endless")
    merged = g.Merge([start, start])[0]
    condition = g.LoopCond(
        g.Less(
            g.Mul(merged, g.Enter(g.constant(np.float32(0)), frame_name="endless", is_constant=True)),
            g.Enter(g.constant(np.float32(1)), frame_name="endless", is_constant=True),
        )
    )
    out, on = g.Switch(merged, condition)
    g.graph.set_input(merged.node, 1, g.NextIteration(g.Identity(on)))
    return g.Exit(out)


def _for(g: GraphBuilder) -> Output:
    define(g, "step", ["int32", "float32"], lambda b, i, x: [b.Identity(x)])
    limits = [g.constant(np.int32(n)) for n in (0, MOST, 1)]
    return g.For(*limits, [g.constant(np.float32(1))], body=FuncRef("step"))[0]


def _nested_calls(depth: int, op: str = "PartitionedCall", **attrs: Any) -> Bomb:
    """f_i calls f_(i-1) twice, so that f_depth is 2^depth calls."""

    def build(g: GraphBuilder) -> Output:
        def twice(name: str) -> Callable[..., list[Output]]:
            def body(b: GraphBuilder, x: Output) -> list[Output]:
                once = b.apply(op, [x], Tout=["float32"], f=FuncRef(name), **attrs)[0]
                return [b.apply(op, [once], Tout=["float32"], f=FuncRef(name), **attrs)[0]]

            return body

        define(g, "f0", ["float32"], lambda b, x: [b.Sqrt(x)])
        for level in range(1, depth + 1):
            define(g, f"f{level}", ["float32"], twice(f"f{level - 1}"))
        return g.apply(op, [g.constant(np.float32(1))], Tout=["float32"], f=FuncRef(f"f{depth}"), **attrs)[0]

    return build


def _nested(depth: int, kind: str) -> Bomb:
    """If, Case or While in each other, each with two functions that call the next ones."""

    def build(g: GraphBuilder) -> Output:
        define(g, "f0", ["float32"], lambda b, x: [b.Sqrt(x)])
        define(g, "never", ["float32"], lambda b, x: [b.Less(x, b.constant(np.float32(0)))])

        def call(b: GraphBuilder, x: Output, name: str) -> Output:
            if kind == "While":
                return b.StatelessWhile([x], cond=FuncRef("never"), body=FuncRef(name))[0]
            if kind == "Case":
                branches = [FuncRef(name)] * 3
                return b.StatelessCase(b.Cast(x, DstT="int32"), [x], Tout=["float32"], branches=branches)[0]
            true = b.Less(x, b.constant(np.float32(2)))
            return b.StatelessIf(true, [x], Tout=["float32"], then_branch=FuncRef(name), else_branch=FuncRef(name))[0]

        def level(name: str) -> Callable[..., list[Output]]:
            return lambda b, x: [call(b, call(b, x, name), name)]

        for i in range(1, depth + 1):
            define(g, f"f{i}", ["float32"], level(f"f{i - 1}"))
        return call(g, g.constant(np.float32(1)), f"f{depth}")

    return build


def _recursive(g: GraphBuilder) -> Output:
    """A function that calls itself twice, one after the other."""

    def body(b: GraphBuilder, x: Output) -> list[Output]:
        once = b.PartitionedCall([x], Tout=["float32"], f=FuncRef("f"))[0]
        return [b.PartitionedCall([once], Tout=["float32"], f=FuncRef("f"))[0]]

    g.graph.functions["f"] = None
    define(g, "f", ["float32"], body)
    return g.PartitionedCall([g.constant(np.float32(1))], Tout=["float32"], f=FuncRef("f"))[0]


LOOPS: dict[str, Bomb] = {
    "While": _while,
    "StatelessWhile": lambda g: _while(g, "StatelessWhile"),
    "wide While": lambda g: _while(g, "StatelessWhile", 1000),
    "While that doubles": _growing,
    "loop of primitives": _while_v1,
    "For": _for,
    "40 levels of calls": _nested_calls(40),
    "40 levels of StatefulPartitionedCall": _nested_calls(40, "StatefulPartitionedCall"),
    "40 levels of If": _nested(40, "If"),
    "40 levels of Case": _nested(40, "Case"),
    "40 levels of While": _nested(40, "While"),
    "recursion": _recursive,
}
