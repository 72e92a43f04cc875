"""A session: a graph with the state of its variables and resources, run by fetches and feeds."""

from __future__ import annotations

import functools
import itertools
import numbers
import os
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, overload

import numpy as np

from ...graph.graph import Graph, GraphLike, Node, Output, as_graph
from ...graph.model_objects import with_model_objects
from ...graph.send_recv import connected
from ...numerics.blas_threads import one_thread
from ...numerics.float_mode import flushed
from ...planning.node_selection import definition_in
from ...planning.plan import Plan
from ...planning.planner import compile_plan
from ...random.philox import Philox
from ...support import dataclasses
from ...support.arguments import bounded_depth, checked
from ...support.display import Displayed
from ...support.engine_names import NUMPY, VARIABLE
from ...support.errors import ArgumentTypeError, FailedPreconditionError, InvalidArgumentError, ResourceExhaustedError
from ...support.gc_control import rare_collection
from ...support.log import Stopwatch
from ...support.not_copied import NotCopied
from ...support.words import counted
from ...types.arrays import Array
from ..execute.allocation import keep_some_freed_memory
from ..execute.executor import Program, bound_program
from ..execute.function_calls import FunctionCalls
from ..execute.limits import refuse_files, session_limits
from ..execute.random_lowering import lowered
from ..execute.tiers import Tier, policy
from ..execute.value_cache import CacheStats, ValueCache
from ..state.checkpoint_store import CheckpointStore, default_store
from ..state.edge_values import Batched
from ..state.file_access import NO_FILES, FileAccess
from ..state.kernel_context import KernelContext
from ..state.resources import ResourceManager, Variable
from ..state.run_context import Hook, Run, users_hook
from .fetches import Feed, arranged, fetched_names, find_feeds, is_list_of_names, name_of, names_in_graph
from .variable_values import VariableValues, unused_variables

if TYPE_CHECKING:
    from ...engines.automatic import AutoRuntime
    from ...engines.engine_report import EngineReport
    from ...engines.engine_runtime import EngineRuntime
    from ...engines.protocol import Engine
    from .automatic_program import AutomaticProgram

_State = TypeVar("_State")
_Key = TypeVar("_Key")
Feeds: TypeAlias = Mapping[Any, Any] | None

_TOLD: Final = 3
"""The largest number of fetches in the name of a plan."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Prepared:
    """A program for certain fetches and feeds."""

    program: Program | AutomaticProgram
    feeds: tuple[Feed | None, ...]
    """The feeds in the order of the call; None for a feed that is ignored."""


class Session(Displayed, NotCopied):
    """Runs a graph. Variables, tables and random state live in the session; each pair of fetches and feeds is planned once.

    A graph from a SavedModel starts as in TensorFlow's loader: the first run restores its variables and runs its
    initializer.

    Many threads may run a session at a time. A kernel locks the variables, tables and queues among its inputs, so updates
    lose nothing and reads are whole; a run of several kernels is not atomic. A run may wait for another thread, as for an
    element of a queue; `timeout` ends the wait. docs/threads.md says more.

    `files` names the files that the graph may read and write: by default none, though a SavedModel reads its own variables
    and assets. `FileAccess.everything()` opens all files; PermissionDeniedError names a node that wants more.

    A graph of `tfg.load(untrusted=True)` has 60 seconds and 4 GiB where these say nothing, and gets no files.

    `timeout` bounds every run in seconds (DeadlineExceededError), `max_memory` the bytes that tensors may hold
    (ResourceExhaustedError); both errors name the node. `cache` is the number of bytes for values kept from one run to the
    next: values that depend only on constants and on variables not written since.

    `engine` runs the heavy part: a name ("openvino"), an Engine, or an EngineRuntime of an engine to share with other
    sessions. NumPy runs the ops that the engine does not take, and every run with limits or a hook. "auto" tries the
    installed engines once runs take a second, and keeps the fastest way; "numpy" means no engine, as does None unless the
    environment variable TFG_ENGINE names an engine. `precision` is the engine's float arithmetic: "bf16", or "fast" for the
    fastest type whose results are within 1e-2 of a tensor's largest magnitude; by default the graph's own. `engine_report`
    says where each op ran.

    `optimize` says how far runs without limits, hook, engine or cache may depart from calls of single kernels; results
    differ by rounding at most. "fuse": from the second run on, groups of steps run as one, such as a convolution with its
    epilogue, or a chain of elementwise ops; for shapes of feeds that come again, values that follow from shapes are
    computed once. "none": neither. `tier` tells how far a fetch has come.

    With glibc as the C library, the first run has glibc keep up to 256 MiB of freed memory, unless the environment says how
    much (`MALLOC_TRIM_THRESHOLD_` and others): fresh pages for each run take up to a sixth of the time of a run.
    """

    instead = (
        "pickle `session.graph` and `dict(session.variables)`, and open a session there; `on_graph` shares variables here"
    )

    @checked(seed=numbers.Integral | None, timeout=numbers.Real | None, max_memory=numbers.Real | None)
    def __init__(
        self,
        graph: GraphLike,
        *,
        seed: int | None = None,
        files: FileAccess = NO_FILES,
        checkpoints: CheckpointStore | None = None,
        timeout: float | None = None,
        max_memory: int | None = None,
        cache: int = 0,
        engine: str | Engine | EngineRuntime | AutoRuntime | None = None,
        precision: str | None = None,
        optimize: str = "fuse",
    ) -> None:
        graph = as_graph(graph)
        graph.resolve()  # a run needs the inputs, and with them the check is a loop
        graph.check()
        refuse_files(graph, files)
        self.graph = graph
        self.seed = seed
        self._allowed = files
        folders = graph.meta.folders if graph.meta is not None else ()
        # A model reads its own variables and assets; the user opens what lies elsewhere.
        self.files = functools.reduce(FileAccess.reading_model, folders, files)
        self._checkpoints = checkpoints
        self._limits = session_limits(graph, timeout, max_memory)
        self._cache = ValueCache(cache) if cache else None
        self.resources = ResourceManager()
        self.node_states: dict[Node, Any] = {}
        self._begun: dict[str, tuple[int, int]] = {}
        self._numbers = itertools.count(1)
        # The lock is re-entrant: making a program may bind kernels whose states are made by `node_state`, which locks as well.
        self._lock = threading.RLock()
        # The start has a lock of its own: it runs operations for as long as a restore takes, while other threads need `_lock`.
        self._starting = threading.RLock()
        self._prepared: dict[tuple[tuple[str, ...], tuple[str, ...]], _Prepared] = {}
        self._runtime, self._auto = _engine_runtime(engine, precision)
        self._optimize = optimize
        self._policy = policy(optimize)
        self.functions = FunctionCalls(graph, self._context, self._cache, self._runtime, self._policy)
        self._by_engine: dict[EngineRuntime, Session] = {}
        """A copy of this session for each engine of a choice; the functions of the copy run by the engine."""
        self._is_started = graph.meta is None
        self._lowered: tuple[int, Graph] | None = None
        self._is_starting = False
        self._variables: VariableValues | None = None

    def __repr__(self) -> str:
        variables = self.model_variables()
        ready = sum(variable.is_initialized for variable in variables)
        state = f"{ready} of {counted(len(variables), 'variable')} initialized" if variables else "no variables yet"
        return f"<Session on {self.graph!r}: {state}>"

    @property
    def checkpoints(self) -> CheckpointStore:
        """Where the Save and Restore kernels find checkpoints."""
        if self._checkpoints is None:
            self._checkpoints = default_store()
        return self._checkpoints

    def on_graph(self, graph: Graph, engine: str | EngineRuntime | None = None) -> Session:
        """Return a session on another graph, such as an extended copy, that shares this session's variables, resources,
        files and limits.

        A SavedModel is started here first, and not again on the other graph. `engine` runs in place of this session's engine.
        """
        self.start()
        other = self._alike(graph, self._allowed, engine)
        if self.graph.is_untrusted or not graph.is_untrusted:
            other.files = self.files
        other.resources = self.resources
        other._is_started = True
        return other

    def reopened(self, graph: Graph, hidden: Sequence[str] = ()) -> Session:
        """Return a session on another graph with this session's settings, and with none of its state.

        Of the files only the allowed ones are open, not the folder of this session's model, and nothing below `hidden`.
        """
        return self._alike(graph, self._allowed.hiding(hidden))

    def _alike(self, graph: Graph, files: FileAccess, engine: str | EngineRuntime | None = None) -> Session:
        other = Session(
            graph,
            seed=self.seed,
            files=files,
            checkpoints=self._checkpoints,
            engine=engine or self._auto or self._runtime or NUMPY,
            optimize=self._optimize,
        )
        if self.graph.is_untrusted or not graph.is_untrusted:  # else the stranger's graph has limits of its own
            other._limits = self._limits
        return other

    @overload
    def run(self, fetches: str | Output, feeds: Feeds = None, *, hook: Hook | None = None) -> Array: ...
    @overload
    def run(self, fetches: Node, feeds: Feeds = None, *, hook: Hook | None = None) -> None: ...
    @overload
    def run(
        self, fetches: list[str] | list[Output] | list[str | Output], feeds: Feeds = None, *, hook: Hook | None = None
    ) -> list[Array]: ...
    @overload
    def run(
        self, fetches: tuple[str | Output, ...], feeds: Feeds = None, *, hook: Hook | None = None
    ) -> tuple[Array, ...]: ...
    @overload
    def run(
        self, fetches: Mapping[_Key, str] | Mapping[_Key, Output], feeds: Feeds = None, *, hook: Hook | None = None
    ) -> dict[_Key, Array]: ...
    @overload
    def run(self, fetches: Any, feeds: Feeds = None, *, hook: Hook | None = None) -> Any: ...

    def run(self, fetches: Any, feeds: Mapping[Any, Any] | None = None, *, hook: Hook | None = None) -> Any:
        """Return the values of `fetches`: NumPy arrays for tensors (`a:0` or an Output), None for operations (`a` or a
        Node).

        A list, tuple or mapping, however nested, gives the same structure of values. `feeds` maps tensors to values, which
        replace the values that the graph computes. The outputs and inputs of a signature can be fetched and fed by their
        names in the signature, unless a node has the name. `hook` is called around every kernel, also in loops and functions.

        >>> session = tfg.Session(tfg.load("sample_graphs/keras_classifier"))
        >>> session.run("output_0", {"measurements": np.zeros((2, 4), np.float32)}).shape
        (2, 3)
        """
        if isinstance(fetches, str):
            return self._run((fetches,), feeds, hook)[0]
        # Most calls have this form, which is passed on unchanged: arranging would walk over it twice.
        if is_list_of_names(fetches):
            return self._run(tuple(fetches), feeds, hook)
        names = tuple(fetched_names(fetches, self.graph))
        return arranged(fetches, iter(self._run(names, feeds, hook)))

    def live_values(self, fetches: Sequence[str], feeds: Feeds = None, *, hook: Hook | None = None) -> list[Any]:
        """Return the values of `fetches` as `run` does, None for a tensor on a branch that was not taken."""
        return self._run(tuple(fetches), feeds, hook, takes_dead=True)

    @overload
    def make_callable(self, fetches: str | Output, feeds: Sequence[str | Output] = ()) -> Callable[..., Array]: ...
    @overload
    def make_callable(
        self, fetches: list[str] | list[Output] | list[str | Output], feeds: Sequence[str | Output] = ()
    ) -> Callable[..., list[Array]]: ...
    @overload
    def make_callable(self, fetches: Any, feeds: Sequence[str | Output] = ()) -> Callable[..., Any]: ...
    @checked(feeds=list | tuple)
    def make_callable(self, fetches: Any, feeds: Sequence[str | Output] = ()) -> Callable[..., Any]:
        """Return a function from the values of `feeds`, in their order, to the result of `run` for `fetches`.

        Names are looked up once, here. The function raises ArgumentTypeError for another number of values.
        """
        self.start()
        names = tuple(fetched_names(fetches, self.graph))
        fed = tuple([name_of(tensor, self.graph) for tensor in feeds])
        # A mapping cannot have a key twice, but a list of feeds can.
        if len(set(fed)) < len(fed):
            raise InvalidArgumentError(f"a tensor is fed twice: {', '.join(fed)}")
        prepared = self._prepare(names, fed)

        def call(*values: Any) -> Any:
            if len(values) != len(fed):
                raise ArgumentTypeError(
                    f"the function takes {counted(len(fed), 'value')} ({', '.join(fed)}), not {len(values)}"
                )
            return arranged(fetches, iter(self._values(prepared, names, values, None)))

        return call

    def _run(
        self, names: tuple[str, ...], feeds: Mapping[Any, Any] | None, hook: Hook | None, takes_dead: bool = False
    ) -> list[Any]:
        self.start()
        feeds = {} if feeds is None else feeds
        if not isinstance(feeds, Mapping):
            raise ArgumentTypeError(f"feeds must be a mapping from tensors to values, not {feeds!r}")
        prepared = self._prepared.get((names, tuple(feeds)))
        if prepared is None:
            # Most callers feed by names, which are the keys; Outputs are translated only if the names find nothing.
            feeds = {name_of(tensor, self.graph): value for tensor, value in feeds.items()}
            prepared = self._prepared.get((names, tuple(feeds)))
        if prepared is None:
            with bounded_depth():
                prepared = self._prepare(names, tuple(feeds))
        return self._values(prepared, names, feeds.values(), hook, takes_dead)

    def _values(
        self, prepared: _Prepared, names: tuple[str, ...], fed: Iterable[Any], hook: Hook | None, takes_dead: bool = False
    ) -> list[Any]:
        """Return the values of a program's fetches for the values of its feeds."""
        # Feeds are converted before the run begins: a wrong feed must not count as a run, nor change a variable.
        values = [feed.convert(value) for feed, value in zip(prepared.feeds, fed) if feed is not None]
        run = Run(next(self._numbers), None if hook is None else users_hook(hook))
        run.takes_dead = takes_dead
        if self._limits is not None:
            self._limits.begin(run)
        # TensorFlow returns infinities and NaN without a warning. OpenBLAS has one thread, as tfg divides products itself.
        with one_thread, run, np.errstate(all="ignore"):
            program = prepared.program
            if self._runtime is None:
                results = flushed(program.run, values)
            else:
                results = flushed(self._runtime.timed, program.run, values)
        return own_values(names, results)

    def tier(self, fetches: Any, feeds: Iterable[str | Output] = ()) -> Tier:
        """Return the tier of the latest run of `fetches` with `feeds`; FailedPreconditionError if there was no run.

        `feeds` are the fed tensors, in their order; a mapping from tensors to values serves as well.
        """
        names = tuple(fetched_names(fetches, self.graph))
        prepared = self._prepared.get((names, tuple([name_of(tensor, self.graph) for tensor in feeds])))
        if prepared is None:
            raise FailedPreconditionError(f"{', '.join(names)} did not run with these feeds")
        return prepared.program.tier

    @property
    def takes_hooks(self) -> bool:
        """Kernels run in this process."""
        return True

    @property
    def cache_stats(self) -> CacheStats:
        """Return the savings of the value cache so far."""
        return (self._cache or ValueCache(0)).stats

    @property
    def runs_at_once(self) -> int:
        """Return how many runs the engine computes at once, a core each; 1 if each run takes all cores."""
        runtime = self._auto or self._runtime
        return 1 if runtime is None else runtime.runs_at_once

    def engine_report(self) -> EngineReport:
        """Return a report of the ops that the engine has run, and of the others with the reasons.

        Raises FailedPreconditionError without an engine.
        """
        runtime = self._auto or self._runtime
        if runtime is None:
            raise FailedPreconditionError("the session has no engine")
        return runtime.report()

    @property
    def variables(self) -> VariableValues:
        """The values of the variables by name, to read and to assign: `session.variables["w"] = array`."""
        if self._variables is None or self._variables.session is not self:  # this session may be a copy
            self._variables = VariableValues(self)
        return self._variables

    def held_variables(self) -> list[Variable]:
        """Return all existing variables, initialized or not, in the order of their first use."""
        # Both places are looked at, because a variable without a shared name lives with its node.
        variables = [resource for _, resource in self.resources.items() if isinstance(resource, Variable)]
        variables += [state for state in self.node_states.values() if isinstance(state, Variable)]
        return list(dict.fromkeys(variables))

    def model_variables(self) -> list[Variable]:
        """Return the existing variables of the model: without the copies of a SavedModel's variables that nothing uses."""
        unused = unused_variables(self.graph)
        return [variable for variable in self.held_variables() if variable.name not in unused]

    def start(self) -> None:
        """Restore and initialize a SavedModel, as the first run does; other threads wait for the end."""
        if self._is_started:
            return
        with self._starting:
            # The start runs operations by `run`, which comes here again in the same thread.
            if not self._is_started and not self._is_starting:
                self._start()

    def _start(self) -> None:
        self._is_starting = True
        try:
            for operation, feeds in self.graph.meta.start_steps if self.graph.meta else ():
                self.run([operation], feeds)
            self._complete()
            self._is_started = True
        finally:
            self._is_starting = False

    def _complete(self) -> None:
        """Copy restored variables to their twins that a SavedModel's restore op leaves out."""
        if self.graph.meta is None or not self.graph.meta.read_keys:
            return
        from .restored_variables import unrestored

        for restored, read in unrestored(self.graph).items():
            source, target = (handle.item() for handle in self.run([f"{restored}:0", f"{read}:0"]))
            # A variable that the model's own restore has filled keeps its value.
            if source.is_initialized and not target.is_initialized:
                target.copy(source)

    def share(self, other: Session) -> None:
        """Use the variables, tables and other resources of a session of an alike graph from now on."""
        other.start()
        # The copies of this session for engines have a `resources` attribute of their own.
        for session in (self, *self._by_engine.values()):
            session.resources = other.resources
        self._is_started = True

    def node_state(self, node: Node, create: Callable[[], _State]) -> _State:
        """Return the state of a node; the first thread that asks creates the state."""
        with self._lock:
            if node not in self.node_states:
                self.node_states[node] = state = create()
                # Nodes in functions may have the same names; streams are kept for the graph's own nodes.
                if isinstance(state, Philox) and node.name in self._begun and self._has(node):
                    state.key, state.counter = self._begun[node.name]
            known: _State = self.node_states[node]
            return known

    def streams(self) -> dict[str, tuple[int, int]]:
        """Return key and counter of the random streams of the graph's nodes, by name; nodes in functions are left out."""
        with self._lock:
            states = list(self.node_states.items())
        return {
            node.name: (state.key, state.counter) for node, state in states if isinstance(state, Philox) and self._has(node)
        }

    def draw_on(self, streams: Mapping[str, tuple[int, int]]) -> None:
        """Continue random streams from the given keys and counters, by the names of nodes."""
        # The old positions are cleared first, so that a stream that `streams` lacks begins anew.
        self._begun.clear()
        self._begun.update(streams)

    def _has(self, node: Node) -> bool:
        """Return True if a node that ran is the graph's and not a function's."""
        graph = self.runnable()
        return node.name in graph and graph.node(node.name) is node

    def apart(self) -> Session:
        """Return a session of the same graph and resources, in which the states of nodes begin anew."""
        other = self._twin()
        other.node_states, other._by_engine = {}, {}
        other.functions = FunctionCalls(self.graph, other._context, runtime=self._runtime, policy=self._policy)
        return other

    def _twin(self) -> Session:
        """Return a session that shares everything with this session."""
        # The initializer would make variables, limits and plans anew; the twin is to have these.
        other = object.__new__(Session)
        other.__dict__.update(self.__dict__)
        return other

    def _context(self, node: Node, unused: tuple[int, ...] = ()) -> KernelContext:
        if self._limits is not None:
            self._limits.check_constant(node)
        return KernelContext(self, node, unused)

    def _prepare(self, fetches: tuple[str, ...], feeds: tuple[str, ...]) -> _Prepared:
        with self._lock:
            prepared = self._prepared.get((fetches, feeds))
            if prepared is None:
                prepared = self._prepared[fetches, feeds] = self._compiled(fetches, feeds)
            return prepared

    @rare_collection()
    def _compiled(self, fetches: tuple[str, ...], feeds: tuple[str, ...]) -> _Prepared:
        keep_some_freed_memory()
        watch = Stopwatch()
        graph = self.runnable()
        fetched, given = names_in_graph(self.graph, fetches, feeds, graph)
        targets = [self._fetch(graph, name) for name in fetched]
        fed = find_feeds(self.graph, given, graph)
        plan = compile_plan(graph, targets, [feed.output for feed in fed if feed is not None])
        more = " ..." if len(fetches) > _TOLD else ""
        watch.tell("planned %s%s: %d steps of %d nodes", ", ".join(fetches[:_TOLD]), more, len(plan.steps), len(graph))
        return _Prepared(self._program(plan, graph, f"{', '.join(fetches[:_TOLD])}{more}"), fed)

    def _program(self, plan: Plan, graph: Graph, name: str) -> Program | AutomaticProgram:
        """Return the program of a plan by the session's engine, or by the fastest of several engines."""

        def bound(runtime: EngineRuntime | None) -> Program:
            # Kernels are bound to a session: a function that a kernel calls must run by the engine of the program that calls
            # it.
            session = self if runtime is self._runtime or runtime is None else self._with(runtime)
            library = self.graph.functions
            return bound_program(plan, graph, session._context, library, self._cache, runtime, self._policy)

        if self._auto is None:
            return bound(self._runtime)

        # The import is here, because only a choice among engines needs the module, and each start of a command would pay for
        # it.
        from .automatic_program import AutomaticProgram

        return AutomaticProgram(plan, graph, self._auto, bound, name, self._optimize)

    def _with(self, runtime: EngineRuntime) -> Session:
        """Return a copy of this session whose functions run by an engine."""
        if runtime not in self._by_engine:
            other = self._by_engine[runtime] = self._twin()
            other.functions = FunctionCalls(self.graph, other._context, self._cache, runtime, self._policy)
            # The library is shared, because kernels add functions for their own calls, whose names must be free for all
            # copies.
            other.functions.library = self.functions.library
        return self._by_engine[runtime]

    def runnable(self) -> Graph:
        """Return the graph to run: with the objects of a model, loops with random numbers lowered as in TensorFlow, and its
        parts connected.
        """
        # A user may add nodes between runs.
        if self._lowered is None or self._lowered[0] != len(self.graph):
            self._lowered = (len(self.graph), lowered(connected(with_model_objects(self.graph))))
        return self._lowered[1]

    def _fetch(self, graph: Graph, name: str) -> Output | Node:
        """Return the output or node of a fetch; InvalidArgumentError for an output beyond a called function's results."""
        fetch = graph.fetch(name)
        # The outputs of a call by name follow from the function, which the graph may lack.
        if isinstance(fetch, Output) and fetch.node.op_def is None:
            node = fetch.node
            count = len(definition_in(graph, node).output_dtypes(node.attrs))
            if fetch.index >= count:
                raise InvalidArgumentError(
                    f"output {fetch.index} does not exist: the node has {counted(count, 'output')}", node=node.name, op=node.op
                )
        return fetch


def _engine_runtime(
    engine: str | Engine | EngineRuntime | AutoRuntime | None, precision: str | None
) -> tuple[EngineRuntime | None, AutoRuntime | None]:
    """Return (the engine at work, the engines to choose from): at most one of the two, and none for NumPy."""
    # The program's choice comes before the environment's.
    name = engine if isinstance(engine, str) else os.environ.get(VARIABLE) or NUMPY if engine is None else None
    if name == NUMPY and precision is None:
        return None, None
    from ...engines.automatic import AutoRuntime, choose_runtime
    from ...engines.engine_runtime import EngineRuntime

    if engine is None or isinstance(engine, str):
        runtime = choose_runtime(engine, precision)
    elif precision is not None:
        raise InvalidArgumentError(f"precision {precision} needs the name of an engine")
    elif isinstance(engine, (EngineRuntime, AutoRuntime)):
        runtime = engine
    elif hasattr(engine, "compile"):
        runtime = EngineRuntime(engine)
    else:
        raise TypeError(f"an engine must be a name or an Engine, not {engine!r}")
    return (None, runtime) if isinstance(runtime, AutoRuntime) else (runtime, None)


# Results of a run: arrays that belong to the caller.

# Most results of a run are fresh arrays: 68 MB of images take 27 ms handed out and 38 ms copied.
_MOST_HELD: Final = 2
"""The largest ratio of the bytes of a view's base array to the bytes of the view."""


def own_values(names: Sequence[str], values: list[Any]) -> list[Any]:
    """Return fetched values, None for operations, as arrays of the caller.

    Arrays of variables, constants and feeds are copied. Nobody else may hold the list. As in TensorFlow, arrays are in C
    order, and a single string is bytes. Batches stay. Raises ResourceExhaustedError if a copy does not fit into memory.
    """
    return [_own(name, values, place) for place, name in enumerate(names)]


def _own(name: str, values: list[Any], place: int) -> Any:
    """Return a value for the caller. No name is bound to the value here: its references are counted."""
    if type(values[place]) is not np.ndarray:
        value = values[place]
        return value if value is None or isinstance(value, Batched) else np.asarray(value)
    # TensorFlow's sessions return a single string as bytes, too.
    if values[place].dtype == object and values[place].ndim == 0 and isinstance(values[place].item(), bytes):
        return values[place].item()
    # A small view would keep a large array alive for as long as the caller has the result.
    if is_alone(values, place) and (values[place].base is None or _is_all(values[place])):
        return values[place]
    try:
        return values[place].copy()
    except MemoryError as error:
        raise ResourceExhaustedError(f"out of memory for the value of '{name}': {error}") from error


def is_alone(values: list[Any], place: int) -> bool:
    """True for an array in C order that the list alone refers to, and that may be written to."""
    return _references(values, place) <= _ALONE and bool(values[place].flags.carray)


def _is_all(view: Any) -> bool:
    """True for a view that shows most of an array to which nothing else refers."""
    held = [view.base]
    if type(held[0]) is not np.ndarray or not held[0].flags.owndata or not held[0].flags.writeable:
        return False
    return _references(held, 0) <= _ALONE + 1 and held[0].nbytes <= _MOST_HELD * view.nbytes  # + 1: the view


def _references(values: list[Any], place: int) -> int:
    return sys.getrefcount(values[place])


_ALONE: Final = _references([np.empty(0)], 0)
"""The count that `_references` returns for an array that only the list refers to."""
