"""The context of a stateful kernel: the node and the session that the kernel runs for."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from typing import Any, Protocol, TypeVar

from ...graph.call_kinds import CallSite, call_site
from ...graph.graph import Function, Graph, Node
from ...support import dataclasses
from ...types.tensors import FuncRef
from .checkpoint_store import CheckpointStore
from .file_access import FileAccess
from .resources import ResourceManager
from .run_context import Run, current

_State = TypeVar("_State")


class Functions(Protocol):
    """The functions of a graph's library, ready to run."""

    library: MutableMapping[str, Function]
    """The functions by name. A kernel may add functions for its own calls, under names that are free."""

    def find(self, reference: FuncRef) -> Function:
        """Return a function of the library; NotFoundError for an unknown name."""
        ...

    def call(self, reference: FuncRef, args: Sequence[Any], site: CallSite = ...) -> list[Any]:
        """Return the results of a library function on `args`; None for results that are left out."""
        ...

    def caller(self, reference: FuncRef, site: CallSite = ...) -> Callable[[Sequence[Any]], list[Any]]:
        """Return a call of a single function; the first call looks the function up."""
        ...

    def loop(
        self, condition: FuncRef, body: FuncRef, site: CallSite, unused: tuple[int, ...], plain: Callable[..., Any]
    ) -> Callable[[Sequence[Any]], Sequence[Any]]:
        """Return `plain`, a loop over calls of two functions, in the fastest form.

        The results `unused` may have any values.
        """
        ...

    def call_made(self, function: Function, args: Sequence[Any]) -> list[Any]:
        """Return the results of a function that is not in the library, but was made by a kernel."""
        ...


class GraphRunner(Protocol):
    """A session as a kernel uses one, on a graph of the kernel's choice."""

    def run(self, fetches: Any) -> Any:
        """Return the values of fetches."""
        ...


class Host(Protocol):
    """The services of a session for the kernels that run in the session."""

    graph: Graph
    seed: int | None
    files: FileAccess
    resources: ResourceManager
    node_states: dict[Node, Any]

    @property
    def checkpoints(self) -> CheckpointStore:
        """Where the Save and Restore kernels find checkpoints."""
        ...

    @property
    def functions(self) -> Functions:
        """The functions of the graph's library."""
        ...

    def on_graph(self, graph: Graph) -> GraphRunner:
        """Return a runner of another graph with the same resources, files and limits."""
        ...

    def apart(self) -> Host:
        """Return the same session with fresh states of nodes in functions."""
        ...

    def node_state(self, node: Node, create: Callable[[], _State]) -> _State:
        """Return the state of a node; the first thread that asks creates the state."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class KernelContext:
    """The first argument, `ctx`, of a stateful kernel."""

    session: Host
    node: Node
    unused: tuple[int, ...] = ()
    """Results of a call, conditional or loop that nobody reads."""

    @property
    def name(self) -> str:
        """The node's name."""
        return self.node.name

    @property
    def resources(self) -> ResourceManager:
        """Resources that live as long as the session."""
        return self.session.resources

    @property
    def step(self) -> Run:
        """The run that the kernel works for, with the resources of the run."""
        return current()

    def state(self, create: Callable[[], _State]) -> _State:
        """Return this node's own state, which lives as long as the session."""
        # The first look takes no lock, because states are only added.
        state = self.session.node_states.get(self.node)
        return self.session.node_state(self.node, create) if state is None else state

    def call(self, function: FuncRef, args: Sequence[Any]) -> list[Any]:
        """Run a function of the graph's library."""
        return self.session.functions.call(function, args, self._call_site)

    def function(self, function: FuncRef) -> Callable[[Sequence[Any]], list[Any]]:
        """Return a call of a function of the graph's library, from the list of arguments to the list of results."""
        return self.session.functions.caller(function, self._call_site)

    def loop(self, condition: FuncRef, body: FuncRef, plain: Callable[..., Any]) -> Callable[[Sequence[Any]], Sequence[Any]]:
        """Return `plain`, a loop over calls of two functions of the graph's library, without dead values."""
        return self.session.functions.loop(condition, body, self._call_site, self.unused, plain)

    def apart(self) -> KernelContext:
        """Return this context in a session whose functions have node states of their own, begun anew."""
        return dataclasses.replace(self, session=self.session.apart())

    @property
    def _call_site(self) -> CallSite:
        return call_site(self.node, self.unused)
