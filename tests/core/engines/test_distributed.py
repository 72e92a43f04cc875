"""Processes that share a mesh: the meeting, the data from the first process, and the end of each process."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import queue
import socket
import struct
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tfg.core.engines import distributed
from tfg.core.engines.distributed import Meeting, Peers
from tfg.core.numerics.blas_threads import OWN_THREADS
from tfg.core.support.errors import InvalidArgumentError, UnavailableError

TERMS = {"--mesh": "4"}


def free_port():
    """Return a free port whose successor is most likely free too."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return min(server.getsockname()[1], 65533)


def meet(count, terms=lambda index: TERMS, indices=None):
    """Return the peers of all processes (threads here) or their errors; and, for each, the cause of the end."""
    port, endings = free_port(), [queue.SimpleQueue() for _ in range(count)]

    def one(place):
        index = place if indices is None else indices[place]
        try:
            return Peers(Meeting("127.0.0.1", port, count, index, 20), terms(place), lambda *why: endings[place].put(why))
        except (InvalidArgumentError, UnavailableError) as error:
            return str(error)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count))), endings


def test_the_first_process_tells_the_others():
    met, _ = meet(3)
    assert [item.is_first for item in met] == [True, False, False]
    large = bytes(range(256)) * 10_000
    for data in (b"", b"some", large):
        with ThreadPoolExecutor(3) as pool:
            result = pool.map(Peers.from_first, met, [data, b"of my own", b"of my own"])
            assert list(result) == [data] * 3


def test_no_run_waits_for_the_threads_that_listen():
    before = set(threading.enumerate())
    met, _ = meet(2)
    listening = set(threading.enumerate()) - before
    assert len(listening) == len(met) and all(thread.name.startswith(OWN_THREADS) for thread in listening)


def test_none_leaves_before_all_are_done():
    (first, second), endings = meet(2)
    left = threading.Event()
    thread = threading.Thread(target=lambda: (first.leave(), left.set()))
    thread.start()
    assert not left.wait(0.2)
    second.leave()
    assert left.wait(300)
    assert all(ending.empty() for ending in endings)


@pytest.mark.parametrize("lost", [0, 1, 2])
@pytest.mark.slow
def test_who_is_lost_ends_the_others(lost):
    met, endings = meet(3)
    met[lost]._failing.set()  # a process that is killed says nothing more
    for link in met[lost]._links.values():
        link.connection.shutdown(socket.SHUT_RDWR)
    for index in {0, 1, 2} - {lost}:
        assert endings[index].get(timeout=300) == (f"process {lost} of 3 was lost", True)


@pytest.mark.slow
def test_who_fails_says_why():
    (_, second), endings = meet(2)
    second.fail("process 1 ended: no such file")
    assert endings[0].get(timeout=300) == ("process 1 ended: no such file", False)
    assert endings[1].empty()


@pytest.mark.parametrize(
    ("terms", "indices", "problem"),
    [
        (lambda index: {"--mesh": str(index)}, None, "process 1 has another --mesh than process 0"),
        (lambda index: TERMS, [0, 1, 1], "two processes connected as number 1"),
    ],
)
def test_who_does_not_fit_ends_the_meeting(terms, indices, problem):
    result, _ = meet(2 if indices is None else 3, terms, indices)
    assert problem in result
    assert result[0] == problem


def test_a_stranger_is_left_standing():
    port = free_port()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(Peers, Meeting("127.0.0.1", port, 2, 0, 20), TERMS, print)
        stranger = connected(port)
        stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
        second = pool.submit(Peers, Meeting("127.0.0.1", port, 2, 1, 20), TERMS, print)
        assert first.result(20).count == second.result(20).count == 2
        assert is_closed(stranger)


def is_closed(connection):
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def connected(port):
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            continue


@pytest.mark.slow
def test_who_does_not_come_is_named():
    with pytest.raises(UnavailableError, match=r"process 1 did not connect within 0\.1 s"):
        Peers(Meeting("127.0.0.1", free_port(), 2, 0, 0.1), TERMS, print)
    with pytest.raises(UnavailableError, match=r"process 0 does not answer at 127\.0\.0\.1:\d+: "):
        Peers(Meeting("127.0.0.1", free_port(), 2, 1, 0.1), TERMS, print)


@pytest.mark.parametrize(("index", "port"), [(2, 1000), (-1, 1000), (0, 0), (0, 65535)])
def test_a_meeting_that_cannot_be(index, port):
    with pytest.raises(InvalidArgumentError):
        Meeting("localhost", port, 2, index)


def _hello(data):
    return b"tfg mesh 1\n" + struct.pack("!cQ", b"D", len(data)) + data


STRANGERS = {
    "nothing": b"",
    "another protocol": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "no JSON": _hello(b"\xff"),
    "no object": _hello(b"[1]"),
    "deeply nested": _hello(b"[" * 60_000),
    "no index": _hello(b'{"terms": {}}'),
    "an index of another kind": _hello(b'{"index": true, "terms": {}}'),
    "an index in a list": _hello(b'{"index": [1], "terms": {}}'),
    "no terms": _hello(b'{"index": 1}'),
    "terms of another kind": _hello(b'{"index": 1, "terms": ["--mesh"]}'),
    "a term of another kind": _hello(b'{"index": 1, "terms": {"--mesh": {}}}'),
    "too long": b"tfg mesh 1\n" + struct.pack("!cQ", b"D", 1 << 62),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("said", STRANGERS.values(), ids=STRANGERS)
def test_a_stranger_at_the_port_is_sent_away(said, monkeypatch):
    monkeypatch.setattr(distributed, "HANDSHAKE_SECONDS", 0.2)
    meeting = Meeting("127.0.0.1", free_port(), 2, 0, 20)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(Peers, meeting, TERMS, lambda *_: None)
        with distributed._connected(meeting) as stranger:
            stranger.sendall(said)
            second = pool.submit(Peers, dataclasses.replace(meeting, index=1), TERMS, lambda *_: None)
            assert (first.result(20).is_first, second.result(20).is_first) == (True, False)


@pytest.mark.slow
def test_a_stranger_who_speaks_slowly_has_no_more_time(monkeypatch):
    """Single bytes restart the time limit of a socket, but not the limit of the whole hello."""
    monkeypatch.setattr(distributed, "HANDSHAKE_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as server:
        theirs = socket.create_connection(server.getsockname())
        ours, _ = server.accept()
    stop = threading.Event()

    def dribble():
        for byte in itertools.cycle(b"tfg mesh 1\n"):
            if stop.wait(0.1):
                return
            with contextlib.suppress(OSError):
                theirs.send(bytes([byte]))

    thread = threading.Thread(target=dribble)
    thread.start()
    try:
        assert distributed._arrived(ours) is None
    finally:
        stop.set()
        thread.join()
        theirs.close()
