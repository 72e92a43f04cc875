"""`--verify`: wrong rewrites of each kind are found, and right ones pass."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import ClassVar

import numpy as np
import pytest

import tfg
from tfg.core.building.builder import GraphBuilder
from tfg.core.graph.graph import Graph
from tfg.core.passes.base.graph_pass import Pass, PassContext
from tfg.core.passes.pipeline import optimize


@dataclasses.dataclass(frozen=True)
class Wrong(Pass):
    """A pass with a fault."""

    change: Callable[[Graph], None]
    name: ClassVar[str] = "wrong"
    summary: ClassVar[str] = "change results"

    def run(self, graph: Graph, ctx: PassContext) -> None:
        self.change(graph)


def placeholder(b, name, shape=(None, 3), dtype="float"):
    return b.Placeholder(dtype=dtype, shape=list(shape) if shape is not None else None, name=name)


def variable(b, name, value):
    handle = b.VarHandleOp(dtype="float", shape=[], name=name, shared_name=name)
    b.AssignVariableOp(handle, b.constant(np.float32(value)), name=f"init_{name}")
    return handle


def replaced(node, make):
    """Return a change that puts the output that `make` builds in the place of an output."""

    def change(graph):
        old = graph.output(f"{node}:0")
        users = [(user, place) for user in old.node.uses for place, value in enumerate(user.inputs) if value == old]
        new = make(GraphBuilder(graph), old)
        for user, place in users:
            graph.set_input(user, place, new)

    return change


def broadcast(b):
    x, y = placeholder(b, "x"), placeholder(b, "y")
    shape = b.Shape(b.AddV2(x, y), name="shape")
    b.BroadcastTo(x, b.Identity(shape), name="out")
    return ["out:0"], replaced("shape", lambda b, old: b.Shape(b.graph.output("x:0")))


def one_axis(b):
    x, y = placeholder(b, "x", (None, None)), placeholder(b, "y", (None, None))
    shape = b.Shape(b.AddV2(x, y), name="shape")
    b.BroadcastTo(x, b.Identity(shape), name="out")

    def of_first_axis(b, old):
        rows, columns = (b.Slice(source, b.constant(np.int32([at])), b.constant(np.int32([1])))
                         for source, at in ((old, 0), (b.Shape(b.graph.output("x:0")), 1)))  # fmt: skip
        return b.ConcatV2([rows, columns], b.constant(np.int32(0)))

    return ["out:0"], replaced("shape", of_first_axis)


def empty_mean(b):
    x = placeholder(b, "x")
    mean = b.Mean(x, b.constant(np.int32([0])), name="mean")
    b.Identity(mean, name="out")

    def rounded_up(b, old):
        size = b.Maximum(b.Cast(b.Size(b.graph.output("x:0")), DstT="float"), b.constant(np.float32(3)))
        total = b.Sum(b.graph.output("x:0"), b.constant(np.int32([0])))
        return b.Div(b.Mul(total, b.constant(np.float32(3))), size)

    return ["out:0"], replaced("mean", rounded_up)


def v1_branch(b):
    x, p = placeholder(b, "x"), placeholder(b, "p", (), "bool")
    off, on = b.Switch(x, p)
    b.Identity(b.Merge([b.Neg(off, name="off"), b.Exp(on, name="on")])[0], name="out")
    return ["out:0"], replaced("off", lambda b, old: b.Abs(old))


def computed_branch(b):
    x = placeholder(b, "x", (3,))
    off, on = b.Switch(x, b.Greater(b.Sum(x, b.constant(np.int32([0]))), b.constant(np.float32(2.5))))
    b.Identity(b.Merge([b.Neg(off, name="off"), b.Exp(on, name="on")])[0], name="out")
    return ["out:0"], replaced("on", lambda b, old: b.Neg(old))


def dropped_update(b):
    v = variable(b, "v", 1)
    x = placeholder(b, "x", ())
    b.AssignAddVariableOp(v, x, name="add")
    b.Identity(x, name="out")
    b.graph.add_control_input(b.graph.node("out"), b.graph.node("add"))

    def change(graph):
        graph.remove_control_input(graph.node("out"), graph.node("add"))

    return ["out:0", "init_v"], change


def dead_update(b):
    """An update that another branch switches off."""
    v, p = variable(b, "v", 1), placeholder(b, "p", (), "bool")
    b.Identity(b.Switch(p, p)[1], name="pivot")
    b.AssignAddVariableOp(v, b.constant(np.float32(1)), name="add")
    return ["add"], lambda graph: graph.add_control_input(graph.node("add"), graph.node("pivot"))


def initializer(b):
    variable(b, "v", 1), variable(b, "w", 2)
    b.NoOp(name="init")
    for name in ("init_v", "init_w"):
        b.graph.add_control_input(b.graph.node("init"), b.graph.node(name))
    return ["init"], lambda graph: graph.remove_control_input(graph.node("init"), graph.node("init_w"))


def factor(b):
    x = placeholder(b, "x")
    h = b.MatMul(x, b.constant(np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)), name="h")
    b.Tanh(h, name="out")
    return ["out:0"], replaced("h", lambda b, old: b.Mul(old, b.constant(np.float32(1.003))))


KINDS = [broadcast, one_axis, empty_mean, v1_branch, computed_branch, dropped_update, dead_update, initializer, factor]


def graphs(kind):
    """Return a graph, its fetches, and the right and the wrong rewrite."""
    b = GraphBuilder()
    fetches, change = kind(b)
    right, _ = tfg.optimize(b.graph, fetches, passes="prune,cse", overridable=["pivot:0"] if "pivot" in b.graph else ())
    wrong, _ = optimize(b.graph, fetches, (), [Wrong(change)])
    return b.graph, fetches, right, wrong


@pytest.mark.parametrize("kind", KINDS)
def test_wrong_rewrites_are_found(kind):
    graph, fetches, right, wrong = graphs(kind)
    assert tfg.verify(graph, right, fetches).passed
    assert not tfg.verify(graph, wrong, fetches).passed


@pytest.mark.parametrize("kind", [broadcast, dropped_update])
def test_wrong_files_are_found(kind, tmp_path):
    graph, fetches, right, wrong = graphs(kind)
    for one, passed in ((right, True), (wrong, False)):
        tfg.convert(one, tmp_path / "graph.pb")
        assert tfg.verify(graph, tmp_path / "graph.pb", fetches).passed is passed
