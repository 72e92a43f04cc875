"""The calls of TensorFlow's MasterService, answered by every server of a cluster."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from google.protobuf.message import Message

from ...core.codecs import wire
from ...core.graph.graph import Graph, Node
from ...core.support import dataclasses, errors
from ...core.support.errors import InvalidArgumentError, NotFoundError, TfgError, UnavailableError, UnimplementedError
from ...core.support.hints import extra_hint
from ...core.support.regular_files import open_regular
from ..protos import cluster_pb2 as pb
from .address import Address

MAX_REQUEST: Final = 2**31 - 1
"""The bytes of the largest message that protobuf reads, sent or received."""
# gRPC refuses answers above 4 MB by default, and waits up to two minutes before it tries a lost server again.
_OPTIONS: Final = (
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", MAX_REQUEST),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
)
PATIENCE: Final = 10.0
"""The seconds of waiting after which a note is made, and between checks of the tasks in the meantime."""
_PAUSE: Final = 0.1
_ABANDON_SECONDS: Final = 30.0
_KINDS: Final[dict[int, type[TfgError]]] = {
    1: errors.CancelledError, 2: errors.UnknownError, 3: errors.InvalidArgumentError, 4: errors.DeadlineExceededError,
    5: errors.NotFoundError, 6: errors.AlreadyExistsError, 7: errors.PermissionDeniedError, 8: errors.ResourceExhaustedError,
    9: errors.FailedPreconditionError, 10: errors.AbortedError, 11: errors.OutOfRangeError, 12: errors.UnimplementedError,
    13: errors.UnknownError, 14: errors.UnavailableError, 15: errors.DataLossError, 16: errors.PermissionDeniedError,
}  # fmt: skip
"""The errors of gRPC's status codes, the same as TensorFlow's. INTERNAL becomes UnknownError: InternalError would call a
server's fault a fault of tfg.
"""
_RULE: Final = re.compile(r"={5,}")
_CODE: Final = re.compile(r"^([A-Z_]+): ", re.MULTILINE)
_TASK: Final = re.compile(r"From (/job:\S+?):\n")
_REMOTE: Final = re.compile(r"from remote target (/job:\S+)")
_NODE: Final = re.compile(r"\{\{node ([^{}]+)\}\}")
_MORE: Final = "\nAdditional GRPC error information"
_LONGEST: Final = 1 << 16
"""The number of characters of a server's message that are parsed: a hostile server may send two gigabytes."""
_PARTED: Final = re.compile(r"_[SG]\d+$")
_FED: Final = re.compile(r"_(?:recv|arg)_(.+)_(\d+)(?:_\d+)?$")


@dataclasses.dataclass(frozen=True, slots=True)
class Device:
    """A device of a cluster; `memory` is the limit in bytes stated by the server, for a CPU TensorFlow's fixed 256 MiB."""

    name: str
    """The full name, with job and task."""
    kind: str
    """CPU, GPU and so on."""
    memory: int
    """The limit of memory in bytes."""
    description: str
    """The description that the server gives."""
    incarnation: int
    """A number that changes when the server starts again."""
    is_of_master: bool
    """True for devices of the server that was asked."""


class Master:
    """The server at an address in the role of the cluster's master. `note` is called with messages about slow calls."""

    def __init__(self, address: Address, note: Callable[[str], None] | None = None) -> None:
        self.address = address
        self._note = note or (lambda _: None)
        self._grpc = _grpc()
        self._channel = self._open()
        self._abandoned: list[Any] = []

    def wait(self, seconds: float) -> None:
        """Wait for the server; UnavailableError if no server answers within `seconds`."""
        # No request class is needed: zero bytes are a valid message of any type.
        ask = self._channel.unary_unary("/tensorflow.WorkerService/GetStatus")
        end = time.monotonic() + seconds
        while True:
            try:
                ask(b"", timeout=max(end - time.monotonic(), _PAUSE))
                return
            except self._grpc.RpcError as error:
                if error.code() not in (self._grpc.StatusCode.UNAVAILABLE, self._grpc.StatusCode.DEADLINE_EXCEEDED):
                    # UNIMPLEMENTED and other refusals are answers, too: the server lives.
                    return
                if time.monotonic() + _PAUSE > end:
                    reason = f"no server answers at {self.address} within {seconds:g} s: {error.details()}"
                    raise UnavailableError(reason) from None
            time.sleep(_PAUSE)

    def create(
        self, graph: bytes, config: pb.SessionConfig, seconds: float, waiting: Callable[[], str] | None = None
    ) -> pb.CreateSessionResponse:
        """Make a session on a serialized GraphDef; DeadlineExceededError after `seconds` of waiting for the cluster's
        tasks.

        The call waits for the tasks of the config's device filters, or for all. After some seconds `waiting` names the
        tasks.
        """
        # The request is put together by hand: as a message inside of a message the graph would be parsed, and copied twice.
        rest = pb.CreateSessionRequest(config=config, target=str(self.address)).SerializeToString()
        request = b"".join((wire.length_prefix(pb.CreateSessionRequest.GRAPH_DEF_FIELD_NUMBER, len(graph)), graph, rest))
        response: pb.CreateSessionResponse = self._call("CreateSession", request, seconds, waiting)
        return response

    def extend(self, handle: str, version: int, graph: bytes, look: Callable[[], None]) -> int:
        """Add the nodes and functions of a serialized GraphDef to a session; return the new version. `look` is as in `run`."""
        rest = pb.ExtendSessionRequest(session_handle=handle, current_graph_version=version).SerializeToString()
        request = b"".join((wire.length_prefix(pb.ExtendSessionRequest.GRAPH_DEF_FIELD_NUMBER, len(graph)), graph, rest))
        response: pb.ExtendSessionResponse = self._call("ExtendSession", request, look=look)
        return response.new_graph_version

    def set_up_partial_run(self, request: pb.PartialRunSetupRequest, look: Callable[[], None]) -> str:
        """Return the handle of a run that is fed and fetched in parts. `look` is as in `run`."""
        response: pb.PartialRunSetupResponse = self._call("PartialRunSetup", request, look=look)
        return response.partial_run_handle

    def run(self, request: pb.RunStepRequest, seconds: float | None, look: Callable[[], None]) -> pb.RunStepResponse:
        """Run a step; the answer has the step's failure. `look` is called every ten seconds, and ends the step by raising."""
        response: pb.RunStepResponse = self._call("RunStep", request, seconds, look=look)
        return response

    def devices(self, handle: str = "", seconds: float | None = None) -> list[Device]:
        """Return the devices of the cluster, or the devices of a session, beginning with the master's own.

        Without a session the call waits for every task; DeadlineExceededError after `seconds`.
        """
        response: pb.ListDevicesResponse = self._call("ListDevices", pb.ListDevicesRequest(session_handle=handle), seconds)
        return [
            Device(d.name, d.device_type, d.memory_limit, d.physical_device_desc, d.incarnation, is_of_master)
            for devices, is_of_master in ((response.local_device, True), (response.remote_device, False))
            for d in devices
        ]

    def close_session(self, handle: str, seconds: float) -> None:
        """Close a session on the cluster; the session's variables stay."""
        self._call("CloseSession", pb.CloseSessionRequest(session_handle=handle), seconds)

    def abandon(self, handle: str) -> None:
        """Ask to close a session without waiting for an answer, as the answer may never come."""
        asked = self._future("CloseSession", pb.CloseSessionRequest(session_handle=handle), _ABANDON_SECONDS)
        self._abandoned = [*(call for call in self._abandoned if not call.done()), asked]  # gRPC cancels unreferenced calls

    def reset(self, containers: Sequence[str], seconds: float) -> None:
        """Drop the variables and other resources in the named containers, by default in the container without a name.

        All sessions end, and the call waits for every task; DeadlineExceededError after `seconds`.
        """
        self._call("Reset", pb.ResetRequest(container=containers), seconds)

    def close(self) -> None:
        """Close the channel."""
        self._channel.close()

    def _open(self) -> Any:
        if not self.address.is_secure:
            return self._grpc.insecure_channel(self.address.target, _OPTIONS)
        ca, key, cert = (_content(path) for path in (self.address.ca, self.address.key, self.address.cert))
        return self._grpc.secure_channel(self.address.target, self._grpc.ssl_channel_credentials(ca, key, cert), _OPTIONS)

    def _call(
        self,
        method: str,
        request: Message | bytes,
        seconds: float | None = None,
        waiting: Callable[[], str] | None = None,
        look: Callable[[], None] | None = None,
    ) -> Any:
        """Return the answer of a method; an exception that ends the wait, as by Ctrl-C, cancels the call there, too."""
        future = self._future(method, request, seconds)
        try:
            return self._result(future, waiting, look)
        except self._grpc.RpcError as error:
            raise failure(error.code().value[0], error.details() or "") from None
        finally:
            # A call that has ended ignores this.
            future.cancel()

    def _future(self, method: str, request: Message | bytes, seconds: float | None) -> Any:
        data = request if isinstance(request, bytes) else request.SerializeToString()
        if len(data) > MAX_REQUEST:
            raise InvalidArgumentError(f"{method} needs {len(data)} bytes, but a message holds {MAX_REQUEST}")
        decode = getattr(pb, f"{method}Response").FromString
        call = self._channel.unary_unary(f"/tensorflow.MasterService/{method}", response_deserializer=decode)
        return call.future(data, timeout=seconds)

    def _result(self, future: Any, waiting: Callable[[], str] | None, look: Callable[[], None] | None) -> Any:
        # The wait is cut into pieces, between which the tasks are looked at.
        while waiting is not None or look is not None:
            try:
                return future.result(PATIENCE)
            except self._grpc.FutureTimeoutError:
                if waiting is not None:
                    self._note(waiting())
                    waiting = None
                if look is not None:
                    look()
        return future.result()


def _grpc() -> Any:
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # gRPC's log repeats the errors raised here
    try:
        import grpc
    except ImportError:
        raise UnimplementedError("clusters need grpcio, which is not installed", hint=extra_hint("cluster")) from None
    return grpc


def _content(path: str | None) -> bytes | None:
    if path is None:
        return None
    try:
        with open_regular(path) as file:
            return file.read()
    except OSError as error:
        raise NotFoundError(f"'{path}' cannot be read: {error.strerror}") from None


# A cluster's failures as the errors that tfg's own sessions raise: with node, op and task.


def failure(code: int, message: str, graph: Graph | None = None) -> TfgError:
    """Return the error for a status: the kind by the code, node and task from the message."""
    text = _first_cause(message[:_LONGEST])
    task, name = _REMOTE.search(text) or _TASK.search(text), _NODE.search(text)
    node = _node(graph, name[1]) if name else None
    said = _without_places(_TASK.sub("", text.partition(_MORE)[0])) or "the server states no reason"
    where = f" (on {task[1]})" if task else ""
    kind = _KINDS.get(code, errors.UnknownError)
    return kind(said + where, node=node.name if node else name and name[1], op=node.op if node else None)


def _first_cause(message: str) -> str:
    """Return the first of several errors in a message that is not a cancellation caused by another error."""
    lines = message.split("\n")
    rules = [number for number, line in enumerate(lines) if _RULE.fullmatch(line)]
    if len(rules) < 2:
        return message
    block = "\n".join(lines[rules[0] + 1 : rules[1]])
    codes = list(_CODE.finditer(block))
    ends = [*(code.start() for code in codes[1:]), len(block)]
    # An error on one task cancels the steps of the others, which then report the cancellation, often first.
    causes = [(code[1], block[code.end() : end]) for code, end in zip(codes, ends)]
    return next((text for code, text in causes if code != "CANCELLED"), block)


def _without_places(text: str) -> str:
    """Return a message without the places `[[node]]`, and without the spaces before each place."""
    said, position = [], 0
    # A search by hand is linear; a regular expression for `[[...]]` would look for each `]]` again, in a text that a server
    # chose.
    while (start := text.find("[[", position)) >= 0 and (end := text.find("]]", start) + 2) > 1:
        is_place = end == len(text) or text[end].isspace()
        said.append(text[position:start].rstrip() if is_place else text[position:end])
        position = end
    return "".join([*said, text[position:]]).strip()


def _node(graph: Graph | None, name: str) -> Node | None:
    """Return the graph's node for a node of a partition: the master renames the ends of edges between devices."""
    if graph is None:
        return None
    # The master ends the names of sends and receives with _S1 and _G2, and makes _arg_x_0_1 of a feed.
    fed = _FED.fullmatch(_PARTED.sub("", name))
    candidates = (name, _PARTED.sub("", name), fed[1] if fed else name)
    return next((graph.node(candidate) for candidate in candidates if candidate in graph), None)
