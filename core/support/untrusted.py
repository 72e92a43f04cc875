"""The switch of a process that works on a stranger's graph: no network, no op libraries, no scripts.

Only a process of the command line sets the switch, for as long as a command runs; `tfg.load(untrusted=True)` limits the
sessions on a graph, and leaves the user's process as it is.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any, Final

from .errors import PermissionDeniedError

# Names are looked up before a connection is made, and a look-up alone can carry data out.
_NETWORK: Final = frozenset(
    f"socket.{name}" for name in ("bind", "connect", "getaddrinfo", "gethostbyaddr", "gethostbyname", "sendmsg", "sendto")
)


class _Switch:
    """The state of this process. Python keeps an audit hook for good, so the hook asks for the state."""

    is_on = False
    is_hooked = False


def is_untrusted() -> bool:
    """Return True inside `untrusted_process`."""
    return _Switch.is_on


@contextlib.contextmanager
def untrusted_process() -> Iterator[None]:
    """Refuse connections of this process, and op libraries, within the block, whatever code asks for them."""
    keep_untrusted()
    try:
        yield
    finally:
        _Switch.is_on = False


def keep_untrusted() -> None:
    """Do as `untrusted_process` does, to the end of a process that works on nothing else."""
    if not _Switch.is_hooked:
        # Python calls the hook from C, so that no library gets round it by another module.
        sys.addaudithook(_audit)
        _Switch.is_hooked = True
    _Switch.is_on = True


def _audit(event: str, _: Any) -> None:
    if _Switch.is_on and event in _NETWORK:
        refuse_network(event)


def refuse_network(use: str) -> None:
    """Raise PermissionDeniedError for a use of the network in an untrusted process."""
    if _Switch.is_on:
        raise PermissionDeniedError(f"untrusted: the network is closed to '{use}'")


def refuse_program(kind: str, name: str) -> None:
    """Raise PermissionDeniedError if a file of Python would run in an untrusted process."""
    if _Switch.is_on:
        raise PermissionDeniedError(f"untrusted: the {kind} '{name}' is a program, which would run without limits")
