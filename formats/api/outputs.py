"""The tensors that a function takes where the caller names none."""

from __future__ import annotations

from ...core.explaining.graph_facts import explain_graph, no_obvious_output
from ...core.graph.graph import Graph
from ...core.passes.pipeline import default_fetches, default_runs, signature_runs

__all__ = ["default_fetches", "default_outputs", "default_runs", "outputs_of"]


def outputs_of(graph: Graph) -> tuple[str, ...]:
    """Return the outputs of the usual signature, of all where none is usual, or the outputs that `explain` finds; none where
    no output stands out.
    """
    usual = graph.meta.usual_signature if graph.meta is not None else None
    runs = signature_runs(graph) if usual is None else [tuple(usual.fetched.values())]
    names = tuple(dict.fromkeys(name for run in runs for name in run))
    return names or tuple(tensor.name for tensor in explain_graph(graph).outputs)


def default_outputs(graph: Graph) -> tuple[str, ...]:
    """Return the outputs that `outputs_of` returns; InvalidArgumentError where there are none."""
    names = outputs_of(graph)
    if not names:
        raise no_obvious_output(graph, "name an output")
    return names
