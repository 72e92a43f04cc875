"""The function behind `tfg dump --elements`."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from ...core.graph.graph import GraphLike, as_graph
from ...core.runtime.session.elements import elements_of
from ...core.runtime.session.runner import Runner, StepResult
from ...core.support.arguments import takes
from ...core.support.display import Rows
from ...core.support.errors import InvalidArgumentError
from ..state import State
from .prepared_sessions import Opener, opened, session_on


@takes(graph=GraphLike, name=str, count=int, state=Mapping | None, seed=int | None)
def first_elements(
    graph: GraphLike,
    name: str,
    count: int = 3,
    *,
    state: State | None = None,
    seed: int | None = None,
    open_session: Opener | None = None,
) -> Rows[StepResult]:
    """Return the first elements of an input pipeline, each as a step whose values are the element's components.

    `name` is a dataset, an iterator, or a node that takes elements from an iterator. Variables and tables are initialized,
    then variables take the values of `state`; iterators begin anew. `open_session` opens another session.
    InvalidArgumentError for a node outside of pipelines, OutOfRangeError for an empty pipeline.
    """
    graph = as_graph(graph)
    if count < 1:
        raise InvalidArgumentError(f"{count} elements are too few")
    if open_session is None:
        open_session = functools.partial(opened, state=state, seed=seed, begins_iterators=False)
    session = session_on(graph, open_session)
    return Rows(elements_of(Runner(session), name, count))
