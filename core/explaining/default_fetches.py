"""What a graph runs for if the caller names nothing: the outputs of its signatures, or else what `tfg explain` finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..graph.graph import Graph
from ..support.errors import InvalidArgumentError
from ..support.hints import Hint, option

if TYPE_CHECKING:
    from .graph_facts import GraphEnds

_NAME_FETCH: Final = Hint("name an output with ", option("fetch"))


def guessed_fetches(graph: Graph, ends: GraphEnds | None = None) -> tuple[str, ...]:
    """Return the outputs of the usual signature, or else the outputs and training operations that `tfg explain` finds.

    `ends` has these, if the caller knows them. InvalidArgumentError if there are no outputs.
    """
    if usual := _usual_outputs(graph):
        return usual
    ends = ends or _ends(graph)
    return _not_empty(graph, (*ends.outputs, *ends.train_ops))


def counted_fetches(graph: Graph) -> tuple[str, ...]:
    """Return the outputs of a graph, or training operations if there are no outputs.

    InvalidArgumentError if there are none, and for a graph with several signatures.
    """
    if usual := _usual_outputs(graph):
        return usual
    if graph.signatures:
        # Signatures run one at a time, so a count of all together would be of no run.
        hint = Hint("choose a signature with ", option("signature"))
        raise InvalidArgumentError(f"the graph has several signatures: {', '.join(graph.signatures)}", hint=hint)
    ends = _ends(graph)
    return _not_empty(graph, ends.outputs or ends.train_ops)


def outputs_of(graph: Graph) -> tuple[str, ...]:
    """Return the outputs of the usual signature, or of all, or those that `explain` finds; none if no output stands out."""
    usual = graph.meta.usual_signature if graph.meta is not None else None
    runs = signature_runs(graph) if usual is None else [tuple(usual.fetched.values())]
    # Several signatures share tensors; each is fetched once.
    names = tuple(dict.fromkeys(name for run in runs for name in run))
    return names or _ends(graph).outputs


def default_outputs(graph: Graph) -> tuple[str, ...]:
    """Return the outputs that `outputs_of` returns; InvalidArgumentError if there are none."""
    return _not_empty(graph, outputs_of(graph), "name an output")


def signature_runs(graph: Graph) -> list[tuple[str, ...]]:
    """Return the outputs of each signature of the graph; the outputs of two signatures are not run together."""
    return [tuple(signature.fetched.values()) for signature in graph.signatures.values() if signature.outputs]


def default_runs(graph: Graph) -> list[tuple[str, ...]]:
    """Return the fetches of each run of a graph: of each signature, or the outputs and training operations that stand out.

    InvalidArgumentError if there are none.
    """
    return signature_runs(graph) or [guessed_fetches(graph)]


def default_fetches(graph: Graph) -> tuple[str, ...]:
    """Return the fetches of all runs of a graph."""
    return tuple(dict.fromkeys(name for run in default_runs(graph) for name in run))


def no_obvious_output(graph: Graph, advice: str = _NAME_FETCH) -> InvalidArgumentError:
    """Return the error of a graph whose fetches the caller has to name, with a few candidates."""
    from .graph_facts import output_candidates

    names = " or ".join(output_candidates(graph))
    return InvalidArgumentError("the graph has no obvious output", hint=Hint(advice, ", such as ", names) if names else advice)


def _usual_outputs(graph: Graph) -> tuple[str, ...]:
    usual = graph.meta.usual_signature if graph.meta is not None else None
    return () if usual is None else tuple(usual.fetched.values())


def _ends(graph: Graph) -> GraphEnds:
    from .graph_facts import graph_ends  # lazy: most callers name fetches, and most models have signatures

    return graph_ends(graph)


def _not_empty(graph: Graph, names: tuple[str, ...], advice: str = _NAME_FETCH) -> tuple[str, ...]:
    if not names:
        raise no_obvious_output(graph, advice)
    return names
