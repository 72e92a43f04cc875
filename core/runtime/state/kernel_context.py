"""What stateful kernels are given: the node that they run for and the session that they run in."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, MutableMapping, Sequence
from typing import Any, Protocol, TypeVar

from ...functions.call_sites import CallSite, call_site
from ...graph.graph import Function, Graph, Node
from ...types.tensors import FuncRef
from .checkpoint_store import CheckpointStore
from .file_access import FileAccess
from .resources import ResourceManager
from .run_context import Run, current

_State = TypeVar("_State")


class Functions(Protocol):
    """The functions of a graph's library, ready to run."""

    library: MutableMapping[str, Function]
    """The functions by name. A kernel may add some for its own calls, under names that are free."""

    def find(self, reference: FuncRef) -> Function:
        """A function of the library; NotFoundError where there is none of that name."""
        ...

    def call(self, reference: FuncRef, args: Sequence[Any], site: CallSite = ...) -> list[Any]:
        """The results of a library function on `args`; None for results that are left out."""
        ...

    def caller(self, reference: FuncRef, site: CallSite = ...) -> Callable[[Sequence[Any]], list[Any]]:
        """`call` of one function, which is looked up when it is first called."""
        ...

    def loop(
        self, condition: FuncRef, body: FuncRef, site: CallSite, unused: tuple[int, ...], plain: Callable[..., Any]
    ) -> Callable[[Sequence[Any]], Sequence[Any]]:
        """`plain`, a loop over calls of two functions, as fast as it can be had where results `unused` may be any values."""
        ...

    def call_made(self, function: Function, args: Sequence[Any]) -> list[Any]:
        """The results of a function that is not in the library, but was made by a kernel."""
        ...


class GraphRunner(Protocol):
    """A session as a kernel uses one on a graph that it was given."""

    def run(self, fetches: Any) -> Any:
        """The values of fetches."""
        ...


class Host(Protocol):
    """What a session gives to the kernels that run in it."""

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
        """What runs another graph with the same resources, files and limits."""
        ...

    def apart(self) -> Host:
        """The same session, but for the states of nodes in functions, which begin anew."""
        ...

    def node_state(self, node: Node, create: Callable[[], _State]) -> _State:
        """The state of a node, which the first thread to ask for it creates."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class KernelContext:
    """What a stateful kernel gets as its first argument, `ctx`."""

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
        """The run that the kernel works for, and what lives as long."""
        return current()

    def state(self, create: Callable[[], _State]) -> _State:
        """This node's own state, which lives as long as the session."""
        found = self.session.node_states.get(self.node)
        return self.session.node_state(self.node, create) if found is None else found

    def call(self, function: FuncRef, args: Sequence[Any]) -> list[Any]:
        """Run a function of the graph's library."""
        return self.session.functions.call(function, args, self._call_site)

    def function(self, function: FuncRef) -> Callable[[Sequence[Any]], list[Any]]:
        """A function of the graph's library, to be called with the list of its arguments."""
        return self.session.functions.caller(function, self._call_site)

    def loop(self, condition: FuncRef, body: FuncRef, plain: Callable[..., Any]) -> Callable[[Sequence[Any]], Sequence[Any]]:
        """`plain`, a loop over calls of two functions of the graph's library, without what nobody reads."""
        return self.session.functions.loop(condition, body, self._call_site, self.unused, plain)

    def apart(self) -> KernelContext:
        """This context in a session whose functions keep the states of their nodes apart, from nothing on."""
        return dataclasses.replace(self, session=self.session.apart())

    @property
    def _call_site(self) -> CallSite:
        return call_site(self.node, self.unused)
