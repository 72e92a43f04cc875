"""Sessions from settings: the values of variables, allowed files, the engine, or a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from ...core.support import dataclasses
from ...core.support.engine_names import NUMPY
from ...core.support.hints import Blank, Hint, option
from ...core.support.words import counted

if TYPE_CHECKING:
    from ...core.engines.automatic import AutoRuntime
    from ...core.engines.engine_runtime import EngineRuntime
    from ...core.graph.graph import Graph
    from ...core.runtime.session.runner import Restored, Runner
    from ...core.runtime.session.session import Session
    from ...core.runtime.session.session_like import SessionLike
    from ...core.types.tensors import Tensor


@dataclasses.dataclass(frozen=True, slots=True)
class SessionSetup:
    """Settings of a session."""

    init: bool = False
    """Run the graph's initializer; an error if the graph has none."""
    init_op: str | None = None
    """The operation to run first."""
    state: str | None = None
    """The file or checkpoint with the values of variables."""
    state_map: str | None = None
    """The file with new names of the tensors in `state`: a line OLD=NEW for each."""
    seed: int | None = None
    """The seed of random ops without a seed."""
    allow_files: tuple[str, ...] = ()
    """The folders that the graph may use."""
    max_memory: int | None = None
    """The memory limit of the process in bytes."""
    signature: str | None = None
    """The signature with the names of inputs and outputs."""
    engine: EngineRuntime | AutoRuntime | str | None = None
    """The engine, or the name of the engine; None for NumPy."""
    on: str | None = None
    """The address of a TensorFlow cluster."""
    retry: int = 0
    """How often the cluster repeats a step if a server is lost."""
    optimize: str = "fuse"
    """The execution of repeated runs."""
    precision: str | None = None
    """The arithmetic of an engine that is named."""
    variable_values: Mapping[str, Any] | None = None
    """The values of variables."""
    fills_variables: bool = True
    """Initialize variables and tables and begin iterators, as far as the graph has initializers."""

    # Imports are in the methods: a command makes its settings before it is known whether anything runs.
    def of_many_runs(self) -> Self:
        """Return the settings for many runs of a graph: with the engine for these if they name none."""
        name = self.engine_of_many_runs()
        return self if name is None else dataclasses.replace(self, engine=name)

    def engine_of_many_runs(self) -> str | None:
        """Return the engine for many runs if the settings name none; None for NumPy.

        Servers use their own kernels, and engines take more address space than a memory limit may allow.
        """
        is_elsewhere = self.on is not None and self.on.startswith("grpc")
        if self.engine is not None or self.max_memory is not None or is_elsewhere:
            return None
        from ...core.engines.engine_registry import engine_of_many_runs

        return engine_of_many_runs()

    def note(self, text: str, quiet: bool) -> None:
        """Tell the user of a step; the settings of a command print the text."""

    def check_trust(self, graph: Graph) -> None:
        """Raise InvalidArgumentError if the settings open files or a cluster to an untrusted graph."""
        from ...core.runtime.execute.limits import refuse_cluster, refuse_files
        from ...core.runtime.state.file_access import FileAccess

        refuse_files(graph, FileAccess.only(writable=self.allow_files))
        if self.on is not None:
            refuse_cluster(graph)

    def session(self, graph: Graph, quiet: bool, cache: int = 0) -> SessionLike:
        """Open a session on the graph, in this process or on a cluster."""
        return self.local(graph, cache) if self.on is None else self.on_cluster(graph, quiet)

    def local(self, graph: Graph, cache: int = 0) -> Session:
        """Open a session in this process, with access to the allowed folders and to a SavedModel's own files."""
        from ...core.runtime.execute.allocation import keep_freed_memory
        from ...core.runtime.session.session import Session
        from ...core.runtime.state.file_access import FileAccess

        if self.max_memory is None:
            # Memory that the allocator keeps would count against a limit of the process.
            keep_freed_memory(of_any_size=self.engine is not None)
        return Session(
            graph, seed=self.seed, files=FileAccess.only(writable=self.allow_files), cache=cache,
            engine=self.engine or NUMPY, precision=self.precision, optimize=self.optimize,
        )  # fmt: skip

    def on_cluster(self, graph: Graph, quiet: bool) -> SessionLike:
        """Open a session on the cluster, which the caller closes."""
        from ..cluster.address import Address
        from ..cluster.cluster_session import ClusterSession

        assert self.on is not None
        return ClusterSession(graph, Address.parse(self.on), retries=self.retry, note=lambda text: self.note(text, quiet))

    def open(self, graph: Graph, quiet: bool, *, implied: bool = False, cache: int = 0) -> Runner:
        """Open a session, initialize and restore its variables, and print notes unless `quiet`.

        `implied`: initialize the graph even without an option.
        """
        return self.prepare(self.session(graph, quiet, cache), quiet, implied)

    def prepare(self, session: SessionLike, quiet: bool, implied: bool = False) -> Runner:
        """Initialize the variables of a session, then restore them."""
        from ...core.runtime.session.runner import Runner

        runner = Runner(session)
        self.initialize(runner, quiet, implied)
        self.restore(runner, quiet)
        return runner

    def initialize(self, runner: Runner, quiet: bool, implied: bool = False, graph: Graph | None = None) -> None:
        """Start a SavedModel as its loader does, then run the initializer of the options.

        `graph` is the graph to initialize, if the graph of the runner has further initializers.
        """
        runner.session.start()
        if graph is not None:
            # Initializers that a rewrite added, such as those of optimizer slots, are run by an operation of their own.
            runner = type(runner)(runner.session.on_graph(graph))
        is_asked = bool(self.init or self.init_op)
        # A SavedModel without its checkpoint can run if its variables get values otherwise.
        if not (is_asked or self.state or self.variable_values):
            require_saved_values(runner.graph)
        if is_asked or (implied and self._needs_initializer(runner.graph)):
            names = runner.initialize(self.init_op)
            self.note(f"initialized by {', '.join(names[:3])}{' ...' if len(names) > 3 else ''}", quiet or not is_asked)
        # `start` has already run the start steps of a SavedModel's loader.
        elif self.fills_variables and (runner.graph.meta is None or not runner.graph.meta.start_steps):
            runner.fill()
            runner.begin_iterators()

    def restore(self, runner: Runner, quiet: bool) -> None:
        """Assign the values of the file, or those of `variable_values`."""
        if self.state:
            self.note(_summary(runner.restore(self.common_state(self.state, runner.graph)), runner), quiet)
        elif self.variable_values is not None:
            from ..state import as_tensors  # lazy: most runs have no such values

            runner.restore(as_tensors(self.variable_values))

    def common_state(self, path: str, graph: Graph) -> Mapping[str, Tensor]:
        """Return the values in a file, by the names that the graph knows."""
        from ..checkpoint.renaming import read_names
        from ..state import read_graph_state

        return read_graph_state(path, graph, None if self.state_map is None else read_names(self.state_map))

    def _needs_initializer(self, graph: Graph) -> bool:
        """Return False if the graph holds the values of its variables, or the state does and the graph has no initializer."""
        from ...core.graph.variable_nodes import find_variables
        from ...core.runtime.session.runner import initializers

        # The loader's start steps restore these, and an initializer would overwrite what they restored.
        if graph.meta is not None and (graph.meta.variables_prefix is not None or graph.meta.joined is not None):
            return False
        return bool(initializers(graph)) or (not self.state and bool(find_variables(graph)))


def require_saved_values(graph: Graph) -> None:
    """Raise NotFoundError if the checkpoint of a SavedModel is not there, as TensorFlow's loader does."""
    if graph.meta is not None and graph.meta.folder is not None and graph.meta.variables_prefix is None:
        from ..state import saved_values  # lazy: most graphs have no saved values

        saved_values(graph)


def state_words(variables: int, tables: int, resources: int = 0) -> str:
    """Return a phrase with the numbers of variables, tables and other resources; empty for none."""
    numbers = ((variables, "variable"), (tables, "table"), (resources, "other resource"))
    return " and ".join(counted(number, word) for number, word in numbers if number)


def position_words(graph: Graph) -> str:
    """Return a clause about the iterators whose positions the graph's own saver keeps and tfg's files do not; or nothing."""
    from ...core.runtime.session.restored_variables import restored_iterators

    names = list(dict.fromkeys(restored_iterators(graph).values()))
    return f"; {counted(len(names), 'iterator position')} not kept: {', '.join(names[:4])}" if names else ""


def _summary(restored: Restored, runner: Runner) -> str:
    message = f"restored {state_words(len(restored.restored), len(restored.tables), len(restored.resources)) or '0 variables'}"
    if restored.absent:
        others = counted(len(restored.absent), "other")
        message += f"; the state lacks {others}: {', '.join(_absent(restored, name, runner) for name in restored.absent[:4])}"
    if restored.unknown:
        names = ", ".join(restored.unknown[:1]) + (" ..." if len(restored.unknown) > 1 else "")
        message += f"; the graph has no variable for {counted(len(restored.unknown), 'name')} of the state: {names}"
    if restored.positions:
        names = ", ".join(restored.positions[:4])
        message += f"; {counted(len(restored.positions), 'iterator position')} not restored: {names}"
    if restored.nearest:
        return Hint(message, "; a file of lines OLD=NEW gives tensors other names: ", option("map", Blank("FILE")))
    return message


def _absent(restored: Restored, name: str, runner: Runner) -> str:
    """Return an absent variable or table, with its shape and the tensor that may belong to it."""
    from ...core.graph.nearest_tensors import kind_words

    words = f"{name} {kind_words(runner.kind(name))}" if name in runner.variables else name
    return f"{words} ~ {restored.nearest[name]}" if name in restored.nearest else words
