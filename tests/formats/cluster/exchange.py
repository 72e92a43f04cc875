"""Calls of a MasterService: written down on their way to a real one, and answered from what was written down."""

from __future__ import annotations

import base64
import concurrent.futures
import contextlib
import dataclasses
import json
import pathlib
import threading
from collections.abc import Callable, Iterator

import grpc

from tfg.formats.protos import cluster_pb2 as pb

SERVICE = "tensorflow.MasterService"
METHODS = ("CreateSession", "ExtendSession", "PartialRunSetup", "RunStep", "ListDevices", "CloseSession", "Reset")
_OF_THE_MOMENT = {"CreateSession": ("target",), "RunStep": ("request_id",), "PartialRunSetup": ("request_id",)}
"""The fields of requests that are others each time."""


@dataclasses.dataclass(frozen=True)
class Call:
    """A request and its answer: a response, or a status with what it says."""

    method: str
    request: bytes
    response: bytes = b""
    code: int = 0
    details: str = ""

    def asks(self, method: str, request: bytes) -> bool:
        return method == self.method and _lasting(method, request) == _lasting(method, self.request)


def _lasting(method, data):
    message = getattr(pb, f"{method}Request").FromString(data)
    for field in _OF_THE_MOMENT.get(method, ()):
        message.ClearField(field)
    return message


def read(path: pathlib.Path) -> list[Call]:
    entries = json.loads(path.read_text())
    return [Call(**entry | {key: base64.b64decode(entry[key]) for key in ("request", "response")}) for entry in entries]


def write(path: pathlib.Path, calls: list[Call]) -> None:
    path.write_text(json.dumps([_entry(call) for call in calls], indent=1) + "\n")


def _entry(call: Call) -> dict[str, object]:
    texts = {key: base64.b64encode(getattr(call, key)).decode() for key in ("request", "response")}
    return dataclasses.asdict(call) | texts


class Refusal(Exception):
    """A status that ends a call."""

    def __init__(self, code: int, details: str) -> None:
        super().__init__(details)
        self.code = next(code_ for code_ in grpc.StatusCode if code_.value[0] == code)
        self.details = details


@contextlib.contextmanager
def serving(answer: Callable[[str, bytes], bytes], credentials: grpc.ServerCredentials | None = None) -> Iterator[str]:
    """A server of the service, whose address this gives; `answer` is given methods and requests; with credentials by TLS."""

    def handler(method):
        def behave(request, context):
            try:
                return answer(method, request)
            except Refusal as refusal:
                context.abort(refusal.code, refusal.details)

        return grpc.unary_unary_rpc_method_handler(behave)

    pool = concurrent.futures.ThreadPoolExecutor(16)
    server = grpc.server(pool, options=[("grpc.max_receive_message_length", -1)])
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, {m: handler(m) for m in METHODS}),))
    if credentials is None:
        address = f"grpc://localhost:{server.add_insecure_port('localhost:0')}"
    else:
        address = f"grpcs://localhost:{server.add_secure_port('localhost:0', credentials)}"
    server.start()
    try:
        yield address
    finally:
        server.stop(None).wait()
        pool.shutdown()  # a thread that lives on is one that a blocked run would wait for


@contextlib.contextmanager
def recording(address: str) -> Iterator[tuple[str, list[Call]]]:
    """The address of a server that passes calls on to another, and the calls as they are answered."""
    calls: list[Call] = []
    channel = grpc.insecure_channel(address.removeprefix("grpc://"), [("grpc.max_receive_message_length", -1)])

    def answer(method, request):
        try:
            response = channel.unary_unary(f"/{SERVICE}/{method}")(request)
        except grpc.RpcError as error:
            calls.append(Call(method, request, b"", error.code().value[0], error.details()))
            raise Refusal(error.code().value[0], error.details()) from None
        calls.append(Call(method, request, response))
        return response

    with serving(answer) as own, channel:
        yield own, calls


@contextlib.contextmanager
def replaying(calls: list[Call]) -> Iterator[tuple[str, list[Call]]]:
    """The address of a server that answers what was asked before, each call once, and those that nobody asked yet."""
    left = list(calls)
    lock = threading.Lock()

    def answer(method, request):
        with lock:
            result = next((call for call in left if call.asks(method, request)), None)
            if result is None:
                raise Refusal(13, f"{method} was not asked like that when the conversation was recorded")
            left.remove(result)
        if result.code:
            raise Refusal(result.code, result.details)
        return result.response

    with serving(answer) as own:
        yield own, left
