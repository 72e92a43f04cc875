"""Values that are copies of themselves, in graphs and in functions: who follows one to where it is made comes to an end."""

from __future__ import annotations

import pytest

from tests.fuzz import bounds, corpus
from tests.fuzz.findings import attempt
from tests.fuzz.trials import PARTS, Trial
from tfg.core.graph.call_kinds import CALL_KINDS
from tfg.core.graph.graph import Graph
from tfg.core.graph.instantiation import instantiate

OPS = {*CALL_KINDS, "Exit", "MapDataset", "FilterDataset", "FlatMapDataset", "ReadVariableOp", "Assign"}
NUMBERS = [number for number, case in enumerate(corpus.cases()) if case.op in OPS and corpus.built(number)][::3]


def _bodies(graph: Graph) -> list[Graph]:
    for name in sorted(graph.functions):
        graph.functions[name] = instantiate(graph.functions[name], {})
    return [graph, *(graph.functions[name].body for name in sorted(graph.functions))]


def _trials(number: int) -> list[tuple[str, Trial]]:
    """A case with a circle before one input, of each node of the graph and of its functions."""
    original = corpus.unchanged(number)
    assert original is not None
    places = [
        (b, node.name, i) for b, body in enumerate(_bodies(original.graph)) for node in body for i in range(len(node.inputs))
    ]
    results = []
    for b, name, index in places:
        trial = corpus.unchanged(number)
        assert trial is not None
        body = _bodies(trial.graph)[b]
        corpus.put_circle(body, body[name], index, 1 + len(results) % 2)
        results.append((f"{name}:{index} of {b}", trial))
    return results


@pytest.mark.slow
@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: corpus.cases()[number].key)
def test_looks_at_circles_end(number):
    for place, trial in _trials(number):
        for part in PARTS:
            with bounds.time_limit():
                finding = attempt(lambda part=part, trial=trial: part(trial), part.__name__)
            assert finding is None, f"{place}: {finding}"
