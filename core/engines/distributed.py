"""The processes that share a mesh: they meet before computing, the first broadcasts, and a lost process is noticed at once.

XLA's own collectives may wait for ever for a process that was killed. Here each process has a connection to the first. The
system closes the connection with the process, so that the others know within milliseconds whatever they are waiting for.
"""

from __future__ import annotations

import contextlib
import json
import queue
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from typing import Final

from ..support import dataclasses
from ..support.errors import InvalidArgumentError, UnavailableError

_GREETING: Final = b"tfg mesh 1\n"
_HEAD: Final = struct.Struct("!cQ")
_DATA, _DONE, _FAILED, _LOST = b"D", b"E", b"F", b"L"
_MAX_HELLO: Final = 1 << 16
_MAX_MESSAGE: Final = 1 << 31
"""Bytes of the longest message between processes that have met."""
HANDSHAKE_SECONDS: Final = 5.0
"""Seconds that a stranger at the port gets to send a greeting."""
_LISTENERS: Final = "tfg-mesh-"
"""The name prefix of the listening threads: the prefix of all of tfg's own threads, for which no run waits."""
_GRACE: Final = 2.0
"""Seconds that a process gets to meet the error by itself that ended another process."""


@dataclasses.dataclass(frozen=True, slots=True)
class Meeting:
    """The meeting point of `count` processes, of which this process is number `index`: two ports of the first, the second
    for JAX.
    """

    host: str
    port: int
    count: int
    index: int
    wait: float = 300.0

    def __post_init__(self) -> None:
        if not 0 <= self.index < self.count:
            raise InvalidArgumentError(f"process {self.index} of {self.count} does not exist: indices start at 0")
        if not 0 < self.port < 65535:
            raise InvalidArgumentError(f"port {self.port} is out of range: use 1 to 65534, as the next port is needed too")

    @property
    def target(self) -> str:
        """Return HOST:PORT of JAX's coordinator."""
        return f"[{self.host}]:{self.port + 1}" if ":" in self.host else f"{self.host}:{self.port + 1}"


class _Link:
    """A connection to another process that carries messages."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.deadline: float | None = None
        """The deadline for the whole message to arrive, in seconds of the monotonic clock; None without a deadline."""
        # Messages are short, and all wait for them: Nagle's algorithm would hold them back for the acknowledgement of the one
        # before.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # A machine that loses its power closes no connection.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def send(self, kind: bytes, data: bytes = b"") -> None:
        self.connection.sendall(_HEAD.pack(kind, len(data)))
        self.connection.sendall(data)

    def receive(self, most: int = _MAX_MESSAGE) -> tuple[bytes, bytes]:
        """Return the next message of at most `most` bytes; ConnectionError for a closed connection or a foreign message."""
        kind, size = _HEAD.unpack(self._exactly(_HEAD.size))
        if size > most:
            raise ConnectionError("a message is too long")
        return kind, self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            if self.deadline is not None:  # a socket's own time limit starts anew with every byte
                self.connection.settimeout(max(self.deadline - time.monotonic(), 0.001))
            part = self.connection.recv(min(size - len(parts), 1 << 20))
            if not part:
                raise ConnectionError("the connection is closed")
            parts += part
        return bytes(parts)


class Peers:
    """This process in a mesh, after all processes have come. `terms` are settings that must be the same in all.

    `ended` is called in a thread when another process has ended before all are done, with a message and whether the process
    was lost without a word. The callback must end this process, which may be waiting where no exception arrives.
    """

    def __init__(self, meeting: Meeting, terms: dict[str, str], ended: Callable[[str, bool], None]) -> None:
        self.index = meeting.index
        self.count = meeting.count
        self._ended = ended
        self._failing = threading.Event()
        self._inbox: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[int] = queue.SimpleQueue()
        if self.is_first:
            self._links = _gathered(meeting, terms)
        else:
            self._links = {0: _joined(meeting, terms)}
        self._listeners = [
            # The threads are daemons, because a process that ends must not wait for the others.
            threading.Thread(target=self._listen, args=(number, link), name=f"{_LISTENERS}{number}", daemon=True)
            for number, link in self._links.items()
        ]
        for listener in self._listeners:
            listener.start()

    @property
    def is_first(self) -> bool:
        """Return True for process 0, the speaker for all."""
        return self.index == 0

    def from_first(self, data: bytes) -> bytes:
        """Return the data that the first process passes; all processes must call this together."""
        if not self.is_first:
            return self._inbox.get()
        self._send_all(_DATA, data)
        return data

    def _send_all(self, kind: bytes, data: bytes = b"") -> None:
        try:
            for link in self._links.values():
                link.send(kind, data)
        except OSError as error:
            raise UnavailableError("another process has ended") from error

    def leave(self) -> None:
        """Wait until all are done: none that is may end while others still compute."""
        # The first process must be the last to leave: JAX aborts the other processes when its coordinator is gone.
        for _ in self._links:
            if self.is_first:
                self._done.get()
        self._send_all(_DONE)
        if not self.is_first:
            self._done.get()

    def fail(self, reason: str) -> None:
        """Tell the others why this process ends before all are done; they end too, if they do not by themselves."""
        self._failing.set()
        self._tell(_FAILED, reason)

    @property
    def has_failed(self) -> bool:
        """Return True once this process has told the others that it ends."""
        return self._failing.is_set()

    def _listen(self, number: int, link: _Link) -> None:
        try:
            while True:
                kind, data = link.receive()
                if kind == _DATA:
                    self._inbox.put(data)
                elif kind == _DONE:
                    self._done.put(number)
                    return
                # An error of a step meets all processes at about the same time. This process gets a while for its own error,
                # which says more than the message of another. A lost process has no error that could come.
                elif not self._failing.wait(0 if kind == _LOST else _GRACE):
                    self._quit(kind, data.decode(errors="replace"))
        except OSError:
            if not self._failing.is_set():
                self._quit(_LOST, f"process {number} of {self.count} was lost")

    def _quit(self, kind: bytes, reason: str) -> None:
        # This is set before the others are told: they then close their connections, which would be reported as lost processes.
        self._failing.set()
        self._tell(kind, reason)
        self._ended(reason, kind == _LOST)

    def _tell(self, kind: bytes, reason: str) -> None:
        """Tell the others why this process ends; the first process then waits until they have left, as JAX would abort them
        without it.
        """
        for link in self._links.values():
            with contextlib.suppress(OSError):
                link.send(kind, reason.encode())
        if self.is_first:
            for listener in self._listeners:
                if listener is not threading.current_thread():
                    listener.join(2 * _GRACE)


def _gathered(meeting: Meeting, terms: dict[str, str]) -> dict[int, _Link]:
    """Return the first process's connections to all others, once they are there."""
    links: dict[int, _Link] = {}
    deadline = time.monotonic() + meeting.wait
    with _listening(meeting) as listener:
        while len(links) < meeting.count - 1:
            listener.settimeout(max(deadline - time.monotonic(), 0.01))
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                missing = sorted({*range(1, meeting.count)} - links.keys())
                raise UnavailableError(f"process {missing[0]} did not connect within {meeting.wait:g} s") from None
            arrived = _arrived(connection)
            if arrived is not None:
                _admit(links, *arrived, meeting, terms)
    for link in links.values():
        # The word to begin is sent only when all have come: a process that computed earlier would wait in a collective, where
        # no message arrives.
        link.send(_DATA)
    return links


@contextlib.contextmanager
def _listening(meeting: Meeting) -> Iterator[socket.socket]:
    try:
        family, *_, address = socket.getaddrinfo(meeting.host, meeting.port, type=socket.SOCK_STREAM)[0]
        listener = socket.create_server(address[:2], family=family)
    except OSError as error:
        hint = "run process 0 on the machine with this address"
        raise UnavailableError(f"cannot listen at {meeting.host}:{meeting.port}: {error.strerror}", hint=hint) from error
    with listener:
        yield listener


@dataclasses.dataclass(frozen=True, slots=True)
class _Hello:
    """The message by which a process joins: the process's number, and the terms by name."""

    index: int
    terms: dict[str, str]

    @staticmethod
    def parse(data: bytes) -> _Hello:
        """Read a message; ConnectionError for any that no process of a mesh sends."""
        try:
            message = json.loads(data)
            index, terms = message["index"], message["terms"]
        except (ValueError, RecursionError, TypeError, KeyError):
            raise ConnectionError("a wrong greeting") from None
        are_texts = isinstance(terms, dict) and all(isinstance(value, str) for value in terms.values())
        if type(index) is not int or not are_texts:
            raise ConnectionError("a wrong greeting")
        return _Hello(index, terms)


def _arrived(connection: socket.socket) -> tuple[_Hello, _Link] | None:
    """Return the hello and the link of a joining process; None for a stranger, after HANDSHAKE_SECONDS in all."""
    try:
        link = _Link(connection)
        link.deadline = time.monotonic() + HANDSHAKE_SECONDS
        # The first bytes of a stranger are compared before any length in them is believed.
        if link._exactly(len(_GREETING)) != _GREETING:
            raise ConnectionError("a stranger")
        hello = _Hello.parse(link.receive(_MAX_HELLO)[1])
    except OSError:
        connection.close()
        return None
    link.deadline = None
    connection.settimeout(None)
    return hello, link


def _admit(links: dict[int, _Link], hello: _Hello, link: _Link, meeting: Meeting, terms: dict[str, str]) -> None:
    """Add a process to the links, or refuse to go on: both processes raise the same message."""
    number, problem = hello.index, None
    if not 0 < number < meeting.count:
        problem = f"a process connected as number {number} of {meeting.count}"
    elif number in links:
        problem = f"two processes connected as number {number}"
    else:
        unlike = [name for name, value in terms.items() if hello.terms.get(name) != value]
        if unlike:
            problem = f"process {number} has another {unlike[0]} than process 0"
    if problem is not None:
        for other in (*links.values(), link):
            with contextlib.suppress(OSError):
                other.send(_FAILED, problem.encode())
        # The other processes raise the same error, because they read this message instead of the word to begin.
        raise InvalidArgumentError(problem)
    links[number] = link


def _joined(meeting: Meeting, terms: dict[str, str]) -> _Link:
    """Return a connection to the first process, once all processes have come."""
    link = _Link(_connected(meeting))
    try:
        link.connection.sendall(_GREETING)
        link.send(_DATA, json.dumps({"index": meeting.index, "terms": terms}).encode())
        kind, reason = link.receive()
    except OSError:
        raise UnavailableError(f"process 0 at {meeting.host}:{meeting.port} has ended") from None
    if kind == _FAILED:
        raise InvalidArgumentError(reason.decode(errors="replace"))
    return link


def _connected(meeting: Meeting) -> socket.socket:
    deadline = time.monotonic() + meeting.wait
    while True:
        try:
            # Process 0 may start later than the others.
            connection = socket.create_connection((meeting.host, meeting.port), HANDSHAKE_SECONDS)
        except OSError as error:
            if time.monotonic() > deadline:
                said = error.strerror or str(error)
                raise UnavailableError(f"process 0 does not answer at {meeting.host}:{meeting.port}: {said}") from error
            time.sleep(0.1)
        else:
            connection.settimeout(None)
            return connection
