"""The one door to running a graph: the options that say how it runs, the limits around it, and the sessions they open."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import click

from . import render
from .options import ByteSize

if TYPE_CHECKING:
    from ..core.graph import Graph
    from ..core.runtime.runner import Restored, Runner
    from ..core.runtime.session import Session

_Command = TypeVar("_Command", bound=Callable[..., Any])
_FOR_RUNS = ("init", "init_op", "state", "seed", "allow_files")
"""The fields that say nothing to a command that runs nothing."""


@dataclasses.dataclass(frozen=True, slots=True)
class SessionOptions:
    """How a command runs a graph: what its variables start from, which files it reaches, how much it may take."""

    init: bool = False
    init_op: str | None = None
    state: str | None = None
    seed: int | None = None
    allow_files: tuple[str, ...] = ()
    max_memory: int | None = None
    timeout: float | None = None
    signature: str | None = None

    @property
    def changes_state(self) -> bool:
        """True where opening a session is something to do by itself."""
        return bool(self.init or self.init_op or self.state)

    def refuse_without(self, option: str, is_given: Any) -> None:
        """A usage error where options would have no effect, because `option` is not there and nothing runs."""
        for name in _FOR_RUNS:
            if not is_given and getattr(self, name) not in (False, None, ()):
                raise click.UsageError(f"--{name.replace('_', '-')} is for {option}")

    @contextlib.contextmanager
    def limits(self) -> Iterator[None]:
        """Bound the time and the memory of all that happens within."""
        if self.max_memory is None and self.timeout is None:
            yield
            return
        from ..core.runtime.process_limits import NEEDED_MEMORY, TimeLimit, limit_memory

        if self.max_memory is not None and self.max_memory < NEEDED_MEMORY:
            raise click.UsageError(f"--max-memory: tfg itself needs {NEEDED_MEMORY >> 20} MiB")
        with contextlib.ExitStack() as stack:
            stack.enter_context(TimeLimit(self.timeout))
            if self.max_memory is not None:
                stack.enter_context(limit_memory(self.max_memory))
            yield

    def session(self, graph: Graph, cache: int = 0) -> Session:
        """A session on the graph, which reaches the folders allowed, and a SavedModel its own."""
        from ..core.runtime.files import FileAccess
        from ..core.runtime.session import Session

        return Session(graph, seed=self.seed, files=FileAccess.only(writable=self.allow_files), cache=cache)

    def open(self, graph: Graph, quiet: bool, *, implied: bool = False, cache: int = 0) -> Runner:
        """A session whose variables are initialized, then restored; notes say what was done unless `quiet`.

        `implied`: initialize the graph though no option asks for it.
        """
        from ..core.runtime.runner import Runner

        runner = Runner(self.session(graph, cache))
        self.initialize(runner, quiet, implied)
        self.restore(runner, quiet)
        return runner

    def initialize(self, runner: Runner, quiet: bool, implied: bool = False) -> None:
        """Start a SavedModel as its loader does, then run the initializer that the options name."""
        runner.session.start()
        is_asked = bool(self.init or self.init_op)
        if is_asked or (implied and self._needs_initializer(runner.graph)):
            names = runner.initialize(self.init_op)
            render.note(f"initialized by {', '.join(names[:3])}{' ...' if len(names) > 3 else ''}", quiet or not is_asked)

    def restore(self, runner: Runner, quiet: bool) -> None:
        """Assign the values of --state."""
        if self.state:
            from ..formats.state import read_variables

            _note_restored(runner.restore(read_variables(self.state)), quiet)

    def _needs_initializer(self, graph: Graph) -> bool:
        """False where the graph brings the values of its variables, or --state has them and nothing else gives any."""
        from ..core.runtime.runner import initializers
        from ..core.variable_nodes import find_variables

        if graph.meta is not None and graph.meta.variables_prefix is not None:
            return False
        return bool(initializers(graph)) or (not self.state and bool(find_variables(graph)))


def _note_restored(restored: Restored, quiet: bool) -> None:
    message = f"restored {len(restored.restored)} variables"
    if restored.absent:
        message += f"; {len(restored.absent)} are not in the state: {', '.join(restored.absent[:4])}"
    if restored.unknown:
        message += f"; {len(restored.unknown)} names of the state are no variables of the graph: {restored.unknown[0]} ..."
    render.note(message, quiet)


def session_options(command: _Command) -> _Command:
    """The options of SessionOptions; the command gets them as `session`, and all it does is bounded as they say."""

    @click.option("--init", is_flag=True, help="First run the graph's initializer.")
    @click.option("--init-op", metavar="NAME", help="First run this operation.")
    @click.option("--state", metavar="FILE", help="Restore the variables: an .npz file or the prefix of a checkpoint.")
    @click.option("--seed", type=int, help="Seed of random ops that have none of their own.")
    @click.option("--allow-files", multiple=True, metavar="DIR", help="Let the graph read and write files in it; repeatable.")
    @click.option("--max-memory", type=ByteSize(), help="Refuse to take more memory than this.")
    @click.option("--timeout", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Give up after this time.")
    @click.option("--signature", metavar="NAME", help="Feed and fetch by the names of this signature.")
    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        given = {field.name: kwargs.pop(field.name) for field in dataclasses.fields(SessionOptions)}
        session = SessionOptions(**given)
        with session.limits():
            return command(*args, session=session, **kwargs)

    return wrapped  # type: ignore[return-value]
