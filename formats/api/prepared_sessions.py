"""Sessions of graphs with the variables' values in place, and their engines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from ...core.graph.graph import Graph
from ...core.graph.table_nodes import find_tables
from ...core.runtime.session.runner import Restored, Runner
from ...core.runtime.session.session_like import SessionLike
from ...core.support.arguments import checked, expect
from ...core.support.errors import ArgumentTypeError
from ...core.types.tensors import Tensor
from ..state import State, as_tensors

if TYPE_CHECKING:
    from ...core.engines.automatic import AutoRuntime
    from ...core.engines.engine_runtime import EngineRuntime
    from ...core.engines.protocol import Mesh
    from ...core.runtime.session.session import Session

# A function rather than a session: many functions rewrite the graph first, and need a session of the rewritten graph.
Opener: TypeAlias = Callable[[Graph], SessionLike]
"""A function from a graph to a session of the graph, with the engine, files and limits that the caller chooses."""


def opened(
    graph: Graph,
    state: State | None = None,
    seed: int | None = 0,
    *,
    begins_iterators: bool = True,
    engine: EngineRuntime | AutoRuntime | None = None,
) -> Session:
    """Return a session whose variables are initialized, then set to the values of `state`.

    A SavedModel restores its variables, and other graphs run their initializers and begin their iterators.
    """
    from ...core.runtime.session.session import Session  # lazy: many commands run nothing

    # The seed is 0 by default: comparisons open a session for each side, and both sides must draw the same numbers.
    session = Session(graph, seed=seed, engine=engine)
    prepare(session, state, begins_iterators=begins_iterators)
    return session


def prepare(session: SessionLike, state: State | None = None, *, begins_iterators: bool = True) -> None:
    """Initialize the variables of a session, then set them to the values of `state`."""
    session.start()
    runner = Runner(session)
    # A SavedModel's start steps have done so in `start`.
    if session.graph.meta is None or not session.graph.meta.start_steps:
        runner.fill()
        if begins_iterators:
            runner.begin_iterators()
    if state is not None:
        runner.restore(as_tensors(state))


@checked
def initialize(session: SessionLike, operation: str | None = None) -> tuple[str, ...]:
    """Run an operation, by default all initializers of the graph, and return the names of the nodes that ran.

    The initializers fill variables, then tables, then begin the iterators that need no feed. A SavedModel first restores
    its variables. FailedPreconditionError for a graph without an initializer.
    """
    session.start()
    return Runner(session).initialize(operation)


@checked
def restore(session: SessionLike, state: State) -> Restored:
    """Assign each value of a state to the variable of this name, and return the names with and without a partner.

    A state maps names to arrays, as `read_checkpoint` does. Slices of partitioned variables come from the whole value.
    InvalidArgumentError for a state without any variable of the graph.
    """
    return Runner(session).restore(as_tensors(state))


@checked
def engine_runtime(
    engine: str | None,
    precision: str | None = None,
    *,
    verify: bool = False,
    measure: bool = False,
    mesh: int | Mesh | None = None,
) -> EngineRuntime | AutoRuntime | None:
    """Return an engine for `Session(engine=...)`, to be shared by several sessions; None for NumPy.

    `engine` is a name, or None for the engine of TFG_ENGINE; `precision` is as for `Session`. With `verify`, each group of
    nodes also runs in NumPy: `report().differences` names the first tensor that differs. With `measure`, the first run
    measures the times of the report. `mesh` is the number of XLA devices that divide the rows of the feeds.
    NotFoundError for an unknown engine, or for an engine that is not installed.
    """
    from ...core.engines.automatic import choose_runtime  # lazy: most sessions have no engine
    from ...core.engines.engine_registry import find_mesh
    from ...core.engines.executables import EngineSettings

    devices = find_mesh(mesh, None) if isinstance(mesh, int) else mesh
    settings = EngineSettings(verify=verify, reports=measure, times_numpy=devices is None)
    return choose_runtime(engine, precision, settings, devices)


def runtime_of_many_runs() -> EngineRuntime | AutoRuntime | None:
    """Return the engine for many runs of a graph, with `auto` if an engine is installed and TFG_ENGINE names none."""
    from ...core.engines.engine_registry import engine_of_many_runs  # lazy: most sessions have no engine

    name = engine_of_many_runs()
    return None if name is None else engine_runtime(name)


def session_on(
    graph: Graph,
    open_session: Opener | None,
    state: State | None = None,
    seed: int | None = 0,
    engine: EngineRuntime | AutoRuntime | None = None,
) -> SessionLike:
    """Return the session that the caller opens, by default as `opened` does; ArgumentTypeError for another object."""
    if open_session is None:
        return opened(graph, state, seed, engine=engine)
    session = open_session(graph)
    expect(SessionLike, session)
    return session


def local_session(graph: Graph, open_session: Opener | None, state: State | None = None) -> Session:
    """Return the session in this process that the caller opens, by default as `opened` does; ArgumentTypeError for others."""
    from ...core.runtime.session.session import Session

    session = session_on(graph, open_session, state)
    # A hook sees the values of nodes, and a session on a cluster takes no hook.
    if not isinstance(session, Session):
        raise ArgumentTypeError("open_session must return a Session of this process")
    return session


def state_of(graph: Graph, values: State | SessionLike | None) -> dict[str, Tensor]:
    """Return Tensors by name: of a mapping, of a session's variables and tables, or by default of the session that `opened`
    returns. A mapping without the contents of tables is completed by such a session.
    """
    if not isinstance(values, Mapping):
        return Runner(values or opened(graph)).contents()
    tensors = as_tensors(values)
    # A session is opened only for tables: a state of variables alone, as a training returns it, says all that is needed.
    if all(entry in tensors for table in find_tables(graph).values() for entry in table.entries):
        return tensors
    return {**Runner(opened(graph, tensors or None)).contents(), **tensors}
