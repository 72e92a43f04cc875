"""Random graphs with control edges, variables, random ops, loops, branches and functions compute the same when optimized."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cases import control_flow
from tests.core.passes.rewriting import assert_same, placeholder
from tests.functions import define
from tfg.core.building.builder import GraphBuilder
from tfg.core.passes.pipeline import optimize
from tfg.core.types.tensors import FuncRef

SHAPE = (2, 3)
UNARY = (
    "Neg", "Abs", "Square", "Exp", "Relu", "Identity", "StopGradient", "Tanh", "ZerosLike", "OnesLike", "Snapshot", "Floor",
)  # fmt: skip
BINARY = ("Add", "AddV2", "Sub", "Mul", "Maximum", "SquaredDifference")
CONSTANTS = (0.0, 1.0, 2.0, -1.0, 0.5)


class Drawing:
    """A graph under construction: values of the same shape for further nodes."""

    def __init__(self, data):
        self.draw = data.draw
        self.b = GraphBuilder()
        self.values = [placeholder(self.b, "x", SHAPE), placeholder(self.b, "y", SHAPE)]
        self.effects = []
        self.variables = 0
        self.frames = 0

    def value(self):
        return self.values[self.draw(st.integers(0, len(self.values) - 1))]

    def constant(self):
        value = np.float32(self.draw(st.sampled_from(CONSTANTS)))
        shape = self.draw(st.sampled_from(((), (3,), SHAPE)))
        return self.b.constant(np.full(shape, value))

    def operand(self):
        return self.constant() if self.draw(st.booleans()) else self.value()

    def bounded(self, value):
        """Keep numbers small, so that rounding stays comparable."""
        return self.b.Minimum(self.b.Maximum(value, -3.0), 3.0)

    def step(self):
        controls = self.draw(st.lists(st.sampled_from(self.effects), max_size=1)) if self.effects else []
        with self.b.control_dependencies(controls):
            kind = self.draw(st.sampled_from(KINDS))
            made = kind(self)
        self.values.append(self.bounded(made))

    def unary(self):
        return self.b.apply(self.draw(st.sampled_from(UNARY)), self.value())

    def binary(self):
        return self.b.apply(self.draw(st.sampled_from(BINARY)), self.value(), self.operand())

    def reshaped(self):
        return self.b.Reshape(self.b.Reshape(self.value(), [6]), list(SHAPE))

    def transposed(self):
        return self.b.Transpose(self.b.Neg(self.b.Transpose(self.value(), [1, 0])), [1, 0])

    def shaped(self):
        return self.b.Fill(self.b.Shape(self.value()), self.b.Cast(self.b.Rank(self.value()), DstT="float32"))

    def product(self):
        return self.b.MatMul(self.value(), self.b.constant(np.eye(3, dtype="f")))

    def concatenated(self):
        joined = self.b.ConcatV2([self.value(), self.operand_of_shape()], 0)
        return self.b.Slice(joined, [1, 0], list(SHAPE))

    def operand_of_shape(self):
        return self.b.BroadcastTo(self.operand(), list(SHAPE))

    def random(self):
        return self.b.RandomUniform(list(SHAPE), dtype="float32", seed=1, seed2=self.draw(st.integers(1, 2)))

    def variable(self):
        """A variable that is assigned, read, added to and read again, in this order."""
        self.variables += 1
        name = f"v{self.variables}"
        if self.draw(st.booleans()):
            return self.resource(name)
        reference = self.b.VariableV2(dtype="float32", shape=SHAPE, name=name)
        assigned = self.b.Assign(reference, self.value())
        with self.b.control_dependencies([assigned]):
            before = self.b.Identity(reference)
        with self.b.control_dependencies([before]):
            added = self.b.AssignAdd(reference, self.operand_of_shape())
        self.effects.append(added)
        with self.b.control_dependencies([added]):
            after = self.b.Identity(reference)
        return self.b.Sub(after, before)

    def resource(self, name):
        handle = self.b.VarHandleOp(dtype="float32", shape=SHAPE, shared_name=name)
        assigned = self.b.AssignVariableOp(handle, self.value(), dtype="float32")
        with self.b.control_dependencies([assigned]):
            before = self.b.ReadVariableOp(handle, dtype="float32")
        with self.b.control_dependencies([before]):
            added = self.b.AssignAddVariableOp(handle, self.operand_of_shape(), dtype="float32")
        self.effects.append(added)
        with self.b.control_dependencies([added]):
            after = self.b.ReadVariableOp(handle, dtype="float32")
        return self.b.Sub(after, before)

    def conditional(self):
        predicate = self.b.Less(self.b.Sum(self.value(), [0, 1]), self.draw(st.sampled_from((-100.0, 0.0, 1.0))))
        left, right = self.b.Switch(self.value(), predicate)
        with self.b.control_dependencies([self.b.Identity(left)]):
            factor = self.constant()
        return self.b.Merge([self.b.Mul(left, factor), self.b.AddV2(self.b.Neg(right), right)])[0]

    def loop(self):
        with self.b.no_controls():
            return self._loop()

    def _loop(self):
        self.frames += 1
        b = self.b
        fixed = [self.constant(), self.value(), self.trips()]
        mixes, read = self.draw(st.booleans()), self.draw(st.integers(1, 2))

        def body(values, fixed):
            i, x, same = values
            half, one = self._in_loop(i, 0.5), self._in_loop(i, 1.0)
            step = b.Mul(b.AddV2(b.Neg(b.Neg(x)), b.Mul(b.Tanh(fixed[0]), half)), half)
            mixed = b.AddV2(step, b.Mul(b.Tanh(b.AddV2(same, fixed[1])), half)) if mixes else step
            return b.AddV2(i, one), mixed, same

        initial = [b.constant(0.0), self.value(), self.value()]
        exits = control_flow.loop(b, f"f{self.frames}", initial, fixed, lambda v, c: b.Less(v[0], c[2]), body)
        return exits[read]

    def trips(self):
        """Return the trip count of a loop: a constant, or a function of the feeds."""
        if self.draw(st.booleans()):
            return self.b.constant(self.draw(st.sampled_from((0.0, 1.0, 3.0))))
        return self.b.Maximum(self.b.Minimum(self.b.Sum(self.value(), [0, 1]), 3.0), -1.0)

    def _in_loop(self, i, value):
        with self.b.control_dependencies([i]):
            return self.b.constant(value)

    def choice(self):
        self.frames += 1
        types = ["float32"] * 3
        then = define(self.b, f"then{self.frames}", types, lambda b, x, y, z: [b.Neg(b.Neg(x)), b.Mul(b.Tanh(z), y)])
        other = define(self.b, f"else{self.frames}", types, lambda b, x, y, z: [b.Mul(x, 2.0), b.AddV2(b.Mul(z, 0.5), x)])
        result = self.b.StatelessIf(
            self.predicate(), [self.value(), self.operand_of_shape(), self.b.constant(np.full(SHAPE, 0.5, "f"))],
            Tout=["float32"] * 2, then_branch=FuncRef(then), else_branch=FuncRef(other),
        )  # fmt: skip
        return result[self.draw(st.integers(0, 1))]

    def predicate(self):
        return self.b.constant(True) if self.draw(st.booleans()) else self.b.Less(self.b.Sum(self.value(), [0, 1]), 0.0)

    def acting_choice(self):
        """Return a branch that adds to a variable, with reads before and after."""
        self.variables += 1
        self.frames += 1
        b = self.b
        handle = b.VarHandleOp(dtype="float32", shape=SHAPE, shared_name=f"v{self.variables}")
        with b.control_dependencies([b.AssignVariableOp(handle, self.value(), dtype="float32")]):
            before = b.ReadVariableOp(handle, dtype="float32")

        def then(g, h, x, y):
            added = g.AssignAddVariableOp(h, g.Mul(g.Neg(g.Neg(x)), y), dtype="float32")
            with g.control_dependencies([added]):
                return [g.Identity(x)]

        types = ["resource", "float32", "float32"]
        names = [define(b, f"then{self.frames}", types, then, stateful=True)]
        names.append(define(b, f"else{self.frames}", types, lambda g, h, x, y: [g.Tanh(x)]))
        function = b.graph.functions[names[0]]
        function.control_results.append(function.body.node("AssignAddVariableOp"))
        attrs = {"then_branch": FuncRef(names[0]), "else_branch": FuncRef(names[1])}
        with b.control_dependencies([before]):
            given = [handle, self.value(), self.operand_of_shape()]
            node = b.If(self.predicate(), given, Tout=["float32"], **attrs)[0]
        self.effects.append(node.node)
        with b.control_dependencies([node]):
            after = b.ReadVariableOp(handle, dtype="float32")
        return b.AddV2(b.Sub(after, before), node) if self.draw(st.booleans()) else b.Sub(after, before)

    def call(self):
        self.frames += 1
        name = define(self.b, f"call{self.frames}", ["float32", "float32"], lambda b, x, y: [b.Sub(b.Neg(x), y), b.Abs(x)])
        first, second = self.b.PartitionedCall([self.value(), self.operand_of_shape()], Tout=["float32"] * 2, f=FuncRef(name))
        return first if self.draw(st.booleans()) else second

    def functional_loop(self):
        self.frames += 1
        types = ["float32"] * 5
        read = self.draw(st.integers(1, 4))
        cond = define(self.b, f"cond{self.frames}", types, lambda b, i, x, w, y, n: [b.Less(i, b.Mul(n, 1.0))])

        def step(b, i, x, w, y, n):
            moved = b.Mul(b.Tanh(w), 0.5)
            return [b.AddV2(i, 1.0), b.Mul(b.AddV2(b.Neg(x), moved), 0.5), b.Identity(w), b.Tanh(b.AddV2(x, y)), n]

        body = define(self.b, f"body{self.frames}", types, step)
        initial = [self.b.constant(0.0), self.value(), self.operand_of_shape(), self.value(), self.trips()]
        result = self.b.StatelessWhile(initial, cond=FuncRef(cond), body=FuncRef(body))[read]
        return result if read < 4 else self.b.BroadcastTo(result, list(SHAPE))


KINDS = (
    Drawing.unary, Drawing.unary, Drawing.binary, Drawing.binary, Drawing.binary, Drawing.reshaped, Drawing.transposed,
    Drawing.shaped, Drawing.product, Drawing.concatenated, Drawing.random, Drawing.variable, Drawing.conditional, Drawing.loop,
    Drawing.choice, Drawing.acting_choice, Drawing.call, Drawing.functional_loop,
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(st.data())
def test_random_graphs_compute_the_same(data):
    drawing = Drawing(data)
    for _ in range(data.draw(st.integers(3, 14))):
        drawing.step()
    fetched = [drawing.values[-1], drawing.value(), *drawing.effects[:1]]
    fetches = list(dict.fromkeys(f.name for f in fetched))
    after, _ = optimize(drawing.b.graph, fetches, ["x:0", "y:0"], data.draw(st.sampled_from(PIPELINES)))
    rng = np.random.default_rng(0)
    feeds = {name: rng.uniform(-1, 1, SHAPE).astype("f") for name in ("x:0", "y:0")}
    needed = {name for name in feeds if name.partition(":")[0] in after}
    assert_same(drawing.b.graph, after, fetches, {name: feeds[name] for name in needed}, steps=2)


PIPELINES = (None, "prune,fold,cse,shapes,structure,arithmetic,dependency,cluster", "fold,cluster")
