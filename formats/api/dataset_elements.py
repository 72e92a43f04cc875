"""The function behind `tfg dump --elements`."""

from __future__ import annotations

from collections.abc import Mapping

from ...core.graph.graph import Graph
from ...core.runtime.session.elements import elements_of
from ...core.runtime.session.runner import Runner, StepResult, initializers
from ...core.runtime.session.session import Session
from ...core.runtime.session.session_like import SessionLike
from ...core.support.arguments import expect, takes
from ...core.support.errors import InvalidArgumentError
from ..state import State, as_tensors
from .prepared_sessions import Opener


@takes(graph=Graph, name=str, count=int, state=Mapping | None, seed=int | None)
def first_elements(
    graph: Graph,
    name: str,
    count: int = 3,
    *,
    state: State | None = None,
    seed: int | None = None,
    open_session: Opener | None = None,
) -> tuple[StepResult, ...]:
    """Return the first elements of an input pipeline, each as a step whose values are the element's components.

    `name` is a dataset, an iterator, or a node that takes elements from an iterator. Variables are initialized, then set to
    the values of `state`; iterators begin anew. `open_session` opens another session. InvalidArgumentError for a node
    outside of pipelines, OutOfRangeError for an empty pipeline.
    """
    if count < 1:
        raise InvalidArgumentError(f"{count} elements are too few")
    session = _session(graph, state, seed) if open_session is None else open_session(graph)
    expect(SessionLike, session)
    return tuple(elements_of(Runner(session), name, count))


def _session(graph: Graph, state: State | None, seed: int | None) -> Session:
    """Return a session whose variables have values; its iterators are not begun."""
    session = Session(graph, seed=seed)
    session.start()
    is_restored = graph.meta is not None and graph.meta.variables_prefix is not None
    names = () if is_restored else initializers(graph)
    if names:
        session.run(list(names))
    if state is not None:
        Runner(session).restore(as_tensors(state))
    return session
