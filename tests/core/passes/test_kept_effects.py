"""Effects behind a value still run after rules remove the value, and nodes wait for effects no more than needed."""

from __future__ import annotations

import numpy as np
import pytest

from tests.core.passes.rewriting import placeholder, rewritten
from tfg.core.passes.rules.rewrite import FAR
from tfg.core.planning.reachability import needed_nodes

ALWAYS = np.bool_(True)


def printed(b):
    return b.Print(b.constant(np.float32([[0, 1, 2], [3, 4, 5]])), [])


def acting(graph, fetches):
    """The names of the printing nodes that run for the fetches."""
    return {node.name for node in needed_nodes([graph.output(name).node for name in fetches]) if node.op == "Print"}


MAKES = (
    lambda b, x, y: b.SelectV2(b.constant(ALWAYS), x, y),
    lambda b, x, y: b.SelectV2(b.constant(ALWAYS), b.Tanh(y), b.Neg(x)),
    lambda b, x, y: b.SelectV2(b.Less(x, y), x, x),
    lambda b, x, y: b.AddV2(x, y),
    lambda b, x, y: b.AddV2(y, printed(b)),
    lambda b, x, y: b.Neg(b.Neg(x)),
    lambda b, x, y: b.ZerosLike(y),
    lambda b, x, y: b.Tanh(x),
)


def drawn(b, seed):
    """Return sums and selections of random inputs, most of them subject to simplification."""
    rng = np.random.default_rng(seed)
    values = [placeholder(b, "x"), *(printed(b) for _ in range(3))]
    for _ in range(40):
        first, second = (values[i] for i in rng.integers(max(0, len(values) - 6), len(values), 2))
        values.append(MAKES[rng.integers(len(MAKES))](b, first, second))
    return values[-1], values[-2]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("seed", range(40))
def test_what_acted_acts(seed):
    graph = rewritten(lambda b: drawn(b, seed))
    assert acting(graph.after, graph.fetches) == acting(graph.before, graph.fetches)


@pytest.mark.parametrize("length", [1, FAR // 2, 2 * FAR])
def test_what_acts_far_behind_is_waited_for(length):
    def build(b):
        value = printed(b)
        for _ in range(length):
            value = b.Tanh(value)
        return b.Neg(b.SelectV2(b.constant(ALWAYS), placeholder(b, "x"), value))

    graph = rewritten(build)
    assert graph.text == "Neg(x)"
    assert len(acting(graph.after, graph.fetches)) == 1


def test_what_is_still_read_is_not_waited_for():
    """Each selection drops a printing node; all earlier nodes already follow it by a read or a control input."""

    def build(b):
        first, second = printed(b), printed(b)
        value = b.AddV2(placeholder(b, "x"), first)
        for _ in range(30):
            value = b.SelectV2(b.constant(ALWAYS), b.Tanh(value), b.AddV2(first, second))
        return value

    graph = rewritten(build, "arithmetic,structure,prune", check=False)
    assert acting(graph.after, graph.fetches) == acting(graph.before, graph.fetches)
    assert sum(len(node.control_inputs) for node in graph.after) == 1
