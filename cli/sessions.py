"""Sessions of commands: options for running a graph, limits, and the sessions that the options open."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

import click

from ..core.support import dataclasses
from ..core.support.engine_names import AUTO
from ..core.support.errors import InvalidArgumentError
from ..core.support.file_formats import NPZ, SAFETENSORS, extension_of
from ..formats.api.session_setup import SessionSetup
from . import render
from .engines import NO_ENGINE, NO_MESH, EngineOptions, MeshOptions, ProcessGroup
from .options import Seconds, map_option, parsed, signature_option
from .requests import decorator_of, excluding, needing, options_of, together

if TYPE_CHECKING:
    from ..core.engines.automatic import AutoRuntime
    from ..core.engines.engine_runtime import EngineRuntime
    from ..core.graph.graph import Graph
    from ..core.runtime.session.runner import Runner
    from ..core.runtime.session.session import Session
    from ..core.runtime.session.session_like import SessionLike
    from ..core.types.tensors import Tensor
    from ..formats.cluster.address import Address
    from ..formats.cluster.cluster_session import ClusterSession

_Command = TypeVar("_Command", bound=Callable[..., Any])


_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@parsed("BYTES")
def byte_size(text: str) -> int:
    """Read a number of bytes: 1000000, 64K, 1.5M, 2GB, 512MiB (K, M and G are powers of 1024)."""
    size = text.strip().upper().removesuffix("B").removesuffix("I")
    number, unit = (size[:-1], size[-1:]) if size[-1:].isalpha() else (size, "")
    try:
        return int(float(number) * _UNITS[unit])
    except (ValueError, KeyError, OverflowError):
        raise click.BadParameter(f"'{text}' is not a size: write 500000, 64K, 1.5M or 2G") from None


@dataclasses.dataclass(frozen=True, slots=True)
class SessionOptions(SessionSetup):
    """Settings of a run: initial values of variables, allowed files, limits, and the engine."""

    engine: EngineRuntime | AutoRuntime | None = None
    fills_variables: bool = False
    timeout: float | None = None
    process_group: ProcessGroup | None = None
    engine_options: EngineOptions = NO_ENGINE
    is_engine_implied: bool = False
    """The engine is that of many runs, and the user named none."""

    @property
    def is_first_process(self) -> bool:
        """Return False in a process of a mesh that leaves output and state to the first process."""
        return self.process_group is None or self.process_group.is_first

    @property
    def changes_state(self) -> bool:
        """True if opening a session is something to do by itself."""
        return bool(self.init or self.init_op or self.state)

    def among(self, process_group: ProcessGroup | None, engine: EngineOptions) -> SessionOptions:
        """Return these options for a run on an engine, perhaps in a process of a mesh."""
        # The servers compute: an engine of this process would be imported for nothing.
        if self.on is not None and self.on.startswith("grpc"):
            return self
        if process_group is None:
            return dataclasses.replace(self, engine=engine.runtime(), engine_options=engine)
        runtime = engine.runtime(process_group.mesh)
        return dataclasses.replace(
            self, engine=runtime, process_group=process_group, seed=process_group.common_seed(self.seed)
        )

    def of_many_runs(self) -> Self:
        """Return the options for many runs of a graph: with `auto` where the user names no engine and one is installed."""
        # A mesh has its engine, and the user's word stands.
        name = None if self.engine_options.is_named or self.process_group is not None else self.engine_of_many_runs()
        if name is None:
            return self
        from ..formats.api.prepared_sessions import engine_runtime

        return dataclasses.replace(self, engine=engine_runtime(name), is_engine_implied=True)

    @property
    def engine_name(self) -> str | None:
        """Return the name of the engine for sessions in other processes; None for NumPy."""
        if self.engine is None:
            return None
        return AUTO if self.is_engine_implied else self.engine_options.chosen

    def tell_engine(self, quiet: bool) -> None:
        """Print a note on the ways that `auto` chose where the user named no engine, and an engine ran something."""
        report = self.engine.report() if self.engine is not None and self.is_engine_implied else None
        if report is not None and any(group.runs for group in report.groups):
            # Each combination of shapes has a choice of its own.
            kept = " and ".join(dict.fromkeys(choice.kept for choice in report.choices))
            times = ", ".join(f"{way} {1e3 * seconds:.3g} ms" for way, seconds in report.choices[0].seconds.items())
            render.note(f"engine auto chose {kept} ({times}): TFG_ENGINE=numpy runs all in NumPy", quiet)

    @contextlib.contextmanager
    def limits(self) -> Iterator[None]:
        """Bound the time and the memory of all that happens within."""
        if self.max_memory is None and self.timeout is None:
            yield
            return
        from ..core.runtime.execute.process_limits import NEEDED_MEMORY, limited_process

        if self.max_memory is not None and self.max_memory < NEEDED_MEMORY:
            raise click.UsageError(f"--max-memory: tfg itself needs {NEEDED_MEMORY >> 20} MiB")
        with limited_process(self.timeout, self.max_memory):
            yield

    def note(self, text: str, quiet: bool) -> None:
        """Print a note, unless `quiet`."""
        render.note(text, quiet)

    def on_cluster(self, graph: Graph, quiet: bool) -> ClusterSession:
        """Open a session on the cluster of --on; the session ends with the command."""
        from ..formats.cluster.cluster_session import ClusterSession

        assert self.on is not None
        address = cluster_address(self.on, quiet)
        session = ClusterSession(graph, address, retries=self.retry, note=lambda text: self.note(text, quiet))
        click.get_current_context().call_on_close(session.close)
        return session

    def initialized(self, graph: Graph, part: Graph, quiet: bool) -> SessionLike:
        """Return a session on a graph, with the variables of a part of the graph initialized."""
        from ..core.runtime.session.runner import Runner

        runner = Runner(self.session(graph, quiet))
        self.initialize(runner, quiet, implied=True, graph=part)
        return runner.session

    def filled(self, graph: Graph) -> Session:
        """Return a session in this process with variables initialized, if possible, and restored."""
        session = self.local(graph)
        self.prepare(session, quiet=True, implied=True)
        return session

    def with_variables(self, graph: Graph, quiet: bool) -> Runner:
        """Return a session with variables and tables from the graph and the options; iterators keep their state."""
        from ..core.runtime.session.runner import Runner

        runner = Runner(self.session(graph, quiet))
        self.initialize(runner, quiet)
        if self.init_op is None and (graph.meta is None or not graph.meta.start_steps):
            runner.fill()
        self.restore(runner, quiet)
        return runner

    def common_state(self, path: str, graph: Graph) -> Mapping[str, Tensor]:
        """Return the values in a file; in a mesh, the first process reads the file for all."""
        # By the class: `super()` does not work in a dataclass with slots, for which the decorator makes a second class.
        read = functools.partial(SessionSetup.common_state, self, path, graph)
        return read() if self.process_group is None else self.process_group.common_state(read)

    def check_state(self, path: str | None, graph: Graph) -> None:
        """Raise UnimplementedError, before the first step, if a file cannot hold a variable of the graph."""
        if path is not None:
            from ..formats.state import check_state

            check_state(path, graph)

    def write_state(self, path: str, state: Mapping[str, Tensor], graph: Graph) -> None:
        """Write variables; a checkpoint gets the form of --state or, also where names are mapped, of the SavedModel.

        In a mesh, where all processes have equal variables, only the first process writes.
        """
        if not self.is_first_process:
            return
        from ..formats.api.model_saving import with_twins
        from ..formats.state import write_state

        # A checkpoint of TF2 names values by objects, so the new one takes the object graph of a checkpoint that the model
        # reads. Plain archives have none, and mapped names would not fit.
        saved = graph.meta.variables_prefix if graph.meta is not None else None
        is_plain = self.state is not None and extension_of(self.state) in (*NPZ.extensions, *SAFETENSORS.extensions)
        form = saved if self.state is None or is_plain or self.state_map else self.state
        write_state(path, with_twins(state, graph), form, graph)


def cluster_address(text: str, quiet: bool) -> Address:
    """Return the address of a cluster's server; print a note if the connection is not encrypted."""
    from ..formats.cluster.address import Address

    if text.startswith(("local:", "dask://")):
        raise InvalidArgumentError(
            f"'{text}' is not a TensorFlow cluster", hint="local:N and dask://HOST:PORT need --each or --sweep"
        )
    address = Address.parse(text)
    if not address.is_secure and not address.is_loopback:
        render.note(f"the connection to {address} is not encrypted: use a tunnel (ssh -L) or grpcs://", quiet)
    return address


cluster_options = together(
    click.option("--on", metavar="ADDRESS", help="Run on a TensorFlow cluster: grpc://HOST:PORT of any of its servers. The "
                 "graph then uses the files of the servers."),
    click.option("--retry", type=click.IntRange(0), default=0, metavar="N",
                 help="With --on: repeat a step up to N times if a server is lost; the lost step may have run."),
    needing("--retry", "--on"),
    excluding("--seed", "--on=grpc*", "servers take the seeds from the graph"),
    excluding("--allow-files --max-memory", "--on=grpc*", "the servers set their own limits"),
    excluding("--engine", "--on=grpc*", "the servers use their own kernels"),
)  # fmt: skip
"""--on and --retry, and exclusions of options that a session on a cluster does not support."""


_SETTINGS: Final = (
    "init", "init_op", "state", "state_map", "seed", "allow_files", "max_memory", "timeout", "signature", "on", "retry",
)  # fmt: skip
"""The fields of SessionOptions that have an option here."""


def session_options_for(
    *needs: str, start: bool = False, cluster: bool = False, mesh: bool = False
) -> Callable[[_Command], _Command]:
    """Add the options of SessionOptions; the command gets `session`, and the limits hold for all its work.

    Options for running need one of the options `needs`, if the command runs the graph only for these options. With `start`,
    options for initial values need no other option. `cluster` adds --on for commands that need only a SessionLike; `mesh`
    adds the options for dividing rows.
    """
    # Options that only prepare a run do nothing where nothing runs.
    passive = "--seed --allow-files --engine" + ("" if start else " --init --init-op --state") + (" --on" if cluster else "")
    ruled = [needing(passive, " ".join(needs))] if needs else []

    def decorate(command: _Command) -> _Command:
        @click.option("--init", is_flag=True, help="First run the graph's initializer.")
        @click.option("--init-op", metavar="NAME", help="First run this operation.")
        @click.option(
            "--state", metavar="FILE", help="Restore the variables from an .npz or .safetensors file or a checkpoint."
        )
        @decorator_of(map_option(), "state_map", "str | None")
        @click.option("--seed", type=int, help="Seed of random ops without a seed.")
        @click.option("--allow-files", multiple=True, metavar="DIR", help="Let the graph use the files in DIR; repeatable.")
        @click.option("--max-memory", type=byte_size, help="Memory limit.")
        @click.option("--timeout", type=Seconds(), metavar="SECONDS", help="Time limit.")
        @decorator_of(signature_option(), "signature", "str | None")
        @options_of(EngineOptions, "engine")
        @together(*[options_of(MeshOptions, "mesh")] * mesh, *[cluster_options] * cluster, *ruled)
        @functools.wraps(command)
        def wrapped(*args: Any, engine: EngineOptions, mesh: MeshOptions = NO_MESH, **kwargs: Any) -> Any:
            # Commands without --on have no `on` and no `retry`.
            options = SessionOptions(**{name: kwargs.pop(name) for name in _SETTINGS if name in kwargs})
            # The limits are outermost: other processes may never come.
            with options.limits(), mesh.gathered() as process_group:
                session = options.among(process_group, engine)
                code = command(*args, session=session, **kwargs)
            # Behind the limits, so that a run that used up its time still gets its report.
            return engine.finished(session.engine, code)

        return wrapped  # type: ignore[return-value]

    return decorate


session_options = session_options_for()
cluster_session_options = session_options_for(cluster=True)
mesh_session_options = session_options_for(cluster=True, mesh=True)
