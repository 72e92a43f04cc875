"""The options that divide the rows of a step among devices and processes, and the processes at work together."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import click

from ..core.support import dataclasses
from ..core.support.errors import InvalidArgumentError, UnavailableError, UnimplementedError
from ..core.support.escaping import printable_line
from .main import REFUSED
from .requests import option, request

if TYPE_CHECKING:
    from ..core.engines.distributed import Meeting, Peers
    from ..core.engines.protocol import Mesh
    from ..core.types.tensors import Tensor

_HINT = "hint: restart all processes; with --checkpoint-every K, --resume continues from the last saved state\n"
_WORD_OF_LOSS = 3.0
"""Seconds that a process waits for news of a lost process after a failed step."""


class Axis(click.ParamType[int]):
    """batch=N: the number of devices that divide the rows."""

    name = "batch=N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        axis, _, size = str(value).partition("=")
        if axis != "batch":
            self.fail(f"a mesh has the axis batch=N, not '{value}'", param, ctx)
        count: int = click.IntRange(1).convert(size, param, ctx)  # type: ignore[arg-type]
        return count


class HostPort(click.ParamType[tuple[str, int]]):
    """HOST:PORT."""

    name = "HOST:PORT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        if isinstance(value, tuple):
            return value
        from ..formats.cluster.address import Address

        try:
            address = Address.parse(f"grpc://{value}")
        except InvalidArgumentError:
            self.fail(f"'{value}' is not HOST:PORT", param, ctx)
        return address.host, address.port


@request
class MeshOptions:
    """The options that divide the rows of a step."""

    mesh: int | None = option(
        default=None,
        type=Axis(),
        needs="--engine=xla",
        help="With --engine xla: split the rows of the feeds across N devices.",
    )
    coordinator: tuple[str, int] | None = option(
        default=None,
        type=HostPort(),
        needs="--mesh",
        help="Address where process 0 listens for the other processes; it also uses the next port.",
    )
    processes: int | None = option(
        default=None, type=click.IntRange(1), metavar="N", needs="--mesh", help="Number of processes of the mesh."
    )
    process: int | None = option(
        default=None, type=click.IntRange(0), metavar="I", needs="--mesh", help="Index of this process, from 0."
    )

    @contextlib.contextmanager
    def gathered(self) -> Iterator[Company | None]:
        """Yield the company of this process once all processes are connected; None without a mesh.

        This process ends too if another process ends before all processes are done.
        """
        if self.mesh is None:
            yield None
            return
        from ..core.engines.engine_registry import find_mesh

        meeting = self._meeting()
        if meeting is None:
            yield Company(find_mesh(self.mesh, None))
            return
        with _own_output():
            yield from self._together(meeting)

    def _together(self, meeting: Meeting) -> Iterator[Company]:
        from ..core.engines.distributed import Peers
        from ..core.engines.engine_registry import find_mesh

        assert self.mesh is not None
        doubt = ", or lost process 0" if meeting.index else ""
        word = _LastWord(f"process {meeting.index} of {meeting.count} was killed{doubt}")
        peers = Peers(meeting, {"--mesh": str(self.mesh), "--processes": str(self.processes)}, word.end)
        try:
            company = Company(find_mesh(self.mesh, meeting), peers)
            yield company
            if not peers.has_failed:
                peers.leave()
        except UnavailableError as error:
            time.sleep(_WORD_OF_LOSS)
            peers.fail(f"process {peers.index} ended: {error}")
            word.unsaid()
            raise
        except BaseException as error:
            peers.fail(f"process {peers.index} ended: {str(error) or type(error).__name__}")
            word.unsaid()
            raise
        if not peers.has_failed:
            company.mesh.leave()
        word.unsaid()

    def _meeting(self) -> Meeting | None:
        """Return the address and number of the processes; None for a single process."""
        addresses = (self.coordinator, self.processes, self.process)
        if addresses == (None, None, None):
            return None
        if self.coordinator is None or self.processes is None or self.process is None:
            raise click.UsageError("--coordinator, --processes and --process go together")
        from ..core.engines.distributed import Meeting

        meeting = Meeting(*self.coordinator, self.processes, self.process)
        return meeting if meeting.count > 1 else None


NO_MESH = MeshOptions()


@dataclasses.dataclass(frozen=True, slots=True)
class Company:
    """A mesh and the processes that share the mesh; `peers` is None if this process has the whole mesh."""

    mesh: Mesh
    peers: Peers | None = None

    @property
    def is_alone(self) -> bool:
        """Whether this process has all of the mesh."""
        return self.peers is None

    @property
    def is_first(self) -> bool:
        """Whether this process reads and writes states, and speaks for all."""
        return self.peers is None or self.peers.is_first

    def part(self, reason: str) -> None:
        """End before the other processes are done; the other processes end too."""
        if self.peers is not None:
            self.peers.fail(f"process {self.peers.index} {reason}")

    def from_first(self, data: bytes) -> bytes:
        """Return the data of the first process; all processes must call."""
        return data if self.peers is None else self.peers.from_first(data)

    def common_seed(self, seed: int | None) -> int | None:
        """Return a seed for equal random numbers in all processes."""
        if self.peers is None:
            return seed
        import secrets

        return int(self.from_first(str(secrets.randbits(31) if seed is None else seed).encode()))

    def common_state(self, read: Callable[[], Mapping[str, Tensor]]) -> Mapping[str, Tensor]:
        """Return the result of `read` in the first process."""
        if self.peers is None:
            return read()
        from ..formats.codecs.numpy_files import npz_bytes, npz_tensors

        return npz_tensors(self.from_first(npz_bytes(read()) if self.is_first else b""), "the state of process 0")

    def require_rows(self, rows: int | None) -> None:
        """Raise InvalidArgumentError if the devices cannot divide the fed rows; a step without feeds may take rows from the
        graph.
        """
        if rows is not None and rows % self.mesh.size:
            hint = f"feed a multiple of {self.mesh.size} rows, or set --batch to a multiple"
            problem = f"the {rows} rows of a step cannot be divided among {self.mesh.size} devices"
            raise InvalidArgumentError(problem, hint=hint)

    def require_division(self) -> None:
        """UnimplementedError where nothing of a step was divided: every device would do the same work."""
        if not self.mesh.divided:
            hint = "run --engine-report without --mesh to see the nodes that XLA supports, and the reasons for the others"
            raise UnimplementedError("the devices share no work of a step: no rows go to XLA", hint=hint)

    def require_same(self, digest: bytes, what: str) -> None:
        """InvalidArgumentError where the first process has another digest."""
        if self.from_first(digest) != digest:
            assert self.peers is not None
            raise InvalidArgumentError(f"process {self.peers.index} has another {what} than process 0")


class _LastWord:
    """The last message of a process that may be unable to print: JAX ends processes whose coordinator is gone.

    A shell at the other end of a pipe prints the message, if the pipe closes before this process writes to the pipe.
    """

    def __init__(self, text: str) -> None:
        import subprocess

        script = 'read -r line || printf "error: %s\\n%s" "$1" "$2" >&2'
        command = ["/bin/sh", "-c", script, "tfg", text, _HINT]
        self._shell = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)

    def unsaid(self) -> None:
        """Nothing is to be said."""
        assert self._shell.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            os.write(self._shell.stdin.fileno(), b"\n")

    def end(self, reason: str, is_lost: bool) -> NoReturn:
        """End this process, possibly in a computation that no exception reaches, with another message.

        The message is printed first: JAX may end this process too, and two messages are better than none.
        """
        os.write(2, f"error: {printable_line(reason)}\n{_HINT if is_lost else ''}".encode())
        self.unsaid()
        sys.stdout.flush()
        os._exit(REFUSED)


@contextlib.contextmanager
def _own_output() -> Iterator[None]:
    """Keep standard output for this program: the communication libraries print connection messages to standard output."""
    stdout = sys.__stdout__
    if stdout is None or stdout is not sys.stdout:
        yield
        return
    stdout.flush()
    ours, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    sys.stdout = open(ours, "w", encoding=stdout.encoding, errors="backslashreplace")  # noqa: SIM115 - put back below
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(ours, 1)
        sys.stdout = stdout
