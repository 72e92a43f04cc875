"""Options that let an engine run part of a graph, on which devices and with which other processes, and the report of the
engine."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import click

from ..core.support import dataclasses
from ..core.support.engine_names import NUMPY, VARIABLE
from ..core.support.errors import InvalidArgumentError, UnavailableError, UnimplementedError
from ..core.support.escaping import printable_line
from ..core.support.words import counted
from . import render
from .main import COMPARISON_FAILED, REFUSED
from .options import parsed
from .requests import option, request

if TYPE_CHECKING:
    from ..core.engines.automatic import AutoRuntime
    from ..core.engines.distributed import Meeting, Peers
    from ..core.engines.engine_report import EngineReport
    from ..core.engines.engine_runtime import EngineRuntime
    from ..core.engines.protocol import Mesh
    from ..core.graph.graph import Graph
    from ..core.types.tensors import Tensor

_MAX_REFUSALS = 30
_LONG_SECONDS = 10.0
"""The least seconds of a run in NumPy before the command suggests an engine."""
_MINOR = ("in", "out", "compiled", "compile s", "engine ms", "NumPy ms", "steps", "share")
"""The columns of the groups that a narrow terminal leaves out first."""


@request
class EngineOptions:
    """The options of an engine. All sessions of a command share a runtime."""

    engine: str | None = option(
        default=None,
        metavar="NAME",
        help="Run supported parts on this engine: openvino, xla, or auto (the fastest installed engine). The rest runs in "
        "NumPy. Default: TFG_ENGINE, else numpy for a run and auto for many.",
    )
    precision: str | None = option(
        default=None,
        metavar="TYPE",
        help="Arithmetic of the engine: f32 (as in the graph); for openvino also bf16 and f16; fast chooses the fastest type "
        "that is near enough.",
    )
    engine_report: bool = option(
        default=None, help="At the end, list the nodes that ran on the engine, and the reasons for the others."
    )
    verify_engine: bool = option(default=None, help="Also run the graph in NumPy, and name the first tensor that differs.")

    @property
    def chosen(self) -> str:
        """Return the name of the engine."""
        return self.engine or os.environ.get(VARIABLE) or NUMPY

    @property
    def is_named(self) -> bool:
        """Return True if the user names an engine, or NumPy."""
        return bool(self.engine or os.environ.get(VARIABLE))

    def runtime(self, mesh: Mesh | None = None) -> EngineRuntime | AutoRuntime | None:
        """Return the runtime of the engine, on a mesh if given, or of all engines to choose from; None for NumPy.

        Raise a usage error for options of an engine without an engine.
        """
        if self.chosen == NUMPY:
            for option in ("precision", "engine_report", "verify_engine"):
                if getattr(self, option):
                    raise click.UsageError(f"--{option.replace('_', '-')} needs --engine")
            return None
        # Behind the return for NumPy: a run without an engine imports nothing of engines.
        from ..formats.api.prepared_sessions import engine_runtime

        return engine_runtime(self.engine, self.precision, verify=self.verify_engine, measure=self.engine_report, mesh=mesh)

    def finished(self, runtime: EngineRuntime | AutoRuntime | None, code: Any) -> Any:
        """Print the report if the options ask for a report; return the command's exit code, or 3 if results differ from
        NumPy's.
        """
        if runtime is None:
            return code
        report = runtime.report()
        if self.engine_report:
            for line in render.plain_text(report_sections(report)):
                render.note(line)
        # Printed even with --quiet: it is the verdict that the user asked for.
        for difference in report.differences:
            render.note(f"error: engine '{report.engine}' differs at {difference.tensor} ({difference.op}): {difference.by}")
        return COMPARISON_FAILED if report.differences else code


NO_ENGINE = EngineOptions()


def suggest_engine(graph: Graph, names: Iterable[str], seconds: float, quiet: bool) -> None:
    """Suggest at a terminal, after a long run in NumPy, the engine for most of the run, and how to install the engine."""
    # The share of an engine takes a division of the whole plan, which is worth its time only after a long run.
    if seconds < _LONG_SECONDS or quiet or not sys.stderr.isatty():
        return
    from ..core.engines.automatic import suggested_engine

    suggestion = suggested_engine(graph, [graph.fetch(name) for name in names])
    if suggestion is not None:
        install = f", once installed by {suggestion.install}" if suggestion.install else ""
        part = f"{suggestion.share:.0%} of the nodes"
        render.note(f"NumPy took {seconds:.0f} s: --engine {suggestion.engine} would run {part}{install}")


def report_sections(report: EngineReport) -> Iterator[render.Section]:
    """Yield the groups of an engine, and the nodes left to NumPy."""
    yield render.Text(_summary(report), f"engine {report.engine}")
    if report.groups:
        columns = ("engine", "group up to", "steps", "in", "out", "compiled", "compile s", "runs", "run s", "share",
                   "engine ms", "NumPy ms", "NumPy because", "next step")  # fmt: skip
        rows = [
            (
                g.engine, g.last, g.steps, g.inputs, g.outputs, g.compiled, f"{g.compile_seconds:.3f}", g.runs,
                f"{g.seconds:.4f}", "" if g.share is None else f"{g.share:.0%}", _milliseconds(g.engine_seconds),
                _milliseconds(g.numpy_seconds), g.reason or "", g.next_step or "",
            )
            for g in report.groups
        ]  # fmt: skip
        yield render.Table(columns, rows, "groups", minor=_MINOR)
    yield from _rounded(report)
    yield from _choices(report)
    if report.refused:
        refused = [(r.op, r.count, ", ".join(r.nodes), r.reason, r.next_step) for r in report.refused[:_MAX_REFUSALS]]
        more = f" (the first {_MAX_REFUSALS} of {len(report.refused)} kinds)" if len(report.refused) > _MAX_REFUSALS else ""
        yield render.Table(("op", "nodes", "such as", "reason", "next step"), refused, f"left to NumPy{more}", "refused")


def _rounded(report: EngineReport) -> Iterator[render.Section]:
    """Yield a table of times and errors of types with fewer bits."""
    rounded = [(group, group.rounded) for group in report.groups if group.rounded is not None]
    if rounded:
        columns = ("group up to", "type", "ms", "ms in the graph's types", "off by", "computed in it")
        rows = [
            (
                g.last, r.precision, _milliseconds(r.seconds), _milliseconds(r.exact_seconds), f"{r.difference:.2g}",
                "yes" if g.precision else "no",
            )
            for g, r in rounded
        ]  # fmt: skip
        yield render.Table(columns, rows, "--precision fast", "rounded")


def _choices(report: EngineReport) -> Iterator[render.Section]:
    """Yield a table of the choices of `auto`, with the time of each alternative."""
    if report.choices:
        # Each combination of shapes may have tried other engines.
        ways = list(dict.fromkeys(way for choice in report.choices for way in choice.seconds))
        rows = [
            (
                c.fetches, c.shapes, *(_milliseconds(c.seconds.get(way)) for way in ways),
                f"{c.kept}, remembered" if c.is_remembered else c.kept,
            )
            for c in report.choices
        ]  # fmt: skip
        yield render.Table(("fetches", "shapes of feeds", *(f"{way} ms" for way in ways), "kept"), rows, "runs")


def _milliseconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{1e3 * seconds:.3f}"


def _summary(report: EngineReport) -> list[str]:
    taken = sum(group.steps for group in report.groups)
    lines = [f"{counted(taken, 'step')} in {counted(len(report.groups), 'group')}"]
    if report.note:
        lines.append(report.note)
    # Else a user would look for reasons against nodes that the engine supports.
    if report.in_small_groups:
        lines.append(f"{counted(report.in_small_groups, 'step')} left to NumPy, as their groups would be too small")
    return lines


_HINT = "hint: restart all processes; with --checkpoint-every K, --resume continues from the last saved state\n"
_WORD_OF_LOSS = 3.0
"""Seconds that a process waits for news of a lost process after a failed step."""


@parsed("batch=N")
def axis(text: str) -> int:
    """Read batch=N: the number of devices that divide the rows."""
    name, _, size = text.partition("=")
    if name != "batch":
        raise click.BadParameter(f"a mesh has the axis batch=N, not '{text}'")
    return int(click.IntRange(1).convert(size, None, None))  # type: ignore[arg-type]


@parsed("HOST:PORT")
def host_port(text: str) -> tuple[str, int]:
    """Read the address of a process."""
    from ..formats.cluster.address import Address

    try:
        address = Address.parse(f"grpc://{text}")
    except InvalidArgumentError:
        raise click.BadParameter(f"'{text}' is not HOST:PORT") from None
    return address.host, address.port


@request
class MeshOptions:
    """The options that divide the rows of a step."""

    mesh: int | None = option(
        default=None, type=axis, needs="--engine=xla", help="With --engine xla: split the rows of the feeds across N devices."
    )
    coordinator: tuple[str, int] | None = option(
        default=None,
        type=host_port,
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
    def gathered(self) -> Iterator[ProcessGroup | None]:
        """Yield the group of this process once all processes are connected; None without a mesh.

        This process ends too if another process ends before all processes are done.
        """
        if self.mesh is None:
            yield None
            return
        from ..core.engines.engine_registry import find_mesh

        meeting = self._meeting()
        if meeting is None:
            yield ProcessGroup(find_mesh(self.mesh, None))
            return
        # Not for a mesh of this process alone, whose libraries connect to nobody.
        with _own_output():
            yield from self._together(meeting)

    def _together(self, meeting: Meeting) -> Iterator[ProcessGroup]:
        from ..core.engines.distributed import Peers
        from ..core.engines.engine_registry import find_mesh

        assert self.mesh is not None
        doubt = ", or lost process 0" if meeting.index else ""
        word = _LastWord(f"process {meeting.index} of {meeting.count} was killed{doubt}")
        peers = Peers(meeting, {"--mesh": str(self.mesh), "--processes": str(self.processes)}, word.end)
        try:
            process_group = ProcessGroup(find_mesh(self.mesh, meeting), peers)
            yield process_group
            # The processes wait for each other here: a process that left while others compute would take JAX's coordinator,
            # or its devices, away from them.
            if not peers.has_failed:
                peers.leave()
        except UnavailableError as error:
            # A failed step is mostly the echo of a lost process. The thread of `peers` learns which process it was, and
            # meanwhile ends this process with that message, which says more than JAX's.
            time.sleep(_WORD_OF_LOSS)
            peers.fail(f"process {peers.index} ended: {error}")
            word.unsaid()
            raise
        # KeyboardInterrupt and SystemExit too: whatever ends this process, the others must not wait for it in a step.
        except BaseException as error:
            peers.fail(f"process {peers.index} ended: {str(error) or type(error).__name__}")
            word.unsaid()
            raise
        if not peers.has_failed:
            # Only after `peers.leave`: JAX's own shutdown aborts processes whose partners are gone.
            process_group.mesh.leave()
        word.unsaid()

    def _meeting(self) -> Meeting | None:
        """Return the address and number of the processes; None for a single process."""
        addresses = (self.coordinator, self.processes, self.process)
        # Three None are a mesh of this process's own devices.
        if addresses == (None, None, None):
            return None
        if self.coordinator is None or self.processes is None or self.process is None:
            raise click.UsageError("--coordinator, --processes and --process go together")
        from ..core.engines.distributed import Meeting

        meeting = Meeting(*self.coordinator, self.processes, self.process)
        return meeting if meeting.count > 1 else None


NO_MESH = MeshOptions()


@dataclasses.dataclass(frozen=True, slots=True)
class ProcessGroup:
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
        # Each process computes the state of the whole graph, so all must draw the same numbers.
        import secrets

        return int(self.from_first(str(secrets.randbits(31) if seed is None else seed).encode()))

    def common_state(self, read: Callable[[], Mapping[str, Tensor]]) -> Mapping[str, Tensor]:
        """Return the result of `read` in the first process."""
        if self.peers is None:
            return read()
        from ..formats.codecs.numpy_files import npz_bytes, npz_tensors

        # As bytes of a file: the processes may run on different machines, and pickled objects of a stranger could run code.
        return npz_tensors(self.from_first(npz_bytes(read()) if self.is_first else b""), "the state of process 0")

    def require_rows(self, rows: int | None) -> None:
        """Raise InvalidArgumentError if the devices cannot divide the fed rows; a step without feeds may take rows from the
        graph.
        """
        # XLA divides an axis into equal parts only.
        if rows is not None and rows % self.mesh.size:
            hint = f"feed a multiple of {self.mesh.size} rows, or set --batch to a multiple"
            problem = f"the {rows} rows of a step cannot be divided among {self.mesh.size} devices"
            raise InvalidArgumentError(problem, hint=hint)

    def require_division(self) -> None:
        """UnimplementedError if nothing of a step was divided: every device would do the same work."""
        if not self.mesh.divided:
            hint = "run --engine-report without --mesh to see the nodes that XLA supports, and the reasons for the others"
            raise UnimplementedError("the devices share no work of a step: no rows go to XLA", hint=hint)

    def require_same(self, digest: bytes, what: str) -> None:
        """InvalidArgumentError if the first process has another digest."""
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
        # The shell is in a session of its own, so that Ctrl-C at the terminal does not end it before it has spoken.
        command = ["/bin/sh", "-c", script, "tfg", text, _HINT]
        self._shell = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)

    def unsaid(self) -> None:
        """Nothing is to be said."""
        assert self._shell.stdin is not None
        # The shell may have been killed.
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
    # By descriptors, since the libraries print from C++ and never see `sys.stdout`.
    ours, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    sys.stdout = open(ours, "w", encoding=stdout.encoding, errors="backslashreplace")  # noqa: SIM115 - put back below
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(ours, 1)
        sys.stdout = stdout
