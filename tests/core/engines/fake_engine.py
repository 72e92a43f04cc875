"""An engine that runs tfg in another session, and refuses, fails or errs on request."""

from __future__ import annotations

import random

import numpy as np

from tfg.core.engines.protocol import UnsupportedNodes
from tfg.core.runtime.session.session import Session
from tfg.core.types import dtypes


class FakeEngine:
    """An engine that takes all nodes except `refused`, or each with a chance; compiles, fails, or returns wrong numbers."""

    name = "fake"
    note = "for tests"
    precision = None
    largest = 1000
    faster = ()
    needs_elements = False
    runs_at_once = 1
    takes_control_flow = False

    def __init__(
        self, refused=(), chance=0.0, seed=0, smallest=1, fails=None, wrong=(), breaks=None, takes_variables=False,
        cannot=(), names_them=True,
    ):  # fmt: skip
        """`cannot` are nodes that do not compile; the error names the first node, or none."""
        self.cannot = cannot
        self.names_them = names_them
        self.attempts = 0
        self.takes_variables = takes_variables
        self.refused = refused
        self.chance = chance
        self.draws = random.Random(seed)
        self.smallest = smallest
        self.fails = fails
        self.wrong = wrong
        self.breaks = breaks
        self.compiled = []
        self.runs = 0

    def refuses(self, nodes, graph):
        """Return the nodes to refuse."""
        return {n: "it is told to" for n in nodes if n.name in self.refused or self.draws.random() < self.chance}

    def static_inputs(self, node):
        """None: a session takes all."""
        return ()

    def compile(self, cluster, values):
        """A session of the cluster alone."""
        self.attempts += 1
        if self.fails:
            raise self.fails
        stuck = [step.node.name for step in cluster.body.steps if step.node.name in self.cannot]
        if stuck:
            raise UnsupportedNodes({stuck[0]: "it is too hard"}) if self.names_them else ValueError("something is too hard")
        graph, inputs, outputs = cluster.as_graph(values)
        self.compiled.append([step.node.name for step in cluster.body.steps])
        names = [output.name for output in outputs]
        updates = cluster.updates
        written = [cluster.inputs.index(slot) for slot in cluster.body.written]

        def run(arrays):
            self.runs += 1
            session = Session(graph)
            variables = {place: variable_of(session, value) for place, value in enumerate(inputs) if is_variable(value)}
            for place, variable in variables.items():
                variable.assign(np.array(arrays[place]))
            feeds = {value.name: array for place, (value, array) in enumerate(zip(inputs, arrays)) if place not in variables}
            targets = [graph.node(node.name) for node in updates]
            results = [*session.run([*names, *targets], feeds)[: len(names)], *(variables[place].read() for place in written)]
            if self.breaks:
                raise self.breaks
            made = [*names, *(node.name for node in updates)]
            return [spoiled(a) if name in self.wrong else np.asarray(a) for name, a in zip(made, results)]

        return run


def is_variable(value):
    """Return True for the stand-in of a variable in a cluster's graph."""
    return value.dtype.is_ref or value.dtype is dtypes.resource


def variable_of(session, value):
    """The variable that a node of a session's graph leads to."""
    known = set(session.held_variables())
    session.run(value.node)
    (result,) = set(session.held_variables()) - known
    return result


def spoiled(array):
    """Return a copy of an array with the first element off by one."""
    result = np.array(array)
    result.flat[0] += 1
    return result
