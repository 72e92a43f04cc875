"""Random programs of V1 conditionals and functional Ifs with reads, updates and assignments of variables on every side."""

from __future__ import annotations

import random

import numpy as np

from tests.functions import define
from tfg.core.building.builder import GraphBuilder
from tfg.core.types.tensors import FuncRef

PREDICATES = ("p", "q")
INIT, VALUE, STEP = "init", "value:0", "step"


class Program:
    """A random program: `step` runs everything, `value` is computed from some of it."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.g = g = GraphBuilder()
        self.variables = [g.variable(np.float32(2 + i), name=f"v{i}", resource=bool(i % 2)) for i in range(3)]
        g.global_variables_initializer(INIT)
        self.predicates = [g.Placeholder(dtype="bool", shape=[], name=name) for name in PREDICATES]
        self.x = g.Placeholder(dtype="float32", shape=[], name="x")
        self.targets = []
        self.functions = 0
        values = self.block([self.x], lambda value: value, depth=0)
        taken = self.rng.sample(values, min(len(values), 3))
        with g.control_dependencies(self.rng.sample(self.targets, len(self.targets) // 2)):
            g.Identity(g.AddN([*taken, self.x]), name="value")
        g.group([*self.targets, *values], STEP)

    def block(self, values, enter, depth):
        """Add some nodes on a branch: `enter` brings a value of outside onto the branch."""
        values = list(values)
        for _ in range(self.rng.randrange(2, 5)):
            kind = self.rng.choice(("read", "read", "update", "update", "assign", "chain", "cond", "cond", "if"))
            if kind in ("cond", "if") and depth > 1:
                kind = "update"
            values.append(getattr(self, kind)(values, enter, depth))
        return values

    def source(self, values):
        """Return a value behind some nodes that optimization takes away."""
        g, value = self.g, self.rng.choice(values)
        for _ in range(self.rng.randrange(3)):
            value = self.rng.choice([lambda v: g.Neg(g.Neg(v)), g.Identity, lambda v: g.Mul(v, 1.0), g.Tanh])(value)
        return value

    def read(self, values, enter, depth):
        g, made = self.g, self.rng.choice(self.variables)
        handle = enter(made.handle)
        with g.control_dependencies(self.rng.sample(values, self.rng.randrange(2))):
            return g.ReadVariableOp(handle, dtype="float32") if made.is_resource else g.Mul(g.Identity(handle), 1.5)

    def written(self, values, enter, op):
        g, made = self.g, self.rng.choice(self.variables)
        handle, value = enter(made.handle), g.Tanh(self.source(values))
        with g.control_dependencies(self.rng.sample(values, self.rng.randrange(2))):
            node = g.apply(f"{op}VariableOp" if made.is_resource else op, handle, value)
        node = node.node if hasattr(node, "node") else node
        return node, value

    def update(self, values, enter, depth, op=None):
        node, value = self.written(values, enter, op or self.rng.choice(("AssignAdd", "AssignSub")))
        if depth == 0:
            self.targets.append(node)
        with self.g.control_dependencies([node] if depth else self.rng.sample([node], self.rng.randrange(2))):
            return self.g.Identity(value)

    def assign(self, values, enter, depth):
        return self.update(values, enter, depth, "Assign")

    def chain(self, values, enter, depth):
        g, value = self.g, self.source(values)
        return self.rng.choice([lambda: g.Sub(value, value), lambda: g.Sqrt(g.Abs(value)), lambda: g.Mul(value, 0.0)])()

    def cond(self, values, enter, depth):
        g = self.g
        predicate = enter(self.rng.choice(self.predicates))
        results = []
        for branch in (0, 1):
            pivot = g.Identity(g.Switch(predicate, predicate)[branch])

            def inside(value, branch=branch):
                switch = g.RefSwitch if value.dtype.is_ref else g.Switch
                return switch(enter(value), predicate)[branch]

            switched = [g.Switch(value, predicate)[branch] for value in self.rng.sample(values, min(2, len(values)))]
            with g.control_dependencies([pivot]):
                constant = g.constant(self.rng.random())
            results.append(self.rng.choice(self.block([*switched, constant], inside, depth + 1)))
        return g.Merge(results)[0]

    def if_(self, values, enter, depth):
        g, made = self.g, self.variables[1]
        names = []
        for _ in range(2):
            self.functions += 1
            name, op, factor = f"f{self.functions}", self.rng.choice(("Assign", "AssignAdd", None)), self.rng.random()

            def body(b, handle, value, op=op, factor=factor):
                nodes = [b.apply(f"{op}VariableOp", handle, b.Mul(b.Tanh(value), factor))] if op else []
                with b.control_dependencies(nodes):
                    return [b.AddV2(b.ReadVariableOp(handle, dtype="float32"), value)]

            names.append(define(g, name, ["resource", "float32"], body, stateful=True))
        attrs = {"_lower_using_switch_merge": True} if self.rng.random() < 0.5 else {}
        branches = {"then_branch": FuncRef(names[0]), "else_branch": FuncRef(names[1])}
        inputs = [enter(made.handle), self.source(values)]
        result = g.If(enter(self.rng.choice(self.predicates)), inputs, Tout=["float32"], **branches, **attrs)
        return result[0]


setattr(Program, "if", Program.if_)
