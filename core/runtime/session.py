"""A session: a graph with the state of its variables and resources, run by fetches and feeds."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

import numpy as np

from .. import dtypes
from ..arguments import bounded_depth, takes
from ..dtypes import DType
from ..errors import InvalidArgumentError, ResourceExhaustedError
from ..graph import Graph, Node, Output
from ..numerics.threads import one_thread
from ..planning.planner import compile_plan
from ..planning.selection import definition_in
from ..shapes import UNKNOWN, Shape, merge_shapes
from ..tensor_names import parse_tensor_name
from ..tensors import as_array, as_bytes_array
from .caching import CacheStats, ValueCache, with_cached_trees
from .checkpoints import CheckpointStore, default_store
from .executor import Program
from .files import NO_FILES, FileAccess
from .function_calls import FunctionCalls
from .kernel_context import KernelContext
from .limits import Limits
from .lowering import lowered
from .resources import ResourceManager, Variable
from .runs import Hook, Run
from .values import Batched

_State = TypeVar("_State")

_UNSHARED_REFERENCES: Final = 3
"""What sys.getrefcount says in `_result` of an array that only the caller's list holds."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Feed:
    """What a fed tensor takes."""

    name: str
    output: Output
    dtype: DType | None
    shape: Shape

    def convert(self, value: Any) -> Any:
        """The value as an array of the fed tensor's dtype; InvalidArgumentError where its shape does not fit."""
        if isinstance(value, Batched):
            return value
        array = as_bytes_array(value) if self.dtype is dtypes.string else as_array(value, self.dtype)
        if self.shape.dims is not None and self.shape.dims != array.shape:
            try:
                merge_shapes(self.shape, Shape(array.shape))
            except InvalidArgumentError:
                raise InvalidArgumentError(
                    f"cannot feed a value of shape {Shape(array.shape)} for tensor '{self.name}' of shape {self.shape}",
                    node=self.output.node.name,
                    op=self.output.node.op,
                ) from None
        return array


@dataclasses.dataclass(frozen=True, slots=True)
class _Prepared:
    """A program for certain fetches and feeds."""

    program: Program
    feeds: tuple[_Feed | None, ...]
    """In the order of the given feeds; None where one is ignored."""


class Session:
    """Runs a graph. Variables, tables and random state live here, plans are made once per (fetches, feeds).

    A graph that came from a SavedModel starts as TensorFlow's loader starts it, at the first run: its variables are restored
    and its initializer is run.

    Many threads may run one session at a time. A kernel has the variables, tables and queues that it is given for itself, so
    updates lose nothing and reads are whole; a run of several kernels is not atomic. Where a run waits for what another thread
    does, as for an element of a queue, `timeout` ends that. docs/threads.md says more.

    `files` says which files the graph may read and write: by default none, though a SavedModel reads those in its own folder.
    `FileAccess.everything()` opens all of them; PermissionDeniedError names the node that wants more.

    `timeout` bounds every run in seconds (DeadlineExceededError), `max_memory` the bytes that tensors may hold
    (ResourceExhaustedError); both name the node. `cache` is how many bytes to spend on keeping, from one run to the next,
    values that depend on nothing but constants and variables that were not written since.
    """

    @takes(graph=Graph, files=FileAccess, cache=int)
    def __init__(
        self,
        graph: Graph,
        *,
        seed: int | None = None,
        files: FileAccess = NO_FILES,
        checkpoints: CheckpointStore | None = None,
        timeout: float | None = None,
        max_memory: int | None = None,
        cache: int = 0,
    ) -> None:
        graph.check()
        self.graph = graph
        self.seed = seed
        self.files = files.reading(graph.meta.folder) if graph.meta is not None and graph.meta.folder else files
        self._checkpoints = checkpoints
        self._limits = None if timeout is None and max_memory is None else Limits(timeout, max_memory)
        self._cache = ValueCache(cache) if cache else None
        self.resources = ResourceManager()
        self.node_states: dict[Node, Any] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.RLock()
        self._starting = threading.RLock()
        self._prepared: dict[tuple[tuple[str, ...], tuple[str, ...]], _Prepared] = {}
        self.functions = FunctionCalls(graph, self._context, self._cache)
        self._is_started = graph.meta is None
        self._lowered: tuple[int, Graph] | None = None
        self._is_starting = False

    @property
    def checkpoints(self) -> CheckpointStore:
        """Where the Save and Restore kernels find checkpoints."""
        if self._checkpoints is None:
            self._checkpoints = default_store()
        return self._checkpoints

    def on_graph(self, graph: Graph) -> Session:
        """A session on another graph (an extended copy, say) that shares this one's variables, resources, files and limits.

        What starts a SavedModel is run here first, and not again on the other graph.
        """
        self.start()
        other = Session(graph, seed=self.seed, files=self.files, checkpoints=self._checkpoints)
        other._limits = self._limits
        other.resources = self.resources
        other._is_started = True
        return other

    def run(
        self, fetches: str | Sequence[str], feeds: Mapping[str, Any] | None = None, *, hook: Hook | None = None
    ) -> Any:
        """The values of `fetches`: tensors by name `a:0` (NumPy arrays), operations by name `a` (None).

        A single name gives a single value. `feeds` maps tensor names to values, which replace what the graph computes. `hook`
        is called around every kernel, those in loops and functions too.
        """
        self.start()
        names = (fetches,) if isinstance(fetches, str) else tuple(fetches)
        feeds = {} if feeds is None else feeds
        if not isinstance(feeds, Mapping):
            raise TypeError(f"feeds are a mapping of tensor names to values, not {feeds!r}")
        prepared = self._prepared.get((names, tuple(feeds)))
        if prepared is None:
            with bounded_depth():
                prepared = self._prepare(names, tuple(feeds))
        values = [feed.convert(value) for feed, value in zip(prepared.feeds, feeds.values()) if feed is not None]
        run = Run(next(self._numbers), hook)
        if self._limits is not None:
            self._limits.begin(run)
        with one_thread, run, np.errstate(all="ignore"):
            found = prepared.program.run(values)
        results = [None if value is None else _result(name, value) for name, value in zip(names, found)]
        return results[0] if isinstance(fetches, str) else results

    @property
    def cache_stats(self) -> CacheStats:
        """What keeping values between runs has saved so far."""
        return (self._cache or ValueCache(0)).stats

    def variables(self) -> list[Variable]:
        """All variables that exist, initialized or not, in the order they were first touched."""
        found = [resource for _, resource in self.resources.items() if isinstance(resource, Variable)]
        found += [state for state in self.node_states.values() if isinstance(state, Variable)]
        return list(dict.fromkeys(found))

    def start(self) -> None:
        """Restore and initialize what came from a SavedModel, as the first run does; other threads wait until it is done."""
        if self._is_started:
            return
        with self._starting:
            if not self._is_started and not self._is_starting:
                self._start()

    def _start(self) -> None:
        self._is_starting = True
        try:
            for operation, feeds in self.graph.meta.start_steps if self.graph.meta else ():
                self.run([operation], feeds)
            self._is_started = True
        finally:
            self._is_starting = False

    def share(self, other: Session) -> None:
        """Work from here on with the variables, tables and other resources of a session of a like graph."""
        other.start()
        self.resources = other.resources
        self._is_started = True

    def node_state(self, node: Node, create: Callable[[], _State]) -> _State:
        """The state of a node, which the first thread to ask for it creates."""
        with self._lock:
            if node not in self.node_states:
                self.node_states[node] = create()
            return self.node_states[node]

    def apart(self) -> Session:
        """A session of the same graph and resources, in which the states of nodes begin anew."""
        other = copy.copy(self)
        other.node_states = {}
        other.functions = FunctionCalls(self.graph, other._context)
        return other

    def _context(self, node: Node, unused: tuple[int, ...] = ()) -> KernelContext:
        if self._limits is not None:
            self._limits.check_constant(node)
        return KernelContext(self, node, unused)

    def _prepare(self, fetches: tuple[str, ...], feeds: tuple[str, ...]) -> _Prepared:
        with self._lock:
            found = self._prepared.get((fetches, feeds))
            if found is None:
                found = self._prepared[fetches, feeds] = self._compiled(fetches, feeds)
            return found

    def _compiled(self, fetches: tuple[str, ...], feeds: tuple[str, ...]) -> _Prepared:
        graph = self.runnable()
        targets = [self._fetch(graph, name) for name in fetches]
        fed = [None if self._is_needless(name) else self._feed(graph, name) for name in feeds]
        plan = compile_plan(graph, targets, [feed.output for feed in fed if feed is not None])
        if self._cache is not None:
            plan = with_cached_trees(plan, graph)
        return _Prepared(Program(plan, self._context, self.graph.functions, self._cache), tuple(fed))

    def runnable(self) -> Graph:
        """The graph that runs: with loops that draw random numbers as TensorFlow puts them there."""
        if self._lowered is None or self._lowered[0] != len(self.graph):
            self._lowered = (len(self.graph), lowered(self.graph))
        return self._lowered[1]

    def _fetch(self, graph: Graph, name: str) -> Output | Node:
        """What `name` fetches; InvalidArgumentError where a called function has fewer results."""
        found = graph.fetch(name)
        if isinstance(found, Output) and found.node.op_def is None:
            node = found.node
            count = len(definition_in(graph, node).output_dtypes(node.attrs))
            if found.index >= count:
                raise InvalidArgumentError(f"there is no output {found.index}: it has {count}", node=node.name, op=node.op)
        return found

    def _is_needless(self, name: str) -> bool:
        """True where the graph had the node before it was optimized, and no fetch ran it then."""
        node_name = parse_tensor_name(name)[0]
        return node_name in self.graph.needless and node_name not in self.graph

    def _feed(self, graph: Graph, name: str) -> _Feed:
        output = graph.output(name)
        node = output.node
        declared = node.attrs.get("shape") if node.op in ("Placeholder", "PlaceholderV2") else None
        shape = declared if isinstance(declared, Shape) else UNKNOWN
        if node.op == "Placeholder" and shape.dims == () and self._had_no_unknown_rank():
            shape = UNKNOWN
        return _Feed(name, output, output.dtype.base if output.dtype else None, shape)

    def _had_no_unknown_rank(self) -> bool:
        """True for graphs older than version 24, where a Placeholder's shape () stood for an unknown one."""
        return self.graph.versions is not None and self.graph.versions.producer < 24


def _result(name: str, value: Any) -> Any:
    """A fetched value as an array of its own: what a variable, a constant or a feed holds is copied. Batches stay.

    A single string comes as bytes, as in TensorFlow. ResourceExhaustedError where a copy does not fit into memory.
    """
    if type(value) is not np.ndarray:
        return value if isinstance(value, Batched) else np.asarray(value)
    if value.dtype == object and value.ndim == 0 and isinstance(value.item(), bytes):
        return value.item()
    if value.base is not None or sys.getrefcount(value) > _UNSHARED_REFERENCES + 1 or not value.flags.writeable:
        try:
            return value.copy()
        except MemoryError as error:
            raise ResourceExhaustedError(f"out of memory for the value of '{name}': {error}") from error
    return value
