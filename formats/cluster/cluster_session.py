"""A session on a cluster that runs a graph like the Session of `core.runtime`; variables live in the cluster's tasks."""

from __future__ import annotations

import itertools
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...core.building.builder import GraphBuilder
from ...core.codecs.snappy import unpacked_limit
from ...core.flops.timings import NodeTime
from ...core.graph.graph import Graph, Node, Output
from ...core.graph.variable_nodes import VariableNodes, find_variables
from ...core.runtime.execute.limits import refuse_cluster
from ...core.runtime.execute.value_cache import CacheStats
from ...core.runtime.session.fetches import find_feeds, names_in_graph
from ...core.runtime.session.runner import Runner
from ...core.runtime.session.session_like import SessionLike
from ...core.runtime.state.run_context import Hook
from ...core.support import dataclasses
from ...core.support.errors import (
    AbortedError,
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
    ResourceExhaustedError,
    TfgError,
    UnavailableError,
    UnimplementedError,
    UnknownError,
)
from ...core.support.hints import Blank, Hint, command
from ...core.support.not_copied import NotCopied
from ...core.types.dtypes import DType, string
from ...core.types.tensors import Tensor
from ..codecs.tensor_proto import decode_tensor, encode_tensor
from ..graphdef import part_bytes, to_node_def
from ..protos import cluster_pb2 as pb
from ..run_metadata import node_times
from ..saving import to_bytes
from ..state import read_graph_state
from .address import Address
from .master import MAX_REQUEST, Master, failure
from .tasks import TaskWatch, ask_tasks

CONNECT_SECONDS: Final = 10.0
TASKS_SECONDS: Final = 300.0
"""The time, in seconds, for all tasks to answer when a session is made: tasks may be started after their client."""
_DEAD_TASK: Final = Hint(
    "start the task; ", command("cluster", Blank("ADDRESS")), " shows the tasks that answer, and the tasks that do not"
)
RETURN_SECONDS: Final = 60.0
"""The time, in seconds, for a lost server to return before a retry counts as failed."""
_GRACE: Final = 5.0
"""The extra time, in seconds, for a server to report a step's timeout itself."""
_CLOSING_SECONDS: Final = 2.0


class _MasterSession:
    """The state of a session on the master: the handle, and the nodes and functions that were sent."""

    def __init__(self, master: Master, filters: Sequence[str], note: Callable[[str], None]) -> None:
        self.master, self._note, self._filters = master, note, filters
        self._handle: str | None = None
        self._version = 0
        self._nodes: dict[str, Node] = {}
        self._functions: set[str] = set()
        self._sent: dict[Graph, int] = {}
        # Several threads may run steps of one session; without the lock two of them would extend the graph by the same nodes,
        # which the master refuses.
        self._lock = threading.RLock()

    def handle_for(self, graph: Graph) -> str | None:
        """Return the handle of the session, made or extended if the session lacks nodes of the graph.

        None if the session has a different node with the same name.
        """
        with self._lock:
            if self._handle is None:
                self._handle = self._create(graph)
            elif self._sent.get(graph) != len(graph):
                sent = self._nodes
                # The master adds nodes by name and cannot replace one: a graph that contradicts needs a session of its own.
                if not all(node.name not in sent or _are_alike(node, sent[node.name]) for node in graph):
                    return None
                self._extend(graph)
            self._sent[graph] = len(graph)
            return self._handle

    def forget(self) -> None:
        """Drop the lost session; the next step makes a new session."""
        with self._lock:
            handle, self._handle = self._handle, None
            self._sent.clear()
        # Outside of the lock: the server may be slow or gone, and other threads open the next session meanwhile.
        if handle is not None:
            self.master.abandon(handle)

    def close(self) -> None:
        """Let the master forget the session too."""
        with self._lock:
            handle, self._handle = self._handle, None
        if handle is not None:
            try:
                self.master.close_session(handle, _CLOSING_SECONDS)
            except TfgError:  # the session has gone with the server
                return

    def _create(self, graph: Graph) -> str:
        # A node that the graph puts on a GPU runs elsewhere if the cluster has none.
        config = pb.SessionConfig(allow_soft_placement=True, device_filters=self._filters)
        try:
            response = self.master.create(to_bytes(graph, "graph"), config, TASKS_SECONDS, self._waiting)
        except DeadlineExceededError:
            raise UnavailableError(f"after {TASKS_SECONDS:g} s {self._waiting()}", hint=_DEAD_TASK) from None
        self._version = response.graph_version
        self._nodes = {node.name: node for node in graph}
        self._functions = set(graph.functions)
        return response.session_handle

    def _waiting(self) -> str:
        """Return a message with the tasks that the master waits for."""
        silent = ask_tasks(self.master).silent
        return f"{self.master.address} waits for {', '.join(silent) or 'a task of its cluster'}, which does not answer"

    def _extend(self, graph: Graph) -> None:
        nodes = [node for node in graph if node.name not in self._nodes]
        functions = set(graph.functions) - self._functions
        if not nodes and not functions:
            return
        assert self._handle is not None
        part, watch = part_bytes(graph, nodes, functions), TaskWatch(self.master, self._handle, self._note)
        self._version = self.master.extend(self._handle, self._version, part, watch.look)
        self._nodes |= {node.name: node for node in nodes}
        self._functions |= functions


def _are_alike(node: Node, other: Node) -> bool:
    if node is other:
        return True
    if (node.op, node.device) != (other.op, other.device) or node.input_names() != other.input_names():
        return False
    return node.attrs is other.attrs or to_node_def(node) == to_node_def(other)


class ClusterSession(NotCopied):
    """A session that runs a graph on the cluster whose master is the server at `address`.

    Variables, tables and queues live in the cluster's tasks: they outlast the session, and all sessions see them. Files
    that the graph names are files of the servers. A SavedModel's variables are read here and assigned there.

    `filters` name the tasks that the session may use, like `/job:worker/task:0`; only the named tasks are waited for, by
    default all. `timeout` bounds every step in seconds. A step that ends with AbortedError or UnavailableError, for example
    because a server was lost, is repeated up to `retries` times in a new session; the step may have run, in part or whole.
    Also without retries the next step gets a new session. `note` is called with messages about slow operations.
    """

    holds = "a connection"
    instead = "pickle `session.graph` and the address, and open a session there; the cluster holds the variables"

    def __init__(
        self,
        graph: Graph,
        address: str | Address,
        *,
        timeout: float | None = None,
        retries: int = 0,
        note: Callable[[str], None] | None = None,
        filters: Sequence[str] = (),
    ) -> None:
        _check_graph(graph)
        self.graph, self.retries, self._timeout = graph, retries, timeout
        self._note = note or (lambda _: None)
        self._master = Master(address if isinstance(address, Address) else Address.parse(address), note)
        self._master.wait(CONNECT_SECONDS)
        self._filters = filters
        self._opened = [_MasterSession(self._master, filters, self._note)]
        self._is_started = graph.meta is None
        self._reader: tuple[int, VariableReader] | None = None

    @property
    def takes_hooks(self) -> bool:
        """Kernels run elsewhere."""
        return False

    @property
    def runs_at_once(self) -> int:
        """One: the servers divide their cores by themselves."""
        return 1

    @property
    def cache_stats(self) -> CacheStats:
        """Return zeros: no values are cached here."""
        return CacheStats(0, 0, 0, 0, 0)

    def streams(self) -> Mapping[str, tuple[int, int]]:
        """Return no streams: servers do not tell the positions of random streams."""
        return {}

    def draw_on(self, streams: Mapping[str, tuple[int, int]]) -> None:
        """Do nothing: servers cannot set the positions of random streams, and nodes draw from the beginning."""

    def run(self, fetches: str | Sequence[str], feeds: Mapping[str, Any] | None = None, *, hook: Hook | None = None) -> Any:
        """Return the values of `fetches`: tensors by name `a:0` (NumPy arrays), operations by name `a` (None).

        Errors come from the cluster, with the node and the task. UnimplementedError for a hook.
        """
        if hook is not None:
            raise UnimplementedError("the kernels run on the servers of the cluster, where calls cannot be wrapped")
        self.start()
        names = (fetches,) if isinstance(fetches, str) else tuple(fetches)
        targets, fed = self._named(names, feeds or {})
        values = {output: value for output, value in fed.items() if output in targets}
        asked = [item for item in targets if item not in values]
        if asked:
            values |= _values(asked, self._step(_request(asked, fed)))
        results = [values[item] if isinstance(item, Output) else None for item in targets]
        return results[0] if isinstance(fetches, str) else results

    def traced(self, fetches: Sequence[str], feeds: Mapping[str, Any]) -> list[NodeTime]:
        """Return the time of every node on the node's device in an extra step, as recorded by the servers."""
        self.start()
        request = _request(*self._named(tuple(fetches), feeds))
        request.options.trace_level = pb.RunOptions.FULL_TRACE
        return node_times(self._step(request).metadata.step_stats)

    def partial_run(self, fetches: Sequence[str], feeds: Sequence[str]) -> PartialRun:
        """Begin a step that is fed and fetched in parts; all fetches and all feeds are declared first."""
        self.start()
        targets = [self.graph.fetch(name) for name in fetches]
        handle = self._handle()
        request = pb.PartialRunSetupRequest(
            session_handle=handle,
            feed=[self.graph.output(name).name for name in feeds],
            fetch=_tensors(targets),
            target=_operations(targets),
            request_id=_new_id(),
        )
        return PartialRun(self, self._master.set_up_partial_run(request, TaskWatch(self._master, handle, self._note).look))

    def on_graph(self, graph: Graph) -> ClusterSession:
        """Return a session on another graph with the same variables: the same session, if the graph only has more nodes."""
        self.start()
        _check_graph(graph)
        # The other session shares the master's sessions, so variables and their values are the same.
        other = object.__new__(ClusterSession)
        other.__dict__.update(self.__dict__)
        other.graph, other._reader = graph, None
        return other

    def start(self) -> None:
        """Assign the variables of a SavedModel, then run the SavedModel's initializer."""
        meta = self.graph.meta
        if self._is_started or meta is None:
            return
        # Set before the steps, as `run` starts a session that is not started.
        self._is_started = True
        try:
            if meta.variables_prefix is not None:
                Runner(self).restore(read_graph_state(meta.variables_prefix, self.graph))
            for operation, feeds in meta.start_steps:
                # The restore op would read the checkpoint on the servers, which do not have the file.
                if meta.saver is None or operation != meta.saver.restore_op:
                    self.run([operation], feeds)
        # An interruption, too, leaves the start to be repeated: some of the variables may have no values yet.
        except BaseException:
            self._is_started = False
            raise

    def held_variables(self) -> list[ClusterVariable]:
        """Return the variables of the graph, with their current values."""
        # A graph only grows while a session holds it: the number of nodes tells whether it did.
        if self._reader is None or self._reader[0] != len(self.graph):
            self._reader = len(self.graph), VariableReader(self)
        return self._reader[1].read()

    def close(self) -> None:
        """End the sessions; the variables stay in the cluster."""
        for held in self._opened:
            held.close()
        self._master.close()

    def _named(self, fetches: tuple[str, ...], feeds: Mapping[str, Any]) -> tuple[list[Output | Node], dict[Output, Any]]:
        """Return the targets and the values of feeds, which may have the names of a signature."""
        fetched, given = names_in_graph(self.graph, fetches, tuple(feeds))
        return [self.graph.fetch(name) for name in fetched], self._fed(dict(zip(given, feeds.values())))

    def _fed(self, feeds: Mapping[str, Any]) -> dict[Output, Any]:
        outputs = find_feeds(self.graph, feeds)
        values = {feed.output: feed.convert(value) for feed, value in zip(outputs, feeds.values()) if feed is not None}
        _check_size(values)
        return values

    def _step(self, request: pb.RunStepRequest) -> pb.RunStepResponse:
        """Return the answer to a request, repeated while retries are left."""
        for attempt in itertools.count(1):
            try:
                return self._attempt(request)
            # Only these say that a server was lost; any other error would come again.
            except (AbortedError, UnavailableError) as error:
                self._forget()
                if attempt > self.retries:
                    raise
                self._note(f"retry {attempt} of {self.retries} after: {error}")
                self._come_back()
        raise AssertionError

    def _handle(self) -> str:
        """Return the handle of a session on the graph: the first that fits, as graphs extended apart may clash."""
        handle = next(filter(None, (held.handle_for(self.graph) for held in self._opened)), None)
        if handle is None:
            self._opened.append(_MasterSession(self._master, self._filters, self._note))
            handle = self._opened[-1].handle_for(self.graph)
        assert handle is not None
        return handle

    def _forget(self) -> None:
        """Drop all sessions, lost together with a server: each step makes a new session."""
        for held in self._opened:
            held.forget()

    def _come_back(self) -> None:
        """Wait for the master; if the master does not answer, the next attempt fails."""
        time.sleep(secrets.randbelow(100) / 1000)  # several clients that lost the same server do not come back at once
        try:
            self._master.wait(RETURN_SECONDS)
        except UnavailableError as error:
            self._note(str(error))

    def _attempt(self, request: pb.RunStepRequest) -> pb.RunStepResponse:
        request.session_handle = self._handle()
        request.request_id = _new_id()
        if self._timeout is not None:
            request.options.timeout_in_ms = max(int(self._timeout * 1000), 1)
        # A step's own limit does not free a client whose worker is gone, so the call has a limit too.
        limit = None if self._timeout is None else self._timeout + _GRACE
        answer = self._master.run(request, limit, TaskWatch(self._master, request.session_handle, self._note).look)
        if answer.status_code:
            raise failure(answer.status_code, answer.status_error_message, self.graph)
        return answer


class PartialRun:
    """A step under way on a cluster that waits for more feeds."""

    def __init__(self, session: ClusterSession, handle: str) -> None:
        self._session = session
        self._handle = handle

    def run(self, fetches: Sequence[str], feeds: Mapping[str, Any] | None = None) -> list[Any]:
        """Return some of the declared fetches, computed with some of the declared feeds."""
        session = self._session
        targets = [session.graph.fetch(name) for name in fetches]
        request = _request(targets, session._fed(feeds or {}))
        request.partial_run_handle = self._handle
        answer = session._attempt(request)
        values = _values(targets, answer)
        return [values[item] if isinstance(item, Output) else None for item in targets]


def _check_graph(graph: Graph) -> None:
    graph.check()
    refuse_cluster(graph)


def _new_id() -> int:
    """Return a number for a request: servers refuse a number that they saw before, of whichever session."""
    # Never 0, with which TensorFlow looks for no repetition; the field of the message is a signed number of 64 bits.
    return secrets.randbits(62) | 1


def _request(targets: Sequence[Output | Node], fed: Mapping[Output, Any]) -> pb.RunStepRequest:
    feeds = [pb.NamedTensorProto(name=output.name, tensor=_encoded(output, value)) for output, value in fed.items()]
    # With the error in the answer: gRPC has statuses in the headers, where it cuts long messages.
    return pb.RunStepRequest(
        feed=feeds, fetch=_tensors(targets), target=_operations(targets), store_errors_in_response_body=True
    )


def _tensors(targets: Sequence[Output | Node]) -> list[str]:
    return [item.name for item in dict.fromkeys(targets) if isinstance(item, Output)]


def _operations(targets: Sequence[Output | Node]) -> list[str]:
    return [item.name for item in dict.fromkeys(targets) if isinstance(item, Node)]


def _encoded(output: Output, value: Any) -> Any:
    dtype: DType | None = output.dtype.base if output.dtype is not None else None
    if dtype is not None and dtype.is_object and dtype is not string:
        raise UnimplementedError(f"a {dtype} cannot be fed to a cluster", node=output.node.name, op=output.node.op)
    return encode_tensor(Tensor.from_numpy(value, dtype))


def _check_size(values: Mapping[Output, Any]) -> None:
    """Raise ResourceExhaustedError for feeds too large for a message, before anything is copied."""
    sizes = {output.name: _bytes(value) for output, value in values.items()}
    if sum(sizes.values()) > MAX_REQUEST:
        largest = max(sizes, key=sizes.__getitem__)
        raise ResourceExhaustedError(
            f"the feeds have {sum(sizes.values())} bytes ({sizes[largest]} for '{largest}'), "
            f"but a message holds {MAX_REQUEST}",
            hint="feed smaller batches, or let the graph read files of the servers",
        )


def _bytes(value: Any) -> int:
    if not isinstance(value, np.ndarray):
        raise InvalidArgumentError(f"a {type(value).__name__} cannot be fed to a cluster")
    return sum(map(len, value.ravel().tolist())) if value.dtype == object else value.nbytes


def _values(asked: Sequence[Output | Node], answer: pb.RunStepResponse) -> dict[Output, Any]:
    """Return the values of the requested tensors; UnknownError if the server answers with others."""
    tensors = {named.name: named.tensor for named in answer.tensor}
    values = {}
    for output in dict.fromkeys(item for item in asked if isinstance(item, Output)):
        if output.name not in tensors:
            raise _strange(output, "does not have it")
        tensor = decode_tensor(tensors[output.name])
        if output.dtype is not None and tensor.dtype is not output.dtype.base:
            raise _strange(output, f"has {tensor.dtype} for it, not {output.dtype.base}")
        # A TensorProto of one value may claim any shape: filled up, an answer of some bytes would take all memory.
        if tensor.size * tensor.dtype.size > unpacked_limit(tensors[output.name].ByteSize()):
            raise _strange(output, f"has one value for all of {tensor.size:,}")
        values[output] = _value(tensor)
    return values


def _strange(output: Output, problem: str) -> UnknownError:
    return UnknownError(f"'{output}' was fetched; the server's answer {problem}", node=output.node.name, op=output.node.op)


def _value(tensor: Tensor) -> Any:
    """Return a fetched tensor as an array with memory of its own; a single string as bytes, as from a local session."""
    value = tensor.numpy()
    if value.dtype == object and value.ndim == 0 and isinstance(value.item(), bytes):
        return value.item()
    # A decoded tensor may be a view of the message, which stays in memory as long as the view does, and cannot be written to.
    return value if value.flags.writeable and value.base is None else value.copy()


# The variables of a session on a cluster, read by nodes that are added to the session's graph.

_AT_ONCE: Final = 2**28
"""The bytes of variables to read in a step: a message holds at most 2 GiB."""


@dataclasses.dataclass(frozen=True, slots=True)
class ClusterVariable:
    """A variable of the cluster at the moment of reading."""

    name: str
    dtype: DType
    is_initialized: bool
    value: Any = None

    def read(self) -> Any:
        """Return the variable's value; FailedPreconditionError for an uninitialized variable."""
        if not self.is_initialized:
            raise FailedPreconditionError(f"the variable '{self.name}' is not initialized")
        return self.value

    def constant(self) -> Tensor:
        """Return the variable's value as a constant; errors as `read`."""
        return Tensor.from_numpy(np.asarray(self.read()), self.dtype)


class VariableReader:
    """A reader of all variables of a session's graph."""

    def __init__(self, session: SessionLike) -> None:
        self._variables = find_variables(session.graph)
        graph, self._checks, self._values = _with_readers(session.graph, self._variables)
        self._session = session.on_graph(graph)

    def read(self) -> list[ClusterVariable]:
        """Return the variables with their values."""
        variables, session = self._variables, self._session
        # One step asks of all variables whether they have values: reading one without a value is an error that ends the step.
        flags = dict(zip(variables, session.run([self._checks[name] for name in variables])))
        held: dict[str, Any] = {}
        for names in _groups([variable for name, variable in variables.items() if flags[name]]):
            held |= zip(names, session.run([self._values[name] for name in names]))
        return [ClusterVariable(v.name, v.dtype, bool(flags[name]), held.get(name)) for name, v in variables.items()]


def _with_readers(graph: Graph, variables: Mapping[str, VariableNodes]) -> tuple[Graph, dict[str, str], dict[str, str]]:
    """Return a copy of the graph, and by variable the tensors that check initialization and read the value."""
    g = GraphBuilder(graph.copy())
    checks, values = {}, {}
    for name, variable in variables.items():
        handle = g.graph.node(variable.node.name).output()
        if variable.is_resource:
            checks[name] = g.VarIsInitializedOp(handle, name="tfg_state/is_initialized").name
            values[name] = g.ReadVariableOp(handle, dtype=variable.dtype, name="tfg_state/value").name
        else:
            checks[name] = g.IsVariableInitialized(handle, name="tfg_state/is_initialized").name
            values[name] = handle.name
    return g.graph, checks, values


def _groups(variables: Sequence[VariableNodes]) -> Iterator[list[str]]:
    """Yield the names of variables that are read together; a variable of unknown size is read alone."""
    names: list[str] = []
    total = 0
    for variable in variables:
        size = variable.shape.num_elements if variable.shape.is_known else None
        taken = size * variable.dtype.size if isinstance(size, int) and not variable.dtype.is_object else _AT_ONCE
        if names and total + taken > _AT_ONCE:
            yield names
            names, total = [], 0
        names.append(variable.name)
        total += taken
    if names:
        yield names
